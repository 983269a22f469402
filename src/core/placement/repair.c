/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "placement/repair.h"

#include <stdlib.h>
#include <string.h>

#include "mapping/replace.h"
#include "placement/bounds.h"
#include "placement/judge_internal.h"

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
	    !req->wish.mapper || req->order != CPL_ORDER_REACHES)
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

/* A repair, room for the units of the bounds, and where units are to be kept whole how
 * many of them the fresh plan breaks. */
struct repair_room {
	const struct cpl_decide_request *req;
	int *count;
	struct cpl_whole_units units;
	int most_broken;
};

static bool is_bound(const struct repair_room *r, const int *node)
{
	const struct cpl_bounds *bounds = r->req->place.bounds;

	return !bounds || cpl_bounds_hold(bounds, node, r->req->former->n_nodes,
	                                  r->count);
}

/* A node that is still to be replaced breaks nothing: its unit is not wholly free. */
static int broken_by(struct repair_room *r, const int *node)
{
	return r->req->wish.keep.name
	               ? cpl_whole_units_broken(&r->units, node,
	                                        r->req->former->n_nodes)
	               : 0;
}

static bool may_have(void *arg, const int *node)
{
	struct repair_room *r = arg;

	return is_bound(r, node) && broken_by(r, node) <= r->most_broken;
}

/* Is it more work than the whole decision may take? */
static bool is_too_much(const struct cpl_decide_request *req, int gone)
{
	const struct cpl_network *net = req->place.net;
	double host = 2. * (double)req->comm->n_entries /
	              req->former->n_nodes * ROUTE_WORK;

	return req->work && gone * host * net->n_routers > (double)req->work;
}

/* What the objective goes by besides figures. */
static int judge_times(const struct cpl_decide_request *req,
                       struct cpl_decision *out, const int *node,
                       struct cpl_candidate *c, struct cpl_error *err)
{
	struct judge j = {.req = req,
	                  .out = out,
	                  .n = req->former->n_nodes,
	                  .ranks = req->former->ranks};
	int rc = cpl_judge_open_times(&j, err) ||
	         cpl_judge_times(&j, node, req->former->rank_host, c, err);

	cpl_times_close(j.times);
	cpl_times_space_free(j.own_space);
	return rc ? -1 : 0;
}

/* By what the decision went by in the end, in parts of the fresh plan: the routing
 * that the network states where that one was judged by it, or the objective. */
static double worse_by(const struct cpl_decide_request *req,
                       const struct cpl_decision *out,
                       const struct cpl_candidate *repaired)
{
	const struct cpl_candidate *c = &out->candidate[out->chosen];
	bool stated = c->is_stated && repaired->is_stated;
	struct cpl_figures plan = c->stated;
	double now, best;

	if (!stated)
		cpl_candidate_figures(c, &plan);
	now = cpl_candidate_objective(req, out, repaired,
	                              stated ? &repaired->stated
	                                     : &repaired->mapped);
	best = cpl_candidate_objective(req, out, c, &plan);
	return best > 0 ? now / best - 1 : now > best ? 1 : 0;
}

/* Does it keep what the fresh plan does of what is wished and required? */
static bool keeps(struct repair_room *r, const struct cpl_decision *out,
                  const int *node, const struct cpl_figures *figures)
{
	const struct cpl_decide_request *req = r->req;
	const struct cpl_bounds *b = req->place.bounds;
	struct cpl_ceiling most;

	return !(cpl_judge_ceiling(req, out, &most) &&
	         cpl_figures_exceed(figures, &most)) &&
	       cpl_placement_missing(&req->place, node) < 0 &&
	       broken_by(r, node) <= r->most_broken &&
	       (!b || cpl_bounds_granted(b, node, out->n_nodes) ||
	        !cpl_bounds_granted(b, out->node, out->n_nodes));
}

/* The decision is that layout. -1: memory. */
static int keep_layout(const struct cpl_decide_request *req,
                       struct cpl_decision *out, const int *node,
                       const struct cpl_candidate *repaired)
{
	const struct cpl_former *f = req->former;
	size_t bytes = (size_t)f->ranks * sizeof(int);
	int *rank_host = malloc(bytes + 1);

	if (!rank_host)
		return -1;
	memcpy(rank_host, f->rank_host, bytes);
	free(out->rank_host);
	out->rank_host = rank_host;
	/* It was what keeping units whole costs the fresh plan. */
	if (req->wish.keep.name)
		out->price = (1 + out->price) * (1 + out->repaired.worse) - 1;
	if (out->price < 0)
		out->price = 0;
	memcpy(out->node, node, (size_t)f->n_nodes * sizeof(int));
	out->mapped = true;
	out->chosen = out->best = out->n_candidates;
	out->candidate[out->n_candidates++] = *repaired;
	return 0;
}

/* Judges the layout on node[]. */
static int judge(const struct cpl_decide_request *req, struct cpl_decision *out,
                 const struct cpl_replacing *how, int *node,
                 struct cpl_candidate *c, struct cpl_error *err)
{
	struct cpl_replacing stated = *how;

	stated.routing = req->stated;
	c->is_stated = out->candidate[out->chosen].is_stated;
	c->metrics = c->mapped.metrics;
	c->sums = c->mapped.sums;
	if ((c->is_stated &&
	     cpl_replace_hosts(&stated, NULL, 0, node, &c->stated, err)) ||
	    judge_times(req, out, node, c, err))
		return -1;
	out->repaired.judged = true;
	out->repaired.worse = worse_by(req, out, c);
	if (out->repaired.worse <= CPL_REPAIR_WORSE &&
	    keep_layout(req, out, node, c))
		return cpl_fail_memory(err);
	return 0;
}

/* Nodes in place of those that are gone, into node[]. 0; 1: there are none within the
 * bounds; or -1 with err. */
static int replace(const struct cpl_replacing *how, struct repair_room *r,
                   const int *gone, int n, int *node,
                   struct cpl_figures *figures, struct cpl_error *err)
{
	if (!is_bound(r, node))
		return 1;
	/* Where nothing is free within the bounds there is nothing to keep. */
	if (!cpl_replace_hosts(how, gone, n, node, figures, err))
		return 0;
	return how->may_have ? 1 : -1;
}

int cpl_repair(const struct cpl_decide_request *req, struct cpl_decision *out,
               struct cpl_error *err)
{
	const struct cpl_former *f = req->former;
	const struct cpl_bounds *bounds = req->place.bounds;
	int gone[CPL_REPAIR_GONE], n = list_gone(req, gone), rc;
	struct repair_room r = {.req = req};
	const struct cpl_replacing how = {.net = req->place.net,
	                                  .routing = req->routing,
	                                  .comm = req->comm,
	                                  .background = req->background,
	                                  .rates = req->rates,
	                                  .objective = req->wish.objective,
	                                  .n_hosts = n < 0 ? 0 : f->n_nodes,
	                                  .rank_host = n < 0 ? NULL : f->rank_host,
	                                  .free = req->place.free,
	                                  .may_have = bounds || req->wish.keep.name
	                                                      ? may_have
	                                                      : NULL,
	                                  .arg = &r};
	struct cpl_candidate c = {.policy = &cpl_placement_repair,
	                          .seed = req->place.seed,
	                          .evaluated = true,
	                          .is_mapped = true};
	int *node;

	if (n < 0 || out->cut_short || !out->candidate[out->chosen].evaluated ||
	    is_too_much(req, n))
		return 0;
	r.most_broken = out->candidate[out->chosen].broken;
	if (req->wish.keep.name &&
	    cpl_whole_units_open(&r.units, req->place.net, req->place.free,
	                         &req->wish.keep, err))
		return -1;
	r.count = malloc(((size_t)f->n_nodes + (size_t)(bounds ? bounds->n_units : 0)) *
	                 sizeof(int));
	if (!r.count) {
		cpl_whole_units_close(&r.units);
		return cpl_fail_memory(err);
	}
	node = r.count + (bounds ? bounds->n_units : 0);
	memcpy(node, f->node, (size_t)f->n_nodes * sizeof(*node));
	rc = replace(&how, &r, gone, n, node, &c.mapped, err);
	c.broken = rc ? 0 : broken_by(&r, node);
	if (!rc && keeps(&r, out, node, &c.mapped))
		rc = judge(req, out, &how, node, &c, err);
	free(r.count);
	cpl_whole_units_close(&r.units);
	return rc < 0 ? -1 : 0;
}
