/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Speed of the simulator, in seconds of CPU time:
 *
 *   bench_simulate flow|packet NETWORK ROUTING RANKS MESSAGES BYTES [TOLERANCE]
 *	random messages between ranks, one a node, all sent at once; ROUTING:
 *	as of `commplace simulate`, or - for the network's minimal one
 *   bench_simulate events PENDING EVENTS
 *	the queue of events beside a binary heap, each event adding one
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/random.h"
#include "simulate/events.h"
#include "simulate/simulate.h"
#include "messages_job.h"
#include "cpu_time.h"

static long megabytes(void)
{
	struct rusage use;

	getrusage(RUSAGE_SELF, &use);
	return use.ru_maxrss / 1024;
}

static int fail(const char *text)
{
	fprintf(stderr, "bench_simulate: %s\n", text);
	return 1;
}

struct timed {
	double time;
	uint32_t order;
};

static bool before(struct timed a, struct timed b)
{
	return a.time < b.time || (a.time == b.time && a.order < b.order);
}

static void heap_add(struct timed *heap, int64_t *n, struct timed item)
{
	int64_t i = (*n)++;

	for (; i && before(item, heap[(i - 1) / 2]); i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = item;
}

static struct timed heap_take(struct timed *heap, int64_t *n)
{
	struct timed top = heap[0], last = heap[--*n];
	int64_t i = 0;

	for (;;) {
		int64_t child = 2 * i + 1;

		if (child + 1 < *n && before(heap[child + 1], heap[child]))
			child++;
		if (child >= *n || !before(heap[child], last))
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = last;
	return top;
}

/* Delays as of packets: few lengths, and now and then a long one. */
static double delay(uint64_t i)
{
	uint64_t r = cpl_random(1, 1, i);

	return 1e-7 * (1 + (double)(r % 4)) + (r % 97 ? 0 : 1e-5);
}

static int events(int64_t pending, int64_t n)
{
	struct timed *heap = malloc((size_t)(pending + 1) * sizeof(*heap));
	struct cpl_events queue = {0};
	double start = cpu_seconds(), radix, binary, sum = 0;
	struct cpl_event event;
	int64_t filled = 0;

	if (!heap)
		return fail("out of memory");
	for (int64_t i = 0; i < pending; i++)
		cpl_events_add(&queue, delay((uint64_t)i), 0, (uint32_t)i);
	for (int64_t i = 0; i < n && cpl_events_take(&queue, &event); i++)
		cpl_events_add(&queue,
		               cpl_event_time(event) + delay((uint64_t)i), 0,
		               (uint32_t)i);
	sum += cpl_event_time(event);
	radix = cpu_seconds() - start;
	start = cpu_seconds();
	for (int64_t i = 0; i < pending; i++)
		heap_add(heap, &filled,
		         (struct timed){delay((uint64_t)i), (uint32_t)i});
	for (int64_t i = 0; i < n; i++) {
		struct timed top = heap_take(heap, &filled);

		heap_add(heap, &filled,
		         (struct timed){top.time + delay((uint64_t)i),
		                        (uint32_t)i});
	}
	binary = cpu_seconds() - start;
	printf("%lld pending, %lld events: %.3f s (%.0f ns each), binary heap "
	       "%.3f s (%.0f ns)\n",
	       (long long)pending, (long long)n, radix, 1e9 * radix / (double)n,
	       binary, 1e9 * binary / (double)n);
	free(heap);
	cpl_events_free(&queue);
	return sum < 0;
}

static struct cpl_signature *messages(int ranks, int64_t n, double bytes,
                                      struct cpl_error *err)
{
	struct cpl_comm_entry *entry = malloc((size_t)n * sizeof(*entry));
	struct cpl_signature *sig;

	for (int64_t i = 0; entry && i < n; i++)
		entry[i] = (struct cpl_comm_entry){
		        (int)(i % ranks),
		        (int)cpl_random_below(1, 2, (uint64_t)i,
		                              (uint64_t)ranks),
		        bytes * (0.5 + (double)cpl_random_below(
		                               1, 3, (uint64_t)i, 1000) /
		                               1000),
		        1};
	sig = entry ? messages_job(ranks, entry, n, err) : NULL;
	free(entry);
	return sig;
}

static int simulate(char **argv, double tolerance)
{
	const struct cpl_sim_level *level = (const void *)cpl_registry_find(
	        &cpl_sim_levels, argv[1], strlen(argv[1]), NULL, NULL);
	struct cpl_error err = {""};
	struct cpl_network *net = cpl_network_load(argv[2], &err);
	struct cpl_sim_options o = {.net = net,
	                            .level = level,
	                            .executions = 1,
	                            .speed = 1,
	                            .eager = INFINITY,
	                            .tolerance = tolerance,
	                            .packet = 4096,
	                            .buffer = 65536,
	                            .lanes = 1,
	                            .seed = 1};
	int ranks = atoi(argv[4]), *node = calloc((size_t)ranks, sizeof(*node));
	struct cpl_signature *sig;
	struct cpl_sim_result r;
	double start;

	sig = net ? messages(ranks, atoll(argv[5]), atof(argv[6]), &err) : NULL;
	if (!level || !sig || ranks > net->n_nodes)
		return fail(err.text);
	o.choice = (const void *)cpl_registry_find(&cpl_sim_routings, argv[3],
	                                           strlen(argv[3]), NULL, NULL);
	o.routing = o.choice || !strcmp(argv[3], "-")
	                    ? cpl_routing_minimal(net)
	                    : cpl_routing_find(net, argv[3], &err);
	if (!o.routing)
		return fail(err.text);
	for (int i = 0; i < ranks; i++)
		node[i] = i;
	start = cpu_seconds();
	if (cpl_simulate(&o,
	                 &(struct cpl_sim_job){.sig = sig, .rank_node = node},
	                 1, &r, &err))
		return fail(err.text);
	start = cpu_seconds() - start;
	printf("%s %s %s: %lld messages in %.6g simulated s: %.2f s of CPU, "
	       "%lld events, %.3g million packet-hops (%.3g million a second), "
	       "%ld MB\n",
	       argv[1], net->name, argv[3], (long long)r.messages, r.seconds,
	       start, (long long)r.events, 1e-6 * (double)r.hops,
	       1e-6 * (double)r.hops / start, megabytes());
	cpl_sim_result_free(&r);
	cpl_signature_free(sig);
	cpl_network_free(net);
	free(node);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "events"))
		return events(atoll(argv[2]), atoll(argv[3]));
	if (argc == 7 || argc == 8)
		return simulate(argv, argc == 8 ? atof(argv[7]) : 0.001);
	return fail("see the head of its source");
}
