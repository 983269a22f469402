/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Spread of communication groups: random states of two-level fat trees, training
 * jobs of 8 ranks a node on pp stages by dp indices, placed by policies that do not
 * know the groups and by "groups". Prints the mean of the weighted largest spreads
 * of a dp and a pp group over leaf switches (Arnold, arXiv 2509.15940), a lower
 * bound of what any node set and order can have, and milliseconds.
 *
 * bench_spread [INSTANCES [SEED]]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "cpu_time.h"
#include "mapping/cell_spread.h"
#include "placement/placement.h"

#define LEAF 32
#define TP 8
#define LEAVES_MAX 256
#define NODES_MAX (LEAVES_MAX * LEAF)

enum { BEST_FIT, PACKING, FEWEST_LEAVES, SLURM, GROUPS, POLICIES };
static const char *const policy_name[POLICIES] = {
        "best-fit", "gpu-packing", "fewest-leaves", "runs (Slurm)", "groups"};

struct instance {
	struct cpl_network *net;
	int leaves, pp, dp;
	double weight[2]; /* dp groups are rows, pp groups columns */
	unsigned char free[NODES_MAX];
	int room[LEAVES_MAX], n_free;
	struct cpl_rank_grid grid;
	struct cpl_comm *comm;
	struct cpl_placement_request place;
};

struct draws {
	uint64_t key, counter;
};

static int below(struct draws *d, int n)
{
	return (int)(cpl_random_at(d->key, d->counter++) % (uint64_t)n);
}

static void out_of_memory(void)
{
	fprintf(stderr, "bench_spread: out of memory\n");
	exit(1);
}

static struct cpl_network *make_network(int leaves)
{
	struct cpl_error err = {""};
	struct cpl_network *net;
	char text[512];

	snprintf(text, sizeof(text),
	         "{\"format\":\"commplace-network\",\"version\":1,"
	         "\"type\":\"fattree\",\"nodes_per_router\":%d,"
	         "\"levels\":[{\"down\":%d,\"up\":16,\"bandwidth\":5e10}],"
	         "\"bandwidth\":{\"injection\":5e10},\"nodes\":\"n[1-%d]\"}",
	         LEAF, leaves, leaves * LEAF);
	net = cpl_network_parse(text, strlen(text), "bench", &err);
	if (!net) {
		fprintf(stderr, "bench_spread: %s\n", err.text);
		exit(1);
	}
	return net;
}

/* Other jobs have all, none or some of a leaf's nodes. */
static void draw_state(struct instance *in, struct draws *draws)
{
	in->n_free = 0;
	memset(in->free, 0, sizeof(in->free));
	for (int l = 0; l < in->leaves; l++) {
		int busy = below(draws, 4) ? below(draws, LEAF + 1) : 0;

		in->room[l] = LEAF - busy;
		in->n_free += LEAF - busy;
		for (int i = busy; i < LEAF; i++)
			in->free[l * LEAF + i] = 1;
	}
}

/* The largest job of the paper: 9,600 accelerators. */
#define WANTED_MAX 1200

/* Stages and indices that take 30 to 95 percent of the free nodes. */
static void draw_job(struct instance *in, struct draws *draws)
{
	static const double rows[] = {0.2, 0.35, 0.5, 0.65, 0.8};
	struct cpl_comm_entry entry[2];
	struct cpl_error err = {""};
	int wanted = in->n_free * (30 + below(draws, 66)) / 100;

	if (wanted > WANTED_MAX)
		wanted = WANTED_MAX;
	in->pp = 2 << below(draws, 4);
	while (in->pp > 2 && in->pp > wanted)
		in->pp /= 2;
	in->dp = wanted / in->pp;
	if (in->dp < 1)
		in->dp = 1;
	in->weight[CPL_ROWS] = rows[below(draws, 5)];
	in->weight[CPL_COLUMNS] = 1 - in->weight[CPL_ROWS];
	in->grid = (struct cpl_rank_grid){
	        .ranks = TP * in->dp * in->pp,
	        .n = 3,
	        .dim = {{"tp", 1, TP},
	                {"dp", TP, in->dp},
	                {"pp", TP * in->dp, in->pp}}};
	entry[0] = (struct cpl_comm_entry){0, in->dp > 1 ? TP : 0,
	                                   in->weight[CPL_ROWS], 1};
	entry[1] = (struct cpl_comm_entry){0, TP * in->dp,
	                                   in->weight[CPL_COLUMNS], 1};
	in->comm = cpl_comm_build(in->grid.ranks, entry, 2, &err);
	if (!in->comm)
		out_of_memory();
	in->place = (struct cpl_placement_request){
	        .net = in->net,
	        .free = in->free,
	        .n_nodes_wanted = in->dp * in->pp,
	        .grid = in->grid,
	        .comm = in->comm,
	        .ranks_per_node = TP};
}

/* Leaf by leaf: fewest or most free nodes first, or the fullest one that holds what
 * is wanted, else the emptiest; nodes by id then, as schedulers hand them out. */
static void by_leaves(const struct instance *in, int policy, int *out)
{
	unsigned char taken[NODES_MAX] = {0};
	bool used[LEAVES_MAX] = {false};
	int left = in->place.n_nodes_wanted, n = 0;

	while (left) {
		int best = -1, some;

		for (int l = 0; l < in->leaves; l++) {
			int a = in->room[l], b = best < 0 ? 0 : in->room[best];
			bool holds = a >= left, held = b >= left;

			if (used[l] || !a)
				continue;
			if (best < 0 ||
			    (policy == PACKING && a < b) ||
			    (policy == FEWEST_LEAVES && a > b) ||
			    (policy == BEST_FIT &&
			     (holds != held ? holds
			                    : holds ? a < b : a > b)))
				best = l;
		}
		used[best] = true;
		some = in->room[best] < left ? in->room[best] : left;
		left -= some;
		for (int i = 0; i < LEAF && some; i++)
			if (in->free[best * LEAF + i]) {
				taken[best * LEAF + i] = 1;
				some--;
			}
	}
	for (int i = 0; i < in->leaves * LEAF; i++)
		if (taken[i])
			out[n++] = i;
}

static void place(const struct instance *in, int policy, int *out)
{
	struct cpl_error err = {""};
	int rc = 0;

	if (policy == SLURM)
		rc = cpl_placement_best_fit.place(&in->place, out, &err);
	else if (policy == GROUPS)
		rc = cpl_placement_groups.place(&in->place, out, &err);
	else
		by_leaves(in, policy, out);
	if (rc) {
		fprintf(stderr, "bench_spread: %s\n", err.text);
		exit(1);
	}
}

/* By the groups themselves, not by what the policy says of them. */
static double cost_of(const struct instance *in, const int *node)
{
	struct cpl_rank_spread dp, pp;
	struct cpl_error err = {""};
	int *unit = malloc((size_t)in->grid.ranks * sizeof(*unit));

	if (!unit)
		out_of_memory();
	for (int r = 0; r < in->grid.ranks; r++)
		unit[r] = node[r / TP] / LEAF;
	if (cpl_rank_grid_spread(&in->grid, 1, unit, in->leaves, &dp, &err) ||
	    cpl_rank_grid_spread(&in->grid, 2, unit, in->leaves, &pp, &err))
		out_of_memory();
	free(unit);
	return in->weight[CPL_ROWS] * dp.most +
	       in->weight[CPL_COLUMNS] * pp.most;
}

/*
 * Can rows spread over at most a leaves, and columns over b? A leaf with cells of
 * r rows and q columns has min(room, r q) of them at most; all r add up to at most
 * rows a, all q to columns b. With multipliers x and y of these two the sum over
 * leaves of the most that min(room, r q) - x r - y q can be, plus x rows a + y
 * columns b, is no less than the cells of any such layout, so that the answer is
 * no where that is less than the job's.
 */
struct bound {
	const struct instance *in;
	int count[LEAF + 1]; /* leaves by room */
	double a, b;
};

static double dual(const struct bound *bound, double x, double y)
{
	int rows = bound->in->pp, columns = bound->in->dp;
	double sum = x * rows * bound->a + y * columns * bound->b;

	for (int room = 1; room <= LEAF; room++) {
		double best = 0;

		for (int r = 1; bound->count[room] && r <= rows && r <= room;
		     r++)
			for (int q = room / r; q <= room / r + 1; q++) {
				int k = q < columns ? q : columns;
				int cells = r * k < room ? r * k : room;
				double gain = cells - x * r - y * k;

				best = gain > best ? gain : best;
			}
		sum += bound->count[room] * best;
	}
	return sum;
}

#define STEPS 40

/* The least over y; convex. */
static double least_over_y(const struct bound *bound, double x)
{
	double low = 0, high = bound->in->pp;

	for (int i = 0; i < STEPS; i++) {
		double y = low + (high - low) / 3, z = high - (high - low) / 3;

		if (dual(bound, x, y) < dual(bound, x, z))
			high = z;
		else
			low = y;
	}
	return dual(bound, x, low);
}

static bool may_be(struct bound *bound, int a, int b)
{
	double cells = (double)bound->in->pp * bound->in->dp - 1e-6;
	double low = 0, high = bound->in->dp;

	bound->a = a;
	bound->b = b;
	for (int i = 0; i < STEPS; i++) {
		double x = low + (high - low) / 3, z = high - (high - low) / 3;
		double at_x = least_over_y(bound, x);
		double at_z = least_over_y(bound, z);

		if (at_x < cells || at_z < cells)
			return false;
		if (at_x < at_z)
			high = z;
		else
			low = x;
	}
	return true;
}

/* States and choices that the exact answer to the numbers may take. */
#define WORK_MAX 5e8

/* So many numbers of rows and columns has the leaf with most. */
#define CHOICES 110

/* The most cells with x rows and y columns in all, if a leaf with this room has some of
 * them; best[] is that of leaves before it, at x and y. */
static int most_with(const struct instance *in, int room, const int *best, int wide,
                     int x, int y)
{
	int rows = in->pp < x ? in->pp : x, columns = in->dp < y ? in->dp : y;
	int most = *best;

	for (int r = 1; r <= rows && r <= room; r++)
		for (int k = 1; k <= columns && (k - 1) * r < room; k++) {
			int cells = r * k < room ? r * k : room;
			int all = best[-r * wide - k] + cells;

			most = all > most ? all : most;
		}
	return most;
}

/*
 * The same in whole numbers, which is more often no: the most cells that leaves have
 * with at most x rows and y columns in all, leaf by leaf.
 */
static bool may_be_whole(const struct bound *bound)
{
	int rows = bound->in->pp, columns = bound->in->dp;
	int x_most = rows * (int)bound->a, y_most = columns * (int)bound->b;
	int wide = y_most + 1, most;
	int *best;

	if ((double)CHOICES * bound->in->leaves * x_most * y_most > WORK_MAX)
		return true;
	best = calloc((size_t)(x_most + 1) * (size_t)wide, sizeof(*best));
	if (!best)
		out_of_memory();
	for (int l = 0; l < bound->in->leaves; l++)
		for (int x = x_most; x; x--)
			for (int y = y_most; y; y--)
				best[x * wide + y] = most_with(
				        bound->in, bound->in->room[l],
				        best + x * wide + y, wide, x, y);
	most = best[x_most * wide + y_most];
	free(best);
	return most >= rows * columns;
}

/* Steps of one search whether lines can be filled. */
#define STEPS_MAX 200000

/* Lines of `length` cells each from at most `most` rooms, which several may share. */
struct filling {
	int length, most;
	int n, room[LEAVES_MAX]; /* descending */
};

/* Puts what is left of a room in order. */
static void resize_room(struct filling *f, int at, int room)
{
	for (; at + 1 < f->n && f->room[at + 1] > room; at++)
		f->room[at] = f->room[at + 1];
	for (; at > 0 && f->room[at - 1] < room; at--)
		f->room[at] = f->room[at - 1];
	f->room[at] = room;
	while (f->n && !f->room[f->n - 1])
		f->n--;
}

static bool fill_lines(const struct filling *f, int lines, long *steps);

/* Fills a line with `left` cells to go from `rooms` rooms at most, none before `from`:
 * all of some and what it takes of one, the last. */
static bool fill_line(const struct filling *f, int lines, int left, int rooms, int from,
                      long *steps)
{
	if (++*steps > STEPS_MAX)
		return true;
	for (int i = 0; i < f->n && f->room[i] >= left; i++) {
		struct filling rest = *f;

		if (i && f->room[i] == f->room[i - 1])
			continue;
		resize_room(&rest, i, f->room[i] - left);
		if (fill_lines(&rest, lines - 1, steps))
			return true;
	}
	for (int i = from; i < f->n && rooms > 1; i++) {
		struct filling rest = *f;

		if (f->room[i] >= left || (i > from && f->room[i] == f->room[i - 1]))
			continue;
		if (f->room[i] + (rooms - 1) * f->room[0] < left)
			break;
		resize_room(&rest, i, 0);
		if (fill_line(&rest, lines, left - f->room[i], rooms - 1, i, steps))
			return true;
	}
	return false;
}

/*
 * Can they be filled, whatever is in the other direction? Lines and rooms are vertices,
 * and each that has cells of the other an edge; of circles one edge can be emptied, so
 * that there are trees. From their ends to a root each line takes all that is left of its
 * rooms but the one towards the root. Yes where it takes too many steps.
 */
static bool fill_lines(const struct filling *f, int lines, long *steps)
{
	int sum = 0;

	for (int i = 0; i < f->n && i < f->most * lines; i++)
		sum += f->room[i];
	return !lines || (sum >= lines * f->length &&
	                  fill_line(f, lines, f->length, f->most, 0, steps));
}

/* Can so many lines be filled, if those across are in at most `across` rooms each? Where
 * a line has one room those across have all rooms that there are lines in. */
static bool may_be_filled(const struct instance *in, int lines, int length, int most,
                          int across)
{
	struct filling f = {.length = length, .most = most};
	long steps = 0;
	int parts = 0;

	for (int l = 0; l < in->leaves; l++) {
		f.n++;
		f.room[f.n - 1] = 0;
		resize_room(&f, f.n - 1, in->room[l]);
	}
	if (most > 1)
		return fill_lines(&f, lines, &steps);
	for (int i = 0; i < f.n && i < across; i++)
		parts += f.room[i] / length;
	return parts >= lines;
}

/* The least weighted sum of largest spreads that nothing rules out. */
static double bound_of(const struct instance *in, double found)
{
	struct bound bound = {.in = in};
	int a = 1, b_most = in->pp < in->leaves ? in->pp : in->leaves;
	double best = found;

	for (int l = 0; l < in->leaves; l++)
		bound.count[in->room[l]]++;
	/* Fewer leaves for rows need more for columns. */
	for (int b = b_most; b >= 1; b--)
		for (;; a++) {
			double cost = in->weight[CPL_ROWS] * a +
			              in->weight[CPL_COLUMNS] * b;

			if (cost >= found - 1e-9 || a > in->dp)
				break;
			if (may_be(&bound, a, b) && may_be_whole(&bound) &&
			    may_be_filled(in, in->pp, in->dp, a, b) &&
			    may_be_filled(in, in->dp, in->pp, b, a)) {
				best = cost < best ? cost : best;
				break;
			}
		}
	return best;
}

struct sums {
	double cost[POLICIES], bound, gap, most_gap, ms, most_ms;
	double ratio, most_ratio; /* best-fit by groups */
	double possible;          /* best-fit by the bound */
	int n, proven;
};

static void run(struct instance *in, struct sums *sums)
{
	static int node[NODES_MAX];
	double cost[POLICIES], begin = 0, ms = 0, bound, gap, ratio;

	for (int p = 0; p < POLICIES; p++) {
		begin = cpu_seconds();
		place(in, p, node);
		ms = 1000 * (cpu_seconds() - begin);
		cost[p] = cost_of(in, node);
		sums->cost[p] += cost[p];
	}
	bound = bound_of(in, cost[GROUPS]);
	gap = cost[GROUPS] / bound - 1;
	sums->bound += bound;
	sums->gap += gap;
	sums->most_gap = gap > sums->most_gap ? gap : sums->most_gap;
	sums->proven += gap < 1e-9;
	sums->ms += ms;
	sums->most_ms = ms > sums->most_ms ? ms : sums->most_ms;
	ratio = cost[BEST_FIT] / cost[GROUPS];
	sums->ratio += ratio;
	sums->possible += cost[BEST_FIT] / bound;
	sums->most_ratio = ratio > sums->most_ratio ? ratio : sums->most_ratio;
	sums->n++;
}

static void print(int leaves, const struct sums *s)
{
	printf("%6d", leaves);
	for (int p = 0; p < POLICIES; p++)
		printf(" %13.3f", s->cost[p] / s->n);
	printf(" %8.3f %7.2f%% %7.1f%% %5d/%d %6.2f %6.2f %9.2f %7.2f %7.2f\n",
	       s->bound / s->n, 100 * s->gap / s->n, 100 * s->most_gap,
	       s->proven, s->n, s->ratio / s->n, s->most_ratio, s->possible / s->n,
	       s->ms / s->n, s->most_ms);
}

int main(int argc, char **argv)
{
	int instances = argc > 1 ? atoi(argv[1]) : 50;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	static struct instance in;
	double gap = 0, ratio = 0;
	int n = 0;
	struct draws draws = {cpl_random_key(seed, 0), 0};

	printf("leaves");
	for (int p = 0; p < POLICIES; p++)
		printf(" %13s", policy_name[p]);
	printf("    bound     gap     most  optimal  ratio  up to  by bound      ms    most\n");
	for (int leaves = 8; leaves <= LEAVES_MAX; leaves *= 2) {
		struct sums sums = {.n = 0};

		in.leaves = leaves;
		in.net = make_network(leaves);
		for (int i = 0; i < instances; i++) {
			draw_state(&in, &draws);
			draw_job(&in, &draws);
			run(&in, &sums);
			cpl_comm_free(in.comm);
		}
		print(leaves, &sums);
		gap += sums.gap;
		ratio += sums.ratio;
		n += sums.n;
		cpl_network_free(in.net);
	}
	printf("all: best-fit %.2f times groups, groups at most %.2f%% above "
	       "the optimum\n",
	       ratio / n, 100 * gap / n);
	return 0;
}
