/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading what `commplace status` shows. */
#include "status.h"

#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/file.h"
#include "base/sort.h"
#include "site/record.h"
#include "site_files.h"

const double status_quantile[STATUS_QUANTILES] = {0,   0.25, 0.5, 0.75,
                                                  0.9, 0.99, 1};

static int place_job(struct status *s, const struct cpl_running_job *job,
                     struct cpl_times *times, struct cpl_times_space *space,
                     struct cpl_error *err)
{
	int *node = malloc((size_t)job->n_hosts * sizeof(*node));
	int rc = -1;

	if (!node)
		return cpl_fail_memory(err);
	for (int i = 0; i < job->n_hosts; i++)
		node[i] = cpl_network_node(s->net, job->host[i]);
	if (!cpl_times_order(times, job->ranks ? job->rank_host : NULL,
	                     job->ranks_per_node, job->n_hosts, err))
		rc = cpl_times_put(times, space, node, err);
	free(node);
	return rc;
}

/* Add the job's rates to the sum. -1 with err: it is left out. */
static int add_job(struct status *s, int i, struct cpl_times_space *space,
                   struct cpl_error *err)
{
	const struct cpl_running_job *job = &s->state.job[i];
	const struct cpl_profile *profile = job->profile;
	struct cpl_times *times = cpl_times_open(
	        profile->phase, profile->n_phases, profile->ranks, err);

	if (!times)
		return -1;
	if (place_job(s, job, times, space, err)) {
		cpl_times_close(times);
		return -1;
	}
	s->timed = s->timed && cpl_times_run(times)->seconds > 0;
	cpl_times_add(times, 1, &s->rate);
	s->job[i].times = times;
	return 0;
}

/* What each job puts on the links, then what the others do to it. -1: memory. */
static int rate_jobs(struct status *s, struct cpl_error *err)
{
	struct cpl_times_space *space =
	        cpl_times_space_new(s->net, s->routing, err);

	if (!space)
		return -1;
	for (int i = 0; i < s->state.n_jobs; i++) {
		struct status_job *job = &s->job[i];
		struct cpl_error why = {""};

		if (job->left_out || !s->state.job[i].profile)
			continue;
		if (!add_job(s, i, space, &why))
			continue;
		job->left_out = strdup(why.text);
		if (!job->left_out || cpl_error_is_memory(&why)) {
			cpl_times_space_free(space);
			return cpl_fail_memory(err);
		}
	}
	cpl_times_space_free(space);
	for (int i = 0; i < s->state.n_jobs; i++) {
		struct status_job *job = &s->job[i];

		job->slowdown = job->left_out ? 0 : 1;
		if (!job->times)
			continue;
		cpl_times_judge(job->times, &s->rate, true, &job->result);
		if (job->result.alone > 0)
			job->slowdown = job->result.seconds / job->result.alone;
	}
	return 0;
}

/* Quantiles of n values, which are sorted; zeros without any. */
static void take_quantiles(double *value, int64_t n, double *out)
{
	qsort(value, (size_t)n, sizeof(*value), cpl_by_double);
	for (int q = 0; q < STATUS_QUANTILES; q++) {
		double at = status_quantile[q] * (double)(n - 1);
		int64_t i = (int64_t)at;

		out[q] = 0;
		if (n > 0)
			out[q] = i + 1 < n ? value[i] + (at - (double)i) *
			                                (value[i + 1] - value[i])
			                   : value[n - 1];
	}
}

static double utilisation(const struct status *s, int64_t link)
{
	/* Sums of differences may end a little below 0. */
	double u = s->rate.link[link] / cpl_network_link_bandwidth(s->net, link);

	return u > 0 ? u : 0;
}

/* What the link was measured to carry, or -1. */
static double measured_of(const struct status *s, int64_t link)
{
	const struct cpl_times_rate *rate = s->measured.rate;
	int64_t low = 0, high = s->measured.n;

	CPL_BISECT(low, high, mid, rate[mid].link < link);
	return low < s->measured.n && rate[low].link == link ? rate[low].rate
	                                                     : -1;
}

/* The number of the job that is alone on the machine, as far as records say and if all
 * that it sends is known; else -1. */
static int64_t alone(const struct status *s)
{
	return s->state.n_jobs == 1 && !s->skipped && s->job[0].times
	               ? s->state.job[0].id
	               : -1;
}

struct cabling_view status_cabling(const struct status *s)
{
	return (struct cabling_view){.net = s->net,
	                             .measured = &s->measured,
	                             .cabling = &s->cabling,
	                             .job = alone(s)};
}

/* What switches counted, without regard to its age, which is shown. */
static int read_measured(struct status *s, struct cpl_error *err)
{
	const struct cpl_measured_at at = {0};
	char *path = s->measured_file
	                     ? strdup(s->measured_file)
	                     : cpl_path_join(s->state_dir, CPL_MEASURED_FILE,
	                                     err);
	struct cpl_job_load *rest;
	int rc = -1;

	if (!path)
		return cpl_fail_memory(err);
	if (!s->measured_file && !cpl_file_exists(path)) {
		free(path);
		return 0;
	}
	if (!cpl_measured_load(&s->measured, s->net, path, &at, err)) {
		rest = cpl_measured_rest(&s->measured, s->net, &s->rate, err);
		for (int i = 0; rest && i < rest->n_links; i++)
			s->others += rest->on[i].bytes;
		if (rest)
			rc = cpl_cabling_check(
			        &s->cabling, &s->measured, s->net,
			        alone(s) < 0 ? NULL : &s->rate, err);
		free(rest);
	}
	free(path);
	return rc;
}

static int measure_classes(struct status *s, struct cpl_error *err)
{
	const struct cpl_network *net = s->net;
	double *value = malloc(((size_t)net->n_links + 1) * sizeof(*value));
	int rc = -1;

	if (!value)
		return cpl_fail_memory(err);
	for (int i = 0; i < net->n_classes; i++) {
		int64_t n = 0;

		for (int64_t link = 0; link < net->n_links; link++)
			if (net->link_class_of[link] == i)
				value[n++] = utilisation(s, link);
		take_quantiles(value, n, s->class[i].utilisation);
		if (cpl_load_stats(net, &s->load, i, &s->class[i].bytes, err))
			goto out;
	}
	rc = 0;
out:
	free(value);
	return rc;
}

static int measure_slowdown(struct status *s, struct cpl_error *err)
{
	double *value = malloc(((size_t)s->state.n_jobs + 1) * sizeof(*value));

	if (!value)
		return cpl_fail_memory(err);
	for (int i = 0; i < s->state.n_jobs; i++)
		if (s->job[i].times)
			value[s->n_slowed++] = s->job[i].slowdown;
	take_quantiles(value, s->n_slowed, s->slowdown);
	free(value);
	return 0;
}

/* The utilisation that a link is listed by. */
static double rank_of(const struct status *s, const struct status_link *l)
{
	double measured =
	        l->measured / cpl_network_link_bandwidth(s->net, l->link);

	return measured > l->utilisation ? measured : l->utilisation;
}

/* The largest by insertion; ties keep the lowest link id first. */
static void find_busiest(struct status *s)
{
	for (int64_t link = 0; link < s->net->n_links; link++) {
		double u = utilisation(s, link), by = u;
		double measured = measured_of(s, link);
		int at = s->n_links;

		if (measured > by * cpl_network_link_bandwidth(s->net, link))
			by = measured / cpl_network_link_bandwidth(s->net, link);
		if (by <= 0)
			continue;
		while (at > 0 && rank_of(s, &s->link[at - 1]) < by)
			at--;
		if (at == STATUS_LINKS)
			continue;
		if (s->n_links < STATUS_LINKS)
			s->n_links++;
		memmove(s->link + at + 1, s->link + at,
		        (size_t)(s->n_links - at - 1) * sizeof(*s->link));
		s->link[at] =
		        (struct status_link){.link = link,
		                             .rate = s->rate.link[link],
		                             .measured = measured,
		                             .utilisation = u};
	}
}

/* The largest by insertion; ties keep the job that came first. */
static void add_share(struct status_link *link, int job, double rate)
{
	double share = rate / link->rate;
	int at = link->n_shares;

	link->n_jobs++;
	while (at > 0 && link->share[at - 1].share < share)
		at--;
	if (at == STATUS_SHARES)
		return;
	if (link->n_shares < STATUS_SHARES)
		link->n_shares++;
	memmove(link->share + at + 1, link->share + at,
	        (size_t)(link->n_shares - at - 1) * sizeof(*link->share));
	link->share[at] = (struct status_share){job, share};
}

static void find_loaders(struct status *s)
{
	for (int i = 0; i < s->state.n_jobs; i++) {
		const struct cpl_times_rate *rate;
		int64_t n;

		if (!s->job[i].times)
			continue;
		rate = cpl_times_rates(s->job[i].times, &n);
		for (int64_t k = 0; k < n; k++)
			for (int l = 0; l < s->n_links; l++)
				if (s->link[l].link == rate[k].link)
					add_share(&s->link[l], i, rate[k].rate);
	}
}

static int measure(struct status *s, const char *network, struct cpl_error *err)
{
	struct cpl_profile_dirs dirs = cmd_profile_dirs(s->config, NULL);
	size_t n = (size_t)s->state.n_jobs + 1;
	char **left_out = calloc(n, sizeof(*left_out));
	int rc = -1;

	s->job = calloc(n, sizeof(*s->job));
	if (cpl_out_of_memory(!left_out || !s->job, err))
		goto out;
	s->net = cpl_network_load(network, err);
	if (!s->net)
		goto out;
	s->routing = cpl_routing_find_quick(
	        s->net, s->config ? s->config->routing : NULL, err);
	if (!s->routing || cpl_load_init(&s->load, s->net, err) ||
	    cpl_load_init(&s->rate, s->net, err))
		goto out;
	rc = cmd_state_profiles(&s->state, &dirs, left_out, err);
	if (!rc)
		rc = cpl_state_apply_each(&s->state, s->net, s->routing,
		                          &s->load, left_out, err);
	for (int i = 0; i < s->state.n_jobs; i++)
		s->job[i].left_out = left_out[i];
	if (rc || rate_jobs(s, err) || measure_classes(s, err) ||
	    measure_slowdown(s, err) || read_measured(s, err)) {
		rc = -1;
		goto out;
	}
	cpl_traffic_metrics(s->net, &s->load, NULL, &s->metrics);
	find_busiest(s);
	find_loaders(s);
out:
	free(left_out);
	return rc;
}

static int read_counters(struct status *s, struct cpl_error *err)
{
	char *path = cpl_counters_path(s->state_dir, err);

	if (!path)
		return -1;
	s->has_counters =
	        !cpl_counters_load(path, &s->counters, &s->counters_error);
	free(path);
	return 0;
}

int status_open(struct status *s, const char *network, struct cpl_error *err)
{
	s->timed = true;
	if (cpl_record_state(s->state_dir, &s->state, &s->skipped, err) ||
	    read_counters(s, err))
		return -1;
	return network ? measure(s, network, err) : 0;
}

void status_close(struct status *s)
{
	for (int i = 0; s->job && i < s->state.n_jobs; i++) {
		cpl_times_close(s->job[i].times);
		free(s->job[i].left_out);
	}
	free(s->job);
	cpl_load_free(&s->load);
	cpl_load_free(&s->rate);
	cpl_measured_free(&s->measured);
	cpl_cabling_free(&s->cabling);
	cpl_network_free(s->net);
	cpl_state_free(&s->state);
}
