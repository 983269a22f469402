/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "add_traffic.h"
#include "base/random.h"
#include "mapping/quick.h"
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
static struct cpl_comm *traffic(int ranks, uint64_t seed)
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

static void set_up(struct setting *s, const char *network, int nodes,
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
	        .policy = policy,
	        .routing = s->routing,
	        .comm = s->comm,
	        .ranks_per_node = per_node,
	};
}

static void tear_down(struct setting *s)
{
	cpl_comm_free(s->comm);
	cpl_network_free(s->net);
}

static void decide(const struct setting *s, struct cpl_decision *out)
{
	struct cpl_error err = {""};

	if (cpl_decide(&s->req, out, &err))
		fail_msg("%s", err.text);
}

static void check_nodes(const struct setting *s, const struct cpl_decision *d)
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

static void check_metrics(const struct setting *s, const int *node,
                          const struct cpl_candidate *c)
{
	struct cpl_error err = {""};
	struct cpl_candidate e;

	assert_int_equal(cpl_decide_evaluate(&s->req, node, &e, &err), 0);
	assert_true(e.metrics.max_congestion == c->metrics.max_congestion);
	assert_true(e.metrics.mean_congestion == c->metrics.mean_congestion);
	assert_true(e.sums.hop_bytes == c->sums.hop_bytes);
}

static bool beats(const struct cpl_decide_request *req,
                  const struct cpl_candidate *a, const struct cpl_candidate *b)
{
	return cpl_objective_better(req->objective, &a->metrics,
	                            a->sums.hop_bytes, &b->metrics,
	                            b->sums.hop_bytes);
}

/* Every candidate's numbers are those of its policy run alone, and none beats
 * the chosen one. */
static void check_auto(const struct setting *s)
{
	struct cpl_decision d;
	struct cpl_error err = {""};
	int node[MAX_NODES];

	decide(s, &d);
	check_nodes(s, &d);
	assert_string_equal(d.candidate[0].policy->name, "linear");
	for (int i = 0; i < d.n_candidates; i++) {
		const struct cpl_candidate *c = &d.candidate[i];
		struct cpl_placement_request place = s->req.place;

		place.seed = c->seed;
		assert_true(c->evaluated);
		assert_int_equal(c->policy->place(&place, node, &err), 0);
		check_metrics(s, node, c);
		assert_false(beats(&s->req, c, &d.candidate[d.chosen]));
		if (i < d.chosen)
			assert_true(beats(&s->req, &d.candidate[d.chosen], c));
		if (i == d.chosen)
			assert_memory_equal(node, d.node,
			                    (size_t)d.n_nodes * sizeof(*node));
	}
	cpl_decision_free(&d);
}

static void test_auto_takes_the_best(void **state)
{
	for (uint64_t seed = 1; seed <= 12; seed++) {
		struct setting s;

		set_up(&s, seed % 2 ? dragonfly_text : torus_text,
		       2 + (int)seed * 2, 1 + (int)seed % 3, "auto", seed);
		s.req.objective = (enum cpl_objective)(seed % 3);
		check_auto(&s);
		tear_down(&s);
	}
}

/* What "auto" tries on a network: each policy, random ones with each seed. */
static int candidates_on(const struct cpl_network *net)
{
	const struct cpl_placement_policy *p;
	int n = 0;

	for (int i = 0; (p = cpl_placement_at(i)); i++)
		if (!(p->flags & (CPL_PLACEMENT_SEARCH | CPL_PLACEMENT_CLASS)) &&
		    cpl_placement_takes(p, net->type))
			n += p->flags & CPL_PLACEMENT_RANDOM ? CPL_DECIDE_SEEDS
			                                     : 1;
	return n;
}

static void test_candidates_of_auto(void **state)
{
	struct setting s;
	struct cpl_decision d;

	set_up(&s, dragonfly_text, 8, 2, "auto", 1);
	decide(&s, &d);
	assert_int_equal(d.n_candidates, candidates_on(s.net));
	assert_true(d.n_candidates >= 3 + 4 * CPL_DECIDE_SEEDS);
	assert_string_equal(d.candidate[1].policy->name, "best-fit");
	assert_string_equal(d.candidate[2].policy->name, "random-nodes");
	assert_int_equal(d.candidate[2].seed, 1);
	assert_int_equal(d.candidate[5].seed, 4);
	cpl_decision_free(&d);
	tear_down(&s);
	set_up(&s, torus_text, 8, 2, "AUTO", 1);
	decide(&s, &d);
	assert_int_equal(d.n_candidates, candidates_on(s.net));
	assert_true(d.n_candidates >= 3 + CPL_DECIDE_SEEDS);
	cpl_decision_free(&d);
	tear_down(&s);
}

static void test_same_request_same_decision(void **state)
{
	static const char *const policy[] = {"auto", "traffic", "RDN"};

	for (int i = 0; i < 3; i++) {
		struct setting s;
		struct cpl_decision a, b;

		set_up(&s, dragonfly_text, 12, 2, policy[i], 5);
		decide(&s, &a);
		decide(&s, &b);
		assert_int_equal(a.chosen, b.chosen);
		assert_memory_equal(a.node, b.node,
		                    (size_t)a.n_nodes * sizeof(*a.node));
		cpl_decision_free(&a);
		cpl_decision_free(&b);
		tear_down(&s);
	}
}

static void same_decision(const struct setting *s, const struct cpl_decision *a,
                          const struct cpl_decision *b)
{
	assert_int_equal(a->chosen, b->chosen);
	assert_int_equal(a->best, b->best);
	assert_int_equal(a->cut_short, b->cut_short);
	assert_int_equal(a->n_candidates, b->n_candidates);
	for (int k = 0; k < a->n_candidates; k++) {
		const struct cpl_candidate *x = &a->candidate[k];
		const struct cpl_candidate *y = &b->candidate[k];

		assert_int_equal(x->evaluated, y->evaluated);
		assert_int_equal(x->is_mapped, y->is_mapped);
		assert_int_equal(x->broken, y->broken);
		assert_true(x->metrics.max_congestion ==
		            y->metrics.max_congestion);
		assert_true(x->mapped.metrics.max_congestion ==
		            y->mapped.metrics.max_congestion);
		assert_true(x->times.seconds == y->times.seconds);
	}
	assert_memory_equal(a->node, b->node,
	                    (size_t)a->n_nodes * sizeof(*a->node));
	assert_int_equal(!a->rank_host, !b->rank_host);
	if (a->rank_host)
		assert_memory_equal(a->rank_host, b->rank_host,
		                    (size_t)s->req.comm->ranks *
		                            sizeof(*a->rank_host));
}

static bool after_n_looks(void *arg)
{
	return --*(int *)arg < 0;
}

/* By a team of threads: the same, of each candidate; also where one has to come
 * after the other. */
static void test_a_team_decides_the_same(void **state)
{
	static const char *const policy[] = {"auto", "traffic"};
	static const char *const mapper[] = {"quick", "greedyallc", "linear"};
	enum { PLAIN, CUT, PHASES, UNITS, KINDS };

	for (int i = 0; i < 12 * KINDS; i++) {
		struct cpl_error err = {""};
		struct setting s;
		struct cpl_phase phase = {.weight = 1};
		struct cpl_decision a, b;
		int left = 30;

		set_up(&s, i % 4 < 2 ? dragonfly_text : torus_text, 12, 2,
		       policy[i % 2], 5);
		s.req.mapper = cpl_mapper_find(mapper[i / 4 % 3], &err);
		assert_non_null(s.req.mapper);
		phase.comm = s.comm;
		if (i / 12 == CUT) {
			s.req.expired = after_n_looks;
			s.req.expired_arg = &left;
		} else if (i / 12 == PHASES) {
			s.req.phase = &phase;
			s.req.n_phases = 1;
			s.req.objective = CPL_OBJECTIVE_TIME;
		} else if (i / 12 == UNITS) {
			s.req.keep_whole = i % 4 < 2 ? "router" : "plane";
			s.req.keep_price = 50;
		}
		decide(&s, &a);
		s.req.team = cpl_team_new(3, &err);
		assert_non_null(s.req.team);
		left = 30;
		decide(&s, &b);
		cpl_team_free(s.req.team);
		same_decision(&s, &a, &b);
		if (i / 12 != CUT)
			assert_true(a.candidate[0].evaluated);
		cpl_decision_free(&a);
		cpl_decision_free(&b);
		tear_down(&s);
	}
}

/* What the search reports is what its nodes give, it is no worse than the best
 * of auto, and over the seeds it does find better. */
static void test_traffic_is_never_worse_than_auto(void **state)
{
	int n_better = 0;

	for (uint64_t seed = 1; seed <= 8; seed++) {
		struct setting s;
		struct cpl_decision d, best;
		int required[2] = {-1, -1};

		set_up(&s, seed % 2 ? dragonfly_text : torus_text,
		       4 + (int)seed * 2, 2, "traffic", seed);
		s.req.objective = (enum cpl_objective)(seed / 2 % 3);
		for (int i = s.net->n_nodes - 1; required[1] < 0; i--)
			if (s.free_node[i])
				required[required[0] >= 0] = i;
		s.req.place.required = required;
		s.req.place.n_required = 2;
		decide(&s, &d);
		check_nodes(&s, &d);
		check_metrics(&s, d.node, &d.candidate[d.chosen]);
		s.req.policy = "auto";
		decide(&s, &best);
		assert_int_equal(d.n_candidates, best.n_candidates + 1);
		assert_ptr_equal(d.candidate[best.n_candidates].policy,
		                 &cpl_placement_traffic);
		assert_false(beats(&s.req, &best.candidate[best.chosen],
		                   &d.candidate[d.chosen]));
		n_better += d.chosen == best.n_candidates;
		cpl_decision_free(&d);
		cpl_decision_free(&best);
		tear_down(&s);
	}
	assert_true(n_better >= 6);
}

/* The numbers of a decision are those of the traffic model rank by rank. */
static void same(double a, double b)
{
	double most = fmax(fabs(a), fabs(b));

	if (fabs(a - b) > 1e-12 * most)
		fail_msg("%.17g is not %.17g", a, b);
}

/* Candidate 0 against all links of the machine, added up by another way. */
static void check_evaluation(const struct setting *s,
                             const struct cpl_decision *d, int per_node)
{
	const struct cpl_candidate *c = &d->candidate[0];
	struct cpl_error err = {""};
	struct cpl_load load;
	struct cpl_metrics m;
	struct cpl_job_sums sums;
	int rank_node[MAX_NODES * 3];

	for (int r = 0; r < s->comm->ranks; r++)
		rank_node[r] = d->node[r / per_node];
	assert_int_equal(cpl_load_init(&load, s->net, &err), 0);
	add_traffic(s->net, s->routing, s->comm, rank_node, &load, &sums);
	cpl_traffic_metrics(s->net, &load, s->req.background, &m);
	same(m.max_congestion, c->metrics.max_congestion);
	same(m.job_congestion, c->metrics.job_congestion);
	same(m.mean_congestion, c->metrics.mean_congestion);
	same(m.max_injection, c->metrics.max_injection);
	if (s->req.all_metrics) {
		same(m.nonzero_average, c->metrics.nonzero_average);
		same(m.nonzero_variance, c->metrics.nonzero_variance);
		same(sums.max_dilation, c->sums.max_dilation);
	}
	same(sums.hop_bytes, c->sums.hop_bytes);
	same(sums.bytes, c->sums.bytes);
	same(sums.bytes_in_node, c->sums.bytes_in_node);
	same(sums.bytes_on_network, c->sums.bytes_on_network);
	cpl_load_free(&load);
}

/* Of jobs with few flows and with many, which are added up in two ways. */
static void test_evaluation_is_that_of_the_traffic_model(void **state)
{
	static const struct {
		const char *network, *policy;
		int nodes, per_node;
		bool background;
	} table[] = {
	        {dragonfly_text, "RDR", 1, 3, true},
	        {dragonfly_text, "linear", 2, 1, false},
	        {dragonfly_text, "RDN", 2, 3, true},
	        {dragonfly_text, "RDN", 3, 2, true},
	        {dragonfly_text, "RDN", 4, 1, false},
	        {dragonfly_text, "RDR", 9, 3, true},
	        {dragonfly_text, "linear", 30, 2, false},
	        {torus_text, "linear", 2, 1, true},
	        {torus_text, "RDN", 4, 2, true},
	        {torus_text, "RDN", 6, 2, false},
	        {torus_text, "RDN", 20, 2, true},
	};

	for (size_t i = 0; i < 2 * sizeof(table) / sizeof(*table); i++) {
		struct cpl_decision d;
		struct cpl_error err = {""};
		struct cpl_load background;
		struct setting s;
		int per_node = table[i / 2].per_node;

		set_up(&s, table[i / 2].network, table[i / 2].nodes, per_node,
		       table[i / 2].policy, 3);
		assert_int_equal(cpl_load_init(&background, s.net, &err), 0);
		for (int64_t l = 0; l < s.net->n_links; l++)
			background.link[l] = (double)(l * 37 % 1000);
		for (int n = 0; n < s.net->n_nodes; n++) {
			background.injection[n] = (double)(n * 41 % 1200);
			background.ejection[n] = (double)(n * 43 % 1100);
		}
		if (table[i / 2].background)
			s.req.background = &background;
		s.req.all_metrics = i % 2;
		decide(&s, &d);
		assert_int_equal(d.n_candidates, 1);
		check_evaluation(&s, &d, per_node);
		cpl_load_free(&background);
		cpl_decision_free(&d);
		tear_down(&s);
	}
}

/* Fault 36: few flows cost the links that they are on, not all of the
 * machine's; unless all metrics are asked for. */
static void test_few_flows_cost_little(void **state)
{
	struct cpl_error err = {""};
	struct setting s;
	int64_t most;

	set_up(&s, dragonfly_text, 4, 1, "auto", 1);
	most = s.net->n_links / 8;
	assert_true(most > 8);
	for (int i = 0; i < 6; i++) {
		bool all = i % 2, few = i / 2 < 2;
		struct cpl_evaluator ev;

		assert_int_equal(cpl_evaluator_open(&ev, s.net, s.routing, NULL,
		                                    NULL,
		                                    i / 2 == 0   ? 1
		                                    : i / 2 == 1 ? most - 1
		                                                 : most,
		                                    all, &err),
		                 0);
		assert_int_equal(ev.few, few);
		assert_int_equal(ev.workload != NULL, all || !few);
		cpl_evaluator_close(&ev);
	}
	tear_down(&s);
}

static bool count_looks(void *arg)
{
	++*(long *)arg;
	return false;
}

/* Fault 37: a search ends by its work, which is the same on every machine, long
 * before a clock would have to; the larger the job, the fewer are its steps. */
static void test_searches_end_by_their_work(void **state)
{
	static const char large[] =
	        "{\"format\": \"commplace-network\", \"version\": 1, "
	        "\"type\": \"dragonfly\", \"groups\": 16, \"rows\": 4, "
	        "\"columns\": 8, \"nodes_per_router\": 2, "
	        "\"global_links_per_group_pair\": 4, "
	        "\"nodes\": \"n[0-1023]\"}";
	static const struct cpl_mapper *const mapper[] = {NULL,
	                                                  &cpl_mapper_quick};

	for (int i = 0; i < 4; i++) {
		struct cpl_network *net =
		        cpl_network_parse(large, strlen(large), "large", NULL);
		int nodes = i / 2 ? 512 : 128;
		struct cpl_comm *comm = traffic(nodes * 4, 3);
		unsigned char *is_free = malloc((size_t)net->n_nodes);
		struct cpl_decide_request req = {
		        .place = {.net = net,
		                  .free = is_free,
		                  .n_nodes_wanted = nodes,
		                  .seed = 1},
		        .policy = "traffic",
		        .routing = cpl_routing_find(net, NULL, NULL),
		        .comm = comm,
		        .ranks_per_node = 4,
		        .mapper = mapper[i % 2],
		        .expired = count_looks,
		};
		struct cpl_error err = {""};
		struct cpl_decision d;
		long looks = 0;

		for (int n = 0; n < net->n_nodes; n++)
			is_free[n] = n % 5 != 0;
		req.expired_arg = &looks;
		if (cpl_decide(&req, &d, &err))
			fail_msg("%s", err.text);
		assert_false(d.cut_short);
		print_message("%d nodes: %ld looks\n", nodes, looks);
		assert_in_range(looks, 10, 1000);
		cpl_decision_free(&d);
		free(is_free);
		cpl_comm_free(comm);
		cpl_network_free(net);
	}
}

/* A running job fills the links among group 0 and 1, the lowest free nodes:
 * the choice must get out of its way. */
static void test_background_is_avoided(void **state)
{
	struct setting s;
	struct cpl_decision d;
	struct cpl_error err = {""};
	struct cpl_load background;

	set_up(&s, dragonfly_text, 8, 1, "auto", 2);
	memset(s.free_node, 1, sizeof(s.free_node));
	assert_int_equal(cpl_load_init(&background, s.net, &err), 0);
	for (int64_t l = 0; l < s.net->n_links; l++)
		if (s.net->link_from[l] < 16 && s.net->link_to[l] < 16)
			background.link[l] = 5000;
	s.req.background = &background;
	decide(&s, &d);
	assert_true(d.candidate[0].metrics.max_congestion > 5000);
	assert_true(d.candidate[d.chosen].metrics.max_congestion == 5000);
	for (int i = 0; i < d.n_nodes; i++)
		assert_in_range(d.node[i], 32, 63);
	cpl_decision_free(&d);
	cpl_load_free(&background);
	tear_down(&s);
}

static void test_without_signature(void **state)
{
	static const char *const policy[] = {"auto", "traffic", "linear"};

	for (int i = 0; i < 3; i++) {
		struct setting s;
		struct cpl_decision d;
		struct cpl_candidate c;
		struct cpl_error err = {""};
		int node = -1;

		set_up(&s, torus_text, 6, 1, policy[i], 1);
		cpl_comm_free(s.comm);
		s.req.comm = s.comm = NULL;
		decide(&s, &d);
		assert_int_equal(d.n_candidates, 1);
		assert_string_equal(d.candidate[0].policy->name, "linear");
		assert_false(d.candidate[0].evaluated);
		assert_false(d.cut_short);
		for (int k = 0; k < 6; k++) {
			while (!s.free_node[++node])
				;
			assert_int_equal(d.node[k], node);
		}
		assert_int_equal(cpl_decide_evaluate(&s.req, d.node, &c, &err),
		                 -1);
		cpl_decision_free(&d);
		tear_down(&s);
	}
}

static void test_budget(void **state)
{
	for (int looks = 0; looks < 40; looks += 3) {
		struct setting s;
		struct cpl_decision d;
		int left = looks, n = 0, all;

		set_up(&s, dragonfly_text, 10, 2, "traffic", 4);
		/* And the search itself. */
		all = candidates_on(s.net) + 1;
		s.req.expired = after_n_looks;
		s.req.expired_arg = &left;
		decide(&s, &d);
		check_nodes(&s, &d);
		assert_true(d.cut_short);
		for (int i = 0; i < d.n_candidates; i++)
			n += d.candidate[i].evaluated;
		assert_int_equal(n, looks < all ? looks : all);
		/* Linear until all are evaluated. */
		if (looks < all - 1)
			assert_int_equal(d.chosen, 0);
		if (looks)
			check_metrics(&s, d.node, &d.candidate[d.chosen]);
		cpl_decision_free(&d);
		tear_down(&s);
	}
}

static int count_evaluated(const struct cpl_decision *d, int *mapped)
{
	int n = 0;

	*mapped = 0;
	for (int i = 0; i < d->n_candidates; i++) {
		n += d->candidate[i].evaluated;
		*mapped += d->candidate[i].is_mapped;
	}
	return n;
}

static double busiest(const struct cpl_decision *d)
{
	struct cpl_figures f;

	cpl_candidate_figures(&d->candidate[d->chosen], &f);
	return f.metrics.max_congestion;
}

/* With little work the stock nodes are taken unseen; with more the more candidates
 * are judged and mapped, each time the same, and none too many; with enough it is
 * the decision without a limit. */
static void check_work(const char *network, const char *policy)
{
	static const long work[] = {1,      2000,   10000,  20000,   50000,
	                            100000, 200000, 500000, 50000000};
	struct cpl_decision first, again, all;
	struct setting s;
	int stock[16], k = 0, before = 0, mapped, few = 0;

	set_up(&s, network, 16, 4, policy, 3);
	for (int i = s.net->n_nodes - 1; k < 16; i--)
		if (s.free_node[i])
			stock[k++] = i;
	s.req.stock = stock;
	s.req.mapper = &cpl_mapper_quick;
	decide(&s, &all);
	for (size_t i = 0; i < sizeof(work) / sizeof(*work); i++) {
		int n;

		s.req.work = work[i];
		decide(&s, &first);
		decide(&s, &again);
		check_nodes(&s, &first);
		assert_memory_equal(first.node, again.node,
		                    16 * sizeof(*first.node));
		n = count_evaluated(&first, &mapped);
		assert_true(n >= before);
		before = n;
		assert_true(n * 16L <= work[i] || !first.cut_short);
		few += first.cut_short && n > 2;
		if (!i) {
			assert_int_equal(n, 0);
			assert_memory_equal(first.node, stock, sizeof(stock));
		} else if (n) {
			assert_true(first.candidate[first.chosen].evaluated);
		}
		if (!first.cut_short) {
			assert_memory_equal(first.node, all.node,
			                    16 * sizeof(*all.node));
			assert_true(busiest(&first) == busiest(&all));
		}
		assert_true(i || first.cut_short);
		if (work[i] == 50000000)
			assert_false(first.cut_short);
		cpl_decision_free(&first);
		cpl_decision_free(&again);
	}
	assert_true(few > 0);
	cpl_decision_free(&all);
	tear_down(&s);
}

static void test_work(void **state)
{
	(void)state;
	check_work(dragonfly_text, "auto");
	check_work(dragonfly_text, "traffic");
	check_work(torus_text, "auto");
	check_work(torus_text, "traffic");
}

static void test_refused(void **state)
{
	static const struct {
		const char *policy;
		int nodes, per_node, required;
		const char *text;
	} table[] = {
	        {"fastest", 4, 9, -1, "'fastest' is unknown"},
	        {"blocked", 4, 9, -1, "not for this network type"},
	        {"auto", 0, 9, -1, "0 nodes wanted"},
	        {"auto", 64, 9, -1,
	         "64 nodes wanted, but only 63 of 64 are free"},
	        {"auto", 4, 2, -1, "9 ranks do not fit 4 nodes with 2"},
	        {"auto", 4, 0, -1, "0 ranks per node"},
	        {"auto", 4, 9, 7, "required node n7 is not free"},
	        {"RDN", 4, 9, 64, "required node 64 is not in network"},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct setting s;
		struct cpl_decision d;
		struct cpl_error err = {""};

		set_up(&s, dragonfly_text, 10, 1, table[i].policy, 1);
		memset(s.free_node, 1, sizeof(s.free_node));
		s.free_node[7] = 0;
		s.req.place.n_nodes_wanted = table[i].nodes;
		s.req.ranks_per_node = table[i].per_node;
		s.req.place.required = &table[i].required;
		s.req.place.n_required = table[i].required >= 0;
		assert_int_equal(cpl_decide(&s.req, &d, &err), -1);
		if (!strstr(err.text, table[i].text))
			fail_msg("'%s' does not say '%s'", err.text,
			         table[i].text);
		assert_null(d.node);
		tear_down(&s);
	}
}

static void test_objective(void **state)
{
	static const struct {
		enum cpl_objective objective;
		/* max, mean, hop-bytes, seconds, cables, max of the job's */
		double a[6], b[6];
		bool better;
	} table[] = {
	        {CPL_OBJECTIVE_MAX, {1, 9, 9}, {2, 1, 1}, true},
	        {CPL_OBJECTIVE_MAX, {2, 1, 1}, {1, 9, 9}, false},
	        {CPL_OBJECTIVE_MAX, {1, 1, 9}, {1, 2, 1}, true},
	        {CPL_OBJECTIVE_MAX, {1, 1, 1}, {1, 1, 2}, true},
	        {CPL_OBJECTIVE_MAX, {1, 1, 1}, {1, 1, 1}, false},
	        /* Last bits do not decide. */
	        {CPL_OBJECTIVE_MAX, {1 - 1e-12, 2, 1}, {1, 1, 1}, false},
	        {CPL_OBJECTIVE_MEAN, {9, 1, 9}, {1, 2, 1}, true},
	        {CPL_OBJECTIVE_MEAN, {1, 1, 9}, {2, 1, 1}, true},
	        {CPL_OBJECTIVE_HOP_BYTES, {9, 9, 1}, {1, 1, 2}, true},
	        {CPL_OBJECTIVE_HOP_BYTES, {1, 9, 1}, {2, 1, 1}, true},
	        {CPL_OBJECTIVE_HOP_BYTES, {1, 1, 1}, {1, 2, 1}, true},
	        {CPL_OBJECTIVE_MAX, {0, 0, 0}, {0, 0, 0}, false},
	        {CPL_OBJECTIVE_MAX, {1, 1, 1, 1}, {1, 1, 1, 2}, false},
	        {CPL_OBJECTIVE_TIME, {9, 9, 9, 1}, {1, 1, 1, 2}, true},
	        {CPL_OBJECTIVE_TIME, {9, 1, 9, 1}, {1, 2, 1, 1}, true},
	        {CPL_OBJECTIVE_TIME, {9, 1, 1, 1}, {1, 1, 2, 1}, true},
	        {CPL_OBJECTIVE_TIME, {1, 1, 1, 1}, {2, 1, 1, 1}, false},
	        {CPL_OBJECTIVE_BUSIEST, {1, 9, 9, 9, 2}, {3, 1, 1, 1, 1}, true},
	        {CPL_OBJECTIVE_BUSIEST, {3, 1, 1, 1, 1}, {1, 9, 9, 9, 2}, false},
	        {CPL_OBJECTIVE_BUSIEST, {1, 1, 1, 1, 4}, {2, 1, 1, 1, 3}, false},
	        {CPL_OBJECTIVE_BUSIEST, {1, 1, 9, 1, 4}, {2, 1, 1, 1, 4}, true},
	        {CPL_OBJECTIVE_BUSIEST, {2, 9, 1, 1, 4}, {2, 1, 2, 1, 4}, true},
	        {CPL_OBJECTIVE_MAX, {1, 1, 1, 1, 9}, {2, 1, 1, 1, 1}, true},
	        /* Another job's link is the busiest whatever is chosen. */
	        {CPL_OBJECTIVE_MAX, {9, 2, 2, 1, 1, 1}, {9, 1, 1, 1, 1, 2}, true},
	        {CPL_OBJECTIVE_MAX, {9, 1, 1, 1, 1, 2}, {9, 2, 2, 1, 1, 1}, false},
	        {CPL_OBJECTIVE_MAX, {8, 1, 1, 1, 1, 3}, {9, 1, 1, 1, 1, 2}, true},
	        {CPL_OBJECTIVE_MAX, {9, 1, 2, 1, 1, 0}, {9, 2, 1, 1, 1, 2}, true},
	        {CPL_OBJECTIVE_MEAN, {9, 1, 2, 1, 1, 1}, {9, 1, 1, 1, 1, 2}, false},
	};
	struct cpl_error err = {""};
	enum cpl_objective o;

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct cpl_metrics a = {.max_congestion = table[i].a[0],
		                        .mean_congestion = table[i].a[1],
		                        .max_injection = table[i].a[4],
		                        .job_congestion = table[i].a[5],
		                        .seconds = table[i].a[3]};
		struct cpl_metrics b = {.max_congestion = table[i].b[0],
		                        .mean_congestion = table[i].b[1],
		                        .max_injection = table[i].b[4],
		                        .job_congestion = table[i].b[5],
		                        .seconds = table[i].b[3]};

		assert_int_equal(cpl_objective_better(table[i].objective, &a,
		                                      table[i].a[2], &b,
		                                      table[i].b[2]),
		                 table[i].better);
	}
	for (int i = 0; i <= CPL_OBJECTIVE_ISOLATION; i++) {
		assert_int_equal(
		        cpl_objective_parse(
		                cpl_objective_name((enum cpl_objective)i), &o,
		                &err),
		        0);
		assert_int_equal(o, i);
	}
	assert_int_equal(cpl_objective_parse("speed", &o, &err), -1);
	assert_non_null(strstr(err.text, "mean-congestion"));
}

/* One job already runs on twelve nodes, apart; the job at hand is on what is
 * left. */
static struct cpl_harm *run_others(struct setting *s, struct cpl_load *rates)
{
	struct cpl_harm *harm = cpl_harm_new(s->net, NULL);
	struct cpl_workload *w = cpl_workload_new(s->net, 1, NULL);
	struct cpl_comm *comm = traffic(12, 99);
	int node[12], n = 0;
	struct cpl_job job = {.routing = s->routing, .comm = comm, .node = node};
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
	cpl_load_add_part(rates, cpl_workload_load(w), period, s->net);
	cpl_harm_job(harm);
	assert_int_equal(cpl_harm_add_load(harm, cpl_workload_load(w), period,
	                                   NULL),
	                 0);
	assert_int_equal(cpl_harm_ready(harm, NULL), 0);
	cpl_comm_free(comm);
	cpl_workload_free(w);
	return harm;
}

/* What a candidate is taken for: the smaller first, then the second. */
static void worth(const struct setting *s, const struct cpl_decision *d, int i,
                  double out[2])
{
	const struct cpl_candidate *c = &d->candidate[i];

	out[0] = s->req.objective == CPL_OBJECTIVE_ISOLATION
	                 ? (double)c->shared
	                 : s->req.own_weight * c->times.seconds /
	                                   cpl_decision_reference(d) +
	                           s->req.others_weight * c->harm;
	out[1] = c->times.seconds;
}

/* Of the candidates judged to the end the chosen is the best by the objective,
 * whatever its figures; and the objectives choose differently. */
static void test_objectives_of_others(void **state)
{
	static const struct {
		enum cpl_objective objective;
		double own, others;
	} row[] = {
	        {CPL_OBJECTIVE_TIME, 0, 0},
	        {CPL_OBJECTIVE_ISOLATION, 0, 0},
	        {CPL_OBJECTIVE_INTERFERENCE, 1, 0},
	        {CPL_OBJECTIVE_INTERFERENCE, 1, 1},
	        {CPL_OBJECTIVE_INTERFERENCE, 0, 1},
	};
	/* Of the second network node links hold nobody up. */
	static const char *const network[] = {
	        dragonfly_text,
	        "{\"format\":\"commplace-network\",\"version\":1,\"name\":"
	        "\"t\",\"type\":\"torus\",\"dims\":[4,4,4],\"wrap\":[true,"
	        "true,true],\"nodes_per_router\":1,\"bandwidth\":{\"dim\":["
	        "1e9,1e9,1e9],\"injection\":1e11},\"nodes\":\"n[0-63]\"}"};
	static const struct cpl_mapper *const mapper[] = {NULL,
	                                                  &cpl_mapper_quick};
	int isolated = 0, harmless = 0;

	for (uint64_t seed = 1; seed <= 12; seed++) {
		double shared[5], harm[5];

		for (int k = 0; k < 5; k++) {
			struct setting s;
			struct cpl_decision d;
			struct cpl_load rates;
			struct cpl_harm *others;
			struct cpl_phase phase = {.weight = 1};
			double chosen[2], other[2];

			set_up(&s, network[seed % 2], 12, 2,
			       seed % 3 ? "auto" : "traffic", seed);
			others = run_others(&s, &rates);
			phase.comm = s.comm;
			s.req.phase = &phase;
			s.req.n_phases = 1;
			s.req.rates = &rates;
			s.req.harm = others;
			s.req.objective = row[k].objective;
			s.req.own_weight = row[k].own;
			s.req.others_weight = row[k].others;
			s.req.mapper = mapper[seed / 2 % 2];
			decide(&s, &d);
			worth(&s, &d, d.chosen, chosen);
			for (int i = 0; k && i < d.n_candidates; i++) {
				const struct cpl_candidate *c = &d.candidate[i];

				if (!c->evaluated ||
				    (s.req.mapper && !c->is_mapped))
					continue;
				worth(&s, &d, i, other);
				assert_true(chosen[0] <=
				            other[0] * (1 + 1e-9));
				assert_true(chosen[0] < other[0] * (1 - 1e-9) ||
				            chosen[1] <=
				                    other[1] * (1 + 1e-9));
			}
			shared[k] = (double)d.candidate[d.chosen].shared;
			harm[k] = d.candidate[d.chosen].harm;
			cpl_decision_free(&d);
			cpl_harm_free(others);
			cpl_load_free(&rates);
			tear_down(&s);
		}
		isolated += shared[1] < shared[0];
		harmless += harm[4] < harm[2];
	}
	assert_true(isolated > 0);
	assert_true(harmless > 0);
}

static void test_objectives_of_others_need_phases(void **state)
{
	struct setting s;
	struct cpl_decision d;
	struct cpl_error err = {""};

	set_up(&s, dragonfly_text, 4, 2, "auto", 1);
	s.req.objective = CPL_OBJECTIVE_ISOLATION;
	assert_int_equal(cpl_decide(&s.req, &d, &err), -1);
	assert_non_null(strstr(err.text, "isolation needs a job's phases"));
	s.req.objective = CPL_OBJECTIVE_LEARNED;
	assert_int_equal(cpl_decide(&s.req, &d, &err), -1);
	assert_non_null(strstr(err.text, "learned needs a job's phases"));
	s.req.phase = &(struct cpl_phase){.comm = (void *)s.req.comm,
	                                  .weight = 1};
	s.req.n_phases = 1;
	assert_int_equal(cpl_decide(&s.req, &d, &err), -1);
	assert_non_null(strstr(err.text, "learned needs a model"));
	tear_down(&s);
}

/* Broken units told by looking at every node of the machine. */
static int count_broken(const struct setting *s, const int *unit_of,
                        const int *node)
{
	int broken = 0;

	for (int u = 0; u < s->net->n_nodes; u++) {
		int all = 0, can = 0, taken = 0;

		for (int i = 0; i < s->net->n_nodes; i++) {
			if (unit_of[i] != u)
				continue;
			all++;
			can += s->free_node[i];
			for (int k = 0; k < s->req.place.n_nodes_wanted; k++)
				taken += node[k] == i;
		}
		broken += all && can == all && taken && taken < all;
	}
	return broken;
}

/* By what candidates are compared first, as far as it is told. */
static bool first_number(const struct setting *s, const struct cpl_decision *d,
                         int i, double *out)
{
	const struct cpl_candidate *c = &d->candidate[i];
	const struct cpl_figures block = {c->metrics, c->sums};
	const struct cpl_figures *f = s->req.mapper ? &c->mapped : &block;
	double of_others[2];

	if (!(s->req.mapper ? c->is_mapped : c->evaluated))
		return false;
	switch (s->req.objective) {
	case CPL_OBJECTIVE_MEAN:
		*out = f->metrics.mean_congestion;
		break;
	case CPL_OBJECTIVE_HOP_BYTES:
		*out = f->sums.hop_bytes;
		break;
	case CPL_OBJECTIVE_BUSIEST:
		*out = fmax(f->metrics.max_congestion,
		            f->metrics.max_injection);
		break;
	case CPL_OBJECTIVE_TIME:
		*out = f->metrics.seconds;
		break;
	case CPL_OBJECTIVE_INTERFERENCE:
	case CPL_OBJECTIVE_ISOLATION:
		worth(s, d, i, of_others);
		*out = of_others[0];
		break;
	default:
		*out = f->metrics.max_congestion;
	}
	return true;
}

#define KEEP_GRAPH                                                             \
	"{\"format\":\"commplace-network\",\"version\":1,\"name\":\"g\","          \
	"\"type\":\"graph\",\"routers\":14,\"nodes_per_router\":4,\"links\":[["    \
	"0,1],[1,2],[2,3],[3,4],[4,5],[5,6],[6,7],[7,8],[8,9],[9,10],[10,11]," \
	"[11,12],[12,13],[13,0],[1,0],[0,13],[13,7],[7,0],[4,11],[11,4]],"     \
	"\"nodes\":\"n[0-55]\"}"
#define KEEP_TREE                                                              \
	"{\"format\":\"commplace-network\",\"version\":1,\"name\":\"f\","          \
	"\"type\":\"fattree\",\"leaves\":16,\"nodes_per_router\":4,"              \
	"\"levels\":[{\"down\":4,\"up\":2},{\"down\":4,\"up\":2}],\"nodes\":"      \
	"\"n[0-63]\"}"

static int dragonfly_router(int node) { return node / 2; }
static int dragonfly_group(int node) { return node / 16; }
static int by_four(int node) { return node / 4; }
static int tree_quarter(int node) { return node / 16; }
static int torus_plane(int node) { return node / 16; }
static int torus_box(int node)
{
	return node % 4 / 2 + node / 4 % 4 / 2 * 2 + node / 16 / 2 * 4;
}

/*
 * What is broken is what looking at every node tells; the price is kept; of
 * those that it allows none breaks fewer, and of those none is better; with a
 * price of 0 and without the option the answer is as good as can be.
 */
static void test_units_are_kept_whole(void **state)
{
	static const struct {
		const char *network, *units;
		int (*unit)(int node);
	} row[] = {
	        {dragonfly_text, "router", dragonfly_router},
	        {dragonfly_text, "group", dragonfly_group},
	        {dragonfly_text, "3", dragonfly_group},
	        {torus_text, "plane", torus_plane},
	        {torus_text, "2x2x2", torus_box},
	        {KEEP_TREE, "1", by_four},
	        {KEEP_TREE, "2", tree_quarter},
	        {KEEP_GRAPH, "router", by_four},
	};
	static const int prices[] = {0, 10, 100};
	static const struct cpl_mapper *const mapper[] = {NULL,
	                                                  &cpl_mapper_quick};
	int n_rows = (int)(sizeof(row) / sizeof(*row)), spared = 0, paid = 0, moved = 0;

	for (int k = 0; k < 36 * n_rows; k++) {
		uint64_t seed = (uint64_t)k / 8 + 1;
		int unit_of[MAX_NODES];
		struct setting s;
		struct cpl_decision d, off;
		struct cpl_load rates;
		struct cpl_harm *others = NULL;
		struct cpl_phase phase = {.weight = 1};
		double best, chosen, other;

		set_up(&s, row[k % n_rows].network, 5 + k % 5, 2,
		       k / 7 % 3 ? "auto" : "traffic", seed);
		/* More of the units whole. */
		for (int i = 0; i < s.net->n_nodes; i++) {
			unit_of[i] = row[k % n_rows].unit(i);
			s.free_node[i] |= unit_of[i] % 4 != 1;
		}
		s.req.objective = (enum cpl_objective)(k / n_rows % 7);
		if (cpl_objective_of_others(s.req.objective)) {
			others = run_others(&s, &rates);
			phase.comm = s.comm;
			s.req.phase = &phase;
			s.req.n_phases = 1;
			s.req.rates = &rates;
			s.req.harm = others;
			s.req.own_weight = s.req.others_weight = 1;
		}
		s.req.mapper = mapper[k / 5 % 2];
		decide(&s, &off);
		assert_int_equal(off.best, off.chosen);
		s.req.keep_whole = row[k % n_rows].units;
		s.req.keep_price = prices[k / 48 % 3];
		decide(&s, &d);
		check_nodes(&s, &d);
		assert_int_equal(d.candidate[d.chosen].broken,
		                 count_broken(&s, unit_of, d.node));
		assert_true(first_number(&s, &d, d.best, &best));
		assert_true(first_number(&s, &d, d.chosen, &chosen));
		assert_true(chosen <=
		            best * (1 + s.req.keep_price / 100.0) * (1 + 1e-9));
		assert_true(fabs(d.price * best - (chosen - best)) <=
		            1e-6 * best);
		for (int i = 0; i < d.n_candidates; i++) {
			int b = d.candidate[i].broken;

			if (!first_number(&s, &d, i, &other) ||
			    other > best * (1 + s.req.keep_price / 100.0) *
			                    (1 - 1e-9))
				continue;
			assert_true(b >= d.candidate[d.chosen].broken);
			assert_true(b > d.candidate[d.chosen].broken ||
			            chosen <= other * (1 + 1e-9));
		}
		/* The search breaks no more than what it begins at. */
		if (!strcmp(s.req.policy, "traffic")) {
			struct cpl_decision start;
			int last = d.n_candidates - 1;

			s.req.policy = "auto";
			decide(&s, &start);
			assert_true(d.candidate[last].broken <=
			            start.candidate[start.chosen].broken);
			moved += d.chosen == last;
			cpl_decision_free(&start);
		}
		spared += d.candidate[d.best].broken -
		          d.candidate[d.chosen].broken;
		paid += d.price > 0;
		cpl_decision_free(&off);
		cpl_decision_free(&d);
		cpl_harm_free(others);
		if (others)
			cpl_load_free(&rates);
		tear_down(&s);
	}
	assert_true(spared > 0);
	assert_true(paid > 0);
	assert_true(moved > 0);
}

/* The policy made for it breaks one at the most, and one only where neither the
 * broken ones nor the whole ones are filled. */
static void test_keep_whole_breaks_one_at_most(void **state)
{
	static const struct {
		const char *network, *policy;
		int (*unit)(int node);
		int size;
	} row[] = {
	        {dragonfly_text, "keep-whole:router", dragonfly_router, 2},
	        {dragonfly_text, "keep-whole:group", dragonfly_group, 16},
	        {torus_text, "keep-whole:plane", torus_plane, 16},
	        {torus_text, "keep-whole:2x2x2", torus_box, 8},
	        {KEEP_TREE, "keep-whole:1", by_four, 4},
	        {KEEP_GRAPH, "keep-whole:router", by_four, 4},
	};

	for (int k = 0; k < 240; k++) {
		int unit_of[MAX_NODES], per[MAX_NODES] = {0}, broken;
		int r = k % 6, whole = 0, rest = 0, fill;
		struct setting s;
		struct cpl_decision d;

		set_up(&s, row[r].network, 5 + k % 11, 1, row[r].policy,
		       (uint64_t)k + 1);
		for (int i = 0; i < s.net->n_nodes; i++) {
			unit_of[i] = row[r].unit(i);
			s.free_node[i] |= unit_of[i] % 4 != 1;
			per[unit_of[i]] += s.free_node[i];
		}
		for (int u = 0; u < MAX_NODES; u++)
			if (per[u] == row[r].size)
				whole++;
			else
				rest += per[u];
		s.req.keep_whole = strchr(row[r].policy, ':') + 1;
		decide(&s, &d);
		check_nodes(&s, &d);
		broken = count_broken(&s, unit_of, d.node);
		fill = s.req.place.n_nodes_wanted / row[r].size;
		fill = fill < whole ? fill : whole;
		assert_int_equal(broken, s.req.place.n_nodes_wanted -
		                                         fill * row[r].size >
		                                 rest);
		assert_int_equal(d.candidate[0].broken, broken);
		cpl_decision_free(&d);
		/* Without a signature it is told, too. */
		s.req.comm = NULL;
		decide(&s, &d);
		assert_int_equal(d.candidate[0].broken, broken);
		cpl_decision_free(&d);
		tear_down(&s);
	}
}

static void test_units_that_there_are_not(void **state)
{
	struct setting s;
	struct cpl_decision d;
	struct cpl_error err = {""};

	set_up(&s, dragonfly_text, 4, 2, "auto", 1);
	s.req.keep_whole = "board";
	assert_int_equal(cpl_decide(&s.req, &d, &err), -1);
	assert_non_null(strstr(err.text, "units to be kept whole: this network "
	                                 "has no units 'board'; it has router"));
	tear_down(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_auto_takes_the_best),
	        cmocka_unit_test(test_candidates_of_auto),
	        cmocka_unit_test(test_same_request_same_decision),
	        cmocka_unit_test(test_a_team_decides_the_same),
	        cmocka_unit_test(test_traffic_is_never_worse_than_auto),
	        cmocka_unit_test(test_evaluation_is_that_of_the_traffic_model),
	        cmocka_unit_test(test_few_flows_cost_little),
	        cmocka_unit_test(test_searches_end_by_their_work),
	        cmocka_unit_test(test_background_is_avoided),
	        cmocka_unit_test(test_without_signature),
	        cmocka_unit_test(test_budget),
	        cmocka_unit_test(test_work),
	        cmocka_unit_test(test_refused),
	        cmocka_unit_test(test_objective),
	        cmocka_unit_test(test_objectives_of_others),
	        cmocka_unit_test(test_objectives_of_others_need_phases),
	        cmocka_unit_test(test_units_are_kept_whole),
	        cmocka_unit_test(test_keep_whole_breaks_one_at_most),
	        cmocka_unit_test(test_units_that_there_are_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
