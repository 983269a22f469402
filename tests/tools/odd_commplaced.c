/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A commplaced that is not as it should be. ODD says how: it answers calls with
 *   nothing        none of them, but reads them; deaf: reads nothing either
 *   gone           an end of the program
 *   noise          bytes that are no message; long: a length above the limit
 *   short          a part of an answer
 *   empty, full    answers without a body, or of 64 bytes of ones
 *   other          answers of other numbers, and then of the right one
 *   late           after 300 ms; busy: after 150 ms at work
 *   question       what it may not ask then
 *   hosts          hosts that are none, each twice, more than there are, then
 *                  good ones; answered by what slurmctld made of them
 *   ids            a step's ranks that are none, or twice
 *   leave          a question, and ends when it is answered
 *   liar           that nodes were taken which it never named
 *   told           what it was told before
 *   ahead          what came with a decision: by its last question; with a start;
 *                  none: that with a decision, by an answer that it is none
 *   again          a question that was answered ahead
 *   speaks         at once, and says a line of the log 100 ms later
 * ODD_SLOW=N: late and busy for N times as long.
 */
#include "commplace-config.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "door/forms.h"
#include "door/link.h"

static struct cpl_link link_up = {.fd = 3};
static uint32_t number;

static void send_it(enum cpl_door_kind kind, struct cpl_packer *o)
{
	struct cpl_link_head head = {.kind = (uint8_t)kind, .number = number};

	cpl_link_send(&link_up, &head, o, CPL_LINK_FOREVER);
	free(o->data);
}

static void answer(enum cpl_engine_answer answer, const char *text)
{
	struct cpl_packer o = cpl_link_packer();

	cpl_put_number(&o, answer);
	cpl_form_put_text(&o, text);
	send_it(CPL_DOOR_ANSWER, &o);
}

static int ask_place(const int *host, int n, const char *last)
{
	struct cpl_packer o = cpl_link_packer();
	struct cpl_unpacker in;

	cpl_form_put_ints(&o, host, n);
	cpl_form_put_text(&o, last);
	send_it(CPL_DOOR_PLACE, &o);
	if (cpl_link_receive(&link_up, CPL_LINK_FOREVER) <= 0)
		exit(1);
	in = cpl_link_body(&link_up);
	return cpl_get_int(&in, 1);
}

static void odd_hosts(void)
{
	static const int none[] = {0, 64}, negative[] = {-1}, twice[] = {1, 1},
	                 good[] = {2, 5};
	int many[65], taken;

	for (int i = 0; i < 65; i++)
		many[i] = i;
	taken = ask_place(none, 2, NULL) + ask_place(negative, 1, "") +
	        ask_place(twice, 2, NULL) + ask_place(many, 65, "") +
	        ask_place(good, 0, "");
	if (taken || !ask_place(good, 2, NULL))
		answer(CPL_ENGINE_NONE, "bad");
	/* Once is enough. */
	ask_place(good, 2, NULL);
}

/* A step of two hosts with two tasks each. */
static void odd_ids(uint32_t last)
{
	uint32_t row[2][2] = {{2, 3}, {0, last}}, *ids[] = {row[0], row[1]};
	const uint16_t tasks[] = {2, 2};
	struct cpl_engine_layout layout = {.changed = true};
	struct cpl_packer o = cpl_link_packer();

	cpl_form_put_layout(
	        &o,
	        &(struct cpl_engine_step){
	                .n_hosts = 2, .ranks = 4, .tasks = tasks, .ids = ids},
	        &layout);
	send_it(CPL_DOOR_ANSWER, &o);
}

static void others(void)
{
	uint32_t right = number;

	number = right - 1;
	answer(CPL_ENGINE_NONE, "of another");
	number = right + 1;
	answer(CPL_ENGINE_NONE, "of another");
	number = right;
	ask_place((const int[]){3}, 1, NULL);
	answer(CPL_ENGINE_PLACED, "right");
}

/* Messages by kind, and jobs of the last CPL_DOOR_RESTORE. */
static int told[CPL_DOOR_REQUESTS], live;

static void tell(void)
{
	struct cpl_packer o = cpl_link_packer();
	struct cpl_unpacker in = cpl_link_body(&link_up);
	char text[80];

	if (link_up.head.kind == CPL_DOOR_RESTORE) {
		cpl_get_number(&in);
		live = cpl_get_int(&in, INT32_MAX);
	}
	if (link_up.head.kind != CPL_DOOR_DECIDE) {
		/* Nothing to tell of a start, 0 of what else is asked. */
		for (int i = 0; i < 3; i++)
			cpl_form_put_text(&o, NULL);
		send_it(CPL_DOOR_ANSWER, &o);
		return;
	}
	snprintf(text, sizeof(text), "%d cluster, %d hosts, %d load, %d of %d",
	         told[CPL_DOOR_CLUSTER], told[CPL_DOOR_HOSTS],
	         told[CPL_DOOR_LOAD], told[CPL_DOOR_RESTORE], live);
	answer(CPL_ENGINE_NONE, text);
}

/* Of a decision, whose hosts have four CPUs; of a start how many ranks. */
static void told_ahead(bool none)
{
	struct cpl_unpacker in = cpl_link_body(&link_up);
	struct cpl_packer o = cpl_link_packer();
	struct cpl_engine_allocation start;
	struct cpl_engine_request req;
	struct cpl_engine_span span = {-1, -1};
	uint32_t cpus[64] = {0};
	uint64_t rank[64];
	char text[80] = "";
	int n, *list = NULL;

	if (link_up.head.kind == CPL_DOOR_DECIDE) {
		cpl_form_get_request(&in, &req, &list);
		if (cpl_get_int(&in, 1) &&
		    cpl_form_get_measured(&in, 64, cpus, rank, &span))
			exit(1);
		snprintf(text, sizeof(text), "%d to %d of %d", span.first,
		         span.end, (int)cpus[63]);
		if (none)
			answer(CPL_ENGINE_NONE, text);
		else
			ask_place((const int[]){3}, 1, text);
	} else {
		cpl_form_get_allocation(&in, &start, &list);
		free(cpl_form_get_ints(&in, &n));
		snprintf(text, sizeof(text), "%d ranks, %d bytes", n,
		         (int)start.order_max);
		cpl_form_put_text(&o, text);
		cpl_put_number(&o, 1);
		cpl_form_put_text(&o, "order");
		send_it(CPL_DOOR_ANSWER, &o);
	}
	free(list);
}

static void be(const char *odd)
{
	struct cpl_link_head head = {.kind = CPL_DOOR_ANSWER, .number = number};
	struct cpl_packer o = cpl_link_packer();
	const char *slow = getenv("ODD_SLOW");
	const int times = slow ? atoi(slow) : 1, ms = 300 * times;
	const struct timespec while_off = {ms / 1000, ms % 1000 * 1000000};
	char ones[64];

	memset(ones, 0xff, sizeof(ones));
	if (!strcmp(odd, "gone")) {
		_exit(0);
	} else if (!strcmp(odd, "noise")) {
		if (write(link_up.fd, ones, 5) + write(link_up.fd, ones, 64) <
		    0)
			_exit(1);
	} else if (!strcmp(odd, "long")) {
		head.length = CPL_LINK_MAX + 1;
		if (write(link_up.fd, &head, sizeof(head)) < 0)
			_exit(1);
	} else if (!strcmp(odd, "short")) {
		head.length = 100;
		if (write(link_up.fd, &head, sizeof(head)) < 0 ||
		    write(link_up.fd, ones, 3) < 0)
			_exit(1);
		pause();
	} else if (!strcmp(odd, "empty")) {
		send_it(CPL_DOOR_ANSWER, &o);
	} else if (!strcmp(odd, "full")) {
		cpl_put(&o, ones, sizeof(ones));
		send_it(CPL_DOOR_ANSWER, &o);
	} else if (!strcmp(odd, "other")) {
		others();
	} else if (!strcmp(odd, "late")) {
		nanosleep(&while_off, NULL);
		answer(CPL_ENGINE_NONE, "late");
	} else if (!strcmp(odd, "busy")) {
		for (int64_t end = cpl_now() + times * INT64_C(150000000); cpl_now() < end;)
			;
		answer(CPL_ENGINE_NONE, "busy");
	} else if (!strcmp(odd, "speaks")) {
		answer(CPL_ENGINE_NONE, "");
		usleep(100000);
		cpl_put_number(&o, CPL_ENGINE_ERROR);
		cpl_form_put_text(&o, "between calls");
		send_it(CPL_DOOR_LOG, &o);
	} else if (!strcmp(odd, "question")) {
		send_it(CPL_DOOR_LAYOUT, &o);
	} else if (!strcmp(odd, "hosts")) {
		odd_hosts();
	} else if (!strcmp(odd, "ids")) {
		odd_ids(4);
	} else if (!strcmp(odd, "twice")) {
		odd_ids(0);
	} else if (!strcmp(odd, "ranks")) {
		odd_ids(1);
	} else if (!strcmp(odd, "told")) {
		tell();
	} else if (!strcmp(odd, "liar")) {
		answer(CPL_ENGINE_PLACED, "");
	} else if (!strcmp(odd, "leave")) {
		ask_place((const int[]){3}, 1, NULL);
		_exit(0);
	} else if (!strcmp(odd, "ahead") || !strcmp(odd, "none")) {
		told_ahead(odd[0] == 'n');
	} else if (!strcmp(odd, "again")) {
		send_it(CPL_DOOR_MEASURE, &o);
	}
}

int main(void)
{
	const char *odd = getenv("ODD");

	/* A test that fails leaves its children behind. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (odd && !strcmp(odd, "deaf"))
		pause();
	while (odd && cpl_link_receive(&link_up, CPL_LINK_FOREVER) > 0) {
		number = link_up.head.number;
		if (link_up.head.kind < CPL_DOOR_REQUESTS)
			told[link_up.head.kind]++;
		if (link_up.head.kind >= CPL_DOOR_LOAD)
			be(odd);
	}
	return 0;
}
