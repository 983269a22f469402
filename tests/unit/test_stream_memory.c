/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * No memory: every allocation of an evaluation without a matrix, and of an
 * adaptive solve of many pairs, fails once. failing_alloc.h has the allocators.
 */
#include "unit.h"

#include "routing/adaptive/adaptive.h"
#include "traffic/dilation.h"
#include "failing_alloc.h"
#include "routing_cases.h"

static const char text[] =
        "{\"format\":\"commplace-signature\",\"version\":1,\"ranks\":64,"
        "\"phases\":[{\"pattern\":{\"type\":\"many-to-many\","
        "\"dims\":[4,4,4],\"axis\":1,\"bytes\":3}},"
        "{\"traffic\":[[0,63,5,1]]}]}";

static const char *const machines[] = {
        "{\"format\":\"commplace-network\",\"version\":1,"
        "\"type\":\"dragonfly\",\"groups\":4,\"rows\":2,\"columns\":2,"
        "\"nodes\":\"n[0-15]\"}",
        "{\"format\":\"commplace-network\",\"version\":1,"
        "\"type\":\"dragonfly\",\"groups\":4,\"rows\":2,\"columns\":2,"
        "\"global_links_per_group_pair\":2,\"nodes\":\"n[0-15]\"}",
};

/* Signature, all routings but the sampled one, and dilations. */
static int attempt(const struct cpl_network *net, struct cpl_load *load,
                   const int *node, struct cpl_error *err)
{
	const struct cpl_routing *routing[] = {&cpl_routing_static_direct,
	                                       &cpl_routing_static_indirect,
	                                       &cpl_routing_adaptive_hybrid};
	struct cpl_signature *sig =
	        cpl_signature_parse(text, sizeof(text) - 1, "job", err);
	struct cpl_rows *rows = sig ? cpl_rows_new(sig, NULL, err) : NULL;
	struct cpl_workload *w[3] = {NULL, NULL, NULL};
	struct cpl_job job = {.rows = rows, .node = node, .ranks_per_node = 4};
	struct cpl_dilation dilation;
	int rc = rows ? 0 : -1;

	for (int i = 0; i < 3 && !rc; i++) {
		w[i] = cpl_workload_new(net, 1, err);
		if (w[i])
			cpl_workload_clear(w[i], load);
		else
			rc = -1;
	}
	if (!rc)
		rc = cpl_workload_add_each(w, routing, 3, &job, err);
	for (int i = 0; i < 3 && !rc; i++)
		rc = cpl_workload_solve(w[i], err);
	if (!rc)
		rc = cpl_dilation(net, routing[0], &job, 1, 1, &dilation, err);
	for (int i = 0; i < 3; i++)
		cpl_workload_free(w[i]);
	cpl_rows_free(rows);
	cpl_signature_free(sig);
	return rc;
}

static void test_every_allocation(void **state)
{
	int node[16];

	for (int i = 0; i < 16; i++)
		node[i] = i;
	for (size_t m = 0; m < 2; m++) {
		struct cpl_error err = {""};
		struct cpl_network *net = cpl_network_parse(
		        machines[m], strlen(machines[m]), "machine", &err);
		struct cpl_load load;
		int n = 0, rc;

		assert_non_null(net);
		assert_int_equal(cpl_load_init(&load, net, &err), 0);
		do {
			struct cpl_error fresh = {""};

			left = n++;
			rc = attempt(net, &load, node, &fresh);
			/* The JSON library has memory functions of its own. */
			if (rc && left < 0)
				assert_non_null(strstr(fresh.text, "memory"));
			assert_true(n < 1000);
		} while (left < 0);
		left = -1;
		assert_int_equal(rc, 0);
		assert_in_range(n, 30, 999);
		cpl_load_free(&load);
		cpl_network_free(net);
	}
}

static void test_many_pairs(void **state)
{
	struct cpl_network *net = fly(9, 4, 4, 1, 1);
	struct cpl_flows pairs = everybody(net->n_routers);
	double *load = calloc((size_t)net->n_links, sizeof(*load));
	int n = 0, rc;

	do {
		struct cpl_error err = {""};
		struct cpl_adaptive_job job = {
		        &pairs, &cpl_routing_adaptive_hybrid, {0, 0}};
		struct cpl_adaptive a = {.net = net,
		                         .job = &job,
		                         .n_jobs = 1,
		                         .iterations = 1,
		                         .load = load};

		left = n++;
		rc = cpl_adaptive_solve(&a, &err);
		if (rc)
			assert_non_null(strstr(err.text, "memory"));
	} while (left < 0);
	left = -1;
	assert_int_equal(rc, 0);
	assert_in_range(n, 4, 20);
	free(load);
	cpl_flows_free(&pairs);
	cpl_network_free(net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_every_allocation),
	        cmocka_unit_test(test_many_pairs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
