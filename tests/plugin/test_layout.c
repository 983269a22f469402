/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The offsets and sizes that the plugins were compiled with (layout_fields.h),
 * and what a look at a program's debug information makes of them: this one's,
 * which has the structures from the same headers, and the daemons' where they
 * have some.
 */
#include "layout.h"
#include "layout_fields.h"
#include "slurm_compat_ctld.h"
#include "slurm_compat_slurmd.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const struct cpl_field ctld[] = {
        CPLSLURM_CTLD_FIELDS(CPLSLURM_FIELD_AT)};
static const struct cpl_field node[] = {CPLSLURM_NODE_FIELDS(
        CPLSLURM_FIELD_AT) CPLSLURM_STEPD_FIELDS(CPLSLURM_FIELD_AT)};
#define COUNT(table) (sizeof(table) / sizeof(*(table)))

/* Used, or the compiler describes none of them. */
struct {
	job_record_t *job;
	job_details_t *details;
	multi_core_data_t *cores;
	part_record_t *part;
	node_record_t *node;
	config_record_t *config;
	step_record_t *step;
	job_resources_t *resources;
	slurm_step_layout_t *layout;
	job_desc_msg_t *description;
	launch_tasks_request_msg_t *launch;
	stepd_step_rec_t *stepd;
	slurmd_conf_t *slurmd;
	slurm_conf_t *conf;
} used;

static void refused_by_name(const char *program, const struct cpl_field *table,
                            size_t n, size_t i)
{
	struct cpl_field changed[n];
	struct cpl_error err = {""};
	char said[128];

	memcpy(changed, table, n * sizeof(*table));
	changed[i].offset += 8;
	snprintf(said, sizeof(said), "%s.%s ", table[i].type, table[i].name);
	if (cpl_debuginfo_check(program, changed, n, &err) >= 0)
		return; /* a structure that it does not know */
	if (strncmp(err.text, said, strlen(said)) != 0)
		fail_msg("%s at another place is told as '%s'", said, err.text);
}

/* The fields of it that are known. */
static int look_at(const char *program, const struct cpl_field *table, size_t n)
{
	struct cpl_error err = {""};
	int found = cpl_debuginfo_check(program, table, n, &err);

	if (found < 0)
		fail_msg("%s: %s", program, err.text);
	print_message("# %s: %d of %zu fields\n", program, found, n);
	for (size_t i = 0; found && i < n; i++)
		refused_by_name(program, table, n, i);
	return found;
}

static void test_our_own_program(void **state)
{
	struct cpl_field changed[COUNT(ctld)];
	struct cpl_error err = {""};

	if (!look_at("/proc/self/exe", ctld, COUNT(ctld)))
		return;
	assert_true(look_at("/proc/self/exe", node, COUNT(node)) > 0);
	memcpy(changed, ctld, sizeof(ctld));
	changed[0].offset += 8;
	assert_int_equal(cpl_debuginfo_check("/proc/self/exe", changed,
	                                     COUNT(ctld), &err),
	                 -1);
	assert_non_null(strstr(err.text, "job_record_t.account has 8 bytes"));
}

static void test_installed_daemons(void **state)
{
	static const char *const dir[] = {CPL_TEST_STOCK_DIR "/../../sbin",
	                                  CPL_TEST_STOCK_DIR "/../../../sbin"};

	for (size_t i = 0; i < COUNT(dir); i++) {
		char path[4096];

		snprintf(path, sizeof(path), "%s/slurmctld", dir[i]);
		look_at(path, ctld, COUNT(ctld));
		snprintf(path, sizeof(path), "%s/slurmstepd", dir[i]);
		look_at(path, node, COUNT(node));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_our_own_program),
	        cmocka_unit_test(test_installed_daemons),
	};

	setenv("COMMPLACE_LAYOUT", CPL_TEST_LAYOUT, 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
