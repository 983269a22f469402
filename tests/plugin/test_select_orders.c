/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The select plugin on the fake controller: whose order ranks run in. */
#include "commplace-config.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "busy.h"
#include "slurmd.h"

#include "binding/launch.h"
#include "site/record.h"
#include "slurmd.h"

static void test_steps_follow_the_plan(void **state)
{
	struct job_options options = {.nodes = 4,
	                              .tasks = 16,
	                              .exclusive = true,
	                              .profile = "pairs16",
	                              .policy = "random-groups"};
	struct oracle ask = {.nodes = 4,
	                     .policy = "random-groups",
	                     .profile = "pairs16",
	                     .ranks_per_node = 4,
	                     .free = idle_node_bitmap};
	char *want = oracle_ranks(&ask);
	job_record_t *job = controller_job(&options);
	char *block, *got;

	free(controller_run(job));
	block = controller_step(job, 16, SLURM_DIST_BLOCK, "srun -m block x");
	got = controller_step(job, 16, SLURM_DIST_BLOCK, "srun ./x");
	assert_string_equal(got, want);
	/* Nor does srun state one that is not known. */
	assert_same(strdup(got),
	            controller_step(job, 16, SLURM_DIST_UNKNOWN, "srun ./x"));
	/* The profile is one whose ranks are worth moving. */
	assert_string_not_equal(got, block);
	/* "-m" of the program is no distribution. */
	assert_same(got, controller_step(job, 16, SLURM_DIST_BLOCK,
	                                 "srun python3 -m x"));
	free(want);
	free(block);
	finish(job);
}

/* The step gets Slurm's own layout for these. */
static void test_steps_that_keep_the_default(void **state)
{
	struct job_options options = {.nodes = 4,
	                              .tasks = 16,
	                              .exclusive = true,
	                              .profile = "pairs16",
	                              .policy = "random-groups"};
	const struct {
		int tasks;
		uint32_t dist;
		const char *line;
	} row[] = {
	        {4, SLURM_DIST_BLOCK, "srun orted"},
	        {8, SLURM_DIST_BLOCK, "srun ./x"},
	        {16, SLURM_DIST_CYCLIC, "srun -m cyclic ./x"},
	        {16, SLURM_DIST_BLOCK, "srun --distribution=block ./x"},
	        {16, SLURM_DIST_BLOCK_CYCLIC, "srun ./x"},
	};
	job_record_t *job = controller_job(&options);
	job_record_t *stock;
	char *nodes = controller_run(job);

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		char *got = controller_step(job, row[i].tasks, row[i].dist,
		                            row[i].line);

		/* The same job without a plan. */
		stock = controller_find(job->job_id);
		assert_ptr_equal(stock, job);
		job->job_id += 1000;
		assert_same(got, controller_step(job, row[i].tasks, row[i].dist,
		                                 "srun -m block ./x"));
		job->job_id -= 1000;
	}
	free(nodes);
	/* sbatch -m in the script. */
	job->batch_flag = 1;
	job->details->task_dist = SLURM_DIST_BLOCK;
	assert_same(controller_step(job, 16, SLURM_DIST_BLOCK, "srun ./x"),
	            controller_step(job, 16, SLURM_DIST_BLOCK,
	                            "srun -m block ./x"));
	finish(job);
}

/* fault 16: what the program is given is no option of srun. */
static void test_arguments_of_the_program_are_no_distribution(void **state)
{
	static const char *const line[] = {
	        "srun ./x -mblocksize=4",
	        "srun -n 16 --cpu-bind none ./x -m block",
	        "srun -N4 -vl --exclusive ./x --distribution=block",
	        "srun -ul -D /tmp sh -c x -m block",
	        "srun --mem-per-cpu 10 -J m ./x --dist block",
	};
	static const char *const stated[] = {
	        "srun -vm block ./x",
	        "srun -N4 -J x -mblock ./x",
	        "srun --exclusive --dist=block ./x",
	        "srun --cpu-bind none --distribution block ./x",
	};
	struct job_options options = {.nodes = 4,
	                              .tasks = 16,
	                              .exclusive = true,
	                              .profile = "pairs16",
	                              .policy = "random-groups"};
	job_record_t *job = controller_job(&options);
	char *plan, *block;

	job->batch_flag = 1;
	job->details->submit_line =
	        xstrdup("sbatch -n16 --wrap srun ./x -m block");
	free(controller_run(job));
	plan = controller_step(job, 16, SLURM_DIST_BLOCK, "srun ./x");
	block = controller_step(job, 16, SLURM_DIST_BLOCK, "srun -m block ./x");
	assert_string_not_equal(plan, block);
	for (size_t i = 0; i < sizeof(line) / sizeof(*line); i++)
		assert_same(controller_step(job, 16, SLURM_DIST_BLOCK, line[i]),
		            strdup(plan));
	for (size_t i = 0; i < sizeof(stated) / sizeof(*stated); i++)
		assert_same(
		        controller_step(job, 16, SLURM_DIST_BLOCK, stated[i]),
		        strdup(block));
	free(plan);
	free(block);
	finish(job);
}

/* fault 16: SLURM_DISTRIBUTION=block srun looks like srun alone, but for the
 * mark that srun puts on the latter. */
static void test_marks_tell_what_was_stated(void **state)
{
	struct job_options options = {.nodes = 4,
	                              .tasks = 16,
	                              .exclusive = true,
	                              .profile = "pairs16",
	                              .policy = "random-groups",
	                              .marks = "marked"};
	job_record_t *job = controller_job(&options);
	uint16_t parameters = slurm_conf.select_type_param;
	char *plan, *block;

	free(controller_run(job));
	plan = controller_step(job, 16,
	                       SLURM_DIST_BLOCK | SLURM_DIST_NO_PACK_NODES,
	                       "srun ./x");
	block = controller_step(job, 16, SLURM_DIST_BLOCK, "srun ./x");
	assert_string_not_equal(plan, block);
	/* Where the mark would mean something, nobody sets it. */
	slurm_conf.select_type_param |= CR_PACK_NODES;
	assert_same(controller_step(job, 16, SLURM_DIST_BLOCK, "srun ./x"),
	            plan);
	slurm_conf.select_type_param = parameters;
	free(block);
	finish(job);
}

/* Of a job without options of ours slurmctld itself says that it is ours. */
static void test_marks_are_asked_for(void **state)
{
	static const char asked[] = "SLURM_SPANK_COMM_DISTRIBUTION=marked";
	static const char *const marked = asked + sizeof("SLURM_SPANK_") - 1;
	static const char offered[] = "COMM_DISTRIBUTION=offered";
	static const struct {
		const char *config, *marks;
		uint32_t het;
		int asked; /* 1; 0: no need; -1: not possible */
	} row[] = {
	        {"Match JobName=job Profile=pairs16", "offered", 0, 1},
	        {"DefaultPolicy=random-groups", "offered", 0, 1},
	        {"DefaultPolicy=random-groups", "offered", 7, -1},
	        {"DefaultPolicy=random-groups", "marked", 0, 0},
	        {"DefaultPolicy=random-groups", NULL, 0, -1},
	        {"", "offered", 0, -1},
	};
	char text[128];

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct job_options options = {.nodes = 4,
		                              .tasks = 16,
		                              .exclusive = true,
		                              .marks = row[i].marks};
		job_record_t *job = controller_job(&options);

		/* In its own time the order may be late on a busy machine. */
		snprintf(text, sizeof(text), "MaxDecisionTime=20s\n%s",
		         row[i].config);
		controller_config(text);
		controller_reconfigure();
		job->het_job_id = row[i].het;
		free(controller_run(job));
		/* Beside it the order of ranks, for launchers. */
		assert_int_equal(job->details->env_cnt,
		                 (row[i].asked == 1) +
		                         (*row[i].config && !row[i].het));
		if (row[i].asked == 1)
			assert_string_equal(job->details->env_sup[0], asked);
		if (row[i].marks)
			assert_string_equal(job->spank_job_env[0],
			                    row[i].asked >= 0 ? marked
			                                      : offered);
		if (*row[i].config)
			finish(job);
		else
			controller_end(job);
	}
	controller_config("MaxDecisionTime=20s");
	controller_reconfigure();
}

static const char *variable_of(const job_record_t *job, const char *name)
{
	const char *found = NULL;
	size_t length = strlen(name);

	for (int i = 0; i < job->details->env_cnt; i++)
		if (!strncmp(job->details->env_sup[i], name, length) &&
		    job->details->env_sup[i][length] == '=')
			found = job->details->env_sup[i] + length + 1;
	return found;
}

static void append(job_record_t *job, const char *entry)
{
	job_details_t *details = job->details;

	xrecalloc(details->env_sup, details->env_cnt + 1u, sizeof(char *));
	details->env_sup[details->env_cnt++] = xstrdup(entry);
}

/* The order of a component goes to the script, which the first one has. */
static void test_orders_of_components(void **state)
{
	struct job_options options = {.nodes = 4,
	                              .tasks = 16,
	                              .exclusive = true,
	                              .profile = "pairs16",
	                              .policy = "random-groups"};
	job_record_t *job[2];

	for (int batch = 0; batch < 2; batch++) {
		for (int i = 0; i < 2; i++) {
			job[i] = controller_job(&options);
			job[i]->het_job_id = job[0]->job_id;
			job[i]->het_job_offset = (uint32_t)i;
		}
		job[0]->batch_flag = (uint16_t)batch;
		/* The order of a run before goes, what looks like it stays. */
		if (batch) {
			append(job[0], "COMMPLACE_RANKS_HET_GROUP_0=old");
			append(job[0], "COMMPLACE_RANKS_HET_GROUP_00=mine");
		}
		for (int i = 0; i < 2; i++)
			free(controller_run(job[i]));
		assert_int_equal(job[0]->details->env_cnt, batch ? 3 : 0);
		if (batch)
			assert_string_not_equal(
			        variable_of(job[0],
			                    "COMMPLACE_RANKS_HET_GROUP_0"),
			        "old");
		assert_int_equal(
		        !variable_of(job[0], "COMMPLACE_RANKS_HET_GROUP_00"),
		        !batch);
		assert_int_equal(!variable_of(job[0],
		                              "COMMPLACE_RANKS_HET_GROUP_0"),
		                 !batch);
		assert_int_equal(!variable_of(job[0],
		                              "COMMPLACE_RANKS_HET_GROUP_1"),
		                 !batch);
		assert_null(variable_of(job[0], "COMMPLACE_RANKS"));
		assert_int_equal(job[1]->details->env_cnt, 0);
		for (int i = 1; i >= 0; i--)
			finish(job[i]);
	}
}

/* srun and salloc hear of what the site has decided when their job begins. */
static void test_who_is_told_of_a_recording(void **state)
{
	static char long_name[4096];
	static const struct {
		const char *record;
		uint32_t het;
		uint16_t batch;
		bool told;
	} row[] = {
	        {"app", 0, 0, true},
	        {"app", 0, 1, false},
	        {"app", 7, 0, false},
	        {NULL, 0, 0, false},
	        /* Whoever reads it takes no longer one. */
	        {long_name, 0, 0, false},
	};

	memset(long_name, 'x', sizeof(long_name) - 1);
	controller_config("");
	controller_reconfigure();
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct job_options options = {.nodes = 4,
		                              .tasks = 16,
		                              .exclusive = true,
		                              .record = row[i].record};
		job_record_t *job = controller_job(&options);

		job->het_job_id = row[i].het;
		job->batch_flag = row[i].batch;
		free(controller_run(job));
		assert_int_equal(job->details->env_cnt, row[i].told);
		if (row[i].told)
			assert_string_equal(job->details->env_sup[0],
			                    "SLURM_SPANK_COMM_RECORD=app");
		controller_end(job);
	}
	controller_config("MaxDecisionTime=20s");
	controller_reconfigure();
}

/* Slurm counts what it adds to a job's variables in 16 bits. */
static void test_as_many_variables_as_counted(void **state)
{
	struct job_options options = {
	        .nodes = 4, .tasks = 16, .exclusive = true, .record = "app"};
	job_record_t *job = controller_job(&options);

	xfree(job->details->env_sup);
	job->details->env_sup = xcalloc(UINT16_MAX + 1, sizeof(char *));
	for (int i = 0; i < UINT16_MAX; i++)
		job->details->env_sup[i] = xstrdup("V=1");
	job->details->env_cnt = UINT16_MAX;
	free(controller_run(job));
	assert_int_equal(job->details->env_cnt, UINT16_MAX);
	controller_end(job);
}

/* fault 26: with sbatch -m cyclic the record has that order. */
static void test_a_stated_order_is_on_record(void **state)
{
	struct job_options options = {.nodes = 4,
	                              .tasks = 16,
	                              .exclusive = true,
	                              .profile = "pairs16",
	                              .policy = "linear",
	                              .dist = SLURM_DIST_CYCLIC};
	job_record_t *job = controller_job(&options);
	struct cpl_record *record;
	char dir[512], *step, *at;

	free(controller_run(job));
	assert_true(oracle_record(job->job_id, false));
	step = controller_step(job, 16, SLURM_DIST_CYCLIC, "srun ./x");
	snprintf(dir, sizeof(dir), "%s/state", controller_dir);
	record = cpl_record_find(dir, job->job_id, NULL, NULL);
	assert_non_null(record);
	assert_int_equal(record->ranks, 16);
	at = step;
	for (int r = 0; r < 16; r++, at += strcspn(at, ",") + 1)
		assert_memory_equal(at, record->host[record->rank_host[r]],
		                    strcspn(at, ","));
	assert_null(strstr(job->admin_comment, "mapping="));
	cpl_record_free(record);
	free(step);
	finish(job);
}

static void test_plan_survives_a_restart(void **state)
{
	struct job_options options = {.nodes = 4,
	                              .tasks = 16,
	                              .exclusive = true,
	                              .profile = "pairs16",
	                              .policy = "random-groups"};
	job_record_t *job = controller_job(&options);
	char *before;

	free(controller_run(job));
	before = controller_step(job, 16, SLURM_DIST_BLOCK, "srun ./x");
	assert_true(oracle_record(job->job_id, false));
	controller_restart();
	assert_same(before,
	            controller_step(job, 16, SLURM_DIST_BLOCK, "srun ./x"));
	finish(job);
}

#if CPLSLURM_SERIES < 2302
static bool in_slurmctld = true;

bool running_in_slurmctld(void)
{
	return in_slurmctld;
}

/* What slurmd makes of a message; slurmctld takes nothing of it. */
static void test_excerpts_of_messages(void **state)
{
	void *plugin =
	        dlopen(CPL_TEST_PLUGIN_DIR "/select_cons_tres_commplace.so",
	               RTLD_LAZY | RTLD_NOLOAD);
	int (*get)(select_jobinfo_t *, int, void *);
	int (*set)(select_jobinfo_t *, int, void *);
	int (*release)(select_jobinfo_t *);
	int (*pack)(select_jobinfo_t *, buf_t *, uint16_t);
	int (*unpack)(select_jobinfo_t **, buf_t *, uint16_t);
	static const struct {
		uint32_t size, cut;
		bool slurmctld;
		int rc;
		bool there;
	} row[] = {
	        {4, 0, false, SLURM_SUCCESS, true},
	        {CPL_LAUNCH_MAX_BYTES, 0, false, SLURM_SUCCESS, true},
	        {CPL_LAUNCH_MAX_BYTES + 1, 0, false, SLURM_SUCCESS, false},
	        {0, 0, false, SLURM_SUCCESS, false},
	        {4, 0, true, SLURM_SUCCESS, false},
	        {4, 1, false, SLURM_ERROR, false},
	};
	char *data = calloc(1, CPL_LAUNCH_MAX_BYTES + 1);

	*(void **)&get = dlsym(plugin, "select_p_select_jobinfo_get");
	*(void **)&set = dlsym(plugin, "select_p_select_jobinfo_set");
	*(void **)&release = dlsym(plugin, "select_p_select_jobinfo_free");
	*(void **)&pack = dlsym(plugin, "select_p_select_jobinfo_pack");
	*(void **)&unpack = dlsym(plugin, "select_p_select_jobinfo_unpack");
	strcpy(data, "abc");
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		buf_t *buffer = init_buf(1024);
		struct {
			uint32_t magic, size;
			void *data;
		} first = {0x43504a49, row[i].size, data};
		struct cplslurm_excerpt out = {NULL, 0};
		select_jobinfo_t *read = (select_jobinfo_t *)&first;

		pack(read, buffer, SLURM_PROTOCOL_VERSION);
		buffer->size = get_buf_offset(buffer) - row[i].cut;
		set_buf_offset(buffer, 0);
		in_slurmctld = row[i].slurmctld;
		assert_int_equal(unpack(&read, buffer, SLURM_PROTOCOL_VERSION),
		                 row[i].rc);
		in_slurmctld = true;
		assert_int_equal(get(read, CPLSLURM_JOBDATA_EXCERPT, &out),
		                 row[i].there ? SLURM_SUCCESS : SLURM_ERROR);
		assert_int_equal(out.size, row[i].there ? row[i].size : 0);
		if (row[i].there)
			assert_string_equal(out.data, "abc");
		assert_int_equal(set(read, CPLSLURM_JOBDATA_EXCERPT, NULL), 0);
		assert_int_equal(get(read, CPLSLURM_JOBDATA_EXCERPT, &out),
		                 SLURM_ERROR);
		assert_int_equal(release(read), SLURM_SUCCESS);
		free_buf(buffer);
	}
	free(data);
	dlclose(plugin);
}

/* What travels belongs to one holder at a time: the copy takes it along. */
static void test_excerpts_change_hands(void **state)
{
	void *plugin =
	        dlopen(CPL_TEST_PLUGIN_DIR "/select_cons_tres_commplace.so",
	               RTLD_LAZY | RTLD_NOLOAD);
	int (*get)(select_jobinfo_t *, int, void *);
	select_jobinfo_t *(*copy)(select_jobinfo_t *);
	int (*release)(select_jobinfo_t *);
	/* As select_jobinfo.c has it. */
	struct {
		uint32_t magic, size;
		void *data;
	} *first = calloc(1, sizeof(*first));
	select_jobinfo_t *one = (select_jobinfo_t *)first, *two;
	struct cplslurm_excerpt out;

	assert_non_null(plugin);
	*(void **)&get = dlsym(plugin, "select_p_select_jobinfo_get");
	*(void **)&copy = dlsym(plugin, "select_p_select_jobinfo_copy");
	*(void **)&release = dlsym(plugin, "select_p_select_jobinfo_free");
	first->magic = 0x43504a49;
	first->data = strdup("abc");
	first->size = 4;
	assert_int_equal(get(one, CPLSLURM_JOBDATA_EXCERPT, &out), 0);
	assert_int_equal(out.size, 4);
	two = copy(one);
	assert_int_equal(get(one, CPLSLURM_JOBDATA_EXCERPT, &out), SLURM_ERROR);
	assert_int_equal(get(two, CPLSLURM_JOBDATA_EXCERPT, &out), 0);
	assert_string_equal(out.data, "abc");
	assert_int_equal(release(two), SLURM_SUCCESS);
	assert_int_equal(release(one), SLURM_SUCCESS);
	assert_int_equal(release(NULL), SLURM_SUCCESS);
	/* Nothing of ours. */
	first = calloc(1, sizeof(*first));
	assert_int_equal(release((select_jobinfo_t *)first), SLURM_ERROR);
	free(first);
	dlclose(plugin);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
#if CPLSLURM_SERIES < 2302
		cmocka_unit_test(test_excerpts_change_hands),
		cmocka_unit_test(test_excerpts_of_messages),
#endif
		T(test_steps_follow_the_plan),
		T(test_steps_that_keep_the_default),
		T(test_arguments_of_the_program_are_no_distribution),
		T(test_marks_tell_what_was_stated),
		T(test_marks_are_asked_for),
		T(test_orders_of_components),
		T(test_who_is_told_of_a_recording),
		T(test_as_many_variables_as_counted),
		T(test_a_stated_order_is_on_record),
		T(test_plan_survives_a_restart),
#undef T
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, start_controller, stop_controller);
}
