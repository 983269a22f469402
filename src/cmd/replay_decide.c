/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay.h"

#include <stdlib.h>
#include <string.h>

#include "job_inputs.h"

/* The network of the record, loaded unless it is the last one's. */
static int take_network(struct replay_site *site, const struct cpl_record *r,
                        struct cpl_error *err)
{
	const char *path =
	        site->o->network ? site->o->network : r->network_file;

	if (!path || !*path)
		return cpl_fail(err, "the record names no network file");
	if (site->net && !strcmp(site->net_path, path))
		return 0;
	cpl_network_free(site->net);
	free(site->net_path);
	site->net_path = strdup(path);
	site->net = site->net_path ? cpl_network_load(path, err) : NULL;
	if (!site->net_path)
		cpl_fail_memory(err);
	return site->net ? 0 : -1;
}

/* The same of its profile. */
static int take_profile(struct replay_site *site, const struct cpl_record *r,
                        struct cpl_error *err)
{
	const struct cpl_profile_wanted wanted = cpl_record_profile(r);

	cpl_profile_drop(site->profile);
	site->profile = NULL;
	if (!r->profile)
		return 0;
	site->profile = cpl_profiles_find(site->profiles, &wanted, err);
	return site->profile ? 0 : -1;
}

/* Were candidates judged with their rank order? Then by this mapper. */
static const struct cpl_mapper *mapper_of(const struct cpl_record *r)
{
	for (int i = 0; i < r->n_candidates; i++)
		if (r->candidate[i].mapped && r->mapping)
			return cpl_mapper_find(r->mapping, NULL);
	return NULL;
}

/* The machine as it was: free and required nodes. */
static int take_nodes(const struct cpl_network *net, const struct cpl_record *r,
                      unsigned char *free_node, int *turn, int **required,
                      int *n_required, struct cpl_error *err)
{
	int n, *node = cmd_hosts_once(net, "\"free_hosts\"", r->free_hosts,
	                              NULL, &n, err);

	if (!node)
		return -1;
	for (int i = 0; i < n; i++) {
		free_node[node[i]] = 1;
		turn[node[i]] = i;
	}
	free(node);
	*n_required = 0;
	if (!r->required_hosts || !*r->required_hosts)
		return 0;
	*required = cmd_hosts_once(net, "\"required_hosts\"", r->required_hosts,
	                           NULL, n_required, err);
	return *required ? 0 : -1;
}

/* The stock nodes, if they were a candidate; *node to free(). */
static int take_stock(const struct cpl_network *net, const struct cpl_record *r,
                      int **node, struct cpl_error *err)
{
	bool judged = false;
	int n;

	for (int i = 0; i < r->n_candidates; i++)
		judged |= !strcmp(r->candidate[i].policy,
		                  cpl_placement_stock.name);
	if (!judged)
		return 0;
	*node = cmd_hosts_once(net, "\"stock_hosts\"", r->stock_hosts, NULL,
	                       &n, err);
	if (!*node)
		return -1;
	if (n != r->nodes_wanted)
		return cpl_fail(err, "\"stock_hosts\": %d hosts, not %d", n,
		                r->nodes_wanted);
	return 0;
}

/* What a decision goes by beside what records share. */
struct inputs {
	unsigned char *free_node;
	int *turn; /* of those, in the scheduler's order */
	int *required, *stock;
	struct cpl_state state; /* the jobs of the background */
	struct cpl_load background, rates;
	struct cpl_learned *learned;
	struct cpl_harm *harm;
};

static void inputs_free(struct inputs *in)
{
	cpl_state_free(&in->state);
	cpl_load_free(&in->background);
	cpl_load_free(&in->rates);
	cpl_harm_free(in->harm);
	cpl_learned_free(in->learned);
	free(in->free_node);
	free(in->turn);
	free(in->required);
	free(in->stock);
}

/* Phases, and what objectives of whole candidates ask for. */
static int take_objective(const struct replay_site *site,
                          const struct cpl_record *r, struct inputs *in,
                          struct cpl_decide_request *req, struct cpl_error *err)
{
	if (req->comm) {
		req->phase = site->profile->phase;
		req->n_phases = site->profile->n_phases;
	}
	if (req->objective == CPL_OBJECTIVE_LEARNED) {
		if (!r->time_model)
			return cpl_fail(err,
			                "the record names no model of time");
		req->learned = in->learned =
		        cpl_learned_load(r->time_model, err);
		if (!in->learned)
			return -1;
	}
	if (!cpl_objective_of_others(req->objective) || !req->comm)
		return 0;
	req->own_weight = r->own_weight;
	req->others_weight = r->others_weight;
	req->harm = in->harm = cpl_harm_new(site->net, err);
	return in->harm ? cpl_state_harm(&in->state, site->net, req->routing,
	                                 in->harm, err)
	                : -1;
}

/* The load of the jobs of the background. */
static int take_load(const struct replay_site *site, const struct cpl_record *r,
                     struct inputs *in, struct cpl_decide_request *req,
                     struct cpl_error *err)
{
	const struct cpl_network *net = site->net;

	if (!in->state.n_jobs)
		return 0;
	if (cpl_load_init(&in->background, net, err) ||
	    cpl_load_init(&in->rates, net, err))
		return -1;
	if (cpl_state_rates(&in->state, net, req->routing, &in->rates, err))
		return -1;
	if (r->run_seconds > 0)
		cpl_load_scale(&in->background, &in->rates, r->run_seconds,
		               net);
	else if (cpl_state_apply(&in->state, net, req->routing, NULL,
	                         &in->background, err))
		return -1;
	req->background = &in->background;
	req->rates = &in->rates;
	return 0;
}

/* -1 with err: it cannot be made again. */
static int decide(const struct replay_site *site, const struct cpl_record *r,
                  const char *state_dir, struct cpl_decision *out,
                  struct cpl_error *err)
{
	const struct cpl_network *net = site->net;
	size_t n = (size_t)net->n_nodes + 1;
	struct inputs in = {.free_node = calloc(n, 1),
	                    .turn = calloc(n, sizeof(int))};
	struct cpl_decide_request req = {
	        .place = {.net = net,
	                  .free = in.free_node,
	                  .n_nodes_wanted = r->nodes_wanted,
	                  /* That of linear, which comes first. */
	                  .seed = r->candidate[0].seed},
	        .policy = r->policy_asked,
	        .comm = site->profile ? site->profile->comm : NULL,
	        .ranks_per_node = r->ranks_per_node,
	        .mapper = mapper_of(r),
	        .map_option = r->mapping ? cpl_mapper_option(r->mapping) : NULL,
	        .order = cpl_record_order(r),
	        .turn = in.turn,
	        .keep_whole = r->keep_whole,
	        .keep_price = r->keep_price};
	int rc = -1;

	if (!in.free_node || !in.turn) {
		cpl_fail_memory(err);
		goto out;
	}
	req.routing = cpl_routing_find(net, r->routing, err);
	if (!req.routing ||
	    cpl_objective_parse(r->objective ? r->objective : "",
	                        &req.objective, err) ||
	    take_nodes(net, r, in.free_node, in.turn, &in.required,
	               &req.place.n_required, err) ||
	    take_stock(net, r, &in.stock, err) ||
	    cpl_record_background(r, state_dir, &in.state, err) ||
	    cpl_state_profiles(&in.state, site->profiles, NULL, err))
		goto out;
	if (r->stated_routing) {
		req.stated = cpl_routing_find(net, r->stated_routing, err);
		if (!req.stated)
			goto out;
	}
	req.place.required = in.required;
	req.stock = in.stock;
	if (!take_objective(site, r, &in, &req, err) &&
	    !take_load(site, r, &in, &req, err))
		rc = cpl_decide(&req, out, err);
out:
	inputs_free(&in);
	return rc;
}

int replay_decide(struct replay_site *site, const struct cpl_record *r,
                  const char *state_dir, struct cpl_decision *out,
                  struct cpl_error *err)
{
	return take_network(site, r, err) || take_profile(site, r, err)
	               ? -1
	               : decide(site, r, state_dir, out, err);
}

void replay_site_free(struct replay_site *site)
{
	free(site->net_path);
	cpl_network_free(site->net);
	cpl_profile_drop(site->profile);
	cpl_profiles_close(site->profiles);
}
