/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is known of a candidate, and which of two is the better one. */
#include "placement/judge_internal.h"

#include <math.h>

bool cpl_judge_no_budget(struct judge *j)
{
	const struct cpl_decide_request *req = j->req;

	if (req->expired && req->expired(req->expired_arg))
		j->out->cut_short = true;
	return j->out->cut_short;
}

bool cpl_judge_ceiling(const struct cpl_decide_request *req,
                       const struct cpl_decision *decision,
                       struct cpl_ceiling *out)
{
	const struct cpl_network *net = req->place.net;
	const struct cpl_placement_policy *policy =
	        req->stock ? &cpl_placement_stock : &cpl_placement_linear;
	bool domains = net->accelerators.domain_of;
	bool rails = net->n_ports > 1 && net->port_use == CPL_PORTS_AFFINITY;

	*out = (struct cpl_ceiling){INFINITY, INFINITY};
	for (int i = 0; i < decision->n_candidates; i++) {
		const struct cpl_candidate *c = &decision->candidate[i];

		if (c->policy != policy || !c->evaluated)
			continue;
		out->rail = c->rail;
		if (domains && req->wish.objective != CPL_OBJECTIVE_BUSIEST)
			out->bytes = c->sums.bytes_on_network;
	}
	return req->wish.objective <= CPL_OBJECTIVE_BUSIEST && (domains || rails);
}

/* -1: only a is within the ceiling, 1: only b, 0: both or none. */
static int by_ceiling(const struct judge *j, const struct cpl_figures *a,
                      const struct cpl_figures *b)
{
	return cpl_figures_exceed(a, j->map.most) -
	       cpl_figures_exceed(b, j->map.most);
}

static bool better(const struct judge *j, const struct cpl_figures *a,
                   const struct cpl_figures *b)
{
	return cpl_figures_better(j->req->wish.objective, a, b);
}

/* What candidates are compared by first. */
static double first_number(const struct judge *j, const struct cpl_candidate *c,
                           const struct cpl_figures *f)
{
	return cpl_candidate_objective(j->req, j->out, c, f);
}

/* Where the rank order may not arrive: what is better with it and without. */
static int by_either(const struct judge *j, const struct cpl_candidate *a,
                     const struct cpl_candidate *b,
                     const struct cpl_figures *fa, const struct cpl_figures *fb)
{
	return j->req->order == CPL_ORDER_MAY && !cpl_judge_of_whole(j)
	               ? cpl_objective_compare(cpl_judge_either(a, fa),
	                                       cpl_judge_either(b, fb))
	               : 0;
}

bool cpl_judge_comes_before(const struct judge *j,
                            const struct cpl_candidate *a,
                            const struct cpl_candidate *b,
                            const struct cpl_figures *fa,
                            const struct cpl_figures *fb)
{
	int order = by_ceiling(j, fa, fb);

	if (order)
		return order < 0;
	if (!cpl_judge_of_whole(j)) {
		order = by_either(j, a, b, fa, fb);
		return order ? order < 0 : better(j, fa, fb);
	}
	order = cpl_objective_compare(first_number(j, a, fa),
	                              first_number(j, b, fb));
	if (!order)
		order = cpl_objective_compare(a->times.seconds,
		                              b->times.seconds);
	return order ? order < 0 : better(j, fa, fb);
}

bool cpl_judge_is_taken_before(const struct judge *j,
                               const struct cpl_candidate *a,
                               const struct cpl_candidate *b,
                               const struct cpl_figures *fa,
                               const struct cpl_figures *fb)
{
	bool stock = a->policy == &cpl_placement_stock;
	bool other = b->policy == &cpl_placement_stock;
	int order = by_ceiling(j, fa, fb);

	if (!order)
		order = by_either(j, a, b, fa, fb);
	if (!order && cpl_decide_by_times(j->req)) {
		order = cpl_objective_compare(first_number(j, a, fa),
		                              first_number(j, b, fb));
		if (!order)
			order = cpl_objective_compare(a->times.seconds,
			                              b->times.seconds);
		if (!order)
			order = cpl_objective_compare(
			        fa->metrics.mean_congestion,
			        fb->metrics.mean_congestion);
		if (!order)
			order = other - stock;
	}
	if (order || cpl_judge_comes_before(j, a, b, fa, fb))
		return order <= 0;
	return stock && !cpl_judge_comes_before(j, b, a, fb, fa);
}

/* With its rank order, where candidates are compared so, or in blocks. */
static bool known(const struct cpl_candidate *c, bool mapped,
                  struct cpl_figures *f)
{
	*f = mapped ? c->mapped : cpl_candidate_in_blocks(c);
	return mapped ? c->is_mapped : c->evaluated;
}

void cpl_judge_choose(struct judge *j, int n, bool mapped)
{
	struct cpl_decision *out = j->out;
	const struct cpl_candidate *c = out->candidate;
	struct cpl_figures f, taken;
	double best, most, price;

	out->chosen = out->best;
	out->price = 0;
	if (!j->req->wish.keep.name)
		return;
	known(&c[out->best], mapped, &taken);
	best = price = first_number(j, &c[out->best], &taken);
	most = best * (1 + j->req->wish.keep_price / 100.0);
	for (int i = 0; i < n; i++) {
		const struct cpl_candidate *now = &c[out->chosen];

		if (!known(&c[i], mapped, &f) || c[i].barred ||
		    cpl_figures_exceed(&f, j->map.most) ||
		    c[i].broken > now->broken ||
		    cpl_objective_compare(first_number(j, &c[i], &f), most) > 0)
			continue;
		if (c[i].broken == now->broken &&
		    !(mapped || !j->mapper ? cpl_judge_is_taken_before
		                           : cpl_judge_comes_before)(
		            j, &c[i], now, &f, &taken))
			continue;
		out->chosen = i;
		taken = f;
		price = first_number(j, &c[i], &f);
	}
	out->price = best > 0 && price > best ? price / best - 1 : 0;
}

/* What it is to others where it was placed last. */
static void judge_others(struct judge *j, struct cpl_candidate *c)
{
	int64_t n;
	const struct cpl_times_rate *rate = cpl_times_rates(j->times, &n);

	if (!j->req->harm)
		return;
	c->shared = cpl_harm_shared(j->req->harm, rate, n);
	c->harm = cpl_harm_by(j->req->harm, rate, n);
}

/* What the model tells of it there; times are known. */
static int ask_model(struct judge *j, const int *node, const int *of,
                     struct cpl_candidate *c, struct cpl_error *err)
{
	const struct cpl_decide_request *req = j->req;

	if (req->wish.objective != CPL_OBJECTIVE_LEARNED || !req->learned)
		return 0;
	return cpl_learned_seconds(
	        req->learned,
	        &(struct cpl_feature_job){.net = req->place.net,
	                                  .routing = cpl_routing_by_flow(
	                                          req->place.net, req->routing),
	                                  .comm = req->comm,
	                                  .ranks_per_node = req->ranks_per_node,
	                                  .node = node,
	                                  .rank_host = of,
	                                  .background = req->background,
	                                  .judged = true,
	                                  .seconds = c->times.seconds},
	        &c->told, err);
}

int cpl_judge_times(struct judge *j, const int *node, const int *of,
                    struct cpl_candidate *c, struct cpl_error *err)
{
	if (!j->times)
		return 0;
	if ((!j->times_ordered || j->times_of != of) &&
	    cpl_times_order(j->times, of, j->req->ranks_per_node, j->n, err))
		return -1;
	j->times_ordered = true;
	j->times_of = of;
	if (cpl_times_put(j->times, j->space, node, err))
		return -1;
	cpl_times_judge(j->times, j->req->rates, false, &c->times);
	judge_others(j, c);
	return ask_model(j, node, of, c, err);
}

void cpl_judge_broken(struct judge *j, int i)
{
	if (j->req->wish.keep.name)
		j->out->candidate[i].broken = cpl_whole_units_broken(
		        &j->units, j->layout[i].node, j->n);
}
