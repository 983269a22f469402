/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "graph/arena.h"

#include <stddef.h>
#include <stdlib.h>

struct cpl_arena_block {
	struct cpl_arena_block *before;
	max_align_t items[];
};

static void *take_items(struct cpl_arena *arena, int64_t n, size_t size,
                        bool zeroed)
{
	struct cpl_arena_block *block = NULL;
	size_t bytes;

	if (!__builtin_mul_overflow(n, size, &bytes) &&
	    !__builtin_add_overflow(bytes, sizeof(*block) + 1, &bytes))
		block = zeroed ? calloc(1, bytes) : malloc(bytes);
	if (!block) {
		arena->failed = true;
		return NULL;
	}
	block->before = arena->last;
	arena->last = block;
	return block->items;
}

void *cpl_arena_take(struct cpl_arena *arena, int64_t n, size_t size)
{
	return take_items(arena, n, size, true);
}

void *cpl_arena_take_raw(struct cpl_arena *arena, int64_t n, size_t size)
{
	return take_items(arena, n, size, false);
}

void cpl_arena_free(struct cpl_arena *arena)
{
	while (arena->last) {
		struct cpl_arena_block *block = arena->last;

		arena->last = block->before;
		free(block);
	}
}

int cpl_arena_end(struct cpl_arena *arena, int rc, struct cpl_error *err)
{
	cpl_arena_free(arena);
	return arena->failed ? cpl_fail_memory(err) : rc;
}
