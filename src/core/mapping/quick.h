/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The default mapper works in two steps: which ranks share a host, made once
 * for a job (rank_groups.h), and which host each group is on, for each node
 * set. So many node sets are judged with their rank order for little more than
 * one.
 */
#pragma once

#include "mapping/host_evaluate.h"
#include "mapping/host_search.h"
#include "mapping/mapping.h"
#include "mapping/rank_groups.h"

/* More orders are tried up to this many ranks times hosts. */
#define CPL_QUICK_SMALL 8192L
/* The work of each node set's search (host_search.h): half a millisecond. */
#define CPL_QUICK_WORK 30000L

struct cpl_quick {
	/* It has n_hosts and slots, the hosts in the order of their ranks.
	 * graph must be set unless groups are and the job is not small; host is
	 * not looked at. */
	const struct cpl_map_request *req;
	struct cpl_evaluator ev;
	struct cpl_rank_groups block;
	/* the request's or its own; n 0: blocks are better */
	struct cpl_rank_groups grown;
	bool small, all_metrics;
	bool is_view; /* its groups belong to another one */
	int *kind; /* slots of hosts where they differ, or NULL */
	/* The orders that are tried, and the best so far. */
	int *node, *order, *at, *slots;
	int *cable; /* [hosts * cpl_network_judged_ports] */
	double *load; /* of rails, with a ceiling */
	const int *reach;
	int n_reach;
	struct cpl_moves moves; /* of searches, once there was one */
	bool watches;
	struct cpl_arena arena;
};

/* Opens a mapper for jobs on any of the n_reach nodes in `reach`, which must
 * live as long as req. all_metrics is as in host_evaluate.h. With only_blocks,
 * groups are not grown and nothing can be mapped. Returns 0, or -1 with err
 * (memory), in O(entries * log(ranks) + links); close it in either case. */
int cpl_quick_open(struct cpl_quick *quick, const struct cpl_map_request *req,
                   const int *reach, int n_reach, bool all_metrics,
                   bool only_blocks, struct cpl_error *err);
/* Makes another one like `of`, which must live as long, for use by another
 * thread. Returns 0, or -1 with err (memory), in O(hosts + links); close it in
 * either case. */
int cpl_quick_view(struct cpl_quick *quick, const struct cpl_quick *of,
                   struct cpl_error *err);
void cpl_quick_close(struct cpl_quick *quick);

/* Judges one of the job's groupings with group i on node[i]. Returns 0, or -1
 * with err, as cpl_evaluate does and at its cost. */
int cpl_quick_evaluate(struct cpl_quick *quick,
                       const struct cpl_rank_groups *groups, const int *node,
                       struct cpl_figures *out, struct cpl_error *err);

/* A rank order on a set of nodes. */
struct cpl_quick_layout {
	int *node; /* [n_hosts] nodes of groups; the caller's array */
	const int *of; /* [ranks] group of a rank; NULL: blocks */
	int *own;      /* the same where it is to be free()d, or NULL */
	struct cpl_figures figures;
};

/* Finds the best order known without a search, from node[] as given: blocks and
 * grown groups, the better of them by id too, and for small jobs all that
 * cpl_quick_map begins with. `block` is what blocks as given come to, or NULL.
 * Returns 0, or -1 with err, in O(3 evaluations), for small jobs some more;
 * free out->own in either case. */
int cpl_quick_look(struct cpl_quick *quick, const int *node,
                   const struct cpl_figures *block,
                   struct cpl_quick_layout *out, struct cpl_error *err);

/*
 * Maps the ranks to node[]. It tries blocks and grown groups (for small jobs
 * also those of greedyallc) in the given order, by id and in the order of
 * greedyallc, and searches by swaps from the best, unless other jobs alone fill
 * the busiest link. The result is never worse than blocks as given, by the ceiling or
 * else by the objective. `looked`
 * says that out is from cpl_quick_look for that node[], which spares large jobs
 * doing it again. Returns 0, or -1 with err; free out->own in either case.
 * *cut_short: the budget ended it.
 */
int cpl_quick_map(struct cpl_quick *quick, const int *node, bool looked,
                  struct cpl_quick_layout *out, bool *cut_short,
                  struct cpl_error *err);

/* As cpl_objective_better does for two layouts. */
static inline bool cpl_figures_better(enum cpl_objective objective,
                                      const struct cpl_figures *a,
                                      const struct cpl_figures *b)
{
	return cpl_objective_better(objective, &a->metrics, a->sums.hop_bytes,
	                            &b->metrics, b->sums.hop_bytes);
}

extern const struct cpl_mapper cpl_mapper_quick;
