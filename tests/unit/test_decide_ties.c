/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which of candidates is taken: none that is worse than the scheduler's own
 * nodes by what `commplace traffic` tells of both, and of equals the one that
 * is best by the next figure. Machines are busy, so that many are equals.
 */
#include <math.h>

#include "unit.h"

#include "base/random.h"
#include "mapping/quick.h"
#include "placement/decide.h"
#include "traffic/workload.h"

#define NODES 64
#define PER_NODE 2
#define DRAWS 160
#define SAME 1e-9

static const char *const network[] = {
        "{\"format\":\"commplace-network\",\"version\":1,\"name\":\"df\","
        "\"type\":\"dragonfly\",\"groups\":4,\"rows\":2,\"columns\":4,"
        "\"nodes_per_router\":2,\"global_links_per_group_pair\":2,"
        "\"bandwidth\":{\"row\":5e9,\"column\":15e9,\"global\":4e9,"
        "\"injection\":6e9},\"nodes\":\"n[0-63]\"}",
        "{\"format\":\"commplace-network\",\"version\":1,\"name\":\"t\","
        "\"type\":\"torus\",\"dims\":[4,4,4],\"wrap\":[true,true,true],"
        "\"nodes_per_router\":1,\"bandwidth\":{\"dim\":[2e9,2e9,2e9],"
        "\"injection\":3e9},\"nodes\":\"n[0-63]\"}"};

struct setting {
	struct cpl_network *net;
	struct cpl_phase phase[2];
	struct cpl_comm *comm;
	struct cpl_load background, rates;
	unsigned char is_free[NODES];
	int stock[NODES];
	struct cpl_decide_request req;
};

/* A ring along or across the ranks, and both together. */
static struct cpl_comm *traffic(int ranks, int stride, int rings)
{
	struct cpl_comm_entry *entry =
	        malloc((size_t)ranks * 2 * sizeof(*entry));
	struct cpl_comm *comm;
	int64_t n = 0;

	for (int r = 0; r < ranks; r++) {
		if (rings & 1)
			entry[n++] = (struct cpl_comm_entry){r, (r + 1) % ranks,
			                                     3e9, 100};
		if (rings & 2)
			entry[n++] = (struct cpl_comm_entry){
			        r, (r + stride) % ranks, 2e9, 100};
	}
	comm = cpl_comm_build(ranks, entry, n, NULL);
	free(entry);
	return comm;
}

/* Others fill the links of some nodes' routers. */
static void add_others(struct setting *s, uint64_t seed)
{
	int from = (int)cpl_random_below(seed, 3, 0, 8);

	assert_int_equal(cpl_load_init(&s->background, s->net, NULL), 0);
	assert_int_equal(cpl_load_init(&s->rates, s->net, NULL), 0);
	for (int64_t l = from; l < s->net->n_links; l += 8) {
		s->background.link[l] = 4e10;
		s->rates.link[l] = 1e9;
	}
	s->req.background = &s->background;
	s->req.rates = &s->rates;
}

static void set_up(struct setting *s, uint64_t seed, const char *policy,
                   enum cpl_objective objective)
{
	int nodes = 4 + (int)cpl_random_below(seed, 0, 0, 12), n = 0;
	int ranks = nodes * PER_NODE, stride = 3 + (int)(seed % 5);

	memset(s, 0, sizeof(*s));
	s->net = cpl_network_parse(network[seed % 2], strlen(network[seed % 2]),
	                           "test", NULL);
	for (int i = 0; i < NODES; i++)
		s->is_free[i] = cpl_random_below(seed, 1, (uint64_t)i, 3) > 0;
	/* Last first. */
	for (int i = NODES - 1; n < nodes; i--)
		if (s->is_free[i])
			s->stock[n++] = i;
	s->comm = traffic(ranks, stride, 3);
	for (int k = 0; k < 2; k++)
		s->phase[k] = (struct cpl_phase){
		        .weight = 1, .comm = traffic(ranks, stride, 1 + k)};
	s->req = (struct cpl_decide_request){
	        .place = {.net = s->net,
	                  .free = s->is_free,
	                  .n_nodes_wanted = nodes,
	                  .seed = seed},
	        .wish.policy = cpl_placement_find(NULL, policy, NULL),
	        .routing = cpl_routing_find(s->net, NULL, NULL),
	        .comm = s->comm,
	        .ranks_per_node = PER_NODE,
	        .wish.mapper = seed / 2 % 2 ? &cpl_mapper_quick : NULL,
	        .stock = s->stock,
	        .phase = s->phase,
	        .n_phases = 2,
	        .wish.objective = objective,
	};
	if (seed % 3)
		add_others(s, seed);
}

static void tear_down(struct setting *s)
{
	for (int k = 0; k < 2; k++)
		cpl_comm_free(s->phase[k].comm);
	cpl_comm_free(s->comm);
	if (s->req.background) {
		cpl_load_free(&s->background);
		cpl_load_free(&s->rates);
	}
	cpl_network_free(s->net);
}

static void decide(const struct setting *s, struct cpl_decision *out)
{
	struct cpl_error err = {""};

	if (cpl_decide(&s->req, out, &err))
		fail_msg("%s", err.text);
}

/* The figures in their order. */
#define FIGURES 4

static void figures(const struct setting *s, const struct cpl_decision *d,
                    const struct cpl_candidate *c, double out[FIGURES])
{
	struct cpl_figures f;

	cpl_candidate_figures(c, &f);
	out[0] = cpl_candidate_objective(&s->req, d, c, &f);
	out[1] = c->times.seconds;
	out[2] = f.metrics.mean_congestion;
	out[3] = c->policy != &cpl_placement_stock;
}

/* How far two agree: FIGURES, all the way. */
static int check_order(const double chosen[FIGURES],
                       const double other[FIGURES])
{
	for (int k = 0; k < FIGURES; k++) {
		double most = fmax(chosen[k], other[k]);

		if (fabs(chosen[k] - other[k]) <= SAME * most)
			continue;
		assert_true(chosen[k] < other[k]);
		return k;
	}
	return FIGURES;
}

static void test_ties(void **state)
{
	static const enum cpl_objective objective[] = {
	        CPL_OBJECTIVE_MAX, CPL_OBJECTIVE_MEAN, CPL_OBJECTIVE_HOP_BYTES,
	        CPL_OBJECTIVE_BUSIEST, CPL_OBJECTIVE_TIME};
	int agreed[FIGURES + 1] = {0};

	for (uint64_t seed = 1; seed <= DRAWS; seed++) {
		for (int k = 0; k < 5; k++) {
			double chosen[FIGURES], other[FIGURES];
			struct setting s;
			struct cpl_decision d;

			set_up(&s, seed, seed % 5 ? "auto" : "traffic",
			       objective[k]);
			decide(&s, &d);
			figures(&s, &d, &d.candidate[d.chosen], chosen);
			for (int i = 0; i < d.n_candidates; i++) {
				const struct cpl_candidate *c = &d.candidate[i];

				if (i == d.chosen ||
				    (s.req.wish.mapper && !c->is_mapped))
					continue;
				figures(&s, &d, c, other);
				agreed[check_order(chosen, other)]++;
			}
			cpl_decision_free(&d);
			tear_down(&s);
		}
	}
	for (int k = 0; k < FIGURES; k++)
		assert_true(agreed[k] > 0);
}

/* What `traffic` tells of ranks there. */
static double communication(const struct setting *s, const int *node,
                            const int *rank_host)
{
	int ranks = s->comm->ranks, *of = malloc((size_t)ranks * sizeof(*of));
	struct cpl_times_space *space =
	        cpl_times_space_new(s->net, s->req.routing, NULL);
	struct cpl_times *times = cpl_times_open(s->phase, 2, ranks, NULL);
	struct cpl_times_result out;

	for (int r = 0; r < ranks; r++)
		of[r] = node[rank_host ? rank_host[r] : r / PER_NODE];
	assert_int_equal(cpl_times_order(times, NULL, 1, ranks, NULL), 0);
	assert_int_equal(cpl_times_put(times, space, of, NULL), 0);
	cpl_times_judge(times, s->req.rates, false, &out);
	cpl_times_close(times);
	cpl_times_space_free(space);
	free(of);
	return out.seconds;
}

static double stock_communication(const struct setting *s)
{
	int n = s->req.place.n_nodes_wanted, slots[NODES];
	struct cpl_map_request map = {.net = s->net,
	                              .routing = s->req.routing,
	                              .comm = s->comm,
	                              .n_hosts = n,
	                              .host = s->stock,
	                              .slots = slots,
	                              .background = s->req.background,
	                              .rates = s->req.rates,
	                              .objective = s->req.wish.objective,
	                              .seed = s->req.place.seed};
	struct cpl_map_result r;
	double seconds;

	if (!s->req.wish.mapper)
		return communication(s, s->stock, NULL);
	for (int i = 0; i < n; i++)
		slots[i] = PER_NODE;
	assert_int_equal(cpl_map(&cpl_mapper_quick, &map, &r, NULL), 0);
	seconds = communication(s, s->stock, r.rank_host);
	cpl_map_result_free(&r);
	return seconds;
}

/* By "time" no job communicates longer than on the scheduler's own nodes, phase
 * by phase, and what was told of it is so. */
static void test_time_is_communication(void **state)
{
	int better = 0;

	for (uint64_t seed = 1; seed <= 3 * DRAWS; seed++) {
		struct setting s;
		struct cpl_decision d;
		double told, now, stock;

		set_up(&s, seed, seed % 5 ? "auto" : "traffic",
		       CPL_OBJECTIVE_TIME);
		decide(&s, &d);
		told = d.candidate[d.chosen].times.seconds;
		now = communication(&s, d.node, d.rank_host);
		stock = stock_communication(&s);
		assert_true(fabs(now - told) <= SAME * now);
		assert_true(now <= stock * (1 + SAME));
		better += now < stock * 0.9;
		cpl_decision_free(&d);
		tear_down(&s);
	}
	assert_true(better > DRAWS);
}

/* What `traffic` tells of the links, by the routing that the network states. */
static struct cpl_metrics links(const struct setting *s, const int *node,
                                const int *rank_host)
{
	struct cpl_workload *w = cpl_workload_new(s->net, 1, NULL);
	struct cpl_job job = {.routing = s->req.stated,
	                      .comm = s->comm,
	                      .node = node,
	                      .rank_host = rank_host,
	                      .ranks_per_node = PER_NODE};
	struct cpl_metrics m;

	assert_int_equal(cpl_workload_evaluate(w, &job, s->req.background, &m,
	                                       NULL, NULL),
	                 0);
	cpl_workload_free(w);
	return m;
}

/* The scheduler's own nodes as they are judged. */
static struct cpl_metrics stock_links(const struct setting *s)
{
	struct cpl_decide_request stock = s->req;
	struct cpl_decision d;
	struct cpl_metrics m;

	assert_int_equal(cpl_decide_given(&stock, s->stock, &d, NULL), 0);
	m = links(s, d.node, d.rank_host);
	cpl_decision_free(&d);
	return m;
}

/* Decisions go by minimal paths; by the adaptive routing that the network
 * states, no job has a busier link than on the scheduler's own nodes, and the
 * figures are those of that routing. */
static void test_adaptive_routings(void **state)
{
	static const char *const routing[] = {
	        "adaptive-direct", "adaptive-hybrid", "adaptive-indirect"};
	int better = 0, kept = 0;

	for (uint64_t seed = 2; seed <= 4 * DRAWS; seed += 2) {
		struct setting s;
		struct cpl_decision d;
		const struct cpl_candidate *c;
		double now, stock;

		set_up(&s, seed, seed % 5 ? "auto" : "traffic",
		       CPL_OBJECTIVE_MAX);
		s.req.stated =
		        cpl_routing_find(s.net, routing[seed / 2 % 3], NULL);
		decide(&s, &d);
		c = &d.candidate[d.chosen];
		assert_true(c->is_stated);
		now = links(&s, d.node, d.rank_host).max_congestion;
		stock = stock_links(&s).max_congestion;
		assert_true(fabs(now - c->stated.metrics.max_congestion) <=
		            SAME * now);
		assert_true(now <= stock * (1 + SAME));
		better += now < stock * 0.9;
		kept += c->policy == &cpl_placement_stock;
		cpl_decision_free(&d);
		tear_down(&s);
	}
	print_message("%d much better, %d kept\n", better, kept);
	assert_true(better > DRAWS / 4);
	assert_true(kept > 0);
}

static bool after_n_looks(void *arg)
{
	int *left = arg;

	return (*left)-- <= 0;
}

/* A budget that ends leaves the scheduler's own nodes where they had no rank
 * order yet; later nothing that is worse than they with it. */
static void test_budget_beside_stock(void **state)
{
	int others = 0, kept = 0;

	for (int looks = 0; looks < 400; looks += 3) {
		struct setting s;
		struct cpl_decision d;
		const struct cpl_candidate *stock;
		struct cpl_figures f;
		int left = looks;

		set_up(&s, looks % 2 ? 6 : 7, "auto", CPL_OBJECTIVE_MAX);
		s.req.expired = after_n_looks;
		s.req.expired_arg = &left;
		decide(&s, &d);
		stock = &d.candidate[d.n_candidates - 1];
		cpl_candidate_figures(&d.candidate[d.chosen], &f);
		if (!stock->is_mapped)
			assert_ptr_equal(&d.candidate[d.chosen], stock);
		else
			assert_true(f.metrics.max_congestion <=
			            stock->mapped.metrics.max_congestion *
			                    (1 + SAME));
		kept += d.cut_short && !stock->is_mapped;
		others += &d.candidate[d.chosen] != stock;
		cpl_decision_free(&d);
		tear_down(&s);
	}
	assert_true(kept > 0 && others > 0);
}

/* A policy by name is taken as asked; beside the scheduler's own nodes, as for
 * the other elements of a job array, where it is no worse than these. */
static void test_named_policy_beside_stock(void **state)
{
	int kept = 0;

	for (uint64_t seed = 1; seed <= DRAWS; seed++) {
		struct setting s;
		struct cpl_decision d;
		struct cpl_figures now, stock;

		set_up(&s, seed, "random-nodes", CPL_OBJECTIVE_MAX);
		decide(&s, &d);
		assert_int_equal(d.n_candidates, 2);
		cpl_candidate_figures(&d.candidate[d.chosen], &now);
		cpl_candidate_figures(&d.candidate[1], &stock);
		assert_true(now.metrics.max_congestion <=
		            stock.metrics.max_congestion * (1 + SAME));
		kept += d.chosen;
		cpl_decision_free(&d);
		s.req.stock = NULL;
		decide(&s, &d);
		assert_int_equal(d.n_candidates, 1);
		cpl_decision_free(&d);
		tear_down(&s);
	}
	assert_in_range(kept, 1, DRAWS - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_ties),
	        cmocka_unit_test(test_time_is_communication),
	        cmocka_unit_test(test_adaptive_routings),
	        cmocka_unit_test(test_budget_beside_stock),
	        cmocka_unit_test(test_named_policy_beside_stock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
