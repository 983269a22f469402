/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Options of a subcommand as a table: what each is called and where its value
 * goes. --help is every subcommand's and in no table.
 */
#ifndef CPL_CMD_OPTIONS_H
#define CPL_CMD_OPTIONS_H

#include "cmd.h"

/* Exactly one of flag, text, choice, integer, number and take is set. */
struct cmd_option {
	const char *name;  /* without "--"; NULL ends a table */
	char letter;       /* "-o" too, or 0 */
	bool *flag;        /* set to true; all others need a value */
	const char **text; /* points into argv afterwards */
	int *choice;       /* which of choices, whose end is NULL */
	const char *const *choices;
	int64_t *integer, low, high;
	double *number, least, most;
	bool needed; /* of text, for cmd_options(): wrong usage without */
	/* option is "--name". Returns an exit code. */
	int (*take)(const struct cmd *self, void *into, const char *option,
	            const char *value);
	void *into; /* of take */
};

/*
 * Reads the options of argv, in their order; a later one of the same name
 * wins. An exit code, after a line on stderr; or CMD_HELPED when the help was
 * asked for and is printed. Words that are no options are wrong usage.
 */
int cmd_options(const struct cmd *self, int argc, char **argv,
                const struct cmd_option *table);

/* With words among the options: they stand behind them afterwards, from optind
 * on. */
int cmd_options_and_words(const struct cmd *self, int argc, char **argv,
                          const struct cmd_option *table);

/* Options up to the first word; all from optind on are words. */
int cmd_options_before_words(const struct cmd *self, int argc, char **argv,
                             const struct cmd_option *table);

#endif
