/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "otf2_calls.h"

#include <stdlib.h>
#include <string.h>

#include "otf2_rank.h"
#include "record/section.h"

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
	struct otf2_rank *r = cpl_otf2_rank_new(a);
	int rc = 0;

	if (!piece || !r) {
		rc = cpl_fail_memory(a->err);
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

struct cpl_run_events *cpl_otf2_calls(const char *path, struct otf2_mended *mended,
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
