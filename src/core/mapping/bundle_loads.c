/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "mapping/bundles.h"

static inline void add_seconds(struct cpl_bundle_loads *l, int bundle,
                               double seconds)
{
	l->change[bundle] += seconds;
	if (!l->mark[bundle]) {
		l->mark[bundle] = 1;
		l->touched[l->n_touched++] = bundle;
	}
}

/* Puts bytes from one stop to another on the links between them. */
static inline void flow(struct cpl_bundle_loads *l, int from, int to,
                        double bytes)
{
	const struct cpl_bundles *b = l->bundles;
	int64_t pair = (int64_t)from * b->n_stops + to;

	for (int64_t i = b->first[pair]; i < b->first[pair + 1]; i++)
		add_seconds(l, b->part[i].bundle, bytes * b->part[i].part);
}

static inline void cables(struct cpl_bundle_loads *l, int host, double out,
                          double in)
{
	const struct cpl_bundles *b = l->bundles;

	add_seconds(l, cpl_bundles_cable(b, host, false), out * b->cable);
	add_seconds(l, cpl_bundles_cable(b, host, true), in * b->cable);
}

/* Moves a rank from one host to another, from which `other` comes. */
static void go(struct cpl_bundle_loads *l, const int *rank_host, int rank,
               int other, int from, int to)
{
	const struct cpl_bundles *b = l->bundles;
	const struct cpl_comm *graph = l->graph;
	int i = b->stop[from], j = b->stop[to];
	/* What leaves and reaches the node, before and after the move. */
	double out[2] = {0}, in[2] = {0};

	for (int64_t e = graph->row[rank]; e < graph->row[rank + 1]; e++) {
		int host = rank_host[graph->to[e]];
		int place = b->place[host], s = b->stop[host];

		if (graph->to[e] == other)
			continue;
		if (place != b->place[from]) {
			out[0] += l->out[e];
			in[0] += l->in[e];
		} else {
			cables(l, host, l->in[e], l->out[e]);
		}
		if (place != b->place[to]) {
			out[1] += l->out[e];
			in[1] += l->in[e];
		} else {
			cables(l, host, -l->in[e], -l->out[e]);
		}
		if (i == j)
			continue;
		flow(l, i, s, -l->out[e]);
		flow(l, s, i, -l->in[e]);
		flow(l, j, s, l->out[e]);
		flow(l, s, j, l->in[e]);
	}
	cables(l, from, -out[0], -in[0]);
	cables(l, to, out[1], in[1]);
}

/* What two ranks send each other changes its direction. */
static void turn(struct cpl_bundle_loads *l, const int *rank_host, int a, int b)
{
	const struct cpl_comm *graph = l->graph;
	int here = rank_host[a], there = rank_host[b];

	for (int64_t e = graph->row[a]; e < graph->row[a + 1]; e++) {
		double more = l->in[e] - l->out[e];

		if (graph->to[e] != b || (more <= 0 && more >= 0))
			continue;
		cables(l, here, more, -more);
		cables(l, there, -more, more);
		flow(l, l->bundles->stop[here], l->bundles->stop[there], more);
		flow(l, l->bundles->stop[there], l->bundles->stop[here], -more);
	}
}

void cpl_bundle_loads_swap(struct cpl_bundle_loads *l, const int *rank_host,
                           int a, int b)
{
	int from = rank_host[a], to = rank_host[b];

	if (l->bundles->place[from] == l->bundles->place[to])
		return;
	go(l, rank_host, a, b, from, to);
	go(l, rank_host, b, a, to, from);
	turn(l, rank_host, a, b);
}

void cpl_bundle_loads_undo(struct cpl_bundle_loads *l)
{
	for (int i = 0; i < l->n_touched; i++) {
		l->change[l->touched[i]] = 0;
		l->mark[l->touched[i]] = 0;
	}
	l->n_touched = 0;
}

void cpl_bundle_loads_keep(struct cpl_bundle_loads *l)
{
	for (int i = 0; i < l->n_touched; i++)
		l->load[l->touched[i]] += l->change[l->touched[i]];
	cpl_bundle_loads_undo(l);
}

void cpl_bundle_loads_afresh(struct cpl_bundle_loads *l, const int *rank_host)
{
	const struct cpl_bundles *b = l->bundles;
	const struct cpl_comm *graph = l->graph;

	memcpy(l->load, b->start, (size_t)b->n * sizeof(*l->load));
	for (int r = 0; r < graph->ranks; r++)
		for (int64_t e = graph->row[r]; e < graph->row[r + 1]; e++) {
			int from = rank_host[r], to = rank_host[graph->to[e]];

			if (b->place[from] == b->place[to])
				continue;
			add_seconds(l, cpl_bundles_cable(b, from, false),
			            l->out[e] * b->cable);
			add_seconds(l, cpl_bundles_cable(b, to, true),
			            l->out[e] * b->cable);
			flow(l, b->stop[from], b->stop[to], l->out[e]);
		}
	cpl_bundle_loads_keep(l);
}

/* The graph adds up both directions, so each entry's are kept besides. */
static void direct(struct cpl_bundle_loads *l, const struct cpl_comm *comm,
                   int64_t *at)
{
	const struct cpl_comm *graph = l->graph;

	for (int r = 0; r < graph->ranks; r++) {
		int64_t c = comm->row[r];

		for (int64_t e = graph->row[r]; e < graph->row[r + 1]; e++) {
			int to = graph->to[e];
			/* Rows are in order, and the graph has each entry both
			 * ways, so r is next in the row of `to`. */
			int64_t back = at[to]++;

			while (c < comm->row[r + 1] && comm->to[c] < to)
				c++;
			if (c == comm->row[r + 1] || comm->to[c] != to)
				continue;
			l->out[e] = comm->bytes[c];
			l->in[back] = comm->bytes[c];
		}
	}
}

int cpl_bundle_loads_init(struct cpl_bundle_loads *l,
                          const struct cpl_bundles *bundles,
                          const struct cpl_map_request *req,
                          const int *rank_host, struct cpl_error *err)
{
	const struct cpl_comm *graph = req->graph;
	int64_t entries = graph->n_entries, n = bundles->n;
	int64_t *at;

	*l = (struct cpl_bundle_loads){.bundles = bundles, .graph = graph};
	l->out = cpl_arena_take(&l->arena, entries, sizeof(*l->out));
	l->in = cpl_arena_take(&l->arena, entries, sizeof(*l->in));
	l->load = cpl_arena_take(&l->arena, n, sizeof(*l->load));
	l->change = cpl_arena_take(&l->arena, n, sizeof(*l->change));
	l->touched = cpl_arena_take(&l->arena, n, sizeof(*l->touched));
	l->mark = cpl_arena_take(&l->arena, n, 1);
	at = cpl_arena_take(&l->arena, graph->ranks, sizeof(*at));
	if (l->arena.failed) {
		cpl_bundle_loads_free(l);
		return cpl_fail_memory(err);
	}
	memcpy(at, graph->row, (size_t)graph->ranks * sizeof(*at));
	direct(l, req->comm, at);
	cpl_bundle_loads_afresh(l, rank_host);
	return 0;
}

void cpl_bundle_loads_free(struct cpl_bundle_loads *l)
{
	cpl_arena_free(&l->arena);
	*l = (struct cpl_bundle_loads){0};
}

void cpl_bundle_loads_max(const struct cpl_bundle_loads *l, double *link,
                          double *cable)
{
	const struct cpl_bundles *b = l->bundles;

	*link = b->least;
	*cable = 0;
	for (int i = 0; i < b->n_links; i++)
		if (l->load[i] > *link)
			*link = l->load[i];
	for (int i = b->n_links; i < b->n; i++)
		if (l->load[i] > *cable)
			*cable = l->load[i];
}
