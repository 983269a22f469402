/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The time model of traffic/times.h:
 *
 * bench_communication speed NETWORK.json [NODES]   milliseconds of a 4-D
 *	stencil with 24 ranks on each of NODES (512) random nodes: least of 20
 * bench_communication many       exact times of random jobs over those by
 *	their busiest links
 * bench_communication beside     a link shared with jobs that compute and send
 *	in turn, simulated
 * bench_communication queues     packets that wait for others', simulated
 *
 * The last three make doc/reproduction/communication.md.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/sort.h"
#include "network/network.h"
#include "stencil_job.h"
#include "traffic/times_internal.h"

static void die(const struct cpl_error *err)
{
	fprintf(stderr, "bench_communication: %s\n", err->text);
	exit(1);
}

static void *need(void *p, const struct cpl_error *err)
{
	if (!p)
		die(err);
	return p;
}

/* n of the network's nodes, drawn. */
static int *draw_nodes(const struct cpl_network *net, int n, uint64_t seed)
{
	int *node = malloc((size_t)net->n_nodes * sizeof(*node));
	int used = 0;

	for (int i = 0; i < net->n_nodes; i++)
		if (net->node_name[i])
			node[used++] = i;
	for (int i = 0; i < n && i < used; i++) {
		int j = i + (int)cpl_random_below(seed, 1, (uint64_t)i,
		                                  (uint64_t)(used - i));
		int old = node[i];

		node[i] = node[j];
		node[j] = old;
	}
	return node;
}

static double least(double a, double b)
{
	return a > 0 && a < b ? a : b;
}

static void speed(const char *path, int nodes)
{
	struct cpl_error err = {""};
	struct cpl_network *net = need(cpl_network_load(path, &err), &err);
	const struct cpl_routing *routing =
	        cpl_routing_by_flow(net, cpl_routing_find(net, NULL, &err));
	struct cpl_times_space *space =
	        need(cpl_times_space_new(net, routing, &err), &err);
	struct cpl_phase phase = {.weight = 1, .comm = stencil(nodes)};
	struct cpl_times *times =
	        need(cpl_times_open(&phase, 1, phase.comm->ranks, &err), &err);
	struct cpl_times_result result;
	struct cpl_load rates;
	double best[3] = {0};

	if (cpl_load_init(&rates, net, &err))
		die(&err);
	for (int64_t l = 0; l < net->n_links; l++)
		rates.link[l] = (double)(l % 7) * 3e8;
	for (int i = 0; i < 20; i++) {
		int *node = draw_nodes(net, nodes, (uint64_t)i);
		double t[4] = {cpu_seconds()};

		if (cpl_times_order(times, NULL, PER_NODE, nodes, &err))
			die(&err);
		t[1] = cpu_seconds();
		if (cpl_times_put(times, space, node, &err))
			die(&err);
		t[2] = cpu_seconds();
		cpl_times_judge(times, &rates, false, &result);
		t[3] = cpu_seconds();
		for (int k = 0; k < 3; k++)
			best[k] = least(best[k], t[k + 1] - t[k]);
		free(node);
	}
	printf("%s, %s, %d nodes: order %.3f ms, place %.3f ms, judge %.3f "
	       "ms\n",
	       net->name, routing->name, nodes, 1e3 * best[0], 1e3 * best[1],
	       1e3 * best[2]);
	cpl_load_free(&rates);
	cpl_times_close(times);
	cpl_times_space_free(space);
	cpl_comm_free(phase.comm);
	cpl_network_free(net);
}

static const char *const machines[][2] = {
        {"dragonfly, static-direct",
         "{\"format\": \"commplace-network\", \"version\": 1, \"type\": "
         "\"dragonfly\", \"groups\": 8, \"rows\": 3, \"columns\": 4, "
         "\"nodes_per_router\": 4, \"global_links_per_group_pair\": 2, "
         "\"bandwidth\": {\"row\": 5.25e9, \"column\": 15.75e9, \"global\": "
         "4.7e9, \"injection\": 16e9}, \"nodes\": \"n[0-383]\"}"},
        {"torus, dimension-order",
         "{\"format\": \"commplace-network\", \"version\": 1, \"type\": "
         "\"torus\", \"dims\": [8, 8, 8], \"wrap\": [true, true, true], "
         "\"nodes_per_router\": 1, \"bandwidth\": {\"dim\": [4e9, 4e9, 4e9], "
         "\"injection\": 8e9}, \"nodes\": \"n[0-511]\"}"},
        {"torus, adaptive-minimal",
         "{\"format\": \"commplace-network\", \"version\": 1, \"type\": "
         "\"torus\", \"dims\": [8, 8, 8], \"wrap\": [true, true, true], "
         "\"nodes_per_router\": 1, \"bandwidth\": {\"dim\": [4e9, 4e9, 4e9], "
         "\"injection\": 8e9}, \"routing\": \"adaptive-minimal\", \"nodes\": "
         "\"n[0-511]\"}"},
        {"fat tree, dmodk",
         "{\"format\": \"commplace-network\", \"version\": 1, \"type\": "
         "\"fattree\", \"nodes_per_router\": 16, \"levels\": [{\"down\": 8, "
         "\"up\": 2, \"bandwidth\": 8e9}, {\"down\": 4, \"up\": 2, "
         "\"bandwidth\": 8e9}], \"bandwidth\": {\"injection\": 8e9}, "
         "\"nodes\": \"n[0-511]\"}"},
};

#define HOSTS 64
#define MAX_DEGREE 8

/* One rank a host. */
static struct cpl_comm *pattern(int kind, uint64_t seed)
{
	struct cpl_comm_entry *entry =
	        malloc((size_t)HOSTS * HOSTS * sizeof(*entry));
	struct cpl_comm *comm;
	int64_t n = 0;

	for (int r = 0; r < HOSTS; r++) {
		uint64_t degree =
		        2 + cpl_random_below(seed, 2, (uint64_t)r, MAX_DEGREE);
		static const int step[] = {1, HOSTS - 1, 8, HOSTS - 8};

		for (int k = 0; kind == 0 && k < 4; k++)
			entry[n++] = (struct cpl_comm_entry){
			        r, (r + step[k]) % HOSTS, 1e9, 10};
		for (uint64_t k = 0; kind == 1 && k < degree; k++) {
			uint64_t at = (uint64_t)r * HOSTS + k;

			entry[n++] = (struct cpl_comm_entry){
			        r, (int)cpl_random_below(seed, 3, at, HOSTS),
			        1e7 * (double)(1 + cpl_random_below(seed, 4, at,
			                                            100)),
			        10};
		}
		for (int k = 0; kind == 2 && k < HOSTS; k++)
			if (k != r)
				entry[n++] =
				        (struct cpl_comm_entry){r, k, 2e7, 1};
	}
	comm = cpl_comm_build(HOSTS, entry, n, NULL);
	free(entry);
	return comm;
}

#define DRAWS 40

static void one_many(const struct cpl_network *net,
                     struct cpl_times_space *space, const char *machine,
                     int kind, bool crowded)
{
	static const char *const name[] = {"2-D stencil", "random partners",
	                                   "all to all"};
	struct cpl_error err = {""};
	struct cpl_load rates;
	double ratio[DRAWS], mean = 0;
	int draws = kind == 2 ? DRAWS / 10 : DRAWS;

	if (cpl_load_init(&rates, net, &err))
		die(&err);
	for (int i = 0; i < draws; i++) {
		struct cpl_phase phase = {.weight = 1,
		                          .comm = pattern(kind, (uint64_t)i)};
		struct cpl_times *times =
		        need(cpl_times_open(&phase, 1, HOSTS, &err), &err);
		int *node = draw_nodes(net, HOSTS, (uint64_t)i);
		struct cpl_times_result got;

		for (int64_t l = 0; crowded && l < net->n_links; l++)
			rates.link[l] =
			        cpl_times_bandwidth(net, l) / 100 *
			        (double)cpl_random_below((uint64_t)i, 5,
			                                 (uint64_t)l, 80);
		times->exact = INT64_MAX;
		if (cpl_times_order(times, NULL, 1, HOSTS, &err) ||
		    cpl_times_put(times, space, node, &err))
			die(&err);
		cpl_times_judge(times, &rates, false, &got);
		ratio[i] = (got.seconds - got.waiting) / got.busiest;
		mean += ratio[i] / draws;
		cpl_times_close(times);
		cpl_comm_free(phase.comm);
		free(node);
	}
	qsort(ratio, (size_t)draws, sizeof(*ratio), cpl_by_double);
	printf("| %s | %s | %s | %d | %.4f | %.4f | %.4f | %.4f |\n", machine,
	       name[kind], crowded ? "0 to 0.79" : "none", draws, mean,
	       ratio[draws / 2], ratio[draws * 95 / 100], ratio[draws - 1]);
	cpl_load_free(&rates);
}

static void many(void)
{
	printf("| machine | pattern | utilisation | draws | mean | median | "
	       "95 %% | largest |\n"
	       "|---|---|---|---|---|---|---|---|\n");
	for (size_t m = 0; m < sizeof(machines) / sizeof(*machines); m++) {
		struct cpl_error err = {""};
		const char *text = machines[m][1];
		struct cpl_network *net =
		        need(cpl_network_parse(text, strlen(text), "net", &err),
		             &err);
		struct cpl_times_space *space = need(
		        cpl_times_space_new(
		                net, cpl_routing_find(net, NULL, &err), &err),
		        &err);

		for (int kind = 0; kind < 3; kind++)
			for (int crowded = 0; crowded < 2; crowded++)
				one_many(net, space, machines[m][0], kind,
				         crowded);
		cpl_times_space_free(space);
		cpl_network_free(net);
	}
}

/*
 * A flow that never stops and jobs that compute and then send, again and again;
 * whoever sends shares the link evenly.
 */
#define MAX_JOBS 16
#define CYCLES 2000

struct sender {
	double compute, send; /* seconds of each, alone */
	double left;          /* of what it does */
	bool sends;
};

/* How much longer the flow takes than alone. */
static double beside(struct sender *job, int n)
{
	double time = 0, sent = 0;

	while (sent < CYCLES) {
		int sending = 1;
		double step = HUGE_VAL;

		for (int i = 0; i < n; i++)
			sending += job[i].sends;
		for (int i = 0; i < n; i++)
			step = fmin(step,
			            job[i].left * (job[i].sends ? sending : 1));
		for (int i = 0; i < n; i++) {
			struct sender *s = &job[i];

			s->left -= step / (s->sends ? sending : 1);
			if (s->left > 1e-12)
				continue;
			s->sends = !s->sends;
			s->left = s->sends ? s->send : s->compute;
		}
		time += step;
		sent += step / sending;
	}
	return time / sent;
}

static void beside_all(void)
{
	static const double total[] = {0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 3};
	static const int count[] = {1, 2, 4, 16};

	printf("| utilisation, jobs together | 1 job, model | simulated | 2 jobs | "
	       "simulated | 4 jobs | simulated | 16 jobs | simulated |\n"
	       "|---|---|---|---|---|---|---|---|---|\n");
	for (size_t t = 0; t < sizeof(total) / sizeof(*total); t++) {
		printf("| %g |", total[t]);
		for (size_t c = 0; c < sizeof(count) / sizeof(*count); c++) {
			struct sender job[MAX_JOBS];
			double u = total[t] / count[c];

			if (u > 1) {
				printf(" - | - |");
				continue;
			}
			/* Cycles of other lengths, so that all meets all. */
			for (int i = 0; i < count[c]; i++) {
				double cycle = 0.1 + 0.013 * i;

				job[i] = (struct sender){
				        cycle * (1 - u), cycle * u,
				        cycle * (1 - u) * (i + 1) / count[c],
				        false};
			}
			printf(" %.3f | %.3f |",
			       cpl_slowed(total[t], total[t] * u),
			       beside(job, count[c]));
		}
		printf("\n");
	}
}

/*
 * A link that sends one packet a tick. Others' bursts come at random (Poisson);
 * probes, which take no time, wait for the packet on the link and for what is
 * before them: all there is (fifo), or one packet of each of the queues of
 * SOURCES others (in turn).
 */
#define SOURCES 8
#define SLICES 16 /* moments of a tick */
#define SLOTS 8000000

static double probe(double u, int burst, bool in_turn)
{
	int64_t queue[SOURCES] = {0};
	int on_link = 0, last = 0; /* slices left; source served last */
	double sum = 0;

	for (int64_t t = 0; t < SLOTS; t++) {
		uint64_t at = (uint64_t)t;
		double chance = u / burst / SLICES;
		double waiting = 0;

		if ((double)cpl_random(7, 1, at) * 0x1p-64 < chance)
			queue[cpl_random_below(7, 2, at, SOURCES)] += burst;
		if (on_link)
			on_link--;
		for (int k = 1; !on_link && k <= SOURCES; k++) {
			int s = (last + k) % SOURCES;

			if (!queue[s])
				continue;
			queue[s]--;
			on_link = SLICES;
			last = s;
		}
		for (int s = 0; s < SOURCES; s++)
			waiting += in_turn ? 0.5 * (queue[s] > 0)
			                   : (double)queue[s];
		sum += (double)on_link / SLICES + waiting;
	}
	return sum / SLOTS;
}

static void queues(void)
{
	static const double u[] = {0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95};

	printf("| u | model | packets | bursts of 16, in turn | bursts of 16, "
	       "fifo |\n|---|---|---|---|---|\n");
	for (size_t i = 0; i < sizeof(u) / sizeof(*u); i++)
		printf("| %g | %.3f | %.3f | %.3f | %.3f |\n", u[i],
		       u[i] / 2 / (1 - u[i]), probe(u[i], 1, false),
		       probe(u[i], 16, true), probe(u[i], 16, false));
}

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "speed"))
		speed(argv[2], argc > 3 ? atoi(argv[3]) : 512);
	else if (argc == 2 && !strcmp(argv[1], "many"))
		many();
	else if (argc == 2 && !strcmp(argv[1], "beside"))
		beside_all();
	else if (argc == 2 && !strcmp(argv[1], "queues"))
		queues();
	else
		return 2;
	return 0;
}
