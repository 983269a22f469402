/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>

#include "unit.h"

#include "traffic/moves.h"
#include "base/random.h"
#include "mapping/best/best.h"
#include "mapping_jobs.h"

#define WORK 20000

/* Links of different widths, two between two groups. */
static struct cpl_network *wide_dragonfly(void)
{
	return parse_network(
	        "{\"format\":\"commplace-network\",\"version\":1,"
	        "\"name\":\"df\",\"type\":\"dragonfly\",\"groups\":4,"
	        "\"rows\":2,\"columns\":2,\"nodes_per_router\":2,"
	        "\"global_links_per_group_pair\":2,"
	        "\"bandwidth\":{\"row\":1,\"column\":3,\"global\":2},"
	        "\"nodes\":\"n[0-31]\"}");
}

/* Faces of a periodic grid, rank numbers shuffled. */
static struct cpl_comm *stencil(int x, int y, int z, uint64_t seed)
{
	struct cpl_comm_entry entry[MAX_RANKS * 6];
	int name[MAX_RANKS], dim[] = {x, y, z};
	int64_t n = 0;

	for (int i = 0; i < x * y * z; i++)
		name[i] = i;
	cpl_random_shuffle(name, x * y * z, seed, 1);
	for (int i = 0; i < x * y * z; i++) {
		int stride = 1;

		for (int d = 0; d < 3; d++) {
			int at = i / stride % dim[d];
			int up = i + ((at + 1) % dim[d] - at) * stride;

			entry[n++] = (struct cpl_comm_entry){name[i], name[up],
			                                     100, 1};
			entry[n++] = (struct cpl_comm_entry){name[up], name[i],
			                                     100, 1};
			stride *= dim[d];
		}
	}
	return build(x * y * z, entry, n);
}

/* With so many slots each, for the busiest link. */
static void set_up_slots(struct job *job, struct cpl_network *net,
                         struct cpl_comm *comm, int n_hosts, int slots)
{
	set_up(job, net, comm, n_hosts);
	for (int i = 0; i < n_hosts; i++)
		job->slots[i] = slots;
	job->req.objective = CPL_OBJECTIVE_MAX;
	job->req.seed = 1;
	job->req.work = WORK;
}

static void close_to(double a, double b)
{
	if (fabs(a - b) > 1e-9 * (1 + fabs(a) + fabs(b)))
		fail_msg("%.17g is not %.17g", a, b);
}

/* Random swaps: cost and loads by increments are those from scratch. */
static void check_increments(struct cpl_network *net, int slots,
                             const char *routing)
{
	int n_hosts = net->n_nodes, ranks = n_hosts * slots;
	struct cpl_comm *comm = random_comm(ranks, 3, 7);
	struct cpl_error err = {""};
	struct job job;
	int rank_host[MAX_RANKS], rank_node[MAX_RANKS];
	struct cpl_moves links;
	struct cpl_load load;
	struct cpl_tables tables;
	struct cpl_swaps swaps;
	double cost;

	set_up_slots(&job, net, comm, n_hosts, slots);
	job.req.routing = cpl_routing_find(net, routing, &err);
	assert_non_null(job.req.routing);
	for (int r = 0; r < ranks; r++)
		rank_host[r] = r / slots;
	assert_int_equal(cpl_tables_init(&tables, &job.req, &err), 0);
	assert_int_equal(
	        cpl_swaps_init(&swaps, &job.req, &tables, rank_host, 1, &err),
	        0);
	for (int r = 0; r < ranks; r++)
		rank_node[r] = job.host[rank_host[r]];
	assert_int_equal(cpl_moves_init(&links, net, job.req.routing, job.host,
	                                n_hosts, NULL, &err),
	                 0);
	assert_int_equal(cpl_moves_job(&links, comm, rank_node, false, &err), 0);
	assert_int_equal(cpl_load_init(&load, net, &err), 0);
	cost = cpl_swaps_cost(&swaps);
	for (int i = 0; i < 60; i++) {
		int a = cpl_swaps_below(&swaps, ranks);
		int b = cpl_swaps_below(&swaps, ranks);
		double delta;

		if (rank_host[a] == rank_host[b])
			continue;
		delta = cpl_swaps_delta(&swaps, a, b);
		cpl_moves_swap(&links, a, b);
		cpl_moves_keep(&links);
		cpl_members_swap(&swaps.ranks, a, b);
		close_to(cost + delta, cpl_swaps_cost(&swaps));
		cost += delta;
		for (int r = 0; r < ranks; r++)
			rank_node[r] = job.host[rank_host[r]];
		cpl_load_clear(&load, net);
		add_traffic(net, job.req.routing, comm, rank_node,
		                &load, NULL);
		for (int64_t l = 0; l < net->n_links; l++)
			close_to(links.load[l], load.link[l]);
	}
	check_counts(&job, rank_host);
	cpl_moves_free(&links);
	cpl_load_free(&load);
	cpl_swaps_free(&swaps);
	cpl_tables_free(&tables);
	cpl_comm_free(job.graph);
	cpl_comm_free(comm);
}

static void test_increments(void **state)
{
	struct cpl_network *t = torus(4, 3, 2, true), *d = wide_dragonfly();

	(void)state;
	check_increments(t, 1, "dimension-order");
	check_increments(t, 3, "dimension-order");
	check_increments(t, 2, "adaptive-minimal");
	check_increments(d, 1, "static-direct");
	check_increments(d, 3, "static-direct");
	cpl_network_free(t);
	cpl_network_free(d);
}

static void test_random_draws(void **state)
{
	struct cpl_swaps s = {.random = 3};
	double sum = 0;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		double x = cpl_swaps_exponential(&s);

		assert_true(x >= 0 && x < 50);
		assert_in_range(cpl_swaps_below(&s, 7), 0, 6);
		sum += x;
	}
	assert_true(fabs(sum / 20000 - 1) < 0.03);
}

static const struct cpl_map_request any;

static void test_find_grid(void **state)
{
	static const int shape[][3] = {
	        {8, 8, 8}, {8, 4, 4}, {6, 5, 3}, {16, 8, 1}, {7, 3, 2}};

	(void)state;
	for (size_t i = 0; i < sizeof(shape) / sizeof(*shape); i++) {
		const int *d = shape[i];
		struct cpl_comm *comm = stencil(d[0], d[1], d[2], i + 1);
		struct cpl_comm *graph = cpl_comm_symmetric(comm, NULL);
		struct cpl_grid grid;
		int seen[MAX_RANKS] = {0};

		assert_int_equal(cpl_map_find_grid(&any, graph, &grid, NULL), 1);
		assert_true(grid.wrap);
		assert_int_equal(grid.n_dims, d[2] > 1 ? 3 : 2);
		for (int k = 0; k < grid.n_dims; k++)
			assert_int_equal(grid.dim[k], d[k]);
		for (int r = 0; r < graph->ranks; r++)
			assert_int_equal(seen[grid.cell[r]]++, 0);
		free(grid.cell);
		cpl_comm_free(graph);
		cpl_comm_free(comm);
	}
}

static void test_no_grid(void **state)
{
	struct cpl_comm *comm = random_comm(64, 3, 5);
	struct cpl_comm *graph = cpl_comm_symmetric(comm, NULL);
	struct cpl_grid grid;

	(void)state;
	assert_int_equal(cpl_map_find_grid(&any, graph, &grid, NULL), 0);
	cpl_comm_free(graph);
	cpl_comm_free(comm);
}

/* All-to-all along each dimension of a grid, shuffled; `without` one pair. */
static struct cpl_comm *cliques(const int *dim, uint64_t seed, bool without)
{
	static struct cpl_comm_entry entry[MAX_RANKS * 64];
	int n = dim[0] * dim[1] * dim[2], name[MAX_RANKS], used = 0;

	for (int r = 0; r < n; r++)
		name[r] = r;
	cpl_random_shuffle(name, n, seed, 1);
	for (int a = 0; a < n; a++)
		for (int b = 0; b < n; b++) {
			int same = (a % dim[0] == b % dim[0]) +
			           (a / dim[0] % dim[1] == b / dim[0] % dim[1]) +
			           (a / dim[0] / dim[1] == b / dim[0] / dim[1]);

			if (same == 2 && !(without && a + b == 1))
				entry[used++] = (struct cpl_comm_entry){
				        name[a], name[b], 100, 1};
		}
	return cpl_comm_build(n, entry, used, NULL);
}

static void test_find_cliques(void **state)
{
	static const int shape[][3] = {
	        {8, 4, 1}, {5, 5, 1}, {6, 4, 3}, {3, 3, 3}, {16, 3, 1}};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(shape) / sizeof(*shape); i++) {
		const int *d = shape[i / 2];
		struct cpl_comm *comm = cliques(d, i + 1, i % 2);
		struct cpl_comm *graph = cpl_comm_symmetric(comm, NULL);
		struct cpl_grid grid;
		int seen[MAX_RANKS] = {0};
		bool found =
		        cpl_map_find_cliques(graph, &grid, NULL) == 1;

		assert_int_equal(found, i % 2 == 0);
		for (int r = 0; r < graph->ranks && found; r++)
			assert_int_equal(seen[grid.cell[r]]++, 0);
		for (int k = 0; found && k < grid.n_dims; k++)
			assert_int_equal(grid.dim[k], d[k]);
		/* Partners differ in one coordinate. */
		for (int r = 0; r < graph->ranks && found; r++)
			for (int64_t e = graph->row[r]; e < graph->row[r + 1];
			     e++) {
				int a = grid.cell[r], b, differ = 0;

				b = grid.cell[graph->to[e]];
				for (int k = 0; k < grid.n_dims; k++) {
					differ += a % d[k] != b % d[k];
					a /= d[k];
					b /= d[k];
				}
				assert_int_equal(differ, 1);
			}
		if (found)
			free(grid.cell);
		cpl_comm_free(graph);
		cpl_comm_free(comm);
	}
}

/* All-to-all along each of n dimensions, ranks in their order; pairs along one
 * with so many bytes each, the others with a few, or none. */
static struct cpl_comm *product(const int *dim, const double *bytes, int n,
                                double others)
{
	static struct cpl_comm_entry entry[MAX_RANKS * 64];
	int ranks = 1, used = 0;

	for (int d = 0; d < n; d++)
		ranks *= dim[d];
	for (int a = 0; a < ranks; a++)
		for (int b = 0; b < a; b++) {
			int x = a, y = b, differ = 0;
			double sent = others;

			for (int d = 0; d < n; d++) {
				if (x % dim[d] != y % dim[d] && !differ++)
					sent = bytes[d];
				x /= dim[d];
				y /= dim[d];
			}
			if (differ > 1)
				sent = others;
			if (sent > 0)
				entry[used++] =
				        (struct cpl_comm_entry){a, b, sent, 1};
		}
	return cpl_comm_build(ranks, entry, used, NULL);
}

/* Which dimension is the fastest, how little a pair may have, how many
 * dimensions and ranks there may be. */
static void test_cliques_by_bytes(void **state)
{
	static const struct {
		int dim[6], n;
		double bytes[6], others;
		int found;    /* dimensions, 0: none */
		int order[4]; /* of dim[] */
	} row[] = {
	        /* In all 16 * 3 * 20 against 16 * 3 * 10. */
	        {{4, 4}, 2, {10, 20}, 0, 2, {1, 0}},
	        {{4, 4}, 2, {20, 10}, 0, 2, {0, 1}},
	        {{4, 4}, 2, {10, 10}, 0, 2, {0, 1}},
	        {{8, 2}, 2, {1, 8}, 0, 2, {1, 0}},
	        {{8, 2}, 2, {1, 6}, 0, 2, {0, 1}},
	        {{2, 3, 4}, 3, {10, 10, 10}, 0, 3, {2, 1, 0}},
	        {{2, 2}, 2, {1, 1}, 0, 2, {0, 1}},
	        {{2, 2, 2, 2}, 4, {1, 3, 2, 4}, 0, 4, {3, 1, 2, 0}},
	        {{2, 2, 2, 2, 2}, 5, {1, 1, 1, 1, 1}, 0, 0, {0}},
	        {{9}, 1, {1}, 0, 0, {0}},
	        {{3}, 1, {1}, 0, 0, {0}},
	        {{2}, 1, {1}, 0, 0, {0}},
	        /* A twentieth of the heaviest pair is a partner, less is not.
	         */
	        {{4, 4}, 2, {100, 80}, 4.9, 2, {0, 1}},
	        {{4, 4}, 2, {100, 80}, 5, 0, {0}},
	        {{4, 4}, 2, {100, 5}, 0, 2, {0, 1}},
	        {{4, 4}, 2, {100, 4.9}, 0, 0, {0}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct cpl_comm *comm = product(row[i].dim, row[i].bytes,
		                                row[i].n, row[i].others);
		struct cpl_comm *graph = cpl_comm_symmetric(comm, NULL);
		struct cpl_grid grid;

		print_message("row %zu\n", i);
		assert_int_equal(cpl_map_find_cliques(graph, &grid, NULL),
		                 row[i].found > 0);
		assert_true(grid.cliques);
		if (row[i].found)
			assert_int_equal(grid.n_dims, row[i].found);
		else
			assert_null(grid.cell);
		for (int r = 0; r < graph->ranks && row[i].found; r++) {
			int at[6], x = r, cell = 0;

			for (int d = 0; d < row[i].n; d++) {
				at[d] = x % row[i].dim[d];
				x /= row[i].dim[d];
			}
			for (int k = row[i].n - 1; k >= 0; k--) {
				int d = row[i].order[k];

				assert_int_equal(grid.dim[k], row[i].dim[d]);
				cell = cell * grid.dim[k] + at[d];
			}
			assert_int_equal(grid.cell[r], cell);
		}
		free(grid.cell);
		cpl_comm_free(graph);
		cpl_comm_free(comm);
	}
}

/* As many partners each, and as many in common, as in 4 x 4 cliques of 4: the
 * graph of Shrikhande. And those with a rank too many, which talks to nobody.
 */
static void test_cliques_that_are_none(void **state)
{
	static const int step[3][2] = {{1, 0}, {0, 1}, {1, 1}};
	struct cpl_comm_entry entry[16 * 6];
	struct cpl_comm *graph;
	struct cpl_grid grid;
	int n = 0;

	(void)state;
	for (int r = 0; r < 16; r++)
		for (int k = 0; k < 3; k++)
			entry[n++] = (struct cpl_comm_entry){
			        r,
			        (r + step[k][0]) % 4 +
			                (r / 4 + step[k][1]) % 4 * 4,
			        10, 1};
	for (int i = 0; i < 2; i++) {
		struct cpl_comm *comm = cpl_comm_build(16, entry, n, NULL);

		graph = cpl_comm_symmetric(comm, NULL);
		assert_int_equal(cpl_map_find_cliques(graph, &grid, NULL), 0);
		assert_null(grid.cell);
		cpl_comm_free(graph);
		cpl_comm_free(comm);
		/* And with another order of the neighbours. */
		for (int e = 0; e < n; e++) {
			entry[e].from = entry[e].from * 7 % 16;
			entry[e].to = entry[e].to * 7 % 16;
		}
	}
	n = 0;
	for (int a = 0; a < 16; a++)
		for (int b = 0; b < a; b++)
			if (a / 4 == b / 4 || a % 4 == b % 4)
				entry[n++] =
				        (struct cpl_comm_entry){a, b, 10, 1};
	for (int ranks = 16; ranks < 18; ranks++) {
		struct cpl_comm *comm = cpl_comm_build(ranks, entry, n, NULL);

		graph = cpl_comm_symmetric(comm, NULL);
		assert_int_equal(cpl_map_find_cliques(graph, &grid, NULL),
		                 ranks == 16);
		free(grid.cell);
		cpl_comm_free(graph);
		cpl_comm_free(comm);
	}
}

static double bytes_of(const struct cpl_comm *comm)
{
	double sum = 0;

	for (int64_t e = 0; e < comm->n_entries; e++)
		sum += comm->bytes[e];
	return sum;
}

/* Shuffled stencils on the torus of their shape: every message one hop. */
static void test_exact(void **state)
{
	static const int shape[][3] = {{4, 4, 4}, {8, 4, 2}, {5, 4, 3}};

	(void)state;
	for (size_t i = 0; i < sizeof(shape) / sizeof(*shape); i++) {
		const int *d = shape[i];
		struct cpl_network *net = torus(d[2], d[0], d[1], true);
		struct cpl_comm *comm = stencil(d[0], d[1], d[2], i + 1);
		struct cpl_map_result result;
		struct cpl_error err = {""};
		struct job job;

		set_up_slots(&job, net, comm, net->n_nodes, 1);
		assert_int_equal(
		        cpl_map(&cpl_mapper_best, &job.req, &result, &err), 0);
		check_counts(&job, result.rank_host);
		assert_true(result.sums_after.max_dilation == 1);
		close_to(result.sums_after.hop_bytes, bytes_of(comm));
		cpl_map_result_free(&result);
		tear_down(&job);
	}
}

/* 2 x 2 x 2 ranks on a node: an 8 x 8 x 8 stencil on 4 x 4 x 4 nodes. */
static void test_exact_tiles(void **state)
{
	struct cpl_network *net = torus(4, 4, 4, true);
	struct cpl_comm *comm = stencil(8, 8, 8, 9);
	struct cpl_map_result result;
	struct cpl_error err = {""};
	struct job job;

	(void)state;
	set_up_slots(&job, net, comm, 64, 8);
	assert_int_equal(cpl_map(&cpl_mapper_best, &job.req, &result, &err), 0);
	check_counts(&job, result.rank_host);
	assert_true(result.sums_after.max_dilation == 1);
	/* 24 of a tile's 48 messages leave it. */
	close_to(result.sums_after.hop_bytes, bytes_of(comm) / 2);
	cpl_map_result_free(&result);
	tear_down(&job);
}

static bool at_once(void *arg)
{
	(void)arg;
	return true;
}

static bool later(void *arg)
{
	return --*(int *)arg < 0;
}

/* Uneven and empty hosts, few partners or none, all objectives: valid, never
 * worse, twice the same. */
static void test_any(void **state)
{
	struct cpl_network *net[] = {torus(4, 4, 2, true), wide_dragonfly()};

	(void)state;
	for (uint64_t i = 0; i < 24; i++) {
		struct cpl_network *n = net[i % 2];
		int n_hosts = 1 + (int)cpl_random_below(i, 1, 0, 32);
		struct cpl_map_result a, b;
		struct cpl_error err = {""};
		struct cpl_comm *comm;
		struct job job;
		int slots[32] = {0}, host[32], ranks = 0, calls = 40;

		for (int h = 0; h < 32; h++)
			host[h] = h;
		cpl_random_shuffle(host, 32, i, 3);
		for (int h = 0; h < n_hosts; h++)
			ranks += slots[h] =
			        i % 3 ? (int)cpl_random_below(i, 2, (uint64_t)h,
			                                      5)
			              : 3;
		slots[0]++;
		ranks++;
		comm = random_comm(ranks, (int)(i % 4), i);
		set_up_slots(&job, n, comm, n_hosts, 1);
		memcpy(job.slots, slots, sizeof(slots));
		memcpy(job.host, host, sizeof(host));
		job.req.objective = (enum cpl_objective)(i % 3);
		job.req.work = 3000;
		if (i % 5 == 4) {
			job.req.expired = i % 2 ? at_once : later;
			job.req.expired_arg = &calls;
		}
		assert_int_equal(cpl_map(&cpl_mapper_best, &job.req, &a, &err),
		                 0);
		calls = 40;
		assert_int_equal(cpl_map(&cpl_mapper_best, &job.req, &b, &err),
		                 0);
		check_counts(&job, a.rank_host);
		assert_memory_equal(a.rank_host, b.rank_host,
		                    (size_t)ranks * sizeof(int));
		assert_false(cpl_objective_better(
		        job.req.objective, &a.before, a.sums_before.hop_bytes,
		        &a.after, a.sums_after.hop_bytes));
		cpl_map_result_free(&a);
		cpl_map_result_free(&b);
		cpl_comm_free(job.graph);
		cpl_comm_free(comm);
	}
	cpl_network_free(net[0]);
	cpl_network_free(net[1]);
}

/* Link loads are looked at: well below what greedyallc and its swaps on
 * hop-bytes leave. */
static void test_links(void **state)
{
	struct cpl_network *net = torus(4, 4, 4, true);
	struct cpl_comm *comm = random_comm(64, 3, 11);
	struct cpl_map_result greedy, best;
	struct cpl_error err = {""};
	struct job job;

	(void)state;
	set_up_slots(&job, net, comm, 64, 1);
	job.req.work = 10 * WORK;
	assert_int_equal(
	        cpl_map(&cpl_mapper_greedyallc, &job.req, &greedy, &err), 0);
	assert_int_equal(cpl_map(&cpl_mapper_best, &job.req, &best, &err), 0);
	assert_true(best.after.max_congestion <
	            0.95 * greedy.after.max_congestion);
	cpl_map_result_free(&greedy);
	cpl_map_result_free(&best);
	tear_down(&job);
}

/* 4 hosts a switch, 4 switches a group, 8 groups. */
static struct cpl_network *tree(void)
{
	return parse_network(
	        "{\"format\":\"commplace-network\",\"version\":1,"
	        "\"name\":\"f\",\"type\":\"fattree\",\"nodes_per_router\":1,"
	        "\"levels\":[{\"down\":4,\"up\":1},{\"down\":4,\"up\":1},"
	        "{\"down\":8,\"up\":1}],\"nodes\":\"n[0-127]\"}");
}

static void test_hops_of_tree(void **state)
{
	const struct {
		struct cpl_network *net;
		int hosts;
		bool is;
	} row[] = {
	        {tree(), 128, true},
	        {tree(), 2, true},
	        {torus(8, 1, 1, true), 8, false},
	        {torus(4, 4, 4, true), 64, false},
	        {wide_dragonfly(), 32, false},
	        {wide_dragonfly(), 2, true}, /* of one router */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct cpl_comm *comm = stencil(4, 2, 1, 1);
		struct job job;

		print_message("row %zu\n", i);
		set_up_slots(&job, row[i].net, comm, row[i].hosts, 1);
		assert_int_equal(cpl_map_hops_of_tree(&job.req), row[i].is);
		tear_down(&job);
	}
}

/* All ranks talk to all, the more the lower the level of the tree that they share when
 * they are in their order, and then are numbered anew: no layout has fewer hop-bytes
 * than that order. */
static void test_planted_levels(void **state)
{
	static const struct {
		int hosts, slots;
		double seconds;
	} row[] = {{128, 1, 0}, {128, 1, 60}, {64, 2, 0}, {64, 2, 60}, {32, 4, 60}};
	static const double bytes[] = {1000, 100, 10, 1};
	static struct cpl_comm_entry entry[128 * 128];
	struct cpl_network *net = tree();

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		int name[128], planted[128], rank_host[128];
		int unit[] = {row[i].slots, 4 * row[i].slots, 16 * row[i].slots};
		struct cpl_error err = {""};
		struct cpl_tables tables;
		struct cpl_comm *comm;
		struct job job;
		int64_t n = 0;

		print_message("row %zu\n", i);
		for (int r = 0; r < 128; r++)
			name[r] = r;
		cpl_random_shuffle(name, 128, 9, 1);
		for (int a = 0; a < 128; a++) {
			planted[name[a]] = a / row[i].slots;
			for (int b = 0; b < 128; b++) {
				int level = 0;

				while (level < 3 && a / unit[level] != b / unit[level])
					level++;
				if (a != b)
					entry[n++] = (struct cpl_comm_entry){
					        name[a], name[b], bytes[level], 1};
			}
		}
		comm = build(128, entry, n);
		set_up_slots(&job, net, comm, row[i].hosts, row[i].slots);
		job.req.objective = CPL_OBJECTIVE_HOP_BYTES;
		job.req.seconds = row[i].seconds;
		job.req.work = WORK;
		assert_int_equal(cpl_mapper_best.map(&job.req, rank_host, &err), 0);
		check_counts(&job, rank_host);
		assert_int_equal(cpl_tables_init(&tables, &job.req, &err), 0);
		close_to(cpl_tables_hop_bytes(&tables, job.graph, rank_host),
		         cpl_tables_hop_bytes(&tables, job.graph, planted));
		cpl_tables_free(&tables);
		cpl_comm_free(job.graph);
		cpl_comm_free(comm);
	}
	cpl_network_free(net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_increments),
	        cmocka_unit_test(test_random_draws),
	        cmocka_unit_test(test_find_grid),
	        cmocka_unit_test(test_find_cliques),
	        cmocka_unit_test(test_cliques_by_bytes),
	        cmocka_unit_test(test_cliques_that_are_none),
	        cmocka_unit_test(test_no_grid),
	        cmocka_unit_test(test_exact),
	        cmocka_unit_test(test_exact_tiles),
	        cmocka_unit_test(test_any),
	        cmocka_unit_test(test_links),
	        cmocka_unit_test(test_hops_of_tree),
	        cmocka_unit_test(test_planted_levels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
