/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "traffic/harm.h"

#include <stdlib.h>
#include <string.h>

struct use {
	int64_t link;
	int job;
	double rate;
};

struct cpl_harm {
	const struct cpl_network *net;
	int64_t n_links; /* of cpl_times_links */
	int n_jobs;
	struct use *use;
	int64_t n_used, max_used;
	/* Once it is ready: use[] by link, from first[link] to first[link+1].
	 */
	int64_t *first;
	double *total;     /* [n_links] bytes/s of all */
	double *squares;   /* [n_links] of theirs */
	double *now;       /* [n_jobs] seconds for a second's bytes */
	double *worst;     /* [n_jobs] while judging: the same beside the job */
	int *touched;      /* [n_jobs] those with a worst, in order of links */
};

struct cpl_harm *cpl_harm_new(const struct cpl_network *net,
                              struct cpl_error *err)
{
	struct cpl_harm *harm = calloc(1, sizeof(*harm));

	if (harm) {
		harm->net = net;
		harm->n_links = cpl_times_links(net);
		harm->first = calloc((size_t)harm->n_links + 2,
		                     sizeof(*harm->first));
		harm->total = calloc((size_t)harm->n_links + 1,
		                     sizeof(*harm->total));
		harm->squares = calloc((size_t)harm->n_links + 1,
		                       sizeof(*harm->squares));
	}
	if (harm && harm->first && harm->total && harm->squares)
		return harm;
	cpl_harm_free(harm);
	cpl_fail_memory(err);
	return NULL;
}

void cpl_harm_free(struct cpl_harm *harm)
{
	if (!harm)
		return;
	cpl_free_all(harm->use, harm->first, harm->total, harm->squares,
	             harm->now, harm->worst, harm->touched, harm);
}

int cpl_harm_job(struct cpl_harm *harm)
{
	return harm->n_jobs++;
}

int cpl_harm_add(struct cpl_harm *harm, int64_t link, double rate,
                 struct cpl_error *err)
{
	if (harm->n_used == harm->max_used) {
		int64_t max = 2 * harm->max_used + 256;
		struct use *more =
		        realloc(harm->use, (size_t)max * sizeof(*more));

		if (!more)
			return cpl_fail_memory(err);
		harm->use = more;
		harm->max_used = max;
	}
	harm->use[harm->n_used++] =
	        (struct use){link, harm->n_jobs - 1, rate};
	return 0;
}

/* By link, jobs in order. */
static int sort(struct cpl_harm *harm, struct cpl_error *err)
{
	struct use *sorted =
	        malloc(((size_t)harm->n_used + 1) * sizeof(*sorted));
	int64_t *at = harm->first;

	if (!sorted)
		return cpl_fail_memory(err);
	for (int64_t i = 0; i < harm->n_used; i++)
		at[harm->use[i].link + 2]++;
	for (int64_t l = 2; l < harm->n_links + 2; l++)
		at[l] += at[l - 1];
	for (int64_t i = 0; i < harm->n_used; i++)
		sorted[at[harm->use[i].link + 1]++] = harm->use[i];
	free(harm->use);
	harm->use = sorted;
	return 0;
}

/* Seconds that a job takes for what it sends over a link in one second, when
 * all others and a new job send as well. */
static double seconds(const struct cpl_harm *harm, const struct use *use,
                      double more)
{
	double bandwidth = cpl_times_bandwidth(harm->net, use->link);
	double others = harm->total[use->link] - use->rate + more;
	double squares = harm->squares[use->link] - use->rate * use->rate +
	                 more * more;

	return use->rate / bandwidth *
	       cpl_slowed(others / bandwidth, squares / (bandwidth * bandwidth));
}

int cpl_harm_ready(struct cpl_harm *harm, struct cpl_error *err)
{
	size_t jobs = (size_t)harm->n_jobs + 1;

	harm->now = calloc(jobs, sizeof(*harm->now));
	harm->worst = calloc(jobs, sizeof(*harm->worst));
	harm->touched = malloc(jobs * sizeof(*harm->touched));
	if (!harm->now || !harm->worst || !harm->touched)
		return cpl_fail_memory(err);
	if (sort(harm, err))
		return -1;
	for (int64_t i = 0; i < harm->n_used; i++) {
		const struct use *use = &harm->use[i];

		harm->total[use->link] += use->rate;
		harm->squares[use->link] += use->rate * use->rate;
	}
	for (int64_t i = 0; i < harm->n_used; i++) {
		double *now = &harm->now[harm->use[i].job];
		double takes = seconds(harm, &harm->use[i], 0);

		if (takes > *now)
			*now = takes;
	}
	return 0;
}

double cpl_harm_by(struct cpl_harm *harm, const struct cpl_times_rate *rate,
                   int64_t n)
{
	double sum = 0;
	int touched = 0;

	for (int64_t i = 0; i < n; i++) {
		int64_t link = rate[i].link;

		for (int64_t k = harm->first[link]; k < harm->first[link + 1];
		     k++) {
			const struct use *use = &harm->use[k];
			double takes = seconds(harm, use, rate[i].rate);

			if (takes <= harm->now[use->job])
				continue;
			if (harm->worst[use->job] == 0)
				harm->touched[touched++] = use->job;
			if (takes > harm->worst[use->job])
				harm->worst[use->job] = takes;
		}
	}
	for (int i = 0; i < touched; i++) {
		int job = harm->touched[i];

		sum += harm->worst[job] / harm->now[job] - 1;
		harm->worst[job] = 0;
	}
	return sum;
}

int64_t cpl_harm_shared(const struct cpl_harm *harm,
                        const struct cpl_times_rate *rate, int64_t n)
{
	int64_t shared = 0;

	for (int64_t i = 0; i < n; i++)
		shared += rate[i].link < harm->net->n_links &&
		          harm->total[rate[i].link] > 0;
	return shared;
}
