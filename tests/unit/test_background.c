/* SPDX-License-Identifier: GPL-2.0-or-later */
/* However jobs come and go, the background is what it is from scratch. */
#include "commplace-config.h"

#include "unit.h"

#include "base/random.h"
#include "scene/background.h"
#include "traffic/load_blocks.h"
#include "traffic/times.h"

#define JOBS 40

static uint64_t below(uint64_t *random, uint64_t n)
{
	return cpl_random_next(random) % n;
}

static struct cpl_network *network(void)
{
	static const char text[] =
	        "{\"format\": \"commplace-network\", \"version\": 1, "
	        "\"name\": \"t\", \"type\": \"dragonfly\", \"groups\": 5, "
	        "\"rows\": 2, \"columns\": 6, \"nodes_per_router\": 3, "
	        "\"bandwidth\": {\"row\": 5.25e9, \"column\": 15.75e9, "
	        "\"global\": 4.7e9, \"injection\": 16e9}, "
	        "\"nodes\": \"n[0-179]\"}";
	struct cpl_error err = {""};
	struct cpl_network *net =
	        cpl_network_parse(text, sizeof(text) - 1, "test", &err);

	if (!net)
		fail_msg("%s", err.text);
	return net;
}

static double *at(const struct cpl_network *net, struct cpl_load *load,
                  int64_t link)
{
	if (link < net->n_links)
		return &load->link[link];
	link -= net->n_links;
	return link < net->n_nodes ? &load->injection[link]
	                           : &load->ejection[link - net->n_nodes];
}

/* Bytes that do not add up without rounding, on some of all links. */
static struct cpl_job_load *make_job(const struct cpl_network *net,
                                     uint64_t *random, int64_t id)
{
	uint64_t one_in = 1 + below(random, 30);
	struct cpl_load load;
	struct cpl_job_load *job;
	int k = 0;

	assert_int_equal(cpl_load_init(&load, net, NULL), 0);
	for (int64_t i = 0; i < cpl_times_links(net); i++)
		if (!below(random, one_in))
			*at(net, &load, i) =
			        (double)(1 + below(random, 1 << 30)) /
			        3;
	job = cpl_job_load_new(
	        net, &load, 1 + (double)below(random, 1000) / 7,
	        NULL);
	assert_non_null(job);
	for (int64_t i = 0; i < cpl_times_links(net); i++) {
		if (*at(net, &load, i) == 0)
			continue;
		assert_true(k < job->n_links && job->on[k].link == i);
		assert_true(job->on[k].bytes == *at(net, &load, i));
		k++;
	}
	assert_int_equal(k, job->n_links);
	job->id = id;
	cpl_load_free(&load);
	return job;
}

static void check_equal(const struct cpl_network *net,
                        const struct cpl_load *got,
                        const struct cpl_load *want)
{
	size_t links = (size_t)net->n_links * sizeof(double);
	size_t nodes = (size_t)net->n_nodes * sizeof(double);
	struct cpl_metrics a, b, all;

	assert_memory_equal(got->link, want->link, links);
	assert_memory_equal(got->injection, want->injection, nodes);
	assert_memory_equal(got->ejection, want->ejection, nodes);
	assert_non_null(got->blocks);
	cpl_load_top(net, got, &a);
	cpl_load_top(net, want, &b);
	assert_memory_equal(&a, &b, sizeof(a));
	cpl_traffic_metrics(net, want, NULL, &all);
	assert_true(a.max_congestion == all.max_congestion);
	assert_true(a.max_injection == all.max_injection);
	assert_float_equal(a.mean_congestion, all.mean_congestion,
	                   1e-12 * all.mean_congestion);
}

/* In the order of ids, which is not the one in which they came. */
static void check(const struct cpl_network *net, struct cpl_background *b,
                  struct cpl_job_load *const *job)
{
	struct cpl_load bytes, rates, during;
	int n = 0;

	assert_int_equal(cpl_load_init(&bytes, net, NULL), 0);
	assert_int_equal(cpl_load_init(&rates, net, NULL), 0);
	assert_int_equal(cpl_load_init(&during, net, NULL), 0);
	for (int k = 0; k < JOBS; k++) {
		n += job[k]->counted;
		for (int i = 0; i < job[k]->n_links && job[k]->counted; i++) {
			const struct cpl_job_link *on = &job[k]->on[i];

			*at(net, &bytes, on->link) += on->bytes;
			*at(net, &rates, on->link) +=
			        on->bytes / job[k]->period;
		}
	}
	assert_int_equal(cpl_background_jobs(b), n);
	check_equal(net, cpl_background_bytes(b), &bytes);
	check_equal(net, cpl_background_rates(b), &rates);
	for (int seconds = 1; seconds <= CPL_BACKGROUND_TIMES; seconds++) {
		cpl_load_scale(&during, &rates, seconds / 3.0, net);
		check_equal(net, cpl_background_during(b, seconds / 3.0, NULL),
		            &during);
	}
	cpl_load_free(&bytes);
	cpl_load_free(&rates);
	cpl_load_free(&during);
}

static void test_as_from_scratch(void **state)
{
	uint64_t random = 5;
	struct cpl_network *net = network();
	struct cpl_background *b = cpl_background_new(net, NULL);
	struct cpl_job_load *job[JOBS];

	assert_non_null(b);
	for (int i = 0; i < JOBS; i++)
		job[i] = make_job(net, &random, 3 * i + 1);
	check(net, b, job);
	for (int turn = 0; turn < 300; turn++) {
		int i = (int)below(&random, JOBS);

		if (below(&random, 2))
			cpl_background_add(b, job[i]);
		else
			cpl_background_remove(b, job[i]);
		if (turn % 10 == 0)
			check(net, b, job);
	}
	for (int i = 0; i < JOBS; i++)
		cpl_background_remove(b, job[i]);
	check(net, b, job);
	cpl_background_free(b);
	for (int i = 0; i < JOBS; i++)
		free(job[i]);
	cpl_network_free(net);
}

/* More kinds of seconds than are kept. */
static void test_seconds_come_again(void **state)
{
	uint64_t random = 6;
	struct cpl_network *net = network();
	struct cpl_background *b = cpl_background_new(net, NULL);
	struct cpl_job_load *job[2];
	struct cpl_load want;

	assert_int_equal(cpl_load_init(&want, net, NULL), 0);
	for (int i = 0; i < 2; i++)
		job[i] = make_job(net, &random, i);
	for (int turn = 0; turn < 60; turn++) {
		double seconds = 1 + turn % (CPL_BACKGROUND_TIMES + 2) +
		                 (double)(turn % 7);

		if (turn % 3 == 0)
			cpl_background_add(b, job[turn / 3 % 2]);
		else if (turn % 5 == 0)
			cpl_background_remove(b, job[turn / 5 % 2]);
		cpl_load_scale(&want, cpl_background_rates(b), seconds, net);
		check_equal(net, cpl_background_during(b, seconds, NULL),
		            &want);
	}
	cpl_background_free(b);
	for (int i = 0; i < 2; i++)
		free(job[i]);
	cpl_load_free(&want);
	cpl_network_free(net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_as_from_scratch),
	        cmocka_unit_test(test_seconds_come_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
