/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "network/network.h"

#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "base/file.h"
#include "base/hostlist.h"
#include "network/type.h"

static const char *const common_keys[] = {
        "format",  "version",          "name",  "type",
        "routing", "nodes_per_router", "nodes", "bandwidth",
        "ports",   "adaptive",         "accelerators",
        "latency", "router_names"};

#define COMMON_KEYS (sizeof(common_keys) / sizeof(*common_keys))
#define MAX_KEYS 32
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
		first = level->first_router[unit];
	}
	return net->n_levels;
}

/* Count the units of each level and list their nodes: runs of the list of all.
 */
static int list_nodes(struct cpl_network *net, struct cpl_error *err)
{
	for (int l = 0; l < net->n_levels; l++) {
		struct cpl_level *level = &net->level[l];
		int last = net->n_node_routers - 1;
		int n = cpl_level_unit(level, last) + 1;

		level->n_units = n;
		level->node = net->router_node;
		level->first = malloc(((size_t)n + 1) * sizeof(*level->first));
		level->first_router =
		        malloc(((size_t)n + 1) * sizeof(*level->first_router));
		if (!level->first || !level->first_router)
			return cpl_fail_memory(err);
		for (int r = last; r >= 0; r--) {
			int unit = cpl_level_unit(level, r);

			level->first[unit] = net->router_first[r];
			level->first_router[unit] = r;
		}
		level->first[n] = net->n_nodes;
		level->first_router[n] = net->n_node_routers;
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
	if (type->variant && type->variant(root))
		type = type->variant(root);
	for (; n < COMMON_KEYS; n++)
		keys[n] = common_keys[n];
	for (size_t k = 0; type->keys[k]; k++)
		keys[n++] = type->keys[k];
	if (type->flags & CPL_NETWORK_TABLES)
		keys[n++] = "routing_table";
	keys[n] = NULL;
	return cpl_json_known_keys(root, "", keys, err) ? NULL : type;
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
	/* One item more is allocated, so that a network without links is no
	 * special case. */
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

/* Read what routings need that adapt as switches do. */
static int read_adaptive(struct cpl_network *net, const json_t *root,
                         struct cpl_error *err)
{
	static const char *const keys[] = {"threshold", "weight", NULL};
	const json_t *adaptive = json_object_get(root, "adaptive");

	net->detour_threshold = 65536;
	net->detour_weight = 2;
	if (!adaptive)
		return 0;
	if (!(net->type->flags & CPL_NETWORK_GROUPS))
		return cpl_fail(err,
		                "\"adaptive\" is for networks of groups, "
		                "dragonfly and dragonfly+");
	if (!json_is_object(adaptive))
		return cpl_fail(err, "\"adaptive\" must be an object");
	if (cpl_json_known_keys(adaptive, "adaptive", keys, err))
		return -1;
	if (cpl_json_number(adaptive, "threshold", 0, 1e18,
	                    &net->detour_threshold, err) < 0 ||
	    cpl_json_number(adaptive, "weight", 1, 100, &net->detour_weight,
	                    err) < 0)
		return cpl_fail_prefix(err, "adaptive: ");
	return 0;
}

static int read_names(struct cpl_network *net, const json_t *root,
                      struct cpl_error *err)
{
	const json_t *names = json_object_get(root, "router_names");
	size_t n = json_array_size(names);
	bool right = json_is_array(names) && n == (size_t)net->n_routers;

	for (size_t i = 0; right && i < n; i++)
		right = json_is_string(json_array_get(names, i));
	if (names && !right)
		return cpl_fail(err,
		                "\"router_names\": an array of %d strings is "
		                "needed, one for each router",
		                net->n_routers);
	if (names)
		net->router_name = calloc(n, sizeof(*net->router_name));
	for (size_t i = 0; net->router_name && i < n; i++) {
		net->router_name[i] =
		        strdup(json_string_value(json_array_get(names, i)));
		right = right && net->router_name[i];
	}
	return names && !(net->router_name && right) ? cpl_fail_memory(err) : 0;
}

static void find_fastest_port(struct cpl_network *net)
{
	int64_t n = net->cable_bandwidth ? cpl_network_port_cables(net) : net->n_ports;

	for (int64_t i = 0; i < n; i++) {
		double bandwidth = cpl_network_port_bandwidth(net, i);

		if (bandwidth > net->fastest_port)
			net->fastest_port = bandwidth;
	}
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
	if (cpl_ports_read(net, root, err) ||
	    cpl_accelerators_read(net, root, err) ||
	    read_adaptive(net, root, err) ||
	    type->shape(net, root, err) || read_names(net, root, err))
		return -1;
	if (!net->n_node_routers)
		net->n_node_routers = net->n_routers;
	if (type->flags & CPL_NETWORK_NEXT_LINKS &&
	    cpl_network_check_next_links(net, err))
		return -1;
	if (net->nodes_per_router > CPL_HOSTLIST_MAX / net->n_node_routers)
		return cpl_fail(err,
		                "%d routers of \"nodes_per_router\" %d make "
		                "more than %d nodes",
		                net->n_node_routers, net->nodes_per_router,
		                CPL_HOSTLIST_MAX);
	net->n_nodes = net->n_node_routers * net->nodes_per_router;
	if (net->n_ports > 1 ? cpl_ports_join(net, root, err)
	                     : cpl_network_join_nodes(net, err) ||
	                               cpl_network_read_nodes(net, root, err))
		return -1;
	if (list_nodes(net, err) || cpl_network_index_nodes(net, err) ||
	    cpl_accelerators_join(net, root, err) ||
	    cpl_ports_find_stations(net, err) || allocate_links(net, err))
		return -1;
	if (type->links(net, err) || cpl_network_check_bandwidths(net, err) ||
	    cpl_network_read_latencies(net, root, err) ||
	    (type->flags & CPL_NETWORK_NEXT_LINKS &&
	     cpl_network_find_next_links(net, err)))
		return -1;
	find_fastest_port(net);
	return cpl_network_read_routes(net, root, path, err) ||
	                       cpl_ports_fractions(net, err)
	               ? -1
	               : 0;
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
	cpl_ports_free(net);
	cpl_free_all(net->product.out, net->next_links.first,
	             net->next_links.out, net->next_links.next,
	             net->next_links.twin);
	cpl_network_free_routes(net->routes);
	if (net->node_name)
		for (int node = 0; node < net->n_nodes; node++)
			free(net->node_name[node]);
	free(net->node_name);
	if (net->router_name)
		for (int router = 0; router < net->n_routers; router++)
			free(net->router_name[router]);
	cpl_free_all(net->router_name, net->index);
	for (int l = 0; l < net->n_levels; l++) {
		cpl_free_all(net->level[l].first, net->level[l].first_router,
		             net->level[l].unit_of);
	}
	cpl_free_all(net->cable_bandwidth, net->port_router, net->router_first,
	             net->router_node, net->link_from, net->link_to,
	             net->link_class_of, net->routing, net->name, net);
}
