/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Network descriptions from what a machine says of itself: graphs, but for
 * regular Aries lists and InfiniBand fabrics that are dragonfly+.
 *
 * topology-conf: Slurm's topology.conf of topology/tree, or what `scontrol show
 * topology` prints. A link for each child switch; LinkSpeed is passed over, as
 * Slurm does. Blocks (topology/block) are joined by one switch above them all.
 *
 * topology-yaml: the same of Slurm's topology.yaml, as its manual writes it, or of
 * what `scontrol show topoconf` prints: one of its topologies. A torus, or a ring,
 * is a torus.
 *
 * node-list: lines "NODES,SWITCH[,ABOVE...]": a host list, its switch, the
 * switch above that, and so on. Switches with nothing above are joined by one.
 * node-toml: the same as TOML, [nodes] with NODES = ["SWITCH", "ABOVE", ...].
 *
 * topograph: {"instances": [...]}, JSON of that program's engine graph: switches of
 * each host, and its domain, which becomes one of "accelerators".
 *
 * names: host lists, whose names have the coordinates of nodes: group, row and
 * column, or switch (several parts together where several have that role), in the
 * order of their numbers. A dragonfly; with switches, groups of one row.
 *
 * ibnetdiscover: the dump of that command (infiniband-diags). Hosts are the
 * first words of the channel adapters' descriptions, each on the switch where
 * it is seen first; classes are speed and width ("qdr-4x"). A dragonfly+ where
 * the switches are joined as one, with a list of global links; else, or with
 * routes, a graph. Routes: traces of ibtracert, one after the other.
 *
 * aries: lines "FROM(g:r:c) COLOUR -> TO(g:r:c)" of a Cray XC, each a directed
 * link; unused and processor tiles are passed over. Router ids follow group,
 * row, column; numbers may be missing. A dragonfly with a list of global links
 * when all rows, columns and pairs of groups are alike; else a graph with the
 * colours as classes.
 */
/* Tests: * in test_import_network; switch_list topograph in golden/networks.t; ib_* in test_ib_plus; slurm_view in
 * golden/against.t. */
#pragma once

#include <jansson.h>
#include <stddef.h>

#include "base/error.h"
#include "base/registry.h"

extern const struct cpl_registry cpl_network_readers;

/* What an import makes of which texts. Zero-initialise optional fields. */
struct cpl_network_import {
	const char *format; /* "topology-conf", "ibnetdiscover" ... */
	const char *name;   /* of the network */
	const char *source; /* of the text, for messages */
	const char *text;
	size_t length;
	/* ibnetdiscover: traces of ibtracert, or NULL. */
	const char *routes_source, *routes;
	size_t routes_length;
	/* File that the description is to name as "routing_table". */
	const char *routing_table;
	/* aries: hosts in the order of node ids, NULL: nid00000 ..; how many a
	 * router has, 0: 4. */
	const char *nodes;
	int nodes_per_router;
	/* topology-yaml: which topology, NULL: the cluster's default. */
	const char *topology;
	/* names: POSIX extended regular expression, and what its parts in
	 * parentheses are, "group,switch,-"; both NULL: HPE's xnames. */
	const char *pattern, *roles;
	/* aries, ibnetdiscover: why it is no dragonfly or dragonfly+ though it
	 * is near to one, empty if it is; or NULL. */
	struct cpl_error *why;
	/* What the text does not say and was taken for granted, a line each,
	 * empty if there is nothing; or NULL. */
	struct cpl_error *doubt;
	/* The network in words, or NULL. */
	struct cpl_error *found;
};

/* The description, which cpl_network_parse has taken (but for the table), to
 * json_decref; with routes, *table is the text of the table to free(), else
 * NULL. NULL with err "SOURCE:LINE: reason". O(n log n). */
json_t *cpl_network_import(const struct cpl_network_import *in, char **table,
                           struct cpl_error *err);

/* Is there such a format? 0, or -1 with err that lists them. */
int cpl_network_import_format(const char *format, struct cpl_error *err);
