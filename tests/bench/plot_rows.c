/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The box plots of `commplace compare --plot` from numbers that were found
 * before. ROUTINGS and PLACEMENTS are lists LONG=SHORT,... ; standard input has
 * for each panel a line with its title, then for each routing and placement a
 * line: minimum, quartile, median, mean, quartile, maximum, in bytes.
 * Usage: plot_rows OUT.svg TITLE ROUTINGS PLACEMENTS <ROWS
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "plot/plot.h"

#define MAX_NAMES 16
#define MAX_PANELS 8

static int split(char *list, const struct cpl_entry **entry)
{
	static struct cpl_entry entries[2 * MAX_NAMES], *next = entries;
	int n = 0;

	for (char *one; n < MAX_NAMES && (one = strsep(&list, ",")); n++) {
		next->name = strsep(&one, "=");
		next->short_name = one;
		entry[n] = next++;
	}
	return n;
}

/* 1, 0 at the end, -1 when cut. */
static int read_panel(struct plot_panel *panel, struct cpl_class_stats *box,
                      int n)
{
	if (!fgets(panel->title, sizeof(panel->title), stdin))
		return 0;
	panel->title[strcspn(panel->title, "\n")] = '\0';
	for (int i = 0; i < n; i++)
		if (scanf("%lf %lf %lf %lf %lf %lf ", &box[i].min, &box[i].q1,
		          &box[i].median, &box[i].mean, &box[i].q3,
		          &box[i].max) != 6)
			return -1;
	panel->box = box;
	return 1;
}

int main(int argc, char **argv)
{
	static struct cpl_class_stats box[MAX_PANELS][MAX_NAMES * MAX_NAMES];
	const struct cpl_entry *group[MAX_NAMES], *series[MAX_NAMES];
	struct plot_panel panel[MAX_PANELS];
	struct plot_boxes plot = {
	        .panel = panel, .group = group, .series = series};
	struct cpl_error err = {"usage: plot_rows OUT.svg TITLE ROUTINGS "
	                        "PLACEMENTS <ROWS"};
	struct cpl_file_writer *writer;
	int more = argc == 5;

	if (!more)
		goto fail;
	plot.title = argv[2];
	plot.n_groups = split(argv[3], group);
	plot.n_series = split(argv[4], series);
	while (more > 0 && plot.n_panels < MAX_PANELS) {
		more = read_panel(&panel[plot.n_panels], box[plot.n_panels],
		                  plot.n_groups * plot.n_series);
		plot.n_panels += more > 0;
	}
	if (more < 0 || !plot.n_panels) {
		cpl_fail(&err, "standard input: six numbers a row are missing");
		goto fail;
	}
	writer = cpl_file_open_atomic(argv[1], &err);
	if (!writer)
		goto fail;
	plot_write_boxes(&plot, cpl_file_stream(writer));
	if (!cpl_file_commit(writer, 0644, &err))
		return 0;
fail:
	fprintf(stderr, "plot_rows: %s\n", err.text);
	return 1;
}
