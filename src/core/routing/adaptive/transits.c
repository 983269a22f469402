/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Passes over drawn paths of many flows. An indirect path starts in its
 * source's group, passes through the group of its intermediate router, and ends
 * in its destination's. Flows are sorted by the groups of their ends. Transits
 * are handed over to the groups that they are in, one group after the other,
 * with what they see there and are to carry, so that cells are used while they
 * are in the cache. The draws are those of drawn.c.
 */
#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "routing/adaptive/solver.h"

/* A path takes 32 bits: 20 for the router, 4 for each of its legs. */
#define FIRST 20
#define SECOND 24
#define DIRECT (UINT32_C(1) << 28)

/* The cells of so many flows are fetched ahead. */
#define BATCH 16

/* The cells of a path at its ends, and its transit. */
struct visit {
	int cell[CPL_LEG];
	double *through; /* NULL: the path is direct */
	const double *through_unit;
	int links; /* of the transit */
};

bool cpl_transits_pay(const struct cpl_solver *s,
                      const struct cpl_solver_job *job)
{
	const struct cpl_path_table *w = &s->table;

	return job->direct >= 0 && w->per_group <= UINT8_MAX &&
	       w->cells <= UINT16_MAX && w->k_links <= 4;
}

static inline struct cpl_transits **heads(const struct cpl_solver *s,
                                          int64_t shard)
{
	return s->at->transit_from + shard * s->table.groups;
}

static uint32_t pack(const struct cpl_drawn *path, bool direct)
{
	return direct ? path->first << FIRST | DIRECT
	              : (uint32_t)path->over | path->first << FIRST |
	                        path->second << SECOND;
}

/* The transits that a shard hands out. */
struct handing {
	struct cpl_cursor *cursor;  /* [groups] */
	struct cpl_transits **head; /* [groups] */
	struct cpl_transits *next;  /* free */
};

/* Makes room for one more transit through a group. */
static inline struct cpl_transits *room_in(struct handing *h, int group)
{
	struct cpl_transits *block = h->cursor[group].block;

	if (block && block->n < CPL_TRANSITS)
		return block;
	if (block)
		block->next = h->next;
	else
		h->head[group] = h->next;
	block = h->cursor[group].block = h->next++;
	block->next = NULL;
	block->n = 0;
	return block;
}

static inline void hand_out(const struct cpl_path_table *w, struct handing *h,
                            struct cpl_group_router a,
                            struct cpl_group_router b,
                            const struct cpl_drawn *path)
{
	struct cpl_group_router over = cpl_path_table_router(w, path->over);
	struct cpl_transits *block = room_in(h, over.group);
	uint16_t *to = block->cell[block->n++];
	int cell[CPL_LEG];

	cpl_leg_start(w, over, b, path->second, cell);
	cpl_leg_end(w, a, over, path->first, cell + CPL_LEG_START);
	for (int i = 0; i < CPL_LEG; i++)
		to[i] = (uint16_t)(cell[i] - over.group * w->cells);
}

/* Draws a flow's paths of an iteration: first the direct ones with a leg each,
 * then the indirect ones with two. Returns the number of direct ones. */
static inline int draw_paths(const struct cpl_path_table *w,
                             const struct cpl_solver_job *job, int from, int to,
                             int iteration, struct cpl_drawn path[CPL_DRAWN])
{
	uint64_t key = cpl_draw_key(w, job->seed, from, to);
	struct cpl_group_router a = cpl_path_table_router(w, from),
	                        b = cpl_path_table_router(w, to);
	int n_direct = 0, two[2];

	if (job->direct) {
		int paths = cpl_leg_count(w, from, to);

		cpl_draw_two(paths, key, iteration, two);
		for (; n_direct < 2 && n_direct < paths; n_direct++)
			path[n_direct] =
			        cpl_direct_path(w, from, to, two[n_direct]);
	}
	for (int n = n_direct; n < CPL_DRAWN; n++)
		path[n] =
		        cpl_draw_indirect(w, from, to, a, b, key, iteration, n);
	return n_direct;
}

/* Draws the paths of a shard's flows, and hands out their transits. */
static void draw(void *arg, int64_t shard, int thread)
{
	struct cpl_solver *s = arg;
	const struct cpl_path_table w = s->table;
	struct cpl_solver_job *job = s->at;
	struct handing h = {s->shard[shard].cursor, heads(s, shard),
	                    job->transits[shard]};

	for (int g = 0; g < w.groups; g++) {
		h.cursor[g].block = NULL;
		h.head[g] = NULL;
	}
	for (int64_t m = job->now.first[shard]; m < job->now.first[shard + 1]; m++) {
		struct cpl_route *route = &job->route[m];
		struct cpl_group_router a =
		        cpl_path_table_router(&w, route->from);
		struct cpl_group_router b =
		        cpl_path_table_router(&w, route->to);
		struct cpl_drawn path[CPL_DRAWN];
		int n_direct = draw_paths(&w, job, route->from, route->to,
		                          s->iteration, path);

		for (int k = 0; k < CPL_DRAWN; k++) {
			route->path[k] = pack(&path[k], k < n_direct);
			if (k >= n_direct)
				hand_out(&w, &h, a, b, &path[k]);
		}
	}
}

/* Goes over blocks of transits through a group, shard after shard. */
static inline void over_blocks(const struct cpl_solver *s, int64_t group,
                               void (*each)(const struct cpl_solver *s,
                                            int64_t first_cell,
                                            struct cpl_transits *p))
{
	for (int shard = 0; shard < CPL_SHARDS; shard++)
		for (struct cpl_transits *p = heads(s, shard)[group]; p;
		     p = p->next)
			each(s, group * s->table.cells, p);
}

/* Computes what transits show. */
static void see_block(const struct cpl_solver *s, int64_t first_cell,
                      struct cpl_transits *p)
{
	const struct cpl_cell *cell = s->shard->cell + first_cell;

	for (int i = 0; i < p->n; i++) {
		const uint16_t *c = p->cell[i];
		double a = cpl_lesser(cell[c[0]].view, cell[c[1]].view);
		double b = cpl_lesser(cell[c[2]].view, cell[c[3]].view);

		p->amount[i] = cpl_lesser(cpl_lesser(a, b), cell[c[4]].view);
	}
}

static void see(void *arg, int64_t group, int thread)
{
	over_blocks(arg, group, see_block);
}

static inline unsigned char links_of(const struct cpl_path_table *w,
                                     const uint16_t *cell)
{
	int n = 0;

	for (int j = 0; j < CPL_LEG; j++)
		n += cell[j] < w->first_none;
	return (unsigned char)n;
}

/* Does the same for what was left and for what each unit got. */
static void see_both_block(const struct cpl_solver *s, int64_t first_cell,
                           struct cpl_transits *p)
{
	const struct cpl_cell *cell = cpl_solver_seen(s) + first_cell;

	for (int i = 0; i < p->n; i++) {
		double left = INFINITY, unit = INFINITY;

		for (int j = 0; j < CPL_LEG; j++) {
			const struct cpl_cell *c = &cell[p->cell[i][j]];

			left = cpl_lesser(left, c->view);
			unit = cpl_lesser(unit, c->sum);
		}
		p->amount[i] = left;
		p->unit[i] = unit;
		p->links[i] = links_of(&s->table, p->cell[i]);
	}
}

static void see_both(void *arg, int64_t group, int thread)
{
	over_blocks(arg, group, see_both_block);
}

static void put_block(const struct cpl_solver *s, int64_t first_cell,
                      struct cpl_transits *p)
{
	struct cpl_cell *cell = s->shard->cell + first_cell;

	for (int i = 0; i < p->n; i++)
		for (int j = 0; j < CPL_LEG; j++)
			cell[p->cell[i][j]].sum += p->amount[i];
}

static void put_group(void *arg, int64_t group, int thread)
{
	over_blocks(arg, group, put_block);
}

static void put_bytes_block(const struct cpl_solver *s, int64_t first_cell,
                            struct cpl_transits *p)
{
	double *bytes = s->shard->bytes + first_cell;

	for (int i = 0; i < p->n; i++)
		for (int j = 0; j < CPL_LEG; j++)
			bytes[p->cell[i][j]] += p->amount[i];
}

static void put_bytes(void *arg, int64_t group, int thread)
{
	over_blocks(arg, group, put_bytes_block);
}

/* Goes over the paths of a flow once more. */
static inline void follow(const struct cpl_path_table *w,
                          struct cpl_cursor *cursor,
                          const struct cpl_route *route,
                          struct visit visit[CPL_DRAWN])
{
	struct cpl_group_router a = cpl_path_table_router(w, route->from);
	struct cpl_group_router b = cpl_path_table_router(w, route->to);

	for (int k = 0; k < CPL_DRAWN; k++) {
		uint32_t path = route->path[k];
		unsigned first = path >> FIRST & 15, second;
		struct visit *v = &visit[k];
		struct cpl_cursor *at;
		struct cpl_group_router c;

		if (path & DIRECT) {
			v->through = NULL;
			cpl_leg_start(w, a, b, first, v->cell);
			cpl_leg_end(w, a, b, first, v->cell + CPL_LEG_START);
			continue;
		}
		second = path >> SECOND & 15;
		c = cpl_path_table_router(w, path & ((1 << FIRST) - 1));
		cpl_leg_start(w, a, c, first, v->cell);
		cpl_leg_end(w, c, b, second, v->cell + CPL_LEG_START);
		at = &cursor[c.group];
		if (at->at == CPL_TRANSITS) {
			at->block = at->block->next;
			at->at = 0;
		}
		v->through = &at->block->amount[at->at];
		v->through_unit = &at->block->unit[at->at];
		v->links = at->block->links[at->at];
		at->at++;
	}
}

/* Follows some flows, prefetches their cells, and returns their number. */
static inline int follow_some(const struct cpl_path_table *w,
                              struct cpl_solver_job *job,
                              const struct cpl_shard *shard,
                              const struct cpl_cell *cell, int64_t m,
                              struct visit visit[BATCH][CPL_DRAWN])
{
	int64_t last = job->now.first[shard->number + 1];
	int n = last - m < BATCH ? (int)(last - m) : BATCH;

	for (int i = 0; i < n; i++) {
		follow(w, shard->cursor, &job->route[m + i], visit[i]);
		for (int k = 0; k < CPL_DRAWN; k++)
			for (int j = 0; j < CPL_LEG; j++)
				__builtin_prefetch(
				        &cell[visit[i][k].cell[j]], 1);
	}
	return n;
}

static inline double least(const struct cpl_cell *cell, const struct visit *v)
{
	double a = cpl_lesser(cell[v->cell[0]].view, cell[v->cell[1]].view);
	double b = cpl_lesser(cell[v->cell[3]].view, cell[v->cell[4]].view);
	double x = cpl_lesser(cpl_lesser(a, b), cell[v->cell[2]].view);

	return v->through ? cpl_lesser(x, *v->through) : x;
}

static inline void carry(struct cpl_cell *cell, const struct visit *v, double x)
{
	for (int i = 0; i < CPL_LEG; i++)
		cell[v->cell[i]].sum += x;
	if (v->through)
		*v->through = x;
}

static inline void ask_flow(struct cpl_cell *cell, struct cpl_route *route,
                            const struct visit visit[CPL_DRAWN], double scale)
{
	double value[CPL_DRAWN], sum = 0;

	for (int k = 0; k < CPL_DRAWN; k++) {
		value[k] = least(cell, &visit[k]);
		sum += value[k];
	}
	sum = sum > CPL_NOTHING ? route->bytes * scale / sum : 0;
	for (int k = 0; k < CPL_DRAWN; k++) {
		route->weight[k] = (float)(value[k] * sum);
		carry(cell, &visit[k], (double)route->weight[k]);
	}
}

/* Returns what the flow gets. */
static inline double grant_flow(struct cpl_cell *cell,
                                const struct cpl_route *route,
                                const struct visit visit[CPL_DRAWN])
{
	double sum = 0;

	for (int k = 0; k < CPL_DRAWN; k++) {
		double got = least(cell, &visit[k]) * (double)route->weight[k];

		sum += (double)(float)got;
		carry(cell, &visit[k], got);
	}
	return sum;
}

/* Handles n flows of a shard from m on with their paths, and adds what they
 * get, or the hop-bytes, to *sum. */
typedef void some_flows(const struct cpl_path_table *w,
                        const struct cpl_solver *s,
                        const struct cpl_shard *shard, int64_t m, int n,
                        struct visit visit[BATCH][CPL_DRAWN], double *sum);

/* Goes over all flows of a shard and returns the sum. */
static inline double over_flows(const struct cpl_solver *s, int64_t chunk,
                                const struct cpl_cell *cell, some_flows *each)
{
	const struct cpl_path_table w = s->table;
	struct cpl_solver_job *job = s->at;
	const struct cpl_shard *shard = &s->shard[chunk];
	struct visit visit[BATCH][CPL_DRAWN];
	int64_t m = job->now.first[chunk], last = job->now.first[chunk + 1];
	double sum = 0;

	for (int g = 0; g < w.groups; g++)
		shard->cursor[g] = (struct cpl_cursor){heads(s, chunk)[g], 0};
	while (m < last) {
		int n = follow_some(&w, job, shard, cell, m, visit);

		each(&w, s, shard, m, n, visit, &sum);
		m += n;
	}
	return sum;
}

static void ask_some(const struct cpl_path_table *w, const struct cpl_solver *s,
                     const struct cpl_shard *shard, int64_t m, int n,
                     struct visit visit[BATCH][CPL_DRAWN], double *sum)
{
	for (int i = 0; i < n; i++)
		ask_flow(shard->cell, &s->at->route[m + i], visit[i],
		         s->scale * s->at->turns);
}

static void ask_shard(void *arg, int64_t chunk, int thread)
{
	const struct cpl_solver *s = arg;

	over_flows(s, chunk, s->shard[chunk].cell, ask_some);
}

static void grant_some(const struct cpl_path_table *w,
                       const struct cpl_solver *s,
                       const struct cpl_shard *shard, int64_t m, int n,
                       struct visit visit[BATCH][CPL_DRAWN], double *sum)
{
	struct cpl_solver_job *job = s->at;

	for (int i = 0; i < n; i++) {
		double got =
		        grant_flow(shard->cell, &job->route[m + i], visit[i]);

		job->total[job->now.before + m + i] += got;
		*sum += got;
	}
}

static void grant_shard(void *arg, int64_t chunk, int thread)
{
	struct cpl_solver *s = arg;

	s->shard[chunk].granted +=
	        over_flows(s, chunk, s->shard[chunk].cell, grant_some);
}

typedef void task(void *arg, int64_t index, int thread);

/* Groups see their transits, shards go over their flows, and groups put what
 * these carry on the links. */
static void run_tasks(struct cpl_solver *s, task *look, task *over,
                      task *carry_out)
{
	cpl_parallel(s->a->threads, s->table.groups, look, s);
	cpl_parallel(s->a->threads, CPL_SHARDS, over, s);
	cpl_parallel(s->a->threads, s->table.groups, carry_out, s);
}

static void ask(struct cpl_solver *s, struct cpl_solver_job *job,
                struct cpl_shard *shard)
{
	if (job->turns > 1)
		cpl_transits_turn(s, job);
	cpl_parallel(s->a->threads, CPL_SHARDS, draw, s);
	run_tasks(s, see, ask_shard, put_group);
}

static void grant(struct cpl_solver *s, struct cpl_solver_job *job,
                  struct cpl_shard *shard)
{
	run_tasks(s, see, grant_shard, put_group);
}

static inline double least_unit(const struct cpl_cell *cell,
                                const struct visit *v)
{
	double x = v->through ? *v->through_unit : INFINITY;

	for (int i = 0; i < CPL_LEG; i++)
		x = cpl_lesser(x, cell[v->cell[i]].sum);
	return x;
}

/* Puts a path's bytes on its links, and returns their number. */
static inline int put_path(const struct cpl_path_table *w, struct visit *v,
                           double amount, double *load)
{
	int links = v->through ? v->links : 0;

	for (int i = 0; i < CPL_LEG; i++) {
		load[v->cell[i]] += amount;
		links += w->is_link[v->cell[i]];
	}
	if (v->through)
		*v->through = amount;
	return links;
}

/* Returns the mean links of its paths in this iteration. */
static inline double deliver_flow(const struct cpl_path_table *w,
                                  const struct cpl_solver *s,
                                  const struct cpl_shard *shard, int64_t m,
                                  struct visit visit[CPL_DRAWN])
{
	const struct cpl_route *route = &s->at->route[m];
	const struct cpl_cell *cell = cpl_solver_seen(s);
	double value[CPL_DRAWN], share[CPL_DRAWN], sum = 0, links = 0;
	float got[CPL_DRAWN];

	for (int k = 0; k < CPL_DRAWN; k++) {
		value[k] = least(cell, &visit[k]);
		sum += value[k];
	}
	sum = sum > CPL_NOTHING
	              ? route->bytes * s->scale * s->at->turns / sum
	              : 0;
	for (int k = 0; k < CPL_DRAWN; k++) {
		float weight = (float)(value[k] * sum);

		got[k] = (float)(least_unit(cell, &visit[k]) *
		                 (double)weight);
	}
	if (!cpl_shares(s->at->total[s->at->now.before + m],
	                s->iteration / s->at->turns, got, share))
		for (int k = 0; k < CPL_DRAWN; k++)
			share[k] = 0;
	for (int k = 0; k < CPL_DRAWN; k++)
		links += share[k] * put_path(w, &visit[k],
		                             share[k] * route->bytes,
		                             shard->bytes);
	return links;
}

static void deliver_some(const struct cpl_path_table *w,
                         const struct cpl_solver *s,
                         const struct cpl_shard *shard, int64_t m, int n,
                         struct visit visit[BATCH][CPL_DRAWN], double *sum)
{
	struct cpl_solver_job *job = s->at;

	for (int i = 0; i < n; i++)
		for (int k = 0; k < CPL_DRAWN; k++)
			for (int j = 0; j < CPL_LEG; j++)
				__builtin_prefetch(
				        &shard->bytes[visit[i][k].cell[j]], 1);
	for (int i = 0; i < n; i++) {
		double links = deliver_flow(w, s, shard, m + i, visit[i]);

		job->links[job->now.before + m + i] += (float)links;
		*sum += links * job->route[m + i].bytes;
	}
}

static void deliver_shard(void *arg, int64_t chunk, int thread)
{
	const struct cpl_solver *s = arg;

	s->at->routed[chunk].hop_bytes +=
	        over_flows(s, chunk, cpl_solver_seen(s), deliver_some);
}

/* What was left and what each unit got in the iteration was kept. */
static void replay(struct cpl_solver *s, struct cpl_solver_job *job,
                   struct cpl_shard *shard)
{
	if (job->turns > 1)
		cpl_transits_turn(s, job);
	cpl_parallel(s->a->threads, CPL_SHARDS, draw, s);
	run_tasks(s, see_both, deliver_shard, put_bytes);
}

static void start(struct cpl_solver *s, struct cpl_solver_job *job,
                  struct cpl_shard *shard)
{
	memset(job->total, 0, (size_t)job->n * sizeof(*job->total));
	memset(job->links, 0, (size_t)job->n * sizeof(*job->links));
	cpl_transits_sort(s, job);
}

const struct cpl_passes cpl_by_transits = {
        .whole = true,
        .pass = {[CPL_START] = start,
                 [CPL_ASK] = ask,
                 [CPL_GRANT] = grant,
                 [CPL_REPLAY] = replay},
};
