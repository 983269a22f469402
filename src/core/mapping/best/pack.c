/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mapping/best/best.h"

/* Ranks that send each other at least this share of what the heaviest two do
 * belong together. */
#define HEAVY 0.25

/*
 * Groups of ranks that have little to do with each other, and hosts with places
 * for them: as first-fit decreasing packs bins (Johnson, 1974), host after host
 * in the order of the machine; groups for which no host has enough places left
 * are split over what is left, side by side.
 */
struct pack {
	const struct cpl_map_request *req;
	int n_groups;
	int *group_of;     /* [ranks] */
	int *first, *rank; /* ranks of a group */
	struct cpl_keyed *order; /* groups, the largest first */
	int *host, *free_slots;  /* in the order of the machine */
	int *rank_host;
};

static void find_groups(struct pack *s, int *stack)
{
	const struct cpl_comm *graph = s->req->graph;
	double most = 0;

	for (int64_t e = 0; e < graph->n_entries; e++)
		if (graph->bytes[e] > most)
			most = graph->bytes[e];
	for (int r = 0; r < graph->ranks; r++)
		s->group_of[r] = -1;
	for (int r = 0; r < graph->ranks; r++) {
		int n = 0;

		if (s->group_of[r] >= 0)
			continue;
		s->group_of[r] = s->n_groups;
		stack[n++] = r;
		while (n) {
			int v = stack[--n];

			for (int64_t e = graph->row[v]; e < graph->row[v + 1];
			     e++) {
				int to = graph->to[e];

				if (s->group_of[to] >= 0 ||
				    graph->bytes[e] < HEAVY * most)
					continue;
				s->group_of[to] = s->n_groups;
				stack[n++] = to;
			}
		}
		s->n_groups++;
	}
}

static int size_of(const struct pack *s, int group)
{
	return s->first[group + 1] - s->first[group];
}

/* Ranks of a group from its i-th on to a host; where it ends. */
static int put(struct pack *s, int group, int i, int at)
{
	for (; i < size_of(s, group) && s->free_slots[at]; i++) {
		s->rank_host[s->rank[s->first[group] + i]] = s->host[at];
		s->free_slots[at]--;
	}
	return i;
}

/* Whole groups that fit, the largest first, into one host after the other. */
static void put_whole(struct pack *s, bool *placed)
{
	int start = 0;

	for (int at = 0; at < s->req->n_hosts; at++) {
		while (start < s->n_groups && placed[start])
			start++;
		for (int g = start; g < s->n_groups && s->free_slots[at]; g++) {
			int group = s->order[g].item;

			if (placed[g] || size_of(s, group) > s->free_slots[at])
				continue;
			put(s, group, 0, at);
			placed[g] = true;
		}
		if (at % 64 == 63 && cpl_map_expired(s->req))
			return;
	}
}

/* The others: those larger than a host (large) before, the rest after. */
static void put_split(struct pack *s, bool *placed, bool large)
{
	int at = 0, most = 0;

	for (int h = 0; h < s->req->n_hosts; h++)
		if (s->req->slots[h] > most)
			most = s->req->slots[h];
	for (int g = 0; g < s->n_groups; g++) {
		int group = s->order[g].item, i = 0;

		if (placed[g] || (large && size_of(s, group) <= most))
			continue;
		while (i < size_of(s, group)) {
			while (!s->free_slots[at])
				at++;
			i = put(s, group, i, at);
		}
		placed[g] = true;
	}
}

static void order_hosts(struct pack *s, struct cpl_keyed *keyed)
{
	cpl_map_hosts_along(s->req, keyed);
	for (int i = 0; i < s->req->n_hosts; i++) {
		s->host[i] = keyed[i].item;
		s->free_slots[i] = s->req->slots[keyed[i].item];
	}
}

int cpl_map_pack(const struct cpl_map_request *req, int *rank_host,
                 struct cpl_error *err)
{
	int ranks = req->graph->ranks, hosts = req->n_hosts, rc = 0;
	struct cpl_arena arena = {0};
	struct pack s = {
	        .req = req,
	        .group_of = cpl_arena_take(&arena, ranks, sizeof(int)),
	        .first = cpl_arena_take(&arena, (int64_t)ranks + 2,
	                                sizeof(int)),
	        .rank = cpl_arena_take(&arena, ranks, sizeof(int)),
	        .host = cpl_arena_take(&arena, hosts, sizeof(int)),
	        .free_slots = cpl_arena_take(&arena, hosts, sizeof(int)),
	        .order = cpl_arena_take(&arena, ranks, sizeof(*s.order)),
	        .rank_host = rank_host,
	};
	struct cpl_keyed *keyed =
	        cpl_arena_take(&arena, hosts, sizeof(*keyed));
	bool *placed = cpl_arena_take(&arena, ranks, sizeof(*placed));

	if (arena.failed)
		return cpl_arena_end(&arena, -1, err);
	find_groups(&s, s.rank);
	if (s.n_groups > 1 && s.n_groups < ranks) {
		cpl_members_list(s.group_of, ranks, s.n_groups, s.first,
		                 s.rank);
		for (int g = 0; g < s.n_groups; g++)
			s.order[g] = (struct cpl_keyed){
			        (uint64_t)(ranks - size_of(&s, g)), g};
		cpl_keyed_sort(s.order, s.n_groups);
		order_hosts(&s, keyed);
		put_split(&s, placed, true);
		put_whole(&s, placed);
		put_split(&s, placed, false);
		rc = 1;
	}
	return cpl_arena_end(&arena, rc, err);
}
