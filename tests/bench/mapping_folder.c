/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mapping_bench.h"

static bool read_matrix(const char *path)
{
	FILE *f = fopen(path, "r");
	char line[256];
	double bytes;
	int from, to;

	bench_clear(64, false);
	if (!f)
		return false;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%d %d %lf", &from, &to, &bytes) == 3 &&
		    from >= 0 && from < 64 && to >= 0 && to < 64)
			bench_add(from, to, bytes);
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
	struct cpl_network *net = bench_network("4,4,4", 64, &err);
	struct figures least = {0}, best = {0};
	struct cpl_comm *comm = NULL, *graph = NULL;
	int host[64], slots[64], rank_host[64], n = 0, rc = -1;
	struct cpl_map_request req;
	DIR *dir = opendir(o->folder);
	char path[1024];

	snprintf(path, sizeof(path), "%.400s/%.256s", o->folder, matrix);
	if (!net || !dir || !read_matrix(path))
		goto out;
	comm = bench_comm(64, &err);
	if (comm)
		graph = cpl_comm_symmetric(comm, &err);
	if (!graph)
		goto out;
	bench_hosts(&p, 64, host, 64);
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
		bench_evaluate(&req, rank_host, &f);
		if (!n || f.hop_bytes < least.hop_bytes)
			least.hop_bytes = f.hop_bytes;
		if (!n || f.max < least.max)
			least.max = f.max;
		n++;
	}
	if (!bench_mapper(o, &req, o->algorithm, &best))
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

int bench_folder(const struct options *o)
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
