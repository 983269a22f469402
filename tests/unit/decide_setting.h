/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is decided in the tests of decisions: machines, and a job on one. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "placement/decide.h"

#define MAX_NODES 128

static const char dragonfly_text[] =
        "{\"format\":\"commplace-network\",\"version\":1,\"name\":\"df\","
        "\"type\":\"dragonfly\",\"groups\":4,\"rows\":2,\"columns\":4,"
        "\"nodes_per_router\":2,\"global_links_per_group_pair\":2,"
        "\"nodes\":\"n[0-63]\"}";
static const char torus_text[] =
        "{\"format\":\"commplace-network\",\"version\":1,\"name\":\"t\","
        "\"type\":\"torus\",\"dims\":[4,4,4],\"wrap\":[true,true,true],"
        "\"nodes_per_router\":1,\"nodes\":\"n[0-63]\"}";

/* One machine, one job on it. */
struct setting {
	struct cpl_network *net;
	const struct cpl_routing *routing;
	struct cpl_comm *comm;
	unsigned char free_node[MAX_NODES];
	struct cpl_decide_request req;
};

/* Ranks on a ring with a few random partners, so that nothing is symmetric. */
static inline struct cpl_comm *traffic(int ranks, uint64_t seed)
{
	struct cpl_comm_entry *entry =
	        malloc((size_t)ranks * 4 * sizeof(*entry));
	struct cpl_comm *comm;
	int64_t n = 0;

	for (int r = 0; r < ranks; r++) {
		entry[n++] =
		        (struct cpl_comm_entry){r, (r + 1) % ranks, 1000, 1};
		entry[n++] = (struct cpl_comm_entry){r, (r + ranks - 1) % ranks,
		                                     1000, 1};
		for (uint64_t k = 0; k < 2; k++)
			entry[n++] = (struct cpl_comm_entry){
			        r,
			        (int)cpl_random_below(seed, k, (uint64_t)r,
			                              (uint64_t)ranks),
			        (double)(1 + cpl_random_below(seed, 7 + k,
			                                      (uint64_t)r,
			                                      900)),
			        1};
	}
	comm = cpl_comm_build(ranks, entry, n, NULL);
	free(entry);
	return comm;
}

static inline void set_up(struct setting *s, const char *network, int nodes,
                          int per_node, const char *policy, uint64_t seed)
{
	struct cpl_error err = {""};

	memset(s, 0, sizeof(*s));
	s->net = cpl_network_parse(network, strlen(network), "test", &err);
	if (!s->net)
		fail_msg("%s", err.text);
	s->routing = cpl_routing_find(s->net, NULL, &err);
	s->comm = traffic(nodes * per_node - 1, seed);
	for (int i = 0; i < s->net->n_nodes; i++)
		s->free_node[i] =
		        cpl_random_below(seed, 9, (uint64_t)i, 100) >= 25;
	s->req = (struct cpl_decide_request){
	        .place =
	                {
	                        .net = s->net,
	                        .free = s->free_node,
	                        .n_nodes_wanted = nodes,
	                        .seed = seed,
	                },
	        .wish.policy = cpl_placement_find(NULL, policy, NULL),
	        .wish.option = cpl_placement_option(policy),
	        .routing = s->routing,
	        .comm = s->comm,
	        .ranks_per_node = per_node,
	};
}

static inline void tear_down(struct setting *s)
{
	cpl_comm_free(s->comm);
	cpl_network_free(s->net);
}

static inline void decide(const struct setting *s, struct cpl_decision *out)
{
	struct cpl_error err = {""};

	if (cpl_decide(&s->req, out, &err))
		fail_msg("%s", err.text);
}

static inline void check_nodes(const struct setting *s,
                               const struct cpl_decision *d)
{
	unsigned char seen[MAX_NODES] = {0};

	assert_int_equal(d->n_nodes, s->req.place.n_nodes_wanted);
	for (int i = 0; i < d->n_nodes; i++) {
		assert_in_range(d->node[i], 0, s->net->n_nodes - 1);
		assert_true(s->free_node[d->node[i]]);
		assert_int_equal(seen[d->node[i]]++, 0);
	}
	for (int i = 0; i < s->req.place.n_required; i++)
		assert_int_equal(seen[s->req.place.required[i]], 1);
}

static inline void check_metrics(const struct setting *s, const int *node,
                                 const struct cpl_candidate *c)
{
	struct cpl_error err = {""};
	struct cpl_candidate e;

	assert_int_equal(cpl_decide_evaluate(&s->req, node, &e, &err), 0);
	assert_true(e.metrics.max_congestion == c->metrics.max_congestion);
	assert_true(e.metrics.mean_congestion == c->metrics.mean_congestion);
	assert_true(e.sums.hop_bytes == c->sums.hop_bytes);
}

/* One job already runs on twelve nodes, apart; the job at hand is on what is
 * left. */
static inline struct cpl_harm *run_others(struct setting *s,
                                          struct cpl_load *rates)
{
	struct cpl_harm *harm = cpl_harm_new(s->net, NULL);
	struct cpl_workload *w = cpl_workload_new(s->net, 1, NULL);
	struct cpl_comm *comm = traffic(12, 99);
	int node[12], n = 0;
	struct cpl_job job = {
	        .routing = s->routing, .comm = comm, .node = node};
	double period;

	for (int i = 0; n < 12; i += 5) {
		node[n++] = i;
		s->free_node[i] = 0;
	}
	assert_true(cpl_workload_add(w, &job, NULL) >= 0);
	assert_int_equal(cpl_workload_solve(w, NULL), 0);
	assert_int_equal(cpl_load_init(rates, s->net, NULL), 0);
	/* It communicates for a tenth of its time. */
	period = 10 * cpl_load_seconds(cpl_workload_load(w), s->net);
	cpl_load_scale(rates, cpl_workload_load(w), 1 / period, s->net);
	cpl_harm_job(harm);
	for (int64_t l = 0; l < cpl_times_links(s->net); l++) {
		double rate = *cpl_times_at(rates, l);

		assert_true(rate == 0 || !cpl_harm_add(harm, l, rate, NULL));
	}
	assert_int_equal(cpl_harm_ready(harm, NULL), 0);
	cpl_comm_free(comm);
	cpl_workload_free(w);
	return harm;
}

/* What a candidate is taken for: the smaller first, then the second. */
static inline void worth(const struct setting *s, const struct cpl_decision *d,
                         int i, double out[2])
{
	const struct cpl_candidate *c = &d->candidate[i];

	out[0] = s->req.wish.objective == CPL_OBJECTIVE_ISOLATION
	                 ? (double)c->shared
	                 : s->req.wish.own_weight * c->times.seconds /
	                                   cpl_decision_reference(d) +
	                           s->req.wish.others_weight * c->harm;
	out[1] = c->times.seconds;
}
