/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Products of lines and rings: tori and meshes. */
#include <math.h>

#include "link_map.h"

#define PLANES_WIDTH 1180.0
#define PLANE_GAP 34.0
#define PLANE_SIDE 64 /* longest side of a plane that is drawn link by link */
#define STRIPS_WIDTH 860.0
#define STRIP_HEIGHT 26.0

/* Planes of the first two dimensions. */
struct plane_view {
	int width, height, n;
	int across;        /* planes side by side */
	double cell;       /* pixels between routers */
	double wide, high; /* between planes */
};

static int extent(const struct cpl_product *torus, int d)
{
	return d < torus->n_dims ? torus->dim[d] : 1;
}

/* The link that leaves a router in dimension d, or -1. */
static int64_t link_of(const struct cpl_product *torus, int router, int d,
                       int minus)
{
	return torus->out[((int64_t)router * torus->n_dims + d) * 2 + minus];
}

static double load_of(const struct plot_map *map, int router, int d, int minus)
{
	int64_t link = link_of(&map->net->product, router, d, minus);

	return link < 0 ? -1 : map->link[link];
}

static void middle(const struct plane_view *p, int router, double *x, double *y)
{
	int plane = router / (p->width * p->height);

	*x = PLOT_MAP_LEFT + plane % p->across * p->wide +
	     (router % p->width + 0.5) * p->cell;
	*y = PLOT_MAP_TOP + plane / p->across * p->high +
	     (router / p->width % p->height + 0.5) * p->cell;
}

/* From (x, y) along one axis, to either side of the middle line. */
static void stroke(const struct plot_map *map, double x, double y, double from,
                   double to, bool down, double aside, double width,
                   double load)
{
	char colour[8];
	const char *fill = plot_map_colour(map, load, colour);

	/* White on white would not show that there is a link. */
	if (!(load > 0)) {
		fill = "#bbb";
		width = fmin(width, 0.8);
	}
	if (down)
		plot_line(map->out, x + aside, y + from, x + aside, y + to,
		          fill, width, NULL);
	else
		plot_line(map->out, x + from, y + aside, x + to, y + aside,
		          fill, width, NULL);
}

static void draw_link(const struct plot_map *map, const struct plane_view *p,
                      int router, int d, int minus)
{
	double load = load_of(map, router, d, minus), x, y;
	double cell = p->cell, half = cell * 0.22, width = cell * 0.14;
	double sign = minus ? -1 : 1, aside = sign * cell * 0.1;
	int length = extent(&map->net->product, d);
	int stride = d ? p->width : 1, at = router / stride % length;
	int other = router + (minus ? stride : -stride) * (length - 1);

	if (load < 0)
		return;
	width = fmax(width, 1.2);
	middle(p, router, &x, &y);
	if (at != (minus ? 0 : length - 1)) {
		stroke(map, x, y, sign * half, sign * (cell - half), d, aside,
		       width, load);
		return;
	}
	/* Round the border: a stub at either end. */
	stroke(map, x, y, sign * half, sign * cell * 0.6, d, aside, width,
	       load);
	middle(p, other, &x, &y);
	stroke(map, x, y, -sign * half, -sign * cell * 0.6, d, aside, width,
	       load);
}

static void draw_router(const struct plot_map *map, const struct plane_view *p,
                        int router)
{
	double load = -1, x, y, half = p->cell * 0.22;
	char colour[8];

	for (int d = 2; d < map->net->product.n_dims; d++)
		for (int minus = 0; minus < 2; minus++)
			load = fmax(load, load_of(map, router, d, minus));
	middle(p, router, &x, &y);
	plot_rect(map->out, x - half, y - half, 2 * half, 2 * half,
	          plot_map_colour(map, load, colour),
	          "stroke=\"#888\" stroke-width=\"1\"");
}

static void draw_plane_name(const struct plot_map *map,
                            const struct plane_view *p, int plane)
{
	const struct cpl_product *torus = &map->net->product;
	int rest = plane;
	char text[96];
	size_t n = 0;
	double x, y;

	if (torus->n_dims < 3)
		return;
	for (int d = 2; d < torus->n_dims && n < sizeof(text); d++) {
		n += (size_t)snprintf(text + n, sizeof(text) - n, ",%d",
		                      rest % torus->dim[d]);
		rest /= torus->dim[d];
	}
	middle(p, plane * p->width * p->height, &x, &y);
	plot_text(map->out, x - p->cell * 0.22, y - p->cell * 0.62 - 3, 12,
	          "start", NULL, text + 1);
}

static void draw_hot(const struct plot_map *map, const struct plane_view *p)
{
	double x, y;

	if (map->hot < 0)
		return;
	middle(p, map->net->link_from[map->hot], &x, &y);
	plot_map_ring(map, x, y, fmax(p->cell * 0.45, 7));
}

/* Coordinates beside the first planes of each line, below those of the last. */
static void draw_coordinates(const struct plot_map *map,
                             const struct plane_view *p)
{
	int down = (p->n - 1) / p->across + 1;

	for (int i = 0; i < down && map->net->product.n_dims > 1; i++)
		plot_map_numbers(map, p->height, 1,
		                 PLOT_MAP_LEFT - p->cell * 0.1 - 6,
		                 PLOT_MAP_TOP + i * p->high, p->cell, true);
	for (int i = 0; i < p->across; i++)
		plot_map_numbers(map, p->width, 1, PLOT_MAP_LEFT + i * p->wide,
		                 PLOT_MAP_TOP + (down - 1) * p->high +
		                         (p->height + 0.1) * p->cell + 13,
		                 p->cell, false);
}

static void name_planes(const struct cpl_product *torus, char *text,
                        size_t size)
{
	size_t n = (size_t)snprintf(text, size,
	                            "planes of dim0 (right) and dim1 (down), "
	                            "named by ");

	for (int d = 2; d < torus->n_dims && n < size; d++)
		n += (size_t)snprintf(text + n, size - n, "%sdim%d",
		                      d > 2 ? "," : "", d);
	if (n < size)
		snprintf(text + n, size - n,
		         "; routers: most loaded link that leaves in %s",
		         torus->n_dims > 3 ? "these" : "it");
}

static void draw_planes(struct plot_map *map, struct plane_view *p)
{
	const struct cpl_network *net = map->net;
	int down = (p->n - 1) / p->across + 1;
	double width = PLOT_MAP_LEFT + p->across * p->wide + 20;
	double end = PLOT_MAP_TOP + down * p->high;
	char caption[200] = "dim0 to the right, dim1 down";

	if (net->product.n_dims > 2)
		name_planes(&net->product, caption, sizeof(caption));
	map->ring = true;
	map->more = "of two lines side by side the right or lower one is the "
	            "link in + direction; without traffic they are thin";
	plot_map_begin(map, fmax(width, PLOT_MAP_MIN_WIDTH),
	               end + PLOT_MAP_FOOT, caption);
	for (int router = 0; router < net->n_routers; router++)
		for (int d = 0; d < 2 && d < net->product.n_dims; d++)
			for (int minus = 0; minus < 2; minus++)
				draw_link(map, p, router, d, minus);
	for (int router = 0; router < net->n_routers; router++)
		draw_router(map, p, router);
	for (int plane = 0; plane < p->n; plane++)
		draw_plane_name(map, p, plane);
	draw_coordinates(map, p);
	draw_hot(map, p);
	plot_map_end(map, end);
}

/* A router's coordinate in dimension d. */
static int coordinate(const struct cpl_product *torus, int router, int d)
{
	for (int i = 0; i < d; i++)
		router /= torus->dim[i];
	return router % torus->dim[d];
}

/* A strip: the links of one dimension and direction. */
static void draw_strip(const struct plot_map *map, int d, int minus, double y)
{
	const struct cpl_product *torus = &map->net->product;
	struct plot_blocks of = plot_blocks_make(torus->dim[d], PLOT_MAX_CELLS);
	double cell = fmin(STRIPS_WIDTH / of.n, 36), value[PLOT_MAX_CELLS];
	char name[32];

	for (int i = 0; i < of.n; i++)
		value[i] = -1;
	for (int router = 0; router < map->net->n_routers; router++) {
		double *at = &value[coordinate(torus, router, d) / of.block];

		*at = fmax(*at, load_of(map, router, d, minus));
	}
	snprintf(name, sizeof(name), "dim%d %c", d, minus ? '-' : '+');
	plot_text(map->out, PLOT_MAP_LEFT - 10, y + 18, 14, "end", NULL, name);
	plot_map_cells(map, value, of.n, PLOT_MAP_LEFT, y, cell, STRIP_HEIGHT);
	plot_rect(map->out, PLOT_MAP_LEFT, y, of.n * cell, STRIP_HEIGHT, "none",
	          "stroke=\"#222\" stroke-width=\"1\"");
}

/* Over both strips: the frame of the link with the largest congestion. */
static void draw_over(const struct plot_map *map, int d, double y)
{
	const struct cpl_product *torus = &map->net->product;
	struct plot_blocks of = plot_blocks_make(torus->dim[d], PLOT_MAX_CELLS);
	double cell = fmin(STRIPS_WIDTH / of.n, 36);
	int from = map->hot < 0 ? 0 : map->net->link_from[map->hot];
	int at = coordinate(torus, from, d) / of.block;

	for (int minus = 0; minus < 2 && map->hot >= 0; minus++)
		if (link_of(torus, from, d, minus) == map->hot)
			plot_map_frame(map, PLOT_MAP_LEFT + at * cell,
			               y + minus * STRIP_HEIGHT, cell,
			               STRIP_HEIGHT);
	plot_map_numbers(map, of.n, of.block, PLOT_MAP_LEFT,
	                 y + 2 * STRIP_HEIGHT + 16, cell, false);
}

static void draw_strips(const struct plot_map *map)
{
	int n_dims = map->net->product.n_dims;
	double y = PLOT_MAP_TOP, end = y + n_dims * (2 * STRIP_HEIGHT + 40);

	plot_map_begin(map, PLOT_MAP_LEFT + STRIPS_WIDTH + 40,
	               end + PLOT_MAP_FOOT,
	               "most loaded link by dimension, direction and "
	               "coordinate that it leaves");
	for (int d = 0; d < n_dims; d++) {
		draw_strip(map, d, 0, y);
		draw_strip(map, d, 1, y + STRIP_HEIGHT);
		draw_over(map, d, y);
		y += 2 * STRIP_HEIGHT + 40;
	}
	plot_map_end(map, end);
}

/* About as many as wished, preferably without a rest in the last line. */
static int planes_across(int n, double wish)
{
	int across = (int)ceil(wish);

	for (int i = across; i <= across + 2; i++)
		if (i <= n && n % i == 0)
			return i;
	if (across > 1 && n % (across - 1) == 0)
		return across - 1;
	return across < n ? across : n;
}

void plot_map_planes(struct plot_map *map)
{
	const struct cpl_product *torus = &map->net->product;
	struct plane_view p = {.width = extent(torus, 0),
	                       .height = extent(torus, 1)};

	if (map->net->n_routers > PLOT_MAX_ROUTERS || p.width > PLANE_SIDE ||
	    p.height > PLANE_SIDE) {
		draw_strips(map);
		return;
	}
	p.n = map->net->n_routers / (p.width * p.height);
	p.across = planes_across(p.n, sqrt(1.4 * p.n * p.height / p.width));
	p.cell = fmin(fmax((PLANES_WIDTH / p.across - PLANE_GAP) / p.width, 14),
	              48);
	p.wide = p.width * p.cell + PLANE_GAP;
	p.high = p.height * p.cell + PLANE_GAP;
	draw_planes(map, &p);
}
