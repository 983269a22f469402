/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This lays out the ranks of a step over a whole job as slurmctld would. Every
 * series' own slurm_step_layout_create() ends the process where memory is out for as
 * many tasks as a user states, takes new memory for each task of a cyclic layout,
 * and with -m plane turns up to 65,534 times on a full node, for ever on one of more
 * than 65,535 tasks. Here memory is by nodes only, and time by ranks. */
#include "commplace-config.h"

#include "ctld_internal.h"

#include <stdlib.h>

/* This has a step's nodes while its ranks come to them. */
struct filling {
	uint16_t *room;  /* It counts tasks that fit, 0 only by a limit. */
	uint32_t *tasks; /* It counts tasks that each has got. */
	int n, left;     /* They count nodes, and ranks without one. */
	bool full;       /* Nodes take more tasks than they have room for. */
};

static void give(struct filling *f, int node)
{
	f->tasks[node]++;
	f->left--;
}

/* Give a task to each node in turn that has room for its round, in the given order
 * where there is one. */
static void in_turn(struct filling *f, const int *order)
{
	for (int round = 0; f->left; round++) {
		bool space = false;

		for (int i = 0; i < f->n && f->left; i++) {
			int node = order ? order[i] : i;

			if (round >= f->room[node] && !f->full)
				continue;
			give(f, node);
			space = space || round + 1 < f->room[node];
		}
		f->full = f->full || !space;
	}
}

/* Give one to each node, then fill node by node, then go round all of them. */
static void packed(struct filling *f)
{
	for (int i = 0; i < f->n && f->left; i++)
		if (f->room[i])
			give(f, i);
	for (int i = 0; i < f->n; i++)
		while (f->left && f->tasks[i] < f->room[i])
			give(f, i);
	while (f->left)
		for (int i = 0; i < f->n && f->left; i++)
			give(f, i);
}

/* Give each node up to plane tasks at a time. */
static void in_planes(struct filling *f, int plane)
{
	for (int i = 0; i < f->n && f->left; i++)
		give(f, i);
	for (int k = 1; f->left; k = 0) {
		bool space = false;

		for (int i = 0; i < f->n; i++)
			for (int j = k; j < plane && f->left; j++) {
				int64_t room = (int64_t)f->room[i];

				if (room == f->tasks[i] && !f->full)
					break;
				give(f, i);
				space = space || room > f->tasks[i];
			}
		f->full = f->full || !space;
	}
}

/* Give rank after rank to the nodes in their order. */
static void one_after_another(const struct filling *f, const int *order,
                              int *rank_host)
{
	for (int i = 0, rank = 0; i < f->n; i++) {
		int node = order ? order[i] : i;

		for (uint32_t k = 0; k < f->tasks[node]; k++)
			rank_host[rank++] = node;
	}
}

static void deal_planes(const struct filling *f, int plane, int ranks,
                        uint32_t *dealt, int *rank_host)
{
	for (int rank = 0; rank < ranks;)
		for (int i = 0; i < f->n; i++)
			for (int k = 0; k < plane && dealt[i] < f->tasks[i];
			     k++, dealt[i]++)
				rank_host[rank++] = i;
}

static void cyclic(struct filling *f, int *rank_host)
{
	int64_t total = 0;
	int more = 0, rank = 0;

	for (int i = 0; i < f->n; i++)
		total += f->room[i];
	f->full = total < f->left;
	if (f->full)
		more = (int)((f->left - total + f->n - 1) / f->n);
	for (int round = 0; f->left; round++) {
		bool space = false;

		for (int i = 0; i < f->n && f->left; i++) {
			if (round >= f->room[i] + (f->full ? more : 0))
				continue;
			give(f, i);
			rank_host[rank++] = i;
			space = space || round + 1 < f->room[i];
		}
		f->full = f->full || !space;
	}
}

static bool packs(uint32_t dist)
{
	if (dist & (SLURM_DIST_PACK_NODES | SLURM_DIST_NO_PACK_NODES))
		return dist & SLURM_DIST_PACK_NODES;
	return slurm_conf.select_type_param & CR_PACK_NODES;
}

static int by_rank(const void *a, const void *b, void *node_ranks)
{
	const uint32_t *rank = node_ranks;
	int x = *(const int *)a, y = *(const int *)b;

	if (rank[x] != rank[y])
		return rank[x] < rank[y] ? -1 : 1;
	return x - y;
}

/* Return the nodes by a topology plugin's ranks, which exist from 26.05 on. */
static int *ordered(const struct cplslurm_spread *over)
{
	int *order = malloc((size_t)over->n * sizeof(*order));

	for (int i = 0; order && i < over->n; i++)
		order[i] = i;
	if (order)
		qsort_r(order, (size_t)over->n, sizeof(*order), by_rank,
		        (void *)over->node_ranks);
	return order;
}

static int fill(const struct cplslurm_spread *over, struct filling *f,
                int *rank_host)
{
	uint32_t base = over->dist & SLURM_DIST_STATE_BASE, *dealt;
	int ranks = f->left, *order = NULL;

	if ((over->dist & SLURM_DIST_NODEMASK) == SLURM_DIST_NODECYCLIC) {
		cyclic(f, rank_host);
		return 0;
	}
	if (base == SLURM_DIST_PLANE) {
		dealt = over->plane ? calloc((size_t)f->n, sizeof(*dealt))
		                    : NULL;
		if (!dealt)
			return -1;
		in_planes(f, over->plane);
		deal_planes(f, over->plane, ranks, dealt, rank_host);
		free(dealt);
		return 0;
	}
	if (over->node_ranks && !(order = ordered(over)))
		return -1;
	if (!order && packs(over->dist))
		packed(f);
	else
		in_turn(f, order);
	one_after_another(f, order, rank_host);
	free(order);
	return 0;
}

/* Return how many tasks the CPUs of a node serve; --ntasks-per-node is sent as the
 * size of a plane and counted in 16 bits. */
static uint16_t room_on(const struct cplslurm_spread *over, int node)
{
	uint16_t each = over->cpus_per_task, room, most;

	if (!each || each == NO_VAL16)
		each = 1;
	room = over->cpus[node] / each;
	if (!room)
		room = 1;
	if (!over->plane || over->plane == NO_VAL16 ||
	    (over->dist & SLURM_DIST_STATE_BASE) == SLURM_DIST_PLANE)
		return room;
	most = (uint16_t)(over->plane * each);
	return MIN(room, most);
}

int cplslurm_lay_out(const struct cplslurm_spread *over, int ranks,
                     int *rank_host)
{
	struct filling f = {.n = over->n, .left = ranks};
	int rc = -1;

	/* An arbitrary distribution goes by the hosts that each srun names. */
	if (over->n < 1 || ranks < 1 ||
	    (over->dist & SLURM_DIST_STATE_BASE) == SLURM_DIST_ARBITRARY)
		return -1;
	f.room = calloc((size_t)f.n, sizeof(*f.room));
	f.tasks = calloc((size_t)f.n, sizeof(*f.tasks));
	if (f.room && f.tasks) {
		for (int i = 0; i < f.n; i++)
			f.room[i] = room_on(over, i);
		rc = fill(over, &f, rank_host);
	}
	/* Slurm counts a node's tasks in 16 bits. */
	for (int i = 0; !rc && i < f.n; i++)
		if (f.tasks[i] > UINT16_MAX)
			rc = -1;
	cpl_free_all(f.room, f.tasks);
	return rc;
}

bool cplslurm_own_distribution(uint32_t dist)
{
	uint32_t base = dist & SLURM_DIST_STATE_BASE;

	return dist != NO_VAL && base && base != SLURM_DIST_UNKNOWN;
}

int cplslurm_layout_of(void *arg, int ranks, int *rank_host)
{
	const job_record_t *job_ptr = arg;
	const job_details_t *details = job_ptr->details;
	struct cplslurm_spread over = {
		.cpus = job_ptr->job_resrcs->cpus,
		.n = (int)job_ptr->job_resrcs->nhosts,
		.dist = SLURM_DIST_BLOCK,
		.cpus_per_task = details->cpus_per_task,
		.plane = details->ntasks_per_node,
#if CPLSLURM_SERIES >= 2605
		.node_ranks = job_ptr->job_resrcs->node_ranks,
#endif
	};

	if (cplslurm_own_distribution(details->task_dist))
		over.dist = details->task_dist;
	if ((over.dist & SLURM_DIST_STATE_BASE) == SLURM_DIST_PLANE)
		over.plane = cplslurm_plane_size(details);
	return cplslurm_lay_out(&over, ranks, rank_host);
}
