/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "graph/rank_grid.h"

#include <stdlib.h>
#include <string.h>

#include "base/sort.h"

/* Lists where axes begin and end, the number of ranks last: these are strides, and
 * strides times lengths. */
static int list_ends(const struct cpl_rank_grid *grid, int *end)
{
	int n = 0, m = 0;

	end[n++] = 1;
	end[n++] = grid->ranks;
	for (int d = 0; d < grid->n; d++) {
		end[n++] = grid->dim[d].stride;
		end[n++] = grid->dim[d].stride * grid->dim[d].length;
	}
	qsort(end, (size_t)n, sizeof(*end), cpl_by_int);
	for (int i = 0; i < n; i++)
		if (!m || end[i] != end[m - 1])
			end[m++] = end[i];
	return m;
}

#define ENDS (2 * CPL_RANK_GRID_DIMS + 2)

bool cpl_rank_grid_is_sound(const struct cpl_rank_grid *grid, int ranks)
{
	int end[ENDS], n;

	if (grid->ranks != ranks || ranks < 1 || grid->n < 1 ||
	    grid->n > CPL_RANK_GRID_DIMS)
		return false;
	for (int d = 0; d < grid->n; d++) {
		const struct cpl_rank_dim *dim = &grid->dim[d];

		if (dim->stride < 1 || dim->length < 1 ||
		    dim->length > ranks / dim->stride)
			return false;
	}
	n = list_ends(grid, end);
	for (int i = 1; i < n; i++)
		if (end[i] % end[i - 1])
			return false;
	return true;
}

bool cpl_rank_grid_contract(const struct cpl_rank_grid *grid, int ranks_each,
                            struct cpl_rank_grid *out)
{
	*out = (struct cpl_rank_grid){.ranks = grid->ranks / ranks_each};
	for (int d = 0; d < grid->n; d++) {
		struct cpl_rank_dim dim = grid->dim[d];
		int end = dim.stride * dim.length;
		int low = dim.stride > ranks_each ? dim.stride : ranks_each;

		if (end <= ranks_each && ranks_each % end == 0)
			continue;
		if (end % ranks_each || low % dim.stride || low % ranks_each)
			return false;
		dim.stride = low / ranks_each;
		dim.length = end / low;
		out->dim[out->n++] = dim;
	}
	return cpl_rank_grid_is_sound(out, out->ranks);
}

bool cpl_rank_dim_is_last(const struct cpl_rank_dim *dim)
{
	return !strcmp(dim->name, "pp");
}

static int turn_of(const struct cpl_rank_dim *dim)
{
	static const char *const first[] = {"tp", "cp", "ep", "dp"};
	int n = sizeof(first) / sizeof(*first);

	for (int i = 0; i < n; i++)
		if (!strcmp(dim->name, first[i]))
			return i;
	return n + cpl_rank_dim_is_last(dim);
}

static bool has_axis(const struct cpl_rank_dim *dim, int stride)
{
	return stride >= dim->stride && stride / dim->stride < dim->length;
}

/* The dimension that comes first, ties to the first; -1: no dimension has it. */
static int owner(const struct cpl_rank_grid *grid, int stride)
{
	int best = -1;

	for (int d = 0; d < grid->n; d++)
		if (has_axis(&grid->dim[d], stride) &&
		    (best < 0 ||
		     turn_of(&grid->dim[d]) < turn_of(&grid->dim[best])))
			best = d;
	return best;
}

int cpl_rank_grid_axes(const struct cpl_rank_grid *grid,
                       struct cpl_rank_axis *axis)
{
	int end[ENDS], ends = list_ends(grid, end), n = 0;

	for (int i = 1; i < ends; i++) {
		struct cpl_rank_axis a = {owner(grid, end[i - 1]), end[i - 1],
		                          end[i] / end[i - 1]};
		int turn = a.dim < 0 ? -1 : turn_of(&grid->dim[a.dim]);
		int at = n++;

		for (; at && axis[at - 1].dim >= 0 &&
		       turn_of(&grid->dim[axis[at - 1].dim]) > turn;
		     at--)
			axis[at] = axis[at - 1];
		axis[at] = a;
	}
	return n;
}

void cpl_rank_grid_bytes(const struct cpl_rank_grid *grid,
                         const struct cpl_comm *comm, double *bytes)
{
	int ranks = comm->ranks < grid->ranks ? comm->ranks : grid->ranks;

	memset(bytes, 0, (size_t)grid->n * sizeof(*bytes));
	for (int r = 0; r < ranks; r++)
		for (int64_t e = comm->row[r]; e < comm->row[r + 1]; e++) {
			int best = -1, to = comm->to[e];

			for (int d = 0; d < grid->n && to < ranks; d++)
				if (cpl_rank_group(&grid->dim[d], r) ==
				            cpl_rank_group(&grid->dim[d], to) &&
				    (best < 0 || grid->dim[d].length <
				                         grid->dim[best].length))
					best = d;
			if (best >= 0 && to != r)
				bytes[best] += comm->bytes[e];
		}
}

int cpl_rank_grid_spread(const struct cpl_rank_grid *grid, int dim,
                         const int *unit, int n_units,
                         struct cpl_rank_spread *out, struct cpl_error *err)
{
	const struct cpl_rank_dim *d = &grid->dim[dim];
	int *seen = malloc(((size_t)n_units + 1) * sizeof(*seen));
	int64_t sum = 0;

	*out = (struct cpl_rank_spread){0};
	if (!seen)
		return cpl_fail_memory(err);
	memset(seen, -1, ((size_t)n_units + 1) * sizeof(*seen));
	for (int first = 0; first < grid->ranks; first++) {
		int spread = 0;

		if (cpl_rank_group(d, first) != first)
			continue;
		for (int i = 0; i < d->length; i++) {
			int u = unit[first + i * d->stride];

			spread += seen[u] != first;
			seen[u] = first;
		}
		out->groups++;
		sum += spread;
		if (spread > out->most)
			out->most = spread;
	}
	out->mean = (double)sum / out->groups;
	free(seen);
	return 0;
}
