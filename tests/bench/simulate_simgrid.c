/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The simulator's level flow beside SimGrid's fluid model on the same links and
 * paths: random tori in dimension order, random messages that start together.
 *
 *   simulate_simgrid CASES [MESSAGES]
 *
 * Time until the last message is there, and CPU seconds of both.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/random.h"
#include "simgrid_flows.h"
#include "simulate/simulate.h"
#include "traffic/times.h"
#include "cpu_time.h"

struct answer {
	double seconds, cpu;
};

static void die(const char *text)
{
	fprintf(stderr, "simulate_simgrid: %s\n", text);
	exit(1);
}

static struct cpl_network *random_torus(uint64_t seed)
{
	struct cpl_error err = {""};
	struct cpl_network *net;
	char text[512];
	int dim[3], nodes = 1;

	for (int d = 0; d < 3; d++) {
		dim[d] = 2 + (int)cpl_random_below(seed, 1, (uint64_t)d, 6);
		nodes *= dim[d];
	}
	snprintf(
	        text, sizeof(text),
	        "{\"format\": \"commplace-network\", \"version\": 1, \"type\": "
	        "\"torus\", \"dims\": [%d, %d, %d], \"bandwidth\": {\"dim\": "
	        "[1e9, 2e9, %de9], \"injection\": 5e9}, \"nodes\": "
	        "\"n[0-%d]\"}",
	        dim[0], dim[1], dim[2],
	        1 + (int)cpl_random_below(seed, 1, 9, 4), nodes - 1);
	net = cpl_network_parse(text, strlen(text), "torus", &err);
	if (!net)
		die(err.text);
	return net;
}

static struct cpl_comm *random_messages(uint64_t seed, int ranks, int n)
{
	struct cpl_comm_entry *entry = calloc((size_t)n, sizeof(*entry));
	struct cpl_comm *comm;

	if (!entry)
		die("out of memory");
	for (int i = 0; i < n; i++) {
		int from = (int)cpl_random_below(seed, 2, (uint64_t)i,
		                                 (uint64_t)ranks);
		int to = (int)cpl_random_below(seed, 3, (uint64_t)i,
		                               (uint64_t)ranks - 1);

		entry[i] = (struct cpl_comm_entry){
		        from, to + (to >= from),
		        1e5 + (double)cpl_random_below(seed, 4, (uint64_t)i,
		                                       9900000),
		        1};
	}
	comm = cpl_comm_build(ranks, entry, n, NULL);
	free(entry);
	if (!comm)
		die("out of memory");
	return comm;
}

static struct answer ours(const struct cpl_network *net, struct cpl_comm *comm,
                          double tolerance)
{
	struct cpl_phase phase = {.name = "all", .weight = 1, .comm = comm};
	struct cpl_signature sig = {.name = "random",
	                            .ranks = comm->ranks,
	                            .n_phases = 1,
	                            .phase = &phase};
	struct cpl_sim_options o = {.net = net,
	                            .level = &cpl_sim_flow,
	                            .routing = &cpl_routing_dimension_order,
	                            .executions = 1,
	                            .speed = 1,
	                            .eager = INFINITY,
	                            .tolerance = tolerance};
	int *node = calloc((size_t)comm->ranks, sizeof(*node));
	struct cpl_sim_result result;
	struct cpl_error err = {""};
	double start = cpu_seconds();
	struct answer a;

	for (int r = 0; node && r < comm->ranks; r++)
		node[r] = r;
	if (!node ||
	    cpl_simulate(&o,
	                 &(struct cpl_sim_job){.sig = &sig, .rank_node = node},
	                 1, &result, &err))
		die(err.text);
	a = (struct answer){result.seconds, cpu_seconds() - start};
	cpl_sim_result_free(&result);
	free(node);
	return a;
}

/* SimGrid runs once a process. */
static struct answer theirs(const struct cpl_network *net,
                            const struct cpl_comm *comm)
{
	int64_t links = cpl_times_links(net);
	int64_t cables = cpl_network_port_cables(net);
	double *bandwidth = calloc((size_t)links, sizeof(*bandwidth));
	int *first = calloc((size_t)comm->n_entries + 1, sizeof(*first));
	int *link = calloc((size_t)comm->n_entries * 32, sizeof(*link));
	struct flow *flow = calloc((size_t)comm->n_entries, sizeof(*flow));
	struct cpl_route_finder finder;
	struct flow_run run = {.n = (int)comm->n_entries};
	struct flow_problem problem = {.n_links = (int)links,
	                               .bandwidth = bandwidth,
	                               .n_paths = (int)comm->n_entries,
	                               .path_first = first,
	                               .path_link = link,
	                               .flow = flow,
	                               .ideal = true,
	                               .n_runs = 1,
	                               .run = &run};
	struct answer a = {0, 0};
	int n = 0, pipes[2];

	if (!bandwidth || !first || !link || !flow || pipe(pipes) ||
	    cpl_route_finder_init(&finder, net, &cpl_routing_dimension_order,
	                          NULL))
		die("out of memory");
	for (int64_t l = 0; l < links; l++)
		bandwidth[l] = cpl_times_bandwidth(net, l);
	for (int r = 0; r < comm->ranks; r++)
		for (int64_t e = comm->row[r]; e < comm->row[r + 1]; e++) {
			int m;
			const struct cpl_share *share =
			        cpl_route_find(&finder, r, comm->to[e], &m);

			link[n++] = (int)(net->n_links + r);
			for (int k = 0; k < m; k++)
				link[n++] = share[k].link;
			link[n++] = (int)(net->n_links + cables + comm->to[e]);
			first[e + 1] = n;
			flow[e] = (struct flow){
			        .path = (int)e, .bytes = comm->bytes[e]};
		}
	fflush(stdout);
	if (!fork()) {
		double start = cpu_seconds();

		flows_simulate(&problem);
		a = (struct answer){run.seconds, cpu_seconds() - start};
		_exit(write(pipes[1], &a, sizeof(a)) != sizeof(a));
	}
	if (read(pipes[0], &a, sizeof(a)) != sizeof(a))
		die("SimGrid failed");
	wait(NULL);
	close(pipes[0]);
	close(pipes[1]);
	cpl_route_finder_free(&finder);
	free(bandwidth);
	free(first);
	free(link);
	free(flow);
	return a;
}

int main(int argc, char **argv)
{
	int cases = argc > 1 ? atoi(argv[1]) : 30;
	double worst = 0;

	printf("| nodes | messages | ours, s | with a tolerance of 0.001 | "
	       "SimGrid, s | off | CPU s: ours | with tolerance | SimGrid |\n"
	       "|---|---|---|---|---|---|---|---|---|\n");
	for (int c = 1; c <= cases; c++) {
		uint64_t seed = (uint64_t)c;
		struct cpl_network *net = random_torus(seed);
		int n = argc > 2 ? atoi(argv[2])
		                 : 50 + (int)cpl_random_below(seed, 5, 0, 500);
		struct cpl_comm *comm = random_messages(seed, net->n_nodes, n);
		struct answer a = ours(net, comm, 0), b = ours(net, comm, 1e-3);
		struct answer s = theirs(net, comm);
		double off = fmax(fabs(a.seconds / s.seconds - 1),
		                  fabs(b.seconds / s.seconds - 1));

		worst = fmax(worst, off);
		printf("| %d | %lld | %.6f | %.6f | %.6f | %.4f %% | %.3f | "
		       "%.3f | %.3f |\n",
		       net->n_nodes, (long long)comm->n_entries, a.seconds,
		       b.seconds, s.seconds, 100 * off, a.cpu, b.cpu, s.cpu);
		cpl_comm_free(comm);
		cpl_network_free(net);
	}
	printf("\nworst: %.4f %%\n", 100 * worst);
	return worst > 0.02;
}
