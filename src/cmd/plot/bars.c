/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plot.h"

#include <math.h>

#define SIZE 13.0
#define ROW 24.0
#define THICK 15.0
#define AXIS 520.0 /* pixels */
#define GAP 10.0
#define TOP 52.0
#define LEGEND_GAP 18.0

/* Okabe and Ito's colours, told apart by every kind of colour vision. */
static const char *const palette[] = {"#0072b2", "#e69f00", "#009e73",
                                      "#cc79a7", "#56b4e9", "#d55e00",
                                      "#b8a400", "#444444"};
#define N_PALETTE ((int)(sizeof(palette) / sizeof(*palette)))

const char *plot_colour(int i)
{
	return i < 0 ? "#8c8c8c" : palette[i % N_PALETTE];
}

static double length(const struct plot_bar *bar)
{
	double sum = 0;

	for (int i = 0; i < bar->n_parts; i++)
		sum += bar->part[i];
	return sum;
}

static void draw_axis(const struct plot_bars *p, double left, double bottom,
                      double full, FILE *out)
{
	double step = plot_step(full, 4);

	for (int i = 0; i * step <= full * (1 + 1e-9); i++) {
		double x = left + i * step / full * AXIS;
		char text[64];

		plot_line(out, x, TOP - 4, x, bottom, "#ddd", 1, NULL);
		snprintf(text, sizeof(text), "%.6g%s", i * step, p->unit);
		plot_text(out, x, bottom + 18, SIZE, "middle", NULL, text);
	}
}

static void draw_bar(const struct plot_bar *bar, double left, double y,
                     double full, FILE *out)
{
	const char *bold = bar->mark ? "font-weight=\"bold\"" : NULL;
	double x = left;

	plot_text(out, left - GAP, y + THICK - 3, SIZE, "end", bold,
	          bar->label);
	for (int i = 0; i < bar->n_parts; i++) {
		double width = bar->part[i] / full * AXIS;

		if (width > 0)
			plot_rect(out, x, y, width, THICK,
			          plot_colour(bar->colour[i]), NULL);
		x += width;
	}
	plot_text(out, x + GAP / 2, y + THICK - 3, SIZE, "start", bold,
	          bar->note);
}

static void draw_legend(const struct plot_bars *p, double left, double y,
                        FILE *out)
{
	double x = left;

	for (int i = 0; i < p->n_legend; i++) {
		const struct plot_legend *l = &p->legend[i];

		plot_rect(out, x, y, 12, 12, plot_colour(l->colour), NULL);
		plot_text(out, x + 17, y + 11, SIZE, "start", NULL, l->text);
		x += 17 + plot_text_width(l->text, SIZE) + LEGEND_GAP;
	}
}

static double legend_width(const struct plot_bars *p)
{
	double width = 0;

	for (int i = 0; i < p->n_legend; i++)
		width += 17 + plot_text_width(p->legend[i].text, SIZE) +
		         LEGEND_GAP;
	return width;
}

void plot_write_bars(const struct plot_bars *p, FILE *out)
{
	double full = p->line > 0 ? p->line : 0, left = 60, right = 40;
	double bottom = TOP + p->n * ROW, foot = p->n_legend ? 62 : 34;

	for (int i = 0; i < p->n; i++) {
		double label = plot_text_width(p->bar[i].label, SIZE) + 2 * GAP;
		double note = plot_text_width(p->bar[i].note, SIZE) + GAP;

		full = fmax(full, length(&p->bar[i]));
		left = fmax(left, label);
		right = fmax(right, note);
	}
	if (!(full > 0))
		full = 1;
	plot_begin(out,
	           fmax(fmax(left + AXIS + right, left + legend_width(p)),
	                plot_text_width(p->title, 16) + 2 * GAP),
	           bottom + foot);
	plot_text(out, GAP, 24, 16, "start", "font-weight=\"bold\"", p->title);
	draw_axis(p, left, bottom, full, out);
	for (int i = 0; i < p->n; i++)
		draw_bar(&p->bar[i], left, TOP + i * ROW, full, out);
	if (p->line >= 0) {
		double x = left + p->line / full * AXIS;

		plot_line(out, x, TOP - 6, x, bottom, "#d00000", 1.5,
		          "stroke-dasharray=\"5 4\"");
		plot_text(out, x, TOP - 9, 12,
		          x > left + AXIS / 2 ? "end" : "start",
		          "fill=\"#d00000\"", p->line_text);
	}
	draw_legend(p, left, bottom + 32, out);
	plot_end(out);
}
