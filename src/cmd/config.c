/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config_check.h"

#include <stdio.h>
#include <string.h>

#include "options.h"

struct options {
	const char *path, *slurm_nodes;
	bool json;
};

static int parse(const struct cmd *self, int argc, char **argv,
                 struct options *o)
{
	const struct cmd_option table[] = {
	        {"slurm-nodes", .text = &o->slurm_nodes},
	        {"json", .flag = &o->json},
	        {0},
	};
	int rc = cmd_options_and_words(self, argc, argv, table);

	if (rc)
		return rc;
	if (optind == argc)
		return cmd_usage(self, "what to do? use `check [FILE]`");
	if (strcmp(argv[optind], "check"))
		return cmd_usage(self, "'%.60s' is unknown; use `check [FILE]`",
		                 argv[optind]);
	if (optind + 2 < argc)
		return cmd_usage(self, "check: one file at a time");
	o->path = argv[optind + 1];
	return CMD_OK;
}

static int run(const struct cmd *self, int argc, char **argv)
{
	struct options o = {0};
	struct site_check check;
	int rc = parse(self, argc, argv, &o);

	if (rc)
		return rc;
	if (site_check(&check, self, o.path, o.slurm_nodes))
		rc = CMD_FAILED;
	else if (o.json)
		rc = cmd_print_json(self, site_check_json(&check));
	else
		rc = site_check_print(&check);
	site_check_free(&check);
	return rc;
}

const struct cmd cmd_config = {"config", run};
