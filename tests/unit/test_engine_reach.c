/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether the order of ranks reaches a job's tasks: what is assumed, and what
 * steps show for the jobs after them. */
#include "engine_fixture.h"

/* A step on the first n hosts of the job that began last. */
struct step {
	uint16_t tasks[4];
	uint32_t id[4][8];
	uint32_t *ids[4];
	char *hosts;
	struct cpl_engine_step step;
};

static void step_of(struct step *s, int64_t id, int n, int each)
{
	char *name[4];
	uint32_t rank = 0;

	memset(s, 0, sizeof(*s));
	for (int i = 0; i < n; i++) {
		assert_true(asprintf(&name[i], "n%d", fake.host[i]) > 0);
		s->tasks[i] = (uint16_t)each;
		s->ids[i] = s->id[i];
		for (int k = 0; k < each; k++)
			s->id[i][k] = rank++;
	}
	s->hosts = cpl_hostlist_format(name, n);
	for (int i = 0; i < n; i++)
		free(name[i]);
	s->step = (struct cpl_engine_step){
	        .job = {.id = id, .profile = "none"},
	        .hosts = s->hosts,
	        .n_hosts = n,
	        .ranks = (int)rank,
	        .tasks = s->tasks,
	        .ids = s->ids,
	};
}

static bool run(struct step *s)
{
	struct cpl_engine_layout out;

	cpl_engine_step(engine, &s->step, &out);
	free(out.data);
	free(s->hosts);
	return out.changed;
}

static bool run_step(int64_t id, int n, int each)
{
	struct step s;

	step_of(&s, id, n, each);
	return run(&s);
}

/* With a distribution that its user states. */
static void run_cyclic(int64_t id)
{
	struct step s;

	step_of(&s, id, 4, 2);
	for (uint32_t r = 0; r < 8; r++)
		s.id[r % 4][r / 4] = r;
	s.step.own_order = true;
	assert_false(run(&s));
}

static struct cpl_engine_request batch(int64_t id, const char *name,
                                       uint32_t uid)
{
	struct cpl_engine_request req = request(id, name, "auto", 4);

	req.job.uid = uid;
	req.batch = true;
	return req;
}

static void assumes(const struct cpl_engine_request *req, const char *reaches,
                    const char *by)
{
	all_free();
	fake.wanted = 4;
	assert_int_equal(ask(req), CPL_ENGINE_PLACED);
	assert_string_equal(record()->order_reaches, reaches);
	assert_string_equal(record()->order_known_by, by);
	assert_null(record()->order_arrived);
	if (!strcmp(reaches, CPL_REACH_NO))
		for (int i = 0; i < record()->n_candidates; i++)
			assert_false(record()->candidate[i].mapped);
}

/* A batch job of this user begins. */
static void begin_as(int64_t id, const char *name, uint32_t uid,
                     const char *reaches, const char *by)
{
	struct cpl_engine_request req = batch(id, name, uid);
	struct cpl_engine_notice notice;

	assumes(&req, reaches, by);
	fake_begin(engine, id, &fake, &notice);
}

static const char *arrived(int64_t id)
{
	return engine_running_find(&engine->ledger, id)->record->order_arrived;
}

static void expect(uint32_t uid, const char *name, const char *reaches,
                   const char *by)
{
	struct cpl_engine_request req = batch(99, name, uid);

	assumes(&req, reaches, by);
}

static void test_steps_show_it(void **state)
{
	begin_as(1, "a8", 7, CPL_REACH_UNKNOWN, CPL_REACH_BY_NONE);
	assert_null(arrived(1));
	/* Of some nodes only: it may be anything. */
	assert_false(run_step(1, 2, 1));
	assert_null(arrived(1));
	expect(7, "a8", CPL_REACH_UNKNOWN, CPL_REACH_BY_NONE);
	all_free();
	/* It took the order. */
	begin_as(1, "a8", 7, CPL_REACH_UNKNOWN, CPL_REACH_BY_NONE);
	assert_true(run_step(1, 4, 2));
	assert_string_equal(arrived(1), CPL_REACH_YES);
	expect(7, "a8", CPL_REACH_YES, CPL_REACH_BY_STEP);
	expect(8, "a8", CPL_REACH_UNKNOWN, CPL_REACH_BY_NONE);
	expect(7, "t8", CPL_REACH_UNKNOWN, CPL_REACH_BY_NONE);
}

static void test_steps_show_the_contrary(void **state)
{
	begin_as(1, "a8", 7, CPL_REACH_UNKNOWN, CPL_REACH_BY_NONE);
	run_cyclic(1);
	assert_string_equal(arrived(1), CPL_REACH_NO);
	expect(7, "a8", CPL_REACH_NO, CPL_REACH_BY_STEP);
	/* Other numbers of tasks. */
	begin_as(2, "a8", 8, CPL_REACH_UNKNOWN, CPL_REACH_BY_NONE);
	assert_false(run_step(2, 4, 3));
	assert_string_equal(arrived(2), CPL_REACH_NO);
	expect(8, "a8", CPL_REACH_NO, CPL_REACH_BY_STEP);
	/* Daemons of mpirun, which may read the host file. */
	begin_as(3, "a8", 9, CPL_REACH_UNKNOWN, CPL_REACH_BY_NONE);
	assert_false(run_step(3, 4, 1));
	assert_string_equal(arrived(3), CPL_REACH_UNKNOWN);
	expect(9, "a8", CPL_REACH_UNKNOWN, CPL_REACH_BY_STEP);
}

/* Of one job a step that takes it counts, before others and after them; of jobs
 * the last one. */
static void test_which_of_several_counts(void **state)
{
	begin_as(1, "a8", 7, CPL_REACH_UNKNOWN, CPL_REACH_BY_NONE);
	run_cyclic(1);
	assert_true(run_step(1, 4, 2));
	assert_string_equal(arrived(1), CPL_REACH_YES);
	run_cyclic(1);
	assert_string_equal(arrived(1), CPL_REACH_YES);
	expect(7, "a8", CPL_REACH_YES, CPL_REACH_BY_STEP);
	begin_as(2, "a8", 7, CPL_REACH_YES, CPL_REACH_BY_STEP);
	run_cyclic(2);
	expect(7, "a8", CPL_REACH_NO, CPL_REACH_BY_STEP);
}

/* The host file makes an order of the user's of ours. */
static void test_an_order_by_the_host_file(void **state)
{
	const struct cpl_record *r;
	struct step s;

	begin_as(1, "a8", 7, CPL_REACH_UNKNOWN, CPL_REACH_BY_NONE);
	step_of(&s, 1, 4, 2);
	r = engine_running_find(&engine->ledger, 1)->record;
	memset(s.tasks, 0, sizeof(s.tasks));
	for (uint32_t rank = 0; rank < 8; rank++) {
		const char *host = r->host[r->rank_host[rank]];
		int at = 0;

		while (fake.host[at] != atoi(host + 1))
			at++;
		s.id[at][s.tasks[at]++] = rank;
	}
	s.step.own_order = true;
	assert_false(run(&s));
	assert_string_equal(arrived(1), CPL_REACH_YES);
}

static void test_what_else_is_known(void **state)
{
	struct cpl_engine_request req = batch(1, "a8", 7);
	struct cpl_engine_notice notice;

	/* srun and salloc; their steps tell nothing of scripts. */
	req.batch = false;
	assumes(&req, CPL_REACH_YES, CPL_REACH_BY_SRUN);
	fake_begin(engine, 1, &fake, &notice);
	assert_true(run_step(1, 4, 2));
	assert_null(arrived(1));
	expect(7, "a8", CPL_REACH_UNKNOWN, CPL_REACH_BY_NONE);
	/* The user's word. */
	req = batch(2, "a8", 7);
	req.own_order = true;
	assumes(&req, CPL_REACH_NO, CPL_REACH_BY_USER);
	/* The site's. */
	config("OrderReaches=no\nPartition=p OrderReaches=yes\n"
	       "Match QOS=q OrderReaches=auto");
	assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
	req.own_order = false;
	assumes(&req, CPL_REACH_NO, CPL_REACH_BY_SITE);
	req.job.partition = "p";
	assumes(&req, CPL_REACH_YES, CPL_REACH_BY_SITE);
	fake_begin(engine, 2, &fake, &notice);
	run_cyclic(2);
	req = batch(3, "a8", 7);
	req.job.qos = "q";
	assumes(&req, CPL_REACH_UNKNOWN, CPL_REACH_BY_NONE);
}

static void test_it_is_on_record(void **state)
{
	const struct cpl_engine_live live[] = {{.id = 1}};

	begin_as(1, "a8", 7, CPL_REACH_UNKNOWN, CPL_REACH_BY_NONE);
	assert_true(run_step(1, 4, 2));
	assert_true(cpl_engine_idle(engine, WAIT_MS));
	cpl_engine_free(engine);
	set_up_engine();
	expect(7, "a8", CPL_REACH_UNKNOWN, CPL_REACH_BY_NONE);
	cpl_engine_restore(engine, live, 1, WAIT_MS);
	assert_true(cpl_engine_idle(engine, WAIT_MS));
	assert_true(has_layout(1));
	expect(7, "a8", CPL_REACH_YES, CPL_REACH_BY_STEP);
}

/* The oldest is forgotten. */
static void test_it_is_bounded(void **state)
{
	for (uint32_t uid = 1; uid <= ENGINE_SHOWN + 1; uid++) {
		begin_as(1, "a8", uid, CPL_REACH_UNKNOWN, CPL_REACH_BY_NONE);
		assert_true(run_step(1, 4, 2));
		cpl_engine_end(engine, 1);
	}
	expect(1, "a8", CPL_REACH_UNKNOWN, CPL_REACH_BY_NONE);
	expect(2, "a8", CPL_REACH_YES, CPL_REACH_BY_STEP);
	expect(ENGINE_SHOWN + 1, "a8", CPL_REACH_YES, CPL_REACH_BY_STEP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(test_steps_show_it, set_up,
	                                        tear_down),
	        cmocka_unit_test_setup_teardown(test_steps_show_the_contrary,
	                                        set_up, tear_down),
	        cmocka_unit_test_setup_teardown(test_which_of_several_counts,
	                                        set_up, tear_down),
	        cmocka_unit_test_setup_teardown(test_an_order_by_the_host_file,
	                                        set_up, tear_down),
	        cmocka_unit_test_setup_teardown(test_what_else_is_known, set_up,
	                                        tear_down),
	        cmocka_unit_test_setup_teardown(test_it_is_on_record, set_up,
	                                        tear_down),
	        cmocka_unit_test_setup_teardown(test_it_is_bounded, set_up,
	                                        tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
