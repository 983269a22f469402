/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long the phases of a placed job take. */
#include "traffic/times_internal.h"

#include <math.h>
#include <string.h>

/* Seconds that a link takes for a phase's bytes at least. */
static double busy(const struct times_link *l, double slowed)
{
	return l->bytes * slowed / l->bandwidth;
}

void times_alone(struct cpl_times *times, struct times_phase *phase)
{
	phase->quiet = times_no_links;
	for (int64_t i = 0; i < phase->n_links; i++) {
		const struct times_link *l = &phase->link[i];

		times_pass_link(&phase->quiet, times, l->link, busy(l, 1));
		if (phase->exact)
			times->share[i].capacity = l->bandwidth;
		if (phase->chained)
			times->per_byte[i] = 1 / l->bandwidth;
	}
	if (phase->round >= 0)
		times_round_alone(times, phase);
	else
		phase->alone = phase->exact && phase->n_flows
		                       ? times_fill(times, phase)
		                       : times_pass_all(times, phase, &phase->quiet);
}

/* A packet that chooses waits where all its ways are busy. */
enum choice { CHOICE_NONE, CHOICE_OF_TWO, CHOICE_OF_ALL };

static enum choice choice_at(const struct cpl_times *times, int64_t link)
{
	const struct cpl_routing *r = times->choosing;

	if (!r || link >= times->net->n_links ||
	    (r->chooses && !r->chooses(times->net, link)))
		return CHOICE_NONE;
	return r->flags & CPL_ROUTING_TWO_WAYS ? CHOICE_OF_TWO : CHOICE_OF_ALL;
}

/* What others are to a link. */
struct link_others {
	double utilisation, slowed; /* by cpl_slowed */
};

/* Of those that send so much there, with such squares. */
static inline struct link_others utilise(double rate, double squares,
                                         double bandwidth, double inverse,
                                         enum choice choice)
{
	double u = rate > 0 ? rate / bandwidth : 0, part = inverse;

	if (choice) {
		part = fmin(u, 1);
		part = choice == CHOICE_OF_TWO
		               ? sqrt(part) * sqrt(sqrt(sqrt(part)))
		               : part;
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
	m->stage[i] = times_stage_of(times, l->link);
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

/* Others: by link, with or without the job itself, or by meetings. */
struct times_others {
	const struct cpl_load *background;
	bool own_in;
	const struct cpl_meeting *sum;
};

/* Of one execution. */
struct phase_times {
	bool others; /* any */
	double waiting; /* of the mean flow's messages */
	struct times_stages stages;
};

static struct phase_times pass_background(struct cpl_times *times,
                                          const struct times_phase *phase,
                                          const struct times_others *by)
{
	const struct cpl_load *background = by->background;
	const double *sum = background ? background->squares : NULL;
	struct phase_times t = {.stages = times_no_links};

	/* There is no separate branch for links that others leave alone: on a
	 * busy machine a processor cannot foresee which these are. */
	for (int64_t i = 0; i < phase->n_links; i++) {
		const struct times_link *l = &phase->link[i];
		double rate = background ? *cpl_times_at(background, l->link) : 0;
		double squares = sum ? sum[l->link] : 0;
		double own = by->own_in ? times->rate[l->rate].rate : 0;
		struct link_others others;
		double seconds;

		rate -= own;
		squares -= sum ? own * own : 0;
		others = utilise(rate, squares, l->bandwidth, 1 / l->bandwidth,
		                 choice_at(times, l->link));
		t.others |= rate > 0;
		seconds = busy(l, others.slowed);
		times_pass_link(&t.stages, times, l->link, seconds);
		if (phase->round >= 0)
			times_pass_again(times, l->rate, l->link, seconds);
		t.waiting += l->messages * wait(others.utilisation, l->packet);
		if (phase->exact)
			times->share[i].capacity = l->bandwidth / others.slowed;
		if (phase->chained)
			times->per_byte[i] = others.slowed / l->bandwidth;
	}
	return t;
}

static struct phase_times pass_meetings(struct cpl_times *times,
                                        const struct times_phase *phase,
                                        const struct cpl_meeting *sum)
{
	struct phase_times t = {.stages = phase->quiet};

	for (int64_t i = 0; phase->exact && i < phase->n_links; i++)
		times->share[i].capacity = phase->link[i].bandwidth;
	for (int64_t i = 0; phase->chained && i < phase->n_links; i++)
		times->per_byte[i] = 1 / phase->link[i].bandwidth;
	for (int64_t k = 0; k < phase->n_met; k += TIMES_TOGETHER) {
		const struct times_met *m = &phase->met[k / TIMES_TOGETHER];
		int n = phase->n_met - k < TIMES_TOGETHER
		              ? (int)(phase->n_met - k)
		              : TIMES_TOGETHER;
		struct links_others by;

		take_others(times, m, n, sum, &by);
		judge_vectors(m, &by);
		for (int i = 0; i < n; i++) {
			double *most = &t.stages.most[m->stage[i]];

			t.others |= by.rate[i] > 0;
			*most = by.busy[i] > *most ? by.busy[i] : *most;
			t.waiting += by.waits[i];
			if (phase->round >= 0)
				times_pass_again(times, m->shared[i],
				                 phase->link[m->at[i]].link,
				                 by.busy[i]);
			if (phase->exact)
				times->share[m->at[i]].capacity =
				        m->bandwidth[i] / by.slowed[i];
			if (phase->chained)
				times->per_byte[m->at[i]] =
				        by.slowed[i] / m->bandwidth[i];
		}
	}
	for (int i = 0; i < times_count_stages(times); i++)
		t.stages.busiest = fmax(t.stages.busiest, t.stages.most[i]);
	return t;
}

static struct phase_times pass_others(struct cpl_times *times,
                                      const struct times_phase *phase,
                                      const struct times_others *by)
{
	struct phase_times t = by->sum ? pass_meetings(times, phase, by->sum)
	                               : pass_background(times, phase, by);

	if (phase->n_flows)
		t.waiting /= (double)phase->n_flows;
	return t;
}

/* A phase by itself: all its flows start together, and it ends with the last. */
static struct times_judged judge_phase(struct cpl_times *times,
                                       const struct times_phase *phase,
                                       const struct times_others *by)
{
	struct phase_times t = pass_others(times, phase, by);
	struct times_judged out = {.seconds = phase->alone,
	                           .waiting = t.waiting,
	                           .latency = phase->latency,
	                           .busiest = t.stages.busiest,
	                           .link = t.stages.link};

	if (t.others)
		out.seconds = phase->exact ? times_fill(times, phase)
		                           : times_pass_all(times, phase, &t.stages);
	out.seconds += out.waiting + out.latency;
	return out;
}

/* A phase by itself, or the rounds of one from number *k on, which becomes that of what
 * comes after. */
static struct times_judged judge_next(struct cpl_times *times, int *k,
                                      const struct times_others *by)
{
	const struct times_phase *phase = &times->phase[*k];
	const struct times_phase *end = phase + times_rounds_from(times, *k);

	*k = (int)(end - times->phase);
	if (phase->round < 0)
		return judge_phase(times, phase, by);
	times_begin_rounds(times, phase, by->sum);
	for (; phase < end; phase++) {
		struct phase_times t = pass_others(times, phase, by);

		times_end_round(times, phase, &t.stages, t.others, t.waiting);
	}
	return times_end_rounds(times, phase - 1);
}

void times_whole(struct cpl_times *times)
{
	const struct times_others none = {0};

	for (int k = 0; k < times->n_phases;) {
		struct times_phase *phase = &times->phase[k];

		if (phase->round >= 0) {
			struct times_judged t = judge_next(times, &k, &none);

			phase->whole = t.seconds;
			phase->bound = t.busiest;
			phase->bound_link = t.link;
		} else {
			phase->whole = times->phase[k++].alone + phase->latency;
		}
	}
}

void cpl_times_judge(struct cpl_times *times, const struct cpl_load *background,
                     bool own_in, struct cpl_times_result *out)
{
	const struct times_others by = {background, own_in, NULL};
	double longest = 0;

	*out = (struct cpl_times_result){
	        .link = -1, .phase = -1, .exact = true};
	for (int k = 0; k < times->n_phases;) {
		const struct times_phase *phase = &times->phase[k];
		struct times_judged t = judge_next(times, &k, &by);
		double seconds = phase->weight * t.seconds;

		out->seconds += seconds;
		out->latency += phase->weight * t.latency;
		out->waiting += phase->weight * t.waiting;
		out->busiest += phase->weight * t.busiest;
		for (; phase < &times->phase[k]; phase++) {
			out->alone += phase->weight * phase->whole;
			out->exact = out->exact && phase->exact;
		}
		if (seconds > longest) {
			longest = seconds;
			out->link = t.link;
			out->phase = phase[-1].stated;
		}
	}
}

double cpl_times_among(struct cpl_times *times, const struct cpl_meeting *sum)
{
	const struct times_others by = {.sum = sum};
	double seconds = 0;

	for (int k = 0; k < times->n_phases;) {
		double weight = times->phase[k].weight;

		seconds += weight * judge_next(times, &k, &by).seconds;
	}
	return seconds;
}
