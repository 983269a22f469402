/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A network as Slurm's topology plugins take it: topology.conf(5) of one
 * topology, topology.yaml(5) of one or both. A tree has the routers with nodes and
 * the units of the network's levels above them; of a graph that is a tree, the
 * graph's own routers by their names. A node is where its first port is. Blocks
 * are the domains of accelerators; their size is that of the smallest. Or as
 * Topograph's engine "graph" writes it ("Topograph Graph Engine",
 * docs.nvidia.com/topograph): of each node the switches of that tree above it, from
 * the nearest on, and its domain as a label.
 */
#pragma once

#include <stddef.h>

#include "network/network.h"

enum cpl_export_format {
	CPL_EXPORT_CONF,
	CPL_EXPORT_YAML,
	CPL_EXPORT_TOPOGRAPH, /* all; what is passed over */
};

enum cpl_export_what {
	CPL_EXPORT_ALL,   /* yaml: the tree, and blocks where there are some */
	CPL_EXPORT_TREE,
	CPL_EXPORT_BLOCK,
};

/* The text, to free(). NULL with err: no domains; two switches of one name;
 * memory. O(routers + links + nodes). */
char *cpl_network_export(const struct cpl_network *net,
                         enum cpl_export_format format,
                         enum cpl_export_what what, size_t *length,
                         struct cpl_error *err);
