/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ranks of jobs and steps: mapped as decided, laid out, handed over, the user's own. */
#include "engine_fixture.h"

#include "binding/launch.h"
#include "mapping/quick.h"
#include "mapping/rank_order.h"
#include "traffic/workload.h"

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

/* Blocks, the first hosts one more where they are not even; arg is &n. */
static int layout_uneven(void *arg, int ranks, int *rank_host)
{
	int n = *(int *)arg, r = 0;

	for (int h = 0; h < n; h++)
		for (int k = ranks / n + (h < ranks % n); k > 0; k--)
			rank_host[r++] = h;
	return 0;
}

/* What launchers get is the job's layout. */
static void check_rank_order(int64_t id)
{
	const struct cpl_record *record =
	        engine_running_find(&engine->ledger, id)->record;
	char *text = engine_rank_order(&engine->ledger, id, 1000);
	char *hosts = cpl_hostlist_format(record->host, record->n_hosts);
	struct cpl_rank_order order;

	assert_non_null(text);
	assert_int_equal(cpl_rank_order_parse(text, hosts, &order, NULL), 0);
	assert_int_equal(order.ranks, record->ranks);
	assert_memory_equal(order.rank_host, record->rank_host,
	                    (size_t)record->ranks * sizeof(int));
	assert_null(engine_rank_order(&engine->ledger, id, strlen(text)));
	assert_null(engine_rank_order(&engine->ledger, 999, 1000));
	cpl_rank_order_free(&order);
	free(hosts);
	free(text);
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
	engine->desk.spent = 60 * INT64_C(1000000000);
	lay_out(&again, 5, uneven, false);
	cpl_engine_step(engine, &again.step, &out);
	assert_true(out.changed);
	assert_memory_equal(again.id, laid.id, sizeof(laid.id));
	lay_out(&again, 5, other, false);
	cpl_engine_step(engine, &again.step, &out);
	assert_false(out.changed);
	assert_non_null(strstr(out.unchanged.text, "MaxPassTime"));
	engine->desk.spent = 0;
	/* Another total: not ours. */
	lay_out(&laid, 5, fewer, false);
	cpl_engine_step(engine, &laid.step, &out);
	assert_false(out.changed);
	assert_non_null(strstr(out.unchanged.text, "7 tasks"));
	check_rank_order(5);
	/* A resized job has no plan any more. */
	cpl_engine_resized(engine, 5, fake.host, 3);
	assert_false(has_layout(5));
	assert_null(engine_rank_order(&engine->ledger, 5, 1000));
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

/* What travels with the step as the job has its ranks, or with what it hands
 * over where its steps are made elsewhere; an excerpt of a profile. */
static unsigned char *rows_of(int64_t id, bool handed, size_t *size)
{
	const uint16_t even[] = {2, 2, 2, 2};
	struct cpl_engine_layout out;
	struct cpl_launch launch;
	struct laid_out laid;
	struct cpl_error err;
	unsigned char *data;

	lay_out(&laid, id, even, false);
	laid.step.job.profile = "a8";
	if (handed) {
		data = hand_over(id, "a8", 4096, size, &err);
		assert_non_null(data);
		assert_int_equal(cpl_engine_step_handed(data, *size, &laid.step,
		                                        &out, NULL),
		                 0);
		free(data);
	} else {
		cpl_engine_step(engine, &laid.step, &out);
	}
	assert_non_null(out.data);
	*size = out.size;
	assert_int_equal(cpl_launch_read(out.data, out.size, &launch, NULL), 0);
	assert_int_equal(launch.kind, CPL_LAUNCH_ROWS);
	return out.data;
}

/* Fault: a step looked for the profile anew while its job held one, and bound
 * by another version of it than the job was laid out by, or by none. */
static void test_steps_take_the_profile_of_their_job(void **state)
{
	unsigned char *before, *now;
	size_t size, n;

	all_free();
	start(5, "a8", "random-groups", 4, 8);
	before = rows_of(5, false, &size);
	profile("a8", 8, 5);
	for (int turn = 0; turn < 2; turn++) {
		assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
		assert_non_null(
		        engine_running_find(&engine->ledger, 5)->profile);
		for (int handed = 0; handed < 2; handed++) {
			now = rows_of(5, handed, &n);
			assert_int_equal(n, size);
			assert_memory_equal(now, before, size);
			free(now);
		}
		remove(in_dir("a8.json"));
	}
	free(before);
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
	on_record = engine_running_find(&engine->ledger, 1)->record;
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
	on_record = engine_running_find(&engine->ledger, 2)->record;
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
	on_record = engine_running_find(&engine->ledger, 2)->record;
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
	memcpy(planned,
	       engine_running_find(&engine->ledger, 3)->record->rank_host,
	       sizeof(planned));
	assert_true(cpl_engine_idle(engine, WAIT_MS));
	cpl_engine_free(engine);
	set_up_engine();
	cpl_engine_restore(engine, live, 1, WAIT_MS);
	assert_true(has_layout(3));
	assert_false(engine_running_find(&engine->ledger, 3)->own_order);
	lay_out(&laid, 3, even, false);
	cpl_engine_step(engine, &laid.step, &out);
	assert_memory_equal(
	        engine_running_find(&engine->ledger, 3)->record->rank_host,
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
		if (!!engine_running_find(&engine->ledger, 1) != row[i].ordered)
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
	assert_true(engine->desk.decided->mapped);
	/* Told from one mapped anew by an order that no mapper makes. */
	for (int k = 0; k < 16; k++)
		planned[k] = (k * 3 + 1) % 8;
	free(engine->desk.decided->rank_host);
	engine->desk.decided->rank_host = malloc(sizeof(planned));
	memcpy(engine->desk.decided->rank_host, planned, sizeof(planned));
	fake_begin(engine, 78, &fake, &notice);
	r = engine_running_find(&engine->ledger, 78)->record;
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

/* The busiest link with a job's ranks there, or in blocks on its hosts in the
 * scheduler's order, uneven as the scheduler has them. */
static double busiest(const struct cpl_record *r,
                      int (*layout)(void *arg, int ranks, int *rank_host),
                      bool as_they_run)
{
	struct cpl_network *net =
	        cpl_network_load(in_dir("network.json"), NULL);
	struct cpl_signature *sig = cpl_profile_load(dir, r->profile, NULL);
	struct cpl_comm *comm = cpl_signature_total(sig, NULL);
	struct cpl_workload *w = cpl_workload_new(net, 1, NULL);
	int node[16], n = r->n_hosts, of[16];
	struct cpl_job job = {.routing = cpl_routing_find(net, NULL, NULL),
	                      .comm = comm,
	                      .node = node,
	                      .rank_host = as_they_run ? r->rank_host : of};
	struct cpl_metrics m;

	for (int h = 0; h < n; h++)
		node[h] = as_they_run ? cpl_network_node(net, r->host[h])
		                      : fake.host[h];
	layout(&n, r->ranks, of);
	assert_int_equal(cpl_workload_evaluate(w, &job, NULL, &m, NULL, NULL),
	                 0);
	cpl_workload_free(w);
	cpl_comm_free(comm);
	cpl_signature_free(sig);
	cpl_network_free(net);
	return m.max_congestion;
}

/* Row 58: mapped for other counts than were decided by, what is on record is
 * how they run and what the scheduler's order would be, and the default order
 * is kept where that is how they run. */
static void test_ranks_mapped_anew(void **state)
{
	static const char *const policy[] = {"auto", "traffic", "random-nodes",
	                                     "random-groups", "linear"};
	int kept = 0, moved = 0;

	for (int i = 0; i < 15; i++) {
		struct cpl_engine_request req =
		        request(i + 1, i % 3 ? i % 3 > 1 ? "t16" : "b16" : "a8",
		                policy[i / 3], 5);
		struct cpl_engine_allocation got = {.id = i + 1,
		                                    .layout = layout_uneven};
		struct cpl_engine_notice notice;
		const struct cpl_record *r;
		char shown[64];

		all_free();
		fake.wanted = 5;
		assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
		got.host = fake.host;
		got.n_hosts = fake.n_host;
		got.arg = &got.n_hosts;
		cpl_engine_start(engine, &got, &notice);
		r = engine_running_find(&engine->ledger, i + 1)->record;
		assert_float_equal(r->map_max_after, busiest(r, layout_uneven, true), 1e-9);
		assert_float_equal(r->map_max_before, busiest(r, layout_uneven, false), 1e-9);
		assert_int_equal(r->mapping_kept_default,
		                 r->map_max_after >= r->map_max_before);
		kept += r->mapping_kept_default;
		moved += !r->mapping_kept_default;
		snprintf(shown, sizeof(shown), "max congestion %.6g",
		         r->map_max_after);
		assert_non_null(strstr(notice.text, shown));
		cpl_engine_end(engine, i + 1);
	}
	print_message("%d in the default order, %d mapped\n", kept, moved);
	assert_true(moved > 3);
}

/* Blocks of even size from the last host to the first, as a topology of the
 * scheduler ranks them; arg is &n. */
static int layout_ranked(void *arg, int ranks, int *rank_host)
{
	int last = *(int *)arg - 1;

	fake_layout(arg, ranks, rank_host);
	for (int r = 0; r < ranks; r++)
		rank_host[r] = last - rank_host[r];
	return 0;
}

/* The scheduler's own order of ranks is not that of its table: orders of ours are
 * judged by that one, and where none is better the job has that one. */
static void test_the_order_of_a_ranking_scheduler(void **state)
{
	static const char *const policy[] = {"auto", "traffic", "random-nodes",
	                                     "linear"};
	static const char *const name[] = {"a8", "b16", "u4"};
	int kept = 0, moved = 0;

	/* All orders of this are alike. */
	put("u4.json",
	    "{\"format\": \"commplace-signature\", \"version\": 1, \"name\": "
	    "\"u4\", \"ranks\": 4, \"phases\": [{\"name\": \"p\", \"weight\": 1, "
	    "\"traffic\": [[0, 1, 8, 1], [0, 2, 8, 1], [0, 3, 8, 1], [1, "
	    "0, 8, 1], [1, 2, 8, 1], [1, 3, 8, 1], [2, 0, 8, 1], [2, 1,"
	    " 8, 1], [2, 3, 8, 1], [3, 0, 8, 1], [3, 1, 8, 1], [3, 2, "
	    "8, 1]]}]}");
	for (int i = 0; i < 12; i++) {
		struct cpl_engine_request req =
		        request(i + 1, name[i % 3], policy[i / 3], 4);
		struct cpl_engine_allocation got = {.id = i + 1,
		                                    .layout = layout_ranked,
		                                    .host = fake.host,
		                                    .arg = &got.n_hosts};
		struct cpl_engine_notice notice;
		const struct cpl_record *r;
		int stock[16];

		all_free();
		fake.wanted = 4;
		ask(&req);
		got.n_hosts = fake.n_host;
		cpl_engine_start(engine, &got, &notice);
		r = engine_running_find(&engine->ledger, i + 1)->record;
		layout_ranked(got.arg, r->ranks, stock);
		assert_float_equal(r->map_max_before,
		                   busiest(r, layout_ranked, false), 1e-9);
		assert_float_equal(r->map_max_after,
		                   busiest(r, layout_ranked, true), 1e-9);
		for (int k = 0; k < r->ranks && r->mapping_kept_default; k++)
			assert_string_equal(
			        r->host[r->rank_host[k]],
			        engine->desk.host_name[got.host[stock[k]]]);
		kept += r->mapping_kept_default;
		moved += !r->mapping_kept_default;
		cpl_engine_end(engine, i + 1);
	}
	print_message("%d in the scheduler's order, %d mapped\n", kept, moved);
	assert_true(kept > 3 && moved > 3);
}

/* The network states an adaptive routing: what is on record and shown is by it.
 */
static void test_the_stated_routing_is_shown(void **state)
{
	size_t length;
	char *text = cpl_file_read(in_dir("network.json"), 1 << 20, &length,
	                           NULL);
	char stated[1024], shown[128];
	struct cpl_engine_request req = request(5, "b16", "auto", 8);
	struct cpl_engine_notice notice;
	double stock = 0, chosen = 0;
	const struct cpl_record *r;

	assert_non_null(text);
	snprintf(stated, sizeof(stated),
	         "{\"routing\": \"adaptive-direct\", %s", text + 1);
	put("network.json", stated);
	free(text);
	config("KeepRecords=999");
	assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
	all_free();
	fake.wanted = 8;
	assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
	fake_begin(engine, 5, &fake, &notice);
	r = engine_running_find(&engine->ledger, 5)->record;
	assert_string_equal(r->routing, "static-direct");
	assert_string_equal(r->stated_routing, "adaptive-direct");
	for (int i = 0; i < r->n_candidates; i++) {
		const struct cpl_record_candidate *c = &r->candidate[i];

		if (!strcmp(c->policy, "stock"))
			stock = c->stated_max;
		if (!strcmp(c->policy, r->policy) && c->seed == r->seed)
			chosen = c->stated_max;
	}
	assert_true(chosen > 0 && chosen <= stock);
	snprintf(shown, sizeof(shown), "max congestion %.6g (stock %.6g)",
	         chosen, stock);
	assert_non_null(strstr(notice.text, shown));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	        T(test_steps_of_other_shapes),
	        T(test_steps_by_what_is_handed_over),
	        T(test_steps_take_the_profile_of_their_job),
	        T(test_damage_to_what_is_handed_over),
	        T(test_the_users_order_is_on_record),
	        T(test_a_plan_without_load_stays_over_a_restart),
	        T(test_order_without_a_profile),
	        T(test_ranks_run_as_decided),
	        T(test_ranks_mapped_anew),
	        T(test_the_order_of_a_ranking_scheduler),
	        T(test_the_stated_routing_is_shown),
#undef T
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
