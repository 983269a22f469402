/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mapping/group_layout.h"

#include <string.h>

#include "graph/arena.h"
#include "mapping/cell_spread.h"
#include "mapping/mapping_internal.h"

/* Each dimension that has bytes at all counts for so much of them at least. */
#define LEAST_WEIGHT 0.01

struct grid_layout {
	const struct cpl_group_layout *how;
	int n_axes;
	struct cpl_rank_axis axis[CPL_RANK_GRID_AXES + 1];
	int first_axis;  /* those before are on hosts */
	int cell_hosts;  /* hosts of a cell, which is kept in a unit */
	int rows, columns;
	int finest;      /* level whose units hold cells */
	double weight[2]; /* of rows' and columns' spreads */
	int *order;      /* [n_hosts] indices into host[], by router and node */
	int *router;     /* [n_hosts] of order[] */
	int *cell_first; /* [cells] where its hosts begin in taken[] */
	int *taken;      /* hosts of cells */
	int n_taken;
	struct cpl_arena arena;
};

/* Cells, a grid of rows and columns, for hosts order[low] .. order[high - 1]. */
struct cell_range {
	int *cell; /* [rows * columns] */
	int rows, columns, low, high;
};

static int unit_at(const struct grid_layout *l, int level, int i)
{
	return cpl_level_unit(&l->how->net->level[level], l->router[i]);
}

static void sort_hosts(struct grid_layout *l)
{
	const struct cpl_network *net = l->how->net;
	int n = l->how->n_hosts;
	struct cpl_keyed *keyed = cpl_arena_take(&l->arena, n, sizeof(*keyed));

	l->order = cpl_arena_take(&l->arena, n, sizeof(int));
	l->router = cpl_arena_take(&l->arena, n, sizeof(int));
	if (l->arena.failed)
		return;
	for (int h = 0; h < n; h++) {
		int node = l->how->host[h];

		keyed[h].key = (uint64_t)cpl_network_router(net, node) << 32 |
		               (uint32_t)node;
		keyed[h].item = h;
	}
	cpl_keyed_sort(keyed, n);
	for (int i = 0; i < n; i++) {
		l->order[i] = keyed[i].item;
		l->router[i] = (int)(keyed[i].key >> 32);
	}
}

/* The end of the unit's hosts that begin at `low`. */
static int unit_end(const struct grid_layout *l, int level, int low, int high)
{
	int i = low + 1;

	while (i < high && unit_at(l, level, i) == unit_at(l, level, low))
		i++;
	return i;
}

static int count_units(const struct grid_layout *l, int level, int low, int high)
{
	int n = 0;

	for (; low < high; low = unit_end(l, level, low, high))
		n++;
	return n;
}

/* The finest level whose units have several hosts each; else the coarsest. */
static int finest_level(const struct grid_layout *l)
{
	int level = l->how->net->n_levels - 1;

	while (level > 0 && 2 * count_units(l, level, 0, l->how->n_hosts) >
	                            l->how->n_hosts)
		level--;
	return level;
}

/* Cells of so many hosts that fit into finest units. */
static int room_of(const struct grid_layout *l, int low, int high, int hosts)
{
	int room = 0, end;

	for (; low < high; low = end) {
		end = unit_end(l, l->finest, low, high);
		room += (end - low) / hosts;
	}
	return room;
}

/* Puts the innermost axes on hosts. False: per_host is no product of them, or of
 * them and a divisor of the next. */
static bool fill_hosts(struct grid_layout *l)
{
	int left = l->how->per_host;

	for (; l->first_axis < l->n_axes && left > 1; l->first_axis++) {
		struct cpl_rank_axis *a = &l->axis[l->first_axis];

		if (left % a->length && a->length % left)
			return false;
		if (a->length > left) {
			a->length /= left;
			a->stride *= left;
			return true;
		}
		left /= a->length;
	}
	return true;
}

static bool is_kept_whole(const struct grid_layout *l, const struct cpl_rank_axis *a)
{
	const struct cpl_rank_dim *dim;

	if (a->dim < 0)
		return false;
	dim = &l->how->grid->dim[a->dim];
	return !cpl_rank_dim_is_last(dim) && strcmp(dim->name, "dp") != 0;
}

/* Groups grow to the largest that are kept whole in units. */
static void grow_cells(struct grid_layout *l, int cells)
{
	int n = l->how->n_hosts, at = l->first_axis;

	for (; at < l->n_axes && is_kept_whole(l, &l->axis[at]); at++) {
		int length = l->axis[at].length;
		int hosts = l->cell_hosts * length;

		if (room_of(l, 0, n, hosts) < cells / length)
			break;
		l->cell_hosts = hosts;
		cells /= length;
	}
	l->rows = l->columns = 1;
	for (; at < l->n_axes; at++) {
		const struct cpl_rank_axis *a = &l->axis[at];
		bool last = a->dim >= 0 &&
		            cpl_rank_dim_is_last(&l->how->grid->dim[a->dim]);

		*(last ? &l->rows : &l->columns) *= a->length;
	}
}

/* A column's ranks talk along stages, a row's in all other groups. */
static void weigh(struct grid_layout *l)
{
	const struct cpl_rank_grid *grid = l->how->grid;
	double bytes[CPL_RANK_GRID_DIMS] = {0}, all = 0;
	double *weight = l->weight;

	if (l->how->comm)
		cpl_rank_grid_bytes(grid, l->how->comm, bytes);
	for (int i = l->first_axis; i < l->n_axes; i++) {
		int d = l->axis[i].dim;
		bool last = d >= 0 && cpl_rank_dim_is_last(&grid->dim[d]);

		if (d >= 0 && (last || !is_kept_whole(l, &l->axis[i])))
			weight[last ? CPL_COLUMNS : CPL_ROWS] += bytes[d];
	}
	all = weight[CPL_ROWS] + weight[CPL_COLUMNS];
	for (int i = 0; i < 2; i++) {
		weight[i] = all > 0 ? weight[i] / all : 0.5;
		if (weight[i] < LEAST_WEIGHT)
			weight[i] = LEAST_WEIGHT;
	}
}

static void take_hosts(struct grid_layout *l, const struct cell_range *p)
{
	int at = p->low;

	for (int c = 0; c < p->columns; c++)
		for (int r = 0; r < p->rows; r++) {
			l->cell_first[p->cell[r * p->columns + c]] = l->n_taken;
			for (int i = 0; i < l->cell_hosts; i++)
				l->taken[l->n_taken++] = l->order[at++];
		}
}

/* Of units with as much room those with lower numbers get what comes first, column
 * by column, so that stages that talk are in units near each other. next[] has an
 * entry for each room, and one more. */
static void renumber(const struct cpl_cell_spread *how, int *unit, bool *used,
                     int *to, int *next)
{
	int cells = how->rows * how->columns;

	for (int i = 0; i < cells; i++)
		used[unit[i]] = true;
	memset(to, -1, (size_t)how->n_units * sizeof(*to));
	for (int c = 0; c < how->columns; c++)
		for (int r = 0; r < how->rows; r++) {
			int u = unit[r * how->columns + c];
			int room = how->room[u], k = next[room];

			if (to[u] >= 0)
				continue;
			while (how->room[k] != room || !used[k])
				k++;
			to[u] = k;
			next[room] = k + 1;
		}
	for (int i = 0; i < cells; i++)
		unit[i] = to[unit[i]];
}

/* The cells of a part by unit, column by column: those of unit u are list[first[u]]
 * .. list[first[u + 1] - 1], places in the part's grid. */
static void list_cells(const struct cell_range *p, const int *unit, int n_units,
                       int *first, int *list)
{
	for (int i = 0; i < p->rows * p->columns; i++)
		first[unit[i] + 2]++;
	for (int u = 0; u < n_units; u++)
		first[u + 2] += first[u + 1];
	for (int c = 0; c < p->columns; c++)
		for (int r = 0; r < p->rows; r++) {
			int at = r * p->columns + c;

			list[first[unit[at] + 1]++] = at;
		}
}

/* The grid of n cells that a unit has: theirs if they are all of some rows and
 * columns, else one row. */
static int sub_range(struct grid_layout *l, const struct cell_range *p, const int *list,
                    int n, struct cell_range *out)
{
	int rows = 0;

	out->cell = cpl_arena_take(&l->arena, n, sizeof(int));
	if (!out->cell)
		return -1;
	while (rows < n && list[rows] % p->columns == list[0] % p->columns)
		rows++;
	for (int i = 0; i < n && rows; i++)
		if (n % rows || list[i] / p->columns !=
		                        list[i % rows] / p->columns ||
		    list[i] % p->columns != list[i / rows * rows] % p->columns)
			rows = 0;
	out->rows = rows ? rows : 1;
	out->columns = n / out->rows;
	for (int i = 0; i < n; i++)
		out->cell[i % out->rows * out->columns + i / out->rows] =
		        p->cell[list[i]];
	return 0;
}

static int lay(struct grid_layout *l, const struct cell_range *p, struct cpl_error *err);

/* Lays the cells of a part on the units of a level, and on in each of them. */
static int lay_units(struct grid_layout *l, const struct cell_range *p, int level,
                     int n_units, struct cpl_error *err)
{
	struct cpl_arena *arena = &l->arena;
	int cells = p->rows * p->columns;
	int *room = cpl_arena_take(arena, n_units, sizeof(int));
	int *end = cpl_arena_take(arena, n_units + 1, sizeof(int));
	int *unit = cpl_arena_take(arena, cells, sizeof(int));
	int *to = cpl_arena_take(arena, n_units, sizeof(int));
	int *next = cpl_arena_take(arena, p->high - p->low + 1, sizeof(int));
	int *first = cpl_arena_take(arena, n_units + 2, sizeof(int));
	int *list = cpl_arena_take(arena, cells, sizeof(int));
	bool *used = cpl_arena_take(arena, n_units, sizeof(bool));
	struct cpl_cell_spread how = {p->rows, p->columns, n_units, room,
	                              {l->weight[0], l->weight[1]}};
	struct cpl_cell_spreads result;
	int rc = 0;

	if (arena->failed)
		return cpl_fail_memory(err);
	end[0] = p->low;
	for (int u = 0; u < n_units; u++) {
		end[u + 1] = unit_end(l, level, end[u], p->high);
		room[u] = room_of(l, end[u], end[u + 1], l->cell_hosts);
	}
	if (cpl_cell_spread_solve(&how, unit, &result, err))
		return -1;
	renumber(&how, unit, used, to, next);
	list_cells(p, unit, n_units, first, list);
	for (int u = 0; u < n_units && !rc; u++) {
		struct cell_range sub = {.low = end[u], .high = end[u + 1]};
		int n = first[u + 1] - first[u];

		if (n)
			rc = sub_range(l, p, list + first[u], n, &sub)
			             ? cpl_fail_memory(err)
			             : lay(l, &sub, err);
	}
	return rc;
}

static int lay(struct grid_layout *l, const struct cell_range *p, struct cpl_error *err)
{
	for (int level = 0; level <= l->finest; level++) {
		int n = count_units(l, level, p->low, p->high);

		if (n > 1)
			return lay_units(l, p, level, n, err);
	}
	take_hosts(l, p);
	return 0;
}

/* The rank at a place of the order in which groups are kept together, with axes as
 * they were before hosts were filled. */
static int rank_at(const struct cpl_rank_axis *axis, int n, int place)
{
	int rank = 0;

	for (int i = 0; i < n; i++) {
		rank += place % axis[i].length * axis[i].stride;
		place /= axis[i].length;
	}
	return rank;
}

static void write_ranks(const struct grid_layout *l, const struct cpl_rank_axis *axis,
                        int *rank_host)
{
	int per_cell = l->cell_hosts * l->how->per_host;

	for (int i = 0; i < l->how->grid->ranks; i++) {
		int host = l->cell_first[i / per_cell] +
		           i % per_cell / l->how->per_host;

		rank_host[rank_at(axis, l->n_axes, i)] = l->taken[host];
	}
}

static int make(struct grid_layout *l, int *rank_host, struct cpl_error *err)
{
	const struct cpl_group_layout *how = l->how;
	struct cpl_rank_axis axis[CPL_RANK_GRID_AXES];
	struct cell_range all = {.high = how->n_hosts};
	int hosts = (how->grid->ranks + how->per_host - 1) / how->per_host;
	int cells;

	if (hosts > how->n_hosts)
		return cpl_fail(err,
		                "groups of %d ranks need %d hosts with %d "
		                "ranks each; there are %d",
		                how->grid->ranks, hosts, how->per_host,
		                how->n_hosts);
	sort_hosts(l);
	l->cell_first = cpl_arena_take(&l->arena, hosts, sizeof(int));
	l->taken = cpl_arena_take(&l->arena, hosts, sizeof(int));
	all.cell = cpl_arena_take(&l->arena, hosts, sizeof(int));
	if (l->arena.failed)
		return cpl_fail_memory(err);
	l->finest = finest_level(l);
	l->n_axes = cpl_rank_grid_axes(how->grid, l->axis);
	memcpy(axis, l->axis, sizeof(axis));
	l->cell_hosts = 1;
	if (fill_hosts(l)) {
		grow_cells(l, hosts);
	} else {
		l->first_axis = l->n_axes;
		l->rows = 1;
		l->columns = hosts;
	}
	cells = l->rows * l->columns;
	for (int i = 0; i < cells; i++)
		all.cell[i] = i;
	all.rows = l->rows;
	all.columns = l->columns;
	weigh(l);
	if (lay(l, &all, err))
		return -1;
	write_ranks(l, axis, rank_host);
	return 0;
}

int cpl_group_layout(const struct cpl_group_layout *how, int *rank_host,
                     struct cpl_error *err)
{
	struct grid_layout l = {.how = how};
	int rc = make(&l, rank_host, err);

	return cpl_arena_end(&l.arena, rc, err);
}
