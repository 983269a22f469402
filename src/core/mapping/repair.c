/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "graph/members.h"
#include "mapping/bundles.h"
#include "mapping/mapping_internal.h"
#include "traffic/workload.h"

/* Swaps are tried where the job's paths have no more links, in some 10 ms. */
#define WAYS (1 << 19)
/* So many changes of loads are looked at, which takes as long again. */
#define WORK_MAX 8000000L
/* A rank tries so many hosts of partners, and so many ranks there. */
#define TARGETS 8
#define CANDIDATES 8
/* A swap must lower the sum of powers by this share. */
#define GAIN 1e-9

struct repair {
	const struct cpl_map_request *req;
	struct cpl_workload *workload;
	struct cpl_bundles bundles;
	struct cpl_bundle_loads loads;
	struct cpl_members ranks; /* on hosts: the layout */
	double busiest, sum;
	int hot; /* the busiest bundle, ties to the first */
	long work;
};

/* A layout and what it costs. */
struct repaired {
	int *rank_host;
	struct cpl_metrics metrics;
	struct cpl_job_sums sums;
};

/* Scales loads to the busiest. */
static void scale(struct repair *s)
{
	const double *load = s->loads.load;

	s->busiest = s->sum = 0;
	for (int i = 0; i < s->bundles.n; i++) {
		if (load[i] <= s->busiest)
			continue;
		s->busiest = load[i];
		s->hot = i;
	}
	for (int i = 0; i < s->bundles.n && s->busiest > 0; i++)
		s->sum += cpl_load_power(load[i] / s->busiest);
	s->work += s->bundles.n;
}

static bool on_path(const struct cpl_bundles *b, int from, int to, int bundle)
{
	int64_t pair = (int64_t)from * b->n_stops + to;

	for (int64_t i = b->first[pair]; i < b->first[pair + 1]; i++)
		if (b->part[i].bundle == bundle)
			return true;
	return false;
}

/* Does what a rank sends or gets load the busiest bundle? */
static bool loads_hot(struct repair *s, int rank)
{
	const struct cpl_bundles *b = &s->bundles;
	const struct cpl_comm *graph = s->req->graph;
	int here = s->ranks.set[rank];

	for (int64_t e = graph->row[rank]; e < graph->row[rank + 1]; e++) {
		int there = s->ranks.set[graph->to[e]];

		s->work += 4;
		if (b->place[here] == b->place[there])
			continue;
		if (s->hot == cpl_bundles_cable(b, here, false) ||
		    s->hot == cpl_bundles_cable(b, here, true) ||
		    on_path(b, b->stop[here], b->stop[there], s->hot) ||
		    on_path(b, b->stop[there], b->stop[here], s->hot))
			return true;
	}
	return false;
}

/* Keeps a swap when the sum of powers falls and the busiest gets no busier. */
static bool try_swap(struct repair *s, int a, int b)
{
	struct cpl_bundle_loads *l = &s->loads;
	double change = 0;
	bool good = true;

	cpl_bundle_loads_swap(l, s->ranks.set, a, b);
	s->work += l->n_touched +
	           4 * (s->req->graph->row[a + 1] - s->req->graph->row[a]);
	for (int i = 0; i < l->n_touched; i++) {
		double x = l->load[l->touched[i]];
		double y = x + l->change[l->touched[i]];

		good = good && (y <= s->busiest || y <= x);
		change += cpl_load_power(y / s->busiest) -
		          cpl_load_power(x / s->busiest);
	}
	if (!good || change >= -GAIN * s->sum) {
		cpl_bundle_loads_undo(l);
		return false;
	}
	cpl_bundle_loads_keep(l);
	cpl_members_swap(&s->ranks, a, b);
	scale(s);
	return true;
}

/* Tries ranks on the hosts of its partners, and on the next host to each. */
static bool improve_rank(struct repair *s, int rank)
{
	const struct cpl_comm *graph = s->req->graph;
	int tried[TARGETS], n = 0;

	for (int64_t e = graph->row[rank];
	     e < graph->row[rank + 1] && n < TARGETS; e++) {
		int host = s->ranks.set[graph->to[e]], slots, k = 0;

		while (k < n && tried[k] != host)
			k++;
		if (k < n || host == s->ranks.set[rank])
			continue;
		tried[n++] = host;
		slots = s->req->slots[host];
		for (k = 0; k < slots && k < CANDIDATES; k++)
			if (try_swap(s, rank,
			             s->ranks.member[s->ranks.first[host] + k]))
				return true;
	}
	return false;
}

static void passes(struct repair *s)
{
	int ranks = s->req->graph->ranks, idle = 0;

	scale(s);
	/* It ends after a whole round without a gain. */
	for (int r = 0; idle < ranks && s->busiest > 0; r = (r + 1) % ranks) {
		if (s->work > WORK_MAX || cpl_map_expired(s->req))
			return;
		idle++;
		while (loads_hot(s, r) && improve_rank(s, r))
			idle = 0;
	}
}

static int evaluate(struct repair *s, struct repaired *layout,
                    struct cpl_error *err)
{
	struct cpl_job job = {.routing = s->req->routing,
	                      .comm = s->req->comm,
	                      .node = s->req->host,
	                      .rank_host = layout->rank_host};

	return cpl_workload_evaluate(s->workload, &job, s->req->background,
	                             &layout->metrics, &layout->sums, err);
}

static bool better(const struct repaired *a, const struct repaired *b)
{
	return cpl_objective_better(CPL_OBJECTIVE_BUSIEST, &a->metrics,
	                            a->sums.hop_bytes, &b->metrics,
	                            b->sums.hop_bytes);
}

/* Swaps where there are bundles, and judges the layout. */
static int repair(struct repair *s, struct repaired *layout,
                  struct cpl_error *err)
{
	const struct cpl_map_request *req = s->req;
	int rc = 0;

	if (s->bundles.n_links) {
		rc = -1;
		/* It is called twice and frees them whatever was made. */
		s->ranks = (struct cpl_members){0};
		if (!cpl_bundle_loads_init(&s->loads, &s->bundles, req,
		                           layout->rank_host, err) &&
		    !cpl_members_init(&s->ranks, layout->rank_host,
		                      req->graph->ranks, req->n_hosts, err)) {
			passes(s);
			rc = 0;
		}
		cpl_members_free(&s->ranks);
		cpl_bundle_loads_free(&s->loads);
	}
	return rc ? rc : evaluate(s, layout, err);
}

static int switch_order(const struct cpl_map_request *req, int *rank_host,
                        struct cpl_error *err)
{
	int moved = cpl_map_switch_order(req, rank_host, err);

	return moved ? moved < 0 ? -1 : 0
	             : cpl_map_default_order(req, rank_host, err);
}

int cpl_map_repair(const struct cpl_map_request *req, int *rank_host,
                   struct cpl_error *err)
{
	size_t size = (size_t)req->comm->ranks * sizeof(int);
	struct cpl_arena arena = {0};
	struct repair s = {.req = req};
	struct repaired given = {.rank_host = rank_host};
	struct repaired order = {
	        .rank_host = cpl_arena_take(&arena, req->comm->ranks,
	                                    sizeof(int)),
	};
	int rc = -1;

	s.workload = cpl_workload_new(req->net, 1, err);
	if (arena.failed || !s.workload ||
	    cpl_bundles_init(&s.bundles, req, WAYS, err) < 0)
		goto out;
	if (repair(&s, &given, err) || switch_order(req, order.rank_host, err) ||
	    evaluate(&s, &order, err))
		goto out;
	if (better(&order, &given)) {
		/* From there it may mend what it could not mend before. */
		s.work = 0;
		if (repair(&s, &order, err))
			goto out;
		memcpy(rank_host, order.rank_host, size);
	}
	rc = 0;
out:
	cpl_bundles_free(&s.bundles);
	cpl_workload_free(s.workload);
	return cpl_arena_end(&arena, rc, err);
}
