/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"

#define MAX_RANKS_PER_NODE 65536
#define MAX_SEEDS 10000

static const char help[] =
        "Usage: commplace compare --network FILE --signature SIG [OPTION]...\n"
        "\n"
        "Evaluate every placement under every routing and say which loads "
        "the\n"
        "links least.\n"
        "\n"
        "  --network FILE       network description\n"
        "  --signature SIG      signature file (holds a \"/\" or ends in "
        ".json)\n"
        "                       or profile name; may be given several times\n"
        "    --ranks-per-node K ranks on each host, consecutive; default 1\n"
        "    --phase NAME       one execution of that phase, not the whole "
        "run\n"
        "  --workload           all signatures run at once, placed in order;\n"
        "                       without it each is looked at alone\n"
        "  --placements LIST    names with commas between, or all (default);\n"
        "                       auto and traffic are searches and not in all\n"
        "  --routings LIST      the same; default all of the network's type "
        "but\n"
        "                       static-indirect-sampled\n"
        "  --running STATE      JSON file of running jobs: their hosts are "
        "not\n"
        "                       free, their traffic is on the links\n"
        "  --profile-dir DIR    where profiles stand; default: ProfileDir\n"
        "  --seed N             for random placements; default 1\n"
        "  --seeds N            try N seeds from that one on and show the "
        "one\n"
        "                       with the median largest load; default 1\n"
        "  --threads N          of the evaluation (default: all CPUs); what "
        "it\n"
        "                       finds does not depend on them\n"
        "  --classes            a table (and a plot) per link class too\n"
        "  --plot FILE          write box plots as SVG\n"
        "  --json               print one JSON object\n"
        "  -h, --help           print this text\n"
        "\n"
        "Options of a signature stand after it; before the first one they "
        "hold\n"
        "for all. A --ranks-per-node that is given once holds for all "
        "wherever\n"
        "it stands.\n"
        "\n"
        "Examples:\n"
        "  commplace compare --network edison.json --signature ./milc.json "
        "\\\n"
        "      --ranks-per-node 24 --seeds 5 --plot milc.svg\n"
        "  commplace compare --network edison.json --workload --signature "
        "a \\\n"
        "      --signature b --placements RDN,RDR,traffic --routings all\n";

struct options {
	const char *network, *placements, *routings, *plot;
	struct compare_job common; /* options before the first --signature */
	bool together, classes, json, help;
};

enum {
	OPT_NETWORK = 256,
	OPT_SIGNATURE,
	OPT_RANKS_PER_NODE,
	OPT_PHASE,
	OPT_WORKLOAD,
	OPT_PLACEMENTS,
	OPT_ROUTINGS,
	OPT_RUNNING,
	OPT_PROFILE_DIR,
	OPT_SEED,
	OPT_SEEDS,
	OPT_THREADS,
	OPT_CLASSES,
	OPT_PLOT,
	OPT_JSON,
};

static const struct option option_table[] = {
        {"network", required_argument, NULL, OPT_NETWORK},
        {"signature", required_argument, NULL, OPT_SIGNATURE},
        {"ranks-per-node", required_argument, NULL, OPT_RANKS_PER_NODE},
        {"phase", required_argument, NULL, OPT_PHASE},
        {"workload", no_argument, NULL, OPT_WORKLOAD},
        {"placements", required_argument, NULL, OPT_PLACEMENTS},
        {"routings", required_argument, NULL, OPT_ROUTINGS},
        {"running", required_argument, NULL, OPT_RUNNING},
        {"profile-dir", required_argument, NULL, OPT_PROFILE_DIR},
        {"seed", required_argument, NULL, OPT_SEED},
        {"seeds", required_argument, NULL, OPT_SEEDS},
        {"threads", required_argument, NULL, OPT_THREADS},
        {"classes", no_argument, NULL, OPT_CLASSES},
        {"plot", required_argument, NULL, OPT_PLOT},
        {"json", no_argument, NULL, OPT_JSON},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
};

static int new_job(struct options *o, struct compare *c, struct cpl_error *err)
{
	struct compare_job *grown =
	        realloc(c->job, ((size_t)c->n_jobs + 1) * sizeof(*grown));

	if (!grown)
		return cpl_fail_memory(err);
	c->job = grown;
	c->job[c->n_jobs] = o->common;
	c->job[c->n_jobs++].signature = optarg;
	return 0;
}

/* Options with numbers, or of one signature. */
static int value_option(struct options *o, struct compare *c, int opt,
                        struct cpl_error *err)
{
	struct compare_job *job =
	        c->n_jobs ? &c->job[c->n_jobs - 1] : &o->common;
	int64_t value;

	switch (opt) {
	case OPT_SIGNATURE:
		return new_job(o, c, err);
	case OPT_PHASE:
		job->phase = optarg;
		return 0;
	case OPT_RANKS_PER_NODE:
		if (cmd_int("--ranks-per-node", optarg, 1, MAX_RANKS_PER_NODE,
		            &value, err))
			return -1;
		job->ranks_per_node = (int)value;
		return 0;
	case OPT_THREADS:
		if (cmd_int("--threads", optarg, 1, CPL_PARALLEL_MAX, &value,
		            err))
			return -1;
		c->threads = (int)value;
		return 0;
	case OPT_SEED:
		if (cmd_int("--seed", optarg, 0, INT64_MAX, &value, err))
			return -1;
		c->seed = (uint64_t)value;
		return 0;
	default:
		if (cmd_int("--seeds", optarg, 1, MAX_SEEDS, &value, err))
			return -1;
		c->n_seeds = (int)value;
		return 0;
	}
}

static int one_option(const struct cmd *self, struct options *o,
                      struct compare *c, int opt, char **argv)
{
	struct cpl_error err = {""};

	switch (opt) {
	case OPT_NETWORK:
		o->network = optarg;
		return CMD_OK;
	case OPT_PLACEMENTS:
		o->placements = optarg;
		return CMD_OK;
	case OPT_ROUTINGS:
		o->routings = optarg;
		return CMD_OK;
	case OPT_RUNNING:
		c->running = optarg;
		return CMD_OK;
	case OPT_PROFILE_DIR:
		c->profile_dir = optarg;
		return CMD_OK;
	case OPT_PLOT:
		o->plot = optarg;
		return CMD_OK;
	case OPT_WORKLOAD:
		o->together = true;
		return CMD_OK;
	case OPT_CLASSES:
		o->classes = true;
		return CMD_OK;
	case OPT_JSON:
		o->json = true;
		return CMD_OK;
	case 'h':
		o->help = true;
		return CMD_OK;
	case OPT_SIGNATURE:
	case OPT_RANKS_PER_NODE:
	case OPT_PHASE:
	case OPT_SEED:
	case OPT_SEEDS:
	case OPT_THREADS:
		return value_option(o, c, opt, &err) ? cmd_fail(self, &err)
		                                     : CMD_OK;
	default:
		return cmd_bad_option(self, opt, argv);
	}
}

/* Signatures without --ranks-per-node have that of the only one that has it,
 * 1 where none has. */
static int fill_ranks_per_node(const struct cmd *self, struct compare *c)
{
	int given = 0, value = 1;

	for (int i = 0; i < c->n_jobs; i++)
		if (c->job[i].ranks_per_node) {
			value = c->job[i].ranks_per_node;
			given++;
		}
	for (int i = 0; i < c->n_jobs; i++) {
		if (c->job[i].ranks_per_node)
			continue;
		if (given > 1)
			return cmd_usage(self,
			                 "--ranks-per-node: %d signatures have "
			                 "one of their own, but not '%.60s'; "
			                 "one before the first holds for all",
			                 given, c->job[i].signature);
		c->job[i].ranks_per_node = value;
	}
	return CMD_OK;
}

static int parse(const struct cmd *self, int argc, char **argv,
                 struct options *o, struct compare *c)
{
	int opt, rc;

	opterr = 0;
	while ((opt = getopt_long(argc, argv, ":h", option_table, NULL)) !=
	       -1) {
		rc = one_option(self, o, c, opt, argv);
		if (rc != CMD_OK || o->help)
			return rc;
	}
	if (optind < argc)
		return cmd_usage(self, "'%.60s' is no option", argv[optind]);
	if (!o->network)
		return cmd_usage(self, "--network is missing");
	if (!c->n_jobs)
		return cmd_usage(self, "--signature is missing");
	return fill_ranks_per_node(self, c);
}

static int run(const struct cmd *self, int argc, char **argv)
{
	struct options o = {.placements = "all", .routings = "all"};
	struct compare c = {
	        .seed = 1, .n_seeds = 1, .threads = cpl_parallel_cpus()};
	struct cpl_network *net = NULL;
	struct cpl_error err = {""};
	int rc = parse(self, argc, argv, &o, &c);

	if (rc != CMD_OK)
		goto out;
	if (o.help) {
		fputs(help, stdout);
		goto out;
	}
	c.net = net = cpl_network_load(o.network, &err);
	if (!net || compare_placements(&c, o.placements, &err) ||
	    compare_routings(&c, o.routings, &err) ||
	    compare_evaluate(&c, o.together, &err) ||
	    (o.plot && compare_plot(&c, o.classes, o.plot, &err)))
		rc = cmd_fail(self, &err);
	else if (o.json)
		rc = compare_print_json(self, &c);
	else
		rc = compare_print_text(self, &c, o.classes);
out:
	compare_release(&c);
	free(c.job);
	cpl_network_free(net);
	return rc;
}

const struct cmd cmd_compare = {
        .name = "compare",
        .summary = "compare placements and routings by the link traffic",
        .help = help,
        .run = run,
};
