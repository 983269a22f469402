/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Segments that are wished for: had wherever the units of a set have them. */
#include "unit.h"

#include "base/random.h"
#include "network_text.h"
#include "placement/bounds.h"

#define NODES 48
#define HOME 4  /* nodes of a router */
#define UNIT 12 /* of a block */

static struct cpl_network *machine(void)
{
	return parse_network(
	        "{\"format\":\"commplace-network\",\"version\":1,"
	        "\"name\":\"df\",\"type\":\"dragonfly\",\"groups\":4,"
	        "\"rows\":1,\"columns\":3,\"nodes_per_router\":4,"
	        "\"global_links_per_group_pair\":1,\"nodes\":\"n[0-47]\"}");
}

static void read_bounds(struct cpl_bounds *bounds, const struct cpl_network *net,
                        const char *rules)
{
	struct cpl_error err = {""};
	int rc = cpl_bounds_read(
	        bounds, net, rules,
	        "b0:n[0-11] b1:n[12-23] b2:n[24-35] b3:n[36-47]", &err);

	assert_string_equal(err.text, "");
	assert_int_equal(rc, 0);
}

static void texts(void **state)
{
	static const struct {
		const char *rules, *error;
	} row[] = {
	        {"blocks=2,wish=4", NULL},
	        {"wish=2", NULL},
	        {"wish=0", "wish is a number from 1"},
	        {"wish=5", "wish=5: a router of network 'df' has 4 nodes"},
	        {"wish=2147483648", "wish is a number from 1"},
	        {"blocks=1,segment=2,wish=2", "a job with segment=S has no wish"},
	        {"contiguous,wish=2", "contiguous is a rule by itself"},
	};
	struct cpl_network *net = machine();

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct cpl_error err = {""};
		struct cpl_bounds bounds;
		int rc = cpl_bounds_read(&bounds, net, row[i].rules,
		                         "b0:n[0-47]", &err);

		assert_int_equal(rc, row[i].error ? -1 : 0);
		if (!rc)
			cpl_bounds_free(&bounds);
		else if (!strstr(err.text, row[i].error))
			fail_msg("%s: %s", row[i].rules, err.text);
	}
	cpl_network_free(net);
}

/* One random set, and the nodes that are free. */
struct set {
	unsigned char is_free[NODES];
	int node[NODES], n, required[3], n_required;
};

static void draw(struct set *set, int wish, uint64_t *random)
{
	int order[NODES], n_free = 0;

	*set = (struct set){.n = 0};
	for (int i = 0, some = 30 + (int)(cpl_random_next(random) % 70);
	     i < NODES; i++)
		if ((int)(cpl_random_next(random) % 100) < some) {
			set->is_free[i] = 1;
			order[n_free++] = i;
		}
	for (int i = n_free - 1; i > 0; i--) {
		int k = (int)(cpl_random_next(random) % (uint64_t)(i + 1));
		int swap = order[i];

		order[i] = order[k];
		order[k] = swap;
	}
	set->n = n_free / 2 / wish * wish;
	for (int i = 0; i < set->n; i++)
		set->node[i] = order[i];
	for (int i = 0; i < set->n && i < 3; i += 2)
		set->required[set->n_required++] = set->node[i];
}

/* Have the units of the set enough segments, with its required nodes? */
static bool can_be_had(const struct set *set, int wish)
{
	bool used[NODES / UNIT] = {false};
	int segments = 0, must = 0;

	for (int i = 0; i < set->n; i++)
		used[set->node[i] / UNIT] = true;
	for (int h = 0; h < NODES / HOME; h++) {
		int has = 0, required = 0;

		for (int i = h * HOME; i < (h + 1) * HOME; i++)
			has += set->is_free[i] && used[i / UNIT];
		for (int i = 0; i < set->n_required; i++)
			required += set->required[i] / HOME == h;
		if ((required + wish - 1) / wish > has / wish)
			return false;
		segments += has / wish;
		must += (required + wish - 1) / wish;
	}
	return segments >= set->n / wish && must <= set->n / wish;
}

static void check_set(const struct set *set, const int *node, int wish)
{
	bool used[NODES / UNIT] = {false}, taken[NODES] = {false};
	int count[NODES / HOME] = {0};

	for (int i = 0; i < set->n; i++)
		used[set->node[i] / UNIT] = true;
	for (int i = 0; i < set->n; i++) {
		assert_true(set->is_free[node[i]]);
		assert_false(taken[node[i]]);
		assert_true(used[node[i] / UNIT]);
		taken[node[i]] = true;
		count[node[i] / HOME]++;
		/* A segment stands in a row. */
		assert_int_equal(node[i] / HOME, node[i / wish * wish] / HOME);
	}
	for (int h = 0; h < NODES / HOME; h++)
		assert_int_equal(count[h] % wish, 0);
	for (int i = 0; i < set->n_required; i++)
		assert_true(taken[set->required[i]]);
}

static void sets(void **state)
{
	struct cpl_network *net = machine();
	int had = 0, not_had = 0;
	uint64_t random = 7;

	(void)state;
	for (int i = 0; i < 3000; i++) {
		int wish = 2 + i % 3, node[NODES], rc;
		struct cpl_bounds bounds;
		struct set set;
		bool was;
		struct cpl_placement_request req = {.net = net,
		                                    .free = set.is_free,
		                                    .required = set.required,
		                                    .bounds = &bounds};
		char rules[32];

		draw(&set, wish, &random);
		if (!set.n)
			continue;
		req.n_nodes_wanted = set.n;
		req.n_required = set.n_required;
		snprintf(rules, sizeof(rules), "blocks=4,wish=%d", wish);
		read_bounds(&bounds, net, rules);
		memcpy(node, set.node, sizeof(node));
		was = cpl_bounds_granted(&bounds, node, set.n);
		rc = cpl_bounds_grant(&req, node, NULL);
		assert_int_equal(rc, !was && !can_be_had(&set, wish));
		assert_int_equal(cpl_bounds_granted(&bounds, node, set.n), !rc);
		if (rc || was)
			assert_memory_equal(node, set.node,
			                    (size_t)set.n * sizeof(int));
		else
			check_set(&set, node, wish);
		had += !rc && !was;
		not_had += rc;
		/* What is granted stays. */
		memcpy(set.node, node, sizeof(node));
		assert_int_equal(cpl_bounds_grant(&req, node, NULL), rc);
		assert_memory_equal(node, set.node, sizeof(node));
		cpl_bounds_free(&bounds);
	}
	assert_true(had > 500 && not_had > 500);
	cpl_network_free(net);
}

/* As much of the set stays as there is in segments, in its order. */
static void keeps(void **state)
{
	struct cpl_network *net = machine();
	unsigned char is_free[NODES];
	struct cpl_bounds bounds;
	/* Of routers 2, 0 and 1: two, three and one. */
	int node[6] = {9, 8, 1, 3, 0, 5};
	static const int wanted[6] = {9, 8, 1, 3, 0, 2};
	struct cpl_placement_request req = {.net = net,
	                                    .free = is_free,
	                                    .n_nodes_wanted = 6,
	                                    .bounds = &bounds};
	char *words;

	(void)state;
	memset(is_free, 1, sizeof(is_free));
	read_bounds(&bounds, net, "blocks=1,wish=2");
	words = cpl_bounds_words(&bounds, node, 6);
	assert_string_equal(words,
	                    "kept on block b0; the segments of 2 that its "
	                    "signature implies were not to be had");
	free(words);
	assert_int_equal(cpl_bounds_keep(&req, NULL, node, NULL), 0);
	assert_memory_equal(node, wanted, sizeof(node));
	words = cpl_bounds_words(&bounds, node, 6);
	assert_string_equal(words, "kept on block b0, in the segments of 2 that "
	                           "its signature implies");
	free(words);
	cpl_bounds_free(&bounds);
	cpl_network_free(net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(texts),
	                                   cmocka_unit_test(sets),
	                                   cmocka_unit_test(keeps)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
