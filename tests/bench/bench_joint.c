/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Node sets and rank orders together.
 *
 * bench_joint draws [MAPPER]: the 72 draws of tests/unit/joint_jobs.h: busiest
 * link of "auto" after mapping, against the stock nodes (linear, and runs of
 * nodes in a row as the stock plugin picks them) and the best of the candidates
 * when all are mapped. Medians of each pattern's twelve, and how often worse.
 *
 * bench_joint mappers [NETWORK.json [NODES]]: quality per millisecond of each
 * mapper on random free nodes: geometric mean of the busiest link and the
 * hop-bytes over those of block order, and CPU time.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/joint_jobs.h"
#include "base/sort.h"
#include "mapping/mapping.h"
#include "placement/decide.h"
#include "stencil_job.h"

struct figures {
	double max, hop_bytes, ms;
	int n, failed;
};

static int map_with(const struct cpl_mapper *mapper, const char *option,
                    const struct cpl_network *net,
                    const struct cpl_routing *routing,
                    const struct cpl_comm *comm, const int *node, int n,
                    int per_node, struct figures *f)
{
	struct cpl_error err = {""};
	int *slots = malloc((size_t)n * sizeof(*slots));
	struct cpl_comm *graph = cpl_comm_symmetric(comm, &err);
	struct cpl_map_request map = {.net = net,
	                              .routing = routing,
	                              .comm = comm,
	                              .graph = graph,
	                              .n_hosts = n,
	                              .host = node,
	                              .slots = slots,
	                              .option = option,
	                              .seed = 1};
	struct cpl_map_result r;
	double start;
	int rc = -1;

	for (int i = 0; slots && i < n; i++)
		slots[i] = per_node;
	start = cpu_seconds();
	if (slots && graph)
		rc = cpl_map(mapper, &map, &r, &err);
	f->ms += 1e3 * (cpu_seconds() - start);
	if (rc) {
		f->failed++;
	} else if (r.before.max_congestion > 0) {
		f->n++;
		f->max += log(fmax(r.after.max_congestion, 1e-12) /
		              r.before.max_congestion);
		f->hop_bytes += log(fmax(r.sums_after.hop_bytes, 1e-3) /
		                    r.sums_before.hop_bytes);
		cpl_map_result_free(&r);
	}
	cpl_comm_free(graph);
	free(slots);
	return rc;
}

static int mappers(const struct cpl_network *net, int nodes, int per_node)
{
	const struct cpl_routing *routing =
	        cpl_routing_find(net, "static-direct", NULL);
	unsigned char *is_free = malloc((size_t)net->n_nodes);
	int *node = malloc((size_t)nodes * sizeof(*node));
	const struct cpl_mapper *m;

	if (!routing)
		routing = cpl_routing_find(net, NULL, NULL);
	for (int i = 0; is_free && node && (m = cpl_mapper_at(i)); i++) {
		struct figures all = {0};

		if (m->check_option || !strcmp(m->name, "best"))
			continue;
		printf("%-14s", m->name);
		for (int p = 0; p < JOINT_PATTERNS; p++) {
			struct figures f = {0};

			if (nodes * per_node > 1024 && (p == 2 || p == 1 || p == 5))
				continue;
			for (uint64_t d = 0; d < (nodes > 64 ? 1 : 4); d++) {
				struct cpl_comm *comm = nodes * per_node > 2048
				                                ? stencil(nodes)
				                                : joint_comm(
				        p, nodes * per_node, d);
				int n = 0;

				joint_free(net, nodes * 2 < net->n_nodes ? 2 * nodes : nodes * 3 / 2, d,
				           is_free);
				for (int k = 0; n < nodes; k++)
					if (is_free[k])
						node[n++] = k;
				map_with(m, NULL, net, routing, comm, node,
				         nodes, per_node, &f);
				cpl_comm_free(comm);
			}
			if (f.n)
				printf(" %5.2f", exp(f.max / f.n));
			all.max += f.max;
			all.hop_bytes += f.hop_bytes;
			all.ms += f.ms;
			all.n += f.n;
			all.failed += f.failed;
			if (nodes * per_node > 2048)
				break;
		}
		if (all.n)
			printf("  max %.3f  hop-bytes %.3f  %8.2f ms%s\n",
			       exp(all.max / all.n),
			       exp(all.hop_bytes / all.n), all.ms / all.n,
			       all.failed ? "  (some failed)" : "");
		else
			printf(" failed\n");
	}
	free(is_free);
	free(node);
	return 0;
}

/* The busiest link of a job on node[] with its mapping by `mapper`. */
static double mapped_max(const struct cpl_decide_request *req,
                         const struct cpl_mapper *mapper, const int *node)
{
	int n = req->place.n_nodes_wanted;
	int *slots = malloc((size_t)n * sizeof(*slots));
	struct cpl_map_request map = {.net = req->place.net,
	                              .routing = req->routing,
	                              .comm = req->comm,
	                              .n_hosts = n,
	                              .host = node,
	                              .slots = slots,
	                              .background = req->background,
	                              .seed = 1};
	struct cpl_map_result r;
	double max = INFINITY;

	for (int i = 0; slots && i < n; i++)
		slots[i] = req->ranks_per_node;
	if (slots && !cpl_map(mapper, &map, &r, NULL)) {
		max = r.after.max_congestion;
		cpl_map_result_free(&r);
	}
	free(slots);
	return max;
}

static double median(double *x, int n)
{
	qsort(x, (size_t)n, sizeof(*x), cpl_by_double);
	return n % 2 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

/* a / b where both may be 0. */
static double ratio(double a, double b)
{
	return a <= b * (1 + 1e-9) && !(b > 0) ? 1 : a / fmax(b, 1e-12);
}

#define NODES 16
#define PER_NODE_JOINT 8

static int draws(const struct cpl_network *net, const char *judge,
                 const char *reference, int nodes)
{
	struct cpl_error err = {""};
	const struct cpl_mapper *by = cpl_mapper_find(judge, &err);
	const struct cpl_mapper *mapper = cpl_mapper_find(reference, &err);
	const struct cpl_routing *routing = cpl_routing_find(net, NULL, &err);
	unsigned char *is_free = malloc((size_t)net->n_nodes);
	int worse = 0, far = 0, *node = malloc((size_t)nodes * sizeof(*node));

	printf("%-18s %10s %10s %10s %10s %8s\n", "pattern", "stock", "auto",
	       "traffic", "best", "auto ms");
	for (int p = 0; p < JOINT_PATTERNS; p++) {
		double a[JOINT_DRAWS], t[JOINT_DRAWS], b[JOINT_DRAWS], ms = 0;

		for (uint64_t d = 0; d < JOINT_DRAWS; d++) {
			struct cpl_comm *comm = joint_comm(
			        p, nodes * PER_NODE_JOINT, d);
			struct cpl_decide_request req = {
			        .place = {.net = net,
			                  .free = is_free,
			                  .n_nodes_wanted = nodes,
			                  .seed = 1},
			        .wish.policy = &cpl_placement_auto,
			        .routing = routing,
			        .wish.mapper = by,
			        .comm = comm,
			        .ranks_per_node = PER_NODE_JOINT};
			struct cpl_decision decision = {0};
			struct cpl_figures f;
			double stock, best, now_auto, start;

			joint_free(net, net->n_nodes * 5 / 8, d, is_free);
			cpl_placement_best_fit.place(&req.place, node, &err);
			stock = mapped_max(&req, mapper, node);
			cpl_placement_linear.place(&req.place, node, &err);
			best = mapped_max(&req, mapper, node);
			if (stock < best)
				best = stock;
			else
				stock = best;
			for (int i = 0; cpl_placement_at(i); i++) {
				struct cpl_placement_request r = req.place;

				if (!cpl_placement_at(i)->place ||
				    cpl_placement_at(i)->flags &
				            CPL_PLACEMENT_CLASS ||
				    !cpl_placement_takes(cpl_placement_at(i),
				                         net->type))
					continue;
				for (r.seed = 1; r.seed <= CPL_DECIDE_SEEDS;
				     r.seed++) {
					cpl_placement_at(i)->place(&r, node,
					                           &err);
					best = fmin(best,
					            mapped_max(&req, mapper,
					                       node));
				}
			}
			start = cpu_seconds();
			if (cpl_decide(&req, &decision, &err)) {
				fprintf(stderr, "%s\n", err.text);
				return 1;
			}
			ms += 1e3 * (cpu_seconds() - start);
			cpl_candidate_figures(
			        &decision.candidate[decision.chosen], &f);
			now_auto = by == &cpl_mapper_linear
			                   ? mapped_max(&req, mapper,
			                                decision.node)
			                   : f.metrics.max_congestion;
			cpl_decision_free(&decision);
			req.wish.policy = &cpl_placement_traffic;
			cpl_decide(&req, &decision, &err);
			cpl_candidate_figures(
			        &decision.candidate[decision.chosen], &f);
			t[d] = ratio(by == &cpl_mapper_linear
			                     ? mapped_max(&req, mapper,
			                                  decision.node)
			                     : f.metrics.max_congestion,
			             stock);
			cpl_decision_free(&decision);
			a[d] = ratio(now_auto, stock);
			b[d] = ratio(best, stock);
			worse += a[d] > 1 + 1e-9;
			far += ratio(now_auto, best) > 1.1;
			cpl_comm_free(comm);
		}
		printf("%-18s %10.2f %10.2f %10.2f %10.2f %8.2f\n",
		       joint_pattern[p], 1.0, median(a, JOINT_DRAWS),
		       median(t, JOINT_DRAWS), median(b, JOINT_DRAWS),
		       ms / JOINT_DRAWS);
	}
	printf("worse than stock and mapping in %d of %d, above 1.1 of the "
	       "best candidate in %d\n",
	       worse, JOINT_PATTERNS * JOINT_DRAWS, far);
	free(is_free);
	free(node);
	return 0;
}

int main(int argc, char **argv)
{
	struct cpl_error err = {""};
	bool all = argc > 1 && !strcmp(argv[1], "mappers");
	struct cpl_network *net = all && argc > 2
	                                  ? cpl_network_load(argv[2], &err)
	                                  : cpl_network_parse(
	        JOINT_NETWORK, strlen(JOINT_NETWORK), "d64", &err);

	if (!net) {
		fprintf(stderr, "bench_joint: %s\n", err.text);
		return 1;
	}
	if (all)
		return mappers(net, argc > 3 ? atoi(argv[3]) : 16,
		               argc > 3 ? 24 : 8);
	return draws(net, argc > 1 ? argv[1] : "quick",
	             argc > 2 ? argv[2] : "greedyallc", argc > 3 ? atoi(argv[3]) : NODES);
}
