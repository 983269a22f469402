/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events in the order of their time, those of one time in the order in which
 * they were added. A radix heap (Ahuja, Mehlhorn, Orlin, Tarjan, JACM 1990)
 * over the bits of the time: no event may be added before the last one taken.
 */
#ifndef CPL_SIMULATE_EVENTS_H
#define CPL_SIMULATE_EVENTS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct cpl_event {
	uint64_t key; /* the time's bits, see cpl_event_time */
	uint32_t kind, item;
};

struct cpl_event_bucket {
	struct cpl_event *event;
	uint32_t n, capacity;
};

/* Starts as {0}; free with cpl_events_free. */
struct cpl_events {
	uint64_t last;   /* key of the last one taken */
	uint64_t filled; /* bit i: bucket i + 1 has events */
	uint32_t next;   /* of bucket 0, whose keys are `last` */
	/* Where the items of events are, so that they are fetched into the
	 * cache when their events come near; NULL: nowhere. */
	const char *items;
	uint32_t item_kind, item_size;
	bool failed;     /* memory was out for one of them */
	/* Bucket i > 0: bit i - 1 is the highest in which keys and last differ.
	 */
	struct cpl_event_bucket bucket[65];
};

void cpl_events_free(struct cpl_events *events);

static inline double cpl_event_time(struct cpl_event event)
{
	double time;

	memcpy(&time, &event.key, sizeof(time));
	return time;
}

/* Add an event at a time >= 0. O(1), amortised. */
void cpl_events_add(struct cpl_events *events, double time, uint32_t kind,
                    uint32_t item);
/* Take the next event into *event; false when there is none. O(log of the
 * buckets that an event passes through), amortised. */
bool cpl_events_take(struct cpl_events *events, struct cpl_event *event);

#endif
