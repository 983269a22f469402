/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A profile that the job's user may not read: whatever its submission said, no
 * decision, no step and no handover has it. */
#include "engine_fixture.h"

#include "binding/launch.h"
#include "site/submit.h"

/* Every system has the user 1, daemon. */
#define USER 1

static struct cpl_job_facts facts(const char *name)
{
	return (struct cpl_job_facts){.id = 1,
	                              .uid = USER,
	                              .gid = USER,
	                              .has_uid = true,
	                              .name = name,
	                              .profile = "milc"};
}

static void hide(const char *file)
{
	assert_int_equal(chmod(in_dir(file), 0600), 0);
}

static enum cpl_engine_answer decide(const char *name, int ranks)
{
	struct cpl_engine_request req = request(1, NULL, NULL, 4);

	all_free();
	fake.wanted = 4;
	req.job = facts(name);
	req.ranks = ranks;
	return ask(&req);
}

static bool accepted(const char *name, int64_t ranks)
{
	struct cpl_submission s = {.job = facts(name), .ranks = ranks};
	struct cpl_verdict verdict;
	bool refused;

	cpl_engine_submit(engine, &s, &verdict);
	refused = verdict.refused;
	if (refused)
		assert_non_null(strstr(verdict.message, "not yours to use"));
	cpl_verdict_free(&verdict);
	return !refused;
}

/* What a step of so many ranks on one host takes along; part: of a
 * heterogeneous job. */
static int kind_of_step(const char *name, int ranks, bool part)
{
	uint32_t id[32], *ids = id;
	uint16_t tasks = (uint16_t)ranks;
	struct cpl_engine_step step = {
	        .job = facts(name), .hosts = "n0", .n_hosts = 1,
	        .ranks = ranks, .tasks = &tasks, .ids = &ids, .part = part};
	struct cpl_engine_layout out;
	struct cpl_launch head;

	for (uint32_t r = 0; r < 32; r++)
		id[r] = r;
	cpl_engine_step(engine, &step, &out);
	assert_non_null(out.data);
	assert_int_equal(cpl_launch_read(out.data, out.size, &head, NULL), 0);
	if (head.kind == CPL_LAUNCH_NOTHING)
		assert_non_null(strstr(head.reason, "not yours to use"));
	free(out.data);
	return head.kind;
}

/* That no way leads to it. */
static void check_private(const char *name, int ranks)
{
	struct cpl_job_facts job = facts(name);
	struct cpl_engine_notice notice;
	struct cpl_error err;
	unsigned char *data;
	size_t size;

	assert_int_equal(decide(name, ranks), CPL_ENGINE_STOCK);
	assert_non_null(strstr(record()->reason, "not yours to use"));
	assert_null(engine->desk.decided->profile);
	fake_begin(engine, 1, &fake, &notice);
	assert_null(engine_running_find(&engine->ledger, 1)->profile);
	assert_false(engine_running_find(&engine->ledger, 1)->traffic);
	assert_int_equal(kind_of_step(name, ranks, false), CPL_LAUNCH_NOTHING);
	data = cpl_engine_handover(engine, &job, 1 << 16, &size, &err);
	/* A reason, and no row of the matrix. */
	assert_true(!data || size < 300);
	free(data);
	cpl_engine_end(engine, 1);
}

/* Another number of ranks of the same name: by a step, and by scontrol update of
 * a job that waits. */
static void test_another_number_of_ranks(void **state)
{
	profile("milc@8", 8, 3);
	profile("milc@16", 16, 5);
	hide("milc@16.json");
	assert_true(accepted("x", 8));
	assert_int_equal(decide("x", 8), CPL_ENGINE_PLACED);
	assert_int_equal(kind_of_step("x", 8, false), CPL_LAUNCH_ROWS);
	assert_int_equal(kind_of_step("x", 16, false), CPL_LAUNCH_NOTHING);
	check_private("x", 16);
	assert_false(accepted("x", 16));
}

/* One that every size is made of. */
static void test_what_would_be_rescaled(void **state)
{
	profile("milc", 16, 4);
	hide("milc.json");
	config("Rescale=yes");
	assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
	assert_false(accepted("x", 8));
	check_private("x", 8);
}

static void test_an_own_one_is_gone(void **state)
{
	char line[128];

	if (getuid())
		skip();
	profile("milc", 8, 3);
	hide("milc.json");
	assert_int_equal(chmod(dir, 0755), 0);
	assert_int_equal(mkdir(in_dir("users"), 0755), 0);
	assert_int_equal(mkdir(in_dir("users/1"), 0755), 0);
	profile("users/1/milc", 8, 3);
	assert_int_equal(chown(in_dir("users/1/milc.json"), USER, USER), 0);
	snprintf(line, sizeof(line), "UserProfileDir=%s/users/%%U", dir);
	config(line);
	assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
	assert_true(accepted("x", 8));
	assert_int_equal(decide("x", 8), CPL_ENGINE_PLACED);
	assert_int_equal(unlink(in_dir("users/1/milc.json")), 0);
	assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
	check_private("x", 8);
}

/* Nothing could be said of it at submission: no time, no file yet, or no
 * configuration. */
static void test_submitted_unseen(void **state)
{
	config("MissingProfile=ignore");
	assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
	assert_true(accepted("x", 8));
	profile("milc", 8, 3);
	hide("milc.json");
	engine->desk.spent = 60 * INT64_C(1000000000);
	engine->desk.pass = cpl_now();
	assert_true(accepted("x", 8));
	engine->desk.spent = 0;
	check_private("x", 8);
	assert_false(accepted("x", 8));
	/* A configuration that was never right. */
	cpl_engine_free(engine);
	put("commplace.conf", "Mode=perhaps\n");
	engine = cpl_engine_new(in_dir("commplace.conf"), take_log, NULL);
	assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), -1);
	assert_true(accepted("x", 8));
	cpl_engine_free(engine);
	config("");
	set_up_engine();
	check_private("x", 8);
}

static void check_refusal(const char *end)
{
	struct cpl_submission s = {.job = facts("x"), .ranks = 8};
	struct cpl_verdict verdict;
	char want[256];

	cpl_engine_submit(engine, &s, &verdict);
	assert_true(verdict.refused);
	snprintf(want, sizeof(want), "commplace: no profile 'milc' in %s%s",
	         dir, end);
	assert_string_equal(verdict.message, want);
	cpl_verdict_free(&verdict);
}

/* Of the site what the user may read, and what is the user's own. */
static void test_names_that_there_are(void **state)
{
	static const char *const shown[] = {"a8.json", "b16.json", "other.json",
	                                    "t16.json", "t8.json"};
	char line[128];

	if (getuid())
		skip();
	profile("other", 8, 3);
	profile("secret", 8, 3);
	hide("secret.json");
	hide("network.json");
	assert_int_equal(chmod(dir, 0755), 0);
	assert_int_equal(mkdir(in_dir("users"), 0755), 0);
	snprintf(line, sizeof(line), "UserProfileDir=%s/users/%%U", dir);
	config(line);
	assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
	check_refusal(
	        "; there are: a8, b16, other, t16, t8 (commplace signature "
	        "list)");
	assert_int_equal(mkdir(in_dir("users/1"), 0755), 0);
	profile("users/1/alien", 8, 3);
	profile("users/1/mine", 8, 3);
	assert_int_equal(chown(in_dir("users/1/mine.json"), USER, USER), 0);
	check_refusal(
	        "; there are: a8, b16, other, t16, t8 (commplace signature "
	        "list); your own: mine (commplace signature list --user)");
	for (size_t i = 0; i < sizeof(shown) / sizeof(*shown); i++)
		hide(shown[i]);
	check_refusal(" (commplace signature list); your own: mine (commplace "
	              "signature list --user)");
	assert_int_equal(unlink(in_dir("users/1/mine.json")), 0);
	check_refusal("; there are none (commplace signature list)");
}

/* Rights are those of now. */
static void test_rights_that_change(void **state)
{
	profile("milc", 8, 3);
	assert_int_equal(decide("x", 8), CPL_ENGINE_PLACED);
	hide("milc.json");
	assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
	check_private("x", 8);
	assert_int_equal(chmod(in_dir("milc.json"), 0644), 0);
	assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
	assert_int_equal(decide("x", 8), CPL_ENGINE_PLACED);
}

/* The site's own word is enough, as long as it stands. */
static void test_a_rule_gives_it(void **state)
{
	profile("milc", 8, 3);
	hide("milc.json");
	config("Match JobName=y* Profile=milc");
	assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
	assert_true(accepted("yes", 8));
	assert_int_equal(decide("yes", 8), CPL_ENGINE_PLACED);
	assert_int_equal(kind_of_step("yes", 8, false), CPL_LAUNCH_ROWS);
	/* scontrol update name= */
	check_private("no", 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	        T(test_another_number_of_ranks), T(test_what_would_be_rescaled),
	        T(test_an_own_one_is_gone),      T(test_submitted_unseen),
	        T(test_names_that_there_are),    T(test_rights_that_change),
	        T(test_a_rule_gives_it),
#undef T
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
