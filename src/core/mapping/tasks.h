/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For mappers that put one task on each node: ranks are first gathered into
 * tasks, one for each host that has slots, as large as these; a task may go to
 * any host of its size.
 */
#ifndef CPL_MAPPING_TASKS_H
#define CPL_MAPPING_TASKS_H

#include "mapping/rings.h"

struct cpl_tasks {
	const struct cpl_map_request *req;
	int n;               /* tasks, and places: hosts that have slots */
	int *place_host;     /* [n] index into req->host */
	int *node;           /* [n] node id of a place */
	int *room;           /* [n] slots of a place */
	int *size;           /* [n] ranks of a task; task t has room[t] */
	int *task_of;        /* [ranks] */
	struct cpl_comm *comm;  /* between tasks, directed */
	struct cpl_comm *graph; /* between tasks, both ways, no diagonal */
	struct cpl_distance distance; /* spots are those of places */
	struct cpl_rings rings; /* in an initialised struct only */
	int *first_on;          /* [spots] places of a spot, ascending */
	int *next_on;           /* [n] */
};

/* 0, or -1 with err (memory). O(entries log entries + the partition). */
int cpl_tasks_init(struct cpl_tasks *tasks, const struct cpl_map_request *req,
		   struct cpl_error *err);
void cpl_tasks_free(struct cpl_tasks *tasks);

static inline bool cpl_tasks_fit(const struct cpl_tasks *t, int task, int place)
{
	return t->size[task] == t->room[place];
}

/* Hops between places. */
static inline double cpl_tasks_hops(struct cpl_tasks *t, int a, int b)
{
	return cpl_distance_between(&t->distance, t->distance.spot[a],
				    t->distance.spot[b]);
}

/* Has the caller's budget run out? */
static inline bool cpl_tasks_expired(const struct cpl_tasks *t)
{
	return t->req->expired && t->req->expired(t->req->expired_arg);
}

/* Bytes from one task to another. O(log degree). */
double cpl_tasks_bytes(const struct cpl_tasks *tasks, int from, int to);

/* The place nearest to all others, ties to the first. Every `stride`th other
 * is counted where there are many. O(n) on a torus, else O(n^2). */
int cpl_tasks_centre(struct cpl_tasks *tasks);

/* The heaviest task by traffic, ties to the first. O(entries). */
int cpl_tasks_heaviest(const struct cpl_tasks *tasks);

/*
 * The free place that fits the task and is nearest to place `near`, ties to
 * the first; -1: none. used[place] tells the free ones. O(n), on a torus less
 * where there is one near.
 */
int cpl_tasks_nearest(struct cpl_tasks *tasks, int task, int near,
		      const bool *used);

/* Hop-bytes of a whole layout, each pair of tasks counted once. O(entries). */
double cpl_tasks_hop_bytes(struct cpl_tasks *tasks, const int *place_of);

/* Tasks with place_of -1 go, in order, to the first places that fit. O(n) for
 * each size. 0, or -1 with err (memory). */
int cpl_tasks_fill(const struct cpl_tasks *tasks, int *place_of,
		   struct cpl_error *err);

/*
 * Give the i-th task of an order the i-th place of another; with sizes that
 * differ, the first place left that fits. 0, or -1 with err (memory). O(n),
 * O(n * sizes).
 */
int cpl_tasks_pair(const struct cpl_tasks *tasks, const int *task,
		   const int *place, int *place_of, struct cpl_error *err);

/* The layout of place(), as a mapper's (struct cpl_mapper). */
int cpl_tasks_map(const struct cpl_map_request *req, int *rank_host,
		  int (*place)(struct cpl_tasks *tasks, int *place_of,
			       struct cpl_error *err),
		  struct cpl_error *err);

#endif
