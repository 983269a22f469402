/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Nodes with several ports: what is decided against stock's nodes (cons_tres,
 * flat), mapped by the same mapper, both judged as `commplace traffic` does: by
 * the busiest link, or by the communication where the objective is time; and
 * how far the figures that were shown are from it. Usage: bench_ports [DRAWS
 * [MACHINE [JOB]]], or bench_ports time: CPU time of a decision on 512 nodes, with 4
 * ports and with one as thick. 1: one was worse, or a figure was off by more
 * than 1e-9.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "campaign/stock.h"
#include "cpu_time.h"
#include "mapping/quick.h"
#include "placement/decide.h"
#include "signature/signature.h"
#include "traffic/times.h"
#include "traffic/workload.h"

#define HEAD "{\"format\": \"commplace-network\", \"version\": 1, "
#define SLINGSHOT                                                              \
	HEAD "\"type\": \"dragonfly\", \"groups\": 8, \"rows\": 1, "           \
	     "\"columns\": 8, \"nodes_per_router\": 8, "                       \
	     "\"global_links_per_group_pair\": 4, \"bandwidth\": {\"row\": "   \
	     "25e9, \"global\": 25e9, \"injection\": 25e9}, \"routing\": "     \
	     "\"progressive-adaptive\", \"nodes\": \"n[0-127]\", "
#define RAILS                                                                  \
	HEAD "\"type\": \"fattree\", \"nodes_per_router\": 16, \"levels\": "   \
	     "[{\"down\": 8, \"up\": 4, \"bandwidth\": 5e10}, {\"down\": 8, "  \
	     "\"up\": 4, \"bandwidth\": 5e10}], \"bandwidth\": "               \
	     "{\"injection\": "                                                \
	     "5e10}, \"routing\": \"ecmp\", \"nodes\": \"n[0-127]\", "

static const struct {
	const char *name, *text;
} machines[] = {
        {"nearest", SLINGSHOT "\"ports\": {\"count\": 4, \"use\": "
                              "\"nearest\"}}"},
        {"in turn", SLINGSHOT "\"ports\": {\"count\": 4, \"use\": "
                              "\"round-robin\"}}"},
        {"spread", SLINGSHOT "\"ports\": {\"count\": 4}}"},
        {"rails", RAILS "\"ports\": {\"count\": 8, \"use\": \"nearest\"}}"},
        {"rails in turn",
         RAILS "\"ports\": {\"count\": 8, \"use\": \"round-robin\"}}"},
};
#define N_MACHINES ((int)(sizeof(machines) / sizeof(*machines)))

/* Patterns of one phase; training is one step. */
#define LLM                                                                    \
	"\"type\": \"llm\", \"layers\": 48, \"hidden\": 6144, "                \
	"\"sequence\": 2048, \"micro_batch\": 1, \"vocabulary\": 51200, "
static const struct {
	const char *name;
	int ranks, per_node;
	const char *pattern;
} jobs[] = {
        {"training 256", 256, 8,
         LLM "\"tp\": 8, \"dp\": 8, \"pp\": 4, \"micro_batches\": 8"},
        {"training 1024", 1024, 16,
         LLM "\"tp\": 8, \"dp\": 32, \"pp\": 4, \"micro_batches\": 8"},
        {"pipeline 256", 256, 8,
         LLM "\"tp\": 4, \"dp\": 4, \"pp\": 16, \"micro_batches\": 32"},
        {"experts 256", 256, 8,
         LLM "\"tp\": 2, \"dp\": 32, \"pp\": 4, \"ep\": 8, \"experts\": "
             "8, \"top_k\": 2, \"micro_batches\": 8"},
        {"stencil 256", 256, 8,
         "\"type\": \"stencil\", \"dims\": [4, 8, 8], \"points\": 7, "
         "\"periodic\": true, \"bytes\": 1e8"},
        {"stencil 1024", 1024, 16,
         "\"type\": \"stencil\", \"dims\": [8, 8, 16], \"points\": 7, "
         "\"periodic\": true, \"bytes\": 1e8"},
        {"all-to-all 256", 256, 8,
         "\"type\": \"many-to-many\", \"dims\": [256], \"axis\": 0, "
         "\"bytes\": 1e7"},
        {"all-to-all 1024", 1024, 16,
         "\"type\": \"many-to-many\", \"dims\": [1024], \"axis\": 0, "
         "\"bytes\": 1e6"},
};
#define N_JOBS ((int)(sizeof(jobs) / sizeof(*jobs)))

/* Entries while a job is made. */
struct making {
	struct cpl_comm_entry *entry;
	int64_t n, room;
};

static void add(struct making *m, int from, int to, double bytes)
{
	if (m->n == m->room) {
		m->room = 2 * m->room + 1024;
		m->entry =
		        realloc(m->entry, (size_t)m->room * sizeof(*m->entry));
		if (!m->entry)
			exit(1);
	}
	if (from != to)
		m->entry[m->n++] = (struct cpl_comm_entry){from, to, bytes, 1};
}

/* Tensor-parallel rings of `tensor` ranks, data-parallel ones over them, stages
 * of a pipeline over those: ranks in this order. */
static void train(struct making *m, int ranks, int tensor, int stages)
{
	int data = ranks / tensor / stages;

	for (int r = 0; r < ranks; r++) {
		int t = r % tensor, d = r / tensor % data;
		int stage = r / tensor / data;

		add(m, r, r - t + (t + 1) % tensor, 8e9);
		add(m, r, (stage * data + (d + 1) % data) * tensor + t, 1e9);
		if (stage + 1 < stages) {
			add(m, r, r + tensor * data, 4e8);
			add(m, r + tensor * data, r, 4e8);
		}
	}
}

/* Periodic grid of a * b * c ranks. */
static void grid(struct making *m, int a, int b, int c)
{
	int ranks = a * b * c;

	for (int r = 0; r < ranks; r++) {
		int dim[] = {a, b, c}, stride = 1;

		for (int k = 0; k < 3; k++) {
			int x = r / stride % dim[k];

			add(m, r, r + ((x + 1) % dim[k] - x) * stride, 1e8);
			add(m, r, r + ((x + dim[k] - 1) % dim[k] - x) * stride,
			    1e8);
			stride *= dim[k];
		}
	}
}

static void *need(void *made, const struct cpl_error *err)
{
	if (made)
		return made;
	fprintf(stderr, "bench_ports: %s\n", err->text);
	exit(1);
}

static struct cpl_signature *make_job(int job)
{
	char text[1024];
	struct cpl_error err;

	snprintf(text, sizeof(text),
	         "{\"format\": \"commplace-signature\", \"version\": 1, "
	         "\"ranks\": %d, \"phases\": [{\"name\": \"all\", "
	         "\"pattern\": {%s}}]}",
	         jobs[job].ranks, jobs[job].pattern);
	return need(
	        cpl_signature_parse(text, strlen(text), jobs[job].name, &err),
	        &err);
}

/* The communication that traffic tells of ranks there. */
static double communication(const struct cpl_decide_request *req,
                            const int *node, const int *rank_host)
{
	int ranks = req->comm->ranks;
	int *of = malloc((size_t)ranks * sizeof(*of));
	struct cpl_error err;
	struct cpl_times_space *space = need(
	        cpl_times_space_new(req->place.net, req->routing, &err), &err);
	struct cpl_times *times = need(
	        cpl_times_open(req->phase, req->n_phases, ranks, &err), &err);
	struct cpl_times_result out;

	for (int r = 0; r < ranks; r++)
		of[r] = node[rank_host ? rank_host[r]
		                       : r / req->ranks_per_node];
	if (cpl_times_order(times, NULL, 1, ranks, &err) ||
	    cpl_times_put(times, space, of, &err))
		need(NULL, &err);
	cpl_times_judge(times, req->rates, false, &out);
	cpl_times_close(times);
	cpl_times_space_free(space);
	free(of);
	return out.seconds;
}

/* What traffic says; seconds are the communication. */
static struct cpl_figures judge(const struct cpl_decide_request *req,
                                const int *node, const int *rank_host)
{
	struct cpl_job job = {.routing = req->routing,
	                      .comm = req->comm,
	                      .node = node,
	                      .rank_host = rank_host,
	                      .ranks_per_node = req->ranks_per_node};
	struct cpl_error err;
	struct cpl_workload *w =
	        need(cpl_workload_new(req->place.net, 1, &err), &err);
	struct cpl_figures f;

	if (cpl_workload_evaluate(w, &job, req->background, &f.metrics, &f.sums,
	                          &err))
		need(NULL, &err);
	f.metrics.seconds = communication(req, node, rank_host);
	cpl_workload_free(w);
	return f;
}

/* Stock's nodes with the mapper's order. */
static struct cpl_figures judge_stock(const struct cpl_decide_request *req)
{
	int n = req->place.n_nodes_wanted;
	int *slots = malloc((size_t)n * sizeof(*slots));
	struct cpl_map_request map = {.net = req->place.net,
	                              .routing = req->routing,
	                              .comm = req->comm,
	                              .n_hosts = n,
	                              .host = req->stock,
	                              .slots = slots,
	                              .objective = req->wish.objective,
	                              .seed = 1};
	struct cpl_map_result r;
	struct cpl_figures f;
	struct cpl_error err;

	for (int i = 0; i < n; i++)
		slots[i] = req->ranks_per_node;
	if (cpl_map(req->wish.mapper, &map, &r, &err))
		need(NULL, &err);
	f = judge(req, req->stock, r.rank_host);
	cpl_map_result_free(&r);
	free(slots);
	return f;
}

static double first(const struct cpl_decide_request *req,
                    const struct cpl_figures *f)
{
	return cpl_objective_first(req->wish.objective, &f->metrics,
	                           f->sums.hop_bytes);
}

static int by_number(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Half of the nodes to all of them, one by one or in eights. */
static void draw_free(const struct cpl_network *net, int draw, int least,
                      unsigned char *free_node)
{
	uint64_t seed = 100 + (uint64_t)draw;
	int want = net->n_nodes / 2 +
	           (int)cpl_random_below(seed, 0, 0,
	                                 (uint64_t)net->n_nodes / 2 + 1);
	int unit = draw % 2 ? 8 : 1, n = 0;
	int *order = malloc((size_t)net->n_nodes * sizeof(*order));

	want = want < least ? least : want;
	for (int i = 0; i < net->n_nodes / unit; i++)
		order[i] = i;
	cpl_random_shuffle(order, net->n_nodes / unit, seed, 1);
	memset(free_node, 0, (size_t)net->n_nodes);
	for (int i = 0; n < want; i++, n += unit)
		memset(free_node + order[i] * unit, 1, (size_t)unit);
	free(order);
}

struct row {
	double ratio[1024];
	double off, bound; /* figures off by, at most; sum of bounds */
	int worse, draws;
};

static void decide(struct cpl_decide_request *req, struct row *row)
{
	struct cpl_decision d;
	struct cpl_error err;
	struct cpl_figures stock, told, true_of;
	double by;

	if (cpl_decide(req, &d, &err))
		need(NULL, &err);
	cpl_candidate_figures(&d.candidate[d.chosen], &told);
	told.metrics.seconds = d.candidate[d.chosen].times.seconds;
	true_of = judge(req, d.node, d.rank_host);
	stock = judge_stock(req);
	by = first(req, &true_of) / first(req, &stock);
	row->off = fmax(row->off,
	                fabs(first(req, &told) / first(req, &true_of) - 1));
	row->bound += stock.metrics.max_injection / stock.metrics.seconds;
	row->worse += by > 1 + 1e-9;
	row->ratio[row->draws++] = by;
	cpl_decision_free(&d);
}

/* Are all no worse, and all figures right? */
static bool run_job(const struct cpl_network *net, const char *machine, int job,
                    int draws)
{
	static const char *const policies[] = {"auto", "traffic"};
	static const enum cpl_objective objectives[] = {CPL_OBJECTIVE_MAX,
	                                                CPL_OBJECTIVE_TIME};
	struct cpl_error err = {""};
	unsigned char *free_node = need(malloc((size_t)net->n_nodes), &err);
	struct cpl_decide_request req = {
	        .place = {.net = net, .free = free_node, .seed = 1},
	        .routing =
	                need((void *)cpl_routing_find(net, NULL, &err), &err),
	        .wish.mapper = &cpl_mapper_quick,
	};
	struct cpl_stock_tree tree;
	struct cpl_signature *sig;
	bool good = true;
	int *stock;

	sig = make_job(job);
	req.comm = need(cpl_signature_total(sig, &err), &err);
	req.phase = sig->phase;
	req.n_phases = sig->n_phases;
	req.ranks_per_node = jobs[job].per_node;
	req.place.n_nodes_wanted = req.comm->ranks / req.ranks_per_node;
	stock = malloc((size_t)req.place.n_nodes_wanted * sizeof(*stock));
	req.stock = stock;
	if (cpl_stock_tree_init(&tree, net, &err))
		need(NULL, &err);
	for (int k = 0; k < 4; k++) {
		struct row row = {0};

		req.wish.policy =
		        cpl_placement_find(NULL, policies[k / 2], NULL);
		req.wish.objective = objectives[k % 2];
		for (int i = 0; i < draws; i++) {
			struct cpl_stock_request choice = {
			        .tree = &tree,
			        .free = free_node,
			        .n = req.place.n_nodes_wanted};

			draw_free(net, i, choice.n, free_node);
			if (cpl_stock_flat(&choice, stock, &err))
				need(NULL, &err);
			decide(&req, &row);
		}
		qsort(row.ratio, (size_t)draws, sizeof(double), by_number);
		printf("%-14s %-15s %-8s %-15s %3d of %d worse  %+6.1f %% "
		       "%+6.1f %% %+6.1f %%  figures off by %.3g  cables "
		       "%.2f\n",
		       machine, jobs[job].name, req.wish.policy->name,
		       cpl_objective_name(req.wish.objective), row.worse, draws,
		       100 * (row.ratio[0] - 1),
		       100 * (row.ratio[draws / 2] - 1),
		       100 * (row.ratio[draws - 1] - 1), row.off,
		       row.bound / draws);
		fflush(stdout);
		good &= !row.worse && row.off <= 1e-9;
	}
	cpl_stock_tree_free(&tree);
	cpl_comm_free((struct cpl_comm *)req.comm);
	cpl_signature_free(sig);
	free(free_node);
	free(stock);
	return good;
}

/* 512 of 1,024 nodes, 8 ranks each. */
static void run_time(int ports)
{
	char text[1024];
	struct cpl_error err;
	struct cpl_network *net;
	struct cpl_decide_request req = {.place = {.seed = 1},
	                                 .ranks_per_node = 8};
	unsigned char free_node[1024];

	snprintf(text, sizeof(text),
	         HEAD "\"type\": \"dragonfly\", \"groups\": 16, \"rows\": 1, "
	              "\"columns\": 16, \"nodes_per_router\": %d, "
	              "\"global_links_per_group_pair\": 8, \"bandwidth\": "
	              "{\"row\": 25e9, \"global\": 25e9, \"injection\": %g}, "
	              "\"routing\": \"progressive-adaptive\", \"nodes\": "
	              "\"n[0-1023]\", \"ports\": {\"count\": %d, \"use\": "
	              "\"nearest\"}}",
	         4 * ports, 1e11 / ports, ports);
	net = need(cpl_network_parse(text, strlen(text), "time", &err), &err);
	memset(free_node, 0, sizeof(free_node));
	draw_free(net, 0, 700, free_node);
	req.place.net = net;
	req.place.free = free_node;
	req.place.n_nodes_wanted = 512;
	req.wish.mapper = &cpl_mapper_quick;
	for (int k = 0; k < 12; k++) {
		static const char *const routings[] = {"static-direct",
		                                       "progressive-adaptive"};
		struct making m = {0};
		struct cpl_decision d;
		double start, best = 1e9;

		if (k % 3 == 0)
			train(&m, 4096, 8, 8);
		else if (k % 3 == 1)
			grid(&m, 16, 16, 16);
		else
			for (int r = 0; r < 4096; r++)
				for (int to = r % 8; to < 4096; to += 32)
					add(&m, r, to, 1e6);
		req.comm = need(cpl_comm_build(4096, m.entry, m.n, NULL), &err);
		req.wish.policy = k / 3 % 2 ? &cpl_placement_traffic
		                            : &cpl_placement_auto;
		req.routing = need(
		        (void *)cpl_routing_find(net, routings[k / 6], &err),
		        &err);
		for (int i = 0; i < 3; i++) {
			start = cpu_seconds();
			if (cpl_decide(&req, &d, &err))
				need(NULL, &err);
			best = fmin(best, cpu_seconds() - start);
			cpl_decision_free(&d);
		}
		printf("%d ports  %-20s %-8s %-9s %8.2f ms\n", ports,
		       routings[k / 6], req.wish.policy->name,
		       k % 3 == 0   ? "training"
		       : k % 3 == 1 ? "grid"
		                    : "many",
		       1e3 * best);
		cpl_comm_free((struct cpl_comm *)req.comm);
		free(m.entry);
	}
	cpl_network_free(net);
}

int main(int argc, char **argv)
{
	int draws = argc > 1 ? atoi(argv[1]) : 40;
	bool good = true;

	if (argc > 1 && !strcmp(argv[1], "time")) {
		run_time(1);
		run_time(4);
		return 0;
	}
	if (draws < 1 || draws > 1024)
		return 2;
	for (int i = 0; i < N_MACHINES; i++) {
		struct cpl_error err;
		struct cpl_network *net;

		if (argc > 2 && strcmp(argv[2], machines[i].name))
			continue;
		net = need(cpl_network_parse(machines[i].text,
		                             strlen(machines[i].text),
		                             machines[i].name, &err),
		           &err);
		for (int job = 0; job < N_JOBS; job++)
			if (argc <= 3 || !strcmp(argv[3], jobs[job].name))
				good &= run_job(net, machines[i].name, job,
				                draws);
		cpl_network_free(net);
	}
	return !good;
}
