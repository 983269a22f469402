/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "mapping/best/best.h"

/* Up to this many hosts all are looked at for the nearest ones. */
#define SCAN_HOSTS 2048
/* The clock is looked at once in this many hosts. */
#define CHECK_EVERY 256
/* Above that only hosts around are: half the side of a box of a torus, or half
 * a window of router numbers. */
#define BOX 3
#define WINDOW 64

/* Keeps host k if it is one of the n nearest to h so far. */
static int offer(const struct cpl_tables *t, int h, int k, float *hops, int n)
{
	const struct cpl_distance *d = &t->distance;
	int *near = t->near + (size_t)h * (size_t)t->n_near;
	float x = (float)cpl_distance_hops(d, d->leaf[h], d->leaf[k]);
	int at;

	if (n == t->n_near && x >= hops[n - 1])
		return n;
	if (n < t->n_near)
		n++;
	for (at = n - 1; at > 0 && x < hops[at - 1]; at--) {
		near[at] = near[at - 1];
		hops[at] = hops[at - 1];
	}
	near[at] = k;
	hops[at] = x;
	return n;
}

/* Offers the hosts of the routers around: in a box of the torus, or with
 * numbers close to that of h's router. */
static int offer_around(const struct cpl_tables *t, const int *first_on,
                        const int *next_on, int h, float *hops)
{
	const struct cpl_network *net = t->req->net;
	const struct cpl_product *torus = &net->product;
	int centre = t->distance.router[t->distance.leaf[h]], n = 0;
	int side = 2 * BOX + 1;
	int64_t boxes = 1;

	if (!t->distance.n_dims) {
		for (int i = 0; i <= 2 * WINDOW; i++) {
			int r = centre + (i % 2 ? (i + 1) / 2 : -i / 2);

			if (r < 0 || r >= net->n_routers)
				continue;
			for (int k = first_on[r]; k >= 0; k = next_on[k])
				n = offer(t, h, k, hops, n);
		}
		return n;
	}
	/* Only the first three dimensions count. */
	for (int d = 0; d < torus->n_dims && d < 3; d++)
		boxes *= side;
	for (int64_t i = 0; i < boxes; i++) {
		int router = centre, stride = 1;
		int64_t rest = i;
		bool inside = true;

		for (int d = 0; d < torus->n_dims && d < 3; d++) {
			int dim = torus->dim[d], x = centre / stride % dim;
			int move = (int)(rest % side) - BOX;
			int to = (x + move + dim) % dim;

			rest /= side;
			/* The box must not go round a small ring twice. */
			if (2 * abs(move) > dim || (2 * move == -dim))
				inside = false;
			router += (to - x) * stride;
			stride *= dim;
		}
		if (!inside)
			continue;
		for (int k = first_on[router]; k >= 0; k = next_on[k])
			n = offer(t, h, k, hops, n);
	}
	return n;
}

static int find_near(struct cpl_tables *t, struct cpl_error *err)
{
	const struct cpl_map_request *req = t->req;
	bool scan = req->n_hosts <= SCAN_HOSTS, over = false;
	float hops[CPL_SWAPS_NEAR];
	struct cpl_arena arena = {0};
	int routers = scan ? 0 : req->net->n_routers;
	int hosts = scan ? 0 : req->n_hosts;
	int *router = cpl_arena_take(&arena, hosts, sizeof(*router));
	int *first_on = cpl_arena_take(&arena, routers, sizeof(*first_on));
	int *next_on = cpl_arena_take(&arena, hosts, sizeof(*next_on));

	for (int h = 0; h < hosts && !arena.failed; h++)
		router[h] = cpl_network_router(req->net, req->host[h]);
	if (!arena.failed)
		cpl_members_chain(router, hosts, routers, first_on, next_on);
	for (int h = 0; h < req->n_hosts && !arena.failed; h++) {
		int n = 0;

		if (h % CHECK_EVERY == 0)
			over = over || cpl_map_expired(req);
		/* It begins at h, so that ties go to different hosts. */
		for (int k = 0; k < req->n_hosts && scan && !over; k++)
			n = offer(t, h, (h + k) % req->n_hosts, hops, n);
		if (!scan && !over)
			n = offer_around(t, first_on, next_on, h, hops);
		/* Where hosts are scattered, any others fill the list. */
		for (; n < t->n_near; n++)
			t->near[(size_t)h * (size_t)t->n_near + (size_t)n] =
			        (h + n) % req->n_hosts;
	}
	return cpl_arena_end(&arena, 0, err);
}

int cpl_tables_init(struct cpl_tables *tables,
                    const struct cpl_map_request *req, struct cpl_error *err)
{
	size_t hosts = (size_t)req->n_hosts + 1;
	struct cpl_tables t = {.req = req};

	t.n_near =
	        req->n_hosts < CPL_SWAPS_NEAR ? req->n_hosts : CPL_SWAPS_NEAR;
	t.near = malloc((hosts * (size_t)t.n_near + 1) * sizeof(*t.near));
	if (!t.near)
		return cpl_fail_memory(err);
	if (cpl_distance_init(&t.distance, req->net, req->routing, req->host,
	                      req->n_hosts, err)) {
		free(t.near);
		return -1;
	}
	cpl_distance_fill(&t.distance);
	if (find_near(&t, err)) {
		cpl_tables_free(&t);
		return -1;
	}
	*tables = t;
	return 0;
}

void cpl_tables_free(struct cpl_tables *t)
{
	cpl_distance_free(&t->distance);
	cpl_bundles_free(&t->bundles);
	free(t->near);
	*t = (struct cpl_tables){0};
}
