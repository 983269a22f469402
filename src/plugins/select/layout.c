/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ranks: the layout at the start of a job, and of its steps. */
#include "select_internal.h"

#include <stdlib.h>
#include <string.h>

/* Only the first this many bytes of our text go into AdminComment. */
#define COMMENT_MAX 768

int *cplselect_nodes(const bitstr_t *bitmap, int *n)
{
	int size = bitmap ? bit_size((bitstr_t *)bitmap) : 0;
	int *host = malloc(((size_t)size + 1) * sizeof(int));

	*n = 0;
	for (int i = 0; host && i < size; i++)
		if (bit_test((bitstr_t *)bitmap, i))
			host[(*n)++] = i;
	return host;
}

/* In place of the text that job_submit left, or after what others wrote. */
static void comment(job_record_t *job_ptr, const char *text)
{
	static const char mark[] = "commplace:";
	const char *old = job_ptr->admin_comment ? job_ptr->admin_comment : "";
	const char *ours = strstr(old, mark);
	int before = (int)(ours ? ours - old : (ptrdiff_t)strlen(old));
	const char *rest = ours ? ours + strcspn(ours, ";") : "";
	size_t size = strlen(old) + COMMENT_MAX + sizeof("; ");
	char *new = try_xmalloc(size), *at;

	if (!new)
		return;
	at = new + snprintf(new, size, "%.*s%s", before, old,
	                    !ours && before ? "; " : "");
	snprintf(at, COMMENT_MAX + 1, "%.*s", COMMENT_MAX, text);
	for (; *at; at++)
		if (*at == ';')
			*at = ',';
	strcpy(at, rest);
	xfree(job_ptr->admin_comment);
	job_ptr->admin_comment = new;
}

/* A user's own distribution, as the job states it. */
static bool own_distribution(uint32_t dist)
{
	uint32_t base = dist & SLURM_DIST_STATE_BASE;

	return dist != NO_VAL && base && base != SLURM_DIST_UNKNOWN;
}

/* What slurmctld will make of a step over the whole job. */
static slurm_step_layout_t *whole_layout(const job_record_t *job_ptr, int ranks)
{
	const struct job_details *details = job_ptr->details;
	const job_resources_t *got = job_ptr->job_resrcs;
	uint32_t n = got->nhosts, dist = SLURM_DIST_BLOCK, base;
	uint16_t plane =
	        details->ntasks_per_node ? details->ntasks_per_node : NO_VAL16;
	uint16_t *per_task = malloc(((size_t)n + 1) * sizeof(*per_task));
	uint32_t *once = malloc(((size_t)n + 1) * sizeof(*once));
	slurm_step_layout_t *layout = NULL;

	if (own_distribution(details->task_dist))
		dist = details->task_dist;
	base = dist & SLURM_DIST_STATE_BASE;
	if (base == SLURM_DIST_PLANE)
		plane = details->plane_size;
	slurm_step_layout_req_t req = {
	        .node_list = got->nodes,
	        .cpus_per_node = got->cpus,
	        .cpu_count_reps = once,
	        .cpus_per_task = per_task,
	        .cpus_task_reps = once,
	        .num_hosts = n,
	        .num_tasks = (uint32_t)ranks,
	        .task_dist = dist,
	        .plane_size = plane,
	};

	for (uint32_t i = 0; per_task && once && i < n; i++) {
		per_task[i] =
		        details->cpus_per_task ? details->cpus_per_task : 1;
		once[i] = 1;
	}
	/* That one is by the hosts that each srun names. */
	if (per_task && once && base != SLURM_DIST_ARBITRARY)
		layout = slurm_step_layout_create(&req);
	free(per_task);
	free(once);
	return layout;
}

static int layout_of(void *arg, int ranks, int *rank_host)
{
	slurm_step_layout_t *layout = whole_layout(arg, ranks);
	int rc = -1;

	if (layout && (int)layout->task_cnt == ranks) {
		for (uint32_t i = 0; i < layout->node_cnt; i++)
			for (int k = 0; k < layout->tasks[i]; k++)
				rank_host[layout->tids[i][k]] = (int)i;
		rc = 0;
	}
	slurm_step_layout_destroy(layout);
	return rc;
}

/* As squeue shows the id of an element of an array or a part of a het job. */
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

/*
 * A job that its user gave none of our options: its sruns can mark
 * distributions that nobody stated, but have yet to be told that it is ours.
 * Slurm gives variables to a component of a heterogeneous job by other names.
 */
static void ask_for_marks(job_record_t *job_ptr)
{
	const char *offer =
	        cplslurm_env(job_ptr->spank_job_env,
	                     job_ptr->spank_job_env_size, CPLSLURM_MARKS);
	struct job_details *details = job_ptr->details;
	uint32_t n = details->env_cnt;

	if (!offer || strcmp(offer, CPLSLURM_MARKS_OFFERED) ||
	    job_ptr->het_job_id ||
	    cplslurm_set_env(&details->env_sup, &n,
	                     "SLURM_SPANK_" CPLSLURM_MARKS,
	                     CPLSLURM_MARKS_MADE))
		return;
	details->env_cnt = (uint16_t)n;
	cplslurm_set_env(&job_ptr->spank_job_env, &job_ptr->spank_job_env_size,
	                 CPLSLURM_MARKS, CPLSLURM_MARKS_MADE);
}

void cplselect_job_begin(job_record_t *job_ptr)
{
	const job_resources_t *resources = job_ptr->job_resrcs;
	struct cpl_engine_notice notice;
	char shown[32];
	int n = 0, *host;

	if (!cplselect_engine || !resources || !resources->node_bitmap ||
	    !resources->cpus || !job_ptr->details || cplselect_hosts())
		return;
	host = cplselect_nodes(resources->node_bitmap, &n);
	if (!host || !n || n != (int)resources->nhosts)
		goto out;
	struct cpl_engine_allocation got = {
	        .id = job_ptr->job_id,
	        .array_id = job_ptr->array_job_id,
	        .shown_as = shown_as(job_ptr, shown, sizeof(shown)),
	        .host = host,
	        .n_hosts = n,
	        .layout = layout_of,
	        .arg = job_ptr,
	        .own_order = own_distribution(job_ptr->details->task_dist),
	};
	cpl_engine_start(cplselect_engine, &got, &notice);
	if (!notice.text[0])
		goto out;
	info("%pJ: %s", job_ptr, notice.text);
	ask_for_marks(job_ptr);
	if (notice.comment)
		comment(job_ptr, notice.text);
out:
	free(host);
}

void cplselect_job_resized(job_record_t *job_ptr)
{
	const bitstr_t *bitmap =
	        job_ptr->job_resrcs ? job_ptr->job_resrcs->node_bitmap : NULL;
	int n, *host;

	if (!cplselect_engine || !bitmap)
		return;
	host = cplselect_nodes(bitmap, &n);
	if (host && !cplselect_hosts())
		cpl_engine_resized(cplselect_engine, job_ptr->job_id, host, n);
	free(host);
}

/* Does the step keep its order, since its user stated a distribution? */
static bool keeps_order(const step_record_t *step_ptr)
{
	const slurm_step_layout_t *layout = step_ptr->step_layout;
	const job_record_t *job_ptr = step_ptr->job_ptr;

	switch (layout->task_dist & SLURM_DIST_STATE_BASE) {
	case SLURM_DIST_BLOCK:
		break;
	case SLURM_DIST_CYCLIC:
		/* srun's own choice for a task per node. */
		if (layout->task_cnt > layout->node_cnt)
			return true;
		break;
	case SLURM_DIST_UNKNOWN:
		return false;
	default:
		return true;
	}
	/* srun's default looks like a stated "block". */
	if (job_ptr->details && own_distribution(job_ptr->details->task_dist))
		return true;
	if (cplslurm_marks(job_ptr->spank_job_env, job_ptr->spank_job_env_size))
		return !(layout->task_dist & SLURM_DIST_NO_PACK_NODES);
	return cplslurm_states_distribution(step_ptr->submit_line);
}

/* Does it have ranks of its own, and a place for what travels? */
static bool is_step(const step_record_t *step_ptr)
{
	const slurm_step_layout_t *layout = step_ptr->step_layout;

	return layout && layout->tids && layout->tasks && layout->node_list &&
	       step_ptr->job_ptr &&
	       step_ptr->step_id.step_id <= SLURM_MAX_NORMAL_STEP_ID;
}

static void attach(step_record_t *step_ptr, struct cpl_engine_layout *out)
{
	dynamic_plugin_data_t *jobinfo = step_ptr->select_jobinfo;

	if (out->data && jobinfo && !jobinfo->data) {
		jobinfo->data =
		        cplselect_jobinfo_new(out->data, (uint32_t)out->size);
		if (jobinfo->data)
			return;
		cpl_fail_memory(&out->travel);
	}
	free(out->data);
}

void cplselect_step_start(step_record_t *step_ptr)
{
	slurm_step_layout_t *layout = step_ptr->step_layout;
	struct cpl_engine_layout out;

	if (!cplselect_engine || !is_step(step_ptr))
		return;
	struct cpl_engine_step step = {
	        .job = cplselect_describe(step_ptr->job_ptr),
	        .hosts = layout->node_list,
	        .n_hosts = (int)layout->node_cnt,
	        .ranks = (int)layout->task_cnt,
	        .tasks = layout->tasks,
	        .ids = layout->tids,
	        .own_order = keeps_order(step_ptr),
	        .part = step_ptr->job_ptr->het_job_id != 0,
	};
	cpl_engine_step(cplselect_engine, &step, &out);
	attach(step_ptr, &out);
	if (out.changed)
		cplselect_debug("%pS laid out as planned", step_ptr);
	if (out.unchanged.text[0])
		cplselect_debug("%pS left as it is: %s", step_ptr,
		                out.unchanged.text);
	if (out.travel.text[0])
		cplselect_debug("%pS launches without its profile: %s",
		                step_ptr, out.travel.text);
}
