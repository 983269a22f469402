/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "busy.h"

#include <stdlib.h>

/* Takes both texts. */
void assert_same(char *a, char *b)
{
	assert_string_equal(a, b);
	free(a);
	free(b);
}

/* End a job of ours and wait for its record to move, or the oracle would still
 * count it as running. */
void finish(job_record_t *job)
{
	uint32_t id = job->job_id;

	controller_end(job);
	assert_true(oracle_record(id, true));
}

/* Some jobs without a profile, so that the machine is not empty. */
static job_record_t *filler[3];

static void fill(void)
{
	const struct job_options options[] = {
	        {.nodes = 3, .exclusive = true, .nodelist = "n[4,17,40]"},
	        {.nodes = 2, .tasks_per_node = 2, .nodelist = "n[8-9]"},
	        {.nodes = 5, .exclusive = true, .nodelist = "n[20-24]"},
	};

	for (int i = 0; i < 3; i++) {
		filler[i] = controller_job(&options[i]);
		free(controller_run(filler[i]));
		assert_non_null(filler[i]->job_resrcs);
	}
}

static void drain(void)
{
	for (int i = 0; i < 3; i++)
		controller_end(filler[i]);
}

int set_up(void **state)
{
	controller_config("MaxDecisionTime=20s");
	controller_reconfigure();
	fill();
	return 0;
}

int tear_down(void **state)
{
	drain();
	return 0;
}

int start_controller(void **state)
{
	controller_start("cons_tres_commplace");
	controller_profile("ring16", 16, 5);
	controller_profile("pairs16", 16, 8);
	controller_profile("ring8", 8, 3);
	return 0;
}

int stop_controller(void **state)
{
	controller_stop();
	return 0;
}
