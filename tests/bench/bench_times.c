/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Time of the mappers, CPU seconds of one thread:
 *
 * bench_times          the sizes that their papers have
 * bench_times stages   ptram by stage on the GPC fat tree: largest congestion
 *                      of the default order, of groups of ranks on the nodes
 *                      in order, after the heuristic, after the refinement
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mapping/ptram.h"
#include "signature/signature.h"
#include "traffic/workload.h"

#define GPC_HOSTS 512

static double cpu(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

struct job {
	struct cpl_network *net;
	struct cpl_comm *comm, *graph;
	int *host, *slots, *rank_host;
	struct cpl_map_request req;
};

static void free_job(struct job *job)
{
	cpl_comm_free(job->comm);
	cpl_comm_free(job->graph);
	cpl_network_free(job->net);
	free(job->host);
	free(job->slots);
	free(job->rank_host);
}

static struct cpl_comm *make_comm(const char *pattern, int ranks,
                                  struct cpl_error *err)
{
	struct cpl_signature *sig;
	struct cpl_comm *comm;
	char text[512];

	snprintf(text, sizeof(text),
	         "{\"format\":\"commplace-signature\",\"version\":1,"
	         "\"name\":\"x\",\"ranks\":%d,\"phases\":[{\"name\":\"p\","
	         "\"weight\":1,\"pattern\":{%s,\"bytes\":1000}}]}",
	         ranks, pattern);
	sig = cpl_signature_parse(text, strlen(text), "bench", err);
	comm = sig ? cpl_signature_total(sig, err) : NULL;
	cpl_signature_free(sig);
	return comm;
}

/* Hosts are nodes 0 .. n_hosts - 1. */
static int make_job(struct job *job, const char *network, const char *pattern,
                    int ranks, int n_hosts, struct cpl_error *err)
{
	size_t hosts = (size_t)n_hosts;

	*job = (struct job){0};
	job->net = cpl_network_parse(network, strlen(network), "bench", err);
	if (!job->net)
		return -1;
	job->comm = make_comm(pattern, ranks, err);
	job->graph = job->comm ? cpl_comm_symmetric(job->comm, err) : NULL;
	job->host = malloc(hosts * sizeof(int));
	job->slots = malloc(hosts * sizeof(int));
	job->rank_host = malloc((size_t)ranks * sizeof(int));
	if (!job->graph || !job->host || !job->slots || !job->rank_host) {
		free_job(job);
		return -1;
	}
	for (int h = 0; h < n_hosts; h++) {
		job->host[h] = h;
		job->slots[h] = ranks / n_hosts;
	}
	job->req = (struct cpl_map_request){
	        .net = job->net,
	        .routing = cpl_routing_find(job->net, NULL, err),
	        .comm = job->comm,
	        .graph = job->graph,
	        .n_hosts = n_hosts,
	        .host = job->host,
	        .slots = job->slots,
	        .seed = 1,
	        .threads = 1,
	};
	return job->req.routing ? 0 : -1;
}

static double largest(const struct job *job, struct cpl_error *err)
{
	const struct cpl_map_request *r = &job->req;
	struct cpl_workload *w = cpl_workload_new(r->net, 1, err);
	struct cpl_job seated = {.routing = r->routing,
	                         .comm = r->comm,
	                         .node = r->host,
	                         .rank_host = job->rank_host};
	struct cpl_metrics metrics = {0};

	if (w)
		cpl_workload_evaluate(w, &seated, NULL, &metrics, NULL, err);
	cpl_workload_free(w);
	return metrics.max_congestion;
}

/* The fat tree of PTRAM's evaluation, every node with a cable of its own, and
 * 512 nodes of 17 leaf switches in no order. */
static int make_gpc(struct job *job, const char *pattern, struct cpl_error *err)
{
	static const char network[] =
	        "{\"format\":\"commplace-network\",\"version\":1,"
	        "\"type\":\"fattree\",\"nodes_per_router\":1,\"leaves\":3090,"
	        "\"levels\":[{\"down\":30,\"up\":1,\"links\":1},"
	        "{\"down\":6,\"up\":2,\"links\":3},"
	        "{\"down\":18,\"up\":9,\"links\":2}],"
	        "\"routing\":\"dmodk\",\"nodes\":\"n[0-3089]\"}";
	uint64_t x = 1;

	if (make_job(job, network, pattern, 8 * GPC_HOSTS, GPC_HOSTS, err))
		return -1;
	for (int i = GPC_HOSTS - 1; i > 0; i--) {
		int k, host = job->host[i];

		x = (x * 1103515245 + 12345) % 2147483648U;
		k = (int)(x / 65536) % (i + 1);
		job->host[i] = job->host[k];
		job->host[k] = host;
	}
	return 0;
}

/* Seconds of the three stages, and what each leaves. */
struct stages {
	double seconds[3], congestion[4];
	int swaps;
};

static void take(struct job *job, struct cpl_clusters *clusters,
                 const int *target_of)
{
	for (int r = 0; r < job->comm->ranks; r++)
		job->rank_host[r] =
		        clusters->target_host
		                [target_of[clusters->cluster_of[r]]];
}

static int run_ptram(struct job *job, struct stages *out, struct cpl_error *err)
{
	struct cpl_clusters clusters;
	int *target_of = malloc(GPC_HOSTS * sizeof(*target_of)), rc = -1;
	double start = cpu();

	if (!target_of)
		return -1;
	if (cpl_clusters_init(&clusters, &job->req, err)) {
		free(target_of);
		return -1;
	}
	out->seconds[0] = cpu() - start;
	cpl_mapper_map(&cpl_mapper_linear, &job->req, job->rank_host, err);
	out->congestion[0] = largest(job, err);
	for (int i = 0; i < clusters.n; i++)
		target_of[i] = i;
	take(job, &clusters, target_of);
	out->congestion[1] = largest(job, err);
	for (int i = 0; i < clusters.n; i++)
		target_of[i] = -1;
	start = cpu();
	if (cpl_ptram_assign(&clusters, target_of, err))
		goto out;
	out->seconds[1] = cpu() - start;
	take(job, &clusters, target_of);
	out->congestion[2] = largest(job, err);
	start = cpu();
	out->swaps = cpl_ptram_refine(&clusters, target_of, CPL_PTRAM_SWAPS,
	                              true, err);
	if (out->swaps < 0)
		goto out;
	out->seconds[2] = cpu() - start;
	take(job, &clusters, target_of);
	out->congestion[3] = largest(job, err);
	rc = 0;
out:
	cpl_clusters_free(&clusters);
	free(target_of);
	return rc;
}

static const struct {
	const char *name, *pattern;
} gpc[] = {
        {"2-D 5-point", "\"type\":\"stencil\",\"dims\":[64,64],\"points\":5"},
        {"3-D 15-point",
         "\"type\":\"stencil\",\"dims\":[16,16,16],\"points\":15"},
        {"sub all-to-all",
         "\"type\":\"many-to-many\",\"dims\":[64,64],\"axis\":0"},
};

static int gpc_stages(const char *pattern, struct stages *s,
                      struct cpl_error *err)
{
	struct job job;
	int rc;

	if (make_gpc(&job, pattern, err))
		return -1;
	rc = run_ptram(&job, s, err);
	free_job(&job);
	return rc;
}

static int stages(struct cpl_error *err)
{
	for (size_t i = 0; i < sizeof(gpc) / sizeof(*gpc); i++) {
		struct stages s;

		if (gpc_stages(gpc[i].pattern, &s, err))
			return -1;
		printf("%-14s  groups in order %.2f  heuristic %.2f  "
		       "refined %.2f (%d swaps)\n",
		       gpc[i].name, s.congestion[1] / s.congestion[0],
		       s.congestion[2] / s.congestion[0],
		       s.congestion[3] / s.congestion[0], s.swaps);
	}
	return 0;
}

static int time_mapper(const char *name, const char *dims, const char *grid,
                       int ranks, struct cpl_error *err)
{
	const struct cpl_mapper *mapper = cpl_mapper_find(name, err);
	char network[400], pattern[200];
	struct job job;
	double start;
	int rc;

	snprintf(network, sizeof(network),
	         "{\"format\":\"commplace-network\",\"version\":1,"
	         "\"type\":\"torus\",\"dims\":[%s],\"nodes\":\"n[0-%d]\"}",
	         dims, ranks - 1);
	snprintf(pattern, sizeof(pattern),
	         "\"type\":\"stencil\",\"dims\":[%s],\"points\":5", grid);
	if (!mapper || make_job(&job, network, pattern, ranks, ranks, err))
		return -1;
	start = cpu();
	rc = cpl_mapper_map(mapper, &job.req, job.rank_host, err);
	printf("%-14s %6d tasks, 5-point on torus  %8.3f s\n", name, ranks,
	       cpu() - start);
	fflush(stdout);
	free_job(&job);
	return rc;
}

static int times(struct cpl_error *err)
{
	if (time_mapper("greedyallc", "16,16,16", "64,64", 4096, err) ||
	    time_mapper("topoaware-1", "16,8,8", "32,32", 1024, err))
		return -1;
	for (size_t i = 0; i < sizeof(gpc) / sizeof(*gpc); i++) {
		struct stages s;

		if (gpc_stages(gpc[i].pattern, &s, err))
			return -1;
		printf("ptram, 512 nodes, %-14s  groups %.3f s  heuristic "
		       "%.3f s  refinement %.3f s\n",
		       gpc[i].name, s.seconds[0], s.seconds[1], s.seconds[2]);
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct cpl_error err = {""};
	int rc;

	if (argc == 1)
		rc = times(&err);
	else if (argc == 2 && !strcmp(argv[1], "stages"))
		rc = stages(&err);
	else {
		fprintf(stderr, "usage: %s [stages]\n", argv[0]);
		return 2;
	}
	if (rc)
		fprintf(stderr, "bench_times: %s\n", err.text);
	return rc ? 1 : 0;
}
