/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mapping/tile.h"

#include <stdlib.h>
#include <string.h>

#include "mapping/best/best.h"

/* At most so many tiles of one volume are looked at. */
#define TILES_MAX 20000

/* The job's slots and ranks, with arrays to sort them. */
struct tile_job {
	const struct cpl_map_request *req;
	int ranks, n_dims; /* dimensions with T, the last one */
	int length[CPL_TILE_MAX_DIMS];
	int *at;   /* [ranks * n_dims] coordinates of slots */
	int *host; /* [ranks] of slots */
	const int *cell; /* [ranks] position of a rank in the box; NULL: its
	                  * number */
	struct cpl_keyed *slot, *rank; /* [ranks] */
	struct cpl_arena arena;
	struct cpl_distance distance;
};

static int list_slots(struct tile_job *j)
{
	const struct cpl_map_request *req = j->req;
	int at[CPL_TILE_MAX_DIMS], low[CPL_TILE_MAX_DIMS], n = 0;
	int dims = cpl_network_coordinates(req->net, 0, at);
	int *used = cpl_arena_take(&j->arena, req->net->n_routers,
	                           sizeof(*used));

	j->n_dims = dims + 1;
	j->at = cpl_arena_take(&j->arena, (int64_t)j->ranks * j->n_dims,
	                       sizeof(*j->at));
	j->host = cpl_arena_take(&j->arena, j->ranks, sizeof(*j->host));
	j->slot = cpl_arena_take(&j->arena, j->ranks, sizeof(*j->slot));
	j->rank = cpl_arena_take(&j->arena, j->ranks, sizeof(*j->rank));
	if (j->arena.failed)
		return -1;
	for (int h = 0; h < req->n_hosts; h++) {
		int router = cpl_network_router(req->net, req->host[h]);

		cpl_network_coordinates(req->net, router, at);
		for (int k = 0; k < req->slots[h]; k++) {
			int *to = j->at + (size_t)n * (size_t)j->n_dims;

			memcpy(to, at, (size_t)dims * sizeof(*to));
			to[dims] = used[router]++;
			j->host[n++] = h;
		}
	}
	memcpy(low, j->at, (size_t)j->n_dims * sizeof(*low));
	for (int i = 0; i < n * j->n_dims; i++)
		if (j->at[i] < low[i % j->n_dims])
			low[i % j->n_dims] = j->at[i];
	for (int i = 0; i < n * j->n_dims; i++) {
		j->at[i] -= low[i % j->n_dims];
		if (j->at[i] >= j->length[i % j->n_dims])
			j->length[i % j->n_dims] = j->at[i] + 1;
	}
	return 0;
}

/* Pairs the i-th rank with the i-th slot, in the order of their keys. */
static void pair(struct tile_job *j, int *rank_host)
{
	cpl_keyed_sort(j->slot, j->ranks);
	cpl_keyed_sort(j->rank, j->ranks);
	for (int i = 0; i < j->ranks; i++)
		rank_host[j->rank[i].item] = j->host[j->slot[i].item];
}

static uint64_t join(const int *at, const int *length, const int *order, int n)
{
	uint64_t key = 0;

	for (int i = 0; i < n; i++) {
		int d = order ? order[i] : i;

		key = key * (uint64_t)length[d] + (uint64_t)at[d];
	}
	return key;
}

static int dim_of(const struct tile_job *j, int letter)
{
	return letter < 0 ? j->n_dims - 1 : letter;
}

static void lay_order(struct tile_job *j, const int *order, int *rank_host)
{
	for (int i = 0; i < j->ranks; i++) {
		const int *at = j->at + (size_t)i * (size_t)j->n_dims;

		j->slot[i].item = j->rank[i].item = i;
		j->rank[i].key = i;
		j->slot[i].key = join(at, j->length, order, j->n_dims);
	}
	pair(j, rank_host);
}

/* The key is the number of the tile, then the position in it. */
static uint64_t tile_key(const int *at, const int *length, const int *tile,
                         const struct cpl_tile_option *tilts,
                         const struct tile_job *j, int n)
{
	int outside[CPL_TILE_MAX_DIMS], inside[CPL_TILE_MAX_DIMS];
	int count[CPL_TILE_MAX_DIMS];
	uint64_t volume = 1;

	for (int d = 0; d < n; d++) {
		outside[d] = at[d] / tile[d];
		inside[d] = at[d] % tile[d];
		count[d] = (length[d] + tile[d] - 1) / tile[d];
		volume *= (uint64_t)tile[d];
	}
	/* Positions are known after tilts, which are undone, last first. */
	for (int i = tilts ? tilts->n_tilts - 1 : -1; i >= 0; i--) {
		int of = dim_of(j, tilts->tilt[i].of);
		int along = dim_of(j, tilts->tilt[i].along);
		int64_t by = (int64_t)tilts->tilt[i].slope * inside[of];

		inside[along] =
		        (int)((inside[along] - by % tile[along] + tile[along]) %
		              tile[along]);
	}
	return join(outside, count, NULL, n) * volume +
	       join(inside, tile, NULL, n);
}

static void lay_tiles(struct tile_job *j, const struct cpl_tile_option *o,
                      int *rank_host)
{
	for (int i = 0; i < j->ranks; i++) {
		int position = j->cell ? j->cell[i] : i, at[CPL_TILE_MAX_DIMS];

		for (int d = o->n_box - 1; d >= 0; d--) {
			at[d] = position % o->box[d];
			position /= o->box[d];
		}
		j->slot[i].item = j->rank[i].item = i;
		j->rank[i].key =
		        tile_key(at, o->box, o->tile, NULL, j, o->n_box);
		j->slot[i].key = tile_key(j->at + (size_t)i * (size_t)j->n_dims,
		                          j->length, o->on, o, j, j->n_dims);
	}
	pair(j, rank_host);
}

static int check_fit(const struct tile_job *j, const struct cpl_tile_option *o,
                     struct cpl_error *err)
{
	int64_t box = 1;
	int n = o->n_order ? o->n_order : o->n_on;

	if (n != j->n_dims)
		return cpl_fail(err,
		                "tile: %d coordinates are given, slots of "
		                "network '%s' have %d: A to %c, and T",
		                n, j->req->net->name, j->n_dims,
		                'A' + j->n_dims - 2);
	if (o->n_order)
		return 0;
	for (int i = 0; i < o->n_tilts; i++)
		if (o->tilt[i].of >= j->n_dims - 1 ||
		    o->tilt[i].along >= j->n_dims - 1)
			return cpl_fail(
			        err,
			        "tile: a tilt names a coordinate that network "
			        "'%s' does not have; it has A to %c, and T",
			        j->req->net->name, 'A' + j->n_dims - 2);
	for (int d = 0; d < o->n_box; d++)
		box *= o->box[d];
	if (box != j->ranks)
		return cpl_fail(err,
		                "tile: BOX holds %lld ranks, the job has %d "
		                "slots; the numbers must be equal",
		                (long long)box, j->ranks);
	for (int d = 0; d < j->n_dims; d++)
		if (j->length[d] % o->on[d])
			return cpl_fail(err,
			                "tile: %d of ON does not divide the "
			                "job's length %d along %c",
			                o->on[d], j->length[d],
			                d == j->n_dims - 1 ? 'T' : 'A' + d);
	return 0;
}

static double hop_bytes(struct tile_job *j, const int *rank_host)
{
	const struct cpl_comm *graph = j->req->graph;
	const int *leaf = j->distance.leaf;
	double sum = 0;

	for (int r = 0; r < graph->ranks; r++)
		for (int64_t e = graph->row[r]; e < graph->row[r + 1]; e++)
			sum += graph->bytes[e] *
			       cpl_distance_between(
			               &j->distance, leaf[rank_host[r]],
			               leaf[rank_host[graph->to[e]]]);
	return sum;
}

/* The tile of that volume with the least surface; where `thick`, its last
 * dimension is cut as little as possible. */
struct tile_shape {
	int n, thick;
	const int *length;
	int now[CPL_TILE_MAX_DIMS], *best;
	double least;
	int left; /* tiles that may still be looked at */
};

static void try_shapes(struct tile_shape *s, int d, int64_t volume)
{
	if (d == s->n) {
		double surface = 0;

		if (volume != 1 || s->left-- <= 0)
			return;
		for (int i = 0; i < s->n - s->thick; i++)
			surface += 1.0 / s->now[i];
		if (s->thick)
			surface += 1e6 / s->now[s->n - 1];
		if (s->least < 0 || surface < s->least) {
			s->least = surface;
			memcpy(s->best, s->now, (size_t)s->n * sizeof(int));
		}
		return;
	}
	for (int t = 1; t <= s->length[d] && t <= volume; t++) {
		if (s->length[d] % t || volume % t || s->left <= 0)
			continue;
		s->now[d] = t;
		try_shapes(s, d + 1, volume / t);
	}
}

static bool shape(const int *length, int n, int thick, int64_t volume, int *out)
{
	struct tile_shape s = {
	        .n = n,
	        .thick = thick,
	        .length = length,
	        .best = out,
	        .least = -1,
	        .left = TILES_MAX,
	};

	try_shapes(&s, 0, volume);
	return s.least >= 0;
}

struct tile_choice {
	int *rank_host, *tried;
	double least;
};

static void consider(struct tile_job *j, struct tile_choice *c)
{
	double cost = hop_bytes(j, c->tried);

	if (c->least >= 0 && cost >= c->least)
		return;
	c->least = cost;
	memcpy(c->rank_host, c->tried, (size_t)j->ranks * sizeof(int));
}

/* Cuts equal volumes, as cubic as can be, out of grid and machine. */
static void try_tiles(struct tile_job *j, const struct cpl_grid *grid,
                      struct tile_choice *c)
{
	struct cpl_tile_option o = {.n_box = grid->n_dims, .n_on = j->n_dims};

	for (int d = 0; d < grid->n_dims; d++)
		o.box[d] = grid->dim[grid->n_dims - 1 - d];
	j->cell = grid->cell;
	for (int64_t volume = 1;
	     volume <= j->ranks && !cpl_map_expired(j->req); volume++) {
		if (j->ranks % volume ||
		    !shape(o.box, o.n_box, 0, volume, o.tile) ||
		    !shape(j->length, j->n_dims, 1, volume, o.on))
			continue;
		lay_tiles(j, &o, c->tried);
		consider(j, c);
	}
	j->cell = NULL;
}

/* Without an option, takes the best by hop-bytes of the two orders of Blue
 * Gene/Q and, where the ranks make up a grid, of tiles. */
static int choose(struct tile_job *j, int *rank_host, struct cpl_error *err)
{
	struct tile_choice c = {
	        .rank_host = rank_host,
	        .tried = cpl_arena_take(&j->arena, j->ranks, sizeof(int)),
	        .least = -1,
	};
	int order[CPL_TILE_MAX_DIMS], found = 0;
	struct cpl_grid grid = {0};

	if (!c.tried ||
	    cpl_distance_init(&j->distance, j->req->net, j->req->routing,
	                      j->req->host, j->req->n_hosts, err))
		return -1;
	/* T varies fastest or slowest. */
	for (int first = 0; first < 2; first++) {
		for (int d = 0; d < j->n_dims; d++)
			order[d] = first ? (d + j->n_dims - 1) % j->n_dims : d;
		lay_order(j, order, c.tried);
		consider(j, &c);
	}
	if (!cpl_map_expired(j->req))
		found = cpl_map_find_grid(j->req, j->req->graph, &grid, err);
	if (found > 0) {
		try_tiles(j, &grid, &c);
		free(grid.cell);
	}
	cpl_distance_free(&j->distance);
	return found < 0 ? -1 : 0;
}

/* Does what the option says. */
static int obey(struct tile_job *j, int *rank_host, struct cpl_error *err)
{
	struct cpl_tile_option o;

	if (cpl_tile_option_parse(j->req->option, &o, err) ||
	    check_fit(j, &o, err))
		return -1;
	for (int i = 0; i < o.n_order; i++)
		o.order[i] = dim_of(j, o.order[i]);
	if (o.n_order)
		lay_order(j, o.order, rank_host);
	else
		lay_tiles(j, &o, rank_host);
	return 0;
}

static int map(const struct cpl_map_request *req, int *rank_host,
               struct cpl_error *err)
{
	struct tile_job j = {.req = req, .ranks = req->graph->ranks};
	int rc = -1;

	if (!list_slots(&j))
		rc = (req->option ? obey : choose)(&j, rank_host, err);
	return cpl_arena_end(&j.arena, rc, err);
}

static int check(const char *option, struct cpl_error *err)
{
	struct cpl_tile_option o;

	return cpl_tile_option_parse(option, &o, err);
}

const struct cpl_mapper cpl_mapper_tile = {
        .name = "tile",
        .summary = "tiles of the ranks' grid onto tiles of the machine; orders",
        .map = map,
        .check_option = check,
};
