/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "simulate.h"

#include <inttypes.h>
#include <string.h>

#include "base/file.h"

static const char *routing_name(const struct simulate *s)
{
	return s->options.choice == &cpl_sim_static ? s->options.routing->name
	                                            : s->options.choice->name;
}

static const char *how(const struct job_traffic *job)
{
	return job->policy      ? job->policy
	       : job->rank_file ? "rank-file"
	       : job->hosts     ? "hosts"
	                        : "node-file";
}

/* Means over the ranks. */
static struct cpl_sim_rank mean_of(const struct cpl_sim_job_times *job,
                                   double *idle)
{
	struct cpl_sim_rank mean = {0};

	*idle = 0;
	for (int r = 0; r < job->n_ranks; r++) {
		const struct cpl_sim_rank *rank = &job->rank[r];

		mean.compute += rank->compute;
		mean.communication += rank->communication;
		mean.waiting += rank->waiting;
		*idle += job->end - rank->end;
	}
	mean.compute /= job->n_ranks;
	mean.communication /= job->n_ranks;
	mean.waiting /= job->n_ranks;
	*idle /= job->n_ranks;
	return mean;
}

static json_t *phases_json(const struct cpl_sim_job_times *job)
{
	json_t *phases = json_array();

	for (int i = 0; i < job->n_phases; i++) {
		const struct cpl_sim_phase *p = &job->phase[i];

		cpl_json_append(
		        phases, "{s:s, s:f, s:i, s:f, s:f, s:f, s:f, s:f}",
		        "name", p->name, "weight", p->weight, "executions",
		        p->executions, "end", p->end, "seconds", p->seconds,
		        "compute", p->compute, "communication",
		        p->communication, "waiting", p->waiting);
	}
	return phases;
}

static json_t *jobs_json(const struct simulate *s)
{
	json_t *jobs = json_array();

	for (int i = 0; i < s->jobs.n; i++) {
		const struct job_traffic *job = &s->jobs.job[i];
		const struct cpl_sim_job_times *times = &s->result.job[i];
		double idle;
		struct cpl_sim_rank mean = mean_of(times, &idle);
		json_t *one = json_pack(
		        "{s:s, s:i, s:s, s:o, s:f, s:f, s:f, s:f, s:f, s:f, "
		        "s:f, s:f, s:o}",
		        "signature", job->sig->name, "ranks", job->ranks,
		        "placement", how(job), "hosts",
		        cmd_hosts_json(s->net, job->node,
		                       job->rank_file ? job->ranks
		                                      : job->n_nodes),
		        "start", times->start, "end", times->end, "seconds",
		        times->end - times->start, "run_seconds", times->run,
		        "compute", mean.compute, "communication",
		        mean.communication, "waiting", mean.waiting, "idle",
		        idle, "phases", phases_json(times));

		if (!job->rank_file)
			json_object_set_new(one, "ranks_per_node",
			                    json_integer(job->ranks_per_node));
		if (job->policy)
			json_object_set_new(
			        one, "seed",
			        json_integer((json_int_t)job->seed));
		json_array_append_new(jobs, one);
	}
	return jobs;
}

/* Of a class (-1: all links), then injection and ejection. */
struct link_times {
	const char *name;
	struct cpl_class_stats bytes, busy, stalled;
};

static int class_times(const struct simulate *s, int i, struct link_times *out,
                       struct cpl_error *err)
{
	const struct cpl_network *net = s->net;
	const struct cpl_sim_result *r = &s->result;
	int class = i - 1;
	int64_t first = 0, n = net->n_links;

	if (class >= net->n_classes) {
		bool in = class == net->n_classes;

		out->name = in ? "injection" : "ejection";
		return cpl_load_node_stats(
		               net, in ? r->bytes.injection : r->bytes.ejection,
		               &out->bytes, err) ||
		                       cpl_load_node_stats(
		                               net,
		                               in ? r->busy.injection
		                                  : r->busy.ejection,
		                               &out->busy, err) ||
		                       cpl_load_node_stats(
		                               net,
		                               in ? r->stalled.injection
		                                  : r->stalled.ejection,
		                               &out->stalled, err)
		               ? -1
		               : 0;
	}
	out->name = class < 0 ? "all" : net->link_class[class].name;
	if (class >= 0) {
		first = net->link_class[class].first;
		n = net->link_class[class].count;
	}
	return cpl_load_stats(net, &r->bytes, class, &out->bytes, err) ||
	                       cpl_class_stats(r->busy.link + first, n,
	                                       &out->busy, err) ||
	                       cpl_class_stats(r->stalled.link + first, n,
	                                       &out->stalled, err)
	               ? -1
	               : 0;
}

static json_t *links_json(const struct simulate *s, struct cpl_error *err)
{
	json_t *links = json_object();

	for (int i = 0; i < s->net->n_classes + 3; i++) {
		struct link_times t;

		if (class_times(s, i, &t, err)) {
			json_decref(links);
			return NULL;
		}
		json_object_set_new(links, t.name,
		                    json_pack("{s:o, s:o, s:o}", "bytes",
		                              class_stats_json(&t.bytes),
		                              "busy", class_stats_json(&t.busy),
		                              "stalled",
		                              class_stats_json(&t.stalled)));
	}
	return links;
}

/* That the bytes took on the links of a class; "injection": both ways. */
static double joules(const struct simulate *s, const struct class_value *e)
{
	const struct cpl_network *net = s->net;
	const struct cpl_load *bytes = &s->result.bytes;
	double sum = 0;

	for (int i = 0; i < net->n_classes; i++) {
		const struct cpl_link_class *c = &net->link_class[i];

		for (int64_t l = c->first;
		     !strcmp(c->name, e->class) && l < c->first + c->count; l++)
			sum += bytes->link[l];
	}
	for (int64_t c = 0; !strcmp(e->class, "injection") &&
	                    c < cpl_network_port_cables(net);
	     c++)
		sum += bytes->injection[c] + bytes->ejection[c];
	return sum * e->value;
}

static json_t *energy_json(const struct simulate *s)
{
	json_t *energy = json_object();
	double all = 0;

	for (int i = 0; i < s->energy.n; i++) {
		double j = joules(s, &s->energy.of[i]);

		json_object_set_new(energy, s->energy.of[i].class, json_real(j));
		all += j;
	}
	json_object_set_new(energy, "all", json_real(all));
	return energy;
}

static json_t *latency_json(const struct cpl_sim_latency *l)
{
	return json_pack("{s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "count",
	                 (json_int_t)l->n, "min", l->min, "q1", l->q1, "median",
	                 l->median, "mean", l->mean, "q3", l->q3, "p99", l->p99,
	                 "max", l->max);
}

int simulate_print_json(const struct cmd *self, const struct simulate *s)
{
	struct cpl_error err = {""};
	json_t *links = links_json(s, &err), *all;

	if (!links)
		return cmd_fail(self, &err);
	all = json_pack("{s:s, s:s, s:s, s:f, s:I, s:I, s:I, s:I, s:o, "
	                        "s:o, s:o}",
	                        "network", s->net->name, "level",
	                        s->options.level->name, "routing",
	                        routing_name(s), "seconds", s->result.seconds,
	                        "messages", (json_int_t)s->result.messages,
	                        "events", (json_int_t)s->result.events, "hops",
	                        (json_int_t)s->result.hops, "overtaken",
	                        (json_int_t)s->result.overtaken, "jobs",
	                        jobs_json(s), "links", links, "latency",
	                        latency_json(&s->result.latency));
	if (s->energy.n)
		json_object_set_new(all, "energy", energy_json(s));
	if (s->timeline && json_object_set_new(all, "timeline",
	                                       simulate_timeline_json(s))) {
		json_decref(all);
		return cmd_fail_memory(self);
	}
	return cmd_print_json(self, all);
}

static int print_jobs(const struct simulate *s)
{
	struct cmd_table *table = cmd_table_new("lrlrrrrrrrr");

	cmd_table_row(table, "signature|ranks|placement|start|end|seconds|"
	                     "computing|communicating|waiting|idle|whole run");
	for (int i = 0; i < s->jobs.n; i++) {
		const struct job_traffic *job = &s->jobs.job[i];
		const struct cpl_sim_job_times *t = &s->result.job[i];
		double idle;
		struct cpl_sim_rank mean = mean_of(t, &idle);

		cmd_table_row(table,
		              "%s|%d|%s|%.6g|%.6g|%.6g|%.4g|%.4g|%.4g|%.4g|"
		              "%.6g",
		              job->sig->name, job->ranks, how(job), t->start,
		              t->end, t->end - t->start, mean.compute,
		              mean.communication, mean.waiting, idle, t->run);
	}
	return cmd_table_print(table);
}

static int print_phases(const struct simulate *s)
{
	struct cmd_table *table = cmd_table_new("llrrrrrr");

	cmd_table_row(table, "signature|phase|weight|executions|seconds|"
	                     "computing|communicating|waiting");
	for (int i = 0; i < s->jobs.n; i++)
		for (int k = 0; k < s->result.job[i].n_phases; k++) {
			const struct cpl_sim_phase *p =
			        &s->result.job[i].phase[k];

			cmd_table_row(table,
			              "%s|%s|%.6g|%d|%.6g|%.4g|%.4g|%.4g",
			              s->jobs.job[i].sig->name, p->name,
			              p->weight, p->executions, p->seconds,
			              p->compute, p->communication, p->waiting);
		}
	return cmd_table_print(table);
}

static int print_links(const struct cmd *self, const struct simulate *s)
{
	struct cmd_table *table = cmd_table_new("lrrrrrrr");
	struct cpl_error err = {""};

	cmd_table_row(table, "links|count|used|bytes, mean|bytes, max|"
	                     "busy, mean|busy, max|stalled, max");
	for (int i = 0; i < s->net->n_classes + 3; i++) {
		struct link_times t;

		if (class_times(s, i, &t, &err)) {
			cmd_table_free(table);
			return cmd_fail(self, &err);
		}
		cmd_table_row(table,
		              "%s|%" PRId64 "|%" PRId64
		              "|%s|%s|%.4g s|%.4g s|%.4g s",
		              t.name, t.bytes.count, t.bytes.used,
		              CMD_BYTES(t.bytes.mean), CMD_BYTES(t.bytes.max),
		              t.busy.mean, t.busy.max, t.stalled.max);
	}
	return cmd_table_print(table);
}

static void print_energy(const struct simulate *s)
{
	double all = 0;

	for (int i = 0; i < s->energy.n; i++)
		all += joules(s, &s->energy.of[i]);
	printf("\nlinks took %.6g J:", all);
	for (int i = 0; i < s->energy.n; i++)
		printf("%s %s %.6g J", i ? "," : "", s->energy.of[i].class,
		       joules(s, &s->energy.of[i]));
	putchar('\n');
}

int simulate_print_text(const struct cmd *self, const struct simulate *s)
{
	const struct cpl_sim_latency *l = &s->result.latency;

	printf("network %s, level %s, routing %s: %.6g s, %" PRId64
	       " messages, %" PRId64 " events\n\n",
	       s->net->name, s->options.level->name, routing_name(s),
	       s->result.seconds, s->result.messages, s->result.events);
	if (print_jobs(s))
		return CMD_FAILED;
	putchar('\n');
	if (print_phases(s))
		return CMD_FAILED;
	putchar('\n');
	if (print_links(self, s))
		return CMD_FAILED;
	printf("\nmessages took %.4g s at least, %.4g in the median, %.4g on "
	       "average, %.4g for 99 %%, %.4g at most\n",
	       l->min, l->median, l->mean, l->p99, l->max);
	if (s->energy.n)
		print_energy(s);
	return CMD_OK;
}

static void write_link(FILE *out, const char *class, int from, int to,
                       double bandwidth, double bytes, double busy,
                       double stalled)
{
	fprintf(out, "%s,%d,%d,%.17g,%.17g,%.17g,%.17g\n", class, from, to,
	        bandwidth, bytes, busy, stalled);
}

static void write_links(const struct simulate *s, FILE *out)
{
	const struct cpl_network *net = s->net;
	const struct cpl_sim_result *r = &s->result;

	fprintf(out, "class,from,to,bandwidth,bytes,busy,stalled\n");
	for (int64_t l = 0; l < net->n_links; l++) {
		int cables = cpl_network_link_cables(net, l);

		for (int i = 0; i < cables; i++)
			write_link(out,
			           net->link_class[net->link_class_of[l]].name,
			           net->link_from[l], net->link_to[l],
			           cpl_network_link_bandwidth(net, l) / cables,
			           r->bytes.link[l] / cables, r->busy.link[l],
			           r->stalled.link[l]);
	}
	for (int64_t c = 0; c < cpl_network_port_cables(net); c++)
		write_link(out, "injection", (int)(c / net->n_ports),
		           net->port_router[c],
		           cpl_network_port_bandwidth(net, c),
		           r->bytes.injection[c], r->busy.injection[c],
		           r->stalled.injection[c]);
	for (int64_t c = 0; c < cpl_network_port_cables(net); c++)
		write_link(out, "ejection", net->port_router[c],
		           (int)(c / net->n_ports),
		           cpl_network_port_bandwidth(net, c),
		           r->bytes.ejection[c], r->busy.ejection[c],
		           r->stalled.ejection[c]);
}

static void write_ranks(const struct simulate *s, FILE *out)
{
	fprintf(out, "job,rank,host,compute,communication,waiting,idle,end\n");
	for (int i = 0; i < s->jobs.n; i++) {
		const struct job_traffic *job = &s->jobs.job[i];
		const struct cpl_sim_job_times *t = &s->result.job[i];

		for (int r = 0; r < t->n_ranks; r++) {
			int host = job->rank_file ? r : r / job->ranks_per_node;

			fprintf(out, "%d,%d,%s,%.17g,%.17g,%.17g,%.17g,%.17g\n",
			        i, r, s->net->node_name[job->node[host]],
			        t->rank[r].compute, t->rank[r].communication,
			        t->rank[r].waiting, t->end - t->rank[r].end,
			        t->rank[r].end);
		}
	}
}

int simulate_write(const struct simulate *s, const char *links,
                   const char *ranks, const char *plot, struct cpl_error *err)
{
	struct cmd_file file[] = {
	        {.path = links}, {.path = ranks}, {.path = plot}};
	int rc = cmd_files_open(file, 3, err);

	if (rc)
		return rc;
	if (links)
		write_links(s, cpl_file_stream(file[0].writer));
	if (ranks)
		write_ranks(s, cpl_file_stream(file[1].writer));
	if (plot)
		rc = simulate_plot(s, cpl_file_stream(file[2].writer), err);
	return cmd_files_close(file, 3, rc, err);
}
