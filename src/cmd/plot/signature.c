/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../signature.h"

#include <math.h>
#include <stdlib.h>

#include "base/file.h"
#include "link_map.h"
#include "signature/rows.h"

#define PANEL 480.0
#define GAP 110.0
#define CELLS 128
/* Below the colours: two histograms and the phases. */
#define BELOW 490.0
#define BARS 110.0 /* height of a histogram */
/* Numbers below EXACT have a bar each, then those up to twice as much share
 * one. */
#define EXACT 32
#define BINS (EXACT + 64)
#define NAMED 5 /* phases with a name */

struct histogram {
	double value[BINS];
};

/* What is drawn of one signature. */
struct signature_plot {
	const struct cpl_signature *sig;
	struct plot_blocks cells;
	double *bytes;             /* [cells.n * cells.n] */
	struct histogram size;     /* messages by the logarithm of their size */
	struct histogram partners; /* ranks by how many they send to */
	double all_bytes, all_messages;
	bool times;   /* phases have them */
	double *part; /* [n_phases] of all: time, else bytes */
};

/* The bin of a number, and the first number of a bin. */
static int bin_of(int64_t value)
{
	int bin = EXACT, low = EXACT;

	if (value < EXACT)
		return (int)value;
	while (value / 2 >= low && bin + 1 < BINS) {
		value /= 2;
		bin++;
	}
	return bin;
}

static int64_t first_of(int bin)
{
	return bin < EXACT ? bin : (int64_t)EXACT << (bin - EXACT);
}

/* 0 for up to 1 byte, 1 for up to 2, 2 for up to 4, ... the last for more: bytes
 * of a part of a message have no end. */
static int size_class(double bytes)
{
	int exponent = 0;

	if (!(bytes > 1))
		return 0;
	if (!(bytes < ldexp(1, BINS - 1)))
		return BINS - 1;
	return frexp(bytes, &exponent) == 0.5 ? exponent - 1 : exponent;
}

static void add_rows(void *arg, int from, int count,
                     const struct cpl_comm_entry *entry, int64_t n)
{
	struct signature_plot *s = arg;
	int64_t partners = 0;

	for (int64_t i = 0; i < n; i++) {
		const struct cpl_comm_entry *e = &entry[i];

		partners += e->to != from;
		if (e->messages > 0)
			s->size.value[size_class(e->bytes / e->messages)] +=
			        e->messages * count;
		s->all_bytes += e->bytes * count;
		s->all_messages += e->messages * count;
		for (int k = 0; k < count; k++) {
			int row = (from + k) / s->cells.block;
			int column = (e->to + k) / s->cells.block;

			s->bytes[(size_t)row * (size_t)s->cells.n +
			         (size_t)column] += e->bytes;
		}
	}
	s->partners.value[bin_of(partners)] += count;
}

static int weigh_phases(struct signature_plot *s, struct cpl_error *err)
{
	double all = 0;

	s->times = cpl_run_times(s->sig->phase, s->sig->n_phases).seconds > 0;
	s->part = calloc((size_t)s->sig->n_phases, sizeof(*s->part));
	if (!s->part)
		return cpl_fail_memory(err);
	for (int k = 0; k < s->sig->n_phases; k++) {
		const struct cpl_phase *p = &s->sig->phase[k];
		struct signature_sums sums;

		if (signature_phase_sums(s->sig, k, &sums, err))
			return -1;
		s->part[k] = p->weight * (s->times ? p->time : sums.bytes);
		all += s->part[k];
	}
	for (int k = 0; k < s->sig->n_phases && all > 0; k++)
		s->part[k] /= all;
	return 0;
}

static int fill(struct signature_plot *s, const struct cpl_signature *sig,
                struct cpl_error *err)
{
	struct cpl_rows *rows = cpl_rows_new(sig, NULL, err);
	int rc = -1;

	s->sig = sig;
	s->cells = plot_blocks_make(sig->ranks, CELLS);
	s->bytes = calloc((size_t)s->cells.n * (size_t)s->cells.n,
	                  sizeof(*s->bytes));
	if (rows && !s->bytes)
		cpl_fail_memory(err);
	else if (rows)
		rc = cpl_rows_each(rows, 0, rows->ranks, add_rows, s, err);
	cpl_rows_free(rows);
	return rc ? rc : weigh_phases(s, err);
}

static struct plot_scale scale_of(const struct signature_plot *shape, int n)
{
	double low = INFINITY, high = 0;
	bool zero = false;

	for (int k = 0; k < n; k++)
		for (int i = 0; i < shape[k].cells.n * shape[k].cells.n; i++) {
			double bytes = shape[k].bytes[i];

			zero |= !(bytes > 0);
			if (bytes > 0)
				low = fmin(low, bytes);
			high = fmax(high, bytes);
		}
	return plot_scale_make(fmin(low, high), high, zero);
}

static void draw_matrix(const struct plot_map *map,
                        const struct signature_plot *s, double x)
{
	double cell = PANEL / s->cells.n, y = PLOT_MAP_TOP;
	char text[160];

	plot_text(map->out, x, y - 52, 16, "start", "font-weight=\"bold\"",
	          s->sig->name);
	snprintf(text, sizeof(text), "%d ranks, %s in %.0f messages",
	         s->sig->ranks, CMD_BYTES(s->all_bytes), s->all_messages);
	plot_text(map->out, x, y - 32, 13, "start", NULL, text);
	plot_map_numbers(map, s->cells.n, s->cells.block, x, y - 8, cell,
	                 false);
	plot_map_numbers(map, s->cells.n, s->cells.block, x - 8, y, cell, true);
	for (int i = 0; i < s->cells.n; i++)
		plot_map_cells(map,
		               s->bytes + (size_t)i * (size_t)s->cells.n,
		               s->cells.n, x, y + i * cell, cell, cell);
	plot_rect(map->out, x, y, PANEL, PANEL, "none", "stroke=\"#555\"");
}

static void size_label(int bin, char text[32])
{
	static const char unit[][4] = {"B",   "KiB", "MiB", "GiB", "TiB",
	                               "PiB", "EiB", "ZiB", "YiB"};
	int i = bin / 10 < 8 ? bin / 10 : 8;

	snprintf(text, 32, "%.0f %s", ldexp(1, bin - 10 * i), unit[i]);
}

static void partners_label(int bin, char text[32])
{
	snprintf(text, 32, "%lld", (long long)first_of(bin));
}

/* Bars from the first bin that is not empty to the last. */
static void draw_histogram(FILE *out, const struct histogram *h, double x,
                           double y, const char *title,
                           void (*label)(int bin, char text[32]))
{
	int first = 0, last = BINS - 1, n, every = 1;
	double most = 0, step;
	char head[96];

	while (first < last && !(h->value[first] > 0))
		first++;
	while (last > first && !(h->value[last] > 0))
		last--;
	n = last - first + 1;
	step = fmin(PANEL / n, 60);
	for (int i = first; i <= last; i++)
		most = fmax(most, h->value[i]);
	snprintf(head, sizeof(head), "%s; the highest bar: %.0f", title, most);
	plot_text(out, x, y - 10, 13, "start", NULL, head);
	while (every * step < 52)
		every++;
	for (int i = first; i <= last; i++) {
		double at = x + (i - first) * step, high = 0;
		char text[32];

		if (most > 0)
			high = BARS * h->value[i] / most;
		if (high > 0)
			plot_rect(out, at + 1, y + BARS - high, step - 2, high,
			          plot_colour(0), NULL);
		if ((i - first) % every)
			continue;
		label(i, text);
		plot_text(out, at + step / 2, y + BARS + 18, 13, "middle", NULL,
		          text);
	}
	plot_line(out, x, y + BARS, x + PANEL, y + BARS, "#555", 1, NULL);
}

/* One after the other, in the order of the signature: full colour computes. */
static void draw_phases(FILE *out, const struct signature_plot *s, double x,
                        double y)
{
	const struct cpl_signature *sig = s->sig;
	double at = x;

	plot_text(out, x, y - 10, 13, "start", NULL,
	          s->times ? "time of phases; pale: communication"
	                   : "bytes of phases (not all state their times)");
	for (int k = 0; k < sig->n_phases; k++) {
		const struct cpl_phase *p = &sig->phase[k];
		double width = PANEL * s->part[k], full = width;
		char text[128];

		if (s->times)
			full = fmin(full, width * p->compute_time / p->time);
		plot_rect(out, at, y, full, 22, plot_colour(k), NULL);
		plot_rect(out, at + full, y, width - full, 22, plot_colour(k),
		          "fill-opacity=\"0.4\"");
		at += width;
		if (k >= NAMED)
			continue;
		snprintf(text, sizeof(text), "%.60s: %g times, %.1f %%",
		         p->name, p->weight, 100 * s->part[k]);
		plot_rect(out, x, y + 32 + 18 * k, 12, 12, plot_colour(k),
		          NULL);
		plot_text(out, x + 20, y + 43 + 18 * k, 13, "start", NULL,
		          text);
	}
	if (sig->n_phases > NAMED) {
		char text[40];

		snprintf(text, sizeof(text), "and %d more",
		         sig->n_phases - NAMED);
		plot_text(out, x + 20, y + 43 + 18 * NAMED, 13, "start", NULL,
		          text);
	}
}

static void write(FILE *out, const struct signature_plot *shape, int n,
                  double distance)
{
	double foot = PLOT_MAP_TOP + PANEL, below = foot + PLOT_MAP_FOOT + 24;
	struct plot_map map = {.title = "Communication signature",
	                       .subtitle = "the whole run",
	                       .what = "bytes (log scale)",
	                       .hot = -1,
	                       .out = out};
	char subtitle[120], what[80];
	int block = 1;

	for (int k = 0; k < n; k++)
		if (shape[k].cells.block > block)
			block = shape[k].cells.block;
	if (n > 1 && distance < 0)
		map.subtitle = "of different numbers of ranks, or too large "
		               "for a distance";
	if (n > 1)
		map.title = "Communication signatures";
	if (n > 1 && distance >= 0) {
		snprintf(subtitle, sizeof(subtitle),
		         "distance %.4f: the part of all bytes that other pairs "
		         "have",
		         distance);
		map.subtitle = subtitle;
	}
	if (block > 1) {
		snprintf(what, sizeof(what),
		         "bytes between blocks of up to %d ranks (log scale)",
		         block);
		map.what = what;
	}
	map.scale = scale_of(shape, n);
	plot_map_begin(&map,
	               n > 1 ? 2 * PLOT_MAP_LEFT + 2 * PANEL + GAP - 40
	                     : PLOT_MAP_MIN_WIDTH,
	               below + BELOW,
	               "row: sender, column: receiver");
	for (int k = 0; k < n; k++) {
		double x = PLOT_MAP_LEFT + k * (PANEL + GAP);

		draw_matrix(&map, &shape[k], x);
		draw_histogram(out, &shape[k].size, x, below,
		               "messages by size (up to)", size_label);
		draw_histogram(out, &shape[k].partners, x, below + 160,
		               "ranks by how many they send to (from)",
		               partners_label);
		draw_phases(out, &shape[k], x, below + 344);
	}
	plot_map_end(&map, foot);
}

int signature_plot(const char *path, const struct cpl_signature *const *sig,
                   int n, double distance, struct cpl_error *err)
{
	struct signature_plot shape[2] = {{0}, {0}};
	struct cpl_file_writer *writer = NULL;
	int rc = 0;

	for (int k = 0; k < n && !rc; k++)
		rc = fill(&shape[k], sig[k], err);
	if (!rc)
		writer = cpl_file_open_atomic(path, err);
	if (writer) {
		write(cpl_file_stream(writer), shape, n, distance);
		rc = cpl_file_commit(writer, 0644, err);
	} else {
		rc = -1;
	}
	for (int k = 0; k < 2; k++) {
		cpl_free_all(shape[k].bytes, shape[k].part);
	}
	return rc;
}
