/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "graph/arena.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>

/* From so many bytes on zeros come as pages of the system's: only those that are used
 * cost, where malloc would clear all, of which a small job on a large machine uses
 * few. */
#define MAPPED_BYTES (1 << 20)

struct cpl_arena_block {
	struct cpl_arena_block *before;
	size_t mapped; /* bytes, or 0: it is malloc's */
	bool clean;    /* all of it, once more */
	max_align_t items[];
};

/* Clean blocks of all threads, of which so many are kept. */
#define KEPT 16

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct cpl_arena_block *kept[KEPT];

static struct cpl_arena_block *find_kept(size_t bytes)
{
	struct cpl_arena_block *found = NULL;

	pthread_mutex_lock(&lock);
	for (int i = 0; i < KEPT && !found; i++)
		if (kept[i] && kept[i]->mapped == bytes) {
			found = kept[i];
			kept[i] = NULL;
		}
	pthread_mutex_unlock(&lock);
	return found;
}

/* Keeps the block; returns one that has to go, or NULL. */
static struct cpl_arena_block *keep(struct cpl_arena_block *block)
{
	static int next;
	struct cpl_arena_block *other;
	int at = 0;

	pthread_mutex_lock(&lock);
	while (at < KEPT && kept[at])
		at++;
	if (at == KEPT)
		at = next++ % KEPT;
	other = kept[at];
	kept[at] = block;
	pthread_mutex_unlock(&lock);
	return other;
}

static struct cpl_arena_block *new_block(size_t bytes, bool zeroed)
{
	struct cpl_arena_block *block;

	if (!zeroed)
		return malloc(bytes);
	if (bytes < MAPPED_BYTES)
		return calloc(1, bytes);
	block = find_kept(bytes);
	if (block)
		return block;
	block = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return block == MAP_FAILED ? NULL : block;
}

static void *take_items(struct cpl_arena *arena, int64_t n, size_t size,
                        bool zeroed)
{
	struct cpl_arena_block *block = NULL;
	size_t bytes;

	if (!__builtin_mul_overflow(n, size, &bytes) &&
	    !__builtin_add_overflow(bytes, sizeof(*block) + 1, &bytes))
		block = new_block(bytes, zeroed);
	if (!block) {
		arena->failed = true;
		return NULL;
	}
	block->before = arena->last;
	block->mapped = zeroed && bytes >= MAPPED_BYTES ? bytes : 0;
	block->clean = false;
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

void cpl_arena_clean(struct cpl_arena *arena, void *items)
{
	struct cpl_arena_block *block = arena->last;

	while (block && block->items != items)
		block = block->before;
	if (block)
		block->clean = true;
}

void cpl_arena_free(struct cpl_arena *arena)
{
	while (arena->last) {
		struct cpl_arena_block *block = arena->last;

		arena->last = block->before;
		if (block->mapped && block->clean)
			block = keep(block);
		if (block && block->mapped)
			munmap(block, block->mapped);
		else
			free(block);
	}
}

int cpl_arena_end(struct cpl_arena *arena, int rc, struct cpl_error *err)
{
	cpl_arena_free(arena);
	return arena->failed ? cpl_fail_memory(err) : rc;
}
