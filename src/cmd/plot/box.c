/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plot.h"

#include <math.h>
#include <string.h>

#include "../cmd.h"

/* Okabe and Ito's palette, told apart with every kind of colour vision; the
 * names below the boxes say the same without colour. */
static const char *const colour[] = {"#0072b2", "#e69f00", "#009e73",
                                     "#cc79a7", "#56b4e9", "#d55e00",
                                     "#f0e442", "#999999", "#882255"};
#define N_COLOURS ((int)(sizeof(colour) / sizeof(*colour)))

#define INK "#222"
#define LOWEST "#b00020"

enum {
	LEFT = 104, /* of the axis */
	RIGHT = 28,
	GROUP_GAP = 30,
	TITLE = 52, /* height of the head line */
	LEGEND_LINE = 26,
	HEAD = 44,   /* of a panel, above its frame */
	FRAME = 380, /* height of the log axis */
	ZERO_BAND = 46,
	MIN_WIDTH = 960,
	NAME_SIZE = 13,
	SLOT_MAX = 84,
};

struct box_layout {
	double slot;  /* width that one box has */
	double group; /* of one group without the gap */
	double width;
	int per_line; /* legend entries */
	double entry; /* width of a legend entry */
	int legend_lines;
	double foot; /* height of the names below a panel */
};

static const char *short_name(const struct cpl_entry *entry)
{
	return entry->short_name ? entry->short_name : entry->name;
}

static double longest(const struct cpl_entry *const *entry, int n, bool full,
                      double size)
{
	double max = 0;

	for (int i = 0; i < n; i++)
		max = fmax(max, plot_text_width(full ? entry[i]->name
		                                     : short_name(entry[i]),
		                                size));
	return max;
}

static struct box_layout make_layout(const struct plot_boxes *p)
{
	struct box_layout l;
	double names = longest(p->group, p->n_groups, true, 15) + 8;
	double inner;

	l.slot = fmin(fmax((MIN_WIDTH - LEFT - RIGHT) /
	                           (double)(p->n_groups * p->n_series),
	                   26),
	              SLOT_MAX);
	l.group = fmax(l.slot * p->n_series, names);
	inner = p->n_groups * (l.group + GROUP_GAP);
	l.width = fmax(LEFT + inner + RIGHT, MIN_WIDTH);
	/* Few groups are spread over the whole width. */
	l.group = (l.width - LEFT - RIGHT) / p->n_groups - GROUP_GAP;
	l.entry = longest(p->series, p->n_series, true, 14) + 52 +
	          longest(p->series, p->n_series, false, 14);
	l.per_line = (int)((l.width - LEFT - RIGHT) / l.entry);
	if (l.per_line < 1)
		l.per_line = 1;
	l.foot = longest(p->series, p->n_series, false, NAME_SIZE) + 72;
	l.legend_lines = (p->n_series + l.per_line - 1) / l.per_line;
	return l;
}

/* Vertical places of one panel. */
struct axis {
	struct plot_scale scale;
	double top, bottom; /* of the log part */
	double zero;        /* where 0 is drawn */
	double end;         /* of the frame */
};

static double at(const struct axis *a, double value)
{
	double where = plot_scale_at(&a->scale, value);

	return where < 0 ? a->zero : a->bottom - where * (a->bottom - a->top);
}

static struct axis make_axis(const struct plot_boxes *p,
                             const struct plot_panel *panel, double top)
{
	double low = INFINITY, high = 0;
	bool zero = false;
	struct axis a;

	for (int i = 0; i < p->n_groups * p->n_series; i++) {
		const struct cpl_class_stats *b = &panel->box[i];
		const double value[] = {b->min,  b->q1, b->median,
		                        b->mean, b->q3, b->max};

		for (int k = 0; k < 6; k++) {
			if (value[k] > 0)
				low = fmin(low, value[k]);
			else
				zero = true;
		}
		high = fmax(high, b->max);
	}
	a.scale = plot_scale_make(low, high, zero);
	a.top = top;
	a.bottom = top + FRAME;
	a.end = a.bottom + (a.scale.has_zero ? ZERO_BAND : 0);
	a.zero = a.bottom + ZERO_BAND / 2.0;
	return a;
}

static double power(int exponent)
{
	return pow(10, exponent);
}

static void draw_tick(const struct axis *a, double value, bool decade,
                      double right, FILE *out)
{
	double y = at(a, value);

	plot_line(out, LEFT, y, right, y, decade ? "#ccc" : "#e8e8e8", 1, NULL);
	plot_text(out, LEFT - 10, y + 5, decade ? 14 : 12, "end", NULL,
	          CMD_BYTES(value));
}

static void draw_ticks(const struct axis *a, double right, FILE *out)
{
	double decades = a->scale.top - a->scale.low;
	int step = decades > 8 ? 2 : 1;

	for (int e = a->scale.low; e <= a->scale.top; e++) {
		if ((e - a->scale.low) % step == 0)
			draw_tick(a, power(e), true, right, out);
		for (int m = 2; m < 10; m++) {
			double y = at(a, m * power(e));

			if (log10(m) + e > a->scale.top + 1e-9)
				break;
			if (decades <= 2.5 && (m == 2 || m == 5))
				draw_tick(a, m * power(e), false, right, out);
			plot_line(out, LEFT, y, LEFT + 5, y, INK, 1, NULL);
		}
	}
}

/* The band for 0 and the break of the axis above it. */
static void draw_zero(const struct axis *a, double right, FILE *out)
{
	char text[32] = "0 B";

	plot_rect(out, LEFT, a->bottom, right - LEFT, ZERO_BAND, "#f2f2f2",
	          NULL);
	if (a->scale.cut)
		snprintf(text, sizeof(text), "< %s",
		         CMD_BYTES(power(a->scale.low)));
	plot_text(out, LEFT - 10, a->zero + 5, 14, "end", NULL, text);
}

static void draw_frame(const struct axis *a, double right, FILE *out)
{
	plot_rect(out, LEFT, a->top, right - LEFT, a->end - a->top, "none",
	          "stroke=\"#222\" stroke-width=\"1.2\"");
	if (!a->scale.has_zero)
		return;
	plot_rect(out, LEFT - 6, a->bottom - 3, 12, 6, "#fff", NULL);
	plot_line(out, LEFT - 7, a->bottom, LEFT + 7, a->bottom - 6, INK, 1.2,
	          NULL);
	plot_line(out, LEFT - 7, a->bottom + 6, LEFT + 7, a->bottom, INK, 1.2,
	          NULL);
}

static void draw_box(const struct axis *a, const struct cpl_class_stats *b,
                     double x, double slot, const char *fill, FILE *out)
{
	double half = fmin(slot * 0.34, 20);
	double q1 = at(a, b->q1), q3 = at(a, b->q3), median = at(a, b->median);
	double mean = at(a, b->mean), min = at(a, b->min), max = at(a, b->max);

	plot_line(out, x, min, x, q1, INK, 1.3, NULL);
	plot_line(out, x, q3, x, max, INK, 1.3, NULL);
	plot_line(out, x - half * 0.6, min, x + half * 0.6, min, INK, 1.3,
	          NULL);
	plot_line(out, x - half * 0.6, max, x + half * 0.6, max, INK, 1.3,
	          NULL);
	plot_rect(out, x - half, q3, 2 * half, fmax(q1 - q3, 1), fill,
	          "stroke=\"#222\" stroke-width=\"1.2\"");
	plot_line(out, x - half, median, x + half, median, INK, 2.6, NULL);
	fprintf(out,
	        "<path d=\"M%.1f %.1fl5 5l-5 5l-5 -5z\" fill=\"#fff\" "
	        "stroke=\"#222\" stroke-width=\"1.2\"/>\n",
	        x, mean - 5);
}

static double box_x(const struct plot_boxes *p, const struct box_layout *l,
                    int group, int series)
{
	double slot = l->group / p->n_series;
	double middle = LEFT + GROUP_GAP / 2.0 +
	                group * (l->group + GROUP_GAP) + l->group / 2;

	slot = fmin(slot, SLOT_MAX);
	return middle + (series - (p->n_series - 1) / 2.0) * slot;
}

static void draw_names(const struct plot_boxes *p, const struct box_layout *l,
                       double y, FILE *out)
{
	for (int g = 0; g < p->n_groups; g++) {
		double from = box_x(p, l, g, 0);
		double to = box_x(p, l, g, p->n_series - 1);

		for (int s = 0; s < p->n_series; s++)
			plot_text_up(out, box_x(p, l, g, s) + NAME_SIZE * 0.36,
			             y + 8, NAME_SIZE, "end",
			             short_name(p->series[s]));
		plot_text(out, (from + to) / 2, y + l->foot - 36, 15, "middle",
		          "font-weight=\"bold\"", p->group[g]->name);
		if (g)
			plot_line(out, LEFT + g * (l->group + GROUP_GAP), y,
			          LEFT + g * (l->group + GROUP_GAP),
			          y + l->foot - 32, "#999", 1, NULL);
	}
}

/* The line of the lowest maximum, its words in the head of the panel. */
static void draw_lowest(const struct plot_boxes *p, const struct box_layout *l,
                        const struct axis *a, const struct plot_panel *panel,
                        FILE *out)
{
	double right = l->width - RIGHT, y, x;
	char text[160];
	int best = 0;

	for (int i = 1; i < p->n_groups * p->n_series; i++)
		if (panel->box[i].max < panel->box[best].max)
			best = i;
	y = at(a, panel->box[best].max);
	x = box_x(p, l, best / p->n_series, best % p->n_series);
	plot_line(out, LEFT, y, right, y, LOWEST, 1.8,
	          "stroke-dasharray=\"8 5\"");
	fprintf(out, "<path d=\"M%.1f %.1fl-6 -10h12z\" fill=\"%s\"/>\n", x,
	        y - 3, LOWEST);
	snprintf(text, sizeof(text), "lowest maximum %s: %.40s, %.40s",
	         CMD_BYTES(panel->box[best].max),
	         p->series[best % p->n_series]->name,
	         p->group[best / p->n_series]->name);
	plot_text(out, right, a->top - 12, 14, "end",
	          "fill=\"" LOWEST "\"", text);
}

static double draw_panel(const struct plot_boxes *p, const struct box_layout *l,
                         const struct plot_panel *panel, double y, FILE *out)
{
	struct axis a = make_axis(p, panel, y + HEAD);
	double right = l->width - RIGHT, middle = (a.top + a.end) / 2;

	plot_text(out, LEFT, a.top - 12, 17, "start", "font-weight=\"bold\"",
	          panel->title);
	plot_text_up(out, 24, middle, 15, "middle",
	             "bytes per link (log scale)");
	if (a.scale.has_zero)
		draw_zero(&a, right, out);
	draw_ticks(&a, right, out);
	draw_lowest(p, l, &a, panel, out);
	draw_frame(&a, right, out);
	for (int g = 0; g < p->n_groups; g++)
		for (int s = 0; s < p->n_series; s++)
			draw_box(&a, &panel->box[g * p->n_series + s],
			         box_x(p, l, g, s),
			         fmin(l->group / p->n_series, SLOT_MAX),
			         colour[s % N_COLOURS], out);
	draw_names(p, l, a.end, out);
	return a.end + l->foot;
}

static void draw_legend(const struct plot_boxes *p, const struct box_layout *l,
                        FILE *out)
{
	for (int s = 0; s < p->n_series; s++) {
		double x = LEFT + s % l->per_line * l->entry;
		double y = TITLE + (s / l->per_line + 1) * LEGEND_LINE;
		char text[128];

		plot_rect(out, x, y - 13, 16, 16, colour[s % N_COLOURS],
		          "stroke=\"#222\" stroke-width=\"1\"");
		snprintf(text, sizeof(text),
		         strcmp(p->series[s]->name, short_name(p->series[s]))
		                 ? "%s (%s)"
		                 : "%s",
		         p->series[s]->name, short_name(p->series[s]));
		plot_text(out, x + 24, y, 14, "start", NULL, text);
	}
}

void plot_write_boxes(const struct plot_boxes *p, FILE *out)
{
	struct box_layout l = make_layout(p);
	double y = TITLE + (l.legend_lines + 1) * LEGEND_LINE + 12;
	double height = y;

	for (int i = 0; i < p->n_panels; i++)
		height += HEAD + l.foot + (make_axis(p, &p->panel[i], 0).end);
	plot_begin(out, l.width, height);
	plot_text(out, LEFT, 36, 22, "start", "font-weight=\"bold\"", p->title);
	draw_legend(p, &l, out);
	plot_text(out, LEFT, y - 12, 13, "start", "fill=\"#555\"",
	          "whiskers: minimum and maximum; box: quartiles; thick line: "
	          "median; diamond: mean");
	for (int i = 0; i < p->n_panels; i++)
		y = draw_panel(p, &l, &p->panel[i], y, out);
	plot_end(out);
}
