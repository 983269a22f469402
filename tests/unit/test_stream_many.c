/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Dragonflies with any number of links per pair of groups, without pairs that
 * are kept: the bits of the collected pairs, and the bytes of an enumeration by
 * other code.
 */
#include "unit.h"

#include "network/dragonfly/dragonfly.h"
#include "brute.h"
#include "number.h"
#include "routing_cases.h"
#include "traffic/stream_internal.h"

#define CASES 40
#define EACH 3 /* ranks a node */

static const struct cpl_routing *const both[] = {&cpl_routing_static_direct,
                                                 &cpl_routing_static_indirect};

/* A job on all nodes, in a random order. */
struct scene {
	struct cpl_network *net;
	struct cpl_signature *sig;
	struct cpl_rows *rows;
	struct cpl_comm *comm; /* or NULL */
	struct cpl_stream job;
	int *node;
};

static struct scene scene(struct cpl_network *net, const char *pattern,
                          int each, uint64_t seed)
{
	struct scene s = {.net = net};
	struct cpl_error err = {""};
	char text[512];
	int ranks = net->n_nodes * each;
	int n = snprintf(text, sizeof(text),
	                 "{\"format\":\"commplace-signature\",\"version\":1,"
	                 "\"ranks\":%d,\"phases\":[{\"weight\":0.7,"
	                 "\"pattern\":{%s,\"ranks\":%d,\"seed\":%d}}]}",
	                 ranks, pattern, ranks, (int)seed);

	s.sig = cpl_signature_parse(text, (size_t)n, "job", &err);
	if (!s.sig)
		fail_msg("%s", err.text);
	s.rows = cpl_rows_new(s.sig, NULL, &err);
	s.node = malloc((size_t)net->n_nodes * sizeof(*s.node));
	assert_non_null(s.rows);
	assert_non_null(s.node);
	for (int i = 0; i < net->n_nodes; i++)
		s.node[i] = i;
	cpl_random_shuffle(s.node, net->n_nodes, seed, 0);
	s.job = (struct cpl_stream){s.rows, s.node, each, 1};
	return s;
}

static void done(struct scene *s)
{
	cpl_comm_free(s->comm);
	cpl_rows_free(s->rows);
	cpl_signature_free(s->sig);
	free(s->node);
	cpl_network_free(s->net);
}

static void stream(const struct scene *s, int threads, int n,
                   const struct cpl_routing *const *routing,
                   struct cpl_load *load, struct cpl_job_sums *sums)
{
	const struct cpl_job job = {.rows = s->job.rows,
	                            .node = s->job.node,
	                            .ranks_per_node = s->job.ranks_per_node};
	struct cpl_error err = {""};

	for (int i = 0; i < n; i++)
		assert_int_equal(cpl_load_init(&load[i], s->net, &err), 0);
	add_each(s->net, &job, threads, n, routing, load, sums);
}

static void same_bits(const struct cpl_network *net, const struct cpl_load *a,
                      const double *link, const struct cpl_job_sums *sums,
                      const struct cpl_routed *routed)
{
	assert_memory_equal(a->link, link,
	                    (size_t)net->n_links * sizeof(*link));
	assert_true(sums->hop_bytes == routed->hop_bytes);
	assert_true(sums->max_dilation == routed->max_hops);
}

/* All pairs at once, in order. */
static void collect(const struct scene *s, int routing, double *link,
                    struct cpl_routed *routed)
{
	struct cpl_error err = {""};
	const struct cpl_routing *r = both[routing];
	struct cpl_flows pairs;
	void *scratch;

	memset(link, 0, (size_t)s->net->n_links * sizeof(*link));
	*routed = (struct cpl_routed){0, 0};
	assert_int_equal(cpl_stream_add(s->net, &s->job, 0, NULL, NULL, NULL,
	                                &pairs, &err),
	                 0);
	if (r->solve) {
		scratch = malloc(r->scratch_size(s->net));
		r->solve(s->net, &pairs, scratch, link, routed);
		free(scratch);
	}
	for (int i = 0; r->add && i < pairs.n_from; i++)
		for (int64_t e = pairs.row[i]; e < pairs.row[i + 1]; e++) {
			double hops =
			        r->hops(s->net, pairs.from[i], pairs.to[e]);

			r->add(s->net, pairs.from[i], pairs.to[e],
			       pairs.bytes[e], link);
			routed->hop_bytes += pairs.bytes[e] * hops;
			if (hops > routed->max_hops)
				routed->max_hops = hops;
		}
	cpl_flows_free(&pairs);
}

/* Both routings together, each alone, on one to three threads. */
static void check_bits(const struct scene *s)
{
	double *link = malloc(((size_t)s->net->n_links + 1) * sizeof(*link));
	struct cpl_routed routed;
	struct cpl_load load[3][2], alone;
	struct cpl_job_sums sums[3][2], own;

	for (int t = 0; t < 3; t++)
		stream(s, t + 1, 2, both, load[t], sums[t]);
	for (int i = 0; i < 2; i++) {
		collect(s, i, link, &routed);
		stream(s, 2, 1, &both[i], &alone, &own);
		same_bits(s->net, &alone, link, &own, &routed);
		cpl_load_free(&alone);
		for (int t = 0; t < 3; t++) {
			same_bits(s->net, &load[t][i], link, &sums[t][i],
			          &routed);
			cpl_load_free(&load[t][i]);
		}
	}
	free(link);
}

static void test_bits(void **state)
{
	int several = 0;

	for (uint64_t seed = 0; seed < 3 * CASES; seed++) {
		struct cpl_network *net = random_fly(seed);
		struct scene s = scene(net,
		                       "\"type\":\"spread\",\"degree\":[1,3],"
		                       "\"bytes\":0.3",
		                       EACH, seed);

		if (cpl_dragonfly_of(net)->global_per_pair > 1) {
			check_bits(&s);
			several++;
		}
		done(&s);
	}
	assert_true(several > CASES);
}

/* A million pairs: more than are handed over at once. */
static void test_bits_of_many_pairs(void **state)
{
	struct scene s = scene(fly(8, 8, 16, 1, 3),
	                       "\"type\":\"spread\",\"degree\":[900,1000],"
	                       "\"bytes\":0.1",
	                       1, 1);

	check_bits(&s);
	done(&s);
}

/* One message by enumeration, over all third routers where it is indirect;
 * returns the mean of its links. */
static double enumerate(const struct cpl_network *net, bool indirect, int from,
                        int to, double bytes, double *link)
{
	int n = net->n_routers;
	double hops = 0;

	if (!indirect || n == 2)
		return brute_add(net, from, to, bytes, link);
	for (int i = 0; i < n; i++) {
		double part = bytes / (n - 2);

		if (i == from || i == to)
			continue;
		hops += brute_add(net, from, i, part, link);
		hops += brute_add(net, i, to, part, link);
	}
	return hops / (n - 2);
}

static void check_enumeration(struct scene *s, uint64_t seed)
{
	const struct cpl_comm *comm = s->comm;
	size_t links = (size_t)s->net->n_links + 1;
	struct cpl_load load[2];
	struct cpl_job_sums sums[2];

	stream(s, 2, 2, both, load, sums);
	for (int i = 0; i < 2; i++) {
		double *want = calloc(links, sizeof(*want));
		double hop_bytes = 0, farthest = 0;

		for (int r = 0; r < comm->ranks; r++)
			for (int64_t e = comm->row[r]; e < comm->row[r + 1];
			     e++) {
				int ports = s->net->nodes_per_router;
				int from = s->node[r / EACH] / ports;
				int to = s->node[comm->to[e] / EACH] / ports;
				double hops;

				if (from == to)
					continue;
				hops = enumerate(s->net, i, from, to,
				                 comm->bytes[e], want);
				hop_bytes += hops * comm->bytes[e];
				if (hops > farthest)
					farthest = hops;
			}
		same_loads(s->net, load[i].link, want, seed);
		assert_number(sums[i].hop_bytes, hop_bytes, 1e-9 * hop_bytes);
		assert_number(sums[i].max_dilation, farthest, 1e-9);
		cpl_load_free(&load[i]);
		free(want);
	}
}

static void test_enumeration(void **state)
{
	for (uint64_t seed = 0; seed < CASES; seed++) {
		struct scene s =
		        scene(random_fly(seed),
		              "\"type\":\"umesh\",\"range\":9,\"degree\":[1,2],"
		              "\"bytes\":1.1",
		              EACH, seed);

		s.comm = cpl_signature_total(s.sig, NULL);
		assert_non_null(s.comm);
		check_enumeration(&s, seed);
		done(&s);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_bits),
	        cmocka_unit_test(test_bits_of_many_pairs),
	        cmocka_unit_test(test_enumeration),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
