/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of one adaptive solve, and the passes of an iteration. */
#pragma once

#include "routing/adaptive/adaptive.h"
#include "routing/adaptive/path_table.h"

/* Shards are fixed shares of the work that are added up apart. */
#define CPL_SHARDS 4
#define CPL_EXPOSURE 50
#define CPL_AFTER_EXPOSURE 10
/* A bandwidth below this share of the largest counts as none. */
#define CPL_NOTHING 1e-30

/* A link's state as one shard sees it. */
struct cpl_cell {
	double view; /* bandwidth left; then the grant for one unit */
	double sum;  /* asked for; then granted */
};

/* A segment inside a group shows the least of its links. */
struct cpl_segment_view {
	double left, unit;
};

/* The direct paths of a flow over one link between groups: each segment at the
 * start with each at the end. */
struct cpl_bundle {
	int start[2][2], end[2][2], link;
	int n_starts, n_ends;
};

/* A flow's routers in their groups. */
struct cpl_ends {
	uint16_t from, to;
};

/* A flow's drawn paths in an iteration. */
struct cpl_paths {
	/* Indices of cells, if these are seen as an array of doubles. */
	unsigned cell[CPL_DRAWN_LINKS];
	int n_direct, direct_links; /* direct_links: of each direct path */
};

/* A flow's direct paths are kept up to this number; n is 0 if it has more. */
#define CPL_DIRECT_KEPT 16

struct cpl_direct {
	int n, links; /* links: of each path */
	unsigned cell[CPL_DIRECT_KEPT][CPL_LEG];
};

/* A flow with its paths of an iteration, for passes by transits. */
struct cpl_route {
	int from, to;
	double bytes;
	uint32_t path[CPL_DRAWN]; /* see transits.c */
	float weight[CPL_DRAWN];
};

/* A block of transits of indirect paths through the intermediate router's
 * group: the links there, what they show, and what they are to carry. */
#define CPL_TRANSITS 256

struct cpl_transits {
	struct cpl_transits *next;
	int n;
	uint16_t cell[CPL_TRANSITS][CPL_LEG]; /* in the group */
	double amount[CPL_TRANSITS], unit[CPL_TRANSITS];
	unsigned char links[CPL_TRANSITS];
};

/* A flow, in the order of the turns. */
struct cpl_turned {
	int from, to;
	double bytes;
};

/* The flows that are asked for in one of several iterations. */
#define CPL_MOST_TURNS 50

struct cpl_flow_turn {
	int64_t before;                /* flows of the turns before */
	int64_t first[CPL_SHARDS + 1]; /* flow of each shard, in this turn */
};

struct cpl_cursor {
	struct cpl_transits *block;
	int at;
};

struct cpl_solver_job {
	const struct cpl_passes *passes;
	const struct cpl_flows *flows;
	int64_t n;
	int direct; /* the most direct paths; -1: there are only direct ones */
	uint64_t seed;
	int cut[CPL_SHARDS + 1]; /* rows of each shard; by blocks, classes */
	struct cpl_routed routed[CPL_SHARDS];
	int slots;     /* weights of a flow */
	float *weight; /* [n][slots] */
	/* For direct paths only: each path's bandwidth over all iterations. */
	float *path_total; /* [n][slots] */
	/* For blocks of two groups. Flows that can get more come first. */
	int64_t *start;        /* [groups * groups + 1] */
	int *alive;            /* [groups * groups] */
	struct cpl_ends *ends; /* [n] */
	double *bytes;         /* [n] */
	/* For drawn paths. */
	double *total;                  /* [n] bandwidth over all iterations */
	double *hops;                   /* [n] mean links, or NULL */
	struct cpl_paths *kept;         /* [iteration][n] or NULL */
	struct cpl_direct *direct_kept; /* [n] with them */
	float *grants;                  /* [iteration][n][CPL_DRAWN], or NULL */
	/* For transits. */
	float *links;                   /* [n] in place of hops */
	int turns;                      /* each iteration has one's flows */
	struct cpl_flow_turn turn[CPL_MOST_TURNS], now;
	struct cpl_turned *turned;      /* [n] where there are several turns */
	struct cpl_route *route;        /* [the largest turn's] */
	int64_t n_transits[CPL_SHARDS]; /* blocks at most */
	struct cpl_transits *transits[CPL_SHARDS];
	struct cpl_transits **transit_from; /* [shards][groups] */
};

struct cpl_shard {
	int number;
	struct cpl_cell *cell;     /* [cells of all groups] */
	double *bytes;             /* [the same] */
	struct cpl_bundle *bundle; /* [K] */
	double granted;            /* in this iteration */
	/* For transits. */
	struct cpl_cursor *cursor; /* [groups] */
	int64_t *start;            /* [turns][groups] */
	/* For blocks. */
	double *far_flow;              /* [groups][from][to][2] */
	struct cpl_segment_view *near; /* [groups alike][to][from][2] */
	double *near_flow;             /* the same */
};

struct cpl_solver;
typedef void cpl_pass(struct cpl_solver *s, struct cpl_solver_job *job,
                      struct cpl_shard *shard);

enum cpl_pass_kind {
	CPL_COUNT,   /* once, before cut */
	CPL_START,   /* once, before the first iteration */
	CPL_ASK,     /* finds paths, weighs them by what is left on them, and
	              * adds the weights up */
	CPL_GRANT,   /* adds up what each path gets; with delivers (totals are
	              * known) also puts the bytes of drawn paths */
	CPL_DELIVER, /* puts the bytes of all iterations */
	CPL_REPLAY,  /* puts those of one iteration from what was kept */
	CPL_N_PASSES,
};

/* The functions that go over the flows of a job. */
struct cpl_passes {
	/* The passes run once, with the first shard, for all shards. */
	bool whole;
	/* Shares the flows out among the shards; NULL: nothing to do. */
	void (*cut)(const struct cpl_solver *s, struct cpl_solver_job *job);
	cpl_pass *pass[CPL_N_PASSES]; /* NULL: nothing to do */
};

/* The passes go flow by flow over all direct paths, or drawn ones; for many
 * flows they go by blocks and transits (blocks.c, transits.c). */
extern const struct cpl_passes cpl_by_direct, cpl_by_drawn, cpl_by_blocks,
        cpl_by_transits;

struct cpl_solver {
	struct cpl_adaptive *a;
	struct cpl_path_table table;
	struct cpl_solver_job *job; /* [jobs] */
	int n_shards;
	struct cpl_shard shard[CPL_SHARDS];
	double *left;                 /* [cells] */
	struct cpl_segment_view *far; /* [groups][from][to][2], for blocks */
	bool blocks, transits;        /* whether any job has them */
	/* With transits, for each iteration: what was left (view), and what
	 * each unit asked for got (sum). */
	struct cpl_cell *seen; /* [iterations][cells], or NULL */
	double scale;          /* from bytes to weights */
	double unit;           /* the largest bandwidth */
	int steps;             /* iterations of the exposure */
	int iteration;
	bool delivers;
	double more[CPL_NETWORK_MAX_CLASSES]; /* exposed next, by class */
	cpl_pass *pass;                       /* the pass that runs, */
	struct cpl_solver_job *at;            /* over this job */
};

/* Hands out pieces of one block; without a block it only counts their bytes. */
struct cpl_pieces {
	char *at;
	size_t used;
};

/* Chooses each job's passes. Returns all flows, or -1 with err (memory). */
int64_t cpl_solver_jobs(struct cpl_solver *s, struct cpl_error *err);
/* Gives arrays their memory; with a block the path table is filled. */
void cpl_solver_allot(struct cpl_solver *s, int64_t flows,
                      struct cpl_pieces *pieces);
/* Gives each shard rows with about as many flows. */
void cpl_solver_cut(const struct cpl_solver *s, struct cpl_solver_job *job);

static inline size_t cpl_solver_cells(const struct cpl_solver *s)
{
	return (size_t)s->table.groups * (size_t)s->table.cells;
}

/* What was kept of the links in the iteration. */
static inline const struct cpl_cell *cpl_solver_seen(const struct cpl_solver *s)
{
	return s->seen + (size_t)s->iteration * cpl_solver_cells(s);
}

/* Sets all links to their state before the first iteration. */
void cpl_links_start(struct cpl_solver *s);
/* Turns what is asked for into the grant for each unit of it. */
void cpl_links_divide(struct cpl_solver *s);
/* Turns what is granted into what is left, with the next exposure. */
void cpl_links_settle(struct cpl_solver *s);
/* Keeps what links show in this iteration, for the delivery of bytes. */
void cpl_links_keep(struct cpl_solver *s);
/* Adds the shards' bytes to the caller's load. */
void cpl_links_add_bytes(struct cpl_solver *s);

/* Whether the job can and should go by blocks, or by transits. */
bool cpl_blocks_pay(const struct cpl_solver *s,
                    const struct cpl_solver_job *job);
bool cpl_transits_pay(const struct cpl_solver *s,
                      const struct cpl_solver_job *job);
/* Before a pass these compute what far segments show; after it, they put what
 * goes over them on the links. */
void cpl_blocks_see(struct cpl_solver *s);
void cpl_blocks_put(struct cpl_solver *s, bool bytes);
/* Cuts the groups for the shards and counts the blocks of transits that the turns
 * make. Returns 0, or -1 with err (memory). */
int cpl_transits_cut(const struct cpl_network *net, struct cpl_solver_job *job,
                     struct cpl_error *err);
/* The flows of the largest turn. */
size_t cpl_transits_room(const struct cpl_solver_job *job);
/* Sorts the flows by turns, and there by groups; with one turn they are all taken. */
void cpl_transits_sort(struct cpl_solver *s, struct cpl_solver_job *job);
/* Takes the flows whose turn the iteration is. */
void cpl_transits_turn(struct cpl_solver *s, struct cpl_solver_job *job);

static inline double cpl_lesser(double a, double b)
{
	return a < b ? a : b;
}

/* Computes each path's share of all that the flow has got; in the first
 * iteration it is even where numbers were too far apart for any grant. Returns
 * whether there is any. */
static inline bool cpl_shares(double total, int iteration, const float *got,
                              double *share)
{
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
