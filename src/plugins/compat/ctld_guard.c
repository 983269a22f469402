/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctld_internal.h"

enum { UNKNOWN, OURS, ANOTHER };
static int layout = UNKNOWN;

/* Slurm's allocator may have been asked for more, never for less. */
static bool same(const char *name, const void *record, size_t size)
{
	size_t theirs = record ? xsize((void *)record) : size;

	if (theirs == size)
		return true;
	error("commplace: built for Slurm " SLURM_VERSION_STRING
	      ", whose %s has %zu bytes; this slurmctld's has %zu: all is left "
	      "to Slurm; build commplace for this release",
	      name, size, theirs);
	return false;
}

bool cplslurm_layout_is_ours(const job_record_t *job)
{
	const node_record_t *node = NULL;

	if (layout != UNKNOWN || !job)
		return layout == OURS;
	for (int i = 0; i < node_record_count && !node; i++)
		node = node_record_table_ptr[i];
	/* The job first: what follows is read through it. */
	layout = same("job_record_t", job, sizeof(*job)) &&
	                         same("job_details_t", job->details,
	                              sizeof(*job->details)) &&
	                         same("part_record_t", job->part_ptr,
	                              sizeof(*job->part_ptr)) &&
	                         same("node_record_t", node, sizeof(*node))
	                 ? OURS
	                 : ANOTHER;
	return layout == OURS;
}
