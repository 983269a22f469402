/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs that nobody asked anything for get exactly the stock answer: the same
 * random jobs on the stock plugin and on ours, each in a process of its own
 * (--replay), must print the same nodes.
 */
#include "commplace-config.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/random.h"
#include "controller.h"

#define JOBS 400
#define RUNNING_MAX 24

static const char *self;

static int below(uint64_t counter, int n)
{
	return (int)cpl_random_below(2022, 5, counter, (uint64_t)n);
}

/* Sizes, exclusive or not, parts of nodes, ranges, required nodes. */
static struct job_options random_options(uint64_t i, char *list, size_t size)
{
	uint64_t at = i * 16;
	struct job_options options = {.exclusive = below(at, 3) == 0};

	switch (below(at + 1, 5)) {
	case 0:
		options.nodes = 1 + below(at + 2, 16);
		break;
	case 1:
		options.tasks = 2 + below(at + 2, 30);
		break;
	case 2:
		options.nodes = 1 + below(at + 2, 8);
		options.tasks_per_node = 1 + below(at + 3, MACHINE_CORES);
		break;
	case 3:
		options.nodes = 2 + below(at + 2, 4);
		options.max_nodes = options.nodes + below(at + 3, 8);
		break;
	default:
		options.nodes = 2 + below(at + 2, 3);
		options.cpus_per_task = 1 + below(at + 3, 3);
		snprintf(list, size, "n%d", below(at + 4, MACHINE_NODES));
		options.nodelist = list;
	}
	options.contiguous = below(at + 5, 12) == 0;
	return options;
}

/* Jobs are held in sequence, the oldest ends when the machine is full or the
 * draw says so: it fills and drains. */
static int replay(const char *type)
{
	job_record_t *running[RUNNING_MAX];
	int n = 0;

	controller_start(type);
	for (uint64_t i = 0; i < JOBS; i++) {
		char list[16], *nodes;
		struct job_options options =
		        random_options(i, list, sizeof(list));
		job_record_t *job = controller_job(&options);

		nodes = controller_run(job);
		printf("%d %s\n", (int)i, nodes);
		if (*nodes)
			running[n++] = job;
		else
			controller_job_free(job);
		while (n == RUNNING_MAX ||
		       (n && (!*nodes || below(i * 16 + 9, 3) == 0))) {
			controller_end(running[0]);
			memmove(running, running + 1,
			        (size_t)--n * sizeof(running[0]));
			if (below(i * 16 + 10, 2))
				break;
		}
		free(nodes);
	}
	while (n)
		controller_end(running[--n]);
	controller_stop();
	return 0;
}

static char *replayed(const char *type)
{
	char command[1024], *text = malloc(1 << 20);
	size_t n;
	FILE *f;

	snprintf(command, sizeof(command), "%s --replay %s", self, type);
	f = popen(command, "r");
	assert_non_null(f);
	assert_non_null(text);
	n = fread(text, 1, (1 << 20) - 1, f);
	text[n] = '\0';
	assert_int_equal(pclose(f), 0);
	return text;
}

static void test_jobs_without_a_profile_get_the_stock_nodes(void **state)
{
	char *stock = replayed("cons_tres");
	char *ours = replayed("cons_tres_commplace");
	int lines = 0, placed = 0;

	assert_string_equal(ours, stock);
	for (char *at = stock; (at = strchr(at, '\n')); at++) {
		lines++;
		placed += at[-1] != ' ';
	}
	assert_int_equal(lines, JOBS);
	/* A comparison of refusals would say nothing. */
	assert_true(placed >= 200);
	print_message("# %d jobs, %d placed, all alike\n", lines, placed);
	free(stock);
	free(ours);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(
	                test_jobs_without_a_profile_get_the_stock_nodes),
	};

	self = argv[0];
	if (argc == 3 && !strcmp(argv[1], "--replay"))
		return replay(argv[2]);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
