/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "placement/repair.h"

#include <stdlib.h>
#include <string.h>

#include "mapping/replace.h"

/* The work that a route is counted as, in links. */
#define ROUTE_WORK 8

const struct cpl_placement_policy cpl_placement_repair = {
        .name = "repair",
        .summary = "the nodes and ranks of the run before",
};

/* Which hosts are gone; returns how many, or -1: it is not to be repaired. */
static int list_gone(const struct cpl_decide_request *req, int *gone)
{
	const struct cpl_former *f = req->former;
	const struct cpl_placement_request *place = &req->place;
	int n = 0;

	if (!f || !req->comm || f->ranks != req->comm->ranks ||
	    f->n_nodes != place->n_nodes_wanted || req->wish.policy->place ||
	    !req->wish.mapper || req->order != CPL_ORDER_REACHES ||
	    req->wish.keep.name || place->bounds || place->n_required ||
	    cpl_objective_of_whole(req->wish.objective) ||
	    cpl_objective_by_time(req->wish.objective))
		return -1;
	for (int h = 0; h < f->n_nodes; h++) {
		if (place->free[f->node[h]])
			continue;
		if (n == CPL_REPAIR_GONE)
			return -1;
		gone[n++] = h;
	}
	return n < f->n_nodes ? n : -1;
}

/* Is it more work than the whole decision may take? */
static bool is_too_much(const struct cpl_decide_request *req, int gone)
{
	const struct cpl_network *net = req->place.net;
	double host = 2. * (double)req->comm->n_entries /
	              req->former->n_nodes * ROUTE_WORK;

	return req->work && gone * host * net->n_routers > (double)req->work;
}

/* By the objective, in parts of the fresh plan. */
static double worse_by(const struct cpl_decide_request *req,
                       const struct cpl_decision *fresh,
                       const struct cpl_figures *repaired)
{
	const struct cpl_candidate *c = &fresh->candidate[fresh->chosen];
	const struct cpl_figures blocks = {c->metrics, c->sums};
	const struct cpl_figures *plan = c->is_mapped ? &c->mapped : &blocks;
	double now = cpl_objective_first(req->wish.objective, &repaired->metrics,
	                                 repaired->sums.hop_bytes);
	double best = cpl_objective_first(req->wish.objective, &plan->metrics,
	                                  plan->sums.hop_bytes);

	return best > 0 ? now / best - 1 : now > best ? 1 : 0;
}

/* The decision is that layout. -1: memory. */
static int keep_layout(const struct cpl_decide_request *req, struct cpl_decision *out,
                const int *node, const struct cpl_figures *figures)
{
	const struct cpl_former *f = req->former;
	size_t bytes = (size_t)f->ranks * sizeof(int);
	int *rank_host = malloc(bytes + 1);

	if (!rank_host)
		return -1;
	memcpy(rank_host, f->rank_host, bytes);
	free(out->rank_host);
	out->rank_host = rank_host;
	memcpy(out->node, node, (size_t)f->n_nodes * sizeof(int));
	out->mapped = true;
	out->chosen = out->best = out->n_candidates;
	out->candidate[out->n_candidates++] =
	        (struct cpl_candidate){.policy = &cpl_placement_repair,
	                               .seed = req->place.seed,
	                               .metrics = figures->metrics,
	                               .sums = figures->sums,
	                               .evaluated = true,
	                               .is_mapped = true,
	                               .mapped = *figures};
	return 0;
}

int cpl_repair(const struct cpl_decide_request *req, struct cpl_decision *out,
               struct cpl_error *err)
{
	const struct cpl_former *f = req->former;
	int gone[CPL_REPAIR_GONE], n = list_gone(req, gone), rc = -1;
	const struct cpl_replacing how = {.net = req->place.net,
	                                  .routing = req->routing,
	                                  .comm = req->comm,
	                                  .background = req->background,
	                                  .rates = req->rates,
	                                  .objective = req->wish.objective,
	                                  .n_hosts = n < 0 ? 0 : f->n_nodes,
	                                  .rank_host = n < 0 ? NULL : f->rank_host,
	                                  .free = req->place.free};
	struct cpl_figures figures;
	int *node;

	if (n < 0 || out->cut_short || !out->candidate[out->chosen].evaluated ||
	    is_too_much(req, n))
		return 0;
	node = malloc((size_t)f->n_nodes * sizeof(*node));
	if (!node)
		return cpl_fail_memory(err);
	memcpy(node, f->node, (size_t)f->n_nodes * sizeof(*node));
	if (cpl_replace_hosts(&how, gone, n, node, &figures, err))
		goto out;
	out->repaired.judged = true;
	out->repaired.worse = worse_by(req, out, &figures);
	rc = 0;
	if (out->repaired.worse <= CPL_REPAIR_WORSE &&
	    keep_layout(req, out, node, &figures))
		rc = cpl_fail_memory(err);
out:
	free(node);
	return rc;
}
