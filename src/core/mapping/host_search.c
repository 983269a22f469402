/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "mapping/host_search.h"
#include "traffic/moves.h"

/* One part in so many of the work is left for tidying up. */
#define TIDY_SHARE 7
/* How many hosts move in a round, and where each may go. */
#define MOVERS 4
#define NEAR_PARTNERS 2
#define NEAR_NODES 2
/* The nearest nodes are looked for among so many ids up and down from a
 * partner's: neighbours have neighbouring ids, and a large machine has many
 * nodes. */
#define NEAR_IDS 2048
#define DRAWN_NODES 8
#define DRAWN_HOSTS 8
/* The search ends after so many rounds in a row without a better step. */
#define BARREN_ROUNDS 4
/* A relative gain below this does not count. */
#define GAIN 1e-9
/* Sums of links are rounded by less than this. */
#define ROUNDING 1e-12
/* The work that a route, and a look at its length, are counted as, in links. */
#define ROUTE_WORK 8
#define HOPS_WORK 2

struct host_step {
	int host;
	int with; /* host to swap with, or -1: exchange for spare[spare] */
	int spare;
};

/* Steps are judged by these numbers. For max-congestion the search first
 * flattens: after the largest congestion come the fourth powers of all, since
 * many links may be as busy as the busiest, and taking load off one of them
 * shows nowhere else. Then it tidies up: it keeps the largest congestion and
 * lowers the mean. */
struct score {
	double max, mean, powers, hop_bytes; /* mean: times the links */
};

struct host_search {
	const struct cpl_host_search *how;
	const struct cpl_network *net;
	const struct cpl_routing *routing;
	const struct cpl_comm *hosts; /* what each sends */
	const struct cpl_comm *out;   /* of hosts or their ports: what is
	                               * judged */
	int ports;                    /* of out for a host */
	struct cpl_moves *moves, own;
	const int *cable; /* [hosts * ports] of moves */
	int *in_degree;   /* [hosts] */
	int n_spare;
	int *spare;            /* free nodes that are not chosen */
	int *spare_at;         /* [nodes] index into spare, or -1 */
	unsigned char *pinned; /* [hosts] whether it is on a required node */
	double *blame;         /* [hosts] */
	/* The links on the path of an entry, as they were last looked up. */
	struct known_hops {
		int from, to; /* stations + 1; 0: not yet */
		double hops;
	} * known;             /* [entries] */
	int64_t busiest;       /* link of the round, -1: there are none */
	int mover[MOVERS], n_movers;
	long blamed; /* the work of finding the hosts to blame */
	bool flatten;
	struct score now;
	struct score lifted; /* without the host that is to move */
	uint64_t draws;
	long work, work_limit;
	int *kept; /* [hosts] node[] at the last point passed */
	int points;
	bool cut_short;
};

/* It avoids a division where there is one port, since it is called often. */
static inline int whole(const struct host_search *s, int cable)
{
	return s->ports == 1 ? cable : cable / s->ports;
}

static int node_of(const struct host_search *s, int host)
{
	return whole(s, s->cable[host * s->ports]);
}

static void charge(struct host_search *s, int host)
{
	int64_t degree = s->out->row[(host + 1) * s->ports] -
	                 s->out->row[host * s->ports] + s->in_degree[host];

	s->work += 2 * degree * ROUTE_WORK;
}

/* Applies the step of the lifted host tentatively. */
static void apply(struct host_search *s, const struct host_step *step)
{
	charge(s, step->host);
	if (step->with >= 0) {
		charge(s, step->with);
		cpl_moves_put_swap(s->moves, step->host, step->with);
	} else {
		cpl_moves_put(s->moves, step->host, s->spare[step->spare]);
	}
}

static struct score score(struct host_search *s)
{
	const struct cpl_load_summary *all = cpl_moves_links(s->moves);

	return (struct score){all->max, all->sum, all->powers,
	                      s->moves->hop_bytes + s->moves->more_hop_bytes};
}

static bool differ(double a, double b)
{
	return fabs(a - b) > GAIN * fmax(fabs(a), fabs(b));
}

static bool better(const struct host_search *s, const struct score *a,
                   const struct score *b)
{
	enum cpl_objective objective = s->how->objective;

	if (objective == CPL_OBJECTIVE_MEAN && differ(a->mean, b->mean))
		return a->mean < b->mean;
	if (objective == CPL_OBJECTIVE_HOP_BYTES &&
	    differ(a->hop_bytes, b->hop_bytes))
		return a->hop_bytes < b->hop_bytes;
	if (differ(a->max, b->max))
		return a->max < b->max;
	if (s->flatten)
		return differ(a->powers, b->powers) && a->powers < b->powers;
	if (differ(a->mean, b->mean))
		return a->mean < b->mean;
	return differ(a->hop_bytes, b->hop_bytes) &&
	       a->hop_bytes < b->hop_bytes;
}

/* Do the changed links alone show that the step is no better than that? Sums
 * only count where they differ by more than their rounding. */
static bool is_hopeless(const struct host_search *s,
                        const struct host_step *step, const struct score *best)
{
	enum cpl_objective objective = s->how->objective;
	const struct score *from = &s->lifted;
	/* A job that comes to an unused node takes nothing off any link. */
	double max = step->with < 0 ? from->max : 0;
	double limit = best->max * (1 + 2 * GAIN);
	struct cpl_load_summary change;

	if (objective == CPL_OBJECTIVE_MEAN ||
	    objective == CPL_OBJECTIVE_HOP_BYTES)
		return false;
	if (max > limit)
		return true;
	change = cpl_moves_change(s->moves, s->busiest, limit);
	if (change.max > limit)
		return true;
	/* The largest congestion may become less. */
	if (fmax(max, change.max) < best->max * (1 - GAIN / 2))
		return false;
	return s->flatten ? from->powers * (1 - ROUNDING) + change.powers >
	                            best->powers * (1 - GAIN / 2)
	                  : from->mean * (1 - ROUNDING) + change.sum >
	                            best->mean * (1 + 2 * GAIN);
}

/* Tries a step and keeps it with its score where it beats *best_score. */
static void try_step(struct host_search *s, const struct host_step *step,
                     struct host_step *best, struct score *best_score)
{
	apply(s, step);
	if (!is_hopeless(s, step, best_score)) {
		struct score tried = score(s);

		if (better(s, &tried, best_score)) {
			*best = *step;
			*best_score = tried;
		}
	}
	cpl_moves_undo(s->moves);
}

/* Hops are remembered, as few hosts move between two looks at all entries. */
static double hops_of(struct host_search *s, int64_t e, int from, int to)
{
	struct known_hops *known = &s->known[e];

	if (known->from != from + 1 || known->to != to + 1)
		*known = (struct known_hops){
		        from + 1, to + 1,
		        cpl_station_hops(s->moves->net, s->routing, from, to)};
	return known->hops;
}

/* Bytes of an entry of cable `from` on a link, or its hop-bytes for link -1. */
static double entry_blame(struct host_search *s, int from, int64_t e,
                          int64_t link)
{
	double bytes = s->out->bytes[e];
	int a = cpl_network_station(s->moves->net, s->cable[from]);
	int b = cpl_network_station(s->moves->net, s->cable[s->out->to[e]]);

	if (a == b)
		return 0;
	if (link < 0) {
		s->work += HOPS_WORK;
		return bytes * hops_of(s, e, a, b);
	}
	s->work += ROUTE_WORK;
	return bytes * cpl_moves_entry_fraction(s->moves, from, e, link);
}

static void blame_hosts(struct host_search *s, int64_t link)
{
	const struct cpl_comm *out = s->out;

	for (int i = 0; i < s->hosts->ranks; i++)
		s->blame[i] = 0;
	for (int i = 0; i < out->ranks; i++) {
		for (int64_t e = out->row[i]; e < out->row[i + 1]; e++) {
			double b = entry_blame(s, i, e, link);

			s->blame[whole(s, i)] += b;
			s->blame[whole(s, out->to[e])] += b;
		}
	}
}

/* Picks the hosts with the most blame, ties to the lowest; none when other jobs
 * alone fill the busiest link that is to be flattened. */
static void pick_movers(struct host_search *s)
{
	long before = s->work;

	s->busiest = cpl_moves_busiest(s->moves);
	blame_hosts(s, s->flatten ? s->busiest : -1);
	s->blamed = s->work - before;
	s->n_movers = 0;
	while (s->n_movers < MOVERS) {
		int best = -1;

		for (int i = 0; i < s->hosts->ranks; i++)
			if (s->blame[i] > 0 &&
			    (best < 0 || s->blame[i] > s->blame[best]))
				best = i;
		if (best < 0)
			break;
		s->blame[best] = 0;
		s->mover[s->n_movers++] = best;
	}
}

/* The partner with the k-th most traffic with host, or -1. */
static int partner(const struct host_search *s, int host, int k)
{
	const struct cpl_comm *out = s->hosts;
	int last = -1;
	double limit = -1;

	for (; k >= 0; k--) {
		int best = -1;
		double most = 0;

		for (int64_t e = out->row[host]; e < out->row[host + 1]; e++) {
			double bytes = out->bytes[e];
			int to = out->to[e];

			if (to == host || bytes <= most)
				continue;
			if (limit < 0 || bytes < limit ||
			    (bytes == limit && to > last)) {
				best = to;
				most = bytes;
			}
		}
		if (best < 0)
			return -1;
		last = best;
		limit = most;
	}
	return last;
}

/* Counts the spare nodes on home's router, than which none is nearer. */
static int spares_beside(const struct host_search *s, int home)
{
	const struct cpl_network *net = s->net;
	int router = cpl_network_router(net, home), n = 0;

	for (int i = net->router_first[router];
	     i < net->router_first[router + 1]; i++)
		n += net->router_node[i] != home &&
		     cpl_network_station(net, net->router_node[i]) ==
		             cpl_network_station(net, home) &&
		     s->spare_at[net->router_node[i]] >= 0;
	return n;
}

/* Lists the indices of the spare nodes nearest to a host's node; ties go to the
 * closer id, then to the lower. */
static int nearest_spares(struct host_search *s, int host, int *near)
{
	int home = node_of(s, host), n = 0, beside = spares_beside(s, home);
	int station = cpl_network_station(s->net, home);
	double hops[NEAR_NODES];

	for (int i = 2; i < 2 * NEAR_IDS + 2; i++) {
		int node = i % 2 ? home + i / 2 : home - i / 2, at;
		double h;

		if (node < 0 || node >= s->net->n_nodes ||
		    s->spare_at[node] < 0)
			continue;
		h = cpl_station_hops(s->net, s->routing, station,
		                     cpl_network_station(s->net, node));
		s->work += HOPS_WORK;
		beside -= h == 0;
		if (n < NEAR_NODES || h < hops[n - 1]) {
			if (n < NEAR_NODES)
				n++;
			for (at = n - 1; at > 0 && h < hops[at - 1]; at--) {
				hops[at] = hops[at - 1];
				near[at] = near[at - 1];
			}
			hops[at] = h;
			near[at] = s->spare_at[node];
		}
		/* All that follow are at least a link away. */
		if (n == NEAR_NODES && hops[n - 1] <= 1 && !beside)
			break;
	}
	return n;
}

static int draw(struct host_search *s, int n)
{
	return (int)cpl_random_below(s->how->seed, CPL_STREAM_TRAFFIC,
	                             s->draws++, (uint64_t)n);
}

/* Has the work reached its limit, or has the budget run out? */
static bool spent(struct host_search *s)
{
	const struct cpl_host_search *how = s->how;

	if (s->work >= s->work_limit)
		return true;
	if (how->expired && how->expired(how->expired_arg))
		s->cut_short = true;
	return s->cut_short;
}

static void list_nodes(const struct host_search *s, int *node)
{
	for (int i = 0; i < s->hosts->ranks; i++)
		node[i] = node_of(s, i);
}

/* Keeps what is found whenever the next share of the work is done. */
static void pass_point(struct host_search *s)
{
	int shares = CPL_HOST_SEARCH_POINTS + 1;

	if (s->points == CPL_HOST_SEARCH_POINTS ||
	    s->work < s->how->work / shares * (s->points + 1))
		return;
	while (s->points < CPL_HOST_SEARCH_POINTS &&
	       s->work >= s->how->work / shares * (s->points + 1))
		s->points++;
	list_nodes(s, s->kept);
}

/* Lists where a host may go, in the order tried, and returns how many. */
static int steps_of(struct host_search *s, int host, struct host_step *step)
{
	int n = 0;

	if (!s->pinned[host] && s->n_spare) {
		for (int k = 0; k < NEAR_PARTNERS; k++) {
			int p = partner(s, host, k);
			int near[NEAR_NODES];
			int n_near = p < 0 ? 0 : nearest_spares(s, p, near);

			for (int i = 0; i < n_near; i++)
				step[n++] =
				        (struct host_step){host, -1, near[i]};
		}
		for (int i = 0; i < DRAWN_NODES; i++)
			step[n++] = (struct host_step){host, -1,
			                               draw(s, s->n_spare)};
	}
	for (int i = 0; i < DRAWN_HOSTS; i++) {
		int with = draw(s, s->hosts->ranks);
		const int *kind = s->how->kind;

		if (with != host && (!kind || kind[with] == kind[host]))
			step[n++] = (struct host_step){host, with, -1};
	}
	return n;
}

static bool improve_host(struct host_search *s, int host)
{
	struct host_step
	        step[NEAR_PARTNERS * NEAR_NODES + DRAWN_NODES + DRAWN_HOSTS];
	struct host_step best = {.host = -1};
	struct score best_score = s->now;
	int n = steps_of(s, host, step), node = node_of(s, host);

	cpl_moves_lift(s->moves, host);
	s->lifted = score(s);
	for (int i = 0; i < n && !spent(s); i++)
		try_step(s, &step[i], &best, &best_score);
	if (best.host < 0 || s->cut_short) {
		cpl_moves_put(s->moves, host, node);
		cpl_moves_keep(s->moves);
		return false;
	}
	apply(s, &best);
	cpl_moves_keep(s->moves);
	if (best.with >= 0) {
		unsigned char pinned = s->pinned[best.host];

		s->pinned[best.host] = s->pinned[best.with];
		s->pinned[best.with] = pinned;
	} else {
		s->spare_at[s->spare[best.spare]] = -1;
		s->spare[best.spare] = node;
		s->spare_at[node] = best.spare;
	}
	s->now = best_score;
	return true;
}

static void rounds(struct host_search *s)
{
	int barren = 0;

	while (barren < BARREN_ROUNDS && !spent(s)) {
		bool gained = false;

		/* Without a gain the movers are the same; their work counts as
		 * if they were sought again. */
		if (barren)
			s->work += s->blamed;
		else
			pick_movers(s);
		if (!s->n_movers)
			return;
		for (int i = 0; i < s->n_movers && !gained; i++)
			gained = improve_host(s, s->mover[i]);
		barren = gained ? 0 : barren + 1;
		if (!s->cut_short)
			pass_point(s);
	}
}

/* mark is all 0 before and after. */
static void list_spare(struct host_search *s, const int *node,
                       unsigned char *mark)
{
	const struct cpl_host_search *how = s->how;

	for (int i = 0; i < how->n_required; i++)
		mark[how->required[i]] = 1;
	for (int i = 0; i < s->hosts->ranks; i++) {
		s->pinned[i] = mark[node[i]];
		mark[node[i]] = 1;
	}
	for (int i = 0; i < s->net->n_nodes; i++) {
		s->spare_at[i] = -1;
		if (!how->free || !how->free[i] || mark[i])
			continue;
		s->spare_at[i] = s->n_spare;
		s->spare[s->n_spare++] = i;
	}
}

/* Writes the ports of n nodes into cable[n * ports], perhaps node[] itself. */
static void list_cables(const struct cpl_network *net, int n, const int *node,
                        int *cable)
{
	int ports = cpl_network_judged_ports(net);

	for (int i = n * ports - 1; i >= 0; i--)
		cable[i] = node[i / ports] * ports + i % ports;
}

/* By time, node links do not count: a host takes their load along. */
int cpl_host_search_open(const struct cpl_host_search *how, const int *node,
                         int n, struct cpl_moves *moves, struct cpl_error *err)
{
	bool time = cpl_objective_by_time(how->objective);
	int ports = cpl_network_judged_ports(how->net);
	int *cable = malloc(((size_t)n * (size_t)ports + 1) * sizeof(*cable));
	int rc;

	if (!cable)
		return cpl_fail_memory(err);
	list_cables(how->net, n, node, cable);
	rc = cpl_moves_init(moves, cpl_network_judged(how->net),
	                    cpl_routing_by_flow(how->net, how->routing), cable,
	                    n * ports, NULL, err);
	free(cable);
	moves->ports = ports;
	return rc || cpl_moves_watch(moves, time ? NULL : how->background,
	                             time ? how->rates : NULL, err)
	               ? -1
	               : 0;
}

/* Puts the job's loads where it is, with routes among these nodes only. reach
 * has room for hosts, spares and the cables of the hosts. */
static int begin(struct host_search *s, const int *node, int *reach,
                 struct cpl_error *err)
{
	int n = s->hosts->ranks;

	memcpy(reach, node, (size_t)n * sizeof(*reach));
	memcpy(reach + n, s->spare, (size_t)s->n_spare * sizeof(*reach));
	if (s->moves == &s->own &&
	    cpl_host_search_open(s->how, reach, n + s->n_spare, s->moves, err))
		return -1;
	list_cables(s->net, n, node, reach);
	if (cpl_moves_job(s->moves, s->out, reach, true, err))
		return -1;
	s->cable = s->moves->node;
	for (int64_t e = 0; e < s->out->n_entries; e++)
		s->in_degree[whole(s, s->out->to[e])]++;
	s->now = score(s);
	return 0;
}

static void search(struct host_search *s)
{
	if (cpl_objective_by_max(s->how->objective) ||
	    cpl_objective_by_time(s->how->objective)) {
		s->flatten = true;
		s->work_limit = s->how->work - s->how->work / TIDY_SHARE;
		rounds(s);
		s->flatten = false;
	}
	s->work_limit = s->how->work;
	if (!s->cut_short)
		rounds(s);
}

int cpl_host_search(const struct cpl_host_search *how, int *node,
                    bool *cut_short, struct cpl_error *err)
{
	const struct cpl_network *net = how->net;
	int n = how->groups->n, spares = how->free ? net->n_nodes : 0;
	const struct cpl_comm *judged = cpl_rank_groups_judged(how->groups);
	struct cpl_arena arena = {0};
	unsigned char *mark;
	int *reach, rc = -1;
	struct host_search s = {
	        .how = how,
	        .net = net,
	        .routing = cpl_routing_by_flow(net, how->routing),
	        .hosts = how->groups->hosts,
	        .out = judged,
	        .ports = cpl_network_judged_ports(net),
	};

	s.moves = how->moves ? how->moves : &s.own;
	s.in_degree = cpl_arena_take(&arena, n, sizeof(*s.in_degree));
	s.spare = cpl_arena_take_raw(&arena, spares, sizeof(*s.spare));
	s.spare_at =
	        cpl_arena_take_raw(&arena, net->n_nodes, sizeof(*s.spare_at));
	s.pinned = cpl_arena_take(&arena, n, 1);
	s.blame = cpl_arena_take(&arena, n, sizeof(*s.blame));
	s.kept = cpl_arena_take_raw(&arena, n, sizeof(*s.kept));
	s.known = cpl_arena_take(&arena, judged->n_entries, sizeof(*s.known));
	mark = cpl_arena_take(&arena, net->n_nodes, 1);
	reach = cpl_arena_take_raw(&arena, (int64_t)n * s.ports + spares,
	                           sizeof(*reach));
	if (arena.failed)
		goto out;
	memcpy(s.kept, node, (size_t)n * sizeof(*node));
	list_spare(&s, node, mark);
	if (begin(&s, node, reach, err))
		goto out;
	search(&s);
	if (s.cut_short)
		memcpy(node, s.kept, (size_t)n * sizeof(*node));
	else
		list_nodes(&s, node);
	*cut_short |= s.cut_short;
	cpl_moves_leave(s.moves);
	rc = 0;
out:
	cpl_moves_free(&s.own);
	return cpl_arena_end(&arena, rc, err);
}
