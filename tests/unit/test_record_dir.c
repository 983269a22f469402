/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The directory of records: whose it is, who may read, what is lost. */
#include "commplace-config.h"
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "unit.h"

#include "base/file.h"
#include "site/record_dir.h"

#define SECOND INT64_C(1000000000)

/* What the disk does: renames hang, or fail with this error; writes fail, and
 * so does to remove a file. */
static atomic_int rename_error, write_error, synced;
static int before_rename(void);
#define OWN_RENAME before_rename()
#include "../tools/own_files.h"

static int before_rename(void)
{
	while (hang)
		usleep(1000);
	return rename_error;
}

ssize_t write(int fd, const void *data, size_t n)
{
	static ssize_t (*real)(int, const void *, size_t);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "write");
	if (write_error && fd > 2) {
		errno = write_error;
		return -1;
	}
	return real(fd, data, n);
}

int unlink(const char *path)
{
	if (!write_error)
		return unlinkat(AT_FDCWD, path, 0);
	errno = write_error;
	return -1;
}

int fdatasync(int fd)
{
	synced++;
	return fsync(fd);
}

/* The clocks, so many seconds later than they are. */
static atomic_long later, wrong;

time_t time(time_t *out)
{
	struct timespec now;

	syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
	now.tv_sec += later + wrong;
	if (out)
		*out = now.tv_sec;
	return now.tv_sec;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
	int rc = (int)syscall(SYS_clock_gettime, clock, now);

	now->tv_sec += later;
	return rc;
}

/* Lists of ended records hang. */
static atomic_bool list_hangs, lists_hanging;

DIR *opendir(const char *path)
{
	static DIR *(*real)(const char *);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "opendir");
	lists_hanging = list_hangs && strstr(path, "/ended");
	while (list_hangs && lists_hanging)
		usleep(1000);
	return real(path);
}

static char dir[] = "/tmp/commplace-records-XXXXXX";
#include "in_dir.h"

static struct cpl_worker *worker;
static struct cpl_record_dir *records;
static struct cpl_record_keep keep;
static char logged[8192];
static int lines;

static void take_log(void *arg, bool failure, const char *text)
{
	size_t n = strlen(logged);

	lines++;
	snprintf(logged + n, sizeof(logged) - n, "%s\n", text);
}

static bool there(const char *name)
{
	return !access(in_dir(name), F_OK);
}

static void open_records(const char *cluster, enum cpl_record_access access)
{
	worker = cpl_worker_new(NULL);
	records = cpl_record_dir_new(worker, take_log, NULL, NULL);
	assert_non_null(records);
	cpl_record_dir_use(records, dir, cluster, access, &keep);
	logged[0] = '\0';
	lines = 0;
}

static void idle(void)
{
	assert_true(cpl_worker_idle(worker, cpl_now() + 120 * SECOND));
}

static void close_records(void)
{
	assert_true(
	        cpl_worker_stop(worker, cpl_now() + 120 * SECOND, NULL, NULL));
	cpl_record_dir_free(records);
	cpl_worker_free(worker);
}

static int set_up(void **state)
{
	memcpy(dir + sizeof(dir) - 7, "XXXXXX", 6);
	assert_non_null(mkdtemp(dir));
	synced = 0;
	open_records("here", CPL_RECORDS_OWNER);
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int type,
                      struct FTW *ftw)
{
	return remove(path);
}

static int tear_down(void **state)
{
	hang = list_hangs = false;
	rename_error = write_error = 0;
	later = wrong = 0;
	close_records();
	nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	return 0;
}

static void write_record(int64_t job, int reason)
{
	struct cpl_record record = {.job = job, .uid = 4711};
	char *text = malloc((size_t)reason + 1);

	assert_non_null(text);
	memset(text, 'x', (size_t)reason);
	text[reason] = '\0';
	record.reason = text;
	cpl_record_dir_write(records, &record);
	free(text);
}

static mode_t mode_of(const char *name)
{
	struct stat st;

	assert_int_equal(stat(in_dir(name), &st), 0);
	return st.st_mode & 07777;
}

/* Fault 19: with PrivateData=jobs nobody reads the records of others. */
static void test_records_are_private(void **state)
{
	unsigned char list[256];
	ssize_t n;

	write_record(17, 10);
	idle();
	assert_int_equal(mode_of("running") & 066, 0);
	assert_int_equal(mode_of("running/17.json") & 07, 0);
	n = getxattr(in_dir("running/17.json"), "system.posix_acl_access", list,
	             sizeof(list));
	if (n < 0) {
		assert_int_equal(mode_of("running/17.json"), 0600);
	} else {
		/* Version, then the owner, user 4711, the group, the mask and
		 * others, each of 8 bytes. */
		assert_int_equal(n, 4 + 5 * 8);
		assert_memory_equal(list + 4 + 8, "\2\0\4\0\x67\x12\0\0", 8);
		assert_memory_equal(list + 4 + 16, "\4\0\0\0", 4);
		assert_memory_equal(list + 4 + 32, "\40\0\0\0", 4);
	}
	cpl_record_dir_end(records, 17);
	idle();
	assert_int_equal(mode_of("ended") & 066, 0);
	assert_int_equal(mode_of("ended/17.json") & 07, 0);
	assert_string_equal(logged, "");
	/* Where the site shows all jobs to all. */
	cpl_record_dir_use(records, dir, "here", CPL_RECORDS_ALL, &keep);
	write_record(18, 10);
	idle();
	assert_int_equal(mode_of("running/18.json"), 0644);
}

/* Those of an earlier release, too. */
static void test_open_records_are_closed(void **state)
{
	assert_int_equal(mkdir(in_dir("running"), 0755), 0);
	assert_int_equal(mkdir(in_dir("ended"), 0755), 0);
	put("ended/3.json", "{}");
	assert_int_equal(mode_of("ended/3.json"), 0644);
	write_record(17, 10);
	idle();
	assert_int_equal(mode_of("ended/3.json"), 0600);
	assert_int_equal(mode_of("ended") & 066, 0);
}

static void take_none(void *arg, struct cpl_record *record)
{
	(*(int *)arg)++;
	cpl_record_free(record);
}

/* Fault 22: two clusters on one StateDir. */
static void test_a_directory_has_one_owner(void **state)
{
	int taken = 0;
	const int64_t none = 0;

	write_record(17, 10);
	idle();
	assert_true(there("running/17.json"));
	close_records();
	open_records("there", CPL_RECORDS_OWNER);
	cpl_record_dir_restore(records, &none, 0, take_none, &taken);
	write_record(18, 10);
	write_record(17, 999);
	cpl_record_dir_end(records, 17);
	idle();
	assert_true(there("running/17.json"));
	assert_false(there("running/18.json"));
	assert_false(there("ended/17.json"));
	assert_non_null(
	        strstr(logged, "belongs to cluster here, this is there"));
	assert_int_equal(lines, 1);
	/* Its own finds it as it was. */
	close_records();
	open_records("here", CPL_RECORDS_OWNER);
	cpl_record_dir_restore(records, &(const int64_t){17}, 1, take_none,
	                       &taken);
	idle();
	assert_int_equal(taken, 1);
	/* What no longer runs has ended. */
	cpl_record_dir_restore(records, &none, 0, take_none, &taken);
	idle();
	assert_true(there("ended/17.json"));
	assert_int_equal(lines, 0);
}

static void keep_only(int count, int days)
{
	const struct cpl_record_keep more = {count, days};

	cpl_record_dir_use(records, dir, "here", CPL_RECORDS_OWNER, &more);
}

/* Of jobs 1 to 9 these. */
static void assert_ended(const char *jobs)
{
	for (char job = '1'; job <= '9'; job++) {
		char name[16];

		snprintf(name, sizeof(name), "ended/%c.json", job);
		if (there(name) != !!strchr(jobs, job))
			fail_msg("%s %s there", name,
			         there(name) ? "is" : "is not");
	}
}

/* Records of ended jobs are bounded; those of running ones are not touched. */
static void test_old_records_go(void **state)
{
	int taken = 0;
	const int64_t running = 9;

	for (int64_t job = 1; job <= 9; job++)
		write_record(job, 10);
	for (int64_t job = 5; job > 0; job--) {
		cpl_record_dir_end(records, job);
		idle();
		/* Beyond what file systems tell apart. */
		usleep(20000);
	}
	keep_only(7, 0);
	cpl_record_dir_restore(records, &running, 1, take_none, &taken);
	idle();
	assert_int_equal(taken, 1);
	/* 5 ended first, those that the restore did not find last. */
	assert_ended("1234678");
	assert_true(there("running/9.json"));
	/* Now and then, too: a restart may be long ago. */
	keep_only(2, 0);
	for (int i = 0; i < 999; i++)
		cpl_record_dir_end(records, 1000 + i);
	idle();
	assert_ended("1234678");
	cpl_record_dir_end(records, 9);
	idle();
	assert_ended("89");
	assert_int_equal(lines, 0);
}

static void test_records_go_by_age(void **state)
{
	const struct cpl_record_keep month = {0, 30};
	const time_t day = 86400, now = time(NULL);
	struct cpl_error err = {""};

	assert_int_equal(cpl_record_prune(dir, "ended", &month, now, &err), 0);
	assert_int_equal(mkdir(in_dir("ended"), 0755), 0);
	put("ended/1.json", "{}");
	put("ended/2.json", "{}");
	put("ended/notes.txt", "");
	assert_int_equal(
	        cpl_record_prune(dir, "ended", &month, now + 29 * day, &err),
	        0);
	assert_int_equal(cpl_record_prune(dir, "ended",
	                                  &(struct cpl_record_keep){0, 0},
	                                  now + 9999 * day, &err),
	                 0);
	assert_int_equal(
	        cpl_record_prune(dir, "ended", &month, now + 31 * day, &err),
	        2);
	assert_false(there("ended/1.json"));
	assert_true(there("ended/notes.txt"));
	/* None is left. */
	assert_int_equal(
	        cpl_record_prune(dir, "ended", &month, now + 31 * day, &err),
	        0);
	put("none", "");
	assert_int_equal(cpl_record_prune(dir, "none", &month, now, &err), -1);
	assert_non_null(strstr(err.text, "none: Not a directory"));
}

/* A clock that is far ahead when the scheduler starts, and put right soon. */
static void test_a_clock_that_is_wrong(void **state)
{
	const long day = 86400;
	int taken = 0;
	const int64_t none = 0;

	for (int64_t job = 1; job <= 2; job++)
		write_record(job, 10);
	cpl_record_dir_end(records, 1);
	idle();
	keep_only(0, 30);
	wrong = 100 * day;
	cpl_record_dir_restore(records, &none, 0, take_none, &taken);
	cpl_record_dir_end(records, 7);
	idle();
	assert_ended("12");
	wrong = 0;
	later = 2 * 3600;
	cpl_record_dir_end(records, 7);
	idle();
	assert_ended("12");
	/* One that went as it should takes them when their time has come. */
	later = 31 * day;
	cpl_record_dir_end(records, 7);
	idle();
	assert_ended("");
	assert_int_equal(lines, 0);
}

/* However many there are: records are written meanwhile. */
static void test_a_list_that_hangs(void **state)
{
	int taken = 0;
	const int64_t none = 0;

	write_record(1, 10);
	cpl_record_dir_end(records, 1);
	idle();
	keep_only(1, 0);
	list_hangs = true;
	cpl_record_dir_restore(records, &none, 0, take_none, &taken);
	while (!lists_hanging)
		usleep(1000);
	write_record(2, 10);
	cpl_record_dir_end(records, 2);
	for (int i = 0; i < 20000 && !there("ended/2.json"); i++)
		usleep(1000);
	assert_true(there("ended/2.json") && lists_hanging);
	assert_ended("12");
	list_hangs = false;
	idle();
	assert_ended("2");
}

/* Fault 6: the error's own name, and not a line for each job. */
static int left_over(void)
{
	DIR *folder = opendir(in_dir("running"));
	const struct dirent *entry;
	int n = 0;

	assert_non_null(folder);
	while ((entry = readdir(folder)))
		n += strstr(entry->d_name, ".tmp-") != NULL;
	closedir(folder);
	return n;
}

static void test_a_full_disk(void **state)
{
	write_record(1, 10);
	idle();
	/* And whose directory it is. */
	assert_int_equal(synced, 2);
	write_error = ENOSPC;
	for (int64_t job = 2; job < 100; job++)
		write_record(job, 20000);
	idle();
	assert_non_null(strstr(logged, "No space left on device"));
	assert_null(strstr(logged, "Input/output"));
	assert_int_equal(lines, 1);
	assert_true(left_over() > 0);
	write_error = 0;
	write_record(100, 10);
	idle();
	assert_true(there("running/100.json"));
	assert_int_equal(left_over(), 0);
	assert_non_null(strstr(logged, "97 more were lost"));
	assert_int_equal(lines, 2);
}

/* It is said again after a while, with what was lost meanwhile. */
static void test_a_disk_that_stays_full(void **state)
{
	write_error = ENOSPC;
	for (int64_t job = 1; job < 4; job++) {
		write_record(job, 10);
		idle();
		assert_int_equal(lines, 1);
	}
	assert_null(strstr(logged, "since the last such line"));
	later = 3600;
	write_record(4, 10);
	idle();
	assert_int_equal(lines, 2);
	assert_non_null(strstr(logged, "(3 records since the last such line)"));
	write_error = 0;
	later = 0;
}

/* What waits is bounded in bytes. */
static void test_a_disk_that_hangs(void **state)
{
	struct cpl_record big = {.job = 1};
	int64_t begin = cpl_now();
	int left = 0;

	big.reason = malloc(1 << 20);
	assert_non_null(big.reason);
	memset(big.reason, 'x', (1 << 20) - 1);
	big.reason[(1 << 20) - 1] = '\0';
	hang = true;
	for (big.job = 1; big.job <= 100; big.job++)
		cpl_record_dir_write(records, &big);
	free(big.reason);
	/* Ends cost nothing and are kept. */
	for (int64_t job = 1; job <= 100; job++)
		cpl_record_dir_end(records, job);
	assert_true(cpl_now() - begin < 60 * SECOND);
	assert_non_null(strstr(logged, "faster than they can be written"));
	assert_int_equal(lines, 1);
	hang = false;
	idle();
	for (int i = 1; i <= 100; i++) {
		char name[32];

		snprintf(name, sizeof(name), "running/%d.json", i);
		assert_false(there(name));
		snprintf(name, sizeof(name), "ended/%d.json", i);
		left += there(name);
	}
	assert_in_range(left, 60, 64);
}

/* It is no matter of haste. */
static void test_a_record_that_is_too_large(void **state)
{
	write_record(17, RECORD_MAX_BYTES);
	idle();
	assert_false(there("running/17.json"));
	assert_non_null(strstr(logged, "record of job 17: "));
	assert_non_null(strstr(logged, "more than a record may have"));
	write_record(18, RECORD_MAX_BYTES - 9999);
	idle();
	assert_true(there("running/18.json"));
}

/* An end that fails comes again: no ghosts among the running jobs. */
static void test_ends_that_fail(void **state)
{
	int taken = 0;

	write_record(17, 10);
	write_record(18, 10);
	idle();
	rename_error = EROFS;
	cpl_record_dir_end(records, 17);
	idle();
	assert_true(there("running/17.json"));
	assert_non_null(strstr(logged, "Read-only file system"));
	rename_error = 0;
	cpl_record_dir_restore(records, (const int64_t[]){17, 18}, 2, take_none,
	                       &taken);
	idle();
	assert_true(there("ended/17.json"));
	assert_true(there("running/18.json"));
}

/* The job runs again before the end of its run before could be written. */
static void test_a_late_end_of_the_run_before(void **state)
{
	write_record(17, 10);
	write_record(18, 10);
	idle();
	rename_error = EROFS;
	cpl_record_dir_end(records, 17);
	cpl_record_dir_end(records, 18);
	idle();
	/* Its next run is no better off: what is there is of the one before. */
	write_record(18, 10);
	idle();
	rename_error = 0;
	write_record(17, 10);
	idle();
	later = 60;
	write_record(19, 10);
	idle();
	assert_true(there("running/17.json"));
	assert_false(there("ended/17.json"));
	assert_true(there("ended/18.json"));
	assert_false(there("running/18.json"));
}

/* Nor does one from before another had the directory end what runs now. */
static void test_a_late_end_of_a_former_charge(void **state)
{
	int taken = 0;

	write_record(17, 10);
	idle();
	rename_error = EIO;
	cpl_record_dir_end(records, 17);
	idle();
	rename_error = 0;
	cpl_record_dir_forget(records);
	cpl_record_dir_restore(records, &(const int64_t){17}, 1, take_none,
	                       &taken);
	idle();
	assert_int_equal(taken, 1);
	assert_true(there("running/17.json"));
}

/* Where ended/ is missing, too, and cannot be made. */
static void test_an_end_on_a_disk_for_reading(void **state)
{
	write_record(17, 10);
	idle();
	put("ended", "in the way");
	rename_error = ENOENT;
	cpl_record_dir_end(records, 17);
	idle();
	assert_true(there("running/17.json"));
	assert_int_equal(lines, 1);
	rename_error = 0;
	assert_int_equal(unlink(in_dir("ended")), 0);
	later = 60;
	write_record(19, 10);
	idle();
	assert_true(there("ended/17.json"));
}

/* A machine went down before the file that says whose it is was on disk. */
static void test_an_owner_that_was_not_written(void **state)
{
	static const char *const text[] = {"", "\n", "here\n"};

	for (int i = 0; i < 3; i++) {
		char *now;

		put("cluster", text[i]);
		if (i == 1)
			assert_int_equal(truncate(in_dir("cluster"), 5), 0);
		close_records();
		open_records("here", CPL_RECORDS_OWNER);
		synced = 0;
		write_record(i, 10);
		idle();
		assert_int_equal(synced, i < 2 ? 2 : 1);
		assert_string_equal(logged, "");
		now = cpl_file_read(in_dir("cluster"), 99, &(size_t){0}, NULL);
		assert_string_equal(now, "here\n");
		free(now);
	}
	assert_true(there("running/2.json"));
}

/* Of a process that was ended while it wrote. */
static void test_what_was_not_written_is_removed(void **state)
{
	int taken = 0;

	write_record(17, 10);
	idle();
	put("running/18.json.tmp-aB3xYz", "{");
	put("counters.json.tmp-aB3xYz", "{");
	put("running/notes.tmp", "");
	cpl_record_dir_restore(records, &(const int64_t){17}, 1, take_none,
	                       &taken);
	idle();
	assert_int_equal(taken, 1);
	assert_false(there("running/18.json.tmp-aB3xYz"));
	assert_false(there("counters.json.tmp-aB3xYz"));
	assert_true(there("running/notes.tmp"));
}

/* Folders in the place of records, full ones and empty ones, where jobs run and
 * where they have ended: each record gets where it belongs. */
static void test_folders_for_records(void **state)
{
	static const char *const folder[] = {
	        "running", "ended", "running/1.json", "running/2.json",
	        "running/2.json/x", "ended/3.json", "ended/4.json",
	        "ended/4.json/x", "running/5.json", "running/6.json",
	};
	int taken = 0;

	for (size_t i = 0; i < sizeof(folder) / sizeof(*folder); i++)
		assert_int_equal(mkdir(in_dir(folder[i]), 0755), 0);
	assert_int_equal(mkfifo(in_dir("running/7.json"), 0600), 0);
	for (int i = 1; i <= 4; i++)
		write_record(i, 10);
	idle();
	for (int i = 1; i <= 7; i++)
		cpl_record_dir_end(records, i);
	cpl_record_dir_restore(records, (const int64_t[]){99}, 1, take_none,
	                       &taken);
	idle();
	for (int i = 1; i <= 7; i++) {
		char name[32];
		struct stat st;

		snprintf(name, sizeof(name), "running/%d.json", i);
		assert_false(there(name));
		snprintf(name, sizeof(name), "ended/%d.json", i);
		assert_int_equal(there(name), i <= 4);
		if (i <= 4)
			assert_true(!stat(in_dir(name), &st) &&
			            S_ISREG(st.st_mode));
	}
	assert_true(there("running/2.json.aside/x"));
	assert_true(there("ended/4.json.aside/x"));
	assert_string_equal(logged, "");
}

/* One that cannot be moved for reasons of its own does not keep the others. */
static void test_one_end_that_fails(void **state)
{
	int taken = 0;

	assert_int_equal(mkdir(in_dir("ended"), 0755), 0);
	for (int i = 1; i <= 3; i++)
		write_record(i, 10);
	idle();
	rename_error = EROFS;
	for (int i = 1; i <= 3; i++)
		cpl_record_dir_end(records, i);
	idle();
	rename_error = 0;
	/* Full folders under both names stay where they are. */
	assert_int_equal(mkdir(in_dir("ended/1.json"), 0755), 0);
	assert_int_equal(mkdir(in_dir("ended/1.json/x"), 0755), 0);
	assert_int_equal(mkdir(in_dir("ended/1.json.aside"), 0755), 0);
	assert_int_equal(mkdir(in_dir("ended/1.json.aside/x"), 0755), 0);
	for (int i = 0; i < 2; i++)
		cpl_record_dir_restore(records, (const int64_t[]){1, 2, 3}, 3,
		                       take_none, &taken);
	idle();
	assert_true(there("running/1.json"));
	assert_true(there("ended/2.json"));
	assert_true(there("ended/3.json"));
}

/* Fault 1: what cannot be taken back is set aside and harms nobody. */
static void test_records_that_are_none(void **state)
{
#define HEAD "{\"format\": \"commplace-decision\", \"version\": 1, \"job\": "
	static const char *const text[] = {
	        HEAD "1, \"outcome\": \"observed\", \"stock_hosts\": \"\", "
	             "\"hosts\": [\"a\"], \"rank_host\": [0]}",
	        HEAD "2, \"outcome\": \"observed\", \"stock_hosts\": \"n[\", "
	             "\"hosts\": [\"a\"], \"rank_host\": [0]}",
	        HEAD "4, \"outcome\": \"placed\", \"hosts\": [\"a\"]}",
	        "{",
	        "",
	};
	const int64_t id[] = {1, 2, 3, 4, 5, 6};
	int taken = 0;
	char name[32];

	assert_int_equal(mkdir(in_dir("running"), 0755), 0);
	for (int i = 0; i < 5; i++) {
		snprintf(name, sizeof(name), "running/%d.json", i + 1);
		put(name, text[i]);
	}
	put("running/6.json",
	    HEAD "6, \"outcome\": \"observed\", \"stock_hosts\": \"n[0-1]\", "
	         "\"hosts\": [\"a\"], \"rank_host\": [0, 0, 0]}");
	put("running/notes", "");
	cpl_record_dir_restore(records, id, 6, take_none, &taken);
	idle();
	assert_int_equal(taken, 1);
	for (int i = 1; i <= 5; i++) {
		snprintf(name, sizeof(name), "damaged/%d.json", i);
		if (!there(name))
			fail_msg("%s", name);
		snprintf(name, sizeof(name), "record of running job %d cannot",
		         i);
		if (!strstr(logged, name))
			fail_msg("%s: %s", name, logged);
	}
	assert_true(there("running/6.json"));
	assert_true(there("running/notes"));
	assert_non_null(strstr(logged, "\"stock_hosts\" is empty"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	        T(test_a_full_disk),
	        T(test_a_disk_that_stays_full),
	        T(test_records_are_private),
	        T(test_open_records_are_closed),
	        T(test_a_directory_has_one_owner),
	        T(test_old_records_go),
	        T(test_records_go_by_age),
	        T(test_a_clock_that_is_wrong),
	        T(test_a_list_that_hangs),
	        T(test_a_record_that_is_too_large),
	        T(test_a_late_end_of_the_run_before),
	        T(test_a_late_end_of_a_former_charge),
	        T(test_an_end_on_a_disk_for_reading),
	        T(test_an_owner_that_was_not_written),
	        T(test_what_was_not_written_is_removed),
	        T(test_a_disk_that_hangs),
	        T(test_ends_that_fail),
	        T(test_folders_for_records),
	        T(test_one_end_that_fails),
	        T(test_records_that_are_none),
#undef T
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
