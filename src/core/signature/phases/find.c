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

#define BUCKETS 1024
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

static uint64_t step(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ (hash >> 29);
}

static uint64_t kind_shape(const struct cpl_run_rank *rank,
                           const struct cpl_run_kind *k)
{
	uint64_t h = step((uint64_t)k->function, (uint64_t)k->communicator);

	h = step(h, (uint64_t)(k->source + 1));
	for (int i = 0; i < k->n; i++) {
		const struct cpl_run_messages *m =
		        &rank->message[k->first + i];

		h = step(h, (uint64_t)m->peer << 1 | m->inward);
	}
	return h;
}

int phase_add_segment(struct phase_rank_segments *s, int parent, double rounds,
                      struct cpl_error *err)
{
	if (cpl_array_grow(&s->segment, s->n, sizeof(*s->segment), err))
		return -1;
	s->segment[s->n] = (struct phase_segment){
	        .parent = parent,
	        .same = s->n,
	        .phase = -1,
	        .rounds = rounds,
	        .own_rounds = rounds,
	        .from = INFINITY,
	        .next = -1,
	};
	return s->n++;
}

static bool alike(double a, double b, double factor)
{
	return a <= b * factor && b <= a * factor;
}

/* The nodes from a on are rounds of those from b on. */
static void take_as(const struct cpl_run_rank *rank,
                    struct phase_rank_segments *s, int64_t a, int64_t b)
{
	for (int64_t i = 0; i < rank->node[a].size; i++)
		s->as_node[a + i] = b + i;
}

/* This puts an event of a rank into segment `in`. */
static void add_event(const struct cpl_run_rank *rank, const uint64_t *shape,
                      struct phase_rank_segments *s, int64_t i, int in)
{
	const struct cpl_run_node *node = &rank->node[i];
	struct phase_segment *g = &s->segment[in];

	s->of_node[i] = in;
	if (s->as_node[i] == i) {
		g->functions =
		        step(g->functions,
		             (uint64_t)rank->kind[node->kind].function);
		g->any_order +=
		        step(1, (uint64_t)rank->kind[node->kind].function);
		g->shape = step(g->shape, shape[node->kind]);
	}
	g->bytes += node->bytes;
	g->compute += node->compute;
	g->communication += node->duration;
}

/* This puts the nodes [from, to) of a rank into segment `in`, and splits off their
 * loops. many means that a loop around them has min_rounds. */
static int split(struct finding *f, const struct cpl_run_rank *rank,
                 const uint64_t *shape, struct phase_rank_segments *s,
                 int64_t from, int64_t to, int in, bool many)
{
	for (int64_t i = from; i < to; i += rank->node[i].size) {
		const struct cpl_run_node *node = &rank->node[i];
		bool has_many;
		int inner = in;

		if (node->kind >= 0) {
			add_event(rank, shape, s, i, in);
			continue;
		}
		has_many = node->rounds / node->entries >= f->o->min_rounds;
		if (has_many || (!many && node->rounds >= LEAST_ROUNDS)) {
			inner = phase_add_segment(s, in, node->rounds, f->err);
			if (inner < 0)
				return -1;
			/* A phase of its own is one with those in the loop. */
			take_as(rank, s, i, i);
		}
		s->of_node[i] = inner;
		if (split(f, rank, shape, s, i + 1, i + node->size, inner,
		          many || has_many))
			return -1;
	}
	return 0;
}

/* This lists the nodes [from, to), without those inside loops. It returns how many,
 * or -1. */
static int list_nodes(const struct cpl_run_rank *rank, int64_t from, int64_t to,
                      int64_t **out, struct cpl_error *err)
{
	int n = 0;

	for (int64_t i = from; i < to; i += rank->node[i].size) {
		if (cpl_array_grow(out, n, sizeof(**out), err))
			return -1;
		(*out)[n++] = i;
	}
	return n;
}

/* This says whether node a is a round of node b in a loop. The first call after a
 * long computation is not. */
static bool is_round_of(const struct cpl_run_rank *rank, int64_t a, int64_t b,
                        double factor)
{
	const struct cpl_run_node *x = &rank->node[a], *y = &rank->node[b];

	if (x->size != y->size)
		return false;
	for (int64_t i = 0; i < rank->node[a].size; i++, x++, y++) {
		if (x->kind != y->kind)
			return false;
		if (x->kind < 0 && fabs(x->rounds / x->entries -
		                        y->rounds / y->entries) > 0.5)
			return false;
		if (x->kind >= 0 && x->compute / x->count >
		                            factor * y->compute / y->count +
		                                    SAME_COMPUTE)
			return false;
	}
	return true;
}

/* A loop is found wherever it begins to repeat, as in h(sh)29s. So what stands
 * beside top[t] and is like the end or the beginning of its body belongs to it, and
 * owner[other] becomes t. It returns about how many rounds these are, or -1. */
static double take_in(struct finding *f, const struct cpl_run_rank *rank,
                      struct phase_rank_segments *s, const int64_t *top, int n,
                      int t, int *owner)
{
	int64_t loop = top[t], *body = NULL;
	int size = list_nodes(rank, loop + 1, loop + rank->node[loop].size,
	                      &body, f->err);
	int before = 0, after = 0;

	while (before + 1 < size && t - before > 0 &&
	       owner[t - before - 1] < 0 &&
	       is_round_of(rank, top[t - before - 1], body[size - before - 1],
	                   f->o->similarity)) {
		before++;
		owner[t - before] = t;
		take_as(rank, s, top[t - before], body[size - before]);
	}
	while (before + after < size && t + after + 1 < n &&
	       is_round_of(rank, top[t + after + 1], body[after],
	                   f->o->similarity)) {
		after++;
		owner[t + after] = t;
		take_as(rank, s, top[t + after], body[after - 1]);
	}
	if (before + after)
		owner[t] = t;
	free(body);
	return size < 0 ? -1 : round((double)(before + after) / size);
}

/* A stretch outside of loops, from one loop to the next, may happen again. */
struct outside {
	const int64_t *top;
	const int *owner;    /* the loop that it belongs to; -1: none */
	const double *extra; /* further rounds of a loop */
	int *segment;        /* of a loop; -1: not yet */
	int n;
};

/* This returns the segment of top[t], a loop. */
static int loop_segment(struct finding *f, const struct cpl_run_rank *rank,
                        struct phase_rank_segments *s, const struct outside *o,
                        int t)
{
	if (o->segment[t] < 0)
		o->segment[t] = phase_add_segment(
		        s, 0, rank->node[o->top[t]].rounds + o->extra[t],
		        f->err);
	return o->segment[t];
}

/* This returns the seconds of node i with all that is in it. */
static double seconds_of(const struct cpl_run_rank *rank, int64_t i)
{
	double seconds = 0;

	for (int64_t k = i; k < i + rank->node[i].size; k++)
		if (rank->node[k].kind >= 0)
			seconds += rank->node[k].compute +
			           rank->node[k].duration;
	return seconds;
}

static int split_outside(struct finding *f, const struct cpl_run_rank *rank,
                         const uint64_t *shape, struct phase_rank_segments *s,
                         const struct outside *o)
{
	double now = 0;
	int run = -1;

	for (int t = 0; t < o->n; t++) {
		int64_t i = o->top[t];
		const struct cpl_run_node *node = &rank->node[i];
		int owner = o->owner[t] >= 0  ? o->owner[t]
		            : node->kind >= 0 ? -1
		                              : t;
		int in = run;

		if (owner >= 0)
			in = loop_segment(f, rank, s, o, owner);
		else if (run < 0)
			in = phase_add_segment(s, 0, 1, f->err);
		if (in < 0)
			return -1;
		run = owner >= 0 ? -1 : in;
		s->segment[in].from = fmin(s->segment[in].from, now);
		now += seconds_of(rank, i);
		s->segment[in].to = now;
		if (owner < 0) {
			add_event(rank, shape, s, i, in);
			continue;
		}
		const struct cpl_run_node *loop = &rank->node[o->top[owner]];
		int64_t from = owner == t ? i + 1 : i;

		s->of_node[i] = in;
		if (split(f, rank, shape, s, from, i + node->size, in,
		          loop->rounds / loop->entries >= f->o->min_rounds))
			return -1;
	}
	return 0;
}

/* This puts all nodes of a rank into segments. */
static int split_all(struct finding *f, const struct cpl_run_rank *rank,
                     const uint64_t *shape, struct phase_rank_segments *s)
{
	int64_t *top = NULL;
	int n = list_nodes(rank, 0, rank->n_nodes, &top, f->err), rc = -1;
	size_t size = (size_t)(n > 0 ? n : 0) + 1;
	int *owner = malloc(sizeof(*owner) * size);
	int *segment = malloc(sizeof(*segment) * size);
	double *extra = calloc(size, sizeof(*extra));
	struct outside o = {top, owner, extra, segment, n};

	if (n < 0 || !owner || !segment || !extra) {
		cpl_fail_memory(f->err);
		goto out;
	}
	memset(owner, 0xff, sizeof(*owner) * size);
	memset(segment, 0xff, sizeof(*segment) * size);
	for (int64_t i = 0; i < rank->n_nodes; i++)
		s->as_node[i] = i;
	for (int t = 0; t < n; t++) {
		if (rank->node[top[t]].kind >= 0 || owner[t] >= 0)
			continue;
		extra[t] = take_in(f, rank, s, top, n, t, owner);
		if (extra[t] < 0)
			goto out;
	}
	rc = split_outside(f, rank, shape, s, &o);
	/* What is in a loop is where that is. */
	for (int g = 1; g < s->n && !rc; g++)
		if (s->segment[g].parent > 0) {
			const struct phase_segment *around =
			        &s->segment[s->segment[g].parent];

			s->segment[g].from = around->from;
			s->segment[g].to = around->to;
		}
	for (int g = 0; g < s->n; g++) {
		s->segment[g].all_from = s->segment[g].from;
		s->segment[g].all_to = s->segment[g].to;
	}
out:
	free(top);
	free(owner);
	free(segment);
	free(extra);
	return rc;
}

static bool similar(const struct phase_segment *a,
                    const struct phase_segment *b, double factor)
{
	double x = a->compute / a->rounds, y = b->compute / b->rounds;

	return a->shape == b->shape &&
	       alike(a->bytes / a->rounds, b->bytes / b->rounds, factor) &&
	       (alike(x, y, factor) || fabs(x - y) <= SAME_COMPUTE);
}

/* This unites similar segments of a rank. */
static int unite(struct phase_rank_segments *s, double factor,
                 struct cpl_error *err)
{
	int *head = malloc(sizeof(*head) * BUCKETS);

	if (!head)
		return cpl_fail_memory(err);
	memset(head, 0xff, sizeof(*head) * BUCKETS);
	for (int i = 1; i < s->n; i++) {
		struct phase_segment *g = &s->segment[i], *to;
		int *at = &head[g->shape % BUCKETS];

		while (*at >= 0 && !similar(&s->segment[*at], g, factor))
			at = &s->segment[*at].next;
		if (*at < 0) {
			*at = i;
			continue;
		}
		g->same = *at;
		to = &s->segment[*at];
		to->rounds += g->rounds;
		to->all_from = fmin(to->all_from, g->all_from);
		to->all_to = fmax(to->all_to, g->all_to);
		to->bytes += g->bytes;
		to->compute += g->compute;
		to->communication += g->communication;
	}
	free(head);
	/* Segments inside of united ones are united, too. */
	for (int i = 1; i < s->n; i++)
		s->segment[i].parent = s->segment[s->segment[i].parent].same;
	return 0;
}

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
	return fabs(a - b) <= 2 || alike(a, b, 1.05);
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
struct others {
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
static void leave_out(struct finding *f, const struct others *others)
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
                   const struct others *others)
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

/* "phase1", "start1", "end1", "phase2", ...: each kind has numbers of its own. */
static void name_phases(const struct finding *f, struct cpl_phases *p)
{
	static const char *const name[] = {"phase", "start", "end",
	                                   "start", "end",   "rest"};
	int n[CPL_PHASE_REST + 1] = {0};

	for (int c = 1; c < f->n; c++)
		if (f->candidate[c].own)
			p->phase[f->candidate[c].phase].kind =
			        f->candidate[c].kind;
	for (int k = 0; k < p->n; k++) {
		struct cpl_found_phase *phase = &p->phase[k];

		if (phase->kind < CPL_PHASE_START)
			snprintf(phase->name, sizeof(phase->name), "%s%d",
			         name[phase->kind], ++n[phase->kind]);
		else
			snprintf(phase->name, sizeof(phase->name), "%s",
			         name[phase->kind]);
	}
}

/* This says whether some of a run is in no phase and at this place. */
static bool has_place(const struct finding *f, enum cpl_phase_kind place)
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
                         struct others *others)
{
	bool start = has_place(f, CPL_PHASE_START);
	bool end = has_place(f, CPL_PHASE_END) ||
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
	struct others others = {{0}};

	if (!p || !rounds ||
	    phase_places(f->events, f->o->similarity, f->ranks, f->candidate,
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
	struct phase_rank_segments *s = &f->ranks[i];
	uint64_t *shape = malloc(sizeof(*shape) * (size_t)(rank->n_kinds + 1));
	int rc = -1;

	s->of_node = malloc(sizeof(*s->of_node) * (size_t)(rank->n_nodes + 1));
	s->as_node = malloc(sizeof(*s->as_node) * (size_t)(rank->n_nodes + 1));
	if (!shape || !s->of_node || !s->as_node) {
		cpl_fail_memory(f->err);
		goto out;
	}
	for (int k = 0; k < rank->n_kinds; k++)
		shape[k] = kind_shape(rank, &rank->kind[k]);
	f->with_events += rank->has_events;
	if (phase_add_segment(s, -1, 1, f->err) ||
	    split_all(f, rank, shape, s) || unite(s, f->o->similarity, f->err) || align(f, i))
		goto out;
	rc = 0;
out:
	free(shape);
	return rc;
}

static void free_segments(struct phase_rank_segments *s, int n)
{
	for (int i = 0; s && i < n; i++) {
		free(s[i].segment);
		free(s[i].of_node);
		free(s[i].as_node);
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
	if (!f.ranks ||
	    cpl_array_grow(&f.candidate, 0, sizeof(*f.candidate), err)) {
		cpl_fail_memory(err);
		goto out;
	}
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
	free(p->phase);
	free(p);
}
