/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Jobs that are decided for, and stay stock all the same. */
#include <stdio.h>
#include <time.h>

#include "site/engine_deciding.h"

/* What the job's user has stated is no matter of chance. */
static bool has_wish(const struct deciding *d)
{
	return d->want.policy.source == CPL_FROM_USER ||
	       d->want.mapping.source == CPL_FROM_USER || d->req->own_order ||
	       d->req->n_required;
}

static const struct cpl_stopped *stopped(const struct deciding *d)
{
	const struct snapshot *now = d->desk->snapshot;

	/* What a user has is another thing under the same name. */
	if (!now->config->trial_stop || d->out->record->own_profile)
		return NULL;
	return cpl_trial_stopped(&now->trial, d->out->record->profile);
}

enum cpl_reason engine_held_back(struct deciding *d, char *text, size_t size)
{
	const struct cpl_config *config = d->desk->snapshot->config;
	struct cpl_record *record = d->out->record;
	const struct cpl_stopped *stop = stopped(d);
	bool stock;

	snprintf(text, size, "Mode=observe");
	if (d->want.mode == CPL_MODE_OBSERVE)
		return CPL_REASON_OBSERVE;
	if (has_wish(d))
		return CPL_REASON_NONE;
	if (stop) {
		snprintf(text, size,
		         "TrialStop: placement made this profile's jobs run "
		         "%.1f %% longer",
		         -100 * stop->gain);
		return CPL_REASON_STOPPED;
	}
	if (!d->want.trial ||
	    (config->trial_until && time(NULL) >= config->trial_until))
		return CPL_REASON_NONE;
	stock = cpl_trial_draws_stock(config->seed, d->req->job.id,
	                              d->want.trial);
	if (engine_set(&record->arm, stock ? CPL_ARM_IS_STOCK : CPL_ARM_IS_OURS))
		return CPL_REASON_NONE;
	snprintf(text, size, "drawn to stay stock (Trial=%d)", d->want.trial);
	return stock ? CPL_REASON_TRIAL : CPL_REASON_NONE;
}
