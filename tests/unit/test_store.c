/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The store of profiles: what it reads, refuses, keeps and gives up. */
#include "store_fixture.h"

#include <sys/resource.h>

#include "site/profiles.h"

/* Of what is read beside what is loaded. */
static atomic_int hashed;

ssize_t pread(int fd, void *to, size_t n, off_t at)
{
	hashed++;
	return syscall(SYS_pread64, fd, to, n, at);
}

#define DENSE(n)                                                               \
	"\"pattern\": {\"type\": \"many-to-many\", \"dims\": [" #n "], "       \
	"\"axis\": 0, \"bytes\": 1}"

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
	struct cpl_store_answer a[3], b;
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
		b = ask(name[i], 0, false, 20 * SECOND);
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
	/* Of several phases each is in memory, too. */
	profile("two", 100000, PAIR "}, {" PAIR);
	b = ask("two", 0, false, 20 * SECOND);
	assert_in_range(b.profile->bytes, 3200000, 3400000);
	cpl_profile_drop(b.profile);
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
		/* A busy machine may not come to look in a millisecond. */
		if (a.found != CPL_FOUND_TIMED_OUT)
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

/* By a file's path or by a name; cpl_profiles_file tells which file that is. */
static void test_profiles_of_commands(void **state)
{
	static const struct {
		const char *name; /* in the folder, where it has a "/" */
		int wanted, ranks;
		const char *message; /* of ranks 0 */
	} row[] = {
	        {"/ring.json", 0, 16, NULL},
	        {"/ring.json", 16, 16, NULL},
	        {"/ring.json", 24, 24, NULL},
	        {"/pair.json", 8, 0,
	         "pair.json is of 4 ranks, the job has 8, and cannot be "
	         "rescaled: "},
	        {"/none.json", 0, 0, "none.json: No such file or directory"},
	        {"ring", 16, 16, NULL},
	        {"pair", 8, 0,
	         "profile 'pair' was recorded at 4 ranks, the job has 8, and "
	         "cannot be rescaled: "},
	};
	const struct cpl_profile_dirs dirs = {
	        .dir = dir, .max_bytes = UINT64_MAX, .rescale = true};
	struct cpl_profiles *profiles = cpl_profiles_open(&dirs, NULL);

	profile("ring", 16, RING(16));
	profile("pair", 4, PAIR);
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		const char *name = row[i].name;
		struct cpl_profile_wanted wanted = {
		        .name = *name == '/' ? in_dir(name + 1) : name,
		        .ranks = row[i].wanted};
		struct cpl_error err = {""};
		struct cpl_profile *found =
		        cpl_profiles_find(profiles, &wanted, &err);

		if ((found ? found->ranks : 0) != row[i].ranks ||
		    (!found && !strstr(err.text, row[i].message)))
			fail_msg("row %zu: %s", i, err.text);
		cpl_profile_drop(found);
	}
	cpl_profiles_close(profiles);
}

static void test_files_of_profiles(void **state)
{
	const uid_t me = getuid(), nobody = 471100;
	char pattern[128], folder[32];
	const struct {
		struct cpl_profile_dirs dirs;
		struct cpl_profile_wanted wanted;
		const char *path, *message; /* one of both */
	} row[] = {
	        {{.dir = dir}, {"ring", 16, false, me}, "ring.json", ""},
	        {{.user_dir = pattern}, {"ring", 4, true, me}, "ring.json", ""},
	        {{.dir = dir},
	         {"ring", 4, true, me},
	         NULL,
	         "'ring' is the user's own, and no UserProfileDir is known"},
	        {{.user_dir = pattern},
	         {"ring", 4, false, me},
	         NULL,
	         "\"ring\" is a profile's name, and no profile directory"},
	        /* whose rights cannot be had; only root takes any */
	        {{.user_dir = pattern},
	         {"ring", 4, true, nobody},
	         me ? "ring.json" : NULL,
	         "471100"},
	};

	snprintf(pattern, sizeof(pattern), "%s/%%U", dir);
	profile("ring", 16, RING(16));
	for (int i = 0; i < 2; i++) {
		snprintf(folder, sizeof(folder), "%u", i ? nobody : me);
		assert_int_equal(mkdir(in_dir(folder), 0755), 0);
		strcat(folder, "/ring");
		profile(folder, 4, PAIR);
	}
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct cpl_error err = {""};
		char *path = cpl_profiles_file(&row[i].dirs, &row[i].wanted,
		                               &err);

		if (!path != !row[i].path ||
		    (path && (!strstr(path, row[i].path) ||
		              access(path, F_OK))) ||
		    (!path && !strstr(err.text, row[i].message)))
			fail_msg("row %zu: %s, %s", i, path ? path : "none",
			         err.text);
		free(path);
	}
}

/* A launcher is one task: a profile of a training job with so many ranks for each
 * task is theirs, and its groups are those of tasks. */
static void test_tasks(void **state)
{
	struct cpl_store_answer a;
	struct cpl_rank_grid groups;

	profile("train", 16,
	        "\"weight\": 3, \"pattern\": {\"type\": \"llm\", \"tp\": 4, "
	        "\"dp\": 2, \"pp\": 2, \"layers\": 2, \"hidden\": 8, "
	        "\"sequence\": 8}");
	expect("train", 6, CPL_FOUND_OTHER_RANKS, "recorded at 16 ranks");
	expect("train", 16, CPL_FOUND_READY, "");
	a = ask("train", 4, true, 20 * SECOND);
	assert_int_equal(a.found, CPL_FOUND_READY);
	assert_int_equal(a.profile->ranks, 4);
	assert_false(a.rescaled);
	assert_true(cpl_phases_groups(a.profile->phase, a.profile->n_phases,
	                              &groups));
	/* tp is inside; dp and pp are of 2 tasks each. */
	assert_int_equal(groups.ranks, 4);
	assert_int_equal(groups.n, 2);
	assert_int_equal(groups.dim[0].length, 2);
	assert_int_equal(groups.dim[1].stride, 2);
	assert_true(a.profile->comm->n_entries > 0);
	cpl_profile_drop(a.profile);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	        T(test_what_is_too_large_takes_no_memory),
	        T(test_what_is_found),
	        T(test_several_sizes),
	        T(test_rescaled),
	        T(test_tasks),
	        T(test_what_jobs_need_stays),
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
	        T(test_profiles_of_commands),
	        T(test_files_of_profiles),
	        T(test_many_names),
#undef T
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
