/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "site/usage.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "site/record.h"
#include "site/site_internal.h"

struct usage_list {
	struct cpl_usage *one;
	int n;
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
static int add_job(struct usage_list *list, const struct cpl_record *r)
{
	struct cpl_usage *u;

	if (!r->profile)
		return 0;
	if (cpl_array_grow(&list->one, list->n, sizeof(*u), NULL))
		return -1;
	u = &list->one[list->n];
	*u = (struct cpl_usage){.profile = strdup(r->profile),
	                        .ranks = r->ranks,
	                        .jobs = 1,
	                        .last = r->time > 0 ? r->time : 0};
	if (!u->profile)
		return -1;
	list->n++;
	u->gains = gain_of(r, &u->gain);
	return 0;
}

static int add_folder(struct usage_list *list, const char *state_dir,
                      bool ended)
{
	DIR *folder = state_open_folder(state_dir, ended ? "ended" : "running",
	                                NULL);
	int64_t id;
	int rc = 0;

	while (folder && !rc && state_next_job(folder, &id)) {
		char *path = cpl_record_path(state_dir, ended, id, NULL);
		struct cpl_record *r =
		        path ? cpl_record_load(path, NULL) : NULL;

		if (!path)
			rc = -1;
		else if (r)
			rc = add_job(list, r);
		cpl_record_free(r);
		free(path);
	}
	if (folder)
		closedir(folder);
	return rc;
}

static int by_profile(const void *a, const void *b)
{
	const struct cpl_usage *x = a, *y = b;
	int order = strcmp(x->profile, y->profile);

	order = order ? order : (x->ranks > y->ranks) - (x->ranks < y->ranks);
	/* Sums in an order of their own: that of a folder is chance. */
	return order ? order : (x->gain > y->gain) - (x->gain < y->gain);
}

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

	*usage = NULL;
	if (access(state_dir, R_OK | X_OK))
		return cpl_fail(err, "%s: %m", state_dir);
	if (add_folder(&list, state_dir, false) ||
	    add_folder(&list, state_dir, true)) {
		cpl_usage_free(list.one, list.n);
		return cpl_fail_memory(err);
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
