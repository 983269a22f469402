/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mapping/link_sums.h"

#include <stdlib.h>

#include "base/sort.h"
#include "traffic/workload.h"

/* Loads below this share of the largest are rounding of flows taken away. */
#define NOTHING 1e-12

/* The congestion of a link with what is tentative. */
static inline double congestion(const struct cpl_moves *m, int64_t link)
{
	return (m->load[link] + m->change[link]) /
	       cpl_network_link_bandwidth(m->net, link);
}

static void add_up(struct cpl_link_sums *s)
{
	s->max = s->sum = s->squares = 0;
	s->used = 0;
	for (int64_t l = 0; l < s->moves.net->n_links; l++) {
		double x = s->congestion[l];

		s->used += x > 0;
		s->sum += x;
		s->squares += x * x;
		if (x > s->max)
			s->max = x;
	}
}

/* Computes the metrics of the default order. */
static int reference(struct cpl_link_sums *s, const struct cpl_map_request *req,
                     struct cpl_error *err)
{
	int *host = malloc((size_t)req->comm->ranks * sizeof(*host));
	struct cpl_workload *w = cpl_workload_new(req->net, 1, err);
	struct cpl_job job = {.routing = s->moves.finder.routing,
	                      .comm = req->comm,
	                      .node = req->host,
	                      .rank_host = host};
	struct cpl_job_sums sums;
	int rc = -1;

	if (!host)
		cpl_fail_memory(err);
	if (!host || !w || cpl_mapper_map(&cpl_mapper_linear, req, host, err) ||
	    cpl_workload_evaluate(w, &job, req->background, &s->metrics0, &sums,
	                          err))
		goto out;
	s->hop_bytes0 = sums.hop_bytes;
	rc = 0;
out:
	free(host);
	cpl_workload_free(w);
	return rc;
}

int cpl_link_sums_init(struct cpl_link_sums *sums,
                       const struct cpl_map_request *req, struct cpl_error *err)
{
	size_t n = (size_t)req->net->n_links + 1;

	*sums = (struct cpl_link_sums){0};
	if (cpl_moves_init(&sums->moves, req->net,
	                   cpl_routing_by_flow(req->net, req->routing), req->host,
	                   req->n_hosts,
	                   req->background ? req->background->link : NULL, err))
		return -1;
	sums->ranking = malloc(n * sizeof(*sums->ranking));
	sums->congestion = malloc(n * sizeof(*sums->congestion));
	if (!sums->ranking || !sums->congestion)
		cpl_fail_memory(err);
	if (!sums->ranking || !sums->congestion ||
	    reference(sums, req, err)) {
		cpl_link_sums_free(sums);
		return -1;
	}
	for (int64_t l = 0; l < req->net->n_links; l++)
		sums->congestion[l] = congestion(&sums->moves, l);
	add_up(sums);
	return 0;
}

void cpl_link_sums_follow(struct cpl_link_sums *view,
                          const struct cpl_link_sums *s)
{
	struct cpl_moves moves = view->moves;

	*view = *s;
	view->ranking = NULL;
	moves.hop_bytes = s->moves.hop_bytes;
	view->moves = moves;
}

int cpl_link_sums_view(const struct cpl_link_sums *s,
                       struct cpl_link_sums *view, struct cpl_error *err)
{
	*view = (struct cpl_link_sums){0};
	if (cpl_moves_view(&s->moves, &view->moves, err))
		return -1;
	cpl_link_sums_follow(view, s);
	return 0;
}

void cpl_link_sums_free(struct cpl_link_sums *s)
{
	if (!s->moves.view)
		free(s->congestion);
	cpl_moves_free(&s->moves);
	free(s->ranking);
	*s = (struct cpl_link_sums){0};
}

double cpl_link_sums_hybrid(const struct cpl_link_sums *s)
{
	const struct cpl_moves *m = &s->moves;
	double max = s->max, sum = s->sum, squares = s->squares;
	double average = 0, variance = 0;
	int64_t used = s->used;

	for (int i = 0; i < m->n_touched; i++) {
		int l = m->touched[i];
		double was = s->congestion[l], is = congestion(m, l);

		used += is > 0 && !(was > 0);
		sum += is - was;
		squares += is * is - was * was;
		if (is > max)
			max = is;
	}
	if (used) {
		average = sum / (double)used;
		variance = squares / (double)used - average * average;
	}
	if (variance < 0)
		variance = 0;
	struct cpl_metrics metrics = {.max_congestion = max,
	                              .nonzero_average = average,
	                              .nonzero_variance = variance};

	return cpl_metrics_hybrid(&metrics, m->hop_bytes + m->more_hop_bytes,
	                          &s->metrics0, s->hop_bytes0);
}

static CPL_SORT_BY(hotter, struct cpl_ranked, CPL_DOWN(congestion),
                   CPL_UP(link))

static void rank_links(struct cpl_link_sums *s)
{
	int64_t n = s->moves.net->n_links;

	if (s->ranked)
		return;
	for (int64_t l = 0; l < n; l++)
		s->ranking[l] = (struct cpl_ranked){s->congestion[l], (int)l};
	qsort(s->ranking, (size_t)n, sizeof(*s->ranking), hotter);
	s->ranked = true;
}

double cpl_link_sums_max(struct cpl_link_sums *s)
{
	const struct cpl_moves *m = &s->moves;
	double max = 0;

	rank_links(s);
	for (int64_t i = 0; i < m->net->n_links; i++) {
		if (m->mark[s->ranking[i].link])
			continue;
		max = s->ranking[i].congestion;
		break;
	}
	for (int i = 0; i < m->n_touched; i++) {
		int l = m->touched[i];
		double x = congestion(m, l);

		if (x > max)
			max = x;
	}
	return max;
}

int cpl_link_sums_hottest(struct cpl_link_sums *s)
{
	if (!s->moves.net->n_links)
		return -1;
	rank_links(s);
	return s->ranking[0].link;
}

void cpl_link_sums_keep(struct cpl_link_sums *s)
{
	struct cpl_moves *m = &s->moves;
	bool fell = false;

	for (int i = 0; i < m->n_touched; i++) {
		int l = m->touched[i];
		double was = s->congestion[l], is = congestion(m, l);

		if (is <= NOTHING * s->max && is < was) {
			is = 0;
			m->change[l] = -m->load[l];
		}
		s->congestion[l] = is;
		fell |= is < was;
		s->used += (is > 0) - (was > 0);
		s->sum += is - was;
		s->squares += is * is - was * was;
		if (is > s->max)
			s->max = is;
	}
	cpl_moves_keep(m);
	if (fell)
		add_up(s);
	s->ranked = false;
}
