/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "select_internal.h"

#include <stdlib.h>

#include "slurm_share.h"

#define LOAD_WAIT_MS 2000
/* This is below the 9 s that a slurmctld waits for the one that it replaces. */
#define DRAIN_WAIT_MS 5000

struct cpl_engine *cplselect_engine;

/* This tells whether the engine knows the current node table. */
static bool hosts_known;
/* Running jobs were restored: they are known at a reconfiguration, and nobody waits
 * for their records. */
static bool restored;

static void say(enum cpl_engine_log level, const char *text)
{
	if (level == CPL_ENGINE_ERROR)
		cplslurm_log_error("commplace: %s", text);
	else
		cplslurm_log_info("commplace: %s", text);
}

static struct cpl_engine *get_engine(void)
{
	return cplselect_engine;
}

extern const struct cplslurm_share CPLSLURM_SHARE;
const struct cplslurm_share CPLSLURM_SHARE = CPLSLURM_SHARE_INIT(
        get_engine, cplselect_step, cplselect_handover, cplselect_drain);

void cplselect_configure(void)
{
	struct cpl_error err = {""};
	bool private_jobs;
	const char *cluster = cplslurm_cluster(&private_jobs);

	cplslurm_say_missing();
	/* This is a backup that is in charge again, after another slurmctld was. */
	if (cplselect_engine && cplslurm_takes_charge()) {
		cpl_engine_forget(cplselect_engine);
		restored = false;
	}
	if (!cplselect_engine) {
		char *path = cplslurm_config_path();

		if (path)
			cplselect_engine = cpl_engine_new(path, say, &err);
		else
			cpl_fail_memory(&err);
		free(path);
		if (!cplselect_engine) {
			cplslurm_log_error("commplace: %s; all answers are the "
			                   "stock ones",
			                   err.text);
			return;
		}
	}
	cpl_engine_set_cluster(cplselect_engine, cluster, private_jobs, &err);
	/* The engine itself says what is wrong with the files. */
	cpl_engine_load(cplselect_engine, LOAD_WAIT_MS, &err);
	cplselect_nodes_changed();
}

void cplselect_nodes_changed(void)
{
	hosts_known = false;
	if (cplselect_engine)
		cplselect_hosts();
}

void cplselect_fini(void)
{
	cpl_engine_free(cplselect_engine);
	cplselect_engine = NULL;
	hosts_known = restored = false;
}

void cplselect_drain(void)
{
	if (cplselect_engine &&
	    !cpl_engine_drain(cplselect_engine, DRAIN_WAIT_MS))
		cplslurm_log_error("commplace: StateDir does not answer: "
		                   "records of the last jobs may be missing");
}

int cplselect_hosts(void)
{
	struct cpl_error err = {""};
	const char **name;
	int n;

	if (hosts_known)
		return 0;
	name = cplslurm_hosts(&n);
	hosts_known =
	        name && !cpl_engine_set_hosts(cplselect_engine, name, n, &err);
	free(name);
	return hosts_known ? 0 : -1;
}

void cplselect_restore(cplslurm_list *jobs)
{
	struct cpl_engine_live *job;
	int n;

	if (!cplselect_engine)
		return;
	job = cplslurm_live(jobs, &n);
	if (!job)
		return;
	cpl_engine_restore(cplselect_engine, job, n,
	                   restored ? 0 : LOAD_WAIT_MS);
	restored = true;
	free(job);
}
