/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * No memory: every allocation of a load and an evaluation fails once. The
 * linker puts these allocators in front of the library's (--wrap).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/hostlist.h"
#include "network/network.h"
#include "network/network_internal.h"
#include "traffic/traffic.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
char *__wrap_strdup(const char *text);

/* Allocations until one fails; below 0 none does. */
static int left = -1;

static int fails(void)
{
	return left >= 0 && left-- == 0;
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
	return fails() ? NULL : __real_realloc(p, size);
}

char *__wrap_strdup(const char *text)
{
	return fails() ? NULL : __real_strdup(text);
}

static const char dragonfly[] =
        "{\"format\": \"commplace-network\", \"version\": 1, "
        "\"type\": \"dragonfly\", \"groups\": 2, \"rows\": 2, \"columns\": 2, "
        "\"routing\": \"SD\", \"nodes\": \"n[0-3],a[4-7]\"}";
static const char torus[] =
        "{\"format\": \"commplace-network\", \"version\": 1, "
        "\"type\": \"torus\", \"dims\": [2, 2], "
        "\"nodes\": {\"0\": \"a\", \"3\": \"b\"}}";

static const char fattree[] =
        "{\"format\": \"commplace-network\", \"version\": 1, "
        "\"type\": \"fattree\", \"levels\": [{\"down\": 2, \"up\": 2}], "
        "\"nodes\": \"n[0-1]\"}";
static const char graph[] =
        "{\"format\": \"commplace-network\", \"version\": 1, "
        "\"type\": \"graph\", \"routers\": 3, \"node_routers\": 2, "
        "\"links\": [[0, 2], [1, 2]], \"nodes\": \"n[0-1]\"}";
static const char haec[] =
        "{\"format\": \"commplace-network\", \"version\": 1, "
        "\"type\": \"haec\", \"dims\": [2, 1, 2], "
        "\"nodes\": \"n[0-3]\"}";

/* 0, or -1 with err: a network, a load and its numbers. */
static int work(const char *text, struct cpl_error *err)
{
	struct cpl_network *net =
	        cpl_network_parse(text, strlen(text), "net", err);
	struct cpl_comm comm = {.ranks = 2};
	struct cpl_traffic_work *buffers = NULL;
	struct cpl_load load = {NULL, NULL, NULL};
	struct cpl_class_stats stats;
	int rc = -1;

	if (!net)
		return -1;
	buffers = cpl_traffic_work_new(net, &comm, err);
	if (buffers && !cpl_load_init(&load, net, err) &&
	    !cpl_class_stats(load.link, net->n_links, &stats, err))
		rc = 0;
	cpl_load_free(&load);
	cpl_traffic_work_free(buffers);
	cpl_network_free(net);
	return rc;
}

static void check(const char *text, int at_least)
{
	int n = 0;

	for (;; n++) {
		struct cpl_error err = {""};
		int rc;

		left = n;
		rc = work(text, &err);
		if (rc == 0)
			break;
		left = -1;
		assert_non_null(strstr(err.text, "out of memory"));
	}
	left = -1;
	/* The allocators were really in the way. */
	assert_true(n >= at_least);
}

static void test_every_allocation_may_fail(void **state)
{
	check(dragonfly, 20);
	check(torus, 20);
	check(fattree, 20);
	check(graph, 25);
	check(haec, 20);
}

static void test_routes_without_memory(void **state)
{
	static const char text[] = "0 1 2 1\n1 0 2 0\n";
	struct cpl_error err = {""};
	int n = 0;

	for (;; n++) {
		struct cpl_network *net =
		        cpl_network_parse(graph, strlen(graph), "net", &err);
		int rc;

		assert_non_null(net);
		left = n;
		rc = cpl_network_parse_routes(net, text, strlen(text), "r",
		                              &err);
		left = -1;
		cpl_network_free(net);
		if (rc == 0)
			break;
		assert_non_null(strstr(err.text, "out of memory"));
	}
	assert_true(n >= 8);
}

static void test_folding_without_memory(void **state)
{
	struct cpl_hostlist list = {0};
	struct cpl_error err = {""};

	assert_int_equal(cpl_hostlist_parse(&list, "n[0-3]", &err), 0);
	left = 0;
	assert_null(cpl_hostlist_format(list.name, list.count));
	left = -1;
	cpl_hostlist_free(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_every_allocation_may_fail),
	        cmocka_unit_test(test_routes_without_memory),
	        cmocka_unit_test(test_folding_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
