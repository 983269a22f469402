/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>

#include "unit.h"

#include "base/random.h"
#include "failing_alloc.h"
#include "number.h"
#include "network_text.h"
#include "stages.h"
#include "traffic/times_internal.h"
#include "traffic/workload.h"

#define HEAD "{\"format\": \"commplace-network\", \"version\": 1, "

/* Bandwidths: 1 GB/s between routers, 10 GB/s into them. */
#define CHAIN HEAD CHAIN_OF
/* 6 us over a link between routers, 16.5 over four, 2.5 without. */
#define LATE_CHAIN                                                             \
	HEAD "\"latency\": {\"link\": 3e-6, \"injection\": 1e-6, "             \
	     "\"router\": 5e-7}, " CHAIN_OF
#define CHAIN_OF                                                               \
	"\"type\": \"torus\", \"dims\": [5], \"wrap\": [false], "              \
	     "\"nodes_per_router\": 2, \"bandwidth\": {\"dim\": [1e9], "       \
	     "\"injection\": 10e9}, \"nodes\": \"n[0-9]\"}"
/* Two ways of two hops each between opposite corners. */
#define SQUARE                                                                 \
	HEAD "\"type\": \"torus\", \"dims\": [2, 2], \"wrap\": [false, "       \
	     "false], \"nodes_per_router\": 2, \"bandwidth\": {\"dim\": "      \
	     "[1e9, "                                                          \
	     "1e9], \"injection\": 10e9}, \"nodes\": \"n[0-7]\"}"

#define GB 1e9

struct message {
	int from, to; /* host, on the node of that number */
	double gb;
};

/* Of one phase alone; hosts on nodes of their numbers. */
struct judged {
	const char *what, *text, *routing;
	struct message message[8];
	double seconds, busiest;
	int64_t link; /* -2: any */
};

static const struct judged table[] = {
        {"nothing", CHAIN, NULL, {{0, 0, 0}}, 0, 0, -1},
        {"one flow", CHAIN, NULL, {{0, 2, 3}}, 3, 3, 0},
        {"two flows on one link", CHAIN, NULL, {{0, 2, 1}, {1, 3, 3}}, 4, 4, 0},
        {"on one router: the node's own links",
         CHAIN,
         NULL,
         {{0, 1, 5}},
         0.5,
         0.5,
         -2},
        /* The long flow has a third of the middle link at first. */
        {"parking lot",
         CHAIN,
         NULL,
         {{0, 8, 1}, {1, 2, 1}, {3, 4, 1}, {5, 6, 1}},
         2,
         2,
         -2},
        /* 0 -> 2 shares its first link with two short ones (1/3 each until
         * 1.5 s), its second with a long one of 4 GB: 1/3, then 1/2 each. The
         * long one has 2/3 for 1.5 s, then 1/2 for 1 s, then all. */
        {"shares are computed anew when flows end",
         CHAIN,
         NULL,
         {{0, 4, 1}, {1, 2, 0.5}, {1, 3, 0.5}, {2, 5, 4}},
         5,
         5,
         -2},
        {"a split flow has both ways",
         SQUARE,
         "adaptive-minimal",
         {{0, 6, 1}},
         0.5,
         0.5,
         -2},
        {"dimension order has one", SQUARE, NULL, {{0, 6, 1}}, 1, 1, -2},
        /* The split flow has x, half of it on the link of the other one, which
         * has 1 - x / 2: max-min x = 2/3. It ends at 1.5 s; the other has sent
         * 1 GB of 2 and has another second. */
        {"a split flow beside a whole one",
         SQUARE,
         "adaptive-minimal",
         {{0, 6, 1}, {1, 2, 2}},
         2.5,
         2.5,
         -2},
};

struct setting {
	struct cpl_network *net;
	struct cpl_times_space *space;
	struct cpl_comm *comm;
	struct cpl_times *times;
	int node[64];
};

static struct cpl_comm *comm_of(int ranks, const struct message *m, int n)
{
	struct cpl_comm_entry entry[64];
	struct cpl_comm *comm;

	for (int i = 0; i < n; i++)
		entry[i] = (struct cpl_comm_entry){m[i].from, m[i].to,
		                                   m[i].gb * GB, 1};
	comm = cpl_comm_build(ranks, entry, n, NULL);
	assert_non_null(comm);
	return comm;
}

static void set_up(struct setting *s, const char *text, const char *routing,
                   const struct cpl_phase *phase, int n)
{
	struct cpl_error err = {""};
	const struct cpl_routing *found;

	s->net = parse_network(text);
	found = cpl_routing_find(s->net, routing, &err);
	if (!found)
		fail_msg("%s", err.text);
	s->space = cpl_times_space_new(s->net, found, &err);
	s->times = cpl_times_open(phase, n, phase[0].comm->ranks, &err);
	assert_non_null(s->space);
	assert_non_null(s->times);
	for (int i = 0; i < 64; i++)
		s->node[i] = i % s->net->n_nodes;
	if (cpl_times_order(s->times, NULL, 1, phase[0].comm->ranks, &err) ||
	    cpl_times_put(s->times, s->space, s->node, &err))
		fail_msg("%s", err.text);
}

static void tear_down(struct setting *s)
{
	cpl_times_close(s->times);
	cpl_times_space_free(s->space);
	cpl_network_free(s->net);
}

/* Many flows: no less than the busiest link, no more than three such in turn. */
static void assert_stages(const struct cpl_times_result *got)
{
	double stages = got->seconds - got->waiting - got->latency;

	assert_true(stages >= got->busiest * (1 - 1e-12));
	assert_true(stages <= got->busiest * pow(3, 0.25) * (1 + 1e-12));
}

/* Links from nodes, between routers and to nodes, as many flows pass them: messages of less
 * than a packet, of so many that this counts by half, and of more than that. */
static void test_stages(void **state)
{
	static const struct {
		const char *what;
		double injection; /* GB/s; 1 between routers */
		struct message message;
		double seconds, power; /* (power)^(1/4) times these */
	} row[] = {
	        {"nodes are faster", 10, {0, 2, 3}, 3, 1 + 2e-4},
	        {"all alike", 1, {0, 2, 3}, 3, 3},
	        {"nodes are slower", 0.5, {0, 2, 3}, 6, 2 + 1 / 16.0},
	        {"on one router", 1, {0, 1, 3}, 3, 2},
	        {"too large for its power", 1, {0, 2, 1e80}, 1e80, 3},
	};

	static const double packets[] = {1e-12, CPL_TIMES_AT_ONCE, 1e15};

	(void)state;
	for (size_t k = 0; k < 3 * sizeof(row) / sizeof(*row); k++) {
		size_t i = k / 3;
		double each = packets[k % 3] * CPL_TIMES_PACKET;
		struct cpl_comm *comm = comm_of(10, &row[i].message, 1);
		struct cpl_phase phase = {.weight = 1, .comm = comm};
		struct cpl_times_result got;
		struct setting s;
		char text[512];

		print_message("%s\n", row[i].what);
		comm->messages[0] = fmax(comm->bytes[0] / each, 1);
		each = comm->bytes[0] / comm->messages[0];
		snprintf(text, sizeof(text),
		         HEAD "\"type\": \"torus\", \"dims\": [5], \"wrap\": "
		              "[false], \"nodes_per_router\": 2, \"bandwidth\": "
		              "{\"dim\": [1e9], \"injection\": %g}, \"nodes\": "
		              "\"n[0-9]\"}",
		         row[i].injection * GB);
		set_up(&s, text, NULL, &phase, 1);
		s.times->exact = 0;
		assert_int_equal(
		        cpl_times_put(s.times, s.space, s.node, NULL), 0);
		cpl_times_judge(s.times, NULL, false, &got);
		assert_number(got.seconds - got.latency,
		              in_stages(row[i].seconds, row[i].power, each,
		                        CPL_TIMES_AT_ONCE),
		              1e-9 * got.seconds);
		assert_number(got.busiest, row[i].seconds,
		              1e-12 * row[i].seconds);
		tear_down(&s);
		cpl_comm_free(comm);
	}
}

static void test_closed_forms(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		const struct judged *j = &table[i];
		struct cpl_times_result got;
		struct setting s;
		struct cpl_comm *comm = comm_of(10, j->message, 8);
		struct cpl_phase phase = {.weight = 1, .comm = comm};

		print_message("%s\n", j->what);
		if (!strcmp(j->text, SQUARE)) {
			cpl_comm_free(comm);
			phase.comm = comm = comm_of(8, j->message, 8);
		}
		set_up(&s, j->text, j->routing, &phase, 1);
		cpl_times_judge(s.times, NULL, false, &got);
		assert_number(got.seconds - got.latency, j->seconds, 1e-9);
		assert_number(got.alone, got.seconds, 1e-9);
		assert_number(got.busiest, j->busiest, 1e-9);
		assert_number(got.waiting, 0, 0);
		if (j->link != -2)
			assert_int_equal(got.link, j->link);
		assert_true(got.exact);
		tear_down(&s);
		cpl_comm_free(comm);
	}
}

/* A packet, or a smaller message, halfway between the mean and the longest way: links
 * of 1 GB/s between two of 10. */
static void test_latency(void **state)
{
	struct {
		const char *what;
		struct cpl_comm_entry sent[2]; /* from, to, bytes, messages */
		double bytes, seconds;         /* of one at 1 GB/s */
		double us;                     /* of stated latencies */
	} row[] = {
	        {"one link", {{0, 2, 1e6, 1}, {0, 0, 0, 0}}, 4096, 1.2, 6},
	        {"a small message", {{0, 2, 100, 1}, {0, 0, 0, 0}}, 100, 1.2, 6},
	        {"several", {{0, 2, 5000, 5}, {0, 0, 0, 0}}, 5000, 1.2, 6},
	        {"large ones", {{0, 2, 5e6, 5}, {0, 0, 0, 0}}, 5 * 4096, 1.2, 6},
	        {"the longest way", {{0, 2, 1e6, 1}, {1, 8, 1e6, 1}}, 4096,
	         (1.2 + 3 * 4.2) / 4, (6 + 3 * 16.5) / 4},
	        {"the largest packet", {{0, 2, 1e6, 1}, {1, 8, 3e3, 1}}, 4096,
	         (1.2 + 3 * 4.2 * 3000 / 4096) / 4, (6 + 3 * 16.5) / 4},
	        {"on one router", {{0, 1, 1e6, 1}, {0, 0, 0, 0}}, 4096, 0.2, 2.5},
	        {"nothing", {{0, 0, 0, 0}, {0, 0, 0, 0}}, 0, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct cpl_comm *comm = cpl_comm_build(10, row[i].sent, 2, NULL);
		struct cpl_phase phase = {.weight = 3, .comm = comm};
		struct cpl_times_result got;
		struct setting s;

		print_message("%s\n", row[i].what);
		assert_non_null(comm);
		/* Flow by flow, and all together; without and with latencies. */
		for (int k = 0; k < 4; k++) {
			set_up(&s, k / 2 ? LATE_CHAIN : CHAIN, NULL, &phase, 1);
			s.times->exact = k % 2 * 64;
			assert_int_equal(cpl_times_put(s.times, s.space, s.node,
			                               NULL),
			                 0);
			cpl_times_judge(s.times, NULL, false, &got);
			assert_number(got.latency,
			              3 * (row[i].bytes * row[i].seconds / GB +
			                   k / 2 * row[i].us * 1e-6),
			              1e-15);
			assert_stages(&got);
			assert_number(got.alone, got.seconds, 1e-15);
			tear_down(&s);
		}
		cpl_comm_free(comm);
	}
}

/* One flow of 3 GB over links of 1 GB/s, beside others on one of them: many (0 jobs) or
 * so many alike. */
static void test_background(void **state)
{
	static const struct message flow = {0, 4, 3};
	static const struct {
		double u, jobs, seconds, trains;
	} row[] = {
	        {0, 0, 3, 0},
	        {0.25, 1, 3.75, 1 / 6.0},
	        {0.25, 0, 3 * (1.25 + 0.0625 + 0.015625), 1 / 6.0},
	        {0.5, 1, 4.5, 0.5},
	        {0.5, 2, 4.5 + 3 * 0.25 / 2, 0.5},
	        {0.5, 4, 4.5 + 3 * 0.25 * 3 / 4 + 3 * 0.125 * 3 / 4 * 2 / 4, 0.5},
	        {1, 1, 6, CPL_TIMES_SATURATED / 2 / (1 - CPL_TIMES_SATURATED)},
	        {1, 0, 12, CPL_TIMES_SATURATED / 2 / (1 - CPL_TIMES_SATURATED)},
	        {2, 2, 9, CPL_TIMES_SATURATED / 2 / (1 - CPL_TIMES_SATURATED)},
	        {1.9, 2, 9, CPL_TIMES_SATURATED / 2 / (1 - CPL_TIMES_SATURATED)},
	        {9, 1, 30, CPL_TIMES_SATURATED / 2 / (1 - CPL_TIMES_SATURATED)},
	};
	struct cpl_comm *comm = comm_of(10, &flow, 1);
	struct cpl_phase phase = {.weight = 1, .comm = comm};
	struct cpl_times_result got;
	struct cpl_load rates;
	struct setting s;

	(void)state;
	set_up(&s, CHAIN, NULL, &phase, 1);
	assert_int_equal(cpl_load_init_rates(&rates, s.net, NULL), 0);
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		double waiting = row[i].trains * CPL_TIMES_TRAIN *
		                 CPL_TIMES_PACKET / GB;

		/* Its first link. */
		rates.link[0] = row[i].u * GB;
		rates.squares[0] = row[i].jobs > 0 ? pow(row[i].u * GB, 2) /
		                                             row[i].jobs
		                                   : 0;
		cpl_times_judge(s.times, &rates, false, &got);
		assert_number(got.seconds,
		              row[i].seconds + waiting + got.latency, 1e-9);
		assert_number(got.waiting, waiting, 1e-15);
		assert_number(got.busiest, row[i].seconds, 1e-9);
		assert_number(got.alone, 3 + got.latency, 1e-9);
		assert_int_equal(got.link, 0);
		/* Beside its own rate, which makes its link busy. */
		cpl_times_add(s.times, 1, &rates);
		cpl_times_judge(s.times, &rates, true, &got);
		assert_number(got.seconds,
		              row[i].seconds + waiting + got.latency, 1e-9);
		cpl_times_add(s.times, -1, &rates);
		assert_number(rates.link[0], row[i].u * GB, 1e-3);
	}
	/* Others where it is not. */
	rates.link[0] = 0;
	rates.injection[3] = 7 * GB;
	cpl_times_judge(s.times, &rates, false, &got);
	assert_number(got.seconds, 3 + got.latency, 1e-12);
	/* At the node itself a fifth is enough. */
	rates.injection[0] = 30 * GB;
	rates.squares[s.net->n_links] = pow(30 * GB, 2);
	cpl_times_judge(s.times, &rates, false, &got);
	assert_number(got.busiest, 3, 1e-9);
	rates.injection[0] = 90 * GB;
	rates.squares[s.net->n_links] = pow(90 * GB, 2);
	cpl_times_judge(s.times, &rates, false, &got);
	assert_number(got.busiest, 3, 1e-9);
	rates.injection[0] = 190 * GB;
	rates.squares[s.net->n_links] = pow(190 * GB, 2);
	cpl_times_judge(s.times, &rates, false, &got);
	assert_number(got.busiest, 6, 1e-9);
	assert_int_equal(got.link, s.net->n_links);
	cpl_load_free(&rates);
	tear_down(&s);
	cpl_comm_free(comm);
}

/* Own rates among what is sent where others are, each over a stretch, are no others; and
 * a run that takes so many times as long sends so much less in a second. */
static void test_stretched(void **state)
{
	static const struct message flow = {0, 4, 3};
	static const double stretch[] = {0.5, 1, 1.25, 4};
	struct cpl_comm *comm = comm_of(10, &flow, 1);
	struct cpl_phase phase = {
	        .weight = 2, .time = 6, .compute_time = 3, .comm = comm};
	struct setting s;
	int *meeting;

	(void)state;
	set_up(&s, CHAIN, NULL, &phase, 1);
	meeting = malloc((size_t)cpl_times_links(s.net) * sizeof(*meeting));
	for (int64_t l = 0; l < cpl_times_links(s.net); l++)
		meeting[l] = l ? -1 : 0;
	assert_int_equal(cpl_times_share(s.times, meeting, 1, NULL), 0);
	assert_int_equal(cpl_times_shared(s.times), 1);
	for (size_t i = 0; i < sizeof(stretch) / sizeof(*stretch); i++) {
		struct cpl_meeting sum = {.rate = GB};
		bool anew = false;
		const struct cpl_meetings all = {&sum, &anew};
		double waits = 2 * 0.5 * CPL_TIMES_TRAIN * CPL_TIMES_PACKET / GB;
		double alone;

		cpl_times_stretch(s.times, stretch[i]);
		assert_false(cpl_times_send(s.times, &all));
		assert_number(sum.rate, GB, 0);
		cpl_times_sum_anew(s.times, &all);
		assert_true(cpl_times_send(s.times, &all));
		/* 6 GB in 12 s. */
		assert_number(sum.rate, 0.5 * GB / stretch[i], 1);
		assert_number(sqrt(sum.squares), sum.rate, 1);
		alone = cpl_times_among(s.times, &sum);
		assert_number(alone, 6, 1e-4);
		sum.rate += 0.5 * GB;
		assert_number(cpl_times_among(s.times, &sum) - alone,
		              11.25 + waits - 6, 1e-6);
	}
	free(meeting);
	tear_down(&s);
	cpl_comm_free(comm);
}

static int64_t link_between(const struct cpl_network *net, int from, int to)
{
	for (int64_t l = 0; l < net->n_links; l++)
		if (net->link_from[l] == from && net->link_to[l] == to)
			return l;
	fail_msg("no link from %d to %d", from, to);
	return -1;
}

/* Links by number, and what each carries in a second; of equally busy ones the
 * lowest is named. */
static void test_links_by_number(void **state)
{
	static const struct message both[][2] = {{{2, 0, 1}, {4, 6, 1}},
	                                         {{2, 4, 1}, {4, 2, 1}},
	                                         {{0, 2, 1}, {8, 6, 1}},
	                                         {{2, 0, 1}, {8, 6, 1}}};

	(void)state;
	for (int i = 0; i < 8; i++) {
		const struct message *m = both[i / 2];
		struct cpl_comm *comm = comm_of(10, m, 2);
		struct cpl_phase phase = {.weight = 1, .comm = comm};
		struct cpl_times_result got;
		struct setting s;
		int64_t a, b;

		set_up(&s, CHAIN, NULL, &phase, 1);
		assert_int_equal(cpl_times_links(s.net), s.net->n_links + 20);
		for (int64_t l = 0; l < cpl_times_links(s.net); l++)
			assert_number(cpl_times_bandwidth(s.net, l),
			              l < s.net->n_links ? 1e9 : 10e9, 0);
		/* Flow by flow, and all together. */
		s.times->exact = i % 2 ? 64 : 0;
		assert_int_equal(
		        cpl_times_put(s.times, s.space, s.node, NULL), 0);
		cpl_times_judge(s.times, NULL, false, &got);
		a = link_between(s.net, m[0].from / 2, m[0].to / 2);
		b = link_between(s.net, m[1].from / 2, m[1].to / 2);
		assert_int_equal(got.link, a < b ? a : b);
		tear_down(&s);
		cpl_comm_free(comm);
	}
}

/* Two phases that use other links: one after the other. */
static void test_phases(void **state)
{
	static const struct message a = {0, 2, 2}, b = {4, 2, 5};
	struct cpl_comm *one = comm_of(10, &a, 1), *two = comm_of(10, &b, 1);
	struct cpl_phase phase[2] = {
	        {.weight = 10, .time = 4, .compute_time = 1, .comm = one},
	        {.weight = 2, .time = 30, .compute_time = 25, .comm = two}};
	const struct cpl_times_rate *rate;
	const struct cpl_run_times *run;
	struct cpl_times_result got;
	double most = 0;
	struct setting s;
	int64_t n;

	(void)state;
	for (int timed = 1; timed >= 0; timed--) {
		phase[1].time *= timed;
		set_up(&s, CHAIN, NULL, phase, 2);
		cpl_times_judge(s.times, NULL, false, &got);
		/* Two links of 1 and two of 10 GB/s, and one, twelve times. */
		assert_number(got.latency,
		              CPL_TIMES_PACKET / GB * (10 * 1.2 + 2 * 1.2),
		              1e-12);
		assert_number(got.seconds, 10 * 2 + 2 * 5 + got.latency, 1e-9);
		assert_int_equal(got.phase, 0);
		run = cpl_times_run(s.times);
		assert_number(run->seconds, timed ? 100 : 0, 1e-12);
		assert_number(run->share, timed ? 0.4 : 1, 1e-12);
		/* The busiest link has 20 GB; node 2 gets 30 by a faster one.
		 */
		assert_number(s.times->period, timed ? 100 : 20, 1e-9);
		rate = cpl_times_rates(s.times, &n);
		assert_int_equal(n, 5);
		for (int64_t i = 0; i < n; i++)
			most = rate[i].rate > most ? rate[i].rate : most;
		assert_number(most, timed ? 0.3 * GB : 1.5 * GB, 1);
		tear_down(&s);
		most = 0;
	}
	cpl_comm_free(one);
	cpl_comm_free(two);
}

#define NODES " \"nodes\": \"n[0-31]\"}"
static const char *const machines[] = {
        HEAD "\"type\": \"dragonfly\", \"groups\": 4, \"rows\": 2, "
             "\"columns\": 2, \"nodes_per_router\": 2, "
             "\"global_links_per_group_pair\": 2, \"bandwidth\": {\"row\": "
             "5.25, \"column\": 15.75, \"global\": 4.7, \"injection\": "
             "16}," NODES,
        HEAD "\"type\": \"torus\", \"dims\": [4, 2, 4], \"wrap\": [true, "
             "true, false], \"nodes_per_router\": 1, \"bandwidth\": "
             "{\"dim\": [3, 7, 9], \"injection\": 11}," NODES,
        HEAD "\"type\": \"torus\", \"dims\": [4, 4], \"wrap\": [true, "
             "true], \"routing\": \"adaptive-minimal\", "
             "\"nodes_per_router\": 2," NODES,
        HEAD "\"type\": \"fattree\", \"levels\": [{\"down\": 4, \"up\": 2, "
             "\"links\": 1}, {\"down\": 2, \"up\": 3, \"links\": 2}], "
             "\"nodes_per_router\": 4," NODES,
        HEAD "\"type\": \"haec\", \"dims\": [4, 4, 2]," NODES,
        HEAD "\"type\": \"graph\", \"routers\": 4, \"node_routers\": 4, "
             "\"nodes_per_router\": 8, \"links\": [[0, 1], [1, 2, 5], "
             "[1, 2, 3], [2, 3], [3, 0]]," NODES,
};
#define N_MACHINES (int)(sizeof(machines) / sizeof(*machines))
#define RANKS 41
#define HOSTS 12

static uint64_t draws;

static int draw(int n)
{
	return (int)cpl_random_below(11, 1, draws++, (uint64_t)n);
}

/* Pairs with themselves and without bytes too. */
static struct cpl_comm *random_comm(bool alike)
{
	struct cpl_comm_entry entry[RANKS * 4];
	struct cpl_comm *comm;

	for (int i = 0; i < RANKS * 4; i++) {
		double bytes = i % 7 ? 1 + (double)draw(1000) / 7 : 0;

		entry[i] = (struct cpl_comm_entry){
		        i / 4, draw(RANKS), alike ? 5 : bytes, 1 + draw(3)};
	}
	comm = cpl_comm_build(RANKS, entry, (int64_t)RANKS * 4, NULL);
	assert_non_null(comm);
	return comm;
}

static void random_rates(const struct cpl_network *net, struct cpl_load *rates)
{
	for (int64_t l = 0; l < net->n_links; l++)
		rates->link[l] =
		        draw(9) * cpl_network_link_bandwidth(net, l) / 6;
	for (int i = 0; i < net->n_nodes; i++) {
		rates->ejection[i] = draw(5) * net->port_bandwidth[0] / 5;
		rates->injection[i] = draw(5) * net->port_bandwidth[0] / 5;
	}
}

/* What the workload puts on the links, over the period. */
static void check_rates_by(const struct setting *s,
                           const struct cpl_routing *routing,
                           const struct cpl_comm *comm, const int *rank_node)
{
	struct cpl_workload *w = cpl_workload_new(s->net, 1, NULL);
	struct cpl_job job = {
	        .routing = routing, .comm = comm, .node = rank_node};
	const struct cpl_load *want;
	struct cpl_load got;

	assert_non_null(w);
	assert_int_equal(cpl_load_init(&got, s->net, NULL), 0);
	assert_int_equal(cpl_workload_add(w, &job, NULL), 0);
	assert_int_equal(cpl_workload_solve(w, NULL), 0);
	want = cpl_workload_load(w);
	cpl_times_add(s->times, 1, &got);
	for (int64_t l = 0; l < cpl_times_links(s->net); l++) {
		double bytes = *cpl_times_at(&got, l) * s->times->period;

		assert_number(bytes, 3 * *cpl_times_at(want, l), 1e-6);
	}
	cpl_load_free(&got);
	cpl_workload_free(w);
}

static void check_rates(const struct setting *s,
                        const struct cpl_routing *routing,
                        const struct cpl_comm *comm, const int *rank_node)
{
	check_rates_by(s, cpl_routing_by_flow(s->net, routing), comm, rank_node);
}

/* Few flows and many, on random hosts under random others. */
static void check_machine(const char *text, bool alike)
{
	struct cpl_comm *comm = random_comm(alike);
	struct cpl_phase phase = {.weight = 3, .comm = comm};
	struct cpl_times_result exact, busiest, again, alone;
	const struct cpl_routing *routing;
	int rank_host[RANKS], rank_node[RANKS], node[HOSTS];
	struct cpl_error err = {""};
	struct cpl_load rates;
	struct setting s;

	set_up(&s, text, NULL, &phase, 1);
	routing = cpl_routing_find(s.net, NULL, NULL);
	assert_int_equal(cpl_load_init(&rates, s.net, NULL), 0);
	random_rates(s.net, &rates);
	for (int h = 0; h < HOSTS; h++)
		node[h] = (draw(2) + 2 * h + 5) % s.net->n_nodes;
	for (int r = 0; r < RANKS; r++) {
		rank_host[r] = draw(HOSTS);
		rank_node[r] = node[rank_host[r]];
	}
	/* By its busiest link. */
	s.times->exact = 0;
	if (cpl_times_order(s.times, rank_host, 0, HOSTS, &err) ||
	    cpl_times_put(s.times, s.space, node, &err))
		fail_msg("%s", err.text);
	check_rates(&s, routing, comm, rank_node);
	cpl_times_judge(s.times, &rates, false, &busiest);
	assert_stages(&busiest);
	assert_false(busiest.exact);
	assert_true(busiest.alone <= busiest.seconds);
	/* Flow by flow it is no faster, and waits as long. */
	s.times->exact = INT64_MAX;
	assert_int_equal(cpl_times_put(s.times, s.space, node, &err), 0);
	cpl_times_judge(s.times, &rates, false, &exact);
	assert_true(exact.exact);
	assert_number(exact.busiest, busiest.busiest, 1e-9 * busiest.busiest);
	assert_number(exact.waiting, busiest.waiting, 1e-9 * busiest.waiting);
	/* The largest packet need not go the farthest, so that the most is at
	 * least half; and the mean is anything up to the most. */
	assert_true(exact.latency <= 2 * busiest.latency * (1 + 1e-9));
	assert_true(exact.latency >= busiest.latency / 4);
	assert_true(exact.seconds - exact.latency - exact.waiting >=
	            exact.busiest * (1 - 1e-9));
	assert_true(exact.seconds <= 3 * busiest.seconds);
	assert_int_equal(exact.link, busiest.link);
	assert_true(exact.alone <= exact.seconds);
	/* The same place again, after another, comes out the same to the bit.
	 */
	assert_int_equal(cpl_times_put(s.times, s.space, s.node, &err), 0);
	assert_int_equal(cpl_times_put(s.times, s.space, node, &err), 0);
	cpl_times_judge(s.times, NULL, false, &alone);
	assert_true(alone.seconds == exact.alone && alone.waiting == 0);
	cpl_times_judge(s.times, &rates, false, &again);
	assert_true(again.seconds == exact.seconds &&
	            again.waiting == exact.waiting &&
	            again.alone == exact.alone);
	cpl_load_free(&rates);
	tear_down(&s);
	cpl_comm_free(comm);
}

static void test_few_and_many(void **state)
{
	(void)state;
	for (int m = 0; m < N_MACHINES; m++)
		for (int i = 0; i < 20; i++)
			check_machine(machines[m], i % 2);
}

/* Where packets adapt, a phase takes what the busiest of the links that they adapt
 * to does, nothing of paths by flow. */
static void test_adaptive(void **state)
{
	static const char *const name[] = {"static-indirect", "adaptive-direct",
	                                   "adaptive-indirect", "adaptive-hybrid",
	                                   "progressive-adaptive", "ugal-g"};
	struct cpl_comm *comm = random_comm(false);
	struct cpl_phase phase = {.weight = 3, .comm = comm};
	struct cpl_error err = {""};
	int differ = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(name) / sizeof(*name); i++) {
		struct cpl_times_result plain, got;
		const struct cpl_routing *routing;
		int rank_node[RANKS];
		struct setting s;

		set_up(&s, machines[0], name[i], &phase, 1);
		routing = cpl_routing_find(s.net, name[i], NULL);
		for (int r = 0; r < RANKS; r++)
			rank_node[r] = s.node[r];
		cpl_times_judge(s.times, NULL, false, &plain);
		cpl_times_space_free(s.space);
		s.space = cpl_times_space_adaptive(s.net, routing, &err);
		assert_non_null(s.space);
		/* The second place is as the first. */
		for (int again = 0; again < 2; again++) {
			assert_int_equal(cpl_times_put(s.times, s.space, s.node,
			                               &err),
			                 0);
			check_rates_by(&s, routing, comm, rank_node);
			cpl_times_judge(s.times, NULL, false, &got);
			assert_number(got.busiest, s.times->period,
			              1e-9 * got.busiest);
			assert_stages(&got);
			assert_true(got.latency >= plain.latency * (1 - 1e-9));
			assert_false(got.exact);
		}
		differ += fabs(got.busiest - plain.busiest) > plain.busiest / 100;
		tear_down(&s);
	}
	assert_true(differ >= 5);
	cpl_comm_free(comm);
}

/* All nodes of one router, or one node twice: nothing else is used. */
static void test_near(void **state)
{
	static const struct message m[] = {{0, 1, 2}, {1, 0, 3}, {1, 2, 1}};
	struct cpl_comm *comm = comm_of(3, m, 3);
	struct cpl_phase phase = {.weight = 1, .comm = comm};
	struct cpl_times_result got;
	struct setting s;

	(void)state;
	for (int exact = 0; exact < 2; exact++) {
		set_up(&s, CHAIN, NULL, &phase, 1);
		s.times->exact = exact * 64;
		/* 1 -> 0 has 3 GB; 0 and 2 are on one node. */
		assert_int_equal(cpl_times_put(s.times, s.space,
		                                 (const int[]){0, 1, 0}, NULL),
		                 0);
		cpl_times_judge(s.times, NULL, false, &got);
		assert_number(got.seconds - got.latency,
		              exact ? 0.4
		                    : in_stages(0.4, 2, 2 * GB, CPL_TIMES_AT_ONCE),
		              1e-12);
		assert_number(got.latency, 2 * CPL_TIMES_PACKET / (10 * GB),
		              1e-15);
		assert_number(got.busiest, 0.4, 1e-12);
		assert_int_equal(cpl_times_put(s.times, s.space,
		                                 (const int[]){7, 7, 7}, NULL),
		                 0);
		cpl_times_judge(s.times, NULL, false, &got);
		assert_number(got.seconds, 0, 0);
		assert_int_equal(got.link, -1);
		assert_int_equal(got.phase, -1);
		tear_down(&s);
	}
	cpl_comm_free(comm);
}

/* Flows are solved exactly up to the limit; without times the period is what
 * the busiest link takes, be it the first, the node's own. */
static void test_limits_of_a_phase(void **state)
{
	static const struct message m[] = {{0, 1, 5}, {0, 3, 0.1}};
	struct cpl_comm *comm = comm_of(10, m, 2);
	struct cpl_phase phase = {.weight = 1, .comm = comm};
	struct cpl_times_result got;
	struct setting s;

	(void)state;
	for (int exact = 1; exact < 4; exact++) {
		set_up(&s, CHAIN, NULL, &phase, 1);
		s.times->exact = exact;
		assert_int_equal(
		        cpl_times_put(s.times, s.space, s.node, NULL), 0);
		cpl_times_judge(s.times, NULL, false, &got);
		assert_int_equal(got.exact, exact >= 2);
		assert_number(s.times->period, 0.51, 1e-12);
		tear_down(&s);
	}
	cpl_comm_free(comm);
}

/* A pattern that is not stored gives what its matrix gives. */
static void test_patterns(void **state)
{
	static const char text[] =
	        "{\"format\": \"commplace-signature\", \"version\": 1, "
	        "\"ranks\": 24, \"phases\": [{\"name\": \"a\", \"weight\": 2, "
	        "\"pattern\": {\"type\": \"stencil\", \"dims\": [4, 6], "
	        "\"points\": 5, \"periodic\": false, \"bytes\": 1000}}]}";
	struct cpl_error err = {""};
	struct cpl_signature *sig =
	        cpl_signature_parse(text, strlen(text), "sig", &err);
	struct cpl_times_result got[2];
	struct cpl_phase phase;
	struct setting s;

	(void)state;
	if (!sig)
		fail_msg("%s", err.text);
	phase = sig->phase[0];
	assert_non_null(phase.comm);
	set_up(&s, CHAIN, NULL, &phase, 1);
	for (int rows = 0; rows < 2; rows++) {
		cpl_times_close(s.times);
		phase.comm = rows ? NULL : sig->phase[0].comm;
		s.times = cpl_times_open(&phase, 1, 24, &err);
		assert_non_null(s.times);
		assert_int_equal(cpl_times_order(s.times, NULL, 5, 5, &err), 0);
		assert_int_equal(cpl_times_put(s.times, s.space,
		                                 (const int[]){0, 2, 4, 6, 8},
		                                 &err),
		                 0);
		cpl_times_judge(s.times, NULL, false, &got[rows]);
	}
	assert_true(got[0].seconds > 0);
	assert_true(got[0].seconds == got[1].seconds);
	assert_true(got[0].busiest == got[1].busiest);
	tear_down(&s);
	cpl_signature_free(sig);
}

static void test_wrong_hosts(void **state)
{
	static const struct message m = {0, 1, 2};
	struct cpl_comm *comm = comm_of(3, &m, 1);
	struct cpl_phase phase = {.weight = 1, .comm = comm};
	struct cpl_error err = {""};
	struct setting s;

	(void)state;
	set_up(&s, CHAIN, NULL, &phase, 1);
	assert_int_equal(cpl_times_order(s.times, NULL, 1, 2, &err), -1);
	assert_string_equal(err.text, "rank 2 on host 2 of 2");
	assert_int_equal(
	        cpl_times_order(s.times, (const int[]){0, -1, 1}, 0, 2, &err),
	        -1);
	assert_string_equal(err.text, "rank 1 on host -1 of 2");
	tear_down(&s);
	cpl_comm_free(comm);
}

/* Seconds and period of two phases, few flows and many; < 0: with err. */
static double judge_all(const struct cpl_network *net, const char *name,
                        const struct cpl_phase *phase, struct cpl_error *err)
{
	const struct cpl_routing *routing = cpl_routing_find(net, name, NULL);
	struct cpl_times_space *space =
	        cpl_times_space_adaptive(net, routing, err);
	struct cpl_times *times = cpl_times_open(phase, 2, RANKS, err);
	struct cpl_times_result got = {.seconds = -1};
	int node[32];

	for (int i = 0; i < 32; i++)
		node[i] = i;
	if (space && times && !cpl_times_order(times, NULL, 2, 21, err) &&
	    !cpl_times_put(times, space, node, err))
		cpl_times_judge(times, NULL, false, &got);
	/* What it is to others, too. */
	if (got.seconds >= 0)
		got.seconds += times->period;
	cpl_times_close(times);
	cpl_times_space_free(space);
	return got.seconds;
}

/* Where `times` is put, what it takes, with what it is to others. */
static double put_judged(struct cpl_times *times, struct cpl_times_space *space,
                         const int *node)
{
	struct cpl_times_result got;
	const struct cpl_times_rate *rate;
	double sum = 0;
	int64_t n;

	assert_int_equal(cpl_times_put(times, space, node, NULL), 0);
	cpl_times_judge(times, NULL, false, &got);
	rate = cpl_times_rates(times, &n);
	for (int64_t i = 0; i < n; i++)
		sum += rate[i].rate * (double)(1 + rate[i].link);
	return got.seconds + sum;
}

/* Packed, what hosts send each other gives the same to the bit, for several jobs and
 * places, when the first one is gone. */
static void test_packed(void **state)
{
	static const struct message few[] = {{0, 40, 2}, {7, 30, 3}};
	struct cpl_phase phase[2] = {{.weight = 1, .comm = random_comm(false)},
	                             {.weight = 2, .comm = comm_of(RANKS, few, 2)}};
	struct cpl_network *net = parse_network(machines[0]);
	struct cpl_times_space *space =
	        cpl_times_space_new(net, cpl_routing_find(net, NULL, NULL), NULL);
	struct cpl_times *times = cpl_times_open(phase, 2, RANKS, NULL);
	struct cpl_times *packed, *lent[2];
	int place[2][32];
	double want[2];
	uint64_t bytes, again;

	(void)state;
	for (int i = 0; i < 32; i++) {
		place[0][i] = i;
		place[1][i] = 31 - i;
	}
	assert_int_equal(cpl_times_order(times, NULL, 2, 21, NULL), 0);
	for (int k = 0; k < 2; k++)
		want[k] = put_judged(times, space, place[k]);
	assert_true(want[0] != want[1]);
	assert_int_equal(cpl_times_pack(times, net, UINT64_MAX, &packed, &bytes,
	                                NULL),
	                 0);
	assert_non_null(packed);
	cpl_times_close(times);
	for (int k = 0; k < 2; k++) {
		lent[k] = cpl_times_again(packed, NULL);
		assert_non_null(lent[k]);
		assert_true(put_judged(lent[k], space, place[k]) == want[k]);
	}
	cpl_times_stay(lent[0]);
	cpl_times_close(lent[0]);
	assert_true(put_judged(lent[1], space, place[0]) == want[0]);
	cpl_times_close(lent[1]);
	cpl_times_close(packed);
	/* No more than there is room for. */
	times = cpl_times_open(phase, 2, RANKS, NULL);
	assert_int_equal(cpl_times_order(times, NULL, 2, 21, NULL), 0);
	assert_int_equal(cpl_times_pack(times, net, bytes - 1, &packed, &again, NULL),
	                 0);
	assert_null(packed);
	assert_true(again == bytes);
	cpl_times_close(times);
	cpl_times_space_free(space);
	cpl_network_free(net);
	cpl_comm_free(phase[0].comm);
	cpl_comm_free(phase[1].comm);
}

/* Every allocation fails once: it is said, or makes no difference. */
static void test_no_memory(void **state)
{
	static const struct message few[] = {{0, 40, 2}, {7, 30, 3}};

	(void)state;
	/* The dragonfly's again, with packets that adapt. */
	for (int m = 0; m <= N_MACHINES; m++) {
		const char *name = m < N_MACHINES ? NULL : "adaptive-hybrid";
		struct cpl_network *net = parse_network(machines[m % N_MACHINES]);
		struct cpl_phase phase[2] = {
		        {.weight = 1, .comm = random_comm(false)},
		        {.weight = 2, .comm = comm_of(RANKS, few, 2)}};
		struct cpl_error err = {""};
		double want = judge_all(net, name, phase, &err);
		int n = 0;

		assert_true(want > 0);
		for (;; n++) {
			bool failed;
			double got;

			err.text[0] = '\0';
			left = n;
			got = judge_all(net, name, phase, &err);
			failed = left < 0;
			left = -1;
			if (!failed)
				break;
			if (got < 0)
				assert_string_equal(err.text, "out of memory");
			else
				assert_true(got == want);
		}
		assert_true(n > 20);
		cpl_comm_free(phase[0].comm);
		cpl_comm_free(phase[1].comm);
		cpl_network_free(net);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_closed_forms),
	        cmocka_unit_test(test_latency),
	        cmocka_unit_test(test_stages),
	        cmocka_unit_test(test_background),
	        cmocka_unit_test(test_stretched),
	        cmocka_unit_test(test_links_by_number),
	        cmocka_unit_test(test_phases),
	        cmocka_unit_test(test_few_and_many),
	        cmocka_unit_test(test_adaptive),
	        cmocka_unit_test(test_near),
	        cmocka_unit_test(test_limits_of_a_phase),
	        cmocka_unit_test(test_patterns),
	        cmocka_unit_test(test_packed),
	        cmocka_unit_test(test_wrong_hosts),
	        cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
