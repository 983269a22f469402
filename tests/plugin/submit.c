/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "submit.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

char *default_part_name = "main";

char dir[] = "/tmp/commplace-job-submit-XXXXXX";
char logged[8192];
int log_lines, log_infos, log_errors;

int (*submit)(job_desc_msg_t *, uint32_t, char **);
int (*modify)(job_desc_msg_t *, job_record_t *, CPLSLURM_MODIFY_TAIL);
int (*plugin_init)(void);
int (*plugin_fini)(void);

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
	log_infos += level == LOG_LEVEL_INFO;
}

int slurm_get_log_level(void)
{
	return LOG_LEVEL_DEBUG;
}

const char *in_dir(const char *name)
{
	static char path[2][512];
	static int turn;

	turn = !turn;
	snprintf(path[turn], sizeof(path[0]), "%s/%s", dir, name);
	return path[turn];
}

/* Each file gets a time of its own, so that a rewrite is always a change. */
void put_file(const char *name, const char *text)
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

void put_config(const char *more)
{
	char text[4096];

	snprintf(text, sizeof(text), BASE "%s\n%s\n", dir, dir, dir, more,
	         strstr(more, "MaxDecisionTime") ? "" : "MaxDecisionTime=20s");
	put_file("commplace.conf", text);
}

const char signature4[] =
        "{\"format\": \"commplace-signature\", \"version\": 1, \"name\": "
        "\"milc\", \"ranks\": 4, \"phases\": [{\"name\": \"p\", \"weight\": 1, "
        "\"traffic\": [[0, 1, 100, 1], [2, 3, 100, 1]]}]}";

static const char dragonfly[] =
        "{\"format\": \"commplace-network\", \"version\": 1, \"name\": \"t\", "
        "\"type\": \"dragonfly\", \"groups\": 2, \"rows\": 1, \"columns\": 1, "
        "\"nodes_per_router\": 2, \"global_links_per_group_pair\": 1, "
        "\"nodes\": \"n[0-3]\"}";

void *handle;

int load(void **state)
{
	char path[4096];

	assert_non_null(mkdtemp(dir));
	setenv("SLURM_CONF", in_dir("slurm.conf"), 1);
	setenv("COMMPLACED", CPL_TEST_COMMPLACED, 1);
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

int unload(void **state)
{
	char command[600];

	dlclose(handle);
	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	return system(command);
}

int submit_start(void **state)
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
	log_lines = log_infos = log_errors = 0;
	return plugin_init();
}

int submit_stop(void **state)
{
	unlink(in_dir("commplace.conf"));
	return plugin_fini();
}

void append_env(struct job *j, const char *entry)
{
	xrealloc(j->d->spank_job_env,
	         (j->d->spank_job_env_size + 1) * sizeof(char *));
	j->d->spank_job_env[j->d->spank_job_env_size++] = xstrdup(entry);
}

static void run_job(struct job *j, uint32_t uid, bool batch, const char *env,
                    const char *name, uint32_t tasks, const char *partition)
{
	char *copy = strdup(env), *save = NULL;

	memset(j, 0, sizeof(*j));
	j->d = xmalloc(sizeof(*j->d));
	slurm_init_job_desc_msg(j->d);
	/* Whoever sends it: slurmctld fills it in before it asks. */
	j->d->user_id = j->d->group_id = uid;
	j->d->name = name ? xstrdup(name) : NULL;
	j->d->partition = partition ? xstrdup(partition) : NULL;
	j->d->num_tasks = tasks ? tasks : NO_VAL;
	j->d->script = batch ? xstrdup("#!/bin/sh\n") : NULL;
	j->d->environment = xcalloc(2, sizeof(char *));
	j->d->environment[0] = xstrdup("PATH=/bin");
	j->d->env_size = 1;
	for (char *p = strtok_r(copy, " ", &save); p;
	     p = strtok_r(NULL, " ", &save))
		append_env(j, p);
	free(copy);
	j->rc = submit(j->d, 1000, &j->message);
}

void run(struct job *j, const char *env, const char *name, uint32_t tasks,
         const char *partition)
{
	run_job(j, 1000, true, env, name, tasks, partition);
}

void run_as(struct job *j, bool batch, const char *env, const char *name,
            uint32_t tasks)
{
	/* Every system has user 1, daemon. */
	run_job(j, 1, batch, env, name, tasks, "main");
}

void done(struct job *j)
{
	for (uint32_t i = 0; i < j->d->spank_job_env_size; i++)
		xfree(j->d->spank_job_env[i]);
	xfree(j->d->spank_job_env);
	for (uint32_t i = 0; i < j->d->env_size; i++)
		xfree(j->d->environment[i]);
	xfree(j->d->environment);
	xfree(j->d->name);
	xfree(j->d->partition);
	xfree(j->d->script);
	xfree(j->d->admin_comment);
	xfree(j->d);
	xfree(j->message);
}

bool has(char **array, uint32_t n, const char *entry)
{
	for (uint32_t i = 0; i < n; i++)
		if (!strcmp(array[i], entry))
			return true;
	return false;
}

int rc_of(const char *env)
{
	struct job j;
	int rc;

	run(&j, env, "x", 4, NULL);
	rc = j.rc;
	done(&j);
	return rc;
}
