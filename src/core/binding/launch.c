/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "binding/launch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC "CPX2"
#define MAGIC_BYTES 4
#define SUM_BYTES 4
/* A varint of 64 bits. */
#define MAX_VARINT 10
#define MAX_WHOLE 9007199254740992.0 /* 2^53 */

static uint32_t fnv(const void *data, size_t size)
{
	const unsigned char *at = data;
	uint32_t sum = 2166136261u;

	for (size_t i = 0; i < size; i++)
		sum = (sum ^ at[i]) * 16777619u;
	return sum;
}

static uint32_t fnv_ids(const uint32_t *ids, int n)
{
	uint32_t sum = 2166136261u;

	for (int i = 0; i < n; i++)
		for (int shift = 0; shift < 32; shift += 8)
			sum = (sum ^ (ids[i] >> shift & 0xff)) * 16777619u;
	return sum;
}

struct out {
	unsigned char *data;
	size_t used, capacity, limit;
	bool full, failed;
};

static void put(struct out *o, const void *data, size_t n)
{
	if (o->full || o->failed)
		return;
	if (n > o->limit - o->used) {
		o->full = true;
		return;
	}
	if (n > o->capacity - o->used) {
		size_t capacity = o->capacity * 2 > o->used + n
		                          ? o->capacity * 2
		                          : o->used + n + 256;
		unsigned char *more = realloc(o->data, capacity);

		if (!more) {
			o->failed = true;
			return;
		}
		o->data = more;
		o->capacity = capacity;
	}
	memcpy(o->data + o->used, data, n);
	o->used += n;
}

static void put_number(struct out *o, uint64_t value)
{
	unsigned char text[MAX_VARINT];
	size_t n = 0;

	for (; value > 0x7f; value >>= 7)
		text[n++] = (unsigned char)(value | 0x80);
	text[n++] = (unsigned char)value;
	put(o, text, n);
}

static void put_fixed(struct out *o, uint64_t value, int bytes)
{
	for (int i = 0; i < bytes; i++) {
		unsigned char c = (unsigned char)(value >> 8 * i);

		put(o, &c, 1);
	}
}

static void put_bytes(struct out *o, double bytes)
{
	uint64_t bits;

	if (bytes < MAX_WHOLE && bytes == floor(bytes)) {
		put_number(o, (uint64_t)bytes * 2);
		return;
	}
	memcpy(&bits, &bytes, sizeof(bits));
	put_number(o, 1);
	put_fixed(o, bits, 8);
}

static void put_block(struct out *o, const struct cpl_comm *local)
{
	for (int i = 0; i < local->ranks; i++) {
		int last = i;

		put_number(o, (uint64_t)(local->row[i + 1] - local->row[i]));
		for (int64_t e = local->row[i]; e < local->row[i + 1]; e++) {
			put_number(o, (uint64_t)(local->to[e] - last));
			put_bytes(o, local->bytes[e]);
			last = local->to[e];
		}
	}
}

struct block {
	size_t at, size;
	uint32_t sum;
	int tasks;
};

static int find_block(const struct out *o, const struct block *block, int n,
                      const struct block *wanted)
{
	for (int i = 0; i < n; i++)
		if (block[i].sum == wanted->sum &&
		    block[i].size == wanted->size &&
		    block[i].tasks == wanted->tasks &&
		    !memcmp(o->data + block[i].at, o->data + wanted->at,
		            wanted->size))
			return i;
	return n;
}

/* The part of graph inside one node; index[] is all 0 before and after. */
static struct cpl_comm *local_graph(const struct cpl_comm *graph,
                                    const uint32_t *ids, int n, int *index,
                                    struct cpl_error *err)
{
	struct cpl_comm_entry *entry = NULL;
	struct cpl_comm *out = NULL;
	int64_t most = 0, used = 0;
	int marked = 0;

	for (; marked < n; marked++) {
		uint32_t r = ids[marked];

		if (r >= (uint32_t)graph->ranks || index[r]) {
			cpl_fail(err, "task id %u in a step of %d tasks%s", r,
			         graph->ranks,
			         r < (uint32_t)graph->ranks ? ", twice" : "");
			goto out;
		}
		index[r] = marked + 1;
		most += graph->row[r + 1] - graph->row[r];
	}
	entry = malloc(((size_t)most + 1) * sizeof(*entry));
	if (!entry) {
		cpl_fail_memory(err);
		goto out;
	}
	for (int i = 0; i < n; i++)
		for (int64_t k = graph->row[ids[i]]; k < graph->row[ids[i] + 1];
		     k++)
			if (index[graph->to[k]] > i + 1)
				entry[used++] = (struct cpl_comm_entry){
				        i, index[graph->to[k]] - 1,
				        graph->bytes[k], 0};
	out = cpl_comm_build(n, entry, used, err);
out:
	for (int i = 0; i < marked; i++)
		index[ids[i]] = 0;
	free(entry);
	return out;
}

/* One node; its block is compared in a buffer of its own. */
static void put_node(struct out *o, struct out *scratch,
                     const struct cpl_comm *local, const uint32_t *ids,
                     struct block *block, int *n_blocks)
{
	struct block fresh = {.at = scratch->used, .tasks = local->ranks};
	int which;

	put_block(scratch, local);
	if (scratch->full || scratch->failed) {
		o->full = o->full || scratch->full;
		o->failed = o->failed || scratch->failed;
		return;
	}
	fresh.size = scratch->used - fresh.at;
	fresh.sum = fnv(scratch->data + fresh.at, fresh.size);
	which = find_block(scratch, block, *n_blocks, &fresh);
	put_fixed(o, fnv_ids(ids, local->ranks), SUM_BYTES);
	put_number(o, (uint64_t)which);
	if (which < *n_blocks) {
		scratch->used = fresh.at;
		return;
	}
	block[(*n_blocks)++] = fresh;
	put_number(o, fresh.size);
	put(o, scratch->data + fresh.at, fresh.size);
}

static void put_text(struct out *o, const char *text)
{
	put_number(o, strlen(text));
	put(o, text, strlen(text));
}

#define FLAG_MEMORY 1
#define FLAG_OWN 2

static void put_head(struct out *o, const struct cpl_launch *launch)
{
	put(o, MAGIC, MAGIC_BYTES);
	put_number(o, launch->kind);
	put_number(o, (launch->memory ? FLAG_MEMORY : 0) |
	                      (launch->own ? FLAG_OWN : 0));
	put_text(o, launch->profile);
	put_text(o, launch->binder);
	if (launch->kind == CPL_LAUNCH_NOTHING)
		put_text(o, launch->reason);
	if (launch->kind != CPL_LAUNCH_FILE)
		return;
	put_number(o, (uint64_t)launch->ranks);
	put_number(o, (uint64_t)launch->size);
	put_number(o, (uint64_t)launch->seconds);
	put_number(o, (uint64_t)launch->nanoseconds);
}

/* -1 with err: not for want of bytes or memory. */
static int put_rows(struct out *o, const struct cpl_comm *graph,
                    const struct cpl_launch_step *step, struct cpl_error *err)
{
	struct out scratch = {.limit = o->limit};
	struct block *block = NULL;
	int *index = NULL, n_blocks = 0, rc = 0;

	block = calloc((size_t)step->n_nodes + 1, sizeof(*block));
	index = calloc((size_t)graph->ranks + 1, sizeof(*index));
	o->failed = o->failed || !block || !index;
	put_number(o, (uint64_t)step->ranks);
	put_number(o, (uint64_t)step->n_nodes);
	for (int i = 0; i < step->n_nodes && !o->full && !o->failed; i++) {
		struct cpl_comm *local;

		put_number(o, step->tasks[i]);
		if (!step->tasks[i])
			continue;
		local = local_graph(graph, step->ids[i], step->tasks[i], index,
		                    err);
		if (!local) {
			rc = -1;
			break;
		}
		put_node(o, &scratch, local, step->ids[i], block, &n_blocks);
		cpl_comm_free(local);
	}
	free(scratch.data);
	free(block);
	free(index);
	return rc;
}

unsigned char *cpl_launch_write(const struct cpl_launch *launch,
                                const struct cpl_comm *graph,
                                const struct cpl_launch_step *step,
                                size_t limit, size_t *size, bool *full,
                                struct cpl_error *err)
{
	struct out o = {.limit = limit};
	bool done = false;

	*full = false;
	if (launch->kind == CPL_LAUNCH_ROWS && graph->ranks != step->ranks) {
		cpl_fail(err, "profile %s is of %d ranks, the step has %d",
		         launch->profile, graph->ranks, step->ranks);
		return NULL;
	}
	put_head(&o, launch);
	if (launch->kind == CPL_LAUNCH_ROWS && put_rows(&o, graph, step, err))
		goto out;
	if (!o.full && !o.failed)
		put_fixed(&o, fnv(o.data, o.used), SUM_BYTES);
	*full = o.full && !o.failed;
	if (o.failed)
		cpl_fail_memory(err);
	else if (o.full)
		cpl_fail(err,
		         "the excerpt of profile %s would have more than %zu "
		         "bytes",
		         launch->profile, limit);
	else
		done = true;
out:
	if (!done) {
		free(o.data);
		return NULL;
	}
	*size = o.used;
	return o.data;
}

struct in {
	const unsigned char *at, *end;
	bool bad;
};

static uint64_t get_number(struct in *in)
{
	uint64_t value = 0;

	for (int shift = 0; shift < 64 && in->at < in->end; shift += 7) {
		unsigned char c = *in->at++;

		if (shift == 63 && c > 1)
			break;
		value |= (uint64_t)(c & 0x7f) << shift;
		if (!(c & 0x80))
			return value;
	}
	in->bad = true;
	in->at = in->end;
	return 0;
}

/* A number up to max, as an int. */
static int get_int(struct in *in, int max)
{
	uint64_t value = get_number(in);

	if (value > (uint64_t)max) {
		in->bad = true;
		return 0;
	}
	return (int)value;
}

static uint64_t get_fixed(struct in *in, int bytes)
{
	uint64_t value = 0;

	if (in->end - in->at < bytes) {
		in->bad = true;
		return 0;
	}
	for (int i = 0; i < bytes; i++)
		value |= (uint64_t)*in->at++ << 8 * i;
	return value;
}

static double get_bytes(struct in *in)
{
	uint64_t value = get_number(in);
	double bytes;

	if (!(value & 1))
		return (double)(value / 2);
	if (value != 1)
		in->bad = true;
	value = get_fixed(in, 8);
	memcpy(&bytes, &value, sizeof(bytes));
	if (!(bytes >= 0) || isinf(bytes)) {
		in->bad = true;
		return 0;
	}
	return bytes;
}

/* A text of less than `capacity` bytes without zeros. */
static void get_text(struct in *in, char *text, size_t capacity)
{
	size_t length = (size_t)get_int(in, (int)capacity - 1);

	if (in->bad || (size_t)(in->end - in->at) < length ||
	    memchr(in->at, '\0', length)) {
		in->bad = true;
		length = 0;
	} else {
		memcpy(text, in->at, length);
		in->at += length;
	}
	text[length] = '\0';
}

/* The head; *in is then at the rows. */
static void get_head(struct in *in, struct cpl_launch *out)
{
	int flags;

	memset(out, 0, sizeof(*out));
	if (in->end - in->at < MAGIC_BYTES ||
	    memcmp(in->at, MAGIC, MAGIC_BYTES) != 0) {
		in->bad = true;
		return;
	}
	in->at += MAGIC_BYTES;
	out->kind = (enum cpl_launch_kind)get_int(in, CPL_LAUNCH_NOTHING);
	flags = get_int(in, FLAG_MEMORY | FLAG_OWN);
	out->memory = flags & FLAG_MEMORY;
	out->own = flags & FLAG_OWN;
	get_text(in, out->profile, sizeof(out->profile));
	get_text(in, out->binder, sizeof(out->binder));
	if (out->kind == CPL_LAUNCH_NOTHING)
		get_text(in, out->reason, sizeof(out->reason));
	else
		out->ranks = get_int(in, INT32_MAX);
	if (out->kind == CPL_LAUNCH_FILE) {
		out->size = (int64_t)get_number(in);
		out->seconds = (int64_t)get_number(in);
		out->nanoseconds = (int64_t)get_number(in);
	}
	if (out->kind != CPL_LAUNCH_ROWS && in->at != in->end)
		in->bad = true;
}

static int damaged(struct cpl_error *err)
{
	return cpl_fail(err, "the excerpt of the profile is damaged");
}

/* *in is then at the rows. */
static int open_launch(const void *data, size_t size, struct in *in,
                       struct cpl_launch *out, struct cpl_error *err)
{
	struct in sum;

	if (size > CPL_LAUNCH_MAX_BYTES || size < MAGIC_BYTES + SUM_BYTES)
		return cpl_fail(err, "the excerpt of the profile has %zu bytes",
		                size);
	*in = (struct in){.at = data};
	in->end = in->at + size - SUM_BYTES;
	sum = (struct in){.at = in->end, .end = in->end + SUM_BYTES};
	if (get_fixed(&sum, SUM_BYTES) != fnv(data, size - SUM_BYTES))
		return damaged(err);
	get_head(in, out);
	return in->bad ? damaged(err) : 0;
}

int cpl_launch_read(const void *data, size_t size, struct cpl_launch *out,
                    struct cpl_error *err)
{
	struct in in;

	return open_launch(data, size, &in, out, err);
}

static struct cpl_comm *read_block(struct in *in, int n, struct cpl_error *err)
{
	/* An entry has two bytes or more. */
	size_t capacity = (size_t)(in->end - in->at) / 2 + 1;
	struct cpl_comm_entry *entry = malloc(capacity * sizeof(*entry));
	struct cpl_comm *comm = NULL;
	int64_t used = 0;

	if (!entry) {
		cpl_fail_memory(err);
		return NULL;
	}
	for (int i = 0; i < n && !in->bad; i++) {
		int count = get_int(in, n - 1 - i), last = i;

		for (int k = 0; k < count && !in->bad; k++) {
			int step = get_int(in, n - 1 - last);
			double bytes = get_bytes(in);

			if (!step)
				in->bad = true;
			last += step;
			if (!in->bad)
				entry[used++] = (struct cpl_comm_entry){
				        i, last, bytes, 0};
		}
	}
	if (in->bad || in->at != in->end)
		damaged(err);
	else
		comm = cpl_comm_build(n, entry, used, err);
	free(entry);
	return comm;
}

/* Skip to the block of the node; both ends of it go into *block. */
static int find_node(struct in *in, int n_nodes, int node, const uint32_t *ids,
                     int n_tasks, struct in *block, struct cpl_error *err)
{
	const unsigned char **start;
	int n_blocks = 0, which = -1, rc = -1;

	start = malloc(((size_t)n_nodes + 1) * 2 * sizeof(*start));
	if (!start)
		return cpl_fail_memory(err);
	for (int i = 0; i < n_nodes && !in->bad; i++) {
		int tasks = get_int(in, UINT16_MAX), k;
		uint32_t sum;

		if (!tasks)
			continue;
		sum = (uint32_t)get_fixed(in, SUM_BYTES);
		k = get_int(in, n_blocks);
		if (!in->bad && k == n_blocks) {
			int length = get_int(in, CPL_LAUNCH_MAX_BYTES);

			if (in->bad || in->end - in->at < length)
				break;
			start[2 * n_blocks] = in->at;
			in->at += length;
			start[2 * n_blocks++ + 1] = in->at;
		}
		if (i != node)
			continue;
		if (tasks != n_tasks || sum != fnv_ids(ids, n_tasks)) {
			cpl_fail(err, "the excerpt of the profile is of other "
			              "ranks");
			goto out;
		}
		which = k;
	}
	if (in->bad || in->at != in->end || which < 0 || which >= n_blocks) {
		damaged(err);
		goto out;
	}
	block->at = start[2 * which];
	block->end = start[2 * which + 1];
	rc = 0;
out:
	free(start);
	return rc;
}

struct cpl_comm *cpl_launch_rows(const void *data, size_t size, int ranks,
                                 int node, const uint32_t *ids, int n_tasks,
                                 struct cpl_error *err)
{
	struct cpl_launch head;
	struct in in, block = {0};
	int n_nodes;

	if (open_launch(data, size, &in, &head, err))
		return NULL;
	/* A node has a byte or more. */
	n_nodes = get_int(&in, CPL_LAUNCH_MAX_BYTES);
	if (head.kind != CPL_LAUNCH_ROWS || in.bad ||
	    n_nodes > in.end - in.at) {
		damaged(err);
		return NULL;
	}
	if (head.ranks != ranks || node < 0 || node >= n_nodes) {
		cpl_fail(err,
		         "the excerpt of the profile is of %d ranks on %d "
		         "nodes, the step has %d and this is node %d of it",
		         head.ranks, n_nodes, ranks, node);
		return NULL;
	}
	if (find_node(&in, n_nodes, node, ids, n_tasks, &block, err))
		return NULL;
	return read_block(&block, n_tasks, err);
}
