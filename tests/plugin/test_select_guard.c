/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A slurmctld whose records are not those that the plugin was built with. */
#include "commplace-config.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "controller.h"

static void test_other_layouts_leave_all_to_slurm(void **state)
{
	const struct job_options options = {
	        .nodes = 4, .tasks_per_node = 4, .exclusive = true,
	        .profile = "ring16"};
	job_record_t *job;
	char *stock, *nodes, *ranks;

	controller_start("cons_tres_commplace");
	controller_profile("ring16", 16, 5);
	/* One field more, as between two micro releases. */
	controller_job_extra = 8;
	for (int i = 0; i < 2; i++) {
		job = controller_job(&options);
		stock = controller_stock_nodes(job);
		nodes = controller_run(job);
		assert_string_equal(nodes, stock);
		assert_null(job->admin_comment);
		ranks = controller_step(job, 16, SLURM_DIST_BLOCK, "srun ./x");
		assert_string_equal(ranks, "n0,n0,n0,n0,n1,n1,n1,n1,"
		                           "n2,n2,n2,n2,n3,n3,n3,n3");
		controller_end(job);
		free(ranks);
		free(nodes);
		free(stock);
		/* What was found holds for all that come. */
		controller_job_extra = 0;
	}
	controller_stop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_other_layouts_leave_all_to_slurm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
