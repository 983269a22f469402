/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mappers on problems of known structure, hop-bytes and largest link load
 * against the default order, and against Scotch's gmap where that is there.
 *
 * bench_mapping [-a ALGORITHM] [-o OBJECTIVE] [-w WORK] [-d SECONDS]
 *               [-t THREADS] [-g GMAP] [-c CASE] [-m FOLDER]
 *
 * GMAP is the program (scotch_gmap); the temporary files go to TMPDIR or /tmp.
 * FOLDER holds measured matrices "APP_64.KIND.mat" (lines "src dst bytes") and
 * placements "APP_64.KIND.METHOD.map" on a 4 x 4 x 4 torus (line i: the node
 * of rank i): best is compared with the best of the placements.
 */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/random.h"
#include "mapping/mapping.h"

#define MAX_ENTRIES (1 << 20)

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool past(void *arg)
{
	return now() > *(const double *)arg;
}

static struct cpl_comm_entry *entry;
static int64_t n_entries;
static int *name;

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

struct problem {
	const char *text;
	const char *network; /* torus dims, or "dragonfly" */
	int ranks, per_node;
	bool shuffled, fragmented;
	void (*pattern)(int ranks);
};

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

static const struct problem problem[] = {
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
        {"halo-27 part", "12,8,8", 512, 1, true, true, halo_512},
        {"stencil 8x8x8", "dragonfly", 512, 1, true, false, stencil_512},
        {"geometric x8", "dragonfly", 4096, 8, true, false, geometric_any},
        {"NAS CG", "dragonfly", 1024, 1, false, false, npb_cg},
        {"NAS CG x8", "dragonfly", 4096, 8, false, false, npb_cg},
        {"geometric part", "dragonfly", 1024, 1, true, true, geometric_any},
        {"random", "dragonfly", 1024, 1, false, false, random_any},
};

static struct cpl_network *make_network(const char *what, int nodes,
                                        struct cpl_error *err)
{
	char text[512];
	int total = 1;

	if (!strcmp(what, "dragonfly")) {
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

/* Nodes of the job: the first, or some of all. */
static void make_hosts(const struct problem *p, int n_nodes, int *host, int n)
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

struct figures {
	double hop_bytes, max, seconds;
};

static void evaluate(const struct cpl_map_request *req, const int *rank_host,
                     struct figures *out)
{
	struct cpl_traffic_work *work =
	        cpl_traffic_work_new(req->net, req->comm, NULL);
	int *rank_node = malloc((size_t)req->comm->ranks * sizeof(int));
	struct cpl_load load = {0};
	struct cpl_metrics metrics = {0};
	struct cpl_job_sums sums = {0};

	if (work && rank_node && !cpl_load_init(&load, req->net, NULL)) {
		for (int r = 0; r < req->comm->ranks; r++)
			rank_node[r] = req->host[rank_host[r]];
		cpl_traffic_add(req->net, req->routing, req->comm, rank_node,
		                work, &load, &sums);
		cpl_traffic_metrics(req->net, &load, NULL, &metrics);
	}
	out->hop_bytes = sums.hop_bytes;
	out->max = metrics.max_congestion;
	cpl_load_free(&load);
	cpl_traffic_work_free(work);
	free(rank_node);
}

/* Ranks above a host's slots go to the first host with room. */
static void level(const struct cpl_map_request *req, int *rank_host)
{
	int *left = malloc((size_t)req->n_hosts * sizeof(*left)), to = 0;

	for (int h = 0; left && h < req->n_hosts; h++)
		left[h] = req->slots[h];
	for (int r = 0; left && r < req->comm->ranks; r++)
		if (--left[rank_host[r]] < 0)
			rank_host[r] = -1;
	for (int r = 0; left && r < req->comm->ranks; r++) {
		while (rank_host[r] < 0 && left[to] <= 0)
			to++;
		if (rank_host[r] < 0) {
			rank_host[r] = to;
			left[to]--;
		}
	}
	free(left);
}

static bool write_graph(const char *path, const struct cpl_comm *g)
{
	FILE *f = fopen(path, "w");

	if (!f)
		return false;
	fprintf(f, "0\n%d %lld\n0 010\n", g->ranks, (long long)g->n_entries);
	for (int r = 0; r < g->ranks; r++) {
		fprintf(f, "%lld", (long long)(g->row[r + 1] - g->row[r]));
		for (int64_t e = g->row[r]; e < g->row[r + 1]; e++)
			fprintf(f, " %.0f %d", g->bytes[e], g->to[e]);
		fprintf(f, "\n");
	}
	return !fclose(f);
}

/* The machine as Scotch knows it: a torus, or a tree of groups, chassis,
 * routers and nodes weighted by the hops between them. False: it has none. */
static bool write_target(const char *path, const struct cpl_map_request *req)
{
	FILE *f = fopen(path, "w");
	const struct cpl_network *net = req->net;

	if (!f)
		return false;
	if (net->type == CPL_NETWORK_TORUS && req->n_hosts == net->n_nodes)
		fprintf(f, "torus3D %d %d %d\n", net->torus.dim[0],
		        net->torus.dim[1], net->torus.dim[2]);
	else if (net->type == CPL_NETWORK_DRAGONFLY)
		fprintf(f, "tleaf 4 %d 9 4 4 8 2 4 1\n", req->n_hosts / 128);
	return !fclose(f);
}

static bool run_gmap(const char *gmap, const char *strategy,
                     const struct cpl_map_request *req, struct figures *out)
{
	const char *dir = getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
	char graph[256], target[256], map[256], line[1200];
	int *rank_host = calloc((size_t)req->comm->ranks, sizeof(int));
	int pid = (int)getpid(), n = 0, r, h;
	bool ok = false;
	double start;
	FILE *f;

	snprintf(graph, sizeof(graph), "%.200s/bench.%d.grf", dir, pid);
	snprintf(target, sizeof(target), "%.200s/bench.%d.tgt", dir, pid);
	snprintf(map, sizeof(map), "%.200s/bench.%d.map", dir, pid);
	snprintf(line, sizeof(line),
	         "'%.200s' %s -b0.001 '%s' '%s' '%s' >/dev/null 2>&1", gmap,
	         strategy, graph, target, map);
	if (!rank_host || !write_graph(graph, req->graph) ||
	    !write_target(target, req))
		goto out;
	start = now();
	if (system(line))
		goto out;
	out->seconds = now() - start;
	f = fopen(map, "r");
	if (!f)
		goto out;
	if (fscanf(f, "%d", &n) == 1)
		while (fscanf(f, "%d %d", &r, &h) == 2)
			if (r >= 0 && r < req->comm->ranks && h >= 0 &&
			    h < req->n_hosts)
				rank_host[r] = h;
	fclose(f);
	ok = n == req->comm->ranks;
	level(req, rank_host);
	evaluate(req, rank_host, out);
out:
	unlink(graph);
	unlink(target);
	unlink(map);
	free(rank_host);
	return ok;
}

/* The better of its strategies in each number; false: none worked. */
static bool best_gmap(const char *gmap, const struct cpl_map_request *req,
                      struct figures *out)
{
	static const char *const strategy[] = {"", "-cq", "-cb", "-cs", "-cr"};
	bool any = false;

	if (!gmap || (req->net->type == CPL_NETWORK_TORUS &&
	              req->n_hosts != req->net->n_nodes))
		return false;
	for (size_t i = 0; i < sizeof(strategy) / sizeof(*strategy); i++) {
		struct figures now_is = {0};

		if (!run_gmap(gmap, strategy[i], req, &now_is))
			continue;
		if (!any || now_is.hop_bytes < out->hop_bytes)
			out->hop_bytes = now_is.hop_bytes;
		if (!any || now_is.max < out->max)
			out->max = now_is.max;
		if (!any || now_is.seconds > out->seconds)
			out->seconds = now_is.seconds;
		any = true;
	}
	return any;
}

struct options {
	const char *algorithm, *gmap, *folder;
	int64_t work;
	double deadline;
	enum cpl_objective objective;
	int only, threads;
};

static bool run_mapper(const struct options *o, struct cpl_map_request *req,
                       const char *algorithm, struct figures *out)
{
	struct cpl_error err = {""};
	const struct cpl_mapper *mapper = cpl_mapper_find(algorithm, &err);
	double start = now(), end = start + o->deadline;
	struct cpl_map_result result;

	req->expired = o->deadline > 0 ? past : NULL;
	req->expired_arg = &end;
	req->seconds = o->deadline;
	req->threads = o->threads;
	if (!mapper || cpl_map(mapper, req, &result, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return false;
	}
	out->seconds = now() - start;
	out->hop_bytes = result.sums_after.hop_bytes;
	out->max = result.after.max_congestion;
	cpl_map_result_free(&result);
	return true;
}

static double product[4];
static int counted[2];

static int run_problem(const struct options *o, const struct problem *p)
{
	int n_hosts = p->ranks / p->per_node;
	int *host = malloc((size_t)n_hosts * sizeof(*host));
	int *slots = malloc((size_t)n_hosts * sizeof(*slots));
	struct cpl_error err = {""};
	struct cpl_network *net = make_network(p->network, n_hosts, &err);
	struct cpl_comm *comm = NULL, *graph = NULL;
	struct figures linear = {0}, greedy = {0}, best = {0}, gmap = {0};
	struct cpl_map_request req;
	int rc = -1;

	n_entries = 0;
	for (int i = 0; i < p->ranks; i++)
		name[i] = i;
	if (p->shuffled)
		cpl_random_shuffle(name, p->ranks, 23, 1);
	p->pattern(p->ranks);
	comm = cpl_comm_build(p->ranks, entry, n_entries, &err);
	if (comm)
		graph = cpl_comm_symmetric(comm, &err);
	if (!net || !host || !slots || !graph)
		goto out;
	make_hosts(p, net->n_nodes, host, n_hosts);
	for (int h = 0; h < n_hosts; h++)
		slots[h] = p->per_node;
	req = (struct cpl_map_request){
	        .net = net,
	        .routing = cpl_routing_find(net, NULL, &err),
	        .comm = comm,
	        .graph = graph,
	        .n_hosts = n_hosts,
	        .host = host,
	        .slots = slots,
	        .objective = o->objective,
	        .seed = 1,
	        .work = o->work,
	};
	if (!run_mapper(o, &req, "linear", &linear) ||
	    !run_mapper(o, &req, "greedyallc", &greedy) ||
	    !run_mapper(o, &req, o->algorithm, &best))
		goto out;
	printf("%-17s %-9s %5d %8.3f %8.0f %8.3f %8.0f %8.3f %8.0f %6.2f",
	       p->text, p->network, p->ranks, linear.hop_bytes / 1e6,
	       linear.max / 1e3, greedy.hop_bytes / 1e6, greedy.max / 1e3,
	       best.hop_bytes / 1e6, best.max / 1e3, best.seconds);
	product[0] += log(best.hop_bytes / greedy.hop_bytes);
	product[1] += log(best.max / greedy.max);
	counted[0]++;
	if (best_gmap(o->gmap, &req, &gmap)) {
		product[2] += log(best.hop_bytes / gmap.hop_bytes);
		product[3] += log(best.max / gmap.max);
		counted[1]++;
		printf(" %8.3f %8.0f %6.2f  %5.3f %5.3f", gmap.hop_bytes / 1e6,
		       gmap.max / 1e3, gmap.seconds,
		       best.hop_bytes / gmap.hop_bytes, best.max / gmap.max);
	}
	printf("\n");
	fflush(stdout);
	rc = 0;
out:
	if (rc)
		fprintf(stderr, "%s: %s\n", p->text, err.text);
	cpl_comm_free(comm);
	cpl_comm_free(graph);
	cpl_network_free(net);
	free(host);
	free(slots);
	return rc;
}

static bool read_matrix(const char *path)
{
	FILE *f = fopen(path, "r");
	char line[256];
	double bytes;
	int from, to;

	n_entries = 0;
	if (!f)
		return false;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%d %d %lf", &from, &to, &bytes) == 3 &&
		    from >= 0 && from < 64 && to >= 0 && to < 64)
			add(from, to, bytes);
	fclose(f);
	return true;
}

static bool read_map(const char *path, int *rank_host)
{
	FILE *f = fopen(path, "r");
	int n = 0;

	while (f && n < 64 && fscanf(f, "%d", &rank_host[n]) == 1 &&
	       rank_host[n] >= 0 && rank_host[n] < 64)
		n++;
	if (f)
		fclose(f);
	return n == 64;
}

static int run_measured(const struct options *o, const char *matrix)
{
	const struct problem p = {.ranks = 64};
	size_t stem = strlen(matrix) - strlen("mat");
	struct cpl_error err = {""};
	struct cpl_network *net = make_network("4,4,4", 64, &err);
	struct figures least = {0}, best = {0};
	struct cpl_comm *comm = NULL, *graph = NULL;
	int host[64], slots[64], rank_host[64], n = 0, rc = -1;
	struct cpl_map_request req;
	DIR *dir = opendir(o->folder);
	char path[1024];

	for (int i = 0; i < 64; i++)
		name[i] = i;
	snprintf(path, sizeof(path), "%.400s/%.256s", o->folder, matrix);
	if (!net || !dir || !read_matrix(path))
		goto out;
	comm = cpl_comm_build(64, entry, n_entries, &err);
	if (comm)
		graph = cpl_comm_symmetric(comm, &err);
	if (!graph)
		goto out;
	make_hosts(&p, 64, host, 64);
	for (int h = 0; h < 64; h++)
		slots[h] = 1;
	req = (struct cpl_map_request){
	        .net = net,
	        .routing = cpl_routing_find(net, NULL, &err),
	        .comm = comm,
	        .graph = graph,
	        .n_hosts = 64,
	        .host = host,
	        .slots = slots,
	        .objective = o->objective,
	        .seed = 1,
	        .work = o->work,
	};
	for (struct dirent *e = readdir(dir); e; e = readdir(dir)) {
		struct figures f;

		if (strncmp(e->d_name, matrix, stem) ||
		    strlen(e->d_name) <= stem + 4)
			continue;
		snprintf(path, sizeof(path), "%.400s/%.256s", o->folder,
		         e->d_name);
		if (!read_map(path, rank_host))
			continue;
		evaluate(&req, rank_host, &f);
		if (!n || f.hop_bytes < least.hop_bytes)
			least.hop_bytes = f.hop_bytes;
		if (!n || f.max < least.max)
			least.max = f.max;
		n++;
	}
	if (!run_mapper(o, &req, o->algorithm, &best))
		goto out;
	printf("%-17.*s %3d %12.0f %12.0f %12.0f %12.0f %6.3f %6.3f %6.2f\n",
	       (int)stem - 1, matrix, n, least.hop_bytes, least.max,
	       best.hop_bytes, best.max, best.hop_bytes / least.hop_bytes,
	       best.max / least.max, best.seconds);
	rc = 0;
out:
	if (rc)
		fprintf(stderr, "%s: %s\n", matrix, err.text);
	if (dir)
		closedir(dir);
	cpl_comm_free(comm);
	cpl_comm_free(graph);
	cpl_network_free(net);
	return rc;
}

static int run_folder(const struct options *o)
{
	struct dirent **list = NULL;
	int n = scandir(o->folder, &list, NULL, alphasort), rc = n < 0;

	printf("%-17s %3s %12s %12s %12s %12s %6s %6s %6s\n", "matrix", "n",
	       "least hb", "least max", "hop-bytes", "max", "hb", "max", "s");
	for (int i = 0; i < n; i++) {
		size_t length = strlen(list[i]->d_name);

		if (length > 4 && !strcmp(list[i]->d_name + length - 4, ".mat"))
			rc |= run_measured(o, list[i]->d_name);
		free(list[i]);
	}
	free(list);
	return rc != 0;
}

static int run_all(const struct options *o)
{
	int n = (int)(sizeof(problem) / sizeof(*problem)), rc = 0;

	printf("%-17s %-9s %5s %17s %17s %24s %24s  %s\n",
	       "hop-bytes/1e6 max/1e3", "network", "ranks", "linear",
	       "greedyallc", o->algorithm, "gmap", "ratio to gmap");
	for (int i = 0; i < n; i++)
		if (o->only < 0 || o->only == i)
			rc |= run_problem(o, &problem[i]);
	if (counted[0])
		printf("to greedyallc, geometric means: hop-bytes %.3f max "
		       "%.3f\n",
		       exp(product[0] / counted[0]),
		       exp(product[1] / counted[0]));
	if (counted[1])
		printf("to gmap, geometric means: hop-bytes %.3f max %.3f\n",
		       exp(product[2] / counted[1]),
		       exp(product[3] / counted[1]));
	return rc != 0;
}

int main(int argc, char **argv)
{
	struct options o = {.algorithm = "best", .only = -1};
	int c, rc;

	while ((c = getopt(argc, argv, "a:w:d:g:c:m:o:t:")) != -1) {
		if (c == 'a')
			o.algorithm = optarg;
		else if (c == 'w')
			o.work = atoll(optarg);
		else if (c == 'd')
			o.deadline = atof(optarg);
		else if (c == 'g')
			o.gmap = optarg;
		else if (c == 't')
			o.threads = atoi(optarg);
		else if (c == 'c')
			o.only = atoi(optarg);
		else if (c == 'o' &&
		         !cpl_objective_parse(optarg, &o.objective, NULL))
			continue;
		else if (c == 'm')
			o.folder = optarg;
		else
			return 2;
	}
	entry = malloc(MAX_ENTRIES * sizeof(*entry));
	name = malloc(65536 * sizeof(*name));
	if (!entry || !name)
		return 1;
	if (o.deadline > 0 && !o.work)
		o.work = INT64_MAX;
	rc = o.folder ? run_folder(&o) : run_all(&o);
	free(entry);
	free(name);
	return rc;
}
