/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "base/random.h"
#include "mapping/mapping_internal.h"
#include "mapping_jobs.h"
#include "number.h"

static double hops_by_hand(const struct job *job, const int *rank_host)
{
	const struct cpl_map_request *r = &job->req;
	double sum = 0;

	for (int i = 0; i < r->comm->ranks; i++)
		for (int64_t e = r->comm->row[i]; e < r->comm->row[i + 1]; e++)
			sum += r->comm->bytes[e] *
			       r->routing->hops(
			               r->net,
			               cpl_network_router(
			                       r->net, r->host[rank_host[i]]),
			               cpl_network_router(
			                       r->net,
			                       r->host[rank_host
			                                       [r->comm->to
			                                                [e]]]));
	return sum;
}

/* Sharunov 2017, Tables 4.1 and B.9: the mesh mapping that the thesis's hop
 * totals follow from, node of cluster 0 .. 63. */
static void test_greedyallc_lu_c_64_on_the_mesh(void **state)
{
	static const int expect[64] = {
	        1,  5,  4,  0,  2,  3,  7,  6,  17, 21, 20, 16, 18, 19, 23, 22,
	        33, 37, 36, 32, 34, 35, 39, 38, 49, 53, 52, 48, 50, 51, 55, 54,
	        57, 41, 40, 56, 58, 59, 43, 42, 61, 45, 44, 60, 62, 63, 47, 46,
	        29, 13, 12, 28, 30, 31, 15, 14, 25, 9,  8,  24, 26, 27, 11, 10,
	};
	struct cpl_network *net = torus(4, 4, 4, false);
	struct cpl_comm *comm = npb_lu(8);
	struct cpl_error err = {""};
	struct job job;
	int rank_host[64], order[64];

	set_up(&job, net, comm, 64);
	assert_int_equal(
	        cpl_mapper_map(&cpl_mapper_linear, &job.req, order, &err), 0);
	assert_true(hops_by_hand(&job, order) == 17459118);
	assert_int_equal(cpl_mapper_map(&cpl_mapper_greedyallc, &job.req,
	                                rank_host, &err),
	                 0);
	assert_memory_equal(rank_host, expect, sizeof(expect));
	assert_true(hops_by_hand(&job, rank_host) == 10992778);
	tear_down(&job);
}

/* The same thesis, other sizes: total hops * messages on the mesh, and the
 * perfect layout of LU.C.64 on the torus (every partner one hop away). */
static void test_greedyallc_hop_totals(void **state)
{
	static const struct {
		int x, y, z, side;
		bool wrap;
		double total;
	} table[] = {
	        {4, 4, 4, 8, true, 9052876},
	        {8, 8, 4, 16, false, 74605253},
	        {16, 8, 8, 32, false, 400184531},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct cpl_network *net = torus(table[i].x, table[i].y,
		                                table[i].z, table[i].wrap);
		struct cpl_comm *comm = npb_lu(table[i].side);
		struct cpl_error err = {""};
		int rank_host[MAX_RANKS];
		struct job job;

		set_up(&job, net, comm, comm->ranks);
		assert_int_equal(cpl_mapper_map(&cpl_mapper_greedyallc,
		                                &job.req, rank_host, &err),
		                 0);
		assert_true(hops_by_hand(&job, rank_host) == table[i].total);
		tear_down(&job);
	}
}

/* Uneven slots, hosts in any order, hosts that share routers. */
/* Block order on the job's hosts in the order of their nodes. */
static void sorted(const struct job *job, struct cpl_map_result *out)
{
	struct cpl_map_request req = job->req;
	int host[32], slots[32], n = 0;
	struct cpl_error err = {""};

	for (int node = 0; node < req.net->n_nodes; node++)
		for (int h = 0; h < req.n_hosts; h++)
			if (req.host[h] == node) {
				host[n] = node;
				slots[n++] = req.slots[h];
			}
	req.host = host;
	req.slots = slots;
	assert_int_equal(cpl_map(&cpl_mapper_linear, &req, out, &err), 0);
}

static void test_slots_are_kept_and_never_worse(void **state)
{
	int n_better = 0;

	for (uint64_t seed = 0; seed < 30; seed++) {
		struct cpl_network *net =
		        seed % 2 ? dragonfly() : torus(4, 3, 2, true);
		int n_hosts = 2 + (int)(seed % 10), ranks = 0;
		struct cpl_load background;
		struct cpl_error err = {""};
		struct cpl_map_result by_switch;
		struct cpl_comm *comm;
		int perm[32];
		struct job job;

		for (int i = 0; i < net->n_nodes; i++)
			perm[i] = i;
		cpl_random_shuffle(perm, net->n_nodes, seed, 1);
		for (int i = 0; i < n_hosts; i++)
			ranks += (int)((seed + (uint64_t)i * 3) % 5) + !i;
		comm = random_comm(ranks, 3, seed);
		set_up(&job, net, comm, n_hosts);
		for (int i = 0; i < n_hosts; i++) {
			job.host[i] = perm[i];
			job.slots[i] = (int)((seed + (uint64_t)i * 3) % 5) + !i;
		}
		job.req.objective = (enum cpl_objective)(seed % 3);
		assert_int_equal(cpl_load_init(&background, net, &err), 0);
		for (int64_t l = 0; l < net->n_links; l++)
			background.link[l] = (double)(l * 31 % 700);
		if (seed % 4 < 2)
			job.req.background = &background;
		sorted(&job, &by_switch);
		for (int k = 0; cpl_mapper_at(k); k++) {
			struct cpl_map_result r;
			int alone[MAX_RANKS];

			assert_int_equal(cpl_mapper_map(cpl_mapper_at(k),
			                                &job.req, alone, &err),
			                 0);
			check_counts(&job, alone);
			assert_int_equal(
			        cpl_map(cpl_mapper_at(k), &job.req, &r, &err),
			        0);
			check_counts(&job, r.rank_host);
			assert_false(cpl_objective_better(
			        job.req.objective, &r.before,
			        r.sums_before.hop_bytes, &r.after,
			        r.sums_after.hop_bytes));
			if (cpl_mapper_at(k) != &cpl_mapper_linear)
				assert_false(cpl_objective_better(
				        job.req.objective, &by_switch.before,
				        by_switch.sums_before.hop_bytes,
				        &r.after, r.sums_after.hop_bytes));
			assert_int_equal(!r.kept_default,
			                 cpl_objective_better(
			                         job.req.objective, &r.after,
			                         r.sums_after.hop_bytes,
			                         &r.before,
			                         r.sums_before.hop_bytes));
			assert_float_equal(hops_by_hand(&job, r.rank_host),
			                   r.sums_after.hop_bytes, 1e-6);
			n_better += !r.kept_default;
			cpl_map_result_free(&r);
		}
		cpl_map_result_free(&by_switch);
		cpl_load_free(&background);
		tear_down(&job);
	}
	assert_true(n_better > 15);
}

/* Two pairs of ranks, two hosts of two slots: each pair belongs on one host. */
static void test_pairs_go_to_one_host(void **state)
{
	struct cpl_comm_entry entry[] = {{0, 2, 100, 1}, {3, 1, 100, 1}};
	struct cpl_network *net = dragonfly();
	struct cpl_comm *comm = build(4, entry, 2);
	struct cpl_error err = {""};
	struct cpl_map_result r;
	struct job job;

	set_up(&job, net, comm, 2);
	job.slots[0] = job.slots[1] = 2;
	/* Nodes 0 and 1 sit on one router: no hop tells them apart. */
	job.host[1] = 9;
	job.req.graph = NULL;
	assert_int_equal(cpl_map(&cpl_mapper_greedyallc, &job.req, &r, &err),
	                 0);
	assert_false(r.kept_default);
	assert_int_equal(r.rank_host[0], r.rank_host[2]);
	assert_int_equal(r.rank_host[1], r.rank_host[3]);
	assert_true(r.sums_after.hop_bytes == 0);
	assert_true(r.after.max_congestion == 0);
	assert_true(r.sums_before.hop_bytes > 0);
	cpl_map_result_free(&r);
	tear_down(&job);
}

/* All-to-all of equal bytes: nothing can be better than the default order. */
static void test_ties_keep_the_default_order(void **state)
{
	struct cpl_comm_entry entry[64];
	struct cpl_network *net = torus(2, 2, 2, true);
	struct cpl_error err = {""};
	struct cpl_map_result r;
	struct cpl_comm *comm;
	struct job job;
	int n = 0;

	for (int i = 0; i < 8; i++)
		for (int k = 0; k < 8; k++)
			entry[n++] = (struct cpl_comm_entry){i, k, 10, 1};
	comm = build(8, entry, n);
	set_up(&job, net, comm, 8);
	job.req.objective = CPL_OBJECTIVE_MAX;
	assert_int_equal(cpl_map(&cpl_mapper_greedyallc, &job.req, &r, &err),
	                 0);
	assert_true(r.kept_default);
	for (int i = 0; i < 8; i++)
		assert_int_equal(r.rank_host[i], i);
	cpl_map_result_free(&r);
	tear_down(&job);
}

static void test_refinement_lowers_hop_bytes(void **state)
{
	for (uint64_t seed = 0; seed < 6; seed++) {
		struct cpl_network *net = torus(4, 4, 2, seed % 2);
		struct cpl_comm *comm = random_comm(64, 2, seed);
		struct cpl_error err = {""};
		int rank_host[64];
		struct job job;
		double before;

		set_up(&job, net, comm, 32);
		for (int i = 0; i < 32; i++)
			job.slots[i] = 2;
		cpl_mapper_map(&cpl_mapper_linear, &job.req, rank_host, &err);
		before = hops_by_hand(&job, rank_host);
		assert_int_equal(cpl_map_refine(&job.req, rank_host, &err), 0);
		check_counts(&job, rank_host);
		assert_true(hops_by_hand(&job, rank_host) < 0.8 * before);
		tear_down(&job);
	}
}

/* The row cache and the torus tables give the routing's own hops. */
static void test_distances(void **state)
{
	struct cpl_network *net[] = {dragonfly(), torus(4, 3, 2, false),
	                             torus(5, 2, 3, true)};

	for (int i = 0; i < 3; i++) {
		struct cpl_error err = {""};
		const struct cpl_routing *routing =
		        cpl_routing_find(net[i], NULL, &err);
		struct cpl_distance d;
		int host[32];

		for (int k = 0; k < net[i]->n_nodes; k++)
			host[k] = net[i]->n_nodes - 1 - k;
		assert_int_equal(cpl_distance_init(&d, net[i], routing, host,
		                                   net[i]->n_nodes, &err),
		                 0);
		assert_int_equal(d.n_leaves, net[i]->n_routers);
		/* A cache smaller than the table. */
		d.n_rows = 3;
		for (int a = 0; a < d.n_leaves; a++) {
			const float *row = cpl_distance_row(&d, a);

			for (int b = 0; b < d.n_leaves; b++)
				assert_true((double)row[b] ==
				            routing->hops(net[i], d.router[a],
				                          d.router[b]));
		}
		cpl_distance_free(&d);
		cpl_network_free(net[i]);
	}
}

static bool after_n_looks(void *arg)
{
	return --*(int *)arg < 0;
}

static void test_budget(void **state)
{
	struct cpl_network *net = torus(4, 4, 4, true);
	struct cpl_comm *comm = random_comm(64, 4, 1);
	struct job job;

	set_up(&job, net, comm, 64);
	for (int looks = 0; looks < 60; looks++) {
		struct cpl_error err = {""};
		struct cpl_map_result r;
		int left = looks;

		job.req.expired = after_n_looks;
		job.req.expired_arg = &left;
		assert_int_equal(
		        cpl_map(&cpl_mapper_greedyallc, &job.req, &r, &err), 0);
		check_counts(&job, r.rank_host);
		assert_false(cpl_objective_better(
		        job.req.objective, &r.before, r.sums_before.hop_bytes,
		        &r.after, r.sums_after.hop_bytes));
		cpl_map_result_free(&r);
	}
	tear_down(&job);
}

/* A ring on hosts that two switches give in turns, and no time to search: what is
 * left is the order by switches. */
static void test_sorted_by_switch(void **state)
{
	struct cpl_network *net = parse_network(
	        "{\"format\": \"commplace-network\", \"version\": 1, "
	        "\"type\": \"fattree\", \"leaves\": 2, "
	        "\"nodes_per_router\": 8, \"levels\": [{\"down\": 2, "
	        "\"up\": 1}], \"nodes\": \"n[0-15]\"}");
	struct cpl_comm_entry entry[16];
	struct cpl_error err = {""};
	struct cpl_map_result r;
	struct cpl_comm *comm;
	struct job job;
	int left = 0;

	for (int i = 0; i < 16; i++)
		entry[i] = (struct cpl_comm_entry){i, (i + 1) % 16, 10, 1};
	comm = build(16, entry, 16);
	set_up(&job, net, comm, 16);
	for (int i = 0; i < 16; i++)
		job.host[i] = i / 2 + i % 2 * 8;
	job.req.expired = after_n_looks;
	job.req.expired_arg = &left;
	assert_int_equal(cpl_map(&cpl_mapper_random, &job.req, &r, &err), 0);
	assert_false(r.kept_default);
	assert_number(r.sums_before.hop_bytes, 16 * 10 * 2, 0);
	assert_number(r.sums_after.hop_bytes, 2 * 10 * 2, 0);
	for (int i = 0; i < 16; i++)
		assert_int_equal(job.host[r.rank_host[i]], i);
	cpl_map_result_free(&r);
	tear_down(&job);
}

static void test_refused(void **state)
{
	struct cpl_network *net = dragonfly();
	struct cpl_comm *comm = random_comm(8, 2, 1);
	struct cpl_error err = {""};
	struct cpl_map_result r;
	struct job job;

	set_up(&job, net, comm, 4);
	assert_int_equal(cpl_map(&cpl_mapper_linear, &job.req, &r, &err), -1);
	assert_string_equal(err.text, "4 slots on 4 hosts, but 8 ranks; there "
	                              "must be a slot for each");
	job.slots[0] = 6;
	job.slots[3] = 0;
	job.host[1] = 32;
	assert_int_equal(cpl_map(&cpl_mapper_linear, &job.req, &r, &err), -1);
	assert_non_null(
	        strstr(err.text, "host 1 of the mapping is not a node"));
	job.host[1] = 1;
	job.slots[2] = -1;
	assert_int_equal(cpl_map(&cpl_mapper_linear, &job.req, &r, &err), -1);
	assert_non_null(strstr(err.text, "slots of host 2 are -1"));

	assert_null(cpl_mapper_find("fastest", &err));
	assert_non_null(strstr(err.text, "greedyallc"));
	assert_ptr_equal(cpl_mapper_find("Default", &err), &cpl_mapper_linear);
	assert_ptr_equal(cpl_mapper_find("GreedyALLC", &err),
	                 &cpl_mapper_greedyallc);
	tear_down(&job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_greedyallc_lu_c_64_on_the_mesh),
	        cmocka_unit_test(test_greedyallc_hop_totals),
	        cmocka_unit_test(test_slots_are_kept_and_never_worse),
	        cmocka_unit_test(test_pairs_go_to_one_host),
	        cmocka_unit_test(test_ties_keep_the_default_order),
	        cmocka_unit_test(test_refinement_lowers_hop_bytes),
	        cmocka_unit_test(test_distances),
	        cmocka_unit_test(test_budget),
	        cmocka_unit_test(test_sorted_by_switch),
	        cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
