/* SPDX-License-Identifier: GPL-2.0-or-later */
/* umesh and spread (Jain 2016, 3.2.3) differ in how far partners may be. */
#include "signature/pattern/pattern.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/random.h"

static int take_degree(const json_t *params, struct pattern *p,
                       struct cpl_error *err)
{
	const json_t *list = json_object_get(params, "degree");

	for (size_t i = 0; i < 2; i++) {
		const json_t *v = json_array_get(list, i);
		json_int_t n = json_integer_value(v);

		if (json_array_size(list) != 2 || !json_is_integer(v) ||
		    n < 0 || n > PATTERN_MAX_DEGREE ||
		    (i == 1 && n < p->degree[0]))
			return cpl_fail(err,
			                "\"degree\" must be [fewest, most] "
			                "partners, 0 to %d",
			                PATTERN_MAX_DEGREE);
		p->degree[i] = (int)n;
	}
	p->max_degree = p->degree[1];
	p->taken = calloc((size_t)p->ranks, 1);
	return p->taken ? 0 : cpl_fail_memory(err);
}

static int parse_spread(const json_t *params, struct pattern *p,
                        struct cpl_error *err)
{
	static const char *const keys[] = {"type",  "ranks", "degree",
	                                   "bytes", "seed",  NULL};

	p->range = INT32_MAX;
	if (cpl_json_known_keys(params, NULL, keys, err) ||
	    pattern_ranks(params, p, err) || pattern_bytes(params, p, err) ||
	    take_degree(params, p, err) || pattern_seed(params, p, err))
		return -1;
	return 0;
}

static int parse_umesh(const json_t *params, struct pattern *p,
                       struct cpl_error *err)
{
	static const char *const keys[] = {"type",  "ranks", "range", "degree",
	                                   "bytes", "seed",  NULL};
	int64_t range;
	int rc = cpl_json_int(params, "range", 1, INT32_MAX, &range, err);

	if (rc < 0)
		return -1;
	if (rc == 0)
		return cpl_fail(err, "\"range\" is missing");
	p->range = (int)range;
	if (cpl_json_known_keys(params, NULL, keys, err) ||
	    pattern_ranks(params, p, err) || pattern_bytes(params, p, err) ||
	    take_degree(params, p, err) || pattern_seed(params, p, err))
		return -1;
	return 0;
}

/* Rank of place i of the window, which leaves the rank itself out. */
static int place(int64_t low, int64_t i, int rank)
{
	int64_t to = low + i;

	return (int)(to + (to >= rank));
}

/* Floyd's sample without replacement: draw j of the window's first j + 1. */
static int64_t row(const struct pattern *p, int rank,
                   struct cpl_comm_entry *out)
{
	int64_t low = (int64_t)rank - p->range, high = (int64_t)rank + p->range;
	uint64_t spread = (uint64_t)(p->degree[1] - p->degree[0]) + 1;
	uint64_t stream = (uint64_t)rank;
	int64_t window, degree, n = 0;

	low = low < 0 ? 0 : low;
	high = high >= p->ranks ? p->ranks - 1 : high;
	window = high - low; /* without the rank itself */
	degree = p->degree[0] +
	         (int64_t)cpl_random_below(p->seed, stream, 0, spread);
	if (degree > window)
		degree = window;
	for (int64_t j = window - degree; j < window; j++) {
		uint64_t pick = cpl_random_below(
		        p->seed, stream, (uint64_t)n + 1, (uint64_t)j + 1);
		int to = place(low, (int64_t)pick, rank);

		if (p->taken[to])
			to = place(low, j, rank);
		p->taken[to] = 1;
		out[n++] = (struct cpl_comm_entry){rank, to, p->bytes[0], 1.0};
	}
	for (int64_t i = 0; i < n; i++)
		p->taken[out[i].to] = 0;
	return n;
}

const struct pattern_type pattern_umesh = {"umesh", parse_umesh, row};
const struct pattern_type pattern_spread = {"spread", parse_spread, row};
