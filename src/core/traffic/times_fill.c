/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the flows of a phase take: few, that share links max-min fairly until the last has
 * ended, and many, that pass links in stages. */
#include "traffic/times_internal.h"

#include <math.h>

const struct times_stages times_no_links = {.link = -1};

double times_pass_all(const struct cpl_times *times, const struct times_phase *phase,
                      const struct times_stages *s)
{
	int n = times_count_stages(times);
	double sum = 0;

	if (!times->timed || !(s->busiest > 0))
		return s->busiest;
	/* Not by the powers themselves, which can be too large. */
	for (int i = 0; i < n; i++)
		sum += cpl_fourth_power(s->most[i] / s->busiest);
	return s->busiest *
	       (1 + (sqrt(sqrt(sum)) - 1) / (1 + phase->packets / times->at_once));
}

/* Relative: flows that end so near each other end together. */
#define TOGETHER 1e-12

/* Of the flows of a phase. */
struct link_filling {
	const struct times_phase *phase;
	struct times_share *share;
	struct times_path *flow_of;
	struct times_progress *flow;
	int n_flows, n_links;
	int *open, n_open; /* links on which flows grow, increasing */
};

/* Lists the flows of each link. */
static void list_flows(struct link_filling *f)
{
	const struct times_phase *phase = f->phase;
	int n = 0;

	for (int i = 0; i < f->n_links; i++)
		f->share[i].growing = 0;
	for (int i = 0; i < phase->flow[f->n_flows].first; i++)
		f->share[phase->way[i].at].growing++;
	for (int i = 0; i < f->n_links; i++) {
		n += f->share[i].growing;
		f->share[i].first = n;
	}
	f->share[f->n_links].first = n;
	for (int k = f->n_flows - 1; k >= 0; k--)
		for (int i = phase->flow[k].first; i < phase->flow[k + 1].first;
		     i++)
			f->flow_of[--f->share[phase->way[i].at].first] =
			        (struct times_path){k, phase->way[i].part};
}

static void set_level(struct times_share *s)
{
	s->level = s->left / s->demand;
}

/* Begin with empty links, on which every flow that has bytes left may grow. */
static void start(struct link_filling *f)
{
	f->n_open = 0;
	for (int k = 0; k < f->n_flows; k++)
		f->flow[k].growing = f->flow[k].left > 0;
	for (int i = 0; i < f->n_links; i++) {
		struct times_share *s = &f->share[i];

		s->left = s->capacity;
		s->demand = 0;
		s->growing = 0;
		for (int j = s->first; j < f->share[i + 1].first; j++) {
			int k = f->flow_of[j].at;

			if (!f->flow[k].growing)
				continue;
			s->growing++;
			s->demand +=
			        f->flow_of[j].part * f->phase->flow[k].pairs;
		}
		if (!s->growing)
			continue;
		set_level(s);
		f->open[f->n_open++] = i;
	}
}

/* The link that is full first as flows grow, or -1: none grows. */
static int next_full(struct link_filling *f, double *level)
{
	int full = -1, n = 0;

	for (int k = 0; k < f->n_open; k++) {
		int i = f->open[k];
		const struct times_share *s = &f->share[i];

		/* Where all was subtracted from a sum, rounding may leave
		 * something. */
		if (!s->growing || !(s->demand > 0))
			continue;
		f->open[n++] = i;
		if (full < 0 || s->level < *level) {
			full = i;
			*level = s->level;
		}
	}
	f->n_open = n;
	return full;
}

static void freeze(struct link_filling *f, int flow, double level)
{
	const struct times_flow *own = &f->phase->flow[flow];

	f->flow[flow].growing = false;
	f->flow[flow].rate = own->pairs * level;
	for (int i = own[0].first; i < own[1].first; i++) {
		struct times_share *s = &f->share[f->phase->way[i].at];
		double part = f->phase->way[i].part;

		s->growing--;
		s->demand -= part * own->pairs;
		s->left -= part * f->flow[flow].rate;
		s->left = s->left > 0 ? s->left : 0;
		set_level(s);
	}
}

/* Max-min fair rates of the flows that have bytes left. */
static void share_links(struct link_filling *f)
{
	double level = 0, last = 0;
	int full;

	start(f);
	while ((full = next_full(f, &level)) >= 0) {
		/* Rounding aside they increase. */
		last = level > last ? level : last;
		for (int j = f->share[full].first; j < f->share[full + 1].first;
		     j++)
			if (f->flow[f->flow_of[j].at].growing)
				freeze(f, f->flow_of[j].at, last);
	}
}

/* Let flows run from now until the next ones end; for how long. 0: all have ended. */
static double step(struct link_filling *f, double now)
{
	double least = 0;

	for (int k = 0; k < f->n_flows; k++)
		if (f->flow[k].left > 0 &&
		    (!(least > 0) || f->flow[k].left < least * f->flow[k].rate))
			least = f->flow[k].left / f->flow[k].rate;
	for (int k = 0; k < f->n_flows; k++) {
		double sent = least * f->flow[k].rate;

		if (f->flow[k].left > sent * (1 + TOGETHER)) {
			f->flow[k].left -= sent;
		} else if (f->flow[k].left > 0) {
			f->flow[k].left = 0;
			f->flow[k].end = now + least;
		}
	}
	return least;
}

double times_fill(struct cpl_times *times, const struct times_phase *phase)
{
	struct link_filling f = {.phase = phase,
	                         .share = times->share,
	                         .flow_of = times->flow_of,
	                         .flow = times->progress,
	                         .open = times->open,
	                         .n_flows = (int)phase->n_flows,
	                         .n_links = (int)phase->n_links};
	double sum = 0, dt;

	for (int k = 0; k < f.n_flows; k++) {
		f.flow[k].left = phase->flow[k].bytes;
		f.flow[k].end = 0;
	}
	list_flows(&f);
	do {
		share_links(&f);
		dt = step(&f, sum);
		sum += dt;
	} while (dt > 0);
	return sum;
}
