/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "mapping/best/best.h"

#define MAX_DIMS 4
/* The most layouts, and edges, that are looked at. */
#define LAYOUTS 400
#define EDGES 40000000
/* A layout of at most this much of the least cost is tried as a snake, too. */
#define CLOSE 1.25

struct fold {
	const struct cpl_map_request *req;
	const struct cpl_grid *grid;
	struct cpl_distance distance;
	int slots;
	int *host_at; /* [routers] index into req->host, plus 1 */
	int tile[MAX_DIMS];
	int factor[MAX_DIMS][CPL_NETWORK_MAX_DIMS];
	int *trial; /* [ranks] */
	int *best;  /* [ranks] of the least cost so far */
	double least;
	bool any;
	bool snake;   /* lower digits of the machine run backwards too */
	int64_t left; /* layouts that may still be looked at */
};

static double cost_of(struct fold *f)
{
	const struct cpl_comm *graph = f->req->graph;
	const int *leaf = f->distance.leaf;
	double sum = 0;

	for (int r = 0; r < graph->ranks; r++) {
		const float *row =
		        cpl_distance_row(&f->distance, leaf[f->trial[r]]);

		for (int64_t e = graph->row[r]; e < graph->row[r + 1]; e++)
			sum += graph->bytes[e] *
			       (double)row[leaf[f->trial[graph->to[e]]]];
	}
	return sum;
}

/* The router of a cell. A tile coordinate is split into digits, one for each
 * machine dimension, in reflected order, so that neighbours differ by one in
 * one digit; the digits of all coordinates make up the router's. As a snake,
 * what is below an odd digit is reflected: two halves of a ring of four are
 * then neighbours at both ends. */
static int router_of(const struct fold *f, int cell)
{
	const struct cpl_product *torus = &f->req->net->product;
	int at[CPL_NETWORK_MAX_DIMS] = {0}, stride[CPL_NETWORK_MAX_DIMS];
	int router = 0, step = 1;

	for (int j = 0; j < torus->n_dims; j++)
		stride[j] = 1;
	for (int i = 0; i < f->grid->n_dims; i++) {
		int q = cell % f->grid->dim[i] / f->tile[i];

		cell /= f->grid->dim[i];
		for (int j = 0; j < torus->n_dims; j++) {
			int n = f->factor[i][j], digit = q % n;

			q /= n;
			if (q % 2)
				digit = n - 1 - digit;
			if (f->snake && digit % 2)
				at[j] = stride[j] - 1 - at[j];
			at[j] += digit * stride[j];
			stride[j] *= n;
		}
	}
	for (int j = 0; j < torus->n_dims; j++) {
		router += at[j] * step;
		step *= torus->dim[j];
	}
	return router;
}

static double lay_out(struct fold *f, bool snake)
{
	double cost;

	f->left--;
	f->snake = snake;
	for (int r = 0; r < f->req->graph->ranks; r++)
		f->trial[r] = f->host_at[router_of(f, f->grid->cell[r])] - 1;
	cost = cost_of(f);
	if (f->any && cost >= f->least)
		return cost;
	f->any = true;
	f->least = cost;
	memcpy(f->best, f->trial,
	       (size_t)f->req->graph->ranks * sizeof(*f->best));
	return cost;
}

/* Do two coordinates share a dimension of the machine? */
static bool is_shared(const struct fold *f)
{
	for (int j = 0; j < f->req->net->product.n_dims; j++) {
		int n = 0;

		for (int i = 0; i < f->grid->n_dims; i++)
			n += f->factor[i][j] > 1;
		if (n > 1)
			return true;
	}
	return false;
}

static void try_layout(struct fold *f)
{
	double cost = lay_out(f, false);

	if (cost <= CLOSE * f->least && is_shared(f))
		lay_out(f, true);
}

/* Tries all ways to split grid dimension i over machine dimensions from j on;
 * rest and left are what remains of both. */
static void split(struct fold *f, int i, int j, int rest, int *left)
{
	const struct cpl_product *torus = &f->req->net->product;

	if (f->left <= 0)
		return;
	if (j == torus->n_dims) {
		if (rest > 1)
			return;
		if (++i == f->grid->n_dims)
			try_layout(f);
		else
			split(f, i, 0, f->grid->dim[i] / f->tile[i], left);
		return;
	}
	for (int n = rest < left[j] ? rest : left[j]; n > 0; n--) {
		if (rest % n || left[j] % n)
			continue;
		f->factor[i][j] = n;
		left[j] /= n;
		split(f, i, j + 1, rest / n, left);
		left[j] *= n;
	}
}

/* Tries all tiles of `left` more ranks, the squarest sides first. */
static void tiles(struct fold *f, int i, int left)
{
	int length[CPL_NETWORK_MAX_DIMS];

	if (i == f->grid->n_dims) {
		if (left > 1)
			return;
		memcpy(length, f->req->net->product.dim, sizeof(length));
		split(f, 0, 0, f->grid->dim[0] / f->tile[0], length);
		return;
	}
	for (int n = 1; n <= left && f->left > 0; n++) {
		if (left % n || f->grid->dim[i] % n)
			continue;
		f->tile[i] = n;
		tiles(f, i + 1, left / n);
	}
}

/* Is it a whole torus with a host on every router and as many ranks on each? */
static bool is_whole(const struct cpl_map_request *req)
{
	const struct cpl_network *net = req->net;

	if (!cpl_network_product(net) || !net->node_is_router ||
	    req->n_hosts != net->n_routers)
		return false;
	for (int h = 0; h < req->n_hosts; h++)
		if (req->slots[h] != req->slots[0])
			return false;
	return true;
}

int cpl_map_fold(const struct cpl_map_request *req, const struct cpl_grid *grid,
                 int *rank_host, struct cpl_error *err)
{
	int ranks = req->graph->ranks, rc = -1;
	struct cpl_arena arena = {0};
	struct fold f = {
	        .req = req,
	        .grid = grid,
	        .host_at = cpl_arena_take(&arena, req->n_hosts, sizeof(int)),
	        .trial = cpl_arena_take(&arena, ranks, sizeof(int)),
	        .best = rank_host,
	        .left = EDGES / (req->graph->n_entries + 1) + 1,
	};

	if (!is_whole(req)) {
		rc = 0;
		goto out;
	}
	if (arena.failed ||
	    cpl_distance_init(&f.distance, req->net, req->routing, req->host,
	                      req->n_hosts, err))
		goto out;
	for (int h = 0; h < req->n_hosts; h++) {
		if (f.host_at[req->host[h]]) {
			rc = 0;
			goto out;
		}
		f.host_at[req->host[h]] = h + 1;
	}
	if (f.left > LAYOUTS)
		f.left = LAYOUTS;
	tiles(&f, 0, req->slots[0]);
	rc = f.any;
out:
	cpl_distance_free(&f.distance);
	return cpl_arena_end(&arena, rc, err);
}
