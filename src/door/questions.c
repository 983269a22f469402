/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What commplaced asks of slurmctld within a call. Nothing that it says is
 * trusted. */
#include "door/client_internal.h"

#include <stdio.h>
#include <stdlib.h>

/* More than an engine asks in a call: CPL_ENGINE_TRIES times for nodes, and for
 * narrower ones, and what comes before and after. */
#define QUESTIONS 16

/* Into *host, checked: indexes of hosts, each once. How many, or -1. */
static int get_hosts(struct cpl_unpacker *in, int n_hosts, int **host)
{
	int n;
	unsigned char *seen = calloc((size_t)n_hosts + 1, 1);

	*host = cpl_form_get_ints(in, &n);
	for (int i = 0; *host && seen && i < n; i++)
		if ((*host)[i] < 0 || (*host)[i] >= n_hosts ||
		    seen[(*host)[i]]++)
			in->bad = true;
	if (!seen)
		in->bad = true;
	free(seen);
	return in->bad ? -1 : n;
}

static void measure(struct asked *asked, struct cpl_packer *o)
{
	size_t n = (size_t)asked->n_hosts;
	uint32_t *cpus = calloc(n + 1, sizeof(*cpus));
	uint64_t *rank = calloc(n + 1, sizeof(*rank));
	struct cpl_engine_span span = {0, asked->n_hosts};
	const struct cpl_engine_scheduler *s = asked->scheduler;
	bool done = cpus && rank && !s->measure(s->arg, cpus, rank, &span);

	asked->measured = true;
	cpl_form_put_measured(o, done ? cpus : NULL, rank, span);
	cpl_free_all(cpus, rank);
}

static void offer_nodes(struct asked *asked, struct cpl_unpacker *in,
                        struct cpl_packer *o)
{
	const struct cpl_engine_scheduler *s = asked->scheduler;
	int *host, n = get_hosts(in, asked->n_hosts, &host);
	const char *last = cpl_form_get_text(in);
	bool taken = n > 0 && !in->bad && s->place(s->arg, host, n, last);

	if (taken)
		asked->got = CPL_ENGINE_PLACED;
	asked->over = taken && last;
	if (asked->over)
		snprintf(asked->text, asked->size, "%s", last);
	cpl_put_number(o, taken);
	free(host);
}

/* The hosts that it clears. */
static void narrow(const struct asked *asked, struct cpl_packer *o)
{
	const struct cpl_engine_scheduler *s = asked->scheduler;
	size_t n = (size_t)asked->n_hosts;
	uint32_t *cpus = malloc((n + 1) * sizeof(*cpus));
	int *host = malloc((n + 1) * sizeof(*host)), many = 0;

	for (size_t i = 0; cpus && i < n; i++)
		cpus[i] = 1;
	if (cpus && host)
		s->narrow(s->arg, cpus);
	for (size_t i = 0; cpus && host && i < n; i++)
		if (!cpus[i])
			host[many++] = (int)i;
	cpl_form_put_ints(o, host, many);
	cpl_free_all(cpus, host);
}

/* Of stock() or compare(). */
static void stock(struct asked *asked, enum cpl_door_kind kind,
                  struct cpl_unpacker *in, struct cpl_packer *o)
{
	const struct cpl_engine_scheduler *s = asked->scheduler;
	bool wanted = cpl_get_int(in, 1) || kind == CPL_DOOR_COMPARE;
	int *host = wanted ? calloc((size_t)asked->n_hosts + 1, sizeof(*host))
	                   : NULL;
	int n = 0;

	if (kind == CPL_DOOR_STOCK) {
		n = s->stock(s->arg, host);
		asked->got = CPL_ENGINE_STOCK;
	} else if (host) {
		n = s->compare(s->arg, host);
	}
	cpl_put_number(o, (uint64_t)(n > 0 ? n : 0));
	cpl_form_put_ints(o, host, host && n > 0 ? n : 0);
	free(host);
}

static void lay_out(const struct asked *asked, int ranks, struct cpl_packer *o)
{
	const struct cpl_engine_allocation *a = asked->allocation;
	/* It asks for the ranks of the job or of its profile: not for more than
	 * the engine places jobs with. */
	int *host = ranks > 0 && ranks <= CPL_DOOR_MOST_RANKS
	                    ? malloc((size_t)ranks * sizeof(*host))
	                    : NULL;
	bool done = host && a->layout && !a->layout(a->arg, ranks, host);

	cpl_form_put_ints(o, host, done ? ranks : 0);
	free(host);
}

void door_put_measured(struct cpl_engine *engine, struct asked *asked,
                       const struct cpl_job_facts *job, struct cpl_packer *o)
{
	bool ahead = engine->measures && door_is_stated(job);
	int64_t began = cpl_now();

	cpl_put_number(o, ahead);
	if (ahead)
		measure(asked, o);
	engine->theirs += cpl_now() - began;
}

void door_put_ranks(struct cpl_engine *engine, const struct asked *asked,
                    struct cpl_packer *o)
{
	const struct cpl_engine_allocation *job = asked->allocation;
	bool is_placed = engine->placed && (engine->placed == job->id ||
	                                    engine->placed == job->array_id);
	int64_t began = cpl_now();

	lay_out(asked, is_placed ? job->ranks : 0, o);
	engine->theirs += cpl_now() - began;
}

bool door_may_ask(struct asked *asked, enum cpl_door_kind kind)
{
	if (++asked->questions > QUESTIONS)
		return false;
	switch (kind) {
	/* What these do is undone by what the first has noted. */
	case CPL_DOOR_COMPARE:
		return asked->measured;
	case CPL_DOOR_LAYOUT:
		return asked->allocation;
	case CPL_DOOR_MEASURE:
		return asked->scheduler && !asked->measured &&
		       asked->got == CPL_ENGINE_NONE;
	case CPL_DOOR_PLACE:
	case CPL_DOOR_NARROW:
		return asked->measured && asked->got == CPL_ENGINE_NONE;
	case CPL_DOOR_STOCK:
		return asked->scheduler && asked->got == CPL_ENGINE_NONE;
	default:
		return false;
	}
}

void door_reply(struct asked *asked, enum cpl_door_kind kind,
                struct cpl_unpacker *in, struct cpl_packer *o)
{
	switch (kind) {
	case CPL_DOOR_MEASURE:
		measure(asked, o);
		break;
	case CPL_DOOR_PLACE:
		offer_nodes(asked, in, o);
		break;
	case CPL_DOOR_NARROW:
		narrow(asked, o);
		break;
	case CPL_DOOR_LAYOUT:
		lay_out(asked, cpl_get_int(in, INT32_MAX), o);
		break;
	default:
		stock(asked, kind, in, o);
	}
}
