/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * BT: multi-partition over a square of ranks p = i + side * j, each with
 * `side` cells on a diagonal (make_set.f, copy_faces.f, x_solve.f). Traffic of
 * a whole run with its warm-up iteration.
 */
#include "signature/pattern/npb.h"

static const struct npb_class classes[] = {
        {'S', 12, 60},   {'W', 24, 200},  {'A', 64, 200},   {'B', 102, 200},
        {'C', 162, 200}, {'D', 408, 250}, {'E', 1020, 250}, {0, 0, 0},
};

static int parse(const json_t *params, struct pattern *p, struct cpl_error *err)
{
	int side = 1;

	if (npb_parse(params, classes, p, err))
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

/* Points of all faces of the rank's cells towards one side of one axis, where
 * the grid goes on there. */
static double face_points(const struct pattern *p, int i, int j, int axis,
                          bool up)
{
	int side = p->dim[0];
	double points = 0.0;

	for (int c = 0; c < side; c++) {
		int at[3] = {(i + c) % side, (j - c + side) % side, c};

		if (at[axis] == (up ? side - 1 : 0))
			continue;
		points += (double)npb_extent(p->npb_size, side,
		                             at[(axis + 1) % 3]) *
		          npb_extent(p->npb_size, side, at[(axis + 2) % 3]);
	}
	return points;
}

static int64_t row(const struct pattern *p, int rank,
                   struct cpl_comm_entry *out)
{
	/* How far the successor of each axis is, in i and j. */
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
			/* Forward: blocks and right-hand sides; back: only
			 * the latter. */
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
        .parse = parse,
        .row = row,
};
