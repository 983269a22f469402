/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "site/resolve.h"

static void source_of(const struct cpl_choice *choice, char *text, size_t size)
{
	static const char *const what[] = {
	        [CPL_FROM_USER] = "the user",
	        [CPL_FROM_BUILT_IN] = "built in",
	        [CPL_FROM_SITE] = "commplace.conf",
	        [CPL_FROM_PARTITION] = "Partition line",
	        [CPL_FROM_MATCH] = "Match line",
	        [CPL_FROM_OFF] = "switched off in commplace.conf",
	};

	if (choice->line)
		snprintf(text, size, "%s, line %d", what[choice->source],
		         choice->line);
	else
		snprintf(text, size, "%s", what[choice->source]);
}

static const char *text_of(const struct cpl_choice *choice)
{
	static char text[4][128];
	static int turn;
	char *out = text[turn++ % 4], source[96];

	source_of(choice, source, sizeof(source));
	snprintf(out, sizeof(text[0]), "%s (%s)",
	         choice->value ? choice->value : "-", source);
	return out;
}

#define RULES                                                                  \
	"DefaultMapping=linear\n"                                              \
	"Partition=stock DefaultPolicy=none\n"                                 \
	"Partition=off Mode=off DefaultPolicy=auto\n"                          \
	"Partition=watched Mode=observe\n"                                     \
	"Partition=large DefaultPolicy=traffic DefaultMapping=best\n"          \
	"Match JobName=vasp* Profile=vasp\n"                                   \
	"Match JobName=* Profile=none\n"

/* Each value with where it comes from. */
static void test_values(void **state)
{
	static const struct {
		const char *more; /* lines before RULES */
		struct cpl_job_facts job;
		enum cpl_mode mode;
		const char *profile, *policy, *mapping, *binding;
	} row[] = {
	        {"#",
	         {0},
	         CPL_MODE_ON,
	         "- (built in)",
	         "- (built in)",
	         "linear (commplace.conf, line 2)",
	         "- (built in)"},
	        {"DefaultPolicy=None",
	         {.profile = "milc"},
	         CPL_MODE_ON,
	         "milc (the user)",
	         "auto (built in)",
	         "linear (commplace.conf, line 2)",
	         "treematch (built in)"},
	        {"DefaultBinding=packed",
	         {.name = "vasp_std"},
	         CPL_MODE_ON,
	         "vasp (Match line, line 7)",
	         "auto (built in)",
	         "linear (commplace.conf, line 2)",
	         "packed (commplace.conf, line 1)"},
	        {"DefaultBinding=none",
	         {.profile = "milc"},
	         CPL_MODE_ON,
	         "milc (the user)",
	         "auto (built in)",
	         "linear (commplace.conf, line 2)",
	         "- (commplace.conf, line 1)"},
	        {"#",
	         {.name = "vasp", .profile = "none"},
	         CPL_MODE_ON,
	         "- (the user)",
	         "- (built in)",
	         "linear (commplace.conf, line 2)",
	         "- (built in)"},
	        {"#",
	         {.name = "x"},
	         CPL_MODE_ON,
	         "- (Match line, line 8)",
	         "- (built in)",
	         "linear (commplace.conf, line 2)",
	         "- (built in)"},
	        {"DefaultPolicy=RDR",
	         {.profile = "milc", .policy = "RDG", .mapping = "rcm"},
	         CPL_MODE_ON,
	         "milc (the user)",
	         "RDG (the user)",
	         "rcm (the user)",
	         "treematch (built in)"},
	        {"UserMayOverride=none",
	         {.name = "vasp",
	          .profile = "milc",
	          .policy = "RDG",
	          .mapping = "rcm"},
	         CPL_MODE_ON,
	         "vasp (Match line, line 7)",
	         "auto (built in)",
	         "linear (commplace.conf, line 2)",
	         "treematch (built in)"},
	        {"DefaultPolicy=RDR",
	         {.profile = "milc", .partition = "large"},
	         CPL_MODE_ON,
	         "milc (the user)",
	         "traffic (Partition line, line 6)",
	         "best (Partition line, line 6)",
	         "treematch (built in)"},
	        /* Tasks of observed jobs are bound by Slurm. */
	        {"DefaultPolicy=RDR",
	         {.profile = "milc", .partition = "watched"},
	         CPL_MODE_OBSERVE,
	         "milc (the user)",
	         "RDR (commplace.conf, line 1)",
	         "linear (commplace.conf, line 2)",
	         "- (built in)"},
	        {"DefaultPolicy=RDR",
	         {.profile = "milc", .policy = "RDG", .partition = "off"},
	         CPL_MODE_OFF,
	         "- (switched off in commplace.conf)",
	         "- (switched off in commplace.conf)",
	         "- (switched off in commplace.conf)",
	         "- (switched off in commplace.conf)"},
	        {"Mode=off",
	         {.profile = "milc", .partition = "watched"},
	         CPL_MODE_OBSERVE,
	         "milc (the user)",
	         "auto (built in)",
	         "linear (commplace.conf, line 2)",
	         "- (built in)"},
	        /* Of several, the first that is not Slurm's alone. */
	        {"#",
	         {.profile = "milc", .partition = "off,stock,large,watched"},
	         CPL_MODE_ON,
	         "milc (the user)",
	         "traffic (Partition line, line 6)",
	         "best (Partition line, line 6)",
	         "treematch (built in)"},
	        {"#",
	         {.profile = "milc", .policy = "RDG", .partition = "stock"},
	         CPL_MODE_ON,
	         "milc (the user)",
	         "RDG (the user)",
	         "linear (commplace.conf, line 2)",
	         "treematch (built in)"},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		char text[1024];
		struct cpl_error err = {""};
		struct cpl_config *c;
		struct cpl_resolved got;

		snprintf(text, sizeof(text), "%s\n" RULES, row[i].more);
		c = cpl_config_parse(text, strlen(text), "c", &err);
		assert_string_equal(err.text, "");
		cpl_resolve(c, NULL, &row[i].job, &got);
		assert_int_equal(got.mode, row[i].mode);
		assert_string_equal(text_of(&got.profile), row[i].profile);
		assert_string_equal(text_of(&got.policy), row[i].policy);
		assert_string_equal(text_of(&got.mapping), row[i].mapping);
		assert_string_equal(text_of(&got.binding), row[i].binding);
		cpl_config_free(c);
	}
}

/* Fault 18: DefaultPolicy=none of a partition means its jobs with a profile,
 * too. */
static void test_stock_partition(void **state)
{
	static const struct cpl_job_facts job[] = {
	        {.profile = "milc", .partition = "stock"},
	        {.profile = "milc", .mapping = "rcm", .partition = "stock"},
	        {.name = "vasp", .partition = "stock"},
	        {.name = "vasp", .partition = "stock,off"},
	        {.partition = "stock"},
	};
	static const char text[] = "DefaultPolicy=auto\n" RULES;
	struct cpl_config *c = cpl_config_parse(text, strlen(text), "c", NULL);

	for (size_t i = 0; i < sizeof(job) / sizeof(*job); i++) {
		struct cpl_resolved got;

		cpl_resolve(c, NULL, &job[i], &got);
		assert_null(got.profile.value);
		assert_null(got.policy.value);
		assert_null(got.binding.value);
		assert_int_equal(got.policy.source, CPL_FROM_OFF);
		assert_int_equal(got.policy.line, 3);
		assert_string_equal(got.refusal.text, "");
		assert_string_equal(
		        got.note.text,
		        job[i].profile
		                ? "partition stock is left to Slurm "
		                  "(DefaultPolicy=none in commplace.conf); "
		                  "--comm-profile has no effect"
		                : "");
	}
	cpl_config_free(c);
}

static void test_words_to_the_user(void **state)
{
	static const struct {
		const char *text;
		struct cpl_job_facts job;
		const char *refusal, *note; /* how they begin */
	} row[] = {
	        {"",
	         {.profile = "a", .policy = "rdg", .mapping = "RCM"},
	         "",
	         ""},
	        {"UserMayOverride=policy,mapping",
	         {.profile = "none"},
	         "this site does not let users choose the profile "
	         "(UserMayOverride in commplace.conf); leave out "
	         "--comm-profile",
	         ""},
	        {"UserMayOverride=profile",
	         {.profile = "a", .mapping = "rcm"},
	         "this site does not let users choose the mapping",
	         ""},
	        {"",
	         {.policy = "best"},
	         "--placement-policy: no policy 'best'",
	         ""},
	        {"", {.mapping = "fastest"}, "--rank-mapping: ", ""},
	        {"Mode=off", {.policy = "best", .mapping = "fastest"}, "", ""},
	        {"",
	         {.policy = "Auto"},
	         "",
	         "--placement-policy=Auto chooses by a profile; without "
	         "--comm-profile the job gets Slurm's own nodes"},
	        {"",
	         {.mapping = "rcm"},
	         "",
	         "--rank-mapping has no effect without --comm-profile"},
	        {"Match JobName=x Profile=p",
	         {.mapping = "rcm", .name = "x"},
	         "",
	         ""},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		const char *refusal = row[i].refusal ? row[i].refusal : "";
		const char *note = row[i].note ? row[i].note : "";
		struct cpl_config *c = cpl_config_parse(
		        row[i].text, strlen(row[i].text), "c", NULL);
		struct cpl_resolved got;

		cpl_resolve(c, NULL, &row[i].job, &got);
		if (strncmp(got.refusal.text, refusal, strlen(refusal)) ||
		    (!*refusal && got.refusal.text[0]))
			fail_msg("row %zu: '%s'", i, got.refusal.text);
		assert_string_equal(got.note.text, note);
		cpl_config_free(c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_values),
	        cmocka_unit_test(test_stock_partition),
	        cmocka_unit_test(test_words_to_the_user),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
