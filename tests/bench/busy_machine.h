/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A busy machine of one of three networks: filled by Slurm's own flat selection with
 * jobs that send (16 or 32 nodes, half of their time) and jobs that do not (1 to 24
 * nodes), of which some have ended, until 40 to 80 % of it is in use.
 */
#pragma once

#include "campaign/stock.h"
#include "time_cases.h"
#include "traffic/times.h"

#define SCALE 0.25 /* of the jobs' bytes */
#define MOST_JOBS 256

struct running {
	int n, *node;
	struct cpl_signature *sig; /* NULL: sends nothing */
	int *rank_node;
	double period, start;
};

struct machine {
	int k;
	struct cpl_network *net;
	struct cpl_stock_tree tree;
	int *loud;
	unsigned char *free;
	int n_free, n;
	struct running job[MOST_JOBS];
	struct cpl_load rates;
};

static uint64_t seed, drawn;

static inline int draw(int n)
{
	return (int)cpl_random_below(seed, 1, drawn++, (uint64_t)n);
}

/* Slurm's choice i of n nodes. */
static inline void choose_stock(const struct machine *m, int i, int n, int *node)
{
	struct cpl_stock_request req = {
	        .tree = &m->tree, .free = m->free, .n = n, .loud = m->loud};
	struct cpl_error err = {""};

	if (i ? cpl_stock_tree_choose(&req, i == 2, node, &err)
	      : cpl_stock_flat(&req, node, &err))
		die("stock", &err);
}

/* Seconds alone of one execution on these nodes; its rates to load, if any. */
static inline double alone(const struct cpl_network *net,
                    const struct cpl_signature *sig, const int *node,
                    struct cpl_load *load)
{
	struct cpl_error err = {""};
	struct cpl_times_space *space =
	        cpl_times_space_new(net, cpl_routing_minimal(net), &err);
	struct cpl_times *times =
	        cpl_times_open(sig->phase, 1, sig->ranks, &err);
	struct cpl_times_result r;

	if (!space || !times ||
	    cpl_times_order(times, NULL, PER_NODE,
	                    (sig->ranks - 1) / PER_NODE + 1, &err) ||
	    cpl_times_put(times, space, node, &err))
		die("times", &err);
	if (load)
		cpl_times_add(times, 1, load);
	cpl_times_judge(times, NULL, false, &r);
	cpl_times_close(times);
	cpl_times_space_free(space);
	return r.alone / sig->phase->weight;
}

static inline void begin(struct machine *m, int n, int p)
{
	struct running *j = &m->job[m->n++];

	*j = (struct running){.n = n, .node = malloc((size_t)n * sizeof(int))};
	choose_stock(m, 0, n, j->node);
	for (int i = 0; i < n; i++)
		m->free[j->node[i]] = 0;
	m->n_free -= n;
	if (p < 0)
		return;
	j->sig = signature_of(p, n * PER_NODE, SCALE, 1, 0, 0);
	j->period = 2 * alone(m->net, j->sig, j->node, NULL);
	cpl_signature_free(j->sig);
	j->sig = signature_of(p, n * PER_NODE, SCALE, 1, j->period,
	                      j->period / 2);
	j->start = j->period * draw(1000) / 1000;
	j->rank_node = malloc((size_t)(n * PER_NODE) * sizeof(int));
	for (int r = 0; r < n * PER_NODE; r++)
		j->rank_node[r] = j->node[r / PER_NODE];
}

static inline void end_job(struct machine *m, int i)
{
	struct running *j = &m->job[i];

	for (int k = 0; k < j->n; k++)
		m->free[j->node[k]] = 1;
	m->n_free += j->n;
	free(j->node);
	free(j->rank_node);
	cpl_signature_free(j->sig);
	*j = m->job[--m->n];
}

static inline void fill(struct machine *m)
{
	while (m->n < MOST_JOBS) {
		bool sends = draw(2);
		int n = sends ? 16 << draw(2) : 1 + draw(24);

		if (n > m->n_free)
			break;
		begin(m, n, sends ? draw(PATTERNS) : -1);
	}
}

static inline void open_machine(struct machine *m, int i, int nodes)
{
	struct cpl_error err = {""};
	int use = 40 + 10 * (i / NETWORKS % 5), total;

	*m = (struct machine){.k = i % NETWORKS,
	                      .net = load_network(i % NETWORKS)};
	total = m->n_free = m->net->n_nodes;
	m->free = malloc((size_t)total);
	m->loud = calloc((size_t)total, sizeof(int));
	if (!m->free || !m->loud ||
	    cpl_stock_tree_init(&m->tree, m->net, &err) ||
	    cpl_load_init_rates(&m->rates, m->net, &err))
		die("machine", &err);
	memset(m->free, 1, (size_t)total);
	for (int round = 0; round < 3; round++) {
		fill(m);
		while (m->n && (m->n_free < total - total * use / 100 ||
		                m->n_free < nodes))
			end_job(m, draw(m->n));
	}
	for (int j = 0; j < m->n; j++)
		if (m->job[j].sig)
			alone(m->net, m->job[j].sig, m->job[j].node, &m->rates);
}

static inline void close_machine(struct machine *m)
{
	while (m->n)
		end_job(m, 0);
	cpl_stock_tree_free(&m->tree);
	cpl_load_free(&m->rates);
	free(m->free);
	free(m->loud);
	cpl_network_free(m->net);
}
