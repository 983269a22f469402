/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mapping/domain_layout.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "graph/arena.h"
#include "mapping/mapping_internal.h"
#include "mapping/rank_groups.h"

#define MOVES 30000
#define ROUNDS 24     /* in each it is so much colder */
#define COOLING 0.8
#define WARMEST 0.1   /* of the most that two hosts exchange */
#define MOST_BLOCK 16 /* hosts that move together */
/* A byte of a port above what it may have counts for so many between domains. */
#define PORT_PRICE 4

/* Bytes to or from another item, and the ports that they leave and reach. */
struct host_edge {
	int other, from, to;
	double bytes;
};

/* Items are what hosts hold, by their first ranks, then nothing. */
struct domain_search {
	const struct cpl_domain_layout *how;
	double most_port;
	int ports, n_full;
	int *domain;             /* [n_hosts] */
	int *at, *who;           /* [n_hosts] host of an item, and item of a host */
	int *best;               /* [n_hosts] the best at[] */
	int64_t *first;          /* [n_hosts + 1] into edge[] */
	struct host_edge *edge;
	double *load[2];         /* [n_hosts * ports] of items: out, in */
	double bytes, excess, warm;
	uint64_t random;
	struct cpl_arena arena;
};

static double cost(const struct domain_search *s)
{
	return s->bytes + PORT_PRICE * s->excess;
}

static int domain_at(const struct domain_search *s, int item)
{
	return s->domain[s->at[item]];
}

static void add_load(struct domain_search *s, double *load, double bytes)
{
	s->excess -= fmax(0, *load - s->most_port);
	*load += bytes;
	s->excess += fmax(0, *load - s->most_port);
}

static void cross(struct domain_search *s, const struct host_edge *e, double sign)
{
	s->bytes += sign * e->bytes;
	add_load(s, &s->load[0][e->from], sign * e->bytes);
	add_load(s, &s->load[1][e->to], sign * e->bytes);
}

/* Accounts for an item in another domain, but for its edges with `partner`, which is
 * to be where the item was. */
static void leave(struct domain_search *s, int item, int partner, int domain)
{
	int old = domain_at(s, item);

	for (int64_t i = s->first[item]; i < s->first[item + 1]; i++) {
		const struct host_edge *e = &s->edge[i];
		int other = domain_at(s, e->other);

		if (e->other != partner && (other == old || other == domain))
			cross(s, e, other == old ? 1 : -1);
	}
}

static void exchange(struct domain_search *s, int a, int b)
{
	int x = s->at[a], y = s->at[b];

	if (s->domain[x] != s->domain[y]) {
		leave(s, a, b, s->domain[y]);
		leave(s, b, a, s->domain[x]);
	}
	s->at[a] = y;
	s->at[b] = x;
	s->who[x] = b;
	s->who[y] = a;
}

/* Items that change places with `n` items from `a` on: as many from a multiple of n
 * on, or nothings of one domain. Returns how many, 0: none. */
static int partners(const struct domain_search *s, int a, int b, int n, int *out)
{
	int found = 0;

	if (b < s->n_full) {
		b -= b % n;
		for (; b != a && b + n <= s->n_full && found < n; found++)
			out[found] = b + found;
		return found;
	}
	for (int i = s->n_full; i < s->how->n_hosts && found < n; i++)
		if (domain_at(s, i) == domain_at(s, b))
			out[found++] = i;
	return found == n ? n : 0;
}

static void move(struct domain_search *s, double warm)
{
	int n = 1 << cpl_random_scale(cpl_random_next(&s->random), 5);
	int a = (int)cpl_random_scale(cpl_random_next(&s->random),
	                              (uint64_t)s->n_full);
	int b = (int)cpl_random_scale(cpl_random_next(&s->random),
	                              (uint64_t)s->how->n_hosts);
	double before = cost(s);
	double most = warm * cpl_random_exponential(cpl_random_next(&s->random));
	int with[MOST_BLOCK];

	a -= a % n;
	if (a + n > s->n_full || !partners(s, a, b, n, with))
		return;
	for (int i = 0; i < n; i++)
		exchange(s, a + i, with[i]);
	for (int i = n - 1; cost(s) - before > most && i >= 0; i--) {
		exchange(s, a + i, with[i]);
		most = -INFINITY;
	}
}

static void anneal(struct domain_search *s)
{
	double warm = s->warm * WARMEST, least = cost(s);
	size_t size = (size_t)s->how->n_hosts * sizeof(int);

	memcpy(s->best, s->at, size);
	for (int round = 0; round < ROUNDS; round++, warm *= COOLING)
		for (int i = 0; i < MOVES / ROUNDS; i++) {
			move(s, warm);
			if (cost(s) < least * (1 - 1e-9)) {
				least = cost(s);
				memcpy(s->best, s->at, size);
			}
		}
}

/* Items by the first ranks of hosts, then hosts without any. */
static void list_items(struct domain_search *s, const int *rank_host)
{
	int n = 0;

	memset(s->who, -1, (size_t)s->how->n_hosts * sizeof(int));
	for (int r = 0; r < s->how->comm->ranks; r++)
		if (s->who[rank_host[r]] < 0) {
			s->who[rank_host[r]] = n;
			s->at[n++] = rank_host[r];
		}
	s->n_full = n;
	for (int h = 0; h < s->how->n_hosts; h++)
		if (s->who[h] < 0) {
			s->who[h] = n;
			s->at[n++] = h;
		}
}

/* An entry of the traffic between ports of hosts as an edge of the items: of the one
 * that sends, whose number is returned. With PXN bytes leave by the port that they
 * arrive at. */
static int read_edge(const struct domain_search *s, const struct cpl_comm *comm,
                     int cable, int64_t entry, struct host_edge *out)
{
	int p = s->ports, to = comm->to[entry];
	int port = s->how->net->accelerators.pxn ? to % p : cable % p;
	int item = s->who[cable / p];

	out->other = s->who[to / p];
	out->from = item * p + port;
	out->to = out->other * p + to % p;
	out->bytes = comm->bytes[entry];
	return item;
}

/* Lists the edges of both ends of each entry, or (edge NULL) counts them. */
static void put_edges(struct domain_search *s, const struct cpl_comm *comm,
                      int64_t *end)
{
	struct host_edge e;

	for (int c = 0; c < comm->ranks; c++)
		for (int64_t i = comm->row[c]; i < comm->row[c + 1]; i++) {
			int item = read_edge(s, comm, c, i, &e), other = e.other;

			if (item == other)
				continue;
			if (s->edge)
				s->edge[end[item]] = e;
			end[item]++;
			e.other = item;
			if (s->edge)
				s->edge[end[other]] = e;
			end[other]++;
			if (!s->edge)
				continue;
			s->warm = fmax(s->warm, e.bytes);
			if (domain_at(s, item) != domain_at(s, other))
				cross(s, &e, 1);
		}
}

static void list_edges(struct domain_search *s, const struct cpl_comm *comm)
{
	int n = s->how->n_hosts;
	int64_t *end = cpl_arena_take(&s->arena, n, sizeof(*end));
	int64_t sum = 0;

	s->first = cpl_arena_take(&s->arena, n + 1, sizeof(*s->first));
	for (int k = 0; k < 2; k++)
		s->load[k] = cpl_arena_take(&s->arena, (int64_t)n * s->ports,
		                            sizeof(double));
	if (s->arena.failed)
		return;
	put_edges(s, comm, end);
	for (int i = 0; i < n; i++) {
		s->first[i] = sum;
		sum += end[i];
		end[i] = s->first[i];
	}
	s->first[n] = sum;
	s->edge = cpl_arena_take(&s->arena, sum, sizeof(*s->edge));
	if (s->edge)
		put_edges(s, comm, end);
}

/* The state of a layout, whose arrays go with s->arena. */
static int open_search(struct domain_search *s, const struct cpl_domain_layout *how,
                       double most_port, const int *rank_host,
                       struct cpl_error *err)
{
	struct cpl_rank_groups groups;
	int n = how->n_hosts;

	*s = (struct domain_search){.how = how,
	                            .most_port = most_port,
	                            .ports = cpl_network_judged_ports(how->net)};
	s->domain = cpl_arena_take(&s->arena, n, sizeof(int));
	s->at = cpl_arena_take(&s->arena, n, sizeof(int));
	s->who = cpl_arena_take(&s->arena, n, sizeof(int));
	s->best = cpl_arena_take(&s->arena, n, sizeof(int));
	if (s->arena.failed ||
	    cpl_rank_groups_given(&groups, how->net, how->comm, rank_host, n, err))
		return -1;
	/* A node of no domain is one of its own. */
	for (int h = 0; h < n; h++) {
		int domain = how->net->accelerators.domain_of[how->host[h]];

		s->domain[h] = domain < 0 ? -1 - h : domain;
	}
	list_items(s, rank_host);
	list_edges(s, cpl_rank_groups_judged(&groups));
	cpl_rank_groups_free(&groups);
	return s->arena.failed ? -1 : 0;
}

static int cost_of(const struct cpl_domain_layout *how, const int *rank_host,
                   struct cpl_domain_cost *out, struct cpl_error *err)
{
	struct domain_search s;
	int rc = open_search(&s, how, INFINITY, rank_host, err);

	*out = (struct cpl_domain_cost){.bytes = s.bytes};
	for (int64_t i = 0; !rc && i < (int64_t)how->n_hosts * s.ports; i++)
		out->port = fmax(out->port, fmax(s.load[0][i], s.load[1][i]));
	return cpl_arena_end(&s.arena, rc, err);
}

int cpl_domain_blocks(const struct cpl_domain_layout *how, int *rank_host,
                      struct cpl_error *err)
{
	struct cpl_arena arena = {0};
	struct cpl_keyed *host = cpl_arena_take(&arena, how->n_hosts, sizeof(*host));

	for (int h = 0; host && h < how->n_hosts; h++)
		host[h] = (struct cpl_keyed){(uint64_t)how->host[h], h};
	if (host) {
		cpl_keyed_sort(host, how->n_hosts);
		for (int r = 0; r < how->comm->ranks; r++)
			rank_host[r] = host[r / how->per_host].item;
	}
	return cpl_arena_end(&arena, 0, err);
}

/* From a layout to a better one, with ports below what blocks have. */
static int search(const struct cpl_domain_layout *how, double most_port, int *rank_host,
                  struct cpl_error *err)
{
	struct domain_search s;
	int rc = open_search(&s, how, most_port, rank_host, err);

	if (!rc && s.n_full) {
		int *at = s.who;

		anneal(&s);
		list_items(&s, rank_host);
		for (int r = 0; r < how->comm->ranks; r++)
			rank_host[r] = s.best[at[rank_host[r]]];
	}
	return cpl_arena_end(&s.arena, rc, err);
}

/* Takes a layout in place of the best so far where that sends more between domains, or
 * has a port that is busier than in blocks. */
static int take_better(const struct cpl_domain_layout *how, const int *layout,
                       double most_port, int *rank_host,
                       struct cpl_domain_cost *best, struct cpl_error *err)
{
	struct cpl_domain_cost cost;

	if (cost_of(how, layout, &cost, err))
		return -1;
	if (cost.port > most_port * (1 + 1e-9) || !(cost.bytes < best->bytes))
		return 0;
	*best = cost;
	memcpy(rank_host, layout, (size_t)how->comm->ranks * sizeof(int));
	return 0;
}

int cpl_domain_layout(const struct cpl_domain_layout *how, int *rank_host,
                      struct cpl_domain_cost *blocks, struct cpl_domain_cost *out,
                      struct cpl_error *err)
{
	size_t size = (size_t)how->comm->ranks * sizeof(int);
	struct cpl_arena arena = {0};
	int *given = cpl_arena_take(&arena, how->comm->ranks, sizeof(int));
	int rc = -1;

	if (!given)
		return cpl_arena_end(&arena, rc, err);
	memcpy(given, rank_host, size);
	if (cpl_domain_blocks(how, rank_host, err) ||
	    cost_of(how, rank_host, blocks, err))
		goto out;
	*out = *blocks;
	if (take_better(how, given, blocks->port, rank_host, out, err) ||
	    search(how, blocks->port, given, err) ||
	    take_better(how, given, blocks->port, rank_host, out, err) ||
	    cpl_domain_blocks(how, given, err) ||
	    search(how, blocks->port, given, err) ||
	    take_better(how, given, blocks->port, rank_host, out, err))
		goto out;
	rc = 0;
out:
	return cpl_arena_end(&arena, rc, err);
}
