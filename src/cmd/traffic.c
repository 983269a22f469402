/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "traffic.h"

#include <stdlib.h>

#include "job_inputs.h"
#include "options.h"
#include "plot/plot.h"
#include "routing/adaptive/adaptive.h"

struct options {
	const char *routing, *links;
	int n_routings; /* how often --routing is there */
	struct traffic traffic;
};

static int take_routing(const struct cmd *self, void *into, const char *option,
                        const char *value)
{
	struct options *o = into;

	job_list_last(&o->traffic.jobs)->routing_name = o->routing = value;
	o->n_routings++;
	return CMD_OK;
}

static int parse(const struct cmd *self, int argc, char **argv,
                 struct options *o)
{
	struct traffic *t = &o->traffic;
	const struct cmd_option table[] = {
	        JOB_LIST_OPTIONS(&t->jobs),
	        {"placement", .take = job_list_take_where, .into = &t->jobs},
	        {"node-file", .take = job_list_take_where, .into = &t->jobs},
	        {"hosts", .take = job_list_take_where, .into = &t->jobs},
	        {"routing", .take = take_routing, .into = o},
	        {"links", .text = &o->links},
	        {"job-links", .flag = &t->job_links},
	        {0},
	};
	int rc = cmd_options(self, argc, argv, table, CMD_NO_WORDS);

	if (rc)
		return rc;
	if (!t->jobs.n)
		return cmd_usage(self, "--signature is missing");
	if (t->job_links && !t->jobs.json)
		return cmd_usage(self, "--job-links is for --json");
	if (o->n_routings != 1)
		return CMD_OK;
	t->jobs.common.routing_name = o->routing;
	for (int i = 0; i < t->jobs.n; i++)
		t->jobs.job[i].routing_name = o->routing;
	return CMD_OK;
}

static int find_routing(const struct traffic *t, struct job_traffic *job,
                        struct cpl_error *err)
{
	const char *name = job->routing_name;

	job->routing = cpl_routing_find(t->net, name, err);
	job->quick = cpl_routing_find_quick(t->net, name, err);
	return job->routing && job->quick
	               ? 0
	               : cpl_fail_prefix(err, "%s: ",
	                                 name ? "--routing" : t->jobs.network);
}

/* Find the routings of all jobs and of the running ones, and make the
 * workloads. */
static int find_routings(struct traffic *t, struct cpl_error *err)
{
	struct job_list *list = &t->jobs;
	bool adaptive;

	if (find_routing(t, &list->common, err))
		return -1;
	adaptive = t->jobs.running &&
	           cpl_routing_is_adaptive(list->common.routing);
	for (struct job_traffic *job = list->job; job < list->job + list->n;
	     job++) {
		if (find_routing(t, job, err))
			return -1;
		t->mixed = t->mixed || job->routing != list->job->routing;
		adaptive = adaptive || cpl_routing_is_adaptive(job->routing);
	}
	t->workload = cpl_workload_new(t->net, (int)t->jobs.threads, err);
	if (t->workload && adaptive)
		t->guess = cpl_workload_new(t->net, (int)t->jobs.threads, err);
	return t->workload && (t->guess || !adaptive) ? 0 : -1;
}

/* Add the running jobs: as jobs of the workload where any routing is adaptive,
 * else each is summed up on its own. */
static int add_running(struct traffic *t, struct cpl_error *err)
{
	const struct cpl_load *bytes;

	if (!t->jobs.running)
		return 0;
	t->running.net = t->net;
	if (cmd_load_running(t->jobs.running, t->jobs.profile_dir,
	                     t->jobs.common.routing, &t->running, t->free,
	                     &t->background, t->guess ? t->workload : NULL,
	                     err) < 0 ||
	    cpl_scene_loads(&t->running, 0, &bytes, &t->rates, err))
		return -1;
	cpl_workload_clear(t->guess ? t->guess : t->workload, &t->background);
	return 0;
}

static int placed_hosts(struct traffic *t, struct job_traffic *job,
                        struct cpl_error *err)
{
	struct cpl_scene scene = {
	        .net = t->net,
	        .routing = job->quick,
	        .load = cpl_workload_load(t->guess ? t->guess : t->workload),
	};

	return job_traffic_choose(job, &scene, (uint64_t)t->jobs.seed, t->free,
	                         err);
}

/* Where adaptive routings wait for all jobs, later searches see the minimal
 * routing's load of the earlier jobs. */
static int add_guess(struct traffic *t, struct cpl_job job,
                     struct cpl_error *err)
{
	const struct job_list *list = &t->jobs;
	bool search = false;

	for (int i = 0; i < list->n; i++)
		search = search || cpl_wish_searches(&list->job[i].wish);
	if (!t->guess || !search || list->n == 1)
		return 0;
	job.routing = cpl_routing_by_flow(t->net, job.routing);
	return cpl_workload_add(t->guess, &job, err) < 0 ? -1 : 0;
}

static int place_and_add(struct traffic *t, struct job_traffic *job,
                         struct cpl_error *err)
{
	bool given = job->hosts || job->node_file;
	struct cpl_job placed;
	double start;

	if (given ? job_traffic_given(job, t->net, t->free, err)
	          : placed_hosts(t, job, err))
		return -1;
	placed = job_traffic_placed(job, job->routing);
	start = cpl_clock();
	if (add_guess(t, placed, err))
		return -1;
	job->number = cpl_workload_add(t->workload, &placed, err);
	t->seconds += cpl_clock() - start;
	return job->number < 0 ? -1 : 0;
}

/* Place the jobs with given hosts first, then the others in order, each by the
 * load of those before it. */
static int place_all(struct traffic *t, struct cpl_error *err)
{
	const struct job_list *list = &t->jobs;

	for (int given = 1; given >= 0; given--)
		for (struct job_traffic *job = list->job;
		     job < list->job + list->n; job++)
			if (given == (job->hosts || job->node_file) &&
			    place_and_add(t, job, err))
				return -1;
	return 0;
}

/* All jobs are placed. */
static int solve(struct traffic *t, struct cpl_error *err)
{
	double start = cpl_clock();

	if (cpl_workload_solve(t->workload, err))
		return -1;
	for (int i = 0; i < t->jobs.n; i++)
		evaluation_add(
		        &t->of,
		        cpl_workload_sums(t->workload, t->jobs.job[i].number));
	t->load = cpl_workload_load(t->workload);
	t->seconds += cpl_clock() - start;
	return evaluation_finish(&t->of, t->net, t->load, (int)t->jobs.threads,
	                         err);
}

static int find_dilation(struct traffic *t, struct cpl_error *err)
{
	const struct cpl_routing *routing =
	        t->mixed ? cpl_routing_minimal(t->net) : t->jobs.job->routing;
	struct cpl_job *job = calloc((size_t)t->jobs.n, sizeof(*job));
	int rc;

	if (!job)
		return cpl_fail_memory(err);
	for (int i = 0; i < t->jobs.n; i++)
		job[i] = job_traffic_placed(&t->jobs.job[i], routing);
	rc = cpl_dilation(t->net, routing, job, t->jobs.n, (int)t->jobs.threads,
	                  &t->dilation, err);
	free(job);
	return rc;
}

/* What each job puts on the links by itself, where that depends on no other. */
static int load_jobs(struct traffic *t, struct cpl_error *err)
{
	const struct job_list *list = &t->jobs;
	struct cpl_workload *w =
	        cpl_workload_new(t->net, (int)list->threads, err);
	int rc = w ? 0 : -1;

	t->job_load = calloc((size_t)list->n, sizeof(*t->job_load));
	if (!t->job_load && !rc)
		rc = cpl_fail_memory(err);
	for (int i = 0; i < list->n && !rc; i++) {
		const struct cpl_routing *routing = list->job[i].routing;
		struct cpl_job job =
		        job_traffic_placed(&list->job[i], routing);

		if (cpl_routing_is_adaptive(routing))
			continue;
		cpl_workload_clear(w, NULL);
		rc = cpl_workload_add(w, &job, err) < 0 ||
		     cpl_load_init(&t->job_load[i], t->net, err);
		if (!rc)
			cpl_load_add(&t->job_load[i], cpl_workload_load(w),
			             t->net);
	}
	cpl_workload_free(w);
	return rc ? -1 : 0;
}

static int judge(struct traffic *t, struct cpl_error *err)
{
	const struct job_list *list = &t->jobs;

	t->communication = calloc((size_t)list->n, sizeof(*t->communication));
	if (!t->communication)
		return cpl_fail_memory(err);
	return communication_judge(t->net, list->job, list->n, NULL, t->rates,
	                           t->communication, err);
}

static int evaluate(struct traffic *t, struct cpl_error *err)
{
	if (find_routings(t, err))
		return -1;
	t->free = cmd_usable_nodes(t->net, err);
	return t->free && !add_running(t, err) &&
	                       !job_list_open(&t->jobs, err) &&
	                       !job_list_wishes(&t->jobs, t->net, err) &&
	                       !place_all(t, err) && !solve(t, err) &&
	                       !judge(t, err) &&
	                       !(t->job_links && load_jobs(t, err))
	               ? find_dilation(t, err)
	               : -1;
}

static int run_traffic(const struct cmd *self, int argc, char **argv)
{
	struct options o = {.traffic.jobs = {JOB_LIST_DEFAULTS,
	                                     .common.ranks_per_node = 1}};
	struct traffic *t = &o.traffic;
	struct cpl_network *net = NULL;
	struct cpl_error err = {""};
	int rc = parse(self, argc, argv, &o);

	if (rc != CMD_OK)
		goto out;
	t->net = net = cpl_network_load(t->jobs.network, &err);
	if (!net || (t->jobs.plot && plot_check_map(net, &err)) ||
	    evaluate(t, &err) || traffic_write(t, o.links, &err))
		rc = cmd_fail(self, &err);
	else if (t->jobs.json)
		rc = traffic_print_json(self, t);
	else
		rc = traffic_print_text(t);
out:
	for (int i = 0; t->job_load && i < t->jobs.n; i++)
		cpl_load_free(&t->job_load[i]);
	free(t->job_load);
	job_list_free(&t->jobs);
	cpl_workload_free(t->workload);
	cpl_workload_free(t->guess);
	cpl_scene_close(&t->running);
	cpl_load_free(&t->background);
	cpl_free_all(t->communication, t->free);
	cpl_network_free(net);
	return rc;
}

const struct cmd cmd_traffic = {"traffic", run_traffic};
