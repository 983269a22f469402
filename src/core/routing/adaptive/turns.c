/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which of many flows are asked for in an iteration (adaptive.h), and in what order: by
 * tiles of the groups of their sources, and there by those of their destinations.
 */
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "routing/adaptive/solver.h"

/* The cells of so many source groups stay in the cache while flows go from them
 * to one group after the other. */
#define TILE 8

static int group_of(const struct cpl_path_table *w,
                    const struct cpl_flows *flows, int row)
{
	return cpl_path_table_router(w, flows->from[row]).group;
}

/* A flow's turn is drawn, so that no pattern falls together with it. */
static inline int turn_of(const struct cpl_solver_job *job, int from, int to)
{
	uint64_t bits = (uint64_t)from << 32 | (uint64_t)to;

	return job->turns == 1
	               ? 0
	               : (int)((cpl_random_mix(bits) >> 32) *
	                               (uint64_t)job->turns >>
	                       32);
}

static int64_t indirect_paths(const struct cpl_path_table *w,
                              const struct cpl_solver_job *job, int from, int to)
{
	if (!job->direct)
		return CPL_DRAWN;
	return cpl_leg_count(w, from, to) > 1 ? CPL_DRAWN - 2 : CPL_DRAWN - 1;
}

/* Cuts shards of whole groups with about as many flows. */
static void cut(const struct cpl_path_table *w, struct cpl_solver_job *job,
                const int64_t *flows)
{
	int64_t before = 0;
	int g = 0;

	for (int i = 0; i < CPL_SHARDS; i++) {
		job->cut[i] = g;
		while (g < w->groups && before < job->n * (i + 1) / CPL_SHARDS)
			before += flows[g++];
	}
	job->cut[CPL_SHARDS] = w->groups;
}

/* Counts each turn's flows from each shard, and the blocks that these fill. */
static void count_turns(const struct cpl_path_table *w,
                        struct cpl_solver_job *job)
{
	const struct cpl_flows *flows = job->flows;
	int64_t paths[CPL_MOST_TURNS][CPL_SHARDS] = {0}, before = 0;

	for (int i = 0; i < flows->n_from; i++) {
		int from = flows->from[i], group = group_of(w, flows, i);
		int shard = 0;

		while (group >= job->cut[shard + 1])
			shard++;
		for (int64_t m = flows->row[i]; m < flows->row[i + 1]; m++) {
			int turn = turn_of(job, from, flows->to[m]);

			job->turn[turn].first[shard + 1]++;
			paths[turn][shard] +=
			        indirect_paths(w, job, from, flows->to[m]);
		}
	}
	for (int t = 0; t < job->turns; t++) {
		struct cpl_flow_turn *turn = &job->turn[t];

		turn->before = before;
		for (int i = 0; i < CPL_SHARDS; i++) {
			int64_t blocks = paths[t][i] / CPL_TRANSITS + w->groups;

			turn->first[i + 1] += turn->first[i];
			if (blocks > job->n_transits[i])
				job->n_transits[i] = blocks;
		}
		before += turn->first[CPL_SHARDS];
	}
}

size_t cpl_transits_room(const struct cpl_solver_job *job)
{
	int64_t most = 0;

	for (int t = 0; t < job->turns; t++)
		if (job->turn[t].first[CPL_SHARDS] > most)
			most = job->turn[t].first[CPL_SHARDS];
	return (size_t)most;
}

int cpl_transits_cut(const struct cpl_network *net, struct cpl_solver_job *job,
                     struct cpl_error *err)
{
	const struct cpl_flows *flows = job->flows;
	struct cpl_path_table w;
	int64_t *count;
	void *tables;
	int rc = -1;

	cpl_path_table_init(&w, net);
	tables = malloc(cpl_path_table_size(&w));
	count = calloc((size_t)w.groups, sizeof(*count));
	if (!tables || !count) {
		cpl_fail_memory(err);
		goto out;
	}
	cpl_path_table_fill(&w, tables);
	for (int i = 0; i < flows->n_from; i++)
		count[group_of(&w, flows, i)] +=
		        flows->row[i + 1] - flows->row[i];
	cut(&w, job, count);
	count_turns(&w, job);
	rc = 0;
out:
	free(tables);
	free(count);
	return rc;
}

/* Counts a row's flows by turn and destination group. */
static void count_row(const struct cpl_path_table *w,
                      const struct cpl_solver_job *job, int row, int64_t *start)
{
	const struct cpl_flows *flows = job->flows;

	for (int64_t m = flows->row[row]; m < flows->row[row + 1]; m++) {
		int turn = turn_of(job, flows->from[row], flows->to[m]);

		start[turn * w->groups +
		      cpl_path_table_router(w, flows->to[m]).group]++;
	}
}

static void keep_row(const struct cpl_path_table *w, struct cpl_solver_job *job,
                     int row, int64_t *start)
{
	const struct cpl_flows *flows = job->flows;

	for (int64_t m = flows->row[row]; m < flows->row[row + 1]; m++) {
		int from = flows->from[row], to = flows->to[m];
		int turn = turn_of(job, from, to);
		int64_t at = start[turn * w->groups +
		                   cpl_path_table_router(w, to).group]++;
		double bytes = flows->bytes[m];

		if (job->turned)
			job->turned[at] = (struct cpl_turned){from, to, bytes};
		else
			job->route[at] = (struct cpl_route){
			        .from = from, .to = to, .bytes = bytes};
	}
}

/* Sorts the flows from groups first .. last - 1 by turn and destination group, each
 * turn's from at[turn] on, which becomes where they end. */
static void sort_tile(const struct cpl_path_table *w, struct cpl_solver_job *job,
                      int first, int last, int64_t *at, int64_t *start)
{
	const struct cpl_flows *flows = job->flows;

	memset(start, 0,
	       (size_t)job->turns * (size_t)w->groups * sizeof(*start));
	for (int i = 0; i < flows->n_from; i++) {
		int group = group_of(w, flows, i);

		if (group >= first && group < last)
			count_row(w, job, i, start);
	}
	for (int t = 0; t < job->turns; t++)
		for (int g = 0; g < w->groups; g++) {
			int64_t n = start[t * w->groups + g];

			start[t * w->groups + g] = at[t];
			at[t] += n;
		}
	for (int i = 0; i < flows->n_from; i++) {
		int group = group_of(w, flows, i);

		if (group >= first && group < last)
			keep_row(w, job, i, start);
	}
}

static void sort_shard(void *arg, int64_t number, int thread)
{
	struct cpl_solver *s = arg;
	struct cpl_solver_job *job = s->at;
	int last = job->cut[number + 1];
	int64_t at[CPL_MOST_TURNS];

	for (int t = 0; t < job->turns; t++)
		at[t] = job->turn[t].before + job->turn[t].first[number];
	for (int g = job->cut[number]; g < last; g += TILE)
		sort_tile(&s->table, job, g, g + TILE < last ? g + TILE : last,
		          at, s->shard[number].start);
}

void cpl_transits_sort(struct cpl_solver *s, struct cpl_solver_job *job)
{
	job->now = job->turn[0];
	cpl_parallel(s->a->threads, CPL_SHARDS, sort_shard, s);
}

static void take_shard(void *arg, int64_t number, int thread)
{
	struct cpl_solver *s = arg;
	struct cpl_solver_job *job = s->at;
	const struct cpl_turned *from = job->turned + job->now.before;

	for (int64_t m = job->now.first[number]; m < job->now.first[number + 1]; m++)
		job->route[m] = (struct cpl_route){.from = from[m].from,
		                                   .to = from[m].to,
		                                   .bytes = from[m].bytes};
}

void cpl_transits_turn(struct cpl_solver *s, struct cpl_solver_job *job)
{
	job->now = job->turn[s->iteration % job->turns];
	cpl_parallel(s->a->threads, CPL_SHARDS, take_shard, s);
}
