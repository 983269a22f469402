/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay.h"

#include <stdlib.h>
#include <string.h>

#include "placement/bounds.h"
#include "placement/repair.h"
#include "site/sample.h"

/* Take the network of the record, which is loaded unless the last record had
 * it. */
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
	if (r->volume_profile > 0)
		site->profile = cpl_profile_of_volume(
		        r->nodes_wanted, r->volume_profile, err);
	else if (r->profile)
		site->profile =
		        cpl_profiles_find(site->profiles, &wanted, err);
	else
		return 0;
	return site->profile ? 0 : -1;
}

/* Read what was asked for. The order of the record's mapping counts only where
 * candidates were judged with their rank order. */
static int read_wish(const struct cpl_record *r, const struct cpl_network *net,
                     struct cpl_wish *out, struct cpl_error *err)
{
	bool mapped = false;

	for (int i = 0; i < r->n_candidates; i++)
		mapped |= r->candidate[i].mapped;
	*out = (struct cpl_wish){.own_weight = r->own_weight,
	                         .others_weight = r->others_weight,
	                         .keep_price = r->keep_price};
	if (mapped && r->mapping)
		cpl_wish_mapper(out, r->mapping, NULL);
	if (cpl_objective_parse(r->objective ? r->objective : "",
	                        &out->objective, err) ||
	    cpl_wish_policy(out, net, r->policy_asked, err))
		return -1;
	return cpl_wish_units(out, net, r->keep_whole, err)
	               ? cpl_fail_prefix(err, "units to be kept whole: ")
	               : 0;
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

/* What a decision goes by besides what records share. */
struct replay_inputs {
	unsigned char *free_node;
	int *turn; /* of those, in the scheduler's order */
	int *required, *stock;
	int *left; /* nodes of its run before */
	struct cpl_former former;
	struct cpl_bounds bounds;
	struct cpl_learned *learned;
	struct cpl_scene scene; /* with the jobs of the background */
};

static void inputs_free(struct replay_inputs *in)
{
	cpl_scene_close(&in->scene);
	cpl_learned_free(in->learned);
	cpl_bounds_free(&in->bounds);
	cpl_free_all(in->free_node, in->turn, in->required, in->stock,
	             in->left);
}

int replay_scene(const struct replay_site *site, const struct cpl_record *r,
                 const char *state_dir, struct cpl_scene *scene,
                 struct cpl_error *err)
{
	struct cpl_state state = {0};
	int rc = 0;

	scene->net = site->net;
	scene->routing = cpl_routing_find(site->net, r->routing, err);
	if (r->stated_routing)
		scene->stated =
		        cpl_routing_find(site->net, r->stated_routing, err);
	if (!scene->routing || (r->stated_routing && !scene->stated))
		return -1;
	rc = cpl_record_background(r, state_dir, &state, err) ||
	     cpl_state_profiles(&state, site->profiles, NULL, err) ||
	     cpl_state_run(&state, scene, NULL, err) ||
	     (r->sample && cpl_sample_put(state_dir, r->sample, scene, err));
	cpl_state_free(&state);
	return rc ? -1 : 0;
}

static int load_model(const struct cpl_record *r, struct replay_inputs *in,
                      struct cpl_error *err)
{
	if (!r->time_model)
		return cpl_fail(err, "the record names no model of time");
	in->scene.learned = in->learned = cpl_learned_load(r->time_model, err);
	return in->learned ? 0 : -1;
}

/* What the nodes had to keep to. */
static int take_bounds(const struct cpl_network *net, const struct cpl_record *r,
                       struct replay_inputs *in,
                       struct cpl_placement_request *nodes,
                       struct cpl_error *err)
{
	if (!r->rules || !r->units)
		return 0;
	nodes->bounds = &in->bounds;
	return cpl_bounds_read(&in->bounds, net, r->rules, r->units, err);
}

/* Where its ranks were before, if they stayed there: another layout was no
 * candidate. */
static int take_former(const struct cpl_network *net, const struct cpl_record *r,
                       struct replay_inputs *in, struct cpl_scene_job *job,
                       struct cpl_error *err)
{
	int n;

	if (!r->former_hosts || !r->policy ||
	    strcmp(r->policy, cpl_placement_repair.name))
		return 0;
	in->left = cmd_hosts_once(net, "\"former_hosts\"", r->former_hosts,
	                          NULL, &n, err);
	if (!in->left)
		return -1;
	if (n != r->nodes_wanted || !r->ranks)
		return cpl_fail(err, "\"former_hosts\": %d hosts for %d, with %d "
		                     "ranks",
		                n, r->nodes_wanted, r->ranks);
	in->former = (struct cpl_former){.n_nodes = n,
	                                 .ranks = r->ranks,
	                                 .node = in->left,
	                                 .rank_host = r->rank_host};
	job->former = &in->former;
	return 0;
}

/* -1 with err: it cannot be made again. */
static int decide(const struct replay_site *site, const struct cpl_record *r,
                  const char *state_dir, struct cpl_decision *out,
                  struct cpl_error *err)
{
	const struct cpl_profile *profile = site->profile;
	size_t n = (size_t)site->net->n_nodes + 1;
	struct replay_inputs in = {.free_node = calloc(n, 1),
	                           .turn = calloc(n, sizeof(int))};
	struct cpl_placement_request nodes = {
	        .free = in.free_node,
	        .n_nodes_wanted = r->nodes_wanted,
	        /* The seed is that of linear, which comes first. */
	        .seed = r->candidate[0].seed};
	struct cpl_scene_job job = {
	        .comm = profile ? profile->comm : NULL,
	        .ranks_per_node =
	                r->volume_profile > 0 ? 1 : r->ranks_per_node,
	        .phase = profile ? profile->phase : NULL,
	        .n_phases = profile ? profile->n_phases : 0,
	        .seconds = r->run_seconds,
	        .order = cpl_record_order(r)};
	struct cpl_wish wish;
	int rc = -1;

	in.scene.turn = in.turn;
	if (cpl_out_of_memory(!in.free_node || !in.turn, err))
		goto out;
	if (read_wish(r, site->net, &wish, err) ||
	    take_nodes(site->net, r, in.free_node, in.turn, &in.required,
	               &nodes.n_required, err) ||
	    take_stock(site->net, r, &in.stock, err) ||
	    take_bounds(site->net, r, &in, &nodes, err) ||
	    take_former(site->net, r, &in, &job, err) ||
	    replay_scene(site, r, state_dir, &in.scene, err) ||
	    (wish.objective == CPL_OBJECTIVE_LEARNED &&
	     load_model(r, &in, err)))
		goto out;
	nodes.required = in.required;
	rc = cpl_scene_decide(&in.scene, &job, &wish, &nodes, in.stock, NULL,
	                      out, err);
out:
	inputs_free(&in);
	return rc;
}

int replay_open(struct replay_site *site, const struct cpl_record *r,
                struct cpl_error *err)
{
	if (r->measured && !r->sample)
		return cpl_fail(err,
		                "links were measured besides (MeasuredLinks), "
		                "and none of it was kept (KeepSamples)");
	return take_network(site, r, err) || take_profile(site, r, err) ? -1 : 0;
}

int replay_decide(struct replay_site *site, const struct cpl_record *r,
                  const char *state_dir, struct cpl_decision *out,
                  struct cpl_error *err)
{
	return replay_open(site, r, err)
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
