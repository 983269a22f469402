/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "spread.h"

#include <stdio.h>
#include <stdlib.h>

int spread_measure(const struct cpl_network *net,
                   const struct cpl_rank_grid *grid, const int *node,
                   const int *rank_host, int ranks_per_node, struct spread *out,
                   struct cpl_error *err)
{
	int *unit = malloc(((size_t)grid->ranks + 1) * sizeof(*unit)), rc = 0;

	*out = (struct spread){.grid = *grid};
	if (!unit)
		return cpl_fail_memory(err);
	for (int i = 0; i < net->n_levels && !rc; i++) {
		const struct cpl_level *level = &net->level[i];

		for (int r = 0; r < grid->ranks; r++) {
			int at = rank_host ? rank_host[r] : r / ranks_per_node;

			unit[r] = cpl_level_unit(
			        level, cpl_network_router(net, node[at]));
		}
		for (int d = 0; d < grid->n && !rc; d++)
			rc = cpl_rank_grid_spread(grid, d, unit, level->n_units,
			                          &out->of[d][i], err);
	}
	free(unit);
	return rc;
}

static json_t *dimension_json(const struct cpl_network *net,
                              const struct spread *spread, int dim)
{
	const struct cpl_rank_dim *d = &spread->grid.dim[dim];
	json_t *units = json_array();

	for (int i = 0; i < net->n_levels; i++) {
		const struct cpl_rank_spread *s = &spread->of[dim][i];
		char number[16];

		snprintf(number, sizeof(number), "%d", net->n_levels - i);
		if (cpl_json_append(units, "{s:s, s:i, s:f}", "unit",
		                    net->level[i].name ? net->level[i].name
		                                       : number,
		                    "most", s->most, "mean", s->mean)) {
			json_decref(units);
			return NULL;
		}
	}
	return json_pack("{s:s, s:i, s:i, s:o}", "dimension", d->name, "length",
	                 d->length, "groups", spread->grid.ranks / d->length,
	                 "units", units);
}

json_t *spread_json(const struct cpl_network *net, const struct spread *spread)
{
	json_t *all = json_array();

	for (int d = 0; d < spread->grid.n; d++)
		if (spread->grid.dim[d].length > 1 &&
		    json_array_append_new(all, dimension_json(net, spread, d))) {
			json_decref(all);
			return NULL;
		}
	return all;
}

json_t *spread_of(const struct cpl_placement_request *place,
                  const struct cpl_decision *decision)
{
	struct spread spread;

	return !place->grid.n || spread_measure(place->net, &place->grid,
	                                        decision->node,
	                                        decision->rank_host,
	                                        place->ranks_per_node, &spread,
	                                        NULL)
	               ? NULL
	               : spread_json(place->net, &spread);
}
