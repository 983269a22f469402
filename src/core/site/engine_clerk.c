/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "site/engine_clerk.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"

bool engine_expired(void *arg)
{
	return cpl_now() >= *(const int64_t *)arg;
}

int engine_set(char **field, const char *text)
{
	char *copy = text ? strdup(text) : NULL;

	if (text && !copy)
		return -1;
	free(*field);
	*field = copy;
	return 0;
}

/* The same text again and again (a full disk, a missing file) is said once. */
void engine_log(struct clerk *clerk, enum cpl_engine_log level, const char *fmt,
                ...)
{
	struct cpl_error line = {""};
	bool again;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line.text, sizeof(line.text), fmt, ap);
	va_end(ap);
	cpl_printable(line.text);
	pthread_mutex_lock(&clerk->lock);
	again = level == CPL_ENGINE_ERROR &&
	        !strcmp(line.text, clerk->last_logged.text);
	if (level == CPL_ENGINE_ERROR)
		clerk->last_logged = line;
	pthread_mutex_unlock(&clerk->lock);
	if (!again && clerk->log)
		clerk->log(level, line.text);
}

enum cpl_record_access engine_record_access(const struct clerk *clerk,
                                            const struct cpl_config *config)
{
	if (config->record_access != CPL_RECORDS_SLURM)
		return config->record_access;
	return clerk->private_jobs ? CPL_RECORDS_OWNER : CPL_RECORDS_ALL;
}

struct snapshot *engine_snapshot_hold(struct snapshot *snapshot)
{
	atomic_fetch_add(&snapshot->refs, 1);
	return snapshot;
}

void engine_snapshot_drop(struct snapshot *snapshot)
{
	if (!snapshot || atomic_fetch_sub(&snapshot->refs, 1) > 1)
		return;
	cpl_network_free(snapshot->net);
	cpl_learned_free(snapshot->learned);
	free(snapshot->model_file);
	cpl_trial_free(&snapshot->trial);
	cpl_config_free(snapshot->config);
	free(snapshot);
}

void engine_find_profile(struct clerk *clerk, const struct cpl_config *config,
                         const struct cpl_job_facts *job,
                         const struct cpl_resolved *want, int ranks,
                         int64_t deadline, struct cpl_store_answer *answer)
{
	struct cpl_store_query query = {
	        .dir = config->profile_dir,
	        .user_dir = job->has_uid ? config->user_profile_dir : NULL,
	        .whom = want->profile_given ? CPL_FOR_US
	                : job->has_uid      ? CPL_FOR_USER
	                                    : CPL_FOR_ALL,
	        .uid = job->uid,
	        .gid = job->gid,
	        .name = want->profile.value,
	        .ranks = ranks,
	        .job = true,
	        .deadline = deadline,
	};

	cpl_store_find(clerk->store, &query, answer);
}
