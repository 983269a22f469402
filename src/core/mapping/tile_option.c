/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "mapping/tile.h"

#define LENGTH_MAX 16777216

/* The index of a letter from A on; -1: T; -2: neither. */
static int letter(char c)
{
	int upper = toupper((unsigned char)c);

	if (upper == 'T')
		return -1;
	return upper >= 'A' && upper < 'A' + CPL_NETWORK_MAX_DIMS ? upper - 'A'
	                                                          : -2;
}

static int parse_order(const char *text, struct cpl_tile_option *o,
                       struct cpl_error *err)
{
	int n = (int)strlen(text);
	unsigned seen = 0;

	for (int i = 0; i < n; i++) {
		int dim = letter(text[i]);

		if (dim == -2 || i >= CPL_TILE_MAX_DIMS ||
		    seen & 1u << (dim + 1))
			return cpl_fail(err,
			                "tile: '%.64s' is neither an order "
			                "such as ABCDET nor BOX/TILE/ON",
			                text);
		seen |= 1u << (dim + 1);
		o->order[o->n_order++] = dim;
	}
	/* The order has T and the first letters without gaps. */
	if (!n || seen != (1u << n) - 1)
		return cpl_fail(err,
		                "tile: the order '%.64s' must have T and the "
		                "first letters from A on, each once",
		                text);
	return 0;
}

/* Reads "8x8x4" and returns the first character after it, or NULL with err. */
static const char *parse_lengths(const char *text, const char *what, int *out,
                                 int *n, struct cpl_error *err)
{
	for (*n = 0;; text++) {
		char *end;
		long value = strtol(text, &end, 10);

		if (!isdigit((unsigned char)*text) || value < 1 ||
		    value > LENGTH_MAX)
			return cpl_fail_null(
			        err,
			        "tile: %s is not lengths such as 8x8x4, at "
			        "'%.32s'",
			        what, text);
		if (*n == CPL_TILE_MAX_DIMS)
			return cpl_fail_null(
			        err, "tile: %s has more than %d dimensions",
			        what, CPL_TILE_MAX_DIMS);
		out[(*n)++] = (int)value;
		text = end;
		if (*text != 'x')
			return text;
	}
}

static int parse_tilt(const char **text, struct cpl_tile_option *o,
                      struct cpl_error *err)
{
	const char *p = *text;
	int of, along;
	long slope = 1;

	if (o->n_tilts == CPL_TILE_MAX_TILTS)
		return cpl_fail(err, "tile: more than %d tilts",
		                CPL_TILE_MAX_TILTS);
	if (strncmp(p, "/tilt", 5) || (of = letter(p[5])) == -2 ||
	    (along = letter(p[6])) == -2 || of == along)
		return cpl_fail(err,
		                "tile: '%.32s' is not a tilt such as /tiltAB, "
		                "of two letters",
		                p);
	p += 7;
	if (isdigit((unsigned char)*p)) {
		char *end;

		slope = strtol(p, &end, 10);
		p = end;
	}
	if (slope < 1 || slope > LENGTH_MAX)
		return cpl_fail(err,
		                "tile: the slope of '%.32s' is not 1 or "
		                "more",
		                *text);
	o->tilt[o->n_tilts].of = of;
	o->tilt[o->n_tilts].along = along;
	o->tilt[o->n_tilts++].slope = (int)slope;
	*text = p;
	return 0;
}

static int parse_tiles(const char *text, struct cpl_tile_option *o,
                       struct cpl_error *err)
{
	static const char *const what[] = {"BOX", "TILE", "ON"};
	int *length[] = {o->box, o->tile, o->on}, n_tile;
	int *n[] = {&o->n_box, &n_tile, &o->n_on};
	const char *p = text;
	int64_t tile = 1, on = 1;

	for (int i = 0; i < 3; i++) {
		if (i && *p++ != '/')
			return cpl_fail(err, "tile: '%.64s' is not BOX/TILE/ON",
			                text);
		p = parse_lengths(p, what[i], length[i], n[i], err);
		if (!p)
			return -1;
	}
	if (n_tile != o->n_box)
		return cpl_fail(err,
		                "tile: TILE has %d dimensions, BOX has %d; "
		                "the numbers must be equal",
		                n_tile, o->n_box);
	for (int d = 0; d < n_tile; d++) {
		if (o->box[d] % o->tile[d])
			return cpl_fail(err,
			                "tile: %d of TILE does not divide %d "
			                "of BOX",
			                o->tile[d], o->box[d]);
		tile *= o->tile[d];
		if (tile > LENGTH_MAX)
			return cpl_fail(err, "tile: TILE is too large");
	}
	for (int d = 0; d < o->n_on; d++) {
		on *= o->on[d];
		if (on > LENGTH_MAX)
			return cpl_fail(err, "tile: ON is too large");
	}
	if (tile != on)
		return cpl_fail(err,
		                "tile: TILE holds %lld ranks, ON %lld; the "
		                "numbers must be equal",
		                (long long)tile, (long long)on);
	while (*p)
		if (parse_tilt(&p, o, err))
			return -1;
	return 0;
}

int cpl_tile_option_parse(const char *text, struct cpl_tile_option *out,
                          struct cpl_error *err)
{
	*out = (struct cpl_tile_option){0};
	return isdigit((unsigned char)*text) ? parse_tiles(text, out, err)
	                                     : parse_order(text, out, err);
}
