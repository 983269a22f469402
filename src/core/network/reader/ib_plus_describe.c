/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "base/json.h"
#include "network/reader/ib_plus.h"

/* Bytes/s of most links inside cells, or of most between them. */
static double rate_of(const struct cpl_ib_fabric *f, bool inside)
{
	const struct cpl_draft *draft = f->draft;
	int64_t have[CPL_DRAFT_MAX_CLASSES] = {0}, all = 0;
	int best = 0;

	for (int l = 0; l < draft->n_links; l++)
		if (inside == (f->cell[draft->link[l].from] ==
		               f->cell[draft->link[l].to])) {
			have[draft->link[l].class]++;
			all++;
		}
	for (int c = 1; c < draft->n_classes; c++)
		if (have[c] > have[best])
			best = c;
	if (have[best] < all)
		cpl_draft_doubt(f->draft,
		                "%lld of %lld links %s groups are not %s, as "
		                "the others are",
		                (long long)(all - have[best]), (long long)all,
		                inside ? "inside" : "between",
		                draft->class[best]);
	return draft->bandwidth[best];
}

static json_t *rows_json(const struct cpl_ib_fabric *f)
{
	const struct cpl_draft *draft = f->draft;
	json_t *list = json_array();

	for (int a = 0; a < f->cells; a++)
		for (int b = a + 1; b < f->cells; b++)
			for (int k = 0; k < f->k; k++) {
				int64_t pair = (int64_t)a * f->cells + b;
				const struct cpl_draft_link *l =
				        &draft->link[f->rows[pair * f->k + k]];

				cpl_json_append(list, "[i, i, i, i]", a,
				                f->number[l->from], b,
				                f->number[l->to]);
			}
	return list;
}

/* Leaves are numbered cell by cell. */
static json_t *nodes_json(const struct cpl_ib_fabric *f, int *most)
{
	const struct cpl_draft *draft = f->draft;
	json_t *nodes = json_object();
	int first = 0;

	for (int c = 0; c < f->cells; c++) {
		for (int i = 0; i < draft->n_routers; i++) {
			const struct cpl_hostlist *hosts =
			        &draft->router[i].hosts;
			char id[16], *text;

			if (f->cell[i] != c || !hosts->count)
				continue;
			snprintf(id, sizeof(id), "%d", first + f->number[i]);
			text = cpl_hostlist_format(hosts->name, hosts->count);
			json_object_set_new(nodes, id,
			                    text ? json_string(text) : NULL);
			free(text);
			*most = hosts->count > *most ? hosts->count : *most;
		}
		first += f->leaves[c];
	}
	return nodes;
}

/* The leaves cell by cell and then the spines, as the type numbers routers. */
static json_t *names_json(const struct cpl_ib_fabric *f)
{
	json_t *names = json_array();
	int rc = 0;

	for (int role = CPL_IB_LEAF; role <= CPL_IB_SPINE; role++)
		for (int c = 0; c < f->cells; c++)
			for (int i = 0; i < f->draft->n_routers && !rc; i++)
				if ((int)f->role[i] == role && f->cell[i] == c)
					rc = cpl_draft_name_router(f->draft, i,
					                           names);
	return names;
}

static json_t *rates_json(const struct cpl_ib_fabric *f)
{
	double inside = rate_of(f, true), between = rate_of(f, false);
	json_t *rates = json_pack("{s:f, s:f, s:f}", "up", inside, "down",
	                          inside, "global", between);

	json_object_set_new(rates, "injection",
	                    json_real(cpl_draft_host_rate(f->draft)));
	return rates;
}

/* Are all links of the rows and all hosts there? Memory may have been out for
 * some. */
static bool is_whole(const struct cpl_ib_fabric *f, const json_t *root)
{
	int hosts = 0;

	for (int i = 0; i < f->draft->n_routers; i++)
		hosts += f->draft->router[i].hosts.count > 0;
	return root &&
	       json_array_size(json_object_get(root, "router_names")) ==
	               (size_t)f->draft->n_routers &&
	       json_array_size(json_object_get(root, "global_links")) ==
	               (size_t)f->cells * (size_t)(f->cells - 1) / 2 *
	                       (size_t)f->k &&
	       json_object_size(json_object_get(root, "nodes")) ==
	               (size_t)hosts &&
	       json_array_size(json_object_get(root, "leaves")) ==
	               (size_t)f->cells &&
	       json_array_size(json_object_get(root, "spines")) ==
	               (size_t)f->cells &&
	       json_object_size(json_object_get(root, "bandwidth")) ==
	               4;
}

int cpl_ib_plus_describe(struct cpl_ib_fabric *f,
                         const struct cpl_network_import *how)
{
	int most = 1;
	json_t *nodes = nodes_json(f, &most);
	json_t *root = json_pack(
	        "{s:s, s:i, s:s, s:s, s:i, s:o, s:o, s:i, s:i, s:i, s:s, s:o, "
	        "s:o, s:o, s:o}",
	        "format", "commplace-network", "version", 1, "name", how->name,
	        "type", "dragonfly+", "cells", f->cells, "leaves",
	        cpl_json_ints(f->leaves, f->cells), "spines",
	        cpl_json_ints(f->spines, f->cells), "links_per_leaf_spine_pair",
	        f->p, "global_links_per_cell_pair", f->k, "nodes_per_router",
	        most, "global_wiring", "list", "global_links", rows_json(f),
	        "bandwidth", rates_json(f), "nodes", nodes,
	        "router_names", names_json(f));

	if (!is_whole(f, root)) {
		json_decref(root);
		return cpl_fail_memory(f->draft->err);
	}
	f->draft->description = root;
	return 0;
}
