/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This lays out ranks when a job starts, and those of its steps. */
#include "ctld_internal.h"

#include <stdlib.h>
#include <string.h>

#include "mapping/rank_order.h"
#include "signature/signature.h"

int *cplslurm_nodes(const bitstr_t *bitmap, int *n)
{
	int i, end = cplslurm_end(bitmap, &i);
	int *host = malloc(((size_t)(end - i) + 1) * sizeof(int));

	*n = 0;
	for (; host && i < end; i = cplslurm_next(bitmap, i + 1, end))
		host[(*n)++] = i;
	return host;
}

int *cplslurm_job_hosts(const job_record_t *job, int *n)
{
	*n = 0;
	return cplslurm_layout_is_ours(job) && job->job_resrcs &&
	                       job->job_resrcs->node_bitmap
	               ? cplslurm_nodes(job->job_resrcs->node_bitmap, n)
	               : NULL;
}

int64_t cplslurm_job_id(const job_record_t *job)
{
	return cplslurm_layout_is_ours(job) ? job->job_id : 0;
}

/* A longer name names nothing and was never checked: our sbatch sends none, and
 * job_submit refuses it. */
static const char *brief(const char *option)
{
	return option && strlen(option) <= CPL_PROFILE_NAME_MAX ? option : NULL;
}

struct cpl_job_facts cplslurm_job(const job_record_t *job_ptr)
{
	struct cplslurm_options options = cplslurm_options(
	        job_ptr->spank_job_env, job_ptr->spank_job_env_size);
	const job_details_t *details = job_ptr->details;
	bool started = IS_JOB_RUNNING(job_ptr) || IS_JOB_SUSPENDED(job_ptr);

	return (struct cpl_job_facts){
	        .id = job_ptr->job_id,
	        .uid = job_ptr->user_id,
	        .gid = job_ptr->group_id,
	        .has_uid = true,
	        .qos = job_ptr->qos_ptr ? job_ptr->qos_ptr->name : NULL,
	        .account = job_ptr->account,
	        .command = details && details->argc && details->argv
	                           ? details->argv[0]
	                           : NULL,
	        .nodes = started ? (int)job_ptr->node_cnt : 0,
	        .name = job_ptr->name,
	        .partition = job_ptr->part_ptr ? job_ptr->part_ptr->name
	                                       : job_ptr->partition,
	        .profile = brief(options.profile),
	        .policy = brief(options.policy),
	        .mapping = brief(options.mapping),
	};
}

bool cplslurm_facts(const job_record_t *job, struct cpl_job_facts *out)
{
	if (!cplslurm_layout_is_ours(job))
		return false;
	*out = cplslurm_job(job);
	return true;
}

struct live {
	struct cpl_engine_live *job;
	int n, max;
};

static int collect(void *x, void *arg)
{
	const job_record_t *job_ptr = x;
	struct live *live = arg;
	bool suspended;

	if (!cplslurm_layout_is_ours(job_ptr))
		return 0;
	suspended = IS_JOB_SUSPENDED(job_ptr);
	if ((IS_JOB_RUNNING(job_ptr) || suspended) && live->n < live->max)
		live->job[live->n++] = (struct cpl_engine_live){
		        .id = job_ptr->job_id, .suspended = suspended};
	return 0;
}

struct cpl_engine_live *cplslurm_live(cplslurm_list *jobs, int *n)
{
	struct live live = {.max = jobs ? list_count(jobs) : 0};

	live.job = malloc(((size_t)live.max + 1) * sizeof(*live.job));
	if (live.job && jobs)
		list_for_each_ro(jobs, collect, &live);
	*n = live.n;
	return live.job;
}

const char *cplslurm_cluster(bool *private_jobs)
{
	*private_jobs = slurm_conf.private_data & PRIVATE_DATA_JOBS;
	return slurm_conf.cluster_name;
}

const char **cplslurm_hosts(int *n)
{
	const char **name;

	*n = node_record_count;
	name = malloc(((size_t)*n + 1) * sizeof(*name));
	for (int i = 0; name && i < *n; i++)
		name[i] = node_record_table_ptr[i]
		                  ? node_record_table_ptr[i]->name
		                  : NULL;
	return name;
}

bool cplslurm_keeps_order(const job_record_t *job_ptr)
{
	return cplslurm_own_distribution(job_ptr->details->task_dist) ||
	       !cplslurm_lays_out();
}

/* Write the id of an array's element or a het job's component as squeue does. */
static const char *shown_as(const job_record_t *job_ptr, char *text,
                            size_t size)
{
	if (job_ptr->array_job_id && job_ptr->array_task_id != NO_VAL)
		snprintf(text, size, "%u_%u", job_ptr->array_job_id,
		         job_ptr->array_task_id);
	else if (job_ptr->het_job_id)
		snprintf(text, size, "%u+%u", job_ptr->het_job_id,
		         job_ptr->het_job_offset);
	else
		return NULL;
	return text;
}

int cplslurm_supply(job_details_t *details, const char *name, const char *value)
{
	uint32_t n = details->env_cnt;

	if (n == UINT16_MAX ||
	    cplslurm_set_env(&details->env_sup, &n, name, value))
		return -1;
	details->env_cnt = (uint16_t)n;
	return 0;
}

/* A job without our options has sruns that can mark distributions that nobody
 * stated, but have yet to be told that it is ours. Components of a heterogeneous job
 * are left out, since Slurm gives them variables by other names. */
static void ask_for_marks(job_record_t *job_ptr)
{
	const char *offer =
	        cplslurm_env(job_ptr->spank_job_env,
	                     job_ptr->spank_job_env_size, CPLSLURM_MARKS);

	if (!offer || strcmp(offer, CPLSLURM_MARKS_OFFERED) ||
	    job_ptr->het_job_id ||
	    cplslurm_supply(job_ptr->details, "SLURM_SPANK_" CPLSLURM_MARKS,
	                    CPLSLURM_MARKS_MADE))
		return;
	cplslurm_set_env(&job_ptr->spank_job_env, &job_ptr->spank_job_env_size,
	                 CPLSLURM_MARKS, CPLSLURM_MARKS_MADE);
}

/* Return the job whose script has the order, NULL where there is none. */
static job_record_t *script_of(const job_record_t *job_ptr)
{
	job_record_t *first = (job_record_t *)job_ptr;

	if (!job_ptr->het_job_id)
		return first;
	if (job_ptr->het_job_id != job_ptr->job_id)
		first = find_job_record(job_ptr->het_job_id);
	return first && first->batch_flag ? first : NULL;
}

/* In batch jobs, where spank_commplace.so takes them away again before they reach a
 * program, it may be in several variables (mapping/rank_order.h). */
static size_t order_max(const job_record_t *job_ptr)
{
	const job_record_t *first = script_of(job_ptr);

	return first && first->batch_flag
	               ? (size_t)CPL_RANK_ORDER_PARTS *
	                         (CPL_RANK_ORDER_PART - 1)
	               : CPL_RANK_ORDER_PART;
}

bool cplslurm_start(job_record_t *job_ptr, struct cplslurm_start *out)
{
	const job_resources_t *resources;
	const job_details_t *details;
	int n = 0;

	out->host = NULL;
	if (!cplslurm_layout_is_ours(job_ptr))
		return false;
	resources = job_ptr->job_resrcs;
	details = job_ptr->details;
	if (!resources || !resources->cpus || !details)
		return false;
	out->host = cplslurm_job_hosts(job_ptr, &n);
	if (!out->host || !n || n != (int)resources->nhosts)
		return false;
	out->got = (struct cpl_engine_allocation){
	        .id = job_ptr->job_id,
	        .job = cplslurm_job(job_ptr),
	        .ranks = cplslurm_ranks(details->num_tasks),
	        .array_id = job_ptr->array_job_id,
	        .shown_as = shown_as(job_ptr, out->shown, sizeof(out->shown)),
	        .host = out->host,
	        .n_hosts = n,
	        .layout = cplslurm_layout_of,
	        .arg = job_ptr,
	        .own_order = cplslurm_keeps_order(job_ptr),
	        .order_max = order_max(job_ptr),
	};
	return true;
}

void cplslurm_tell(job_record_t *job_ptr,
                   const struct cpl_engine_notice *notice)
{
	if (!notice->text[0])
		return;
	info("%pJ: %s", job_ptr, notice->text);
	ask_for_marks(job_ptr);
	if (notice->comment)
		cplslurm_comment(&job_ptr->admin_comment, notice->text);
}

static void unset(job_details_t *details, const char *name)
{
	size_t length = strlen(name);
	uint32_t n = details->env_cnt;

	for (uint32_t i = 0; i < n; i++) {
		if (strncmp(details->env_sup[i], name, length) != 0 ||
		    details->env_sup[i][length] != '=')
			continue;
		xfree(details->env_sup[i]);
		details->env_sup[i] = details->env_sup[n - 1];
		details->env_sup[n - 1] = NULL;
		details->env_cnt--;
		return;
	}
}

/* Set name to so many bytes of the text. Return 0, or -1 where memory is out. */
static int set(job_details_t *details, const char *name, const char *text,
               size_t length)
{
	char *value = strndup(text, length);
	int rc = value ? cplslurm_supply(details, name, value) : -1;

	free(value);
	return rc;
}

void cplslurm_give_order(job_record_t *job_ptr, const char *order)
{
	char name[CPL_RANK_ORDER_PARTS][CPL_RANK_ORDER_NAME];
	job_record_t *script;
	bool failed = false;

	if (!cplslurm_layout_is_ours(job_ptr))
		return;
	script = script_of(job_ptr);
	if (!script || !cplslurm_layout_is_ours(script) || !script->details)
		return;
	for (int i = 0; i < CPL_RANK_ORDER_PARTS; i++) {
		size_t length;
		const char *text =
		        cpl_rank_order_piece(order ? order : "", i, &length);

		cpl_rank_order_name(name[i], CPL_RANK_ORDER_VARIABLE, i,
		                    job_ptr->het_job_id
		                            ? (int)job_ptr->het_job_offset
		                            : -1);
		unset(script->details, name[i]);
		if (length && set(script->details, name[i], text, length))
			failed = true;
	}
	/* A part of an order is no order, so that all are taken back. */
	for (int i = 0; failed && i < CPL_RANK_ORDER_PARTS; i++)
		unset(script->details, name[i]);
}

/* Tell whether the step keeps its order, since its user stated a distribution. */
static bool keeps_order(const step_record_t *step_ptr)
{
	const slurm_step_layout_t *layout = step_ptr->step_layout;
	const job_record_t *job_ptr = step_ptr->job_ptr;

	switch (layout->task_dist & SLURM_DIST_STATE_BASE) {
	case SLURM_DIST_BLOCK:
		break;
	case SLURM_DIST_CYCLIC:
		/* srun itself chooses this for a task per node. */
		if (layout->task_cnt > layout->node_cnt)
			return true;
		break;
	case SLURM_DIST_UNKNOWN:
		return false;
	default:
		return true;
	}
	/* srun's default looks like a stated "block". */
	if (job_ptr->details && cplslurm_own_distribution(job_ptr->details->task_dist))
		return true;
	if (cplslurm_marks(job_ptr->spank_job_env, job_ptr->spank_job_env_size))
		return !(layout->task_dist & SLURM_DIST_NO_PACK_NODES);
	return cplslurm_states_distribution(step_ptr->submit_line);
}

/* Tell whether it has ranks of its own and a place for what travels. */
static bool is_step(const step_record_t *step_ptr)
{
	const slurm_step_layout_t *layout = step_ptr->step_layout;

	return layout && layout->tids && layout->tasks && layout->node_list &&
	       step_ptr->job_ptr &&
	       step_ptr->step_id.step_id <= SLURM_MAX_NORMAL_STEP_ID;
}

bool cplslurm_step(struct cplslurm_step *record,
                   void (*by)(const void *arg,
                              const struct cpl_engine_step *step,
                              struct cpl_engine_layout *out),
                   const void *arg, struct cpl_engine_layout *out)
{
	step_record_t *step_ptr = (step_record_t *)record;
	slurm_step_layout_t *layout;

	if (!cplslurm_step_is_ours(step_ptr) || !is_step(step_ptr))
		return false;
	layout = step_ptr->step_layout;
	struct cpl_engine_step step = {
	        .job = cplslurm_job(step_ptr->job_ptr),
	        .hosts = layout->node_list,
	        .n_hosts = (int)layout->node_cnt,
	        .ranks = (int)layout->task_cnt,
	        .tasks = layout->tasks,
	        .ids = layout->tids,
	        .own_order = keeps_order(step_ptr),
	        .part = step_ptr->job_ptr->het_job_id != 0,
#if CPLSLURM_SERIES >= 2302
	        .limit = CPLSLURM_TRAVELS,
#endif
	};
	by(arg, &step, out);
	if (out->changed)
		cplslurm_debug("%pS laid out as planned", step_ptr);
	if (out->unchanged.text[0])
		cplslurm_debug("%pS left as it is: %s", step_ptr,
		               out->unchanged.text);
	if (out->travel.text[0])
		cplslurm_debug("%pS launches without its profile: %s", step_ptr,
		               out->travel.text);
	return true;
}
