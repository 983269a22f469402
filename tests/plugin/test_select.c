/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The select plugin on the fake controller: whose nodes. */
#include "commplace-config.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "busy.h"

#include "site/record.h"
#include "slurm_share.h"

#define PLUGIN CPL_TEST_PLUGIN_DIR "/select_cons_tres_commplace.so"

/* The job runs on what the core decides from the same files and ends again. */
static void check_placed(const struct job_options *options, int nodes, int rpn,
                         const char *policy, const bitstr_t *free_nodes)
{
	struct oracle ask = {
	        .nodes = nodes,
	        .policy = policy,
	        .profile = options->profile,
	        .ranks_per_node = rpn,
	        .free = free_nodes,
	        .required = options->nodelist,
	};
	job_record_t *job = controller_job(options);
	char *stock = controller_stock_nodes(job), *want;

	ask.stock = stock;
	want = oracle_nodes(&ask);
	free(stock);
	assert_same(controller_run(job), want);
	assert_true(oracle_record(job->job_id, false));
	assert_non_null(strstr(job->admin_comment, "commplace: policy="));
#if CPLSLURM_SERIES >= 2411
	/* Limits go by it; what is asked beside leaves nothing in it. */
	assert_null(job->node_bitmap_preempt);
#endif
	finish(job);
}

/* For job_submit/commplace in the same slurmctld. */
static void test_shares_its_engine(void **state)
{
	struct cpl_submission submission = {
	        .job = {.profile = "no-such-profile", .uid = 1000}};
	struct cpl_verdict verdict;
	const struct cplslurm_share *share;
	void *plugin = dlopen(PLUGIN, RTLD_LAZY | RTLD_NOLOAD);

	assert_non_null(plugin);
	share = dlsym(plugin, CPLSLURM_SHARE_NAME);
	assert_non_null(share);
	assert_string_equal(share->version, PACKAGE_VERSION);
	assert_int_equal(share->submission, sizeof(submission));
	assert_int_equal(share->verdict, sizeof(verdict));
	assert_non_null(share->engine());
	share->submit(share->engine(), &submission, &verdict);
	assert_true(verdict.refused);
	assert_non_null(strstr(verdict.message, "no-such-profile"));
	free(verdict.message);
	dlclose(plugin);
}

/* Where the ranks of a job that gave nodes back are is not known any more, so
 * it is no background. */
static void test_resized_jobs_are_no_background(void **state)
{
	struct job_options options = {.nodes = 8,
	                              .tasks = 16,
	                              .exclusive = true,
	                              .profile = "ring16"};
	job_record_t *holder = controller_job(&options), *job;
	struct cpl_record *record;
	char dir[512];
	int node;

	snprintf(dir, sizeof(dir), "%s/state", controller_dir);
	free(controller_run(holder));
	for (int resized = 0; resized < 2; resized++) {
		if (resized) {
			node = (int)bit_ffs(holder->node_bitmap);
			assert_int_equal(
			        select_g_job_resized(
			                holder, node_record_table_ptr[node]),
			        0);
		}
		job = controller_job(&options);
		free(controller_run(job));
		assert_true(oracle_record(job->job_id, false));
		record = cpl_record_find(dir, job->job_id, NULL, NULL);
		assert_non_null(record);
		assert_int_equal(record->n_background, !resized);
		cpl_record_free(record);
		finish(job);
	}
	finish(holder);
}

/* What a step manager gets of a job, from 24.05 on. */
static void test_hands_jobs_over(void **state)
{
	struct job_options options = {.nodes = 4,
	                              .tasks = 16,
	                              .exclusive = true,
	                              .profile = "ring16"};
	void *plugin = dlopen(PLUGIN, RTLD_LAZY | RTLD_NOLOAD);
	const struct cplslurm_share *share = dlsym(plugin, CPLSLURM_SHARE_NAME);
	job_record_t *job = controller_job(&options);
	unsigned char *data;
	size_t size = 0;

	free(controller_run(job));
	data = share->handover(job, 1 << 20, &size);
	assert_non_null(data);
	assert_true(size > 0);
	free(data);
	finish(job);
	dlclose(plugin);
}

/* An engine of its own would look at its files at each submission. */
static void test_job_submit_finds_the_engine(void **state)
{
	void *plugin = dlopen(CPL_TEST_PLUGIN_DIR "/job_submit_commplace.so",
	                      RTLD_LAZY | RTLD_LOCAL);
	int (*submit)(job_desc_msg_t *, uint32_t, char **);
	int (*end)(void);
	char *env[] = {"COMM_PROFILE=no-such-profile", NULL}, *message = NULL;
	job_desc_msg_t *job = xmalloc(sizeof(*job));

	assert_non_null(plugin);
	*(void **)&submit = dlsym(plugin, "job_submit");
	*(void **)&end = dlsym(plugin, "fini");
	slurm_init_job_desc_msg(job);
	job->spank_job_env = env;
	job->spank_job_env_size = 1;
	controller_config("MissingProfile=ignore");
	assert_int_equal(submit(job, 1000, &message), EINVAL);
	assert_non_null(strstr(message, "no-such-profile"));
	xfree(message);
	xfree(job);
	assert_int_equal(end(), SLURM_SUCCESS);
	dlclose(plugin);
}

/* Hooks, and what is neither hook nor known, of the symbols of a plugin. */
static void exported(const char *plugin, int *hooks, int *others)
{
	char command[512], line[256], name[256];
	FILE *f;

	snprintf(command, sizeof(command), "nm -D --defined-only %s", plugin);
	f = popen(command, "r");
	assert_non_null(f);
	*hooks = *others = 0;
	while (fgets(line, sizeof(line), f)) {
		assert_int_equal(sscanf(line, "%*s %*s %255s", name), 1);
		if (!strncmp(name, "select_p_", 9))
			++*hooks;
		else if (strcmp(name, "init") && strcmp(name, "fini") &&
		         strcmp(name, "plugin_id") &&
		         strcmp(name, "plugin_name") &&
		         strcmp(name, "plugin_type") &&
		         strcmp(name, "plugin_version") &&
		         strcmp(name, CPLSLURM_SHARE_NAME))
			++*others;
	}
	assert_int_equal(pclose(f), 0);
}

static void test_exports_the_hooks_and_nothing_else(void **state)
{
	int hooks, others, stock, unused;

	exported(PLUGIN, &hooks, &others);
	exported(CPL_TEST_STOCK_DIR "/select_cons_tres.so", &stock, &unused);
	assert_int_equal(hooks, stock);
	assert_int_equal(others, 0);
}

static void test_every_policy_and_size(void **state)
{
	static const char *const policy[] = {
	        "linear", "random-nodes",  "random-routers",
	        "RDC",    "random-groups", "round-robin-nodes",
	        "RRR",    "auto",
	};
	static const int nodes[] = {4, 8, 16};

	for (size_t p = 0; p < sizeof(policy) / sizeof(*policy); p++) {
		for (size_t i = 0; i < sizeof(nodes) / sizeof(*nodes); i++) {
			struct job_options options = {
			        .nodes = nodes[i],
			        .tasks = 16,
			        .exclusive = true,
			        .profile = "ring16",
			        .policy = policy[p],
			};

			check_placed(&options, nodes[i], 16 / nodes[i],
			             policy[p], idle_node_bitmap);
		}
	}
}

static void test_profile_alone_means_auto(void **state)
{
	struct job_options options = {.nodes = 4,
	                              .tasks = 16,
	                              .exclusive = true,
	                              .profile = "ring16"};

	check_placed(&options, 4, 4, "auto", idle_node_bitmap);
}

/* n[8-9] have two free cores of four: free for a job of two per node. */
static void test_partly_taken_nodes_are_free_for_small_jobs(void **state)
{
	struct job_options options = {.nodes = 8,
	                              .tasks = 16,
	                              .profile = "ring16",
	                              .policy = "linear"};
	bitstr_t *free_nodes = bit_copy(idle_node_bitmap);

	bit_set(free_nodes, 8);
	bit_set(free_nodes, 9);
	check_placed(&options, 8, 2, "linear", free_nodes);
	options.nodes = 4;
	check_placed(&options, 4, 4, "linear", idle_node_bitmap);
	FREE_NULL_BITMAP(free_nodes);
}

static void test_required_nodes_are_among_them(void **state)
{
	struct job_options options = {.nodes = 4,
	                              .tasks = 16,
	                              .exclusive = true,
	                              .profile = "ring16",
	                              .policy = "auto",
	                              .nodelist = "n[33,60]"};

	check_placed(&options, 4, 4, "auto", idle_node_bitmap);
	options.nodelist = "n[1,3,33,60]";
	check_placed(&options, 4, 4, "auto", idle_node_bitmap);
}

static void test_excluded_nodes_are_not(void **state)
{
	struct job_options options = {.nodes = 4,
	                              .tasks = 16,
	                              .exclusive = true,
	                              .profile = "ring16",
	                              .policy = "linear",
	                              .exclude = "n[0-2]"};
	bitstr_t *free_nodes = bit_copy(idle_node_bitmap);

	bit_nclear(free_nodes, 0, 2);
	check_placed(&options, 4, 4, "linear", free_nodes);
	FREE_NULL_BITMAP(free_nodes);
}

/* -n16 without -N: four cores a node, so four nodes. */
static void test_node_count_from_tasks(void **state)
{
	struct job_options options = {
	        .tasks = 16, .profile = "ring16", .policy = "random-groups"};

	check_placed(&options, 4, 4, "random-groups", idle_node_bitmap);
	options.cpus_per_task = 2;
	check_placed(&options, 8, 2, "random-groups", idle_node_bitmap);
}

static void test_range_takes_the_most(void **state)
{
	struct job_options options = {.nodes = 2,
	                              .max_nodes = 8,
	                              .tasks = 16,
	                              .exclusive = true,
	                              .profile = "ring16",
	                              .policy = "auto"};

	check_placed(&options, 8, 2, "auto", idle_node_bitmap);
}

static void test_running_jobs_are_background(void **state)
{
	struct job_options options = {.nodes = 8,
	                              .tasks = 16,
	                              .exclusive = true,
	                              .profile = "ring16",
	                              .policy = "random-groups"};
	job_record_t *job = controller_job(&options);

	free(controller_run(job));
	assert_true(oracle_record(job->job_id, false));
	options.policy = "auto";
	check_placed(&options, 8, 2, "auto", idle_node_bitmap);
	controller_restart();
	check_placed(&options, 8, 2, "auto", idle_node_bitmap);
	finish(job);
}

static void test_records_move_when_jobs_end(void **state)
{
	struct job_options options = {.nodes = 4,
	                              .tasks = 16,
	                              .exclusive = true,
	                              .profile = "ring16"};
	job_record_t *job = controller_job(&options);
	uint32_t id = job->job_id;
	struct cpl_error err = {""};
	struct cpl_record *record;
	char dir[512];
	bool ended;

	free(controller_run(job));
	assert_true(oracle_record(id, false));
	finish(job);
	assert_true(oracle_record(id, true));
	snprintf(dir, sizeof(dir), "%s/state", controller_dir);
	record = cpl_record_find(dir, id, &ended, &err);
	assert_non_null(record);
	assert_true(ended);
	assert_int_equal(record->outcome, CPL_OUTCOME_PLACED);
	assert_string_equal(record->policy_asked, "auto");
	assert_string_equal(record->profile, "ring16");
	assert_int_equal(record->ranks, 16);
	assert_true(record->n_candidates > 1);
	assert_string_equal(record->stock_hosts, "n[0-3]");
	assert_true(record->stock_max_congestion > 0);
	cpl_record_free(record);
}

/* WILL_RUN finds the nodes that RUN_NOW then takes. */
static void test_will_run_agrees_with_run_now(void **state)
{
	struct job_options options = {.nodes = 8,
	                              .tasks = 16,
	                              .exclusive = true,
	                              .profile = "ring16"};
	job_record_t *job = controller_job(&options);
	bitstr_t *bitmap = bit_copy(avail_node_bitmap);

	assert_int_equal(controller_test(job, SELECT_MODE_WILL_RUN, bitmap),
	                 SLURM_SUCCESS);
	assert_true(job->start_time <= time(NULL));
	assert_null(job->job_resrcs);
	assert_false(job->bit_flags & TEST_NOW_ONLY);
	assert_same(controller_names(bitmap), controller_run(job));
	FREE_NULL_BITMAP(bitmap);
	finish(job);
}

/* Nothing is free now: the stock plugin says when it will be. */
static void test_will_run_of_a_blocked_job_is_stock(void **state)
{
	struct job_options options = {.nodes = 60,
	                              .tasks = 60,
	                              .exclusive = true,
	                              .profile = "ring16",
	                              .policy = "linear"};
	job_record_t *job = controller_job(&options);
	bitstr_t *ours = bit_copy(avail_node_bitmap);
	bitstr_t *stock = bit_copy(avail_node_bitmap);
	time_t start;

	assert_int_equal(
	        controller_stock_test(job, SELECT_MODE_WILL_RUN, stock), 0);
	start = job->start_time;
	job->start_time = 0;
	assert_int_equal(controller_test(job, SELECT_MODE_WILL_RUN, ours), 0);
	assert_int_equal(job->start_time, start);
	assert_true(bit_equal(ours, stock));
	FREE_NULL_BITMAP(ours);
	FREE_NULL_BITMAP(stock);
	controller_job_free(job);
}

static void test_test_only_is_untouched(void **state)
{
	struct job_options options = {.nodes = 4,
	                              .tasks = 16,
	                              .exclusive = true,
	                              .profile = "ring16",
	                              .policy = "random-nodes"};
	job_record_t *job = controller_job(&options);
	bitstr_t *ours = bit_copy(avail_node_bitmap);
	bitstr_t *stock = bit_copy(avail_node_bitmap);

	assert_int_equal(
	        controller_stock_test(job, SELECT_MODE_TEST_ONLY, stock), 0);
	assert_int_equal(controller_test(job, SELECT_MODE_TEST_ONLY, ours), 0);
	assert_true(bit_equal(ours, stock));
	FREE_NULL_BITMAP(ours);
	FREE_NULL_BITMAP(stock);
	controller_job_free(job);
}

/* fault 13: as the stock plugin, onto the user's own nodes. */
static void test_exclusive_for_the_user_packs(void **state)
{
	struct job_options first = {.nodes = 4,
	                            .tasks_per_node = 1,
	                            .exclusive_user = true,
	                            .nodelist = "n[30-33]"};
	struct job_options options = {.nodes = 4,
	                              .tasks_per_node = 2,
	                              .exclusive_user = true,
	                              .profile = "ring8"};
	job_record_t *holder = controller_job(&first);
	job_record_t *job = controller_job(&options);
	char *nodes;

	free(controller_run(holder));
	assert_non_null(holder->job_resrcs);
	nodes = controller_run(job);
	assert_string_equal(nodes, "n[30-33]");
	free(nodes);
	finish(job);
	/* What they do not hold goes elsewhere. */
	options.tasks_per_node = 4;
	options.profile = "ring16";
	job = controller_job(&options);
	nodes = controller_run(job);
	assert_string_not_equal(nodes, "");
	assert_null(strstr(nodes, "30"));
	free(nodes);
	finish(job);
	controller_end(holder);
}

/* fault 31 */
static void test_admin_comment_can_be_switched_off(void **state)
{
	struct job_options options = {
	        .nodes = 4, .tasks = 16, .profile = "ring16"};
	struct job_options one = {.nodes = 1, .tasks = 1};
	job_record_t *job;

	controller_config("MaxDecisionTime=20s\nAdminComment=no");
	controller_reconfigure();
	job = controller_job(&options);
	free(controller_run(job));
	assert_null(job->admin_comment);
	assert_true(oracle_record(job->job_id, false));
	finish(job);
	controller_config("MaxDecisionTime=20s\nDefaultPolicy=auto");
	controller_reconfigure();
	job = controller_job(&one);
	free(controller_run(job));
	assert_non_null(job->job_resrcs);
	assert_null(job->admin_comment);
	controller_end(job);
}

/* A machine without topology/block has no segments: SegmentFromSignature changes
 * nothing, and says nothing. */
static void test_no_segments_without_blocks(void **state)
{
	char *nodes[2][2], dir[512];

	snprintf(dir, sizeof(dir), "%s/state", controller_dir);
	for (int i = 0; i < 4; i++) {
		struct job_options options = {.nodes = 4,
		                              .tasks = 16,
		                              .profile = "ring16",
		                              .contiguous = i % 2};
		struct cpl_record *record;
		job_record_t *job;

		controller_config(i < 2 ? "MaxDecisionTime=20s"
		                        : "MaxDecisionTime=20s\n"
		                          "SegmentFromSignature=yes");
		controller_reconfigure();
		job = controller_job(&options);
		nodes[i / 2][i % 2] = controller_run(job);
		assert_true(oracle_record(job->job_id, false));
		record = cpl_record_find(dir, job->job_id, NULL, NULL);
		assert_non_null(record);
		assert_int_equal(record->outcome, CPL_OUTCOME_PLACED);
		assert_null(record->segment_from);
		if (i % 2)
			assert_string_equal(record->rules, "contiguous");
		else
			assert_null(record->rules);
		cpl_record_free(record);
		controller_end(job);
	}
	for (int k = 0; k < 2; k++) {
		assert_string_equal(nodes[0][k], nodes[1][k]);
		free(nodes[0][k]);
		free(nodes[1][k]);
	}
}

/* What slurmctld has made of a job in the end: its default account and QOS. */
static void test_rules_by_what_slurm_knows(void **state)
{
	static const struct {
		const char *rule;
		bool fits;
	} row[] = {
	        {"QOS=high", true},      {"QOS=low", false},
	        {"Account=ch*", true},   {"Account=bio", false},
	        {"User=4711", true},     {"User=1", false},
	        {"Command=app", true},   {"Command=*/lib/*", false},
	        {"Nodes=4", true},       {"Nodes=5-", false},
	        {"JobName=job*", true},
	};
	struct job_options options = {.nodes = 4, .tasks = 16};
	slurmdb_qos_rec_t qos = {.name = "high"};
	char *argv[] = {"/opt/bin/app", NULL};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		char text[160];
		job_record_t *job;
		uint32_t user;

		snprintf(text, sizeof(text),
		         "MaxDecisionTime=20s\nMatch %s "
		         "DefaultPolicy=random-nodes",
		         row[i].rule);
		controller_config(text);
		controller_reconfigure();
		job = controller_job(&options);
		user = job->user_id;
		job->qos_ptr = &qos;
		job->account = xstrdup("chem");
		job->user_id = 4711;
		job->details->argc = 1;
		job->details->argv = argv;
		free(controller_run(job));
		if ((job->admin_comment &&
		     strstr(job->admin_comment, "policy=random-nodes")) !=
		    row[i].fits)
			fail_msg("%s: %s", row[i].rule,
			         job->admin_comment ? job->admin_comment
			                            : "not placed");
		job->qos_ptr = NULL;
		xfree(job->account);
		job->user_id = user;
		job->details->argc = 0;
		job->details->argv = NULL;
		controller_end(job);
	}
}

/* fault 27: other calls than a reconfiguration do not adopt the file. */
static void test_only_a_reconfiguration_adopts(void **state)
{
	struct job_options options = {
	        .nodes = 4, .tasks = 16, .profile = "ring16"};
	job_record_t *job;

	controller_config("MaxDecisionTime=20s\nMode=off");
	controller_update();
	job = controller_job(&options);
	free(controller_run(job));
	assert_non_null(job->admin_comment);
	finish(job);
	controller_reconfigure();
	job = controller_job(&options);
	free(controller_run(job));
	assert_null(job->admin_comment);
	controller_end(job);
}

/* fault 17: a suspended job sends nothing. */
static void test_suspended_jobs_are_no_background(void **state)
{
	struct job_options options = {.nodes = 8,
	                              .tasks = 16,
	                              .exclusive = true,
	                              .profile = "ring16"};
	job_record_t *holder = controller_job(&options), *job;
	struct cpl_record *record;
	char dir[512];

	snprintf(dir, sizeof(dir), "%s/state", controller_dir);
	free(controller_run(holder));
	for (int stands = 0; stands < 4; stands++) {
		bool still = stands == 1 || stands == 2;

		if (stands == 1) {
			assert_int_equal(select_g_job_suspend(holder, true), 0);
			holder->job_state = JOB_SUSPENDED;
		}
		/* Still so after a restart. */
		if (stands == 2) {
			assert_true(oracle_record(holder->job_id, false));
			controller_restart();
		}
		if (stands == 3) {
			assert_int_equal(select_g_job_resume(holder, true), 0);
			holder->job_state = JOB_RUNNING;
		}
		job = controller_job(&options);
		free(controller_run(job));
		assert_true(oracle_record(job->job_id, false));
		record = cpl_record_find(dir, job->job_id, NULL, NULL);
		assert_non_null(record);
		assert_int_equal(record->n_background, !still);
		cpl_record_free(record);
		finish(job);
	}
	finish(holder);
}

static void test_comment_keeps_what_others_wrote(void **state)
{
	struct job_options options = {
	        .nodes = 2, .tasks = 8, .exclusive = true, .policy = "linear"};
	job_record_t *job = controller_job(&options);

	job->admin_comment = xstrdup("bill=7; commplace: profile=x; keep");
	free(controller_run(job));
	assert_string_equal(
	        job->admin_comment,
	        "bill=7; commplace: policy=linear nodes=n[0-1]; keep");
	finish(job);
}

/* Memory counts where SelectTypeParameters say so. */
static void test_nodes_without_memory_are_not_free(void **state)
{
	struct job_options holder = {.nodes = 2,
	                             .tasks_per_node = 1,
	                             .nodelist = "n[0-1]",
	                             .memory = 700};
	struct job_options options = {.nodes = 4,
	                              .tasks_per_node = 2,
	                              .policy = "linear",
	                              .memory = 500};
	uint16_t parameters = slurm_conf.select_type_param;
	job_record_t *hold, *job;
	char *nodes;

	slurm_conf.select_type_param |= CR_MEMORY;
	hold = controller_job(&holder);
	free(controller_run(hold));
	assert_non_null(hold->job_resrcs);
	job = controller_job(&options);
	nodes = controller_run(job);
	assert_string_equal(nodes, "n[2-3,5-6]");
	free(nodes);
	finish(job);
	controller_end(hold);
	slurm_conf.select_type_param = parameters;
}

/* n2 has one core left beside the reservation, n3 has three. */
static void test_reserved_nodes_are_not_whole(void **state)
{
	struct job_options options = {.nodes = 4,
	                              .tasks_per_node = 2,
	                              .exclusive = true,
	                              .policy = "linear"};
	job_record_t *job = controller_job(&options);
	char *nodes;

	controller_reserved =
	        bit_alloc((int)cr_get_coremap_offset(MACHINE_NODES));
	bit_set(controller_reserved, 8);
	bit_set(controller_reserved, 12);
	nodes = controller_run(job);
	FREE_NULL_BITMAP(controller_reserved);
	assert_string_equal(nodes, "n[0-1,5-6]");
	free(nodes);
	finish(job);
}

static void test_reserved_cores_are_not_free(void **state)
{
	struct job_options options = {
	        .nodes = 4, .tasks_per_node = 2, .policy = "linear"};
	job_record_t *job = controller_job(&options);
	char *nodes;

	controller_reserved =
	        bit_alloc((int)cr_get_coremap_offset(MACHINE_NODES));
	bit_nset(controller_reserved, 8, 10);
	bit_set(controller_reserved, 12);
	nodes = controller_run(job);
	FREE_NULL_BITMAP(controller_reserved);
	assert_string_equal(nodes, "n[0-1,3,5]");
	free(nodes);
	finish(job);
}

/* The record tells of the nodes chosen, the background of those it runs on. */
static void test_observed_jobs_load_the_stock_nodes(void **state)
{
	struct job_options options = {.nodes = 8,
	                              .tasks = 16,
	                              .exclusive = true,
	                              .profile = "pairs16",
	                              .policy = "random-groups"};
	struct oracle ask = {.nodes = 8,
	                     .policy = "random-groups",
	                     .profile = "pairs16",
	                     .ranks_per_node = 2,
	                     .free = idle_node_bitmap};
	char *chosen = oracle_nodes(&ask), *stock, dir[512];
	struct cpl_record *record;
	bitstr_t *bitmap = bit_alloc(MACHINE_NODES);
	job_record_t *job = controller_job(&options);

	controller_config("MaxDecisionTime=20s\nMode=observe");
	controller_reconfigure();
	stock = controller_stock_nodes(job);
	assert_string_not_equal(stock, chosen);
	assert_same(controller_run(job), stock);
	assert_true(oracle_record(job->job_id, false));
	snprintf(dir, sizeof(dir), "%s/state", controller_dir);
	record = cpl_record_find(dir, job->job_id, NULL, NULL);
	assert_non_null(record);
	assert_int_equal(record->outcome, CPL_OUTCOME_OBSERVED);
	for (int i = 0; i < record->n_hosts; i++)
		bit_set(bitmap, atoi(record->host[i] + 1));
	assert_same(controller_names(bitmap), chosen);
	FREE_NULL_BITMAP(bitmap);
	cpl_record_free(record);
	options.policy = "auto";
	controller_config("MaxDecisionTime=20s");
	controller_reconfigure();
	check_placed(&options, 8, 2, "auto", idle_node_bitmap);
	controller_restart();
	check_placed(&options, 8, 2, "auto", idle_node_bitmap);
	finish(job);
}

#define BUSY_JOBS 150
#define BUSY_MAX 12

static int below(uint64_t counter, int n)
{
	return (int)cpl_random_below(7, 7, counter, (uint64_t)n);
}

static struct job_options busy_options(uint64_t at)
{
	static const char *const policy[] = {"auto",
	                                     "linear",
	                                     "random-nodes",
	                                     "random-chassis",
	                                     "random-routers",
	                                     "random-groups",
	                                     "RRN",
	                                     "RRR"};
	bool large = below(at, 2);

	return (struct job_options){
	        .nodes = (large ? 4 : 2) << below(at + 1, 3),
	        .tasks = large ? 16 : 8,
	        .exclusive = true,
	        .profile = large ? (below(at + 2, 2) ? "ring16" : "pairs16")
	                         : "ring8",
	        .policy = policy[below(at + 3, 8)],
	};
}

/* The record says what the stock plugin would have chosen. */
static void check_stock_hosts(uint32_t id, const char *stock)
{
	struct cpl_record *record;
	char dir[512];

	assert_true(oracle_record(id, false));
	snprintf(dir, sizeof(dir), "%s/state", controller_dir);
	record = cpl_record_find(dir, id, NULL, NULL);
	assert_non_null(record);
	assert_string_equal(record->stock_hosts, stock);
	assert_true(record->stock_max_congestion >= 0);
	cpl_record_free(record);
}

/* Jobs come and go; each gets what the core decides with those that run then
 * as background. */
static void test_a_busy_machine(void **state)
{
	job_record_t *running[BUSY_MAX];
	int n = 0, placed = 0;

	for (uint64_t i = 0; i < BUSY_JOBS; i++) {
		struct job_options options = busy_options(i * 16);
		struct oracle ask = {
		        .nodes = options.nodes,
		        .policy = options.policy,
		        .profile = options.profile,
		        .ranks_per_node = options.tasks / options.nodes,
		        .free = idle_node_bitmap,
		};
		job_record_t *job = controller_job(&options);

		while (n && (n == BUSY_MAX || below(i * 16 + 9, 3) == 0 ||
		             bit_set_count(idle_node_bitmap) < options.nodes)) {
			finish(running[0]);
			memmove(running, running + 1,
			        (size_t)--n * sizeof(running[0]));
			if (below(i * 16 + 10, 2) &&
			    bit_set_count(idle_node_bitmap) >= options.nodes)
				break;
		}
		char *stock = controller_stock_nodes(job), *want;

		ask.stock = stock;
		want = oracle_nodes(&ask);
		assert_same(controller_run(job), want);
		check_stock_hosts(job->job_id, stock);
		free(stock);
		running[n++] = job;
		placed++;
	}
	while (n)
		finish(running[--n]);
	assert_int_equal(placed, BUSY_JOBS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	        cmocka_unit_test(test_exports_the_hooks_and_nothing_else),
	        cmocka_unit_test(test_shares_its_engine),
	        cmocka_unit_test(test_job_submit_finds_the_engine),
	        T(test_resized_jobs_are_no_background),
	        T(test_hands_jobs_over),
	        T(test_every_policy_and_size),
	        T(test_profile_alone_means_auto),
	        T(test_partly_taken_nodes_are_free_for_small_jobs),
	        T(test_required_nodes_are_among_them),
	        T(test_excluded_nodes_are_not),
	        T(test_node_count_from_tasks),
	        T(test_range_takes_the_most),
	        T(test_running_jobs_are_background),
	        T(test_records_move_when_jobs_end),
	        T(test_will_run_agrees_with_run_now),
	        T(test_will_run_of_a_blocked_job_is_stock),
	        T(test_test_only_is_untouched),
	        T(test_exclusive_for_the_user_packs),
	        T(test_admin_comment_can_be_switched_off),
	        T(test_no_segments_without_blocks),
	        T(test_rules_by_what_slurm_knows),
	        T(test_only_a_reconfiguration_adopts),
	        T(test_suspended_jobs_are_no_background),
	        T(test_comment_keeps_what_others_wrote),
	        T(test_nodes_without_memory_are_not_free),
	        T(test_reserved_cores_are_not_free),
	        T(test_reserved_nodes_are_not_whole),
	        T(test_observed_jobs_load_the_stock_nodes),
	        T(test_a_busy_machine),
#undef T
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, start_controller, stop_controller);
}
