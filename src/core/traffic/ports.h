/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A job on a network whose nodes have several ports, as one whose ranks have
 * one each: what its ranks are said to do with the ports
 * (network/network.h: cpl_port_use) is then a matter of which router a rank is
 * at. A rank that spreads its messages becomes as many as there are ports, each
 * with its part of them.
 */
#pragma once

#include "traffic/workload.h"

struct cpl_port_job {
	const struct cpl_comm *comm; /* the caller's, or made */
	struct cpl_comm *made;
	int *node;  /* [comm->ranks] */
	int *cable; /* [comm->ranks] its port: node * n_ports + port */
};

/* The job's matrix is comm. 0, or -1 with err (memory; more ranks than a number
 * holds). O(entries * (ports, ports^2 where ranks that are not told apart have
 * one each) + nodes). */
int cpl_port_job_make(struct cpl_port_job *ports, const struct cpl_network *net,
                      const struct cpl_job *job, const struct cpl_comm *comm,
                      struct cpl_error *err);
/* Ranks with one port each: rank r, on node[r] of n, or a job's host, each on a
 * node of its own, gets cable[r] = node * n_ports + port as the network says,
 * the lower ones of a node first. 0, or -1 with err (memory). O(ranks + n). */
int cpl_port_pin(const struct cpl_network *net, const int *node, int n,
                 int ranks, int *cable, struct cpl_error *err);
void cpl_port_job_free(struct cpl_port_job *ports);
