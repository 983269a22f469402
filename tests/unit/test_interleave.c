/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Start offsets of periodic jobs: cases that can be told by hand, and turning one
 * job by its whole period changes nothing. */
#include "unit.h"

#include <math.h>

#include "interleave/interleave.h"
#include "interleave/turn.h"

static const char line_text[] =
        "{\"format\": \"commplace-network\", \"version\": 1, \"type\": "
        "\"torus\", \"dims\": [3], \"wrap\": [false], \"bandwidth\": {\"dim\": "
        "100, \"injection\": 1000}, \"nodes\": \"n[0-2]\"}";

/* Jobs that send `bytes` on link 0 in one burst of each period. */
#define MOST 4
struct line {
	struct cpl_network *net;
	struct cpl_load load[MOST];
	struct cpl_burst burst[MOST];
	struct cpl_periodic_job job[MOST];
	int n;
};

static void line_open(struct line *l)
{
	struct cpl_error err = {""};

	*l = (struct line){0};
	l->net = cpl_network_parse(line_text, strlen(line_text), "line", &err);
	assert_non_null(l->net);
}

static void line_close(struct line *l)
{
	for (int i = 0; i < l->n; i++)
		cpl_load_free(&l->load[i]);
	cpl_network_free(l->net);
}

static void add_job(struct line *l, double period, double begin, double seconds,
                    double bytes)
{
	struct cpl_error err = {""};
	int i = l->n++;

	assert_int_equal(cpl_load_init(&l->load[i], l->net, &err), 0);
	l->load[i].link[0] = bytes;
	l->burst[i] = (struct cpl_burst){begin, seconds, &l->load[i]};
	l->job[i] = (struct cpl_periodic_job){period, 1, &l->burst[i]};
}

static struct cpl_interleaving solve(const struct line *l)
{
	struct cpl_interleaving out;
	struct cpl_error err = {""};

	assert_int_equal(cpl_interleave(l->net, l->job, l->n, 3, 1, &out, &err),
	                 0);
	return out;
}

/* Two that send half of the time at the link's full rate fit into each other: at
 * once half of all bytes are too many, with an offset none. */
static void test_two_halves(void **state)
{
	struct line l;
	struct cpl_interleaving out;

	line_open(&l);
	add_job(&l, 2, 1, 1, 100);
	add_job(&l, 2, 1, 1, 100);
	out = solve(&l);
	assert_int_equal(out.n_links, 1);
	assert_true(fabs(out.before - 0.5) < 1e-9);
	assert_true(out.after < 1e-9);
	assert_true(out.offset[0] == 0);
	assert_true(fabs(out.offset[1] - 1) < 1e-9);
	assert_true(out.periodic[0] && out.periodic[1]);
	cpl_interleaving_free(&out);
	line_close(&l);
	(void)state;
}

/* Three that send a third each; a fourth that sends as much has no room. */
static void test_thirds(void **state)
{
	struct line l;
	struct cpl_interleaving out;

	line_open(&l);
	for (int i = 0; i < 3; i++)
		add_job(&l, 3, 0, 1, 100);
	out = solve(&l);
	assert_true(fabs(out.before - 2.0 / 3) < 1e-9);
	assert_true(out.after < 1e-9);
	cpl_interleaving_free(&out);
	add_job(&l, 3, 0, 1, 100);
	out = solve(&l);
	assert_true(fabs(out.before - 0.75) < 1e-9);
	assert_true(fabs(out.after - 0.25) < 1e-9);
	cpl_interleaving_free(&out);
	line_close(&l);
	(void)state;
}

/* One of half the period goes twice into the circle, which is the longer one. */
static void test_two_periods(void **state)
{
	struct line l;
	struct cpl_interleaving out;

	line_open(&l);
	add_job(&l, 4, 0, 1, 100);
	add_job(&l, 2, 0, 1, 100);
	out = solve(&l);
	assert_true(out.circle == 4);
	/* Of 300 bytes in a circle 100 are too many. */
	assert_true(fabs(out.before - 1.0 / 3) < 1e-9);
	assert_true(out.after < 1e-9);
	assert_true(fabs(out.offset[1] - 1) < 1e-9);
	cpl_interleaving_free(&out);
	line_close(&l);
	(void)state;
}

/* 3 and 2 go into 6; the golden ratio goes into nothing, and is met by chance. */
static void test_circle(void **state)
{
	struct line l;
	struct cpl_interleaving out;

	line_open(&l);
	add_job(&l, 3, 0, 1.5, 150);
	add_job(&l, 2, 0, 1, 100);
	out = solve(&l);
	assert_true(out.circle == 6);
	assert_true(out.periodic[0] && out.periodic[1]);
	assert_true(out.after <= out.before);
	cpl_interleaving_free(&out);
	l.job[1].period = 3 / 1.6180339887498949;
	out = solve(&l);
	assert_int_equal(out.periodic[0] + out.periodic[1], 1);
	assert_true(out.after == out.before);
	assert_true(out.offset[0] == 0 && out.offset[1] == 0);
	cpl_interleaving_free(&out);
	line_close(&l);
	(void)state;
}

/* What a link can give needs no offsets. */
static void test_room(void **state)
{
	struct line l;
	struct cpl_interleaving out;

	line_open(&l);
	add_job(&l, 2, 0, 1, 50);
	add_job(&l, 2, 0, 1, 50);
	out = solve(&l);
	assert_int_equal(out.n_links, 0);
	assert_true(out.before == 0 && out.after == 0);
	assert_true(out.offset[1] == 0);
	cpl_interleaving_free(&out);
	line_close(&l);
	(void)state;
}

static void test_refused(void **state)
{
	static const double bad[][3] = {
	        {0, 0, 1}, {-1, 0, 1}, {INFINITY, 0, 1}, {NAN, 0, 1},
	        {2, 1, 2}, {2, -1, 1}, {2, 0, 0},        {2, NAN, 1}};
	struct cpl_interleaving out;
	struct cpl_error err = {""};
	struct line l;

	line_open(&l);
	add_job(&l, 2, 0, 1, 1);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		l.job[0].period = bad[i][0];
		l.burst[0].begin = bad[i][1];
		l.burst[0].seconds = bad[i][2];
		assert_int_equal(cpl_interleave(l.net, l.job, 1, 0, 1, &out,
		                                &err),
		                 -1);
		assert_int_equal(strncmp(err.text, "job 1: ", 7), 0);
	}
	line_close(&l);
	(void)state;
}

/* Calls one after the other; the last one's answer. */
static void test_turns(void **state)
{
	static const struct {
		const char *text;
		double now[3], wait; /* now: to the first 0 behind the first */
	} row[] = {
	        {NULL, {10.5}, 0},
	        {"2:0", {10}, 0},
	        {"2:0", {10.19}, 0}, /* at most a tenth late */
	        {"2:0", {10.21}, 1.79},
	        {"2:1.5", {10}, 1.5},
	        {"2:1.5", {0.5}, 1},
	        {"2:0", {10.9, 12.5}, 0}, /* one has waited already */
	        {"2:0", {10, 12.5}, 1.5},  /* none has */
	        {"2:0", {10.9, 13.9}, 0.1}, /* so little always */
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct cpl_error err = {""};
		struct cpl_turn turn;
		double wait = -1;

		assert_int_equal(cpl_turn_parse(&turn, row[i].text, &err), 0);
		for (int k = 0; k < 3 && (!k || row[i].now[k] > 0); k++)
			wait = cpl_turn_wait(&turn, row[i].now[k]);
		if (fabs(wait - row[i].wait) > 1e-9)
			fail_msg("row %zu: %.17g", i, wait);
	}
	(void)state;
}

/* An iteration half as long again as said: of 20 calls one waits. */
static void test_turns_of_a_wrong_period(void **state)
{
	struct cpl_error err = {""};
	struct cpl_turn turn;
	double now = 1, all = 0;
	int waits = 0;

	assert_int_equal(cpl_turn_parse(&turn, "1:0.3", &err), 0);
	for (int i = 0; i < 200; i++) {
		double wait = cpl_turn_wait(&turn, now);

		waits += wait > CPL_TURN_PART;
		all += wait;
		now += wait + 1.37;
	}
	assert_int_equal(waits, 10);
	assert_true(all < 0.1 * now);
	(void)state;
}

static void test_no_turns(void **state)
{
	static const char *const text[] = {"",    "2",      "2:",    "2:2",   "0:0",
	                                   "2:-1", "nan:0",  "inf:0", "1:0.5x",
	                                   "-1:0", "2147483648:0"};

	for (size_t i = 0; i < sizeof(text) / sizeof(*text); i++) {
		struct cpl_error err = {""};
		struct cpl_turn turn;

		assert_int_equal(cpl_turn_parse(&turn, text[i], &err), -1);
		assert_true(err.text[0] != '\0');
		assert_true(cpl_turn_wait(&turn, 10.5) == 0);
	}
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_two_halves),
	        cmocka_unit_test(test_thirds),
	        cmocka_unit_test(test_two_periods),
	        cmocka_unit_test(test_circle),
	        cmocka_unit_test(test_room),
	        cmocka_unit_test(test_refused),
	        cmocka_unit_test(test_turns),
	        cmocka_unit_test(test_turns_of_a_wrong_period),
	        cmocka_unit_test(test_no_turns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
