/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A scheduler for tests of the engine: hosts of some CPUs each, its own answer
 * being the first that are free; hosts that it refuses without having said so
 * before.
 */
#pragma once

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "site/engine.h"

#define FAKE_HOSTS_MAX 64

struct fake {
	int n_hosts;
	uint32_t cpus[FAKE_HOSTS_MAX]; /* free */
	uint64_t rank[FAKE_HOSTS_MAX];
	struct cpl_engine_span span; /* all that may be usable; empty: all hosts */
	bool useless[FAKE_HOSTS_MAX]; /* cannot serve */
	int refuse_below;             /* refuse fewer hosts than this */
	uint32_t in_all;              /* CPUs that hosts must have together */
	int wanted;                   /* hosts of its own answer */
	unsigned place_us;            /* that a call of place() takes */
	/* What was asked and answered. */
	int measured, placed, narrowed, stocked, compared;
	bool over; /* it was said that nothing else is asked */
	int host[FAKE_HOSTS_MAX], n_host; /* what the job has, in node order */
};

static inline int fake_measure(void *arg, uint32_t *cpus, uint64_t *rank,
			       struct cpl_engine_span *span)
{
	struct fake *fake = arg;

	fake->over = false;
	fake->measured++;
	memcpy(cpus, fake->cpus, (size_t)fake->n_hosts * sizeof(*cpus));
	memcpy(rank, fake->rank, (size_t)fake->n_hosts * sizeof(*rank));
	if (fake->span.end)
		*span = fake->span;
	return 0;
}

static inline int fake_order(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* Nothing is asked once that was said. */
static inline void fake_goes_on(const struct fake *fake)
{
	if (fake->over)
		abort();
}

static inline bool fake_place(void *arg, const int *host, int n,
                              const char *last)
{
	struct fake *fake = arg;
	uint32_t cpus = 0;

	fake_goes_on(fake);
	fake->placed++;
	usleep(fake->place_us);
	for (int i = 0; i < n; i++) {
		cpus += fake->cpus[host[i]];
		if (fake->useless[host[i]])
			return false;
	}
	if (n < fake->refuse_below || cpus < fake->in_all)
		return false;
	memcpy(fake->host, host, (size_t)n * sizeof(int));
	qsort(fake->host, (size_t)n, sizeof(int), fake_order);
	fake->n_host = n;
	fake->over = last != NULL;
	return true;
}

static inline void fake_narrow(void *arg, uint32_t *cpus)
{
	struct fake *fake = arg;

	fake_goes_on(fake);
	fake->narrowed++;
	for (int i = 0; i < fake->n_hosts; i++)
		if (fake->useless[i])
			cpus[i] = 0;
}

static inline int fake_first(const struct fake *fake, int *host)
{
	int n = 0;

	for (int i = 0; host && i < fake->n_hosts && n < fake->wanted; i++)
		if (fake->cpus[i] && !fake->useless[i])
			host[n++] = i;
	return n == fake->wanted ? n : 0;
}

static inline int fake_stock(void *arg, int *host)
{
	struct fake *fake = arg;

	fake_goes_on(fake);
	fake->stocked++;
	fake->n_host = fake_first(fake, fake->host);
	return fake_first(fake, host);
}

static inline int fake_compare(void *arg, int *host)
{
	struct fake *fake = arg;

	fake_goes_on(fake);
	fake->compared++;
	return fake_first(fake, host);
}

static inline struct cpl_engine_scheduler fake_scheduler(struct fake *fake)
{
	return (struct cpl_engine_scheduler){
	        .arg = fake,
	        .measure = fake_measure,
	        .place = fake_place,
	        .narrow = fake_narrow,
	        .stock = fake_stock,
	        .compare = fake_compare,
	};
}

/* Blocks of even size over n hosts; arg is &n. */
static inline int fake_layout(void *arg, int ranks, int *rank_host)
{
	int n = *(int *)arg, each = (ranks + n - 1) / n;

	for (int r = 0; r < ranks; r++)
		rank_host[r] = r / each;
	return 0;
}

static inline int fake_cyclic(void *arg, int ranks, int *rank_host)
{
	for (int r = 0; r < ranks; r++)
		rank_host[r] = r % *(int *)arg;
	return 0;
}

/* The job begins on what it has. */
static inline void fake_begin(struct cpl_engine *engine, int64_t id,
                              struct fake *fake,
                              struct cpl_engine_notice *notice)
{
	struct cpl_engine_allocation got = {
	        .id = id,
	        .host = fake->host,
	        .n_hosts = fake->n_host,
	        .layout = fake_layout,
	        .arg = &fake->n_host,
	};

	cpl_engine_start(engine, &got, notice);
}
