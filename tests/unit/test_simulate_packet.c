/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "simulate/packets.h"
#include "simulate_cases.h"

/* Of 1000 bytes: a microsecond on a link of 1 GB/s. */
#define US 1e-6
#define PACKETS                                                                \
	.level = &cpl_sim_packet, .packet = 1000, .buffer = 16000, .lanes = 1

struct closed {
	const char *what, *network, *signature;
	struct cpl_sim_options options;
	double us;
};

/* CHAIN: 1 us a packet between routers, 0.1 us to and from nodes. */
static const struct closed closed[] = {
        {"a packet over one link",
         CHAIN,
         SIGNATURE("2", "\"traffic\": [[0, 1, 1000, 1]]"),
         {PACKETS},
         0.1 + 1 + 0.1},
        {"with latencies of three links and two routers",
         CHAIN,
         SIGNATURE("2", "\"traffic\": [[0, 1, 1000, 1]]"),
         {PACKETS, .link_latency = 10 * US, .router_latency = 100 * US},
         1.2 + 30 + 200},
        {"with latencies by class",
         CHAIN,
         SIGNATURE("3", "\"traffic\": [[0, 2, 1000, 1]]"),
         {PACKETS, .class_latency = (const double[]){10 * US, 1000 * US}},
         2.2 + 20 + 2000},
        {"a part of a packet",
         CHAIN,
         SIGNATURE("2", "\"traffic\": [[0, 1, 500, 1]]"),
         {PACKETS},
         0.6},
        {"packets of a message follow each other",
         CHAIN,
         SIGNATURE("4", "\"traffic\": [[0, 3, 100000, 1]]"),
         {PACKETS},
         0.1 + 100 + 2 + 0.1},
        {"messages of a send have packets of their own",
         CHAIN,
         SIGNATURE("2", "\"traffic\": [[0, 1, 3000, 2]]"),
         {PACKETS},
         0.1 + 3 + 0.05},
        /* 5.4 less 1.8 three times is not 0, by its last digit. */
        {"messages of whole packets, whatever their last digits",
         CHAIN,
         SIGNATURE("2", "\"traffic\": [[0, 1, 5400, 1000]]"),
         {.level = &cpl_sim_packet, .packet = 1.8, .lanes = 1},
         0.00018 + 5.4 + 0.00018},
        {"one buffer: the next may come when one begins to leave",
         CHAIN,
         SIGNATURE("4", "\"traffic\": [[0, 3, 100000, 1]]"),
         {.level = &cpl_sim_packet, .packet = 1000, .lanes = 1},
         0.1 + 100 + 2 + 0.1},
        {"a large message asks first: two latencies",
         CHAIN,
         SIGNATURE("2", "\"traffic\": [[0, 1, 1000, 1]]"),
         {PACKETS, .eager = 999, .link_latency = 10 * US},
         1.2 + 30 + 60},
        /* The link between routers 1 and 2 has the packets of both. */
        {"one congested link",
         CHAIN,
         SIGNATURE("4", "\"traffic\": [[0, 3, 50000, 1], [1, 2, 50000, 1]]"),
         {PACKETS},
         0.1 + 100 + 1 + 0.1},
        /* The packet that goes on to the end is the second, or the last, of
         * six on the first link. */
        {"a node sends its messages in turns",
         CHAIN,
         SIGNATURE("4", "\"traffic\": [[0, 1, 5000, 1], [0, 3, 1000, 1]]"),
         {PACKETS},
         0.1 + 6 + 0.1},
        {"or one after the other",
         CHAIN,
         SIGNATURE("4", "\"traffic\": [[0, 1, 5000, 1], [0, 3, 1000, 1]]"),
         {PACKETS, .in_order = true},
         0.1 + 6 + 2 + 0.1},
        {"incast",
         STAR,
         SIGNATURE("6", "\"traffic\": [[1, 0, 9000, 1], [2, 0, 9000, 1], [3, "
                        "0, 9000, 1], [4, 0, 9000, 1], [5, 0, 9000, 1]]"),
         {PACKETS},
         1 + 45},
        {"allgather round a ring",
         RING,
         COLLECTIVE("allgather", "ring", "8", "4000"),
         {PACKETS},
         7 * (0.1 + 4 + 0.1)},
        {"all-to-all, pairwise",
         STAR,
         COLLECTIVE("alltoall", "pairwise", "6", "4000"),
         {PACKETS},
         5 * (4 + 1)},
};

static void closed_forms(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(closed) / sizeof(*closed); i++) {
		const struct closed *c = &closed[i];
		struct cpl_sim_result result =
		        simulate_text(c->network, c->signature, &c->options);

		print_message("%s\n", c->what);
		assert_float_equal(result.seconds / US, c->us, 1e-6);
		cpl_sim_result_free(&result);
	}
}

/* To the byte, where all packets are of one size and the paths of a pair divide
 * them. */
static void bytes_are_the_models(void **state)
{
	const struct cpl_sim_options o = {PACKETS};

	(void)state;
	for (size_t i = 0; i < N_CASES; i++)
		if (!sim_case[i].spread)
			compare_with_model(&sim_case[i], &o, 0);
}

/* Of as many packets as there may be, too. */
static void draws_are_below_1(void **state)
{
	struct cpl_flight flight = {.packets = INT64_C(1) << 53, .stride = 1};
	struct cpl_packets p = {.flight = &flight};
	struct cpl_packet packet = {.number = flight.packets - 1};

	(void)state;
	for (flight.key = 0; flight.key < 100; flight.key++)
		for (int i = 0; i < 4; i++) {
			double u = cpl_packet_draw(&p, &packet, i);

			assert_true(u >= 0 && u < 1);
		}
}

static const char *const networks[] = {
        TORUS,
        MESH,
        RING,
        DRAGONFLY,
        PORTS("nearest"),
        HEAD "\"type\": \"torus\", \"dims\": [5, 3], \"nodes\": \"n[0-14]\"}",
        HEAD "\"type\": \"torus\", \"dims\": [3, 2, 2, 2], \"nodes\": "
             "\"n[0-23]\"}",
        HEAD "\"type\": \"dragonfly\", \"groups\": 5, \"rows\": 1, "
             "\"columns\": 4, \"nodes_per_router\": 1, "
             "\"global_links_per_group_pair\": 1, \"nodes\": \"n[0-19]\"}",
        HEAD "\"type\": \"dragonfly+\", \"cells\": 3, \"leaves\": 2, "
             "\"spines\": 2, \"nodes_per_router\": 3, "
             "\"global_links_per_cell_pair\": 2, \"nodes\": \"n[0-17]\"}",
        HEAD "\"type\": \"hyperx\", \"dims\": [3, 4], \"nodes_per_router\": "
             "2, \"nodes\": \"n[0-23]\"}",
        HEAD "\"type\": \"fattree\", \"nodes_per_router\": 3, \"levels\": "
             "[{\"down\": 3, \"up\": 2}, {\"down\": 2, \"up\": 2}], "
             "\"nodes\": \"n[0-17]\"}",
        HEAD "\"type\": \"graph\", \"routers\": 7, \"nodes_per_router\": 2, "
             "\"links\": [[0,1],[1,2],[2,3],[3,4],[4,5],[5,6],[6,0],[0,3]], "
             "\"nodes\": \"n[0-13]\"}",
};
#define N_NETWORKS (sizeof(networks) / sizeof(*networks))
#define RUNS 10000

static int routings_of(const struct cpl_network *net,
                       const struct cpl_routing **out, int most)
{
	const struct cpl_routing *r;
	int n = 0;

	for (int i = 0; (r = cpl_routing_at(i)) && n < most; i++)
		if (r->add && !(r->flags & CPL_ROUTING_SAMPLED) &&
		    cpl_routing_takes(r, net))
			out[n++] = r;
	return n;
}

/* A few messages of each rank, some with more packets than there are buffers
 * on their way. Returns their bytes. */
static double random_messages(struct cpl_signature *sig, uint64_t seed,
                              int ranks)
{
	struct cpl_comm_entry entry[3 * 64];
	double bytes = 0;
	int n = 0;

	for (int r = 0; r < ranks; r++)
		for (int k = 0; k < 3; k++) {
			uint64_t i = (uint64_t)(3 * r + k);
			struct cpl_comm_entry *e = &entry[n++];

			e->from = r;
			e->to = (int)cpl_random_below(seed, 1, i,
			                              (uint64_t)ranks);
			e->bytes = (double)cpl_random_below(seed, 2, i, 9000);
			e->messages =
			        1 + (double)cpl_random_below(seed, 3, i, 2);
			bytes += e->to == r ? 0 : e->bytes;
		}
	cpl_comm_free(sig->phase->comm);
	sig->phase->comm = cpl_comm_build(ranks, entry, n, NULL);
	assert_non_null(sig->phase->comm);
	return bytes;
}

/* With one buffer a channel no run hangs, and all bytes arrive; packets of one
 * path arrive in their order. */
static void nothing_hangs(void **state)
{
	struct cpl_network *net[N_NETWORKS];
	struct cpl_signature *sig[N_NETWORKS];
	int64_t overtaken = 0;

	(void)state;
	for (size_t i = 0; i < N_NETWORKS; i++) {
		char text[256];

		net[i] = parse_network(networks[i]);
		assert_true(net[i]->n_nodes <= 64);
		snprintf(text, sizeof(text), SIGNATURE("%d", "\"traffic\": []"),
		         net[i]->n_nodes);
		sig[i] = parse_signature(text);
	}
	for (uint64_t run = 0; run < RUNS; run++) {
		size_t i = run % N_NETWORKS;
		const struct cpl_routing *routing[16];
		int n = routings_of(net[i], routing, 16);
		uint64_t draw = cpl_random(7, 7, run);
		const struct cpl_sim_routing *choice =
		        (const void *)cpl_registry_at(&cpl_sim_routings,
		                                      (int)(draw % 6));
		struct cpl_sim_options o = {
		        .level = &cpl_sim_packet,
		        .packet = 1000,
		        .lanes = 1 + (int)(draw / 8 % 2),
		        .buffer = draw / 16 % 8 ? 0 : 3000,
		        .eager = draw / 128 % 2 ? 2000 : INFINITY,
		        .link_latency = draw / 256 % 2 ? 1e-3 : 0,
		        .choice = choice,
		        .routing = routing[draw / 1024 % (uint64_t)n],
		        .seed = run};
		double bytes = random_messages(sig[i], run, net[i]->n_nodes);
		struct cpl_sim_result r;
		double in = 0, out = 0;

		r = simulate_on(net[i], sig[i], &o);
		for (int64_t c = 0; c < cpl_network_port_cables(net[i]); c++) {
			in += r.bytes.injection[c];
			out += r.bytes.ejection[c];
		}
		assert_float_equal(in, bytes, 1e-6);
		assert_float_equal(out, bytes, 1e-6);
		if (choice == &cpl_sim_static &&
		    o.routing == &cpl_routing_dimension_order)
			assert_int_equal(r.overtaken, 0);
		overtaken += r.overtaken;
		cpl_sim_result_free(&r);
	}
	/* Where packets have several paths some do. */
	assert_true(overtaken > 0);
	for (size_t i = 0; i < N_NETWORKS; i++) {
		cpl_signature_free(sig[i]);
		cpl_network_free(net[i]);
	}
}

/* Two groups, all to the other one: minimal ways have one link, the others
 * have many. */
static void adaptive_routings_adapt(void **state)
{
	static const char network[] =
	        HEAD "\"type\": \"dragonfly\", \"groups\": 5, \"rows\": 1, "
	             "\"columns\": 4, \"nodes_per_router\": 2, "
	             "\"global_links_per_group_pair\": 1, "
	             "\"adaptive\": {\"threshold\": 0}, \"nodes\": "
	             "\"n[0-39]\"}";
	const struct cpl_sim_routing *choice[] = {
	        &cpl_sim_static, &cpl_sim_valiant, &cpl_sim_ugal_local,
	        &cpl_sim_ugal_global, &cpl_sim_progressive};
	double seconds[5], near[5];
	char far_text[4096], near_text[4096];
	size_t n = 0, m = 0;

	(void)state;
	for (int r = 0; r < 40; r++) {
		n += (size_t)snprintf(far_text + n, sizeof(far_text) - n,
		                      "%s[%d, %d, 200000, 1]", r ? ", " : "", r,
		                      (r + 8) % 40);
		m += (size_t)snprintf(near_text + m, sizeof(near_text) - m,
		                      "%s[%d, %d, 200000, 1]", r ? ", " : "", r,
		                      r / 8 * 8 + (r + 2) % 8);
	}
	for (int i = 0; i < 5; i++) {
		struct cpl_sim_options o = {PACKETS, .choice = choice[i]};
		char text[8192];
		struct cpl_sim_result r;

		snprintf(text, sizeof(text),
		         SIGNATURE("40", "\"traffic\": [%s]"), far_text);
		r = simulate_text(network, text, &o);
		seconds[i] = r.seconds;
		cpl_sim_result_free(&r);
		snprintf(text, sizeof(text),
		         SIGNATURE("40", "\"traffic\": [%s]"), near_text);
		r = simulate_text(network, text, &o);
		near[i] = r.seconds;
		cpl_sim_result_free(&r);
	}
	/* 8 nodes share one global link; over all others they have 3. */
	assert_true(seconds[1] < 0.75 * seconds[0]);
	for (int i = 2; i < 5; i++) {
		assert_true(seconds[i] < 0.75 * seconds[0]);
		assert_true(near[i] < 0.75 * near[1]);
	}
}

/* On groups progressive-adaptive is what the traffic model says it is. */
#define GROUPS_OF(type, sizes, bandwidth, nodes)                               \
	HEAD "\"type\": \"" type "\", " sizes ", \"bandwidth\": {" bandwidth    \
	     "\"global\": 12e9, \"injection\": 12e9}, \"nodes\": \"n[0-" nodes \
	     "]\"}"

static const struct {
	const char *text;
	int group; /* nodes */
	int dim[3];
} grouped[] = {
        {GROUPS_OF("dragonfly",
                   "\"groups\": 9, \"rows\": 1, \"columns\": 4, "
                   "\"nodes_per_router\": 2, \"global_wiring\": \"palmtree\"",
                   "\"row\": 12e9, ", "71"),
         8,
         {3, 4, 6}},
        {GROUPS_OF("dragonfly",
                   "\"groups\": 8, \"rows\": 3, \"columns\": 4, "
                   "\"nodes_per_router\": 2, "
                   "\"global_links_per_group_pair\": 3",
                   "\"row\": 8e9, \"column\": 16e9, ", "191"),
         24,
         {4, 6, 8}},
        {GROUPS_OF("dragonfly+",
                   "\"cells\": 6, \"leaves\": 4, \"spines\": 4, "
                   "\"nodes_per_router\": 4, "
                   "\"global_links_per_cell_pair\": 4",
                   "\"up\": 12e9, \"down\": 12e9, ", "95"),
         16,
         {4, 4, 6}},
};

enum { UNIFORM, STENCIL, GROUP_TO_GROUP, PATTERNS };
#define MAX_MESSAGES 2048

/* Who sends to whom: how many messages. */
static int partners(int machine, int pattern, int nodes, int (*pair)[2])
{
	const int *dim = grouped[machine].dim;
	int n = 0;

	for (int r = 0; r < nodes; r++) {
		int at[3] = {r / (dim[1] * dim[2]), r / dim[2] % dim[1],
		             r % dim[2]};

		for (int i = 0; i < 10 && pattern == UNIFORM; i++) {
			uint64_t draw = cpl_random_at(7, (uint64_t)r * 10 +
			                                         (uint64_t)i);

			pair[n][0] = r;
			pair[n][1] = (int)(draw % (uint64_t)nodes);
			n += pair[n][1] != r;
		}
		for (int i = 0; i < 6 && pattern == STENCIL; i++) {
			int to[3] = {at[0], at[1], at[2]}, d = i / 2;

			to[d] = (to[d] + (i % 2 ? 1 : dim[d] - 1)) % dim[d];
			pair[n][0] = r;
			pair[n++][1] = (to[0] * dim[1] + to[1]) * dim[2] + to[2];
		}
		if (pattern == GROUP_TO_GROUP && r < grouped[machine].group)
			for (int i = 0; i < 4; i++) {
				pair[n][0] = r;
				pair[n++][1] = r + grouped[machine].group;
			}
	}
	return n;
}

struct beside {
	double r, total, largest; /* model / simulated */
};

static struct beside compare_links(const struct cpl_network *net,
                                   const double *model, const double *sim)
{
	double sum[2] = {0}, most[2] = {0}, mean[2], xy = 0, xx = 0, yy = 0;

	for (int64_t l = 0; l < net->n_links; l++) {
		sum[0] += model[l];
		sum[1] += sim[l];
		most[0] = fmax(most[0], model[l]);
		most[1] = fmax(most[1], sim[l]);
	}
	mean[0] = sum[0] / (double)net->n_links;
	mean[1] = sum[1] / (double)net->n_links;
	for (int64_t l = 0; l < net->n_links; l++) {
		xy += (model[l] - mean[0]) * (sim[l] - mean[1]);
		xx += (model[l] - mean[0]) * (model[l] - mean[0]);
		yy += (sim[l] - mean[1]) * (sim[l] - mean[1]);
	}
	return (struct beside){xy / sqrt(xx * yy), sum[0] / sum[1],
	                       most[0] / most[1]};
}

static struct beside run_beside(int machine, int pattern, double bytes)
{
	static int pair[MAX_MESSAGES][2];
	static struct cpl_comm_entry entry[MAX_MESSAGES];
	static char list[48 * MAX_MESSAGES], text[48 * MAX_MESSAGES + 512];
	struct cpl_network *net = parse_network(grouped[machine].text);
	struct cpl_workload *w;
	struct cpl_error err = {""};
	struct cpl_sim_options o = {.level = &cpl_sim_packet,
	                            .choice = &cpl_sim_progressive,
	                            .packet = bytes / 16,
	                            .buffer = 65536,
	                            .seed = 1};
	int n = partners(machine, pattern, net->n_nodes, pair), node[256];
	struct cpl_signature *sig;
	struct cpl_sim_result sim;
	struct cpl_comm *comm;
	struct beside b;
	size_t at = 0;

	assert_true(n <= MAX_MESSAGES && net->n_nodes <= 256);
	for (int i = 0; i < net->n_nodes; i++)
		node[i] = i;
	for (int i = 0; i < n; i++) {
		entry[i] = (struct cpl_comm_entry){pair[i][0], pair[i][1], bytes,
		                                   1};
		at += (size_t)snprintf(list + at, sizeof(list) - at,
		                       "%s[%d, %d, %.0f, 1]", i ? ", " : "",
		                       pair[i][0], pair[i][1], bytes);
	}
	snprintf(text, sizeof(text),
	         "{\"format\": \"commplace-signature\", \"version\": 1, "
	         "\"name\": \"s\", \"ranks\": %d, \"phases\": [{\"name\": "
	         "\"p\", \"weight\": 1, \"traffic\": [%s]}]}",
	         net->n_nodes, list);
	sig = parse_signature(text);
	sim = simulate_on(net, sig, &o);
	comm = cpl_comm_build(net->n_nodes, entry, n, &err);
	w = cpl_workload_new(net, 1, &err);
	assert_int_equal(
	        cpl_workload_add(
	                w,
	                &(struct cpl_job){
	                        .routing = cpl_routing_find(net, "PA", &err),
	                        .comm = comm,
	                        .node = node},
	                &err),
	        0);
	assert_int_equal(cpl_workload_solve(w, &err), 0);
	b = compare_links(net, cpl_workload_load(w)->link, sim.bytes.link);
	print_message("machine %d pattern %d %.0f bytes: r %.3f total %.3f "
	              "largest %.3f\n",
	              machine, pattern, bytes, b.r, b.total, b.largest);
	cpl_workload_free(w);
	cpl_comm_free(comm);
	cpl_sim_result_free(&sim);
	cpl_signature_free(sig);
	cpl_network_free(net);
	return b;
}

static void progressive_is_the_models(void **state)
{
	const double bytes[] = {16384, 65536};

	(void)state;
	for (int m = 0; m < (int)(sizeof(grouped) / sizeof(*grouped)); m++)
		for (int pattern = 0; pattern < PATTERNS; pattern++)
			for (int i = 0; i < 2; i++) {
				struct beside b =
				        run_beside(m, pattern, bytes[i]);

				assert_true(b.r >= 0.9);
				assert_true(b.total >= 0.8 && b.total <= 1.25);
				assert_true(b.largest >= 0.8 &&
				            b.largest <= 1.25);
			}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(closed_forms),
	        cmocka_unit_test(bytes_are_the_models),
	        cmocka_unit_test(draws_are_below_1),
	        cmocka_unit_test(nothing_hangs),
	        cmocka_unit_test(adaptive_routings_adapt),
	        cmocka_unit_test(progressive_is_the_models),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
