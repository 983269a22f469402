/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plot.h"

#include <math.h>

#define SIZE 13.0
#define ROW 26.0
#define AXIS 520.0 /* pixels */
#define GAP 10.0
#define TOP 52.0

static void draw_gain(const struct plot_gain *g, double zero, double scale,
                      double y, FILE *out)
{
	const char *colour = plot_colour(g->low > 0    ? 2
	                                 : g->high < 0 ? 5
	                                               : PLOT_GREY);
	double x = zero + g->gain * scale;

	plot_line(out, zero + g->low * scale, y, zero + g->high * scale, y,
	          colour, g->mark ? 5 : 3, NULL);
	plot_rect(out, x - 4, y - 4, 8, 8, "#222", NULL);
}

void plot_write_gains(const struct plot_gains *p, FILE *out)
{
	double low = 0, high = 0, left = 60, right = 40, scale, step, zero;
	double bottom = TOP + p->n * ROW;

	for (int i = 0; i < p->n; i++) {
		low = fmin(low, p->gain[i].low);
		high = fmax(high, p->gain[i].high);
		left = fmax(left, plot_text_width(p->gain[i].label, SIZE) +
		                          2 * GAP);
		right = fmax(right,
		             plot_text_width(p->gain[i].note, SIZE) + GAP);
	}
	if (!(high - low > 0))
		high = 1;
	scale = AXIS / (high - low);
	step = plot_step(high - low, 4);
	zero = left - low * scale;
	plot_begin(out, left + AXIS + right, bottom + 34);
	plot_text(out, GAP, 24, 16, "start", "font-weight=\"bold\"", p->title);
	for (double v = ceil(low / step) * step; v <= high; v += step) {
		char text[32];

		plot_line(out, zero + v * scale, TOP - 4, zero + v * scale,
		          bottom, "#ddd", 1, NULL);
		snprintf(text, sizeof(text), "%.4g %%",
		         fabs(v) < step / 2 ? 0.0 : v);
		plot_text(out, zero + v * scale, bottom + 18, SIZE, "middle",
		          NULL, text);
	}
	plot_line(out, zero, TOP - 6, zero, bottom, "#444", 1.5, NULL);
	for (int i = 0; i < p->n; i++) {
		double y = TOP + (i + 0.5) * ROW;
		const char *bold =
		        p->gain[i].mark ? "font-weight=\"bold\"" : NULL;

		plot_text(out, left - GAP, y + 5, SIZE, "end", bold,
		          p->gain[i].label);
		draw_gain(&p->gain[i], zero, scale, y, out);
		plot_text(out, left + AXIS + GAP / 2, y + 5, SIZE, "start",
		          bold, p->gain[i].note);
	}
	plot_end(out);
}
