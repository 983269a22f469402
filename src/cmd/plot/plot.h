/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SVG figures written as text: no library, the same bytes for the same input.
 * Coordinates have one digit after the point. The stream's error flag says
 * whether writing failed.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "base/registry.h"
#include "network/network.h"
#include "traffic/traffic.h"

struct plot_panel {
	char title[96];
	/* [n_groups][n_series], bytes, finite; min .. max are drawn. */
	const struct cpl_class_stats *box;
};

struct plot_boxes {
	const char *title;
	int n_panels;
	const struct plot_panel *panel; /* one below the other */
	int n_groups;
	const struct cpl_entry *const *group;
	int n_series;
	const struct cpl_entry *const *series; /* short names below the boxes */
};

/*
 * Box plots on a log axis: per panel the groups side by side, in each one box
 * per series (whiskers min and max, box q1 to q3, line at the median, diamond
 * at the mean), and a dashed line at the lowest maximum, whose box is marked
 * (Jain 2016, Figures 3.16 and 3.17). Values that are 0, or more than six
 * decades below the largest, have a band of their own below the axis' break.
 */
void plot_write_boxes(const struct plot_boxes *plot, FILE *out);

/* Parts of a bar. */
#define PLOT_BAR_PARTS 6
/* A colour of the palette is a number from 0 on; this one is grey. */
#define PLOT_GREY (-1)
const char *plot_colour(int number);

struct plot_bar {
	char label[64], note[96]; /* before and behind it */
	int n_parts;
	double part[PLOT_BAR_PARTS]; /* >= 0, one after the other */
	int colour[PLOT_BAR_PARTS];
	bool mark; /* the one that counts */
};

struct plot_legend {
	char text[64];
	int colour;
};

struct plot_bars {
	const char *title, *unit; /* the unit stands behind the axis' numbers */
	int n;
	const struct plot_bar *bar;
	double line; /* dashed at this value; < 0: none */
	const char *line_text;
	int n_legend;
	const struct plot_legend *legend;
};

/* Horizontal bars on a linear axis from 0 to the longest bar or the line. */
void plot_write_bars(const struct plot_bars *plot, FILE *out);

struct plot_gain {
	char label[64], note[96]; /* before and behind it */
	double gain, low, high;   /* percent, finite */
	bool mark;                /* the one that counts */
};

struct plot_gains {
	const char *title;
	int n;
	const struct plot_gain *gain;
};

/* Intervals, one below the other, on a linear axis with 0 on it; those above 0 and
 * below it have colours. */
void plot_write_gains(const struct plot_gains *plot, FILE *out);

/* More groups or coordinates than this are drawn in blocks of neighbours,
 * each with its most loaded link. */
#define PLOT_MAX_CELLS 96
/* Torus routers up to which every link is drawn. */
#define PLOT_MAX_ROUTERS 4096

/* What most of a cell was; the rest is nothing. */
enum plot_state {
	PLOT_NOTHING,
	PLOT_COMPUTING,
	PLOT_COMMUNICATING,
	PLOT_WAITING,
	PLOT_STATES
};

struct plot_curve {
	char name[64];
	const double *mean, *most; /* [bins], 0 to 1 */
};

struct plot_timeline {
	const char *title, *subtitle;
	int bins;
	double width; /* seconds of a bin */
	int n_curves;
	const struct plot_curve *curve;
	int n_rows, n_ranks; /* a row is of one or several ranks */
	const unsigned char *state; /* [n_rows][bins], enum plot_state */
};

/* Curves over time, below each other their means filled and maxima as lines;
 * below them the rows, from rank 0 on. */
void plot_write_timeline(const struct plot_timeline *plot, FILE *out);

/*
 * Map of the bytes on every link, link[n_links], or (rates) of the bytes per
 * second. Dragonfly: matrix of groups
 * (row: from, column: to) with the most loaded global link of each pair, and
 * beside it for each group the most loaded row link of every row and column
 * link of every column. Torus of up to PLOT_MAX_ROUTERS: planes of the first
 * two dimensions, one stroke per directed link, routers coloured by the most
 * loaded of the links that leave them in further dimensions; above: the most
 * loaded link by dimension, direction and coordinate. The link with the
 * largest congestion (ties: lowest id) is framed and named. 0, or -1 with err:
 * memory, or a network type without a map. O(links).
 */
int plot_write_map(const struct cpl_network *net, const double *link,
                   bool rates, const char *title, const char *subtitle,
                   FILE *out, struct cpl_error *err);
bool plot_has_map(const struct cpl_network *net);
/* The same as 0, or -1 with err. */
int plot_check_map(const struct cpl_network *net, struct cpl_error *err);

/* Shared inside this folder. */

/* The <svg> element, white ground, and its end. */
void plot_begin(FILE *out, double width, double height);
void plot_end(FILE *out);
/* anchor: "start", "middle", "end"; escaped; attributes NULL or more of them,
 * such as "font-weight=\"bold\"". */
void plot_text(FILE *out, double x, double y, double size, const char *anchor,
               const char *attributes, const char *text);
/* Read from below. */
void plot_text_up(FILE *out, double x, double y, double size,
                  const char *anchor, const char *text);
/* A width that text of this size does not exceed in usual sans-serif fonts. */
double plot_text_width(const char *text, double size);

/* The ticks of a linear axis: a step of 1, 2 or 5 times a power of ten with some
 * `parts` of them in full. */
double plot_step(double full, int parts);
void plot_rect(FILE *out, double x, double y, double width, double height,
               const char *fill, const char *attributes);
void plot_line(FILE *out, double x1, double y1, double x2, double y2,
               const char *stroke, double width, const char *attributes);

/* Log scale from 10^low to 10^top, at least one decade. */
struct plot_scale {
	int low;
	double top;    /* 10^top is 1, 2 or 5 times a power of ten */
	bool has_zero; /* a value is 0, or lies below 10^low */
	bool cut;      /* a positive value lies below 10^low */
};
/* At most 6 decades down from the largest value. */
struct plot_scale plot_scale_make(double smallest_positive, double largest,
                                  bool has_zero);
/* Place of value > 0 in [0, 1] from 10^low to 10^top; -1 below 10^low. */
double plot_scale_at(const struct plot_scale *scale, double value);
