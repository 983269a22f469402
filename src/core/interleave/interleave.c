/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "interleave/interleave.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "graph/arena.h"

#define ROUNDS 20
#define STREAM_STARTS 1

struct turning {
	const struct cpl_network *net;
	const struct cpl_periodic_job *job;
	int n;
	double slot; /* seconds */
	int n_slots, n_links;
	int64_t link[CPL_INTERLEAVE_LINKS];
	double bandwidth[CPL_INTERLEAVE_LINKS];
	int *turns;   /* [n] slots of a job's period */
	double *rate; /* [n][n_links][n_slots] bytes/s without offset */
	double *sum;  /* [n_links][n_slots] of all jobs as they are turned */
	int *at;      /* [n] slots by which a job is turned */
	double sent;  /* bytes of all on these links in a circle */
	struct cpl_arena arena;
};

void cpl_interleaving_free(struct cpl_interleaving *out)
{
	cpl_free_all(out->offset, out->periodic);
	*out = (struct cpl_interleaving){NULL};
}

static int check(const struct cpl_periodic_job *job, int n,
                 struct cpl_error *err)
{
	for (int j = 0; j < n; j++) {
		if (!(job[j].period > 0) || !isfinite(job[j].period))
			return cpl_fail(err, "job %d: its period is not a time",
			                j + 1);
		for (int b = 0; b < job[j].n_bursts; b++) {
			const struct cpl_burst *of = &job[j].burst[b];

			if (!(of->begin >= 0) || !(of->seconds > 0) ||
			    !(of->begin + of->seconds <=
			      job[j].period * (1 + 1e-9)))
				return cpl_fail(err,
				                "job %d: a burst is not inside "
				                "its period",
				                j + 1);
		}
	}
	return 0;
}

static bool goes_into(double circle, double period)
{
	double times = floor(circle / period + 0.5);

	return times >= 1 &&
	       fabs(circle / times - period) <= CPL_INTERLEAVE_PART * period;
}

/* The multiple of the longest period into which most jobs' periods go. */
static void find_circle(struct turning *t, struct cpl_interleaving *out)
{
	double longest = 0;
	int best = 0;

	for (int j = 0; j < t->n; j++)
		longest = fmax(longest, t->job[j].period);
	for (int m = 1; m <= CPL_INTERLEAVE_PERIODS; m++) {
		int count = 0;

		for (int j = 0; j < t->n; j++)
			count += goes_into(m * longest, t->job[j].period);
		if (count > best) {
			best = count;
			out->circle = m * longest;
		}
	}
	for (int j = 0; j < t->n; j++)
		out->periodic[j] = goes_into(out->circle, t->job[j].period);
	t->n_slots =
	        CPL_INTERLEAVE_SLOTS * (int)floor(out->circle / longest + 0.5);
	t->slot = out->circle / t->n_slots;
}

/* What a job wants of a link at the most, in bytes/s. */
static double peak_of(const struct cpl_periodic_job *job, int64_t link)
{
	double peak = 0;

	for (int b = 0; b < job->n_bursts; b++)
		peak = fmax(peak, job->burst[b].load->link[link] /
		                          job->burst[b].seconds);
	return peak;
}

/* Keep the link among those of which most is wanted; ties to the first. */
static void keep_link(struct turning *t, int64_t link, double wanted,
                      double bandwidth, double *over)
{
	int k = t->n_links;

	if (k == CPL_INTERLEAVE_LINKS && wanted / bandwidth <= over[k - 1])
		return;
	if (k < CPL_INTERLEAVE_LINKS)
		t->n_links++;
	else
		k--;
	for (; k && over[k - 1] < wanted / bandwidth; k--) {
		over[k] = over[k - 1];
		t->link[k] = t->link[k - 1];
		t->bandwidth[k] = t->bandwidth[k - 1];
	}
	over[k] = wanted / bandwidth;
	t->link[k] = link;
	t->bandwidth[k] = bandwidth;
}

/* Links of which several jobs together want more than they can give. */
static void find_links(struct turning *t)
{
	double over[CPL_INTERLEAVE_LINKS];

	for (int64_t l = 0; l < t->net->n_links; l++) {
		double bandwidth = cpl_network_link_bandwidth(t->net, l);
		double wanted = 0;
		int users = 0;

		for (int j = 0; j < t->n; j++) {
			double peak = peak_of(&t->job[j], l);

			wanted += peak;
			users += peak > 0;
		}
		if (users > 1 && wanted > bandwidth * (1 + 1e-9))
			keep_link(t, l, wanted, bandwidth, over);
	}
}

static double *rates_of(const struct turning *t, int job, int link)
{
	return t->rate + ((size_t)job * (size_t)t->n_links + (size_t)link) *
	                         (size_t)t->n_slots;
}

/* Add a burst from `begin` on, as far as it is in each slot. */
static void add_burst(const struct turning *t, double begin, double seconds,
                      double rate, double *to)
{
	int first = (int)floor(begin / t->slot + 1e-9);
	double end = begin + seconds;

	for (int s = first; s * t->slot < end - 1e-12 * end; s++) {
		double from = fmax(begin, s * t->slot);
		double until = fmin(end, (s + 1) * t->slot);

		to[s % t->n_slots] += rate * fmax(until - from, 0) / t->slot;
	}
}

/* Lay the job round the circle; one that goes into none is the same all over.
 */
static void lay_job(struct turning *t, int j, bool periodic)
{
	const struct cpl_periodic_job *job = &t->job[j];
	double circle = t->n_slots * t->slot;
	int times = (int)floor(circle / job->period + 0.5);

	t->turns[j] = periodic ? t->n_slots / times : 1;
	for (int l = 0; l < t->n_links; l++) {
		double *to = rates_of(t, j, l);

		for (int b = 0; b < job->n_bursts; b++) {
			const struct cpl_burst *of = &job->burst[b];
			double bytes = of->load->link[t->link[l]];

			for (int k = 0; k < times && periodic; k++)
				add_burst(t,
				          circle / times *
				                  (k + of->begin / job->period),
				          of->seconds, bytes / of->seconds, to);
			for (int s = 0; s < t->n_slots && !periodic; s++)
				to[s] += bytes / job->period;
		}
	}
}

static void turn_job(struct turning *t, int j, int by, double sign)
{
	for (int l = 0; l < t->n_links; l++) {
		const double *own = rates_of(t, j, l);
		double *sum = t->sum + (size_t)l * (size_t)t->n_slots;

		for (int s = 0; s < t->n_slots; s++)
			sum[(s + by) % t->n_slots] += sign * own[s];
	}
}

/* What is wanted beyond what links can give, in bytes/s times slots, of all
 * jobs with one more that is turned by `by`; j < 0: none. */
static double excess(const struct turning *t, int j, int by)
{
	double out = 0;

	for (int l = 0; l < t->n_links; l++) {
		const double *own = j < 0 ? NULL : rates_of(t, j, l);
		const double *sum = t->sum + (size_t)l * (size_t)t->n_slots;

		for (int s = 0; s < t->n_slots; s++) {
			int to = s + by < t->n_slots ? s + by
			                             : s + by - t->n_slots;
			double wanted = sum[to] + (own ? own[s] : 0);

			/* Sums of what fits are not exact. */
			if (wanted > t->bandwidth[l] * (1 + 1e-9))
				out += wanted - t->bandwidth[l];
		}
	}
	return out;
}

/* Each job in turn takes the slot in which least is wanted. */
static double descend(struct turning *t, const bool *periodic, int first)
{
	double now = excess(t, -1, 0);

	for (int round = 0; round < ROUNDS; round++) {
		double before = now;

		for (int j = first + 1; j < t->n; j++) {
			int best = t->at[j];

			if (!periodic[j])
				continue;
			turn_job(t, j, t->at[j], -1);
			for (int by = 0; by < t->turns[j]; by++) {
				double with = excess(t, j, by);

				if (with < now * (1 - 1e-12)) {
					now = with;
					best = by;
				}
			}
			t->at[j] = best;
			turn_job(t, j, best, 1);
		}
		if (!(now < before * (1 - 1e-9)))
			break;
	}
	return now;
}

/* Begin with these turns. */
static void set_turns(struct turning *t, const int *at)
{
	memset(t->sum, 0,
	       (size_t)t->n_links * (size_t)t->n_slots * sizeof(*t->sum));
	for (int j = 0; j < t->n; j++) {
		t->at[j] = at ? at[j] : 0;
		turn_job(t, j, t->at[j], 1);
	}
}

static void search_turns(struct turning *t, int starts, uint64_t seed,
                         struct cpl_interleaving *out)
{
	int first = 0, *drawn = t->at + t->n, *best_at = drawn + t->n;
	double best, zero;

	while (first < t->n && !out->periodic[first])
		first++;
	set_turns(t, NULL);
	zero = best = excess(t, -1, 0);
	memset(best_at, 0, (size_t)t->n * sizeof(*best_at));
	for (int k = 0; k <= starts && zero > 0; k++) {
		double with;

		for (int j = 0; j < t->n; j++)
			drawn[j] =
			        k && j > first && out->periodic[j]
			                ? (int)cpl_random_below(
			                          seed, STREAM_STARTS,
			                          (uint64_t)k * (uint64_t)t->n +
			                                  (uint64_t)j,
			                          (uint64_t)t->turns[j])
			                : 0;
		set_turns(t, drawn);
		with = descend(t, out->periodic, first);
		if (with < best * (1 - 1e-9)) {
			best = with;
			memcpy(best_at, t->at, (size_t)t->n * sizeof(*best_at));
		}
	}
	for (int j = 0; j < t->n; j++)
		out->offset[j] = best_at[j] * t->slot;
	out->before = t->sent > 0 ? zero / t->sent : 0;
	out->after = t->sent > 0 ? best / t->sent : 0;
}

static int lay_jobs(struct turning *t, const bool *periodic,
                    struct cpl_error *err)
{
	int64_t cells = (int64_t)t->n_links * t->n_slots;

	t->turns = cpl_arena_take(&t->arena, t->n, sizeof(*t->turns));
	t->at = cpl_arena_take(&t->arena, 3 * (int64_t)t->n, sizeof(*t->at));
	t->sum = cpl_arena_take(&t->arena, cells, sizeof(*t->sum));
	t->rate = cpl_arena_take(&t->arena, cells * t->n, sizeof(*t->rate));
	if (t->arena.failed)
		return cpl_arena_end(&t->arena, -1, err);
	for (int j = 0; j < t->n; j++)
		lay_job(t, j, periodic[j]);
	for (int64_t i = 0; i < cells * t->n; i++)
		t->sent += t->rate[i];
	return 0;
}

int cpl_interleave(const struct cpl_network *net,
                   const struct cpl_periodic_job *job, int n, int starts,
                   uint64_t seed, struct cpl_interleaving *out,
                   struct cpl_error *err)
{
	struct turning t = {.net = net, .job = job, .n = n};

	*out = (struct cpl_interleaving){NULL};
	if (check(job, n, err))
		return -1;
	out->offset = calloc((size_t)n + 1, sizeof(*out->offset));
	out->periodic = calloc((size_t)n + 1, sizeof(*out->periodic));
	if (!out->offset || !out->periodic) {
		cpl_interleaving_free(out);
		return cpl_fail_memory(err);
	}
	if (!n)
		return 0;
	find_circle(&t, out);
	find_links(&t);
	if (lay_jobs(&t, out->periodic, err)) {
		cpl_interleaving_free(out);
		return -1;
	}
	out->n_links = t.n_links;
	search_turns(&t, starts, seed, out);
	return cpl_arena_end(&t.arena, 0, err);
}
