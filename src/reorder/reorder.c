/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libcommplace-reorder.so is preloaded into an MPI program. Communicators with a
 * topology for which the program asks with reorder=1 get their ranks by our mapping
 * if COMMPLACE_REORDER is yes, or check, which also proves the neighbours and data
 * of each. Otherwise the library does nothing.
 *
 * A process becomes the rank of a copy of the communicator (MPI_Comm_split). MPI
 * makes the topology of that copy as it was stated, without reordering.
 */
#include "commplace-config.h"

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sort.h"
#include "plan.h"
#include "record/pmpi.h"

#define EXPORT __attribute__((visibility("default")))

#define FUNCTIONS(X)                                                           \
	X(Abort)                                                               \
	X(Allreduce)                                                           \
	X(Bcast)                                                               \
	X(Cart_create)                                                         \
	X(Comm_dup)                                                            \
	X(Comm_free)                                                           \
	X(Comm_rank)                                                           \
	X(Comm_size)                                                           \
	X(Comm_split)                                                          \
	X(Comm_test_inter)                                                     \
	X(Dist_graph_create)                                                   \
	X(Dist_graph_create_adjacent)                                          \
	X(Dist_graph_neighbors_count)                                          \
	X(Gather)                                                              \
	X(Gatherv)                                                             \
	X(Graph_create)                                                        \
	X(Neighbor_allgather)                                                  \
	X(Sendrecv)

/* This is the library below. Nothing of MPI is linked, see record/pmpi.h. */
static struct {
#define X(name) __typeof__(PMPI_##name) *name;
	FUNCTIONS(X)
#undef X
	MPI_Datatype integer, byte;
	MPI_Comm null;
	MPI_Op least;
	const int *unweighted, *empty; /* in place of weights */
	bool known;
} mpi;

static bool load(void)
{
	if (mpi.known)
		return true;
#define X(name)                                                                \
	mpi.name = (__typeof__(mpi.name))rec_symbol("PMPI_" #name);            \
	if (!mpi.name)                                                         \
		return false;
	FUNCTIONS(X)
#undef X
#ifdef OPEN_MPI
	/* Open MPI's handles are addresses of the library's objects. */
	mpi.integer = rec_symbol("ompi_mpi_int");
	mpi.byte = rec_symbol("ompi_mpi_byte");
	mpi.null = rec_symbol("ompi_mpi_comm_null");
	mpi.least = rec_symbol("ompi_mpi_op_min");
	mpi.unweighted = MPI_UNWEIGHTED;
	mpi.empty = MPI_WEIGHTS_EMPTY;
	mpi.known = mpi.integer && mpi.byte && mpi.null && mpi.least;
#else
	int *const *unweighted = rec_symbol("MPI_UNWEIGHTED");
	int *const *empty = rec_symbol("MPI_WEIGHTS_EMPTY");

	mpi.least = MPI_MIN;
	mpi.unweighted = unweighted ? *unweighted : NULL;
	mpi.empty = empty ? *empty : NULL;
	mpi.integer = MPI_INT;
	mpi.byte = MPI_BYTE;
	mpi.null = MPI_COMM_NULL;
	mpi.known = unweighted && empty && !rec_symbol("ompi_mpi_comm_world");
#endif
	return mpi.known;
}

/* This is one topology while it is made. */
struct reorder_job {
	MPI_Comm comm; /* a copy of the program's: its messages are not ours */
	MPI_Comm split; /* the same in the new order */
	int me, n;
	bool check;
	/* This process states these edges of the graph (from, to, weight). */
	int *edge, n_edges;
	/* Rank 0 has all edges and the plan; the others have the plan. */
	int *all, n_all;
	int *rank_of; /* [n] */
};

static CPL_SORT_BY(triples, int, CPL_KEY(x[0], y[0]), CPL_KEY(x[1], y[1]))

/* This appends (from, to, weight), or returns false when memory is out. */
static bool add_edge(struct reorder_job *job, int from, int to, int weight)
{
	/* The array grows at powers of two. */
	if (!(job->n_edges & (job->n_edges - 1))) {
		size_t room = job->n_edges ? 2 * (size_t)job->n_edges : 1;
		int *larger = realloc(job->edge, room * 3 * sizeof(int));

		if (!larger)
			return false;
		job->edge = larger;
	}
	job->edge[3 * job->n_edges] = from;
	job->edge[3 * job->n_edges + 1] = to;
	job->edge[3 * job->n_edges++ + 2] = weight > 0 ? weight : 0;
	return true;
}

/* This gathers everybody's `mine` (count triples; -1: cannot) at rank 0 of comm. It
 * returns NULL at the others, and where it cannot be done. */
static int *gather(MPI_Comm comm, int me, int n, const int *mine, int count,
                   int *total)
{
	int *counts = NULL, *at = NULL, *all = NULL, good = 1;
	int64_t sum = 0;

	if (!me) {
		counts = malloc(((size_t)n + 1) * sizeof(*counts));
		at = malloc(((size_t)n + 1) * sizeof(*at));
		good = counts && at;
	}
	mpi.Bcast(&good, 1, mpi.integer, 0, comm);
	if (!good)
		goto out;
	mpi.Gather(&count, 1, mpi.integer, counts, 1, mpi.integer, 0, comm);
	for (int i = 0; !me && i < n; i++) {
		good = good && counts[i] >= 0;
		at[i] = (int)(3 * sum);
		sum += counts[i] > 0 ? counts[i] : 0;
		counts[i] *= 3;
		good = good && 3 * sum < INT32_MAX;
	}
	if (!me && good) {
		all = malloc((3 * (size_t)sum + 1) * sizeof(*all));
		good = all != NULL;
	}
	mpi.Bcast(&good, 1, mpi.integer, 0, comm);
	if (good)
		mpi.Gatherv(mine, 3 * count, mpi.integer, all, counts, at,
		            mpi.integer, 0, comm);
	*total = (int)sum;
out:
	free(counts);
	free(at);
	return all;
}

/* This is the package of all CPUs of a set, or -1 if there are several or it is not
 * known. */
static int package_of(const cpu_set_t *set)
{
	int package = -1;

	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		char path[96];
		FILE *in;
		int id = -1;

		if (!CPU_ISSET(cpu, set))
			continue;
		snprintf(path, sizeof(path),
		         "/sys/devices/system/cpu/cpu%d/topology/"
		         "physical_package_id",
		         cpu);
		in = fopen(path, "re");
		if (!in || fscanf(in, "%d", &id) != 1)
			id = -1;
		if (in)
			fclose(in);
		if (id < 0 || (package >= 0 && id != package))
			return -1;
		package = id;
	}
	return package;
}

static void find_location(struct reorder_location *place)
{
	const char *node = getenv("SLURMD_NODENAME");
	cpu_set_t set;

	*place = (struct reorder_location){.package = -1};
	if (node && *node)
		snprintf(place->host, sizeof(place->host), "%s", node);
	else
		gethostname(place->host, sizeof(place->host) - 1);
	if (sched_getaffinity(0, sizeof(set), &set))
		return;
	place->package = package_of(&set);
	while (place->cpu < CPU_SETSIZE && !CPU_ISSET(place->cpu, &set))
		place->cpu++;
}

static struct cpl_comm *graph_of(const struct reorder_job *job,
                                 struct cpl_error *err)
{
	struct cpl_comm_entry *entry =
	        malloc(((size_t)job->n_all + 1) * sizeof(*entry));
	struct cpl_comm *comm = NULL;

	if (!entry)
		return cpl_fail_null_memory(err);
	for (int i = 0; i < job->n_all; i++) {
		const int *e = job->all + 3 * (size_t)i;

		entry[i] = (struct cpl_comm_entry){e[0], e[1], e[2], e[2]};
	}
	comm = cpl_comm_build(job->n, entry, job->n_all, err);
	free(entry);
	return comm;
}

/* Rank 0 makes the plan, or says on stderr why not and keeps the order as it is. */
static void make_plan(struct reorder_job *job,
                      const struct reorder_location *place)
{
	const char *mapper = getenv("COMMPLACE_REORDER_MAPPING");
	const char *network = getenv("COMMPLACE_REORDER_NETWORK");
	struct cpl_error err = {""};
	struct cpl_comm *comm = graph_of(job, &err);
	struct reorder_request req = {
	        .n = job->n,
	        .place = place,
	        .comm = comm,
	        .mapper = mapper && *mapper ? mapper : "quick",
	        .network = network && *network ? network : NULL,
	};

	if (!comm || reorder_plan(&req, job->rank_of, &err)) {
		fprintf(stderr, "commplace-reorder: ranks stay as they are: %s\n",
		        err.text);
		for (int i = 0; i < job->n; i++)
			job->rank_of[i] = i;
	}
	cpl_comm_free(comm);
}

static void job_free(struct reorder_job *job)
{
	if (job->split != mpi.null)
		mpi.Comm_free(&job->split);
	if (job->comm != mpi.null)
		mpi.Comm_free(&job->comm);
	free(job->edge);
	free(job->all);
	free(job->rank_of);
}

/* This makes job->split from what each process states (n_edges < 0: nonsense, or no
 * memory). It returns false, at all processes alike, if the library is to use the
 * program's own arguments. */
static bool reorder(struct reorder_job *job)
{
	struct reorder_location mine, *place = NULL;
	int good, all_good = 0;

	job->all = gather(job->comm, job->me, job->n, job->edge, job->n_edges,
	                  &job->n_all);
	job->rank_of = malloc((size_t)job->n * sizeof(int));
	if (!job->me)
		place = malloc((size_t)job->n * sizeof(*place));
	find_location(&mine);
	/* The plan fails if any process has no memory for it. */
	good = job->rank_of && (job->me || (place && job->all));
	mpi.Allreduce(&good, &all_good, 1, mpi.integer, mpi.least, job->comm);
	if (all_good) {
		mpi.Gather(&mine, sizeof(mine), mpi.byte, place, sizeof(mine),
		           mpi.byte, 0, job->comm);
		if (!job->me)
			make_plan(job, place);
		mpi.Bcast(job->rank_of, job->n, mpi.integer, 0, job->comm);
		all_good = mpi.Comm_split(job->comm, 0, job->rank_of[job->me],
		                          &job->split) == MPI_SUCCESS;
	}
	free(place);
	return all_good;
}

static bool wanted(bool *check)
{
	const char *mode = getenv("COMMPLACE_REORDER");

	*check = mode && !strcmp(mode, "check");
	return *check || (mode && !strcmp(mode, "yes"));
}

/* This tells whether this call is ours, and then makes its copy. */
static bool begin(struct reorder_job *job, MPI_Comm comm, int reorder_asked)
{
	int inter = 1;

	*job = (struct reorder_job){0};
	if (!reorder_asked || !wanted(&job->check) || !load())
		return false;
	job->comm = job->split = mpi.null;
	return comm != mpi.null &&
	       mpi.Comm_test_inter(comm, &inter) == MPI_SUCCESS && !inter &&
	       mpi.Comm_size(comm, &job->n) == MPI_SUCCESS &&
	       mpi.Comm_rank(comm, &job->me) == MPI_SUCCESS && job->n > 1;
}

static bool copy(struct reorder_job *job, MPI_Comm comm)
{
	return mpi.Comm_dup(comm, &job->comm) == MPI_SUCCESS;
}

/* This proves who sends to me over the new topology, from what arrives: all such
 * pairs must be the edges that were stated, each as often. Processes outside the
 * topology state none. It ends the program if that is not so. */
static void prove(struct reorder_job *job, MPI_Comm made, int in,
                  const char *what)
{
	int me = -1, n = 0, good = 1, *from, *pair = NULL;
	int *all;

	from = malloc(((size_t)in + 1) * sizeof(*from));
	pair = malloc((3 * (size_t)in + 1) * sizeof(*pair));
	for (int i = 0; from && i < in; i++)
		from[i] = -1;
	if (made != mpi.null) {
		mpi.Comm_rank(made, &me);
		good = from && pair && me == job->rank_of[job->me];
		mpi.Neighbor_allgather(&me, 1, mpi.integer, from, 1,
		                       mpi.integer, made);
	}
	for (int i = 0; good && i < in; i++) {
		/* MPI_PROC_NULL sends nothing. */
		if (from[i] < 0)
			continue;
		pair[3 * n] = from[i];
		pair[3 * n + 1] = me;
		pair[3 * n++ + 2] = 0;
	}
	all = gather(job->comm, job->me, job->n, pair, good ? n : -1, &n);
	if (!job->me) {
		good = all && n == job->n_all;
		if (good) {
			qsort(all, (size_t)n, 3 * sizeof(int), triples);
			qsort(job->all, (size_t)n, 3 * sizeof(int), triples);
		}
		for (int i = 0; good && i < n; i++)
			good = !triples(all + 3 * (size_t)i,
			                job->all + 3 * (size_t)i);
		fprintf(stderr, "commplace-reorder: %s of %d ranks: %s\n", what,
		        job->n,
		        good ? "neighbours and data are as stated"
		             : "neighbours or data are wrong");
		if (!good)
			mpi.Abort(job->comm, 1);
	}
	free(all);
	free(from);
	free(pair);
}

#define REAL(name) REC_REAL(__typeof__(PMPI_##name), "MPI_" #name)

/* These are both directions of each dimension, from the cell `rank`. */
static bool cart_edges(struct reorder_job *job, int n_dims, const int *dim,
                       const int *periodic)
{
	int64_t stride = 1;

	for (int d = n_dims - 1; d >= 0; stride *= dim[d--]) {
		int at = (int)(job->me / stride % dim[d]);

		for (int step = -1; step <= 1; step += 2) {
			int to = at + step;

			if ((to < 0 || to >= dim[d]) && !periodic[d])
				continue;
			to = (to + dim[d]) % dim[d];
			if (!add_edge(job, job->me,
			              (int)(job->me + (to - at) * stride), 1))
				return false;
		}
	}
	return true;
}

EXPORT int MPI_Cart_create(MPI_Comm comm, int n_dims, const int dim[],
                           const int periodic[], int asked, MPI_Comm *out)
{
	__typeof__(PMPI_Cart_create) *real = REAL(Cart_create);
	struct reorder_job job;
	int64_t cells = 1;
	int rc;

	if (!real)
		return MPI_ERR_OTHER;
	if (!begin(&job, comm, asked) || n_dims < 1 || !dim || !periodic)
		return real(comm, n_dims, dim, periodic, asked, out);
	for (int d = 0; d < n_dims; d++) {
		cells = dim[d] > 0 ? cells * dim[d] : INT32_MAX;
		if (cells > job.n)
			return real(comm, n_dims, dim, periodic, asked, out);
	}
	if (!copy(&job, comm))
		return real(comm, n_dims, dim, periodic, asked, out);
	if (job.me < cells && !cart_edges(&job, n_dims, dim, periodic))
		job.n_edges = -1;
	rc = reorder(&job) ? real(job.split, n_dims, dim, periodic, 0, out)
	                   : real(comm, n_dims, dim, periodic, 0, out);
	if (rc == MPI_SUCCESS && job.check && job.split != mpi.null)
		prove(&job, *out, *out == mpi.null ? 0 : 2 * n_dims,
		      "MPI_Cart_create");
	job_free(&job);
	return rc;
}

/* This tells whether the lists of MPI_Graph_create are within it, with each edge
 * there both ways, as neighbourhood collectives need it. */
static bool graph_is_fit(int n, const int *index, const int *edge)
{
	for (int v = 0, e = 0; v < n; v++) {
		if (index[v] < e)
			return false;
		for (; e < index[v]; e++)
			if (edge[e] < 0 || edge[e] >= n)
				return false;
	}
	return true;
}

static int count_of(const int *index, const int *edge, int from, int to)
{
	int n = 0;

	for (int e = from ? index[from - 1] : 0; e < index[from]; e++)
		n += edge[e] == to;
	return n;
}

static bool graph_is_symmetric(int n, const int *index, const int *edge)
{
	for (int v = 0, e = 0; v < n; v++)
		for (; e < index[v]; e++)
			if (count_of(index, edge, v, edge[e]) !=
			    count_of(index, edge, edge[e], v))
				return false;
	return true;
}

EXPORT int MPI_Graph_create(MPI_Comm comm, int n, const int index[],
                            const int edge[], int asked, MPI_Comm *out)
{
	__typeof__(PMPI_Graph_create) *real = REAL(Graph_create);
	struct reorder_job job;
	int rc, first, last;

	if (!real)
		return MPI_ERR_OTHER;
	if (!begin(&job, comm, asked) || n < 1 || n > job.n || !index ||
	    !edge || !graph_is_fit(n, index, edge) || !copy(&job, comm))
		return real(comm, n, index, edge, asked, out);
	first = job.me > 0 && job.me < n ? index[job.me - 1] : 0;
	last = job.me < n ? index[job.me] : 0;
	for (int e = first; e < last && job.n_edges >= 0; e++)
		if (!add_edge(&job, job.me, edge[e], 1))
			job.n_edges = -1;
	rc = reorder(&job) ? real(job.split, n, index, edge, 0, out)
	                   : real(comm, n, index, edge, 0, out);
	if (rc == MPI_SUCCESS && job.check && job.split != mpi.null &&
	    graph_is_symmetric(n, index, edge)) {
		int rank = *out == mpi.null ? -1 : job.rank_of[job.me];

		prove(&job, *out,
		      rank < 0 ? 0 : index[rank] - (rank ? index[rank - 1] : 0),
		      "MPI_Graph_create");
	}
	job_free(&job);
	return rc;
}

static void prove_dist(struct reorder_job *job, MPI_Comm made, const char *what)
{
	int in = 0, outs, weighted;

	mpi.Dist_graph_neighbors_count(made, &in, &outs, &weighted);
	prove(job, made, in, what);
}

EXPORT int MPI_Dist_graph_create(MPI_Comm comm, int n, const int source[],
                                 const int degree[], const int to[],
                                 const int weight[], MPI_Info info, int asked,
                                 MPI_Comm *out)
{
	__typeof__(PMPI_Dist_graph_create) *real = REAL(Dist_graph_create);
	struct reorder_job job;
	bool weighted;
	int rc;

	if (!real)
		return MPI_ERR_OTHER;
	if (!begin(&job, comm, asked) || !copy(&job, comm))
		return real(comm, n, source, degree, to, weight, info, asked,
		            out);
	weighted = weight != mpi.unweighted && weight != mpi.empty;
	for (int i = 0, e = 0; i < n && job.n_edges >= 0; i++)
		for (int k = 0; k < degree[i] && job.n_edges >= 0; k++, e++)
			if (source[i] < 0 || source[i] >= job.n || to[e] < 0 ||
			    to[e] >= job.n ||
			    !add_edge(&job, source[i], to[e],
			              weighted ? weight[e] : 1))
				job.n_edges = -1;
	/* Any process may state any edge. */
	rc = real(reorder(&job) ? job.split : comm, n, source, degree, to,
	          weight, info, 0, out);
	if (rc == MPI_SUCCESS && job.check && job.split != mpi.null)
		prove_dist(&job, *out, "MPI_Dist_graph_create");
	job_free(&job);
	return rc;
}

/* A process states these neighbours of a rank, and sends them there. */
struct lists {
	int in, outs;    /* [0], [1] */
	int *from, *to;  /* their ranks */
	int *from_weight, *to_weight;
};

/* This lists go from the process that stated them to the one that has the rank
 * now. */
static void pass(const struct reorder_job *job, int send_to, int get_from,
                 const int *mine, int n, int *got, int n_got)
{
	mpi.Sendrecv(mine, n, mpi.integer, send_to, 0, got, n_got, mpi.integer,
	             get_from, 0, job->comm, MPI_STATUS_IGNORE);
}

EXPORT int MPI_Dist_graph_create_adjacent(
        MPI_Comm comm, int in, const int from[], const int from_weight[],
        int outs, const int to[], const int to_weight[], MPI_Info info,
        int asked, MPI_Comm *out)
{
	__typeof__(PMPI_Dist_graph_create_adjacent) *real =
	        REAL(Dist_graph_create_adjacent);
	bool weighted;
	int holder = 0, stated[2] = {in, outs}, got[2] = {0, 0}, *list = NULL;
	struct reorder_job job;
	int rc = MPI_ERR_OTHER;

	if (!real)
		return MPI_ERR_OTHER;
	if (!begin(&job, comm, asked) || !copy(&job, comm))
		return real(comm, in, from, from_weight, outs, to, to_weight,
		            info, asked, out);
	weighted = from_weight != mpi.unweighted &&
	           to_weight != mpi.unweighted;
	for (int e = 0; e < in && job.n_edges >= 0; e++)
		if (from[e] < 0 || from[e] >= job.n ||
		    !add_edge(&job, from[e], job.me,
		              weighted ? from_weight[e] : 1))
			job.n_edges = -1;
	for (int e = 0; e < outs; e++)
		if (to[e] < 0 || to[e] >= job.n)
			job.n_edges = -1;
	if (!reorder(&job)) {
		rc = real(comm, in, from, from_weight, outs, to, to_weight,
		          info, 0, out);
		goto done;
	}
	/* Neighbours are stated by those who had the rank before. */
	while (job.rank_of[holder] != job.me)
		holder++;
	pass(&job, holder, job.rank_of[job.me], stated, 2, got, 2);
	list = malloc((2 * ((size_t)got[0] + (size_t)got[1]) + 4) *
	              sizeof(*list));
	if (!list) {
		fprintf(stderr, "commplace-reorder: out of memory\n");
		mpi.Abort(job.comm, 1);
		goto done;
	}
	struct lists l = {.in = got[0], .outs = got[1], .from = list};
	l.to = l.from + l.in;
	l.from_weight = l.to + l.outs;
	l.to_weight = l.from_weight + l.in;
	pass(&job, holder, job.rank_of[job.me], from, in, l.from, l.in);
	pass(&job, holder, job.rank_of[job.me], to, outs, l.to, l.outs);
	if (weighted) {
		pass(&job, holder, job.rank_of[job.me], from_weight, in,
		     l.from_weight, l.in);
		pass(&job, holder, job.rank_of[job.me], to_weight, outs,
		     l.to_weight, l.outs);
	}
	rc = real(job.split, l.in, l.from,
	          weighted ? l.from_weight : mpi.unweighted, l.outs, l.to,
	          weighted ? l.to_weight : mpi.unweighted, info, 0, out);
	if (rc == MPI_SUCCESS && job.check)
		prove_dist(&job, *out, "MPI_Dist_graph_create_adjacent");
done:
	free(list);
	job_free(&job);
	return rc;
}
