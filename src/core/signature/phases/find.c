/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "signature/phases/phases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sort.h"
#include "signature/phases/phases_internal.h"

#define MAX_PHASES 256    /* of a rank: those that take most time */
#define LEAST_ROUNDS 2    /* of a run, to be a phase */

struct finding {
	const struct cpl_run_events *events;
	const struct cpl_phase_options *o;
	struct phase_rank_segments *ranks; /* [events->n] */
	struct phase_candidate *candidate;       /* 0: rest */
	int n;
	int with_events;
	struct cpl_error *err;
};

static double time_of(const struct phase_segment *g)
{
	return g->compute + g->communication;
}

static bool recurs(const struct phase_segment *g)
{
	return g->rounds >= LEAST_ROUNDS;
}

/* This gives the least time of the MAX_PHASES longest; shorter ones are left out. */
static int shortest(const struct phase_rank_segments *s, double *least,
                    struct cpl_error *err)
{
	double *time;
	int n = 0;

	*least = 0;
	if (s->n <= MAX_PHASES)
		return 0;
	time = malloc(sizeof(*time) * (size_t)s->n);
	if (!time)
		return cpl_fail_memory(err);
	for (int i = 1; i < s->n; i++)
		if (recurs(&s->segment[i]) && s->segment[i].same == i)
			time[n++] = time_of(&s->segment[i]);
	qsort(time, (size_t)n, sizeof(*time), cpl_by_double_down);
	if (n >= MAX_PHASES)
		*least = time[MAX_PHASES - 1];
	free(time);
	return 0;
}

static bool close_to(double a, double b)
{
	return fabs(a - b) <= 2 || phase_alike(a, b, 1.05);
}

/* What ranks do together they do at about the same time. */
static bool at_the_time_of(const struct phase_candidate *c,
                           const struct phase_segment *g)
{
	double common = fmin(c->to, g->all_to) - fmax(c->from, g->all_from);

	return common >= 0.5 * fmin(c->to - c->from, g->all_to - g->all_from);
}

/* This returns the first candidate that fits and that this rank does not have, or
 * -1. */
static int fitting(const struct finding *f, const struct phase_segment *g,
                   int rank, bool functions)
{
	for (int c = 1; c < f->n; c++)
		if (f->candidate[c].rank != rank &&
		    close_to(f->candidate[c].weight, g->rounds) &&
		    at_the_time_of(&f->candidate[c], g) &&
		    (!functions || f->candidate[c].functions == g->functions))
			return c;
	return -1;
}

/* This assigns a rank's segments to the candidates of the ranks before. */
static int align(struct finding *f, int rank)
{
	struct phase_rank_segments *s = &f->ranks[rank];
	double least;

	if (shortest(s, &least, f->err))
		return -1;
	s->segment[0].phase = 0;
	for (int pass = 0; pass < 3; pass++)
		for (int i = 1; i < s->n; i++) {
			struct phase_segment *g = &s->segment[i];
			int c;

			if (g->same != i || g->phase >= 0 || !recurs(g) ||
			    time_of(g) < least)
				continue;
			c = pass < 2 ? fitting(f, g, rank, !pass) : f->n;
			if (c == f->n) {
				if (cpl_array_grow(&f->candidate, f->n,
				                   sizeof(*f->candidate),
				                   f->err))
					return -1;
				f->candidate[f->n++] = (struct phase_candidate){
				        .functions = g->functions,
				        .any_order = g->any_order,
				        .weight = g->rounds,
				        .from = g->all_from,
				        .to = g->all_to,
				        .parent = -1 - g->parent,
				};
			}
			g->phase = c;
			g->own = c >= 0;
			if (c >= 0)
				f->candidate[c].rank = rank;
		}
	for (int i = 1; i < s->n; i++) {
		struct phase_segment *g = &s->segment[i];
		int up = g->same;

		/* A segment that was left out goes to the one around it. */
		while (s->segment[up].phase < 0)
			up = s->segment[up].parent;
		g->phase = s->segment[up].phase;
		if (g->same == i)
			f->candidate[g->phase].time += time_of(g);
	}
	for (int c = 1; c < f->n; c++)
		if (f->candidate[c].parent < 0)
			f->candidate[c].parent =
			        s->segment[-1 - f->candidate[c].parent].phase;
	return 0;
}

static double run_time(const struct cpl_run_events *e)
{
	double time = 0;

	for (int i = 0; i < e->n; i++)
		if (e->rank[i].time > time)
			time = e->rank[i].time;
	return time;
}

/* This returns the least time of an outermost candidate that is a phase; those with
 * less have no more than `most` together. It returns -1 when memory is out. */
static double least_outside(const struct finding *f, double most)
{
	double *time = malloc(sizeof(*time) * (size_t)f->n), least = INFINITY;
	int n = 0;

	if (!time)
		return cpl_fail_memory(f->err);
	for (int c = 1; c < f->n; c++)
		if (!f->candidate[c].parent &&
		    f->candidate[c].kind == CPL_PHASE_REPEATS)
			time[n++] = f->candidate[c].time;
	qsort(time, (size_t)n, sizeof(*time), cpl_by_double);
	for (int i = 0; i < n && least > time[i]; i++) {
		most -= time[i];
		if (most < 0)
			least = time[i];
	}
	free(time);
	return least;
}

/* What goes to no phase goes to one of these; the last three of them. */
struct last_phases {
	int of[CPL_PHASE_REST + 1];
};

/* This numbers the candidates that matter in the order of the run; the others go to
 * what is around them, and what is in nothing to one of the last phases. It returns
 * how many there are without these, or -1. */
static int number(struct finding *f, double time)
{
	double least = f->o->relevant * time * f->with_events;
	double outside;
	int n = 0;

	/* Inner candidates come after the outer ones, except in rare cases of ranks
	 * that differ. */
	for (int c = f->n - 1; c > 0; c--) {
		struct phase_candidate *of = &f->candidate[c];

		of->phase = of->time > 0 && of->time >= least ? 0 : -1;
		if (of->phase < 0 && of->parent && of->parent < c)
			f->candidate[of->parent].time += of->time;
	}
	outside = least_outside(f, least);
	if (outside < 0)
		return -1;
	for (int c = 1; c < f->n; c++) {
		struct phase_candidate *of = &f->candidate[c];

		if (!of->parent && of->kind == CPL_PHASE_REPEATS)
			of->phase = of->time > 0 && of->time >= outside ? 0
			                                                : -1;
	}
	for (int c = 1; c < f->n; c++)
		if (!f->candidate[c].phase) {
			f->candidate[c].phase = n++;
			f->candidate[c].own = true;
		}
	return n;
}

/* A candidate that is left out goes to the one around it, if any. */
static void leave_out(struct finding *f, const struct last_phases *others)
{
	static const enum cpl_phase_kind last[] = {
	        [CPL_PHASE_REPEATS] = CPL_PHASE_REST,
	        [CPL_PHASE_START_LOOP] = CPL_PHASE_START,
	        [CPL_PHASE_END_LOOP] = CPL_PHASE_END,
	};

	for (int c = 1; c < f->n; c++) {
		struct phase_candidate *of = &f->candidate[c];

		if (of->phase < 0 && of->parent && of->parent < c)
			of->phase = f->candidate[of->parent].phase;
		else if (of->phase < 0)
			of->phase = others->of[last[of->kind]];
	}
}

static void add_up(struct finding *f, struct cpl_phases *p, int i,
                   const struct last_phases *others)
{
	const struct cpl_run_rank *rank = &f->events->rank[i];
	struct phase_rank_segments *s = &f->ranks[i];
	struct cpl_phase_rank *rest = &p->phase[p->n - 1].rank[i];

	for (int g = 0; g < s->n; g++) {
		struct phase_segment *of = &s->segment[g];
		const struct phase_candidate *c = &f->candidate[of->phase];

		if (of->phase && c->own && of->own)
			p->phase[c->phase].rank[i].rounds = of->rounds;
		of->phase = of->phase ? c->phase : others->of[of->place];
	}
	for (int64_t k = 0; k < rank->n_nodes; k++)
		if (rank->node[k].kind >= 0) {
			struct cpl_phase_rank *sum =
			        &p->phase[phase_of_node(s, k)].rank[i];

			sum->compute += rank->node[k].compute;
			sum->communication += rank->node[k].duration;
		}
	for (int64_t k = 0; k < rank->n_unordered; k++) {
		rest->compute += rank->unordered[k].compute;
		rest->communication += rank->unordered[k].duration;
	}
	for (int k = CPL_PHASE_START; k <= CPL_PHASE_REST; k++)
		p->phase[others->of[k]].rank[i].rounds = 1;
}

/* This gives seconds of computation and communication to a phase, of all its
 * executions. */
static void add_to(struct cpl_found_phase *phase, double compute,
                   double communication)
{
	phase->compute += fmax(0, compute) / phase->weight;
	phase->communication += fmax(0, communication) / phase->weight;
}

/* This sets weights and means; what no event tells of goes to phase `silent`. */
static void sum_phases(struct finding *f, struct cpl_phases *p, int silent,
                       double *rounds)
{
	double mpi = 0, compute, communication;

	for (int i = 0; i < f->events->n; i++)
		mpi += f->events->rank[i].mpi_time / f->events->n;
	compute = p->time - mpi;
	communication = mpi;
	for (int k = 0; k < p->n; k++) {
		struct cpl_found_phase *phase = &p->phase[k];
		double in[2] = {0, 0};
		int n = 0;

		for (int i = 0; i < f->events->n; i++) {
			in[0] += phase->rank[i].compute / f->with_events;
			in[1] += phase->rank[i].communication / f->with_events;
			if (phase->rank[i].rounds > 0)
				rounds[n++] = phase->rank[i].rounds;
		}
		qsort(rounds, (size_t)n, sizeof(*rounds), cpl_by_double);
		phase->weight = n ? rounds[n / 2] : 1;
		add_to(phase, in[0], in[1]);
		compute -= in[0];
		communication -= in[1];
	}
	add_to(&p->phase[silent], compute, communication);
}

static const char *const kind_name[] = {"phase", "start", "end",
                                        "start", "end",   "rest"};

enum cpl_phase_kind cpl_phase_kind_of(const char *name)
{
	for (int k = CPL_PHASE_START_LOOP; k <= CPL_PHASE_REST; k++) {
		size_t n = strlen(kind_name[k]);
		const char *number = name + n;

		if (!strncmp(name, kind_name[k], n) &&
		    (k < CPL_PHASE_START
		             ? *number && !number[strspn(number, "0123456789")]
		             : !*number))
			return (enum cpl_phase_kind)k;
	}
	return CPL_PHASE_REPEATS;
}

/* "phase1", "start1", "end1", "phase2", ...: each kind has numbers of its own. */
static void name_phases(const struct finding *f, struct cpl_phases *p)
{
	int n[CPL_PHASE_REST + 1] = {0};

	for (int c = 1; c < f->n; c++)
		if (f->candidate[c].own)
			p->phase[f->candidate[c].phase].kind =
			        f->candidate[c].kind;
	for (int k = 0; k < p->n; k++) {
		struct cpl_found_phase *phase = &p->phase[k];

		if (phase->kind < CPL_PHASE_START)
			snprintf(phase->name, sizeof(phase->name), "%s%d",
			         kind_name[phase->kind], ++n[phase->kind]);
		else
			snprintf(phase->name, sizeof(phase->name), "%s",
			         kind_name[phase->kind]);
	}
}

/* This says whether some of a run is in no phase and at this place. */
static bool has_any_at(const struct finding *f, enum cpl_phase_kind place)
{
	for (int c = 1; c < f->n; c++)
		if (f->candidate[c].phase < 0 && !f->candidate[c].parent &&
		    f->candidate[c].time > 0 &&
		    f->candidate[c].kind == (place == CPL_PHASE_START
		                                     ? CPL_PHASE_START_LOOP
		                                     : CPL_PHASE_END_LOOP))
			return true;
	for (int i = 0; i < f->events->n; i++)
		for (int g = 1; g < f->ranks[i].n; g++)
			if (!f->ranks[i].segment[g].phase &&
			    f->ranks[i].segment[g].place == place)
				return true;
	return false;
}

/* This returns the seconds that no event tells of. */
static double silence(const struct finding *f, double time)
{
	for (int i = 0; i < f->events->n; i++) {
		const struct cpl_run_rank *rank = &f->events->rank[i];

		for (int64_t k = 0; k < rank->n_nodes; k++)
			if (rank->node[k].kind >= 0)
				time -= (rank->node[k].compute +
				         rank->node[k].duration) /
				        f->with_events;
		for (int64_t k = 0; k < rank->n_unordered; k++)
			time -= (rank->unordered[k].compute +
			         rank->unordered[k].duration) /
			        f->with_events;
	}
	return time;
}

/* This makes the phases that are no loops the last ones, the rest the last of all.
 * It returns how many there are. */
static int number_others(const struct finding *f, double time, int n,
                         struct last_phases *others)
{
	bool start = has_any_at(f, CPL_PHASE_START);
	bool end = has_any_at(f, CPL_PHASE_END) ||
	           silence(f, time) >= f->o->relevant * time;
	int rest = n + start + end;

	others->of[CPL_PHASE_START] = start ? n : rest;
	others->of[CPL_PHASE_END] = end ? n + start : rest;
	others->of[CPL_PHASE_REST] = rest;
	return rest + 1;
}

static struct cpl_phases *result(struct finding *f)
{
	struct cpl_phases *p = calloc(1, sizeof(*p));
	int ranks = f->events->n;
	double *rounds = malloc(sizeof(*rounds) * (size_t)ranks);
	struct last_phases others = {{0}};

	if (!p || !rounds ||
	    phase_find_steps(f->events, f->o->similarity, f->ranks, f->candidate,
	                 f->n, f->err))
		goto memory;
	p->events = f->events;
	p->time = run_time(f->events);
	p->n = number(f, p->time);
	if (p->n < 0)
		goto memory;
	p->n = number_others(f, p->time, p->n, &others);
	leave_out(f, &others);
	p->phase = calloc((size_t)p->n, sizeof(*p->phase));
	if (!p->phase)
		goto memory;
	for (int k = 0; k < p->n; k++) {
		p->phase[k].rank =
		        calloc((size_t)ranks, sizeof(*p->phase[k].rank));
		if (!p->phase[k].rank)
			goto memory;
	}
	for (int k = CPL_PHASE_START; k <= CPL_PHASE_REST; k++)
		p->phase[others.of[k]].kind = k;
	name_phases(f, p);
	for (int i = 0; i < ranks; i++)
		add_up(f, p, i, &others);
	sum_phases(f, p, others.of[CPL_PHASE_END], rounds);
	p->segments = f->ranks;
	f->ranks = NULL;
	free(rounds);
	return p;
memory:
	cpl_fail_memory(f->err);
	free(rounds);
	cpl_phases_free(p);
	return NULL;
}

static int find_in_rank(struct finding *f, int i)
{
	const struct cpl_run_rank *rank = &f->events->rank[i];

	f->with_events += rank->has_events;
	if (phase_segments(rank, f->o, &f->ranks[i], f->err))
		return -1;
	return align(f, i);
}

static void free_segments(struct phase_rank_segments *s, int n)
{
	for (int i = 0; s && i < n; i++) {
		cpl_free_all(s[i].segment, s[i].of_node, s[i].as_node);
	}
	free(s);
}

struct cpl_phases *cpl_phases_find(const struct cpl_run_events *events,
                                   const struct cpl_phase_options *options,
                                   struct cpl_error *err)
{
	struct finding f = {.events = events, .o = options, .err = err};
	struct cpl_phases *p = NULL;

	f.ranks = calloc((size_t)events->n, sizeof(*f.ranks));
	if (cpl_out_of_memory(!f.ranks, err) ||
	    cpl_array_grow(&f.candidate, 0, sizeof(*f.candidate), err))
		goto out;
	f.candidate[f.n++] = (struct phase_candidate){.weight = 1};
	for (int i = 0; i < events->n; i++)
		if (find_in_rank(&f, i))
			goto out;
	if (f.with_events)
		p = result(&f);
	else
		cpl_fail(err, "no rank has events: there are totals only");
out:
	free_segments(f.ranks, events->n);
	free(f.candidate);
	return p;
}

void cpl_phases_free(struct cpl_phases *p)
{
	if (!p)
		return;
	for (int k = 0; p->phase && k < p->n; k++)
		free(p->phase[k].rank);
	free_segments(p->segments, p->events ? p->events->n : 0);
	cpl_free_all(p->phase, p);
}
