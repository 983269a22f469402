/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "mapping/best/chain.h"

/* At most so many images of a layout are looked at. */
#define IMAGES 400

struct images {
	struct cpl_best_chain *chain;
	const int *from;                /* [ranks] layout */
	int *host_at;                   /* [routers] index of its host, or -1 */
	int *image;                     /* [hosts] */
	int axis[CPL_NETWORK_MAX_DIMS]; /* the dimension that stands for d */
	unsigned used;                  /* dimensions in axis so far */
	int left;
};

/* Moves hosts as when dimension d becomes axis[d] and those in `mirrored` run
 * backwards. False: these are other hosts, or of another kind. */
static bool make_image(struct images *m, unsigned mirrored)
{
	const struct cpl_map_request *req = m->chain->best->req;
	const struct cpl_product *torus = &req->net->product;

	for (int h = 0; h < req->n_hosts; h++) {
		int at = req->host[h], to = 0, image;
		int stride[CPL_NETWORK_MAX_DIMS + 1] = {1};

		for (int d = 0; d < torus->n_dims; d++)
			stride[d + 1] = stride[d] * torus->dim[d];
		for (int d = 0; d < torus->n_dims; d++) {
			int x = at / stride[d] % torus->dim[d];

			if (mirrored >> d & 1)
				x = torus->dim[d] - 1 - x;
			to += x * stride[m->axis[d]];
		}
		image = m->host_at[to];
		if (image < 0 || req->slots[image] != req->slots[h])
			return false;
		m->image[h] = image;
	}
	return true;
}

static void mirror(struct images *m)
{
	const struct cpl_map_request *req = m->chain->best->req;
	int n = req->net->product.n_dims;

	for (unsigned mirrored = 0; mirrored < 1u << n && m->left > 0;
	     mirrored++) {
		if (cpl_map_expired(req))
			m->left = 0;
		if (!make_image(m, mirrored))
			continue;
		for (int r = 0; r < req->comm->ranks; r++)
			m->chain->trial[r] = m->image[m->from[r]];
		cpl_best_consider(m->chain);
		m->left--;
	}
}

/* Tries all orders of the dimensions that leave the torus as it is. */
static void turn(struct images *m, int d)
{
	const struct cpl_product *torus = &m->chain->best->req->net->product;

	if (d == torus->n_dims) {
		mirror(m);
		return;
	}
	for (int a = 0; a < torus->n_dims && m->left > 0; a++) {
		if (m->used >> a & 1 || torus->dim[a] != torus->dim[d] ||
		    torus->wrap[a] != torus->wrap[d])
			continue;
		m->used |= 1u << a;
		m->axis[d] = a;
		turn(m, d + 1);
		m->used &= ~(1u << a);
	}
}

int cpl_best_start_symmetry(struct cpl_best_chain *chain)
{
	const struct cpl_map_request *req = chain->best->req;
	int ranks = req->comm->ranks;
	struct cpl_best_layout *layout[2] = {&chain->low, &chain->answer};
	struct cpl_arena arena = {0};
	int *from = cpl_arena_take(&arena, 2 * (int64_t)ranks, sizeof(int));
	struct images m = {
	        .chain = chain,
	        .host_at = cpl_arena_take(&arena, req->net->n_routers,
	                                  sizeof(int)),
	        .image = cpl_arena_take(&arena, req->n_hosts, sizeof(int)),
	};

	if (arena.failed || !cpl_network_product(req->net) ||
	    !req->net->node_is_router)
		return cpl_arena_end(&arena, 0, &chain->err);
	for (int r = 0; r < req->net->n_routers; r++)
		m.host_at[r] = -1;
	for (int h = 0; h < req->n_hosts; h++)
		m.host_at[req->host[h]] = h;
	for (int i = 0; i < 2; i++)
		memcpy(from + (size_t)i * (size_t)ranks, layout[i]->rank_host,
		       (size_t)ranks * sizeof(*from));
	for (int i = 0; i < 2; i++) {
		m.from = from + (size_t)i * (size_t)ranks;
		m.left = IMAGES;
		turn(&m, 0);
	}
	return cpl_arena_end(&arena, 0, &chain->err);
}
