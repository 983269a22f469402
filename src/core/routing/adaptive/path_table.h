/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The paths of a dragonfly as fixed numbers of links.
 *
 * Links are kept as cells, group by group: the row links of a group's routers,
 * the column links, the global ones, and CPL_NO_LINKS cells that are no links.
 *
 * A leg is a shortest path in five cells: at most two links inside the group of
 * its start, a global one, and at most two inside the group of its end. A
 * position that the path does not need holds a cell that is no link and has
 * infinite bandwidth, so that no branch depends on the length of a path.
 */
#pragma once

#include "base/random.h"
#include "routing/dragonfly_paths.h"

#define CPL_NO_LINKS 32
#define CPL_LEG 5
/* The cells of a leg at its start, the link between groups included. */
#define CPL_LEG_START 3
/* A flow has so many paths in an iteration where paths are drawn. */
#define CPL_DRAWN 4
/* All cells of those paths. */
#define CPL_DRAWN_LINKS (CPL_DRAWN * 2 * CPL_LEG)

struct cpl_group_router {
	int group, local; /* local: router in its group */
};

/* A router in its group. */
struct cpl_row_column {
	int row, column;
};

/* The ends of a link between groups, as routers in their groups. */
struct cpl_gateway {
	int own, far;
};

struct cpl_path_table {
	const struct cpl_network *net;
	int routers, groups, k_links, rows, columns;
	int per_group;                              /* routers in a group */
	int cells;                                  /* in a group */
	int first_column, first_global, first_none; /* cells of a group */
	uint64_t per_group_inverse;                 /* rounded up, times 2^44 */
	const struct cpl_row_column *position;      /* [per_group] */
	/* With wiring "modulo", link k to group b is on home[b * K + k] of any
	 * group. Otherwise gateway[] has the global links in the order of their
	 * ids. */
	const int *home;
	const struct cpl_gateway *gateway;
	const unsigned char *is_link; /* [groups * cells] */
	/* segment[(from * per_group + to) * 2 + turn] has two cells of a group
	 * in 32 bits each; NULL where groups are large. */
	const uint64_t *segment;
	/*
	 * With a few links between groups, those on shortest paths are looked
	 * up. near[router * groups + group] tells how far the router is from
	 * its group's gateways there, in digits to the base of 3. choice[that *
	 * combos + the same for the other end] has 4 bits for each path: the
	 * link, whether the segment at the end goes by column first, and
	 * whether that at the start does. combos is 0 where nothing is looked
	 * up.
	 */
	int combos;
	const unsigned char *near;
	const uint64_t *choice;
	const unsigned char *n_choices;
};

/* These set the network's numbers, return the bytes of the tables, and fill the
 * tables in `memory`, which starts at a multiple of 8. */
void cpl_path_table_init(struct cpl_path_table *table,
                         const struct cpl_network *net);
size_t cpl_path_table_size(const struct cpl_path_table *table);
void cpl_path_table_fill(struct cpl_path_table *table, void *memory);
/* Works without choice[]: the turns of the i-th shortest path between routers
 * of two groups; *k becomes its link. With k NULL it returns their number.
 * O(K). */
int cpl_path_table_nth(const struct cpl_path_table *table, int from, int to,
                       int i, int *k);

/* A drawn path, with turns + 4 * link for each leg. */
struct cpl_drawn {
	int over; /* intermediate router; unused if direct, with one leg */
	unsigned first, second;
};

/* The result is exact, since there are fewer than 2^20 routers. */
static inline struct cpl_group_router
cpl_path_table_router(const struct cpl_path_table *w, int router)
{
	int group = (int)((uint64_t)router * w->per_group_inverse >> 44);

	return (struct cpl_group_router){group, router - group * w->per_group};
}

static inline struct cpl_gateway
cpl_path_table_gateway(const struct cpl_path_table *w, int a, int b, int k)
{
	if (w->home)
		return (struct cpl_gateway){w->home[b * w->k_links + k],
		                            w->home[a * w->k_links + k]};
	return w->gateway[cpl_wires_pair(w->groups, a, b) * w->k_links + k];
}

/* The links between two routers of a group, numbered within the group. */
static inline int cpl_path_table_local(const struct cpl_path_table *w, int from,
                                       int to)
{
	struct cpl_row_column a = w->position[from], b = w->position[to];

	return (a.row != b.row) + (a.column != b.column);
}

/* The fewest links inside groups on a path from a to b of another group. */
static inline int cpl_path_table_fewest(const struct cpl_path_table *w,
                                        struct cpl_group_router a,
                                        struct cpl_group_router b)
{
	int fewest = 4;

	for (int k = 0; k < w->k_links; k++) {
		struct cpl_gateway gateway =
		        cpl_path_table_gateway(w, a.group, b.group, k);
		int hops = cpl_path_table_local(w, a.local, gateway.own) +
		           cpl_path_table_local(w, gateway.far, b.local);

		if (hops < fewest)
			fewest = hops;
	}
	return fewest;
}

static inline const unsigned char *
cpl_path_table_near(const struct cpl_path_table *w, int router)
{
	return w->near + (size_t)router * (size_t)w->groups;
}

/* A segment inside a group as two of its cells, 32 bits each; of two segments,
 * turn 1 goes by column first. */
static inline uint64_t cpl_segment_cells(const struct cpl_path_table *w,
                                         int from, int to, unsigned turn)
{
	struct cpl_row_column a = w->position[from], b = w->position[to];
	int across = b.column - a.column;
	int row_from = turn ? to - across : from;
	int column_from = turn ? from : from + across;
	int none = w->first_none + (from & (CPL_NO_LINKS - 1));
	int by_row = row_from * (w->columns - 1) + b.column - (across > 0);
	int by_column = w->first_column + column_from * (w->rows - 1) + b.row -
	                (b.row > a.row);

	if (!across)
		by_row = none;
	if (b.row == a.row)
		by_column = none;
	return (uint64_t)by_row | (uint64_t)by_column << 32;
}

static inline uint64_t cpl_segment_of(const struct cpl_path_table *w, int from,
                                      int to, unsigned turn)
{
	if (w->segment)
		return w->segment[(from * w->per_group + to) * 2 + (int)turn];
	return cpl_segment_cells(w, from, to, turn);
}

/* The same as cells of the whole network. */
static inline void cpl_segment(const struct cpl_path_table *w, int group,
                               int from, int to, unsigned turn, int *cell)
{
	uint64_t x = cpl_segment_of(w, from, to, turn);
	int base = group * w->cells;

	cell[0] = base + (int)(x & UINT32_MAX);
	cell[1] = base + (int)(x >> 32);
}

static inline int cpl_none(const struct cpl_path_table *w,
                           struct cpl_group_router at)
{
	return at.group * w->cells + w->first_none +
	       (at.local & (CPL_NO_LINKS - 1));
}

static inline int cpl_global_cell(const struct cpl_path_table *w, int a, int b,
                                  int k)
{
	return a * w->cells + w->first_global + (b - (b > a)) * w->k_links + k;
}

/* The index into choice[] and n_choices[]. */
static inline int cpl_combo(const struct cpl_path_table *w, int from, int a,
                            int to, int b)
{
	return cpl_path_table_near(w, from)[b] * w->combos +
	       cpl_path_table_near(w, to)[a];
}

/* The number of a flow's shortest paths. */
static inline int cpl_leg_count(const struct cpl_path_table *w, int from,
                                int to)
{
	struct cpl_group_router a = cpl_path_table_router(w, from),
	                        b = cpl_path_table_router(w, to);
	struct cpl_gateway gateway;

	if (a.group == b.group)
		return cpl_local_paths(
		        cpl_path_table_local(w, a.local, b.local));
	if (w->combos)
		return w->n_choices[cpl_combo(w, from, a.group, to, b.group)];
	if (w->k_links > 1)
		return cpl_path_table_nth(w, from, to, 0, NULL);
	gateway = cpl_path_table_gateway(w, a.group, b.group, 0);
	return cpl_local_paths(cpl_path_table_local(w, a.local, gateway.own)) *
	       cpl_local_paths(cpl_path_table_local(w, gateway.far, b.local));
}

/* The i-th of them: its link *k, and the turn of the segment at the start + 2 *
 * that of the one at the end. */
static inline int cpl_leg_turns(const struct cpl_path_table *w, int from,
                                int to, int i, int *k)
{
	struct cpl_group_router a = cpl_path_table_router(w, from),
	                        b = cpl_path_table_router(w, to);
	struct cpl_gateway gateway;

	*k = 0;
	if (a.group == b.group)
		return i;
	if (w->combos) {
		int code = (int)(w->choice[cpl_combo(w, from, a.group, to,
		                                     b.group)] >>
		                         (4 * i) &
		                 15);

		*k = code >> 2;
		return code & 3;
	}
	if (w->k_links > 1)
		return cpl_path_table_nth(w, from, to, i, k);
	gateway = cpl_path_table_gateway(w, a.group, b.group, 0);
	return cpl_path_table_local(w, a.local, gateway.own) < 2 ? i << 1 : i;
}

/* The cells of a leg from its turns + 4 * link: those in the group of its start
 * with the link between groups, and those in the group of its end. Inside a
 * group all cells are at the start. */
static inline void cpl_leg_start(const struct cpl_path_table *w,
                                 struct cpl_group_router a,
                                 struct cpl_group_router b, unsigned code,
                                 int *cell)
{
	struct cpl_gateway gateway;
	int k = (int)(code >> 2);

	if (a.group == b.group) {
		cpl_segment(w, a.group, a.local, b.local, code & 1, cell);
		cell[2] = cpl_none(w, b);
		return;
	}
	gateway = cpl_path_table_gateway(w, a.group, b.group, k);
	cpl_segment(w, a.group, a.local, gateway.own, code & 1, cell);
	cell[2] = cpl_global_cell(w, a.group, b.group, k);
}

static inline void cpl_leg_end(const struct cpl_path_table *w,
                               struct cpl_group_router a,
                               struct cpl_group_router b, unsigned code,
                               int *cell)
{
	struct cpl_gateway gateway;

	if (a.group == b.group) {
		cell[0] = cell[1] = cpl_none(w, b);
		return;
	}
	gateway = cpl_path_table_gateway(w, a.group, b.group, (int)(code >> 2));
	cpl_segment(w, b.group, gateway.far, b.local, code >> 1 & 1, cell);
}

/* One of the shortest paths, chosen by 16 random bits, as turns + 4 * link.
 * Over the only link between two groups the turns are drawn apart; a segment
 * that has one path takes it with either turn. */
static inline unsigned cpl_leg_any(const struct cpl_path_table *w, int from,
                                   int to, struct cpl_group_router a,
                                   struct cpl_group_router b, unsigned bits)
{
	int k = 0, n;
	unsigned turns;

	if (w->k_links == 1)
		return bits >> 14;
	if (w->combos && a.group != b.group) {
		int at = cpl_combo(w, from, a.group, to, b.group);
		unsigned i = bits * w->n_choices[at] >> 16;

		return (unsigned)(w->choice[at] >> (4 * i)) & 15;
	}
	n = cpl_leg_count(w, from, to);
	turns = (unsigned)cpl_leg_turns(w, from, to,
	                                (int)(bits * (unsigned)n >> 16), &k);
	return turns | (unsigned)k << 2;
}

/* The part of the key that all draws of a flow share. */
static inline uint64_t cpl_draw_key(const struct cpl_path_table *w,
                                    uint64_t seed, int from, int to)
{
	return cpl_random_key(seed, (uint64_t)from * (uint64_t)w->routers +
	                                    (uint64_t)to);
}

/* Chooses two of a flow's direct paths by random bits where it has more; it has
 * no branch, since that would often be mispredicted. */
static inline void cpl_draw_two(int paths, uint64_t key, int iteration,
                                int two[2])
{
	uint64_t bits = cpl_random_at(
	        key, (uint64_t)iteration * (CPL_DRAWN + 1) + CPL_DRAWN);
	int first = (int)((bits & UINT32_MAX) * (uint64_t)paths >> 32);
	int second = (int)((bits >> 32) * (uint64_t)(paths - 1) >> 32);

	second += second >= first;
	two[0] = paths > 2 ? first : 0;
	two[1] = paths > 2 ? second : 1;
}

/* A direct path by its number. */
static inline struct cpl_drawn cpl_direct_path(const struct cpl_path_table *w,
                                               int from, int to, int i)
{
	int k, turns = cpl_leg_turns(w, from, to, i, &k);

	return (struct cpl_drawn){.first = (unsigned)turns | (unsigned)k << 2};
}

/* An iteration's n-th path, over a router that is no end of the flow. */
static inline struct cpl_drawn
cpl_draw_indirect(const struct cpl_path_table *w, int from, int to,
                  struct cpl_group_router a, struct cpl_group_router b,
                  uint64_t key, int iteration, int n)
{
	uint64_t others = (uint64_t)w->routers - 2;
	uint64_t bits = cpl_random_at(
	        key, (uint64_t)iteration * (CPL_DRAWN + 1) + (uint64_t)n);
	int low = from < to ? from : to, high = from < to ? to : from;
	int over = (int)((bits >> 32) * others >> 32);
	struct cpl_group_router c;

	over += over >= low;
	over += over >= high;
	c = cpl_path_table_router(w, over);
	return (struct cpl_drawn){
	        over,
	        cpl_leg_any(w, from, over, a, c, bits & UINT16_MAX),
	        cpl_leg_any(w, over, to, c, b, bits >> 16 & UINT16_MAX),
	};
}
