/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Links as measured: what is read, what is left out, and what is left of it. */
#include "unit.h"

#include "measured/measured.h"
#include "network_text.h"
#include "number.h"

#define NOW 10000
#define RATES "time,from,to,bytes_per_second\n"
#define COUNTERS "time,from,to,bytes\n"
#define COUNTERS_32 "time,from,to,bytes32\n"
#define NONE -1.0

/* Routers 0 and 1 have n0 and n1; from 0 to 1 go a link of 4 bytes/s (0), to 2
 * two parallel ones of 100 bytes/s (1, 2), whose ways back are 3 and 4, and from
 * 2 to 1 one of 1e9 (5). Links of nodes are 6, 7 (to routers), 8, 9. */
static const char graph[] =
        "{\"format\": \"commplace-network\", \"version\": 1, \"name\": \"t\", "
        "\"type\": \"graph\", \"routers\": 3, \"node_routers\": 2, "
        "\"nodes_per_router\": 1, \"nodes\": {\"0\": \"n0\", \"1\": \"n1\"}, "
        "\"router_names\": [\"leaf, left\", \"leaf-right\", \"S-00aa\"], "
        "\"bandwidth\": {\"thin\": 4, \"fat\": 100, \"wide\": 1e9, "
        "\"injection\": 1000}, "
        "\"directed\": true, \"links\": [[0, 1, \"thin\"], [0, 2, \"fat\"], "
        "[0, 2, \"fat\"], [2, 0, \"fat\"], [2, 0, \"fat\"], "
        "[2, 1, \"wide\"], [1, 0, \"thin\"]]}";

struct got {
	struct cpl_network *net;
	struct cpl_measured measured;
	struct cpl_error err;
	int rc;
};

static struct got read_text(const char *text)
{
	const struct cpl_measured_at at = {.now = NOW, .max_age = 300};
	struct got g = {.net = parse_network(graph)};

	g.rc = cpl_measured_parse(&g.measured, g.net, text, strlen(text), "m",
	                          &at, &g.err);
	return g;
}

static void done(struct got *g)
{
	cpl_measured_free(&g->measured);
	cpl_network_free(g->net);
}

/* The link from a to b, the nth of them. */
static int64_t link_of(const struct cpl_network *net, int a, int b, int nth)
{
	for (int64_t i = 0; i < net->n_links; i++)
		if (net->link_from[i] == a && net->link_to[i] == b && !nth--)
			return i;
	fail_msg("no link from %d to %d", a, b);
	return -1;
}

static double rate_of(const struct cpl_measured *m, int64_t link)
{
	for (int64_t i = 0; i < m->n; i++)
		if (m->rate[i].link == link)
			return m->rate[i].rate;
	return NONE;
}

/* What one link is measured by; of hosts: b -1 to the router, -2 from it. */
static const struct {
	const char *text;
	int a, b, nth;
	double rate;
} links[] = {
        {RATES "9990,0,1,3\n", 0, 1, 0, 3},
        {RATES "9990,0,1,0\n", 0, 1, 0, 0},
        {RATES "# c\n\n 9990 , 0 , 1 , 3 \r\n", 0, 1, 0, 3},
        {"# c\n" RATES "9990,0,1,3", 0, 1, 0, 3},
        /* The newest counts, whatever the order. */
        {RATES "9990,0,1,3\n9980,0,1,2\n9991.5,0,1,1\n", 0, 1, 0, 1},
        /* Names, ports, quotes. */
        {RATES "9990,\"leaf, left\",leaf-right,3\n", 0, 1, 0, 3},
        {RATES "9990,S-00aa[3],leaf-right[1],5e8\n", 2, 1, 0, 5e8},
        {RATES "9990,\"S-00aa\"[3],leaf-right,5e8\n", 2, 1, 0, 5e8},
        {RATES "9990,n0,,700\n", 0, -1, 0, 700},
        {RATES "9990,n0,\"leaf, left\",700\n", 0, -1, 0, 700},
        {RATES "9990,n0:0,0,700\n", 0, -1, 0, 700},
        {RATES "9990,,n1,700\n", 1, -2, 0, 700},
        {RATES "9990,1,n1,700\n", 1, -2, 0, 700},
        /* Cables one by one, and together. */
        {RATES "9990,0,2,10\n9990,0,2,30\n", 0, 2, 0, 10},
        {RATES "9990,0,2,10\n9990,0,2,30\n", 0, 2, 1, 30},
        {RATES "9990,0,2,50\n", 0, 2, 0, 25},
        {RATES "9990,0,2,50\n", 0, 2, 1, 25},
        /* Counters. */
        {COUNTERS "9980,0,1,100\n9990,0,1,130\n", 0, 1, 0, 3},
        {COUNTERS "9990,0,1,130\n9980,0,1,100\n9970,0,1,7\n", 0, 1, 0, 3},
        {COUNTERS "9980,0,1,18446744073709551606\n9990,0,1,20\n", 0, 1, 0, 3},
        {COUNTERS "9980,0,2,0\n9980,0,2,5\n9990,0,2,100\n9990,0,2,305\n", 0, 2,
         1, 30},
        {COUNTERS_32 "9980,0,1,4294967286\n9990,0,1,20\n", 0, 1, 0, 3},
};

static void test_links(void **state)
{
	for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++) {
		struct got g = read_text(links[i].text);
		const struct cpl_network *net = g.net;
		int64_t link = links[i].b >= 0
		                       ? link_of(net, links[i].a, links[i].b,
		                                 links[i].nth)
		                       : net->n_links + links[i].a +
		                                 (links[i].b == -2) *
		                                         net->n_nodes;

		if (g.rc || g.measured.left_out || g.measured.why.text[0])
			fail_msg("%s: %s%s", links[i].text, g.err.text,
			         g.measured.why.text);
		assert_number(rate_of(&g.measured, link), links[i].rate, 1e-9);
		done(&g);
	}
}

/* Whose last row is wrong; another link of the same text stands. A row of GOOD
 * is used. */
#define GOOD(head, rest) head "9990,n0,,700\n9990,n1,,700\n" rest
#define COUNTED(rest)                                                          \
	COUNTERS "9980,n0,,0\n9990,n0,,700\n9980,n1,,0\n9990,n1,,700\n" rest
static const struct {
	const char *text, *why;
	int left_out;
} wrong[] = {
        {GOOD(RATES, "9990,0,1,nan\n"), "m:4: 'nan' is not a number", 1},
        {GOOD(RATES, "9990,0,1,-1\n"), "m:4: '-1' is not a number", 1},
        {GOOD(RATES, "9990,0,1,inf\n"), "m:4: 'inf' is not", 1},
        {GOOD(RATES, "9990,0,1,\n"), "m:4: '' is not a number", 1},
        {GOOD(RATES, "9990,0,1,3x\n"), "m:4: '3x' is not a number", 1},
        {GOOD(RATES, "nan,0,1,3\n"), "m:4: 'nan' is not a time", 1},
        {GOOD(RATES, "-5,0,1,3\n"), "m:4: '-5' is not a time", 1},
        {GOOD(RATES, "9990,0,1\n"), "m:4: 4 fields are needed", 1},
        {GOOD(RATES, "9990,0,1,3,4\n"), "m:4: 4 fields are needed", 1},
        {GOOD(RATES, "9990,\"0,1,3\n"), "m:4: 4 fields are needed", 1},
        {GOOD(RATES, "9990,0,7,3\n"), "no link from '0' to '7'", 1},
        {GOOD(RATES, "9990,0,99999999999,3\n"), "no link from", 1},
        {GOOD(RATES, "9990,n2,,3\n"), "no link from 'n2' to ''", 1},
        {GOOD(RATES, "9990,n0,1,3\n"), "no link from 'n0' to '1'", 1},
        {GOOD(RATES, "9990,n0:1,,3\n"), "no link from 'n0:1'", 1},
        {GOOD(RATES, "9990,n0,n1,3\n"), "no link from 'n0' to 'n1'", 1},
        {GOOD(RATES, "9990,,,3\n"), "no link from '' to ''", 1},
        {GOOD(RATES, "9990,0,1,6\n"), "m:4: it is more than the link", 1},
        {GOOD(RATES, "9699,0,1,3\n"), "m:4: the sample is too old", 1},
        {GOOD(RATES, "10061,0,1,3\n"), "m:4: the time is still to come", 1},
        /* A cable missing, of rows that name ports; one too many; and one of
         * two that is no number must not count as both. */
        {GOOD(RATES, "9990,0[5],2,3\n"), "m:4: the link has another", 1},
        {GOOD(RATES, "9990,0,1,1\n9990,0,1,1\n"), "m:4: the link has", 2},
        {GOOD(RATES, "9990,0,2,1\n9990,0,2,nan\n"), "m:5: 'nan' is not", 2},
        {GOOD(RATES, "9990,0,2,1\nnan,0,2,5\n"), "m:5: 'nan' is not", 1},
        {COUNTED("9990,0,1,30\n"), "m:6: the counter has no sample", 1},
        {COUNTED("9980,0,1,70\n9990,0,1,30\n"), "m:7: the counter was reset",
         1},
        {COUNTED("9980,0,1,0\n9990,0,1,900\n"), "counts more than", 1},
        {COUNTED("9980,0,1,-3\n9990,0,1,0\n"), "m:6: '-3' is not", 1},
        {COUNTED("9980,0,1,0\n9990,0,1,18446744073709551616\n"),
         "m:7: '18446744073709551616' is not", 1},
        {COUNTED("9980,0,1,0.5\n9990,0,1,3\n"), "m:6: '0.5' is not", 1},
        {COUNTED("9980,0,2,0\n9990,0,2,1\n9990,0,2,1\n"),
         "m:7: the sample before this one has another number", 2},
        {COUNTERS_32 "9980,n0,,0\n9990,n0,,1\n9980,2,1,0\n9990,2,1,5\n",
         "m:5: the counter may have wrapped twice", 1},
        {COUNTERS_32 "9980,n0,,0\n9990,n0,,1\n9980,0,1,0\n"
                     "9990,0,1,4294967296\n",
         "m:5: '4294967296' is not", 1},
};

static void test_wrong(void **state)
{
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct got g = read_text(wrong[i].text);
		const struct cpl_network *net = g.net;

		if (g.rc || !strstr(g.measured.why.text, wrong[i].why) ||
		    strchr(g.measured.why.text, '\n'))
			fail_msg("%s: '%s' '%s'", wrong[i].text, g.err.text,
			         g.measured.why.text);
		assert_int_equal(g.measured.left_out, wrong[i].left_out);
		for (int64_t l = 0; l < net->n_links; l++)
			assert_number(rate_of(&g.measured, l), NONE, 0);
		done(&g);
	}
}

/* Links that are cabled otherwise: each of them once, whatever the direction. */
static void test_odd_links(void **state)
{
	static const struct cpl_measured_odd want[] = {
	        {"n0", "leaf-right", 0, 0}, {"leaf-right", "S-00ab", 0, 0},
	        {"leaf, left", "S-00aa", 3, 2}, {"leaf-right", "leaf, left", 2, 1},
	};
	struct got g;

	(void)state;
	g = read_text(RATES
	        "9990,n0,,1\n9990,n1,,1\n9990,,n0,1\n9990,,n1,1\n"
	        "9990,S-00aa,leaf-right[3],1\n9990,\"leaf, left[1]\",leaf-right,1\n"
	        "9980,S-00aa,leaf-right[3],1\n"
	        "9990,n0,leaf-right[1],1\n9990,leaf-right[1],n0,1\n"
	        "9990,leaf-right[2],S-00ab[1],1\n"
	        "9990,\"S-00aa\",\"leaf, left\",1\n9980,2,0,1\n");
	assert_int_equal(g.rc, 0);
	assert_int_equal(g.measured.n_odds, 2);
	for (int i = 0; i < 2; i++) {
		assert_string_equal(g.measured.odd[i].from, want[i].from);
		assert_string_equal(g.measured.odd[i].to, want[i].to);
		assert_int_equal(g.measured.odd[i].cables, 0);
	}
	done(&g);
	g = read_text(RATES
	        "9990,n0,,1\n9990,n1,,1\n9990,,n0,1\n9990,,n1,1\n"
	        "9990,S-00aa,leaf-right[3],1\n9990,\"leaf, left[1]\",leaf-right,1\n"
	        "9990,0[5],2[1],1\n9990,0[6],2[2],1\n9990,0[7],2[3],1\n"
	        "9990,1[2],0[1],1\n9990,1[3],0[2],1\n");
	assert_int_equal(g.rc, 0);
	assert_int_equal(g.measured.n_odds, 2);
	for (int i = 0; i < 2; i++) {
		assert_string_equal(g.measured.odd[i].from, want[i + 2].from);
		assert_string_equal(g.measured.odd[i].to, want[i + 2].to);
		assert_int_equal(g.measured.odd[i].counted, want[i + 2].counted);
		assert_int_equal(g.measured.odd[i].cables, want[i + 2].cables);
	}
	done(&g);
}

/* What commplaced read is what commands read: odd links, too. */
static void test_odd_written(void **state)
{
	struct got g = read_text(RATES
	        "9990,n0,,1\n9990,n1,,1\n9990,,n0,1\n9990,,n1,1\n"
	        "9990,S-00aa,leaf-right[3],1\n9990,n0,\"x, y\",1\n"
	        "9990,0[5],2[1],1\n9990,0[6],2[2],1\n9990,0[7],2[3],1\n");
	struct got again = {.net = g.net};
	const struct cpl_measured_at at = {0};
	size_t length;
	char *text = NULL;
	FILE *out = open_memstream(&text, &length);

	(void)state;
	assert_int_equal(g.rc, 0);
	assert_int_equal(g.measured.n_odds, 2);
	cpl_measured_write(&g.measured, g.net, out);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(cpl_measured_parse(&again.measured, g.net, text, length,
	                                    "m", &at, &again.err),
	                 0);
	assert_int_equal(again.measured.n, g.measured.n);
	assert_int_equal(again.measured.left_out, 4);
	assert_int_equal(again.measured.n_odds, 2);
	assert_memory_equal(again.measured.odd, g.measured.odd,
	                    2 * sizeof(g.measured.odd[0]));
	free(text);
	cpl_measured_free(&again.measured);
	done(&g);
}

/* Of which nothing is taken. */
static const struct {
	const char *text, *why;
} refused[] = {
        {"", "m:0: the first line is to be"},
        {"# only\n", "the first line is to be"},
        {"9990,0,1,3\n", "m:1: the first line is to be"},
        {"time,from,to\n", "m:1: the first line is to be"},
        {RATES, "m: there is no row"},
        {RATES "9990,0,7,3\n", "m: 1 of 1 rows cannot be used"},
        {RATES "9,0,1,3\n", "m:2: the sample is too old"},
        {RATES "9990,0,1,3\n9990,7,8,1\n9990,7,9,1\n",
         "m: 2 of 3 rows cannot be used, so that none is; the first: m:3: "},
};

static void test_refused(void **state)
{
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		struct got g = read_text(refused[i].text);

		if (!g.rc || !strstr(g.err.text, refused[i].why))
			fail_msg("%s: %s", refused[i].text, g.err.text);
		assert_int_equal(g.measured.n, 0);
		assert_null(g.measured.rate);
		done(&g);
	}
}

/* A NUL is no text, and bandwidths of 1 are none. */
static void test_odd(void **state)
{
	static const char nul[] = RATES "9990,0,1,3\n9990,0\0,1,3\n";
	const struct cpl_measured_at at = {0};
	struct got g = {.net = parse_network(graph)};

	assert_int_equal(cpl_measured_parse(&g.measured, g.net, nul,
	                                    sizeof(nul) - 1, "m", &at, &g.err),
	                 0);
	assert_int_equal(g.measured.left_out, 1);
	assert_non_null(strstr(g.measured.why.text, "m:3: 4 fields"));
	done(&g);
	g.net = parse_network("{\"format\": \"commplace-network\", "
	                      "\"version\": 1, \"name\": \"t\", \"type\": "
	                      "\"torus\", \"dims\": [4], "
	                      "\"nodes_per_router\": 1, \"nodes\": "
	                      "\"n[0-3]\"}");
	assert_int_equal(cpl_measured_parse(&g.measured, g.net, nul,
	                                    sizeof(nul) - 1, "m", &at, &g.err),
	                 -1);
	assert_non_null(strstr(g.err.text, "states no bandwidths"));
	done(&g);
}

/* The oldest of what counts; without a clock times do not matter. */
static void test_times(void **state)
{
	const struct cpl_measured_at at = {0};
	static const char text[] = COUNTERS
	        "20,0,1,0\n30,0,1,1\n5,2,1,0\n10,2,1,0\n40,2,1,0\n";
	struct got g = {.net = parse_network(graph)};

	assert_int_equal(cpl_measured_parse(&g.measured, g.net, text,
	                                    strlen(text), "m", &at, &g.err),
	                 0);
	assert_number(g.measured.time, 30, 0);
	assert_number(g.measured.since, 10, 0);
	done(&g);
}

/* Bundles of a dragonfly are one link of several cables. */
static void test_bundle(void **state)
{
	struct cpl_network *net = parse_network(
	        "{\"format\": \"commplace-network\", \"version\": 1, "
	        "\"name\": \"t\", \"type\": \"dragonfly\", \"groups\": 3, "
	        "\"rows\": 2, \"columns\": 2, \"nodes_per_router\": 1, "
	        "\"column_links_per_router_pair\": 3, "
	        "\"bandwidth\": {\"row\": 10, \"column\": 30, \"global\": 10, "
	        "\"injection\": 10}, \"nodes\": \"n[0-11]\"}");
	const struct cpl_measured_at at = {0};
	struct cpl_measured m;
	struct cpl_error err = {""};
	int64_t link = link_of(net, 0, 2, 0);
	int cables = cpl_network_link_cables(net, link);
	char text[256] = RATES;
	double each = cpl_network_link_bandwidth(net, link) / cables / 2;

	for (int i = 0; i < cables; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
		         "9990,0,2,%g\n", each);
	assert_int_equal(
	        cpl_measured_parse(&m, net, text, strlen(text), "m", &at, &err),
	        0);
	assert_int_equal(m.n, 1);
	assert_number(rate_of(&m, link), each * cables, 1e-9);
	cpl_measured_free(&m);
	cpl_network_free(net);
}

/* Known jobs are taken out, never below 0; traces of traffic are nothing. */
static void test_rest(void **state)
{
	struct got g = read_text(RATES "9990,0,1,3\n9990,1,0,2\n9990,n0,,700\n"
	                               "9990,n1,,0.9\n9990,0,2,50\n");
	struct cpl_load own;
	struct cpl_job_load *rest;

	assert_int_equal(cpl_load_init(&own, g.net, NULL), 0);
	own.link[link_of(g.net, 0, 1, 0)] = 1;
	own.link[link_of(g.net, 1, 0, 0)] = 3;
	own.link[link_of(g.net, 2, 1, 0)] = 5e8; /* not measured */
	own.injection[0] = 300;
	rest = cpl_measured_rest(&g.measured, g.net, &own, NULL);
	assert_non_null(rest);
	assert_int_equal(rest->n_links, 4);
	assert_true(rest->id == CPL_MEASURED_ID);
	for (int i = 0; i < rest->n_links; i++) {
		double want = rest->on[i].link == link_of(g.net, 0, 1, 0) ? 2
		              : rest->on[i].link < g.net->n_links         ? 25
		                                                          : 400;

		assert_number(rest->on[i].bytes / rest->period, want, 1e-9);
	}
	free(rest);
	cpl_load_free(&own);
	rest = cpl_measured_rest(&g.measured, g.net, NULL, NULL);
	assert_int_equal(rest->n_links, 5);
	free(rest);
	done(&g);
}

/* 10^6 rows, half of them of links that there are not. */
static void test_many(void **state)
{
	const int64_t rows = 1000000;
	char *text, line[64];
	size_t length;
	FILE *out = open_memstream(&text, &length);
	const struct cpl_measured_at at = {.now = NOW, .max_age = 300};
	struct cpl_network *net = parse_network(graph);
	struct cpl_measured m;
	struct cpl_error err = {""};

	fputs(RATES, out);
	for (int64_t i = 0; i < rows; i++) {
		snprintf(line, sizeof(line), "%d.%06d,%s,1,3\n", 9900 + (int)(i % 2),
		         (int)(i / 2), i % 2 ? "9" : "0");
		fputs(line, out);
	}
	fclose(out);
	/* The newest of one link; all others were never to count. */
	assert_int_equal(
	        cpl_measured_parse(&m, net, text, length, "m", &at, &err), -1);
	assert_non_null(strstr(err.text, "500000 of 500001 rows"));
	assert_null(strchr(err.text, '\n'));
	cpl_measured_free(&m);
	cpl_network_free(net);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_links),   cmocka_unit_test(test_wrong),
	        cmocka_unit_test(test_odd_links),
	        cmocka_unit_test(test_odd_written),
	        cmocka_unit_test(test_refused), cmocka_unit_test(test_odd),
	        cmocka_unit_test(test_times),   cmocka_unit_test(test_bundle),
	        cmocka_unit_test(test_rest),    cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
