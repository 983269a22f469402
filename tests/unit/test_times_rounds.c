/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Seconds of collective operations, round by round, and of jobs whose packets adapt to
 * what the others send; pairs of hosts that cannot be packed. */
#include "unit.h"

#include <math.h>

#include "network_text.h"
#include "number.h"
#include "signature/rounds.h"
#include "stages.h"
#include "traffic/times_internal.h"

#define MANY 128

static const char torus[] =
        "{\"format\": \"commplace-network\", \"version\": 1, \"type\": "
        "\"torus\", \"dims\": [8, 8], \"bandwidth\": {\"dim\": [1e9, 1e9], "
        "\"injection\": 2e9}, \"nodes\": \"n[0-63]\"}";

static struct cpl_signature *allreduce(const char *algorithm, int ranks)
{
	char text[512];
	struct cpl_error err = {""};
	struct cpl_signature *sig;

	snprintf(text, sizeof(text),
	         "{\"format\": \"commplace-signature\", \"version\": 1, "
	         "\"name\": \"s\", \"ranks\": %d, \"phases\": [{\"name\": "
	         "\"p\", \"weight\": 3, \"pattern\": {\"type\": "
	         "\"collective\", \"operation\": \"allreduce\", "
	         "\"algorithm\": \"%s\", \"ranks\": %d, \"bytes\": 1e6}}]}",
	         ranks, algorithm, ranks);
	sig = cpl_signature_parse(text, strlen(text), "s", &err);
	if (!sig)
		fail_msg("%s", err.text);
	return sig;
}

/* A phase with rank r on node r. */
static struct cpl_times_result judge(struct cpl_times_space *space,
                                     const struct cpl_phase *phase, int ranks)
{
	struct cpl_error err = {""};
	struct cpl_times_result got;
	int node[MANY];

	for (int i = 0; i < ranks; i++)
		node[i] = i;
	if (cpl_times_of(space,
	                 &(struct cpl_times_job){.phase = phase,
	                                         .n_phases = 1,
	                                         .ranks = ranks,
	                                         .ranks_per_node = 1,
	                                         .n_hosts = ranks,
	                                         .node = node},
	                 NULL, &got, &err))
		fail_msg("%s", err.text);
	return got;
}

static struct cpl_comm *comm_of_round(const struct cpl_phase *phase,
                                      int64_t round, int ranks)
{
	struct cpl_comm_entry entry[MANY];
	int n = 0;

	for (int r = 0; r < ranks; r++) {
		struct cpl_exchange x = cpl_phase_round(phase, round, r);

		if (x.to >= 0 && x.bytes > 0)
			entry[n++] = (struct cpl_comm_entry){r, x.to, x.bytes, 1};
	}
	return cpl_comm_build(ranks, entry, n, NULL);
}

/* Of few rounds each waits for the one before it, but ranks for no others than their
 * own partners; of a ring's many all is sent at once. */
static void test_rounds(void **state)
{
	static const struct {
		const char *algorithm;
		int ranks, rounds;
		bool apart;
	} row[] = {{"recursive-doubling", 64, 6, true},
	           {"recursive-doubling", 8, 3, true},
	           {"ring", 16, 30, true},
	           {"ring", 40, 78, false}};
	struct cpl_network *net = parse_network(torus);
	struct cpl_times_space *space =
	        cpl_times_space_new(net, cpl_routing_minimal(net), NULL);

	(void)state;
	assert_non_null(space);
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		int ranks = row[i].ranks;
		struct cpl_signature *sig = allreduce(row[i].algorithm, ranks);
		const struct cpl_phase *phase = sig->phase;
		struct cpl_times_result got = judge(space, phase, ranks), once;
		struct cpl_rows *rows = cpl_rows_of_phase(phase, ranks, NULL);
		struct cpl_comm *all = cpl_rows_comm(rows, NULL);
		double sum = 0, sent;

		print_message("%s of %d\n", row[i].algorithm, ranks);
		assert_int_equal(cpl_phase_rounds(phase), row[i].rounds);
		assert_int_equal(got.phase, 0);
		once = judge(space, &(struct cpl_phase){.weight = 3, .comm = all},
		             ranks);
		for (int64_t k = 0; k < row[i].rounds; k++) {
			struct cpl_comm *comm = comm_of_round(phase, k, ranks);

			struct cpl_times_result of = judge(
			        space,
			        &(struct cpl_phase){.weight = 3, .comm = comm},
			        ranks);

			sum += of.seconds - of.latency;
			cpl_comm_free(comm);
		}
		sent = got.seconds - got.latency;
		assert_true(got.seconds >= got.busiest);
		if (!row[i].apart)
			assert_number(got.seconds, once.seconds, 0);
		/* A ring's rounds are on the same links, which are never idle. */
		else if (!strcmp(row[i].algorithm, "ring"))
			assert_number(sent, sum, 1e-12 * sum);
		else
			assert_true(sent <= sum * (1 + 1e-12) && sent > sum / 2);
		cpl_comm_free(all);
		cpl_rows_free(rows);
		cpl_signature_free(sig);
	}
	cpl_times_space_free(space);
	cpl_network_free(net);
}

/* 1 GB/s along x, else 10. */
static const char rows_of_two[] =
        "{\"format\": \"commplace-network\", \"version\": 1, \"type\": "
        "\"torus\", \"dims\": [2, 4], \"wrap\": [false, false], "
        "\"bandwidth\": {\"dim\": [1e9, 10e9], \"injection\": 10e9}, "
        "\"nodes\": \"n[0-7]\"}";

/* Seconds among others as meetings tell of them: each link is one of its own. */
static double among(struct cpl_times *times, const struct cpl_network *net,
                    const struct cpl_load *others)
{
	int64_t n = cpl_times_links(net), n_rates;
	const struct cpl_times_rate *rate = cpl_times_rates(times, &n_rates);
	int *meeting = malloc((size_t)n * sizeof(*meeting));
	struct cpl_meeting *sum = calloc((size_t)n, sizeof(*sum));
	double seconds;

	assert_non_null(meeting);
	assert_non_null(sum);
	for (int64_t l = 0; l < n; l++) {
		meeting[l] = *cpl_times_at(others, l) > 0 ? (int)l : -1;
		sum[l].rate = *cpl_times_at(others, l);
		sum[l].squares = sum[l].rate * sum[l].rate;
	}
	for (int64_t i = 0; i < n_rates; i++) {
		sum[rate[i].link].rate += rate[i].rate;
		sum[rate[i].link].squares += rate[i].rate * rate[i].rate;
	}
	assert_int_equal(cpl_times_share(times, meeting, 1, NULL), 0);
	seconds = cpl_times_among(times, sum);
	free(meeting);
	free(sum);
	return seconds;
}

/*
 * Of eight ranks the first four send along x in round 0, each on a link of its own, the
 * others in round 1, and in round 2 two of each. A rank goes on when its own exchange is
 * done: after round 0 the first four are late and the others are not, who are so after
 * round 1, in which the first lose nothing. Others on the links to the right hold up
 * those alone who pass them, each in its own round. Of more flows each round takes all half
 * of what the slow ones take, and half of what the mean one does by itself.
 */
static void test_chain(void **state)
{
	static const int node[] = {0, 1, 2, 3, 4, 6, 5, 7};
	static const struct {
		double used; /* by others, of each of these links */
		double milliseconds;
		double of_many; /* were they so */
	} row[] = {{0, 1 + 0.1 + 1, 3 * (1 + 0.55) / 2},
	           {0.5, 1.5 + 0.1 + 1.5, 3 * (1.5 + 0.55) / 2}};
	struct cpl_network *net = parse_network(rows_of_two);
	struct cpl_times_space *space =
	        cpl_times_space_new(net, cpl_routing_minimal(net), NULL);
	struct cpl_signature *sig = allreduce("recursive-doubling", 8);
	struct cpl_times *times = cpl_times_open(sig->phase, 1, 8, NULL);
	/* Packets' on ways of 3, 3 and 6 links but for the slowest. */
	double late = 3 * CPL_TIMES_PACKET * (0.2e-9 + 0.2e-9 + 0.5e-9);
	struct cpl_times_result got;
	struct cpl_load others;

	(void)state;
	assert_non_null(space);
	assert_non_null(times);
	assert_int_equal(cpl_load_init_rates(&others, net, NULL), 0);
	for (int exact = 1; exact >= 0; exact--) {
		times->exact = exact ? CPL_TIMES_EXACT : 0;
		assert_int_equal(cpl_times_order(times, NULL, 1, 8, NULL), 0);
		assert_int_equal(cpl_times_put(times, space, node, NULL), 0);
		for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
			double want = 3e-3 * (exact ? row[i].milliseconds
			                            : row[i].of_many);

			for (int64_t l = 0; l < net->n_links; l++)
				if (net->link_to[l] == net->link_from[l] + 1) {
					others.link[l] = row[i].used * 1e9;
					others.squares[l] =
					        others.link[l] * others.link[l];
				}
			cpl_times_judge(times, &others, false, &got);
			assert_number(got.seconds - got.waiting - got.latency,
			              want, (exact ? 1e-12 : 0.01) * want);
			assert_true((got.waiting > 0) == (row[i].used > 0));
			assert_number(among(times, net, &others), got.seconds,
			              1e-12 * got.seconds);
			if (!exact)
				continue;
			assert_number(got.latency, late, 1e-9 * late);
			assert_number(got.alone - late, 3e-3 * row[0].milliseconds,
			              1e-12);
			/* 2 MB pass one of these links at the most. */
			assert_number(got.busiest, 6e-3 * (1 + row[i].used),
			              1e-12);
		}
	}
	cpl_load_free(&others);
	cpl_times_close(times);
	cpl_signature_free(sig);
	cpl_times_space_free(space);
	cpl_network_free(net);
}

/* Of 128 hosts on one router each round has more flows than are gone through, which share
 * nothing: half way between one by itself and all that pass two links in turn. */
static void test_many(void **state)
{
	struct cpl_network *net = parse_network(
	        "{\"format\": \"commplace-network\", \"version\": 1, \"type\": "
	        "\"torus\", \"dims\": [2], \"nodes_per_router\": 128, "
	        "\"bandwidth\": {\"dim\": [1e9], \"injection\": 2e9}, "
	        "\"nodes\": \"n[0-255]\"}");
	struct cpl_times_space *space =
	        cpl_times_space_new(net, cpl_routing_minimal(net), NULL);
	struct cpl_signature *sig = allreduce("recursive-doubling", MANY);
	double late = 3 * 7 * CPL_TIMES_PACKET * 0.5e-9;
	double all = in_stages(0.5e-3, 2, 1e6, CPL_TIMES_AT_ONCE);
	double want = 3 * 7 * (0.5e-3 + all) / 2;
	struct cpl_times_result got = judge(space, sig->phase, MANY);

	(void)state;
	assert_number(got.latency, late, 1e-9 * late);
	assert_number(got.seconds - got.latency, want, 1e-9 * want);
	assert_number(got.alone, got.seconds, 0);
	/* Each port has passed 7 MB. */
	assert_number(got.busiest, 3 * 7 * 0.5e-3, 1e-12);
	cpl_signature_free(sig);
	cpl_times_space_free(space);
	cpl_network_free(net);
}

/* A ring on four nodes in a line, of which the middle link has two flows each way in each
 * round: half way between one and both is less than that link takes for all, also where
 * others are on another one alone. */
static void test_bound(void **state)
{
	static const int node[] = {0, 2, 1, 3};
	struct cpl_network *net = parse_network(
	        "{\"format\": \"commplace-network\", \"version\": 1, \"type\": "
	        "\"torus\", \"dims\": [4], \"wrap\": [false], \"bandwidth\": "
	        "{\"dim\": [1e9], \"injection\": 10e9}, \"nodes\": \"n[0-3]\"}");
	struct cpl_times_space *space =
	        cpl_times_space_new(net, cpl_routing_minimal(net), NULL);
	struct cpl_signature *sig = allreduce("ring", 4);
	struct cpl_times *times = cpl_times_open(sig->phase, 1, 4, NULL);
	/* 6 rounds of a quarter of 1 MB, 3 times. */
	double want = 3 * 6 * 2 * 0.25e-3;
	struct cpl_times_result got;
	struct cpl_load others;

	(void)state;
	assert_non_null(space);
	assert_non_null(times);
	assert_int_equal(cpl_load_init_rates(&others, net, NULL), 0);
	for (int64_t l = 0; l < net->n_links; l++)
		if (net->link_from[l] == 0) {
			others.link[l] = 1e7;
			others.squares[l] = 1e14;
		}
	for (int exact = 0; exact <= CPL_TIMES_EXACT; exact += CPL_TIMES_EXACT) {
		times->exact = exact;
		assert_int_equal(cpl_times_order(times, NULL, 1, 4, NULL), 0);
		assert_int_equal(cpl_times_put(times, space, node, NULL), 0);
		cpl_times_judge(times, &others, false, &got);
		assert_number(got.busiest, want, 1e-12);
		assert_number(got.seconds, want, 1e-12);
		assert_number(among(times, net, &others), want, 1e-12);
	}
	cpl_load_free(&others);
	cpl_times_close(times);
	cpl_signature_free(sig);
	cpl_times_space_free(space);
	cpl_network_free(net);
}

/* A job of one flow, on two nodes. */
static struct cpl_times *open_flow(struct cpl_times_space *space,
                                   const struct cpl_phase *phase,
                                   const int *node, struct cpl_load *rates)
{
	struct cpl_times *times = cpl_times_open(phase, 1, 2, NULL);

	assert_non_null(times);
	assert_int_equal(cpl_times_order(times, NULL, 1, 2, NULL), 0);
	assert_int_equal(cpl_times_put(times, space, node, NULL), 0);
	cpl_times_add(times, 1, rates);
	return times;
}

/* From a corner to the other of a square of which others fill one side: alone half goes
 * over each of the two, 1 GB/s; beside the others, who send as much as that half
 * meanwhile, a quarter, in one and a half times as long. The rates are those of all jobs
 * then. By flow nothing moves. */
static void test_beside_others(void **state)
{
	static const char *const name[] = {"adaptive", "dimension-order"};
	const int others[] = {0, 1}, node[] = {0, 9};
	struct cpl_comm_entry entry = {0, 1, 1e6, 1};
	struct cpl_comm *comm = cpl_comm_build(2, &entry, 1, NULL);
	struct cpl_phase phase = {.weight = 1, .comm = comm};
	struct cpl_network *net = parse_network(torus);

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct cpl_times_space *space = cpl_times_space_adaptive(
		        net, cpl_routing_find(net, name[i], NULL), NULL);
		struct cpl_load rates, want;
		struct cpl_times *job[2];
		double side, after;
		int64_t link = 0;

		assert_non_null(space);
		assert_int_equal(cpl_load_init(&rates, net, NULL), 0);
		assert_int_equal(cpl_load_init(&want, net, NULL), 0);
		while (net->link_from[link] != 0 || net->link_to[link] != 1)
			link++;
		job[0] = open_flow(space, &phase, others, &rates);
		side = rates.link[link];
		job[1] = open_flow(space, &phase, node, &rates);
		after = rates.link[link] - side;
		assert_true(after > 0);
		assert_int_equal(cpl_times_adapt(job[1], space, node, &rates,
		                                 NULL),
		                 0);
		if (i == 0)
			assert_number(rates.link[link] - side, after / 3,
			              after / 10);
		else
			assert_number(rates.link[link] - side, after, 0);
		for (int k = 0; k < 2; k++)
			cpl_times_add(job[k], 1, &want);
		for (int64_t l = 0; l < net->n_links; l++)
			assert_number(rates.link[l], want.link[l], 1e-3);
		for (int k = 0; k < 2; k++)
			cpl_times_close(job[k]);
		cpl_load_free(&rates);
		cpl_load_free(&want);
		cpl_times_space_free(space);
	}
	cpl_comm_free(comm);
	cpl_network_free(net);
}

/* The same flow alone, half of it each way, where others use a quarter of each link: that
 * counts as a sixteenth where packets could choose, as 0.105 where they could between
 * two of the ways, and as all of it by flow. */
static void test_choosing(void **state)
{
	static const struct {
		const char *routing;
		unsigned flags;
		double link; /* milliseconds of the busiest one */
	} row[] = {{"adaptive", 0, 0.5 * 1.0625},
	           {"adaptive", CPL_ROUTING_TWO_WAYS, 0.5 * (1 + pow(0.25, 1.625))},
	           {"dimension-order", 0, 1.25}};
	const int node[] = {0, 9};
	struct cpl_comm_entry entry = {0, 1, 1e6, 1};
	struct cpl_comm *comm = cpl_comm_build(2, &entry, 1, NULL);
	struct cpl_phase phase = {.weight = 1, .comm = comm};
	struct cpl_network *net = parse_network(torus);

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct cpl_routing routing =
		        *cpl_routing_find(net, row[i].routing, NULL);
		struct cpl_times_space *space =
		        cpl_times_space_adaptive(net, &routing, NULL);
		/* By flow it is solved exactly, else it passes 0.5 ms twice besides. */
		double want = row[i].link > 1
		                      ? row[i].link
		                      : in_stages(row[i].link,
		                                  1 + 2 * pow(0.5 / row[i].link, 4),
		                                  1e6, CPL_TIMES_ADAPTING_AT_ONCE);
		struct cpl_times_result got;
		struct cpl_load rates, own;
		struct cpl_times *times;

		assert_non_null(space);
		routing.flags |= row[i].flags;
		assert_int_equal(cpl_load_init_rates(&rates, net, NULL), 0);
		assert_int_equal(cpl_load_init(&own, net, NULL), 0);
		times = open_flow(space, &phase, node, &own);
		for (int64_t l = 0; l < net->n_links; l++) {
			rates.link[l] = 0.25e9;
			rates.squares[l] = 0.25e9 * 0.25e9;
		}
		cpl_times_judge(times, &rates, false, &got);
		assert_number(got.seconds - got.waiting - got.latency, want * 1e-3,
		              1e-9);
		cpl_times_close(times);
		cpl_load_free(&rates);
		cpl_load_free(&own);
		cpl_times_space_free(space);
	}
	cpl_comm_free(comm);
	cpl_network_free(net);
}

/* Pairs of hosts of which each has other bytes: of 80, more than are told apart. */
static void test_unlike(void **state)
{
	static struct cpl_comm_entry entry[80 * 79];
	struct cpl_network *net = parse_network(torus);
	struct cpl_phase phase = {.weight = 1};
	struct cpl_times *times, *packed;
	uint64_t bytes;

	(void)state;
	for (int ranks = 64; ranks <= 80; ranks += 16) {
		int n = 0;

		for (int i = 0; i < ranks; i++)
			for (int k = 0; k < ranks; k++)
				if (i != k) {
					entry[n] = (struct cpl_comm_entry){
					        i, k, 1 + n, 1};
					n++;
				}
		phase.comm = cpl_comm_build(ranks, entry, n, NULL);
		times = cpl_times_open(&phase, 1, ranks, NULL);
		assert_int_equal(cpl_times_order(times, NULL, 1, ranks, NULL), 0);
		assert_int_equal(cpl_times_pack(times, net, UINT64_MAX, &packed,
		                                &bytes, NULL),
		                 0);
		assert_true((packed != NULL) == (ranks == 64));
		cpl_times_close(packed);
		cpl_times_close(times);
		cpl_comm_free(phase.comm);
	}
	cpl_network_free(net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_rounds),
	        cmocka_unit_test(test_chain),
	        cmocka_unit_test(test_many),
	        cmocka_unit_test(test_bound),
	        cmocka_unit_test(test_beside_others),
	        cmocka_unit_test(test_choosing),
	        cmocka_unit_test(test_unlike),
	};

	return cmocka_run_group_tests_name("times_rounds", tests, NULL, NULL);
}
