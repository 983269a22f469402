/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The default mapper, in two steps: which ranks share a host, made once for a
 * job (rank_groups.h), and which host each group is on, for each node set. So
 * many node sets are judged with their rank order for little more than one.
 */
#ifndef CPL_MAPPING_QUICK_H
#define CPL_MAPPING_QUICK_H

#include "mapping/host_evaluate.h"
#include "mapping/host_search.h"
#include "mapping/mapping.h"
#include "mapping/rank_groups.h"

/* Ranks times hosts up to which more orders are tried. */
#define CPL_QUICK_SMALL 8192L
/* Of the search for each node set, see host_search.h; half a millisecond. */
#define CPL_QUICK_WORK 30000L

struct cpl_quick {
	/* n_hosts, slots of the hosts in the order of their ranks; graph must
	 * be set, unless groups are and the job is not small; host is not
	 * looked at. */
	const struct cpl_map_request *req;
	struct cpl_evaluator ev;
	struct cpl_rank_groups block;
	/* n is 0 where that is no better; the request's, or own */
	struct cpl_rank_groups grown;
	bool small, all_metrics;
	bool is_view; /* its groups are another one's */
	int *kind; /* slots of hosts where they differ, or NULL */
	/* Orders that are tried, and the best so far. */
	int *node, *order, *at, *slots;
	int *cable; /* [hosts * cpl_network_judged_ports] of what is judged */
	const int *reach;
	int n_reach;
	struct cpl_moves moves; /* of searches, once there was one */
	bool watches;
	struct cpl_arena arena;
};

/*
 * For jobs on any of the n_reach nodes in reach, which has to live as long as
 * req. all_metrics as in host_evaluate.h. only_blocks: groups are not grown and
 * nothing can be mapped. 0, or -1 with err (memory), to be closed in either
 * case. O(entries * log(ranks) + links).
 */
int cpl_quick_open(struct cpl_quick *quick, const struct cpl_map_request *req,
                   const int *reach, int n_reach, bool all_metrics,
                   bool only_blocks, struct cpl_error *err);
/* Make another one like `of`, which has to live as long, for use by another
 * thread. 0, or -1 with err (memory), to be closed in either case. O(hosts +
 * links). */
int cpl_quick_view(struct cpl_quick *quick, const struct cpl_quick *of,
                   struct cpl_error *err);
void cpl_quick_close(struct cpl_quick *quick);

/* Evaluate groups, one of the job's, with group i on node[i]. 0, or -1 with
 * err. As cpl_evaluate. */
int cpl_quick_evaluate(struct cpl_quick *quick,
                       const struct cpl_rank_groups *groups, const int *node,
                       struct cpl_figures *out, struct cpl_error *err);

/* A rank order on a set of nodes. */
struct cpl_quick_layout {
	int *node; /* [n_hosts] of group after group: the caller's */
	const int *of; /* [ranks] group of a rank; NULL: blocks */
	int *own;      /* that is this one, to free(); or NULL */
	struct cpl_figures figures;
};

/*
 * The best known order without a search, from node[] as given: blocks and grown
 * groups, the better of them by id, too; of small jobs all that cpl_quick_map
 * begins with. block: what blocks as given come to, or NULL. 0, or -1 with err;
 * out->own to be freed in either case. O(3 evaluations), of small jobs some more.
 */
int cpl_quick_look(struct cpl_quick *quick, const int *node,
                   const struct cpl_figures *block,
                   struct cpl_quick_layout *out, struct cpl_error *err);

/*
 * Map the ranks to node[]: blocks and grown groups (and of small jobs those of
 * greedyallc), the given order, that by id and that of greedyallc; from the best
 * a search by swaps, unless other jobs alone fill the busiest link. Never worse
 * than blocks as given. looked: out is what cpl_quick_look made of that node[],
 * which of large jobs is not done again. 0, or -1 with err; out->own to be freed
 * in either case. With *cut_short the budget ended it.
 */
int cpl_quick_map(struct cpl_quick *quick, const int *node, bool looked,
                  struct cpl_quick_layout *out, bool *cut_short,
                  struct cpl_error *err);

/* cpl_objective_better of two. */
static inline bool cpl_figures_better(enum cpl_objective objective,
                                      const struct cpl_figures *a,
                                      const struct cpl_figures *b)
{
	return cpl_objective_better(objective, &a->metrics, a->sums.hop_bytes,
	                            &b->metrics, b->sums.hop_bytes);
}

extern const struct cpl_mapper cpl_mapper_quick;

#endif
