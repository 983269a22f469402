/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mapping/replace.h"

#include <string.h>

#include "graph/arena.h"
#include "mapping/host_search.h"

struct replacing {
	const struct cpl_replacing *how;
	struct cpl_rank_groups groups;
	struct cpl_moves moves;
	bool *taken; /* [n_nodes] */
	bool *seen;  /* [stations] of which a node was tried */
	int *node;   /* [n_hosts] as replaced so far */
	int *at;     /* [n_hosts and free nodes, or the hosts' ports] */
	double *load; /* of rails */
};

/* Puts the job where it is; its hosts may go to any node that is free. */
static int begin(struct replacing *r, struct cpl_error *err)
{
	const struct cpl_replacing *how = r->how;
	const struct cpl_network *net = how->net;
	const struct cpl_host_search open = {.net = net,
	                                     .routing = how->routing,
	                                     .background = how->background,
	                                     .rates = how->rates,
	                                     .objective = how->objective};
	int ports = cpl_network_judged_ports(net), n = how->n_hosts;

	memcpy(r->at, r->node, (size_t)n * sizeof(*r->at));
	for (int i = 0; i < net->n_nodes; i++)
		if (how->free[i] && !r->taken[i])
			r->at[n++] = i;
	if (cpl_host_search_open(&open, r->at, n, &r->moves, err))
		return -1;
	for (int i = 0; i < how->n_hosts * ports; i++)
		r->at[i] = r->node[i / ports] * ports + i % ports;
	return cpl_moves_job(&r->moves, cpl_rank_groups_judged(&r->groups),
	                     r->at, true, err);
}

/* What the objective goes by, with what is tentative. */
static void look(struct replacing *r, struct cpl_metrics *metrics,
                 double *hop_bytes)
{
	const struct cpl_load_summary *all = cpl_moves_links(&r->moves);

	*metrics = (struct cpl_metrics){.max_congestion = all->max,
	                                .job_congestion = all->max,
	                                .seconds = all->max,
	                                .mean_congestion = all->sum};
	*hop_bytes = r->moves.hop_bytes + r->moves.more_hop_bytes;
}

static bool may_have(struct replacing *r, int host, int node)
{
	int before = r->node[host];
	bool may;

	if (!r->how->may_have)
		return true;
	r->node[host] = node;
	may = r->how->may_have(r->how->arg, r->node);
	r->node[host] = before;
	return may;
}

static int replace(struct replacing *r, int host, struct cpl_error *err)
{
	const struct cpl_replacing *how = r->how;
	const struct cpl_network *net = how->net;
	struct cpl_metrics best, now;
	double best_hops = 0, hops;
	int found = -1;

	memset(r->seen, 0, ((size_t)net->n_nodes + (size_t)net->n_routers) *
	                           sizeof(*r->seen));
	cpl_moves_lift(&r->moves, host);
	for (int i = 0; i < net->n_nodes; i++) {
		int station = cpl_network_station(net, i);

		if (!how->free[i] || r->taken[i] || r->seen[station] ||
		    !may_have(r, host, i))
			continue;
		r->seen[station] = true;
		cpl_moves_put(&r->moves, host, i);
		look(r, &now, &hops);
		cpl_moves_undo(&r->moves);
		if (found >= 0 &&
		    !cpl_objective_better(how->objective, &now, hops, &best,
		                          best_hops))
			continue;
		found = i;
		best = now;
		best_hops = hops;
	}
	if (found < 0)
		return cpl_fail(err, "no node is free to replace %s",
		                net->node_name[r->node[host]]);
	cpl_moves_put(&r->moves, host, found);
	cpl_moves_keep(&r->moves);
	r->taken[found] = true;
	r->node[host] = found;
	return 0;
}

static int judge(struct replacing *r, struct cpl_figures *out,
                 struct cpl_error *err)
{
	const struct cpl_replacing *how = r->how;
	const struct cpl_comm *judged = cpl_rank_groups_judged(&r->groups);
	int ports = cpl_network_judged_ports(how->net);
	struct cpl_evaluator ev;
	int rc;

	for (int i = 0; i < how->n_hosts * ports; i++)
		r->at[i] = r->node[i / ports] * ports + i % ports;
	rc = cpl_evaluator_open(&ev, cpl_network_judged(how->net), how->routing,
	                        how->background, how->rates, judged->n_entries,
	                        false, err) ||
	     cpl_evaluate(&ev, judged, r->at, out, err);
	cpl_evaluator_close(&ev);
	out->rail = rc ? 0
	               : cpl_rank_groups_rail(&r->groups, how->net, r->node,
	                                      r->load);
	return rc ? -1 : 0;
}

static int replace_all(struct replacing *r, const int *host, int n,
                       struct cpl_error *err)
{
	int rc = 0;

	if (!n)
		return 0;
	rc = begin(r, err);
	for (int i = 0; i < n && !rc; i++)
		rc = replace(r, host[i], err);
	cpl_moves_free(&r->moves);
	return rc;
}

int cpl_replace_hosts(const struct cpl_replacing *how, const int *host, int n,
                      int *node, struct cpl_figures *out, struct cpl_error *err)
{
	struct replacing r = {.how = how};
	const struct cpl_network *net = how->net;
	struct cpl_arena arena = {0};
	size_t bytes = (size_t)how->n_hosts * sizeof(*node);
	int rc = -1;

	r.taken = cpl_arena_take(&arena, net->n_nodes, sizeof(*r.taken));
	r.seen = cpl_arena_take(&arena, (int64_t)net->n_nodes + net->n_routers,
	                        sizeof(*r.seen));
	r.node = cpl_arena_take(&arena, how->n_hosts, sizeof(*r.node));
	r.at = cpl_arena_take(&arena,
	                      (int64_t)how->n_hosts *
	                                      cpl_network_judged_ports(net) +
	                              net->n_nodes,
	                      sizeof(*r.at));
	r.load = cpl_arena_take(&arena, 2 * (int64_t)how->n_hosts * net->n_ports,
	                        sizeof(*r.load));
	if (arena.failed)
		return cpl_arena_end(&arena, -1, err);
	memcpy(r.node, node, bytes);
	for (int h = 0; h < how->n_hosts; h++)
		r.taken[node[h]] = true;
	if (!cpl_rank_groups_given(&r.groups, net, how->comm, how->rank_host,
	                           how->n_hosts, err) &&
	    !replace_all(&r, host, n, err) && (!out || !judge(&r, out, err))) {
		memcpy(node, r.node, bytes);
		rc = 0;
	}
	cpl_rank_groups_free(&r.groups);
	return cpl_arena_end(&arena, rc, err);
}
