/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "place.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "communication.h"
#include "mapping/mapping.h"

/* The time for which the job is predicted to communicate there. */
static int add_times(json_t *one, const struct cpl_times_result *times,
                     double reference)
{
	return cpl_json_update(
	        one, "{s:f, s:f, s:f}", "communication_seconds", times->seconds,
	        "communication_alone", times->alone, "slowdown",
	        communication_slowdown(times->seconds, reference));
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
	return cpl_json_update(one, "{s:I, s:f}", "shared_links",
	                       (json_int_t)c->shared, "slows_others", c->harm);
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
static int add_objective(json_t *one, const struct place_result *r,
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
	return cpl_json_update(one, "{s:f, s:b}", "plain_max_congestion",
	                       c->plain.metrics.max_congestion, "barred",
	                       c->barred);
}

static json_t *candidates_json(const struct place_result *r)
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

		if (cpl_json_update(one, "{s:s, s:I, s:b, s:b}", "policy",
		                    c->policy->name, "seed",
		                    (json_int_t)c->seed, "evaluated",
		                    c->evaluated, "chosen", i == d->chosen) ||
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
static json_t *ranks_json(const struct cpl_network *net,
                          const struct place_result *r)
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
static json_t *kept_json(const struct place_result *r)
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

/* What was measured besides. */
static json_t *measured_json(const struct job_inputs *in)
{
	if (!in->measured.n)
		return NULL;
	return json_pack("{s:I, s:I, s:f}", "links",
	                 (json_int_t)in->measured.n, "left_out",
	                 (json_int_t)in->measured.left_out, "others",
	                 in->others);
}

int place_print_json(const struct cmd *self, const char *asked,
                     const struct job_inputs *in, const struct place_result *r)
{
	const struct cpl_decision *d = &r->decision;
	const struct cpl_candidate *chosen = &d->candidate[d->chosen];
	json_t *linear = judgement_json(&r->baseline);

	if (json_object_set_new(
	            linear, "hosts",
	            cmd_hosts_json(in->net, r->baseline_node, d->n_nodes))) {
		json_decref(linear);
		return cmd_fail_memory(self);
	}
	return cmd_print_pack(
	        self,
	        "{s:s, s:s, s:I, s:o, s:i, s:i, s:s, s:s, s:i, s:o, "
	        "s:o, s:b, s:f, s:f, s:f, s:s, s:o, s:o*, s:o*, s:o*}",
	        "policy", chosen->policy->name, "policy_asked", asked, "seed",
	        (json_int_t)chosen->seed, "hosts",
	        cmd_hosts_json(in->net, d->node, d->n_nodes), "nodes",
	        d->n_nodes, "ranks_per_node", r->request.ranks_per_node,
	        "objective", cpl_objective_name(in->objective), "routing",
	        in->routing->name, "background_jobs", in->n_running,
	        "candidates", candidates_json(r), "linear", linear, "cut_short",
	        d->cut_short, "seconds", r->seconds, "run_seconds",
	        in->run.seconds, "share", in->run.share, "rank_mapping",
	        r->request.wish.mapper ? r->request.wish.mapper->name
	                               : cpl_mapper_linear.name,
	        "rank_to_host", ranks_json(in->net, r), "keep_whole",
	        kept_json(r), "spread", spread_of(&r->request.place, d),
	        "measured", measured_json(in));
}

/* Behind the columns that all have: what candidates break; what they do to
 * running jobs, or what the model predicts. */
static int print_candidates(const struct place_result *r)
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
				snprintf(last[keeps], sizeof(last[0]), "%.4g s",
				         c->told);
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
static void print_kept(const struct job_inputs *in,
                       const struct place_result *r)
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

/* What of the rules its nodes keep. */
static void print_bounds(const struct place_result *r)
{
	char *words = NULL;

	if (r->request.place.bounds)
		words = cpl_bounds_words(&r->bounds, r->decision.node,
		                         r->decision.n_nodes);
	if (words)
		printf("By the rules: %s.\n", words);
	free(words);
}

/* The scheduler's own nodes, by the routing that the network states. */
static void print_stated(const struct place_result *r)
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
static void print_barred(const struct place_result *r)
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

static void print_reason(const struct job_inputs *in,
                         const struct place_result *r)
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
	print_change(now.metrics.max_congestion, linear.metrics.max_congestion);
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
static void print_verdict(const struct job_inputs *in,
                          const struct place_result *r)
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

int place_print_text(const struct cmd *self, const struct job_inputs *in,
                     const struct place_result *r)
{
	const struct cpl_decision *d = &r->decision;
	char *hosts = cmd_hosts_text(in->net, d->node, d->n_nodes);
	char *linear = cmd_hosts_text(in->net, r->baseline_node, d->n_nodes);
	int rc = CMD_FAILED;

	if (!hosts || !linear) {
		cmd_fail_memory(self);
		goto out;
	}
	if (print_candidates(r) != CMD_OK)
		goto out;
	print_reason(in, r);
	print_verdict(in, r);
	print_kept(in, r);
	print_bounds(r);
	print_barred(r);
	printf("\nhosts   %s\nlinear  %s\n", hosts, linear);
	rc = CMD_OK;
out:
	cpl_free_all(hosts, linear);
	return rc;
}
