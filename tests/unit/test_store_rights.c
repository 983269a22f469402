/* SPDX-License-Identifier: GPL-2.0-or-later */
/* To whom the store hands a profile, and what it asks the system for that. */
#include "commplace-config.h"

#include <errno.h>
#include <ftw.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

#include "base/file.h"
#include "site/store.h"

static char dir[] = "/tmp/commplace-rights-XXXXXX";
#include "in_dir.h"

#define SECOND INT64_C(1000000000)
#define USER 4711
#define STRANGER 4712

static struct cpl_worker *worker;
static struct cpl_store *store;

/* The database of users: USER is in groups 21 .. 20 + many. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t change = PTHREAD_COND_INITIALIZER;
static bool hangs, fails;
static int asked, many;

int getpwuid_r(uid_t uid, struct passwd *entry, char *text, size_t size,
               struct passwd **found)
{
	pthread_mutex_lock(&lock);
	asked++;
	while (hangs)
		pthread_cond_wait(&change, &lock);
	pthread_mutex_unlock(&lock);
	*found = NULL;
	if (fails)
		return EIO;
	if (uid != USER)
		return 0;
	*entry = (struct passwd){.pw_name = (char *)"user", .pw_gid = 20};
	*found = entry;
	return 0;
}

int getgrouplist(const char *name, gid_t first, gid_t *group, int *n)
{
	int room = *n;

	*n = many + 1;
	for (int i = 0; i < room && i < *n; i++)
		group[i] = first + (gid_t)i;
	return room < *n ? -1 : *n;
}

static void set_hang(bool now)
{
	pthread_mutex_lock(&lock);
	hangs = now;
	pthread_cond_broadcast(&change);
	pthread_mutex_unlock(&lock);
}

static int remove_one(const char *path, const struct stat *st, int type,
                      struct FTW *ftw)
{
	return remove(path);
}

static int set_up(void **state)
{
	memcpy(dir + sizeof(dir) - 7, "XXXXXX", 6);
	assert_non_null(mkdtemp(dir));
	worker = cpl_worker_new(NULL);
	store = cpl_store_new(worker, NULL, NULL, NULL);
	asked = many = 0;
	hangs = fails = false;
	put("a.json", "{\"format\": \"commplace-signature\", \"version\": 1, "
	              "\"ranks\": 4, \"phases\": [{\"name\": \"p\", "
	              "\"weight\": 1, \"traffic\": [[0, 1, 100, 1]]}]}");
	return 0;
}

static int tear_down(void **state)
{
	set_hang(false);
	assert_true(
	        cpl_worker_stop(worker, cpl_now() + 20 * SECOND, NULL, NULL));
	cpl_store_free(store);
	cpl_worker_free(worker);
	nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	return 0;
}

static enum cpl_found ask(const struct cpl_store_query *how, int64_t wait)
{
	struct cpl_store_query query = *how;
	struct cpl_store_answer answer;

	query.dir = dir;
	query.name = "a";
	query.fresh = true;
	query.deadline = cpl_now() + wait;
	cpl_store_find(store, &query, &answer);
	assert_true((answer.found == CPL_FOUND_READY) ==
	            (answer.profile != NULL));
	/* Nothing else is told of what is another's. */
	if (answer.found == CPL_FOUND_DENIED) {
		assert_non_null(strstr(answer.err.text, "not yours to use"));
		assert_int_equal(answer.ranks + answer.stamp.size, 0);
		assert_null(strstr(answer.err.text, "ranks"));
	}
	cpl_profile_drop(answer.profile);
	return answer.found;
}

static void own(uid_t uid, gid_t gid, mode_t mode)
{
	if (!getuid())
		assert_int_equal(chown(in_dir("a.json"), uid, gid), 0);
	assert_int_equal(chmod(in_dir("a.json"), mode), 0);
}

static void test_who_may(void **state)
{
	static const gid_t groups[] = {7, 33};
	static const struct {
		mode_t mode;
		uid_t owner;
		gid_t group;
		struct cpl_store_query query;
		bool may;
	} row[] = {
	        {0644, 1, 1, {.whom = CPL_FOR_ALL}, true},
	        {0640, 1, 1, {.whom = CPL_FOR_ALL}, false},
	        /* Left out, nobody is meant: not root. */
	        {0600, 0, 0, {0}, false},
	        {0600, 1, 1, {.whom = CPL_FOR_US}, true},
	        {0600, 1, 1, {.whom = CPL_FOR_USER}, true},
	        {0600, 1, 1, {.whom = CPL_FOR_USER, .uid = USER}, false},
	        {0600, USER, 1, {.whom = CPL_FOR_USER, .uid = USER}, true},
	        {0640, 1, 25, {.whom = CPL_FOR_USER, .uid = USER}, true},
	        {0640, 1, 20, {.whom = CPL_FOR_USER, .uid = USER}, true},
	        {0640, 1, 26, {.whom = CPL_FOR_USER, .uid = USER}, false},
	        {0640, 1, 25, {.whom = CPL_FOR_USER, .uid = STRANGER}, false},
	        {0640, 1, 9, {.whom = CPL_FOR_USER, .uid = STRANGER, .gid = 9},
	         true},
	        {0604, 1, 9, {.whom = CPL_FOR_USER, .uid = STRANGER, .gid = 9},
	         false},
	        {0640, 1, 33, {.whom = CPL_FOR_USER, .uid = STRANGER,
	                       .groups = groups, .n_groups = 2}, true},
	        {0640, 1, 25, {.whom = CPL_FOR_USER, .uid = USER,
	                       .groups = groups, .n_groups = 2}, false},
	        /* Its ranks do not matter. */
	        {0600, 1, 1, {.whom = CPL_FOR_USER, .uid = USER, .ranks = 9},
	         false},
	};

	if (getuid())
		skip();
	many = 5;
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		own(row[i].owner, row[i].group, row[i].mode);
		if (ask(&row[i].query, 20 * SECOND) !=
		    (row[i].may ? CPL_FOUND_READY : CPL_FOUND_DENIED))
			fail_msg("row %zu", i);
	}
}

/* The user of one file: once a minute, whatever its many jobs. */
static void test_groups_are_remembered(void **state)
{
	const struct cpl_store_query query = {.whom = CPL_FOR_USER,
	                                      .uid = USER};

	if (getuid())
		skip();
	many = 3000;
	own(1, 20 + 3000, 0640);
	for (int i = 0; i < 10; i++)
		assert_int_equal(ask(&query, 20 * SECOND), CPL_FOUND_READY);
	assert_int_equal(asked, 1);
	/* Others do not push it out before many have come. */
	for (int i = 0; i < 300; i++) {
		struct cpl_store_query other = {.whom = CPL_FOR_USER,
		                                .uid = 10000 + (uid_t)i};

		assert_int_equal(ask(&other, 20 * SECOND), CPL_FOUND_DENIED);
		assert_int_equal(ask(&query, 20 * SECOND), CPL_FOUND_READY);
	}
	assert_int_equal(asked, 301);
}

static void test_a_database_that_hangs(void **state)
{
	const struct cpl_store_query query = {.whom = CPL_FOR_USER,
	                                      .uid = USER};
	const struct cpl_store_query other = {.whom = CPL_FOR_USER,
	                                      .uid = STRANGER, .gid = 25};

	if (getuid())
		skip();
	many = 5;
	own(1, 25, 0640);
	set_hang(true);
	/* Three deadlines long there is one question. */
	for (int i = 0; i < 3; i++)
		assert_int_equal(ask(&query, SECOND / 10), CPL_FOUND_TIMED_OUT);
	assert_int_equal(asked, 1);
	/* Who needs no answer does not wait for it. */
	assert_int_equal(ask(&other, 20 * SECOND), CPL_FOUND_READY);
	set_hang(false);
	assert_int_equal(ask(&query, 20 * SECOND), CPL_FOUND_READY);
	assert_int_equal(asked, 1);
}

/* A failure is no answer, and is not remembered. */
static void test_a_database_that_fails(void **state)
{
	const struct cpl_store_query query = {.whom = CPL_FOR_USER,
	                                      .uid = USER};

	if (getuid())
		skip();
	many = 5;
	own(1, 25, 0640);
	fails = true;
	assert_int_equal(ask(&query, 20 * SECOND), CPL_FOUND_TIMED_OUT);
	fails = false;
	assert_int_equal(ask(&query, 20 * SECOND), CPL_FOUND_READY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	        T(test_who_may),
	        T(test_groups_are_remembered),
	        T(test_a_database_that_hangs),
	        T(test_a_database_that_fails),
#undef T
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
