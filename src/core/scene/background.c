/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "scene/background.h"

#include <stdlib.h>
#include <string.h>

#include "traffic/load_blocks.h"

struct head {
	struct cpl_job_load *job; /* NULL: nobody is on the link */
	int at;
};

/* The rates times seconds. */
struct during {
	double seconds; /* 0: free */
	uint64_t used;  /* larger: later */
	struct cpl_load load;
};

struct cpl_background {
	const struct cpl_network *net;
	int n_jobs;
	struct cpl_job_load *first; /* of these, by id */
	struct head *head;          /* by link */
	struct cpl_load bytes, rates;
	struct during during[CPL_BACKGROUND_TIMES];
	uint64_t clock;
};

/* Are eight values surely 0? Most links of a large machine are not a job's. */
static bool eight_are_0(const double *value)
{
	uint64_t word[8], any = 0;

	memcpy(word, value, sizeof(word));
	for (int k = 0; k < 8; k++)
		any |= word[k];
	return !any;
}

/* The first at i or behind it that is not 0, else n. */
static int64_t next_used(const double *value, int64_t i, int64_t n)
{
	while (i < n && value[i] == 0)
		i += i + 8 <= n && eight_are_0(value + i) ? 8 : 1;
	return i;
}

/* Room for so many links. NULL: memory is out, and the job is gone. */
static struct cpl_job_load *resize(struct cpl_job_load *job, size_t n)
{
	struct cpl_job_load *more =
	        realloc(job, sizeof(*job) + n * sizeof(*job->on));

	if (!more)
		free(job);
	return more;
}

struct cpl_job_load *cpl_job_load_new(const struct cpl_network *net,
                                      const struct cpl_load *load,
                                      double period, struct cpl_error *err)
{
	int64_t links = cpl_times_links(net);
	size_t n = 0, room = 64;
	struct cpl_job_load *job = resize(NULL, room);

	for (int64_t i = 0; job && (i = next_used(load->link, i, links)) < links;
	     i++) {
		if (n == room)
			job = resize(job, room *= 2);
		if (job)
			job->on[n++] = (struct cpl_job_link){
			        .bytes = load->link[i], .link = (int)i};
	}
	if (job)
		job = resize(job, n);
	if (!job)
		return cpl_fail_null_memory(err);
	*job = (struct cpl_job_load){
	        .period = period > 0 ? period : cpl_load_seconds(load, net),
	        .n_links = (int)n};
	return job;
}

struct cpl_job_load *cpl_job_load_of(struct cpl_workload *workload,
                                     const struct cpl_network *net,
                                     const struct cpl_job *placed,
                                     double period, struct cpl_error *err)
{
	cpl_workload_clear(workload, NULL);
	if (cpl_workload_add(workload, placed, err) < 0 ||
	    cpl_workload_solve(workload, err))
		return NULL;
	return cpl_job_load_new(net, cpl_workload_load(workload), period, err);
}

struct cpl_job_load *cpl_job_load_of_rates(const struct cpl_times_rate *rate,
                                           int64_t n, struct cpl_error *err)
{
	struct cpl_job_load *job =
	        malloc(sizeof(*job) + (size_t)n * sizeof(*job->on));

	if (!job)
		return cpl_fail_null_memory(err);
	*job = (struct cpl_job_load){.period = 1, .n_links = (int)n};
	for (int64_t i = 0; i < n; i++)
		job->on[i] = (struct cpl_job_link){.bytes = rate[i].rate,
		                                   .link = (int)rate[i].link};
	return job;
}

struct cpl_job_load *cpl_job_load_of_rest(struct cpl_times_rate *rate, int64_t n,
                                          struct cpl_error *err)
{
	struct cpl_job_load *rest = NULL;

	if (!cpl_out_of_memory(!rate, err))
		rest = cpl_job_load_of_rates(rate, n, err);
	free(rate);
	if (rest) {
		rest->id = CPL_MEASURED_ID;
		rest->many = true;
	}
	return rest;
}

/* With what it comes to, kept by blocks; opened by cpl_load_init or its like. */
static int open_load(struct cpl_load *load,
                     int (*init)(struct cpl_load *, const struct cpl_network *,
                                 struct cpl_error *),
                     const struct cpl_network *net, struct cpl_error *err)
{
	if (init(load, net, err))
		return -1;
	load->blocks = cpl_load_blocks_new(net, load, err);
	if (load->blocks)
		return 0;
	cpl_load_free(load);
	return -1;
}

struct cpl_background *cpl_background_new(const struct cpl_network *net,
                                          struct cpl_error *err)
{
	size_t links = (size_t)cpl_times_links(net);
	struct cpl_background *background = calloc(1, sizeof(*background));

	if (!background)
		return cpl_fail_null_memory(err);
	background->net = net;
	background->head = calloc(links, sizeof(*background->head));
	if (!background->head)
		cpl_fail_memory(err);
	if (background->head &&
	    !open_load(&background->bytes, cpl_load_init, net, err) &&
	    !open_load(&background->rates, cpl_load_init_rates, net, err))
		return background;
	cpl_background_free(background);
	return NULL;
}

void cpl_background_free(struct cpl_background *background)
{
	if (!background)
		return;
	for (int i = 0; i < CPL_BACKGROUND_TIMES; i++)
		cpl_load_free(&background->during[i].load);
	cpl_load_free(&background->bytes);
	cpl_load_free(&background->rates);
	cpl_free_all(background->head, background);
}

static void set(const struct cpl_network *net, struct cpl_load *load, int link,
                double bytes)
{
	*cpl_times_at(load, link) = bytes;
	cpl_load_blocks_changed(load->blocks, link);
}

/* The next one on the link. */
static struct head next_on(struct head at)
{
	const struct cpl_job_link *on = &at.job->on[at.at];

	return (struct head){on->next, on->next_at};
}

/* Add up the jobs of a link. */
static void sum_up(struct cpl_background *b, int link)
{
	struct head at = b->head[link];
	double bytes = 0, rate = 0, squares = 0;

	for (; at.job; at = next_on(at)) {
		double own = at.job->on[at.at].bytes / at.job->period;

		bytes += at.job->on[at.at].bytes;
		rate += own;
		squares += at.job->many ? 0 : own * own;
	}
	set(b->net, &b->bytes, link, bytes);
	set(b->net, &b->rates, link, rate);
	b->rates.squares[link] = squares;
	for (int i = 0; i < CPL_BACKGROUND_TIMES; i++)
		if (b->during[i].seconds > 0)
			set(b->net, &b->during[i].load, link,
			    rate * b->during[i].seconds);
}

/* The first on a link that is not below this id, and who is before it, if
 * anybody. */
static struct head find(const struct cpl_background *b, int link, int64_t id,
                        struct cpl_job_link **before)
{
	struct head at = b->head[link];

	*before = NULL;
	while (at.job && at.job->id < id) {
		*before = &at.job->on[at.at];
		at = (struct head){(*before)->next, (*before)->next_at};
	}
	return at;
}

static void put_head(struct cpl_background *b, int link,
                     struct cpl_job_link *before, struct head at)
{
	if (!before) {
		b->head[link] = at;
		return;
	}
	before->next = at.job;
	before->next_at = at.at;
}

/* Where the job stands, or is to stand, by id. */
static struct cpl_job_load **listed(struct cpl_background *b, int64_t id)
{
	struct cpl_job_load **at = &b->first;

	while (*at && (*at)->id < id)
		at = &(*at)->after;
	return at;
}

void cpl_background_add(struct cpl_background *b, struct cpl_job_load *job)
{
	struct cpl_job_load **at = listed(b, job->id);

	if (job->counted)
		return;
	job->counted = true;
	job->after = *at;
	*at = job;
	b->n_jobs++;
	for (int i = 0; i < job->n_links; i++) {
		struct cpl_job_link *on = &job->on[i], *before;
		struct head next = find(b, on->link, job->id, &before);

		on->next = next.job;
		on->next_at = next.at;
		put_head(b, on->link, before, (struct head){job, i});
		sum_up(b, on->link);
	}
}

void cpl_background_remove(struct cpl_background *b, struct cpl_job_load *job)
{
	if (!job->counted)
		return;
	job->counted = false;
	*listed(b, job->id) = job->after;
	b->n_jobs--;
	for (int i = 0; i < job->n_links; i++) {
		struct cpl_job_link *on = &job->on[i], *before;

		find(b, on->link, job->id, &before);
		put_head(b, on->link, before,
		         (struct head){on->next, on->next_at});
		sum_up(b, on->link);
	}
}

void cpl_background_changed(struct cpl_background *b)
{
	int64_t links = cpl_times_links(b->net);

	for (int64_t l = 0; l < links; l++)
		if (b->head[l].job)
			sum_up(b, (int)l);
}

int cpl_background_jobs(const struct cpl_background *background)
{
	return background->n_jobs;
}

struct cpl_job_load *
cpl_background_first(const struct cpl_background *background)
{
	return background->first;
}

struct cpl_harm *cpl_background_harm(const struct cpl_background *b,
                                     const struct cpl_network *net,
                                     struct cpl_error *err)
{
	struct cpl_harm *harm = cpl_harm_new(net, err);
	const struct cpl_job_load *job = b ? b->first : NULL;

	for (; harm && job; job = job->after) {
		cpl_harm_job(harm);
		for (int k = 0; k < job->n_links; k++)
			if (job->on[k].bytes > 0 &&
			    cpl_harm_add(harm, job->on[k].link,
			                 job->on[k].bytes / job->period, err))
				goto fail;
	}
	if (!harm || !cpl_harm_ready(harm, err))
		return harm;
fail:
	cpl_harm_free(harm);
	return NULL;
}

const struct cpl_load *
cpl_background_bytes(const struct cpl_background *background)
{
	return &background->bytes;
}

const struct cpl_load *
cpl_background_rates(const struct cpl_background *background)
{
	return &background->rates;
}

/* The one of these seconds, or else the one not used for longest. */
static struct during *lately(struct cpl_background *b, double seconds)
{
	struct during *found = &b->during[0];

	for (int i = 0; i < CPL_BACKGROUND_TIMES; i++) {
		if (b->during[i].seconds == seconds)
			return &b->during[i];
		if (b->during[i].used < found->used)
			found = &b->during[i];
	}
	return found;
}

const struct cpl_load *cpl_background_during(struct cpl_background *b,
                                             double seconds,
                                             struct cpl_error *err)
{
	struct during *found = lately(b, seconds);
	struct cpl_load *load = &found->load;

	if (seconds == 1)
		return &b->rates;
	found->used = ++b->clock;
	if (found->seconds == seconds)
		return load;
	found->seconds = 0;
	if (!load->link && cpl_load_init(load, b->net, err))
		return NULL;
	cpl_load_scale(load, &b->rates, seconds, b->net);
	cpl_load_blocks_free(load->blocks);
	load->blocks = cpl_load_blocks_new(b->net, load, err);
	if (!load->blocks)
		return NULL;
	found->seconds = seconds;
	return load;
}
