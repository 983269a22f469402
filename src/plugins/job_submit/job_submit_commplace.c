/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "job_submit_internal.h"

#include <stdlib.h>
#include <string.h>

const char plugin_name[] = "commplace submit check";
const char plugin_type[] = "job_submit/commplace";
const uint32_t plugin_version = SLURM_VERSION_NUMBER;

extern char *default_part_name __attribute__((weak));

extern int init(void)
{
	return SLURM_SUCCESS;
}

extern int fini(void)
{
	if (cplsubmit_worker_fini()) {
		cplsubmit_profiles_fini();
		cplsubmit_site_fini();
	}
	return SLURM_SUCCESS;
}

static void append(char ***array, uint32_t *count, const char *name,
                   const char *value)
{
	char *entry = NULL;

	xstrfmtcat(entry, "%s=%s", name, value);
	/* Slurm keeps a NULL behind such arrays. */
	xrealloc(*array, (*count + 2) * sizeof(**array));
	(*array)[(*count)++] = entry;
	(*array)[*count] = NULL;
}

/* As if the user had given the flag: slurmctld, and the batch script's
 * environment, from which steps take it. */
static void attach(job_desc_msg_t *job, const char *profile)
{
	append(&job->spank_job_env, &job->spank_job_env_size, "COMM_PROFILE",
	       profile);
	if (job->script && job->environment &&
	    !cplslurm_env(job->environment, job->env_size, "COMM_PROFILE"))
		append(&job->environment, &job->env_size, "COMM_PROFILE",
		       profile);
}

/* Ranks of the job as far as they are known now, or 0. */
static uint32_t ranks_of(const job_desc_msg_t *job)
{
	if (job->num_tasks != NO_VAL)
		return job->num_tasks;
	/* slurmctld does this sum after us. */
	if (job->ntasks_per_node != NO_VAL16 && job->min_nodes != NO_VAL)
		return (uint32_t)job->ntasks_per_node * job->min_nodes;
	return 0;
}

static int copy(char **to, const char *from)
{
	if (!from)
		return 0;
	*to = strdup(from);
	return *to ? 0 : -1;
}

static int fill(struct cplsubmit_request *request, const job_desc_msg_t *job)
{
	struct cplslurm_wish wish =
	        cplslurm_wish(job->spank_job_env, job->spank_job_env_size);
	const char *partition = job->partition;
	int failed;

	if (!partition || !*partition)
		partition = &default_part_name ? default_part_name : NULL;
	request->ranks = ranks_of(job);
	failed = copy(&request->profile, wish.profile) |
	         copy(&request->policy, wish.policy) |
	         copy(&request->mapping, wish.mapping) |
	         copy(&request->job_name, job->name) |
	         copy(&request->partition, partition);
	/* Of several, Slurm has not chosen yet: the first one's defaults. */
	if (request->partition)
		request->partition[strcspn(request->partition, ",")] = '\0';
	return failed;
}

extern int job_submit(job_desc_msg_t *job, uint32_t submit_uid, char **message)
{
	struct cplsubmit_request request = {0};
	struct cplsubmit_verdict verdict = {0};
	static bool said;
	bool wished;
	int rc;

	if (fill(&request, job)) {
		cplsubmit_request_free(&request);
		return SLURM_SUCCESS;
	}
	wished = request.profile || request.policy || request.mapping;
	if (!cplsubmit_ask(&request, &verdict)) {
		if (!said)
			error("job_submit/commplace: the site's files do not "
			      "answer; jobs are accepted unchecked");
		said = true;
		if (wished)
			*message = xstrdup("commplace: the site's files do not "
			                   "answer; the job is accepted "
			                   "unchecked");
		return SLURM_SUCCESS;
	}
	said = false;
	if (verdict.message)
		*message = xstrdup(verdict.message);
	if (verdict.attach)
		attach(job, verdict.attach);
	if (verdict.comment)
		xstrfmtcat(job->admin_comment, "%s%s",
		           job->admin_comment ? "; " : "", verdict.comment);
	rc = verdict.rc;
	cplsubmit_verdict_free(&verdict);
	return rc;
}

extern int job_modify(job_desc_msg_t *job, job_record_t *record,
                      uint32_t submit_uid)
{
	return SLURM_SUCCESS;
}
