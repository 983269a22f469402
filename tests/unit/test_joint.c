/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Node sets judged with their rank order: joint_jobs.h's 72 draws, budgets that
 * run out, and what a decision says of its order. */
#include <math.h>

#include "unit.h"

#include "campaign/jobs.h"
#include "graph/partition.h"
#include "joint_jobs.h"
#include "mapping/mappers.h"
#include "mapping/mapping_internal.h"
#include "mapping/quick.h"
#include "placement/decide.h"
#include "traffic/workload.h"

#define NODES 16
#define PER_NODE 8
#define MAX_NODES 64
#define MAX_RANKS (NODES * PER_NODE)

/* One draw. */
struct draw {
	struct cpl_network *net;
	unsigned char is_free[MAX_NODES];
	struct cpl_comm *comm;
	struct cpl_decide_request req;
};

static void set_up(struct draw *d, int pattern, uint64_t seed, const char *policy,
                   const struct cpl_mapper *mapper)
{
	struct cpl_error err = {""};

	memset(d, 0, sizeof(*d));
	d->net = cpl_network_parse(JOINT_NETWORK, strlen(JOINT_NETWORK), "d64",
	                           &err);
	if (!d->net)
		fail_msg("%s", err.text);
	d->comm = joint_comm(pattern, MAX_RANKS, seed);
	assert_non_null(d->comm);
	joint_free(d->net, MAX_NODES * 5 / 8, seed, d->is_free);
	d->req = (struct cpl_decide_request){
	        .place = {.net = d->net,
	                  .free = d->is_free,
	                  .n_nodes_wanted = NODES,
	                  .seed = 1},
	        .wish.policy = cpl_placement_find(NULL, policy, NULL),
	        .routing = cpl_routing_find(d->net, NULL, &err),
	        .wish.mapper = mapper,
	        .comm = d->comm,
	        .ranks_per_node = PER_NODE,
	};
}

static void tear_down(struct draw *d)
{
	cpl_comm_free(d->comm);
	cpl_network_free(d->net);
}

/* What the mapper makes of the job on these nodes. */
static double mapped_max(const struct draw *d, const struct cpl_mapper *mapper,
                         const int *node)
{
	struct cpl_error err = {""};
	int slots[NODES];
	struct cpl_map_request map = {.net = d->net,
	                              .routing = d->req.routing,
	                              .comm = d->comm,
	                              .n_hosts = NODES,
	                              .host = node,
	                              .slots = slots,
	                              .seed = 1};
	struct cpl_map_result r;
	double max;

	for (int i = 0; i < NODES; i++)
		slots[i] = PER_NODE;
	if (cpl_map(mapper, &map, &r, &err))
		fail_msg("%s", err.text);
	max = r.after.max_congestion;
	cpl_map_result_free(&r);
	return max;
}

/* The best of all candidates when each is mapped; *stock: of the stock nodes. */
static double best_mapped(const struct draw *d, const struct cpl_mapper *mapper,
                          double *stock)
{
	const struct cpl_placement_policy *policy;
	double best = INFINITY;
	int node[NODES];

	*stock = INFINITY;
	for (int i = 0; (policy = cpl_placement_at(i)); i++) {
		struct cpl_placement_request place = d->req.place;

		if (!policy->place || policy->flags & CPL_PLACEMENT_CLASS ||
		    !cpl_placement_takes(policy, d->net->type))
			continue;
		for (place.seed = 1; place.seed <= CPL_DECIDE_SEEDS;
		     place.seed++) {
			double max;

			assert_int_equal(policy->place(&place, node, NULL), 0);
			max = mapped_max(d, mapper, node);
			best = fmin(best, max);
			if (policy == &cpl_placement_linear ||
			    policy == &cpl_placement_best_fit)
				*stock = fmin(*stock, max);
		}
	}
	return best;
}

static void decide(struct draw *d, struct cpl_decision *out)
{
	struct cpl_error err = {""};

	if (cpl_decide(&d->req, out, &err))
		fail_msg("%s", err.text);
}

static double chosen_max(const struct cpl_decision *d)
{
	struct cpl_figures f;

	cpl_candidate_figures(&d->candidate[d->chosen], &f);
	return f.metrics.max_congestion;
}

/* The order that the decision tells comes to what it says, by the traffic model
 * rank by rank. */
static void check_order(const struct draw *d, const struct cpl_decision *out)
{
	struct cpl_error err = {""};
	struct cpl_workload *w = cpl_workload_new(d->net, 1, &err);
	struct cpl_metrics metrics;
	struct cpl_job job = {.routing = d->req.routing,
	                      .comm = d->comm,
	                      .node = out->node,
	                      .rank_host = out->rank_host,
	                      .ranks_per_node = PER_NODE};
	int on[NODES] = {0};

	assert_true(out->mapped);
	assert_int_equal(cpl_workload_evaluate(w, &job, NULL, &metrics, NULL,
	                                       &err),
	                 0);
	assert_true(fabs(metrics.max_congestion - chosen_max(out)) <=
	            1e-9 * chosen_max(out));
	for (int i = 0; i < NODES; i++) {
		assert_true(d->is_free[out->node[i]]);
		for (int k = 0; k < i; k++)
			assert_int_not_equal(out->node[k], out->node[i]);
	}
	for (int r = 0; out->rank_host && r < MAX_RANKS; r++)
		on[out->rank_host[r]]++;
	for (int i = 0; out->rank_host && i < NODES; i++)
		assert_int_equal(on[i], PER_NODE);
	/* Hosts are in the order of their lowest ranks. */
	for (int r = 0, seen = 0; out->rank_host && r < MAX_RANKS; r++) {
		assert_true(out->rank_host[r] <= seen);
		seen += out->rank_host[r] == seen;
	}
	cpl_workload_free(w);
}

/* The mapping that sites have had: greedyallc as in its paper. */
static const struct cpl_mapper had = {
        .name = "greedyallc",
        .map = cpl_map_greedyallc,
};

/* Fault: candidates were judged in blocks and mapped afterwards. */
static void test_draws(void **state)
{
	static const struct cpl_mapper *const mapper[] = {
	        &cpl_mapper_quick, &cpl_mapper_greedyallc};

	for (int m = 0; m < 2; m++)
		for (int i = 0; i < JOINT_PATTERNS * JOINT_DRAWS; i++) {
			struct cpl_decision out;
			double best, stock;
			struct draw d;

			set_up(&d, i / JOINT_DRAWS,
			       (uint64_t)(i % JOINT_DRAWS), "auto", mapper[m]);
			/* The stock nodes with that, and with the one asked
			 * for. */
			best = best_mapped(&d, &had, &stock);
			decide(&d, &out);
			check_order(&d, &out);
			if (chosen_max(&out) > stock * (1 + 1e-9))
				fail_msg("%s, draw %d: %g, stock %g",
				         joint_pattern[i / JOINT_DRAWS],
				         i % JOINT_DRAWS, chosen_max(&out),
				         stock);
			if (chosen_max(&out) > 1.1 * best)
				fail_msg("%s, draw %d: %g, best %g",
				         joint_pattern[i / JOINT_DRAWS],
				         i % JOINT_DRAWS, chosen_max(&out),
				         best);
			cpl_decision_free(&out);
			tear_down(&d);
		}
}

/* The default mapper's own result on the stock nodes is never beaten by it. */
static void test_baseline_is_a_candidate(void **state)
{
	for (int pattern = 0; pattern < JOINT_PATTERNS; pattern++) {
		struct cpl_decision out;
		int stock[NODES];
		struct draw d;

		set_up(&d, pattern, 5, "auto", &cpl_mapper_quick);
		for (int i = MAX_NODES - 1, n = 0; n < NODES; i--)
			if (d.is_free[i])
				stock[n++] = i;
		d.req.stock = stock;
		decide(&d, &out);
		assert_true(chosen_max(&out) <=
		            mapped_max(&d, &cpl_mapper_quick, stock) *
		                    (1 + 1e-9));
		assert_ptr_equal(out.candidate[out.n_candidates - 1].policy,
		                 &cpl_placement_stock);
		assert_true(out.candidate[out.n_candidates - 1].is_mapped);
		cpl_decision_free(&out);
		tear_down(&d);
	}
}

/* "traffic" goes on from the best of "auto". */
static void test_search_is_never_worse(void **state)
{
	for (int pattern = 0; pattern < JOINT_PATTERNS; pattern++) {
		struct cpl_decision a, t;
		struct draw d;

		set_up(&d, pattern, 3, "auto", &cpl_mapper_quick);
		decide(&d, &a);
		d.req.wish.policy = &cpl_placement_traffic;
		decide(&d, &t);
		check_order(&d, &t);
		assert_true(chosen_max(&t) <= chosen_max(&a) * (1 + 1e-9));
		cpl_decision_free(&a);
		cpl_decision_free(&t);
		tear_down(&d);
	}
}

/* "best" would search for as long as it is let, for each candidate: another
 * stands in, and the ranks have yet to be laid out. */
static void test_search_without_end(void **state)
{
	for (int pattern = 0; pattern < JOINT_PATTERNS; pattern++) {
		struct cpl_decision quick, best;
		struct draw d;

		set_up(&d, pattern, 3, "auto", &cpl_mapper_quick);
		decide(&d, &quick);
		d.req.wish.mapper = &cpl_mapper_best;
		decide(&d, &best);
		assert_true(quick.mapped);
		assert_false(best.mapped);
		assert_null(best.rank_host);
		assert_int_equal(best.chosen, quick.chosen);
		for (int i = 0; i < best.n_candidates; i++)
			assert_memory_equal(
			        &best.candidate[i].mapped.metrics,
			        &quick.candidate[i].mapped.metrics,
			        sizeof(best.candidate[i].mapped.metrics));
		cpl_decision_free(&best);
		cpl_decision_free(&quick);
		tear_down(&d);
	}
}

/* A site's "default" and users who keep their order: judged as they run. */
static void test_blocks(void **state)
{
	static const struct cpl_mapper *const mapper[] = {NULL,
	                                                  &cpl_mapper_linear};

	for (int m = 0; m < 2; m++) {
		struct cpl_decision out;
		struct draw d;

		set_up(&d, 1, 2, "auto", mapper[m]);
		decide(&d, &out);
		assert_false(out.mapped);
		assert_null(out.rank_host);
		for (int i = 0; i < out.n_candidates; i++) {
			const struct cpl_candidate *c = &out.candidate[i];

			assert_true(c->evaluated);
			assert_false(c->is_mapped);
			assert_true(c->metrics.max_congestion >=
			            chosen_max(&out) * (1 - 1e-9));
		}
		cpl_decision_free(&out);
		tear_down(&d);
	}
}

/* The most that a group sends and gets. */
static double loudest(const struct cpl_comm *graph, const int *of, int n)
{
	double bytes[64] = {0}, most = 0;

	for (int r = 0; r < graph->ranks; r++)
		for (int64_t e = graph->row[r]; e < graph->row[r + 1]; e++)
			if (of[r] != of[graph->to[e]])
				bytes[of[r]] += graph->bytes[e];
	for (int i = 0; i < n; i++)
		most = fmax(most, bytes[i]);
	return most;
}

/* Fault: of a stencil's ranks all pull alike, so that groups grew as lines and
 * were no better than blocks; and what was left over made the loudest groups. */
static void test_groups_of_stencils(void **state)
{
	enum { N = 64, EACH = 16 };
	static const struct {
		const char *pattern;
		double cut, loudest; /* at the most, of that of blocks */
	} table[] = {
	        {"stencil-2d", 0.48, 0.48},
	        {"stencil-3d", 0.63, 0.63},
	        {"stencil-4d", 0.81, 0.81},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		const struct cpl_jobs_pattern *pattern =
		        cpl_jobs_pattern_find(table[i].pattern, NULL);
		struct cpl_comm *comm =
		        cpl_jobs_pattern_comm(pattern, N * EACH, NULL);
		struct cpl_comm *graph = cpl_comm_symmetric(comm, NULL);
		struct cpl_rank_groups groups;
		int size[N], block[N * EACH], on[N] = {0};

		for (int k = 0; k < N; k++)
			size[k] = EACH;
		cpl_rank_groups_list_blocks(size, N, N * EACH, block);
		assert_int_equal(cpl_rank_groups_grow(&groups, NULL, comm, graph,
		                                      size, N, NULL),
		                 1);
		for (int r = 0; r < N * EACH; r++)
			on[groups.of[r]]++;
		assert_memory_equal(on, size, sizeof(on));
		assert_true(cpl_graph_cut(graph, groups.of) <=
		            table[i].cut * cpl_graph_cut(graph, block));
		assert_true(loudest(graph, groups.of, N) <=
		            table[i].loudest * loudest(graph, block, N));
		cpl_rank_groups_free(&groups);
		cpl_comm_free(graph);
		cpl_comm_free(comm);
	}
}

/* What others send: some links of all kinds, up to all of their bandwidth. */
static void draw_rates(const struct cpl_network *net, uint64_t seed,
                       struct cpl_load *rates)
{
	struct cpl_error err = {""};

	assert_int_equal(cpl_load_init(rates, net, &err), 0);
	for (int64_t l = 0; l < net->n_links; l++)
		if (cpl_random_below(seed, JOINT_BESIDE, (uint64_t)l, 2))
			rates->link[l] =
			        cpl_network_link_bandwidth(net, l) *
			        (double)cpl_random_below(seed, JOINT_BESIDE + 1,
			                                 (uint64_t)l, 100) /
			        100;
	for (int i = 0; i < net->n_nodes; i++) {
		rates->injection[i] = 1e9 * (i % 3);
		rates->ejection[i] = 1e9 * (i % 5);
	}
}

/* What times.h has as the least that the busiest link takes. */
static double busiest(const struct draw *d, const struct cpl_decision *out)
{
	struct cpl_error err = {""};
	struct cpl_phase phase = {.weight = 1, .comm = d->comm};
	struct cpl_times_space *space =
	        cpl_times_space_new(d->net, d->req.routing, &err);
	struct cpl_times *times = cpl_times_open(&phase, 1, MAX_RANKS, &err);
	struct cpl_times_result result;

	assert_int_equal(cpl_times_order(times, out->rank_host, PER_NODE, NODES,
	                                 &err),
	                 0);
	assert_int_equal(cpl_times_put(times, space, out->node, &err), 0);
	cpl_times_judge(times, d->req.rates, false, &result);
	cpl_times_close(times);
	cpl_times_space_free(space);
	return result.busiest;
}

/* By time: what it is chosen by is the busiest link's time beside others, and
 * linear with its rank order takes no less. */
static void test_time(void **state)
{
	static const char *const policy[] = {"auto", "traffic", "linear"};

	for (int i = 0; i < JOINT_PATTERNS * 3; i++) {
		double seconds[3];
		struct cpl_load rates;
		struct draw d;

		for (int p = 0; p < 3; p++) {
			struct cpl_decision out;
			struct cpl_figures f;

			set_up(&d, i / 3, (uint64_t)i, policy[p],
			       i % 2 ? &cpl_mapper_quick
			             : &cpl_mapper_greedyallc);
			draw_rates(d.net, (uint64_t)i, &rates);
			d.req.rates = &rates;
			d.req.wish.objective = CPL_OBJECTIVE_TIME;
			decide(&d, &out);
			cpl_candidate_figures(&out.candidate[out.chosen], &f);
			seconds[p] = f.metrics.seconds;
			if (fabs(busiest(&d, &out) - seconds[p]) >
			    1e-9 * seconds[p])
				fail_msg("%s, %d: %g, by times.h %g", policy[p],
				         i, seconds[p], busiest(&d, &out));
			cpl_decision_free(&out);
			cpl_load_free(&rates);
			tear_down(&d);
		}
		assert_true(seconds[0] <= seconds[2] * (1 + 1e-9));
		assert_true(seconds[1] <= seconds[0] * (1 + 1e-9));
		/* Only sub-communicators fit in the hosts as a whole. */
		assert_true(seconds[1] > 0 || i / 3 == 1);
	}
}

static bool after_n_looks(void *arg)
{
	return --*(int *)arg < 0;
}

/* An answer in full, to be compared. */
struct answer {
	int node[NODES], rank_host[MAX_RANKS];
	bool mapped;
};

static void answer_of(const struct cpl_decision *out, struct answer *a)
{
	memset(a, 0, sizeof(*a));
	a->mapped = out->mapped;
	memcpy(a->node, out->node, sizeof(a->node));
	if (out->rank_host)
		memcpy(a->rank_host, out->rank_host, sizeof(a->rank_host));
}

/*
 * A budget that ends at any moment gives one of few answers, and those only in
 * their order: a longer budget never goes back. Fault: as many answers as
 * moments.
 */
static void test_few_answers(void **state)
{
	/* linear, before mapping, with its order, three points, the end. */
	enum { POINTS = 4 + CPL_HOST_SEARCH_POINTS };
	struct answer seen[POINTS + 1];
	struct draw d;
	int n = 0, looks = 0, left;
	bool cut = true;

	set_up(&d, 4, 7, "traffic", &cpl_mapper_quick);
	d.req.expired = after_n_looks;
	d.req.expired_arg = &left;
	for (; cut; looks += looks < 200 ? 1 : 23) {
		struct cpl_decision out;
		struct answer now;

		left = looks;
		decide(&d, &out);
		cut = out.cut_short;
		answer_of(&out, &now);
		if (!n || memcmp(&seen[n - 1], &now, sizeof(now)))
			seen[n++] = now;
		assert_true(n <= POINTS);
		cpl_decision_free(&out);
		/* The same budget, the same answer. */
		left = looks;
		decide(&d, &out);
		answer_of(&out, &now);
		assert_memory_equal(&seen[n - 1], &now, sizeof(now));
		cpl_decision_free(&out);
	}
	/* Each once: it does not go back. */
	for (int i = 0; i < n; i++)
		for (int k = 0; k < i; k++)
			assert_true(memcmp(&seen[i], &seen[k],
			                   sizeof(seen[i])));
	assert_in_range(n, 3, POINTS);
	assert_true(looks > 100);
	tear_down(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_draws),
	        cmocka_unit_test(test_baseline_is_a_candidate),
	        cmocka_unit_test(test_search_is_never_worse),
	        cmocka_unit_test(test_search_without_end),
	        cmocka_unit_test(test_blocks),
	        cmocka_unit_test(test_groups_of_stencils),
	        cmocka_unit_test(test_time),
	        cmocka_unit_test(test_few_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
