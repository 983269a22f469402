/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The arrays of one search: taken one by one, freed together. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* Starts as {0}. */
struct cpl_arena {
	struct cpl_arena_block *last;
	bool failed; /* memory was out for one of them */
};

/* n zeroed items of so many bytes, at least one byte in all. NULL when memory
 * is out; `failed` remembers that, so that one look at it is enough for many
 * arrays. */
void *cpl_arena_take(struct cpl_arena *arena, int64_t n, size_t size);

/* The same, not zeroed: for long ones that are written before they are read. */
void *cpl_arena_take_raw(struct cpl_arena *arena, int64_t n, size_t size);

/* One of these two, for what is as long as the machine, of which a job uses a part: from
 * a megabyte on its pages are kept for the next who takes as many bytes. cpl_arena_clean:
 * it is zeros again, so that it need not be cleared as a whole, O(arrays). */
void *cpl_arena_take_long(struct cpl_arena *arena, int64_t n, size_t size, bool zeroed);
void cpl_arena_clean(struct cpl_arena *arena, void *items);

void cpl_arena_free(struct cpl_arena *arena);

/* The end of a function that had arrays and would return rc: frees them.
 * Returns rc, but -1 with err when memory was out. */
int cpl_arena_end(struct cpl_arena *arena, int rc, struct cpl_error *err);
