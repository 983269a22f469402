/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * No memory: every allocation of a decision and of a mapping fails once.
 * failing_alloc.h has the allocators.
 */
#include <stdatomic.h>
#include <stdbool.h>

#include "unit.h"

#include "base/team.h"
#include "mapping/mappers.h"
#include "mapping/quick.h"
#include "placement/decide.h"
#define OWN_FAILS
#include "failing_alloc.h"

/* Allocations until one fails, by whatever thread; below 0 none does. */
static atomic_int left = -1;

static int fails(void)
{
	return left >= 0 && atomic_fetch_sub(&left, 1) == 0;
}

static const char *const network[] = {
        "{\"format\": \"commplace-network\", \"version\": 1, "
        "\"type\": \"dragonfly\", \"groups\": 2, \"rows\": 2, \"columns\": 2, "
        "\"nodes_per_router\": 2, \"nodes\": \"n[0-15]\"}",
        "{\"format\": \"commplace-network\", \"version\": 1, "
        "\"type\": \"torus\", \"dims\": [4, 2, 2], \"nodes\": \"n[0-15]\"}",
};

struct job {
	struct cpl_network *net;
	struct cpl_comm *comm;
	const struct cpl_routing *routing;
};

static void set_up(struct job *job, const char *text)
{
	struct cpl_comm_entry entry[16];
	struct cpl_error err = {""};

	for (int i = 0; i < 16; i++)
		entry[i] = (struct cpl_comm_entry){i, i * 5 % 16, 9 + i, 1};
	job->net = cpl_network_parse(text, strlen(text), "net", &err);
	assert_non_null(job->net);
	job->comm = cpl_comm_build(16, entry, 16, &err);
	assert_non_null(job->comm);
	job->routing = cpl_routing_find(job->net, NULL, &err);
	assert_non_null(job->routing);
}

/* Without a failure, and where one was none: the same. */
static int first_node[8];
static bool is_known;

static void check_decision(const struct cpl_decision *decision)
{
	if (is_known)
		assert_memory_equal(decision->node, first_node,
		                    sizeof(first_node));
	memcpy(first_node, decision->node, sizeof(first_node));
	is_known = true;
}

static int decide(const struct job *job, struct cpl_error *err)
{
	static const unsigned char free_node[16] = {1, 1, 1, 0, 1, 1, 1, 1,
	                                            1, 1, 1, 1, 1, 1, 1, 1};
	static const int required[] = {14};
	const struct cpl_phase phase = {.weight = 2, .comm = job->comm};
	struct cpl_decide_request req = {
	        .place =
	                {
	                        .net = job->net,
	                        .free = free_node,
	                        .n_nodes_wanted = 8,
	                        .required = required,
	                        .n_required = 1,
	                },
	        .wish.policy = &cpl_placement_traffic,
	        .routing = job->routing,
	        .comm = job->comm,
	        .ranks_per_node = 2,
	        .phase = &phase,
	        .n_phases = 1,
	};
	struct cpl_decision decision;
	int rc;

	assert_int_equal(cpl_wish_units(&req.wish, job->net, "router", NULL),
	                 0);
	rc = cpl_decide(&req, &decision, err);

	if (rc)
		assert_null(decision.node);
	else
		check_decision(&decision);
	cpl_decision_free(&decision);
	return rc;
}

/* Nodes with the order of their ranks, by some threads. */
static int decide_and_map(const struct job *job, int threads,
                          struct cpl_error *err)
{
	struct cpl_decide_request req = {
	        .place = {.net = job->net, .n_nodes_wanted = 8},
	        .wish.policy = &cpl_placement_auto,
	        .routing = job->routing,
	        .comm = job->comm,
	        .ranks_per_node = 2,
	        .wish.mapper = &cpl_mapper_quick,
	};
	struct cpl_decision decision = {0};
	unsigned char free_node[16];
	int rc = -1;

	memset(free_node, 1, sizeof(free_node));
	req.place.free = free_node;
	if (threads)
		req.team = cpl_team_new(threads, err);
	if (req.team || !threads)
		rc = cpl_decide(&req, &decision, err);
	if (rc)
		assert_null(decision.node);
	else
		check_decision(&decision);
	cpl_decision_free(&decision);
	cpl_team_free(req.team);
	return rc;
}

static int decide_in_turn(const struct job *job, struct cpl_error *err)
{
	return decide_and_map(job, 0, err);
}

/* By three threads, of which each has its own part of what is needed. */
static int decide_by_team(const struct job *job, struct cpl_error *err)
{
	return decide_and_map(job, 3, err);
}

static int map(const struct job *job, struct cpl_error *err)
{
	static const int host[] = {0, 9, 3, 12};
	static const int slots[] = {4, 5, 4, 3};
	struct cpl_map_request req = {
	        .net = job->net,
	        .routing = job->routing,
	        .comm = job->comm,
	        .n_hosts = 4,
	        .host = host,
	        .slots = slots,
	};
	struct cpl_map_result result;
	int rc = cpl_map(&cpl_mapper_greedyallc, &req, &result, err);

	if (rc)
		assert_null(result.rank_host);
	cpl_map_result_free(&result);
	return rc;
}

/* Every allocation, or each so many. */
static void check(int (*work)(const struct job *, struct cpl_error *),
                  int at_least, int every)
{
	for (int i = 0; i < 2; i++) {
		struct job job;
		int n = 0;

		set_up(&job, network[i]);
		is_known = false;
		assert_int_equal(work(&job, NULL), 0);
		for (;; n += every) {
			struct cpl_error err = {""};
			bool failed;
			int rc;

			left = n;
			rc = work(&job, &err);
			failed = left < 0;
			left = -1;
			if (!failed)
				break;
			/* Giving memory back may fail without harm. */
			if (rc)
				assert_non_null(
				        strstr(err.text, "out of memory"));
		}
		/* The allocators were really in the way. */
		assert_true(n >= at_least);
		cpl_comm_free(job.comm);
		cpl_network_free(job.net);
	}
}

static void test_decision(void **state)
{
	check(decide, 20, 1);
}

static void test_decision_by_a_team(void **state)
{
	check(decide_in_turn, 20, 1);
	check(decide_by_team, 20, 5);
}

static void test_mapping(void **state)
{
	check(map, 20, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_decision),
	        cmocka_unit_test(test_decision_by_a_team),
	        cmocka_unit_test(test_mapping),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
