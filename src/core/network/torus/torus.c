/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tori and meshes: any number of dimensions, wrap for each, the first dimension
 * fastest. A link is (router, dimension, sign). All of it is in net->product.
 */
#include <stdio.h>
#include <stdlib.h>

#include "network/type.h"

static const char *const keys[] = {"dims", "wrap", NULL};
static const char *const levels[] = {"plane", NULL};
static const char *const bandwidth_keys[] = {"dim", "injection", NULL};

static int read_wrap(struct cpl_product *torus, const json_t *root,
                     struct cpl_error *err)
{
	const json_t *wrap = json_object_get(root, "wrap");

	if (wrap && json_array_size(wrap) != (size_t)torus->n_dims)
		return cpl_fail(err,
		                "\"wrap\": an array of %d times true or false "
		                "is needed, one for each of \"dims\"",
		                torus->n_dims);
	for (int d = 0; d < torus->n_dims; d++) {
		const json_t *value = json_array_get(wrap, (size_t)d);

		if (wrap && !json_is_boolean(value))
			return cpl_fail(err,
			                "\"wrap\"[%d]: true or false is needed",
			                d);
		torus->wrap[d] = !wrap || json_is_true(value);
	}
	return 0;
}

/* One for all dimensions, or an array. */
static int read_bandwidth(const struct cpl_product *torus, const json_t *root,
                          double *value, struct cpl_error *err)
{
	const json_t *bandwidth = json_object_get(root, "bandwidth");
	const json_t *dim = json_object_get(bandwidth, "dim");
	bool each = json_is_array(dim);
	double same = 1.0;

	if (cpl_json_known_keys(bandwidth, "bandwidth", bandwidth_keys, err) ||
	    (!each && cpl_network_bandwidth(bandwidth, "dim", &same, err)))
		return -1;
	if (each && json_array_size(dim) != (size_t)torus->n_dims)
		return cpl_fail(err,
		                "bandwidth: \"dim\" holds %zu numbers; one, or "
		                "one for each of %d dimensions is needed",
		                json_array_size(dim), torus->n_dims);
	for (int d = 0; d < torus->n_dims; d++) {
		const json_t *one = json_array_get(dim, (size_t)d);

		value[d] = each ? json_number_value(one) : same;
		if (!(value[d] > 0))
			return cpl_fail(err,
			                "bandwidth: \"dim\"[%d]: a number of "
			                "bytes/s above 0 is needed",
			                d);
	}
	return 0;
}

static int shape(struct cpl_network *net, const json_t *root,
                 struct cpl_error *err)
{
	struct cpl_product *torus = &net->product;
	double bandwidth[CPL_NETWORK_MAX_DIMS];

	torus->n_dims = cpl_network_dims(net, root, torus->dim, err);
	if (torus->n_dims < 0 || read_wrap(torus, root, err) ||
	    read_bandwidth(torus, root, bandwidth, err))
		return -1;
	/* Planes of the last dimension, the slowest one. */
	cpl_network_add_level(net, "plane",
	                      net->n_routers / torus->dim[torus->n_dims - 1]);
	for (int d = 0; d < torus->n_dims; d++) {
		int n = torus->dim[d];
		/* A line of n routers has n links each way, a mesh one less. */
		int64_t per_line = n == 1 ? 0 : torus->wrap[d] ? n : n - 1;
		char name[16];

		snprintf(name, sizeof(name), "dim%d", d);
		if (cpl_network_add_class(net, name,
		                          net->n_routers / n * per_line * 2,
		                          bandwidth[d], err))
			return -1;
	}
	return 0;
}

static int links(struct cpl_network *net, struct cpl_error *err)
{
	struct cpl_product *torus = &net->product;
	int stride = 1;
	int64_t link = 0;

	torus->out = malloc((size_t)net->n_routers * (size_t)torus->n_dims * 2 *
	                    sizeof(*torus->out));
	if (!torus->out)
		return cpl_fail_memory(err);
	for (int d = 0; d < torus->n_dims; d++) {
		int n = torus->dim[d];

		for (int router = 0; router < net->n_routers; router++) {
			int at = router / stride % n;
			int64_t *out =
			        torus->out +
			        ((int64_t)router * torus->n_dims + d) * 2;

			for (int minus = 0; minus < 2; minus++) {
				int border = minus ? 0 : n - 1;
				int next = (at + (minus ? n - 1 : 1)) % n;

				out[minus] = -1;
				if (n == 1 || (at == border && !torus->wrap[d]))
					continue;
				cpl_network_set_link(net, link, router,
				                     router + (next - at) *
				                                      stride);
				out[minus] = link++;
			}
		}
		stride *= n;
	}
	return 0;
}

static void describe(const struct cpl_network *net, FILE *out)
{
	const struct cpl_product *torus = &net->product;

	fputs("torus of ", out);
	for (int d = 0; d < torus->n_dims; d++)
		fprintf(out, "%s%d%s", d ? " x " : "", torus->dim[d],
		        torus->wrap[d] ? "" : " (no wrap)");
	fprintf(out, " routers x %d nodes", net->nodes_per_router);
}

static json_t *sizes(const struct cpl_network *net)
{
	const struct cpl_product *torus = &net->product;
	json_t *wrap = json_array();

	for (int d = 0; d < torus->n_dims; d++)
		json_array_append_new(wrap, json_boolean(torus->wrap[d]));
	return json_pack("{s:o, s:o}", "dims",
	                 cpl_json_ints(torus->dim, torus->n_dims), "wrap",
	                 wrap);
}

const struct cpl_network_type cpl_network_torus = {
        .name = "torus",
        .summary = "tori and meshes of any number of dimensions",
        .flags = CPL_NETWORK_PRODUCT,
        .levels = levels,
        .keys = keys,
        .shape = shape,
        .links = links,
        .describe = describe,
        .sizes = sizes,
};
