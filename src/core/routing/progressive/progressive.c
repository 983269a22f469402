/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "routing/progressive/progressive.h"

#include <math.h>

#include "network/dragonfly/dragonfly.h"
#include "network/dragonfly_plus/dragonfly_plus.h"
#include "routing/progressive/runs.h"

static double hops(const struct cpl_network *net, int from, int to)
{
	return cpl_routing_minimal(net)->hops(net, from, to);
}

const struct cpl_routing cpl_routing_progressive_adaptive = {
        .name = "progressive-adaptive",
        .short_name = "PA",
        .flags = CPL_NETWORK_GROUPS | CPL_ROUTING_ADAPTIVE |
                 CPL_ROUTING_PROGRESSIVE | CPL_ROUTING_SAMPLED,
        .summary = "minimal until loaded, then over a random group (UGAL, PAR)",
        .hops = hops,
};

/* Puts diverted bytes between a router of group `own` and the gateways to
 * middle groups. group[] has the bytes by the group that they are for (out) or
 * come from. */
static void spread(struct solve *s, int router, int own, bool out)
{
	const struct cpl_linked_groups *g = &s->g;
	int members = cpl_groups_members(g, own);
	double all = 0;

	for (int i = 0; i < g->n; i++)
		all += s->group[i];
	for (int p = 0; p < members; p++)
		s->place[p] = 0;
	for (int i = 0; i < g->n; i++) {
		double each = (all - s->group[i]) / (g->n - 2) / g->links;

		for (int k = 0; k < g->links && i != own && each > 0; k++)
			s->place[cpl_groups_index(
			        g, own, cpl_groups_gateway(g, own, i, k))] +=
			        each;
	}
	for (int p = 0; p < members; p++) {
		int at = cpl_groups_router(g, own, p);

		if (s->place[p] > 0)
			cpl_groups_inside(g, out ? router : at,
			                  out ? at : router, s->place[p],
			                  s->load);
	}
}

/* The links from a router to the gateways to all groups. */
static double reach_all(const struct solve *s, int router, int own)
{
	int members = cpl_groups_members(&s->g, own);
	const int *ports = s->ports + (int64_t)own * s->g.members;
	double sum = 0;

	for (int p = 0; p < members; p++)
		if (ports[p])
			sum += (double)ports[p] *
			       cpl_groups_inside(
			               &s->g, router,
			               cpl_groups_router(&s->g, own, p), 0,
			               NULL);
	return sum;
}

static void set_reach(struct solve *s, struct gateway_run *run, double all)
{
	double n = (double)(s->g.n - 2) * s->g.links;

	run->reach = (all - cpl_groups_reach(&s->g, run->router, run->own,
	                                     run->other)) /
	             n;
}

/* Returns the hop-bytes. */
static double leave(struct solve *s)
{
	struct gateway_run *run = s->at->out.run;
	int64_t n = s->at->out.n;
	double hops = 0;

	for (int64_t i = 0, end; i < n; i = end) {
		double sum = 0, all;

		for (int k = 0; k < s->g.n; k++)
			s->group[k] = 0;
		for (end = i; end < n && run[end].router == run[i].router;
		     end++) {
			s->group[run[end].other] += run[end].gone;
			sum += run[end].gone;
		}
		if (!(sum > 0))
			continue;
		spread(s, run[i].router, run[i].own, true);
		all = reach_all(s, run[i].router, run[i].own);
		for (int64_t k = i; k < end; k++)
			if (run[k].gone > 0) {
				set_reach(s, &run[k], all);
				hops += run[k].gone * run[k].reach;
			}
	}
	return hops;
}

static double arrive(struct solve *s)
{
	struct gateway_run *run = s->at->in.run;
	double hops = 0;

	for (int to = 0; to < s->g.net->n_routers; to++) {
		double sum = 0, all;
		int own = -1;

		for (int k = 0; k < s->g.n && s->head[to] >= 0; k++)
			s->group[k] = 0;
		for (int64_t i = s->head[to]; i >= 0; i = run[i].next) {
			own = run[i].own;
			s->group[run[i].other] += run[i].gone;
			sum += run[i].gone;
		}
		if (!(sum > 0))
			continue;
		spread(s, to, own, false);
		all = reach_all(s, to, own);
		for (int64_t i = s->head[to]; i >= 0; i = run[i].next)
			if (run[i].gone > 0) {
				set_reach(s, &run[i], all);
				hops += run[i].gone * run[i].reach;
			}
	}
	return hops;
}

/* Adds bytes from group a that go on at a router of group i; *n are seen. */
static void go_on(struct solve *s, int i, int a, int place, double bytes,
                  int *n)
{
	if (!s->seen[place]) {
		s->seen[place] = true;
		s->onward[(*n)++] = place;
		s->place[place] = 0;
		s->far[place] = cpl_groups_reach(
		        &s->g, cpl_groups_router(&s->g, i, place), i, a);
	}
	s->place[place] += bytes;
}

/* Lists the gateways of group i, which may have many more routers. */
static void list_gates(struct solve *s, int i)
{
	const struct cpl_linked_groups *g = &s->g;
	int members = cpl_groups_members(g, i);

	s->n_gates = 0;
	for (int p = 0; p < members; p++) {
		s->gate[p] = -1;
		if (s->ports[(int64_t)i * g->members + p]) {
			s->gate[p] = s->n_gates;
			s->gates[s->n_gates++] = p;
		}
	}
}

/* The bytes between two gateways of the group at hand. */
static double *gateway_bytes(const struct solve *s, int from, int to)
{
	return &s->way[(int64_t)from * s->n_gates + to];
}

/* Passes what comes from group a through group i. */
static void pass_from(struct solve *s, int i, int a)
{
	const struct cpl_linked_groups *g = &s->g;
	double parts = (double)(g->n - 2) * g->links * g->links;
	int n = 0;

	for (int at = s->first[a]; at < s->first[a + 1]; at++) {
		int b = s->target[at];
		int64_t pair = cpl_groups_pair(g, a, b);

		for (int k = 0; k < g->links && b != i; k++) {
			int out = cpl_groups_index(
			        g, i, cpl_groups_gateway(g, i, b, k));

			go_on(s, i, a, out, s->d.pair[pair] / parts, &n);
			s->between[pair] += s->far[out] / parts;
		}
	}
	for (int k = 0; k < g->links && n; k++) {
		int in = cpl_groups_index(g, i, cpl_groups_gateway(g, i, a, k));

		for (int m = 0; m < n; m++)
			*gateway_bytes(s, s->gate[in], s->gate[s->onward[m]]) +=
			        s->place[s->onward[m]];
	}
	for (int m = 0; m < n; m++)
		s->seen[s->onward[m]] = false;
}

/* Lists the groups that each group's detours are for. */
static void list_targets(struct solve *s)
{
	int n = 0;

	for (int a = 0; a < s->g.n; a++) {
		s->first[a] = n;
		for (int b = 0; b < s->g.n && s->d.from[a] > 0; b++)
			if (b != a &&
			    s->d.pair[cpl_groups_pair(&s->g, a, b)] > 0)
				s->target[n++] = b;
	}
	s->first[s->g.n] = n;
}

static void pass(struct solve *s, int i)
{
	const struct cpl_linked_groups *g = &s->g;
	int n;

	list_gates(s, i);
	n = s->n_gates;
	for (int64_t k = 0; k < (int64_t)n * n; k++)
		s->way[k] = 0;
	for (int a = 0; a < g->n; a++)
		if (a != i && s->first[a] < s->first[a + 1])
			pass_from(s, i, a);
	for (int from = 0; from < n; from++)
		for (int to = 0; to < n; to++)
			if (*gateway_bytes(s, from, to) > 0)
				cpl_groups_inside(
				        g,
				        cpl_groups_router(g, i, s->gates[from]),
				        cpl_groups_router(g, i, s->gates[to]),
				        *gateway_bytes(s, from, to), s->load);
}

static double detour(struct solve *s)
{
	const struct cpl_linked_groups *g = &s->g;
	double hops = leave(s) + arrive(s);

	list_targets(s);
	for (int i = 0; i < g->n; i++)
		pass(s, i);
	for (int a = 0; a < g->n; a++)
		for (int b = 0; b < g->n; b++) {
			int64_t pair;
			double *link;

			if (a == b)
				continue;
			pair = cpl_groups_pair(g, a, b);
			hops += s->d.pair[pair] * (2 + s->between[pair]);
			link = s->load + g->first + pair * g->links;
			for (int k = 0; k < g->links; k++)
				link[k] += cpl_detours_on(g, &s->d, a, b);
		}
	return hops;
}

static void add_job(struct solve *s, struct cpl_adaptive_job *job,
                    struct job_runs *runs)
{
	const struct cpl_linked_groups *g = &s->g;

	s->at = runs;
	for (int r = 0; r < g->net->n_routers; r++)
		s->head[r] = -1;
	for (int64_t p = 0; p < (int64_t)g->n * (g->n - 1); p++)
		s->d.pair[p] = s->between[p] = 0;
	for (int i = 0; i < g->n; i++)
		s->d.from[i] = s->d.to[i] = 0;
	s->d.all = 0;
	job->routed.hop_bytes += cpl_runs_keep(s);
	if (s->d.all > 0)
		job->routed.hop_bytes += detour(s);
	job->routed.max_hops = fmax(job->routed.max_hops,
	                            cpl_runs_farthest(s, job->flows));
}

static void take_arrays(struct solve *s)
{
	int64_t pairs = (int64_t)s->g.n * (s->g.n - 1);
	int64_t gates = (int64_t)(s->g.n - 1) * s->g.links;
	int routers = s->g.net->n_routers;
	struct cpl_arena *arena = &s->arena;

	s->share = cpl_arena_take_raw(arena,
	                              cpl_route_max(s->g.net, s->minimal),
	                              sizeof(*s->share));
	s->on = cpl_arena_take(arena, s->links, sizeof(double));
	s->moved = cpl_arena_take(arena, s->links, sizeof(double));
	s->scratch = cpl_arena_take(arena, 2 * (int64_t)s->width,
	                            sizeof(double));
	s->group_of = cpl_arena_take_raw(arena, s->g.net->n_node_routers,
	                                 sizeof(*s->group_of));
	s->ports = cpl_arena_take(arena, (int64_t)s->g.n * s->g.members,
	                          sizeof(*s->ports));
	s->slot = cpl_arena_take(arena, routers, sizeof(*s->slot));
	s->stamp = cpl_arena_take_raw(arena, routers, sizeof(*s->stamp));
	s->enter = cpl_arena_take_raw(arena, s->masks ? routers : 0,
	                              sizeof(*s->enter));
	for (int i = 1; i < 129; i++)
		s->inverse[i] = 1.0 / i;
	s->d = cpl_detours_take(&s->g, arena);
	s->group = cpl_arena_take(arena, s->g.n, sizeof(double));
	s->place = cpl_arena_take(arena, s->g.members, sizeof(double));
	s->far = cpl_arena_take(arena, s->g.members, sizeof(*s->far));
	s->seen = cpl_arena_take(arena, s->g.members, sizeof(*s->seen));
	s->onward = cpl_arena_take(arena, s->g.members, sizeof(*s->onward));
	s->first = cpl_arena_take(arena, s->g.n + 1, sizeof(*s->first));
	s->target = cpl_arena_take_raw(arena, pairs, sizeof(*s->target));
	gates = gates < s->g.members ? gates : s->g.members;
	s->gate = cpl_arena_take_raw(arena, s->g.members, sizeof(*s->gate));
	s->gates = cpl_arena_take_raw(arena, gates, sizeof(*s->gates));
	s->way = cpl_arena_take_raw(arena, gates * gates, sizeof(double));
	s->between = cpl_arena_take(arena, pairs, sizeof(double));
	s->head = cpl_arena_take_raw(arena, routers, sizeof(*s->head));
}

static void list_routers(struct solve *s)
{
	const struct cpl_linked_groups *g = &s->g;

	for (int r = 0; r < g->net->n_node_routers; r++)
		s->group_of[r] = cpl_groups_group(g, r);
	for (int a = 0; a < g->n; a++)
		for (int b = 0; b < g->n; b++)
			for (int k = 0; k < g->links && a != b; k++)
				s->ports[(int64_t)a * g->members +
				         cpl_groups_index(
				                 g, a,
				                 cpl_groups_gateway(g, a, b,
				                                    k))]++;
}

/* Computes the share of each link's minimal bytes that is diverted. */
static void divert_bytes(struct solve *s)
{
	for (int64_t l = 0; l < s->links; l++) {
		/* A share of the least number may round to 0. */
		double part = s->on[l] > 0 ? s->moved[l] / s->on[l] : 0;

		s->moved[l] = part < 1 ? part : 1;
	}
}

int cpl_progressive_solve(const struct cpl_network *net,
                          struct cpl_adaptive_job *job, int n, double *load,
                          struct cpl_error *err)
{
	struct solve s = {.g = cpl_groups_of(net),
	                  .minimal = cpl_routing_minimal(net),
	                  .load = load};
	struct job_runs *runs = cpl_arena_take(&s.arena, n, sizeof(*runs));

	s.links = (int64_t)s.g.n * (s.g.n - 1) * s.g.links;
	s.even = net->type == &cpl_network_dragonfly_plus;
	s.width = s.even ? 1 : s.g.links;
	s.masks = net->type == &cpl_network_dragonfly && s.g.links <= 64;
	take_arrays(&s);
	if (!s.arena.failed)
		list_routers(&s);
	for (int i = 0; i < n && !s.arena.failed; i++)
		cpl_runs_sum(&s, &job[i], &runs[i]);
	if (!s.arena.failed)
		cpl_equilibrium(&s.g, load + s.g.first, s.on, s.moved,
		                &s.arena);
	if (!s.arena.failed)
		divert_bytes(&s);
	for (int i = 0; i < n && !s.arena.failed; i++)
		add_job(&s, &job[i], &runs[i]);
	return cpl_arena_end(&s.arena, 0, err);
}
