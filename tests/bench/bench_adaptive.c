/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Time of the adaptive solve for the jobs of Jain 2016, table 3.3, on the whole
 * of a machine of 92,160 routers with 24 ranks on each of four nodes, for a 4-D
 * stencil of 12,288 ranks, and for workloads.
 * Usage: bench_adaptive [--json] NETWORK.json JOBS POLICY ROUTING
 *                       [THREADS [ITERATIONS [TURNS [PIECE]]]]
 * JOBS is one of the cases below, or the signatures of jobs that run together, placed
 * one after the other, with commas: FILE[=ROUTING],... (with a slash in the first).
 * --json prints a row as `commplace compare --json` has it, for reproduce-damselfly.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "placement/placement.h"
#include "routing/adaptive/adaptive.h"
#include "signature/rows.h"
#include "traffic/stream_internal.h"

#define PER_NODE 24
#define MAX_JOBS 5
/* Pairs up to which the memory is reused. */
#define MAX_SMALL 8192

#define RANDOM(type, ranks, more)                                              \
	{                                                                      \
		ranks, "{\"type\": \"" type "\", \"ranks\": " #ranks           \
		       ", \"degree\": [6, 20], \"bytes\": 524288" more "}"     \
	}
#define UMESH(ranks) RANDOM("umesh", ranks, ", \"range\": 30")
#define SPREAD(ranks) RANDOM("spread", ranks, "")
#define STENCIL(ranks, dims, points, bytes)                                    \
	{                                                                      \
		ranks, "{\"type\": \"stencil\", \"dims\": [" dims              \
		       "], \"points\": " #points ", \"periodic\": true, "      \
		       "\"bytes\": " #bytes "}"                                \
	}
#define MANY(ranks, dims)                                                      \
	{                                                                      \
		ranks, "{\"type\": \"many-to-many\", \"dims\": [" dims         \
		       "], \"axis\": 1, \"bytes\": 102400}"                    \
	}

struct one_job {
	int ranks;
	const char *pattern;
};

static const struct {
	const char *name;
	struct one_job job;
} cases[] = {
        {"small", STENCIL(12288, "64,8,6,4", 9, 2097152)},
        /* For the small machine of reproduce-damselfly. */
        {"small-stencil", STENCIL(138240, "10,48,6,48", 9, 2097152)},
        {"small-many", MANY(135168, "22,128,48")},
        {"small-spread", SPREAD(138240)},
        {"umesh", UMESH(8847360)},
        {"stencil", STENCIL(8847360, "80,48,48,48", 9, 2097152)},
        {"many", MANY(8847360, "180,128,384")},
        {"spread", SPREAD(8847360)},
        /* A third of its messages, each of thrice the bytes. */
        {"spread-third",
         {8847360, "{\"type\": \"spread\", \"ranks\": 8847360, "
                   "\"degree\": [2, 7], \"bytes\": 1514610}"}},
};

#define CASES (sizeof(cases) / sizeof(*cases))

static double now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

struct bench {
	const struct cpl_network *net;
	const struct cpl_placement_policy *policy;
	unsigned char *free;
	int threads;
	bool json;
	const struct cpl_routing *routing;
	int n_jobs;
	struct cpl_flows pairs[MAX_JOBS];
	struct cpl_adaptive_job job[MAX_JOBS];
};

/* Place a job and find what its routers send each other. */
static int add_job(struct bench *b, const struct cpl_signature *sig,
                   const struct cpl_routing *routing, struct cpl_error *err)
{
	struct cpl_placement_request req = {
	        .net = b->net, .free = b->free, .seed = 1};
	struct cpl_rows *rows = cpl_rows_new(sig, NULL, err);
	int *node = NULL, rc = -1;

	if (!rows)
		return -1;
	req.n_nodes_wanted = (rows->ranks - 1) / PER_NODE + 1;
	node = malloc((size_t)req.n_nodes_wanted * sizeof(*node));
	if (!node || b->policy->place(&req, node, err))
		goto out;
	for (int i = 0; i < req.n_nodes_wanted; i++)
		b->free[node[i]] = 0;
	rc = cpl_stream_add(
	        b->net, &(struct cpl_stream){rows, node, PER_NODE, b->threads},
	        0, NULL, NULL, NULL, &b->pairs[b->n_jobs], err);
	if (rc)
		goto out;
	b->job[b->n_jobs] = (struct cpl_adaptive_job){
	        &b->pairs[b->n_jobs], routing, {0, 0}};
	b->n_jobs++;
out:
	free(node);
	cpl_rows_free(rows);
	return rc;
}

static int add_case(struct bench *b, const char *name,
                    const struct cpl_routing *routing, struct cpl_error *err)
{
	struct cpl_signature *sig;
	char text[1024];
	size_t c = 0;
	int rc;

	while (c < CASES && strcmp(cases[c].name, name))
		c++;
	if (c == CASES)
		return cpl_fail(err, "no case %s", name);
	snprintf(text, sizeof(text),
	         "{\"format\": \"commplace-signature\", \"version\": 1, "
	         "\"name\": \"job\", \"ranks\": %d, \"phases\": [{\"name\": "
	         "\"all\", \"pattern\": %s}]}",
	         cases[c].job.ranks, cases[c].job.pattern);
	sig = cpl_signature_parse(text, strlen(text), "job", err);
	rc = sig ? add_job(b, sig, routing, err) : -1;
	cpl_signature_free(sig);
	return rc;
}

/* The signature of a file with, after "=", a routing of its own; cuts the text. */
static int add_file(struct bench *b, char *file,
                    const struct cpl_routing *routing, struct cpl_error *err)
{
	char *own = strchr(file, '=');
	struct cpl_signature *sig;
	int rc;

	if (b->n_jobs == MAX_JOBS)
		return cpl_fail(err, "more than %d jobs", MAX_JOBS);
	if (own) {
		*own = '\0';
		routing = cpl_routing_find(b->net, own + 1, err);
		if (!routing)
			return -1;
		if (!cpl_routing_is_adaptive(routing))
			return cpl_fail(err, "%s: not adaptive", own + 1);
	}
	sig = cpl_signature_load(file, err);
	rc = sig ? add_job(b, sig, routing, err) : -1;
	cpl_signature_free(sig);
	return rc;
}

static int add_jobs(struct bench *b, char *jobs,
                    const struct cpl_routing *routing, struct cpl_error *err)
{
	char *rest = jobs;

	if (!strchr(jobs, '/'))
		return add_case(b, jobs, routing, err);
	while (rest)
		if (add_file(b, strsep(&rest, ","), routing, err))
			return -1;
	return 0;
}

static int print_class(bool json, const char *name, const double *load,
                       int64_t n, struct cpl_error *err)
{
	struct cpl_class_stats stats;

	if (cpl_class_stats(load, n, &stats, err))
		return -1;
	if (json)
		printf("\"%s\": {\"count\": %lld, \"used\": %lld, \"min\": "
		       "%.17g, \"q1\": %.17g, \"median\": %.17g, \"mean\": "
		       "%.17g, \"q3\": %.17g, \"max\": %.17g}",
		       name, (long long)stats.count, (long long)stats.used,
		       stats.min, stats.q1, stats.median, stats.mean, stats.q3,
		       stats.max);
	else
		printf("  %-8s used %8lld  min %.5g  q1 %.5g  median %.5g  "
		       "mean %.5g  q3 %.5g  max %.5g MB\n",
		       name, (long long)stats.used, stats.min / 1e6,
		       stats.q1 / 1e6, stats.median / 1e6, stats.mean / 1e6,
		       stats.q3 / 1e6, stats.max / 1e6);
	return 0;
}

static int print_classes(const struct bench *b, const double *load,
                         struct cpl_error *err)
{
	const struct cpl_network *net = b->net;

	if (b->json)
		printf("{\"rows\": [{\"placement\": \"%s\", \"routing\": "
		       "\"%s\", \"links\": {",
		       b->policy->name, b->routing->name);
	if (print_class(b->json, "all", load, net->n_links, err))
		return -1;
	for (int c = 0; c < net->n_classes; c++) {
		const struct cpl_link_class *class = &net->link_class[c];

		if (b->json)
			printf(", ");
		if (print_class(b->json, class->name, load + class->first,
		                class->count, err))
			return -1;
	}
	if (b->json)
		printf("}}]}\n");
	return 0;
}

static int solve(struct bench *b, const int *number, struct cpl_error *err)
{
	const struct cpl_network *net = b->net;
	struct cpl_adaptive a = {.net = net,
	                         .job = b->job,
	                         .n_jobs = b->n_jobs,
	                         .threads = b->threads,
	                         .iterations = number[0],
	                         .turns = number[1],
	                 .piece = number[2]};
	double wall, cpu, hop_bytes = 0, best[2] = {1e30, 1e30};
	double *load = calloc((size_t)net->n_links + 1, sizeof(*load));
	struct rusage usage;
	int64_t pairs = 0;
	struct cpl_adaptive_memory memory = {0};
	int rc = -1;

	if (!load)
		return cpl_fail_memory(err);
	a.load = load;
	for (int i = 0; i < b->n_jobs; i++)
		pairs += b->pairs[i].n_from
		                 ? b->pairs[i].row[b->pairs[i].n_from]
		                 : 0;
	/* As decisions do, which evaluate often. */
	if (b->n_jobs == 1 && pairs < MAX_SMALL && !number[0])
		a.memory = &memory;
	/* Short ones again: the first time touches the memory. */
	for (int i = 0; i < 5; i++) {
		memset(load, 0, (size_t)net->n_links * sizeof(*load));
		wall = now(CLOCK_MONOTONIC);
		cpu = now(CLOCK_PROCESS_CPUTIME_ID);
		if (cpl_adaptive_solve(&a, err))
			goto out;
		cpu = now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
		wall = now(CLOCK_MONOTONIC) - wall;
		best[0] = cpu < best[0] ? cpu : best[0];
		best[1] = wall < best[1] ? wall : best[1];
		if (cpu > 0.5)
			break;
	}
	for (int i = 0; i < b->n_jobs; i++)
		hop_bytes += b->job[i].routed.hop_bytes;
	getrusage(RUSAGE_SELF, &usage);
	fprintf(b->json ? stderr : stdout,
	        "%lld pairs, %d iterations, %d threads: %.2f ms CPU, %.2f ms "
	        "wall; largest memory %.0f MB; hop-bytes %.6g\n",
	       (long long)pairs, a.iterations_taken, b->threads, 1e3 * best[0],
	       1e3 * best[1], (double)usage.ru_maxrss / 1024, hop_bytes);
	rc = print_classes(b, load, err);
out:
	free(memory.block);
	free(load);
	return rc;
}

int main(int argc, char **argv)
{
	struct cpl_error err = {
	        "usage: bench_adaptive [--json] NETWORK.json JOBS POLICY ROUTING"
	        " [THREADS [ITERATIONS [TURNS [PIECE]]]]"};
	bool json = argc > 1 && !strcmp(argv[1], "--json");
	struct cpl_network *net;
	struct bench b = {.json = json};
	double start = now(CLOCK_MONOTONIC);
	int rc = -1, number[3] = {0};

	argv += json;
	argc -= json;
	net = argc > 4 ? cpl_network_load(argv[1], &err) : NULL;
	if (!net)
		goto out;
	b.net = net;
	b.threads = argc > 5 ? atoi(argv[5]) : 1;
	b.routing = cpl_routing_find(net, argv[4], &err);
	b.policy = cpl_placement_find(net->type, argv[3], &err);
	b.free = malloc((size_t)net->n_nodes);
	if (!b.routing || !cpl_routing_is_adaptive(b.routing) || !b.policy ||
	    !b.free)
		goto out;
	for (int i = 0; i < net->n_nodes; i++)
		b.free[i] = net->node_name[i] != NULL;
	if (add_jobs(&b, argv[2], b.routing, &err))
		goto out;
	fprintf(json ? stderr : stdout, "%s %s %s on %s; pairs found in %.1f s\n",
	        argv[2], argv[3], argv[4], net->name,
	        now(CLOCK_MONOTONIC) - start);
	fflush(stdout);
	for (int i = 0; i < 3 && argc > 6 + i; i++)
		number[i] = atoi(argv[6 + i]);
	rc = solve(&b, number, &err);
out:
	if (rc)
		fprintf(stderr, "bench_adaptive: %s\n", err.text);
	for (int i = 0; i < b.n_jobs; i++)
		cpl_flows_free(&b.pairs[i]);
	free(b.free);
	cpl_network_free(net);
	return rc != 0;
}
