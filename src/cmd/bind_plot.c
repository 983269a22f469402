/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bind.h"

#include <stdlib.h>
#include <string.h>

#include "plot.h"

#define CELL_WIDTH 34
#define CELL_HEIGHT 24
#define PAD 6
#define TITLE 16
/* Boxes side by side in a row of one that holds boxes, cells in a row. */
#define BOXES_PER_ROW 4
#define CELLS_PER_ROW 8

struct box {
	double width, height;
};

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

static double cell_width(const struct bind_job *job)
{
	double width = CELL_WIDTH;

	for (int i = 0; i < job->n_ranks; i++)
		if (job->rank[i] > 9999)
			width = 56;
	return width;
}

static int draw_cell(const struct bind_job *job, hwloc_obj_t object, double x,
                     double y, FILE *out)
{
	char *ranks = bind_ranks_on(job, object);
	double width = cell_width(job);

	if (!ranks)
		return -1;
	plot_rect(out, x, y, width, CELL_HEIGHT, colour(ranks, object),
	          "stroke=\"#888\" stroke-width=\"0.6\"");
	if (*ranks && plot_text_width(ranks, 11) > width - 4) {
		/* More ranks than there is room for: the first, and so on. */
		char *comma = strchr(ranks, ',');

		if (comma)
			strcpy(comma,
			       comma[1] && comma[2] ? ",\xe2\x80\xa6" : "+");
	}
	plot_text(out, x + width / 2, y + 16, 11, "middle", NULL,
	          !strcmp(ranks, "-") ? "" : ranks);
	free(ranks);
	return 0;
}

/* Size of an object, drawn when out is given. */
static int draw(const struct bind_job *job, hwloc_obj_t object, double x,
                double y, FILE *out, struct box *size)
{
	double at_x = PAD, at_y = TITLE + PAD, high = 0, wide = 0;
	hwloc_obj_t inner;
	unsigned per_row;
	char name[80];

	object = bind_branching(object);
	if (bind_is_core(object)) {
		*size = (struct box){cell_width(job), CELL_HEIGHT};
		return out ? draw_cell(job, object, x, y, out) : 0;
	}
	if (out) {
		struct box own;

		if (draw(job, object, x, y, NULL, &own))
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
		struct box child;

		if (i && i % per_row == 0) {
			at_x = PAD;
			at_y += high + PAD;
			high = 0;
		}
		if (draw(job, object->children[i], x + at_x, y + at_y, out,
		         &child))
			return -1;
		at_x += child.width + PAD;
		high = child.height > high ? child.height : high;
		wide = at_x > wide ? at_x : wide;
	}
	*size = (struct box){wide, at_y + high + PAD};
	return 0;
}

int bind_plot(const struct bind_job *job, FILE *out, struct cpl_error *err)
{
	hwloc_obj_t root = hwloc_get_root_obj(job->topology);
	struct box size;
	char text[160];
	double width;

	if (draw(job, root, 0, 0, NULL, &size))
		return cpl_fail_memory(err);
	width = size.width + 40 > 560 ? size.width + 40 : 560;
	plot_begin(out, width, size.height + 90);
	snprintf(text, sizeof(text), "%d ranks bound by %s", job->n_ranks,
	         job->binder->name);
	plot_text(out, 20, 28, 16, "start", "font-weight=\"bold\"", text);
	snprintf(text, sizeof(text), "cost %.4g; packed %.4g, round-robin %.4g",
	         job->result.cost, job->packed.cost, job->round_robin.cost);
	plot_text(out, 20, 48, 12, "start", NULL, text);
	if (draw(job, root, 20, 60, out, &size))
		return cpl_fail_memory(err);
	plot_text(out, 20, size.height + 80, 11, "start", NULL,
	          "numbers: ranks; white: free; grey: not allowed");
	plot_end(out);
	return 0;
}
