/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rounds of a collective operation: an end goes on to the next one when its own flows
 * of this one have ended, whatever others still send. Of many flows, whose ways would take
 * too long to find, all ends are the mean one. */
#include "traffic/times_internal.h"

#include <math.h>
#include <string.h>

int times_rounds_from(const struct cpl_times *times, int first)
{
	int n = 1;

	while (first + n < times->n_phases && times->phase[first].round >= 0 &&
	       times->phase[first + n].stated == times->phase[first].stated)
		n++;
	return n;
}

int times_rounds_room(struct cpl_times *times, const struct times_phase *phase,
                      struct cpl_error *err)
{
	if (!phase->chained)
		return 0;
	return times_room(&times->chain, &times->max_chain,
	                  2 * (int64_t)times->n_ends, sizeof(*times->chain),
	                  err) ||
	                       times_room(&times->per_byte, &times->max_per_byte,
	                                  phase->n_links,
	                                  sizeof(*times->per_byte), err)
	               ? -1
	               : 0;
}

/* Where packets adapt each flow takes what the busiest links on its own way do, passed in
 * turn. */
static void stages_of_flows(struct cpl_times *times, const struct times_phase *phase)
{
	for (int64_t k = 0; k < phase->n_flows; k++) {
		const struct times_flow *flow = &phase->flow[k];
		struct times_stages s = times_no_links;

		for (int i = flow[0].first; i < flow[1].first; i++) {
			int at = phase->way[i].at;
			const struct times_link *l = &phase->link[at];

			times_pass_link(&s, times, l->link,
			                l->bytes * times->per_byte[at]);
		}
		times->progress[k].end = times_pass_all(times, phase, &s);
	}
}

/* Seconds of a flow that has its links for itself. */
static double pass_first(const struct cpl_times *times,
                         const struct times_phase *phase,
                         const struct times_flow *flow)
{
	double most = 0;

	for (int i = flow[0].first; i < flow[1].first; i++)
		most = fmax(most, phase->way[i].part *
		                          times->per_byte[phase->way[i].at]);
	return most * flow->bytes;
}

/* When each flow of a round has ended: ranks come to it one by one, and of those that
 * share a link the first have it for themselves, the last wait for all: half way. */
static void end_flows(struct cpl_times *times, const struct times_phase *phase)
{
	if (phase->exact && phase->n_flows)
		times_fill(times, phase);
	else
		stages_of_flows(times, phase);
	for (int64_t k = 0; k < phase->n_flows; k++) {
		double *end = &times->progress[k].end;
		double first = pass_first(times, phase, &phase->flow[k]);

		*end = (*end + fmin(first, *end)) / 2;
	}
}

/* The same of many flows, that end together. */
static double end_many(const struct cpl_times *times, const struct times_phase *phase,
                       const struct times_stages *stages)
{
	double end = times_pass_all(times, phase, stages);

	return (end + fmin(phase->own, end)) / 2;
}

void times_round_alone(struct cpl_times *times, struct times_phase *phase)
{
	if (!phase->chained) {
		phase->alone = end_many(times, phase, &phase->quiet);
		return;
	}
	end_flows(times, phase);
	for (int64_t k = 0; k < phase->n_flows; k++)
		phase->flow[k].alone = times->progress[k].end;
}

void times_begin_rounds(struct cpl_times *times, const struct times_phase *first,
                        bool among)
{
	int64_t n = among ? times->n_shared : times->n_rates;

	if (first->chained)
		memset(times->chain, 0,
		       (size_t)times->n_ends * sizeof(*times->chain));
	times->together = (struct times_chain){0};
	/* There is no array of them where all hosts are on one node. */
	for (int64_t i = 0; i < n; i++)
		times->passed[i] = 0;
	/* Among those that meet only links where they do pass. */
	times->busiest = among ? first->bound : 0;
	times->busiest_link = among ? first->bound_link : -1;
}

static void pass_flows(struct cpl_times *times, const struct times_phase *phase,
                       bool others, double waits)
{
	struct times_chain *now = times->chain, *next = now + times->n_ends;

	if (others)
		end_flows(times, phase);
	memcpy(next, now, (size_t)times->n_ends * sizeof(*now));
	for (int64_t k = 0; k < phase->n_flows; k++) {
		const struct times_flow *flow = &phase->flow[k];
		struct times_chain c = now[flow->from];

		c.seconds += (others ? times->progress[k].end : flow->alone) +
		             waits + flow->late;
		c.waiting += waits;
		c.latency += flow->late;
		if (c.seconds > next[flow->from].seconds)
			next[flow->from] = c;
		if (c.seconds > next[flow->to].seconds)
			next[flow->to] = c;
	}
	memcpy(now, next, (size_t)times->n_ends * sizeof(*now));
}

void times_end_round(struct cpl_times *times, const struct times_phase *phase,
                     const struct times_stages *stages, bool others, double waits)
{
	struct times_chain *all = &times->together;

	if (phase->chained) {
		pass_flows(times, phase, others, waits);
		return;
	}
	all->seconds += (others ? end_many(times, phase, stages) : phase->alone) +
	                waits + phase->latency;
	all->waiting += waits;
	all->latency += phase->latency;
}

struct times_judged times_end_rounds(const struct cpl_times *times,
                                     const struct times_phase *phase)
{
	struct times_chain last = times->together;

	for (int i = 0; phase->chained && i < times->n_ends; i++)
		if (times->chain[i].seconds > last.seconds)
			last = times->chain[i];
	return (struct times_judged){
	        .seconds = fmax(last.seconds, times->busiest),
	        .waiting = last.waiting,
	        .latency = last.latency,
	        .busiest = times->busiest,
	        .link = times->busiest_link};
}
