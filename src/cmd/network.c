/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "cmd.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/gunzip.h"
#include "base/json.h"
#include "network/export.h"
#include "cabling.h"
#include "network_against.h"
#include "network/reader/reader.h"
#include "network/type.h"
#include "network_cost.h"
#include "network_links.h"
#include "options.h"
#include "routing/routing.h"

/* Files to import, uncompressed: more than ten million lines. */
#define MAX_BYTES (UINT64_C(1) << 30)
/* Bandwidths of nodes: kinds of groups. */
#define MAX_RATES CPL_NETWORK_MAX_CLASSES

struct options {
	const char *path, *network;
	const char *format, *output, *name, *routes, *nodes;
	const char *slurm_nodes, *slurm_topology, *pattern, *roles;
	const char *topology, *measured;
	int64_t nodes_per_router;
	struct network_prices prices;
	bool import, export, links, cost, json, against;
};

/* export: in which format, and what of the two topologies; or a wrong usage. */
static int export_options(const struct cmd *self, const struct options *o,
                          enum cpl_export_format *format,
                          enum cpl_export_what *what)
{
	static const char *const name[] = {
	        [CPL_EXPORT_CONF] = "topology-conf",
	        [CPL_EXPORT_YAML] = "topology-yaml",
	        [CPL_EXPORT_TOPOGRAPH] = "topograph"};
	const size_t n = sizeof(name) / sizeof(*name);
	size_t i = 0;

	while (i < n && o->format && strcmp(o->format, name[i]))
		i++;
	*format = (enum cpl_export_format)i;
	*what = !o->topology ? CPL_EXPORT_ALL
	        : !strcmp(o->topology, "block") ? CPL_EXPORT_BLOCK
	                                        : CPL_EXPORT_TREE;
	if (!o->format || i == n)
		return cmd_usage(self, "export: --format must be topology-conf, "
		                       "topology-yaml or topograph");
	if (o->topology && *format == CPL_EXPORT_TOPOGRAPH)
		return cmd_usage(self, "export: --topology is for "
		                       "topology-conf and topology-yaml");
	if (!o->output)
		return cmd_usage(self, "export: -o is missing");
	if (o->topology && strcmp(o->topology, "tree") &&
	    strcmp(o->topology, "block"))
		return cmd_usage(self, "export: --topology must be tree or "
		                       "block");
	if (o->name || o->routes || o->nodes || o->nodes_per_router ||
	    o->pattern || o->roles || o->json || o->against || o->measured ||
	    o->slurm_nodes || o->slurm_topology || o->prices.given)
		return cmd_usage(self, "export takes --format, --topology and "
		                       "-o only");
	return CMD_OK;
}

static int links_options(const struct cmd *self, const struct options *o)
{
	return o->format || o->output || o->name || o->routes || o->nodes ||
	                       o->nodes_per_router || o->pattern || o->roles ||
	                       o->topology || o->json || o->against ||
	                       o->measured ||
	                       o->slurm_nodes || o->slurm_topology ||
	                       o->prices.given
	               ? cmd_usage(self, "links takes --network only")
	               : CMD_OK;
}

static int check_options(const struct cmd *self, const struct options *o)
{
	bool aries = o->format && !strcmp(o->format, "aries");

	if (o->prices.given && !o->cost)
		return cmd_usage(self, "--price and --performance are "
		                       "for cost");
	if (o->measured && (o->import || o->cost || o->against))
		return cmd_usage(self, "--measured is for check, without "
		                       "--against-slurm");
	if (o->topology && !o->against &&
	    (!o->import || !o->format || strcmp(o->format, "topology-yaml")))
		return cmd_usage(self, "--topology is for --against-slurm and "
		                       "--format topology-yaml");
	if (!o->import) {
		if (o->format || o->output || o->name || o->routes ||
		    o->nodes || o->nodes_per_router || o->pattern || o->roles)
			return cmd_usage(self,
			                 o->cost ? "cost takes --price, "
			                           "--performance and "
			                           "--json only"
			                         : "check takes --json, "
			                           "--against-slurm and "
			                           "--measured only");
		if (o->cost && (o->against || o->slurm_nodes ||
		                o->slurm_topology))
			return cmd_usage(self, "--against-slurm is for check");
		if (!o->against && (o->slurm_nodes || o->slurm_topology))
			return cmd_usage(self,
			                 "--slurm-nodes and --slurm-topology "
			                 "are for --against-slurm");
		if (o->slurm_nodes && !o->slurm_topology)
			return cmd_usage(self,
			                 "--slurm-topology is needed with "
			                 "--slurm-nodes");
		if (o->slurm_topology && !o->slurm_nodes)
			return cmd_usage(self,
			                 "--slurm-nodes is needed with "
			                 "--slurm-topology");
		return CMD_OK;
	}
	if (o->json)
		return cmd_usage(self, "--json is for check");
	if (o->against || o->slurm_nodes || o->slurm_topology)
		return cmd_usage(self, "--against-slurm is for check");
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
	if ((o->pattern || o->roles) && strcmp(o->format, "names"))
		return cmd_usage(self,
		                 "--pattern and --roles are for --format names");
	if (!o->pattern != !o->roles)
		return cmd_usage(self, "--pattern and --roles need each other");
	return CMD_OK;
}

static int parse(const struct cmd *self, int argc, char **argv,
                 struct options *o)
{
	const struct cmd_option table[] = {
	        {"network", .text = &o->network},
	        {"format", .text = &o->format},
	        {"output", .text = &o->output},
	        {"name", .text = &o->name},
	        {"routes", .text = &o->routes},
	        {"nodes", .text = &o->nodes},
	        {"nodes-per-router", .integer = &o->nodes_per_router, .low = 1,
	         .high = 1000000},
	        {"topology", .text = &o->topology},
	        {"pattern", .text = &o->pattern},
	        {"roles", .text = &o->roles},
	        {"price", .take = network_cost_take, .into = &o->prices},
	        {"performance", .take = network_cost_performance,
	         .into = &o->prices},
	        {"json", .flag = &o->json},
	        {"against-slurm", .flag = &o->against},
	        {"slurm-nodes", .text = &o->slurm_nodes},
	        {"slurm-topology", .text = &o->slurm_topology},
	        {"measured", .text = &o->measured},
	        {0},
	};
	int rc;
	const char *what;

	network_cost_defaults(&o->prices);
	rc = cmd_options(self, argc, argv, table, CMD_WORDS);

	if (rc)
		return rc;
	if (optind == argc)
		return cmd_usage(self,
		                 "what to do? use `check FILE`, `cost FILE`, "
		                 "`links FILE`, `import FILE` or `export FILE`");
	what = argv[optind];
	o->import = !strcmp(what, "import");
	o->cost = !strcmp(what, "cost");
	o->export = !strcmp(what, "export");
	o->links = !strcmp(what, "links");
	if (!o->import && !o->export && !o->cost && !o->links &&
	    strcmp(what, "check"))
		return cmd_usage(self,
		                 "'%.60s' is unknown; use `check FILE`, `cost "
		                 "FILE`, `links FILE`, `import FILE` or "
		                 "`export FILE`",
		                 what);
	if (o->network && (!o->links || optind + 1 < argc))
		return cmd_usage(self, "--network is for links, in place of "
		                       "the file");
	if (optind + 1 == argc && !o->network)
		return cmd_usage(self, "%s: which file?", what);
	if (optind + 2 < argc)
		return cmd_usage(self, "%s: one file at a time", what);
	o->path = o->network ? o->network : argv[optind + 1];
	if (o->links)
		return links_options(self, o);
	return o->export ? CMD_OK : check_options(self, o);
}

static double port_rate(const struct cpl_network *net, int node, int port)
{
	return cpl_network_port_bandwidth(
	        net, (int64_t)node * net->n_ports + port);
}

static int64_t count_cables(const struct cpl_network *net)
{
	int64_t cables = 0;

	for (int c = 0; c < net->n_classes; c++)
		cables += net->link_class[c].count * net->link_class[c].cables;
	return cables;
}

static json_t *ports_json(const struct cpl_network *net)
{
	json_t *bandwidth = json_array();

	for (int p = 0; p < net->n_ports; p++)
		json_array_append_new(bandwidth,
		                      json_real(net->port_bandwidth[p]));
	return json_pack("{s:i, s:s, s:o}", "count", net->n_ports, "use",
	                 cpl_port_use_name(net->port_use), "bandwidth",
	                 bandwidth);
}

static json_t *accelerators_json(const struct cpl_network *net)
{
	const struct cpl_accelerators *a = &net->accelerators;
	json_t *out;

	if (!a->per_node)
		return NULL;
	out = json_pack("{s:i, s:i, s:b}", "per_node", a->per_node, "domains",
	                a->n_domains, "pxn", a->pxn);
	if (isfinite(a->bandwidth[CPL_INSIDE_NODE]))
		json_object_set_new(
		        out, "node_bandwidth",
		        json_real(a->bandwidth[CPL_INSIDE_NODE]));
	if (isfinite(a->bandwidth[CPL_INSIDE_DOMAIN]))
		json_object_set_new(
		        out, "domain_bandwidth",
		        json_real(a->bandwidth[CPL_INSIDE_DOMAIN]));
	return out;
}

static void list_accelerators(const struct cpl_network *net,
                              struct cmd_table *table)
{
	const struct cpl_accelerators *a = &net->accelerators;
	int64_t n = (int64_t)cpl_network_hosts(net) * a->per_node, joined = 0;

	for (int i = 0; i < net->n_nodes && a->domain_of; i++)
		joined += a->domain_of[i] >= 0 ? a->per_node : 0;
	if (a->per_node && isfinite(a->bandwidth[CPL_INSIDE_NODE]))
		cmd_table_row(table,
		              "node|%" PRId64
		              "|%g|and back, %d accelerators a node",
		              n, a->bandwidth[CPL_INSIDE_NODE], a->per_node);
	if (a->domain_of)
		cmd_table_row(table,
		              "domain|%" PRId64
		              "|%g|and back, of accelerators in %d domains",
		              joined, a->bandwidth[CPL_INSIDE_DOMAIN],
		              a->n_domains);
}

static int print_json(const struct cmd *self, const struct cpl_network *net,
                      const struct cpl_routing *routing)
{
	json_t *links = json_object(), *bandwidth = json_object();
	struct cpl_error doubt = {""};
	bool doubtful = cpl_network_doubt_bandwidths(net, &doubt) != 0;

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
	                    json_real(net->port_bandwidth[0]));
	return cmd_print_pack(
	        self,
	        "{s:s, s:s, s:o, s:i, s:i, s:i, s:o, s:o, s:o, s:s, "
	        "s:s?, s:s?, s:o*}",
	        "name", net->name, "type", net->type->name, "shape",
	        net->type->sizes(net), "routers", net->n_routers, "nodes",
	        cpl_network_hosts(net), "nodes_per_router",
	        net->nodes_per_router, "ports", ports_json(net), "links", links,
	        "bandwidth", bandwidth, "routing", routing->name,
	        "routing_stated", net->routing, "doubt",
	        doubtful ? doubt.text : NULL, "accelerators",
	        accelerators_json(net));
}

/* A row for each bandwidth that nodes have at a port, from the first node on. */
static void list_port(const struct cpl_network *net, int port,
                      struct cmd_table *table)
{
	double done[MAX_RATES];
	int n_done = 0;

	for (int node = 0; node < net->n_nodes; node++) {
		double rate = port_rate(net, node, port);
		int hosts = 0, i = 0;

		while (i < n_done && done[i] != rate)
			i++;
		if (!net->node_name[node] || i < n_done || i == MAX_RATES)
			continue;
		done[n_done++] = rate;
		for (int other = node; other < net->n_nodes; other++)
			hosts += net->node_name[other] &&
			         port_rate(net, other, port) == rate;
		if (net->n_ports == 1)
			cmd_table_row(table, "injection|%d|%g|and back", hosts,
			              rate);
		else
			cmd_table_row(table,
			              "injection|%d|%g|and back, port %d; %s",
			              hosts, rate, port,
			              cpl_port_use_name(net->port_use));
	}
}

static int print_text(const struct cpl_network *net,
                      const struct cpl_routing *routing)
{
	struct cmd_table *table = cmd_table_new("lrrl");
	struct cpl_error doubt = {""};

	printf("%s: ", net->name);
	net->type->describe(net, stdout);
	putchar('\n');
	printf("routing %s%s%s%s\n", routing->name,
	       net->routing ? " (the file states " : "",
	       net->routing ? net->routing : "", net->routing ? ")" : "");
	printf("%d routers, %d nodes, %" PRId64 " directed links\n\n",
	       net->n_routers, cpl_network_hosts(net), count_cables(net));
	cmd_table_row(table, "class|links|bytes/s|");
	for (int c = 0; c < net->n_classes; c++) {
		const struct cpl_link_class *class = &net->link_class[c];

		cmd_table_row(table,
		              class->cables > 1
		                      ? "%s|%" PRId64
		                        "|%g|%d between each two routers"
		                      : "%s|%" PRId64 "|%g|",
		              class->name, class->count * class->cables,
		              class->bandwidth / class->cables, class->cables);
	}
	for (int p = 0; p < net->n_ports; p++)
		list_port(net, p, table);
	list_accelerators(net, table);
	if (cmd_table_print(table))
		return CMD_FAILED;
	if (cpl_network_doubt_bandwidths(net, &doubt))
		printf("\nDoubtful: %s.\n", doubt.text);
	if (!cpl_network_has_bandwidths(net))
		printf("\nAll links have 1 byte/s, as where no bandwidth is "
		       "stated: what other subcommands\ntell in seconds are "
		       "bytes.\n");
	return CMD_OK;
}

/* Exit status 1 where the file's cables are not as measured. */
static int check_measured(const struct cmd *self, const struct cpl_network *net,
                          const struct options *o)
{
	const struct cpl_measured_at at = {0};
	struct cpl_measured measured;
	struct cpl_cabling cabling = {0};
	const struct cabling_view view = {net, &measured, &cabling, -1};
	struct cpl_error err = {""};
	int rc = CMD_OK;

	if (cpl_measured_load(&measured, net, o->measured, &at, &err) ||
	    cpl_cabling_check(&cabling, &measured, net, NULL, &err))
		rc = cmd_fail(self, &err);
	else if (o->json)
		rc = cmd_print_json(self, cabling_json(&view));
	else
		cabling_print(&view, stdout);
	if (!rc && cabling_differs(&view))
		rc = CMD_FAILED;
	cpl_cabling_free(&cabling);
	cpl_measured_free(&measured);
	return rc;
}

static int check(const struct cmd *self, const struct options *o)
{
	struct cpl_error err = {""};
	const struct cpl_routing *routing;
	struct cpl_network *net = cpl_network_load(o->path, &err);
	const struct network_against against = {.path = o->path,
	                                        .nodes = o->slurm_nodes,
	                                        .topology = o->slurm_topology,
	                                        .name = o->topology,
	                                        .json = o->json};
	int rc;

	if (!net)
		return cmd_fail(self, &err);
	routing = cpl_routing_find(net, NULL, &err);
	if (!routing)
		rc = cmd_failf(self, "%s: %s", o->path, err.text);
	else if (o->against)
		rc = network_against_slurm(self, net, &against);
	else if (o->measured)
		rc = check_measured(self, net, o);
	else if (o->json)
		rc = print_json(self, net, routing);
	else
		rc = print_text(net, routing);
	cpl_network_free(net);
	return rc;
}

/* The file's name without its extension. */
static char *default_name(const char *path)
{
	const char *base = cpl_path_base(path), *dot = strrchr(base, '.');

	return strndup(base,
	               dot && dot > base ? (size_t)(dot - base) : strlen(base));
}

static int write_files(const struct options *o, const json_t *root,
                       const char *routes, const char *table,
                       struct cpl_error *err)
{
	if (routes &&
	    cpl_file_write_atomic(table, routes, strlen(routes), 0644, err))
		return -1;
	if (!cpl_json_write_atomic(root, o->output, 0644, err))
		return 0;
	if (routes)
		unlink(table);
	return -1;
}

/* Users want to know why their machine is no dragonfly, and what to look at. */
static void tell(const struct options *o, const json_t *root,
                 const struct cpl_network_import *from)
{
	const char *why = from->why->text, *doubt = from->doubt->text;
	const char *type = json_string_value(json_object_get(root, "type"));
	bool plus = !strcmp(o->format, "ibnetdiscover");

	printf("%s: %s%s%s\n", o->output, type,
	       !*why ? "" : plus ? ", not a dragonfly+: "
	                         : ", not a dragonfly: ",
	       why);
	if (*from->found->text && strcmp(type, "graph"))
		printf("recognised: %s\n", from->found->text);
	while (*doubt) {
		int n = (int)strcspn(doubt, "\n");

		printf("doubt: %.*s\n", n, doubt);
		doubt += n + (doubt[n] == '\n');
	}
}

static int import(const struct options *o, struct cpl_error *err)
{
	struct cpl_error why = {""}, doubt = {""}, found = {""};
	struct cpl_network_import source = {
	        .format = o->format,
	        .source = o->path,
	        .routes_source = o->routes,
	        .nodes = o->nodes,
	        .topology = o->topology,
	        .pattern = o->pattern,
	        .roles = o->roles,
	        .nodes_per_router = (int)o->nodes_per_router,
	        .why = &why,
	        .doubt = &doubt,
	        .found = &found,
	};
	char *name = NULL, *table = NULL, *text = NULL, *routes = NULL;
	char *made = NULL;
	json_t *root = NULL;
	int rc = -1;

	if (cpl_network_import_format(o->format, err))
		return -1;
	name = o->name ? strdup(o->name) : default_name(o->output);
	if (!name || asprintf(&table, "%s.routes", o->output) < 0) {
		table = NULL;
		cpl_fail_memory(err);
		goto out;
	}
	source.name = name;
	source.routing_table = cpl_path_base(table);
	text = cpl_file_read_gunzip(o->path, MAX_BYTES, &source.length, err);
	if (!text)
		goto out;
	source.text = text;
	if (o->routes) {
		routes = cpl_file_read_gunzip(o->routes, MAX_BYTES,
		                              &source.routes_length, err);
		if (!routes)
			goto out;
		source.routes = routes;
	}
	root = cpl_network_import(&source, &made, err);
	if (root)
		rc = write_files(o, root, made, table, err);
	if (!rc)
		tell(o, root, &source);
out:
	json_decref(root);
	cpl_free_all(name, table, text, routes, made);
	return rc;
}

static int export(const struct cmd *self, const struct options *o)
{
	enum cpl_export_what what;
	struct cpl_error err = {""};
	struct cpl_network *net;
	size_t length;
	char *text;
	enum cpl_export_format format;
	int rc = export_options(self, o, &format, &what);

	if (rc)
		return rc;
	net = cpl_network_load(o->path, &err);
	if (!net)
		return cmd_fail(self, &err);
	text = cpl_network_export(net, format, what, &length, &err);
	cpl_network_free(net);
	if (!text)
		return cmd_failf(self, "%s: %s", o->path, err.text);
	rc = cpl_file_write_atomic(o->output, text, length, 0644, &err)
	             ? cmd_fail(self, &err)
	             : CMD_OK;
	free(text);
	return rc;
}

static int print_links(const struct cmd *self, const struct options *o)
{
	struct cpl_error err = {""};
	struct cpl_network *net = cpl_network_load(o->path, &err);

	if (!net)
		return cmd_fail(self, &err);
	network_write_links(net, NULL, stdout);
	cpl_network_free(net);
	return CMD_OK;
}

static int run_network(const struct cmd *self, int argc, char **argv)
{
	struct options o = {.path = NULL};
	struct cpl_error err = {""};
	int rc = parse(self, argc, argv, &o);

	if (rc != CMD_OK)
		return rc;
	if (o.cost)
		return network_cost(self, o.path, &o.prices, o.json);
	if (o.export)
		return export(self, &o);
	if (o.links)
		return print_links(self, &o);
	if (!o.import)
		return check(self, &o);
	return import(&o, &err) ? cmd_fail(self, &err) : CMD_OK;
}

const struct cmd cmd_network = {"network", run_network};
