/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "record.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/linking.h"
#include "base/none.h"
#include "keep.h"
#include "signature/signature.h"
#include "site/user_dir.h"
#include "spank_options.h"

#define RECORDER CPL_PKGLIBDIR "/libcommplace-record.so"
#define NCCL_PLUGIN CPL_PKGLIBDIR "/libnccl-profiler-commplace.so"
#define NCCL_VARIABLE "NCCL_PROFILER_PLUGIN"

/* The recorder is put behind what LD_PRELOAD has. */
static void preload(spank_t sp)
{
	char before[SPANK_PATH_SIZE] = "";
	char value[SPANK_PATH_SIZE + sizeof(RECORDER) + 1];
	spank_err_t rc = spank_getenv(sp, "LD_PRELOAD", before, sizeof(before));

	/* A value that does not fit must not be cut. */
	if ((rc != ESPANK_SUCCESS && rc != ESPANK_ENV_NOEXIST) ||
	    strstr(before, RECORDER))
		return;
	snprintf(value, sizeof(value), "%s%s%s", before, *before ? ":" : "",
	         RECORDER);
	spank_setenv(sp, "LD_PRELOAD", value, 1);
}

/* NCCL and RCCL load what this names, one only: the user's own stays. */
static void name_nccl_plugin(spank_t sp)
{
	char set[SPANK_PATH_SIZE] = "";
	spank_err_t rc = spank_getenv(sp, NCCL_VARIABLE, set, sizeof(set));

	if (rc == ESPANK_ENV_NOEXIST || (rc == ESPANK_SUCCESS && !*set))
		spank_setenv(sp, NCCL_VARIABLE, NCCL_PLUGIN, 1);
	else if (rc != ESPANK_SUCCESS || strcmp(set, NCCL_PLUGIN))
		slurm_info("commplace: --comm-record: " NCCL_VARIABLE " is "
		           "set; what NCCL sends is not recorded");
}

void spank_record_no_tasks(spank_t sp)
{
	char value[SPANK_PATH_SIZE], *at;
	size_t n = strlen(RECORDER);

	if (spank_getenv(sp, NCCL_VARIABLE, value, sizeof(value)) ==
	            ESPANK_SUCCESS &&
	    !strcmp(value, NCCL_PLUGIN))
		spank_unsetenv(sp, NCCL_VARIABLE);

	if (spank_getenv(sp, "LD_PRELOAD", value, sizeof(value)) !=
	            ESPANK_SUCCESS ||
	    !(at = strstr(value, RECORDER)))
		return;
	/* The colon on its one side goes with it. */
	if (at[n] == ':')
		n++;
	else if (at > value)
		at--, n++;
	memmove(at, at + n, strlen(at + n) + 1);
	spank_setenv(sp, "LD_PRELOAD", value, 1);
}

/* This is "HOME/.commplace/recording" of the job's user; it returns false if there
 * is no home. */
static bool folder(spank_t sp, char *path, size_t size)
{
	char home[SPANK_PATH_SIZE];

	return spank_getenv(sp, "HOME", home, sizeof(home)) == ESPANK_SUCCESS &&
	       home[0] == '/' &&
	       snprintf(path, size, "%s/" CPL_RECORDING_DIR, home) < (int)size;
}

void spank_record_tasks(spank_t sp, const char *name)
{
	char path[SPANK_PATH_SIZE];
	bool of_mpi = !access(RECORDER, R_OK);

	/* The one for MPI is built where there is an MPI. */
	if (!of_mpi && access(NCCL_PLUGIN, R_OK)) {
		slurm_info("commplace: --comm-record: %s: %s; the job is not "
		           "recorded",
		           NCCL_PLUGIN, strerror(errno));
		return;
	}
	if (!folder(sp, path, sizeof(path)))
		return;
	spank_setenv(sp, "COMMPLACE_RECORD_DIR", path, 1);
	spank_setenv(sp, "COMMPLACE_RECORD_NAME", name, 1);
	if (of_mpi)
		preload(sp);
	if (!access(NCCL_PLUGIN, R_OK))
		name_nccl_plugin(sp);
}

void spank_record_check_program(spank_t sp)
{
	char value[SPANK_PATH_SIZE];
	uint32_t task;
	char **argv;
	int n;

	if (spank_get_item(sp, S_TASK_GLOBAL_ID, &task) != ESPANK_SUCCESS || task ||
	    spank_getenv(sp, "COMMPLACE_RECORD_DIR", value, sizeof(value)) !=
	            ESPANK_SUCCESS ||
	    spank_getenv(sp, "LD_PRELOAD", value, sizeof(value)) !=
	            ESPANK_SUCCESS ||
	    !strstr(value, RECORDER) ||
	    spank_get_item(sp, S_JOB_ARGV, &n, &argv) != ESPANK_SUCCESS)
		return;
	for (int i = 0; i < n; i++)
		if (cpl_file_has_mpi(argv[i], false))
			slurm_error("commplace: --comm-record: %s " CPL_MPI_INSIDE,
			            argv[i]);
}

/* This gives AS=VALUE of a variable of the job, or "" if there is none. */
static void take_variable(spank_t sp, const char *as, const char *variable,
                          char *out, size_t size)
{
	char value[SPANK_PATH_SIZE];

	*out = '\0';
	if (spank_getenv(sp, variable, value, sizeof(value)) == ESPANK_SUCCESS)
		snprintf(out, size, "%s=%s", as, value);
}

void spank_record_task_end(spank_t sp, const char *name, bool asked)
{
	/* A slurmd that does not run as root runs its own user's jobs. */
	struct spank_keeping k = {.has_ids = geteuid() == 0,
	                          .hears = asked ? SPANK_USER_HEARS
	                                         : SPANK_LOG_HEARS};
	uint32_t job;
	int status;

	if (!cplslurm_spank_is_batch(sp) ||
	    spank_get_item(sp, S_TASK_EXIT_STATUS, &status) != ESPANK_SUCCESS ||
	    spank_get_item(sp, S_JOB_ID, &job) != ESPANK_SUCCESS)
		return;
	snprintf(k.name, sizeof(k.name), "%s", name);
	snprintf(k.job, sizeof(k.job), "%u", job);
	if (status) {
		spank_keep_nothing(&k);
		return;
	}
	if (spank_get_item(sp, S_JOB_UID, &k.uid) != ESPANK_SUCCESS ||
	    spank_get_item(sp, S_JOB_GID, &k.gid) != ESPANK_SUCCESS ||
	    spank_get_item(sp, S_JOB_SUPPLEMENTARY_GIDS, &k.group,
	                   &k.n_groups) != ESPANK_SUCCESS) {
		spank_keep_lost(&k, "Slurm does not say whose it is");
		return;
	}
	take_variable(sp, "HOME", "HOME", k.home, sizeof(k.home));
	take_variable(sp, "COMMPLACE_USER_PROFILES", RECORD_STORE, k.store,
	              sizeof(k.store));
	take_variable(sp, "SLURM_CONF", "SLURM_CONF", k.conf, sizeof(k.conf));
	spank_keep(&k);
}

/* srun and salloc do this when they end. */

struct at_exit {
	pid_t pid; /* not a child that failed to become something else */
	bool step; /* srun in a job: only its own step */
	char name[CPL_PROFILE_NAME_MAX + 1]; /* "": as slurmctld says */
};

static void put_variable(char *out, size_t size, const char *as,
                         const char *variable)
{
	const char *value = getenv(variable);

	/* A value that is cut would be another folder. */
	if (value && snprintf(out, size, "%s=%s", as, value) >= (int)size)
		*out = '\0';
}

static void at_exit(int status, void *arg)
{
	const struct at_exit *a = arg;
	const char *job = getenv("SLURM_JOB_ID"),
	           *step = getenv("SLURM_STEP_ID");
	struct spank_keeping k = {.hears = *a->name ? SPANK_USER_HEARS
	                                            : SPANK_NOBODY_HEARS};
	const char *name = *a->name ? a->name : getenv(RECORD_COPY);

	if (a->pid != getpid() || !job || cpl_is_none(name) ||
	    cpl_profile_name_check(name, NULL))
		return;
	snprintf(k.name, sizeof(k.name), "%s", name);
	if (a->step && step)
		snprintf(k.job, sizeof(k.job), "%.20s.%.20s", job, step);
	else
		snprintf(k.job, sizeof(k.job), "%.20s", job);
	if (status) {
		spank_keep_nothing(&k);
		return;
	}
	put_variable(k.home, sizeof(k.home), "HOME", "HOME");
	put_variable(k.store, sizeof(k.store), "COMMPLACE_USER_PROFILES",
	             "COMMPLACE_USER_PROFILES");
	if (!*k.store)
		put_variable(k.store, sizeof(k.store),
		             "COMMPLACE_USER_PROFILES", RECORD_STORE);
	put_variable(k.conf, sizeof(k.conf), "SLURM_CONF", "SLURM_CONF");
	spank_keep(&k);
}

void spank_record_at_exit(const char *name, bool step)
{
	static struct at_exit a;
	Dl_info self;

	a.pid = getpid();
	a.step = step;
	snprintf(a.name, sizeof(a.name), "%s", name ? name : "");
	/* The variables of a job around this one do not apply to it. */
	if (!name) {
		unsetenv(RECORD_COPY);
		unsetenv(RECORD_STORE);
	}
	/* Slurm unloads plugins before the program ends. */
	if (!dladdr(&a, &self) ||
	    !dlopen(self.dli_fname, RTLD_LAZY | RTLD_NODELETE) ||
	    on_exit(at_exit, &a))
		slurm_error("commplace: --comm-record: nothing will be kept: "
		            "out of memory");
}
