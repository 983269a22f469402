/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the maps of link loads, see plot.h. */
#pragma once

#include "plot.h"

/* `total` things in n cells of `block` each, the last one perhaps less. */
struct plot_blocks {
	int n, block;
};

static inline struct plot_blocks plot_blocks_make(int total, int most)
{
	int block = (total - 1) / most + 1;

	return (struct plot_blocks){(total - 1) / block + 1, block};
}

#define PLOT_MAP_LEFT 96
#define PLOT_MAP_TOP 166
/* Height of what plot_map_end draws, and the width that it needs. */
#define PLOT_MAP_FOOT 96
#define PLOT_MAP_MIN_WIDTH 900

struct plot_map {
	const struct cpl_network *net;
	const double *link;
	const char *title, *subtitle;
	const char *what; /* over the colours; NULL: bytes per link */
	struct plot_scale scale;
	double largest;   /* load */
	int64_t hot;      /* link with the largest congestion, or -1 */
	const char *more; /* second line of explanation, or NULL */
	bool rates;       /* bytes per second, not bytes */
	bool ring;        /* it is marked by a ring, not by a frame */
	char hot_text[200];
	FILE *out;
};

/* Bytes on each of a link's cables. */
static inline double plot_map_bytes(const struct plot_map *map, int64_t link)
{
	return map->link[link] / cpl_network_link_cables(map->net, link);
}

/* Fill of a cell: value < 0 where there is no link, 0 without traffic. */
const char *plot_map_colour(const struct plot_map *map, double value,
                            char buf[8]);

/* Head and foot (title, explanation, named link; colour bar) of a figure. */
void plot_map_begin(const struct plot_map *map, double width, double height,
                    const char *caption);
void plot_map_end(const struct plot_map *map, double top);

/* Marks around a cell and around a point. */
void plot_map_frame(const struct plot_map *map, double x, double y,
                    double width, double height);
void plot_map_ring(const struct plot_map *map, double x, double y,
                   double radius);

/* n cells of width x height side by side; equal neighbours are one element. */
void plot_map_cells(const struct plot_map *map, const double *value, int n,
                    double x, double y, double width, double height);

/* Numbers `first` by `block` below or beside n cells, as many as have room. */
void plot_map_numbers(const struct plot_map *map, int n, int block, double x,
                      double y, double step, bool down);
/* The same of things that are in another order: label[n]. */
void plot_map_labels(const struct plot_map *map, const int *label, int n,
                     double x, double y, double step, bool down);

int plot_map_matrix(struct plot_map *map, struct cpl_error *err);
void plot_map_planes(struct plot_map *map);
