/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Accelerators, domains and rails: where each message goes, by bytes worked out
 * by hand on two domains of two nodes of two accelerators; and that searches and
 * seconds, which take hosts as a whole, agree where ranks are alike.
 */
#include <math.h>

#include "unit.h"

#include "mapping/mappers.h"
#include "mapping/quick.h"
#include "network_text.h"
#include "number.h"
#include "traffic/distance.h"
#include "traffic/moves.h"
#include "traffic/times_internal.h"
#include "traffic/workload.h"

#define HOSTS 4
#define RANKS 8 /* two a host */

/* Leaf p has port p of every node; one spine, router 2. */
#define MACHINE                                                                \
	"{\"format\": \"commplace-network\", \"version\": 1, \"type\": "       \
	"\"graph\", \"routers\": 3, \"node_routers\": 2, \"nodes_per_router\"" \
	": 4, \"links\": [[0, 2], [1, 2]], \"nodes\": \"n[0-3]\", "
#define RAILS "\"ports\": {\"count\": 2}, "

/* Four nodes with four ports on four leaves: two rails of two planes each. */
#define PLANES                                                                 \
	"{\"format\": \"commplace-network\", \"version\": 1, \"type\": "       \
	"\"graph\", \"routers\": 6, \"node_routers\": 4, \"nodes_per_router\"" \
	": 4, \"links\": [[0, 4], [2, 4], [1, 5], [3, 5], [4, 5]], "           \
	"\"nodes\": \"n[0-3]\", \"ports\": {\"count\": 4}, "

struct message {
	int from, to;
	double bytes;
};

/* In a node; in a domain, to each accelerator; on the own rail; to another. */
static const struct message messages[] = {
        {0, 1, 10}, {0, 2, 20}, {1, 2, 30},    {0, 4, 100},
        {0, 5, 1000}, {7, 3, 400}, {6, 3, 7000},
};
#define N_MESSAGES (sizeof(messages) / sizeof(*messages))

static const struct {
	const char *name, *text;
	double node, domain, network, hop_bytes;
	const char *loads;
} cases[] = {
        {"rails", MACHINE RAILS "\"accelerators\": {\"per_node\": 2, "
         "\"node_bandwidth\": 2, \"domain\": {\"nodes\": 2, \"bandwidth\": 4}, "
         "\"affinity\": [0, 1]}}",
         10, 50, 8500, 16000,
         "0-2 8000, 2-1 8000, "
         "inj n0:0 1100, inj n3:0 7000, inj n3:1 400, "
         "ej n1:1 7400, ej n2:0 100, ej n2:1 1000, "
         "node_out n0:0 10, node_in n0:1 10, "
         "domain_out n0:0 20, domain_out n0:1 30, domain_in n1:0 50, "},
        {"PXN", MACHINE RAILS "\"accelerators\": {\"per_node\": 2, "
         "\"node_bandwidth\": 2, \"domain\": {\"nodes\": 2, \"bandwidth\": 4}, "
         "\"affinity\": [[0], [1]], \"pxn\": true}}",
         10, 50, 8500, 0,
         "inj n0:0 100, inj n0:1 1000, inj n3:1 7400, "
         "ej n1:1 7400, ej n2:0 100, ej n2:1 1000, "
         "node_out n0:0 1010, node_out n3:0 7000, "
         "node_in n0:1 1010, node_in n3:1 7000, "
         "domain_out n0:0 20, domain_out n0:1 30, domain_in n1:0 50, "},
        {"PXN, nodes inside by the domain's links",
         MACHINE RAILS "\"accelerators\": {\"per_node\": 2, \"domain\": "
         "{\"nodes\": [\"n[2-3]\", \"n[0-1]\"], \"bandwidth\": 4}, "
         "\"affinity\": [0, 1], \"pxn\": true}}",
         10, 50, 8500, 0,
         "inj n0:0 100, inj n0:1 1000, inj n3:1 7400, "
         "ej n1:1 7400, ej n2:0 100, ej n2:1 1000, "
         "domain_out n0:0 1030, domain_out n0:1 30, domain_out n3:0 7000, "
         "domain_in n0:1 1010, domain_in n1:0 50, domain_in n3:1 7000, "},
        {"a domain of other nodes",
         MACHINE RAILS "\"accelerators\": {\"per_node\": 2, \"domain\": "
         "{\"nodes\": [\"n0,n2\"]}, \"affinity\": [0, 1]}}",
         10, 1100, 7450, 14060,
         "0-2 7000, 2-1 7000, 1-2 30, 2-0 30, "
         "inj n0:0 20, inj n0:1 30, inj n3:0 7000, inj n3:1 400, "
         "ej n1:0 50, ej n1:1 7400, "
         "domain_out n0:0 1110, domain_in n0:1 10, domain_in n2:0 100, "
         "domain_in n2:1 1000, "},
        {"all over one port",
         MACHINE "\"accelerators\": {\"per_node\": 1, \"domain\": {\"nodes\": "
         "2}}, \"ports\": {\"count\": 2, \"use\": \"first\"}}",
         10, 50, 8500, 0,
         "inj n0:0 1100, inj n3:0 7400, ej n1:0 7400, ej n2:0 1100, "
         "domain_out n0:0 50, domain_in n1:0 50, "},
        {"no domains", MACHINE RAILS "\"accelerators\": {\"per_node\": 2, "
         "\"node_bandwidth\": 2, \"affinity\": [0, 1], \"pxn\": true}}",
         10, 0, 8550, 0,
         "inj n0:0 150, inj n0:1 1000, inj n3:1 7400, "
         "ej n1:0 50, ej n1:1 7400, ej n2:0 100, ej n2:1 1000, "
         "node_out n0:0 1010, node_out n0:1 30, node_out n3:0 7000, "
         "node_in n0:0 30, node_in n0:1 1010, node_in n3:1 7000, "},
        {"two planes", PLANES "\"accelerators\": {\"per_node\": 2, "
         "\"domain\": {\"nodes\": 2}, \"affinity\": [[0, 1], [2, 3]]}}",
         10, 50, 8500, 16000,
         "0-4 4000, 4-2 4000, 1-5 4000, 5-3 4000, "
         "inj n0:0 550, inj n0:1 550, inj n3:0 3500, inj n3:1 3500, "
         "inj n3:2 200, inj n3:3 200, "
         "ej n1:2 3700, ej n1:3 3700, ej n2:0 50, ej n2:1 50, "
         "ej n2:2 500, ej n2:3 500, "
         "domain_out n0:0 30, domain_out n0:1 30, domain_in n0:1 10, "
         "domain_in n1:0 50, "},
};
#define N_CASES (sizeof(cases) / sizeof(*cases))

static struct cpl_comm *make_comm(const struct message *message, size_t n)
{
	struct cpl_comm_entry entry[RANKS * RANKS];
	struct cpl_error err = {""};

	for (size_t i = 0; i < n; i++)
		entry[i] = (struct cpl_comm_entry){message[i].from,
		                                   message[i].to,
		                                   message[i].bytes, 1};
	return cpl_comm_build(RANKS, entry, (int64_t)n, &err);
}

static void find_nodes(const struct cpl_network *net, int node[HOSTS])
{
	for (int h = 0; h < HOSTS; h++) {
		char name[8];

		snprintf(name, sizeof(name), "n%d", h);
		node[h] = cpl_network_node(net, name);
		assert_true(node[h] >= 0);
	}
}

#define ADD(...) n += (size_t)snprintf(text + n, size - n, __VA_ARGS__)

static size_t tell_nodes(const struct cpl_network *net, const char *name,
                         const double *value, int each, char *text, size_t n,
                         size_t size)
{
	for (int64_t i = 0; i < (int64_t)net->n_nodes * each; i++)
		if (value[i] > 0)
			ADD("%s %s:%d %.10g, ", name, net->node_name[i / each],
			    (int)(i % each), value[i]);
	return n;
}

static void tell(const struct cpl_network *net, const struct cpl_load *load,
                 char *text, size_t size)
{
	static const char *const out[] = {"node_out", "domain_out"};
	static const char *const in[] = {"node_in", "domain_in"};
	int each = net->accelerators.per_node;
	size_t n = 0;

	*text = '\0';
	for (int64_t l = 0; l < net->n_links; l++)
		if (load->link[l] > 0)
			ADD("%d-%d %.10g, ", net->link_from[l],
			    net->link_to[l], load->link[l]);
	n = tell_nodes(net, "inj", load->injection, net->n_ports, text, n,
	               size);
	n = tell_nodes(net, "ej", load->ejection, net->n_ports, text, n, size);
	for (int k = 0; k < CPL_INSIDES; k++) {
		n = tell_nodes(net, out[k], load->out[k], each, text, n, size);
		n = tell_nodes(net, in[k], load->in[k], each, text, n, size);
	}
}

/* Text has the same parts as `want`, in any order. */
static void assert_parts(const char *name, const char *text, const char *want)
{
	char copy[2048], *rest = copy;

	if (strlen(text) != strlen(want))
		fail_msg("%s: %s\nnot %s", name, text, want);
	snprintf(copy, sizeof(copy), "%s", want);
	while (*rest) {
		char *end = strstr(rest, ", ");
		char part[64];

		assert_non_null(end);
		snprintf(part, sizeof(part), "%.*s", (int)(end + 2 - rest),
		         rest);
		if (!strstr(text, part))
			fail_msg("%s: %s\nlacks %s", name, text, part);
		rest = end + 2;
	}
}

static struct cpl_workload *put(const struct cpl_network *net,
                                const struct cpl_comm *comm, const int *node,
                                int each, bool hosts)
{
	struct cpl_error err = {""};
	struct cpl_workload *w = cpl_workload_new(net, 1, &err);
	struct cpl_job job = {.routing = cpl_routing_find(net, NULL, &err),
	                      .comm = comm,
	                      .node = node,
	                      .ranks_per_node = each,
	                      .of_hosts = hosts};

	assert_non_null(w);
	assert_int_equal(cpl_workload_add(w, &job, &err), 0);
	assert_int_equal(cpl_workload_solve(w, &err), 0);
	return w;
}

static void test_bytes(void **state)
{
	struct cpl_comm *comm = make_comm(messages, N_MESSAGES);

	for (size_t i = 0; i < N_CASES; i++) {
		struct cpl_network *net = parse_network(cases[i].text);
		const struct cpl_job_sums *sums;
		struct cpl_workload *w;
		int node[HOSTS];
		char text[2048];

		find_nodes(net, node);
		w = put(net, comm, node, 2, false);
		sums = cpl_workload_sums(w, 0);
		tell(net, cpl_workload_load(w), text, sizeof(text));
		assert_parts(cases[i].name, text, cases[i].loads);
		assert_number(sums->bytes_in_node, cases[i].node, 0);
		assert_number(sums->bytes_in_domain, cases[i].domain, 0);
		assert_number(sums->bytes_on_network, cases[i].network, 0);
		assert_number(sums->bytes, 8560, 0);
		assert_number(sums->hop_bytes, cases[i].hop_bytes, 0);
		cpl_workload_free(w);
		cpl_network_free(net);
	}
	cpl_comm_free(comm);
}

/* All pairs of ranks, so that hosts as a whole are what their ranks are. */
static struct cpl_comm *all_to_all(void)
{
	struct message message[RANKS * RANKS];
	size_t n = 0;

	for (int a = 0; a < RANKS; a++)
		for (int b = 0; b < RANKS; b++)
			if (a != b)
				message[n++] = (struct message){a, b, 16};
	return make_comm(message, n);
}

static struct cpl_comm *of_hosts(const struct cpl_comm *comm)
{
	struct cpl_comm_entry entry[RANKS * RANKS];
	struct cpl_error err = {""};
	int64_t n = 0;

	for (int a = 0; a < RANKS; a++)
		for (int64_t e = comm->row[a]; e < comm->row[a + 1]; e++)
			if (comm->to[e] / 2 != a / 2)
				entry[n++] = (struct cpl_comm_entry){
				        a / 2, comm->to[e] / 2, comm->bytes[e],
				        1};
	return cpl_comm_build(HOSTS, entry, n, &err);
}

static void compare_times(const struct cpl_network *net,
                          const struct cpl_comm *comm, const int *node,
                          const struct cpl_load *want, int exact)
{
	struct cpl_phase phase = {.weight = 1, .comm = (struct cpl_comm *)comm};
	struct cpl_error err = {""};
	struct cpl_times_space *space = cpl_times_space_new(
	        net, cpl_routing_find(net, NULL, &err), &err);
	struct cpl_times *times = cpl_times_open(&phase, 1, RANKS, &err);
	struct cpl_times_result result;
	struct cpl_load load;

	assert_int_equal(cpl_load_init(&load, net, &err), 0);
	times->exact = exact;
	assert_int_equal(cpl_times_order(times, NULL, 2, HOSTS, &err), 0);
	assert_int_equal(cpl_times_put(times, space, node, &err), 0);
	cpl_times_add(times, times->period, &load);
	for (int64_t i = 0; i < cpl_times_links(net); i++) {
		/* What passes an accelerator on its way out is not known. */
		if (i >= cpl_times_inside(net, CPL_INSIDE_NODE) &&
		    net->accelerators.pxn)
			break;
		if (fabs(load.link[i] - want->link[i]) > 1e-9)
			fail_msg("link %d: %g, not %g", (int)i, load.link[i],
			         want->link[i]);
	}
	cpl_times_judge(times, NULL, false, &result);
	assert_true(result.seconds > 0);
	assert_true(result.exact == (exact > 0));
	cpl_load_free(&load);
	cpl_times_close(times);
	cpl_times_space_free(space);
}

static void test_alike(void **state)
{
	struct cpl_comm *comm = all_to_all(), *hosts = of_hosts(comm);

	for (size_t i = 0; i < N_CASES; i++) {
		struct cpl_network *net = parse_network(cases[i].text);
		const struct cpl_routing *routing;
		struct cpl_error err = {""};
		const struct cpl_load *want;
		struct cpl_workload *w, *whole;
		struct cpl_moves moves;
		int node[HOSTS];

		find_nodes(net, node);
		routing = cpl_routing_find(net, NULL, &err);
		w = put(net, comm, node, 2, false);
		want = cpl_workload_load(w);
		whole = put(net, hosts, node, 1, true);
		for (int64_t l = 0; l < cpl_times_inside(net, 0); l++)
			assert_number(cpl_workload_load(whole)->link[l],
			              want->link[l], 1e-9);
		for (int64_t a = 0; a < net->accelerators.n; a++)
			assert_number(cpl_workload_load(whole)
			                      ->out[CPL_INSIDE_DOMAIN][a],
			              want->out[CPL_INSIDE_DOMAIN][a],
			              isfinite(net->accelerators.bandwidth
			                               [CPL_INSIDE_NODE])
			                      ? 1e-9
			                      : 16);
		assert_int_equal(cpl_moves_init(&moves, net, routing, node,
		                                HOSTS, NULL, &err),
		                 0);
		assert_int_equal(
		        cpl_moves_job(&moves, hosts, node, false, &err), 0);
		for (int64_t l = 0; l < net->n_links; l++)
			assert_number(moves.load[l], want->link[l], 1e-9);
		assert_number(moves.hop_bytes,
		              cpl_workload_sums(w, 0)->hop_bytes, 1e-9);
		cpl_moves_free(&moves);
		compare_times(net, comm, node, want, 1000);
		compare_times(net, comm, node, want, 0);
		cpl_workload_free(whole);
		cpl_workload_free(w);
		cpl_network_free(net);
	}
	cpl_comm_free(hosts);
	cpl_comm_free(comm);
}

/* Two halves of a job talk among themselves: each is to have its domain. */
static void test_decide(void **state)
{
	struct message message[RANKS * RANKS];
	size_t n = 0;
	struct cpl_network *net = parse_network(cases[0].text);
	struct cpl_error err = {""};
	struct cpl_comm *comm;
	static const int slots[HOSTS] = {2, 2, 2, 2};
	struct cpl_map_request map = {.n_hosts = HOSTS, .slots = slots};
	struct cpl_map_result r;
	struct cpl_job job = {.routing = NULL};
	int node[HOSTS];
	struct cpl_workload *w;

	for (int a = 0; a < RANKS; a++)
		for (int b = 0; b < RANKS; b++)
			if (a != b && a / 2 % 2 == b / 2 % 2)
				message[n++] = (struct message){a, b, 16};
	comm = make_comm(message, n);
	find_nodes(net, node);
	w = put(net, comm, node, 2, false);
	assert_number(cpl_workload_sums(w, 0)->bytes_in_domain, 0, 0);
	cpl_workload_free(w);
	map.net = net;
	map.routing = job.routing = cpl_routing_find(net, NULL, &err);
	map.comm = job.comm = comm;
	map.host = job.node = node;
	assert_int_equal(cpl_map(&cpl_mapper_quick, &map, &r, &err), 0);
	job.rank_host = r.rank_host;
	w = cpl_workload_new(net, 1, &err);
	assert_int_equal(cpl_workload_add(w, &job, &err), 0);
	assert_number(cpl_workload_sums(w, 0)->bytes_on_network, 0, 0);
	assert_number(r.sums_after.hop_bytes, 0, 0);
	cpl_workload_free(w);
	cpl_map_result_free(&r);
	cpl_comm_free(comm);
	cpl_network_free(net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_bytes),
	        cmocka_unit_test(test_alike),
	        cmocka_unit_test(test_decide),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
