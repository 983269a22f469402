/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * LU: a grid of row + rows * column ranks over the first two axes (proc_grid.f,
 * neighbors.f, exchange_1.f to exchange_6.f). Point-to-point traffic of a whole
 * run with its warm-up iteration.
 */
#include "signature/pattern/npb.h"

static const struct npb_class classes[] = {
        {'S', 12, 50},   {'W', 33, 300},  {'A', 64, 250},   {'B', 102, 250},
        {'C', 162, 250}, {'D', 408, 300}, {'E', 1020, 300}, {0, 0, 0},
};

static int parse(const json_t *params, struct pattern *p, struct cpl_error *err)
{
	int rows = 1, columns = 1;

	if (npb_parse(params, classes, p, err))
		return -1;
	while (rows * columns < p->ranks) {
		if (rows == columns)
			rows *= 2;
		else
			columns *= 2;
	}
	if (rows * columns != p->ranks)
		return cpl_fail(err, "%d ranks; a power of two is needed",
		                p->ranks);
	if (p->npb_size / rows < 3)
		return cpl_fail(err,
		                "%d points are too few for %d ranks along an "
		                "axis; at least 3 each are needed",
		                p->npb_size, rows);
	p->dim[0] = rows;
	p->dim[1] = columns;
	p->max_degree = 4;
	return 0;
}

/*
 * One neighbour: `line` is the block along the shared side, `blocks` how many
 * there are. `down`: towards lower indexes, which the sums at the end take.
 */
static struct cpl_comm_entry neighbour(const struct pattern *p, int from,
                                       int to, int line, int blocks, bool down,
                                       int halo)
{
	double extent = npb_extent(p->npb_size, blocks, line);
	/* The outermost points are not computed. */
	double inner = extent - (line == 0) - (line == blocks - 1);
	double sweeps = (p->npb_size - 2.0) * (p->npb_iterations + 1.0);
	double faces = p->npb_iterations + 4.0;
	struct cpl_comm_entry e = {from, to, 0.0, sweeps + faces};

	e.bytes = sweeps * 40.0 * inner + faces * 80.0 * extent * p->npb_size;
	if (!down)
		return e;
	e.bytes += 16.0 * (extent + halo);
	e.messages += 1.0;
	if (line == 0 || line == blocks - 1) {
		int sides = blocks == 1 ? 2 : 1;

		e.bytes += sides * 8.0 * p->npb_size;
		e.messages += sides;
	}
	return e;
}

static int64_t row(const struct pattern *p, int rank,
                   struct cpl_comm_entry *out)
{
	int rows = p->dim[0], columns = p->dim[1];
	int r = rank % rows, c = rank / rows;
	int64_t n = 0;

	if (r > 0)
		out[n++] = neighbour(p, rank, rank - 1, c, columns, true, 2);
	if (r < rows - 1)
		out[n++] = neighbour(p, rank, rank + 1, c, columns, false, 2);
	if (c > 0)
		out[n++] = neighbour(p, rank, rank - rows, r, rows, true, 0);
	if (c < columns - 1)
		out[n++] = neighbour(p, rank, rank + rows, r, rows, false, 0);
	return n;
}

const struct pattern_type pattern_npb_lu = {
        .name = "npb-lu",
        .summary = "NAS Parallel Benchmark LU",
        .parse = parse,
        .row = row,
};
