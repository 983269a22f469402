/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Our largest congestion and our exact time (traffic/times.h) beside SimGrid's
 * time for the same messages, all sent at once, on 20 placements of a job on a dragonfly (static-direct) or torus
 * (dimension-order), and the rank correlation of the two. The paths are
 * enumerated here, link by link; the library's shares are compared to them.
 * With "tcp" SimGrid runs its default model (LV08) with 100 ns a link, else
 * plain links without latency.
 * Usage: simgrid_check NETWORK.json SIGNATURE.json RANKS_PER_NODE [tcp]
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "network/dragonfly/dragonfly.h"
#include "placement/placement.h"
#include "signature/signature.h"
#include "simgrid_flows.h"
#include "traffic/times_internal.h"
#include "traffic/workload.h"

#define PLACEMENTS 20
#define MAX_HOPS 64
#define LATENCY 100e-9
/* A link's share by paths and by the library. */
#define SAME 1e-9

struct check {
	struct cpl_network *net;
	const struct cpl_routing *routing;
	struct cpl_signature *sig;
	struct cpl_comm *comm;
	struct cpl_workload *work;
	int per_node, n_nodes; /* of the job */
	bool tcp;
	int *node, *rank_node;
	unsigned char *free_nodes;

	/* Paths of the node pairs met so far. */
	int *first_path;      /* [nodes * nodes], -1: none yet */
	int *n_paths_of;      /* [nodes * nodes] */
	double *share, *want; /* [links] of one pair */
	int *path_first, *path_link, n_paths, n_path_links;
	int max_paths, max_path_links;
	struct flow *flow;
	int n_flows, max_flows;
	struct flow_run run[PLACEMENTS];
	double ours[PLACEMENTS], exact[PLACEMENTS];
	const char *policy[PLACEMENTS];
};

static void *grow(void *p, int n, int *max, size_t size)
{
	if (n < *max)
		return p;
	*max = 2 * n + 1024;
	p = realloc(p, (size_t)*max * size);
	if (!p) {
		fprintf(stderr, "simgrid_check: out of memory\n");
		exit(1);
	}
	return p;
}

static void push_link(struct check *c, int link)
{
	c->path_link = grow(c->path_link, c->n_path_links, &c->max_path_links,
	                    sizeof(*c->path_link));
	c->path_link[c->n_path_links++] = link;
}

static void push_path(struct check *c, int from_node, int to_node,
                      const int *link, int n)
{
	int n_links = (int)c->net->n_links;

	c->path_first = grow(c->path_first, c->n_paths + 1, &c->max_paths,
	                     sizeof(*c->path_first));
	push_link(c, n_links + from_node);
	for (int i = 0; i < n; i++)
		push_link(c, link[i]);
	push_link(c, n_links + c->net->n_nodes + to_node);
	c->path_first[++c->n_paths] = c->n_path_links;
}

/* A way under construction. */
struct way {
	int from_node, to_node, to; /* to: router */
	int group, to_group;
	int link[MAX_HOPS], n, hops;
};

/* All ways of so many links that take a global link only if the ends are in
 * two groups, and then one. */
static void extend(struct check *c, struct way *w, int router, int globals)
{
	const struct cpl_network *net = c->net;
	const struct cpl_link_class *global =
	        &net->link_class[CPL_DRAGONFLY_GLOBAL];

	if (router == w->to) {
		if (w->n == w->hops && globals == (w->group != w->to_group))
			push_path(c, w->from_node, w->to_node, w->link, w->n);
		return;
	}
	if (w->n == w->hops)
		return;
	for (int l = 0; l < (int)net->n_links; l++) {
		bool is_global =
		        l >= global->first && l < global->first + global->count;
		int next = net->link_to[l];
		int group = next / cpl_dragonfly_of(net)->routers_per_group;

		if (net->link_from[l] != router ||
		    (group != w->group && group != w->to_group) ||
		    (is_global && (globals || group != w->to_group)))
			continue;
		w->link[w->n++] = l;
		extend(c, w, next, globals + is_global);
		w->n--;
	}
}

/* Dimension by dimension, the shorter way round, ties to +. */
static void along(struct check *c, struct way *w, int router)
{
	const struct cpl_product *t = &c->net->product;
	int stride = 1;

	for (int d = 0; d < t->n_dims; d++) {
		int n = t->dim[d];
		int left = w->to / stride % n - router / stride % n;

		if (t->wrap[d] && left > n / 2)
			left -= n;
		if (t->wrap[d] && -2 * left >= n)
			left += n;
		while (left) {
			int64_t out = ((int64_t)router * t->n_dims + d) * 2 +
			              (left < 0);

			w->link[w->n] = (int)t->out[out];
			router = c->net->link_to[w->link[w->n++]];
			left += left < 0 ? 1 : -1;
		}
		stride *= n;
	}
	push_path(c, w->from_node, w->to_node, w->link, w->n);
}

/* The paths of a pair of nodes share its bytes as the library says. */
static bool agree(struct check *c, int from, int to, int first)
{
	size_t links = (size_t)c->net->n_links;

	memset(c->want, 0, links * sizeof(*c->want));
	memset(c->share, 0, links * sizeof(*c->share));
	c->routing->add(c->net, from, to, 1, c->share);
	for (int p = first; p < c->n_paths; p++)
		for (int i = c->path_first[p] + 1; i < c->path_first[p + 1] - 1;
		     i++)
			c->want[c->path_link[i]] += 1.0 / (c->n_paths - first);
	for (size_t l = 0; l < links; l++)
		if (fabs(c->want[l] - c->share[l]) > SAME)
			return false;
	return true;
}

static bool find_paths(struct check *c, int from_node, int to_node)
{
	int from = cpl_network_router(c->net, from_node);
	int to = cpl_network_router(c->net, to_node);
	size_t pair =
	        (size_t)from_node * (size_t)c->net->n_nodes + (size_t)to_node;
	struct way w = {.from_node = from_node, .to_node = to_node, .to = to};

	if (c->first_path[pair] >= 0)
		return true;
	c->first_path[pair] = c->n_paths;
	if (cpl_network_product(c->net)) {
		along(c, &w, from);
	} else {
		int size = cpl_dragonfly_of(c->net)->routers_per_group;

		w.group = from / size;
		w.to_group = to / size;
		for (; c->n_paths == c->first_path[pair]; w.hops++)
			extend(c, &w, from, 0);
	}
	c->n_paths_of[pair] = c->n_paths - c->first_path[pair];
	return agree(c, from, to, c->first_path[pair]);
}

/* Every message a flow, or as many as it has paths. */
static bool add_flows(struct check *c, struct flow_run *run)
{
	const struct cpl_comm *comm = c->comm;

	run->first = c->n_flows;
	for (int r = 0; r < comm->ranks; r++)
		for (int64_t e = comm->row[r]; e < comm->row[r + 1]; e++) {
			int from = c->rank_node[r];
			int to = c->rank_node[comm->to[e]], n;
			size_t pair = (size_t)from * (size_t)c->net->n_nodes +
			              (size_t)to;

			if (from == to || !(comm->bytes[e] > 0))
				continue;
			if (!find_paths(c, from, to))
				return false;
			n = c->n_paths_of[pair];
			for (int p = 0; p < n; p++) {
				c->flow = grow(c->flow, c->n_flows,
				               &c->max_flows, sizeof(*c->flow));
				c->flow[c->n_flows++] = (struct flow){
				        .path = c->first_path[pair] + p,
				        .bytes = comm->bytes[e] / n};
			}
		}
	run->n = c->n_flows - run->first;
	return true;
}

/* The seconds of the job on c->node, flow by flow. */
static int judge(struct check *c, double *seconds, struct cpl_error *err)
{
	struct cpl_phase phase = {.weight = 1, .comm = c->comm};
	struct cpl_times_space *space =
	        cpl_times_space_new(c->net, c->routing, err);
	struct cpl_times *times =
	        cpl_times_open(&phase, 1, c->comm->ranks, err);
	struct cpl_times_result result;
	int rc = -1;

	if (space && times) {
		times->exact = INT64_MAX;
		rc = cpl_times_order(times, NULL, c->per_node, c->n_nodes,
		                     err);
		rc = rc ? rc : cpl_times_put(times, space, c->node, err);
	}
	if (!rc) {
		cpl_times_judge(times, NULL, false, &result);
		*seconds = result.seconds;
	}
	cpl_times_close(times);
	cpl_times_space_free(space);
	return rc;
}

/* The i-th placement: all policies in turn, on a machine of which one node in
 * eight is taken. */
static int place(struct check *c, int i, struct cpl_error *err)
{
	const struct cpl_placement_policy *one, *policy[32];
	struct cpl_placement_request req = {.net = c->net,
	                                    .free = c->free_nodes,
	                                    .n_nodes_wanted = c->n_nodes,
	                                    .seed = (uint64_t)i + 1};
	struct cpl_job job = {.routing = c->routing,
	                      .comm = c->comm,
	                      .node = c->rank_node};
	struct cpl_metrics m;
	int n = 0;

	for (int p = 0; (one = cpl_placement_at(p)) && n < 32; p++)
		if (one->place && cpl_placement_takes(one, c->net->type))
			policy[n++] = one;
	for (int k = 0; k < c->net->n_nodes; k++)
		c->free_nodes[k] =
		        c->net->node_name[k] &&
		        cpl_random_below(1, (uint64_t)i, (uint64_t)k, 8) > 0;
	c->policy[i] = policy[i % n]->name;
	if (policy[i % n]->place(&req, c->node, err))
		return -1;
	for (int r = 0; r < c->comm->ranks; r++)
		c->rank_node[r] = c->node[r / c->per_node];
	if (cpl_workload_evaluate(c->work, &job, NULL, &m, NULL, err))
		return -1;
	c->ours[i] = fmax(m.max_congestion, m.max_injection);
	if (judge(c, &c->exact[i], err))
		return -1;
	if (!add_flows(c, &c->run[i]))
		return cpl_fail(err, "paths and shares of %s differ",
		                c->routing->name);
	return 0;
}

/* Ranks, equal ones (to 1e-9) with their mean. */
static void rank(const double *x, double *out)
{
	for (int i = 0; i < PLACEMENTS; i++) {
		double below = 0, equal = 0;

		for (int k = 0; k < PLACEMENTS; k++) {
			bool same = fabs(x[k] - x[i]) <= SAME * fabs(x[i]);

			equal += same;
			below += !same && x[k] < x[i];
		}
		out[i] = below + (equal - 1) / 2;
	}
}

/* Spearman's, NaN when one of them has one value only. */
static double rank_correlation(const double *x, const double *y)
{
	double a[PLACEMENTS], b[PLACEMENTS], mean = (PLACEMENTS - 1) / 2.0;
	double xx = 0, yy = 0, xy = 0;

	rank(x, a);
	rank(y, b);
	for (int i = 0; i < PLACEMENTS; i++) {
		xx += (a[i] - mean) * (a[i] - mean);
		yy += (b[i] - mean) * (b[i] - mean);
		xy += (a[i] - mean) * (b[i] - mean);
	}
	return xy / sqrt(xx * yy);
}

static void report(const struct check *c)
{
	double seconds[PLACEMENTS], low = INFINITY, high = 0;
	double least = INFINITY, most = 0;

	printf("%s on %s, %s: %d ranks on %d of %d nodes, %d flows a "
	       "placement, %s\n\n",
	       c->sig->name, c->net->name, c->routing->name, c->comm->ranks,
	       c->n_nodes, c->net->n_nodes, c->n_flows / PLACEMENTS,
	       c->tcp ? "SimGrid's default model" : "plain links");
	printf("| placement | seed | our largest congestion, s | our exact "
	       "time, s | SimGrid's time, s | ratio | to the exact |\n"
	       "|---|---|---|---|---|---|---|\n");
	for (int i = 0; i < PLACEMENTS; i++) {
		double ratio = c->run[i].seconds / c->ours[i];

		seconds[i] = c->run[i].seconds;
		low = fmin(low, ratio);
		high = fmax(high, ratio);
		least = fmin(least, seconds[i] / c->exact[i]);
		most = fmax(most, seconds[i] / c->exact[i]);
		printf("| %s | %d | %.6f | %.6f | %.6f | %.4f | %.4f |\n",
		       c->policy[i], i + 1, c->ours[i], c->exact[i], seconds[i],
		       ratio, seconds[i] / c->exact[i]);
	}
	printf("\nSpearman's rank correlation %.4f; SimGrid's time is %.4f to "
	       "%.4f times our largest congestion, %.4f to %.4f times our "
	       "exact time.\n",
	       rank_correlation(c->ours, seconds), low, high, least, most);
}

static int prepare(struct check *c, char **argv, struct cpl_error *err)
{
	size_t nodes, links;

	c->per_node = atoi(argv[3]);
	c->net = cpl_network_load(argv[1], err);
	c->sig = c->net ? cpl_signature_load(argv[2], err) : NULL;
	c->comm = c->sig ? cpl_signature_total(c->sig, err) : NULL;
	if (!c->comm)
		return -1;
	c->routing = cpl_routing_find(
	        c->net, cpl_network_product(c->net) ? "DO" : "SD", err);
	if (!c->routing)
		return -1;
	if (c->per_node < 1)
		return cpl_fail(err, "RANKS_PER_NODE has to be 1 or more");
	c->n_nodes = (c->comm->ranks + c->per_node - 1) / c->per_node;
	if (c->n_nodes > c->net->n_nodes * 3 / 4)
		return cpl_fail(err,
		                "%d nodes are more than three quarters of "
		                "the machine",
		                c->n_nodes);
	nodes = (size_t)c->net->n_nodes;
	links = (size_t)c->net->n_links + 1;
	c->work = cpl_workload_new(c->net, 1, err);
	if (!c->work)
		return -1;
	c->node = malloc(nodes * sizeof(*c->node));
	c->rank_node = malloc((size_t)c->comm->ranks * sizeof(*c->rank_node));
	c->free_nodes = malloc(nodes);
	c->first_path = malloc(nodes * nodes * sizeof(*c->first_path));
	c->n_paths_of = malloc(nodes * nodes * sizeof(*c->n_paths_of));
	c->share = malloc(links * sizeof(*c->share));
	c->want = malloc(links * sizeof(*c->want));
	c->path_first = grow(NULL, 0, &c->max_paths, sizeof(*c->path_first));
	if (!c->node || !c->rank_node || !c->free_nodes || !c->first_path ||
	    !c->n_paths_of || !c->share || !c->want)
		return cpl_fail_memory(err);
	memset(c->first_path, -1, nodes * nodes * sizeof(*c->first_path));
	c->path_first[0] = 0;
	return 0;
}

static int simulate(struct check *c, struct cpl_error *err)
{
	int n_links = (int)c->net->n_links, all = n_links + 2 * c->net->n_nodes;
	double *bandwidth = malloc((size_t)all * sizeof(*bandwidth));
	struct flow_problem problem = {
	        .n_links = all,
	        .bandwidth = bandwidth,
	        .n_paths = c->n_paths,
	        .path_first = c->path_first,
	        .path_link = c->path_link,
	        .flow = c->flow,
	        .ideal = !c->tcp,
	        .latency = LATENCY,
	        .n_runs = PLACEMENTS,
	        .run = c->run,
	};

	if (!bandwidth)
		return cpl_fail_memory(err);
	for (int l = 0; l < all; l++)
		bandwidth[l] = l < n_links
		                       ? cpl_network_link_bandwidth(c->net, l)
		                       : c->net->port_bandwidth[0];
	flows_simulate(&problem);
	free(bandwidth);
	return 0;
}

int main(int argc, char **argv)
{
	struct cpl_error err = {"usage: simgrid_check NETWORK.json "
	                        "SIGNATURE.json RANKS_PER_NODE [tcp]"};
	struct check c = {.net = NULL};
	int rc = -1;

	c.tcp = argc == 5 && !strcmp(argv[4], "tcp");
	if (argc == 4 || c.tcp)
		rc = prepare(&c, argv, &err);
	for (int i = 0; i < PLACEMENTS && !rc; i++)
		rc = place(&c, i, &err);
	if (!rc)
		rc = simulate(&c, &err);
	if (!rc)
		report(&c);
	else
		fprintf(stderr, "simgrid_check: %s\n", err.text);
	cpl_workload_free(c.work);
	cpl_comm_free(c.comm);
	cpl_signature_free(c.sig);
	cpl_network_free(c.net);
	free(c.node);
	free(c.rank_node);
	free(c.free_nodes);
	free(c.first_path);
	free(c.n_paths_of);
	free(c.share);
	free(c.want);
	free(c.path_first);
	free(c.path_link);
	free(c.flow);
	return rc != 0;
}
