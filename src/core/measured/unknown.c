/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "measured/unknown.h"

#include <stdlib.h>

#include "base/random.h"

/* Rounds in which volumes are fitted to links, where nodes' cables were not
 * measured; each brings them closer, the first few most of the way. */
#define ROUNDS 30
/* And of links of jobs that are looked at in these, since somebody may wait: some
 * 10 ms; but for so many rounds in any case. */
#define VISITS 1000000
#define LEAST_ROUNDS 4
#define NOT_MEASURED -1.0

/* To which other node, counted from each, the i-th of so many messages goes: one
 * out of each of as many strata, so that they are different. */
static int distance(int n, int peers, int i)
{
	int64_t others = n - 1;
	int64_t low = others * i / peers, high = others * (i + 1) / peers;

	return (int)(1 + low +
	             (int64_t)cpl_random_below((uint64_t)n, CPL_STREAM_UNKNOWN,
	                                       (uint64_t)i,
	                                       (uint64_t)(high - low)));
}

struct cpl_comm *cpl_unknown_comm(int n, double volume, struct cpl_error *err)
{
	int peers = n - 1 < CPL_UNKNOWN_PEERS ? n - 1 : CPL_UNKNOWN_PEERS;
	int64_t entries = (int64_t)n * peers;
	struct cpl_comm_entry *entry =
	        malloc(((size_t)entries + 1) * sizeof(*entry));
	struct cpl_comm *comm;

	if (!entry)
		return cpl_fail_null_memory(err);
	for (int k = 0; k < peers; k++) {
		int far = distance(n, peers, k);

		for (int i = 0; i < n; i++)
			entry[(int64_t)i * peers + k] = (struct cpl_comm_entry){
			        .from = i,
			        .to = (i + far) % n,
			        .bytes = volume / peers,
			        .messages = 1};
	}
	comm = cpl_comm_build(n, entry, entries, err);
	free(entry);
	return comm;
}

struct cpl_job_load *cpl_unknown_load(struct cpl_workload *workload,
                                      const struct cpl_network *net,
                                      const struct cpl_routing *routing,
                                      const int *node, int n, double volume,
                                      struct cpl_error *err)
{
	struct cpl_comm *comm = cpl_unknown_comm(n, 1, err);
	struct cpl_job placed = {.routing = routing,
	                         .comm = comm,
	                         .node = node,
	                         .of_hosts = true};
	struct cpl_job_load *load =
	        comm ? cpl_job_load_of(workload, net, &placed, 1, err) : NULL;

	for (int i = 0; load && i < load->n_links; i++)
		load->on[i].bytes *= volume;
	cpl_comm_free(comm);
	return load;
}

/* While a sample is shared. */
struct sharing {
	const struct cpl_network *net;
	struct cpl_unknown *job;
	int n;
	double *rest;  /* [links] measured and not known, or NOT_MEASURED */
	double *model; /* [links] what the jobs come to */
	double *scale; /* [n] of a job's load: times what it was given */
	bool *fixed;   /* [n] by its nodes' cables */
};

static void sharing_free(struct sharing *s)
{
	cpl_free_all(s->rest, s->model, s->scale, s->fixed);
}

static int sharing_open(struct sharing *s, const struct cpl_measured *measured,
                        const struct cpl_job_load *rest, struct cpl_error *err)
{
	int64_t links = cpl_times_links(s->net);

	s->rest = malloc((size_t)links * sizeof(*s->rest));
	s->model = calloc((size_t)links, sizeof(*s->model));
	s->scale = malloc(((size_t)s->n + 1) * sizeof(*s->scale));
	s->fixed = calloc((size_t)s->n + 1, sizeof(*s->fixed));
	if (!s->rest || !s->model || !s->scale || !s->fixed) {
		sharing_free(s);
		return cpl_fail_memory(err);
	}
	for (int64_t l = 0; l < links; l++)
		s->rest[l] = NOT_MEASURED;
	for (int64_t i = 0; i < measured->n; i++)
		s->rest[measured->rate[i].link] = 0;
	for (int i = 0; i < rest->n_links; i++)
		s->rest[rest->on[i].link] = rest->on[i].bytes / rest->period;
	return 0;
}

/* Bytes/s of a job on its i-th link, over the sample's time, at a scale of 1. */
static double rate_of(const struct cpl_unknown *job, int i)
{
	return job->part * job->as->on[i].bytes / job->as->period;
}

static bool is_measured(const struct sharing *s, const struct cpl_unknown *job,
                        int i)
{
	return s->rest[job->as->on[i].link] >= 0;
}

/* By the cables of nodes, where they were measured: these say it by themselves.
 */
static void fix(struct sharing *s, int j)
{
	const struct cpl_unknown *job = &s->job[j];
	double sent = 0, counted = 0;

	for (int i = 0; i < job->as->n_links; i++) {
		int link = job->as->on[i].link;

		if (link < s->net->n_links || !is_measured(s, job, i))
			continue;
		sent += rate_of(job, i);
		counted += s->rest[link];
	}
	s->fixed[j] = sent > 0;
	s->scale[j] = s->fixed[j] ? counted / sent : 1;
}

/* What all come to by their scales, on the links that were measured. */
static void sum_up(struct sharing *s)
{
	for (int j = 0; j < s->n; j++)
		for (int i = 0; i < s->job[j].as->n_links; i++)
			s->model[s->job[j].as->on[i].link] = 0;
	for (int j = 0; j < s->n; j++)
		for (int i = 0; i < s->job[j].as->n_links; i++)
			if (is_measured(s, &s->job[j], i))
				s->model[s->job[j].as->on[i].link] +=
				        s->scale[j] * rate_of(&s->job[j], i);
}

/* Of a job that is not fixed: closer to what is measured, by expectation
 * maximisation (Shepp and Vardi 1982), which never leaves 0 .. all of it. */
static void come_closer(struct sharing *s, int j)
{
	const struct cpl_unknown *job = &s->job[j];
	double sent = 0, share = 0;

	for (int i = 0; i < job->as->n_links; i++) {
		int link = job->as->on[i].link;
		double rate = rate_of(job, i);

		if (!is_measured(s, job, i))
			continue;
		sent += rate;
		if (s->model[link] > 0)
			share += rate * s->rest[link] / s->model[link];
	}
	if (sent > 0)
		s->scale[j] *= share / sent;
}

/* In how many rounds volumes are fitted; 0: all are known. */
static int rounds_of(const struct sharing *s)
{
	int64_t links = 1, rounds;
	bool all = true;

	for (int j = 0; j < s->n; j++) {
		links += s->job[j].as->n_links;
		all = all && s->fixed[j];
	}
	rounds = VISITS / links;
	if (all)
		return 0;
	return rounds < LEAST_ROUNDS ? LEAST_ROUNDS
	       : rounds > ROUNDS     ? ROUNDS
	                             : (int)rounds;
}

/* How much each job sends. */
static void fit(struct sharing *s)
{
	int rounds;

	for (int j = 0; j < s->n; j++)
		fix(s, j);
	rounds = rounds_of(s);
	for (int round = 0; round < rounds; round++) {
		sum_up(s);
		for (int j = 0; j < s->n; j++)
			if (!s->fixed[j])
				come_closer(s, j);
	}
	sum_up(s);
}

static bool is_told(const struct sharing *s, int j)
{
	const struct cpl_unknown *job = &s->job[j];

	if (job->part < CPL_UNKNOWN_LEAST_PART)
		return false;
	for (int i = 0; i < job->as->n_links; i++)
		if (is_measured(s, job, i))
			return true;
	return false;
}

/* What the job sends while it runs. */
static int make_load(const struct sharing *s, int j, struct cpl_error *err)
{
	struct cpl_unknown *job = &s->job[j];
	size_t size = sizeof(*job->load) +
	              (size_t)job->as->n_links * sizeof(*job->load->on);

	job->load = malloc(size);
	if (!job->load)
		return cpl_fail_memory(err);
	*job->load = (struct cpl_job_load){.period = 1,
	                                   .n_links = job->as->n_links};
	for (int i = 0; i < job->as->n_links; i++) {
		int link = job->as->on[i].link;
		double bytes = s->scale[j] * rate_of(job, i);

		if (is_measured(s, job, i) && s->model[link] > 0)
			bytes *= s->rest[link] / s->model[link];
		job->load->on[i] = (struct cpl_job_link){
		        .bytes = bytes / job->part, .link = link};
	}
	return 0;
}

/* What no unknown job has. */
static struct cpl_job_load *leave(const struct sharing *s,
                                  const struct cpl_job_load *rest,
                                  struct cpl_error *err)
{
	struct cpl_times_rate *rate =
	        malloc(((size_t)rest->n_links + 1) * sizeof(*rate));
	int64_t n = 0;

	for (int i = 0; rate && i < rest->n_links; i++) {
		int link = rest->on[i].link;

		if (!(s->model[link] > 0))
			rate[n++] = (struct cpl_times_rate){
			        .link = link, .rate = s->rest[link]};
	}
	return cpl_job_load_of_rest(rate, n, err);
}

int cpl_unknown_share(struct cpl_unknown *job, int n,
                      const struct cpl_measured *measured,
                      const struct cpl_network *net,
                      const struct cpl_job_load *rest,
                      struct cpl_job_load **left, struct cpl_error *err)
{
	struct sharing s = {.net = net, .job = job, .n = n};
	int rc = 0;

	*left = NULL;
	for (int j = 0; j < n; j++)
		job[j].load = NULL;
	if (sharing_open(&s, measured, rest, err))
		return -1;
	fit(&s);
	for (int j = 0; j < n && !rc; j++)
		if (is_told(&s, j))
			rc = make_load(&s, j, err);
	*left = rc ? NULL : leave(&s, rest, err);
	for (int j = 0; j < n; j++) {
		if (*left && job[j].load)
			job[j].volume *= s.scale[j];
		if (*left)
			continue;
		free(job[j].load);
		job[j].load = NULL;
	}
	sharing_free(&s);
	return *left ? 0 : -1;
}
