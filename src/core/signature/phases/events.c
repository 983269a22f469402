/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "signature/phases/events.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "base/packed.h"
#include "base/sort.h"
#include "signature/signature.h"

#define MAX_BYTES (UINT64_C(8) << 30)
#define MAX_TEXT 8192
#define MAX_FUNCTIONS 4096
#define MAX_DEPTH 64 /* of loops */

struct event_reader {
	struct cpl_unpacker in;
	const unsigned char *begin;
	const char *name;
	struct cpl_run_events *events;
	struct cpl_error *err;
};

static int bad(struct event_reader *r, const char *what)
{
	return cpl_fail(r->err, "%s: %s, at byte %lld", r->name, what,
	                (long long)(r->in.at - r->begin));
}

static int truncated(struct event_reader *r)
{
	return cpl_fail(r->err, "%s: it ends early or holds no such numbers",
	                r->name);
}

/* This returns how many items of at least `bytes` bytes each may still come, as an
 * int. */
static int64_t get_count(struct event_reader *r, int bytes)
{
	uint64_t n = cpl_get_number(&r->in);

	if (n > (uint64_t)(r->in.end - r->in.at) / (uint64_t)bytes ||
	    n >= INT32_MAX)
		r->in.bad = true;
	return r->in.bad ? 0 : (int64_t)n;
}

static void *get_array(struct event_reader *r, int64_t n, size_t size)
{
	void *array = calloc((size_t)n + 1, size);

	if (!array)
		cpl_fail_memory(r->err);
	return array;
}

/* This reads a number below n, which may be 0. */
static int get_index(struct event_reader *r, int n)
{
	int i = cpl_get_int(&r->in, n ? n - 1 : 0);

	if (!n)
		r->in.bad = true;
	return i;
}

static double get_seconds(struct cpl_unpacker *in)
{
	return (double)cpl_get_number(in) * 1e-9;
}

static char *get_string(struct event_reader *r)
{
	char text[MAX_TEXT];
	char *copy;

	cpl_get_text(&r->in, text, sizeof(text));
	copy = strdup(text);
	if (!copy)
		cpl_fail_memory(r->err);
	return copy;
}

static int read_head(struct event_reader *r)
{
	struct cpl_run_events *e = r->events;
	char **fact[] = {&e->application, &e->mpi, &e->command, &e->date};

	if (r->in.end - r->in.at < 9 || memcmp(r->in.at, "CPLEVENT", 8))
		return cpl_fail(r->err, "%s: no file of events", r->name);
	r->in.at += 8;
	if (cpl_get_number(&r->in) != 1)
		return cpl_fail(r->err,
		                "%s: a version of the format that is not known "
		                "here",
		                r->name);
	e->ranks = cpl_get_int(&r->in, CPL_SIGNATURE_MAX_RANKS);
	if (!e->ranks)
		return bad(r, "no number of ranks");
	for (int i = 0; i < 4; i++) {
		*fact[i] = get_string(r);
		if (!*fact[i])
			return -1;
	}
	e->n_functions = cpl_get_int(&r->in, MAX_FUNCTIONS);
	e->function = get_array(r, e->n_functions, sizeof(*e->function));
	if (!e->function)
		return -1;
	for (int i = 0; i < e->n_functions; i++) {
		e->function[i] = get_string(r);
		if (!e->function[i])
			return -1;
	}
	return r->in.bad ? truncated(r) : 0;
}

/* This reads rows of a table behind those that are there. */
static int read_total(struct event_reader *r, struct cpl_run_rank *rank,
                      bool inward)
{
	int64_t n = get_count(r, 3);
	struct cpl_run_messages *more;

	more = realloc(rank->total,
	               sizeof(*more) * (size_t)(rank->n_total + n + 1));
	if (!more)
		return cpl_fail_memory(r->err);
	rank->total = more;
	for (int64_t i = 0; i < n; i++) {
		struct cpl_run_messages *m = &more[rank->n_total++];

		m->peer = cpl_get_int(&r->in, r->events->ranks - 1);
		m->inward = inward;
		m->bytes = (double)cpl_get_number(&r->in);
		m->messages = (double)cpl_get_number(&r->in);
	}
	return r->in.bad ? truncated(r) : 0;
}

static int read_messages(struct event_reader *r, struct cpl_run_rank *rank,
                         int n, int64_t *capacity)
{
	if (rank->n_messages + n > *capacity) {
		struct cpl_run_messages *more;

		*capacity = 2 * (rank->n_messages + n);
		more = realloc(rank->message,
		               sizeof(*more) * (size_t)*capacity);
		if (!more)
			return cpl_fail_memory(r->err);
		rank->message = more;
	}
	for (int i = 0; i < n; i++) {
		struct cpl_run_messages *m =
		        &rank->message[rank->n_messages++];
		uint64_t peer = cpl_get_number(&r->in);

		if (peer >> 1 >= (uint64_t)r->events->ranks)
			return bad(r, "a message to a rank that is not there");
		m->peer = (int)(peer >> 1);
		m->inward = peer & 1;
		m->bytes = (double)cpl_get_number(&r->in);
		m->messages = (double)cpl_get_number(&r->in);
	}
	return 0;
}

static int read_kinds(struct event_reader *r, struct cpl_run_rank *rank)
{
	int64_t capacity = 0, n = get_count(r, 6);

	rank->kind = get_array(r, n, sizeof(*rank->kind));
	if (!rank->kind)
		return -1;
	rank->n_kinds = (int)n;
	for (int64_t i = 0; i < n; i++) {
		struct cpl_run_kind *k = &rank->kind[i];

		k->function = get_index(r, r->events->n_functions);
		k->communicator = cpl_get_int(&r->in, rank->n_communicators);
		k->source = cpl_get_int(&r->in, r->events->ranks) - 1;
		k->bytes = (double)cpl_get_number(&r->in);
		k->events = (double)cpl_get_number(&r->in);
		k->first = rank->n_messages;
		k->n = (int)get_count(r, 3);
		if (r->in.bad)
			return truncated(r);
		if (read_messages(r, rank, k->n, &capacity))
			return -1;
	}
	return r->in.bad ? truncated(r) : 0;
}

static void get_amount(struct event_reader *r, struct cpl_run_node *node)
{
	node->size = 1;
	node->count = (double)cpl_get_number(&r->in);
	node->bytes = (double)cpl_get_number(&r->in);
	node->compute = get_seconds(&r->in);
	node->duration = get_seconds(&r->in);
}

static int read_unordered(struct event_reader *r, struct cpl_run_rank *rank)
{
	int64_t n = get_count(r, 5);

	rank->unordered = get_array(r, n, sizeof(*rank->unordered));
	if (!rank->unordered)
		return -1;
	for (; rank->n_unordered < n; rank->n_unordered++) {
		struct cpl_run_node *node =
		        &rank->unordered[rank->n_unordered];

		node->kind = get_index(r, rank->n_kinds);
		get_amount(r, node);
	}
	return r->in.bad ? truncated(r) : 0;
}

static struct cpl_run_node *add_node(struct event_reader *r,
                                     struct cpl_run_rank *rank)
{
	int64_t n = rank->n_nodes;

	if (cpl_array_grow(&rank->node, n, sizeof(*rank->node), r->err))
		return NULL;
	memset(&rank->node[n], 0, sizeof(*rank->node));
	rank->n_nodes++;
	return &rank->node[n];
}

/* This reads n elements of a body, or of the top. */
static int read_nodes(struct event_reader *r, struct cpl_run_rank *rank,
                      int64_t n, int depth)
{
	if (depth > MAX_DEPTH)
		return bad(r, "loops are nested too deep");
	for (int64_t i = 0; i < n; i++) {
		int64_t at = rank->n_nodes, length;
		struct cpl_run_node *node;
		int kind = cpl_get_int(&r->in, rank->n_kinds);

		if (r->in.bad)
			return truncated(r);
		node = at < INT32_MAX ? add_node(r, rank) : NULL;
		if (!node)
			return at < INT32_MAX ? -1 : bad(r, "too many events");
		node->kind = kind - 1;
		if (kind) {
			get_amount(r, node);
			continue;
		}
		node->entries = (double)cpl_get_number(&r->in);
		node->rounds = (double)cpl_get_number(&r->in);
		length = get_count(r, 4);
		if (r->in.bad)
			return truncated(r);
		if (!length || !(node->entries >= 1) ||
		    node->rounds < node->entries)
			return bad(r, "a loop without rounds or body");
		if (read_nodes(r, rank, length, depth + 1))
			return -1;
		rank->node[at].size = (int)(rank->n_nodes - at);
	}
	return r->in.bad ? truncated(r) : 0;
}

static int read_events(struct event_reader *r, struct cpl_run_rank *rank)
{
	int64_t n = get_count(r, 2);

	rank->communicator = get_array(r, n, sizeof(*rank->communicator));
	if (!rank->communicator)
		return -1;
	for (; rank->n_communicators < n && !r->in.bad;
	     rank->n_communicators++) {
		struct cpl_run_communicator *c =
		        &rank->communicator[rank->n_communicators];

		c->hash = cpl_get_number(&r->in);
		c->size = cpl_get_int(&r->in, 2 * CPL_SIGNATURE_MAX_RANKS);
	}
	if (r->in.bad)
		return truncated(r);
	if (read_kinds(r, rank) || read_unordered(r, rank))
		return -1;
	return read_nodes(r, rank, get_count(r, 4), 0);
}

static int read_section(struct event_reader *r)
{
	struct cpl_run_events *e = r->events;
	struct cpl_run_rank *rank;

	/* One rank in memory is far larger than in the file. */
	if (e->n == e->ranks)
		return bad(r, "more ranks than there are");
	if (cpl_array_grow(&e->rank, e->n, sizeof(*e->rank), r->err))
		return -1;
	rank = &e->rank[e->n++];
	memset(rank, 0, sizeof(*rank));
	rank->rank = cpl_get_int(&r->in, e->ranks - 1);
	rank->time = get_seconds(&r->in);
	rank->mpi_time = get_seconds(&r->in);
	rank->lost = (double)cpl_get_number(&r->in);
	rank->ended = cpl_get_int(&r->in, 1000) - 1;
	if (read_total(r, rank, false) || read_total(r, rank, true))
		return -1;
	rank->has_events = cpl_get_int(&r->in, 1);
	if (rank->has_events && read_events(r, rank))
		return -1;
	return r->in.bad ? truncated(r) : 0;
}

static CPL_SORT_BY(by_rank, struct cpl_run_rank, CPL_UP(rank))

/* The sections come in order, and none comes twice. */
static int finish(struct cpl_run_events *e, const char *name,
                  struct cpl_error *err)
{
	if (!e->n)
		return cpl_fail(err, "%s: no rank", name);
	qsort(e->rank, (size_t)e->n, sizeof(*e->rank), by_rank);
	for (int i = 1; i < e->n; i++)
		if (e->rank[i].rank == e->rank[i - 1].rank)
			return cpl_fail(err, "%s: rank %d comes twice", name,
			                e->rank[i].rank);
	return 0;
}

static struct cpl_run_events *parse(const void *data, size_t length,
                                const char *name, struct cpl_error *err)
{
	struct event_reader r = {
	        .in = {data, (const unsigned char *)data + length, false},
	        .begin = data,
	        .name = name,
	        .events = calloc(1, sizeof(*r.events)),
	        .err = err};

	if (!r.events)
		return cpl_fail_null_memory(err);
	if (read_head(&r))
		goto fail;
	while (r.in.at < r.in.end)
		if (read_section(&r))
			goto fail;
	return r.events;
fail:
	cpl_run_events_free(r.events);
	return NULL;
}

struct cpl_run_events *cpl_run_events_parse(const void *data, size_t length,
                                    const char *name, struct cpl_error *err)
{
	struct cpl_run_events *e = parse(data, length, name, err);

	if (e && finish(e, name, err)) {
		cpl_run_events_free(e);
		e = NULL;
	}
	return e;
}

static struct cpl_run_events *read_one(const char *path, struct cpl_error *err)
{
	size_t length;
	char *data = cpl_file_read(path, MAX_BYTES, &length, err);
	struct cpl_run_events *e = data ? parse(data, length, path, err) : NULL;

	free(data);
	return e;
}

/* This moves the ranks of `part` to those of e, and frees part. */
static int take_ranks(struct cpl_run_events *e, struct cpl_run_events *part,
                      const char *path, struct cpl_error *err)
{
	struct cpl_run_rank *more = NULL;
	bool same = e->ranks == part->ranks &&
	            e->n_functions == part->n_functions;

	for (int i = 0; same && i < e->n_functions; i++)
		same = !strcmp(e->function[i], part->function[i]);
	if (same)
		more = realloc(e->rank,
		               sizeof(*more) * (size_t)(e->n + part->n + 1));
	if (more) {
		e->rank = more;
		if (part->n)
			memcpy(more + e->n, part->rank,
			       sizeof(*more) * (size_t)part->n);
		e->n += part->n;
		part->n = 0;
	} else if (same) {
		cpl_fail_memory(err);
	} else {
		cpl_fail(err, "%s: of another run than the files before",
		         path);
	}
	cpl_run_events_free(part);
	return more ? 0 : -1;
}

struct cpl_run_events *cpl_run_events_read(const char *const *path, int n,
                                   struct cpl_error *err)
{
	struct cpl_run_events *e = read_one(path[0], err), *part;

	for (int i = 1; e && i < n; i++) {
		part = read_one(path[i], err);
		if (!part || take_ranks(e, part, path[i], err))
			goto fail;
	}
	if (e && !finish(e, path[0], err))
		return e;
fail:
	cpl_run_events_free(e);
	return NULL;
}

/* This puts a file's bytes behind those before; of further files without the head. */
static int append(FILE *to, const char *path, bool first, struct cpl_error *err)
{
	struct event_reader r = {.name = path,
	                         .events = calloc(1, sizeof(*r.events)),
	                         .err = err};
	size_t length;
	char *data = cpl_file_read(path, MAX_BYTES, &length, err);
	int rc = -1;

	if (data && !r.events)
		cpl_fail_memory(err);
	else if (data) {
		r.begin = r.in.at = (const unsigned char *)data;
		r.in.end = r.in.at + length;
		rc = first ? 0 : read_head(&r);
	}
	if (!rc)
		fwrite(r.in.at, 1, (size_t)(r.in.end - r.in.at), to);
	cpl_run_events_free(r.events);
	free(data);
	return rc;
}

int cpl_run_events_join(const char *const *path, int n, const char *to,
                        struct cpl_error *err)
{
	struct cpl_file_writer *w = cpl_file_open_atomic(to, err);
	int rc = w ? 0 : -1;

	for (int i = 0; i < n && !rc; i++)
		rc = append(cpl_file_stream(w), path[i], !i, err);
	if (!rc)
		return cpl_file_commit(w, 0644, err);
	cpl_file_abandon(w);
	return -1;
}

void cpl_run_events_free(struct cpl_run_events *e)
{
	if (!e)
		return;
	for (int i = 0; i < e->n; i++) {
		cpl_free_all(e->rank[i].total, e->rank[i].communicator,
		             e->rank[i].kind, e->rank[i].message,
		             e->rank[i].node, e->rank[i].unordered);
	}
	for (int i = 0; e->function && i < e->n_functions; i++)
		free(e->function[i]);
	cpl_free_all(e->function, e->rank, e->application, e->mpi, e->command,
	             e->date, e);
}
