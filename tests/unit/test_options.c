/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options of the command as tables. */
#include "unit.h"

#include "help.h"
#include "options.h"

#define MAX_WORDS 8

static const struct cmd self = {.name = "test"};
static char said[512];
static int helped;

/* In place of util.c and help.c. */

static void say(const struct cmd *cmd, const char *fmt, va_list ap)
{
	assert_ptr_equal(cmd, &self);
	vsnprintf(said, sizeof(said), fmt, ap);
}

int cmd_usage(const struct cmd *cmd, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(cmd, fmt, ap);
	va_end(ap);
	return CMD_USAGE;
}

int cmd_fail(const struct cmd *cmd, const struct cpl_error *err)
{
	assert_ptr_equal(cmd, &self);
	snprintf(said, sizeof(said), "%s", err->text);
	return CMD_FAILED;
}

int cmd_failf(const struct cmd *cmd, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(cmd, fmt, ap);
	va_end(ap);
	return CMD_FAILED;
}

int cmd_int(const char *option, const char *text, int64_t low, int64_t high,
            int64_t *out, struct cpl_error *err)
{
	*out = atoi(text);
	return *out >= low && *out <= high
	               ? 0
	               : cpl_fail(err, "%s: %s is out", option, text);
}

int cmd_number(const char *option, const char *text, double low, double high,
               double *out, struct cpl_error *err)
{
	*out = atof(text);
	return *out >= low && *out <= high
	               ? 0
	               : cpl_fail(err, "%s: %s is out", option, text);
}

const struct cmd_help *cmd_help_find(const char *name)
{
	static const struct cmd_help help = {.name = "test"};

	assert_string_equal(name, "test");
	return &help;
}

/* "o0-" and so on, of test_many_options. */
static struct cmd_help_option many[40];

const struct cmd_help_option *cmd_help_option(const char *subcommand,
                                              const char *option)
{
	static const struct cmd_help_option known[] = {
	        {"flag", 'f', no_argument},
	        {"second", 0, no_argument},
	        {"text", 't', required_argument},
	        {"maybe", 'm', optional_argument},
	        {"colour", 0, required_argument},
	        {"integer", 'n', required_argument},
	        {"number", 0, required_argument},
	        {"take", 0, required_argument},
	        {"needed", 0, required_argument},
	        {"name", 0, required_argument},
	};

	assert_string_equal(subcommand, "test");
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(known[i].name, option))
			return &known[i];
	for (int i = 0; i < 40 && many[i].name; i++)
		if (!strcmp(many[i].name, option))
			return &many[i];
	return NULL;
}

void cmd_help_print(const struct cmd_help *help)
{
	assert_string_equal(help->name, "test");
	helped++;
}

/* What a line came to. */
struct values {
	bool flag, second;
	const char *text, *needed, *maybe, *word;
	int choice;
	int64_t integer;
	double number;
	char taken[64];
};

static int take_it(const struct cmd *cmd, void *into, const char *option,
                   const char *value)
{
	struct values *v = into;

	assert_ptr_equal(cmd, &self);
	snprintf(v->taken + strlen(v->taken),
	         sizeof(v->taken) - strlen(v->taken), "%s=%s;", option, value);
	return strcmp(value, "bad") ? CMD_OK : CMD_FAILED;
}

static int parse(const char *line, struct values *v, bool needs,
                 enum cmd_words words)
{
	static const char *const colours[] = {"red", "green", "blue", NULL};
	const struct cmd_option table[] = {
	        {"flag", .flag = &v->flag},
	        {"second", .flag = &v->second},
	        {"text", .text = &v->text},
	        {"maybe", .maybe = &v->maybe},
	        {"colour", .choice = &v->choice, .choices = colours},
	        {"integer", .integer = &v->integer, .low = -2, .high = 9},
	        {"number", .number = &v->number, .least = 0.5, .most = 2},
	        {"take", .take = take_it, .into = v},
	        {"needed", .text = &v->needed, .needed = needs},
	        {NULL},
	};
	static char copy[256];
	char *argv[MAX_WORDS + 2], *rest = NULL;
	int argc = 0, rc;

	*v = (struct values){.choice = -1};
	said[0] = '\0';
	helped = 0;
	snprintf(copy, sizeof(copy), "test %s", line);
	for (char *word = strtok_r(copy, " ", &rest); word && argc <= MAX_WORDS;
	     word = strtok_r(NULL, " ", &rest))
		argv[argc++] = word;
	argv[argc] = NULL;
	rc = cmd_options(&self, argc, argv, table, words);
	v->word = optind < argc ? argv[optind] : NULL;
	return rc;
}

static void same_text(const char *got, const char *want)
{
	if (!want)
		assert_null(got);
	else
		assert_string_equal(got ? got : "(null)", want);
}

static void test_values(void **state)
{
	static const struct {
		const char *line;
		struct values want;
	} row[] = {
	        {"", {.choice = -1}},
	        {"--flag", {.choice = -1, .flag = true}},
	        {"-f", {.choice = -1, .flag = true}},
	        {"--second -f", {.choice = -1, .flag = true, .second = true}},
	        {"--text a", {.choice = -1, .text = "a"}},
	        {"--text=", {.choice = -1, .text = ""}},
	        {"-t a", {.choice = -1, .text = "a"}},
	        {"-ta", {.choice = -1, .text = "a"}},
	        {"-ft a", {.choice = -1, .text = "a", .flag = true}},
	        {"--text a --text=b", {.choice = -1, .text = "b"}},
	        {"--tex a", {.choice = -1, .text = "a"}},
	        {"--maybe", {.choice = -1, .maybe = ""}},
	        {"--maybe=x", {.choice = -1, .maybe = "x"}},
	        {"--colour red", {.choice = 0}},
	        {"--colour blue", {.choice = 2}},
	        {"--integer 9", {.choice = -1, .integer = 9}},
	        {"-n -2", {.choice = -1, .integer = -2}},
	        {"--number 0.5", {.choice = -1, .number = 0.5}},
	        {"--take a --take=b",
	         {.choice = -1, .taken = "--take=a;--take=b;"}},
	        {"--needed x", {.choice = -1, .needed = "x"}},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		const struct values *want = &row[i].want;
		struct values got;

		print_message("'%s'\n", row[i].line);
		assert_int_equal(parse(row[i].line, &got, false, CMD_NO_WORDS),
		                 CMD_OK);
		assert_string_equal(said, "");
		assert_int_equal(got.flag, want->flag);
		assert_int_equal(got.second, want->second);
		same_text(got.text, want->text);
		same_text(got.needed, want->needed);
		same_text(got.maybe, want->maybe);
		assert_int_equal(got.choice, want->choice);
		assert_int_equal(got.integer, want->integer);
		assert_true(got.number == want->number);
		assert_string_equal(got.taken, want->taken);
	}
}

static void test_messages(void **state)
{
	static const struct {
		const char *line;
		int rc;
		const char *says;
	} row[] = {
	        {"--florp", CMD_USAGE, "unknown option --florp"},
	        {"-x", CMD_USAGE, "unknown option -x"},
	        {"--text", CMD_USAGE, "--text needs a value"},
	        {"-t", CMD_USAGE, "-t needs a value"},
	        {"--flag=1", CMD_USAGE, 
	         "--flag=1: this option takes no value"},
	        {"--flag word", CMD_USAGE, "unexpected argument 'word'"},
	        {"--colour black", CMD_FAILED,
	         "--colour: 'black' is unknown; it must be one of red, green, "
	         "blue"},
	        {"--colour=re", CMD_FAILED,
	         "--colour: 're' is unknown; it must be one of red, green, "
	         "blue"},
	        {"-n 10", CMD_FAILED, "--integer: 10 is out"},
	        {"--integer=-3", CMD_FAILED, "--integer: -3 is out"},
	        {"--number 0.4", CMD_FAILED, "--number: 0.4 is out"},
	        {"--number 2.1", CMD_FAILED, "--number: 2.1 is out"},
	        /* The first one is told. */
	        {"-n 10 --florp", CMD_FAILED, "--integer: 10 is out"},
	        {"--florp -n 10", CMD_USAGE, "unknown option --florp"},
	        {"-n 10 word", CMD_FAILED, "--integer: 10 is out"},
	};
	struct values got;

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		print_message("%s\n", row[i].line);
		assert_int_equal(parse(row[i].line, &got, false, CMD_NO_WORDS),
		                 row[i].rc);
		assert_string_equal(said, row[i].says);
	}
	/* Who takes a value himself has told. */
	assert_int_equal(
	        parse("--take bad --take c", &got, false, CMD_NO_WORDS),
	        CMD_FAILED);
	assert_string_equal(said, "");
	assert_string_equal(got.taken, "--take=bad;");
}

static void test_what_is_needed(void **state)
{
	struct values got;

	assert_int_equal(parse("-f", &got, true, CMD_NO_WORDS), CMD_USAGE);
	assert_string_equal(said, "--needed is missing");
	assert_int_equal(parse("-f --needed x", &got, true, CMD_NO_WORDS),
	                 CMD_OK);
	assert_int_equal(parse("-n 10", &got, true, CMD_NO_WORDS), CMD_FAILED);
	assert_string_equal(said, "--integer: 10 is out");
	/* The help needs nothing. */
	for (int i = 0; i < 2; i++) {
		assert_int_equal(parse(i ? "-h --florp" : "--help", &got, true,
		                       CMD_NO_WORDS),
		                 CMD_HELPED);
		assert_int_equal(helped, 1);
		assert_string_equal(said, "");
	}
}

static void test_words(void **state)
{
	static const struct {
		const char *line;
		enum cmd_words words;
		const char *first;
		bool flag;
	} row[] = {
	        {"a -f b", CMD_WORDS, "a", true},
	        {"a -f b", CMD_WORDS_LAST, "a", false},
	        {"-f a b", CMD_WORDS_LAST, "a", true},
	        {"-- -f", CMD_WORDS, "-f", false},
	        {"-f", CMD_WORDS, NULL, true},
	};
	struct values got;

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		print_message("%s\n", row[i].line);
		assert_int_equal(parse(row[i].line, &got, false, row[i].words),
		                 CMD_OK);
		assert_int_equal(got.flag, row[i].flag);
		same_text(got.word, row[i].first);
	}
}

/* As many as there may be, the last of them too, by both names; one more is
 * told, not lost. */
static void test_many_options(void **state)
{
	static const char letters[] =
	        "abcdefgijklmnopqrstuvwxyzABCDEFGHIJKLMNO";
	struct cmd_option table[42] = {{NULL}};
	const char *text[40] = {NULL};
	char name[40][8], word[16];
	char *argv[] = {(char[]){"test"}, word, NULL};

	for (int i = 0; i < 40; i++) {
		sprintf(name[i], "o%d-", i);
		many[i] = (struct cmd_help_option){name[i], letters[i],
		                                   required_argument};
		table[i] = (struct cmd_option){name[i], .text = &text[i]};
	}
	for (int i = 0; i < 80; i++) {
		if (i % 2)
			sprintf(word, "--o%d-=x", i / 2);
		else
			sprintf(word, "-%cx", letters[i / 2]);
		memset(text, 0, sizeof(text));
		assert_int_equal(
		        cmd_options(&self, 2, argv, table, CMD_NO_WORDS),
		        CMD_OK);
		for (int k = 0; k < 40; k++)
			same_text(text[k], k == i / 2 ? "x" : NULL);
	}
	table[40] = (struct cmd_option){"more", .text = &text[0]};
	assert_int_equal(cmd_options(&self, 1, argv, table, CMD_NO_WORDS),
	                 CMD_FAILED);
	assert_string_equal(said, "its table has more than 40 options");
	memset(many, 0, sizeof(many));
}

/* What the help does not have, or not so, is no option. */
static void test_undocumented(void **state)
{
	const char *text = NULL;
	bool flag;
	const struct cmd_option unknown[] = {{"other", .text = &text}, {NULL}},
	                        as_text[] = {{"flag", .text = &text}, {NULL}},
	                        as_flag[] = {{"text", .flag = &flag}, {NULL}},
	                        as_maybe[] = {{"text", .maybe = &text}, {NULL}};
	const struct {
		const struct cmd_option *table;
		const char *said;
	} cases[] = {{unknown, "its help has no such --other"},
	             {as_text, "its help has no such --flag"},
	             {as_flag, "its help has no such --text"},
	             {as_maybe, "its help has no such --text"}};
	char *argv[] = {(char[]){"test"}, NULL};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(cmd_options(&self, 1, argv, cases[i].table,
		                             CMD_NO_WORDS),
		                 CMD_FAILED);
		assert_string_equal(said, cases[i].said);
	}
}

/* A list of names that no message holds is cut. */
static void test_many_choices(void **state)
{
	enum { N = 200 };
	const char *choices[N + 1] = {NULL};
	char name[N][16], want[64];
	int choice = -1;
	struct cmd_option table[] = {
	        {"name", .choice = &choice, .choices = choices}, {NULL}};

	for (int n = 10; n <= N; n++) {
		char word[] = "--name=none";
		char *argv[] = {(char[]){"test"}, word, NULL};

		for (int i = 0; i < n; i++) {
			sprintf(name[i], "choice%d", i);
			choices[i] = name[i];
		}
		assert_int_equal(
		        cmd_options(&self, 2, argv, table, CMD_NO_WORDS),
		        CMD_FAILED);
		snprintf(want, sizeof(want),
		         "--name: 'none' is unknown; it must be one of "
		         "choice0, choice1, ");
		assert_memory_equal(said, want, strlen(want));
		assert_in_range(strlen(said), strlen(want),
		                CPL_ERROR_MAX / 2 + 64);
		assert_int_equal(choice, -1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_values),
	        cmocka_unit_test(test_messages),
	        cmocka_unit_test(test_what_is_needed),
	        cmocka_unit_test(test_words),
	        cmocka_unit_test(test_many_options),
	        cmocka_unit_test(test_undocumented),
	        cmocka_unit_test(test_many_choices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
