/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many nodes a job gets, and which hosts can hold their share of it, from
 * what the job needs and the CPUs that are free.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* What a job needs, as the scheduler counts it. */
struct cpl_need {
	uint32_t min_nodes;      /* >= 1 */
	uint32_t max_nodes;      /* 0: any number */
	uint32_t nodes;          /* wanted; 0: min_nodes */
	uint32_t cpus;           /* in all */
	uint32_t node_cpus;      /* on each node at least */
	uint32_t cpus_per_task;  /* 0: 1 */
	uint32_t tasks_per_node; /* 0: not stated */
	bool overcommit;         /* tasks need no CPUs of their own */
};

/* Number of nodes, and the CPUs that each must have free. Where there are not as
 * many hosts with an even share, so many of the smallest may hold less than all. */
struct cpl_size {
	uint32_t nodes, cpus;
};

/* CPUs that each node of the job must have, however many others have. */
uint32_t cpl_size_least(const struct cpl_need *need);

/* Of so many free CPUs of a host, those that the job can use: tasks are not split. */
uint32_t cpl_size_usable(const struct cpl_need *need, uint32_t cpus);

/*
 * May the scheduler take as many nodes as the CPUs need: more than the number
 * wanted, which is the least?
 */
bool cpl_size_by_cpus(const struct cpl_need *need);

/*
 * The size of a job on hosts with so many free CPUs each (0: not usable), with
 * no fewer nodes than `least`. A stated number or range (-N3, -N2-4): as many
 * nodes as are free, up to the number wanted. By CPUs (-n10 without -N): the
 * fewest nodes that hold an even share each, so that any of them will do; where
 * there are none, the fewest that hold the job, as a stated number does: each has
 * what the smallest of the largest hosts has.
 * 1; 0: not enough hosts; -1: out of memory. O(n log n).
 */
int cpl_size(const struct cpl_need *need, const uint32_t *cpus, int n,
             uint32_t least, struct cpl_size *out);
