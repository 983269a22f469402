/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mapping/best/chain.h"

#include <math.h>
#include <string.h>

#include "base/parallel.h"

#define SAME 1e-9

void cpl_best_evaluate(struct cpl_best_chain *chain,
                       struct cpl_metrics *metrics, double *hop_bytes)
{
	const struct cpl_map_request *req = chain->best->req;
	struct cpl_job job = {.routing = req->routing,
	                      .comm = req->comm,
	                      .node = req->host,
	                      .rank_host = chain->trial};
	struct cpl_job_sums sums;

	if (!cpl_workload_evaluate(chain->evaluation, &job, req->background,
	                           metrics, &sums, &chain->err)) {
		*hop_bytes = sums.hop_bytes;
		return;
	}
	chain->failed = true;
	*metrics = (struct cpl_metrics){.max_congestion = INFINITY,
	                                .mean_congestion = INFINITY};
	*hop_bytes = INFINITY;
}

static bool better(const struct cpl_best *best, const struct cpl_best_layout *a,
                   const struct cpl_best_layout *b)
{
	enum cpl_objective objective = best->req->objective;

	if (cpl_objective_better(objective, &best->first, best->first_hop_bytes,
	                         &a->metrics, a->hop_bytes) ||
	    cpl_best_too_busy(objective, &a->metrics, best->busiest))
		return false;
	return cpl_best_better(objective, &a->metrics, a->hop_bytes,
	                       &b->metrics, b->hop_bytes);
}

void cpl_best_keep(const struct cpl_best *best, struct cpl_best_layout *a,
                   const struct cpl_best_layout *b, bool low)
{
	const struct cpl_map_request *req = best->req;
	int *rank_host = a->rank_host;

	if (!b->any)
		return;
	if (a->any && (low ? b->hop_bytes >= a->hop_bytes * (1 - SAME)
	                   : !better(best, b, a)))
		return;
	memcpy(rank_host, b->rank_host,
	       (size_t)req->comm->ranks * sizeof(*rank_host));
	*a = *b;
	a->rank_host = rank_host;
}

void cpl_best_consider(struct cpl_best_chain *chain)
{
	struct cpl_best_layout trial = {.rank_host = chain->trial, .any = true};

	cpl_best_evaluate(chain, &trial.metrics, &trial.hop_bytes);
	cpl_best_keep(chain->best, &chain->low, &trial, true);
	cpl_best_keep(chain->best, &chain->answer, &trial, false);
}

static void run_one(void *arg, int64_t number, int thread)
{
	struct cpl_best_chain *chain = (struct cpl_best_chain *)arg + number;
	const struct cpl_best *b = chain->best;

	(void)thread;
	chain->rc = 0;
	chain->low.any = chain->answer.any = chain->base.any = false;
	cpl_best_keep(b, &chain->base, &b->base, true);
	cpl_best_keep(b, &chain->low, &b->low, true);
	cpl_best_keep(b, &chain->answer, &b->answer, false);
	if (!cpl_map_expired(b->req))
		chain->rc = chain->run(chain);
	if (chain->failed)
		chain->rc = -1;
}

int cpl_best_run_all(struct cpl_best *b, struct cpl_best_chain *chain, int n,
                     struct cpl_error *err)
{
	cpl_parallel(b->req->threads, n, run_one, chain);
	for (int i = 0; i < n; i++) {
		if (chain[i].rc) {
			if (err)
				*err = chain[i].err;
			return -1;
		}
		cpl_best_keep(b, &b->base, &chain[i].base, true);
		cpl_best_keep(b, &b->low, &chain[i].low, true);
		cpl_best_keep(b, &b->answer, &chain[i].answer, false);
	}
	return 0;
}

int cpl_best_run_start(struct cpl_best *b, struct cpl_best_chain *chain,
                       int (*run)(struct cpl_best_chain *chain),
                       struct cpl_error *err)
{
	chain->run = run;
	return cpl_best_run_all(b, chain, 1, err);
}
