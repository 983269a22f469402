/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ranks gathered into node-sized parts: the traffic that our partition and
 * Scotch's (SCOTCH_graphPart, quality and balance) cut, and CPU seconds. 4,096
 * ranks in shuffled order, 8 and 64 on a node. Only with Scotch.
 *
 * bench_partition
 */
#include "commplace-config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef HAVE_SCOTCH_SCOTCH_H
#include <scotch/scotch.h>
#else
#include <scotch.h>
#endif

#include "base/random.h"
#include "graph/partition.h"
#include "cpu_time.h"

#define RANKS 4096
#define ENTRIES (32 * RANKS)

static struct cpl_comm_entry entry[ENTRIES];
static int64_t n_entries;
static int name[RANKS], slots[RANKS], part[RANKS];

static void add(int from, int to, double bytes)
{
	if (from != to && n_entries < ENTRIES)
		entry[n_entries++] =
		        (struct cpl_comm_entry){name[from], name[to], bytes, 1};
}

/* Faces, edges and corners of an open grid. */
static void halo(int x, int y, const double *bytes)
{
	for (int i = 0; i < RANKS; i++)
		for (int k = 0; k < 27; k++) {
			int d[] = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1};
			int a = i % x + d[0], b = i / x % y + d[1];
			int c = i / x / y + d[2];
			int kind = abs(d[0]) + abs(d[1]) + abs(d[2]);

			if (kind && bytes[kind - 1] > 0 && a >= 0 && a < x &&
			    b >= 0 && b < y && c >= 0 && c < RANKS / x / y)
				add(i, a + x * (b + y * c), bytes[kind - 1]);
		}
}

static void plane(void)
{
	halo(64, 64, (const double[]){1000, 0, 0});
}

static void cube(void)
{
	halo(16, 16, (const double[]){1000, 0, 0});
}

static void cube_27(void)
{
	halo(16, 16, (const double[]){1000, 100, 10});
}

static void random_graph(void)
{
	for (int i = 0; i < RANKS; i++)
		for (uint64_t k = 0; k < 4; k++)
			add(i, (int)cpl_random_below(5, k, (uint64_t)i, RANKS),
			    1000);
}

static void geometric(void)
{
	static double at[RANKS][3];
	double radius = cbrt(8.0 / (4.19 * RANKS));

	for (int i = 0; i < RANKS; i++)
		for (uint64_t k = 0; k < 3; k++)
			at[i][k] = (double)cpl_random_below(7, k, (uint64_t)i,
			                                    1 << 30) /
			           (1 << 30);
	for (int i = 0; i < RANKS; i++)
		for (int j = 0; j < RANKS; j++) {
			double sum = 0;

			for (int k = 0; k < 3; k++)
				sum += (at[i][k] - at[j][k]) *
				       (at[i][k] - at[j][k]);
			if (sum < radius * radius)
				add(i, j, 1000);
		}
}

static double cut(const struct cpl_comm *graph)
{
	double sum = 0;

	for (int r = 0; r < RANKS; r++)
		for (int64_t e = graph->row[r]; e < graph->row[r + 1]; e++)
			if (part[r] < part[graph->to[e]])
				sum += graph->bytes[e];
	return sum;
}

/* Ranks above a part's size, or -1. */
static int by_scotch(const struct cpl_comm *graph, int n_parts, int size)
{
	size_t entries = (size_t)graph->n_entries;
	SCOTCH_Num *row = malloc((RANKS + 1) * sizeof(*row));
	SCOTCH_Num *to = malloc(entries * sizeof(*to));
	SCOTCH_Num *weight = malloc(entries * sizeof(*weight));
	SCOTCH_Num *answer = malloc(RANKS * sizeof(*answer));
	int *count = calloc((size_t)n_parts, sizeof(*count)), over = -1;
	SCOTCH_Graph source;
	SCOTCH_Strat strat;

	if (!row || !to || !weight || !answer || !count)
		goto out;
	for (int r = 0; r <= RANKS; r++)
		row[r] = (SCOTCH_Num)graph->row[r];
	for (size_t e = 0; e < entries; e++) {
		to[e] = graph->to[e];
		weight[e] = (SCOTCH_Num)graph->bytes[e];
	}
	SCOTCH_graphInit(&source);
	SCOTCH_stratInit(&strat);
	if (!SCOTCH_graphBuild(&source, 0, RANKS, row, NULL, NULL, NULL,
	                       (SCOTCH_Num)entries, to, weight) &&
	    !SCOTCH_stratGraphMapBuild(
	            &strat, SCOTCH_STRATQUALITY | SCOTCH_STRATBALANCE, n_parts,
	            0.001) &&
	    !SCOTCH_graphPart(&source, n_parts, &strat, answer)) {
		over = 0;
		for (int r = 0; r < RANKS; r++) {
			part[r] = (int)answer[r];
			over += ++count[part[r]] > size;
		}
	}
	SCOTCH_stratExit(&strat);
	SCOTCH_graphExit(&source);
out:
	free(row);
	free(to);
	free(weight);
	free(answer);
	free(count);
	return over;
}

static int compare(const char *text, const struct cpl_comm *graph, int size)
{
	int n_parts = RANKS / size, over;
	struct cpl_error err = {""};
	double start = cpu_seconds(), own, seconds;

	for (int i = 0; i < n_parts; i++)
		slots[i] = size;
	if (cpl_graph_partition(graph, slots, n_parts, 1,
	                        CPL_GRAPH_BISECT_RUNS, NULL, NULL, part, &err))
		return 1;
	seconds = cpu_seconds() - start;
	own = cut(graph);
	start = cpu_seconds();
	over = by_scotch(graph, n_parts, size);
	if (over < 0)
		return 1;
	printf("%-14s %4d %10.0f %6.2f %10.0f %6.2f %5d %6.3f\n", text, size,
	       own / 1e3, seconds, cut(graph) / 1e3, cpu_seconds() - start, over,
	       own / cut(graph));
	return 0;
}

int main(void)
{
	static const struct {
		const char *text;
		void (*make)(void);
	} pattern[] = {{"5-point 64x64", plane},
	               {"7-point 16^3", cube},
	               {"27-point 16^3", cube_27},
	               {"random", random_graph},
	               {"geometric", geometric}};
	int rc = 0;

	for (int i = 0; i < RANKS; i++)
		name[i] = i;
	cpl_random_shuffle(name, RANKS, 3, 3);
	printf("%-14s %4s %17s %17s %5s %6s\n", "cut/1e3, CPU s", "size", "own",
	       "Scotch", "over", "ratio");
	for (size_t i = 0; i < sizeof(pattern) / sizeof(*pattern) && !rc; i++) {
		struct cpl_comm *comm, *graph = NULL;

		n_entries = 0;
		pattern[i].make();
		comm = cpl_comm_build(RANKS, entry, n_entries, NULL);
		if (comm)
			graph = cpl_comm_symmetric(comm, NULL);
		for (int size = 8; graph && size <= 64 && !rc; size *= 8)
			rc = compare(pattern[i].text, graph, size);
		rc |= !graph;
		cpl_comm_free(comm);
		cpl_comm_free(graph);
	}
	return rc;
}
