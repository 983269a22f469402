/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "network/network.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "base/file.h"
#include "base/hostlist.h"
#include "network/type.h"

static const char *const common_keys[] = {
        "format",  "version",          "name",  "type",
        "routing", "nodes_per_router", "nodes", "bandwidth"};

#define COMMON_KEYS (sizeof(common_keys) / sizeof(*common_keys))
#define MAX_KEYS 32
#define MAX_CABLES 1000
/* Parsed, a text takes some 16 times its size. */
#define MAX_BYTES (UINT64_C(64) << 20)

const char *cpl_network_type_name(const struct cpl_network_type *type)
{
	return type->name;
}

const struct cpl_network_type *cpl_network_type_find(const char *name)
{
	return (const struct cpl_network_type *)cpl_registry_find(
	        &cpl_network_types, name, strlen(name), NULL, NULL);
}

bool cpl_network_type_has(const struct cpl_network_type *type,
                          const char *level)
{
	for (int i = 0; type->levels[i]; i++)
		if (!strcmp(type->levels[i], level))
			return true;
	return false;
}

bool cpl_network_type_is_product(const struct cpl_network_type *type)
{
	return type->flags & CPL_NETWORK_PRODUCT;
}

bool cpl_network_type_is_irregular(const struct cpl_network_type *type)
{
	return type->flags & CPL_NETWORK_IRREGULAR;
}

/* Open addressing; slots hold node ids or -1, their number is a power of 2. */
struct cpl_node_index {
	size_t mask;
	int slot[];
};

static uint64_t hash_name(const char *name)
{
	uint64_t hash = UINT64_C(14695981039346656037);

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * UINT64_C(1099511628211);
	return hash ^ (hash >> 32);
}

static size_t find_slot(const struct cpl_network *net, const char *host)
{
	size_t i = hash_name(host) & net->index->mask;

	while (net->index->slot[i] >= 0 &&
	       strcmp(net->node_name[net->index->slot[i]], host))
		i = (i + 1) & net->index->mask;
	return i;
}

int cpl_network_node(const struct cpl_network *net, const char *host)
{
	return net->index->slot[find_slot(net, host)];
}

static int build_index(struct cpl_network *net, struct cpl_error *err)
{
	size_t slots = 8;

	while (slots < 2 * (size_t)net->n_nodes)
		slots *= 2;
	net->index = malloc(sizeof(*net->index) + slots * sizeof(int));
	if (!net->index)
		return cpl_fail_memory(err);
	net->index->mask = slots - 1;
	for (size_t i = 0; i < slots; i++)
		net->index->slot[i] = -1;
	for (int node = 0; node < net->n_nodes; node++) {
		size_t i;

		if (!net->node_name[node])
			continue;
		i = find_slot(net, net->node_name[node]);
		if (net->index->slot[i] >= 0)
			return cpl_fail(err,
			                "\"nodes\": host %s is given twice, as "
			                "node %d and as node %d",
			                net->node_name[node],
			                net->index->slot[i], node);
		net->index->slot[i] = node;
	}
	return 0;
}

int cpl_network_add_class(struct cpl_network *net, const char *name,
                          int64_t count, double bandwidth,
                          struct cpl_error *err)
{
	struct cpl_link_class *class = &net->link_class[net->n_classes];

	if (net->n_classes == CPL_NETWORK_MAX_CLASSES)
		return cpl_fail(err, "there are more than %d classes of links",
		                CPL_NETWORK_MAX_CLASSES);
	net->n_classes++;
	if (count > CPL_NETWORK_MAX_LINKS - net->n_links)
		return cpl_fail(err,
		                "the sizes make more than %" PRId64
		                " directed links",
		                CPL_NETWORK_MAX_LINKS);
	snprintf(class->name, sizeof(class->name), "%s", name);
	class->first = net->n_links;
	class->count = count;
	class->cables = 1;
	class->bandwidth = bandwidth;
	net->n_links += count;
	return 0;
}

int cpl_network_bandwidth(const json_t *object, const char *key, double *out,
                          struct cpl_error *err)
{
	double value = *out;

	if (cpl_json_number(object, key, -DBL_MAX, DBL_MAX, &value, err) < 0)
		return cpl_fail_prefix(err, "bandwidth: ");
	if (value <= 0)
		return cpl_fail(err,
		                "bandwidth: \"%s\" is %g; a number of bytes/s "
		                "above 0 is needed",
		                key, value);
	*out = value;
	return 0;
}

int cpl_network_add_classes(struct cpl_network *net, const json_t *root,
                            const char *const *name, const int64_t *count,
                            struct cpl_error *err)
{
	const json_t *bandwidth = json_object_get(root, "bandwidth");
	const char *known[CPL_NETWORK_MAX_CLASSES + 2];
	int n = 0;

	for (; name[n]; n++)
		known[n] = name[n];
	known[n] = "injection";
	known[n + 1] = NULL;
	if (cpl_json_known_keys(bandwidth, "bandwidth", known, err))
		return -1;
	for (int c = 0; c < n; c++) {
		double value = 1.0;

		if (cpl_network_bandwidth(bandwidth, name[c], &value, err) ||
		    cpl_network_add_class(net, name[c], count[c], value, err))
			return -1;
	}
	return 0;
}

int cpl_network_dims(struct cpl_network *net, const json_t *root, int *dim,
                     struct cpl_error *err)
{
	const json_t *dims = json_object_get(root, "dims");
	int n_dims = (int)json_array_size(dims);
	int64_t routers = 1;

	if (n_dims < 1 || n_dims > CPL_NETWORK_MAX_DIMS)
		return cpl_fail(err,
		                "\"dims\" %s; an array of 1 to %d lengths is "
		                "needed",
		                dims ? "is not valid" : "is missing",
		                CPL_NETWORK_MAX_DIMS);
	for (int d = 0; d < n_dims; d++) {
		const json_t *length = json_array_get(dims, (size_t)d);
		json_int_t n = json_integer_value(length);

		if (!json_is_integer(length) || n < 1 ||
		    n > CPL_NETWORK_MAX_ROUTERS)
			return cpl_fail(err,
			                "\"dims\"[%d]: an integer in 1 to %d "
			                "is needed",
			                d, CPL_NETWORK_MAX_ROUTERS);
		dim[d] = (int)n;
		routers *= n;
		if (routers > CPL_NETWORK_MAX_ROUTERS)
			return cpl_fail(err,
			                "\"dims\" make more than %d routers",
			                CPL_NETWORK_MAX_ROUTERS);
	}
	net->n_routers = (int)routers;
	return n_dims;
}

int cpl_network_bundle(struct cpl_network *net, const json_t *object,
                       const char *key, int class, struct cpl_error *err)
{
	struct cpl_link_class *links = &net->link_class[class];

	if (cpl_json_take_int(object, key, 1, MAX_CABLES, &links->cables, err))
		return -1;
	if (links->cables * links->count > CPL_NETWORK_MAX_LINKS)
		return cpl_fail(err, "\"%s\" makes more than %lld links", key,
		                (long long)CPL_NETWORK_MAX_LINKS);
	links->bandwidth *= links->cables;
	if (!isfinite(links->bandwidth))
		return cpl_fail(err, "bandwidth: \"%s\" is too large",
		                links->name);
	return 0;
}

void cpl_network_add_level(struct cpl_network *net, const char *name,
                           int routers)
{
	net->level[net->n_levels++] =
	        (struct cpl_level){.name = name, .routers = routers};
}

int cpl_network_add_units(struct cpl_network *net, const char *name,
                          const int *size, int n, struct cpl_error *err)
{
	struct cpl_level *level = &net->level[net->n_levels];
	int routers = 0;

	for (int u = 0; u < n; u++)
		routers += size[u];
	level->unit_of = malloc((size_t)routers * sizeof(*level->unit_of));
	if (!level->unit_of)
		return cpl_fail_memory(err);
	level->name = name;
	level->routers = size[0];
	for (int u = 0, r = 0; u < n; u++)
		for (int i = 0; i < size[u]; i++)
			level->unit_of[r++] = u;
	net->n_levels++;
	return 0;
}

const struct cpl_level *cpl_network_level(const struct cpl_network *net,
                                          const char *name)
{
	for (int l = 0; l < net->n_levels; l++)
		if (net->level[l].name && !strcmp(net->level[l].name, name))
			return &net->level[l];
	return NULL;
}

int cpl_network_coordinates(const struct cpl_network *net, int router, int *at)
{
	int first = 0;

	if (net->type->coordinates)
		return net->type->coordinates(net, router, at);
	for (int d = 0; d < net->product.n_dims; d++) {
		at[d] = router % net->product.dim[d];
		router /= net->product.dim[d];
	}
	if (net->product.n_dims)
		return net->product.n_dims;
	for (int l = 0; l < net->n_levels; l++) {
		const struct cpl_level *level = &net->level[l];
		int unit = cpl_level_unit(level, router);

		at[l] = unit - (l ? cpl_level_unit(level, first) : 0);
		first = cpl_network_router(net, level->node[level->first[unit]]);
	}
	return net->n_levels;
}

json_t *cpl_network_ints(const int *value, int n)
{
	json_t *array = json_array();

	for (int i = 0; i < n; i++)
		json_array_append_new(array, json_integer(value[i]));
	return array;
}

/* Each node on one router, as many on each. */
static int join_nodes(struct cpl_network *net, struct cpl_error *err)
{
	int per_router = net->nodes_per_router;

	net->n_ports = 1;
	net->node_is_router = per_router == 1;
	net->port_router =
	        malloc((size_t)net->n_nodes * sizeof(*net->port_router));
	net->router_node =
	        malloc((size_t)net->n_nodes * sizeof(*net->router_node));
	net->router_first = malloc(((size_t)net->n_routers + 1) *
	                           sizeof(*net->router_first));
	if (!net->port_router || !net->router_node || !net->router_first)
		return cpl_fail_memory(err);
	for (int node = 0; node < net->n_nodes; node++) {
		net->port_router[node] = node / per_router;
		net->router_node[node] = node;
	}
	for (int router = 0; router <= net->n_routers; router++)
		net->router_first[router] =
		        (router < net->n_node_routers ? router
		                                      : net->n_node_routers) *
		        per_router;
	return 0;
}

/* Count the units of each level and list their nodes: runs of the list of all.
 */
static int list_nodes(struct cpl_network *net, struct cpl_error *err)
{
	if (join_nodes(net, err))
		return -1;
	for (int l = 0; l < net->n_levels; l++) {
		struct cpl_level *level = &net->level[l];
		int last = net->n_node_routers - 1;
		int n = cpl_level_unit(level, last) + 1;

		level->n_units = n;
		level->node = net->router_node;
		level->first = malloc(((size_t)n + 1) * sizeof(*level->first));
		if (!level->first)
			return cpl_fail_memory(err);
		for (int r = last; r >= 0; r--)
			level->first[cpl_level_unit(level, r)] =
			        net->router_first[r];
		level->first[n] = net->n_nodes;
	}
	return 0;
}

static const struct cpl_network_type *find_type(const json_t *root,
                                                struct cpl_error *err)
{
	const struct cpl_network_type *type;
	const char *name = NULL, *keys[MAX_KEYS];
	char list[128];
	size_t n = 0;

	if (cpl_json_expect_format(root, "commplace-network", err) ||
	    cpl_json_string(root, "type", &name, err) < 0)
		return NULL;
	type = name ? cpl_network_type_find(name) : NULL;
	if (!type) {
		cpl_fail(err, "it must be %s",
		         cpl_registry_names(&cpl_network_types, CPL_NAMES_OR,
		                            NULL, NULL, list, sizeof(list)));
		if (name)
			cpl_fail_prefix(err, "\"type\" is \"%.60s\"; ", name);
		else
			cpl_fail_prefix(err, "\"type\" is missing; ");
		return NULL;
	}
	for (; n < COMMON_KEYS; n++)
		keys[n] = common_keys[n];
	for (size_t k = 0; type->keys[k]; k++)
		keys[n++] = type->keys[k];
	if (type->flags & CPL_NETWORK_TABLES)
		keys[n++] = "routing_table";
	keys[n] = NULL;
	return cpl_json_known_keys(root, "", keys, err) ? NULL : type;
}

/* A host list's names from node `first` on, where there are at most `most`; how
 * many it has, or -1. */
static int take_hosts(struct cpl_network *net, const char *text, int first,
                      int most, struct cpl_error *err)
{
	struct cpl_hostlist list;
	int n;

	if (cpl_hostlist_parse(&list, text, err))
		return -1;
	n = list.count;
	for (int i = 0; i < n && n <= most; i++) {
		net->node_name[first + i] = list.name[i];
		list.name[i] = NULL;
	}
	cpl_hostlist_free(&list);
	return n;
}

static int read_node_list(struct cpl_network *net, const char *text,
                          struct cpl_error *err)
{
	int n = take_hosts(net, text, 0, net->n_nodes, err);

	if (n < 0)
		return cpl_fail_prefix(err, "\"nodes\": ");
	if (n != net->n_nodes)
		return cpl_fail(err,
		                "\"nodes\" names %d hosts; the sizes make %d "
		                "nodes (%d routers of %d)",
		                n, net->n_nodes, net->n_node_routers,
		                net->nodes_per_router);
	return 0;
}

/* Router ids have one spelling, so that no router can be given twice. */
static int read_router_key(const struct cpl_network *net, const char *key,
                           struct cpl_error *err)
{
	char *end, canonical[24];
	long long router = strtoll(key, &end, 10);

	snprintf(canonical, sizeof(canonical), "%lld", router);
	if (*end || strcmp(canonical, key) || router < 0 ||
	    router >= net->n_node_routers)
		return cpl_fail(err,
		                "\"nodes\": key \"%.60s\" is not a router id; "
		                "it must lie in 0 to %d",
		                key, net->n_node_routers - 1);
	return (int)router;
}

static int read_node_object(struct cpl_network *net, const json_t *object,
                            struct cpl_error *err)
{
	const char *key;
	json_t *value;
	int nodes = 0;

	json_object_foreach((json_t *)object, key, value)
	{
		int router = read_router_key(net, key, err);
		int most = net->nodes_per_router, n;

		if (router < 0)
			return -1;
		if (!json_is_string(value))
			return cpl_fail(err,
			                "\"nodes\": router %d: a string with a "
			                "host list is needed",
			                router);
		n = take_hosts(net, json_string_value(value), router * most,
		               most, err);
		if (n < 0)
			return cpl_fail_prefix(
			        err, "\"nodes\": router %d: ", router);
		if (n > most)
			return cpl_fail(err,
			                "\"nodes\": router %d has %d hosts; "
			                "nodes_per_router is %d",
			                router, n, most);
		nodes += n;
	}
	if (!nodes)
		return cpl_fail(err, "\"nodes\" names no host");
	return 0;
}

static int read_nodes(struct cpl_network *net, const json_t *root,
                      struct cpl_error *err)
{
	const json_t *nodes = json_object_get(root, "nodes");

	net->node_name = calloc((size_t)net->n_nodes, sizeof(*net->node_name));
	if (!net->node_name)
		return cpl_fail_memory(err);
	if (json_is_string(nodes))
		return read_node_list(net, json_string_value(nodes), err);
	if (json_is_object(nodes))
		return read_node_object(net, nodes, err);
	return cpl_fail(err,
	                "\"nodes\" %s; a string with a host list in node-id "
	                "order, or an object router id -> host list is needed",
	                nodes ? "has the wrong type" : "is missing");
}

static int read_text(const json_t *root, const char *key, const char *absent,
                     char **out, struct cpl_error *err)
{
	const char *text = absent;

	if (cpl_json_string(root, key, &text, err) < 0)
		return -1;
	if (!text)
		return 0;
	if (!*text)
		return cpl_fail(err, "\"%s\" is empty", key);
	*out = strdup(text);
	if (!*out)
		return cpl_fail_memory(err);
	cpl_printable(*out);
	return 0;
}

static int allocate_links(struct cpl_network *net, struct cpl_error *err)
{
	/* One more, so that a network without links is no special case. */
	size_t n = (size_t)net->n_links + 1;

	net->link_from = malloc(n * sizeof(*net->link_from));
	net->link_to = malloc(n * sizeof(*net->link_to));
	net->link_class_of = malloc(n);
	if (!net->link_from || !net->link_to || !net->link_class_of)
		return cpl_fail_memory(err);
	for (int c = 0; c < net->n_classes; c++)
		memset(net->link_class_of + net->link_class[c].first, c,
		       (size_t)net->link_class[c].count);
	return 0;
}

static int fill(struct cpl_network *net, const json_t *root, const char *path,
                struct cpl_error *err)
{
	const struct cpl_network_type *type = net->type;
	const json_t *bandwidth = json_object_get(root, "bandwidth");

	if (read_text(root, "name", type->name, &net->name, err) ||
	    read_text(root, "routing", NULL, &net->routing, err))
		return -1;
	net->nodes_per_router = 1;
	if (cpl_json_take_int(root, "nodes_per_router", 1, CPL_HOSTLIST_MAX,
	                      &net->nodes_per_router, err))
		return -1;
	if (bandwidth && !json_is_object(bandwidth))
		return cpl_fail(err, "\"bandwidth\" must be an object");
	net->injection_bandwidth = 1.0;
	if (cpl_network_bandwidth(bandwidth, "injection",
	                          &net->injection_bandwidth, err) ||
	    type->shape(net, root, err))
		return -1;
	if (!net->n_node_routers)
		net->n_node_routers = net->n_routers;
	if (net->nodes_per_router > CPL_HOSTLIST_MAX / net->n_node_routers)
		return cpl_fail(err,
		                "%d routers of \"nodes_per_router\" %d make "
		                "more than %d nodes",
		                net->n_node_routers, net->nodes_per_router,
		                CPL_HOSTLIST_MAX);
	net->n_nodes = net->n_node_routers * net->nodes_per_router;
	if (list_nodes(net, err) || read_nodes(net, root, err) ||
	    build_index(net, err) || allocate_links(net, err))
		return -1;
	if (type->links(net, err) ||
	    (type->flags & CPL_NETWORK_WAYS && cpl_network_find_ways(net, err)))
		return -1;
	return cpl_network_read_routes(net, root, path, err);
}

static struct cpl_network *from_json(json_t *root, const char *name,
                                     const char *path, struct cpl_error *err)
{
	const struct cpl_network_type *type = NULL;
	struct cpl_network *net = NULL;

	if (!root)
		return NULL;
	type = find_type(root, err);
	net = type ? calloc(1, sizeof(*net) + type->size) : NULL;
	if (net)
		net->type = type;
	else if (type)
		cpl_fail_memory(err);
	if (!net || fill(net, root, path, err)) {
		cpl_fail_prefix(err, "%s: ", name);
		cpl_network_free(net);
		net = NULL;
	}
	json_decref(root);
	return net;
}

struct cpl_network *cpl_network_load(const char *path, struct cpl_error *err)
{
	size_t length;
	char *text = cpl_file_read(path, MAX_BYTES, &length, err);
	json_t *root = text ? cpl_json_parse(text, length, path, err) : NULL;

	free(text);
	return from_json(root, path, path, err);
}

struct cpl_network *cpl_network_parse(const char *text, size_t length,
                                      const char *name, struct cpl_error *err)
{
	return from_json(cpl_json_parse(text, length, name, err), name, NULL,
	                 err);
}

void cpl_network_free(struct cpl_network *net)
{
	if (!net)
		return;
	if (net->type->release)
		net->type->release(net);
	free(net->product.out);
	free(net->ways.next);
	free(net->ways.twin);
	cpl_network_free_routes(net->routes);
	if (net->node_name)
		for (int node = 0; node < net->n_nodes; node++)
			free(net->node_name[node]);
	free(net->node_name);
	free(net->index);
	for (int l = 0; l < net->n_levels; l++) {
		free(net->level[l].first);
		free(net->level[l].unit_of);
	}
	free(net->port_router);
	free(net->router_first);
	free(net->router_node);
	free(net->link_from);
	free(net->link_to);
	free(net->link_class_of);
	free(net->routing);
	free(net->name);
	free(net);
}
