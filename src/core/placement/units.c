/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "base/random.h"
#include "placement/placement_internal.h"

/* Nodes first .. end - 1 of a list; without a level nodes are units. */
struct unit {
	const int *node;
	int first, end;
};

static int count(const struct cpl_network *net, const struct cpl_level *level)
{
	return level ? level->n_units : net->n_nodes;
}

static struct unit unit_of(const struct cpl_level *level, const int *self)
{
	if (!level)
		return (struct unit){self, 0, 1};
	return (struct unit){level->node, level->first[*self],
	                     level->first[*self + 1]};
}

/* Has the unit free nodes, and (whole) is no node of it taken, or (not) some?
 * Ports without a node do not count. */
static bool is_free(const struct cpl_placement_request *req,
                    const struct unit *unit, bool whole)
{
	int n = 0, nodes = 0;

	for (int i = unit->first; i < unit->end; i++) {
		n += req->free[unit->node[i]] != 0;
		nodes += req->net->node_name[unit->node[i]] != NULL;
	}
	return n > 0 && (n == nodes) == whole;
}

/* Append the free nodes of a unit; returns the new count. */
static int take(const struct cpl_placement_request *req,
                const struct unit *unit, int *out, int n)
{
	for (int i = unit->first; i < unit->end && n < req->n_nodes_wanted; i++)
		if (req->free[unit->node[i]])
			out[n++] = unit->node[i];
	return n;
}

int cpl_placement_random_units(const struct cpl_placement_request *req,
                               const struct cpl_level *level, uint64_t stream,
                               int *out, struct cpl_error *err)
{
	int n_units = count(req->net, level), n = 0;
	int *order = malloc((size_t)n_units * sizeof(*order));

	if (!order)
		return cpl_fail_memory(err);
	for (int i = 0; i < n_units; i++)
		order[i] = i;
	/* All units are shuffled, so a unit's place in the order depends on
	 * the seed only and not on what else is taken. */
	cpl_random_shuffle(order, n_units, req->seed, stream);
	for (int pass = 0; pass < 2; pass++) {
		for (int i = 0; i < n_units && n < req->n_nodes_wanted; i++) {
			struct unit unit = unit_of(level, &order[i]);

			if (is_free(req, &unit, pass == 0))
				n = take(req, &unit, out, n);
		}
	}
	free(order);
	return cpl_placement_require(req, out, err);
}

/* Units by domain: those of domain r are unit[first[r]] .. unit[first[r + 1] -
 * 1], of which next[r] and on are left. */
struct domains {
	int n, *next;
	const int *first, *unit;
	int *own_first, *own_unit;
};

static int domain_of(const struct cpl_network *net,
                     const struct cpl_level *domains,
                     const struct cpl_level *units, int unit)
{
	int node = units->node[units->first[unit]];

	return cpl_level_unit(domains, cpl_network_router(net, node));
}

/* Units that have nodes, by domain. */
static int sort_units(const struct cpl_network *net,
                      const struct cpl_level *domains,
                      const struct cpl_level *units, int *first, int *unit)
{
	if (!first || !unit)
		return -1;
	for (int u = 0; u < units->n_units; u++)
		if (units->first[u] < units->first[u + 1])
			first[domain_of(net, domains, units, u) + 2]++;
	for (int i = 0; i < domains->n_units; i++)
		first[i + 2] += first[i + 1];
	for (int u = 0; u < units->n_units; u++)
		if (units->first[u] < units->first[u + 1])
			unit[first[domain_of(net, domains, units, u) + 1]++] =
			        u;
	return 0;
}

static int list_domains(const struct cpl_network *net,
                        const struct cpl_level *level,
                        const struct cpl_level *units, struct domains *r)
{
	size_t n = (size_t)level->n_units;

	*r = (struct domains){.n = level->n_units,
	                      .next = malloc(n * sizeof(*r->next)),
	                      .first = level->first,
	                      .unit = level->node};
	if (units) {
		size_t size = (size_t)units->n_units * sizeof(*r->unit);

		r->first = r->own_first = calloc(n + 2, sizeof(*r->first));
		r->unit = r->own_unit = malloc(size);
		if (sort_units(net, level, units, r->own_first, r->own_unit))
			return -1;
	}
	return r->next ? 0 : -1;
}

/* One unit of domain i, if it has one left; returns the new count, or -1. */
static int take_turn(const struct cpl_placement_request *req,
                     const struct cpl_level *units, struct domains *r, int i,
                     bool whole, int *out, int n)
{
	while (r->next[i] < r->first[i + 1]) {
		struct unit unit = unit_of(units, &r->unit[r->next[i]++]);

		if (is_free(req, &unit, whole))
			return take(req, &unit, out, n);
	}
	return -1;
}

int cpl_placement_round_robin(const struct cpl_placement_request *req,
                              const struct cpl_level *domains,
                              const struct cpl_level *units, int *out,
                              struct cpl_error *err)
{
	struct domains r;
	int n = 0, rc = -1;

	if (list_domains(req->net, domains, units, &r)) {
		cpl_fail_memory(err);
		goto out;
	}
	for (int pass = 0; pass < 2; pass++) {
		bool any = true;

		for (int i = 0; i < r.n; i++)
			r.next[i] = r.first[i];
		while (any && n < req->n_nodes_wanted) {
			any = false;
			for (int i = 0; i < r.n; i++) {
				int now = take_turn(req, units, &r, i,
				                    pass == 0, out, n);

				any |= now >= 0;
				n = now >= 0 ? now : n;
			}
		}
	}
	rc = cpl_placement_require(req, out, err);
out:
	free(r.own_first);
	free(r.own_unit);
	free(r.next);
	return rc;
}
