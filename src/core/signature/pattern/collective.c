/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One execution of a collective operation as the messages of a stated
 * algorithm (Thakur, Rabenseifner, Gropp, IJHPCA 2005; Jain 2016, ch. 8).
 * `bytes` is a rank's block in scatter, gather, allgather and alltoall, and
 * the whole vector in broadcast, reduce, reduce-scatter and allreduce.
 */
#include "signature/pattern/pattern.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"

/* Rank counted from the root, and back. */
static int from_root(const struct pattern *p, int rank)
{
	return (int)(((int64_t)rank - p->root + p->ranks) % p->ranks);
}

static int to_rank(const struct pattern *p, int64_t v)
{
	return (int)((v + p->root) % p->ranks);
}

/* The span of v's subtree: its lowest bit, for the root all of the tree. */
static int64_t span(const struct pattern *p, int v)
{
	int64_t bit = 1;

	while (v ? !(v & bit) : bit < p->ranks)
		bit *= 2;
	return bit;
}

static int64_t put(struct cpl_comm_entry *out, int64_t n, int from, int to,
                   double bytes, double messages)
{
	out[n] = (struct cpl_comm_entry){from, to, bytes, messages};
	return n + 1;
}

/* To the children; block > 0: each gets the blocks of its subtree. */
static int64_t tree_down(const struct pattern *p, int rank, double whole,
                         double block, struct cpl_comm_entry *out, int64_t n)
{
	int v = from_root(p, rank);

	for (int64_t bit = span(p, v) / 2; bit > 0; bit /= 2) {
		int64_t child = v + bit, size = p->ranks - child;

		if (size <= 0)
			continue;
		size = size < bit ? size : bit;
		n = put(out, n, rank, to_rank(p, child),
		        whole + block * (double)size, 1.0);
	}
	return n;
}

static int64_t tree_up(const struct pattern *p, int rank, double whole,
                       double block, struct cpl_comm_entry *out, int64_t n)
{
	int v = from_root(p, rank);
	int64_t bit = span(p, v), size = p->ranks - v;

	if (v == 0)
		return n;
	size = size < bit ? size : bit;
	return put(out, n, rank, to_rank(p, v - bit),
	           whole + block * (double)size, 1.0);
}

static int64_t ring(const struct pattern *p, int rank, double block,
                    double rounds, struct cpl_comm_entry *out, int64_t n)
{
	double messages = rounds * (p->ranks - 1.0);

	if (p->ranks == 1)
		return n;
	return put(out, n, rank, (int)((rank + (int64_t)1) % p->ranks),
	           messages * block, messages);
}

static int64_t pairwise(const struct pattern *p, int rank, double block,
                        struct cpl_comm_entry *out, int64_t n)
{
	for (int to = 0; to < p->ranks; to++)
		if (to != rank)
			n = put(out, n, rank, to, block, 1.0);
	return n;
}

static int64_t doubling(const struct pattern *p, int rank, double whole,
                        double block, struct cpl_comm_entry *out)
{
	int64_t n = 0;

	for (int bit = 1; bit < p->ranks; bit *= 2)
		n = put(out, n, rank, rank ^ bit, whole + block * bit, 1.0);
	return n;
}

static int64_t broadcast_binomial(const struct pattern *p, int rank,
                                  struct cpl_comm_entry *out)
{
	return tree_down(p, rank, p->bytes[0], 0.0, out, 0);
}

static int64_t broadcast_van_de_geijn(const struct pattern *p, int rank,
                                      struct cpl_comm_entry *out)
{
	double block = p->bytes[0] / p->ranks;

	return ring(p, rank, block, 1.0, out,
	            tree_down(p, rank, 0.0, block, out, 0));
}

static int64_t scatter_binomial(const struct pattern *p, int rank,
                                struct cpl_comm_entry *out)
{
	return tree_down(p, rank, 0.0, p->bytes[0], out, 0);
}

static int64_t gather_binomial(const struct pattern *p, int rank,
                               struct cpl_comm_entry *out)
{
	return tree_up(p, rank, 0.0, p->bytes[0], out, 0);
}

static int64_t allgather_ring(const struct pattern *p, int rank,
                              struct cpl_comm_entry *out)
{
	return ring(p, rank, p->bytes[0], 1.0, out, 0);
}

static int64_t allgather_doubling(const struct pattern *p, int rank,
                                  struct cpl_comm_entry *out)
{
	return doubling(p, rank, 0.0, p->bytes[0], out);
}

static int64_t reduce_binomial(const struct pattern *p, int rank,
                               struct cpl_comm_entry *out)
{
	return tree_up(p, rank, p->bytes[0], 0.0, out, 0);
}

static int64_t reduce_rabenseifner(const struct pattern *p, int rank,
                                   struct cpl_comm_entry *out)
{
	double block = p->bytes[0] / p->ranks;

	return tree_up(p, rank, 0.0, block, out,
	               pairwise(p, rank, block, out, 0));
}

static int64_t reduce_scatter_pairwise(const struct pattern *p, int rank,
                                       struct cpl_comm_entry *out)
{
	return pairwise(p, rank, p->bytes[0] / p->ranks, out, 0);
}

static int64_t allreduce_doubling(const struct pattern *p, int rank,
                                  struct cpl_comm_entry *out)
{
	return doubling(p, rank, p->bytes[0], 0.0, out);
}

/* Reduce-scatter round the ring, then allgather. */
static int64_t allreduce_ring(const struct pattern *p, int rank,
                              struct cpl_comm_entry *out)
{
	return ring(p, rank, p->bytes[0] / p->ranks, 2.0, out, 0);
}

static int64_t alltoall_pairwise(const struct pattern *p, int rank,
                                 struct cpl_comm_entry *out)
{
	return pairwise(p, rank, p->bytes[0], out, 0);
}

/* Entries of a row: of a tree or by doubling at most 32, with all ranks, or by
 * "dims". */
enum { FEW = 32, ALL = 0, TIERS = -1 };

static const struct algorithm {
	const char *operation, *name;
	int degree;
	bool rooted, power_of_two;
	int64_t (*row)(const struct pattern *p, int rank,
	               struct cpl_comm_entry *out);
} table[] = {
        {"broadcast", "binomial", FEW, true, false, broadcast_binomial},
        {"broadcast", "van-de-geijn", FEW, true, false, broadcast_van_de_geijn},
        {"scatter", "binomial", FEW, true, false, scatter_binomial},
        {"scatter", "two-tier", TIERS, false, false, pattern_two_tier_scatter},
        {"gather", "binomial", FEW, true, false, gather_binomial},
        {"allgather", "ring", 1, false, false, allgather_ring},
        {"allgather", "recursive-doubling", FEW, false, true,
         allgather_doubling},
        {"allgather", "two-tier", TIERS, false, false,
         pattern_two_tier_allgather},
        {"reduce", "binomial", FEW, true, false, reduce_binomial},
        {"reduce", "rabenseifner", ALL, true, false, reduce_rabenseifner},
        {"reduce-scatter", "pairwise", ALL, false, false,
         reduce_scatter_pairwise},
        {"allreduce", "ring", 1, false, false, allreduce_ring},
        {"allreduce", "recursive-doubling", FEW, false, true,
         allreduce_doubling},
        {"alltoall", "pairwise", ALL, false, false, alltoall_pairwise},
};

#define N_ALGORITHMS ((int)(sizeof(table) / sizeof(table[0])))

static int find(const char *operation, const char *name, struct cpl_error *err)
{
	char list[CPL_ERROR_MAX / 2] = "";

	for (int i = 0; i < N_ALGORITHMS; i++)
		if (!strcmp(table[i].operation, operation) &&
		    !strcmp(table[i].name, name))
			return i;
	for (int i = 0; i < N_ALGORITHMS; i++) {
		size_t n = strlen(list);

		snprintf(list + n, sizeof(list) - n, "%s%s %s", n ? ", " : "",
		         table[i].operation, table[i].name);
	}
	return cpl_fail(err, "there is no %.20s %.20s; it must be one of %s",
	                operation, name, list);
}

static int take_text(const json_t *params, const char *key, const char **out,
                     struct cpl_error *err)
{
	int rc = cpl_json_string(params, key, out, err);

	if (rc == 0)
		return cpl_fail(err, "\"%s\" is missing", key);
	return rc < 0 ? -1 : 0;
}

/* "dims": groups, nodes of a group, ranks of a node. */
static int take_tiers(const json_t *params, struct pattern *p,
                      struct cpl_error *err)
{
	bool tiers = table[p->algorithm].degree == TIERS;
	int ranks = p->ranks;

	if (!tiers && json_object_get(params, "dims"))
		return cpl_fail(err, "\"dims\" is for two-tier algorithms");
	if (!tiers)
		return 0;
	if (pattern_dims(params, 3, p, err))
		return -1;
	if (p->n_dims != 3 || p->ranks != ranks)
		return cpl_fail(err,
		                "\"dims\" make %d ranks; groups, nodes of a "
		                "group and ranks of a node are needed that "
		                "make %d",
		                p->ranks, ranks);
	p->max_degree = (int64_t)p->dim[0] + p->dim[1] + p->dim[2];
	return 0;
}

static int parse(const json_t *params, struct pattern *p, struct cpl_error *err)
{
	static const char *const keys[] = {"type",  "operation", "algorithm",
	                                   "ranks", "bytes",     "root",
	                                   "dims",  NULL};
	const char *operation, *name;
	int64_t root = 0;
	int rc;

	if (cpl_json_known_keys(params, NULL, keys, err) ||
	    take_text(params, "operation", &operation, err) ||
	    take_text(params, "algorithm", &name, err) ||
	    pattern_ranks(params, p, err) || pattern_bytes(params, p, err))
		return -1;
	p->algorithm = find(operation, name, err);
	if (p->algorithm < 0)
		return -1;
	rc = cpl_json_int(params, "root", 0, p->ranks - 1, &root, err);
	if (rc < 0)
		return -1;
	if (rc && !table[p->algorithm].rooted)
		return cpl_fail(err, "%s has no \"root\"", operation);
	if (table[p->algorithm].power_of_two && (p->ranks & (p->ranks - 1)))
		return cpl_fail(err,
		                "recursive-doubling of %d ranks; a power of "
		                "two is needed",
		                p->ranks);
	p->root = (int)root;
	p->max_degree = table[p->algorithm].degree;
	/* A tree's message comes on top of those to all others. */
	if (p->max_degree == ALL)
		p->max_degree = p->ranks;
	return take_tiers(params, p, err);
}

static int64_t row(const struct pattern *p, int rank,
                   struct cpl_comm_entry *out)
{
	return table[p->algorithm].row(p, rank, out);
}

const struct pattern_type pattern_collective = {
        .name = "collective",
        .summary = "a collective operation by one of its algorithms",
        .parse = parse,
        .row = row,
};
