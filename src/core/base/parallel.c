/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "base/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>

struct parallel_job {
	void (*fn)(void *arg, int64_t chunk, int thread);
	void *arg;
	int64_t n_chunks;
	_Atomic int64_t next;
};

struct helper {
	struct parallel_job *job;
	pthread_t id;
	int thread;
};

static void work(struct parallel_job *job, int thread)
{
	int64_t chunk;

	while ((chunk = atomic_fetch_add(&job->next, 1)) < job->n_chunks)
		job->fn(job->arg, chunk, thread);
}

static void *helper_main(void *arg)
{
	struct helper *helper = arg;

	work(helper->job, helper->thread);
	return NULL;
}

void cpl_parallel(int threads, int64_t n_chunks,
                  void (*fn)(void *arg, int64_t chunk, int thread), void *arg)
{
	struct parallel_job job = {.fn = fn, .arg = arg, .n_chunks = n_chunks};
	struct helper helper[CPL_PARALLEL_MAX];
	sigset_t all, before;
	int started = 0;

	if (threads > CPL_PARALLEL_MAX)
		threads = CPL_PARALLEL_MAX;
	if (threads > n_chunks)
		threads = (int)n_chunks;
	if (threads > 1) {
		/* The helpers inherit this: signals are for the program's own
		 * threads. */
		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, &before);
		for (; started < threads - 1; started++) {
			helper[started].job = &job;
			helper[started].thread = started + 1;
			if (pthread_create(&helper[started].id, NULL,
			                   helper_main, &helper[started]))
				break;
		}
		pthread_sigmask(SIG_SETMASK, &before, NULL);
	}
	work(&job, 0);
	for (int i = 0; i < started; i++)
		pthread_join(helper[i].id, NULL);
}

int cpl_parallel_cpus(void)
{
	cpu_set_t set;
	int n;

	/* Fails where the machine has more CPUs than the set has bits. */
	if (sched_getaffinity(0, sizeof(set), &set))
		return 1;
	n = CPU_COUNT(&set);
	return n < 1 ? 1 : n > CPL_PARALLEL_MAX ? CPL_PARALLEL_MAX : n;
}
