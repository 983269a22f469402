/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The memory in which jobs are placed, and links that packets adapt to. */
#include "traffic/times_internal.h"

#include <math.h>
#include <stdlib.h>

#include "traffic/workload.h"

struct cpl_times_space *cpl_times_space_new(const struct cpl_network *net,
                                            const struct cpl_routing *routing,
                                            struct cpl_error *err)
{
	struct cpl_times_space *space = calloc(1, sizeof(*space));
	struct cpl_arena *arena;
	int n_nodes = net->n_nodes;

	if (!space) {
		cpl_fail_memory(err);
		return NULL;
	}
	if (net->by_port)
		space->ported = net;
	space->net = net = cpl_network_judged(net);
	space->timed = cpl_network_has_bandwidths(net);
	arena = &space->arena;
	space->seen = cpl_arena_take(arena, n_nodes, sizeof(*space->seen));
	space->at =
	        cpl_arena_take(arena, cpl_times_links(net), sizeof(*space->at));
	space->bytes =
	        cpl_arena_take(arena, net->n_stations, sizeof(*space->bytes));
	space->messages =
	        cpl_arena_take(arena, net->n_stations, sizeof(*space->messages));
	space->packet =
	        cpl_arena_take(arena, net->n_stations, sizeof(*space->packet));
	space->ports =
	        cpl_arena_take(arena, net->n_stations, sizeof(*space->ports));
	space->most = cpl_arena_take(arena, net->n_stations, sizeof(*space->most));
	space->slow = cpl_arena_take(arena, net->n_stations, sizeof(*space->slow));
	space->touched =
	        cpl_arena_take(arena, net->n_stations, sizeof(*space->touched));
	space->head =
	        cpl_arena_take(arena, net->n_stations, sizeof(*space->head));
	if (arena->failed) {
		cpl_fail_memory(err);
		cpl_arena_free(arena);
		free(space);
		return NULL;
	}
	if (cpl_route_finder_init(&space->finder, net,
	                          cpl_routing_by_flow(net, routing), err)) {
		cpl_arena_free(arena);
		free(space);
		return NULL;
	}
	return space;
}

struct cpl_times_space *
cpl_times_space_adaptive(const struct cpl_network *net,
                         const struct cpl_routing *routing,
                         struct cpl_error *err)
{
	struct cpl_times_space *space = cpl_times_space_new(net, routing, err);

	if (!space || routing->add)
		return space;
	space->routing = routing;
	space->workload = cpl_workload_new(space->net, 1, err);
	if (!space->workload) {
		cpl_times_space_free(space);
		return NULL;
	}
	return space;
}

void cpl_times_space_free(struct cpl_times_space *space)
{
	if (!space)
		return;
	cpl_workload_free(space->workload);
	cpl_load_free(&space->meanwhile);
	cpl_route_finder_free(&space->finder);
	cpl_arena_free(&space->arena);
	free(space->next);
	free(space);
}

int64_t times_use_link(struct times_placing *p, int64_t link)
{
	struct times_phase *phase = p->phase;
	int *at = &p->space->at[link];
	double bandwidth;

	if (*at)
		return *at - 1;
	if (times_room(&phase->link, &phase->max_links, phase->n_links + 1,
	               sizeof(*phase->link), p->err))
		return -1;
	bandwidth = cpl_times_bandwidth(p->space->net, link);
	phase->link[phase->n_links++] =
	        (struct times_link){.link = (int)link,
	                            .bandwidth = bandwidth,
	                            .packet = CPL_TIMES_PACKET / bandwidth};
	*at = (int)phase->n_links;
	return *at - 1;
}

/* What is on the network's links (NULL: nothing) and the bytes that the space's
 * routing puts there, or NULL with err. */
static const double *solve(struct times_placing *p, const struct cpl_load *start)
{
	const struct times_phase *phase = p->phase;
	struct cpl_workload *w = p->space->workload;
	int64_t n = phase->first[p->times->n_ends];
	struct cpl_arena arena = {0};
	struct cpl_comm comm = {.ranks = p->times->n_ends,
	                        .n_entries = n,
	                        .row = phase->first};
	const struct cpl_job job = {.routing = p->space->routing,
	                            .comm = &comm,
	                            .node = p->node,
	                            .of_hosts = true};
	int rc = -1;

	comm.to = cpl_arena_take_raw(&arena, n, sizeof(*comm.to));
	comm.bytes = cpl_arena_take_raw(&arena, n, sizeof(*comm.bytes));
	comm.messages = cpl_arena_take_raw(&arena, n, sizeof(*comm.messages));
	for (int64_t i = 0; !arena.failed && i < n; i++) {
		const struct times_pair pair = times_pair_at(phase, i);

		comm.to[i] = pair.to;
		comm.bytes[i] = pair.bytes;
		comm.messages[i] = pair.messages;
	}
	if (!arena.failed) {
		cpl_workload_clear(w, start);
		if (cpl_workload_add(w, &job, p->err) >= 0)
			rc = cpl_workload_solve(w, p->err);
	}
	return cpl_arena_end(&arena, rc, p->err) ? NULL
	                                         : cpl_workload_load(w)->link;
}

void times_stretch_latency(struct times_phase *phase, double factor)
{
	phase->latency *= factor;
	for (int64_t i = 0; phase->chained && i < phase->n_flows; i++)
		phase->flow[i].late *= factor;
}

/* In place of the links of paths by flow, those that packets adapt to, with that on
 * the links. Alone the longest way is longer as the mean one is; that packets beside
 * others go round less would make it shorter than that, which simulated ones do not
 * show. */
static int adapt_with(struct times_placing *p, const struct cpl_load *start)
{
	struct times_phase *phase = p->phase;
	int n_links = p->space->net->n_links;
	const double *link = solve(p, start);
	double before = 0, after = 0;

	if (!link)
		return -1;
	for (int64_t i = 0; i < phase->n_links; i++)
		if (phase->link[i].link < n_links) {
			before += phase->link[i].bytes;
			phase->link[i].bytes = 0;
		}
	for (int l = 0; l < n_links; l++) {
		double own = link[l] - (start ? start->link[l] : 0);
		int64_t at = own > 0 ? times_use_link(p, l) : 0;

		if (at < 0)
			return -1;
		if (own > 0)
			phase->link[at].bytes = own;
		after += own > 0 ? own : 0;
	}
	if (before > 0 && !start)
		times_stretch_latency(phase, after / before);
	return 0;
}

int times_adapt(struct times_placing *p)
{
	return adapt_with(p, NULL);
}

int times_adapt_to_others(struct times_placing *p)
{
	struct cpl_load *meanwhile = &p->space->meanwhile;
	const struct times_phase *phase = p->phase;
	double seconds = 0;

	if (!meanwhile->link &&
	    cpl_load_init(meanwhile, p->space->net, p->err))
		return -1;
	for (int64_t i = 0; i < phase->n_links; i++)
		seconds = fmax(seconds, phase->link[i].bytes /
		                                phase->link[i].bandwidth);
	for (int l = 0; l < p->space->net->n_links; l++)
		meanwhile->link[l] = fmax(p->others->link[l], 0) * seconds;
	return adapt_with(p, meanwhile);
}
