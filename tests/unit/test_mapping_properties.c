/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What holds for every mapper of the table on every type of network. */
#include "commplace-config.h"

#include "unit.h"

#include "base/random.h"
#include "mapping_jobs.h"

#define HEAD "{\"format\":\"commplace-network\",\"version\":1,"

static const char *const network_text[] = {
        HEAD "\"type\":\"dragonfly\",\"groups\":3,\"rows\":2,\"columns\":2,"
             "\"nodes_per_router\":2,\"nodes\":\"n[0-23]\"}",
        HEAD "\"type\":\"torus\",\"dims\":[4,3,2],\"nodes\":\"n[0-23]\"}",
        HEAD "\"type\":\"torus\",\"dims\":[3,4],\"wrap\":[false,false],"
             "\"nodes_per_router\":2,\"nodes\":\"n[0-23]\"}",
        HEAD "\"type\":\"fattree\",\"nodes_per_router\":4,\"leaves\":6,"
             "\"levels\":[{\"down\":3,\"up\":2,\"links\":1},"
             "{\"down\":2,\"up\":1,\"links\":2}],\"nodes\":\"n[0-23]\"}",
        HEAD "\"type\":\"haec\",\"dims\":[2,4,3],\"nodes\":\"n[0-23]\"}",
        /* A ring with a tail, and a tree of switches. */
        HEAD "\"type\":\"graph\",\"routers\":8,\"nodes_per_router\":3,"
             "\"links\":[[0,1],[1,2],[2,3],[3,4],[4,5],[5,0],[5,6],[6,7]],"
             "\"nodes\":\"n[0-23]\"}",
        HEAD "\"type\":\"graph\",\"routers\":7,\"node_routers\":4,"
             "\"nodes_per_router\":6,"
             "\"links\":[[0,4],[1,4],[2,5],[3,5],[4,6],[5,6]],"
             "\"nodes\":\"n[0-23]\"}",
};
#define N_NETWORKS (sizeof(network_text) / sizeof(*network_text))

enum shape {
	ONE_EACH,
	SOME_EACH,
	UNEVEN,
	PIECES, /* pairs that talk to nobody else */
	SILENT, /* no traffic */
	ONE_RANK,
	ONE_NODE,
	SPARE, /* more slots than ranks */
	WEIGHTS,
	SHAPES,
};

struct shaped {
	struct job job;
	int weight[MAX_RANKS];
};

static void make(struct shaped *s, const char *text, enum shape shape,
                 uint64_t seed)
{
	struct cpl_comm_entry entry[MAX_RANKS];
	int n_hosts = shape == ONE_NODE ? 1 : 7 + (int)seed * 5, ranks = 0;
	struct cpl_network *net = parse_network(text);
	int slots[24], perm[24], n = 0;
	struct cpl_comm *comm;

	for (int h = 0; h < n_hosts; h++) {
		slots[h] = 1 + (int)seed % 3;
		if (shape == ONE_EACH)
			slots[h] = 1;
		if (shape == ONE_NODE)
			slots[h] = 6;
		if (shape == UNEVEN || shape == SPARE)
			slots[h] = (h * 7 + (int)seed) % 4;
		if (shape == ONE_RANK)
			slots[h] = h == 3;
		if (shape == WEIGHTS)
			slots[h] = 4 + h % 2;
		ranks += slots[h];
	}
	if (shape == SPARE)
		ranks -= ranks / 3;
	if (shape == WEIGHTS) {
		ranks = 2 * n_hosts;
		for (int r = 0; r < ranks; r++)
			s->weight[r] = 1 + (r * 5 + (int)seed) % 3;
	}
	for (int r = 0; shape == PIECES && r + 1 < ranks; r += 2)
		entry[n++] = (struct cpl_comm_entry){r, r + 1, 10, 1};
	comm = shape == PIECES || shape == SILENT ? build(ranks, entry, n)
	                                          : random_comm(ranks, 3, seed);
	set_up(&s->job, net, comm, n_hosts);
	for (int i = 0; i < net->n_nodes; i++)
		perm[i] = i;
	cpl_random_shuffle(perm, net->n_nodes, seed, 3);
	for (int h = 0; h < n_hosts; h++) {
		s->job.host[h] = perm[h];
		s->job.slots[h] = slots[h];
	}
	s->job.req.seed = seed;
	s->job.req.work = 300;
	if (shape == WEIGHTS)
		s->job.req.weight = s->weight;
}

/* No more than the slots on a host, all of them where there are no more. */
static void check_capacity(const struct job *job, const int *rank_host)
{
	const struct cpl_map_request *req = &job->req;
	int used[64] = {0}, slots = 0;

	for (int r = 0; r < req->comm->ranks; r++) {
		assert_in_range(rank_host[r], 0, req->n_hosts - 1);
		used[rank_host[r]] += req->weight ? req->weight[r] : 1;
	}
	for (int h = 0; h < req->n_hosts; h++) {
		slots += req->slots[h];
		assert_true(used[h] <= req->slots[h]);
		if (!req->weight && slots == req->comm->ranks &&
		    h == req->n_hosts - 1)
			check_counts(job, rank_host);
	}
}

static void each(enum shape shape,
                 void (*check)(const struct cpl_mapper *mapper,
                               struct job *job))
{
	for (size_t i = 0; i < N_NETWORKS; i++) {
		for (uint64_t seed = 0; seed < 3; seed++) {
			static struct shaped s;

			memset(&s, 0, sizeof(s));
			make(&s, network_text[i], shape, seed);
			for (int k = 0; cpl_mapper_at(k); k++)
				check(cpl_mapper_at(k), &s.job);
#ifdef HAVE_SCOTCH
			check(&cpl_mapper_scotch, &s.job);
#endif
			tear_down(&s.job);
		}
	}
}

/* The same each time, with more threads too. */
static void is_layout(const struct cpl_mapper *mapper, struct job *job)
{
	size_t size = (size_t)job->req.comm->ranks * sizeof(int);
	struct cpl_error err = {""};
	int again[MAX_RANKS];

	if (cpl_map_run(mapper, &job->req, job->rank_host, &err))
		fail_msg("%s on a %s: %s", mapper->name,
		         cpl_network_type_name(job->net->type), err.text);
	check_capacity(job, job->rank_host);
	job->req.threads = 3;
	assert_int_equal(cpl_map_run(mapper, &job->req, again, &err), 0);
	job->req.threads = 0;
	if (memcmp(again, job->rank_host, size))
		fail_msg("%s on a %s: not the same again", mapper->name,
		         cpl_network_type_name(job->net->type));
}

static void is_no_worse(const struct cpl_mapper *mapper, struct job *job)
{
	struct cpl_map_result r;
	struct cpl_error err = {""};

	for (int o = 0; o < 3; o++) {
		job->req.objective = (enum cpl_objective)o;
		assert_int_equal(cpl_map(mapper, &job->req, &r, &err), 0);
		check_capacity(job, r.rank_host);
		assert_false(cpl_objective_better(
		        job->req.objective, &r.before, r.sums_before.hop_bytes,
		        &r.after, r.sums_after.hop_bytes));
		assert_float_equal(hop_bytes(job, r.rank_host),
		                   r.sums_after.hop_bytes, 1e-6);
		cpl_map_result_free(&r);
	}
}

static void test_layouts(void **state)
{
	for (int shape = 0; shape < SHAPES; shape++)
		each((enum shape)shape, is_layout);
}

static void test_never_worse_than_default(void **state)
{
	static const enum shape shape[] = {UNEVEN, PIECES, SPARE, WEIGHTS};

	for (size_t i = 0; i < sizeof(shape) / sizeof(*shape); i++)
		each(shape[i], is_no_worse);
}

static bool after_n_looks(void *arg)
{
	return --*(int *)arg < 0;
}

/* Whenever the time is over, there is a layout. */
static void ends_whenever(const struct cpl_mapper *mapper, struct job *job)
{
	for (int looks = 0; looks < 200; looks += 1 + looks / 3) {
		struct cpl_error err = {""};
		int left = looks;

		job->req.expired = after_n_looks;
		job->req.expired_arg = &left;
		if (cpl_map_run(mapper, &job->req, job->rank_host, &err))
			fail_msg("%s after %d looks: %s", mapper->name, looks,
			         err.text);
		check_capacity(job, job->rank_host);
	}
}

static void test_ends_whenever(void **state)
{
	static const enum shape shape[] = {SOME_EACH, UNEVEN, PIECES, WEIGHTS};

	for (size_t i = 0; i < sizeof(shape) / sizeof(*shape); i++)
		each(shape[i], ends_whenever);
}

/* The same torus as a graph, where nothing is known but hops: what is searched
 * ring by ring on the torus must give the same there. */
static struct cpl_network *torus_as_graph(int x, int y, int z, bool wrap)
{
	static char text[65536];
	int dim[3] = {x, y, z}, n = x * y * z, used;
	bool first = true;

	used = sprintf(text,
	               HEAD "\"type\":\"graph\",\"routers\":%d,\"links\":[", n);
	for (int r = 0; r < n; r++) {
		int stride = 1;

		for (int d = 0; d < 3; d++) {
			int at = r / stride % dim[d], to = -1;

			if (at + 1 < dim[d])
				to = r + stride;
			else if (wrap && dim[d] > 2)
				to = r - at * stride;
			if (to >= 0)
				used += sprintf(text + used, "%s[%d,%d]",
				                first ? "" : ",", r, to);
			first &= to < 0;
			stride *= dim[d];
		}
	}
	sprintf(text + used, "],\"nodes\":\"n[0-%d]\"}", n - 1);
	return parse_network(text);
}

static void test_rings_change_nothing(void **state)
{
	const struct cpl_mapper *const mapper[] = {
	        &cpl_mapper_greedyallc, &cpl_mapper_minmd,
	        &cpl_mapper_udfs,       &cpl_mapper_greedy,
	        &cpl_mapper_fhgreedy,   &cpl_mapper_pacmap};

	for (uint64_t seed = 0; seed < 12; seed++) {
		bool wrap = seed % 2;
		int n = seed % 3 ? 144 : 100;
		struct job on_torus, on_graph;

		set_up(&on_torus, torus(8, 6, 3, wrap), random_comm(n, 2, seed),
		       n);
		set_up(&on_graph, torus_as_graph(8, 6, 3, wrap),
		       random_comm(n, 2, seed), n);
		for (size_t k = 0; k < sizeof(mapper) / sizeof(*mapper); k++) {
			struct cpl_error err = {""};

			cpl_mapper_map(mapper[k], &on_torus.req,
			               on_torus.rank_host, &err);
			cpl_mapper_map(mapper[k], &on_graph.req,
			               on_graph.rank_host, &err);
			if (memcmp(on_torus.rank_host, on_graph.rank_host,
			           (size_t)n * sizeof(int)))
				fail_msg("%s, seed %d", mapper[k]->name,
				         (int)seed);
		}
		tear_down(&on_torus);
		tear_down(&on_graph);
	}
}

/* With slots to spare ranks that talk meet on fewer hosts. */
static void test_spare_slots_are_used(void **state)
{
	struct cpl_comm_entry entry[] = {{0, 3, 100, 1}, {1, 2, 100, 1}};
	struct cpl_error err = {""};
	struct cpl_map_result r;
	struct job job;

	set_up(&job, torus(4, 1, 1, false), build(4, entry, 2), 2);
	job.host[1] = 3;
	job.slots[0] = job.slots[1] = 3;
	assert_int_equal(cpl_map(&cpl_mapper_recursive, &job.req, &r, &err), 0);
	assert_false(r.kept_default);
	assert_true(r.sums_after.hop_bytes == 0);
	cpl_map_result_free(&r);
	tear_down(&job);
}

/* Heavy ranks 0 and 3 fill a host each, so each light one has one partner to
 * be with; without weights all four of a host's slots would be four ranks. */
static void test_weights_count(void **state)
{
	static const int weight[] = {3, 1, 1, 3};
	struct cpl_comm_entry entry[] = {{0, 2, 100, 1}, {3, 1, 100, 1}};
	struct cpl_error err = {""};
	struct cpl_map_result r;
	struct job job;

	set_up(&job, torus(4, 1, 1, false), build(4, entry, 2), 2);
	job.host[1] = 3;
	job.slots[0] = job.slots[1] = 4;
	job.req.weight = weight;
	assert_int_equal(cpl_map(&cpl_mapper_recursive, &job.req, &r, &err), 0);
	assert_int_equal(r.rank_host[0], r.rank_host[2]);
	assert_int_equal(r.rank_host[3], r.rank_host[1]);
	assert_int_not_equal(r.rank_host[0], r.rank_host[3]);
	assert_true(r.sums_after.hop_bytes == 0);
	assert_true(r.sums_before.hop_bytes > 0);
	cpl_map_result_free(&r);
	tear_down(&job);
}

/* Rank order leaves no room for the last, the heaviest first do fit. */
static void test_weights_that_need_packing(void **state)
{
	static const int weight[] = {1, 1, 3, 3};
	struct cpl_comm_entry entry[] = {{0, 1, 100, 1}};
	struct cpl_error err = {""};
	struct job job;

	set_up(&job, torus(4, 1, 1, false), build(4, entry, 1), 2);
	job.slots[0] = job.slots[1] = 4;
	job.req.weight = weight;
	assert_int_equal(
	        cpl_map_run(&cpl_mapper_linear, &job.req, job.rank_host, &err),
	        0);
	check_capacity(&job, job.rank_host);
	job.slots[1] = 3;
	assert_int_equal(cpl_map_check(&job.req, &err), -1);
	assert_non_null(strstr(err.text, "do not fit the slots"));
	tear_down(&job);
}

/* They fit the hosts as given, but not in the order of their nodes, where the
 * heaviest comes first on the host of 5. */
static void test_weights_that_need_the_order(void **state)
{
	static const int weight[] = {4, 3, 2};
	struct cpl_comm_entry entry[] = {{0, 1, 100, 1}};
	struct cpl_error err = {""};
	struct cpl_map_result r;
	struct job job;

	set_up(&job, torus(4, 1, 1, false), build(3, entry, 1), 2);
	job.host[0] = 1;
	job.host[1] = 0;
	job.slots[0] = 4;
	job.slots[1] = 5;
	job.req.weight = weight;
	assert_int_equal(cpl_map(&cpl_mapper_recursive, &job.req, &r, &err), 0);
	check_capacity(&job, r.rank_host);
	cpl_map_result_free(&r);
	tear_down(&job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_layouts),
	        cmocka_unit_test(test_never_worse_than_default),
	        cmocka_unit_test(test_ends_whenever),
	        cmocka_unit_test(test_rings_change_nothing),
	        cmocka_unit_test(test_spare_slots_are_used),
	        cmocka_unit_test(test_weights_count),
	        cmocka_unit_test(test_weights_that_need_packing),
	        cmocka_unit_test(test_weights_that_need_the_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
