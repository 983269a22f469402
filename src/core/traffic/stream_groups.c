/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Dragonflies with one link per pair of groups. What a router sends to another
 * group takes one way to its gateway, so (router, group) sums are enough for
 * the near side; on the far side it takes one way from the gateway there, so
 * (group, node) sums are enough. Groups are taken in batches: first each sends
 * into a buffer of its own, then each takes its part out of all buffers, in
 * order. Between routers of a group bytes are kept in a matrix and spread over
 * links once, in the end.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "routing/one_link.h"
#include "routing/routing_internal.h"
#include "traffic/stream_internal.h"

#define BATCH 32
/* No direct way is longer. */
#define MAX_HOPS 5
/* What cancels to less than this part of its terms is 0. */
#define CANCELLED 1e-11

/* What one group of a batch sends. */
struct slot {
	double *in;           /* [n_nodes] bytes for each node */
	unsigned char *heard; /* [groups] that got any */
};

/* Of the messages of one group. */
struct part {
	struct cpl_job_sums sums;
	double max_indirect; /* as in struct walk */
	double hop_bytes[2];
};

struct lane {
	struct cpl_comm_entry *entry;
	double *row;   /* [groups] from the router at work */
	double *group; /* [groups] from its group */
	double *legs;  /* scratch of cpl_one_link_legs */
};

struct walk {
	struct stream s;
	const struct cpl_dragonfly *df;
	int size, nodes;    /* routers, nodes of a group */
	uint64_t per_group; /* 2^STREAM_SHIFT / nodes, rounded up */
	bool indirect;
	int first, n_slots;      /* the batch at work */
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
	struct slot slot[BATCH];
	struct part *part; /* [groups] */
	int n_lanes;
	struct lane *lane;
};

bool cpl_stream_by_groups(const struct cpl_network *net,
                          const struct cpl_routing *routing)
{
	int64_t nodes;

	if (net->type != CPL_NETWORK_DRAGONFLY ||
	    net->dragonfly.global_per_pair != 1 ||
	    (routing != &cpl_routing_static_direct &&
	     routing != &cpl_routing_static_indirect))
		return false;
	nodes = (int64_t)net->dragonfly.routers_per_group *
	        net->nodes_per_router;
	return nodes < 1 << 16 && net->n_nodes <= 1 << 24;
}

/* One seat at work. */
struct seat {
	const struct walk *w;
	struct lane *lane;
	struct slot *slot;
	struct part *part;
	int seat, router, group;
	bool look;                  /* a longer way may be among its messages */
	double stays, leaves, near; /* near: to routers of its group */
};

static void look(struct seat *seat, int to)
{
	const struct walk *w = seat->w;
	const struct cpl_dragonfly *df = w->df;
	int there = w->s.seat_router[to], group = there / w->size, hops;
	double sum;

	if (there == seat->router)
		return;
	if (group == seat->group) {
		hops = cpl_local_hops(df, seat->router, there);
	} else {
		int64_t out =
		        cpl_dragonfly_global(w->s.net, seat->group, group, 0);
		int64_t in =
		        cpl_dragonfly_global(w->s.net, group, seat->group, 0);

		hops = cpl_local_hops(df, seat->router, df->gateway[out]) + 1 +
		       cpl_local_hops(df, df->gateway[in], there);
	}
	if (hops > seat->part->sums.max_dilation)
		seat->part->sums.max_dilation = hops;
	if (!w->indirect)
		return;
	sum = w->hops[seat->router] + w->hops[there] - 2.0 * hops;
	if (sum > seat->part->max_indirect)
		seat->part->max_indirect = sum;
}

static inline void soon(void *arg, int to)
{
	const struct seat *seat = arg;

	__builtin_prefetch(&seat->slot->in[seat->w->s.job->node[to]], 1);
}

static inline void piece(void *arg, int to, double bytes)
{
	struct seat *seat = arg;
	const struct walk *w = seat->w;
	int node, group;

	if (to == seat->seat) {
		seat->stays += bytes;
		return;
	}
	node = w->s.job->node[to];
	group = (int)(((uint64_t)node * w->per_group) >> STREAM_SHIFT);
	seat->leaves += bytes;
	seat->slot->in[node] += bytes;
	seat->slot->heard[group] = 1;
	if (group != seat->group) {
		seat->lane->row[group] += bytes;
	} else {
		int there = w->s.seat_router[to];

		if (there != seat->router) {
			seat->near += bytes;
			w->received[there] += bytes;
			w->local[(int64_t)seat->router * w->size +
			         there % w->size] += bytes;
		}
	}
	if (seat->look)
		look(seat, to);
}

static bool may_find_more(const struct walk *w, const struct part *part,
                          int router)
{
	return part->sums.max_dilation < MAX_HOPS ||
	       (w->indirect &&
	        w->hops[router] + w->most_hops - 2 > part->max_indirect);
}

/* The near side of what a router sent to other groups. */
static double leave(struct walk *w, struct lane *lane, int group, int router)
{
	const struct cpl_dragonfly *df = w->df;
	double *local = w->local + (int64_t)router * w->size;
	double sent = 0;

	for (int other = 0; other < df->groups; other++) {
		double bytes = lane->row[other];
		int gate;

		if (!(bytes > 0))
			continue;
		lane->row[other] = 0;
		gate = df->gateway[cpl_dragonfly_global(w->s.net, group, other,
		                                        0)];
		sent += bytes;
		lane->group[other] += bytes;
		local[gate % w->size] += bytes;
	}
	return sent;
}

static void send_router(struct walk *w, struct lane *lane, struct slot *slot,
                        int group, int router)
{
	struct part *part = &w->part[group];
	int ports = w->s.net->nodes_per_router;
	bool used = false;

	for (int node = router * ports; node < (router + 1) * ports; node++) {
		struct seat seat = {.w = w,
		                    .lane = lane,
		                    .slot = slot,
		                    .part = part,
		                    .seat = w->s.seat_of[node],
		                    .router = router,
		                    .group = group,
		                    .look = may_find_more(w, part, router)};

		if (seat.seat < 0)
			continue;
		used = true;
		stream_seat(&w->s, seat.seat, lane->entry, soon, piece, &seat);
		w->injection[node] = seat.leaves;
		w->sent[router] += seat.near;
		part->sums.bytes += seat.stays + seat.leaves;
		part->sums.bytes_in_node += seat.stays;
		part->sums.bytes_on_network += seat.leaves;
	}
	if (used)
		w->sent[router] += leave(w, lane, group, router);
}

static void send(void *arg, int64_t index, int thread)
{
	struct walk *w = arg;
	struct lane *lane = &w->lane[thread];
	int group = w->first + (int)index;
	struct part *part = &w->part[group];
	double *link =
	        w->link + w->s.net->link_class[CPL_DRAGONFLY_GLOBAL].first;

	part->sums.max_dilation = w->max_direct;
	part->max_indirect = w->max_indirect;
	for (int i = 0; i < w->size; i++)
		send_router(w, lane, &w->slot[index], group,
		            group * w->size + i);
	for (int other = 0; other < w->df->groups; other++) {
		if (!(lane->group[other] > 0))
			continue;
		link[cpl_dragonfly_global(w->s.net, group, other, 0)] +=
		        lane->group[other];
		lane->group[other] = 0;
	}
}

/* Take the group's part out of one buffer. */
static void take(struct walk *w, int group, int from, double *in)
{
	int ports = w->s.net->nodes_per_router, first = group * w->size;
	double *way = NULL, *ejection = w->ejection + (int64_t)first * ports;

	if (from != group) {
		int64_t gate = w->df->gateway[cpl_dragonfly_global(
		        w->s.net, group, from, 0)];

		way = w->local + gate * w->size;
	}
	for (int i = 0; i < w->size; i++) {
		double sum = 0;

		for (int port = 0; port < ports; port++) {
			sum += *in;
			*ejection++ += *in;
			*in++ = 0;
		}
		if (!way)
			continue;
		way[i] += sum;
		w->received[first + i] += sum;
	}
}

static void receive(void *arg, int64_t index, int thread)
{
	struct walk *w = arg;
	int group = (int)index;

	for (int i = 0; i < w->n_slots; i++) {
		struct slot *slot = &w->slot[i];

		if (!slot->heard[group])
			continue;
		slot->heard[group] = 0;
		take(w, group, w->first + i,
		     slot->in + (int64_t)group * w->nodes);
	}
}

static void spread(void *arg, int64_t index, int thread)
{
	struct walk *w = arg;

	cpl_local_spread(w->s.net, (int)index,
	                 w->local + index * w->size * w->size, w->link);
}

static void run(struct walk *w)
{
	int groups = w->df->groups;

	for (w->first = 0; w->first < groups; w->first += BATCH) {
		w->n_slots =
		        groups - w->first < BATCH ? groups - w->first : BATCH;
		cpl_parallel(w->n_lanes, w->n_slots, send, w);
		cpl_parallel(w->n_lanes, groups, receive, w);
		for (int i = 0; i < w->n_slots; i++) {
			const struct part *part = &w->part[w->first + i];

			w->max_direct = (int)fmax(w->max_direct,
			                          part->sums.max_dilation);
			w->max_indirect =
			        fmax(w->max_indirect, part->max_indirect);
		}
	}
	cpl_parallel(w->n_lanes, groups, spread, w);
}

/* Links that start in the group are three runs of ids. */
static void group_links(const struct walk *w, int group, int64_t first[3],
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
static double indirect(const struct walk *w, int64_t link)
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
	struct walk *w = arg;
	int64_t first[3], count[3];

	if (w->s.net->n_routers > 2)
		cpl_one_link_legs(w->s.net, (int)index, w->sent, w->received,
		                  w->sent_by, w->received_by,
		                  w->lane[thread].legs, w->plus);
	group_links(w, (int)index, first, count);
	for (int class = 0; class < 3; class ++)
		for (int64_t i = 0; i < count[class]; i++)
			w->plus[first[class] + i] =
			        indirect(w, first[class] + i);
}

static void run_indirect(struct walk *w)
{
	for (int group = 0; group < w->df->groups; group++)
		for (int i = 0; i < w->size; i++) {
			int router = group * w->size + i;

			w->sent_by[group] += w->sent[router];
			w->received_by[group] += w->received[router];
		}
	cpl_parallel(w->n_lanes, w->df->groups, legs, w);
}

static void add_result(const struct walk *w, bool by_indirect,
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
		const struct cpl_job_sums *part = &w->part[group].sums;

		sums->bytes += part->bytes;
		sums->bytes_in_node += part->bytes_in_node;
		sums->bytes_on_network += part->bytes_on_network;
	}
	sums->max_dilation = w->max_direct;
	if (by_indirect && w->max_direct && net->n_routers > 2)
		sums->max_dilation = w->max_indirect / (net->n_routers - 2.0);
}

static double *numbers(int64_t n)
{
	return calloc((size_t)n + 1, sizeof(double));
}

static int open_arrays(struct walk *w)
{
	const struct cpl_network *net = w->s.net;
	int groups = w->df->groups;

	w->link = numbers(net->n_links);
	w->local = numbers((int64_t)net->n_routers * w->size);
	w->sent = numbers(net->n_routers);
	w->received = numbers(net->n_routers);
	w->sent_by = numbers(groups);
	w->received_by = numbers(groups);
	w->injection = numbers(net->n_nodes);
	w->ejection = numbers(net->n_nodes);
	w->part = calloc((size_t)groups, sizeof(*w->part));
	if (!w->link || !w->local || !w->sent || !w->received || !w->sent_by ||
	    !w->received_by || !w->injection || !w->ejection || !w->part)
		return -1;
	for (int i = 0; i < BATCH && i < groups; i++) {
		w->slot[i].in = numbers(net->n_nodes);
		w->slot[i].heard = calloc((size_t)groups, 1);
		if (!w->slot[i].in || !w->slot[i].heard)
			return -1;
	}
	if (!w->indirect)
		return 0;
	w->plus = numbers(net->n_links);
	w->hops = numbers(net->n_routers);
	if (!w->plus || !w->hops)
		return -1;
	cpl_one_link_hops(net, w->sent, w->hops);
	memset(w->sent, 0, (size_t)w->size * sizeof(*w->sent));
	for (int router = 0; router < net->n_routers; router++)
		w->most_hops = fmax(w->most_hops, w->hops[router]);
	return 0;
}

static int open_lanes(struct walk *w)
{
	for (int i = 0; i < w->n_lanes; i++) {
		struct lane *lane = &w->lane[i];

		lane->entry = malloc((size_t)w->s.job->rows->room *
		                     sizeof(*lane->entry));
		lane->row = numbers(w->df->groups);
		lane->group = numbers(w->df->groups);
		lane->legs = numbers((int64_t)cpl_one_link_scratch(w->s.net));
		if (!lane->entry || !lane->row || !lane->group || !lane->legs)
			return -1;
	}
	return 0;
}

static void close_walk(struct walk *w)
{
	double *arrays[] = {w->link,      w->local,    w->sent,
	                    w->received,  w->sent_by,  w->received_by,
	                    w->injection, w->ejection, w->hops,
	                    w->plus};

	for (size_t i = 0; i < sizeof(arrays) / sizeof(*arrays); i++)
		free(arrays[i]);
	free(w->part);
	for (int i = 0; i < BATCH; i++) {
		free(w->slot[i].in);
		free(w->slot[i].heard);
	}
	for (int i = 0; i < w->n_lanes && w->lane; i++) {
		free(w->lane[i].entry);
		free(w->lane[i].row);
		free(w->lane[i].group);
		free(w->lane[i].legs);
	}
	free(w->lane);
	cpl_stream_close(&w->s);
}

int cpl_stream_groups(const struct cpl_network *net,
                      const struct cpl_stream *job,
                      const struct stream_sinks *sinks, struct cpl_error *err)
{
	struct walk w = {.df = &net->dragonfly,
	                 .size = net->dragonfly.routers_per_group,
	                 .n_lanes = job->threads};
	int rc = 0;

	w.nodes = w.size * net->nodes_per_router;
	w.per_group =
	        ((UINT64_C(1) << STREAM_SHIFT) - 1) / (uint64_t)w.nodes + 1;
	if (w.n_lanes < 1)
		w.n_lanes = 1;
	if (w.n_lanes > CPL_PARALLEL_MAX)
		w.n_lanes = CPL_PARALLEL_MAX;
	for (int i = 0; i < sinks->n_add; i++)
		w.indirect = w.indirect ||
		             sinks->add[i] == &cpl_routing_static_indirect;
	if (cpl_stream_open(&w.s, net, job, err))
		return -1;
	w.lane = calloc((size_t)w.n_lanes, sizeof(*w.lane));
	if (!w.lane || open_arrays(&w) || open_lanes(&w)) {
		rc = cpl_fail_memory(err);
		goto out;
	}
	run(&w);
	if (w.indirect)
		run_indirect(&w);
	for (int i = 0; i < sinks->n_add; i++)
		add_result(&w, sinks->add[i] == &cpl_routing_static_indirect,
		           sinks->load[i], &sinks->sums[i]);
out:
	close_walk(&w);
	return rc;
}
