/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of routes, as PTRAM takes them: Mirsadeghi & Afsahi 2016, 4. */
#include "commplace-config.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "base/lines.h"
#include "network/type.h"

/* Bytes of a file at the most. */
#define MAX_BYTES (UINT64_C(1) << 31)

/* A text of routes, and what has been read of it. */
struct route_reader {
	struct cpl_network *net;
	struct cpl_lines in;
	int *by_ends;   /* [n_links] link ids by (from, to, id) */
	int64_t *pair;  /* [n_routes] from * n_node_routers + to */
	int64_t *start; /* [n_routes] */
	int64_t n_routes;
	int *link;
	int64_t n_links;
};

/* A router id below `limit`, with ":k" when port is given. */
static int read_router(struct cpl_lines *in, const char *what, int limit,
                       int *out, int *port)
{
	const char *first = in->p;
	bool right = cpl_lines_number(in, out);

	if (right && port && cpl_lines_take(in, ":"))
		right = cpl_lines_number(in, port);
	if (!right || (in->p < in->line_end && !strchr(" \t\r#", *in->p))) {
		while (in->p < in->line_end && !strchr(" \t\r", *in->p))
			in->p++;
		return cpl_lines_fail(
		        in, "%s: '%.*s' is not a router; expected an id%s",
		        what, in->p - first > 30 ? 30 : (int)(in->p - first),
		        first, port ? " or id:link" : "");
	}
	if (*out >= limit)
		return cpl_lines_fail(
		        in, "%s: %d is not a router%s; it must lie in 0 to %d",
		        what, *out, port ? "" : " with nodes", limit - 1);
	return 0;
}

/* Link k of those from one router to another, or -1. */
static int find_link(const struct route_reader *r, int from, int to, int k)
{
	const struct cpl_network *net = r->net;
	int64_t at = cpl_network_link_at(net, r->by_ends, from, to);

	if (k >= net->n_links - at)
		return -1;
	at = r->by_ends[at + k];
	return net->link_from[at] == from && net->link_to[at] == to ? (int)at
	                                                            : -1;
}

static int read_hop(struct route_reader *r, int at, int *next)
{
	int port = 0, link;

	if (read_router(&r->in, "hop", r->net->n_routers, next, &port))
		return -1;
	link = find_link(r, at, *next, port);
	if (link < 0)
		return cpl_lines_fail(&r->in,
		                      "router %d has no link %d to router %d",
		                      at, port, *next);
	if (cpl_array_grow(&r->link, r->n_links, sizeof(link), r->in.err))
		return -1;
	r->link[r->n_links++] = link;
	return 0;
}

static int new_route(struct route_reader *r, int from, int to)
{
	if (cpl_array_grow(&r->pair, r->n_routes, sizeof(*r->pair),
	                   r->in.err) ||
	    cpl_array_grow(&r->start, r->n_routes, sizeof(*r->start),
	                   r->in.err))
		return -1;
	r->pair[r->n_routes] = (int64_t)from * r->net->n_node_routers + to;
	r->start[r->n_routes++] = r->n_links;
	return 0;
}

static int read_route(struct route_reader *r)
{
	int limit = r->net->n_node_routers, from, to, at;
	struct cpl_lines *in = &r->in;

	if (read_router(in, "source", limit, &from, NULL))
		return -1;
	if (cpl_lines_done(in))
		return cpl_lines_fail(in, "is too short; source, destination "
		                          "and hops are needed");
	if (read_router(in, "destination", limit, &to, NULL))
		return -1;
	if (from == to)
		return cpl_lines_fail(in, "router %d needs no route to itself",
		                      to);
	if (new_route(r, from, to))
		return -1;
	at = from;
	for (int hops = 0; !cpl_lines_done(in); hops++) {
		if (hops == r->net->n_routers)
			return cpl_lines_fail(in, "goes in circles");
		if (read_hop(r, at, &at))
			return -1;
	}
	if (at != to)
		return cpl_lines_fail(
		        in,
		        "the route ends at router %d; the last hop "
		        "must be the destination %d",
		        at, to);
	return 0;
}

static int read_lines(struct route_reader *r)
{
	while (cpl_lines_next(&r->in))
		if (!cpl_lines_done(&r->in) && read_route(r))
			return -1;
	return 0;
}

/* Sort routes by their pairs; those of one pair stay in the file's order. */
static int sort_routes(struct route_reader *r, struct cpl_route_table *table)
{
	int64_t n = r->net->n_node_routers, pairs = n * n, used = 0;
	int64_t *order = malloc(((size_t)r->n_routes + 1) * sizeof(*order));

	table->first = calloc((size_t)pairs + 2, sizeof(*table->first));
	table->start =
	        malloc(((size_t)r->n_routes + 1) * sizeof(*table->start));
	table->link = malloc(((size_t)r->n_links + 1) * sizeof(*table->link));
	if (!order || !table->first || !table->start || !table->link) {
		free(order);
		return cpl_fail_memory(r->in.err);
	}
	for (int64_t i = 0; i < r->n_routes; i++)
		table->first[r->pair[i] + 2]++;
	for (int64_t i = 0; i < pairs; i++)
		table->first[i + 2] += table->first[i + 1];
	for (int64_t i = 0; i < r->n_routes; i++)
		order[table->first[r->pair[i] + 1]++] = i;
	for (int64_t i = 0; i < r->n_routes; i++) {
		int64_t from = r->start[order[i]];
		int64_t to = order[i] + 1 < r->n_routes ? r->start[order[i] + 1]
		                                        : r->n_links;

		table->start[i] = used;
		memcpy(table->link + used, r->link + from,
		       (size_t)(to - from) * sizeof(*table->link));
		used += to - from;
	}
	table->start[r->n_routes] = used;
	free(order);
	for (int64_t i = 0; i < pairs; i++)
		if (i / n != i % n && table->first[i] == table->first[i + 1])
			return cpl_fail(r->in.err,
			                "%s: has no route from router %lld to "
			                "router %lld",
			                r->in.source, (long long)(i / n),
			                (long long)(i % n));
	return 0;
}

int cpl_network_parse_routes(struct cpl_network *net, const char *text,
                             size_t length, const char *source,
                             struct cpl_error *err)
{
	struct route_reader r = {.net = net,
	                         .in = cpl_lines_of(source, text, length, err)};
	int rc = -1;

	if ((int64_t)net->n_node_routers * net->n_node_routers > 1 << 26 ||
	    net->n_links > INT_MAX)
		return cpl_fail(
		        err,
		        "\"routing_table\": %d routers with nodes are too many "
		        "for a table; at most 8192 are possible",
		        net->n_node_routers);
	net->routes = calloc(1, sizeof(*net->routes));
	r.by_ends = malloc(((size_t)net->n_links + 1) * sizeof(*r.by_ends));
	if (cpl_out_of_memory(!net->routes || !r.by_ends, err))
		goto out;
	cpl_network_sort_links(net, r.by_ends);
	if (!read_lines(&r))
		rc = sort_routes(&r, net->routes);
out:
	cpl_free_all(r.by_ends, r.pair, r.start, r.link);
	return rc;
}

int cpl_network_read_routes(struct cpl_network *net, const json_t *root,
                            const char *path, struct cpl_error *err)
{
	const char *name = NULL;
	size_t length = 0;
	char *full, *text;
	int rc;

	if (cpl_json_string(root, "routing_table", &name, err) < 0)
		return -1;
	if (!name)
		return 0;
	if (!*name || !path)
		return cpl_fail(err, "\"routing_table\": a file is needed%s",
		                *name ? ", which a description that is not a "
		                        "file cannot name"
		                      : "");
	full = cpl_path_beside(path, name, err);
	if (!full)
		return -1;
	text = cpl_file_read(full, MAX_BYTES, &length, err);
	rc = text ? cpl_network_parse_routes(net, text, length, full, err) : -1;
	cpl_free_all(text, full);
	if (rc || net->routing)
		return rc;
	net->routing = strdup("table");
	return net->routing ? 0 : cpl_fail_memory(err);
}

void cpl_network_free_routes(struct cpl_route_table *routes)
{
	if (!routes)
		return;
	cpl_free_all(routes->first, routes->start, routes->link, routes);
}
