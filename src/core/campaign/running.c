/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "campaign/running.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "traffic/load_blocks.h"

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
	jobs->moved = calloc((size_t)max_jobs + 1, sizeof(*jobs->moved));
	if (!jobs->job || !jobs->moved)
		return cpl_fail_memory(err);
	jobs->scene.space = cpl_times_space_new(net, routing, err);
	if (!jobs->scene.space || cpl_load_init(&jobs->sent, net, err))
		return -1;
	jobs->sent.blocks = cpl_load_blocks_new(net, &jobs->sent, err);
	return jobs->sent.blocks ? 0 : -1;
}

void running_close(struct running_jobs *jobs)
{
	for (int i = 0; i < jobs->n; i++)
		running_free(&jobs->job[i]);
	free(jobs->job);
	free(jobs->moved);
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
	job->load->stretch = job->stretch;
	job->load->stale = true;
	return cpl_scene_add(&jobs->scene, job->load, err);
}

/* What is sent on a job's links, now that it came, went or was stretched. Each sum is
 * made anew in the order of jobs, so that no rounding adds up. */
static void send(struct running_jobs *jobs, const struct cpl_job_load *load)
{
	for (int i = 0; i < load->n_links; i++) {
		int link = load->on[i].link;
		double rate =
		        cpl_background_stretched(jobs->scene.running, link);

		if (rate == jobs->sent.link[link])
			continue;
		jobs->sent.link[link] = rate;
		cpl_load_blocks_changed(jobs->sent.blocks, link);
		cpl_background_stale(jobs->scene.running, link);
	}
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
	if (job->load)
		send(jobs, job->load);
	return 0;
}

void running_end(struct running_jobs *jobs, int i)
{
	struct cpl_job_load *load = jobs->job[i].load;

	if (load) {
		cpl_scene_remove(&jobs->scene, load);
		send(jobs, load);
	}
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

/* This judges a job's communication among what the others send. */
static void judge(void *arg, int64_t i, int thread)
{
	const struct running_jobs *jobs = arg;
	struct running_job *job = &jobs->job[i];
	struct cpl_times_result result;

	(void)thread;
	if (!job->times || !job->load->stale)
		return;
	job->load->stale = false;
	cpl_times_judge_stretched(job->times, &jobs->sent, job->stretch,
	                          &result);
	job->seconds = result.seconds;
}

/* It goes half way, so that jobs that share a link do not take turns. It returns
 * the relative change. */
static double soften(struct running_job *job)
{
	double before = job->stretch, change;

	if (!job->times)
		return 0;
	job->stretch = (before + running_stretch(job)) / 2;
	change = job->stretch / before - 1;
	return change < 0 ? -change : change;
}

/* What the jobs send whose stretch is another one. */
static void send_stretched(struct running_jobs *jobs)
{
	int moved = 0;

	for (int i = 0; i < jobs->n; i++) {
		struct cpl_job_load *load = jobs->job[i].load;

		if (!load || load->stretch == jobs->job[i].stretch)
			continue;
		load->stretch = jobs->job[i].stretch;
		load->stale = true;
		jobs->moved[moved++] = load;
	}
	for (int i = 0; i < moved; i++)
		send(jobs, jobs->moved[i]);
}

void running_judge(struct running_jobs *jobs, struct cpl_team *team)
{
	double change = 1;

	for (int k = 0; k < MAX_ROUNDS && change > CLOSE; k++) {
		change = 0;
		cpl_team_run(team, jobs->n, judge, jobs);
		for (int i = 0; i < jobs->n; i++)
			change = fmax(change, soften(&jobs->job[i]));
		send_stretched(jobs);
	}
}
