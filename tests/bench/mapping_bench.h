/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of bench_mapping share. */
#pragma once

#include "mapping/mapping.h"

struct problem {
	const char *text;
	const char *network; /* torus dims, or "dragonfly" */
	int ranks, per_node;
	bool shuffled, fragmented;
	void (*pattern)(int ranks);
};

extern const struct problem bench_problem[];
extern const int bench_n_problems;

struct figures {
	double hop_bytes, max, seconds;
};

struct options {
	const char *algorithm, *gmap, *kahip, *folder;
	int64_t work;
	double deadline;
	bool scotch_time; /* the deadline of a case is what Scotch took */
	enum cpl_objective objective;
	int only, threads;
};

double bench_now(void);
bool bench_init(void);
void bench_free(void);

/* The matrix: begin anew, add entries, take it. */
void bench_clear(int ranks, bool shuffled);
void bench_add(int from, int to, double bytes);
struct cpl_comm *bench_comm(int ranks, struct cpl_error *err);

/* A torus, or a dragonfly of twice the nodes. */
struct cpl_network *bench_network(const char *what, int nodes,
                                  struct cpl_error *err);
/* Is it "tree", with 4 nodes a switch and 8 switches a group? */
bool bench_is_tree(const struct cpl_network *net);
/* Nodes of the job: the first, or some of all. */
void bench_hosts(const struct problem *p, int n_nodes, int *host, int n);

void bench_evaluate(const struct cpl_map_request *req, const int *rank_host,
                    struct figures *out);
bool bench_mapper(const struct options *o, struct cpl_map_request *req,
                  const char *algorithm, struct figures *out);

/* The best of Scotch's strategies, and on a tree of KaHIP's, in each number, and the
 * longest time of one of them; false: none worked. */
bool bench_peers(const struct options *o, const struct cpl_map_request *req,
                 struct figures *out);

/* Measured matrices and placements. */
int bench_folder(const struct options *o);
