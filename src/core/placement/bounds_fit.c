/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A policy's choice made to fit the bounds of a job, segment by segment: of the
 * units that can hold one those that keep most of the choice, and of equals those
 * that it fills best. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "graph/arena.h"
#include "placement/bounds.h"

/* Turn of nodes that are not of the policy's choice, among which the required
 * ones are. */
#define NOT_CHOSEN INT_MAX

struct fit_node {
	int node, turn, unit, place;
	bool required;
};

/* Of a unit list[first] .. list[end - 1] are still free, in order; so many of
 * them are chosen and required. */
struct fit_unit {
	int first, end, chosen, required;
	bool barred, picked;
};

struct fit_rank {
	int free, unit;
};

struct fit {
	const struct cpl_placement_request *req;
	const struct cpl_bounds *b;
	struct fit_node *list; /* [n_list] by unit, required ones first, then
	                        * by turn */
	int n_list;
	struct fit_unit *unit;    /* [n_units] */
	struct fit_rank *largest; /* [n_units] most free nodes first */
	struct fit_node *out;     /* [n_nodes_wanted] */
	int n_out;
	struct cpl_arena arena;
};

static CPL_SORT_BY(by_turn, struct fit_node, CPL_UP(turn), CPL_UP(place))

static CPL_SORT_BY(by_unit, struct fit_node, CPL_UP(unit), CPL_DOWN(required),
                   CPL_UP(turn), CPL_UP(place))

static CPL_SORT_BY(by_position, struct fit_node, CPL_UP(place))

static CPL_SORT_BY(by_free, struct fit_rank, CPL_DOWN(free), CPL_UP(unit))

/* The free nodes that have units. */
static void list_nodes(struct fit *f, const int *chosen)
{
	const struct cpl_placement_request *req = f->req;
	int n = req->net->n_nodes;
	int *turn = cpl_arena_take_raw(&f->arena, n, sizeof(*turn));
	unsigned char *required = cpl_arena_take(&f->arena, n, 1);

	f->list = cpl_arena_take(&f->arena, n, sizeof(*f->list));
	f->unit = cpl_arena_take(&f->arena, f->b->n_units, sizeof(*f->unit));
	f->largest =
	        cpl_arena_take(&f->arena, f->b->n_units, sizeof(*f->largest));
	f->out = cpl_arena_take(&f->arena, req->n_nodes_wanted,
	                        sizeof(*f->out));
	if (f->arena.failed)
		return;
	for (int i = 0; i < n; i++)
		turn[i] = NOT_CHOSEN;
	for (int i = 0; i < req->n_nodes_wanted; i++)
		turn[chosen[i]] = i;
	for (int i = 0; i < req->n_required; i++)
		required[req->required[i]] = 1;
	for (int i = 0; i < n; i++)
		if (req->free[i] && f->b->unit[i] >= 0)
			f->list[f->n_list++] = (struct fit_node){
			        .node = i,
			        .turn = turn[i],
			        .unit = f->b->unit[i],
			        .place = f->b->place[i],
			        .required = required[i] != 0};
}

/* All are there to be taken. */
static void begin(struct fit *f)
{
	memset(f->unit, 0, (size_t)f->b->n_units * sizeof(*f->unit));
	f->n_out = 0;
	for (int i = 0; i < f->n_list; i++) {
		struct fit_unit *u = &f->unit[f->list[i].unit];

		if (!u->end)
			u->first = i;
		u->end = i + 1;
		u->chosen += f->list[i].turn != NOT_CHOSEN;
		u->required += f->list[i].required;
	}
}

static int free_of(const struct fit *f, int u)
{
	return f->unit[u].end - f->unit[u].first;
}

static bool may_pick(const struct fit *f, int u, int domain)
{
	const struct fit_unit *unit = &f->unit[u];

	return !unit->barred && !unit->picked && free_of(f, u) > 0 &&
	       (domain < 0 || f->b->domain[u] == domain);
}

/* Do so many units besides this one hold that many nodes? */
static bool others_hold(const struct fit *f, int domain, int except, int units,
                        int nodes)
{
	for (int i = 0; i < f->b->n_units && units > 0 && nodes > 0; i++) {
		int u = f->largest[i].unit;

		if (u == except || !may_pick(f, u, domain))
			continue;
		nodes -= free_of(f, u);
		units--;
	}
	return nodes <= 0;
}

/* What a segment still wants: nodes, and of them those of the choice. */
struct want {
	int nodes, chosen, units;
};

static int kept_of(const struct fit *f, int u, const struct want *want)
{
	return f->unit[u].chosen < want->chosen ? f->unit[u].chosen
	                                        : want->chosen;
}

/* Is unit u better than v? */
static bool is_better(const struct fit *f, int u, int v,
                      const struct want *want)
{
	int fu = free_of(f, u), fv = free_of(f, v);
	int ku = kept_of(f, u, want), kv = kept_of(f, v, want);

	if (f->unit[u].required != f->unit[v].required)
		return f->unit[u].required > f->unit[v].required;
	if (ku != kv)
		return ku > kv;
	if ((fu >= want->nodes) != (fv >= want->nodes))
		return fu >= want->nodes;
	return fu >= want->nodes ? fu < fv : fu > fv;
}

static int pick_one(const struct fit *f, int domain, const struct want *want)
{
	int best = -1;

	for (int u = 0; u < f->b->n_units && want->units > 0; u++) {
		if (!may_pick(f, u, domain) ||
		    (best >= 0 && !is_better(f, u, best, want)))
			continue;
		if (free_of(f, u) >= want->nodes ||
		    others_hold(f, domain, u, want->units - 1,
		                want->nodes - free_of(f, u)))
			best = u;
	}
	return best;
}

/* Pick units of a domain (-1: of any) for a segment of n nodes. How much of the
 * choice is kept, required nodes counting more than all others; -1: none. */
static int64_t pick(struct fit *f, int domain, int n)
{
	struct want want = {n, n, f->b->most ? f->b->most : f->b->n_units};
	int64_t kept = 0;

	for (int u = 0; u < f->b->n_units; u++)
		f->unit[u].picked = false;
	while (want.nodes > 0 || want.chosen > 0) {
		int u = pick_one(f, domain, &want);
		int more = u >= 0 ? kept_of(f, u, &want) : 0;

		if (want.nodes <= 0 && !more)
			break;
		if (u < 0)
			return -1;
		kept += (int64_t)f->unit[u].required * (INT_MAX / 2) + more;
		f->unit[u].picked = true;
		want.nodes -= free_of(f, u);
		want.chosen -= more;
		want.units--;
	}
	return kept;
}

/* The next node of a unit. */
static void take_node(struct fit *f, struct fit_unit *unit)
{
	const struct fit_node *node = &f->list[unit->first++];

	unit->chosen -= node->turn != NOT_CHOSEN;
	unit->required -= node->required;
	f->out[f->n_out++] = *node;
}

/* n nodes of the units picked: required ones, chosen ones, others. */
static void take_segment(struct fit *f, int n)
{
	int begin = f->n_out, end = begin + n;

	for (int pass = 0; pass < 3; pass++)
		for (int u = 0; u < f->b->n_units; u++) {
			struct fit_unit *unit = &f->unit[u];

			while (unit->picked && f->n_out < end &&
			       unit->first < unit->end &&
			       (pass == 2 ||
			        (pass ? unit->chosen : unit->required) > 0))
				take_node(f, unit);
		}
	for (int u = 0; u < f->b->n_units; u++)
		if (f->b->apart && f->unit[u].picked)
			f->unit[u].barred = true;
	qsort(f->out + begin, (size_t)n, sizeof(*f->out), by_turn);
}

static void rank_units(struct fit *f)
{
	/* Where a unit holds a segment by itself it is not asked for. */
	if (f->b->most == 1)
		return;
	for (int u = 0; u < f->b->n_units; u++)
		f->largest[u] = (struct fit_rank){free_of(f, u), u};
	qsort(f->largest, (size_t)f->b->n_units, sizeof(*f->largest), by_free);
}

/* One segment of n nodes, in the domain or (-1) in the best of all. */
static int64_t place_segment(struct fit *f, int domain, int n)
{
	int64_t kept, best = -1;

	rank_units(f);
	if (domain < 0 && f->b->n_domains > 1) {
		for (int d = 0; d < f->b->n_domains; d++) {
			kept = pick(f, d, n);
			if (kept > best) {
				best = kept;
				domain = d;
			}
		}
		if (best < 0)
			return -1;
	}
	kept = pick(f, domain, n);
	if (kept >= 0)
		take_segment(f, n);
	return kept;
}

/* All segments. */
static int64_t place_all(struct fit *f, int domain)
{
	int n = f->req->n_nodes_wanted;
	int segment = f->b->segment ? f->b->segment : n;
	int64_t sum = 0, kept;

	begin(f);
	for (int left = n; left > 0; left -= segment) {
		kept = left < segment ? -1 : place_segment(f, domain, segment);
		if (kept < 0)
			return -1;
		sum += kept;
	}
	return sum;
}

static bool place_together(struct fit *f)
{
	int64_t best = -1;
	int domain = 0;

	for (int d = 0; d < f->b->n_domains; d++) {
		int64_t kept = place_all(f, d);

		if (kept > best) {
			best = kept;
			domain = d;
		}
	}
	return best >= 0 && place_all(f, domain) >= 0;
}

static int64_t weight(const struct fit_node *node)
{
	return node->required ? INT_MAX : node->turn != NOT_CHOSEN;
}

/* The n nodes in a row of which most are required, then chosen. */
static bool place_in_a_row(struct fit *f)
{
	int n = f->req->n_nodes_wanted, best = -1;
	int64_t kept = 0, most = -1;

	qsort(f->list, (size_t)f->n_list, sizeof(*f->list), by_position);
	for (int i = 0; i < f->n_list; i++) {
		int first = i - n + 1;

		kept += weight(&f->list[i]);
		if (first > 0)
			kept -= weight(&f->list[first - 1]);
		if (first < 0 || kept <= most ||
		    f->list[i].place - f->list[first].place != n - 1)
			continue;
		most = kept;
		best = first;
	}
	if (best < 0)
		return false;
	memcpy(f->out, &f->list[best], (size_t)n * sizeof(*f->out));
	f->n_out = n;
	qsort(f->out, (size_t)n, sizeof(*f->out), by_turn);
	return true;
}

static bool has_required(const struct fit *f)
{
	int n = 0;

	for (int i = 0; i < f->n_out; i++)
		n += f->out[i].required;
	return n == f->req->n_required;
}

int cpl_bounds_fit(const struct cpl_placement_request *req, int *out,
                   struct cpl_error *err)
{
	struct fit f = {.req = req, .b = req->bounds};
	bool found = false;

	list_nodes(&f, out);
	if (!f.arena.failed && f.n_list >= req->n_nodes_wanted) {
		if (!f.b->in_a_row)
			qsort(f.list, (size_t)f.n_list, sizeof(*f.list),
			      by_unit);
		found = f.b->in_a_row   ? place_in_a_row(&f)
		        : f.b->together ? place_together(&f)
		                        : place_all(&f, -1) >= 0;
		found = found && has_required(&f);
	}
	for (int i = 0; i < req->n_nodes_wanted && found; i++)
		out[i] = f.out[i].node;
	return cpl_arena_end(&f.arena, found ? 0 : 1, err);
}
