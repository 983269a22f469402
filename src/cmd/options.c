/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "options.h"

#include <stdio.h>
#include <string.h>

#include "help.h"

enum { MAX_OPTIONS = 40, FIRST = 256, HELP = 'h' };

static int bad_option(const struct cmd *self, int result, char **argv)
{
	const char *word = argv[optind - 1];
	const char *fault = "unknown option %.60s";

	if (result == ':')
		fault = "%.60s needs a value";
	else if (!strncmp(word, "--", 2) && optopt)
		fault = "%.60s: this option takes no value"; /* getopt's word */
	return cmd_usage(self, fault, word);
}

static int choose(const char *name, const struct cmd_option *option,
                  struct cpl_error *err)
{
	char known[CPL_ERROR_MAX / 2] = "";
	size_t n = 0;

	for (int i = 0; option->choices[i]; i++) {
		if (!strcmp(optarg, option->choices[i])) {
			*option->choice = i;
			return 0;
		}
		n += (size_t)snprintf(known + n, sizeof(known) - n, "%s%s",
		                      i ? ", " : "", option->choices[i]);
		if (n >= sizeof(known))
			n = sizeof(known) - 1;
	}
	return cpl_fail(err, "%s: '%.60s' is unknown; it must be one of %s",
	                name, optarg, known);
}

static int take_option(const struct cmd *self, const struct cmd_option *option)
{
	struct cpl_error err = {""};
	char name[64];

	snprintf(name, sizeof(name), "--%s", option->name);
	if (option->take)
		return option->take(self, option->into, name, optarg);
	if (option->flag)
		*option->flag = true;
	else if (option->text)
		*option->text = optarg;
	else if (option->maybe)
		*option->maybe = optarg ? optarg : "";
	else if (option->choices ? choose(name, option, &err)
	         : option->integer
	                 ? cmd_int(name, optarg, option->low, option->high,
	                           option->integer, &err)
	                 : cmd_number(name, optarg, option->least, option->most,
	                              option->number, &err))
		return cmd_fail(self, &err);
	return CMD_OK;
}

/* What the text says of an option, or NULL where that is not what the table says. */
static const struct cmd_help_option *documented(const struct cmd *self,
                                                const struct cmd_option *option)
{
	const struct cmd_help_option *o =
	        cmd_help_option(self->name, option->name);
	int argument = option->flag    ? no_argument
	               : option->maybe ? optional_argument
	                               : required_argument;

	return o && o->argument == argument ? o : NULL;
}

int cmd_options(const struct cmd *self, int argc, char **argv,
                const struct cmd_option *table, enum cmd_words words)
{
	struct option longs[MAX_OPTIONS + 2] = {
	        {"help", no_argument, NULL, HELP}};
	char shorts[2 * MAX_OPTIONS + 4], letters[MAX_OPTIONS], *s = shorts;
	int n = 0, c, rc = CMD_OK;

	if (words == CMD_WORDS_LAST)
		*s++ = '+';
	*s++ = ':';
	*s++ = HELP;
	for (; n < MAX_OPTIONS && table[n].name; n++) {
		const struct cmd_help_option *o = documented(self, &table[n]);

		if (!o)
			return cmd_failf(self, "its help has no such --%s",
			                 table[n].name);
		longs[n + 1] = (struct option){o->name, o->argument, NULL,
		                               o->letter ? o->letter
		                                         : FIRST + n};
		letters[n] = o->letter;
		if (!o->letter)
			continue;
		*s++ = o->letter;
		if (o->argument != no_argument)
			*s++ = ':';
	}
	*s = '\0';
	if (n == MAX_OPTIONS && table[n].name)
		return cmd_failf(self, "its table has more than %d options",
		                 MAX_OPTIONS);
	optind = 0;
	opterr = 0;
	while (rc == CMD_OK &&
	       (c = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		int i = c - FIRST;

		if (c == HELP) {
			cmd_help_print(cmd_help_find(self->name));
			return CMD_HELPED;
		}
		if (c == ':' || c == '?')
			return bad_option(self, c, argv);
		for (int j = 0; i < 0 && j < n; j++)
			if (letters[j] == c)
				i = j;
		rc = take_option(self, &table[i]);
	}
	if (rc == CMD_OK && words == CMD_NO_WORDS && optind < argc)
		return cmd_usage(self, "unexpected argument '%.60s'",
		                 argv[optind]);
	for (; rc == CMD_OK && table->name; table++)
		if (table->needed && !*table->text)
			return cmd_usage(self, "--%s is missing", table->name);
	return rc;
}
