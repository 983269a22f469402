/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This finds where the steps of a run begin and end, since what happens before and
 * after them does not happen more often in a longer run.
 *
 *   1. The main loop is the outermost candidate with the most time, of which a part
 *      of 2 / rounds does not count: what happens twice hardly is a loop. Loops
 *      inside count as its rounds. So are those which come to half of that, which
 *      have as many rounds and a tenth of its time, or call the same functions in
 *      the same order, as steps do whose sizes drift.
 *   2. The steps last from its first to its last round, in each rank. In ranks that
 *      do not have it they last as long as in the others in the mean.
 *   3. A candidate belongs to the steps when half of its rounds or more are in that
 *      time, so a gather after the last step is one of the gathers. Else it is of
 *      the start or of the end.
 */
#include "commplace-config.h"
#include "signature/phases/phases.h"

#include <math.h>
#include <stdlib.h>

#include "signature/phases/phases_internal.h"

#define MAIN_PART 0.5    /* of the main loop's time, to be one */
#define MAIN_LEAST 0.1   /* with as many rounds */
#define INSIDE_PART 0.5  /* of the rounds */

struct span {
	double from, to;
};

/* This is a candidate with all that is inside of it. */
struct outer {
	double time, rounds, score;
	double inside, before, after; /* rounds */
	bool main;
};

struct placing {
	struct phase_rank_segments *ranks;
	int n_ranks;
	struct phase_candidate *candidate;
	int n;
	struct outer *outer; /* [n] */
	struct span *span;   /* [n_ranks] */
};

/* The candidate of a segment; 0: none. */
static int candidate_of(const struct phase_rank_segments *s, int g)
{
	return s->segment[s->segment[g].same].phase;
}

/* What no other candidate is around. */
static bool outermost(const struct placing *p, int c)
{
	return c > 0 && !(p->candidate[c].parent && p->candidate[c].parent < c);
}

static void sum_inner(struct placing *p)
{
	for (int c = p->n - 1; c > 0; c--) {
		struct outer *o = &p->outer[c];
		struct outer *up = &p->outer[p->candidate[c].parent];

		o->time += p->candidate[c].time;
		o->rounds = fmax(o->rounds, p->candidate[c].weight);
		o->score = o->time * fmax(0, 1 - 2 / o->rounds);
		if (outermost(p, c))
			continue;
		up->time += o->time;
		up->rounds = fmax(up->rounds, o->rounds);
	}
}

/* This marks the main loop and those that count as such. It returns the first, or 0
 * if there is no loop. */
static int find_main(struct placing *p)
{
	int best = 0;

	for (int c = 1; c < p->n; c++) {
		const struct outer *o = &p->outer[c], *b = &p->outer[best];

		if (outermost(p, c) &&
		    (!best || o->score > b->score ||
		     (o->score == b->score && o->time > b->time)))
			best = c;
	}
	for (int c = 1; c < p->n && best; c++) {
		struct outer *o = &p->outer[c];
		const struct outer *b = &p->outer[best];

		o->main = outermost(p, c) &&
		          (c == best ||
		           (o->score > 0 && o->score >= MAIN_PART * b->score) ||
		           (o->rounds >= b->rounds &&
		            o->time >= MAIN_LEAST * b->time) ||
		           p->candidate[c].functions ==
		                   p->candidate[best].functions);
	}
	return best;
}

static struct span span_of(const struct placing *p, int i)
{
	const struct phase_rank_segments *s = &p->ranks[i];
	struct span span = {INFINITY, -INFINITY};

	for (int g = 1; g < s->n; g++)
		if (p->outer[candidate_of(s, g)].main) {
			span.from = fmin(span.from, s->segment[g].from);
			span.to = fmax(span.to, s->segment[g].to);
		}
	return span;
}

static void find_spans(struct placing *p)
{
	struct span mean = {0, 0};
	int n = 0;

	for (int i = 0; i < p->n_ranks; i++) {
		p->span[i] = span_of(p, i);
		if (p->span[i].from > p->span[i].to)
			continue;
		mean.from += p->span[i].from;
		mean.to += p->span[i].to;
		n++;
	}
	for (int i = 0; i < p->n_ranks && n; i++)
		if (p->span[i].from > p->span[i].to)
			p->span[i] = (struct span){mean.from / n, mean.to / n};
}

/* Where a segment is: by its middle, since clocks of ranks differ. */
static enum cpl_phase_kind place_of(const struct placing *p, int i,
                                    const struct phase_segment *g)
{
	double middle = (g->from + g->to) / 2;

	return middle < p->span[i].from ? CPL_PHASE_START
	       : middle > p->span[i].to ? CPL_PHASE_END
	                                : CPL_PHASE_REST;
}

static void place_segments(struct placing *p)
{
	for (int i = 0; i < p->n_ranks; i++)
		for (int g = 1; g < p->ranks[i].n; g++) {
			struct phase_segment *s = &p->ranks[i].segment[g];
			struct outer *o =
			        &p->outer[candidate_of(&p->ranks[i], g)];

			s->place = place_of(p, i, s);
			*(s->place == CPL_PHASE_START ? &o->before
			  : s->place == CPL_PHASE_END ? &o->after
			                              : &o->inside) +=
			        s->own_rounds;
		}
}

static void place_candidates(struct placing *p)
{
	for (int c = 1; c < p->n; c++) {
		const struct outer *o = &p->outer[c];
		struct phase_candidate *of = &p->candidate[c];

		if (!outermost(p, c))
			of->kind = p->candidate[of->parent].kind;
		else if (o->main || o->inside >= INSIDE_PART * (o->inside +
		                                                o->before +
		                                                o->after))
			of->kind = CPL_PHASE_REPEATS;
		else
			of->kind = o->before >= o->after ? CPL_PHASE_START_LOOP
			                                 : CPL_PHASE_END_LOOP;
	}
}

int phase_places(struct phase_rank_segments *ranks, int n_ranks,
                 struct phase_candidate *candidate, int n)
{
	struct placing p = {ranks, n_ranks, candidate, n, NULL, NULL};
	int rc = -1;

	p.outer = calloc((size_t)n, sizeof(*p.outer));
	p.span = calloc((size_t)n_ranks, sizeof(*p.span));
	if (!p.outer || !p.span)
		goto out;
	rc = 0;
	for (int i = 0; i < n_ranks; i++)
		for (int g = 0; g < ranks[i].n; g++)
			ranks[i].segment[g].place = CPL_PHASE_REST;
	sum_inner(&p);
	if (!find_main(&p))
		goto out;
	find_spans(&p);
	place_segments(&p);
	place_candidates(&p);
out:
	free(p.outer);
	free(p.span);
	return rc;
}
