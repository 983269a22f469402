/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What callers of the store are told, and how long they wait for it. */
#include "site/store_internal.h"

#include <string.h>

#define FRESH_NS (STORE_FRESH_S * INT64_C(1000000000))

void cpl_store_answer_ready(struct cpl_profile *profile,
                            struct cpl_store_answer *answer)
{
	answer->found = CPL_FOUND_READY;
	answer->profile = cpl_profile_hold(profile);
	answer->ranks = profile->ranks;
	answer->stamp = profile->stamp;
	answer->recorded_ranks = profile->recorded_ranks;
	answer->rescaled = profile->recorded_ranks != profile->ranks;
	answer->rescale_error = profile->rescale_error;
	answer->change = profile->change;
}

/* Fill the answer by what is known now. False: a matrix is still to come. */
static bool answer_now(const struct store_entry *e,
                       struct cpl_store_answer *answer)
{
	answer->found = e->state.found;
	if (e->state.found != CPL_FOUND_LOADING) {
		answer->err = e->state.err;
		answer->why = e->state.why;
		return true;
	}
	if (!e->current)
		return false;
	cpl_store_answer_ready(e->profile, answer);
	return true;
}

static void no_answer(const char *file, struct cpl_error *err)
{
	cpl_fail(err,
	         "%s: the file system does not answer within MaxDecisionTime",
	         file);
}

/* The deadline has passed, or files hang: what is in memory, or why not. */
static void answer_late(const struct store_entry *e, bool stuck,
                        struct cpl_store_answer *answer)
{
	const char *file = e->path ? e->path : e->name;

	if (e->profile) {
		cpl_store_answer_ready(e->profile, answer);
	} else if (stuck) {
		answer->found = CPL_FOUND_TIMED_OUT;
		no_answer(file, &answer->err);
	} else {
		answer->found = CPL_FOUND_LOADING;
		cpl_fail(&answer->err, "%s: is still being read", file);
	}
}

/* Ask for what is missing for an answer. 1: nothing is, 0: it is under way. */
static int pursue(struct cpl_store *store, struct store_entry *e,
                  int64_t looked, struct cpl_store_answer *answer)
{
	if (e->looking)
		return 0;
	if (e->looked <= looked && !e->loading)
		return store_queue(store, e, false, &answer->err);
	if (e->looked > looked && answer_now(e, answer))
		return 1;
	if (store_start_load(store, e, &answer->err))
		return -1;
	return e->current && e->looked > looked && answer_now(e, answer);
}

static bool queue_stuck(const struct cpl_store *store,
                        const struct store_entry *e, int64_t since)
{
	return store_in_hand(e) &&
	       cpl_worker_owner_stuck(store->worker, e->queue, store_owner(e),
	                              since);
}

static void find(struct cpl_store *store, struct store_entry *e,
                 const struct cpl_store_query *query,
                 struct cpl_store_answer *answer)
{
	int64_t begin = cpl_now(), budget = query->deadline - begin;
	/* Looks that ended before this are too old. */
	int64_t looked = query->fresh ? begin : begin - FRESH_NS;
	bool stuck = false;
	int rc;

	e->used = ++store->clock;
	if (query->job)
		e->of_job = begin;
	e->waiting++;
	if (e->no_memory) {
		e->no_memory = false;
		e->looked = 0;
		e->failed = e->failed ? 1 : 0;
	}
	for (;;) {
		rc = pursue(store, e, looked, answer);
		if (rc)
			break;
		/* What does not come back would cost every job its budget. */
		stuck = queue_stuck(store, e,
		                    begin - (budget > 0 ? budget : 0));
		if (stuck || budget <= 0)
			break;
		if (!cpl_cond_wait_until(&store->change, &store->lock,
		                         query->deadline)) {
			rc = pursue(store, e, looked, answer);
			stuck = queue_stuck(store, e, begin + budget / 2);
			break;
		}
	}
	e->waiting--;
	if (rc < 0) {
		answer->found = CPL_FOUND_UNREADABLE;
		return;
	}
	answer->own = e->own;
	answer->ranks = e->state.ranks;
	answer->stamp = e->n_files ? e->file[0].mark.stamp : e->seen;
	if (!rc)
		answer_late(e, stuck, answer);
}

/* The entry of a query, or NULL with *full or without memory. What is in hand
 * is waited for, as far as it moves at all. */
static struct store_entry *get_entry(struct cpl_store *store,
                                     const struct cpl_store_query *query,
                                     bool own, bool *full)
{
	enum cpl_queue queue = own ? CPL_QUEUE_HOME : CPL_QUEUE_LOOK;
	int64_t begin = cpl_now(), budget = query->deadline - begin;
	struct store_entry *e;

	for (;;) {
		e = store_entry_get(store, query, own, full);
		if (!*full || budget <= 0 ||
		    cpl_worker_owner_stuck(store->worker, queue,
		                           own ? query->uid : 0,
		                           begin - budget) ||
		    !cpl_cond_wait_until(&store->change, &store->lock,
		                         query->deadline))
			return e;
	}
}

static void find_in(struct cpl_store *store,
                    const struct cpl_store_query *query, bool own,
                    struct cpl_store_answer *answer)
{
	struct store_entry *e;
	bool full;

	*answer = (struct cpl_store_answer){.found = CPL_FOUND_UNREADABLE};
	pthread_mutex_lock(&store->lock);
	e = get_entry(store, query, own, &full);
	if (e) {
		find(store, e, query, answer);
	} else if (full) {
		answer->found = CPL_FOUND_TIMED_OUT;
		no_answer(query->name, &answer->err);
	} else {
		cpl_fail_memory(&answer->err);
	}
	pthread_mutex_unlock(&store->lock);
}

/* The user's own one. A home that does not answer leaves half of the time for
 * the site's. */
static void find_own(struct cpl_store *store,
                     const struct cpl_store_query *query,
                     struct cpl_store_answer *answer)
{
	struct cpl_store_query half = *query;
	int64_t now = cpl_now();

	if (query->dir && half.deadline > now)
		half.deadline = now + (half.deadline - now) / 2;
	find_in(store, &half, true, answer);
}

/* By an answer for the user's own folder: does the site's profile count? */
static bool is_passed_over(enum cpl_found own)
{
	return own == CPL_FOUND_MISSING || own == CPL_FOUND_UNREADABLE ||
	       own == CPL_FOUND_TIMED_OUT;
}

static void find_any(struct cpl_store *store,
                     const struct cpl_store_query *query,
                     struct cpl_store_answer *answer)
{
	struct cpl_store_answer own = {.found = CPL_FOUND_MISSING};

	if (query->user_dir)
		find_own(store, query, &own);
	if (query->dir && is_passed_over(own.found))
		find_in(store, query, false, answer);
	else
		*answer = own;
	answer->home_hangs = own.found == CPL_FOUND_TIMED_OUT;
	/* It may be the user's that was meant. */
	if (answer->found == CPL_FOUND_MISSING &&
	    own.found != CPL_FOUND_MISSING)
		*answer = own;
}

void cpl_store_find(struct cpl_store *store,
                    const struct cpl_store_query *query,
                    struct cpl_store_answer *answer)
{
	*answer = (struct cpl_store_answer){.found = CPL_FOUND_BAD_NAME};
	if (cpl_profile_name_check(query->name, &answer->err))
		return;
	find_any(store, query, answer);
	store_check_rights(store, query, answer);
}

void cpl_store_prefetch(struct cpl_store *store,
                        const struct cpl_store_query *query)
{
	struct store_entry *e;
	bool full;

	if (cpl_profile_name_check(query->name, NULL))
		return;
	pthread_mutex_lock(&store->lock);
	e = store_entry_get(store, query, query->user_dir != NULL, &full);
	if (e && query->job)
		e->of_job = cpl_now();
	if (e && (!e->looked || cpl_now() - e->looked > FRESH_NS)) {
		e->wanted = true;
		if (!store_in_hand(e))
			store_queue(store, e, false, NULL);
	} else if (e) {
		store_start_load(store, e, NULL);
	}
	pthread_mutex_unlock(&store->lock);
}
