/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "site_files.h"

static const char help[] =
        "Usage: commplace config check [FILE] [--slurm-nodes HOSTLIST] "
        "[--json]\n"
        "\n"
        "Check the site's configuration with all that it names: the network "
        "file, the\n"
        "routing and policies on that network, every profile of the profile "
        "directory,\n"
        "the profiles of Match lines. Prints what is in force.\n"
        "\n"
        "FILE is $COMMPLACE_CONF, else commplace.conf beside $SLURM_CONF, "
        "else\n"
        "/etc/slurm/commplace.conf.\n"
        "\n"
        "      --slurm-nodes HOSTLIST  the nodes that Slurm has; the network "
        "must have\n"
        "                              the same\n"
        "      --json                  print one JSON object\n"
        "  -h, --help                  print this text\n"
        "\n"
        "Examples:\n"
        "  commplace config check\n"
        "  commplace config check --slurm-nodes \"$(sinfo -h -o %N)\"\n"
        "  commplace config check /tmp/new.conf && cp /tmp/new.conf "
        "/etc/slurm/commplace.conf\n"
        "\n"
        "The format is described in commplace.conf(5).\n";

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
		return cmd_usage(self, "what to do? `check [FILE]` is right");
	if (strcmp(argv[optind], "check"))
		return cmd_usage(self,
		                 "'%.60s' is unknown; `check [FILE]` is right",
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
	struct cpl_error err = {""};
	int rc = parse(self, argc, argv, &o);

	if (rc)
		return rc;
	if (site_check(&check, o.path, o.slurm_nodes, &err))
		rc = cmd_fail(self, &err);
	else if (o.json)
		rc = cmd_print_json(self, site_check_json(&check));
	else
		rc = site_check_print(&check);
	site_check_free(&check);
	return rc;
}

const struct cmd cmd_config = {
        "config",
        "check the site's configuration",
        help,
        run,
};
