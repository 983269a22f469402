/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Graphs: routers 0 .. node_routers - 1 have nodes, the others none. Links are
 * numbered class by class, within a class in the file's order (a link both
 * ways: first the way it is written). A class is a name, or a bandwidth.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "network/type.h"

static const char *const keys[] = {"routers", "node_routers", "links", "directed",
                                   NULL};

struct link {
	int from, to, class;
};

/* As in the file, while loading. */
struct graph {
	struct link *file;
	int64_t n_file;
};

static const char *const levels[] = {"router", NULL};

struct classes {
	int n, n_numbered;
	char name[CPL_NETWORK_MAX_CLASSES][16];
	bool numbered[CPL_NETWORK_MAX_CLASSES]; /* by bandwidth */
	double bandwidth[CPL_NETWORK_MAX_CLASSES];
	int64_t count[CPL_NETWORK_MAX_CLASSES];
};

static int check_class_name(const char *name, struct cpl_error *err)
{
	size_t n = strlen(name);
	bool right = n > 0 && n < 16 && islower((unsigned char)name[0]);

	for (size_t i = 0; i < n && right; i++)
		right = islower((unsigned char)name[i]) ||
		        isdigit((unsigned char)name[i]) || name[i] == '-';
	if (!right || !strcmp(name, "all") || !strcmp(name, "injection") ||
	    !strcmp(name, "ejection") ||
	    (!strncmp(name, "link", 4) && isdigit((unsigned char)name[4])))
		return cpl_fail(err,
		                "\"%.40s\" is not a class name; use up to 15 "
		                "lower-case letters, digits and \"-\", but not "
		                "all, injection, ejection or link0",
		                name);
	return 0;
}

static int new_class(struct classes *c, const char *name, struct cpl_error *err)
{
	if (c->n == CPL_NETWORK_MAX_CLASSES)
		return cpl_fail(err,
		                "more than %d classes of links (names, or "
		                "different bandwidths)",
		                CPL_NETWORK_MAX_CLASSES);
	c->bandwidth[c->n] = 1.0;
	snprintf(c->name[c->n], sizeof(*c->name), "%s", name);
	return c->n++;
}

/* The third field of a link: a name, a bandwidth, or nothing. */
static int find_class(struct classes *c, const json_t *field,
                      struct cpl_error *err)
{
	const char *name = field ? json_string_value(field) : "link";
	double bandwidth = json_number_value(field);
	char numbered[16];
	int i;

	if (name) {
		for (i = 0; i < c->n; i++)
			if (!strcmp(c->name[i], name))
				return i;
		return check_class_name(name, err) ? -1
		                                   : new_class(c, name, err);
	}
	if (!json_is_number(field) || !(bandwidth > 0))
		return cpl_fail(err, "the third field is a number of bytes/s "
		                     "above 0, or the name of a class");
	for (i = 0; i < c->n; i++)
		if (c->numbered[i] && c->bandwidth[i] == bandwidth)
			return i;
	snprintf(numbered, sizeof(numbered), "link%d", c->n_numbered);
	i = new_class(c, numbered, err);
	if (i < 0)
		return -1;
	c->n_numbered++;
	c->numbered[i] = true;
	c->bandwidth[i] = bandwidth;
	return i;
}

static int read_link(const struct cpl_network *net, const json_t *value,
                     struct classes *c, struct link *out, struct cpl_error *err)
{
	const json_t *end[] = {json_array_get(value, 0),
	                       json_array_get(value, 1)};

	if (json_array_size(value) < 2 || json_array_size(value) > 3)
		return cpl_fail(err, "an array [from, to] or [from, to, "
		                     "bandwidth] is needed");
	for (int i = 0; i < 2; i++)
		if (!json_is_integer(end[i]) ||
		    json_integer_value(end[i]) < 0 ||
		    json_integer_value(end[i]) >= net->n_routers)
			return cpl_fail(
			        err,
			        "%s is not a router id; it must lie in 0 to %d",
			        i ? "the second field" : "the first field",
			        net->n_routers - 1);
	out->from = (int)json_integer_value(end[0]);
	out->to = (int)json_integer_value(end[1]);
	if (out->from == out->to)
		return cpl_fail(err, "joins router %d with itself", out->to);
	out->class = find_class(c, json_array_get(value, 2), err);
	return out->class < 0 ? -1 : 0;
}

static int read_links(struct cpl_network *net, const json_t *root,
                      struct classes *c, struct cpl_error *err)
{
	const json_t *links = json_object_get(root, "links");
	struct graph *graph = (void *)net->own;
	size_t n = json_array_size(links);
	bool directed = false;

	if (cpl_json_bool(root, "directed", &directed, err) < 0)
		return -1;
	if (!json_is_array(links))
		return cpl_fail(err,
		                "\"links\" %s; an array of [from, to, "
		                "bandwidth] is needed",
		                links ? "is not valid" : "is missing");
	graph->file = malloc((2 * n + 1) * sizeof(*graph->file));
	if (!graph->file)
		return cpl_fail_memory(err);
	for (size_t i = 0; i < n; i++) {
		struct link link;

		if (read_link(net, json_array_get(links, i), c, &link, err))
			return cpl_fail_prefix(err, "\"links\"[%zu]: ", i);
		graph->file[graph->n_file++] = link;
		c->count[link.class] += directed ? 1 : 2;
		if (!directed)
			graph->file[graph->n_file++] =
			        (struct link){link.to, link.from, link.class};
	}
	return 0;
}

static int read_bandwidths(const json_t *root, struct classes *c,
                           struct cpl_error *err)
{
	const json_t *bandwidth = json_object_get(root, "bandwidth");
	const char *known[CPL_NETWORK_MAX_CLASSES + 2];
	int n = 0;

	known[n++] = "injection";
	for (int i = 0; i < c->n; i++) {
		if (c->numbered[i])
			continue;
		known[n++] = c->name[i];
		if (cpl_network_bandwidth(bandwidth, c->name[i],
		                          &c->bandwidth[i], err))
			return -1;
	}
	known[n] = NULL;
	return cpl_json_known_keys(bandwidth, "bandwidth", known, err);
}

static int shape(struct cpl_network *net, const json_t *root,
                 struct cpl_error *err)
{
	struct classes c = {0};

	if (cpl_json_take_int(root, "routers", 1, CPL_NETWORK_MAX_ROUTERS,
	                      &net->n_routers, err))
		return -1;
	net->n_node_routers = net->n_routers;
	if (cpl_json_take_int(root, "node_routers", 1, net->n_routers,
	                      &net->n_node_routers, err))
		return -1;
	cpl_network_add_level(net, "router", 1);
	if (read_links(net, root, &c, err) || read_bandwidths(root, &c, err))
		return -1;
	for (int i = 0; i < c.n; i++)
		if (cpl_network_add_class(net, c.name[i], c.count[i],
		                          c.bandwidth[i], err))
			return -1;
	return 0;
}

static int links(struct cpl_network *net, struct cpl_error *err)
{
	struct graph *graph = (void *)net->own;
	int64_t next[CPL_NETWORK_MAX_CLASSES];

	(void)err;
	for (int c = 0; c < net->n_classes; c++)
		next[c] = net->link_class[c].first;
	for (int64_t i = 0; i < graph->n_file; i++)
		cpl_network_set_link(net, next[graph->file[i].class]++,
		                     graph->file[i].from, graph->file[i].to);
	free(graph->file);
	graph->file = NULL;
	return 0;
}

static void release(struct cpl_network *net)
{
	free(((struct graph *)(void *)net->own)->file);
}

static void describe(const struct cpl_network *net, FILE *out)
{
	fprintf(out, "graph of %d routers, %d of them with %d nodes",
	        net->n_routers, net->n_node_routers, net->nodes_per_router);
}

static json_t *sizes(const struct cpl_network *net)
{
	return json_pack("{s:i, s:i}", "routers", net->n_routers,
	                 "node_routers", net->n_node_routers);
}

const struct cpl_network_type cpl_network_graph = {
        .name = "graph",
        .summary = "routers and links one by one",
        .flags = CPL_NETWORK_NEXT_LINKS | CPL_NETWORK_TABLES |
                 CPL_NETWORK_IRREGULAR,
        .levels = levels,
        .keys = keys,
        .size = sizeof(struct graph),
        .shape = shape,
        .links = links,
        .release = release,
        .describe = describe,
        .sizes = sizes,
};
