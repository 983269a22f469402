/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the ranks of a step go, as Slurm itself has it: random steps of all
 * distributions, at the ends of what may be stated, too. */
#include "commplace-config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/random.h"
#include "ctld_internal.h"

#include "src/common/slurm_step_layout.h"

#define NODES 12
#define DRAWS 3000
/* Slurm's layout grows by a task at a time, which under ASan is a copy of all. */
#ifdef __SANITIZE_ADDRESS__
#define LARGE_DRAWS 1
#else
#define LARGE_DRAWS DRAWS
#endif

struct draw {
	uint16_t cpus[NODES];
	uint32_t node_ranks[NODES];
	struct cplslurm_spread over;
	int ranks;
};

static uint64_t below(int i, int what, uint64_t n)
{
	return cpl_random_below(26, 11, (uint64_t)i * 64 + (uint64_t)what, n);
}

static void make(int i, struct draw *d)
{
	static const uint32_t dists[] = {
	        SLURM_DIST_BLOCK,         SLURM_DIST_CYCLIC,
	        SLURM_DIST_PLANE,         SLURM_DIST_BLOCK_CYCLIC,
	        SLURM_DIST_CYCLIC_CYCLIC, SLURM_DIST_BLOCK_CFULL,
	};
	static const uint32_t flags[] = {0, SLURM_DIST_PACK_NODES,
	                                 SLURM_DIST_NO_PACK_NODES};
	static const uint16_t each[] = {1,  1,   0,        2,         3,
	                                70, 256, NO_VAL16, UINT16_MAX};
	static const uint16_t planes[] = {0, 1, 2, 3, 17, 256, 511, NO_VAL16};

	*d = (struct draw){
	        .over = {.cpus = d->cpus,
	                 .n = 1 + (int)below(i, 0, NODES),
	                 .dist = dists[below(i, 1, 6)] | flags[below(i, 2, 3)],
	                 .cpus_per_task = each[below(i, 3, 9)],
	                 .plane = planes[below(i, 4, 8)]},
	        .ranks = 1 + (int)below(i, 5, 300),
	};
	for (int k = 0; k < NODES; k++) {
		d->cpus[k] = (uint16_t)(1 + below(i, 6 + k, 40));
		d->node_ranks[k] = (uint32_t)below(i, 20 + k, 5);
	}
	/* As many as Slurm can count on a node; in planes it never ends where
	 * one has more. */
	if (i % 50 == 0 && i < LARGE_DRAWS &&
	    (d->over.dist & SLURM_DIST_STATE_BASE) != SLURM_DIST_PLANE)
		d->ranks = UINT16_MAX * d->over.n - (int)below(i, 40, 3);
#if CPLSLURM_SERIES >= 2605
	if (i % 3 == 0)
		d->over.node_ranks = d->node_ranks;
#endif
}

static slurm_step_layout_t *theirs(const struct draw *d)
{
	uint16_t cpus[NODES], per_task[NODES];
	char nodes[32];
	slurm_step_layout_req_t req = {
	        .node_list = nodes,
	        .cpus_per_node = cpus,
	        .cpus_per_task = per_task,
	        .num_hosts = (uint32_t)d->over.n,
	        .num_tasks = (uint32_t)d->ranks,
	        .task_dist = d->over.dist,
	        .plane_size = d->over.plane,
	};
#if CPLSLURM_SERIES < 2605
	uint32_t once[NODES], once_each[NODES];

	req.cpu_count_reps = once;
	req.cpus_task_reps = once_each;
	for (int i = 0; i < d->over.n; i++)
		once[i] = once_each[i] = 1;
#else
	req.node_ranks = (uint32_t *)d->over.node_ranks;
#endif
	snprintf(nodes, sizeof(nodes), "n[0-%d]", d->over.n - 1);
	for (int i = 0; i < d->over.n; i++) {
		cpus[i] = d->cpus[i];
		per_task[i] = d->over.cpus_per_task ? d->over.cpus_per_task : 1;
	}
	return slurm_step_layout_create(&req);
}

/* With more on a node than it can count it leaves some out. */
static bool is_whole(const slurm_step_layout_t *layout, int ranks)
{
	for (uint32_t i = 0; layout && i < layout->node_cnt; i++)
		ranks -= layout->tasks[i];
	return layout && !ranks;
}

/* The first draw where they differ, or -1. */
static int first_other(int *laid_out)
{
	for (int i = 0; i < DRAWS; i++) {
		slurm_step_layout_t *layout;
		struct draw d;
		int *host, rc, same = 0;

		make(i, &d);
		host = malloc((size_t)d.ranks * sizeof(*host));
		rc = cplslurm_lay_out(&d.over, d.ranks, host);
		layout = theirs(&d);
		if (rc)
			same = is_whole(layout, d.ranks) ? -1 : d.ranks;
		for (uint32_t k = 0; layout && !rc && k < layout->node_cnt; k++)
			for (int t = 0; t < layout->tasks[k]; t++)
				same += host[layout->tids[k][t]] == (int)k;
		*laid_out += !rc;
		slurm_step_layout_destroy(layout);
		free(host);
		if (same != d.ranks)
			return i;
	}
	return -1;
}

static void test_as_slurm(void **state)
{
	int laid_out = 0, i = first_other(&laid_out);
	struct draw d;

	if (i >= 0) {
		make(i, &d);
		fail_msg("draw %d: %d ranks, %d nodes, dist %#x, plane %d, "
		         "%d CPUs each",
		         i, d.ranks, d.over.n, d.over.dist, d.over.plane,
		         d.over.cpus_per_task);
	}
	assert_true(laid_out > DRAWS / 2);
}

/* Slurm looks once at what slurm.conf says of it, so in a process of its own.
 */
static void test_as_slurm_packed(void **state)
{
	int laid_out = 0, status;
	pid_t pid = fork();

	if (!pid) {
		slurm_conf.select_type_param |= CR_PACK_NODES;
		_exit(first_other(&laid_out) >= 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* What Slurm has no layout of, or would never come to an end with. */
static void test_none(void **state)
{
	static const uint16_t cpus[] = {4, 4};
	static const struct {
		uint32_t dist;
		int n, plane, ranks;
	} row[] = {
	        {SLURM_DIST_ARBITRARY, 2, 0, 4},
	        {SLURM_DIST_PLANE, 2, 0, 4},
	        {SLURM_DIST_BLOCK, 0, 0, 4},
	        {SLURM_DIST_BLOCK, 2, 0, 0},
	        {SLURM_DIST_BLOCK, 2, 0, -1},
	        {SLURM_DIST_BLOCK, 2, 0, 2 * UINT16_MAX + 1},
	        {SLURM_DIST_CYCLIC, 1, 0, UINT16_MAX + 1},
	        {SLURM_DIST_PLANE, 1, 1, UINT16_MAX + 1},
	};
	int *host = malloc((2 * UINT16_MAX + 2) * sizeof(*host));

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct cplslurm_spread over = {
		        .cpus = cpus,
		        .n = row[i].n,
		        .dist = row[i].dist,
		        .cpus_per_task = 1,
		        .plane = (uint16_t)row[i].plane,
		};

		assert_int_equal(cplslurm_lay_out(&over, row[i].ranks, host),
		                 -1);
	}
	free(host);
}

/* By the ranks of nodes, those of one rank as they come. */
static void test_ranks_of_nodes(void **state)
{
	static const uint16_t cpus[] = {2, 1, 1, 1};
	static const uint32_t node_ranks[] = {5, 0, 5, 1};
	static const int want[] = {1, 3, 0, 0, 2};
	struct cplslurm_spread over = {.cpus = cpus,
	                               .n = 4,
	                               .dist = SLURM_DIST_BLOCK,
	                               .cpus_per_task = 1,
	                               .node_ranks = node_ranks};
	int host[5];

	assert_int_equal(cplslurm_lay_out(&over, 5, host), 0);
	assert_memory_equal(host, want, sizeof(want));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_as_slurm_packed),
	        cmocka_unit_test(test_as_slurm),
	        cmocka_unit_test(test_none),
	        cmocka_unit_test(test_ranks_of_nodes),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
