/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of the machine as a page. */
#include "status.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "explain.h"
#include "html.h"
#include "plot/plot.h"

#define COLOURS 7 /* jobs with a colour of their own */

/* Jobs by the colours that they have in the figure of links. */
struct coloured {
	int n;
	int job[COLOURS];
};

/* The job's colour; the first ones seen get one. */
static int colour_of(struct coloured *c, int job)
{
	for (int i = 0; i < c->n; i++)
		if (c->job[i] == job)
			return i;
	if (c->n == COLOURS)
		return PLOT_GREY;
	c->job[c->n] = job;
	return c->n++;
}

/* How loads are drawn: of what links can give, or in bytes a second where the network
 * does not say how much that is. */
struct load_scale {
	double by;
	const char *unit;
};

static struct load_scale scale_of(const struct status *s, double most)
{
	static const struct load_scale percent = {100, " %"},
	                               bytes[] = {{1e-9, " GB/s"},
	                                          {1e-6, " MB/s"},
	                                          {1e-3, " kB/s"},
	                                          {1, " B/s"}};
	int i = 0;

	if (cpl_network_has_bandwidths(s->net))
		return percent;
	while (i < 3 && most * bytes[i].by < 1)
		i++;
	return bytes[i];
}

static void draw_links(const struct status *s, FILE *out)
{
	const struct load_scale scale = scale_of(s, s->link[0].utilisation);
	struct plot_bar bar[STATUS_LINKS] = {{.n_parts = 0}};
	struct plot_legend legend[COLOURS + 1];
	struct coloured coloured = {0};
	struct plot_bars plot = {
	        .title = "Busiest links, and the jobs that load them",
	        .unit = scale.unit,
	        .n = s->n_links,
	        .bar = bar,
	        .line = s->link[0].utilisation > 1 &&
	                                cpl_network_has_bandwidths(s->net)
	                        ? 100
	                        : -1,
	        .line_text = "all that the link can give",
	        .legend = legend,
	};
	bool others = false;

	for (int i = 0; i < s->n_links; i++) {
		const struct status_link *l = &s->link[i];
		double full = scale.by * l->utilisation, rest = full;
		int k = 0;

		status_link_name(s->net, l->link, bar[i].label,
		                 sizeof(bar[i].label));
		snprintf(bar[i].note, sizeof(bar[i].note), "%.3g%s, %d job%s",
		         full, scale.unit, l->n_jobs, l->n_jobs > 1 ? "s" : "");
		for (; k < l->n_shares; k++) {
			bar[i].part[k] = full * l->share[k].share;
			bar[i].colour[k] =
			        colour_of(&coloured, l->share[k].job);
			others |= bar[i].colour[k] == PLOT_GREY;
			rest -= bar[i].part[k];
		}
		/* What rounding leaves is no job. */
		if (l->n_jobs > k && rest > 0) {
			bar[i].part[k] = rest;
			bar[i].colour[k++] = PLOT_GREY;
			others = true;
		}
		bar[i].n_parts = k;
	}
	for (int i = 0; i < coloured.n; i++) {
		struct plot_legend *l = &legend[plot.n_legend++];

		snprintf(l->text, sizeof(l->text), "job %" PRId64,
		         s->state.job[coloured.job[i]].id);
		l->colour = i;
	}
	if (others)
		legend[plot.n_legend++] =
		        (struct plot_legend){"others", PLOT_GREY};
	html_figure(out, false);
	plot_write_bars(&plot, out);
	html_figure_end(out);
}

/* Median, 90 %, 99 % and the busiest of each class, one on the other. */
static void draw_classes(const struct status *s, FILE *out)
{
	static const struct plot_legend legend[] = {{"half of the links", 4},
	                                            {"90 %", 0},
	                                            {"99 %", 1},
	                                            {"all", 5}};
	static const int quantile[] = {2, 4, 5, 6};
	const struct load_scale scale = scale_of(s, s->link[0].utilisation);
	struct plot_bar bar[CPL_NETWORK_MAX_CLASSES] = {{.n_parts = 0}};
	struct plot_bars plot = {.title = cpl_network_has_bandwidths(s->net)
	                                          ? "Utilisation of the links "
	                                            "by class"
	                                          : "Load of the links by class",
	                         .unit = scale.unit,
	                         .bar = bar,
	                         .line = -1,
	                         .n_legend = 4,
	                         .legend = legend};

	for (int i = 0; i < s->net->n_classes; i++) {
		const double *u = s->class[i].utilisation;
		struct plot_bar *b = &bar[plot.n];

		if (!s->class[i].bytes.count)
			continue;
		snprintf(b->label, sizeof(b->label), "%s",
		         s->net->link_class[i].name);
		snprintf(b->note, sizeof(b->note), "busiest %.3g%s",
		         scale.by * u[STATUS_QUANTILES - 1], scale.unit);
		b->n_parts = 4;
		for (int k = 0; k < 4; k++) {
			double from = k ? u[quantile[k - 1]] : 0;

			b->part[k] = scale.by * (u[quantile[k]] - from);
			b->colour[k] = legend[k].colour;
		}
		plot.n++;
	}
	html_figure(out, false);
	plot_write_bars(&plot, out);
	html_figure_end(out);
}

static int draw_map(const struct status *s, FILE *out, struct cpl_error *err)
{
	char title[160], subtitle[320];
	int rc;

	if (!plot_has_map(s->net))
		return 0;
	snprintf(title, sizeof(title), "Link loads on %.100s", s->net->name);
	snprintf(subtitle, sizeof(subtitle), "%d running jobs, routing %s",
	         s->n_slowed, s->routing->name);
	html_figure(out, true);
	rc = plot_write_map(s->net, s->rate.link, true, title, subtitle, out,
	                    err);
	html_figure_end(out);
	return rc;
}

static void draw_times(const struct cpl_histogram *h, const char *title,
                       FILE *out)
{
	struct plot_bar bar[CPL_TIME_BUCKETS] = {{.n_parts = 0}};
	struct plot_bars plot = {
	        .title = title, .unit = "", .bar = bar, .line = -1};
	int last = CPL_TIME_BUCKETS - 1;

	while (last > 0 && !h->bucket[last])
		last--;
	for (int i = 0; i <= last; i++) {
		struct plot_bar *b = &bar[plot.n++];
		bool above = i == CPL_TIME_BOUNDS;

		snprintf(b->label, sizeof(b->label), "%s %g ms",
		         above ? ">" : "\u2264",
		         1e3 * cpl_counters_bound(above ? i - 1 : i));
		snprintf(b->note, sizeof(b->note), "%" PRIu64, h->bucket[i]);
		b->n_parts = 1;
		b->part[0] = (double)h->bucket[i];
	}
	html_figure(out, false);
	plot_write_bars(&plot, out);
	html_figure_end(out);
}

/* All hooks together. */
static struct cpl_histogram held(const struct cpl_counters *c)
{
	struct cpl_histogram all = {.sum = 0};

	for (int i = CPL_TIME_DECISION + 1; i < CPL_TIMERS; i++)
		for (int k = 0; k < CPL_TIME_BUCKETS; k++)
			all.bucket[k] += c->time[i].bucket[k];
	return all;
}

static uint64_t answers(const struct cpl_counters *c)
{
	return c->count[CPL_COUNT_PLACED] + c->count[CPL_COUNT_OBSERVED] +
	       c->count[CPL_COUNT_STOCK];
}

static void write_cards(const struct status *s, FILE *out)
{
	html_cards(out);
	html_card(out, "mode", "%s",
	          s->config ? cpl_mode_name(s->config->mode) : "unknown");
	html_card(out, "running jobs with a record", "%d", s->state.n_jobs);
	if (s->net) {
		html_card(out, "network", "%s, %d nodes", s->net->name,
		          s->net->n_nodes);
		html_card(out, "busiest link", "%s",
		          status_percent(
		                  s, s->n_links ? s->link[0].utilisation : 0,
		                  (char[32]){""}));
	}
	if (s->n_slowed) {
		html_card(out, "slowdown, median job", "%.2f", s->slowdown[2]);
		html_card(out, "slowdown, worst job", "%.2f",
		          s->slowdown[STATUS_QUANTILES - 1]);
	}
	if (s->has_counters && answers(&s->counters))
		html_card(out, "answers that placed a job", "%.3g %%",
		          100 * (double)s->counters.count[CPL_COUNT_PLACED] /
		                  (double)answers(&s->counters));
	html_cards_end(out);
}

static void write_next(const struct status *s, FILE *out)
{
	char line[STATUS_NEXT][CPL_ERROR_MAX];

	html_next(out, status_next(s, line), line);
}

static int write_jobs(const struct status *s, FILE *out, struct cpl_error *err)
{
	html_section(out, "Running jobs",
	             s->timed ? "Slowdown: predicted communication time under "
	                        "the others' traffic over that without it."
	                      : "Slowdown: predicted communication time under "
	                        "the others' traffic over that without it. Some "
	                        "signatures state no times: their jobs count as "
	                        "sending all the time.");
	if (html_jobs_table(out, status_jobs(s), 0, err))
		return -1;
	for (int i = 0; s->job && i < s->state.n_jobs; i++) {
		char text[2 * CPL_ERROR_MAX];
		const char *line = text;

		if (!s->job[i].left_out)
			continue;
		snprintf(text, sizeof(text),
		         "job %" PRId64 " is not in the load: %s",
		         s->state.job[i].id, s->job[i].left_out);
		html_item(out, line);
	}
	return 0;
}

/* What was measured, line by line as on a terminal. */
static int write_measured(const struct status *s, FILE *out,
                          struct cpl_error *err)
{
	char *text = NULL, *line;
	size_t size;
	FILE *lines = open_memstream(&text, &size);

	if (!lines)
		return cpl_fail_memory(err);
	status_print_measured(s, lines);
	if (fclose(lines)) {
		free(text);
		return cpl_fail_memory(err);
	}
	html_section(out, "Measured links",
	             "What switches or network adapters counted (MeasuredLinks), "
	             "and whether cables are where the network file has them.");
	for (char *rest = text; (line = strsep(&rest, "\n")) && *line;)
		html_item(out, line + strspn(line, " "));
	free(text);
	return 0;
}

static int write_links(const struct status *s, FILE *out, struct cpl_error *err)
{
	html_section(out, "Links",
	             "Rates are the signatures' bytes over their run times; "
	             "utilisation is a link's rate over its bandwidth.");
	draw_classes(s, out);
	if (html_table(out, status_use(s), err) ||
	    html_folded(out, "bytes by class", status_classes(s), err))
		return -1;
	if (!status_has_load(s))
		return 0;
	draw_links(s, out);
	if (html_jobs_table(out, status_links(s, STATUS_LINKS), 6, err))
		return -1;
	return draw_map(s, out, err);
}

/* Why a job is where it is, by the record of its decision. */
static int write_why(const struct cpl_record *r, FILE *out,
                     struct cpl_error *err)
{
	char text[2 * CPL_ERROR_MAX];

	snprintf(text, sizeof(text),
	         "job %" PRId64 " (%.100s): %s by policy %.60s, %d nodes, %d "
	         "ranks",
	         r->job, r->job_name ? r->job_name : "-",
	         cpl_outcome_name(r->outcome), r->policy ? r->policy : "-",
	         r->n_hosts, r->ranks);
	html_job(out, r->job, text);
	if (html_table(out, explain_facts(r), err) ||
	    (explain_has_compare(r) &&
	     html_table(out, explain_compare(r), err)) ||
	    (r->n_candidates && html_table(out, explain_candidates(r), err)))
		return -1;
	html_job_end(out);
	return 0;
}

static int write_decisions(const struct status *s, FILE *out,
                           struct cpl_error *err)
{
	int rc = 0;

	if (!s->state.n_jobs)
		return 0;
	html_section(out, "Why each job is where it is",
	             "`commplace explain JOBID --html FILE` has what a job and "
	             "its neighbours put on the links, too.");
	for (int i = 0; i < s->state.n_jobs && !rc; i++) {
		struct cpl_error why = {""};
		bool ended;
		struct cpl_record *r =
		        cpl_record_find(s->state_dir, s->state.job[i].id,
		                        &ended, &why);
		const char *line = why.text;

		if (r)
			rc = write_why(r, out, err);
		else
			html_item(out, line);
		cpl_record_free(r);
	}
	return rc;
}

static int write_counters(const struct status *s, FILE *out,
                          struct cpl_error *err)
{
	struct cpl_histogram all = held(&s->counters);
	time_t since = (time_t)s->counters.since;
	char text[96] = "";
	struct tm tm;

	if (gmtime_r(&since, &tm))
		strftime(text, sizeof(text),
		         "Counted since %Y-%m-%d %H:%M:%S UTC.", &tm);
	html_section(out, "What the scheduler asked", text);
	draw_times(&s->counters.time[CPL_TIME_DECISION], "Time of decisions",
	           out);
	draw_times(&all, "slurmctld's locks held longer by commplace", out);
	return html_table(out, status_times(&s->counters), err) ||
	                       html_folded(out, "all counters",
	                                   status_counts(&s->counters), err)
	               ? -1
	               : 0;
}

int status_write_html(const struct status *s, FILE *out, struct cpl_error *err)
{
	char when[64] = "-", subtitle[CPL_ERROR_MAX];
	time_t now = (time_t)s->now;
	struct tm tm;

	if (gmtime_r(&now, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S UTC", &tm);
	snprintf(subtitle, sizeof(subtitle), "%s, records in %.300s", when,
	         s->state_dir);
	html_begin(out, "commplace: the machine now", subtitle, s->every);
	write_cards(s, out);
	write_next(s, out);
	if (write_jobs(s, out, err) || (s->net && write_links(s, out, err)) ||
	    (s->measured.n && write_measured(s, out, err)) ||
	    write_decisions(s, out, err) ||
	    (s->has_counters && write_counters(s, out, err)))
		return -1;
	html_end(out, HTML_MODEL);
	return 0;
}
