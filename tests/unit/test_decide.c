/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>

#include "unit.h"

#include "add_traffic.h"
#include "decide_setting.h"
#include "mapping/quick.h"

static bool beats(const struct cpl_decide_request *req,
                  const struct cpl_candidate *a, const struct cpl_candidate *b)
{
	return cpl_objective_better(req->wish.objective, &a->metrics,
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
		s.req.wish.objective = (enum cpl_objective)(seed % 3);
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
		s.req.wish.mapper = cpl_mapper_find(mapper[i / 4 % 3], &err);
		assert_non_null(s.req.wish.mapper);
		phase.comm = s.comm;
		if (i / 12 == CUT) {
			s.req.expired = after_n_looks;
			s.req.expired_arg = &left;
		} else if (i / 12 == PHASES) {
			s.req.phase = &phase;
			s.req.n_phases = 1;
			s.req.wish.objective = CPL_OBJECTIVE_TIME;
		} else if (i / 12 == UNITS) {
			assert_int_equal(
			        cpl_wish_units(&s.req.wish, s.net,
			                       i % 4 < 2 ? "router" : "plane",
			                       NULL),
			        0);
			s.req.wish.keep_price = 50;
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
		s.req.wish.objective = (enum cpl_objective)(seed / 2 % 3);
		for (int i = s.net->n_nodes - 1; required[1] < 0; i--)
			if (s.free_node[i])
				required[required[0] >= 0] = i;
		s.req.place.required = required;
		s.req.place.n_required = 2;
		decide(&s, &d);
		check_nodes(&s, &d);
		check_metrics(&s, d.node, &d.candidate[d.chosen]);
		s.req.wish.policy = &cpl_placement_auto;
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
		        .wish.policy = &cpl_placement_traffic,
		        .routing = cpl_routing_find(net, NULL, NULL),
		        .comm = comm,
		        .ranks_per_node = 4,
		        .wish.mapper = mapper[i % 2],
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
	s.req.wish.mapper = &cpl_mapper_quick;
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

/* When the clock ends such a search after all, the nodes that it began with are
 * still better. */
static void check_clock(struct setting *s)
{
	struct cpl_decision d;
	int left = 1 << 30;

	s->req.expired = after_n_looks;
	s->req.expired_arg = &left;
	decide(s, &d);
	cpl_decision_free(&d);
	left = (1 << 30) - left - 1;
	decide(s, &d);
	assert_true(d.cut_short);
	assert_ptr_not_equal(d.candidate[d.chosen].policy,
	                     &cpl_placement_stock);
	cpl_decision_free(&d);
	s->req.expired = NULL;
}

/* Too little to map the stock nodes and others is for a search from the best in
 * blocks, which is no worse than the stock nodes; and what lies all over the machine
 * is judged before others. */
static void check_little_work(const char *network)
{
	struct cpl_decision d;
	struct setting s;
	int stock[16], k = 0, searched = 0, before = 0;

	set_up(&s, network, 16, 4, "traffic", 3);
	for (int i = s.net->n_nodes - 1; k < 16; i--)
		if (s.free_node[i])
			stock[k++] = i;
	s.req.stock = stock;
	s.req.wish.mapper = &cpl_mapper_quick;
	for (s.req.work = 1000; s.req.work < 200000; s.req.work += 1000) {
		const struct cpl_candidate *c;
		bool drawn = false, others = false;

		decide(&s, &d);
		c = d.candidate;
		for (int i = 1; i < d.n_candidates - 2; i++)
			if (c[i].policy == &cpl_placement_random_nodes)
				drawn |= c[i].evaluated;
			else if (c[i].policy !=
			         &cpl_placement_round_robin_nodes)
				others |= c[i].evaluated;
		assert_true(drawn || !others);
		before += drawn && !others;
		if (c[d.n_candidates - 1].evaluated &&
		    !c[d.n_candidates - 2].is_mapped) {
			assert_true(d.cut_short);
			assert_true(busiest(&d) <=
			            c[d.n_candidates - 2].metrics.max_congestion);
			searched++;
			check_clock(&s);
		}
		cpl_decision_free(&d);
	}
	assert_true(searched > 0);
	assert_true(before > 0);
	tear_down(&s);
}

static void test_little_work(void **state)
{
	(void)state;
	check_little_work(dragonfly_text);
	check_little_work(torus_text);
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
	        cmocka_unit_test(test_little_work),
	        cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
