/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Jobs of a trial, from decision records and accounting. */
#include "commplace-config.h"
#include "benefit.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sort.h"
#include "benefit/notes.h"
#include "site/record.h"

/* What is kept of a record until its job is found in the accounting. */
struct drawn {
	char *id, *shown_as, *profile, *partition;
	int ranks, nodes;
	enum cpl_arm arm;
	double predicted;
	int64_t time, job;
	int64_t *background; /* [n_background] jobs beside it as it began */
	int64_t n_background;
};

struct join {
	struct drawn *drawn;
	int64_t n;
	struct cpl_error *err;
	bool failed; /* memory was out */
};

/*
 * The part of its elapsed time that a job is predicted to save: what it computes
 * stays, its communication differs.
 */
static double predicted_gain(const struct cpl_record *r)
{
	double computes = fmax(0, r->run_seconds - r->alone_seconds);

	if (!(r->run_seconds > 0) || !(r->seconds > 0) ||
	    !(r->stock_seconds > 0))
		return NAN;
	return 1 - (computes + r->seconds) / (computes + r->stock_seconds);
}

/* A user's own profile is another thing than the site's of that name. */
static char *profile_of(const struct cpl_record *r)
{
	char *text;

	if (!r->profile)
		return strdup("(no profile)");
	if (!r->own_profile)
		return strdup(r->profile);
	return asprintf(&text, "%s of user %" PRIu32, r->profile, r->uid) < 0
	               ? NULL
	               : text;
}

static int ranks_of(const struct cpl_record *r)
{
	int64_t ranks = (int64_t)r->ranks_per_node * r->nodes_wanted;

	if (r->ranks)
		return r->ranks;
	return ranks < 1 ? 1 : ranks > INT32_MAX ? INT32_MAX : (int)ranks;
}

static void take_drawn(void *arg, const struct cpl_record *r)
{
	int arm = r->arm ? cpl_arm_find(r->arm) : -1;
	struct join *join = arg;
	struct drawn *d;

	if (arm < 0 || join->failed)
		return;
	if (cpl_array_grow(&join->drawn, join->n, sizeof(*d), join->err)) {
		join->failed = true;
		return;
	}
	d = &join->drawn[join->n++];
	*d = (struct drawn){
	        .shown_as = r->shown_as ? strdup(r->shown_as) : NULL,
	        .profile = profile_of(r),
	        .partition = strdup(r->partition ? r->partition : ""),
	        .ranks = ranks_of(r),
	        .nodes = r->nodes_wanted > 0 ? r->nodes_wanted : 1,
	        .arm = (enum cpl_arm)arm,
	        .predicted = predicted_gain(r),
	        .time = r->time,
	        .job = r->job,
	        .n_background = r->n_background,
	        .background = malloc(((size_t)r->n_background + 1) *
	                             sizeof(*r->background))};
	if (d->background && r->n_background)
		memcpy(d->background, r->background,
		       (size_t)r->n_background * sizeof(*r->background));
	if (asprintf(&d->id, "%" PRId64, r->job) < 0)
		d->id = NULL;
	if (!d->id || !d->background || !d->profile || !d->partition ||
	    (r->shown_as && !d->shown_as)) {
		cpl_fail_memory(join->err);
		join->failed = true;
	}
}

static CPL_SORT_BY(by_job, struct drawn, CPL_UP(job))

/* Of the trial's jobs that ran beside it, the part that was to be placed. */
static double beside_of(const struct join *join, const struct drawn *d)
{
	double n = 0, placed = 0;

	for (int64_t i = 0; i < d->n_background; i++) {
		const struct drawn key = {.job = d->background[i]};
		const struct drawn *other =
		        bsearch(&key, join->drawn, (size_t)join->n,
		                sizeof(key), by_job);

		if (!other)
			continue;
		n++;
		placed += other->arm == CPL_ARM_PLACED;
	}
	return n > 0 ? placed / n : NAN;
}

static int add_drawn(struct cpl_trial_jobs *jobs,
                     struct benefit_sources *sources, const struct join *join,
                     const struct drawn *d, const struct sacct *sacct,
                     struct cpl_error *err)
{
	const struct sacct_job *ran = sacct_find(sacct, d->id);
	struct cpl_trial_job job = {.profile = d->profile,
	                            .partition = d->partition,
	                            .ranks = d->ranks,
	                            .nodes = d->nodes,
	                            .arm = d->arm,
	                            .predicted = d->predicted,
	                            .beside = beside_of(join, d),
	                            .time = d->time,
	                            .id = d->job};

	if (!ran && d->shown_as)
		ran = sacct_find(sacct, d->shown_as);
	if (ran && ran->end == SACCT_RUNS)
		return 0;
	if (!ran || (ran->end == SACCT_COMPLETED && !(ran->seconds > 0) &&
	             !sources->keys.seconds)) {
		sources->unknown++;
		return 0;
	}
	if (ran->end == SACCT_FAILED) {
		sources->unfinished[d->arm]++;
		return 0;
	}
	if (sources->keys.seconds && !(ran->noted_seconds > 0)) {
		sources->silent++;
		return 0;
	}
	job.value[CPL_MEASURE_SECONDS] =
	        sources->keys.seconds ? ran->noted_seconds : ran->seconds;
	job.value[CPL_MEASURE_ENERGY] = ran->energy;
	job.value[CPL_MEASURE_MERIT] = ran->merit;
	return cpl_trial_jobs_add(jobs, &job, err);
}

static void free_join(struct join *join)
{
	for (int64_t i = 0; i < join->n; i++) {
		cpl_free_all(join->drawn[i].id, join->drawn[i].shown_as,
		             join->drawn[i].profile, join->drawn[i].partition,
		             join->drawn[i].background);
	}
	free(join->drawn);
}

static int check_key(const char *option, const char *key, struct cpl_error *err)
{
	return key && cpl_note_check_key(key, strlen(key), err)
	               ? cpl_fail_prefix(err, "%s: '%.60s': ", option, key)
	               : 0;
}

int benefit_check_keys(const struct sacct_keys *keys, struct cpl_error *err)
{
	return check_key("--merit", keys->merit, err) ||
	                       check_key("--seconds", keys->seconds, err)
	               ? -1
	               : 0;
}

int benefit_join(struct cpl_trial_jobs *jobs, struct benefit_sources *sources,
                 const char *state_dir, const char *sacct_file,
                 struct cpl_error *err)
{
	struct join join = {.err = err};
	struct sacct sacct = {0};
	int64_t since = INT64_MAX;
	int rc = cpl_record_each(state_dir, true, take_drawn, &join,
	                         &sources->skipped, err);

	sources->records = join.n;
	if (join.failed)
		rc = -1;
	if (!rc && !join.n)
		rc = cpl_fail(err,
		              "%s: no record of an ended job is of a trial; "
		              "Trial in commplace.conf begins one",
		              state_dir);
	for (int64_t i = 0; i < join.n; i++)
		since = join.drawn[i].time < since ? join.drawn[i].time : since;
	if (!rc)
		rc = sacct_file ? sacct_load(&sacct, sacct_file, &sources->keys,
		                             err)
		                : sacct_ask(&sacct, since, &sources->keys, err);
	if (join.n)
		qsort(join.drawn, (size_t)join.n, sizeof(*join.drawn), by_job);
	for (int64_t i = 0; !rc && i < join.n; i++)
		rc = add_drawn(jobs, sources, &join, &join.drawn[i], &sacct,
		               err);
	sacct_free(&sacct);
	free_join(&join);
	return rc;
}
