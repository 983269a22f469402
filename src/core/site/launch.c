/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "site/launch.h"

#include <stdio.h>
#include <string.h>

static int set_name(char *field, const char *name, struct cpl_error *err)
{
	if (strlen(name) > CPL_LAUNCH_NAME_MAX)
		return cpl_fail(err, "%s: the name is too long", name);
	strcpy(field, name);
	return 0;
}

/* A launch that leaves binding to Slurm, with the reason. */
static unsigned char *left_out(struct cpl_launch *launch,
                               const struct cpl_store_answer *found,
                               size_t limit, size_t *size,
                               struct cpl_error *err)
{
	bool full;

	launch->kind = CPL_LAUNCH_NOTHING;
	snprintf(launch->reason, sizeof(launch->reason),
	         "the profile is too large to travel, and nodes cannot make it "
	         "from a file: it is %s",
	         found->own ? "the user's own" : "rescaled");
	return cpl_launch_write(launch, NULL, NULL, limit, size, &full, err);
}

unsigned char *cpl_site_launch(const struct cpl_config *config,
                               const struct cpl_resolved *want,
                               const struct cpl_store_answer *found,
                               const struct cpl_launch_step *step,
                               size_t limit, size_t *size,
                               struct cpl_error *err)
{
	const struct cpl_profile *profile = found->profile;
	struct cpl_launch launch = {.kind = CPL_LAUNCH_ROWS};
	struct cpl_error why = found->err;
	unsigned char *data = NULL;
	bool full = false;

	if (set_name(launch.profile, want->profile.value, err) ||
	    set_name(launch.binder, want->binding.value, err) ||
	    set_name(launch.nic, want->near_nic ? want->near_nic : "", err))
		return NULL;
	/* The store speaks of jobs. */
	if (found->found == CPL_FOUND_OTHER_RANKS)
		cpl_fail(&why, "profile %s is of %d ranks, the step has %d",
		         want->profile.value, found->ranks, step->ranks);
	launch.memory = want->bind_memory;
	launch.own = want->user_may & CPL_MAY_PROFILE;
	if (profile)
		data = cpl_launch_write(&launch, profile->graph, step, limit,
		                        size, &full, &why);
	if (data)
		return data;
	/* A part of a step does not know its first rank here; its nodes do. */
	if (full || (profile && step->part && step->ranks < profile->ranks)) {
		/* Nodes read the site's files, as they are. */
		if (found->own || found->rescaled)
			return left_out(&launch, found, limit, size, err);
		launch.kind = CPL_LAUNCH_FILE;
		launch.ranks = profile->ranks;
		launch.size = found->stamp.size;
		launch.seconds = found->stamp.mtime.tv_sec;
		launch.nanoseconds = found->stamp.mtime.tv_nsec;
	} else {
		launch.kind = CPL_LAUNCH_NOTHING;
		snprintf(launch.reason, sizeof(launch.reason), "%s", why.text);
	}
	return cpl_launch_write(&launch, NULL, NULL, limit, size, &full, err);
}
