/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Networks and patterns for the tests of mappers. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "network_text.h"
#include "graph/comm.h"

static inline struct cpl_network *torus(int x, int y, int z, bool wrap)
{
	const char *w = wrap ? "true" : "false";
	char text[512];

	snprintf(text, sizeof(text),
	         "{\"format\":\"commplace-network\",\"version\":1,"
	         "\"name\":\"t\",\"type\":\"torus\",\"dims\":[%d,%d,%d],"
	         "\"wrap\":[%s,%s,%s],\"nodes_per_router\":1,"
	         "\"nodes\":\"n[0-%d]\"}",
	         x, y, z, w, w, w, x * y * z - 1);
	return parse_network(text);
}

static inline struct cpl_network *dragonfly(void)
{
	return parse_network(
	        "{\"format\":\"commplace-network\",\"version\":1,"
	        "\"name\":\"df\",\"type\":\"dragonfly\",\"groups\":4,"
	        "\"rows\":2,\"columns\":2,\"nodes_per_router\":2,"
	        "\"global_links_per_group_pair\":1,"
	        "\"nodes\":\"n[0-31]\"}");
}

static inline struct cpl_comm *build(int ranks, struct cpl_comm_entry *entry,
                                     int64_t n)
{
	struct cpl_error err = {""};
	struct cpl_comm *comm = cpl_comm_build(ranks, entry, n, &err);

	assert_non_null(comm);
	return comm;
}

/*
 * NPB 3.3 LU on s * s ranks, class C or D at 4,096: numbers of messages of both
 * ways as bytes of one; a pair on the outer border has one more (Sharunov 2017;
 * exchange_*.f).
 */
static inline struct cpl_comm *npb_lu(int s)
{
	struct cpl_comm_entry *entry =
	        malloc((size_t)(2 * s * s) * sizeof(*entry));
	double messages = s == 64 ? 245021 : 80829;
	struct cpl_comm *comm;
	int64_t n = 0;

	for (int c = 0; c < s; c++) {
		for (int r = 0; r < s; r++) {
			int i = r + s * c;

			if (r + 1 < s)
				entry[n++] = (struct cpl_comm_entry){
				        i, i + 1,
				        messages + (c == 0 || c == s - 1), 1};
			if (c + 1 < s)
				entry[n++] = (struct cpl_comm_entry){
				        i, i + s,
				        messages + (r == 0 || r == s - 1), 1};
		}
	}
	comm = build(s * s, entry, n);
	free(entry);
	return comm;
}

/* The same of BT: a hexagonal torus (copy_faces.f, make_set.f). */
static inline struct cpl_comm *npb_bt(int s)
{
	struct cpl_comm_entry *entry =
	        malloc((size_t)(3 * s * s) * sizeof(*entry));
	double messages = s == 64 ? 32130 : (2 + 2.0 * (s - 1)) * 201 + 2;
	struct cpl_comm *comm;
	int64_t n = 0;

	for (int j = 0; j < s; j++) {
		for (int i = 0; i < s; i++) {
			int p = i + s * j, up = (j + 1) % s;
			int to[3] = {(i + 1) % s + s * j, i + s * up,
			             (i + s - 1) % s + s * up};

			for (int k = 0; k < 3; k++)
				entry[n++] = (struct cpl_comm_entry){
				        p, to[k], messages, 1};
		}
	}
	comm = build(s * s, entry, n);
	free(entry);
	return comm;
}

static inline struct cpl_comm *random_comm(int ranks, int per_rank,
                                           uint64_t seed)
{
	struct cpl_comm_entry *entry =
	        malloc((size_t)(ranks * per_rank) * sizeof(*entry));
	struct cpl_comm *comm;
	int64_t n = 0;

	for (int r = 0; r < ranks; r++)
		for (uint64_t k = 0; k < (uint64_t)per_rank; k++)
			entry[n++] = (struct cpl_comm_entry){
			        r,
			        (int)cpl_random_below(seed, k, (uint64_t)r,
			                              (uint64_t)ranks),
			        (double)cpl_random_below(seed, 50 + k,
			                                 (uint64_t)r, 1000),
			        1};
	comm = build(ranks, entry, n);
	free(entry);
	return comm;
}
