/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "mapping_bench.h"

#define MAX_ENTRIES (1 << 20)

static struct cpl_comm_entry *entry;
static int64_t n_entries;
static int name[65536];

static void add(int from, int to, double bytes)
{
	if (from != to && n_entries < MAX_ENTRIES)
		entry[n_entries++] =
		        (struct cpl_comm_entry){name[from], name[to], bytes, 1};
}

/* Faces (and edges and corners) of a periodic or open grid. */
static void halo(const int *dim, bool periodic, const double *bytes)
{
	int n = dim[0] * dim[1] * dim[2];

	for (int i = 0; i < n; i++)
		for (int k = 0; k < 27; k++) {
			int d[] = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1};
			int at[] = {i % dim[0], i / dim[0] % dim[1],
			            i / dim[0] / dim[1]};
			int kind = abs(d[0]) + abs(d[1]) + abs(d[2]);
			bool inside = kind > 0 && bytes[kind - 1] > 0;

			for (int a = 0; a < 3; a++) {
				at[a] += d[a];
				if (at[a] < 0 || at[a] >= dim[a])
					inside = inside && periodic;
				at[a] = (at[a] + dim[a]) % dim[a];
			}
			if (inside)
				add(i,
				    at[0] + dim[0] * (at[1] + dim[1] * at[2]),
				    bytes[kind - 1]);
		}
}

static void geometric(int n, uint64_t seed)
{
	double radius = cbrt(8.0 / (4.19 * n));

	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++) {
			double sum = 0;

			for (uint64_t k = 0; k < 3; k++) {
				double a = (double)cpl_random_below(
				        seed, k, (uint64_t)i, 1 << 30);
				double b = (double)cpl_random_below(
				        seed, k, (uint64_t)j, 1 << 30);

				sum += (a - b) * (a - b) / 0x1p60;
			}
			if (sum < radius * radius)
				add(i, j, 1000);
		}
}

/* NPB CG: rows of a 2-D process grid sum vectors by recursive halving, and
 * exchange with the transposed process. */
static void npb_cg(int n)
{
	int columns = 1, rows;

	while (columns * columns < n)
		columns *= 2;
	rows = n / columns;
	for (int i = 0; i < n; i++) {
		int row = i / columns, column = i % columns;

		for (int bit = 1; bit < columns; bit *= 2)
			add(i, row * columns + (column ^ bit), 1000);
		add(i,
		    rows == columns
		            ? column * columns + row
		            : 2 * (column / 2 % rows * columns / 2 + row) +
		                      column % 2,
		    1000);
	}
}

static void random_graph(int n, int degree, uint64_t seed)
{
	for (int i = 0; i < n; i++)
		for (uint64_t k = 0; k < (uint64_t)degree; k++)
			add(i,
			    (int)cpl_random_below(seed, k, (uint64_t)i,
			                          (uint64_t)n),
			    1000);
}

/* All-to-all in the rows and columns of a 2-D process grid. */
static void pencils(int rows, int columns)
{
	for (int i = 0; i < rows * columns; i++) {
		for (int c = 0; c < columns; c++)
			add(i, i / columns * columns + c, 1000);
		for (int r = 0; r < rows; r++)
			add(i, r * columns + i % columns, 1000);
	}
}

/* All-to-all in groups of low to high ranks one after the other, the last cut
 * off by the end. */
static void groups(int n, int low, int high)
{
	for (int first = 0, k = 0; first < n; k++) {
		int size = low + (int)cpl_random_below(7, 0, (uint64_t)k,
		                                       (uint64_t)(high - low +
		                                                  1));
		int end = first + size < n ? first + size : n;

		for (int a = first; a < end; a++)
			for (int b = first; b < end; b++)
				add(a, b, 1000);
		first = end;
	}
}

static void groups_12(int n)
{
	groups(n, 12, 30);
}

static void groups_6(int n)
{
	groups(n, 6, 48);
}

static void stencil_512(int n)
{
	(void)n;
	halo((int[]){8, 8, 8}, true, (double[]){1000, 0, 0});
}

static void stencil_4096(int n)
{
	(void)n;
	halo((int[]){16, 16, 16}, true, (double[]){1000, 0, 0});
}

static void halo_512(int n)
{
	(void)n;
	halo((int[]){8, 8, 8}, false, (double[]){1000, 100, 10});
}

static void plane_1024(int n)
{
	(void)n;
	halo((int[]){32, 32, 1}, false, (double[]){1000, 0, 0});
}

static void geometric_any(int n)
{
	geometric(n, 3);
}

static void random_any(int n)
{
	random_graph(n, 4, 5);
}

static void pencils_512(int n)
{
	pencils(16, n / 16);
}

static void halo_4096(int n)
{
	(void)n;
	halo((int[]){16, 16, 16}, true, (double[]){1000, 100, 10});
}

static void plane_4096(int n)
{
	(void)n;
	halo((int[]){64, 64, 1}, true, (double[]){1000, 0, 0});
}

const struct problem bench_problem[] = {
        {"stencil 8x8x8", "8,8,8", 512, 1, true, false, stencil_512},
        {"stencil 16x16x16", "16,16,16", 4096, 1, true, false, stencil_4096},
        {"stencil 16^3 x8", "8,8,8", 4096, 8, true, false, stencil_4096},
        {"halo-27 8x8x8", "8,8,8", 512, 1, true, false, halo_512},
        {"5-point 32x32", "16,8,8", 1024, 1, true, false, plane_1024},
        {"geometric", "8,8,8", 512, 1, true, false, geometric_any},
        {"geometric", "16,16,8", 2048, 1, true, false, geometric_any},
        {"geometric x8", "8,8,8", 4096, 8, true, false, geometric_any},
        {"NAS CG", "8,8,8", 512, 1, false, false, npb_cg},
        {"random", "8,8,8", 512, 1, false, false, random_any},
        {"pencils 16x32", "8,8,8", 512, 1, true, false, pencils_512},
        {"halo-27 x8", "8,8,8", 4096, 8, true, false, halo_4096},
        {"5-point 64x64 x8", "8,8,8", 4096, 8, true, false, plane_4096},
        {"NAS CG", "16,16,16", 4096, 1, false, false, npb_cg},
        {"halo-27 part", "12,8,8", 512, 1, true, true, halo_512},
        {"geometric x8 part", "12,8,8", 4096, 8, true, true, geometric_any},
        {"stencil 8x8x8", "dragonfly", 512, 1, true, false, stencil_512},
        {"geometric x8", "dragonfly", 4096, 8, true, false, geometric_any},
        {"NAS CG", "dragonfly", 1024, 1, false, false, npb_cg},
        {"NAS CG x8", "dragonfly", 4096, 8, false, false, npb_cg},
        {"halo-27 x8", "dragonfly", 4096, 8, true, false, halo_4096},
        {"halo-27 part x8", "dragonfly", 4096, 8, true, true, halo_4096},
        {"geometric part", "dragonfly", 1024, 1, true, true, geometric_any},
        {"pencils 16x32", "dragonfly", 512, 1, true, false, pencils_512},
        {"random", "dragonfly", 1024, 1, false, false, random_any},
        {"stencil 16^3 x8", "tree", 4096, 8, true, false, stencil_4096},
        {"geometric x8", "tree", 4096, 8, true, false, geometric_any},
        {"halo-27 x8", "tree", 4096, 8, true, false, halo_4096},
        {"5-point 64x64 x8", "tree", 4096, 8, true, false, plane_4096},
        {"geometric x16", "tree", 4096, 16, true, false, geometric_any},
        {"geometric x4", "tree", 1024, 4, true, false, geometric_any},
        {"geometric", "tree", 512, 1, true, false, geometric_any},
        {"random x8", "tree", 2048, 8, false, false, random_any},
        {"random", "tree", 512, 1, false, false, random_any},
        {"NAS CG x8", "tree", 4096, 8, false, false, npb_cg},
        {"5-point 32x32 x4", "tree", 1024, 4, true, false, plane_1024},
        {"halo-27 8x8x8", "tree", 512, 1, true, false, halo_512},
        {"groups 6-48 x64", "dragonfly", 8192, 64, true, false, groups_6},
        {"groups 6-48 x64", "8,4,4", 8192, 64, true, false, groups_6},
        {"groups 12-30 x64", "8,4,4", 8192, 64, true, false, groups_12},
        {"groups 12-30 x64", "4,4,1", 1024, 64, true, false, groups_12},
};

const int bench_n_problems =
        (int)(sizeof(bench_problem) / sizeof(*bench_problem));

void bench_clear(int ranks, bool shuffled)
{
	n_entries = 0;
	for (int i = 0; i < ranks; i++)
		name[i] = i;
	if (shuffled)
		cpl_random_shuffle(name, ranks, 23, 1);
}

void bench_add(int from, int to, double bytes)
{
	add(from, to, bytes);
}

struct cpl_comm *bench_comm(int ranks, struct cpl_error *err)
{
	return cpl_comm_build(ranks, entry, n_entries, err);
}

bool bench_init(void)
{
	entry = malloc(MAX_ENTRIES * sizeof(*entry));
	return entry;
}

void bench_free(void)
{
	free(entry);
}

struct cpl_network *bench_network(const char *what, int nodes,
                                  struct cpl_error *err)
{
	char text[512];
	int total = 1;

	if (!strcmp(what, "tree")) {
		snprintf(text, sizeof(text),
		         "{\"format\":\"commplace-network\",\"version\":1,"
		         "\"name\":\"tree\",\"type\":\"fattree\","
		         "\"nodes_per_router\":1,\"levels\":["
		         "{\"down\":4,\"up\":4},{\"down\":8,\"up\":8},"
		         "{\"down\":%d,\"up\":%d}],\"nodes\":\"n[0-%d]\"}",
		         nodes / 32, nodes / 32, nodes - 1);
	} else if (!strcmp(what, "dragonfly")) {
		total = 4 * 8 * 4;
		snprintf(text, sizeof(text),
		         "{\"format\":\"commplace-network\",\"version\":1,"
		         "\"name\":\"d\",\"type\":\"dragonfly\",\"groups\":%d,"
		         "\"rows\":4,\"columns\":8,\"nodes_per_router\":4,"
		         "\"global_links_per_group_pair\":4,"
		         "\"nodes\":\"n[0-%d]\"}",
		         2 * nodes / total, 2 * nodes - 1);
	} else {
		for (const char *p = what; p; p = strchr(p, ',')) {
			p += *p == ',';
			total *= atoi(p);
		}
		snprintf(text, sizeof(text),
		         "{\"format\":\"commplace-network\",\"version\":1,"
		         "\"name\":\"t\",\"type\":\"torus\",\"dims\":[%s],"
		         "\"nodes_per_router\":1,\"nodes\":\"n[0-%d]\"}",
		         what, total - 1);
	}
	return cpl_network_parse(text, strlen(text), "bench", err);
}

bool bench_is_tree(const struct cpl_network *net)
{
	return !strcmp(net->name, "tree");
}

/* Nodes of the job: the first, or some of all. */
void bench_hosts(const struct problem *p, int n_nodes, int *host, int n)
{
	int *all = malloc((size_t)n_nodes * sizeof(*all));
	int used = 0;

	for (int i = 0; all && i < n_nodes; i++)
		all[i] = i;
	if (all && p->fragmented)
		cpl_random_shuffle(all, n_nodes, 17, 1);
	for (int i = 0; all && i < n_nodes; i++)
		for (int k = 0; k < n && used < n; k++)
			if (all[k] == i)
				host[used++] = i;
	free(all);
}
