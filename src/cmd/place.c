/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "communication.h"
#include "job_inputs.h"
#include "mapping/quick.h"
#include "options.h"
#include "site/record.h"

#define MAX_RANKS CPL_SIGNATURE_MAX_RANKS

struct options {
	struct job_options job;
	const char *policy, *free_hosts, *required, *node_file, *mapping,
	        *stock, *keep_whole, *time_model, *reaches;
	int64_t nodes, ranks_per_node, ranks, seed; /* 0: not given */
	int64_t own_weight, others_weight, keep_price;
	enum cpl_order order; /* of reaches */
	bool json;
};

/* The job that is placed and what came out. */
struct result {
	struct cpl_decide_request request;
	struct cpl_decision decision;
	struct cpl_learned *learned; /* NULL: not asked for */
	int *turn; /* of the nodes in the order of --free; NULL: by id */
	bool has_baseline; /* linear, evaluated */
	int *baseline_node;
	struct cpl_candidate baseline;
	double seconds;
};

/* Read the word for an order as records have it. -1: it is another word. */
static int parse_order(const char *text, enum cpl_order *out)
{
	static const char *const word[] = {
	        [CPL_ORDER_REACHES] = CPL_REACH_YES,
	        [CPL_ORDER_MAY] = CPL_REACH_UNKNOWN,
	        [CPL_ORDER_NOT] = CPL_REACH_NO};

	for (int i = CPL_ORDER_REACHES; text && i <= CPL_ORDER_NOT; i++) {
		if (strcasecmp(text, word[i]))
			continue;
		*out = (enum cpl_order)i;
		return 0;
	}
	return text ? -1 : 0;
}

static int parse(const struct cmd *self, int argc, char **argv,
                 struct options *o)
{
	const struct cmd_option table[] = {
	        JOB_OPTIONS(o->job),
	        {"nodes", .integer = &o->nodes, .low = 1, .high = INT32_MAX},
	        {"policy", .text = &o->policy},
	        {"rank-mapping", .text = &o->mapping},
	        {"stock", .text = &o->stock},
	        {"order-reaches", .text = &o->reaches},
	        {"own-weight", .integer = &o->own_weight, .low = 0,
	         .high = 1000},
	        {"others-weight", .integer = &o->others_weight, .low = 0,
	         .high = 1000},
	        {"time-model", .text = &o->time_model},
	        {"keep-whole", .text = &o->keep_whole},
	        {"keep-whole-price", .integer = &o->keep_price, .low = 0,
	         .high = 1000},
	        {"free", .text = &o->free_hosts},
	        {"require", .text = &o->required},
	        {"ranks-per-node", .integer = &o->ranks_per_node, .low = 1,
	         .high = MAX_RANKS},
	        {"ranks", .integer = &o->ranks, .low = 1, .high = MAX_RANKS},
	        {"seed", .integer = &o->seed, .low = 0, .high = INT64_MAX},
	        {"node-file", .text = &o->node_file},
	        {"json", .flag = &o->json},
	        {0},
	};
	int rc = cmd_options(self, argc, argv, table, CMD_NO_WORDS);

	if (rc)
		return rc;
	if (!o->nodes || !o->policy)
		return cmd_usage(self, "%s is missing",
		                 !o->nodes ? "--nodes" : "--policy");
	if (parse_order(o->reaches, &o->order))
		return cmd_usage(self, "--order-reaches is yes, no or unknown");
	if (o->job.signature && o->ranks)
		return cmd_usage(self, "--ranks is for jobs without "
		                       "--signature, which states its own");
	return CMD_OK;
}

/* Nodes of running jobs are not free even when --free names them. Their order is
 * the scheduler's. */
static int restrict_free(struct job_inputs *in, const char *text, int **turn,
                         struct cpl_error *err)
{
	int n, *node = cmd_hosts_once(in->net, "--free", text, NULL, &n, err);
	unsigned char *listed = calloc((size_t)in->net->n_nodes, 1);
	int rc = -1;

	*turn = calloc((size_t)in->net->n_nodes, sizeof(int));
	if (node && listed && *turn) {
		for (int i = 0; i < n; i++) {
			listed[node[i]] = 1;
			(*turn)[node[i]] = i;
		}
		for (int i = 0; i < in->net->n_nodes; i++)
			in->free[i] &= listed[i];
		rc = 0;
	} else if (node) {
		cpl_fail_memory(err);
	}
	free(node);
	free(listed);
	return rc;
}

static int choose_ranks_per_node(const struct options *o,
                                 const struct job_inputs *in, int *out,
                                 struct cpl_error *err)
{
	int64_t ranks = in->comm ? in->comm->ranks : o->ranks;
	int64_t k = o->ranks_per_node;

	if (!k)
		k = ranks ? (ranks + o->nodes - 1) / o->nodes : 1;
	if (ranks > o->nodes * k)
		return cpl_fail(err,
		                "%" PRId64 " ranks do not fit --nodes %" PRId64
		                " with %" PRId64 " ranks each",
		                ranks, o->nodes, k);
	*out = (int)k;
	return 0;
}

/* What node order would have given, for comparison. */
static int evaluate_linear(struct result *r, struct cpl_error *err)
{
	struct cpl_decide_request linear = r->request;
	const struct cpl_placement_policy *policy = &cpl_placement_linear;
	size_t n = (size_t)linear.place.n_nodes_wanted;

	r->baseline_node = malloc(n * sizeof(*r->baseline_node));
	if (!r->baseline_node)
		return cpl_fail_memory(err);
	if (policy->place(&linear.place, r->baseline_node, err))
		return -1;
	if (!linear.comm)
		return 0;
	r->has_baseline = true;
	return cpl_decide_evaluate(&linear, r->baseline_node, &r->baseline,
	                           err);
}

/* The time for which the job is predicted to communicate there. */
static int add_times(json_t *one, const struct cpl_times_result *times,
                     double reference)
{
	return json_object_update_new(
	        one, json_pack("{s:f, s:f, s:f}", "communication_seconds",
	                       times->seconds, "communication_alone",
	                       times->alone, "slowdown",
	                       communication_slowdown(times->seconds,
	                                              reference)));
}

/* What a candidate came to in blocks, and "mapped" with its rank order. */
static json_t *judgement_json(const struct cpl_candidate *c)
{
	json_t *one = c->evaluated ? job_metrics_json(&c->metrics, &c->sums)
	                           : json_object();

	if ((c->is_mapped &&
	     json_object_set_new(
	             one, "mapped",
	             job_metrics_json(&c->mapped.metrics, &c->mapped.sums))) ||
	    (c->is_stated &&
	     json_object_set_new(
	             one, "stated",
	             job_metrics_json(&c->stated.metrics, &c->stated.sums)))) {
		json_decref(one);
		return NULL;
	}
	return one;
}

/* What the candidate does to the running jobs. */
static int add_others(json_t *one, const struct cpl_candidate *c)
{
	return json_object_update_new(
	        one, json_pack("{s:I, s:f}", "shared_links",
	                       (json_int_t)c->shared, "slows_others", c->harm));
}

static int add_broken(json_t *one, const struct cpl_candidate *c)
{
	return json_object_set_new(one, "broken", json_integer(c->broken));
}

static int add_told(json_t *one, const struct cpl_candidate *c)
{
	return json_object_set_new(one, "learned_seconds", json_real(c->told));
}

/* The number by which the candidate was compared first. */
static int add_objective(json_t *one, const struct result *r,
                         const struct cpl_candidate *c)
{
	struct cpl_figures figures;

	cpl_candidate_figures(c, &figures);
	return json_object_set_new(
	        one, "objective",
	        json_real(cpl_candidate_objective(&r->request, &r->decision, c,
	                                          &figures)));
}

/* Without the rank order. */
static int add_plain(json_t *one, const struct cpl_candidate *c)
{
	return json_object_update_new(
	        one, json_pack("{s:f, s:b}", "plain_max_congestion",
	                       c->plain.metrics.max_congestion, "barred",
	                       c->barred));
}

static json_t *candidates_json(const struct result *r)
{
	const struct cpl_decision *d = &r->decision;
	bool others = r->request.harm != NULL;
	bool keeps = r->request.wish.keep.name != NULL;
	bool learned = r->request.wish.objective == CPL_OBJECTIVE_LEARNED;
	double reference = cpl_decision_reference(d);
	json_t *array = json_array();

	for (int i = 0; i < d->n_candidates; i++) {
		const struct cpl_candidate *c = &d->candidate[i];
		json_t *one = judgement_json(c);

		if (json_object_update_new(
		            one, json_pack("{s:s, s:I, s:b, s:b}", "policy",
		                           c->policy->name, "seed",
		                           (json_int_t)c->seed, "evaluated",
		                           c->evaluated, "chosen",
		                           i == d->chosen)) ||
		    (c->evaluated && add_objective(one, r, c)) ||
		    (c->evaluated && add_times(one, &c->times, reference)) ||
		    (c->evaluated && others && add_others(one, c)) ||
		    (c->evaluated && learned && add_told(one, c)) ||
		    (c->evaluated && r->request.order == CPL_ORDER_MAY &&
		     add_plain(one, c)) ||
		    (keeps && add_broken(one, c)) ||
		    json_array_append(array, one)) {
			json_decref(array);
			array = NULL;
		}
		json_decref(one);
	}
	return array;
}

/* The host of each rank where ranks are not in blocks on hosts, else null. */
static json_t *ranks_json(const struct cpl_network *net, const struct result *r)
{
	const struct cpl_decision *d = &r->decision;
	json_t *list;

	if (!d->rank_host)
		return json_null();
	list = json_array();
	for (int i = 0; i < r->request.comm->ranks; i++)
		json_array_append_new(
		        list,
		        json_string(net->node_name[d->node[d->rank_host[i]]]));
	return list;
}

/* What is kept whole, and what that costs; NULL, which is left out: nothing. */
static json_t *kept_json(const struct result *r)
{
	const struct cpl_decision *d = &r->decision;
	const struct cpl_candidate *best = &d->candidate[d->best];

	if (!r->request.wish.keep.name)
		return NULL;
	return json_pack("{s:s, s:i, s:i, s:s, s:i, s:f}", "units",
	                 r->request.wish.keep.name, "keep_price",
	                 r->request.wish.keep_price, "broken",
	                 d->candidate[d->chosen].broken, "best_policy",
	                 best->policy->name, "best_broken", best->broken,
	                 "price", d->price);
}

static int print_json(const struct cmd *self, const struct options *o,
                      const struct job_inputs *in, const struct result *r)
{
	const struct cpl_decision *d = &r->decision;
	const struct cpl_candidate *chosen = &d->candidate[d->chosen];
	json_t *linear = judgement_json(&r->baseline);

	if (json_object_set_new(
	            linear, "hosts",
	            cmd_hosts_json(in->net, r->baseline_node, d->n_nodes))) {
		json_decref(linear);
		return cmd_failf(self, "out of memory");
	}
	return cmd_print_json(
	        self,
	        json_pack("{s:s, s:s, s:I, s:o, s:i, s:i, s:s, s:s, s:i, s:o, "
	                  "s:o, s:b, s:f, s:f, s:f, s:s, s:o, s:o*}",
	                  "policy", chosen->policy->name, "policy_asked",
	                  o->policy, "seed", (json_int_t)chosen->seed, "hosts",
	                  cmd_hosts_json(in->net, d->node, d->n_nodes), "nodes",
	                  d->n_nodes, "ranks_per_node",
	                  r->request.ranks_per_node, "objective",
	                  cpl_objective_name(in->objective), "routing",
	                  in->routing->name, "background_jobs", in->n_running,
	                  "candidates", candidates_json(r), "linear", linear,
	                  "cut_short", d->cut_short, "seconds", r->seconds,
	                  "run_seconds", in->run.seconds, "share",
	                  in->run.share, "rank_mapping",
	                  r->request.wish.mapper ? r->request.wish.mapper->name
	                                         : cpl_mapper_linear.name,
	                  "rank_to_host", ranks_json(in->net, r), "keep_whole",
	                  kept_json(r)));
}

/* Behind the columns that all have: what candidates break; what they do to
 * running jobs, or what the model predicts. */
static int print_candidates(const struct result *r)
{
	const struct cpl_decision *d = &r->decision;
	bool others = cpl_objective_of_others(r->request.wish.objective);
	bool learned = r->request.wish.objective == CPL_OBJECTIVE_LEARNED;
	bool keeps = r->request.wish.keep.name != NULL;
	static const char *const columns[] = {"llrrrrrrr", "llrrrrrrrr",
	                                      "llrrrrrrrrr", "llrrrrrrrrrr"};
	struct cmd_table *table =
	        cmd_table_new(columns[keeps + (others ? 2 : learned)]);
	double reference = cpl_decision_reference(d);
	const char *first = learned ? "learned" : "shared links";

	cmd_table_row(table,
	              "|policy|seed|max congestion (s)|mean (s)|hop-bytes|"
	              "mapped max (s)|%s|slowdown|%s|%s|slows others",
	              communication_head(r->request.routing),
	              keeps ? "broken" : first, keeps ? first : "slows others");
	for (int i = 0; i < d->n_candidates; i++) {
		const struct cpl_candidate *c = &d->candidate[i];
		const char *chosen = i == d->chosen ? "*" : "";
		char seed[24] = "", mapped[24] = "-";
		char last[3][32] = {"-", "-", "-"};

		if (c->is_mapped)
			snprintf(mapped, sizeof(mapped), "%.4g",
			         c->mapped.metrics.max_congestion);
		if (c->policy->flags & CPL_PLACEMENT_RANDOM)
			snprintf(seed, sizeof(seed), "%" PRIu64, c->seed);
		if (keeps)
			snprintf(last[0], sizeof(last[0]), "%d", c->broken);
		if (c->evaluated) {
			if (learned)
				snprintf(last[keeps], sizeof(last[0]),
				         "%.4g s", c->told);
			else
				snprintf(last[keeps], sizeof(last[0]),
				         "%" PRId64, c->shared);
			snprintf(last[keeps + 1], sizeof(last[0]), "%.4g",
			         c->harm);
			cmd_table_row(table,
			              "%s|%s|%s|%.4g|%.4g|%s|%s|%.4g s|%.3f|%s"
			              "|%s|%s",
			              chosen, c->policy->name, seed,
			              c->metrics.max_congestion,
			              c->metrics.mean_congestion,
			              CMD_BYTES(c->sums.hop_bytes), mapped,
			              c->times.seconds,
			              communication_slowdown(c->times.seconds,
			                                     reference),
			              last[0], last[1], last[2]);
		} else {
			cmd_table_row(table, "%s|%s|%s|-|-|-|-|-|-|%s|-|-",
			              chosen, c->policy->name, seed, last[0]);
		}
	}
	return cmd_table_print(table);
}

static void print_change(double value, double linear)
{
	if (linear > 0)
		printf(" (%+.1f %%)", 100 * (value / linear - 1));
}

/* What is kept whole, and what that costs. */
static void print_kept(const struct job_inputs *in, const struct result *r)
{
	const struct cpl_decision *d = &r->decision;
	const struct cpl_candidate *best = &d->candidate[d->best];

	if (!r->request.wish.keep.name)
		return;
	printf("Of the wholly free units (%s) it breaks %d",
	       r->request.wish.keep.name, d->candidate[d->chosen].broken);
	if (d->best != d->chosen)
		printf("; %s, the best by %s alone, breaks %d, and this is "
		       "%.3g %% worse",
		       best->policy->name, cpl_objective_name(in->objective),
		       best->broken, 100 * d->price);
	printf(".\n");
}

/* The scheduler's own nodes, by the routing that the network states. */
static void print_stated(const struct result *r)
{
	const struct cpl_decision *d = &r->decision;
	const struct cpl_candidate *c = &d->candidate[d->chosen];

	for (int i = 0; i < d->n_candidates && c->is_stated; i++) {
		const struct cpl_candidate *stock = &d->candidate[i];
		double now = c->stated.metrics.max_congestion;
		double then = stock->stated.metrics.max_congestion;

		if (stock->policy != &cpl_placement_stock || !stock->is_stated)
			continue;
		printf("By %s: busiest link %.4g s, on the scheduler's own "
		       "nodes %.4g s",
		       r->request.stated->name, now, then);
		print_change(now, then);
		printf(".\n");
	}
}

/* What it costs that the rank order may not arrive. */
static void print_barred(const struct result *r)
{
	const struct cpl_decision *d = &r->decision;
	int n = 0;

	if (r->request.order != CPL_ORDER_MAY || !r->request.comm)
		return;
	for (int i = 0; i < d->n_candidates; i++)
		n += d->candidate[i].barred;
	printf("The rank order may not arrive: %d of %d candidates are left "
	       "out, which in blocks are worse than %s.\n",
	       n, d->n_candidates, r->request.stock ? "stock" : "best-fit");
}

static void print_reason(const struct job_inputs *in, const struct result *r)
{
	const struct cpl_decision *d = &r->decision;
	const struct cpl_candidate *c = &d->candidate[d->chosen];
	struct cpl_figures now, linear;

	printf("\n%s", c->policy->name);
	if (!c->evaluated) {
		printf(": %s\n", in->comm ? "the time budget ended before an "
		                            "evaluation"
		                          : "nothing to evaluate without a "
		                            "signature");
		return;
	}
	if (d->best != d->chosen)
		printf(" keeps most units whole of %d candidates",
		       d->n_candidates);
	else if (d->n_candidates > 1)
		printf(" is best by %s of %d candidates",
		       cpl_objective_name(in->objective), d->n_candidates);
	else
		printf(" as asked");
	if (c->is_mapped)
		printf(", ranks laid out by %s", r->request.wish.mapper->name);
	cpl_candidate_figures(c, &now);
	cpl_candidate_figures(&r->baseline, &linear);
	printf(": busiest link %.4g s, linear %.4g s",
	       now.metrics.max_congestion, linear.metrics.max_congestion);
	print_change(now.metrics.max_congestion,
	             linear.metrics.max_congestion);
	printf("; mean %.4g s, linear %.4g s", now.metrics.mean_congestion,
	       linear.metrics.mean_congestion);
	print_change(now.metrics.mean_congestion,
	             linear.metrics.mean_congestion);
	printf(".\n");
	print_stated(r);
	if (in->n_running > 0 && !(in->run.seconds > 0))
		printf("The signature states no times: the running jobs count "
		       "with their whole runs.\n");
}

/* One sentence on time: what a run communicates less than in node order, in
 * node hours. */
static void print_verdict(const struct job_inputs *in, const struct result *r)
{
	const struct cpl_decision *d = &r->decision;
	const struct cpl_candidate *c = &d->candidate[d->chosen];
	double here = c->times.seconds, linear = r->baseline.times.seconds;
	double hours = d->n_nodes * (here - linear) / 3600;

	if (!c->evaluated || !r->has_baseline)
		return;
	if (!cpl_network_has_bandwidths(in->net)) {
		printf("The network states no bandwidths: what that is in node "
		       "hours is not known.\n");
		return;
	}
	printf("Each run communicates %.4g s%s, linear %.4g s", here,
	       r->request.routing->add ? "" : " under minimal routing", linear);
	print_change(here, linear);
	printf(": %.3g node hours %s on %d nodes", fabs(hours),
	       hours > 0 ? "more" : "less", d->n_nodes);
	if (in->run.seconds > 0)
		printf(", of a run of %.4g",
		       d->n_nodes * in->run.seconds / 3600);
	printf("%s.\n", hours > 0 && in->objective != CPL_OBJECTIVE_TIME
	                        ? "; --objective time goes by this"
	                        : "");
}

static int print_text(const struct cmd *self, const struct job_inputs *in,
                      const struct result *r)
{
	const struct cpl_decision *d = &r->decision;
	char *hosts = cmd_hosts_text(in->net, d->node, d->n_nodes);
	char *linear = cmd_hosts_text(in->net, r->baseline_node, d->n_nodes);
	int rc = CMD_FAILED;

	if (!hosts || !linear) {
		cmd_failf(self, "out of memory");
		goto out;
	}
	if (print_candidates(r) != CMD_OK)
		goto out;
	print_reason(in, r);
	print_verdict(in, r);
	print_kept(in, r);
	print_barred(r);
	printf("\nhosts   %s\nlinear  %s\n", hosts, linear);
	rc = CMD_OK;
out:
	free(hosts);
	free(linear);
	return rc;
}

static int write_node_file(const char *path, const struct cpl_network *net,
                           const struct cpl_decision *d, struct cpl_error *err)
{
	struct cpl_file_writer *writer = cpl_file_open_atomic(path, err);

	if (!writer)
		return -1;
	for (int i = 0; i < d->n_nodes; i++)
		fprintf(cpl_file_stream(writer), "%s\n",
		        net->node_name[d->node[i]]);
	return cpl_file_commit(writer, 0644, err);
}

/* The searches judge with the default mapper where none is asked for. -1 with
 * err. */
static int read_wish(const struct options *o, const struct job_inputs *in,
                     struct cpl_wish *out, struct cpl_error *err)
{
	*out = (struct cpl_wish){.objective = in->objective,
	                         .own_weight = (double)o->own_weight,
	                         .others_weight = (double)o->others_weight,
	                         .keep_price = (int)o->keep_price};
	if (o->mapping && cpl_wish_mapper(out, o->mapping, err))
		return cpl_fail_prefix(err, "--rank-mapping: ");
	if (cpl_wish_policy(out, in->net, o->policy, err))
		return -1;
	if (cpl_wish_units(out, in->net, o->keep_whole, err))
		return cpl_fail_prefix(err, "units to be kept whole: ");
	if (!o->mapping && in->comm && cpl_wish_searches(out))
		out->mapper = &cpl_mapper_quick;
	if (o->order == CPL_ORDER_NOT)
		out->mapper = NULL;
	return 0;
}

static int place_job(const struct options *o, struct job_inputs *in,
                     int *required, int n_required, const int *stock,
                     struct result *r, struct cpl_error *err)
{
	const struct cpl_placement_request nodes = {
	        .free = in->free,
	        .n_nodes_wanted = (int)o->nodes,
	        .required = required,
	        .n_required = n_required,
	        .seed = (uint64_t)o->seed,
	};
	struct cpl_scene_job job = {
	        .comm = in->comm,
	        .phase = in->sig ? in->sig->phase : NULL,
	        .n_phases = in->sig ? in->sig->n_phases : 0,
	        .seconds = in->run.seconds,
	        .order = o->order,
	};
	struct cpl_scene *scene = &in->scene;
	struct cpl_wish wish;
	double start;

	scene->learned = r->learned;
	scene->turn = r->turn;
	scene->tell_all = true;

	if (choose_ranks_per_node(o, in, &job.ranks_per_node, err) ||
	    read_wish(o, in, &wish, err) ||
	    cpl_scene_request(scene, &job, &wish, &nodes, stock, NULL,
	                      &r->request, err))
		return -1;
	start = cpl_clock();
	if (cpl_decide(&r->request, &r->decision, err))
		return -1;
	r->seconds = cpl_clock() - start;
	return evaluate_linear(r, err);
}

/* --time-model, which the objective learned needs and no other one has. */
static int load_model(const struct options *o, const struct job_inputs *in,
                      struct result *r, struct cpl_error *err)
{
	bool wanted = in->objective == CPL_OBJECTIVE_LEARNED;

	if (wanted != (o->time_model != NULL))
		return cpl_fail(err, wanted ? "--objective learned needs "
		                              "--time-model, which commplace "
		                              "learn writes"
		                            : "--time-model is for --objective "
		                              "learned");
	r->learned = wanted ? cpl_learned_load(o->time_model, err) : NULL;
	return wanted && !r->learned ? -1 : 0;
}

/* The hosts of --require or --stock; *node to free(), NULL without it. */
static int read_hosts(const struct cpl_network *net, const char *option,
                      const char *text, int **node, int *n,
                      struct cpl_error *err)
{
	*n = 0;
	if (!text)
		return 0;
	*node = cmd_hosts_once(net, option, text, NULL, n, err);
	return *node ? 0 : -1;
}

static int run_placement(const struct cmd *self, int argc, char **argv)
{
	struct options o = {.seed = 1, .own_weight = 1, .others_weight = 1,
	                    .keep_price = 100};
	struct cpl_error err = {""};
	struct job_inputs in = {0};
	struct result r = {0};
	int *required = NULL, *stock = NULL, n_required, n_stock;
	int rc = parse(self, argc, argv, &o);

	if (rc)
		return rc;
	rc = CMD_FAILED;
	if (job_inputs_load(&in, &o.job, &err) ||
	    load_model(&o, &in, &r, &err) ||
	    (o.free_hosts && restrict_free(&in, o.free_hosts, &r.turn, &err)) ||
	    read_hosts(in.net, "--require", o.required, &required, &n_required,
	               &err) ||
	    read_hosts(in.net, "--stock", o.stock, &stock, &n_stock, &err))
		goto fail;
	if (stock && n_stock != o.nodes) {
		cpl_fail(&err, "--stock: %d hosts, but %d nodes are wanted",
		         n_stock, (int)o.nodes);
		goto fail;
	}
	if (place_job(&o, &in, required, n_required, stock, &r, &err) ||
	    (o.node_file &&
	     write_node_file(o.node_file, in.net, &r.decision, &err)))
		goto fail;
	rc = o.json ? print_json(self, &o, &in, &r) : print_text(self, &in, &r);
	goto out;
fail:
	cmd_fail(self, &err);
out:
	free(required);
	free(stock);
	free(r.baseline_node);
	free(r.turn);
	cpl_decision_free(&r.decision);
	cpl_learned_free(r.learned);
	job_inputs_free(&in);
	return rc;
}

const struct cmd cmd_place = {"place", run_placement};
