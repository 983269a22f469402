/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Networks with a struct cpl_drawing, such as dragonflies. */
#include <math.h>
#include <stdlib.h>

#include "link_map.h"
#include "network/type.h"

#define MATRIX 720.0 /* pixels that the matrix may take */
#define GAP 36.0
#define STRIP 96.0 /* smallest width of a strip */
#define STRIP_CELLS 32

/* The matrix, and beside it the strips: as many lines, n cells each. */
struct matrix_block {
	struct plot_blocks of;
	double x, width; /* of the part, of a cell */
	double *value;   /* [lines][of.n] */
};

struct view {
	const struct cpl_drawing *drawing;
	int lines;
	double cell; /* pixels of a line */
	int n_parts;
	struct matrix_block part[1 + CPL_DRAWING_STRIPS];
};

/* Where a link is drawn; *at: the part. */
static double *cell_of(const struct view *v, const struct cpl_network *net,
                       int64_t link, int *at)
{
	const struct cpl_strip *strip = v->drawing->strip;
	int from[CPL_NETWORK_MAX_DIMS], to[CPL_NETWORK_MAX_DIMS];
	int block = v->part[0].of.block, line, x, i = 1;

	cpl_network_coordinates(net, net->link_from[link], from);
	cpl_network_coordinates(net, net->link_to[link], to);
	line = from[0] / block;
	x = to[0] / block;
	while (i < v->n_parts &&
	       strip[i - 1].link_class != net->link_class_of[link])
		i++;
	if (i == v->n_parts)
		i = 0;
	else
		x = from[strip[i - 1].coordinate] / v->part[i].of.block;
	*at = i;
	return &v->part[i].value[line * v->part[i].of.n + x];
}

static int fill(struct view *v, const struct plot_map *map,
                struct cpl_error *err)
{
	size_t cells = 0;
	double *value;
	int at;

	for (int i = 0; i < v->n_parts; i++)
		cells += (size_t)v->lines * (size_t)v->part[i].of.n;
	value = malloc(cells * sizeof(*value));
	if (!value)
		return cpl_fail_memory(err);
	for (size_t i = 0; i < cells; i++)
		value[i] = -1;
	for (int i = 0; i < v->n_parts; i++) {
		v->part[i].value = value;
		value += (size_t)v->lines * (size_t)v->part[i].of.n;
	}
	for (int64_t i = 0; i < map->net->n_links; i++) {
		double *cell = cell_of(v, map->net, i, &at);

		*cell = fmax(*cell, plot_map_bytes(map, i));
	}
	return 0;
}

static double extent(const struct matrix_block *part)
{
	return part->width * part->of.n;
}

static void draw_hot(const struct view *v, const struct plot_map *map)
{
	const struct matrix_block *part;
	int at, i;

	if (map->hot < 0)
		return;
	i = (int)(cell_of(v, map->net, map->hot, &at) - v->part[at].value);
	part = &v->part[at];
	plot_map_frame(map, part->x + i % part->of.n * part->width,
	               PLOT_MAP_TOP + i / part->of.n * v->cell, part->width,
	               v->cell);
}

static void draw_titles(const struct view *v, const struct plot_map *map)
{
	double size = v->cell * v->lines, top = PLOT_MAP_TOP;
	double below = top + size + 18;

	for (int i = 0; i < v->n_parts; i++) {
		const struct matrix_block *part = &v->part[i];

		plot_text(map->out, part->x + extent(part) / 2, top - 24, 14,
		          "middle", "font-weight=\"bold\"",
		          i ? v->drawing->strip[i - 1].title
		            : v->drawing->title);
	}
	for (int i = 1; i < v->n_parts; i++) {
		const struct matrix_block *part = &v->part[i];
		int coordinate = v->drawing->strip[i - 1].coordinate;

		plot_text(map->out, part->x + extent(part) / 2, below + 18, 13,
		          "middle", NULL, v->drawing->coordinate[coordinate]);
	}
}

static void draw(const struct view *v, const struct plot_map *map)
{
	double size = v->cell * v->lines, top = PLOT_MAP_TOP;
	const struct matrix_block *matrix = &v->part[0];

	for (int line = 0; line < v->lines; line++)
		for (int i = 0; i < v->n_parts; i++) {
			const struct matrix_block *part = &v->part[i];

			plot_map_cells(map, part->value + line * part->of.n,
			               part->of.n, part->x,
			               top + line * v->cell, part->width,
			               v->cell);
		}
	for (int i = 0; i < v->n_parts; i++)
		plot_rect(map->out, v->part[i].x, top, extent(&v->part[i]),
		          size, "none", "stroke=\"#222\" stroke-width=\"1\"");
	draw_hot(v, map);
	plot_map_numbers(map, v->lines, matrix->of.block, matrix->x, top - 7,
	                 v->cell, false);
	plot_map_numbers(map, v->lines, matrix->of.block, matrix->x - 8, top,
	                 v->cell, true);
	for (int i = 1; i < v->n_parts; i++)
		plot_map_numbers(map, v->part[i].of.n, v->part[i].of.block,
		                 v->part[i].x, top + size + 18,
		                 v->part[i].width, false);
	draw_titles(v, map);
}

/* How many there are of each coordinate. */
static void measure(const struct cpl_network *net, int *length)
{
	for (int d = 0; d < CPL_NETWORK_MAX_DIMS; d++)
		length[d] = 1;
	for (int r = 0; r < net->n_routers; r++) {
		int at[CPL_NETWORK_MAX_DIMS];
		int n = cpl_network_coordinates(net, r, at);

		for (int d = 0; d < n; d++)
			length[d] = at[d] >= length[d] ? at[d] + 1 : length[d];
	}
}

/* Parts from left to right; returns where the last one ends. */
static double lay_out(struct view *v, double size)
{
	double x = PLOT_MAP_LEFT + size + GAP;

	v->cell = size / v->lines;
	v->part[0].x = PLOT_MAP_LEFT;
	v->part[0].width = v->cell;
	for (int i = 1; i < v->n_parts; i++) {
		v->part[i].width = fmax(STRIP / v->part[i].of.n, 9);
		v->part[i].x = x;
		x = x + v->part[i].width * v->part[i].of.n + GAP;
	}
	return x;
}

int plot_map_matrix(struct plot_map *map, struct cpl_error *err)
{
	const struct cpl_drawing *drawing = map->net->type->drawing;
	struct view v = {.drawing = drawing, .n_parts = 1 + drawing->n_strips};
	int length[CPL_NETWORK_MAX_DIMS];
	double size, width, height;
	char caption[160], text[64];

	measure(map->net, length);
	v.part[0].of = plot_blocks_make(length[0], PLOT_MAX_CELLS);
	for (int i = 1; i < v.n_parts; i++)
		v.part[i].of = plot_blocks_make(
		        length[drawing->strip[i - 1].coordinate], STRIP_CELLS);
	v.lines = v.part[0].of.n;
	if (fill(&v, map, err))
		return -1;
	v.cell = fmin(fmax(MATRIX / v.lines, 6), 44);
	size = fmax(v.cell * v.lines, 150);
	width = fmax(lay_out(&v, size), PLOT_MAP_MIN_WIDTH);
	height = PLOT_MAP_TOP + size + 40 + PLOT_MAP_FOOT;
	if (v.part[0].of.block > 1)
		snprintf(caption, sizeof(caption),
		         "most loaded link of each cell; a cell of the matrix "
		         "is %d x %d %ss",
		         v.part[0].of.block, v.part[0].of.block,
		         drawing->coordinate[0]);
	else
		snprintf(caption, sizeof(caption),
		         "most loaded link of each cell");
	plot_map_begin(map, width, height, caption);
	draw(&v, map);
	snprintf(text, sizeof(text), "from %s", drawing->coordinate[0]);
	plot_text_up(map->out, 34, PLOT_MAP_TOP + size / 2, 14, "middle", text);
	plot_map_end(map, PLOT_MAP_TOP + size + 40);
	free(v.part[0].value);
	return 0;
}
