/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "campaign/running.h"

#include <stdlib.h>
#include <string.h>

/* Rounds until what all jobs take fits together, and how closely. */
#define MAX_ROUNDS 24
#define CLOSE 1e-4

int running_open(struct running_jobs *jobs, const struct cpl_network *net,
                 int max_jobs, struct cpl_error *err)
{
	*jobs = (struct running_jobs){.net = net};
	jobs->job = calloc((size_t)max_jobs + 1, sizeof(*jobs->job));
	if (!jobs->job)
		return cpl_fail_memory(err);
	return cpl_load_init(&jobs->rates, net, err) ||
	                       cpl_load_init(&jobs->sent, net, err)
	               ? -1
	               : 0;
}

void running_close(struct running_jobs *jobs)
{
	for (int i = 0; i < jobs->n; i++)
		running_free(&jobs->job[i]);
	free(jobs->job);
	cpl_load_free(&jobs->rates);
	cpl_load_free(&jobs->sent);
}

void running_free(struct running *job)
{
	cpl_times_close(job->times);
	free(job->node);
	free(job->rank_host);
}

void running_start(struct running_jobs *jobs, const struct running *job)
{
	int i = jobs->n++;

	for (; i > 0 && jobs->job[i - 1].job > job->job; i--)
		jobs->job[i] = jobs->job[i - 1];
	jobs->job[i] = *job;
}

void running_end(struct running_jobs *jobs, int i)
{
	jobs->n--;
	memmove(&jobs->job[i], &jobs->job[i + 1],
	        (size_t)(jobs->n - i) * sizeof(*jobs->job));
}

double running_stretch(const struct running *job)
{
	if (!(job->reference > 0))
		return 1;
	return 1 - job->share + job->share * job->seconds / job->reference;
}

void running_add_rates(struct running_jobs *jobs)
{
	cpl_load_clear(&jobs->rates, jobs->net);
	for (int i = 0; i < jobs->n; i++)
		if (jobs->job[i].times)
			cpl_times_add(jobs->job[i].times, 1, &jobs->rates);
}

void running_send(struct running_jobs *jobs)
{
	cpl_load_clear(&jobs->sent, jobs->net);
	for (int i = 0; i < jobs->n; i++)
		if (jobs->job[i].times)
			cpl_times_send(jobs->job[i].times,
			               jobs->job[i].stretch, &jobs->sent);
}

/* A job's communication among what the others send. */
static void judge(void *arg, int64_t i, int thread)
{
	const struct running_jobs *jobs = arg;
	struct running *job = &jobs->job[i];
	struct cpl_times_result result;

	(void)thread;
	if (!job->times)
		return;
	cpl_times_judge_stretched(job->times, &jobs->sent, job->stretch,
	                          &result);
	job->seconds = result.seconds;
}

/* Half way, so that jobs that share a link do not take turns; by how much in
 * parts of it. */
static double soften(struct running *job)
{
	double before = job->stretch, change;

	job->stretch = (before + running_stretch(job)) / 2;
	change = job->stretch / before - 1;
	return change < 0 ? -change : change;
}

void running_judge(struct running_jobs *jobs, struct cpl_team *team)
{
	double change = 1;

	running_send(jobs);
	for (int k = 0; k < MAX_ROUNDS && change > CLOSE; k++) {
		change = 0;
		cpl_team_run(team, jobs->n, judge, jobs);
		for (int i = 0; i < jobs->n; i++) {
			double by = jobs->job[i].times ? soften(&jobs->job[i])
			                               : 0;

			change = by > change ? by : change;
		}
		running_send(jobs);
	}
}

struct cpl_harm *running_harm(const struct running_jobs *jobs,
                              struct cpl_error *err)
{
	struct cpl_harm *harm = cpl_harm_new(jobs->net, err);

	for (int i = 0; harm && i < jobs->n; i++) {
		const struct cpl_times_rate *rate;
		int64_t n = 0;

		if (!jobs->job[i].times)
			continue;
		rate = cpl_times_rates(jobs->job[i].times, &n);
		cpl_harm_job(harm);
		for (int64_t k = 0; k < n; k++)
			if (cpl_harm_add(harm, rate[k].link, rate[k].rate, err))
				goto fail;
	}
	if (harm && !cpl_harm_ready(harm, err))
		return harm;
fail:
	cpl_harm_free(harm);
	return NULL;
}
