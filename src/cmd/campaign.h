/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside `commplace campaign`. */
#pragma once

#include "campaign/campaign.h"
#include "campaign/summary.h"
#include "cmd.h"

#define CAMPAIGN_MAX_POLICIES 32

struct campaign {
	struct cpl_campaign core;
	struct cpl_network *net;
	struct cpl_log log;
	struct cpl_jobs jobs;
	struct cpl_slurm_queue queue; /* where it is asked for */
	struct cpl_signature **signature; /* [jobs.n_rules] */
	struct cpl_config *config;        /* of policy "site", or NULL */
	int n;                            /* policies */
	const char *policy[CAMPAIGN_MAX_POLICIES];
	struct cpl_campaign_result result[CAMPAIGN_MAX_POLICIES];
	struct cpl_campaign_summary summary[CAMPAIGN_MAX_POLICIES];
	bool timing; /* decision times are told */
};

/* Exit codes. */
int campaign_print_text(const struct cmd *self, const struct campaign *c);
int campaign_print_json(const struct cmd *self, const struct campaign *c);

/* Write the events of all policies to `events` as a table with tabs, and the
 * picture to `plot`; each may be NULL. 0, or -1 with err and neither where one
 * cannot be written. */
int campaign_write(const struct campaign *c, const char *events,
                   const char *plot, struct cpl_error *err);
