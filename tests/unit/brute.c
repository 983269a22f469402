/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "brute.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "network/dragonfly/dragonfly.h"
#include "network/dragonfly/dragonfly_kinds.h"

#define MAX_GROUPS 64
#define MAX_HOPS 5
#define MAX_EDGES 4096
#define MAX_PATHS 4096

struct edge {
	int from, to;
	bool global;
	int64_t link;
};

/* The sizes, group by group. */
struct sizes {
	int groups, links;
	enum cpl_wiring wiring;
	int rows[MAX_GROUPS], columns[MAX_GROUPS];
	int first[MAX_GROUPS + 1]; /* router */
};

struct fly {
	struct sizes s;
	struct edge edge[MAX_EDGES];
	int n_edges;
	int path[MAX_PATHS][MAX_HOPS]; /* edges */
	int n_paths;
};

/* "row", or "row-gpu" of a kind of groups. */
static bool is_of(const struct cpl_network *net, int64_t link,
                  const char *class)
{
	const char *name = net->link_class[net->link_class_of[link]].name;
	size_t n = strlen(class);

	return !strncmp(name, class, n) && (!name[n] || name[n] == '-');
}

/* The next link of that class and ends that no edge has yet. */
static int64_t unused_link(const struct cpl_network *net, const struct fly *fly,
                           const char *class, int from, int to)
{
	for (int64_t link = 0; link < net->n_links; link++) {
		bool used = false;

		if (net->link_from[link] != from || net->link_to[link] != to ||
		    !is_of(net, link, class))
			continue;
		for (int i = 0; i < fly->n_edges; i++)
			used |= fly->edge[i].link == link;
		if (!used)
			return link;
	}
	abort();
}

static void add_edge(const struct cpl_network *net, struct fly *fly,
                     const char *class, int from, int to)
{
	struct edge *edge = &fly->edge[fly->n_edges];

	if (fly->n_edges == MAX_EDGES)
		abort();
	edge->from = from;
	edge->to = to;
	edge->global = class[0] == 'g';
	edge->link = unused_link(net, fly, class, from, to);
	fly->n_edges++;
}

static int size_of(const struct sizes *s, int group)
{
	return s->rows[group] * s->columns[group];
}

static struct sizes take_sizes(const struct cpl_network *net)
{
	const struct cpl_dfkinds *kinds = cpl_dfkinds_of(net);
	const struct cpl_dragonfly *df = cpl_dragonfly_of(net);
	bool differ = net->type == &cpl_network_dragonfly_kinds;
	struct sizes s = {0};

	s.groups = differ ? kinds->groups : df->groups;
	s.links = differ ? kinds->global_per_pair : df->global_per_pair;
	s.wiring = differ ? kinds->wires.wiring : df->wires.wiring;
	if (s.groups > MAX_GROUPS)
		abort();
	for (int g = 0, k = 0, left = 0; g < s.groups; g++) {
		if (differ && g && !left)
			k++;
		if (differ && !left)
			left = kinds->kind[k].groups;
		left--;
		s.rows[g] = differ ? kinds->kind[k].rows : df->rows;
		s.columns[g] = differ ? kinds->kind[k].columns : df->columns;
		s.first[g + 1] = s.first[g] + size_of(&s, g);
	}
	return s;
}

static int group_at(const struct sizes *s, int router)
{
	int g = 0;

	while (router >= s->first[g + 1])
		g++;
	return g;
}

/* Routers fill their ports one after the other: the one of a port. */
static int router_at(const struct sizes *s, int group, int port)
{
	int ports = (s->groups - 1) * s->links, each = 1;

	while (each * size_of(s, group) < ports)
		each++;
	return s->first[group] + port / each;
}

/* Every group has the others in increasing order on its ports; the k-th port
 * for the other meets the k-th for this one. */
static void build_consecutive(const struct cpl_network *net, struct fly *fly)
{
	const struct sizes *s = &fly->s;

	for (int a = 0; a < s->groups; a++) {
		int port = 0;

		for (int b = 0; b < s->groups; b++) {
			/* Groups before a on b's ports. */
			int back = a > b ? (a - 1) * s->links : a * s->links;

			for (int k = 0; k < s->links && a != b; k++)
				add_edge(net, fly, "global",
				         router_at(s, a, port++),
				         router_at(s, b, back++));
		}
	}
}

/* Every group has the ones before it on its ports, the nearest first, and port
 * p meets the p-th last one. */
static void build_palmtree(const struct cpl_network *net, struct fly *fly)
{
	const struct sizes *s = &fly->s;
	int ports = (s->groups - 1) * s->links;

	for (int a = 0; a < s->groups; a++)
		for (int port = 0; port < ports; port++) {
			int b = a;

			for (int i = 0; i <= port / s->links; i++)
				b = b ? b - 1 : s->groups - 1;
			add_edge(net, fly, "global", router_at(s, a, port),
			         router_at(s, b, ports - 1 - port));
		}
}

static void build_modulo(const struct cpl_network *net, struct fly *fly)
{
	const struct sizes *s = &fly->s;

	for (int a = 0; a < s->groups; a++)
		for (int b = 0; b < s->groups; b++)
			for (int k = 0; k < s->links && a != b; k++)
				add_edge(net, fly, "global",
				         s->first[a] + (b * s->links + k) %
				                               size_of(s, a),
				         s->first[b] + (a * s->links + k) %
				                               size_of(s, b));
}

static void build(const struct cpl_network *net, struct fly *fly)
{
	const struct sizes *s = &fly->s;

	fly->s = take_sizes(net);
	for (int u = 0; u < s->first[s->groups]; u++)
		for (int v = 0; v < s->first[s->groups]; v++) {
			int g = group_at(s, u), x = u - s->first[g];
			int y = v - s->first[g], columns = s->columns[g];

			if (u == v || g != group_at(s, v))
				continue;
			if (x / columns == y / columns)
				add_edge(net, fly, "row", u, v);
			else if (x % columns == y % columns)
				add_edge(net, fly, "column", u, v);
		}
	switch (s->wiring) {
	case CPL_WIRING_MODULO:
		build_modulo(net, fly);
		break;
	case CPL_WIRING_CONSECUTIVE:
		build_consecutive(net, fly);
		break;
	case CPL_WIRING_PALMTREE:
		build_palmtree(net, fly);
		break;
	case CPL_WIRING_LIST:
		for (int64_t link = 0; link < net->n_links; link++)
			if (net->link_class_of[link] == net->n_classes - 1)
				add_edge(net, fly, "global",
				         net->link_from[link],
				         net->link_to[link]);
		break;
	}
}

/* All ways of exactly `left` more links, of them `globals` global. */
static void walk(struct fly *fly, int at, int to, int left, int globals,
                 int *path, int length)
{
	if (left == 0) {
		if (at != to || globals)
			return;
		if (fly->n_paths == MAX_PATHS)
			abort();
		memcpy(fly->path[fly->n_paths++], path,
		       (size_t)length * sizeof(*path));
		return;
	}
	for (int i = 0; i < fly->n_edges; i++) {
		if (fly->edge[i].from != at ||
		    (fly->edge[i].global && !globals))
			continue;
		path[length] = i;
		walk(fly, fly->edge[i].to, to, left - 1,
		     globals - fly->edge[i].global, path, length + 1);
	}
}

static int fly_add(const struct cpl_network *net, int from, int to,
                   double bytes, double *load)
{
	struct fly *fly = calloc(1, sizeof(*fly));
	int path[MAX_HOPS], hops = 0, globals;

	if (!fly)
		abort();
	build(net, fly);
	globals = group_at(&fly->s, from) != group_at(&fly->s, to);
	for (; hops <= MAX_HOPS && !fly->n_paths; hops++)
		walk(fly, from, to, hops, globals, path, 0);
	hops--;
	for (int p = 0; p < fly->n_paths; p++)
		for (int i = 0; i < hops; i++)
			load[fly->edge[fly->path[p][i]].link] +=
			        bytes / fly->n_paths;
	free(fly);
	return hops;
}

/* Steps from a to b going one way only, or -1: a border is in between. */
static int count_steps(int a, int b, int n, bool wrap, int sign)
{
	int steps = 0;

	while (a != b) {
		a += sign;
		if (a < 0 || a >= n) {
			if (!wrap)
				return -1;
			a = (a + n) % n;
		}
		steps++;
	}
	return steps;
}

static int torus_add(const struct cpl_network *net, int from, int to,
                     double bytes, double *load)
{
	const struct cpl_product *torus = &net->product;
	int stride = 1, at = from, hops = 0;

	for (int d = 0; d < torus->n_dims; d++) {
		int n = torus->dim[d], a = from / stride % n;
		int b = to / stride % n;
		int plus = count_steps(a, b, n, torus->wrap[d], 1);
		int minus = count_steps(a, b, n, torus->wrap[d], -1);
		int sign = minus >= 0 && (plus < 0 || minus < plus) ? -1 : 1;

		while (a != b) {
			int next = (a + sign + n) % n;
			int64_t link = torus->out[(at * torus->n_dims + d) * 2 +
			                          (sign < 0)];

			if (net->link_from[link] != at ||
			    net->link_to[link] != at + (next - a) * stride)
				abort();
			load[link] += bytes;
			at += (next - a) * stride;
			a = next;
			hops++;
		}
		stride *= n;
	}
	return hops;
}

int brute_add(const struct cpl_network *net, int from, int to, double bytes,
              double *load)
{
	return cpl_network_product(net)
	               ? torus_add(net, from, to, bytes, load)
	               : fly_add(net, from, to, bytes, load);
}
