/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "signature/pattern/pattern.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "signature/signature_internal.h"

static const struct pattern_type *const table[] = {
        &pattern_stencil, &pattern_many_to_many, &pattern_umesh,
        &pattern_spread,  &pattern_permutation,  &pattern_npb_lu,
        &pattern_npb_bt,  &pattern_collective,   NULL,
};

int pattern_dims(const json_t *params, int most, struct pattern *p,
                 struct cpl_error *err)
{
	const json_t *dims = json_object_get(params, "dims");
	size_t n = json_array_size(dims);
	int64_t ranks = 1;

	if (n < 1 || n > (size_t)most)
		return cpl_fail(err,
		                "\"dims\" must be an array of 1 to %d "
		                "lengths",
		                most);
	for (size_t i = 0; i < n; i++) {
		const json_t *v = json_array_get(dims, i);
		json_int_t length = json_integer_value(v);

		if (!json_is_integer(v) || length < 1 ||
		    length > CPL_SIGNATURE_MAX_RANKS / ranks)
			return cpl_fail(err,
			                "\"dims\": entry %zu must be an "
			                "integer of at least 1, and all "
			                "together make at most %d ranks",
			                i + 1, CPL_SIGNATURE_MAX_RANKS);
		p->dim[i] = (int)length;
		ranks *= length;
	}
	p->n_dims = (int)n;
	p->ranks = (int)ranks;
	return 0;
}

int pattern_ranks(const json_t *params, struct pattern *p,
                  struct cpl_error *err)
{
	int64_t v;
	int rc = cpl_json_int(params, "ranks", 1, CPL_SIGNATURE_MAX_RANKS, &v,
	                      err);

	if (rc < 0)
		return -1;
	if (rc == 0)
		return cpl_fail(err, "\"ranks\" is missing");
	p->ranks = (int)v;
	return 0;
}

int pattern_bytes(const json_t *params, struct pattern *p,
                  struct cpl_error *err)
{
	int rc = cpl_json_number(params, "bytes", 0.0, SIGNATURE_MAX_AMOUNT,
	                         &p->bytes[0], err);

	if (rc == 0)
		return cpl_fail(err, "\"bytes\" is missing; give the size of a "
		                     "message");
	p->bytes[1] = p->bytes[2] = p->bytes[0];
	return rc < 0 ? -1 : 0;
}

int pattern_seed(const json_t *params, struct pattern *p, struct cpl_error *err)
{
	int64_t v = 1;

	if (cpl_json_int(params, "seed", 0, INT64_MAX, &v, err) < 0)
		return -1;
	p->seed = (uint64_t)v;
	return 0;
}

static int unknown_type(const char *name, struct cpl_error *err)
{
	char list[CPL_ERROR_MAX / 2] = "";

	for (int i = 0; table[i]; i++) {
		size_t n = strlen(list);

		snprintf(list + n, sizeof(list) - n, "%s%s", i ? ", " : "",
		         table[i]->name);
	}
	return cpl_fail(err, "type \"%.40s\" is unknown; there are %s", name,
	                list);
}

static const struct pattern_type *find_type(const json_t *params,
                                            struct cpl_error *err)
{
	const char *name = "";
	int rc;

	if (!json_is_object(params)) {
		cpl_fail(err, "is not an object");
		return NULL;
	}
	rc = cpl_json_string(params, "type", &name, err);
	if (rc < 0)
		return NULL;
	if (rc == 0) {
		cpl_fail(err, "\"type\" is missing");
		return NULL;
	}
	for (int i = 0; table[i]; i++)
		if (!strcmp(name, table[i]->name))
			return table[i];
	unknown_type(name, err);
	return NULL;
}

static struct cpl_comm *generate(const struct pattern_type *type,
                                 const struct pattern *p, struct cpl_error *err)
{
	struct cpl_comm *comm =
	        comm_new(p->ranks, p->ranks * p->max_degree, err);
	struct cpl_comm_entry *row;
	int64_t used = 0;

	if (!comm)
		return NULL;
	/* The second half is the sort's scratch. */
	row = malloc((size_t)(2 * p->max_degree + 1) * sizeof(*row));
	if (!row) {
		cpl_comm_free(comm);
		cpl_fail_memory(err);
		return NULL;
	}
	for (int r = 0; r < p->ranks; r++) {
		int64_t n = type->row(p, r, row);

		comm_sort_row(row, n, row + p->max_degree);
		used = comm_append_row(comm, r, used, row, n);
	}
	comm_shrink(comm, used);
	free(row);
	return comm;
}

struct cpl_comm *pattern_comm(const json_t *params, int ranks,
                              struct cpl_error *err)
{
	const struct pattern_type *type = find_type(params, err);
	struct pattern p = {0};
	struct cpl_comm *comm = NULL;

	if (!type)
		goto fail;
	if (type->parse(params, &p, err)) {
		cpl_fail_prefix(err, "%s: ", type->name);
		goto fail;
	}
	if (p.ranks != ranks) {
		cpl_fail(err, "%s: makes %d ranks, the signature has %d",
		         type->name, p.ranks, ranks);
		goto fail;
	}
	if (p.max_degree > PATTERN_MAX_ENTRIES / p.ranks) {
		cpl_fail(err,
		         "%s: %d ranks with up to %lld partners each; at most "
		         "%d entries are generated",
		         type->name, p.ranks, (long long)p.max_degree,
		         PATTERN_MAX_ENTRIES);
		goto fail;
	}
	comm = generate(type, &p, err);
	free(p.taken);
	free(p.next);
	return comm;
fail:
	free(p.taken);
	free(p.next);
	cpl_fail_prefix(err, "pattern: ");
	return NULL;
}
