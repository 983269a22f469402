/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <stdlib.h>

#include "network/dragonfly.h"
#include "plot_map.h"

#define MATRIX 720.0 /* pixels that the matrix may take */
#define GAP 36.0
#define STRIP 96.0 /* smallest width of a strip */
#define STRIP_CELLS 32

/* `total` things in n cells of `block` each. */
struct blocks {
	int n, block;
};

static struct blocks make_blocks(int total, int most)
{
	int block = (total - 1) / most + 1;

	return (struct blocks){(total - 1) / block + 1, block};
}

struct view {
	struct blocks groups, rows, columns;
	double cell;            /* pixels of one matrix cell */
	double row_x, column_x; /* of the strips */
	double row_cell, column_cell;
	double *matrix; /* [groups.n][groups.n] */
	double *row;    /* [groups.n][rows.n] */
	double *column; /* [groups.n][columns.n] */
};

/* Where a link is drawn. */
static double *cell_of(const struct view *v, const struct cpl_network *net,
                       int64_t link)
{
	const struct cpl_dragonfly *df = &net->dragonfly;
	int from = net->link_from[link];
	int g = from / df->routers_per_group / v->groups.block;
	int to = net->link_to[link] / df->routers_per_group / v->groups.block;

	switch (net->link_class_of[link]) {
	case CPL_DRAGONFLY_ROW:
		return &v->row[g * v->rows.n +
		               from / df->columns % df->rows / v->rows.block];
	case CPL_DRAGONFLY_COLUMN:
		return &v->column[g * v->columns.n +
		                  from % df->columns / v->columns.block];
	default:
		return &v->matrix[g * v->groups.n + to];
	}
}

static int fill(struct view *v, const struct plot_map *map,
                struct cpl_error *err)
{
	int n = v->groups.n;
	size_t cells = (size_t)n * (size_t)(n + v->rows.n + v->columns.n);

	v->matrix = malloc(cells * sizeof(*v->matrix));
	if (!v->matrix)
		return cpl_fail_memory(err);
	v->row = v->matrix + (size_t)n * (size_t)n;
	v->column = v->row + (size_t)n * (size_t)v->rows.n;
	for (size_t i = 0; i < cells; i++)
		v->matrix[i] = -1;
	for (int64_t i = 0; i < map->net->n_links; i++) {
		double *cell = cell_of(v, map->net, i);

		*cell = fmax(*cell, plot_map_bytes(map, i));
	}
	return 0;
}

static void draw_frame(const struct plot_map *map, double x, double width,
                       double height)
{
	plot_rect(map->out, x, PLOT_MAP_TOP, width, height, "none",
	          "stroke=\"#222\" stroke-width=\"1\"");
}

static void draw_hot(const struct view *v, const struct plot_map *map)
{
	double x, y, width;
	int i;

	if (map->hot < 0)
		return;
	switch (map->net->link_class_of[map->hot]) {
	case CPL_DRAGONFLY_ROW:
		i = (int)(cell_of(v, map->net, map->hot) - v->row);
		width = v->row_cell;
		x = v->row_x + i % v->rows.n * width;
		y = i / v->rows.n * v->cell;
		break;
	case CPL_DRAGONFLY_COLUMN:
		i = (int)(cell_of(v, map->net, map->hot) - v->column);
		width = v->column_cell;
		x = v->column_x + i % v->columns.n * width;
		y = i / v->columns.n * v->cell;
		break;
	default:
		i = (int)(cell_of(v, map->net, map->hot) - v->matrix);
		width = v->cell;
		x = PLOT_MAP_LEFT + i % v->groups.n * width;
		y = i / v->groups.n * v->cell;
	}
	plot_rect(map->out, x - 1, PLOT_MAP_TOP + y - 1, width + 2, v->cell + 2,
	          "none", "stroke=\"" PLOT_MAP_FRAME "\" stroke-width=\"2.5\"");
}

static void draw(const struct view *v, const struct plot_map *map)
{
	double size = v->cell * v->groups.n, top = PLOT_MAP_TOP;
	double rows = v->row_cell * v->rows.n;
	double columns = v->column_cell * v->columns.n;
	double label = top - 24, below = top + size + 18;
	FILE *out = map->out;

	for (int g = 0; g < v->groups.n; g++) {
		double y = top + g * v->cell;

		plot_map_cells(map, v->matrix + g * v->groups.n, v->groups.n,
		               PLOT_MAP_LEFT, y, v->cell, v->cell);
		plot_map_cells(map, v->row + g * v->rows.n, v->rows.n, v->row_x,
		               y, v->row_cell, v->cell);
		plot_map_cells(map, v->column + g * v->columns.n, v->columns.n,
		               v->column_x, y, v->column_cell, v->cell);
	}
	draw_frame(map, PLOT_MAP_LEFT, size, size);
	draw_frame(map, v->row_x, rows, size);
	draw_frame(map, v->column_x, columns, size);
	draw_hot(v, map);
	plot_map_numbers(map, v->groups.n, v->groups.block, PLOT_MAP_LEFT,
	                 top - 7, v->cell, false);
	plot_map_numbers(map, v->groups.n, v->groups.block, PLOT_MAP_LEFT - 8,
	                 top, v->cell, true);
	plot_map_numbers(map, v->rows.n, v->rows.block, v->row_x, below,
	                 v->row_cell, false);
	plot_map_numbers(map, v->columns.n, v->columns.block, v->column_x,
	                 below, v->column_cell, false);
	plot_text(out, PLOT_MAP_LEFT + size / 2, label, 14, "middle",
	          "font-weight=\"bold\"", "global links, to group");
	plot_text(out, v->row_x + rows / 2, label, 14, "middle",
	          "font-weight=\"bold\"", "row links");
	plot_text(out, v->column_x + columns / 2, label, 14, "middle",
	          "font-weight=\"bold\"", "column links");
	plot_text(out, v->row_x + rows / 2, below + 18, 13, "middle", NULL,
	          "row");
	plot_text(out, v->column_x + columns / 2, below + 18, 13, "middle",
	          NULL, "column");
}

int plot_map_dragonfly(struct plot_map *map, struct cpl_error *err)
{
	const struct cpl_dragonfly *df = &map->net->dragonfly;
	struct view v = {
	        .groups = make_blocks(df->groups, PLOT_MAX_CELLS),
	        .rows = make_blocks(df->rows, STRIP_CELLS),
	        .columns = make_blocks(df->columns, STRIP_CELLS),
	};
	double size, width, height;
	char caption[160], rotate[64];

	if (fill(&v, map, err))
		return -1;
	v.cell = fmin(fmax(MATRIX / v.groups.n, 6), 44);
	size = fmax(v.cell * v.groups.n, 150);
	v.cell = size / v.groups.n;
	v.row_cell = fmax(STRIP / v.rows.n, 9);
	v.column_cell = fmax(STRIP / v.columns.n, 9);
	v.row_x = PLOT_MAP_LEFT + size + GAP;
	v.column_x = v.row_x + v.row_cell * v.rows.n + GAP;
	width = fmax(v.column_x + v.column_cell * v.columns.n + GAP,
	             PLOT_MAP_MIN_WIDTH);
	height = PLOT_MAP_TOP + size + 40 + PLOT_MAP_FOOT;
	if (v.groups.block > 1)
		snprintf(caption, sizeof(caption),
		         "most loaded link of each cell; a cell of the matrix "
		         "is %d x %d groups",
		         v.groups.block, v.groups.block);
	else
		snprintf(caption, sizeof(caption),
		         "most loaded link of each cell");
	plot_map_begin(map, width, height, caption);
	draw(&v, map);
	snprintf(rotate, sizeof(rotate), "transform=\"rotate(-90 34 %.1f)\"",
	         PLOT_MAP_TOP + size / 2);
	plot_text(map->out, 34, PLOT_MAP_TOP + size / 2, 14, "middle", rotate,
	          "from group");
	plot_map_end(map, PLOT_MAP_TOP + size + 40);
	free(v.matrix);
	return 0;
}
