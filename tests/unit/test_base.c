/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/error.h"
#include "base/random.h"

static void test_error_prefix(void **state)
{
	struct cpl_error err = { "" };

	assert_int_equal(cpl_fail(&err, "line %d: bad", 7), -1);
	assert_int_equal(cpl_fail_prefix(&err, "%s: ", "a.conf"), -1);
	assert_string_equal(err.text, "a.conf: line 7: bad");
	assert_int_equal(cpl_fail(NULL, "dropped"), -1);
}

static void test_error_is_cut_not_overrun(void **state)
{
	struct cpl_error err = { "" };
	char long_text[2 * CPL_ERROR_MAX];

	memset(long_text, 'x', sizeof(long_text) - 1);
	long_text[sizeof(long_text) - 1] = '\0';
	cpl_fail(&err, "%s", long_text);
	assert_int_equal(strlen(err.text), CPL_ERROR_MAX - 1);
	cpl_fail_prefix(&err, "%s", long_text);
	assert_int_equal(strlen(err.text), CPL_ERROR_MAX - 1);
}

static void test_shuffle_is_a_permutation_and_repeats(void **state)
{
	int a[100], b[100], seen[100] = { 0 };

	for (int i = 0; i < 100; i++)
		a[i] = b[i] = i;
	cpl_random_shuffle(a, 100, 1, 2);
	cpl_random_shuffle(b, 100, 1, 2);
	assert_memory_equal(a, b, sizeof(a));
	for (int i = 0; i < 100; i++)
		seen[a[i]]++;
	for (int i = 0; i < 100; i++)
		assert_int_equal(seen[i], 1);
	cpl_random_shuffle(b, 100, 2, 2);
	assert_memory_not_equal(a, b, sizeof(a));
}

static void test_below_is_uniform(void **state)
{
	int count[7] = { 0 };

	for (int i = 0; i < 70000; i++)
		count[cpl_random_below(3, 0, (uint64_t)i, 7)]++;
	for (int i = 0; i < 7; i++) {
		assert_in_range(count[i], 9500, 10500);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_error_prefix),
		cmocka_unit_test(test_error_is_cut_not_overrun),
		cmocka_unit_test(test_shuffle_is_a_permutation_and_repeats),
		cmocka_unit_test(test_below_is_uniform),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
