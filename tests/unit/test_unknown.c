/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Jobs that nobody recorded: what they are taken for, and that what was measured is
 * shared among them as it was planted. */
#include "unit.h"

#include "measured/unknown.h"
#include "network_text.h"
#include "number.h"

#define HEAD                                                                   \
	"{\"format\": \"commplace-network\", \"version\": 1, \"name\": \"t\", "
#define JOBS 3
#define MOST 64

/* A dragonfly, a torus and a fat tree. */
static const char *const network[] = {
        HEAD "\"type\": \"dragonfly\", \"groups\": 4, \"rows\": 2, "
             "\"columns\": 4, \"nodes_per_router\": 2, "
             "\"global_links_per_group_pair\": 2, \"bandwidth\": {\"row\": "
             "3e9, \"column\": 7e9, \"global\": 2e9, \"injection\": 9e9}, "
             "\"nodes\": \"n[0-63]\"}",
        HEAD "\"type\": \"torus\", \"dims\": [4, 4, 4], \"bandwidth\": "
             "{\"dim\": [1e9, 1e9, 1e9], \"injection\": 4e9}, \"nodes\": \"n[0-63]\"}",
        HEAD "\"type\": \"fattree\", \"nodes_per_router\": 4, \"levels\": "
             "[{\"down\": 4, \"up\": 2, \"bandwidth\": 1e9}, {\"down\": "
             "4, \"up\": 2, \"bandwidth\": 1e9}], \"bandwidth\": "
             "{\"injection\": 4e9}, \"nodes\": \"n[0-63]\"}",
};
#define NETWORKS ((int)(sizeof(network) / sizeof(*network)))

struct machine {
	struct cpl_network *net;
	const struct cpl_routing *routing;
	struct cpl_workload *workload;
	struct cpl_load sum; /* of planted jobs, bytes/s */
	struct cpl_job_load *planted[JOBS], *as[JOBS];
	int node[JOBS][MOST], n[JOBS];
	struct cpl_unknown job[JOBS];
	struct cpl_measured measured;
	struct cpl_job_load *rest, *left;
};

static void add(struct cpl_load *sum, const struct cpl_job_load *load,
                double part)
{
	for (int i = 0; i < load->n_links; i++)
		*cpl_times_at(sum, load->on[i].link) +=
		        part * load->on[i].bytes / load->period;
}

static void set_up(struct machine *m, int k)
{
	struct cpl_error err = {""};

	*m = (struct machine){.net = parse_network(network[k])};
	m->routing = cpl_routing_minimal(m->net);
	m->workload = cpl_workload_new(m->net, 1, &err);
	assert_non_null(m->workload);
	assert_int_equal(cpl_load_init(&m->sum, m->net, &err), 0);
	m->measured.rate = calloc((size_t)cpl_times_links(m->net),
	                          sizeof(*m->measured.rate));
	assert_non_null(m->measured.rate);
}

/* Node i of the machine is the job's where i modulo `of` is below `to`, and not
 * below `from`. */
static void plant(struct machine *m, int j, int of, int from, int to,
                  double volume, double part)
{
	struct cpl_error err = {""};

	for (int i = 0; i < m->net->n_nodes; i++)
		if (i % of >= from && i % of < to)
			m->node[j][m->n[j]++] = i;
	m->planted[j] = cpl_unknown_load(m->workload, m->net, m->routing,
	                                 m->node[j], m->n[j], volume, &err);
	m->as[j] = cpl_unknown_load(m->workload, m->net, m->routing,
	                            m->node[j], m->n[j], 1000, &err);
	assert_non_null(m->planted[j]);
	assert_non_null(m->as[j]);
	m->job[j] = (struct cpl_unknown){
	        .as = m->as[j], .volume = 1000, .part = part};
	add(&m->sum, m->planted[j], part);
}

/* Counters of all links, or of those of nodes or of routers alone. */
static void measure(struct machine *m, bool nodes, bool routers)
{
	struct cpl_error err = {""};
	int64_t links = cpl_times_links(m->net);

	for (int64_t l = 0; l < links; l++)
		if (l < m->net->n_links ? routers : nodes)
			m->measured.rate[m->measured.n++] =
			        (struct cpl_times_rate){
			                .link = (int)l,
			                .rate = *cpl_times_at(&m->sum, l)};
	m->rest = cpl_measured_rest(&m->measured, m->net, NULL, &err);
	assert_non_null(m->rest);
	assert_int_equal(cpl_unknown_share(m->job, JOBS, &m->measured, m->net,
	                                   m->rest, &m->left, &err),
	                 0);
}

static void tear_down(struct machine *m)
{
	for (int j = 0; j < JOBS; j++) {
		free(m->planted[j]);
		free(m->as[j]);
		free(m->job[j].load);
	}
	free(m->rest);
	free(m->left);
	cpl_measured_free(&m->measured);
	cpl_load_free(&m->sum);
	cpl_workload_free(m->workload);
	cpl_network_free(m->net);
}

/* Each node sends and receives the volume, to all others as much. */
static void test_pattern(void **state)
{
	(void)state;
	for (int k = 0; k < NETWORKS; k++) {
		struct cpl_load sum;
		struct machine m;

		set_up(&m, k);
		for (int j = 0; j < JOBS; j++)
			plant(&m, j, 4, j, j + 1, 5e7, 1);
		assert_int_equal(cpl_load_init(&sum, m.net, NULL), 0);
		add(&sum, m.planted[1], 1);
		for (int i = 0; i < m.net->n_nodes; i++) {
			double want = i % 4 == 1 ? 5e7 : 0;

			assert_number(sum.injection[i], want, 1);
			assert_number(sum.ejection[i], want, 1);
		}
		cpl_load_free(&sum);
		tear_down(&m);
	}
}

/* Of many nodes: to as many as there are to be, and the same each time. */
static void test_large(void **state)
{
	static const char text[] = HEAD
	        "\"type\": \"torus\", \"dims\": [16, 16], \"bandwidth\": "
	        "{\"dim\": [1e9, 1e9], \"injection\": 4e9}, \"nodes\": \"n[0-255]\"}";
	struct cpl_network *net = parse_network(text);
	struct cpl_error err = {""};
	struct cpl_workload *w = cpl_workload_new(net, 1, &err);
	struct cpl_job_load *load[2];
	struct cpl_load sum;
	int node[256];
	double most = 0, mean = 0;

	(void)state;
	for (int i = 0; i < 256; i++)
		node[i] = i;
	for (int i = 0; i < 2; i++)
		load[i] = cpl_unknown_load(w, net, cpl_routing_minimal(net),
		                           node, 256, 1e6, &err);
	assert_non_null(load[0]);
	assert_non_null(load[1]);
	assert_int_equal(load[0]->n_links, load[1]->n_links);
	for (int i = 0; i < load[0]->n_links; i++)
		assert_true(load[0]->on[i].bytes == load[1]->on[i].bytes);
	assert_int_equal(cpl_load_init(&sum, net, &err), 0);
	add(&sum, load[0], 1);
	for (int i = 0; i < 256; i++)
		assert_number(sum.injection[i], 1e6, 1);
	for (int l = 0; l < net->n_links; l++) {
		most = sum.link[l] > most ? sum.link[l] : most;
		mean += sum.link[l] / net->n_links;
	}
	/* All pairs load links of a torus evenly. */
	assert_true(most < 1.5 * mean);
	cpl_load_free(&sum);
	for (int i = 0; i < 2; i++)
		free(load[i]);
	cpl_workload_free(w);
	cpl_network_free(net);
}

/* Who sent how much is found, and all of it has an owner. */
static void shares(bool nodes, bool routers, double within)
{
	static const double volume[JOBS] = {2e7, 8e7, 3e8};

	for (int k = 0; k < NETWORKS; k++) {
		struct machine m;
		struct cpl_load sum;

		set_up(&m, k);
		for (int j = 0; j < JOBS; j++)
			plant(&m, j, 64, 21 * j, 21 * j + 21, volume[j],
			      j ? 1 : 0.75);
		measure(&m, nodes, routers);
		assert_int_equal(cpl_load_init(&sum, m.net, NULL), 0);
		for (int j = 0; j < JOBS; j++) {
			assert_number(m.job[j].volume / volume[j], 1, within);
			assert_non_null(m.job[j].load);
			add(&sum, m.job[j].load, m.job[j].part);
		}
		add(&sum, m.left, 1);
		for (int64_t i = 0; i < m.measured.n; i++) {
			double was = m.measured.rate[i].rate, is;

			is = *cpl_times_at(&sum, m.measured.rate[i].link);
			assert_number(is, was, 2e-3 * 1e9);
		}
		cpl_load_free(&sum);
		tear_down(&m);
	}
}

static void test_shares(void **state)
{
	(void)state;
	shares(true, true, 1e-3);
	shares(true, false, 1e-3);
	shares(false, true, 0.05);
}

/* What goes over links that no job is on stays; a job that ran for a moment is not
 * told; and nothing was sent where nothing was counted. */
static void test_left(void **state)
{
	struct machine m;
	struct cpl_load alone;
	int link = -1;

	(void)state;
	set_up(&m, 1);
	plant(&m, 0, 64, 0, 4, 4e7, 1);
	plant(&m, 1, 64, 8, 12, 4e7, 0.25);
	plant(&m, 2, 64, 16, 20, 0, 1);
	assert_int_equal(cpl_load_init(&alone, m.net, NULL), 0);
	for (int j = 0; j < JOBS; j++)
		add(&alone, m.as[j], 1);
	for (int l = 0; l < m.net->n_links && link < 0; l++)
		if (alone.link[l] == 0)
			link = l;
	assert_true(link >= 0);
	m.sum.link[link] += 3e8;
	measure(&m, true, true);
	assert_int_equal(m.left->n_links, 1);
	assert_int_equal(m.left->on[0].link, link);
	assert_number(m.left->on[0].bytes / m.left->period, 3e8, 1);
	assert_number(m.job[0].volume, 4e7, 1e3);
	assert_null(m.job[1].load);
	assert_number(m.job[1].volume, 1000, 0);
	assert_non_null(m.job[2].load);
	assert_number(m.job[2].volume, 0, 0);
	for (int i = 0; i < m.job[2].load->n_links; i++)
		assert_number(m.job[2].load->on[i].bytes, 0, 0);
	cpl_load_free(&alone);
	tear_down(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_pattern),
	        cmocka_unit_test(test_large),
	        cmocka_unit_test(test_shares),
	        cmocka_unit_test(test_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
