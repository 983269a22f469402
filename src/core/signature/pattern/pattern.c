/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "signature/pattern/pattern.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "signature/signature_internal.h"

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
	return cpl_json_take_int(params, "ranks", 1, CPL_SIGNATURE_MAX_RANKS,
	                         &p->ranks, err);
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

static const struct pattern_type *find_type(const json_t *params,
                                            struct cpl_error *err)
{
	const struct cpl_entry *found = NULL;
	char list[CPL_ERROR_MAX / 2];
	const char *name;
	int rc;

	if (!json_is_object(params))
		return cpl_fail_null(err, "is not an object");
	rc = cpl_json_string(params, "type", &name, err);
	if (rc == 1)
		found = cpl_registry_find(&cpl_patterns, name, strlen(name),
		                          NULL, NULL);
	if (rc == 0)
		cpl_fail(err, "\"type\" is missing");
	else if (rc == 1 && !found)
		cpl_fail(err, "type \"%.40s\" is unknown; it must be one of %s",
		         name,
		         cpl_registry_names(&cpl_patterns, 0, NULL, NULL, list,
		                            sizeof(list)));
	return (const struct pattern_type *)found;
}

bool cpl_phases_groups(const struct cpl_phase *phase, int n,
                       struct cpl_rank_grid *out)
{
	for (int i = 0; i < n; i++) {
		const struct cpl_pattern *pattern = phase[i].pattern;

		*out = phase[i].groups;
		if (out->n)
			return true;
		if (!pattern || !pattern->type->groups)
			continue;
		pattern->type->groups(&pattern->params, out);
		if (cpl_rank_grid_is_sound(out, pattern->params.ranks))
			return true;
		break;
	}
	out->n = 0;
	return false;
}

void pattern_free(struct cpl_pattern *pattern)
{
	if (!pattern)
		return;
	cpl_free_all(pattern->params.next, pattern->text, pattern);
}

static int check_size(const struct pattern *p, int ranks, struct cpl_error *err)
{
	if (p->ranks != ranks)
		return cpl_fail(err, "makes %d ranks, the signature has %d",
		                p->ranks, ranks);
	if (p->max_degree > PATTERN_MAX_ENTRIES / p->ranks)
		return cpl_fail(err,
		                "%d ranks with up to %" PRId64
		                " partners each; at most %" PRId64
		                " entries are generated",
		                p->ranks, p->max_degree, PATTERN_MAX_ENTRIES);
	return 0;
}

static int keep_matrix(struct cpl_phase *phase, struct matrix_budget *budget,
                       struct cpl_error *err)
{
	const struct pattern *p = &phase->pattern->params;
	struct cpl_phase one = *phase;
	struct cpl_signature sig = {
	        .ranks = p->ranks, .n_phases = 1, .phase = &one};

	if (p->max_degree > budget->left / p->ranks)
		return 0;
	budget->left -= p->max_degree * p->ranks;
	one.weight = 1;
	phase->comm = cpl_signature_total(&sig, err);
	return phase->comm ? 0 : -1;
}

int pattern_take(const json_t *object, int ranks, struct matrix_budget *budget,
                 struct cpl_phase *phase, struct cpl_error *err)
{
	const struct pattern_type *type = find_type(object, err);
	struct cpl_pattern *pattern;

	if (!type)
		return cpl_fail_prefix(err, "pattern: ");
	pattern = phase->pattern = calloc(1, sizeof(*pattern));
	if (!pattern)
		return cpl_fail_memory(err);
	pattern->type = type;
	pattern->text =
	        json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(17));
	if (!pattern->text)
		return cpl_fail_memory(err);
	if (cpl_json_known_keys(object, NULL, type->keys, err) ||
	    type->parse(object, &pattern->params, err) ||
	    check_size(&pattern->params, ranks, err)) {
		cpl_fail_prefix(err, "%s: ", type->name);
		return cpl_fail_prefix(err, "pattern: ");
	}
	if (budget_take(budget, pattern->params.max_degree * ranks,
	                type->symmetric ? BUDGET_SYMMETRIC : BUDGET_ENTRY, err))
		return -1;
	return keep_matrix(phase, budget, err);
}
