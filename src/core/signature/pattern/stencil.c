/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "signature/pattern/pattern.h"

#include "base/json.h"
#include "signature/signature_internal.h"

#define MAX_DIMS 4

static const struct shape {
	int n_dims, points;
	unsigned classes; /* bit n: neighbours that differ in n axes */
} shapes[] = {
        {1, 3, 1 << 1},           {2, 5, 1 << 1},
        {2, 9, 1 << 1 | 1 << 2},  {3, 7, 1 << 1},
        {3, 15, 1 << 1 | 1 << 3}, {3, 27, 1 << 1 | 1 << 2 | 1 << 3},
        {4, 9, 1 << 1},
};

static int take_shape(const json_t *params, struct pattern *p,
                      struct cpl_error *err)
{
	if (cpl_json_take_int(params, "points", 3, 27, &p->points, err))
		return -1;
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		if (shapes[i].n_dims != p->n_dims ||
		    shapes[i].points != p->points)
			continue;
		p->classes = shapes[i].classes;
		p->max_degree = p->points - 1;
		return 0;
	}
	return cpl_fail(err,
	                "there is no stencil of %d points in %d dimensions; "
	                "1-D has 3, 2-D 5 and 9, 3-D 7, 15 and 27, 4-D 9",
	                p->points, p->n_dims);
}

/* This reads a number, or [face, edge, corner]. */
static int take_bytes(const json_t *params, struct pattern *p,
                      struct cpl_error *err)
{
	const json_t *list = json_object_get(params, "bytes");

	if (!json_is_array(list))
		return pattern_bytes(params, p, err);
	for (size_t i = 0; i < 3; i++) {
		const json_t *v = json_array_get(list, i);

		p->bytes[i] = json_number_value(v);
		if (json_array_size(list) != 3 || !json_is_number(v) ||
		    !(p->bytes[i] >= 0.0 &&
		      p->bytes[i] <= SIGNATURE_MAX_AMOUNT))
			return cpl_fail(err, "\"bytes\" must be a number or "
			                     "[face, edge, corner], each 0 to "
			                     "1e18");
	}
	return 0;
}

static const char *const keys[] = {"type",     "dims",  "points",
                                   "periodic", "bytes", NULL};

static int parse(const json_t *params, struct pattern *p, struct cpl_error *err)
{
	if (pattern_dims(params, MAX_DIMS, p, err) ||
	    take_shape(params, p, err) || take_bytes(params, p, err) ||
	    cpl_json_bool(params, "periodic", &p->periodic, err) < 0)
		return -1;
	return 0;
}

/* This returns the rank at the offset, or -1 past a border. */
static int neighbour(const struct pattern *p, const int *at, const int *offset)
{
	int rank = 0;

	for (int d = 0; d < p->n_dims; d++) {
		int x = at[d] + offset[d], length = p->dim[d];

		if (x < 0 || x >= length) {
			if (!p->periodic)
				return -1;
			x = (x + length) % length;
		}
		rank = rank * length + x;
	}
	return rank;
}

/* This finds the neighbours along the axes only, without looking at all 3^n
 * offsets. */
static int64_t faces(const struct pattern *p, int rank,
                     struct cpl_comm_entry *out)
{
	int stride = p->ranks;
	int64_t n = 0;

	for (int d = 0; d < p->n_dims; d++) {
		int length = p->dim[d], x, around;

		around = stride;
		stride /= length;
		x = rank / stride % length;
		for (int side = -1; side <= 1; side += 2) {
			int to = rank + side * stride;

			if (x + side < 0 || x + side >= length) {
				if (!p->periodic)
					continue;
				to -= side * around;
			}
			/* Around an axis of length 1 a rank meets itself. */
			if (to != rank)
				out[n++] = (struct cpl_comm_entry){
				        rank, to, p->bytes[0], 1.0};
		}
	}
	return n;
}

/* All ranks inside a line along the last axis are alike. */
static int alike(const struct pattern *p, int rank)
{
	int length = p->dim[p->n_dims - 1], x = rank % length;

	return x > 0 && x < length - 1 ? length - 1 - x : 1;
}

static int64_t row(const struct pattern *p, int rank,
                   struct cpl_comm_entry *out)
{
	int at[MAX_DIMS] = {0}, offset[MAX_DIMS];
	int rest = rank, all = 1;
	int64_t n = 0;

	if (p->classes == 1u << 1)
		return faces(p, rank, out);
	for (int d = p->n_dims - 1; d >= 0; d--) {
		at[d] = rest % p->dim[d];
		rest /= p->dim[d];
		all *= 3;
	}
	for (int i = 0; i < all; i++) {
		int axes = 0, to, code = i;

		for (int d = p->n_dims - 1; d >= 0; d--) {
			offset[d] = code % 3 - 1;
			axes += offset[d] != 0;
			code /= 3;
		}
		if (!(p->classes & 1u << axes))
			continue;
		to = neighbour(p, at, offset);
		/* Around an axis of length 1 a rank meets itself. */
		if (to < 0 || to == rank)
			continue;
		out[n++] = (struct cpl_comm_entry){rank, to, p->bytes[axes - 1],
		                                   1.0};
	}
	return n;
}

const struct pattern_type pattern_stencil = {
        .name = "stencil",
        .summary = "neighbours in a grid of 1 to 4 dimensions",
        .keys = keys,
        .parse = parse,
        .row = row,
        .alike = alike,
        .symmetric = true,
};
