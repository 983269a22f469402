/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is played from job logs. */
#include "commplace-config.h"

#include "unit.h"

#include "campaign/easy.h"
#include "campaign/summary.h"
#include "campaign_cases.h"

/* Bytes from a to b in MB. */
static double sends(const struct cpl_comm *comm, int a, int b)
{
	for (int64_t e = comm->row[a]; e < comm->row[a + 1]; e++)
		if (comm->to[e] == b)
			return comm->bytes[e] / 1e6;
	return 0;
}

static void test_patterns(void **state)
{
	static const struct {
		const char *name;
		int ranks;
		int64_t entries;
		int to; /* of rank 0 */
		double megabytes;
	} row[] = {
	        {"ring", 1, 0, 0, 0},
	        {"ring", 2, 2, 1, 1},
	        {"ring", 5, 10, 4, 1},
	        {"stencil-2d", 12, 12 * 4, 3, 1},
	        {"stencil-3d", 27, 27 * 6, 9, 1},
	        {"stencil-3d", 7, 14, 6, 1}, /* a prime: a ring */
	        {"stencil-4d", 16, 16 * 4, 8, 1},
	        {"pencil", 12, 12 * 5, 3, 1},
	        {"all-to-all", 6, 30, 5, 1},
	        {"recursive-doubling", 8, 24, 4, 1},
	        {"recursive-doubling", 6, 6 * 2 + 2, 4, 1},
	        {"recursive-halving", 8, 24, 4, 0.25},
	        {"recursive-halving", 8, 24, 1, 1},
	        {"binomial", 8, 14, 4, 1},
	        {"binomial", 6, 10, 4, 1},
	        {"2-d", 8, 24, 4, 1},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		const struct cpl_jobs_pattern *pattern =
		        cpl_jobs_pattern_find(row[i].name, NULL);
		struct cpl_comm *comm = cpl_jobs_pattern_comm(
		        pattern, row[i].ranks, NULL);

		assert_non_null(comm);
		assert_int_equal(comm->ranks, row[i].ranks);
		assert_int_equal(comm->n_entries, row[i].entries);
		assert_true(sends(comm, 0, row[i].to) == row[i].megabytes);
		/* As kinds take them to be. */
		for (int from = 0; from < comm->ranks; from++)
			for (int to = 0; to < from; to++)
				assert_true(sends(comm, from, to) ==
				            sends(comm, to, from));
		cpl_comm_free(comm);
	}
}

/* Jobs of "nodes limit" on a machine of 10, all waiting at 0; who starts, in
 * which order, "." for nobody; "E3" ends job 3, "T7" is time 7. */
static void easy_case(const char *jobs, const char *steps, bool backfill)
{
	struct cpl_easy easy;
	double now = 0;
	int nodes, limit, n = 0, used;

	assert_int_equal(cpl_easy_init(&easy, 10, 20, backfill, NULL), 0);
	while (sscanf(jobs, "%d %d%n", &nodes, &limit, &used) == 2) {
		cpl_easy_submit(&easy, n++, nodes, limit);
		jobs += used;
	}
	for (; *steps; steps++) {
		if (*steps == 'E')
			cpl_easy_end(&easy, *++steps - '0');
		else if (*steps == 'T')
			now = *++steps - '0';
		else
			assert_int_equal(cpl_easy_start(&easy, now),
			                 *steps == '.' ? -1 : *steps - '0');
	}
	cpl_easy_free(&easy);
}

static void test_easy(void **state)
{
	/* The first waits for 8; the second fits in the gap before. */
	easy_case("6 5  8 5  4 5", "02.", true);
	/* It asks for longer than that, but 2 nodes are left over then. */
	easy_case("6 5  8 5  3 9  2 9", "03.", true);
	/* And only those: the next one would delay the first. */
	easy_case("6 5  8 5  2 9  2 9", "02.", true);
	/* As much as is left till then. */
	easy_case("6 5  8 5  4 4", "0T12.", true);
	easy_case("6 5  8 5  4 5", "0T1.", true);
	/* First come, first served: nobody goes before. */
	easy_case("6 5  8 5  4 5", "0.E01.E12.", false);
	easy_case("6 5  8 5  4 5", "02.E0.E21.", true);
	/* All that end at the same moment leave their nodes: of 10 then 1 is
	 * left over. */
	easy_case("4 5  4 5  9 5  1 9  1 9", "013.", true);
	/* Who has overrun is taken to end now: whatever ends later waits. */
	easy_case("6 5  8 5  4 5", "0T7.", true);
	easy_case("10 1  10 1  10 1", "0.E01.E12.E2.", true);
}

/* This is who starts of the jobs that came, of which those without nodes have gone, if
 * one looks at all of them: seconds of the first's reservation, and nodes left over. */
static int plain_start(const struct cpl_easy_job *came, int n, int n_free,
                       double at, int extra)
{
	int first = 0;

	while (first < n && !came[first].nodes)
		first++;
	if (first < n && came[first].nodes <= n_free)
		return first;
	for (int i = first + 1; i < n; i++)
		if (came[i].nodes && came[i].nodes <= n_free &&
		    (came[i].limit <= at || came[i].nodes <= extra))
			return i;
	return -1;
}

/* A queue of many blocks, on a machine of 100 of which one job has 90 for 50 s and the
 * first waits for 95: the others are chosen as if all were looked at. */
static void test_long_queue(void **state)
{
	enum { JOBS = 5 * CPL_EASY_BLOCK + 7 };
	struct cpl_easy_job came[JOBS] = {{.nodes = 90, .limit = 50},
	                                  {.nodes = 95, .limit = 50}};
	struct cpl_easy easy;
	int n_free = 100, extra = 5, started = 0, at;

	(void)state;
	srand(1);
	assert_int_equal(cpl_easy_init(&easy, 100, JOBS, true, NULL), 0);
	for (int i = 0; i < JOBS; i++) {
		if (i > 1)
			came[i] = (struct cpl_easy_job){.nodes = 1 + rand() % 40,
			                                .limit = 20 + rand() % 400};
		cpl_easy_submit(&easy, i, came[i].nodes, came[i].limit);
	}
	for (int turn = 0; turn < 300; turn++) {
		int want = plain_start(came, JOBS, n_free, 50, extra);

		at = cpl_easy_start(&easy, 0);
		assert_int_equal(at, want);
		if (at < 0)
			continue;
		n_free -= came[at].nodes;
		extra -= came[at].limit > 50 ? came[at].nodes : 0;
		if (came[at].limit <= 50 && at) {
			cpl_easy_end(&easy, at);
			n_free += came[at].nodes;
		}
		came[at].nodes = 0;
		started++;
	}
	assert_in_range(started, 5, 100);
	assert_int_equal(easy.n_waits, JOBS - started);
	cpl_easy_free(&easy);
}

/* What is chosen when nodes of `busy` ("x": taken) are taken, with this many
 * loud nodes on each leaf: the nodes as letters. */
static void expect_choice(const char *busy, const char *loud, int n,
                          bool communicates,
                          int (*choose)(const struct cpl_stock_request *,
                                        int *, struct cpl_error *),
                          const char *want)
{
	struct cpl_network *net = make_network();
	struct cpl_stock_tree tree;
	unsigned char free_node[16];
	int loud_on[4], out[16];
	char got[17] = "";

	assert_int_equal(cpl_stock_tree_init(&tree, net, NULL), 0);
	assert_int_equal(tree.n_leaves, 4);
	for (int i = 0; i < 16; i++)
		free_node[i] = busy[i] != 'x';
	for (int i = 0; i < 4; i++)
		loud_on[i] = loud[i] - '0';
	struct cpl_stock_request req = {.tree = &tree, .free = free_node,
	                                .n = n, .communicates = communicates,
	                                .loud = loud_on};
	assert_int_equal(choose(&req, out, NULL), 0);
	for (int i = 0; i < n; i++)
		got[i] = (char)('a' + out[i]);
	assert_string_equal(got, want);
	cpl_stock_tree_free(&tree);
	cpl_network_free(net);
}

static int choose_tree(const struct cpl_stock_request *req, int *out,
                       struct cpl_error *err)
{
	return cpl_stock_tree_choose(req, false, out, err);
}

static void test_choices(void **state)
{
	/* Runs of 3, 2, 6: the smallest that is enough; then the largest and
	 * the smallest that is enough for the rest. */
	expect_choice("...xx..xxx......", "0000", 2, true, cpl_stock_flat, "fg");
	expect_choice("...xx..xxx......", "0000", 4, true, cpl_stock_flat,
	              "klmn");
	expect_choice("...xx..xxx......", "0000", 8, true, cpl_stock_flat,
	              "fgklmnop");
	/* The largest first where none is enough, and again. */
	expect_choice("...xx..xxx......", "0000", 10, true, cpl_stock_flat,
	              "abcfklmnop");
	/* The leaf that fits best; the largest first where none is enough, then
	 * what fits the rest. */
	expect_choice("xx..x.......xxx.", "0000", 2, true, choose_tree, "cd");
	expect_choice("xx..x.......xxx.", "0000", 1, true, choose_tree, "p");
	expect_choice("xx..x.......xxx.", "0000", 6, true, choose_tree,
	              "cdijkl");
	/* The fullest first. */
	expect_choice("xx..x.......xxx.", "0000", 6, true,
	              cpl_stock_select_linear, "pcdfgh");
	/* Who communicates goes where few do; the others where many do. */
	expect_choice("xx..xx......xx..", "2100", 6, true, cpl_stock_greedy,
	              "ijklop");
	expect_choice("xx..xx......xx..", "2100", 6, false, cpl_stock_greedy,
	              "cdghop");
	expect_choice("xx..xx......xx..", "2100", 4, true, cpl_stock_greedy,
	              "ijkl");
	/* Powers of two from the emptiest on, the rest from the last back. */
	expect_choice("x...x...x...xxxx", "0000", 8, true, cpl_stock_balanced,
	              "bcfghjkl");
	expect_choice("x...x...xxx.xxxx", "0000", 7, true, cpl_stock_balanced,
	              "bcdfghl");
	expect_choice("x...x...xx..xxxx", "0000", 5, false, cpl_stock_balanced,
	              "klbcd");
	/* Greedy would take three, three and two, which communicate across
	 * leaves in all steps. */
	expect_choice("x...x...xx..xx..", "0000", 8, true, cpl_stock_adaptive,
	              "bcfgklop");
}

/* As many runs as there can be. */
static void test_many_runs(void **state)
{
	expect_choice("x.x.x.x.x.x.x.x.", "0000", 8, true, cpl_stock_flat,
	              "bdfhjlnp");
	expect_choice(".x.x.x.x.x.x.x.x", "0000", 8, true, cpl_stock_flat,
	              "acegikmo");
	/* One leaf, the fullest that is enough. */
	expect_choice("x...x...xx..xxxx", "0000", 2, true, cpl_stock_balanced,
	              "kl");
	expect_choice("x...x...xx..xxxx", "0000", 3, false, cpl_stock_balanced,
	              "bcd");
}

/* Leaf switches in pairs: after the first leaf, of all that is free in 4, 1, 2
 * and 2, its neighbour comes, though others fit better. */
static void test_near_leaves_first(void **state)
{
	static const char two_levels[] =
	        "{\"format\":\"commplace-network\",\"version\":1,\"type\":"
	        "\"fattree\",\"nodes_per_router\":4,\"leaves\":4,\"levels\":"
	        "[{\"down\":2,\"up\":1},{\"down\":2,\"up\":1}],"
	        "\"nodes\":\"n[0-15]\"}";
	static const unsigned char is_free[16] = {1, 1, 1, 1, 0, 0, 1, 0,
	                                          0, 1, 0, 1, 1, 0, 1, 0};
	static const int want[] = {0, 1, 2, 3, 6, 9};
	struct cpl_network *net =
	        cpl_network_parse(two_levels, strlen(two_levels), "net", NULL);
	struct cpl_stock_request req = {.free = is_free, .n = 6};
	struct cpl_stock_tree tree;
	int out[6];

	assert_non_null(net);
	assert_int_equal(cpl_stock_tree_init(&tree, net, NULL), 0);
	assert_int_equal(tree.n_levels, 2);
	req.tree = &tree;
	assert_int_equal(cpl_stock_tree_choose(&req, false, out, NULL), 0);
	assert_memory_equal(out, want, sizeof(want));
	cpl_stock_tree_free(&tree);
	cpl_network_free(net);
}

/* Of both the one that costs less, or more for who does not communicate, where
 * the job's own nodes count as loud if it does. */
static void test_adaptive_is_one_of_both(void **state)
{
	struct cpl_network *net = make_network();
	struct cpl_stock_tree tree;
	int other = 0;

	assert_int_equal(cpl_stock_tree_init(&tree, net, NULL), 0);
	for (unsigned seed = 1; seed < 400; seed++) {
		unsigned char is_free[16];
		int loud[4], out[3][16], total[2][4], n_free = 0;
		unsigned draw = seed * 2654435761U;
		double cost[2];
		struct cpl_stock_request req = {.tree = &tree,
		                                .free = is_free,
		                                .loud = loud,
		                                .communicates = seed % 2};
		bool balanced;

		for (int i = 0; i < 16; i++)
			n_free += is_free[i] =
			        draw >> i & 1 || draw >> (i + 13) & 1;
		for (int u = 0; u < 4; u++) {
			loud[u] = 0;
			for (int i = 4 * u; i < 4 * u + 4; i++)
				loud[u] += !is_free[i] && (seed >> (i % 5) & 1);
		}
		if (n_free < 2)
			continue;
		req.n = 2 + (int)(seed % (unsigned)(n_free - 1));
		assert_int_equal(cpl_stock_greedy(&req, out[0], NULL), 0);
		assert_int_equal(cpl_stock_balanced(&req, out[1], NULL), 0);
		assert_int_equal(cpl_stock_adaptive(&req, out[2], NULL), 0);
		for (int k = 0; k < 2; k++) {
			memcpy(total[k], loud, sizeof(loud));
			for (int i = 0; i < req.n && req.communicates; i++)
				total[k][out[k][i] / 4]++;
			cost[k] = cpl_study_cost(&tree, total[k],
			                         CPL_STUDY_HALVING, out[k],
			                         req.n);
		}
		balanced = req.communicates ? cost[1] < cost[0]
		                            : cost[1] > cost[0];
		assert_memory_equal(out[2], out[balanced],
		                    (size_t)req.n * sizeof(int));
		other += balanced;
	}
	assert_true(other > 10);
	cpl_stock_tree_free(&tree);
	cpl_network_free(net);
}

static void test_study_cost(void **state)
{
	struct cpl_network *net = make_network();
	/* The example of the study: job 1 on n0, n1, n4, n5, job 2 on n2, n3.
	 */
	static const int node[] = {0, 1, 4, 5}, loud[] = {4, 2, 0, 0};
	struct cpl_stock_tree tree;

	assert_int_equal(cpl_stock_tree_init(&tree, net, NULL), 0);
	/* Hops of n0 and n4 are 4 (1 + 1.875), of n0 and n1 2 (1 + 1). */
	assert_true(cpl_study_cost(&tree, loud, CPL_STUDY_DOUBLING, node, 4) ==
	            11.5 + 4);
	assert_true(cpl_study_cost(&tree, loud, CPL_STUDY_HALVING, node, 4) ==
	            11.5 + 2 * 4);
	assert_true(cpl_study_cost(&tree, loud, CPL_STUDY_BINOMIAL, node, 4) ==
	            11.5 + 4);
	assert_true(cpl_study_cost(&tree, loud, CPL_STUDY_DOUBLING, node, 1) ==
	            0);
	assert_true(cpl_study_cost(&tree, loud, CPL_STUDY_DOUBLING,
	                           (const int[]){0, 4}, 2) == 11.5);
	/* A tree leaves out the pairs that are far from each other: here ranks
	 * 1 and 3, of n2 and n4. */
	static const int far[] = {0, 2, 1, 4}, fewer[] = {3, 1, 0, 0};
	static const double want[] = {9 + 2 * 9, 9 + 9, 3.5 + 9,
	                              0.3 * 18 + 0.7 * 12.5};

	for (int k = 0; k < CPL_STUDY_PATTERNS; k++)
		assert_float_equal(cpl_study_cost(&tree, fewer,
		                                  (enum cpl_study_pattern)k,
		                                  far, 4),
		                   want[k], 1e-12);
	cpl_stock_tree_free(&tree);
	cpl_network_free(net);
}

static const char mixed[] = "Match Name=0 Pattern=none\n"
                            "Mix Pattern=stencil-2d Share=30\n"
                            "Mix Pattern=recursive-doubling Share=60\n";
static const char *const four[] = {"flat", "auto+mapping", "tree", "adaptive"};

/* Who runs at a moment has nodes that nobody else has. */
static void check_nodes(const struct played *p,
                        const struct cpl_campaign_result *r)
{
	for (int i = 0; i < p->log.n_jobs; i++) {
		double used_until[16] = {0};

		assert_true(r->job[i].start >= p->log.job[i].submit);
		assert_true(r->job[i].end > r->job[i].start);
		for (int k = 0; k < p->log.job[i].nodes; k++) {
			int node = r->job[i].node[k];

			assert_in_range(node, 0, 15);
			assert_true(used_until[node] == 0);
			used_until[node] = r->job[i].end;
		}
		for (int j = 0; j < p->log.n_jobs; j++) {
			if (j == i || r->job[j].start < r->job[i].start ||
			    r->job[j].start >= r->job[i].end)
				continue;
			for (int k = 0; k < p->log.job[j].nodes; k++)
				assert_true(
				        used_until[r->job[j].node[k]] == 0);
		}
	}
}

static void test_conservation(void **state)
{
	char *log = many_jobs();
	struct played p;

	play(&p, log, mixed, four, 4, 1, CPL_CAMPAIGN_ALONE);
	for (int i = 0; i < 4; i++) {
		check_nodes(&p, &p.result[i]);
		for (int j = 0; j < p.log.n_jobs; j++) {
			const struct cpl_campaign_job *job =
			        &p.result[i].job[j];
			double ran = job->end - job->start;

			/* What sends nothing runs as the log says. */
			if (!(job->communication > 0))
				assert_true(ran > p.log.job[j].run - 0.1 &&
				            ran < p.log.job[j].run + 0.1);
		}
	}
	unplay(&p);
	free(log);
}

static void expect_same(const struct played *one, const struct played *other)
{
	for (int i = 0; i < one->n; i++)
		for (int j = 0; j < one->log.n_jobs; j++) {
			const struct cpl_campaign_job *a =
			        &one->result[i].job[j];
			const struct cpl_campaign_job *b =
			        &other->result[i].job[j];

			assert_true(a->start == b->start && a->end == b->end &&
			            a->slowdown == b->slowdown &&
			            a->cost == b->cost &&
			            a->interference == b->interference);
			assert_memory_equal(a->node, b->node,
			                    (size_t)one->log.job[j].nodes *
			                            sizeof(int));
		}
}

static void test_threads(void **state)
{
	char *log = many_jobs();
	struct played one, three;

	play(&one, log, mixed, four, 4, 1, CPL_CAMPAIGN_ALONE);
	play(&three, log, mixed, four, 4, 3, CPL_CAMPAIGN_ALONE);
	expect_same(&one, &three);
	unplay(&one);
	unplay(&three);
	free(log);
}

/* One policy by itself has all threads for its decisions, and for the jobs that
 * run; whatever it goes by. */
static void test_threads_of_one(void **state)
{
	static const struct {
		const char *policy;
		enum cpl_objective objective;
	} row[] = {
	        {"auto+mapping", CPL_OBJECTIVE_MAX},
	        {"auto+greedyallc", CPL_OBJECTIVE_MEAN},
	        {"auto+mapping", CPL_OBJECTIVE_INTERFERENCE},
	        {"tree", CPL_OBJECTIVE_MAX},
	};
	char *log = many_jobs();

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct played by[2];

		for (int k = 0; k < 2; k++) {
			get_ready(&by[k], NULL, log, mixed);
			by[k].c.wish.mapper = &cpl_mapper_quick;
			by[k].c.wish.objective = row[i].objective;
			by[k].c.wish.own_weight = 1;
			by[k].c.wish.others_weight = 1;
			by[k].c.threads = 1 + 2 * k;
			play_ready(&by[k], &row[i].policy, 1);
		}
		expect_same(&by[0], &by[1]);
		unplay(&by[0]);
		unplay(&by[1]);
	}
	free(log);
}

/* Whether traffic and groups of ranks are kept or made for each job, by mappers
 * that look at the ranks and such that do not; large jobs among small ones. */
static void test_kept(void **state)
{
	static const char *const mappers[] = {"quick", "greedyallc"};
	static const char wide[] =
	        "Match Name=0 Pattern=none\n"
	        "Mix Pattern=stencil-3d Share=30 RanksPerNode=48\n"
	        "Mix Pattern=pencil Share=60 RanksPerNode=2\n";
	static const char *const policies[] = {"flat+mapping", "auto+mapping",
	                                       "traffic+mapping"};
	char *log = many_jobs();

	for (int i = 0; i < 2; i++) {
		struct played all, none;

		play_kept(&all, log, wide, policies, 3, 1, CPL_CAMPAIGN_ALONE,
		          mappers[i], 0);
		play_kept(&none, log, wide, policies, 3, 2, CPL_CAMPAIGN_ALONE,
		          mappers[i], 1);
		expect_same(&all, &none);
		unplay(&all);
		unplay(&none);
	}
	free(log);
}

/* Lindley: on a machine of one place who comes waits for what was in the system
 * when the one before came. */
static void test_theory(void **state)
{
	static const char *const flat[] = {"flat"};
	char text[100 * 64];
	struct played p;
	size_t used = 0;
	double wait = 0;

	for (unsigned i = 0; i < 100; i++)
		used += (size_t)sprintf(
		        text + used,
		        "%u %u -1 %u 16 -1 -1 -1 -1 -1 1 1 1 0 1 -1 -1 0\n",
		        i + 1, 100 * i, 20 + i * 7919 % 150);
	play(&p, text, "Match Pattern=none\n", flat, 1, 1, CPL_CAMPAIGN_ALONE);
	for (int i = 0; i < 100; i++) {
		const struct cpl_log_job *job = &p.log.job[i];
		double got = p.result[0].job[i].start - job->submit;

		if (i) {
			wait += job[-1].run - (job->submit - job[-1].submit);
			wait = wait > 0 ? wait : 0;
		}
		assert_true(got > wait - 1e-6 && got < wait + 1e-6);
	}
	unplay(&p);
}

/* Alone on the best set, and with the first policy as reference: as the log
 * says; two that share links take longer, by the same rule for both. */
static void test_stretch(void **state)
{
	static const char *const flat[] = {"flat", "flat"};
	static const char one[] = SWF(1, 0, 1000, 8, 8, -1);
	/* Two jobs on every other node: the blockers end before. */
	static const char two[] =
	        SWF(1, 0, 1000, 6, 6, -1) SWF(2, 0, 1000, 6, 6, -1);
	struct cpl_campaign_summary s;
	struct played p;

	play(&p, one, "Match Pattern=pencil Share=50\n", flat, 2, 1,
	     CPL_CAMPAIGN_ALONE);
	assert_true(p.result[0].job[0].end > 999.9 &&
	            p.result[0].job[0].end < 1000.1);
	assert_true(p.result[0].job[0].slowdown > 0.999 &&
	            p.result[0].job[0].slowdown < 1.001);
	unplay(&p);
	play(&p, two, "Match Pattern=pencil Share=50\n", flat, 2, 1,
	     CPL_CAMPAIGN_ALONE);
	/* Both have nodes on the second leaf switch, and share its links. */
	assert_true(p.result[0].job[0].slowdown > 1.01);
	assert_true(p.result[0].job[0].end > 1005);
	assert_true(p.result[0].job[1].interference > 0);
	assert_true(p.result[0].job[0].interference == 0);
	/* What the first is stretched by from the beginning to its end. */
	assert_true(p.result[0].job[0].end <= p.result[0].job[1].end);
	assert_float_equal(p.result[0].job[1].interference,
	                   p.result[0].job[0].end / 1000 - 1, 1e-9);
	unplay(&p);
	play(&p, two, "Match Pattern=pencil Share=50\n", flat, 2, 1,
	     CPL_CAMPAIGN_FIRST);
	for (int i = 0; i < 2; i++)
		for (int j = 0; j < 2; j++) {
			double end = p.result[i].job[j].end;

			assert_true(end > 999 && end < 1001);
		}
	assert_int_equal(cpl_campaign_summarise(&p.c, &p.result[1],
	                                        &p.result[0], &s, NULL), 0);
	assert_int_equal(s.sending, 2);
	assert_true(s.communication_ratio > 0.99 &&
	            s.communication_ratio < 1.01);
	assert_true(s.useful > 0.74 && s.useful < 0.76);
	unplay(&p);
}

/* Two that share links, the second for longer; one that sends nothing ends when
 * the first does: the second goes on unhindered all the same. */
static void test_ends_at_one_moment(void **state)
{
	static const char *const flat[] = {"flat"};
	static const char map[] = "Match Name=17 Nodes=6 Pattern=pencil "
	                          "Share=50\n";
	struct played p;
	char log[512];
	double first, second;

	play(&p, SWF(1, 0, 1000, 6, 6, -1) SWF(2, 0, 2000, 6, 6, -1), map, flat,
	     1, 1, CPL_CAMPAIGN_ALONE);
	first = p.result[0].job[0].end;
	second = p.result[0].job[1].end;
	assert_true(first > 1005 && second < 2 * first);
	unplay(&p);
	snprintf(log, sizeof(log),
	         "%s3 0 7 %.17g 1 -1 -1 1 -1 -1 1 5 6 17 2 -1 -1 0\n",
	         SWF(1, 0, 1000, 6, 6, -1) SWF(2, 0, 2000, 6, 6, -1), first);
	play(&p, log, map, flat, 1, 1, CPL_CAMPAIGN_ALONE);
	assert_true(p.result[0].job[2].end == p.result[0].job[0].end);
	assert_float_equal(p.result[0].job[1].end, second, 1e-6);
	unplay(&p);
}

/* A mapper behind one of Slurm's own choices: pairs that are far apart by rank
 * come to one leaf switch. */
static void test_ranks_of_stock_nodes(void **state)
{
	static const char *const policies[] = {"flat", "flat+mapping",
	                                       "tree+quick"};
	static const char far[] =
	        "{\"format\": \"commplace-signature\", \"version\": 1, "
	        "\"ranks\": 8, \"phases\": [{\"traffic\": [[0, 4, 100, 1], "
	        "[1, 5, 100, 1], [2, 6, 100, 1], [3, 7, 100, 1]]}]}";
	struct played p;

	get_ready(&p, NULL, SWF(1, 0, 1000, 8, 8, -1),
	          "Match Signature=far Share=50\n");
	p.signature[0] = cpl_signature_parse(far, strlen(far), "far", NULL);
	assert_non_null(p.signature[0]);
	play_ready(&p, policies, 3);
	for (int i = 0; i < 3; i++)
		for (int r = 0; r < 4; r++) {
			const int *node = p.result[i].job[0].node;
			bool near = node[r] / 4 == node[r + 4] / 4;

			assert_in_range(node[r], 0, 7);
			assert_int_equal(near, i > 0);
		}
	cpl_signature_free(p.signature[0]);
	unplay(&p);
}

static void test_left_out(void **state)
{
	static const char *const flat[] = {"flat"};
	struct cpl_campaign_summary s;
	struct played p;

	play(&p, SWF(1, 0, 10, 17, 17, -1) SWF(2, 5, 10, 16, 16, -1),
	     "Match Pattern=ring Share=10\n", flat, 1, 1, CPL_CAMPAIGN_ALONE);
	assert_int_equal(p.result[0].too_large, 1);
	assert_true(p.result[0].job[0].start == -1);
	assert_true(p.result[0].job[1].start == 5);
	assert_int_equal(cpl_campaign_summarise(&p.c, &p.result[0],
	                                        &p.result[0], &s, NULL), 0);
	assert_int_equal(s.jobs, 1);
	unplay(&p);
}

static void test_share_missing(void **state)
{
	static const char *const flat[] = {"flat"};
	struct cpl_error err = {""};
	struct played p;

	play(&p, SWF(1, 0, 10, 2, 2, -1), "Match Pattern=none\n", flat, 1, 1,
	     CPL_CAMPAIGN_ALONE);
	p.jobs.rule[0].pattern = cpl_jobs_pattern_find("ring", NULL);
	cpl_campaign_free(&p.result[0], 1);
	assert_int_equal(cpl_campaign_run(&p.c, flat, 1, p.result, &err), -1);
	assert_non_null(strstr(err.text, "Share is missing"));
	unplay(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_patterns),
	        cmocka_unit_test(test_easy),
	        cmocka_unit_test(test_long_queue),
	        cmocka_unit_test(test_choices),
	        cmocka_unit_test(test_many_runs),
	        cmocka_unit_test(test_adaptive_is_one_of_both),
	        cmocka_unit_test(test_near_leaves_first),
	        cmocka_unit_test(test_study_cost),
	        cmocka_unit_test(test_conservation),
	        cmocka_unit_test(test_threads),
	        cmocka_unit_test(test_threads_of_one),
	        cmocka_unit_test(test_kept),
	        cmocka_unit_test(test_theory),
	        cmocka_unit_test(test_stretch),
	        cmocka_unit_test(test_ends_at_one_moment),
	        cmocka_unit_test(test_ranks_of_stock_nodes),
	        cmocka_unit_test(test_left_out),
	        cmocka_unit_test(test_share_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
