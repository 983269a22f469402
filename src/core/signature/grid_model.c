/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "signature/grid_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"

static int sampled_rank(const struct grid_sample *s, int i)
{
	int ranks = s->comm->ranks;

	return s->n == ranks
	               ? i
	               : (int)((uint64_t)i * 0x9E3779B1u % (uint64_t)ranks);
}

double grid_sample_entries(const struct grid_sample *s)
{
	double n = 0;

	for (int i = 0; i < s->n; i++) {
		int from = sampled_rank(s, i);

		n += (double)(s->comm->row[from + 1] - s->comm->row[from]);
	}
	return n;
}

void grid_set_strides(struct grid *g)
{
	int stride = 1;

	for (int a = g->n_dims - 1; a >= 0; a--) {
		g->stride[a] = stride;
		stride *= g->dim[a];
	}
	g->ranks = stride;
}

int grid_coordinate(const struct grid *g, int rank, int axis)
{
	return rank / g->stride[axis] % g->dim[axis];
}

/* A code stands for the offset that takes the shorter way in each axis, and + if
 * both are equal. */
static void offset_of(const struct grid *g, int code, int *offset)
{
	for (int a = 0; a < g->n_dims; a++) {
		int r = grid_coordinate(g, code, a);

		offset[a] = r > g->dim[a] / 2 ? r - g->dim[a] : r;
	}
}

static int code_between(const struct grid *g, int from, int to)
{
	int code = 0;

	for (int a = 0; a < g->n_dims; a++) {
		int d = grid_coordinate(g, to, a) - grid_coordinate(g, from, a);

		code += (d < 0 ? d + g->dim[a] : d) * g->stride[a];
	}
	return code;
}

static bool is_near(const struct grid *g, const int *offset)
{
	for (int a = 0; a < g->n_dims; a++)
		if (abs(offset[a]) > RESCALE_REACH)
			return false;
	return true;
}

/* This says whether the offset crosses the border of an axis. */
static bool leaves(const struct grid *g, int from, const int *offset, int axis)
{
	int x = grid_coordinate(g, from, axis) + offset[axis];

	return x < 0 || x >= g->dim[axis];
}

/* The class says how far a rank is from either border of each axis, as far as
 * offsets reach. */
static int class_of(const struct grid *g, int rank)
{
	const int width = 2 * RESCALE_REACH + 1;
	int class = 0;

	for (int a = 0; a < g->n_dims; a++) {
		int x = grid_coordinate(g, rank, a), d = g->dim[a];

		if (d > width && x >= d - RESCALE_REACH)
			x -= d - width;
		else if (d > width && x > RESCALE_REACH)
			x = RESCALE_REACH;
		class = class * width + x;
	}
	return class;
}

static void find_classes(const struct grid_sample *s, const struct grid *g,
                         struct grid_sums *sums)
{
	int at[GRID_CLASSES];

	memset(at, -1, sizeof(at));
	sums->n_classes = 0;
	for (int i = 0; i < s->n; i++) {
		int rank = sampled_rank(s, i), *c = &at[class_of(g, rank)];

		if (*c < 0) {
			*c = sums->n_classes++;
			sums->first[*c] = rank;
			sums->rows[*c] = 0;
		}
		sums->rows[*c]++;
	}
}

static void add_to(struct grid_sums *sums, int code, double bytes,
                   double messages)
{
	bool none = !(sums->bytes[code] > 0) && !(sums->messages[code] > 0);

	sums->bytes[code] += bytes;
	sums->messages[code] += messages;
	if (none && (sums->bytes[code] > 0 || sums->messages[code] > 0))
		sums->code[sums->n_codes++] = code;
}

static void clear(struct grid_sums *sums)
{
	for (int i = 0; i < sums->n_codes; i++)
		sums->bytes[sums->code[i]] = sums->messages[sums->code[i]] = 0;
	sums->n_codes = 0;
}

static void add_up(const struct grid_sample *s, const struct grid *g,
                   struct grid_sums *sums)
{
	memset(sums->across, 0, sizeof(sums->across));
	memset(sums->expected, 0, sizeof(sums->expected));
	for (int i = 0; i < s->n; i++) {
		int from = sampled_rank(s, i);

		for (int64_t e = s->comm->row[from]; e < s->comm->row[from + 1];
		     e++) {
			double bytes = s->comm->bytes[e];
			int code = code_between(g, from, s->comm->to[e]);
			int offset[RESCALE_DIMS];

			add_to(sums, code, bytes, s->comm->messages[e]);
			offset_of(g, code, offset);
			if (!is_near(g, offset))
				continue;
			for (int a = 0; a < g->n_dims; a++) {
				if (leaves(g, from, offset, a))
					sums->across[a] += bytes;
				sums->expected[a] +=
				        bytes * abs(offset[a]) / g->dim[a];
			}
		}
	}
}

/* In an all-to-all along an axis each offset has about the same traffic. The median
 * is the axis's share, and what exceeds it belongs to neighbours. A little traffic
 * at one offset in between is a stray message. */
static int find_axis(struct grid_model *m, const struct grid_sums *sums,
                     int axis, int rows)
{
	const struct grid *g = &m->grid;
	int n = g->dim[axis] - 1;
	double *value, messages = 0;

	if (n < RESCALE_MIN_AXIS - 1)
		return 0;
	/* This ends the search early for most axes. */
	for (int i = 0; i < n; i++)
		if (!(sums->bytes[(i + 1) * g->stride[axis]] > 0))
			return 0;
	value = malloc((size_t)n * sizeof(*value));
	if (!value)
		return -1;
	for (int i = 0; i < n; i++) {
		int code = (i + 1) * g->stride[axis];

		value[i] = sums->bytes[code] / rows;
		messages += sums->messages[code] / rows / n;
	}
	qsort(value, (size_t)n, sizeof(*value), cpl_by_double);
	if (value[0] > value[n / 2] / 2) {
		m->axis_bytes[axis] = value[n / 2];
		m->axis_messages[axis] = messages;
	}
	free(value);
	return 0;
}

/* This returns the axis that an offset goes along, or -1 if it goes along several. */
static int only_axis(const struct grid *g, const int *offset)
{
	int axis = -1;

	for (int a = 0; a < g->n_dims; a++) {
		if (!offset[a])
			continue;
		if (axis >= 0)
			return -1;
		axis = a;
	}
	return axis;
}

bool grid_model_has(const struct grid_model *m, int from, const int *offset)
{
	for (int a = 0; a < m->grid.n_dims; a++)
		if (m->open[a] && leaves(&m->grid, from, offset, a))
			return false;
	return true;
}

/* This counts the rows from which the offset leads to a rank. */
static int sources(const struct grid_model *m, const struct grid_sums *sums,
                   const int *offset)
{
	int n = 0;

	for (int c = 0; c < sums->n_classes; c++)
		if (grid_model_has(m, sums->first[c], offset))
			n += sums->rows[c];
	return n;
}

static int code_of(const struct grid *g, const int *offset)
{
	int code = 0;

	for (int a = 0; a < g->n_dims; a++)
		code += (offset[a] + g->dim[a]) % g->dim[a] * g->stride[a];
	return code;
}

/* This gives the i-th offset of neighbours, or returns false if another offset
 * leads to the same rank. */
static bool nth_offset(const struct grid *g, int i, int *offset)
{
	const int width = 2 * RESCALE_REACH + 1;

	for (int a = 0; a < g->n_dims; a++) {
		offset[a] = i % width - RESCALE_REACH;
		i /= width;
		/* Around a short axis there is a shorter way. */
		if (2 * offset[a] > g->dim[a] || 2 * offset[a] <= -g->dim[a])
			return false;
	}
	return true;
}

static void find_near(struct grid_model *m, const struct grid_sample *s,
                      const struct grid_sums *sums)
{
	const struct grid *g = &m->grid;
	int most = 1;

	for (int a = 0; a < g->n_dims; a++)
		most *= 2 * RESCALE_REACH + 1;
	for (int i = 0; i < most; i++) {
		struct near *near = &m->near[m->n_near];
		int code, axis, n;
		double part, bytes;

		if (!nth_offset(g, i, near->offset))
			continue;
		code = code_of(g, near->offset);
		bytes = sums->bytes[code];
		if (!code || !(bytes > 0))
			continue;
		axis = only_axis(g, near->offset);
		part = axis >= 0 ? m->axis_bytes[axis] * s->n : 0;
		/* Traffic that merely scatters about the median is not a
		 * neighbour's. */
		if (part > 0 && bytes < 1.5 * part)
			continue;
		n = sources(m, sums, near->offset);
		if (!n)
			continue;
		near->bytes = (bytes - part) / n;
		near->messages = sums->messages[code] * (1 - part / bytes) / n;
		m->n_near++;
	}
}

int grid_model_find(struct grid_model *m, const struct grid_sample *s,
                    struct grid_sums *sums)
{
	int rc = 0;

	m->n_near = 0;
	memset(m->axis_bytes, 0, sizeof(m->axis_bytes));
	memset(m->axis_messages, 0, sizeof(m->axis_messages));
	find_classes(s, &m->grid, sums);
	add_up(s, &m->grid, sums);
	for (int a = 0; a < m->grid.n_dims && !rc; a++) {
		m->open[a] = sums->across[a] < sums->expected[a] / 2;
		rc = find_axis(m, sums, a, s->n);
	}
	if (!rc)
		find_near(m, s, sums);
	clear(sums);
	return rc;
}

/* This returns the traffic that the model expects of a pair, or 0 where it expects
 * none. */
static double model_bytes(const struct grid_model *m, const double *near,
                          int from, int code)
{
	int offset[RESCALE_DIMS], axis;
	double bytes = 0;

	offset_of(&m->grid, code, offset);
	axis = only_axis(&m->grid, offset);
	if (axis >= 0)
		bytes = m->axis_bytes[axis];
	if (near[code] > 0 && grid_model_has(m, from, offset))
		bytes += near[code];
	return bytes;
}

static double row_bytes(const struct grid_model *m, int from)
{
	double bytes = 0;

	for (int a = 0; a < m->grid.n_dims; a++)
		bytes += m->axis_bytes[a] * (m->grid.dim[a] - 1);
	for (int i = 0; i < m->n_near; i++)
		if (grid_model_has(m, from, m->near[i].offset))
			bytes += m->near[i].bytes;
	return bytes;
}

void grid_model_compare(const struct grid_model *m, const struct grid_sample *s,
                        double *near, double weight, double *apart,
                        double *both)
{
	const struct grid *g = &m->grid;
	double row[GRID_CLASSES];

	for (int c = 0; c < GRID_CLASSES; c++)
		row[c] = -1;
	for (int i = 0; i < m->n_near; i++)
		near[code_of(g, m->near[i].offset)] = m->near[i].bytes;
	for (int i = 0; i < s->n; i++) {
		int from = sampled_rank(s, i), class = class_of(g, from);
		double all, missing, off = 0;

		if (row[class] < 0)
			row[class] = row_bytes(m, from);
		all = missing = row[class];
		for (int64_t e = s->comm->row[from]; e < s->comm->row[from + 1];
		     e++) {
			int to = s->comm->to[e];
			double is = s->comm->bytes[e], should;

			if (to == from)
				continue;
			should = model_bytes(m, near, from,
			                     code_between(g, from, to));
			off += fabs(is - should);
			missing -= should;
			all += is;
		}
		*apart += weight * (off + fmax(missing, 0));
		*both += weight * all;
	}
	for (int i = 0; i < m->n_near; i++)
		near[code_of(g, m->near[i].offset)] = 0;
}
