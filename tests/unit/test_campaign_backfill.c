/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Slurm's queue: who starts in a pass of one of its schedulers, when and on which nodes,
 * and when they look. The cases were worked out by hand from Slurm's source. */
#include "commplace-config.h"

#include "unit.h"

#include <unistd.h>

#include "campaign_cases.h"


enum { LATER = -1 }; /* than the last pass that is stated */

/* On 16 nodes. The first submission is at 1000. */
struct queue_case {
	const char *log, *options;
	struct cpl_pass pass[3];
	/* Of each job, when it starts, and its first node. */
	struct {
		int at, node;
	} start[5];
};

/* Twelve nodes until 1120 and two until 1180, two are free. */
#define TWO_FREE                            \
	SWF(1, 1000, 100, 12, 12, 120)      \
	SWF(2, 1000, 150, 2, 2, 180)
/* Ten until 1120, three until 1600, three are free. */
#define THREE_FREE                          \
	SWF(1, 1000, 100, 10, 10, 120)      \
	SWF(2, 1000, 150, 3, 3, 600)

static const struct queue_case cases[] = {
        /* The first has 0-11, 14 and 15 at 1120, in the table from 1080: who ends before
         * that starts now, and who does not waits for 12 and 13. */
        {TWO_FREE SWF(3, 1005, 9, 14, 14, 120) SWF(4, 1005, 9, 2, 2, 60)
                 SWF(5, 1005, 9, 2, 2, 600),
         "",
         {{1000, false}, {1010, false}, {1019, true}},
         {{0, 0}, {0, 12}, {LATER, 0}, {19, 14}, {LATER, 0}}},
        /* A second later its end is 1080. */
        {TWO_FREE SWF(3, 1005, 9, 14, 14, 120) SWF(4, 1005, 9, 2, 2, 60),
         "bf_continue",
         {{1000, false}, {1010, false}, {1020, true}},
         {{0, 0}, {0, 12}, {LATER, 0}, {LATER, 0}}},
        /* In seconds, the table has it from 1120. */
        {TWO_FREE SWF(3, 1005, 9, 14, 14, 120) SWF(4, 1005, 9, 2, 2, 60),
         "bf_continue,bf_resolution=1",
         {{1000, false}, {1010, false}, {1020, true}},
         {{0, 0}, {0, 12}, {LATER, 0}, {20, 14}}},
        /* The first has 0-9, 13 and 14 at 1120; what is left over is node 15. */
        {THREE_FREE SWF(3, 1005, 9, 12, 12, 60) SWF(4, 1005, 9, 1, 1, 600),
         "",
         {{1000, false}, {1019, true}},
         {{0, 0}, {0, 10}, {LATER, 0}, {19, 15}}},
        {THREE_FREE SWF(3, 1005, 9, 12, 12, 60) SWF(4, 1005, 9, 1, 1, 600),
         "bf_max_job_test=1",
         {{1000, false}, {1019, true}},
         {{0, 0}, {0, 10}, {LATER, 0}, {LATER, 0}}},
        /* All nodes are in a plan, from 1600 on. */
        {THREE_FREE SWF(3, 1005, 9, 12, 12, 60) SWF(4, 1005, 9, 16, 16, 60)
                 SWF(5, 1005, 9, 1, 1, 7200),
         "",
         {{1000, false}, {1019, true}},
         {{0, 0}, {0, 10}, {LATER, 0}, {LATER, 0}, {LATER, 0}}},
        {THREE_FREE SWF(3, 1005, 9, 12, 12, 60) SWF(4, 1005, 9, 16, 16, 60)
                 SWF(5, 1005, 9, 1, 1, 7200),
         "bf_job_part_count_reserve=1",
         {{1000, false}, {1019, true}},
         {{0, 0}, {0, 10}, {LATER, 0}, {LATER, 0}, {19, 15}}},
        /* Ends at 1120 and 1140 are near each other: the first has 0-13 at 1140. */
        {SWF(1, 1000, 100, 12, 12, 120) SWF(2, 1020, 100, 2, 2, 120)
                 SWF(3, 1022, 9, 14, 14, 60) SWF(4, 1022, 9, 2, 2, 600),
         "",
         {{1000, false}, {1020, false}, {1025, true}},
         {{0, 0}, {20, 12}, {LATER, 0}, {25, 14}}},
        /* At 1120 and 1180 they are not. */
        {SWF(1, 1000, 100, 12, 12, 120) SWF(2, 1020, 100, 2, 2, 160)
                 SWF(3, 1022, 9, 14, 14, 60) SWF(4, 1022, 9, 2, 2, 600),
         "",
         {{1000, false}, {1020, false}, {1025, true}},
         {{0, 0}, {20, 12}, {LATER, 0}, {LATER, 0}}},
};

static void check_case(const struct queue_case *row)
{
	static const char *const flat[] = {"flat"};
	struct cpl_slurm_queue queue = {.pass = (struct cpl_pass *)row->pass};
	struct played p;
	double last = 0;

	while (queue.n_passes < 3 && row->pass[queue.n_passes].at > 0)
		last = row->pass[queue.n_passes++].at - 1000;
	assert_int_equal(cpl_backfill_parse(row->options, &queue.options, NULL), 0);
	get_ready(&p, NULL, row->log, "Match Pattern=none\n");
	p.c.slurm = &queue;
	play_ready(&p, flat, 1);
	for (int i = 0; i < p.log.n_jobs; i++) {
		const struct cpl_campaign_job *job = &p.result[0].job[i];

		if (row->start[i].at == LATER) {
			assert_true(job->start > last);
			continue;
		}
		assert_true(job->start == row->start[i].at);
		assert_int_equal(job->node[0], row->start[i].node);
	}
	unplay(&p);
}

static void test_cases(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		check_case(&cases[i]);
}

/* Without passes the main scheduler looks at whole seconds, three after its last look,
 * and backfill every 30. */
static void test_clock(void **state)
{
	static const char *const flat[] = {"flat"};
	static const double start[] = {3, 105, 30, 108, 60};
	struct cpl_slurm_queue queue = {0};
	struct cpl_error err = {""};
	struct played p;

	assert_int_equal(cpl_backfill_parse("", &queue.options, NULL), 0);
	/* The second waits for the first, and the fourth for the second; the others end
	 * before the second is planned, and have the same two nodes. */
	get_ready(&p, NULL,
	          SWF(1, 1000, 101.5, 14, 14, 240) SWF(3, 1004, 0.5, 16, 16, 60)
	                  SWF(2, 1005, 20, 2, 2, 60) SWF(4, 1006, 2.25, 16, 16, 60)
	                          SWF(5, 1007, 9, 1, 1, 60),
	          "Match Pattern=none\n");
	p.c.slurm = &queue;
	play_ready(&p, flat, 1);
	for (int i = 0; i < 5; i++)
		assert_true(p.result[0].job[i].start == start[i]);
	unplay(&p);

	get_ready(&p, NULL, SWF(1, 1000, 9, 2, 2, 60),
	          "Match Pattern=none Options=--contiguous\n");
	p.c.slurm = &queue;
	assert_int_equal(cpl_campaign_run(&p.c, flat, 1, p.result, &err), -1);
	assert_non_null(strstr(err.text, "Slurm's queue"));
	p.n = 1;
	unplay(&p);
}

static void test_options(void **state)
{
	struct cpl_backfill_options o;
	struct cpl_error err = {""};

	assert_int_equal(cpl_backfill_parse(NULL, &o, NULL), 0);
	assert_true(o.interval == 30 && o.resolution == 60 && o.window == 86400 &&
	            o.jobs == 500 && o.records == 500 && !o.reserve && !o.linear &&
	            o.main == 60 && o.delay == 3);
	assert_int_equal(cpl_backfill_parse("BF_INTERVAL=7, default_queue_depth=9,"
	                                    "bf_window=2,bf_max_job_test=8",
	                                    &o, NULL),
	                 0);
	assert_true(o.interval == 7 && o.window == 120 && o.jobs == 8 &&
	            o.records == 8);
	assert_int_equal(cpl_backfill_parse("defer,bf_resolution=x", &o, &err), -1);
	assert_string_equal(err.text,
	                    "bf_resolution: needs a number from 1 to 3600");
}

/* The error of a file with this text, or "". */
static const char *passes_error(const char *text, struct cpl_error *err)
{
	char path[] = "/tmp/passes.XXXXXX";
	struct cpl_pass *pass;
	int fd = mkstemp(path), n;

	assert_true(fd >= 0 && write(fd, text, strlen(text)) >= 0);
	close(fd);
	err->text[0] = '\0';
	if (!cpl_passes_load(path, &pass, &n, err)) {
		assert_int_equal(n, 2);
		assert_true(pass[0].at == 1.5 && !pass[0].backfill);
		assert_true(pass[1].at == 2 && pass[1].backfill);
		free(pass);
	}
	unlink(path);
	return err->text;
}

static void test_passes(void **state)
{
	static const struct {
		const char *text, *error;
	} row[] = {
	        {"# looks\n\n1.5 main\n2\tbackfill\n", ""},
	        {"1.5 main\n1 backfill\n", ":2: comes before the line above"},
	        {"main\n", ":1: needs SECONDS main, or SECONDS backfill"},
	        {"1 full\n", ":1: needs main or backfill behind the seconds"},
	        {"1 main 2\n", ":1: needs main or backfill behind the seconds"},
	        {"inf main\n", ":1: needs SECONDS main, or SECONDS backfill"},
	};
	struct cpl_error err;

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		const char *error = passes_error(row[i].text, &err);

		assert_true(strlen(error) >= strlen(row[i].error));
		assert_string_equal(error + strlen(error) - strlen(row[i].error),
		                    row[i].error);
		assert_true(*row[i].error || !*error);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_cases),
	        cmocka_unit_test(test_clock),
	        cmocka_unit_test(test_options),
	        cmocka_unit_test(test_passes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
