/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Binary heap of the integers 0 .. capacity - 1 with keys outside: the largest
 * key on top, ties to the lowest integer. A key may change while its item is in
 * the heap; the heap has to be told (update). */
#pragma once

#include <stdbool.h>

#include "base/error.h"

struct cpl_heap {
	int n;             /* items in it */
	int *item;         /* [capacity], item[0] is the top */
	int *at;           /* [capacity] position of an item, -1: not in */
	const double *key; /* [capacity], the caller's */
};

/* An empty heap over key. 0, or -1 with err (memory). O(capacity). */
int cpl_heap_init(struct cpl_heap *heap, int capacity, const double *key,
                  struct cpl_error *err);
void cpl_heap_free(struct cpl_heap *heap);

static inline bool cpl_heap_has(const struct cpl_heap *heap, int item)
{
	return heap->at[item] >= 0;
}

/* The item must not be (push), must be (remove, update) in the heap.
 * O(log n) each. */
void cpl_heap_push(struct cpl_heap *heap, int item);
void cpl_heap_remove(struct cpl_heap *heap, int item);
void cpl_heap_update(struct cpl_heap *heap, int item);
/* The same where the key has grown, or fallen. */
void cpl_heap_raise(struct cpl_heap *heap, int item);
void cpl_heap_lower(struct cpl_heap *heap, int item);
/* Many items at once: each is added without order, O(1), then all are put in order,
 * O(n). */
void cpl_heap_add(struct cpl_heap *heap, int item);
void cpl_heap_order(struct cpl_heap *heap);
/* Take all items out. O(n). */
void cpl_heap_clear(struct cpl_heap *heap);
