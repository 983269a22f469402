/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of the machine as text and JSON. */
#include "status.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/hostlist.h"
#include "base/printable.h"
#include "communication.h"
#include "job_traffic.h"

/* Characters of a job's hosts; `commplace explain` and --json have them all. */
#define HOSTS_MAX 60

const char *status_link_name(const struct cpl_network *net, int64_t link,
                             char *buffer, size_t size)
{
	int64_t cables = cpl_network_port_cables(net);
	bool out = link < net->n_links + cables;
	int64_t cable = (link - net->n_links) % cables;
	char port[24] = "";

	if (net->n_ports > 1)
		snprintf(port, sizeof(port), " port %d",
		         (int)(cable % net->n_ports));

	if (link < 0)
		snprintf(buffer, size, "-");
	else if (link >= cpl_times_inside(net, CPL_INSIDE_NODE))
		communication_accelerator(net, link, buffer, size);
	else if (link < net->n_links)
		snprintf(buffer, size, "%s %d-%d",
		         net->link_class[net->link_class_of[link]].name,
		         net->link_from[link], net->link_to[link]);
	else
		snprintf(buffer, size, "%s of %s%s",
		         out ? "injection" : "ejection",
		         cable >= 0 && net->node_name[cable / net->n_ports]
		                 ? net->node_name[cable / net->n_ports]
		                 : "?",
		         port);
	return buffer;
}
#define LINK_NAME(net, link)                                                   \
	status_link_name(net, link, (char[160]){""}, 160)

static int ranks_of(const struct cpl_running_job *job)
{
	return job->ranks ? job->ranks : job->n_hosts * job->ranks_per_node;
}

static const char *slowdown(const struct status *s, int i, char buffer[32])
{
	if (!s->job || !s->job[i].times)
		return "-";
	snprintf(buffer, 32, "%.2f", s->job[i].slowdown);
	return buffer;
}

static const char *limit(const struct status *s, int i, char buffer[160])
{
	if (!s->job || !s->job[i].times)
		return "-";
	return status_link_name(s->net, s->job[i].result.link, buffer, 160);
}

struct cmd_table *status_jobs(const struct status *s)
{
	struct cmd_table *table = cmd_table_new("rlrrrll");

	cmd_table_row(table, "job|profile|nodes|ranks|slowdown|waits for|hosts");
	for (int i = 0; i < s->state.n_jobs; i++) {
		const struct cpl_running_job *job = &s->state.job[i];
		char *hosts = cpl_hostlist_format(job->host, job->n_hosts);
		bool cut = hosts && strlen(hosts) > HOSTS_MAX;

		if (cut)
			hosts[HOSTS_MAX] = '\0';
		cmd_table_row(table, "%" PRId64 "|%s|%d|%d|%s|%s|%s%s", job->id,
		              job->signature ? job->signature : "-",
		              job->n_hosts, ranks_of(job),
		              slowdown(s, i, (char[32]){""}),
		              limit(s, i, (char[160]){""}), hosts ? hosts : "?",
		              cut ? "..." : "");
		free(hosts);
	}
	return table;
}

struct cmd_table *status_classes(const struct status *s)
{
	struct cmd_table *table = cmd_table_new("lrrrrr");

	cmd_table_row(table, "links|count|used|mean|largest|busiest (s)");
	for (int i = 0; i < s->net->n_classes; i++) {
		const struct cpl_link_class *k = &s->net->link_class[i];
		const struct cpl_class_stats *c = &s->class[i].bytes;

		cmd_table_row(table, "%s|%" PRId64 "|%" PRId64 "|%s|%s|%.6g",
		              k->name, c->count, c->used, CMD_BYTES(c->mean),
		              CMD_BYTES(c->max),
		              c->max / (k->bandwidth / k->cables));
	}
	return table;
}

const char *status_percent(const struct status *s, double ratio,
                           char buffer[32])
{
	if (cpl_network_has_bandwidths(s->net))
		snprintf(buffer, 32, "%.3g %%", 100 * ratio);
	else
		snprintf(buffer, 32, "-");
	return buffer;
}
#define PERCENT(ratio) status_percent(s, ratio, (char[32]){""})

struct cmd_table *status_use(const struct status *s)
{
	struct cmd_table *table = cmd_table_new("lrrrrr");

	cmd_table_row(table, "utilisation|median|75 %%|90 %%|99 %%|busiest");
	for (int i = 0; i < s->net->n_classes; i++) {
		const double *u = s->class[i].utilisation;

		cmd_table_row(table, "%s|%s|%s|%s|%s|%s",
		              s->net->link_class[i].name, PERCENT(u[2]),
		              PERCENT(u[3]), PERCENT(u[4]), PERCENT(u[5]),
		              PERCENT(u[6]));
	}
	return table;
}

/* "17 (80 %), 19 (15 %), 3 more"; free() it. NULL: memory. */
static char *loaders(const struct status *s, const struct status_link *link)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (int i = 0; i < link->n_shares; i++)
		fprintf(out, "%s%" PRId64 " (%.0f %%)", i ? ", " : "",
		        s->state.job[link->share[i].job].id,
		        100 * link->share[i].share);
	if (link->n_jobs > link->n_shares)
		fprintf(out, ", %d more", link->n_jobs - link->n_shares);
	fclose(out);
	return text;
}

/* What the link was measured to carry, and that over its bandwidth. */
static const char *measured(const struct status_link *l, char buffer[32])
{
	snprintf(buffer, 32, l->measured < 0 ? "-" : "%s/s",
	         CMD_BYTES(l->measured));
	return buffer;
}

static const char *measured_use(const struct status *s,
                                const struct status_link *l, char buffer[32])
{
	return l->measured < 0
	               ? "-"
	               : status_percent(s,
	                                l->measured /
	                                        cpl_network_link_bandwidth(
	                                                s->net, l->link),
	                                buffer);
}

/* Without measurements two cells fewer. */
#define LINK_CELLS "%s|%d|%d|%s/s|%s|"
#define LINK_LAST "%.6g|%s"
struct cmd_table *status_links(const struct status *s, int n)
{
	bool both = s->measured.n > 0;
	struct cmd_table *table = cmd_table_new(both ? "lrrrrrrrl" : "lrrrrrl");
	const struct cpl_network *net = s->net;

	cmd_table_row(table,
	              both ? "link|from router|to router|load|utilisation|"
	                     "measured|of link|congestion (s)|jobs (share)"
	                   : "link|from router|to router|load|utilisation|"
	                     "congestion (s)|jobs (share)");
	for (int i = 0; i < s->n_links && i < n; i++) {
		const struct status_link *l = &s->link[i];
		const char *class = net->link_class[net->link_class_of[l->link]]
		                            .name;
		double congestion = s->load.link[l->link] /
		                    cpl_network_link_bandwidth(net, l->link);
		char *jobs = loaders(s, l);
		int from = net->link_from[l->link], to = net->link_to[l->link];

		if (both)
			cmd_table_row(table, LINK_CELLS "%s|%s|" LINK_LAST,
			              class, from, to, CMD_BYTES(l->rate),
			              PERCENT(l->utilisation),
			              measured(l, (char[32]){""}),
			              measured_use(s, l, (char[32]){""}),
			              congestion, jobs ? jobs : "?");
		else
			cmd_table_row(table, LINK_CELLS LINK_LAST, class, from,
			              to, CMD_BYTES(l->rate),
			              PERCENT(l->utilisation), congestion,
			              jobs ? jobs : "?");
		free(jobs);
	}
	return table;
}

bool status_has_load(const struct status *s)
{
	return s->net && s->n_links;
}

/* Job that is slowed down most, or -1. */
static int slowest(const struct status *s)
{
	int most = -1;

	for (int i = 0; s->job && i < s->state.n_jobs; i++)
		if (s->job[i].times &&
		    (most < 0 || s->job[i].slowdown > s->job[most].slowdown))
			most = i;
	return most;
}

uint64_t status_fallbacks(const struct cpl_counters *c, enum cpl_reason *most)
{
	const uint64_t *count = c->count + CPL_COUNT_REASON;
	uint64_t n = 0, largest = 0;

	*most = CPL_REASON_NONE;
	for (int i = 1; i < CPL_REASONS; i++) {
		if (strcmp(cpl_reason_kind(i), "fallback"))
			continue;
		n += count[i];
		if (count[i] > largest) {
			largest = count[i];
			*most = i;
		}
	}
	return n;
}

#define NEXT(...)                                                              \
	do {                                                                   \
		if (n < STATUS_NEXT)                                           \
			snprintf(line[n++], CPL_ERROR_MAX, __VA_ARGS__);       \
	} while (0)

int status_next(const struct status *s, char line[STATUS_NEXT][CPL_ERROR_MAX])
{
	enum cpl_mode mode = s->config ? s->config->mode : CPL_MODE_ON;
	int n = 0, slow = slowest(s);
	enum cpl_reason most;

	if (mode == CPL_MODE_OBSERVE)
		NEXT("Mode=observe places no job: set Mode=on in %.200s when "
		     "`commplace explain` of some jobs looks good",
		     s->config->path);
	if (!s->state.n_jobs)
		NEXT("jobs get a record by `sbatch --comm-profile=NAME`, a "
		     "Match rule or DefaultPolicy: see `commplace config "
		     "check` and `commplace signature list`");
	if (s->skipped)
		NEXT("%d records cannot be read: `commplace replay %.200s` "
		     "names them",
		     s->skipped, s->state_dir);
	if (slow >= 0 && s->job[slow].slowdown >= 1.05)
		NEXT("job %" PRId64 " communicates %.2f times as long as it "
		     "would alone: `commplace explain %" PRId64 "`",
		     s->state.job[slow].id, s->job[slow].slowdown,
		     s->state.job[slow].id);
	if (status_has_load(s) && cpl_network_has_bandwidths(s->net) &&
	    s->link[0].utilisation > 1)
		NEXT("the busiest link is wanted more than it can give; job "
		     "%" PRId64 " loads it most: `commplace explain %" PRId64
		     "`",
		     s->state.job[s->link[0].share[0].job].id,
		     s->state.job[s->link[0].share[0].job].id);
	if (s->has_counters && status_fallbacks(&s->counters, &most))
		NEXT("%" PRIu64 " answers fell back to stock Slurm's: "
		     "`commplace status --counters` says why",
		     status_fallbacks(&s->counters, &most));
	return n;
}

static void print_next(const struct status *s)
{
	char line[STATUS_NEXT][CPL_ERROR_MAX];
	int n = status_next(s, line);

	for (int i = 0; i < n; i++)
		printf("%s%s\n", i ? "      " : "\nnext  ",
		       cpl_printable(line[i]));
}

static int print_table(struct cmd_table *table)
{
	putchar('\n');
	return cmd_table_print(table);
}

static void print_left_out(const struct status *s)
{
	for (int i = 0; s->job && i < s->state.n_jobs; i++)
		if (s->job[i].left_out)
			printf("job %" PRId64 " is not in the load: %s\n",
			       s->state.job[i].id,
			       cpl_printable(s->job[i].left_out));
}

void status_print_measured(const struct status *s, FILE *out)
{
	struct cabling_view cabling = status_cabling(s);
	struct cpl_error why = s->measured.why;

	fprintf(out,
	        "measured %" PRId64 " links %.0f s ago, %s/s on them not of "
	        "these jobs\n",
	        s->measured.n, (double)s->now - s->measured.time,
	        CMD_BYTES(s->others));
	if (s->measured.left_out)
		fprintf(out,
		        "         %" PRId64 " of %" PRId64 " rows are left out; "
		        "the first: %s\n",
		        s->measured.left_out, s->measured.rows,
		        cpl_printable(why.text));
	cabling_print(&cabling, out);
}

int status_print_text(const struct status *s, int n_links)
{
	char name[CPL_ERROR_MAX];

	if (s->config)
		printf("mode     %s (%s)\n", cpl_mode_name(s->config->mode),
		       s->config->path);
	if (s->net)
		printf("network  %s, routing %s\n",
		       cmd_printable(s->net->name, name, sizeof(name)),
		       s->routing->name);
	if (s->skipped)
		printf("skipped  %d unreadable records\n", s->skipped);
	printf("jobs     %d running with a record\n", s->state.n_jobs);
	if (s->net && s->n_slowed && !s->timed)
		printf("rates    some signatures state no times: their jobs "
		       "count as sending all the time\n");
	if (s->measured.n)
		status_print_measured(s, stdout);
	if (s->state.n_jobs && print_table(status_jobs(s)))
		return CMD_FAILED;
	print_left_out(s);
	if (s->net && (print_table(status_classes(s)) ||
	               print_table(status_use(s))))
		return CMD_FAILED;
	if (status_has_load(s) && print_table(status_links(s, n_links)))
		return CMD_FAILED;
	print_next(s);
	return CMD_OK;
}

/* Counters */

struct cmd_table *status_counts(const struct cpl_counters *c)
{
	struct cmd_table *table = cmd_table_new("llr");

	cmd_table_row(table, "counted||");
	for (int i = 0; i < CPL_COUNTERS; i++) {
		struct cpl_counter_name name = cpl_counter_name(i);
		enum cpl_reason reason = i - CPL_COUNT_REASON;

		if (i == CPL_COUNT_REASON + CPL_REASON_NONE)
			continue;
		cmd_table_row(table, "%s|%s%s%s%s|%" PRIu64, name.what,
		              name.value ? name.value : "",
		              i > CPL_COUNT_REASON ? " (" : "",
		              i > CPL_COUNT_REASON ? cpl_reason_kind(reason) : "",
		              i > CPL_COUNT_REASON ? ")" : "", c->count[i]);
	}
	return table;
}

/* The bound below which a share of the times lies, in ms; < 0: above all. */
static double below(const struct cpl_histogram *t, double share)
{
	uint64_t n = cpl_histogram_count(t), sum = 0;

	for (int i = 0; i < CPL_TIME_BOUNDS; i++) {
		sum += t->bucket[i];
		if ((double)sum >= share * (double)n)
			return 1e3 * cpl_counters_bound(i);
	}
	return -1;
}

static const char *bound(const struct cpl_histogram *t, double share,
                         char buffer[32])
{
	double ms = below(t, share);

	if (!cpl_histogram_count(t))
		return "-";
	if (ms < 0)
		snprintf(buffer, 32, "> %g",
		         1e3 * cpl_counters_bound(CPL_TIME_BOUNDS - 1));
	else
		snprintf(buffer, 32, "<= %g", ms);
	return buffer;
}
#define BOUND(t, share) bound(t, share, (char[32]){""})

struct cmd_table *status_times(const struct cpl_counters *c)
{
	struct cmd_table *table = cmd_table_new("llrrrrrr");

	cmd_table_row(table,
	              "milliseconds||times|mean|50 %%|90 %%|99 %%|longest");
	for (int i = 0; i < CPL_TIMERS; i++) {
		struct cpl_counter_name name = cpl_timer_name(i);
		const struct cpl_histogram *t = &c->time[i];
		uint64_t n = cpl_histogram_count(t);

		cmd_table_row(table, "%s|%s|%" PRIu64 "|%.3g|%s|%s|%s|%.3g",
		              name.what, name.value ? name.value : "", n,
		              n ? (double)t->sum / 1e6 / (double)n : 0.0,
		              BOUND(t, 0.5), BOUND(t, 0.9), BOUND(t, 0.99),
		              (double)t->longest / 1e6);
	}
	return table;
}

int status_print_counters(const struct status *s)
{
	time_t since = (time_t)s->counters.since;
	char when[64] = "-";
	struct tm tm;

	if (s->counters_error.text[0]) {
		struct cpl_error err = s->counters_error;

		printf("no counters: %s\n", cpl_printable(err.text));
		return CMD_OK;
	}
	if (!s->has_counters) {
		printf("nothing was counted yet\n");
		return CMD_OK;
	}
	if (gmtime_r(&since, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S UTC", &tm);
	printf("counted since %s\n", when);
	if (print_table(status_counts(&s->counters)) ||
	    print_table(status_times(&s->counters)))
		return CMD_FAILED;
	return CMD_OK;
}

/* JSON */

static json_t *link_json(const struct cpl_network *net, int64_t link)
{
	json_t *out;

	if (link < 0)
		return json_null();
	out = json_pack("{s:s}", "name", LINK_NAME(net, link));
	if (link < net->n_links)
		cpl_json_update(out, "{s:s, s:i, s:i}", "class",
		                net->link_class[net->link_class_of[link]].name,
		                "from", net->link_from[link], "to",
		                net->link_to[link]);
	return out;
}

static void add_times(const struct status *s, int i, json_t *to)
{
	const struct status_job *job = s->job ? &s->job[i] : NULL;

	if (job && job->left_out)
		json_object_set_new(to, "left_out",
		                    json_string(job->left_out));
	if (!job || !job->times)
		return;
	cpl_json_update(to, "{s:f, s:f, s:f, s:f, s:o}", "slowdown",
	                job->slowdown, "seconds", job->result.seconds, "alone",
	                job->result.alone, "waiting", job->result.waiting,
	                "waits_for", link_json(s->net, job->result.link));
}

static json_t *jobs_json(const struct status *s)
{
	json_t *jobs = json_array();

	for (int i = 0; i < s->state.n_jobs; i++) {
		const struct cpl_running_job *job = &s->state.job[i];
		json_t *hosts = json_array(), *one;

		for (int h = 0; h < job->n_hosts; h++)
			json_array_append_new(hosts, json_string(job->host[h]));
		one = json_pack("{s:I,s:s?,s:o,s:i,s:i}", "id",
		                (json_int_t)job->id, "signature",
		                job->signature, "hosts", hosts,
		                "ranks_per_node", job->ranks_per_node, "ranks",
		                job->ranks);
		add_times(s, i, one);
		json_array_append_new(jobs, one);
	}
	return jobs;
}

static json_t *quantiles_json(const double *value)
{
	json_t *out = json_object();

	for (int q = 0; q < STATUS_QUANTILES; q++) {
		char key[16];

		snprintf(key, sizeof(key), "%g", status_quantile[q]);
		json_object_set_new(out, key, json_real(value[q]));
	}
	return out;
}

static json_t *classes_json(const struct status *s)
{
	json_t *classes = json_object();

	for (int i = 0; i < s->net->n_classes; i++) {
		const struct cpl_link_class *k = &s->net->link_class[i];
		json_t *one = class_stats_json(&s->class[i].bytes);

		json_object_set_new(
		        one, "max_congestion",
		        json_real(s->class[i].bytes.max /
		                  (k->bandwidth / k->cables)));
		json_object_set_new(one, "utilisation",
		                    quantiles_json(s->class[i].utilisation));
		json_object_set_new(classes, k->name, one);
	}
	return classes;
}

static json_t *busiest_json(const struct status *s)
{
	json_t *busiest = json_array();

	for (int i = 0; i < s->n_links; i++) {
		const struct status_link *l = &s->link[i];
		json_t *one = link_json(s->net, l->link), *jobs = json_array();
		double bytes = s->load.link[l->link];

		for (int k = 0; k < l->n_shares; k++)
			cpl_json_append(
			        jobs, "{s:I, s:f}", "id",
			        (json_int_t)s->state.job[l->share[k].job].id,
			        "share", l->share[k].share);
		cpl_json_update(
		        one, "{s:f, s:f, s:f, s:f, s:i, s:o}", "bytes", bytes,
		        "congestion",
		        bytes / cpl_network_link_bandwidth(s->net, l->link),
		        "rate", l->rate, "utilisation", l->utilisation,
		        "n_jobs", l->n_jobs, "jobs", jobs);
		if (l->measured >= 0)
			json_object_set_new(one, "measured",
			                    json_real(l->measured));
		json_array_append_new(busiest, one);
	}
	return busiest;
}

static json_t *measured_json(const struct status *s)
{
	struct cabling_view cabling = status_cabling(s);

	return json_pack("{s:f, s:f, s:I, s:I, s:f, s:o}", "time", s->measured.time,
	                 "age", (double)s->now - s->measured.time, "links",
	                 (json_int_t)s->measured.n, "left_out",
	                 (json_int_t)s->measured.left_out, "others", s->others,
	                 "cabling", cabling_json(&cabling));
}

int status_print_json(const struct cmd *self, const struct status *s)
{
	const char *mode = s->config ? cpl_mode_name(s->config->mode) : NULL;
	json_t *root = json_pack("{s:s?, s:o, s:i}", "mode", mode, "jobs",
	                         jobs_json(s), "skipped", s->skipped);

	if (s->net)
		cpl_json_update(root, "{s:s, s:s, s:f, s:f, s:o, s:b, s:o}",
		                "network", s->net->name, "routing",
		                s->routing->name, "max_congestion",
		                s->metrics.max_congestion, "mean_congestion",
		                s->metrics.mean_congestion, "links",
		                classes_json(s), "timed", s->timed, "busiest",
		                busiest_json(s));
	if (s->measured.n)
		json_object_set_new(root, "measured", measured_json(s));
	if (s->has_counters)
		json_object_set_new(root, "counters",
		                    cpl_counters_json(&s->counters));
	return cmd_print_json(self, root);
}
