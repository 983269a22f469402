/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The keys in commplace.conf(5) are those of the parser's table, in its words:
 * what stands between the two marks of the page is made from it. With
 * UPDATE=1 in the environment the page is rewritten.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/file.h"
#include "site/config.h"

#define PAGE CPL_TEST_SRCDIR "/doc/man5/commplace.conf.5"
#define COLUMNS 79

/* A word for a page: `x` and page(5) are bold. */
static void word(FILE *out, const char *s, size_t n)
{
	const char *section = memchr(s, '(', n);
	bool page = section && section > s && section[1] >= '1' &&
	            section[1] <= '8' && section[2] == ')';

	if (page)
		fputs("\\fB", out);
	for (bool bold = page; n--; s++) {
		if (page && s == section) {
			fputs("\\fR", out);
			bold = false;
		}
		if (*s == '`') {
			bold = !bold;
			fputs(bold ? "\\fB" : "\\fR", out);
		} else if (*s == '-') {
			fputs("\\-", out);
		} else {
			putc(*s, out);
		}
	}
}

static void paragraph(FILE *out, const char *text)
{
	size_t column = 0;

	while (*text) {
		size_t n = strcspn(text, " ");

		if (column && column + 1 + n > COLUMNS - 9) {
			putc('\n', out);
			column = 0;
		}
		if (column)
			putc(' ', out);
		word(out, text, n);
		column += n + 1;
		text += n + (text[n] == ' ');
	}
	putc('\n', out);
}

static void keys(FILE *out, enum cpl_config_scope scope)
{
	for (int i = 0; cpl_config_key(i); i++) {
		const struct cpl_config_key *key = cpl_config_key(i);
		char text[256];

		if (!(key->where & 1u << scope))
			continue;
		fprintf(out, ".TP\n.BI %s= %s\n", key->name, key->value);
		if (scope != CPL_SCOPE_GENERAL &&
		    key->where & 1u << CPL_SCOPE_GENERAL) {
			fputs("As above.\n", out);
			continue;
		}
		paragraph(out, key->text);
		if (!*key->built_in)
			continue;
		snprintf(text, sizeof(text), "Default: `%s`.", key->built_in);
		paragraph(out, text);
	}
}

static char *replace(const char *page, const char *name, const char *part)
{
	char begin[64], end[64], *text;
	const char *from, *to;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	snprintf(begin, sizeof(begin), ".\\\" begin %s\n", name);
	snprintf(end, sizeof(end), ".\\\" end %s\n", name);
	from = strstr(page, begin);
	to = strstr(page, end);
	assert_true(from && to && from < to);
	from += strlen(begin);
	fprintf(out, "%.*s%s%s", (int)(from - page), page, part, to);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void test_page(void **state)
{
	static const char *const part[] = {"keys", "Partition keys",
	                                   "Match keys"};
	size_t length;
	char *page = cpl_file_read(PAGE, 1 << 20, &length, NULL), *now;

	assert_non_null(page);
	now = strdup(page);
	for (int scope = 0; scope < 3; scope++) {
		char *text, *next;
		size_t size;
		FILE *out = open_memstream(&text, &size);

		keys(out, (enum cpl_config_scope)scope);
		assert_int_equal(fclose(out), 0);
		next = replace(now, part[scope], text);
		free(now);
		free(text);
		now = next;
	}
	if (getenv("UPDATE")) {
		FILE *f = fopen(PAGE, "w");

		assert_non_null(f);
		fputs(now, f);
		assert_int_equal(fclose(f), 0);
	} else {
		assert_string_equal(page, now);
	}
	free(page);
	free(now);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_page)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
