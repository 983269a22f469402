/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spank_commplace gives user options to sbatch, salloc, srun and slurmstepd. It
 * needs only Slurm's public headers. Recording is in record.h.
 *
 * A value goes to these places:
 *   slurmctld        spank_job_env: COMM_PROFILE, COMM_PLACEMENT_POLICY,
 *                    COMM_RANK_MAPPING, COMM_RECORD (job_submit and select
 *                    read them)
 *   batch script,    environment variables of the same names
 *   salloc's shell,
 *   tasks
 * job_submit checks whether a profile exists, since only slurmctld's host is sure
 * to see the profiles. The plugin also makes the files of launchers (launchers.h),
 * and in slurmstepd tells the task plugin that Slurm is done with a task.
 */
#include "commplace-config.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <slurm/spank.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/none.h"
#include "mapping/mapping.h"
#include "placement/placement.h"
#include "record.h"
#include "signature/signature.h"
#include "launchers.h"
#include "spank_options.h"

/* With this variable sbatch and salloc tell slurmctld that an srun in the job can
 * mark distributions that nobody stated. Whoever knows that the job is one of ours
 * (they do by its options, else slurmctld, in the job's SLURM_SPANK_ copy) uses it
 * to tell srun to do so. */
#define MARKS "COMM_DISTRIBUTION"

SPANK_PLUGIN(commplace, 1)

static int check_policy(const char *value, struct cpl_error *err)
{
	const unsigned search = CPL_PLACEMENT_SEARCH;
	char searches[64], others[CPL_ERROR_MAX];
	size_t length = strcspn(value, ":");
	const struct cpl_entry *entry;

	entry = cpl_registry_find(&cpl_placement_names, value, length, NULL,
	                          NULL);
	/* slurmctld reads what is behind a colon. */
	if (entry && (!value[length] || entry->flags & CPL_NAME_OPTION))
		return 0;
	if (entry)
		return cpl_fail(err,
		                "placement policy '%s' takes no option, but "
		                "there is '%.64s'",
		                entry->name, value + length + 1);
	return cpl_fail(err,
	                "no placement policy '%.64s'; it must be one of %s, %s",
	                value,
	                cpl_registry_names(&cpl_placement_names, 0, cpl_entry_has,
	                                   &search, searches, sizeof(searches)),
	                cpl_registry_names(&cpl_placement_names, 0, cpl_entry_lacks,
	                                   &search, others, sizeof(others)));
}

static int check_mapping(const char *value, struct cpl_error *err)
{
	return cpl_mapper_entry(&cpl_mapper_names, value, err) ? 0 : -1;
}

enum { RECORD = 3 };

struct option {
	const char *name; /* "comm-profile" */
	const char *variable;
	const char *usage;
	/* This returns 0, or -1 with err saying what would be right. It opens no
	 * file. */
	int (*check)(const char *value, struct cpl_error *err);
	char value[CPL_PROFILE_NAME_MAX + 1]; /* "": not given */
};

/* These are process-wide, as SPANK callbacks carry no handle. */
static struct option option[] = {
        {
                .name = "comm-profile",
                .variable = "COMM_PROFILE",
                .usage = "communication profile of the application (see "
                         "`commplace signature list`); none: no profile",
                .check = cpl_profile_name_check,
        },
        {
                .name = "placement-policy",
                .variable = "COMM_PLACEMENT_POLICY",
                .usage = "how nodes are chosen: auto, traffic or a policy of "
                         "commplace-place(1)",
                .check = check_policy,
        },
        {
                .name = "rank-mapping",
                .variable = "COMM_RANK_MAPPING",
                .usage = "how ranks are laid out on the nodes: default or a "
                         "mapper of commplace-map(1)",
                .check = check_mapping,
        },
        [RECORD] = {
                .name = "comm-record",
                .variable = "COMM_RECORD",
                .usage = "record what the job's programs send by MPI and NCCL, "
                         "as your profile NAME; none: do not, though the site "
                         "does",
                .check = cpl_profile_name_check,
        },
};

#define N_OPTIONS ((int)(sizeof(option) / sizeof(*option)))

static int take_option(int which, const char *value, int remote)
{
	struct option *o = &option[which];
	struct cpl_error err = {{0}};

	if (!value || o->check(value, &err) ||
	    strlen(value) >= sizeof(o->value)) {
		/* In slurmstepd the job runs already, so it goes on without our
		 * options. */
		if (remote)
			return 0;
		slurm_error("commplace: --%s: %s", o->name,
		            *err.text ? err.text : "a value is missing");
		return -1;
	}
	memcpy(o->value, value, strlen(value) + 1);
	return 0;
}

static int register_options(spank_t sp)
{
	for (int i = 0; i < N_OPTIONS; i++) {
		if (cplslurm_spank_register(sp, option[i].name, option[i].usage,
		                            i, take_option))
			continue;
		slurm_error("commplace: cannot register --%s", option[i].name);
		return -1;
	}
	return 0;
}

/* This is for srun, which sends a distribution that nobody stated as if it were -m
 * block. Before srun reads its environment and its options, we state the flag that
 * means the default (no packing), and srun adds it to what it chooses itself;
 * whatever the user states replaces it. */
static void mark_default(void)
{
	const char *marks = getenv("SLURM_SPANK_" MARKS);

	if (getenv("SLURM_JOB_ID") && marks && !strcmp(marks, "marked") &&
	    cplslurm_spank_default_is_no_pack())
		setenv("SLURM_DISTRIBUTION", "nopack", 0);
}

/* This is for sbatch and salloc. */
static void offer_marks(spank_t sp)
{
	const char *how = "offered";

	for (int i = 0; i < N_OPTIONS; i++)
		if (*option[i].value && i != RECORD)
			how = "marked";
	/* Without the flag slurmctld has to guess, which is no reason to fail. */
	if (cplslurm_spank_default_is_no_pack())
		spank_job_control_setenv(sp, MARKS, how, 1);
}

/* In sbatch, salloc and srun, this hands the values to slurmctld and to this
 * process's environment, which the script, the shell or the step inherits. In a job
 * Slurm first calls take_option() with the job's own values (it keeps them in
 * SLURM_SPANK_* variables), so a step has the job's profile unless its command line
 * says otherwise; nodes and rank order stay those of the job. */
static int export_values(spank_t sp)
{
	for (int i = 0; i < N_OPTIONS; i++) {
		const struct option *o = &option[i];
		bool none;

		if (!*o->value)
			continue;
		/* slurmctld has to know of "none", but programs do not. */
		none = cpl_is_none(o->value);
		if (spank_job_control_setenv(sp, o->variable, o->value, 1) !=
		            ESPANK_SUCCESS ||
		    (none ? unsetenv(o->variable)
		          : setenv(o->variable, o->value, 1))) {
			slurm_error("commplace: cannot pass on --%s", o->name);
			return -1;
		}
	}
	return 0;
}

/*
 * With --export=NONE neither the variables nor the options themselves reach a
 * batch script; Slurm's SLURM_SPANK_ copy of what was set for slurmctld does.
 */
static bool from_copy(spank_t sp, const struct option *o, char *value, int size)
{
	struct cpl_error err;
	char name[64];

	snprintf(name, sizeof(name), "SLURM_SPANK_%s", o->variable);
	return spank_getenv(sp, name, value, size) == ESPANK_SUCCESS &&
	       !o->check(value, &err);
}

/* This is the value of an option in slurmstepd, in copy[] if the option was not
 * given; "" means none. */
static const char *value_of(spank_t sp, const struct option *o, char *copy,
                            size_t size)
{
	if (!*o->value && from_copy(sp, o, copy, (int)size))
		return copy;
	return o->value;
}

/* This is for slurmstepd, as root; no file is opened here. */
static void hand_to_tasks(spank_t sp)
{
	for (int i = 0; i < N_OPTIONS; i++) {
		const struct option *o = &option[i];
		char copy[sizeof(o->value)];
		const char *value = value_of(sp, o, copy, sizeof(copy));

		if (i == RECORD && cpl_is_none(value))
			spank_record_no_tasks(sp);
		else if (i == RECORD && *value)
			spank_record_tasks(sp, value);
		if (!*value || cpl_is_none(value))
			continue;
		/* A given option wins over what the environment holds. */
		if (spank_setenv(sp, o->variable, value, value == o->value) !=
		    ESPANK_SUCCESS)
			slurm_debug("commplace: %s is left as it is",
			            o->variable);
	}
}

/* In srun and salloc, a program outside of the job keeps what the job recorded, by
 * the user's or the site's wish; an srun inside keeps what its step recorded, if
 * that has a name of its own. */
static void keep_at_exit(bool is_srun)
{
	const char *name = option[RECORD].value;
	const char *of_job = getenv(RECORD_COPY);
	bool inside = is_srun && getenv("SLURM_JOB_ID");

	if (cpl_is_none(name) ||
	    (inside && (!*name || (of_job && !strcmp(of_job, name)))))
		return;
	spank_record_at_exit(*name ? name : NULL, inside);
}

int slurm_spank_init(spank_t sp, int ac, char **av)
{
	spank_context_t context = spank_context();

	if (context != S_CTX_LOCAL && context != S_CTX_REMOTE &&
	    context != S_CTX_ALLOCATOR)
		return 0;
	/* An unknown argument must never make jobs fail, as an error of a required
	 * plugin would. */
	for (int i = 0; i < ac; i++)
		slurm_error("commplace: plugstack.conf: unknown argument '%s'; "
		            "spank_commplace.so takes none",
		            av[i]);
	/* Options may be left from a program before, since the plugin stays loaded,
	 * see record.c. */
	for (int i = 0; i < N_OPTIONS; i++)
		option[i].value[0] = '\0';
	if (context == S_CTX_LOCAL)
		mark_default();
	return register_options(sp);
}

int slurm_spank_init_post_opt(spank_t sp, int ac, char **av)
{
	switch (spank_context()) {
	case S_CTX_ALLOCATOR:
		offer_marks(sp);
		/* sbatch is gone when the job ends. */
		if (!strcmp(program_invocation_short_name, "salloc"))
			keep_at_exit(false);
		return export_values(sp);
	case S_CTX_LOCAL:
		keep_at_exit(true);
		return export_values(sp);
	case S_CTX_REMOTE:
		hand_to_tasks(sp);
		return 0;
	default:
		return 0;
	}
}

/* This is the function of task_commplace.so next to this file, if slurmstepd has
 * loaded that and it has something to do then. */
static void (*find_forked(void))(uint32_t)
{
	static const char file[] = "task_commplace.so";
	static void (*forked)(uint32_t);
	static bool looked;
	char path[PATH_MAX];
	const char *end;
	Dl_info self;
	void *handle;

	if (looked)
		return forked;
	looked = true;
	if (!dladdr(option, &self) || !(end = strrchr(self.dli_fname, '/')) ||
	    snprintf(path, sizeof(path), "%.*s%s",
	             (int)(end + 1 - self.dli_fname), self.dli_fname,
	             file) >= (int)sizeof(path))
		return NULL;
	handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
	if (handle) {
		forked = (void (*)(uint32_t))dlsym(handle, "cpltask_forked");
		dlclose(handle);
	}
	return forked;
}

/* This runs in slurmstepd, with the user's rights. */
int slurm_spank_user_init(spank_t sp, int ac, char **av)
{
	if (spank_context() == S_CTX_REMOTE)
		cplspank_launchers_make(sp);
	return 0;
}

/* This runs in the task, with its user's rights. */
int slurm_spank_task_init(spank_t sp, int ac, char **av)
{
	cplspank_launchers_task(sp);
	spank_record_check_program(sp);
	return 0;
}

/* This runs in slurmstepd, as root. */
int slurm_spank_exit(spank_t sp, int ac, char **av)
{
	if (spank_context() == S_CTX_REMOTE)
		cplspank_launchers_remove();
	return 0;
}

/* This runs in slurmstepd, as root, when all task plugins have had their turn and
 * the task still waits. */
int slurm_spank_task_post_fork(spank_t sp, int ac, char **av)
{
	void (*forked)(uint32_t) = find_forked();
	int task;

	if (forked && spank_get_item(sp, S_TASK_ID, &task) == ESPANK_SUCCESS)
		forked((uint32_t)task);
	return 0;
}

/* This runs in slurmstepd, as root. */
int slurm_spank_task_exit(spank_t sp, int ac, char **av)
{
	const struct option *o = &option[RECORD];
	char copy[sizeof(o->value)];
	const char *name = value_of(sp, o, copy, sizeof(copy));

	if (*name && !cpl_is_none(name))
		spank_record_task_end(sp, name, name == o->value);
	return 0;
}
