/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What measured links are worth where half of the running jobs have no profile:
 *
 *   bench_measured CASES [NOISE]
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
#include "judged_job.h"
#include "measured/measured.h"

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

static void run(int i, double noise, double busiest[POLICIES][VIEWS])
{
	int nodes = i / 2 % 2 ? 64 : 32, stock[MOST_NODES];
	struct cpl_error err = {""};
	struct cpl_load known, measured;
	struct cpl_signature *sig;
	struct cpl_comm *comm;
	struct machine m;
	struct job job;

	seed = (uint64_t)i + 1;
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

	if (n < 1 || !(noise >= 0 && noise < 1)) {
		fprintf(stderr, "usage: bench_measured CASES [NOISE]\n");
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
