/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who starts next: first come, first served, with EASY backfilling (Mu'alem,
 * Feitelson 2001, "Utilization, predictability, workloads, and user runtime
 * estimates in scheduling the IBM SP2 with backfilling"). The first job that
 * waits has the only reservation: at the moment when, by what the running jobs
 * asked for, enough nodes will be free. A later one may go before it where it
 * asks for no more time than is left till then, or for no more nodes than will
 * be left over. Nodes are counted, not named.
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
	bool backfill; /* false: first come, first served alone */
	struct cpl_easy_job *waits; /* [n_waits] in their order */
	int n_waits;
	struct cpl_easy_job *runs; /* [n_runs] by end, then job */
	int n_runs;
};

/* A machine of n free nodes, for at most max_jobs at a time. 0, or -1 with err
 * (memory). To be freed in either case. */
int cpl_easy_init(struct cpl_easy *easy, int n, int max_jobs, bool backfill,
                  struct cpl_error *err);
void cpl_easy_free(struct cpl_easy *easy);

/* A job joins the queue; 1 <= nodes <= those of the machine. O(1). */
void cpl_easy_submit(struct cpl_easy *easy, int job, int nodes, double limit);

/*
 * A job that starts now, which is then running: its number, or -1: nobody does.
 * To be called until that. A running job that has overrun its limit is taken to
 * end now. O(waiting + running).
 */
int cpl_easy_start(struct cpl_easy *easy, double now);

/* A running job is over. O(running). */
void cpl_easy_end(struct cpl_easy *easy, int job);

#endif
