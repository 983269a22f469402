/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This decides who starts next as slurmctld does with SchedulerType=sched/backfill and
 * PriorityType=priority/basic, for jobs of whole nodes in one partition. It has two
 * schedulers: the main one starts the first jobs of the queue until one finds too few
 * free nodes; backfill goes through all of the queue every so often, starts those that
 * can, and for the others plans nodes and times in a table, which it forgets with each
 * cycle. A later job gets nodes only where nobody before it has planned them.
 *
 * Times are whole seconds of the log's clock, since slurmctld rounds to multiples of
 * these. Where it will plan a job depends on when running jobs end by their limits; of
 * those that end within some seconds of each other, which grow, it goes by the last.
 */
#pragma once

#include <stdint.h>

#include "campaign/easy.h"
#include "campaign/stock.h"

/* These are of SchedulerParameters. */
struct cpl_backfill_options {
	int interval, resolution, window; /* seconds */
	int jobs, records;                /* bf_max_job_test, bf_node_space_size */
	int reserve;     /* bf_job_part_count_reserve, 0: any number */
	int linear;      /* bf_window_linear, 0: seconds that double */
	int main, delay; /* sched_interval, batch_sched_delay: seconds */
};

/* This reads what SchedulerParameters says of these, "bf_interval=30,bf_continue"; it
 * passes over others, and has Slurm's own values for those that are not there. It
 * returns 0, or -1 with err that names the parameter. */
int cpl_backfill_parse(const char *text, struct cpl_backfill_options *out,
                       struct cpl_error *err);

/* This is when a scheduler looks at the queue. */
struct cpl_pass {
	double at; /* seconds of the log's clock */
	bool backfill;
};

/* This reads lines "SECONDS main" or "SECONDS backfill", in order of time. It returns
 * 0 with *out for free(), or -1 with err "FILE:LINE: reason". */
int cpl_passes_load(const char *path, struct cpl_pass **out, int *n,
                    struct cpl_error *err);

/* Slurm's queue. */
struct cpl_slurm_queue {
	struct cpl_backfill_options options;
	/* These are when it was looked at, as long as they go; then as the options
	 * say. */
	struct cpl_pass *pass;
	int n_passes;
};

/* This knows when the schedulers look. Times count from `first`. */
struct cpl_pass_clock {
	const struct cpl_slurm_queue *queue;
	double first;
	int next;              /* of pass[] */
	double main, backfill; /* when they did last */
	bool wanted; /* a job came or went since the main one looked; set this */
};

/* The first is the next look from now on, where jobs wait; the second says that it was
 * made. The main scheduler looks at whole seconds, `delay` after its last look, if a
 * job came or went. */
struct cpl_pass cpl_pass_next(struct cpl_pass_clock *clock, double now);
void cpl_pass_made(struct cpl_pass_clock *clock, const struct cpl_pass *pass);

/* This is a running job, with the end that its limit says. */
struct cpl_backfill_run {
	int64_t end;
	int job, n;
	const int *node; /* [n] */
};

struct cpl_backfill {
	const struct cpl_backfill_options *options;
	const struct cpl_stock_tree *tree;
	int64_t now;
	int at;     /* the next of the queue */
	int tried, planned, records;
	int begun;  /* the job that started last, -1: none */
	struct plan_span *span; /* [n_spans], by time, of n_made */
	int n_spans, n_made;
	/* [n_nodes] that the job to be started may have, others that will be free, and
	 * those where it is to start. */
	unsigned char *may, *then;
	int *node;
};

/* It returns 0, or -1 with err when memory is out; free it in either case. */
int cpl_backfill_init(struct cpl_backfill *b,
                      const struct cpl_backfill_options *options,
                      const struct cpl_stock_tree *tree, struct cpl_error *err);
void cpl_backfill_free(struct cpl_backfill *b);

/* This is a limit as slurmctld has it: whole minutes, at least one. */
int64_t cpl_backfill_limit(double seconds);

/* A cycle begins. */
int cpl_backfill_begin(struct cpl_backfill *b, int64_t now, struct cpl_error *err);

/* What a cycle sees. */
struct cpl_backfill_state {
	const struct cpl_easy_job *waits; /* [n_waits] in their order, or job -1 */
	int n_waits;
	struct cpl_backfill_run *runs; /* [n_runs], which are put in order */
	int n_runs;
	const unsigned char *free; /* [n_nodes] */
};

/* This returns the place in the queue of the next job that starts, on nodes of may[],
 * which are free; -1: the cycle is over; -2 with err: memory is out. Call it until
 * then, with the job among those that run and no longer in the queue. It costs
 * O(jobs * (records + running jobs) * nodes). */
int cpl_backfill_next(struct cpl_backfill *b, const struct cpl_backfill_state *state,
                      struct cpl_error *err);
