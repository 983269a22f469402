/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs whose rank order matters as much as their nodes, on random free nodes:
 * 72 draws, of six patterns twelve each. For bench_joint and test_joint.
 */
#pragma once

#include <stdlib.h>

#include "base/random.h"
#include "graph/comm.h"
#include "network/network.h"

#define JOINT_DRAWS 12
#define JOINT_BYTES 1048576.0
/* Streams of the draws: the free nodes, partners, the jobs beside. */
enum { JOINT_FREE = 900, JOINT_PARTNER, JOINT_BESIDE };

/* 4 groups of 2 x 4 routers with 2 nodes each. */
#define JOINT_NETWORK                                                          \
	"{\"format\":\"commplace-network\",\"version\":1,\"name\":\"d64\","    \
	"\"type\":\"dragonfly\",\"groups\":4,\"rows\":2,\"columns\":4,"        \
	"\"nodes_per_router\":2,\"global_links_per_group_pair\":2,"            \
	"\"bandwidth\":{\"row\":5e9,\"column\":15e9,\"global\":5e9,"           \
	"\"injection\":16e9},\"routing\":\"static-direct\","                   \
	"\"nodes\":\"n[0-63]\"}"

static const char *const joint_pattern[] = {
        "halo", "sub-communicators", "transpose", "ring", "partners", "blocks",
};
#define JOINT_PATTERNS 6

/* Does rank r send to rank s? Of n ranks, n a multiple of 16. */
static inline int joint_talk(int pattern, int n, int r, int s, uint64_t seed)
{
	int x = r % 4, y = r / 4 % 4, z = r / 16;
	int dx = abs(x - s % 4), dy = abs(y - s / 4 % 4), dz = abs(z - s / 16);

	switch (pattern) {
	case 0:
		return dx + dy + dz == 1;
	case 1: /* those of a stride talk to each other */
		return r % (n / 8) == s % (n / 8);
	case 2: /* rows and columns */
		return r / 16 == s / 16 || r % 16 == s % 16;
	case 3: /* numbered by turns, as some codes do */
		return (r * 7 + 7) % n == s * 7 % n;
	case 4:
		for (uint64_t k = 0; k < 4; k++)
			if ((int)cpl_random_below(seed, JOINT_PARTNER,
			                          4 * (uint64_t)r + k,
			                          (uint64_t)n) == s)
				return 1;
		return 0;
	default: /* all in a block of 16 talk, and the blocks' first */
		return r / 16 == s / 16 || (!(r % 16) && !(s % 16));
	}
}

/* NULL: memory. */
static inline struct cpl_comm *joint_comm(int pattern, int n, uint64_t seed)
{
	struct cpl_comm_entry *entry =
	        malloc((size_t)n * (size_t)n * sizeof(*entry));
	struct cpl_comm *comm;
	int64_t used = 0;

	if (!entry)
		return NULL;
	for (int r = 0; r < n; r++)
		for (int s = 0; s < n; s++)
			if (s != r && joint_talk(pattern, n, r, s, seed))
				entry[used++] = (struct cpl_comm_entry){
				        r, s, JOINT_BYTES, 1};
	comm = cpl_comm_build(n, entry, used, NULL);
	free(entry);
	return comm;
}

/* n of the nodes, drawn. */
static inline void joint_free(const struct cpl_network *net, int n,
                              uint64_t seed, unsigned char *is_free)
{
	for (int i = 0; i < net->n_nodes; i++)
		is_free[i] = 0;
	for (uint64_t k = 0; n > 0; k++) {
		int i = (int)cpl_random_below(seed, JOINT_FREE, k,
		                              (uint64_t)net->n_nodes);

		n -= !is_free[i];
		is_free[i] = 1;
	}
}
