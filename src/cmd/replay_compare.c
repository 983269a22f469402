/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Numbers of candidates that differ by less are equal: loads of other jobs may
 * have been added up in another order. */
#define SAME 1e-9

static bool same(double a, double b)
{
	return fabs(a - b) <= SAME * fmax(fabs(a), fabs(b));
}

static bool same_numbers(const struct cpl_record_candidate *then,
                         const struct cpl_candidate *now)
{
	const struct cpl_figures *mapped = &now->mapped;

	return then->shared_links == now->shared &&
	       then->broken == now->broken && then->barred == now->barred &&
	       same(then->plain_max, now->plain.metrics.max_congestion) &&
	       same(then->slows_others, now->harm) &&
	       same(then->learned, now->told) &&
	       same(then->max_congestion, now->metrics.max_congestion) &&
	       same(then->mean_congestion, now->metrics.mean_congestion) &&
	       same(then->hop_bytes, now->sums.hop_bytes) &&
	       (!(then->stated_max > 0) || !now->is_stated ||
	        same(then->stated_max, now->stated.metrics.max_congestion)) &&
	       (!then->mapped || !now->is_mapped ||
	        (same(then->mapped_max, mapped->metrics.max_congestion) &&
	         same(then->mapped_mean, mapped->metrics.mean_congestion) &&
	         same(then->mapped_hop_bytes, mapped->sums.hop_bytes)));
}

enum replay_verdict replay_compare(const struct cpl_record *r,
                                   const struct cpl_network *net,
                                   const struct cpl_decision *d,
                                   struct cpl_error *why)
{
	const struct cpl_placement_policy *chosen =
	        d->candidate[d->chosen].policy;

	for (int i = 0; i < r->n_candidates && i < d->n_candidates; i++) {
		const struct cpl_record_candidate *then = &r->candidate[i];
		const struct cpl_candidate *now = &d->candidate[i];

		if (!then->evaluated || !now->evaluated)
			continue;
		if (same_numbers(then, now))
			continue;
		cpl_fail(why,
		         "candidate %s: max %.6g, mean %.6g, hop-bytes %.6g; "
		         "in the record %.6g, %.6g, %.6g",
		         now->policy->name, now->metrics.max_congestion,
		         now->metrics.mean_congestion, now->sums.hop_bytes,
		         then->max_congestion, then->mean_congestion,
		         then->hop_bytes);
		return DIFFERENT;
	}
	if (r->keep_whole && !same(r->price, d->price)) {
		cpl_fail(why, "price %.6g, in the record %.6g", d->price,
		         r->price);
		return DIFFERENT;
	}
	if (strcmp(r->policy, chosen->name)) {
		cpl_fail(why, "chosen is %s, in the record %s", chosen->name,
		         r->policy);
		return DIFFERENT;
	}
	for (int i = 0; i < d->n_nodes || i < r->n_hosts; i++) {
		const char *now =
		        i < d->n_nodes ? net->node_name[d->node[i]] : "none";
		const char *then = i < r->n_hosts ? r->host[i] : "none";

		if (!strcmp(now, then))
			continue;
		cpl_fail(why, "node %d is %.60s, in the record %.60s", i, now,
		         then);
		return DIFFERENT;
	}
	return EQUAL;
}

/* Was a file changed after the decision? Then it need not come out equal. */
static void blame_file(const char *path, int64_t time, struct cpl_error *why)
{
	struct stat st;

	if (path && !stat(path, &st) && st.st_mtime > time)
		cpl_fail_prefix(why, "(%s was changed since) ", path);
}

static void blame(const struct replay_site *site, const struct cpl_record *r,
                  struct cpl_error *why)
{
	const struct cpl_profile_wanted wanted = cpl_record_profile(r);
	char *path = r->profile ? cpl_profiles_file(&site->dirs, &wanted, NULL)
	                        : NULL;

	blame_file(path, r->time, why);
	blame_file(site->net_path, r->time, why);
	blame_file(r->time_model, r->time, why);
	free(path);
}

/* A job that was requeued has the record of its last run only: did one of the
 * background begin again after this decision? */
static bool ran_again(const struct cpl_record *r, const char *state_dir,
                      struct cpl_error *why)
{
	for (int64_t i = 0; i < r->n_background; i++) {
		struct cpl_error err = {""};
		struct cpl_record *other = cpl_record_find(
		        state_dir, r->background[i], NULL, &err);
		bool later = other && other->time > r->time;

		cpl_record_free(other);
		if (later) {
			cpl_fail(why,
			         "background of job %lld: job %lld ran again "
			         "since, and the record is that of its last run",
			         (long long)r->job, (long long)r->background[i]);
			return true;
		}
	}
	return false;
}

enum replay_verdict replay_blame(const struct replay_site *site,
                                 const struct cpl_record *r,
                                 const char *state_dir, struct cpl_error *why)
{
	if (r->cut_short) {
		cpl_fail_prefix(why, "MaxDecisionTime had cut it short: ");
		return NOT_REPEATABLE;
	}
	if (ran_again(r, state_dir, why))
		return NOT_REPEATABLE;
	blame(site, r, why);
	return DIFFERENT;
}
