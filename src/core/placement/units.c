/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Policies that take whole units of the machine (routers, chassis, groups), in
 * random order or from one domain after the other (Jain 2016, 3.2.3).
 */
#include <stdlib.h>

#include "base/random.h"
#include "graph/arena.h"
#include "placement/placement.h"

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
static int take_nodes(const struct cpl_placement_request *req,
                      const struct unit *unit, int *out, int n)
{
	for (int i = unit->first; i < unit->end && n < req->n_nodes_wanted; i++)
		if (req->free[unit->node[i]])
			out[n++] = unit->node[i];
	return n;
}

void cpl_orders_free(struct cpl_orders *orders)
{
	for (int i = 0; i < CPL_ORDERS; i++)
		free(orders->kept[i].unit);
	*orders = (struct cpl_orders){0};
}

/* All units are shuffled, so a unit's place in the order depends on the seed only and
 * not on what else is taken. NULL: memory. O(n). */
static int *shuffled(int n, uint64_t seed, uint64_t stream)
{
	int *order = malloc((size_t)n * sizeof(*order));

	for (int i = 0; order && i < n; i++)
		order[i] = i;
	if (order)
		cpl_random_shuffle(order, n, seed, stream);
	return order;
}

/* The same, kept: in the place of what came first. O(1), or else as shuffled. */
static const int *kept_order(struct cpl_orders *orders, int n, uint64_t seed,
                             uint64_t stream)
{
	struct cpl_kept_order *at = orders->kept;

	for (int i = 0; i < CPL_ORDERS; i++, at++)
		if (at->unit && at->n == n && at->seed == seed &&
		    at->stream == stream)
			return at->unit;
	at = &orders->kept[orders->next];
	orders->next = (orders->next + 1) % CPL_ORDERS;
	free(at->unit);
	*at = (struct cpl_kept_order){shuffled(n, seed, stream), n, seed, stream};
	return at->unit;
}

/*
 * Units of a level in random order, wholly free ones before partly free ones,
 * the free nodes of a unit in id order. level NULL: each node for itself.
 * stream keeps the draws of different policies apart. O(n_nodes), or, of an order
 * that is kept, of the units that are looked at.
 */
static int place_random(const struct cpl_placement_request *req,
                        const struct cpl_level *level, uint64_t stream,
                        int *out, struct cpl_error *err)
{
	int n_units = count(req->net, level), n = 0;
	int *own = req->orders ? NULL : shuffled(n_units, req->seed, stream);
	const int *order = req->orders ? kept_order(req->orders, n_units,
	                                            req->seed, stream)
	                               : own;

	if (!order)
		return cpl_fail_memory(err);
	for (int pass = 0; pass < 2; pass++) {
		for (int i = 0; i < n_units && n < req->n_nodes_wanted; i++) {
			struct unit unit = unit_of(level, &order[i]);

			if (is_free(req, &unit, pass == 0))
				n = take_nodes(req, &unit, out, n);
		}
	}
	free(own);
	return cpl_placement_require(req, out, err);
}

/* Units by domain: those of domain r are unit[first[r]] .. unit[first[r + 1] -
 * 1], of which next[r] and on are left. */
struct domains {
	int n, *next;
	const int *first, *unit;
	struct cpl_arena arena;
};

static int domain_of(const struct cpl_network *net,
                     const struct cpl_level *domains,
                     const struct cpl_level *units, int unit)
{
	int node = units->node[units->first[unit]];

	return cpl_level_unit(domains, cpl_network_router(net, node));
}

/* Units that have nodes, by domain. */
static void sort_units(const struct cpl_network *net,
                       const struct cpl_level *domains,
                       const struct cpl_level *units, int *first, int *unit)
{
	for (int u = 0; u < units->n_units; u++)
		if (units->first[u] < units->first[u + 1])
			first[domain_of(net, domains, units, u) + 2]++;
	for (int i = 0; i < domains->n_units; i++)
		first[i + 2] += first[i + 1];
	for (int u = 0; u < units->n_units; u++)
		if (units->first[u] < units->first[u + 1])
			unit[first[domain_of(net, domains, units, u) + 1]++] =
			        u;
}

static struct domains list_domains(const struct cpl_network *net,
                                   const struct cpl_level *level,
                                   const struct cpl_level *units)
{
	struct domains r = {.n = level->n_units,
	                    .first = level->first,
	                    .unit = level->node};

	r.next = cpl_arena_take(&r.arena, r.n, sizeof(*r.next));
	if (units) {
		int *first = cpl_arena_take(&r.arena, r.n + 2, sizeof(*first));
		int *unit =
		        cpl_arena_take(&r.arena, units->n_units, sizeof(*unit));

		if (!r.arena.failed)
			sort_units(net, level, units, first, unit);
		r.first = first;
		r.unit = unit;
	}
	return r;
}

/* One unit of domain i, if it has one left; returns the new count, or -1. */
static int take_turn(const struct cpl_placement_request *req,
                     const struct cpl_level *units, struct domains *r, int i,
                     bool whole, int *out, int n)
{
	while (r->next[i] < r->first[i + 1]) {
		struct unit unit = unit_of(units, &r->unit[r->next[i]++]);

		if (is_free(req, &unit, whole))
			return take_nodes(req, &unit, out, n);
	}
	return -1;
}

/*
 * Units from consecutive domains, cyclic from domain 0: each turn takes the
 * domain's first unit that is left, a domain with none left is skipped. Wholly
 * free units are handed out before the first partly free one. units NULL: each
 * node for itself. O(n_nodes).
 */
static int place_in_turn(const struct cpl_placement_request *req,
                         const struct cpl_level *domains,
                         const struct cpl_level *units, int *out,
                         struct cpl_error *err)
{
	struct domains r = list_domains(req->net, domains, units);
	int n = 0;

	for (int pass = 0; pass < 2 && !r.arena.failed; pass++) {
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
	if (cpl_arena_end(&r.arena, 0, err))
		return -1;
	return cpl_placement_require(req, out, err);
}

static int random_nodes(const struct cpl_placement_request *req, int *out,
                        struct cpl_error *err)
{
	return place_random(req, NULL, CPL_STREAM_RANDOM_NODES, out, err);
}

const struct cpl_placement_policy cpl_placement_random_nodes = {
        .name = "random-nodes",
        .short_name = "RDN",
        .summary = "free nodes in random order",
        .flags = CPL_PLACEMENT_RANDOM,
        .place = random_nodes,
};

static int random_routers(const struct cpl_placement_request *req, int *out,
                          struct cpl_error *err)
{
	return place_random(req, cpl_network_level(req->net, "router"),
	                    CPL_STREAM_RANDOM_ROUTERS, out, err);
}

const struct cpl_placement_policy cpl_placement_random_routers = {
        .name = "random-routers",
        .short_name = "RDR",
        .summary = "routers in random order, wholly free ones first",
        .flags = CPL_PLACEMENT_RANDOM,
        .levels = {"router"},
        .place = random_routers,
};

static int random_chassis(const struct cpl_placement_request *req, int *out,
                          struct cpl_error *err)
{
	return place_random(req, cpl_network_level(req->net, "chassis"),
	                    CPL_STREAM_RANDOM_CHASSIS, out, err);
}

const struct cpl_placement_policy cpl_placement_random_chassis = {
        .name = "random-chassis",
        .short_name = "RDC",
        .summary = "chassis in random order, wholly free ones first",
        .flags = CPL_PLACEMENT_RANDOM,
        .levels = {"chassis"},
        .place = random_chassis,
};

static int random_groups(const struct cpl_placement_request *req, int *out,
                         struct cpl_error *err)
{
	return place_random(req, cpl_network_level(req->net, "group"),
	                    CPL_STREAM_RANDOM_GROUPS, out, err);
}

const struct cpl_placement_policy cpl_placement_random_groups = {
        .name = "random-groups",
        .short_name = "RDG",
        .summary = "groups in random order, wholly free ones first",
        .flags = CPL_PLACEMENT_RANDOM,
        .levels = {"group"},
        .place = random_groups,
};

static int round_robin_nodes(const struct cpl_placement_request *req, int *out,
                             struct cpl_error *err)
{
	const struct cpl_network *net = req->net;

	return place_in_turn(req, &net->level[net->turns], NULL, out, err);
}

const struct cpl_placement_policy cpl_placement_round_robin_nodes = {
        .name = "round-robin-nodes",
        .short_name = "RRN",
        .summary = "consecutive nodes from consecutive groups (planes, boards, "
                   "leaf switches)",
        .place = round_robin_nodes,
};

static int round_robin_routers(const struct cpl_placement_request *req,
                               int *out, struct cpl_error *err)
{
	return place_in_turn(req, cpl_network_level(req->net, "group"),
	                     cpl_network_level(req->net, "router"), out, err);
}

const struct cpl_placement_policy cpl_placement_round_robin_routers = {
        .name = "round-robin-routers",
        .short_name = "RRR",
        .summary = "consecutive routers from consecutive groups",
        .levels = {"group", "router"},
        .place = round_robin_routers,
};
