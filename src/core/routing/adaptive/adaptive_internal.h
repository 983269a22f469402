/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of the adaptive solve share: the paths of a dragonfly as
 * fixed numbers of links, and what an iteration works on.
 *
 * Links are kept as cells, group by group: the row links of a group's routers,
 * the column links, the global ones, and CPL_NO_LINKS that are none.
 *
 * A leg is a shortest path in five cells: at most two links inside the group of
 * its start, a global one, at most two inside the group of its end. A position
 * that the path does not need holds a cell that is no link and has no end of
 * bandwidth: no branch then depends on the length of a path.
 */
#ifndef CPL_ROUTING_ADAPTIVE_INTERNAL_H
#define CPL_ROUTING_ADAPTIVE_INTERNAL_H

#include "base/random.h"
#include "routing/adaptive/adaptive.h"
#include "routing/dragonfly_paths.h"

#define CPL_NO_LINKS 32
#define CPL_LEG 5
/* Of them at its start, the link between groups included. */
#define CPL_LEG_START 3
/* Paths of a flow in an iteration, where they are drawn. */
#define CPL_DRAWN 4
/* Links of those paths. */
#define CPL_DRAWN_LINKS (CPL_DRAWN * 2 * CPL_LEG)
/* Of the largest bandwidth: less than this is nothing. */
#define CPL_NOTHING 1e-30
/* Shards: fixed shares of the work that are added up apart. */
#define CPL_SHARDS 4

struct cpl_group_router {
	int group, local; /* local: router in its group */
};

/* A router in its group. */
struct cpl_row_column {
	int row, column;
};

/* Where a link between groups sits, by routers in their groups. */
struct cpl_gateway {
	int own, far;
};

struct cpl_path_table {
	const struct cpl_network *net;
	int routers, groups, k_links, rows, columns;
	int per_group;                              /* routers of a group */
	int cells;                                  /* of a group */
	int first_column, first_global, first_none; /* in it */
	uint64_t per_group_inverse;                 /* rounded up, times 2^44 */
	const struct cpl_row_column *position;      /* [per_group] */
	/* Wiring "modulo": link k to group b is on home[b * K + k] of any
	 * group. Else gateway[global links], in the order of their ids. */
	const int *home;
	const struct cpl_gateway *gateway;
	const unsigned char *is_link; /* [groups * cells] */
	/* segment[(from * per_group + to) * 2 + turn]: two cells of a group in
	 * 32 bits each, or NULL where groups are large. */
	const uint64_t *segment;
	/*
	 * With a few links between groups, which of them are on shortest paths
	 * is looked up: near[router * groups + group] says how far the router
	 * is from its group's gateways there, a digit to the base of 3 each;
	 * choice[that * combos + the same of the other end] has 4 bits for each
	 * path: the link, whether the segment at the end goes by column first,
	 * and whether that at the start does. combos 0: nothing to look up.
	 */
	int combos;
	const unsigned char *near;
	const uint64_t *choice;
	const unsigned char *n_choices;
};

/* The network's numbers; bytes of the tables; the tables in `memory`, which
 * starts at a multiple of 8. */
void cpl_path_table_init(struct cpl_path_table *table,
                         const struct cpl_network *net);
size_t cpl_path_table_size(const struct cpl_network *net);
void cpl_path_table_fill(struct cpl_path_table *table, void *arena);
/* Without tables: shortest paths between two groups, or the turns of the i-th.
 * O(K). */
int cpl_path_table_count(const struct cpl_path_table *table, int from, int to);
int cpl_path_table_pick(const struct cpl_path_table *table, int from, int to,
                        int i, int *k);

/* A link's state as one shard sees it. */
struct cpl_cell {
	double view; /* bandwidth left; then that for one unit asked */
	double sum;  /* asked for; then granted */
};

/* Direct paths of a flow over one link between groups: each segment at its
 * start with each at its end. */
struct cpl_bundle {
	int start[2][2], end[2][2], link;
	int n_starts, n_ends;
};

/* What indirect paths pass through: links of the intermediate router's group,
 * what these show and are to carry. */
#define CPL_TRANSITS 256

struct cpl_transits {
	struct cpl_transits *next;
	int n;
	uint16_t cell[CPL_TRANSITS][CPL_LEG]; /* in the group */
	double amount[CPL_TRANSITS], unit[CPL_TRANSITS];
	unsigned char links[CPL_TRANSITS];
};

struct cpl_cursor {
	struct cpl_transits *block;
	int at;
};

/* A flow with its paths of an iteration. */
struct cpl_route {
	int from, to;
	double bytes;
	uint32_t path[CPL_DRAWN]; /* see transits.c */
	float weight[CPL_DRAWN];
};

/* A flow's routers in their groups. */
struct cpl_ends {
	uint16_t from, to;
};

/* What a segment inside a group shows: the least of its links. */
struct cpl_segment_view {
	double left, unit;
};

/* A flow's paths in an iteration. */
struct cpl_paths {
	/* Cells, as indexes among the doubles that these are. */
	unsigned cell[CPL_DRAWN_LINKS];
	int n_direct, direct_links; /* direct_links: of each */
};

/* Its direct paths, up to so many; n 0: more. */
#define CPL_DIRECT_KEPT 16

struct cpl_direct {
	int n, links; /* links: of each */
	unsigned cell[CPL_DIRECT_KEPT][CPL_LEG];
};

/* A path as it is drawn: of each leg the turns + 4 * link. */
struct cpl_drawn {
	int over; /* router; not for a direct one, which is a leg */
	unsigned first, second;
};

struct cpl_solver_job {
	const struct cpl_flows *flows;
	int64_t n;
	int direct; /* direct paths at the most; -1: all, and no others */
	uint64_t seed;
	int cut[CPL_SHARDS + 1]; /* rows of each shard; by blocks: classes */
	int slots;               /* weights of a flow */
	float *weight;           /* [n][slots] */
	/* All direct: bandwidth of each path over all iterations. */
	float *path_total; /* [n][slots] */
	/* All direct, by blocks of a source's and another group. Flows that can
	 * still get something come first. */
	bool by_blocks;
	int64_t *start;        /* [groups * groups + 1] */
	int *alive;            /* [groups * groups] */
	struct cpl_ends *ends; /* [n] */
	double *bytes;         /* [n] */
	/* Drawn. */
	double *total;                  /* [n] bandwidth over all iterations */
	double *hops;                   /* [n] mean links */
	struct cpl_paths *kept;         /* [iteration][n] or NULL */
	struct cpl_direct *direct_kept; /* [n] with them */
	float *grants;                  /* [iteration][n][CPL_DRAWN], or NULL */
	/* Drawn, by transits. */
	bool by_transits;
	struct cpl_route *route;        /* [n] */
	int64_t first[CPL_SHARDS + 1];  /* flow of each shard */
	int64_t n_transits[CPL_SHARDS]; /* blocks at the most */
	struct cpl_transits *transits[CPL_SHARDS];
	struct cpl_transits **transit_from; /* [shards][groups] */
	struct cpl_routed routed[CPL_SHARDS];
};

struct cpl_shard {
	int number;
	struct cpl_cell *cell;     /* [cells of all groups] */
	double *bytes;             /* [the same] */
	struct cpl_bundle *bundle; /* [K] */
	double granted;            /* in this iteration */
	/* For transits. */
	struct cpl_cursor *cursor; /* [groups] */
	int64_t *start;            /* [groups + 1] */
	/* For blocks. */
	const double *left;                 /* of all: [cells] */
	const struct cpl_segment_view *far; /* of all: [groups][from][to][2] */
	double *far_flow;                   /* [groups][from][to][2] */
	struct cpl_segment_view *near;      /* [groups alike][to][from][2] */
	double *near_flow;                  /* the same */
};

/*
 * One iteration's passes over a shard's rows of a job. ask: find the paths,
 * weigh them by what is left, add the weights up. grant: add up what each
 * path gets; with deliver (totals known) also put the bytes there.
 */
void cpl_drawn_ask(const struct cpl_path_table *table,
                   struct cpl_solver_job *job, struct cpl_shard *shard,
                   double scale, int iteration);
void cpl_drawn_grant(const struct cpl_path_table *table,
                     struct cpl_solver_job *job, struct cpl_shard *shard,
                     int iteration, bool deliver);
/* The bytes of one iteration by the grants that are kept. */
void cpl_drawn_replay(const struct cpl_path_table *table,
                      struct cpl_solver_job *job, struct cpl_shard *shard,
                      int iteration);
void cpl_direct_ask(const struct cpl_path_table *table,
                    struct cpl_solver_job *job, struct cpl_shard *shard,
                    double scale);
void cpl_direct_grant(const struct cpl_path_table *table,
                      struct cpl_solver_job *job, struct cpl_shard *shard);
/* The bytes of all iterations. */
void cpl_direct_deliver(const struct cpl_path_table *table,
                        struct cpl_solver_job *job, struct cpl_shard *shard);

/*
 * The same passes where all flows of two groups go over one link and there are
 * many of them: they then share the segments between routers and gateways, and
 * a pass works on a table of what each of those shows and is to carry. The
 * flows are sorted by blocks of source and destination group (count, cut,
 * keep). In a pass the near segments are the shard's own; the far ones are seen
 * before it and put on the links after it (see, put), with all CPL_SHARDS
 * shards. drops: no more is exposed, so that flows that have found nothing are
 * done.
 */
bool cpl_blocks_pay(const struct cpl_path_table *table,
                    const struct cpl_solver_job *job);
void cpl_blocks_count(const struct cpl_path_table *table,
                      struct cpl_solver_job *job,
                      const struct cpl_shard *shard);
void cpl_blocks_cut(const struct cpl_path_table *table,
                    struct cpl_solver_job *job);
void cpl_blocks_keep(const struct cpl_path_table *table,
                     struct cpl_solver_job *job, struct cpl_shard *shard);
void cpl_blocks_see(const struct cpl_path_table *table, struct cpl_shard *shard,
                    int threads, struct cpl_segment_view *far);
void cpl_blocks_put(const struct cpl_path_table *table, struct cpl_shard *shard,
                    int threads, bool bytes);
void cpl_blocks_ask(const struct cpl_path_table *table,
                    struct cpl_solver_job *job, struct cpl_shard *shard,
                    double scale, bool drops);
void cpl_blocks_grant(const struct cpl_path_table *table,
                      struct cpl_solver_job *job, struct cpl_shard *shard,
                      double scale);
void cpl_blocks_deliver(const struct cpl_path_table *table,
                        struct cpl_solver_job *job, struct cpl_shard *shard);

/*
 * The passes over drawn paths where there are many flows. An indirect path
 * starts in its source's group, passes through the group of its intermediate
 * router, and ends in its destination's. Flows are sorted by the groups of
 * their ends; transits are handed over to the groups that they are in, one
 * group after the other, with what they see there and what they are to carry:
 * cells are then looked at where they are in the cache. The draws are those of
 * cpl_drawn_ask.
 */
bool cpl_transits_pay(const struct cpl_path_table *table,
                      const struct cpl_solver_job *job);
/* Cut the groups for the shards and count the blocks of transits that they
 * make. 0, or -1 with err (memory). */
int cpl_transits_cut(const struct cpl_network *net, struct cpl_solver_job *job,
                     struct cpl_error *err);
/* Sort the shard's flows. */
void cpl_transits_sort(const struct cpl_path_table *table,
                       struct cpl_solver_job *job, struct cpl_shard *shard);
/* ask and grant over all shards. */
void cpl_transits_ask(const struct cpl_path_table *table,
                      struct cpl_solver_job *job, struct cpl_shard *shard,
                      int threads, double scale, int iteration);
void cpl_transits_grant(const struct cpl_path_table *table,
                        struct cpl_solver_job *job, struct cpl_shard *shard,
                        int threads);
/* The bytes of one iteration: cells hold what was left and what each unit
 * asked got in it. */
void cpl_transits_deliver(const struct cpl_path_table *table,
                          struct cpl_solver_job *job, struct cpl_shard *shard,
                          int threads, double scale, int iteration);

static inline double cpl_lesser(double a, double b)
{
	return a < b ? a : b;
}

/* Each path's share of what the flow has got in all; evenly in the first
 * iteration where numbers were too far apart for any grant. Whether there is
 * any. */
static inline bool cpl_shares(const struct cpl_solver_job *job, int64_t m,
                              int iteration, const float *got, double *share)
{
	double total = job->total[m];
	float any = 0;

	if (!(total > 0)) {
		for (int k = 0; k < CPL_DRAWN; k++)
			share[k] = iteration ? 0 : 1.0 / CPL_DRAWN;
		return !iteration;
	}
	for (int k = 0; k < CPL_DRAWN; k++) {
		share[k] = (double)got[k] / total;
		any += got[k];
	}
	return any > 0;
}

/* Exact: there are fewer than 2^20 routers. */
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
	return w->gateway[((size_t)a * (size_t)(w->groups - 1) +
	                   (size_t)(b - (b > a))) *
	                          (size_t)w->k_links +
	                  (size_t)k];
}

/* Links between two routers of a group, numbered in it. */
static inline int cpl_path_table_local(const struct cpl_path_table *w, int from,
                                       int to)
{
	struct cpl_row_column a = w->position[from], b = w->position[to];

	return (a.row != b.row) + (a.column != b.column);
}

/* The fewest links inside the two groups on a path from a to b of another. */
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

/* A segment inside a group as two of its cells, 32 bits each; turn: of two,
 * that by column first. */
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

/* The same as cells of all. */
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

/* Index into choice[] and n_choices[]. */
static inline int cpl_combo(const struct cpl_path_table *w, int from, int a,
                            int to, int b)
{
	return cpl_path_table_near(w, from)[b] * w->combos +
	       cpl_path_table_near(w, to)[a];
}

/* How many shortest paths a flow has. */
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
		return cpl_path_table_count(w, from, to);
	gateway = cpl_path_table_gateway(w, a.group, b.group, 0);
	return cpl_local_paths(cpl_path_table_local(w, a.local, gateway.own)) *
	       cpl_local_paths(cpl_path_table_local(w, gateway.far, b.local));
}

/* Path i of them: link k; the turn of the segment at the start + 2 * at the
 * end. */
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
		return cpl_path_table_pick(w, from, to, i, k);
	gateway = cpl_path_table_gateway(w, a.group, b.group, 0);
	return cpl_path_table_local(w, a.local, gateway.own) < 2 ? i << 1 : i;
}

/* The cells of a leg by its turns + 4 * link: those in the group of its start,
 * the link between groups included, and those in the group of its end. Inside
 * a group all are of the start. */
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

static inline void cpl_leg_cells(const struct cpl_path_table *w,
                                 struct cpl_group_router a,
                                 struct cpl_group_router b, unsigned code,
                                 int *cell)
{
	struct cpl_gateway gateway;
	int k = (int)(code >> 2);

	if (a.group == b.group) {
		cpl_leg_start(w, a, b, code, cell);
		cpl_leg_end(w, a, b, code, cell + CPL_LEG_START);
		return;
	}
	gateway = cpl_path_table_gateway(w, a.group, b.group, k);
	cpl_segment(w, a.group, a.local, gateway.own, code & 1, cell);
	cell[2] = cpl_global_cell(w, a.group, b.group, k);
	cpl_segment(w, b.group, gateway.far, b.local, code >> 1 & 1, cell + 3);
}

/* One of the shortest paths, by 16 random bits: its turns + 4 * link. Over the
 * only link between two groups the turns are drawn apart: where there is one
 * way, it has either. */
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

/* What all draws of a flow have in common. */
static inline uint64_t cpl_draw_key(const struct cpl_path_table *w,
                                    const struct cpl_solver_job *job, int from,
                                    int to)
{
	return cpl_random_key(job->seed, (uint64_t)from * (uint64_t)w->routers +
	                                         (uint64_t)to);
}

/* Which two of a flow's direct paths, of more than two by random bits; without
 * a branch, which would often be mispredicted. */
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

/* Path n of an iteration: over a router that is neither source nor
 * destination. */
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

/* P(m) of an iteration: first the direct paths, a leg each, then the indirect
 * ones, two legs each. Returns the number of direct ones. */
static inline int cpl_draw(const struct cpl_path_table *w,
                           const struct cpl_solver_job *job, int from, int to,
                           int iteration, struct cpl_drawn path[CPL_DRAWN])
{
	uint64_t key = cpl_draw_key(w, job, from, to);
	struct cpl_group_router a = cpl_path_table_router(w, from),
	                        b = cpl_path_table_router(w, to);
	int n_direct = 0, two[2];

	if (job->direct) {
		int paths = cpl_leg_count(w, from, to);

		cpl_draw_two(paths, key, iteration, two);
		for (; n_direct < 2 && n_direct < paths; n_direct++)
			path[n_direct] =
			        cpl_direct_path(w, from, to, two[n_direct]);
	}
	for (int n = n_direct; n < CPL_DRAWN; n++)
		path[n] =
		        cpl_draw_indirect(w, from, to, a, b, key, iteration, n);
	return n_direct;
}

#endif
