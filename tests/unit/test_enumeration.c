/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Static and minimal routings against enumeration by other code, on random
 * dragonflies of all wirings and random tori and meshes.
 */
#include "unit.h"

#include "network/dragonfly/dragonfly.h"
#include "brute.h"
#include "number.h"
#include "routing/dragonfly_paths.h"
#include "routing_cases.h"

#define CASES 40

/* All pairs of a random network's matrix along its minimal paths. */
static void check_minimal(struct cpl_network *net, const char *routing,
                          uint64_t seed)
{
	struct cpl_comm *comm = random_comm(net, seed);
	int ports = net->nodes_per_router;
	double *want = calloc((size_t)net->n_links + 1, sizeof(*want));
	double hop_bytes = 0, farthest = 0;
	struct cpl_job_sums sums;
	struct cpl_load load;

	for (int r = 0; r < comm->ranks; r++)
		for (int64_t e = comm->row[r]; e < comm->row[r + 1]; e++) {
			int hops =
			        brute_add(net, r / ports, comm->to[e] / ports,
			                  comm->bytes[e], want);

			hop_bytes += hops * comm->bytes[e];
			if (comm->bytes[e] > 0 && hops > farthest)
				farthest = hops;
		}
	evaluate(net, routing, comm, &load, &sums);
	same_loads(net, load.link, want, seed);
	assert_number(sums.hop_bytes, hop_bytes, 1e-9 * hop_bytes);
	assert_number(sums.max_dilation, farthest, 0);
	cpl_load_free(&load);
	cpl_comm_free(comm);
	cpl_network_free(net);
	free(want);
}

static void test_static_direct(void **state)
{
	for (uint64_t seed = 0; seed < CASES; seed++)
		check_minimal(random_fly(seed), "SD", seed);
}

static void test_dimension_order(void **state)
{
	for (uint64_t seed = 0; seed < CASES; seed++)
		check_minimal(random_torus(seed), "DO", seed);
}

/* Each pair over each third router, leg by leg. */
static void check_indirect(struct cpl_network *net, uint64_t seed)
{
	struct cpl_comm *comm = random_comm(net, seed);
	int n = net->n_routers, ports = net->nodes_per_router;
	size_t links = (size_t)net->n_links + 1;
	double *want = calloc(links, sizeof(*want));
	double hop_bytes = 0, farthest = 0;
	struct cpl_job_sums sums;
	struct cpl_load load;

	for (int r = 0; r < comm->ranks; r++)
		for (int64_t e = comm->row[r]; e < comm->row[r + 1]; e++) {
			int from = r / ports, to = comm->to[e] / ports;
			double bytes = comm->bytes[e], hops = 0;

			if (from == to || !(bytes > 0))
				continue;
			for (int i = 0; i < n; i++) {
				double part = bytes / (n - 2);

				if (i == from || i == to)
					continue;
				hops += brute_add(net, from, i, part, want);
				hops += brute_add(net, i, to, part, want);
			}
			if (n == 2)
				hops = brute_add(net, from, to, bytes, want);
			else
				hops /= n - 2;
			hop_bytes += bytes * hops;
			if (hops > farthest)
				farthest = hops;
		}
	evaluate(net, "static-indirect", comm, &load, &sums);
	same_loads(net, load.link, want, seed);
	assert_number(sums.hop_bytes, hop_bytes, 1e-9 * hop_bytes);
	assert_number(sums.max_dilation, farthest, 1e-9);
	cpl_load_free(&load);
	cpl_comm_free(comm);
	cpl_network_free(net);
	free(want);
}

static void test_static_indirect(void **state)
{
	for (uint64_t seed = 0; seed < CASES; seed++)
		check_indirect(random_fly(seed), seed);
}

/* Groups of different size, bandwidths, nodes of a router. */
static void test_kinds(void **state)
{
	for (uint64_t seed = 0; seed < CASES; seed++) {
		check_minimal(random_kinds(seed, 2, ""), "SD", seed);
		check_indirect(random_kinds(seed, 2, ""), seed);
	}
}

/* The list of a way says the same as adding it up. */
static void test_kinds_lists(void **state)
{
	for (uint64_t seed = 0; seed < CASES; seed++) {
		struct cpl_network *net = random_kinds(seed, 1, "");
		const struct cpl_routing *sd = &cpl_routing_kinds_direct;
		size_t links = (size_t)net->n_links + 1;
		int64_t most = cpl_route_max(net, sd);
		struct cpl_share *share = calloc((size_t)most, sizeof(*share));
		double *want = calloc(links, sizeof(*want));
		double *got = calloc(links, sizeof(*got));

		for (int to = 0; to < net->n_routers; to++) {
			int from = (int)(seed % (uint64_t)net->n_routers);
			int n = sd->links(net, from, to, share);

			assert_true(n <= most);
			for (int i = 0; i < n; i++)
				got[share[i].link] += share[i].part;
			assert_number(brute_add(net, from, to, 1, want),
			              sd->hops(net, from, to), 0);
		}
		same_loads(net, got, want, seed);
		free(share);
		free(want);
		free(got);
		cpl_network_free(net);
	}
}

/* More links than routers, than bits of a word; with and without what the
 * network knows of their rows and columns. */
static void test_many_links(void **state)
{
	static const struct {
		int groups, rows, columns, k;
	} fly_of[] = {{3, 3, 4, 5}, {3, 2, 3, 11}, {4, 1, 4, 6},
	              {3, 4, 1, 9}, {2, 2, 2, 64}, {2, 3, 2, 65},
	              {3, 1, 1, 5}, {2, 2, 2, 130}};

	for (uint64_t i = 0; i < sizeof(fly_of) / sizeof(*fly_of); i++)
		for (int way = 0; way < 4; way++) {
			struct cpl_network *net =
			        fly(fly_of[i].groups, fly_of[i].rows,
			            fly_of[i].columns, 2, fly_of[i].k);

			if (way & 1) {
				struct cpl_dragonfly *df = (void *)net->own;

				free(df->rows_columns);
				df->rows_columns = NULL;
			}
			if (way & 2)
				check_indirect(net, i);
			else
				check_minimal(net, "SD", i);
		}
}

/* Groups so large that ways inside them are not kept in a matrix. */
static void test_static_indirect_in_a_large_group(void **state)
{
	struct cpl_network *net = parse_network(
	        "{\"format\": \"commplace-network\", \"version\": 1, "
	        "\"type\": \"dragonfly\", \"groups\": 2, "
	        "\"rows\": 65, \"columns\": 65, "
	        "\"global_links_per_group_pair\": 2, "
	        "\"nodes\": {\"0\": \"a\"}}");
	int n = net->n_routers, from = 3, to[] = {70, 4300};
	size_t links = (size_t)net->n_links;
	double *want = calloc(links, sizeof(*want));
	double *got = calloc(links, sizeof(*got));
	const struct cpl_routing *routing = &cpl_routing_static_indirect;
	void *scratch = malloc(routing->scratch_size(net));
	struct cpl_routed routed = {0, 0};
	int64_t row[] = {0, 2};
	double bytes[] = {1e9, 2e9}, hops = 0;
	struct cpl_flows pairs = {1, &from, row, to, bytes};

	for (int m = 0; m < 2; m++)
		for (int i = 0; i < n; i++) {
			const struct cpl_routing *sd =
			        &cpl_routing_static_direct;
			double part = bytes[m] / (n - 2);

			if (i == from || i == to[m])
				continue;
			sd->add(net, from, i, part, want);
			sd->add(net, i, to[m], part, want);
			hops += part * (sd->hops(net, from, i) +
			                sd->hops(net, i, to[m]));
		}
	routing->solve(net, &pairs, scratch, got, &routed);
	same_loads(net, got, want, 0);
	assert_number(routed.hop_bytes, hops, 1e-9 * hops);
	free(scratch);
	free(want);
	free(got);
	cpl_network_free(net);
}

/* Steps in one dimension both ways; a huge number where there is no way. */
static void ways(const struct cpl_product *torus, int d, int from, int to,
                 int *plus, int *minus)
{
	int n = torus->dim[d];

	*plus = to >= from ? to - from : torus->wrap[d] ? to - from + n : 9999;
	*minus = from >= to ? from - to : torus->wrap[d] ? from - to + n : 9999;
}

static int distance(const struct cpl_product *torus, int from, int to)
{
	int sum = 0, stride = 1;

	for (int d = 0; d < torus->n_dims; d++) {
		int n = torus->dim[d], plus, minus;

		ways(torus, d, from / stride % n, to / stride % n, &plus,
		     &minus);
		sum += plus < minus ? plus : minus;
		stride *= n;
	}
	return sum;
}

/* Number of shortest paths, walking every one. */
static double walk(const struct cpl_network *net, int at, int to)
{
	double paths = 0;

	if (at == to)
		return 1;
	for (int64_t l = 0; l < net->n_links; l++) {
		double beyond;

		if (net->link_from[l] != at ||
		    distance(&net->product, net->link_to[l], to) !=
		            distance(&net->product, at, to) - 1)
			continue;
		beyond = walk(net, net->link_to[l], to);
		paths += beyond;
	}
	return paths;
}

/* Part of a pair's bytes on each link, by walking on in proportion to the
 * paths that are ahead. */
static void flow(const struct cpl_network *net, int at, int to, double bytes,
                 double *load)
{
	double paths;

	if (at == to)
		return;
	paths = walk(net, at, to);
	for (int64_t l = 0; l < net->n_links; l++) {
		double part;

		if (net->link_from[l] != at ||
		    distance(&net->product, net->link_to[l], to) !=
		            distance(&net->product, at, to) - 1)
			continue;
		part = bytes * walk(net, net->link_to[l], to) / paths;
		load[l] += part;
		flow(net, net->link_to[l], to, part, load);
	}
}

static void test_adaptive_minimal(void **state)
{
	for (uint64_t seed = 0; seed < CASES; seed++) {
		struct cpl_network *net = random_torus(seed);
		size_t links = (size_t)net->n_links + 1;
		double *want = calloc(links, sizeof(*want));
		double *got = calloc(links, sizeof(*got));
		const struct cpl_routing *routing =
		        &cpl_routing_adaptive_minimal;

		for (int i = 0; i < 12; i++) {
			int from = draw(seed, 100 + 2 * (uint64_t)i, 0,
			                net->n_routers - 1);
			int to = draw(seed, 101 + 2 * (uint64_t)i, 0,
			              net->n_routers - 1);

			flow(net, from, to, 1000, want);
			routing->add(net, from, to, 1000, got);
			assert_number(routing->hops(net, from, to),
			              distance(&net->product, from, to), 0);
		}
		same_loads(net, got, want, seed);
		cpl_network_free(net);
		free(want);
		free(got);
	}
}

/* Every step of one path in order of dimensions, the last one first if back. */
static void walk_dimensions(const struct cpl_network *net, int from, int to,
                            bool back, double bytes, double *load)
{
	const struct cpl_product *torus = &net->product;

	for (int i = 0; i < torus->n_dims; i++) {
		int d = back ? torus->n_dims - 1 - i : i, n = torus->dim[d];
		int stride = 1;

		for (int e = 0; e < d; e++)
			stride *= torus->dim[e];
		while (from / stride % n != to / stride % n) {
			int ahead = (to / stride % n - from / stride % n + n) % n;
			bool plus = torus->wrap[d]
			                    ? 2 * ahead < n || (2 * ahead == n && !back)
			                    : to / stride % n > from / stride % n;
			int64_t link = torus->out[((int64_t)from * torus->n_dims + d) *
			                                  2 +
			                          !plus];

			load[link] += bytes;
			from = net->link_to[link];
			/* Once it has begun it does not turn. */
			while (from / stride % n != to / stride % n) {
				link = torus->out[((int64_t)from * torus->n_dims +
				                   d) * 2 +
				                  !plus];
				load[link] += bytes;
				from = net->link_to[link];
			}
		}
	}
}

/* By add, and by the list of links. */
static void test_o1turn(void **state)
{
	const struct cpl_routing *routing = &cpl_routing_o1turn;

	for (uint64_t seed = 0; seed < CASES; seed++) {
		struct cpl_network *net = random_torus(seed);
		size_t links = (size_t)net->n_links + 1;
		double *want = calloc(links, sizeof(*want));
		double *got = calloc(links, sizeof(*got));
		double *listed = calloc(links, sizeof(*listed));
		struct cpl_share *share = malloc(
		        (size_t)cpl_route_max(net, routing) * sizeof(*share));

		for (int i = 0; i < 12; i++) {
			int from = draw(seed, 100 + 2 * (uint64_t)i, 0,
			                net->n_routers - 1);
			int to = draw(seed, 101 + 2 * (uint64_t)i, 0,
			              net->n_routers - 1);
			int n = routing->links(net, from, to, share);

			walk_dimensions(net, from, to, false, 500, want);
			walk_dimensions(net, from, to, true, 500, want);
			routing->add(net, from, to, 1000, got);
			assert_number(n, 2 * routing->hops(net, from, to), 0);
			while (n--)
				listed[share[n].link] += 1000 * share[n].part;
		}
		same_loads(net, got, want, seed);
		same_loads(net, listed, want, seed);
		cpl_network_free(net);
		free(share);
		free(listed);
		free(want);
		free(got);
	}
}

/* 3,998 steps: the path counts are far beyond a double. */
static void test_adaptive_minimal_far_apart(void **state)
{
	struct cpl_network *net = parse_network(
	        "{\"format\": \"commplace-network\", \"version\": 1, "
	        "\"type\": \"torus\", \"dims\": [1000, 1000], "
	        "\"wrap\": [false, false], \"nodes\": {\"0\": \"a\"}}");
	double *load = calloc((size_t)net->n_links, sizeof(*load)), sum = 0;

	cpl_routing_adaptive_minimal.add(net, 0, 999999, 1, load);
	for (int64_t l = 0; l < net->n_links; l++)
		sum += load[l];
	assert_number(sum, 1998, 1e-6);
	/* The ends are shared evenly. */
	assert_number(load[net->product.out[0]], 0.5, 1e-9);
	assert_number(load[net->product.out[2]], 0.5, 1e-9);
	free(load);
	cpl_network_free(net);
}

/* Hops to `to` of all routers, by going over all links until nothing changes. */
static int *hops_to(const struct cpl_network *net, int to)
{
	int *hops = malloc((size_t)net->n_routers * sizeof(*hops));
	bool changed = true;

	for (int r = 0; r < net->n_routers; r++)
		hops[r] = r == to ? 0 : 9999;
	while (changed) {
		changed = false;
		for (int64_t l = 0; l < net->n_links; l++) {
			int a = net->link_from[l], b = net->link_to[l];

			if (hops[b] + 1 < hops[a]) {
				hops[a] = hops[b] + 1;
				changed = true;
			}
		}
	}
	return hops;
}

/* Walks every way from `at`, and counts them. */
static double count_ways(const struct cpl_network *net, const int *hops, int at)
{
	double n = 0;

	if (!hops[at])
		return 1;
	for (int64_t l = 0; l < net->n_links; l++)
		if (net->link_from[l] == at &&
		    hops[net->link_to[l]] == hops[at] - 1)
			n += count_ways(net, hops, net->link_to[l]);
	return n;
}

/* A link is on as many ways as lead to it times those that go on from it. */
static void over_ways(const struct cpl_network *net, int from, int to,
                      double bytes, double *want)
{
	int *hops = hops_to(net, to);
	double *ways = calloc((size_t)net->n_routers, sizeof(*ways));
	double all = count_ways(net, hops, from);

	ways[from] = 1;
	for (int d = hops[from]; d > 0; d--)
		for (int64_t l = 0; l < net->n_links; l++) {
			int a = net->link_from[l], b = net->link_to[l];

			if (hops[a] != d || hops[b] != d - 1)
				continue;
			want[l] += bytes * ways[a] / all *
			           count_ways(net, hops, b);
			ways[b] += ways[a];
		}
	free(ways);
	free(hops);
}

static void check_ecmp(struct cpl_network *net, uint64_t seed)
{
	struct cpl_comm *comm = random_comm(net, seed);
	double *want = calloc((size_t)net->n_links + 1, sizeof(*want));
	int ports = net->nodes_per_router;
	struct cpl_job_sums sums;
	struct cpl_load load;

	for (int r = 0; r < comm->ranks; r++)
		for (int64_t e = comm->row[r]; e < comm->row[r + 1]; e++)
			if (r / ports != comm->to[e] / ports)
				over_ways(net, r / ports, comm->to[e] / ports,
				          comm->bytes[e], want);
	evaluate(net, "ecmp", comm, &load, &sums);
	same_loads(net, load.link, want, seed);
	cpl_load_free(&load);
	cpl_comm_free(comm);
	cpl_network_free(net);
	free(want);
}

static void test_ecmp(void **state)
{
	for (uint64_t seed = 0; seed < CASES; seed++) {
		check_ecmp(random_plus(seed), seed);
		check_ecmp(random_hyperx(seed), seed);
		check_ecmp(random_tree(seed), seed);
		check_ecmp(random_graph(seed), seed);
	}
}

/* The list of a route says the same as adding it up. */
static void test_ecmp_lists(void **state)
{
	for (uint64_t seed = 0; seed < CASES; seed++) {
		struct cpl_network *net = seed % 3 == 0   ? random_plus(seed)
		                          : seed % 3 == 1 ? random_tree(seed)
		                                          : random_hyperx(seed);
		const struct cpl_routing *ecmp = &cpl_routing_ecmp;
		size_t links = (size_t)net->n_links + 1;
		int64_t most = cpl_route_max(net, ecmp);
		struct cpl_share *share = calloc((size_t)most, sizeof(*share));
		double *want = calloc(links, sizeof(*want));
		double *got = calloc(links, sizeof(*got));

		for (int to = 0; to < net->n_node_routers; to++) {
			int n = ecmp->links(net, 0, to, share);
			double hops = 0;

			assert_true(n <= most);
			ecmp->add(net, 0, to, 1, want);
			for (int i = 0; i < n; i++) {
				got[share[i].link] += share[i].part;
				hops += share[i].part;
			}
			assert_number(hops, ecmp->hops(net, 0, to), 1e-9);
		}
		same_loads(net, got, want, seed);
		free(share);
		free(want);
		free(got);
		cpl_network_free(net);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_static_direct),
	        cmocka_unit_test(test_static_indirect),
	        cmocka_unit_test(test_kinds),
	        cmocka_unit_test(test_kinds_lists),
	        cmocka_unit_test(test_many_links),
	        cmocka_unit_test(test_static_indirect_in_a_large_group),
	        cmocka_unit_test(test_dimension_order),
	        cmocka_unit_test(test_adaptive_minimal),
	        cmocka_unit_test(test_o1turn),
	        cmocka_unit_test(test_adaptive_minimal_far_apart),
	        cmocka_unit_test(test_ecmp),
	        cmocka_unit_test(test_ecmp_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
