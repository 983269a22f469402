/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This splits the events of one rank into segments that may be phases. */
#include "commplace-config.h"
#include "signature/phases/phases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "signature/phases/phases_internal.h"

#define BUCKETS 1024
#define LEAST_ROUNDS 2 /* of a run, to be a phase */

struct segmenting {
	const struct cpl_phase_options *o;
	struct cpl_error *err;
};

static uint64_t step(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ (hash >> 29);
}

static uint64_t kind_shape(const struct cpl_run_rank *rank,
                           const struct cpl_run_kind *k)
{
	uint64_t h = step((uint64_t)k->function, (uint64_t)k->communicator);

	h = step(h, (uint64_t)(k->source + 1));
	for (int i = 0; i < k->n; i++) {
		const struct cpl_run_messages *m = &rank->message[k->first + i];

		h = step(h, (uint64_t)m->peer << 1 | m->inward);
	}
	return h;
}

int phase_add_segment(struct phase_rank_segments *s, int parent, double rounds,
                      struct cpl_error *err)
{
	if (cpl_array_grow(&s->segment, s->n, sizeof(*s->segment), err))
		return -1;
	s->segment[s->n] = (struct phase_segment){
	        .parent = parent,
	        .same = s->n,
	        .phase = -1,
	        .rounds = rounds,
	        .own_rounds = rounds,
	        .from = INFINITY,
	        .next = -1,
	};
	return s->n++;
}

bool phase_alike(double a, double b, double factor)
{
	return a <= b * factor && b <= a * factor;
}

/* The nodes from a on are rounds of those from b on. */
static void take_as(const struct cpl_run_rank *rank,
                    struct phase_rank_segments *s, int64_t a, int64_t b)
{
	for (int64_t i = 0; i < rank->node[a].size; i++)
		s->as_node[a + i] = b + i;
}

/* This puts an event of a rank into segment `in`. */
static void add_event(const struct cpl_run_rank *rank, const uint64_t *shape,
                      struct phase_rank_segments *s, int64_t i, int in)
{
	const struct cpl_run_node *node = &rank->node[i];
	struct phase_segment *g = &s->segment[in];

	s->of_node[i] = in;
	if (s->as_node[i] == i) {
		g->functions = step(g->functions,
		                    (uint64_t)rank->kind[node->kind].function);
		g->any_order +=
		        step(1, (uint64_t)rank->kind[node->kind].function);
		g->shape = step(g->shape, shape[node->kind]);
	}
	g->bytes += node->bytes;
	g->compute += node->compute;
	g->communication += node->duration;
}

/* This puts the nodes [from, to) of a rank into segment `in`, and splits off
 * their loops. many means that a loop around them has min_rounds. */
static int split(const struct segmenting *f, const struct cpl_run_rank *rank,
                 const uint64_t *shape, struct phase_rank_segments *s,
                 int64_t from, int64_t to, int in, bool many)
{
	for (int64_t i = from; i < to; i += rank->node[i].size) {
		const struct cpl_run_node *node = &rank->node[i];
		bool has_many;
		int inner = in;

		if (node->kind >= 0) {
			add_event(rank, shape, s, i, in);
			continue;
		}
		has_many = node->rounds / node->entries >= f->o->min_rounds;
		if (has_many || (!many && node->rounds >= LEAST_ROUNDS)) {
			inner = phase_add_segment(s, in, node->rounds, f->err);
			if (inner < 0)
				return -1;
			/* A phase of its own is one with those in the loop. */
			take_as(rank, s, i, i);
		}
		s->of_node[i] = inner;
		if (split(f, rank, shape, s, i + 1, i + node->size, inner,
		          many || has_many))
			return -1;
	}
	return 0;
}

/* This lists the nodes [from, to), without those inside loops. It returns how
 * many, or -1. */
static int list_nodes(const struct cpl_run_rank *rank, int64_t from, int64_t to,
                      int64_t **out, struct cpl_error *err)
{
	int n = 0;

	for (int64_t i = from; i < to; i += rank->node[i].size) {
		if (cpl_array_grow(out, n, sizeof(**out), err))
			return -1;
		(*out)[n++] = i;
	}
	return n;
}

/* This says whether node a is a round of node b in a loop. The first call after
 * a long computation is not. */
static bool is_round_of(const struct cpl_run_rank *rank, int64_t a, int64_t b,
                        double factor)
{
	const struct cpl_run_node *x = &rank->node[a], *y = &rank->node[b];

	if (x->size != y->size)
		return false;
	for (int64_t i = 0; i < rank->node[a].size; i++, x++, y++) {
		if (x->kind != y->kind)
			return false;
		if (x->kind < 0 &&
		    fabs(x->rounds / x->entries - y->rounds / y->entries) > 0.5)
			return false;
		if (x->kind >= 0 &&
		    x->compute / x->count >
		            factor * y->compute / y->count + SAME_COMPUTE)
			return false;
	}
	return true;
}

/* A loop is found wherever it begins to repeat, as in h(sh)29s. So what stands
 * beside top[t] and is like the end or the beginning of its body belongs to it,
 * and owner[other] becomes t. It returns about how many rounds these are, or
 * -1. */
static double take_in(const struct segmenting *f,
                      const struct cpl_run_rank *rank,
                      struct phase_rank_segments *s, const int64_t *top, int n,
                      int t, int *owner)
{
	int64_t loop = top[t], *body = NULL;
	int size = list_nodes(rank, loop + 1, loop + rank->node[loop].size,
	                      &body, f->err);
	int before = 0, after = 0;

	while (before + 1 < size && t - before > 0 &&
	       owner[t - before - 1] < 0 &&
	       is_round_of(rank, top[t - before - 1], body[size - before - 1],
	                   f->o->similarity)) {
		before++;
		owner[t - before] = t;
		take_as(rank, s, top[t - before], body[size - before]);
	}
	while (before + after < size && t + after + 1 < n &&
	       is_round_of(rank, top[t + after + 1], body[after],
	                   f->o->similarity)) {
		after++;
		owner[t + after] = t;
		take_as(rank, s, top[t + after], body[after - 1]);
	}
	if (before + after)
		owner[t] = t;
	free(body);
	return size < 0 ? -1 : round((double)(before + after) / size);
}

/* A stretch outside of loops, from one loop to the next, may happen again. */
struct outside {
	const int64_t *top;
	const int *owner;    /* the loop that it belongs to; -1: none */
	const double *extra; /* further rounds of a loop */
	int *segment;        /* of a loop; -1: not yet */
	int n;
};

/* This returns the segment of top[t], a loop. */
static int loop_segment(const struct segmenting *f,
                        const struct cpl_run_rank *rank,
                        struct phase_rank_segments *s, const struct outside *o,
                        int t)
{
	if (o->segment[t] < 0)
		o->segment[t] = phase_add_segment(
		        s, 0, rank->node[o->top[t]].rounds + o->extra[t],
		        f->err);
	return o->segment[t];
}

double phase_seconds_of(const struct cpl_run_rank *rank, int64_t i)
{
	double seconds = 0;

	for (int64_t k = i; k < i + rank->node[i].size; k++)
		if (rank->node[k].kind >= 0)
			seconds +=
			        rank->node[k].compute + rank->node[k].duration;
	return seconds;
}

static int split_outside(const struct segmenting *f,
                         const struct cpl_run_rank *rank, const uint64_t *shape,
                         struct phase_rank_segments *s, const struct outside *o)
{
	double now = 0;
	int run = -1;

	for (int t = 0; t < o->n; t++) {
		int64_t i = o->top[t];
		const struct cpl_run_node *node = &rank->node[i];
		int owner = o->owner[t] >= 0  ? o->owner[t]
		            : node->kind >= 0 ? -1
		                              : t;
		int in = run;

		if (owner >= 0)
			in = loop_segment(f, rank, s, o, owner);
		else if (run < 0)
			in = phase_add_segment(s, 0, 1, f->err);
		if (in < 0)
			return -1;
		run = owner >= 0 ? -1 : in;
		s->segment[in].from = fmin(s->segment[in].from, now);
		now += phase_seconds_of(rank, i);
		s->segment[in].to = now;
		if (owner < 0) {
			add_event(rank, shape, s, i, in);
			continue;
		}
		const struct cpl_run_node *loop = &rank->node[o->top[owner]];
		int64_t from = owner == t ? i + 1 : i;

		s->of_node[i] = in;
		if (split(f, rank, shape, s, from, i + node->size, in,
		          loop->rounds / loop->entries >= f->o->min_rounds))
			return -1;
	}
	return 0;
}

/* This puts all nodes of a rank into segments. */
static int split_all(const struct segmenting *f,
                     const struct cpl_run_rank *rank, const uint64_t *shape,
                     struct phase_rank_segments *s)
{
	int64_t *top = NULL;
	int n = list_nodes(rank, 0, rank->n_nodes, &top, f->err), rc = -1;
	size_t size = (size_t)(n > 0 ? n : 0) + 1;
	int *owner = malloc(sizeof(*owner) * size);
	int *segment = malloc(sizeof(*segment) * size);
	double *extra = calloc(size, sizeof(*extra));
	struct outside o = {top, owner, extra, segment, n};

	if (n < 0 || !owner || !segment || !extra) {
		cpl_fail_memory(f->err);
		goto out;
	}
	memset(owner, 0xff, sizeof(*owner) * size);
	memset(segment, 0xff, sizeof(*segment) * size);
	for (int64_t i = 0; i < rank->n_nodes; i++)
		s->as_node[i] = i;
	for (int t = 0; t < n; t++) {
		if (rank->node[top[t]].kind >= 0 || owner[t] >= 0)
			continue;
		extra[t] = take_in(f, rank, s, top, n, t, owner);
		if (extra[t] < 0)
			goto out;
	}
	rc = split_outside(f, rank, shape, s, &o);
	/* What is in a loop is where that is. */
	for (int g = 1; g < s->n && !rc; g++)
		if (s->segment[g].parent > 0) {
			const struct phase_segment *around =
			        &s->segment[s->segment[g].parent];

			s->segment[g].from = around->from;
			s->segment[g].to = around->to;
		}
	for (int g = 0; g < s->n; g++) {
		s->segment[g].all_from = s->segment[g].from;
		s->segment[g].all_to = s->segment[g].to;
	}
out:
	cpl_free_all(top, owner, segment, extra);
	return rc;
}

static bool similar(const struct phase_segment *a,
                    const struct phase_segment *b, double factor)
{
	double x = a->compute / a->rounds, y = b->compute / b->rounds;

	return a->shape == b->shape &&
	       phase_alike(a->bytes / a->rounds, b->bytes / b->rounds,
	                   factor) &&
	       (phase_alike(x, y, factor) || fabs(x - y) <= SAME_COMPUTE);
}

/* This unites similar segments of a rank. */
static int unite(struct phase_rank_segments *s, double factor,
                 struct cpl_error *err)
{
	int *head = malloc(sizeof(*head) * BUCKETS);

	if (!head)
		return cpl_fail_memory(err);
	memset(head, 0xff, sizeof(*head) * BUCKETS);
	for (int i = 1; i < s->n; i++) {
		struct phase_segment *g = &s->segment[i], *to;
		int *at = &head[g->shape % BUCKETS];

		while (*at >= 0 && !similar(&s->segment[*at], g, factor))
			at = &s->segment[*at].next;
		if (*at < 0) {
			*at = i;
			continue;
		}
		g->same = *at;
		to = &s->segment[*at];
		to->rounds += g->rounds;
		to->all_from = fmin(to->all_from, g->all_from);
		to->all_to = fmax(to->all_to, g->all_to);
		to->bytes += g->bytes;
		to->compute += g->compute;
		to->communication += g->communication;
	}
	free(head);
	/* Segments inside of united ones are united, too. */
	for (int i = 1; i < s->n; i++)
		s->segment[i].parent = s->segment[s->segment[i].parent].same;
	return 0;
}

int phase_segments(const struct cpl_run_rank *rank,
                   const struct cpl_phase_options *options,
                   struct phase_rank_segments *s, struct cpl_error *err)
{
	const struct segmenting f = {options, err};
	uint64_t *shape = malloc(sizeof(*shape) * (size_t)(rank->n_kinds + 1));
	int rc = -1;

	s->of_node = malloc(sizeof(*s->of_node) * (size_t)(rank->n_nodes + 1));
	s->as_node = malloc(sizeof(*s->as_node) * (size_t)(rank->n_nodes + 1));
	if (cpl_out_of_memory(!shape || !s->of_node || !s->as_node, err))
		goto out;
	for (int k = 0; k < rank->n_kinds; k++)
		shape[k] = kind_shape(rank, &rank->kind[k]);
	if (phase_add_segment(s, -1, 1, err) < 0 ||
	    split_all(&f, rank, shape, s) || unite(s, options->similarity, err))
		goto out;
	rc = 0;
out:
	free(shape);
	return rc;
}
