/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "site/usage.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/sort.h"
#include "site/record.h"

struct usage_list {
	struct cpl_usage *one;
	int n;
	bool failed; /* memory was out */
};

/* False: the job cannot tell. */
static bool gain_of(const struct cpl_record *r, double *gain)
{
	double ours = r->seconds, theirs = r->stock_seconds;

	if (r->outcome != CPL_OUTCOME_PLACED)
		return false;
	if (!(ours > 0 && theirs > 0)) {
		ours = r->map_max_after;
		theirs = r->stock_mapped_max > 0 ? r->stock_mapped_max
		                                 : r->stock_max_congestion;
	}
	if (!(ours > 0 && theirs > 0))
		return false;
	*gain = 1 - ours / theirs;
	return true;
}

/* One for each job: users may name as many profiles as they have jobs. */
static void add_job(void *arg, const struct cpl_record *r)
{
	struct usage_list *list = arg;
	struct cpl_usage *u;

	if (!r->profile || list->failed)
		return;
	list->failed = cpl_array_grow(&list->one, list->n, sizeof(*u), NULL);
	if (list->failed)
		return;
	u = &list->one[list->n];
	*u = (struct cpl_usage){.profile = strdup(r->profile),
	                        .ranks = r->ranks,
	                        .jobs = 1,
	                        .last = r->time > 0 ? r->time : 0};
	list->failed = !u->profile;
	list->n += u->profile != NULL;
	u->gains = gain_of(r, &u->gain);
}

static CPL_SORT_BY(by_profile, struct cpl_usage, CPL_TEXT(profile),
                   CPL_UP(ranks), CPL_UP(gain))

/* Equal neighbours become one. */
static void unite(struct usage_list *list)
{
	struct cpl_usage *u = list->one;
	int n = 0;

	for (int i = 0; i < list->n; i++) {
		if (!n || u[n - 1].ranks != u[i].ranks ||
		    strcmp(u[n - 1].profile, u[i].profile)) {
			u[n++] = u[i];
			continue;
		}
		u[n - 1].jobs++;
		u[n - 1].gain += u[i].gain;
		u[n - 1].gains += u[i].gains;
		if (u[i].last > u[n - 1].last)
			u[n - 1].last = u[i].last;
		free(u[i].profile);
	}
	list->n = n;
}

int cpl_usage_read(const char *state_dir, struct cpl_usage **usage,
                   struct cpl_error *err)
{
	struct usage_list list = {0};
	int64_t skipped = 0;

	*usage = NULL;
	if (access(state_dir, R_OK | X_OK))
		return cpl_fail(err, "%s: %m", state_dir);
	if (cpl_record_each(state_dir, false, add_job, &list, &skipped, err) ||
	    cpl_record_each(state_dir, true, add_job, &list, &skipped, err) ||
	    list.failed) {
		cpl_usage_free(list.one, list.n);
		return list.failed ? cpl_fail_memory(err) : -1;
	}
	if (list.n)
		qsort(list.one, (size_t)list.n, sizeof(*list.one), by_profile);
	unite(&list);
	*usage = list.one;
	return list.n;
}

void cpl_usage_free(struct cpl_usage *usage, int n)
{
	for (int i = 0; i < n; i++)
		free(usage[i].profile);
	free(usage);
}
