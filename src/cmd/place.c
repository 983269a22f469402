/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "place.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "job_inputs.h"
#include "mapping/quick.h"
#include "options.h"
#include "placement/bounds.h"
#include "site/record.h"

#define MAX_RANKS CPL_SIGNATURE_MAX_RANKS

struct options {
	struct job_options job;
	const char *policy, *free_hosts, *required, *node_file, *mapping,
	        *stock, *keep_whole, *time_model, *reaches, *rules, *units;
	int64_t ranks_per_node, ranks, seed; /* 0: not given */
	int64_t own_weight, others_weight, keep_price;
	enum cpl_order order; /* of reaches */
	bool json;
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
	        {"measured", .text = &o->job.measured},
	        {"sample", .text = &o->job.sample},
	        {"volume", .number = &o->job.volume, .least = 1, .most = 1e15},
	        {"nodes", .integer = &o->job.nodes, .low = 1, .high = INT32_MAX},
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
	        {"rules", .text = &o->rules},
	        {"units", .text = &o->units},
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
	if (!o->job.nodes || !o->policy)
		return cmd_usage(self, "%s is missing",
		                 !o->job.nodes ? "--nodes" : "--policy");
	if (parse_order(o->reaches, &o->order))
		return cmd_usage(self, "--order-reaches is yes, no or unknown");
	if (!o->rules != !o->units)
		return cmd_usage(self, "--rules and --units go together");
	if (o->job.signature && o->ranks)
		return cmd_usage(self, "--ranks is for jobs without "
		                       "--signature, which states its own");
	if (o->job.volume > 0 &&
	    (o->job.signature || o->ranks || o->ranks_per_node))
		return cmd_usage(self, "--volume is for jobs of which nothing "
		                       "else is known: without --signature, "
		                       "--ranks and --ranks-per-node");
	if (o->job.measured && o->job.sample)
		return cmd_usage(self, "--measured and --sample are two ways "
		                       "to say the same");
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
	cpl_free_all(node, listed);
	return rc;
}

static int choose_ranks_per_node(const struct options *o,
                                 const struct job_inputs *in, int *out,
                                 struct cpl_error *err)
{
	int64_t ranks = in->comm ? in->comm->ranks : o->ranks;
	int64_t k = o->ranks_per_node;

	if (!k)
		k = ranks ? (ranks + o->job.nodes - 1) / o->job.nodes : 1;
	if (ranks > o->job.nodes * k)
		return cpl_fail(err,
		                "%" PRId64 " ranks do not fit --nodes %" PRId64
		                " with %" PRId64 " ranks each",
		                ranks, o->job.nodes, k);
	*out = (int)k;
	return 0;
}

/* What node order would have given, for comparison. */
static int evaluate_linear(struct place_result *r, struct cpl_error *err)
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
                     struct place_result *r, struct cpl_error *err)
{
	const struct cpl_placement_request nodes = {
	        .free = in->free,
	        .n_nodes_wanted = (int)o->job.nodes,
	        .required = required,
	        .n_required = n_required,
	        .seed = (uint64_t)o->seed,
	        .bounds = o->rules ? &r->bounds : NULL,
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
                      struct place_result *r, struct cpl_error *err)
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
	struct place_result r = {0};
	int *required = NULL, *stock = NULL, n_required, n_stock;
	int rc = parse(self, argc, argv, &o);

	if (rc)
		return rc;
	rc = CMD_FAILED;
	if (job_inputs_load(&in, &o.job, &err) ||
	    load_model(&o, &in, &r, &err) ||
	    (o.free_hosts && restrict_free(&in, o.free_hosts, &r.turn, &err)) ||
	    (o.rules &&
	     cpl_bounds_read(&r.bounds, in.net, o.rules, o.units, &err)) ||
	    read_hosts(in.net, "--require", o.required, &required, &n_required,
	               &err) ||
	    read_hosts(in.net, "--stock", o.stock, &stock, &n_stock, &err))
		goto fail;
	if (stock && n_stock != o.job.nodes) {
		cpl_fail(&err, "--stock: %d hosts, but %d nodes are wanted",
		         n_stock, (int)o.job.nodes);
		goto fail;
	}
	if (place_job(&o, &in, required, n_required, stock, &r, &err) ||
	    (o.node_file &&
	     write_node_file(o.node_file, in.net, &r.decision, &err)))
		goto fail;
	rc = o.json ? place_print_json(self, o.policy, &in, &r)
	            : place_print_text(self, &in, &r);
	goto out;
fail:
	cmd_fail(self, &err);
out:
	cpl_free_all(required, stock, r.baseline_node, r.turn);
	cpl_bounds_free(&r.bounds);
	cpl_decision_free(&r.decision);
	cpl_learned_free(r.learned);
	job_inputs_free(&in);
	return rc;
}

const struct cmd cmd_place = {"place", run_placement};
