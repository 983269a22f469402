/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Features by hand, tables, trees, and models of known functions. */
#include <math.h>
#include <unistd.h>

#include "unit.h"

#include "base/random.h"
#include "learn/concordant.h"
#include "learn/features.h"
#include "learn/learn.h"
#include "learn/models.h"
#include "learn/timed.h"
#include "network_text.h"
#include "signature/signature.h"

static void five_figures(void **state)
{
	const double value[] = {0, 1, 2, 3, 14};
	struct cpl_feature_five f;
	struct cpl_error err = {""};

	(void)state;
	assert_int_equal(cpl_feature_five(value, 5, &f, &err), 0);
	assert_true(f.mean == 4 && f.mean_ao == 14 && f.mean_to == 14 &&
	            f.max == 14 && f.n_ao == 1);
	assert_int_equal(cpl_feature_five(value + 1, 3, &f, &err), 0);
	assert_true(f.mean == 2 && f.mean_ao == 3 && f.max == 3 && f.n_ao == 1);
	assert_int_equal(cpl_feature_five(value + 1, 1, &f, &err), 0);
	assert_true(f.mean == 1 && f.mean_ao == 1 && f.n_ao == 0);
	assert_int_equal(cpl_feature_five(NULL, 0, &f, &err), 0);
	assert_true(f.mean == 0 && f.max == 0);
}

/* A chain of five: 0 -> 2 has 8 GB, 2 -> 3 one, over links of 1 GB/s. */
static void features_by_hand(void **state)
{
	static const char network[] =
	        "{\"format\": \"commplace-network\", \"version\": 1, "
	        "\"type\": \"torus\", \"dims\": [5], \"wrap\": [false], "
	        "\"bandwidth\": {\"dim\": [1e9], \"injection\": 10e9}, "
	        "\"nodes\": \"n[0-4]\"}";
	static const char text[] =
	        "{\"format\": \"commplace-signature\", \"version\": 1, "
	        "\"name\": \"s\", \"ranks\": 6, \"phases\": [{\"name\": "
	        "\"p\", \"weight\": 1, \"traffic\": [[0, 2, 8e9, 1], [0, "
	        "1, 5e9, 1], [3, 5, 1e9, 1]]}]}";
	const double want[CPL_FEATURES] = {
	        [CPL_FEATURE_HOPS] = 17.0 / 9, [CPL_FEATURE_HOPS_AO] = 2,
	        [CPL_FEATURE_HOPS_MAX] = 2,    [CPL_FEATURE_HOPS_SUM] = 2,
	        [CPL_FEATURE_LINK] = 17.0 / 8, [CPL_FEATURE_LINK_AO] = 8,
	        [CPL_FEATURE_LINK_TO] = 8,     [CPL_FEATURE_LINK_MAX] = 8,
	        [CPL_FEATURE_LINKS_AO] = 2,    [CPL_FEATURE_USED] = 17.0 / 3,
	        [CPL_FEATURE_DEVIATION] = 3.2998316455372216,
	        [CPL_FEATURE_NODE_MAX] = 0.8,  [CPL_FEATURE_MODEL] = 8 + 4096 * 1.95e-9,
	        [CPL_FEATURE_QUEUES] = 8};
	const int node[] = {0, 2, 3};
	struct cpl_error err = {""};
	struct cpl_network *net = parse_network(network);
	struct cpl_signature *sig =
	        cpl_signature_parse(text, strlen(text), "s", &err);
	double got[CPL_FEATURES];

	(void)state;
	assert_non_null(sig);
	assert_int_equal(
	        cpl_features(&(struct cpl_feature_job){
	                             .net = net,
	                             .routing = cpl_routing_minimal(net),
	                             .comm = sig->phase->comm,
	                             .phase = sig->phase,
	                             .n_phases = 1,
	                             .ranks_per_node = 2,
	                             .node = node},
	                     got, &err),
	        0);
	for (int f = 0; f < CPL_FEATURES; f++)
		if (!(fabs(got[f] - want[f]) <= 1e-12 * want[f]))
			fail_msg("%s: %.17g, not %.17g", cpl_feature_name[f],
			         got[f], want[f]);
	cpl_signature_free(sig);
	cpl_network_free(net);
}

/* A chain of three with two ranks a node: the middle one sends 4 of the 7 GB on its
 * link, and the two of the first 3 and 2 by the same. */
static void first_links_by_hand(void **state)
{
	static const char network[] =
	        "{\"format\": \"commplace-network\", \"version\": 1, "
	        "\"type\": \"torus\", \"dims\": [3], \"wrap\": [false], "
	        "\"bandwidth\": {\"dim\": [1e9], \"injection\": 10e9}, "
	        "\"nodes\": \"n[0-2]\"}";
	static const char text[] =
	        "{\"format\": \"commplace-signature\", \"version\": 1, "
	        "\"name\": \"s\", \"ranks\": 6, \"phases\": [{\"name\": "
	        "\"p\", \"weight\": 1, \"traffic\": [[0, 4, 3e9, 1], [0, "
	        "1, 9e9, 1], [1, 2, 2e9, 1], [2, 5, 4e9, 1]]}]}";
	const int node[] = {0, 1, 2};
	struct cpl_error err = {""};
	struct cpl_network *net = parse_network(network);
	struct cpl_signature *sig =
	        cpl_signature_parse(text, strlen(text), "s", &err);
	double first;

	(void)state;
	assert_non_null(sig);
	assert_int_equal(
	        cpl_feature_first_links(
	                &(struct cpl_feature_job){
	                        .net = net,
	                        .routing = cpl_routing_minimal(net),
	                        .comm = sig->phase->comm,
	                        .ranks_per_node = 2,
	                        .node = node},
	                &first, &err),
	        0);
	assert_true(first == 5e9);
	cpl_signature_free(sig);
	cpl_network_free(net);
}

/* One rank a node, in bytes from one to another; background: bytes on the link from
 * router 0 to 1. */
struct queue_case {
	const char *network;
	const char *routing;
	const char *traffic;
	double background, seconds;
};

#define LINE                                                                   \
	"\"type\": \"torus\", \"dims\": [4], \"wrap\": [false], \"bandwidth\": " \
	"{\"dim\": [1e9], \"injection\": 10e9}"
#define MESH                                                                   \
	"\"type\": \"torus\", \"dims\": [2, 2], \"wrap\": [false, false], "       \
	"\"bandwidth\": {\"dim\": [1e9, 1e9], \"injection\": 10e9}"

static void queues_by_hand(void **state)
{
	/* Fourth powers of seconds. */
	static const struct queue_case row[] = {
	        /* Nobody else is on the way, however long. */
	        {LINE, "dimension-order", "[0, 3, 4e9, 1]", 0, 256},
	        /* Two of 4 s meet on the link from 1 to 2, and at 2. */
	        {LINE, "dimension-order", "[0, 2, 4e9, 1], [1, 2, 4e9, 1]", 0,
	         4096 + 0.4096 - 0.0256},
	        /* One of them waits for others first: 12 s on a link, of which
	         * 4 are its own, then 8. */
	        {LINE, "dimension-order", "[0, 2, 4e9, 1], [1, 2, 4e9, 1]", 8e9,
	         20736 - 256 + 4096 - 256 + 256 + 0.4096 - 0.0256},
	        /* Half of it each way. */
	        {MESH, "adaptive-minimal", "[0, 3, 8e9, 1]", 0, 256},
	        /* Half of each beside half of the other: 4 s and 1 s. */
	        {MESH, "adaptive-minimal", "[0, 3, 8e9, 1], [1, 2, 2e9, 1]", 0,
	         256 + 2 * 0.5 * (625 - 256)},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		const int node[] = {0, 1, 2, 3};
		char text[512];
		struct cpl_error err = {""};
		struct cpl_network *net;
		struct cpl_signature *sig;
		struct cpl_load others;
		double got[CPL_FEATURES];

		snprintf(text, sizeof(text),
		         "{\"format\": \"commplace-network\", \"version\": 1, "
		         "%s, \"nodes\": \"n[0-3]\"}", row[i].network);
		net = parse_network(text);
		snprintf(text, sizeof(text),
		         "{\"format\": \"commplace-signature\", \"version\": 1, "
		         "\"name\": \"s\", \"ranks\": 4, \"phases\": [{\"name\": "
		         "\"p\", \"weight\": 1, \"traffic\": [%s]}]}",
		         row[i].traffic);
		sig = cpl_signature_parse(text, strlen(text), "s", &err);
		assert_non_null(sig);
		assert_int_equal(cpl_load_init(&others, net, &err), 0);
		others.link[net->product.out[0]] = row[i].background;
		assert_int_equal(
		        cpl_features(&(struct cpl_feature_job){
		                             .net = net,
		                             .routing = cpl_routing_find(
		                                     net, row[i].routing, &err),
		                             .comm = sig->phase->comm,
		                             .phase = sig->phase,
		                             .n_phases = 1,
		                             .ranks_per_node = 1,
		                             .node = node,
		                             .background = &others},
		                     got, &err),
		        0);
		if (fabs(pow(got[CPL_FEATURE_QUEUES], 4) - row[i].seconds) >
		    1e-9 * row[i].seconds)
			fail_msg("row %zu: %.17g^4, not %.17g", i,
			         got[CPL_FEATURE_QUEUES], row[i].seconds);
		cpl_load_free(&others);
		cpl_signature_free(sig);
		cpl_network_free(net);
	}
}

static double concordant(const double *a, const double *b, int n)
{
	struct cpl_error err = {""};
	double part;

	assert_int_equal(cpl_concordant(a, b, n, &part, &err), 0);
	return part;
}

static void pairs_in_order(void **state)
{
	const double a[] = {1, 2, 3, 3}, b[] = {5, 6, 7, 7}, c[] = {4, 3, 2, 1};

	(void)state;
	assert_true(concordant(a, b, 4) == 1);
	assert_true(concordant(b, c, 3) == 0);
	assert_true(concordant(a, a, 1) == 1);
	assert_true(concordant(a, a, 0) == 1);
}

/* The definition, pair by pair. */
static double by_pairs(const double *a, const double *b, int n)
{
	int64_t alike = 0, pairs = (int64_t)n * (n - 1) / 2;

	for (int i = 0; i < n; i++)
		for (int j = 0; j < i; j++)
			alike += a[i] >= a[j] ? b[i] >= b[j] : b[i] < b[j];
	return pairs ? (double)alike / (double)pairs : 1;
}

/* From many ties to few. */
static void pairs_are_counted_as_defined(void **state)
{
	double a[97], b[97];

	(void)state;
	for (int k = 0; k < 2000; k++) {
		int n = 1 + k % 97, values = 1 + k % 131;

		for (int i = 0; i < n; i++) {
			a[i] = (double)cpl_random_below(7, k, i, values) - 9;
			b[i] = (double)cpl_random_below(8, k, i,
			                                1 + values / 2);
		}
		if (concordant(a, b, n) != by_pairs(a, b, n))
			fail_msg("table %d of %d rows: %.17g, not %.17g", k, n,
			         concordant(a, b, n), by_pairs(a, b, n));
	}
}

static void tables_are_read(void **state)
{
	static const struct {
		const char *text, *error;
	} bad[] = {
	        {"", "t: no row below its head"},
	        {"a,b\n", "t: no row below its head"},
	        {"a,b\n1,2\n3\n", "t:3: 1 fields, the head has 2"},
	        {"a,b\n1,2,3\n", "t:2: 3 fields, the head has 2"},
	        {"a,b\n1,2\na,b\n3,4\n",
	         "t:3: the head again; remove the line"},
	        {"a,b\xff,c\n1,2,3\n", "t:1: column 2 is not UTF-8"},
	        {"\n\na,b\n1,2\n1,\xc3\n", "t:5: column 2 is not UTF-8"},
	        {"\xed\xa0\x80\n1\n", "t:1: column 1 is not UTF-8"},
	        {"a,b,c,b\n1,2,3,4\n",
	         "t:1: columns 2 and 4 have one name, 'b'; rename or remove "
	         "one"},
	        {"a,,b,\n1,2,3,4\n",
	         "t:1: columns 2 and 4 have one name, ''; rename or remove "
	         "one"},
	};
	static const char good[] = "who,a,b\r\nx,1,nan\r\n\ny,-2e3,4";
	struct cpl_error err = {""};
	struct cpl_samples *s;
	static char wide[1000];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_null(cpl_samples_parse(bad[i].text, strlen(bad[i].text),
		                              "t", &err));
		assert_string_equal(err.text, bad[i].error);
	}
	assert_null(cpl_samples_parse("a\n1\0", 4, "t", &err));
	assert_string_equal(err.text, "t: it is no text");
	memset(wide, ',', 256);
	assert_null(cpl_samples_parse(wide, 256, "t", &err));
	assert_string_equal(err.text, "t:1: more than 256 columns");
	s = cpl_samples_parse(good, strlen(good), "t", &err);
	assert_non_null(s);
	assert_int_equal(s->n, 2);
	assert_int_equal(s->n_columns, 1); /* nan is a text */
	assert_string_equal(s->name[0], "a");
	assert_true(s->value[0] == 1 && s->value[1] == -2000);
	assert_string_equal(s->label[0], "x nan");
	assert_int_equal(cpl_samples_column(s, "b"), -1);
	cpl_samples_free(s);
}

/* The best split of a step is where it is, and a tree may be drawn to it. */
static void trees_split(void **state)
{
	double x[40], y[20], gain[2] = {0};
	int row[20];

	(void)state;
	for (int i = 0; i < 20; i++) {
		x[2 * i] = 7; /* tells nothing */
		x[2 * i + 1] = i;
		y[i] = i < 13 ? 1 : 5;
		row[i] = 19 - i;
	}
	for (int random = 0; random < 2; random++) {
		struct cpl_error err = {""};
		struct cpl_learn_tree tree;
		struct cpl_learn_tree_task task = {.n = 20,
		                             .n_features = 2,
		                             .x = x,
		                             .y = y,
		                             .row = row,
		                             .depth = random ? 60 : 1,
		                             .least = 2,
		                             .random = random,
		                             .seed = 5,
		                             .gain = gain};

		assert_int_equal(cpl_learn_tree_grow(&task, &tree, &err), 0);
		if (!random) {
			assert_int_equal(tree.n, 3);
			assert_int_equal(tree.node[0].feature, 1);
			assert_true(tree.node[0].value == 12.5);
			assert_int_equal(tree.node[0].above, 2);
		}
		for (int i = 0; i < 20; i++)
			assert_true(cpl_learn_tree_value(&tree, x + 2 * i) == y[i]);
		assert_true(gain[0] == 0 && gain[1] > 0);
		cpl_learn_tree_free(&tree);
	}
}

/* seconds = 3 + a * a, less where b is high; c is noise. */
static struct cpl_samples *known(int n)
{
	static char text[200000];
	struct cpl_error err = {""};
	struct cpl_samples *s;
	size_t at = (size_t)sprintf(text, "who,a,b,c,seconds\n");

	for (int i = 0; i < n; i++) {
		double a = (double)cpl_random_below(1, 1, i, 1000) / 100;
		double b = (double)cpl_random_below(1, 2, i, 1000) / 100;
		double c = (double)cpl_random_below(1, 3, i, 1000) / 100;

		at += (size_t)sprintf(text + at, "r%d,%g,%g,%g,%.17g\n", i, a,
		                      b, c, 3 + a * a * (b > 5 ? 0.5 : 1));
	}
	s = cpl_samples_parse(text, at, "t", &err);
	assert_non_null(s);
	return s;
}

static void models_tell_what_they_learned(void **state)
{
	const int all[] = {0, 1, 2}, noise[] = {2};
	struct cpl_samples *s = known(300);
	const struct cpl_learner *l;

	(void)state;
	for (int i = 0; (l = (const void *)cpl_registry_at(&cpl_learners, i));
	     i++) {
		struct cpl_learn_options o = {.learner = l,
		                              .target = "seconds",
		                              .feature = all,
		                              .n_features = 3,
		                              .seed = 1};
		char path[] = "/tmp/test_learnXXXXXX";
		struct cpl_error err = {""};
		struct cpl_model *m = cpl_learn(s, &o, &err), *again;
		int fd = mkstemp(path);
		double sum = 0;

		assert_non_null(m);
		assert_true(m->score.concordant > 0.95);
		assert_true(m->score.r2 > 0.95);
		assert_true(m->score.low < 0 && m->score.high > 0);
		assert_true(m->score.high - m->score.low < 0.4);
		for (int f = 0; f < 3; f++)
			sum += m->importance[f];
		assert_true(fabs(sum - 1) < 1e-9);
		assert_true(m->importance[0] > m->importance[1] &&
		            m->importance[1] > m->importance[2]);
		/* No less than the least, no more than the most. */
		assert_true(cpl_model_value(m, (double[]){1e9, 0, 0}) <=
		            m->most);
		assert_true(cpl_model_value(m, (double[]){-1e9, 9, 0}) >=
		            m->least);
		/* A file tells the same to the last bit. */
		assert_true(fd >= 0);
		close(fd);
		assert_int_equal(cpl_model_write(m, path, &err), 0);
		again = cpl_model_load(path, &err);
		if (!again)
			fail_msg("%s", err.text);
		unlink(path);
		for (int k = 0; k < s->n; k++) {
			const double *x = s->value + (int64_t)k * s->n_columns;

			assert_true(cpl_model_value(m, x) ==
			            cpl_model_value(again, x));
		}
		assert_string_equal(again->feature[1], "b");
		assert_true(again->score.high == m->score.high);
		cpl_model_free(again);
		cpl_model_free(m);
		/* From what tells nothing, nothing is learned. */
		o.feature = noise;
		o.n_features = 1;
		m = cpl_learn(s, &o, &err);
		assert_non_null(m);
		assert_true(m->score.r2 < 0.3);
		assert_true(fabs(m->score.concordant - 0.5) < 0.1);
		cpl_model_free(m);
	}
	cpl_samples_free(s);
}

/* Nothing of which squares, sums or quotients are no numbers. */
static void too_much_is_refused(void **state)
{
	static const struct {
		const char *a, *seconds, *error;
	} row[] = {
	        {"1e101", "1",
	         "a of row 12 is 1e+101: figures beyond 1e+100 are not learned "
	         "from"},
	        {"-1e308", "1",
	         "a of row 12 is -1e+308: figures beyond 1e+100 are not learned "
	         "from"},
	        {"1", "1e31",
	         "seconds of row 12 is 1e+31: times are 1e-30 to 1e+30 seconds"},
	        {"1", "1e-31",
	         "seconds of row 12 is 1e-31: times are 1e-30 to 1e+30 seconds"},
	        {"1e100", "1e30", NULL},
	        {"-1e100", "1e-30", NULL},
	};
	const int a = 0;

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(row) / sizeof(*row); i++) {
		struct cpl_error err = {""};
		struct cpl_learn_options o = {
		        .learner = (const void *)cpl_registry_at(&cpl_learners,
		                                                 (int)(i % 2)),
		        .target = "seconds",
		        .feature = &a,
		        .n_features = 1};
		char text[400] = "a,seconds\n";
		struct cpl_samples *s;
		struct cpl_model *m;

		for (int k = 1; k < 12; k++)
			sprintf(text + strlen(text), "%d,%g\n", k, 1e-30 * k);
		sprintf(text + strlen(text), "%s,%s\n", row[i / 2].a,
		        row[i / 2].seconds);
		s = cpl_samples_parse(text, strlen(text), "t", &err);
		assert_non_null(s);
		m = cpl_learn(s, &o, &err);
		if (row[i / 2].error) {
			assert_null(m);
			assert_string_equal(err.text, row[i / 2].error);
		} else {
			assert_non_null(m);
			assert_true(isfinite(m->score.r2) &&
			            isfinite(m->score.low) &&
			            isfinite(m->score.high) &&
			            isfinite(m->importance[0]));
		}
		cpl_model_free(m);
		cpl_samples_free(s);
	}
}

static void little_is_refused(void **state)
{
	static const char text[] = "a,seconds\n1,1\n1,1\n1,1\n1,1\n1,1\n1,1\n"
	                           "1,1\n1,1\n1,1\n1,1\n1,1\n1,0\n";
	const int a = 0;
	struct cpl_error err = {""};
	struct cpl_learn_options o = {.learner = (const void *)cpl_registry_at(
	                                      &cpl_learners, 0),
	                              .target = "seconds",
	                              .feature = &a,
	                              .n_features = 1};
	struct cpl_samples *s = known(11);

	(void)state;
	assert_null(cpl_learn(s, &o, &err));
	assert_string_equal(err.text, "11 rows; at least 12 are needed");
	cpl_samples_free(s);
	s = cpl_samples_parse(text, strlen(text), "t", &err);
	assert_non_null(s);
	assert_null(cpl_learn(s, &o, &err));
	assert_string_equal(err.text,
	                    "seconds of row 12 is 0: times are above 0");
	cpl_samples_free(s);
}

#define MODEL(features, trees)                                                 \
	"{\"format\":\"commplace-time-model\",\"version\":1,\"method\":\"m\","   \
	"\"target\":\"t\",\"concordant\":1,\"r2\":1,\"errors\":[0,0],"         \
	"\"range\":[0,9],\"base\":0,\"rate\":1,\"features\":[" features          \
	"],\"trees\":[" trees "]}"
#define ONE "{\"name\":\"a\",\"importance\":1}"

static void models_are_checked(void **state)
{
	static const struct {
		const char *text, *error;
	} bad[] = {
	        {"{}", "m: \"format\" is missing"},
	        {MODEL("", "[[1]]"), "m: features: 1 to 256 are wanted"},
	        {MODEL("3", "[[1]]"), "m: features[0]: no object"},
	        {MODEL("{\"name\":\"a\"}", "[[1]]"),
	         "m: features[0]: importance is missing"},
	        {MODEL(ONE, ""), "m: trees: 1 to 100000 are wanted"},
	        {MODEL(ONE, "[]"), "m: trees[0]: no nodes"},
	        {MODEL(ONE, "[[1]],[[1,2]]"),
	         "m: trees[1][0]: neither a leaf nor a split"},
	        {MODEL(ONE, "[[1,2,2],[1],[1]]"),
	         "m: trees[0][0]: no such feature"},
	        {MODEL(ONE, "[[0,2,1],[1],[1]]"),
	         "m: trees[0][0]: no node behind it"},
	        {MODEL(ONE, "[[0,2,3],[1],[1]]"),
	         "m: trees[0][0]: no node behind it"},
	};
	struct cpl_error err = {""};
	struct cpl_model *m;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_null(cpl_model_parse(bad[i].text, strlen(bad[i].text),
		                            "m", &err));
		if (strncmp(err.text, bad[i].error, strlen(bad[i].error)))
			fail_msg("'%s', not '%s'", err.text, bad[i].error);
	}
	m = cpl_model_parse(MODEL(ONE, "[[0,2,2],[3],[4]],[[0.5]]"),
	                    strlen(MODEL(ONE, "[[0,2,2],[3],[4]],[[0.5]]")), "m",
	                    &err);
	assert_non_null(m);
	assert_true(cpl_model_value(m, (double[]){2}) == 3.5);
	assert_true(cpl_model_value(m, (double[]){2.1}) == 4.5);
	cpl_model_free(m);
}

/* What makes the jobs of a site run longer. */
struct planted {
	const char *what;
	int jobs;
	double queues, link_max; /* parts of the time that these figures take */
	double noise;            /* deviation of a factor of chance */
	double drift;            /* the last jobs take so much longer */
	bool turns;              /* of the last jobs, the other way round */
	int least, most;         /* of 20 sites, how many get a model */
};

static double drawn(int site, int job, int what)
{
	return ((double)cpl_random_below(9, site, 100 * (uint64_t)job +
	                                                (uint64_t)what,
	                                 1000000) +
	        0.5) / 1000000;
}

/* Elapsed times of public logs: a factor of chance, and one job in thirty hangs or
 * ends at once. */
static double chance(int site, int job, double deviation)
{
	double z = -6, odd = drawn(site, job, 30);

	for (int k = 0; k < 12; k++)
		z += drawn(site, job, 10 + k);
	return exp(deviation * z) * (odd < 0.02 ? 8 : odd < 0.033 ? 0.05 : 1);
}

/* Five profiles, one of which takes a thousand times as long as another. */
static struct cpl_samples *site_of(const struct planted *p, int site, int n,
                                   int *group)
{
	static char text[400000];
	struct cpl_error err = {""};
	size_t at = (size_t)sprintf(text, "hops,link_max,model,queues,seconds\n");
	struct cpl_samples *s;

	for (int i = 0; i < n; i++) {
		double size, time, a = drawn(site, i, 1), b = drawn(site, i, 2);
		double late = (double)i / n, turned = p->turns && late >= 0.9;

		group[i] = (int)(5 * drawn(site, i, 0));
		size = pow(5, group[i]);
		time = 1 + p->queues * (turned > 0 ? 1 - a : a) +
		       p->link_max * b;
		at += (size_t)sprintf(
		        text + at, "%g,%g,%g,%g,%.17g\n", drawn(site, i, 3),
		        size * (1 + b), size * (1 + 0.5 * b + drawn(site, i, 4)),
		        size * (1 + a),
		        100 * size * time * chance(site, i, p->noise) *
		                (1 + p->drift * late));
	}
	s = cpl_samples_parse(text, at, "t", &err);
	assert_non_null(s);
	return s;
}

static void models_of_a_site_prove_themselves(void **state)
{
	static const struct planted row[] = {
	        {"what no plain figure shows", 600, 0.3, 0, 0.05, 0, false, 18,
	         20},
	        {"with more noise", 3000, 0.3, 0, 0.15, 0, false, 18, 20},
	        {"both, and all jobs get slower", 1500, 0.3, 0.1, 0.05, 1,
	         false, 18, 20},
	        {"chance alone", 600, 0, 0, 0.1, 0, false, 0, 2},
	        {"chance and drift", 600, 0, 0, 0.1, 2, false, 0, 2},
	        {"what the plain figure shows", 600, 0, 0.3, 0.05, 0, false, 0,
	         2},
	        {"what has turned since", 600, 0.3, 0, 0.05, 0, true, 0, 0},
	};
	const int column[] = {0, 1, 2, 3};
	static int group[3000];

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		int found = 0, n = row[i].jobs;

		for (int site = 0; site < 20; site++) {
			struct cpl_learn_options o = {
			        .learner = (const void *)cpl_registry_at(
			                &cpl_learners, 0),
			        .target = "seconds",
			        .feature = column,
			        .n_features = 4,
			        .trees = 50,
			        .seed = 1};
			struct cpl_error err = {""};
			struct cpl_learn_test test;
			struct cpl_model *m;
			struct cpl_samples *s =
			        site_of(&row[i], site, n, group);

			assert_int_equal(cpl_learn_timed(s, &o, group, &test, &m,
			                                 &err),
			                 0);
			assert_int_equal(test.jobs, n / 10);
			assert_true(test.pairs > n / 6 &&
			            test.pairs < n / 10 * (n / 10 - 1) / 2);
			assert_true(test.known[0] && test.known[1]);
			assert_int_equal(test.better, m != NULL);
			if (m) {
				found++;
				assert_int_equal(m->samples, n);
				assert_true(m->score.concordant == test.learned);
				assert_true(test.learned > test.plain[0] &&
				            test.learned > test.plain[1]);
			}
			cpl_model_free(m);
			cpl_samples_free(s);
		}
		if (found < row[i].least || found > row[i].most)
			fail_msg("%s: %d of 20 sites get a model, not %d to %d",
			         row[i].what, found, row[i].least, row[i].most);
		print_message("# %s: %d of 20 sites get a model\n", row[i].what,
		              found);
	}
}

static void models_of_a_site_need_pairs(void **state)
{
	const struct planted p = {.noise = 0.1};
	const int all[] = {0, 1, 2, 3}, link_max = 1;
	struct cpl_learn_options o = {.learner = (const void *)cpl_registry_at(
	                                      &cpl_learners, 0),
	                              .target = "seconds",
	                              .feature = all,
	                              .n_features = 4};
	struct cpl_error err = {""};
	struct cpl_learn_test test;
	struct cpl_model *m;
	static int group[120];
	struct cpl_samples *s = site_of(&p, 1, 99, group);

	(void)state;
	assert_int_equal(cpl_learn_timed(s, &o, group, &test, &m, &err), -1);
	assert_string_equal(err.text, "99 jobs; at least 100 are needed");
	cpl_samples_free(s);
	s = site_of(&p, 1, 120, group);
	for (int i = 0; i < 120; i++)
		group[i] = i;
	assert_int_equal(cpl_learn_timed(s, &o, group, &test, &m, &err), -1);
	assert_null(m);
	assert_string_equal(err.text,
	                    "of the last 12 jobs, no two are alike but for where "
	                    "and how long they ran: there is nothing to compare");
	for (int i = 0; i < 120; i++) {
		group[i] = i % 2;
		s->value[i * s->n_columns + 4] = 100;
	}
	assert_int_equal(cpl_learn_timed(s, &o, group, &test, &m, &err), -1);
	assert_null(m);
	s->value[4] = 0;
	assert_int_equal(cpl_learn_timed(s, &o, group, &test, &m, &err), -1);
	assert_string_equal(err.text, "seconds of row 1 is 0: times are above 0");
	free(s->name[1]);
	free(s->name[2]);
	s->name[1] = strdup("x");
	s->name[2] = strdup("y");
	assert_int_equal(cpl_learn_timed(s, &o, group, &test, &m, &err), -1);
	assert_string_equal(err.text,
	                    "neither link_max nor model is there, which a model "
	                    "has to be better than");
	cpl_samples_free(s);
	/* By one plain figure alone; a model that tells just it is no better. */
	o.feature = &link_max;
	o.n_features = 1;
	s = site_of(&(struct planted){.link_max = 0.5, .noise = 0.01}, 1, 120,
	            group);
	free(s->name[2]);
	s->name[2] = strdup("y");
	assert_int_equal(cpl_learn_timed(s, &o, group, &test, &m, &err), 0);
	assert_null(m);
	assert_true(test.known[0] && !test.known[1] && !test.better);
	assert_true(test.plain[0] > 0.9);
	cpl_samples_free(s);
}

static struct cpl_model *model_of(double value)
{
	char text[400];
	struct cpl_error err = {""};
	struct cpl_model *m;

	snprintf(text, sizeof(text), MODEL(ONE, "[[%g]]"), value);
	m = cpl_model_parse(text, strlen(text), "m", &err);
	assert_non_null(m);
	return m;
}

/* What the model in use tells. */
static double used_in(const char *dir, const char *name)
{
	struct cpl_error err = {""};
	char *path = cpl_models_path(dir, name, &err);
	struct cpl_model *m = cpl_model_load(path, &err);
	double value = m ? cpl_model_value(m, (double[]){0}) : -1;

	cpl_model_free(m);
	free(path);
	return value;
}

static int install_of(const char *dir, const char *name, double value, int keep)
{
	struct cpl_error err = {""};
	struct cpl_model *m = model_of(value);
	int number = cpl_models_install(dir, name, m, keep, &err);

	if (number < 0)
		print_message("%s\n", err.text);
	cpl_model_free(m);
	return number;
}

/* "1 2* 3": which there are, and which is in use. */
static const char *versions_in(const char *dir, const char *name)
{
	static char text[200];
	struct cpl_error err = {""};
	struct cpl_version *v;
	int n = cpl_models_versions(dir, name, &v, &err);

	*text = '\0';
	for (int i = 0; i < n; i++)
		sprintf(text + strlen(text), "%s%d%s", i ? " " : "",
		        v[i].number, v[i].in_use ? "*" : "");
	free(v);
	return n < 0 ? "none" : text;
}

static void assert_used(const char *path, const char *want)
{
	char *used = cpl_models_used(path);

	assert_non_null(used);
	assert_string_equal(used + strlen(used) - strlen(want), want);
	free(used);
}

static void models_have_versions(void **state)
{
	char dir[] = "/tmp/test_learnXXXXXX", file[64], command[64];
	struct cpl_error err = {""};
	struct cpl_model *m = model_of(7);

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(install_of(dir, "a", 1, 10), 1);
	assert_int_equal(install_of(dir, "a", 2, 10), 2);
	/* Others that look like it are none of it. */
	assert_int_equal(install_of(dir, "a.v9", 5, 10), 1);
	assert_string_equal(versions_in(dir, "a"), "1 2*");
	assert_true(used_in(dir, "a") == 2);
	assert_int_equal(cpl_models_roll_back(dir, "a", 1, &err), 0);
	assert_true(used_in(dir, "a") == 1);
	assert_string_equal(versions_in(dir, "a"), "1* 2");
	/* A record of a decision names it so, and a replay finds it again. */
	snprintf(file, sizeof(file), "%s/a.json", dir);
	assert_used(file, "/.a.v1.json");
	/* By hand: it is kept before another one comes. */
	snprintf(file, sizeof(file), "%s/a.json", dir);
	assert_int_equal(cpl_model_write(m, file, &err), 0);
	assert_string_equal(versions_in(dir, "a"), "1 2");
	assert_used(file, "/a.json");
	assert_used("a", "a");
	assert_int_equal(install_of(dir, "a", 3, 10), 4);
	assert_string_equal(versions_in(dir, "a"), "1 2 3 4*");
	assert_int_equal(cpl_models_roll_back(dir, "a", 3, &err), 0);
	assert_true(used_in(dir, "a") == 7);
	assert_int_equal(cpl_models_roll_back(dir, "a", 9, &err), -1);
	assert_string_equal(err.text,
	                    "a has no version 9; there are: 1, 2, 3, 4");
	/* The oldest ones go, but what is in use. */
	assert_int_equal(cpl_models_roll_back(dir, "a", 2, &err), 0);
	assert_int_equal(install_of(dir, "a", 6, 2), 5);
	assert_string_equal(versions_in(dir, "a"), "4 5*");
	assert_true(used_in(dir, "a.v9") == 5);
	/* What cannot be read is not taken into use. */
	snprintf(file, sizeof(file), "%s/.a.v4.json", dir);
	assert_int_equal(truncate(file, 5), 0);
	assert_int_equal(cpl_models_roll_back(dir, "a", 4, &err), -1);
	assert_true(used_in(dir, "a") == 6);
	assert_int_equal(install_of(dir, "../a", 1, 10), -1);
	assert_int_equal(cpl_models_roll_back(dir, "../a", 1, &err), -1);
	assert_int_equal(install_of("/nonexistent", "a", 1, 10), -1);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	assert_int_equal(system(command), 0);
	cpl_model_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(five_figures),
	        cmocka_unit_test(features_by_hand),
	        cmocka_unit_test(first_links_by_hand),
	        cmocka_unit_test(queues_by_hand),
	        cmocka_unit_test(pairs_in_order),
	        cmocka_unit_test(pairs_are_counted_as_defined),
	        cmocka_unit_test(tables_are_read),
	        cmocka_unit_test(trees_split),
	        cmocka_unit_test(models_tell_what_they_learned),
	        cmocka_unit_test(too_much_is_refused),
	        cmocka_unit_test(little_is_refused),
	        cmocka_unit_test(models_are_checked),
	        cmocka_unit_test(models_of_a_site_prove_themselves),
	        cmocka_unit_test(models_of_a_site_need_pairs),
	        cmocka_unit_test(models_have_versions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
