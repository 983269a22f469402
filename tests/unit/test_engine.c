/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The engine without a scheduler: it must answer as the core does. */
#include "commplace-config.h"
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/file.h"
#include "base/hostlist.h"
#include "signature/signature.h"
#include "site/engine.h"

#define HOSTS 32
#define WAIT_MS 20000

static char dir[] = "/tmp/commplace-engine-XXXXXX";
static struct cpl_engine *engine;
static char logged[8192];

static void take_log(enum cpl_engine_log level, const char *text)
{
	size_t n = strlen(logged);

	if (level != CPL_ENGINE_DEBUG)
		snprintf(logged + n, sizeof(logged) - n, "%s\n", text);
}

static char *in_dir(const char *name)
{
	static char path[8][512];
	static int at;
	char *out = path[at++ % 8];

	snprintf(out, sizeof(path[0]), "%s/%s", dir, name);
	return out;
}

static void put(const char *name, const char *text)
{
	assert_int_equal(cpl_file_write_atomic(in_dir(name), text, strlen(text),
	                                       0644, NULL),
	                 0);
}

static void config(const char *lines)
{
	char text[2048];

	snprintf(text, sizeof(text),
	         "NetworkFile=%s/network.json\nProfileDir=%s\n"
	         "StateDir=%s/state\nMaxDecisionTime=20s\n%s\n",
	         dir, dir, dir, lines);
	put("commplace.conf", text);
}

/* Rank r talks to r + 1 and, with odd byte counts, to r + far. */
static void profile(const char *name, int ranks, int far)
{
	char file[64], *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	fprintf(f,
	        "{\"format\": \"commplace-signature\", \"version\": 1, "
	        "\"name\": \"%s\", \"ranks\": %d, \"phases\": [{\"name\": "
	        "\"p\", \"weight\": 3, \"traffic\": [",
	        name, ranks);
	for (int r = 0; r < ranks; r++)
		fprintf(f, "%s[%d, %d, %d, 1], [%d, %d, %d.3, 1]",
		        r ? ", " : "", r, (r + 1) % ranks, 100 + r, r,
		        (r + far) % ranks, 7 * r + 1);
	fprintf(f, "]}]}");
	fclose(f);
	snprintf(file, sizeof(file), "%s.json", name);
	put(file, text);
	free(text);
}

static int remove_one(const char *path, const struct stat *st, int type,
                      struct FTW *ftw)
{
	return remove(path);
}

static int set_up(void **state)
{
	struct cpl_hostlist hosts = {0};

	memcpy(dir + sizeof(dir) - 7, "XXXXXX", 6);
	assert_non_null(mkdtemp(dir));
	put("network.json",
	    "{\"format\": \"commplace-network\", \"version\": 1, \"name\": "
	    "\"t\", \"type\": \"dragonfly\", \"groups\": 4, \"rows\": 2, "
	    "\"columns\": 2, \"nodes_per_router\": 2, "
	    "\"global_links_per_group_pair\": 1, \"bandwidth\": {\"row\": 3, "
	    "\"column\": 7, \"global\": 1.7, \"injection\": 9}, \"nodes\": "
	    "\"n[0-31]\"}");
	config("");
	profile("a8", 8, 3);
	profile("b16", 16, 5);
	logged[0] = '\0';
	engine = cpl_engine_new(in_dir("commplace.conf"), take_log, NULL);
	assert_non_null(engine);
	assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
	assert_int_equal(cpl_hostlist_parse(&hosts, "n[0-31]", NULL), 0);
	assert_int_equal(cpl_engine_set_hosts(engine,
	                                      (const char *const *)hosts.name,
	                                      hosts.count, NULL),
	                 0);
	cpl_hostlist_free(&hosts);
	return 0;
}

static int tear_down(void **state)
{
	cpl_engine_free(engine);
	nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	return 0;
}

static unsigned char free_host[HOSTS];

static struct cpl_engine_request request(int64_t id, const char *name,
                                         const char *policy, int nodes)
{
	return (struct cpl_engine_request){
	        .job = {.id = id,
	                .name = "job",
	                .profile = name,
	                .policy = policy},
	        .nodes_wanted = nodes,
	        .n_hosts = HOSTS,
	        .free = free_host,
	        .record_free = true,
	};
}

/* Decide and start; the hosts are no longer free. */
static void start(int64_t id, const char *name, const char *policy, int nodes,
                  int ranks)
{
	struct cpl_engine_request req = request(id, name, policy, nodes);
	struct cpl_engine_answer answer;
	int host[HOSTS], slots[HOSTS], n = 0;
	bool chosen[HOSTS] = {false};
	char text[512];

	cpl_engine_decide(engine, &req, &answer);
	assert_true(answer.place);
	assert_int_equal(answer.n_hosts, nodes);
	for (int i = 0; i < nodes; i++)
		chosen[answer.host[i]] = true;
	for (int i = 0; i < HOSTS; i++) {
		if (!chosen[i])
			continue;
		free_host[i] = 0;
		host[n] = i;
		slots[n++] = ranks / nodes;
	}
	cpl_engine_accept(engine, &answer);
	assert_int_equal(cpl_engine_ranks(engine, id), ranks);
	assert_int_equal(cpl_engine_start(engine, id, host, slots, n, text,
	                                  sizeof(text)),
	                 1);
	assert_non_null(strstr(text, "policy="));
}

static void all_free(void)
{
	memset(free_host, 1, sizeof(free_host));
}

/* The numbers of the candidates are those of cpl_decide on cpl_state_apply's
 * load of the exported state, to the last bit. */
static void check_against_core(void)
{
	struct cpl_engine_request req = request(99, "b16", "auto", 8);
	struct cpl_engine_answer answer;
	struct cpl_error err = {""};
	struct cpl_state state;
	struct cpl_network *net =
	        cpl_network_load(in_dir("network.json"), &err);
	const struct cpl_routing *routing = cpl_routing_find(net, NULL, &err);
	struct cpl_signature *sig =
	        cpl_signature_load(in_dir("b16.json"), &err);
	struct cpl_comm *comm = cpl_signature_total(sig, &err);
	struct cpl_load load;
	struct cpl_decision decision;
	unsigned char core_free[HOSTS];

	cpl_engine_decide(engine, &req, &answer);
	assert_true(answer.place);
	assert_int_equal(cpl_engine_export(engine, &state, &err), 0);
	assert_int_equal(cpl_load_init(&load, net, &err), 0);
	cpl_load_clear(&load, net);
	memcpy(core_free, free_host, HOSTS);
	assert_int_equal(cpl_state_apply(&state, net, routing, dir, core_free,
	                                 &load, &err),
	                 0);
	assert_memory_equal(core_free, free_host, HOSTS);
	struct cpl_decide_request core = {
	        .place = {.net = net,
	                  .free = core_free,
	                  .n_nodes_wanted = 8,
	                  .seed = 1},
	        .policy = "auto",
	        .routing = routing,
	        .comm = comm,
	        .ranks_per_node = 2,
	        .background = &load,
	};
	assert_int_equal(cpl_decide(&core, &decision, &err), 0);
	assert_int_equal(answer.record->n_candidates, decision.n_candidates);
	for (int i = 0; i < decision.n_candidates; i++) {
		const struct cpl_candidate *c = &decision.candidate[i];

		assert_true(answer.record->candidate[i].max_congestion ==
		            c->metrics.max_congestion);
		assert_true(answer.record->candidate[i].mean_congestion ==
		            c->metrics.mean_congestion);
	}
	for (int i = 0; i < decision.n_nodes; i++)
		assert_int_equal(answer.host[i], decision.node[i]);
	cpl_decision_free(&decision);
	cpl_state_free(&state);
	cpl_load_free(&load);
	cpl_comm_free(comm);
	cpl_signature_free(sig);
	cpl_network_free(net);
	cpl_engine_answer_free(engine, &answer);
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
}

/* Ends do not leave rounding behind: the sum is made anew. */
static void test_the_background_forgets_what_ended(void **state)
{
	all_free();
	start(30, "a8", "random-groups", 4, 8);
	start(10, "b16", "random-routers", 8, 16);
	start(20, "a8", "round-robin-routers", 4, 8);
	cpl_engine_end(engine, 10);
	memset(free_host, 1, sizeof(free_host));
	struct cpl_state now;
	assert_int_equal(cpl_engine_export(engine, &now, NULL), 0);
	assert_int_equal(now.n_jobs, 2);
	assert_int_equal(now.job[0].id, 20);
	for (int j = 0; j < now.n_jobs; j++)
		for (int h = 0; h < now.job[j].n_hosts; h++)
			free_host[atoi(now.job[j].host[h] + 1)] = 0;
	cpl_state_free(&now);
	check_against_core();
}

/* A new engine on the same files takes the running jobs back. */
static void test_restart(void **state)
{
	struct cpl_hostlist hosts = {0};
	const int64_t running[] = {20, 30};

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
	assert_false(cpl_engine_has_plan(engine, 20));
	assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
	assert_true(cpl_engine_idle(engine, WAIT_MS));
	assert_true(cpl_engine_has_plan(engine, 20));
	assert_true(cpl_engine_has_plan(engine, 30));
	assert_false(cpl_engine_has_plan(engine, 10));
	assert_int_equal(access(in_dir("state/ended/10.json"), F_OK), 0);
	assert_int_equal(access(in_dir("state/running/20.json"), F_OK), 0);
	struct cpl_state now;
	assert_int_equal(cpl_engine_export(engine, &now, NULL), 0);
	assert_int_equal(now.n_jobs, 2);
	memset(free_host, 1, sizeof(free_host));
	for (int j = 0; j < now.n_jobs; j++)
		for (int h = 0; h < now.job[j].n_hosts; h++)
			free_host[atoi(now.job[j].host[h] + 1)] = 0;
	cpl_state_free(&now);
	check_against_core();
	cpl_hostlist_free(&hosts);
}

static void test_what_concerns_us(void **state)
{
	static const struct {
		const char *config;
		struct cpl_engine_job job;
		bool ours;
	} row[] = {
	        {"", {.name = "x"}, false},
	        {"", {.name = "x", .mapping = "linear"}, false},
	        {"", {.name = "x", .profile = "a8"}, true},
	        {"", {.name = "x", .policy = "linear"}, true},
	        {"", {.name = "x", .profile = "none"}, false},
	        {"Mode=off", {.name = "x", .profile = "a8"}, false},
	        {"Mode=observe", {.name = "x", .profile = "a8"}, true},
	        {"UserMayOverride=policy",
	         {.name = "x", .profile = "a8"},
	         false},
	        {"UserMayOverride=policy",
	         {.name = "x", .policy = "linear"},
	         true},
	        {"DefaultPolicy=auto", {.name = "x"}, true},
	        {"Partition=big DefaultPolicy=auto", {.name = "x"}, false},
	        {"Partition=big DefaultPolicy=auto",
	         {.name = "x", .partition = "big"},
	         true},
	        {"Match JobName=va* Profile=a8", {.name = "vasp"}, true},
	        {"Match JobName=va* Profile=a8", {.name = "namd"}, false},
	        {"Match JobName=va* Profile=a8",
	         {.name = "vasp", .profile = "none"},
	         false},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		config(row[i].config);
		assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
		if (cpl_engine_concerns(engine, &row[i].job) != row[i].ours)
			fail_msg("row %zu", i);
	}
}

static void test_a_broken_file_changes_nothing(void **state)
{
	struct cpl_engine_job job = {.name = "x", .profile = "a8"};
	struct cpl_error err = {""};

	put("commplace.conf", "Mode=of\n");
	assert_int_equal(cpl_engine_load(engine, WAIT_MS, &err), -1);
	assert_non_null(strstr(err.text, "commplace.conf:1: "));
	assert_true(cpl_engine_concerns(engine, &job));
	assert_non_null(strstr(logged, "the configuration in force stays"));
	config("");
	put("network.json", "{");
	assert_int_equal(cpl_engine_load(engine, WAIT_MS, &err), -1);
	assert_non_null(strstr(err.text, "network.json"));
	assert_true(cpl_engine_concerns(engine, &job));
}

static void test_steps_of_other_shapes(void **state)
{
	int host[4], slots[4] = {2, 2, 2, 2}, rank_host[8], n = 0;
	struct cpl_error err = {""};

	all_free();
	start(5, "a8", "random-groups", 4, 8);
	for (int i = 0; i < HOSTS; i++)
		if (!free_host[i])
			host[n++] = i;
	assert_int_equal(n, 4);
	assert_int_equal(cpl_engine_layout(engine, 5, host, slots, 4, 8,
	                                   rank_host, &err),
	                 1);
	for (int h = 0; h < 4; h++) {
		int count = 0;

		for (int r = 0; r < 8; r++)
			count += rank_host[r] == h;
		assert_int_equal(count, 2);
	}
	/* Other counts, the same total: laid out anew. */
	slots[0] = 4;
	slots[3] = 0;
	assert_int_equal(cpl_engine_layout(engine, 5, host, slots, 4, 8,
	                                   rank_host, &err),
	                 1);
	for (int r = 0; r < 8; r++)
		assert_int_not_equal(rank_host[r], 3);
	/* Another total: not ours. */
	assert_int_equal(cpl_engine_layout(engine, 5, host, slots, 4, 7,
	                                   rank_host, &err),
	                 0);
	assert_non_null(strstr(err.text, "7 tasks"));
	/* A resized job has no plan any more. */
	cpl_engine_resized(engine, 5, host, 3);
	assert_false(cpl_engine_has_plan(engine, 5));
	assert_int_equal(cpl_engine_layout(engine, 5, host, slots, 4, 8,
	                                   rank_host, &err),
	                 0);
}

/* No more than the limit is kept of jobs that never start. */
static void test_decisions_that_are_not_used(void **state)
{
	all_free();
	for (int64_t id = 1; id <= CPL_ENGINE_DECIDED_MAX + 10; id++) {
		struct cpl_engine_request req = request(id, "a8", "linear", 4);
		struct cpl_engine_answer answer;

		cpl_engine_decide(engine, &req, &answer);
		assert_true(answer.place);
		cpl_engine_accept(engine, &answer);
	}
	assert_int_equal(cpl_engine_ranks(engine, 10), 0);
	assert_int_equal(cpl_engine_ranks(engine, 11), 8);
	cpl_engine_renumber(engine, 11, 5000);
	assert_int_equal(cpl_engine_ranks(engine, 11), 0);
	assert_int_equal(cpl_engine_ranks(engine, 5000), 8);
	cpl_engine_end(engine, 5000);
	assert_int_equal(cpl_engine_ranks(engine, 5000), 0);
}

/* A new version of a profile is used from then on. */
static void test_profiles_are_read_anew_when_they_change(void **state)
{
	struct cpl_engine_request req = request(1, "a8", "auto", 4);
	struct cpl_engine_answer answer;

	all_free();
	cpl_engine_decide(engine, &req, &answer);
	assert_int_equal(answer.record->ranks, 8);
	cpl_engine_answer_free(engine, &answer);
	profile("a8", 12, 3);
	cpl_engine_decide(engine, &req, &answer);
	assert_int_equal(answer.record->ranks, 12);
	assert_int_equal(answer.record->ranks_per_node, 3);
	cpl_engine_answer_free(engine, &answer);
}

/* One line of text could otherwise take gigabytes in slurmctld. */
static void test_a_huge_pattern_is_left_out(void **state)
{
	struct cpl_engine_request req = request(1, "huge", "auto", 16);
	struct cpl_engine_answer answer;

	all_free();
	put("huge.json",
	    "{\"format\": \"commplace-signature\", \"version\": 1, "
	    "\"ranks\": 8192, \"phases\": [{\"pattern\": {\"type\": "
	    "\"collective\", \"operation\": \"alltoall\", \"algorithm\": "
	    "\"pairwise\", \"ranks\": 8192, \"bytes\": 8}}]}");
	cpl_engine_decide(engine, &req, &answer);
	assert_false(answer.place);
	assert_non_null(strstr(answer.record->reason, "up to 67108864 pairs"));
	cpl_engine_answer_free(engine, &answer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	        T(test_answers_are_the_cores),
	        T(test_the_background_forgets_what_ended),
	        T(test_restart),
	        T(test_what_concerns_us),
	        T(test_a_broken_file_changes_nothing),
	        T(test_steps_of_other_shapes),
	        T(test_decisions_that_are_not_used),
	        T(test_profiles_are_read_anew_when_they_change),
	        T(test_a_huge_pattern_is_left_out),
#undef T
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
