/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Collectives in two tiers (Jain 2016, 8.1) go inside groups of nodes and over the
 * links between groups. dim[] has groups, nodes of a group, and ranks of a node.
 * The link from group A to group B is on node B mod nodes of A. A node's first rank
 * speaks for it. */
#include "signature/pattern/pattern.h"

struct position {
	int groups, nodes, cores;
	int group, node; /* in its group */
	double node_block, group_block;
	int links; /* to other groups */
};

static int links_of(const struct pattern *p, int group, int node)
{
	int links = 0;

	for (int g = node; g < p->dim[0]; g += p->dim[1])
		links += g != group;
	return links;
}

static struct position position_of(const struct pattern *p, int rank)
{
	struct position at = {
	        .groups = p->dim[0], .nodes = p->dim[1], .cores = p->dim[2]};

	at.node = rank / at.cores;
	at.group = at.node / at.nodes;
	at.node %= at.nodes;
	at.node_block = p->bytes[0] * at.cores;
	at.group_block = at.node_block * at.nodes;
	at.links = links_of(p, at.group, at.node);
	return at;
}

static int first_rank(const struct position *at, int group, int node)
{
	return (group * at->nodes + node) * at->cores;
}

/* This sends to the other ends of the links on this node, in groups from `first`
 * on. */
static int64_t cross(const struct position *at, int rank, int first,
                     double bytes, struct cpl_comm_entry *out, int64_t n)
{
	for (int g = at->node; g < at->groups; g += at->nodes)
		if (g != at->group && g >= first)
			out[n++] = (struct cpl_comm_entry){
			        rank, first_rank(at, g, at->group % at->nodes),
			        bytes, 1};
	return n;
}

static int64_t to_cores(const struct position *at, int rank, double bytes,
                        struct cpl_comm_entry *out, int64_t n)
{
	for (int i = 1; i < at->cores; i++)
		out[n++] = (struct cpl_comm_entry){rank, rank + i, bytes, 1};
	return n;
}

int64_t pattern_two_tier_scatter(const struct pattern *p, int rank,
                                 const struct pattern_step *step, double unit,
                                 struct cpl_comm_entry *out, int64_t n)
{
	struct position at = position_of(p, rank);

	if (rank % at.cores)
		return n;
	/* The root's group passes on the shares of the others. Each other group has
	 * its share at the node where the link from the root's group ends. */
	for (int to = 0; to < at.nodes && at.node == 0; to++) {
		int links = at.group ? 0 : links_of(p, 0, to);

		if (to != 0)
			out[n++] = (struct cpl_comm_entry){
			        rank, first_rank(&at, at.group, to),
			        at.node_block + links * at.group_block,
			        1.0 + links};
	}
	if (at.group == 0)
		n = cross(&at, rank, 0, at.group_block, out, n);
	return to_cores(&at, rank, p->bytes[0], out, n);
}

int64_t pattern_two_tier_allgather(const struct pattern *p, int rank,
                                   const struct pattern_step *step, double unit,
                                   struct cpl_comm_entry *out, int64_t n)
{
	struct position at = position_of(p, rank);

	if (rank % at.cores) {
		out[n++] = (struct cpl_comm_entry){rank, rank - rank % at.cores,
		                                   p->bytes[0], 1};
		return n;
	}
	/* A rank sends its own block to all nodes of the group, the group's blocks
	 * over the links, and what comes over these to all nodes of the group. */
	for (int to = 0; to < at.nodes; to++)
		if (to != at.node)
			out[n++] = (struct cpl_comm_entry){
			        rank, first_rank(&at, at.group, to),
			        at.node_block + at.links * at.group_block,
			        1.0 + at.links};
	n = cross(&at, rank, 0, at.group_block, out, n);
	return to_cores(&at, rank, (p->ranks - 1) * p->bytes[0], out, n);
}

/* Do groups other than the root's and `but` have a link to this node of theirs? */
static bool reached(const struct position *at, int node, int but)
{
	for (int g = node; g < at->groups; g += at->nodes)
		if (g && g != but)
			return true;
	return false;
}

/* The root gives each node of its group that has links a share, or each node where
 * there is one group. These send it over their links, to node 0 of each other
 * group, which tells its group; all its nodes send it over theirs, and what comes
 * by that goes to all nodes of a group once, whichever group has sent it first. */
int64_t pattern_two_tier_broadcast(const struct pattern *p, int rank,
                                   const struct pattern_step *step, double unit,
                                   struct cpl_comm_entry *out, int64_t n)
{
	struct position at = position_of(p, rank);
	int shares = at.groups > at.nodes || at.groups == 1 ? at.nodes
	                                                    : at.groups - 1;
	double share = p->bytes[0] / shares;
	bool alone = at.groups == 1;
	int own;

	if (rank % at.cores)
		return n;
	own = at.group ? (at.node == 0) + reached(&at, at.node, at.group)
	               : alone || reached(&at, at.node, 0);
	for (int to = 0; to < at.nodes; to++) {
		int parts = own;

		if (!at.group && !at.node)
			parts += alone || reached(&at, to, 0);
		if (to != at.node && parts)
			out[n++] = (struct cpl_comm_entry){
			        rank, first_rank(&at, at.group, to),
			        parts * share, parts};
	}
	n = cross(&at, rank, 1, share, out, n);
	return to_cores(&at, rank, p->bytes[0], out, n);
}
