/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What it is worth to know something of the jobs that nobody recorded:
 *
 *   bench_unknown MOMENTS [NOISE [SEED]]
 *
 * On each of three networks, so many moments of a busy machine (busy_machine.h), with
 * a job of 32 or 64 nodes and one of six patterns to place. Every other job that sends
 * has no profile. Links were measured, up to NOISE (0.05) of it wrong either way; since
 * then a quarter of the jobs has ended and others have begun. Nodes and rank order are
 * chosen with the traffic
 *
 *   full      of all jobs
 *   measured  of the known ones, and Unknown=measured: shares of what was measured,
 *             those who began since as the measured ones on the average
 *   links     of the known ones, and MeasuredLinks alone: what was measured and not
 *             theirs stays, whoever ended
 *   nics      as measured, but only the cables of nodes were measured
 *   uniform   of the known ones, and Unknown=uniform: as much from a node as theirs
 *   off       of the known ones
 *   volume    as measured, but the job itself has no profile: it is placed by how
 *             much each of its nodes sends, evenly (PlaceByVolume), its ranks in
 *             blocks
 *   stock     (Slurm's flat selection)
 *
 * The busiest link that the job is on is judged with all jobs. Told are the geometric
 * mean and the worst over full knowledge, of the moments in which the job then
 * crosses links at all.
 */
#include "busy_machine.h"
#include "mapping/quick.h"
#include "measured/unknown.h"
#include "placement/decide.h"

#define MOST_NODES 64

enum view { FULL, MEASURED, LINKS, NICS, UNIFORM, OFF, VOLUME, STOCK, VIEWS };

static const char *const view_name[] = {"full", "measured", "links", "nics",
                                        "uniform", "off", "volume", "stock"};

struct job {
	const struct cpl_signature *sig;
	const struct cpl_comm *comm;
	double seconds; /* of a run, alone */
	int nodes;
};

/* Of jobs that send; others are nobody's matter. */
static bool is_unknown[MOST_JOBS], is_new[MOST_JOBS];

/* begin() and end_job() keep no marks: draw them anew, by what stays put. */
static void mark(const struct machine *m)
{
	int sends = 0;

	for (int j = 0; j < m->n; j++) {
		is_unknown[j] = m->job[j].sig && sends++ % 2;
		is_new[j] = false;
	}
}

static void add_jobs(const struct machine *m, bool unknown,
                     struct cpl_load *rates)
{
	for (int j = 0; j < m->n; j++)
		if (m->job[j].sig && is_unknown[j] == unknown)
			alone(m->net, m->job[j].sig, m->job[j].node, rates);
}

/* What a node of the known jobs sends, on the average. */
static double mean_of_known(const struct machine *m)
{
	double bytes = 0;
	int nodes = 0;

	for (int j = 0; j < m->n; j++) {
		struct cpl_load rates;
		int64_t ports = cpl_network_port_cables(m->net);

		if (!m->job[j].sig || is_unknown[j])
			continue;
		if (cpl_load_init(&rates, m->net, NULL))
			exit(1);
		alone(m->net, m->job[j].sig, m->job[j].node, &rates);
		for (int64_t i = 0; i < ports; i++)
			bytes += rates.injection[i];
		nodes += m->job[j].n;
		cpl_load_free(&rates);
	}
	return nodes ? bytes / nodes : 0;
}

static struct cpl_job_load *taken_for(const struct machine *m, int j,
                                      double volume)
{
	struct cpl_error err = {""};
	struct cpl_workload *w = cpl_workload_new(m->net, 1, &err);
	struct cpl_job_load *load =
	        w ? cpl_unknown_load(w, m->net, cpl_routing_minimal(m->net),
	                             m->job[j].node, m->job[j].n, volume, &err)
	          : NULL;

	if (!load)
		die("pattern", &err);
	cpl_workload_free(w);
	return load;
}

static void add_load(struct cpl_load *rates, const struct cpl_job_load *load)
{
	for (int i = 0; i < load->n_links; i++)
		*cpl_times_at(rates, load->on[i].link) +=
		        load->on[i].bytes / load->period;
}

/* A sample of what all send now, with errors; nodes: of their cables alone. */
static struct cpl_measured count(const struct machine *m, double noise,
                                 bool nodes)
{
	struct cpl_measured all = {0};
	int64_t links = cpl_times_links(m->net);

	all.rate = calloc((size_t)links, sizeof(*all.rate));
	if (!all.rate)
		exit(1);
	for (int64_t l = 0; l < links; l++) {
		double off = noise * (draw(2001) - 1000) / 1000;

		if (!nodes || l >= m->net->n_links)
			all.rate[all.n++] = (struct cpl_times_rate){
			        (int)l, *cpl_times_at(&m->rates, l) * (1 + off)};
	}
	return all;
}

/* A sample as it is shared among the unknown jobs, by index; what is left. */
struct shares {
	struct cpl_job_load *load[MOST_JOBS], *rest, *left;
	double volume; /* of a node, on the average */
};

static void share(const struct machine *m, const struct cpl_load *known,
                  double noise, bool nodes, struct shares *out)
{
	struct cpl_measured all = count(m, noise, nodes);
	struct cpl_unknown unknown[MOST_JOBS];
	struct cpl_job_load *as[MOST_JOBS];
	struct cpl_error err = {""};
	double bytes = 0;
	int of[MOST_JOBS], n = 0, n_nodes = 0;

	*out = (struct shares){.volume = 0};
	/* All jobs without a signature are that, those that send nothing too. */
	for (int j = 0; j < m->n; j++) {
		if (m->job[j].n < 2 || (m->job[j].sig && !is_unknown[j]))
			continue;
		as[n] = taken_for(m, j, 1e6);
		of[n] = j;
		unknown[n] = (struct cpl_unknown){
		        .as = as[n], .volume = 1e6, .part = 1};
		n++;
	}
	out->rest = cpl_measured_rest(&all, m->net, known, &err);
	if (!out->rest || cpl_unknown_share(unknown, n, &all, m->net, out->rest,
	                                    &out->left, &err))
		die("shares", &err);
	for (int i = 0; i < n; i++) {
		out->load[of[i]] = unknown[i].load;
		bytes += unknown[i].volume * m->job[of[i]].n;
		n_nodes += m->job[of[i]].n;
		free(as[i]);
	}
	out->volume = n_nodes ? bytes / n_nodes : 0;
	cpl_measured_free(&all);
}

static void shares_free(struct shares *s)
{
	for (int j = 0; j < MOST_JOBS; j++)
		free(s->load[j]);
	free(s->rest);
	free(s->left);
}

/* The job's shares go with it; the last job takes its place, as in the machine. */
static void drop_share(struct shares *s, int j, int last)
{
	free(s->load[j]);
	s->load[j] = s->load[last];
	s->load[last] = NULL;
}

/* A quarter of the jobs ends, and others begin. */
static void pass_time(struct machine *m, int nodes, struct shares *a,
                      struct shares *b)
{
	int total = m->net->n_nodes, had = m->n, ends = m->n / 4;
	int use = total - m->n_free;
	int sends = 0;

	for (int i = 0; i < ends; i++) {
		int j = draw(m->n);

		drop_share(a, j, m->n - 1);
		drop_share(b, j, m->n - 1);
		is_unknown[j] = is_unknown[m->n - 1];
		end_job(m, j);
	}
	had = m->n;
	while (m->n < MOST_JOBS) {
		bool loud = draw(2);
		int n = loud ? 16 << draw(2) : 1 + draw(24);

		if (n > m->n_free - nodes || total - m->n_free + n > use)
			break;
		begin(m, n, loud ? draw(PATTERNS) : -1);
		is_unknown[m->n - 1] = m->job[m->n - 1].sig && sends++ % 2;
	}
	for (int j = 0; j < m->n; j++)
		is_new[j] = j >= had;
	cpl_load_clear(&m->rates, m->net);
	add_jobs(m, false, &m->rates);
	add_jobs(m, true, &m->rates);
}

/* Jobs without a signature: those that began since at a volume, of others their
 * share. */
static void add_shares(const struct machine *m, const struct shares *s,
                       struct cpl_load *rates)
{
	add_load(rates, s->left);
	for (int j = 0; j < m->n; j++) {
		struct cpl_job_load *load;

		if (s->load[j]) {
			add_load(rates, s->load[j]);
			continue;
		}
		if (!is_new[j] || m->job[j].n < 2 ||
		    (m->job[j].sig && !is_unknown[j]) || !(s->volume > 0))
			continue;
		load = taken_for(m, j, s->volume);
		add_load(rates, load);
		free(load);
	}
}

static void add_uniform(const struct machine *m, struct cpl_load *rates)
{
	double volume = mean_of_known(m);

	for (int j = 0; j < m->n && volume > 0; j++) {
		struct cpl_job_load *load;

		if (m->job[j].n < 2 || (m->job[j].sig && !is_unknown[j]))
			continue;
		load = taken_for(m, j, volume);
		add_load(rates, load);
		free(load);
	}
}

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

/* Bytes that a node sends to others in a run, on the average. */
static double volume_of(const struct job *job)
{
	double bytes = 0;

	for (int r = 0; r < job->comm->ranks; r++)
		for (int64_t i = job->comm->row[r]; i < job->comm->row[r + 1]; i++)
			if (job->comm->to[i] / PER_NODE != r / PER_NODE)
				bytes += job->comm->bytes[i];
	return bytes / job->nodes;
}

static double decide(const struct machine *m, const struct job *job,
                     const struct cpl_load *rates, bool by_volume)
{
	struct cpl_comm *even = NULL;
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
	        .wish.policy = cpl_placement_find(NULL, "auto", NULL),
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

	if (by_volume) {
		even = cpl_unknown_comm(job->nodes, volume_of(job), &err);
		if (!even)
			die("volume", &err);
		req.comm = even;
		req.ranks_per_node = 1;
		req.wish.mapper = NULL;
		req.n_phases = 0;
	}
	/* As slurmctld does, see CompareNodes in commplace.conf(5). */
	choose_stock(m, 0, job->nodes, stock);
	if (m->n_free <= 128)
		req.stock = stock;
	if (cpl_load_init(&background, m->net, &err))
		die("decide", &err);
	cpl_load_scale(&background, rates, job->seconds, m->net);
	if (cpl_decide(&req, &d, &err))
		die("decide", &err);
	busiest = judge(m, job, d.node, by_volume ? NULL : d.rank_host);
	cpl_comm_free(even);
	cpl_decision_free(&d);
	cpl_load_free(&background);
	return busiest;
}

/* Each has machines and jobs of its own. */
static uint64_t family;

static void run(int i, double noise, double busiest[VIEWS])
{
	int nodes = i / 2 % 2 ? 64 : 32, stock[MOST_NODES];
	struct cpl_error err = {""};
	struct cpl_load known, view[VIEWS];
	struct shares all, nics;
	struct cpl_signature *sig;
	struct cpl_comm *comm;
	struct machine m;
	struct job job;

	seed = (family << 32) + (uint64_t)i + 1;
	drawn = 0;
	open_machine(&m, i, nodes);
	mark(&m);
	if (cpl_load_init(&known, m.net, &err))
		die("load", &err);
	add_jobs(&m, false, &known);
	share(&m, &known, noise, false, &all);
	share(&m, &known, noise, true, &nics);
	pass_time(&m, nodes, &all, &nics);
	cpl_load_clear(&known, m.net);
	add_jobs(&m, false, &known);
	sig = signature_of(i / NETWORKS % PATTERNS, nodes * PER_NODE, SCALE, 1,
	                   0, 0);
	comm = cpl_signature_total(sig, &err);
	if (!comm)
		die("job", &err);
	choose_stock(&m, 0, nodes, stock);
	job = (struct job){sig, comm, alone(m.net, sig, stock, NULL), nodes};
	for (int v = MEASURED; v <= OFF; v++) {
		if (cpl_load_init(&view[v], m.net, &err))
			die("load", &err);
		cpl_load_add(&view[v], &known, m.net);
	}
	add_shares(&m, &all, &view[MEASURED]);
	add_load(&view[LINKS], all.rest);
	add_shares(&m, &nics, &view[NICS]);
	add_uniform(&m, &view[UNIFORM]);
	busiest[FULL] = decide(&m, &job, &m.rates, false);
	busiest[VOLUME] = decide(&m, &job, &view[MEASURED], true);
	for (int v = MEASURED; v <= OFF; v++) {
		busiest[v] = decide(&m, &job, &view[v], false);
		cpl_load_free(&view[v]);
	}
	busiest[STOCK] = judge(&m, &job, stock, NULL);
	cpl_load_free(&known);
	cpl_comm_free(comm);
	cpl_signature_free(sig);
	shares_free(&all);
	shares_free(&nics);
	close_machine(&m);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 0;
	double noise = argc > 2 ? atof(argv[2]) : 0.05;

	family = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
	if (n < 1 || !(noise >= 0 && noise < 1)) {
		fprintf(stderr, "usage: bench_unknown MOMENTS [NOISE [SEED]]\n");
		return 2;
	}
	printf("| network | chosen with | busiest link over full knowledge | "
	       "worst | moments |\n|---|---|---|---|---|\n");
	for (int k = 0; k < NETWORKS; k++) {
		double sum[VIEWS] = {0}, worst[VIEWS] = {0}, busiest[VIEWS];
		int cases = 0;

		for (int i = 0; i < n; i++) {
			run(NETWORKS * i + k, noise, busiest);
			if (!(busiest[FULL] > 0))
				continue;
			cases++;
			for (int v = 0; v < VIEWS; v++) {
				double of = busiest[v] / busiest[FULL];

				sum[v] += log(of);
				worst[v] = fmax(worst[v], of);
			}
		}
		for (int v = MEASURED; v < VIEWS; v++)
			printf("| %s | %s | %.3f | %.2f | %d |\n",
			       network[k].name, view_name[v],
			       exp(sum[v] / cases), worst[v], cases);
	}
	return 0;
}
