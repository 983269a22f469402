/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which profiles the store knows of, and which of them stay in memory. */
#include "site/store_internal.h"

#include <stdlib.h>
#include <string.h>

/* The part of the limit in which profiles are kept, besides the last one. */
#define KEPT_PART 4
/* A job that waits asks for its profile more often than this. */
#define JOB_NS (600 * INT64_C(1000000000))

void store_files_free(struct cpl_signature_file *file, int n)
{
	for (int i = 0; i < n; i++)
		free(file[i].path);
	free(file);
}

bool store_in_hand(const struct store_entry *e)
{
	return e->looking || e->loading;
}

static void entry_free(struct store_entry *e)
{
	cpl_profile_drop(e->profile);
	store_files_free(e->file, e->n_files);
	cpl_free_all(e->dir, e->name, e->path, e);
}

void store_drop_profile(struct store_entry *e)
{
	cpl_profile_drop(e->profile);
	e->profile = NULL;
	e->current = false;
}

void store_forget(struct cpl_store *store, struct store_entry *e)
{
	struct store_entry **at = &store->entry;

	while (*at != e)
		at = &(*at)->next;
	*at = e->next;
	entry_free(e);
}

/* Entries of the site, of all users' homes, or of one. */
struct entry_kind {
	bool own;
	const uid_t *uid; /* NULL: whoever's */
	bool useless;     /* only those */
};

/* No job can be placed by it: none of that name, or for other ranks. */
static bool is_useless(const struct store_entry *e)
{
	return e->looked && !store_in_hand(e) &&
	       e->state.found != CPL_FOUND_LOADING;
}

static bool is_of(const struct store_entry *e, const struct entry_kind *kind)
{
	return e->own == kind->own && (!kind->uid || e->uid == *kind->uid) &&
	       (!kind->useless || is_useless(e));
}

/* What no job has asked for since then goes first, of such the least used. */
static bool goes_before(const struct store_entry *a,
                        const struct store_entry *b, int64_t since)
{
	bool kept = a->of_job > since;

	return kept != (b->of_job > since) ? !kept : a->used < b->used;
}

/* The least used entry (of a kind, NULL: any) that nobody has in hand, other
 * than one; of those without a profile in memory, too, jobs' last. NULL: none. */
static struct store_entry *least_used(struct cpl_store *store,
                                      const struct entry_kind *kind,
                                      const struct store_entry *other,
                                      bool with_profile)
{
	int64_t since = with_profile ? INT64_MAX : cpl_now() - JOB_NS;
	struct store_entry *least = NULL;

	for (struct store_entry *e = store->entry; e; e = e->next)
		if (e != other && !store_in_hand(e) && !e->waiting &&
		    (!kind || is_of(e, kind)) &&
		    (e->profile || !with_profile) &&
		    (!least || goes_before(e, least, since)))
			least = e;
	return least;
}

static int count(const struct cpl_store *store, const struct entry_kind *kind,
                 bool in_hand)
{
	int n = 0;

	for (const struct store_entry *e = store->entry; e; e = e->next)
		n += is_of(e, kind) && (!in_hand || store_in_hand(e));
	return n;
}

/* For one more entry, at the cost of the least used of its own kind: no home
 * takes the place of the site's, nor of many others. False: there is none. */
static bool make_room(struct cpl_store *store, bool own, uid_t uid)
{
	const struct entry_kind all = {own, NULL, false},
	                        of_user = {true, &uid, false};
	const struct entry_kind useless = {false, NULL, true};
	const struct entry_kind *full = NULL;
	struct store_entry *e;

	if (own && count(store, &of_user, true) >= STORE_USER_IN_HAND)
		return false;
	if (own && count(store, &of_user, false) >= STORE_USER_ENTRIES)
		full = &of_user;
	else if (!own && count(store, &useless, false) >= STORE_SITE_USELESS)
		full = &useless;
	else if (count(store, &all, false) >=
	         (own ? STORE_HOME_ENTRIES : STORE_SITE_ENTRIES))
		full = &all;
	if (!full)
		return true;
	e = least_used(store, full, NULL, false);
	if (e)
		store_forget(store, e);
	return e != NULL;
}

/* Does an entry before this one hold the same profile? */
static bool is_shared(const struct cpl_store *store,
                      const struct store_entry *e)
{
	for (const struct store_entry *o = store->entry; o != e; o = o->next)
		if (o->profile == e->profile)
			return true;
	return false;
}

void store_shrink(struct cpl_store *store, const struct store_entry *last)
{
	uint64_t bytes = 0;
	struct store_entry *e;

	for (e = store->entry; e; e = e->next)
		bytes += e->profile && !is_shared(store, e) ? e->profile->bytes
		                                            : 0;
	while (bytes > store->max_bytes / KEPT_PART &&
	       (e = least_used(store, NULL, last, true))) {
		bytes -= is_shared(store, e) ? 0 : e->profile->bytes;
		store_drop_profile(e);
	}
}

struct store_entry *store_entry_get(struct cpl_store *store,
                                    const struct cpl_store_query *query,
                                    bool own, bool *full)
{
	const char *dir = own ? query->user_dir : query->dir;
	struct store_entry *e = store->entry;

	*full = false;
	while (e && (e->ranks != query->ranks || e->own != own ||
	             (own && e->uid != query->uid) ||
	             strcmp(e->name, query->name) || strcmp(e->dir, dir)))
		e = e->next;
	if (e)
		return e;
	*full = !make_room(store, own, query->uid);
	if (*full)
		return NULL;
	e = calloc(1, sizeof(*e));
	if (!e)
		return NULL;
	e->dir = strdup(dir);
	e->name = strdup(query->name);
	e->own = own;
	e->uid = own ? query->uid : 0;
	e->ranks = query->ranks;
	if (!e->dir || !e->name) {
		entry_free(e);
		return NULL;
	}
	e->next = store->entry;
	store->entry = e;
	return e;
}
