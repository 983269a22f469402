/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nccl_steps.h"

#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "fold.h"

/* What was logged, in the order of threads. */
struct entry {
	uint32_t thread, at;
};

struct nccl_search {
	const struct nccl_logged *log;
	struct entry *entry; /* [n] */
	uint32_t n;
	uint64_t *kind; /* [n_kinds] in order; an event's number is its place */
	uint32_t n_kinds;
	struct nccl_steps *out;
	struct rec_amount best; /* of the longest loop */
	uint64_t rounds;
	uint64_t counted; /* rounds of the loop that goes into out->sum; 0: none */
};

static uint32_t digits(uint64_t bytes)
{
	return bytes ? 64 - (uint32_t)__builtin_clzll(bytes) : 0;
}

static CPL_SORT_BY(by_thread, struct entry, CPL_UP(thread), CPL_UP(at))

static uint64_t kind_of(const struct nccl_logged *l)
{
	return (uint64_t)l->cell << 6 | digits(l->bytes);
}

static uint32_t event_of(const struct nccl_search *f, const struct nccl_logged *l)
{
	uint64_t kind = kind_of(l);
	const uint64_t *at = bsearch(&kind, f->kind, f->n_kinds, sizeof(kind),
	                             cpl_by_uint64);

	return (uint32_t)(at - f->kind);
}

static void drop(void *arg, uint32_t event, const struct rec_amount *amount)
{
	(void)arg;
	(void)event;
	(void)amount;
}

/* What it would be in as many rounds as there are steps. */
static uint64_t of_rounds(const struct nccl_search *f, uint64_t amount)
{
	unsigned __int128 all = (unsigned __int128)amount * f->rounds;

	return (uint64_t)((all + f->counted / 2) / f->counted);
}

/* Adds up all that a loop has, and by cells where it is counted. */
static void add_up(struct nccl_search *f, const struct rec_fold *fold,
                   const struct rec_node *node, struct rec_amount *sum)
{
	uint64_t *in;

	if (node->event == REC_FOLD_NONE) {
		for (uint32_t c = node->first; c != REC_FOLD_NONE;) {
			const struct rec_node *child = rec_fold_node(fold, c);

			add_up(f, fold, child, sum);
			c = child->next;
		}
		return;
	}
	sum->count += node->amount.count;
	sum->bytes += node->amount.bytes;
	sum->compute += node->amount.compute;
	if (!f->counted)
		return;
	in = f->out->sum[f->kind[node->event] >> 6];
	in[0] += of_rounds(f, node->amount.count);
	in[1] += of_rounds(f, node->amount.bytes);
}

/* The longest loop of a thread, whose entries are entry[0 .. n - 1]. */
static void look_at(struct nccl_search *f, const struct rec_fold *fold, uint32_t n,
                    bool counts)
{
	const struct rec_node *loop = NULL;
	struct rec_amount most = {0};

	for (uint32_t i = 0; i < rec_fold_length(fold); i++) {
		const struct rec_node *node = rec_fold_top(fold, i);
		struct rec_amount sum = {0};

		if (node->event != REC_FOLD_NONE)
			continue;
		add_up(f, fold, node, &sum);
		if (sum.count > most.count) {
			most = sum;
			loop = node;
		}
	}
	if (!loop || (counts && !nccl_steps_alike(loop->rounds, f->rounds)))
		return;
	if (counts) {
		f->counted = loop->rounds;
		add_up(f, fold, loop, &most);
		f->counted = 0;
	} else if (loop->rounds >= NCCL_STEPS_MIN && most.count >= n / 2 &&
	           most.count > f->best.count) {
		f->best = most;
		f->rounds = loop->rounds;
	}
}

/* Threads one after the other. -1: memory. */
static int look_at_all(struct nccl_search *f, bool counts)
{
	for (uint32_t first = 0, i; first < f->n; first = i) {
		struct rec_fold *fold =
		        rec_fold_new(REC_FOLD_NODES, drop, NULL);
		uint64_t before = f->log[f->entry[first].at].time;

		if (!fold)
			return -1;
		for (i = first; i < f->n && f->entry[i].thread ==
		                                    f->entry[first].thread;
		     i++) {
			const struct nccl_logged *l = &f->log[f->entry[i].at];
			struct rec_amount one = {
			        .count = 1,
			        .bytes = l->bytes,
			        .compute = l->time > before ? l->time - before
			                                    : 0};

			rec_fold_append(fold, event_of(f, l), &one);
			before = l->time;
		}
		look_at(f, fold, i - first, counts);
		rec_fold_free(fold);
	}
	return 0;
}

/* value * part / all, for part <= all. */
static uint64_t share(uint64_t value, double part, double all)
{
	double of = all > 0 ? (double)value * (part / all) : 0;

	return part >= all ? value : of > 0 ? (uint64_t)(of + 0.5) : 0;
}

/* All that came when the log was full is more of the steps. */
static void stretch(struct nccl_steps *s, const uint64_t *logged)
{
	double before = 0, after = 0;

	for (uint32_t i = 0; i < s->n_cells; i++) {
		const struct nccl_cell *c = nccl_cell_at(i);
		uint64_t *in = s->sum[i];
		uint64_t all = in[0] ? nccl_sum(c, 0) : 0, more;

		before += (double)in[0];
		if (all > logged[i]) {
			more = all - logged[i];
			in[1] += (uint64_t)((double)in[1] / (double)in[0] *
			                    (double)more);
			in[0] += more;
		}
		after += (double)in[0];
	}
	if (!(before > 0))
		return;
	s->rounds = (uint64_t)((double)s->rounds * (after / before) + 0.5);
	s->time = (uint64_t)((double)s->time * (after / before));
}

/* What a byte of a call puts on a ring of so many ranks. */
static double on_ring(const struct nccl_cell *c)
{
	double n = nccl_cell_at(c->communicator)->about.ranks;

	switch (nccl_call_unpack(c->key).function) {
	case NCCL_ALLREDUCE:
		return 2 * (n - 1) / n;
	case NCCL_ALLGATHER:
	case NCCL_REDUCE_SCATTER:
		return n - 1;
	default:
		return 1;
	}
}

static uint32_t cell_kind(const struct nccl_cell *c)
{
	return atomic_load_explicit(&c->kind, memory_order_acquire);
}

/* What the network carried for the steps. ring[n_cells] has bytes of communicators: in
 * steps, and all. */
static void divide(struct nccl_steps *s, double (*ring)[2])
{
	for (uint32_t i = 0; i < s->n_cells; i++)
		for (int k = 0; k < 2 && s->sum[i][0]; k++)
			if (s->sum[i][k] > nccl_sum(nccl_cell_at(i), k))
				s->sum[i][k] = nccl_sum(nccl_cell_at(i), k);
	for (uint32_t i = 0; i < s->n_cells; i++) {
		const struct nccl_cell *c = nccl_cell_at(i);

		if (cell_kind(c) != NCCL_CELL_CALLS)
			continue;
		ring[c->communicator][0] += on_ring(c) * (double)s->sum[i][1];
		ring[c->communicator][1] +=
		        on_ring(c) * (double)nccl_sum(c, NCCL_CALLED);
		s->sum[i][NCCL_OPERATIONS] =
		        share(nccl_sum(c, NCCL_OPERATIONS),
		              (double)s->sum[i][0],
		              (double)nccl_sum(c, NCCL_CALLS));
	}
	for (uint32_t i = 0; i < s->n_cells; i++) {
		const struct nccl_cell *c = nccl_cell_at(i);
		const double *r = ring[c->communicator];

		if (cell_kind(c) != NCCL_CELL_PAIR)
			continue;
		for (int k = NCCL_P2P_STEPS; k < NCCL_SUMS; k++)
			s->sum[i][k] =
			        k < NCCL_OTHER_STEPS
			                ? share(nccl_sum(c, k),
			                        (double)s->sum[i][NCCL_SENT],
			                        (double)nccl_sum(c, NCCL_SENT))
			                : share(nccl_sum(c, k), r[0], r[1]);
	}
}

void nccl_steps_find(struct nccl_steps *out)
{
	struct nccl_search f = {.out = out};
	uint64_t missed, *logged;
	uint32_t n = nccl_log(&f.log, &missed);
	double (*ring)[2];

	*out = (struct nccl_steps){.n_cells = nccl_cells()};
	out->sum = calloc((size_t)out->n_cells + 1, sizeof(*out->sum));
	ring = calloc((size_t)out->n_cells + 1, sizeof(*ring));
	logged = calloc((size_t)out->n_cells + 1, sizeof(*logged));
	f.entry = malloc(((size_t)n + 1) * sizeof(*f.entry));
	f.kind = malloc(((size_t)n + 1) * sizeof(*f.kind));
	if (!out->sum || !ring || !logged || !f.entry || !f.kind)
		goto out;
	for (uint32_t i = 0; i < n; i++) {
		const struct nccl_logged *l = &f.log[i];
		uint32_t thread = atomic_load_explicit(&l->thread,
		                                       memory_order_acquire);

		if (!thread || l->cell >= out->n_cells)
			continue;
		f.kind[f.n] = kind_of(l);
		f.entry[f.n++] = (struct entry){thread, i};
		logged[l->cell]++;
	}
	qsort(f.entry, f.n, sizeof(*f.entry), by_thread);
	qsort(f.kind, f.n, sizeof(*f.kind), cpl_by_uint64);
	for (uint32_t i = 0; i < f.n; i++)
		if (!f.n_kinds || f.kind[f.n_kinds - 1] != f.kind[i])
			f.kind[f.n_kinds++] = f.kind[i];
	if (look_at_all(&f, false) || !f.rounds || look_at_all(&f, true))
		goto out;
	out->rounds = f.rounds;
	out->time = f.best.compute;
	if (missed)
		stretch(out, logged);
	divide(out, ring);
out:
	free(f.entry);
	free(f.kind);
	free(logged);
	free(ring);
}
