/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "signature/pattern/pattern.h"

#include "base/json.h"

static const char *const keys[] = {"type", "dims", "axis", "bytes", NULL};

static int parse(const json_t *params, struct pattern *p, struct cpl_error *err)
{
	p->axis = -1;
	if (pattern_dims(params, PATTERN_MAX_DIMS, p, err) ||
	    pattern_bytes(params, p, err) ||
	    cpl_json_take_int(params, "axis", 0, p->n_dims - 1, &p->axis, err))
		return -1;
	p->max_degree = p->dim[p->axis] - 1;
	return 0;
}

/* This is the distance of ranks that are next to each other along the axis. */
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
	int stride = axis_stride(p), here = rank / stride % p->dim[p->axis];
	int first = rank - here * stride;
	int64_t n = 0;

	for (int i = 0; i < p->dim[p->axis]; i++)
		if (i != here)
			out[n++] = (struct cpl_comm_entry){
			        rank, first + i * stride, p->bytes[0], 1.0};
	return n;
}

const struct pattern_type pattern_many_to_many = {
        .name = "many-to-many",
        .summary = "all-to-all along one axis of a grid",
        .keys = keys,
        .parse = parse,
        .row = row,
        .alike = alike,
        .symmetric = true,
};
