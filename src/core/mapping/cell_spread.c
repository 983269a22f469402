/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mapping/cell_spread.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "graph/arena.h"

/* So many cells of a unit. */
struct strip_piece {
	int unit, cells, next; /* of the same strip, -1: none */
};

/* Strips of lines: a strip has `height` of the lines that it divides, and `length`
 * positions along them. */
struct strips {
	const struct cpl_cell_spread *how;
	int across; /* CPL_ROWS: strips of rows */
	int lines, length;
	int n, whole; /* strips now; whether positions are kept whole */
	struct strip_piece *item; /* units by room, then those with room left */
	int n_items;
	struct strip_piece *piece;
	int n_pieces;
	int *first, *need; /* [strips] */
	int *split, *total, *at, *order; /* [length] */
	int *unit, *seen;
	struct cpl_arena arena;
};

static CPL_SORT_BY(by_room, struct strip_piece, CPL_DOWN(cells), CPL_UP(unit))

static void measure_lines(const struct cpl_cell_spread *how, const int *unit,
                          int lines, int length, int by_line, int along,
                          int *seen, int *most, double *mean)
{
	int64_t sum = 0;

	memset(seen, -1, (size_t)how->n_units * sizeof(*seen));
	*most = 0;
	for (int l = 0; l < lines; l++) {
		int spread = 0;

		for (int i = 0; i < length; i++) {
			int u = unit[l * by_line + i * along];

			spread += seen[u] != l;
			seen[u] = l;
		}
		sum += spread;
		*most = spread > *most ? spread : *most;
	}
	*mean = (double)sum / lines;
}

static void measure(const struct cpl_cell_spread *how, const int *unit,
                    int *seen, struct cpl_cell_spreads *out)
{
	measure_lines(how, unit, how->rows, how->columns, how->columns, 1, seen,
	              &out->most[CPL_ROWS], &out->mean[CPL_ROWS]);
	measure_lines(how, unit, how->columns, how->rows, 1, how->columns, seen,
	              &out->most[CPL_COLUMNS], &out->mean[CPL_COLUMNS]);
	out->cost = how->weight[CPL_ROWS] * out->most[CPL_ROWS] +
	            how->weight[CPL_COLUMNS] * out->most[CPL_COLUMNS];
}

static int first_line(const struct strips *s, int strip)
{
	return (int)((int64_t)s->lines * strip / s->n);
}

static int height(const struct strips *s, int strip)
{
	return first_line(s, strip + 1) - first_line(s, strip);
}

/* What a strip could take of an item: whole positions, or any cells. */
static int share(const struct strips *s, int strip, int cells)
{
	int h = height(s, strip);
	int most = cells < s->need[strip] ? cells : s->need[strip];

	return s->whole ? most / h * h : most;
}

/* The strip that lacks most of those that can take something, ties to the first;
 * -1: none can. */
static int neediest(const struct strips *s, int cells)
{
	int best = -1;

	for (int i = 0; i < s->n; i++)
		if (s->need[i] && (best < 0 || s->need[i] > s->need[best]) &&
		    share(s, i, cells))
			best = i;
	return best;
}

/* Room that is left of an item is offered again after what has more. */
static void put_back(struct strips *s, int at, int unit, int cells)
{
	for (; at + 1 < s->n_items && s->item[at + 1].cells > cells; at++)
		s->item[at] = s->item[at + 1];
	s->item[at] = (struct strip_piece){.unit = unit, .cells = cells};
}

/* Of the items that end a strip's need the smallest comes to the place of the
 * largest, so that room for others stays whole. */
static void fetch_last(struct strips *s, int at, int need)
{
	int last = at;
	struct strip_piece found;

	while (last + 1 < s->n_items && s->item[last + 1].cells >= need)
		last++;
	found = s->item[last];
	for (; last > at; last--)
		s->item[last] = s->item[last - 1];
	s->item[at] = found;
}

/* Deals the units out to the strips, the largest to the neediest. Returns whether
 * that is enough. */
static bool deal(struct strips *s)
{
	int left = s->n;

	s->n_pieces = 0;
	for (int i = 0; i < s->n; i++) {
		s->first[i] = -1;
		s->need[i] = height(s, i) * s->length;
	}
	for (int i = 0; i < s->n_items && left;) {
		int strip = neediest(s, s->item[i].cells), cells;
		struct strip_piece item;

		if (strip < 0) {
			i++;
			continue;
		}
		if (s->item[i].cells > s->need[strip])
			fetch_last(s, i, s->need[strip]);
		item = s->item[i];
		cells = share(s, strip, item.cells);
		s->piece[s->n_pieces] =
		        (struct strip_piece){item.unit, cells, s->first[strip]};
		s->first[strip] = s->n_pieces++;
		s->need[strip] -= cells;
		left -= !s->need[strip];
		if (cells < item.cells)
			put_back(s, i, item.unit, item.cells - cells);
		else
			i++;
	}
	return !left;
}

/* Positions by how often they are split, fewest first (of `most` at most), stable.
 */
static void sort_positions(const struct strips *s, const int *count, int *order)
{
	int most = 0, n = 0;

	for (int i = 0; i < s->length; i++)
		most = count[i] > most ? count[i] : most;
	for (int c = 0; c <= most; c++)
		for (int i = 0; i < s->length; i++)
			if (count[i] == c)
				order[n++] = i;
}

/* Puts the positions of a strip that are split where others are least so. */
static void place_positions(struct strips *s, bool any)
{
	for (int i = 0; i < s->length; i++)
		s->at[i] = i;
	if (any) {
		int *by_split = s->order;

		sort_positions(s, s->split, by_split);
		sort_positions(s, s->total, s->at + s->length);
		for (int i = 0; i < s->length; i++)
			s->at[by_split[i]] =
			        s->at[2 * s->length - 1 - i];
	}
	for (int i = 0; i < s->length; i++)
		s->total[s->at[i]] += s->split[i];
}

/* The units of a strip's cells in the order of filling: pieces that leave no
 * position split come first. */
static bool list_strip(struct strips *s, int strip, int *cell)
{
	int h = height(s, strip), n = 0;
	bool any = false;

	for (int turn = 0; turn < 2; turn++)
		for (int p = s->first[strip]; p >= 0; p = s->piece[p].next)
			for (int k = 0; (s->piece[p].cells % h != 0) == turn &&
			                k < s->piece[p].cells;
			     k++)
				cell[n++] = s->piece[p].unit;
	for (int i = 0; i < s->length; i++) {
		s->split[i] = 0;
		for (int k = 1; k < h; k++)
			s->split[i] += cell[i * h + k] != cell[i * h + k - 1];
		any |= s->split[i] != 0;
	}
	return any;
}

static void fill(struct strips *s, int *cell)
{
	int columns = s->how->columns;

	memset(s->total, 0, (size_t)s->length * sizeof(*s->total));
	for (int strip = 0; strip < s->n; strip++) {
		int h = height(s, strip), line = first_line(s, strip);

		place_positions(s, list_strip(s, strip, cell));
		for (int i = 0; i < s->length; i++)
			for (int k = 0; k < h; k++) {
				int l = line + k, p = s->at[i];

				s->unit[s->across == CPL_ROWS
				                ? l * columns + p
				                : p * columns + l] =
				        cell[i * h + k];
			}
	}
}

static bool is_better(const struct cpl_cell_spread *how,
                      const struct cpl_cell_spreads *a,
                      const struct cpl_cell_spreads *b)
{
	double x = 0, y = 0;

	if (a->cost != b->cost)
		return a->cost < b->cost;
	for (int i = 0; i < 2; i++) {
		x += how->weight[i] * a->mean[i];
		y += how->weight[i] * b->mean[i];
	}
	return x < y;
}

static void list_units(struct strips *s)
{
	s->n_items = 0;
	for (int u = 0; u < s->how->n_units; u++)
		if (s->how->room[u] > 0)
			s->item[s->n_items++] = (struct strip_piece){
			        .unit = u, .cells = s->how->room[u]};
	qsort(s->item, (size_t)s->n_items, sizeof(*s->item), by_room);
}

static void try_strips(struct strips *s, int *cell, int *unit,
                       struct cpl_cell_spreads *best)
{
	struct cpl_cell_spreads now;
	size_t size = (size_t)s->lines * (size_t)s->length * sizeof(*unit);

	list_units(s);
	if (!deal(s))
		return;
	fill(s, cell);
	measure(s->how, s->unit, s->seen, &now);
	if (best->cost >= 0 && !is_better(s->how, &now, best))
		return;
	*best = now;
	memcpy(unit, s->unit, size);
}

static int check(const struct cpl_cell_spread *how, struct cpl_error *err)
{
	int64_t room = 0, cells = (int64_t)how->rows * how->columns;

	for (int u = 0; u < how->n_units; u++)
		room += how->room[u];
	return room >= cells ? 0
	                     : cpl_fail(err, "%lld cells of groups, but room "
	                                     "for %lld",
	                                (long long)cells, (long long)room);
}

int cpl_cell_spread_solve(const struct cpl_cell_spread *how, int *unit,
                          struct cpl_cell_spreads *out, struct cpl_error *err)
{
	struct strips s = {.how = how};
	int cells = how->rows * how->columns;
	int longest = how->rows > how->columns ? how->rows : how->columns;
	struct cpl_arena *arena = &s.arena;
	int *cell;

	if (check(how, err))
		return -1;
	s.item = cpl_arena_take(arena, how->n_units, sizeof(*s.item));
	/* A piece ends a unit, a strip, or its whole lines. */
	s.piece = cpl_arena_take(arena, 2 * (int64_t)how->n_units + longest,
	                         sizeof(*s.piece));
	s.first = cpl_arena_take(arena, longest, sizeof(int));
	s.need = cpl_arena_take(arena, longest, sizeof(int));
	s.split = cpl_arena_take(arena, longest, sizeof(int));
	s.total = cpl_arena_take(arena, longest, sizeof(int));
	s.at = cpl_arena_take(arena, 2 * (int64_t)longest, sizeof(int));
	s.order = cpl_arena_take(arena, longest, sizeof(int));
	s.unit = cpl_arena_take(arena, cells, sizeof(int));
	s.seen = cpl_arena_take(arena, how->n_units, sizeof(int));
	cell = cpl_arena_take(arena, cells, sizeof(int));
	out->cost = -1;
	for (int across = 0; across < 2 && !arena->failed; across++) {
		s.across = across;
		s.lines = across == CPL_ROWS ? how->rows : how->columns;
		s.length = across == CPL_ROWS ? how->columns : how->rows;
		/* Positions spread over each strip, at the least. */
		for (s.n = 1; s.n <= s.lines &&
		              (out->cost < 0 ||
		               s.n * how->weight[!across] <= out->cost);
		     s.n++)
			for (s.whole = 0; s.whole < 2; s.whole++)
				try_strips(&s, cell, unit, out);
	}
	return cpl_arena_end(arena, 0, err);
}
