/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events are in the order of their time; those of one time in the order in
 * which they were added. It is a radix heap (Ahuja, Mehlhorn, Orlin, Tarjan,
 * JACM 1990) over the bits of the time, so no event may be added before the
 * last one taken.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct cpl_event {
	uint64_t key; /* bits of the time, see cpl_event_time */
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
	uint32_t next;   /* in bucket 0, whose keys are `last` */
	/* The array of the events' items, so that they are fetched into the
	 * cache when their events come near; NULL: there is none. */
	const char *items;
	uint32_t item_kind, item_size;
	bool failed;     /* memory was out for an event */
	/* In bucket i > 0 the highest bit that differs from last is i - 1. */
	struct cpl_event_bucket bucket[65];
};

void cpl_events_free(struct cpl_events *events);

static inline double cpl_event_time(struct cpl_event event)
{
	double time;

	memcpy(&time, &event.key, sizeof(time));
	return time;
}

/* Adds an event at a time >= 0. O(1), amortised. */
void cpl_events_add(struct cpl_events *events, double time, uint32_t kind,
                    uint32_t item);
/* Takes the next event into *event; false when there is none. O(log of the
 * buckets that an event passes through), amortised. */
bool cpl_events_take(struct cpl_events *events, struct cpl_event *event);
