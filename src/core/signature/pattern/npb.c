/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This is the point-to-point traffic of the NAS Parallel Benchmarks, MPI, version
 * 3.3, for a whole run with its warm-up iteration. */
#include "signature/pattern/pattern.h"

#include "base/json.h"

struct npb_class {
	char letter;
	int size; /* points along each axis */
	int iterations;
};

static const char *const keys[] = {"type", "class", "ranks", NULL};

/* This reads "class", a letter of the table (which ends with letter 0), and
 * "ranks". */
static int take_class(const json_t *params, const struct npb_class *table,
                      struct pattern *p, struct cpl_error *err)
{
	const char *letter = NULL;
	char letters[16] = "";

	if (pattern_ranks(params, p, err) ||
	    cpl_json_string(params, "class", &letter, err) < 0)
		return -1;
	for (int i = 0; table[i].letter; i++) {
		letters[i] = table[i].letter;
		if (!letter || letter[0] != table[i].letter || letter[1])
			continue;
		p->npb_size = table[i].size;
		p->npb_iterations = table[i].iterations;
		return 0;
	}
	return cpl_fail(err, "\"class\" %s; one of %s is needed",
	                letter ? "is not known" : "is missing", letters);
}

/* Of `blocks` blocks the first ones get the points that are left over. */
static int extent_of(int size, int blocks, int i)
{
	return size / blocks + (i < size % blocks);
}

/* LU has a grid of row + rows * column ranks over the first two axes (proc_grid.f,
 * neighbors.f, exchange_1.f to exchange_6.f). */
static const struct npb_class lu_classes[] = {
        {'S', 12, 50},   {'W', 33, 300},  {'A', 64, 250},   {'B', 102, 250},
        {'C', 162, 250}, {'D', 408, 300}, {'E', 1020, 300}, {0, 0, 0},
};

static int parse_lu(const json_t *params, struct pattern *p,
                    struct cpl_error *err)
{
	int rows = 1, columns = 1;

	if (take_class(params, lu_classes, p, err))
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

/* This is the traffic to one neighbour. `line` is the block along the shared side,
 * and `blocks` is their number. `down` means towards lower indexes, which the sums
 * at the end take. */
static struct cpl_comm_entry neighbour(const struct pattern *p, int from,
                                       int to, int line, int blocks, bool down,
                                       int halo)
{
	double extent = extent_of(p->npb_size, blocks, line);
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

static int64_t row_lu(const struct pattern *p, int rank,
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
        .keys = keys,
        .parse = parse_lu,
        .row = row_lu,
};

/* BT has a multi-partition over a square of ranks p = i + side * j, each with
 * `side` cells on a diagonal (make_set.f, copy_faces.f, x_solve.f). */
static const struct npb_class bt_classes[] = {
        {'S', 12, 60},   {'W', 24, 200},  {'A', 64, 200},   {'B', 102, 200},
        {'C', 162, 200}, {'D', 408, 250}, {'E', 1020, 250}, {0, 0, 0},
};

static int parse_bt(const json_t *params, struct pattern *p,
                    struct cpl_error *err)
{
	int side = 1;

	if (take_class(params, bt_classes, p, err))
		return -1;
	while (side * side < p->ranks)
		side++;
	if (side * side != p->ranks)
		return cpl_fail(err, "%d ranks; a square number is needed",
		                p->ranks);
	if (p->npb_size / side < 3)
		return cpl_fail(err,
		                "%d points are too few for %d cells along an "
		                "axis; at least 3 each are needed",
		                p->npb_size, side);
	p->dim[0] = side;
	p->max_degree = 6;
	return 0;
}

/* These are the points of all faces of the rank's cells towards one side of one
 * axis where the grid goes on. */
static double face_points(const struct pattern *p, int i, int j, int axis,
                          bool up)
{
	int side = p->dim[0];
	double points = 0.0;

	for (int c = 0; c < side; c++) {
		int at[3] = {(i + c) % side, (j - c + side) % side, c};

		if (at[axis] == (up ? side - 1 : 0))
			continue;
		points += (double)extent_of(p->npb_size, side,
		                            at[(axis + 1) % 3]) *
		          extent_of(p->npb_size, side, at[(axis + 2) % 3]);
	}
	return points;
}

static int64_t row_bt(const struct pattern *p, int rank,
                      struct cpl_comm_entry *out)
{
	/* The steps lead to the successor of each axis, in i and j. */
	static const int step[3][2] = {{1, 0}, {0, 1}, {-1, 1}};
	int side = p->dim[0], i = rank % side, j = rank / side;
	double cell = p->npb_size / side + 1.0;
	double solves = (side - 1.0) * (p->npb_iterations + 1.0);
	double copies = p->npb_iterations + 2.0;
	int64_t n = 0;

	if (side == 1)
		return 0;
	for (int axis = 0; axis < 3; axis++) {
		for (int up = 0; up < 2; up++) {
			int sign = up ? 1 : -1;
			int x = (i + sign * step[axis][0] + side) % side;
			int y = (j + sign * step[axis][1] + side) % side;
			/* Blocks and right-hand sides go forward, and only the
			 * latter back. */
			double words = up ? 30.0 : 5.0;

			out[n++] = (struct cpl_comm_entry){
			        rank, x + side * y,
			        solves * 8.0 * words * cell * cell +
			                copies * 80.0 *
			                        face_points(p, i, j, axis, up),
			        solves + copies};
		}
	}
	return n;
}

const struct pattern_type pattern_npb_bt = {
        .name = "npb-bt",
        .summary = "NAS Parallel Benchmark BT",
        .keys = keys,
        .parse = parse_bt,
        .row = row_bt,
};
