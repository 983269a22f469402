/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A slurmd whose structures are not those that the plugin was built with. */
#include "launch.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct machine two_by_two = {2, 2, 1, 4, 2};

/* A block as of another release, with one field more. */
static void *longer(const void *record, size_t size)
{
	char *other = xmalloc(size + 8);

	memcpy(other, record, size);
	return other;
}

/* 0: left as it was by the hooks of slurmd and slurmstepd. */
static int left_alone(launch_tasks_request_msg_t *req)
{
	uint16_t type = req->cpu_bind_type;

	env_array_append(&req->env, CPLTASK_BOUND, "claimed");
	req->envc = envcount(req->env);
	if (launch_bind(req, 0) != SLURM_SUCCESS)
		return 1;
	return !getenvp(req->env, CPLTASK_BOUND) || req->cpu_bind ||
	       req->cpu_bind_type != type;
}

static int with_other_launch(void)
{
	launch_tasks_request_msg_t *req = new_request(4, NULL);

	return left_alone(longer(req, sizeof(*req)));
}

static int with_other_conf(void)
{
	launch_tasks_request_msg_t *req = new_request(4, NULL);

	conf = longer(conf, sizeof(*conf));
	return left_alone(req);
}

static int with_other_step(void)
{
	stepd_step_rec_t *step = xmalloc(sizeof(*step) + 8);
	static char mark[] = CPLTASK_BOUND "=1";
	char *env[] = {mark, NULL};

	step->env = env;
	step->cpu_bind_type = CPU_BIND_MASK;
	/* Without the guard: its task, which it has not. */
	return launch_confine(step, 0) != SLURM_SUCCESS || env[0] != mark;
}

static int with_ours(void)
{
	launch_tasks_request_msg_t *req = new_request(4, NULL);

	return !left_alone(req);
}

static void test_other_layouts_are_left_alone(void **state)
{
	/* In a process each: what was found holds for all that follow. */
	static int (*const with[])(void) = {with_ours, with_other_launch,
	                                    with_other_conf, with_other_step};

	set_machine(&two_by_two);
	credential = "0-3";
	for (size_t i = 0; i < sizeof(with) / sizeof(*with); i++) {
		pid_t pid = fork();
		int status;

		if (!pid)
			_exit(with[i]());
		assert_int_equal(waitpid(pid, &status, 0), pid);
		if (!WIFEXITED(status) || WEXITSTATUS(status))
			fail_msg("case %zu: status %#x", i, status);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_other_layouts_are_left_alone),
	};

	return cmocka_run_group_tests(tests, launch_set_up, launch_tear_down);
}
