/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "plot/plot.h"

static json_t *json_row(const struct compare *c, const struct compare_row *row)
{
	json_t *one =
	        json_pack("{s:s, s:s, s:s, s:I, s:i}", "signature",
	                  c->cases[row->the_case].name, "placement",
	                  c->placement[row->placement]->name, "routing",
	                  c->routing[row->routing]->name, "seed",
	                  (json_int_t)row->result.seed, "seeds", row->n_seeds);

	if (json_object_update_new(one, evaluation_json(&row->result.of)) ||
	    cpl_json_update(one, "{s:o, s:o, s:b, s:b}", "communication",
	                    communication_json(c->net, &row->result.longest,
	                                       row->reference),
	                    "hybrid",
	                    row->hybrid < 0 ? json_null()
	                                    : json_real(row->hybrid),
	                    "lowest_maximum", row->lowest_maximum,
	                    "lowest_congestion", row->lowest_congestion) ||
	    (c->learned &&
	     json_object_set_new(one, "learned_seconds",
	                         row->result.told < 0
	                                 ? json_null()
	                                 : json_real(row->result.told))) ||
	    (row->result.spread.grid.n &&
	     json_object_set_new(one, "spread",
	                         spread_json(c->net, &row->result.spread)))) {
		json_decref(one);
		return NULL;
	}
	if (row->n_seeds > 1)
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
			return cmd_fail_memory(self);
		}
	return cmd_print_pack(self, "{s:s, s:o}", "network", c->net->name,
	                      "rows", rows);
}

/* Table of a case; stats row `class`, with the totals when it is "all". */
static int print_table(const struct compare *c, int the_case, int class)
{
	int per_case = c->n_placements * c->n_routings;
	struct cmd_table *table =
	        cmd_table_new(class        ? "llrrrrrr"
	                      : c->learned ? "llrrrrrrrrrrrrrr"
	                                   : "llrrrrrrrrrrrrr");

	cmd_table_row(table,
	              class ? "placement|routing|min|q1|median|mean|q3|max"
	                    : "placement|routing|seed|min|q1|median|mean|q3|"
	                      "max  |hop-bytes|max congestion  |"
	                      "mean congestion|hybrid|communication|"
	                      "slowdown|learned");
	for (int i = the_case * per_case; i < (the_case + 1) * per_case; i++) {
		const struct compare_row *row = &c->row[i];
		const struct evaluation *e = &row->result.of;
		const struct cpl_class_stats *s = &e->stats[class].stats;
		const struct cpl_entry *p = c->placement[row->placement];
		const char *routing = c->routing[row->routing]->name;
		const struct communication *l = &row->result.longest;
		char seed[24] = "-", hybrid[24] = "-";
		char seconds[24] = "-", slowdown[24] = "-", told[24] = "-";

		if (class) {
			cmd_table_row(table, "%s|%s|" SIX_CELLS, p->name,
			              routing, SIX_BYTES(s));
			continue;
		}
		if (p->flags & CPL_PLACEMENT_RANDOM)
			snprintf(seed, sizeof(seed), "%" PRIu64,
			         row->result.seed);
		if (row->hybrid >= 0)
			snprintf(hybrid, sizeof(hybrid), "%.3g", row->hybrid);
		if (l->known) {
			snprintf(seconds, sizeof(seconds), "%.4g s",
			         l->times.seconds);
			snprintf(slowdown, sizeof(slowdown), "%.3f",
			         communication_slowdown(l->times.seconds,
			                                row->reference));
		}
		if (row->result.told >= 0)
			snprintf(told, sizeof(told), "%.4g s",
			         row->result.told);
		cmd_table_row(
		        table,
		        "%s|%s|%s|" SIX_CELLS
		        " %c|%s|%.4g s %c|%.4g s|%s|%s|%s|%s",
		        p->name, routing, seed, SIX_BYTES(s),
		        row->lowest_maximum ? '*' : ' ',
		        CMD_BYTES(e->sums.hop_bytes), e->metrics.max_congestion,
		        row->lowest_congestion ? '*' : ' ',
		        e->metrics.mean_congestion, hybrid, seconds, slowdown,
		        told);
	}
	return cmd_table_print(table);
}

static int print_seeds(const struct compare *c, int the_case)
{
	int per_case = c->n_placements * c->n_routings;
	struct cmd_table *table = cmd_table_new("llrrr");

	cmd_table_row(table, "placement|routing|seeds|lowest max|highest max");
	for (int i = the_case * per_case; i < (the_case + 1) * per_case; i++) {
		const struct compare_row *row = &c->row[i];

		if (row->n_seeds > 1)
			cmd_table_row(table, "%s|%s|%d|%s|%s",
			              c->placement[row->placement]->name,
			              c->routing[row->routing]->name,
			              row->n_seeds, CMD_BYTES(row->low),
			              CMD_BYTES(row->high));
	}
	return cmd_table_print(table);
}

int compare_print_text(const struct compare *c, bool classes)
{
	printf("network %s\n", c->net->name);
	for (int i = 0; i < c->n_cases; i++) {
		const char *name = c->cases[i].name;

		printf("\nsignature %s, all links, bytes per link "
		       "(* lowest)\n\n",
		       name);
		if (print_table(c, i, 0))
			return CMD_FAILED;
		for (int k = 0; classes && k < c->net->n_classes; k++) {
			printf("\nsignature %s, %s links\n\n", name,
			       c->net->link_class[k].name);
			if (print_table(c, i, k + 1))
				return CMD_FAILED;
		}
		if (c->n_seeds == 1)
			continue;
		printf("\nsignature %s, largest load over the seeds\n\n", name);
		if (print_seeds(c, i))
			return CMD_FAILED;
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
			        c->row[i].result.of.stats[class].stats;
		}
}

int compare_plot(const struct compare *c, bool classes, const char *path,
                 struct cpl_error *err)
{
	int per_case = classes ? c->net->n_classes + 1 : 1;
	int n = c->n_cases * per_case, boxes = c->n_placements * c->n_routings;
	struct cpl_class_stats *box = calloc((size_t)(n * boxes), sizeof(*box));
	struct plot_panel *panel = calloc((size_t)n, sizeof(*panel));
	char title[160];
	struct plot_boxes plot = {.title = title,
	                          .n_panels = n,
	                          .panel = panel,
	                          .n_groups = c->n_routings,
	                          .group = c->routing,
	                          .n_series = c->n_placements,
	                          .series = c->placement};
	struct cpl_file_writer *writer = NULL;
	int rc = -1;

	if (cpl_out_of_memory(!box || !panel, err))
		goto out;
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
	writer = cpl_file_open_atomic(path, err);
	if (!writer)
		goto out;
	plot_write_boxes(&plot, cpl_file_stream(writer));
	rc = cpl_file_commit(writer, 0644, err);
out:
	cpl_free_all(box, panel);
	return rc;
}
