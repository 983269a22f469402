/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of next links by a search from each router with nodes. */
#include <stdlib.h>

#include "graph/members.h"
#include "network/type.h"

/* Entries at the most: 512 MB. */
#define MAX_TABLE (1 << 28)
#define MAX_NEIGHBOURS (1 << 16)

int cpl_network_check_next_links(const struct cpl_network *net,
                                 struct cpl_error *err)
{
	if ((int64_t)net->n_node_routers * net->n_routers <= MAX_TABLE)
		return 0;
	return cpl_fail(
	        err,
	        "%d routers, %d of them with nodes, make a table of "
	        "routes above %d entries",
	        net->n_routers, net->n_node_routers, MAX_TABLE);
}

/* Searches from 64 routers at once, a bit each. */
struct searches {
	const struct cpl_network *net;
	const int *first, *link; /* links by the router they lead to */
	/* [n_routers] of bits: which searches have been at a router, got there
	 * in the last step, get there in this one. */
	uint64_t *seen, *here, *next;
	/* A bit for each router of which `here`, `next`, is not 0: few where
	 * paths are long. */
	uint64_t *front, *after;
	int words;
	const uint16_t *place; /* [n_links] of a link in its router's out */
	/* [n_routers * 64] what the 64 searches found, before it is spread over
	 * the table. */
	uint16_t *found;
};

/* Follow the links into a router that searches got to. */
static void step_from(struct searches *s, int at)
{
	const struct cpl_network *net = s->net;

	for (int i = s->first[at]; i < s->first[at + 1]; i++) {
		int link = s->link[i], from = net->link_from[link];
		/* The first router that gets there has the lowest id. */
		uint64_t bits = s->here[at] & ~(s->seen[from] | s->next[from]);

		if (!bits)
			continue;
		s->next[from] |= bits;
		s->after[from / 64] |= UINT64_C(1) << from % 64;
		for (; bits; bits &= bits - 1)
			s->found[(int64_t)from * 64 + __builtin_ctzll(bits)] =
			        s->place[link];
	}
}

/* Move the searches to where they got; false: they got nowhere. */
static bool go_on(struct searches *s)
{
	uint64_t any = 0;

	for (int w = 0; w < s->words; w++)
		for (uint64_t bits = s->front[w]; bits; bits &= bits - 1)
			s->here[w * 64 + __builtin_ctzll(bits)] = 0;
	for (int w = 0; w < s->words; w++) {
		s->front[w] = s->after[w];
		s->after[w] = 0;
		any |= s->front[w];
		for (uint64_t bits = s->front[w]; bits; bits &= bits - 1) {
			int r = w * 64 + __builtin_ctzll(bits);

			s->here[r] = s->next[r];
			s->seen[r] |= s->next[r];
			s->next[r] = 0;
		}
	}
	return any;
}

/* Write what was found into the table, for some routers at a time, which stay
 * in the cache. */
static void spread(const struct searches *s, int base, int n)
{
	int routers = s->net->n_routers, some = 256;

	for (int r = 0; r < routers; r += some) {
		int end = routers - r < some ? routers : r + some;

		for (int k = 0; k < n; k++) {
			uint16_t *next = s->net->next_links.next +
			                 (int64_t)(base + k) * routers;

			for (int i = r; i < end; i++)
				next[i] = s->found[(int64_t)i * 64 + k];
		}
	}
}

/* Next links towards routers base .. base + n - 1, breadth first against the
 * links' direction. */
static void search(struct searches *s, int base, int n)
{
	for (int r = 0; r < s->net->n_routers; r++)
		s->seen[r] = s->here[r] = s->next[r] = 0;
	for (int w = 0; w < s->words; w++)
		s->front[w] = s->after[w] = 0;
	for (int k = 0; k < n; k++) {
		s->next[base + k] = UINT64_C(1) << k;
		s->after[(base + k) / 64] |= UINT64_C(1) << (base + k) % 64;
	}
	while (go_on(s))
		for (int w = 0; w < s->words; w++)
			for (uint64_t bits = s->front[w]; bits;
			     bits &= bits - 1)
				step_from(s, w * 64 + __builtin_ctzll(bits));
	spread(s, base, n);
}

/* Have all searches been at all routers with nodes? */
static int check(const struct searches *s, int base, int n,
                 struct cpl_error *err)
{
	uint64_t all = n < 64 ? (UINT64_C(1) << n) - 1 : UINT64_MAX;
	uint64_t missing = 0;
	int to, r = 0;

	for (int i = 0; i < s->net->n_node_routers; i++)
		missing |= all & ~s->seen[i];
	if (!missing)
		return 0;
	to = __builtin_ctzll(missing);
	while (s->seen[r] >> to & 1)
		r++;
	return cpl_fail(err,
	                "\"links\" leave no path from router %d to router %d",
	                r, base + to);
}

/* Chain parallel links, and number each router's neighbours by their ids: place
 * of a link, and in first[router + 1] how many; last is scratch. -1 with err
 * where they are too many. */
static int pair_links(struct cpl_network *net, const int *into, const int *link,
                      uint16_t *place, int *last, struct cpl_error *err)
{
	int *count = net->next_links.first + 1;

	for (int r = 0; r < net->n_routers; r++)
		last[r] = -1;
	for (int to = 0; to < net->n_routers; to++) {
		for (int i = into[to]; i < into[to + 1]; i++) {
			int from = net->link_from[link[i]];

			net->next_links.twin[link[i]] = -1;
			if (last[from] >= 0)
				net->next_links.twin[last[from]] = link[i];
			else if (count[from]++ == MAX_NEIGHBOURS)
				return cpl_fail(err,
				                "router %d has links to more "
				                "than %d others",
				                from, MAX_NEIGHBOURS);
			place[link[i]] = (uint16_t)(count[from] - 1);
			last[from] = link[i];
		}
		for (int i = into[to]; i < into[to + 1]; i++)
			last[net->link_from[link[i]]] = -1;
	}
	return 0;
}

/* List the links out of each router. The first of parallel links is the one
 * that no other has as its twin; `other` is scratch, 0. */
static void list_out(struct cpl_network *net, const uint16_t *place,
                     unsigned char *other)
{
	struct cpl_next_links *w = &net->next_links;

	for (int r = 0; r < net->n_routers; r++)
		w->first[r + 1] += w->first[r];
	for (int64_t l = 0; l < net->n_links; l++)
		if (w->twin[l] >= 0)
			other[w->twin[l]] = 1;
	for (int64_t l = 0; l < net->n_links; l++)
		if (!other[l])
			w->out[w->first[net->link_from[l]] + place[l]] = (int)l;
}

static int take_table(struct cpl_network *net)
{
	size_t n = (size_t)net->n_routers, links = (size_t)net->n_links + 1;
	struct cpl_next_links *w = &net->next_links;

	w->next = malloc((size_t)net->n_node_routers * n * sizeof(*w->next));
	w->twin = malloc(links * sizeof(*w->twin));
	w->out = malloc(links * sizeof(*w->out));
	w->first = calloc(n + 1, sizeof(*w->first));
	return w->next && w->twin && w->out && w->first ? 0 : -1;
}

static int fill(struct searches *s, struct cpl_error *err)
{
	int n = s->net->n_node_routers, rc = 0;

	for (int base = 0; base < n && !rc; base += 64) {
		int some = n - base < 64 ? n - base : 64;

		search(s, base, some);
		rc = check(s, base, some, err);
	}
	return rc;
}

int cpl_network_find_next_links(struct cpl_network *net, struct cpl_error *err)
{
	size_t n = (size_t)net->n_routers, links = (size_t)net->n_links + 1;
	size_t words = (n + 63) / 64;
	int *first = calloc(n + 2, sizeof(*first));
	int *link = malloc(links * sizeof(*link));
	uint64_t *bits = malloc((3 * n + 2 * words) * sizeof(*bits));
	uint16_t *place = malloc(links * sizeof(*place));
	uint16_t *found = calloc(n * 64, sizeof(*found));
	unsigned char *other = calloc(links, 1);
	struct searches s = {.net = net,
	                     .first = first,
	                     .link = link,
	                     .place = place,
	                     .found = found,
	                     .words = (int)words};
	int rc = -1;

	if (cpl_out_of_memory(!first || !link || !bits || !place || !found ||
	                      !other || take_table(net), err))
		goto out;
	s.seen = bits;
	s.here = bits + n;
	s.next = bits + 2 * n;
	s.front = bits + 3 * n;
	s.after = s.front + words;
	cpl_members_list(net->link_to, (int)net->n_links, net->n_routers, first,
	                 link);
	rc = pair_links(net, first, link, place, (int *)bits, err);
	if (rc)
		goto out;
	list_out(net, place, other);
	rc = fill(&s, err);
out:
	cpl_free_all(first, link, bits, place, found, other);
	return rc;
}
