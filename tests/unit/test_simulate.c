/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"
#include <math.h>

#include "base/random.h"
#include "network_text.h"
#include "signature/rounds.h"
#include "signature/rows.h"
#include "simulate/events.h"
#include "simulate/latencies.h"
#include "simulate/maxmin.h"
#include "simulate_cases.h"
#include "traffic/workload.h"

static void events_come_in_order(void **state)
{
	enum { N = 20000 };
	struct cpl_events events = {0};
	static double time[N];
	struct cpl_event event;
	double last = 0;
	int n = 0, taken = 0;
	int64_t same = -1;

	(void)state;
	while (taken < N) {
		/* Few different times, so that many are equal. */
		while (n < N && (n < 100 || cpl_random(1, 1, n) % 2)) {
			time[n] = last + (double)(cpl_random(1, 2, n) % 50) / 7;
			cpl_events_add(&events, time[n], 3, (uint32_t)n);
			n++;
		}
		if (!cpl_events_take(&events, &event)) {
			assert_int_equal(taken, n);
			if (n == N)
				break;
			time[n] = last;
			cpl_events_add(&events, last, 3, (uint32_t)n);
			n++;
			continue;
		}
		assert_int_equal(event.kind, 3);
		assert_true(cpl_event_time(event) == time[event.item]);
		assert_true(cpl_event_time(event) >= last);
		if (cpl_event_time(event) == last)
			assert_true(event.item > same);
		same = event.item;
		last = cpl_event_time(event);
		taken++;
		if (taken % 2 && n < N) {
			time[n] = last + (double)(cpl_random(1, 4, n) % 9);
			cpl_events_add(&events, time[n], 3, (uint32_t)n);
			n++;
		}
	}
	assert_false(events.failed);
	cpl_events_free(&events);
}

static void minus_zero_is_no_later(void **state)
{
	struct cpl_events events = {0};
	struct cpl_event event;

	(void)state;
	cpl_events_add(&events, -0.0, 0, 1);
	cpl_events_add(&events, 0.0, 0, 2);
	cpl_events_add(&events, 1.0, 0, 3);
	for (uint32_t i = 1; i <= 3; i++) {
		assert_true(cpl_events_take(&events, &event));
		assert_int_equal(event.item, i);
	}
	cpl_events_free(&events);
}

static void quantiles_are_of_narrow_bins(void **state)
{
	static struct cpl_latencies l;

	(void)state;
	assert_true(cpl_latencies_quantile(&l, 0.5) == 0);
	for (int i = 1; i <= 1000; i++)
		cpl_latencies_add(&l, i * 1e-6, 1);
	assert_int_equal(l.n, 1000);
	assert_true(l.min == 1e-6 && l.max == 1000 * 1e-6);
	for (int i = 1; i < 100; i++) {
		double q = cpl_latencies_quantile(&l, i / 100.0);

		assert_true(q >= i * 1e-5 * (1 - 1e-9));
		assert_true(q <= i * 1e-5 * 1.01);
	}
	assert_true(cpl_latencies_quantile(&l, 1) == l.max);
	cpl_latencies_add(&l, 0, 3000);
	assert_true(cpl_latencies_quantile(&l, 0.5) <= 0x1p-50);
	cpl_latencies_add(&l, 1e20, 1);
	assert_true(cpl_latencies_quantile(&l, 1) == 1e20);
}

/* No flow can have more without another with no more having less: each has a
 * full link on which nobody has a higher rate. */
static void assert_fair(struct cpl_maxmin_route *const *route, int n,
                        const double *bandwidth, int n_links)
{
	double used[64] = {0}, top[64] = {0};

	for (int i = 0; i < n; i++)
		for (int k = 0; k < route[i]->n; k++) {
			int l = route[i]->share[k].link;

			used[l] += route[i]->rate * route[i]->share[k].part *
			           route[i]->flows;
			if (route[i]->rate > top[l])
				top[l] = route[i]->rate;
		}
	for (int l = 0; l < n_links; l++)
		assert_true(used[l] <= bandwidth[l] * (1 + 1e-9));
	for (int i = 0; i < n; i++) {
		bool fair = false;

		for (int k = 0; k < route[i]->n; k++) {
			int l = route[i]->share[k].link;

			fair = fair ||
			       (used[l] >= bandwidth[l] * (1 - 1e-9) &&
			        route[i]->rate >= top[l] * (1 - 1e-9));
		}
		assert_true(fair);
	}
}

/* Some flows end, and some begin. Returns the lowest rate of those that end. */
static double change_flows(struct cpl_maxmin_route **list, int *n, uint64_t draw)
{
	double least = INFINITY;

	for (uint64_t i = 0; i < 3 && *n > 1; i++) {
		int at = (int)cpl_random_below(draw, 5, i, (uint64_t)*n);

		least = list[at]->rate < least ? list[at]->rate : least;
		if (!--list[at]->flows)
			list[at] = list[--*n];
	}
	for (uint64_t i = 0; i < draw % 3; i++) {
		int at = (int)cpl_random_below(draw, 6, i, (uint64_t)*n);

		list[at]->flows++;
		list[at]->fresh = true;
	}
	return least;
}

/* At once, and as flows end and begin. */
static void shares_are_max_min_fair(void **state)
{
	enum { LINKS = 30, ROUTES = 60 };
	struct cpl_error err = {""};

	(void)state;
	for (uint64_t seed = 1; seed <= 300; seed++) {
		double bandwidth[LINKS], least = 0;
		struct cpl_maxmin_route route[ROUTES], *list[ROUTES];
		struct cpl_share share[ROUTES][5];
		struct cpl_maxmin m;
		int n = ROUTES;

		for (int l = 0; l < LINKS; l++)
			bandwidth[l] =
			        1 + (double)cpl_random_below(seed, 1, l, 9);
		for (int i = 0; i < ROUTES; i++) {
			route[i] = (struct cpl_maxmin_route){
			        .n = 1 + (int)cpl_random_below(seed, 2, i, 5),
			        .share = share[i],
			        .fresh = true,
			        .flows = 1 +
			                 (int)cpl_random_below(seed, 3, i, 3)};
			list[i] = &route[i];
			for (int k = 0; k < route[i].n; k++)
				share[i][k] = (struct cpl_share){
				        (int)((cpl_random(seed, 4, i) + 7 * k) %
				              LINKS),
				        k % 2 ? 0.5 : 1};
		}
		assert_int_equal(cpl_maxmin_init(&m, LINKS, bandwidth, &err),
		                 0);
		for (uint64_t again = 0; again < 25; again++) {
			assert_int_equal(
			        cpl_maxmin_solve(&m, list, n, least, &err), 0);
			assert_fair(list, n, bandwidth, LINKS);
			least = change_flows(list, &n, 100 * seed + again);
		}
		cpl_maxmin_free(&m);
	}
}

/* All rounds of a collective together are its rows, and who receives is who is
 * sent to. */
static void rounds_add_up(void **state)
{
	static const char *const algorithm[][2] = {
	        {"broadcast", "binomial"},
	        {"broadcast", "van-de-geijn"},
	        {"scatter", "binomial"},
	        {"gather", "binomial"},
	        {"allgather", "ring"},
	        {"allgather", "recursive-doubling"},
	        {"reduce", "binomial"},
	        {"reduce", "rabenseifner"},
	        {"reduce-scatter", "pairwise"},
	        {"allreduce", "ring"},
	        {"allreduce", "recursive-doubling"},
	        {"allreduce", "bine"},
	        {"alltoall", "pairwise"},
	};

	(void)state;
	for (size_t a = 0; a < sizeof(algorithm) / sizeof(*algorithm); a++)
		for (int ranks = 1; ranks <= 17; ranks++) {
			bool power = strstr("recursive-doubling bine",
			                    algorithm[a][1]);
			char text[512], root[32] = "";
			double sum[17][17] = {{0}};
			struct cpl_signature *sig;
			struct cpl_comm *comm;

			if (power && ranks & (ranks - 1))
				continue;
			if (strstr("broadcast scatter gather reduce",
			           algorithm[a][0]) &&
			    strcmp(algorithm[a][0], "reduce-scatter"))
				snprintf(root, sizeof(root), ", \"root\": %d",
				         ranks / 3);
			snprintf(text, sizeof(text),
			         SIGNATURE("%d",
			                   "\"pattern\": {\"type\": "
			                   "\"collective\", \"operation\": "
			                   "\"%s\", \"algorithm\": \"%s\", "
			                   "\"ranks\": %d, \"bytes\": 3400%s}"),
			         ranks, algorithm[a][0], algorithm[a][1], ranks,
			         root);
			sig = parse_signature(text);
			comm = cpl_signature_total(sig, NULL);
			assert_non_null(comm);
			for (int64_t i = 0; i < cpl_phase_rounds(sig->phase);
			     i++)
				for (int r = 0; r < ranks; r++) {
					struct cpl_exchange x = cpl_phase_round(
					        sig->phase, i, r);

					if (x.to < 0)
						continue;
					assert_int_equal(
					        cpl_phase_round(sig->phase, i,
					                        x.to)
					                .from,
					        r);
					sum[r][x.to] += x.bytes;
				}
			for (int r = 0; r < ranks; r++)
				for (int64_t i = comm->row[r];
				     i < comm->row[r + 1]; i++) {
					assert_float_equal(sum[r][comm->to[i]],
					                   comm->bytes[i],
					                   1e-6);
					sum[r][comm->to[i]] = 0;
				}
			for (int r = 0; r < ranks; r++)
				for (int to = 0; to < ranks; to++)
					assert_true(sum[r][to] == 0);
			cpl_comm_free(comm);
			cpl_signature_free(sig);
		}
}

struct closed {
	const char *what, *network, *signature;
	struct cpl_sim_options options;
	double seconds;
};

#define PHASES(ranks, phases)                                                  \
	"{\"format\": \"commplace-signature\", \"version\": 1, \"name\": "     \
	"\"s\", \"ranks\": " ranks ", \"phases\": [" phases "]}"

#define FAN_OUT                                                                \
	"\"traffic\": [[0, 1, 1e9, 1], [0, 2, 1e9, 1], [0, 3, 1e9, 1]]"
#define FAN_IN                                                                 \
	"\"traffic\": [[1, 0, 1e9, 1], [2, 0, 1e9, 1], [3, 0, 1e9, 1]]"

/* Links of 1 GB/s, nodes of 10 GB/s. */
static const struct closed closed[] = {
        {"nothing is sent", CHAIN, SIGNATURE("2", "\"traffic\": []"), {0}, 0},
        /* 3 links' and nodes' cables' latencies, 2 + 1 routers'. */
        {"one message, with latencies",
         CHAIN,
         SIGNATURE("3", "\"traffic\": [[0, 2, 1e9, 1]]"),
         {.link_latency = 1e-3, .router_latency = 1e-2, .overhead = 0.5},
         1 + 4e-3 + 3e-2 + 0.5},
        {"a large one asks first",
         CHAIN,
         SIGNATURE("3", "\"traffic\": [[0, 2, 1e9, 1]]"),
         {.link_latency = 1e-3, .eager = 1e8},
         1 + 4e-3 + 8e-3},
        /* Two links between routers, two of nodes, three routers. */
        {"latencies by class",
         CHAIN,
         SIGNATURE("3", "\"traffic\": [[0, 2, 1e9, 1]]"),
         {.class_latency = (const double[]){1e-3, 0.25},
          .link_latency = 7,
          .router_latency = 1e-2},
         1 + 2e-3 + 0.5 + 3e-2},
        {"latencies by class, a large one asks first",
         CHAIN,
         SIGNATURE("3", "\"traffic\": [[0, 2, 1e9, 1]]"),
         {.class_latency = (const double[]){1e-3, 0.25}, .eager = 1e8},
         1 + 3 * (2e-3 + 0.5)},
        /* All begin at 5 s and share the node's cable for 3 s. */
        {"software that many messages use at once",
         STAR,
         SIGNATURE("4", FAN_OUT),
         {.overhead = 2, .byte_overhead = 3e-9},
         8},
        /* They begin at 5, 10 and 15 s. */
        {"software that does one message at a time",
         STAR,
         SIGNATURE("4", FAN_OUT),
         {.overhead = 2, .byte_overhead = 3e-9,
          .queue = CPL_SIM_QUEUE_SENDER},
         16},
        {"three receivers' software",
         STAR,
         SIGNATURE("4", FAN_OUT),
         {.overhead = 2, .byte_overhead = 3e-9,
          .queue = CPL_SIM_QUEUE_BOTH},
         21},
        /* All three are there at 8 s. */
        {"one receiver's software",
         STAR,
         SIGNATURE("4", FAN_IN),
         {.overhead = 2, .byte_overhead = 3e-9,
          .queue = CPL_SIM_QUEUE_BOTH},
         8 + 3 * 5},
        {"senders of their own",
         STAR,
         SIGNATURE("4", FAN_IN),
         {.overhead = 2, .byte_overhead = 3e-9,
          .queue = CPL_SIM_QUEUE_SENDER},
         8},
        /* Forth and back by two phases. */
        {"ping-pong",
         CHAIN,
         PHASES("2",
                "{\"name\": \"ping\", \"weight\": 1, \"traffic\": [[0, 1, 1e9, "
                "1]]}, {\"name\": \"pong\", \"weight\": 1, \"traffic\": [[1, "
                "0, "
                "1e9, 1]]}"),
         {.link_latency = 1e-3},
         2 * (1 + 3e-3)},
        {"computing, three executions",
         CHAIN,
         PHASES("2", "{\"name\": \"p\", \"weight\": 2.5, \"compute_time\": 4, "
                     "\"traffic\": [[0, 1, 1e9, 1]]}"),
         {.executions = 9, .speed = 2},
         3 * (2 + 1)},
        {"a rank that computes longer than the other",
         CHAIN,
         SIGNATURE("2", "\"compute_time\": 2, \"compute_percent\": "
                        "\"50,150\", \"traffic\": [[0, 1, 1e9, 1], [1, 0, "
                        "1e9, 1]]"),
         {0},
         3 + 1},
        {"one congested link",
         CHAIN,
         SIGNATURE("4", "\"traffic\": [[0, 3, 1e9, 1], [1, 2, 1e9, 1]]"),
         {0},
         2},
        {"both directions do not meet",
         CHAIN,
         SIGNATURE("2", "\"traffic\": [[0, 1, 1e9, 1], [1, 0, 1e9, 1]]"),
         {0},
         1},
        {"incast: the last link is that of five",
         STAR,
         SIGNATURE("6", "\"traffic\": [[1, 0, 1e9, 1], [2, 0, 1e9, 1], [3, 0, "
                        "1e9, 1], [4, 0, 1e9, 1], [5, 0, 1e9, 1]]"),
         {0},
         5},
        /* 7 rounds of 1 GB over links of 1 GB/s, each way once round. */
        {"allgather round a ring",
         RING,
         COLLECTIVE("allgather", "ring", "8", "1e9"),
         {0},
         7},
        {"allreduce round a ring",
         RING,
         COLLECTIVE("allreduce", "ring", "8", "8e9"),
         {.link_latency = 1e-3},
         14 * (1 + 3e-3)},
        /* All of the stars' nodes' links are as busy. */
        {"all-to-all, all at once",
         STAR,
         SIGNATURE("6", "\"pattern\": {\"type\": \"many-to-many\", \"dims\": "
                        "[6], \"axis\": 0, \"bytes\": 1e9}"),
         {0},
         5},
        {"all-to-all, pairwise",
         STAR,
         COLLECTIVE("alltoall", "pairwise", "6", "1e9"),
         {0},
         5},
        /* Of 8 ranks: 3 rounds, the root's three sends one by one. */
        {"a broadcast down its tree",
         STAR8,
         COLLECTIVE("broadcast", "binomial", "8", "1e9"),
         {0},
         3},
        {"inside a node",
         CHAIN,
         SIGNATURE("2", "\"traffic\": [[0, 0, 1e9, 1]]"),
         {.memory = 4e9},
         0.25},
};

static void closed_forms(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(closed) / sizeof(*closed); i++) {
		const struct closed *c = &closed[i];
		struct cpl_sim_result result =
		        simulate_text(c->network, c->signature, &c->options);

		print_message("%s\n", c->what);
		assert_float_equal(result.seconds, c->seconds,
		                   1e-9 * (1 + c->seconds));
		cpl_sim_result_free(&result);
	}
}

/* Rank 1 gets its message while rank 0 still computes. */
static void time_goes_somewhere(void **state)
{
	static const char text[] = PHASES(
	        "2", "{\"name\": \"a\", \"weight\": 1, \"traffic\": [[0, 1, "
	             "1e9, 1]]}, {\"name\": \"b\", \"weight\": 10, "
	             "\"compute_time\": 3, \"traffic\": [[1, 0, 2e9, 1]]}");
	struct cpl_sim_result r = simulate_text(
	        CHAIN, text, &(struct cpl_sim_options){.executions = 2});
	const struct cpl_sim_job_times *job = &r.job[0];

	(void)state;
	assert_float_equal(r.seconds, 1 + 2 * (3 + 2), 1e-9);
	assert_float_equal(job->rank[0].compute, 6, 1e-9);
	assert_float_equal(job->rank[0].communication, 5, 1e-9);
	assert_float_equal(job->rank[1].communication, 5, 1e-9);
	assert_float_equal(job->rank[0].waiting, 0, 1e-9);
	assert_int_equal(job->phase[1].executions, 2);
	assert_float_equal(job->phase[0].seconds, 1, 1e-9);
	assert_float_equal(job->phase[1].seconds, 10, 1e-9);
	assert_float_equal(job->run, 1 + 50, 1e-9);
	assert_int_equal(r.messages, 3);
	assert_float_equal(r.bytes.injection[1], 4e9, 1);
	cpl_sim_result_free(&r);
}

/* Two jobs share the middle link while both run. */
static void jobs_meet(void **state)
{
	struct cpl_network *net = parse_network(CHAIN);
	struct cpl_signature *sig = parse_signature(
	        SIGNATURE("2", "\"traffic\": [[0, 1, 2e9, 1]]"));
	const int one[] = {0, 3}, two[] = {1, 2};
	const struct cpl_sim_job job[] = {
	        {.sig = sig, .rank_node = one},
	        {.sig = sig, .rank_node = two, .start = 1},
	};
	struct cpl_sim_options o = sim_defaults(net);
	struct cpl_error err = {""};
	struct cpl_sim_result r;

	(void)state;
	assert_int_equal(cpl_simulate(&o, job, 2, &r, &err), 0);
	/* 1 GB alone, 1 GB at half; the other 1 GB at half, 1 GB alone. */
	assert_float_equal(r.job[0].end, 3, 1e-9);
	assert_float_equal(r.job[1].end, 4, 1e-9);
	assert_float_equal(r.job[1].end - r.job[1].start, 3, 1e-9);
	assert_float_equal(r.seconds, 4, 1e-9);
	cpl_sim_result_free(&r);
	cpl_signature_free(sig);
	cpl_network_free(net);
}

/* What flows put on the links is what the traffic model says. */
struct arrivals {
	int n;
	double posted[4], now[4], messages[4];
};

static void note_arrival(void *arg, double posted, double now, double messages)
{
	struct arrivals *a = arg;

	assert_in_range(a->n, 0, 3);
	a->posted[a->n] = posted;
	a->now[a->n] = now;
	a->messages[a->n++] = messages;
}

static void arrivals_are_told(void **state)
{
	struct arrivals a = {0};
	const struct cpl_sim_options o = {.arrived = note_arrival, .arg = &a};
	struct cpl_sim_result r = simulate_text(
	        STAR,
	        SIGNATURE("3", "\"compute_time\": 1, \"time\": 1, "
	                       "\"traffic\": [[1, 0, 1e9, 1], [2, 0, 3e9, "
	                       "2]]"),
	        &o);
	double sum = 0;

	(void)state;
	assert_int_equal(a.n, 2);
	for (int i = 0; i < a.n; i++) {
		assert_true(fabs(a.posted[i] - 1) < 1e-9);
		assert_true(a.messages[i] == 1 + i);
		/* Half of the cable each, then all of it. */
		assert_true(fabs(a.now[i] - (3 + 2 * i)) < 1e-9);
		sum += (a.now[i] - a.posted[i]) * a.messages[i];
	}
	assert_true(fabs(sum - r.latency.mean * (double)r.latency.n) < 1e-9);
	cpl_sim_result_free(&r);
}

static void bytes_are_the_models(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_CASES; i++)
		for (int tolerance = 0; tolerance < 2; tolerance++) {
			struct cpl_sim_options o = {.tolerance =
			                                    tolerance * 0.01};

			compare_with_model(&sim_case[i], &o, 1e-9);
		}
}

/* What no number holds is refused. */
static void too_much_is_refused(void **state)
{
	static const struct {
		const char *network, *signature;
		struct cpl_sim_options options;
		const char *err;
	} c[] = {
	        /* The second phase would end at inf - inf seconds. */
	        {CHAIN,
	         PHASES("2", "{\"name\": \"p\", \"weight\": 2, \"traffic\": "
	                     "[[0, 0, 1e18, 1]]}"),
	         {.memory = 1e-300, .executions = 2},
	         "it takes longer than 1e+100 seconds"},
	        {CHAIN,
	         PHASES("2", "{\"name\": \"p\", \"weight\": 9, \"traffic\": "
	                     "[[0, 1, 1, 2e15]]}"),
	         {.executions = 9},
	         "more than 9007199254740992 messages"},
	        {CHAIN,
	         SIGNATURE("2", "\"traffic\": [[0, 1, 0, 1e18], [0, 1, 0, "
	                        "1e18]]"),
	         {0},
	         "more than 9007199254740992 messages"},
	        {CHAIN,
	         SIGNATURE("2", "\"traffic\": [[0, 1, 1e18, 1e18]]"),
	         {.level = &cpl_sim_packet},
	         "a message of 1e+18 bytes has too many packets"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(c) / sizeof(*c); i++) {
		struct cpl_network *net = parse_network(c[i].network);
		struct cpl_signature *sig = parse_signature(c[i].signature);
		struct cpl_sim_options o = sim_options(net, &c[i].options);
		const int node[] = {0, 1};
		const struct cpl_sim_job job = {.sig = sig, .rank_node = node};
		struct cpl_sim_result r;
		struct cpl_error err = {""};

		assert_int_equal(cpl_simulate(&o, &job, 1, &r, &err), -1);
		assert_string_equal(err.text, c[i].err);
		cpl_sim_result_free(&r);
		cpl_signature_free(sig);
		cpl_network_free(net);
	}
}

/* A port whose part of the bytes is no number any more carries none. */
static void ports_without_a_part(void **state)
{
	struct cpl_sim_result r = simulate_text(
	        HEAD "\"type\": \"dragonfly\", \"groups\": 2, \"rows\": 1, "
	             "\"columns\": 4, \"nodes_per_router\": 2, \"ports\": "
	             "{\"count\": 2, \"use\": \"spread\", \"bandwidth\": "
	             "[1e-320, 1e9]}, \"nodes\": \"n[0-7]\"}",
	        SIGNATURE("8", "\"traffic\": [[0, 6, 2e9, 1], [0, 7, 1e9, 1]]"),
	        &(struct cpl_sim_options){0});

	(void)state;
	assert_true(r.bytes.injection[0] == 0);
	assert_true(r.bytes.injection[1] == 3e9);
	/* Links between routers have 1 byte/s. */
	assert_float_equal(r.seconds, 3e9, 1);
	cpl_sim_result_free(&r);
}

/* Flows that end one by one are put together by the tolerance, which makes
 * nothing later by more than that. */
static void tolerance_holds(void **state)
{
	char text[8192];
	struct cpl_sim_result exact, coarse;

	(void)state;
	for (uint64_t seed = 1; seed < 20; seed++) {
		uneven_signature(text, sizeof(text), seed);
		exact = simulate_text(TORUS, text,
		                      &(struct cpl_sim_options){0});
		coarse = simulate_text(
		        TORUS, text,
		        &(struct cpl_sim_options){.tolerance = 0.05});
		assert_true(coarse.events < exact.events);
		assert_true(coarse.seconds >= exact.seconds * (1 - 1e-9));
		assert_true(coarse.seconds <= exact.seconds * 1.05);
		cpl_sim_result_free(&exact);
		cpl_sim_result_free(&coarse);
	}
}

/* All time of ranks, and all bytes of links, are in some bin; few are wide. */
static void timelines_add_up(void **state)
{
	static const struct cpl_sim_level *const level[] = {&cpl_sim_flow,
	                                                    &cpl_sim_packet};
	struct cpl_network *net = parse_network(TORUS);

	(void)state;
	for (int bins = 2; bins <= 98; bins += 48)
		for (int l = 0; l < 2; l++) {
			static char text[16384];
			struct cpl_sim_options o = {.level = level[l],
			                            .bins = bins,
			                            .packet = 10000};
			struct cpl_signature *sig;
			struct cpl_sim_result r;
			const struct cpl_timeline *t = &r.timeline;
			double most = 0;

			uneven_signature(text, sizeof(text), 3);
			sig = parse_signature(text);
			sig->phase->compute_time = 1e-4;
			r = simulate_on(net, sig, &o);
			assert_int_equal(t->bins, bins);
			assert_true(r.seconds <= t->width * bins);
			assert_true(cpl_timeline_used(t, r.seconds) > bins / 2);
			for (int64_t i = 0; i < t->n_ranks * 3; i++) {
				const struct cpl_sim_rank *k =
				        &r.job->rank[i / 3];
				double want = i % 3 == 0   ? k->compute
				              : i % 3 == 1 ? k->communication
				                           : k->waiting;
				double sum = 0;

				for (int b = 0; b < bins; b++)
					sum += t->rank[i * bins + b];
				assert_true(fabs(sum - want) <= 1e-5 * want);
			}
			for (int64_t i = 0; i < net->n_links; i++) {
				double want = r.bytes.link[i] /
				              cpl_network_link_bandwidth(net,
				                                         i);
				double sum = 0;

				for (int b = 0; b < bins; b++) {
					sum += t->link[i * bins + b];
					most = fmax(most,
					            t->link[i * bins + b]);
				}
				assert_true(fabs(sum - want) <= 1e-5 * want);
			}
			assert_true(most <= t->width * (1 + 1e-5));
			cpl_sim_result_free(&r);
			cpl_signature_free(sig);
		}
	cpl_network_free(net);
}

/* Ranks 0 to 7 on one node, in pairs of memories and fours of sockets. */
static void levels_inside_of_nodes(void **state)
{
	static const struct {
		const char *traffic;
		double seconds;
	} cases[] = {
	        {"\"traffic\": [[2, 3, 1e9, 1]]", 1 + 1},
	        {"\"traffic\": [[1, 2, 1e9, 1]]", 10 + 2},
	        {"\"traffic\": [[3, 4, 1e9, 1]]", 10},
	        {"\"traffic\": [[6, 7, 3e9, 3]]", 1 + 3},
	};
	struct cpl_network *net = parse_network(STAR);
	static const int node[8];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cpl_sim_options o =
		        sim_options(net, &(struct cpl_sim_options){
		                                 .memory = 1e8,
		                                 .inside = {{2, 1, 1e9},
		                                            {4, 10, 5e8}},
		                                 .n_inside = 2});
		struct cpl_sim_result result;
		struct cpl_error err = {""};
		char text[512];

		snprintf(text, sizeof(text), SIGNATURE("8", "%s"),
		         cases[i].traffic);
		struct cpl_signature *sig = parse_signature(text);
		struct cpl_sim_job two[2] = {
		        {.sig = sig, .rank_node = node},
		        {.sig = sig, .rank_node = node, .start = 100}};

		/* A second job's ranks are counted from 0 again. */
		if (cpl_simulate(&o, two, 2, &result, &err))
			fail_msg("%s", err.text);
		for (int j = 0; j < 2; j++)
			assert_true(fabs(result.job[j].run -
			                 cases[i].seconds) < 1e-9);
		cpl_sim_result_free(&result);
		cpl_signature_free(sig);
	}
	cpl_network_free(net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(events_come_in_order),
	        cmocka_unit_test(minus_zero_is_no_later),
	        cmocka_unit_test(quantiles_are_of_narrow_bins),
	        cmocka_unit_test(shares_are_max_min_fair),
	        cmocka_unit_test(rounds_add_up),
	        cmocka_unit_test(closed_forms),
	        cmocka_unit_test(levels_inside_of_nodes),
	        cmocka_unit_test(time_goes_somewhere),
	        cmocka_unit_test(jobs_meet),
	        cmocka_unit_test(arrivals_are_told),
	        cmocka_unit_test(bytes_are_the_models),
	        cmocka_unit_test(too_much_is_refused),
	        cmocka_unit_test(ports_without_a_part),
	        cmocka_unit_test(tolerance_holds),
	        cmocka_unit_test(timelines_add_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
