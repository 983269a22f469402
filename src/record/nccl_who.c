/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "nccl_who.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"

int nccl_complain(struct nccl_solver *s, const char *reason)
{
	snprintf(s->why, NCCL_WHY, "%s", reason);
	return -1;
}

const char *nccl_host_of(const struct nccl_join *j, uint32_t member)
{
	return j->piece[j->member[member].piece].about.host;
}

static int compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int by_id(const void *a, const void *b, void *arg)
{
	const struct nccl_join *j = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct nccl_member *m = &j->member[x], *o = &j->member[y];
	int c = compare(m->about.id, o->about.id);

	c = c ? c : compare((uint64_t)m->about.rank, (uint64_t)o->about.rank);
	c = c ? c : compare((uint64_t)m->piece, (uint64_t)o->piece);
	return c ? c : compare(x, y);
}

static int by_host(const void *a, const void *b, void *arg)
{
	const struct nccl_join *j = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int c = strcmp(nccl_host_of(j, x), nccl_host_of(j, y));

	return c ? c : by_id(a, b, arg);
}

int nccl_by_process(const void *a, const void *b, void *arg)
{
	const struct nccl_join *j = arg;
	const struct nccl_process *p = &j->piece[*(const uint32_t *)a].about;
	const struct nccl_process *o = &j->piece[*(const uint32_t *)b].about;
	int c = strcmp(p->host, o->host);

	return c ? c : compare((uint64_t)p->pid, (uint64_t)o->pid);
}

static int sort_members(struct nccl_solver *s)
{
	struct nccl_join *j = s->j;

	free(j->order);
	j->order = malloc((j->n_members + 1) * sizeof(*j->order));
	s->by_host = malloc((j->n_members + 1) * sizeof(*j->order));
	s->ring = malloc((j->n_members + 1) * sizeof(*s->ring));
	if (!j->order || !s->by_host || !s->ring)
		return nccl_complain(s, "out of memory");
	j->n_ordered = 0;
	for (uint32_t i = 0; i < j->n_members; i++)
		if (j->piece[j->member[i].piece].is_kept)
			j->order[j->n_ordered++] = i;
	if (!j->n_ordered)
		return nccl_complain(s, "no process had a communicator");
	qsort_r(j->order, j->n_ordered, sizeof(*j->order), by_id, j);
	return 0;
}

/* This checks one communicator, and finds its nodes. */
static int describe_ring(struct nccl_solver *s, struct nccl_ring *r)
{
	const struct nccl_join *j = s->j;
	uint32_t *sorted = s->by_host + r->first, hosts = 0;

	for (uint32_t i = 0; i < r->n; i++) {
		const struct nccl_member *m =
		        &j->member[j->order[r->first + i]];
		const struct nccl_member *before =
		        i ? &j->member[j->order[r->first + i - 1]] : NULL;

		if (m->about.ranks != r->ranks)
			return nccl_complain(s, "a communicator has two "
			                        "numbers of ranks");
		if (before && before->about.rank == m->about.rank &&
		    before->piece != m->piece)
			return nccl_complain(s, "two processes are the same "
			                        "rank of a communicator");
		if (!before || before->about.rank != m->about.rank)
			sorted[r->known++] = j->order[r->first + i];
		r->on_network |= m->on_network;
	}
	qsort_r(sorted, r->known, sizeof(*sorted), by_host, s->j);
	for (uint32_t i = 0; i < r->known; i++)
		hosts += !i || strcmp(nccl_host_of(j, sorted[i]),
		                      nccl_host_of(j, sorted[i - 1]));
	r->is_complete = r->known == (uint32_t)r->ranks;
	r->length = r->ranks;
	if (r->nodes > 1 && r->on_network) {
		r->by_host = (r->is_complete && hosts == (uint32_t)r->nodes) ||
		             r->ranks % r->nodes;
		r->length = r->ranks / r->nodes;
	}
	return 0;
}

static int find_rings(struct nccl_solver *s)
{
	const struct nccl_join *j = s->j;

	for (uint32_t i = 0, end; i < j->n_ordered; i = end) {
		const struct nccl_communicator *a =
		        &j->member[j->order[i]].about;
		struct nccl_ring *r = &s->ring[s->n];

		for (end = i + 1; end < j->n_ordered; end++)
			if (j->member[j->order[end]].about.id != a->id)
				break;
		*r = (struct nccl_ring){.first = i,
		                        .n = end - i,
		                        .ranks = a->ranks,
		                        .nodes = a->nodes};
		if (describe_ring(s, r))
			return -1;
		if (r->ranks > s->ring[s->largest].ranks)
			s->largest = s->n;
		s->n++;
	}
	return 0;
}

/* The place in the order of a communicator's rank, from `first` on, or UINT32_MAX. */
uint32_t nccl_find_rank(const struct nccl_join *j, const struct nccl_ring *r,
                        int rank)
{
	uint32_t low = r->first, high = r->first + r->n;

	CPL_BISECT(low, high, middle, j->member[j->order[middle]].about.rank < rank);
	if (low == r->first + r->n ||
	    j->member[j->order[low]].about.rank != rank)
		return UINT32_MAX;
	return low;
}

const struct nccl_ring *nccl_ring_of(const struct nccl_solver *s, uint64_t id)
{
	uint32_t low = 0, high = s->n;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;
		const struct nccl_join *j = s->j;

		if (j->member[j->order[s->ring[middle].first]].about.id <= id)
			low = middle;
		else
			high = middle;
	}
	return &s->ring[low];
}

/* Is some process several ranks of a communicator? */
static bool has_threads(const struct nccl_solver *s)
{
	const struct nccl_join *j = s->j;
	int *last = malloc((j->n_pieces + 1) * sizeof(*last));
	bool yes = false;

	for (uint32_t i = 0; last && i < j->n_pieces; i++)
		last[i] = -1;
	for (uint32_t k = 0; last && k < s->n; k++) {
		const struct nccl_ring *r = &s->ring[k];

		for (uint32_t i = r->first; i < r->first + r->n; i++) {
			const struct nccl_member *m = &j->member[j->order[i]];

			yes |= last[m->piece] >= 0 &&
			       last[m->piece] != m->about.rank;
			last[m->piece] = m->about.rank;
		}
		for (uint32_t i = r->first; i < r->first + r->n; i++)
			last[j->member[j->order[i]].piece] = -1;
	}
	free(last);
	return yes;
}

/* Processes are the ranks that their launcher gave them; *ranks is how many. Returns
 * whether that holds. */
static bool launcher_knows(const struct nccl_solver *s, int *global, int *ranks)
{
	const struct nccl_join *j = s->j;
	bool *taken = calloc(NCCL_MAX_RANKS, sizeof(*taken)), yes = taken;
	int size = -1, most = 0;

	for (uint32_t i = 0; i < j->n_pieces && yes; i++) {
		const struct nccl_process *p = &j->piece[i].about;

		if (!j->piece[i].is_kept)
			continue;
		yes = p->rank >= 0 && !taken[p->rank] &&
		      (size < 0 || p->size == size);
		if (!yes)
			break;
		size = p->size;
		taken[p->rank] = true;
		global[i] = p->rank;
		most = p->rank >= most ? p->rank + 1 : most;
	}
	free(taken);
	*ranks = size > most ? size : most;
	return yes && (size <= 0 || most <= size) &&
	       *ranks >= s->ring[s->largest].ranks;
}

/* The same of the largest communicator. */
static bool largest_knows(const struct nccl_solver *s, int *global)
{
	const struct nccl_join *j = s->j;
	const struct nccl_ring *r = &s->ring[s->largest];
	uint32_t kept = 0, known = 0;

	for (uint32_t i = 0; i < j->n_pieces; i++) {
		global[i] = -1;
		kept += j->piece[i].is_kept;
	}
	for (uint32_t i = r->first; i < r->first + r->n; i++) {
		const struct nccl_member *m = &j->member[j->order[i]];

		known += global[m->piece] < 0;
		global[m->piece] = m->about.rank;
	}
	return known == kept;
}

static int number_processes(struct nccl_solver *s, int *global)
{
	struct nccl_join *j = s->j;
	uint32_t *sorted;
	int ranks = 0;

	s->facts->ranks = s->ring[s->largest].ranks;
	if (launcher_knows(s, global, &ranks)) {
		s->facts->ranks = ranks;
		return 0;
	}
	if (largest_knows(s, global))
		return 0;
	sorted = malloc((j->n_pieces + 1) * sizeof(*sorted));
	if (!sorted)
		return nccl_complain(s, "out of memory");
	for (uint32_t i = 0; i < j->n_pieces; i++)
		sorted[i] = i;
	qsort_r(sorted, j->n_pieces, sizeof(*sorted), nccl_by_process, j);
	ranks = 0;
	for (uint32_t i = 0; i < j->n_pieces; i++)
		if (j->piece[sorted[i]].is_kept)
			global[sorted[i]] = ranks++;
	if (ranks > s->facts->ranks)
		s->facts->ranks = ranks;
	free(sorted);
	return 0;
}

static int name_processes(struct nccl_solver *s)
{
	struct nccl_join *j = s->j;
	int *global = malloc((j->n_pieces + 1) * sizeof(*global));
	int rc = global ? number_processes(s, global)
	                : nccl_complain(s, "out of memory");

	for (uint32_t i = 0; i < j->n_ordered && !rc; i++) {
		struct nccl_member *m = &j->member[j->order[i]];

		m->global = global[m->piece];
	}
	free(global);
	return rc;
}

static int by_piece(const void *a, const void *b, void *arg)
{
	const struct nccl_join *j = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int c = compare((uint64_t)j->member[x].piece,
	                (uint64_t)j->member[y].piece);

	return c ? c : by_id(a, b, arg);
}

/* The ranks of a communicator that a process has: *n of them, in order. */
static const uint32_t *ranks_of(const struct nccl_solver *s,
                                const struct nccl_ring *r, int piece,
                                uint32_t *n)
{
	const uint32_t *sorted = s->by_piece + r->first;
	uint32_t low = 0, high = r->known;

	CPL_BISECT(low, high, middle, s->j->member[sorted[middle]].piece < piece);
	for (*n = 0; low + *n < r->known; ++*n)
		if (s->j->member[sorted[low + *n]].piece != piece)
			break;
	return sorted + low;
}

/* More threads than this are told by their order only. */
#define MOST_THREADS 256

/* Of the largest communicator's ranks of this process, the one of this thread, or -1
 * if there is not exactly one. */
static int rank_of_thread(const struct nccl_solver *s, const uint32_t *mine,
                          uint32_t n, int thread)
{
	const struct nccl_member *member = s->j->member;
	int found = -1, threads = 0;

	for (uint32_t i = 0; i < n && n <= MOST_THREADS; i++) {
		if (member[mine[i]].about.thread != thread)
			continue;
		threads++;
		found = member[mine[i]].about.rank;
	}
	return threads == 1 ? found : -1;
}

/* This numbers the ranks of a communicator that a process has. If these are all of its
 * ranks, their order tells more than threads, which may be made for a moment. */
static void name_ranks(struct nccl_solver *s, const uint32_t *here, uint32_t n,
                       bool *guessed)
{
	struct nccl_join *j = s->j;
	uint32_t most;
	const uint32_t *mine = ranks_of(s, &s->ring[s->largest],
	                                j->member[here[0]].piece, &most);

	for (uint32_t i = 0; i < n; i++) {
		struct nccl_member *m = &j->member[here[i]];

		if (n != most)
			m->global =
			        rank_of_thread(s, mine, most, m->about.thread);
		if (m->global >= 0 || i >= most)
			continue;
		m->global = j->member[mine[i]].about.rank;
		*guessed |= n != most;
	}
}

/* The same where ranks are threads. */
static int name_threads(struct nccl_solver *s)
{
	struct nccl_join *j = s->j;

	s->facts->ranks = s->ring[s->largest].ranks;
	s->by_piece = malloc((j->n_ordered + 1) * sizeof(*s->by_piece));
	if (!s->by_piece)
		return nccl_complain(s, "out of memory");
	memcpy(s->by_piece, s->by_host, j->n_ordered * sizeof(*s->by_piece));
	for (uint32_t k = 0; k < s->n; k++)
		qsort_r(s->by_piece + s->ring[k].first, s->ring[k].known,
		        sizeof(*s->by_piece), by_piece, j);
	for (uint32_t k = 0; k < s->n; k++) {
		const struct nccl_ring *r = &s->ring[k];
		const uint32_t *here = s->by_piece + r->first;
		bool guessed = false;

		for (uint32_t i = 0, n; i < r->known && k != s->largest;
		     i += n) {
			ranks_of(s, r, j->member[here[i]].piece, &n);
			name_ranks(s, here + i, n, &guessed);
		}
		s->facts->ambiguous += guessed;
	}
	for (uint32_t i = 0; i < j->n_ordered; i++) {
		struct nccl_member *m = &j->member[j->order[i]];
		const struct nccl_ring *r = nccl_ring_of(s, m->about.id);

		/* A communicator that was made again under its name. */
		m->global = r == &s->ring[s->largest]
		                    ? m->about.rank
		                    : j->member[j->order[nccl_find_rank(
		                                        j, r, m->about.rank)]]
		                              .global;
	}
	return 0;
}

static void find_straight(struct nccl_solver *s)
{
	const struct nccl_join *j = s->j;

	for (uint32_t k = 0; k < s->n; k++) {
		struct nccl_ring *r = &s->ring[k];

		r->is_straight = r->ranks == s->facts->ranks;
		for (uint32_t i = r->first; i < r->first + r->n; i++) {
			const struct nccl_member *m = &j->member[j->order[i]];

			r->is_straight &= m->global == m->about.rank;
		}
	}
}

int nccl_name_all(struct nccl_solver *s)
{
	if (sort_members(s) || find_rings(s) ||
	    (has_threads(s) ? name_threads(s) : name_processes(s)))
		return -1;
	find_straight(s);
	return 0;
}

static uint32_t root_of(uint32_t *parent, uint32_t i)
{
	while (parent[i] != i)
		i = parent[i] = parent[parent[i]];
	return i;
}

static int by_communicator(const void *a, const void *b, void *arg)
{
	const struct nccl_join *j = arg;

	return compare(j->member[*(const uint32_t *)a].about.id,
	               j->member[*(const uint32_t *)b].about.id);
}

/* Joins what shares a communicator. */
static void unite(struct nccl_join *j, uint32_t *parent, uint32_t *sorted)
{
	for (uint32_t i = 0; i < j->n_pieces; i++)
		parent[i] = i;
	for (uint32_t i = 0; i < j->n_members; i++)
		sorted[i] = i;
	qsort_r(sorted, j->n_members, sizeof(*sorted), by_communicator, j);
	for (uint32_t i = 1; i < j->n_members; i++) {
		const struct nccl_member *a = &j->member[sorted[i - 1]];
		const struct nccl_member *b = &j->member[sorted[i]];

		if (a->about.id == b->about.id)
			parent[root_of(parent, (uint32_t)a->piece)] =
			        root_of(parent, (uint32_t)b->piece);
	}
}

void nccl_join_keep(struct nccl_join *j, const char *host, int pid)
{
	uint32_t *parent = malloc((j->n_pieces + 1) * sizeof(*parent));
	uint32_t *sorted = malloc((j->n_members + 1) * sizeof(*sorted));
	bool *taken = calloc(NCCL_MAX_RANKS, sizeof(*taken));
	const struct nccl_process *own = NULL;
	uint32_t root = 0;

	if (!parent || !sorted || !taken)
		goto out;
	unite(j, parent, sorted);
	for (uint32_t i = 0; i < j->n_pieces; i++) {
		const struct nccl_process *p = &j->piece[i].about;

		if (p->pid != pid || strcmp(p->host, host))
			continue;
		own = p;
		root = root_of(parent, i);
	}
	for (uint32_t i = 0; own && i < j->n_pieces; i++) {
		struct nccl_piece *p = &j->piece[i];

		p->is_kept = root_of(parent, i) == root;
		if (p->is_kept && p->about.rank >= 0)
			taken[p->about.rank] = true;
	}
	for (uint32_t i = 0; own && i < j->n_pieces; i++) {
		struct nccl_piece *p = &j->piece[i];

		if (p->is_kept || p->about.rank < 0 || own->size <= 0 ||
		    p->about.size != own->size || taken[p->about.rank])
			continue;
		p->is_kept = true;
		taken[p->about.rank] = true;
	}
out:
	free(parent);
	free(sorted);
	free(taken);
}
