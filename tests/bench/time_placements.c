/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long a job communicates where each policy puts it on a busy machine:
 *
 *   time_placements CASES [packet|adaptive|flow [ROWS.csv [MODEL.json]]]
 * [order | climb STEPS]
 *
 * Case i is on machine i mod 3, the job of 32 or 64 nodes and one of six
 * patterns. The machine was filled by Slurm's own flat selection with jobs that
 * send (16 or 32 nodes, half of their time) and jobs that do not (1 to 24
 * nodes), of which some have ended, until 40 to 80 % of it is in use. Each
 * policy chooses for the job, ranks in blocks or with the default mapper, by the
 * routing that the machine's file would state; job and running jobs are simulated
 * together. Told are geometric means and worst
 * cases over Slurm's flat selection in blocks, and ours over the best of
 * Slurm's. With a model the objective learned decides, too.
 *
 * "climb": what could be had. From the best of ours two ranks change places, or a node
 * and a free one or another, drawn, STEPS times; what the simulation itself says is no
 * slower stays.
 *
 * "order": where the rank order may not arrive. Ours, judged as if it did, as
 * if that were not known and as if it did not; run with it ("arrives") and, in
 * blocks on the nodes by their ids, without.
 */
#include "base/sort.h"
#include "busy_machine.h"
#include "learn/features.h"
#include "mapping/quick.h"
#include "placement/decide.h"

#define RUNS 3 /* executions of the job */
#define MOST_CASES 300
#define MOST_NODES 64

struct policy {
	const char *name;
	/* Slurm's own, 0 to 2, or -1: ours, by objective. */
	int stock;
	const char *ours;
	enum cpl_objective objective;
	bool map;
	enum cpl_order order;
	bool lost; /* the rank order does not arrive */
};

static const struct policy all[] = {
        {"flat", 0, NULL, CPL_OBJECTIVE_MAX, false, 0, false},
        {"topology/tree", 1, NULL, CPL_OBJECTIVE_MAX, false, 0, false},
        {"switch-sorted", 2, NULL, CPL_OBJECTIVE_MAX, false, 0, false},
        {"flat (mapped)", 0, NULL, CPL_OBJECTIVE_MAX, true, 0, false},
        {"topology/tree (mapped)", 1, NULL, CPL_OBJECTIVE_MAX, true, 0, false},
        {"switch-sorted (mapped)", 2, NULL, CPL_OBJECTIVE_MAX, true, 0, false},
        {"auto", -1, "auto", CPL_OBJECTIVE_MAX, false, 0, false},
        {"auto (mapped)", -1, "auto", CPL_OBJECTIVE_MAX, true, 0, false},
        {"traffic", -1, "traffic", CPL_OBJECTIVE_MAX, false, 0, false},
        {"traffic (mapped)", -1, "traffic", CPL_OBJECTIVE_MAX, true, 0, false},
        {"auto (time)", -1, "auto", CPL_OBJECTIVE_TIME, false, 0, false},
        {"auto (time; mapped)", -1, "auto", CPL_OBJECTIVE_TIME, true, 0, false},
        {"traffic (time)", -1, "traffic", CPL_OBJECTIVE_TIME, false, 0, false},
        {"traffic (time; mapped)", -1, "traffic", CPL_OBJECTIVE_TIME, true, 0,
         false},
        {"auto (learned)", -1, "auto", CPL_OBJECTIVE_LEARNED, false, 0, false},
        {"auto (learned; mapped)", -1, "auto", CPL_OBJECTIVE_LEARNED, true, 0,
         false},
        {"traffic (learned; mapped)", -1, "traffic", CPL_OBJECTIVE_LEARNED,
         true, 0, false},
};

#define WITHOUT(name, policy, objective)                                       \
	{name " (counted on; arrives)",                                        \
	 -1,                                                                   \
	 policy,                                                               \
	 objective,                                                            \
	 true,                                                                 \
	 CPL_ORDER_REACHES,                                                    \
	 false},                                                               \
	        {name " (counted on; does not)",                               \
	         -1,                                                           \
	         policy,                                                       \
	         objective,                                                    \
	         true,                                                         \
	         CPL_ORDER_REACHES,                                            \
	         true},                                                        \
	        {name " (not known; arrives)",                                 \
	         -1,                                                           \
	         policy,                                                       \
	         objective,                                                    \
	         true,                                                         \
	         CPL_ORDER_MAY,                                                \
	         false},                                                       \
	        {name " (not known; does not)",                                \
	         -1,                                                           \
	         policy,                                                       \
	         objective,                                                    \
	         true,                                                         \
	         CPL_ORDER_MAY,                                                \
	         true},                                                        \
	{                                                                      \
		name " (not counted on)", -1, policy, objective, true,         \
		        CPL_ORDER_NOT, true                                    \
	}

static const struct policy of_order[] = {
        {"flat", 0, NULL, CPL_OBJECTIVE_MAX, false, 0, false},
        {"topology/tree", 1, NULL, CPL_OBJECTIVE_MAX, false, 0, false},
        {"switch-sorted", 2, NULL, CPL_OBJECTIVE_MAX, false, 0, false},
        WITHOUT("auto", "auto", CPL_OBJECTIVE_MAX),
        WITHOUT("traffic", "traffic", CPL_OBJECTIVE_MAX),
        WITHOUT("auto by time", "auto", CPL_OBJECTIVE_TIME),
        WITHOUT("traffic by time", "traffic", CPL_OBJECTIVE_TIME),
};

static const struct policy climbed = {
        "the best of these, climbed", -2, NULL, CPL_OBJECTIVE_MAX, true, 0, false};
static int steps; /* of it */

#define MOST_POLICIES 32
static const struct policy *policy = all;
static int n_policies = sizeof(all) / sizeof(*all);
#define STOCKS 3 /* of them Slurm's in blocks */

static int how; /* options_of: jobs are simulated so */

/* What the machine's network file states for packets so, and what decisions go by. */
static const struct cpl_routing *stated(const struct machine *m)
{
	return how == 1 ? cpl_routing_find(m->net, network[m->k].told, NULL)
	                : cpl_routing_minimal(m->net);
}

static const struct cpl_routing *quick(const struct machine *m)
{
	return cpl_routing_by_flow(m->net, stated(m));
}

/* The default mapper's order on the nodes, or blocks. */
static void map(const struct machine *m, const struct cpl_comm *comm,
                const struct cpl_load *background, const int *node, int n,
                int *rank_node)
{
	struct cpl_map_result result;
	struct cpl_error err = {""};
	int slots[MOST_NODES];

	for (int i = 0; i < n; i++)
		slots[i] = PER_NODE;
	if (cpl_map(&cpl_mapper_quick,
	            &(struct cpl_map_request){
	                    .net = m->net,
	                    .routing = quick(m),
	                    .comm = comm,
	                    .n_hosts = n,
	                    .host = node,
	                    .slots = slots,
	                    .background = background,
	                    .seed = 1},
	            &result, &err))
		die("map", &err);
	for (int r = 0; r < comm->ranks; r++)
		rank_node[r] = node[result.rank_host[r]];
	cpl_map_result_free(&result);
}

/* Where the policy puts the ranks. */
static void place(const struct machine *m, int p,
                  const struct cpl_signature *sig, const struct cpl_comm *comm,
                  const struct cpl_load *background,
                  const struct cpl_learned *learned, int n, int *rank_node)
{
	struct cpl_error err = {""};
	struct cpl_decision d;
	int node[MOST_NODES];
	struct cpl_decide_request req = {
	        .place = {.net = m->net,
	                  .free = m->free,
	                  .n_nodes_wanted = n,
	                  .seed = 1},
	        .wish.policy = policy[p].ours
	                               ? cpl_placement_find(
	                                         NULL, policy[p].ours, NULL)
	                               : NULL,
	        .routing = quick(m),
	        .stated = stated(m),
	        .comm = comm,
	        .ranks_per_node = PER_NODE,
	        .wish.mapper = policy[p].map ? &cpl_mapper_quick : NULL,
	        .background = background,
	        .rates = &m->rates,
	        .phase = sig->phase,
	        .n_phases = 1,
	        .learned = learned,
	        .wish.objective = policy[p].objective,
	        .order = policy[p].order};

	if (policy[p].stock >= 0) {
		choose_stock(m, policy[p].stock, n, node);
		for (int r = 0; r < sig->ranks; r++)
			rank_node[r] = node[r / PER_NODE];
		if (policy[p].map)
			map(m, comm, background, node, n, rank_node);
		return;
	}
	/* As slurmctld does, see CompareNodes in commplace.conf(5). */
	choose_stock(m, 0, n, node);
	if (m->n_free <= 128)
		req.stock = node;
	if (cpl_decide(&req, &d, &err))
		die("decide", &err);
	if (policy[p].lost)
		qsort(d.node, (size_t)n, sizeof(int), cpl_by_int);
	for (int r = 0; r < sig->ranks; r++)
		rank_node[r] =
		        d.node[d.rank_host && !policy[p].lost ? d.rank_host[r]
		                                              : r / PER_NODE];
	cpl_decision_free(&d);
}

static double simulate(struct machine *m, const struct cpl_signature *sig,
                       const int *rank_node, double guess)
{
	struct cpl_sim_options options = options_of(m->net, m->k, how);
	struct cpl_sim_job job[MOST_JOBS + 1];
	struct cpl_error err = {""};
	struct cpl_sim_result r;
	double seconds = 0, first = 0, last = 0, until;
	int n = 1;

	for (int j = 0; j < m->n; j++)
		first = fmax(first, m->job[j].period);
	job[0] = (struct cpl_sim_job){
	        .sig = sig, .rank_node = rank_node, .start = 2 * first};
	for (int j = 0; j < m->n; j++)
		if (m->job[j].sig)
			job[n++] = (struct cpl_sim_job){
			        .sig = m->job[j].sig,
			        .rank_node = m->job[j].rank_node,
			        .start = m->job[j].start};
	/* Until all of them last longer than it. */
	for (until = 2 * first + 1.5 * guess; last <= seconds + 2 * first;
	     until *= 2) {
		options.executions = RUNS;
		for (int j = 0; j < m->n; j++) {
			struct running *at = &m->job[j];

			if (!at->sig)
				continue;
			at->sig->phase->weight = ceil(until / at->period) + 1;
			options.executions = (int)fmax(options.executions,
			                               at->sig->phase->weight);
		}
		if (cpl_simulate(&options, job, n, &r, &err))
			die("simulate", &err);
		seconds = r.job[0].end - r.job[0].start;
		last = INFINITY;
		for (int j = 1; j < n; j++)
			last = fmin(last, r.job[j].end);
		cpl_sim_result_free(&r);
	}
	return seconds;
}

/* Another layout: two ranks change places, or all ranks of two nodes, of which one may be
 * free. */
static void change(const struct machine *m, int *rank_node, int ranks, uint64_t step)
{
	int a = (int)cpl_random_below(seed, 2, 3 * step, (uint64_t)ranks);
	int kind = (int)cpl_random_below(seed, 2, 3 * step + 1, 3);
	int from = rank_node[a], to;

	if (!kind) {
		int b = (int)cpl_random_below(seed, 2, 3 * step + 2,
		                              (uint64_t)ranks);

		rank_node[a] = rank_node[b];
		rank_node[b] = from;
		return;
	}
	to = (int)cpl_random_below(seed, 2, 3 * step + 2, (uint64_t)m->n_free);
	for (int node = 0; node < m->net->n_nodes; node++)
		if (m->free[node] && !to--) {
			to = node;
			break;
		}
	for (int r = 0; r < ranks; r++)
		rank_node[r] = rank_node[r] == from ? to
		               : rank_node[r] == to ? from
		                                    : rank_node[r];
}

static double climb(struct machine *m, const struct cpl_signature *sig,
                    int *rank_node, double seconds, double guess)
{
	int try[MOST_NODES * PER_NODE];
	size_t size = (size_t)sig->ranks * sizeof(*try);

	for (int i = 0; i < steps; i++) {
		double now;

		memcpy(try, rank_node, size);
		change(m, try, sig->ranks, (uint64_t)i);
		now = memcmp(try, rank_node, size)
		              ? simulate(m, sig, try, guess)
		              : seconds;
		if (now > seconds)
			continue;
		seconds = now;
		memcpy(rank_node, try, size);
	}
	return seconds;
}

/* The features of ranks where they are, as columns. */
static void write_features(FILE *csv, const struct machine *m,
                           const struct cpl_signature *sig,
                           const struct cpl_comm *comm,
                           const struct cpl_load *background,
                           const int *rank_node)
{
	struct cpl_error err = {""};
	struct cpl_times_space *space =
	        cpl_times_space_new(m->net, cpl_routing_minimal(m->net), &err);
	struct cpl_times *times =
	        cpl_times_open(sig->phase, 1, sig->ranks, &err);
	struct cpl_times_result told;
	double value[CPL_FEATURES];
	int *same = malloc((size_t)m->net->n_nodes * sizeof(*same));

	if (!space || !times || !same ||
	    cpl_times_order(times, rank_node, 0, m->net->n_nodes, &err))
		die("times", &err);
	for (int i = 0; i < m->net->n_nodes; i++)
		same[i] = i;
	if (cpl_times_put(times, space, same, &err))
		die("times", &err);
	cpl_times_judge(times, &m->rates, false, &told);
	if (cpl_features(
	            &(struct cpl_feature_job){
	                    .net = m->net,
	                    .routing = cpl_routing_minimal(m->net),
	                    .comm = comm,
	                    .ranks_per_node = 1,
	                    .node = rank_node,
	                    .background = background,
	                    .judged = true,
	                    .seconds = told.seconds},
	            value, &err))
		die("features", &err);
	for (int f = 0; f < CPL_FEATURES; f++)
		fprintf(csv, "%.9g,", value[f]);
	free(same);
	cpl_times_close(times);
	cpl_times_space_free(space);
}

/* Seconds by policy. */
static void run(int i, const struct cpl_learned *learned,
                double *seconds, FILE *csv)
{
	int p = i / NETWORKS % PATTERNS, n = i / 2 % 2 ? 64 : 32;
	static int placed[MOST_POLICIES][MOST_NODES * PER_NODE];
	int *rank_node, node[MOST_NODES], best = 0;
	struct cpl_signature *sig;
	struct cpl_load background;
	struct cpl_error err = {""};
	struct cpl_comm *comm;
	struct machine m;
	double once;

	seed = (uint64_t)i + 1;
	drawn = 0;
	open_machine(&m, i, n);
	sig = signature_of(p, n * PER_NODE, SCALE, RUNS, 0, 0);
	choose_stock(&m, 0, n, node);
	once = alone(m.net, sig, node, NULL);
	cpl_signature_free(sig);
	sig = signature_of(p, n * PER_NODE, SCALE, RUNS, once, 0);
	comm = cpl_signature_total(sig, &err);
	if (!comm || cpl_load_init(&background, m.net, &err))
		die("job", &err);
	cpl_load_scale(&background, &m.rates, RUNS * once, m.net);
	for (int k = 0; k < n_policies; k++) {
		seconds[k] = 0;
		if (policy[k].objective == CPL_OBJECTIVE_LEARNED && !learned)
			continue;
		rank_node = placed[k];
		if (policy[k].stock == climbed.stock) {
			memcpy(rank_node, placed[best], sizeof(placed[k]));
			seconds[k] = climb(&m, sig, rank_node, seconds[best],
			                   RUNS * once);
			continue;
		}
		place(&m, k, sig, comm, &background, learned, n, rank_node);
		/* Ranks that are where another policy put them take as long. */
		for (int e = 0; e < k && !(seconds[k] > 0); e++)
			if (seconds[e] > 0 &&
			    !memcmp(placed[e], rank_node,
			            (size_t)sig->ranks * sizeof(int)))
				seconds[k] = seconds[e];
		if (!(seconds[k] > 0))
			seconds[k] =
			        simulate(&m, sig, rank_node, RUNS * once);
		if (policy[k].stock < 0 && (!best || seconds[k] < seconds[best]))
			best = k;
		if (!csv)
			continue;
		fprintf(csv, "%d,%s,%s,%d,%.3f,%s,", i, network[m.k].name,
		        pattern[p], n, 1 - (double)m.n_free / m.net->n_nodes,
		        policy[k].name);
		write_features(csv, &m, sig, comm, &background, rank_node);
		fprintf(csv, "%.9g\n", seconds[k]);
	}
	if (csv)
		fflush(csv);
	cpl_load_free(&background);
	cpl_comm_free(comm);
	cpl_signature_free(sig);
	close_machine(&m);
}

/* Over flat, and over the best of Slurm's own in blocks. */
static void tell(int k, double (*seconds)[MOST_POLICIES], int n)
{
	double sum = 0, worst = 0, most = 0, least = INFINITY;
	int at = 0;

	if (!(seconds[0][k] > 0))
		return;
	for (int i = 0; i < n; i++) {
		double of = seconds[i][k] / seconds[i][0], best = INFINITY;

		for (int s = 0; s < STOCKS; s++)
			best = fmin(best, seconds[i][s]);
		sum += log(of);
		worst = fmax(worst, of);
		least = fmin(least, of);
		if (seconds[i][k] / best > most) {
			most = seconds[i][k] / best;
			at = i;
		}
	}
	printf("| %s | %.3f | %.2f | %.2f | %.2f (case %d) |\n", policy[k].name,
	       exp(sum / n), least, worst, most, at);
}

static void write_head(FILE *csv)
{
	fprintf(csv, "case,network,pattern,nodes,in_use,policy,");
	for (int f = 0; f < CPL_FEATURES; f++)
		fprintf(csv, "%s,", cpl_feature_name[f]);
	fprintf(csv, "seconds\n");
}

int main(int argc, char **argv)
{
	static double seconds[MOST_CASES][MOST_POLICIES];
	static const char *const names[] = {"packet", "adaptive", "flow"};
	int n = argc > 1 ? atoi(argv[1]) : 0;
	struct cpl_learned *learned = NULL;
	struct cpl_error err = {""};
	FILE *csv;

	if (argc > 1 && !strcmp(argv[argc - 1], "order")) {
		argc--;
		policy = of_order;
		n_policies = sizeof(of_order) / sizeof(*of_order);
	}
	if (argc > 2 && !strcmp(argv[argc - 2], "climb")) {
		static struct policy with[MOST_POLICIES];

		steps = atoi(argv[argc - 1]);
		argc -= 2;
		memcpy(with, all, sizeof(all));
		with[n_policies++] = climbed;
		policy = with;
	}
	csv = argc > 3 ? fopen(argv[3], "w") : NULL;

	for (int i = 0; argc > 2 && i < MODES; i++)
		if (!strcmp(argv[2], names[i]))
			how = i;
	if (argc > 4) {
		learned = cpl_learned_load(argv[4], &err);
		if (!learned)
			die("model", &err);
	}
	if (n < 1 || n > MOST_CASES || (argc > 3 && !csv) ||
	    (argc > 2 && strcmp(argv[2], names[how]))) {
		fprintf(stderr, "usage: time_placements CASES "
		                "[packet|adaptive|flow [ROWS.csv "
		                "[MODEL.json]]] [order | climb STEPS]\n");
		return 2;
	}
	if (csv)
		write_head(csv);
	for (int i = 0; i < n; i++)
		run(i, learned, seconds[i], csv);
	printf("| policy | mean over flat | best | worst | worst over the best "
	       "of Slurm's |\n|---|---|---|---|---|\n");
	for (int k = 0; k < n_policies; k++)
		tell(k, seconds, n);
	cpl_learned_free(learned);
	return csv && fclose(csv) ? 1 : 0;
}
