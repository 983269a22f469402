/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Passes over all direct paths where all flows between two groups go over one
 * link and there are many of them. They then share the segments between routers
 * and gateways, and a pass works on a table of what each segment shows and is
 * to carry. The flows are sorted by blocks of source and destination group. In
 * a pass the near segments belong to the shard; the far ones are seen before it
 * and put on the links after it, with all shards.
 */
#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "routing/adaptive/solver.h"

/* Tables are worth it with this mean number of flows of a block. */
#define WORTH 4

/* The flows of one group with one other, or with itself. */
struct transit_block {
	/* The index of path i of a flow (from, to) at its start is 2 * (from +
	 * to * near_step) + i; at its end that of j is 2 * to * far_step +
	 * j. */
	const struct cpl_segment_view *near, *far;
	double *near_flow, *far_flow;
	int near_step, far_step;
	int near_gateway, far_gateway;
	bool inside;
	struct cpl_segment_view link;
	double link_flow;
	/* The flows of the block. */
	struct cpl_ends *ends;
	double *bytes;
	float *total;
	int n, *alive;
};

/* A pass over all blocks of a shard. */
struct block_pass {
	struct cpl_solver *s;
	struct cpl_solver_job *job;
	struct cpl_shard *shard;
	bool delivers;
	void (*over)(const struct block_pass *pass,
	             struct transit_block *block);
};

/* The index of a segment in the tables, which have a table for each shared
 * router: in near it is where segments lead to, in far where they start. */
static inline int64_t segment_index(const struct cpl_path_table *w, int shared,
                                    int other)
{
	return 2 * ((int64_t)shared * w->per_group + other);
}

static inline int64_t segments_of_group(const struct cpl_path_table *w)
{
	return 2 * (int64_t)w->per_group * w->per_group;
}

/* Where there is one segment, the second shows 0, so that nothing takes it. */
static inline struct cpl_segment_view see(const struct cpl_solver *s,
                                          const struct cpl_cell *cell,
                                          int group, int from, int to,
                                          unsigned turn)
{
	const struct cpl_path_table *w = &s->table;
	int c[2];

	if (turn && cpl_local_paths(cpl_path_table_local(w, from, to)) < 2)
		return (struct cpl_segment_view){0, 0};
	cpl_segment(w, group, from, to, turn, c);
	return (struct cpl_segment_view){
	        cpl_lesser(s->left[c[0]], s->left[c[1]]),
	        cpl_lesser(cell[c[0]].view, cell[c[1]].view),
	};
}

/* Computes what all segments of a group show: near ones, which lead to the
 * router that they share, or far ones, which leave it. */
static void see_group(const struct cpl_solver *s, const struct cpl_shard *shard,
                      int group, bool near, struct cpl_segment_view *view)
{
	for (int shared = 0; shared < s->table.per_group; shared++)
		for (int other = 0; other < s->table.per_group; other++)
			for (unsigned turn = 0; turn < 2; turn++)
				*view++ = see(s, shard->cell, group,
				              near ? other : shared,
				              near ? shared : other, turn);
}

/* Puts what goes over segments, from n arrays, on the links and clears it. */
static void put_group(const struct cpl_solver *s, struct cpl_shard *shard,
                      int group, bool near, double *const *flow, int n,
                      bool bytes)
{
	int64_t at = 0;
	int c[2];

	for (int shared = 0; shared < s->table.per_group; shared++)
		for (int other = 0; other < s->table.per_group; other++)
			for (unsigned turn = 0; turn < 2; turn++, at++) {
				double sum = 0;

				for (int i = 0; i < n; i++) {
					sum += flow[i][at];
					flow[i][at] = 0;
				}
				if (!(sum > 0))
					continue;
				cpl_segment(&s->table, group,
				            near ? other : shared,
				            near ? shared : other, turn, c);
				for (int i = 0; i < 2; i++)
					if (bytes)
						shard->bytes[c[i]] += sum;
					else
						shard->cell[c[i]].sum += sum;
			}
}

static void see_far(void *arg, int64_t group, int thread)
{
	const struct cpl_solver *s = arg;

	see_group(s, s->shard, (int)group, false,
	          s->far + group * segments_of_group(&s->table));
}

void cpl_blocks_see(struct cpl_solver *s)
{
	cpl_parallel(s->a->threads, s->table.groups, see_far, s);
}

static void put_far(struct cpl_solver *s, int64_t group, bool bytes)
{
	double *flow[CPL_SHARDS];

	for (int i = 0; i < CPL_SHARDS; i++)
		flow[i] = s->shard[i].far_flow +
		          group * segments_of_group(&s->table);
	put_group(s, s->shard, (int)group, false, flow, CPL_SHARDS, bytes);
}

static void put_far_sums(void *arg, int64_t group, int thread)
{
	put_far(arg, group, false);
}

static void put_far_bytes(void *arg, int64_t group, int thread)
{
	put_far(arg, group, true);
}

void cpl_blocks_put(struct cpl_solver *s, bool bytes)
{
	cpl_parallel(s->a->threads, s->table.groups,
	             bytes ? put_far_bytes : put_far_sums, s);
}

/* The tables of near segments hold the groups of one class. */
static inline int64_t near_table(const struct cpl_path_table *w, int group)
{
	return group / w->per_group * segments_of_group(w);
}

/* The class of a group is where others' links to it start, if that is the same
 * in all. Blocks of the same two classes share the segments there, and follow
 * each other so that these stay in the cache. */
static inline int classes(const struct cpl_path_table *w)
{
	return w->groups < w->per_group ? w->groups : w->per_group;
}

static inline int class_size(const struct cpl_path_table *w, int class)
{
	return (w->groups - class - 1) / w->per_group + 1;
}

/* The number of groups in the classes before. */
static inline int64_t class_first(const struct cpl_path_table *w, int class)
{
	int more = w->groups % w->per_group;

	return (int64_t) class * (w->groups / w->per_group) +
	       (class < more ? class : more);
}

static inline int64_t block_of(const struct cpl_path_table *w, int from, int to)
{
	int a = from % w->per_group, b = to % w->per_group;

	return class_first(w, a) * w->groups +
	       class_size(w, a) * class_first(w, b) +
	       from / w->per_group * class_size(w, b) + to / w->per_group;
}

/* Calls each() with all flows from groups of the classes first .. last - 1. */
static void over_flows(const struct cpl_path_table *w,
                       struct cpl_solver_job *job, int first, int last,
                       void (*each)(struct cpl_solver_job *job, int64_t block,
                                    struct cpl_ends ends, double bytes))
{
	const struct cpl_flows *flows = job->flows;

	for (int i = 0; i < flows->n_from; i++) {
		struct cpl_group_router a =
		        cpl_path_table_router(w, flows->from[i]);
		int class = a.group % w->per_group;

		if (class < first || class >= last)
			continue;
		for (int64_t m = flows->row[i]; m < flows->row[i + 1]; m++) {
			struct cpl_group_router b =
			        cpl_path_table_router(w, flows->to[m]);
			struct cpl_ends ends = {(uint16_t)a.local,
			                        (uint16_t)b.local};

			each(job, block_of(w, a.group, b.group), ends,
			     flows->bytes[m]);
		}
	}
}

static void count_one(struct cpl_solver_job *job, int64_t block,
                      struct cpl_ends ends, double bytes)
{
	job->alive[block]++;
}

static void keep_one(struct cpl_solver_job *job, int64_t block,
                     struct cpl_ends ends, double bytes)
{
	int64_t m = job->start[block] + job->alive[block]++;

	job->ends[m] = ends;
	job->bytes[m] = bytes;
}

bool cpl_blocks_pay(const struct cpl_solver *s,
                    const struct cpl_solver_job *job)
{
	const struct cpl_path_table *w = &s->table;
	int64_t groups = w->groups;

	return job->direct < 0 && w->k_links == 1 &&
	       w->per_group <= UINT8_MAX && job->n >= WORTH * groups * groups;
}

static void count(struct cpl_solver *s, struct cpl_solver_job *job,
                  struct cpl_shard *shard)
{
	const struct cpl_path_table *w = &s->table;
	int first =
	        (int)cpl_parallel_first(classes(w), CPL_SHARDS, shard->number);
	int last = (int)cpl_parallel_first(classes(w), CPL_SHARDS,
	                                   shard->number + 1);

	for (int64_t i = class_first(w, first) * w->groups;
	     i < class_first(w, last) * w->groups; i++)
		job->alive[i] = 0;
	over_flows(w, job, first, last, count_one);
}

static void cut(const struct cpl_solver *s, struct cpl_solver_job *job)
{
	const struct cpl_path_table *w = &s->table;
	int64_t blocks = (int64_t)w->groups * w->groups;
	int class = 0;

	job->start[0] = 0;
	for (int64_t i = 0; i < blocks; i++)
		job->start[i + 1] = job->start[i] + job->alive[i];
	for (int i = 0; i < CPL_SHARDS; i++) {
		job->cut[i] = class;
		while (class < classes(w) &&
		       job->start[class_first(w, class) * w->groups] <
		               job->n * (i + 1) / CPL_SHARDS)
			class ++;
	}
	job->cut[CPL_SHARDS] = classes(w);
}

static void start(struct cpl_solver *s, struct cpl_solver_job *job,
                  struct cpl_shard *shard)
{
	const struct cpl_path_table *w = &s->table;
	size_t segments = (size_t)segments_of_group(w);
	size_t alike = (size_t)((w->groups - 1) / w->per_group + 1);
	int first = job->cut[shard->number], last = job->cut[shard->number + 1];
	int64_t block = class_first(w, first) * w->groups;
	int64_t end = class_first(w, last) * w->groups;

	for (int64_t i = block; i < end; i++)
		job->alive[i] = 0;
	for (int64_t m = 4 * job->start[block]; m < 4 * job->start[end]; m++)
		job->path_total[m] = 0;
	memset(shard->far_flow, 0,
	       (size_t)w->groups * segments * sizeof(*shard->far_flow));
	memset(shard->near_flow, 0,
	       alike * segments * sizeof(*shard->near_flow));
	over_flows(w, job, first, last, keep_one);
}

static void pass_block(const struct block_pass *pass, int from, int to,
                       int64_t index)
{
	static const struct cpl_segment_view none[2] = {{INFINITY, INFINITY}};
	const struct cpl_solver *s = pass->s;
	const struct cpl_path_table *w = &s->table;
	struct cpl_solver_job *job = pass->job;
	struct cpl_shard *shard = pass->shard;
	int64_t first = job->start[index];
	double nowhere[2] = {0, 0};
	struct transit_block block = {
	        .near = shard->near + near_table(w, from),
	        .near_flow = shard->near_flow + near_table(w, from),
	        .near_step = w->per_group,
	        .far = none,
	        .far_flow = nowhere,
	        .inside = true,
	        .link = none[0],
	        .ends = job->ends + first,
	        .bytes = job->bytes + first,
	        .total = job->path_total + 4 * first,
	        .n = (int)(job->start[index + 1] - first),
	        .alive = &job->alive[index],
	};
	int cell = 0;

	if (from != to) {
		struct cpl_gateway gateway =
		        cpl_path_table_gateway(w, from, to, 0);
		int64_t far = to * segments_of_group(w) +
		              segment_index(w, gateway.far, 0);

		cell = cpl_global_cell(w, from, to, 0);
		block.inside = false;
		block.near += segment_index(w, gateway.own, 0);
		block.near_flow += segment_index(w, gateway.own, 0);
		block.near_step = 0;
		block.near_gateway = gateway.own;
		block.far = s->far + far;
		block.far_flow = shard->far_flow + far;
		block.far_step = 1;
		block.far_gateway = gateway.far;
		block.link = (struct cpl_segment_view){s->left[cell],
		                                       shard->cell[cell].view};
	}
	pass->over(pass, &block);
	if (from == to)
		return;
	if (pass->delivers)
		shard->bytes[cell] += block.link_flow;
	else
		shard->cell[cell].sum += block.link_flow;
}

/* Passes over the blocks from all groups of a class to all of another. */
static void pass_classes(struct block_pass *pass, int a, int b)
{
	const struct cpl_path_table *w = &pass->s->table;
	int64_t block = block_of(w, a, b);

	for (int from = a; from < w->groups; from += w->per_group)
		for (int to = b; to < w->groups; to += w->per_group, block++)
			if (pass->job->alive[block] || pass->delivers)
				pass_block(pass, from, to, block);
}

static void over_blocks(struct block_pass pass)
{
	const struct cpl_solver *s = pass.s;
	const struct cpl_path_table *w = &s->table;
	struct cpl_shard *shard = pass.shard;
	const int *cut = pass.job->cut + shard->number;

	for (int a = cut[0]; a < cut[1]; a++) {
		for (int from = a; from < w->groups; from += w->per_group)
			see_group(s, shard, from, true,
			          shard->near + near_table(w, from));
		for (int b = 0; b < classes(w); b++)
			pass_classes(&pass, a, b);
		for (int from = a; from < w->groups; from += w->per_group) {
			double *flow = shard->near_flow + near_table(w, from);

			put_group(s, shard, from, true, &flow, 1,
			          pass.delivers);
		}
	}
}

/* What the segments of a flow show. */
struct seen_block {
	double path[4]; /* start by start, then by end */
	double sum;
};

static inline struct seen_block look(const struct cpl_segment_view *near,
                                     const struct cpl_segment_view *far,
                                     double link)
{
	double a = cpl_lesser(near[0].left, link),
	       b = cpl_lesser(near[1].left, link);
	struct seen_block x = {
	        {cpl_lesser(a, far[0].left), cpl_lesser(a, far[1].left),
	         cpl_lesser(b, far[0].left), cpl_lesser(b, far[1].left)},
	        0,
	};

	x.sum = x.path[0] + x.path[1] + (x.path[2] + x.path[3]);
	return x;
}

/* Adds the flow to the segments at both ends and returns the sum. */
static inline double flow(const double x[4], double *near, double *far)
{
	double a = x[0] + x[1], b = x[2] + x[3];

	near[0] += a;
	near[1] += b;
	far[0] += x[0] + x[2];
	far[1] += x[1] + x[3];
	return a + b;
}

static inline int64_t near_path(const struct transit_block *block,
                                struct cpl_ends ends)
{
	return 2 * ((int64_t)ends.from + ends.to * block->near_step);
}

static inline int64_t far_path(const struct transit_block *block,
                               struct cpl_ends ends)
{
	return 2 * (int64_t)ends.to * block->far_step;
}

/* Exchanges a flow with the last that is alive. */
static void drop(struct transit_block *block, int m)
{
	int last = --*block->alive;
	struct cpl_ends ends = block->ends[m];
	double bytes = block->bytes[m];

	block->ends[m] = block->ends[last];
	block->ends[last] = ends;
	block->bytes[m] = block->bytes[last];
	block->bytes[last] = bytes;
	for (int j = 0; j < 4; j++) {
		float total = block->total[4 * m + j];

		block->total[4 * m + j] = block->total[4 * last + j];
		block->total[4 * last + j] = total;
	}
}

static void ask_block(const struct block_pass *pass,
                      struct transit_block *block)
{
	double link = block->link.left;

	for (int m = 0; m < *block->alive; m++) {
		int64_t near = near_path(block, block->ends[m]);
		int64_t far = far_path(block, block->ends[m]);
		struct seen_block x =
		        look(block->near + near, block->far + far, link);
		double unit;

		if (!(x.sum > CPL_NOTHING)) {
			/* No more will be exposed, so the flow is done. */
			if (pass->s->steps == 1)
				drop(block, m--);
			continue;
		}
		unit = block->bytes[m] * pass->s->scale / x.sum;
		for (int j = 0; j < 4; j++)
			x.path[j] *= unit;
		block->link_flow += flow(x.path, block->near_flow + near,
		                         block->far_flow + far);
	}
}

static void grant_block(const struct block_pass *pass,
                        struct transit_block *block)
{
	double link = block->link.unit;

	for (int m = 0; m < *block->alive; m++) {
		int64_t near_at = near_path(block, block->ends[m]);
		int64_t far_at = far_path(block, block->ends[m]);
		const struct cpl_segment_view *near = block->near + near_at;
		const struct cpl_segment_view *far = block->far + far_at;
		struct seen_block x = look(near, far, block->link.left);
		float *total = block->total + 4 * m;
		double unit;

		if (!(x.sum > CPL_NOTHING))
			continue;
		unit = block->bytes[m] * pass->s->scale / x.sum;
		for (int j = 0; j < 4; j++) {
			double each =
			        cpl_lesser(near[j / 2].unit, far[j % 2].unit);

			x.path[j] *= unit * cpl_lesser(each, link);
			total[j] += (float)x.path[j];
		}
		block->link_flow += flow(x.path, block->near_flow + near_at,
		                         block->far_flow + far_at);
	}
	pass->shard->granted += block->link_flow;
}

static void deliver_block(const struct block_pass *pass,
                          struct transit_block *block)
{
	const struct cpl_path_table *w = &pass->s->table;
	struct cpl_routed *routed = &pass->job->routed[pass->shard->number];

	for (int m = 0; m < block->n; m++) {
		struct cpl_ends ends = block->ends[m];
		const float *total = block->total + 4 * m;
		int before, after = 0, starts, ends_of, hops;
		double x[4], sum = 0;

		before = cpl_path_table_local(
		        w, ends.from,
		        block->inside ? ends.to : block->near_gateway);
		if (!block->inside)
			after = cpl_path_table_local(w, block->far_gateway,
			                             ends.to);
		starts = cpl_local_paths(before);
		ends_of = cpl_local_paths(after);
		hops = before + after + !block->inside;
		routed->hop_bytes += block->bytes[m] * hops;
		if (hops > routed->max_hops)
			routed->max_hops = hops;
		for (int j = 0; j < 4; j++)
			sum += (double)total[j];
		for (int j = 0; j < 4; j++) {
			double even = j / 2 < starts && j % 2 < ends_of;

			x[j] = block->bytes[m] *
			       (sum > 0 ? (double)total[j] / sum
			                : even / (starts * ends_of));
		}
		block->link_flow +=
		        flow(x, block->near_flow + near_path(block, ends),
		             block->far_flow + far_path(block, ends));
	}
}

static void ask(struct cpl_solver *s, struct cpl_solver_job *job,
                struct cpl_shard *shard)
{
	over_blocks((struct block_pass){s, job, shard, false, ask_block});
}

static void grant(struct cpl_solver *s, struct cpl_solver_job *job,
                  struct cpl_shard *shard)
{
	over_blocks((struct block_pass){s, job, shard, false, grant_block});
}

static void deliver(struct cpl_solver *s, struct cpl_solver_job *job,
                    struct cpl_shard *shard)
{
	over_blocks((struct block_pass){s, job, shard, true, deliver_block});
}

const struct cpl_passes cpl_by_blocks = {
        .cut = cut,
        .pass = {[CPL_COUNT] = count,
                 [CPL_START] = start,
                 [CPL_ASK] = ask,
                 [CPL_GRANT] = grant,
                 [CPL_DELIVER] = deliver},
};
