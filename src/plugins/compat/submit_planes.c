/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "submit_planes.h"

#include <stdio.h>

/* Linux can be built for so many CPUs of a node. */
#define MOST_CPUS 8192

/* These say how many tasks a node gets; numbers that are not stated are 0. */
struct planes {
	uint32_t dist;
	uint16_t plane, per_node;
	uint32_t tasks, min_nodes, max_nodes;
	uint32_t cpus; /* The job has so many at least; 0 with --overcommit. */
};

static void take32(uint32_t *number, uint32_t stated)
{
	if (stated != NO_VAL && stated != INFINITE)
		*number = stated;
}

static void take16(uint16_t *number, uint16_t stated)
{
	if (stated != NO_VAL16 && stated != INFINITE16)
		*number = stated;
}

static void take_description(struct planes *p, const job_desc_msg_t *job)
{
	take32(&p->tasks, job->num_tasks);
	take32(&p->min_nodes, job->min_nodes);
	take32(&p->max_nodes, job->max_nodes);
	take16(&p->per_node, job->ntasks_per_node);
}

static struct planes of_submission(const job_desc_msg_t *job)
{
	struct planes p = {
	        .dist = job->task_dist,
	        .plane = job->plane_size,
	        /* slurmctld asks for a CPU for each task. */
	        .cpus = job->overcommit == NO_VAL8 ? UINT32_MAX : 0,
	};

	take_description(&p, job);
	return p;
}

static bool changes(const job_desc_msg_t *job)
{
	struct planes p = {0};

	take_description(&p, job);
	return p.tasks || p.min_nodes || p.max_nodes || p.per_node;
}

static struct planes of_change(const job_desc_msg_t *job,
                               const job_record_t *record)
{
	const job_details_t *details = record->details;
	bool implied = details->ntasks_per_node &&
	               !(record->bit_flags & JOB_NTASKS_SET);
	struct planes p = {
	        .dist = details->task_dist,
	        .plane = cplslurm_plane_size(details),
	        .per_node = details->ntasks_per_node,
	        .tasks = implied ? 0 : details->num_tasks,
	        .min_nodes = details->min_nodes,
	        .max_nodes = details->max_nodes,
	        .cpus = details->min_cpus,
	};

	take_description(&p, job);
	/* More tasks do not make the job ask for more. */
	take32(&p.cpus, job->min_cpus);
	if (details->overcommit)
		p.cpus = 0;
	return p;
}

/*
 * Nodes are filled first, then each gets a plane in turn, so that none has more
 * than its CPUs and its share of all tasks in whole planes. Without a size
 * Slurm takes NO_VAL16 for it.
 */
static bool too_many(uint64_t tasks, uint64_t nodes, uint16_t plane)
{
	uint64_t size = plane ? plane : NO_VAL16;
	uint64_t turns = (tasks + nodes * size - 1) / (nodes * size);

	return tasks > UINT16_MAX && turns * size + MOST_CPUS > UINT16_MAX;
}

bool cplslurm_planes_never_end(const job_desc_msg_t *job,
                               const job_record_t *record,
                               char said[CPLSLURM_PLANES_SAID])
{
	struct planes p = record ? of_change(job, record) : of_submission(job);
	uint64_t nodes = MAX(p.min_nodes, 1), tasks = p.tasks;

	if ((p.dist & SLURM_DIST_STATE_BASE) != SLURM_DIST_PLANE ||
	    p.dist == NO_VAL || (record && !changes(job)))
		return false;
	if (!tasks) {
		nodes = MAX(nodes, p.max_nodes);
		tasks = nodes * p.per_node;
	}
	if (tasks <= p.cpus || !too_many(tasks, nodes, p.plane))
		return false;
	snprintf(said, CPLSLURM_PLANES_SAID,
	         "commplace: -m plane of %u with %" PRIu64 " tasks on %" PRIu64
	         " node%s could give a node more than the 65535 that Slurm "
	         "counts there, and slurmctld would lay them out for ever; "
	         "take more nodes (-N), fewer tasks (-n), smaller planes or "
	         "another distribution (-m)",
	         p.plane, tasks, nodes, nodes == 1 ? "" : "s");
	return true;
}
