/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The judging of one decision, for the files that do it. */
#pragma once

#include "mapping/quick.h"
#include "placement/cut.h"
#include "placement/judge.h"

/* A candidate's nodes, in its policy's order and in rank order. */
struct layout {
	int *node;                      /* [n] in policy order */
	int *in_turn; /* [n] room for them in the scheduler's, if needed */
	struct cpl_quick_layout mapped; /* as far as it is mapped */
	bool looked;                    /* it is what cpl_quick_look makes */
	struct cpl_figures promise;     /* what is known before that */
};

/* What a thread judges candidates with. */
struct judge_view {
	struct cpl_quick *quick;
	struct cpl_quick own; /* but for the first's */
	bool cut_short, failed;
	struct cpl_error err;
};

struct judge {
	const struct cpl_decide_request *req;
	struct cpl_decision *out;
	int n, ranks;
	struct cpl_map_request map; /* for any candidate: without hosts */
	struct cpl_comm *own_graph;
	int *size;  /* [n] ranks of a host in blocks */
	int *reach; /* nodes that candidates are on */
	struct cpl_quick quick;
	struct cpl_team *team;    /* or NULL */
	struct judge_view *view; /* [threads of it] */
	struct cpl_times_space *space, *own_space; /* with phases */
	struct cpl_times *times;
	const int *times_of; /* the groups that times are ordered by */
	bool times_ordered;
	struct layout *layout;           /* [n_candidates] */
	const struct cpl_mapper *mapper; /* NULL: blocks */
	bool proxy; /* another mapper is meant, which would take too long */
	struct cpl_whole_units units; /* with keep_whole */
	struct cpl_ceiling most; /* where map.most is set */
	/* With limited work: [n_stations] 0, what is spent, and whether something
	 * was left out; and what of it is not to be spent yet. */
	unsigned char *station;
	long spent, kept;
	bool limited;
	bool stock_blocks; /* the scheduler's nodes without a rank order, for lack of
	                    * it, are what others are held against */
	struct cpl_arena arena;
};

static inline bool cpl_judge_is_quick(const struct judge *j)
{
	return j->mapper == &cpl_mapper_quick;
}

/* Are candidates compared as a whole, by what times and harm of them are? */
static inline bool cpl_judge_of_whole(const struct judge *j)
{
	return cpl_objective_of_whole(j->req->wish.objective);
}

/* judge.c */

/* With phases, what seconds are told by; times and own_space are to be freed. 0, or -1
 * with err. */
int cpl_judge_open_times(struct judge *j, struct cpl_error *err);

/* judge_compare.c */

/* Has the budget run out? The decision is cut short then. */
bool cpl_judge_no_budget(struct judge *j);
/* What candidates are not to exceed: what the scheduler's own nodes, where they are not
 * known linear, come to in blocks once they were evaluated, by rail and, with domains
 * and an objective that does not look at links of nodes, bytes between these. Returns
 * whether there is to be such a thing: with rails or domains, by an objective of
 * links. */
bool cpl_judge_ceiling(const struct cpl_decide_request *req,
                       const struct cpl_decision *decision,
                       struct cpl_ceiling *out);
/* Candidate a before b by what is known of both: as a whole where the objective
 * is, else by figures, which are of a and b. */
bool cpl_judge_comes_before(const struct judge *j,
                            const struct cpl_candidate *a,
                            const struct cpl_candidate *b,
                            const struct cpl_figures *fa,
                            const struct cpl_figures *fb);
/* The same of candidates judged to the end, with their rank order where there is
 * a mapper: ties as decide.h has it. */
bool cpl_judge_is_taken_before(const struct judge *j,
                               const struct cpl_candidate *a,
                               const struct cpl_candidate *b,
                               const struct cpl_figures *fa,
                               const struct cpl_figures *fb);
/* Takes of the first n candidates the best (out->best), or with units to be
 * kept one that breaks fewer, if it is not too dear; mapped: by their rank
 * orders. */
void cpl_judge_choose(struct judge *j, int n, bool mapped);
/* Seconds of a candidate on node[] with ranks in groups of[] (NULL: blocks),
 * which stay as they are. 0, or -1 with err. */
int cpl_judge_times(struct judge *j, const int *node, const int *of,
                    struct cpl_candidate *c, struct cpl_error *err);
/* What candidate i breaks of the units to be kept, if any. */
void cpl_judge_broken(struct judge *j, int i);

/* judge_work.c */

int cpl_judge_begin_work(struct judge *j, struct cpl_error *err);
/* What each search of a layout in domains may take, 0: it is not limited; and what all
 * those of a policy's candidate and of a mapper (or NULL) come to. */
long cpl_judge_layout_work(const struct judge *j);
long cpl_judge_layouts_work(const struct judge *j,
                            const struct cpl_placement_policy *policy,
                            const struct cpl_mapper *mapper);
/* Where work is limited, keeps of it what a search from the best candidate takes, if
 * there is to be one: with less work it finds better nodes than are among many
 * candidates. mapping: as far as that does not make what the search needs. */
void cpl_judge_keep_work(struct judge *j, bool mapping);
/* Is there work left for so many evaluations on node[], and more? O(hosts). */
bool cpl_judge_has_work(struct judge *j, const int *node, int evaluations,
                        long more);
/* The same, and it is spent; else the decision is limited. */
bool cpl_judge_affords(struct judge *j, const int *node, int evaluations,
                       long more);
/* Is there any left to search on from the chosen one, and is it known how? What is
 * found is paid for then where the rank order may not arrive. */
bool cpl_judge_can_search(struct judge *j);
/* What a search may take in links of routes. */
long cpl_judge_search_work(struct judge *j);

/* judge_order.c */

/* Nodes in the scheduler's order. */
void cpl_judge_in_turn(const struct judge *j, int *node);
/* How often a candidate on node[] is evaluated in blocks: once more by what
 * follows, if need be. O(hosts). */
int cpl_judge_evaluations(const struct judge *j, const int *node);
/* With CPL_ORDER_MAY: what candidate i, evaluated in blocks, comes to on its nodes
 * in that order. 0, or -1 with err. One evaluation, if they are not in it. */
int cpl_judge_plain(struct judge *j, struct cpl_quick *quick, int i,
                    struct cpl_error *err);
/* By which candidates are compared then: what it comes to with its rank order (f)
 * times what it comes to without, so that it is good either way: each the product of
 * busiest link, mean and seconds. */
double cpl_judge_either(const struct cpl_candidate *c,
                        const struct cpl_figures *f);
/* And bar those of the first n that are worse so than the scheduler's own nodes among
 * them, by the objective or by that product. */
void cpl_judge_bar(struct judge *j, int n);
/* The same of what a search for the order found, against the one chosen, from which
 * it began. */
void cpl_judge_bar_found(struct judge *j, int i);

/* judge_each.c */

/* What is done to a candidate: layout[i] and candidate[i] are changed, nothing
 * else. 0, or -1 with err. */
typedef int cpl_judge_fn(struct judge *j, struct cpl_quick *quick, int i,
                         bool *cut_short, struct cpl_error *err);

/* Do it to the m candidates of list[] (NULL: the first m), by all threads of the
 * team; without one in turn, until the budget ends. 0, or -1 with err. */
int cpl_judge_each(struct judge *j, const int *list, int m, cpl_judge_fn *fn,
                   struct cpl_error *err);
/* What it made. */
void cpl_judge_close_views(struct judge *j);

/* judge_map.c */

/* The first n with their rank order, as many as there is work for. The best is
 * chosen; when the budget ends before, what was before stays. 0, or -1 with
 * err. */
int cpl_judge_map(struct judge *j, int n, struct cpl_error *err);
/* Another mapper on node[], which it leaves as it is; its figures have what quick tells
 * of rails. 0, or -1 with err. */
int cpl_judge_map_by_name(struct judge *j, struct cpl_quick *quick,
                          const int *node, struct cpl_quick_layout *out,
                          struct cpl_error *err);

/* judge_stated.c */

/* The one chosen and candidate `stock` by req->stated, where that is not what
 * they were judged by: which is not better so is not taken. 0, or -1 with err.
 */
int cpl_judge_stated(struct judge *j, int stock, struct cpl_error *err);

/* judge_search.c */

/* Candidate i from the one chosen on. 0, or -1 with err. */
int cpl_judge_search(struct judge *j, int i, struct cpl_error *err);
