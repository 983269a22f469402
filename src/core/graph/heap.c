/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "graph/heap.h"

#include <stdlib.h>

static inline bool before(const struct cpl_heap *h, int a, int b)
{
	return h->key[a] > h->key[b] || (h->key[a] == h->key[b] && a < b);
}

static inline void put_item(struct cpl_heap *h, int at, int item)
{
	h->item[at] = item;
	h->at[item] = at;
}

int cpl_heap_init(struct cpl_heap *heap, int capacity, const double *key,
                  struct cpl_error *err)
{
	size_t n = (size_t)capacity + 1;

	*heap = (struct cpl_heap){.key = key};
	heap->item = malloc(n * sizeof(*heap->item));
	heap->at = malloc(n * sizeof(*heap->at));
	if (!heap->item || !heap->at) {
		cpl_heap_free(heap);
		return cpl_fail_memory(err);
	}
	for (int i = 0; i < capacity; i++)
		heap->at[i] = -1;
	return 0;
}

void cpl_heap_free(struct cpl_heap *heap)
{
	cpl_free_all(heap->item, heap->at);
	*heap = (struct cpl_heap){0};
}

void cpl_heap_raise(struct cpl_heap *h, int item)
{
	int at = h->at[item];

	while (at > 0 && before(h, item, h->item[(at - 1) / 2])) {
		put_item(h, at, h->item[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
	put_item(h, at, item);
}

void cpl_heap_lower(struct cpl_heap *h, int item)
{
	int at = h->at[item];

	for (;;) {
		int child = 2 * at + 1;

		if (child + 1 < h->n &&
		    before(h, h->item[child + 1], h->item[child]))
			child++;
		if (child >= h->n || !before(h, h->item[child], item))
			break;
		put_item(h, at, h->item[child]);
		at = child;
	}
	put_item(h, at, item);
}

void cpl_heap_add(struct cpl_heap *heap, int item)
{
	put_item(heap, heap->n++, item);
}

void cpl_heap_order(struct cpl_heap *heap)
{
	for (int at = heap->n / 2 - 1; at >= 0; at--)
		cpl_heap_lower(heap, heap->item[at]);
}

void cpl_heap_push(struct cpl_heap *heap, int item)
{
	cpl_heap_add(heap, item);
	cpl_heap_raise(heap, item);
}

void cpl_heap_remove(struct cpl_heap *heap, int item)
{
	int at = heap->at[item], last = heap->item[--heap->n];

	heap->at[item] = -1;
	if (last == item)
		return;
	put_item(heap, at, last);
	cpl_heap_update(heap, last);
}

void cpl_heap_update(struct cpl_heap *heap, int item)
{
	int at = heap->at[item];

	cpl_heap_raise(heap, item);
	if (heap->at[item] == at)
		cpl_heap_lower(heap, item);
}

void cpl_heap_clear(struct cpl_heap *heap)
{
	for (int i = 0; i < heap->n; i++)
		heap->at[heap->item[i]] = -1;
	heap->n = 0;
}
