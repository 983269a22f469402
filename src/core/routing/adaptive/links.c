/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "routing/adaptive/solver.h"

/* Threads add up the shards over so many parts of the links. */
#define CHUNKS 16

/* Links of one class that follow each other, and their cells. */
struct link_run {
	int64_t link, cell, count;
	int class;
};

/* Links are handled two at a time, with masks for them. */
typedef double pair __attribute__((vector_size(16)));
typedef int64_t mask __attribute__((vector_size(16)));

static inline pair load(const double *x)
{
	pair two;

	memcpy(&two, x, sizeof(two));
	return two;
}

static inline pair sums(const struct cpl_cell *cell)
{
	return (pair){cell[0].sum, cell[1].sum};
}

/* Sets the views and clears the sums. */
static inline void put_views(struct cpl_cell *cell, pair view)
{
	pair first = {view[0], 0}, second = {view[1], 0};

	memcpy(&cell[0], &first, sizeof(first));
	memcpy(&cell[1], &second, sizeof(second));
}

static inline pair either(mask which, pair yes, pair no)
{
	return (pair)((which & (mask)yes) | (~which & (mask)no));
}

struct links_job {
	struct cpl_solver *s;
	void (*sum)(const struct cpl_solver *s, const struct link_run *run);
};

/* A chunk is some of the groups. */
static void run_links(void *arg, int64_t chunk, int thread)
{
	const struct links_job *job = arg;
	const struct cpl_solver *s = job->s;
	const struct cpl_network *net = s->a->net;
	const struct cpl_path_table *w = &s->table;
	int n = s->n_shards > 1 ? CHUNKS : 1;
	int64_t last = cpl_parallel_first(w->groups, n, chunk + 1);

	for (int64_t g = cpl_parallel_first(w->groups, n, chunk); g < last;
	     g++) {
		int64_t cell = g * w->cells;

		for (int c = 0; c < net->n_classes; c++) {
			const struct cpl_link_class *class =
			        &net->link_class[c];
			int64_t count = class->count / w->groups;
			struct link_run run = {class->first + g * count, cell,
			                       count, c};

			job->sum(s, &run);
			cell += count;
		}
	}
}

static void over_links(struct cpl_solver *s,
                       void (*sum)(const struct cpl_solver *,
                                   const struct link_run *))
{
	struct links_job job = {s, sum};

	cpl_parallel(s->a->threads, s->n_shards > 1 ? CHUNKS : 1, run_links,
	             &job);
}

/* Adds up the shards' sums of a link, and clears them. */
static inline double gather(const struct cpl_solver *s, int64_t cell,
                            int n_shards)
{
	double sum = 0;

	for (int i = 0; i < n_shards; i++) {
		sum += s->shard[i].cell[cell].sum;
		s->shard[i].cell[cell].sum = 0;
	}
	return sum;
}

static inline void show(const struct cpl_solver *s, int64_t cell, double view,
                        int n_shards)
{
	for (int i = 0; i < n_shards; i++)
		s->shard[i].cell[cell].view = view;
}

static void divide_run(const struct cpl_solver *s, const struct link_run *run)
{
	const double *background = s->a->background;

	for (int64_t i = 0; i < run->count; i++) {
		double asked = gather(s, run->cell + i, s->n_shards), unit;

		if (background)
			asked += background[run->link + i] * s->scale;
		unit = asked > 0 ? asked : 1;
		show(s, run->cell + i, s->left[run->cell + i] / unit,
		     s->n_shards);
	}
}

/* The usual case inside a scheduler has one shard and nothing else on the
 * links; it handles two links at a time, to the same bits. */
static void divide_plain(const struct cpl_solver *s, const struct link_run *run)
{
	struct cpl_cell *restrict cell = s->shard[0].cell + run->cell;
	const double *restrict left = s->left + run->cell;
	int64_t n = run->count, i = 0;

	for (; i + 1 < n; i += 2) {
		pair asked = sums(cell + i);

		asked = either(asked > 0, asked, (pair){1, 1});
		put_views(cell + i, load(left + i) / asked);
	}
	for (; i < n; i++) {
		double asked = cell[i].sum > 0 ? cell[i].sum : 1;

		cell[i].view = left[i] / asked;
		cell[i].sum = 0;
	}
}

void cpl_links_divide(struct cpl_solver *s)
{
	bool plain = s->n_shards == 1 && !s->a->background;

	over_links(s, plain ? divide_plain : divide_run);
}

static void settle_run(const struct cpl_solver *s, const struct link_run *run)
{
	const double *background = s->a->background;
	double *bandwidth = s->delivers ? NULL : s->a->bandwidth;
	double more = s->more[run->class];

	for (int64_t i = 0; i < run->count; i++) {
		int64_t c = run->cell + i;
		double granted = gather(s, c, s->n_shards), left;

		if (background)
			granted += background[run->link + i] * s->scale *
			           s->shard[0].cell[c].view;
		if (bandwidth)
			bandwidth[run->link + i] += granted * s->unit;
		left = s->left[c] - granted;
		/* Otherwise the rounding of a full link would get weights. */
		left = (left > 1e-12 * granted ? left : 0) + more;
		s->left[c] = left;
		show(s, c, left, s->n_shards);
	}
}

static void settle_plain(const struct cpl_solver *s, const struct link_run *run)
{
	struct cpl_cell *restrict cell = s->shard[0].cell + run->cell;
	double *restrict left = s->left + run->cell;
	double more = s->more[run->class];
	int64_t n = run->count, i = 0;

	for (; i + 1 < n; i += 2) {
		pair granted = sums(cell + i), rest = load(left + i) - granted;

		rest = either(rest > 1e-12 * granted, rest, (pair){0, 0}) +
		       more;
		memcpy(left + i, &rest, sizeof(rest));
		put_views(cell + i, rest);
	}
	for (; i < n; i++) {
		double granted = cell[i].sum, rest = left[i] - granted;

		left[i] = (rest > 1e-12 * granted ? rest : 0) + more;
		cell[i].view = left[i];
		cell[i].sum = 0;
	}
}

static void set_exposure(struct cpl_solver *s, bool on)
{
	const struct cpl_network *net = s->a->net;

	for (int c = 0; c < net->n_classes; c++)
		s->more[c] =
		        on ? net->link_class[c].bandwidth / s->unit / s->steps
		           : 0;
}

void cpl_links_settle(struct cpl_solver *s)
{
	bool plain = s->n_shards == 1 && !s->a->background && !s->a->bandwidth;

	set_exposure(s, s->iteration + 1 < s->steps);
	over_links(s, plain ? settle_plain : settle_run);
}

static void show_start(const struct cpl_solver *s, const struct link_run *run)
{
	for (int64_t i = 0; i < run->count; i++) {
		s->left[run->cell + i] = s->more[run->class];
		show(s, run->cell + i, s->more[run->class], s->n_shards);
	}
}

void cpl_links_start(struct cpl_solver *s)
{
	for (int i = 0; i < s->n_shards; i++)
		for (size_t c = 0; c < cpl_solver_cells(s); c++)
			s->shard[i].cell[c] = (struct cpl_cell){INFINITY, 0};
	for (size_t c = 0; c < cpl_solver_cells(s); c++)
		s->left[c] = INFINITY;
	set_exposure(s, true);
	over_links(s, show_start);
}

static void keep(void *arg, int64_t chunk, int thread)
{
	const struct cpl_solver *s = arg;
	int64_t n = (int64_t)cpl_solver_cells(s);
	int64_t last = cpl_parallel_first(n, CHUNKS, chunk + 1);
	struct cpl_cell *seen = s->seen + s->iteration * n;

	for (int64_t c = cpl_parallel_first(n, CHUNKS, chunk); c < last; c++)
		seen[c] =
		        (struct cpl_cell){s->left[c], s->shard[0].cell[c].view};
}

void cpl_links_keep(struct cpl_solver *s)
{
	cpl_parallel(s->a->threads, CHUNKS, keep, s);
}

static void add_bytes(const struct cpl_solver *s, const struct link_run *run)
{
	for (int64_t i = 0; i < run->count; i++) {
		double sum = 0;

		for (int j = 0; j < s->n_shards; j++)
			sum += s->shard[j].bytes[run->cell + i];
		s->a->load[run->link + i] += sum;
	}
}

void cpl_links_add_bytes(struct cpl_solver *s)
{
	over_links(s, add_bytes);
}

void cpl_solver_cut(const struct cpl_solver *s, struct cpl_solver_job *job)
{
	const struct cpl_flows *flows = job->flows;
	int row = 0;

	for (int i = 0; i < s->n_shards; i++) {
		job->cut[i] = row;
		while (row < flows->n_from &&
		       flows->row[row] < job->n * (i + 1) / s->n_shards)
			row++;
	}
	job->cut[s->n_shards] = flows->n_from;
}
