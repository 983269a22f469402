/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This decides who starts next: first come, first served, with EASY backfilling
 * (Mu'alem, Feitelson 2001, "Utilization, predictability, workloads, and user
 * runtime estimates in scheduling the IBM SP2 with backfilling"). Only the first
 * waiting job has a reservation. It begins when enough nodes will be free, by what
 * the running jobs asked for. A later job may go before it if it asks for no more
 * time than is left till then, or for no more nodes than will be left over. Nodes
 * are counted, not named.
 */
#ifndef CPL_CAMPAIGN_EASY_H
#define CPL_CAMPAIGN_EASY_H

#include <stdbool.h>

#include "base/error.h"

struct cpl_easy_job {
	int job, nodes;
	double limit; /* seconds asked for */
	double end;   /* of running ones: start + limit */
};

struct cpl_easy {
	int n_free;
	bool backfill; /* false: first come, first served only */
	struct cpl_easy_job *waits; /* [n_waits] in their order */
	int n_waits;
	struct cpl_easy_job *runs; /* [n_runs] by end, then job */
	int n_runs;
};

/* This describes a machine of n free nodes, for at most max_jobs at a time. It
 * returns 0, or -1 with err when memory is out. Free it in either case. */
int cpl_easy_init(struct cpl_easy *easy, int n, int max_jobs, bool backfill,
                  struct cpl_error *err);
void cpl_easy_free(struct cpl_easy *easy);

/* A job joins the queue; 1 <= nodes <= those of the machine. It costs O(1). */
void cpl_easy_submit(struct cpl_easy *easy, int job, int nodes, double limit);

/* This starts a job and returns its number, or -1 if none can start; call it until
 * then. A running job that has overrun its limit is assumed to end now. It costs
 * O(waiting + running). */
int cpl_easy_start(struct cpl_easy *easy, double now);

/* A running job has ended. It costs O(running). */
void cpl_easy_end(struct cpl_easy *easy, int job);

#endif
