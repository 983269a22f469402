/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Job logs, their maps, and what is played from them. */
#include "commplace-config.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "campaign/easy.h"
#include "campaign/summary.h"
#include "campaign_cases.h"

static void test_swf(void **state)
{
	struct cpl_log log;

	take_log("; MaxNodes: 8\n\n" SWF(3, 100, 60, 5, 8, 90)
	         SWF(1, 90, 10.5, -1, 7, -1) SWF(2, 95, 0, 4, 4, 10)
	         SWF(4, 95, 10, 0, 0, 10), 4, &log);
	assert_int_equal(log.n_jobs, 2);
	assert_int_equal(log.left_out, 2);
	/* The earliest first, from 0 on; what a node counts as is rounded up.
	 */
	assert_string_equal(log.job[0].label, "1");
	assert_true(log.job[0].submit == 0 && log.job[0].run == 10.5);
	assert_true(log.job[0].limit == 10.5);
	assert_int_equal(log.job[0].nodes, 2);
	assert_true(log.job[1].submit == 10 && log.job[1].limit == 90);
	assert_int_equal(log.job[1].nodes, 2);
	assert_string_equal(log.job[1].user, "5");
	assert_string_equal(log.job[1].account, "6");
	assert_string_equal(log.job[1].name, "17");
	assert_string_equal(log.job[1].partition, "2");
	assert_true(log.job[1].share == -1);
	cpl_log_free(&log);
}

static void test_sacct(void **state)
{
	struct cpl_log log;

	take_log("JobName|JobID|NNodes|Elapsed|Submit|Timelimit|Share|QOS\n"
	         "a b|12|4|1-01:00:10|2024-02-29T23:59:50|2-00:00:00|30|high\n"
	         "batch|12.batch|4|1-01:00:10|2024-02-29T23:59:50|||\n"
	         "c|13_1|1|02:03.500|2024-03-01T00:00:00|UNLIMITED||\n"
	         "d|14|1|00:00:00|2024-03-01T00:00:00|10:00||\n"
	         "e|15|1|00:10:00|Unknown|10:00||\n", 1, &log);
	assert_int_equal(log.n_jobs, 2);
	assert_int_equal(log.left_out, 2);
	assert_string_equal(log.job[0].name, "a b");
	assert_string_equal(log.job[0].qos, "high");
	assert_true(log.job[0].run == 90010 && log.job[0].limit == 172800);
	assert_true(log.job[0].share == 0.3);
	assert_string_equal(log.job[1].label, "13_1");
	assert_true(log.job[1].submit == 10 && log.job[1].run == 123);
	assert_true(log.job[1].limit == 123 && log.job[1].share == -1);
	cpl_log_free(&log);
	take_log("jobidraw|submit|elapsedraw|allocnodes|timelimitraw\n"
	         "7|1700000000|60|2|5\r\n", 1, &log);
	assert_true(log.job[0].run == 60 && log.job[0].limit == 300);
	cpl_log_free(&log);
}

/* A log of a job at the beginning of 1970, and one at that moment; NULL: it is
 * none. */
static void check_moment(const char *text, const double *want)
{
	struct cpl_error err = {""};
	struct cpl_log log;
	char lines[256];

	snprintf(lines, sizeof(lines),
	         "JobID|Submit|Elapsed|NNodes\n"
	         "1|1970-01-01T00:00:00|1|1\n2|%s|1|1\n",
	         text);
	if (!want) {
		assert_int_equal(parse_log(lines, 1, &log, &err), -1);
		assert_non_null(strstr(err.text, "log:3: Submit: '"));
		return;
	}
	take_log(lines, 1, &log);
	assert_int_equal(log.n_jobs, 2);
	if (log.job[1].submit != *want)
		fail_msg("%s: %.17g", text, log.job[1].submit);
	cpl_log_free(&log);
}

/* As the C library counts, over leap years and centuries; and what is no
 * moment. */
static void test_moments(void **state)
{
	static const char *const none[] = {
	        "2024-00-01T00:00:00",
	        "2024-13-01T00:00:00",
	        "2024-01-00T00:00:00",
	        "2024-01-32T00:00:00",
	        "2024-01-01T24:00:00",
	        "2024-01-01T-1:00:00",
	        "2024-01-01T00:60:00",
	        "2024-01-01T00:00:61",
	        "2024-01-01T00:00:00Z",
	        "2024-01-01 00:00:00",
	        "2024-01-01",
	        "None",
	        "2024-01-01T00:00:00.",
	        "2024-01-01T00:00:00.5s",
	        "2024-01-01T00:00:00,5",
	        "2024-01-01T00:00:00.-5",
	};
	double leap = 59 + 60 - 59, quarter = 10.25;

	for (int i = 0; i < 600; i++) {
		struct tm tm = {.tm_year = 70 + i * 53 % 180,
		                .tm_mon = i % 12,
		                .tm_mday = 1 + i * 7 % 28,
		                .tm_hour = i % 24,
		                .tm_min = i * 11 % 60,
		                .tm_sec = i * 13 % 60};
		double want;
		char text[32];

		/* Ends of months, too. */
		if (i % 3 == 0)
			tm.tm_mday = 0;
		want = (double)timegm(&tm);
		if (want <= 0)
			continue;
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
		check_moment(text, &want);
	}
	check_moment("1970-01-01T00:00:60", &leap);
	check_moment("1970-01-01T00:00:10.25", &quarter);
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
		check_moment(none[i], NULL);
}

/* Times of the clock, and plain numbers in the unit of their column. */
static void test_durations(void **state)
{
	static const struct {
		const char *elapsed, *limit;
		double run, asked; /* run < 0: is none */
	} row[] = {
	        {"01:02", "", 62, 62},
	        {"1:02:03", "1-00:00:00", 3723, 86400},
	        {"2-03:04:05", "", 183845, 183845},
	        {"10:00.9", "11:00", 600, 660},
	        {"5", "1", 5, 60},
	        {"5.5", "0.05", 5.5, 5.5},
	        {"60", "1", 60, 60},
	        {"61", "1", 61, 61},
	        {"1:00", "partition_limit", 60, 60},
	        {"1:00", "Unlimited", 60, 60},
	        {"1:", "", -1, 0},
	        {":1", "", -1, 0},
	        {"1:2:3:4", "", -1, 0},
	        {"1-", "", -1, 0},
	        {"-1:00", "", -1, 0},
	        {"1:0000000001", "", -1, 0},
	        {"1:00x", "", -1, 0},
	        {"1:00", "forever", -1, 0},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct cpl_error err = {""};
		struct cpl_log log;
		char lines[128];
		int rc;

		snprintf(lines, sizeof(lines),
		         "JobID|Submit|Elapsed|NNodes|Timelimit\n1|0|%s|1|%s\n",
		         row[i].elapsed, row[i].limit);
		rc = parse_log(lines, 1, &log, &err);
		print_message("%s %s %s\n", row[i].elapsed, row[i].limit,
		              err.text);
		assert_int_equal(rc, row[i].run < 0 ? -1 : 0);
		if (rc) {
			assert_non_null(strstr(err.text, "log:2: "));
			assert_non_null(strstr(err.text, "is not a number"));
			continue;
		}
		assert_true(log.job[0].run == row[i].run);
		assert_true(log.job[0].limit == row[i].asked);
		cpl_log_free(&log);
	}
}

/* A hundred columns, and lines without an end; a header with more than there
 * may be. */
static void test_columns(void **state)
{
	for (int columns = 127; columns < 130; columns++) {
		char lines[2048] = "JobID|Submit|Elapsed|NNodes";
		struct cpl_error err = {""};
		struct cpl_log log;
		int rc;

		for (int i = 4; i < columns; i++)
			sprintf(lines + strlen(lines), "|c%d", i);
		strcat(lines, "\r\n\n7|3|2|1");
		for (int i = 4; i < columns; i++)
			strcat(lines, "|");
		rc = parse_log(lines, 1, &log, &err);
		assert_int_equal(rc, columns > 128 ? -1 : 0);
		if (rc) {
			assert_string_equal(err.text,
			                    "log:1: more than 128 columns");
			continue;
		}
		assert_string_equal(log.job[0].label, "7");
		assert_true(log.job[0].run == 2);
		cpl_log_free(&log);
	}
}

/* Of the same moment in the order of the log, whatever that is sorted by. */
static void test_jobs_of_one_moment(void **state)
{
	char lines[60 * 40] = "JobID|Submit|Elapsed|NNodes\n";
	struct cpl_log log;

	for (int i = 0; i < 60; i++)
		sprintf(lines + strlen(lines), "%d|%d|1|1\n", i, i % 3 ? 7 : 5);
	take_log(lines, 1, &log);
	for (int i = 0; i < 60; i++) {
		char label[8];

		sprintf(label, "%d",
		        i < 20 ? 3 * i : (i - 20) / 2 * 3 + 1 + i % 2);
		assert_string_equal(log.job[i].label, label);
		assert_int_equal(log.job[i].id, i + 1);
	}
	cpl_log_free(&log);
}

static void test_log_errors(void **state)
{
	static const struct {
		const char *text, *says;
	} row[] = {
	        {"", "log: has no job that ran"},
	        {"; nothing\n", "log: has no job that ran"},
	        {"1 2 3\n", "log:1: 3 fields; a job of the Standard"},
	        {"\n" SWF(1, x, 1, 1, 1, 1), "log:2: field 2: 'x' is not a"},
	        {SWF(1, nan, 1, 1, 1, 1), "field 2: 'nan' is not a number"},
	        {SWF(1, 0x10, 1, 1, 1, 1), "field 2: '0x10' is not a number"},
	        {SWF(1, 1e300, 1, 1, 1, 1), "field 2: 1e300 is too large"},
	        {SWF(1, 1, 1, 99999999, 1, 1), "log:1: 99999999 nodes are more"},
	        {"JobID|Submit|Elapsed\n", "log:1: there is no column NNodes or "
	                                   "AllocNodes"},
	        {"JobID|Submit|Elapsed|NNodes\n1|2|3\n",
	         "log:2: 3 fields, but 4 columns"},
	        {"JobID|Submit|Elapsed|NNodes\n1|2|1:2:3:4|1\n",
	         "log:2: Elapsed: '1:2:3:4' is not a number"},
	        {"JobID|Submit|Elapsed|NNodes\n1|2024-13-01T00:00:00|1|1\n",
	         "log:2: Submit: '2024-13-01T00:00:00' is not a number"},
	        {"JobID|Submit|Elapsed|NNodes|Share\n1|2|1|1|101\n",
	         "log:2: Share: 101 is outside 0 .. 100"},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct cpl_error err = {""};
		struct cpl_log log;

		assert_int_equal(parse_log(row[i].text, 1, &log, &err), -1);
		if (!strstr(err.text, row[i].says))
			fail_msg("'%s', not '%s'", err.text, row[i].says);
		assert_null(log.job);
		assert_null(log.text);
	}
}

static void test_rules(void **state)
{
	struct cpl_jobs jobs;
	struct cpl_log_job job = {.id = 1, .name = "vasp_std", .user = "u",
	                          .account = "a", .partition = "big",
	                          .qos = "", .nodes = 64};
	int drawn[3] = {0};

	take_jobs("# comment\n"
	          "Match Name=vasp* Nodes=1-63 Pattern=ring Class=small\n"
	          "match name=\"vasp*\" Partition=big Nodes=64- Signature=v.json "
	          "Share=40 RanksPerNode=4 # behind\n"
	          "Match User=x Pattern=none\n"
	          "Mix Weight=3 Pattern=pencil Share=10\nMix Pattern=stencil-3d\n",
	          &jobs);
	assert_int_equal(jobs.n_rules, 5);
	assert_true(jobs.weight == 4);
	assert_string_equal(jobs.rule[0].class, "small");
	assert_string_equal(jobs.rule[2].class, "none");
	assert_ptr_equal(cpl_jobs_rule_of(&jobs, &job, 1), &jobs.rule[1]);
	assert_string_equal(jobs.rule[1].signature, "v.json");
	assert_string_equal(jobs.rule[1].class, "v.json");
	assert_true(jobs.rule[1].share == 0.4);
	assert_int_equal(jobs.rule[1].ranks_per_node, 4);
	job.nodes = 63;
	assert_ptr_equal(cpl_jobs_rule_of(&jobs, &job, 1), &jobs.rule[0]);
	job.name = "x";
	for (int i = 0; i < 4000; i++) {
		job.id = i;
		drawn[cpl_jobs_rule_of(&jobs, &job, 1) - &jobs.rule[3]]++;
	}
	/* 3000 expected, with a deviation of 27. */
	assert_in_range(drawn[0], 2880, 3120);
	cpl_jobs_free(&jobs);
	/* Of three: 1000, 2000 and 1000, with deviations of 27 and 32. */
	take_jobs("Mix Pattern=ring\nMix Weight=2 Pattern=pencil\n"
	          "Mix Pattern=none\n",
	          &jobs);
	memset(drawn, 0, sizeof(drawn));
	for (int i = 0; i < 4000; i++) {
		job.id = i;
		drawn[cpl_jobs_rule_of(&jobs, &job, 1) - jobs.rule]++;
	}
	assert_in_range(drawn[0], 880, 1120);
	assert_in_range(drawn[1], 1860, 2140);
	assert_in_range(drawn[2], 880, 1120);
	cpl_jobs_free(&jobs);
	take_jobs("Match Name=y Pattern=ring\n", &jobs);
	assert_null(cpl_jobs_rule_of(&jobs, &job, 1));
	cpl_jobs_free(&jobs);
}

static void test_rule_errors(void **state)
{
	static const struct {
		const char *text, *says;
	} row[] = {
	        {"", "map: has no line of Match or Mix"},
	        {"Match\n", "map:1: a line begins with Match or Mix"},
	        {"Default Share=1\n", "map:1: a line begins with"},
	        {"Match Name\n", "map:1: 'Name': Key=Value is expected"},
	        {"Match Name= Share=1\n", "map:1: Name: the value is missing"},
	        {"Match Name=\"x\n", "map:1: Name: the quotation has no end"},
	        {"Match Florp=1\n",
	         "map:1: Florp is no key of a line of Match"},
	        {"\nMix Name=x\n", "map:2: Name is no key of a line of Mix"},
	        {"Match Weight=2\n", "map:1: Weight is no key"},
	        {"Mix Weight=0\n", "map:1: Weight: 0 is outside 1e-09 .."},
	        {"Match Share=x\n", "map:1: Share: 'x' is not a number"},
	        {"Match Share=101\n", "map:1: Share: 101 is outside 0 .. 100"},
	        {"Match RanksPerNode=1.5\n", "1.5 is no whole number"},
	        {"Match RanksPerNode=0\n", "0 is outside 1 .. 1024"},
	        {"Match Nodes=5-4\n", "Nodes: '5-4' is no number or range"},
	        {"Match Nodes=-\n", "Nodes: '-' is no number or range"},
	        {"Match Nodes=1-2-3\n", "Nodes: '1-2-3' is no number or range"},
	        {"Match Pattern=florp\n",
	         "there is no pattern 'florp'; it must "
	         "be one of none, ring, "},
	        {"Match Pattern=ring Signature=x\n", "one of them will do"},
	        {"Match Name=a Name=b\n", "map:1: Name is there twice"},
	        {"Match Name=\x1b[1m\n", "Name: has characters that cannot"},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct cpl_error err = {""};
		struct cpl_jobs jobs;

		assert_int_equal(cpl_jobs_parse(row[i].text,
		                                strlen(row[i].text), "map",
		                                &jobs, &err), -1);
		if (!strstr(err.text, row[i].says))
			fail_msg("'%s', not '%s'", err.text, row[i].says);
		assert_int_equal(jobs.n_rules, 0);
	}
}

/* Values of up to 255 bytes, in quotes too; numbers at their ends; ranges. */
static void test_values_of_rules(void **state)
{
	static const struct {
		const char *nodes;
		int low, high;
	} range[] = {
	        {"1", 1, 1},
	        {"64", 64, 64},
	        {"5-5", 5, 5},
	        {"64-512", 64, 512},
	        {"64-", 64, CPL_LOG_MAX_NODES},
	        {"-512", 1, 512},
	        {"16777216", 16777216, 16777216},
	        {"16777216-16777216", 16777216, 16777216},
	        {"16777217", 0, 0},
	        {"1-16777217", 0, 0},
	        {"0", 0, 0},
	        {"0-4", 0, 0},
	        {"-0", 0, 0},
	        {"--4", 0, 0},
	        {"4x", 0, 0},
	        {"016777216-16777216", 0, 0},
	};
	struct cpl_jobs jobs;
	char text[600];

	for (size_t i = 0; i < sizeof(range) / sizeof(*range); i++) {
		struct cpl_error err = {""};
		int rc;

		snprintf(text, sizeof(text), "Match Nodes=%s\n",
		         range[i].nodes);
		rc = cpl_jobs_parse(text, strlen(text), "map", &jobs, &err);
		print_message("%s\n", range[i].nodes);
		assert_int_equal(rc, range[i].low ? 0 : -1);
		if (rc) {
			assert_non_null(strstr(err.text, "map:1: Nodes: '"));
			continue;
		}
		assert_int_equal(jobs.rule[0].low, range[i].low);
		assert_int_equal(jobs.rule[0].high, range[i].high);
		cpl_jobs_free(&jobs);
	}
	for (int i = 0; i < 4; i++) {
		int length = 255 + i / 2;
		struct cpl_error err = {""};
		char value[300];
		int rc;

		memset(value, 'x', sizeof(value));
		value[length] = '\0';
		snprintf(text, sizeof(text),
		         i % 2 ? "Match Name=\"%s\" User=u\n"
		               : "Match Name=%s\tUser=u\r\n",
		         value);
		rc = cpl_jobs_parse(text, strlen(text), "map", &jobs, &err);
		assert_int_equal(rc, length > 255 ? -1 : 0);
		if (rc) {
			assert_string_equal(
			        err.text, "map:1: Name: longer than 255 bytes");
			continue;
		}
		assert_string_equal(jobs.rule[0].name, value);
		assert_string_equal(jobs.rule[0].user, "u");
		cpl_jobs_free(&jobs);
	}
	take_jobs("Mix Weight=1e-9 Share=0 RanksPerNode=1\n"
	          "Mix Weight=1e9 Share=100 RanksPerNode=1024\n"
	          "Mix Pattern=NONE\n",
	          &jobs);
	assert_true(jobs.rule[0].weight == 1e-9 && jobs.rule[0].share == 0);
	assert_true(jobs.rule[1].weight == 1e9 && jobs.rule[1].share == 1);
	assert_int_equal(jobs.rule[1].ranks_per_node, 1024);
	assert_true(jobs.rule[2].weight == 1 && jobs.rule[2].share == -1);
	assert_int_equal(jobs.rule[2].ranks_per_node, 1);
	assert_int_equal(jobs.rule[2].line, 3);
	assert_null(jobs.rule[2].pattern);
	cpl_jobs_free(&jobs);
}

/* Each condition by itself keeps a rule from a job, and shell patterns hold. */
static void test_conditions(void **state)
{
	static const char *const condition[] = {
	        "Name=n?me", "User=[tu]",      "Account=ac*",
	        "QOS=high",  "Partition=part", "Nodes=3-5",
	};
	struct cpl_log_job job = {.name = "name",
	                          .user = "u",
	                          .account = "acc",
	                          .partition = "part",
	                          .qos = "high",
	                          .nodes = 5};

	for (int i = 0; i < 6; i++) {
		struct cpl_log_job other = job;
		const char **text[] = {&other.name, &other.user, &other.account,
		                       &other.qos, &other.partition};
		struct cpl_jobs jobs;
		char line[64];

		snprintf(line, sizeof(line), "match %s pattern=RING\n",
		         condition[i]);
		take_jobs(line, &jobs);
		assert_ptr_equal(cpl_jobs_rule_of(&jobs, &job, 1), jobs.rule);
		assert_string_equal(jobs.rule->class, "ring");
		if (i < 5)
			*text[i] = "";
		else
			other.nodes = 6;
		assert_null(cpl_jobs_rule_of(&jobs, &other, 1));
		other.nodes = i < 5 ? 5 : 2;
		assert_null(cpl_jobs_rule_of(&jobs, &other, 1));
		cpl_jobs_free(&jobs);
	}
}

/* Bytes from a to b in MB. */
static double sends(const struct cpl_comm *comm, int a, int b)
{
	for (int64_t e = comm->row[a]; e < comm->row[a + 1]; e++)
		if (comm->to[e] == b)
			return comm->bytes[e] / 1e6;
	return 0;
}

static void test_patterns(void **state)
{
	static const struct {
		const char *name;
		int ranks;
		int64_t entries;
		int to; /* of rank 0 */
		double megabytes;
	} row[] = {
	        {"ring", 1, 0, 0, 0},
	        {"ring", 2, 2, 1, 1},
	        {"ring", 5, 10, 4, 1},
	        {"stencil-2d", 12, 12 * 4, 3, 1},
	        {"stencil-3d", 27, 27 * 6, 9, 1},
	        {"stencil-3d", 7, 14, 6, 1}, /* a prime: a ring */
	        {"stencil-4d", 16, 16 * 4, 8, 1},
	        {"pencil", 12, 12 * 5, 3, 1},
	        {"all-to-all", 6, 30, 5, 1},
	        {"recursive-doubling", 8, 24, 4, 1},
	        {"recursive-doubling", 6, 6 * 2 + 2, 4, 1},
	        {"recursive-halving", 8, 24, 4, 0.25},
	        {"recursive-halving", 8, 24, 1, 1},
	        {"binomial", 8, 14, 4, 1},
	        {"binomial", 6, 10, 4, 1},
	        {"2-d", 8, 24, 4, 1},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		const struct cpl_jobs_pattern *pattern =
		        cpl_jobs_pattern_find(row[i].name, NULL);
		struct cpl_comm *comm = cpl_jobs_pattern_comm(
		        pattern, row[i].ranks, NULL);

		assert_non_null(comm);
		assert_int_equal(comm->ranks, row[i].ranks);
		assert_int_equal(comm->n_entries, row[i].entries);
		assert_true(sends(comm, 0, row[i].to) == row[i].megabytes);
		/* As kinds take them to be. */
		for (int from = 0; from < comm->ranks; from++)
			for (int to = 0; to < from; to++)
				assert_true(sends(comm, from, to) ==
				            sends(comm, to, from));
		cpl_comm_free(comm);
	}
	for (int i = 0; cpl_jobs_pattern_at(i); i++)
		assert_ptr_equal(cpl_jobs_pattern_find(
		                         cpl_jobs_pattern_at(i)->name, NULL),
		                 cpl_jobs_pattern_at(i));
}

/* Jobs of "nodes limit" on a machine of 10, all waiting at 0; who starts, in
 * which order, "." for nobody; "E3" ends job 3, "T7" is time 7. */
static void easy_case(const char *jobs, const char *steps, bool backfill)
{
	struct cpl_easy easy;
	double now = 0;
	int nodes, limit, n = 0, used;

	assert_int_equal(cpl_easy_init(&easy, 10, 20, backfill, NULL), 0);
	while (sscanf(jobs, "%d %d%n", &nodes, &limit, &used) == 2) {
		cpl_easy_submit(&easy, n++, nodes, limit);
		jobs += used;
	}
	for (; *steps; steps++) {
		if (*steps == 'E')
			cpl_easy_end(&easy, *++steps - '0');
		else if (*steps == 'T')
			now = *++steps - '0';
		else
			assert_int_equal(cpl_easy_start(&easy, now),
			                 *steps == '.' ? -1 : *steps - '0');
	}
	cpl_easy_free(&easy);
}

static void test_easy(void **state)
{
	/* The first waits for 8; the second fits in the gap before. */
	easy_case("6 5  8 5  4 5", "02.", true);
	/* It asks for longer than that, but 2 nodes are left over then. */
	easy_case("6 5  8 5  3 9  2 9", "03.", true);
	/* And only those: the next one would delay the first. */
	easy_case("6 5  8 5  2 9  2 9", "02.", true);
	/* As much as is left till then. */
	easy_case("6 5  8 5  4 4", "0T12.", true);
	easy_case("6 5  8 5  4 5", "0T1.", true);
	/* First come, first served: nobody goes before. */
	easy_case("6 5  8 5  4 5", "0.E01.E12.", false);
	easy_case("6 5  8 5  4 5", "02.E0.E21.", true);
	/* All that end at the same moment leave their nodes: of 10 then 1 is
	 * left over. */
	easy_case("4 5  4 5  9 5  1 9  1 9", "013.", true);
	/* Who has overrun is taken to end now: whatever ends later waits. */
	easy_case("6 5  8 5  4 5", "0T7.", true);
	easy_case("10 1  10 1  10 1", "0.E01.E12.E2.", true);
}

/* What is chosen when nodes of `busy` ("x": taken) are taken, with this many
 * loud nodes on each leaf: the nodes as letters. */
static void expect_choice(const char *busy, const char *loud, int n,
                          bool communicates,
                          int (*choose)(const struct cpl_stock_request *,
                                        int *, struct cpl_error *),
                          const char *want)
{
	struct cpl_network *net = make_network();
	struct cpl_stock_tree tree;
	unsigned char free_node[16];
	int loud_on[4], out[16];
	char got[17] = "";

	assert_int_equal(cpl_stock_tree_init(&tree, net, NULL), 0);
	assert_int_equal(tree.n_leaves, 4);
	for (int i = 0; i < 16; i++)
		free_node[i] = busy[i] != 'x';
	for (int i = 0; i < 4; i++)
		loud_on[i] = loud[i] - '0';
	struct cpl_stock_request req = {.tree = &tree, .free = free_node,
	                                .n = n, .communicates = communicates,
	                                .loud = loud_on};
	assert_int_equal(choose(&req, out, NULL), 0);
	for (int i = 0; i < n; i++)
		got[i] = (char)('a' + out[i]);
	assert_string_equal(got, want);
	cpl_stock_tree_free(&tree);
	cpl_network_free(net);
}

static int choose_tree(const struct cpl_stock_request *req, int *out,
                       struct cpl_error *err)
{
	return cpl_stock_tree_place(req, false, out, err);
}

static int choose_adaptive(const struct cpl_stock_request *req, int *out,
                           struct cpl_error *err)
{
	return cpl_stock_adaptive(req, CPL_STUDY_HALVING, out, err);
}

static void test_choices(void **state)
{
	/* Runs of 3, 2, 6: the smallest that is enough; then the largest and
	 * the smallest that is enough for the rest. */
	expect_choice("...xx..xxx......", "0000", 2, true, cpl_stock_flat, "fg");
	expect_choice("...xx..xxx......", "0000", 4, true, cpl_stock_flat,
	              "klmn");
	expect_choice("...xx..xxx......", "0000", 8, true, cpl_stock_flat,
	              "fgklmnop");
	/* The largest first where none is enough, and again. */
	expect_choice("...xx..xxx......", "0000", 10, true, cpl_stock_flat,
	              "abcfklmnop");
	/* The leaf that fits best; the largest first where none is enough, then
	 * what fits the rest. */
	expect_choice("xx..x.......xxx.", "0000", 2, true, choose_tree, "cd");
	expect_choice("xx..x.......xxx.", "0000", 1, true, choose_tree, "p");
	expect_choice("xx..x.......xxx.", "0000", 6, true, choose_tree,
	              "cdijkl");
	/* The fullest first. */
	expect_choice("xx..x.......xxx.", "0000", 6, true,
	              cpl_stock_select_linear, "pcdfgh");
	/* Who communicates goes where few do; the others where many do. */
	expect_choice("xx..xx......xx..", "2100", 6, true, cpl_stock_greedy,
	              "ijklop");
	expect_choice("xx..xx......xx..", "2100", 6, false, cpl_stock_greedy,
	              "cdghop");
	expect_choice("xx..xx......xx..", "2100", 4, true, cpl_stock_greedy,
	              "ijkl");
	/* Powers of two from the emptiest on, the rest from the last back. */
	expect_choice("x...x...x...xxxx", "0000", 8, true, cpl_stock_balanced,
	              "bcfghjkl");
	expect_choice("x...x...xxx.xxxx", "0000", 7, true, cpl_stock_balanced,
	              "bcdfghl");
	expect_choice("x...x...xx..xxxx", "0000", 5, false, cpl_stock_balanced,
	              "klbcd");
	/* Greedy would take three, three and two, which communicate across
	 * leaves in all steps. */
	expect_choice("x...x...xx..xx..", "0000", 8, true, choose_adaptive,
	              "bcfgklop");
}

/* As many runs as there can be. */
static void test_many_runs(void **state)
{
	expect_choice("x.x.x.x.x.x.x.x.", "0000", 8, true, cpl_stock_flat,
	              "bdfhjlnp");
	expect_choice(".x.x.x.x.x.x.x.x", "0000", 8, true, cpl_stock_flat,
	              "acegikmo");
	/* One leaf, the fullest that is enough. */
	expect_choice("x...x...xx..xxxx", "0000", 2, true, cpl_stock_balanced,
	              "kl");
	expect_choice("x...x...xx..xxxx", "0000", 3, false, cpl_stock_balanced,
	              "bcd");
}

/* Leaf switches in pairs: after the first leaf, of all that is free in 4, 1, 2
 * and 2, its neighbour comes, though others fit better. */
static void test_near_leaves_first(void **state)
{
	static const char two_levels[] =
	        "{\"format\":\"commplace-network\",\"version\":1,\"type\":"
	        "\"fattree\",\"nodes_per_router\":4,\"leaves\":4,\"levels\":"
	        "[{\"down\":2,\"up\":1},{\"down\":2,\"up\":1}],"
	        "\"nodes\":\"n[0-15]\"}";
	static const unsigned char is_free[16] = {1, 1, 1, 1, 0, 0, 1, 0,
	                                          0, 1, 0, 1, 1, 0, 1, 0};
	static const int want[] = {0, 1, 2, 3, 6, 9};
	struct cpl_network *net =
	        cpl_network_parse(two_levels, strlen(two_levels), "net", NULL);
	struct cpl_stock_request req = {.free = is_free, .n = 6};
	struct cpl_stock_tree tree;
	int out[6];

	assert_non_null(net);
	assert_int_equal(cpl_stock_tree_init(&tree, net, NULL), 0);
	assert_int_equal(tree.n_levels, 2);
	req.tree = &tree;
	assert_int_equal(cpl_stock_tree_place(&req, false, out, NULL), 0);
	assert_memory_equal(out, want, sizeof(want));
	cpl_stock_tree_free(&tree);
	cpl_network_free(net);
}

/* Of both the one that costs less, or more for who does not communicate, where
 * the job's own nodes count as loud if it does. */
static void test_adaptive_is_one_of_both(void **state)
{
	struct cpl_network *net = make_network();
	struct cpl_stock_tree tree;
	int other = 0;

	assert_int_equal(cpl_stock_tree_init(&tree, net, NULL), 0);
	for (unsigned seed = 1; seed < 400; seed++) {
		unsigned char is_free[16];
		int loud[4], out[3][16], total[2][4], n_free = 0;
		unsigned draw = seed * 2654435761U;
		double cost[2];
		struct cpl_stock_request req = {.tree = &tree,
		                                .free = is_free,
		                                .loud = loud,
		                                .communicates = seed % 2};
		bool balanced;

		for (int i = 0; i < 16; i++)
			n_free += is_free[i] =
			        draw >> i & 1 || draw >> (i + 13) & 1;
		for (int u = 0; u < 4; u++) {
			loud[u] = 0;
			for (int i = 4 * u; i < 4 * u + 4; i++)
				loud[u] += !is_free[i] && (seed >> (i % 5) & 1);
		}
		if (n_free < 2)
			continue;
		req.n = 2 + (int)(seed % (unsigned)(n_free - 1));
		assert_int_equal(cpl_stock_greedy(&req, out[0], NULL), 0);
		assert_int_equal(cpl_stock_balanced(&req, out[1], NULL), 0);
		assert_int_equal(cpl_stock_adaptive(&req, CPL_STUDY_HALVING,
		                                    out[2], NULL),
		                 0);
		for (int k = 0; k < 2; k++) {
			memcpy(total[k], loud, sizeof(loud));
			for (int i = 0; i < req.n && req.communicates; i++)
				total[k][out[k][i] / 4]++;
			cost[k] = cpl_study_cost(&tree, total[k],
			                         CPL_STUDY_HALVING, out[k],
			                         req.n);
		}
		balanced = req.communicates ? cost[1] < cost[0]
		                            : cost[1] > cost[0];
		assert_memory_equal(out[2], out[balanced],
		                    (size_t)req.n * sizeof(int));
		other += balanced;
	}
	assert_true(other > 10);
	cpl_stock_tree_free(&tree);
	cpl_network_free(net);
}

static void test_study_cost(void **state)
{
	struct cpl_network *net = make_network();
	/* The example of the study: job 1 on n0, n1, n4, n5, job 2 on n2, n3.
	 */
	static const int node[] = {0, 1, 4, 5}, loud[] = {4, 2, 0, 0};
	struct cpl_stock_tree tree;

	assert_int_equal(cpl_stock_tree_init(&tree, net, NULL), 0);
	/* Hops of n0 and n4 are 4 (1 + 1.875), of n0 and n1 2 (1 + 1). */
	assert_true(cpl_study_cost(&tree, loud, CPL_STUDY_DOUBLING, node, 4) ==
	            11.5 + 4);
	assert_true(cpl_study_cost(&tree, loud, CPL_STUDY_HALVING, node, 4) ==
	            11.5 + 2 * 4);
	assert_true(cpl_study_cost(&tree, loud, CPL_STUDY_BINOMIAL, node, 4) ==
	            11.5 + 4);
	assert_true(cpl_study_cost(&tree, loud, CPL_STUDY_DOUBLING, node, 1) ==
	            0);
	assert_true(cpl_study_cost(&tree, loud, CPL_STUDY_DOUBLING,
	                           (const int[]){0, 4}, 2) == 11.5);
	/* A tree leaves out the pairs that are far from each other: here ranks
	 * 1 and 3, of n2 and n4. */
	static const int far[] = {0, 2, 1, 4}, fewer[] = {3, 1, 0, 0};
	static const double want[] = {9 + 2 * 9, 9 + 9, 3.5 + 9,
	                              0.3 * 18 + 0.7 * 12.5};

	for (int k = 0; k < CPL_STUDY_PATTERNS; k++)
		assert_float_equal(cpl_study_cost(&tree, fewer,
		                                  (enum cpl_study_pattern)k,
		                                  far, 4),
		                   want[k], 1e-12);
	cpl_stock_tree_free(&tree);
	cpl_network_free(net);
}

static const char mixed[] = "Match Name=0 Pattern=none\n"
                            "Mix Pattern=stencil-2d Share=30\n"
                            "Mix Pattern=recursive-doubling Share=60\n";
static const char *const four[] = {"flat", "auto+mapping", "tree", "adaptive"};

/* Who runs at a moment has nodes that nobody else has. */
static void check_nodes(const struct played *p,
                        const struct cpl_campaign_result *r)
{
	for (int i = 0; i < p->log.n_jobs; i++) {
		double used_until[16] = {0};

		assert_true(r->job[i].start >= p->log.job[i].submit);
		assert_true(r->job[i].end > r->job[i].start);
		for (int k = 0; k < p->log.job[i].nodes; k++) {
			int node = r->job[i].node[k];

			assert_in_range(node, 0, 15);
			assert_true(used_until[node] == 0);
			used_until[node] = r->job[i].end;
		}
		for (int j = 0; j < p->log.n_jobs; j++) {
			if (j == i || r->job[j].start < r->job[i].start ||
			    r->job[j].start >= r->job[i].end)
				continue;
			for (int k = 0; k < p->log.job[j].nodes; k++)
				assert_true(
				        used_until[r->job[j].node[k]] == 0);
		}
	}
}

static void test_conservation(void **state)
{
	char *log = many_jobs();
	struct played p;

	play(&p, log, mixed, four, 4, 1, CPL_CAMPAIGN_ALONE);
	for (int i = 0; i < 4; i++) {
		check_nodes(&p, &p.result[i]);
		for (int j = 0; j < p.log.n_jobs; j++) {
			const struct cpl_campaign_job *job =
			        &p.result[i].job[j];
			double ran = job->end - job->start;

			/* What sends nothing runs as the log says. */
			if (!(job->communication > 0))
				assert_true(ran > p.log.job[j].run - 0.1 &&
				            ran < p.log.job[j].run + 0.1);
		}
	}
	unplay(&p);
	free(log);
}

static void expect_same(const struct played *one, const struct played *other)
{
	for (int i = 0; i < one->n; i++)
		for (int j = 0; j < one->log.n_jobs; j++) {
			const struct cpl_campaign_job *a =
			        &one->result[i].job[j];
			const struct cpl_campaign_job *b =
			        &other->result[i].job[j];

			assert_true(a->start == b->start && a->end == b->end &&
			            a->slowdown == b->slowdown &&
			            a->cost == b->cost &&
			            a->interference == b->interference);
			assert_memory_equal(a->node, b->node,
			                    (size_t)one->log.job[j].nodes *
			                            sizeof(int));
		}
}

static void test_threads(void **state)
{
	char *log = many_jobs();
	struct played one, three;

	play(&one, log, mixed, four, 4, 1, CPL_CAMPAIGN_ALONE);
	play(&three, log, mixed, four, 4, 3, CPL_CAMPAIGN_ALONE);
	expect_same(&one, &three);
	unplay(&one);
	unplay(&three);
	free(log);
}

/* One policy by itself has all threads for its decisions, and for the jobs that
 * run; whatever it goes by. */
static void test_threads_of_one(void **state)
{
	static const struct {
		const char *policy;
		enum cpl_objective objective;
	} row[] = {
	        {"auto+mapping", CPL_OBJECTIVE_MAX},
	        {"auto+greedyallc", CPL_OBJECTIVE_MEAN},
	        {"auto+mapping", CPL_OBJECTIVE_INTERFERENCE},
	        {"tree", CPL_OBJECTIVE_MAX},
	};
	char *log = many_jobs();

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct played by[2];

		for (int k = 0; k < 2; k++) {
			get_ready(&by[k], NULL, log, mixed);
			by[k].c.mapping = "quick";
			by[k].c.objective = row[i].objective;
			by[k].c.own_weight = by[k].c.others_weight = 1;
			by[k].c.threads = 1 + 2 * k;
			play_ready(&by[k], &row[i].policy, 1);
		}
		expect_same(&by[0], &by[1]);
		unplay(&by[0]);
		unplay(&by[1]);
	}
	free(log);
}

/* Whether traffic and groups of ranks are kept or made for each job, by mappers
 * that look at the ranks and such that do not; large jobs among small ones. */
static void test_kept(void **state)
{
	static const char *const mappers[] = {"quick", "greedyallc"};
	static const char wide[] =
	        "Match Name=0 Pattern=none\n"
	        "Mix Pattern=stencil-3d Share=30 RanksPerNode=48\n"
	        "Mix Pattern=pencil Share=60 RanksPerNode=2\n";
	static const char *const policies[] = {"flat+mapping", "auto+mapping",
	                                       "traffic+mapping"};
	char *log = many_jobs();

	for (int i = 0; i < 2; i++) {
		struct played all, none;

		play_kept(&all, log, wide, policies, 3, 1, CPL_CAMPAIGN_ALONE,
		          mappers[i], 0);
		play_kept(&none, log, wide, policies, 3, 2, CPL_CAMPAIGN_ALONE,
		          mappers[i], 1);
		expect_same(&all, &none);
		unplay(&all);
		unplay(&none);
	}
	free(log);
}

/* Lindley: on a machine of one place who comes waits for what was in the system
 * when the one before came. */
static void test_theory(void **state)
{
	static const char *const flat[] = {"flat"};
	char text[100 * 64];
	struct played p;
	size_t used = 0;
	double wait = 0;

	for (unsigned i = 0; i < 100; i++)
		used += (size_t)sprintf(
		        text + used,
		        "%u %u -1 %u 16 -1 -1 -1 -1 -1 1 1 1 0 1 -1 -1 0\n",
		        i + 1, 100 * i, 20 + i * 7919 % 150);
	play(&p, text, "Match Pattern=none\n", flat, 1, 1, CPL_CAMPAIGN_ALONE);
	for (int i = 0; i < 100; i++) {
		const struct cpl_log_job *job = &p.log.job[i];
		double got = p.result[0].job[i].start - job->submit;

		if (i) {
			wait += job[-1].run - (job->submit - job[-1].submit);
			wait = wait > 0 ? wait : 0;
		}
		assert_true(got > wait - 1e-6 && got < wait + 1e-6);
	}
	unplay(&p);
}

/* Alone on the best set, and with the first policy as reference: as the log
 * says; two that share links take longer, by the same rule for both. */
static void test_stretch(void **state)
{
	static const char *const flat[] = {"flat", "flat"};
	static const char one[] = SWF(1, 0, 1000, 8, 8, -1);
	/* Two jobs on every other node: the blockers end before. */
	static const char two[] =
	        SWF(1, 0, 1000, 6, 6, -1) SWF(2, 0, 1000, 6, 6, -1);
	struct cpl_campaign_summary s;
	struct played p;

	play(&p, one, "Match Pattern=pencil Share=50\n", flat, 2, 1,
	     CPL_CAMPAIGN_ALONE);
	assert_true(p.result[0].job[0].end > 999.9 &&
	            p.result[0].job[0].end < 1000.1);
	assert_true(p.result[0].job[0].slowdown > 0.999 &&
	            p.result[0].job[0].slowdown < 1.001);
	unplay(&p);
	play(&p, two, "Match Pattern=pencil Share=50\n", flat, 2, 1,
	     CPL_CAMPAIGN_ALONE);
	/* Both have nodes on the second leaf switch, and share its links. */
	assert_true(p.result[0].job[0].slowdown > 1.01);
	assert_true(p.result[0].job[0].end > 1005);
	assert_true(p.result[0].job[1].interference > 0);
	assert_true(p.result[0].job[0].interference == 0);
	/* What the first is stretched by from the beginning to its end. */
	assert_true(p.result[0].job[0].end <= p.result[0].job[1].end);
	assert_float_equal(p.result[0].job[1].interference,
	                   p.result[0].job[0].end / 1000 - 1, 1e-9);
	unplay(&p);
	play(&p, two, "Match Pattern=pencil Share=50\n", flat, 2, 1,
	     CPL_CAMPAIGN_FIRST);
	for (int i = 0; i < 2; i++)
		for (int j = 0; j < 2; j++) {
			double end = p.result[i].job[j].end;

			assert_true(end > 999 && end < 1001);
		}
	assert_int_equal(cpl_campaign_summarise(&p.c, &p.result[1],
	                                        &p.result[0], &s, NULL), 0);
	assert_int_equal(s.sending, 2);
	assert_true(s.communication_ratio > 0.99 &&
	            s.communication_ratio < 1.01);
	assert_true(s.useful > 0.74 && s.useful < 0.76);
	unplay(&p);
}

/* Two that share links, the second for longer; one that sends nothing ends when
 * the first does: the second goes on unhindered all the same. */
static void test_ends_at_one_moment(void **state)
{
	static const char *const flat[] = {"flat"};
	static const char map[] = "Match Name=17 Nodes=6 Pattern=pencil "
	                          "Share=50\n";
	struct played p;
	char log[512];
	double first, second;

	play(&p, SWF(1, 0, 1000, 6, 6, -1) SWF(2, 0, 2000, 6, 6, -1), map, flat,
	     1, 1, CPL_CAMPAIGN_ALONE);
	first = p.result[0].job[0].end;
	second = p.result[0].job[1].end;
	assert_true(first > 1005 && second < 2 * first);
	unplay(&p);
	snprintf(log, sizeof(log),
	         "%s3 0 7 %.17g 1 -1 -1 1 -1 -1 1 5 6 17 2 -1 -1 0\n",
	         SWF(1, 0, 1000, 6, 6, -1) SWF(2, 0, 2000, 6, 6, -1), first);
	play(&p, log, map, flat, 1, 1, CPL_CAMPAIGN_ALONE);
	assert_true(p.result[0].job[2].end == p.result[0].job[0].end);
	assert_float_equal(p.result[0].job[1].end, second, 1e-6);
	unplay(&p);
}

/* A mapper behind one of Slurm's own choices: pairs that are far apart by rank
 * come to one leaf switch. */
static void test_ranks_of_stock_nodes(void **state)
{
	static const char *const policies[] = {"flat", "flat+mapping",
	                                       "tree+quick"};
	static const char far[] =
	        "{\"format\": \"commplace-signature\", \"version\": 1, "
	        "\"ranks\": 8, \"phases\": [{\"traffic\": [[0, 4, 100, 1], "
	        "[1, 5, 100, 1], [2, 6, 100, 1], [3, 7, 100, 1]]}]}";
	struct played p;

	get_ready(&p, NULL, SWF(1, 0, 1000, 8, 8, -1),
	          "Match Signature=far Share=50\n");
	p.signature[0] = cpl_signature_parse(far, strlen(far), "far", NULL);
	assert_non_null(p.signature[0]);
	play_ready(&p, policies, 3);
	for (int i = 0; i < 3; i++)
		for (int r = 0; r < 4; r++) {
			const int *node = p.result[i].job[0].node;
			bool near = node[r] / 4 == node[r + 4] / 4;

			assert_in_range(node[r], 0, 7);
			assert_int_equal(near, i > 0);
		}
	cpl_signature_free(p.signature[0]);
	unplay(&p);
}

static void test_left_out(void **state)
{
	static const char *const flat[] = {"flat"};
	struct cpl_campaign_summary s;
	struct played p;

	play(&p, SWF(1, 0, 10, 17, 17, -1) SWF(2, 5, 10, 16, 16, -1),
	     "Match Pattern=ring Share=10\n", flat, 1, 1, CPL_CAMPAIGN_ALONE);
	assert_int_equal(p.result[0].too_large, 1);
	assert_true(p.result[0].job[0].start == -1);
	assert_true(p.result[0].job[1].start == 5);
	assert_int_equal(cpl_campaign_summarise(&p.c, &p.result[0],
	                                        &p.result[0], &s, NULL), 0);
	assert_int_equal(s.jobs, 1);
	unplay(&p);
}

static void test_share_missing(void **state)
{
	static const char *const flat[] = {"flat"};
	struct cpl_error err = {""};
	struct played p;

	play(&p, SWF(1, 0, 10, 2, 2, -1), "Match Pattern=none\n", flat, 1, 1,
	     CPL_CAMPAIGN_ALONE);
	p.jobs.rule[0].pattern = cpl_jobs_pattern_at(0);
	cpl_campaign_free(&p.result[0], 1);
	assert_int_equal(cpl_campaign_run(&p.c, flat, 1, p.result, &err), -1);
	assert_non_null(strstr(err.text, "Share is missing"));
	unplay(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_swf),
	        cmocka_unit_test(test_sacct),
	        cmocka_unit_test(test_moments),
	        cmocka_unit_test(test_durations),
	        cmocka_unit_test(test_columns),
	        cmocka_unit_test(test_jobs_of_one_moment),
	        cmocka_unit_test(test_log_errors),
	        cmocka_unit_test(test_rules),
	        cmocka_unit_test(test_rule_errors),
	        cmocka_unit_test(test_values_of_rules),
	        cmocka_unit_test(test_conditions),
	        cmocka_unit_test(test_patterns),
	        cmocka_unit_test(test_easy),
	        cmocka_unit_test(test_choices),
	        cmocka_unit_test(test_many_runs),
	        cmocka_unit_test(test_adaptive_is_one_of_both),
	        cmocka_unit_test(test_near_leaves_first),
	        cmocka_unit_test(test_study_cost),
	        cmocka_unit_test(test_conservation),
	        cmocka_unit_test(test_threads),
	        cmocka_unit_test(test_threads_of_one),
	        cmocka_unit_test(test_kept),
	        cmocka_unit_test(test_theory),
	        cmocka_unit_test(test_stretch),
	        cmocka_unit_test(test_ends_at_one_moment),
	        cmocka_unit_test(test_ranks_of_stock_nodes),
	        cmocka_unit_test(test_left_out),
	        cmocka_unit_test(test_share_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
