/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fold.h"

#include <stdlib.h>
#include <string.h>

#define NONE REC_FOLD_NONE
#define BUCKETS 4096
#define LONG_COMPUTE 10000000 /* nanoseconds */
#define LOOPED 8192           /* events; others share their marks */
#define BASE UINT64_C(0x9e3779b97f4a7c15) /* of polynomial hashes, odd */

/* This is an element of the top level. `prefix` is the hash of all elements up to
 * this one, so that the hash of any window costs O(1). Places are found by their
 * last two symbols in two tables: as elements (a loop only once nothing more can
 * join it), and loops by the last two symbols of their bodies, as what a tail may
 * join. Everything is pushed and popped at the end, so that the chains are stacks. */
enum { ELEMENT, BODY, TABLES };

struct fold_entry {
	uint64_t prefix;
	uint64_t key[TABLES];
	uint32_t chain[TABLES]; /* an older place of the same bucket */
	bool in[TABLES];
	uint32_t node;
};

struct rec_fold {
	struct rec_node *node;
	uint32_t n_nodes, capacity, most, live;
	uint32_t unused; /* list of free nodes, by `next` */
	struct fold_entry *place;
	uint32_t n, places; /* used, allocated */
	bool loose;         /* rounds no longer tell loops apart */
	uint8_t looped[LOOPED / 8]; /* a bit for each event: in a loop once */
	uint32_t head[TABLES][BUCKETS];
	uint64_t power[REC_FOLD_WINDOW + 1];
	void (*drop)(void *, uint32_t, const struct rec_amount *);
	void *arg;
};

static uint64_t mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

static uint64_t pair(uint64_t before, uint64_t last)
{
	return mix(before * BASE + last);
}

struct rec_fold *rec_fold_new(uint32_t most,
                              void (*drop)(void *, uint32_t,
                                           const struct rec_amount *),
                              void *arg)
{
	struct rec_fold *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	memset(f->head, 0xff, sizeof(f->head));
	f->power[0] = 1;
	for (int i = 1; i <= REC_FOLD_WINDOW; i++)
		f->power[i] = f->power[i - 1] * BASE;
	f->unused = NONE;
	f->most = most;
	f->drop = drop;
	f->arg = arg;
	return f;
}

void rec_fold_free(struct rec_fold *f)
{
	if (!f)
		return;
	free(f->node);
	free(f->place);
	free(f);
}

uint32_t rec_fold_length(const struct rec_fold *f)
{
	return f->n;
}

const struct rec_node *rec_fold_top(const struct rec_fold *f, uint32_t i)
{
	return &f->node[f->place[i].node];
}

const struct rec_node *rec_fold_node(const struct rec_fold *f, uint32_t node)
{
	return &f->node[node];
}

static bool is_loop(const struct rec_node *node)
{
	return node->event == NONE;
}

static uint32_t new_node(struct rec_fold *f)
{
	uint32_t at = f->unused, capacity;
	struct rec_node *more;

	if (at != NONE) {
		f->unused = f->node[at].next;
	} else {
		if (f->n_nodes == f->capacity) {
			capacity = f->capacity ? f->capacity * 2 : 256;
			more = realloc(f->node, capacity * sizeof(*more));
			if (!more)
				return NONE;
			f->node = more;
			f->capacity = capacity;
		}
		at = f->n_nodes++;
	}
	f->live++;
	f->node[at].next = NONE;
	return at;
}

static void free_node(struct rec_fold *f, uint32_t at)
{
	f->node[at].next = f->unused;
	f->unused = at;
	f->live--;
}

/* This is the hash of the places [from, to). */
static uint64_t window(const struct rec_fold *f, uint32_t from, uint32_t to)
{
	uint64_t before = from ? f->place[from - 1].prefix : 0;
	uint64_t all = to ? f->place[to - 1].prefix : 0;

	return all - before * f->power[to - from];
}

static void set_loop_symbol(const struct rec_fold *f, struct rec_node *loop)
{
	loop->symbol = f->loose ? mix(loop->body ^ BASE)
	                        : mix(loop->body ^
	                              mix(loop->rounds / loop->entries));
}

static void set_prefix(struct rec_fold *f, uint32_t i)
{
	f->place[i].prefix = (i ? f->place[i - 1].prefix : 0) * BASE +
	                     f->node[f->place[i].node].symbol;
}

static void enter(struct rec_fold *f, uint32_t i, int table, uint64_t key)
{
	uint32_t *head = &f->head[table][key % BUCKETS];

	f->place[i].key[table] = key;
	f->place[i].chain[table] = *head;
	f->place[i].in[table] = true;
	*head = i;
}

static void enter_element(struct rec_fold *f, uint32_t i)
{
	uint64_t before = i ? f->node[f->place[i - 1].node].symbol : 0;

	enter(f, i, ELEMENT, pair(before, f->node[f->place[i].node].symbol));
}

/* These are the last two symbols of a body of more than one. */
static uint64_t body_key(const struct rec_fold *f, const struct rec_node *loop)
{
	uint64_t before = 0, last = 0;

	for (uint32_t c = loop->first; c != NONE; c = f->node[c].next) {
		before = last;
		last = f->node[c].symbol;
	}
	return pair(before, last);
}

/* This returns 0, or -1 when memory is out, and then the node is still the
 * caller's. */
static int push(struct rec_fold *f, uint32_t node)
{
	const struct rec_node *of = &f->node[node];
	struct fold_entry *more;
	uint32_t i = f->n;

	if (f->n == f->places) {
		uint32_t places = f->places ? f->places * 2 : 256;

		more = realloc(f->place, places * sizeof(*more));
		if (!more)
			return -1;
		f->place = more;
		f->places = places;
	}
	f->place[i] = (struct fold_entry){.node = node};
	f->n++;
	set_prefix(f, i);
	if (!is_loop(of))
		enter_element(f, i);
	else if (of->length > 1)
		enter(f, i, BODY, body_key(f, of));
	return 0;
}

static void pop(struct rec_fold *f)
{
	const struct fold_entry *p = &f->place[--f->n];

	for (int t = 0; t < TABLES; t++)
		if (p->in[t])
			f->head[t][p->key[t] % BUCKETS] = p->chain[t];
}

/* Equal symbols are most likely the same, and this makes sure. */
static bool same(const struct rec_fold *f, uint32_t a, uint32_t b)
{
	const struct rec_node *x = &f->node[a], *y = &f->node[b];

	if (x->symbol != y->symbol || x->event != y->event)
		return false;
	if (!is_loop(x))
		return true;
	if (x->length != y->length ||
	    (!f->loose && x->rounds / x->entries != y->rounds / y->entries))
		return false;
	for (a = x->first, b = y->first; a != NONE;
	     a = f->node[a].next, b = f->node[b].next)
		if (!same(f, a, b))
			return false;
	return true;
}

/* This adds the nodes at b to those at a, which are the same, and frees them. */
static void merge(struct rec_fold *f, uint32_t a, uint32_t b)
{
	struct rec_node *x = &f->node[a], *y = &f->node[b];

	if (!is_loop(x)) {
		x->amount.count += y->amount.count;
		x->amount.bytes += y->amount.bytes;
		x->amount.compute += y->amount.compute;
		x->amount.duration += y->amount.duration;
	} else {
		uint32_t c = x->first, d = y->first;

		x->entries += y->entries;
		x->rounds += y->rounds;
		while (c != NONE) {
			uint32_t next = f->node[d].next;

			merge(f, c, d);
			c = f->node[c].next;
			d = next;
		}
	}
	free_node(f, b);
}

/* The tail behind place q joins the loop there, if it is a round of it. */
static bool join(struct rec_fold *f, uint32_t q)
{
	uint32_t loop = f->place[q].node, w = f->n - 1 - q, c, i;

	if (!is_loop(&f->node[loop]) || f->node[loop].length != w ||
	    f->node[loop].body != window(f, q + 1, f->n))
		return false;
	c = f->node[loop].first;
	for (i = q + 1; i < f->n; i++, c = f->node[c].next)
		if (!same(f, c, f->place[i].node))
			return false;
	c = f->node[loop].first;
	for (i = q + 1; i < f->n; i++, c = f->node[c].next)
		merge(f, c, f->place[i].node);
	while (f->n > q + 1)
		pop(f);
	f->node[loop].rounds++;
	set_loop_symbol(f, &f->node[loop]);
	set_prefix(f, q);
	return true;
}

static int depth_of(const struct rec_fold *f, uint32_t from, uint32_t to)
{
	int deepest = 0;

	for (uint32_t i = from; i < to; i++) {
		const struct rec_node *node = &f->node[f->place[i].node];

		if (is_loop(node) && node->depth > deepest)
			deepest = node->depth;
	}
	return deepest;
}

static bool was_looped(const struct rec_fold *f, uint32_t event)
{
	return f->looped[event % LOOPED / 8] >> event % 8 & 1;
}

static void mark_looped(struct rec_fold *f, uint32_t event)
{
	f->looped[event % LOOPED / 8] |= (uint8_t)(1 << event % 8);
}

/* What was computed before the event at a was no part of a step, as that before b
 * tells. */
static bool comes_late(const struct rec_fold *f, uint32_t a, uint32_t b)
{
	const struct rec_node *x = &f->node[a], *y = &f->node[b];

	return !is_loop(x) && !was_looped(f, x->event) &&
	       x->amount.compute > LONG_COMPUTE * x->amount.count &&
	       (double)x->amount.compute * (double)y->amount.count >
	               REC_FOLD_LONG * (double)y->amount.compute *
	                       (double)x->amount.count;
}

static bool fold(struct rec_fold *f);

/* The last w places and the w before them become a loop, if they are equal. */
static bool make_loop(struct rec_fold *f, uint32_t w)
{
	uint32_t n = f->n, first = n - 2 * w, loop, i;
	uint64_t body;
	int depth;

	if (n < 2 * w || window(f, first, first + w) != window(f, n - w, n))
		return false;
	for (i = first; i < first + w; i++)
		if (!same(f, f->place[i].node, f->place[i + w].node) ||
		    comes_late(f, f->place[i].node, f->place[i + w].node))
			return false;
	depth = depth_of(f, first, first + w) + 1;
	if (depth > REC_FOLD_DEPTH)
		return false;
	body = window(f, n - w, n);
	loop = new_node(f);
	if (loop == NONE)
		return false;
	for (i = first; i < first + w; i++) {
		if (!is_loop(&f->node[f->place[i].node]))
			mark_looped(f, f->node[f->place[i].node].event);
		merge(f, f->place[i].node, f->place[i + w].node);
		f->node[f->place[i].node].next =
		        i + 1 < first + w ? f->place[i + 1].node : NONE;
	}
	f->node[loop] = (struct rec_node){
	        .next = NONE,
	        .event = NONE,
	        .entries = 1,
	        .rounds = 2,
	        .body = body,
	        .first = f->place[first].node,
	        .length = (uint16_t)w,
	        .depth = (uint16_t)depth,
	};
	set_loop_symbol(f, &f->node[loop]);
	while (f->n > first)
		pop(f);
	/* A loop before this one gets no more rounds, so it is an element now. */
	if (f->n && is_loop(&f->node[f->place[f->n - 1].node]) &&
	    !f->place[f->n - 1].in[ELEMENT]) {
		enter_element(f, f->n - 1);
		fold(f);
	}
	push(f, loop); /* does not fail, since these places were there already */
	return true;
}

/* This folds what repeats now because of the last place, an element. */
static bool fold(struct rec_fold *f)
{
	uint32_t last = f->n - 1, tries = 0, q;
	uint64_t key = f->place[last].key[ELEMENT];

	if (!last)
		return false;
	if (join(f, last - 1) || make_loop(f, 1))
		return true;
	for (q = f->head[BODY][key % BUCKETS];
	     q != NONE && tries < REC_FOLD_TRIES; q = f->place[q].chain[BODY]) {
		if (last - q > REC_FOLD_WINDOW)
			break;
		tries++;
		if (f->place[q].key[BODY] == key && join(f, q))
			return true;
	}
	tries = 0;
	for (q = f->place[last].chain[ELEMENT];
	     q != NONE && tries < REC_FOLD_TRIES;
	     q = f->place[q].chain[ELEMENT]) {
		if (last - q > REC_FOLD_WINDOW)
			break;
		tries++;
		if (f->place[q].key[ELEMENT] == key && make_loop(f, last - q))
			return true;
	}
	return false;
}

/* This is the event that an element begins with. */
static uint32_t leading(const struct rec_fold *f, uint32_t node)
{
	while (is_loop(&f->node[node]))
		node = f->node[node].first;
	return f->node[node].event;
}

/* A loop at the end becomes an element if the next event does not continue it. */
static void close_loops(struct rec_fold *f, uint32_t event)
{
	while (f->n) {
		const struct fold_entry *last = &f->place[f->n - 1];

		if (!is_loop(&f->node[last->node]) || last->in[ELEMENT] ||
		    leading(f, last->node) == event)
			return;
		enter_element(f, f->n - 1);
		if (!fold(f))
			return;
	}
}

static void drop(struct rec_fold *f, uint32_t node)
{
	const struct rec_node *of = &f->node[node];
	uint32_t next;

	if (!is_loop(of))
		f->drop(f->arg, of->event, &of->amount);
	else
		for (uint32_t c = of->first; c != NONE; c = next) {
			next = f->node[c].next;
			drop(f, c);
		}
	free_node(f, node);
}

static void renew_symbols(struct rec_fold *f, uint32_t node)
{
	struct rec_node *of = &f->node[node];

	if (!is_loop(of))
		return;
	of->body = 0;
	for (uint32_t c = of->first; c != NONE; c = f->node[c].next) {
		renew_symbols(f, c);
		of->body = of->body * BASE + f->node[c].symbol;
	}
	set_loop_symbol(f, of);
}

/* This drops the first `dropped` elements, and appends all others again. */
static void rebuild(struct rec_fold *f, uint32_t dropped)
{
	struct fold_entry *old = f->place;
	uint32_t n = f->n;

	memset(f->head, 0xff, sizeof(f->head));
	f->place = NULL;
	f->n = f->places = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t node = old[i].node;

		if (i < dropped) {
			drop(f, node);
			continue;
		}
		renew_symbols(f, node);
		close_loops(f, leading(f, node));
		if (push(f, node))
			drop(f, node);
		else if (!is_loop(&f->node[node]))
			fold(f);
	}
	free(old);
}

static void shrink(struct rec_fold *f)
{
	if (!f->loose) {
		f->loose = true;
		rebuild(f, 0);
	}
	while (f->live > f->most / 4 * 3 && f->n)
		rebuild(f, (f->n + 1) / 2);
}

void rec_fold_append(struct rec_fold *f, uint32_t event,
                     const struct rec_amount *amount)
{
	uint32_t node;

	/* One more node is needed if a loop is made. */
	if (f->live + 2 > f->most)
		shrink(f);
	close_loops(f, event);
	node = new_node(f);
	if (node == NONE) {
		f->drop(f->arg, event, amount);
		return;
	}
	f->node[node].event = event;
	f->node[node].symbol = mix(event + UINT64_C(1));
	f->node[node].amount = *amount;
	if (push(f, node))
		drop(f, node);
	else
		fold(f);
}
