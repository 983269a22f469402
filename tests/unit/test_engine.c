/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The engine without a scheduler: it must answer as the core does, with the jobs
 * that run as background.
 */
#include "engine_fixture.h"

#include <math.h>

#include "signature/signature.h"
#include "mapping/quick.h"

/* What the running jobs send in a second. */
static void rates_of(const struct cpl_state *state,
                     const struct cpl_network *net,
                     const struct cpl_routing *routing, struct cpl_load *rates)
{
	struct cpl_scene scene = {.net = net, .routing = routing};

	assert_int_equal(cpl_load_init_rates(rates, net, NULL), 0);
	assert_int_equal(cpl_state_run(state, &scene, NULL, NULL), 0);
	if (scene.running)
		cpl_load_add(rates, cpl_background_rates(scene.running), net);
	cpl_scene_close(&scene);
}

/* What the running jobs come to for a job of this signature. */
static void background_of(const struct cpl_signature *sig,
                          const struct cpl_state *state,
                          const struct cpl_network *net,
                          const struct cpl_routing *routing,
                          unsigned char *core_free, struct cpl_load *load)
{
	struct cpl_run_times run = cpl_run_times(sig->phase, sig->n_phases);
	struct cpl_load rates;

	assert_int_equal(cpl_load_init(load, net, NULL), 0);
	assert_int_equal(cpl_state_apply(state, net, routing, core_free, load,
	                                 NULL),
	                 0);
	if (!(run.seconds > 0))
		return;
	rates_of(state, net, routing, &rates);
	cpl_load_scale(load, &rates, run.seconds, net);
	cpl_load_free(&rates);
}

/* The numbers of the candidates are those of cpl_decide on the load of the
 * recorded state, to the last bit. */
static void check_profile(const char *profile_name)
{
	struct cpl_engine_request req = request(99, profile_name, "auto", 8);
	struct cpl_error err = {""};
	struct cpl_state state = {0};
	struct cpl_network *net =
	        cpl_network_load(in_dir("network.json"), &err);
	const struct cpl_routing *routing = cpl_routing_find(net, NULL, &err);
	struct cpl_signature *sig = cpl_profile_load(dir, profile_name, &err);
	struct cpl_comm *comm = cpl_signature_total(sig, &err);
	struct cpl_load load;
	struct cpl_decision decision;
	unsigned char core_free[HOSTS];
	struct cpl_load rates;
	int stock[HOSTS], n_stock = 0;

	fake.compared = 0;
	assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
	assert_int_equal(fake.compared, 1);
	assert_true(cpl_engine_idle(engine, WAIT_MS));
	if (access(in_dir("state/running"), F_OK) == 0)
		read_state(&state);
	for (int i = 0; i < HOSTS; i++)
		core_free[i] = fake.cpus[i] > 0;
	background_of(sig, &state, net, routing, core_free, &load);
	for (int i = 0; i < HOSTS; i++)
		assert_int_equal(core_free[i], fake.cpus[i] > 0);
	for (int i = 0; i < HOSTS && n_stock < 8; i++)
		if (core_free[i])
			stock[n_stock++] = i;
	rates_of(&state, net, routing, &rates);
	struct cpl_decide_request core = {
	        .place = {.net = net,
	                  .free = core_free,
	                  .n_nodes_wanted = 8,
	                  .seed = 1},
	        .wish.policy = &cpl_placement_auto,
	        .routing = routing,
	        .comm = comm,
	        .ranks_per_node = 2,
	        .wish.mapper = &cpl_mapper_quick,
	        .stock = stock,
	        .background = &load,
	        .phase = sig->phase,
	        .n_phases = sig->n_phases,
	        .rates = &rates,
	};
	assert_int_equal(cpl_decide(&core, &decision, &err), 0);
	assert_int_equal(record()->n_candidates, decision.n_candidates);
	for (int i = 0; i < decision.n_candidates; i++) {
		const struct cpl_candidate *c = &decision.candidate[i];

		assert_true(record()->candidate[i].max_congestion ==
		            c->metrics.max_congestion);
		assert_true(record()->candidate[i].mean_congestion ==
		            c->metrics.mean_congestion);
		assert_int_equal(record()->candidate[i].mapped, c->is_mapped);
		assert_true(record()->candidate[i].mapped_max ==
		            c->mapped.metrics.max_congestion);
		assert_true(!c->is_mapped || c->times.seconds > 0);
		/* Rates are added up in another order. */
		assert_float_equal(record()->candidate[i].seconds,
		                   c->times.seconds, 1e-9 * c->times.seconds);
		if (c->policy == &cpl_placement_stock) {
			assert_true(record()->stock_mapped_max ==
			            c->mapped.metrics.max_congestion);
			assert_true(record()->stock_seconds ==
			            record()->candidate[i].seconds);
			n_stock = 0;
		}
	}
	assert_int_equal(n_stock, 0);
	for (int i = 0; i < decision.n_nodes; i++)
		assert_int_equal(engine->desk.decided->order[i],
		                 decision.node[i]);
	cpl_load_free(&rates);
	cpl_decision_free(&decision);
	cpl_state_free(&state);
	cpl_load_free(&load);
	cpl_comm_free(comm);
	cpl_signature_free(sig);
	cpl_network_free(net);
	cpl_engine_end(engine, 99);
}

static void check_against_core(void)
{
	check_profile("b16");
	check_profile("t16");
}

static void test_answers_are_the_cores(void **state)
{
	all_free();
	check_against_core();
	start(30, "a8", "random-groups", 4, 8);
	check_against_core();
	start(10, "b16", "random-routers", 8, 16);
	start(20, "a8", "round-robin-routers", 4, 8);
	check_against_core();
	start(40, "t8", "round-robin-routers", 4, 8);
	check_against_core();
}

/* The seconds on record are what the time model says of the layout beside the
 * jobs that ran before. */
static void test_seconds_on_record(void **state)
{
	struct cpl_state before;
	struct cpl_network *net =
	        cpl_network_load(in_dir("network.json"), NULL);
	const struct cpl_routing *routing = cpl_routing_find(net, NULL, NULL);
	struct cpl_signature *sig = cpl_profile_load(dir, "t16", NULL);
	struct cpl_times_space *space = cpl_times_space_new(net, routing, NULL);
	struct cpl_times *times =
	        cpl_times_open(sig->phase, sig->n_phases, sig->ranks, NULL);
	struct cpl_times_result want;
	const struct cpl_record *r;
	struct cpl_load rates;
	int node[8];

	all_free();
	start(30, "a8", "random-groups", 4, 8);
	start(20, "t8", "random-nodes", 4, 8);
	read_state(&before);
	start(50, "t16", "random-nodes", 8, 16);
	r = engine_running_find(&engine->ledger, 50)->record;
	rates_of(&before, net, routing, &rates);
	for (int i = 0; i < 8; i++)
		node[i] = cpl_network_node(net, r->host[i]);
	assert_int_equal(cpl_times_order(times, r->rank_host, 0, 8, NULL), 0);
	assert_int_equal(cpl_times_put(times, space, node, NULL), 0);
	cpl_times_judge(times, &rates, false, &want);
	assert_true(want.alone > 0 && want.seconds > want.alone);
	assert_true(r->seconds == want.seconds);
	assert_true(r->alone_seconds == want.alone);
	assert_true(r->run_seconds == 8);
	assert_true(r->stock_seconds > 0);
	cpl_load_free(&rates);
	cpl_state_free(&before);
	cpl_times_close(times);
	cpl_times_space_free(space);
	cpl_signature_free(sig);
	cpl_network_free(net);
}

/* A job that runs again is background once, where it runs now; one that got
 * other hosts is none. */
static void test_rates_follow_the_jobs(void **state)
{
	const struct cpl_load *bytes, *rates;
	int host[4];

	all_free();
	start(30, "t8", "random-groups", 4, 8);
	check_against_core();
	cpl_engine_end(engine, 30);
	all_free();
	start(30, "t8", "random-routers", 4, 8);
	memcpy(host, fake.host, sizeof(host));
	check_against_core();
	cpl_engine_resized(engine, 30, host, 2);
	for (int i = 2; i < 4; i++)
		fake.cpus[host[i]] = 4;
	check_against_core();
	assert_int_equal(cpl_scene_loads(engine_scene(&engine->ledger, NULL,
	                                              INT64_MAX, NULL),
	                                 0, &bytes, &rates, NULL),
	                 0);
	assert_null(bytes);
	assert_null(rates);
}

/* Ends do not leave rounding behind: the sum is made anew. */
static void test_the_background_forgets_what_ended(void **state)
{
	all_free();
	start(30, "a8", "random-groups", 4, 8);
	start(10, "b16", "random-routers", 8, 16);
	start(20, "a8", "round-robin-routers", 4, 8);
	cpl_engine_end(engine, 10);
	all_free();
	struct cpl_state now;
	read_state(&now);
	assert_int_equal(now.n_jobs, 2);
	assert_int_equal(now.job[0].id, 20);
	for (int j = 0; j < now.n_jobs; j++)
		for (int h = 0; h < now.job[j].n_hosts; h++)
			fake.cpus[atoi(now.job[j].host[h] + 1)] = 0;
	cpl_state_free(&now);
	check_against_core();
}

/* The reload itself makes the loads of running jobs anew: by what is in memory,
 * if for another number of ranks asked for, or by what it has read. The first
 * decision after it has them. */
static void test_a_reload_makes_the_loads_anew(void **state)
{
	static const char *const lines[] = {
	        "KeepRecords=1002",
	        "KeepRecords=1003\nUserProfileDir=/nonexistent/%U",
	        "KeepRecords=1004\nProfileMemory=16",
	        "KeepRecords=1005\nProfileMemory=16",
	};
	struct cpl_engine_request req;

	put("wide.json",
	    "{\"format\": \"commplace-signature\", \"version\": 1, "
	    "\"ranks\": 512, \"phases\": [{\"pattern\": {\"type\": "
	    "\"collective\", \"operation\": \"alltoall\", \"algorithm\": "
	    "\"pairwise\", \"ranks\": 512, \"bytes\": 8}}]}");
	all_free();
	start(30, "t8", "random-groups", 4, 8);
	start(20, "a8", "random-nodes", 4, 8);
	for (int k = 0; k < 4; k++) {
		/* Where it is, there is no room for others. */
		if (k == 3) {
			req = request(40, "wide", "linear", 8);
			assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
		}
		config(lines[k]);
		assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
		assert_int_equal(engine->ledger.n_running, 2);
		for (int i = 0; i < 2; i++) {
			assert_false(engine->ledger.running[i].load_made);
			assert_non_null(engine->ledger.running[i].making);
		}
		req = request(40, "b16", "auto", 8);
		assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
		assert_int_equal(record()->n_background, 2);
		check_against_core();
	}
}

/* Where the order of the hosts alone is the mapping, ranks are in blocks on them,
 * and that is not the default order. */
static void test_an_order_of_hosts_is_a_mapping(void **state)
{
	static const char *const policy[] = {"random-nodes", "random-routers",
	                                     "random-groups", "auto", "traffic"};
	int by_hosts = 0;

	for (int i = 0; i < 5; i++) {
		const struct cpl_record *r;

		all_free();
		start(10 + i, "a8", policy[i], 8, 8);
		r = engine_running_find(&engine->ledger, 10 + i)->record;
		by_hosts += r->map_max_after < r->map_max_before;
		assert_int_equal(r->mapping_kept_default,
		                 r->map_max_after == r->map_max_before);
		cpl_engine_end(engine, 10 + i);
	}
	assert_true(by_hosts > 0);
}

/* A running job keeps the site's profile though its user has one of that name by
 * now, and its user's own one though the site has one. */
static void test_a_reload_finds_the_same_profile(void **state)
{
	char user[24], name[32], line[512];

	all_free();
	start(30, "a8", "random-groups", 4, 8);
	assert_false(
	        engine_running_find(&engine->ledger, 30)->record->own_profile);
	assert_int_equal(mkdir(in_dir("users"), 0755), 0);
	snprintf(user, sizeof(user), "users/%u", (unsigned)getuid());
	assert_int_equal(mkdir(in_dir(user), 0755), 0);
	snprintf(name, sizeof(name), "%s/a8", user);
	profile(name, 8, 4);
	snprintf(line, sizeof(line), "UserProfileDir=%s/users/%%U", dir);
	config(line);
	assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
	check_against_core();
	start(20, "a8", "random-nodes", 4, 8);
	assert_true(
	        engine_running_find(&engine->ledger, 20)->record->own_profile);
	check_against_core();
	config("");
	assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
	assert_int_equal(engine->ledger.n_running, 2);
	assert_null(engine_running_find(&engine->ledger, 20)->load);
	assert_null(engine_running_find(&engine->ledger, 20)->making);
}

/* A new engine on the same files takes the running jobs back. */
static void test_restart(void **state)
{
	struct cpl_hostlist hosts = {0};
	const struct cpl_engine_live running[] = {{20, false}, {30, false}};

	all_free();
	start(30, "a8", "random-groups", 4, 8);
	start(10, "a8", "random-routers", 4, 8);
	start(20, "a8", "round-robin-routers", 4, 8);
	cpl_engine_free(engine);
	engine = cpl_engine_new(in_dir("commplace.conf"), take_log, NULL);
	assert_non_null(engine);
	assert_int_equal(cpl_hostlist_parse(&hosts, "n[0-31]", NULL), 0);
	assert_int_equal(cpl_engine_set_hosts(engine,
	                                      (const char *const *)hosts.name,
	                                      hosts.count, NULL),
	                 0);
	/* Asked for before a configuration stands. */
	cpl_engine_restore(engine, running, 2, 0);
	assert_false(has_layout(20));
	assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
	assert_true(cpl_engine_idle(engine, WAIT_MS));
	assert_true(has_layout(20));
	assert_true(has_layout(30));
	assert_false(has_layout(10));
	assert_int_equal(access(in_dir("state/ended/10.json"), F_OK), 0);
	assert_int_equal(access(in_dir("state/running/20.json"), F_OK), 0);
	struct cpl_state now;
	read_state(&now);
	assert_int_equal(now.n_jobs, 2);
	all_free();
	for (int j = 0; j < now.n_jobs; j++)
		for (int h = 0; h < now.job[j].n_hosts; h++)
			fake.cpus[atoi(now.job[j].host[h] + 1)] = 0;
	cpl_state_free(&now);
	check_against_core();
	cpl_hostlist_free(&hosts);
}

/* Another has had the jobs meanwhile: one runs elsewhere since, as its record
 * says, and one has ended. */
static void test_jobs_come_back(void **state)
{
	const struct cpl_engine_live live[] = {{20, false}};
	char *before;
	size_t n;

	all_free();
	start(20, "a8", "random-groups", 4, 8);
	start(30, "a8", "random-groups", 4, 8);
	assert_true(cpl_engine_drain(engine, WAIT_MS));
	before = cpl_file_read(in_dir("state/running/20.json"), 1 << 20, &n,
	                       NULL);
	assert_non_null(before);
	/* Now it is where no job of this engine is. */
	all_free();
	start(20, "a8", "linear", 4, 8);
	assert_true(cpl_engine_drain(engine, WAIT_MS));
	put("state/running/20.json", before);
	free(before);
	cpl_engine_forget(engine);
	assert_int_equal(engine->ledger.n_running, 0);
	cpl_engine_restore(engine, live, 1, WAIT_MS);
	assert_int_equal(engine->ledger.n_running, 1);
	assert_string_equal(
	        engine_running_find(&engine->ledger, 20)->record->policy,
	        "random-groups");
	assert_int_equal(access(in_dir("state/ended/30.json"), F_OK), 0);
}

/* fault 17: processes that stand still send nothing. */
static void test_suspended_jobs_are_no_background(void **state)
{
	const struct cpl_engine_live live[] = {{30, true}};
	struct cpl_engine_request req = request(99, "b16", "auto", 8);

	all_free();
	start(30, "a8", "random-groups", 4, 8);
	req.job.id = 99;
	assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
	assert_int_equal(record()->n_background, 1);
	cpl_engine_suspended(engine, 30, true);
	assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
	assert_int_equal(record()->n_background, 0);
	cpl_engine_suspended(engine, 30, false);
	assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
	assert_int_equal(record()->n_background, 1);
	/* Nor after a restart. */
	assert_true(cpl_engine_idle(engine, WAIT_MS));
	cpl_engine_free(engine);
	set_up_engine();
	cpl_engine_restore(engine, live, 1, WAIT_MS);
	assert_true(cpl_engine_idle(engine, WAIT_MS));
	/* Any call takes back what was read. */
	cpl_engine_end(engine, 31);
	assert_non_null(engine_running_find(&engine->ledger, 30));
	assert_true(engine_running_find(&engine->ledger, 30)->suspended);
	assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
	assert_int_equal(record()->n_background, 0);
	cpl_engine_suspended(engine, 30, false);
	assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
	assert_int_equal(record()->n_background, 1);
}

/* A job that got other hosts has no ranks there that send. */
static void test_resized_jobs_are_no_background(void **state)
{
	int host[4];

	all_free();
	start(30, "a8", "random-groups", 4, 8);
	memcpy(host, fake.host, sizeof(host));
	start(10, "a8", "random-routers", 4, 8);
	check_against_core();
	cpl_engine_resized(engine, 30, host, 4);
	assert_false(has_layout(30));
	check_against_core();
}

/* Objectives that look at others see the running jobs that count, one by one.
 */
static void test_others_are_looked_at(void **state)
{
	static const struct {
		const char *lines;
		double own, others;
	} row[] = {
	        {"Objective=isolation", 0, 0},
	        {"Objective=interference", 1, 1},
	        {"Objective=interference\nOwnWeight=0\nOthersWeight=5", 0, 5},
	};
	struct cpl_engine_request req;

	all_free();
	start(30, "t8", "random-groups", 4, 8);
	start(20, "a8", "random-nodes", 4, 8);
	for (int k = 0; k < 3; k++) {
		const struct cpl_record_candidate *taken = NULL;
		const struct cpl_record *r;
		int64_t shared = 0;

		config(row[k].lines);
		assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
		for (int others = 1; others >= 0; others--) {
			cpl_engine_suspended(engine, 30, !others);
			cpl_engine_suspended(engine, 20, !others);
			req = request(40, "t16", "auto", 8);
			assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
			r = record();
			assert_true(r->own_weight == row[k].own);
			assert_true(r->others_weight == row[k].others);
			shared = 0;
			for (int i = 0; i < r->n_candidates; i++) {
				const struct cpl_record_candidate *c =
				        &r->candidate[i];

				shared += c->shared_links;
				assert_true((c->slows_others > 0) <= others);
				if (c->seed == r->seed &&
				    !strcmp(c->policy, r->policy))
					taken = c;
			}
			assert_true(others ? shared > 0 : shared == 0);
			for (int i = 0; i < r->n_candidates; i++)
				if (k == 0 && r->candidate[i].mapped)
					assert_true(
					        taken->shared_links <=
					        r->candidate[i].shared_links);
		}
	}
}

/* A model is read with the network, and candidates are compared by it. Where it
 * is damaged, what is in force stays. */
static void test_a_model_decides(void **state)
{
	static const char head[] =
	        "{\"format\": \"commplace-time-model\", \"version\": 1, "
	        "\"method\": \"m\", \"target\": \"t\", \"concordant\": 1, "
	        "\"r2\": 1, \"errors\": [0, 0], \"range\": [0, 9], \"base\": "
	        "0, \"rate\": 1, \"features\": [{\"name\": \"%s\", "
	        "\"importance\": 1}], \"trees\": [[[0, 4, 2], [1], [3]]]}";
	struct cpl_engine_request req;
	const struct cpl_record *r;
	char text[1024], lines[256];
	double least = INFINITY;

	all_free();
	snprintf(text, sizeof(text), head, "hops_sum_ao");
	put("model.json", text);
	put(".model.v2.json", "");
	put(".model.v3.json", text);
	snprintf(lines, sizeof(lines), "Objective=learned\nTimeModel=%s/model.json",
	         dir);
	config(lines);
	assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
	req = request(40, "t16", "auto", 8);
	assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
	r = record();
	assert_string_equal(r->objective, "learned");
	assert_non_null(strstr(r->time_model, "/.model.v3.json"));
	for (int i = 0; i < r->n_candidates; i++) {
		const struct cpl_record_candidate *c = &r->candidate[i];

		assert_true(!c->mapped || c->learned == 1 || c->learned == 3);
		if (c->mapped)
			least = fmin(least, c->learned);
	}
	for (int i = 0; i < r->n_candidates; i++)
		if (r->candidate[i].seed == r->seed &&
		    !strcmp(r->candidate[i].policy, r->policy))
			assert_true(r->candidate[i].learned == least);
	/* Another file of the same name is read again. */
	snprintf(text, sizeof(text), head, "stall_max");
	put("model.json", text);
	assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), -1);
	assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
	assert_string_equal(record()->objective, "learned");
	config("Objective=learned");
	assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	        T(test_answers_are_the_cores),
	        T(test_a_model_decides),
	        T(test_the_background_forgets_what_ended),
	        T(test_an_order_of_hosts_is_a_mapping),
	        T(test_a_reload_finds_the_same_profile),
	        T(test_restart),
	        T(test_a_reload_makes_the_loads_anew),
	        T(test_jobs_come_back),
	        T(test_suspended_jobs_are_no_background),
	        T(test_resized_jobs_are_no_background),
	        T(test_seconds_on_record),
	        T(test_rates_follow_the_jobs),
	        T(test_others_are_looked_at),
#undef T
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
