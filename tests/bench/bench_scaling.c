/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CPU seconds of each mapper, as it is, for 1,024 to 65,536 tasks: a 7-point
 * stencil with shuffled ranks on a whole torus, one rank on a node. A mapper
 * whose time would go beyond the limit at the next size, going by how it grew,
 * is not asked for it.
 *
 * bench_scaling [-l LIMIT_SECONDS] [-n LARGEST] [-d] [-u] [MAPPER]...
 *
 * -d: a dragonfly of as many nodes; -u: ranks in order.
 */
#include "commplace-config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/random.h"
#include "mapping/mappers.h"
#include "cpu_time.h"

static const int dims[][3] = {
        {16, 8, 8},   {16, 16, 8},  {16, 16, 16}, {32, 16, 16},
        {32, 32, 16}, {32, 32, 32}, {64, 32, 32},
};
#define SIZES ((int)(sizeof(dims) / sizeof(*dims)))

static struct cpl_network *make_network(const int *dim, int dragonfly)
{
	int n = dim[0] * dim[1] * dim[2];
	struct cpl_error err = {""};
	struct cpl_network *net;
	char text[512];

	if (dragonfly)
		snprintf(text, sizeof(text),
		         "{\"format\":\"commplace-network\",\"version\":1,"
		         "\"type\":\"dragonfly\",\"groups\":%d,\"rows\":4,"
		         "\"columns\":16,\"nodes_per_router\":4,"
		         "\"global_links_per_group_pair\":1,"
		         "\"nodes\":\"n[0-%d]\"}",
		         n / 256, n - 1);
	else
		snprintf(text, sizeof(text),
		         "{\"format\":\"commplace-network\",\"version\":1,"
		         "\"type\":\"torus\",\"dims\":[%d,%d,%d],"
		         "\"nodes\":\"n[0-%d]\"}",
		         dim[0], dim[1], dim[2], n - 1);
	net = cpl_network_parse(text, strlen(text), "bench", &err);
	if (!net)
		fprintf(stderr, "%s\n", err.text);
	return net;
}

static struct cpl_comm *make_comm(const int *dim, int shuffle)
{
	int n = dim[0] * dim[1] * dim[2];
	int *name = malloc((size_t)n * sizeof(*name));
	struct cpl_comm_entry *entry = malloc((size_t)n * 3 * sizeof(*entry));
	struct cpl_comm *comm = NULL;
	int64_t used = 0;

	for (int i = 0; name && i < n; i++)
		name[i] = i;
	if (name && shuffle)
		cpl_random_shuffle(name, n, 23, 1);
	for (int i = 0; name && entry && i < n; i++) {
		int stride = 1;

		for (int d = 0; d < 3; d++) {
			int at = i / stride % dim[d];
			int to = at + 1 < dim[d] ? i + stride : i - at * stride;

			entry[used++] = (struct cpl_comm_entry){
			        name[i], name[to], 1000, 1};
			stride *= dim[d];
		}
	}
	if (name && entry)
		comm = cpl_comm_build(n, entry, used, NULL);
	free(name);
	free(entry);
	return comm;
}

struct timing {
	double seconds[SIZES], hops[SIZES]; /* < 0: not asked */
	char why[160];
};

/* Time by the growth between the last two sizes, at least linear. */
static double expect(const struct timing *t, int size)
{
	double last, before;

	if (size < 1)
		return 0;
	last = t->seconds[size - 1];
	before = size > 1 ? t->seconds[size - 2] : 0;
	return last < 0                             ? INFINITY
	       : before > 1e-3 && last > 2 * before ? last * last / before
	                                            : 4 * last;
}

static void run(const struct cpl_mapper *mapper, struct cpl_map_request *req,
                int size, double limit, struct timing *t)
{
	int *rank_host = malloc((size_t)req->comm->ranks * sizeof(int));
	struct cpl_error err = {""};
	double start, sum = 0, bytes = 0;

	t->seconds[size] = -1;
	if (!rank_host || t->why[0] || expect(t, size) > limit) {
		free(rank_host);
		return;
	}
	start = cpu_seconds();
	if (cpl_map_run(mapper, req, rank_host, &err)) {
		snprintf(t->why, sizeof(t->why), "%.159s", err.text);
		free(rank_host);
		return;
	}
	t->seconds[size] = cpu_seconds() - start;
	for (int r = 0; r < req->comm->ranks; r++)
		for (int64_t e = req->comm->row[r]; e < req->comm->row[r + 1];
		     e++) {
			int from = req->host[rank_host[r]];
			int to = req->host[rank_host[req->comm->to[e]]];

			bytes += req->comm->bytes[e];
			sum += req->comm->bytes[e] *
			       req->routing->hops(
			               req->net,
			               cpl_network_router(req->net, from),
			               cpl_network_router(req->net, to));
		}
	t->hops[size] = sum / bytes;
	free(rank_host);
}

struct problem {
	struct cpl_network *net;
	struct cpl_comm *comm, *graph;
	int *host, *slots;
};

static int make(struct problem *p, const int *dim, int dragonfly, int shuffle)
{
	int n = dim[0] * dim[1] * dim[2];

	p->net = make_network(dim, dragonfly);
	p->comm = make_comm(dim, shuffle);
	p->graph = p->comm ? cpl_comm_symmetric(p->comm, NULL) : NULL;
	p->host = malloc((size_t)n * sizeof(*p->host));
	p->slots = malloc((size_t)n * sizeof(*p->slots));
	if (!p->net || !p->graph || !p->host || !p->slots)
		return -1;
	for (int i = 0; i < n; i++) {
		p->host[i] = i;
		p->slots[i] = 1;
	}
	return 0;
}

static void release(struct problem *p)
{
	cpl_network_free(p->net);
	cpl_comm_free(p->comm);
	cpl_comm_free(p->graph);
	free(p->host);
	free(p->slots);
}

static void print(const struct cpl_mapper *mapper, const struct timing *t,
                  int sizes)
{
	printf("%-13s", mapper->name);
	for (int s = 0; s < sizes; s++)
		if (t->seconds[s] < 0)
			printf("  %14s", "-");
		else
			printf("  %8.3f %5.2f", t->seconds[s], t->hops[s]);
	printf("%s%s\n", t->why[0] ? "  " : "", t->why);
	fflush(stdout);
}

static const struct cpl_mapper *mapper_at(int i)
{
#ifdef HAVE_SCOTCH
	const struct cpl_registry *all = &cpl_mappers_and_scotch;
#else
	const struct cpl_registry *all = &cpl_mappers;
#endif

	return (const struct cpl_mapper *)cpl_registry_at(all, i);
}

int main(int argc, char **argv)
{
	int c, largest = 65536, sizes = 0, dragonfly = 0, shuffle = 1, bad = 0;
	struct problem problem[SIZES] = {{0}};
	double limit = 20;

	while ((c = getopt(argc, argv, "l:n:du")) != -1) {
		if (c == 'l')
			limit = atof(optarg);
		else if (c == 'n')
			largest = atoi(optarg);
		else if (c == 'd')
			dragonfly = 1;
		else if (c == 'u')
			shuffle = 0;
		else
			return 2;
	}
	printf("%-13s", "CPU s, hops");
	for (int s = 0; s < SIZES && !bad; s++) {
		int n = dims[s][0] * dims[s][1] * dims[s][2];

		if (n > largest)
			break;
		printf("  %14d", n);
		bad = make(&problem[sizes++], dims[s], dragonfly, shuffle);
	}
	printf("\n");
	for (int k = 0; mapper_at(k) && !bad; k++) {
		struct timing t = {.why = ""};
		int wanted = optind == argc;

		for (int i = optind; i < argc; i++)
			wanted |= !strcmp(argv[i], mapper_at(k)->name);
		if (!wanted)
			continue;
		for (int s = 0; s < sizes; s++) {
			struct problem *p = &problem[s];
			struct cpl_map_request req = {
			        .net = p->net,
			        .routing = cpl_routing_find(p->net, NULL, NULL),
			        .comm = p->comm,
			        .graph = p->graph,
			        .n_hosts = p->net->n_nodes,
			        .host = p->host,
			        .slots = p->slots,
			        .seed = 1,
			};

			run(mapper_at(k), &req, s, limit, &t);
		}
		print(mapper_at(k), &t, sizes);
	}
	for (int s = 0; s < sizes; s++)
		release(&problem[s]);
	return bad ? 1 : 0;
}
