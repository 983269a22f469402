/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mapping/best/best.h"

/* Ranks belong together that exchange this share of what the heaviest two
 * do. */
#define HEAVY 0.25

/* Packs groups of ranks that have little to do with each other into hosts, in
 * the order of the machine. Each host takes the largest group that is left,
 * then those that leave least of its slots empty (minimum bin slack: Gupta, Ho,
 * Production Planning and Control 10, 1999). Groups for which no host has
 * enough slots left are split over the slots left, side by side. */
struct pack {
	const struct cpl_map_request *req;
	int n_groups;
	int *group_of;     /* [ranks] */
	int *first, *rank; /* ranks of a group */
	int *taken;        /* [groups] of its ranks, on hosts */
	struct cpl_keyed *order; /* groups, the largest first */
	int *host, *free_slots;  /* in the order of the machine */
	int most;                /* slots of a host */
	int *count, *next; /* [most + 1] groups of a size left, and the first of
	                    * them in order */
	/* [most + 1] For the best sums: the size added last, and how often. */
	int *last, *times;
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

/* Puts as many of a group's ranks on the host as it has slots. */
static void put_group(struct pack *s, int group, int at)
{
	while (s->free_slots[at] && s->taken[group] < size_of(s, group)) {
		int i = s->first[group] + s->taken[group]++;

		s->rank_host[s->rank[i]] = s->host[at];
		s->free_slots[at]--;
	}
}

/* Puts a whole group of that size. */
static void put_one(struct pack *s, int size, int at)
{
	put_group(s, s->order[s->next[size]++].item, at);
	s->count[size]--;
}

/* The largest sum of sizes up to room, of large ones if possible; s->last and
 * s->times tell of it and of the sums on the way to it. */
static int reach(struct pack *s, int room)
{
	for (int x = 1; x <= room; x++)
		s->last[x] = 0;
	s->last[0] = -1;
	for (int size = room; size > 0; size--)
		for (int x = size; x <= room && s->count[size]; x++) {
			int from = x - size;
			int n = s->last[from] == size ? s->times[from] : 0;

			if (s->last[x] || !s->last[from] ||
			    n == s->count[size])
				continue;
			s->last[x] = size;
			s->times[x] = n + 1;
		}
	while (!s->last[room])
		room--;
	return room;
}

static void fill(struct pack *s, int at)
{
	int size = s->free_slots[at], sum;

	while (size && !s->count[size])
		size--;
	if (!size)
		return;
	put_one(s, size, at);
	for (sum = reach(s, s->free_slots[at]); sum > 0;) {
		int n = s->times[sum];

		size = s->last[sum];
		sum -= n * size;
		while (n--)
			put_one(s, size, at);
	}
}

static void put_whole(struct pack *s)
{
	for (int i = s->n_groups - 1; i >= 0; i--) {
		int size = size_of(s, s->order[i].item);

		if (size > s->most)
			break;
		s->count[size]++;
		s->next[size] = i;
	}
	for (int at = 0; at < s->req->n_hosts; at++) {
		if (at % 64 == 63 && cpl_map_expired(s->req))
			return;
		fill(s, at);
	}
}

/* Splits other groups: those larger than a host (large), or in the end all. */
static void put_split(struct pack *s, bool large)
{
	int at = 0;

	for (int g = 0; g < s->n_groups; g++) {
		int group = s->order[g].item, size = size_of(s, group);

		if (large && size <= s->most)
			return;
		while (s->taken[group] < size) {
			while (!s->free_slots[at])
				at++;
			put_group(s, group, at);
		}
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

static void take_sizes(struct pack *s, struct cpl_arena *arena)
{
	int64_t n;

	for (int h = 0; h < s->req->n_hosts; h++)
		if (s->req->slots[h] > s->most)
			s->most = s->req->slots[h];
	n = (int64_t)s->most + 1;
	s->count = cpl_arena_take(arena, n, sizeof(int));
	s->next = cpl_arena_take(arena, n, sizeof(int));
	s->last = cpl_arena_take(arena, n, sizeof(int));
	s->times = cpl_arena_take(arena, n, sizeof(int));
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
	        .taken = cpl_arena_take(&arena, ranks, sizeof(int)),
	        .host = cpl_arena_take(&arena, hosts, sizeof(int)),
	        .free_slots = cpl_arena_take(&arena, hosts, sizeof(int)),
	        .order = cpl_arena_take(&arena, ranks, sizeof(*s.order)),
	        .rank_host = rank_host,
	};
	struct cpl_keyed *keyed =
	        cpl_arena_take(&arena, hosts, sizeof(*keyed));

	take_sizes(&s, &arena);
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
		put_split(&s, true);
		put_whole(&s);
		put_split(&s, false);
		rc = 1;
	}
	return cpl_arena_end(&arena, rc, err);
}
