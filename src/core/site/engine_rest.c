/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is measured and not predicted, in the ledger's scene. */
#include "site/engine_ledger.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"

/* Ended jobs that are kept at the most. */
#define GONE_MAX 4096

static void drop_load(struct ledger *ledger)
{
	struct rest *rest = &ledger->rest;

	if (!rest->load)
		return;
	cpl_scene_remove(&ledger->scene, rest->load);
	ledger->state++;
	free(rest->load);
	rest->load = NULL;
}

void engine_rest_forget(struct ledger *ledger)
{
	struct rest *rest = &ledger->rest;

	drop_load(ledger);
	engine_measured_free(rest->sample);
	for (int i = 0; i < rest->n_gone; i++)
		free(rest->gone[i].load);
	free(rest->gone);
	*rest = (struct rest){NULL};
}

static bool is_same(const struct cpl_measured *a, const struct cpl_measured *b)
{
	return a->n == b->n && a->time == b->time && a->since == b->since &&
	       !memcmp(a->rate, b->rate, (size_t)a->n * sizeof(*a->rate));
}

void engine_rest_take(struct ledger *ledger, struct measured_set *set)
{
	struct rest *rest = &ledger->rest;

	if (!set)
		return;
	if (set->snapshot != ledger->snapshot ||
	    (rest->sample && is_same(&rest->sample->links, &set->links))) {
		engine_measured_free(set);
		return;
	}
	engine_measured_free(rest->sample);
	rest->sample = set;
	rest->waits = true;
}

/* Drop the jobs that no sample to come is of. */
static void drop_gone(struct rest *rest, int64_t before)
{
	int n = 0;

	for (int i = 0; i < rest->n_gone; i++) {
		if (rest->gone[i].ended < before || rest->n_gone - i > GONE_MAX)
			free(rest->gone[i].load);
		else
			rest->gone[n++] = rest->gone[i];
	}
	rest->n_gone = n;
}

void engine_rest_gone(struct ledger *ledger, struct running *job)
{
	const struct cpl_config *config = ledger->snapshot->config;
	struct rest *rest = &ledger->rest;
	int64_t now = time(NULL);

	if (!config->measured_links)
		return;
	drop_gone(rest, now - config->measured_max_age);
	if (cpl_array_grow(&rest->gone, rest->n_gone, sizeof(*rest->gone),
	                   NULL))
		return;
	cpl_scene_remove(&ledger->scene, job->load);
	ledger->state++;
	/* As it stood by its volume: a sample to come has to do with that. */
	if (job->shape) {
		free(job->load);
		job->load = job->shape;
		job->shape = NULL;
	}
	rest->gone[rest->n_gone++] =
	        (struct gone){job->load, job->record->time, now,
	                      engine_unknown_shared(ledger, job)};
	job->load = NULL;
}

static void add_load(struct cpl_load *own, const struct cpl_job_load *load,
                     double part)
{
	for (int i = 0; i < load->n_links; i++)
		*cpl_times_at(own, load->on[i].link) +=
		        part * load->on[i].bytes / load->period;
}

/* What our jobs are predicted to have sent while the sample was taken. 0, to be
 * freed, or -1 with err. */
static int predict(const struct ledger *ledger, struct cpl_load *own,
                   struct cpl_error *err)
{
	const struct rest *rest = &ledger->rest;
	const struct cpl_measured *links = &rest->sample->links;

	if (cpl_load_init(own, ledger->scene.net, err))
		return -1;
	for (int i = 0; i < ledger->n_running; i++) {
		const struct running *job = &ledger->running[i];

		if (job->load && job->load->counted &&
		    !engine_unknown_shared(ledger, job))
			add_load(own, job->load,
			         cpl_measured_coverage(links,
			                          (double)job->record->time,
			                          links->time));
	}
	for (int i = 0; i < rest->n_gone; i++)
		if (!rest->gone[i].unknown)
			add_load(own, rest->gone[i].load,
			         cpl_measured_coverage(links,
			                          (double)rest->gone[i].began,
			                          (double)rest->gone[i].ended));
	return 0;
}

/* "3120 links at 1795783200, 4.2e+10 bytes/s of others on 400", and ", 12 jobs
 * without a signature apart" */
static void tell(struct ledger *ledger)
{
	struct rest *rest = &ledger->rest;
	double sum = 0;
	int n, shared = 0;

	for (int i = 0; i < rest->load->n_links; i++)
		sum += rest->load->on[i].bytes;
	for (int i = 0; i < ledger->n_running; i++)
		shared += ledger->running[i].shape != NULL;
	n = snprintf(rest->told, sizeof(rest->told),
	             "%lld links at %.0f, %.3g bytes/s of others on %d",
	             (long long)rest->sample->links.n, rest->sample->links.time,
	             sum, rest->load->n_links);
	if (shared)
		snprintf(rest->told + n, sizeof(rest->told) - (size_t)n,
		         ", %d jobs without a signature apart", shared);
}

void engine_rest_renew(struct ledger *ledger)
{
	int64_t now = time(NULL) * 1000;

	ledger->sample_id = now > ledger->sample_id ? now : ledger->sample_id + 1;
	ledger->rest.id = ledger->sample_id;
	ledger->rest.kept = false;
}

static int put_rest(struct ledger *ledger, struct cpl_error *err)
{
	struct rest *rest = &ledger->rest;
	struct cpl_job_load *load;
	struct cpl_load own;

	if (predict(ledger, &own, err))
		return -1;
	load = cpl_measured_rest(&rest->sample->links, ledger->scene.net, &own,
	                         err);
	cpl_load_free(&own);
	if (!load)
		return -1;
	if (ledger->snapshot->config->unknown == CPL_UNKNOWN_MEASURED &&
	    engine_unknown_share(ledger, &load, err)) {
		free(load);
		return -1;
	}
	drop_load(ledger);
	rest->waits = false;
	rest->load = load;
	engine_rest_renew(ledger);
	tell(ledger);
	ledger->state++;
	if (!cpl_scene_add(&ledger->scene, load, err))
		return 0;
	rest->load = NULL;
	return -1;
}

static bool is_old(const struct ledger *ledger)
{
	double age = (double)time(NULL) - ledger->rest.sample->links.time;

	return age > ledger->snapshot->config->measured_max_age ||
	       age < -CPL_MEASURED_AHEAD;
}

int engine_rest_put(struct ledger *ledger, struct cpl_error *err)
{
	struct rest *rest = &ledger->rest;

	if (!rest->sample)
		return 0;
	if (is_old(ledger)) {
		engine_unknown_forget(ledger);
		drop_load(ledger);
		engine_measured_free(rest->sample);
		rest->sample = NULL;
		return 0;
	}
	/* Loads to come would be in it twice. */
	return rest->waits && ledger->settled ? put_rest(ledger, err) : 0;
}
