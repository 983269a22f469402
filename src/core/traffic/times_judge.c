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

/* Which of the stages a link is of. */
static int stage_of(const struct cpl_times *times, int link)
{
	const struct cpl_network *net = times->net;
	int64_t port = link - net->n_links, n = cpl_network_port_cables(net);

	if (port >= 0)
		return port >= 2 * n ? 2 : port >= n;
	return 3 + (times->staged ? net->link_class_of[link] : 0);
}

static void pass_link(struct times_stages *s, const struct cpl_times *times,
                      int link, double seconds)
{
	double *most = &s->most[stage_of(times, link)];

	*most = seconds > *most ? seconds : *most;
	if (s->link < 0 || seconds > s->busiest ||
	    (seconds == s->busiest && link < s->link)) {
		s->busiest = seconds;
		s->link = link;
	}
}

static int count_stages(const struct cpl_times *times)
{
	return times->staged ? 3 + times->net->n_classes : 4;
}

/* How long many flows take that pass these one after the other. */
static double pass_all(const struct cpl_times *times,
                       const struct times_stages *s)
{
	int n = count_stages(times);
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

/* What others are to a link. */
struct link_others {
	double utilisation, slowed; /* by cpl_slowed */
};

/* Of those that send so much there, with such squares. */
static inline struct link_others utilise(double rate, double squares,
                                         double bandwidth, double inverse,
                                         bool chooses)
{
	double u = rate > 0 ? rate / bandwidth : 0, part = inverse;

	if (chooses) {
		part = fmin(u, 1);
		u *= part;
		part /= bandwidth;
	}
	return (struct link_others){u, cpl_slowed(u, squares * part * part)};
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
                                      const struct times_phase *phase,
                                      const struct cpl_load *background,
                                      bool own_in)
{
	const double *sum = background ? background->squares : NULL;
	struct phase_times t = {.stages = no_links};
	bool others = false;

	/* There is no separate branch for links that others leave alone: on a
	 * busy machine a processor cannot foresee which these are. */
	for (int64_t i = 0; i < phase->n_links; i++) {
		const struct times_link *l = &phase->link[i];
		double rate = background ? *cpl_times_at(background, l->link) : 0;
		double squares = sum ? sum[l->link] : 0;
		double own = own_in ? times->rate[l->rate].rate : 0;
		struct link_others by;

		rate -= own;
		squares -= sum ? own * own : 0;
		by = utilise(rate, squares, l->bandwidth, 1 / l->bandwidth,
		             may_choose(times, l->link));
		others |= rate > 0;
		pass_link(&t.stages, times, l->link, busy(l, by.slowed));
		t.waiting += l->messages * wait(by.utilisation, l->packet);
		if (phase->exact)
			times->share[i].capacity = l->bandwidth / by.slowed;
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

void cpl_times_judge(struct cpl_times *times, const struct cpl_load *background,
                     bool own_in, struct cpl_times_result *out)
{
	double longest = 0, sum = 0, most = 0; /* of a stated phase, its rounds */
	int64_t link = -1;

	*out = (struct cpl_times_result){
	        .link = -1, .phase = -1, .exact = true};
	for (int k = 0; k < times->n_phases; k++) {
		struct times_phase *phase = &times->phase[k];
		struct phase_times t =
		        judge_phase(times, phase, background, own_in);
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

/* The links of a phase that are met on. */
static void list_met(const struct cpl_times *times, struct times_phase *phase)
{
	phase->n_met = 0;
	for (int64_t i = 0; i < phase->n_links; i++) {
		const struct times_link *l = &phase->link[i];

		if (times->place[l->rate] < 0)
			continue;
		phase->met[phase->n_met++] =
		        (struct times_met){.bytes = l->bytes,
		                           .bandwidth = l->bandwidth,
		                           .inverse = 1 / l->bandwidth,
		                           .messages = l->messages,
		                           .packet = l->packet,
		                           .shared = times->place[l->rate],
		                           .at = (int)i,
		                           .stage = stage_of(times, l->link)};
	}
}

int cpl_times_share(struct cpl_times *times, const int *meeting, double stretch,
                    struct cpl_error *err)
{
	if (times_room(&times->shared, &times->max_shared, times->n_rates,
	               sizeof(*times->shared), err) ||
	    times_room(&times->place, &times->max_place, times->n_rates,
	               sizeof(*times->place), err))
		return -1;
	times->n_shared = 0;
	for (int64_t i = 0; i < times->n_rates; i++) {
		const struct cpl_times_rate *r = &times->rate[i];
		int at = meeting[r->link];

		times->place[i] = at < 0 ? -1 : (int)times->n_shared;
		if (at >= 0)
			times->shared[times->n_shared++] =
			        (struct times_shared){.rate = r->rate,
			                              .link = (int)r->link,
			                              .meeting = at};
	}
	cpl_times_stretch(times, stretch);
	for (int k = 0; k < times->n_phases; k++) {
		struct times_phase *phase = &times->phase[k];

		if (times_room(&phase->met, &phase->max_met, phase->n_links,
		               sizeof(*phase->met), err))
			return -1;
		list_met(times, phase);
	}
	return 0;
}

int64_t cpl_times_shared(const struct cpl_times *times)
{
	return times->n_shared;
}

void cpl_times_stretch(struct cpl_times *times, double stretch)
{
	for (int64_t i = 0; i < times->n_shared; i++)
		times->shared[i].own = times->shared[i].rate / stretch;
}

void cpl_times_sum_anew(const struct cpl_times *times, struct cpl_meeting *all,
                        uint32_t round)
{
	for (int64_t i = 0; i < times->n_shared; i++) {
		struct cpl_meeting *at = &all[times->shared[i].meeting];

		at->rate = at->squares = 0;
		at->round = round;
	}
}

bool cpl_times_send(const struct cpl_times *times, struct cpl_meeting *all,
                    uint32_t round)
{
	bool any = false;

	for (int64_t i = 0; i < times->n_shared; i++) {
		const struct times_shared *s = &times->shared[i];
		struct cpl_meeting *at = &all[s->meeting];

		if (at->round != round)
			continue;
		any = true;
		at->rate += s->own;
		at->squares += s->own * s->own;
	}
	return any;
}

/* Seconds of one execution among the others. */
static double judge_among(struct cpl_times *times, const struct times_phase *phase,
                          const struct cpl_meeting *all)
{
	struct times_stages stages = phase->quiet;
	double waiting = 0, seconds = phase->alone;
	bool others = false;

	for (int64_t i = 0; phase->exact && i < phase->n_links; i++)
		times->share[i].capacity = phase->link[i].bandwidth;
	for (int64_t k = 0; k < phase->n_met; k++) {
		const struct times_met *m = &phase->met[k];
		const struct times_shared *s = &times->shared[m->shared];
		double rate = all[s->meeting].rate - s->own;
		double squares = all[s->meeting].squares - s->own * s->own;
		struct link_others by =
		        utilise(rate, squares, m->bandwidth, m->inverse,
		                may_choose(times, s->link));
		double *most = &stages.most[m->stage];
		double busy = m->bytes * by.slowed / m->bandwidth;

		others |= rate > 0;
		*most = busy > *most ? busy : *most;
		waiting += m->messages * wait(by.utilisation, m->packet);
		if (phase->exact)
			times->share[m->at].capacity = m->bandwidth / by.slowed;
	}
	for (int i = 0; i < count_stages(times); i++)
		stages.busiest = fmax(stages.busiest, stages.most[i]);
	if (phase->n_flows)
		waiting /= (double)phase->n_flows;
	if (others)
		seconds = phase->exact ? fill(times, phase)
		                       : pass_all(times, &stages);
	return seconds + waiting + phase->latency;
}

double cpl_times_among(struct cpl_times *times, const struct cpl_meeting *all)
{
	double seconds = 0;

	for (int k = 0; k < times->n_phases; k++)
		seconds += times->phase[k].weight *
		           judge_among(times, &times->phase[k], all);
	return seconds;
}
