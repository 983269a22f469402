/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "mapping_bench.h"

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
 * routers and nodes weighted by the hops between them; of an allocation in
 * pieces its nodes. */
static bool write_target(const char *path, const struct cpl_map_request *req)
{
	FILE *f = fopen(path, "w");
	const struct cpl_network *net = req->net;
	bool torus = cpl_network_product(net);
	bool whole = req->host[req->n_hosts - 1] == req->n_hosts - 1;

	if (!f)
		return false;
	if (!whole) {
		fprintf(f, "sub\n%d", req->n_hosts);
		for (int h = 0; h < req->n_hosts; h++)
			fprintf(f, " %d", req->host[h]);
		fprintf(f, "\n");
	}
	if (torus)
		fprintf(f, "torus3D %d %d %d\n", net->product.dim[0],
		        net->product.dim[1], net->product.dim[2]);
	else
		fprintf(f, "tleaf 4 %d 9 4 4 8 2 4 1\n",
		        (whole ? req->n_hosts : net->n_nodes) / 128);
	return !fclose(f);
}

static double cpu_of(const struct rusage *use)
{
	return (double)(use->ru_utime.tv_sec + use->ru_stime.tv_sec) +
	       1e-6 * (double)(use->ru_utime.tv_usec + use->ru_stime.tv_usec);
}

static bool run_gmap(const char *gmap, const char *strategy,
                     const struct cpl_map_request *req, struct figures *out)
{
	const char *dir = getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
	char graph[256], target[256], map[256], line[1200];
	int *rank_host = calloc((size_t)req->comm->ranks, sizeof(int));
	int pid = (int)getpid(), n = 0, r, h;
	bool ok = false;
	struct rusage before, after;
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
	getrusage(RUSAGE_CHILDREN, &before);
	if (system(line))
		goto out;
	getrusage(RUSAGE_CHILDREN, &after);
	out->seconds = cpu_of(&after) - cpu_of(&before);
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
	bench_evaluate(req, rank_host, out);
out:
	unlink(graph);
	unlink(target);
	unlink(map);
	free(rank_host);
	return ok;
}

/* The better of its strategies in each number; false: none worked. */
bool bench_gmap(const char *gmap, const struct cpl_map_request *req,
                struct figures *out)
{
	static const char *const strategy[] = {"", "-cq", "-cb", "-cs", "-cr"};
	bool any = false;

	if (!gmap)
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
