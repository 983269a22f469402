/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mapping/domain_search.h"

#include <math.h>
#include <string.h>

#include "base/bisect.h"
#include "base/random.h"
#include "graph/arena.h"
#include "graph/contract.h"
#include "traffic/ports.h"

#define WORK 2000000  /* edges that a search looks at, if it is not told */
#define LOOKS 6       /* as many are looked at in the time of a step of a move */
#define ROUNDS 24     /* in each it is so much colder */
#define COOLING 0.8
#define WARMEST 0.1   /* of the most that two hosts exchange */
#define MOST_BLOCK 8  /* so many items move together at most; a power of two */
#define ANY 4         /* of so many moves one is to any host */
#define HOT 30        /* times as much as is warm is never taken */
/* Room for rows of near[], and for pair[], in numbers. */
#define NEAR_ROOM (1 << 20)
#define PAIR_ROOM (1 << 18)
/* At first a byte of a port above what it may have counts for so many between
 * domains, and twice as many after so many rounds. */
#define PORT_PRICE 0.5
#define DEARER 3

/* Bytes between two items, and the ports that they leave and reach. */
struct host_edge {
	int from, to;
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
	int n_units;
	int *unit_first;         /* [n_units + 2] into unit_host[] */
	int *unit_host;          /* [n_hosts] hosts by unit */
	int *item_at;            /* [n_hosts] item of a host */
	double *total;           /* [n_full] bytes of an item */
	int n_rows;
	int *owner;              /* [n_rows] item of a row of near[]; -1: none */
	double *near;            /* [n_rows * n_units] its bytes with each domain */
	double *pair;            /* [n_full^2] bytes of two items; NULL: too many */
	struct cpl_comm *graph;  /* bytes between items, both ways */
	int64_t *first;          /* [graph's entries + 2] into edge[] */
	struct host_edge *edge;
	double *load[2];         /* [n_full * ports] of items: out, in */
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
	if (*load > s->most_port)
		s->excess -= *load - s->most_port;
	*load += bytes;
	if (*load > s->most_port)
		s->excess += *load - s->most_port;
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
	const struct cpl_comm *g = s->graph;
	int old = s->domain[item];
	int64_t row = item < s->n_full ? g->row[item] : 0;
	int64_t end = item < s->n_full ? g->row[item + 1] : 0;

	s->work += end - row;
	for (int64_t e = row; e < end; e++) {
		int other = s->domain[g->to[e]];

		if ((other != old && other != domain) || g->to[e] == partner)
			continue;
		s->work += s->first[e + 1] - s->first[e];
		for (int64_t i = s->first[e]; i < s->first[e + 1]; i++)
			cross(s, &s->edge[i], other == old ? 1 : -1);
	}
}

static void swap(int *a, int *b)
{
	int c = *a;

	*a = *b;
	*b = c;
}

/* An item's partners have its bytes with another domain now. */
static void tell_near(struct domain_search *s, int item, int from, int to)
{
	const struct cpl_comm *g = s->graph;

	if (item >= s->n_full)
		return;
	for (int64_t e = g->row[item]; e < g->row[item + 1]; e++) {
		int slot = g->to[e] % s->n_rows;
		double *row = s->near + (int64_t)slot * s->n_units;

		if (s->owner[slot] == g->to[e]) {
			row[from] -= g->bytes[e];
			row[to] += g->bytes[e];
		}
	}
}

static void exchange(struct domain_search *s, int a, int b)
{
	if (s->domain[a] != s->domain[b]) {
		tell_near(s, a, s->domain[a], s->domain[b]);
		tell_near(s, b, s->domain[b], s->domain[a]);
		leave(s, a, b, s->domain[b]);
		leave(s, b, a, s->domain[a]);
	}
	swap(&s->at[a], &s->at[b]);
	s->item_at[s->at[a]] = a;
	s->item_at[s->at[b]] = b;
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

/* Bytes between an item and each domain. Rows are filled when they are asked for, and
 * kept until another item needs the room. */
static const double *near_row(struct domain_search *s, int item)
{
	const struct cpl_comm *g = s->graph;
	int slot = item % s->n_rows;
	double *row = s->near + (int64_t)slot * s->n_units;

	if (s->owner[slot] == item)
		return row;
	s->owner[slot] = item;
	memset(row, 0, (size_t)s->n_units * sizeof(*row));
	for (int64_t e = g->row[item]; e < g->row[item + 1]; e++)
		row[s->domain[g->to[e]]] += g->bytes[e];
	s->work += s->n_units / 8 + g->row[item + 1] - g->row[item];
	return row;
}

static double bytes_of_pair(const struct domain_search *s, int a, int b)
{
	const struct cpl_comm *g = s->graph;
	int64_t low = g->row[a], end = g->row[a + 1], high = end;

	if (s->pair)
		return s->pair[(int64_t)a * s->n_full + b];
	CPL_BISECT(low, high, middle, g->to[middle] < b)
	return low < end && g->to[low] == b ? g->bytes[low] : 0;
}

/* Items that would be in other domains, and bytes that they have in their new one. */
struct moving {
	int n, item[2 * MOST_BLOCK], from[2 * MOST_BLOCK], to[2 * MOST_BLOCK];
	double keep[2 * MOST_BLOCK];
};

static void list_moving(const struct domain_search *s, int a, const int *with, int n,
                        struct moving *m)
{
	m->n = 0;
	for (int i = 0; i < 2 * n; i++) {
		int item = i % 2 ? with[i / 2] : a + i / 2;
		int other = i % 2 ? a + i / 2 : with[i / 2];

		if (item >= s->n_full || s->domain[item] == s->domain[other])
			continue;
		m->item[m->n] = item;
		m->from[m->n] = s->domain[item];
		m->to[m->n++] = s->domain[other];
	}
}

/* Puts right for two of them what rows say, which know none of both moves. Returns what
 * that adds to the bytes. */
static double correct_pair(const struct domain_search *s, struct moving *m, int i, int j)
{
	bool left_by_j = m->from[j] == m->to[i], left_by_i = m->from[i] == m->to[j];
	bool meet = m->to[i] == m->to[j], were = m->from[i] == m->from[j];
	double bytes;

	if (!left_by_j && !left_by_i && !meet && !were)
		return 0;
	bytes = bytes_of_pair(s, m->item[i], m->item[j]);
	m->keep[i] += (meet - left_by_j) * bytes;
	m->keep[j] += (meet - left_by_i) * bytes;
	return (left_by_j + left_by_i - were - meet) * bytes;
}

/* What it would add to the bytes. */
static double bytes_more(struct domain_search *s, struct moving *m)
{
	double more = 0;

	for (int i = 0; i < m->n; i++) {
		const double *row = near_row(s, m->item[i]);

		m->keep[i] = row[m->to[i]];
		more += row[m->from[i]] - row[m->to[i]];
	}
	for (int i = 0; i < m->n; i++)
		for (int j = 0; j < i; j++)
			more += correct_pair(s, m, i, j);
	s->work += LOOKS * (1 + m->n * m->n / 8);
	return more;
}

/* Bytes above what ports may have that the items would have at least: as if each used
 * its ports alike. */
static double excess_after(const struct domain_search *s, const struct moving *m)
{
	double sum = 0, most = 2 * s->ports * s->most_port;

	for (int i = 0; i < m->n; i++) {
		double out = s->total[m->item[i]] - m->keep[i] - most;

		sum += out > 0 ? out : 0;
	}
	return sum;
}

static int draw(struct domain_search *s, int n)
{
	return (int)cpl_random_scale(cpl_random_next(&s->random), (uint64_t)n);
}

/* An item in a domain where item a has a partner, for a to change places with; now and
 * then any; -1: that is a's own domain. */
static int draw_partner(struct domain_search *s, int a)
{
	const struct cpl_comm *g = s->graph;
	int64_t degree = g->row[a + 1] - g->row[a];
	int u, first;

	if (!draw(s, ANY) || !degree)
		return draw(s, s->how->n_hosts);
	u = s->domain[g->to[g->row[a] + draw(s, (int)degree)]];
	if (u == s->domain[a])
		return -1;
	first = s->unit_first[u];
	return s->item_at[s->unit_host[first + draw(s, s->unit_first[u + 1] - first)]];
}

/* Each size of blocks half as often as the one before it, the last as often. */
static int draw_block(struct domain_search *s)
{
	int k = draw(s, MOST_BLOCK), n = 1;

	while (n < MOST_BLOCK && (k & n))
		n *= 2;
	return n;
}

/* Looks at each port only where bytes, and what ports have at least, would have it so. */
static void move(struct domain_search *s, double warm)
{
	int n = draw_block(s), a = draw(s, s->n_full), b, with[MOST_BLOCK];
	double before = cost(s), more, most;
	struct moving m;

	s->work += LOOKS;
	b = draw_partner(s, a);
	a -= a % n;
	if (b < 0 || a + n > s->n_full || !partners(s, a, b, n, with))
		return;
	list_moving(s, a, with, n, &m);
	if (!m.n)
		return;
	more = bytes_more(s, &m);
	more += s->price * (excess_after(s, &m) - s->excess);
	if (more > HOT * warm)
		return;
	most = warm * cpl_random_exponential(cpl_random_next(&s->random));
	if (more > most)
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

/* Lists the edges of both ends of each entry between items' ports by entries of the
 * graph, which are in the same order, and accounts for those that cross; or (edge NULL)
 * counts them into first[entry + 2]. With PXN bytes leave by the port that they arrive
 * at. at[item] is the entry for which its last edge from others was. */
static void put_edges(struct domain_search *s, const struct cpl_comm *comm, int64_t *at)
{
	bool pxn = s->how->net->accelerators.pxn;
	const struct cpl_comm *g = s->graph;
	int p = s->ports;

	memcpy(at, g->row, (size_t)s->n_full * sizeof(*at));
	for (int c = 0; c < comm->ranks; c++) {
		int from = c / p;
		int64_t own = from < s->n_full ? g->row[from] : 0;

		for (int64_t i = comm->row[c]; i < comm->row[c + 1]; i++) {
			int to = comm->to[i], other = to / p;
			struct host_edge e = {
			        .from = from * p + (pxn ? to : c) % p,
			        .to = to,
			        .bytes = comm->bytes[i]};

			if (other == from || !(e.bytes > 0))
				continue;
			while (g->to[own] < other)
				own++;
			while (g->to[at[other]] < from)
				at[other]++;
			if (!s->edge) {
				s->first[own + 2]++;
				s->first[at[other] + 2]++;
				continue;
			}
			s->edge[s->first[own + 1]++] = e;
			s->edge[s->first[at[other] + 1]++] = e;
			if (s->domain[from] != s->domain[other])
				cross(s, &e, 1);
		}
	}
}

static int list_edges(struct domain_search *s, const struct cpl_comm *comm,
                      struct cpl_error *err)
{
	int64_t n = s->graph->n_entries;
	int64_t *at = cpl_arena_take(&s->arena, s->n_full, sizeof(*at));

	s->first = cpl_arena_take(&s->arena, n + 2, sizeof(*s->first));
	for (int k = 0; k < 2; k++)
		s->load[k] = cpl_arena_take(&s->arena,
		                            (int64_t)s->n_full * s->ports,
		                            sizeof(double));
	if (s->arena.failed)
		return cpl_fail_memory(err);
	put_edges(s, comm, at);
	for (int64_t e = 2; e < n + 2; e++)
		s->first[e] += s->first[e - 1];
	s->edge = cpl_arena_take_raw(&s->arena, s->first[n + 1], sizeof(*s->edge));
	if (!s->edge)
		return cpl_fail_memory(err);
	put_edges(s, comm, at);
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

/* Domains of hosts, numbered; a node of no domain is one of its own. */
static int number_units(struct domain_search *s, struct cpl_error *err)
{
	const struct cpl_accelerators *acc = &s->how->net->accelerators;
	int *number = cpl_arena_take(&s->arena, acc->n_domains, sizeof(int));

	if (!number)
		return cpl_fail_memory(err);
	for (int h = 0; h < s->how->n_hosts; h++) {
		int d = acc->domain_of[s->how->host[h]];

		if (d < 0 || !number[d])
			s->n_units++;
		if (d >= 0 && !number[d])
			number[d] = s->n_units;
		s->unit[h] = (d < 0 ? s->n_units : number[d]) - 1;
	}
	return 0;
}

static int list_units(struct domain_search *s)
{
	int n = s->how->n_hosts;

	s->unit_first = cpl_arena_take(&s->arena, s->n_units + 2, sizeof(int));
	s->unit_host = cpl_arena_take(&s->arena, n, sizeof(int));
	s->item_at = cpl_arena_take(&s->arena, n, sizeof(int));
	if (s->arena.failed)
		return -1;
	for (int i = 0; i < n; i++)
		s->item_at[s->at[i]] = i;
	for (int h = 0; h < n; h++)
		s->unit_first[s->unit[h] + 2]++;
	for (int u = 2; u < s->n_units + 2; u++)
		s->unit_first[u] += s->unit_first[u - 1];
	for (int h = 0; h < n; h++)
		s->unit_host[s->unit_first[s->unit[h] + 1]++] = h;
	return 0;
}

/* What moves are judged by. */
static int open_moves(struct domain_search *s, struct cpl_error *err)
{
	const struct cpl_comm *g = s->graph;
	int64_t pairs = (int64_t)s->n_full * s->n_full;
	int rows = NEAR_ROOM / s->n_units + 1;

	s->n_rows = rows < s->n_full ? rows : s->n_full;
	s->owner = cpl_arena_take_raw(&s->arena, s->n_rows, sizeof(int));
	s->near = cpl_arena_take_raw(&s->arena, (int64_t)s->n_rows * s->n_units,
	                             sizeof(double));
	s->total = cpl_arena_take(&s->arena, s->n_full, sizeof(double));
	if (pairs <= PAIR_ROOM)
		s->pair = cpl_arena_take(&s->arena, pairs, sizeof(double));
	if (list_units(s) || s->arena.failed)
		return cpl_fail_memory(err);
	memset(s->owner, -1, (size_t)s->n_rows * sizeof(int));
	for (int i = 0; i < s->n_full; i++)
		for (int64_t e = g->row[i]; e < g->row[i + 1]; e++) {
			s->total[i] += g->bytes[e];
			if (s->pair)
				s->pair[(int64_t)i * s->n_full + g->to[e]] =
				        g->bytes[e];
		}
	return 0;
}

/* The state of a layout, for close_search in either case; of[ranks] becomes the items. */
static int open_search(struct domain_search *s, const struct cpl_domain_layout *how,
                       double most_port, const int *rank_host, int *of,
                       struct cpl_error *err)
{
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
	if (s->arena.failed)
		return cpl_fail_memory(err);
	if (number_units(s, err))
		return -1;
	list_items(s, rank_host, of);
	return list_graph(s, of, err) || list_ports(s, of, err) ? -1 : 0;
}

int cpl_domain_cost_of(const struct cpl_domain_layout *how, const int *rank_host, int *of,
                       struct cpl_domain_cost *out, struct cpl_error *err)
{
	struct domain_search s;
	int rc = open_search(&s, how, INFINITY, rank_host, of, err);

	*out = (struct cpl_domain_cost){.bytes = s.bytes};
	for (int64_t i = 0; !rc && i < (int64_t)s.n_full * s.ports; i++)
		out->port = fmax(out->port, fmax(s.load[0][i], s.load[1][i]));
	close_search(&s);
	return rc;
}

int cpl_domain_search(const struct cpl_domain_layout *how, double most_port,
                      int *rank_host, int *of, struct cpl_error *err)
{
	struct domain_search s;
	int rc = open_search(&s, how, most_port, rank_host, of, err);

	if (!rc)
		rc = open_moves(&s, err);
	if (!rc)
		anneal(&s);
	for (int r = 0; !rc && r < how->comm->ranks; r++)
		rank_host[r] = s.best[of[r]];
	close_search(&s);
	return rc;
}
