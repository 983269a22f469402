/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "signature/pattern/pattern.h"

#include "base/json.h"

static int parse(const json_t *params, struct pattern *p, struct cpl_error *err)
{
	static const char *const keys[] = {"type", "dims", "axis", "bytes",
	                                   NULL};
	int64_t axis;
	int rc;

	if (cpl_json_known_keys(params, NULL, keys, err) ||
	    pattern_dims(params, PATTERN_MAX_DIMS, p, err) ||
	    pattern_bytes(params, p, err))
		return -1;
	rc = cpl_json_int(params, "axis", 0, p->n_dims - 1, &axis, err);
	if (rc < 0)
		return -1;
	if (rc == 0)
		return cpl_fail(err, "\"axis\" is missing; give the dimension, "
		                     "0 being the first");
	p->axis = (int)axis;
	p->max_degree = p->dim[axis] - 1;
	p->distinct = true;
	return 0;
}

/* Ranks from one to the next along the axis. */
static int axis_stride(const struct pattern *p)
{
	int stride = 1;

	for (int d = p->n_dims - 1; d > p->axis; d--)
		stride *= p->dim[d];
	return stride;
}

static int alike(const struct pattern *p, int rank)
{
	int stride = axis_stride(p);

	return stride - rank % stride;
}

static int64_t row(const struct pattern *p, int rank,
                   struct cpl_comm_entry *out)
{
	int stride = axis_stride(p), here, first;
	int64_t n = 0;

	here = rank / stride % p->dim[p->axis];
	first = rank - here * stride;
	for (int i = 0; i < p->dim[p->axis]; i++) {
		if (i == here)
			continue;
		out[n++] = (struct cpl_comm_entry){rank, first + i * stride,
		                                   p->bytes[0], 1.0};
	}
	return n;
}

const struct pattern_type pattern_many_to_many = {
        .name = "many-to-many",
        .summary = "all-to-all along one axis of a grid",
        .parse = parse,
        .row = row,
        .alike = alike,
        .symmetric = true,
};
