/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Link loads of collectives on 64 groups of 16 routers of one node with 16
 * cores (Jain 2016, 8.2.1, tables 8.3 to 8.5): links used, least and largest
 * bytes on those, inside groups ("L1") and between them ("L2").
 */
#include "unit.h"

#include "network/dragonfly/dragonfly.h"
#include "number.h"
#include "add_traffic.h"
#include "traffic/traffic.h"

#define GROUPS 64
#define NODES 16 /* per group */
#define CORES 16 /* per node */
#define ALL_NODES (GROUPS * NODES)
#define RANKS (ALL_NODES * CORES)
#define MIB 1048576.0
#define BLOCK 65536.0 /* one core's part */
#define NODE_BLOCK (CORES * BLOCK)
#define GROUP_BLOCK (NODES * NODE_BLOCK)

/* Messages; `ranks` is RANKS, or ALL_NODES where whole nodes are counted. */
struct pattern {
	int ranks;
	int64_t n, room;
	struct cpl_comm_entry *entry;
};

struct level {
	int64_t used;
	double min, max;
};

static void send(struct pattern *p, int from, int to, double bytes)
{
	if (p->n == p->room) {
		p->room = p->room ? 2 * p->room : 1024;
		p->entry =
		        realloc(p->entry, (size_t)p->room * sizeof(*p->entry));
		assert_non_null(p->entry);
	}
	p->entry[p->n++] = (struct cpl_comm_entry){from, to, bytes, 1};
}

static struct level level(const struct cpl_network *net, const double *load,
                          int class)
{
	const struct cpl_link_class *links = &net->link_class[class];
	struct level l = {0, 0, 0};

	for (int64_t i = links->first; i < links->first + links->count; i++) {
		if (!(load[i] > 0))
			continue;
		if (!l.used++ || load[i] < l.min)
			l.min = load[i];
		if (load[i] > l.max)
			l.max = load[i];
	}
	return l;
}

static void run(struct pattern *p, struct level *l1, struct level *l2)
{
	static const char text[] =
	        "{\"format\": \"commplace-network\", \"version\": 1, "
	        "\"type\": \"dragonfly\", \"groups\": 64, \"rows\": 1, "
	        "\"columns\": 16, \"nodes\": \"n[0-1023]\"}";
	struct cpl_error err = {""};
	struct cpl_network *net =
	        cpl_network_parse(text, strlen(text), "net", &err);
	struct cpl_comm *comm = cpl_comm_build(p->ranks, p->entry, p->n, &err);
	struct cpl_load load;
	int *rank_node = malloc((size_t)p->ranks * sizeof(*rank_node));

	assert_true(net && comm && rank_node);
	assert_int_equal(net->link_class[CPL_DRAGONFLY_ROW].count, 15360);
	assert_int_equal(net->link_class[CPL_DRAGONFLY_GLOBAL].count, 4032);
	for (int r = 0; r < p->ranks; r++)
		rank_node[r] = r / (p->ranks / ALL_NODES);
	assert_int_equal(cpl_load_init(&load, net, &err), 0);
	add_traffic(net, &cpl_routing_static_direct, comm, rank_node,
	                &load, NULL);
	*l1 = level(net, load.link, CPL_DRAGONFLY_ROW);
	*l2 = level(net, load.link, CPL_DRAGONFLY_GLOBAL);
	cpl_load_free(&load);
	cpl_comm_free(comm);
	cpl_network_free(net);
	free(rank_node);
	free(p->entry);
}

static void is(const struct level *l, int64_t used, double min, double max)
{
	assert_int_equal(l->used, used);
	assert_number(l->min, min, 0);
	assert_number(l->max, max, 0);
}

/* Node of group a that has the link to group b, and the one it ends at. */
static int gateway(int a, int b)
{
	return a * NODES + b % NODES;
}

/* Table 8.3: 960 / 1 MB / 64 MB; 63 / 16 MB. The busiest link also carries the
 * block of the node it leads to, 65 MB. */
static void test_scatter_two_tier(void **state)
{
	struct pattern p = {.ranks = ALL_NODES};
	struct level l1, l2;

	for (int node = 1; node < NODES; node++)
		send(&p, 0, node, NODE_BLOCK + GROUPS / NODES * GROUP_BLOCK);
	for (int group = 1; group < GROUPS; group++)
		send(&p, gateway(0, group), gateway(group, 0), GROUP_BLOCK);
	for (int group = 1; group < GROUPS; group++)
		for (int node = 1; node < NODES; node++)
			send(&p, gateway(group, 0), group * NODES + node,
			     NODE_BLOCK);
	run(&p, &l1, &l2);
	is(&l1, 960, MIB, 65 * MIB);
	is(&l2, 63, 16 * MIB, 16 * MIB);
}

static void ring(struct pattern *p)
{
	for (int rank = 0; rank < RANKS; rank++)
		send(p, rank, (rank + 1) % RANKS, (RANKS - 1) * BLOCK);
}

/* Table 8.4: 1588 / 2 MB / 1.1 GB; 95 / 32 MB / 1.09 GB. */
static void test_broadcast_van_de_geijn(void **state)
{
	struct pattern p = {.ranks = RANKS};
	struct level l1, l2;

	/* Binomial scatter from rank 0, then a ring. */
	for (int half = RANKS / 2; half; half /= 2)
		for (int rank = 0; rank < RANKS; rank += 2 * half)
			send(&p, rank, rank + half, half * BLOCK);
	ring(&p);
	run(&p, &l1, &l2);
	/* Busiest: the ring, the blocks of node 1 and, over its gateway, of
	 * group 1; between groups the ring and the blocks of group 1. */
	is(&l1, 1588, 2 * MIB, (RANKS - 1) * BLOCK + 17 * MIB);
	is(&l2, 95, 32 * MIB, (RANKS - 1) * BLOCK + 16 * MIB);
}

/* Table 8.3: L1 1080 / 1 GB / 1 GB; a ring crosses to the next group once, 64
 * links. */
static void test_allgather_ring(void **state)
{
	struct pattern p = {.ranks = RANKS};
	struct level l1, l2;

	ring(&p);
	run(&p, &l1, &l2);
	is(&l1, 1080, (RANKS - 1) * BLOCK, (RANKS - 1) * BLOCK);
	is(&l2, 64, (RANKS - 1) * BLOCK, (RANKS - 1) * BLOCK);
}

/* Table 8.3: L1 15360 / 65 MB; L2 4032 / 16 MB. A node whose link would lead
 * to its own group has one block less to pass on. */
static void test_allgather_two_tier(void **state)
{
	struct pattern p = {.ranks = ALL_NODES};
	struct level l1, l2;

	for (int group = 0; group < GROUPS; group++) {
		int first = group * NODES;

		for (int from = 0; from < NODES; from++)
			for (int to = 0; to < NODES; to++)
				if (from != to)
					send(&p, first + from, first + to,
					     NODE_BLOCK);
		for (int other = 0; other < GROUPS; other++) {
			int there = gateway(other, group);

			if (other == group)
				continue;
			send(&p, gateway(group, other), there, GROUP_BLOCK);
			for (int to = 0; to < NODES; to++)
				if (other * NODES + to != there)
					send(&p, there, other * NODES + to,
					     GROUP_BLOCK);
		}
	}
	run(&p, &l1, &l2);
	is(&l1, 15360, 49 * MIB, 65 * MIB);
	is(&l2, 4032, 16 * MIB, 16 * MIB);
}

/* Table 8.5: L1 15360 / 2 GB; L2 4032 / 4 GB. All pairs of ranks exchange a
 * block, so all pairs of nodes exchange 16 * 16. */
static void test_reduce_scatter_pairwise(void **state)
{
	struct pattern p = {.ranks = ALL_NODES};
	struct level l1, l2;

	for (int from = 0; from < ALL_NODES; from++)
		for (int to = 0; to < ALL_NODES; to++)
			if (from != to)
				send(&p, from, to, CORES * NODE_BLOCK);
	run(&p, &l1, &l2);
	assert_int_equal(l1.used, 15360);
	assert_number(l1.min, 1.90e9, 0.005e9);
	assert_number(l1.max, 2.16e9, 0.005e9);
	is(&l2, 4032, 4096 * MIB, 4096 * MIB);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_scatter_two_tier),
	        cmocka_unit_test(test_broadcast_van_de_geijn),
	        cmocka_unit_test(test_allgather_ring),
	        cmocka_unit_test(test_allgather_two_tier),
	        cmocka_unit_test(test_reduce_scatter_pairwise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
