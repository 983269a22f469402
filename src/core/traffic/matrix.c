/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "traffic/matrix.h"

#include <stdlib.h>

static int open_routers(struct cpl_matrix *m, const struct cpl_network *net)
{
	size_t routers = (size_t)net->n_routers;

	m->n_words = (net->n_routers + 63) / 64;
	m->head = malloc(routers * sizeof(*m->head));
	m->row = calloc(routers, sizeof(*m->row));
	m->used = calloc((size_t)m->n_words, sizeof(*m->used));
	m->heard = calloc((size_t)m->n_words, sizeof(*m->heard));
	if (!m->head || !m->row || !m->used || !m->heard) {
		cpl_matrix_free(m);
		return -1;
	}
	for (size_t i = 0; i < routers; i++)
		m->head[i] = -1;
	return 0;
}

/* Nothing in it is kept. */
static void *grow(void *old, size_t n, size_t size)
{
	free(old);
	return malloc(n * size);
}

static int reserve_ranks(struct cpl_matrix *m, int ranks)
{
	size_t n = (size_t)ranks;

	if (ranks <= m->max_ranks)
		return 0;
	m->max_ranks = 0;
	m->next = grow(m->next, n, sizeof(*m->next));
	m->router = grow(m->router, n, sizeof(*m->router));
	m->node = grow(m->node, n, sizeof(*m->node));
	if (!m->next || !m->router || !m->node)
		return -1;
	m->max_ranks = ranks;
	return 0;
}

/* Large blocks that are not touched take address space only. */
static int reserve_flows(struct cpl_matrix *m, const struct cpl_network *net,
                         const struct cpl_comm *comm)
{
	int64_t most = (int64_t)net->n_routers * net->n_routers;
	size_t routers = (size_t)net->n_routers + 1, n;
	struct cpl_flows *p = &m->flows;

	if (comm->n_entries < most)
		most = comm->n_entries;
	n = (size_t)most + 1;
	if (most <= m->max_flows && p->row)
		return 0;
	m->max_flows = 0;
	p->to = grow(p->to, n, sizeof(*p->to));
	p->bytes = grow(p->bytes, n, sizeof(*p->bytes));
	p->from = grow(p->from, routers, sizeof(*p->from));
	p->row = grow(p->row, routers, sizeof(*p->row));
	if (!p->to || !p->bytes || !p->from || !p->row)
		return -1;
	m->max_flows = most;
	return 0;
}

static int reserve_scratch(struct cpl_matrix *m, size_t size)
{
	if (size <= m->scratch_size)
		return 0;
	m->scratch_size = 0;
	m->scratch = grow(m->scratch, size, 1);
	if (!m->scratch)
		return -1;
	m->scratch_size = size;
	return 0;
}

int cpl_matrix_reserve(struct cpl_matrix *m, const struct cpl_network *net,
                       const struct cpl_routing *routing,
                       const struct cpl_comm *comm, struct cpl_error *err)
{
	if ((!m->heard && open_routers(m, net)) ||
	    reserve_ranks(m, comm->ranks))
		return cpl_fail_memory(err);
	if (routing->add)
		return 0;
	if (reserve_flows(m, net, comm) ||
	    (routing->solve && reserve_scratch(m, routing->scratch_size(net))))
		return cpl_fail_memory(err);
	return 0;
}

void cpl_matrix_free(struct cpl_matrix *m)
{
	cpl_free_all(m->head, m->next, m->router, m->node, m->row, m->used,
	             m->heard);
	cpl_flows_free(&m->flows);
	free(m->scratch);
	*m = (struct cpl_matrix){0};
}

/* The node of each rank: the caller's array, or one that is made. */
static const int *nodes_of(struct cpl_matrix *m, const struct cpl_job *job,
                           int ranks)
{
	int each = job->ranks_per_node;

	if (!job->rank_host && each <= 1)
		return job->node;
	if (job->rank_host)
		for (int r = 0; r < ranks; r++)
			m->node[r] = job->node[job->rank_host[r]];
	else
		for (int r = 0, host = 0; r < ranks; host++)
			for (int i = 0; i < each && r < ranks; i++)
				m->node[r++] = job->node[host];
	return m->node;
}

/* Lists of ranks by router, lowest rank first. */
static void list_ranks(const struct cpl_network *net,
                       const struct cpl_comm *comm, const int *cable,
                       struct cpl_matrix *m)
{
	for (int rank = comm->ranks - 1; rank >= 0; rank--) {
		int router = net->port_router[cable[rank]];

		m->router[rank] = router;
		m->next[rank] = m->head[router];
		m->head[router] = rank;
		m->used[router / 64] |= UINT64_C(1) << (router % 64);
	}
}

/* Words of `heard` that may hold bits. */
struct row_span {
	int low, high;
};

/* Add the rows of the ranks on one router into m->row. Not inlined: its loop
 * needs the registers. */
static __attribute__((noinline)) struct row_span
gather(const struct cpl_comm *comm, const int *rank_node, const int *cable,
       int router, struct cpl_matrix *m, struct cpl_load *load,
       struct cpl_job_sums *sums)
{
	/* Held in registers: the stores below could change any of m's fields
	 * for all that the compiler knows. */
	const int *const to = comm->to, *const router_of = m->router;
	const double *const bytes_to = comm->bytes;
	double *const row = m->row, *const ejection = load->ejection;
	uint64_t *const heard = m->heard;
	struct row_span span = {m->n_words, -1};

	for (int rank = m->head[router]; rank >= 0; rank = m->next[rank]) {
		const int64_t end = comm->row[rank + 1];
		const int node = rank_node[rank];
		double leaves = 0, stays = 0;

		for (int64_t i = comm->row[rank]; i < end; i++) {
			int peer = to[i], there = router_of[peer];
			double bytes = bytes_to[i];

			if (rank_node[peer] == node || !(bytes > 0)) {
				stays += bytes;
				continue;
			}
			leaves += bytes;
			ejection[cable[peer]] += bytes;
			if (there == router)
				continue;
			row[there] += bytes;
			heard[there / 64] |= UINT64_C(1) << (there % 64);
			if (there / 64 < span.low)
				span.low = there / 64;
			if (there / 64 > span.high)
				span.high = there / 64;
		}
		load->injection[cable[rank]] += leaves;
		sums->bytes += leaves + stays;
		sums->bytes_on_network += leaves;
		sums->bytes_in_node += stays;
	}
	return span;
}

/* Keep what gather left in m->row as a row of flows, and clear it. */
static void keep(int from, struct row_span span, struct cpl_matrix *m)
{
	struct cpl_flows *flows = &m->flows;
	int64_t n = flows->row[flows->n_from];

	for (int word = span.low; word <= span.high; word++) {
		uint64_t bits = m->heard[word];

		m->heard[word] = 0;
		for (; bits; bits &= bits - 1) {
			int to = word * 64 + __builtin_ctzll(bits);

			flows->to[n] = to;
			flows->bytes[n++] = m->row[to];
			m->row[to] = 0;
		}
	}
	if (n == flows->row[flows->n_from])
		return;
	flows->from[flows->n_from++] = from;
	flows->row[flows->n_from] = n;
}

/* Add a flow between two routers; returns the links on its path. */
static inline double add_flow(const struct cpl_network *net,
                              const struct cpl_routing *routing, int from,
                              int to, double bytes, double *load)
{
	double hops;

	if (routing->add_hops)
		return routing->add_hops(net, from, to, bytes, load);
	hops = routing->hops(net, from, to);
	routing->add(net, from, to, bytes, load);
	return hops;
}

/* Route what gather left in m->row, and clear it. */
static void route(const struct cpl_network *net,
                  const struct cpl_routing *routing, int from,
                  struct row_span span, struct cpl_matrix *m,
                  struct cpl_load *load, struct cpl_job_sums *sums)
{
	for (int word = span.low; word <= span.high; word++) {
		uint64_t bits = m->heard[word];

		m->heard[word] = 0;
		for (; bits; bits &= bits - 1) {
			int to = word * 64 + __builtin_ctzll(bits);
			double bytes = m->row[to];
			double hops = add_flow(net, routing, from, to, bytes,
			                       load->link);

			m->row[to] = 0;
			sums->hop_bytes += bytes * hops;
			if (hops > sums->max_dilation)
				sums->max_dilation = hops;
		}
	}
}

/* Go through the routers that hold ranks: keep what each sends as flows, or
 * route it where there is a routing. */
static void over_routers(const struct cpl_network *net,
                         const struct cpl_routing *routing,
                         const struct cpl_comm *comm, const int *rank_node,
                         const int *cable, struct cpl_matrix *m,
                         struct cpl_load *load, struct cpl_job_sums *sums)
{
	if (!routing) {
		m->flows.n_from = 0;
		m->flows.row[0] = 0;
	}
	list_ranks(net, comm, cable, m);
	for (int word = 0; word < m->n_words; word++) {
		uint64_t bits = m->used[word];

		m->used[word] = 0;
		for (; bits; bits &= bits - 1) {
			int router = word * 64 + __builtin_ctzll(bits);
			struct row_span span = gather(comm, rank_node, cable,
			                              router, m, load, sums);

			if (routing)
				route(net, routing, router, span, m, load,
				      sums);
			else
				keep(router, span, m);
			m->head[router] = -1;
		}
	}
}

void cpl_matrix_add(struct cpl_matrix *m, const struct cpl_network *net,
                    const struct cpl_routing *routing,
                    const struct cpl_job *job, const struct cpl_comm *comm,
                    const int *cable, struct cpl_load *load,
                    struct cpl_job_sums *sums)
{
	const int *node = nodes_of(m, job, comm->ranks);
	struct cpl_routed routed = {0, 0};

	over_routers(net, routing->add ? routing : NULL, comm, node,
	             cable ? cable : node, m, load, sums);
	if (!routing->solve)
		return;
	routing->solve(net, &m->flows, m->scratch, load->link, &routed);
	sums->hop_bytes = routed.hop_bytes;
	sums->max_dilation = routed.max_hops;
}
