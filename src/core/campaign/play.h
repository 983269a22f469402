/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdatomic.h>

#include "campaign/backfill.h"
#include "campaign/campaign_internal.h"
#include "campaign/easy.h"
#include "campaign/nodes.h"
#include "campaign/running.h"

struct campaign_progress {
	const struct cpl_campaign *c;
	_Atomic int64_t done;
	_Atomic int playing; /* policies being played */
	int64_t of;
};

/* This plays the log under one policy. */
struct campaign_run {
	const struct cpl_campaign *c;
	struct kinds *kinds;
	const struct bounds *bounds;
	const unsigned char *large; /* [n_jobs] these find no nodes */
	const struct cpl_stock_tree *tree;
	struct chooser chooser;
	const double *reference; /* [n_jobs], NULL: this run sets them */
	struct cpl_campaign_result *out;
	struct cpl_easy easy;
	struct cpl_easy_nodes easy_nodes;
	struct cpl_backfill backfill; /* of Slurm's queue */
	struct cpl_pass_clock clock;
	struct cpl_backfill_run *planned; /* [n_jobs] those that run, for it */
	const unsigned char *offered; /* the free nodes that it lets a job have */
	struct campaign_nodes nodes;
	struct running_jobs running;
	struct cpl_team *team;
	double now;
	int next; /* job to be submitted */
	/* Node seconds that were asked for, and of them without segments. */
	double submitted, plain;
	int done;
	struct campaign_progress *progress;
	struct cpl_error err;
};

/* Its jobs from first to last; its err says why where that fails. */
void campaign_play(struct campaign_run *run);
