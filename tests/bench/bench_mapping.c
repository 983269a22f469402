/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mappers on problems of known structure, hop-bytes and largest link load
 * against the default order, and against Scotch's gmap and KaHIP's global_multisection
 * where they are there. Seconds are those of processors.
 *
 * bench_mapping [-a ALGORITHM] [-o OBJECTIVE] [-w WORK] [-d SECONDS | -s]
 *               [-t THREADS] [-g GMAP] [-k KAHIP] [-c CASE] [-m FOLDER]
 *
 * GMAP is the program (scotch_gmap); the temporary files go to TMPDIR or /tmp.
 * KAHIP is the folder of global_multisection, which is for the cases on trees.
 * -s: each case has the time that gmap took, of its strategies the longest; with -k the
 * time of the one that has least hop-bytes.
 * FOLDER holds measured matrices "APP_64.KIND.mat" (lines "src dst bytes") and
 * placements "APP_64.KIND.METHOD.map" on a 4 x 4 x 4 torus (line i: the node
 * of rank i): best is compared with the best of the placements.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "traffic/workload.h"
#include "mapping_bench.h"

/* Time is that of the processors, since others run on them too: this stands before
 * the C library's, so that the mappers' own clock is of it as well. */
int clock_gettime(clockid_t clock, struct timespec *t)
{
	return (int)syscall(SYS_clock_gettime,
	                    clock == CLOCK_MONOTONIC ? CLOCK_PROCESS_CPUTIME_ID
	                                             : clock,
	                    t);
}

double bench_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool past(void *arg)
{
	return bench_now() > *(const double *)arg;
}

void bench_evaluate(const struct cpl_map_request *req, const int *rank_host,
                    struct figures *out)
{
	struct cpl_workload *w = cpl_workload_new(req->net, 1, NULL);
	struct cpl_job job = {.routing = req->routing,
	                      .comm = req->comm,
	                      .node = req->host,
	                      .rank_host = rank_host};
	struct cpl_metrics metrics = {0};
	struct cpl_job_sums sums = {0};

	if (w)
		cpl_workload_evaluate(w, &job, NULL, &metrics, &sums, NULL);
	out->hop_bytes = sums.hop_bytes;
	out->max = metrics.max_congestion;
	cpl_workload_free(w);
}

bool bench_mapper(const struct options *o, struct cpl_map_request *req,
                  const char *algorithm, struct figures *out)
{
	struct cpl_error err = {""};
	const struct cpl_mapper *mapper = cpl_mapper_find(algorithm, &err);
	double start = bench_now(), end = start + o->deadline;
	struct cpl_map_result result;

	req->expired = o->deadline > 0 ? past : NULL;
	req->expired_arg = &end;
	req->seconds = o->deadline;
	req->threads = o->threads;
	req->work = o->work;
	if (!mapper || cpl_map(mapper, req, &result, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return false;
	}
	out->seconds = bench_now() - start;
	out->hop_bytes = result.sums_after.hop_bytes;
	out->max = result.after.max_congestion;
	cpl_map_result_free(&result);
	return true;
}

/* Logarithms of the ratios to gmap and to the default order. */
struct sums {
	double gmap[2], linear[2], worst[2];
	int n_gmap, n;
};

static void count(struct sums *sums, const struct figures *best,
                  const struct figures *linear, const struct figures *gmap)
{
	double ratio[2];

	/* Of nothing there is no logarithm. */
	if (!(best->hop_bytes > 0))
		return;
	sums->linear[0] += log(best->hop_bytes / linear->hop_bytes);
	sums->linear[1] += log(best->max / linear->max);
	sums->n++;
	if (!gmap)
		return;
	ratio[0] = best->hop_bytes / gmap->hop_bytes;
	ratio[1] = best->max / gmap->max;
	for (int i = 0; i < 2; i++) {
		sums->gmap[i] += log(ratio[i]);
		if (ratio[i] > sums->worst[i])
			sums->worst[i] = ratio[i];
	}
	sums->n_gmap++;
}

static int run_request(const struct options *o, struct cpl_map_request *req,
                       struct sums *sums)
{
	struct figures linear = {0}, best = {0}, gmap = {0};
	struct options quick = *o, timed = *o;
	bool any = bench_peers(o, req, &gmap);

	quick.deadline = 0;
	if (o->scotch_time) {
		timed.deadline = gmap.seconds;
		timed.work = INT64_MAX;
		if (!any)
			return 0;
	}
	if (!bench_mapper(&quick, req, "linear", &linear) ||
	    !bench_mapper(&timed, req, o->algorithm, &best))
		return -1;
	printf(" %8.3f %7.0f %9.3f %7.0f %6.2f", linear.hop_bytes / 1e6,
	       linear.max / 1e3, best.hop_bytes / 1e6, best.max / 1e3,
	       best.seconds);
	if (any)
		printf(" %9.3f %7.0f %6.2f  %5.3f %5.3f", gmap.hop_bytes / 1e6,
		       gmap.max / 1e3, gmap.seconds,
		       best.hop_bytes / gmap.hop_bytes, best.max / gmap.max);
	count(sums, &best, &linear, any ? &gmap : NULL);
	return 0;
}

static int run_problem(const struct options *o, const struct problem *p,
                       struct sums *sums)
{
	int n_hosts = p->ranks / p->per_node, rc = -1;
	int *host = malloc((size_t)n_hosts * sizeof(*host));
	int *slots = malloc((size_t)n_hosts * sizeof(*slots));
	struct cpl_error err = {""};
	struct cpl_network *net = bench_network(p->network, n_hosts, &err);
	struct cpl_comm *comm = NULL, *graph = NULL;
	struct cpl_map_request req;

	bench_clear(p->ranks, p->shuffled);
	p->pattern(p->ranks);
	comm = bench_comm(p->ranks, &err);
	if (comm)
		graph = cpl_comm_symmetric(comm, &err);
	if (!net || !host || !slots || !graph)
		goto out;
	bench_hosts(p, net->n_nodes, host, n_hosts);
	for (int h = 0; h < n_hosts; h++)
		slots[h] = p->per_node;
	req = (struct cpl_map_request){
	        .net = net,
	        .routing = cpl_routing_find(net, NULL, &err),
	        .comm = comm,
	        .graph = graph,
	        .n_hosts = n_hosts,
	        .host = host,
	        .slots = slots,
	        .objective = o->objective,
	        .seed = 1,
	        .work = o->work,
	};
	printf("%-17s %-9s %5d", p->text, p->network, p->ranks);
	rc = run_request(o, &req, sums);
	printf("\n");
	fflush(stdout);
out:
	if (rc)
		fprintf(stderr, "%s: %s\n", p->text, err.text);
	cpl_comm_free(comm);
	cpl_comm_free(graph);
	cpl_network_free(net);
	free(host);
	free(slots);
	return rc;
}

static int run_all(const struct options *o)
{
	struct sums sums = {0};
	int rc = 0;

	printf("%-17s %-9s %5s %16s %24s %24s  %s\n", "hop-bytes/1e6 max/1e3",
	       "network", "ranks", "linear", o->algorithm, "gmap",
	       "ratio to gmap");
	for (int i = 0; i < bench_n_problems; i++)
		if (o->only < 0 || o->only == i)
			rc |= run_problem(o, &bench_problem[i], &sums);
	if (sums.n)
		printf("to linear, geometric means: hop-bytes %.3f max %.3f\n",
		       exp(sums.linear[0] / sums.n),
		       exp(sums.linear[1] / sums.n));
	if (sums.n_gmap)
		printf("to gmap, geometric means of %d: hop-bytes %.3f max "
		       "%.3f; largest %.3f and %.3f\n",
		       sums.n_gmap, exp(sums.gmap[0] / sums.n_gmap),
		       exp(sums.gmap[1] / sums.n_gmap), sums.worst[0],
		       sums.worst[1]);
	return rc != 0;
}

int main(int argc, char **argv)
{
	struct options o = {.algorithm = "best", .only = -1};
	int c, rc;

	while ((c = getopt(argc, argv, "a:w:d:g:k:c:m:o:t:s")) != -1) {
		if (c == 'a')
			o.algorithm = optarg;
		else if (c == 'w')
			o.work = atoll(optarg);
		else if (c == 'd')
			o.deadline = atof(optarg);
		else if (c == 'g')
			o.gmap = optarg;
		else if (c == 'k')
			o.kahip = optarg;
		else if (c == 's')
			o.scotch_time = true;
		else if (c == 't')
			o.threads = atoi(optarg);
		else if (c == 'c')
			o.only = atoi(optarg);
		else if (c == 'o' &&
		         !cpl_objective_parse(optarg, &o.objective, NULL))
			continue;
		else if (c == 'm')
			o.folder = optarg;
		else
			return 2;
	}
	if (!bench_init())
		return 1;
	if (o.deadline > 0 && !o.work)
		o.work = INT64_MAX;
	rc = o.folder ? bench_folder(&o) : run_all(&o);
	bench_free();
	return rc;
}
