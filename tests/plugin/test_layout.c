/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The headers that are compiled against are those of the releases tested with:
 * sizes as Slurm's own daemons have them (compat/series.h).
 */
#include "slurm_compat_ctld.h"
#include "slurm_compat_slurmd.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

enum {
	JOB,
	DETAILS,
	PART,
	NODE,
	STEP,
	RESOURCES,
	LAYOUT,
	DESCRIPTION,
	LAUNCH,
	STEPD,
	SLURMD,
	CONF,
	N_STRUCTS
};

static const size_t here[N_STRUCTS] = {
        [JOB] = sizeof(job_record_t),
        [DETAILS] = sizeof(job_details_t),
        [PART] = sizeof(part_record_t),
        [NODE] = sizeof(node_record_t),
        [STEP] = sizeof(step_record_t),
        [RESOURCES] = sizeof(job_resources_t),
        [LAYOUT] = sizeof(slurm_step_layout_t),
        [DESCRIPTION] = sizeof(job_desc_msg_t),
        [LAUNCH] = sizeof(launch_tasks_request_msg_t),
        [STEPD] = sizeof(stepd_step_rec_t),
        [SLURMD] = sizeof(slurmd_conf_t),
        [CONF] = sizeof(slurm_conf_t),
};

static const struct {
	const char *release;
	size_t size[N_STRUCTS];
} row[] = {
        {"22.05.8",
         {1048, 504, 328, 472, 392, 160, 56, 880, 648, 768, 488, 1544}},
        {"24.11.5",
         {1160, 528, 360, 536, 424, 160, 88, 912, 704, 912, 4616, 1544}},
        {"26.05.5",
         {1296, 560, 368, 576, 472, 168, 80, 952, 696, 928, 4616, 1640}},
};

static void test_sizes_of_the_tested_release(void **state)
{
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		if (strcmp(row[i].release, SLURM_VERSION_STRING))
			continue;
		assert_memory_equal(here, row[i].size, sizeof(here));
		return;
	}
	print_message("Slurm " SLURM_VERSION_STRING " was never tested: no "
	              "sizes to compare with\n");
	skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_sizes_of_the_tested_release),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
