/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plot.h"

#include <math.h>

#define SIZE 13.0
#define AXIS 720.0 /* pixels */
#define PANEL 60.0
#define STEP 84.0 /* from panel to panel */
#define ROWS 240.0 /* of all ranks, at least a pixel each */
#define GAP 10.0
#define TOP 66.0

/* Okabe and Ito's colours, told apart by every kind of colour vision. */
static const struct {
	const char *colour, *text;
} state[PLOT_STATES] = {
        [PLOT_NOTHING] = {"#ffffff", "done, or not begun"},
        [PLOT_COMPUTING] = {"#009e73", "computing"},
        [PLOT_COMMUNICATING] = {"#0072b2", "communicating"},
        [PLOT_WAITING] = {"#e69f00", "waiting for others"},
};

static double x_of(const struct plot_timeline *p, double left, double bin)
{
	return left + AXIS * bin / p->bins;
}

static void draw_time(const struct plot_timeline *p, double left, double bottom,
                      FILE *out)
{
	double full = p->bins * p->width, step = plot_step(full, 5);

	for (int i = 0; i * step <= full * (1 + 1e-9); i++) {
		double x = left + AXIS * i * step / full;
		char text[64];

		plot_line(out, x, TOP, x, bottom, "#ddd", 1, NULL);
		snprintf(text, sizeof(text), "%.6g s", i * step);
		plot_text(out, x, bottom + 16, SIZE, "middle", NULL, text);
	}
}

static void draw_curve(const struct plot_timeline *p,
                       const struct plot_curve *curve, double left, double top,
                       FILE *out)
{
	double bottom = top + PANEL;

	plot_text(out, left, top - 5, SIZE, "start", NULL, curve->name);
	plot_text(out, left - 5, top + 9, 11, "end", NULL, "100 %");
	plot_text(out, left - 5, bottom, 11, "end", NULL, "0");
	fprintf(out, "<path fill=\"#56b4e9\" d=\"M%.1f %.1f", left, bottom);
	for (int i = 0; i < p->bins; i++)
		fprintf(out, "V%.1fH%.1f", bottom - PANEL * curve->mean[i],
		        x_of(p, left, i + 1));
	fprintf(out, "V%.1fZ\"/>\n<path fill=\"none\" stroke=\"#d55e00\" "
	             "d=\"M%.1f %.1f", bottom, left, bottom);
	for (int i = 0; i < p->bins; i++)
		fprintf(out, "V%.1fH%.1f", bottom - PANEL * curve->most[i],
		        x_of(p, left, i + 1));
	fputs("\"/>\n", out);
	plot_line(out, left, bottom, left + AXIS, bottom, "#888", 1, NULL);
}

/* Bins of one state together are one rectangle. */
static void draw_row(const struct plot_timeline *p, int row, double left,
                     double y, double height, FILE *out)
{
	const unsigned char *s = p->state + (int64_t)row * p->bins;

	for (int i = 0, end; i < p->bins; i = end) {
		for (end = i + 1; end < p->bins && s[end] == s[i];)
			end++;
		if (s[i] != PLOT_NOTHING)
			plot_rect(out, x_of(p, left, i), y,
			          x_of(p, left, end) - x_of(p, left, i),
			          height, state[s[i]].colour, NULL);
	}
}

static const char of_links[] = "links: mean;", fullest[] = "the fullest";

static double legend_width(void)
{
	double width = plot_text_width(of_links, SIZE) + GAP +
	               plot_text_width(fullest, SIZE);

	for (int i = 0; i < PLOT_STATES; i++)
		width += 17 + plot_text_width(state[i].text, SIZE) + 2 * GAP;
	return width;
}

static void draw_legend(double left, double y, FILE *out)
{
	double x = left;

	for (int i = 0; i < PLOT_STATES; i++) {
		plot_rect(out, x, y, 12, 12, state[i].colour,
		          "stroke=\"#888\"");
		plot_text(out, x + 17, y + 11, SIZE, "start", NULL,
		          state[i].text);
		x += 17 + plot_text_width(state[i].text, SIZE) + 2 * GAP;
	}
	plot_text(out, x, y + 11, SIZE, "start", "fill=\"#0072b2\"", of_links);
	x += plot_text_width(of_links, SIZE) + GAP;
	plot_text(out, x, y + 11, SIZE, "start", "fill=\"#d55e00\"", fullest);
}

void plot_write_timeline(const struct plot_timeline *p, FILE *out)
{
	double left = 64, rows = TOP + p->n_curves * STEP;
	double height = fmax(ROWS / p->n_rows, 1);
	double bottom = rows + height * p->n_rows, width;
	char text[32];

	height = height > 16 ? 16 : height;
	bottom = rows + height * p->n_rows;
	width = fmax(left + AXIS + 40, left + legend_width() + GAP);
	plot_begin(out,
	           fmax(width, fmax(plot_text_width(p->title, 16),
	                            plot_text_width(p->subtitle, SIZE)) +
	                               2 * GAP),
	           bottom + 54);
	plot_text(out, GAP, 22, 16, "start", "font-weight=\"bold\"", p->title);
	plot_text(out, GAP, 41, SIZE, "start", NULL, p->subtitle);
	draw_time(p, left, bottom, out);
	for (int i = 0; i < p->n_curves; i++)
		draw_curve(p, &p->curve[i], left, TOP + i * STEP, out);
	/* Rows that touch leave no seams. */
	fputs("<g shape-rendering=\"crispEdges\">\n", out);
	for (int i = 0; i < p->n_rows; i++)
		draw_row(p, i, left, rows + i * height, height, out);
	fputs("</g>\n", out);
	plot_text(out, left - 5, rows + 10, 11, "end", NULL, "rank 0");
	snprintf(text, sizeof(text), "rank %d", p->n_ranks - 1);
	if (p->n_rows > 1)
		plot_text(out, left - 5, bottom, 11, "end", NULL, text);
	draw_legend(left, bottom + 30, out);
	plot_end(out);
}
