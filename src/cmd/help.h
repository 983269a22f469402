/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What --help prints: texts of src/cmd/help, which help.awk turns into C. */
#ifndef CPL_CMD_HELP_H
#define CPL_CMD_HELP_H

struct cmd_help {
	const char *name;    /* of the subcommand; NULL ends the table */
	const char *summary; /* its line of `commplace --help` */
	const char *text;
};

extern const struct cmd_help cmd_help_texts[];

/* NULL: there is no text of that name. */
const struct cmd_help *cmd_help_find(const char *name);

/* To stdout. "@mappers@" and the like in the text are lists of names, from the
 * registries; a line "@keys@" is those of commplace.conf. */
void cmd_help_print(const struct cmd_help *help);

#endif
