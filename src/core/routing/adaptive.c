/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/parallel.h"
#include "routing/adaptive_internal.h"

#define EXPOSURE 50
#define AFTER_EXPOSURE 10
#define MAX_ITERATIONS 30
#define ITERATIONS_KEPT ((size_t)(EXPOSURE + AFTER_EXPOSURE))
#define CONVERGED 1e-4
#define SEED 1
/* Pairs of all jobs up to which one lane does. */
#define ONE_LANE 20000
/* Pairs up to which the paths of all iterations are kept, 80 MB; beyond, they
 * are drawn again. */
#define MAX_KEPT 8192
/* Pairs up to which the grants of all iterations are kept, 1 GB; beyond, all is
 * iterated again. */
#define MAX_REMEMBERED (INT64_C(1) << 20)
/* Parts of the links over which threads add up the lanes. */
#define LINK_CHUNKS 16

/* Of a huge page. */
#define BLOCK ((size_t)1 << 21)

/* Hands out parts of one block; without a block only counts. */
struct room {
	char *at;
	size_t used;
};

/* Links of one class that follow each other, and their cells. */
struct run {
	int64_t link, cell, count;
	int class;
};

struct solver {
	struct cpl_adaptive *a;
	struct cpl_ways ways;
	struct cpl_part *part; /* [jobs] */
	int n_lanes;
	struct cpl_lane lane[CPL_LANES];
	double *left; /* [cells] */
	bool blocks;  /* for any part */
	struct cpl_way_view *far;
	double scale; /* of bytes to weights */
	double unit;  /* of bandwidths: the largest */
	int steps;    /* of the exposure */
	int iteration;
	bool delivers;
	double more[CPL_NETWORK_MAX_CLASSES]; /* exposed next, per class */
	void (*pass)(struct solver *s, struct cpl_part *part,
	             struct cpl_lane *lane);
	struct cpl_part *at; /* the part that a pass goes over */
	void (*sum)(struct solver *s, const struct run *run);
};

static void *take(struct room *room, size_t n, size_t size)
{
	void *at = room->at ? room->at + room->used : NULL;

	room->used += (n * size + 63) / 64 * 64;
	return at;
}

static int64_t at_most(int64_t n, int64_t limit)
{
	return n < limit ? n : limit;
}

bool cpl_routing_is_adaptive(const struct cpl_routing *routing)
{
	return routing == &cpl_routing_adaptive_direct ||
	       routing == &cpl_routing_adaptive_indirect ||
	       routing == &cpl_routing_adaptive_hybrid;
}

/* Direct paths of a pair; -1: all of them. Without a third router there are no
 * others. */
static int direct_paths(const struct cpl_network *net,
                        const struct cpl_routing *routing)
{
	if (net->n_routers < 3 || routing == &cpl_routing_adaptive_direct)
		return -1;
	return routing == &cpl_routing_adaptive_hybrid ? 2 : 0;
}

/* Give the arrays of a part of n pairs their places. Never less room for more
 * pairs. */
static void place_part(const struct cpl_network *net, struct cpl_part *part,
                       int64_t n, struct room *room)
{
	size_t count = (size_t)n;
	size_t blocks =
	        (size_t)net->dragonfly.groups * (size_t)net->dragonfly.groups;

	part->slots = part->direct < 0 ? 4 * net->dragonfly.global_per_pair
	                               : CPL_DRAWN;
	if (!part->by_blocks)
		part->weight =
		        take(room, count,
		             (size_t)part->slots * sizeof(*part->weight));
	part->path_total = NULL;
	part->kept = NULL;
	part->grants = NULL;
	if (part->direct < 0) {
		part->path_total =
		        take(room, count,
		             (size_t)part->slots * sizeof(*part->path_total));
		if (!part->by_blocks)
			return;
		part->start = take(room, blocks + 1, sizeof(*part->start));
		part->alive = take(room, blocks, sizeof(*part->alive));
		part->ends = take(room, count, sizeof(*part->ends));
		part->bytes = take(room, count, sizeof(*part->bytes));
		return;
	}
	part->total = take(room, count, sizeof(*part->total));
	part->hops = take(room, count, sizeof(*part->hops));
	part->kept = take(room, (size_t)at_most(n, MAX_KEPT),
	                  ITERATIONS_KEPT * (CPL_DRAWN_LINKS + 1) *
	                          sizeof(*part->kept));
	part->grants =
	        take(room, (size_t)at_most(n, MAX_REMEMBERED),
	             ITERATIONS_KEPT * CPL_DRAWN * sizeof(*part->grants));
	if (n > MAX_KEPT)
		part->kept = NULL;
	if (n > MAX_REMEMBERED)
		part->grants = NULL;
}

/* The same for what belongs to no part. */
static void place_rest(struct solver *s, const struct cpl_network *net,
                       int64_t pairs, struct room *room)
{
	void *tables = take(room, 1, cpl_ways_size(net));
	size_t cells, alike, near, far;

	cpl_ways_init(&s->ways, net);
	cells = (size_t)s->ways.groups * (size_t)s->ways.cells;
	s->n_lanes = pairs > ONE_LANE ? CPL_LANES : 1;
	s->left = take(room, cells, sizeof(*s->left));
	near = s->blocks ? 2 * (size_t)s->ways.per_group *
	                           (size_t)s->ways.per_group
	                 : 0;
	far = near * (size_t)s->ways.groups;
	alike = (size_t)((s->ways.groups - 1) / s->ways.per_group + 1);
	s->far = take(room, far, sizeof(*s->far));
	for (int i = 0; i < s->n_lanes; i++) {
		struct cpl_lane *lane = &s->lane[i];

		lane->number = i;
		lane->cell = take(room, cells, sizeof(*lane->cell));
		lane->bytes = take(room, cells, sizeof(*lane->bytes));
		lane->bundle =
		        take(room, (size_t)net->dragonfly.global_per_pair,
		             sizeof(*lane->bundle));
		lane->left = s->left;
		lane->far = s->far;
		lane->far_flow = take(room, far, sizeof(*lane->far_flow));
		lane->near = take(room, alike * near, sizeof(*lane->near));
		lane->near_flow =
		        take(room, alike * near, sizeof(*lane->near_flow));
	}
	if (room->at)
		cpl_ways_fill(&s->ways, tables);
}

size_t cpl_adaptive_scratch_size(const struct cpl_network *net, int64_t pairs)
{
	struct solver s = {.a = NULL};
	struct room drawn = {NULL, 64}, direct = {NULL, 64};
	struct cpl_part part = {.direct = 0};

	place_rest(&s, net, pairs, &drawn);
	place_part(net, &part, pairs, &drawn);
	part.direct = -1;
	place_rest(&s, net, pairs, &direct);
	place_part(net, &part, pairs, &direct);
	return drawn.used > direct.used ? drawn.used : direct.used;
}

/* Rows for each lane, with about as many pairs. */
static void cut(struct cpl_part *part, int n_lanes)
{
	const struct cpl_pairs *pairs = part->pairs;
	int row = 0;

	for (int i = 0; i < n_lanes; i++) {
		part->cut[i] = row;
		while (row < pairs->n_from &&
		       pairs->row[row] < part->n * (i + 1) / n_lanes)
			row++;
	}
	part->cut[n_lanes] = pairs->n_from;
}

static int64_t count_pairs(const struct cpl_pairs *pairs)
{
	return pairs->n_from ? pairs->row[pairs->n_from] : 0;
}

static void run_lane(void *arg, int64_t chunk, int thread)
{
	struct solver *s = arg;

	s->pass(s, s->at, &s->lane[chunk]);
}

/* One pass over all parts. */
static void over_parts(struct solver *s,
                       void (*pass)(struct solver *, struct cpl_part *,
                                    struct cpl_lane *))
{
	s->pass = pass;
	for (int i = 0; i < s->a->n_jobs; i++) {
		s->at = &s->part[i];
		cpl_parallel(s->a->threads, s->n_lanes, run_lane, s);
	}
}

/* Some groups. */
static void run_links(void *arg, int64_t chunk, int thread)
{
	struct solver *s = arg;
	const struct cpl_network *net = s->a->net;
	const struct cpl_ways *w = &s->ways;
	int n = s->n_lanes > 1 ? LINK_CHUNKS : 1;
	int64_t last = cpl_parallel_first(w->groups, n, chunk + 1);

	for (int64_t g = cpl_parallel_first(w->groups, n, chunk); g < last;
	     g++) {
		int64_t cell = g * w->cells;

		for (int c = 0; c < net->n_classes; c++) {
			const struct cpl_link_class *class =
			        &net->link_class[c];
			int64_t count = class->count / w->groups;
			struct run run = {class->first + g * count, cell, count,
			                  c};

			s->sum(s, &run);
			cell += count;
		}
	}
}

static void over_links(struct solver *s,
                       void (*sum)(struct solver *, const struct run *))
{
	s->sum = sum;
	cpl_parallel(s->a->threads, s->n_lanes > 1 ? LINK_CHUNKS : 1, run_links,
	             s);
}

/* The same with ways between links and pairs that go by blocks. */
static void over_parts_and_ways(struct solver *s,
                                void (*pass)(struct solver *, struct cpl_part *,
                                             struct cpl_lane *),
                                bool bytes)
{
	if (s->blocks)
		cpl_blocks_see(&s->ways, &s->lane[0], s->a->threads, s->far);
	over_parts(s, pass);
	if (s->blocks)
		cpl_blocks_put(&s->ways, s->lane, s->a->threads, bytes);
}

static void ask(struct solver *s, struct cpl_part *part, struct cpl_lane *lane)
{
	if (part->by_blocks)
		cpl_blocks_ask(&s->ways, part, lane, s->scale, s->steps == 1);
	else if (part->direct < 0)
		cpl_direct_ask(&s->ways, part, lane, s->scale);
	else
		cpl_drawn_ask(&s->ways, part, lane, s->scale, s->iteration);
}

static void grant(struct solver *s, struct cpl_part *part,
                  struct cpl_lane *lane)
{
	if (part->by_blocks)
		cpl_blocks_grant(&s->ways, part, lane, s->scale);
	else if (part->direct < 0)
		cpl_direct_grant(&s->ways, part, lane);
	else
		cpl_drawn_grant(&s->ways, part, lane, s->iteration,
		                s->delivers);
}

static void replay(struct solver *s, struct cpl_part *part,
                   struct cpl_lane *lane)
{
	if (part->grants)
		cpl_drawn_replay(&s->ways, part, lane, s->iteration);
}

/* The lanes' sums of a link, and clear them. */
static inline double gather(const struct solver *s, int64_t cell, int n_lanes)
{
	double sum = 0;

	for (int i = 0; i < n_lanes; i++) {
		sum += s->lane[i].cell[cell].sum;
		s->lane[i].cell[cell].sum = 0;
	}
	return sum;
}

static inline void show(const struct solver *s, int64_t cell, double view,
                        int n_lanes)
{
	for (int i = 0; i < n_lanes; i++)
		s->lane[i].cell[cell].view = view;
}

static void divide_run(const struct solver *s, const struct run *run)
{
	const double *background = s->a->background;

	for (int64_t i = 0; i < run->count; i++) {
		double asked = gather(s, run->cell + i, s->n_lanes), unit;

		if (background)
			asked += background[run->link + i] * s->scale;
		unit = asked > 0 ? asked : 1;
		show(s, run->cell + i, s->left[run->cell + i] / unit,
		     s->n_lanes);
	}
}

/* The usual case inside a scheduler: one lane, nothing else on the links. */
static void divide_plain(const struct solver *s, const struct run *run)
{
	struct cpl_cell *restrict cell = s->lane[0].cell + run->cell;
	const double *restrict left = s->left + run->cell;

	for (int64_t i = 0; i < run->count; i++) {
		double asked = cell[i].sum > 0 ? cell[i].sum : 1;

		cell[i].view = left[i] / asked;
		cell[i].sum = 0;
	}
}

/* From what is asked for to what each unit of it gets. */
static void divide(struct solver *s, const struct run *run)
{
	if (s->n_lanes == 1 && !s->a->background)
		divide_plain(s, run);
	else
		divide_run(s, run);
}

static void settle_run(const struct solver *s, const struct run *run)
{
	const double *background = s->a->background;
	double *bandwidth = s->delivers ? NULL : s->a->bandwidth;
	double more = s->more[run->class];

	for (int64_t i = 0; i < run->count; i++) {
		int64_t c = run->cell + i;
		double granted = gather(s, c, s->n_lanes), left;

		if (background)
			granted += background[run->link + i] * s->scale *
			           s->lane[0].cell[c].view;
		if (bandwidth)
			bandwidth[run->link + i] += granted * s->unit;
		left = s->left[c] - granted;
		/* What rounding leaves of a full link would make weights. */
		left = (left > 1e-12 * granted ? left : 0) + more;
		s->left[c] = left;
		show(s, c, left, s->n_lanes);
	}
}

static void settle_plain(const struct solver *s, const struct run *run)
{
	struct cpl_cell *restrict cell = s->lane[0].cell + run->cell;
	double *restrict left = s->left + run->cell;
	double more = s->more[run->class];

	for (int64_t i = 0; i < run->count; i++) {
		double granted = cell[i].sum, rest = left[i] - granted;

		left[i] = (rest > 1e-12 * granted ? rest : 0) + more;
		cell[i].view = left[i];
		cell[i].sum = 0;
	}
}

/* From what is granted to what is left, with the next exposure. */
static void settle(struct solver *s, const struct run *run)
{
	if (s->n_lanes == 1 && !s->a->background && !s->a->bandwidth)
		settle_plain(s, run);
	else
		settle_run(s, run);
}

/* Weights and grants are floats: scaled to near 1 they stay in range. */
static void set_scales(struct solver *s)
{
	const struct cpl_network *net = s->a->net;
	double most = 0;

	s->unit = 0;
	for (int c = 0; c < net->n_classes; c++)
		if (net->link_class[c].count > 0)
			s->unit = fmax(s->unit, net->link_class[c].bandwidth);
	for (int i = 0; i < s->a->n_jobs; i++)
		for (int64_t m = 0; m < s->part[i].n; m++)
			most = fmax(most, s->part[i].pairs->bytes[m]);
	s->scale = 1 / most;
}

static void set_exposure(struct solver *s, bool on)
{
	const struct cpl_network *net = s->a->net;

	for (int c = 0; c < net->n_classes; c++)
		s->more[c] =
		        on ? net->link_class[c].bandwidth / s->unit / s->steps
		           : 0;
}

static size_t all_cells(const struct solver *s)
{
	return (size_t)s->ways.groups * (size_t)s->ways.cells;
}

/* All links as they are before the first iteration. */
static void show_start(struct solver *s, const struct run *run)
{
	for (int64_t i = 0; i < run->count; i++) {
		s->left[run->cell + i] = s->more[run->class];
		show(s, run->cell + i, s->more[run->class], s->n_lanes);
	}
}

static void start(struct solver *s)
{
	for (int i = 0; i < s->n_lanes; i++)
		for (size_t c = 0; c < all_cells(s); c++)
			s->lane[i].cell[c] = (struct cpl_cell){INFINITY, 0};
	for (size_t c = 0; c < all_cells(s); c++)
		s->left[c] = INFINITY;
	set_exposure(s, true);
	over_links(s, show_start);
}

/* One iteration; returns what it grants. */
static double step(struct solver *s)
{
	double granted = 0;

	for (int i = 0; i < s->n_lanes; i++)
		s->lane[i].granted = 0;
	set_exposure(s, s->iteration + 1 < s->steps);
	over_parts_and_ways(s, ask, false);
	over_links(s, divide);
	over_parts_and_ways(s, grant, false);
	over_links(s, settle);
	for (int i = 0; i < s->n_lanes; i++)
		granted += s->lane[i].granted;
	return granted;
}

/* Returns how many iterations it took. */
static int iterate(struct solver *s)
{
	int limit = s->a->iterations;
	double sum = 0;

	if (!limit)
		limit = s->steps > 1 ? EXPOSURE + AFTER_EXPOSURE
		                     : MAX_ITERATIONS;
	start(s);
	for (s->iteration = 0; s->iteration < limit;) {
		double granted = step(s);

		sum += granted;
		s->iteration++;
		if (s->iteration >= s->steps && granted <= CONVERGED * sum)
			break;
	}
	return s->iteration;
}

static void deliver_direct(struct solver *s, struct cpl_part *part,
                           struct cpl_lane *lane)
{
	if (part->by_blocks)
		cpl_blocks_deliver(&s->ways, part, lane);
	else if (part->direct < 0)
		cpl_direct_deliver(&s->ways, part, lane);
}

static void clear(struct solver *s, struct cpl_part *part,
                  struct cpl_lane *lane)
{
	int64_t first;
	size_t n;

	if (part->by_blocks) {
		cpl_blocks_keep(&s->ways, part, lane);
		return;
	}
	first = part->pairs->row[part->cut[lane->number]];
	n = (size_t)(part->pairs->row[part->cut[lane->number + 1]] - first);
	if (part->direct < 0) {
		memset(part->path_total + first * part->slots, 0,
		       n * (size_t)part->slots * sizeof(*part->path_total));
		return;
	}
	memset(part->total + first, 0, n * sizeof(*part->total));
	memset(part->hops + first, 0, n * sizeof(*part->hops));
}

/* The bytes, once it is known what each pair gets in all. */
static void deliver(struct solver *s, int iterations)
{
	bool again = false;

	for (int i = 0; i < s->n_lanes; i++)
		memset(s->lane[i].bytes, 0, all_cells(s) * sizeof(double));
	over_parts_and_ways(s, deliver_direct, true);
	for (int i = 0; i < s->a->n_jobs; i++)
		again = again || (s->part[i].direct >= 0 && s->part[i].n &&
		                  !s->part[i].grants);
	s->delivers = true;
	if (again)
		start(s);
	for (s->iteration = 0; s->iteration < iterations; s->iteration++) {
		if (again)
			step(s);
		else
			over_parts(s, replay);
	}
}

static void finish(struct solver *s, int job)
{
	struct cpl_part *part = &s->part[job];
	struct cpl_routed *routed = &s->a->job[job].routed;

	for (int i = 0; i < s->n_lanes; i++) {
		routed->hop_bytes += part->routed[i].hop_bytes;
		routed->max_hops =
		        fmax(routed->max_hops, part->routed[i].max_hops);
	}
	for (int64_t m = 0; part->direct >= 0 && m < part->n; m++)
		routed->max_hops = fmax(routed->max_hops, part->hops[m]);
}

static void add_bytes(struct solver *s, const struct run *run)
{
	for (int64_t i = 0; i < run->count; i++) {
		double sum = 0;

		for (int j = 0; j < s->n_lanes; j++)
			sum += s->lane[j].bytes[run->cell + i];
		s->a->load[run->link + i] += sum;
	}
}

static void count(struct solver *s, struct cpl_part *part,
                  struct cpl_lane *lane)
{
	if (part->by_blocks)
		cpl_blocks_count(&s->ways, part, lane);
}

/* Parts are known; the arrays have their places. */
static void solve(struct solver *s)
{
	struct cpl_adaptive *a = s->a;

	s->steps = 1;
	over_parts(s, count);
	for (int i = 0; s->blocks && i < s->n_lanes; i++)
		memset(s->lane[i].far_flow, 0,
		       2 * (size_t)s->ways.groups * (size_t)s->ways.per_group *
		               (size_t)s->ways.per_group *
		               sizeof(*s->lane[i].far_flow));
	for (int i = 0; i < a->n_jobs; i++) {
		struct cpl_part *part = &s->part[i];

		if (part->by_blocks)
			cpl_blocks_cut(&s->ways, part);
		else
			cut(part, s->n_lanes);
		if (part->direct >= 0 && part->n)
			s->steps = EXPOSURE;
	}
	set_scales(s);
	over_parts(s, clear);
	a->iterations_taken = iterate(s);
	deliver(s, a->iterations_taken);
	over_links(s, add_bytes);
	for (int i = 0; i < a->n_jobs; i++)
		finish(s, i);
}

/* What a job is to the solver; returns its pairs. */
static int64_t make_part(const struct cpl_adaptive *a, int job,
                         struct cpl_part *part)
{
	*part = (struct cpl_part){
	        .pairs = a->job[job].pairs,
	        .n = count_pairs(a->job[job].pairs),
	        .direct = direct_paths(a->net, a->job[job].routing),
	        .seed = SEED + (uint64_t)job,
	};
	a->job[job].routed = (struct cpl_routed){0, 0};
	return part->n;
}

/* Grants are kept of as many iterations as there usually are. */
static void place(struct solver *s, int64_t pairs, struct room *room)
{
	place_rest(s, s->a->net, pairs, room);
	for (int i = 0; i < s->a->n_jobs; i++) {
		place_part(s->a->net, &s->part[i], s->part[i].n, room);
		if (s->a->iterations > EXPOSURE + AFTER_EXPOSURE)
			s->part[i].grants = NULL;
		if (!s->part[i].grants)
			s->part[i].kept = NULL;
	}
}

int cpl_adaptive_solve(struct cpl_adaptive *a, struct cpl_error *err)
{
	struct solver s = {.a = a};
	struct room room = {NULL, 0};
	int64_t pairs = 0;
	char *block = NULL;
	int rc = -1;

	a->iterations_taken = 0;
	s.part = malloc(((size_t)a->n_jobs + 1) * sizeof(*s.part));
	if (!s.part)
		return cpl_fail_memory(err);
	for (int i = 0; i < a->n_jobs; i++)
		pairs += make_part(a, i, &s.part[i]);
	cpl_ways_init(&s.ways, a->net);
	for (int i = 0; i < a->n_jobs; i++) {
		s.part[i].by_blocks = s.part[i].n > ONE_LANE &&
		                      cpl_blocks_pay(&s.ways, &s.part[i]);
		s.blocks = s.blocks || s.part[i].by_blocks;
	}
	if (!pairs) {
		rc = 0;
		goto out;
	}
	place(&s, pairs, &room);
	block = aligned_alloc(BLOCK, (room.used / BLOCK + 1) * BLOCK);
	if (!block) {
		cpl_fail_memory(err);
		goto out;
	}
	/* Cells are looked at all over the place; refused does no harm. */
	madvise(block, (room.used / BLOCK + 1) * BLOCK, MADV_HUGEPAGE);
	room = (struct room){block, 0};
	place(&s, pairs, &room);
	solve(&s);
	rc = 0;
out:
	free(block);
	free(s.part);
	return rc;
}

void cpl_adaptive_solve_in(struct cpl_adaptive *a, void *scratch)
{
	struct cpl_part part;
	struct solver s = {.a = a, .part = &part};
	struct room room = {scratch, (64 - (uintptr_t)scratch % 64) % 64};
	int64_t pairs = make_part(a, 0, &part);

	a->iterations_taken = 0;
	if (!pairs)
		return;
	place(&s, pairs, &room);
	solve(&s);
}
