/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collectives.h"

static void send_local(const struct rec_coll *c, int to, uint64_t bytes)
{
	if (bytes && to != c->rank)
		c->emit(c->context, false, to, bytes, 1);
}

static void send_remote(const struct rec_coll *c, int to, uint64_t bytes)
{
	if (bytes)
		c->emit(c->context, true, to, bytes, 1);
}

static void send_all_remote(const struct rec_coll *c, uint64_t bytes)
{
	for (int i = 0; i < c->remote_size; i++)
		send_remote(c, i, bytes);
}

static uint64_t block_bytes(const struct rec_blocks *b, int i)
{
	uint64_t size = b->sizes ? b->sizes[i] : b->size;
	int64_t count = rec_count_at(b->count, i);

	return count > 0 ? (uint64_t)count * size : 0;
}

/* This is the rank relative to the root. */
static int relative(const struct rec_coll *c, int root)
{
	return (int)(((int64_t)c->rank - root + c->size) % c->size);
}

static int absolute(const struct rec_coll *c, int root, int64_t v)
{
	return (int)((v + root) % c->size);
}

/* This is the lowest set bit of v, or a power of two >= P for the root. */
static int64_t low_bit(const struct rec_coll *c, int v)
{
	int64_t bit = 1;

	while (v ? !(v & bit) : bit < c->size)
		bit <<= 1;
	return bit;
}

static void tree_up(const struct rec_coll *c, int root, uint64_t bytes)
{
	int v = relative(c, root);

	if (v)
		send_local(c, absolute(c, root, v - low_bit(c, v)), bytes);
}

static void tree_down(const struct rec_coll *c, int root, uint64_t bytes)
{
	int v = relative(c, root);

	for (int64_t k = low_bit(c, v) >> 1; k; k >>= 1)
		if (v + k < c->size)
			send_local(c, absolute(c, root, v + k), bytes);
}

void rec_barrier(const struct rec_coll *c)
{
	if (!c->remote_size) {
		for (int64_t k = 1; k < c->size; k <<= 1)
			c->emit(c->context, false, absolute(c, c->rank, k), 0,
			        1);
		return;
	}
	/* tree_up, exchange and tree_down drop empty messages, which a barrier must
	 * not. */
	if (c->rank)
		c->emit(c->context, false, c->rank - (int)low_bit(c, c->rank),
		        0, 1);
	else
		c->emit(c->context, true, 0, 0, 1);
	for (int64_t k = low_bit(c, c->rank) >> 1; k; k >>= 1)
		if (c->rank + k < c->size)
			c->emit(c->context, false, (int)(c->rank + k), 0, 1);
}

void rec_bcast(const struct rec_coll *c, int root, uint64_t bytes)
{
	if (!c->remote_size)
		tree_down(c, root, bytes);
	else if (root == REC_ROOT_SELF)
		send_all_remote(c, bytes);
}

void rec_reduce(const struct rec_coll *c, int root, uint64_t bytes)
{
	if (!c->remote_size) {
		tree_up(c, root, bytes);
	} else if (root >= 0) {
		tree_up(c, 0, bytes);
		if (!c->rank)
			send_remote(c, root, bytes);
	}
}

void rec_allreduce(const struct rec_coll *c, uint64_t bytes)
{
	int p2 = 1, extra, mine;

	if (c->remote_size) {
		tree_up(c, 0, bytes);
		if (!c->rank)
			send_remote(c, 0, bytes);
		tree_down(c, 0, bytes);
		return;
	}
	while (p2 <= c->size / 2)
		p2 *= 2;
	extra = c->size - p2;
	if (c->rank < 2 * extra && c->rank % 2 == 0) {
		send_local(c, c->rank + 1, bytes);
		return;
	}
	mine = c->rank < 2 * extra ? c->rank / 2 : c->rank - extra;
	for (int k = 1; k < p2; k *= 2) {
		int other = mine ^ k;

		send_local(c, other < extra ? other * 2 + 1 : other + extra,
		           bytes);
	}
	if (c->rank < 2 * extra)
		send_local(c, c->rank - 1, bytes);
}

void rec_scan(const struct rec_coll *c, uint64_t bytes)
{
	if (c->rank + 1 < c->size)
		send_local(c, c->rank + 1, bytes);
}

/* These are the ranks in the subtree below v whose lowest bit is `bit`. */
static uint64_t subtree(const struct rec_coll *c, int64_t v, int64_t bit)
{
	return (uint64_t)(bit < c->size - v ? bit : c->size - v);
}

void rec_gather(const struct rec_coll *c, int root, uint64_t bytes)
{
	if (c->remote_size) {
		rec_gatherv(c, root, bytes);
		return;
	}

	int v = relative(c, root);
	int64_t low = low_bit(c, v);

	if (v)
		send_local(c, absolute(c, root, v - low),
		           subtree(c, v, low) * bytes);
}

void rec_gatherv(const struct rec_coll *c, int root, uint64_t bytes)
{
	if (root < 0)
		return;
	if (c->remote_size)
		send_remote(c, root, bytes);
	else
		send_local(c, root, bytes);
}

void rec_scatter(const struct rec_coll *c, int root, uint64_t bytes)
{
	if (c->remote_size) {
		rec_bcast(c, root, bytes);
		return;
	}

	int v = relative(c, root);

	for (int64_t k = low_bit(c, v) >> 1; k; k >>= 1)
		if (v + k < c->size)
			send_local(c, absolute(c, root, v + k),
			           subtree(c, v + k, k) * bytes);
}

void rec_scatterv(const struct rec_coll *c, int root,
                  const struct rec_blocks *blocks)
{
	if (root == (c->remote_size ? REC_ROOT_SELF : c->rank))
		rec_alltoallv(c, blocks);
}

void rec_allgather(const struct rec_coll *c, uint64_t bytes)
{
	uint64_t steps = (uint64_t)c->size - 1;

	if (c->remote_size)
		send_all_remote(c, bytes);
	else if (steps && bytes)
		c->emit(c->context, false, absolute(c, c->rank, 1),
		        steps * bytes, steps);
}

void rec_allgatherv(const struct rec_coll *c, uint64_t own,
                    const struct rec_blocks *blocks)
{
	uint64_t bytes = 0, messages = 0;
	int next = absolute(c, c->rank, 1);

	if (c->remote_size) {
		send_all_remote(c, own);
		return;
	}
	for (int i = 0; i < c->size; i++) {
		if (i == next || !block_bytes(blocks, i))
			continue;
		bytes += block_bytes(blocks, i);
		messages++;
	}
	if (messages)
		c->emit(c->context, false, next, bytes, messages);
}

void rec_alltoall(const struct rec_coll *c, uint64_t bytes)
{
	if (c->remote_size) {
		send_all_remote(c, bytes);
		return;
	}
	for (int i = 1; i < c->size; i++)
		send_local(c, absolute(c, c->rank, i), bytes);
}

void rec_alltoallv(const struct rec_coll *c, const struct rec_blocks *blocks)
{
	for (int i = 0; i < c->remote_size; i++)
		send_remote(c, i, block_bytes(blocks, i));
	for (int i = 0; i < c->size && !c->remote_size; i++)
		send_local(c, i, block_bytes(blocks, i));
}

void rec_reduce_scatter(const struct rec_coll *c,
                        const struct rec_blocks *blocks)
{
	uint64_t total = 0;

	for (int i = 0; i < c->size; i++) {
		total += block_bytes(blocks, i);
		if (!c->remote_size || !c->rank)
			send_local(c, i, block_bytes(blocks, i));
	}
	if (!c->remote_size)
		return;
	tree_up(c, 0, total);
	if (!c->rank)
		send_remote(c, 0, total);
}

void rec_reduce_scatter_block(const struct rec_coll *c, uint64_t bytes)
{
	if (!c->remote_size) {
		rec_alltoall(c, bytes);
		return;
	}
	tree_up(c, 0, (uint64_t)c->size * bytes);
	if (c->rank)
		return;
	send_remote(c, 0, (uint64_t)c->size * bytes);
	for (int i = 1; i < c->size; i++)
		send_local(c, i, bytes);
}
