/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Job logs and their maps. */
#include "commplace-config.h"
#include <time.h>

#include "unit.h"

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
	        {"Match Options=\"--segment=2 --florp\"\n",
	         "map:1: Options: '--florp' is none of --segment="},
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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
