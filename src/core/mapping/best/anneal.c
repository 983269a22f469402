/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "mapping/best/best.h"

/* Each temperature is this share of the one before, 1/200 in the end. */
#define STEPS 200
#define COOLING 0.97386
#define SAMPLES 1000
/* A layout worse than the start by this share is given up. */
#define SLACK 0.02
/* An exchange tries so many ranks of a host. */
#define CANDIDATES 16
/* The clock is looked at once in this many evaluations. */
#define CHECK_EVERY 1024

static double mean_change(struct cpl_swaps *s)
{
	int ranks = s->req->graph->ranks, n = 0;
	double sum = 0;

	for (int i = 0; i < SAMPLES; i++) {
		int a = cpl_swaps_below(s, ranks);
		int b = cpl_swaps_neighbour(s, a);
		double delta;

		if (b < 0)
			continue;
		delta = cpl_swaps_delta(s, a, b);
		if (delta == 0)
			continue;
		sum += delta < 0 ? -delta : delta;
		n++;
	}
	return n ? sum / n : 0;
}

/* Picks the rank of b's host that suits best to change hosts with a, beginning
 * with b; of many only some are tried. */
static int best_of_host(const struct cpl_swaps *s, int a, int b, double *delta,
                        int64_t *done)
{
	int host = s->ranks.set[b], n = s->req->slots[host], best = b;
	int at = s->ranks.position[b] - s->ranks.first[host];

	*delta = cpl_swaps_delta(s, a, b);
	if (n > CANDIDATES)
		n = CANDIDATES;
	for (int k = 1; k < n; k++) {
		int c = s->ranks.member[s->ranks.first[host] +
		                        (at + k) % s->req->slots[host]];
		double x = cpl_swaps_delta(s, a, c);

		++*done;
		if (x < *delta) {
			*delta = x;
			best = c;
		}
	}
	return best;
}

static double anneal(struct cpl_swaps *s, double heat, int64_t size)
{
	const struct cpl_map_request *req = s->req;
	int ranks = req->graph->ranks;
	double temperature = heat * mean_change(s), change = 0;
	int64_t per_step = size / STEPS + 1, done = 0;

	for (int step = 0; step < STEPS; step++) {
		/* The last steps are a plain descent. */
		if (step >= STEPS - STEPS / 20)
			temperature = 0;
		for (int64_t i = 0; i < per_step; i++, done++) {
			int a = cpl_swaps_below(s, ranks), b;
			double delta;

			if (done % CHECK_EVERY == 0 && cpl_map_expired(req))
				return change;
			b = cpl_swaps_partner(s, a);
			if (b < 0)
				continue;
			b = best_of_host(s, a, b, &delta, &i);
			if (delta > 0 &&
			    delta >= temperature * cpl_swaps_exponential(s))
				continue;
			cpl_members_swap(&s->ranks, a, b);
			change += delta;
		}
		temperature *= COOLING;
	}
	return change;
}

int cpl_map_anneal(const struct cpl_map_request *req,
                   const struct cpl_tables *tables, const int *kind,
                   double heat, int64_t size, uint64_t seed, int *rank_host,
                   struct cpl_error *err)
{
	size_t bytes = (size_t)req->graph->ranks * sizeof(int);
	int *before = malloc(bytes + 1);
	struct cpl_swaps s;
	double cost;

	if (!before)
		return cpl_fail_memory(err);
	memcpy(before, rank_host, bytes);
	if (cpl_swaps_init(&s, req, tables, rank_host, seed, err)) {
		free(before);
		return -1;
	}
	s.kind = kind;
	cost = cpl_swaps_cost(&s);
	if (anneal(&s, heat, size) > SLACK * cost)
		memcpy(rank_host, before, bytes);
	cpl_swaps_free(&s);
	free(before);
	return 0;
}
