/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * HyperX (Ahn et al. 2009, "HyperX: topology, routing, and packaging of
 * efficient large-scale networks"): routers in a grid, the first dimension
 * fastest, each line of every dimension all-to-all. A link is number router *
 * (length - 1) + place in its dimension's class, where place is the
 * destination's coordinate, less 1 above the router's own.
 */
#include <stdio.h>

#include "network/type.h"

static const char *const keys[] = {"dims", "links_per_router_pair", NULL};
static const char *const levels[] = {"group", "router", NULL};
static const char *const bandwidth_keys[] = {"dim", "injection", NULL};

struct hyperx {
	int n_dims;
	int dim[CPL_NETWORK_MAX_DIMS], stride[CPL_NETWORK_MAX_DIMS];
};

static const struct hyperx *hyperx_of(const struct cpl_network *net)
{
	return (const void *)net->own;
}

static int coordinate(const struct hyperx *h, int router, int d)
{
	return router / h->stride[d] % h->dim[d];
}

/* Item d of an array, or the one value for all dimensions. */
static const json_t *item(const json_t *value, int d)
{
	return json_is_array(value) ? json_array_get(value, (size_t)d) : value;
}

/* object[key] is one number, or an array of one for each dimension. */
static int check_count(const json_t *object, const char *key, int n_dims,
                       struct cpl_error *err)
{
	const json_t *value = json_object_get(object, key);

	if (!json_is_array(value) || json_array_size(value) == (size_t)n_dims)
		return 0;
	return cpl_fail(err,
	                "\"%s\" holds %zu numbers; one, or one for each of %d "
	                "dimensions is needed",
	                key, json_array_size(value), n_dims);
}

/* The d-th of a list as an object of its own, for what reads one key. */
static int add_dimension(struct cpl_network *net, const json_t *root, int d,
                         struct cpl_error *err)
{
	const struct hyperx *h = hyperx_of(net);
	const json_t *of = json_object_get(root, "bandwidth");
	const json_t *rate = item(json_object_get(of, "dim"), d);
	const json_t *cables =
	        item(json_object_get(root, "links_per_router_pair"), d);
	json_t *one = json_object();
	double bandwidth = 1.0;
	char name[16];
	int rc = -1;

	snprintf(name, sizeof(name), "dim%d", d);
	if (!one || (rate && json_object_set(one, "dim", (json_t *)rate)) ||
	    (cables &&
	     json_object_set(one, "links_per_router_pair", (json_t *)cables)))
		cpl_fail_memory(err);
	else if (!cpl_network_bandwidth(one, "dim", &bandwidth, err) &&
	         !cpl_network_add_class(
	                 net, name, (int64_t)net->n_routers * (h->dim[d] - 1),
	                 bandwidth, err))
		rc = cpl_network_bundle(net, one, "links_per_router_pair", d,
		                        err);
	json_decref(one);
	return rc;
}

static int shape(struct cpl_network *net, const json_t *root,
                 struct cpl_error *err)
{
	const json_t *bandwidth = json_object_get(root, "bandwidth");
	struct hyperx *h = (void *)net->own;
	int stride = 1;

	h->n_dims = cpl_network_dims(net, root, h->dim, err);
	if (h->n_dims < 0 ||
	    cpl_json_known_keys(bandwidth, "bandwidth", bandwidth_keys, err) ||
	    check_count(bandwidth, "dim", h->n_dims, err) ||
	    check_count(root, "links_per_router_pair", h->n_dims, err))
		return -1;
	for (int d = 0; d < h->n_dims; d++) {
		h->stride[d] = stride;
		stride *= h->dim[d];
		if (add_dimension(net, root, d, err))
			return -1;
	}
	cpl_network_add_level(net, "group",
	                      net->n_routers / h->dim[h->n_dims - 1]);
	cpl_network_add_level(net, "router", 1);
	return 0;
}

static int64_t link_to(const struct cpl_network *net, int router, int d, int at)
{
	const struct hyperx *h = hyperx_of(net);

	return net->link_class[d].first + (int64_t)router * (h->dim[d] - 1) +
	       at - (at > coordinate(h, router, d));
}

/* Router with another coordinate in one dimension. */
static int moved(const struct hyperx *h, int router, int d, int at)
{
	return router + (at - coordinate(h, router, d)) * h->stride[d];
}

static int links(struct cpl_network *net, struct cpl_error *err)
{
	const struct hyperx *h = hyperx_of(net);

	(void)err;
	for (int d = 0; d < h->n_dims; d++)
		for (int router = 0; router < net->n_routers; router++)
			for (int at = 0; at < h->dim[d]; at++)
				if (at != coordinate(h, router, d))
					cpl_network_set_link(
					        net,
					        link_to(net, router, d, at),
					        router,
					        moved(h, router, d, at));
	return 0;
}

/*
 * The dimensions that differ are gone through in any order: a link of one of
 * them, after k others, is on k! (n - k - 1)! of n! ways.
 */
static void spread(const struct cpl_network *net, int from, int to,
                   void (*take)(void *arg, struct cpl_share share), void *arg)
{
	const struct hyperx *h = hyperx_of(net);
	int dim[CPL_NETWORK_MAX_DIMS], n = 0;
	double part[CPL_NETWORK_MAX_DIMS];

	for (int d = 0; d < h->n_dims; d++)
		if (coordinate(h, from, d) != coordinate(h, to, d))
			dim[n++] = d;
	for (int k = 0; k < n; k++) {
		/* 1 / (n * (n - 1 over k)) */
		part[k] = 1.0 / n;
		for (int i = 1; i <= k; i++)
			part[k] *= (double)i / (n - i);
	}
	for (int done = 0; done < 1 << n; done++) {
		int router = from, k = 0;

		for (int i = 0; i < n; i++)
			if (done >> i & 1) {
				router = moved(h, router, dim[i],
				               coordinate(h, to, dim[i]));
				k++;
			}
		for (int i = 0; i < n; i++)
			if (!(done >> i & 1))
				take(arg,
				     (struct cpl_share){
				             (int)link_to(
				                     net, router, dim[i],
				                     coordinate(h, to, dim[i])),
				             part[k]});
	}
}

static int distance(const struct cpl_network *net, int from, int to)
{
	const struct hyperx *h = hyperx_of(net);
	int n = 0;

	for (int d = 0; d < h->n_dims; d++)
		n += coordinate(h, from, d) != coordinate(h, to, d);
	return n;
}

static int coordinates(const struct cpl_network *net, int router, int *at)
{
	const struct hyperx *h = hyperx_of(net);

	for (int d = 0; d < h->n_dims; d++)
		at[d] = coordinate(h, router, d);
	return h->n_dims;
}

static void describe(const struct cpl_network *net, FILE *out)
{
	const struct hyperx *h = hyperx_of(net);

	fprintf(out, "HyperX of ");
	for (int d = 0; d < h->n_dims; d++)
		fprintf(out, "%s%d", d ? " x " : "", h->dim[d]);
	fprintf(out, " routers x %d nodes", net->nodes_per_router);
}

static json_t *sizes(const struct cpl_network *net)
{
	const struct hyperx *h = hyperx_of(net);
	int cables[CPL_NETWORK_MAX_DIMS];

	for (int d = 0; d < h->n_dims; d++)
		cables[d] = net->link_class[d].cables;
	return json_pack(
	        "{s:o, s:o}", "dims", cpl_json_ints(h->dim, h->n_dims),
	        "links_per_router_pair", cpl_json_ints(cables, h->n_dims));
}

const struct cpl_network_type cpl_network_hyperx = {
        .name = "hyperx",
        .summary = "routers in a grid, all-to-all along each dimension",
        .levels = levels,
        .keys = keys,
        .size = sizeof(struct hyperx),
        .shape = shape,
        .links = links,
        .spread = spread,
        .distance = distance,
        .coordinates = coordinates,
        .describe = describe,
        .sizes = sizes,
};
