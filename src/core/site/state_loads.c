/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What running jobs put on the network: hosts that are taken, loads, rates. */
#include <stdlib.h>
#include <string.h>

#include "measured/unknown.h"
#include "site/state.h"

struct context {
	const struct cpl_network *net;
	const struct cpl_routing *routing;
	unsigned char *free_nodes;     /* or NULL */
	struct cpl_load *load;         /* or NULL */
	struct cpl_scene *scene;       /* or NULL: instead of the load */
	struct cpl_workload *workload; /* or NULL: instead of both */
	struct cpl_workload *own;      /* of one job, for the load */
	char **left_out; /* [jobs] or NULL: a job that fails ends it all */
};

static bool same_profile(const struct cpl_running_job *a,
                         const struct cpl_running_job *b)
{
	return a->signature && !strcmp(a->signature, b->signature) &&
	       a->ranks == b->ranks && a->own == b->own && a->uid == b->uid;
}

/* Many jobs run the same application. NULL with err. */
static struct cpl_profile *find_profile(const struct cpl_state *state, int i,
                                        struct cpl_profiles *profiles,
                                        struct cpl_error *err)
{
	const struct cpl_running_job *job = &state->job[i];
	const struct cpl_profile_wanted wanted = {job->signature, job->ranks,
	                                          job->own, job->uid};

	for (int k = 0; k < i; k++)
		if (state->job[k].profile && same_profile(&state->job[k], job))
			return cpl_profile_hold(state->job[k].profile);
	return cpl_profiles_find(profiles, &wanted, err);
}

/* A job fails all, or says why it is left out. */
static int fail_job(char **left_out, const struct cpl_running_job *job,
                    const struct cpl_error *why, struct cpl_error *err)
{
	if (left_out && (*left_out = strdup(why->text)))
		return 0;
	return cpl_fail(err, "running job %lld: %s", (long long)job->id,
	                why->text);
}

int cpl_state_profiles(struct cpl_state *state, struct cpl_profiles *profiles,
                       char **left_out, struct cpl_error *err)
{
	for (int i = 0; i < state->n_jobs; i++) {
		struct cpl_running_job *job = &state->job[i];
		struct cpl_error why = {""};

		if (!job->signature || job->profile)
			continue;
		job->profile = find_profile(state, i, profiles, &why);
		if (!job->profile && fail_job(left_out ? &left_out[i] : NULL,
		                              job, &why, err))
			return -1;
	}
	return 0;
}

/* Node id of each rank of the job's signature. */
static int *rank_nodes(const struct cpl_running_job *job, const int *host_node,
                       int ranks, struct cpl_error *err)
{
	int64_t slots = job->ranks
	                        ? job->ranks
	                        : (int64_t)job->n_hosts * job->ranks_per_node;
	int *node;

	if (ranks > slots) {
		cpl_fail(err, "its signature has %d ranks, its hosts hold %lld",
		         ranks, (long long)slots);
		return NULL;
	}
	node = malloc((size_t)ranks * sizeof(*node));
	if (!node)
		return cpl_fail_null_memory(err);
	for (int r = 0; r < ranks; r++)
		node[r] = host_node[job->ranks ? job->rank_host[r]
		                               : r / job->ranks_per_node];
	return node;
}

/* Add the job's traffic, summed up on its own first. */
static int add_load(struct context *c, const struct cpl_running_job *job,
                    const int *host_node, struct cpl_error *err)
{
	const struct cpl_profile *profile = job->profile;
	int *node = rank_nodes(job, host_node, profile->ranks, err);
	struct cpl_job placed = {
	        .routing = c->routing, .comm = profile->comm, .node = node};
	struct cpl_job_load *links;
	int rc = -1;

	if (!node)
		return -1;
	if (c->workload) {
		rc = cpl_workload_add(c->workload, &placed, err);
	} else if (c->scene) {
		links = cpl_job_load_of(c->own, c->net, &placed,
		                        profile->run.seconds, err);
		if (links)
			links->id = job->id;
		rc = links ? cpl_scene_add(c->scene, links, err) : -1;
	} else {
		cpl_workload_clear(c->own, NULL);
		if (cpl_workload_add(c->own, &placed, err) >= 0)
			rc = cpl_workload_solve(c->own, err);
		if (!rc)
			cpl_load_add(c->load, cpl_workload_load(c->own),
			             c->net);
	}
	free(node);
	return rc < 0 ? -1 : 0;
}

/* Of a job without a signature, into the scene. */
static int add_unknown(struct context *c, const struct cpl_running_job *job,
                       const int *host_node, struct cpl_error *err)
{
	struct cpl_job_load *links = cpl_unknown_load(
	        c->own, c->net, c->routing, host_node, job->n_hosts,
	        job->volume, err);

	if (!links)
		return -1;
	links->id = job->id;
	return cpl_scene_add(c->scene, links, err);
}

static int apply_job(struct context *c, const struct cpl_running_job *job,
                     struct cpl_error *err)
{
	int *host_node = malloc((size_t)job->n_hosts * sizeof(*host_node));
	int rc = 0;

	if (!host_node)
		return cpl_fail_memory(err);
	for (int i = 0; i < job->n_hosts && !rc; i++) {
		host_node[i] = cpl_network_node(c->net, job->host[i]);
		if (host_node[i] < 0)
			rc = cpl_fail(
			        err, "host %.80s is not in the network %s",
			        job->host[i], c->net->name ? c->net->name : "");
		else if (c->free_nodes)
			c->free_nodes[host_node[i]] = 0;
	}
	if (!rc && (c->load || c->workload || c->scene) && job->profile)
		rc = add_load(c, job, host_node, err);
	else if (!rc && c->scene && job->volume > 0)
		rc = add_unknown(c, job, host_node, err);
	free(host_node);
	return rc;
}

static int apply(struct context *c, const struct cpl_state *state,
                 struct cpl_error *err)
{
	int rc = 0;

	if ((c->load || c->scene) &&
	    !(c->own = cpl_workload_new(c->net, 1, err)))
		rc = -1;
	for (int i = 0; i < state->n_jobs && !rc; i++) {
		struct cpl_error why = {""};

		if ((c->left_out && c->left_out[i]) ||
		    !apply_job(c, &state->job[i], &why))
			continue;
		rc = fail_job(c->left_out ? &c->left_out[i] : NULL,
		              &state->job[i], &why, err);
	}
	cpl_workload_free(c->own);
	return rc;
}

int cpl_state_apply(const struct cpl_state *state,
                    const struct cpl_network *net,
                    const struct cpl_routing *routing,
                    unsigned char *free_nodes, struct cpl_load *load,
                    struct cpl_error *err)
{
	struct context c = {net, routing, .free_nodes = free_nodes,
	                    .load = load};

	return apply(&c, state, err);
}

int cpl_state_run(const struct cpl_state *state, struct cpl_scene *scene,
                  unsigned char *free_nodes, struct cpl_error *err)
{
	struct context c = {scene->net, scene->routing,
	                    .free_nodes = free_nodes, .scene = scene};

	return apply(&c, state, err);
}

int cpl_state_apply_each(const struct cpl_state *state,
                         const struct cpl_network *net,
                         const struct cpl_routing *routing,
                         struct cpl_load *load, char **left_out,
                         struct cpl_error *err)
{
	struct context c = {net, routing, .load = load, .left_out = left_out};

	return apply(&c, state, err);
}

int cpl_state_workload(const struct cpl_state *state,
                       const struct cpl_network *net,
                       const struct cpl_routing *routing,
                       struct cpl_workload *workload, struct cpl_error *err)
{
	struct context c = {net, routing, .workload = workload};

	return apply(&c, state, err);
}
