/* SPDX-License-Identifier: GPL-2.0-or-later */
/* simgrid_flows.h by our own max-min shares, for what SimGrid cannot be told.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "simgrid_flows.h"
#include "simulate/maxmin.h"

/* Flows that end so near each other, of what they take, end together. */
#define TOLERANCE 1e-3
#define TIMES 3 /* that a run with a period sends */

const bool flows_are_ours = true;

/* A flow, or a message with all of its ways. */
struct unit {
	struct cpl_maxmin_route route;
	int run;
	double bytes, weight, left, begun;
};

struct sender {
	int first, n; /* units */
	int sent;     /* how often */
	int under_way;
	double begins, begun;
};

struct fluid {
	const struct flow_problem *p;
	struct cpl_maxmin maxmin;
	struct unit *unit;
	struct cpl_share *share; /* of all units */
	struct sender *sender;   /* [n_runs] */
	int n_units;
	struct unit **active;
	struct cpl_maxmin_route **route; /* of the active ones */
	int n_active;
	double now;
};

static void *need(size_t n, size_t size)
{
	void *p = calloc(n + 1, size);

	if (!p) {
		fprintf(stderr, "moments_flows: out of memory\n");
		exit(1);
	}
	return p;
}

static void make_units(struct fluid *f)
{
	const struct flow_problem *p = f->p;
	int n_flows = 0, n_shares = 0;

	for (int r = 0; r < p->n_runs; r++)
		n_flows += p->run[r].n;
	f->unit = need((size_t)n_flows, sizeof(*f->unit));
	f->active = need((size_t)n_flows, sizeof(struct unit *));
	f->route = need((size_t)n_flows, sizeof(struct cpl_maxmin_route *));
	f->share = need((size_t)p->path_first[p->n_paths], sizeof(*f->share));
	f->sender = need((size_t)p->n_runs, sizeof(*f->sender));
	for (int r = 0; r < p->n_runs; r++) {
		struct unit *u = NULL;
		int last = -1, end = p->run[r].first + p->run[r].n;

		f->sender[r].first = f->n_units;
		for (int i = p->run[r].first; i < end; i++) {
			const struct flow *flow = &p->flow[i];

			if (!u || !p->whole || flow->message != last) {
				u = &f->unit[f->n_units++];
				*u = (struct unit){.run = r, .weight = 1};
				u->route.share = f->share + n_shares;
				u->route.flows = 1;
			}
			last = flow->message;
			u->bytes += flow->bytes;
			for (int k = p->path_first[flow->path];
			     k < p->path_first[flow->path + 1]; k++) {
				f->share[n_shares++] = (struct cpl_share){
				        p->path_link[k], flow->bytes};
				u->route.n++;
			}
		}
		f->sender[r].n = f->n_units - f->sender[r].first;
	}
}

/* Parts of bytes, and what a unit weighs: 1, or so much that each run's units
 * on the link that has most of them weigh 1. */
static void weigh(struct fluid *f)
{
	const struct flow_problem *p = f->p;
	double *on = need((size_t)p->n_links, sizeof(*on));

	for (int r = 0; r < p->n_runs; r++) {
		struct unit *first = f->unit + f->sender[r].first;
		struct unit *end = first + f->sender[r].n;
		double most = 0;

		for (struct unit *u = first; u < end; u++)
			for (int k = 0; k < u->route.n; k++) {
				struct cpl_share *s =
				        (struct cpl_share *)&u->route.share[k];

				s->part /= u->bytes;
				on[s->link] += s->part;
				most = fmax(most, on[s->link]);
			}
		for (struct unit *u = first; u < end; u++) {
			u->weight = p->jobs ? 1 / most : 1;
			for (int k = 0; k < u->route.n; k++) {
				struct cpl_share *s =
				        (struct cpl_share *)&u->route.share[k];

				on[s->link] = 0;
				s->part *= u->weight;
			}
		}
	}
	free(on);
}

static void start(struct fluid *f, int run)
{
	struct sender *s = &f->sender[run];

	s->begun = f->now;
	s->under_way = s->n;
	for (int i = s->first; i < s->first + s->n; i++) {
		struct unit *u = &f->unit[i];

		u->left = u->bytes;
		u->begun = f->now;
		f->active[f->n_active++] = u;
	}
}

/* The last one of a run's has ended. */
static void finish(struct fluid *f, int run)
{
	const struct flow_problem *p = f->p;
	struct sender *s = &f->sender[run];

	s->sent++;
	if (s->sent == 2 || !(p->period > 0))
		p->run[run].seconds = f->now - s->begun;
	s->begins =
	        p->period > 0 && s->sent < TIMES
	                ? fmax(p->run[run].start + s->sent * p->period, f->now)
	                : INFINITY;
}

static double ends(const struct fluid *f, const struct unit *u)
{
	return f->now + u->left / (u->route.rate * u->weight);
}

/* When flows end next. */
static double next_end(const struct fluid *f)
{
	double limit = INFINITY, next = 0;

	for (int i = 0; i < f->n_active; i++) {
		double end = ends(f, f->active[i]);

		limit = fmin(limit,
		             end + TOLERANCE * (end - f->active[i]->begun));
	}
	for (int i = 0; i < f->n_active; i++) {
		double end = ends(f, f->active[i]);

		if (end <= limit)
			next = fmax(next, end);
	}
	return next;
}

static void advance(struct fluid *f, double to)
{
	double spent = to - f->now;
	int n = 0;

	for (int i = 0; i < f->n_active; i++) {
		struct unit *u = f->active[i];

		u->left = ends(f, u) <= to
		                  ? 0
		                  : u->left - spent * u->route.rate * u->weight;
	}
	f->now = to;
	for (int i = 0; i < f->n_active; i++) {
		struct unit *u = f->active[i];

		if (u->left > 0)
			f->active[n++] = u;
		else if (!--f->sender[u->run].under_way)
			finish(f, u->run);
	}
	f->n_active = n;
}

static void play(struct fluid *f, int first, int end)
{
	for (;;) {
		double to = INFINITY;
		bool begun = false;

		for (int r = first; r < end; r++)
			if (f->sender[r].begins <= f->now) {
				f->sender[r].begins = INFINITY;
				start(f, r);
				begun = true;
			}
		for (int r = first; r < end; r++)
			to = fmin(to, f->sender[r].begins);
		if (!begun && !f->n_active && to == INFINITY)
			return;
		for (int i = 0; i < f->n_active; i++)
			f->route[i] = &f->active[i]->route;
		if (f->n_active) {
			if (cpl_maxmin_solve(&f->maxmin, f->route, f->n_active,
			                     0, NULL))
				exit(1);
			to = fmin(to, next_end(f));
		}
		advance(f, to);
	}
}

void flows_simulate(const struct flow_problem *p)
{
	struct fluid f = {.p = p};

	if (cpl_maxmin_init(&f.maxmin, p->n_links, p->bandwidth, NULL))
		exit(1);
	make_units(&f);
	weigh(&f);
	for (int r = 0; r < p->n_runs; r++)
		f.sender[r].begins =
		        f.sender[r].n ? (p->period > 0 ? p->run[r].start : 0)
		                      : INFINITY;
	if (p->together)
		play(&f, 0, p->n_runs);
	for (int r = 0; r < p->n_runs && !p->together; r++) {
		f.now = 0;
		play(&f, r, r + 1);
	}
	cpl_maxmin_free(&f.maxmin);
	free(f.unit);
	free(f.active);
	free(f.route);
	free(f.share);
	free(f.sender);
}
