/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "adapter.h"

#include <stdlib.h>

struct cpl_engine *adapter_engine;

/* Running jobs were taken back: later calls are reconfigurations, of which
 * most is known, so that they need not wait. */
static bool restored;

static void say(enum cpl_engine_log level, const char *text)
{
	switch (level) {
	case CPL_ENGINE_ERROR:
		error("commplace: %s", text);
		break;
	case CPL_ENGINE_INFO:
		info("commplace: %s", text);
		break;
	case CPL_ENGINE_DEBUG:
		log_flag(SELECT_TYPE, "commplace: %s", text);
		break;
	}
}

void adapter_configure(void)
{
	struct cpl_error err = {""};

	if (!adapter_engine) {
		char *path = cplslurm_config_path();

		if (path)
			adapter_engine = cpl_engine_new(path, say, &err);
		else
			cpl_fail_memory(&err);
		free(path);
		if (!adapter_engine) {
			error("commplace: %s; all answers are the stock ones",
			      err.text);
			return;
		}
	}
	/* What is wrong with the files the engine itself says. */
	cpl_engine_load(adapter_engine, ADAPTER_LOAD_WAIT_MS, &err);
	adapter_hosts();
}

void adapter_fini(void)
{
	cpl_engine_free(adapter_engine);
	adapter_engine = NULL;
	restored = false;
}

int adapter_hosts(void)
{
	int n = node_record_count, rc = -1;
	const char **name = malloc(((size_t)n + 1) * sizeof(*name));
	struct cpl_error err = {""};

	for (int i = 0; name && i < n; i++)
		name[i] = node_record_table_ptr[i]
		                  ? node_record_table_ptr[i]->name
		                  : NULL;
	if (name)
		rc = cpl_engine_set_hosts(adapter_engine, name, n, &err);
	free(name);
	return rc;
}

static int collect_running(void *x, void *arg)
{
	job_record_t *job_ptr = x;
	struct {
		int64_t *id;
		int n, max;
	} *ids = arg;

	if ((IS_JOB_RUNNING(job_ptr) || IS_JOB_SUSPENDED(job_ptr)) &&
	    ids->n < ids->max)
		ids->id[ids->n++] = job_ptr->job_id;
	return 0;
}

void adapter_job_init(List jobs)
{
	struct {
		int64_t *id;
		int n, max;
	} ids = {.max = jobs ? list_count(jobs) : 0};
	if (!adapter_engine)
		return;
	ids.id = malloc(((size_t)ids.max + 1) * sizeof(*ids.id));
	if (!ids.id)
		return;
	if (jobs)
		list_for_each(jobs, collect_running, &ids);
	cpl_engine_restore(adapter_engine, ids.id, ids.n, ADAPTER_LOAD_WAIT_MS);
	free(ids.id);
}
