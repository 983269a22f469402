/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "flow.h"
#include "number.h"
#include "routing/dragonfly_paths.h"

#define HEAD                                                                   \
	"{\"format\": \"commplace-network\", \"version\": 1, "                 \
	"\"type\": \"dragonfly\", "

static const char *const machines[] = {
        HEAD "\"groups\": 4, \"rows\": 2, \"columns\": 3, "
             "\"nodes_per_router\": 1, \"global_links_per_group_pair\": 1, "
             "\"nodes\": \"n[0-23]\"}",
        HEAD "\"groups\": 3, \"rows\": 3, \"columns\": 3, "
             "\"nodes_per_router\": 1, \"global_links_per_group_pair\": 5, "
             "\"nodes\": \"n[0-26]\"}",
        HEAD "\"groups\": 1, \"rows\": 1, \"columns\": 2, "
             "\"nodes_per_router\": 1, \"nodes\": \"n[0-1]\"}",
};

#define N_MACHINES 3

/* All bytes arrive, and the hops are those of the packets drawn. */
static void test_flow(void **state)
{
	for (int i = 0; i < N_MACHINES; i++) {
		struct cpl_network *net = parse_network(machines[i]);

		flow_check(net, flow_routing(net, "SIS"), 1);
		cpl_network_free(net);
	}
}

/* The exact expectation of one pair, by every intermediate router. */
static void expect(const struct cpl_network *net, int from, int to,
                   double *load)
{
	double part = 1.0 / (net->n_routers - 2);

	for (int i = 0; i < net->n_routers; i++) {
		if (i == from || i == to)
			continue;
		cpl_routing_static_direct.add(net, from, i, part, load);
		cpl_routing_static_direct.add(net, i, to, part, load);
	}
}

/* Root of the summed squares of what samples of all pairs stray by. */
static double distance(const struct cpl_network *net, int packets)
{
	size_t links = (size_t)net->n_links;
	double *want = malloc(links * sizeof(*want));
	double *got = malloc(links * sizeof(*got)), sum = 0;

	for (int from = 0; from < net->n_routers; from++)
		for (int to = 0; to < net->n_routers; to++) {
			if (from == to)
				continue;
			memset(want, 0, links * sizeof(*want));
			memset(got, 0, links * sizeof(*got));
			expect(net, from, to, want);
			cpl_static_indirect_sample(net, from, to, 1, packets,
			                           got);
			for (size_t l = 0; l < links; l++)
				sum += (got[l] - want[l]) * (got[l] - want[l]);
		}
	free(want);
	free(got);
	return sqrt(sum / (net->n_routers * (net->n_routers - 1)));
}

/* Four times the packets, half as far from the expectation. */
static void test_converges_to_the_expectation(void **state)
{
	for (int i = 0; i < 2; i++) {
		struct cpl_network *net = parse_network(machines[i]);
		double last = distance(net, 4);

		for (int packets = 16; packets <= 4096; packets *= 4) {
			double now = distance(net, packets);

			assert_number(last / now, 2, 0.1);
			last = now;
		}
		assert_true(last < 0.04);
		cpl_network_free(net);
	}
}

/* Traffic of all with all, where the closed form is the reference. */
static void test_close_to_the_closed_form(void **state)
{
	struct cpl_network *net = parse_network(machines[1]);
	const struct cpl_routing *closed = flow_routing(net, "SI");
	int n = net->n_routers, at = 0;
	size_t links = (size_t)net->n_links;
	double *want = calloc(links, sizeof(*want));
	double *got = calloc(links, sizeof(*got));
	void *scratch = malloc(closed->scratch_size(net));
	int *from = malloc((size_t)n * sizeof(*from));
	int *to = malloc((size_t)(n * n) * sizeof(*to));
	int64_t *row = malloc(((size_t)n + 1) * sizeof(*row));
	double *bytes = malloc((size_t)(n * n) * sizeof(*bytes));
	struct cpl_flows pairs = {n, from, row, to, bytes};
	struct cpl_routed routed = {0, 0};

	for (int a = 0; a < n; a++) {
		from[a] = a;
		row[a] = at;
		for (int b = 0; b < n; b++) {
			if (a == b)
				continue;
			to[at] = b;
			bytes[at++] = 1000;
			flow_routing(net, "SIS")->add(net, a, b, 1000, got);
		}
	}
	row[n] = at;
	closed->solve(net, &pairs, scratch, want, &routed);
	for (size_t l = 0; l < links; l++)
		assert_number(got[l] / want[l], 1, 0.15);
	free(want);
	free(got);
	free(scratch);
	free(from);
	free(to);
	free(row);
	free(bytes);
	cpl_network_free(net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_flow),
	        cmocka_unit_test(test_converges_to_the_expectation),
	        cmocka_unit_test(test_close_to_the_closed_form),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
