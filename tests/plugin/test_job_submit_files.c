/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The submit check and files: changed, strange, of others, out of reach. */
#include "submit.h"

#include <errno.h>
#include <pthread.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define OWN_OPEN strstr(path, "/profiles/")
#include "../tools/own_files.h"

static const char torus[] =
        "{\"format\": \"commplace-network\", \"version\": 1, \"name\": \"t\", "
        "\"type\": \"torus\", \"dims\": [4], \"wrap\": [true], "
        "\"nodes_per_router\": 1, \"nodes\": \"n[0-3]\"}";

static void network_changes(void **state)
{
	assert_int_equal(rc_of("COMM_PLACEMENT_POLICY=blocked"), EINVAL);
	put_file("network.json", torus);
	assert_int_equal(rc_of("COMM_PLACEMENT_POLICY=blocked"), 0);
	assert_int_equal(rc_of("COMM_PLACEMENT_POLICY=RDG"), EINVAL);
	/* Broken: the one in force stays. */
	put_file("network.json", "{");
	assert_int_equal(rc_of("COMM_PLACEMENT_POLICY=RDG"), EINVAL);
	assert_int_equal(rc_of("COMM_PLACEMENT_POLICY=blocked"), 0);
	assert_int_equal(rc_of("COMM_PLACEMENT_POLICY=best"), EINVAL);
}

static void profile_changes(void **state)
{
	assert_int_equal(rc_of("COMM_PROFILE=broken"), EINVAL);
	put_file("profiles/broken.json", signature4);
	assert_int_equal(rc_of("COMM_PROFILE=broken"), 0);
	put_file("profiles/broken.json", "[]");
	assert_int_equal(rc_of("COMM_PROFILE=broken"), EINVAL);
	assert_int_equal(rc_of("COMM_PROFILE=broken"), EINVAL);
}

/* The content of an unchanged file is not read again. */
static void profile_remembered(void **state)
{
	const char *path = in_dir("profiles/milc.json");
	struct stat st;
	struct timespec times[2];
	size_t length;
	FILE *f;

	assert_int_equal(rc_of("COMM_PROFILE=milc"), 0);
	assert_int_equal(stat(path, &st), 0);
	length = (size_t)st.st_size;
	f = fopen(path, "r+");
	assert_non_null(f);
	for (size_t i = 0; i < length; i++)
		fputc('x', f);
	fclose(f);
	times[0] = times[1] = st.st_mtim;
	utimensat(AT_FDCWD, path, times, 0);
	assert_int_equal(rc_of("COMM_PROFILE=milc"), 0);
}

/* None of these may block or be read. */
static void not_files(void **state)
{
	struct job j;

	assert_int_equal(mkfifo(in_dir("profiles/fifo.json"), 0644), 0);
	run(&j, "COMM_PROFILE=fifo", "x", 4, NULL);
	assert_int_equal(j.rc, EINVAL);
	assert_non_null(strstr(j.message, "not a regular file"));
	done(&j);
	assert_int_equal(symlink("/etc/passwd", in_dir("profiles/link.json")),
	                 0);
	run(&j, "COMM_PROFILE=link", "x", 4, NULL);
	assert_int_equal(j.rc, EINVAL);
	assert_non_null(strstr(j.message, "is a symbolic link"));
	done(&j);
	assert_int_equal(mkdir(in_dir("profiles/dir.json"), 0755), 0);
	run(&j, "COMM_PROFILE=dir", "x", 4, NULL);
	assert_int_equal(j.rc, EINVAL);
	done(&j);
	put_file("profiles/huge.json", signature4);
	assert_int_equal(truncate(in_dir("profiles/huge.json"), 300L << 20), 0);
	run(&j, "COMM_PROFILE=huge", "x", 4, NULL);
	assert_int_equal(j.rc, EINVAL);
	assert_non_null(strstr(j.message, "at most"));
	done(&j);
	unlink(in_dir("profiles/fifo.json"));
	unlink(in_dir("profiles/link.json"));
	rmdir(in_dir("profiles/dir.json"));
	unlink(in_dir("profiles/huge.json"));
}

static void many_profiles(void **state)
{
	char name[64], env[64];
	struct job j;

	for (int i = 0; i < 300; i++) {
		snprintf(name, sizeof(name), "profiles/p%03d.json", i);
		put_file(name, signature4);
	}
	for (int turn = 0; turn < 2; turn++) {
		for (int i = 0; i < 300; i++) {
			snprintf(env, sizeof(env), "COMM_PROFILE=p%03d", i);
			assert_int_equal(rc_of(env), 0);
		}
	}
	run(&j, "COMM_PROFILE=foo", "x", 4, NULL);
	assert_non_null(strstr(j.message, "p000"));
	assert_null(strstr(j.message, "p299"));
	assert_non_null(strstr(j.message, " and 284 more"));
	done(&j);
	for (int i = 0; i < 300; i++) {
		snprintf(name, sizeof(name), "profiles/p%03d.json", i);
		unlink(in_dir(name));
	}
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Fault 4: a file system that hangs costs one submission MaxDecisionTime, later
 * ones nothing; and what cannot be checked is no reason to refuse a job. */
static void file_system_hangs(void **state)
{
	double begin;
	struct job j;
	int n;

	put_config("MaxDecisionTime=200ms\n"
	           "Match JobName=vasp Profile=vasp");
	assert_int_equal(rc_of(""), 0);
	hang = true;
	begin = seconds();
	run(&j, "COMM_PROFILE=new", "x", 4, NULL);
	assert_int_equal(j.rc, 0);
	assert_non_null(strstr(j.message, "does not answer"));
	assert_non_null(strstr(j.message, "placed by it if it has answered"));
	done(&j);
	assert_true(seconds() - begin < 1);
	begin = seconds();
	for (int i = 0; i < 20; i++) {
		assert_int_equal(rc_of("COMM_PROFILE=new"), 0);
		assert_int_equal(rc_of(""), 0);
		run(&j, "", "vasp", 4, NULL);
		assert_int_equal(j.rc, 0);
		assert_null(j.message);
		assert_null(j.d->admin_comment);
		done(&j);
	}
	assert_true(seconds() - begin < 1);
	/* Nobody waits for the new configuration either. */
	put_config("MaxDecisionTime=200ms\nUserMayOverride=none");
	for (int i = 0; i < 200 && !rc_of("COMM_PROFILE=new"); i++)
		usleep(10000);
	assert_int_equal(rc_of("COMM_PROFILE=new"), EINVAL);
	put_config("MaxDecisionTime=200ms");
	for (int i = 0; i < 200 && rc_of("COMM_PROFILE=new"); i++)
		usleep(10000);
	assert_int_equal(rc_of(""), 0);
	assert_int_equal(hanging, 1);
	/* The plugin can be told to end meanwhile, and to go on. */
	assert_int_equal(plugin_fini(), 0);
	assert_int_equal(plugin_init(), 0);
	hang = false;
	put_file("profiles/new.json", signature4);
	n = -1;
	for (int i = 0; i < 5000 && n; i++) {
		usleep(1000);
		n = rc_of("COMM_PROFILE=new");
	}
	assert_int_equal(n, 0);
	unlink(in_dir("profiles/new.json"));
}

/* Fault 23: a profile that its user could not read is not for him, and not
 * listed either. */
static void profiles_of_others(void **state)
{
	static const struct {
		mode_t mode;
		uid_t owner;
		int rc;
	} row[] = {
	        {0644, 0, 0},    {0600, 0, EINVAL},    {0640, 0, EINVAL},
	        {0400, 1000, 0}, {0044, 1000, EINVAL},
	};
	struct job j;

	if (getuid())
		skip();
	put_file("profiles/secret.json", signature4);
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		const char *path = in_dir("profiles/secret.json");

		assert_int_equal(chown(path, row[i].owner, 0), 0);
		assert_int_equal(chmod(path, row[i].mode), 0);
		run(&j, "COMM_PROFILE=secret", "x", 4, NULL);
		if (j.rc != row[i].rc)
			fail_msg("row %zu: %s", i, j.message ? j.message : "");
		if (j.rc)
			assert_non_null(strstr(j.message, "not yours to use"));
		done(&j);
		run(&j, "COMM_PROFILE=foo", "x", 4, NULL);
		assert_int_equal(!strstr(j.message, "secret"), row[i].rc != 0);
		done(&j);
	}
	/* Not even where missing profiles are ignored; rules may give it. */
	put_config("MissingProfile=ignore\nMatch JobName=y Profile=secret");
	assert_int_equal(rc_of("COMM_PROFILE=secret"), EINVAL);
	run(&j, "", "y", 4, NULL);
	assert_string_equal(j.d->admin_comment,
	                    "commplace: profile=secret policy=auto");
	done(&j);
	unlink(in_dir("profiles/secret.json"));
}

static pthread_mutex_t groups_lock = PTHREAD_MUTEX_INITIALIZER;

/* As Slurm 22.05 has it: for a user whom the host does not know it returns with
 * its lock held. In the executable it comes before libslurmfull's. */
int group_cache_lookup(uid_t uid, gid_t gid, char *name, gid_t **gids);
int group_cache_lookup(uid_t uid, gid_t gid, char *name, gid_t **gids)
{
	if (pthread_mutex_trylock(&groups_lock))
		fail_msg("all submissions stand still");
	return 0;
}

/* Of a profile of one group each submission asks for the user's groups. */
static void users_unknown_to_the_host(void **state)
{
	static const struct {
		uint32_t uid, gid;
		int rc;
	} row[] = {
	        {471100, 471100, EINVAL}, {471100, 471100, EINVAL},
	        {471101, 471199, 0},      {471101, NO_VAL, EINVAL},
	        {1, 1, EINVAL},           {0, 0, 0},
	        {1, 471199, 0},
	};

	if (getuid())
		skip();
	put_file("profiles/team.json", signature4);
	assert_int_equal(chown(in_dir("profiles/team.json"), 0, 471199), 0);
	assert_int_equal(chmod(in_dir("profiles/team.json"), 0640), 0);
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct job j = {.d = xmalloc(sizeof(*j.d))};

		slurm_init_job_desc_msg(j.d);
		j.d->user_id = row[i].uid;
		j.d->group_id = row[i].gid;
		j.d->num_tasks = 4;
		append_env(&j, "COMM_PROFILE=team");
		j.rc = submit(j.d, row[i].uid, &j.message);
		if (j.rc != row[i].rc)
			fail_msg("row %zu: %s", i, j.message ? j.message : "");
		done(&j);
	}
	unlink(in_dir("profiles/team.json"));
}

/* Fault 24: a folder that cannot be read is no lack of a profile. */
static void folder_unreadable(void **state)
{
	struct job j;

	assert_int_equal(rename(in_dir("profiles"), in_dir("moved")), 0);
	run(&j, "COMM_PROFILE=milc", "x", 4, NULL);
	assert_int_equal(j.rc, EINVAL);
	assert_null(strstr(j.message, "no profile"));
	assert_non_null(strstr(j.message, "/profiles: No such file"));
	done(&j);
	assert_non_null(strstr(logged, "/profiles: No such file"));
	assert_int_equal(rename(in_dir("moved"), in_dir("profiles")), 0);
	assert_int_equal(rc_of("COMM_PROFILE=milc"), 0);
}

/* Fault 25: as the guide recommends for large ones. */
static void side_file(void **state)
{
	char command[1024];
	struct job j;

	put_file("large.coo", "# ranks 4\n0 1 100 1\n2 3 100 1\n");
	snprintf(command, sizeof(command),
	         "cd '%s' && '%s' signature import large.coo "
	         "--format coo --binary -o profiles/large.json >/dev/null",
	         dir, CPL_TEST_COMMAND);
	assert_int_equal(system(command), 0);
	run(&j, "COMM_PROFILE=large", "x", 4, NULL);
	if (j.rc)
		fail_msg("%s", j.message);
	done(&j);
	assert_int_equal(rc_of("COMM_PROFILE=milc"), 0);
}

/* A profile that is not quite the job's is used, and the job is told so, however
 * strict the site is. */
static void what_is_told_of_profiles(void **state)
{
	static const struct {
		const char *config, *name;
		uint32_t tasks;
		const char *message; /* NULL: none */
	} row[] = {
	        {"Rescale=yes", "ring", 24,
	         "profile 'ring' was recorded at 16 ranks and is rescaled for "
	         "24, fit error 0.0 %"},
	        {"Rescale=yes RankMismatch=reject", "ring", 24,
	         "profile 'ring' was recorded at 16 ranks and is rescaled for "
	         "24, fit error 0.0 %"},
	        {"", "drift", 4,
	         "profile 'drift' drifts: it is 50.0 % from the one before it "
	         "(commplace signature list drift)"},
	        {"RankMismatch=reject", "drift", 4,
	         "profile 'drift' drifts: it is 50.0 % from the one before it "
	         "(commplace signature list drift)"},
	        {"DriftDistance=60", "drift", 4, NULL},
	        {"Rescale=yes", "ring", 16, NULL},
	};

	put_file("profiles/ring.json",
	         "{\"format\": \"commplace-signature\", \"version\": 1, "
	         "\"ranks\": 16, \"phases\": [{\"pattern\": {\"type\": "
	         "\"stencil\", \"dims\": [16], \"points\": 3, "
	         "\"periodic\": true, \"bytes\": 9}}]}");
	put_file("profiles/drift.json",
	         "{\"format\": \"commplace-signature\", \"version\": 1, "
	         "\"ranks\": 4, \"recorded\": {\"installed\": "
	         "{\"distance\": 0.5}}, \"phases\": [{\"traffic\": "
	         "[[0, 1, 100, 1]]}]}");
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		char env[64];
		struct job j;

		snprintf(env, sizeof(env), "COMM_PROFILE=%s", row[i].name);
		put_config(row[i].config);
		run(&j, env, "x", row[i].tasks, NULL);
		if (j.rc || !row[i].message != !j.message ||
		    (j.message && !strstr(j.message, row[i].message)))
			fail_msg("row %zu: %d %s", i, j.rc,
			         j.message ? j.message : "");
		done(&j);
	}
	unlink(in_dir("profiles/ring.json"));
	unlink(in_dir("profiles/drift.json"));
}

#define T(f) cmocka_unit_test_setup_teardown(f, submit_start, submit_stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        T(network_changes),    T(profile_changes),
	        T(profile_remembered), T(not_files),
	        T(many_profiles),      T(file_system_hangs),
	        T(profiles_of_others), T(folder_unreadable),
	        T(side_file),          T(users_unknown_to_the_host),
	        T(what_is_told_of_profiles),
	};

	return cmocka_run_group_tests(tests, load, unload);
}
