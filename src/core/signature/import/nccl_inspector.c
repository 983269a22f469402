/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This reads JSON lines of NCCL's Inspector (and RCCL's), a file for each process:
 *
 *	{"header": {"id": "0x7f8c", "rank": 2, "n_ranks": 8, ...},
 *	 "metadata": {"hostname": "gpu01", "pid": 4711, ...},
 *	 "coll_perf": {"coll": "AllReduce", "coll_msg_size_bytes": 4096, ...}}
 *
 * or "p2p_perf" with "p2p", "p2p_peer" and "p2p_msg_size_bytes". Ranks are those of
 * a communicator. A communicator that has all processes tells who each is in the
 * job; without one they count in the order of the files. Collectives are taken as
 * rings, whatever tree the library chose: of n ranks, each sends the next one 2 (n
 * - 1) / n of an AllReduce's size, (n - 1) times an AllGather's or ReduceScatter's,
 * and (n - 1) / n of a Broadcast's or Reduce's, whose root the records do not tell;
 * an AlltoAll is (n - 1) messages.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "signature/import/calls.h"

struct communicator {
	int ranks, first; /* its slots are first .. first + ranks - 1 */
};

/* A slot is a rank of a communicator. Entries go from slot to slot until all
 * processes are known. */
struct nccl_inspector {
	json_t *process; /* "HOST PID" -> number */
	json_t *named;   /* communicator's id -> number */
	struct communicator *communicator;
	int n_communicators, n_slots;
	int *slot_process; /* [n_slots], -1: not seen */
};

static void release(void *state)
{
	struct nccl_inspector *s = state;

	if (!s)
		return;
	json_decref(s->process);
	json_decref(s->named);
	cpl_free_all(s->communicator, s->slot_process, s);
}

static struct nccl_inspector *state_of(struct matrix *out,
                                       struct cpl_error *err)
{
	struct nccl_inspector *s = out->state;

	if (s)
		return s;
	s = calloc(1, sizeof(*s));
	if (s) {
		s->process = json_object();
		s->named = json_object();
	}
	if (!s || !s->process || !s->named) {
		release(s);
		cpl_fail_memory(err);
		return NULL;
	}
	out->state = s;
	out->lost = "times, the order of operations, and trees of collectives, "
	            "which are taken as rings";
	return s;
}

/* This returns the number of a key, which may be a new one, or -1 with err when
 * memory is out. */
static int number_of(json_t *table, const char *key, struct cpl_error *err)
{
	const json_t *known = json_object_get(table, key);
	int n = (int)json_object_size(table);

	if (known)
		return (int)json_integer_value(known);
	if (json_object_set_new(table, key, json_integer(n)))
		return cpl_fail_memory(err);
	return n;
}

static int add_communicator(struct nccl_inspector *s, int ranks,
                            struct cpl_error *err)
{
	int n = s->n_communicators;
	int *slots;

	if (cpl_array_grow(&s->communicator, n, sizeof(*s->communicator), err))
		return -1;
	if (ranks > CPL_SIGNATURE_MAX_RANKS - s->n_slots)
		return cpl_fail(err,
		                "communicators have more than %d ranks in "
		                "all",
		                CPL_SIGNATURE_MAX_RANKS);
	slots = realloc(s->slot_process,
	                (size_t)(s->n_slots + ranks) * sizeof(*slots));
	if (!slots)
		return cpl_fail_memory(err);
	s->slot_process = slots;
	s->communicator[n] = (struct communicator){ranks, s->n_slots};
	for (int r = 0; r < ranks; r++)
		slots[s->n_slots + r] = -1;
	s->n_slots += ranks;
	s->n_communicators++;
	return 0;
}

static int integer(struct cpl_lines *in, const json_t *object, const char *key,
                   int64_t most, int64_t *out)
{
	const json_t *value = json_object_get(object, key);

	if (!json_is_integer(value) || json_integer_value(value) < 0 ||
	    json_integer_value(value) > most)
		return cpl_lines_fail(in,
		                      "\"%s\": an integer in 0 to %lld is "
		                      "needed",
		                      key, (long long)most);
	*out = json_integer_value(value);
	return 0;
}

/* This finds the communicator and rank of a record, and notes its process. */
static int assign_record(struct cpl_lines *in, struct nccl_inspector *s,
                         const json_t *record,
                         const struct communicator **communicator, int *rank)
{
	const json_t *header = json_object_get(record, "header");
	const json_t *who = json_object_get(record, "metadata");
	const char *id = json_string_value(json_object_get(header, "id"));
	const char *host = json_string_value(json_object_get(who, "hostname"));
	int64_t ranks = 0, r = 0, pid = 0;
	int c, process, *slot;
	char key[320];

	if (!id || !host)
		return cpl_lines_fail(in, "\"header\" with \"id\", and "
		                          "\"metadata\" with \"hostname\" are "
		                          "needed");
	if (integer(in, header, "n_ranks", CPL_SIGNATURE_MAX_RANKS, &ranks) ||
	    integer(in, header, "rank", ranks - 1, &r) ||
	    integer(in, who, "pid", INT32_MAX, &pid))
		return -1;
	snprintf(key, sizeof(key), "%.255s %lld", host, (long long)pid);
	process = number_of(s->process, key, in->err);
	c = number_of(s->named, id, in->err);
	if (process < 0 || c < 0 ||
	    (c == s->n_communicators &&
	     add_communicator(s, (int)ranks, in->err)))
		return -1;
	*communicator = &s->communicator[c];
	*rank = (int)r;
	if ((*communicator)->ranks != ranks)
		return cpl_lines_fail(in,
		                      "\"n_ranks\" is %lld; the communicator "
		                      "had %d before",
		                      (long long)ranks, (*communicator)->ranks);
	slot = &s->slot_process[(*communicator)->first + r];
	if (*slot >= 0 && *slot != process)
		return cpl_lines_fail(in,
		                      "two processes are rank %lld of the "
		                      "communicator",
		                      (long long)r);
	*slot = process;
	return 0;
}

static int read_collective(struct cpl_lines *in, const json_t *perf,
                           const struct communicator *c, int rank,
                           struct matrix *out)
{
	const char *name = json_string_value(json_object_get(perf, "coll"));
	const struct import_name *known = name ? import_collective(name) : NULL;
	struct cpl_comm_entry e = {c->first + rank, 0, 0.0, 1.0};
	double factor = 0;
	int64_t bytes = 0;

	if (!name)
		return cpl_lines_fail(in, "\"coll_perf\" has no \"coll\"");
	if (integer(in, perf, "coll_msg_size_bytes", INT64_MAX / 16, &bytes))
		return -1;
	if (c->ranks == 1)
		return 0;
	if (known && known->operation == IMPORT_ALLTOALL) {
		e.bytes = (double)bytes / c->ranks;
		for (int r = 0; r < c->ranks; r++) {
			e.to = c->first + r;
			if (r != rank && entry_push(&out->list, &e, in->err))
				return -1;
		}
		return 0;
	}
	if (!known ||
	    !import_ring(known->operation, c->ranks, &factor, &e.messages))
		return cpl_lines_fail(in, "\"coll\" %.40s is unknown", name);
	e.to = c->first + (rank + 1) % c->ranks;
	e.bytes = factor * (double)bytes;
	return entry_push(&out->list, &e, in->err);
}

/* This reads a send; the other side tells of its receive. */
static int read_send(struct cpl_lines *in, const json_t *perf,
                     const struct communicator *c, int rank, struct matrix *out)
{
	const char *name = json_string_value(json_object_get(perf, "p2p"));
	struct cpl_comm_entry e = {c->first + rank, 0, 0.0, 1.0};
	int64_t peer = 0, bytes = 0;

	if (!name)
		return cpl_lines_fail(in, "\"p2p_perf\" has no \"p2p\"");
	if (strcmp(name, "Send"))
		return 0;
	if (integer(in, perf, "p2p_peer", c->ranks - 1, &peer) ||
	    integer(in, perf, "p2p_msg_size_bytes", INT64_MAX / 16, &bytes))
		return -1;
	e.to = c->first + (int)peer;
	e.bytes = (double)bytes;
	return entry_push(&out->list, &e, in->err);
}

static int read_record(struct cpl_lines *in, const json_t *record,
                       struct matrix *out)
{
	const json_t *collective = json_object_get(record, "coll_perf");
	const json_t *send = json_object_get(record, "p2p_perf");
	struct nccl_inspector *s = state_of(out, in->err);
	const struct communicator *c = NULL;
	int rank = 0;

	if (!s)
		return -1;
	if (!json_is_object(record))
		return cpl_lines_fail(in, "is not a JSON object");
	/* Such records mark the time between dumps and the like. */
	if (!collective && !send)
		return 0;
	if (assign_record(in, s, record, &c, &rank))
		return -1;
	return collective ? read_collective(in, collective, c, rank, out)
	                  : read_send(in, send, c, rank, out);
}

static int read_nccl(struct cpl_lines *in, struct matrix *out)
{
	while (cpl_lines_next(in)) {
		json_error_t why;
		json_t *record;
		int rc;

		if (cpl_lines_end(in))
			continue;
		record = json_loadb(in->p, (size_t)(in->line_end - in->p),
		                    JSON_REJECT_DUPLICATES, &why);
		if (!record)
			return cpl_lines_fail(in, "%s", why.text);
		rc = read_record(in, record, out);
		json_decref(record);
		if (rc)
			return -1;
	}
	return 0;
}

/* rank[process] comes from a communicator of all processes, or from their order. */
static void number_processes(const struct nccl_inspector *s, int n, int *rank)
{
	for (int p = 0; p < n; p++)
		rank[p] = p;
	for (int c = 0; c < s->n_communicators; c++) {
		const struct communicator *all = &s->communicator[c];

		if (all->ranks != n)
			continue;
		for (int r = 0; r < n; r++)
			rank[s->slot_process[all->first + r]] = r;
		return;
	}
}

/* This checks that every rank of every communicator is known. */
static int check_slots(const struct nccl_inspector *s, struct cpl_error *err)
{
	const char *id;
	json_t *number;

	json_object_foreach(s->named, id, number)
	{
		const struct communicator *c =
		        &s->communicator[json_integer_value(number)];

		for (int r = 0; r < c->ranks; r++)
			if (s->slot_process[c->first + r] < 0)
				return cpl_fail(
				        err,
				        "rank %d of %d of communicator "
				        "%.40s has no record; the files "
				        "of all processes are needed",
				        r, c->ranks, id);
	}
	return 0;
}

static int finish(struct matrix *out, struct cpl_error *err)
{
	struct nccl_inspector *s = out->state;
	int n = s ? (int)json_object_size(s->process) : 0, rc = -1;
	int *rank = malloc(((size_t)n + 1) * sizeof(*rank));

	if (!rank)
		cpl_fail_memory(err);
	else if (!n)
		cpl_fail(err, "holds no operations");
	else
		rc = check_slots(s, err);
	if (!rc)
		number_processes(s, n, rank);
	for (int64_t i = 0; !rc && i < out->list.n; i++) {
		struct cpl_comm_entry *e = &out->list.entry[i];

		e->from = rank[s->slot_process[e->from]];
		e->to = rank[s->slot_process[e->to]];
	}
	out->ranks = n;
	free(rank);
	release(s);
	return rc;
}

const struct import_format import_nccl_inspector = {
        .name = "nccl-inspector",
        .summary = "records of NCCL's Inspector",
        .flags = IMPORT_FILES,
        .read = read_nccl,
        .finish = finish,
        .release = release,
};
