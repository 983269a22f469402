/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "layout.h"

#include "slurm_compat.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* The daemon's program has said that none of its records is ours. */
static bool refused;

#define BUILT_FOR "commplace: built for Slurm " SLURM_VERSION_STRING
#define LEFT "all is left to Slurm; build commplace for this release"

int cplslurm_layout_probe(const char *program, const struct cpl_field *field,
                          size_t n)
{
	struct cpl_error err = {""};
	int found = cpl_debuginfo_check(program, field, n, &err);
	char path[PATH_MAX];

	/* "/proc/self/exe" says nothing to whoever reads the log. */
	if (realpath(program, path))
		program = path;
	if (found < 0) {
		refused = true;
		error(BUILT_FOR ": %s: %s: " LEFT, program, err.text);
	} else {
		debug("commplace: %s: %d of %zu fields of Slurm's structures "
		      "looked at, all are as built for",
		      program, found, n);
	}
	return found < 0 ? 0 : found;
}

static bool another(struct cplslurm_layout *layout)
{
	layout->found = CPLSLURM_ANOTHER;
	return false;
}

bool cplslurm_is_ours(struct cplslurm_layout *layout, const void *record)
{
	uint32_t mark;
	size_t size;

	if (refused)
		return false;
	if (layout->found != CPLSLURM_UNKNOWN || !record)
		return layout->found != CPLSLURM_ANOTHER;
	size = xsize((void *)record);
	if (size != layout->size) {
		error(BUILT_FOR
		      ", whose %s has %zu bytes; here it has %zu: " LEFT,
		      layout->name, layout->size, size);
		return another(layout);
	}
	memcpy(&mark, (const char *)record + layout->mark_at, sizeof(mark));
	if (layout->mark && mark != layout->mark) {
		error(BUILT_FOR
		      ", whose %s.magic is %#x; here it is %#x: " LEFT,
		      layout->name, layout->mark, mark);
		return another(layout);
	}
	layout->found = CPLSLURM_OURS;
	return true;
}

int cplslurm_conf_check(struct cpl_error *err)
{
	size_t here = cplslurm_conf_size();

	return here == sizeof(slurm_conf)
	               ? 0
	               : cpl_fail(
	                         err,
	                         "built for Slurm " SLURM_VERSION_STRING
	                         ", whose slurm_conf_t has %zu bytes; here "
	                         "it has %zu: build commplace for this release",
	                         sizeof(slurm_conf), here);
}
