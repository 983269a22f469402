/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reports of a campaign: tables, JSON, events, the picture. */
#include <stdlib.h>

#include "base/file.h"
#include "base/sort.h"
#include "campaign.h"
#include "plot/plot.h"

/* Percent above (+) or below another. */
static double change(double value, double first)
{
	return first > 0 ? 100 * (value / first - 1) : 0;
}

static int print_policies(const struct campaign *c)
{
	struct cmd_table *table = cmd_table_new("lrrrrrrrrrrr");

	cmd_table_row(table, "policy|communication|slowdown|run time|wait "
	                     "h|bounded|makespan d|used|useful|busiest "
	                     "link|interference|fragmented");
	for (int i = 0; i < c->n; i++) {
		const struct cpl_campaign_summary *s = &c->summary[i];

		cmd_table_row(table,
		              "%s|%+.1f %%|%.3f|%+.2f %%|%.2f|%.2f|%.2f|%.1f "
		              "%%|%.1f %%|%.2f .. %.2f|%+.3f %%|%.1f %%",
		              c->policy[i], 100 * (s->communication_ratio - 1),
		              s->slowdown, change(s->run, c->summary[0].run),
		              s->wait.mean / 3600, s->bounded_slowdown.mean,
		              s->makespan / 86400, 100 * s->utilisation,
		              100 * s->useful, s->busiest.median,
		              s->busiest.q95, 100 * s->interference,
		              100 * s->fragmented);
	}
	return cmd_table_print(table);
}

static int print_bounds(const struct campaign *c)
{
	struct cmd_table *table = cmd_table_new("lrrr");

	cmd_table_row(table, "policy|occupancy|segments|across domains");
	for (int i = 0; i < c->n; i++) {
		const struct cpl_campaign_summary *s = &c->summary[i];

		cmd_table_row(table, "%s|%.2f %%|%lld|%lld", c->policy[i],
		              100 * s->occupancy, (long long)s->groups,
		              (long long)s->crossed);
	}
	return cmd_table_print(table);
}

static int print_timing(const struct campaign *c)
{
	struct cmd_table *table = cmd_table_new("lrrrr");

	cmd_table_row(table, "policy|decision ms|median|95 %%|max");
	for (int i = 0; i < c->n; i++) {
		const struct cpl_campaign_spread *s = &c->summary[i].decision;

		cmd_table_row(table, "%s|%.3f|%.3f|%.3f|%.3f", c->policy[i],
		              1e3 * s->mean, 1e3 * s->median, 1e3 * s->q95,
		              1e3 * s->max);
	}
	return cmd_table_print(table);
}

static int print_classes(const struct campaign *c, struct cpl_error *err)
{
	struct cmd_table *table = cmd_table_new("llrrrr");

	cmd_table_row(table, "policy|class|jobs|communication|run time|wait h");
	for (int i = 1; i < c->n; i++) {
		int n;
		struct cpl_campaign_class *class =
		        cpl_campaign_classes(&c->core, &c->result[i],
		                             &c->result[0], &n, err);

		if (!class)
			break;
		for (int k = 0; k < n; k++)
			cmd_table_row(table,
			              "%s|%s|%d|%+.1f %%|%+.2f %%|%.2f",
			              c->policy[i], class[k].name,
			              class[k].jobs,
			              100 * (class[k].communication_ratio - 1),
			              100 * (class[k].run_ratio - 1),
			              class[k].wait / 3600);
		free(class);
	}
	return cmd_table_print(table);
}

/* The policy that takes fewest node hours for the same jobs; of equals the
 * first. */
static int cheapest(const struct campaign *c)
{
	int best = 0;

	for (int i = 1; i < c->n; i++)
		if (c->summary[i].node_seconds < c->summary[best].node_seconds)
			best = i;
	return best;
}

/* How many jobs of the log run longer than under the first policy, and by how
 * much the worst of them does, as a fraction. */
static int count_longer(const struct campaign *c, int policy, double *most)
{
	int n = 0;

	*most = 0;
	for (int i = 0; i < c->log.n_jobs; i++) {
		const struct cpl_campaign_job *here = &c->result[policy].job[i];
		const struct cpl_campaign_job *first = &c->result[0].job[i];
		double longer =
		        here->end - here->start - (first->end - first->start);
		double part = longer / (first->end - first->start);

		if (here->start < 0 || first->start < 0 || !(part > 1e-9))
			continue;
		n++;
		*most = part > *most ? part : *most;
	}
	return n;
}

/* What a policy makes worse than the first one does, though its jobs take less
 * time. */
static void print_price(const struct campaign *c, int policy)
{
	const struct cpl_campaign_summary *s = &c->summary[policy];
	const struct cpl_campaign_summary *first = &c->summary[0];
	bool busier = s->busiest.median > first->busiest.median * 1.005;
	bool harms = s->interference > first->interference * 1.005;
	double most;
	int longer = count_longer(c, policy, &most);

	if (longer)
		printf(", though %d of %d jobs run longer, by %.1f %% at most",
		       longer, s->jobs, 100 * most);
	if (busier)
		printf("%s the busiest link is busier (%.2f, %s %.2f)",
		       longer ? "," : ", though", s->busiest.median,
		       c->policy[0], first->busiest.median);
	if (harms)
		printf("%s a start adds more to the jobs that run (%.3f %%, %s "
		       "%.3f %%)",
		       longer || busier ? "," : ", though",
		       100 * s->interference, c->policy[0],
		       100 * first->interference);
}

/* Print one sentence on what was measured here. */
static void print_verdict(const struct campaign *c)
{
	int best = cheapest(c);
	double hours = c->summary[best].node_seconds / 3600;
	double first = c->summary[0].node_seconds / 3600;

	if (c->n < 2)
		return;
	printf("\nFewest node hours for these jobs: %s, %.6g", c->policy[best],
	       hours);
	if (best) {
		printf(" where %s takes %.6g (%+.2f %%)", c->policy[0], first,
		       change(hours, first));
		print_price(c, best);
	}
	printf(".\n");
}

int campaign_print_text(const struct cmd *self, const struct campaign *c)
{
	const struct cpl_campaign_result *first = &c->result[0];
	struct cpl_error err = {""};
	int rc = print_policies(c);

	if (rc == CMD_OK && first->bounded) {
		printf("\n");
		rc = print_bounds(c);
	}
	if (rc == CMD_OK && c->timing) {
		printf("\n");
		rc = print_timing(c);
	}
	if (rc == CMD_OK && c->n > 1) {
		printf("\n");
		rc = print_classes(c, &err);
		if (rc == CMD_OK && err.text[0])
			rc = cmd_fail(self, &err);
	}
	if (rc != CMD_OK)
		return rc;
	printf("\n%d jobs, %d of which communicate; changes are against %s",
	       c->summary[0].jobs, c->summary[0].sending, c->policy[0]);
	if (c->log.left_out)
		printf("; %d of the log never ran", c->log.left_out);
	if (first->too_large)
		printf("; %d want more nodes than there are%s",
		       first->too_large,
		       first->bounded ? " as they ask for them" : "");
	if (first->other_ranks)
		printf("; %d send nothing: their signature is for other ranks",
		       first->other_ranks);
	printf("\n");
	print_verdict(c);
	return CMD_OK;
}

static json_t *spread_json(const struct cpl_campaign_spread *s)
{
	return json_pack("{s:f, s:f, s:f, s:f}", "mean", s->mean, "median",
	                 s->median, "q95", s->q95, "max", s->max);
}

static json_t *classes_json(const struct campaign *c, int i)
{
	struct cpl_error err = {""};
	int n = 0;
	struct cpl_campaign_class *class = cpl_campaign_classes(
	        &c->core, &c->result[i], &c->result[0], &n, &err);
	json_t *array = class ? json_array() : NULL;

	for (int k = 0; array && k < n; k++)
		if (cpl_json_append(array, "{s:s, s:i, s:i, s:f, s:f, s:f}",
		                    "class", class[k].name, "jobs",
		                    class[k].jobs, "communicating",
		                    class[k].sending, "communication_ratio",
		                    class[k].communication_ratio, "run_ratio",
		                    class[k].run_ratio, "wait",
		                    class[k].wait)) {
			json_decref(array);
			array = NULL;
		}
	free(class);
	return array;
}

static json_t *policy_json(const struct campaign *c, int i)
{
	const struct cpl_campaign_summary *s = &c->summary[i];
	json_t *one = json_pack(
	        "{s:s, s:i, s:i, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, "
	        "s:f, s:f, s:f, s:I, s:I, s:o, s:o, s:o, s:o}",
	        "policy", c->policy[i], "jobs", s->jobs, "communicating",
	        s->sending, "communication_ratio", s->communication_ratio,
	        "slowdown", s->slowdown, "communication", s->communication,
	        "run", s->run, "node_seconds", s->node_seconds, "makespan",
	        s->makespan, "utilisation", s->utilisation, "useful", s->useful,
	        "study_cost", s->cost, "interference", s->interference,
	        "fragmented", s->fragmented, "occupancy", s->occupancy,
	        "segments", (json_int_t)s->groups, "across_domains",
	        (json_int_t)s->crossed, "wait", spread_json(&s->wait),
	        "bounded_slowdown", spread_json(&s->bounded_slowdown),
	        "busiest_link", spread_json(&s->busiest), "classes",
	        classes_json(c, i));

	if (one && c->timing)
		json_object_set_new(one, "decision",
		                    spread_json(&s->decision));
	return one;
}

int campaign_print_json(const struct cmd *self, const struct campaign *c)
{
	const struct cpl_campaign_result *first = &c->result[0];
	json_t *array = json_array();

	for (int i = 0; array && i < c->n; i++)
		if (json_array_append_new(array, policy_json(c, i))) {
			json_decref(array);
			array = NULL;
		}
	return cmd_print_pack(self, "{s:i, s:i, s:i, s:i, s:o}", "jobs",
	                      c->summary[0].jobs, "never_ran", c->log.left_out,
	                      "too_large", first->too_large, "other_ranks",
	                      first->other_ranks, "policies", array);
}

/* A start or an end. */
struct event {
	double time;
	int job;
	bool start;
};

/* At one moment ends come first. */
static CPL_SORT_BY(by_time, struct event, CPL_UP(time), CPL_UP(start), CPL_UP(job))

static void write_event(const struct campaign *c, int policy,
                        const struct event *e, FILE *out)
{
	const struct cpl_log_job *log = &c->log.job[e->job];
	const struct cpl_campaign_job *job = &c->result[policy].job[e->job];
	char *hosts = e->start ? cmd_hosts_text(c->net, job->node, log->nodes)
	                       : NULL;

	fprintf(out, "%s\t%.3f\t%s\t%s\t%d\t%.17g\t%.17g\t%s\n",
	        c->policy[policy], e->time, e->start ? "start" : "end",
	        log->label, log->nodes, job->slowdown, job->communication,
	        hosts ? hosts : "");
	free(hosts);
}

static int write_events(const struct campaign *c, FILE *out,
                        struct cpl_error *err)
{
	int n_jobs = c->log.n_jobs;
	struct event *event = malloc((2 * (size_t)n_jobs + 1) * sizeof(*event));

	if (!event)
		return cpl_fail_memory(err);
	fprintf(out, "# policy\tseconds\tevent\tjob\tnodes\tslowdown"
	             "\tcommunication\thosts\n");
	for (int i = 0; i < c->n; i++) {
		int n = 0;

		for (int k = 0; k < n_jobs; k++) {
			const struct cpl_campaign_job *job =
			        &c->result[i].job[k];

			if (job->start < 0)
				continue;
			event[n++] = (struct event){job->start, k, true};
			event[n++] = (struct event){job->end, k, false};
		}
		qsort(event, (size_t)n, sizeof(*event), by_time);
		for (int k = 0; k < n; k++)
			write_event(c, i, &event[k], out);
	}
	free(event);
	return 0;
}

enum { WIDTH = 960, LEFT = 220, RIGHT = 120, ROW = 22, HEAD = 48, TITLE = 40 };

/* One number of each policy as a bar. */
struct bars {
	const char *title, *format;
	double value[CAMPAIGN_MAX_POLICIES];
};

static void draw_bars(const struct campaign *c, const struct bars *bars,
                      double top, FILE *out)
{
	double most = 0;

	plot_text(out, 24, top + 26, 15, "start", "font-weight=\"bold\"",
	          bars->title);
	for (int i = 0; i < c->n; i++)
		if (bars->value[i] > most)
			most = bars->value[i];
	for (int i = 0; i < c->n; i++) {
		double y = top + HEAD + ROW * i;
		double width = most > 0 ? (WIDTH - LEFT - RIGHT) *
		                                  bars->value[i] / most
		                        : 0;
		char text[64];

		plot_text(out, LEFT - 8, y + 13, 13, "end", NULL, c->policy[i]);
		plot_rect(out, LEFT, y, width, ROW - 6,
		          i ? "#0072b2" : "#999999", NULL);
		snprintf(text, sizeof(text), "%.4g%s", bars->value[i],
		         bars->format);
		plot_text(out, LEFT + width + 6, y + 13, 13, "start", NULL,
		          text);
	}
}

static void write_plot(const struct campaign *c, FILE *out)
{
	char ratio[160];
	struct bars bars[] = {
	        {.title = ratio, .format = " %"},
	        {.title = "Waiting time, mean", .format = " h"},
	        {.title = "Busiest link, utilisation: median over time",
	         .format = ""},
	        {.title = "Time that a start adds to the jobs that run (mean)",
	         .format = " %"},
	};
	int n = (int)(sizeof(bars) / sizeof(*bars));
	double panel = HEAD + ROW * c->n + 12;
	char title[256];

	for (int i = 0; i < c->n; i++) {
		const struct cpl_campaign_summary *s = &c->summary[i];

		bars[0].value[i] = 100 * s->communication_ratio;
		bars[1].value[i] = s->wait.mean / 3600;
		bars[2].value[i] = s->busiest.median;
		bars[3].value[i] = 100 * s->interference;
	}
	snprintf(ratio, sizeof(ratio),
	         "Communication time, %s = 100 %% (geometric mean of jobs)",
	         c->policy[0]);
	plot_begin(out, WIDTH, TITLE + n * panel + 12);
	snprintf(title, sizeof(title), "%.100s: %d jobs, %d communicate",
	         c->net->name, c->summary[0].jobs, c->summary[0].sending);
	plot_text(out, 24, 30, 18, "start", "font-weight=\"bold\"", title);
	for (int i = 0; i < n; i++)
		draw_bars(c, &bars[i], TITLE + i * panel, out);
	plot_end(out);
}

int campaign_write(const struct campaign *c, const char *events,
                   const char *plot, struct cpl_error *err)
{
	struct cmd_file file[] = {{.path = events}, {.path = plot}};
	int rc = cmd_files_open(file, 2, err);

	if (rc)
		return rc;
	if (events)
		rc = write_events(c, cpl_file_stream(file[0].writer), err);
	if (plot)
		write_plot(c, cpl_file_stream(file[1].writer));
	return cmd_files_close(file, 2, rc, err);
}
