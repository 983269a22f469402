/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "graph/arena.h"
#include "mapping/mapping.h"
#include "network/network.h"
#include "routing/routing.h"
#include "traffic/workload.h"

/* These are units that are all equally far from each other, each with a number of
 * processes: hosts, or the packages of one. */
struct plan_level {
	const struct cpl_network *net;
	const int *node;  /* [n] of net */
	const int *slots; /* [n] processes */
	int n;
	const struct cpl_comm *comm;
	const char *mapper;
	const int *now; /* [ranks] unit of a rank now; NULL: elsewhere */
};

/* All units are below one switch. */
static struct cpl_network *star(int units, struct cpl_error *err)
{
	char text[512];
	int n = snprintf(text, sizeof(text),
	                 "{\"format\": \"commplace-network\", \"version\": 1, "
	                 "\"name\": \"hosts\", \"type\": \"fattree\", "
	                 "\"nodes_per_router\": 1, \"levels\": [{\"down\": %d, "
	                 "\"up\": 1}], \"nodes\": \"u[0-%d]\"}",
	                 units, units - 1);

	return cpl_network_parse(text, (size_t)n, "hosts", err);
}

/* This tells whether the current layout is at least as good as the one found, or
 * returns -1 when memory is out. */
static int keeps(const struct plan_level *level,
                 const struct cpl_map_request *map,
                 const struct cpl_map_result *found, struct cpl_error *err)
{
	struct cpl_workload *w = cpl_workload_new(level->net, 1, err);
	struct cpl_job job = {.routing = map->routing,
	                      .comm = map->comm,
	                      .node = map->host,
	                      .rank_host = level->now};
	struct cpl_metrics metrics;
	struct cpl_job_sums sums;
	int rc = -1;

	if (w && !cpl_workload_evaluate(w, &job, NULL, &metrics, &sums, err))
		rc = !cpl_objective_better(map->objective, &found->after,
		                           found->sums_after.hop_bytes,
		                           &metrics, sums.hop_bytes);
	cpl_workload_free(w);
	return rc;
}

/* This sets unit[rank]. It returns 0, or -1 with err. */
static int map_level(const struct plan_level *level, int *unit,
                     struct cpl_error *err)
{
	const struct cpl_mapper *mapper = cpl_mapper_find(level->mapper, err);
	struct cpl_map_request map = {
	        .net = level->net,
	        .routing = cpl_routing_find_quick(level->net, NULL, err),
	        .comm = level->comm,
	        .n_hosts = level->n,
	        .host = level->node,
	        .slots = level->slots,
	        .option = cpl_mapper_option(level->mapper),
	        .seed = 1,
	};
	struct cpl_map_result found = {0};
	int rc = -1, keep = 0;

	if (!mapper || !map.routing || cpl_map(mapper, &map, &found, err))
		goto out;
	if (level->now)
		keep = keeps(level, &map, &found, err);
	if (keep < 0)
		goto out;
	memcpy(unit, keep ? level->now : found.rank_host,
	       (size_t)level->comm->ranks * sizeof(*unit));
	rc = 0;
out:
	cpl_map_result_free(&found);
	return rc;
}

/* A plan is made with this; its arrays have n items for hosts and processes alike. */
struct plan {
	const struct reorder_request *req;
	int n_hosts;
	int *host_of; /* [n] of a process, in the order of first processes */
	int *first;   /* [n_hosts] such a process */
	int *slots, *node;
	int *rank_host; /* [n] */
	int *process, *rank, *unit, *now; /* of one host */
	struct cpl_arena arena;
};

static int by_name(const void *a, const void *b, void *arg)
{
	const struct reorder_location *place = arg;
	int x = *(const int *)a, y = *(const int *)b;
	int order = strcmp(place[x].host, place[y].host);

	return order ? order : (x > y) - (x < y);
}

static int by_cpu(const void *a, const void *b, void *arg)
{
	const struct reorder_location *place = arg;
	int x = *(const int *)a, y = *(const int *)b;

	if (place[x].package != place[y].package)
		return place[x].package < place[y].package ? -1 : 1;
	if (place[x].cpu != place[y].cpu)
		return place[x].cpu < place[y].cpu ? -1 : 1;
	return (x > y) - (x < y);
}

/* Hosts are in the order of their first processes. */
static void find_hosts(struct plan *p)
{
	const struct reorder_location *place = p->req->place;
	int n = p->req->n, *order = p->process, *lead = p->rank;

	for (int i = 0; i < n; i++)
		order[i] = i;
	qsort_r(order, (size_t)n, sizeof(*order), by_name, (void *)place);
	/* The first of each name leads it. */
	for (int i = 0; i < n; i++)
		lead[order[i]] = i && !strcmp(place[order[i]].host,
		                              place[order[i - 1]].host)
		                         ? lead[order[i - 1]]
		                         : order[i];
	for (int i = 0; i < n; i++) {
		if (lead[i] == i) {
			p->first[p->n_hosts] = i;
			p->host_of[i] = p->n_hosts++;
		} else {
			p->host_of[i] = p->host_of[lead[i]];
		}
		p->slots[p->host_of[i]]++;
	}
}

static int map_hosts(struct plan *p, struct cpl_error *err)
{
	const struct reorder_request *req = p->req;
	struct cpl_network *net = req->network
	                                  ? cpl_network_load(req->network, err)
	                                  : star(p->n_hosts, err);
	struct plan_level level = {net,        p->node,   p->slots,
	                           p->n_hosts, req->comm, req->mapper,
	                           p->host_of};
	int rc = net ? 0 : -1;

	for (int h = 0; h < p->n_hosts && !rc; h++) {
		const char *name = req->place[p->first[h]].host;

		p->node[h] = req->network ? cpl_network_node(net, name) : h;
		if (p->node[h] < 0)
			rc = cpl_fail(err, "%s: no node %s", req->network, name);
	}
	if (!rc)
		rc = map_level(&level, p->rank_host, err);
	cpl_network_free(net);
	return rc;
}

/* This finds the units of a host's n sorted processes, and the slots of each. It
 * returns how many there are. */
static int find_packages(const struct plan *p, int n, int *slots)
{
	const struct reorder_location *place = p->req->place;
	int units = 0;

	for (int i = 0; i < n; i++) {
		int package = place[p->process[i]].package;

		if (package < 0)
			return 1;
		if (!i || package != place[p->process[i - 1]].package)
			slots[units++] = 0;
		slots[units - 1]++;
	}
	return units;
}

/* This maps the ranks of a host to its packages, and sorts p->rank by package. It
 * returns how many there are, 1 if they are not known, or -1 with err. */
static int map_packages(struct plan *p, int n, bool same, struct cpl_error *err)
{
	struct cpl_arena arena = {0};
	int *slots = cpl_arena_take(&arena, n, sizeof(*slots));
	int *node = cpl_arena_take(&arena, n, sizeof(*node));
	int *rank = cpl_arena_take(&arena, n, sizeof(*rank));
	struct cpl_network *net = NULL;
	struct cpl_comm *comm = NULL;
	int units, rc = 0, at = 0;

	if (arena.failed)
		return cpl_arena_end(&arena, -1, err);
	units = find_packages(p, n, slots);
	if (units < 2)
		return cpl_arena_end(&arena, 1, err);
	for (int u = 0, i = 0; u < units; u++) {
		node[u] = u;
		for (int end = i + slots[u]; i < end; i++)
			for (int r = 0; same && r < n; r++)
				if (p->rank[r] == p->process[i])
					p->now[r] = u;
	}
	net = star(units, err);
	comm = cpl_comm_subset(p->req->comm, p->rank, n, err);
	struct plan_level level = {net,
	                           node,
	                           slots,
	                           units,
	                           comm,
	                           p->req->mapper,
	                           same ? p->now : NULL};

	rc = net && comm ? map_level(&level, p->unit, err) : -1;
	memcpy(rank, p->rank, (size_t)n * sizeof(*rank));
	for (int u = 0; u < units && !rc; u++)
		for (int r = 0; r < n; r++)
			if (p->unit[r] == u)
				p->rank[at++] = rank[r];
	cpl_comm_free(comm);
	cpl_network_free(net);
	return cpl_arena_end(&arena, rc ? -1 : units, err);
}

/* This pairs the processes and ranks of a host by package. */
static int fill_host(struct plan *p, int host, int *rank_of,
                     struct cpl_error *err)
{
	const struct reorder_location *place = p->req->place;
	int n = 0, k = 0, units;
	bool same = true;

	for (int i = 0; i < p->req->n; i++) {
		if (p->host_of[i] == host)
			p->process[n++] = i;
		if (p->rank_host[i] == host)
			p->rank[k++] = i;
	}
	for (int i = 0; i < n; i++)
		same = same && p->process[i] == p->rank[i];
	qsort_r(p->process, (size_t)n, sizeof(int), by_cpu, (void *)place);
	units = map_packages(p, n, same, err);
	if (units < 0)
		return -1;
	for (int i = 0, end; i < n; i = end) {
		int package = place[p->process[i]].package;

		for (end = i + 1;
		     end < n && (units == 1 ||
		                 place[p->process[end]].package == package);
		     end++)
			;
		/* Where a package keeps its ranks, each keeps its process. */
		for (int j = i; j < end; j++)
			p->unit[j] = p->process[j];
		qsort(p->unit + i, (size_t)(end - i), sizeof(int), cpl_by_int);
		same = !memcmp(p->unit + i, p->rank + i,
		               (size_t)(end - i) * sizeof(int));
		for (int j = i; j < end; j++)
			rank_of[same ? p->rank[j] : p->process[j]] = p->rank[j];
	}
	return 0;
}

int reorder_plan(const struct reorder_request *req, int *rank_of,
                 struct cpl_error *err)
{
	struct plan p = {.req = req};
	int **array[] = {&p.host_of, &p.first,   &p.slots, &p.node,
	                 &p.rank_host, &p.process, &p.rank,  &p.unit,
	                 &p.now};
	int rc = 0;

	for (size_t i = 0; i < sizeof(array) / sizeof(*array); i++)
		*array[i] = cpl_arena_take(&p.arena, req->n, sizeof(int));
	if (p.arena.failed)
		return cpl_arena_end(&p.arena, -1, err);
	find_hosts(&p);
	if (p.n_hosts > 1)
		rc = map_hosts(&p, err);
	for (int h = 0; h < p.n_hosts && !rc; h++)
		rc = fill_host(&p, h, rank_of, err);
	return cpl_arena_end(&p.arena, rc, err);
}
