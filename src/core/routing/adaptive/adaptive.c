/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/parallel.h"
#include "routing/adaptive/adaptive_solver.h"

#define MAX_ITERATIONS 30
#define CONVERGED 1e-4

/* Of a huge page. */
#define BLOCK ((size_t)1 << 21)
/* Bytes that stay with the caller at the most. */
#define MAX_LEFT ((size_t)1 << 27)

static void run_shard(void *arg, int64_t chunk, int thread)
{
	struct cpl_solver *s = arg;

	s->pass(s, s->at, &s->shard[chunk]);
}

static void over_lanes(struct cpl_solver *s, struct cpl_solver_job *job,
                       void (*pass)(struct cpl_solver *,
                                    struct cpl_solver_job *,
                                    struct cpl_shard *))
{
	s->pass = pass;
	s->at = job;
	cpl_parallel(s->a->threads, s->n_shards, run_shard, s);
}

/* One pass over all jobs. */
static void over_parts(struct cpl_solver *s,
                       void (*pass)(struct cpl_solver *,
                                    struct cpl_solver_job *))
{
	for (int i = 0; i < s->a->n_jobs; i++)
		pass(s, &s->job[i]);
}

/* The same with segments between links and flows that go by blocks. */
static void over_parts_and_ways(struct cpl_solver *s,
                                void (*pass)(struct cpl_solver *,
                                             struct cpl_solver_job *),
                                bool bytes)
{
	if (s->blocks)
		cpl_blocks_see(&s->table, &s->shard[0], s->a->threads, s->far);
	over_parts(s, pass);
	if (s->blocks)
		cpl_blocks_put(&s->table, s->shard, s->a->threads, bytes);
}

static void ask_lane(struct cpl_solver *s, struct cpl_solver_job *job,
                     struct cpl_shard *shard)
{
	if (job->by_blocks)
		cpl_blocks_ask(&s->table, job, shard, s->scale, s->steps == 1);
	else if (job->direct < 0)
		cpl_direct_ask(&s->table, job, shard, s->scale);
	else
		cpl_drawn_ask(&s->table, job, shard, s->scale, s->iteration);
}

static void ask(struct cpl_solver *s, struct cpl_solver_job *job)
{
	if (job->by_transits)
		cpl_transits_ask(&s->table, job, s->shard, s->a->threads,
		                 s->scale, s->iteration);
	else
		over_lanes(s, job, ask_lane);
}

static void grant_lane(struct cpl_solver *s, struct cpl_solver_job *job,
                       struct cpl_shard *shard)
{
	if (job->by_blocks)
		cpl_blocks_grant(&s->table, job, shard, s->scale);
	else if (job->direct < 0)
		cpl_direct_grant(&s->table, job, shard);
	else
		cpl_drawn_grant(&s->table, job, shard, s->iteration,
		                s->delivers);
}

static void grant(struct cpl_solver *s, struct cpl_solver_job *job)
{
	if (job->by_transits)
		cpl_transits_grant(&s->table, job, s->shard, s->a->threads);
	else
		over_lanes(s, job, grant_lane);
}

static void replay_lane(struct cpl_solver *s, struct cpl_solver_job *job,
                        struct cpl_shard *shard)
{
	cpl_drawn_replay(&s->table, job, shard, s->iteration);
}

static void replay(struct cpl_solver *s, struct cpl_solver_job *job)
{
	if (job->by_transits)
		cpl_transits_deliver(&s->table, job, s->shard, s->a->threads,
		                     s->scale, s->iteration);
	else if (job->grants)
		over_lanes(s, job, replay_lane);
}

/* One iteration; returns what it grants. */
static double step(struct cpl_solver *s)
{
	double granted = 0;

	for (int i = 0; i < s->n_shards; i++)
		s->shard[i].granted = 0;
	over_parts_and_ways(s, ask, false);
	cpl_links_divide(s);
	if (s->seen)
		cpl_links_keep(s);
	over_parts_and_ways(s, grant, false);
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

static void deliver_lane(struct cpl_solver *s, struct cpl_solver_job *job,
                         struct cpl_shard *shard)
{
	if (job->by_blocks)
		cpl_blocks_deliver(&s->table, job, shard);
	else
		cpl_direct_deliver(&s->table, job, shard);
}

static void deliver_direct(struct cpl_solver *s, struct cpl_solver_job *job)
{
	if (job->direct < 0)
		over_lanes(s, job, deliver_lane);
}

static void clear_lane(struct cpl_solver *s, struct cpl_solver_job *job,
                       struct cpl_shard *shard)
{
	int64_t first;
	size_t n;

	if (job->by_blocks) {
		cpl_blocks_keep(&s->table, job, shard);
		return;
	}
	if (job->by_transits) {
		cpl_transits_sort(&s->table, job, shard);
		return;
	}
	first = job->flows->row[job->cut[shard->number]];
	n = (size_t)(job->flows->row[job->cut[shard->number + 1]] - first);
	if (job->direct < 0) {
		memset(job->path_total + first * job->slots, 0,
		       n * (size_t)job->slots * sizeof(*job->path_total));
		return;
	}
	memset(job->total + first, 0, n * sizeof(*job->total));
	memset(job->hops + first, 0, n * sizeof(*job->hops));
}

static void clear(struct cpl_solver *s, struct cpl_solver_job *job)
{
	over_lanes(s, job, clear_lane);
}

/* The bytes, once it is known what each flow gets in all. */
static void deliver(struct cpl_solver *s, int iterations)
{
	bool again = false;

	for (int i = 0; i < s->n_shards; i++)
		memset(s->shard[i].bytes, 0,
		       cpl_solver_cells(s) * sizeof(double));
	over_parts_and_ways(s, deliver_direct, true);
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
		if (s->seen)
			cpl_links_recall(s);
		over_parts(s, replay);
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
		routed->max_hops = fmax(routed->max_hops, job->hops[m]);
}

static void count_lane(struct cpl_solver *s, struct cpl_solver_job *job,
                       struct cpl_shard *shard)
{
	cpl_blocks_count(&s->table, job, shard);
}

static void count(struct cpl_solver *s, struct cpl_solver_job *job)
{
	if (job->by_blocks)
		over_lanes(s, job, count_lane);
}

/* Weights and grants are floats: scaled to near 1 they stay in range. */
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

/* Rows for each shard, with about as many flows. */
static void cut(struct cpl_solver_job *job, int n_shards)
{
	const struct cpl_flows *flows = job->flows;
	int row = 0;

	for (int i = 0; i < n_shards; i++) {
		job->cut[i] = row;
		while (row < flows->n_from &&
		       flows->row[row] < job->n * (i + 1) / n_shards)
			row++;
	}
	job->cut[n_shards] = flows->n_from;
}

/* The jobs are known; the arrays have their memory. */
static void solve(struct cpl_solver *s)
{
	struct cpl_adaptive *a = s->a;

	s->steps = 1;
	over_parts(s, count);
	for (int i = 0; s->blocks && i < s->n_shards; i++)
		memset(s->shard[i].far_flow, 0,
		       2 * (size_t)s->table.groups *
		               (size_t)s->table.per_group *
		               (size_t)s->table.per_group *
		               sizeof(*s->shard[i].far_flow));
	for (int i = 0; i < a->n_jobs; i++) {
		struct cpl_solver_job *job = &s->job[i];

		if (job->by_blocks)
			cpl_blocks_cut(&s->table, job);
		else if (!job->by_transits)
			cut(job, s->n_shards);
		if (job->direct >= 0 && job->n)
			s->steps = CPL_EXPOSURE;
	}
	set_scales(s);
	over_parts(s, clear);
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
	/* Cells are looked at in no order; refused does no harm. */
	madvise(memory->block, size, MADV_HUGEPAGE);
	return 0;
}

int cpl_adaptive_solve(struct cpl_adaptive *a, struct cpl_error *err)
{
	struct cpl_adaptive_memory own = {0};
	struct cpl_adaptive_memory *memory = a->memory ? a->memory : &own;
	struct cpl_solver s = {.a = a};
	struct cpl_arena arena = {NULL, 0};
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
	cpl_solver_allot(&s, flows, &arena);
	if (reserve(memory, arena.used)) {
		cpl_fail_memory(err);
		goto out;
	}
	arena = (struct cpl_arena){memory->block, 0};
	cpl_solver_allot(&s, flows, &arena);
	solve(&s);
	rc = 0;
out:
	if (memory == &own || memory->size > MAX_LEFT)
		release(memory);
	free(s.job);
	return rc;
}
