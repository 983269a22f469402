/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The engine without a scheduler: it must answer as the core does. */
#include "commplace-config.h"
#include <ftw.h>
#include <limits.h>
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
#include "base/printable.h"
#include "binding/launch.h"
#include "signature/signature.h"
#include "mapping/quick.h"
#include "site/engine_internal.h"
#include "fake_scheduler.h"

#define HOSTS 32
#define WAIT_MS 20000

static char dir[] = "/tmp/commplace-engine-XXXXXX";
#include "in_dir.h"

static struct cpl_engine *engine;
static char logged[8192];

static void take_log(enum cpl_engine_log level, const char *text)
{
	size_t n = strlen(logged);

	snprintf(logged + n, sizeof(logged) - n, "%s%s\n",
	         level == CPL_ENGINE_ERROR ? "error: " : "", text);
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

/* The same in two phases, with times: 8 s of which 5 s are computing. */
static void timed_profile(const char *name, int ranks)
{
	char file[64], text[4096];
	int n = snprintf(text, sizeof(text),
	                 "{\"format\": \"commplace-signature\", \"version\": 1, "
	                 "\"name\": \"%s\", \"ranks\": %d, \"phases\": [",
	                 name, ranks);

	for (int p = 0; p < 2; p++) {
		n += snprintf(text + n, sizeof(text) - (size_t)n,
		              "%s{\"name\": \"p%d\", \"weight\": %d, "
		              "\"time\": 2, \"compute_time\": %d, "
		              "\"traffic\": [",
		              p ? ", " : "", p, p ? 1 : 3, p ? 2 : 1);
		for (int r = 0; r < ranks; r++)
			n += snprintf(text + n, sizeof(text) - (size_t)n,
			              "%s[%d, %d, %d, 1]", r ? ", " : "", r,
			              (r + 1 + 4 * p) % ranks, 100 + r);
		n += snprintf(text + n, sizeof(text) - (size_t)n, "]}");
	}
	assert_true((size_t)n + 3 < sizeof(text));
	snprintf(text + n, sizeof(text) - (size_t)n, "]}");
	snprintf(file, sizeof(file), "%s.json", name);
	put(file, text);
}

static int remove_one(const char *path, const struct stat *st, int type,
                      struct FTW *ftw)
{
	return remove(path);
}

static void set_up_engine(void)
{
	struct cpl_hostlist hosts = {0};

	engine = cpl_engine_new(in_dir("commplace.conf"), take_log, NULL);
	assert_non_null(engine);
	assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
	assert_int_equal(cpl_hostlist_parse(&hosts, "n[0-31]", NULL), 0);
	assert_int_equal(cpl_engine_set_hosts(engine,
	                                      (const char *const *)hosts.name,
	                                      hosts.count, NULL),
	                 0);
	cpl_hostlist_free(&hosts);
}

static int set_up(void **state)
{
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
	timed_profile("t8", 8);
	timed_profile("t16", 16);
	logged[0] = '\0';
	set_up_engine();
	return 0;
}

static int tear_down(void **state)
{
	cpl_engine_free(engine);
	nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	return 0;
}

static struct fake fake;

static struct cpl_engine_request request(int64_t id, const char *name,
                                         const char *policy, int nodes)
{
	fake.wanted = nodes;
	return (struct cpl_engine_request){
	        .job = {.id = id,
	                .name = "job",
	                .profile = name,
	                .policy = policy},
	        .need = {.min_nodes = (uint32_t)nodes,
	                 .max_nodes = (uint32_t)nodes,
	                 .cpus = (uint32_t)nodes},
	        .n_hosts = HOSTS,
	        .start = true,
	};
}

static enum cpl_engine_answer ask(const struct cpl_engine_request *req)
{
	struct cpl_engine_scheduler scheduler = fake_scheduler(&fake);
	char text[512] = "";

	return cpl_engine_decide(engine, req, &scheduler, text, sizeof(text));
}

/* What was decided last. */
static const struct cpl_record *record(void)
{
	assert_non_null(engine->decided);
	return engine->decided->record;
}

/* Decide and start; the hosts are no longer free. */
static void start(int64_t id, const char *name, const char *policy, int nodes,
                  int ranks)
{
	struct cpl_engine_request req = request(id, name, policy, nodes);
	struct cpl_engine_notice notice;

	assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
	assert_int_equal(fake.n_host, nodes);
	assert_int_equal(record()->ranks, ranks);
	for (int i = 0; i < nodes; i++)
		fake.cpus[fake.host[i]] = 0;
	fake_begin(engine, id, &fake, &notice);
	assert_non_null(strstr(notice.text, "policy="));
}

static void all_free(void)
{
	memset(&fake, 0, sizeof(fake));
	fake.n_hosts = HOSTS;
	for (int i = 0; i < HOSTS; i++)
		fake.cpus[i] = 4;
}

/* The jobs on record, as the command reads them. */
static void read_state(struct cpl_state *state)
{
	int skipped;

	assert_true(cpl_engine_idle(engine, WAIT_MS));
	assert_int_equal(
	        cpl_record_state(in_dir("state"), state, &skipped, NULL), 0);
	assert_int_equal(skipped, 0);
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
	assert_int_equal(cpl_state_apply(state, net, routing, dir, core_free,
	                                 load, NULL),
	                 0);
	if (!(run.seconds > 0))
		return;
	assert_int_equal(cpl_load_init(&rates, net, NULL), 0);
	assert_int_equal(
	        cpl_state_rates(state, net, routing, dir, &rates, NULL), 0);
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
	assert_int_equal(cpl_load_init(&rates, net, NULL), 0);
	assert_int_equal(cpl_state_rates(&state, net, routing, dir, &rates, NULL),
	                 0);
	struct cpl_decide_request core = {
	        .place = {.net = net,
	                  .free = core_free,
	                  .n_nodes_wanted = 8,
	                  .seed = 1},
	        .policy = "auto",
	        .routing = routing,
	        .comm = comm,
	        .ranks_per_node = 2,
	        .mapper = &cpl_mapper_quick,
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
		assert_int_equal(engine->decided->order[i], decision.node[i]);
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
	r = engine_running_find(engine, 50)->record;
	assert_int_equal(cpl_load_init(&rates, net, NULL), 0);
	assert_int_equal(
	        cpl_state_rates(&before, net, routing, dir, &rates, NULL), 0);
	for (int i = 0; i < 8; i++)
		node[i] = cpl_network_node(net, r->host[i]);
	assert_int_equal(cpl_times_order(times, r->rank_host, 0, 8, NULL), 0);
	assert_int_equal(cpl_times_place(times, space, node, NULL), 0);
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
	assert_null(engine_rates(engine, INT64_MAX, NULL));
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

static bool has_layout(int64_t id)
{
	const struct running *job;

	/* Every call takes what was read meanwhile. */
	cpl_engine_suspended(engine, id, false);
	job = engine_running_find(engine, id);
	return job && job->has_layout;
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

/* Is the scheduler asked anything for this job? */
static bool is_ours(const struct cpl_job_facts *job)
{
	struct cpl_engine_request req = request(1, NULL, NULL, 2);

	all_free();
	fake.wanted = 2;
	req.job = *job;
	return ask(&req) != CPL_ENGINE_NONE;
}

static void test_what_concerns_us(void **state)
{
	static const struct {
		const char *config;
		struct cpl_job_facts job;
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
	        /* fault 18 */
	        {"Partition=big DefaultPolicy=none\n"
	         "Match JobName=va* Profile=a8",
	         {.name = "vasp", .partition = "big"},
	         false},
	        {"Partition=big DefaultPolicy=none",
	         {.profile = "a8", .partition = "big"},
	         false},
	        {"Partition=big DefaultPolicy=none",
	         {.profile = "a8", .partition = "small"},
	         true},
	        {"Mode=off\nPartition=big Mode=on",
	         {.profile = "a8", .partition = "big"},
	         true},
	        {"Mode=off\nPartition=big Mode=on",
	         {.profile = "a8", .partition = "small"},
	         false},
	        {"Partition=big Mode=off",
	         {.profile = "a8", .partition = "big"},
	         false},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		config(row[i].config);
		assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
		if (is_ours(&row[i].job) != row[i].ours)
			fail_msg("row %zu", i);
	}
}

static void test_a_broken_file_changes_nothing(void **state)
{
	struct cpl_job_facts job = {.name = "x", .profile = "a8"};
	struct cpl_error err = {""};

	put("commplace.conf", "Mode=of\n");
	assert_int_equal(cpl_engine_load(engine, WAIT_MS, &err), -1);
	assert_non_null(strstr(err.text, "commplace.conf:1: "));
	assert_true(is_ours(&job));
	assert_non_null(strstr(logged, "the configuration in force stays"));
	config("");
	put("network.json", "{");
	assert_int_equal(cpl_engine_load(engine, WAIT_MS, &err), -1);
	assert_non_null(strstr(err.text, "network.json"));
	assert_true(is_ours(&job));
}

/* Ranks in blocks of tasks[], as the scheduler lays them out. */
struct laid_out {
	uint16_t tasks[4], not_of_the_step;
	uint32_t id[4][8];
	uint32_t *ids[4];
	char hosts[64];
	struct cpl_engine_step step;
};

static void lay_out(struct laid_out *out, int64_t id, const uint16_t *tasks,
                    bool cyclic)
{
	uint32_t rank = 0;
	char *hosts;
	char *name[4];

	memset(out, 0, sizeof(*out));
	out->not_of_the_step = 1;
	for (int i = 0; i < 4; i++) {
		assert_true(asprintf(&name[i], "n%d", fake.host[i]) > 0);
		out->tasks[i] = tasks[i];
		out->ids[i] = out->id[i];
		for (uint32_t k = 0; k < tasks[i]; k++, rank++)
			out->id[i][k] = cyclic ? k * 4 + (uint32_t)i : rank;
	}
	hosts = cpl_hostlist_format(name, 4);
	snprintf(out->hosts, sizeof(out->hosts), "%s", hosts);
	free(hosts);
	for (int i = 0; i < 4; i++)
		free(name[i]);
	out->step = (struct cpl_engine_step){
	        .job = {.id = id, .profile = "none"},
	        .hosts = out->hosts,
	        .n_hosts = 4,
	        .ranks = (int)rank,
	        .tasks = out->tasks,
	        .ids = out->ids,
	        .own_order = cyclic,
	};
}

static bool rows_increase(const struct laid_out *out)
{
	for (int i = 0; i < 4; i++)
		for (int k = 1; k < out->tasks[i]; k++)
			if (out->id[i][k] <= out->id[i][k - 1])
				return false;
	return true;
}

static void test_steps_of_other_shapes(void **state)
{
	const uint16_t even[] = {2, 2, 2, 2}, uneven[] = {4, 2, 2, 0};
	const uint16_t fewer[] = {2, 2, 2, 1}, other[] = {2, 4, 2, 0};
	struct cpl_engine_layout out;
	struct laid_out laid, again;

	all_free();
	start(5, "a8", "random-groups", 4, 8);
	lay_out(&laid, 5, even, false);
	cpl_engine_step(engine, &laid.step, &out);
	assert_true(out.changed);
	assert_true(rows_increase(&laid));
	/* Other counts, the same total: laid out anew. */
	lay_out(&laid, 5, uneven, false);
	cpl_engine_step(engine, &laid.step, &out);
	assert_true(out.changed);
	assert_true(rows_increase(&laid));
	/* Fault 7: the next one takes no time, which there is none of. */
	engine->spent = 60 * INT64_C(1000000000);
	lay_out(&again, 5, uneven, false);
	cpl_engine_step(engine, &again.step, &out);
	assert_true(out.changed);
	assert_memory_equal(again.id, laid.id, sizeof(laid.id));
	lay_out(&again, 5, other, false);
	cpl_engine_step(engine, &again.step, &out);
	assert_false(out.changed);
	assert_non_null(strstr(out.unchanged.text, "MaxPassTime"));
	engine->spent = 0;
	/* Another total: not ours. */
	lay_out(&laid, 5, fewer, false);
	cpl_engine_step(engine, &laid.step, &out);
	assert_false(out.changed);
	assert_non_null(strstr(out.unchanged.text, "7 tasks"));
	/* A resized job has no plan any more. */
	cpl_engine_resized(engine, 5, fake.host, 3);
	assert_false(has_layout(5));
	lay_out(&laid, 5, even, false);
	cpl_engine_step(engine, &laid.step, &out);
	assert_false(out.changed);
}

static unsigned char *hand_over(int64_t id, const char *profile, size_t limit,
                                size_t *size, struct cpl_error *err)
{
	const struct cpl_job_facts job = {.id = id, .profile = profile};

	err->text[0] = '\0';
	return cpl_engine_handover(engine, &job, limit, size, err);
}

/* The same step by the engine and by what it handed over: ranks, reasons, and
 * what travels, to the byte. */
static void check_handed(const unsigned char *data, size_t size, int64_t id,
                         const uint16_t *tasks, bool cyclic)
{
	struct cpl_engine_layout by_engine, handed;
	struct laid_out one, two;

	lay_out(&one, id, tasks, cyclic);
	lay_out(&two, id, tasks, cyclic);
	one.step.job.profile = two.step.job.profile = "a8";
	assert_int_equal(
	        cpl_engine_step_handed(data, size, &one.step, &handed, NULL),
	        0);
	cpl_engine_step(engine, &two.step, &by_engine);
	assert_int_equal(handed.changed, by_engine.changed);
	assert_memory_equal(one.id, two.id, sizeof(one.id));
	assert_string_equal(handed.unchanged.text, by_engine.unchanged.text);
	assert_string_equal(handed.travel.text, by_engine.travel.text);
	assert_non_null(handed.data);
	assert_int_equal(handed.size, by_engine.size);
	assert_memory_equal(handed.data, by_engine.data, handed.size);
	free(handed.data);
	free(by_engine.data);
}

static void test_steps_by_what_is_handed_over(void **state)
{
	const uint16_t even[] = {2, 2, 2, 2}, uneven[] = {4, 2, 2, 0};
	const uint16_t fewer[] = {2, 2, 2, 1};
	struct cpl_engine_layout out;
	struct cpl_error err = {""};
	struct cpl_launch launch;
	struct laid_out laid;
	unsigned char *data;
	size_t size;

	all_free();
	start(5, "a8", "random-groups", 4, 8);
	data = hand_over(5, "a8", 4096, &size, &err);
	assert_non_null(data);
	assert_string_equal(err.text, "");
	check_handed(data, size, 5, even, false);
	check_handed(data, size, 5, fewer, false);
	check_handed(data, size, 5, even, true);
	/* Where the engine maps anew: */
	lay_out(&laid, 5, uneven, false);
	assert_int_equal(
	        cpl_engine_step_handed(data, size, &laid.step, &out, NULL), 0);
	assert_false(out.changed);
	assert_non_null(strstr(out.unchanged.text, "other counts per node"));
	free(out.data);
	lay_out(&laid, 5, even, false);
	laid.step.hosts = "x[0-3]";
	assert_int_equal(
	        cpl_engine_step_handed(data, size, &laid.step, &out, NULL), 0);
	assert_false(out.changed);
	assert_non_null(strstr(out.unchanged.text, "lacks hosts"));
	free(out.data);
	free(data);
	/* Too little room: the file is to be looked into; then not even that.
	 */
	data = hand_over(5, "a8", 80, &size, &err);
	assert_non_null(data);
	assert_true(size <= 80);
	lay_out(&laid, 5, even, false);
	assert_int_equal(
	        cpl_engine_step_handed(data, size, &laid.step, &out, NULL), 0);
	assert_true(out.changed);
	assert_int_equal(cpl_launch_read(out.data, out.size, &launch, NULL), 0);
	assert_int_equal(launch.kind, CPL_LAUNCH_FILE);
	assert_int_equal(launch.ranks, 8);
	free(out.data);
	check_handed(data, size, 5, fewer, false);
	free(data);
	assert_null(hand_over(5, "a8", 24, &size, &err));
	assert_non_null(strstr(err.text, "8 ranks takes more than 24 bytes"));
	/* The layout alone, the profile alone, neither. */
	data = hand_over(5, "none", 4096, &size, &err);
	lay_out(&laid, 5, even, false);
	assert_int_equal(
	        cpl_engine_step_handed(data, size, &laid.step, &out, NULL), 0);
	assert_true(out.changed);
	assert_null(out.data);
	free(data);
	cpl_engine_resized(engine, 5, fake.host, 3);
	data = hand_over(5, "a8", 4096, &size, &err);
	check_handed(data, size, 5, even, false);
	free(data);
	assert_null(hand_over(5, "none", 4096, &size, &err));
	assert_string_equal(err.text, "");
}

static void test_damage_to_what_is_handed_over(void **state)
{
	const uint16_t even[] = {2, 2, 2, 2};
	struct cpl_engine_layout out;
	struct cpl_error err = {""};
	struct laid_out laid, before;
	unsigned char *data, *copy;
	size_t size;

	all_free();
	start(5, "a8", "random-groups", 4, 8);
	data = hand_over(5, "a8", 4096, &size, &err);
	assert_non_null(data);
	copy = malloc(size);
	lay_out(&laid, 5, even, false);
	before = laid;
	for (size_t i = 0; i < 2 * size; i++) {
		size_t cut = i < size ? i : size;

		memcpy(copy, data, size);
		if (i >= size)
			copy[i - size] ^= 0x21;
		err.text[0] = '\0';
		assert_int_equal(cpl_engine_step_handed(copy, cut, &laid.step,
		                                        &out, &err),
		                 -1);
		assert_non_null(strstr(err.text, "slurmctld handed over"));
		assert_false(out.changed);
		assert_null(out.data);
		assert_memory_equal(laid.id, before.id, sizeof(laid.id));
	}
	free(copy);
	free(data);
}

static bool is_kept(int64_t id)
{
	for (struct decided *d = engine->decided; d; d = d->next)
		if (d->record->job == id)
			return d->record->ranks == 8;
	return false;
}

/* No more than the limit is kept of jobs that never start. */
static void test_decisions_that_are_not_used(void **state)
{
	struct cpl_engine_allocation got = {.id = 5000,
	                                    .array_id = 11,
	                                    .shown_as = "11_3",
	                                    .host = fake.host,
	                                    .layout = fake_layout,
	                                    .arg = &fake.n_host};
	struct cpl_engine_notice notice;

	all_free();
	for (int64_t id = 1; id <= CPL_ENGINE_DECIDED_MAX + 10; id++) {
		struct cpl_engine_request req = request(id, "a8", "linear", 4);

		assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
	}
	assert_false(is_kept(10));
	assert_true(is_kept(11));
	/* An element of a job array that got an id of its own. */
	got.n_hosts = fake.n_host;
	cpl_engine_start(engine, &got, &notice);
	assert_string_not_equal(notice.text, "");
	assert_false(is_kept(11));
	assert_true(has_layout(5000));
	assert_string_equal(engine_running_find(engine, 5000)->record->shown_as,
	                    "11_3");
	assert_true(is_kept(12));
	cpl_engine_end(engine, 12);
	assert_false(is_kept(12));
}

/* fault 17: what was decided for a job counts only for the hosts it was
 * decided for, and only once. */
static void test_what_begins_elsewhere_is_not_what_was_decided(void **state)
{
	struct cpl_engine_request req = request(1, "a8", "linear", 4);
	struct cpl_engine_notice notice;

	all_free();
	assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
	fake.host[3]++;
	fake_begin(engine, 1, &fake, &notice);
	assert_string_equal(notice.text, "");
	assert_false(has_layout(1));
	fake.host[3]--;
	fake_begin(engine, 1, &fake, &notice);
	assert_string_equal(notice.text, "");
	/* Asked again, and then it is none of ours: nothing is left over. */
	assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
	req.job.profile = req.job.policy = NULL;
	assert_int_equal(ask(&req), CPL_ENGINE_NONE);
	fake_begin(engine, 1, &fake, &notice);
	assert_string_equal(notice.text, "");
	/* A question only: not what a job begins on. */
	req = request(2, "a8", "linear", 4);
	req.start = false;
	assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
	fake_begin(engine, 2, &fake, &notice);
	assert_string_equal(notice.text, "");
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
	assert_non_null(engine_running_find(engine, 30));
	assert_true(engine_running_find(engine, 30)->suspended);
	assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
	assert_int_equal(record()->n_background, 0);
	cpl_engine_suspended(engine, 30, false);
	assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
	assert_int_equal(record()->n_background, 1);
}

/* fault 12: hosts that turn out useless are left out, a few times. */
static void test_refused_hosts_are_left_out(void **state)
{
	struct cpl_engine_request req = request(1, "a8", "random-groups", 4);

	all_free();
	for (int i = 0; i < HOSTS; i += 2)
		fake.useless[i] = true;
	assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
	assert_int_equal(fake.narrowed, 1);
	assert_int_equal(fake.n_host, 4);
	for (int i = 0; i < 4; i++)
		assert_int_equal(fake.host[i] % 2, 1);
	/* None can serve: it is tried no more than that. */
	all_free();
	fake.wanted = 4;
	fake.refuse_below = HOSTS + 1;
	assert_int_equal(ask(&req), CPL_ENGINE_STOCK);
	/* Nothing else is there to try. */
	assert_int_equal(fake.placed, 1);
	assert_int_equal(fake.stocked, 1);
	assert_non_null(strstr(record()->reason, "refused"));
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

static void slow_file(struct cpl_request *head)
{
	usleep(200000);
}

/* A file that is being read is waited for; one that hangs is not. */
static void test_waits_for_files_that_are_slow(void **state)
{
	struct cpl_request *slow[2];

	for (int i = 0; i < 2; i++) {
		slow[i] = calloc(1, sizeof(*slow[i]));
		assert_non_null(slow[i]);
		slow[i]->run = slow_file;
		assert_int_equal(cpl_worker_queue(engine->worker,
		                                  CPL_QUEUE_LOAD, slow[i],
		                                  false, NULL),
		                 0);
		usleep(50000);
		config(i ? "Mode=off" : "Mode=observe");
		assert_int_equal(
		        cpl_engine_load(engine, i ? 10 : WAIT_MS, NULL),
		        i ? -1 : 0);
	}
	assert_true(cpl_engine_idle(engine, WAIT_MS));
	assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
	assert_int_equal(engine->snapshot->config->mode, CPL_MODE_OFF);
}

/* The same table of hosts again is no news. */
static void test_unknown_hosts_are_told_once(void **state)
{
	const char *const name[] = {"n0", "login", "n1"};
	const char *line;

	logged[0] = '\0';
	for (int i = 0; i < 2; i++)
		assert_int_equal(cpl_engine_set_hosts(engine, name, 3, NULL),
		                 0);
	line = strstr(logged, "nodes of the scheduler that the network does "
	                      "not have: 1 (login)");
	assert_non_null(line);
	assert_null(strstr(line + 1, "nodes of the scheduler"));
}

/* fault 11: sized by its CPUs, a job refused on a few hosts gets more. */
static void test_more_hosts_after_a_refusal(void **state)
{
	struct cpl_engine_request req = request(1, "a8", "linear", 2);

	all_free();
	req.need = (struct cpl_need){
	        .min_nodes = 1, .max_nodes = 500000, .nodes = 1, .cpus = 8};
	fake.refuse_below = 4;
	assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
	assert_int_equal(fake.n_host, 4);
	assert_int_equal(fake.placed, 3);
	assert_int_equal(record()->nodes_wanted, 4);
	assert_int_equal(record()->ranks_per_node, 2);
}

/* faults 10 and 13: hosts of lower ranks are filled first. */
static void test_lower_ranks_are_filled_first(void **state)
{
	static const struct {
		int cheap;    /* hosts from 10 on, of rank 1 */
		int dear;     /* host of rank 9, -1: none; the others have 5 */
		int required; /* host, -1: none */
		int want;     /* of the four that must be cheap */
	} table[] = {
	        {4, -1, -1, 4},
	        {6, -1, -1, 4},
	        /* Too few: these all, and one of the next rank. */
	        {3, 0, -1, 3},
	        {1, 0, -1, 1},
	        /* The user's own come before them. */
	        {3, -1, 0, 3},
	        {3, 0, 0, 3},
	};

	for (size_t k = 0; k < sizeof(table) / sizeof(*table); k++) {
		struct cpl_engine_request req =
		        request(1, "a8", "random-groups", 4);
		int cheap = 0, required = table[k].required;
		bool has_required = required < 0;

		all_free();
		for (int i = 0; i < HOSTS; i++)
			fake.rank[i] = i == table[k].dear ? 9 : 5;
		for (int i = 10; i < 10 + table[k].cheap; i++)
			fake.rank[i] = 1;
		req.required = &required;
		req.n_required = required >= 0;
		assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
		assert_int_equal(fake.n_host, 4);
		for (int i = 0; i < 4; i++) {
			cheap += fake.rank[fake.host[i]] == 1;
			has_required |= fake.host[i] == required;
			assert_true(fake.rank[fake.host[i]] < 9 ||
			            fake.host[i] == required);
		}
		assert_int_equal(cheap, table[k].want);
		assert_true(has_required);
		/* From one state always one answer, and it can be repeated. */
		assert_int_equal(record()->required_hosts[0] != '\0',
		                 table[k].cheap < 4 || required >= 0);
	}
	/* Refused there: no rank counts any more. */
	all_free();
	for (int i = 0; i < HOSTS; i++)
		fake.rank[i] = i >= 10;
	for (int i = 0; i < 10; i++)
		fake.useless[i] = true;
	struct cpl_engine_request req = request(1, "a8", "random-groups", 4);
	assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
	for (int i = 0; i < 4; i++)
		assert_true(fake.host[i] >= 10);
	/* The user's are as good as those filled first. */
	all_free();
	for (int i = 0; i < HOSTS; i++)
		fake.rank[i] = i >= 3;
	int two[] = {20, 21};
	req.required = two;
	req.n_required = 2;
	assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
	assert_int_equal(fake.host[2], 20);
	assert_int_equal(fake.host[3], 21);
}

/* fault 31: the site's default has nothing to say of these jobs. */
static void test_defaults_that_do_nothing_are_silent(void **state)
{
	struct cpl_engine_request req = request(1, NULL, NULL, 4);

	all_free();
	config("DefaultPolicy=auto");
	assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
	fake.wanted = 4;
	assert_int_equal(ask(&req), CPL_ENGINE_STOCK);
	assert_null(engine->decided);
	config("DefaultPolicy=linear");
	assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
	assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
	req = request(1, NULL, NULL, 1);
	assert_int_equal(ask(&req), CPL_ENGINE_NONE);
	/* Who asks gets an answer, and so do jobs with a profile. */
	req.job.policy = "linear";
	assert_int_equal(ask(&req), CPL_ENGINE_STOCK);
	assert_non_null(strstr(record()->reason, "MinNodes=2"));
}

/* fault 26: what is on record is the order in which the ranks run. */
static void test_the_users_order_is_on_record(void **state)
{
	const uint16_t even[] = {2, 2, 2, 2};
	struct cpl_engine_request req = request(1, "a8", "linear", 4);
	struct cpl_engine_allocation got = {.id = 1,
	                                    .host = fake.host,
	                                    .layout = fake_cyclic,
	                                    .arg = &fake.n_host,
	                                    .own_order = true};
	const struct cpl_engine_live live[] = {{.id = 2}};
	struct cpl_engine_notice notice;
	const struct cpl_record *on_record;
	struct cpl_engine_layout out;
	struct laid_out laid;

	all_free();
	assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
	got.n_hosts = fake.n_host;
	cpl_engine_start(engine, &got, &notice);
	assert_null(strstr(notice.text, "mapping="));
	on_record = engine_running_find(engine, 1)->record;
	assert_int_equal(on_record->ranks, 8);
	assert_true(on_record->mapping_kept_default);
	for (int r = 0; r < 8; r++)
		assert_int_equal(
		        atoi(on_record->host[on_record->rank_host[r]] + 1),
		        fake.host[r % 4]);
	assert_false(has_layout(1));
	cpl_engine_end(engine, 1);
	/* Only one of its steps: from then on, until one follows the layout. */
	start(2, "a8", "random-groups", 4, 8);
	on_record = engine_running_find(engine, 2)->record;
	int planned[8];
	memcpy(planned, on_record->rank_host, sizeof(planned));
	lay_out(&laid, 2, even, true);
	cpl_engine_step(engine, &laid.step, &out);
	assert_false(out.changed);
	for (int r = 0; r < 8; r++)
		assert_int_equal(
		        atoi(on_record->host[on_record->rank_host[r]] + 1),
		        fake.host[r % 4]);
	lay_out(&laid, 2, even, false);
	cpl_engine_step(engine, &laid.step, &out);
	assert_true(out.changed);
	assert_memory_equal(on_record->rank_host, planned, sizeof(planned));
	/* Also over a restart. */
	lay_out(&laid, 2, even, true);
	cpl_engine_step(engine, &laid.step, &out);
	assert_true(cpl_engine_idle(engine, WAIT_MS));
	cpl_engine_free(engine);
	set_up_engine();
	cpl_engine_restore(engine, live, 1, WAIT_MS);
	assert_true(has_layout(2));
	on_record = engine_running_find(engine, 2)->record;
	assert_memory_not_equal(on_record->rank_host, planned, sizeof(planned));
	lay_out(&laid, 2, even, false);
	cpl_engine_step(engine, &laid.step, &out);
	assert_true(out.changed);
	assert_memory_equal(on_record->rank_host, planned, sizeof(planned));
}

/* A plan without any load, in the order of blocks, is a plan all the same. */
static void test_a_plan_without_load_stays_over_a_restart(void **state)
{
	const uint16_t even[] = {2, 2, 2, 2};
	const struct cpl_engine_live live[] = {{.id = 3}};
	struct cpl_engine_layout out;
	struct laid_out laid;
	int planned[8];

	all_free();
	put("quiet8.json",
	    "{\"format\": \"commplace-signature\", \"version\": 1, \"ranks\": "
	    "8, \"phases\": [{\"name\": \"p\", \"weight\": 1, \"traffic\": "
	    "[[0, 1, 9, 1], [2, 3, 9, 1], [4, 5, 9, 1], [6, 7, 9, 1]]}]}");
	start(3, "quiet8", "random-groups", 4, 8);
	memcpy(planned, engine_running_find(engine, 3)->record->rank_host,
	       sizeof(planned));
	assert_true(cpl_engine_idle(engine, WAIT_MS));
	cpl_engine_free(engine);
	set_up_engine();
	cpl_engine_restore(engine, live, 1, WAIT_MS);
	assert_true(has_layout(3));
	assert_false(engine_running_find(engine, 3)->own_order);
	lay_out(&laid, 3, even, false);
	cpl_engine_step(engine, &laid.step, &out);
	assert_memory_equal(engine_running_find(engine, 3)->record->rank_host,
	                    planned, sizeof(planned));
}

/* A job of so many ranks begins on the hosts of `fake`, for which nothing was
 * decided. */
static void begin_unplaced(const struct cpl_job_facts *job, int ranks,
                           bool own_order, struct cpl_engine_notice *notice)
{
	struct cpl_engine_allocation got = {
	        .id = job->id,
	        .job = *job,
	        .ranks = ranks,
	        .host = fake.host,
	        .n_hosts = fake.n_host,
	        .layout = fake_layout,
	        .arg = &fake.n_host,
	        .own_order = own_order,
	};

	cpl_engine_start(engine, &got, notice);
}

/* The first rank of each of four hosts in a step of these counts; false: the
 * order is the scheduler's. */
static bool step_order(int64_t id, const uint16_t *tasks, bool own, int *first)
{
	struct cpl_engine_layout out;
	struct laid_out laid;

	lay_out(&laid, id, tasks, false);
	laid.step.own_order = own;
	cpl_engine_step(engine, &laid.step, &out);
	assert_true(rows_increase(&laid));
	for (int i = 0; i < 4; i++)
		first[i] = laid.tasks[i] ? (int)laid.id[i][0] : -1;
	return out.changed;
}

static void test_order_without_a_profile(void **state)
{
	static const struct {
		const char *config;
		struct cpl_job_facts job;
		bool own, ordered;
	} row[] = {
	        {"", {.id = 1}, false, false},
	        {"", {.id = 1, .mapping = "network-order"}, false, true},
	        {"", {.id = 1, .mapping = "network-order"}, true, false},
	        {"UserMayOverride=none", {.id = 1, .mapping = "network-order"},
	         false, false},
	        {"MappingWithoutProfile=network-order", {.id = 1}, false, true},
	        {"MappingWithoutProfile=network-order",
	         {.id = 1, .mapping = "linear"}, false, false},
	        {"MappingWithoutProfile=network-order MinNodes=5", {.id = 1},
	         false, false},
	        {"MappingWithoutProfile=network-order Mode=observe", {.id = 1},
	         false, false},
	        {"DefaultMapping=network-order", {.id = 1}, false, true},
	        {"DefaultMapping=network-order MappingWithoutProfile=none",
	         {.id = 1}, false, false},
	        {"Match Nodes=4 MappingWithoutProfile=network-order", {.id = 1},
	         false, true},
	        {"Match Nodes=3 MappingWithoutProfile=network-order", {.id = 1},
	         false, false},
	        {"Match QOS=q MappingWithoutProfile=network-order",
	         {.id = 1, .qos = "q"}, false, true},
	        {"Partition=p DefaultPolicy=none\n"
	         "MappingWithoutProfile=network-order",
	         {.id = 1, .partition = "p"}, false, false},
	};
	static const uint16_t even[] = {2, 2, 2, 2}, odd[] = {1, 2, 0, 3};
	const struct cpl_engine_live live[] = {{.id = 1}};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct cpl_engine_notice notice;
		int first[4];

		config(row[i].config);
		assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
		/* Routers 0 to 3 of group 0, two in a row. */
		for (int h = 0; h < 4; h++)
			fake.host[h] = 2 * h;
		fake.n_host = 4;
		begin_unplaced(&row[i].job, i % 2 ? 8 : 0, row[i].own, &notice);
		if (!!engine_running_find(engine, 1) != row[i].ordered)
			fail_msg("row %zu: %s", i, notice.text);
		if (!row[i].ordered)
			continue;
		assert_non_null(strstr(notice.text,
		                       "stock (no policy is asked for)"));
		for (int turn = 0; turn < 2; turn++) {
			assert_true(step_order(1, even, false, first));
			assert_int_equal(first[0], 0);
			assert_int_equal(first[1], 2);
			assert_int_equal(first[2], 6);
			assert_int_equal(first[3], 4);
			/* Other counts, and another number of ranks. */
			assert_true(step_order(1, odd, false, first));
			assert_int_equal(first[0], 0);
			assert_int_equal(first[1], 1);
			assert_int_equal(first[3], 3);
			assert_false(step_order(1, even, true, first));
			assert_int_equal(first[3], 6);
			if (turn)
				continue;
			assert_true(cpl_engine_idle(engine, WAIT_MS));
			cpl_engine_free(engine);
			set_up_engine();
			cpl_engine_restore(engine, live, 1, WAIT_MS);
		}
		cpl_engine_end(engine, 1);
	}
}

/* Rules that ask for the number of nodes, which a look at the free ones tells;
 * and the values of a rule that a decision follows. */
static void test_rules_of_sizes(void **state)
{
	static const struct {
		const char *rules;
		int nodes;
		const char *policy, *objective;
	} row[] = {
	        {"Match Nodes=4 DefaultPolicy=random-nodes Objective=hop-bytes",
	         4, "random-nodes", "hop-bytes"},
	        {"Match Nodes=5- DefaultPolicy=random-nodes", 4, NULL, NULL},
	        {"DefaultPolicy=linear\nMatch Nodes=2-3 DefaultPolicy=none", 3,
	         NULL, NULL},
	        {"DefaultPolicy=linear\nMatch Nodes=2-3 DefaultPolicy=none", 4,
	         "linear", "max-congestion"},
	        {"Match Account=a QOS=b* DefaultPolicy=RRN", 4,
	         "round-robin-nodes", "max-congestion"},
	        {"Match Account=a QOS=c DefaultPolicy=RRN", 4, NULL, NULL},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct cpl_engine_request req =
		        request(1, NULL, NULL, row[i].nodes);

		config(row[i].rules);
		assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
		all_free();
		fake.wanted = row[i].nodes;
		req.job.account = "a";
		req.job.qos = "b1";
		assert_int_equal(ask(&req) == CPL_ENGINE_PLACED,
		                 row[i].policy != NULL);
		if (!row[i].policy)
			continue;
		assert_string_equal(record()->policy, row[i].policy);
		assert_string_equal(record()->objective, row[i].objective);
	}
}

/* fault 28: of observed jobs, too, what they would have got. */
static void test_observed_jobs_tell_what_would_be(void **state)
{
	struct cpl_engine_request req = request(1, "a8", "random-groups", 4);
	struct cpl_engine_notice notice;

	all_free();
	fake.wanted = 4;
	config("Mode=observe");
	assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
	assert_int_equal(ask(&req), CPL_ENGINE_STOCK);
	fake_begin(engine, 1, &fake, &notice);
	assert_non_null(strstr(notice.text, "stock (Mode=observe) profile=a8 "
	                                    "would be policy=random-groups "
	                                    "nodes=n["));
	assert_non_null(strstr(notice.text, " max congestion "));
	assert_non_null(strstr(notice.text, " (stock "));
}

/* What a user calls a profile gets as it is into no log and no comment. */
static void test_names_are_made_printable(void **state)
{
	static const char *const name[] = {
	        "a\nslurmctld: error: b", "a\033[2J", "a\xc2\x9b" "2J",
	        "a\xe2\x80\xae" "b", "a\xff", "a\r\tb", "../a\x7f"};

	all_free();
	for (size_t i = 0; i < sizeof(name) / sizeof(name[0]); i++) {
		struct cpl_engine_request req =
		        request((int64_t)i + 1, name[i], "linear", 4);
		struct cpl_engine_scheduler scheduler = fake_scheduler(&fake);
		struct cpl_engine_notice notice;
		char text[512] = "";

		logged[0] = '\0';
		assert_int_equal(cpl_engine_decide(engine, &req, &scheduler,
		                                   text, sizeof(text)),
		                 CPL_ENGINE_STOCK);
		assert_non_null(strstr(text, "stock: "));
		assert_true(cpl_is_printable(text));
		fake_begin(engine, req.job.id, &fake, &notice);
		assert_non_null(strstr(notice.text, "commplace: stock ("));
		assert_true(cpl_is_printable(notice.text));
		for (char *line = logged; *line; line++)
			if (*line == '\n')
				*line = ' ';
		assert_true(cpl_is_printable(logged));
	}
}

/* Each answer is counted, and why it is the stock one. */
static void test_answers_are_counted(void **state)
{
	static const struct {
		const char *profile, *policy, *option;
		int nodes, ranks;
		bool refuse, observe;
		enum cpl_reason reason; /* none: placed */
	} row[] = {
	        {"a8", "random-groups", .nodes = 4},
	        {"a8", "linear", .nodes = 4, .ranks = 9,
	         .reason = CPL_REASON_RANKS},
	        {"absent", "linear", .nodes = 4, .reason = CPL_REASON_MISSING},
	        {"bad", "linear", .nodes = 4, .reason = CPL_REASON_BROKEN},
	        {NULL, "traffic", .nodes = 4, .reason = CPL_REASON_NO_PROFILE},
	        {"a8", NULL, .nodes = 1, .reason = CPL_REASON_MIN_NODES},
	        {"a8", NULL, "--switches", 4, .reason = CPL_REASON_OPTION},
	        {"a8", NULL, .nodes = HOSTS + 1, .reason = CPL_REASON_NODES},
	        {"a8", "linear", .nodes = 4, .refuse = true,
	         .reason = CPL_REASON_REFUSED},
	        {"a8", "linear", .nodes = 4, .observe = true,
	         .reason = CPL_REASON_OBSERVE},
	};
	const uint64_t *count = engine->counters.count;

	put("bad.json", "{}");
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct cpl_engine_request req = request(
		        1, row[i].profile, row[i].policy, row[i].nodes);
		bool placed = row[i].reason == CPL_REASON_NONE;
		struct cpl_counters before;

		config(row[i].observe ? "Mode=observe" : "RankMismatch=reject\n"
		                                         "MissingProfile=reject");
		assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
		before = engine->counters;
		all_free();
		fake.wanted = row[i].nodes;
		fake.refuse_below = row[i].refuse ? HOSTS + 1 : 0;
		req.ranks = row[i].ranks;
		req.stock_reason = row[i].option;
		assert_int_equal(ask(&req) == CPL_ENGINE_PLACED, placed);
		assert_int_equal(count[CPL_COUNT_PLACED] -
		                         before.count[CPL_COUNT_PLACED],
		                 placed);
		assert_int_equal(count[CPL_COUNT_OBSERVED] -
		                         before.count[CPL_COUNT_OBSERVED],
		                 row[i].observe);
		for (int r = 1; r < CPL_REASONS; r++)
			assert_int_equal(
			        count[CPL_COUNT_REASON + r] -
			                before.count[CPL_COUNT_REASON + r],
			        r == (int)row[i].reason);
		assert_int_equal(
		        cpl_histogram_count(
		                &engine->counters.time[CPL_TIME_HELD_TEST]) -
		                cpl_histogram_count(
		                        &before.time[CPL_TIME_HELD_TEST]),
		        1);
	}
}

/* They are in StateDir when the engine ends, and go on after it. */
static void test_counters_survive_a_restart(void **state)
{
	struct cpl_counters file;

	for (int i = 1; i <= 2; i++) {
		all_free();
		start(i, "a8", "random-groups", 4, 8);
		cpl_engine_free(engine);
		assert_int_equal(
		        cpl_counters_load(in_dir("state/counters.json"), &file,
		                          NULL),
		        0);
		assert_int_equal(file.count[CPL_COUNT_PLACED], i);
		assert_int_equal(file.count[CPL_COUNT_START_PLACED], i);
		assert_int_equal(
		        cpl_histogram_count(&file.time[CPL_TIME_HELD_START]), i);
		assert_true(file.since > 0);
		set_up_engine();
	}
}

/* fault 27: a changed table of routes is seen, and which configuration is in
 * force is said. */
static void test_a_changed_table_of_routes_is_seen(void **state)
{
	static const char network[] =
	        "{\"format\": \"commplace-network\", \"version\": 1, "
	        "\"type\": \"graph\", \"routers\": 3, \"links\": [[0, 1], "
	        "[1, 0], [1, 2], [2, 1], [0, 2], [2, 0]], \"routing_table\": "
	        "\"routes\", \"nodes\": \"n[0-2]\"}";
	static const char direct[] =
	        "0 1 1\n1 0 0\n1 2 2\n2 1 1\n0 2 2\n2 0 0\n";
	static const char around[] =
	        "0 1 1\n1 0 0\n1 2 2\n2 1 1\n0 2 1 2\n2 0 1 0\n";
	const struct cpl_route_table *routes;
	struct cpl_error err = {""};

	put("routes", direct);
	put("network.json", network);
	if (cpl_engine_load(engine, WAIT_MS, &err))
		fail_msg("%s", err.text);
	assert_non_null(strstr(logged, " is in force: Mode=on, "));
	routes = engine->snapshot->net->routes;
	assert_int_equal(routes->start[6] - routes->start[0], 6);
	put("routes", around);
	assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
	routes = engine->snapshot->net->routes;
	assert_int_equal(routes->start[6] - routes->start[0], 8);
	/* Nothing changed at all. */
	put("network.json",
	    "{\"format\": \"commplace-network\", \"version\": 1, \"type\": "
	    "\"torus\", \"dims\": [4, 4], \"nodes\": \"n[0-15]\"}");
	assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
	assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
	assert_non_null(strstr(logged, " is in force, unchanged since 20"));
	put("commplace.conf", "Mode=of\n");
	assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), -1);
	assert_non_null(
	        strstr(logged, "the configuration in force stays, that of 20"));
}

/* A new version of a profile is used from the next look at it on. */
static void test_profiles_are_read_anew_when_they_change(void **state)
{
	struct cpl_engine_request req = request(1, "a8", "auto", 4);

	all_free();
	ask(&req);
	assert_int_equal(record()->ranks, 8);
	profile("a8", 12, 3);
	assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
	ask(&req);
	assert_int_equal(record()->ranks, 12);
	assert_int_equal(record()->ranks_per_node, 3);
}

/* One line of text could otherwise take gigabytes in slurmctld. */
static void test_a_huge_pattern_is_left_out(void **state)
{
	struct cpl_engine_request req;

	all_free();
	req = request(1, "huge", "auto", 16);
	put("huge.json",
	    "{\"format\": \"commplace-signature\", \"version\": 1, "
	    "\"ranks\": 8192, \"phases\": [{\"pattern\": {\"type\": "
	    "\"collective\", \"operation\": \"alltoall\", \"algorithm\": "
	    "\"pairwise\", \"ranks\": 8192, \"bytes\": 8}}]}");
	assert_int_equal(ask(&req), CPL_ENGINE_STOCK);
	assert_non_null(strstr(record()->reason, "up to 67108864 pairs"));
}

static uint64_t hits, misses;

/* How the last call came by its decision: 'h' out of memory, 'm' made. */
static char memo(void)
{
	uint64_t hit = engine->counters.count[CPL_COUNT_CACHE_HIT] - hits;
	uint64_t miss = engine->counters.count[CPL_COUNT_CACHE_MISS] - misses;

	hits += hit;
	misses += miss;
	assert_int_equal(hit + miss, 1);
	return hit ? 'h' : 'm';
}

static int as_asked(struct cpl_engine_request *req, int *host)
{
	assert_int_equal(ask(req), CPL_ENGINE_PLACED);
	memcpy(host, fake.host, (size_t)fake.n_host * sizeof(int));
	return fake.n_host;
}

/* Fault 7: what was decided is decided again only after something changed. */
static void test_decisions_are_remembered(void **state)
{
	struct cpl_engine_request req = request(70, "a8", "auto", 4);
	struct cpl_engine_request wish = request(71, "a8", "traffic", 4);
	struct cpl_engine_notice notice;
	int one[HOSTS], two[HOSTS], required = 17;

	hits = misses = 0;
	all_free();
	req.start = false;
	as_asked(&req, one);
	assert_int_equal(memo(), 'm');
	/* A test, then the start, and another job of the same kind. */
	req.start = true;
	assert_int_equal(as_asked(&req, two), 4);
	assert_int_equal(memo(), 'h');
	assert_memory_equal(one, two, 4 * sizeof(int));
	req.job.id = 72;
	as_asked(&req, two);
	assert_int_equal(memo(), 'h');
	/* Another policy, number of nodes, wish of nodes, or free host. */
	as_asked(&wish, two);
	assert_int_equal(memo(), 'm');
	wish.need.min_nodes = wish.need.max_nodes = 5;
	as_asked(&wish, two);
	assert_int_equal(memo(), 'm');
	req.required = &required;
	req.n_required = 1;
	as_asked(&req, two);
	assert_int_equal(memo(), 'm');
	req.n_required = 0;
	fake.cpus[31] = 0;
	as_asked(&req, two);
	assert_int_equal(memo(), 'm');
	fake.cpus[31] = 4;
	as_asked(&req, two);
	assert_int_equal(memo(), 'h');
	assert_memory_equal(one, two, 4 * sizeof(int));
	/* A job that begins changes the background, and one that ends. */
	fake_begin(engine, 72, &fake, &notice);
	req.job.id = 73;
	as_asked(&req, two);
	assert_int_equal(memo(), 'm');
	cpl_engine_suspended(engine, 72, true);
	as_asked(&req, two);
	assert_int_equal(memo(), 'm');
	cpl_engine_suspended(engine, 72, false);
	as_asked(&req, two);
	assert_int_equal(memo(), 'm');
	cpl_engine_end(engine, 72);
	as_asked(&req, two);
	assert_int_equal(memo(), 'm');
	assert_memory_equal(one, two, 4 * sizeof(int));
	/* One that put nothing on the links leaves it as it was. */
	fake_begin(engine, 73, &fake, &notice);
	cpl_engine_end(engine, 73);
	req.job.id = 74;
	as_asked(&req, two);
	assert_int_equal(memo(), 'h');
	/* So does another configuration. */
	config("Objective=hop-bytes");
	assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
	as_asked(&req, two);
	assert_int_equal(memo(), 'm');
}

static bool at_once(void *arg)
{
	return true;
}

/* Fault: what the clock cut was the answer for as long as the machine was the
 * same. */
static void test_cut_decisions_are_made_again(void **state)
{
	struct cpl_engine_request req = request(77, "a8", "auto", 4);
	unsigned char is_free[HOSTS];
	struct cpl_profile *profile;
	struct cpl_error err = {""};

	hits = misses = 0;
	all_free();
	ask(&req);
	profile = engine->decided->profile;
	memset(is_free, 1, sizeof(is_free));
	struct cpl_decide_request core = {
	        .place = {.net = engine->snapshot->net,
	                  .free = is_free,
	                  .n_nodes_wanted = 4},
	        .policy = "auto",
	        .routing = engine->snapshot->routing,
	        .comm = profile->comm,
	        .ranks_per_node = 2,
	        .mapper = &cpl_mapper_quick,
	        .expired = at_once,
	};
	memo();
	assert_true(engine_memo_decide(engine, &core, profile, &err)->cut_short);
	assert_int_equal(memo(), 'm');
	core.expired = NULL;
	assert_false(
	        engine_memo_decide(engine, &core, profile, &err)->cut_short);
	assert_int_equal(memo(), 'm');
	core.expired = at_once;
	assert_false(
	        engine_memo_decide(engine, &core, profile, &err)->cut_short);
	assert_int_equal(memo(), 'h');
}

/* The ranks run as the decision mapped them, where each host has as many slots
 * as it was decided by; else they are mapped for what there is. */
static void test_ranks_run_as_decided(void **state)
{
	struct cpl_engine_request req = request(78, "t16", "auto", 8);
	struct cpl_engine_notice notice;
	const struct cpl_record *r;
	int planned[16];

	all_free();
	assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
	assert_true(engine->decided->mapped);
	/* Told from one mapped anew by an order that no mapper makes. */
	for (int k = 0; k < 16; k++)
		planned[k] = (k * 3 + 1) % 8;
	free(engine->decided->rank_host);
	engine->decided->rank_host = malloc(sizeof(planned));
	memcpy(engine->decided->rank_host, planned, sizeof(planned));
	fake_begin(engine, 78, &fake, &notice);
	r = engine_running_find(engine, 78)->record;
	assert_memory_equal(r->rank_host, planned, sizeof(planned));
	assert_false(r->mapping_kept_default);
	for (int i = 0; i < r->n_candidates; i++) {
		const struct cpl_record_candidate *c = &r->candidate[i];

		if (strcmp(c->policy, r->policy) || c->seed != r->seed)
			continue;
		assert_true(r->map_max_before == c->max_congestion);
		assert_true(r->map_max_after == c->mapped_max);
	}
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

/* What is kept whole, what is broken and what that costs is on record; units
 * that the network has not are said and not kept. */
static void test_units_are_kept(void **state)
{
	static const struct {
		const char *lines, *units;
		int price;
	} row[] = {
	        {"", NULL, 0},
	        {"KeepWhole=group KeepWholePrice=1000", "group", 1000},
	        {"KeepWhole=group", "group", 10},
	        {"KeepWhole=none\nMatch JobName=* KeepWhole=3 "
	         "KeepWholePrice=0",
	         "3", 0},
	        {"KeepWhole=board", NULL, 0},
	};
	struct cpl_engine_request req;
	int broken[5];

	for (int k = 0; k < 5; k++) {
		const struct cpl_record_candidate *taken = NULL;
		const struct cpl_record *r;
		int n_made = 0, best = INT_MAX;

		all_free();
		/* Holes in the first groups: the others are whole. */
		fake.cpus[1] = fake.cpus[9] = 0;
		logged[0] = '\0';
		config(row[k].lines);
		assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
		assert_int_equal(!strstr(logged, "commplace.conf:5: KeepWhole: "
		                                 "this network has no units "
		                                 "'board'"),
		                 k != 4);
		/* Again: from memory. */
		for (int i = 0; i < 2; i++) {
			req = request(40, "b16", "auto", 6);
			req.job.name = "a";
			assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
		}
		r = record();
		assert_int_equal(!r->keep_whole, !row[k].units);
		if (row[k].units)
			assert_string_equal(r->keep_whole, row[k].units);
		assert_int_equal(r->keep_price, row[k].price);
		for (int i = 0; i < r->n_candidates; i++) {
			const struct cpl_record_candidate *c = &r->candidate[i];

			n_made += !strcmp(c->policy, "keep-whole");
			if (!strcmp(c->policy, r->policy) && c->seed == r->seed)
				taken = c;
			if (c->mapped && c->broken < best)
				best = c->broken;
		}
		assert_int_equal(n_made, row[k].units != NULL);
		assert_non_null(taken);
		assert_int_equal(taken->broken, r->broken);
		assert_true(r->best_broken >= r->broken);
		assert_true(r->price <= row[k].price / 100.0 * (1 + 1e-9));
		if (k == 1)
			assert_int_equal(r->broken, best);
		assert_int_equal(!r->best_policy, !row[k].units);
		broken[k] = r->broken;
	}
	assert_int_equal(broken[1], 0);
	assert_true(broken[3] >= broken[1]);
}

static size_t memo_bytes(int *n)
{
	size_t bytes = 0;

	*n = 0;
	for (struct memo *m = engine->memo; m; m = engine_memo_next(m, &bytes))
		++*n;
	return bytes;
}

/* However many different decisions there are. */
static void test_what_is_remembered_is_bounded(void **state)
{
	struct cpl_engine_request req = request(80, "a8", "auto", 2);
	int n;

	for (int i = 0; i < 300; i++) {
		all_free();
		for (int k = 0; k < 8; k++)
			fake.cpus[k] = i >> k & 1 ? 4 : 0;
		fake.cpus[8] = i >> 8 ? 4 : 0;
		fake.wanted = 2;
		assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
	}
	assert_true(memo_bytes(&n) < (size_t)9 << 20);
	assert_int_equal(n, 64);
}

/* Faults 7 and 36: the scheduler's own choice is asked for where few hosts are
 * free, and not at all where the site wants none of it. */
static void test_compare_nodes(void **state)
{
	static const struct {
		const char *config;
		int compared;
	} row[] = {
	        {"", 1},
	        {"CompareNodes=32", 1},
	        {"CompareNodes=31", 0},
	        {"CompareNodes=0", 0},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct cpl_engine_request req =
		        request(50 + (int64_t)i, "a8", "auto", 4);

		config(row[i].config);
		assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
		all_free();
		fake.wanted = 4;
		assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
		assert_int_equal(fake.compared, row[i].compared);
		assert_int_equal(fake.stocked, 0);
	}
}

/* Fault 7: calls that have used up their time leave the next ones to the
 * scheduler, until the pass is over. */
static void test_time_of_a_pass(void **state)
{
	struct cpl_engine_request req = request(60, "a8", "auto", 4);
	struct cpl_engine_notice notice;

	all_free();
	assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
	assert_true(engine->spent > 0);
	/* What the scheduler takes itself is not ours. */
	all_free();
	fake.place_us = 50000;
	engine->spent = 0;
	assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
	assert_true(engine->spent < 50 * INT64_C(1000000));
	fake.place_us = 0;
	/* MaxDecisionTime=20s, which is more than MaxPassTime. */
	engine->spent = 20 * INT64_C(1000000000);
	all_free();
	fake.wanted = 4;
	assert_int_equal(ask(&req), CPL_ENGINE_STOCK);
	assert_int_equal(fake.placed, 0);
	fake_begin(engine, 60, &fake, &notice);
	assert_non_null(strstr(notice.text, "stock (no time is left of "
	                                    "MaxPassTime)"));
	cpl_engine_end(engine, 60);
	/* Neither is a fault, nor is one that begins without its order. */
	engine->spent = 0;
	all_free();
	assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
	engine->decided->mapped = false;
	engine->spent = 20 * INT64_C(1000000000);
	fake_begin(engine, 60, &fake, &notice);
	cpl_engine_end(engine, 60);
	assert_non_null(strstr(logged, "ranks of job 60 are not mapped: no "
	                               "time is left of MaxPassTime"));
	assert_null(strstr(logged, "error: "));
	engine->spent = 20 * INT64_C(1000000000);
	engine->pass -= ENGINE_PASS_NS;
	all_free();
	assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
	assert_true(engine->spent < 20 * INT64_C(1000000000));
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
	        T(test_steps_by_what_is_handed_over),
	        T(test_damage_to_what_is_handed_over),
	        T(test_decisions_that_are_not_used),
	        T(test_what_begins_elsewhere_is_not_what_was_decided),
	        T(test_suspended_jobs_are_no_background),
	        T(test_refused_hosts_are_left_out),
	        T(test_resized_jobs_are_no_background),
	        T(test_seconds_on_record),
	        T(test_rates_follow_the_jobs),
	        T(test_waits_for_files_that_are_slow),
	        T(test_unknown_hosts_are_told_once),
	        T(test_more_hosts_after_a_refusal),
	        T(test_lower_ranks_are_filled_first),
	        T(test_defaults_that_do_nothing_are_silent),
	        T(test_the_users_order_is_on_record),
	        T(test_a_plan_without_load_stays_over_a_restart),
	        T(test_order_without_a_profile),
	        T(test_rules_of_sizes),
	        T(test_observed_jobs_tell_what_would_be),
	        T(test_names_are_made_printable),
	        T(test_decisions_are_remembered),
	        T(test_what_is_remembered_is_bounded),
	        T(test_cut_decisions_are_made_again),
	        T(test_ranks_run_as_decided),
	        T(test_others_are_looked_at),
	        T(test_units_are_kept),
	        T(test_compare_nodes),
	        T(test_time_of_a_pass),
	        T(test_answers_are_counted),
	        T(test_counters_survive_a_restart),
	        T(test_a_changed_table_of_routes_is_seen),
	        T(test_profiles_are_read_anew_when_they_change),
	        T(test_a_huge_pattern_is_left_out),
#undef T
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
