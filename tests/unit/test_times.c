/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/random.h"
#include "number.h"
#include "network_text.h"
#include "traffic/times.h"
#include "traffic/workload.h"

#define HEAD "{\"format\": \"commplace-network\", \"version\": 1, "

/* Bandwidths: 1 GB/s between routers, 10 GB/s into them. */
#define CHAIN                                                                  \
	HEAD "\"type\": \"torus\", \"dims\": [5], \"wrap\": [false], "         \
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
	for (int i = 0; i < s->net->n_nodes; i++)
		s->node[i] = i;
	if (cpl_times_order(s->times, NULL, 1, phase[0].comm->ranks, &err) ||
	    cpl_times_place(s->times, s->space, s->node, &err))
		fail_msg("%s", err.text);
}

static void tear_down(struct setting *s)
{
	cpl_times_close(s->times);
	cpl_times_space_free(s->space);
	cpl_network_free(s->net);
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
		assert_number(got.seconds, j->seconds, 1e-9);
		assert_number(got.alone, j->seconds, 1e-9);
		assert_number(got.busiest, j->busiest, 1e-9);
		assert_number(got.waiting, 0, 0);
		if (j->link != -2)
			assert_int_equal(got.link, j->link);
		assert_true(got.exact);
		tear_down(&s);
		cpl_comm_free(comm);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_closed_forms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
