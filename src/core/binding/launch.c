/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "binding/launch.h"

#include <endian.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/packed.h"

#define MAGIC "CPX2"
#define MAGIC_BYTES 4
#define SUM_BYTES 4
#define MAX_WHOLE 9007199254740992.0 /* 2^53 */

static uint32_t sum_of_ids(const uint32_t *ids, int n)
{
	uint32_t sum = CPL_FNV;

	for (int i = 0; i < n; i++) {
		uint32_t id = htole32(ids[i]);

		sum = cpl_fnv(sum, &id, sizeof(id));
	}
	return sum;
}

static void put_bytes(struct cpl_packer *o, double bytes)
{
	uint64_t bits;

	if (bytes < MAX_WHOLE && bytes == floor(bytes)) {
		cpl_put_number(o, (uint64_t)bytes * 2);
		return;
	}
	memcpy(&bits, &bytes, sizeof(bits));
	cpl_put_number(o, 1);
	cpl_put_fixed(o, bits, 8);
}

static void put_block(struct cpl_packer *o, const struct cpl_comm *local)
{
	for (int i = 0; i < local->ranks; i++) {
		int last = i;

		cpl_put_number(o,
		               (uint64_t)(local->row[i + 1] - local->row[i]));
		for (int64_t e = local->row[i]; e < local->row[i + 1]; e++) {
			cpl_put_number(o, (uint64_t)(local->to[e] - last));
			put_bytes(o, local->bytes[e]);
			last = local->to[e];
		}
	}
}

struct launch_block {
	size_t at, size;
	uint32_t sum;
	int tasks;
};

static int find_block(const struct cpl_packer *o,
                      const struct launch_block *block, int n,
                      const struct launch_block *wanted)
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
	if (cpl_out_of_memory(!entry, err))
		goto out;
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

/* Writes one node, whose block is compared in a buffer of its own. */
static void put_node(struct cpl_packer *o, struct cpl_packer *scratch,
                     const struct cpl_comm *local, const uint32_t *ids,
                     struct launch_block *block, int *n_blocks)
{
	struct launch_block fresh = {.at = scratch->used,
	                             .tasks = local->ranks};
	int which;

	put_block(scratch, local);
	if (scratch->full || scratch->failed) {
		o->full = o->full || scratch->full;
		o->failed = o->failed || scratch->failed;
		return;
	}
	fresh.size = scratch->used - fresh.at;
	fresh.sum = cpl_fnv(CPL_FNV, scratch->data + fresh.at, fresh.size);
	which = find_block(scratch, block, *n_blocks, &fresh);
	cpl_put_fixed(o, sum_of_ids(ids, local->ranks), SUM_BYTES);
	cpl_put_number(o, (uint64_t)which);
	if (which < *n_blocks) {
		scratch->used = fresh.at;
		return;
	}
	block[(*n_blocks)++] = fresh;
	cpl_put_number(o, fresh.size);
	cpl_put(o, scratch->data + fresh.at, fresh.size);
}

#define FLAG_MEMORY 1
#define FLAG_OWN 2
#define FLAG_NIC 4

static void put_head(struct cpl_packer *o, const struct cpl_launch *launch)
{
	cpl_put(o, MAGIC, MAGIC_BYTES);
	cpl_put_number(o, launch->kind);
	cpl_put_number(o, (launch->memory ? FLAG_MEMORY : 0) |
	                          (launch->own ? FLAG_OWN : 0) |
	                          (launch->nic[0] ? FLAG_NIC : 0));
	cpl_put_text(o, launch->profile);
	cpl_put_text(o, launch->binder);
	if (launch->nic[0])
		cpl_put_text(o, launch->nic);
	if (launch->kind == CPL_LAUNCH_NOTHING)
		cpl_put_text(o, launch->reason);
	if (launch->kind != CPL_LAUNCH_FILE)
		return;
	cpl_put_number(o, (uint64_t)launch->ranks);
	cpl_put_number(o, (uint64_t)launch->size);
	cpl_put_number(o, (uint64_t)launch->seconds);
	cpl_put_number(o, (uint64_t)launch->nanoseconds);
}

/* Returns -1 with err, but not when bytes or memory are too few. */
static int put_rows(struct cpl_packer *o, const struct cpl_comm *graph,
                    const struct cpl_launch_step *step, struct cpl_error *err)
{
	struct cpl_packer scratch = {.limit = o->limit};
	struct launch_block *block = NULL;
	int *index = NULL, n_blocks = 0, rc = 0;

	block = calloc((size_t)step->n_nodes + 1, sizeof(*block));
	index = calloc((size_t)graph->ranks + 1, sizeof(*index));
	o->failed = o->failed || !block || !index;
	cpl_put_number(o, (uint64_t)step->ranks);
	cpl_put_number(o, (uint64_t)step->n_nodes);
	for (int i = 0; i < step->n_nodes && !o->full && !o->failed; i++) {
		struct cpl_comm *local;

		cpl_put_number(o, step->tasks[i]);
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
	cpl_free_all(scratch.data, block, index);
	return rc;
}

unsigned char *cpl_launch_write(const struct cpl_launch *launch,
                                const struct cpl_comm *graph,
                                const struct cpl_launch_step *step,
                                size_t limit, size_t *size, bool *full,
                                struct cpl_error *err)
{
	struct cpl_packer o = {.limit = limit};
	bool done = false;

	*full = false;
	if (launch->kind == CPL_LAUNCH_ROWS && graph->ranks != step->ranks)
		return cpl_fail_null(
		        err, "profile %s is of %d ranks, the step has %d",
		        launch->profile, graph->ranks, step->ranks);
	put_head(&o, launch);
	if (launch->kind == CPL_LAUNCH_ROWS && put_rows(&o, graph, step, err))
		goto out;
	if (!o.full && !o.failed)
		cpl_put_fixed(&o, cpl_fnv(CPL_FNV, o.data, o.used), SUM_BYTES);
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

static double get_bytes(struct cpl_unpacker *in)
{
	uint64_t value = cpl_get_number(in);
	double bytes;

	if (!(value & 1))
		return (double)(value / 2);
	if (value != 1)
		in->bad = true;
	value = cpl_get_fixed(in, 8);
	memcpy(&bytes, &value, sizeof(bytes));
	if (!(bytes >= 0) || isinf(bytes)) {
		in->bad = true;
		return 0;
	}
	return bytes;
}

/* Reads the head and leaves *in at the rows. */
static void get_head(struct cpl_unpacker *in, struct cpl_launch *out)
{
	int flags;

	memset(out, 0, sizeof(*out));
	if (in->end - in->at < MAGIC_BYTES ||
	    memcmp(in->at, MAGIC, MAGIC_BYTES) != 0) {
		in->bad = true;
		return;
	}
	in->at += MAGIC_BYTES;
	out->kind = (enum cpl_launch_kind)cpl_get_int(in, CPL_LAUNCH_NOTHING);
	flags = cpl_get_int(in, FLAG_MEMORY | FLAG_OWN | FLAG_NIC);
	out->memory = flags & FLAG_MEMORY;
	out->own = flags & FLAG_OWN;
	cpl_get_text(in, out->profile, sizeof(out->profile));
	cpl_get_text(in, out->binder, sizeof(out->binder));
	if (flags & FLAG_NIC)
		cpl_get_text(in, out->nic, sizeof(out->nic));
	if (out->kind == CPL_LAUNCH_NOTHING)
		cpl_get_text(in, out->reason, sizeof(out->reason));
	else
		out->ranks = cpl_get_int(in, INT32_MAX);
	if (out->kind == CPL_LAUNCH_FILE) {
		out->size = (int64_t)cpl_get_number(in);
		out->seconds = (int64_t)cpl_get_number(in);
		out->nanoseconds = (int64_t)cpl_get_number(in);
	}
	if (out->kind != CPL_LAUNCH_ROWS && in->at != in->end)
		in->bad = true;
}

static int damaged(struct cpl_error *err)
{
	return cpl_fail(err, "the excerpt of the profile is damaged");
}

/* Checks and opens a launch and leaves *in at the rows. */
static int open_launch(const void *data, size_t size, struct cpl_unpacker *in,
                       struct cpl_launch *out, struct cpl_error *err)
{
	struct cpl_unpacker sum;

	if (size > CPL_LAUNCH_MAX_BYTES || size < MAGIC_BYTES + SUM_BYTES)
		return cpl_fail(err, "the excerpt of the profile has %zu bytes",
		                size);
	*in = (struct cpl_unpacker){.at = data};
	in->end = in->at + size - SUM_BYTES;
	sum = (struct cpl_unpacker){.at = in->end, .end = in->end + SUM_BYTES};
	if (cpl_get_fixed(&sum, SUM_BYTES) !=
	    cpl_fnv(CPL_FNV, data, size - SUM_BYTES))
		return damaged(err);
	get_head(in, out);
	return in->bad ? damaged(err) : 0;
}

int cpl_launch_read(const void *data, size_t size, struct cpl_launch *out,
                    struct cpl_error *err)
{
	struct cpl_unpacker in;

	return open_launch(data, size, &in, out, err);
}

static struct cpl_comm *read_block(struct cpl_unpacker *in, int n,
                                   struct cpl_error *err)
{
	/* An entry has at least two bytes, which bounds their number. */
	size_t capacity = (size_t)(in->end - in->at) / 2 + 1;
	struct cpl_comm_entry *entry = malloc(capacity * sizeof(*entry));
	struct cpl_comm *comm = NULL;
	int64_t used = 0;

	if (!entry)
		return cpl_fail_null_memory(err);
	for (int i = 0; i < n && !in->bad; i++) {
		int count = cpl_get_int(in, n - 1 - i), last = i;

		for (int k = 0; k < count && !in->bad; k++) {
			int step = cpl_get_int(in, n - 1 - last);
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

/* Skips to the block of the node, and sets both ends of it in *block. */
static int find_node(struct cpl_unpacker *in, int n_nodes, int node,
                     const uint32_t *ids, int n_tasks,
                     struct cpl_unpacker *block, struct cpl_error *err)
{
	const unsigned char **start;
	int n_blocks = 0, which = -1, rc = -1;

	start = malloc(((size_t)n_nodes + 1) * 2 * sizeof(*start));
	if (!start)
		return cpl_fail_memory(err);
	for (int i = 0; i < n_nodes && !in->bad; i++) {
		int tasks = cpl_get_int(in, UINT16_MAX), k;
		uint32_t sum;

		if (!tasks)
			continue;
		sum = (uint32_t)cpl_get_fixed(in, SUM_BYTES);
		k = cpl_get_int(in, n_blocks);
		if (!in->bad && k == n_blocks) {
			int length = cpl_get_int(in, CPL_LAUNCH_MAX_BYTES);

			if (in->bad || in->end - in->at < length)
				break;
			start[2 * n_blocks] = in->at;
			in->at += length;
			start[2 * n_blocks++ + 1] = in->at;
		}
		if (i != node)
			continue;
		if (tasks != n_tasks || sum != sum_of_ids(ids, n_tasks)) {
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
	struct cpl_unpacker in, block = {0};
	int n_nodes;

	if (open_launch(data, size, &in, &head, err))
		return NULL;
	/* A node has at least one byte, which bounds their number. */
	n_nodes = cpl_get_int(&in, CPL_LAUNCH_MAX_BYTES);
	if (head.kind != CPL_LAUNCH_ROWS || in.bad ||
	    n_nodes > in.end - in.at) {
		damaged(err);
		return NULL;
	}
	if (head.ranks != ranks || node < 0 || node >= n_nodes)
		return cpl_fail_null(
		        err,
		        "the excerpt of the profile is of %d ranks on %d "
		        "nodes, the step has %d and this is node %d of it",
		        head.ranks, n_nodes, ranks, node);
	if (find_node(&in, n_nodes, node, ids, n_tasks, &block, err))
		return NULL;
	return read_block(&block, n_tasks, err);
}
