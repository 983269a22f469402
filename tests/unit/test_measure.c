/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From measured transfer times to a machine. */
#include "unit.h"

#include "number.h"
#include "signature/phases/measure.h"

#define T "commplace-transfer "

/* The second letter is the group, the third the router. */
static int between(void *arg, const char *a, const char *b,
                   struct cpl_error *err)
{
	assert_string_equal(arg, "net");
	if (b[0] != 'n')
		return cpl_fail(err, "unknown host %s", b);
	if (a[1] != b[1])
		return CPL_BY_GROUP;
	return a[2] == b[2] ? CPL_BY_NODE : CPL_BY_ROUTER;
}

static json_t *measure(const char *text, struct cpl_measured_level *level,
                       struct cpl_error *err)
{
	return cpl_machine_measure(text, strlen(text), "f", "m", between,
	                           (void *)"net", level, err);
}

/* 1 us and 1 GB/s in a socket by two pairs, of which the shorter times count;
 * one time only between sockets; hosts as the network has them. */
static void test_levels(void **state)
{
	static const char text[] =
	        "srun: job 7\n" T "rank 0 n00 0\n" T "rank 1 n00 0\n" T
	        "rank 2 n00 0\n" T "rank 3 n00 1\n" T "rank 4 n00a 0\n" T
	        "rank 7 n01 0\n" T "rank 9 n10 0\n" T "pair 0 1 1000 2e-6\n" T
	        "pair 0 1 2000 9e-6\n  " T "pair 0 2 1000 5e-6\r\n" T
	        "pair 0 2 2000 3e-6\n" T "pair 0 2 4000 5e-6\n" T
	        "pair 0 3 8 7e-6\n" T "pair 0 4 8 8e-6\n" T
	        "pair 0 7 8 9e-6\n" T "pair 0 9 8 1e-5\n" T "end 10\n" T "x\n";
	struct cpl_measured_level level[CPL_MACHINE_LEVELS];
	struct cpl_error err = {""};
	json_t *root = measure(text, level, &err);
	static const double least[] = {2e-6, 7e-6, 8e-6, 9e-6, 1e-5};
	struct cpl_machine *machine;
	char *dump;

	if (!root)
		fail_msg("%s", err.text);
	for (int l = 0; l < CPL_MACHINE_LEVELS; l++) {
		assert_int_equal(level[l].pairs, l ? 1 : 2);
		assert_int_equal(level[l].sizes, l ? 1 : 3);
		assert_number(level[l].seconds[0], least[l], 0);
		assert_number(level[l].error, 0, 1e-9);
	}
	assert_number(level[0].latency, 1e-6, 1e-12);
	assert_number(level[0].per_byte, 1e-9, 1e-15);
	assert_number(level[0].bytes[1], 4000, 0);
	assert_number(level[1].latency, 7e-6, 1e-15);
	assert_number(level[1].per_byte, 0, 0);
	dump = json_dumps(root, 0);
	machine = cpl_machine_parse(dump, strlen(dump), "m", &err);
	if (!machine)
		fail_msg("%s", err.text);
	assert_number(cpl_machine_seconds(machine, CPL_BY_CORE, 8000), 9e-6,
	              1e-12);
	assert_number(cpl_machine_seconds(machine, CPL_BY_GROUP, 1), 1e-5, 0);
	assert_int_equal(json_integer_value(json_object_get(
	                         json_object_get(root, "measured"), "ranks")),
	                 10);
	cpl_machine_free(machine);
	free(dump);
	json_decref(root);
}

/* Ranks that are not bound; times that fall; a line through the origin. */
static void test_fits(void **state)
{
	static const struct {
		const char *pairs;
		double latency, per_byte, error;
	} table[] = {
	        {T "pair 0 1 8 4e-6\n" T "pair 0 1 16 2e-6\n", 2.4e-6, 0, 0.4},
	        {T "pair 0 1 8 1e-6\n" T "pair 0 1 80 2e-5\n", 0, 1.5e-7,
	         0.4},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct cpl_measured_level level[CPL_MACHINE_LEVELS];
		struct cpl_error err = {""};
		char text[400];
		json_t *root;

		snprintf(text, sizeof(text),
		         T "rank 0 n00 -1\n" T "rank 1 n00 -1\n%s" T "end 2\n",
		         table[i].pairs);
		root = measure(text, level, &err);
		if (!root)
			fail_msg("%s", err.text);
		assert_int_equal(level[CPL_BY_CORE].pairs, 0);
		assert_number(level[CPL_BY_SOCKET].latency, table[i].latency,
		              1e-4 * table[i].latency);
		assert_number(level[CPL_BY_SOCKET].per_byte, table[i].per_byte,
		              1e-4 * table[i].per_byte);
		assert_number(level[CPL_BY_SOCKET].error, table[i].error, 1e-4);
		json_decref(root);
	}
}

/* Overheads and gap: the least of all pairs of the level. */
static void test_costs(void **state)
{
	static const char text[] =
	        T "rank 0 n00 0\n" T "rank 1 n00 0\n" T "rank 2 n00 0\n" T
	        "rank 3 n01 0\n" T "pair 0 1 1000 4e-6\n" T
	        "pair 0 1 2000 5e-6\n" T "costs 0 1 1e-6 9e-7 3e-6\n" T
	        "pair 0 2 1000 9e-6\n" T "costs 0 2 2e-6 5e-7 2e-6\n" T
	        "pair 0 3 8 1e-5\n" T "end 4\n";
	struct cpl_measured_level level[CPL_MACHINE_LEVELS];
	struct cpl_error err = {""};
	json_t *root = measure(text, level, &err);
	struct cpl_machine_costs costs;
	struct cpl_machine *machine;
	char *dump;

	if (!root)
		fail_msg("%s", err.text);
	dump = json_dumps(root, 0);
	machine = cpl_machine_parse(dump, strlen(dump), "m", &err);
	if (!machine)
		fail_msg("%s", err.text);
	assert_true(level[CPL_BY_CORE].has_costs);
	assert_false(level[CPL_BY_ROUTER].has_costs);
	assert_number(level[CPL_BY_CORE].costs.latency, 15e-7, 1e-12);
	costs = cpl_machine_costs(machine, CPL_BY_CORE);
	assert_number(costs.latency, 15e-7, 1e-12);
	assert_number(costs.send, 1e-6, 0);
	assert_number(costs.receive, 5e-7, 0);
	assert_number(costs.gap, 2e-6, 0);
	assert_number(cpl_machine_occupancy(machine, CPL_BY_CORE, 2000), 3e-6,
	              1e-12);
	costs = cpl_machine_costs(machine, CPL_BY_ROUTER);
	assert_number(costs.gap, 0, 0);
	assert_number(cpl_machine_occupancy(machine, CPL_BY_ROUTER, 8), 1e-5, 0);
	cpl_machine_free(machine);
	free(dump);
	json_decref(root);
}

static void test_refused(void **state)
{
	static const struct {
		const char *text, *why;
	} bad[] = {
	        {"", "f: the program did not come to its end"},
	        {T "end 1\n", "f: no pair was measured"},
	        {T "end\n", "f:1: is not \"end RANKS\""},
	        {T "\n", "f:1: ends in the middle"},
	        {T "rank 0 n00 x\n", "f:1: is not \"rank"},
	        {T "rank 0 n00 0\n" T "pair 0 0 8\n", "f:2: bytes (1 to 1e18) and"},
	        {T "rank 0 n00 0\n" T "pair 0 0 -8 1\n", "f:2: bytes (1 to 1e18) and"},
	        {T "rank 0 n00 0\n" T "pair 0 0 1.5 1\n", "f:2: bytes (1"},
	        {T "rank 0 n00 0\n" T "costs 0 1 1 1 1\n", "f:2: of rank 1"},
	        {T "rank 0 n00 0\n" T "costs 0 0 1 1\n", "f:2: is not \"costs"},
	        {T "rank 0 n00 0\n" T "costs 0 0 1 -1 1\n",
	         "f:2: is not \"costs"},
	        {T "rank 0 n00 0\n" T "pair 0 0 8 1e-200\n", "f:2: bytes (1"},
	        {T "rank 0 n00 0\n" T "rank 1 x 0\n" T "pair 0 1 8 1\n",
	         "f:3: unknown host x"},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct cpl_measured_level level[CPL_MACHINE_LEVELS];
		struct cpl_error err = {""};

		assert_null(measure(bad[i].text, level, &err));
		if (strncmp(err.text, bad[i].why, strlen(bad[i].why)))
			fail_msg("'%s', not '%s'", err.text, bad[i].why);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_levels),
	        cmocka_unit_test(test_costs),
	        cmocka_unit_test(test_fits),
	        cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
