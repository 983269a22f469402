/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What holds for any routing: bytes are kept, and a machine that looks the
 * same after its routers are renamed has the same loads under other names.
 */
#include "unit.h"

#include "network/type.h"
#include "number.h"
#include "routing_cases.h"

#define CASES 12
#define MAX_ROUTERS 600
/* Rounding must not decide: a full link's rest counts as nothing. */
#define AD_WITHIN 1e-4

/* Routers of a random walk without its circles; their number. */
static int random_route(const struct cpl_network *net, uint64_t seed,
                        uint64_t *at, int from, int to, int *route)
{
	int n = 1;

	route[0] = from;
	while (route[n - 1] != to) {
		int64_t l = draw(seed, (*at)++, 0, (int)net->n_links - 1);
		int been = 0;

		if (net->link_from[l] != route[n - 1])
			continue;
		while (been < n && route[been] != net->link_to[l])
			been++;
		route[been] = net->link_to[l];
		n = been + 1;
	}
	return n;
}

/* Up to three routes of a pair. */
static void add_random_routes(struct cpl_network *net, uint64_t seed)
{
	struct cpl_error err = {""};
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);
	uint64_t at = 1000;
	int route[MAX_ROUTERS];

	assert_non_null(out);
	assert_true(net->n_routers <= MAX_ROUTERS);
	for (int a = 0; a < net->n_node_routers; a++)
		for (int b = 0; b < net->n_node_routers; b++)
			for (int i = draw(seed, at++, 1, 3); i && a != b; i--) {
				int n = random_route(net, seed, &at, a, b,
				                     route);

				fprintf(out, "%d %d", a, b);
				for (int h = 1; h < n; h++)
					fprintf(out, " %d", route[h]);
				fprintf(out, "\n");
			}
	fclose(out);
	if (cpl_network_parse_routes(net, text, length, "routes", &err))
		fail_msg("%s", err.text);
	free(text);
}

static struct cpl_network *random_haec(uint64_t seed)
{
	int x = draw(seed, 0, 1, 4), y = draw(seed, 1, 1, 4);
	int boards = draw(seed, 2, 1, 4);
	char text[512];

	snprintf(text, sizeof(text),
	         "{\"format\": \"commplace-network\", \"version\": 1, "
	         "\"type\": \"haec\", \"dims\": [%d, %d, %d], "
	         "\"nodes\": \"n[0-%d]\"}",
	         x, y, boards, x * y * boards - 1);
	return parse_network(text);
}

/* Bytes on links are bytes times hops, and a router passes on what it does not
 * send or receive; what is inside a router is on no link. */
static void conserves(const struct cpl_network *net, const char *routing,
                      uint64_t seed)
{
	struct cpl_comm *comm = random_comm(net, seed);
	double *kept = calloc((size_t)net->n_routers, sizeof(*kept));
	struct cpl_job_sums sums;
	struct cpl_load load;
	double all = 0, sum = 0;

	evaluate(net, routing, comm, &load, &sums);
	for (int64_t l = 0; l < net->n_links; l++) {
		assert_true(load.link[l] >= 0);
		kept[net->link_from[l]] -= load.link[l];
		kept[net->link_to[l]] += load.link[l];
		sum += load.link[l];
	}
	for (int r = 0; r < comm->ranks; r++)
		for (int64_t e = comm->row[r]; e < comm->row[r + 1]; e++) {
			kept[cpl_network_router(net, r)] += comm->bytes[e];
			kept[cpl_network_router(net, comm->to[e])] -=
			        comm->bytes[e];
			all += comm->bytes[e];
		}
	for (int r = 0; r < net->n_routers; r++)
		if (!(kept[r] <= 1e-9 * all && kept[r] >= -1e-9 * all))
			fail_msg("%s, seed %d: router %d keeps %g of %g bytes",
			         routing, (int)seed, r, kept[r], all);
	assert_number(sum, sums.hop_bytes, 1e-9 * sums.hop_bytes);
	cpl_load_free(&load);
	cpl_comm_free(comm);
	free(kept);
}

static void test_conservation(void **state)
{
	static const char *const fly_routing[] = {"SD", "SI", "AD", "AI", "AH"};

	for (uint64_t seed = 0; seed < CASES; seed++) {
		struct cpl_network *net = random_fly(seed);

		for (int i = 0; i < 5; i++)
			conserves(net, fly_routing[i], seed);
		cpl_network_free(net);
		net = random_torus(seed);
		conserves(net, "DO", seed);
		conserves(net, "AM", seed);
		cpl_network_free(net);
		net = random_tree(seed);
		conserves(net, "dmodk", seed);
		conserves(net, "ecmp", seed);
		add_random_routes(net, seed);
		conserves(net, "table", seed);
		cpl_network_free(net);
		net = random_graph(seed);
		conserves(net, "SP", seed);
		conserves(net, "ecmp", seed);
		add_random_routes(net, seed);
		conserves(net, "table", seed);
		cpl_network_free(net);
		net = random_plus(seed);
		conserves(net, "ecmp", seed);
		cpl_network_free(net);
		net = random_hyperx(seed);
		conserves(net, "ecmp", seed);
		cpl_network_free(net);
		net = random_haec(seed);
		conserves(net, "HB", seed);
		cpl_network_free(net);
	}
}

/* The matrix with every router renamed; one node a router. */
static struct cpl_comm *rename_ranks(const struct cpl_comm *comm,
                                     const int *name)
{
	struct cpl_comm_entry *entry =
	        malloc((size_t)comm->row[comm->ranks] * sizeof(*entry));
	struct cpl_error err = {""};
	struct cpl_comm *renamed;
	int64_t n = 0;

	for (int r = 0; r < comm->ranks; r++)
		for (int64_t e = comm->row[r]; e < comm->row[r + 1]; e++)
			entry[n++] = (struct cpl_comm_entry){
			        name[r], name[comm->to[e]], comm->bytes[e], 1};
	renamed = cpl_comm_build(comm->ranks, entry, n, &err);
	assert_non_null(renamed);
	free(entry);
	return renamed;
}

/* Bytes between two neighbours, [from * n_routers + to]. */
static double *between(const struct cpl_network *net,
                       const struct cpl_load *load)
{
	size_t n = (size_t)net->n_routers;
	double *sum = calloc(n * n, sizeof(*sum));

	for (int64_t l = 0; l < net->n_links; l++)
		sum[(size_t)net->link_from[l] * n + (size_t)net->link_to[l]] +=
		        load->link[l];
	return sum;
}

/* name[] must take links to links. */
static void same_when_renamed(const struct cpl_network *net,
                              const char *routing, const int *name,
                              uint64_t seed, double within)
{
	int n = net->n_routers;
	struct cpl_comm *comm = random_comm(net, seed);
	struct cpl_comm *renamed = rename_ranks(comm, name);
	struct cpl_job_sums sums, other;
	struct cpl_load load, moved;
	double *a, *b;

	assert_true(n <= MAX_ROUTERS);
	evaluate(net, routing, comm, &load, &sums);
	evaluate(net, routing, renamed, &moved, &other);
	a = between(net, &load);
	b = between(net, &moved);
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++) {
			double want = a[i * n + j];
			double got = b[name[i] * n + name[j]];

			if (!(got >= want * (1 - within) - 1e-6 &&
			      got <= want * (1 + within) + 1e-6))
				fail_msg("%s, seed %d: %d -> %d has %.17g, "
				         "renamed %.17g",
				         routing, (int)seed, i, j, want, got);
		}
	assert_number(other.hop_bytes, sums.hop_bytes,
	              within * sums.hop_bytes + 1e-6);
	assert_number(other.max_dilation, sums.max_dilation, 1e-9);
	free(a);
	free(b);
	cpl_load_free(&load);
	cpl_load_free(&moved);
	cpl_comm_free(comm);
	cpl_comm_free(renamed);
}

/* Rotations of a torus; lengths 2 and even ones have ties. */
static void test_torus_rotations(void **state)
{
	static const char *const dims[] = {
	        "7", "6,4", "5,2,4", "3,4,2,3", "2,3,2,4,2", "2,3,2,2,3,2"};
	static const int size[][6] = {
	        {7},          {6, 4},          {5, 2, 4},
	        {3, 4, 2, 3}, {2, 3, 2, 4, 2}, {2, 3, 2, 2, 3, 2}};

	for (uint64_t seed = 0; seed < 12; seed++) {
		int shape = (int)(seed % 6), n = 1, name[MAX_ROUTERS];
		struct cpl_network *net;
		char text[512];

		for (int d = 0; d <= shape; d++)
			n *= size[shape][d];
		snprintf(text, sizeof(text),
		         "{\"format\": \"commplace-network\", \"version\": 1, "
		         "\"type\": \"torus\", \"dims\": [%s], "
		         "\"nodes\": \"n[0-%d]\"}",
		         dims[shape], n - 1);
		net = parse_network(text);
		for (int i = 0; i < n; i++) {
			int stride = 1;

			name[i] = 0;
			for (int d = 0; d <= shape; d++) {
				int length = size[shape][d];
				int by = draw(seed, 50 + (uint64_t)d, 0,
				              length - 1);

				name[i] += (i / stride + by) % length * stride;
				stride *= length;
			}
		}
		same_when_renamed(net, "DO", name, seed, 1e-9);
		same_when_renamed(net, "AM", name, seed, 1e-9);
		cpl_network_free(net);
	}
}

/* With palm trees that fill all ports any group looks as any other. */
static void test_palmtree_rotations(void **state)
{
	static const struct {
		int groups, rows, columns, k;
	} table[] = {{5, 2, 2, 1}, {7, 2, 3, 1}, {7, 1, 3, 2},
	             {5, 2, 4, 2}, {4, 1, 3, 3}, {13, 2, 3, 1}};

	for (uint64_t seed = 0; seed < 12; seed++) {
		int i = (int)(seed % 6), name[MAX_ROUTERS];
		int size = table[i].rows * table[i].columns;
		int n = table[i].groups * size;
		int by = draw(seed, 0, 1, table[i].groups - 1);
		struct cpl_network *net;
		char text[512];

		snprintf(text, sizeof(text),
		         "{\"format\": \"commplace-network\", \"version\": 1, "
		         "\"type\": \"dragonfly\", \"groups\": %d, "
		         "\"rows\": %d, \"columns\": %d, "
		         "\"global_wiring\": \"palmtree\", "
		         "\"global_links_per_group_pair\": %d, "
		         "\"nodes\": \"n[0-%d]\"}",
		         table[i].groups, table[i].rows, table[i].columns,
		         table[i].k, n - 1);
		net = parse_network(text);
		for (int r = 0; r < n; r++)
			name[r] = (r + by * size) % n;
		same_when_renamed(net, "SD", name, seed, 1e-9);
		same_when_renamed(net, "SI", name, seed, 1e-9);
		same_when_renamed(net, "AD", name, seed, AD_WITHIN);
		cpl_network_free(net);
	}
}

/* Links that join the same local router of both groups: any order of the
 * groups is as good. */
static void test_group_permutations(void **state)
{
	for (uint64_t seed = 0; seed < 12; seed++) {
		int groups = draw(seed, 0, 2, 6), rows = draw(seed, 1, 1, 3);
		int columns = draw(seed, 2, 1, 4), k = draw(seed, 3, 1, 3);
		int size = rows * columns, n = groups * size;
		int name[MAX_ROUTERS], order[6], local[3];
		char text[4096];
		struct cpl_network *net;
		size_t at;

		for (int i = 0; i < k; i++)
			local[i] = draw(seed, 20 + (uint64_t)i, 0, size - 1);
		at = (size_t)snprintf(
		        text, sizeof(text),
		        "{\"format\": \"commplace-network\", \"version\": 1, "
		        "\"type\": \"dragonfly\", \"groups\": %d, "
		        "\"rows\": %d, \"columns\": %d, "
		        "\"column_links_per_router_pair\": 3, "
		        "\"global_links_per_group_pair\": %d, "
		        "\"nodes\": \"n[0-%d]\", \"global_wiring\": \"list\", "
		        "\"global_links\": [",
		        groups, rows, columns, k, n - 1);
		for (int a = 0; a < groups; a++)
			for (int b = a + 1; b < groups; b++)
				for (int i = 0; i < k; i++)
					at += (size_t)snprintf(
					        text + at, sizeof(text) - at,
					        "%s[%d, %d, %d, %d]",
					        a + b + i > 1 ? ", " : "", a,
					        local[i], b, local[i]);
		snprintf(text + at, sizeof(text) - at, "]}");
		net = parse_network(text);
		for (int g = 0; g < groups; g++) {
			int other = draw(seed, 30 + (uint64_t)g, 0, g);

			order[g] = order[other];
			order[other] = g;
		}
		for (int r = 0; r < n; r++)
			name[r] = order[r / size] * size + r % size;
		same_when_renamed(net, "SD", name, seed, 1e-9);
		same_when_renamed(net, "SI", name, seed, 1e-9);
		same_when_renamed(net, "AD", name, seed, AD_WITHIN);
		cpl_network_free(net);
	}
}

/* A pattern that looks the same from everywhere loads all links of a direction
 * alike. */
static void test_even_patterns(void **state)
{
	struct cpl_network *net = parse_network(
	        "{\"format\": \"commplace-network\", \"version\": 1, "
	        "\"type\": \"torus\", \"dims\": [4, 3, 2], "
	        "\"nodes\": \"n[0-23]\"}");
	static const char *const routing[] = {"DO", "AM"};

	for (uint64_t seed = 0; seed < 8; seed++) {
		struct cpl_comm_entry entry[24 * 3];
		struct cpl_error err = {""};
		struct cpl_comm *comm;
		int n = 0;

		for (int m = 0; m < 3; m++) {
			uint64_t at = 4 * (uint64_t)m;
			int x = draw(seed, at, 0, 3),
			    y = draw(seed, at + 1, 0, 2);
			int z = draw(seed, at + 2, 0, 1);
			double bytes = draw(seed, at + 3, 1, 1000);

			for (int i = 0; i < 24; i++)
				entry[n++] = (struct cpl_comm_entry){
				        i,
				        (i + x) % 4 + (i / 4 + y) % 3 * 4 +
				                (i / 12 + z) % 2 * 12,
				        bytes, 1};
		}
		comm = cpl_comm_build(24, entry, n, &err);
		for (int r = 0; r < 2; r++) {
			struct cpl_job_sums sums;
			struct cpl_load load;

			evaluate(net, routing[r], comm, &load, &sums);
			for (int i = 0; i < 24 * 6; i++) {
				double first = load.link[net->product.out[i % 6]];

				assert_number(load.link[net->product.out[i]],
				              first, 1e-9 * first);
			}
			cpl_load_free(&load);
		}
		cpl_comm_free(comm);
	}
	cpl_network_free(net);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_conservation),
	        cmocka_unit_test(test_torus_rotations),
	        cmocka_unit_test(test_palmtree_rotations),
	        cmocka_unit_test(test_group_permutations),
	        cmocka_unit_test(test_even_patterns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
