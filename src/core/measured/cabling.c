/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "measured/cabling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sort.h"

/* Routers that differ among which exchanged cables are looked for. */
#define LOOKED_AT 16

/* A link to one of these, and the one back; -1: there is none. */
struct cabling_pair {
	int64_t link, back;
};

struct cabling_work {
	struct cpl_cabling *out;
	const struct cpl_network *net;
	int64_t n;         /* links between routers and of nodes */
	double *rate;      /* [n] as measured; < 0: it was not */
	double *in, *give; /* [n_routers]; NAN: a link was not measured */
	double *widest;    /* [n_routers] bytes/s of its widest link */
	double *excess;    /* [n_routers] in - give where they differ, else 0 */
	int64_t n_pairs;
	struct cabling_pair *pair;
};

static bool is_link_of_node(const struct cpl_network *net, int64_t link)
{
	return link >= net->n_links;
}

static bool has_node(const struct cpl_network *net, int64_t link)
{
	int64_t cable = (link - net->n_links) % cpl_network_port_cables(net);

	return net->node_name[cable / net->n_ports] != NULL;
}

/* The router at an end of a link; -1: it is a node. */
static int router_at(const struct cpl_network *net, int64_t link, bool to)
{
	int64_t cables = cpl_network_port_cables(net), cable;

	if (!is_link_of_node(net, link))
		return to ? net->link_to[link] : net->link_from[link];
	cable = link - net->n_links;
	if (to != (cable < cables))
		return -1;
	return net->port_router[cable % cables];
}

static int fill_rates(struct cabling_work *w,
                      const struct cpl_measured *measured,
                      struct cpl_error *err)
{
	size_t routers = (size_t)w->net->n_routers;

	w->n = w->net->n_links + 2 * cpl_network_port_cables(w->net);
	w->rate = malloc(((size_t)w->n + 1) * sizeof(double));
	w->in = calloc(routers + 1, sizeof(double));
	w->give = calloc(routers + 1, sizeof(double));
	w->widest = calloc(routers + 1, sizeof(double));
	w->excess = calloc(routers + 1, sizeof(double));
	if (!w->rate || !w->in || !w->give || !w->widest || !w->excess)
		return cpl_fail_memory(err);
	for (int64_t i = 0; i < w->n; i++)
		w->rate[i] = -1;
	for (int64_t i = 0; i < measured->n; i++)
		if (measured->rate[i].link < w->n)
			w->rate[measured->rate[i].link] =
			        measured->rate[i].rate;
	return 0;
}

static void note_rate(struct cabling_work *w, double *sum, int router,
                      int64_t link, double rate)
{
	double bandwidth = cpl_times_bandwidth(w->net, link);

	if (router < 0)
		return;
	sum[router] += rate;
	w->widest[router] = fmax(w->widest[router], bandwidth);
}

static void sum_routers(struct cabling_work *w)
{
	for (int64_t i = 0; i < w->n; i++) {
		double rate = w->rate[i] < 0 ? NAN : w->rate[i];
		int from = router_at(w->net, i, false);
		int to = router_at(w->net, i, true);

		if (is_link_of_node(w->net, i) && !has_node(w->net, i))
			continue;
		note_rate(w, w->give, from, i, rate);
		note_rate(w, w->in, to, i, rate);
	}
}

/* Up to what is nothing: switches have messages of their own. */
static bool are_balanced(const struct cabling_work *w, int router)
{
	double in = w->in[router], give = w->give[router];

	return fabs(in - give) <= fmax(CPL_CABLING_SLACK * fmax(in, give),
	                               CPL_MEASURED_LEAST * w->widest[router]);
}

static CPL_SORT_BY(by_excess, struct cpl_cabling_router,
                   CPL_KEY(fabs(y->in - y->out), fabs(x->in - x->out)),
                   CPL_UP(router))

static int judge_routers(struct cabling_work *w, struct cpl_error *err)
{
	struct cpl_cabling *out = w->out;

	for (int r = 0; r < w->net->n_routers; r++) {
		double in = w->in[r], give = w->give[r];

		if (isnan(in) || isnan(give))
			continue;
		out->judged++;
		if (are_balanced(w, r))
			continue;
		if (cpl_array_grow(&out->router, out->n_routers,
		                   sizeof(*out->router), err))
			return -1;
		out->router[out->n_routers++] =
		        (struct cpl_cabling_router){r, in, give};
		w->excess[r] = in - give;
	}
	if (out->n_routers)
		qsort(out->router, (size_t)out->n_routers, sizeof(*out->router),
		      by_excess);
	return 0;
}

/* Is what a router gets too much what it would get less of x, and more of y? */
static bool is_explained(const struct cabling_work *w, int router, double x,
                         double y)
{
	double excess = w->excess[router];
	double most = fmax(fmax(x, y), fabs(excess));

	return fabs(x - y - excess) <=
	       fmax(CPL_CABLING_SLACK * most,
	            CPL_MEASURED_LEAST * w->widest[router]);
}

/* The link back, the same one of parallel links; -1: there is none. */
static int64_t back_of(const struct cpl_network *net, int64_t link)
{
	int64_t nth = 0, back;

	for (back = 0; back < link; back++)
		nth += net->link_from[back] == net->link_from[link] &&
		       net->link_to[back] == net->link_to[link];
	for (back = 0; back < net->n_links; back++)
		if (net->link_from[back] == net->link_to[link] &&
		    net->link_to[back] == net->link_from[link] && !nth--)
			return back;
	return -1;
}

/* The links to the routers that differ most. -1 with err: memory. */
static int find_pairs(struct cabling_work *w, int64_t n_routers,
                      struct cpl_error *err)
{
	const struct cpl_cabling_router *router = w->out->router;

	for (int64_t i = 0; i < n_routers; i++)
		for (int64_t link = 0; link < w->net->n_links; link++) {
			if (w->net->link_to[link] != router[i].router ||
			    w->rate[link] < 0)
				continue;
			if (cpl_array_grow(&w->pair, w->n_pairs,
			                   sizeof(*w->pair), err))
				return -1;
			w->pair[w->n_pairs++] = (struct cabling_pair){
			        link, back_of(w->net, link)};
		}
	return 0;
}

/* Would these links, each led to the end of the other, bring in order what the
 * routers there get? */
static bool fit_ends(const struct cabling_work *w, int64_t x, int64_t y)
{
	return is_explained(w, w->net->link_to[x], w->rate[x], w->rate[y]) &&
	       is_explained(w, w->net->link_to[y], w->rate[y], w->rate[x]);
}

static bool look_exchanged(const struct cabling_work *w, struct cabling_pair x,
                           struct cabling_pair y)
{
	const struct cpl_network *net = w->net;

	return net->link_from[x.link] != net->link_from[y.link] &&
	       net->link_to[x.link] != net->link_to[y.link] && x.back >= 0 &&
	       y.back >= 0 && w->rate[x.back] >= 0 && w->rate[y.back] >= 0 &&
	       fit_ends(w, x.link, y.link) && fit_ends(w, x.back, y.back);
}

static bool join_same(const struct cpl_network *net, int64_t a, int64_t b)
{
	int from = net->link_from[a], to = net->link_to[a];

	return (from == net->link_from[b] && to == net->link_to[b]) ||
	       (from == net->link_to[b] && to == net->link_from[b]);
}

/* Was the same found by the links back, or by parallel ones? */
static bool is_known(const struct cabling_work *w, struct cabling_pair x,
                     struct cabling_pair y)
{
	for (int i = 0; i < w->out->n_swaps; i++) {
		const int64_t *link = w->out->swap[i].link;

		if ((join_same(w->net, link[0], x.link) &&
		     join_same(w->net, link[1], y.link)) ||
		    (join_same(w->net, link[0], y.link) &&
		     join_same(w->net, link[1], x.link)))
			return true;
	}
	return false;
}

/* Cables to a router that gets more than it gives, and to one that gives as
 * much more. */
static int look_for_swaps(struct cabling_work *w, struct cpl_error *err)
{
	struct cpl_cabling *out = w->out;

	if (find_pairs(w,
	               out->n_routers < LOOKED_AT ? out->n_routers : LOOKED_AT,
	               err))
		return -1;
	for (int64_t i = 0; i < w->n_pairs; i++)
		for (int64_t k = 0; k < w->n_pairs; k++) {
			struct cabling_pair x = w->pair[i], y = w->pair[k];

			if (out->n_swaps == CPL_CABLING_SWAPS)
				return 0;
			if (w->excess[w->net->link_to[x.link]] > 0 &&
			    look_exchanged(w, x, y) && !is_known(w, x, y))
				out->swap[out->n_swaps++] =
				        (struct cpl_cabling_swap){
				                {x.link, y.link}};
		}
	return 0;
}

/* What the job sends over what it is predicted to, by the links from all nodes,
 * so that it is no matter which of them it is on; where these were not
 * measured, by all. */
static double scale_of(const struct cabling_work *w, const struct cpl_load *own)
{
	int64_t from = w->net->n_links,
	        to = from + cpl_network_port_cables(w->net);
	double measured = 0, predicted = 0;

	for (int pass = 0; pass < 2 && predicted <= 0; pass++) {
		for (int64_t i = from; i < to; i++)
			if (w->rate[i] >= 0) {
				measured += w->rate[i];
				predicted += *cpl_times_at(own, i);
			}
		from = 0;
		to = w->n;
	}
	return predicted > 0 ? measured / predicted : 0;
}

static CPL_SORT_BY(by_difference, struct cpl_cabling_link,
                   CPL_KEY(fabs(y->predicted - y->measured),
                           fabs(x->predicted - x->measured)),
                   CPL_UP(link))

static int judge_links(struct cabling_work *w, const struct cpl_load *own,
                       struct cpl_error *err)
{
	struct cpl_cabling *out = w->out;
	double busiest = 0;

	out->scale = scale_of(w, own);
	for (int64_t i = 0; i < w->n; i++)
		busiest = fmax(busiest, out->scale * *cpl_times_at(own, i));
	for (int64_t i = 0; i < w->n && busiest > 0; i++) {
		double p = out->scale * *cpl_times_at(own, i), m = w->rate[i];

		if (m < 0)
			continue;
		out->compared++;
		if (fmax(p, m) < CPL_CABLING_LEAST * busiest ||
		    fmin(p, m) >= fmax(p, m) / 2)
			continue;
		if (cpl_array_grow(&out->link, out->n_links, sizeof(*out->link),
		                   err))
			return -1;
		out->link[out->n_links++] = (struct cpl_cabling_link){i, p, m};
		out->n_node_links += is_link_of_node(w->net, i);
	}
	if (out->n_links)
		qsort(out->link, (size_t)out->n_links, sizeof(*out->link),
		      by_difference);
	return 0;
}

int cpl_cabling_check(struct cpl_cabling *out,
                      const struct cpl_measured *measured,
                      const struct cpl_network *net, const struct cpl_load *own,
                      struct cpl_error *err)
{
	struct cabling_work w = {.out = out, .net = net};
	int rc = -1;

	*out = (struct cpl_cabling){0};
	if (fill_rates(&w, measured, err))
		goto out;
	sum_routers(&w);
	if (!judge_routers(&w, err) && !look_for_swaps(&w, err) &&
	    (!own || !judge_links(&w, own, err)))
		rc = 0;
out:
	cpl_free_all(w.rate, w.in, w.give, w.widest, w.excess, w.pair);
	return rc;
}

void cpl_cabling_free(struct cpl_cabling *cabling)
{
	cpl_free_all(cabling->router, cabling->link);
	*cabling = (struct cpl_cabling){0};
}
