/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Dragonflies with one link per pair of groups. What a router sends to another
 * group takes one path to its gateway, so (router, group) sums are enough for
 * the near side; on the far side it takes one path from the gateway there, so
 * (group, node) sums are enough. Groups are taken in batches: first each sends
 * into a buffer of its own, then each takes its share out of all buffers, in
 * order. Between routers of a group bytes are kept in a matrix and spread over
 * links once, in the end.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "routing/legs.h"
#include "routing/dragonfly_paths.h"
#include "traffic/stream_internal.h"

#define BATCH 32
/* No direct path is longer. */
#define MAX_HOPS 5
/* What cancels to less than this part of its terms is 0. */
#define CANCELLED 1e-11

/* What one group of a batch sends. */
struct sender {
	double *in;           /* [n_nodes] bytes for each node */
	unsigned char *heard; /* [groups] that got any */
};

/* Of the messages of one group. */
struct tally {
	struct cpl_job_sums sums;
	double max_indirect;         /* as in struct pass */
	int64_t pairs[MAX_HOPS + 1]; /* of ranks, by hops */
};

struct worker {
	struct cpl_comm_entry *entry;
	double *row;   /* [groups] from the router at work */
	double *group; /* [groups] from its group */
	double *legs;  /* scratch of cpl_one_link_legs */
	/* Where pairs are counted, [groups]: the gateway to a group, and its
	 * gateway to the group at work, as routers of their groups. */
	int *out, *in;
};

struct pass {
	struct stream s;
	const struct cpl_dragonfly *df;
	int size, nodes;    /* routers, nodes of a group */
	uint64_t per_group; /* 2^STREAM_SHIFT / nodes, rounded up */
	bool indirect;
	int first, n_senders;    /* the batch at work */
	double *link;            /* [n_links] direct */
	double *local;           /* [n_routers][size] bytes between a group's */
	double *sent, *received; /* [n_routers] to, from others */
	double *sent_by, *received_by; /* [groups] */
	double *injection, *ejection;  /* [n_nodes] */
	double *hops;                  /* [n_routers] of cpl_one_link_hops */
	double most_hops;              /* of them */
	double *plus;                  /* [n_links] indirect legs */
	/* Largest so far: direct hops, and for the indirect ones hops[from] +
	 * hops[to] - 2 * direct hops. */
	int max_direct;
	double max_indirect;
	struct sender sender[BATCH];
	struct tally *tally; /* [groups] */
	/* Where pairs are counted: hops between routers of a group, [size]
	 * [size], and the router of each of its nodes; else NULL. */
	unsigned char *between;
	int *router_of; /* [nodes] */
	int n_workers;
	struct worker *worker;
};

bool cpl_stream_by_groups(const struct cpl_network *net)
{
	return cpl_dragonfly_of(net)->global_per_pair == 1 &&
	       cpl_dragonfly_nodes(net) < 1 << 16 && net->n_nodes <= 1 << 24;
}

/* One host at work. */
struct host {
	const struct pass *w;
	struct worker *worker;
	struct sender *sender;
	struct tally *tally;
	int host, router, group;
	bool look; /* a longer path may be among its messages */
	double stays, leaves, near; /* near: to routers of its group */
};

static void look(struct host *host, int to)
{
	const struct pass *w = host->w;
	const struct cpl_dragonfly *df = w->df;
	int there = w->s.host_router[to], group = there / w->size, hops;
	double sum;

	if (there == host->router)
		return;
	if (group == host->group) {
		hops = cpl_local_hops(df, host->router, there);
	} else {
		int64_t out =
		        cpl_dragonfly_global(w->s.net, host->group, group, 0);
		int64_t in =
		        cpl_dragonfly_global(w->s.net, group, host->group, 0);

		hops = cpl_local_hops(df, host->router, df->gateway[out]) + 1 +
		       cpl_local_hops(df, df->gateway[in], there);
	}
	if (hops > host->tally->sums.max_dilation)
		host->tally->sums.max_dilation = hops;
	if (!w->indirect)
		return;
	sum = w->hops[host->router] + w->hops[there] - 2.0 * hops;
	if (sum > host->tally->max_indirect)
		host->tally->max_indirect = sum;
}

static inline void soon(void *arg, int to)
{
	const struct host *host = arg;

	__builtin_prefetch(&host->sender->in[host->w->s.job->node[to]], 1);
}

static inline void count(const struct host *host, int node, int group, int n)
{
	const struct pass *w = host->w;
	const struct worker *worker = host->worker;
	int here = host->router - host->group * w->size, hops;
	int there = w->router_of[node - group * w->nodes];

	if (group == host->group)
		hops = w->between[here * w->size + there];
	else
		hops = w->between[here * w->size + worker->out[group]] + 1 +
		       w->between[worker->in[group] * w->size + there];
	host->tally->pairs[hops] += n;
}

static inline void piece(void *arg, int to, double bytes, int n)
{
	struct host *host = arg;
	const struct pass *w = host->w;
	int node, group;

	if (to == host->host) {
		host->stays += bytes;
		host->tally->pairs[0] += n;
		return;
	}
	node = w->s.job->node[to];
	group = (int)(((uint64_t)node * w->per_group) >> STREAM_SHIFT);
	host->leaves += bytes;
	host->sender->in[node] += bytes;
	host->sender->heard[group] = 1;
	if (group != host->group) {
		host->worker->row[group] += bytes;
	} else {
		int there = w->s.host_router[to];

		if (there != host->router) {
			host->near += bytes;
			w->received[there] += bytes;
			w->local[(int64_t)host->router * w->size +
			         there % w->size] += bytes;
		}
	}
	if (w->between)
		count(host, node, group, n);
	if (host->look)
		look(host, to);
}

static bool may_find_more(const struct pass *w, const struct tally *tally,
                          int router)
{
	return tally->sums.max_dilation < MAX_HOPS ||
	       (w->indirect &&
	        w->hops[router] + w->most_hops - 2 > tally->max_indirect);
}

/* The near side of what a router sent to other groups. */
static double leave(struct pass *w, struct worker *worker, int group,
                    int router)
{
	const struct cpl_dragonfly *df = w->df;
	double *local = w->local + (int64_t)router * w->size;
	double sent = 0;

	for (int other = 0; other < df->groups; other++) {
		double bytes = worker->row[other];
		int gateway;

		if (!(bytes > 0))
			continue;
		worker->row[other] = 0;
		gateway = df->gateway[cpl_dragonfly_global(w->s.net, group,
		                                           other, 0)];
		sent += bytes;
		worker->group[other] += bytes;
		local[gateway % w->size] += bytes;
	}
	return sent;
}

static void send_router(struct pass *w, struct worker *worker,
                        struct sender *sender, int group, int router)
{
	struct tally *tally = &w->tally[group];
	struct cpl_nodes nodes = cpl_network_nodes(w->s.net, router);
	bool used = false;

	for (int i = 0; i < nodes.n; i++) {
		int node = nodes.node[i];
		struct host host = {.w = w,
		                    .worker = worker,
		                    .sender = sender,
		                    .tally = tally,
		                    .host = w->s.host_of[node],
		                    .router = router,
		                    .group = group,
		                    .look = may_find_more(w, tally, router)};

		if (host.host < 0)
			continue;
		used = true;
		stream_host(&w->s, host.host, worker->entry, soon, piece,
		            &host);
		w->injection[node] = host.leaves;
		w->sent[router] += host.near;
		tally->sums.bytes += host.stays + host.leaves;
		tally->sums.bytes_in_node += host.stays;
		tally->sums.bytes_on_network += host.leaves;
	}
	if (used)
		w->sent[router] += leave(w, worker, group, router);
}

static void find_gateways(const struct pass *w, struct worker *worker,
                          int group)
{
	const struct cpl_network *net = w->s.net;
	const struct cpl_dragonfly *df = w->df;

	for (int other = 0; other < df->groups && w->between; other++) {
		if (other == group)
			continue;
		worker->out[other] = df->gateway[cpl_dragonfly_global(
		                             net, group, other, 0)] %
		                     w->size;
		worker->in[other] = df->gateway[cpl_dragonfly_global(
		                            net, other, group, 0)] %
		                    w->size;
	}
}

static void send(void *arg, int64_t index, int thread)
{
	struct pass *w = arg;
	struct worker *worker = &w->worker[thread];
	int group = w->first + (int)index;
	struct tally *tally = &w->tally[group];
	double *link =
	        w->link + w->s.net->link_class[CPL_DRAGONFLY_GLOBAL].first;

	tally->sums.max_dilation = w->max_direct;
	tally->max_indirect = w->max_indirect;
	find_gateways(w, worker, group);
	for (int i = 0; i < w->size; i++)
		send_router(w, worker, &w->sender[index], group,
		            group * w->size + i);
	for (int other = 0; other < w->df->groups; other++) {
		if (!(worker->group[other] > 0))
			continue;
		link[cpl_dragonfly_global(w->s.net, group, other, 0)] +=
		        worker->group[other];
		worker->group[other] = 0;
	}
}

/* Take the group's share out of one buffer. */
static void take(struct pass *w, int group, int from, double *in)
{
	int ports = w->nodes / w->size, first = group * w->size;
	double *to_gateway = NULL,
	       *ejection = w->ejection + (int64_t)first * ports;

	if (from != group) {
		int64_t gateway = w->df->gateway[cpl_dragonfly_global(
		        w->s.net, group, from, 0)];

		to_gateway = w->local + gateway * w->size;
	}
	for (int i = 0; i < w->size; i++) {
		double sum = 0;

		for (int port = 0; port < ports; port++) {
			sum += *in;
			*ejection++ += *in;
			*in++ = 0;
		}
		if (!to_gateway)
			continue;
		to_gateway[i] += sum;
		w->received[first + i] += sum;
	}
}

static void receive(void *arg, int64_t index, int thread)
{
	struct pass *w = arg;
	int group = (int)index;

	for (int i = 0; i < w->n_senders; i++) {
		struct sender *sender = &w->sender[i];

		if (!sender->heard[group])
			continue;
		sender->heard[group] = 0;
		take(w, group, w->first + i,
		     sender->in + (int64_t)group * w->nodes);
	}
}

static void spread(void *arg, int64_t index, int thread)
{
	struct pass *w = arg;

	cpl_local_spread(w->s.net, (int)index,
	                 w->local + index * w->size * w->size, w->link);
}

static void run(struct pass *w)
{
	int groups = w->df->groups;

	for (w->first = 0; w->first < groups; w->first += BATCH) {
		w->n_senders =
		        groups - w->first < BATCH ? groups - w->first : BATCH;
		cpl_parallel(w->n_workers, w->n_senders, send, w);
		cpl_parallel(w->n_workers, groups, receive, w);
		for (int i = 0; i < w->n_senders; i++) {
			const struct tally *tally = &w->tally[w->first + i];

			w->max_direct = (int)fmax(w->max_direct,
			                          tally->sums.max_dilation);
			w->max_indirect =
			        fmax(w->max_indirect, tally->max_indirect);
		}
	}
	cpl_parallel(w->n_workers, groups, spread, w);
}

/* Links that start in the group are three runs of ids. */
static void group_links(const struct pass *w, int group, int64_t first[3],
                        int64_t count[3])
{
	const struct cpl_dragonfly *df = w->df;

	count[0] = (int64_t)w->size * (df->columns - 1);
	count[1] = (int64_t)w->size * (df->rows - 1);
	count[2] = df->groups - 1;
	for (int class = 0; class < 3; class ++)
		first[class] = w->s.net->link_class[class].first +
		               group * count[class];
}

/* Bytes of a link under static-indirect. */
static double indirect(const struct pass *w, int64_t link)
{
	double others = w->s.net->n_routers - 2.0;
	double bytes = w->plus[link] - 2 * w->link[link];

	if (!(others > 0))
		return w->link[link];
	return bytes < CANCELLED * w->plus[link] ? 0 : bytes / others;
}

/* From here on plus holds what static-indirect puts on the links. */
static void legs(void *arg, int64_t index, int thread)
{
	struct pass *w = arg;
	int64_t first[3], count[3];

	if (w->s.net->n_routers > 2)
		cpl_one_link_legs(w->s.net, (int)index, w->sent, w->received,
		                  w->sent_by, w->received_by,
		                  w->worker[thread].legs, w->plus);
	group_links(w, (int)index, first, count);
	for (int class = 0; class < 3; class ++)
		for (int64_t i = 0; i < count[class]; i++)
			w->plus[first[class] + i] =
			        indirect(w, first[class] + i);
}

static void run_indirect(struct pass *w)
{
	for (int group = 0; group < w->df->groups; group++)
		for (int i = 0; i < w->size; i++) {
			int router = group * w->size + i;

			w->sent_by[group] += w->sent[router];
			w->received_by[group] += w->received[router];
		}
	cpl_parallel(w->n_workers, w->df->groups, legs, w);
}

static void add_result(const struct pass *w, bool by_indirect,
                       struct cpl_load *load, struct cpl_job_sums *sums)
{
	const struct cpl_network *net = w->s.net;
	const double *link = by_indirect ? w->plus : w->link;

	for (int64_t i = 0; i < net->n_links; i++) {
		load->link[i] += link[i];
		sums->hop_bytes += link[i];
	}
	for (int node = 0; node < net->n_nodes; node++) {
		load->injection[node] += w->injection[node];
		load->ejection[node] += w->ejection[node];
	}
	for (int group = 0; group < w->df->groups; group++) {
		const struct cpl_job_sums *tally = &w->tally[group].sums;

		sums->bytes += tally->bytes;
		sums->bytes_in_node += tally->bytes_in_node;
		sums->bytes_on_network += tally->bytes_on_network;
	}
	sums->max_dilation = w->max_direct;
	if (by_indirect && w->max_direct && net->n_routers > 2)
		sums->max_dilation = w->max_indirect / (net->n_routers - 2.0);
}

static void add_counts(const struct pass *w, struct cpl_hop_count *count)
{
	for (int group = 0; group < w->df->groups; group++)
		for (int hops = 0; hops <= MAX_HOPS; hops++)
			count->pairs[hops] += w->tally[group].pairs[hops];
	count->made = true;
}

static double *numbers(struct pass *w, int64_t n)
{
	return cpl_arena_take(&w->s.arena, n, sizeof(double));
}

static void open_arrays(struct pass *w)
{
	const struct cpl_network *net = w->s.net;
	int groups = w->df->groups;

	w->link = numbers(w, net->n_links);
	w->local = numbers(w, (int64_t)net->n_routers * w->size);
	w->sent = numbers(w, net->n_routers);
	w->received = numbers(w, net->n_routers);
	w->sent_by = numbers(w, groups);
	w->received_by = numbers(w, groups);
	w->injection = numbers(w, net->n_nodes);
	w->ejection = numbers(w, net->n_nodes);
	w->tally = cpl_arena_take(&w->s.arena, groups, sizeof(*w->tally));
	for (int i = 0; i < BATCH && i < groups; i++) {
		w->sender[i].in = numbers(w, net->n_nodes);
		w->sender[i].heard = cpl_arena_take(&w->s.arena, groups, 1);
	}
	if (!w->indirect)
		return;
	w->plus = numbers(w, net->n_links);
	w->hops = numbers(w, net->n_routers);
	if (w->s.arena.failed)
		return;
	cpl_one_link_hops(net, w->sent, w->hops);
	memset(w->sent, 0, (size_t)w->size * sizeof(*w->sent));
	for (int router = 0; router < net->n_routers; router++)
		w->most_hops = fmax(w->most_hops, w->hops[router]);
}

/* Rows that have a pair of ranks once can be counted on the way. */
static void open_count(struct pass *w)
{
	int ports = w->nodes / w->size;

	if (!w->s.job->hops || !cpl_rows_distinct(w->s.job->rows))
		return;
	w->between = cpl_arena_take(&w->s.arena, (int64_t)w->size * w->size, 1);
	w->router_of =
	        cpl_arena_take(&w->s.arena, w->nodes, sizeof(*w->router_of));
	if (w->s.arena.failed)
		return;
	for (int i = 0; i < w->size; i++)
		for (int k = 0; k < w->size; k++)
			w->between[i * w->size + k] =
			        (unsigned char)cpl_local_hops(w->df, i, k);
	for (int i = 0; i < w->nodes; i++)
		w->router_of[i] = i / ports;
}

static void open_workers(struct pass *w)
{
	struct cpl_arena *arena = &w->s.arena;
	int groups = w->df->groups;

	w->worker = cpl_arena_take(arena, w->n_workers, sizeof(*w->worker));
	for (int i = 0; i < w->n_workers && w->worker; i++) {
		struct worker *worker = &w->worker[i];

		worker->entry =
		        cpl_arena_take_raw(arena, w->s.job->rows->max_entries,
		                           sizeof(*worker->entry));
		worker->row = numbers(w, groups);
		worker->group = numbers(w, groups);
		worker->legs =
		        numbers(w, (int64_t)cpl_one_link_scratch(w->s.net));
		worker->out =
		        cpl_arena_take(arena, groups, sizeof(*worker->out));
		worker->in = cpl_arena_take(arena, groups, sizeof(*worker->in));
	}
}

int cpl_stream_groups(const struct cpl_network *net,
                      const struct cpl_stream *job,
                      const struct stream_sinks *sinks, struct cpl_error *err)
{
	struct pass w = {.df = cpl_dragonfly_of(net),
	                 .size = cpl_dragonfly_of(net)->routers_per_group,
	                 .n_workers = job->threads};

	w.nodes = cpl_dragonfly_nodes(net);
	w.per_group =
	        ((UINT64_C(1) << STREAM_SHIFT) - 1) / (uint64_t)w.nodes + 1;
	if (w.n_workers < 1)
		w.n_workers = 1;
	if (w.n_workers > CPL_PARALLEL_MAX)
		w.n_workers = CPL_PARALLEL_MAX;
	for (int i = 0; i < sinks->n; i++)
		w.indirect = w.indirect || !sinks->routing[i]->add;
	if (cpl_stream_open(&w.s, net, job, err))
		return -1;
	open_arrays(&w);
	open_count(&w);
	open_workers(&w);
	if (w.s.arena.failed)
		goto out;
	run(&w);
	if (w.indirect)
		run_indirect(&w);
	for (int i = 0; i < sinks->n; i++)
		add_result(&w, !sinks->routing[i]->add, sinks->load[i],
		           &sinks->sums[i]);
	if (w.between)
		add_counts(&w, job->hops);
out:
	return cpl_arena_end(&w.s.arena, 0, err);
}
