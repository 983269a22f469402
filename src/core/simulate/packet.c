/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages as packets that are stored and forwarded: a packet takes a link for
 * its bytes over the bandwidth, and is at the router behind it after the link's
 * and the router's latencies. A node sends the packets of its messages in turn.
 * packets.h describes buffers and channels. TraceR and CODES do likewise (Jain
 * 2016, 5; Mubarak et al., TPDS 2017).
 */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/random.h"
#include "simulate/packets.h"

enum {
	ARRIVE = CPL_EVENT_LEVEL, /* packet: it is at the end of its link */
	FREE,                     /* link */
	SENT,                     /* transfer: the last byte has left */
};

static int open_packets(struct cpl_simulation *sim)
{
	const struct cpl_network *net = sim->net;
	const struct cpl_sim_options *o = sim->options;
	int64_t cables = cpl_network_port_cables(net);
	struct cpl_packets *p = cpl_arena_take(&sim->arena, 1, sizeof(*p));

	if (!p)
		return cpl_fail_memory(sim->err);
	sim->own = p;
	if (cpl_sim_ports(net) > 1)
		return cpl_fail(sim->err,
		                "%s: its nodes spread each message over %d "
		                "ports, which the level packet does not do",
		                net->name, net->n_ports);
	p->free_packet = -1;
	p->stride = 8;
	p->lanes = o->lanes;
	p->depth = o->buffer / o->packet < INT_MAX / 2
	                   ? (int)fmax(1, o->buffer / o->packet)
	                   : INT_MAX / 2;
	p->n_links = cpl_times_links(net);
	if (cpl_packet_routes_open(sim))
		return -1;
	p->link = cpl_packets_lines((size_t)p->n_links * sizeof(*p->link));
	p->round = cpl_arena_take(&sim->arena, cables, sizeof(*p->round));
	if (!p->link || sim->arena.failed)
		return cpl_fail_memory(sim->err);
	memset(p->link, 0, (size_t)p->n_links * sizeof(*p->link));
	for (int64_t i = 0; i < p->n_links; i++) {
		p->link[i].per_byte = 1 / cpl_times_bandwidth(net, i);
		p->link[i].stalled_since = -1;
		p->link[i].router = i < net->n_links ? net->link_to[i]
		                    : i < net->n_links + cables
		                            ? net->port_router[i - net->n_links]
		                            : -1;
	}
	for (int64_t i = 0; i < cables; i++)
		p->round[i] = -1;
	return cpl_packets_widen(sim, p->stride, p->classes) ? 0 : -1;
}

static void close_packets(struct cpl_simulation *sim)
{
	struct cpl_packets *p = sim->own;

	if (!p)
		return;
	for (int64_t i = 0; p->link && i < p->n_links; i++) {
		const struct cpl_packet_link *l = &p->link[i];

		*cpl_times_at(&sim->result->bytes, i) = l->bytes;
		*cpl_times_at(&sim->result->busy, i) = l->busy;
		*cpl_times_at(&sim->result->stalled, i) = l->stalled;
	}
	cpl_route_finder_free(&p->finder);
	cpl_free_all(p->turn_of, p->link, p->queue, p->packet, p->path,
	             p->flight, p->wake);
}

static int new_packet(struct cpl_simulation *sim)
{
	struct cpl_packets *p = sim->own;
	int i = p->free_packet;

	if (i >= 0) {
		p->free_packet = p->packet[i].next;
		return i;
	}
	if (!cpl_packets_grow(p)) {
		cpl_sim_fail_memory(sim);
		return -1;
	}
	sim->events.items = (const char *)p->packet;
	sim->events.item_kind = ARRIVE;
	sim->events.item_size = sizeof(*p->packet);
	return p->n_packets++;
}

static int64_t coprime(int64_t n)
{
	int64_t stride = (int64_t)((double)n * 0.6180339887498949);

	for (stride = stride < 1 ? 1 : stride;; stride++) {
		int64_t a = n, b = stride;

		while (b) {
			int64_t rest = a % b;

			a = b;
			b = rest;
		}
		if (a == 1)
			return stride;
	}
}

static void try_send(struct cpl_simulation *sim, int64_t link);

static void start(struct cpl_simulation *sim, int t)
{
	const struct cpl_transfer *transfer = &sim->transfer[t];
	int cable = sim->rank[transfer->from].cable;
	int to = sim->rank[transfer->to].cable;
	struct cpl_packets *p = sim->own;
	double size = transfer->bytes / transfer->count;
	double each = fmax(1, ceil(size / sim->options->packet));
	double packets = each * transfer->count;
	struct cpl_flight *f;

	while (p->n_flights <= t) {
		if (cpl_array_grow(&p->flight, p->n_flights, sizeof(*p->flight),
		                   sim->err)) {
			cpl_sim_fail_memory(sim);
			return;
		}
		p->n_flights++;
	}
	if (packets > CPL_SIM_MAX_COUNT) {
		cpl_fail(sim->err, "a message of %g bytes has too many packets",
		         transfer->bytes);
		sim->failed = true;
		return;
	}
	f = &p->flight[t];
	*f = (struct cpl_flight){
	        .to = sim->net->port_router[to],
	        .out = (int)cpl_sim_ejection(sim->net, to),
	        .last = fmax(0, size - (each - 1) * sim->options->packet),
	        .each = (int64_t)each,
	        .rest = (int64_t)each,
	        .packets = (int64_t)packets};
	f->stride = coprime(f->packets);
	f->key = cpl_random_key(sim->options->seed, (uint64_t)p->n_started++);
	/* It goes behind those that already have a turn. */
	if (p->round[cable] < 0) {
		f->next = t;
	} else {
		f->next = p->flight[p->round[cable]].next;
		p->flight[p->round[cable]].next = t;
	}
	p->round[cable] = t;
	try_send(sim, cpl_sim_injection(sim->net, cable));
}

/* The next packet of the message whose turn it is; -1: it failed. */
static int cut_packet(struct cpl_simulation *sim, int cable)
{
	struct cpl_packets *p = sim->own;
	int last = p->round[cable], t = p->flight[last].next;
	struct cpl_flight *f = &p->flight[t];
	int i = new_packet(sim);
	bool ends = f->rest == 1;

	if (i < 0)
		return -1;
	p->packet[i] = (struct cpl_packet){
	        .transfer = t,
	        .next = -1,
	        .link = -1,
	        .to = f->to,
	        .out = f->out,
	        .via = -1,
	        .number = f->sent++,
	        .bytes = ends ? f->last : sim->options->packet};
	f->rest = ends ? f->each : f->rest - 1;
	if (f->sent < f->packets) {
		if (!sim->options->in_order)
			p->round[cable] = t;
	} else if (last == t) {
		p->round[cable] = -1;
	} else {
		p->flight[last].next = f->next;
	}
	return i;
}

static bool wake_later(struct cpl_simulation *sim, int link)
{
	struct cpl_packets *p = sim->own;

	if (p->n_wake == p->wake_room) {
		int64_t room = p->wake_room ? 2 * p->wake_room : 256;
		int *more = realloc(p->wake, (size_t)room * sizeof(*more));

		if (!more) {
			cpl_sim_fail_memory(sim);
			return false;
		}
		p->wake = more;
		p->wake_room = room;
	}
	p->wake[p->n_wake++] = link;
	return true;
}

static void when_free(struct cpl_simulation *sim, int64_t link)
{
	struct cpl_packet_link *l =
	        &((struct cpl_packets *)sim->own)->link[link];

	if (l->scheduled)
		return;
	l->scheduled = true;
	cpl_events_add(&sim->events, l->free_at, FREE, (uint32_t)link);
}

/* The packet begins to leave over a link, and its buffer is free. */
static void send(struct cpl_simulation *sim, int i, int64_t link, int channel,
                 double latency)
{
	struct cpl_packets *p = sim->own;
	struct cpl_packet_link *l = &p->link[link];
	struct cpl_packet *packet = &p->packet[i];
	double seconds = packet->bytes * l->per_byte;

	if (l->stalled_since >= 0) {
		l->stalled += sim->now - l->stalled_since;
		l->stalled_since = -1;
	}
	l->bytes += packet->bytes;
	l->busy += seconds;
	l->free_at = sim->now + seconds;
	cpl_timeline_link(&sim->result->timeline, link, 1, sim->now,
	                  l->free_at);
	if (packet->link >= 0) {
		struct cpl_packet_link *before = &p->link[packet->link];

		p->queue[(int64_t)packet->link * p->channels + packet->channel]
		        .credit++;
		before->load--;
		if (before->waiting && !before->scheduled)
			wake_later(sim, packet->link);
	}
	packet->link = (int)link;
	packet->channel = channel;
	packet->router = l->router;
	cpl_events_add(&sim->events, l->free_at + latency, ARRIVE, (uint32_t)i);
}

static void stall(struct cpl_simulation *sim, struct cpl_packet_link *l)
{
	if (l->stalled_since < 0)
		l->stalled_since = sim->now;
}

/* Sends from a node, cutting messages into packets. */
static void send_own(struct cpl_simulation *sim, int64_t link)
{
	const struct cpl_sim_options *o = sim->options;
	struct cpl_packets *p = sim->own;
	struct cpl_packet_link *l = &p->link[link];
	struct cpl_packet_queue *q = &p->queue[link * p->channels];
	int cable = (int)(link - sim->net->n_links), t, i;

	if (p->round[cable] < 0) {
		l->waiting = 0;
		return;
	}
	l->waiting = 1;
	if (sim->now < l->free_at) {
		when_free(sim, link);
		return;
	}
	if (!q->credit) {
		stall(sim, l);
		return;
	}
	i = cut_packet(sim, cable);
	if (i < 0)
		return;
	t = p->packet[i].transfer;
	q->credit--;
	l->load++;
	send(sim, i, link, 0,
	     cpl_sim_link_latency(sim, link) + o->router_latency);
	if (p->flight[t].sent == p->flight[t].packets)
		cpl_events_add(&sim->events, l->free_at, SENT, (uint32_t)t);
	l->waiting = p->round[cable] >= 0;
	if (l->waiting)
		when_free(sim, link);
}

/* The channel whose turn it is among those that have a packet and a buffer
 * (which some packets have reserved already); -1: none. */
static int pick(const struct cpl_simulation *sim, int64_t link)
{
	const struct cpl_packets *p = sim->own;
	const struct cpl_packet_queue *q = &p->queue[link * p->channels];
	int turn = (int)p->link[link].turn;

	for (int k = 0; k < p->channels; k++) {
		int c = turn + k < p->channels ? turn + k
		                               : turn + k - p->channels;
		bool kept = p->rule == CPL_CHANNEL_ESCAPE && c >= 2 * p->lanes;

		if (q[c].first >= 0 && (kept || q[c].credit > 0))
			return c;
	}
	return -1;
}

static void send_waiting(struct cpl_simulation *sim, int64_t link)
{
	const struct cpl_sim_options *o = sim->options;
	struct cpl_packets *p = sim->own;
	struct cpl_packet_link *l = &p->link[link];
	bool last = l->router < 0;
	struct cpl_packet_queue *q;
	int channel, i;

	if (!l->waiting)
		return;
	if (sim->now < l->free_at) {
		when_free(sim, link);
		return;
	}
	channel = pick(sim, link);
	if (channel < 0) {
		stall(sim, l);
		return;
	}
	q = &p->queue[link * p->channels + channel];
	i = q->first;
	q->first = p->packet[i].next;
	l->waiting--;
	l->turn = channel + 1 < p->channels ? (unsigned)channel + 1 : 0;
	/* Nodes take all that comes, without buffers. */
	if (!last &&
	    !(p->rule == CPL_CHANNEL_ESCAPE && channel >= 2 * p->lanes))
		q->credit--;
	send(sim, i, link, channel,
	     cpl_sim_link_latency(sim, link) + (last ? 0 : o->router_latency));
	if (l->waiting)
		when_free(sim, link);
}

static void try_one(struct cpl_simulation *sim, int64_t link)
{
	int64_t own = link - sim->net->n_links;

	if (own >= 0 && own < cpl_network_port_cables(sim->net))
		send_own(sim, link);
	else
		send_waiting(sim, link);
}

/* Tries this link, and those with buffers that get free by that. */
static void try_send(struct cpl_simulation *sim, int64_t link)
{
	struct cpl_packets *p = sim->own;

	try_one(sim, link);
	while (p->n_wake && !sim->failed)
		try_one(sim, p->wake[--p->n_wake]);
}

static void free_packet(struct cpl_packets *p, int i)
{
	p->packet[i].next = p->free_packet;
	p->free_packet = i;
}

static void deliver(struct cpl_simulation *sim, int i)
{
	struct cpl_packets *p = sim->own;
	int t = p->packet[i].transfer;
	struct cpl_flight *f = &p->flight[t];

	p->link[p->packet[i].link].load--;
	if (p->packet[i].number < f->latest)
		sim->result->overtaken++;
	else
		f->latest = p->packet[i].number;
	free_packet(p, i);
	if (++f->arrived == f->packets)
		cpl_sim_delivered(sim, t);
}

/* The packet is at the end of its link, and has a buffer there. */
static void arrive(struct cpl_simulation *sim, int i)
{
	struct cpl_packets *p = sim->own;
	int router = p->packet[i].router, channel;
	struct cpl_packet_queue *q;
	int64_t link;
	bool reserved;

	if (router < 0) {
		deliver(sim, i);
		return;
	}
	if (!cpl_packet_next(sim, i, router, &link, &channel, &reserved))
		return;
	if (link < 0)
		link = p->packet[i].out;
	q = &p->queue[link * p->channels + channel];
	if (reserved)
		q->credit--;
	p->packet[i].next = -1;
	if (q->first < 0)
		q->first = i;
	else
		p->packet[q->last].next = i;
	q->last = i;
	p->link[link].waiting++;
	p->link[link].load++;
	if (!p->link[link].scheduled)
		try_send(sim, link);
}

static void handle(struct cpl_simulation *sim, uint32_t kind, uint32_t item)
{
	struct cpl_packets *p = sim->own;

	switch (kind) {
	case ARRIVE:
		sim->result->hops++;
		arrive(sim, (int)item);
		break;
	case FREE:
		p->link[item].scheduled = false;
		try_send(sim, item);
		break;
	default:
		cpl_sim_sent(sim, (int)item);
	}
}

const struct cpl_sim_level cpl_sim_packet = {
        .name = "packet",
        .summary = "messages go packet by packet over links with buffers",
        .open = open_packets,
        .close = close_packets,
        .start = start,
        .event = handle,
};
