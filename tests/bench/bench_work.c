/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the limit of a decision's work costs: the busiest link of traffic's
 * nodes with as much work as 20 ms have, against that without a limit, on a
 * machine half full of routers that send to random ones. Usage: bench_work
 * NETWORK.json|torus [DRAWS]; the torus has 16 x 16 x 32 nodes.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "cpu_time.h"
#include "mapping/quick.h"
#include "placement/decide.h"

#define LIMIT (20 * CPL_DECIDE_WORK_MS)

static const char torus[] =
        "{\"format\": \"commplace-network\", \"version\": 1, \"name\": \"t\", "
        "\"type\": \"torus\", \"dims\": [16, 16, 32], "
        "\"wrap\": [true, true, true], \"nodes_per_router\": 1, "
        "\"nodes\": \"n[0-8191]\"}";

/* Do ranks a and b exchange something? */
typedef bool job_fn(int a, int b);

static bool all_to_all(int a, int b)
{
	(void)a;
	(void)b;
	return true;
}

static bool rows_and_columns(int a, int b)
{
	return a / 32 == b / 32 || a % 32 == b % 32;
}

static bool random_partners(int a, int b)
{
	return cpl_random_below(77, 5, (uint64_t)a * 1024 + (uint64_t)b, 85) ==
	       0;
}

/* On a ring of 16. */
static int apart(int a, int b)
{
	int d = abs(a % 16 - b % 16);

	return d < 8 ? d : 16 - d;
}

/* 16 x 16 x 16 ranks. */
static bool halo(int a, int b)
{
	return apart(a, b) + apart(a / 16, b / 16) + apart(a / 256, b / 256) ==
	       1;
}

static const struct job {
	const char *name;
	job_fn *sends;
	int nodes, per_node;
} jobs[] = {
        {"all-to-all", all_to_all, 128, 4},
        {"all-to-all", all_to_all, 256, 4},
        {"rows and columns", rows_and_columns, 256, 4},
        {"12 random partners", random_partners, 256, 4},
        {"halo", halo, 512, 8},
};

static struct cpl_comm *traffic_of(const struct job *job, struct cpl_error *err)
{
	int ranks = job->nodes * job->per_node;
	struct cpl_comm_entry *entry = NULL;
	struct cpl_comm *comm;
	int64_t n = 0;

	for (int turn = 0; turn < 2; turn++) {
		if (turn && !(entry = malloc((size_t)n * sizeof(*entry))))
			return NULL;
		n = 0;
		for (int a = 0; a < ranks; a++)
			for (int b = 0; b < ranks; b++) {
				if (a == b || !job->sends(a, b))
					continue;
				if (turn)
					entry[n] = (struct cpl_comm_entry){
					        a, b, 65536, 1};
				n++;
			}
	}
	comm = cpl_comm_build(ranks, entry, n, err);
	free(entry);
	return comm;
}

struct sums {
	double ratio, worst, limited, unlimited; /* ms but for the first two */
	int draws;
};

static double decide(struct cpl_decide_request *req, long work, double *ms,
                     struct cpl_error *err)
{
	double start = cpu_seconds();
	struct cpl_decision d;
	struct cpl_figures f;

	req->work = work;
	if (cpl_decide(req, &d, err))
		return -1;
	*ms += 1e3 * (cpu_seconds() - start);
	cpl_candidate_figures(&d.candidate[d.chosen], &f);
	cpl_decision_free(&d);
	return f.metrics.max_congestion;
}

static int by_id(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void fill(const struct cpl_decide_request *req, uint64_t draw,
                 unsigned char *is_free, struct cpl_load *load)
{
	const struct cpl_network *net = req->place.net;

	for (int i = 0; i < net->n_nodes; i++)
		is_free[i] = cpl_random_below(3 + draw, 0, (uint64_t)(i / 16),
		                              2) != 0;
	for (int r = 0; r < net->n_routers; r++) {
		int to = (int)cpl_random_below(400 + draw, 0, (uint64_t)r,
		                               (uint64_t)net->n_routers);

		if (!is_free[r * net->nodes_per_router])
			req->routing->add(net, r, to, 2e5, load->link);
	}
}

static int one_draw(struct cpl_decide_request *req, uint64_t draw,
                    struct sums *sums, struct cpl_error *err)
{
	const struct cpl_network *net = req->place.net;
	int n = req->place.n_nodes_wanted, rc = -1;
	unsigned char *is_free = malloc((size_t)net->n_nodes);
	int *stock = malloc((size_t)n * sizeof(*stock));
	struct cpl_load load = {0};
	double without, with = -1;

	if (!is_free || !stock || cpl_load_init(&load, net, err))
		goto out;
	fill(req, draw, is_free, &load);
	req->place.free = is_free;
	req->place.seed = 1 + draw;
	req->background = &load;
	if (cpl_placement_best_fit.place(&req->place, stock, err))
		goto out;
	qsort(stock, (size_t)n, sizeof(*stock), by_id);
	req->stock = stock;
	without = decide(req, 0, &sums->unlimited, err);
	if (without > 0)
		with = decide(req, LIMIT, &sums->limited, err);
	if (with <= 0)
		goto out;
	sums->ratio += log(with / without);
	sums->worst = fmax(sums->worst, with / without);
	sums->draws++;
	rc = 0;
out:
	free(is_free);
	free(stock);
	cpl_load_free(&load);
	return rc;
}

static int run(const struct cpl_network *net, const struct cpl_routing *routing,
               const struct job *job, int draws, struct cpl_error *err)
{
	struct cpl_comm *comm = traffic_of(job, err);
	struct cpl_comm *graph = comm ? cpl_comm_symmetric(comm, err) : NULL;
	struct cpl_rank_groups grown = {0}, block = {0};
	struct sums s = {0};
	struct cpl_decide_request req = {
	        .place = {.net = net, .n_nodes_wanted = job->nodes},
	        .wish.policy = &cpl_placement_traffic,
	        .routing = routing,
	        .comm = comm,
	        .graph = graph,
	        .ranks_per_node = job->per_node,
	        .wish.mapper = &cpl_mapper_quick,
	};
	int rc = -1;

	/* As slurmctld has them beforehand. */
	if (!graph || cpl_decide_groups(&req, &grown, err) ||
	    cpl_decide_blocks(&req, &block, err))
		goto out;
	req.grown = &grown;
	req.block = &block;
	rc = 0;
	for (int i = 0; i < draws && !rc; i++)
		rc = one_draw(&req, (uint64_t)i, &s, err);
	if (!rc)
		printf("%-18s %4d nodes  %+6.1f %%  worst %+6.1f %%  %5.1f ms, "
		       "without a limit %5.1f\n",
		       job->name, job->nodes,
		       100 * (exp(s.ratio / s.draws) - 1), 100 * (s.worst - 1),
		       s.limited / s.draws, s.unlimited / s.draws);
out:
	cpl_rank_groups_free(&grown);
	cpl_rank_groups_free(&block);
	cpl_comm_free(graph);
	cpl_comm_free(comm);
	return rc;
}

int main(int argc, char **argv)
{
	struct cpl_error err = {""};
	const struct cpl_routing *routing;
	struct cpl_network *net;
	int rc = 0;

	if (argc < 2 || argc > 3) {
		fprintf(stderr,
		        "usage: bench_work NETWORK.json|torus [DRAWS]\n");
		return 2;
	}
	net = strcmp(argv[1], "torus")
	              ? cpl_network_load(argv[1], &err)
	              : cpl_network_parse(torus, strlen(torus), "torus", &err);
	routing = net ? cpl_routing_find(net, NULL, &err) : NULL;
	if (routing)
		routing = cpl_routing_by_flow(net, routing);
	for (size_t i = 0; routing && i < sizeof(jobs) / sizeof(*jobs) && !rc;
	     i++)
		rc = run(net, routing, &jobs[i], argc > 2 ? atoi(argv[2]) : 12,
		         &err);
	if (!routing || rc)
		fprintf(stderr, "bench_work: %s\n", err.text);
	cpl_network_free(net);
	return !routing || rc;
}
