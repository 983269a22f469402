/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How far the seconds of communication that a decision goes by (traffic/times.h)
 * are from simulated ones, beside running jobs:
 *
 *   time_error PLACEMENTS [ROWS.csv]
 *
 * A job of 128 ranks on 64 nodes, each pattern once on each machine and at each
 * load, placed in blocks of neighbours as time_order does; on the other nodes
 * jobs of 8 ranks that exchange all to all and compute in turn, each with a start
 * of its own, so that the busiest of the job's links is used to the load's part
 * before the job comes. Told is simulated over predicted.
 */
#include "time_cases.h"
#include "traffic/times.h"

#define RANKS 128
#define NODES (RANKS / PER_NODE)
#define OTHER 8 /* ranks, one a node */
#define MOST_OTHERS 80
#define PERIOD 2e-4 /* seconds of theirs */
#define SCALE 0.25
#define MOST 100 /* placements */
/* Packets of queueing taken for one, as factors. */
static const double factor[] = {0, 0.5, 1, 2, 4, 8};
#define FACTORS ((int)(sizeof(factor) / sizeof(*factor)))
static const double load[] = {0, 0.2, 0.4, 0.6, 0.8};
#define LOADS ((int)(sizeof(load) / sizeof(*load)))

/* Others, in blocks of OTHER nodes of a shuffled list. */
struct others {
	int n;
	struct cpl_signature *sig;
	int node[MOST_OTHERS][OTHER];
	struct cpl_load rates;
};

struct row {
	int network, pattern, mode, load;
	double used, predicted, waiting, alone, simulated;
};

static struct row *rows;
static int n_rows;

static void place(const struct cpl_network *net, int i, int *node,
                  struct others *o)
{
	int size = 1 << i % 7, n = net->n_nodes / size, got = 0, left = 0;
	int *block = malloc((size_t)net->n_nodes * sizeof(*block));
	int *rest = malloc((size_t)net->n_nodes * sizeof(*rest));

	if (!block || !rest)
		exit(1);
	for (int b = 0; b < n; b++)
		block[b] = b;
	cpl_random_shuffle(block, n, 1, (uint64_t)i);
	for (int b = 0; b < n; b++)
		for (int k = 0; k < size; k++)
			if (got < NODES)
				node[got++] = block[b] * size + k;
			else
				rest[left++] = block[b] * size + k;
	cpl_random_shuffle(rest, left, 2, (uint64_t)i);
	o->n = left / OTHER < MOST_OTHERS ? left / OTHER : MOST_OTHERS;
	for (int j = 0; j < o->n; j++)
		memcpy(o->node[j], rest + j * OTHER, OTHER * sizeof(int));
	free(block);
	free(rest);
}

/* All to all, of so many bytes a message. */
static struct cpl_signature *other(double bytes, double runs, double compute)
{
	char text[512];
	struct cpl_error err = {""};
	struct cpl_signature *sig;

	snprintf(text, sizeof(text),
	         "{\"format\": \"commplace-signature\", \"version\": 1, "
	         "\"name\": \"o\", \"ranks\": %d, \"phases\": [{\"name\": "
	         "\"o\", \"weight\": %.0f, \"time\": %.17g, \"compute_time\": "
	         "%.17g, \"pattern\": {\"type\": \"many-to-many\", \"dims\": "
	         "[%d], \"axis\": 0, \"bytes\": %.17g}}]}",
	         OTHER, runs, PERIOD, compute, OTHER, bytes);
	sig = cpl_signature_parse(text, strlen(text), "o", &err);
	if (!sig)
		die("others", &err);
	return sig;
}

/* Their rates, and the longest that one communicates alone. */
static double rate_others(const struct cpl_network *net, struct others *o)
{
	struct cpl_error err = {""};
	struct cpl_times_space *space =
	        cpl_times_space_new(net, cpl_routing_minimal(net), &err);
	struct cpl_times *times =
	        cpl_times_open(o->sig->phase, 1, OTHER, &err);
	struct cpl_times_result r;
	double longest = 0;

	cpl_load_clear(&o->rates, net);
	if (!space || !times || cpl_times_order(times, NULL, 1, OTHER, &err))
		die("rates", &err);
	for (int j = 0; j < o->n; j++) {
		if (cpl_times_place(times, space, o->node[j], &err))
			die("rates", &err);
		cpl_times_add(times, 1, &o->rates);
		cpl_times_judge(times, NULL, false, &r);
		longest = fmax(longest, r.alone / o->sig->phase->weight);
	}
	cpl_times_close(times);
	cpl_times_space_free(space);
	return longest;
}

/* The most of a link of the job's that others use. */
static double used(const struct cpl_network *net, const struct cpl_times *times,
                   const struct cpl_load *rates)
{
	int64_t n;
	const struct cpl_times_rate *own = cpl_times_rates(times, &n);
	double most = 0;

	for (int64_t i = 0; i < n; i++)
		most = fmax(most, *cpl_times_at(net, rates, own[i].link) /
		                          cpl_times_bandwidth(net, own[i].link));
	return most;
}

/* Others' messages so large that the job meets that load. Small ones are sent as
 * often as they are. */
static void load_others(const struct cpl_network *net, struct others *o,
                        const struct cpl_times *times, double wanted)
{
	double bytes = 1024, longest;

	o->sig = other(bytes, 1, PERIOD / 2);
	rate_others(net, o);
	bytes *= wanted / used(net, times, &o->rates);
	cpl_signature_free(o->sig);
	o->sig = other(bytes, 1, PERIOD / 2);
	longest = rate_others(net, o);
	cpl_signature_free(o->sig);
	o->sig = other(bytes, 1, fmax(PERIOD - longest, PERIOD / 10));
}

/* The job's seconds, which began when the others had gone on for a while. */
static double simulate(const struct cpl_network *net, int k, int m,
                       const struct cpl_signature *sig, const int *node,
                       struct others *o, double predicted)
{
	struct cpl_sim_options options = options_of(net, k, m);
	struct cpl_sim_job job[MOST_OTHERS + 1];
	struct cpl_error err = {""};
	struct cpl_sim_result r;
	int rank_node[RANKS];
	double seconds = 0, begin = 3 * PERIOD, end = 0;

	for (int i = 0; i < RANKS; i++)
		rank_node[i] = node[i / PER_NODE];
	job[0] = (struct cpl_sim_job){
	        .sig = sig, .rank_node = rank_node, .start = begin};
	for (int j = 0; j < o->n; j++)
		job[j + 1] = (struct cpl_sim_job){
		        .sig = o->sig,
		        .rank_node = o->node[j],
		        .start = PERIOD *
		                 (double)cpl_random_below(1, 9, (uint64_t)j,
		                                          1000) /
		                 1000};
	/* Until they last longer than it. */
	for (double runs = ceil((begin + 1.5 * predicted) / PERIOD) + 2;
	     end <= seconds + begin; runs *= 2) {
		if (o->n) {
			o->sig->phase->weight = runs;
			options.executions = (int)runs;
		}
		if (cpl_simulate(&options, job, o->n + 1, &r, &err))
			die("simulate", &err);
		seconds = r.job[0].end - r.job[0].start;
		end = o->n ? INFINITY : seconds + begin + 1;
		for (int j = 0; j < o->n; j++)
			end = fmin(end, r.job[j + 1].end);
		cpl_sim_result_free(&r);
	}
	return seconds;
}

static void run(const struct cpl_network *net, int k, int p, int i, FILE *csv)
{
	struct cpl_signature *sig = signature_of(p, RANKS, SCALE, 1, 0, 0);
	struct cpl_error err = {""};
	struct cpl_times_space *space =
	        cpl_times_space_new(net, cpl_routing_minimal(net), &err);
	struct cpl_times *times = cpl_times_open(sig->phase, 1, RANKS, &err);
	struct others o = {0}, none = {0};
	int node[NODES];

	place(net, i, node, &o);
	if (!space || !times || cpl_load_init(&o.rates, net, &err) ||
	    cpl_times_order(times, NULL, PER_NODE, NODES, &err) ||
	    cpl_times_place(times, space, node, &err))
		die("job", &err);
	for (int l = 0; l < LOADS; l++) {
		struct cpl_times_result told;
		double part = 0;

		if (load[l] > 0) {
			load_others(net, &o, times, load[l]);
			rate_others(net, &o);
			part = used(net, times, &o.rates);
		}
		cpl_times_judge(times, load[l] > 0 ? &o.rates : NULL, false,
		                &told);
		for (int m = 0; m < MODES; m++) {
			struct row *row = &rows[n_rows++];

			*row = (struct row){
			        k, p, m, l, part, told.seconds, told.waiting,
			        told.alone,
			        simulate(net, k, m, sig, node,
			                 load[l] > 0 ? &o : &none,
			                 told.seconds)};
			if (csv)
				fprintf(csv,
				        "%s,%s,%s,%.3g,%.6g,%.9g,%.9g,%.9g,"
				        "%.9g\n",
				        network[k].name, pattern[p], mode[m],
				        load[l], part, row->predicted,
				        row->waiting, row->alone,
				        row->simulated);
		}
		cpl_signature_free(o.sig);
		o.sig = NULL;
	}
	cpl_load_free(&o.rates);
	cpl_times_close(times);
	cpl_times_space_free(space);
	cpl_signature_free(sig);
}

static int up(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Rows of those that are not -1: quantiles of simulated / predicted. */
static void tell(const char *name, int k, int p, int m, int l)
{
	double *ratio = malloc((size_t)n_rows * sizeof(*ratio)), off = 0;
	int n = 0;

	if (!ratio)
		exit(1);
	for (int i = 0; i < n_rows; i++) {
		const struct row *r = &rows[i];

		if ((k >= 0 && r->network != k) || (p >= 0 && r->pattern != p) ||
		    r->mode != m || (l >= 0 && r->load != l))
			continue;
		ratio[n++] = r->simulated / r->predicted;
		off += fabs(log(r->simulated / r->predicted));
	}
	qsort(ratio, (size_t)n, sizeof(*ratio), up);
	printf("| %s | %s | %d | %.2f | %.2f | %.2f | %.0f %% |\n", name,
	       mode[m], n, ratio[n / 10], ratio[n / 2], ratio[n - 1 - n / 10],
	       100 * (exp(off / n) - 1));
	free(ratio);
}

/* The mean error where waiting counts so much, of rows with others. */
static void tell_factors(int m, int l)
{
	printf("| %.1f | %s |", load[l], mode[m]);
	for (int f = 0; f < FACTORS; f++) {
		double off = 0;
		int n = 0;

		for (int i = 0; i < n_rows; i++) {
			const struct row *r = &rows[i];
			double told = r->predicted +
			              (factor[f] - 1) * r->waiting;

			if (r->mode != m || r->load != l)
				continue;
			off += fabs(log(r->simulated / told));
			n++;
		}
		printf(" %.1f %% |", 100 * (exp(off / n) - 1));
	}
	putchar('\n');
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 0;
	FILE *csv = argc > 2 ? fopen(argv[2], "w") : NULL;
	char name[32];

	rows = calloc((size_t)(n > 0 ? n : 1) * NETWORKS * PATTERNS * MODES *
	                      LOADS,
	              sizeof(*rows));
	if (n < 1 || n > MOST || !rows || (argc > 2 && !csv)) {
		fprintf(stderr, "usage: time_error PLACEMENTS [ROWS.csv]\n");
		return 2;
	}
	if (csv)
		fprintf(csv, "network,pattern,simulated_by,load,used,predicted,"
		             "waiting,alone,simulated\n");
	for (int k = 0; k < NETWORKS; k++) {
		struct cpl_network *net = load_network(k);

		for (int p = 0; p < PATTERNS; p++)
			for (int i = 0; i < n; i++)
				run(net, k, p, i, csv);
		cpl_network_free(net);
	}
	printf("| rows | simulated by | n | 10 %% | median | 90 %% | mean error "
	       "|\n|---|---|---|---|---|---|---|\n");
	for (int m = 0; m < MODES; m++)
		for (int l = 0; l < LOADS; l++) {
			snprintf(name, sizeof(name), "load %.1f", load[l]);
			tell(name, -1, -1, m, l);
		}
	for (int m = 0; m < MODES; m++) {
		for (int p = 0; p < PATTERNS; p++)
			tell(pattern[p], -1, p, m, -1);
		for (int k = 0; k < NETWORKS; k++)
			tell(network[k].name, k, -1, m, -1);
		tell("all", -1, -1, m, -1);
	}
	printf("\nmean error where a message waits so many times as long\n\n"
	       "| load | simulated by |");
	for (int f = 0; f < FACTORS; f++)
		printf(" %g |", factor[f]);
	printf("\n|---|---|---|---|---|---|---|---|\n");
	for (int m = 0; m < MODES; m++)
		for (int l = 1; l < LOADS; l++)
			tell_factors(m, l);
	free(rows);
	return csv && fclose(csv) ? 1 : 0;
}
