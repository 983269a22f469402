/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `commplace benefit` finds of gains that are known: campaigns of a site that
 * is looked at each day, with noise as elapsed times of public logs have it.
 *
 *	bench_benefit [REPETITIONS [NOISE [ROW [SEED]]]]
 *
 * Eight groups (four profiles at two numbers of ranks each) have noise with standard
 * deviations from 0.10 to 0.40. NOISE is
 *
 *	-        log-normal, one in fifty of the jobs three times that
 *	tails    Student's t of three degrees of freedom, in logarithms
 *	slow     some jobs are hindered and none is helped: exponential, in logarithms
 *	drift    log-normal, and jobs by day are slower than those by night, as much
 *	         again; each day is another one than the day before
 *	LOG.swf  residuals of a log's own jobs
 *
 * each scaled to the group's deviation. Sixteen jobs end a day, half of them stock. For each true gain: how
 * often any of the daily intervals of the overall gain misses it, after how many
 * jobs 5 % is found (median), how often a gain of 0 is called better or worse on
 * any day, and after how many jobs a profile that is worse is switched off. "last" is
 * how often the interval of the last day misses; ROW is one line of the table, 0 all;
 * each SEED has campaigns of its own.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/random.h"
#include "benefit/benefit.h"

#define GROUPS 8
#define PER_DAY 16
#define DAYS 250
#define JOBS (PER_DAY * DAYS)

static const double deviation[GROUPS] = {0.10, 0.12, 0.15, 0.18,
                                         0.22, 0.27, 0.33, 0.40};
static const char *const profile[] = {"a", "b", "c", "d"};

/* Residuals of a log's jobs, of mean 0 and deviation 1; none: log-normal. */
static double *residual;
static int64_t n_residuals;

static double uniform(uint64_t *state)
{
	return ((double)(cpl_random_next(state) >> 11) + 0.5) / 0x1p53;
}

static double normal(uint64_t *state)
{
	double radius = sqrt(-2 * log(uniform(state)));

	return radius * cos(2 * M_PI * uniform(state));
}

static enum { SPIKES, TAILS, SLOW, DRIFT, LOGGED } family;
static const char *const family_name[] = {"-", "tails", "slow", "drift"};

/* Student's t of three degrees of freedom, whose deviation is sqrt(3). */
static double student(uint64_t *state)
{
	double square = 0;

	for (int i = 0; i < 3; i++)
		square += pow(normal(state), 2);
	return normal(state) / sqrt(square / 3) / sqrt(3);
}

/* What all jobs of a time have in common: which day it is, and when. */
static double hour(const double *day, int job)
{
	return family == DRIFT ? *day + sin(2 * M_PI * (job % PER_DAY) / PER_DAY)
	                       : 0;
}

static double noise(uint64_t *state)
{
	double value;

	switch (family) {
	case LOGGED:
		return residual[cpl_random_scale(cpl_random_next(state),
		                                 (uint64_t)n_residuals)];
	case TAILS:
		return student(state);
	case SLOW:
		return -log(uniform(state)) - 1;
	case DRIFT:
		return normal(state);
	case SPIKES:
		break;
	}
	value = normal(state);
	return uniform(state) < 0.02 ? 3 * value : value;
}

struct campaign {
	double gain;   /* true */
	int profiles;  /* of the groups' profiles */
	double deviation; /* 0: the groups' own */
	int days;
};

static void play(const struct campaign *c, uint64_t seed,
                 struct cpl_trial_job *job)
{
	uint64_t state = cpl_random_key(seed, 17);
	double day = 0;

	for (int i = 0; i < c->days * PER_DAY; i++) {
		int g = (int)cpl_random_scale(cpl_random_next(&state), GROUPS);
		double sigma = c->deviation > 0 ? c->deviation : deviation[g];
		double log_time;

		job[i] = (struct cpl_trial_job){
		        .profile = profile[g % c->profiles],
		        .partition = "",
		        .ranks = 64 << (g / 4) << (c->profiles == 1 ? g % 4 : 0),
		        .nodes = 4 << (g / 4),
		        .arm = cpl_random_next(&state) & 1 ? CPL_ARM_PLACED
		                                           : CPL_ARM_STOCK,
		        .predicted = -i, /* when it ends, until the look */
		        .beside = NAN};
		if (family == DRIFT && i % PER_DAY == 0)
			day = 0.9 * day + 0.3 * normal(&state);
		log_time = 6 + 0.5 * g +
		           sigma * (noise(&state) + hour(&day, i));
		if (job[i].arm == CPL_ARM_PLACED)
			log_time += log1p(-c->gain);
		job[i].value[CPL_MEASURE_SECONDS] = exp(log_time);
	}
}

struct found {
	bool missed;      /* on any day */
	bool fixed;       /* on the last day */
	int better, worse, stop; /* jobs until then, 0: never */
};

/* The jobs of the first n that ended, in the order of strata, which all have from
 * the beginning: a look need not sort them. */
static int64_t take(const struct cpl_trial_job *job, int all, int n,
                    struct cpl_trial_job *out)
{
	int64_t taken = 0;

	for (int i = 0; i < all; i++) {
		if (-job[i].predicted >= n)
			continue;
		out[taken] = job[i];
		out[taken++].predicted = NAN;
	}
	return taken;
}

static int look(const struct campaign *c, uint64_t seed, bool until_stop,
                struct found *out)
{
	static struct cpl_trial_job job[JOBS], copy[JOBS];
	struct cpl_strata strata;
	struct cpl_error error;

	*out = (struct found){0};
	play(c, seed, job);
	if (cpl_strata_make(&strata, job, c->days * PER_DAY, &error))
		return -1;
	free(strata.stratum);
	for (int n = PER_DAY; n <= c->days * PER_DAY && !(until_stop && out->stop);
	     n += PER_DAY) {
		struct cpl_trial_jobs jobs = {.job = copy};
		struct cpl_error err = {""};
		const struct cpl_gain *all;
		struct cpl_benefit b;

		jobs.n = take(job, c->days * PER_DAY, n, copy);
		if (cpl_benefit_make(&b, &jobs, 0.05, &err))
			return -1;
		all = &b.overall.measure[CPL_MEASURE_SECONDS];
		out->fixed = all->bounded &&
		             (c->gain < all->low || c->gain > all->high);
		out->missed |= out->fixed;
		if (!out->better && all->verdict == CPL_GAIN_BETTER)
			out->better = n;
		if (!out->worse && all->verdict == CPL_GAIN_WORSE)
			out->worse = n;
		for (int64_t p = 0; p < b.n_profiles; p++)
			if (!out->stop && b.profile[p].stop)
				out->stop = n;
		cpl_benefit_free(&b);
	}
	return 0;
}

static int by_int(const void *x, const void *y)
{
	return *(const int *)x - *(const int *)y;
}

/* Quantile of jobs until something; never is after all. */
static int quantile(int *value, int n, double q)
{
	for (int i = 0; i < n; i++)
		if (!value[i])
			value[i] = JOBS + 1;
	qsort(value, (size_t)n, sizeof(*value), by_int);
	return value[(int)(q * (n - 1))];
}

static int measure(const struct campaign *c, const char *what, bool until_stop,
                   int times, uint64_t seed)
{
	int *better = calloc((size_t)times, sizeof(int));
	int *stop = calloc((size_t)times, sizeof(int));
	int missed = 0, called = 0, fixed = 0, stopped = 0, n_better = 0;

	for (int i = 0; better && stop && i < times; i++) {
		struct found f;

		if (look(c, (seed << 32) + (uint64_t)i, until_stop, &f))
			return -1;
		missed += f.missed;
		fixed += f.fixed;
		called += f.better || f.worse;
		n_better += f.better > 0;
		stopped += f.stop > 0;
		better[i] = f.better;
		stop[i] = f.stop;
	}
	if (!better || !stop)
		return -1;
	printf("%-26s %4d %+5.1f  %6.2f %6.2f  %6.2f  %6.2f %5d  %6.2f %5d\n", what,
	       c->days, 100 * c->gain, 100.0 * missed / times, 100.0 * fixed / times,
	       100.0 * called / times, 100.0 * n_better / times,
	       quantile(better, times, 0.5), 100.0 * stopped / times,
	       quantile(stop, times, 0.5));
	fflush(stdout);
	free(better);
	free(stop);
	return 0;
}

/* Jobs of one user, size and requested time are alike; those that ran into their
 * limit say nothing. */
struct logged {
	long user, size, wanted;
	double seconds;
};

static int by_kind(const void *x, const void *y)
{
	const struct logged *a = x, *b = y;

	if (a->user != b->user)
		return a->user < b->user ? -1 : 1;
	if (a->size != b->size)
		return a->size < b->size ? -1 : 1;
	return (a->wanted > b->wanted) - (a->wanted < b->wanted);
}

static void add_kind(const struct logged *job, int64_t n)
{
	double mean = 0, square = 0;

	for (int64_t i = 0; i < n; i++)
		mean += log(job[i].seconds) / (double)n;
	for (int64_t i = 0; i < n; i++)
		square += pow(log(job[i].seconds) - mean, 2) / (double)(n - 1);
	if (!(square > 0))
		return;
	for (int64_t i = 0; i < n; i++)
		residual[n_residuals++] =
		        (log(job[i].seconds) - mean) / sqrt(square);
}

/* Kinds of at least 20 jobs whose deviation is one that the issue is about. */
static int read_log(const char *path)
{
	FILE *in = fopen(path, "r");
	struct logged *job = NULL;
	struct cpl_error err;
	char line[512];
	int64_t n = 0, end;

	if (!in)
		return -1;
	while (fgets(line, sizeof(line), in)) {
		struct logged j;
		long seconds, user;

		if (sscanf(line, "%*d %*d %*d %ld %*d %*d %*d %ld %ld %*d %*d %ld",
		           &seconds, &j.size, &j.wanted, &user) != 4 ||
		    seconds < 60 || seconds >= 0.95 * (double)j.wanted)
			continue;
		j.user = user;
		j.seconds = (double)seconds;
		if (cpl_array_grow(&job, n, sizeof(*job), &err))
			return -1;
		job[n++] = j;
	}
	fclose(in);
	qsort(job, (size_t)n, sizeof(*job), by_kind);
	residual = calloc((size_t)n + 1, sizeof(*residual));
	if (!residual)
		return -1;
	for (int64_t i = 0; i < n; i = end) {
		for (end = i + 1; end < n && !by_kind(&job[i], &job[end]);)
			end++;
		if (end - i >= 20)
			add_kind(&job[i], end - i);
	}
	free(job);
	family = LOGGED;
	return n_residuals ? 0 : -1;
}

static int choose_noise(const char *name)
{
	for (int i = 0; i < LOGGED; i++) {
		if (!strcmp(name, family_name[i])) {
			family = i;
			return 0;
		}
	}
	return read_log(name);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *what;
		struct campaign campaign;
		bool until_stop;
	} table[] = {
	        {"4 profiles", {0, 4, 0, DAYS / 2}, false},
	        {"4 profiles", {0.02, 4, 0, DAYS / 2}, false},
	        {"4 profiles", {0.05, 4, 0, DAYS / 4}, false},
	        {"4 profiles", {-0.03, 4, 0, DAYS / 2}, false},
	        {"1 profile, until it stops", {-0.03, 1, 0, DAYS}, true},
	        {"4 profiles, deviation 0.4", {0, 4, 0.4, DAYS / 2}, false},
	};
	int times = argc > 1 ? atoi(argv[1]) : 1000;
	const char *name = argc > 2 ? argv[2] : "-";
	size_t only = argc > 3 ? (size_t)atoi(argv[3]) : 0;
	uint64_t seed = argc > 4 ? strtoull(argv[4], NULL, 10) : 0;

	if (times < 1 || choose_noise(name)) {
		fprintf(stderr,
		        "bench_benefit [REPETITIONS [NOISE [ROW [SEED]]]]\n");
		return 1;
	}
	printf("%d campaigns of %d jobs a day; noise %s, seed %llu\n", times, PER_DAY,
	       name, (unsigned long long)seed);
	printf("%-26s %4s %5s  %6s %6s  %6s  %6s %5s  %6s %5s\n", "campaign", "days", "gain",
	       "miss", "last", "called", "better", "jobs", "stop", "jobs");
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if ((!only || only == i + 1) &&
		    measure(&table[i].campaign, table[i].what,
		            table[i].until_stop, times, seed))
			return 1;
	free(residual);
	return 0;
}
