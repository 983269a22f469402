/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Work in chunks on several threads. What a chunk is depends on the problem
 * only, never on the number of threads, and whatever is added up over chunks
 * is added up in chunk order afterwards: results are then the same to the last
 * bit for any number of threads.
 */
#pragma once

#include <stdint.h>

/* More threads than this are never started. */
#define CPL_PARALLEL_MAX 256

/*
 * Call fn(arg, chunk, thread) once for every chunk of [0, n_chunks), in
 * increasing order, and return when all are done. `thread` in [0, threads)
 * tells calls at the same time apart. With threads <= 1 all run in the caller,
 * as thread 0; where a thread cannot be started, fewer do the work. The threads
 * take no signals. fn must not call this itself.
 */
void cpl_parallel(int threads, int64_t n_chunks,
                  void (*fn)(void *arg, int64_t chunk, int thread), void *arg);

/* CPUs this process may run on, 1 .. CPL_PARALLEL_MAX. */
int cpl_parallel_cpus(void);

/* First item of a chunk when n items are cut into n_chunks about equal ones;
 * chunk n_chunks ends the last one. */
static inline int64_t cpl_parallel_first(int64_t n, int64_t n_chunks,
                                         int64_t chunk)
{
	int64_t each = n / n_chunks, rest = n % n_chunks;

	return chunk * each + (chunk < rest ? chunk : rest);
}
