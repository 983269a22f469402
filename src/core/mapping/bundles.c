/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mapping/bundles.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/random.h"
#include "mapping/mapping_internal.h"

/* The clock is looked at once in this many pairs of stops. */
#define CHECK_EVERY 256

/* The links of one path, each once. */
struct path {
	struct cpl_route_finder finder;
	double *part; /* [links], 0 where not on the path */
	int *link;    /* [n] */
	int n;
};

struct make {
	const struct cpl_map_request *req;
	struct cpl_bundles *b;
	struct path path;
	int *router;      /* [stops] */
	uint64_t *digest; /* [links] of all paths that it is on; 0: none */
	int *bundle;      /* [links] */
	int *size;        /* [bundles] */
	int *seen, *met;  /* [bundles] links of the path at hand, and which
	                   * bundles */
};

static void find_path(struct make *m, int from, int to)
{
	struct path *p = &m->path;
	const struct cpl_share *share;
	int n;

	for (int i = 0; i < p->n; i++)
		p->part[p->link[i]] = 0;
	p->n = 0;
	share = cpl_route_find_routers(&p->finder, m->router[from],
	                               m->router[to], &n);
	for (int i = 0; i < n; i++) {
		if (!(share[i].part > 0))
			continue;
		if (p->part[share[i].link] == 0)
			p->link[p->n++] = share[i].link;
		p->part[share[i].link] += share[i].part;
	}
}

static uint64_t bits_of(double x)
{
	uint64_t bits;

	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

/* Makes the digests of the links. False: there are too many links. */
static bool read_paths(struct make *m, int64_t max_links)
{
	struct cpl_bundles *b = m->b;
	int n = b->n_stops;

	for (int64_t pair = 0; pair < (int64_t)n * n; pair++) {
		if (pair % CHECK_EVERY == 0 && cpl_map_expired(m->req))
			return false;
		if (pair / n == pair % n)
			continue;
		find_path(m, (int)(pair / n), (int)(pair % n));
		b->path_links += m->path.n;
		if (b->path_links > max_links)
			return false;
		for (int i = 0; i < m->path.n; i++) {
			int link = m->path.link[i];
			uint64_t part = bits_of(m->path.part[link]);

			m->digest[link] = cpl_random_mix(
			        cpl_random_mix(m->digest[link] + part) +
			        (uint64_t)(pair + 1) * CPL_RANDOM_STEP);
		}
	}
	return true;
}

static double background_of(const struct cpl_map_request *req, int64_t link)
{
	return req->background
	               ? req->background->link[link] /
	                         cpl_network_link_bandwidth(req->net, link)
	               : 0;
}

/* Numbers the digests; links are alike if their bandwidth is the same, too. */
static int number_bundles(struct make *m, struct cpl_arena *arena)
{
	const struct cpl_network *net = m->req->net;
	struct cpl_bundles *b = m->b;
	struct cpl_keyed *order =
	        cpl_arena_take(arena, net->n_links, sizeof(*order));
	int n = 0;

	if (!order)
		return -1;
	for (int64_t l = 0; l < net->n_links; l++) {
		double other = background_of(m->req, l);

		if (m->digest[l])
			order[n++] = (struct cpl_keyed){
			        cpl_random_mix(
			                m->digest[l] ^
			                bits_of(cpl_network_link_bandwidth(
			                        net, l))),
			        (int)l};
		else if (other > b->least)
			b->least = other;
	}
	cpl_keyed_sort(order, n);
	for (int i = 0; i < n; i++)
		b->n_links += !i || order[i].key != order[i - 1].key;
	b->n = b->n_links + 2 * m->req->n_hosts;
	b->link = cpl_arena_take(&b->arena, b->n_links, sizeof(*b->link));
	b->start = cpl_arena_take(&b->arena, b->n, sizeof(*b->start));
	m->size = cpl_arena_take(arena, b->n_links, sizeof(*m->size));
	m->seen = cpl_arena_take(arena, b->n_links, sizeof(*m->seen));
	m->met = cpl_arena_take(arena, b->n_links, sizeof(*m->met));
	if (arena->failed || b->arena.failed)
		return -1;
	for (int i = 0, at = -1; i < n; i++) {
		double other = background_of(m->req, order[i].item);

		if (!i || order[i].key != order[i - 1].key)
			b->link[++at] = order[i].item;
		m->bundle[order[i].item] = at;
		m->size[at]++;
		if (other > b->start[at])
			b->start[at] = other;
	}
	return 0;
}

static int add_fraction(struct make *m, int bundle, double part)
{
	struct cpl_bundles *b = m->b;

	if (cpl_array_grow(&b->part, b->n_parts, sizeof(*b->part), NULL))
		return -1;
	b->part[b->n_parts++] = (struct cpl_bundle_fraction){bundle, part};
	return 0;
}

/* Adds the bundles of the path at hand. Returns 1; 0 where two links that are
 * not alike have one digest; or -1 when memory is out. */
static int add_route(struct make *m)
{
	const struct cpl_network *net = m->req->net;
	int n = 0, rc = 1;

	for (int i = 0; i < m->path.n; i++) {
		int link = m->path.link[i], bundle = m->bundle[link];
		double first = m->path.part[m->b->link[bundle]];

		if (!m->seen[bundle]++)
			m->met[n++] = bundle;
		if (m->path.part[link] < first || m->path.part[link] > first)
			rc = 0;
	}
	for (int i = 0; i < n; i++) {
		int bundle = m->met[i], link = m->b->link[bundle];

		if (m->seen[bundle] != m->size[bundle])
			rc = 0;
		m->seen[bundle] = 0;
		if (rc > 0 &&
		    add_fraction(m, bundle,
		                 m->path.part[link] /
		                         cpl_network_link_bandwidth(net, link)))
			rc = -1;
	}
	return rc;
}

static int add_paths(struct make *m, struct cpl_error *err)
{
	struct cpl_bundles *b = m->b;
	int64_t n = b->n_stops;

	for (int64_t pair = 0; pair < n * n; pair++) {
		int rc = 1;

		if (pair % CHECK_EVERY == 0 && cpl_map_expired(m->req))
			return 0;
		b->first[pair] = b->n_parts;
		if (pair / n == pair % n)
			continue;
		find_path(m, (int)(pair / n), (int)(pair % n));
		rc = add_route(m);
		if (rc <= 0)
			return rc ? cpl_fail_memory(err) : 0;
	}
	b->first[n * n] = b->n_parts;
	return 1;
}

static void add_cables(struct make *m)
{
	const struct cpl_map_request *req = m->req;
	const struct cpl_load *other = req->background;
	struct cpl_bundles *b = m->b;

	b->cable = 1 / cpl_network_port_bandwidth(req->net, 0);
	for (int h = 0; h < req->n_hosts && other; h++) {
		b->start[cpl_bundles_cable(b, h, false)] =
		        other->injection[req->host[h]] * b->cable;
		b->start[cpl_bundles_cable(b, h, true)] =
		        other->ejection[req->host[h]] * b->cable;
	}
}

/* Lists the stops of the hosts, and which hosts are the same node. */
static int list_hosts(struct make *m, struct cpl_arena *arena)
{
	const struct cpl_map_request *req = m->req;
	struct cpl_bundles *b = m->b;
	int *first = cpl_arena_take_raw(arena, req->net->n_nodes,
	                                sizeof(*first));
	int *stop_of = cpl_arena_take(arena, req->net->n_routers,
	                              sizeof(*stop_of));

	m->router = cpl_arena_take(arena, req->n_hosts, sizeof(*m->router));
	b->stop = cpl_arena_take(&b->arena, req->n_hosts, sizeof(*b->stop));
	b->place = cpl_arena_take(&b->arena, req->n_hosts, sizeof(*b->place));
	if (arena->failed || b->arena.failed)
		return -1;
	for (int h = 0; h < req->n_hosts; h++)
		first[req->host[h]] = -1;
	for (int h = 0; h < req->n_hosts; h++) {
		int router = cpl_network_router(req->net, req->host[h]);

		if (first[req->host[h]] < 0)
			first[req->host[h]] = h;
		b->place[h] = first[req->host[h]];
		if (!stop_of[router]) {
			m->router[b->n_stops++] = router;
			stop_of[router] = b->n_stops;
		}
		b->stop[h] = stop_of[router] - 1;
	}
	return 0;
}

static int make(struct make *m, int64_t max_links, struct cpl_arena *arena,
                struct cpl_error *err)
{
	int64_t links = m->req->net->n_links, pairs;
	struct cpl_bundles *b = m->b;
	int rc;

	if (list_hosts(m, arena))
		return cpl_fail_memory(err);
	pairs = (int64_t)b->n_stops * b->n_stops;
	if (pairs > max_links)
		return 0;
	m->path.part = cpl_arena_take(arena, links, sizeof(double));
	m->path.link = cpl_arena_take(arena, links, sizeof(int));
	m->digest = cpl_arena_take(arena, links, sizeof(*m->digest));
	m->bundle = cpl_arena_take(arena, links, sizeof(*m->bundle));
	b->first = cpl_arena_take(&b->arena, pairs + 1, sizeof(*b->first));
	if (arena->failed || b->arena.failed)
		return cpl_fail_memory(err);
	if (cpl_route_finder_init(
	            &m->path.finder, m->req->net,
	            cpl_routing_by_flow(m->req->net, m->req->routing), err))
		return -1;
	if (!read_paths(m, max_links))
		return 0;
	if (number_bundles(m, arena))
		return cpl_fail_memory(err);
	rc = add_paths(m, err);
	if (rc > 0)
		add_cables(m);
	return rc;
}

int cpl_bundles_init(struct cpl_bundles *bundles,
                     const struct cpl_map_request *req, int64_t max_links,
                     struct cpl_error *err)
{
	struct make m = {.req = req, .b = bundles};
	struct cpl_arena arena = {0};
	int rc = 0;

	*bundles = (struct cpl_bundles){0};
	if (req->net->n_ports == 1)
		rc = make(&m, max_links, &arena, err);
	cpl_route_finder_free(&m.path.finder);
	cpl_arena_free(&arena);
	if (rc <= 0)
		cpl_bundles_free(bundles);
	return rc;
}

void cpl_bundles_free(struct cpl_bundles *b)
{
	cpl_arena_free(&b->arena);
	free(b->part);
	*b = (struct cpl_bundles){0};
}
