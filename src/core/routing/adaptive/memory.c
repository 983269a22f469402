/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "routing/adaptive/solver.h"

#define SEED 1
#define ITERATIONS_KEPT (CPL_EXPOSURE + CPL_AFTER_EXPOSURE)
/* Up to so many flows of all jobs, one shard does the work. */
#define ONE_SHARD 20000
/* Paths of so many flows are kept, 80 MB; beyond, they are drawn again. */
#define MAX_KEPT 8192
/* Up to so many flows the grants of all iterations are kept, in 1 GB; beyond,
 * what links show is kept, or all is iterated again. */
#define MAX_REMEMBERED (INT64_C(1) << 20)
/* So many flows are asked for in an iteration where there are transits. */
#define MAX_TURN (INT64_C(1) << 24)
/* So many flows to each group fill blocks of transits. */
#define FILL (CPL_SHARDS * CPL_TRANSITS / 2)

static void *take_piece(struct cpl_pieces *pieces, size_t n, size_t size)
{
	void *at = pieces->at ? pieces->at + pieces->used : NULL;

	pieces->used += (n * size + 63) / 64 * 64;
	return at;
}

/* A flow's direct paths; -1: all, also where there is no third router. */
static int direct_paths(const struct cpl_network *net,
                        const struct cpl_routing *routing)
{
	if (net->n_routers < 3 || routing == &cpl_routing_adaptive_direct)
		return -1;
	return routing == &cpl_routing_adaptive_hybrid ? 2 : 0;
}

/* Grants are kept where there are no more iterations than usual. */
static bool keeps_grants(const struct cpl_solver *s,
                         const struct cpl_solver_job *job)
{
	return job->n <= MAX_REMEMBERED && s->a->iterations <= ITERATIONS_KEPT;
}

/* Gives the arrays of a job their memory. */
static void allot_job(const struct cpl_solver *s, struct cpl_solver_job *job,
                      struct cpl_pieces *pieces)
{
	size_t count = (size_t)job->n, groups = (size_t)s->table.groups;
	size_t blocks = groups * groups;

	job->slots = job->direct < 0 ? 4 * s->table.k_links : CPL_DRAWN;
	if (job->passes != &cpl_by_blocks && job->passes != &cpl_by_transits)
		job->weight =
		        take_piece(pieces, count,
		                   (size_t)job->slots * sizeof(*job->weight));
	if (job->direct < 0) {
		job->path_total = take_piece(pieces, count,
		                             (size_t)job->slots *
		                                     sizeof(*job->path_total));
		if (job->passes != &cpl_by_blocks)
			return;
		job->start =
		        take_piece(pieces, blocks + 1, sizeof(*job->start));
		job->alive = take_piece(pieces, blocks, sizeof(*job->alive));
		job->ends = take_piece(pieces, count, sizeof(*job->ends));
		job->bytes = take_piece(pieces, count, sizeof(*job->bytes));
		return;
	}
	job->total = take_piece(pieces, count, sizeof(*job->total));
	if (job->passes == &cpl_by_transits) {
		job->links = take_piece(pieces, count, sizeof(*job->links));
		if (job->turns > 1)
			job->turned = take_piece(pieces, count,
			                         sizeof(*job->turned));
		job->route = take_piece(pieces, cpl_transits_room(job),
		                        sizeof(*job->route));
		for (int i = 0; i < CPL_SHARDS; i++)
			job->transits[i] =
			        take_piece(pieces, (size_t)job->n_transits[i],
			                   sizeof(*job->transits[i]));
		job->transit_from = take_piece(pieces, CPL_SHARDS * groups,
		                               sizeof(*job->transit_from));
		return;
	}
	job->hops = take_piece(pieces, count, sizeof(*job->hops));
	if (!keeps_grants(s, job))
		return;
	job->grants =
	        take_piece(pieces, count,
	                   ITERATIONS_KEPT * CPL_DRAWN * sizeof(*job->grants));
	if (job->n > MAX_KEPT)
		return;
	job->direct_kept = take_piece(pieces, count, sizeof(*job->direct_kept));
	job->kept =
	        take_piece(pieces, count * ITERATIONS_KEPT, sizeof(*job->kept));
}

/* Does the same for what belongs to no job. */
static void allot_rest(struct cpl_solver *s, int64_t flows,
                       struct cpl_pieces *pieces)
{
	void *tables = take_piece(pieces, 1, cpl_path_table_size(&s->table));
	size_t cells = cpl_solver_cells(s), alike, near, far;

	s->n_shards = flows > ONE_SHARD ? CPL_SHARDS : 1;
	s->left = take_piece(pieces, cells, sizeof(*s->left));
	near = s->blocks ? 2 * (size_t)s->table.per_group *
	                           (size_t)s->table.per_group
	                 : 0;
	far = near * (size_t)s->table.groups;
	alike = (size_t)((s->table.groups - 1) / s->table.per_group + 1);
	s->far = take_piece(pieces, far, sizeof(*s->far));
	for (int i = 0; i < s->n_shards; i++) {
		struct cpl_shard *shard = &s->shard[i];

		shard->number = i;
		shard->cell = take_piece(pieces, cells, sizeof(*shard->cell));
		shard->bytes = take_piece(pieces, cells, sizeof(*shard->bytes));
		shard->bundle = take_piece(pieces, (size_t)s->table.k_links,
		                           sizeof(*shard->bundle));
		if (s->transits) {
			shard->cursor =
			        take_piece(pieces, (size_t)s->table.groups,
			                   sizeof(*shard->cursor));
			shard->start = take_piece(
			        pieces,
			        CPL_MOST_TURNS * (size_t)s->table.groups,
			        sizeof(*shard->start));
		}
		shard->far_flow =
		        take_piece(pieces, far, sizeof(*shard->far_flow));
		shard->near =
		        take_piece(pieces, alike * near, sizeof(*shard->near));
		shard->near_flow = take_piece(pieces, alike * near,
		                              sizeof(*shard->near_flow));
	}
	if (s->transits)
		s->seen = take_piece(pieces, ITERATIONS_KEPT * cells,
		                     sizeof(*s->seen));
	if (pieces->at)
		cpl_path_table_fill(&s->table, tables);
}

/* Numbers of turns divide the iterations of the exposure, so that each flow has as
 * many. */
static const int turns[] = {1, 2, 5, 10, 25, CPL_MOST_TURNS};

static int turns_of(const struct cpl_solver *s, int64_t flows)
{
	int i = 0;

	while (turns[i] < CPL_MOST_TURNS &&
	       (s->a->turns ? turns[i] < s->a->turns
	                    : flows > MAX_TURN * turns[i]))
		i++;
	return turns[i];
}

/* The most with which a flow's bytes over its paths are no more than a piece. */
static int turns_by_bytes(const struct cpl_solver *s,
                          const struct cpl_solver_job *job)
{
	double bytes = 0;
	int i = 0;

	for (int64_t m = 0; m < job->n; m++)
		bytes += job->flows->bytes[m];
	while (turns[i] < CPL_MOST_TURNS &&
	       turns[i + 1] * bytes <=
	               s->a->piece * (double)job->n * ITERATIONS_KEPT * CPL_DRAWN)
		i++;
	return turns[i];
}

/* Chooses the passes for the flows of a job. */
static int choose(struct cpl_solver *s, struct cpl_solver_job *job,
                  struct cpl_error *err)
{
	int64_t many = FILL * (int64_t)s->table.groups;

	job->passes = job->direct < 0 ? &cpl_by_direct : &cpl_by_drawn;
	job->turns = 1;
	if (job->n <= ONE_SHARD || s->a->by_flows)
		return 0;
	if (s->a->piece > 0 && job->direct >= 0)
		job->turns = turns_by_bytes(s, job);
	if (cpl_blocks_pay(s, job)) {
		job->passes = &cpl_by_blocks;
		s->blocks = true;
	} else if ((job->turns > 1 || job->n > MAX_REMEMBERED ||
	            job->n >= many) &&
	           s->a->iterations <= ITERATIONS_KEPT &&
	           cpl_transits_pay(s, job)) {
		job->passes = &cpl_by_transits;
		s->transits = true;
		if (job->turns == 1)
			job->turns = turns_of(s, job->n);
		return cpl_transits_cut(s->a->net, job, err);
	}
	return 0;
}

int64_t cpl_solver_jobs(struct cpl_solver *s, struct cpl_error *err)
{
	int64_t flows = 0;

	cpl_path_table_init(&s->table, s->a->net);
	for (int i = 0; i < s->a->n_jobs; i++) {
		struct cpl_adaptive_job *asked = &s->a->job[i];
		const struct cpl_flows *f = asked->flows;
		struct cpl_solver_job *job = &s->job[i];

		asked->routed = (struct cpl_routed){0, 0};
		*job = (struct cpl_solver_job){
		        .flows = f,
		        .n = f->n_from ? f->row[f->n_from] : 0,
		        .direct = direct_paths(s->a->net, asked->routing),
		        .seed = SEED + (uint64_t)i,
		};
		if (choose(s, job, err))
			return -1;
		flows += job->n;
	}
	return flows;
}

void cpl_solver_allot(struct cpl_solver *s, int64_t flows,
                      struct cpl_pieces *pieces)
{
	allot_rest(s, flows, pieces);
	for (int i = 0; i < s->a->n_jobs; i++)
		allot_job(s, &s->job[i], pieces);
}
