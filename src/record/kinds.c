/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kinds.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define NONE REC_FOLD_NONE
#define BUCKETS 8192

int rec_kinds_init(struct rec_kinds *k, uint32_t functions)
{
	memset(k, 0, sizeof(*k));
	k->functions = functions;
	k->head = malloc(sizeof(*k->head) * BUCKETS);
	k->other = malloc(sizeof(*k->other) * functions);
	if (!k->head || !k->other)
		return -1;
	memset(k->head, 0xff, sizeof(*k->head) * BUCKETS);
	memset(k->other, 0xff, sizeof(*k->other) * functions);
	return 0;
}

void rec_kinds_free(struct rec_kinds *k)
{
	free(k->kind);
	free(k->message);
	free(k->head);
	free(k->other);
	memset(k, 0, sizeof(*k));
}

static uint64_t hash_of(const struct rec_event *e)
{
	uint64_t h = rec_hash(e->function, e->communicator);

	h = rec_hash(h, (uint32_t)e->source);
	for (uint32_t i = 0; i < e->n; i++)
		h = rec_hash(h, (uint64_t)(uint32_t)e->message[i].peer << 1 |
		                        e->message[i].inward);
	return h;
}

static bool alike(uint64_t a, uint64_t b)
{
	return a > b ? a - b <= a / 4 : b - a <= b / 4;
}

static bool is_of(const struct rec_kinds *k, const struct rec_kind *kind,
                  const struct rec_event *e)
{
	const struct rec_kind_message *m = k->message + kind->first;

	if (kind->function != e->function ||
	    kind->communicator != e->communicator ||
	    kind->source != e->source || kind->n != e->n ||
	    !alike(kind->bytes, e->bytes))
		return false;
	for (uint32_t i = 0; i < e->n; i++)
		if (m[i].peer != e->message[i].peer ||
		    m[i].inward != e->message[i].inward)
			return false;
	return true;
}

/* This returns the array with room for `more` items; it grows at powers of two from
 * 64. */
static void *room(void *array, uint32_t n, uint32_t more, size_t size)
{
	uint32_t capacity = 64, want = 64;

	while (capacity < n)
		capacity *= 2;
	while (want < n + more)
		want *= 2;
	return array && want == capacity ? array : realloc(array, want * size);
}

static uint32_t add_kind(struct rec_kinds *k, const struct rec_event *e,
                         uint64_t hash)
{
	struct rec_kind_message *messages;
	struct rec_kind *kinds;

	kinds = room(k->kind, k->n, 1, sizeof(*kinds));
	if (!kinds)
		return NONE;
	k->kind = kinds;
	messages = room(k->message, k->n_messages, e->n, sizeof(*messages));
	if (!messages)
		return NONE;
	k->message = messages;
	for (uint32_t i = 0; i < e->n; i++)
		messages[k->n_messages + i] = (struct rec_kind_message){
		        .peer = e->message[i].peer,
		        .inward = e->message[i].inward,
		};
	kinds[k->n] = (struct rec_kind){
	        .function = e->function,
	        .communicator = e->communicator,
	        .source = e->source,
	        .bytes = e->bytes,
	        .hash = hash,
	        .first = k->n_messages,
	        .n = e->n,
	        .next = NONE,
	};
	k->n_messages += e->n;
	return k->n++;
}

/* Events for which there is no room get this kind of their function, without
 * messages. */
static uint32_t other(struct rec_kinds *k, const struct rec_event *e)
{
	struct rec_event bare = {.function = e->function,
	                         .source = REC_NO_RANK};
	uint32_t *at = &k->other[e->function];

	if (*at == NONE)
		*at = add_kind(k, &bare, 0);
	if (*at != NONE)
		k->kind[*at].events++;
	return *at;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* This finds the nearest kind that fits, and the oldest of several. Thus sizes at
 * the edge of one kind soon have a kind near them, and do not go to and fro. It
 * returns NONE if there is none, and *end is the last of the chain, or NONE. */
static uint32_t look_up(const struct rec_kinds *k, const struct rec_event *e,
                        uint64_t hash, uint32_t *end)
{
	uint32_t i = k->head[hash >> 51], best = NONE;
	uint64_t least = UINT64_MAX;

	for (*end = NONE; i != NONE && least; i = k->kind[i].next) {
		const struct rec_kind *kind = &k->kind[i];
		uint64_t d = distance(kind->bytes, e->bytes);

		if (kind->hash == hash && d < least && is_of(k, kind, e)) {
			best = i;
			least = d;
		}
		*end = i;
	}
	return best;
}

uint32_t rec_kinds_find(struct rec_kinds *k, const struct rec_event *e)
{
	uint64_t hash = hash_of(e);
	uint32_t end, i = look_up(k, e, hash, &end);
	struct rec_kind_message *sum;

	if (i == NONE) {
		if (k->n >= REC_KINDS_MAX ||
		    e->n > REC_KIND_MESSAGES_MAX - k->n_messages)
			return other(k, e);
		i = add_kind(k, e, hash);
		if (i == NONE)
			return NONE;
		*(end == NONE ? &k->head[hash >> 51] : &k->kind[end].next) = i;
	}
	k->kind[i].events++;
	sum = k->message + k->kind[i].first;
	for (uint32_t m = 0; m < e->n; m++) {
		sum[m].bytes += e->message[m].bytes;
		sum[m].messages += e->message[m].messages;
	}
	return i;
}
