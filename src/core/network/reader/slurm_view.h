/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Nodes and switches as a running Slurm shows them. */
#pragma once

#include "base/error.h"
#include "base/hostlist.h"

/* A switch with nodes of its own, or a block, ring or torus. */
struct cpl_slurm_switch {
	char *name;
	struct cpl_hostlist hosts;
};

/* Zero-initialise it. */
struct cpl_slurm_view {
	struct cpl_hostlist nodes;
	struct cpl_slurm_switch *leaf;
	int n_leaves; /* 0: Slurm knows none */
};

/*
 * Add what `scontrol show nodes` (with -o, too) and `scontrol show topology`
 * print: NodeName of each node; SwitchName, BlockName, RingName or TorusName and
 * Nodes of those without Switches. Other lines are passed over. Of what `scontrol
 * show topoconf` prints the same, of the topology of that name, or of the cluster's
 * default one. 0, or -1 with err "SOURCE:LINE: reason". O(text).
 */
int cpl_slurm_view_nodes(struct cpl_slurm_view *view, const char *source,
                         const char *text, size_t length,
                         struct cpl_error *err);
int cpl_slurm_view_topology(struct cpl_slurm_view *view, const char *source,
                            const char *text, size_t length,
                            const char *topology, struct cpl_error *err);
void cpl_slurm_view_free(struct cpl_slurm_view *view);
