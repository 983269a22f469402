/* SPDX-License-Identifier: GPL-2.0-or-later */
/* These hooks of job_submit/commplace turn Slurm's job description into the
 * engine's, and its verdict back. */
#include "ctld_internal.h"

#include <errno.h>
#include <string.h>

#include "layout.h"
#include "submit.h"
#include "submit_planes.h"

const char plugin_name[] = "commplace submit check";
const char plugin_type[] = "job_submit/commplace";
const uint32_t plugin_version = SLURM_VERSION_NUMBER;

extern int init(void);
extern int fini(void);
extern int job_submit(job_desc_msg_t *job, uint32_t submit_uid, char **message);
extern int job_modify(job_desc_msg_t *job, job_record_t *record,
                      CPLSLURM_MODIFY_TAIL);

extern char *default_part_name __attribute__((weak));

static struct cplslurm_layout description = CPLSLURM_LAYOUT(job_desc_msg_t);
static struct cplslurm_layout records = CPLSLURM_LAYOUT(job_record_t);
static struct cplslurm_layout details = CPLSLURM_LAYOUT(job_details_t);

extern int init(void)
{
	struct cpl_error err = {""};

	if (!cplslurm_ctld_check(&err))
		return SLURM_SUCCESS;
	error("job_submit/commplace: %s", err.text);
	return SLURM_ERROR;
}

extern int fini(void)
{
	cplsubmit_fini();
	return SLURM_SUCCESS;
}

/* Act as if the user had given the flag, for slurmctld and, by another variable, for
 * the batch script's environment, from which steps take it. */
static void attach(job_desc_msg_t *job, const char *variable, const char *as,
                   const char *value)
{
	if (cplslurm_set_env(&job->spank_job_env, &job->spank_job_env_size,
	                     variable, value) ||
	    (job->script && job->environment &&
	     !cplslurm_env(job->environment, job->env_size, as) &&
	     cplslurm_set_env(&job->environment, &job->env_size, as, value)))
		error("job_submit/commplace: out of memory");
}

/* Return the job's ranks as far as they are known now, or 0. */
static int64_t ranks_of(const job_desc_msg_t *job)
{
	if (job->num_tasks != NO_VAL)
		return job->num_tasks;
	/* slurmctld does this sum after us. */
	if (job->ntasks_per_node != NO_VAL16 && job->min_nodes != NO_VAL)
		return (int64_t)job->ntasks_per_node * job->min_nodes;
	return 0;
}

/* A step has one task for each node where nothing is said of tasks. */
static void imply_ranks(const job_desc_msg_t *job, struct cpl_submission *s)
{
	bool range = job->max_nodes != NO_VAL && job->max_nodes;

	if (s->ranks || job->ntasks_per_node != NO_VAL16 ||
	    job->ntasks_per_tres != NO_VAL16 || job->min_nodes == NO_VAL ||
	    !job->min_nodes)
		return;
	s->min_implied = job->min_nodes;
	s->max_implied = range ? job->max_nodes : job->min_nodes;
}

static int apply(job_desc_msg_t *job, const struct cpl_verdict *verdict,
                 char **message)
{
	if (verdict->message)
		*message = cplslurm_copy(verdict->message);
	if (verdict->attach)
		attach(job, "COMM_PROFILE", "COMM_PROFILE", verdict->attach);
	/* The SPANK plugin has this of a script's job where it was no option; other
	 * jobs get it when they begin, see cplslurm_tell_recording. */
	if (verdict->record)
		attach(job, "COMM_RECORD", "SLURM_SPANK_COMM_RECORD",
		       verdict->record);
	if (verdict->store)
		attach(job, "COMM_RECORD_STORE", "COMM_RECORD_STORE",
		       verdict->store);
	if (verdict->comment)
		cplslurm_comment(&job->admin_comment, verdict->comment);
	return verdict->refused ? EINVAL : SLURM_SUCCESS;
}

/* Where there are several names, Slurm has yet to choose one. */
static const char *only_one(const char *list)
{
	return list && !strchr(list, ',') ? list : NULL;
}

/* Return a stated number; of a range it is known when the job is scheduled. */
static int nodes_of(const job_desc_msg_t *job)
{
	bool range = job->max_nodes != NO_VAL && job->max_nodes &&
	             job->max_nodes != job->min_nodes;

	if (range || job->min_nodes == NO_VAL)
		return 0;
	return job->min_nodes < INT32_MAX ? (int)job->min_nodes : INT32_MAX;
}

static int submit(job_desc_msg_t *job, uint32_t submit_uid, char **message)
{
	struct cplslurm_options options =
	        cplslurm_options(job->spank_job_env, job->spank_job_env_size);
	struct cpl_submission submission = {
	        .job = {.profile = options.profile,
	                .policy = options.policy,
	                .mapping = options.mapping,
	                .uid = job->user_id != NO_VAL ? job->user_id
	                                              : submit_uid,
	                .gid = job->group_id,
	                .has_uid = true,
	                .name = job->name,
	                /* slurmctld adds defaults of these after us. */
	                .qos = only_one(job->qos),
	                .account = job->account,
	                .command = job->argc && job->argv ? job->argv[0] : NULL,
	                .nodes = nodes_of(job),
	                .partition = job->partition},
	        .ranks = ranks_of(job),
	        .record = options.record,
	};
	struct cpl_verdict verdict = {0};
	int rc = SLURM_SUCCESS;

	imply_ranks(job, &submission);
	if (!job->partition || !*job->partition)
		submission.job.partition =
		        &default_part_name ? default_part_name : NULL;
	if (cplsubmit_judge(&submission, &verdict)) {
		rc = apply(job, &verdict, message);
		cpl_verdict_free(&verdict);
	}
	return rc;
}

extern int job_submit(job_desc_msg_t *job, uint32_t submit_uid, char **message)
{
	char said[CPLSLURM_PLANES_SAID];

	if (!cplslurm_is_ours(&description, job))
		return SLURM_SUCCESS;
	if (!cplslurm_planes_never_end(job, NULL, said))
		return submit(job, submit_uid, message);
	*message = cplslurm_copy(said);
	return ESLURM_BAD_TASK_COUNT;
}

extern int job_modify(job_desc_msg_t *job, job_record_t *record,
                      CPLSLURM_MODIFY_TAIL)
{
	char said[CPLSLURM_PLANES_SAID];

	if (!record || !cplslurm_is_ours(&description, job) ||
	    !cplslurm_is_ours(&records, record) || !record->details ||
	    !cplslurm_is_ours(&details, record->details) ||
	    !cplslurm_planes_never_end(job, record, said))
		return SLURM_SUCCESS;
	info("job_submit/commplace: job %u is not changed: %s", record->job_id,
	     said);
#if CPLSLURM_SERIES >= 2302
	if (message)
		*message = cplslurm_copy(said);
#endif
	return ESLURM_BAD_TASK_COUNT;
}
