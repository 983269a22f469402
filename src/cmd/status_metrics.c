/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of the machine as OpenMetrics text (version 1.0.0), which node
 * exporter's textfile collector reads, too. Labels are of fixed sets, but for
 * the classes of links, which the network file names.
 */
#include "status.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "openmetrics.h"

static void gauge(FILE *out, const char *name, const char *help, double value)
{
	metric_family(out, name, "gauge", NULL, help);
	fprintf(out, "commplace_%s %.17g\n", name, value);
}

static void quantiles(FILE *out, const char *name, const char *label,
                      const char *value, const double *quantile)
{
	for (int q = 0; q < STATUS_QUANTILES; q++) {
		fprintf(out, "commplace_%s{", name);
		if (label) {
			metric_label(out, label, value);
			putc(',', out);
		}
		/* "quantile" is a label of summaries, which count. */
		fprintf(out, "percentile=\"%g\"} %.17g\n",
		        100 * status_quantile[q], quantile[q]);
	}
}

static void write_load(const struct status *s, FILE *out)
{
	int left_out = 0;

	for (int i = 0; i < s->state.n_jobs; i++)
		left_out += s->job[i].left_out != NULL;
	gauge(out, "running_jobs_left_out",
	      "Running jobs with a record that are not in the load.", left_out);
	metric_family(out, "link_utilisation_ratio", "gauge", "ratio",
	       "Modelled rate over bandwidth, quantiles of the links of a "
	       "class.");
	for (int i = 0; i < s->net->n_classes; i++)
		if (s->class[i].bytes.count)
			quantiles(out, "link_utilisation_ratio", "class",
			          s->net->link_class[i].name,
			          s->class[i].utilisation);
	if (!s->n_slowed)
		return;
	metric_family(out, "job_slowdown_ratio", "gauge", "ratio",
	       "Predicted communication time over that without other jobs, "
	       "quantiles of the running jobs with a profile.");
	quantiles(out, "job_slowdown_ratio", NULL, NULL, s->slowdown);
}

/* What is counted, in one place; the names are those of cpl_counter_name. */
static const struct {
	const char *what, *help;
} counter[] = {
        {"decisions", "Answers to the scheduler, also those that began no "
                      "job."},
        {"cut_short", "Decisions that MaxDecisionTime ended."},
        {"cache_answers", "Decisions asked for, by whether one was at hand."},
        {"job_starts", "Jobs that began and have a record."},
        {"trial_starts", "Those of them that are in a trial."},
        {"stock_answers", "Why the answer was stock Slurm's: as user or site "
                          "want it (wish), for lack of nodes (state), or for "
                          "a fault (fallback)."},
};

static void write_counter(const struct cpl_counters *c, const char *what,
                          FILE *out)
{
	for (int i = 0; i < CPL_COUNTERS; i++) {
		struct cpl_counter_name name = cpl_counter_name(i);

		if (strcmp(name.what, what) ||
		    i == CPL_COUNT_REASON + CPL_REASON_NONE)
			continue;
		fprintf(out, "commplace_%s_total", what);
		if (name.label)
			fprintf(out, "{%s=\"%s\"", name.label, name.value);
		if (i > CPL_COUNT_REASON)
			fprintf(out, ",kind=\"%s\"",
			        cpl_reason_kind(i - CPL_COUNT_REASON));
		fprintf(out, "%s %" PRIu64 "\n", name.label ? "}" : "",
		        c->count[i]);
	}
}

static void write_histogram(const struct cpl_histogram *h,
                            struct cpl_counter_name name, FILE *out)
{
	char label[64] = "", only[64] = "";
	uint64_t sum = 0;

	if (name.label) {
		snprintf(label, sizeof(label), "%s=\"%s\",", name.label,
		         name.value);
		snprintf(only, sizeof(only), "{%s=\"%s\"}", name.label,
		         name.value);
	}
	for (int i = 0; i < CPL_TIME_BUCKETS; i++) {
		char bound[32] = "+Inf";

		sum += h->bucket[i];
		if (i < CPL_TIME_BOUNDS)
			snprintf(bound, sizeof(bound), "%g%s",
			         cpl_counters_bound(i),
			         cpl_counters_bound(i) >= 1 ? ".0" : "");
		fprintf(out,
		        "commplace_%s_seconds_bucket{%sle=\"%s\"} %" PRIu64
		        "\n",
		        name.what, label, bound, sum);
	}
	fprintf(out, "commplace_%s_seconds_count%s %" PRIu64 "\n", name.what,
	        only, sum);
	fprintf(out, "commplace_%s_seconds_sum%s %.9f\n", name.what, only,
	        (double)h->sum / 1e9);
}

static void write_counters(const struct cpl_counters *c, FILE *out)
{
	for (size_t i = 0; i < sizeof(counter) / sizeof(counter[0]); i++) {
		metric_family(out, counter[i].what, "counter", NULL, counter[i].help);
		write_counter(c, counter[i].what, out);
	}
	metric_family(out, "decision_seconds", "histogram", "seconds",
	       "Time of decisions, without the scheduler's own.");
	write_histogram(&c->time[CPL_TIME_DECISION],
	                cpl_timer_name(CPL_TIME_DECISION), out);
	metric_family(out, "lock_held_seconds", "histogram", "seconds",
	       "Time that slurmctld's locks are held longer, by hook.");
	for (int i = CPL_TIME_DECISION + 1; i < CPL_TIMERS; i++)
		write_histogram(&c->time[i], cpl_timer_name(i), out);
	metric_family(out, "lock_held_longest_seconds", "gauge", "seconds",
	       "The longest of these times.");
	for (int i = CPL_TIME_DECISION + 1; i < CPL_TIMERS; i++)
		fprintf(out,
		        "commplace_lock_held_longest_seconds{hook=\"%s\"} "
		        "%.9f\n",
		        cpl_timer_name(i).value,
		        (double)c->time[i].longest / 1e9);
	metric_family(out, "counters_since_seconds", "gauge", "seconds",
	       "When counting began, in seconds since 1970.");
	fprintf(out, "commplace_counters_since_seconds %" PRId64 "\n",
	        c->since);
}

void status_write_metrics(const struct status *s, FILE *out)
{
	gauge(out, "running_jobs", "Running jobs with a record.",
	      s->state.n_jobs);
	gauge(out, "unreadable_records", "Records that cannot be read.",
	      s->skipped);
	if (s->net)
		write_load(s, out);
	if (s->has_counters)
		write_counters(&s->counters, out);
	fputs("# EOF\n", out);
}
