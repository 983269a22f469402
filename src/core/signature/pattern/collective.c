/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One execution of a collective operation becomes the messages of a stated
 * algorithm (Thakur, Rabenseifner, Gropp, IJHPCA 2005; Jain 2016, ch. 8). `bytes`
 * is a rank's block in scatter, gather, allgather and alltoall, and the whole
 * vector in broadcast, reduce, reduce-scatter and allreduce. */
#include "signature/pattern/pattern.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"

/* These number ranks from the root, and back. */
static int from_root(const struct pattern *p, int rank)
{
	return (int)(((int64_t)rank - p->root + p->ranks) % p->ranks);
}

static int to_rank(const struct pattern *p, int64_t v)
{
	return (int)((v + p->root) % p->ranks);
}

/* The span of v's subtree is its lowest bit; the root's is the whole tree. */
static int64_t span(const struct pattern *p, int v)
{
	int64_t bit = 1;

	while (v ? !(v & bit) : bit < p->ranks)
		bit *= 2;
	return bit;
}

static int64_t put_entry(struct cpl_comm_entry *out, int64_t n, int from,
                         int to, double bytes, double messages)
{
	out[n] = (struct cpl_comm_entry){from, to, bytes, messages};
	return n + 1;
}

/* This is one step of an algorithm. Its messages have the size whole + block *
 * (ranks that they are for), in units of "bytes" or of a rank's share of them. */
struct pattern_step {
	pattern_put *put;
	int whole, block;
};

static double size_of(const struct pattern_step *step, double unit,
                      int64_t ranks)
{
	return step->whole * unit + step->block * unit * (double)ranks;
}

/* This sends to the children in the tree. */
static int64_t down(const struct pattern *p, int rank,
                    const struct pattern_step *step, double unit,
                    struct cpl_comm_entry *out, int64_t n)
{
	int v = from_root(p, rank);

	for (int64_t bit = span(p, v) / 2; bit > 0; bit /= 2) {
		int64_t child = v + bit, size = p->ranks - child;

		if (size > 0)
			n = put_entry(
			        out, n, rank, to_rank(p, child),
			        size_of(step, unit, size < bit ? size : bit),
			        1.0);
	}
	return n;
}

/* This sends to the parent. */
static int64_t up(const struct pattern *p, int rank,
                  const struct pattern_step *step, double unit,
                  struct cpl_comm_entry *out, int64_t n)
{
	int v = from_root(p, rank);
	int64_t bit = span(p, v), size = p->ranks - v;

	if (v == 0)
		return n;
	return put_entry(out, n, rank, to_rank(p, v - bit),
	                 size_of(step, unit, size < bit ? size : bit), 1.0);
}

/* This goes round the ring `whole` times. */
static int64_t ring(const struct pattern *p, int rank,
                    const struct pattern_step *step, double unit,
                    struct cpl_comm_entry *out, int64_t n)
{
	double messages = step->whole * (p->ranks - 1.0);

	if (p->ranks == 1)
		return n;
	return put_entry(out, n, rank, (int)((rank + (int64_t)1) % p->ranks),
	                 messages * unit, messages);
}

static int64_t pairwise(const struct pattern *p, int rank,
                        const struct pattern_step *step, double unit,
                        struct cpl_comm_entry *out, int64_t n)
{
	for (int to = 0; to < p->ranks; to++)
		if (to != rank)
			n = put_entry(out, n, rank, to, unit, 1.0);
	return n;
}

static int64_t doubling(const struct pattern *p, int rank,
                        const struct pattern_step *step, double unit,
                        struct cpl_comm_entry *out, int64_t n)
{
	for (int bit = 1; bit < p->ranks; bit *= 2)
		n = put_entry(out, n, rank, rank ^ bit,
		              size_of(step, unit, bit), 1.0);
	return n;
}

enum {
	ROOTED = 1,
	POWER = 2,  /* the ranks are a power of two */
	SHARES = 4, /* the unit is bytes / ranks */
};

/* A row has at most 32 entries in a tree or by doubling; else one for each rank, or
 * as many as "dims" says. */
enum { FEW = 32, ALL = 0, TIERS = -1 };

static const struct algorithm {
	const char *operation, *name;
	int degree;
	unsigned flags;
	struct pattern_step step[2]; /* put NULL: none */
} table[] = {
        {"broadcast", "binomial", FEW, ROOTED, {{down, 1, 0}}},
        {"broadcast",
         "van-de-geijn",
         FEW,
         ROOTED | SHARES,
         {{down, 0, 1}, {ring, 1, 0}}},
        {"broadcast",
         "two-tier",
         TIERS,
         0,
         {{pattern_two_tier_broadcast, 0, 0}}},
        {"scatter", "binomial", FEW, ROOTED, {{down, 0, 1}}},
        {"scatter", "two-tier", TIERS, 0, {{pattern_two_tier_scatter, 0, 0}}},
        {"gather", "binomial", FEW, ROOTED, {{up, 0, 1}}},
        {"allgather", "ring", 1, 0, {{ring, 1, 0}}},
        {"allgather", "recursive-doubling", FEW, POWER, {{doubling, 0, 1}}},
        {"allgather",
         "two-tier",
         TIERS,
         0,
         {{pattern_two_tier_allgather, 0, 0}}},
        {"reduce", "binomial", FEW, ROOTED, {{up, 1, 0}}},
        {"reduce",
         "rabenseifner",
         ALL,
         ROOTED | SHARES,
         {{pairwise, 0, 0}, {up, 0, 1}}},
        {"reduce-scatter", "pairwise", ALL, SHARES, {{pairwise, 0, 0}}},
        /* A reduce-scatter round the ring is followed by an allgather. */
        {"allreduce", "ring", 1, SHARES, {{ring, 2, 0}}},
        {"allreduce", "recursive-doubling", FEW, POWER, {{doubling, 1, 0}}},
        {"allreduce", "double-tree", FEW, 0, {{pattern_double_tree, 0, 0}}},
        {"allreduce", "bine", FEW, POWER, {{pattern_bine, 0, 0}}},
        {"alltoall", "pairwise", ALL, 0, {{pairwise, 0, 0}}},
};

#define N_ALGORITHMS ((int)(sizeof(table) / sizeof(table[0])))

static void add_word(char *list, size_t size, const char *word)
{
	size_t n = strlen(list);

	snprintf(list + n, size - n, "%s%s", n ? ", " : "", word);
}

/* The algorithms of an operation stand next to each other in the table. */
static int find(const char *operation, const char *name, struct cpl_error *err)
{
	char operations[160] = "", names[160] = "";

	for (int i = 0; i < N_ALGORITHMS; i++) {
		const struct algorithm *a = &table[i];

		if (!i || strcmp(a->operation, table[i - 1].operation) != 0)
			add_word(operations, sizeof(operations), a->operation);
		if (strcmp(a->operation, operation) != 0)
			continue;
		if (!strcmp(a->name, name))
			return i;
		add_word(names, sizeof(names), a->name);
	}
	if (!*names)
		return cpl_fail(err,
		                "there is no operation %.20s; it must be "
		                "one of %s",
		                operation, operations);
	return cpl_fail(err, "there is no %.20s %.20s; it must be one of %s",
	                operation, name, names);
}

static int take_text(const json_t *params, const char *key, const char **out,
                     struct cpl_error *err)
{
	int rc = cpl_json_string(params, key, out, err);

	if (rc == 0)
		return cpl_fail(err, "\"%s\" is missing", key);
	return rc < 0 ? -1 : 0;
}

/* "dims" has groups, nodes of a group and ranks of a node. */
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

static const char *const keys[] = {"type",  "operation", "algorithm", "ranks",
                                   "bytes", "root",      "dims",      NULL};

static int parse(const json_t *params, struct pattern *p, struct cpl_error *err)
{
	const char *operation, *name;
	const struct algorithm *a;

	if (take_text(params, "operation", &operation, err) ||
	    take_text(params, "algorithm", &name, err) ||
	    pattern_ranks(params, p, err) || pattern_bytes(params, p, err))
		return -1;
	p->algorithm = find(operation, name, err);
	if (p->algorithm < 0 ||
	    cpl_json_take_int(params, "root", 0, p->ranks - 1, &p->root, err))
		return -1;
	a = &table[p->algorithm];
	if (!(a->flags & ROOTED) && json_object_get(params, "root"))
		return cpl_fail(err, "%s %s has no \"root\"", name,
		                operation);
	if (a->flags & POWER && p->ranks & (p->ranks - 1))
		return cpl_fail(err,
		                "%s of %d ranks; a power of two is needed",
		                name, p->ranks);
	/* A tree's message comes on top of those to all others. */
	p->max_degree = a->degree == ALL ? p->ranks : a->degree;
	return take_tiers(params, p, err);
}

static int64_t row(const struct pattern *p, int rank,
                   struct cpl_comm_entry *out)
{
	const struct algorithm *a = &table[p->algorithm];
	double unit = a->flags & SHARES ? p->bytes[0] / p->ranks : p->bytes[0];
	int64_t n = 0;

	for (int i = 0; i < 2 && a->step[i].put; i++)
		n = a->step[i].put(p, rank, &a->step[i], unit, out, n);
	return n;
}

int64_t pattern_collective_row(const char *operation, const char *algorithm,
                               int ranks, int root, int rank, double bytes,
                               struct cpl_comm_entry *out)
{
	struct cpl_error unknown;
	struct pattern p = {.ranks = ranks,
	                    .root = root,
	                    .bytes = {bytes},
	                    .algorithm = find(operation, algorithm, &unknown)};

	return row(&p, rank, out);
}

/* This is the least power of two that is not below the ranks. */
static int64_t width(const struct pattern *p)
{
	int64_t n = 1;

	while (n < p->ranks)
		n *= 2;
	return n;
}

/* This gives both ends of the tree's edges of length bit: v, which is a multiple of
 * 2 * bit, and v + bit. */
static struct cpl_exchange tree_round(const struct pattern *p, int rank,
                                      const struct pattern_step *step,
                                      double unit, int64_t bit)
{
	struct cpl_exchange x = {-1, -1, 0};
	int64_t v = from_root(p, rank), low = v % (2 * bit), child = v;
	bool parent = low == 0;

	if (parent)
		child = v + bit;
	else if (low != bit)
		return x;
	if (child >= p->ranks)
		return x;
	if (parent == (step->put == down)) {
		int64_t size = p->ranks - child;

		x.to = to_rank(p, parent ? child : v - bit);
		x.bytes = size_of(step, unit, size < bit ? size : bit);
	} else {
		x.from = to_rank(p, parent ? child : v - bit);
	}
	return x;
}

/* This is 0 if the step has no order. */
static int64_t step_rounds(const struct pattern *p,
                           const struct pattern_step *step)
{
	if (step->put == ring)
		return step->whole * ((int64_t)p->ranks - 1);
	if (step->put == pairwise)
		return p->ranks - 1;
	if (step->put == down || step->put == up || step->put == doubling)
		return __builtin_ctzll((uint64_t)width(p));
	if (step->put == pattern_bine)
		return 2 * __builtin_ctzll((uint64_t)width(p));
	return 0;
}

static struct cpl_exchange step_round(const struct pattern *p, int rank,
                                      const struct pattern_step *step,
                                      double unit, int64_t round)
{
	int64_t n = p->ranks, by = step->put == pairwise ? round + 1 : 1;
	int partner;

	if (step->put == down)
		return tree_round(p, rank, step, unit,
		                  width(p) >> (round + 1));
	if (step->put == up)
		return tree_round(p, rank, step, unit, (int64_t)1 << round);
	if (step->put == pattern_bine)
		return pattern_bine_round(p, round, rank, unit);
	if (step->put == doubling) {
		partner = rank ^ (1 << round);
		return (struct cpl_exchange){
		        partner, partner,
		        size_of(step, unit, (int64_t)1 << round)};
	}
	return (struct cpl_exchange){(int)((rank + by) % n),
	                             (int)((rank - by + n) % n), unit};
}

static int64_t rounds(const struct pattern *p)
{
	const struct algorithm *a = &table[p->algorithm];
	int64_t sum = 0;

	for (int i = 0; i < 2 && a->step[i].put; i++)
		sum += step_rounds(p, &a->step[i]);
	return sum;
}

static struct cpl_exchange round_of(const struct pattern *p, int64_t round,
                                    int rank)
{
	const struct algorithm *a = &table[p->algorithm];
	double unit = a->flags & SHARES ? p->bytes[0] / p->ranks : p->bytes[0];
	int64_t n = step_rounds(p, &a->step[0]);

	return round < n ? step_round(p, rank, &a->step[0], unit, round)
	                 : step_round(p, rank, &a->step[1], unit, round - n);
}

const struct pattern_type pattern_collective = {
        .name = "collective",
        .summary = "a collective operation by one of its algorithms",
        .keys = keys,
        .parse = parse,
        .row = row,
        .rounds = rounds,
        .round = round_of,
};
