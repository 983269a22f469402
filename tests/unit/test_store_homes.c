/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The store and users' own profiles: whose they are, and homes that hang. */
#include "store_fixture.h"

#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "site/user_dir.h"

/* Every number is a user's; two have names that lead elsewhere. */
#define DOTS 4712u
#define A_SLASH 4713u

int getpwuid_r(uid_t uid, struct passwd *entry, char *text, size_t size,
               struct passwd **found)
{
	memset(entry, 0, sizeof(*entry));
	snprintf(text, size,
	         uid == DOTS      ? ".."
	         : uid == A_SLASH ? "a/b"
	                          : "user%u",
	         (unsigned)uid);
	entry->pw_name = text;
	entry->pw_uid = uid;
	entry->pw_gid = uid;
	*found = entry;
	return 0;
}

static struct cpl_store_answer ask_as(uid_t uid, const char *pattern,
                                      const char *name)
{
	struct cpl_store_query query = {.dir = dir,
	                                .name = name,
	                                .user_dir = pattern,
	                                .uid = uid,
	                                .fresh = true,
	                                .deadline = cpl_now() + 20 * SECOND};
	struct cpl_store_answer answer;

	cpl_store_find(store, &query, &answer);
	cpl_profile_drop(answer.profile);
	return answer;
}

static void test_a_users_own(void **state)
{
	char pattern[128], folder[32];
	uid_t me = getuid(), other = me ? 0 : 65534;
	struct cpl_store_answer a;

	/* mkdtemp() makes it for us alone. */
	assert_int_equal(chmod(dir, 0755), 0);
	snprintf(folder, sizeof(folder), "u%u", (unsigned)me);
	assert_int_equal(mkdir(in_dir(folder), 0755), 0);
	snprintf(pattern, sizeof(pattern), "%s/u%%U", dir);
	profile("a", 4, PAIR);
	snprintf(folder, sizeof(folder), "u%u/a", (unsigned)me);
	profile(folder, 8, PAIR);
	snprintf(folder, sizeof(folder), "u%u/mine", (unsigned)me);
	profile(folder, 8, PAIR);
	a = ask_as(me, pattern, "a");
	assert_true(a.found == CPL_FOUND_READY && a.own && a.ranks == 8);
	a = ask_as(me, NULL, "a");
	assert_true(a.found == CPL_FOUND_READY && !a.own && a.ranks == 4);
	/* Others have not. */
	a = ask_as(other, pattern, "a");
	assert_true(a.found == CPL_FOUND_READY && !a.own && a.ranks == 4);
	a = ask_as(other, pattern, "mine");
	assert_int_equal(a.found, CPL_FOUND_MISSING);
	assert_string_equal(logged, "");
	/* What is in their folder has to be theirs. */
	snprintf(folder, sizeof(folder), "u%u", (unsigned)other);
	assert_int_equal(mkdir(in_dir(folder), 0777), 0);
	snprintf(folder, sizeof(folder), "u%u/mine", (unsigned)other);
	profile(folder, 8, PAIR);
	a = ask_as(other, pattern, "mine");
	assert_int_equal(a.found, CPL_FOUND_UNREADABLE);
	assert_non_null(strstr(a.err.text, "another user"));
	assert_string_equal(logged, "");
}

/* A file of the user's folder is the user's own. */
static void own_profile(uid_t uid, const char *name, int ranks,
                        const char *matrix)
{
	char folder[32], path[64];

	snprintf(folder, sizeof(folder), "u%u", (unsigned)uid);
	mkdir(in_dir(folder), 0700);
	assert_int_equal(chown(in_dir(folder), uid, uid), 0);
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	profile(path, ranks, matrix);
	snprintf(path, sizeof(path), "%s/%s.json", folder, name);
	assert_int_equal(chown(in_dir(path), uid, uid), 0);
}

/* Ask until it is known that nothing answers. */
static void expect_hung(struct cpl_store_query *query)
{
	struct cpl_store_answer a;

	do {
		query->deadline = cpl_now() + SECOND / 20;
		cpl_store_find(store, query, &a);
	} while (a.found == CPL_FOUND_LOADING);
	assert_int_equal(a.found, CPL_FOUND_TIMED_OUT);
	assert_non_null(strstr(a.err.text, "does not answer"));
}

#define HUNG 20

static void test_homes_that_hang(void **state)
{
	const uid_t well = 1 + HUNG;
	struct cpl_store_query query = {
	        .dir = dir, .name = "away", .ranks = 4, .fresh = true};
	struct cpl_store_answer a;
	char pattern[128];

	if (getuid())
		return;
	assert_int_equal(chmod(dir, 0755), 0);
	snprintf(pattern, sizeof(pattern), "%s/u%%U", dir);
	query.user_dir = pattern;
	own_profile(well, "a", 4, PAIR);
	profile("site", 4, PAIR);
	hang = true;
	for (query.uid = 1; query.uid < well; query.uid++)
		expect_hung(&query);
	assert_int_equal(hanging, HUNG);
	/* Other names of one of them wait behind, and take no other's place. */
	query.uid = 1;
	query.name = "away2";
	expect_hung(&query);
	assert_int_equal(hanging, HUNG);
	a = ask_as(well, pattern, "a");
	assert_true(a.found == CPL_FOUND_READY && a.own && !a.home_hangs);
	expect("site", 4, CPL_FOUND_READY, "");
	/* Fault: a home that hangs took the site's profiles from its user. */
	query.name = "site";
	query.deadline = cpl_now() + SECOND / 5;
	cpl_store_find(store, &query, &a);
	assert_true(a.found == CPL_FOUND_READY && !a.own && a.home_hangs);
	cpl_profile_drop(a.profile);
	hang = false;
	assert_true(cpl_worker_idle(worker, cpl_now() + 20 * SECOND));
}

/* However many names its user makes up. */
static void test_a_home_that_hangs_takes_no_place(void **state)
{
	struct cpl_store_query query = {
	        .dir = dir, .uid = 1, .ranks = 4, .fresh = true};
	struct cpl_store_answer a, site;
	char pattern[128], name[32];
	int n = 0, before;

	if (getuid())
		return;
	assert_int_equal(chmod(dir, 0755), 0);
	snprintf(pattern, sizeof(pattern), "%s/u%%U", dir);
	query.user_dir = pattern;
	query.name = name;
	profile("site", 4, PAIR);
	own_profile(2, "a", 4, PAIR);
	site = ask("site", 4, true, 20 * SECOND);
	a = ask_as(2, pattern, "a");
	assert_true(a.found == CPL_FOUND_READY && a.own);
	before = opened;
	hang = true;
	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "slow%d", i);
		expect_hung(&query);
	}
	for (const struct store_entry *e = store->entry; e; e = e->next)
		n += e->own && e->uid == 1;
	assert_in_range(n, 1, STORE_USER_IN_HAND);
	/* What others have is in memory still. */
	a = ask("site", 4, false, 0);
	assert_ptr_equal(a.profile, site.profile);
	cpl_profile_drop(a.profile);
	cpl_profile_drop(site.profile);
	query = (struct cpl_store_query){.dir = dir,
	                                 .user_dir = pattern,
	                                 .uid = 2,
	                                 .name = "a"};
	cpl_store_find(store, &query, &a);
	assert_true(a.found == CPL_FOUND_READY && a.own);
	cpl_profile_drop(a.profile);
	/* The home's own, as far as they were begun, and no more. */
	assert_in_range(opened - before, 1, STORE_USER_IN_HAND);
	hang = false;
}

/* What profiles take while they are read does not grow with the homes. */
static void test_homes_take_turns(void **state)
{
	struct cpl_store_query query = {.dir = dir, .name = "a", .ranks = 4};
	struct cpl_store_answer a;
	struct cpl_signature *sig;
	char pattern[128], file[64];
	const uid_t last = STORE_TURNS + 2;

	if (getuid())
		return;
	assert_int_equal(chmod(dir, 0755), 0);
	snprintf(pattern, sizeof(pattern), "%s/u%%U", dir);
	query.user_dir = pattern;
	profile("whole", 4, PAIR);
	sig = cpl_signature_load(in_dir("whole.json"), NULL);
	for (uid_t uid = 1; uid <= last; uid++) {
		own_profile(uid, "a", 4, "\"file\": \"slow.comm\"");
		assert_int_equal(
		        cpl_signature_write_binary(sig, in_dir("x.json"), NULL),
		        0);
		snprintf(file, sizeof(file), "u%u/slow.comm", (unsigned)uid);
		assert_int_equal(rename(in_dir("x.phase1.comm"), in_dir(file)),
		                 0);
		assert_int_equal(chown(in_dir(file), uid, uid), 0);
		assert_int_equal(unlink(in_dir("x.json")), 0);
	}
	cpl_signature_free(sig);
	hang = true;
	for (query.uid = 1; query.uid <= last; query.uid++)
		cpl_store_prefetch(store, &query);
	while (hanging < STORE_TURNS)
		usleep(1000);
	/* Others would come by now. */
	usleep(200000);
	assert_int_equal(hanging, STORE_TURNS);
	store->turn_ns = 1; /* none that hangs keeps it for ever */
	while (hanging < (int)last)
		usleep(1000);
	hang = false;
	for (uid_t uid = 1; uid <= last; uid++) {
		a = ask_as(uid, pattern, "a");
		if (a.found != CPL_FOUND_READY)
			fail_msg("%s", a.err.text);
	}
	assert_int_equal(store->turns, 0);
}

/* In a child, which loses what root may do beyond the user: 0, or a line. */
static int squashed(const char *pattern, uid_t user)
{
	struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct cap[2];
	const uint32_t lost =
	        1u << CAP_DAC_OVERRIDE | 1u << CAP_DAC_READ_SEARCH;
	struct cpl_store_query query = {
	        .dir = dir, .user_dir = pattern, .uid = user};
	struct cpl_store_answer a;

	if (syscall(SYS_capget, &head, cap))
		return __LINE__;
	cap[0].effective &= ~lost;
	cap[0].permitted &= ~lost;
	cap[0].inheritable &= ~lost;
	if (syscall(SYS_capset, &head, cap))
		return __LINE__;
	query.deadline = cpl_now() + 20 * SECOND;
	query.name = "none";
	cpl_store_find(store, &query, &a);
	if (a.found != CPL_FOUND_MISSING)
		return __LINE__;
	query.name = "sized";
	query.ranks = 16;
	cpl_store_find(store, &query, &a);
	if (a.found != CPL_FOUND_READY || !a.own || a.ranks != 16)
		return __LINE__;
	return 0;
}

/* A server of homes may give root less than a user. */
static void test_a_home_that_root_may_not_enter(void **state)
{
	const uid_t user = 65534;
	char pattern[128];
	int status, fd[2], line = -1;
	pid_t pid;

	if (getuid())
		return;
	assert_int_equal(chmod(dir, 0755), 0);
	snprintf(pattern, sizeof(pattern), "%s/u%%U", dir);
	own_profile(user, "sized@16", 16, PAIR);
	assert_int_equal(pipe(fd), 0);
	pid = fork();
	if (!pid) {
		line = squashed(pattern, user);
		_exit(write(fd[1], &line, sizeof(line)) != sizeof(line));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(read(fd[0], &line, sizeof(line)), sizeof(line));
	close(fd[0]);
	close(fd[1]);
	if (line)
		fail_msg("line %d", line);
}

/* Nobody reads what is another's into an error, wherever a folder leads. */
static void test_side_files_of_others(void **state)
{
	char pattern[128], folder[32];
	const uid_t user = 65534;
	struct cpl_store_answer a;

	if (getuid())
		return;
	assert_int_equal(chmod(dir, 0755), 0);
	snprintf(pattern, sizeof(pattern), "%s/u%%U", dir);
	snprintf(folder, sizeof(folder), "u%u", user);
	assert_int_equal(mkdir(in_dir(folder), 0755), 0);
	snprintf(folder, sizeof(folder), "u%u/a", user);
	profile(folder, 4, "\"file\": \"b.comm\"");
	snprintf(folder, sizeof(folder), "u%u/a.json", user);
	assert_int_equal(chown(in_dir(folder), user, user), 0);
	snprintf(folder, sizeof(folder), "u%u/b.comm", user);
	put(folder, "secret");
	a = ask_as(user, pattern, "a");
	assert_int_equal(a.found, CPL_FOUND_DAMAGED);
	assert_non_null(strstr(a.err.text, "b.comm: belongs to another user"));
}

#define A_GROUP 4711u

/* As the system's user database: many; this is the last. */
int getgrouplist(const char *user, gid_t gid, gid_t *group, int *n)
{
	int room = *n;

	for (unsigned i = *n = 300; i-- && room >= 300;)
		group[i] = i ? A_GROUP + 299 - i : gid;
	return room < 300 ? -1 : 300;
}

static void test_with_a_users_groups(void **state)
{
	char pattern[128];
	struct cpl_store_answer a;

	if (getuid() || prctl(PR_SET_DUMPABLE, 1))
		return;
	assert_int_equal(chmod(dir, 0755), 0);
	snprintf(pattern, sizeof(pattern), "%s/u%%U", dir);
	own_profile(65534, "a", 4, PAIR);
	assert_int_equal(chmod(in_dir("u65534"), 0750), 0);
	assert_int_equal(chown(in_dir("u65534"), 0, A_GROUP), 0);
	a = ask_as(65534, pattern, "a");
	assert_true(a.found == CPL_FOUND_READY && a.own);
	assert_int_equal(prctl(PR_GET_DUMPABLE), 1); /* a crash leaves a core */
}

/* As root: a user's folder leads nowhere that the user cannot go. */
static void test_with_a_users_rights(void **state)
{
	char pattern[128], folder[32], secret[64];
	const uid_t user = 65534;
	struct cpl_store_answer a;

	if (getuid())
		return;
	assert_int_equal(chmod(dir, 0755), 0);
	snprintf(pattern, sizeof(pattern), "%s/u%%U", dir);
	snprintf(secret, sizeof(secret), "%s/secret", dir);
	assert_int_equal(mkdir(secret, 0700), 0);
	profile("secret/a", 8, PAIR);
	assert_int_equal(chown(in_dir("secret/a.json"), user, user), 0);
	snprintf(folder, sizeof(folder), "u%u", user);
	assert_int_equal(symlink("secret", in_dir(folder)), 0);
	a = ask_as(user, pattern, "a");
	assert_int_equal(a.found, CPL_FOUND_UNREADABLE);
	assert_non_null(strstr(a.err.text, "Permission denied"));
	/* Root's rights are back. */
	profile("site", 4, PAIR);
	assert_int_equal(chmod(in_dir("site.json"), 0600), 0);
	expect("site", 4, CPL_FOUND_READY, "");
}

static void test_folders_of_users(void **state)
{
	static const struct {
		const char *pattern;
		uid_t uid;
		const char *path, *message; /* one of both */
	} row[] = {
	        {"/h/%u/p", 7, "/h/user7/p", NULL},
	        {"/h/%U/%U", 7, "/h/7/7", NULL},
	        {"/h/%U", DOTS, "/h/4712", NULL},
	        {"/h/%u", DOTS, NULL, "there is no user 4712"},
	        {"/h/%u", A_SLASH, NULL, "there is no user 4713"},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct cpl_error err = {""};
		char *path = cpl_user_dir(row[i].pattern, row[i].uid, &err);

		if (row[i].path)
			assert_string_equal(path, row[i].path);
		else
			assert_string_equal(err.text, row[i].message);
		assert_int_equal(!path, !row[i].path);
		free(path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	        T(test_a_users_own),
	        T(test_homes_that_hang),
	        T(test_a_home_that_hangs_takes_no_place),
	        T(test_homes_take_turns),
	        T(test_a_home_that_root_may_not_enter),
	        T(test_side_files_of_others),
	        T(test_with_a_users_groups),
	        T(test_with_a_users_rights),
	        T(test_folders_of_users),
#undef T
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
