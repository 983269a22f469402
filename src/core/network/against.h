/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A network file against the Slurm that runs: which nodes only one of them has,
 * and which are together on a switch in one only. Slurm's switches may be the
 * routers of the network or units of one of its levels, chassis or groups: the
 * level with which they agree best is taken, the finest of several.
 */
#pragma once

#include "network/network.h"
#include "network/reader/slurm_view.h"

/* A node that is on another unit than most of its switch. */
struct cpl_against_odd {
	int leaf, node; /* of the view; node id */
	int unit, most;
};

/* Two switches most of whose nodes are on one unit. */
struct cpl_against_same {
	int leaf, other, unit;
};

struct cpl_against {
	int both;          /* nodes that both have */
	int *only_slurm;   /* [n_only_slurm] numbers in view->nodes */
	int n_only_slurm;
	int *only_network; /* [n_only_network] node ids */
	int n_only_network;
	int *no_switch; /* [n_no_switch] node ids: on no switch of Slurm's */
	int n_no_switch;
	const char *level; /* "router", "group" ...; NULL: no switches there */
	struct cpl_against_odd *odd; /* [n_odd] */
	int n_odd;
	struct cpl_against_same *same; /* [n_same] */
	int n_same;
};

/* Compare into out, which is for cpl_against_free in either case. 0, or -1 with
 * err (memory). O(levels * nodes * log). */
int cpl_network_against(const struct cpl_network *net,
                        const struct cpl_slurm_view *view,
                        struct cpl_against *out, struct cpl_error *err);
void cpl_against_free(struct cpl_against *out);

static inline bool cpl_against_differs(const struct cpl_against *a)
{
	return a->n_only_slurm || a->n_only_network || a->n_no_switch ||
	       a->n_odd || a->n_same;
}
