/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Random networks and traffic to try routings on. */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "network_text.h"
#include "add_traffic.h"
#include "traffic/traffic.h"

#define MESSAGES 60

static inline int draw(uint64_t seed, uint64_t counter, int low, int high)
{
	return low + (int)cpl_random_below(seed, 9, counter,
	                                   (uint64_t)(high - low + 1));
}

static inline struct cpl_network *fly(int groups, int rows, int columns,
                                      int ports, int k)
{
	char text[512];

	snprintf(text, sizeof(text),
	         "{\"format\": \"commplace-network\", \"version\": 1, "
	         "\"type\": \"dragonfly\", \"groups\": %d, \"rows\": %d, "
	         "\"columns\": %d, \"nodes_per_router\": %d, "
	         "\"global_links_per_group_pair\": %d, \"bandwidth\": "
	         "{\"row\": 2, \"column\": 3, \"global\": 5}, "
	         "\"nodes\": \"n[0-%d]\"}",
	         groups, rows, columns, ports, k,
	         groups * rows * columns * ports - 1);
	return parse_network(text);
}

/* Rows [A, i, B, j] of random ends, K for each two groups, in any order. */
static inline void random_links(char *text, size_t size, uint64_t seed,
                                int groups, int routers, int k)
{
	uint64_t at = 100;
	size_t n = 0;

	n += (size_t)snprintf(text, size, ", \"global_links\": [");
	for (int i = 0; i < k; i++)
		for (int a = 0; a < groups; a++)
			for (int b = a + 1; b < groups; b++) {
				bool swap = draw(seed, at++, 0, 1);
				int x = draw(seed, at++, 0, routers - 1);
				int y = draw(seed, at++, 0, routers - 1);

				n += (size_t)snprintf(
				        text + n, size - n,
				        "%s[%d, %d, %d, %d]",
				        at > 103 ? ", " : "", swap ? b : a,
				        swap ? y : x, swap ? a : b,
				        swap ? x : y);
			}
	snprintf(text + n, size - n, "]");
}

/* All wirings, up to 4 links between groups, parallel links inside them. */
static inline struct cpl_network *random_fly(uint64_t seed)
{
	static const char *const wirings[] = {"modulo", "consecutive",
	                                      "palmtree", "list"};
	int groups = draw(seed, 0, 1, 5), rows = draw(seed, 1, 1, 3);
	int columns = draw(seed, 2, 1, 4), ports = draw(seed, 3, 1, 2);
	int k = draw(seed, 4, 1, 4), wiring = (int)(seed % 4);
	char text[4096], links[3072] = "";

	if (wiring == 3)
		random_links(links, sizeof(links), seed, groups, rows * columns,
		             k);
	snprintf(text, sizeof(text),
	         "{\"format\": \"commplace-network\", \"version\": 1, "
	         "\"type\": \"dragonfly\", \"groups\": %d, \"rows\": %d, "
	         "\"columns\": %d, \"nodes_per_router\": %d, "
	         "\"row_links_per_router_pair\": %d, "
	         "\"column_links_per_router_pair\": %d, "
	         "\"global_links_per_group_pair\": %d, "
	         "\"global_wiring\": \"%s\"%s, \"bandwidth\": "
	         "{\"row\": %d, \"column\": %d, \"global\": %d}, "
	         "\"nodes\": \"n[0-%d]\"}",
	         groups, rows, columns, ports, draw(seed, 5, 1, 2),
	         draw(seed, 6, 1, 3), k, wirings[wiring], links,
	         draw(seed, 7, 1, 5), draw(seed, 8, 1, 5), draw(seed, 9, 1, 5),
	         groups * rows * columns * ports - 1);
	return parse_network(text);
}

/* One to three kinds of groups, up to 5 groups in all, nodes up to `most` on a
 * router; more: further keys. */
static inline struct cpl_network *random_kinds(uint64_t seed, int most,
                                               const char *more)
{
	static const char *const wirings[] = {"modulo", "consecutive",
	                                      "palmtree", "list"};
	int n_kinds = draw(seed, 0, 1, 3), groups = 0, nodes = 0, least = 99;
	int k = draw(seed, 1, 1, 3), wiring = (int)(seed % 4);
	char kinds[1024] = "", links[3072] = "", text[5120];
	size_t at = 0;

	for (int i = 0; i < n_kinds; i++) {
		uint64_t to = 10 + 10 * (uint64_t)i;
		int n = draw(seed, to, 1, n_kinds == 3 ? 1 : 2);
		int rows = draw(seed, to + 1, 1, 3);
		int columns = draw(seed, to + 2, 1, 3);
		int places = draw(seed, to + 3, 1, most);

		groups += n;
		nodes += n * rows * columns * places;
		least = rows * columns < least ? rows * columns : least;
		at += (size_t)snprintf(
		        kinds + at, sizeof(kinds) - at,
		        "%s{\"groups\": %d, \"rows\": %d, \"columns\": %d, "
		        "\"nodes_per_router\": %d, "
		        "\"row_links_per_router_pair\": %d, \"bandwidth\": "
		        "{\"row\": %d, \"column\": %d, \"injection\": %d}}",
		        i ? ", " : "", n, rows, columns, places,
		        draw(seed, to + 4, 1, 2), draw(seed, to + 5, 1, 2),
		        draw(seed, to + 6, 1, 2), draw(seed, to + 7, 1, 4));
	}
	if (wiring == 3)
		random_links(links, sizeof(links), seed, groups, least, k);
	snprintf(text, sizeof(text),
	         "{\"format\": \"commplace-network\", \"version\": 1, "
	         "\"type\": \"dragonfly\", \"kinds\": [%s], "
	         "\"global_links_per_group_pair\": %d, "
	         "\"global_wiring\": \"%s\"%s, \"bandwidth\": "
	         "{\"global\": %d}, \"nodes\": \"n[0-%d]\"%s}",
	         kinds, k, wirings[wiring], links, draw(seed, 2, 1, 5),
	         nodes - 1, more);
	return parse_network(text);
}

/* Tori and meshes of 1 to 6 dimensions. */
static inline struct cpl_network *random_torus(uint64_t seed)
{
	static const int longest[] = {0, 9, 6, 5, 4, 3, 3};
	int n_dims = 1 + (int)(seed % 6), routers = 1;
	char dims[64] = "", wrap[64] = "", text[512];
	size_t at = 0, to = 0;

	for (int d = 0; d < n_dims; d++) {
		int n = draw(seed, 10 + (uint64_t)d, 1, longest[n_dims]);

		routers *= n;
		at += (size_t)snprintf(dims + at, sizeof(dims) - at, "%s%d",
		                       d ? "," : "", n);
		to += (size_t)snprintf(
		        wrap + to, sizeof(wrap) - to, "%s%s", d ? "," : "",
		        draw(seed, 20 + (uint64_t)d, 0, 1) ? "true" : "false");
	}
	snprintf(text, sizeof(text),
	         "{\"format\": \"commplace-network\", \"version\": 1, "
	         "\"type\": \"torus\", \"dims\": [%s], \"wrap\": [%s], "
	         "\"bandwidth\": {\"dim\": %d}, \"nodes\": \"n[0-%d]\"}",
	         dims, wrap, draw(seed, 30, 1, 5), routers - 1);
	return parse_network(text);
}

static inline struct cpl_network *random_tree(uint64_t seed)
{
	int levels = draw(seed, 0, 1, 3), leaves = 1;
	char text[1024];
	size_t n;

	n = (size_t)snprintf(text, sizeof(text),
	                     "{\"format\": \"commplace-network\", "
	                     "\"version\": 1, \"type\": \"fattree\", "
	                     "\"nodes_per_router\": 2, \"levels\": [");
	for (int l = 0; l < levels; l++) {
		uint64_t at = 10 * (uint64_t)l;
		int down = draw(seed, at + 1, 2, 4);

		leaves *= down;
		n += (size_t)snprintf(
		        text + n, sizeof(text) - n,
		        "%s{\"down\": %d, \"up\": %d, \"links\": %d, "
		        "\"bandwidth\": %d}",
		        l ? ", " : "", down, draw(seed, at + 2, 1, 3),
		        draw(seed, at + 3, 1, 3), draw(seed, at + 4, 1, 5));
	}
	leaves -= draw(seed, 90, 0, 1);
	snprintf(text + n, sizeof(text) - n,
	         "], \"leaves\": %d, \"nodes\": \"n[0-%d]\"}", leaves,
	         2 * leaves - 1);
	return parse_network(text);
}

/* A random tree of cables and some more, parallel ones too. */
static inline struct cpl_network *random_graph(uint64_t seed)
{
	int routers = draw(seed, 0, 2, 20), with = draw(seed, 1, 1, routers);
	int more = draw(seed, 2, 0, 20);
	char text[4096];
	size_t n;

	n = (size_t)snprintf(text, sizeof(text),
	                     "{\"format\": \"commplace-network\", "
	                     "\"version\": 1, \"type\": \"graph\", "
	                     "\"routers\": %d, \"node_routers\": %d, "
	                     "\"nodes\": \"n[0-%d]\", \"links\": [",
	                     routers, with, with - 1);
	for (int i = 1; i < routers + more; i++) {
		uint64_t at = 100 + 3 * (uint64_t)i;
		int from = i < routers ? i : draw(seed, at, 1, routers - 1);
		int to = draw(seed, at + 1, 0, from - 1);

		n += (size_t)snprintf(text + n, sizeof(text) - n,
		                      "%s[%d, %d, %d]", i > 1 ? ", " : "", from,
		                      to, draw(seed, at + 2, 1, 4));
	}
	snprintf(text + n, sizeof(text) - n, "]}");
	return parse_network(text);
}

/* Dragonfly+: cells of different size, spines without a link to some cell. */
static inline struct cpl_network *random_plus(uint64_t seed)
{
	int cells = draw(seed, 0, 1, 5), k = draw(seed, 1, 1, 4), n_leaves = 0;
	char leaves[64] = "", spines[64] = "", links[3072] = "", text[4096];
	size_t a = 0, b = 0;

	for (int c = 0; c < cells; c++) {
		int n = draw(seed, 10 + (uint64_t)c, 1, 4);

		n_leaves += n;
		a += (size_t)snprintf(leaves + a, sizeof(leaves) - a, "%s%d",
		                      c ? "," : "", n);
		b += (size_t)snprintf(
		        spines + b, sizeof(spines) - b, "%s%d", c ? "," : "",
		        seed % 2 ? 3 : draw(seed, 20 + (uint64_t)c, 1, 4));
	}
	if (seed % 2)
		random_links(links, sizeof(links), seed, cells, 3, k);
	snprintf(text, sizeof(text),
	         "{\"format\": \"commplace-network\", \"version\": 1, "
	         "\"type\": \"dragonfly+\", \"cells\": %d, "
	         "\"leaves\": [%s], \"spines\": [%s], "
	         "\"nodes_per_router\": 2, "
	         "\"links_per_leaf_spine_pair\": %d, "
	         "\"global_links_per_cell_pair\": %d, "
	         "\"global_wiring\": \"%s\"%s, \"bandwidth\": "
	         "{\"up\": 2, \"global\": 3}, \"nodes\": \"n[0-%d]\"}",
	         cells, leaves, spines, draw(seed, 2, 1, 3), k,
	         seed % 2 ? "list" : "modulo", links, 2 * n_leaves - 1);
	return parse_network(text);
}

static inline struct cpl_network *random_hyperx(uint64_t seed)
{
	int n_dims = 1 + (int)(seed % 4), routers = 1;
	char dims[64] = "", text[512];
	size_t at = 0;

	for (int d = 0; d < n_dims; d++) {
		int n = draw(seed, 10 + (uint64_t)d, 1, 4);

		routers *= n;
		at += (size_t)snprintf(dims + at, sizeof(dims) - at, "%s%d",
		                       d ? "," : "", n);
	}
	snprintf(text, sizeof(text),
	         "{\"format\": \"commplace-network\", \"version\": 1, "
	         "\"type\": \"hyperx\", \"dims\": [%s], "
	         "\"links_per_router_pair\": %d, \"bandwidth\": "
	         "{\"dim\": %d}, \"nodes\": \"n[0-%d]\"}",
	         dims, draw(seed, 1, 1, 3), draw(seed, 2, 1, 5), routers - 1);
	return parse_network(text);
}

/* Random messages between nodes; rank r is on node r. */
static inline struct cpl_comm *random_comm(const struct cpl_network *net,
                                           uint64_t seed)
{
	struct cpl_comm_entry entry[MESSAGES];
	struct cpl_error err = {""};
	struct cpl_comm *comm;

	for (int i = 0; i < MESSAGES; i++) {
		uint64_t at = 3 * (uint64_t)i, n = (uint64_t)net->n_nodes;

		entry[i].from = (int)cpl_random_below(seed, 2, at, n);
		entry[i].to = (int)cpl_random_below(seed, 2, at + 1, n);
		entry[i].bytes =
		        (double)cpl_random_below(seed, 2, at + 2, 1000000);
		entry[i].messages = 1;
	}
	comm = cpl_comm_build(net->n_nodes, entry, MESSAGES, &err);
	assert_non_null(comm);
	return comm;
}

static inline void evaluate(const struct cpl_network *net, const char *name,
                            const struct cpl_comm *comm, struct cpl_load *load,
                            struct cpl_job_sums *sums)
{
	struct cpl_error err = {""};
	const struct cpl_routing *routing = cpl_routing_find(net, name, &err);
	int *rank_node = malloc((size_t)net->n_nodes * sizeof(*rank_node));

	if (!routing)
		fail_msg("%s", err.text);
	assert_non_null(rank_node);
	for (int r = 0; r < comm->ranks; r++)
		rank_node[r] = r;
	assert_int_equal(cpl_load_init(load, net, &err), 0);
	add_traffic(net, routing, comm, rank_node, load, sums);
	free(rank_node);
}

static inline double total(const struct cpl_network *net,
                           const struct cpl_load *load)
{
	double sum = 0;

	for (int64_t l = 0; l < net->n_links; l++)
		sum += load->link[l];
	return sum;
}

static inline double largest(const struct cpl_network *net,
                             const struct cpl_load *load)
{
	struct cpl_metrics m;

	cpl_traffic_metrics(net, load, NULL, &m);
	return m.max_congestion;
}

static inline void same_loads(const struct cpl_network *net, const double *got,
                              const double *want, uint64_t seed)
{
	for (int64_t l = 0; l < net->n_links; l++)
		if (got[l] < want[l] * (1 - 1e-9) - 1e-6 ||
		    got[l] > want[l] * (1 + 1e-9) + 1e-6 ||
		    (got[l] > 0) != (want[l] > 0))
			fail_msg("seed %d: link %d, %d -> %d: %.17g, not %.17g",
			         (int)seed, (int)l, net->link_from[l],
			         net->link_to[l], got[l], want[l]);
}

/* Everybody to everybody: pairs enough for several lanes. */
static inline struct cpl_flows everybody(int n)
{
	struct cpl_flows pairs = {
	        .n_from = n,
	        .from = malloc((size_t)n * sizeof(int)),
	        .row = malloc(((size_t)n + 1) * sizeof(int64_t)),
	        .to = malloc((size_t)n * (size_t)n * sizeof(int)),
	        .bytes = malloc((size_t)n * (size_t)n * sizeof(double)),
	};
	int64_t m = 0;

	for (int i = 0; i < n; i++) {
		pairs.from[i] = i;
		pairs.row[i] = m;
		for (int j = 0; j < n; j++)
			if (i != j) {
				pairs.to[m] = j;
				pairs.bytes[m++] = 1 + (i * 7 + j * 3) % 11;
			}
	}
	pairs.row[n] = m;
	return pairs;
}
