/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of one adaptive solve, and the passes of an iteration. */
#ifndef CPL_ROUTING_ADAPTIVE_SOLVER_H
#define CPL_ROUTING_ADAPTIVE_SOLVER_H

#include "routing/adaptive/adaptive.h"
#include "routing/adaptive/path_table.h"

/* Shards: fixed shares of the work that are added up apart. */
#define CPL_SHARDS 4
#define CPL_EXPOSURE 50
#define CPL_AFTER_EXPOSURE 10
/* Of the largest bandwidth: less than this is nothing. */
#define CPL_NOTHING 1e-30

/* A link's state as one shard sees it. */
struct cpl_cell {
	double view; /* bandwidth left; then that for one unit asked */
	double sum;  /* asked for; then granted */
};

/* What a segment inside a group shows: the least of its links. */
struct cpl_segment_view {
	double left, unit;
};

/* Direct paths of a flow over one link between groups: each segment at its
 * start with each at its end. */
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

/* A flow with its paths of an iteration, by transits. */
struct cpl_route {
	int from, to;
	double bytes;
	uint32_t path[CPL_DRAWN]; /* see transits.c */
	float weight[CPL_DRAWN];
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

struct cpl_solver_job {
	const struct cpl_passes *passes;
	const struct cpl_flows *flows;
	int64_t n;
	int direct; /* direct paths at the most; -1: all, and no others */
	uint64_t seed;
	int cut[CPL_SHARDS + 1]; /* rows of each shard; by blocks: classes */
	struct cpl_routed routed[CPL_SHARDS];
	int slots;     /* weights of a flow */
	float *weight; /* [n][slots] */
	/* All direct: bandwidth of each path over all iterations. */
	float *path_total; /* [n][slots] */
	/* By blocks of a source's and another group. Flows that can still get
	 * something come first. */
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
	/* By transits. */
	struct cpl_route *route;        /* [n] */
	int64_t first[CPL_SHARDS + 1];  /* flow of each shard */
	int64_t n_transits[CPL_SHARDS]; /* blocks at the most */
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
	int64_t *start;            /* [groups + 1] */
	/* For blocks. */
	double *far_flow;              /* [groups][from][to][2] */
	struct cpl_segment_view *near; /* [groups alike][to][from][2] */
	double *near_flow;             /* the same */
};

struct cpl_solver;
typedef void cpl_pass(struct cpl_solver *s, struct cpl_solver_job *job,
                      struct cpl_shard *shard);

enum cpl_pass_kind {
	CPL_COUNT,   /* before cut */
	CPL_START,   /* before the first iteration */
	CPL_ASK,     /* find the paths, weigh them by what is left on them, add
	              * the weights up */
	CPL_GRANT,   /* add up what each path gets; with delivers (totals are
	              * known) put the bytes there, too, where paths are drawn */
	CPL_DELIVER, /* the bytes of all iterations */
	CPL_REPLAY,  /* the bytes of one iteration, by what is kept of it */
	CPL_N_PASSES,
};

/* How the flows of a job are gone over. */
struct cpl_passes {
	/* Once, with the first of all shards; else for each shard. */
	bool whole;
	/* Share the flows out among the shards; NULL: they are. */
	void (*cut)(const struct cpl_solver *s, struct cpl_solver_job *job);
	cpl_pass *pass[CPL_N_PASSES]; /* NULL: nothing to do */
};

/* Flow by flow, over all direct paths or drawn ones; by blocks and by transits
 * where there are many, see there. */
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
	bool blocks, transits;        /* for any job */
	/* With transits: of each iteration what was left (view) and what each
	 * unit asked got (sum). */
	struct cpl_cell *seen; /* [iterations][cells], or NULL */
	double scale;          /* of bytes to weights */
	double unit;           /* of bandwidths: the largest */
	int steps;             /* of the exposure */
	int iteration;
	bool delivers;
	double more[CPL_NETWORK_MAX_CLASSES]; /* exposed next, per class */
	cpl_pass *pass;                       /* at work, */
	struct cpl_solver_job *at;            /* over this job */
};

/* Hands out pieces of one block; without a block only counts. */
struct cpl_pieces {
	char *at;
	size_t used;
};

/* The jobs, and how each is gone over. Returns the flows of all, or -1 with
 * err (memory). */
int64_t cpl_solver_jobs(struct cpl_solver *s, struct cpl_error *err);
/* Memory for all arrays; the path table is filled where there is a block. */
void cpl_solver_allot(struct cpl_solver *s, int64_t flows,
                      struct cpl_pieces *pieces);
/* Rows for each shard, with about as many flows. */
void cpl_solver_cut(const struct cpl_solver *s, struct cpl_solver_job *job);

static inline size_t cpl_solver_cells(const struct cpl_solver *s)
{
	return (size_t)s->table.groups * (size_t)s->table.cells;
}

/* All links as they are before the first iteration. */
void cpl_links_start(struct cpl_solver *s);
/* From what is asked for to what each unit of it gets. */
void cpl_links_divide(struct cpl_solver *s);
/* From what is granted to what is left, with the next exposure. */
void cpl_links_settle(struct cpl_solver *s);
/* What links show in this iteration, for when the bytes are delivered; and all
 * shards' cells as they were then. */
void cpl_links_keep(struct cpl_solver *s);
void cpl_links_recall(struct cpl_solver *s);
/* The shards' bytes to the caller's load. */
void cpl_links_add_bytes(struct cpl_solver *s);

/* Can and should the job go by blocks, by transits? */
bool cpl_blocks_pay(const struct cpl_solver *s,
                    const struct cpl_solver_job *job);
bool cpl_transits_pay(const struct cpl_solver *s,
                      const struct cpl_solver_job *job);
/* Before and after a pass: what far segments show, and what goes over them to
 * the links. */
void cpl_blocks_see(struct cpl_solver *s);
void cpl_blocks_put(struct cpl_solver *s, bool bytes);
/* Cut the groups for the shards and count the blocks of transits that they
 * make. 0, or -1 with err (memory). */
int cpl_transits_cut(const struct cpl_network *net, struct cpl_solver_job *job,
                     struct cpl_error *err);

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

#endif
