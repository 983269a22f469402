/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "network/fattree/fattree.h"

#include <inttypes.h>
#include <stdio.h>

#include "network/type.h"

static const char *const keys[] = {"leaves", "levels", NULL};
static const char *const names[] = {"router", NULL};
static const char *const bandwidth_keys[] = {"injection", NULL};
static const char *const level_keys[] = {"down", "up", "links", "bandwidth",
                                         NULL};

static int read_level(struct cpl_fattree *tree, int l, const json_t *level,
                      double *bandwidth, struct cpl_error *err)
{
	if (!json_is_object(level))
		return cpl_fail(err, "an object is needed");
	tree->ports[l] = 1;
	if (cpl_json_known_keys(level, "level", level_keys, err) ||
	    cpl_json_take_int(level, "down", 1, CPL_NETWORK_MAX_ROUTERS,
	                      &tree->down[l], err) ||
	    cpl_json_take_int(level, "up", 1, CPL_NETWORK_MAX_ROUTERS,
	                      &tree->up[l], err) ||
	    cpl_json_take_int(level, "links", 1, CPL_NETWORK_MAX_ROUTERS,
	                      &tree->ports[l], err))
		return -1;
	return cpl_network_bandwidth(level, "bandwidth", bandwidth, err);
}

/* Sizes of the levels from the leaves up; the last subtrees may be missing. */
static int lay_out(struct cpl_network *net, int leaves, struct cpl_error *err)
{
	struct cpl_fattree *tree = (void *)net->own;
	int64_t routers = 0, replicas = 1, subtrees = leaves;

	for (int l = 0; l <= tree->n_levels; l++) {
		if (l) {
			replicas *= tree->up[l - 1];
			subtrees = (subtrees - 1) / tree->down[l - 1] + 1;
		}
		if (replicas <= CPL_NETWORK_MAX_ROUTERS) {
			tree->first[l] = (int)routers;
			tree->subtrees[l] = (int)subtrees;
			tree->replicas[l] = (int)replicas;
			routers += subtrees * replicas;
		}
		if (replicas > CPL_NETWORK_MAX_ROUTERS ||
		    routers > CPL_NETWORK_MAX_ROUTERS)
			return cpl_fail(err,
			                "\"levels\" make more than %d "
			                "routers",
			                CPL_NETWORK_MAX_ROUTERS);
	}
	/* Subtrees from the top; policies ask for leaf switches only. */
	for (int l = tree->n_levels - 1; l >= 0; l--) {
		int below = 1;

		for (int i = 0; i < l; i++)
			below *= tree->down[i];
		cpl_network_add_level(net, l ? NULL : "router", below);
	}
	net->turns = tree->n_levels - 1;
	net->n_routers = (int)routers;
	net->n_node_routers = leaves;
	return 0;
}

static int read_levels(struct cpl_network *net, const json_t *root,
                       double *bandwidth, struct cpl_error *err)
{
	const json_t *levels = json_object_get(root, "levels");
	struct cpl_fattree *tree = (void *)net->own;
	int64_t full = 1;
	int leaves;

	if (!json_is_array(levels) || json_array_size(levels) < 1 ||
	    json_array_size(levels) > CPL_NETWORK_MAX_LEVELS)
		return cpl_fail(err,
		                "\"levels\" %s; an array of 1 to %d objects is "
		                "needed",
		                levels ? "is not valid" : "is missing",
		                CPL_NETWORK_MAX_LEVELS);
	tree->n_levels = (int)json_array_size(levels);
	for (int l = 0; l < tree->n_levels; l++) {
		bandwidth[l] = 1.0;
		if (read_level(tree, l, json_array_get(levels, (size_t)l),
		               &bandwidth[l], err))
			return cpl_fail_prefix(err, "\"levels\"[%d]: ", l);
		full *= tree->down[l];
		if (full > CPL_NETWORK_MAX_ROUTERS)
			return cpl_fail(err,
			                "\"levels\" make more than %d leaf "
			                "switches",
			                CPL_NETWORK_MAX_ROUTERS);
	}
	leaves = (int)full;
	if (cpl_json_take_int(root, "leaves", 1, leaves, &leaves, err))
		return -1;
	return lay_out(net, leaves, err);
}

static int shape(struct cpl_network *net, const json_t *root,
                 struct cpl_error *err)
{
	const struct cpl_fattree *tree = cpl_fattree_of(net);
	double bandwidth[CPL_NETWORK_MAX_LEVELS];

	if (cpl_json_known_keys(json_object_get(root, "bandwidth"), "bandwidth",
	                        bandwidth_keys, err) ||
	    read_levels(net, root, bandwidth, err))
		return -1;
	for (int l = 0; l < tree->n_levels; l++) {
		/* At most 1e6 * 1e6 * 1e6: fits 64 bits. */
		int64_t count = (int64_t)tree->subtrees[l] * tree->replicas[l] *
		                tree->up[l] * tree->ports[l];

		for (int down = 0; down < 2; down++) {
			char name[16];

			snprintf(name, sizeof(name), "%s%d",
			         down ? "down" : "up", l + 1);
			if (cpl_network_add_class(net, name, count,
			                          bandwidth[l], err))
				return -1;
		}
	}
	return 0;
}

static int links(struct cpl_network *net, struct cpl_error *err)
{
	const struct cpl_fattree *tree = cpl_fattree_of(net);

	(void)err;
	for (int l = 0; l < tree->n_levels; l++) {
		int subtrees = tree->subtrees[l], ports = tree->ports[l];

		for (int i = 0; i < subtrees * tree->replicas[l]; i++) {
			int here = tree->first[l] + i;
			int above = tree->first[l + 1] +
			            i / subtrees * tree->up[l] *
			                    tree->subtrees[l + 1] +
			            i % subtrees / tree->down[l];

			for (int j = 0; j < tree->up[l] * ports; j++) {
				int parent = j / ports, port = j % ports;
				int there =
				        above + parent * tree->subtrees[l + 1];

				cpl_network_set_link(net,
				                     cpl_fattree_link(net, l, i,
				                                      parent,
				                                      port, 0),
				                     here, there);
				cpl_network_set_link(net,
				                     cpl_fattree_link(net, l, i,
				                                      parent,
				                                      port, 1),
				                     there, here);
			}
		}
	}
	return 0;
}

/* All parents at each level; the way down is over the same replicas. */
static void spread(const struct cpl_network *net, int from, int to,
                   void (*take)(void *arg, struct cpl_share share), void *arg)
{
	const struct cpl_fattree *tree = cpl_fattree_of(net);
	int levels = cpl_fattree_climb(tree, from, to);
	double part = 1.0;

	for (int l = 0; l < levels; l++) {
		int ways = tree->up[l] * tree->ports[l];

		part /= ways;
		for (int i = 0; i < tree->replicas[l] * ways; i++) {
			int below = i / ways * tree->subtrees[l];
			int parent = i % ways / tree->ports[l];
			int port = i % tree->ports[l];

			take(arg, (struct cpl_share){
			                  (int)cpl_fattree_link(
			                          net, l, below + from, parent,
			                          port, 0),
			                  part});
			take(arg, (struct cpl_share){
			                  (int)cpl_fattree_link(
			                          net, l, below + to, parent,
			                          port, 1),
			                  part});
		}
		/* Ports of a link join at its end. */
		part *= tree->ports[l];
		from /= tree->down[l];
		to /= tree->down[l];
	}
}

static int distance(const struct cpl_network *net, int from, int to)
{
	return 2 * cpl_fattree_climb(cpl_fattree_of(net), from, to);
}

static void describe(const struct cpl_network *net, FILE *out)
{
	const struct cpl_fattree *tree = cpl_fattree_of(net);

	fprintf(out, "fat tree of %d leaf switches x %d nodes",
	        net->n_node_routers, net->nodes_per_router);
	for (int l = 0; l < tree->n_levels; l++)
		fprintf(out, ", %d x %d links up to %d switches", tree->up[l],
		        tree->ports[l],
		        tree->subtrees[l + 1] * tree->replicas[l + 1]);
}

static json_t *sizes(const struct cpl_network *net)
{
	const struct cpl_fattree *tree = cpl_fattree_of(net);
	int n = tree->n_levels;

	return json_pack("{s:i, s:o, s:o, s:o}", "leaves", net->n_node_routers,
	                 "down", cpl_json_ints(tree->down, n), "up",
	                 cpl_json_ints(tree->up, n), "links",
	                 cpl_json_ints(tree->ports, n));
}

const struct cpl_network_type cpl_network_fattree = {
        .name = "fattree",
        .summary = "switches in levels above leaf switches that have the nodes",
        .flags = CPL_NETWORK_TABLES,
        .levels = names,
        .staged = true,
        .keys = keys,
        .size = sizeof(struct cpl_fattree),
        .shape = shape,
        .links = links,
        .spread = spread,
        .distance = distance,
        .describe = describe,
        .sizes = sizes,
};
