/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "job_inputs.h"

#include <stdlib.h>
#include <string.h>

#include "site/state.h"
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

int cmd_load_running(const char *path, const struct cpl_network *net,
                     const struct cpl_routing *routing, const char *profile_dir,
                     unsigned char *free_nodes, struct cpl_load *load,
                     struct cpl_workload *adaptive, struct cpl_error *err)
{
	struct cpl_state state;
	int rc = -1;

	if (cpl_load_init(load, net, err))
		return -1;
	if (load_state(path, profile_dir, &state, err))
		goto out;
	rc = state.n_jobs;
	if (adaptive && cpl_state_workload(&state, net, routing, adaptive, err))
		rc = -1;
	if (adaptive)
		routing = cpl_routing_by_flow(net, routing);
	if (rc >= 0 &&
	    cpl_state_apply(&state, net, routing, free_nodes, load, err))
		rc = -1;
	if (rc < 0)
		cpl_fail_prefix(err, "%s: ", path);
out:
	cpl_state_free(&state);
	return rc;
}

int cmd_running_rates(const char *path, const struct cpl_network *net,
                      const struct cpl_routing *routing,
                      const char *profile_dir, struct cpl_load *rates,
                      struct cpl_error *err)
{
	struct cpl_state state;
	int rc;

	if (cpl_load_init(rates, net, err))
		return -1;
	rc = load_state(path, profile_dir, &state, err);
	if (!rc && cpl_state_rates(&state, net,
	                           cpl_routing_by_flow(net, routing), rates,
	                           err))
		rc = cpl_fail_prefix(err, "%s: ", path);
	cpl_state_free(&state);
	return rc;
}

/* The running jobs one by one. NULL with err. */
static struct cpl_harm *running_harm(const struct job_inputs *in,
                                     const struct job_options *o,
                                     struct cpl_error *err)
{
	struct cpl_harm *harm = cpl_harm_new(in->net, err);
	struct cpl_state state = {0};

	if (!harm || load_state(o->running, o->profile_dir, &state, err) ||
	    cpl_state_harm(&state, in->net,
	                   cpl_routing_by_flow(in->net, in->routing), harm,
	                   err)) {
		cpl_harm_free(harm);
		harm = NULL;
	}
	cpl_state_free(&state);
	return harm;
}

static int load_signature(struct job_inputs *in, const struct job_options *o,
                          struct cpl_error *err)
{
	in->sig = cmd_load_signature(o->signature, o->profile_dir, err);
	if (!in->sig)
		return -1;
	in->run = cpl_run_times(in->sig->phase, in->sig->n_phases);
	in->comm = cmd_comm(in->sig, NULL, err);
	return in->comm ? 0 : -1;
}

static int load_running(struct job_inputs *in, const struct job_options *o,
                        struct cpl_error *err)
{
	in->n_running = cmd_load_running(o->running, in->net, in->routing,
	                                 o->profile_dir, in->free, &in->load,
	                                 NULL, err);
	if (in->n_running <= 0)
		return in->n_running;
	in->background = &in->load;
	if (cmd_running_rates(o->running, in->net, in->routing, o->profile_dir,
	                      &in->rates, err))
		return -1;
	in->running = &in->rates;
	in->harm = running_harm(in, o, err);
	if (!in->harm)
		return -1;
	if (in->run.seconds > 0)
		cpl_load_scale(&in->load, &in->rates, in->run.seconds, in->net);
	return 0;
}

int job_inputs_load(struct job_inputs *in, const struct job_options *o,
                    struct cpl_error *err)
{
	memset(in, 0, sizeof(*in));
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
	if (o->signature && load_signature(in, o, err))
		return -1;
	in->free = cmd_usable_nodes(in->net, err);
	if (!in->free)
		return -1;
	return o->running ? load_running(in, o, err) : 0;
}

void job_inputs_free(struct job_inputs *in)
{
	cpl_load_free(&in->load);
	cpl_load_free(&in->rates);
	cpl_harm_free(in->harm);
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
