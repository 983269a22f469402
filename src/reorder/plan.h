/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This decides which process of a communicator becomes which rank of a stated
 * graph. */
#pragma once

#include "graph/comm.h"

#define REORDER_NAME_SIZE 64

/* A process runs here. */
struct reorder_location {
	char host[REORDER_NAME_SIZE];
	/* This is the package of the CPUs that it may use, or -1 if there are
	 * several or it is unknown. */
	int package;
	int cpu;     /* the first of them */
};

struct reorder_request {
	int n;                             /* processes, and ranks of comm */
	const struct reorder_location *place; /* [n] */
	const struct cpl_comm *comm;       /* the graph, directed */
	const char *mapper;  /* as of `commplace map --algorithm` */
	/* This is a description that has the hosts; with NULL, all are equally far
	 * from each other. */
	const char *network;
};

/*
 * rank_of[process] becomes its rank in the graph, a permutation. The mapper assigns
 * ranks to hosts, and likewise to the packages of a host if each process is on one.
 * An order stays as it is if the mapper finds nothing with less of the largest
 * congestion. In a package the lowest rank is on the first CPU. It returns 0, or -1
 * with err (memory, no such mapper, a network that does not have a host). The
 * result is deterministic.
 */
int reorder_plan(const struct reorder_request *req, int *rank_of,
                 struct cpl_error *err);
