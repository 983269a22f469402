/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "base/random.h"
#include "network_text.h"
#include "placement/bounds.h"

#define NODES 48
#define UNIT 6 /* nodes of one, as they are listed */
#define UNITS (NODES / UNIT)

static struct cpl_network *machine(void)
{
	return parse_network(
	        "{\"format\":\"commplace-network\",\"version\":1,"
	        "\"name\":\"df\",\"type\":\"dragonfly\",\"groups\":4,"
	        "\"rows\":2,\"columns\":3,\"nodes_per_router\":2,"
	        "\"global_links_per_group_pair\":1,\"nodes\":\"n[0-47]\"}");
}

/* Units of UNIT nodes in domains of two. */
static void write_units(char *text, size_t size, bool domains)
{
	size_t used = 0;

	for (int u = 0; u < UNITS; u++) {
		if (domains)
			used += (size_t)snprintf(text + used, size - used,
			                         "d%d/", u / 2);
		used += (size_t)snprintf(text + used, size - used,
		                         "b%d:n[%d-%d] ", u, u * UNIT,
		                         u * UNIT + UNIT - 1);
	}
}

static void texts(void **state)
{
	static const struct {
		const char *rules, *units, *error;
	} row[] = {
	        {"segment=4", "b0:n[0-5]", NULL},
	        {"blocks=1,segment=4,spread,consolidate", "a/b0:n[0-5]", NULL},
	        {"switches=2", "s0:n[0-5] s1:n[6-9] s2:other[0-99]", NULL},
	        {"contiguous", "all:n[0-47]", NULL},
	        {"", "b0:n[0-5]", "there are no rules"},
	        {"segment", "b0:n0", "segment is a number from 1"},
	        {"segment=0", "b0:n0", "segment is a number from 1"},
	        {"blocks=2147483648", "b0:n0", "blocks is a number from 1"},
	        {"switches=-1", "b0:n0", "switches is a number from 1"},
	        {"near", "b0:n0", "rules are"},
	        {"segment=2 spread", "b0:n0", "behind a rule comes a comma"},
	        {"spread", "b0:n0", "spread and consolidate need segment"},
	        {"contiguous,segment=2", "b0:n0", "contiguous is a rule by"},
	        {"segment=2", "", "there are no units"},
	        {"segment=2", "n[0-5]", "a unit is NAME:HOSTS"},
	        {"segment=2", ":n[0-5]", "a unit is NAME:HOSTS"},
	        {"segment=2", "b0:n[0-5] b1:n5", "host n5 is in two units"},
	        {"segment=2", "b0:n[0-", "n[0-"},
	        {"segment=2", "b0:x[0-4000000]", "65584"},
	};
	struct cpl_network *net = machine();

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct cpl_bounds bounds;
		struct cpl_error err = {""};
		int rc = cpl_bounds_read(&bounds, net, row[i].rules,
		                         row[i].units, &err);

		if (!row[i].error) {
			assert_string_equal(err.text, "");
			assert_int_equal(rc, 0);
			cpl_bounds_free(&bounds);
			continue;
		}
		assert_int_equal(rc, -1);
		if (!strstr(err.text, row[i].error))
			fail_msg("%s: %s", row[i].rules, err.text);
	}
	cpl_network_free(net);
}

/* One random question. */
struct question {
	struct cpl_network *net;
	unsigned char is_free[NODES];
	int free_of[UNITS];
	int n, segment, most, required[4], n_required;
	bool spread, consolidate, contiguous;
	int chosen[NODES];
	uint64_t random;
};

static int draw(struct question *q, int below)
{
	return (int)(cpl_random_next(&q->random) % (uint64_t)below);
}

static void make(struct question *q, struct cpl_network *net, uint64_t seed)
{
	int n_free = 0, node[NODES];

	*q = (struct question){.net = net, .random = seed};
	for (int i = 0, some = 20 + draw(q, 70); i < NODES; i++) {
		q->is_free[i] = draw(q, 100) < some;
		q->free_of[i / UNIT] += q->is_free[i];
		if (q->is_free[i])
			node[n_free++] = i;
	}
	switch (draw(q, 3)) {
	case 0:
		q->contiguous = true;
		q->n = 1 + draw(q, 9);
		break;
	case 1:
		q->most = 1 + draw(q, 4);
		q->n = 1 + draw(q, 20);
		break;
	default:
		q->most = 1;
		q->segment = 1 + draw(q, UNIT);
		q->n = q->segment * (1 + draw(q, 6));
		q->spread = draw(q, 3) == 0;
		q->consolidate = draw(q, 3) == 0;
	}
	if (q->n > n_free)
		q->n = 0;
	for (int i = 0; i < q->n; i++) {
		int k = i + draw(q, n_free - i), swap = node[i];

		node[i] = node[k];
		node[k] = swap;
		q->chosen[i] = node[i];
	}
	/* As policies do, the choice has what is required. */
	for (int i = 0; i < q->n && q->n_required < draw(q, 3); i++)
		q->required[q->n_required++] = q->chosen[i];
}

static int most_of(int *count, int units, int most)
{
	int sum = 0;

	for (int k = 0; k < most; k++) {
		int best = 0;

		for (int u = 1; u < units; u++)
			if (count[u] > count[best])
				best = u;
		sum += count[best];
		count[best] = 0;
	}
	return sum;
}

/* Is there such a set, without required nodes? */
static bool exists(const struct question *q)
{
	int run = 0, best = 0, segments = 0, here = 0, count[UNITS];

	memcpy(count, q->free_of, sizeof(count));
	if (q->contiguous) {
		for (int i = 0; i < NODES; i++) {
			run = q->is_free[i] ? run + 1 : 0;
			best = run > best ? run : best;
		}
		return best >= q->n;
	}
	if (!q->segment)
		return most_of(count, UNITS, q->most) >= q->n;
	for (int u = 0; u < UNITS; u++) {
		int holds = count[u] / q->segment;

		if (q->spread && holds > 1)
			holds = 1;
		segments += holds;
		here = u % 2 ? here + holds : holds;
		best = here > best ? here : best;
	}
	return (q->consolidate ? best : segments) * q->segment >= q->n;
}

/* Is it a set of free nodes with the required ones that keeps the rules? */
static bool keeps(const struct question *q, const int *node)
{
	int count[UNITS] = {0}, units = 0, low = NODES, high = -1, found = 0;
	int domain = -1;
	bool seen[NODES] = {false};

	for (int i = 0; i < q->n; i++) {
		if (!q->is_free[node[i]] || seen[node[i]])
			return false;
		seen[node[i]] = true;
		count[node[i] / UNIT]++;
		low = node[i] < low ? node[i] : low;
		high = node[i] > high ? node[i] : high;
	}
	for (int i = 0; i < q->n_required; i++)
		found += seen[q->required[i]];
	if (found != q->n_required)
		return false;
	if (q->contiguous)
		return high - low == q->n - 1;
	for (int u = 0; u < UNITS; u++) {
		units += count[u] > 0;
		if (q->segment && count[u] % q->segment)
			return false;
		if (q->spread && count[u] > q->segment)
			return false;
		if (q->consolidate && count[u] && domain >= 0 &&
		    domain != u / 2)
			return false;
		if (count[u])
			domain = u / 2;
	}
	/* Segments stand in a row. */
	for (int i = 0; i < q->n && q->segment; i++)
		if (node[i] / UNIT !=
		    node[i / q->segment * q->segment] / UNIT)
			return false;
	return q->segment || units <= q->most;
}

static int by_node(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* The same whatever the order and what is required. */
static bool keeps_rules(const struct question *q, const int *node)
{
	struct question any = *q;
	int sorted[NODES];

	any.n_required = 0;
	memcpy(sorted, node, sizeof(sorted));
	qsort(sorted, (size_t)q->n, sizeof(int), by_node);
	return keeps(&any, sorted);
}

static void rules_of(const struct question *q, char *text, size_t size)
{
	if (q->contiguous)
		snprintf(text, size, "contiguous");
	else if (q->segment)
		snprintf(text, size, "blocks=%d,segment=%d%s%s", q->most,
		         q->segment, q->spread ? ",spread" : "",
		         q->consolidate ? ",consolidate" : "");
	else
		snprintf(text, size, "switches=%d", q->most);
}

static int fit(struct question *q, int *node)
{
	struct cpl_placement_request req = {.net = q->net,
	                                    .free = q->is_free,
	                                    .n_nodes_wanted = q->n,
	                                    .required = q->required,
	                                    .n_required = q->n_required};
	char rules[100], units[1000] = "all:n[0-47]";
	struct cpl_error err = {""};
	struct cpl_bounds bounds;
	int rc, count[UNITS];

	rules_of(q, rules, sizeof(rules));
	if (!q->contiguous)
		write_units(units, sizeof(units), q->consolidate);
	assert_int_equal(
	        cpl_bounds_read(&bounds, q->net, rules, units, &err), 0);
	req.bounds = &bounds;
	memcpy(node, q->chosen, sizeof(q->chosen));
	assert_int_equal(cpl_bounds_hold(&bounds, node, q->n, count),
	                 keeps_rules(q, node));
	rc = cpl_bounds_fit(&req, node, &err);
	if (!rc)
		assert_true(cpl_bounds_hold(&bounds, node, q->n, count));
	cpl_bounds_free(&bounds);
	return rc;
}

/* A set is found where there is one, and keeps the rules; what keeps them stays
 * as it is. */
static void sets(void **state)
{
	struct cpl_network *net = machine();
	int found = 0, missed = 0, same = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 20000; seed++) {
		int node[NODES], again[NODES], rc;
		struct question q;

		make(&q, net, seed * 7919);
		if (!q.n)
			continue;
		rc = fit(&q, node);
		if (rc) {
			assert_int_equal(rc, 1);
			missed++;
			assert_memory_equal(node, q.chosen, sizeof(node));
			if (!q.n_required && exists(&q))
				fail_msg("seed %d: a set was missed",
				         (int)seed);
			continue;
		}
		found++;
		if (!keeps(&q, node))
			fail_msg("seed %d: not within the rules", (int)seed);
		memcpy(q.chosen, node, sizeof(node));
		assert_int_equal(fit(&q, again), 0);
		if (!q.segment) {
			assert_memory_equal(node, again,
			                    (size_t)q.n * sizeof(int));
			same++;
		}
	}
	assert_true(found > 4000 && missed > 1000 && same > 2000);
	cpl_network_free(net);
}

/* Segments larger than a unit take few units of one domain. */
static void wide_segments(void **state)
{
	struct cpl_network *net = machine();
	unsigned char is_free[NODES];
	struct cpl_placement_request req = {
	        .net = net, .free = is_free, .n_nodes_wanted = 20};
	int node[NODES], domain[2];
	struct cpl_error err = {""};
	struct cpl_bounds bounds;
	char units[1000];

	(void)state;
	memset(is_free, 1, sizeof(is_free));
	write_units(units, sizeof(units), true);
	assert_int_equal(cpl_bounds_read(&bounds, net, "blocks=2,segment=10",
	                                 units, &err),
	                 0);
	req.bounds = &bounds;
	for (int i = 0; i < 22; i++)
		node[i] = i + 8;
	assert_int_equal(cpl_bounds_fit(&req, node, &err), 0);
	for (int i = 0; i < 20; i++)
		assert_int_equal(node[i] / (2 * UNIT),
		                 node[i / 10 * 10] / (2 * UNIT));
	domain[0] = node[0] / (2 * UNIT);
	domain[1] = node[10] / (2 * UNIT);
	assert_int_not_equal(domain[0], domain[1]);
	/* Nobody fits 22 nodes into segments of 10. */
	req.n_nodes_wanted = 22;
	assert_int_equal(cpl_bounds_fit(&req, node, &err), 1);
	cpl_bounds_free(&bounds);
	cpl_network_free(net);
}

static void words(void **state)
{
	static const struct {
		const char *rules, *words;
		int node[4];
	} row[] = {
	        {"contiguous", "nodes kept in a row", {0, 1, 2, 3}},
	        {"blocks=1,segment=2",
	         "segments of 2 kept on blocks b0, b2",
	         {0, 1, 12, 13}},
	        {"blocks=1,segment=2,spread",
	         "segments of 2 kept apart on blocks b0, b2",
	         {0, 1, 12, 13}},
	        {"blocks=1,segment=4", "segments of 4 kept on block b7",
	         {42, 43, 44, 45}},
	        {"switches=2", "kept on switches b0, b1, 2 at most",
	         {0, 1, 6, 7}},
	};
	struct cpl_network *net = machine();
	char units[1000];

	(void)state;
	write_units(units, sizeof(units), false);
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct cpl_error err = {""};
		struct cpl_bounds bounds;
		char *text;

		assert_int_equal(cpl_bounds_read(&bounds, net, row[i].rules,
		                                 units, &err),
		                 0);
		text = cpl_bounds_words(&bounds, row[i].node, 4);
		assert_string_equal(text, row[i].words);
		free(text);
		cpl_bounds_free(&bounds);
	}
	cpl_network_free(net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(texts), cmocka_unit_test(sets),
	        cmocka_unit_test(wide_segments), cmocka_unit_test(words)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
