/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "network.h"
#include "network/dragonfly.h"
#include "options.h"
#include "routing/routing.h"

static const char help[] =
        "Usage: commplace network check FILE [--json]\n"
        "       commplace network import FILE --format FORMAT -o NETWORK\n"
        "                         [--name NAME] [--routes FILE]\n"
        "                         [--nodes HOSTLIST] [--nodes-per-router N]\n"
        "\n"
        "Descriptions of a machine's network.\n"
        "\n"
        "  check   validate; print counts of routers, nodes and directed "
        "links per\n"
        "          class, and the bandwidths\n"
        "  import  make a description of what the machine tells of itself\n"
        "\n"
        "      --format FORMAT       topology-conf: Slurm's topology.conf of\n"
        "                            topology/tree; ibnetdiscover: the dump "
        "of that\n"
        "                            command; aries: link list of a Cray XC.\n"
        "                            FILE may be gzipped\n"
        "  -o, --output NETWORK      file to write\n"
        "      --name NAME           name of the network (default: of the "
        "file)\n"
        "      --routes FILE         ibnetdiscover: what ibtracert prints, "
        "for each\n"
        "                            pair of hosts; written beside NETWORK "
        "as\n"
        "                            NETWORK.routes\n"
        "      --nodes HOSTLIST      aries: hosts in the order of node ids\n"
        "                            (default: nid00000 and so on)\n"
        "      --nodes-per-router N  aries: nodes of a router (default: 4)\n"
        "      --json                check: print one JSON object\n"
        "  -h, --help                print this text\n"
        "\n"
        "Examples:\n"
        "  commplace network check /etc/slurm/commplace/network.json\n"
        "  commplace network check edison.json --json | jq .links.global\n"
        "  commplace network import /etc/slurm/topology.conf \\\n"
        "      --format topology-conf -o network.json\n"
        "  ibnetdiscover >ib.txt && commplace network import ib.txt \\\n"
        "      --format ibnetdiscover -o network.json\n"
        "\n"
        "The format is described in commplace-network(5).\n";

struct options {
	const char *path;
	const char *format, *output, *name, *routes, *nodes;
	int64_t nodes_per_router;
	bool import, json, help;
};

static int check_options(const struct cmd *self, const struct options *o)
{
	bool aries = o->format && !strcmp(o->format, "aries");

	if (!o->import) {
		if (o->format || o->output || o->name || o->routes ||
		    o->nodes || o->nodes_per_router)
			return cmd_usage(self, "check takes --json only");
		return CMD_OK;
	}
	if (o->json)
		return cmd_usage(self, "--json is for check");
	if (!o->format)
		return cmd_usage(self, "import: --format is missing");
	if (!o->output)
		return cmd_usage(self, "import: -o is missing");
	if (o->routes && strcmp(o->format, "ibnetdiscover"))
		return cmd_usage(self,
		                 "--routes is for --format ibnetdiscover");
	if (!aries && (o->nodes || o->nodes_per_router))
		return cmd_usage(self, "--nodes and --nodes-per-router are "
		                       "for --format aries");
	return CMD_OK;
}

static int parse(const struct cmd *self, int argc, char **argv,
                 struct options *o)
{
	const struct cmd_option table[] = {
	        {"format", .text = &o->format},
	        {"output", 'o', .text = &o->output},
	        {"name", .text = &o->name},
	        {"routes", .text = &o->routes},
	        {"nodes", .text = &o->nodes},
	        {"nodes-per-router", .integer = &o->nodes_per_router, .low = 1,
	         .high = 1000000},
	        {"json", .flag = &o->json},
	        {0},
	};
	int rc = cmd_options_and_words(self, argc, argv, table);
	const char *what;

	if (rc)
		return rc;
	if (optind == argc)
		return cmd_usage(self, "what to do? `check FILE` or `import "
		                       "FILE` is right");
	what = argv[optind];
	o->import = !strcmp(what, "import");
	if (!o->import && strcmp(what, "check"))
		return cmd_usage(self,
		                 "'%.60s' is unknown; `check FILE` or `import "
		                 "FILE` is right",
		                 what);
	if (optind + 1 == argc)
		return cmd_usage(self, "%s: which file?", what);
	if (optind + 2 < argc)
		return cmd_usage(self, "%s: one file at a time", what);
	o->path = argv[optind + 1];
	return check_options(self, o);
}

static int count_hosts(const struct cpl_network *net)
{
	int hosts = 0;

	for (int node = 0; node < net->n_nodes; node++)
		hosts += net->node_name[node] != NULL;
	return hosts;
}

static int64_t count_cables(const struct cpl_network *net)
{
	int64_t cables = 0;

	for (int c = 0; c < net->n_classes; c++)
		cables += net->link_class[c].count * net->link_class[c].cables;
	return cables;
}

static json_t *numbers(const int *value, int n)
{
	json_t *array = json_array();

	for (int i = 0; i < n; i++)
		json_array_append_new(array, json_integer(value[i]));
	return array;
}

static json_t *torus_shape(const struct cpl_torus *torus)
{
	json_t *wrap = json_array();

	for (int d = 0; d < torus->n_dims; d++)
		json_array_append_new(wrap, json_boolean(torus->wrap[d]));
	return json_pack("{s:o, s:o}", "dims",
	                 numbers(torus->dim, torus->n_dims), "wrap", wrap);
}

static json_t *shape(const struct cpl_network *net)
{
	const struct cpl_dragonfly *df = &net->dragonfly;
	const struct cpl_fattree *tree = &net->fattree;
	const struct cpl_haec *haec = &net->haec;

	switch (net->type) {
	case CPL_NETWORK_DRAGONFLY:
		return json_pack("{s:i, s:i, s:i, s:i, s:i, s:i}", "groups",
		                 df->groups, "rows", df->rows, "columns",
		                 df->columns, "row_links_per_router_pair",
		                 net->link_class[CPL_DRAGONFLY_ROW].cables,
		                 "column_links_per_router_pair",
		                 net->link_class[CPL_DRAGONFLY_COLUMN].cables,
		                 "global_links_per_group_pair",
		                 df->global_per_pair);
	case CPL_NETWORK_TORUS:
		return torus_shape(&net->torus);
	case CPL_NETWORK_FATTREE:
		return json_pack("{s:i, s:o, s:o, s:o}", "leaves",
		                 net->n_node_routers, "down",
		                 numbers(tree->down, tree->n_levels), "up",
		                 numbers(tree->up, tree->n_levels), "links",
		                 numbers(tree->ports, tree->n_levels));
	case CPL_NETWORK_HAEC:
		return json_pack("{s:[i, i, i]}", "dims", haec->x, haec->y,
		                 haec->boards);
	case CPL_NETWORK_GRAPH:
		break;
	}
	return json_pack("{s:i, s:i}", "routers", net->n_routers,
	                 "node_routers", net->n_node_routers);
}

static int print_json(const struct cmd *self, const struct cpl_network *net,
                      const struct cpl_routing *routing)
{
	json_t *links = json_object(), *bandwidth = json_object();

	json_object_set_new(links, "all", json_integer(count_cables(net)));
	for (int c = 0; c < net->n_classes; c++) {
		const struct cpl_link_class *class = &net->link_class[c];

		json_object_set_new(links, class->name,
		                    json_integer(class->count * class->cables));
		json_object_set_new(
		        bandwidth, class->name,
		        json_real(class->bandwidth / class->cables));
	}
	json_object_set_new(bandwidth, "injection",
	                    json_real(net->injection_bandwidth));
	return cmd_print_json(
	        self,
	        json_pack("{s:s, s:s, s:o, s:i, s:i, s:i, s:o, s:o, s:s, s:s?}",
	                  "name", net->name, "type",
	                  cpl_network_type_name(net->type), "shape", shape(net),
	                  "routers", net->n_routers, "nodes", count_hosts(net),
	                  "nodes_per_router", net->nodes_per_router, "links",
	                  links, "bandwidth", bandwidth, "routing",
	                  routing->name, "routing_stated", net->routing));
}

static void print_tree(const struct cpl_network *net)
{
	const struct cpl_fattree *tree = &net->fattree;

	printf("%s: fat tree of %d leaf switches x %d nodes", net->name,
	       net->n_node_routers, net->nodes_per_router);
	for (int l = 0; l < tree->n_levels; l++)
		printf(", %d x %d links up to %d switches", tree->up[l],
		       tree->ports[l],
		       tree->subtrees[l + 1] * tree->replicas[l + 1]);
	putchar('\n');
}

static void print_torus(const struct cpl_network *net)
{
	const struct cpl_torus *torus = &net->torus;

	printf("%s: torus of ", net->name);
	for (int d = 0; d < torus->n_dims; d++)
		printf("%s%d%s", d ? " x " : "", torus->dim[d],
		       torus->wrap[d] ? "" : " (no wrap)");
	printf(" routers x %d nodes\n", net->nodes_per_router);
}

static void print_shape(const struct cpl_network *net)
{
	const struct cpl_dragonfly *df = &net->dragonfly;
	const struct cpl_haec *haec = &net->haec;

	switch (net->type) {
	case CPL_NETWORK_DRAGONFLY:
		printf("%s: dragonfly of %d groups x %d rows x %d columns x "
		       "%d nodes, %d global links per pair of groups\n",
		       net->name, df->groups, df->rows, df->columns,
		       net->nodes_per_router, df->global_per_pair);
		break;
	case CPL_NETWORK_TORUS:
		print_torus(net);
		break;
	case CPL_NETWORK_FATTREE:
		print_tree(net);
		break;
	case CPL_NETWORK_HAEC:
		printf("%s: HAEC Box of %d boards of %d x %d routers x %d "
		       "nodes\n",
		       net->name, haec->boards, haec->x, haec->y,
		       net->nodes_per_router);
		break;
	case CPL_NETWORK_GRAPH:
		printf("%s: graph of %d routers, %d of them with %d nodes\n",
		       net->name, net->n_routers, net->n_node_routers,
		       net->nodes_per_router);
		break;
	}
}

static int print_text(const struct cpl_network *net,
                      const struct cpl_routing *routing)
{
	struct cmd_table *table = cmd_table_new(4, "lrrl");
	char count[32], bandwidth[32], note[48];

	print_shape(net);
	printf("routing %s%s%s%s\n", routing->name,
	       net->routing ? " (the file states " : "",
	       net->routing ? net->routing : "", net->routing ? ")" : "");
	printf("%d routers, %d nodes, %" PRId64 " directed links\n\n",
	       net->n_routers, count_hosts(net), count_cables(net));
	cmd_table_row(table, "class", "links", "bytes/s", "");
	for (int c = 0; c < net->n_classes; c++) {
		const struct cpl_link_class *class = &net->link_class[c];

		snprintf(count, sizeof(count), "%" PRId64,
		         class->count * class->cables);
		snprintf(bandwidth, sizeof(bandwidth), "%g",
		         class->bandwidth / class->cables);
		snprintf(note, sizeof(note),
		         class->cables > 1 ? "%d between each two routers" : "",
		         class->cables);
		cmd_table_row(table, class->name, count, bandwidth, note);
	}
	snprintf(count, sizeof(count), "%d", count_hosts(net));
	snprintf(bandwidth, sizeof(bandwidth), "%g", net->injection_bandwidth);
	cmd_table_row(table, "injection", count, bandwidth, "and back");
	return cmd_table_print(table);
}

static int check(const struct cmd *self, const struct options *o)
{
	struct cpl_error err = {""};
	const struct cpl_routing *routing;
	struct cpl_network *net = cpl_network_load(o->path, &err);
	int rc;

	if (!net)
		return cmd_fail(self, &err);
	routing = cpl_routing_find(net, NULL, &err);
	if (!routing)
		rc = cmd_failf(self, "%s: %s", o->path, err.text);
	else if (o->json)
		rc = print_json(self, net, routing);
	else
		rc = print_text(net, routing);
	cpl_network_free(net);
	return rc;
}

static int run(const struct cmd *self, int argc, char **argv)
{
	struct options o = {.path = NULL};
	struct cpl_error err = {""};
	int rc = parse(self, argc, argv, &o);

	if (rc != CMD_OK)
		return rc;
	if (!o.import)
		return check(self, &o);
	if (cmd_network_import(
	            &(struct cmd_import){.path = o.path,
	                                 .format = o.format,
	                                 .output = o.output,
	                                 .name = o.name,
	                                 .routes = o.routes,
	                                 .nodes = o.nodes,
	                                 .nodes_per_router =
	                                         (int)o.nodes_per_router},
	            &err))
		return cmd_fail(self, &err);
	return CMD_OK;
}

const struct cmd cmd_network = {
        .name = "network",
        .summary = "check or import a network description",
        .help = help,
        .run = run,
};
