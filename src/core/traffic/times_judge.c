/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long the phases of a placed job take. */
#include "traffic/times_internal.h"

#include <math.h>
#include <string.h>

/* Relative: flows that end so near each other end together. */
#define TOGETHER 1e-12

/* Of the flows of a phase. */
struct link_filling {
	const struct times_phase *phase;
	struct times_share *share;
	struct times_path *flow_of;
	struct times_progress *flow;
	int n_flows, n_links;
	int head; /* first link on which flows grow, or -1 */
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

/* Begin with empty links, on which every flow that has bytes left may grow. */
static void start(struct link_filling *f)
{
	int *next = &f->head;

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
		*next = i;
		next = &s->next;
	}
	*next = -1;
}

/* The link that is full first as flows grow, or -1: none grows. */
static int next_full(struct link_filling *f, double *level)
{
	int full = -1;

	for (int *at = &f->head; *at >= 0;) {
		struct times_share *s = &f->share[*at];
		double here;

		/* Where all was subtracted from a sum, rounding may leave
		 * something. */
		if (!s->growing || !(s->demand > 0)) {
			*at = s->next;
			continue;
		}
		here = s->left / s->demand;
		if (full < 0 || here < *level) {
			full = *at;
			*level = here;
		}
		at = &s->next;
	}
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

/* Let flows run until the next ones end; for how long. 0: all have ended. */
static double step(struct link_filling *f)
{
	double least = 0;

	for (int k = 0; k < f->n_flows; k++)
		if (f->flow[k].left > 0 &&
		    (!(least > 0) || f->flow[k].left < least * f->flow[k].rate))
			least = f->flow[k].left / f->flow[k].rate;
	for (int k = 0; k < f->n_flows; k++) {
		double sent = least * f->flow[k].rate;

		if (f->flow[k].left <= sent * (1 + TOGETHER))
			f->flow[k].left = 0;
		else
			f->flow[k].left -= sent;
	}
	return least;
}

/* Seconds of one execution whose link i has times->share[i].capacity. */
static double fill(struct cpl_times *times, const struct times_phase *phase)
{
	struct link_filling f = {.phase = phase,
	                         .share = times->share,
	                         .flow_of = times->flow_of,
	                         .flow = times->progress,
	                         .n_flows = (int)phase->n_flows,
	                         .n_links = (int)phase->n_links};
	double sum = 0, dt;

	for (int k = 0; k < f.n_flows; k++)
		f.flow[k].left = phase->flow[k].bytes;
	list_flows(&f);
	do {
		share_links(&f);
		dt = step(&f);
		sum += dt;
	} while (dt > 0);
	return sum;
}

/* Seconds that a link takes for a phase's bytes at least. */
static double busy(const struct times_link *l, double slowed)
{
	return l->bytes * slowed / l->bandwidth;
}

static const struct times_stages no_links = {.link = -1};

static void pass_link(struct times_stages *s, const struct cpl_times *times,
                      int link, double seconds)
{
	const struct cpl_network *net = times->net;
	int64_t port = link - net->n_links, n = cpl_network_port_cables(net);
	int stage = port >= 2 * n ? 2 : port >= n ? 1 : port >= 0 ? 0 : 3;
	double *most = &s->most[stage];

	if (port < 0 && times->staged)
		most += net->link_class_of[link];
	*most = seconds > *most ? seconds : *most;
	if (s->link < 0 || seconds > s->busiest ||
	    (seconds == s->busiest && link < s->link)) {
		s->busiest = seconds;
		s->link = link;
	}
}

/* How long many flows take that pass these one after the other. */
static double pass_all(const struct cpl_times *times,
                       const struct times_stages *s)
{
	int n = times->staged ? 3 + times->net->n_classes : 4;
	double sum = 0;

	if (!times->timed || !(s->busiest > 0))
		return s->busiest;
	/* Not by the powers themselves, which can be too large. */
	for (int i = 0; i < n; i++)
		sum += cpl_fourth_power(s->most[i] / s->busiest);
	return s->busiest * sqrt(sqrt(sum));
}

void times_alone(struct cpl_times *times, struct times_phase *phase)
{
	phase->quiet = no_links;
	for (int64_t i = 0; i < phase->n_links; i++) {
		const struct times_link *l = &phase->link[i];

		pass_link(&phase->quiet, times, l->link, busy(l, 1));
		if (phase->exact)
			times->share[i].capacity = l->bandwidth;
	}
	phase->alone = phase->exact && phase->n_flows
	                       ? fill(times, phase)
	                       : pass_all(times, &phase->quiet);
}

/* A packet that chooses waits where both ways are busy. */
static bool may_choose(const struct cpl_times *times, int64_t link)
{
	const struct cpl_routing *r = times->choosing;

	return r && link < times->net->n_links &&
	       (!r->chooses || r->chooses(times->net, link));
}

/* Compute what others have of a link; stretch > 0: own rates are in the background,
 * each divided by that. Have they anything? */
static bool utilise(const struct cpl_times *times, struct times_link *l,
                    const struct cpl_load *background, double stretch)
{
	double rate = background ? *cpl_times_at(background, l->link) : 0;
	bool squared = background && background->squares;
	double squares = squared ? background->squares[l->link] : 0;
	double part = 1;

	if (stretch > 0) {
		double own = times->rate[l->rate].rate / stretch;

		rate -= own;
		squares -= squared ? own * own : 0;
	}
	l->utilisation = rate > 0 ? rate / l->bandwidth : 0;
	if (may_choose(times, l->link))
		part = fmin(l->utilisation, 1);
	l->utilisation *= part;
	part /= l->bandwidth;
	l->slowed = cpl_slowed(l->utilisation, squares * part * part);
	return rate > 0;
}

/* Seconds that a packet waits where one takes `packet` seconds. */
static double wait(double u, double packet)
{
	if (u > CPL_TIMES_SATURATED)
		u = CPL_TIMES_SATURATED;
	return u / (2 * (1 - u)) * CPL_TIMES_TRAIN * packet;
}

/* Of one execution. */
struct phase_times {
	double seconds, waiting;
	struct times_stages stages;
};

static struct phase_times judge_phase(struct cpl_times *times,
                                      struct times_phase *phase,
                                      const struct cpl_load *background,
                                      double stretch)
{
	bool some = times->shares && stretch > 0, others = false;
	struct phase_times t = {.stages = some ? phase->quiet : no_links};
	int64_t n = some ? phase->n_shared : phase->n_links;

	for (int64_t i = 0; phase->exact && some && i < phase->n_links; i++)
		times->share[i].capacity = phase->link[i].bandwidth;
	/* There is no separate branch for links that others leave alone: on a
	 * busy machine a processor cannot foresee which these are. */
	for (int64_t k = 0; k < n; k++) {
		int64_t i = some ? phase->shared[k] : k;
		struct times_link *l = &phase->link[i];

		others |= utilise(times, l, background, stretch);
		pass_link(&t.stages, times, l->link, busy(l, l->slowed));
		t.waiting += l->messages * wait(l->utilisation, l->packet);
		if (phase->exact)
			times->share[i].capacity = l->bandwidth / l->slowed;
	}
	if (phase->n_flows)
		t.waiting /= (double)phase->n_flows;
	if (!others)
		t.seconds = phase->alone;
	else
		t.seconds = phase->exact ? fill(times, phase)
		                         : pass_all(times, &t.stages);
	return t;
}

static void judge(struct cpl_times *times, const struct cpl_load *background,
                  double stretch, struct cpl_times_result *out)
{
	double longest = 0, sum = 0, most = 0; /* of a stated phase, its rounds */
	int64_t link = -1;

	*out = (struct cpl_times_result){
	        .link = -1, .phase = -1, .exact = true};
	for (int k = 0; k < times->n_phases; k++) {
		struct times_phase *phase = &times->phase[k];
		struct phase_times t =
		        judge_phase(times, phase, background, stretch);
		double seconds = phase->weight *
		                 (t.seconds + t.waiting + phase->latency);

		out->seconds += seconds;
		out->alone += phase->weight * (phase->alone + phase->latency);
		out->latency += phase->weight * phase->latency;
		out->waiting += phase->weight * t.waiting;
		out->busiest += phase->weight * t.stages.busiest;
		out->exact = out->exact && phase->exact;
		if (!k || phase->stated != phase[-1].stated)
			sum = most = 0;
		sum += seconds;
		if (seconds > most) {
			most = seconds;
			link = t.stages.link;
		}
		if (sum > longest) {
			longest = sum;
			out->link = link;
			out->phase = phase->stated;
		}
	}
}

void cpl_times_judge(struct cpl_times *times, const struct cpl_load *background,
                     bool own_in, struct cpl_times_result *out)
{
	judge(times, background, own_in, out);
}

void cpl_times_judge_stretched(struct cpl_times *times,
                               const struct cpl_load *background,
                               double stretch, struct cpl_times_result *out)
{
	judge(times, background, stretch, out);
}

int cpl_times_share(struct cpl_times *times, const int *users,
                    struct cpl_error *err)
{
	if (times_room(&times->shared, &times->max_shared, times->n_rates,
	               sizeof(*times->shared), err))
		return -1;
	times->n_shared = 0;
	for (int64_t i = 0; i < times->n_rates; i++)
		if (users[times->rate[i].link] > 1)
			times->shared[times->n_shared++] = (int)i;
	for (int k = 0; k < times->n_phases; k++) {
		struct times_phase *phase = &times->phase[k];

		if (times_room(&phase->shared, &phase->max_shared,
		               phase->n_links, sizeof(*phase->shared), err))
			return -1;
		phase->n_shared = 0;
		if (times->n_phases == 1) { /* its links are the rates' */
			phase->n_shared = times->n_shared;
			memcpy(phase->shared, times->shared,
			       (size_t)times->n_shared * sizeof(int));
			continue;
		}
		for (int64_t i = 0; i < phase->n_links; i++)
			if (users[phase->link[i].link] > 1)
				phase->shared[phase->n_shared++] = (int)i;
	}
	times->shares = true;
	return 0;
}

const int *cpl_times_shared(const struct cpl_times *times, int64_t *n)
{
	*n = times->n_shared;
	return times->shared;
}
