/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "otf2_calls.h"

#include <stdlib.h>
#include <string.h>

#include "otf2_messages.h"
#include "record/section.h"
#include "signature/import/import.h"

#define PIECE 65536

/* All bytes of a sink. */
struct gathered {
	unsigned char *data;
	size_t n, room;
};

static int gather(struct rec_sink *s)
{
	struct gathered *g = s->arg;

	if (g->n + s->used > g->room) {
		size_t room = 2 * (g->n + s->used);
		unsigned char *more = realloc(g->data, room);

		if (!more)
			return -1;
		g->data = more;
		g->room = room;
	}
	memcpy(g->data + g->n, s->buffer, s->used);
	g->n += s->used;
	return 0;
}

static struct otf2_rank *rank_new(struct otf2_archive *a)
{
	struct otf2_rank *r = cpl_otf2_rank_new(a);

	if (r) {
		cpl_otf2_messages_ask(r->ask);
		cpl_otf2_messages_tell(r->tell);
	} else {
		cpl_fail_memory(a->err);
	}
	return r;
}

static int write_rank(struct otf2_rank *r, int rank, struct rec_sink *sink,
                      struct otf2_mended *mended)
{
	struct rec_section section = {.rank = rank,
	                              .out = &r->out,
	                              .in = &r->in,
	                              .events = &r->events};
	int rc = cpl_otf2_rank_read(r, rank);

	if (rc)
		return -1;
	section.time = (uint64_t)(r->end - r->begin);
	section.mpi_time = r->mpi_time;
	section.ended = r->has_calls && !r->finalized ? -1 : 0;
	rec_section_write(sink, &section);
	mended->events += r->backward;
	mended->ranks += r->backward > 0;
	if ((double)r->most_backward * 1e-9 > mended->most)
		mended->most = (double)r->most_backward * 1e-9;
	return sink->failed ? cpl_fail_memory(r->archive->err) : 0;
}

static int write_all(struct otf2_archive *a, struct gathered *out,
                     struct otf2_mended *mended)
{
	unsigned char *piece = malloc(PIECE);
	struct rec_sink sink = {
	        .buffer = piece, .size = PIECE, .flush = gather, .arg = out};
	struct rec_head head = {.ranks = a->ranks,
	                        .functions = cpl_otf2_functions,
	                        .function = cpl_otf2_function,
	                        .application = "",
	                        .mpi = "",
	                        .command = "",
	                        .date = ""};
	struct otf2_rank *r = rank_new(a);
	int rc = 0;

	if (!piece || !r) {
		rc = r ? cpl_fail_memory(a->err) : -1;
		goto out;
	}
	if (!(a->ticks > 0)) {
		rc = cpl_fail(a->err,
		              "%s: it does not say how fast its clock is",
		              a->path);
		goto out;
	}
	rec_head_write(&sink, &head);
	for (int rank = 0; rank < a->ranks && !rc; rank++)
		rc = write_rank(r, rank, &sink, mended);
out:
	cpl_otf2_rank_free(r);
	free(piece);
	return rc;
}

struct cpl_run_events *cpl_otf2_calls(const char *path,
                                      struct otf2_mended *mended,
                                      struct cpl_error *err)
{
	struct cpl_run_events *events = NULL;
	struct gathered all = {0};
	struct otf2_archive a;

	memset(mended, 0, sizeof(*mended));
	if (!cpl_otf2_archive_open(&a, path, true, err) &&
	    !write_all(&a, &all, mended))
		events = cpl_run_events_parse(all.data, all.n, path, err);
	if (events)
		events->tool = "an OTF2 archive";
	cpl_otf2_archive_close(&a);
	free(all.data);
	return events;
}

/* All that a rank has sent and fetched, behind the others. */
struct entries {
	struct cpl_comm_entry *entry;
	int64_t n;
};

static int add_rows(struct entries *out, const struct rec_table *t, int rank,
                    bool inward, struct cpl_error *err)
{
	size_t n = rec_table_count(t);
	struct rec_row *row = malloc((n + 1) * sizeof(*row));
	struct cpl_comm_entry *more =
	        row ? realloc(out->entry,
	                      ((size_t)out->n + n + 1) * sizeof(*more))
	            : NULL;

	if (!more) {
		free(row);
		return cpl_fail_memory(err);
	}
	out->entry = more;
	n = rec_table_rows(t, inward, row);
	for (size_t i = 0; i < n; i++)
		out->entry[out->n++] = (struct cpl_comm_entry){
		        inward ? row[i].peer : rank,
		        inward ? rank : row[i].peer, (double)row[i].bytes,
		        (double)row[i].messages};
	free(row);
	return 0;
}

static int add_up(struct otf2_archive *a, struct entries *out)
{
	struct otf2_rank *r = rank_new(a);
	int rc = r ? 0 : -1;

	for (int rank = 0; rank < a->ranks && !rc; rank++)
		rc = cpl_otf2_rank_read(r, rank) ||
		                     add_rows(out, &r->out, rank, false,
		                              a->err) ||
		                     add_rows(out, &r->in, rank, true, a->err)
		             ? -1
		             : 0;
	cpl_otf2_rank_free(r);
	return rc;
}

struct cpl_signature *cpl_otf2_matrix(const char *path, const char *name,
                                      const char *application,
                                      struct cpl_error *err)
{
	struct cpl_signature *sig = NULL;
	struct entries all = {NULL, 0};
	struct otf2_archive a;

	if (!cpl_otf2_archive_open(&a, path, true, err) && !add_up(&a, &all))
		sig = cpl_signature_import_entries(
		        all.entry, all.n, a.ranks,
		        "times and the order of messages, algorithms of "
		        "collectives (trees and rings are taken), "
		        "intercommunicators",
		        path, "otf2", name, application, err);
	cpl_otf2_archive_close(&a);
	free(all.entry);
	return sig;
}
