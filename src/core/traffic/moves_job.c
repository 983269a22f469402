/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A job whose ranks move. */
#include "traffic/moves_internal.h"

#include <math.h>
#include <string.h>

/* A job's bytes are less than so many bits of grains; bytes times links are of
 * coarser grains, and no path has more links than there are routers. */
#define BITS 49
/* 1.5 * 2^52 grains: adding them rounds to whole ones. */
#define ROUNDER(exponent) ldexp(1.5, 52 + (exponent)-BITS)
/* Limits within which neither is too small or too large for a number. */
#define MIN_EXPONENT (-900)
#define MAX_EXPONENT 950

/* Some ranks in a row; n 0: none. */
struct few {
	int first, n;
};

static inline bool among(struct few few, int rank)
{
	return (unsigned)(rank - few.first) < (unsigned)few.n;
}

/* Put the flows of a rank but those to `to` and those from `from`. */
static void flows(struct cpl_moves *m, int rank, struct few to, struct few from,
                  double sign)
{
	const struct cpl_comm *comm = m->comm;
	int here = m->stop[rank];

	for (int64_t e = comm->row[rank]; e < comm->row[rank + 1]; e++)
		if (!among(to, comm->to[e]))
			moves_flow(m, here, m->stop[comm->to[e]],
			           sign * comm->bytes[e]);
	for (int64_t e = m->in_row[rank]; e < m->in_row[rank + 1]; e++)
		if (!among(from, m->in_from[e]))
			moves_flow(m, m->stop[m->in_from[e]], here,
			           sign * m->in_bytes[e]);
}

static const struct few none;

static struct few only(int rank)
{
	return (struct few){rank, 1};
}

static void go(struct cpl_moves *m, int rank, int node)
{
	if (!m->has_moved[rank]) {
		m->has_moved[rank] = 1;
		m->old_node[m->n_moved] = m->node[rank];
		m->moved[m->n_moved++] = rank;
	}
	moves_settle(m, rank, node);
}

void cpl_moves_move(struct cpl_moves *m, int rank, int node)
{
	if (m->node[rank] == node)
		return;
	flows(m, rank, none, none, -1);
	go(m, rank, node);
	flows(m, rank, none, none, 1);
}

void cpl_moves_swap(struct cpl_moves *m, int a, int b)
{
	int node = m->node[a];

	if (node == m->node[b])
		return;
	/* A flow between the two is put with those of the rank that gets it. */
	flows(m, a, only(b), none, -1);
	flows(m, b, only(a), none, -1);
	go(m, a, m->node[b]);
	go(m, b, node);
	flows(m, a, only(b), none, 1);
	flows(m, b, only(a), none, 1);
}

/* Put the flows of all ports of a host but those from and to `but`. */
static void host_flows(struct cpl_moves *m, int host, struct few but,
                       double sign)
{
	for (int p = 0; p < m->ports; p++)
		flows(m, host * m->ports + p, but, but, sign);
}

static void host_go(struct cpl_moves *m, int host, int cable)
{
	for (int p = 0; p < m->ports; p++)
		go(m, host * m->ports + p, cable + p);
}

void cpl_moves_lift(struct cpl_moves *m, int host)
{
	host_flows(m, host, none, -1);
	cpl_moves_keep(m);
}

void cpl_moves_put(struct cpl_moves *m, int host, int node)
{
	host_go(m, host, node * m->ports);
	host_flows(m, host, none, 1);
}

void cpl_moves_put_swap(struct cpl_moves *m, int host, int with)
{
	struct few own = {host * m->ports, m->ports};
	int cable = m->node[own.first];

	host_flows(m, with, own, -1);
	host_go(m, host, m->node[with * m->ports]);
	host_go(m, with, cable);
	host_flows(m, with, own, 1);
	host_flows(m, host, none, 1);
}

void cpl_moves_afresh(struct cpl_moves *m)
{
	const struct cpl_comm *comm = m->comm;
	size_t size = (size_t)m->net->n_links * sizeof(*m->load);
	double rounder = m->rounder;

	if (m->start)
		memcpy(m->load, m->start, size);
	else
		memset(m->load, 0, size);
	m->hop_bytes = 0;
	for (int r = 0; r < comm->ranks; r++)
		for (int64_t e = comm->row[r]; e < comm->row[r + 1]; e++) {
			int from = m->stop[r], to = m->stop[comm->to[e]], n;
			double bytes = comm->bytes[e], hops;
			const struct cpl_share *share;

			if (from == to || !(bytes > 0))
				continue;
			share = moves_route(m, from, to, &n, &hops);
			for (int i = 0; i < n; i++) {
				m->load[share[i].link] +=
				        (bytes * share[i].part + rounder) -
				        rounder;
				moves_note_laden(m, share[i].link);
			}
			m->hop_bytes += (bytes * hops + m->hop_rounder) -
			                m->hop_rounder;
		}
}

static void index_columns(struct cpl_moves *m)
{
	const struct cpl_comm *comm = m->comm;

	for (int64_t e = 0; e < comm->n_entries; e++)
		m->in_row[comm->to[e] + 2]++;
	for (int r = 0; r < comm->ranks; r++)
		m->in_row[r + 2] += m->in_row[r + 1];
	for (int r = 0; r < comm->ranks; r++)
		for (int64_t e = comm->row[r]; e < comm->row[r + 1]; e++) {
			int64_t at = m->in_row[comm->to[e] + 1]++;

			m->in_from[at] = r;
			m->in_bytes[at] = comm->bytes[e];
		}
}

static int choose_grain(struct cpl_moves *m, struct cpl_error *err)
{
	double sum = 0;
	int exponent, hops;

	for (int64_t e = 0; e < m->comm->n_entries; e++)
		sum += m->comm->bytes[e];
	frexp(sum, &exponent);
	if (!isfinite(sum) || exponent > MAX_EXPONENT)
		return cpl_fail(err, "the bytes of all ranks add up to more "
		                     "than a number holds");
	if (exponent < MIN_EXPONENT)
		exponent = MIN_EXPONENT;
	frexp(m->net->n_routers, &hops);
	m->rounder = ROUNDER(exponent);
	m->hop_rounder = ROUNDER(exponent + hops);
	return 0;
}

/* All entries, tentatively. */
static void put_entries(struct cpl_moves *m)
{
	const struct cpl_comm *comm = m->comm;

	for (int r = 0; r < comm->ranks; r++)
		for (int64_t e = comm->row[r]; e < comm->row[r + 1]; e++) {
			const struct cpl_share *share;
			double hops;
			int n;

			if (!(comm->bytes[e] > 0) ||
			    m->stop[r] == m->stop[comm->to[e]])
				continue;
			share = moves_route_of(m, r, e, &n, &hops);
			moves_put(m, share, n, hops, comm->bytes[e]);
		}
}

int cpl_moves_job(struct cpl_moves *m, const struct cpl_comm *comm,
                  const int *node, bool exact, struct cpl_error *err)
{
	struct cpl_arena *arena = &m->arena;
	int64_t ranks = comm->ranks, entries = comm->n_entries;

	m->comm = comm;
	m->node = cpl_arena_take_raw(arena, ranks, sizeof(*m->node));
	m->stop = cpl_arena_take_raw(arena, ranks, sizeof(*m->stop));
	m->in_row = cpl_arena_take(arena, ranks + 2, sizeof(*m->in_row));
	m->in_from = cpl_arena_take_raw(arena, entries, sizeof(*m->in_from));
	m->in_bytes = cpl_arena_take_raw(arena, entries, sizeof(*m->in_bytes));
	m->moved = cpl_arena_take_raw(arena, ranks, sizeof(*m->moved));
	m->old_node = cpl_arena_take_raw(arena, ranks, sizeof(*m->old_node));
	m->has_moved = cpl_arena_take(arena, ranks, 1);
	m->entry_route =
	        cpl_arena_take(arena, entries, sizeof(*m->entry_route));
	if (arena->failed)
		return cpl_fail_memory(err);
	if (exact && choose_grain(m, err))
		return -1;
	for (int r = 0; r < comm->ranks; r++)
		moves_settle(m, r, node[r]);
	index_columns(m);
	if (!m->tree) {
		cpl_moves_afresh(m);
		return 0;
	}
	put_entries(m);
	cpl_moves_keep(m);
	return 0;
}

void cpl_moves_leave(struct cpl_moves *m)
{
	for (int i = 0; i < m->n_laden; i++) {
		int link = m->laden[i];

		m->is_laden[link] = 0;
		m->load[link] = m->start ? m->start[link] : 0;
	}
	if (m->tree)
		moves_show_kept(m, m->laden, m->n_laden);
	m->n_laden = 0;
	m->hop_bytes = m->rounder = m->hop_rounder = 0;
	/* Routes that are in no table were this job's. */
	if (!m->known)
		m->n_share = 1;
	m->comm = NULL;
}
