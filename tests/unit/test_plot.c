/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "unit.h"

#include <math.h>

#include "cmd/plot/plot.h"

static void test_scale(void **state)
{
	static const struct {
		double smallest, largest;
		bool zero;
		int low;
		double top; /* value at the top */
		bool has_zero, cut;
	} row[] = {
	        {1e3, 9e5, false, 3, 1e6, false, false},
	        /* The largest is near the top, however little there is. */
	        {1000, 1000, false, 2, 2e3, false, false},
	        {1.5e6, 1.26e7, true, 6, 2e7, true, false},
	        {999, 1.9e5, false, 2, 2e5, false, false},
	        {2e6, 4e6, false, 5, 5e6, false, false},
	        /* Cut to six decades. */
	        {1, 4e14, false, 9, 5e14, true, true},
	        /* Below 1. */
	        {2e-5, 3e-3, false, -5, 5e-3, false, false},
	        /* No traffic at all. */
	        {INFINITY, 0, true, 0, 10, true, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct plot_scale s = plot_scale_make(
		        row[i].smallest, row[i].largest, row[i].zero);

		assert_int_equal(s.low, row[i].low);
		assert_true(fabs(s.top - log10(row[i].top)) < 1e-9);
		assert_int_equal(s.has_zero, row[i].has_zero);
		assert_int_equal(s.cut, row[i].cut);
	}
}

static void test_scale_at(void **state)
{
	struct plot_scale s = plot_scale_make(1e3, 9e6, false);

	(void)state;
	assert_true(fabs(plot_scale_at(&s, 1e3)) < 1e-12);
	assert_true(fabs(plot_scale_at(&s, 1e5) - 0.5) < 1e-12);
	assert_true(fabs(plot_scale_at(&s, 1e7) - 1) < 1e-12);
	assert_true(plot_scale_at(&s, 0) < 0);
	assert_true(plot_scale_at(&s, 999) < 0);
	assert_true(plot_scale_at(&s, 1e9) <= 1);
}

/* What writing gives, for the caller to free. */
static char *boxes_text(const struct plot_boxes *plot)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	plot_write_boxes(plot, out);
	assert_int_equal(fclose(out), 0);
	return text;
}

static int count(const char *text, const char *what)
{
	int n = 0;

	while ((text = strstr(text, what))) {
		n++;
		text += strlen(what);
	}
	return n;
}

/* y of the dashed line. */
static double lowest_y(const char *svg)
{
	const char *dash = strstr(svg, "stroke-dasharray"), *y;

	assert_non_null(dash);
	for (y = dash; strncmp(y, "y1=\"", 4); y--)
		assert_true(y > svg);
	return atof(y + 4);
}

#define ENTRY(full, brief)                                                     \
	(&(const struct cpl_entry){.name = full, .short_name = brief})
static const struct cpl_entry *const routing[] = {ENTRY("static-direct", "SD"),
                                                  ENTRY("a<b>&c", "X")};
static const struct cpl_entry *const placement[] = {
        ENTRY("linear", "LIN"), ENTRY("random-nodes", "RDN"),
        ENTRY("auto", NULL)};

static void test_boxes(void **state)
{
	struct cpl_class_stats box[6];
	struct plot_panel panel = {"one, all links", box};
	struct plot_boxes plot = {"Title", 1, &panel, 2, routing, 3, placement};
	double higher;
	char *svg;

	(void)state;
	for (int i = 0; i < 6; i++)
		box[i] = (struct cpl_class_stats){.min = 1e3,
		                                  .q1 = 1e4,
		                                  .median = 2e4,
		                                  .mean = 3e4,
		                                  .q3 = 1e5,
		                                  .max = 1e6 * (1 + i)};
	svg = boxes_text(&plot);
	assert_int_equal(count(svg, "<svg "), 1);
	assert_int_equal(count(svg, "</svg>\n"), 1);
	/* A diamond for every mean, one marked box. */
	assert_int_equal(count(svg, "l5 5l-5 5l-5 -5z"), 6);
	assert_int_equal(count(svg, "l-6 -10h12z"), 1);
	assert_non_null(strstr(svg, "lowest maximum 1 MB: linear, "
	                            "static-direct<"));
	assert_non_null(strstr(svg, ">random-nodes (RDN)<"));
	assert_non_null(strstr(svg, ">auto<"));
	assert_non_null(strstr(svg, ">a&lt;b&gt;&amp;c<"));
	assert_null(strstr(svg, "a<b"));
	assert_null(strstr(svg, "nan"));
	assert_null(strstr(svg, ">0 B<"));
	higher = lowest_y(svg);
	free(svg);

	box[4].max = 1e5;
	svg = boxes_text(&plot);
	assert_non_null(strstr(svg, "lowest maximum 100 kB: random-nodes, "
	                            "a&lt;b"));
	assert_true(lowest_y(svg) > higher);
	free(svg);
}

static void test_zero(void **state)
{
	struct cpl_class_stats box[2] = {
	        {.min = 0, .mean = 5e3, .q3 = 1e4, .max = 1e6}, {.min = 0}};
	struct plot_panel panel = {"zero", box};
	struct plot_boxes plot = {"Title", 1, &panel, 1, routing, 2, placement};
	char *svg = boxes_text(&plot);

	(void)state;
	assert_non_null(strstr(svg, ">0 B<"));
	assert_non_null(strstr(svg, "lowest maximum 0 B: random-nodes"));
	assert_null(strstr(svg, "nan"));
	assert_null(strstr(svg, "inf"));
	free(svg);

	memset(box, 0, sizeof(box));
	svg = boxes_text(&plot);
	assert_non_null(strstr(svg, "lowest maximum 0 B: linear"));
	assert_null(strstr(svg, "nan"));
	assert_null(strstr(svg, "inf"));
	free(svg);
}

static struct cpl_network *network(const char *rest)
{
	struct cpl_error err = {""};
	char text[512];
	struct cpl_network *net;
	int n = snprintf(text, sizeof(text),
	                 "{\"format\":\"commplace-network\",\"version\":1,"
	                 "\"name\":\"x\",%s}",
	                 rest);

	net = cpl_network_parse(text, (size_t)n, "test", &err);
	assert_string_equal(err.text, "");
	assert_non_null(net);
	return net;
}

static char *map_text(const struct cpl_network *net, const double *link)
{
	char *text = NULL;
	size_t length = 0;
	struct cpl_error err = {""};
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	assert_int_equal(plot_write_map(net, link, false, "T", "S", out, &err), 0);
	assert_int_equal(fclose(out), 0);
	return text;
}

/* Every shape of map, with every link loaded, one, and none. */
static void test_maps(void **state)
{
	static const char *const shape[] = {
	        "\"type\":\"dragonfly\",\"groups\":1,\"rows\":1,\"columns\":2,"
	        "\"nodes_per_router\":1,\"nodes\":\"n[0-1]\"",
	        "\"type\":\"dragonfly\",\"groups\":97,\"rows\":40,"
	        "\"columns\":1,\"nodes_per_router\":1,\"nodes\":\"n[0-3879]\"",
	        "\"type\":\"torus\",\"dims\":[1],\"nodes\":\"n0\","
	        "\"nodes_per_router\":1",
	        "\"type\":\"torus\",\"dims\":[2,1,2],\"nodes\":\"n[0-3]\","
	        "\"nodes_per_router\":1",
	        "\"type\":\"torus\",\"dims\":[65,2],\"nodes\":\"n[0-129]\","
	        "\"nodes_per_router\":1",
	        "\"type\":\"torus\",\"dims\":[2,2,2,2,2,2,2,64],"
	        "\"nodes\":\"n[0-8191]\",\"nodes_per_router\":1",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(shape) / sizeof(*shape); i++) {
		struct cpl_network *net = network(shape[i]);
		double *link = calloc((size_t)net->n_links + 1, sizeof(*link));

		assert_non_null(link);
		for (int full = 0; full < 3; full++) {
			char *svg;
			int hot;

			for (int64_t k = 0; full == 2 && k < net->n_links; k++)
				link[k] = 1e-3 * pow(10, (double)(k % 9));
			if (full == 1 && net->n_links)
				link[net->n_links - 1] = 5e6;
			svg = map_text(net, link);
			hot = full && net->n_links;
			assert_int_equal(count(svg, "<svg "), 1);
			assert_int_equal(count(svg, "</svg>\n"), 1);
			assert_int_equal(count(svg, "largest congestion"), hot);
			/* In the head and on the map. */
			assert_int_equal(count(svg, "#0090ff"), 2 * hot);
			assert_null(strstr(svg, "nan"));
			assert_null(strstr(svg, "inf"));
			free(svg);
		}
		free(link);
		cpl_network_free(net);
	}
}

/* One loaded link is one cell in the darkest colour that there is for it. */
static void test_map_cell(void **state)
{
	struct cpl_network *net = network(
	        "\"type\":\"dragonfly\",\"groups\":3,\"rows\":1,\"columns\":2,"
	        "\"nodes_per_router\":1,\"nodes\":\"n[0-5]\"");
	double link[32] = {0};
	char *svg;

	(void)state;
	assert_in_range(net->n_links, 1, 32);
	/* The first global link: from group 0 to group 1. */
	link[net->link_class[2].first] = 3e6;
	svg = map_text(net, link);
	assert_non_null(strstr(svg, "global link, group 0 row 0 column 1 to "
	                            "group 1 row 0 column 0, 3 MB<"));
	/* Second cell of the first line of a matrix of three. */
	assert_non_null(strstr(svg, "<rect x=\"146.0\" y=\"166.0\" "
	                            "width=\"50.0\" height=\"50.0\""));
	free(svg);
	cpl_network_free(net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_scale), cmocka_unit_test(test_scale_at),
	        cmocka_unit_test(test_boxes), cmocka_unit_test(test_zero),
	        cmocka_unit_test(test_maps),  cmocka_unit_test(test_map_cell),
	};

	return cmocka_run_group_tests_name("plot", tests, NULL, NULL);
}
