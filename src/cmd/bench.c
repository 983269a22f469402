/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `commplace bench`: how long decisions take on a site's network, and what they
 * gain by the model, over random states of the machine. */
#include "cmd.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/logarithm.h"
#include "base/random.h"
#include "base/sort.h"
#include "campaign/jobs.h"
#include "job_inputs.h"
#include "options.h"
#include "placement/decide.h"
#include "traffic/workload.h"

#define MAX_SIZES 32
#define MAX_DRAWS 1000
/* Nodes are taken in blocks of so many, as jobs take them. */
#define BLOCK 8
/* Streams of the seed. */
enum { STREAM_FREE = 1, STREAM_BEHIND = 2 };

static const char *const asked[] = {"linear", "best-fit", "auto", "traffic"};
#define POLICIES ((int)(sizeof(asked) / sizeof(*asked)))

struct options {
	const char *network, *pattern, *routing, *mapping, *nodes;
	int64_t ranks_per_node, draws, seed;
	double busy;
	int size[MAX_SIZES], n_sizes;
	bool json;
};

struct bench {
	const struct options *o;
	struct cpl_network *net;
	const struct cpl_routing *routing;
	const struct cpl_jobs_pattern *pattern;
	unsigned char *usable, *free;
	int *busy;                /* [n_nodes] nodes of the jobs behind */
	int *at;                  /* [n_nodes] place of a busy node */
	struct cpl_workload *behind;
	struct cpl_wish wish;
};

/* What a policy took and gained for jobs of a size. */
struct outcome {
	double ms[MAX_DRAWS];
	double logs; /* of the busiest link over linear's, summed up */
	int n, compared;
};

static int parse(const struct cmd *self, int argc, char **argv,
                 struct options *o)
{
	const struct cmd_option table[] = {
	        {"network", .text = &o->network, .needed = true},
	        {"pattern", .text = &o->pattern},
	        {"nodes", .text = &o->nodes},
	        {"ranks-per-node", .integer = &o->ranks_per_node, .low = 1,
	         .high = CPL_JOBS_MAX_RANKS_PER_NODE},
	        {"busy", .number = &o->busy, .least = 0, .most = 99},
	        {"draws", .integer = &o->draws, .low = 1, .high = MAX_DRAWS},
	        {"routing", .text = &o->routing},
	        {"rank-mapping", .text = &o->mapping},
	        {"seed", .integer = &o->seed, .low = 0, .high = INT64_MAX},
	        {"json", .flag = &o->json},
	        {0},
	};
	struct cpl_error err = {""};
	int rc = cmd_options(self, argc, argv, table, CMD_NO_WORDS);

	if (rc || !o->nodes)
		return rc;
	o->n_sizes = cmd_int_list("--nodes", o->nodes, 2, INT32_MAX, o->size,
	                          MAX_SIZES, &err);
	if (o->n_sizes > MAX_SIZES)
		return cmd_failf(self, "--nodes: more than %d sizes", MAX_SIZES);
	return o->n_sizes < 0 ? cmd_fail(self, &err) : CMD_OK;
}

/* Sizes up to half of what is free on average. */
static void default_sizes(struct options *o, int hosts)
{
	double most = hosts * (1 - o->busy / 100) / 2;

	for (int n = 2; n <= most && n <= 512 && o->n_sizes < MAX_SIZES; n *= 4)
		o->size[o->n_sizes++] = n;
	if (!o->n_sizes)
		o->size[o->n_sizes++] = 2;
}

static int open_all(struct bench *b, struct cpl_error *err)
{
	const struct options *o = b->o;
	size_t n;

	b->pattern = cpl_jobs_pattern_find(o->pattern, err);
	if (!b->pattern)
		return cpl_fail_prefix(err, "--pattern: ");
	b->net = cpl_network_load(o->network, err);
	if (!b->net)
		return -1;
	b->routing = cpl_routing_find_quick(b->net, o->routing, err);
	if (!b->routing)
		return cpl_fail_prefix(err, "%s: ",
		                       o->routing ? "--routing" : o->network);
	if (cpl_wish_mapper(&b->wish, o->mapping, err))
		return cpl_fail_prefix(err, "--rank-mapping: ");
	n = (size_t)b->net->n_nodes + 1;
	b->usable = cmd_usable_nodes(b->net, err);
	b->free = calloc(n, 1);
	b->busy = calloc(n, sizeof(*b->busy));
	b->at = calloc(n, sizeof(*b->at));
	b->behind = cpl_workload_new(b->net, 1, err);
	return b->usable && b->free && b->busy && b->at && b->behind
	               ? 0
	               : cpl_fail_memory(err);
}

static void close_all(struct bench *b)
{
	cpl_workload_free(b->behind);
	cpl_free_all(b->at, b->busy, b->free, b->usable);
	cpl_network_free(b->net);
}

/* Take nodes in blocks, and have those that are taken send the pattern, a rank
 * each, between nodes that are neighbours in a random order of blocks. */
static int draw_state(struct bench *b, int draw, struct cpl_error *err)
{
	uint64_t seed = (uint64_t)b->o->seed + (uint64_t)draw;
	struct cpl_job job = {.routing = b->routing, .ranks_per_node = 1};
	struct cpl_comm *comm;
	int n = 0, rc;

	for (int i = 0; i < b->net->n_nodes; i++) {
		bool busy = (double)cpl_random_below(seed, STREAM_FREE,
		                                     (uint64_t)(i / BLOCK),
		                                     1000) < 10 * b->o->busy;

		b->free[i] = b->usable[i] && !busy;
		if (b->usable[i] && busy)
			b->busy[n++] = i;
	}
	for (int i = n - 1; i > 0; i--) {
		int k = (int)cpl_random_below(seed, STREAM_BEHIND, (uint64_t)i,
		                              (uint64_t)i + 1);
		int swap = b->busy[i];

		b->busy[i] = b->busy[k];
		b->busy[k] = swap;
	}
	cpl_workload_clear(b->behind, NULL);
	if (n < 2)
		return 0;
	comm = cpl_jobs_pattern_comm(cpl_jobs_pattern_find("ring", NULL), n,
	                             err);
	if (!comm)
		return -1;
	job.comm = comm;
	job.node = b->busy;
	rc = cpl_workload_add(b->behind, &job, err) < 0 ||
	                     cpl_workload_solve(b->behind, err)
	             ? -1
	             : 0;
	cpl_comm_free(comm);
	return rc;
}

static int free_nodes(const struct bench *b)
{
	int n = 0;

	for (int i = 0; i < b->net->n_nodes; i++)
		n += b->free[i];
	return n;
}

/* Decide once for each policy. 1: too few nodes are free. */
static int decide_each(struct bench *b, struct cpl_comm *comm, int nodes,
                       struct outcome out[POLICIES], struct cpl_error *err)
{
	struct cpl_decide_request req = {
	        .place = {.net = b->net,
	                  .free = b->free,
	                  .n_nodes_wanted = nodes,
	                  .seed = (uint64_t)b->o->seed},
	        .wish = b->wish,
	        .routing = b->routing,
	        .comm = comm,
	        .ranks_per_node = (int)b->o->ranks_per_node,
	        .background = cpl_workload_load(b->behind)};
	double linear = 0;

	if (free_nodes(b) < nodes)
		return 1;
	for (int p = 0; p < POLICIES; p++) {
		struct cpl_decision d;
		struct cpl_figures f;
		int64_t begin = cpl_now();

		if (cpl_wish_policy(&req.wish, b->net, asked[p], err) ||
		    cpl_decide(&req, &d, err))
			return -1;
		out[p].ms[out[p].n++] = (double)(cpl_now() - begin) / 1e6;
		cpl_candidate_figures(&d.candidate[d.chosen], &f);
		if (!p)
			linear = f.metrics.max_congestion;
		if (linear > 0 && f.metrics.max_congestion > 0) {
			out[p].logs += cpl_log_natural(
			        f.metrics.max_congestion / linear);
			out[p].compared++;
		}
		cpl_decision_free(&d);
	}
	return 0;
}

static void add_rows(const struct bench *b, int nodes,
                     struct outcome out[POLICIES], struct cmd_table *table,
                     json_t *list)
{
	for (int p = 0; p < POLICIES; p++) {
		struct outcome *of = &out[p];
		double ratio = of->compared
		                       ? cpl_exp_natural(of->logs / of->compared)
		                       : 1;

		if (!of->n)
			continue;
		qsort(of->ms, (size_t)of->n, sizeof(*of->ms), cpl_by_double);
		cmd_table_row(table, "%d|%" PRId64 "|%s|%d|%.2f|%.2f|%+.1f %%",
		              nodes, nodes * b->o->ranks_per_node, asked[p],
		              of->n, of->ms[of->n / 2], of->ms[of->n - 1],
		              100 * (ratio - 1));
		cpl_json_append(list, "{s:i, s:I, s:s, s:i, s:f, s:f, s:f}",
		                "nodes", nodes, "ranks",
		                (json_int_t)(nodes * b->o->ranks_per_node),
		                "policy", asked[p], "decisions", of->n,
		                "ms_median", of->ms[of->n / 2], "ms_most",
		                of->ms[of->n - 1], "busiest_link", ratio);
	}
}

static int run_size(struct bench *b, int nodes, struct cmd_table *table,
                    json_t *list, struct cpl_error *err)
{
	static struct outcome out[POLICIES];
	struct cpl_comm *comm = NULL;
	int rc = 0;

	memset(out, 0, sizeof(out));
	if (nodes * b->o->ranks_per_node > CPL_SIGNATURE_MAX_RANKS)
		return cpl_fail(err, "%d nodes have more than %d ranks", nodes,
		                CPL_SIGNATURE_MAX_RANKS);
	comm = cpl_jobs_pattern_comm(b->pattern,
	                             nodes * (int)b->o->ranks_per_node, err);
	if (!comm)
		return -1;
	for (int i = 0; i < b->o->draws && rc >= 0; i++) {
		rc = draw_state(b, i, err);
		if (!rc)
			rc = decide_each(b, comm, nodes, out, err);
	}
	cpl_comm_free(comm);
	if (rc < 0)
		return -1;
	if (!out[0].n)
		return cpl_fail(err,
		                "--nodes: %d nodes were not free in any of "
		                "%" PRId64 " draws",
		                nodes, b->o->draws);
	add_rows(b, nodes, out, table, list);
	return 0;
}

static int print(const struct cmd *self, const struct bench *b,
                 struct cmd_table *table, json_t *list)
{
	const struct options *o = b->o;
	char name[CPL_ERROR_MAX];
	int rc;

	if (o->json) {
		cmd_table_free(table);
		return cmd_print_pack(
		        self, "{s:s, s:s, s:s, s:s, s:f, s:i, s:o}", "network",
		        b->net->name, "pattern", b->pattern->name, "routing",
		        b->routing->name, "rank_mapping", o->mapping, "busy",
		        o->busy, "hosts", cpl_network_hosts(b->net), "rows",
		        list);
	}
	json_decref(list);
	printf("%s, %d hosts, %g %% of them busy, %s, %s of %" PRId64
	       " ranks a node, rank mapping %s\n\n",
	       cmd_printable(b->net->name, name, sizeof(name)),
	       cpl_network_hosts(b->net), o->busy, b->routing->name,
	       b->pattern->name, o->ranks_per_node, o->mapping);
	rc = cmd_table_print(table);
	if (rc == CMD_OK)
		printf("\nA decision of slurmctld has MaxDecisionTime (20 ms); "
		       "what is not done by then is left out.\n");
	return rc;
}

static int run_bench(const struct cmd *self, int argc, char **argv)
{
	struct options o = {.pattern = "stencil-3d",
	                    .mapping = "quick",
	                    .ranks_per_node = 8,
	                    .draws = 10,
	                    .seed = 1,
	                    .busy = 50};
	struct bench b = {.o = &o};
	struct cpl_error err = {""};
	struct cmd_table *table;
	json_t *list;
	int rc = parse(self, argc, argv, &o);

	if (rc)
		return rc;
	table = cmd_table_new("rrlrrrr");
	list = json_array();
	cmd_table_row(table, "NODES|RANKS|POLICY|DECISIONS|MS MEDIAN|MS MOST|"
	                     "BUSIEST LINK");
	if (open_all(&b, &err))
		rc = CMD_FAILED;
	else if (!o.n_sizes)
		default_sizes(&o, cpl_network_hosts(b.net));
	for (int i = 0; i < o.n_sizes && !rc; i++)
		if (run_size(&b, o.size[i], table, list, &err))
			rc = CMD_FAILED;
	if (rc) {
		cmd_fail(self, &err);
		cmd_table_free(table);
		json_decref(list);
	} else {
		rc = print(self, &b, table, list);
	}
	close_all(&b);
	return rc;
}

const struct cmd cmd_bench = {"bench", run_bench};
