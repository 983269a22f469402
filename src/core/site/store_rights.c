/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who is handed a profile. Groups are asked of the system's user database by a
 * thread of the worker, since a directory service may hang: Slurm's own cache
 * of them is asked under its lock, and 22.05 keeps that lock for ever when it
 * does not know the user.
 */
#include "site/store_internal.h"
#include "site/user_dir.h"

#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <sys/stat.h>

#define GROUPS_FRESH_NS (60 * INT64_C(1000000000))
#define USERS 256

/* Under the store's lock. */
struct store_user {
	struct store_user *next;
	uid_t uid;
	gid_t *group; /* [n] */
	int n;
	int64_t looked; /* ns, 0: never */
	bool looking;
	int waiting; /* callers */
	uint64_t used;
};

struct rights_look {
	struct cpl_request head;
	struct cpl_store *store;
	struct store_user *user;
};

/* How many, to free(); none of a user whom the system does not know. -1: the
 * database fails, or memory is out. */
static int groups_of(uid_t uid, gid_t **out)
{
	char text[16384];
	struct passwd entry, *found = NULL;
	int rc = getpwuid_r(uid, &entry, text, sizeof(text), &found);

	*out = NULL;
	if (found)
		return cpl_user_groups(entry.pw_name, entry.pw_gid, out);
	return !rc || rc == ENOENT || rc == ESRCH ? 0 : -1;
}

static void run_look(struct cpl_request *head)
{
	struct rights_look *look = (struct rights_look *)head;
	struct cpl_store *store = look->store;
	struct store_user *user = look->user;
	gid_t *group;
	int n = groups_of(user->uid, &group);

	pthread_mutex_lock(&store->lock);
	user->looking = false;
	if (n >= 0) {
		free(user->group);
		user->group = group;
		user->n = n;
		user->looked = cpl_now();
	}
	pthread_cond_broadcast(&store->change);
	pthread_mutex_unlock(&store->lock);
}

static void have_looked(struct cpl_store *store, struct store_user *user)
{
	struct rights_look *look = calloc(1, sizeof(*look));

	if (!look)
		return;
	look->head.run = run_look;
	look->head.owner = user->uid;
	look->store = store;
	look->user = user;
	user->looking = !cpl_worker_queue(store->worker, CPL_QUEUE_HOME,
	                                  &look->head, false, NULL);
}

static void forget(struct store_user **at)
{
	struct store_user *user = *at;

	*at = user->next;
	cpl_free_all(user->group, user);
}

void store_users_free(struct cpl_store *store)
{
	while (store->user)
		forget(&store->user);
}

/* One more, in the place of the least used where there are too many. NULL:
 * memory, or all are in hand. */
static struct store_user *add_user(struct cpl_store *store, uid_t uid)
{
	struct store_user **least = NULL, *user;
	int n = 0;

	for (struct store_user **at = &store->user; *at; at = &(*at)->next) {
		n++;
		if (!(*at)->looking && !(*at)->waiting &&
		    (!least || (*at)->used < (*least)->used))
			least = at;
	}
	if (n >= USERS && !least)
		return NULL;
	if (n >= USERS)
		forget(least);
	user = calloc(1, sizeof(*user));
	if (!user)
		return NULL;
	user->uid = uid;
	user->next = store->user;
	store->user = user;
	return user;
}

static struct store_user *get_user(struct cpl_store *store, uid_t uid)
{
	struct store_user *user = store->user;

	while (user && user->uid != uid)
		user = user->next;
	return user ? user : add_user(store, uid);
}

/* The groups of the query's user are known, or were; false: they do not come
 * before the deadline. */
static bool know(struct cpl_store *store, struct store_user *user,
                 int64_t deadline)
{
	int64_t begin = cpl_now(), budget = deadline - begin;

	user->used = ++store->clock;
	user->waiting++;
	if (!user->looking &&
	    (!user->looked || begin - user->looked > GROUPS_FRESH_NS))
		have_looked(store, user);
	/* What does not come back would cost every job its budget. */
	while (user->looking && budget > 0 &&
	       !cpl_worker_owner_stuck(store->worker, CPL_QUEUE_HOME, user->uid,
	                               begin - budget) &&
	       cpl_cond_wait_until(&store->change, &store->lock, deadline))
		;
	user->waiting--;
	return user->looked;
}

struct asking {
	struct cpl_store *store;
	const struct cpl_store_query *query;
	bool late;
};

static bool in_group(void *arg, gid_t gid)
{
	struct asking *asking = arg;
	const struct cpl_store_query *query = asking->query;
	struct cpl_store *store = asking->store;
	struct store_user *user;
	bool is = false;

	if (query->groups)
		return cpl_user_in_group(query->groups, query->n_groups, gid);
	pthread_mutex_lock(&store->lock);
	user = get_user(store, query->uid);
	if (user && know(store, user, query->deadline))
		is = cpl_user_in_group(user->group, user->n, gid);
	else
		asking->late = true;
	pthread_mutex_unlock(&store->lock);
	return is;
}

int cpl_store_may_read(struct cpl_store *store,
                       const struct cpl_store_query *query,
                       const struct cpl_file_stamp *stamp,
                       struct cpl_error *err)
{
	struct asking asking = {.store = store, .query = query};
	struct cpl_reader reader = {.uid = query->uid,
	                            .gid = query->gid,
	                            .in_group = in_group,
	                            .arg = &asking};

	if (query->whom == CPL_FOR_US)
		return 1;
	if (query->whom == CPL_FOR_ALL)
		return (stamp->mode & S_IROTH) != 0;
	if (cpl_file_readable_by(stamp, &reader) && !asking.late)
		return 1;
	return asking.late
	               ? cpl_fail(err,
	                          "the groups of user %u are not known yet: "
	                          "the system's user database does not answer",
	                          (unsigned)query->uid)
	               : 0;
}

void store_check_rights(struct cpl_store *store,
                        const struct cpl_store_query *query,
                        struct cpl_store_answer *answer)
{
	struct cpl_error why = {""};
	int may;

	/* The user's own are the user's own files. */
	if (answer->own || (!answer->stamp.mode && !answer->profile))
		return;
	may = cpl_store_may_read(store, query, &answer->stamp, &why);
	if (may > 0)
		return;
	cpl_profile_drop(answer->profile);
	*answer = (struct cpl_store_answer){
	        .found = may < 0 ? CPL_FOUND_TIMED_OUT : CPL_FOUND_DENIED,
	        .home_hangs = answer->home_hangs,
	        .err = why};
	if (!may)
		cpl_fail(&answer->err,
		         "profile '%s' is not yours to use: owner, group and "
		         "mode of its file do not let you read it",
		         query->name);
}
