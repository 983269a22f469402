/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The packets of the level `packet`, and the links that they wait for. Private
 * to it.
 *
 * A packet occupies one buffer at a time: that at the end of the link that it
 * came by, one of its channel's. At a router it waits, behind others of the
 * same link and channel, for the next link and a free buffer at that one's end;
 * its own is free when it begins to leave. Channels are used so that packets of
 * one wait only for those of others in an order without circles: no deadlock,
 * even with one buffer each (Dally, Seitz, 1987; Duato, 1993).
 */
#ifndef CPL_SIMULATE_PACKETS_H
#define CPL_SIMULATE_PACKETS_H

#include "routing/progressive/groups.h"
#include "simulate/simulate_internal.h"

/* A transfer's messages on their way; index: its number. */
struct cpl_flight {
	int to, out;             /* as of its packets */
	double last;             /* bytes of a message's last packet */
	int64_t each, rest;      /* packets of a message; of the current one */
	int64_t sent, packets;   /* packets: of all messages */
	int64_t stride;          /* see cpl_packet_draw */
	int64_t arrived, latest; /* packets; the highest number of them */
	uint64_t key;            /* of its draws */
	int next;                /* in the source's round */
};

struct cpl_packet {
	int transfer, next; /* next: behind it in the queue, or free */
	int link, channel;  /* whose buffer it has */
	int router;         /* at the end of that link, -1: a node */
	int to, out;        /* router of its destination, and link from it */
	int via;        /* router that it goes to first, -1: none any more */
	int leg;        /* changes of direction behind it */
	int hop, hops;  /* links behind it; of its path, -1: none is fixed */
	int64_t number; /* of its transfer's */
	double bytes;
};

_Static_assert(sizeof(struct cpl_packet) == 64, "one line of the cache");

/* Filled by each packet that passes: as large as a line of the cache. */
struct cpl_packet_link {
	double per_byte; /* seconds */
	double free_at;
	double stalled_since;        /* < 0: is not */
	double bytes, busy, stalled; /* sums */
	int waiting;                 /* packets in its queues */
	int load;                    /* and in buffers at its end */
	int router;                  /* at its end, -1: a node */
	unsigned turn : 31;          /* channel that is asked first */
	unsigned scheduled : 1;      /* an event comes when it is free */
};

_Static_assert(sizeof(struct cpl_packet_link) == 64, "one line of the cache");

/* First and last of a link's channel, and free buffers at its end. */
struct cpl_packet_queue {
	int first, last, credit;
	int unused; /* four are a line of the cache */
};

/* How channels are told apart. */
enum cpl_channel_rule {
	CPL_CHANNEL_HOPS,     /* by the links behind the packet */
	CPL_CHANNEL_DATELINE, /* rings: two a leg, before and after the wrap */
	CPL_CHANNEL_ESCAPE,   /* rings: those two, and an adaptive one */
};

struct cpl_packets {
	const struct cpl_sim_routing *choice;
	const struct cpl_routing *routing;
	const struct cpl_level *group; /* of routers, NULL: has none */
	struct cpl_linked_groups
	        groups; /* progressive adaptive among them, n 0: no */
	struct cpl_route_finder finder;
	enum cpl_channel_rule rule;
	unsigned char *turn_of; /* product: 2 * dimension + minus of a link */
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
	int *round; /* [cables] last transfer of the source's round, -1 */
	int *wake;  /* links whose buffers got free */
	int n_wake;
	int64_t wake_room;
	int64_t n_started; /* transfers */
};

/* The packet's draw number i, uniform in [0, 1); draw 0 is spread evenly over
 * all packets of the transfer, whatever their number. */
double cpl_packet_draw(const struct cpl_packets *p,
                       const struct cpl_packet *packet, int i);

/* packet_route.c. 0, or -1 with err. */
int cpl_packet_routes_open(struct cpl_simulation *sim);
/* Where the packet goes on from a router: a link and channel; *link -1: it is
 * there. *reserved: a buffer is its own already. False: memory was out. */
bool cpl_packet_next(struct cpl_simulation *sim, int packet, int router,
                     int64_t *link, int *channel, bool *reserved);

/* packet_room.c: from a line of the cache on, for free(); NULL: memory. */
void *cpl_packets_lines(size_t size);
/* Make room for one more packet. False: memory is out. */
bool cpl_packets_grow(struct cpl_packets *p);
/* Make room for paths of so many links, and for channels of so many classes. */
bool cpl_packets_widen(struct cpl_simulation *sim, int stride, int classes);

#endif
