/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This finds where the steps of a run begin and end, since what happens before
 * and after them does not happen more often in a longer run.
 *
 *   1. The main loop is the outermost candidate with the most time, of which a
 * part of 3 / rounds does not count: what happens three times hardly is a loop.
 * The rounds of loops inside count, too. Others are main loops as well: those
 * which come to half of that, which have as many rounds and a tenth of the
 * time, or which call the same functions, as steps do whose sizes drift.
 *   2. The steps last from its first to its last round, in each rank. What
 * stands next to that belongs to it as long as each call is one that happens in
 * it, after a computation that is no longer (by the factor `similarity`), since
 * the first and last rounds are not always folded with the others. In ranks
 * that do not have the loop the steps last as long as in the others in the
 * mean.
 *   3. A candidate belongs to the steps when half of its rounds or more are in
 * that time. Else it is of the start or of the end.
 */
#include "commplace-config.h"
#include "signature/phases/phases.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "signature/phases/phases_internal.h"

#define MAIN_PART 0.5   /* of the main loop's time, to be one */
#define MAIN_LEAST 0.1  /* with as many rounds */
#define INSIDE_PART 0.5 /* of the rounds */

struct span {
	double from, to;
};

/* This is a candidate with all that is inside of it. */
struct outer {
	double time, rounds, score;
	double inside, before, after; /* rounds */
	uint64_t functions;           /* in any order, also of what is inside */
	bool main;
};

struct step_search {
	const struct cpl_run_events *events;
	double similarity;
	struct phase_rank_segments *ranks; /* [events->n] */
	struct phase_candidate *candidate;
	int n;
	struct outer *outer; /* [n] */
	struct span *span;   /* [events->n] */
	struct cpl_error *err;
};

/* The candidate of a segment; 0: none. */
static int candidate_of(const struct phase_rank_segments *s, int g)
{
	return s->segment[s->segment[g].same].phase;
}

/* What no other candidate is around. */
static bool outermost(const struct step_search *p, int c)
{
	return c > 0 && !(p->candidate[c].parent && p->candidate[c].parent < c);
}

static void sum_inner(struct step_search *p)
{
	for (int c = p->n - 1; c > 0; c--) {
		struct outer *o = &p->outer[c];
		struct outer *up = &p->outer[p->candidate[c].parent];

		o->time += p->candidate[c].time;
		o->rounds = fmax(o->rounds, p->candidate[c].weight);
		o->score = o->time * fmax(0, 1 - 3 / o->rounds);
		o->functions += p->candidate[c].any_order;
		if (outermost(p, c))
			continue;
		up->functions += o->functions;
		up->time += o->time;
		up->rounds = fmax(up->rounds, o->rounds);
	}
}

/* This marks the main loop and those that count as such. It returns the first,
 * or 0 if there is no loop. */
static int find_main(struct step_search *p)
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
		           (o->score > 0 && o->functions == b->functions));
	}
	return best;
}

static struct span span_of(const struct step_search *p, int i)
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

static void find_spans(struct step_search *p)
{
	struct span mean = {0, 0};
	int n = 0;

	for (int i = 0; i < p->events->n; i++) {
		p->span[i] = span_of(p, i);
		if (p->span[i].from > p->span[i].to)
			continue;
		mean.from += p->span[i].from;
		mean.to += p->span[i].to;
		n++;
	}
	for (int i = 0; i < p->events->n && n; i++)
		if (p->span[i].from > p->span[i].to)
			p->span[i] = (struct span){mean.from / n, mean.to / n};
}

/* These are the calls of a kind among the steps of a rank. */
struct usual {
	double count, compute;
};

static void add_usual(const struct cpl_run_rank *rank, int64_t i,
                      struct usual *usual)
{
	for (int64_t k = i; k < i + rank->node[i].size; k++) {
		const struct cpl_run_node *node = &rank->node[k];

		if (node->kind < 0)
			continue;
		usual[node->kind].count += node->count;
		usual[node->kind].compute += node->compute;
	}
}

static bool is_usual(const struct step_search *p,
                     const struct cpl_run_rank *rank, int64_t i,
                     const struct usual *usual)
{
	for (int64_t k = i; k < i + rank->node[i].size; k++) {
		const struct cpl_run_node *node = &rank->node[k];
		const struct usual *u =
		        node->kind >= 0 ? &usual[node->kind] : NULL;

		if (u && (!(u->count > 0) ||
		          node->compute / node->count >
		                  p->similarity * u->compute / u->count +
		                          SAME_COMPUTE))
			return false;
	}
	return true;
}

/* This is a node of the top, and the seconds of events until it and with it. */
struct top_node {
	int64_t node;
	double from, to;
};

static double middle(double from, double to)
{
	return (from + to) / 2;
}

static bool within(const struct span *span, double from, double to)
{
	return middle(from, to) >= span->from && middle(from, to) <= span->to;
}

/* This extends the steps of rank i by what is like them. */
static int extend(struct step_search *p, int i)
{
	const struct cpl_run_rank *rank = &p->events->rank[i];
	struct span *span = &p->span[i];
	struct usual *usual = calloc((size_t)rank->n_kinds + 1, sizeof(*usual));
	struct top_node *top = NULL;
	double now = 0;
	int n = 0, first = -1, last = -1, rc = -1;

	if (!usual) {
		cpl_fail_memory(p->err);
		goto out;
	}
	for (int64_t k = 0; k < rank->n_nodes; k += rank->node[k].size) {
		if (cpl_array_grow(&top, n, sizeof(*top), p->err))
			goto out;
		top[n] = (struct top_node){k, now,
		                           now + phase_seconds_of(rank, k)};
		now = top[n].to;
		if (within(span, top[n].from, top[n].to)) {
			add_usual(rank, k, usual);
			first = first < 0 ? n : first;
			last = n;
		}
		n++;
	}
	rc = 0;
	if (first < 0)
		goto out;
	while (first > 0 && is_usual(p, rank, top[first - 1].node, usual))
		first--;
	while (last + 1 < n && is_usual(p, rank, top[last + 1].node, usual))
		last++;
	span->from = fmin(span->from, top[first].from);
	span->to = fmax(span->to, top[last].to);
out:
	cpl_free_all(top, usual);
	return rc;
}

static enum cpl_phase_kind place_of(const struct span *span, double from,
                                    double to)
{
	return within(span, from, to)          ? CPL_PHASE_REST
	       : middle(from, to) < span->from ? CPL_PHASE_START
	                                       : CPL_PHASE_END;
}

/* This says where the candidates' rounds are. */
static void count_rounds(struct step_search *p)
{
	for (int i = 0; i < p->events->n; i++)
		for (int g = 1; g < p->ranks[i].n; g++) {
			const struct phase_segment *s = &p->ranks[i].segment[g];
			enum cpl_phase_kind place =
			        place_of(&p->span[i], s->from, s->to);
			struct outer *o =
			        &p->outer[candidate_of(&p->ranks[i], g)];

			*(place == CPL_PHASE_START ? &o->before
			  : place == CPL_PHASE_END ? &o->after
			                           : &o->inside) +=
			        s->own_rounds;
		}
}

/* What is in no candidate goes to one of three new segments of rank i. */
static int place_nodes(struct step_search *p, int i)
{
	const struct cpl_run_rank *rank = &p->events->rank[i];
	struct phase_rank_segments *s = &p->ranks[i];
	int segment[CPL_PHASE_REST + 1] = {0};
	double now = 0, from;

	for (int64_t k = 0; k < rank->n_nodes; k += rank->node[k].size) {
		enum cpl_phase_kind place;

		from = now;
		now += phase_seconds_of(rank, k);
		place = place_of(&p->span[i], from, now);
		for (int64_t in = k; in < k + rank->node[k].size; in++) {
			if (candidate_of(s, s->of_node[in]))
				continue;
			if (!segment[place]) {
				segment[place] =
				        phase_add_segment(s, 0, 1, p->err);
				if (segment[place] < 0)
					return -1;
				s->segment[segment[place]].phase = 0;
				s->segment[segment[place]].place = place;
			}
			s->of_node[in] = segment[place];
		}
	}
	return 0;
}

static void place_candidates(struct step_search *p)
{
	for (int c = 1; c < p->n; c++) {
		const struct outer *o = &p->outer[c];
		struct phase_candidate *of = &p->candidate[c];

		if (!outermost(p, c))
			of->kind = p->candidate[of->parent].kind;
		else if (o->main ||
		         o->inside >= INSIDE_PART * (o->inside + o->before +
		                                     o->after))
			of->kind = CPL_PHASE_REPEATS;
		else
			of->kind = o->before >= o->after ? CPL_PHASE_START_LOOP
			                                 : CPL_PHASE_END_LOOP;
	}
}

int phase_find_steps(const struct cpl_run_events *events, double similarity,
                     struct phase_rank_segments *ranks,
                     struct phase_candidate *candidate, int n,
                     struct cpl_error *err)
{
	struct step_search p = {.events = events,
	                        .similarity = similarity,
	                        .ranks = ranks,
	                        .candidate = candidate,
	                        .n = n,
	                        .err = err};
	int rc = -1;

	p.outer = calloc((size_t)n, sizeof(*p.outer));
	p.span = calloc((size_t)events->n, sizeof(*p.span));
	if (cpl_out_of_memory(!p.outer || !p.span, err))
		goto out;
	for (int i = 0; i < events->n; i++)
		p.span[i].to = INFINITY;
	sum_inner(&p);
	if (find_main(&p)) {
		find_spans(&p);
		for (int i = 0; i < events->n; i++)
			if (extend(&p, i))
				goto out;
		count_rounds(&p);
		place_candidates(&p);
	}
	for (int i = 0; i < events->n; i++)
		if (place_nodes(&p, i))
			goto out;
	rc = 0;
out:
	cpl_free_all(p.outer, p.span);
	return rc;
}
