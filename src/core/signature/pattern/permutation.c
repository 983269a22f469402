/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "signature/pattern/pattern.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/random.h"

/* One random cycle goes through all ranks, so that nobody sends to itself. */
static int random_cycle(struct pattern *p, struct cpl_error *err)
{
	int *order = malloc((size_t)p->ranks * sizeof(*order));

	if (!order)
		return cpl_fail_memory(err);
	for (int i = 0; i < p->ranks; i++)
		order[i] = i;
	cpl_random_shuffle(order, p->ranks, p->seed, CPL_STREAM_PERMUTATION);
	for (int i = 0; i < p->ranks; i++)
		p->next[order[i]] = order[i + 1 == p->ranks ? 0 : i + 1];
	free(order);
	return 0;
}

static const char *const keys[] = {"type",  "ranks", "bytes",
                                   "shift", "seed",  NULL};

static int parse(const json_t *params, struct pattern *p, struct cpl_error *err)
{
	int shift = 1;
	bool shifted = json_object_get(params, "shift") != NULL;

	if (pattern_ranks(params, p, err) || pattern_bytes(params, p, err) ||
	    pattern_seed(params, p, err) ||
	    cpl_json_take_int(params, "shift", 1, p->ranks, &shift, err))
		return -1;
	if (shifted && json_object_get(params, "seed"))
		return cpl_fail(err, "takes \"shift\" or \"seed\", not both");
	p->max_degree = 1;
	p->next = malloc((size_t)p->ranks * sizeof(*p->next));
	if (!p->next)
		return cpl_fail_memory(err);
	if (!shifted)
		return random_cycle(p, err);
	for (int i = 0; i < p->ranks; i++)
		p->next[i] = (int)(((int64_t)i + shift) % p->ranks);
	return 0;
}

static int64_t row(const struct pattern *p, int rank,
                   struct cpl_comm_entry *out)
{
	if (p->next[rank] == rank)
		return 0;
	*out = (struct cpl_comm_entry){rank, p->next[rank], p->bytes[0], 1.0};
	return 1;
}

const struct pattern_type pattern_permutation = {
        .name = "permutation",
        .summary = "each rank sends to one other",
        .keys = keys,
        .parse = parse,
        .row = row,
};
