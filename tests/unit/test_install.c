/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The life of profiles: install, sizes, versions, roll back, remove. */
#include "commplace-config.h"
#include <dirent.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

#include "base/file.h"
#include "signature/install.h"
#include "site/user_dir.h"

static char dir[] = "/tmp/commplace-install-XXXXXX";
#include "in_dir.h"

static int set_up(void **state)
{
	memcpy(dir + sizeof(dir) - 7, "XXXXXX", 6);
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *st, int type,
                      struct FTW *ftw)
{
	return remove(path);
}

static int tear_down(void **state)
{
	return nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* A signature of so many ranks, 0 sends `bytes` to 1. */
static struct cpl_signature *make(int ranks, int bytes)
{
	char text[512];
	struct cpl_signature *sig;

	snprintf(text, sizeof(text),
	         "{\"format\": \"commplace-signature\", \"version\": 1, "
	         "\"name\": \"x\", \"ranks\": %d, \"recorded\": {\"mpi\": "
	         "\"M\"}, \"phases\": [{\"traffic\": [[0, 1, %d, 1]]}]}",
	         ranks, bytes);
	sig = cpl_signature_parse(text, strlen(text), "test", NULL);
	assert_non_null(sig);
	return sig;
}

static int install_kept(const char *name, int ranks, int bytes, int keep)
{
	struct cpl_signature *sig = make(ranks, bytes);
	struct cpl_install how = {
	        .by = "ann", .from = "/tmp/x.json", .time = 86400, .keep = keep};
	struct cpl_error err = {""};
	int n = cpl_profile_install(dir, name, sig, &how, &err);

	if (n < 0)
		fail_msg("%s", err.text);
	cpl_signature_free(sig);
	return n;
}

static int install(const char *name, int ranks, int bytes)
{
	return install_kept(name, ranks, bytes, 9);
}

/* Bytes of the only pair of a file; -1: there is no such file. */
static int bytes_of(const char *file)
{
	struct cpl_error err = {""};
	struct cpl_signature *sig;
	int bytes;

	if (access(in_dir(file), F_OK))
		return -1;
	sig = cpl_signature_load(in_dir(file), &err);
	if (!sig)
		fail_msg("%s", err.text);
	bytes = (int)sig->phase[0].comm->bytes[0];
	cpl_signature_free(sig);
	return bytes;
}

/* Beside the one that is locked. */
static int files(void)
{
	struct dirent *entry;
	DIR *d = opendir(dir);
	int n = -2;

	while ((entry = readdir(d)))
		n += strcmp(entry->d_name, ".lock") != 0;
	closedir(d);
	return n;
}

/* "1:16 2:8*": versions with their ranks, * in use. */
static void expect_versions(const char *name, const char *want)
{
	struct cpl_version *v;
	char text[256] = "";
	int n = cpl_profile_versions(dir, name, &v, NULL);

	for (int i = 0, at = 0; i < n; i++)
		at += sprintf(text + at, "%s%d:%d%s", i ? " " : "", v[i].number,
		              v[i].ranks, v[i].in_use ? "*" : "");
	assert_string_equal(text, want);
	free(v);
}

static void expect_sizes(const char *name, const char *want)
{
	char text[256] = "";
	int *size, n = cpl_profile_sizes(dir, name, &size, NULL);

	for (int i = 0, at = 0; i < n; i++)
		at += sprintf(text + at, "%s%d", i ? " " : "", size[i]);
	assert_string_equal(text, want);
	free(size);
}

static void test_sizes_and_versions(void **state)
{
	struct cpl_signature *sig;
	char *path;

	assert_int_equal(install("milc", 16, 1), 1);
	assert_int_equal(install("milc", 16, 2), 2);
	assert_int_equal(install("milc", 64, 3), 3);
	assert_int_equal(install("milc", 8, 4), 4);
	assert_int_equal(install("milc-2", 4, 9), 1);
	assert_int_equal(bytes_of("milc.json"), 2);
	assert_int_equal(bytes_of("milc@64.json"), 3);
	assert_int_equal(bytes_of("milc@8.json"), 4);
	expect_sizes("milc", "8 16 64");
	expect_sizes("none", "");
	expect_versions("milc", "1:16 2:16* 3:64* 4:8*");
	path = cpl_profile_file(dir, "milc", 64, NULL);
	assert_string_equal(strrchr(path, '/'), "/milc@64.json");
	free(path);
	path = cpl_profile_file(dir, "milc", 16, NULL);
	assert_string_equal(strrchr(path, '/'), "/milc.json");
	free(path);
	/* Sizes are no names of their own. */
	sig = cpl_signature_load(in_dir("milc@64.json"), NULL);
	assert_string_equal(sig->name, "milc");
	assert_string_equal(sig->recorded,
	                    "{\"mpi\": \"M\", \"installed\": {\"version\": 3, "
	                    "\"date\": \"1970-01-02T00:00:00Z\", \"by\": "
	                    "\"ann\", \"from\": \"/tmp/x.json\"}}");
	cpl_signature_free(sig);
}

static void test_roll_back(void **state)
{
	struct cpl_error err = {""};

	install("a", 16, 1);
	install("a", 16, 2);
	install("a", 64, 3);
	assert_int_equal(cpl_profile_roll_back(dir, "a", 1, NULL), 0);
	assert_int_equal(bytes_of("a.json"), 1);
	expect_versions("a", "1:16* 2:16 3:64*");
	assert_int_equal(install("a", 16, 4), 4);
	assert_int_equal(cpl_profile_roll_back(dir, "a", 9, &err), -1);
	assert_string_equal(err.text,
	                    "a has no version 9; there are: 1, 2, 3, 4");
	/* A damaged version takes no good one's place. */
	put(".a@16.v2.json", "{");
	assert_int_equal(cpl_profile_roll_back(dir, "a", 2, &err), -1);
	assert_int_equal(bytes_of("a.json"), 4);
}

static void test_old_versions_go(void **state)
{
	for (int i = 1; i <= 5; i++)
		install_kept("a", 16, i, 2);
	install_kept("a", 8, 6, 2);
	expect_versions("a", "4:16 5:16* 6:8*");
	assert_int_equal(cpl_profile_roll_back(dir, "a", 4, NULL), 0);
	install_kept("a", 16, 7, 1);
	expect_versions("a", "6:8* 7:16*");
}

static void test_by_hand(void **state)
{
	struct cpl_signature *sig = make(16, 1);

	assert_int_equal(cpl_signature_write(sig, in_dir("a.json"), NULL), 0);
	cpl_signature_free(sig);
	assert_int_equal(chmod(in_dir("a.json"), 0640), 0);
	assert_int_equal(install("a", 16, 2), 2);
	expect_versions("a", "1:16 2:16*");
	assert_int_equal(cpl_profile_roll_back(dir, "a", 1, NULL), 0);
	assert_int_equal(bytes_of("a.json"), 1);
	/* Of another size it is in nobody's way; damaged, it is replaced. */
	put("b.json", "{");
	assert_int_equal(install("b", 8, 3), 1);
	assert_int_equal(bytes_of("b.json"), 3);
}

/* Bytes of what is found for so many ranks. */
static int bytes_for(int ranks)
{
	char *path = cpl_profile_file(dir, "a", ranks, NULL);
	int bytes = bytes_of(strrchr(path, '/') + 1);

	free(path);
	return bytes;
}

/* What is installed is what is found, whatever lies in the folder. */
static void test_files_that_hide(void **state)
{
	struct cpl_signature *sig = make(64, 3);
	struct cpl_error err = {""};

	install("a", 16, 1);
	install("a", 64, 2);
	assert_int_equal(cpl_signature_write(sig, in_dir("a.json"), NULL), 0);
	assert_int_equal(install("a", 64, 4), 3);
	assert_int_equal(bytes_for(64), 4);
	assert_int_equal(cpl_profile_roll_back(dir, "a", 2, NULL), 0);
	assert_int_equal(bytes_for(64), 2);
	expect_versions("a", "1:16 2:64* 3:64");
	/* A removal that was stopped. */
	install("a", 8, 5);
	assert_int_equal(unlink(in_dir("a.json")), 0);
	install("a", 8, 6);
	assert_int_equal(bytes_for(8), 6);
	assert_int_equal(bytes_of("a.json"), 6);
	put(".a@8.v2147483647.json", "{");
	assert_int_equal(
	        cpl_profile_install(
	                dir, "a", sig, &(struct cpl_install){.keep = 1}, &err),
	        -1);
	assert_non_null(strstr(err.text, "no version after that"));
	cpl_signature_free(sig);
}

static void test_nearest(void **state)
{
	static const struct {
		int ranks;
		const char *file;
	} row[] = {{16, "a.json"},  {8, "a.json"},     {33, "a@64.json"},
	           {0, "a.json"},   {32, "a.json"},    {64, "a@64.json"},
	           {999, "a@64.json"}};
	char *path, text[70000];

	install("a", 16, 1);
	install("a", 64, 2);
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		path = cpl_profile_nearest(dir, "a", row[i].ranks, NULL, 0,
		                           NULL);
		assert_string_equal(strrchr(path, '/') + 1, row[i].file);
		free(path);
	}
	/* No file is read for its ranks: it may be a large one. */
	sprintf(text,
	        "{\"format\": \"commplace-signature\", \"version\": 1, "
	        "\"phases\": [{\"traffic\": [[0, 1, 3, %*s1]]}], "
	        "\"ranks\": 1000}",
	        66000, "");
	put("a.json", text);
	assert_int_equal(bytes_of("a.json"), 3);
	path = cpl_profile_nearest(dir, "a", 70, NULL, 0, NULL);
	assert_string_equal(strrchr(path, '/'), "/a.json");
	free(path);
}

/* A path need not be UTF-8: the rest of the origin stays. */
static void test_origin(void **state)
{
	struct cpl_signature *sig = make(4, 1);
	struct cpl_install how = {.from = "/tmp/\xff.json", .keep = 1};

	assert_int_equal(cpl_profile_install(dir, "a", sig, &how, NULL), 1);
	assert_string_equal(sig->recorded,
	                    "{\"mpi\":\"M\",\"installed\":{\"version\":1,"
	                    "\"date\":\"1970-01-01T00:00:00Z\"}}");
	cpl_signature_free(sig);
}

/* How far a version is from the one whose place it takes. */
static void test_distance(void **state)
{
	static const struct {
		const char *traffic;
		double change;
	} row[] = {
	        {"[0, 1, 6, 1]", -1},
	        {"[0, 1, 60, 1]", 0}, /* more of the same */
	        {"[0, 1, 6, 1], [2, 3, 2, 1]", 0.25},
	        {"[1, 0, 9, 1]", 1},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct cpl_install how = {.keep = 1};
		struct cpl_signature *sig;
		char text[512];

		snprintf(text, sizeof(text),
		         "{\"format\": \"commplace-signature\", \"version\": "
		         "1, \"ranks\": 4, \"phases\": [{\"traffic\": "
		         "[%s]}]}",
		         row[i].traffic);
		sig = cpl_signature_parse(text, strlen(text), "test", NULL);
		assert_true(cpl_profile_change(sig) < 0);
		assert_int_equal(cpl_profile_install(dir, "a", sig, &how, NULL),
		                 i + 1);
		cpl_signature_free(sig);
		sig = cpl_profile_load(dir, "a", NULL);
		assert_true(cpl_profile_change(sig) == row[i].change);
		cpl_signature_free(sig);
		/* Of another size: nothing to compare with. */
		if (!i)
			install("a", 8, 1);
		if (!i)
			assert_int_equal(cpl_profile_remove(dir, "a", 8, NULL),
			                 0);
	}
}

static void test_record_name(void **state)
{
	static const struct {
		const char *pattern, *job, *name, *error;
	} row[] = {
	        {"milc", "x", "milc", NULL},
	        {"%x", "vasp.5", "vasp.5", NULL},
	        {"a-%x-%x", "b", "a-b-b", NULL},
	        {"%x", "my job/../\xff", "my-job-..--", NULL},
	        {"%x", "", NULL, "profile name"},
	        {"%x", ".hidden", "_hidden", NULL},
	        {"%x", "-n", "_n", NULL},
	        {"%x", "/a/b", "_a-b", NULL},
	        {"-%x", "a", NULL, "profile name"},
	        {".%x", "a", NULL, "profile name"},
	        {"%u", "x", NULL, "profile name"},
	        {"../x", "x", NULL, "profile name"},
	        {"%x%x%x%x%x%x%x%x%x%x", "0123456789abc", NULL, "too long"},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		char name[CPL_PROFILE_NAME_MAX + 1];
		struct cpl_error err = {""};
		int rc = cpl_record_name(row[i].pattern, row[i].job, name,
		                         sizeof(name), &err);

		assert_int_equal(rc, row[i].name ? 0 : -1);
		if (row[i].name)
			assert_string_equal(name, row[i].name);
		else
			assert_non_null(strstr(err.text, row[i].error));
	}
}

/* Who may only read the folder cannot lock it; who may write to it can. */
static void test_who_may_lock(void **state)
{
	static const struct {
		mode_t folder, lock;
	} row[] = {{0755, 0600}, {0775, 0660}, {0700, 0600}, {01777, 0666}};
	struct stat st;

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		assert_int_equal(chmod(dir, row[i].folder), 0);
		install("a", 4, 1);
		assert_int_equal(stat(in_dir(".lock"), &st), 0);
		assert_int_equal(st.st_mode & 0777, row[i].lock);
		assert_int_equal(unlink(in_dir(".lock")), 0);
	}
	/* Nor does a link of that name make us open something else. */
	assert_int_equal(symlink("/etc/passwd", in_dir(".lock")), 0);
	assert_int_equal(cpl_profile_remove(dir, "a", 0, NULL), -1);
	assert_int_equal(unlink(in_dir(".lock")), 0);
}

/* Root may be the first in a user's store, and not the last. */
static void test_whose_lock_it_is(void **state)
{
	struct stat st;

	if (getuid())
		skip();
	assert_int_equal(chown(dir, 65534, 65533), 0);
	install("a", 4, 1);
	assert_int_equal(stat(in_dir(".lock"), &st), 0);
	assert_int_equal(st.st_uid, 65534);
	assert_int_equal(st.st_gid, 65533);
	/* One of root's that is there, from before. */
	assert_int_equal(chown(in_dir(".lock"), 0, 0), 0);
	install("a", 4, 2);
	assert_int_equal(stat(in_dir(".lock"), &st), 0);
	assert_int_equal(st.st_uid, 65534);
	/* But no other file of root's that a user has found room for here. */
	assert_int_equal(chown(in_dir(".lock"), 0, 0), 0);
	assert_int_equal(link(in_dir(".lock"), in_dir("other")), 0);
	install("a", 4, 3);
	assert_int_equal(stat(in_dir("other"), &st), 0);
	assert_int_equal(st.st_uid, 0);
}

static void test_modes_stay(void **state)
{
	struct stat st;

	install("a", 16, 1);
	assert_int_equal(chmod(in_dir("a.json"), 0600), 0);
	install("a", 16, 2);
	assert_int_equal(stat(in_dir("a.json"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(stat(in_dir(".a@16.v2.json"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

static void test_remove(void **state)
{
	struct cpl_error err = {""};

	install("a", 16, 1);
	install("a", 64, 2);
	install("a", 8, 3);
	install("ab", 4, 4);
	assert_int_equal(cpl_profile_remove(dir, "a", 32, &err), -1);
	assert_string_equal(err.text, "a has no 32 ranks; there are: 8, 16, 64");
	assert_int_equal(cpl_profile_remove(dir, "a", 64, NULL), 0);
	expect_versions("a", "1:16* 3:8*");
	/* The one of the name itself: the smallest other takes its place. */
	assert_int_equal(cpl_profile_remove(dir, "a", 16, NULL), 0);
	assert_int_equal(bytes_of("a.json"), 3);
	expect_versions("a", "3:8*");
	assert_int_equal(install("a", 8, 5), 4);
	assert_int_equal(cpl_profile_remove(dir, "a", 0, NULL), 0);
	assert_int_equal(files(), 2);
	assert_int_equal(cpl_profile_remove(dir, "a", 0, &err), -1);
	assert_non_null(strstr(err.text, "a.json: No such file"));
	assert_int_equal(cpl_profile_remove(dir, "ab", 4, NULL), 0);
	assert_int_equal(files(), 0);
}

static void test_large_ones_have_side_files(void **state)
{
	static const char text[] =
	        "{\"format\": \"commplace-signature\", \"version\": 1, "
	        "\"ranks\": 400, \"phases\": [{\"pattern\": {\"type\": "
	        "\"many-to-many\", \"dims\": [400], \"axis\": 0, \"bytes\": "
	        "7}}]}";
	struct cpl_install how = {.keep = 1};

	for (int i = 1; i <= 2; i++) {
		struct cpl_signature *sig = cpl_signature_parse(
		        text, strlen(text), "test", NULL);

		assert_int_equal(cpl_profile_install(dir, "a", sig, &how, NULL),
		                 i);
		cpl_signature_free(sig);
	}
	assert_int_equal(bytes_of("a.json"), 7);
	/* What is left of the first version is nothing. */
	assert_int_equal(files(), 3);
	assert_int_equal(access(in_dir(".a@400.v2.phase1.comm"), F_OK), 0);
	/* What a crash left does not stop the next. */
	put(".a@400.v3.phase1.comm", "x");
	install("a", 400, 1);
	expect_versions("a", "2:400 4:400*");
}

static void test_refused(void **state)
{
	struct cpl_signature *sig = make(4, 1);
	struct cpl_install how = {.keep = 1};
	struct cpl_error err = {""};

	assert_int_equal(cpl_profile_install(dir, "../a", sig, &how, &err), -1);
	assert_non_null(strstr(err.text, "not a profile name"));
	assert_int_equal(
	        cpl_profile_install("/no/such", "a", sig, &how, &err), -1);
	assert_string_equal(err.text, "/no/such: No such file or directory");
	assert_int_equal(cpl_profile_remove("/no/such", "a", 0, &err), -1);
	assert_int_equal(cpl_profile_roll_back("/no/such", "a", 1, &err), -1);
	cpl_signature_free(sig);
	assert_int_equal(files(), 0);
}

static void test_where_users_have_theirs(void **state)
{
	static const struct {
		const char *pattern, *path, *error;
	} row[] = {
	        {"/home/%u/p", "/home/root/p", ""},
	        {"/s/%U", "/s/0", ""},
	        {"/s/%U/%u", "/s/0/root", ""},
	        {"s/%U", NULL, " is a relative path; give one that starts"},
	        {"/s/%d", NULL, " holds a % that is neither"},
	        {"/s/%U%", NULL, " holds a % that is neither"},
	        {"/s", NULL, " is one folder for all users"},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct cpl_error err = {""};
		int rc = cpl_user_dir_check(row[i].pattern, &err);
		char *path;

		assert_int_equal(rc, row[i].path ? 0 : -1);
		assert_ptr_equal(strstr(err.text, row[i].error), err.text);
		if (rc)
			continue;
		path = cpl_user_dir(row[i].pattern, 0, &err);
		assert_string_equal(path, row[i].path);
		free(path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	        T(test_sizes_and_versions),
	        T(test_roll_back),
	        T(test_old_versions_go),
	        T(test_by_hand),
	        T(test_files_that_hide),
	        T(test_nearest),
	        T(test_origin),
	        T(test_distance),
	        T(test_record_name),
	        T(test_who_may_lock),
	        T(test_whose_lock_it_is),
	        T(test_modes_stay),
	        T(test_remove),
	        T(test_large_ones_have_side_files),
	        T(test_refused),
	        cmocka_unit_test(test_where_users_have_theirs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
