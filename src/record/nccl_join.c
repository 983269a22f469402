/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "nccl_steps.h"
#include "nccl_who.h"

#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/sort.h"

#define MOST_AMOUNT UINT64_C(1000000000000000000) /* of a signature */
/* Of operations among all: more than NVLink domains have for each line of a piece. */
#define MOST_PAIRS(lines) ((INT64_C(1) << 22) + INT64_C(1024) * (lines))

/* a * b / c, to the nearest, at most what a signature may hold. */
static uint64_t scale(uint64_t a, uint64_t b, uint64_t c)
{
	unsigned __int128 product = (unsigned __int128)a * b + c / 2;

	product /= c;
	return product > MOST_AMOUNT ? MOST_AMOUNT : (uint64_t)product;
}

/* What a member sends to a rank of its communicator. */
struct nccl_load {
	const struct nccl_member *from;
	const struct nccl_ring *ring;
	uint64_t bytes, messages;
	bool on_network;
};

static int put_row(struct nccl_solver *s, const struct nccl_load *load, int to)
{
	struct nccl_join *j = s->j;
	uint32_t at = nccl_find_rank(j, load->ring, to);
	int global = at != UINT32_MAX          ? j->member[j->order[at]].global
	             : load->ring->is_straight ? to
	                                       : -1;
	struct nccl_row *more;

	if (!load->messages)
		return 0;
	if (global < 0 || load->from->global < 0) {
		s->facts->unplaced += load->bytes;
		return 0;
	}
	*(load->on_network ? &s->facts->network_bytes
	                   : &s->facts->derived_bytes) += load->bytes;
	more = nccl_grow(j->row, j->n_rows, sizeof(*more));
	if (!more)
		return nccl_complain(s, "out of memory");
	j->row = more;
	j->row[j->n_rows++] = (struct nccl_row){
	        .from = load->from->global,
	        .to = global,
	        .bytes = scale(load->bytes, 1, 1),
	        .messages = scale(load->messages, 1, 1)};
	return 0;
}

/* The ranks of a member's node, in order. */
struct nccl_node {
	const struct nccl_solver *s;
	int first, n;
	const uint32_t *member; /* NULL: consecutive ranks from first on */
	int at;                 /* the member's own */
};

static int rank_in(const struct nccl_node *node, int i)
{
	return node->member ? node->s->j->member[node->member[i]].about.rank
	                    : node->first + i;
}

/* How many ranks are on hosts before this one, or up to it (and = 1). */
static uint32_t find_host(const struct nccl_solver *s,
                          const struct nccl_ring *r, const char *host, int and)
{
	uint32_t low = 0, high = r->known;

	CPL_BISECT(low, high, middle,
	           strcmp(nccl_host_of(s->j, s->by_host[r->first + middle]),
	           host) < and);
	return low;
}

static struct nccl_node node_of(const struct nccl_solver *s,
                                const struct nccl_ring *r,
                                const struct nccl_member *m)
{
	const uint32_t *sorted = s->by_host + r->first;
	const char *host = s->j->piece[m->piece].about.host;
	struct nccl_node node = {.s = s, .n = r->length};
	uint32_t low, high;

	if (!r->by_host) {
		node.first = m->about.rank / r->length * r->length;
		node.at = m->about.rank - node.first;
		return node;
	}
	low = find_host(s, r, host, 0);
	high = find_host(s, r, host, 1);
	node.member = sorted + low;
	node.n = (int)(high - low);
	CPL_BISECT(low, high, middle,
	           s->j->member[sorted[middle]].about.rank < m->about.rank);
	node.at = (int)(sorted + low - node.member);
	return node;
}

/* This is one line of calls, of one rank. */
struct nccl_calls {
	const struct nccl_tally *tally;
	struct nccl_load load; /* bytes of all calls */
	struct nccl_node node;
};

/* The share of channels that stay in the node is *in of *of. */
static void find_share(const struct nccl_calls *c, uint64_t *in, uint64_t *of)
{
	uint64_t calls = c->tally->sum[NCCL_CALLS];
	uint64_t out =
	        c->load.from->on_network ? c->tally->sum[NCCL_OPERATIONS] : 0;

	if (__builtin_mul_overflow(calls, c->tally->call.channels, of))
		*of = UINT64_MAX;
	if (!*of)
		*of = 1, out = out ? 1 : 0;
	*in = *of > out ? *of - out : 0;
	while (*of >> 40) {
		*of >>= 1;
		*in >>= 1;
	}
}

static int put_ring(struct nccl_solver *s, struct nccl_calls *c)
{
	const struct nccl_call *call = &c->tally->call;
	int ranks = c->load.ring->ranks, rank = c->load.from->about.rank, next;
	uint64_t times = (uint64_t)ranks - 1, among = 1, in, of;

	find_share(c, &in, &of);
	if (c->node.n == 1 && in < of)
		return 0;
	next = c->node.n == 1 ? (rank + 1) % ranks
	                      : rank_in(&c->node, (c->node.at + 1) % c->node.n);
	if (call->function == NCCL_BROADCAST || call->function == NCCL_REDUCE)
		times = 1;
	else if (call->function == NCCL_ALLREDUCE) {
		times *= 2;
		among = (uint64_t)ranks;
	}
	if ((call->function == NCCL_BROADCAST && next == call->root) ||
	    (call->function == NCCL_REDUCE && rank == call->root) ||
	    next == rank)
		return 0;
	c->load.bytes = scale(c->load.bytes, times * in, among * of);
	c->load.messages = scale(c->load.messages, times * in, of);
	return put_row(s, &c->load, next);
}

static int put_chain(struct nccl_solver *s, struct nccl_calls *c)
{
	if (c->node.at > 0 &&
	    put_row(s, &c->load, rank_in(&c->node, c->node.at - 1)))
		return -1;
	return c->node.at + 1 < c->node.n
	               ? put_row(s, &c->load, rank_in(&c->node, c->node.at + 1))
	               : 0;
}

/* To each other rank of the node, or of the communicator, or to the root. */
static int put_direct(struct nccl_solver *s, struct nccl_calls *c)
{
	const struct nccl_call *call = &c->tally->call;
	int ranks = c->load.ring->ranks, rank = c->load.from->about.rank;
	bool all = call->function == NCCL_ALLTOALL ||
	           call->function == NCCL_SCATTER ||
	           call->function == NCCL_GATHER;
	bool to_root =
	        call->function == NCCL_REDUCE || call->function == NCCL_GATHER;
	int n = all ? ranks : c->node.n;

	if ((call->function == NCCL_BROADCAST ||
	     call->function == NCCL_SCATTER) &&
	    rank != call->root)
		return 0;
	if (call->function == NCCL_ALLREDUCE)
		c->load.bytes = scale(c->load.bytes, 2, (uint64_t)n);
	else if (call->function == NCCL_ALLGATHER ||
	         call->function == NCCL_REDUCE_SCATTER)
		c->load.bytes =
		        scale(c->load.bytes, (uint64_t)ranks, (uint64_t)n);
	s->work += n;
	if (s->work > MOST_PAIRS(s->j->n_tallies))
		return nccl_complain(s, "too many pairs of ranks");
	for (int i = 0; i < n; i++) {
		int to = all ? i : rank_in(&c->node, i);

		if (to != rank && (!to_root || to == call->root) &&
		    put_row(s, &c->load, to))
			return -1;
	}
	return 0;
}

static int put_calls(struct nccl_solver *s, const struct nccl_tally *t,
                     const struct nccl_load *load)
{
	struct nccl_calls c = {.tally = t, .load = *load};
	uint8_t f = t->call.function;

	c.load.bytes = t->sum[NCCL_CALLED];
	c.load.messages = t->sum[NCCL_CALLS];
	c.node = node_of(s, load->ring, load->from);
	if (f == NCCL_ALLTOALL || f == NCCL_GATHER || f == NCCL_SCATTER ||
	    t->call.shape == NCCL_DIRECT)
		return put_direct(s, &c);
	return t->call.shape == NCCL_CHAIN && f == NCCL_ALLREDUCE
	               ? put_chain(s, &c)
	               : put_ring(s, &c);
}

static int put_pair(struct nccl_solver *s, const struct nccl_tally *t,
                    struct nccl_load *load)
{
	const uint64_t *sum = t->sum;

	if (!sum[NCCL_P2P_STEPS]) {
		load->bytes = sum[NCCL_SENT];
		load->messages = sum[NCCL_SENDS];
		if (put_row(s, load, t->peer))
			return -1;
	}
	load->on_network = true;
	load->bytes = sum[NCCL_P2P_BYTES];
	load->messages = sum[NCCL_P2P_STEPS];
	if (put_row(s, load, t->peer))
		return -1;
	load->bytes = sum[NCCL_OTHER_BYTES];
	load->messages = sum[NCCL_OTHER_STEPS];
	return put_row(s, load, t->peer);
}

/* A tally of steps as of as many as the run has; false: they are others. */
static bool scale_steps(const struct nccl_solver *s, const struct nccl_tally *t,
                        struct nccl_tally *out)
{
	const struct nccl_join *j = s->j;
	uint64_t steps = j->piece[j->member[t->member].piece].steps[0];

	*out = *t;
	for (int i = 0; i < NCCL_SUMS && steps && steps != s->facts->steps; i++)
		out->sum[i] = scale(t->sum[i], s->facts->steps, steps);
	return nccl_steps_alike(steps, s->facts->steps);
}

static int put_tallies(struct nccl_solver *s, bool in_steps)
{
	const struct nccl_join *j = s->j;

	for (uint32_t i = 0; i < j->n_tallies; i++) {
		const struct nccl_tally *t = &j->tally[i];
		struct nccl_load load = {.from = &j->member[t->member]};
		struct nccl_tally part;

		if (!j->piece[load.from->piece].is_kept ||
		    t->in_steps != in_steps ||
		    (in_steps && !scale_steps(s, t, &part)))
			continue;
		t = in_steps ? &part : t;
		load.ring = nccl_ring_of(s, load.from->about.id);
		if (t->of_calls ? put_calls(s, t, &load)
		                : put_pair(s, t, &load))
			return -1;
	}
	return 0;
}

static CPL_SORT_BY(by_pair, struct nccl_row, CPL_UP(from), CPL_UP(to))

static void merge_rows(struct nccl_join *j)
{
	int64_t n = 0;

	if (j->n_rows)
		qsort(j->row, (size_t)j->n_rows, sizeof(*j->row), by_pair);
	for (int64_t i = 0; i < j->n_rows; i++) {
		struct nccl_row *last = n ? &j->row[n - 1] : NULL;

		if (!last || by_pair(last, &j->row[i])) {
			j->row[n++] = j->row[i];
			continue;
		}
		last->bytes = scale(last->bytes + j->row[i].bytes, 1, 1);
		last->messages =
		        scale(last->messages + j->row[i].messages, 1, 1);
	}
	j->n_rows = n;
}

/* The steps that more than half of the processes have, or one more or less, if any
 * do, and how long one is at most. It is the one in the middle, so that it does not
 * depend on whose piece was read first. */
static int find_steps(struct nccl_solver *s)
{
	const struct nccl_join *j = s->j;
	struct nccl_facts *f = s->facts;
	uint64_t *all = malloc(((size_t)j->n_pieces + 1) * sizeof(*all));
	uint32_t n = 0, alike = 0;

	if (!all)
		return nccl_complain(s, "out of memory");
	for (uint32_t i = 0; i < j->n_pieces; i++)
		if (j->piece[i].is_kept)
			all[n++] = j->piece[i].steps[0];
	qsort(all, n, sizeof(*all), cpl_by_uint64);
	f->steps = n ? all[n / 2] : 0;
	for (uint32_t i = 0; i < n; i++)
		alike += nccl_steps_alike(f->steps, all[i]);
	free(all);
	if (alike <= n / 2)
		f->steps = 0;
	for (uint32_t i = 0; i < j->n_pieces && f->steps; i++) {
		const uint64_t *steps = j->piece[i].steps;

		if (j->piece[i].is_kept && steps[0] == f->steps &&
		    steps[1] / f->steps > f->step_time)
			f->step_time = steps[1] / f->steps;
	}
	return 0;
}

/* Rows of all steps, of which those of the run get each its part of one. What does not
 * divide is left to the rest of the run. */
static int put_steps(struct nccl_solver *s)
{
	struct nccl_join *j = s->j;
	struct nccl_facts facts = *s->facts;
	int64_t n = j->n_rows;
	struct nccl_row *run = j->row, *end;
	int rc;

	if (!n)
		return 0; /* No row takes a part. */
	end = run + n;
	j->row = NULL;
	j->n_rows = 0;
	rc = facts.steps ? put_tallies(s, true) : 0;
	merge_rows(j);
	for (int64_t i = 0; i < j->n_rows && !rc; i++) {
		const struct nccl_row *in = &j->row[i];

		while (run < end && by_pair(run, in) < 0)
			run++;
		if (run == end || by_pair(run, in))
			continue;
		run->step_bytes = (in->bytes < run->bytes ? in->bytes : run->bytes) /
		                  facts.steps;
		run->step_messages =
		        (in->messages < run->messages ? in->messages
		                                      : run->messages) /
		        facts.steps;
		if (!run->step_messages)
			run->step_bytes = 0;
	}
	free(j->row);
	j->row = end - n;
	j->n_rows = n;
	*s->facts = facts;
	return rc;
}

/* Counts of processes, and what they tell of themselves. */
static void add_facts(struct nccl_solver *s)
{
	const struct nccl_join *j = s->j;
	struct nccl_facts *f = s->facts;
	int best = INT32_MAX, last = -1, size = -1;
	bool ended = true, complete = true;

	for (uint32_t i = 0; i < j->n_pieces; i++) {
		const struct nccl_piece *p = &j->piece[i];

		if (!p->is_kept)
			continue;
		f->processes++;
		f->version = p->about.version > f->version ? p->about.version
		                                           : f->version;
		f->time = p->about.time > f->time ? p->about.time : f->time;
		f->full += p->loss[0];
		f->full_bytes += p->loss[1];
		f->refused += p->loss[2];
		f->unknown += p->loss[3];
		f->foreign += p->loss[4];
		ended &= p->about.ended;
		size = p->about.size > size ? p->about.size : size;
	}
	for (uint32_t i = 0; i < j->n_ordered; i++) {
		const struct nccl_member *m = &j->member[j->order[i]];

		if (m->global < 0 || m->global >= best)
			continue;
		best = m->global;
		last = m->piece;
	}
	if (last >= 0) {
		const struct rec_program *p = &j->piece[last].about.program;

		f->command = p->command;
		f->application = p->application;
		f->name = p->name;
	}
	for (uint32_t k = 0; k < s->n; k++) {
		const struct nccl_ring *r = &s->ring[k];

		complete &= r->is_complete;
	}
	f->largest = j->member[j->order[s->ring[s->largest].first]].about.id;
	f->incomplete =
	        s->ring[s->largest].ranks - (int)s->ring[s->largest].known;
	f->is_whole = ended && complete && (size < 0 || f->processes >= size);
}

static int count_hosts(struct nccl_solver *s)
{
	struct nccl_join *j = s->j;
	uint32_t *sorted = malloc((j->n_pieces + 1) * sizeof(*sorted)), n = 0;

	if (!sorted)
		return nccl_complain(s, "out of memory");
	for (uint32_t i = 0; i < j->n_pieces; i++)
		if (j->piece[i].is_kept)
			sorted[n++] = i;
	qsort_r(sorted, n, sizeof(*sorted), nccl_by_process, j);
	for (uint32_t i = 0; i < n; i++)
		s->facts->hosts +=
		        !i || strcmp(j->piece[sorted[i]].about.host,
		                     j->piece[sorted[i - 1]].about.host);
	free(sorted);
	return 0;
}

int nccl_join_solve(struct nccl_join *j, const struct nccl_row **rows,
                    int64_t *n, struct nccl_facts *facts, char *why)
{
	struct nccl_solver s = {.j = j, .facts = facts, .why = why};
	int rc = -1;

	memset(facts, 0, sizeof(*facts));
	facts->command = facts->application = facts->name = "";
	j->n_rows = 0;
	if (nccl_name_all(&s) || count_hosts(&s) || put_tallies(&s, false))
		goto out;
	merge_rows(j);
	if (find_steps(&s) || put_steps(&s))
		goto out;
	add_facts(&s);
	*rows = j->row;
	*n = j->n_rows;
	rc = 0;
out:
	free(s.ring);
	free(s.by_host);
	free(s.by_piece);
	return rc;
}
