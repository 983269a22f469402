/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a job's ranks send each other inside nodes and domains, and what is left
 * for the network: by which port each message leaves its node.
 */
#pragma once

#include <float.h>

#include "traffic/ports.h"

/* The links that messages inside a node are on, or -1: none that count. O(1). */
static inline int cpl_accelerators_inside(const struct cpl_network *net,
                                          int node)
{
	const struct cpl_accelerators *a = &net->accelerators;

	if (a->bandwidth[CPL_INSIDE_NODE] <= DBL_MAX)
		return CPL_INSIDE_NODE;
	return a->domain_of && a->domain_of[node] >= 0 ? CPL_INSIDE_DOMAIN : -1;
}

/*
 * Of the job's matrix comm, on a network that has accelerators, what stays in
 * nodes and domains is added to load's accelerators and to sums, and with PXN
 * what passes an accelerator on its way out to the former. *rest gets the others
 * as cpl_port_job_make has them; with one port cable is node. Ranks that are
 * whole hosts, or ports of some, use all accelerators of their node evenly. 0,
 * or -1 with err (memory; more ranks than a number holds). O(entries * ports +
 * nodes).
 */
int cpl_accelerators_take(const struct cpl_network *net,
                          const struct cpl_job *job,
                          const struct cpl_comm *comm, struct cpl_load *load,
                          struct cpl_job_sums *sums, struct cpl_port_job *rest,
                          struct cpl_error *err);
