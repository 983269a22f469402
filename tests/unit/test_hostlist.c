/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "base/hostlist.h"
#include "base/random.h"

static void test_parse(void **state)
{
	static const struct {
		const char *text, *names; /* names joined by spaces */
	} table[] = {
	        {"", ""},
	        {"n1", "n1"},
	        {"b,a,b", "b a b"},
	        {"n[0-3,7],login1", "n0 n1 n2 n3 n7 login1"},
	        {"nid[00000-00003]", "nid00000 nid00001 nid00002 nid00003"},
	        {"n[8-11]", "n8 n9 n10 n11"},
	        {"n[08-11]", "n08 n09 n10 n11"},
	        {"n[099-100]", "n099 n100"},
	        {"n[3,1,2]", "n3 n1 n2"},
	        {"n[1,007]", "n1 n007"},
	        {"c[0-1]n[0-2]", "c0n0 c0n1 c0n2 c1n0 c1n1 c1n2"},
	        {"r[1,3]c[0-1]-ib", "r1c0-ib r1c1-ib r3c0-ib r3c1-ib"},
	        {"[1-2]", "1 2"},
	        {"a.b_c-d", "a.b_c-d"},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct cpl_hostlist list = {0};
		struct cpl_error err = {""};
		char joined[256] = "";

		assert_int_equal(cpl_hostlist_parse(&list, table[i].text, &err),
		                 0);
		for (int k = 0; k < list.count; k++) {
			strcat(joined, k ? " " : "");
			strcat(joined, list.name[k]);
		}
		assert_string_equal(joined, table[i].names);
		cpl_hostlist_free(&list);
		assert_int_equal(list.count, 0);
		assert_null(list.name);
	}
}

static void test_refused(void **state)
{
	static const struct {
		const char *text, *message;
	} table[] = {
	        {"n[0-3", "not closed"},
	        {"n[0-3,", "a bracket holds"},
	        {"n[", "a bracket holds"},
	        {"n[]", "a bracket holds"},
	        {"n[a]", "a bracket holds"},
	        {"n[1-]", "both sides"},
	        {"n[3-1]", "3-1 is reversed"},
	        {"n0-3]", "']' without '['"},
	        {"n[[1]]", "a bracket holds"},
	        {",n1", "empty name"},
	        {"n1,", "empty name"},
	        {"n1,,n2", "empty name"},
	        {"n 1", "character ' '"},
	        {"n1;n2", "character ';'"},
	        {"n/1", "character '/'"},
	        {"n\n", "character '?'"},
	        {"n[0-4194304]", "more than 4194304"},
	        {"n[0-999999999999999999]", "more than 4194304"},
	        {"n[0000000000000000001]", "a bracket holds"},
	        {"n[0-2047]c[0-2048]", "more than 4194304"},
	        {"n[0-3]c[0-65535]c[0-65535]c[0-65535]c[0-65535]",
	         "more than 4194304"},
	        {"a[0-4194303],b", "more than 4194304"},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct cpl_hostlist list = {0};
		struct cpl_error err = {""};

		assert_int_equal(cpl_hostlist_parse(&list, table[i].text, &err),
		                 -1);
		if (!strstr(err.text, table[i].message))
			fail_msg("'%s': %s", table[i].text, err.text);
		assert_null(list.name);
	}
}

static void test_long_names_are_refused(void **state)
{
	struct cpl_hostlist list = {0};
	struct cpl_error err = {""};
	char text[300];

	memset(text, 'x', sizeof(text));
	text[255] = '\0';
	assert_int_equal(cpl_hostlist_parse(&list, text, &err), 0);
	cpl_hostlist_free(&list);
	text[255] = 'x';
	text[256] = '\0';
	assert_int_equal(cpl_hostlist_parse(&list, text, &err), -1);
	strcpy(text + 250, "[9-10]-ib-x");
	assert_int_equal(cpl_hostlist_parse(&list, text, &err), -1);
	assert_non_null(strstr(err.text, "longer than 255"));
}

static void test_format(void **state)
{
	static const struct {
		const char *from, *to;
	} table[] = {
	        {"", ""},
	        {"n1", "n1"},
	        {"n0,n1,n2,n3,n7,login1", "n[0-3,7],login1"},
	        {"nid00009,nid00010", "nid[00009-00010]"},
	        {"n9,n10,n11", "n[9-11]"},
	        {"n09,n10,n99,n100", "n[09-10,99-100]"},
	        {"n3,n2,n1", "n[3,2,1]"},
	        {"n1,n1", "n[1,1]"},
	        {"n1,n02,n3", "n[1,02,3]"},
	        {"c0n[0-3],c1n[0-3]", "c0n[0-3],c1n[0-3]"},
	        {"a1-ib,a2-ib", "a1-ib,a2-ib"},
	        {"a,b,a", "a,b,a"},
	        {"x1,a,x2", "x1,a,x2"},
	        {"n1,nn2,n3", "n1,nn2,n3"},
	        {"n0000000000000000001,n2", "n0000000000000000001,n2"},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct cpl_hostlist list = {0}, again = {0};
		struct cpl_error err = {""};
		char *text;

		assert_int_equal(cpl_hostlist_parse(&list, table[i].from, &err),
		                 0);
		text = cpl_hostlist_format(list.name, list.count);
		assert_string_equal(text, table[i].to);
		assert_int_equal(cpl_hostlist_parse(&again, text, &err), 0);
		assert_int_equal(again.count, list.count);
		for (int k = 0; k < list.count; k++)
			assert_string_equal(again.name[k], list.name[k]);
		free(text);
		cpl_hostlist_free(&list);
		cpl_hostlist_free(&again);
	}
}

/* Names of two kinds in runs of 1 to 200, of which any may be chosen, as the list of
 * those names: across words, and where one that is not chosen lies between two that
 * follow each other. */
static void test_format_bits(void **state)
{
	enum { N = 1000 };
	static char space[N][16];
	char *name[N], *chosen[N];

	for (uint64_t round = 0; round < 60; round++) {
		uint64_t word[N / 64 + 1] = {0}, follows[N / 64 + 1] = {0};
		uint64_t often = round % 5 + 1;
		char *text, *plain;
		int used = 0;

		for (int i = 0; i < N; i++) {
			uint64_t at = (uint64_t)i;
			bool odd = !cpl_random_below(round, 1, at, 1 + 40 * often);

			sprintf(space[i], odd ? "login%d" : "n%d", odd ? i : i - i / 300);
			name[i] = space[i];
			if (i && cpl_hostlist_follows(name[i - 1], name[i]))
				follows[i / 64] |= UINT64_C(1) << i % 64;
			if (!cpl_random_below(round, 2, at, often + 1))
				continue;
			word[i / 64] |= UINT64_C(1) << i % 64;
			chosen[used++] = name[i];
		}
		text = cpl_hostlist_format_bits(name, N, word, follows);
		plain = cpl_hostlist_format(chosen, used);
		assert_string_equal(text, plain);
		free(text);
		free(plain);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_parse),
	        cmocka_unit_test(test_refused),
	        cmocka_unit_test(test_long_names_are_refused),
	        cmocka_unit_test(test_format),
	        cmocka_unit_test(test_format_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
