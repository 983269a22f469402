/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ranks: the plan at the start of a job, the layout of its steps. */
#include "adapter.h"

#include <stdlib.h>
#include <string.h>

#include "base/hostlist.h"

/* Only the first this many bytes of our text go into AdminComment. */
#define COMMENT_MAX 768

/*
 * Tasks per node of a step over the whole job, as _task_layout_block of
 * slurm_step_layout.c counts them: one more on each node that has CPUs left,
 * round after round; with CR_Pack_Nodes one each, then node by node.
 */
static void fill_slots(const uint32_t *room, int n, int ranks, bool pack,
                       int *slots)
{
	bool over = false;
	int rank = 0;

	memset(slots, 0, (size_t)n * sizeof(int));
	for (int i = 0; pack && i < n && rank < ranks; i++, rank++)
		slots[i]++;
	for (int i = 0; pack && i < n; i++)
		for (; slots[i] < (int)room[i] && rank < ranks; rank++)
			slots[i]++;
	for (uint32_t round = 0; rank < ranks; round++) {
		bool left = pack;

		for (int i = 0; i < n && rank < ranks; i++) {
			if (!pack && !over && round >= room[i])
				continue;
			slots[i]++;
			rank++;
			left = left || round + 1 < room[i];
		}
		over = over || !left;
	}
}

static uint32_t room_on(const job_record_t *job_ptr, int at)
{
	const struct job_details *details = job_ptr->details;
	uint32_t per_task = details->cpus_per_task ? details->cpus_per_task : 1;
	uint32_t room = job_ptr->job_resrcs->cpus[at] / per_task;

	if (!room)
		room = 1;
	if (details->ntasks_per_node && room > details->ntasks_per_node)
		room = details->ntasks_per_node;
	return room;
}

/* The allocation's node indexes in node order. */
static int *allocated_nodes(const bitstr_t *bitmap, int *n)
{
	int size = bit_size((bitstr_t *)bitmap);
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
	size_t before = ours ? (size_t)(ours - old) : strlen(old);
	const char *rest = ours ? ours + strcspn(ours, ";") : "";
	size_t n = strlen(text) < COMMENT_MAX ? strlen(text) : COMMENT_MAX;
	char *new = try_xmalloc(before + 2 + n + strlen(rest) + 1), *at;

	if (!new)
		return;
	memcpy(new, old, before);
	at = new + before;
	if (!ours && before) {
		memcpy(at, "; ", 2);
		at += 2;
	}
	for (size_t i = 0; i < n; i++)
		*at++ = text[i] == ';' ? ',' : text[i];
	strcpy(at, rest);
	xfree(job_ptr->admin_comment);
	job_ptr->admin_comment = new;
}

void adapter_job_begin(job_record_t *job_ptr)
{
	const job_resources_t *resources = job_ptr->job_resrcs;
	int n = 0, ranks, *host = NULL, *slots = NULL;
	uint32_t *room = NULL;
	char text[1024];

	if (!adapter_engine || !resources || !resources->node_bitmap ||
	    !resources->cpus || !job_ptr->details || adapter_hosts())
		return;
	if (adapter_accepted.job_ptr == job_ptr &&
	    adapter_accepted.id != job_ptr->job_id)
		cpl_engine_renumber(adapter_engine, adapter_accepted.id,
		                    job_ptr->job_id);
	adapter_accepted.job_ptr = NULL;
	ranks = cpl_engine_ranks(adapter_engine, job_ptr->job_id);
	host = allocated_nodes(resources->node_bitmap, &n);
	slots = calloc((size_t)n + 1, sizeof(int));
	room = malloc(((size_t)n + 1) * sizeof(*room));
	if (!host || !slots || !room || !n || n != (int)resources->nhosts)
		goto out;
	for (int i = 0; i < n; i++)
		room[i] = room_on(job_ptr, i);
	fill_slots(room, n, ranks, slurm_conf.select_type_param & CR_PACK_NODES,
	           slots);
	if (!cpl_engine_start(adapter_engine, job_ptr->job_id, host, slots, n,
	                      text, sizeof(text)) ||
	    !text[0])
		goto out;
	info("%pJ: %s", job_ptr, text);
	comment(job_ptr, text);
out:
	free(host);
	free(slots);
	free(room);
}

void adapter_job_resized(job_record_t *job_ptr)
{
	const bitstr_t *bitmap =
	        job_ptr->job_resrcs ? job_ptr->job_resrcs->node_bitmap : NULL;
	int n, *host;

	if (!adapter_engine || !bitmap)
		return;
	host = allocated_nodes(bitmap, &n);
	if (host && !adapter_hosts())
		cpl_engine_resized(adapter_engine, job_ptr->job_id, host, n);
	free(host);
}

/*
 * Does a command line hold -m or --distribution with this value? Only values
 * are looked for that Slurm uses as its default too; the others show in
 * task_dist. "python3 -m x" is no distribution.
 */
static bool line_states(const char *line, const char *value)
{
	static const char *const option[] = {"-m", "--distribution", "--dist"};
	size_t n = strlen(value);

	for (const char *at = line; at && (at = strchr(at, '-')); at++) {
		if (at != line && at[-1] != ' ')
			continue;
		for (size_t i = 0; i < sizeof(option) / sizeof(*option); i++) {
			size_t length = strlen(option[i]);
			const char *v = at + length;

			if (strncmp(at, option[i], length))
				continue;
			v += *v == ' ' || *v == '=';
			if (!strncmp(v, value, n))
				return true;
		}
	}
	return false;
}

bool adapter_explicit_distribution(const step_record_t *step_ptr)
{
	const slurm_step_layout_t *layout = step_ptr->step_layout;
	const struct job_details *details = step_ptr->job_ptr->details;
	uint32_t dist = layout->task_dist & SLURM_DIST_STATE_BASE;
	const char *value;

	switch (dist) {
	case SLURM_DIST_BLOCK:
		value = "block";
		break;
	case SLURM_DIST_CYCLIC:
		/* srun's own choice for a task per node. */
		if (layout->task_cnt > layout->node_cnt)
			return true;
		value = "cyclic";
		break;
	case SLURM_DIST_UNKNOWN:
		return false;
	default:
		return true;
	}
	if (line_states(step_ptr->submit_line, value))
		return true;
	if (!details)
		return false;
	if (line_states(details->submit_line, value))
		return true;
	/* sbatch -m, also as #SBATCH: it leaves no other value than this. */
	return step_ptr->job_ptr->batch_flag &&
	       (details->task_dist & SLURM_DIST_STATE_BASE) !=
	               SLURM_DIST_UNKNOWN &&
	       details->task_dist != NO_VAL && details->task_dist;
}

static int step_hosts(const slurm_step_layout_t *layout, int *host, int *slots,
                      struct cpl_error *err)
{
	struct cpl_hostlist list = {0};
	int rc = -1;

	if (cpl_hostlist_parse(&list, layout->node_list, err))
		goto out;
	if (list.count != (int)layout->node_cnt) {
		cpl_fail(err, "the layout has %u nodes, its list %d",
		         layout->node_cnt, list.count);
		goto out;
	}
	for (int i = 0; i < list.count; i++) {
		const node_record_t *node_ptr = find_node_record(list.name[i]);

		if (!node_ptr) {
			cpl_fail(err, "no node %s", list.name[i]);
			goto out;
		}
		host[i] = node_ptr->index;
		slots[i] = layout->tasks[i];
	}
	rc = 0;
out:
	cpl_hostlist_free(&list);
	return rc;
}

/* Rows in increasing order; the counts are those of tasks[] already. */
static int permute(slurm_step_layout_t *layout, const int *rank_host, int *used)
{
	memset(used, 0, layout->node_cnt * sizeof(int));
	for (uint32_t r = 0; r < layout->task_cnt; r++)
		used[rank_host[r]]++;
	for (uint32_t i = 0; i < layout->node_cnt; i++)
		if (used[i] != layout->tasks[i])
			return -1;
	memset(used, 0, layout->node_cnt * sizeof(int));
	for (uint32_t r = 0; r < layout->task_cnt; r++)
		layout->tids[rank_host[r]][used[rank_host[r]]++] = r;
	return 0;
}

void adapter_step_start(step_record_t *step_ptr)
{
	slurm_step_layout_t *layout = step_ptr->step_layout;
	struct cpl_error err = {""};
	int *host = NULL, *slots = NULL, *rank_host = NULL;
	size_t nodes, ranks;

	if (!adapter_engine || !layout || !layout->tids || !layout->tasks ||
	    !layout->node_list || !step_ptr->job_ptr ||
	    !cpl_engine_has_plan(adapter_engine, step_ptr->job_ptr->job_id))
		return;
	if (adapter_explicit_distribution(step_ptr)) {
		log_flag(SELECT_TYPE,
		         "commplace: %pS keeps the user's distribution",
		         step_ptr);
		return;
	}
	nodes = layout->node_cnt;
	ranks = layout->task_cnt;
	host = malloc((nodes + 1) * sizeof(int));
	slots = malloc((nodes + 1) * sizeof(int));
	rank_host = malloc((ranks + 1) * sizeof(int));
	if (!host || !slots || !rank_host) {
		cpl_fail_memory(&err);
		goto out;
	}
	if (adapter_hosts() || step_hosts(layout, host, slots, &err) ||
	    !cpl_engine_layout(adapter_engine, step_ptr->job_ptr->job_id, host,
	                       slots, (int)nodes, (int)ranks, rank_host, &err))
		goto out;
	if (permute(layout, rank_host, slots))
		cpl_fail(&err, "the plan has other counts per node");
	else
		log_flag(SELECT_TYPE, "commplace: %pS laid out as planned",
		         step_ptr);
out:
	if (err.text[0])
		log_flag(SELECT_TYPE, "commplace: %pS left as it is: %s",
		         step_ptr, err.text);
	free(host);
	free(slots);
	free(rank_host);
}
