/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "base/random.h"
#include "mapping/mappers.h"
#include "mapping/ptram.h"
#include "mapping_jobs.h"

/* Feed a whole layout into link sums, flow by flow. */
static void add_layout(struct cpl_link_sums *sums, const struct job *job,
                       const int *rank_host)
{
	const struct cpl_comm *comm = job->comm;

	for (int r = 0; r < comm->ranks; r++) {
		for (int64_t e = comm->row[r]; e < comm->row[r + 1]; e++)
			cpl_moves_flow(&sums->moves, job->host[rank_host[r]],
			                   job->host[rank_host[comm->to[e]]],
			                   comm->bytes[e]);
		cpl_link_sums_keep(sums);
	}
}

/* Numbers kept up to date are those of the traffic model, with several paths
 * and shares (dragonfly) too, and after flows were taken away. */
static void test_sums_follow_the_model(void **state)
{
	for (uint64_t seed = 0; seed < 8; seed++) {
		struct cpl_load background;
		struct cpl_link_sums sums;
		struct cpl_metrics metrics;
		struct cpl_job_sums job_sums;
		struct cpl_error err = {""};
		struct job job;
		int n = 16, hottest;

		set_up(&job, seed % 2 ? dragonfly() : torus(4, 2, 2, true),
		       random_comm(n, 3, seed), n);
		assert_int_equal(cpl_load_init(&background, job.net, &err), 0);
		for (int64_t l = 0; l < job.net->n_links; l++)
			background.link[l] = (double)(l % 3) * 100;
		if (seed > 3)
			job.req.background = &background;
		assert_int_equal(cpl_mapper_map(&cpl_mapper_random, &job.req,
		                                job.rank_host, &err),
		                 0);
		measure(&job, job.rank_host, &metrics, &job_sums);
		assert_int_equal(cpl_link_sums_init(&sums, &job.req, &err), 0);
		cpl_moves_flow(&sums.moves, 0, 9, 5000);
		cpl_link_sums_keep(&sums);
		add_layout(&sums, &job, job.rank_host);
		cpl_moves_flow(&sums.moves, 0, 9, -5000);
		assert_float_equal(cpl_link_sums_max(&sums),
		                   metrics.max_congestion, 1e-6);
		cpl_link_sums_keep(&sums);
		/* Dropped changes leave nothing. */
		cpl_moves_flow(&sums.moves, 3, 8, 777);
		cpl_moves_undo(&sums.moves);
		assert_float_equal(sums.moves.hop_bytes, job_sums.hop_bytes, 1e-6);
		assert_float_equal(sums.max, metrics.max_congestion, 1e-6);
		hottest = cpl_link_sums_hottest(&sums);
		assert_float_equal(sums.moves.load[hottest] /
		                           cpl_network_link_bandwidth(
		                                   job.net, hottest),
		                   metrics.max_congestion, 1e-6);
		assert_float_equal(sums.sum / (double)sums.used,
		                   metrics.nonzero_average, 1e-6);
		cpl_link_sums_free(&sums);
		cpl_load_free(&background);
		tear_down(&job);
	}
}

/* The default order scores one for each of the four numbers. */
static void test_default_order_scores_4(void **state)
{
	struct cpl_link_sums sums;
	struct cpl_error err = {""};
	struct job job;

	set_up(&job, torus(4, 4, 2, true), random_comm(32, 3, 7), 32);
	cpl_mapper_map(&cpl_mapper_linear, &job.req, job.rank_host, &err);
	assert_int_equal(cpl_link_sums_init(&sums, &job.req, &err), 0);
	add_layout(&sums, &job, job.rank_host);
	assert_float_equal(cpl_link_sums_hybrid(&sums), 4, 1e-9);
	cpl_link_sums_free(&sums);
	tear_down(&job);
}

/*
 * Three nodes on a row of a mesh, one beyond; ties in hops are told apart by
 * the route alone. Ranks 0 and 1 fill the link 0 -> 1; rank 2 talks to 0. Both
 * node 2 (over the same link) and node 6 (over the other dimension) are two
 * hops from node 0, and only the second leaves the loaded link alone.
 */
static void test_routes_tell_equal_hops_apart(void **state)
{
	struct cpl_comm_entry entry[] = {{0, 1, 100, 1}, {0, 2, 40, 1}};
	struct cpl_error err = {""};
	struct job job;

	/* Four targets need four clusters: the last rank is silent. */
	set_up(&job, torus(3, 3, 1, false), build(4, entry, 2), 4);
	job.host[2] = 2;
	job.host[3] = 6;
	assert_true(job.req.routing->hops(job.net, 0, 2) ==
	            job.req.routing->hops(job.net, 0, 6));
	assert_int_equal(cpl_mapper_map(&cpl_mapper_ptram, &job.req,
	                                job.rank_host, &err),
	                 0);
	assert_int_equal(job.rank_host[0], 0);
	assert_int_equal(job.rank_host[1], 1);
	assert_int_equal(job.rank_host[2], 3);
	assert_true(max_congestion(&job, job.rank_host) == 100);
	/* A mapper that sees hops alone takes the first of the two. */
	assert_int_equal(cpl_mapper_map(&cpl_mapper_greedyallc, &job.req,
	                                job.rank_host, &err),
	                 0);
	assert_int_equal(job.rank_host[2], 2);
	tear_down(&job);
}

/* The same layout whatever the unit of volume. */
static void test_unit_of_volume(void **state)
{
	for (uint64_t seed = 0; seed < 4; seed++) {
		struct cpl_error err = {""};
		int first[32];
		struct job job;

		set_up(&job, seed % 2 ? dragonfly() : torus(4, 4, 2, true),
		       random_comm(32, 3, seed), 32);
		cpl_mapper_map(&cpl_mapper_ptram_refine, &job.req, first, &err);
		for (int64_t e = 0; e < job.comm->n_entries; e++)
			job.comm->bytes[e] *= 4096;
		for (int64_t e = 0; e < job.graph->n_entries; e++)
			job.graph->bytes[e] *= 4096;
		cpl_mapper_map(&cpl_mapper_ptram_refine, &job.req,
		               job.rank_host, &err);
		assert_memory_equal(first, job.rank_host, sizeof(first));
		tear_down(&job);
	}
}

static struct cpl_network *fattree(void)
{
	return parse_network(
	        "{\"format\":\"commplace-network\",\"version\":1,"
	        "\"name\":\"ft\",\"type\":\"fattree\","
	        "\"nodes_per_router\":1,\"leaves\":256,\"levels\":["
	        "{\"down\":16,\"up\":1,\"links\":1},"
	        "{\"down\":16,\"up\":3,\"links\":2}],"
	        "\"nodes\":\"n[0-255]\"}");
}

/* Enough partners that threads are used; the same to the last rank for any
 * number of them, more than there are chunks included. */
static void test_threads(void **state)
{
	static const int threads[] = {0, 1, 2, 3, 7, 64};
	struct cpl_network *net[] = {torus(8, 8, 4, true), fattree()};

	for (int k = 0; k < 2; k++) {
		struct cpl_error err = {""};
		int first[256];
		struct job job;

		set_up(&job, net[k], random_comm(256, 150, 3), 256);
		cpl_mapper_map(&cpl_mapper_ptram, &job.req, first, &err);
		for (size_t i = 0; i < sizeof(threads) / sizeof(int); i++) {
			job.req.threads = threads[i];
			assert_int_equal(cpl_mapper_map(&cpl_mapper_ptram,
			                                &job.req, job.rank_host,
			                                &err),
			                 0);
			assert_memory_equal(first, job.rank_host,
			                    sizeof(first));
		}
		tear_down(&job);
	}
}

/* At most ten swaps, each lowering the largest congestion; where it ended
 * before the tenth there is no other. */
static void test_refinement(void **state)
{
	int swapped = 0;

	for (uint64_t seed = 0; seed < 10; seed++) {
		struct cpl_error err = {""};
		struct cpl_clusters clusters;
		double before, after;
		struct job job;
		int n;

		set_up(&job, seed % 2 ? dragonfly() : torus(4, 4, 2, true),
		       random_comm(32, 2, seed), 32);
		cpl_mapper_map(&cpl_mapper_random, &job.req, job.rank_host,
		               &err);
		before = max_congestion(&job, job.rank_host);
		assert_int_equal(cpl_clusters_init(&clusters, &job.req, &err),
		                 0);
		n = cpl_ptram_refine(&clusters, job.rank_host, CPL_PTRAM_SWAPS,
		                     seed % 3 == 0, &err);
		assert_in_range(n, 0, CPL_PTRAM_SWAPS);
		check_counts(&job, job.rank_host);
		after = max_congestion(&job, job.rank_host);
		assert_int_equal(after<before, n> 0);
		if (n < CPL_PTRAM_SWAPS)
			assert_int_equal(cpl_ptram_refine(&clusters,
			                                  job.rank_host,
			                                  CPL_PTRAM_SWAPS,
			                                  seed % 3 == 0, &err),
			                 0);
		swapped += n;
		cpl_clusters_free(&clusters);
		tear_down(&job);
	}
	assert_true(swapped > 10);
}

/* 16 x 16 ranks of a periodic 5-point stencil, four to a node, on nodes in
 * random order: every number falls, as in the paper's Figure 5. */
static void test_five_point_stencil(void **state)
{
	struct cpl_comm_entry entry[1024];
	struct cpl_metrics before, after;
	struct cpl_job_sums sums_before, sums_after;
	struct cpl_error err = {""};
	struct job job;
	int n = 0;

	for (int i = 0; i < 16; i++) {
		for (int k = 0; k < 16; k++) {
			int to[4] = {
			        (i + 1) % 16 * 16 + k, (i + 15) % 16 * 16 + k,
			        i * 16 + (k + 1) % 16, i * 16 + (k + 15) % 16};

			for (int j = 0; j < 4; j++)
				entry[n++] = (struct cpl_comm_entry){
				        i * 16 + k, to[j], 1, 1};
		}
	}
	set_up(&job, torus(4, 4, 4, true), build(256, entry, n), 64);
	for (int h = 0; h < 64; h++)
		job.slots[h] = 4;
	cpl_random_shuffle(job.host, 64, 1, 1);
	cpl_mapper_map(&cpl_mapper_linear, &job.req, job.rank_host, &err);
	measure(&job, job.rank_host, &before, &sums_before);
	cpl_mapper_map(&cpl_mapper_ptram_refine, &job.req, job.rank_host, &err);
	check_counts(&job, job.rank_host);
	measure(&job, job.rank_host, &after, &sums_after);
	assert_true(sums_after.hop_bytes < 0.7 * sums_before.hop_bytes);
	assert_true(after.max_congestion < before.max_congestion);
	assert_true(after.nonzero_average < before.nonzero_average);
	assert_true(after.nonzero_variance < before.nonzero_variance);
	tear_down(&job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_sums_follow_the_model),
	        cmocka_unit_test(test_default_order_scores_4),
	        cmocka_unit_test(test_routes_tell_equal_hops_apart),
	        cmocka_unit_test(test_unit_of_volume),
	        cmocka_unit_test(test_threads),
	        cmocka_unit_test(test_refinement),
	        cmocka_unit_test(test_five_point_stencil),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
