/* SPDX-License-Identifier: GPL-2.0-or-later */
/* umesh and spread (Jain 2016, 3.2.3) differ in how far away partners may be. */
#include "signature/pattern/pattern.h"

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
	return 0;
}

static const char *const spread_keys[] = {"type",  "ranks", "degree",
                                          "bytes", "seed",  NULL};
static const char *const umesh_keys[] = {"type",  "ranks", "range", "degree",
                                         "bytes", "seed",  NULL};

static int parse_spread(const json_t *params, struct pattern *p,
                        struct cpl_error *err)
{
	if (!p->range)
		p->range = INT32_MAX;
	return pattern_ranks(params, p, err) || pattern_bytes(params, p, err) ||
	                       take_degree(params, p, err) ||
	                       pattern_seed(params, p, err)
	               ? -1
	               : 0;
}

static int parse_umesh(const json_t *params, struct pattern *p,
                       struct cpl_error *err)
{
	if (cpl_json_take_int(params, "range", 1, INT32_MAX, &p->range, err))
		return -1;
	return parse_spread(params, p, err);
}

/* These are the offsets in the window that a row has taken. A few are kept in a
 * list, which mostly need not be searched: there is a bit for each of 64 kinds of
 * offsets, and it tells when none of that kind was taken. Many are kept in a table
 * with open addressing. */
#define FEW 48
#define TABLE (2 * PATTERN_MAX_DEGREE)

struct few_draws {
	int n;
	uint64_t kinds;
	int list[FEW];
};

/* This returns false when the offset is taken already. */
static inline bool take_few(struct few_draws *few, int offset)
{
	uint64_t kind = UINT64_C(1) << (offset & 63);

	if (few->kinds & kind)
		for (int i = 0; i < few->n; i++)
			if (few->list[i] == offset)
				return false;
	few->kinds |= kind;
	few->list[few->n++] = offset;
	return true;
}

static bool take_many(int *table, int offset)
{
	uint32_t at = (uint32_t)offset * UINT32_C(0x9e3779b1) % TABLE;

	while (table[at]) {
		if (table[at] == offset + 1)
			return false;
		at = (at + 1) % TABLE;
	}
	table[at] = offset + 1;
	return true;
}

/* This is one row while it is drawn; offsets leave out the rank itself. */
struct draw {
	uint64_t key;
	int64_t low, window, degree;
	int rank;
	double bytes;
};

static inline void put_entry(const struct draw *d, int offset,
                             struct cpl_comm_entry *out)
{
	int64_t to = d->low + offset;

	*out = (struct cpl_comm_entry){d->rank, (int)(to + (to >= d->rank)),
	                               d->bytes, 1.0};
}

/* Floyd's sample without replacement takes draw j of the window's first j + 1, or
 * the last of these where that is taken already. */
static inline int pick(const struct draw *d, int64_t n)
{
	uint64_t first = (uint64_t)(d->window - d->degree + n + 1);

	return (int)cpl_random_scale(cpl_random_at(d->key, (uint64_t)n + 1),
	                             first);
}

static void draw_few(const struct draw *d, struct cpl_comm_entry *out)
{
	struct few_draws few;

	few.n = 0;
	few.kinds = 0;
	for (int64_t n = 0; n < d->degree; n++) {
		int offset = pick(d, n);

		if (!take_few(&few, offset)) {
			offset = (int)(d->window - d->degree + n);
			take_few(&few, offset);
		}
		put_entry(d, offset, &out[n]);
	}
}

static void draw_many(const struct draw *d, struct cpl_comm_entry *out)
{
	int table[TABLE] = {0};

	for (int64_t n = 0; n < d->degree; n++) {
		int offset = pick(d, n);

		if (!take_many(table, offset)) {
			offset = (int)(d->window - d->degree + n);
			take_many(table, offset);
		}
		put_entry(d, offset, &out[n]);
	}
}

static int64_t row(const struct pattern *p, int rank,
                   struct cpl_comm_entry *out)
{
	int64_t low = (int64_t)rank - p->range, high = (int64_t)rank + p->range;
	uint64_t spread = (uint64_t)(p->degree[1] - p->degree[0]) + 1;
	struct draw d = {.key = cpl_random_key(p->seed, (uint64_t)rank),
	                 .rank = rank,
	                 .bytes = p->bytes[0]};

	d.low = low < 0 ? 0 : low;
	d.window = (high >= p->ranks ? p->ranks - 1 : high) - d.low;
	d.degree = p->degree[0] +
	           (int64_t)cpl_random_scale(cpl_random_at(d.key, 0), spread);
	if (d.degree > d.window)
		d.degree = d.window;
	if (d.degree <= FEW)
		draw_few(&d, out);
	else
		draw_many(&d, out);
	return d.degree;
}

const struct pattern_type pattern_umesh = {
        .name = "umesh",
        .summary = "distinct partners within a range of ranks",
        .keys = umesh_keys,
        .parse = parse_umesh,
        .row = row,
};
const struct pattern_type pattern_spread = {
        .name = "spread",
        .summary = "random partners among all ranks",
        .keys = spread_keys,
        .parse = parse_spread,
        .row = row,
};
