/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What "best" starts from, and with which routing it judges. */
#include "unit.h"

#include "mapping/mappers.h"
#include "mapping/best/chain.h"
#include "mapping_jobs.h"

#define HEAD "{\"format\":\"commplace-network\",\"version\":1,"

static struct cpl_network *fattree(void)
{
	return parse_network(HEAD
	                     "\"type\":\"fattree\",\"nodes_per_router\":4,"
	                     "\"leaves\":8,\"levels\":[{\"down\":4,\"up\":2,"
	                     "\"links\":1},{\"down\":2,\"up\":1,\"links\":2}],"
	                     "\"nodes\":\"n[0-31]\"}");
}

/* LU.C.256 on a torus with every message one hop, LU.C.1024 on a mesh as good
 * as the thesis has it from its best start. */
static void test_lu(void **state)
{
	static const struct {
		int side, x, y, z;
		bool wrap;
		double hops;
	} table[] = {
	        {16, 8, 8, 4, true, 1},
	        {32, 16, 8, 8, false, 1.064},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		int ranks = table[i].side * table[i].side;
		struct cpl_error err = {""};
		struct job job;

		set_up(&job,
		       torus(table[i].x, table[i].y, table[i].z, table[i].wrap),
		       npb_lu(table[i].side), ranks);
		job.req.work = 1;
		assert_int_equal(cpl_mapper_map(&cpl_mapper_best, &job.req,
		                                job.rank_host, &err),
		                 0);
		check_counts(&job, job.rank_host);
		assert_true(hop_bytes(&job, job.rank_host) <=
		            table[i].hops * all_bytes(job.comm) * (1 + 1e-9));
		tear_down(&job);
	}
}

struct value {
	struct cpl_metrics metrics;
	struct cpl_job_sums sums;
};

static bool better(const struct job *job, const struct value *a,
                   const struct value *b)
{
	return cpl_best_better(job->req.objective, &a->metrics,
	                       a->sums.hop_bytes, &b->metrics,
	                       b->sums.hop_bytes);
}

static bool worse_than_default(const struct job *job, const struct value *a,
                               const struct value *linear)
{
	return cpl_objective_better(job->req.objective, &linear->metrics,
	                            linear->sums.hop_bytes, &a->metrics,
	                            a->sums.hop_bytes);
}

/* None of the mappers it starts from is better, whatever the objective. */
static void check_starts(struct job *job)
{
	static const struct cpl_mapper *const start[] = {
	        &cpl_mapper_greedyallc,  &cpl_mapper_greedy,
	        &cpl_mapper_rcm,         &cpl_mapper_fhgreedy,
	        &cpl_mapper_tile,        &cpl_mapper_sfc,
	        &cpl_mapper_topoaware_1, &cpl_mapper_pacmap,
	        &cpl_mapper_bipartition, &cpl_mapper_recursive,
	        &cpl_mapper_ptram,       &cpl_mapper_treematch,
	};
	struct cpl_error err = {""};
	struct value linear, best, other;

	for (int o = 0; o < 3; o++) {
		job->req.objective = (enum cpl_objective)o;
		assert_int_equal(cpl_mapper_map(&cpl_mapper_linear, &job->req,
		                                job->rank_host, &err),
		                 0);
		measure(job, job->rank_host, &linear.metrics, &linear.sums);
		assert_int_equal(cpl_mapper_map(&cpl_mapper_best, &job->req,
		                                job->rank_host, &err),
		                 0);
		check_counts(job, job->rank_host);
		measure(job, job->rank_host, &best.metrics, &best.sums);
		assert_false(worse_than_default(job, &best, &linear));
		for (size_t i = 0; i < sizeof(start) / sizeof(*start); i++) {
			/* Not one of its starts there. */
			if (start[i] == &cpl_mapper_treematch &&
			    cpl_network_product(job->net))
				continue;
			assert_int_equal(cpl_mapper_map(start[i], &job->req,
			                                job->rank_host, &err),
			                 0);
			measure(job, job->rank_host, &other.metrics,
			        &other.sums);
			if (!worse_than_default(job, &other, &linear) &&
			    better(job, &other, &best))
				fail_msg("%s is better than best on a %s",
				         start[i]->name,
				         cpl_network_type_name(job->net->type));
		}
	}
}

static void test_no_start_is_better(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 30; seed++) {
		int kind = (int)seed % 4, per_host = 1 + (int)seed / 4 % 3;
		int n_hosts = 5 + (int)cpl_random_below(seed, 1, 0, 28);
		struct cpl_network *net = kind == 0 ? dragonfly()
		                          : kind == 1
		                                  ? fattree()
		                                  : torus(4, 4, 2, kind == 2);
		int ranks = 0, slots[32], node[32];
		struct job job;

		for (int h = 0; h < n_hosts; h++)
			ranks += slots[h] =
			        seed % 7 == 6 ? 1 + h % 3 : per_host;
		for (int h = 0; h < 32; h++)
			node[h] = h;
		cpl_random_shuffle(node, 32, seed, 2);
		set_up(&job, net, random_comm(ranks, 1 + (int)seed % 3, seed),
		       n_hosts);
		memcpy(job.slots, slots, (size_t)n_hosts * sizeof(int));
		memcpy(job.host, node, (size_t)n_hosts * sizeof(int));
		job.req.seed = seed;
		/* No more than the starts need. */
		job.req.work = 2000000;
		check_starts(&job);
		tear_down(&job);
	}
}

/* Layouts found with a routing are better with it than those found with
 * another. */
static void check_routing(struct job *job, const char *own, const char *other)
{
	struct cpl_error err = {""};
	struct value found[2], linear;
	const struct cpl_routing *routing[2] = {
	        cpl_routing_find(job->net, own, &err),
	        cpl_routing_find(job->net, other, &err)};

	assert_non_null(routing[0]);
	assert_non_null(routing[1]);
	job->req.objective = CPL_OBJECTIVE_MAX;
	job->req.work = 300000;
	for (int i = 1; i >= 0; i--) {
		job->req.routing = routing[i];
		assert_int_equal(cpl_mapper_map(&cpl_mapper_best, &job->req,
		                                job->rank_host, &err),
		                 0);
		check_counts(job, job->rank_host);
		job->req.routing = routing[0];
		measure(job, job->rank_host, &found[i].metrics, &found[i].sums);
	}
	assert_true(better(job, &found[0], &found[1]));
	assert_int_equal(cpl_mapper_map(&cpl_mapper_linear, &job->req,
	                                job->rank_host, &err),
	                 0);
	measure(job, job->rank_host, &linear.metrics, &linear.sums);
	assert_true(found[0].metrics.max_congestion <
	            linear.metrics.max_congestion);
}

static void test_routings(void **state)
{
	static const char *const name[][2] = {
	        {"static-direct", "static-indirect"},
	        {"static-indirect", "static-direct"},
	        {"adaptive-hybrid", "static-direct"},
	        {"adaptive-hybrid", "static-indirect"},
	};
	struct job job;

	(void)state;
	for (size_t i = 0; i < sizeof(name) / sizeof(*name); i++) {
		set_up(&job, dragonfly(), random_comm(32, 3, 5), 32);
		check_routing(&job, name[i][0], name[i][1]);
		tear_down(&job);
	}
}

/* On a ring of four 0 -> 2 goes by 1, as 1 -> 2 does; mirrored the two have no
 * link in common. But hosts that differ in slots cannot be exchanged. */
static void test_images_keep_slots(void **state)
{
	(void)state;
	for (int own = 1; own < 3; own++) {
		struct cpl_comm_entry entry[] = {{0, 2, 8, 1}, {1, 2, 8, 1}};
		int low[5] = {0, 1, 2, 3, 0}, answer[5], trial[5], layout[4];
		struct cpl_error err = {""};
		struct job job;
		struct cpl_best best = {
		        .req = &job.req,
		        .first = {.max_congestion = 1e9},
		        .first_hop_bytes = 1e9,
		        .busiest = 1e9,
		};
		struct cpl_best_chain chain = {
		        .best = &best,
		        .trial = trial,
		        .layout = layout,
		        .low.rank_host = low,
		        .answer.rank_host = answer,
		};

		set_up(&job, torus(4, 1, 1, true), build(3 + own, entry, 2), 4);
		job.slots[0] = own;
		memcpy(answer, low, sizeof(low));
		chain.evaluation = cpl_workload_new(job.net, 1, &err);
		job.req.objective = CPL_OBJECTIVE_MAX;
		assert_non_null(chain.evaluation);
		assert_int_equal(cpl_best_start_symmetry(&chain), 0);
		assert_true(chain.answer.any);
		assert_float_equal(chain.answer.metrics.max_congestion,
		                   own == 1 ? 8 : 16, 1e-9);
		check_counts(&job, answer);
		cpl_workload_free(chain.evaluation);
		tear_down(&job);
	}
}

/* Whatever the order of the hosts, block order by switches is not better. */
static void test_switch_order(void **state)
{
	static const enum cpl_objective objective[] = {
	        CPL_OBJECTIVE_MAX, CPL_OBJECTIVE_HOP_BYTES};
	int moved = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 40; seed++) {
		struct cpl_comm_entry entry[64];
		struct cpl_error err = {""};
		struct value best, sorted;
		struct job job;

		for (int r = 0; r < 32; r++) {
			int far = (int)cpl_random_below(seed, 1, (uint64_t)r, 32);

			entry[2 * r] = (struct cpl_comm_entry){r, (r + 1) % 32,
			                                       100, 1};
			entry[2 * r + 1] =
			        (struct cpl_comm_entry){r, far, 30, 1};
		}
		set_up(&job, seed % 2 ? fattree() : dragonfly(),
		       build(32, entry, 64), 32);
		cpl_random_shuffle(job.host, 32, seed, 2);
		job.req.work = 1;
		job.req.objective = objective[seed / 2 % 2];
		moved += cpl_map_switch_order(&job.req, job.rank_host, &err);
		check_counts(&job, job.rank_host);
		for (int r = 0; r < 32; r++)
			assert_int_equal(job.host[job.rank_host[r]], r);
		measure(&job, job.rank_host, &sorted.metrics, &sorted.sums);
		assert_int_equal(cpl_mapper_map(&cpl_mapper_best, &job.req,
		                                job.rank_host, &err),
		                 0);
		measure(&job, job.rank_host, &best.metrics, &best.sums);
		if (worse_than_default(&job, &best, &sorted))
			fail_msg("seed %d", (int)seed);
		tear_down(&job);
	}
	assert_int_equal(moved, 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_lu),
	        cmocka_unit_test(test_no_start_is_better),
	        cmocka_unit_test(test_switch_order),
	        cmocka_unit_test(test_images_keep_slots),
	        cmocka_unit_test(test_routings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
