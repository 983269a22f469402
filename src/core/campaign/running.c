/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "campaign/running.h"

#include <math.h>
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
	jobs->moved = calloc((size_t)max_jobs + 1, sizeof(*jobs->moved));
	jobs->users = calloc((size_t)cpl_times_links(net) + 1, sizeof(int));
	jobs->summed = calloc((size_t)cpl_times_links(net) + 1,
	                      sizeof(*jobs->summed));
	if (!jobs->job || !jobs->moved || !jobs->users || !jobs->summed)
		return cpl_fail_memory(err);
	jobs->scene.space = cpl_times_space_new(net, routing, err);
	return jobs->scene.space ? cpl_load_init_rates(&jobs->sent, net, err)
	                         : -1;
}

void running_close(struct running_jobs *jobs)
{
	for (int i = 0; i < jobs->n; i++)
		running_free(&jobs->job[i]);
	free(jobs->job);
	free(jobs->moved);
	free(jobs->users);
	free(jobs->summed);
	cpl_scene_close(&jobs->scene);
	cpl_load_free(&jobs->sent);
}

void running_free(struct running_job *job)
{
	cpl_times_close(job->times);
	free(job->node);
	free(job->rank_host);
}

/* This keeps the largest rate of each class of links between routers. */
static void find_most(const struct cpl_network *net, struct running_job *job)
{
	for (int i = 0; i < job->load->n_links; i++) {
		const struct cpl_job_link *on = &job->load->on[i];
		double *most;

		if (on->link >= net->n_links)
			continue;
		most = &job->most[net->link_class_of[on->link]];
		*most = fmax(*most, on->bytes);
	}
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
	if (cpl_times_share(job->times, jobs->users, err))
		return -1;
	job->load = cpl_job_load_of_rates(rate, n, err);
	if (!job->load)
		return -1;
	job->load->id = job->job;
	job->load->stretch = job->stretch;
	job->load->stale = job->load->met = true;
	find_most(jobs->net, job);
	return cpl_scene_add(&jobs->scene, job->load, err);
}

/* A job came to its links or left them. Jobs that meet others now, or do so no longer,
 * go by other lists, for which they have had room since they came. */
static void come(struct running_jobs *jobs, const struct cpl_job_load *load, int by)
{
	for (int i = 0; i < load->n_links; i++) {
		int link = load->on[i].link, before = jobs->users[link];

		jobs->users[link] += by;
		if (before + jobs->users[link] == 1 + 2)
			cpl_background_stale(jobs->scene.running, link, true);
	}
	for (int i = 0; i < jobs->n; i++) {
		struct cpl_job_load *of = jobs->job[i].load;

		if (of && of->met)
			cpl_times_share(jobs->job[i].times, jobs->users, NULL);
		if (of)
			of->met = false;
	}
	jobs->busiest = -1;
}

/* This sets what is sent on the links that a job shares, now that it came, went or was
 * stretched. Each sum is made anew in the order of jobs, so that no rounding adds up,
 * and once for all the jobs that are sent for at a time. */
static void send(struct running_jobs *jobs, const struct running_job *job)
{
	int64_t n;
	const int *at = cpl_times_shared(job->times, &n);

	for (int64_t i = 0; i < n; i++) {
		int link = job->load->on[at[i]].link;

		if (jobs->summed[link] == jobs->sums)
			continue;
		jobs->summed[link] = jobs->sums;
		if (cpl_background_stretched(jobs->scene.running, link,
		                             &jobs->sent))
			cpl_background_stale(jobs->scene.running, link, false);
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
	if (job->load) {
		come(jobs, job->load, 1);
		jobs->sums++;
		send(jobs, job);
	}
	return 0;
}

void running_end(struct running_jobs *jobs, int i)
{
	struct running_job job = jobs->job[i];

	jobs->n--;
	memmove(&jobs->job[i], &jobs->job[i + 1],
	        (size_t)(jobs->n - i) * sizeof(*jobs->job));
	if (!job.load)
		return;
	cpl_scene_remove(&jobs->scene, job.load);
	come(jobs, job.load, -1);
	jobs->sums++;
	send(jobs, &job);
	free(job.load);
}

double running_stretch(const struct running_job *job)
{
	if (!(job->reference > 0))
		return 1;
	return 1 - job->share + job->share * job->seconds / job->reference;
}

/* This judges the communication of a job that moved among what the others send. */
static void judge(void *arg, int64_t i, int thread)
{
	const struct running_jobs *jobs = arg;
	struct running_job *job = &jobs->job[jobs->moved[i]];
	struct cpl_times_result result;

	(void)thread;
	job->load->stale = false;
	cpl_times_judge_stretched(job->times, &jobs->sent, job->stretch,
	                          &result);
	job->seconds = result.seconds;
}

#define LINKS_FOR_THREADS 50000 /* fewer are not worth waking threads up */

/* This judges the jobs on whose links something changed. */
static void judge_stale(struct running_jobs *jobs, struct cpl_team *team)
{
	int64_t links = 0;
	int n = 0;

	for (int i = 0; i < jobs->n; i++) {
		const struct running_job *job = &jobs->job[i];

		if (!job->times || !job->load->stale)
			continue;
		jobs->moved[n++] = i;
		links += job->load->n_links;
	}
	cpl_team_run(links < LINKS_FOR_THREADS ? NULL : team, n, judge, jobs);
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
		jobs->moved[moved++] = i;
	}
	jobs->sums++;
	for (int i = 0; i < moved; i++)
		send(jobs, &jobs->job[jobs->moved[i]]);
	if (moved)
		jobs->busiest = -1;
}

void running_judge(struct running_jobs *jobs, struct cpl_team *team)
{
	double change = 1;

	for (int k = 0; k < MAX_ROUNDS && change > CLOSE; k++) {
		change = 0;
		judge_stale(jobs, team);
		for (int i = 0; i < jobs->n; i++)
			change = fmax(change, soften(&jobs->job[i]));
		send_stretched(jobs);
	}
}

double running_busiest(struct running_jobs *jobs)
{
	const struct cpl_network *net = jobs->net;

	if (jobs->busiest >= 0)
		return jobs->busiest;
	jobs->busiest = 0;
	for (int i = 0; i < jobs->n; i++) {
		const struct running_job *job = &jobs->job[i];
		const int *at = NULL;
		int64_t n = 0;

		if (!job->times)
			continue;
		at = cpl_times_shared(job->times, &n);
		for (int k = 0; k < net->n_classes; k++)
			jobs->busiest =
			        fmax(jobs->busiest,
			             job->most[k] / job->stretch /
			                     net->link_class[k].bandwidth);
		for (int64_t k = 0; k < n; k++) {
			int link = job->load->on[at[k]].link;

			if (link < net->n_links)
				jobs->busiest = fmax(
				        jobs->busiest,
				        jobs->sent.link[link] /
				                cpl_network_link_bandwidth(
				                        net, link));
		}
	}
	return jobs->busiest;
}
