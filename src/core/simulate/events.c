/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "simulate/events.h"

#include <stdlib.h>

static inline int bucket_of(const struct cpl_events *events, uint64_t key)
{
	return key == events->last ? 0
	                           : 64 - __builtin_clzll(key ^ events->last);
}

static bool grow(struct cpl_event_bucket *bucket)
{
	uint32_t capacity = bucket->capacity ? 2 * bucket->capacity : 16;
	struct cpl_event *event =
	        capacity < bucket->capacity
	                ? NULL
	                : realloc(bucket->event,
	                          (size_t)capacity * sizeof(*event));

	if (!event)
		return false;
	bucket->event = event;
	bucket->capacity = capacity;
	return true;
}

static inline void put_event(struct cpl_events *events, struct cpl_event event)
{
	int i = bucket_of(events, event.key);
	struct cpl_event_bucket *bucket = &events->bucket[i];

	if (bucket->n == bucket->capacity && !grow(bucket)) {
		events->failed = true;
		return;
	}
	bucket->event[bucket->n++] = event;
	if (i)
		events->filled |= (uint64_t)1 << (i - 1);
}

void cpl_events_add(struct cpl_events *events, double time, uint32_t kind,
                    uint32_t item)
{
	struct cpl_event event = {.kind = kind, .item = item};

	time += 0.0; /* -0 would have the largest bits */
	memcpy(&event.key, &time, sizeof(time));
	put_event(events, event);
}

/* Divides the lowest bucket's events over those below it. Events of one key
 * pass the same buckets, so they keep their order. */
static void divide(struct cpl_events *events)
{
	int i = __builtin_ctzll(events->filled) + 1;
	struct cpl_event_bucket *bucket = &events->bucket[i];
	uint64_t least = bucket->event[0].key;

	for (uint32_t k = 1; k < bucket->n; k++)
		if (bucket->event[k].key < least)
			least = bucket->event[k].key;
	events->last = least;
	events->filled &= ~((uint64_t)1 << (i - 1));
	for (uint32_t k = 0; k < bucket->n; k++) {
		struct cpl_event event = bucket->event[k];

		if (events->items && event.kind == events->item_kind)
			__builtin_prefetch(events->items +
			                   (size_t)event.item *
			                           events->item_size);
		put_event(events, event);
	}
	bucket->n = 0;
}

bool cpl_events_take(struct cpl_events *events, struct cpl_event *event)
{
	struct cpl_event_bucket *first = &events->bucket[0];

	if (events->next == first->n) {
		events->next = first->n = 0;
		if (!events->filled)
			return false;
		divide(events);
		if (!first->n)
			return false;
	}
	*event = first->event[events->next++];
	return true;
}

void cpl_events_free(struct cpl_events *events)
{
	for (int i = 0; i < 65; i++)
		free(events->bucket[i].event);
	*events = (struct cpl_events){0};
}
