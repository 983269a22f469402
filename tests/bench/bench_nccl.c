/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What NCCL's profiler plugin costs: CPU nanoseconds of a callback, of each kind of
 * events, less those of the same loop with functions that do nothing, in
 * alternation; the least of TIMES. "start" is of an event, with its stop where it has
 * one; a step of the proxy has three states.
 *
 *   tests/bench/bench_nccl .libs/libnccl-profiler-commplace.so [THREADS (8)]
 *
 * Threads have communicators of their own, as NCCL's have, or all the same one, whose
 * counters they fight for.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "record/nccl_api.h"

#define TIMES 20
#define ROUNDS 100000
#define MOST_THREADS 64

static int nothing_init(void **context, uint64_t id, int *mask,
                        const char *name, int nodes, int ranks, int rank,
                        nccl_logger *log)
{
	*context = mask;
	return 0;
}

static int nothing_start(void *context, void **handle,
                         const struct nccl_event *event)
{
	*handle = context;
	return 0;
}

static int nothing_stop(void *handle)
{
	return 0;
}

static int nothing_state(void *handle, int state, const struct nccl_state *args)
{
	return 0;
}

static const struct nccl_profiler nothing = {"nothing",     nothing_init,
                                             nothing_start, nothing_stop,
                                             nothing_state, nothing_stop};

enum kind { SEND, COLLECTIVE, OPERATION, STEP, KINDS };
static const char *const name_of[KINDS] = {"message", "collective",
                                           "proxy operation", "proxy step"};
static const int callbacks[KINDS] = {2, 2, 2, 5};

struct worker {
	pthread_t thread;
	const struct nccl_profiler *p;
	void *context;
	enum kind kind;
	double seconds;
};

static double thread_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *work(void *arg)
{
	struct worker *w = arg;
	const struct nccl_profiler *p = w->p;
	struct nccl_event e = {0};
	struct nccl_state args = {1 << 19};
	void *operation, *handle;
	double begin;

	e.type = NCCL_PROXY_OPERATION;
	e.subject.operation = (struct nccl_proxy_operation){
	        .pid = getpid(), .peer = 3, .steps = 8, .is_send = 1};
	p->start(w->context, &operation, &e);
	if (w->kind == SEND) {
		e.type = NCCL_P2P;
		e.subject.p2p = (struct nccl_p2p){.function = "Send",
		                                  .datatype = "ncclUint64",
		                                  .count = 1};
	} else if (w->kind == COLLECTIVE) {
		e.type = NCCL_COLLECTIVE;
		e.subject.collective =
		        (struct nccl_collective){.function = "ReduceScatter",
		                                 .datatype = "ncclFloat32",
		                                 .count = 1,
		                                 .channels = 16,
		                                 .algorithm = "RING",
		                                 .protocol = "SIMPLE"};
	} else if (w->kind == STEP) {
		e.type = NCCL_PROXY_STEP;
		e.parent = operation;
	}
	begin = thread_seconds();
	for (int i = 0; i < ROUNDS; i++) {
		if (w->kind == SEND)
			e.subject.p2p.peer = i & 63;
		p->start(w->context, &handle, &e);
		if (w->kind == STEP) {
			p->state(handle, 8, &args);
			p->state(handle, 20, &args);
			p->state(handle, NCCL_STATE_SEND_WAIT, &args);
		}
		p->stop(handle);
	}
	w->seconds = thread_seconds() - begin;
	return NULL;
}

/* Nanoseconds of a callback, the mean of the threads. */
static double rounds(const struct nccl_profiler *p, void *const *context, int n,
                     enum kind kind)
{
	struct worker w[MOST_THREADS];
	double sum = 0;

	for (int i = 0; i < n; i++) {
		w[i] = (struct worker){
		        .p = p, .context = context[i], .kind = kind};
		pthread_create(&w[i].thread, NULL, work, &w[i]);
	}
	for (int i = 0; i < n; i++) {
		pthread_join(w[i].thread, NULL);
		sum += w[i].seconds;
	}
	return 1e9 * sum / n / ROUNDS / callbacks[kind];
}

static void measure(const struct nccl_profiler *p, void *const *context, int n,
                    const char *text)
{
	for (int kind = 0; kind < KINDS; kind++) {
		double least[2] = {1e9, 1e9};

		for (int i = 0; i < TIMES; i++) {
			const struct nccl_profiler *of[] = {&nothing, p};

			for (int k = 0; k < 2; k++) {
				double ns = rounds(of[k], context, n,
				                   (enum kind)kind);

				least[k] = ns < least[k] ? ns : least[k];
			}
		}
		printf("%-16s %2d %-26s %6.1f ns a callback, %.1f without\n",
		       name_of[kind], n, text, least[1], least[0]);
	}
}

int main(int argc, char **argv)
{
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	const struct nccl_profiler *p =
	        library ? dlsym(library, "ncclProfiler_v5") : NULL;
	void *own[MOST_THREADS], *same[MOST_THREADS];
	int n = argc > 2 ? atoi(argv[2]) : 8, mask;

	if (!p || n < 1 || n > MOST_THREADS) {
		fprintf(stderr, "bench_nccl: %s\n",
		        library ? "THREADS are 1 to 64" : dlerror());
		return 1;
	}
	for (int i = 0; i < n; i++) {
		p->init(&own[i], 1, &mask, NULL, 1, 64, i, NULL);
		same[i] = own[0];
	}
	measure(p, own, 1, "thread");
	measure(p, own, n, "threads");
	measure(p, same, n, "threads, same communicator");
	/* What is not finalized and does not exit leaves no files. */
	fflush(stdout);
	_exit(0);
}
