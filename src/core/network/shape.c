/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What types build their networks from: classes of links, dimensions,
 * levels. */
#include "commplace-config.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bisect.h"
#include "network/type.h"

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

	if (cpl_json_take_int(object, key, 1, CPL_NETWORK_MAX_CABLES,
	                      &links->cables, err))
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

static int by_ends(const void *a, const void *b, void *network)
{
	const struct cpl_network *net = network;
	int x = *(const int *)a, y = *(const int *)b;

	if (net->link_from[x] != net->link_from[y])
		return net->link_from[x] < net->link_from[y] ? -1 : 1;
	if (net->link_to[x] != net->link_to[y])
		return net->link_to[x] < net->link_to[y] ? -1 : 1;
	return (x > y) - (x < y);
}

void cpl_network_sort_links(const struct cpl_network *net, int *link)
{
	for (int64_t i = 0; i < net->n_links; i++)
		link[i] = (int)i;
	qsort_r(link, (size_t)net->n_links, sizeof(*link), by_ends,
	        (void *)net);
}

int64_t cpl_network_link_at(const struct cpl_network *net, const int *link,
                            int from, int to)
{
	int64_t low = 0, high = net->n_links;

	CPL_BISECT(low, high, middle,
	           net->link_from[link[middle]] < from ||
	                   (net->link_from[link[middle]] == from &&
	                    net->link_to[link[middle]] < to));
	return low;
}
