/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mapping/domain_layout.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "graph/arena.h"
#include "graph/contract.h"
#include "mapping/group_layout.h"
#include "mapping/mapping_internal.h"
#include "traffic/ports.h"

#define WORK 2000000  /* edges that a search looks at, if it is not told */
#define ROUNDS 24     /* in each it is so much colder */
#define COOLING 0.8
#define WARMEST 0.1   /* of the most that two hosts exchange */
#define BLOCKS 4      /* sizes of blocks that move together: 1, 2, 4, 8 */
#define MOST_BLOCK (1 << (BLOCKS - 1))
/* At first a byte of a port above what it may have counts for so many between
 * domains, and twice as many after so many rounds. */
#define PORT_PRICE 0.5
#define DEARER 3

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
	int *unit;               /* [n_hosts] domain of a host */
	int *at, *domain;        /* [n_hosts] host of an item, and its domain */
	int *best;               /* [n_hosts] the best at[] */
	bool *moves;             /* [n_hosts] does the item move? */
	struct cpl_comm *graph;  /* bytes between items, both ways */
	int64_t *first;          /* [n_hosts + 1] into edge[] */
	struct host_edge *edge;
	double *load[2];         /* [n_hosts * ports] of items: out, in */
	double bytes, excess, price, warm;
	uint64_t random;
	int64_t work;
	struct cpl_arena arena;
};

static double cost(const struct domain_search *s)
{
	return s->bytes + s->price * s->excess;
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
	int old = s->domain[item];

	s->work += s->first[item + 1] - s->first[item];
	for (int64_t i = s->first[item]; i < s->first[item + 1]; i++) {
		const struct host_edge *e = &s->edge[i];
		int other = s->domain[e->other];

		if (e->other != partner && (other == old || other == domain))
			cross(s, e, other == old ? 1 : -1);
	}
}

static void swap(int *a, int *b)
{
	int c = *a;

	*a = *b;
	*b = c;
}

static void exchange(struct domain_search *s, int a, int b)
{
	if (s->domain[a] != s->domain[b]) {
		leave(s, a, b, s->domain[b]);
		leave(s, b, a, s->domain[a]);
	}
	swap(&s->at[a], &s->at[b]);
	swap(&s->domain[a], &s->domain[b]);
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
		if (s->domain[i] == s->domain[b])
			out[found++] = i;
	return found == n ? n : 0;
}

/* Bytes of an item that cross, of those with others that move half. */
static double crossing(struct domain_search *s, int item)
{
	const struct cpl_comm *g = s->graph;
	double sum = 0;

	s->work += 1 + g->row[item + 1] - g->row[item];
	for (int64_t e = g->row[item]; e < g->row[item + 1]; e++)
		if (s->domain[g->to[e]] != s->domain[item])
			sum += s->moves[g->to[e]] ? g->bytes[e] / 2 : g->bytes[e];
	return sum;
}

/* What n exchanges at once would add to the bytes. */
static double bytes_more(struct domain_search *s, int a, const int *with, int n)
{
	double more = 0;

	for (int i = 0; i < n; i++)
		s->moves[a + i] = s->moves[with[i]] = true;
	for (int i = 0; i < n; i++) {
		more -= crossing(s, a + i);
		more -= crossing(s, with[i]);
	}
	for (int i = 0; i < n; i++)
		swap(&s->domain[a + i], &s->domain[with[i]]);
	for (int i = 0; i < n; i++) {
		more += crossing(s, a + i);
		more += crossing(s, with[i]);
	}
	for (int i = 0; i < n; i++) {
		swap(&s->domain[a + i], &s->domain[with[i]]);
		s->moves[a + i] = s->moves[with[i]] = false;
	}
	return more;
}

static int draw(struct domain_search *s, int n)
{
	return (int)cpl_random_scale(cpl_random_next(&s->random), (uint64_t)n);
}

/* Looks at ports only where bytes alone would have it so. */
static void move(struct domain_search *s, double warm)
{
	int n = 1 << draw(s, BLOCKS), a = draw(s, s->n_full);
	int b = draw(s, s->how->n_hosts), with[MOST_BLOCK];
	double before = cost(s);
	double most = warm * cpl_random_exponential(cpl_random_next(&s->random));

	s->work++;
	a -= a % n;
	if (a + n > s->n_full || !partners(s, a, b, n, with) ||
	    bytes_more(s, a, with, n) > most + s->price * s->excess)
		return;
	for (int i = 0; i < n; i++)
		exchange(s, a + i, with[i]);
	if (cost(s) - before > most)
		for (int i = 0; i < n; i++)
			exchange(s, a + i, with[i]);
}

/* Ports above what they may have become dearer while it gets colder. */
static void anneal(struct domain_search *s)
{
	double warm = s->warm * WARMEST, least = s->excess > 0 ? INFINITY : s->bytes;
	size_t size = (size_t)s->how->n_hosts * sizeof(int);
	int64_t all = s->how->work > 0 ? s->how->work : WORK;

	memcpy(s->best, s->at, size);
	for (int round = 0; round < ROUNDS; round++, warm *= COOLING) {
		s->price = PORT_PRICE * (1 << round / DEARER);
		while (s->work < all / ROUNDS * (round + 1)) {
			move(s, warm);
			if (s->excess <= 1e-9 * s->most_port &&
			    s->bytes < least * (1 - 1e-9)) {
				least = s->bytes;
				memcpy(s->best, s->at, size);
			}
		}
	}
}

/* Items by the first ranks of hosts, then hosts without any: of[] ranks. */
static void list_items(struct domain_search *s, const int *rank_host, int *of)
{
	int *who = s->best, n = 0;

	memset(who, -1, (size_t)s->how->n_hosts * sizeof(int));
	for (int r = 0; r < s->how->comm->ranks; r++) {
		if (who[rank_host[r]] < 0) {
			who[rank_host[r]] = n;
			s->at[n++] = rank_host[r];
		}
		of[r] = who[rank_host[r]];
	}
	s->n_full = n;
	for (int h = 0; h < s->how->n_hosts; h++)
		if (who[h] < 0)
			s->at[n++] = h;
	for (int i = 0; i < n; i++)
		s->domain[i] = s->unit[s->at[i]];
}

/* Lists the edges of both ends of each entry between items' ports, and accounts for
 * those that cross; or (edge NULL) counts them. With PXN bytes leave by the port that
 * they arrive at. */
static void put_edges(struct domain_search *s, const struct cpl_comm *comm,
                      int64_t *end)
{
	bool pxn = s->how->net->accelerators.pxn;
	int p = s->ports;

	for (int c = 0; c < comm->ranks; c++)
		for (int64_t i = comm->row[c]; i < comm->row[c + 1]; i++) {
			int to = comm->to[i], item[2] = {c / p, to / p};
			struct host_edge e = {
			        .from = item[0] * p + (pxn ? to : c) % p,
			        .to = to,
			        .bytes = comm->bytes[i]};

			for (int k = 0; item[0] != item[1] && k < 2; k++) {
				e.other = item[!k];
				if (s->edge)
					s->edge[end[item[k]]] = e;
				end[item[k]]++;
			}
			if (s->edge && s->domain[item[0]] != s->domain[item[1]])
				cross(s, &e, 1);
		}
}

static int list_edges(struct domain_search *s, const struct cpl_comm *comm,
                      struct cpl_error *err)
{
	int n = s->how->n_hosts;
	int64_t *end = cpl_arena_take(&s->arena, n, sizeof(*end));
	int64_t sum = 0;

	s->first = cpl_arena_take(&s->arena, n + 1, sizeof(*s->first));
	for (int k = 0; k < 2; k++)
		s->load[k] = cpl_arena_take(&s->arena, (int64_t)n * s->ports,
		                            sizeof(double));
	if (s->arena.failed)
		return cpl_fail_memory(err);
	put_edges(s, comm, end);
	for (int i = 0; i < n; i++) {
		s->first[i] = sum;
		sum += end[i];
		end[i] = s->first[i];
	}
	s->first[n] = sum;
	s->edge = cpl_arena_take(&s->arena, sum, sizeof(*s->edge));
	if (!s->edge)
		return cpl_fail_memory(err);
	put_edges(s, comm, end);
	return 0;
}

/* Ports of a node of which each rank uses one, or those of its accelerator in equal
 * parts; else what a node sends counts as a whole. */
static int ports_told_apart(const struct cpl_network *net)
{
	bool apart = net->port_use == CPL_PORTS_AFFINITY ||
	             net->port_use == CPL_PORTS_ROUND_ROBIN ||
	             net->port_use == CPL_PORTS_NEAREST;

	return apart ? net->n_ports : 1;
}

/* Edges of the items' ports, from of[ranks]. */
static int list_ports(struct domain_search *s, const int *of, struct cpl_error *err)
{
	const struct cpl_domain_layout *how = s->how;
	int ranks = how->comm->ranks, n = how->n_hosts * s->ports, rc = 0;
	int *cable = cpl_arena_take(&s->arena, ranks, sizeof(*cable));
	struct cpl_comm *comm;

	if (!cable)
		return cpl_fail_memory(err);
	memcpy(cable, of, (size_t)ranks * sizeof(*cable));
	if (s->ports > 1)
		rc = cpl_port_pin(how->net, of, how->n_hosts, ranks, cable, err);
	comm = rc ? NULL
	          : cpl_comm_contract(how->comm, cable, n, CPL_CONTRACT_BYTES, err);
	rc = comm ? list_edges(s, comm, err) : -1;
	cpl_comm_free(comm);
	return rc;
}

static int list_graph(struct domain_search *s, const int *of, struct cpl_error *err)
{
	struct cpl_comm *comm = cpl_comm_contract(s->how->comm, of, s->how->n_hosts, 0,
	                                          err);

	s->graph = comm ? cpl_comm_symmetric(comm, err) : NULL;
	cpl_comm_free(comm);
	for (int64_t e = 0; s->graph && e < s->graph->n_entries; e++)
		s->warm = fmax(s->warm, s->graph->bytes[e]);
	return s->graph ? 0 : -1;
}

static void close_search(struct domain_search *s)
{
	cpl_comm_free(s->graph);
	cpl_arena_free(&s->arena);
}

/* The state of a layout, for close_search in either case; of[ranks] becomes the items. */
static int open_search(struct domain_search *s, const struct cpl_domain_layout *how,
                       double most_port, const int *rank_host, int *of,
                       struct cpl_error *err)
{
	const int *domain = how->net->accelerators.domain_of;
	int n = how->n_hosts;

	*s = (struct domain_search){.how = how,
	                            .most_port = most_port,
	                            .random = cpl_random_key(
	                                    how->seed, CPL_STREAM_DOMAINS),
	                            .ports = ports_told_apart(how->net)};
	s->unit = cpl_arena_take(&s->arena, n, sizeof(int));
	s->at = cpl_arena_take(&s->arena, n, sizeof(int));
	s->domain = cpl_arena_take(&s->arena, n, sizeof(int));
	s->best = cpl_arena_take(&s->arena, n, sizeof(int));
	s->moves = cpl_arena_take(&s->arena, n, sizeof(bool));
	if (s->arena.failed)
		return cpl_fail_memory(err);
	/* A node of no domain is one of its own. */
	for (int h = 0; h < n; h++)
		s->unit[h] = domain[how->host[h]] < 0 ? -1 - h
		                                      : domain[how->host[h]];
	list_items(s, rank_host, of);
	return list_graph(s, of, err) || list_ports(s, of, err) ? -1 : 0;
}

/* What a layout comes to; of[ranks] is used up. */
static int cost_of(const struct cpl_domain_layout *how, const int *rank_host, int *of,
                   struct cpl_domain_cost *out, struct cpl_error *err)
{
	struct domain_search s;
	int rc = open_search(&s, how, INFINITY, rank_host, of, err);

	*out = (struct cpl_domain_cost){.bytes = s.bytes};
	for (int64_t i = 0; !rc && i < (int64_t)how->n_hosts * s.ports; i++)
		out->port = fmax(out->port, fmax(s.load[0][i], s.load[1][i]));
	close_search(&s);
	return rc;
}

static int put_blocks(const struct cpl_domain_layout *how, int *rank_host,
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
                  int *of, struct cpl_error *err)
{
	struct domain_search s;
	int rc = open_search(&s, how, most_port, rank_host, of, err);

	if (!rc)
		anneal(&s);
	for (int r = 0; !rc && r < how->comm->ranks; r++)
		rank_host[r] = s.best[of[r]];
	close_search(&s);
	return rc;
}

/* Takes a layout in place of the best so far where that sends more between domains, or
 * has a port that is busier than in blocks. */
static int take_better(const struct cpl_domain_layout *how, const int *layout, int *of,
                       double most_port, int *rank_host,
                       struct cpl_domain_cost *best, struct cpl_error *err)
{
	struct cpl_domain_cost cost;

	if (cost_of(how, layout, of, &cost, err))
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
	struct cpl_group_layout groups = {how->net,     how->grid, how->comm,
	                                  how->n_hosts, how->host, how->per_host};
	int ranks = how->comm->ranks, rc = 0;
	struct cpl_arena arena = {0};
	int *other = cpl_arena_take(&arena, ranks, sizeof(int));
	int *of = cpl_arena_take(&arena, ranks, sizeof(int));

	if ((ranks - 1) / how->per_host >= how->n_hosts)
		rc = cpl_fail(err, "%d ranks need more than %d hosts", ranks,
		              how->n_hosts);
	if (rc || arena.failed || put_blocks(how, rank_host, err) ||
	    cost_of(how, rank_host, of, blocks, err))
		return cpl_arena_end(&arena, -1, err);
	*out = *blocks;
	memcpy(other, rank_host, (size_t)ranks * sizeof(int));
	/* From blocks, then from groups where they are known. */
	for (int turn = 0; !rc && turn < (how->grid ? 2 : 1); turn++)
		rc = (turn && (cpl_group_layout(&groups, other, err) ||
		               take_better(how, other, of, blocks->port,
		                           rank_host, out, err))) ||
		                     search(how, blocks->port, other, of, err) ||
		                     take_better(how, other, of, blocks->port,
		                                 rank_host, out, err)
		             ? -1
		             : 0;
	return cpl_arena_end(&arena, rc, err);
}
