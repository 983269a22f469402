/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "job_inputs.h"

#include <stdlib.h>
#include <string.h>

#include "site/sample.h"
#include "site/state.h"
#include "site/store.h"
#include "site_files.h"

unsigned char *cmd_usable_nodes(const struct cpl_network *net,
                                struct cpl_error *err)
{
	unsigned char *usable = malloc((size_t)net->n_nodes);

	if (!usable)
		cpl_fail_memory(err);
	for (int i = 0; usable && i < net->n_nodes; i++)
		usable[i] = net->node_name[i] != NULL;
	return usable;
}

/* The jobs of STATE.json with their profiles, to be freed in either case. */
static int load_state(const char *path, const char *profile_dir,
                      struct cpl_state *state, struct cpl_error *err)
{
	const struct cpl_profile_dirs dirs =
	        cmd_profile_dirs(NULL, cmd_profile_dir(profile_dir));

	*state = (struct cpl_state){0};
	if (cpl_state_load(path, state, err))
		return -1;
	return cmd_state_profiles(state, &dirs, NULL, err)
	               ? cpl_fail_prefix(err, "%s: ", path)
	               : 0;
}

int cmd_load_running(const char *path, const char *profile_dir,
                     const struct cpl_routing *routing, struct cpl_scene *scene,
                     unsigned char *free_nodes, struct cpl_load *load,
                     struct cpl_workload *adaptive, struct cpl_error *err)
{
	const struct cpl_network *net = scene->net;
	const struct cpl_routing *by_flow = cpl_routing_by_flow(net, routing);
	struct cpl_state state;
	int rc = -1;

	scene->routing = by_flow;
	if (cpl_load_init(load, net, err))
		return -1;
	if (load_state(path, profile_dir, &state, err))
		goto out;
	rc = state.n_jobs;
	if ((adaptive &&
	     cpl_state_workload(&state, net, routing, adaptive, err)) ||
	    cpl_state_apply(&state, net, adaptive ? by_flow : routing,
	                    free_nodes, load, err) ||
	    cpl_state_run(&state, scene, NULL, err))
		rc = cpl_fail_prefix(err, "%s: ", path);
out:
	cpl_state_free(&state);
	return rc;
}

static int load_signature(struct job_inputs *in, const struct job_options *o,
                          struct cpl_error *err)
{
	if (o->volume > 0 && o->nodes > in->net->n_nodes)
		return cpl_fail(err, "--volume: the network has but %d nodes",
		                in->net->n_nodes);
	if (o->volume > 0)
		in->sig = cpl_signature_of_volume((int)o->nodes, o->volume,
		                                  err);
	else
		in->sig = cmd_load_signature(o->signature, o->profile_dir, err);
	if (!in->sig)
		return -1;
	in->run = cpl_run_times(in->sig->phase, in->sig->n_phases);
	in->comm = cmd_comm(in->sig, NULL, err);
	return in->comm ? 0 : -1;
}

/* What links were measured to carry and the running jobs do not send. */
static int load_measured(struct job_inputs *in, const char *path,
                         struct cpl_error *err)
{
	const struct cpl_measured_at at = {0};
	const struct cpl_load *background, *rates = NULL;
	struct cpl_job_load *rest;

	if (cpl_measured_load(&in->measured, in->net, path, &at, err) ||
	    cpl_scene_loads(&in->scene, 1, &background, &rates, err))
		return -1;
	rest = cpl_measured_rest(&in->measured, in->net, rates, err);
	if (!rest)
		return -1;
	for (int i = 0; i < rest->n_links; i++)
		in->others += rest->on[i].bytes;
	return cpl_scene_add(&in->scene, rest, err);
}

int job_inputs_load(struct job_inputs *in, const struct job_options *o,
                    struct cpl_error *err)
{
	*in = (struct job_inputs){.objective = CPL_OBJECTIVE_AUTO};
	if (o->objective &&
	    cpl_objective_parse(o->objective, &in->objective, err))
		return cpl_fail_prefix(err, "--objective: ");
	in->net = cpl_network_load(o->network, err);
	if (!in->net)
		return -1;
	in->routing = cpl_routing_find_quick(in->net, o->routing, err);
	if (!in->routing)
		return cpl_fail_prefix(
		        err, "%s: ", o->routing ? "--routing" : o->network);
	in->stated = cpl_routing_find(in->net, o->routing, err);
	in->objective = cpl_objective_for(in->objective, in->stated);
	if ((o->signature || o->volume > 0) && load_signature(in, o, err))
		return -1;
	in->free = cmd_usable_nodes(in->net, err);
	if (!in->free)
		return -1;
	in->scene = (struct cpl_scene){.net = in->net, .stated = in->stated};
	if (o->running)
		in->n_running = cmd_load_running(
		        o->running, o->profile_dir, in->routing, &in->scene,
		        in->free, &in->load, NULL, err);
	in->scene.routing = in->routing;
	if (in->n_running > 0 && !(in->run.seconds > 0))
		in->scene.load = &in->load;
	return in->n_running < 0 ||
	                       (o->sample && cpl_sample_load(o->sample, &in->scene, err)) ||
	                       (o->measured &&
	                        load_measured(in, o->measured, err))
	               ? -1
	               : cpl_scene_loads(&in->scene, in->run.seconds,
	                                 &in->background, &in->running, err);
}

void job_inputs_free(struct job_inputs *in)
{
	cpl_scene_close(&in->scene);
	cpl_load_free(&in->load);
	cpl_measured_free(&in->measured);
	cpl_comm_free(in->comm);
	cpl_signature_free(in->sig);
	cpl_network_free(in->net);
	free(in->free);
}

json_t *job_metrics_json(const struct cpl_metrics *metrics,
                         const struct cpl_job_sums *sums)
{
	return json_pack(
	        "{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}",
	        "max_congestion", metrics->max_congestion, "mean_congestion",
	        metrics->mean_congestion, "nonzero_congestion_average",
	        metrics->nonzero_average, "nonzero_congestion_variance",
	        metrics->nonzero_variance, "max_injection",
	        metrics->max_injection, "hop_bytes", sums->hop_bytes,
	        "bytes_on_network", sums->bytes_on_network, "bytes_in_node",
	        sums->bytes_in_node, "max_dilation", sums->max_dilation);
}
