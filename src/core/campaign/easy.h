/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This decides who starts next: first come, first served, with EASY backfilling
 * (Mu'alem, Feitelson 2001, "Utilization, predictability, workloads, and user
 * runtime estimates in scheduling the IBM SP2 with backfilling"). Only the first
 * waiting job has a reservation. It begins when enough nodes will be free, by what
 * the running jobs asked for. A later job may go before it if it asks for no more
 * time than is left till then, or for no more nodes than will be left over. Nodes
 * are counted, not named, but where some jobs cannot have any nodes: then a first job
 * of these begins when nodes that it can have are free, and a later one may have
 * others than those for longer.
 */
#pragma once

#include <stdbool.h>

#include "base/error.h"

#define CPL_EASY_BLOCK 64

struct cpl_easy_job {
	int job, nodes;
	double limit; /* seconds asked for */
	double end;   /* of running ones: start + limit */
};

/* What a job needs, if it is more than a number of nodes. */
enum cpl_easy_need {
	CPL_EASY_ANY,  /* nodes that are free */
	CPL_EASY_SOME, /* such nodes as it names, as many as it says */
	CPL_EASY_MORE, /* such nodes, and others are lost to other jobs */
};

/* These know the nodes. */
struct cpl_easy_nodes {
	void *arg;
	enum cpl_easy_need (*need)(void *arg, int job);
	/* Are there free nodes that the job can have, with `spare` beside those
	 * that are kept? If so it starts before this is asked again. */
	bool (*has)(void *arg, int job, bool spare);
	/* Would there be, with those of n running jobs? If so they are kept. */
	bool (*keep)(void *arg, int job, const struct cpl_easy_job *runs, int n);
};

struct cpl_easy {
	int n_free;
	const struct cpl_easy_nodes *nodes; /* NULL: they are counted */
	/* The first job's reservation holds until another job ends. */
	bool planned, never; /* never: no time is known */
	double at;
	bool backfill; /* false: first come, first served only */
	/* [end] those that came, in their order, of which n_waits still wait from
	 * `first` on; the others among these have job -1. */
	struct cpl_easy_job *waits;
	int first, end, n_waits;
	struct cpl_easy_job *least; /* of each CPL_EASY_BLOCK the least asked for */
	struct cpl_easy_job *runs; /* [n_runs] by end, then job */
	int n_runs;
};

/* This describes a machine of n free nodes, for at most max_jobs in all. It returns
 * 0, or -1 with err when memory is out. Free it in either case. */
int cpl_easy_init(struct cpl_easy *easy, int n, int max_jobs, bool backfill,
                  struct cpl_error *err);
void cpl_easy_free(struct cpl_easy *easy);

/* A job joins the queue; 1 <= nodes <= those of the machine. It costs O(1). */
void cpl_easy_submit(struct cpl_easy *easy, int job, int nodes, double limit);

/* A job that has started takes so many nodes from others beside its own. It costs
 * O(running). */
void cpl_easy_take(struct cpl_easy *easy, int job, int more);

/* This starts a job and returns its number, or -1 if none can start; call it until
 * then. A running job that has overrun its limit is assumed to end now. It costs
 * O(running + blocks of those waiting + jobs of blocks where one might). */
int cpl_easy_start(struct cpl_easy *easy, double now);

/* The job at that place of waits[] starts. It returns its number, and costs
 * O(CPL_EASY_BLOCK + running). */
int cpl_easy_begin(struct cpl_easy *easy, int at, double now);

/* A running job has ended. It costs O(running). */
void cpl_easy_end(struct cpl_easy *easy, int job);
