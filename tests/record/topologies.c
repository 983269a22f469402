/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * topologies KIND: computes on a communicator that it asks to be reordered, and
 * prints what comes out, by the new ranks; "at RANK HOST" where each of them is,
 * and "edge A B" of the graph. KIND: stencil (MPI_Cart_create), graph, irregular
 * (MPI_Dist_graph_create_adjacent), spread (MPI_Dist_graph_create with edges that
 * others state), plain (irregular, not reordered).
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS 20
#define CELLS 4 /* a side, of each rank */

static int n, me; /* of the new communicator */
static MPI_Comm all;

/* With -DSESSIONS there is no MPI_Init. */
#ifdef SESSIONS
static MPI_Session session;

static void begin(int *argc, char ***argv)
{
	MPI_Group group;

	MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
	MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
	MPI_Comm_create_from_group(group, "all", MPI_INFO_NULL,
	                           MPI_ERRORS_ARE_FATAL, &all);
	MPI_Group_free(&group);
}

static void end(void)
{
	MPI_Comm_free(&all);
	MPI_Session_finalize(&session);
}
#else
static void begin(int *argc, char ***argv)
{
	MPI_Init(argc, argv);
	all = MPI_COMM_WORLD;
}

static void end(void)
{
	MPI_Finalize();
}
#endif

/* The same at all processes: rank v has an edge to some others. */
static int has_edge(int a, int b)
{
	unsigned x = (unsigned)(a < b ? a * 131 + b : b * 131 + a);

	x = (x * 2654435761u) >> 16;
	return a != b && ((a / 4 == b / 4 && x % 4) || x % 11 == 0);
}

static void show(MPI_Comm comm, double value)
{
	const char *node = getenv("SLURMD_NODENAME");
	char name[64] = "", *all = NULL;
	double *values = NULL;

	snprintf(name, sizeof(name), "%s", node ? node : "-");
	if (me == 0) {
		all = malloc((size_t)n * sizeof(name));
		values = malloc((size_t)n * sizeof(*values));
	}
	MPI_Gather(name, sizeof(name), MPI_CHAR, all, sizeof(name), MPI_CHAR, 0,
	           comm);
	MPI_Gather(&value, 1, MPI_DOUBLE, values, 1, MPI_DOUBLE, 0, comm);
	for (int i = 0; me == 0 && i < n; i++)
		printf("value %d %.17g\nat %d %s\n", i, values[i], i,
		       all + (size_t)i * sizeof(name));
	free(all);
	free(values);
}

/* Heat on a torus of ranks, each with a square of cells. */
static void stencil(int *dim)
{
	static const int periodic[2] = {1, 0};
	double old[CELLS + 2][CELLS + 2] = {{0}}, new[CELLS + 2][CELLS + 2];
	MPI_Comm comm;
	int at[2], up, down, left, right;
	double sum = 0;

	MPI_Cart_create(all, 2, dim, periodic, 1, &comm);
	if (comm == MPI_COMM_NULL)
		return;
	MPI_Comm_rank(comm, &me);
	MPI_Comm_size(comm, &n);
	MPI_Cart_coords(comm, me, 2, at);
	MPI_Cart_shift(comm, 0, 1, &up, &down);
	MPI_Cart_shift(comm, 1, 1, &left, &right);
	for (int i = 1; i <= CELLS; i++)
		for (int j = 1; j <= CELLS; j++)
			old[i][j] = (at[0] * CELLS + i) * 7 % 13 +
			            (at[1] * CELLS + j) * 5 % 11;
	for (int step = 0; step < STEPS; step++) {
		double out[CELLS], in[CELLS];

		MPI_Sendrecv(old[CELLS] + 1, CELLS, MPI_DOUBLE, down, 0,
		             old[0] + 1, CELLS, MPI_DOUBLE, up, 0, comm,
		             MPI_STATUS_IGNORE);
		MPI_Sendrecv(old[1] + 1, CELLS, MPI_DOUBLE, up, 1,
		             old[CELLS + 1] + 1, CELLS, MPI_DOUBLE, down, 1,
		             comm, MPI_STATUS_IGNORE);
		for (int side = 0; side < 2; side++) {
			int to = side ? left : right, from = side ? right : left;
			int edge = side ? 1 : CELLS, ghost = side ? CELLS + 1 : 0;

			memset(in, 0, sizeof(in));
			for (int i = 0; i < CELLS; i++)
				out[i] = old[i + 1][edge];
			MPI_Sendrecv(out, CELLS, MPI_DOUBLE, to, 2, in, CELLS,
			             MPI_DOUBLE, from, 2, comm,
			             MPI_STATUS_IGNORE);
			for (int i = 0; i < CELLS; i++)
				old[i + 1][ghost] = in[i];
		}
		for (int i = 1; i <= CELLS; i++)
			for (int j = 1; j <= CELLS; j++)
				new[i][j] = (old[i - 1][j] + old[i + 1][j] +
				             old[i][j - 1] + old[i][j + 1]) /
				            4;
		for (int i = 1; i <= CELLS; i++)
			memcpy(old[i] + 1, new[i] + 1, CELLS * sizeof(double));
	}
	for (int i = 1; i <= CELLS; i++)
		for (int j = 1; j <= CELLS; j++)
			sum += old[i][j] * (i + 3 * j);
	for (int r = 0; me == 0 && r < n; r++) {
		printf("edge %d %d\n", r, (r + dim[1]) % n);
		if (r % dim[1] + 1 < dim[1])
			printf("edge %d %d\n", r, r + 1);
	}
	show(comm, sum);
	MPI_Comm_free(&comm);
}

/* Each rank adds up what its neighbours have, weighted by their order. */
static void irregular(const char *kind)
{
	int old, *list, *weight, *index, count = 0, in, out, weighted;
	MPI_Comm comm;
	double value, *got;

	MPI_Comm_rank(all, &old);
	MPI_Comm_size(all, &n);
	list = malloc((size_t)n * (size_t)n * sizeof(int));
	weight = malloc((size_t)n * sizeof(int));
	index = malloc((size_t)n * sizeof(int));
	if (!strcmp(kind, "graph")) {
		for (int a = 0; a < n; a++) {
			for (int b = 0; b < n; b++)
				if (has_edge(a, b))
					list[count++] = b;
			index[a] = count;
		}
		MPI_Graph_create(all, n, index, list, 1, &comm);
	} else if (!strcmp(kind, "spread")) {
		/* The edges of the rank before. */
		int source = (old + 1) % n;

		for (int b = 0; b < n; b++)
			if (has_edge(source, b)) {
				weight[count] = 1 + source / 4;
				list[count++] = b;
			}
		MPI_Dist_graph_create(all, 1, &source, &count, list,
		                      weight, MPI_INFO_NULL, 1, &comm);
	} else {
		for (int b = 0; b < n; b++)
			if (has_edge(old, b)) {
				weight[count] = 1 + (old + b) % 3;
				list[count++] = b;
			}
		MPI_Dist_graph_create_adjacent(all, count, list,
		                               weight, count, list, weight,
		                               MPI_INFO_NULL,
		                               strcmp(kind, "plain") != 0,
		                               &comm);
	}
	MPI_Comm_rank(comm, &me);
	if (!strcmp(kind, "graph")) {
		MPI_Graph_neighbors_count(comm, me, &in);
		MPI_Graph_neighbors(comm, me, in, list);
	} else {
		int to[64], w[64];

		MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
		MPI_Dist_graph_neighbors(comm, in, list, weight, out > 64 ? 64 : out,
		                         to, w);
		/* Those of MPI_Dist_graph_create come in any order. */
		for (int k = 0; strcmp(kind, "spread") && k < in; k++)
			if (weight[k] != 1 + (me + list[k]) % 3)
				printf("wrong weight\n");
	}
	value = 1 + me;
	got = calloc((size_t)in + 1, sizeof(*got));
	for (int step = 0; step < STEPS; step++) {
		double sum = value;

		MPI_Neighbor_allgather(&value, 1, MPI_DOUBLE, got, 1,
		                       MPI_DOUBLE, comm);
		/* By rank, so that the sum is the same to the last bit. */
		for (int b = 0; b < n; b++)
			for (int k = 0; k < in; k++)
				if (list[k] == b)
					sum += got[k] * (1 + b % 3);
		value = sum / (1 + 3 * in);
	}
	for (int a = 0; me == 0 && a < n; a++)
		for (int b = a + 1; b < n; b++)
			if (has_edge(a, b))
				printf("edge %d %d\n", a, b);
	show(comm, value);
	MPI_Comm_free(&comm);
	free(list);
	free(weight);
	free(index);
	free(got);
}

int main(int argc, char **argv)
{
	int dim[2] = {4, 4};

	begin(&argc, &argv);
	if (argc == 2 && !strcmp(argv[1], "stencil"))
		stencil(dim);
	else if (argc == 4 && !strcmp(argv[1], "stencil"))
		stencil((int[]){atoi(argv[2]), atoi(argv[3])});
	else if (argc == 2)
		irregular(argv[1]);
	end();
	return 0;
}
