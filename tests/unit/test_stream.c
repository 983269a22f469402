/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages that are not stored: the same links as from the matrix, whatever
 * the number of threads. */
#include "unit.h"

#include <math.h>
#include <unistd.h>

#include "base/random.h"
#include "add_traffic.h"
#include "traffic/dilation.h"
#include "traffic/stream_internal.h"

static const char *const networks[] = {
        /* One link per pair of groups. */
        "\"dragonfly\",\"groups\":7,\"rows\":2,\"columns\":3,"
        "\"nodes_per_router\":3,\"nodes\":\"n[0-125]\"",
        "\"dragonfly\",\"groups\":5,\"rows\":3,\"columns\":4,"
        "\"nodes_per_router\":2,\"global_wiring\":\"palmtree\","
        "\"nodes\":\"n[0-119]\"",
        "\"dragonfly\",\"groups\":3,\"rows\":1,\"columns\":1,"
        "\"nodes_per_router\":40,\"nodes\":\"n[0-119]\"",
        "\"dragonfly\",\"groups\":1,\"rows\":5,\"columns\":6,"
        "\"nodes_per_router\":4,\"nodes\":\"n[0-119]\"",
        /* Several. */
        "\"dragonfly\",\"groups\":5,\"rows\":3,\"columns\":4,"
        "\"nodes_per_router\":2,\"global_links_per_group_pair\":3,"
        "\"nodes\":\"n[0-119]\"",
        "\"torus\",\"dims\":[5,4,3],\"wrap\":[true,false,true],"
        "\"nodes_per_router\":2,\"nodes\":\"n[0-119]\"",
        "\"fattree\",\"nodes_per_router\":8,\"levels\":["
        "{\"down\":4,\"up\":2,\"links\":1},{\"down\":4,\"up\":2,"
        "\"links\":1}],\"nodes\":\"n[0-127]\"",
};

#define N_NETWORKS (sizeof(networks) / sizeof(*networks))

static struct cpl_network *network(const char *text)
{
	char whole[1024];
	struct cpl_error err = {""};
	struct cpl_network *net;
	int n = snprintf(whole, sizeof(whole),
	                 "{\"format\":\"commplace-network\",\"version\":1,"
	                 "\"name\":\"n\",\"type\":%s}",
	                 text);

	net = cpl_network_parse(whole, (size_t)n, "n", &err);
	if (!net)
		fail_msg("%s: %s", text, err.text);
	return net;
}

/* 240 ranks each; bytes are whole, or not (odd shares, odd weights). */
static const char *const jobs[] = {
        "{\"pattern\":{\"type\":\"stencil\",\"dims\":[3,4,4,5],\"points\":9,"
        "\"periodic\":true,\"bytes\":2097152}}",
        "{\"pattern\":{\"type\":\"stencil\",\"dims\":[2,120],\"points\":9,"
        "\"periodic\":true,\"bytes\":[0.3,0.7,1]}}",
        "{\"pattern\":{\"type\":\"stencil\",\"dims\":[6,8,5],\"points\":27,"
        "\"bytes\":[9,0,1]}}",
        "{\"pattern\":{\"type\":\"many-to-many\",\"dims\":[5,6,8],"
        "\"axis\":1,\"bytes\":102400}}",
        "{\"pattern\":{\"type\":\"many-to-many\",\"dims\":[5,6,8],"
        "\"axis\":2,\"bytes\":0.1}}",
        "{\"pattern\":{\"type\":\"many-to-many\",\"dims\":[5,6,8],"
        "\"axis\":0,\"bytes\":7}}",
        "{\"pattern\":{\"type\":\"umesh\",\"ranks\":240,\"range\":30,"
        "\"degree\":[6,20],\"bytes\":524288,\"seed\":4}}",
        "{\"pattern\":{\"type\":\"spread\",\"ranks\":240,"
        "\"degree\":[60,80],\"bytes\":0.7,\"seed\":4}}",
        "{\"pattern\":{\"type\":\"permutation\",\"ranks\":240,"
        "\"bytes\":3}}",
        "{\"pattern\":{\"type\":\"collective\",\"operation\":\"reduce\","
        "\"algorithm\":\"rabenseifner\",\"ranks\":240,\"bytes\":1000}}",
        /* Phases with weights, a matrix among them. */
        "{\"weight\":0.3,\"pattern\":{\"type\":\"stencil\","
        "\"dims\":[12,20],\"points\":5,\"bytes\":17}},"
        "{\"weight\":11,\"traffic\":[[0,1,5,1],[0,239,0.9,2],[7,7,4,1],"
        "[100,3,1e6,1],[100,4,0,1]]},"
        "{\"weight\":7.1,\"pattern\":{\"type\":\"spread\",\"ranks\":240,"
        "\"degree\":[1,9],\"bytes\":13}}",
        /* Nothing at all. */
        "{\"traffic\":[]}",
};

#define N_JOBS (sizeof(jobs) / sizeof(*jobs))

static struct cpl_signature *signature(const char *phases)
{
	char whole[2048];
	struct cpl_error err = {""};
	struct cpl_signature *sig;
	int n = snprintf(whole, sizeof(whole),
	                 "{\"format\":\"commplace-signature\",\"version\":1,"
	                 "\"ranks\":240,\"phases\":[%s]}",
	                 phases);

	sig = cpl_signature_parse(whole, (size_t)n, "s", &err);
	if (!sig)
		fail_msg("%s: %s", phases, err.text);
	return sig;
}

#define MAX_ROUTINGS 16

static int routings_of(const struct cpl_network *net,
                       const struct cpl_routing **out)
{
	const struct cpl_routing *routing;
	int n = 0;

	for (int i = 0; (routing = cpl_routing_at(i)); i++)
		if (cpl_routing_takes(routing, net) &&
		    !(routing->flags & CPL_NETWORK_TABLES))
			out[n++] = routing;
	return n;
}

static void assert_near(const char *what, double got, double want, double scale)
{
	if (!(fabs(got - want) <= 1e-12 * (fabs(want) + scale)))
		fail_msg("%s: %.17g instead of %.17g", what, got, want);
}

static double largest(const double *value, int64_t n)
{
	double max = 0;

	for (int64_t i = 0; i < n; i++)
		max = fmax(max, value[i]);
	return max;
}

/* What two ways of adding up may differ in on one link, of the largest. */
static void compare(const struct cpl_network *net,
                    const struct cpl_routing *routing,
                    const struct cpl_load *got, const struct cpl_load *want,
                    const struct cpl_job_sums *a, const struct cpl_job_sums *b)
{
	double scale = largest(want->link, net->n_links);

	for (int64_t l = 0; l < net->n_links; l++)
		assert_near(routing->name, got->link[l], want->link[l], scale);
	for (int node = 0; node < net->n_nodes; node++) {
		assert_near("injection", got->injection[node],
		            want->injection[node], 0);
		assert_near("ejection", got->ejection[node],
		            want->ejection[node], 0);
	}
	assert_near("bytes", a->bytes, b->bytes, 0);
	assert_near("in node", a->bytes_in_node, b->bytes_in_node, 0);
	assert_near("network", a->bytes_on_network, b->bytes_on_network, 0);
	assert_near("hop-bytes", a->hop_bytes, b->hop_bytes, 0);
	assert_near("dilation", a->max_dilation, b->max_dilation, 0);
}

struct scene {
	struct cpl_network *net;
	struct cpl_signature *sig;
	struct cpl_rows *rows;
	int per_node, n_routings, n_seats;
	const struct cpl_routing *routing[MAX_ROUTINGS];
	int node[240], rank_node[240];
};

static void place(struct scene *s, uint64_t seed)
{
	int all[240];

	s->n_seats = (239 / s->per_node) + 1;
	for (int i = 0; i < s->net->n_nodes; i++)
		all[i] = i;
	cpl_random_shuffle(all, s->net->n_nodes, seed, 0);
	memcpy(s->node, all, (size_t)s->n_seats * sizeof(int));
	for (int r = 0; r < 240; r++)
		s->rank_node[r] = s->node[r / s->per_node];
}

static void stream(const struct scene *s, int threads, struct cpl_load *load,
                   struct cpl_job_sums *sums)
{
	const struct cpl_job job = {.rows = s->rows,
	                            .node = s->node,
	                            .ranks_per_node = s->per_node};
	struct cpl_error err = {""};

	for (int i = 0; i < s->n_routings; i++)
		assert_int_equal(cpl_load_init(&load[i], s->net, &err), 0);
	add_each(s->net, &job, threads, s->n_routings, s->routing, load, sums);
}

static void check_scene(const struct scene *s)
{
	struct cpl_error err = {""};
	struct cpl_comm *comm = cpl_signature_total(s->sig, &err);
	struct cpl_load load[3][MAX_ROUTINGS], want;
	struct cpl_job_sums sums[3][MAX_ROUTINGS], stored;

	for (int t = 0; t < 3; t++)
		stream(s, t + 1, load[t], sums[t]);
	assert_int_equal(cpl_load_init(&want, s->net, &err), 0);
	for (int i = 0; i < s->n_routings; i++) {
		cpl_load_clear(&want, s->net);
		add_traffic(s->net, s->routing[i], comm, s->rank_node,
		                &want, &stored);
		compare(s->net, s->routing[i], &load[0][i], &want, &sums[0][i],
		        &stored);
		for (int t = 0; t < 3; t++) {
			assert_memory_equal(load[t][i].link, load[0][i].link,
			                    (size_t)s->net->n_links * 8);
			assert_memory_equal(load[t][i].injection,
			                    load[0][i].injection,
			                    (size_t)s->net->n_nodes * 8);
			assert_memory_equal(load[t][i].ejection,
			                    load[0][i].ejection,
			                    (size_t)s->net->n_nodes * 8);
			assert_memory_equal(&sums[t][i], &sums[0][i],
			                    sizeof(sums[t][i]));
		}
		for (int t = 2; t >= 0; t--)
			cpl_load_free(&load[t][i]);
	}
	cpl_load_free(&want);
	cpl_comm_free(comm);
}

/* All that go pair by pair, and static-indirect; of the adaptive ones, which
 * get the same pairs and take long, one for the first job (whole bytes: where a
 * last bit differs they find other shares). */
static int routings_for(const struct cpl_network *net, size_t job,
                        const struct cpl_routing **out)
{
	int n = routings_of(net, out), kept = 0;

	for (int i = 0; i < n; i++)
		if (out[i]->add || out[i] == &cpl_routing_static_indirect ||
		    (job == 0 && out[i] == &cpl_routing_adaptive_direct))
			out[kept++] = out[i];
	return kept;
}

static void test_stream_equals_matrix(void **state)
{
	static const int per_node[] = {2, 3, 4, 7, 24, 100};

	for (size_t n = 0; n < N_NETWORKS; n++) {
		struct scene s = {.net = network(networks[n])};
		for (size_t j = 0; j < N_JOBS; j++) {
			s.sig = signature(jobs[j]);
			s.rows = cpl_rows_new(s.sig, NULL, NULL);
			assert_non_null(s.rows);
			s.n_routings = routings_for(s.net, j, s.routing);
			for (size_t k = j % 2; k < 6; k += 2) {
				s.per_node = per_node[k];
				place(&s, j + k);
				check_scene(&s);
			}
			cpl_rows_free(s.rows);
			cpl_signature_free(s.sig);
		}
		cpl_network_free(s.net);
	}
}

/* The pairs that a routing with solve gets are those of the matrix. */
static void test_pairs(void **state)
{
	for (size_t j = 0; j < N_JOBS; j++) {
		struct scene s = {.net = network(networks[4]), .per_node = 5};
		struct cpl_error err = {""};
		struct cpl_flows pairs;
		struct cpl_stream job = {.ranks_per_node = 5, .threads = 2};
		struct cpl_comm *comm;
		int n = s.net->n_routers;
		double *want = calloc((size_t)(n * n), sizeof(*want));

		s.sig = signature(jobs[j]);
		s.rows = cpl_rows_new(s.sig, NULL, NULL);
		place(&s, 9);
		job.rows = s.rows;
		job.node = s.node;
		comm = cpl_signature_total(s.sig, &err);
		for (int r = 0; r < 240; r++)
			for (int64_t i = comm->row[r]; i < comm->row[r + 1];
			     i++) {
				int from = s.rank_node[r] / 2;
				int to = s.rank_node[comm->to[i]] / 2;

				if (from != to)
					want[from * n + to] += comm->bytes[i];
			}
		assert_int_equal(cpl_stream_add(s.net, &job, 0, NULL, NULL,
		                                NULL, &pairs, &err),
		                 0);
		for (int i = 0; i < pairs.n_from; i++) {
			int from = pairs.from[i];

			assert_true(!i || from > pairs.from[i - 1]);
			assert_true(pairs.row[i] < pairs.row[i + 1]);
			for (int64_t e = pairs.row[i]; e < pairs.row[i + 1];
			     e++) {
				assert_true(e == pairs.row[i] ||
				            pairs.to[e] > pairs.to[e - 1]);
				assert_near("pair", pairs.bytes[e],
				            want[from * n + pairs.to[e]], 0);
				want[from * n + pairs.to[e]] = 0;
			}
		}
		for (int i = 0; i < n * n; i++)
			assert_true(want[i] == 0);
		cpl_flows_free(&pairs);
		free(want);
		cpl_comm_free(comm);
		cpl_rows_free(s.rows);
		cpl_signature_free(s.sig);
		cpl_network_free(s.net);
	}
}

/* Averages over rank pairs, by looking at each. */
static void test_dilation(void **state)
{
	for (size_t n = 0; n < N_NETWORKS; n++)
		for (size_t j = 0; j < N_JOBS; j++) {
			struct scene s = {.net = network(networks[n]),
			                  .sig = signature(jobs[j]),
			                  .per_node = 7};
			const struct cpl_routing *routing =
			        cpl_routing_find(s.net, NULL, NULL);
			struct cpl_comm *comm =
			        cpl_signature_total(s.sig, NULL);
			struct cpl_dilation got[2];
			double sum[2] = {0, 0};
			int64_t pairs[2] = {0, 0};

			s.rows = cpl_rows_new(s.sig, NULL, NULL);
			place(&s, 3 + j);
			for (int above = 0; above < 2; above++)
				for (int r = 0; r < 240; r++)
					for (int64_t i = comm->row[r];
					     i < comm->row[r + 1]; i++) {
						int from = cpl_network_router(
						        s.net, s.rank_node[r]);
						int to = cpl_network_router(
						        s.net,
						        s.rank_node
						                [comm->to[i]]);
						double hops = 0;

						if (comm->to[i] == r ||
						    !(comm->bytes[i] > 0))
							continue;
						if (from != to)
							hops = routing->hops(
							        s.net, from,
							        to);
						if (above &&
						    hops * (double)pairs[0] <=
						            sum[0] *
						                    (1 + 1e-12))
							continue;
						sum[above] += hops;
						pairs[above]++;
					}
			for (int t = 0; t < 2; t++) {
				struct cpl_job job = {.routing = routing,
				                      .rows = s.rows,
				                      .node = s.node,
				                      .ranks_per_node = 7};

				assert_int_equal(cpl_dilation(s.net, routing,
				                              &job, 1, t + 1,
				                              &got[t], NULL),
				                 0);
				assert_int_equal(got[t].pairs, pairs[0]);
				assert_int_equal(got[t].pairs_above, pairs[1]);
				if (pairs[0])
					assert_near("average", got[t].average,
					            sum[0] / (double)pairs[0],
					            0);
				if (pairs[1])
					assert_near(
					        "above", got[t].above_average,
					        sum[1] / (double)pairs[1], 0);
			}
			assert_memory_equal(&got[0], &got[1], sizeof(got[0]));
			cpl_comm_free(comm);
			cpl_rows_free(s.rows);
			cpl_signature_free(s.sig);
			cpl_network_free(s.net);
		}
}

struct row_check {
	const struct cpl_comm *comm;
	int next;
};

/* Each rank once and in order, with the entries of its row. */
static void check_row(void *arg, int from, int count,
                      const struct cpl_comm_entry *entry, int64_t n)
{
	struct row_check *check = arg;

	assert_int_equal(from, check->next);
	for (int k = 0; k < count; k++) {
		int64_t first = check->comm->row[from + k];

		assert_int_equal(check->comm->row[from + k + 1] - first, n);
		for (int64_t i = 0; i < n; i++) {
			assert_int_equal(entry[i].to + k,
			                 check->comm->to[first + i]);
			assert_near("bytes", entry[i].bytes,
			            check->comm->bytes[first + i], 0);
			assert_near("messages", entry[i].messages,
			            check->comm->messages[first + i], 0);
		}
	}
	check->next += count;
}

static void test_rows_equal_matrix(void **state)
{
	for (size_t j = 0; j < N_JOBS; j++) {
		struct cpl_signature *sig = signature(jobs[j]);
		struct cpl_rows *rows = cpl_rows_new(sig, NULL, NULL);
		struct cpl_comm *comm = cpl_signature_total(sig, NULL);
		struct row_check check = {comm, 0};

		/* Wherever it is cut. */
		for (int cut = 0; cut <= 240; cut += 53) {
			check.next = 0;
			assert_int_equal(cpl_rows_each(rows, 0, cut, check_row,
			                               &check, NULL),
			                 0);
			assert_int_equal(check.next, cut);
			assert_int_equal(cpl_rows_each(rows, cut, 240,
			                               check_row, &check, NULL),
			                 0);
			assert_int_equal(check.next, 240);
		}
		cpl_comm_free(comm);
		cpl_rows_free(rows);
		cpl_signature_free(sig);
	}
}

static void test_one_phase(void **state)
{
	struct cpl_signature *sig = signature(jobs[10]);
	struct cpl_error err = {""};
	struct cpl_rows *rows = cpl_rows_new(sig, "phase2", &err);

	assert_non_null(rows);
	assert_int_equal(rows->n_terms, 1);
	assert_true(rows->term[0].weight == 1);
	cpl_rows_free(rows);
	assert_null(cpl_rows_new(sig, "phase9", &err));
	assert_non_null(strstr(err.text, "it has phase1, phase2, phase3"));
	cpl_signature_free(sig);
}

/* Five million messages are not stored, two hundred million never. */
static void test_large_pattern(void **state)
{
	static const char ring[] =
	        "{\"format\":\"commplace-signature\",\"version\":1,"
	        "\"ranks\":5000000,\"phases\":[{\"weight\":2,"
	        "\"pattern\":{\"type\":\"collective\","
	        "\"operation\":\"allgather\",\"algorithm\":\"ring\","
	        "\"ranks\":5000000,\"bytes\":0.5}}]}";
	static const char many[] =
	        "{\"format\":\"commplace-signature\",\"version\":1,"
	        "\"ranks\":8847360,\"phases\":[{\"pattern\":"
	        "{\"type\":\"many-to-many\",\"dims\":[180,128,384],"
	        "\"axis\":1,\"bytes\":102400}}]}";
	char path[] = "/tmp/test_stream.XXXXXX";
	struct cpl_error err = {""};
	struct cpl_signature *sig =
	        cpl_signature_parse(ring, sizeof(ring) - 1, "ring", &err);
	struct cpl_signature *again;
	struct cpl_comm *comm;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	assert_non_null(sig);
	assert_false(cpl_signature_stored(sig));
	comm = cpl_signature_total(sig, &err);
	assert_non_null(comm);
	assert_int_equal(comm->n_entries, 5000000);
	assert_int_equal(comm->to[4999999], 0);
	assert_true(comm->bytes[7] == 4999999);
	cpl_comm_free(comm);
	/* Written as what it is, in either form. */
	for (int binary = 0; binary < 2; binary++) {
		assert_int_equal(
		        (binary ? cpl_signature_write_binary
		                : cpl_signature_write)(sig, path, &err),
		        0);
		again = cpl_signature_load(path, &err);
		assert_non_null(again);
		assert_false(cpl_signature_stored(again));
		assert_true(again->phase[0].weight == 2);
		cpl_signature_free(again);
	}
	unlink(path);
	cpl_signature_free(sig);
	sig = cpl_signature_parse(many, sizeof(many) - 1, "many", &err);
	assert_non_null(sig);
	assert_null(cpl_signature_total(sig, &err));
	assert_non_null(strstr(err.text, "up to 1123614720 messages"));
	cpl_signature_free(sig);
}

/* Many small patterns do not add up to much memory: the first is stored. */
static void test_patterns_share_what_is_stored(void **state)
{
	static const char head[] =
	        "{\"format\":\"commplace-signature\",\"version\":1,"
	        "\"ranks\":1500,\"phases\":[";
	static const char phase[] =
	        "{\"pattern\":{\"type\":\"collective\",\"operation\":"
	        "\"alltoall\",\"algorithm\":\"pairwise\",\"ranks\":1500,"
	        "\"bytes\":2}}";
	char text[4096];
	struct cpl_error err = {""};
	struct cpl_signature *sig;
	struct cpl_comm *comm;
	size_t n = (size_t)snprintf(text, sizeof(text), "%s", head);

	for (int i = 0; i < 8; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s",
		                      i ? "," : "", phase);
	n += (size_t)snprintf(text + n, sizeof(text) - n, "]}");
	sig = cpl_signature_parse(text, n, "phases", &err);
	assert_non_null(sig);
	assert_non_null(sig->phase[0].comm);
	for (int i = 1; i < 8; i++)
		assert_null(sig->phase[i].comm);
	/* Within limits: all phases together count, each pair of ranks once. */
	const struct cpl_signature_limits small = {.max_bytes = 64 << 20};
	const struct cpl_signature_limits large = {.max_bytes = 256 << 20};
	char path[] = "/tmp/commplace-phases-XXXXXX";
	int fd = mkstemp(path);
	assert_int_equal(write(fd, text, n), n);
	close(fd);
	assert_null(cpl_signature_load_within(path, &small, &err));
	assert_non_null(strstr(err.text, "up to 2250000 pairs"));
	cpl_signature_free(sig);
	sig = cpl_signature_load_within(path, &large, &err);
	unlink(path);
	assert_non_null(sig);
	sig->n_phases = 2;
	comm = cpl_signature_total(sig, &err);
	assert_non_null(comm);
	assert_int_equal(comm->n_entries, 1500 * 1499);
	assert_true(comm->bytes[0] == 4);
	cpl_comm_free(comm);
	sig->n_phases = 8;
	cpl_signature_free(sig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_stream_equals_matrix),
	        cmocka_unit_test(test_pairs),
	        cmocka_unit_test(test_dilation),
	        cmocka_unit_test(test_rows_equal_matrix),
	        cmocka_unit_test(test_one_phase),
	        cmocka_unit_test(test_large_pattern),
	        cmocka_unit_test(test_patterns_share_what_is_stored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
