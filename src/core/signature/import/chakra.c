/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A Chakra execution trace (MLCommons, et_def.proto) has a file NAME.RANK.et for
 * each rank. It holds protobuf messages, each behind its length: first
 * GlobalMetadata, then a Node for each operation. The type (field 3) and attributes
 * (field 10) of a Node are read: sends have comm_dst and comm_size, collectives
 * have comm_type, comm_size (the bytes that a rank puts in) and pg_name, the
 * process group: all ranks with operations of that name, or all ranks if there is
 * no name. Collectives go round rings as in NCCL (see nccl_inspector.c), gathers
 * and scatters by trees from the group's lowest rank.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "base/sort.h"
#include "signature/import/calls.h"

#define MAX_BYTES INT64_C(1000000000000000000)

/* This is a protobuf message, or what is left of it. */
struct bytes {
	const unsigned char *p, *end;
};

/* This is a field: a number, or a message or text. */
struct field {
	int number;
	uint64_t value; /* wire types 0, 1 and 5 */
	struct bytes text;
	bool is_text;
};

/* These attributes of a node count; -1 means absent. */
struct node {
	uint64_t type;
	int64_t comm_type, comm_size, comm_dst, tensor_size;
	struct bytes group; /* pg_name */
};

struct member {
	int group, rank;
};

struct chakra {
	json_t *group; /* pg_name -> number; "": all ranks, 0 */
	struct member *member;
	int64_t n_members;
	struct member *file; /* rank of each file */
	int64_t n_files;
	struct import_calls calls; /* rank: of the file */
};

enum { SEND = 5, COLLECTIVE = 7 }; /* NodeType */

static void release(void *state)
{
	struct chakra *s = state;

	if (!s)
		return;
	json_decref(s->group);
	cpl_free_all(s->member, s->file, s->calls.call, s);
}

static struct chakra *state_of(struct matrix *out, struct cpl_error *err)
{
	struct chakra *s = out->state ? out->state : calloc(1, sizeof(*s));

	if (s && !out->state) {
		s->group = json_object();
		json_object_set_new(s->group, "", json_integer(0));
	}
	if (!s || !json_object_size(s->group)) {
		release(s);
		cpl_fail_memory(err);
		return NULL;
	}
	out->lost = "times, computation, memory and the order of operations, "
	            "trees and roots of collectives (rings and the lowest rank "
	            "are taken)";
	out->state = s;
	return s;
}

/* This reads the number between the last two points: "job.12.et" is rank 12. */
static int rank_of(const struct cpl_lines *in, int *rank)
{
	const char *base = cpl_path_base(in->source);
	size_t n = strlen(base);
	char *end;
	long value;

	if (n > 3 && !strcmp(base + n - 3, ".gz"))
		n -= 3;
	if (n < 4 || strncmp(base + n - 3, ".et", 3))
		goto none;
	for (n -= 3; n && base[n - 1] >= '0' && base[n - 1] <= '9'; n--)
		;
	if (n && base[n - 1] != '.')
		goto none;
	value = strtol(base + n, &end, 10);
	if (end == base + n || value < 0 || value >= CPL_SIGNATURE_MAX_RANKS)
		goto none;
	*rank = (int)value;
	return 0;
none:
	return cpl_fail(in->err,
	                "%s: the file's name does not end in .RANK.et, by which "
	                "its rank is known",
	                in->source);
}

/* This reads a varint. It returns false at the end, or where it is longer than 64
 * bits. */
static bool take_varint(struct bytes *b, uint64_t *out)
{
	*out = 0;
	for (int shift = 0; shift < 64 && b->p < b->end; shift += 7) {
		unsigned char c = *b->p++;

		*out |= (uint64_t)(c & 127) << shift;
		if (c < 128)
			return true;
	}
	return false;
}

static bool take_text(struct bytes *b, struct bytes *out)
{
	uint64_t n;

	if (!take_varint(b, &n) || n > (uint64_t)(b->end - b->p))
		return false;
	*out = (struct bytes){b->p, b->p + n};
	b->p += n;
	return true;
}

static bool take_fixed(struct bytes *b, int size, uint64_t *out)
{
	if (b->end - b->p < size)
		return false;
	*out = 0;
	for (int i = 0; i < size; i++)
		*out |= (uint64_t)b->p[i] << (8 * i);
	b->p += size;
	return true;
}

/* This reads the next field, or returns false if no valid one follows. */
static bool take_field(struct bytes *b, struct field *f)
{
	uint64_t key;

	*f = (struct field){0};
	if (!take_varint(b, &key) || key >> 3 == 0 || key >> 3 > 536870911)
		return false;
	f->number = (int)(key >> 3);
	f->is_text = (key & 7) == 2;
	switch (key & 7) {
	case 0:
		return take_varint(b, &f->value);
	case 1:
		return take_fixed(b, 8, &f->value);
	case 2:
		return take_text(b, &f->text);
	case 5:
		return take_fixed(b, 4, &f->value);
	default:
		return false;
	}
}

static bool is(const struct bytes *b, const char *text)
{
	size_t n = strlen(text);

	return (size_t)(b->end - b->p) == n && !memcmp(b->p, text, n);
}

/* This reads an integer of AttributeProto's oneof, or returns false for another
 * kind. */
static bool take_integer(const struct field *f, int64_t *out)
{
	switch (f->number) {
	case 7:  /* int32 */
	case 9:  /* int64 */
	case 11: /* uint32 */
	case 13: /* uint64 */
	case 19: /* fixed32 */
	case 21: /* fixed64 */
	case 25: /* sfixed64 */
		*out = (int64_t)f->value;
		return true;
	case 23: /* sfixed32 */
		*out = (int32_t)f->value;
		return true;
	case 15: /* sint32 */
	case 17: /* sint64 */
		*out = (int64_t)(f->value >> 1) ^ -(int64_t)(f->value & 1);
		return true;
	default:
		return false;
	}
}

static bool take_attribute(struct bytes b, struct node *out)
{
	struct bytes name = {0}, text = {0};
	struct field f;
	int64_t value = -1;

	while (b.p < b.end) {
		if (!take_field(&b, &f))
			return false;
		if (f.number == 1 && f.is_text)
			name = f.text;
		else if (f.number == 29 && f.is_text)
			text = f.text;
		else if (!f.is_text)
			take_integer(&f, &value);
	}
	if (is(&name, "comm_type"))
		out->comm_type = value;
	else if (is(&name, "comm_size"))
		out->comm_size = value;
	else if (is(&name, "comm_dst"))
		out->comm_dst = value;
	else if (is(&name, "tensor_size"))
		out->tensor_size = value;
	else if (is(&name, "pg_name"))
		out->group = text;
	return true;
}

static bool take_node(struct bytes b, struct node *out)
{
	struct field f;

	*out = (struct node){.comm_type = -1,
	                     .comm_size = -1,
	                     .comm_dst = -1,
	                     .tensor_size = -1};
	while (b.p < b.end) {
		if (!take_field(&b, &f))
			return false;
		if (f.number == 3 && !f.is_text)
			out->type = f.value;
		else if (f.number == 10 && f.is_text &&
		         !take_attribute(f.text, out))
			return false;
	}
	return true;
}

static int fail_node(const struct cpl_lines *in, int64_t number,
                     const char *why)
{
	return cpl_fail(in->err, "%s: node %lld: %s", in->source,
	                (long long)number, why);
}

static int put_send(struct cpl_lines *in, int64_t number,
                    const struct node *node, int rank, struct matrix *out)
{
	int64_t bytes = node->comm_size >= 0 ? node->comm_size
	                                     : node->tensor_size;
	struct cpl_comm_entry e = {rank, (int)node->comm_dst, (double)bytes,
	                           1.0};

	if (node->comm_dst < 0 || node->comm_dst >= CPL_SIGNATURE_MAX_RANKS)
		return fail_node(in, number,
		                 "a send has no comm_dst in 0 to 16777215");
	if (bytes < 0 || bytes > MAX_BYTES)
		return fail_node(in, number,
		                 "a send has no comm_size in 0 to 1e18");
	return entry_push(&out->list, &e, in->err);
}

/* This returns the number of the node's process group, and notes that the rank
 * belongs to it. */
static int group_of(struct chakra *s, const struct node *node, int rank,
                    struct cpl_error *err)
{
	size_t n = (size_t)(node->group.end - node->group.p);
	char *name = n ? strndup((const char *)node->group.p, n) : strdup("");
	struct member m = {(int)json_object_size(s->group), rank};
	const json_t *known;

	if (!name)
		return cpl_fail_memory(err);
	known = json_object_get(s->group, name);
	if (known)
		m.group = (int)json_integer_value(known);
	else if (json_object_set_new(s->group, name, json_integer(m.group)))
		m.group = cpl_fail(err, "pg_name is not UTF-8");
	free(name);
	if (m.group <= 0)
		return m.group;
	if (s->n_members && s->member[s->n_members - 1].group == m.group &&
	    s->member[s->n_members - 1].rank == rank)
		return m.group;
	if (cpl_array_grow(&s->member, s->n_members, sizeof(m), err))
		return -1;
	s->member[s->n_members++] = m;
	return m.group;
}

static int put_collective(struct cpl_lines *in, int64_t number,
                          const struct node *node, int rank, struct chakra *s)
{
	/* CollectiveCommType */
	static const enum import_operation operation[] = {
	        IMPORT_ALLREDUCE, IMPORT_REDUCE,         IMPORT_ALLGATHER,
	        IMPORT_GATHER,    IMPORT_SCATTER,        IMPORT_BROADCAST,
	        IMPORT_ALLTOALL,  IMPORT_REDUCE_SCATTER, IMPORT_REDUCE_SCATTER,
	        IMPORT_BARRIER};
	struct import_call c = {.rank = rank,
	                        .bytes = (double)node->comm_size,
	                        .calls = 1};

	if (node->comm_type < 0 ||
	    node->comm_type >=
	            (int64_t)(sizeof(operation) / sizeof(*operation)))
		return fail_node(in, number,
		                 "a collective has no comm_type in 0 to 9");
	c.operation = operation[node->comm_type];
	if (c.operation == IMPORT_BARRIER)
		c.bytes = 0;
	if (!(c.bytes >= 0 && c.bytes <= 1e18))
		return fail_node(in, number,
		                 "a collective has no comm_size in 0 to 1e18");
	c.group = group_of(s, node, rank, in->err);
	if (c.group < 0)
		return cpl_fail_prefix(in->err, "%s: ", in->source);
	return import_call_push(&s->calls, &c, in->err);
}

static int read_chakra(struct cpl_lines *in, struct matrix *out)
{
	struct bytes all = {(const unsigned char *)in->next,
	                    (const unsigned char *)in->end};
	struct chakra *s = state_of(out, in->err);
	struct member file = {0};
	int rc = s ? rank_of(in, &file.rank) : -1;

	if (rc || cpl_array_grow(&s->file, s->n_files, sizeof(file), in->err))
		return -1;
	s->file[s->n_files++] = file;
	for (int64_t number = 0; !rc && all.p < all.end; number++) {
		struct bytes message;
		struct node node;

		if (!take_text(&all, &message))
			return fail_node(in, number, "is truncated");
		if (!number)
			continue; /* GlobalMetadata */
		if (!take_node(message, &node))
			return fail_node(in, number, "is no Node of Chakra");
		if (node.type == SEND)
			rc = put_send(in, number, &node, file.rank, out);
		else if (node.type == COLLECTIVE)
			rc = put_collective(in, number, &node, file.rank, s);
	}
	return rc;
}

static CPL_SORT_BY(compare, struct member, CPL_UP(group), CPL_UP(rank))

static int check_files(struct chakra *s, struct matrix *out,
                       struct cpl_error *err)
{
	qsort(s->file, (size_t)s->n_files, sizeof(*s->file), compare);
	for (int64_t i = 0; i < s->n_files; i++) {
		if (i && s->file[i].rank == s->file[i - 1].rank)
			return cpl_fail(err, "rank %d has two files",
			                s->file[i].rank);
		if (s->file[i].rank != i)
			return cpl_fail(err,
			                "rank %lld has no file; those of all "
			                "ranks are needed",
			                (long long)i);
	}
	out->ranks = (int)s->n_files;
	return 0;
}

/* This puts the ranks of each group into rank[], and the calls that go round a ring
 * into the list. Other calls stay, by places in the group. */
static int assign_calls(struct chakra *s, struct import_group *group, int *rank,
                        struct matrix *out, struct cpl_error *err)
{
	int64_t kept = 0, n = 0;

	if (s->n_members)
		qsort(s->member, (size_t)s->n_members, sizeof(*s->member),
		      compare);
	for (int64_t i = 0; i < s->n_members; i++) {
		struct import_group *g = &group[s->member[i].group];

		if (i && !compare(&s->member[i - 1], &s->member[i]))
			continue;
		rank[n] = s->member[i].rank;
		if (!g->n++)
			g->rank = &rank[n];
		n++;
	}
	for (int64_t i = 0; i < s->calls.n; i++) {
		struct import_call c = s->calls.call[i];
		const struct import_group *g = &group[c.group];
		struct cpl_comm_entry e = {c.rank, 0, 0, 0};
		double factor = 0;
		int next;

		c.rank = import_group_rank(g, c.rank);
		if (c.operation == IMPORT_REDUCE_SCATTER ||
		    c.operation == IMPORT_ALLTOALL ||
		    c.operation == IMPORT_SCATTER)
			c.bytes /= g->n; /* a block of what is put in */
		if (!import_ring(c.operation, g->n, &factor, &e.messages)) {
			s->calls.call[kept++] = c;
			continue;
		}
		next = (c.rank + 1) % g->n;
		e.to = g->rank ? g->rank[next] : next;
		e.bytes = factor * c.bytes;
		if (g->n > 1 && e.bytes > 0 && entry_push(&out->list, &e, err))
			return -1;
	}
	s->calls.n = kept;
	return 0;
}

static int finish(struct matrix *out, struct cpl_error *err)
{
	struct chakra *s = out->state;
	size_t n = json_object_size(s->group);
	struct import_group *group = calloc(n, sizeof(*group));
	int *rank = malloc(((size_t)s->n_members + 1) * sizeof(*rank));
	int rc = -1;

	if (!group || !rank)
		cpl_fail_memory(err);
	else
		rc = check_files(s, out, err);
	if (!rc) {
		group[0].n = out->ranks;
		rc = assign_calls(s, group, rank, out, err);
	}
	if (!rc)
		rc = import_calls_expand(&s->calls, group, &out->list, err);
	cpl_free_all(group, rank);
	release(s);
	return rc;
}

const struct import_format import_chakra = {
        .name = "chakra",
        .summary = "execution traces of Chakra",
        .flags = IMPORT_FILES,
        .read = read_chakra,
        .finish = finish,
        .release = release,
};
