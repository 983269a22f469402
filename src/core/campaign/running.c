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
                 const struct cpl_routing *routing, int max_jobs, bool seen,
                 struct cpl_error *err)
{
	size_t links = (size_t)cpl_times_links(net);

	*jobs = (struct running_jobs){.net = net,
	                              .seen = seen,
	                              .scene = {.net = net, .routing = routing}};
	jobs->job = calloc((size_t)max_jobs + 1, sizeof(*jobs->job));
	jobs->moved = calloc((size_t)max_jobs + 1, sizeof(*jobs->moved));
	jobs->met = calloc((size_t)max_jobs + 1, sizeof(*jobs->met));
	jobs->link = calloc(links + 1, sizeof(*jobs->link));
	jobs->meeting = malloc((links + 1) * sizeof(*jobs->meeting));
	jobs->sent.sum = malloc((links + 1) * sizeof(*jobs->sent.sum));
	jobs->sent.anew = calloc(links + 1, sizeof(*jobs->sent.anew));
	jobs->at = malloc((links + 1) * sizeof(*jobs->at));
	jobs->free = malloc((links + 1) * sizeof(*jobs->free));
	if (!jobs->job || !jobs->moved || !jobs->met || !jobs->link ||
	    !jobs->meeting || !jobs->sent.sum || !jobs->sent.anew || !jobs->at ||
	    !jobs->free)
		return cpl_fail_memory(err);
	for (size_t i = 0; i < links; i++)
		jobs->meeting[i] = -1;
	jobs->scene.space = cpl_times_space_new(net, routing, err);
	return jobs->scene.space ? 0 : -1;
}

void running_close(struct running_jobs *jobs)
{
	for (int i = 0; i < jobs->n; i++)
		running_free(&jobs->job[i]);
	cpl_free_all(jobs->job, jobs->moved, jobs->met, jobs->link, jobs->meeting,
	             jobs->sent.sum, jobs->sent.anew, jobs->at, jobs->free);
	cpl_scene_close(&jobs->scene);
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
	int64_t n = 0;
	const struct cpl_times_rate *rate = cpl_times_rates(job->times, &n);

	for (int64_t i = 0; i < n; i++) {
		double *most;

		if (rate[i].link >= net->n_links)
			continue;
		most = &job->most[net->link_class_of[rate[i].link]];
		*most = rate[i].rate > *most ? rate[i].rate : *most;
	}
}

/* This adds what it would send, as the plugin has it, where decisions look at that, and
 * finds all the memory that it may need. */
static int add_load(struct running_jobs *jobs, struct running_job *job,
                    struct cpl_error *err)
{
	const struct cpl_times_rate *rate;
	int64_t n = 0;

	if (!job->times)
		return 0;
	rate = cpl_times_rates(job->times, &n);
	if (cpl_times_share(job->times, jobs->meeting, job->stretch, err))
		return -1;
	job->sent = job->stretch;
	find_most(jobs->net, job);
	if (!jobs->seen)
		return 0;
	job->load = cpl_job_load_of_rates(rate, n, err);
	if (!job->load)
		return -1;
	job->load->id = job->job;
	return cpl_scene_add(&jobs->scene, job->load, err);
}

/* A link is where jobs meet from now on, or it is so no longer. */
static void begin_meeting(struct running_jobs *jobs, int64_t link)
{
	int at = jobs->n_free ? jobs->free[--jobs->n_free] : jobs->n_meetings++;

	jobs->sent.sum[at] = (struct cpl_meeting){0};
	jobs->at[at] = (int)link;
	jobs->meeting[link] = at;
}

static void end_meeting(struct running_jobs *jobs, int64_t link)
{
	jobs->at[jobs->meeting[link]] = -1;
	jobs->free[jobs->n_free++] = jobs->meeting[link];
	jobs->meeting[link] = -1;
}

/* A job came to its links, or left them. Who was there alone, or is now, meets others on
 * other links. */
static void come(struct running_jobs *jobs, const struct running_job *job, int by)
{
	int64_t n = 0;
	const struct cpl_times_rate *rate = cpl_times_rates(job->times, &n);

	for (int64_t i = 0; i < n; i++) {
		struct running_link *link = &jobs->link[rate[i].link];
		int before = link->number;

		link->users += by;
		link->number ^= job->job;
		if (by > 0 && link->users == 2) {
			begin_meeting(jobs, rate[i].link);
			jobs->met[before] = true;
		} else if (by < 0 && link->users == 1) {
			end_meeting(jobs, rate[i].link);
			jobs->met[link->number] = true;
		}
	}
	jobs->busiest = -1;
}

/* This lists the links anew that jobs share who met others, or do so no longer. They
 * have had room for that since they came. */
static void list_met(struct running_jobs *jobs)
{
	for (int i = 0; i < jobs->n; i++) {
		struct running_job *job = &jobs->job[i];

		if (!jobs->met[job->job])
			continue;
		jobs->met[job->job] = false;
		job->stale = true;
		cpl_times_share(job->times, jobs->meeting, job->sent, NULL);
	}
}

/* This sums up in the order of jobs what is to be summed up anew, so that no rounding
 * adds up, and once for all the jobs that changed. */
static void send(struct running_jobs *jobs)
{
	for (int i = 0; i < jobs->n; i++) {
		struct running_job *job = &jobs->job[i];

		if (job->times && cpl_times_send(job->times, &jobs->sent))
			job->stale = true;
	}
	memset(jobs->sent.anew, 0, (size_t)jobs->n_meetings);
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
	if (!job->times)
		return 0;
	come(jobs, job, 1);
	jobs->met[job->job] = true;
	list_met(jobs);
	cpl_times_sum_anew(job->times, &jobs->sent);
	if (cpl_times_shared(job->times))
		send(jobs);
	return 0;
}

void running_end(struct running_jobs *jobs, int i)
{
	struct running_job job = jobs->job[i];

	jobs->n--;
	memmove(&jobs->job[i], &jobs->job[i + 1],
	        (size_t)(jobs->n - i) * sizeof(*jobs->job));
	if (!job.times)
		return;
	if (job.load)
		cpl_scene_remove(&jobs->scene, job.load);
	free(job.load);
	cpl_times_sum_anew(job.times, &jobs->sent);
	come(jobs, &job, -1);
	list_met(jobs);
	if (cpl_times_shared(job.times))
		send(jobs);
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

	(void)thread;
	job->stale = false;
	job->seconds = cpl_times_among(job->times, jobs->sent.sum);
}

#define LINKS_FOR_THREADS 8000 /* fewer are not worth waking threads up */

/* This judges the jobs on whose links something changed. */
static void judge_stale(struct running_jobs *jobs, struct cpl_team *team)
{
	int64_t links = 0;
	int n = 0;

	for (int i = 0; i < jobs->n; i++) {
		const struct running_job *job = &jobs->job[i];

		if (!job->times || !job->stale)
			continue;
		jobs->moved[n++] = i;
		links += cpl_times_shared(job->times);
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
	int64_t links = 0;

	for (int i = 0; i < jobs->n; i++) {
		struct running_job *job = &jobs->job[i];

		if (!job->times || job->sent == job->stretch)
			continue;
		job->sent = job->stretch;
		job->stale = true;
		jobs->busiest = -1;
		cpl_times_stretch(job->times, job->stretch);
		cpl_times_sum_anew(job->times, &jobs->sent);
		links += cpl_times_shared(job->times);
	}
	if (links)
		send(jobs);
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

/* The largest congestion of links by these jobs alone, and by those that share them. */
static double busiest_alone(const struct running_jobs *jobs)
{
	double busiest = 0;

	for (int i = 0; i < jobs->n; i++) {
		const struct running_job *job = &jobs->job[i];

		for (int k = 0; job->times && k < jobs->net->n_classes; k++)
			busiest = fmax(busiest,
			               job->most[k] / job->stretch /
			                       jobs->net->link_class[k].bandwidth);
	}
	return busiest;
}

static double busiest_shared(const struct running_jobs *jobs)
{
	double most[CPL_NETWORK_MAX_CLASSES] = {0}, busiest = 0;

	for (int i = 0; i < jobs->n_meetings; i++) {
		double rate = jobs->sent.sum[i].rate, *here;

		if (jobs->at[i] < 0 || jobs->at[i] >= jobs->net->n_links)
			continue;
		here = &most[jobs->net->link_class_of[jobs->at[i]]];
		*here = rate > *here ? rate : *here;
	}
	for (int k = 0; k < jobs->net->n_classes; k++)
		busiest = fmax(busiest,
		               most[k] / jobs->net->link_class[k].bandwidth);
	return busiest;
}

double running_busiest(struct running_jobs *jobs)
{
	if (jobs->busiest < 0)
		jobs->busiest = fmax(busiest_alone(jobs), busiest_shared(jobs));
	return jobs->busiest;
}
