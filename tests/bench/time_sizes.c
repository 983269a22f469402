/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Are seconds of communication told as well for large messages as for small ones?
 *
 *   time_sizes [PLACEMENTS]	7 by default
 *
 * The machines of time_cases.h, ten of its patterns (those that are no rounds), a job of
 * 128 ranks on 64 nodes, alone; placement i is of blocks of 2^(i mod 7) neighbouring
 * nodes. Messages of 1/16, 1/4, 1 and 4 times the sizes there (512 bytes to 16 KB, and up
 * to 1 MB). Simulated on minimal paths and where packets adapt; told by the routing in
 * force. Printed for each machine: simulated over told, its geometric mean and the mean
 * error; then simulated over what the busiest link takes for its bytes, latency not
 * counted, with buffers of 64 KB and without end, and told, likewise.
 */
#include "time_cases.h"
#include "traffic/times.h"

#define PATTERNS_AT_ONCE 10
#define ENDLESS 1e9
static const double size[] = {1 / 16.0, 1 / 4.0, 1, 4};
#define SIZES ((int)(sizeof(size) / sizeof(*size)))

/* Sums of logarithms over patterns and placements. */
struct sums {
	int n;
	double ratio, error;
	double over[3]; /* the busiest link: simulated, without end, told */
};

static void add_case(struct sums *s, struct cpl_times_space *space,
                     const struct cpl_sim_options *options,
                     const struct cpl_signature *sig, int i)
{
	struct cpl_error err = {""};
	struct cpl_times_result told;
	struct cpl_sim_options endless = *options;
	int node[NODES];
	const struct cpl_times_job job = {.phase = sig->phase,
	                                  .n_phases = 1,
	                                  .ranks = RANKS,
	                                  .ranks_per_node = PER_NODE,
	                                  .n_hosts = NODES,
	                                  .node = node};
	double seconds[3];

	endless.buffer = ENDLESS;
	place_blocks(options->net, i, node);
	if (cpl_times_of(space, &job, NULL, &told, &err))
		die("times", &err);
	seconds[0] = simulate_alone(options, sig, node);
	seconds[1] = simulate_alone(&endless, sig, node);
	seconds[2] = told.seconds;
	s->n++;
	s->ratio += log(seconds[0] / told.seconds);
	s->error += fabs(log(seconds[0] / told.seconds));
	for (int k = 0; k < 3; k++)
		s->over[k] += log(fmax(seconds[k] - told.latency, 1e-12) /
		                  told.busiest);
}

static void print_row(const char *name, const char *by, const struct sums *sums)
{
	printf("| %s | %s |", name, by);
	for (int k = 0; k < SIZES; k++)
		printf(" %.2f, %.0f %% |", exp(sums[k].ratio / sums[k].n),
		       100 * (exp(sums[k].error / sums[k].n) - 1));
	for (int k = 0; k < SIZES; k++)
		printf(" %.2f, %.2f, %.2f |", exp(sums[k].over[0] / sums[k].n),
		       exp(sums[k].over[1] / sums[k].n),
		       exp(sums[k].over[2] / sums[k].n));
	putchar('\n');
	fflush(stdout);
}

int main(int argc, char **argv)
{
	int placements = argc > 1 ? atoi(argv[1]) : 7;
	struct cpl_error err = {""};

	if (placements < 1 || placements > 1000) {
		fprintf(stderr, "usage: time_sizes [PLACEMENTS]\n");
		return 2;
	}
	printf("| network | simulated by | x 1/16 | x 1/4 | x 1 | x 4 | over the "
	       "busiest: x 1/16 | x 1/4 | x 1 | x 4 |\n"
	       "|---|---|---|---|---|---|---|---|---|---|\n");
	for (int k = 0; k < ALL_NETWORKS; k++) {
		struct cpl_network *net = load_network(k);

		for (int m = 0; m < 2; m++) {
			const struct cpl_routing *routing =
			        m ? cpl_routing_find(net, network[k].told, &err)
			          : cpl_routing_minimal(net);
			const struct cpl_sim_options options =
			        options_of(net, k, m);
			struct cpl_times_space *space =
			        routing ? cpl_times_space_adaptive(net, routing,
			                                           &err)
			                : NULL;
			struct sums sums[SIZES] = {{0}};

			if (!space)
				die(network[k].name, &err);
			for (int i = 0; i < SIZES * PATTERNS_AT_ONCE; i++) {
				struct cpl_signature *sig = signature_of(
				        i / SIZES, RANKS, size[i % SIZES], 1, 0, 0);

				for (int n = 0; n < placements; n++)
					add_case(&sums[i % SIZES], space,
					         &options, sig, n);
				cpl_signature_free(sig);
			}
			print_row(network[k].name, mode[m], sums);
			cpl_times_space_free(space);
		}
		cpl_network_free(net);
	}
	return fflush(stdout) || ferror(stdout);
}
