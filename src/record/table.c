/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "table.h"

#include <stdlib.h>
#include <string.h>

#include "base/sort.h"

#define FIRST_CAPACITY 64

static size_t slot_of(const struct rec_table *t, int peer)
{
	/* Fibonacci hashing spreads neighbouring ranks over the table. */
	uint64_t h = (uint64_t)(unsigned)peer * UINT64_C(0x9e3779b97f4a7c15);
	size_t i = (size_t)(h >> 32) & (t->capacity - 1);

	while (t->peer[i] >= 0 && t->peer[i] != peer)
		i = (i + 1) & (t->capacity - 1);
	return i;
}

static int hash_alloc(struct rec_table *t, size_t capacity)
{
	t->peer = malloc(capacity * sizeof(*t->peer));
	t->cell = calloc(capacity, sizeof(*t->cell));
	if (!t->peer || !t->cell) {
		free(t->peer);
		free(t->cell);
		t->peer = NULL;
		t->cell = NULL;
		return -1;
	}
	memset(t->peer, 0xff, capacity * sizeof(*t->peer));
	t->capacity = capacity;
	return 0;
}

int rec_table_init(struct rec_table *t, int ranks, int dense_limit)
{
	memset(t, 0, sizeof(*t));
	t->ranks = ranks;
	if (ranks > dense_limit)
		return hash_alloc(t, FIRST_CAPACITY);
	t->cell = calloc((size_t)ranks, sizeof(*t->cell));
	return t->cell ? 0 : -1;
}

void rec_table_free(struct rec_table *t)
{
	free(t->peer);
	free(t->cell);
	memset(t, 0, sizeof(*t));
}

static int grow(struct rec_table *t)
{
	struct rec_table old = *t;

	if (hash_alloc(t, old.capacity * 2)) {
		*t = old;
		return -1;
	}
	for (size_t i = 0; i < old.capacity; i++) {
		if (old.peer[i] < 0)
			continue;
		size_t to = slot_of(t, old.peer[i]);
		t->peer[to] = old.peer[i];
		t->cell[to] = old.cell[i];
	}
	free(old.peer);
	free(old.cell);
	return 0;
}

int rec_table_add(struct rec_table *t, int peer, uint64_t bytes,
                  uint64_t messages)
{
	size_t i = (size_t)peer;

	if (t->peer) {
		i = slot_of(t, peer);
		if (t->peer[i] < 0) {
			if (t->used * 2 >= t->capacity) {
				if (grow(t))
					return -1;
				i = slot_of(t, peer);
			}
			t->peer[i] = peer;
			t->used++;
		}
	}
	t->cell[i].bytes += bytes;
	t->cell[i].messages += messages;
	return 0;
}

size_t rec_table_count(const struct rec_table *t)
{
	size_t n = 0;

	if (t->peer)
		return t->used;
	for (int r = 0; t->cell && r < t->ranks; r++)
		n += t->cell[r].messages > 0;
	return n;
}

static CPL_SORT_BY(by_peer, struct rec_row, CPL_UP(peer))

size_t rec_table_rows(const struct rec_table *t, int inward,
                      struct rec_row *out)
{
	size_t capacity = t->peer ? t->capacity : (size_t)t->ranks, n = 0;

	for (size_t i = 0; t->cell && i < capacity; i++) {
		if (!t->cell[i].messages)
			continue;
		out[n++] = (struct rec_row){
		        .peer = t->peer ? t->peer[i] : (int32_t)i,
		        .inward = inward,
		        .bytes = t->cell[i].bytes,
		        .messages = t->cell[i].messages,
		};
	}
	if (t->peer)
		qsort(out, n, sizeof(*out), by_peer);
	return n;
}
