/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "link_map.h"

#include <math.h>
#include <string.h>

#include "../cmd.h"

/* Magma's colours (van der Walt, Smith), light for little: even steps of
 * lightness, and read by every kind of colour vision. */
static const int ramp[][3] = {{252, 253, 191}, {254, 194, 135}, {251, 135, 97},
                              {229, 80, 100},  {183, 55, 121},  {129, 37, 129},
                              {79, 18, 123},   {28, 16, 68}};
#define N_RAMP ((int)(sizeof(ramp) / sizeof(*ramp)))
#define LEVELS 32
#define NO_LINK "#dcdcdc"
#define NO_TRAFFIC "#ffffff"
/* Of the link with the largest congestion; far from the other colours. */
#define MARK "#0090ff"
#define BAR 512.0
#define LABEL 52.0 /* widest label of the bar */

static void level_colour(int level, char buf[8])
{
	double at = (double)level / (LEVELS - 1) * (N_RAMP - 1);
	int i = at >= N_RAMP - 1 ? N_RAMP - 2 : (int)at;
	int rgb[3];

	for (int k = 0; k < 3; k++)
		rgb[k] = (int)(ramp[i][k] +
		               (at - i) * (ramp[i + 1][k] - ramp[i][k]) + 0.5) &
		         255;
	snprintf(buf, 8, "#%02x%02x%02x", rgb[0], rgb[1], rgb[2]);
}

const char *plot_map_colour(const struct plot_map *map, double value,
                            char buf[8])
{
	double at;

	if (value < 0)
		return NO_LINK;
	if (!(value > 0))
		return NO_TRAFFIC;
	at = fmax(plot_scale_at(&map->scale, value), 0);
	level_colour((int)fmin(at * LEVELS, LEVELS - 1), buf);
	return buf;
}

void plot_map_cells(const struct plot_map *map, const double *value, int n,
                    double x, double y, double width, double height)
{
	int from = 0;

	for (int i = 1; i <= n; i++) {
		char a[8], b[8];
		const char *fill = plot_map_colour(map, value[from], a);

		if (i < n && !strcmp(fill, plot_map_colour(map, value[i], b)))
			continue;
		/* The ground is white. */
		if (strcmp(fill, NO_TRAFFIC))
			plot_rect(map->out, x + from * width, y,
			          (i - from) * width, height, fill, NULL);
		from = i;
	}
}

/* label[n], or the first things of cells. */
static void put_numbers(const struct plot_map *map, const int *label, int n,
                        int block, double x, double y, double step, bool down)
{
	double room = down ? 18 : 16 + 8 * floor(log10(fmax(n * block, 10)));
	int every = 1;

	while (every * step < room)
		every = every % 3 ? every * 2 : every / 3 * 5;
	for (int i = 0; i < n; i += every) {
		char text[16];

		snprintf(text, sizeof(text), "%d",
		         label ? label[i] : i * block);
		plot_text(map->out, down ? x : x + (i + 0.5) * step,
		          down ? y + (i + 0.5) * step + 4 : y, 13,
		          down ? "end" : "middle", NULL, text);
	}
}

void plot_map_numbers(const struct plot_map *map, int n, int block, double x,
                      double y, double step, bool down)
{
	put_numbers(map, NULL, n, block, x, y, step, down);
}

void plot_map_labels(const struct plot_map *map, const int *label, int n,
                     double x, double y, double step, bool down)
{
	put_numbers(map, label, n, 1, x, y, step, down);
}

void plot_map_frame(const struct plot_map *map, double x, double y,
                    double width, double height)
{
	plot_rect(map->out, x - 1, y - 1, width + 2, height + 2, "none",
	          "stroke=\"" MARK "\" stroke-width=\"2.5\"");
}

void plot_map_ring(const struct plot_map *map, double x, double y,
                   double radius)
{
	fprintf(map->out,
	        "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"none\" "
	        "stroke=\"" MARK "\" stroke-width=\"2.5\" "
	        "shape-rendering=\"auto\"/>\n",
	        x, y, radius);
}

void plot_map_begin(const struct plot_map *map, double width, double height,
                    const char *caption)
{
	FILE *out = map->out;
	double y = 94;

	plot_begin(out, width, height);
	plot_text(out, PLOT_MAP_LEFT, 38, 22, "start", "font-weight=\"bold\"",
	          map->title);
	plot_text(out, PLOT_MAP_LEFT, 62, 15, "start", NULL, map->subtitle);
	plot_text(out, PLOT_MAP_LEFT, 84, 13, "start", "fill=\"#555\"",
	          caption);
	if (map->more) {
		plot_text(out, PLOT_MAP_LEFT, 104, 13, "start",
		          "fill=\"#555\"", map->more);
		y += 20;
	}
	/* Cells that touch leave no seams. */
	fputs("<g shape-rendering=\"crispEdges\">\n", out);
	if (map->hot < 0)
		return;
	if (map->ring)
		plot_map_ring(map, PLOT_MAP_LEFT + 6, y + 6, 6);
	else
		plot_map_frame(map, PLOT_MAP_LEFT + 1, y + 1, 10, 10);
	plot_text(out, PLOT_MAP_LEFT + 20, y + 11, 13, "start", NULL,
	          map->hot_text);
}

/* Ticks at 1, 2 and 5 of every decade; all have a label where there is room,
 * else every or every second decade and the end. */
static void draw_ticks(const struct plot_map *map, double y)
{
	static const int step[] = {1, 2, 5};
	const struct plot_scale *s = &map->scale;
	double decade = BAR / (s->top - s->low);
	int every = s->top - s->low > 6 ? 2 : 1;
	bool all = decade * log10(2) > LABEL;

	for (int i = 0;; i++) {
		int e = s->low + i / 3;
		double at = e + log10(step[i % 3]);
		double x = PLOT_MAP_LEFT + (at - s->low) * decade;
		bool end = at > s->top - 1e-9 && (at - e) * decade > LABEL;
		char text[40];

		if (at > s->top + 1e-9)
			return;
		plot_line(map->out, x, y, x, y + (i % 3 ? 3 : 5), "#222", 1,
		          NULL);
		if (!all && !end && (i % 3 || i / 3 % every))
			continue;
		snprintf(text, sizeof(text), "%s%s",
		         !i && s->cut ? "\u2264 " : "",
		         CMD_BYTES(pow(10, e) * step[i % 3]));
		plot_text(map->out, x, y + 20, 13, "middle", NULL, text);
	}
}

void plot_map_end(const struct plot_map *map, double top)
{
	double left = PLOT_MAP_LEFT, y = top + 34;
	FILE *out = map->out;
	char colour[8];

	plot_text(out, left, y - 8, 13, "start", NULL,
	          map->what    ? map->what
	          : map->rates ? "bytes per second and link (log scale)"
	                       : "bytes per link (log scale)");
	for (int i = 0; i < LEVELS; i++) {
		level_colour(i, colour);
		plot_rect(out, left + i * BAR / LEVELS, y, BAR / LEVELS + 0.4,
		          16, colour, NULL);
	}
	draw_ticks(map, y + 16);
	left += BAR + 40;
	plot_rect(out, left, y, 16, 16, NO_TRAFFIC, "stroke=\"#999\"");
	plot_text(out, left + 24, y + 13, 13, "start", NULL, "no traffic");
	left += 110;
	if (!map->what) {
		plot_rect(out, left, y, 16, 16, NO_LINK, NULL);
		plot_text(out, left + 24, y + 13, 13, "start", NULL, "no link");
	}
	fputs("</g>\n", out);
	plot_end(out);
}
