/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/parallel.h"
#include "routing/adaptive/solver.h"

#define MAX_ITERATIONS 30
#define CONVERGED 1e-4

/* The size of a huge page. */
#define BLOCK ((size_t)1 << 21)
/* At most so many bytes stay with the caller. */
#define MAX_LEFT ((size_t)1 << 27)

static void run_shard(void *arg, int64_t chunk, int thread)
{
	struct cpl_solver *s = arg;

	s->pass(s, s->at, &s->shard[chunk]);
}

/* Runs one pass over all jobs. */
static void over_jobs(struct cpl_solver *s, enum cpl_pass_kind kind)
{
	for (int i = 0; i < s->a->n_jobs; i++) {
		s->at = &s->job[i];
		s->pass = s->at->passes->pass[kind];
		if (!s->pass)
			continue;
		if (s->at->passes->whole)
			s->pass(s, s->at, s->shard);
		else
			cpl_parallel(s->a->threads, s->n_shards, run_shard, s);
	}
}

/* Does the same with the segments of flows that go by blocks. */
static void over_jobs_and_segments(struct cpl_solver *s,
                                   enum cpl_pass_kind kind)
{
	if (s->blocks)
		cpl_blocks_see(s);
	over_jobs(s, kind);
	if (s->blocks)
		cpl_blocks_put(s, kind == CPL_DELIVER);
}

/* Makes one iteration and returns what it grants. */
static double step(struct cpl_solver *s)
{
	double granted = 0;

	for (int i = 0; i < s->n_shards; i++)
		s->shard[i].granted = 0;
	over_jobs_and_segments(s, CPL_ASK);
	cpl_links_divide(s);
	if (s->seen)
		cpl_links_keep(s);
	over_jobs_and_segments(s, CPL_GRANT);
	cpl_links_settle(s);
	for (int i = 0; i < s->n_shards; i++)
		granted += s->shard[i].granted;
	return granted;
}

/* Returns how many iterations it took. */
static int iterate(struct cpl_solver *s)
{
	int limit = s->a->iterations;
	double sum = 0;

	if (!limit)
		limit = s->steps > 1 ? CPL_EXPOSURE + CPL_AFTER_EXPOSURE
		                     : MAX_ITERATIONS;
	cpl_links_start(s);
	for (s->iteration = 0; s->iteration < limit;) {
		double granted = step(s);

		sum += granted;
		s->iteration++;
		if (s->iteration >= s->steps && granted <= CONVERGED * sum)
			break;
	}
	return s->iteration;
}

/* Delivers the bytes, once it is known what each flow gets in all. */
static void deliver(struct cpl_solver *s, int iterations)
{
	bool again = false;

	for (int i = 0; i < s->n_shards; i++)
		memset(s->shard[i].bytes, 0,
		       cpl_solver_cells(s) * sizeof(double));
	over_jobs_and_segments(s, CPL_DELIVER);
	for (int i = 0; i < s->a->n_jobs && !s->seen; i++)
		again = again || (s->job[i].direct >= 0 && s->job[i].n &&
		                  !s->job[i].grants);
	s->delivers = true;
	if (again)
		cpl_links_start(s);
	for (s->iteration = 0; s->iteration < iterations; s->iteration++) {
		if (again) {
			step(s);
			continue;
		}
		over_jobs(s, CPL_REPLAY);
	}
}

static void finish(struct cpl_solver *s, int i)
{
	struct cpl_solver_job *job = &s->job[i];
	struct cpl_routed *routed = &s->a->job[i].routed;

	for (int k = 0; k < s->n_shards; k++) {
		routed->hop_bytes += job->routed[k].hop_bytes;
		routed->max_hops =
		        fmax(routed->max_hops, job->routed[k].max_hops);
	}
	for (int64_t m = 0; job->direct >= 0 && m < job->n; m++)
		routed->max_hops =
		        fmax(routed->max_hops,
		             job->links ? (double)job->links[m] : job->hops[m]);
}

/* Weights and grants are floats; scaled to near 1 they stay in range. */
static void set_scales(struct cpl_solver *s)
{
	const struct cpl_network *net = s->a->net;
	double most = 0;

	s->unit = 0;
	for (int c = 0; c < net->n_classes; c++)
		if (net->link_class[c].count > 0)
			s->unit = fmax(s->unit, net->link_class[c].bandwidth);
	for (int i = 0; i < s->a->n_jobs; i++)
		for (int64_t m = 0; m < s->job[i].n; m++)
			most = fmax(most, s->job[i].flows->bytes[m]);
	s->scale = 1 / most;
}

/* The jobs are known, and the arrays have their memory. */
static void solve(struct cpl_solver *s)
{
	struct cpl_adaptive *a = s->a;

	s->steps = 1;
	over_jobs(s, CPL_COUNT);
	for (int i = 0; i < a->n_jobs; i++) {
		struct cpl_solver_job *job = &s->job[i];

		if (job->passes->cut)
			job->passes->cut(s, job);
		if (job->direct >= 0 && job->n)
			s->steps = CPL_EXPOSURE;
	}
	set_scales(s);
	over_jobs(s, CPL_START);
	a->iterations_taken = iterate(s);
	deliver(s, a->iterations_taken);
	cpl_links_add_bytes(s);
	for (int i = 0; i < a->n_jobs; i++)
		finish(s, i);
}

static void release(struct cpl_adaptive_memory *memory)
{
	free(memory->block);
	*memory = (struct cpl_adaptive_memory){0};
}

static int reserve(struct cpl_adaptive_memory *memory, size_t size)
{
	size = (size / BLOCK + 1) * BLOCK;
	if (size <= memory->size)
		return 0;
	release(memory);
	memory->block = aligned_alloc(BLOCK, size);
	if (!memory->block)
		return -1;
	memory->size = size;
	/* Cells are read in no order; a refusal does no harm. */
	madvise(memory->block, size, MADV_HUGEPAGE);
	return 0;
}

int cpl_adaptive_solve(struct cpl_adaptive *a, struct cpl_error *err)
{
	struct cpl_adaptive_memory own = {0};
	struct cpl_adaptive_memory *memory = a->memory ? a->memory : &own;
	struct cpl_solver s = {.a = a};
	struct cpl_pieces pieces = {NULL, 0};
	int64_t flows;
	int rc = -1;

	a->iterations_taken = 0;
	s.job = malloc(((size_t)a->n_jobs + 1) * sizeof(*s.job));
	if (!s.job)
		return cpl_fail_memory(err);
	flows = cpl_solver_jobs(&s, err);
	if (flows <= 0) {
		rc = flows < 0 ? -1 : 0;
		goto out;
	}
	cpl_solver_allot(&s, flows, &pieces);
	if (reserve(memory, pieces.used)) {
		cpl_fail_memory(err);
		goto out;
	}
	pieces = (struct cpl_pieces){memory->block, 0};
	cpl_solver_allot(&s, flows, &pieces);
	solve(&s);
	rc = 0;
out:
	if (memory == &own || memory->size > MAX_LEFT)
		release(memory);
	free(s.job);
	return rc;
}
