/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>

#include "unit.h"

#include "mapping/mappers.h"
#include "mapping/best/best.h"
#include "mapping_jobs.h"

/* The same layout with one thread and several. */
static void test_threads(void **state)
{
	(void)state;
	for (int i = 0; i < 6; i++) {
		int first[MAX_RANKS], ranks = 32 * (1 + i / 2);
		struct cpl_error err = {""};
		struct job job;

		set_up(&job, i % 2 ? dragonfly() : torus(4, 4, 2, true),
		       random_comm(ranks, 3, (uint64_t)i), 32);
		/* Some of the jobs are uneven. */
		for (int h = 0; h < 32; h++)
			job.slots[h] = ranks / 32 + (i == 4 ? h % 3 - 1 : 0);
		job.slots[31] += i == 4;
		job.req.work = 60000;
		job.req.objective = (enum cpl_objective)(i % 3);
		for (int threads = 0; threads < 6; threads++) {
			job.req.threads = threads;
			assert_int_equal(cpl_mapper_map(&cpl_mapper_best,
			                                &job.req, job.rank_host,
			                                &err),
			                 0);
			check_counts(&job, job.rank_host);
			if (!threads)
				memcpy(first, job.rank_host, sizeof(first));
			assert_memory_equal(first, job.rank_host,
			                    (size_t)ranks * sizeof(int));
		}
		tear_down(&job);
	}
}

/*
 * NAS CG on 64 ranks, 4 x 4 x 4 nodes: exchanges within rows of 8 by bits, and
 * with the transposed rank. In Morton order every exchange is one hop and a
 * transposition one for each bit that differs; no link has more than one
 * exchange, or three lighter transpositions.
 */
static void test_transposition(void **state)
{
	struct cpl_comm_entry entry[64 * 4];
	int64_t n = 0;

	(void)state;
	for (int i = 0; i < 64; i++) {
		for (int bit = 1; bit < 8; bit *= 2)
			entry[n++] =
			        (struct cpl_comm_entry){i, i ^ bit, 6000, 1};
		entry[n++] =
		        (struct cpl_comm_entry){i, i % 8 * 8 + i / 8, 1900, 1};
	}
	for (int o = 0; o < 3; o++) {
		struct cpl_error err = {""};
		struct job job;

		set_up(&job, torus(4, 4, 4, true), build(64, entry, n), 64);
		job.req.objective = (enum cpl_objective)o;
		job.req.work = 1000000;
		assert_int_equal(cpl_mapper_map(&cpl_mapper_best, &job.req,
		                                job.rank_host, &err),
		                 0);
		check_counts(&job, job.rank_host);
		assert_float_equal(hop_bytes(&job, job.rank_host),
		                   192 * 6000 + 96 * 1900, 1e-6);
		assert_float_equal(max_congestion(&job, job.rank_host), 6000,
		                   1e-6);
		tear_down(&job);
	}
}

/* A pattern far away from any known one, hosts of 1 to 3 slots and some without
 * any: well below the default order. */
static void test_uneven(void **state)
{
	struct job job;
	struct cpl_error err = {""};
	struct cpl_map_result result;
	int name[64], n = 0;
	struct cpl_comm_entry entry[64];

	(void)state;
	for (int i = 0; i < 64; i++)
		name[i] = i;
	cpl_random_shuffle(name, 64, 5, 1);
	for (int i = 0; i < 64; i++)
		entry[i] = (struct cpl_comm_entry){name[i], name[(i + 1) % 64],
		                                   100, 1};
	set_up(&job, torus(4, 4, 3, true), build(64, entry, 64), 48);
	for (int h = 0; h < 48; h++)
		n += job.slots[h] = h % 4;
	/* 72 slots so far. */
	for (int h = 3; n > 64; h += 4, n--)
		job.slots[h]--;
	job.req.work = 200000;
	assert_int_equal(cpl_map(&cpl_mapper_best, &job.req, &result, &err), 0);
	check_counts(&job, result.rank_host);
	assert_true(result.sums_after.hop_bytes <
	            0.35 * result.sums_before.hop_bytes);
	cpl_map_result_free(&result);
	tear_down(&job);
}

static double hops(const struct job *job, int a, int b)
{
	return job->req.routing->hops(
	        job->net, cpl_network_router(job->net, job->host[a]),
	        cpl_network_router(job->net, job->host[b]));
}

/* Hops as the routing has them; of the hosts listed as near, none is farther
 * than as many hosts as there are. */
static void check_tables(struct job *job)
{
	struct cpl_tables t;
	struct cpl_error err = {""};
	int n = job->req.n_hosts;

	assert_int_equal(cpl_tables_init(&t, &job->req, &err), 0);
	assert_int_equal(t.n_near, n < CPL_SWAPS_NEAR ? n : CPL_SWAPS_NEAR);
	for (int i = 0; i < 40; i++) {
		int h = (int)cpl_random_below(9, 1, (uint64_t)i, (uint64_t)n);
		const int *near = t.near + (size_t)h * (size_t)t.n_near;
		int closer = 0;
		double far;

		assert_true(hops(job, h, near[0]) == 0);
		for (int k = 0; k < t.n_near; k++) {
			assert_in_range(near[k], 0, n - 1);
			assert_true(cpl_distance_hops(
			                    &t.distance, t.distance.leaf[h],
			                    t.distance.leaf[near[k]]) ==
			            hops(job, h, near[k]));
			for (int j = 0; j < k; j++)
				assert_int_not_equal(near[j], near[k]);
		}
		far = hops(job, h, near[t.n_near - 1]);
		for (int k = 0; k < n; k++)
			closer += hops(job, h, k) < far;
		assert_true(closer < t.n_near);
	}
	cpl_tables_free(&t);
}

static void test_tables(void **state)
{
	struct job job;

	(void)state;
	/* A table, one by dimensions, and one that is not all looked at. */
	set_up(&job, torus(5, 4, 3, true), random_comm(60, 1, 1), 60);
	check_tables(&job);
	tear_down(&job);
	set_up(&job, torus(4, 3, 1, false), random_comm(12, 1, 1), 12);
	check_tables(&job);
	tear_down(&job);
	set_up(&job, torus(16, 12, 8, true), random_comm(1536, 1, 1), 1536);
	check_tables(&job);
	tear_down(&job);
	set_up(&job, torus(16, 16, 10, false), random_comm(2560, 1, 1), 2560);
	check_tables(&job);
	tear_down(&job);
	set_up(&job, torus(64, 32, 2, true), random_comm(4096, 1, 1), 4096);
	check_tables(&job);
	tear_down(&job);
	set_up(&job, dragonfly(), random_comm(32, 1, 1), 32);
	check_tables(&job);
	tear_down(&job);
}

/* 4,096 hosts in no order, all looked for in closed form. */
static void test_many_hosts(void **state)
{
	struct job job;
	struct cpl_error err = {""};
	struct cpl_map_result result;

	(void)state;
	set_up(&job, torus(16, 16, 16, true), random_comm(4096, 1, 3), 4096);
	cpl_random_shuffle(job.host, 4096, 3, 2);
	job.req.work = 300000;
	job.req.threads = 2;
	assert_int_equal(cpl_map(&cpl_mapper_best, &job.req, &result, &err), 0);
	check_counts(&job, result.rank_host);
	assert_true(result.sums_after.hop_bytes <
	            0.4 * result.sums_before.hop_bytes);
	cpl_map_result_free(&result);
	tear_down(&job);
}

/* What annealing exchanges between hosts of one kind only. */
static void test_kinds(void **state)
{
	struct job job;
	struct cpl_error err = {""};
	struct cpl_tables t;
	int kind[32];
	double before;

	(void)state;
	set_up(&job, torus(4, 4, 2, true), random_comm(32, 3, 4), 32);
	for (int h = 0; h < 32; h++) {
		kind[h] = h % 3;
		job.rank_host[h] = h;
	}
	before = hop_bytes(&job, job.rank_host);
	assert_int_equal(cpl_tables_init(&t, &job.req, &err), 0);
	assert_int_equal(cpl_map_anneal(&job.req, &t, kind, 1, 20000, 1,
	                                job.rank_host, &err),
	                 0);
	check_counts(&job, job.rank_host);
	for (int r = 0; r < 32; r++)
		assert_int_equal(kind[job.rank_host[r]], kind[r]);
	assert_true(hop_bytes(&job, job.rank_host) < 0.9 * before);
	cpl_tables_free(&t);
	tear_down(&job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_threads),
	        cmocka_unit_test(test_transposition),
	        cmocka_unit_test(test_uneven),
	        cmocka_unit_test(test_tables),
	        cmocka_unit_test(test_many_hosts),
	        cmocka_unit_test(test_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
