/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * No memory: every allocation of every mapper fails once, and must give an
 * error or a layout, and no leak (with sanitizers). failing_alloc.h has the
 * allocators.
 */
#include "unit.h"

#include "mapping/mapping_internal.h"
#include "mapping_jobs.h"
#include "failing_alloc.h"

/* More allocations than this are failed a few at a time. */
#define ONE_BY_ONE 400

static int step(int n)
{
	return n < ONE_BY_ONE ? 1 : n / 20;
}

static void exhaust(const struct cpl_mapper *mapper, struct job *job)
{
	int n = 0, failed = 0;

	for (;; n += step(n)) {
		struct cpl_error err = {""};
		struct cpl_map_result r;
		int rc;

		left = n;
		rc = cpl_map(mapper, &job->req, &r, &err);
		if (left >= 0) {
			left = -1;
			assert_int_equal(rc, 0);
			cpl_map_result_free(&r);
			break;
		}
		if (rc) {
			if (!strstr(err.text, "out of memory"))
				fail_msg("%s, allocation %d: %s", mapper->name,
				         n, err.text);
			assert_null(r.rank_host);
			failed++;
			continue;
		}
		for (int i = 0; i < job->req.comm->ranks; i++)
			assert_in_range(r.rank_host[i], 0,
			                job->req.n_hosts - 1);
		cpl_map_result_free(&r);
	}
	/* The allocators were really in the way. */
	assert_true(failed > 5);
}

static void all_mappers(struct job *job)
{
	job->req.work = 20;
	for (int k = 0; cpl_mapper_at(k); k++)
		exhaust(cpl_mapper_at(k), job);
}

static void test_torus(void **state)
{
	struct cpl_comm_entry entry[16];
	struct job job;

	for (int i = 0; i < 16; i++)
		entry[i] = (struct cpl_comm_entry){i, (i + 1) % 16, 10, 1};
	set_up(&job, torus(4, 2, 2, true), build(16, entry, 16), 8);
	for (int h = 0; h < 8; h++)
		job.slots[h] = 2;
	all_mappers(&job);
	tear_down(&job);
}

static void test_uneven_dragonfly(void **state)
{
	struct job job;

	set_up(&job, dragonfly(), random_comm(12, 3, 1), 5);
	for (int h = 0; h < 5; h++)
		job.host[h] = 3 * h;
	job.slots[0] = 4;
	job.slots[1] = 3;
	job.slots[2] = 2;
	job.slots[3] = 2;
	all_mappers(&job);
	tear_down(&job);
}

static void test_tree_of_switches(void **state)
{
	struct job job;

	set_up(&job,
	       parse_network(
	               "{\"format\":\"commplace-network\",\"version\":1,"
	               "\"type\":\"graph\",\"routers\":7,\"node_routers\":4,"
	               "\"nodes_per_router\":2,\"links\":[[0,4],[1,4],[2,5],"
	               "[3,5],[4,6],[5,6]],\"nodes\":\"n[0-7]\"}"),
	       random_comm(8, 3, 1), 8);
	all_mappers(&job);
	tear_down(&job);
}

static void test_weights_and_spare_slots(void **state)
{
	static const int weight[] = {1, 2, 1, 2, 1, 2};
	struct job job;

	set_up(&job, torus(4, 2, 2, true), random_comm(6, 3, 1), 4);
	for (int h = 0; h < 4; h++)
		job.slots[h] = 3;
	exhaust(&cpl_mapper_recursive, &job);
	job.req.weight = weight;
	exhaust(&cpl_mapper_recursive, &job);
	tear_down(&job);
}

/* Fault: where it goes on from the order by switches, what was freed before was
 * freed again. */
static void test_repair(void **state)
{
	int n = 0;

	for (uint64_t seed = 1; seed < 17; seed++) {
		struct job job;
		int rc = -1;

		set_up(&job, seed % 2 ? dragonfly() : torus(4, 2, 2, true),
		       random_comm(16, 1, seed), 16);
		job.req.objective = CPL_OBJECTIVE_BUSIEST;
		for (int i = 0; rc; i++, n++) {
			struct cpl_error err = {""};

			for (int r = 0; r < 16; r++)
				job.rank_host[r] = r * 5 % 16;
			left = i;
			rc = cpl_map_repair(&job.req, job.rank_host, &err);
			left = -1;
			if (rc)
				assert_string_equal(err.text, "out of memory");
		}
		tear_down(&job);
	}
	assert_true(n > 16 * 20);
}

/* What best starts from where it finds such: groups that talk to nobody else,
 * and rows and columns of a rectangle. */
static void test_groups_and_rectangles(void **state)
{
	struct cpl_comm_entry entry[16 * 16];
	struct job job;
	int n = 0;

	for (int i = 0; i < 12; i++)
		entry[i] = (struct cpl_comm_entry){i, i / 3 * 3 + (i + 1) % 3,
		                                   10, 1};
	set_up(&job, dragonfly(), build(12, entry, 12), 3);
	for (int h = 0; h < 3; h++)
		job.slots[h] = 3 + h;
	job.req.work = 20;
	exhaust(&cpl_mapper_best, &job);
	tear_down(&job);
	for (int a = 0; a < 16; a++)
		for (int b = 0; b < a; b++)
			if (a / 4 == b / 4 || a % 4 == b % 4)
				entry[n++] =
				        (struct cpl_comm_entry){a, b, 10, 1};
	set_up(&job, torus(4, 2, 2, true), build(16, entry, n), 16);
	job.req.work = 20;
	exhaust(&cpl_mapper_best, &job);
	tear_down(&job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_torus),
	        cmocka_unit_test(test_uneven_dragonfly),
	        cmocka_unit_test(test_tree_of_switches),
	        cmocka_unit_test(test_weights_and_spare_slots),
	        cmocka_unit_test(test_repair),
	        cmocka_unit_test(test_groups_and_rectangles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
