/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The experiments of Jain 2016, 3.2.4 (Damselfly) at their size: four patterns
 * of 8,847,360 ranks under six placements on 92,160 routers, static-direct and
 * static-indirect from one walk over the messages; how the time grows with
 * messages, routers and threads; and that of adaptive-direct and
 * adaptive-hybrid with routers and threads, for the stencil on smaller
 * machines. Usage: bench_scale [-t THREADS] [cases] [messages] [routers]
 * [threads] [adaptive]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/parallel.h"
#include "placement/placement.h"
#include "traffic/workload.h"

#define GROUPS 960
#define PER_NODE 24
#define RANKS_PER_GROUP (384 * PER_NODE)

static const char *const placements[] = {"RDN", "RDR", "RDC",
                                         "RDG", "RRN", "RRR"};

enum { UMESH, STENCIL, MANY, SPREAD, N_PATTERNS };
static const char *const names[] = {"UMesh", "4-D stencil", "many-to-many",
                                    "Spread"};
/* Processor cores times minutes of the thesis, 3.2.3: static-direct; static-
 * indirect, which it gives for light patterns such as a stencil and for heavy
 * ones such as many-to-many. */
static const char *const thesis[] = {"512 x 5; 2,048 x 30 to 8,192 x 120",
                                     "512 x 5; 2,048 x 30",
                                     "512 x 5; 4,096 to 8,192 x up to 120",
                                     "512 x 5; 2,048 x 30 to 8,192 x 120"};

static double seconds(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static struct cpl_network *machine(int groups, int k_links,
                                   struct cpl_error *err)
{
	char text[512];
	int n = snprintf(text, sizeof(text),
	                 "{\"format\":\"commplace-network\",\"version\":1,"
	                 "\"name\":\"cascade-%d\",\"type\":\"dragonfly\","
	                 "\"groups\":%d,\"rows\":6,\"columns\":16,"
	                 "\"nodes_per_router\":4,"
	                 "\"global_links_per_group_pair\":%d,"
	                 "\"nodes\":\"n[0-%d]\"}",
	                 groups, groups, k_links, groups * 384 - 1);

	return cpl_network_parse(text, (size_t)n, "machine", err);
}

/* Degrees are those of Spread. Groups are a multiple of 48. */
static struct cpl_signature *signature(int pattern, int groups, int fewest,
                                       int most, struct cpl_error *err)
{
	int ranks = groups * RANKS_PER_GROUP, n;
	char body[256], text[512];

	if (pattern == UMESH)
		snprintf(body, sizeof(body),
		         "\"umesh\",\"ranks\":%d,\"range\":30,"
		         "\"degree\":[6,20],\"bytes\":524288",
		         ranks);
	else if (pattern == STENCIL)
		snprintf(body, sizeof(body),
		         "\"stencil\",\"dims\":[%d,48,48,48],\"points\":9,"
		         "\"periodic\":true,\"bytes\":2097152",
		         groups / 12);
	else if (pattern == MANY)
		snprintf(body, sizeof(body),
		         "\"many-to-many\",\"dims\":[%d,128,384],\"axis\":1,"
		         "\"bytes\":102400",
		         groups / 16 * 3);
	else
		snprintf(body, sizeof(body),
		         "\"spread\",\"ranks\":%d,\"degree\":[%d,%d],"
		         "\"bytes\":524288",
		         ranks, fewest, most);
	n = snprintf(text, sizeof(text),
	             "{\"format\":\"commplace-signature\",\"version\":1,"
	             "\"ranks\":%d,\"phases\":[{\"pattern\":{\"type\":%s}}]}",
	             ranks, body);
	return cpl_signature_parse(text, (size_t)n, "job", err);
}

static const struct cpl_routing *const both[] = {&cpl_routing_static_direct,
                                                 &cpl_routing_static_indirect};

struct bench {
	int threads, k_links;
	int n; /* routings */
	const struct cpl_routing *const *routing;
	const char *policy;
	struct cpl_network *net;
	unsigned char *free;
	int *node;
	struct cpl_workload *workload[2];
	struct cpl_metrics metrics[2];
	double wall, cpu;
};

static int bench_open(struct bench *b, int groups, struct cpl_error *err)
{
	b->net = machine(groups, b->k_links, err);
	if (!b->net)
		return -1;
	for (int i = 0; i < 2; i++) {
		b->workload[i] = cpl_workload_new(b->net, b->threads, err);
		if (!b->workload[i])
			return -1;
	}
	b->free = malloc((size_t)b->net->n_nodes);
	b->node = malloc((size_t)b->net->n_nodes * sizeof(*b->node));
	if (!b->free || !b->node)
		return cpl_fail_memory(err);
	memset(b->free, 1, (size_t)b->net->n_nodes);
	return 0;
}

static void bench_close(struct bench *b)
{
	for (int i = 0; i < 2; i++) {
		cpl_workload_free(b->workload[i]);
		b->workload[i] = NULL;
	}
	cpl_network_free(b->net);
	free(b->free);
	free(b->node);
	b->net = NULL;
	b->free = NULL;
	b->node = NULL;
}

/* One placement, all routings; placing counts too. */
static int evaluate(struct bench *b, const struct cpl_signature *sig,
                    struct cpl_error *err)
{
	const struct cpl_placement_policy *p =
	        cpl_placement_find(b->net->type, b->policy, err);
	struct cpl_placement_request req = {.net = b->net,
	                                    .free = b->free,
	                                    .n_nodes_wanted =
	                                            sig->ranks / PER_NODE,
	                                    .seed = 1};
	struct cpl_rows *rows = cpl_rows_new(sig, NULL, err);
	struct cpl_job job = {
	        .rows = rows, .node = b->node, .ranks_per_node = PER_NODE};
	int rc = -1;

	b->wall = -seconds(CLOCK_MONOTONIC);
	b->cpu = -seconds(CLOCK_PROCESS_CPUTIME_ID);
	cpl_workload_clear(b->workload[0], NULL);
	cpl_workload_clear(b->workload[1], NULL);
	if (!rows || !p || p->place(&req, b->node, err) ||
	    cpl_workload_add_each(b->workload, b->routing, b->n, &job, err))
		goto out;
	for (int i = 0; i < b->n; i++)
		cpl_traffic_metrics(b->net, cpl_workload_load(b->workload[i]),
		                    NULL, &b->metrics[i]);
	rc = 0;
out:
	b->wall += seconds(CLOCK_MONOTONIC);
	b->cpu += seconds(CLOCK_PROCESS_CPUTIME_ID);
	cpl_rows_free(rows);
	return rc;
}

static int cases(struct bench *b, struct cpl_error *err)
{
	double wall = 0, cpu = 0, start = seconds(CLOCK_MONOTONIC);
	struct rusage usage;
	int rc = -1;

	if (bench_open(b, GROUPS, err))
		goto out;
	printf("%d routers, %d nodes, %lld links; network made in %.2f s\n",
	       b->net->n_routers, b->net->n_nodes, (long long)b->net->n_links,
	       seconds(CLOCK_MONOTONIC) - start);
	printf("%-13s %-4s %8s %8s %12s %12s  %s\n", "pattern", "", "wall s",
	       "CPU s", "SD max MiB", "SI max MiB",
	       "thesis, SD; SI: cores x minutes");
	for (int k = 0; k < N_PATTERNS; k++) {
		struct cpl_signature *sig = signature(k, GROUPS, 6, 20, err);

		for (int i = 0; i < 6; i++) {
			b->policy = placements[i];
			if (!sig || evaluate(b, sig, err)) {
				cpl_signature_free(sig);
				goto out;
			}
			printf("%-13s %-4s %8.2f %8.2f %12.1f %12.1f  %s\n",
			       names[k], placements[i], b->wall, b->cpu,
			       b->metrics[0].max_congestion / 1048576,
			       b->metrics[1].max_congestion / 1048576,
			       thesis[k]);
			fflush(stdout);
			wall += b->wall;
			cpu += b->cpu;
		}
		cpl_signature_free(sig);
	}
	getrusage(RUSAGE_SELF, &usage);
	printf("all 24, both routings: %.1f s wall, %.1f s CPU, %d threads, "
	       "peak memory %ld MB\n",
	       wall, cpu, b->threads, usage.ru_maxrss / 1024);
	rc = 0;
out:
	b->policy = "RDN";
	bench_close(b);
	return rc;
}

static int line(struct bench *b, int pattern, int groups, int degree,
                const char *what, struct cpl_error *err)
{
	struct cpl_signature *sig =
	        signature(pattern, groups, degree, degree, err);
	int rc = sig ? evaluate(b, sig, err) : -1;
	char name[64];

	cpl_signature_free(sig);
	if (rc)
		return rc;
	snprintf(name, sizeof(name), "%s%s%s", names[pattern],
	         b->n == 1 ? " " : "",
	         b->n == 1 ? b->routing[0]->short_name : "");
	printf("%-16s %-16s %8.2f %8.2f\n", name, what, b->wall, b->cpu);
	fflush(stdout);
	return 0;
}

static void head(const char *what, const char *against)
{
	printf("\n%s, against %s\n%-16s %-16s %8s %8s\n", what, against,
	       "pattern", "", "wall s", "CPU s");
}

static int messages(struct bench *b, struct cpl_error *err)
{
	int rc = bench_open(b, GROUPS, err);

	head("RDN, SD+SI", "messages");
	for (int degree = 1; degree <= 32 && !rc; degree *= 2) {
		char what[32];

		snprintf(what, sizeof(what), "%.1f million",
		         1e-6 * degree * GROUPS * RANKS_PER_GROUP);
		rc = line(b, SPREAD, GROUPS, degree, what, err);
	}
	bench_close(b);
	return rc;
}

static int routers(struct bench *b, struct cpl_error *err)
{
	static const int groups[] = {48, 96, 240, 480, 960};
	int rc = 0;

	head("RDN, SD+SI", "routers");
	for (int i = 0; i < 5 && !rc; i++) {
		char what[32];

		snprintf(what, sizeof(what), "%d", groups[i] * 96);
		rc = bench_open(b, groups[i], err);
		for (int k = 0; k < N_PATTERNS && !rc; k++)
			rc = line(b, k, groups[i], 13, what, err);
		bench_close(b);
	}
	return rc;
}

static int threads(struct bench *b, struct cpl_error *err)
{
	int most = b->threads, rc = bench_open(b, GROUPS, err);

	head("RDN, SD+SI", "threads");
	for (int k = 0; k < N_PATTERNS && !rc; k++)
		for (b->threads = 1; b->threads <= most && !rc;
		     b->threads *= 2) {
			char what[32];

			snprintf(what, sizeof(what), "%d", b->threads);
			rc = line(b, k, GROUPS, 13, what, err);
		}
	b->threads = most;
	bench_close(b);
	return rc;
}

static int by_routers(struct bench *b, struct cpl_error *err)
{
	static const int groups[] = {48, 96, 240, 480};
	int rc = 0;

	for (int i = 0; i < 4 && !rc; i++) {
		char what[32];

		snprintf(what, sizeof(what), "%d", groups[i] * 96);
		rc = bench_open(b, groups[i], err);
		if (!rc)
			rc = line(b, STENCIL, groups[i], 0, what, err);
		bench_close(b);
	}
	return rc;
}

static int by_threads(struct bench *b, struct cpl_error *err)
{
	int most = b->threads, rc = bench_open(b, 240, err);

	for (b->threads = 1; b->threads <= most && !rc; b->threads *= 2) {
		char what[32];

		snprintf(what, sizeof(what), "%d", b->threads);
		rc = line(b, STENCIL, 240, 0, what, err);
	}
	b->threads = most;
	bench_close(b);
	return rc;
}

static int adaptive(struct bench *b, struct cpl_error *err)
{
	static const struct cpl_routing *const routing[] = {
	        &cpl_routing_adaptive_direct, &cpl_routing_adaptive_hybrid};
	int rc = 0;

	b->n = 1;
	b->policy = "RDR";
	head("RDR", "routers");
	for (int i = 0; i < 2 && !rc; i++) {
		b->routing = &routing[i];
		rc = by_routers(b, err);
	}
	head("RDR, 23,040 routers", "threads");
	for (int i = 0; i < 2 && !rc; i++) {
		b->routing = &routing[i];
		rc = by_threads(b, err);
	}
	return rc;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(struct bench *b, struct cpl_error *err);
	} part[] = {{"cases", cases},
	            {"messages", messages},
	            {"routers", routers},
	            {"threads", threads},
	            {"adaptive", adaptive}};
	struct bench b = {.threads = cpl_parallel_cpus(),
	                  .k_links = 1,
	                  .n = 2,
	                  .routing = both,
	                  .policy = "RDN"};
	struct cpl_error err = {""};
	int c, rc = 0;

	while ((c = getopt(argc, argv, "t:k:")) == 't' || c == 'k')
		*(c == 't' ? &b.threads : &b.k_links) = atoi(optarg);
	if (c != -1 || b.threads < 1 || b.k_links < 1) {
		fprintf(stderr, "usage: bench_scale [-t THREADS] [-k K] "
		                "[cases] [messages] [routers] [threads] "
		                "[adaptive]\n");
		return 2;
	}
	for (size_t i = 0; i < sizeof(part) / sizeof(*part) && !rc; i++) {
		bool wanted = optind == argc;

		for (int k = optind; k < argc; k++)
			wanted = wanted || !strcmp(argv[k], part[i].name);
		if (wanted)
			rc = part[i].run(&b, &err);
	}
	if (rc)
		fprintf(stderr, "bench_scale: %s\n", err.text);
	return rc != 0;
}
