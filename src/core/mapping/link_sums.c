/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mapping/link_sums.h"

#include <stdlib.h>
#include <string.h>

/* Loads below this part of the largest are what is left of flows that were
 * taken away again. */
#define NOTHING 1e-12

/* Routers whose routes are kept: at most 32 MB of indexes. */
#define KNOWN_MAX 2048
/* By every thread: at most 2 MB. */
#define KNOWN_MAX_VIEW 512

static int empty_known(struct cpl_link_sums *s)
{
	int64_t size = (int64_t)s->n_known * s->n_known;

	s->known = malloc((size_t)size * sizeof(*s->known));
	if (!s->known)
		return -1;
	for (int64_t i = 0; i < size; i++)
		s->known[i] = -1;
	return 0;
}

/* Number the routers of the request; no table when they are many. */
static int make_known(struct cpl_link_sums *s,
                      const struct cpl_map_request *req)
{
	s->number = malloc((size_t)s->net->n_routers * sizeof(*s->number));
	if (!s->number)
		return -1;
	for (int i = 0; i < s->net->n_routers; i++)
		s->number[i] = -1;
	for (int h = 0; h < req->n_hosts; h++) {
		int router = cpl_network_router(s->net, req->host[h]);

		if (s->number[router] < 0)
			s->number[router] = s->n_known++;
	}
	/* With one node on a router a listed route is a single path. */
	if (s->n_known > KNOWN_MAX ||
	    (s->routing->links && s->net->nodes_per_router == 1))
		return 0;
	return empty_known(s);
}

static void add_up(struct cpl_link_sums *s)
{
	s->max = s->sum = s->squares = 0;
	s->used = 0;
	for (int64_t l = 0; l < s->net->n_links; l++) {
		double x = s->load[l];

		s->used += x > 0;
		s->sum += x;
		s->squares += x * x;
		if (x > s->max)
			s->max = x;
	}
}

/* Metrics of the default order. */
static int reference(struct cpl_link_sums *s, const struct cpl_map_request *req,
                     struct cpl_error *err)
{
	int *node = malloc((size_t)req->comm->ranks * sizeof(*node));
	struct cpl_traffic_work *work =
	        cpl_traffic_work_new(req->net, req->comm, err);
	struct cpl_load load = {0};
	struct cpl_job_sums sums;
	int rc = -1;

	if (!node)
		cpl_fail_memory(err);
	if (!node || !work || cpl_load_init(&load, req->net, err) ||
	    cpl_mapper_map(&cpl_mapper_linear, req, node, err))
		goto out;
	for (int r = 0; r < req->comm->ranks; r++)
		node[r] = req->host[node[r]];
	cpl_traffic_add(req->net, s->routing, req->comm, node, work, &load,
	                &sums);
	cpl_traffic_metrics(req->net, &load, req->background, &s->metrics0);
	s->hop_bytes0 = sums.hop_bytes;
	rc = 0;
out:
	free(node);
	cpl_traffic_work_free(work);
	cpl_load_free(&load);
	return rc;
}

int cpl_link_sums_init(struct cpl_link_sums *sums,
                       const struct cpl_map_request *req, struct cpl_error *err)
{
	const struct cpl_network *net = req->net;
	struct cpl_link_sums s = {
	        .net = net, .routing = cpl_routing_by_pairs(req->routing)};
	size_t n = (size_t)net->n_links + 1;

	s.load = calloc(n, sizeof(*s.load));
	s.change = calloc(n, sizeof(*s.change));
	s.touched = calloc(n, sizeof(*s.touched));
	s.list = malloc(n * sizeof(*s.list));
	s.ranking = malloc(n * sizeof(*s.ranking));
	if (!s.load || !s.change || !s.touched || !s.list || !s.ranking ||
	    make_known(&s, req)) {
		cpl_fail_memory(err);
		goto fail;
	}
	if (cpl_route_finder_init(&s.finder, net, s.routing, err) ||
	    reference(&s, req, err))
		goto fail;
	for (int64_t l = 0; req->background && l < net->n_links; l++)
		s.load[l] = req->background->link[l] /
		            cpl_network_link_bandwidth(net, l);
	add_up(&s);
	*sums = s;
	return 0;
fail:
	cpl_link_sums_free(&s);
	return -1;
}

void cpl_link_sums_follow(struct cpl_link_sums *view,
                          const struct cpl_link_sums *s)
{
	view->hop_bytes = s->hop_bytes;
	view->max = s->max;
	view->sum = s->sum;
	view->squares = s->squares;
	view->used = s->used;
}

int cpl_link_sums_view(const struct cpl_link_sums *s,
                       struct cpl_link_sums *view, struct cpl_error *err)
{
	size_t n = (size_t)s->net->n_links + 1;
	struct cpl_link_sums v = {
	        .view = true,
	        .net = s->net,
	        .routing = s->routing,
	        .load = s->load,
	        .number = s->number,
	        .n_known = s->n_known,
	        .metrics0 = s->metrics0,
	        .hop_bytes0 = s->hop_bytes0,
	};

	v.change = calloc(n, sizeof(*v.change));
	v.touched = calloc(n, sizeof(*v.touched));
	v.list = malloc(n * sizeof(*v.list));
	if (!v.change || !v.touched || !v.list ||
	    (s->known && s->n_known <= KNOWN_MAX_VIEW && empty_known(&v))) {
		cpl_link_sums_free(&v);
		return cpl_fail_memory(err);
	}
	if (cpl_route_finder_init(&v.finder, v.net, v.routing, err)) {
		cpl_link_sums_free(&v);
		return -1;
	}
	cpl_link_sums_follow(&v, s);
	*view = v;
	return 0;
}

void cpl_link_sums_free(struct cpl_link_sums *s)
{
	if (!s->view) {
		free(s->load);
		free(s->number);
	}
	free(s->change);
	free(s->touched);
	free(s->list);
	free(s->ranking);
	free(s->known);
	free(s->route);
	cpl_route_finder_free(&s->finder);
	*s = (struct cpl_link_sums){0};
}

/* Room for a route of n links; false where there is none. */
static bool make_room(struct cpl_link_sums *s, int n)
{
	int64_t max = s->route_max ? 2 * s->route_max : 4096;
	struct cpl_share *route;

	if (s->n_route + n + 1 <= s->route_max)
		return true;
	while (max < n + 1)
		max *= 2;
	route = realloc(s->route, (size_t)max * sizeof(*route));
	if (!route)
		return false;
	s->route = route;
	s->route_max = max;
	return true;
}

/* The links of a route; valid until the next call. */
static const struct cpl_share *get_route(struct cpl_link_sums *s, int from,
                                         int to, int *n_links)
{
	int a = s->number[from], b = s->number[to], n;
	const struct cpl_share *found;
	int64_t *known = NULL, start;

	if (s->known && a >= 0 && b >= 0)
		known = &s->known[(int64_t)a * s->n_known + b];
	if (known && *known >= 0) {
		*n_links = s->route[*known].link;
		return s->route + *known + 1;
	}
	found = cpl_route_find(&s->finder, from, to, &n);
	/* Not kept: the next one overwrites it. */
	if (!known) {
		*n_links = n;
		return found;
	}
	start = s->n_route;
	if (!make_room(s, n)) {
		s->failed = true;
		*n_links = 0;
		return NULL;
	}
	s->route[start].link = n;
	memcpy(s->route + start + 1, found, (size_t)n * sizeof(*found));
	*known = start;
	s->n_route += n + 1;
	*n_links = n;
	return s->route + start + 1;
}

void cpl_link_sums_flow(struct cpl_link_sums *s, int from_node, int to_node,
                        double bytes)
{
	int from = cpl_network_router(s->net, from_node);
	int to = cpl_network_router(s->net, to_node), n;
	const struct cpl_share *route;

	if (from == to)
		return;
	route = get_route(s, from, to, &n);
	for (int i = 0; i < n; i++) {
		int link = route[i].link;

		s->more_hop_bytes += bytes * route[i].part;
		if (!s->touched[link]) {
			s->touched[link] = true;
			s->list[s->n_list++] = link;
		}
		s->change[link] += bytes * route[i].part /
		                   cpl_network_link_bandwidth(s->net, link);
	}
}

bool cpl_link_sums_uses(struct cpl_link_sums *s, int from_node, int to_node,
                        int link)
{
	int from = cpl_network_router(s->net, from_node);
	int to = cpl_network_router(s->net, to_node), n;
	const struct cpl_share *route;

	if (from == to)
		return false;
	route = get_route(s, from, to, &n);
	for (int i = 0; i < n; i++)
		if (route[i].link == link)
			return true;
	return false;
}

double cpl_link_sums_hybrid(const struct cpl_link_sums *s)
{
	double max = s->max, sum = s->sum, squares = s->squares;
	double average = 0, variance = 0;
	int64_t used = s->used;

	for (int i = 0; i < s->n_list; i++) {
		double was = s->load[s->list[i]];
		double is = was + s->change[s->list[i]];

		used += is > 0 && !(was > 0);
		sum += is - was;
		squares += is * is - was * was;
		if (is > max)
			max = is;
	}
	if (used) {
		average = sum / (double)used;
		variance = squares / (double)used - average * average;
	}
	if (variance < 0)
		variance = 0;
	struct cpl_metrics metrics = {.max_congestion = max,
	                              .nonzero_average = average,
	                              .nonzero_variance = variance};

	return cpl_metrics_hybrid(&metrics, s->hop_bytes + s->more_hop_bytes,
	                          &s->metrics0, s->hop_bytes0);
}

struct ranked {
	double load;
	int link;
};

static int hotter(const struct ranked *x, const struct ranked *y)
{

	if (x->load != y->load)
		return x->load > y->load ? -1 : 1;
	return (x->link > y->link) - (x->link < y->link);
}

/* Heap sort by (load down, link up): no memory to run out of. */
static void sink(const struct cpl_link_sums *s, int *item, int64_t n,
                 int64_t at)
{
	int moving = item[at];
	struct ranked m = {s->load[moving], moving};

	for (;;) {
		int64_t child = 2 * at + 1;
		struct ranked a, b;

		if (child >= n)
			break;
		a = (struct ranked){s->load[item[child]], item[child]};
		if (child + 1 < n) {
			b = (struct ranked){s->load[item[child + 1]],
			                    item[child + 1]};
			if (hotter(&b, &a) > 0) {
				child++;
				a = b;
			}
		}
		if (hotter(&a, &m) <= 0)
			break;
		item[at] = item[child];
		at = child;
	}
	item[at] = moving;
}

static void rank_links(struct cpl_link_sums *s)
{
	int64_t n = s->net->n_links;

	if (s->ranked)
		return;
	for (int64_t l = 0; l < n; l++)
		s->ranking[l] = (int)l;
	for (int64_t i = n / 2; i-- > 0;)
		sink(s, s->ranking, n, i);
	for (int64_t i = n; i-- > 1;) {
		int top = s->ranking[0];

		s->ranking[0] = s->ranking[i];
		s->ranking[i] = top;
		sink(s, s->ranking, i, 0);
	}
	s->ranked = true;
}

double cpl_link_sums_max(struct cpl_link_sums *s)
{
	double max = 0;

	rank_links(s);
	for (int64_t i = 0; i < s->net->n_links; i++) {
		if (s->touched[s->ranking[i]])
			continue;
		max = s->load[s->ranking[i]];
		break;
	}
	for (int i = 0; i < s->n_list; i++) {
		double x = s->load[s->list[i]] + s->change[s->list[i]];

		if (x > max)
			max = x;
	}
	return max;
}

int cpl_link_sums_hottest(struct cpl_link_sums *s)
{
	if (!s->net->n_links)
		return -1;
	rank_links(s);
	return s->ranking[0];
}

void cpl_link_sums_keep(struct cpl_link_sums *s)
{
	bool fell = false;

	for (int i = 0; i < s->n_list; i++) {
		int link = s->list[i];
		double was = s->load[link], is = was + s->change[link];

		if (is <= NOTHING * s->max && is < was)
			is = 0;
		fell |= is < was;
		s->load[link] = is;
		s->used += (is > 0) - (was > 0);
		s->sum += is - was;
		s->squares += is * is - was * was;
		if (is > s->max)
			s->max = is;
	}
	s->hop_bytes += s->more_hop_bytes;
	if (fell)
		add_up(s);
	s->ranked = false;
	cpl_link_sums_drop(s);
}

void cpl_link_sums_drop(struct cpl_link_sums *s)
{
	for (int i = 0; i < s->n_list; i++) {
		s->change[s->list[i]] = 0;
		s->touched[s->list[i]] = false;
	}
	s->n_list = 0;
	s->more_hop_bytes = 0;
}
