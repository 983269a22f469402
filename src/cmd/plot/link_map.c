/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "link_map.h"

#include <inttypes.h>
#include <math.h>

#include "../cmd.h"
#include "network/type.h"

/* Smaller loads than this share the lightest colour: what matters is where it
 * is full, and every decade costs contrast there. */
#define DECADES 4

/* The range of the loads, and the link with the largest congestion. */
static void look(struct plot_map *map)
{
	double low = INFINITY, hottest = 0;
	bool zero = false;

	map->hot = -1;
	for (int64_t i = 0; i < map->net->n_links; i++) {
		double x = plot_map_bytes(map, i);
		double seconds =
		        map->link[i] / cpl_network_link_bandwidth(map->net, i);

		if (!(x > 0)) {
			zero = true;
			continue;
		}
		low = fmin(low, x);
		map->largest = fmax(map->largest, x);
		if (seconds > hottest) {
			hottest = seconds;
			map->hot = i;
		}
	}
	map->scale =
	        plot_scale_make(fmax(low, map->largest * pow(10, -DECADES)),
	                        map->largest, zero);
	map->scale.cut = low < pow(10, map->scale.low) * (1 - 1e-9);
}

static void name_router(const struct cpl_network *net, int router, char *text,
                        size_t size)
{
	const char *const *name =
	        net->type->drawing ? net->type->drawing->coordinate : NULL;
	int at[CPL_NETWORK_MAX_DIMS];
	int n_at = cpl_network_coordinates(net, router, at);
	size_t n = 0;

	text[0] = '\0';
	for (int d = 0; d < n_at && n < size; d++)
		n += (size_t)snprintf(text + n, size - n, "%s%s%s%d",
		                      d      ? (name ? " " : ",")
		                      : name ? ""
		                             : "(",
		                      name ? name[d] : "", name ? " " : "",
		                      at[d]);
	if (n < size && !name)
		snprintf(text + n, size - n, ")");
}

static void name_hot(struct plot_map *map)
{
	const struct cpl_network *net = map->net;
	char from[64], to[64];
	double load, bandwidth;
	size_t n;

	if (map->hot < 0)
		return;
	bandwidth = cpl_network_link_bandwidth(net, map->hot) /
	            cpl_network_link_cables(net, map->hot);
	load = plot_map_bytes(map, map->hot);
	name_router(net, net->link_from[map->hot], from, sizeof(from));
	name_router(net, net->link_to[map->hot], to, sizeof(to));
	n = (size_t)snprintf(map->hot_text, sizeof(map->hot_text),
	                     "largest %s: %s link, %s to %s, %s%s",
	                     map->rates ? "utilisation" : "congestion",
	                     net->link_class[net->link_class_of[map->hot]].name,
	                     from, to, CMD_BYTES(load), map->rates ? "/s" : "");
	/* 1 is a network without bandwidths: those are no seconds. */
	if (bandwidth != 1 && n < sizeof(map->hot_text))
		snprintf(map->hot_text + n, sizeof(map->hot_text) - n,
		         map->rates ? ", %.3g %%" : ", %.3g s",
		         load / bandwidth * (map->rates ? 100 : 1));
}

static bool has_map(const struct cpl_entry *entry, const void *context)
{
	const struct cpl_network_type *type = (const void *)entry;

	(void)context;
	return type->drawing || cpl_network_type_is_product(type);
}

bool plot_has_map(const struct cpl_network *net)
{
	return has_map((const void *)net->type, NULL);
}

int plot_check_map(const struct cpl_network *net, struct cpl_error *err)
{
	char list[CPL_ERROR_MAX / 2];

	if (plot_has_map(net))
		return 0;
	return cpl_fail(err,
	                "there are maps of the types %s; this network has "
	                "another type, %s",
	                cpl_registry_names(&cpl_network_types, 0, has_map, NULL,
	                                   list, sizeof(list)),
	                net->type->name);
}

int plot_write_map(const struct cpl_network *net, const double *link,
                   bool rates, const char *title, const char *subtitle,
                   FILE *out, struct cpl_error *err)
{
	struct plot_map map = {.net = net,
	                       .link = link,
	                       .rates = rates,
	                       .title = title,
	                       .subtitle = subtitle,
	                       .out = out};

	if (plot_check_map(net, err))
		return -1;
	look(&map);
	name_hot(&map);
	if (net->type->drawing)
		return plot_map_matrix(&map, err);
	plot_map_planes(&map);
	return 0;
}
