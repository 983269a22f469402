/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decisions that need not be made again while the machine is as it was. */
#include <stdlib.h>
#include <string.h>

#include "placement/repair.h"
#include "site/engine_desk.h"

/* Of the newest, so many are kept, in so many bytes. */
#define MEMO_MAX 64
#define MEMO_BYTES ((size_t)8 << 20)

/* All that a decision depends on, but for what forgets them all. */
struct key {
	unsigned char *byte;
	size_t size, max;
	bool failed; /* memory was out */
};

struct memo {
	struct memo *next;
	struct key key;
	size_t bytes;
	struct cpl_profile *profile; /* held: its address is in the key */
	struct cpl_decision decision;
};

static void add_bytes(struct key *key, const void *data, size_t size)
{
	if (key->size + size > key->max) {
		size_t max = 2 * key->max + size + 256;
		unsigned char *more = realloc(key->byte, max);

		if (!more) {
			key->failed = true;
			return;
		}
		key->byte = more;
		key->max = max;
	}
	memcpy(key->byte + key->size, data, size);
	key->size += size;
}

static void add_number(struct key *key, uint64_t number)
{
	add_bytes(key, &number, sizeof(number));
}

static void add_text(struct key *key, const char *text)
{
	add_bytes(key, text ? text : "", text ? strlen(text) + 1 : 1);
	add_number(key, text != NULL);
}

static void add_nodes(struct key *key, const int *node, int n)
{
	add_number(key, (uint64_t)n);
	if (n)
		add_bytes(key, node, (size_t)n * sizeof(*node));
}

/* Eight nodes a byte: each is 0 or 1. */
static void add_free(struct key *key, const unsigned char *is_free, int n)
{
	for (int i = 0; i < n; i += 64) {
		uint64_t bits = 0, eight;

		for (int k = i; k < n && k < i + 64; k += 8) {
			eight = 0;
			memcpy(&eight, is_free + k, n - k < 8 ? (size_t)(n - k) : 8);
			bits |= (eight * UINT64_C(0x0102040810204080) >> 56)
			        << (k - i);
		}
		add_number(key, bits);
	}
}

static void make_key(const struct cpl_decide_request *req,
                     const struct cpl_profile *profile, struct key *key)
{
	const struct cpl_placement_request *place = &req->place;

	add_number(key, (uintptr_t)req->wish.policy);
	add_text(key, req->wish.option);
	add_number(key, (uintptr_t)profile);
	add_number(key, (uint64_t)req->wish.objective);
	add_number(key, (uint64_t)req->order);
	add_text(key, req->wish.keep.name);
	add_number(key, (uint64_t)req->wish.keep_price);
	add_number(key, (uint64_t)req->ranks_per_node);
	add_number(key, (uintptr_t)req->wish.mapper);
	add_number(key, req->grown && req->grown->n);
	add_text(key, req->wish.map_option);
	add_nodes(key, req->stock, req->stock ? place->n_nodes_wanted : 0);
	add_number(key, place->seed);
	add_number(key, (uint64_t)place->n_nodes_wanted);
	add_nodes(key, place->required, place->n_required);
	add_number(key, (uintptr_t)place->bounds);
	add_number(key, req->former ? req->former->serial : 0);
	add_free(key, place->free, place->net->n_nodes);
}

static void memo_free(struct memo *memo)
{
	cpl_decision_free(&memo->decision);
	cpl_profile_drop(memo->profile);
	cpl_free_all(memo->key.byte, memo);
}

void engine_memo_forget(struct desk *desk)
{
	while (desk->memo) {
		struct memo *next = desk->memo->next;

		memo_free(desk->memo);
		desk->memo = next;
	}
}

/* The entry with this key, as the newest. */
static struct memo *recall(struct desk *desk, const struct key *key)
{
	for (struct memo **at = &desk->memo; *at; at = &(*at)->next) {
		struct memo *found = *at;

		if (found->key.size != key->size ||
		    memcmp(found->key.byte, key->byte, key->size))
			continue;
		*at = found->next;
		found->next = desk->memo;
		desk->memo = found;
		return found;
	}
	return NULL;
}

/* One that the clock cut is no answer to remember: it was kept for its caller,
 * as the newest. */
static void forget_cut(struct desk *desk)
{
	struct memo *memo = desk->memo;

	if (!memo || !memo->decision.cut_short)
		return;
	desk->memo = memo->next;
	memo_free(memo);
}

/* What exceeds the limits, but for the newest. */
static void shrink(struct desk *desk)
{
	struct memo *last = desk->memo;
	size_t bytes = last->bytes;

	for (int n = 1; last->next; n++, last = last->next) {
		bytes += last->next->bytes;
		if (n == MEMO_MAX || bytes > MEMO_BYTES)
			break;
	}
	while (last->next) {
		struct memo *next = last->next->next;

		memo_free(last->next);
		last->next = next;
	}
}

static size_t bytes_of(const struct memo *memo)
{
	bool ordered = memo->decision.rank_host && memo->profile;

	return sizeof(*memo) + memo->key.max +
	       (ordered ? (size_t)memo->profile->ranks * sizeof(int) : 0) +
	       (size_t)memo->decision.n_nodes * sizeof(int) +
	       (size_t)memo->decision.n_candidates *
	               sizeof(*memo->decision.candidate);
}

struct memo *engine_memo_next(struct memo *memo, size_t *bytes)
{
	*bytes += memo->bytes;
	return memo->next;
}

const struct cpl_decision *
engine_memo_decide(struct desk *desk, const struct ledger *ledger,
                   const struct cpl_decide_request *req,
                   struct cpl_profile *profile, struct cpl_error *err)
{
	struct memo *memo = calloc(1, sizeof(*memo)), *found;

	if (!memo) {
		cpl_fail_memory(err);
		return NULL;
	}
	/* Running jobs whose load is yet to come are no state to remember. */
	if (!ledger->settled || desk->memo_state != ledger->state)
		engine_memo_forget(desk);
	desk->memo_state = ledger->state;
	forget_cut(desk);
	make_key(req, profile, &memo->key);
	if (memo->key.failed) {
		cpl_fail_memory(err);
		goto fail;
	}
	found = recall(desk, &memo->key);
	cpl_count(&desk->clerk->counters,
	          found ? CPL_COUNT_CACHE_HIT : CPL_COUNT_CACHE_MISS);
	if (found) {
		memo_free(memo);
		return &found->decision;
	}
	if (cpl_decide(req, &memo->decision, err))
		goto fail;
	memo->profile = profile ? cpl_profile_hold(profile) : NULL;
	memo->bytes = bytes_of(memo);
	memo->next = desk->memo;
	desk->memo = memo;
	shrink(desk);
	return &memo->decision;
fail:
	memo_free(memo);
	return NULL;
}
