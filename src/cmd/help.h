/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What src/cmd/help tells of subcommands, as help.awk turns it into C; man pages,
 * completions and lists come from the same texts (read.awk). */
#pragma once

#include <getopt.h>

struct cmd_help_option {
	const char *name; /* without "--"; NULL ends a table */
	char letter;      /* 'o': "-o" too; or 0 */
	int argument;     /* no_argument ... */
};

struct cmd_help {
	const char *name;    /* of the subcommand; NULL ends the table */
	const char *summary; /* its line of `commplace --help` */
	const struct cmd_help_option *options;
	const char *text; /* what --help prints */
};

extern const struct cmd_help cmd_help_texts[];

/* NULL: there is no text of that name. */
const struct cmd_help *cmd_help_find(const char *name);

/* The text of a subcommand's option, or NULL. */
const struct cmd_help_option *cmd_help_option(const char *subcommand,
                                              const char *option);

/* Print a text to stdout. "@mappers@" and the like in the text are lists of
 * names, from the registries; a line "@keys@" is those of commplace.conf. */
void cmd_help_print(const struct cmd_help *help);
