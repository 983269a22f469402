/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Jobs that Slurm's own layout would hold slurmctld with: -m plane, and more
 * tasks than it counts on a node. */
#include "submit.h"

#include <stdio.h>
#include <string.h>

#define PLANE (SLURM_DIST_PLANE | SLURM_DIST_NO_PACK_NODES)
#define SAID "slurmctld would lay them out for ever"

/* As a client sends it. */
static job_desc_msg_t *described(uint32_t dist, uint16_t plane, uint32_t tasks,
                                 uint32_t min_nodes, uint32_t max_nodes)
{
	job_desc_msg_t *d = xmalloc(sizeof(*d));

	slurm_init_job_desc_msg(d);
	d->user_id = d->group_id = 1000;
	d->task_dist = dist;
	d->plane_size = plane;
	d->num_tasks = tasks;
	d->min_nodes = min_nodes;
	d->max_nodes = max_nodes;
	return d;
}

static void at_submission(void **state)
{
	static const struct {
		uint32_t dist;
		uint16_t plane;
		uint32_t tasks;
		uint32_t min_nodes, max_nodes;
		uint16_t per_node;
		bool overcommit;
		const char *asked; /* of a message; NULL: accepted */
	} row[] = {
	        /* 65,536 on the first */
	        {PLANE, 1, 131071, 2, 2, NO_VAL16, true,
	         "131071 tasks on 2 nodes"},
	        {SLURM_DIST_PLANE, 1, 131071, 2, 2, NO_VAL16, true, "131071"},
	        {PLANE, 4, 1u << 31, 1000, 1000, NO_VAL16, true, "2147483648"},
	        {PLANE, 4, NO_VAL - 1, 1, 1, NO_VAL16, true, "4294967293"},
	        {PLANE, 1, 65536, NO_VAL, NO_VAL, NO_VAL16, true,
	         "65536 tasks on 1 node "},
	        {PLANE, 1, 65536, 0, 0, NO_VAL16, true, "on 1 node "},
	        /* The first gets a plane more than the others. */
	        {PLANE, 65533, 131000, 1000, 1000, NO_VAL16, true, "131000"},
	        {PLANE, NO_VAL16, 131000, 1000, 1000, NO_VAL16, true, ""},
	        {PLANE, 0, 131000, 1000, 1000, NO_VAL16, true, ""},
	        {PLANE, 1, NO_VAL, 2, 2, 65532, true, "131064 tasks on 2"},
	        {PLANE, 65533, NO_VAL, 1, 9, 9000, true, "81000 tasks on 9"},
	        /* as many as Slurm counts */
	        {PLANE, 1, 65535, 1, 1, NO_VAL16, true, NULL},
	        {PLANE, 65533, 65535, 1, 1, NO_VAL16, true, NULL},
	        {PLANE, 128, 131072, 1024, 1024, NO_VAL16, true, NULL},
	        {PLANE, 4, NO_VAL, 1000, 1000, 512, true, NULL},
	        {PLANE, 4, NO_VAL, 2, 2, NO_VAL16, true, NULL},
	        /* Each task has a CPU, and a node has not so many. */
	        {PLANE, 4, 131072, 1, NO_VAL, NO_VAL16, false, NULL},
	        /* Other distributions end. */
	        {SLURM_DIST_CYCLIC, NO_VAL16, 131071, 2, 2, NO_VAL16, true,
	         NULL},
	        {SLURM_DIST_UNKNOWN, 1, 131071, 2, 2, NO_VAL16, true, NULL},
	        {NO_VAL, 1, 131071, 2, 2, NO_VAL16, true, NULL},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct job j = {0};

		j.d = described(row[i].dist, row[i].plane, row[i].tasks,
		                row[i].min_nodes, row[i].max_nodes);
		j.d->ntasks_per_node = row[i].per_node;
		if (row[i].overcommit)
			j.d->overcommit = 1;
		j.rc = submit(j.d, 1000, &j.message);
		if (j.rc != (row[i].asked ? ESLURM_BAD_TASK_COUNT : 0))
			fail_msg("row %zu: %d %s", i, j.rc,
			         j.message ? j.message : "");
		if (!row[i].asked)
			assert_null(j.message);
		else if (!strstr(j.message, row[i].asked) ||
		         !strstr(j.message, SAID))
			fail_msg("row %zu: %s", i, j.message);
		done(&j);
	}
}

/* slurmctld is kept from it whatever the site has decided on placement. */
static void switched_off(void **state)
{
	struct job j = {.d = described(PLANE, 1, 131071, 2, 2)};

	j.d->overcommit = 1;
	put_config("Mode=off");
	assert_int_equal(submit(j.d, 0, &j.message), ESLURM_BAD_TASK_COUNT);
	assert_non_null(strstr(j.message, SAID));
	done(&j);
}

static void set_plane(job_details_t *details, uint16_t plane)
{
#if CPLSLURM_SERIES < 2405
	details->plane_size = plane;
#else
	details->mc_ptr = xmalloc(sizeof(*details->mc_ptr));
	details->mc_ptr->plane_size = plane;
#endif
}

static int change(job_desc_msg_t *d, job_record_t *record, char **message)
{
#if CPLSLURM_SERIES < 2302
	return modify(d, record, 1000);
#else
	return modify(d, record, 1000, message);
#endif
}

struct pending {
	uint32_t tasks, min_nodes, max_nodes, min_cpus;
	uint16_t per_node;
	bool overcommit;
};

static job_record_t *record_of(const struct pending *p, uint32_t dist)
{
	job_record_t *record = xmalloc(sizeof(*record));
	job_details_t *details = xmalloc(sizeof(*details));

	record->job_id = 17;
	record->details = details;
	details->task_dist = dist;
	details->num_tasks = p->tasks;
	details->min_nodes = p->min_nodes;
	details->max_nodes = p->max_nodes;
	details->min_cpus = p->min_cpus;
	details->ntasks_per_node = p->per_node;
	details->overcommit = p->overcommit;
	set_plane(details, 4);
	return record;
}

static void free_record(job_record_t *record)
{
#if CPLSLURM_SERIES >= 2405
	xfree(record->details->mc_ptr);
#endif
	xfree(record->details);
	xfree(record);
}

static void at_a_change(void **state)
{
	static const struct {
		struct pending is;
		/* NO_VAL: as it was */
		uint32_t tasks, min_nodes, max_nodes, min_cpus;
		uint16_t per_node;
		const char *asked; /* NULL: let pass */
	} row[] = {
	        {{8, 2, 2, 2, 0, true},
	         131071,
	         NO_VAL,
	         NO_VAL,
	         NO_VAL,
	         NO_VAL16,
	         "131071 tasks on 2 nodes"},
	        {{200000, 8, 8, 8, 0, true},
	         NO_VAL,
	         2,
	         NO_VAL,
	         NO_VAL,
	         NO_VAL16,
	         "200000 tasks on 2 nodes"},
	        {{0, 2, 2, 2, 0, true},
	         NO_VAL,
	         NO_VAL,
	         NO_VAL,
	         NO_VAL,
	         65532,
	         "131064 tasks on 2 nodes"},
	        {{60000, 1, 1, 1, 60000, true},
	         NO_VAL,
	         NO_VAL,
	         2,
	         NO_VAL,
	         NO_VAL16,
	         "120000 tasks on 2 nodes"},
	        /* Slurm takes more tasks for the CPUs that there were. */
	        {{8, 2, 2, 8, 0, false},
	         131071,
	         NO_VAL,
	         NO_VAL,
	         NO_VAL,
	         NO_VAL16,
	         "131071 tasks on 2 nodes"},
	        {{8, 2, 2, 8, 0, false},
	         131071,
	         NO_VAL,
	         NO_VAL,
	         131071,
	         NO_VAL16,
	         NULL},
	        {{8, 2, 2, 2, 0, true},
	         60000,
	         NO_VAL,
	         NO_VAL,
	         NO_VAL,
	         NO_VAL16,
	         NULL},
	        {{200000, 8, 8, 8, 0, true},
	         NO_VAL,
	         6,
	         NO_VAL,
	         NO_VAL,
	         NO_VAL16,
	         NULL},
	        /* Another change: it can be held, and ended. */
	        {{131071, 2, 2, 2, 0, true},
	         NO_VAL,
	         NO_VAL,
	         NO_VAL,
	         NO_VAL,
	         NO_VAL16,
	         NULL},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct job j = {.d = described(NO_VAL, NO_VAL16, row[i].tasks,
		                               row[i].min_nodes,
		                               row[i].max_nodes)};
		job_record_t *record = record_of(&row[i].is, PLANE);

		j.d->ntasks_per_node = row[i].per_node;
		j.d->min_cpus = row[i].min_cpus;
		logged[0] = '\0';
		j.rc = change(j.d, record, &j.message);
		if (j.rc != (row[i].asked ? ESLURM_BAD_TASK_COUNT : 0))
			fail_msg("row %zu: %d %s", i, j.rc, logged);
		if (!row[i].asked)
			assert_string_equal(logged, "");
		else if (!strstr(logged, row[i].asked) || !strstr(logged, SAID))
			fail_msg("row %zu: %s", i, logged);
#if CPLSLURM_SERIES >= 2302
		assert_int_equal(!j.message, !row[i].asked);
		assert_true(!j.message || strstr(logged, j.message));
#endif
		free_record(record);
		done(&j);
	}
}

static void other_changes(void **state)
{
	static const struct pending eight = {8, 2, 2, 2, 0, true};
	job_desc_msg_t *d = described(NO_VAL, NO_VAL16, 131071, NO_VAL, NO_VAL);
	job_record_t *record = record_of(&eight, SLURM_DIST_CYCLIC);
	job_details_t *details = record->details;

	assert_int_equal(change(d, record, NULL), 0);
	details->task_dist = PLANE;
	assert_int_equal(change(d, record, NULL), ESLURM_BAD_TASK_COUNT);
	record->details = NULL;
	assert_int_equal(change(d, record, NULL), 0);
	assert_int_equal(change(d, NULL, NULL), 0);
	record->details = details;
	free_record(record);
	xfree(d);
}

#define T(f) cmocka_unit_test_setup_teardown(f, submit_start, submit_stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        T(at_submission),
	        T(switched_off),
	        T(at_a_change),
	        T(other_changes),
	};

	return cmocka_run_group_tests(tests, load, unload);
}
