/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Options of a subcommand as a table: what each is called and where its value
 * goes. Its letter, whether it has a value and what it is for stand in the
 * subcommand's text (help.h); --help is every subcommand's and in no table.
 */
#pragma once

#include "cmd.h"

/* Exactly one of flag, text, maybe, choice, integer, number and take is set. */
struct cmd_option {
	const char *name;  /* without "--"; NULL ends a table */
	bool *flag;        /* set to true; all others but `maybe` need a value */
	const char **text; /* points into argv afterwards */
	const char **maybe; /* the same, or "" without "=VALUE" */
	int *choice;       /* which of choices, whose end is NULL */
	const char *const *choices;
	int64_t *integer, low, high;
	double *number, least, most;
	bool needed; /* of text: wrong usage without */
	/* option is "--name". Returns an exit code. */
	int (*take)(const struct cmd *self, void *into, const char *option,
	            const char *value);
	void *into; /* of take */
};

/* What becomes of words that are no options: they are wrong usage; or they are
 * moved behind the options, from optind on; or the first one and all that
 * follows it stay there. */
enum cmd_words { CMD_NO_WORDS, CMD_WORDS, CMD_WORDS_LAST };

/*
 * Reads the options of argv, in their order; a later one of the same name
 * wins. An exit code, after a line on stderr; or CMD_HELPED when the help was
 * asked for and is printed. What the text does not have, or has with another kind
 * of value, is CMD_FAILED whatever argv says.
 */
int cmd_options(const struct cmd *self, int argc, char **argv,
                const struct cmd_option *table, enum cmd_words words);
