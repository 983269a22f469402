/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Into what segments of nodes a job falls by its traffic: sets of equal size that
 * each go into one domain of the machine, such as a block of Slurm's topology/block
 * (sbatch --segment).
 */
#pragma once

#include "graph/comm.h"
#include "network/network.h"

/* Of the bytes that the best size would keep inside segments the advised one
 * keeps at least so much: smaller segments are easier to place. */
#define CPL_SEGMENT_PART 0.95

struct cpl_segment_size {
	int nodes;
	double inside; /* part of the bytes between nodes */
};

struct cpl_segment_advice {
	int nodes;     /* of the job */
	int segment;   /* nodes of each; 1: none is needed, or none fits */
	double bytes;  /* between nodes */
	double inside; /* part of them that stays inside segments */
	int n_sizes;
	struct cpl_segment_size *size; /* [n_sizes] looked at, increasing */
	int *of;                       /* [nodes] which segment */
};

/*
 * Nodes have ranks_per_node ranks in blocks; a segment has at most `domain` nodes
 * and divides the job, as Slurm wants it. Of each such size nodes are grouped by
 * what they send to each other (rank_groups.h, as the blocks of nodes where these
 * are as good), and the smallest that keeps CPL_SEGMENT_PART of what the best does
 * is advised. 0, to be freed by cpl_segment_advice_free, or -1 with err (memory).
 * O(divisors of nodes * entries * log(nodes)).
 */
int cpl_segment_advise(const struct cpl_comm *comm, int ranks_per_node,
                       int domain, struct cpl_segment_advice *out,
                       struct cpl_error *err);
void cpl_segment_advice_free(struct cpl_segment_advice *advice);

/* The nodes of each segment that is advised, 0: none, for a job that is to get it
 * without asking. -1 with err. As cpl_segment_advise. */
int cpl_segment_implied(const struct cpl_comm *comm, int ranks_per_node,
                        int domain, struct cpl_error *err);

/* Sets of nodes of a machine, in one of which a segment is to lie. */
struct cpl_segment_domains {
	const char *level; /* what they are called, "domain": of accelerators */
	int nodes;         /* of the smallest */
	int n;
	const struct cpl_level *units; /* NULL: domains of accelerators */
};

/* The units of that name; NULL: domains of accelerators, or the finest units with
 * several nodes each. 0, or -1 with err (memory, or there are none). O(nodes). */
int cpl_segment_domains(const struct cpl_network *net, const char *name,
                        struct cpl_segment_domains *out, struct cpl_error *err);
/* In which of them each node is, of[n_nodes]; -1: in none. O(nodes). */
void cpl_segment_domain_of(const struct cpl_network *net,
                           const struct cpl_segment_domains *domains, int *of);
