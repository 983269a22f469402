/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job_submit_commplace.so in the place of slurmctld: hand-made job
 * descriptions against files in a folder of its own. Slurm's log functions are
 * replaced to read what the plugin logs.
 */
#include "slurm_compat_ctld.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

char *default_part_name = "main";

static char dir[] = "/tmp/commplace-job-submit-XXXXXX";
static char logged[8192];
static int log_lines, log_errors;

static int (*submit)(job_desc_msg_t *, uint32_t, char **);
static int (*modify)(job_desc_msg_t *, job_record_t *, uint32_t);
static int (*plugin_init)(void);
static int (*plugin_fini)(void);

static void take_line(const char *format, va_list ap)
{
	size_t n = strlen(logged);

	vsnprintf(logged + n, sizeof(logged) - n, format, ap);
	log_lines++;
}

/* In the executable they come before libslurmfull's. */
#undef error
int slurm_error(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	take_line(format, ap);
	va_end(ap);
	log_errors++;
	return 0;
}

void slurm_log_var(const log_level_t level, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	take_line(format, ap);
	va_end(ap);
}

int slurm_get_log_level(void)
{
	return LOG_LEVEL_DEBUG;
}

/* A file system that hangs: open() below DIR/profiles waits. */
static pthread_mutex_t hang_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t hang_change = PTHREAD_COND_INITIALIZER;
static bool hang;
static int hanging; /* threads that wait */

int open(const char *path, int flags, ...)
{
	mode_t mode = 0;

	if (flags & O_CREAT) {
		va_list ap;

		va_start(ap, flags);
		mode = va_arg(ap, mode_t);
		va_end(ap);
	}
	pthread_mutex_lock(&hang_lock);
	if (hang && strstr(path, "/profiles/")) {
		hanging++;
		while (hang)
			pthread_cond_wait(&hang_change, &hang_lock);
		hanging--;
	}
	pthread_mutex_unlock(&hang_lock);
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

static void set_hang(bool value)
{
	pthread_mutex_lock(&hang_lock);
	hang = value;
	pthread_cond_broadcast(&hang_change);
	pthread_mutex_unlock(&hang_lock);
}

static const char *in_dir(const char *name)
{
	static char path[2][512];
	static int turn;

	turn = !turn;
	snprintf(path[turn], sizeof(path[0]), "%s/%s", dir, name);
	return path[turn];
}

/* Each file gets a time of its own, so that a rewrite is always a change. */
static void put_file(const char *name, const char *text)
{
	static time_t tick = 1000000000;
	const char *path = in_dir(name);
	struct timespec times[2] = {{.tv_sec = ++tick}, {.tv_sec = tick}};
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

#define BASE                                                                   \
	"NetworkFile=%s/network.json\nProfileDir=%s/profiles\n"                \
	"StateDir=%s/state\n"

static void put_config(const char *more)
{
	char text[4096];

	snprintf(text, sizeof(text), BASE "%s\n", dir, dir, dir, more);
	put_file("commplace.conf", text);
}

static const char signature4[] =
        "{\"format\": \"commplace-signature\", \"version\": 1, \"name\": "
        "\"milc\", \"ranks\": 4, \"phases\": [{\"name\": \"p\", \"weight\": 1, "
        "\"traffic\": [[0, 1, 100, 1], [2, 3, 100, 1]]}]}";

static const char dragonfly[] =
        "{\"format\": \"commplace-network\", \"version\": 1, \"name\": \"t\", "
        "\"type\": \"dragonfly\", \"groups\": 2, \"rows\": 1, \"columns\": 1, "
        "\"nodes_per_router\": 2, \"global_links_per_group_pair\": 1, "
        "\"nodes\": \"n[0-3]\"}";

static const char torus[] =
        "{\"format\": \"commplace-network\", \"version\": 1, \"name\": \"t\", "
        "\"type\": \"torus\", \"dims\": [4], \"wrap\": [true], "
        "\"nodes_per_router\": 1, \"nodes\": \"n[0-3]\"}";

static void *handle;

static int load(void **state)
{
	char path[4096];

	assert_non_null(mkdtemp(dir));
	setenv("SLURM_CONF", in_dir("slurm.conf"), 1);
	assert_int_equal(mkdir(in_dir("profiles"), 0755), 0);
	snprintf(path, sizeof(path), "%s/.libs/job_submit_commplace.so",
	         CPL_TEST_BUILDDIR);
	handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	if (!handle) {
		print_error("%s\n", dlerror());
		return -1;
	}
	*(void **)&submit = dlsym(handle, "job_submit");
	*(void **)&modify = dlsym(handle, "job_modify");
	*(void **)&plugin_init = dlsym(handle, "init");
	*(void **)&plugin_fini = dlsym(handle, "fini");
	return submit && modify && plugin_init && plugin_fini ? 0 : -1;
}

static int unload(void **state)
{
	char command[600];

	dlclose(handle);
	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	return system(command);
}

static int start(void **state)
{
	put_config("");
	put_file("network.json", dragonfly);
	put_file("profiles/milc.json", signature4);
	put_file("profiles/vasp.json", signature4);
	put_file("profiles/damaged.json",
	         "{\"format\": \"commplace-signature\", \"version\": 1, "
	         "\"name\": \"d\", \"ranks\": -4, \"phases\": []}");
	put_file("profiles/broken.json", "{\"format\": ");
	logged[0] = '\0';
	log_lines = log_errors = 0;
	return plugin_init();
}

static int stop(void **state)
{
	unlink(in_dir("commplace.conf"));
	return plugin_fini();
}

struct job {
	job_desc_msg_t d;
	char *message;
	int rc;
};

static void append_env(struct job *j, const char *entry)
{
	xrealloc(j->d.spank_job_env,
	         (j->d.spank_job_env_size + 1) * sizeof(char *));
	j->d.spank_job_env[j->d.spank_job_env_size++] = xstrdup(entry);
}

/* env: "A=1 B=2"; tasks 0: not given. */
static void run(struct job *j, const char *env, const char *name,
                uint32_t tasks, const char *partition)
{
	char *copy = strdup(env), *save = NULL;

	memset(j, 0, sizeof(*j));
	slurm_init_job_desc_msg(&j->d);
	j->d.name = name ? xstrdup(name) : NULL;
	j->d.partition = partition ? xstrdup(partition) : NULL;
	j->d.num_tasks = tasks ? tasks : NO_VAL;
	j->d.script = xstrdup("#!/bin/sh\n");
	j->d.environment = xcalloc(2, sizeof(char *));
	j->d.environment[0] = xstrdup("PATH=/bin");
	j->d.env_size = 1;
	for (char *p = strtok_r(copy, " ", &save); p;
	     p = strtok_r(NULL, " ", &save))
		append_env(j, p);
	free(copy);
	j->rc = submit(&j->d, 1000, &j->message);
}

static void done(struct job *j)
{
	for (uint32_t i = 0; i < j->d.spank_job_env_size; i++)
		xfree(j->d.spank_job_env[i]);
	xfree(j->d.spank_job_env);
	for (uint32_t i = 0; i < j->d.env_size; i++)
		xfree(j->d.environment[i]);
	xfree(j->d.environment);
	xfree(j->d.name);
	xfree(j->d.partition);
	xfree(j->d.script);
	xfree(j->d.admin_comment);
	xfree(j->message);
}

static bool has(char **array, uint32_t n, const char *entry)
{
	for (uint32_t i = 0; i < n; i++)
		if (!strcmp(array[i], entry))
			return true;
	return false;
}

#define OPTION "_SLURM_SPANK_OPTION_commplace_"

static const struct row {
	const char *config, *env, *name;
	uint32_t tasks;
	int rc;
	const char *message; /* parts, separated by "|"; NULL: none */
	const char *comment; /* NULL: none */
} rows[] = {
        /* accepted */
        {"", "", "x", 4, 0, NULL, NULL},
        {"", "OTHER=1", "x", 4, 0, NULL, NULL},
        {"", "COMM_PROFILE=milc", "x", 4, 0, NULL,
         "commplace: profile=milc policy=auto"},
        {"", OPTION "comm_profile=milc", "x", 4, 0, NULL,
         "commplace: profile=milc policy=auto"},
        {"", "COMM_PROFILE=milc", "x", 0, 0, NULL,
         "commplace: profile=milc policy=auto"},
        {"DefaultPolicy=random-groups", "COMM_PROFILE=milc", "x", 4, 0, NULL,
         "commplace: profile=milc policy=random-groups"},
        {"Partition=main DefaultPolicy=linear", "COMM_PROFILE=milc", "x", 4, 0,
         NULL, "commplace: profile=milc policy=linear"},
        {"", "COMM_PROFILE=milc COMM_PLACEMENT_POLICY=RDG", "x", 4, 0, NULL,
         "commplace: profile=milc policy=RDG"},
        {"", "COMM_PLACEMENT_POLICY=random-nodes", "x", 4, 0, NULL,
         "commplace: policy=random-nodes"},
        {"", "COMM_PLACEMENT_POLICY=auto", "x", 4, 0,
         "--placement-policy=auto chooses by a profile",
         "commplace: policy=auto"},
        {"", "COMM_RANK_MAPPING=linear", "x", 4, 0,
         "--rank-mapping has no effect without --comm-profile", NULL},
        {"", "COMM_PROFILE=milc COMM_RANK_MAPPING=linear", "x", 4, 0, NULL,
         "commplace: profile=milc policy=auto mapping=linear"},
        {"Mode=observe", "COMM_PROFILE=milc", "x", 4, 0, NULL,
         "commplace: profile=milc policy=auto (observed)"},
        /* profiles that cannot be used */
        {"", "COMM_PROFILE=foo", "x", 4, EINVAL,
         "commplace: no profile 'foo' in |/profiles; there are: broken, "
         "damaged, milc, vasp (commplace signature list)",
         NULL},
        {"", "COMM_PROFILE=../../etc/shadow", "x", 4, EINVAL,
         "commplace: ", NULL},
        {"", "COMM_PROFILE=.milc", "x", 4, EINVAL, "commplace: ", NULL},
        {"", "COMM_PROFILE=damaged", "x", 4, EINVAL,
         "/profiles/damaged.json|ranks", NULL},
        {"", "COMM_PROFILE=broken", "x", 4, EINVAL, "/profiles/broken.json:1",
         NULL},
        {"MissingProfile=ignore", "COMM_PROFILE=foo", "x", 4, 0,
         "no profile 'foo'|the job goes on without a profile",
         "commplace: profile=foo policy=auto"},
        {"MissingProfile=ignore", "COMM_PROFILE=broken", "x", 4, 0,
         "/profiles/broken.json:1|the job goes on without a profile",
         "commplace: profile=broken policy=auto"},
        {"MissingProfile=ignore", "COMM_PROFILE=a/b", "x", 4, EINVAL,
         "commplace: ", NULL},
        /* rank counts */
        {"", "COMM_PROFILE=milc", "x", 8, 0,
         "profile 'milc' was recorded at 4 ranks, the job has 8",
         "commplace: profile=milc policy=auto"},
        {"RankMismatch=reject", "COMM_PROFILE=milc", "x", 8, EINVAL,
         "profile 'milc' was recorded at 4 ranks, the job has 8; take", NULL},
        {"RankMismatch=reject", "COMM_PROFILE=milc", "x", 4, 0, NULL,
         "commplace: profile=milc policy=auto"},
        {"RankMismatch=reject", "COMM_PROFILE=milc", "x", 0, 0, NULL,
         "commplace: profile=milc policy=auto"},
        /* names that somebody smuggled past the commands */
        {"", "COMM_PLACEMENT_POLICY=best", "x", 4, EINVAL,
         "--placement-policy: |'best'|random-groups", NULL},
        {"", "COMM_PLACEMENT_POLICY=blocked", "x", 4, EINVAL,
         "--placement-policy: |'blocked' is not for this network type", NULL},
        {"", "COMM_RANK_MAPPING=fastest", "x", 4, EINVAL,
         "--rank-mapping: |greedyallc", NULL},
        /* what the site forbids */
        {"UserMayOverride=none", "COMM_PROFILE=milc", "x", 4, EINVAL,
         "does not let users choose the profile|leave out --comm-profile",
         NULL},
        {"UserMayOverride=profile", "COMM_PLACEMENT_POLICY=linear", "x", 4,
         EINVAL,
         "does not let users choose the policy|leave out --placement-policy",
         NULL},
        {"UserMayOverride=profile,policy", "COMM_RANK_MAPPING=linear", "x", 4,
         EINVAL,
         "does not let users choose the mapping|leave out --rank-mapping",
         NULL},
        {"UserMayOverride=profile", "COMM_PROFILE=milc", "x", 4, 0, NULL,
         "commplace: profile=milc policy=auto"},
        /* Match rules */
        {"Match JobName=vasp* Profile=vasp", "", "vasp-big", 4, 0, NULL,
         "commplace: profile=vasp policy=auto"},
        {"Match JobName=vasp* Profile=vasp", "", "other", 4, 0, NULL, NULL},
        {"Match JobName=vasp* Profile=vasp", "", NULL, 4, 0, NULL, NULL},
        {"Match JobName=vasp* Profile=vasp", "COMM_PROFILE=milc", "vasp", 4, 0,
         NULL, "commplace: profile=milc policy=auto"},
        {"Match JobName=vasp* Profile=vasp", OPTION "comm_profile=none", "vasp",
         4, 0, NULL, NULL},
        {"UserMayOverride=none\nMatch JobName=vasp* Profile=vasp", "", "vasp",
         4, 0, NULL, "commplace: profile=vasp policy=auto"},
        {"Match JobName=vasp* Profile=gone", "", "vasp", 4, 0, NULL, NULL},
        {"Match JobName=vasp* Profile=broken", "", "vasp", 4, 0, NULL, NULL},
        {"RankMismatch=reject\nMatch JobName=vasp* Profile=vasp", "", "vasp", 9,
         0, NULL, NULL},
        /* switched off: nothing is looked at */
        {"Mode=off", "COMM_PROFILE=foo COMM_PLACEMENT_POLICY=best", "x", 4, 0,
         NULL, NULL},
};

static void check_parts(const char *message, const char *parts, int number)
{
	char *copy = strdup(parts), *save = NULL;

	for (char *p = strtok_r(copy, "|", &save); p;
	     p = strtok_r(NULL, "|", &save))
		if (!message || !strstr(message, p))
			fail_msg("row %d: '%s' lacks '%s'", number,
			         message ? message : "(no message)", p);
	free(copy);
}

static void table(void **state)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct row *r = &rows[i];
		struct job j;

		put_config(r->config);
		run(&j, r->env, r->name, r->tasks, NULL);
		if (j.rc != r->rc)
			fail_msg("row %d: rc %d, not %d: %s", (int)i, j.rc,
			         r->rc, j.message ? j.message : "");
		if (r->message)
			check_parts(j.message, r->message, (int)i);
		else if (j.message)
			fail_msg("row %d: says '%s'", (int)i, j.message);
		if (j.message)
			assert_null(strchr(j.message, '\n'));
		if (r->comment && !j.d.admin_comment)
			fail_msg("row %d: no comment", (int)i);
		if (r->comment)
			assert_string_equal(j.d.admin_comment, r->comment);
		else if (j.d.admin_comment)
			fail_msg("row %d: comment '%s'", (int)i,
			         j.d.admin_comment);
		done(&j);
	}
}

static void comment_kept(void **state)
{
	struct job j = {0};
	char *message = NULL;

	slurm_init_job_desc_msg(&j.d);
	j.d.admin_comment = xstrdup("from the operator");
	j.d.spank_job_env = xcalloc(1, sizeof(char *));
	j.d.spank_job_env[0] = xstrdup("COMM_PROFILE=milc");
	j.d.spank_job_env_size = 1;
	assert_int_equal(submit(&j.d, 0, &message), 0);
	assert_string_equal(
	        j.d.admin_comment,
	        "from the operator; commplace: profile=milc policy=auto");
	done(&j);
}

/* A matched job looks as if its user had given the flag. */
static void attached(void **state)
{
	struct job j;

	put_config("Match JobName=vasp* Profile=vasp");
	run(&j, "OTHER=1", "vasp", 4, NULL);
	assert_int_equal(j.d.spank_job_env_size, 2);
	assert_true(has(j.d.spank_job_env, 2, "COMM_PROFILE=vasp"));
	assert_true(has(j.d.spank_job_env, 2, "OTHER=1"));
	assert_true(has(j.d.environment, j.d.env_size, "COMM_PROFILE=vasp"));
	assert_null(j.d.environment[j.d.env_size]);
	done(&j);
}

static void opted_out(void **state)
{
	struct job j;

	put_config("Match JobName=vasp* Profile=vasp");
	run(&j, "A=1 " OPTION "comm_profile=none COMM_RANK_MAPPING=linear",
	    "vasp", 4, NULL);
	assert_int_equal(j.rc, 0);
	/* The select plugin reads it there and leaves the rule out too. */
	assert_int_equal(j.d.spank_job_env_size, 3);
	assert_false(has(j.d.environment, j.d.env_size, "COMM_PROFILE=vasp"));
	assert_null(j.d.admin_comment);
	done(&j);
}

static void partition(void **state)
{
	static const struct {
		const char *partition, *policy;
	} row[] = {
	        {NULL, "policy=auto"},
	        {"main", "policy=auto"},
	        {"big", "policy=random-routers"},
	        {"big,main", "policy=random-routers"},
	        {"main,big", "policy=auto"},
	};

	put_config("Partition=big DefaultPolicy=random-routers");
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct job j;

		run(&j, "COMM_PROFILE=milc", "x", 4, row[i].partition);
		assert_non_null(strstr(j.d.admin_comment, row[i].policy));
		done(&j);
	}
}

/* slurmctld adds -N times --ntasks-per-node up only after us. */
static void tasks_per_node(void **state)
{
	struct job j = {0};
	char *message = NULL;

	put_config("RankMismatch=reject");
	slurm_init_job_desc_msg(&j.d);
	j.d.ntasks_per_node = 2;
	j.d.min_nodes = 4;
	j.d.spank_job_env = xcalloc(1, sizeof(char *));
	j.d.spank_job_env[0] = xstrdup("COMM_PROFILE=milc");
	j.d.spank_job_env_size = 1;
	assert_int_equal(submit(&j.d, 0, &message), EINVAL);
	assert_non_null(strstr(message, "the job has 8"));
	xfree(message);
	j.d.min_nodes = 2;
	assert_int_equal(submit(&j.d, 0, &message), 0);
	assert_null(message);
	done(&j);
}

/* Fault 14: nodes without tasks: steps run one for each node, not the profile's
 * ranks, and users are told. */
static void nodes_only(void **state)
{
	static const struct {
		uint32_t min, max;
		uint16_t tasks_per_node, tasks_per_tres;
		uint32_t implied; /* 0: nothing is said */
	} row[] = {
	        {2, 2, NO_VAL16, NO_VAL16, 2},
	        {2, NO_VAL, NO_VAL16, NO_VAL16, 2},
	        {2, 3, NO_VAL16, NO_VAL16, 3},
	        {6, 8, NO_VAL16, NO_VAL16, 6},
	        {1, 1, NO_VAL16, NO_VAL16, 1},
	        /* that is what the profile is of */
	        {4, 4, NO_VAL16, NO_VAL16, 0},
	        {2, 6, NO_VAL16, NO_VAL16, 0},
	        /* tasks are stated, or slurmctld has yet to count them */
	        {2, 2, 2, NO_VAL16, 0},
	        {2, 2, NO_VAL16, 2, 0},
	        {NO_VAL, NO_VAL, NO_VAL16, NO_VAL16, 0},
	};

	for (size_t i = 0; i < 2 * sizeof(row) / sizeof(*row); i++) {
		size_t k = i / 2;
		bool reject = i % 2;
		struct job j = {0};
		char parts[256];

		put_config(reject ? "RankMismatch=reject" : "");
		slurm_init_job_desc_msg(&j.d);
		j.d.min_nodes = row[k].min;
		j.d.max_nodes = row[k].max;
		j.d.ntasks_per_node = row[k].tasks_per_node;
		j.d.ntasks_per_tres = row[k].tasks_per_tres;
		append_env(&j, "COMM_PROFILE=milc");
		j.rc = submit(&j.d, 1000, &j.message);
		assert_int_equal(j.rc, reject && row[k].implied ? EINVAL : 0);
		if (!row[k].implied && j.message)
			fail_msg("row %zu: says '%s'", k, j.message);
		snprintf(parts, sizeof(parts),
		         "profile 'milc' was recorded at 4 ranks|steps have "
		         "%u unless|add -n 4%s",
		         row[k].implied,
		         reject ? "" : " (it is placed as 4 ranks)");
		if (row[k].implied)
			check_parts(j.message, parts, (int)k);
		done(&j);
	}
	/* With -n, nothing of it is said; nor of a rule's profile. */
	put_config("RankMismatch=reject\nMatch JobName=vasp Profile=vasp");
	for (int rule = 0; rule < 2; rule++) {
		struct job j = {0};

		slurm_init_job_desc_msg(&j.d);
		j.d.min_nodes = j.d.max_nodes = 2;
		if (rule) {
			j.d.name = xstrdup("vasp");
		} else {
			j.d.num_tasks = 4;
			append_env(&j, "COMM_PROFILE=milc");
		}
		assert_int_equal(submit(&j.d, 1000, &j.message), 0);
		assert_null(j.message);
		assert_non_null(j.d.admin_comment);
		done(&j);
	}
}

static int rc_of(const char *env)
{
	struct job j;
	int rc;

	run(&j, env, "x", 4, NULL);
	rc = j.rc;
	done(&j);
	return rc;
}

static void config_changes(void **state)
{
	assert_int_equal(rc_of("COMM_PROFILE=foo"), EINVAL);
	put_config("MissingProfile=ignore");
	assert_int_equal(rc_of("COMM_PROFILE=foo"), 0);
	assert_int_equal(log_errors, 0);
	/* A broken one: the old one stays, said once. */
	put_config("MissingProfile=perhaps");
	assert_int_equal(rc_of("COMM_PROFILE=foo"), 0);
	assert_int_equal(rc_of("COMM_PROFILE=foo"), 0);
	assert_int_equal(log_errors, 1);
	assert_non_null(strstr(logged, "commplace.conf:4"));
	assert_non_null(strstr(logged, "the configuration in force stays"));
	unlink(in_dir("commplace.conf"));
	assert_int_equal(rc_of("COMM_PROFILE=foo"), 0);
	assert_int_equal(rc_of("COMM_PROFILE=foo"), 0);
	assert_int_equal(log_errors, 2);
	put_config("MissingProfile=reject");
	assert_int_equal(rc_of("COMM_PROFILE=foo"), EINVAL);
	assert_int_equal(log_errors, 2);
}

static void no_config(void **state)
{
	struct job j;

	unlink(in_dir("commplace.conf"));
	run(&j, "COMM_PROFILE=foo", "x", 4, NULL);
	assert_int_equal(j.rc, 0);
	assert_non_null(strstr(j.message, "not in force"));
	assert_non_null(strstr(j.message, "commplace.conf"));
	done(&j);
	run(&j, "", "x", 4, NULL);
	assert_int_equal(j.rc, 0);
	assert_null(j.message);
	done(&j);
	assert_int_equal(log_errors, 1);
}

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
 * ones nothing; what cannot be checked is not there. */
static void file_system_hangs(void **state)
{
	double begin;
	struct job j;
	int n = 0;

	put_config("Match JobName=vasp Profile=vasp");
	assert_int_equal(rc_of(""), 0);
	set_hang(true);
	begin = seconds();
	run(&j, "COMM_PROFILE=new", "x", 4, NULL);
	assert_int_equal(j.rc, EINVAL);
	assert_non_null(strstr(j.message, "does not answer"));
	assert_non_null(strstr(j.message, "submit the job again later"));
	assert_null(j.d.admin_comment);
	done(&j);
	assert_true(seconds() - begin < 1);
	begin = seconds();
	for (int i = 0; i < 20; i++) {
		assert_int_equal(rc_of("COMM_PROFILE=new"), EINVAL);
		assert_int_equal(rc_of(""), 0);
		run(&j, "", "vasp", 4, NULL);
		assert_int_equal(j.rc, 0);
		assert_null(j.message);
		assert_null(j.d.admin_comment);
		done(&j);
	}
	assert_true(seconds() - begin < 1);
	/* Nobody waits for the new configuration either. */
	put_config("MissingProfile=ignore");
	for (int i = 0; i < 200 && rc_of("COMM_PROFILE=new"); i++)
		usleep(10000);
	run(&j, "COMM_PROFILE=new", "x", 4, NULL);
	assert_int_equal(j.rc, 0);
	assert_non_null(strstr(j.message, "does not answer"));
	assert_non_null(strstr(j.message, "goes on without a profile"));
	done(&j);
	put_config("");
	assert_int_equal(rc_of(""), 0);
	pthread_mutex_lock(&hang_lock);
	n = hanging;
	pthread_mutex_unlock(&hang_lock);
	assert_int_equal(n, 1);
	/* The plugin can be told to end meanwhile, and to go on. */
	assert_int_equal(plugin_fini(), 0);
	assert_int_equal(plugin_init(), 0);
	set_hang(false);
	put_file("profiles/new.json", signature4);
	n = -1;
	for (int i = 0; i < 5000 && n; i++) {
		usleep(1000);
		n = rc_of("COMM_PROFILE=new");
	}
	assert_int_equal(n, 0);
	unlink(in_dir("profiles/new.json"));
}

/* Fault 20: a job's name cannot forge a line of the log. */
static void names_in_the_log(void **state)
{
	struct job j;

	put_config("Match JobName=vasp* Profile=gone");
	run(&j, "",
	    "vasp\nerror: forged \xc2\x9b"
	    "2J",
	    4, NULL);
	assert_int_equal(j.rc, 0);
	assert_non_null(strstr(logged, "Match rule for job name vasp?"));
	assert_null(strchr(logged, '\n'));
	assert_null(strchr(logged, '\x9b'));
	done(&j);
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
	assert_string_equal(j.d.admin_comment,
	                    "commplace: profile=secret policy=auto");
	done(&j);
	unlink(in_dir("profiles/secret.json"));
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
	         "cd '%s' && '%s/commplace' signature import large.coo "
	         "--format coo --binary -o profiles/large.json >/dev/null",
	         dir, CPL_TEST_BUILDDIR);
	assert_int_equal(system(command), 0);
	run(&j, "COMM_PROFILE=large", "x", 4, NULL);
	if (j.rc)
		fail_msg("%s", j.message);
	done(&j);
	assert_int_equal(rc_of("COMM_PROFILE=milc"), 0);
}

/* A partition that is left to Slurm: said, and nothing else. */
static void stock_partition(void **state)
{
	struct job j;

	put_config("Partition=main DefaultPolicy=none\nPartition=no Mode=off");
	run(&j, "COMM_PROFILE=milc", "x", 4, NULL);
	assert_int_equal(j.rc, 0);
	assert_non_null(strstr(j.message, "partition main is left to Slurm"));
	assert_null(j.d.admin_comment);
	done(&j);
	run(&j, "COMM_PROFILE=gone", "x", 4, "no");
	assert_int_equal(j.rc, 0);
	assert_null(j.message);
	done(&j);
}

static void modify_passes(void **state)
{
	job_desc_msg_t d;

	slurm_init_job_desc_msg(&d);
	assert_int_equal(modify(&d, NULL, 1000), 0);
}

static void symbols(void **state)
{
	assert_string_equal(dlsym(handle, "plugin_type"),
	                    "job_submit/commplace");
	assert_int_equal(*(uint32_t *)dlsym(handle, "plugin_version"),
	                 SLURM_VERSION_NUMBER);
	assert_null(dlsym(handle, "cplsubmit_check"));
}

#define T(f) cmocka_unit_test_setup_teardown(f, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        T(symbols),           T(table),
	        T(comment_kept),      T(attached),
	        T(opted_out),         T(partition),
	        T(tasks_per_node),    T(config_changes),
	        T(no_config),         T(network_changes),
	        T(profile_changes),   T(profile_remembered),
	        T(not_files),         T(many_profiles),
	        T(file_system_hangs), T(modify_passes),
	        T(names_in_the_log),  T(profiles_of_others),
	        T(folder_unreadable), T(side_file),
	        T(stock_partition),   T(nodes_only),
	};

	return cmocka_run_group_tests(tests, load, unload);
}
