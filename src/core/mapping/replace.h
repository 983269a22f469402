/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hosts of a job's layout fail: the other ranks stay where they are, and theirs go to
 * the nodes where the job costs least. */
#pragma once

#include "mapping/host_evaluate.h"
#include "traffic/objective.h"

struct cpl_replacing {
	const struct cpl_network *net;
	const struct cpl_routing *routing;
	const struct cpl_comm *comm;
	const struct cpl_load *background, *rates; /* or NULL */
	enum cpl_objective objective;
	int n_hosts;
	const int *rank_host;      /* [comm->ranks] index into the nodes */
	const unsigned char *free; /* [nodes of the network] 1: may be taken */
	/* May the job have node[] (NULL: always)? It may have what it had. */
	bool (*may_have)(void *arg, const int *node);
	void *arg;
};

/* For each of the n hosts of host[] in turn sets node[host] to the free node, not one
 * of node[n_hosts], that the job may have beside the others, those that are still to
 * be replaced among them, and where the objective is least, ties to the lowest; of
 * nodes at one station one is tried. The layout in the end is judged into
 * *out (NULL: not wanted). A routing without add is judged by its minimal one until
 * then. Returns 0, or -1 with err (no node is free; memory), node[] as it was, in
 * O(links + entries * route + n * stations * entries of a host * route). */
int cpl_replace_hosts(const struct cpl_replacing *how, const int *host, int n,
                      int *node, struct cpl_figures *out, struct cpl_error *err);
