/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * No memory: every allocation of a simulation fails once, and must give an
 * error or the same times, and no leak (with sanitizers). failing_alloc.h has
 * the allocators.
 */
#include "unit.h"

#include "simulate_cases.h"
#include "trace_text.h"
#include "failing_alloc.h"

/* Ways of more links than a path has room for at first. */
#define LONG                                                                   \
	HEAD "\"type\": \"torus\", \"dims\": [200], \"nodes\": \"n[0-199]\"}"

/* More messages and routes than tables have buckets at first. */
static const char many[] = SIGNATURE(
        "1500", "\"pattern\": {\"type\": \"spread\", \"ranks\": 1500, "
                "\"degree\": [2, 2], \"bytes\": 48000, \"seed\": 3}");
static const char few[] = SIGNATURE(
        "8", "\"compute_time\": 1, \"traffic\": [[0, 1, 70000, 2], [1, 0, "
             "3000, 1], [2, 2, 10, 1], [3, 7, 90000, 1], [6, 1, 1, 1]]");

static const struct {
	const char *network, *signature;
	struct cpl_sim_options options;
	int at_least; /* allocations that fail it */
} run[] = {
        {DRAGONFLY, few, {.eager = 1000}, 20},
        {DRAGONFLY,
         few,
         {.class_latency = (const double[]){1, 2, 3, 4},
          .overhead = 1,
          .queue = CPL_SIM_QUEUE_BOTH,
          .inside = {{2, 1, 1e9}},
          .n_inside = 1},
         23},
        {PORTS("spread"), few, {.bins = 4}, 20},
        {RING, COLLECTIVE("allreduce", "ring", "8", "8e5"), {0}, 20},
        {STAR_OF("1500", "n[0-1499]"), many, {.eager = 1}, 40},
        {DRAGONFLY, few, {.level = &cpl_sim_packet, .eager = 1000}, 20},
        {RING,
         few,
         {.level = &cpl_sim_packet, .choice = &cpl_sim_adaptive},
         20},
        {LONG, few, {.level = &cpl_sim_packet, .choice = &cpl_sim_valiant}, 20},
};

static void exhaust(const struct cpl_sim_options *o,
                    const struct cpl_sim_job *job, int at_least)
{
	double seconds = 0;
	int failed = 0;

	left = -1;
	for (int n = -1;; n += n < 200 ? 1 : n / 10) {
		struct cpl_sim_result r;
		struct cpl_error err = {""};
		bool enough;
		int rc;

		left = n;
		rc = cpl_simulate(o, job, 1, &r, &err);
		enough = left >= 0;
		left = -1;
		if (n < 0) {
			assert_int_equal(rc, 0);
			seconds = r.seconds;
		} else if (rc == 0) {
			assert_true(r.seconds == seconds);
		} else {
			failed++;
			if (!strstr(err.text, "out of memory"))
				fail_msg("allocation %d: '%s'", n, err.text);
		}
		cpl_sim_result_free(&r);
		if (enough)
			break;
	}
	/* The allocators were really in the way. */
	assert_true(failed >= at_least);
}

static void no_memory(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(run) / sizeof(*run); i++) {
		struct cpl_network *net = parse_network(run[i].network);
		struct cpl_signature *sig = parse_signature(run[i].signature);
		struct cpl_sim_options o = sim_options(net, &run[i].options);
		int *node = malloc((size_t)sig->ranks * sizeof(*node));
		struct cpl_sim_job job = {.sig = sig, .rank_node = node};

		assert_non_null(node);
		for (int r = 0; r < sig->ranks; r++)
			node[r] = r;
		print_message("run %zu\n", i);
		exhaust(&o, &job, run[i].at_least);
		free(node);
		cpl_signature_free(sig);
		cpl_network_free(net);
	}
}

/* Collective calls of two patterns, any source, requests, uneven loops. */
static void no_memory_for_a_trace(void **state)
{
	struct cpl_network *net = parse_network(CHAIN);
	struct cpl_signature sig = {.name = "s", .ranks = 3};
	struct cpl_run_events *e = parse_trace(
	        "2[ 3/2[ Allreduce@1>1:10 ] ] 9[ Isend>1:1e6 ] Waitall\n"
	        "2[ 3/2[ Allreduce@1>2:10>0:10 ] ] 9[ Recv<any ]\n"
	        "2[ 3/2[ Allreduce@1>1:10 ] ] Put>0:5 Win_fence\n");
	struct cpl_sim_options o = sim_defaults(net);
	const int node[] = {0, 1, 2};

	(void)state;
	o.eager = 1;
	exhaust(&o,
	        &(struct cpl_sim_job){
	                .sig = &sig, .trace = e, .rank_node = node},
	        30);
	cpl_run_events_free(e);
	cpl_network_free(net);
}

/* The only event may be the one that there is no room for. */
static void an_event_is_lost(void **state)
{
	struct cpl_network *net = parse_network(CHAIN);
	struct cpl_signature *sig = parse_signature(
	        SIGNATURE("1", "\"compute_time\": 1, \"traffic\": []"));
	struct cpl_sim_options o = sim_defaults(net);
	const int node[] = {0};

	(void)state;
	exhaust(&o, &(struct cpl_sim_job){.sig = sig, .rank_node = node}, 10);
	cpl_signature_free(sig);
	cpl_network_free(net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(no_memory),
	        cmocka_unit_test(no_memory_for_a_trace),
	        cmocka_unit_test(an_event_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
