/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>

#include "unit.h"

#include "base/error.h"
#include "base/logarithm.h"
#include "base/printable.h"
#include "base/random.h"
#include "base/registry.h"
#include "number.h"

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

static void test_random_one_after_the_other(void **state)
{
	uint64_t key = cpl_random_key(5, CPL_STREAM_TRAFFIC), at = key;

	for (uint64_t c = 0; c < 10; c++)
		assert_int_equal(cpl_random_next(&at), cpl_random_at(key, c));
}

struct thing {
	CPL_ENTRY;
	int size;
};

static const struct thing small = {.name = "small-thing",
                                   .short_name = "ST",
                                   .summary = "a small one",
                                   .size = 1},
                          large = {.name = "large-thing",
                                   .short_name = "LT",
                                   .summary = "a large one",
                                   .size = 9},
                          bare = {.name = "bare", .flags = 1};
static const struct cpl_entry *const things[] = {&small.entry, &large.entry,
                                                 &bare.entry, NULL};
static const struct cpl_registry registry = {.entry = things};

static bool is_larger(const struct cpl_entry *entry, const void *context)
{
	return ((const struct thing *)entry)->size > *(const int *)context;
}

static const struct thing *find(const char *name)
{
	return (const struct thing *)cpl_registry_find(
	        &registry, name, strlen(name), NULL, NULL);
}

static void test_registry_finds_by_both_names(void **state)
{
	const struct cpl_registry exact = {.entry = things, .exact = true};
	int least = 5;

	assert_ptr_equal(find("small-thing"), &small);
	assert_ptr_equal(find("lt"), &large);
	assert_ptr_equal(find("BARE"), &bare);
	assert_int_equal(find("LARGE-thing")->size, 9);
	assert_null(find("large"));
	assert_null(find(""));
	assert_ptr_equal(cpl_registry_find(&registry, "st:option", 2, NULL,
	                                   NULL),
	                 &small.entry);
	assert_null(cpl_registry_find(&exact, "Bare", 4, NULL, NULL));
	assert_null(cpl_registry_find(&registry, "st", 2, is_larger, &least));
	assert_ptr_equal(
	        cpl_registry_find(&registry, "lt", 2, is_larger, &least),
	        &large.entry);
}

/* A program's table goes on where the library's ends. */
static void test_registry_with_more(void **state)
{
	static const struct thing own = {.name = "own", .size = 1};
	static const struct cpl_entry *const more[] = {&own.entry, NULL};
	const struct cpl_registry all = {.entry = more, .base = &registry};
	char text[64];

	assert_ptr_equal(cpl_registry_at(&all, 0), &small);
	assert_ptr_equal(cpl_registry_at(&all, 3), &own);
	assert_null(cpl_registry_at(&all, 4));
	assert_null(cpl_registry_at(&all, 1000));
	assert_null(cpl_registry_at(&all, -1));
	assert_null(cpl_registry_at(&registry, 1000));
	assert_ptr_equal(cpl_registry_find(&all, "own", 3, NULL, NULL), &own);
	assert_ptr_equal(cpl_registry_find(&all, "bare", 4, NULL, NULL), &bare);
	assert_string_equal(
	        cpl_registry_names(&all, 0, NULL, NULL, text, sizeof(text)),
	        "small-thing, large-thing, bare, own");
}

static void test_registry_lists(void **state)
{
	char text[64];
	const char *words[3];
	int least = 0;

	assert_string_equal(cpl_registry_names(&registry, 0, NULL, NULL, text,
	                                       sizeof(text)),
	                    "small-thing, large-thing, bare");
	assert_string_equal(
	        cpl_registry_names(&registry, CPL_NAMES_SHORT | CPL_NAMES_OR,
	                           NULL, NULL, text, sizeof(text)),
	        "small-thing (ST), large-thing (LT) or bare");
	assert_string_equal(cpl_registry_names(&registry, CPL_NAMES_OR,
	                                       is_larger, &least, text,
	                                       sizeof(text)),
	                    "small-thing or large-thing");
	assert_string_equal(
	        cpl_registry_names(&registry, 0, NULL, NULL, text, 16),
	        "small-thing, la");
	assert_int_equal(cpl_registry_words(&registry, words, 3), 2);
	assert_string_equal(words[1], "large-thing");
	assert_null(words[2]);
	assert_string_equal(cpl_registry_hint(&registry, "lareg-thing", text,
	                                      sizeof(text)),
	                    " (did you mean large-thing?)");
	assert_string_equal(
	        cpl_registry_hint(&registry, "xyz", text, sizeof(text)), "");
}

/* Fault 20: names of files reached terminals with their escape sequences. */
static void test_logarithm(void **state)
{
	static const double x[] = {1e-300, 1e-12, 0.3, 0.7071067811865475,
	                           0.9999999999, 1, 1.5, 2, 10, 3e18, 1e300};

	for (size_t i = 0; i < sizeof(x) / sizeof(*x); i++) {
		double l = cpl_log_natural(x[i]);

		assert_number(l, log(x[i]), 1e-15 * (1 + fabs(l)));
		assert_number(cpl_exp_natural(l), x[i], 4e-13 * x[i]);
	}
	assert_number(cpl_log_natural(1), 0, 0);
	assert_number(cpl_exp_natural(0), 1, 0);
	assert_number(cpl_exp_natural(1), exp(1), 1e-15);
	assert_number(cpl_exp_natural(-700), exp(-700), 1e-12 * exp(-700));
}

static void test_printable(void **state)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
	        {"", ""},
	        {"n[0-3] ~", "n[0-3] ~"},
	        {"a\nb\tc\x1b[2Jd\x7f", "a?b?c?[2Jd?"},
	        {"Gr\xc3\xb6\xc3\x9f" "e \xe2\x82\xac \xf0\x9f\x90\xa7",
	         "Gr\xc3\xb6\xc3\x9f" "e \xe2\x82\xac \xf0\x9f\x90\xa7"},
	        {"csi \xc2\x9b" "2J", "csi ?2J"},     /* U+009B */
	        {"\xc2\xa0", "\xc2\xa0"},            /* U+00A0 is a blank */
	        {"\xe2\x80\xa8x\xe2\x80\xaey", "?x?y"}, /* U+2028, U+202E */
	        {"\xe2\x81\xa6z", "?z"},             /* U+2066 */
	        {"\xc0\xaf", "??"},                   /* not the shortest form */
	        {"\xed\xa0\x80", "???"},              /* a surrogate */
	        {"\xf4\x90\x80\x80", "????"},         /* above U+10FFFF */
	        {"\xff\xc3", "??"},
	        {"cut \xe2\x82", "cut ??"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char text[64];

		strcpy(text, cases[i].text);
		assert_int_equal(cpl_is_printable(text),
		                 !strcmp(text, cases[i].want));
		assert_ptr_equal(cpl_printable(text), text);
		assert_string_equal(text, cases[i].want);
	}
}

/* The same values, and nothing in it that moves a terminal. */
static void test_json_is_printable(void **state)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
	        {"", ""},
	        {"{\n  \"a\": \"n0 \\n\"\n}", "{\n  \"a\": \"n0 \\n\"\n}"},
	        {"\"Gr\xc3\xb6\xc3\x9f" "e\"", "\"Gr\xc3\xb6\xc3\x9f" "e\""},
	        {"\"\xc2\x9b" "2Jx\"", "\"\\u009b2Jx\""},
	        {"\"\x7f\xc2\x80\xc2\xa0\"", "\"\\u007f\\u0080\xc2\xa0\""},
	        {"\"\xd8\x9c\xe2\x80\xae\"", "\"\\u061c\\u202e\""},
	        {"\"\xf0\x9f\x90\xa7\xe2\x81\xa9\"",
	         "\"\xf0\x9f\x90\xa7\\u2069\""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *text = cpl_printable_json(strdup(cases[i].text));

		assert_string_equal(text, cases[i].want);
		free(text);
	}
}

static void test_errors_are_printable(void **state)
{
	struct cpl_error err = {""};

	cpl_fail(&err, "no '%s'", "\xc2\x9b" "31m\r");
	assert_string_equal(err.text, "no '?31m?'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_error_prefix),
		cmocka_unit_test(test_error_is_cut_not_overrun),
		cmocka_unit_test(test_shuffle_is_a_permutation_and_repeats),
		cmocka_unit_test(test_below_is_uniform),
		cmocka_unit_test(test_random_one_after_the_other),
		cmocka_unit_test(test_registry_finds_by_both_names),
		cmocka_unit_test(test_registry_with_more),
		cmocka_unit_test(test_registry_lists),
		cmocka_unit_test(test_logarithm),
		cmocka_unit_test(test_printable),
		cmocka_unit_test(test_json_is_printable),
		cmocka_unit_test(test_errors_are_printable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
