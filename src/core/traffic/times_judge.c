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
	                         .open = times->open,
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

/* So many links are judged with one instruction. */
#define IN_VECTOR 2
typedef double doubles __attribute__((vector_size(IN_VECTOR * sizeof(double))));
typedef int64_t double_masks __attribute__((vector_size(IN_VECTOR * sizeof(double))));

static inline doubles load_vector(const double *from)
{
	doubles x;

	memcpy(&x, from, sizeof(x));
	return x;
}

static inline doubles choose_vector(double_masks which, doubles yes, doubles no)
{
	return (doubles)((which & (double_masks)yes) | (~which & (double_masks)no));
}

/* cpl_slowed to the bit, without branches. */
static inline doubles slowed_vector(doubles u, doubles squares)
{
	const doubles none = {0};
	doubles whole = u * u, two = whole - squares, three = 2 * two - whole;
	doubles more = choose_vector(two > none, two, none);
	doubles most = choose_vector(u * squares < whole, whole / squares - u, none);

	more += choose_vector((two > none) & (three > none), two * three / u, none);
	return 1 + u + choose_vector((u + more) * squares > whole, most, more);
}

/* What others are to links that are judged together. */
struct links_others {
	double rate[TIMES_TOGETHER], squares[TIMES_TOGETHER]; /* what they send */
	double slowed[TIMES_TOGETHER];
	double busy[TIMES_TOGETHER], waits[TIMES_TOGETHER]; /* seconds */
};

/* utilise, busy and wait of each. */
static inline void judge_vectors(const struct times_met *m, struct links_others *by)
{
	const doubles none = {0}, full = none + CPL_TIMES_SATURATED;

	for (int i = 0; i < TIMES_TOGETHER; i += IN_VECTOR) {
		doubles rate = load_vector(by->rate + i);
		doubles bandwidth = load_vector(m->bandwidth + i);
		doubles inverse = load_vector(m->inverse + i);
		doubles u = choose_vector(rate > none, rate / bandwidth, none);
		doubles slowed = slowed_vector(
		        u, load_vector(by->squares + i) * inverse * inverse);
		doubles busy_for = load_vector(m->bytes + i) * slowed / bandwidth;
		doubles waits;

		u = choose_vector(u > full, full, u);
		waits = load_vector(m->messages + i) *
		        (u / (2 * (1 - u)) * CPL_TIMES_TRAIN *
		         load_vector(m->packet + i));
		memcpy(by->slowed + i, &slowed, sizeof(slowed));
		memcpy(by->busy + i, &busy_for, sizeof(busy_for));
		memcpy(by->waits + i, &waits, sizeof(waits));
	}
}

/* Rates that are shared, and what others send there. */
static inline void take_others(const struct cpl_times *times,
                               const struct times_met *m, int n,
                               const struct cpl_meeting *sum,
                               struct links_others *by)
{
	memset(by->rate, 0, sizeof(by->rate));
	memset(by->squares, 0, sizeof(by->squares));
	for (int i = 0; i < n; i++) {
		const struct cpl_meeting *at = &sum[times->meeting[m->shared[i]]];
		double own = times->own[m->shared[i]];

		by->rate[i] = at->rate - own;
		by->squares[i] = at->squares - own * own;
	}
}

static void put_met(const struct cpl_times *times, struct times_phase *phase,
                    int64_t link)
{
	const struct times_link *l = &phase->link[link];
	struct times_met *m = &phase->met[phase->n_met / TIMES_TOGETHER];
	int64_t i = phase->n_met++ % TIMES_TOGETHER;

	if (!i) {
		*m = (struct times_met){.bytes = {0}};
		for (int k = 0; k < TIMES_TOGETHER; k++)
			m->bandwidth[k] = m->inverse[k] = 1;
	}
	m->bytes[i] = l->bytes;
	m->bandwidth[i] = l->bandwidth;
	m->inverse[i] = 1 / l->bandwidth;
	m->messages[i] = l->messages;
	m->packet[i] = l->packet;
	m->shared[i] = times->place[l->rate];
	m->at[i] = (int)link;
	m->stage[i] = stage_of(times, l->link);
}

static int list_met(const struct cpl_times *times, struct times_phase *phase,
                    struct cpl_error *err)
{
	if (times_room(&phase->met, &phase->max_met,
	               phase->n_links / TIMES_TOGETHER + 1, sizeof(*phase->met),
	               err))
		return -1;
	phase->n_met = 0;
	for (int64_t i = 0; i < phase->n_links; i++)
		if (times->place[phase->link[i].rate] >= 0)
			put_met(times, phase, i);
	return 0;
}

int cpl_times_share(struct cpl_times *times, const int *meeting, double stretch,
                    struct cpl_error *err)
{
	int64_t n = times->n_rates;

	if (times_room(&times->meeting, &times->max_meeting, n, sizeof(int), err) ||
	    times_room(&times->place, &times->max_place, n, sizeof(int), err) ||
	    times_room(&times->shared_rate, &times->max_shared_rate, n,
	               sizeof(double), err) ||
	    times_room(&times->own, &times->max_own, n, sizeof(double), err))
		return -1;
	times->n_shared = 0;
	for (int64_t i = 0; i < n; i++) {
		int at = meeting[times->rate[i].link];

		times->place[i] = at < 0 ? -1 : times->n_shared;
		if (at < 0)
			continue;
		times->meeting[times->n_shared] = at;
		times->shared_rate[times->n_shared++] = times->rate[i].rate;
	}
	cpl_times_stretch(times, stretch);
	for (int k = 0; k < times->n_phases; k++)
		if (list_met(times, &times->phase[k], err))
			return -1;
	return 0;
}

int cpl_times_shared(const struct cpl_times *times)
{
	return times->n_shared;
}

void cpl_times_stretch(struct cpl_times *times, double stretch)
{
	for (int i = 0; i < times->n_shared; i++)
		times->own[i] = times->shared_rate[i] / stretch;
}

void cpl_times_sum_anew(const struct cpl_times *times,
                        const struct cpl_meetings *meetings)
{
	for (int i = 0; i < times->n_shared; i++) {
		int at = times->meeting[i];

		if (meetings->anew[at])
			continue;
		meetings->anew[at] = true;
		meetings->sum[at] = (struct cpl_meeting){0};
	}
}

bool cpl_times_send(const struct cpl_times *times,
                    const struct cpl_meetings *meetings)
{
	bool any = false;

	for (int i = 0; i < times->n_shared; i++) {
		struct cpl_meeting *at = &meetings->sum[times->meeting[i]];
		double own = times->own[i];

		if (!meetings->anew[times->meeting[i]])
			continue;
		any = true;
		at->rate += own;
		at->squares += own * own;
	}
	return any;
}

/* Seconds of one execution among the others. */
static double judge_among(struct cpl_times *times, const struct times_phase *phase,
                          const struct cpl_meeting *sum)
{
	struct times_stages stages = phase->quiet;
	double waiting = 0, seconds = phase->alone;
	bool others = false;

	for (int64_t i = 0; phase->exact && i < phase->n_links; i++)
		times->share[i].capacity = phase->link[i].bandwidth;
	for (int64_t k = 0; k < phase->n_met; k += TIMES_TOGETHER) {
		const struct times_met *m = &phase->met[k / TIMES_TOGETHER];
		int n = phase->n_met - k < TIMES_TOGETHER
		              ? (int)(phase->n_met - k)
		              : TIMES_TOGETHER;
		struct links_others by;

		take_others(times, m, n, sum, &by);
		judge_vectors(m, &by);
		for (int i = 0; i < n; i++) {
			double *most = &stages.most[m->stage[i]];

			others |= by.rate[i] > 0;
			*most = by.busy[i] > *most ? by.busy[i] : *most;
			waiting += by.waits[i];
			if (phase->exact)
				times->share[m->at[i]].capacity =
				        m->bandwidth[i] / by.slowed[i];
		}
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

double cpl_times_among(struct cpl_times *times, const struct cpl_meeting *sum)
{
	double seconds = 0;

	for (int k = 0; k < times->n_phases; k++)
		seconds += times->phase[k].weight *
		           judge_among(times, &times->phase[k], sum);
	return seconds;
}
