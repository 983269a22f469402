/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "graph/arena.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>

/* From so many bytes on long arrays are pages of the system's, of which only those cost
 * that are used, and which are kept: new ones take longer than what a small job does with
 * them. */
#define MAPPED_BYTES (1 << 20)

struct cpl_arena_block {
	struct cpl_arena_block *before;
	size_t mapped; /* bytes, or 0: it is malloc's */
	bool clean;    /* all of it, once more */
	max_align_t items[];
};

/* Blocks of all threads, clean ones and others, of which so many are kept, and so many
 * bytes at the most. */
#define KEPT 32
#define KEPT_BYTES (256u << 20)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct cpl_arena_block *kept[KEPT];
static size_t kept_bytes;

/* Who needs no zeros gets no clean one, unless there are no others. */
static struct cpl_arena_block *find_kept(size_t bytes, bool zeroed)
{
	struct cpl_arena_block *block = NULL;
	int found = -1;

	pthread_mutex_lock(&lock);
	for (int i = 0; i < KEPT; i++)
		if (kept[i] && kept[i]->mapped == bytes &&
		    (kept[i]->clean || !zeroed) &&
		    (found < 0 || kept[i]->clean == zeroed))
			found = i;
	if (found >= 0) {
		block = kept[found];
		kept[found] = NULL;
		kept_bytes -= bytes;
	}
	pthread_mutex_unlock(&lock);
	return block;
}

/* Keeps the block; returns one that has to go, or NULL. */
static struct cpl_arena_block *keep(struct cpl_arena_block *block)
{
	static int next;
	struct cpl_arena_block *other;
	int at = 0;

	pthread_mutex_lock(&lock);
	if (block->mapped > KEPT_BYTES - kept_bytes) {
		pthread_mutex_unlock(&lock);
		return block;
	}
	while (at < KEPT && kept[at])
		at++;
	if (at == KEPT)
		at = next++ % KEPT;
	other = kept[at];
	kept[at] = block;
	kept_bytes += block->mapped - (other ? other->mapped : 0);
	pthread_mutex_unlock(&lock);
	return other;
}

static struct cpl_arena_block *new_block(size_t bytes, bool zeroed, bool is_long)
{
	struct cpl_arena_block *block;

	if (!is_long || bytes < MAPPED_BYTES) {
		block = zeroed ? calloc(1, bytes) : malloc(bytes);
		if (block)
			block->mapped = 0;
		return block;
	}
	block = find_kept(bytes, zeroed);
	if (block)
		return block;
	block = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (block == MAP_FAILED)
		return NULL;
	block->mapped = bytes;
	return block;
}

static void *take_items(struct cpl_arena *arena, int64_t n, size_t size,
                        bool zeroed, bool is_long)
{
	struct cpl_arena_block *block = NULL;
	size_t bytes;

	if (!__builtin_mul_overflow(n, size, &bytes) &&
	    !__builtin_add_overflow(bytes, sizeof(*block) + 1, &bytes))
		block = new_block(bytes, zeroed, is_long);
	if (!block) {
		arena->failed = true;
		return NULL;
	}
	block->before = arena->last;
	block->clean = false;
	arena->last = block;
	return block->items;
}

void *cpl_arena_take(struct cpl_arena *arena, int64_t n, size_t size)
{
	return take_items(arena, n, size, true, false);
}

void *cpl_arena_take_raw(struct cpl_arena *arena, int64_t n, size_t size)
{
	return take_items(arena, n, size, false, false);
}

void *cpl_arena_take_long(struct cpl_arena *arena, int64_t n, size_t size, bool zeroed)
{
	return take_items(arena, n, size, zeroed, true);
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
		if (block->mapped)
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
