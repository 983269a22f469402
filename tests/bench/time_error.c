/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How far the seconds of communication that a decision goes by (traffic/times.h)
 * are from simulated ones, beside running jobs:
 *
 *   time_error run NETWORK PLACEMENTS [FIRST [DRAWS [RANKS [PATTERN]]]] >ROWS.csv
 *	NETWORK: torus, dragonfly, "fat tree" or dragonfly+ (time_cases.h); FIRST
 *	of the placements, 0 by default; simulated so often beside others that
 *	start at other times each, once by default, as flows always once; 0: only
 *	predicted; the job's ranks, a power of two; one of the patterns, or all; on
 *	a terminal stderr has how far it is
 *   time_error tell <ROWS.csv
 *	the tables, of one or several runs' rows after each other
 *
 * A job of 128 ranks (RANKS), two a node, each pattern once at each load, placed in blocks
 * of neighbours as time_order does; on the other nodes jobs of 8 ranks that
 * exchange all to all and compute in turn, each with a start of its own, so that
 * the busiest of the job's links is used to the load's part before the job comes
 * (where they share one at all). Told is simulated over predicted, and the same of
 * the slowdown: the time over that without others. Predicted is for the routing in
 * force: minimal paths, for flows too, and where packets adapt what a network file
 * would state (time_cases.h). What is predicted is an expectation: with several
 * draws simulated is their mean, and told besides how far one of them is from it.
 */
#include <unistd.h>

#include "base/array.h"
#include "base/sort.h"
#include "time_cases.h"
#include "traffic/times.h"

#define MOST_RANKS 512
#define MOST_NODES (MOST_RANKS / PER_NODE)
#define OTHER 8 /* ranks, one a node */
#define MOST_OTHERS 80
#define SCALE 0.0625
/* Seconds of theirs; as long as the job's messages are. */
#define PERIOD (8e-4 * SCALE)
#define MOST 100 /* placements */
/* Of flows; the times differ from those of a tenth of it by less. */
#define TOLERANCE 0.01
/* Times that a message waits, for what it is taken to wait, as factors. */
static const double factor[] = {0, 0.5, 1, 2, 4, 8};
#define FACTORS ((int)(sizeof(factor) / sizeof(*factor)))
static const double load[] = {0, 0.2, 0.5, 0.8};
#define LOADS ((int)(sizeof(load) / sizeof(*load)))
/* Of the rows: modes of time_cases.h, in one word. */
static const char *const routing[MODES] = {"minimal", "adaptive", "flows"};

static int ranks = 128; /* of the job */

/* Others, in blocks of OTHER nodes of a shuffled list. */
struct others {
	int n;
	double period;
	struct cpl_signature *sig;
	int node[MOST_OTHERS][OTHER];
	struct cpl_load rates;
};

/* What one simulation is, and was told. */
struct row {
	int network, pattern, placement, mode, load;
	double used; /* of the job's busiest link, by others */
	double pace; /* others' cycles over what they are stated to be, mean */
	double predicted, waiting, alone, simulated;
	double scatter; /* of one draw from simulated, mean of |log| */
};

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
			if (got < ranks / PER_NODE)
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
static struct cpl_signature *other(double bytes, double period, double compute)
{
	char text[512];
	struct cpl_error err = {""};
	struct cpl_signature *sig;

	snprintf(text, sizeof(text),
	         "{\"format\": \"commplace-signature\", \"version\": 1, "
	         "\"name\": \"o\", \"ranks\": %d, \"phases\": [{\"name\": "
	         "\"o\", \"weight\": 1, \"time\": %.17g, \"compute_time\": "
	         "%.17g, \"pattern\": {\"type\": \"many-to-many\", \"dims\": "
	         "[%d], \"axis\": 0, \"bytes\": %.17g}}]}",
	         OTHER, period, compute, OTHER, bytes);
	sig = cpl_signature_parse(text, strlen(text), "o", &err);
	if (!sig)
		die("others", &err);
	return sig;
}

/* Their rates under a routing, where packets adapt each beside the others, and the
 * longest that one communicates alone. */
static double rate_others(const struct cpl_network *net,
                          const struct cpl_routing *by, struct others *o)
{
	struct cpl_error err = {""};
	struct cpl_times_space *space = cpl_times_space_adaptive(net, by, &err);
	struct cpl_times *times[MOST_OTHERS];
	struct cpl_times_result r;
	double longest = 0;

	cpl_load_clear(&o->rates, net);
	for (int j = 0; j < o->n; j++) {
		times[j] = cpl_times_open(o->sig->phase, 1, OTHER, &err);
		if (!space || !times[j] ||
		    cpl_times_order(times[j], NULL, 1, OTHER, &err) ||
		    cpl_times_put(times[j], space, o->node[j], &err))
			die("rates", &err);
		cpl_times_add(times[j], 1, &o->rates);
		cpl_times_judge(times[j], NULL, false, &r);
		longest = fmax(longest, r.alone);
	}
	for (int j = 0; j < o->n; j++)
		if (cpl_times_adapt(times[j], space, o->node[j], &o->rates, &err))
			die("rates", &err);
	for (int j = 0; j < o->n; j++)
		cpl_times_close(times[j]);
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
		most = fmax(most,
		            *cpl_times_at(rates, own[i].link) /
		                    cpl_times_bandwidth(net, own[i].link));
	return most;
}

/* Others' messages so large that the job meets that load; false: they share no
 * link with it. */
static bool load_others(const struct cpl_network *net, struct others *o,
                        const struct cpl_times *times, double wanted)
{
	double bytes = 1024, longest, shared;

	o->sig = other(bytes, o->period, o->period / 2);
	rate_others(net, cpl_routing_minimal(net), o);
	shared = used(net, times, &o->rates);
	cpl_signature_free(o->sig);
	o->sig = NULL;
	if (!(shared > 0))
		return false;
	bytes *= wanted / shared;
	o->sig = other(bytes, o->period, o->period / 2);
	longest = rate_others(net, cpl_routing_minimal(net), o);
	cpl_signature_free(o->sig);
	o->sig = other(bytes, o->period,
	               fmax(o->period - longest, o->period / 10));
	return true;
}

/* The job's seconds, which began when the others had gone on for a while, beside
 * one draw of their starts. *pace: as in struct row. */
static double simulate(const struct cpl_network *net, int k, int m,
                       const struct cpl_signature *sig, const int *node,
                       struct others *o, int draw, double predicted,
                       double *pace)
{
	struct cpl_sim_options options = options_of(net, k, m);
	struct cpl_sim_job job[MOST_OTHERS + 1];
	struct cpl_error err = {""};
	struct cpl_sim_result r;
	int rank_node[MOST_RANKS];
	double seconds = 0, period = o->period, begin = 3 * period, end = 0;

	options.tolerance = TOLERANCE;
	for (int i = 0; i < ranks; i++)
		rank_node[i] = node[i / PER_NODE];
	job[0] = (struct cpl_sim_job){
	        .sig = sig, .rank_node = rank_node, .start = begin};
	for (int j = 0; j < o->n; j++)
		job[j + 1] = (struct cpl_sim_job){
		        .sig = o->sig,
		        .rank_node = o->node[j],
		        .start = period *
		                 (double)cpl_random_below(1, 9 + (uint64_t)draw,
		                                          (uint64_t)j, 1000) /
		                 1000};
	/* Until they last longer than it. */
	for (double runs = ceil((begin + 1.5 * predicted) / period) + 2;
	     end <= seconds + begin; runs *= 2) {
		if (o->n) {
			o->sig->phase->weight = runs;
			options.executions = (int)runs;
		}
		if (cpl_simulate(&options, job, o->n + 1, &r, &err))
			die("simulate", &err);
		seconds = r.job[0].end - r.job[0].start;
		end = o->n ? INFINITY : seconds + begin + 1;
		*pace = o->n ? 0 : 1;
		for (int j = 0; j < o->n; j++) {
			double lasts = r.job[j + 1].end - r.job[j + 1].start;

			end = fmin(end, r.job[j + 1].end);
			*pace += lasts / (runs * period * o->n);
		}
		cpl_sim_result_free(&r);
	}
	if (o->n)
		o->sig->phase->weight = 1;
	return seconds;
}

static void print_row(const struct row *r)
{
	printf("%s,%s,%d,%s,%.3g,%.6g,%.6g,%.9g,%.9g,%.9g,%.9g,%.6g\n",
	       network[r->network].name, pattern[r->pattern], r->placement,
	       routing[r->mode], load[r->load], r->used, r->pace, r->predicted,
	       r->waiting, r->alone, r->simulated, r->scatter);
	fflush(stdout);
}

/* Fills in what is simulated: the mean of draws. */
static void simulate_draws(const struct cpl_network *net, struct row *row,
                           const struct cpl_signature *sig, const int *node,
                           struct others *o, int draws)
{
	double seconds[MOST];

	if (row->mode == 2 && draws > 1)
		draws = 1;
	row->simulated = row->scatter = 0;
	for (int d = 0; d < draws; d++) {
		seconds[d] = simulate(net, row->network, row->mode, sig, node,
		                      o, d, row->predicted, &row->pace);
		row->simulated += seconds[d] / draws;
	}
	for (int d = 0; d < draws; d++)
		row->scatter += fabs(log(seconds[d] / row->simulated)) / draws;
}

/* The job under a routing. */
struct placed {
	const struct cpl_routing *routing;
	struct cpl_times_space *space;
	struct cpl_times *times;
};

/* As `commplace traffic` has it. */
static void adapt_job(const struct placed *by, const int *node,
                      struct cpl_load *rates)
{
	struct cpl_error err = {""};

	if (by->routing->flags & CPL_ROUTING_TWO_WAYS)
		return;
	cpl_times_add(by->times, 1, rates);
	if (cpl_times_adapt(by->times, by->space, node, rates, &err))
		die("job", &err);
	cpl_times_add(by->times, -1, rates);
}

/* One load of what runs beside the job, which is placed on minimal paths and
 * where packets adapt. */
static void run_load(const struct cpl_network *net, struct row row,
                     const struct cpl_signature *sig,
                     const struct placed placed[2], const int *node,
                     struct others *o, int draws)
{
	struct others none = {.period = o->period};
	bool some = load[row.load] > 0;
	struct cpl_times_result told;

	if (some && !load_others(net, o, placed[0].times, load[row.load]))
		return;
	for (row.mode = 0; row.mode < MODES; row.mode++) {
		const struct placed *by = &placed[row.mode == 1];

		if (some) {
			rate_others(net, by->routing, o);
			adapt_job(by, node, &o->rates);
			row.used = used(net, by->times, &o->rates);
		}
		cpl_times_judge(by->times, some ? &o->rates : NULL, false, &told);
		row.predicted = told.seconds;
		row.waiting = told.waiting;
		row.alone = told.alone;
		simulate_draws(net, &row, sig, node, some ? o : &none,
		               some || !draws ? draws : 1);
		print_row(&row);
	}
	cpl_signature_free(o->sig);
	o->sig = NULL;
}

static void run_placement(const struct cpl_network *net, struct row row,
                          int draws)
{
	struct cpl_signature *sig =
	        signature_of(row.pattern, ranks, SCALE, 1, 0, 0);
	struct cpl_error err = {""};
	struct others o = {.period = PERIOD};
	struct placed placed[2] = {
	        {.routing = cpl_routing_minimal(net)},
	        {.routing = cpl_routing_find(net, network[row.network].told,
	                                     &err)}};
	int node[MOST_NODES];

	place(net, row.placement, node, &o);
	for (int i = 0; i < 2; i++) {
		struct placed *p = &placed[i];

		p->space = p->routing ? cpl_times_space_adaptive(
		                                net, p->routing, &err)
		                      : NULL;
		p->times = cpl_times_open(sig->phase, 1, ranks, &err);
		if (!p->space || !p->times ||
		    cpl_times_order(p->times, NULL, PER_NODE, ranks / PER_NODE, &err) ||
		    cpl_times_put(p->times, p->space, node, &err))
			die("job", &err);
	}
	if (cpl_load_init_rates(&o.rates, net, &err))
		die("rates", &err);
	for (row.load = 0; row.load < LOADS; row.load++)
		run_load(net, row, sig, placed, node, &o, draws);
	cpl_load_free(&o.rates);
	for (int i = 0; i < 2; i++) {
		cpl_times_close(placed[i].times);
		cpl_times_space_free(placed[i].space);
	}
	cpl_signature_free(sig);
}

static int run(int k, int placements, int first, int draws, int only)
{
	struct cpl_network *net = load_network(k);
	bool shown = isatty(STDERR_FILENO);

	/* Rows of a run that was cut are of all patterns. */
	for (int i = 0; i < placements; i++)
		for (int p = 0; p < ALL_PATTERNS; p++) {
			if (only >= 0 && p != only)
				continue;
			if (shown)
				fprintf(stderr, "\r%s, %s: %d of %d   ",
				        network[k].name, pattern[p], i + 1,
				        placements);
			run_placement(net,
			              (struct row){.network = k,
			                           .pattern = p,
			                           .placement = first + i},
			              draws);
		}
	if (shown)
		fprintf(stderr, "\n");
	cpl_network_free(net);
	return fflush(stdout) || ferror(stdout);
}

static struct row *rows;
static int n_rows;

/* Which of n names a text is. */
static int named(const char *text, const char *const *name, int n)
{
	for (int i = 0; i < n; i++)
		if (!strcmp(text, name[i]))
			return i;
	fprintf(stderr, "time_error: there is no %s\n", text);
	exit(1);
}

static int network_named(const char *text)
{
	const char *name[ALL_NETWORKS];

	for (int k = 0; k < ALL_NETWORKS; k++)
		name[k] = network[k].name;
	return named(text, name, ALL_NETWORKS);
}

static void read_rows(FILE *in)
{
	struct cpl_error err = {""};
	char line[512], net[32], of[32], by[32];
	double loaded;

	while (fgets(line, sizeof(line), in)) {
		struct row r = {0};

		if (sscanf(line,
		           "%31[^,],%31[^,],%d,%31[^,],%lf,%lf,%lf,%lf,%lf,%lf,"
		           "%lf,%lf",
		           net, of, &r.placement, by, &loaded, &r.used, &r.pace,
		           &r.predicted, &r.waiting, &r.alone,
		           &r.simulated, &r.scatter) != 12 ||
		    cpl_array_grow(&rows, n_rows, sizeof(*rows), &err)) {
			fprintf(stderr, "time_error: row %d: %s\n", n_rows + 1,
			        err.text[0] ? err.text : "not one of ours");
			exit(1);
		}
		r.network = network_named(net);
		r.pattern = named(of, pattern, ALL_PATTERNS);
		r.mode = named(by, routing, MODES);
		while (r.load < LOADS - 1 && load[r.load] < loaded)
			r.load++;
		rows[n_rows++] = r;
	}
}

/* Simulated over predicted where messages wait `times` as long; of the slowdown
 * by others, if wanted. Rows of a placement are by load, then mode. */
static double ratio(const struct row *r, double times, bool slowdown)
{
	double told = r->predicted + (times - 1) * r->waiting;
	const struct row *alone = r - r->load * MODES;

	if (!slowdown)
		return r->simulated / told;
	if (alone < rows || alone->load || alone->mode != r->mode ||
	    alone->placement != r->placement || alone->pattern != r->pattern) {
		fprintf(stderr, "time_error: rows are missing\n");
		exit(1);
	}
	return r->simulated / told / (alone->simulated / alone->predicted);
}

/* Which rows; -1: all, of loads all with others. */
struct which {
	int network, pattern, mode, load;
};

static bool is_of(const struct row *r, struct which w)
{
	return (w.network < 0 || r->network == w.network) &&
	       (w.pattern < 0 || r->pattern == w.pattern) &&
	       r->mode == w.mode &&
	       (w.load < 0 ? r->load > 0 : r->load == w.load);
}

struct summary {
	int n;
	double tenth, median, ninetieth;
	double error; /* mean, as a part */
	double scatter; /* of one draw, likewise */
};

/* value: room for a row's each. */
static struct summary sum_up(struct which w, double times, bool slowdown,
                             double *value)
{
	struct summary s = {0};
	double off = 0, scatter = 0;

	for (int i = 0; i < n_rows; i++)
		if (is_of(&rows[i], w)) {
			value[s.n] = ratio(&rows[i], times, slowdown);
			off += fabs(log(value[s.n++]));
			scatter += rows[i].scatter;
		}
	if (!s.n)
		return s;
	qsort(value, (size_t)s.n, sizeof(*value), cpl_by_double);
	s.tenth = value[s.n / 10];
	s.median = value[s.n / 2];
	s.ninetieth = value[s.n - 1 - s.n / 10];
	s.error = exp(off / s.n) - 1;
	s.scatter = exp(scatter / s.n) - 1;
	return s;
}

/* Geometric means of what others slow it by, simulated and predicted. */
static void tell_slowdown(struct which w)
{
	double simulated = 0, told = 0;
	int n = 0;

	for (int i = 0; i < n_rows; i++)
		if (is_of(&rows[i], w)) {
			double of = rows[i].predicted / rows[i].alone;

			told += log(of);
			simulated += log(of * ratio(&rows[i], 1, true));
			n++;
		}
	printf(" %.2f | %.2f |", exp(simulated / n), exp(told / n));
}

static void tell_row(const char *name, struct which w, double *value)
{
	struct summary t = sum_up(w, 1, false, value);
	struct summary s = sum_up(w, 1, true, value);

	if (!t.n)
		return;
	printf("| %s | %s | %d | %.2f (%.2f to %.2f) | %.0f %% |", name,
	       mode[w.mode], t.n, t.median, t.tenth, t.ninetieth,
	       100 * t.error);
	tell_slowdown(w);
	printf(" %.0f %% | %.0f %% |\n", 100 * s.error, 100 * s.scatter);
}

static void tell_head(const char *what)
{
	printf("| %s | simulated by | n | time over predicted | mean error | "
	       "slowdown | predicted | mean error | one draw |\n"
	       "|---|---|---|---|---|---|---|---|---|\n",
	       what);
}

static void tell_all(double *value)
{
	char name[32];

	tell_head("network, load");
	for (int k = 0; k < ALL_NETWORKS; k++)
		for (int m = 0; m < MODES; m++)
			for (int l = 0; l < LOADS; l++) {
				snprintf(name, sizeof(name), "%s, %g",
				         network[k].name, load[l]);
				tell_row(name, (struct which){k, -1, m, l},
				         value);
			}
	putchar('\n');
	tell_head("pattern, beside others");
	for (int p = 0; p < ALL_PATTERNS; p++)
		for (int m = 0; m < MODES; m++)
			tell_row(pattern[p], (struct which){-1, p, m, -1},
			         value);
}

/* The mean error of the slowdown where a message waits so many times as long. */
static void tell_factors(const char *name, struct which w, double *value)
{
	if (!sum_up(w, 1, true, value).n)
		return;
	printf("| %s | %s |", name, mode[w.mode]);
	for (int f = 0; f < FACTORS; f++)
		printf(" %.1f %% |",
		       100 * sum_up(w, factor[f], true, value).error);
	putchar('\n');
}

static void tell_waiting(double *value)
{
	char name[32];

	printf("\n| mean error of the slowdown, messages wait | simulated by |");
	for (int f = 0; f < FACTORS; f++)
		printf(" x %g |", factor[f]);
	printf("\n|---|---|---|---|---|---|---|---|\n");
	for (int m = 0; m < MODES; m++) {
		for (int k = 0; k < ALL_NETWORKS; k++)
			for (int l = 1; l < LOADS; l++) {
				snprintf(name, sizeof(name), "%s, %g",
				         network[k].name, load[l]);
				tell_factors(name, (struct which){k, -1, m, l},
				             value);
			}
		tell_factors("all", (struct which){-1, -1, m, -1}, value);
	}
}

static int tell(void)
{
	double *value;

	read_rows(stdin);
	value = malloc((size_t)(n_rows + 1) * sizeof(*value));
	if (!value)
		return 1;
	tell_all(value);
	tell_waiting(value);
	free(value);
	free(rows);
	return fflush(stdout) || ferror(stdout);
}

int main(int argc, char **argv)
{
	int placements = argc > 3 ? atoi(argv[3]) : 0;
	int first = argc > 4 ? atoi(argv[4]) : 0;
	int draws = argc > 5 ? atoi(argv[5]) : 1;
	int only = argc > 7 ? named(argv[7], pattern, ALL_PATTERNS) : -1;

	if (argc == 2 && !strcmp(argv[1], "tell"))
		return tell();
	ranks = argc > 6 ? atoi(argv[6]) : ranks;
	if (argc >= 4 && argc <= 8 && !strcmp(argv[1], "run") &&
	    placements > 0 && placements <= MOST && first >= 0 &&
	    first <= MOST && draws >= 0 && draws <= MOST && ranks >= 32 &&
	    ranks <= MOST_RANKS)
		return run(network_named(argv[2]), placements, first, draws, only);
	fprintf(stderr, "usage: time_error run NETWORK PLACEMENTS [FIRST [DRAWS "
	                "[RANKS [PATTERN]]]] >ROWS.csv\n"
	                "       time_error tell <ROWS.csv\n");
	return 2;
}
