/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "otf2_rank.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_NS 4e18

/* All of MPI 4, whatever the recorder was built for. */
#define REC_MPI_4 1
enum {
#define CALL(name, ...) CALL_##name,
#include "src/record/calls.inc"
#undef CALL
	CALLS,
	INIT,
	FINALIZE,
	OTHER, /* of MPI; its time is computation */
	NONE,
};

const char *const cpl_otf2_function[] = {
#define CALL(name, ...) #name,
#include "src/record/calls.inc"
#undef CALL
};
const uint32_t cpl_otf2_functions = CALLS;

/* It is up to chance how often these are called. */
static bool polls(int function)
{
	switch (function) {
	case CALL_Test:
	case CALL_Testall:
	case CALL_Testany:
	case CALL_Testsome:
	case CALL_Iprobe:
	case CALL_Improbe:
	case CALL_Win_test:
		return true;
	default:
		return false;
	}
}

/* That of a region's name. */
static int find_function(const char *name)
{
	size_t n;

	if (!name || strncmp(name, "MPI_", 4))
		return NONE;
	name += 4;
	if (!strcmp(name, "Init") || !strcmp(name, "Init_thread"))
		return INIT;
	if (!strcmp(name, "Finalize"))
		return FINALIZE;
	n = strlen(name);
	if (n > 2 && !strcmp(name + n - 2, "_c")) /* large counts */
		n -= 2;
	for (int i = 0; i < CALLS; i++)
		if (!strncmp(cpl_otf2_function[i], name, n) && !cpl_otf2_function[i][n])
			return i;
	return OTHER;
}

/* The same for a name without "MPI_". */
static int function_called(const char *name)
{
	int i = 0;

	while (i < CALLS && strcmp(cpl_otf2_function[i], name))
		i++;
	return i < CALLS ? i : OTHER;
}

int cpl_otf2_rank_tick(struct otf2_rank *r, OTF2_TimeStamp time)
{
	const struct otf2_archive *a = r->archive;
	double ticks = a->ticks > 0 ? a->ticks : 1e9;
	double ns = (double)(int64_t)(time - a->offset) / ticks * 1e9;
	int64_t at;

	if (!(ns < MOST_NS && ns > -MOST_NS))
		return cpl_fail(a->err, "an event is %.3g s after the begin",
		                ns * 1e-9);
	at = llround(ns);
	if (!r->started) {
		r->started = true;
		r->begin = r->now = at;
		rec_events_begin(&r->events, at);
	}
	if (at < r->now) {
		r->backward++;
		if (r->now - at > r->most_backward)
			r->most_backward = r->now - at;
		return 0;
	}
	r->now = at;
	return 0;
}

static void end_call(struct otf2_rank *r)
{
	if (r->current >= CALLS)
		return;
	rec_events_end(&r->events, (uint16_t)r->current, polls(r->current),
	               r->since, r->now);
	r->mpi_time += (uint64_t)(r->now - r->since);
	r->has_events = true;
}

int cpl_otf2_rank_at(struct otf2_rank *r, OTF2_TimeStamp time, const char *function)
{
	if (cpl_otf2_rank_tick(r, time))
		return -1;
	if (r->finalized)
		return 0;
	if (!r->depth && !r->begun)
		r->since = r->now;
	r->begun = false;
	if (r->current >= CALLS)
		r->current = function_called(function);
	return 1;
}

int cpl_otf2_rank_begin(struct otf2_rank *r, OTF2_TimeStamp time)
{
	if (cpl_otf2_rank_tick(r, time))
		return -1;
	r->begun = !r->depth;
	if (r->begun)
		r->since = r->now;
	return 0;
}

void cpl_otf2_rank_done(struct otf2_rank *r)
{
	if (r->depth)
		return;
	end_call(r);
	r->current = NONE;
}

static int region_function(const struct otf2_rank *r, OTF2_RegionRef region)
{
	int64_t at = cpl_otf2_find(&r->archive->regions, region);

	return at < 0 ? NONE : r->function[at];
}

static OTF2_CallbackCode on_enter(OTF2_LocationRef location,
                                  OTF2_TimeStamp time, uint64_t position,
                                  void *arg, OTF2_AttributeList *attributes,
                                  OTF2_RegionRef region)
{
	struct otf2_rank *r = arg;
	int function = region_function(r, region);

	if (cpl_otf2_rank_tick(r, time))
		return OTF2_CALLBACK_INTERRUPT;
	if (function == NONE || r->finalized)
		return OTF2_CALLBACK_SUCCESS;
	r->has_calls = true;
	if (r->depth++)
		return OTF2_CALLBACK_SUCCESS;
	r->begun = false;
	r->current = function;
	r->since = r->now;
	if (function == FINALIZE) {
		r->finalized = true;
		r->end = r->now;
	}
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_leave(OTF2_LocationRef location,
                                  OTF2_TimeStamp time, uint64_t position,
                                  void *arg, OTF2_AttributeList *attributes,
                                  OTF2_RegionRef region)
{
	struct otf2_rank *r = arg;

	if (cpl_otf2_rank_tick(r, time))
		return OTF2_CALLBACK_INTERRUPT;
	if (r->finalized || !r->depth || region_function(r, region) == NONE ||
	    --r->depth)
		return OTF2_CALLBACK_SUCCESS;
	if (r->current == INIT && !r->has_events) {
		r->begin = r->now;
		rec_events_begin(&r->events, r->now);
	}
	end_call(r);
	r->current = NONE;
	return OTF2_CALLBACK_SUCCESS;
}

struct otf2_rank *cpl_otf2_rank_new(struct otf2_archive *a)
{
	struct otf2_rank *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->archive = a;
	r->function = calloc((size_t)a->n_regions + 1, sizeof(*r->function));
	r->communicator =
	        calloc((size_t)a->n_groups + 1, sizeof(*r->communicator));
	r->hash = calloc((size_t)a->n_groups + 1, sizeof(*r->hash));
	r->ask = OTF2_EvtReaderCallbacks_New();
	r->tell = OTF2_EvtReaderCallbacks_New();
	if (!r->function || !r->communicator || !r->hash || !r->ask ||
	    !r->tell) {
		cpl_otf2_rank_free(r);
		return NULL;
	}
	for (int64_t i = 0; i < a->n_regions; i++)
		r->function[i] = find_function(a->region[i].text);
	for (int64_t g = 0; g < a->n_groups; g++) {
		r->hash[g] = REC_HASH;
		for (int64_t i = 0; i < a->group[g].n; i++)
			r->hash[g] = rec_hash(r->hash[g],
			                      (uint64_t)a->group[g].rank[i]);
	}
	OTF2_EvtReaderCallbacks_SetEnterCallback(r->tell, on_enter);
	OTF2_EvtReaderCallbacks_SetLeaveCallback(r->tell, on_leave);
	return r;
}

/* What is of one rank. */
static void empty(struct otf2_rank *r)
{
	cpl_otf2_match_free(&r->match);
	rec_events_free(&r->events);
	rec_table_free(&r->out);
	rec_table_free(&r->in);
}

void cpl_otf2_rank_free(struct otf2_rank *r)
{
	if (!r)
		return;
	empty(r);
	OTF2_EvtReaderCallbacks_Delete(r->ask);
	OTF2_EvtReaderCallbacks_Delete(r->tell);
	cpl_free_all(r->function, r->communicator, r->hash, r);
}

/* Forget what was read of a rank. */
static int clear(struct otf2_rank *r, int rank)
{
	const struct otf2_archive *a = r->archive;

	empty(r);
	r->rank = rank;
	r->begin = r->end = r->now = r->since = 0;
	r->mpi_time = r->backward = 0;
	r->most_backward = r->asked = r->answered = 0;
	r->has_calls = r->has_events = r->finalized = false;
	r->started = r->begun = false;
	r->depth = 0;
	r->current = NONE;
	for (int64_t g = 0; g < a->n_groups; g++)
		r->communicator[g] = -1;
	return rec_events_init(&r->events, CALLS, REC_FOLD_NODES) ||
	                       rec_table_init(&r->out, a->ranks,
	                                      REC_DENSE_LIMIT) ||
	                       rec_table_init(&r->in, a->ranks, REC_DENSE_LIMIT)
	               ? cpl_fail_memory(a->err)
	               : 0;
}

int cpl_otf2_rank_read(struct otf2_rank *r, int rank)
{
	struct otf2_archive *a = r->archive;

	if (clear(r, rank) || cpl_otf2_archive_read(a, rank, r->ask, r) ||
	    cpl_otf2_match_finish(&r->match, a->err) ||
	    cpl_otf2_archive_read(a, rank, r->tell, r))
		return -1;
	if (!r->finalized)
		r->end = r->now;
	rec_events_finish(&r->events);
	return r->events.lost ? cpl_fail_memory(a->err) : 0;
}
