/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../bind.h"

#include <stdlib.h>
#include <string.h>

#include "plot.h"

#define CELL_WIDTH 34
#define CELL_HEIGHT 24
#define LINE 13
#define FONT 11
/* Ranks that share a core: side by side, and lines of them. */
#define RANKS_PER_LINE 2
#define MAX_LINES 4
#define PAD 6
#define TITLE 16
/* Boxes side by side in a row of one that holds boxes, cells in a row. */
#define BOXES_PER_ROW 4
#define CELLS_PER_ROW 8

struct drawn_box {
	double width, height;
};

struct drawing {
	const struct bind_job *job;
	struct drawn_box cell; /* of all cores */
};

/* A line of ranks out of "4,9,13" at *at, which is moved on. */
static void next_line(const char **at, char *line, size_t size)
{
	size_t n = 0;

	for (int i = 0; i < RANKS_PER_LINE && **at; i++) {
		size_t digits = strcspn(*at, ",");

		if (n + digits + 2 > size)
			break;
		if (i)
			line[n++] = ',';
		memcpy(line + n, *at, digits);
		n += digits;
		*at += digits + ((*at)[digits] == ',');
	}
	line[n] = '\0';
}

static void grow_cell(const char *ranks, struct drawn_box *cell)
{
	int lines = 0;

	while (*ranks && lines < MAX_LINES) {
		char line[64];
		double width;

		next_line(&ranks, line, sizeof(line));
		width = plot_text_width(line, FONT) + 8;
		cell->width = width > cell->width ? width : cell->width;
		lines++;
	}
	if (CELL_HEIGHT + LINE * (lines - 1) > cell->height)
		cell->height = CELL_HEIGHT + LINE * (lines - 1);
}

static bool holds_boxes(hwloc_obj_t object)
{
	return !bind_is_core(object) && !bind_is_core(object->first_child);
}

/* As many rows as of `most` at least, all about as long. */
static unsigned columns(unsigned n, unsigned most)
{
	unsigned rows = (n + most - 1) / most;

	return (n + rows - 1) / rows;
}

static const char *colour(const char *ranks, hwloc_obj_t object)
{
	/* By the topmost parts, so that neighbours on different ones are told
	 * apart. */
	static const char *const fill[] = {"#bdd7ee", "#f8cbad", "#c6e0b4",
	                                   "#ffe699", "#d9c3e8", "#b4e0dc"};
	hwloc_obj_t above = object;
	unsigned part = 0;

	if (!*ranks)
		return "#ddd";
	if (!strcmp(ranks, "-"))
		return "#fff";
	for (; above->parent; above = above->parent)
		if (above->parent->arity > 1)
			part = above->sibling_rank;
	return fill[part % 6];
}

/* Cells that hold the longest of what stands on the cores below. */
static int measure(struct drawing *d, hwloc_obj_t object)
{
	object = bind_branching(object);
	if (bind_is_core(object)) {
		char *ranks = bind_ranks_on(d->job, object);

		if (!ranks)
			return -1;
		grow_cell(ranks, &d->cell);
		free(ranks);
		return 0;
	}
	for (unsigned i = 0; i < object->arity; i++)
		if (measure(d, object->children[i]))
			return -1;
	return 0;
}

static int draw_cell(const struct drawing *d, hwloc_obj_t object, double x,
                     double y, FILE *out)
{
	char *ranks = bind_ranks_on(d->job, object);
	const char *at = ranks;

	if (!ranks)
		return -1;
	plot_rect(out, x, y, d->cell.width, d->cell.height,
	          colour(ranks, object),
	          "stroke=\"#888\" stroke-width=\"0.6\"");
	for (int l = 0; *at && strcmp(ranks, "-"); l++) {
		char line[64];

		next_line(&at, line, sizeof(line));
		if (l == MAX_LINES - 1 && *at) {
			strcpy(line, "\xe2\x80\xa6");
			at = "";
		}
		plot_text(out, x + d->cell.width / 2, y + 16 + LINE * l, FONT,
		          "middle", NULL, line);
	}
	free(ranks);
	return 0;
}

/* Size of an object, drawn when out is given. */
static int draw(const struct drawing *d, hwloc_obj_t object, double x, double y,
                FILE *out, struct drawn_box *size)
{
	double at_x = PAD, at_y = TITLE + PAD, high = 0, wide = 0;
	hwloc_obj_t inner;
	unsigned per_row;
	char name[80];

	object = bind_branching(object);
	if (bind_is_core(object)) {
		*size = d->cell;
		return out ? draw_cell(d, object, x, y, out) : 0;
	}
	if (out) {
		struct drawn_box own;

		if (draw(d, object, x, y, NULL, &own))
			return -1;
		plot_rect(out, x, y, own.width, own.height,
		          holds_boxes(object) ? "#f7f7f7" : "#fff",
		          "stroke=\"#555\" stroke-width=\"1\"");
		bind_name(object, name, sizeof(name));
		plot_text(out, x + PAD, y + 14, 11, "start", NULL, name);
	}
	inner = bind_branching(object->first_child);
	if (bind_is_core(inner))
		per_row = columns(object->arity, CELLS_PER_ROW);
	else if (bind_is_core(bind_branching(inner->first_child)))
		per_row = columns(object->arity, BOXES_PER_ROW);
	else
		per_row = 1;
	for (unsigned i = 0; i < object->arity; i++) {
		struct drawn_box child;

		if (i && i % per_row == 0) {
			at_x = PAD;
			at_y += high + PAD;
			high = 0;
		}
		if (draw(d, object->children[i], x + at_x, y + at_y, out,
		         &child))
			return -1;
		at_x += child.width + PAD;
		high = child.height > high ? child.height : high;
		wide = at_x > wide ? at_x : wide;
	}
	*size = (struct drawn_box){wide, at_y + high + PAD};
	return 0;
}

int bind_plot(const struct bind_job *job, FILE *out, struct cpl_error *err)
{
	hwloc_obj_t root = hwloc_get_root_obj(job->topology);
	struct drawing d = {job, {CELL_WIDTH, CELL_HEIGHT}};
	struct drawn_box size;
	char text[160];
	double width;

	if (measure(&d, root) || draw(&d, root, 0, 0, NULL, &size))
		return cpl_fail_memory(err);
	width = size.width + 40 > 560 ? size.width + 40 : 560;
	plot_begin(out, width, size.height + 90);
	snprintf(text, sizeof(text), "%d ranks bound by %s", job->n_ranks,
	         job->binder->name);
	plot_text(out, 20, 28, 16, "start", "font-weight=\"bold\"", text);
	snprintf(text, sizeof(text), "cost %.4g; packed %.4g, round-robin %.4g",
	         job->result.cost, job->packed.cost, job->round_robin.cost);
	plot_text(out, 20, 48, 12, "start", NULL, text);
	if (draw(&d, root, 20, 60, out, &size))
		return cpl_fail_memory(err);
	plot_text(out, 20, size.height + 80, FONT, "start", NULL,
	          "numbers: ranks; white: free; grey: not allowed");
	plot_end(out);
	return 0;
}
