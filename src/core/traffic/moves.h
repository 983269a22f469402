/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Link loads that change: by single flows, or while ranks of a job move.
 * Changes are tentative until they are kept or undone. For routings that have
 * add; for others, where a move can change every link, cpl_routing_by_flow()
 * stands in.
 *
 * Exactly: each flow's bytes on a link are rounded to a grain of at most 2^-48
 * of the job's bytes, so that they add up without rounding: the state then
 * depends on the layout alone, whatever the moves that led to it. Else sums are
 * those of the order in which flows came.
 */
#pragma once

#include <stdbool.h>

#include "graph/arena.h"
#include "graph/comm.h"
#include "routing/routing.h"
#include "traffic/load_tree.h"
#include "traffic/traffic.h"

/* For reading. "Stops" are the stations (cpl_network_station) of the nodes at
 * hand, by number. */
struct cpl_moves {
	const struct cpl_network *net;
	const double *start; /* the caller's, or NULL */
	double *load;        /* [n_links] bytes, as kept */
	double hop_bytes;
	/* The tentative part. */
	double *change; /* [n_links] bytes, 0 where not touched */
	int *touched;   /* [n_touched] links */
	int n_touched;
	double more_hop_bytes;
	unsigned char *mark; /* [n_links] is in touched */
	int *laden;          /* [n_laden] links that flows were kept on */
	int n_laden;
	unsigned char *is_laden; /* [n_links] */
	/* The job that moves, if any. */
	const struct cpl_comm *comm;
	int ports; /* ranks that move as one, see cpl_moves_lift */
	int *node; /* [ranks] where they are */

	int *stop_of; /* [n_stations], or -1 */
	int *station; /* [n_stops] */
	int n_stops;
	int *stop;       /* [ranks] */
	int64_t *in_row; /* [ranks + 1] entries of a column of comm */
	int *in_from;    /* [entries] by column */
	double *in_bytes;
	int *moved, *old_node; /* [n_moved] since keep, and where they were */
	unsigned char *has_moved; /* [ranks] */
	int n_moved;
	double rounder; /* what is added and taken off again; 0: inexact */
	double hop_rounder;

	/* Routes found so far: index in share of a pair of stops, 0: none; a
	 * length in .link and the sum of parts in .part, then the links. NULL:
	 * too many stops. */
	struct cpl_route_finder finder;
	int *known; /* [n_stops * n_stops] */
	struct cpl_share *share;
	int n_share, max_share;
	/* The routes of entries of comm that were looked at last: index in
	 * share, 0: none. */
	struct cpl_moves_route {
		int from, to, at; /* stops */
	} *entry_route;           /* [entries] */

	/* Memory of cpl_moves_flows, once it was called: ranks by stop, as
	 * lists, and what a stop sends to each of to_stop[n_to]. */
	int *first_on; /* [n_stops] rank, or -1 */
	int *next_on;  /* [max_next] the next rank of that stop, or -1 */
	int max_next;
	double *to_bytes; /* [n_stops], 0 where not in to_stop */
	int *to_stop, n_to;

	struct cpl_load_tree *tree; /* of cpl_moves_watch */
	const struct cpl_load *watched;
	double *slow; /* [n_links] what bytes count beside others; or NULL */
	bool view;              /* load and stops are another's */
	struct cpl_arena arena; /* of all arrays but share */
};

/*
 * No flows yet between the n nodes (NULL: any of the network), but `start`
 * (bytes of links; NULL: none), which has to live as long. The routing's add
 * finds the paths. 0, or -1 with err (no add; memory). O(nodes + links).
 */
int cpl_moves_init(struct cpl_moves *moves, const struct cpl_network *net,
                   const struct cpl_routing *routing, const int *node, int n,
                   const double *start, struct cpl_error *err);
void cpl_moves_free(struct cpl_moves *moves);

/* Tentatively add a flow between nodes; bytes < 0 takes one away. O(route), and
 * O(links of its routers) when a pair of routers comes first. */
void cpl_moves_flow(struct cpl_moves *moves, int from_node, int to_node,
                    double bytes);
/* All flows of a job with rank r on node[r]; those between the same two stops
 * are put on the links at once. 0, or -1 with err (memory), nothing added.
 * O(entries + pairs of stops * route). */
int cpl_moves_flows(struct cpl_moves *moves, const struct cpl_comm *comm,
                    const int *node, struct cpl_error *err);
/* Does the route between two nodes use the link? */
bool cpl_moves_uses(struct cpl_moves *moves, int from_node, int to_node,
                    int link);
/* The part of a flow between them that goes over the link. As above. */
double cpl_moves_fraction(struct cpl_moves *moves, int from_node, int to_node,
                      int64_t link);

/* The same of entry e of the job's comm, in the row of rank. O(route), faster
 * for one entry after the other. */
double cpl_moves_entry_fraction(struct cpl_moves *moves, int rank, int64_t e,
                            int64_t link);

/* Keep all changes since the last of these two calls; or go back to then, to
 * the bit. O(ranks and links that changed). */
void cpl_moves_keep(struct cpl_moves *moves);
void cpl_moves_undo(struct cpl_moves *moves);

/*
 * The same loads with a tentative part and routes of their own, for one more
 * thread: flows and undo only. To be freed before `moves`. 0, or -1 with err
 * (memory). O(links).
 */
int cpl_moves_view(const struct cpl_moves *moves, struct cpl_moves *view,
                   struct cpl_error *err);

/*
 * A job with rank r on node[r], one of those of cpl_moves_init: its traffic is
 * put on the links, kept. comm has to outlive moves; node is copied. 0, or -1
 * with err (memory; exact: bytes that add up to more than a number holds).
 * O(entries * route).
 */
int cpl_moves_job(struct cpl_moves *moves, const struct cpl_comm *comm,
                  const int *node, bool exact, struct cpl_error *err);
/* Take the job off; nothing may be tentative. Another may follow. O(links that
 * it was on). */
void cpl_moves_leave(struct cpl_moves *moves);

/* Move a rank, or swap two, tentatively and as often as you like. O(entries of
 * the ranks' rows and columns * route). No allocation but for routes found
 * first. */
void cpl_moves_move(struct cpl_moves *moves, int rank, int node);
void cpl_moves_swap(struct cpl_moves *moves, int a, int b);

/*
 * To try many nodes for a host of a job whose sums are exact: nothing may be
 * tentative, and the host's flows are taken off, kept. Then it is put on a
 * node, or exchanged with another host, tentatively: to be undone for the next
 * try, or kept. The state is then that of a move or swap, to the bit. O(entries
 * of the hosts' rows and columns * route), a put half of a move.
 *
 * A host is a rank; or the `ports` (set before) ranks host * ports .. of the
 * job that are its ports and send each other nothing, on the nodes node * ports
 * .. of a network by port (cpl_network_judged).
 */
void cpl_moves_lift(struct cpl_moves *moves, int host);
void cpl_moves_put(struct cpl_moves *moves, int host, int node);
void cpl_moves_put_swap(struct cpl_moves *moves, int host, int with);

/* Add up the job's loads afresh, against rounding that has added up; nothing
 * may be tentative, nor a flow be kept. O(entries * route). */
void cpl_moves_afresh(struct cpl_moves *moves);

/*
 * From now on sum up congestion: of the links' bytes with what is tentative and
 * with background's (NULL: none), slowed by what others send (rates, bytes/s;
 * NULL: nothing) as cpl_traffic_seconds has it. 0, or -1 with err (memory).
 * O(links).
 */
int cpl_moves_watch(struct cpl_moves *moves, const struct cpl_load *background,
                    const struct cpl_load *rates, struct cpl_error *err);
/* The summary, and the most congested link (ties to the lowest id, -1 on a
 * network without). O(links that changed * log of all). */
const struct cpl_load_summary *cpl_moves_links(struct cpl_moves *moves);
/* Before the summary of changes is asked for: the largest of the links that
 * changed and of `link` (-1: none), and by how much sum and powers of all grow,
 * but for rounding; or some link beyond the limit, if there is any, and no sums.
 * O(links that changed). */
struct cpl_load_summary cpl_moves_change(const struct cpl_moves *moves,
                                         int64_t link, double limit);
int64_t cpl_moves_busiest(struct cpl_moves *moves);
