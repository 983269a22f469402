/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This is the profiler plugin of NCCL and RCCL, libnccl-profiler-commplace.so: what
 * the library looks for, and what happens to the counts (nccl_count.h). Each process
 * writes a piece (nccl_piece.h) into the folder FILE.pieces when its last
 * communicator is finalized, and again when it ends. Then it joins what pieces there
 * are (nccl_join.h) to the signature FILE, unless another process is doing that. So
 * FILE is always what the processes that are done have sent, and the last one makes
 * it whole; pieces go when all have ended. Nobody waits for anybody.
 *
 * It is not unloaded before the process ends, since NCCL closes it with the last
 * communicator, and may open it again. A child of fork begins anew.
 */
#include "commplace-config.h"
#include "nccl_api.h"
#include "nccl_count.h"
#include "nccl_keep.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define MOST_MEMORY_MIB 4096

/* Of init and finalize, and of what only they know. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	bool begun, active; /* active: begun, and there is memory */
	bool asked; /* a version of the interface was looked up and used */
	int open; /* communicators */
	int64_t since;
	struct nccl_process process;
	struct nccl_paths paths;
	bool told_full;
} run;

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* MiB of cells, as the user wishes. */
static int memory_wanted(void)
{
	const char *text = getenv("COMMPLACE_RECORD_MEMORY");
	char *end;
	long mebibytes;

	if (!text || !*text)
		return NCCL_MEMORY_MIB;
	mebibytes = strtol(text, &end, 10);
	if (!*end && mebibytes >= 1 && mebibytes <= MOST_MEMORY_MIB)
		return (int)mebibytes;
	fprintf(stderr,
	        "commplace-record: COMMPLACE_RECORD_MEMORY=%s: MiB from 1 to "
	        "%d are needed; %d is taken\n",
	        text, MOST_MEMORY_MIB, NCCL_MEMORY_MIB);
	return NCCL_MEMORY_MIB;
}

/* With the lock held, at the first communicator. */
static void begin(void)
{
	run.begun = true;
	run.since = now();
	if (nccl_paths_find(&run.paths) || nccl_begin(memory_wanted())) {
		fprintf(stderr, "commplace-record: out of memory; nothing of "
		                "NCCL is recorded\n");
		return;
	}
	nccl_process_describe(&run.process, &run.paths);
	run.active = true;
}

/* With the lock held: what was lost is said once. */
static void tell_losses(void)
{
	struct nccl_losses *l = &nccl_losses;
	uint64_t full = atomic_load(&l->full);

	if (run.told_full)
		return;
	if (full)
		fprintf(stderr,
		        "commplace-record: memory is full: %llu events of NCCL "
		        "with %llu bytes were dropped; "
		        "COMMPLACE_RECORD_MEMORY=MIB gives more\n",
		        (unsigned long long)full,
		        (unsigned long long)atomic_load(&l->full_bytes));
	if (atomic_load(&l->refused) || atomic_load(&l->unknown))
		fprintf(stderr,
		        "commplace-record: %llu events of NCCL make no sense "
		        "and %llu are of a type that version %d of its "
		        "interface does not have; they are not counted\n",
		        (unsigned long long)atomic_load(&l->refused),
		        (unsigned long long)atomic_load(&l->unknown),
		        run.process.version);
	run.told_full =
	        full || atomic_load(&l->refused) || atomic_load(&l->unknown);
}

/* With the lock held. */
static void keep(bool ended)
{
	run.process.time = (uint64_t)(now() - run.since);
	run.process.ended = ended;
	tell_losses();
	nccl_files_keep(&run.paths, &run.process);
}

static int open_communicator(void **context, int *mask, int types, int version,
                             const char *name, struct nccl_communicator *about)
{
	if (!context)
		return 0;
	*context = NULL;
	if (!mask || about->ranks < 1 || about->rank < 0 ||
	    about->rank >= about->ranks || about->nodes < 0) {
		fprintf(stderr, "commplace-record: NCCL states a communicator "
		                "that cannot be; it is not recorded\n");
		return 0;
	}
	about->thread = (int32_t)syscall(SYS_gettid);
	snprintf(about->name, sizeof(about->name), "%s", name ? name : "");
	pthread_mutex_lock(&lock);
	run.asked = true;
	if (!run.begun)
		begin();
	if (run.active) {
		run.process.version = version;
		*context = nccl_open(about);
		/* NCCL does not finalize what has no context. */
		if (*context)
			run.open++;
		else
			atomic_fetch_add(&nccl_losses.full, 1);
		/* Other types are of no use here, or not of the version. */
		__atomic_store_n(mask,
		                 types & (NCCL_COLLECTIVE | NCCL_P2P |
		                          NCCL_PROXY_OPERATION |
		                          NCCL_PROXY_STEP |
		                          NCCL_COPY_COLLECTIVE),
		                 __ATOMIC_RELAXED);
	}
	pthread_mutex_unlock(&lock);
	return 0;
}

static int init_4(void **context, int *mask, const char *name, uint64_t id,
                  int nodes, int ranks, int rank, nccl_logger *log)
{
	struct nccl_communicator about = {
	        .id = id, .ranks = ranks, .rank = rank, .nodes = nodes};

	(void)log;
	return open_communicator(context, mask, NCCL_TYPES_4, 4, name, &about);
}

static int init_5(void **context, uint64_t id, int *mask, const char *name,
                  int nodes, int ranks, int rank, nccl_logger *log)
{
	struct nccl_communicator about = {
	        .id = id, .ranks = ranks, .rank = rank, .nodes = nodes};

	(void)log;
	return open_communicator(context, mask, NCCL_TYPES_5, 5, name, &about);
}

static int init_6(void **context, uint64_t id, int *mask, const char *name,
                  int nodes, int ranks, int rank, nccl_logger *log)
{
	struct nccl_communicator about = {
	        .id = id, .ranks = ranks, .rank = rank, .nodes = nodes};

	(void)log;
	return open_communicator(context, mask, NCCL_TYPES_6, 6, name, &about);
}

static int start_4(void *context, void **handle,
                   const struct nccl_event_4 *event)
{
	if (handle && event)
		nccl_start(context, handle, event->type, event->parent,
		           &event->subject, NCCL_TYPES_4);
	return 0;
}

static int start_5(void *context, void **handle, const struct nccl_event *event)
{
	if (handle && event)
		nccl_start(context, handle, event->type, event->parent,
		           &event->subject, NCCL_TYPES_5);
	return 0;
}

static int start_6(void *context, void **handle, const struct nccl_event *event)
{
	if (handle && event)
		nccl_start(context, handle, event->type, event->parent,
		           &event->subject, NCCL_TYPES_6);
	return 0;
}

static int stop(void *handle)
{
	(void)handle;
	return 0;
}

static int advance(void *handle, int state, const struct nccl_state *args)
{
	nccl_advance(handle, state, args);
	return 0;
}

static int finalize(void *context)
{
	if (!context)
		return 0;
	pthread_mutex_lock(&lock);
	if (run.active && run.open > 0 && --run.open == 0)
		keep(false);
	pthread_mutex_unlock(&lock);
	return 0;
}

EXPORT const struct nccl_profiler_4 ncclProfiler_v4 = {
        "commplace", init_4, start_4, stop, advance, finalize};
EXPORT const struct nccl_profiler ncclProfiler_v5 = {
        "commplace", init_5, start_5, stop, advance, finalize};
EXPORT const struct nccl_profiler ncclProfiler_v6 = {
        "commplace", init_6, start_6, stop, advance, finalize};

static void before_fork(void)
{
	pthread_mutex_lock(&lock);
}

static void after_fork(void)
{
	pthread_mutex_unlock(&lock);
}

/* What the parent has counted is the parent's. If the child has communicators, it
 * begins with memory of its own. */
static void in_child(void)
{
	run.begun = run.active = run.told_full = false;
	run.open = 0;
	pthread_mutex_unlock(&lock);
}

__attribute__((constructor)) static void loaded(void)
{
	pthread_atfork(before_fork, after_fork, in_child);
}

/* A library that found no version that it knows has closed this again, and said
 * nothing unless it was asked to; somebody else who looks into the library has not
 * set these variables. */
__attribute__((destructor)) static void ended(void)
{
	pthread_mutex_lock(&lock);
	if (run.active)
		keep(true);
	else if (!run.asked && (getenv("NCCL_PROFILER_PLUGIN") ||
	                        getenv("COMMPLACE_RECORD_FILE") ||
	                        getenv("COMMPLACE_RECORD_DIR")))
		fprintf(stderr,
		        "commplace-record: NCCL took none of the "
		        "versions 4, 5 and 6 of its profiler interface; "
		        "nothing of it is recorded\n");
	pthread_mutex_unlock(&lock);
}
