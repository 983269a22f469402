/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "signature.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "characterize.h"
#include "options.h"
#include "routing/routing.h"
#include "run_events.h"
#include "signature/phases/predict.h"
#include "traffic/times.h"

#define MAX_NAMED 8 /* ranks that a line names */

struct options {
	const char *machine, *hosts, *other, *profile_dir;
	const char *network, *routing;
	int64_t per_node, per_socket;
	double times;
	bool json;
};

/* Hosts of ranks, as their lines come. */
struct host_lines {
	char **name; /* [n] different ones */
	int n, ranks, most;
	int *host; /* [ranks] */
};

/* Where the ranks are. */
struct run_hosts {
	struct cpl_rank_location *rank; /* [ranks] */
	struct host_lines hosts;     /* of a file */
	double *network;             /* [n_phases]; NULL: not known */
};

/* What is predicted, and from what. */
struct predict_inputs {
	struct cpl_run_events *events; /* NULL: of a signature */
	struct cpl_phases *phases;     /* NULL the same */
	struct cpl_signature *sig;
	struct cpl_machine *machine;
	struct cpl_network *net;             /* NULL: not known */
	const struct cpl_routing *routing;   /* of it */
	struct run_hosts here, there;        /* there.rank NULL: nowhere else */
	struct cpl_predicted_phase *phase;   /* [n_phases] */
};

static int parse(const struct cmd *self, int argc, char **argv,
                 struct options *o)
{
	const struct cmd_option table[] = {
	        {"machine", .text = &o->machine, .needed = true},
	        {"hosts-file", .text = &o->hosts},
	        {"other-hosts-file", .text = &o->other},
	        {"ranks-per-node", .integer = &o->per_node, .low = 1,
	         .high = CPL_SIGNATURE_MAX_RANKS},
	        {"ranks-per-socket", .integer = &o->per_socket, .low = 1,
	         .high = CPL_SIGNATURE_MAX_RANKS},
	        {"network", .text = &o->network},
	        {"routing", .text = &o->routing},
	        {"times", .number = &o->times, .least = 1e-6, .most = 1e9},
	        {"profile-dir", .text = &o->profile_dir},
	        {"json", .flag = &o->json},
	        {0},
	};

	return cmd_options(self, argc, argv, table, CMD_WORDS);
}

static int take_line(void *arg, const char *path, int number, const char *line,
                     struct cpl_error *err)
{
	struct host_lines *l = arg;
	int h = 0;

	if (l->ranks == l->most)
		return cpl_fail(err, "%s:%d: more lines than ranks (%d)", path,
		                number, l->most);
	/* most often the same as before: look from the end */
	for (h = l->n - 1; h >= 0 && strcmp(l->name[h], line); h--)
		;
	if (h < 0) {
		if (cpl_array_grow(&l->name, l->n, sizeof(*l->name), err))
			return -1;
		h = l->n;
		l->name[l->n] = strdup(line);
		if (!l->name[l->n++])
			return cpl_fail_memory(err);
	}
	l->host[l->ranks++] = h;
	return 0;
}

/* A file with the host of each rank a line; NULL: in blocks of per_node. 0, or
 * -1 with err; free_hosts in either case. */
static int find_hosts(const struct options *o, const char *file, int ranks,
                      struct run_hosts *out, struct cpl_error *err)
{
	int64_t per_node = o->per_node ? o->per_node : ranks;
	int64_t per_socket = o->per_socket ? o->per_socket : ranks;
	int *used = calloc((size_t)ranks, sizeof(*used));
	struct host_lines *l = &out->hosts;
	int rc = -1;

	out->rank = calloc((size_t)ranks, sizeof(*out->rank));
	l->most = ranks;
	l->host = calloc((size_t)ranks, sizeof(*l->host));
	if (cpl_out_of_memory(!out->rank || !used || !l->host, err))
		goto out;
	if (file && cmd_each_line(file, take_line, l, err))
		goto out;
	if (file && l->ranks != ranks) {
		cpl_fail(err, "%s: %d lines for %d ranks", file, l->ranks,
		         ranks);
		goto out;
	}
	for (int r = 0; r < ranks; r++) {
		int node = file ? l->host[r] : (int)(r / per_node);

		out->rank[r].node = node;
		/* those of a node in order of rank */
		out->rank[r].socket = (int)(used[node]++ / per_socket);
	}
	rc = 0;
out:
	free(used);
	return rc;
}

static void free_hosts(struct run_hosts *p)
{
	for (int h = 0; h < p->hosts.n; h++)
		free(p->hosts.name[h]);
	cpl_free_all(p->hosts.name, p->hosts.host, p->rank, p->network);
}

/* Seconds of one execution of a phase on the links; hosts are at node[]. */
static int judge(const struct predict_inputs *in, const struct run_hosts *p,
                 const int *node, int k, struct cpl_times_space *space,
                 struct cpl_error *err)
{
	struct cpl_phase once = in->sig->phase[k];
	const struct cpl_times_job job = {.phase = &once,
	                                  .n_phases = 1,
	                                  .ranks = in->sig->ranks,
	                                  .rank_host = p->hosts.host,
	                                  .n_hosts = p->hosts.n,
	                                  .node = node};
	struct cpl_times_result result;

	once.weight = 1;
	if (cpl_times_of(space, &job, NULL, &result, err))
		return -1;
	p->network[k] = result.alone - result.latency;
	return 0;
}

/* Routers and groups of the ranks, and the phases' seconds on the links. */
static int judge_hosts(const struct predict_inputs *in, const char *file,
                       struct run_hosts *p, struct cpl_error *err)
{
	struct cpl_times_space *space =
	        cpl_times_space_new(in->net, in->routing, err);
	int *node = malloc(((size_t)p->hosts.n + 1) * sizeof(*node));
	int rc = space ? 0 : -1;

	p->network = calloc((size_t)in->sig->n_phases, sizeof(*p->network));
	if (!node || !p->network)
		rc = cpl_fail_memory(err);
	for (int h = 0; h < p->hosts.n && !rc; h++) {
		node[h] = cpl_network_node(in->net, p->hosts.name[h]);
		if (node[h] < 0)
			rc = cpl_fail(err, "%s: host %.63s is not in network "
			                   "%.60s",
			              file, p->hosts.name[h], in->net->name);
	}
	for (int r = 0; r < in->sig->ranks && !rc; r++) {
		int at = node[p->hosts.host[r]];

		p->rank[r].router = cpl_network_router(in->net, at);
		p->rank[r].group = cmd_group_of(in->net, at);
	}
	for (int k = 0; k < in->sig->n_phases && !rc; k++)
		rc = judge(in, p, node, k, space, err);
	free(node);
	cpl_times_space_free(space);
	return rc;
}

static int load_network(struct predict_inputs *in, const struct options *o,
                        struct cpl_error *err)
{
	in->net = cpl_network_load(o->network, err);
	if (!in->net)
		return -1;
	in->routing = cpl_routing_find_quick(in->net, o->routing, err);
	if (!in->routing)
		return cpl_fail_prefix(err, "%s: ",
		                       o->routing ? "--routing" : o->network);
	if (judge_hosts(in, o->hosts, &in->here, err))
		return -1;
	return o->other ? judge_hosts(in, o->other, &in->there, err) : 0;
}

/* A file of events has its phases, with each rank's times; else a signature. */
static int load(struct predict_inputs *in, const struct options *o,
                const char *text, struct cpl_error *err)
{
	struct cpl_phase_options options = CPL_PHASE_OPTIONS;

	if (cmd_is_run_events(text)) {
		in->events = cmd_run_events(&text, 1, err);
		if (in->events)
			in->phases =
			        cpl_phases_find(in->events, &options, err);
		if (in->phases)
			in->sig = cpl_phases_signature(in->events, in->phases,
			                               text, NULL, err);
	} else {
		in->sig = cmd_load_signature(text, o->profile_dir, err);
	}
	if (!in->sig)
		return -1;
	in->machine = cpl_machine_load(o->machine, err);
	if (!in->machine)
		return -1;
	if (find_hosts(o, o->hosts, in->sig->ranks, &in->here, err) ||
	    (o->other &&
	     find_hosts(o, o->other, in->sig->ranks, &in->there, err)) ||
	    (o->network && load_network(in, o, err)))
		return -1;
	in->phase = calloc((size_t)in->sig->n_phases, sizeof(*in->phase));
	if (!in->phase)
		return cpl_fail_memory(err);
	return cpl_predict(
	        in->sig, in->phases, in->machine,
	        &(struct cpl_run_location){in->here.rank, in->here.network},
	        o->other ? &(struct cpl_run_location){in->there.rank,
	                                              in->there.network}
	                 : NULL,
	        in->phase, err);
}

static void unload(struct predict_inputs *in)
{
	if (in->phase)
		cpl_predict_free(in->phase, in->sig->n_phases);
	free(in->phase);
	free_hosts(&in->here);
	free_hosts(&in->there);
	cpl_network_free(in->net);
	cpl_machine_free(in->machine);
	cpl_signature_free(in->sig);
	cpl_phases_free(in->phases);
	cpl_run_events_free(in->events);
}

/* Executions of phase k in a run with --times the steps. */
static double weight_of(const struct predict_inputs *in,
                        const struct options *o, int k)
{
	const struct cpl_phase *p = &in->sig->phase[k];

	return p->weight * cpl_phase_times(p->name, p->weight, o->times).likely;
}

static void print_waiting(const struct predict_inputs *in, int k)
{
	const struct cpl_predicted_phase *p = &in->phase[k];
	int n = 0, named = 0;

	for (int r = 0; p->rank_idle && r < in->sig->ranks; r++)
		n += cpl_predict_waits(p, r);
	if (!n)
		return;
	printf("%s: ", in->sig->phase[k].name);
	for (int r = 0; r < in->sig->ranks && named < MAX_NAMED; r++)
		if (cpl_predict_waits(p, r))
			printf("%s%d", named++ ? ", " : n > 1 ? "ranks " : "rank ",
			       r);
	if (n > named)
		printf(" and %d more", n - named);
	printf(" wait%s up to %.4g s each time; rank %d computes longest, "
	       "%.4g s\n",
	       n > 1 ? "" : "s", p->most_idle, p->waited_for,
	       p->rank_compute[p->waited_for]);
}

/* Seconds of the whole run. */
struct predict_totals {
	double pet, idle, elsewhere, network[2];
	struct cpl_foreseen run; /* with --times the steps */
};

static struct predict_totals total_of(const struct predict_inputs *in,
                                      const struct options *o)
{
	struct predict_totals sum = {0};

	for (int k = 0; k < in->sig->n_phases; k++) {
		const struct cpl_predicted_phase *p = &in->phase[k];
		double w = weight_of(in, o, k);

		sum.pet += w * p->time;
		sum.idle += w * p->idle;
		sum.elsewhere += w * p->elsewhere;
		sum.network[0] += w * p->network[0];
		sum.network[1] += w * p->network[1];
	}
	sum.run = cpl_foresee(in->sig, o->times);
	return sum;
}

static int print_text(const struct predict_inputs *in, const struct options *o)
{
	struct cmd_table *t = cmd_table_new(in->there.rank ? "lrrrrrrr"
	                                            : "lrrrrrr");
	struct predict_totals sum = total_of(in, o);

	cmd_table_row(t, "PHASE|W|COMM|COMP|PHASE_ET|IDLE|MTTIME%s",
	              in->there.rank ? "|ELSEWHERE" : "");
	for (int k = 0; k < in->sig->n_phases; k++) {
		const struct cpl_predicted_phase *p = &in->phase[k];
		double w = weight_of(in, o, k);

		cmd_table_row(t, "%s|%g|%.2f|%.2f|%.2f|%.2f|%.2f|%.2f",
		              in->sig->phase[k].name, w,
		              w * (p->time - p->compute), w * p->compute,
		              w * p->time, w * p->idle,
		              w * (p->time - p->idle), w * p->elsewhere);
	}
	if (cmd_table_print(t))
		return CMD_FAILED;
	printf("Seconds times W. MTTIME: with the least transfer, no idle "
	       "time.\nPET %.2f s, of them idle %.2f s (%.1f %%)\n",
	       sum.pet, sum.idle, 100 * sum.idle / sum.pet);
	signature_print_interval(&sum.run);
	if (in->there.rank)
		printf("Elsewhere: %.2f s, %+.1f %%; an estimate\n",
		       sum.elsewhere, 100 * (sum.elsewhere / sum.pet - 1));
	if (in->net)
		printf("On the links at the least: %.2f s here",
		       sum.network[0]);
	if (in->net && in->there.rank)
		printf(", %.2f s elsewhere", sum.network[1]);
	if (in->net)
		printf("\n");
	for (int k = 0; k < in->sig->n_phases; k++)
		print_waiting(in, k);
	return CMD_OK;
}

static json_t *waiting_json(const struct predict_inputs *in, int k)
{
	json_t *list = json_array();

	if (!in->phase[k].rank_idle) {
		json_decref(list);
		return json_null();
	}
	for (int r = 0; r < in->sig->ranks; r++)
		if (cpl_predict_waits(&in->phase[k], r))
			json_array_append_new(list, json_integer(r));
	return list;
}

static int print_json(const struct cmd *self, const struct predict_inputs *in,
                      const struct options *o)
{
	struct predict_totals sum = total_of(in, o);
	json_t *list = json_array();

	for (int k = 0; k < in->sig->n_phases; k++) {
		const struct cpl_predicted_phase *p = &in->phase[k];
		double w = weight_of(in, o, k);

		cpl_json_append(
		        list,
		        "{s:s, s:f, s:f, s:f, s:f, s:f, s:f, s:f, "
		        "s:f, s:o, s:i}",
		        "name", in->sig->phase[k].name, "weight", w, "time",
		        p->time, "compute_time", p->compute, "transfer_time",
		        p->transfer, "idle_time", p->idle, "elsewhere",
		        p->elsewhere, "network_time", p->network[0],
		        "network_elsewhere", p->network[1], "waiting",
		        waiting_json(in, k), "waited_for", p->waited_for);
	}
	return cmd_print_pack(self, "{s:f, s:f, s:f, s:f, s:f, s:o}", "pet",
	                      sum.pet, "pet_low", sum.run.low, "pet_high",
	                      sum.run.high, "idle", sum.idle, "elsewhere",
	                      sum.elsewhere, "phases", list);
}

int signature_predict(const struct cmd *self, int argc, char **argv)
{
	struct options o = {.times = 1};
	struct cpl_error err = {""};
	struct predict_inputs in = {0};
	int rc = parse(self, argc, argv, &o);

	if (rc)
		return rc;
	if (optind + 1 != argc)
		return cmd_usage(self, "predict: one NAME, FILE or EVENTS is "
		                       "needed");
	if (o.network && !o.hosts)
		return cmd_usage(self, "predict: --network needs --hosts-file, "
		                       "the host of each rank");
	if (o.routing && !o.network)
		return cmd_usage(self, "predict: --routing is of --network");
	if (load(&in, &o, argv[optind], &err))
		rc = cmd_fail(self, &err);
	else
		rc = o.json ? print_json(self, &in, &o) : print_text(&in, &o);
	unload(&in);
	return rc;
}
