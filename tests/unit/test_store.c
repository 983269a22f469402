/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The store of profiles: what it reads, refuses, keeps and gives up. */
#include "commplace-config.h"
#include <ftw.h>
#include <linux/capability.h>
#include <pwd.h>
#include <grp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/file.h"
#include "signature/signature.h"
#include "site/store_internal.h"

#define SECOND INT64_C(1000000000)

#define OWN_OPEN \
	(strstr(path, "slow") || (strstr(path, "/u") && strstr(path, "away")))
#include "../tools/own_files.h"
/* Of what is read beside what is loaded. */
static atomic_int hashed;

ssize_t pread(int fd, void *to, size_t n, off_t at)
{
	hashed++;
	return syscall(SYS_pread64, fd, to, n, at);
}

static char dir[] = "/tmp/commplace-store-XXXXXX";
#include "in_dir.h"

static struct cpl_worker *worker;
static struct cpl_store *store;
static char logged[4096];

/* Every number is a user's. */
int getpwuid_r(uid_t uid, struct passwd *entry, char *text, size_t size,
               struct passwd **found)
{
	memset(entry, 0, sizeof(*entry));
	snprintf(text, size, "user%u", (unsigned)uid);
	entry->pw_name = text;
	entry->pw_uid = uid;
	entry->pw_gid = uid;
	*found = entry;
	return 0;
}

static void take_log(void *arg, bool failure, const char *text)
{
	snprintf(logged, sizeof(logged), "%s", text);
}

/* A profile of so many ranks with one phase of this content. */
static void profile(const char *name, int ranks, const char *matrix)
{
	char text[1024], file[64];

	snprintf(text, sizeof(text),
	         "{\"format\": \"commplace-signature\", \"version\": 1, "
	         "\"ranks\": %d, \"phases\": [{%s}]}",
	         ranks, matrix);
	snprintf(file, sizeof(file), "%s.json", name);
	put(file, text);
}

#define PAIR "\"traffic\": [[0, 1, 10, 1]]"
#define DENSE(n)                                                               \
	"\"pattern\": {\"type\": \"many-to-many\", \"dims\": [" #n "], "       \
	"\"axis\": 0, \"bytes\": 1}"

static int set_up(void **state)
{
	memcpy(dir + sizeof(dir) - 7, "XXXXXX", 6);
	assert_non_null(mkdtemp(dir));
	logged[0] = '\0';
	worker = cpl_worker_new(NULL);
	store = cpl_store_new(worker, take_log, NULL, NULL);
	assert_non_null(store);
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int type,
                      struct FTW *ftw)
{
	return remove(path);
}

static int tear_down(void **state)
{
	hang = false;
	assert_true(
	        cpl_worker_stop(worker, cpl_now() + 20 * SECOND, NULL, NULL));
	cpl_store_free(store);
	cpl_worker_free(worker);
	nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	return 0;
}

static struct cpl_store_answer ask(const char *name, int ranks, bool fresh,
                                   int64_t wait)
{
	struct cpl_store_query query = {.dir = dir,
	                                .whom = CPL_FOR_US,
	                                .name = name,
	                                .ranks = ranks,
	                                .fresh = fresh,
	                                .deadline = cpl_now() + wait};
	struct cpl_store_answer answer;

	cpl_store_find(store, &query, &answer);
	assert_true((answer.found == CPL_FOUND_READY) ==
	            (answer.profile != NULL));
	assert_true((answer.found == CPL_FOUND_READY) == !answer.err.text[0]);
	return answer;
}

static void prefetch(const char *name, int ranks)
{
	struct cpl_store_query query = {
	        .dir = dir, .name = name, .ranks = ranks};

	cpl_store_prefetch(store, &query);
}

static void expect(const char *name, int ranks, enum cpl_found found,
                   const char *reason)
{
	struct cpl_store_answer a = ask(name, ranks, true, 20 * SECOND);

	if (a.found != found || !strstr(a.err.text, reason))
		fail_msg("%s: %d, %s", name, a.found, a.err.text);
	cpl_profile_drop(a.profile);
}

static void test_what_is_found(void **state)
{
	profile("good", 4, PAIR);
	put("broken.json", "{\"ranks\": 4, ");
	profile("row", 4, "\"traffic\": [[0, 4, 1, 1]]");
	assert_int_equal(mkdir(in_dir("folder.json"), 0755), 0);
	assert_int_equal(mkfifo(in_dir("fifo.json"), 0644), 0);
	assert_int_equal(symlink("good.json", in_dir("link.json")), 0);
	expect("good", 4, CPL_FOUND_READY, "");
	expect("good", 0, CPL_FOUND_READY, "");
	expect("good", 8, CPL_FOUND_OTHER_RANKS,
	       "profile 'good' was recorded at 4 ranks, the job has 8");
	expect("none", 0, CPL_FOUND_MISSING, "No such file");
	expect("broken", 0, CPL_FOUND_DAMAGED, "not valid JSON");
	expect("row", 0, CPL_FOUND_DAMAGED, "rank 4 is beyond");
	expect("folder", 0, CPL_FOUND_DAMAGED, "directory");
	expect("fifo", 0, CPL_FOUND_DAMAGED, "not a regular file");
	expect("link", 0, CPL_FOUND_DAMAGED, "is a symbolic link");
	expect("../good", 0, CPL_FOUND_BAD_NAME, "not a profile name");
	expect("", 0, CPL_FOUND_BAD_NAME, "1 to 128");
	assert_string_equal(logged, "");
}

/* Fault 24: a directory that is away is not a name that does not exist. */
static void test_a_directory_that_cannot_be_read(void **state)
{
	struct cpl_store_query query = {.dir = in_dir("nosuch"),
	                                .name = "a",
	                                .deadline = cpl_now() + 20 * SECOND};
	struct cpl_store_answer answer;

	cpl_store_find(store, &query, &answer);
	assert_int_equal(answer.found, CPL_FOUND_UNREADABLE);
	assert_non_null(strstr(answer.err.text, "nosuch: No such file"));
	assert_non_null(strstr(logged, "nosuch: No such file"));
	put("file", "");
	query.dir = in_dir("file");
	cpl_store_find(store, &query, &answer);
	assert_int_equal(answer.found, CPL_FOUND_UNREADABLE);
	assert_non_null(strstr(answer.err.text, "Not a directory"));
}

static void set_time(const char *name, time_t when)
{
	const struct timespec at[2] = {{.tv_sec = when}, {.tv_sec = when}};

	assert_int_equal(utimensat(AT_FDCWD, in_dir(name), at, 0), 0);
}

/* Fault 3: a profile in use costs no look at a file. */
static void test_what_is_warm_is_not_looked_at(void **state)
{
	struct cpl_store_answer a, b;
	int before;

	profile("warm", 4, PAIR);
	set_time("", time(NULL) - 3600);
	a = ask("warm", 4, false, 20 * SECOND);
	expect("warm", 8, CPL_FOUND_OTHER_RANKS, "4 ranks");
	before = opened;
	for (int i = 0; i < 100; i++) {
		b = ask("warm", 4, false, 0);
		assert_ptr_equal(a.profile, b.profile);
		cpl_profile_drop(b.profile);
	}
	assert_int_equal(ask("warm", 8, false, 0).found, CPL_FOUND_OTHER_RANKS);
	assert_int_equal(opened, before);
	/* Unless that is wished; the same file is not read again. */
	b = ask("warm", 4, true, 20 * SECOND);
	assert_int_equal(opened, before + 1);
	assert_ptr_equal(a.profile, b.profile);
	cpl_profile_drop(b.profile);
	profile("warm", 4, "\"traffic\": [[0, 1, 11, 1]]");
	cpl_store_refresh(store);
	b = ask("warm", 4, false, 20 * SECOND);
	assert_true(b.profile->comm->bytes[0] == 11);
	assert_true(a.profile->comm->bytes[0] == 10);
	cpl_profile_drop(a.profile);
	cpl_profile_drop(b.profile);
}

static void test_side_files_belong_to_it(void **state)
{
	struct cpl_signature *sig;
	struct cpl_store_answer a, b;

	profile("first", 4, PAIR);
	sig = cpl_signature_load(in_dir("first.json"), NULL);
	assert_int_equal(
	        cpl_signature_write_binary(sig, in_dir("side.json"), NULL), 0);
	cpl_signature_free(sig);
	a = ask("side", 4, true, 20 * SECOND);
	b = ask("side", 4, true, 20 * SECOND);
	assert_int_equal(a.found, CPL_FOUND_READY);
	assert_ptr_equal(a.profile, b.profile);
	cpl_profile_drop(b.profile);
	/* Another version of the side file alone. */
	profile("second", 4, "\"traffic\": [[2, 3, 7, 1], [3, 2, 7, 1]]");
	sig = cpl_signature_load(in_dir("second.json"), NULL);
	assert_int_equal(
	        cpl_signature_write_binary(sig, in_dir("other.json"), NULL), 0);
	cpl_signature_free(sig);
	assert_int_equal(
	        rename(in_dir("other.phase1.comm"), in_dir("side.phase1.comm")),
	        0);
	b = ask("side", 4, true, 20 * SECOND);
	assert_int_equal(b.profile->comm->n_entries, 2);
	cpl_profile_drop(a.profile);
	cpl_profile_drop(b.profile);
	/* A link there is refused as well. */
	assert_int_equal(rename(in_dir("side.phase1.comm"), in_dir("c")), 0);
	assert_int_equal(symlink("c", in_dir("side.phase1.comm")), 0);
	expect("side", 4, CPL_FOUND_DAMAGED, "is a symbolic link");
}

/* Into the file that is there, which gets this time. */
static void change_in_place(const char *file, const char *text, size_t n,
                            time_t when)
{
	int fd = open(in_dir(file), O_WRONLY);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, text, n, 0), n);
	close(fd);
	set_time(file, when);
}

/* The first bytes of the traffic, which it is READY with. */
static double bytes_of(const char *name, int ranks)
{
	struct cpl_store_answer a = ask(name, ranks, true, 20 * SECOND);
	double bytes;

	if (a.found != CPL_FOUND_READY)
		fail_msg("%s: %d, %s", name, a.found, a.err.text);
	bytes = a.profile->comm->bytes[0];
	cpl_profile_drop(a.profile);
	return bytes;
}

/* Changes within a tick of the file system's clock leave size and time. */
static void test_two_changes_at_one_time_are_two(void **state)
{
	/* Far ahead, so that it is not past while the test runs. */
	const time_t now = time(NULL) + 86400;
	struct cpl_signature *sig;
	char *text, *number;
	size_t n;

	profile("p", 4, "\"traffic\": [[0, 1, 10, 1]]");
	set_time("p.json", now);
	assert_true(bytes_of("p", 4) == 10);
	text = cpl_file_read(in_dir("p.json"), 4096, &n, NULL);
	number = strstr(text, "10");
	*number = '2';
	change_in_place("p.json", text, n, now);
	/* One that another job has in memory is not the same. */
	assert_true(bytes_of("p", 0) == 20);
	assert_true(bytes_of("p", 4) == 20);
	/* And of the folder: the file that is chosen. */
	*number = '3';
	put("p@4.json", text);
	set_time("p@4.json", now);
	set_time("", now);
	assert_true(bytes_of("p", 4) == 30);
	assert_int_equal(unlink(in_dir("p@4.json")), 0);
	set_time("", now);
	assert_true(bytes_of("p", 4) == 20);
	*number = '4';
	put("p@4.json", text);
	set_time("", now);
	assert_true(bytes_of("p", 4) == 40);
	free(text);
	/* A side file alone. */
	profile("s", 4, "\"traffic\": [[0, 1, 258, 1], [1, 0, 258, 1]]");
	sig = cpl_signature_load(in_dir("s.json"), NULL);
	assert_int_equal(
	        cpl_signature_write_binary(sig, in_dir("side.json"), NULL), 0);
	cpl_signature_free(sig);
	set_time("side.phase1.comm", now);
	assert_true(bytes_of("side", 4) == 258);
	text = cpl_file_read(in_dir("side.phase1.comm"), 4096, &n, NULL);
	/* 258.0, of which this bit makes 259.0 */
	number = memmem(text, n, "\x20\x70\x40", 3);
	assert_non_null(number);
	*number |= 0x10;
	change_in_place("side.phase1.comm", text, n, now);
	assert_true(bytes_of("side", 4) == 259);
	free(text);
}

/* What has not changed for a while is known by its stamp. */
static void test_what_is_old_is_not_read_again(void **state)
{
	const time_t long_ago = time(NULL) - 3600;
	int before;

	profile("old", 4, PAIR);
	set_time("old.json", long_ago);
	set_time("", long_ago);
	hashed = 0;
	assert_true(bytes_of("old", 4) == 10);
	before = opened;
	for (int i = 0; i < 10; i++)
		assert_true(bytes_of("old", 4) == 10);
	assert_int_equal(opened, before + 10);
	assert_int_equal(hashed, 0);
}

static long peak_kib(void)
{
	struct rusage use;

	getrusage(RUSAGE_SELF, &use);
	return use.ru_maxrss;
}

/* Fault 5: what does not fit is neither read nor expanded. */
static void test_what_is_too_large_takes_no_memory(void **state)
{
	static const char header[24] = "CPLCOMM\0\1\0\0\0\4\0\0\0\0\0\200\0";
	long before = peak_kib();

	/* 16.7 million entries, 1 GB when they were made. */
	profile("dense", 4096, DENSE(4096));
	expect("dense", 0, CPL_FOUND_DAMAGED, "pairs of ranks may need");
	/* 3.3 GB. */
	profile("wide", 16777216,
	        "\"pattern\": {\"type\": \"spread\", \"ranks\": 16777216, "
	        "\"degree\": [1, 1], \"bytes\": 1}");
	expect("wide", 0, CPL_FOUND_DAMAGED, "16777216 ranks alone need");
	/* 8 million records are promised. */
	profile("side", 4, "\"file\": \"side.comm\"");
	assert_int_equal(cpl_file_write_atomic(in_dir("side.comm"), header,
	                                       sizeof(header), 0644, NULL),
	                 0);
	assert_int_equal(
	        truncate(in_dir("side.comm"), 24 + 24 * INT64_C(8388608)), 0);
	expect("side", 0, CPL_FOUND_DAMAGED, "8388608 pairs of ranks");
	put("big.json", "{");
	assert_int_equal(truncate(in_dir("big.json"), INT64_C(1) << 30), 0);
	expect("big", 0, CPL_FOUND_DAMAGED, "at most 268435456 are read");
	assert_true(peak_kib() - before < 64 * 1024);
}

/* Ranks that cannot match: the matrix is never loaded. */
static void test_ranks_come_first(void **state)
{
	struct cpl_store_answer a;
	int before;

	profile("dense", 4096, DENSE(4096));
	expect("dense", 16, CPL_FOUND_OTHER_RANKS, "4096 ranks");
	profile("later", 4, PAIR);
	before = opened;
	a = ask("later", 16, false, 20 * SECOND);
	assert_int_equal(a.found, CPL_FOUND_OTHER_RANKS);
	assert_int_equal(a.ranks, 4);
	assert_true(cpl_worker_idle(worker, cpl_now() + 20 * SECOND));
	/* Its head, and once more while the sizes are listed. */
	assert_true(opened <= before + 3);
	/* "ranks" after the traffic: known once it is read. */
	put("last.json",
	    "{\"format\": \"commplace-signature\", \"version\": 1, "
	    "\"phases\": [{" PAIR "}], \"ranks\": 4}");
	expect("last", 16, CPL_FOUND_OTHER_RANKS, "recorded at 4 ranks");
}

/* In a quarter of it, least used first, and ranks weigh too. */
static void test_the_limit_bounds_what_is_kept(void **state)
{
	struct cpl_store_answer a[3];
	char name[3][8];
	int before;

	cpl_store_limit(store, 16 << 20);
	for (int i = 0; i < 3; i++) {
		snprintf(name[i], sizeof(name[i]), "p%d", i);
		/* 100,000 ranks that hardly talk: 1.6 MB in rows. */
		profile(name[i], 100000, PAIR);
		a[i] = ask(name[i], 0, false, 20 * SECOND);
		assert_int_equal(a[i].found, CPL_FOUND_READY);
		assert_in_range(a[i].profile->bytes, 1600000, 1700000);
	}
	before = opened;
	for (int i = 2; i >= 0; i--) {
		struct cpl_store_answer b = ask(name[i], 0, false, 20 * SECOND);

		assert_true((b.profile == a[i].profile) == (i > 0));
		cpl_profile_drop(a[i].profile);
		cpl_profile_drop(b.profile);
	}
	assert_true(opened > before);
	/* A smaller limit takes effect at once. */
	cpl_store_limit(store, 1 << 20);
	cpl_store_refresh(store);
	expect("none", 0, CPL_FOUND_MISSING, "");
	assert_int_equal(ask("p0", 0, true, 20 * SECOND).found,
	                 CPL_FOUND_DAMAGED);
	/* A larger one, too. */
	cpl_store_limit(store, 64 << 20);
	a[0] = ask("p0", 0, false, 20 * SECOND);
	assert_int_equal(a[0].found, CPL_FOUND_READY);
	cpl_profile_drop(a[0].profile);
}

/* Faults 4 and 8: "being read" and "does not answer" are two things, and
 * nobody waits beyond the deadline, the later ones not at all. */
static void test_files_that_hang(void **state)
{
	struct cpl_store_answer a, b;
	int64_t begin;

	profile("quick", 4, PAIR);
	profile("slow", 4, PAIR);
	a = ask("quick", 4, false, 20 * SECOND);
	hang = true;
	begin = cpl_now();
	assert_int_equal(ask("slow", 4, false, SECOND / 5).found,
	                 CPL_FOUND_TIMED_OUT);
	assert_true(cpl_now() - begin >= SECOND / 5);
	begin = cpl_now();
	for (int i = 0; i < 20; i++)
		assert_int_equal(ask("slow", 4, true, SECOND / 5).found,
		                 CPL_FOUND_TIMED_OUT);
	/* Less than half of what they might: the machine may be busy. */
	assert_true(cpl_now() - begin < 2 * SECOND);
	/* What is in memory serves on, looked at lately or not. */
	b = ask("quick", 4, true, SECOND / 5);
	assert_ptr_equal(a.profile, b.profile);
	cpl_profile_drop(a.profile);
	cpl_profile_drop(b.profile);
	hang = false;
	a = ask("slow", 4, true, 20 * SECOND);
	assert_int_equal(a.found, CPL_FOUND_READY);
	cpl_profile_drop(a.profile);
}

static void test_a_matrix_that_takes_long(void **state)
{
	struct cpl_store_answer a;

	/* Seconds of work in a line. */
	cpl_store_limit(store, UINT64_C(8) << 30);
	profile("long", 65536,
	        "\"pattern\": {\"type\": \"spread\", \"ranks\": 65536, "
	        "\"degree\": [100, 150], \"bytes\": 1}");
	profile("quick", 4, PAIR);
	prefetch("long", 0);
	while (!(a = ask("long", 16, false, 0)).ranks)
		usleep(1000);
	assert_int_equal(a.found, CPL_FOUND_OTHER_RANKS);
	/* Which file is for so many ranks is looked up, too. */
	while (!(a = ask("long", 65536, false, 1000000)).ranks) {
		assert_int_equal(a.found, CPL_FOUND_LOADING);
		usleep(1000);
	}
	if (a.found != CPL_FOUND_READY) {
		assert_int_equal(a.found, CPL_FOUND_LOADING);
		assert_int_equal(a.ranks, 65536);
		assert_non_null(strstr(a.err.text, "being read"));
	}
	cpl_profile_drop(a.profile);
	/* Another file is looked at all the while. */
	a = ask("quick", 16, false, 20 * SECOND);
	assert_int_equal(a.found, CPL_FOUND_OTHER_RANKS);
	a = ask("long", 65536, false, 240 * SECOND);
	assert_int_equal(a.found, CPL_FOUND_READY);
	cpl_profile_drop(a.profile);
}

static void test_prefetch(void **state)
{
	struct cpl_store_answer a;

	profile("a", 4, PAIR);
	prefetch("a", 4);
	prefetch("../a", 4);
	prefetch("none", 4);
	assert_true(cpl_worker_idle(worker, cpl_now() + 20 * SECOND));
	a = ask("a", 4, false, 0);
	assert_int_equal(a.found, CPL_FOUND_READY);
	cpl_profile_drop(a.profile);
	assert_int_equal(ask("none", 4, false, 0).found, CPL_FOUND_MISSING);
}

/* Users make up names: no more than so many are remembered. */
static void test_many_names(void **state)
{
	char name[32];

	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "no%d", i);
		assert_int_equal(ask(name, 4, false, 20 * SECOND).found,
		                 CPL_FOUND_MISSING);
	}
}

/* One that was never used has nothing to wait for. */
static void test_a_worker_without_threads_ends(void **state)
{
	struct cpl_worker *unused = cpl_worker_new(NULL);

	assert_non_null(unused);
	assert_true(cpl_worker_stop(unused, 0, NULL, NULL));
	cpl_worker_free(unused);
}

/* Ranks that the answer's profile was recorded with; it has `ranks`. */
static int recorded(const char *name, int ranks)
{
	struct cpl_store_answer a = ask(name, ranks, true, 20 * SECOND);
	int n = a.recorded_ranks;

	if (a.found != CPL_FOUND_READY)
		fail_msg("%s for %d: %s", name, ranks, a.err.text);
	assert_int_equal(a.profile->ranks, ranks ? ranks : n);
	assert_int_equal(a.ranks, a.profile->ranks);
	assert_true(a.rescaled == (n != a.profile->ranks));
	cpl_profile_drop(a.profile);
	return n;
}

#define RING(n)                                                                \
	"\"pattern\": {\"type\": \"stencil\", \"dims\": [" #n "], "            \
	"\"points\": 3, \"periodic\": true, \"bytes\": 9}"

static void test_several_sizes(void **state)
{
	profile("a", 16, RING(16));
	profile("a@64", 64, RING(64));
	profile("a@4", 4, PAIR);
	assert_int_equal(recorded("a", 0), 16);
	assert_int_equal(recorded("a", 16), 16);
	assert_int_equal(recorded("a", 64), 64);
	assert_int_equal(recorded("a", 4), 4);
	expect("a", 24, CPL_FOUND_OTHER_RANKS,
	       "profile 'a' was recorded at 4, 16 and 64 ranks, the job has "
	       "24");
	/* What comes and goes is seen. */
	profile("a@24", 24, RING(24));
	assert_int_equal(recorded("a", 24), 24);
	assert_int_equal(unlink(in_dir("a@24.json")), 0);
	expect("a", 24, CPL_FOUND_OTHER_RANKS, "4, 16 and 64");
	/* A size that is not what its name says is no size of this. */
	profile("a@32", 31, RING(31));
	expect("a", 32, CPL_FOUND_OTHER_RANKS, "the job has 32");
}

static void test_rescaled(void **state)
{
	struct cpl_store_answer a;

	profile("a", 16, RING(16));
	profile("a@64", 64, RING(64));
	profile("b", 4, PAIR);
	expect("a", 24, CPL_FOUND_OTHER_RANKS, "16 and 64 ranks");
	cpl_store_rescale(store, true);
	assert_int_equal(recorded("a", 24), 16);
	assert_int_equal(recorded("a", 32), 16);
	assert_int_equal(recorded("a", 48), 64);
	assert_int_equal(recorded("a", 64), 64);
	expect("b", 8, CPL_FOUND_OTHER_RANKS,
	       "profile 'b' was recorded at 4 ranks, the job has 8");
	a = ask("b", 8, true, 20 * SECOND);
	assert_non_null(strstr(a.why.text, "cannot be rescaled from 4 to 8"));
	/* A better one has come. */
	profile("a@20", 20, RING(20));
	assert_int_equal(recorded("a", 24), 20);
	profile("a@24", 24, RING(24));
	assert_int_equal(recorded("a", 24), 24);
	cpl_store_rescale(store, false);
	expect("a", 32, CPL_FOUND_OTHER_RANKS, "20");
}

/* Fault: made-up names and ranks took what jobs wait for out of memory. */
static void test_what_jobs_need_stays(void **state)
{
	struct cpl_store_query query = {.dir = dir, .name = "site", .ranks = 4};
	struct cpl_store_answer a;
	char name[32];

	profile("site", 4, RING(4));
	for (int rescales = 0; rescales < 2; rescales++) {
		query.job = rescales;
		query.deadline = cpl_now() + 20 * SECOND;
		cpl_store_find(store, &query, &a);
		cpl_profile_drop(a.profile);
		for (int i = 0; i < STORE_SITE_ENTRIES + 8; i++) {
			snprintf(name, sizeof(name), "made%d", i);
			a = ask(i % 2 && !rescales ? name : "site", 5 + i, true,
			        20 * SECOND);
			cpl_profile_drop(a.profile);
			assert_true(rescales == a.rescaled);
		}
		query.deadline = 0;
		cpl_store_find(store, &query, &a);
		assert_int_equal(a.found, CPL_FOUND_READY);
		cpl_profile_drop(a.profile);
		cpl_store_rescale(store, true);
	}
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

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	        T(test_what_is_too_large_takes_no_memory),
	        T(test_what_is_found),
	        T(test_several_sizes),
	        T(test_rescaled),
	        T(test_what_jobs_need_stays),
	        T(test_a_users_own),
	        T(test_homes_that_hang),
	        T(test_a_home_that_hangs_takes_no_place),
	        T(test_homes_take_turns),
	        T(test_a_home_that_root_may_not_enter),
	        T(test_with_a_users_rights),
	        T(test_with_a_users_groups),
	        T(test_side_files_of_others),
	        T(test_a_directory_that_cannot_be_read),
	        T(test_what_is_warm_is_not_looked_at),
	        T(test_side_files_belong_to_it),
	        T(test_two_changes_at_one_time_are_two),
	        T(test_what_is_old_is_not_read_again),
	        T(test_ranks_come_first),
	        T(test_the_limit_bounds_what_is_kept),
	        T(test_files_that_hang),
	        T(test_a_matrix_that_takes_long),
	        T(test_prefetch),
	        T(test_many_names),
	        T(test_a_worker_without_threads_ends),
#undef T
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
