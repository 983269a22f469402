/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The packets of the level `packet`, for which alone this header is, and the
 * links that they wait for.
 *
 * A packet occupies one buffer at a time: one of its channel's at the end of
 * the link that it came by. At a router it waits, behind others of the same
 * link and channel, for the next link and a free buffer at the end of that; its
 * own buffer is free when it begins to leave. Packets of a channel wait only
 * for those of others in an order without circles, so that there is no deadlock
 * even with one buffer each (Dally, Seitz, 1987; Duato, 1993).
 */
#pragma once

#include "routing/progressive/groups.h"
#include "simulate/simulate_internal.h"

/* The messages of a transfer on their way; the index is its number. */
struct cpl_flight {
	int to, out;             /* as in its packets */
	double last;             /* bytes of the last packet of a message */
	int64_t each, rest;      /* packets of a message; left of the current
	                          * one */
	int64_t sent, packets;   /* packets sent, and those of all messages */
	int64_t stride;          /* see cpl_packet_draw */
	int64_t arrived, latest; /* packets; highest number among them */
	uint64_t key;            /* for its draws */
	int next;                /* in the round of its source */
};

struct cpl_packet {
	int transfer, next; /* next: behind it in the queue, or free */
	int link, channel;  /* it has a buffer of these */
	int router;         /* at the end of the link; -1: a node */
	int to, out;        /* its destination's router, and the link from
	                     * there */
	int via;        /* router that it goes to first; -1: none is left */
	int leg;        /* changes of direction so far */
	int hop, hops;  /* links so far; of its path, -1: none is fixed */
	int64_t number; /* in its transfer */
	double bytes;
};

_Static_assert(sizeof(struct cpl_packet) == 64, "one line of the cache");

/* Every passing packet writes it, so it is as large as a line of the cache. */
struct cpl_packet_link {
	double per_byte; /* seconds */
	double free_at;
	double stalled_since;        /* < 0: it is not */
	double bytes, busy, stalled; /* sums */
	int waiting;                 /* packets in its queues */
	int load;                    /* packets in these and in buffers at its
	                              * end */
	int router;                  /* at its end; -1: a node */
	unsigned turn : 31;          /* channel that is asked first */
	unsigned scheduled : 1;      /* an event comes when it is free */
};

_Static_assert(sizeof(struct cpl_packet_link) == 64, "one line of the cache");

/* First and last packet of a link's channel, and free buffers at its end. */
struct cpl_packet_queue {
	int first, last, credit;
	int unused; /* makes four of them a line of the cache */
};

/* The rules that tell channels apart. */
enum cpl_channel_rule {
	CPL_CHANNEL_HOPS,     /* by the links that the packet came over */
	CPL_CHANNEL_DATELINE, /* on rings, two a leg: before and after the
	                       * wrap */
	CPL_CHANNEL_ESCAPE,   /* on rings, those two and an adaptive one */
};

struct cpl_packets {
	const struct cpl_sim_routing *choice;
	const struct cpl_routing *routing;
	const struct cpl_level *group; /* among routers; NULL: there is none */
	struct cpl_linked_groups
	        groups; /* for progressive adaptive; n 0: it is not used */
	struct cpl_route_finder finder;
	enum cpl_channel_rule rule;
	unsigned char *turn_of; /* on a product: 2 * dimension + minus of a
	                         * link */
	int64_t n_links;
	int lanes, classes, channels;   /* channels: lanes * classes */
	int depth;                      /* buffers of a channel */
	struct cpl_packet_link *link;   /* [n_links] */
	struct cpl_packet_queue *queue; /* [n_links * channels] */
	struct cpl_packet *packet;
	int n_packets, packet_room, free_packet;
	int *path; /* [room of packets * stride] */
	int64_t path_room;
	int stride;
	struct cpl_flight *flight;
	int n_flights;
	int *round; /* [cables] last transfer of a source's round, or -1 */
	int *wake;  /* links with buffers that got free */
	int n_wake;
	int64_t wake_room;
	int64_t n_started; /* transfers */
};

/* Draw number i of the packet, uniform in [0, 1); draw 0 is spread evenly over
 * all packets of the transfer, whatever their number. */
double cpl_packet_draw(const struct cpl_packets *p,
                       const struct cpl_packet *packet, int i);

/* From packet_route.c. Returns 0, or -1 with err. */
int cpl_packet_routes_open(struct cpl_simulation *sim);
/* Where the packet goes from a router: a link and channel, or *link -1 when it
 * has arrived. *reserved says that a buffer is already its own. False: memory
 * was out. */
bool cpl_packet_next(struct cpl_simulation *sim, int packet, int router,
                     int64_t *link, int *channel, bool *reserved);

/* From packet_room.c: memory from a cache line on, for free(), or NULL. */
void *cpl_packets_lines(size_t size);
/* Makes room for one more packet. False: memory is out. */
bool cpl_packets_grow(struct cpl_packets *p);
/* Makes room for paths of so many links and for channels of so many classes. */
bool cpl_packets_widen(struct cpl_simulation *sim, int stride, int classes);
