/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "campaign/running.h"

#include <stdlib.h>
#include <string.h>

/* These limit the rounds until the times of all jobs fit together, and say how
 * closely. */
#define MAX_ROUNDS 24
#define CLOSE 1e-4

int running_open(struct running_jobs *jobs, const struct cpl_network *net,
                 const struct cpl_routing *routing, int max_jobs,
                 struct cpl_error *err)
{
	*jobs = (struct running_jobs){
	        .net = net, .scene = {.net = net, .routing = routing}};
	jobs->job = calloc((size_t)max_jobs + 1, sizeof(*jobs->job));
	if (!jobs->job)
		return cpl_fail_memory(err);
	jobs->scene.space = cpl_times_space_new(net, routing, err);
	return jobs->scene.space ? cpl_load_init(&jobs->sent, net, err) : -1;
}

void running_close(struct running_jobs *jobs)
{
	for (int i = 0; i < jobs->n; i++)
		running_free(&jobs->job[i]);
	free(jobs->job);
	cpl_scene_close(&jobs->scene);
	cpl_load_free(&jobs->sent);
}

void running_free(struct running_job *job)
{
	cpl_times_close(job->times);
	free(job->node);
	free(job->rank_host);
}

/* This adds what it would send, as the plugin has it. */
static int add_load(struct running_jobs *jobs, struct running_job *job,
                    struct cpl_error *err)
{
	const struct cpl_times_rate *rate;
	int64_t n = 0;

	if (!job->times)
		return 0;
	rate = cpl_times_rates(job->times, &n);
	job->load = cpl_job_load_of_rates(rate, n, err);
	if (!job->load)
		return -1;
	job->load->id = job->job;
	return cpl_scene_add(&jobs->scene, job->load, err);
}

int running_start(struct running_jobs *jobs, struct running_job *job,
                  struct cpl_error *err)
{
	int i = jobs->n;

	if (add_load(jobs, job, err))
		return -1;
	jobs->n++;
	for (; i > 0 && jobs->job[i - 1].job > job->job; i--)
		jobs->job[i] = jobs->job[i - 1];
	jobs->job[i] = *job;
	return 0;
}

void running_end(struct running_jobs *jobs, int i)
{
	struct cpl_job_load *load = jobs->job[i].load;

	if (load)
		cpl_scene_remove(&jobs->scene, load);
	free(load);
	jobs->n--;
	memmove(&jobs->job[i], &jobs->job[i + 1],
	        (size_t)(jobs->n - i) * sizeof(*jobs->job));
}

double running_stretch(const struct running_job *job)
{
	if (!(job->reference > 0))
		return 1;
	return 1 - job->share + job->share * job->seconds / job->reference;
}

void running_send(struct running_jobs *jobs)
{
	cpl_load_clear(&jobs->sent, jobs->net);
	for (int i = 0; i < jobs->n; i++)
		if (jobs->job[i].times)
			cpl_times_send(jobs->job[i].times,
			               jobs->job[i].stretch, &jobs->sent);
}

/* This judges a job's communication among what the others send. */
static void judge(void *arg, int64_t i, int thread)
{
	const struct running_jobs *jobs = arg;
	struct running_job *job = &jobs->job[i];
	struct cpl_times_result result;

	(void)thread;
	if (!job->times)
		return;
	cpl_times_judge_stretched(job->times, &jobs->sent, job->stretch,
	                          &result);
	job->seconds = result.seconds;
}

/* It goes half way, so that jobs that share a link do not take turns. It returns
 * the relative change. */
static double soften(struct running_job *job)
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
