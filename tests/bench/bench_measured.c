/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What measured links are worth where half of the running jobs have no profile:
 *
 *   bench_measured CASES [NOISE [SEED]]
 *
 * Case i is on busy machine i mod 3 (busy_machine.h), the job of 32 or 64 nodes and
 * one of six patterns. Every other job that sends is unknown. Nodes and ranks are
 * chosen with the traffic of all jobs ("full"), with that of the known ones and what
 * links were measured to carry, up to NOISE (0.05) of it wrong either way, and with
 * that of the known ones alone; by Slurm's flat selection for comparison. The busiest
 * link that the job is on is judged with all jobs. Told are geometric means and the
 * worst over full knowledge, of the cases in which the job then crosses links at all.
 */
#include "busy_machine.h"
#include "measured/measured.h"
#include "mapping/quick.h"
#include "placement/decide.h"

#define MOST_NODES 64
#define NOW 1e9

enum view { FULL, MEASURED, WITHOUT, STOCK, VIEWS };

static const char *const view_name[] = {"full knowledge", "measured links",
                                        "known jobs alone", "Slurm's flat"};
static const char *const policy_name[] = {"auto", "traffic"};
#define POLICIES ((int)(sizeof(policy_name) / sizeof(*policy_name)))

/* What the known jobs send. */
static void add_known(const struct machine *m, struct cpl_load *rates)
{
	int sends = 0;

	for (int j = 0; j < m->n; j++)
		if (m->job[j].sig && sends++ % 2)
			alone(m->net, m->job[j].sig, m->job[j].node, rates);
}

/* The CSV that switches would give, with errors. */
static char *count(const struct machine *m, double noise, size_t *length)
{
	struct cpl_measured all = {.n = cpl_times_links(m->net),
	                           .time = NOW,
	                           .since = NOW};
	char *text = NULL;
	FILE *out = open_memstream(&text, length);

	all.rate = calloc((size_t)all.n, sizeof(*all.rate));
	if (!out || !all.rate)
		exit(1);
	for (int64_t l = 0; l < all.n; l++) {
		double off = noise * (draw(2001) - 1000) / 1000;

		all.rate[l].link = (int)l;
		all.rate[l].rate = *cpl_times_at(&m->rates, l) * (1 + off);
	}
	cpl_measured_write(&all, m->net, out);
	fclose(out);
	free(all.rate);
	return text;
}

/* Adds what others than the known jobs, who send rates, were measured to send. */
static void add_measured(const struct machine *m, double noise,
                         struct cpl_load *rates)
{
	const struct cpl_measured_at at = {.now = NOW, .max_age = 60};
	struct cpl_error err = {""};
	struct cpl_measured measured;
	struct cpl_job_load *rest;
	size_t length;
	char *text = count(m, noise, &length);

	if (cpl_measured_parse(&measured, m->net, text, length, "counters", &at,
	                       &err))
		die("measured", &err);
	rest = cpl_measured_rest(&measured, m->net, rates, &err);
	if (!rest)
		die("rest", &err);
	for (int i = 0; i < rest->n_links; i++)
		*cpl_times_at(rates, rest->on[i].link) +=
		        rest->on[i].bytes / rest->period;
	free(rest);
	cpl_measured_free(&measured);
	free(text);
}

struct job {
	const struct cpl_signature *sig;
	const struct cpl_comm *comm;
	double seconds; /* of a run, alone */
	int nodes;
};

/* Seconds of the busiest link that the job is on, with all that is there. */
static double judge(const struct machine *m, const struct job *job,
                    const int *node, const int *rank_host)
{
	struct cpl_error err = {""};
	struct cpl_workload *w = cpl_workload_new(m->net, 1, &err);
	struct cpl_job placed = {.routing = cpl_routing_minimal(m->net),
	                         .comm = job->comm,
	                         .node = node,
	                         .rank_host = rank_host,
	                         .ranks_per_node = PER_NODE};
	struct cpl_metrics metrics;
	struct cpl_load background;

	if (!w || cpl_load_init(&background, m->net, &err))
		die("judge", &err);
	cpl_load_scale(&background, &m->rates, job->seconds, m->net);
	if (cpl_workload_evaluate(w, &placed, &background, &metrics, NULL,
	                          &err))
		die("judge", &err);
	cpl_load_free(&background);
	cpl_workload_free(w);
	return metrics.job_congestion;
}

static double decide(const struct machine *m, const struct job *job,
                     const char *policy, const struct cpl_load *rates)
{
	struct cpl_error err = {""};
	struct cpl_load background;
	struct cpl_decision d;
	int stock[MOST_NODES];
	double busiest;
	struct cpl_decide_request req = {
	        .place = {.net = m->net,
	                  .free = m->free,
	                  .n_nodes_wanted = job->nodes,
	                  .seed = 1},
	        .wish.policy = cpl_placement_find(NULL, policy, NULL),
	        .wish.mapper = &cpl_mapper_quick,
	        .wish.objective = CPL_OBJECTIVE_MAX,
	        .routing = cpl_routing_minimal(m->net),
	        .comm = job->comm,
	        .ranks_per_node = PER_NODE,
	        .background = &background,
	        .rates = rates,
	        .phase = job->sig->phase,
	        .n_phases = 1,
	        .order = CPL_ORDER_REACHES};

	/* As slurmctld does, see CompareNodes in commplace.conf(5). */
	choose_stock(m, 0, job->nodes, stock);
	if (m->n_free <= 128)
		req.stock = stock;
	if (cpl_load_init(&background, m->net, &err))
		die("decide", &err);
	cpl_load_scale(&background, rates, job->seconds, m->net);
	if (cpl_decide(&req, &d, &err))
		die("decide", &err);
	busiest = judge(m, job, d.node, d.rank_host);
	cpl_decision_free(&d);
	cpl_load_free(&background);
	return busiest;
}

/* Each has machines and jobs of its own. */
static uint64_t family;

static void run(int i, double noise, double busiest[POLICIES][VIEWS])
{
	int nodes = i / 2 % 2 ? 64 : 32, stock[MOST_NODES];
	struct cpl_error err = {""};
	struct cpl_load known, measured;
	struct cpl_signature *sig;
	struct cpl_comm *comm;
	struct machine m;
	struct job job;

	seed = (family << 32) + (uint64_t)i + 1;
	drawn = 0;
	open_machine(&m, i, nodes);
	sig = signature_of(i / NETWORKS % PATTERNS, nodes * PER_NODE, SCALE, 1,
	                   0, 0);
	comm = cpl_signature_total(sig, &err);
	if (!comm || cpl_load_init(&known, m.net, &err) ||
	    cpl_load_init(&measured, m.net, &err))
		die("job", &err);
	choose_stock(&m, 0, nodes, stock);
	job = (struct job){sig, comm, alone(m.net, sig, stock, NULL), nodes};
	add_known(&m, &known);
	cpl_load_add(&measured, &known, m.net);
	add_measured(&m, noise, &measured);
	for (int p = 0; p < POLICIES; p++) {
		const char *name = policy_name[p];

		busiest[p][FULL] = decide(&m, &job, name, &m.rates);
		busiest[p][MEASURED] = decide(&m, &job, name, &measured);
		busiest[p][WITHOUT] = decide(&m, &job, name, &known);
		busiest[p][STOCK] = judge(&m, &job, stock, NULL);
	}
	cpl_load_free(&known);
	cpl_load_free(&measured);
	cpl_comm_free(comm);
	cpl_signature_free(sig);
	close_machine(&m);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 0;
	double noise = argc > 2 ? atof(argv[2]) : 0.05;
	double sum[POLICIES][VIEWS] = {{0}}, worst[POLICIES][VIEWS] = {{0}};
	int cases[POLICIES] = {0};

	family = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
	if (n < 1 || !(noise >= 0 && noise < 1)) {
		fprintf(stderr, "usage: bench_measured CASES [NOISE [SEED]]\n");
		return 2;
	}
	for (int i = 0; i < n; i++) {
		double busiest[POLICIES][VIEWS];

		run(i, noise, busiest);
		for (int p = 0; p < POLICIES; p++) {
			if (!(busiest[p][FULL] > 0))
				continue;
			cases[p]++;
			for (int v = 0; v < VIEWS; v++) {
				double of = busiest[p][v] / busiest[p][FULL];

				sum[p][v] += log(of);
				worst[p][v] = fmax(worst[p][v], of);
			}
		}
	}
	printf("| policy | chosen with | busiest link over full knowledge | "
	       "worst | cases |\n|---|---|---|---|---|\n");
	for (int p = 0; p < POLICIES; p++)
		for (int v = 0; v < VIEWS; v++)
			printf("| %s | %s | %.3f | %.2f | %d |\n",
			       policy_name[p], view_name[v],
			       exp(sum[p][v] / cases[p]), worst[p][v],
			       cases[p]);
	return 0;
}
