/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "plot/plot.h"

static json_t *json_row(const struct compare *c, const struct compare_row *row)
{
	const struct compare_result *r = &row->result;
	const struct link_stats *stats = r->stats;
	json_t *one = json_pack(
	        "{s:s, s:s, s:s, s:I, s:i, s:o, s:o, s:o, s:f, s:f, s:f, s:f, "
	        "s:f, s:f, s:f, s:f, s:f, s:f, s:o, s:b, s:b}",
	        "signature", c->cases[row->the_case].name, "placement",
	        c->placement[row->placement]->name, "routing",
	        c->routing[row->routing]->name, "seed", (json_int_t)r->seed,
	        "seeds", row->n_seeds, "links",
	        link_stats_links_json(stats, r->n_stats), "injection",
	        link_stats_json(&stats[r->n_stats - 2].stats), "ejection",
	        link_stats_json(&stats[r->n_stats - 1].stats), "hop_bytes",
	        r->sums.hop_bytes, "average_hops",
	        link_stats_average_hops(&r->sums), "max_dilation",
	        r->sums.max_dilation, "max_congestion",
	        r->metrics.max_congestion, "mean_congestion",
	        r->metrics.mean_congestion, "nonzero_congestion_average",
	        r->metrics.nonzero_average, "nonzero_congestion_variance",
	        r->metrics.nonzero_variance, "max_injection_congestion",
	        r->metrics.max_injection, "bytes_on_network",
	        r->sums.bytes_on_network, "bytes_in_node",
	        r->sums.bytes_in_node, "hybrid",
	        row->hybrid < 0 ? json_null() : json_real(row->hybrid),
	        "lowest_maximum", row->lowest_maximum, "lowest_congestion",
	        row->lowest_congestion);

	if (one && row->n_seeds > 1)
		json_object_set_new(one, "max_over_seeds",
		                    json_pack("{s:f, s:f}", "lowest", row->low,
		                              "highest", row->high));
	return one;
}

int compare_print_json(const struct cmd *self, const struct compare *c)
{
	json_t *rows = json_array();

	for (int i = 0; i < c->n_rows; i++)
		if (json_array_append_new(rows, json_row(c, &c->row[i]))) {
			json_decref(rows);
			return cmd_failf(self, "out of memory");
		}
	return cmd_print_json(self, json_pack("{s:s, s:o}", "network",
	                                      c->net->name, "rows", rows));
}

static void six_cells(const struct cpl_class_stats *s, char text[6][24])
{
	const double value[] = {s->min,  s->q1, s->median,
	                        s->mean, s->q3, s->max};

	for (int k = 0; k < 6; k++)
		cmd_bytes(value[k], text[k], sizeof(text[k]));
}

/* Table of a case; stats row `class`, with the totals when it is "all". */
static int print_table(const struct compare *c, int the_case, int class)
{
	int per_case = c->n_placements * c->n_routings;
	struct cmd_table *table = class ? cmd_table_new(8, "llrrrrrr")
	                                : cmd_table_new(13, "llrrrrrrrrrrr");

	if (class)
		cmd_table_row(table, "placement", "routing", "min", "q1",
		              "median", "mean", "q3", "max");
	else
		cmd_table_row(table, "placement", "routing", "seed", "min",
		              "q1", "median", "mean", "q3", "max  ",
		              "hop-bytes", "max congestion  ",
		              "mean congestion", "hybrid");
	for (int i = the_case * per_case; i < (the_case + 1) * per_case; i++) {
		const struct compare_row *row = &c->row[i];
		const struct compare_result *r = &row->result;
		const struct cpl_placement_policy *p =
		        c->placement[row->placement];
		const char *routing = c->routing[row->routing]->name;
		char text[6][24], seed[24] = "-", max[32], hops[24];
		char congestion[32], mean[24], hybrid[24] = "-";

		six_cells(&r->stats[class].stats, text);
		if (class) {
			cmd_table_row(table, p->name, routing, text[0], text[1],
			              text[2], text[3], text[4], text[5]);
			continue;
		}
		if (p->flags & CPL_PLACEMENT_RANDOM)
			snprintf(seed, sizeof(seed), "%" PRIu64, r->seed);
		snprintf(max, sizeof(max), "%s %c", text[5],
		         row->lowest_maximum ? '*' : ' ');
		cmd_bytes(r->sums.hop_bytes, hops, sizeof(hops));
		snprintf(congestion, sizeof(congestion), "%.4g s %c",
		         r->metrics.max_congestion,
		         row->lowest_congestion ? '*' : ' ');
		snprintf(mean, sizeof(mean), "%.4g s",
		         r->metrics.mean_congestion);
		if (row->hybrid >= 0)
			snprintf(hybrid, sizeof(hybrid), "%.3g", row->hybrid);
		cmd_table_row(table, p->name, routing, seed, text[0], text[1],
		              text[2], text[3], text[4], max, hops, congestion,
		              mean, hybrid);
	}
	return cmd_table_print(table);
}

static int print_seeds(const struct compare *c, int the_case)
{
	int per_case = c->n_placements * c->n_routings;
	struct cmd_table *table = cmd_table_new(5, "llrrr");

	cmd_table_row(table, "placement", "routing", "seeds", "lowest max",
	              "highest max");
	for (int i = the_case * per_case; i < (the_case + 1) * per_case; i++) {
		const struct compare_row *row = &c->row[i];
		char seeds[16], low[24], high[24];

		if (row->n_seeds == 1)
			continue;
		snprintf(seeds, sizeof(seeds), "%d", row->n_seeds);
		cmd_table_row(table, c->placement[row->placement]->name,
		              c->routing[row->routing]->name, seeds,
		              cmd_bytes(row->low, low, sizeof(low)),
		              cmd_bytes(row->high, high, sizeof(high)));
	}
	return cmd_table_print(table);
}

int compare_print_text(const struct cmd *self, const struct compare *c,
                       bool classes)
{
	(void)self;
	printf("network %s\n", c->net->name);
	for (int i = 0; i < c->n_cases; i++) {
		printf("\nsignature %s, all links, bytes per link "
		       "(* lowest)\n\n",
		       c->cases[i].name);
		if (print_table(c, i, 0))
			return CMD_FAILED;
		for (int k = 0; classes && k < c->net->n_classes; k++) {
			printf("\nsignature %s, %s links\n\n", c->cases[i].name,
			       c->net->link_class[k].name);
			if (print_table(c, i, k + 1))
				return CMD_FAILED;
		}
		if (c->n_seeds > 1) {
			printf("\nsignature %s, largest load over the "
			       "seeds\n\n",
			       c->cases[i].name);
			if (print_seeds(c, i))
				return CMD_FAILED;
		}
	}
	return CMD_OK;
}

/* One panel: stats row `class` of a case. Groups are routings. */
static void fill_panel(const struct compare *c, int the_case, int class,
                       struct cpl_class_stats *box)
{
	for (int r = 0; r < c->n_routings; r++)
		for (int p = 0; p < c->n_placements; p++) {
			int i = (the_case * c->n_placements + p) *
			                c->n_routings +
			        r;

			box[r * c->n_placements + p] =
			        c->row[i].result.stats[class].stats;
		}
}

int compare_plot(const struct compare *c, bool classes, const char *path,
                 struct cpl_error *err)
{
	int per_case = classes ? c->net->n_classes + 1 : 1;
	int n = c->n_cases * per_case, boxes = c->n_placements * c->n_routings;
	struct cpl_class_stats *box = calloc((size_t)(n * boxes), sizeof(*box));
	struct plot_panel *panel = calloc((size_t)n, sizeof(*panel));
	struct plot_name *group = calloc((size_t)c->n_routings, sizeof(*group));
	struct plot_name *series =
	        calloc((size_t)c->n_placements, sizeof(*series));
	struct plot_boxes plot = {.n_panels = n,
	                          .panel = panel,
	                          .n_groups = c->n_routings,
	                          .group = group,
	                          .n_series = c->n_placements,
	                          .series = series};
	struct cpl_file_writer *writer = NULL;
	char title[160];
	int rc = -1;

	if (!box || !panel || !group || !series) {
		cpl_fail_memory(err);
		goto out;
	}
	for (int r = 0; r < c->n_routings; r++)
		group[r] = (struct plot_name){c->routing[r]->name,
		                              c->routing[r]->short_name};
	for (int p = 0; p < c->n_placements; p++)
		series[p] = (struct plot_name){
		        c->placement[p]->name,
		        c->placement[p]->short_name ? c->placement[p]->short_name
		                                    : c->placement[p]->name};
	for (int i = 0; i < n; i++) {
		const char *class =
		        i % per_case ? c->net->link_class[i % per_case - 1].name
		                     : "all";

		snprintf(panel[i].title, sizeof(panel[i].title),
		         "%.60s, %s links", c->cases[i / per_case].name, class);
		panel[i].box = box + (size_t)(i * boxes);
		fill_panel(c, i / per_case, i % per_case, box + i * boxes);
	}
	snprintf(title, sizeof(title), "Link traffic on %.60s", c->net->name);
	plot.title = title;
	writer = cpl_file_open_atomic(path, err);
	if (!writer)
		goto out;
	plot_write_boxes(&plot, cpl_file_stream(writer));
	rc = cpl_file_commit(writer, 0644, err);
out:
	free(box);
	free(panel);
	free(group);
	free(series);
	return rc;
}
