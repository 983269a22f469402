/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static bool write_graph(const char *path, const struct cpl_comm *g, bool kahip)
{
	FILE *f = fopen(path, "w");

	if (!f)
		return false;
	if (kahip)
		fprintf(f, "%d %lld 1\n", g->ranks, (long long)g->n_entries / 2);
	else
		fprintf(f, "0\n%d %lld\n0 010\n", g->ranks,
		        (long long)g->n_entries);
	for (int r = 0; r < g->ranks; r++) {
		if (!kahip)
			fprintf(f, "%lld", (long long)(g->row[r + 1] - g->row[r]));
		for (int64_t e = g->row[r]; e < g->row[r + 1]; e++)
			if (kahip)
				fprintf(f, " %d %.0f", g->to[e] + 1, g->bytes[e]);
			else
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
	else if (bench_is_tree(net))
		fprintf(f, "tleaf 3 %d 2 8 2 4 2\n", req->n_hosts / 32);
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

struct run {
	const char *program, *options;
	bool kahip;
};

static void command_of(const struct run *run, const struct cpl_map_request *req,
                       const char *path[3], char *line, size_t size)
{
	if (run->kahip)
		snprintf(line, size,
		         "'%.200s/global_multisection' '%s' %s --imbalance=0 "
		         "--hierarchy_parameter_string=4:8:%d "
		         "--distance_parameter_string=2:4:6 "
		         "--output_filename='%s' >/dev/null 2>&1",
		         run->program,
		         path[0], run->options, req->n_hosts / 32,
		         path[2]);
	else
		snprintf(line, size,
		         "'%.200s' %s -b0.001 '%s' '%s' '%s' >/dev/null 2>&1",
		         run->program, run->options, path[0], path[1], path[2]);
}

static int read_map(const char *path, bool kahip,
                    const struct cpl_map_request *req, int *rank_host)
{
	FILE *f = fopen(path, "r");
	int n = 0, r, h;

	if (!f)
		return 0;
	if (!kahip && fscanf(f, "%d", &n) != 1)
		n = 0;
	while (kahip ? (r = n, fscanf(f, "%d", &h) == 1)
	             : fscanf(f, "%d %d", &r, &h) == 2) {
		n += kahip;
		if (r >= 0 && r < req->comm->ranks && h >= 0 && h < req->n_hosts)
			rank_host[r] = h;
	}
	fclose(f);
	return n;
}

static bool run_peer(const struct run *run, const struct cpl_map_request *req,
                     struct figures *out)
{
	const char *dir = getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
	char graph[256], target[256], map[256], line[1200];
	const char *path[3] = {graph, target, map};
	int *rank_host = calloc((size_t)req->comm->ranks, sizeof(int));
	int pid = (int)getpid();
	bool ok = false;
	struct rusage before, after;

	snprintf(graph, sizeof(graph), "%.200s/bench.%d.grf", dir, pid);
	snprintf(target, sizeof(target), "%.200s/bench.%d.tgt", dir, pid);
	snprintf(map, sizeof(map), "%.200s/bench.%d.map", dir, pid);
	command_of(run, req, path, line, sizeof(line));
	if (!rank_host || !write_graph(graph, req->graph, run->kahip) ||
	    !write_target(target, req))
		goto out;
	getrusage(RUSAGE_CHILDREN, &before);
	if (system(line))
		goto out;
	getrusage(RUSAGE_CHILDREN, &after);
	out->seconds = cpu_of(&after) - cpu_of(&before);
	ok = read_map(map, run->kahip, req, rank_host) == req->comm->ranks;
	level(req, rank_host);
	bench_evaluate(req, rank_host, out);
out:
	unlink(graph);
	unlink(target);
	unlink(map);
	free(rank_host);
	return ok;
}

static void keep_least(const struct figures *now, bool by_winner, bool *any,
                       struct figures *out)
{
	bool least = !*any || now->hop_bytes < out->hop_bytes;

	if (by_winner ? least : !*any || now->seconds > out->seconds)
		out->seconds = now->seconds;
	if (least)
		out->hop_bytes = now->hop_bytes;
	if (!*any || now->max < out->max)
		out->max = now->max;
	*any = true;
}

bool bench_peers(const struct options *o, const struct cpl_map_request *req,
                 struct figures *out)
{
	static const char *const gmap[] = {"", "-cq", "-cb", "-cs", "-cr"};
	static const char *const kahip[] = {
	        "--preconfiguration=fast", "--preconfiguration=eco",
	        "--preconfiguration=strong"};
	bool any = false;

	for (size_t i = 0; o->gmap && i < sizeof(gmap) / sizeof(*gmap); i++) {
		struct figures now = {0};

		if (run_peer(&(struct run){o->gmap, gmap[i], false}, req, &now))
			keep_least(&now, o->kahip, &any, out);
	}
	for (size_t i = 0; o->kahip && bench_is_tree(req->net) &&
	                   i < sizeof(kahip) / sizeof(*kahip);
	     i++) {
		struct figures now = {0};

		if (run_peer(&(struct run){o->kahip, kahip[i], true}, req, &now))
			keep_least(&now, o->kahip, &any, out);
	}
	return any;
}
