/* SPDX-License-Identifier: GPL-2.0-or-later */
/* harm.h against its definition, on dense arrays. */
#include "unit.h"

#include <math.h>

#include "base/random.h"
#include "failing_alloc.h"
#include "traffic/harm.h"

#define JOBS 5
#define LINKS 512

static const char network[] =
        "{\"format\":\"commplace-network\",\"version\":1,\"name\":\"t\","
        "\"type\":\"torus\",\"dims\":[4,3],\"wrap\":[true,true],"
        "\"nodes_per_router\":2,\"bandwidth\":{\"dim\":[1e9,2e9],"
        "\"injection\":5e8},\"nodes\":\"n[0-23]\"}";

struct dense {
	double rate[JOBS][LINKS], own[LINKS];
};

/* About each third link is in use; some jobs send nothing at all. */
static void draw(struct dense *d, int64_t links, uint64_t seed)
{
	memset(d, 0, sizeof(*d));
	for (uint64_t l = 0; l < (uint64_t)links; l++) {
		for (uint64_t j = 0; j < JOBS; j++)
			if (j != 3 && cpl_random_below(seed, j, l, 3) == 0)
				d->rate[j][l] =
				        1e6 * (double)(1 + cpl_random_below(
				                               seed, 9 + j, l,
				                               900));
		if (cpl_random_below(seed, 20, l, 4) == 0)
			d->own[l] = 1e6 * (double)(1 + cpl_random_below(
			                                       seed, 21, l, 900));
	}
}

/* How many times as long beside others who use u of a link, their squares' sum s: of
 * u^2 / s alike. */
static double slowed(double u, double s)
{
	double n = s > 0 ? u * u / s : 1, three = n > 2 ? 1 - 2 / n : 0;
	double f = 1 + u + u * u * (1 - 1 / n) * (1 + u * three);

	return fmax(1 + u, fmin(f, 1 + n));
}

/* Seconds of a job for a second's bytes. */
static double takes(const struct cpl_network *net, const struct dense *d, int job,
                    int64_t links, bool beside)
{
	double most = 0;

	for (int64_t l = 0; l < links; l++) {
		double bandwidth = cpl_times_bandwidth(net, l), u = 0, squares = 0;
		double s;

		for (int j = 0; j <= JOBS; j++) {
			double other = j < JOBS ? d->rate[j][l] : d->own[l];

			if (j == job || (j == JOBS && !beside))
				continue;
			u += other / bandwidth;
			squares += other / bandwidth * (other / bandwidth);
		}
		s = d->rate[job][l] / bandwidth * slowed(u, squares);
		most = s > most ? s : most;
	}
	return most;
}

static struct cpl_harm *build(const struct cpl_network *net,
                              const struct dense *d, int64_t links)
{
	struct cpl_harm *harm = cpl_harm_new(net, NULL);

	for (int j = 0; j < JOBS; j++) {
		assert_int_equal(cpl_harm_job(harm), j);
		for (int64_t l = 0; l < links; l++)
			if (d->rate[j][l] > 0)
				assert_int_equal(cpl_harm_add(harm, l,
				                              d->rate[j][l],
				                              NULL),
				                 0);
	}
	assert_int_equal(cpl_harm_ready(harm, NULL), 0);
	return harm;
}

static void test_against_the_definition(void **state)
{
	struct cpl_network *net =
	        cpl_network_parse(network, strlen(network), "test", NULL);
	int64_t links = cpl_times_links(net);
	static struct dense d;
	double most = 0;

	assert_true(links <= LINKS);
	for (uint64_t seed = 0; seed < 50; seed++) {
		struct cpl_times_rate own[LINKS];
		struct cpl_harm *harm;
		double want = 0, first;
		int64_t n = 0, shared = 0;

		draw(&d, links, seed);
		harm = build(net, &d, links);
		for (int64_t l = 0; l < links; l++) {
			bool used = false;

			for (int j = 0; j < JOBS; j++)
				used |= d.rate[j][l] > 0;
			if (d.own[l] > 0)
				own[n++] = (struct cpl_times_rate){l, d.own[l]};
			shared += l < net->n_links && d.own[l] > 0 && used;
		}
		for (int j = 0; j < JOBS; j++) {
			double now = takes(net, &d, j, links, false);

			if (now > 0)
				want += takes(net, &d, j, links, true) / now -
				        1;
		}
		first = cpl_harm_by(harm, own, n);
		assert_float_equal(first, want, 1e-9 * (1 + want));
		/* Nothing is left of one question in the next. */
		assert_true(cpl_harm_by(harm, own, n) == first);
		assert_true(cpl_harm_by(harm, own, 0) == 0);
		assert_int_equal(cpl_harm_shared(harm, own, n), shared);
		most = want > most ? want : most;
		cpl_harm_free(harm);
	}
	assert_true(most > 0.1);
	cpl_network_free(net);
}

static void test_node_links(void **state)
{
	struct cpl_network *net =
	        cpl_network_parse(network, strlen(network), "test", NULL);
	struct cpl_harm *harm = cpl_harm_new(net, NULL);
	int64_t node_link = net->n_links + net->n_nodes + 5;
	struct cpl_times_rate own[2];

	cpl_harm_job(harm);
	assert_int_equal(cpl_harm_add(harm, 3, 5e8, NULL), 0);
	assert_int_equal(cpl_harm_add(harm, node_link, 1.25e8, NULL), 0);
	assert_int_equal(cpl_harm_ready(harm, NULL), 0);
	/* 1.25e8 of 5e8 bytes/s on the node link, 5e8 of the link's: 3 is of
	 * the first dimension. The slower is the link, at 0.5. */
	own[0] = (struct cpl_times_rate){
	        3, 0.2 * cpl_times_bandwidth(net, 3)};
	assert_float_equal(cpl_harm_by(harm, own, 1), 0.2, 1e-12);
	own[0].link = node_link;
	own[0].rate = 5e8;
	/* The node link takes 0.25 * 2 then: as long as the other. */
	if (cpl_times_bandwidth(net, 3) == 1e9)
		assert_float_equal(cpl_harm_by(harm, own, 1), 0, 1e-12);
	own[0].rate = 10e8;
	if (cpl_times_bandwidth(net, 3) == 1e9)
		assert_float_equal(cpl_harm_by(harm, own, 1), 0.5, 1e-12);
	assert_int_equal(cpl_harm_shared(harm, own, 1), 0);
	cpl_harm_free(harm);
	cpl_network_free(net);
}

/* Every link counts, from the first to the last of each kind. */
static void test_each_link(void **state)
{
	struct cpl_network *net =
	        cpl_network_parse(network, strlen(network), "test", NULL);
	int64_t links = cpl_times_links(net);

	for (int64_t l = 0; l < links; l++) {
		double bandwidth = cpl_times_bandwidth(net, l);
		struct cpl_times_rate own = {l, bandwidth};
		struct cpl_harm *harm = cpl_harm_new(net, NULL);

		cpl_harm_job(harm);
		assert_int_equal(cpl_harm_add(harm, l, bandwidth / 2, NULL), 0);
		assert_int_equal(cpl_harm_ready(harm, NULL), 0);
		for (int64_t k = 0; k < links; k++) {
			own.link = k;
			assert_float_equal(cpl_harm_by(harm, &own, 1),
			                   k == l ? 1 : 0, 1e-12);
		}
		cpl_harm_free(harm);
	}
	cpl_network_free(net);
}

static int under_pressure(const struct cpl_network *net, struct cpl_error *err)
{
	struct cpl_harm *harm = cpl_harm_new(net, err);
	int rc = harm ? 0 : -1;

	if (harm)
		for (int j = 0; j < JOBS; j++)
			cpl_harm_job(harm);
	for (int64_t l = 0; !rc && l < cpl_times_links(net); l++)
		rc = cpl_harm_add(harm, l, 1, err);
	rc = rc ? rc : cpl_harm_ready(harm, err);
	cpl_harm_free(harm);
	return rc;
}

/* Every allocation fails once: it is said. What is to be added grows in the
 * middle of the links, and in that of the node links. */
static void test_no_memory(void **state)
{
	static const char wide[] =
	        "{\"format\":\"commplace-network\",\"version\":1,\"name\":"
	        "\"t\",\"type\":\"torus\",\"dims\":[4,4,4],"
	        "\"nodes_per_router\":4,\"nodes\":\"n[0-255]\"}";
	struct cpl_network *net =
	        cpl_network_parse(wide, strlen(wide), "test", NULL);
	int n = 0, rc = -1;

	for (; rc; n++) {
		struct cpl_error err = {""};

		left = n;
		rc = under_pressure(net, &err);
		left = -1;
		if (rc)
			assert_string_equal(err.text, "out of memory");
	}
	/* The object, three arrays of it, two that grow, three more, a copy. */
	assert_in_range(n, 9, 12);
	cpl_network_free(net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_against_the_definition),
	        cmocka_unit_test(test_node_links),
	        cmocka_unit_test(test_each_link),
	        cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
