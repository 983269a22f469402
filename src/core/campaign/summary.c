/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "campaign/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/logarithm.h"
#include "base/sort.h"

struct weighted {
	double value, weight;
};

static CPL_SORT_BY(by_value, struct weighted, CPL_UP(value))

/* This sorts the values. */
static struct cpl_campaign_spread spread(struct weighted *v, int n)
{
	struct cpl_campaign_spread out = {0};
	double total = 0, below = 0;
	bool has_median = false, has_q95 = false;

	qsort(v, (size_t)n, sizeof(*v), by_value);
	for (int i = 0; i < n; i++) {
		total += v[i].weight;
		out.mean += v[i].weight * v[i].value;
	}
	if (!(total > 0))
		return out;
	out.mean /= total;
	for (int i = 0; i < n; i++) {
		below += v[i].weight;
		if (!has_median && below >= 0.5 * total) {
			out.median = v[i].value;
			has_median = true;
		}
		if (!has_q95 && below >= 0.95 * total) {
			out.q95 = v[i].value;
			has_q95 = true;
		}
	}
	if (!has_q95)
		out.q95 = v[n - 1].value;
	out.max = v[n - 1].value;
	return out;
}

static bool ran(const struct cpl_campaign_job *job)
{
	return job->start >= 0;
}

static double bounded(const struct cpl_log_job *log,
                      const struct cpl_campaign_job *job)
{
	double least = fmax(log->run, CPL_CAMPAIGN_BOUND);

	return fmax((job->end - log->submit) / least, 1);
}

/* Each job that ran has these numbers. */
enum number { WAIT, BOUNDED, DECISION };

static struct cpl_campaign_spread
of_jobs(const struct cpl_campaign *c, const struct cpl_campaign_result *result,
        enum number number, struct weighted *v)
{
	int n = 0;

	for (int i = 0; i < c->log->n_jobs; i++) {
		const struct cpl_log_job *log = &c->log->job[i];
		const struct cpl_campaign_job *job = &result->job[i];

		if (!ran(job))
			continue;
		v[n++] = (struct weighted){
		        number == WAIT      ? job->start - log->submit
		        : number == BOUNDED ? bounded(log, job)
		                            : job->decision,
		        1};
	}
	return spread(v, n);
}

static void add_job(const struct cpl_log_job *asked,
                    const struct cpl_campaign_job *job,
                    const struct cpl_campaign_job *first,
                    struct cpl_campaign_summary *out)
{
	double run = job->end - job->start;

	out->jobs++;
	out->run += run;
	out->node_seconds += run * asked->nodes;
	out->useful += asked->run * asked->nodes;
	out->cost += job->cost;
	out->interference += job->interference;
	out->groups += job->groups;
	out->crossed += job->crossed;
	if (job->end > out->makespan)
		out->makespan = job->end;
	if (!(job->communication > 0) || !(first->communication > 0))
		return;
	out->sending++;
	out->communication += job->communication;
	out->communication_ratio +=
	        cpl_log_natural(job->communication / first->communication);
	out->slowdown += cpl_log_natural(fmax(job->slowdown, 1e-12));
}

/* This is the geometric mean of n ratios from the sum of their logarithms, or 1 if
 * n is 0. */
static double mean_ratio(double logs, int n)
{
	return n ? cpl_exp_natural(logs / n) : 1;
}

int cpl_campaign_summarise(const struct cpl_campaign *c,
                           const struct cpl_campaign_result *result,
                           const struct cpl_campaign_result *first,
                           struct cpl_campaign_summary *out,
                           struct cpl_error *err)
{
	int n_jobs = c->log->n_jobs, n_spans = result->n_spans;
	int most = n_jobs > n_spans ? n_jobs : n_spans;
	int nodes = cpl_network_hosts(c->net);
	struct weighted *v = malloc(((size_t)most + 1) * sizeof(*v));
	const struct cpl_campaign_sums *sums = &result->sums;

	*out = (struct cpl_campaign_summary){0};
	if (!v)
		return cpl_fail_memory(err);
	for (int i = 0; i < n_jobs; i++)
		if (ran(&result->job[i]))
			add_job(&c->log->job[i], &result->job[i],
			        &first->job[i], out);
	out->occupancy = sums->waited > 0 ? sums->used / sums->waited : 0;
	out->wait = of_jobs(c, result, WAIT, v);
	out->bounded_slowdown = of_jobs(c, result, BOUNDED, v);
	out->decision = of_jobs(c, result, DECISION, v);
	for (int i = 0; i < n_spans; i++)
		v[i] = (struct weighted){result->span[i].busiest,
		                         result->span[i].seconds};
	out->busiest = spread(v, n_spans);
	free(v);
	out->utilisation = out->node_seconds / (nodes * out->makespan);
	out->useful /= nodes * out->makespan;
	out->fragmented = sums->fragmented / (sums->passed > 0 ? sums->passed : 1);
	out->interference /= out->jobs ? out->jobs : 1;
	out->communication_ratio = mean_ratio(out->communication_ratio,
	                                      out->sending);
	out->slowdown = mean_ratio(out->slowdown, out->sending);
	return 0;
}

/* This is added up for a class. */
struct class_sums {
	double here, first, wait, logs;
};

static int class_of(const struct cpl_campaign *c, int job,
                    const struct cpl_campaign_class *class, int n)
{
	const struct cpl_jobs_rule *rule =
	        cpl_jobs_rule_of(c->jobs, &c->log->job[job], c->seed);

	for (int i = 0; rule && i < n; i++)
		if (class[i].name && !strcmp(class[i].name, rule->class))
			return i;
	return n; /* no rule has it */
}

static void finish(struct cpl_campaign_class *class,
                   const struct class_sums *sums)
{
	class->run_ratio = sums->first > 0 ? sums->here / sums->first : 1;
	class->wait = class->jobs ? sums->wait / class->jobs : 0;
	class->communication_ratio = mean_ratio(sums->logs, class->sending);
}

struct cpl_campaign_class *
cpl_campaign_classes(const struct cpl_campaign *c,
                     const struct cpl_campaign_result *result,
                     const struct cpl_campaign_result *first, int *n,
                     struct cpl_error *err)
{
	size_t room = (size_t)c->jobs->n_rules + 1;
	struct cpl_campaign_class *class = calloc(room, sizeof(*class));
	struct class_sums *sums = calloc(room, sizeof(*sums));
	int known = 0, kept = 0;

	if (!class || !sums) {
		cpl_free_all(class, sums);
		cpl_fail_memory(err);
		return NULL;
	}
	for (int i = 0; i < c->jobs->n_rules; i++) {
		int k = 0;

		while (k < known &&
		       strcmp(class[k].name, c->jobs->rule[i].class))
			k++;
		if (k == known)
			class[known++].name = c->jobs->rule[i].class;
	}
	class[known].name = "none";
	for (int i = 0; i < c->log->n_jobs; i++) {
		const struct cpl_campaign_job *a = &result->job[i];
		const struct cpl_campaign_job *b = &first->job[i];
		int k = class_of(c, i, class, known);

		if (!ran(a))
			continue;
		class[k].jobs++;
		sums[k].here += a->end - a->start;
		sums[k].first += b->end - b->start;
		sums[k].wait += a->start - c->log->job[i].submit;
		if (a->communication > 0 && b->communication > 0) {
			class[k].sending++;
			sums[k].logs += cpl_log_natural(
			        a->communication / b->communication);
		}
	}
	for (int i = 0; i <= known; i++) {
		finish(&class[i], &sums[i]);
		if (class[i].jobs)
			class[kept++] = class[i];
	}
	free(sums);
	*n = kept;
	return class;
}
