/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What running jobs put on the network: hosts that are taken, loads, rates. */
#include <stdlib.h>
#include <string.h>

#include "signature/signature.h"
#include "site/state.h"

struct context {
	const struct cpl_network *net;
	const struct cpl_routing *routing;
	unsigned char *free_nodes;     /* or NULL */
	struct cpl_load *load;         /* or NULL */
	bool rates;                    /* it is bytes/s */
	struct cpl_workload *workload; /* or NULL: instead of the load */
	struct cpl_workload *own;      /* of one job, for the load */
	struct cpl_harm *harm; /* or NULL; instead of load */
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
	if (!node) {
		cpl_fail_memory(err);
		return NULL;
	}
	for (int r = 0; r < ranks; r++)
		node[r] = host_node[job->ranks ? job->rank_host[r]
		                               : r / job->ranks_per_node];
	return node;
}

/* What a job's own load comes to. 0, or -1 with err (memory). */
static int add_own(struct context *c, const struct cpl_profile *profile,
                   struct cpl_error *err)
{
	const struct cpl_load *own = cpl_workload_load(c->own);
	double seconds = profile->run.seconds;

	if (!c->rates && !c->harm) {
		cpl_load_add(c->load, own, c->net);
		return 0;
	}
	if (!(seconds > 0))
		seconds = cpl_load_seconds(own, c->net);
	if (!(seconds > 0))
		return 0;
	if (c->harm) {
		cpl_harm_job(c->harm);
		return cpl_harm_add_load(c->harm, own, seconds, err);
	}
	cpl_load_add_part(c->load, own, seconds, c->net);
	return 0;
}

/* Add the job's traffic, summed up on its own first. */
static int add_load(struct context *c, const struct cpl_running_job *job,
                    const int *host_node, struct cpl_error *err)
{
	const struct cpl_profile *profile = job->profile;
	int *node = rank_nodes(job, host_node, profile->ranks, err);
	struct cpl_job placed = {
	        .routing = c->routing, .comm = profile->comm, .node = node};
	int rc = -1;

	if (!node)
		return -1;
	if (c->workload) {
		rc = cpl_workload_add(c->workload, &placed, err);
	} else {
		cpl_workload_clear(c->own, NULL);
		if (cpl_workload_add(c->own, &placed, err) >= 0)
			rc = cpl_workload_solve(c->own, err);
		if (!rc)
			rc = add_own(c, profile, err);
	}
	free(node);
	return rc < 0 ? -1 : 0;
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
	if (!rc && (c->load || c->workload || c->harm) && job->profile)
		rc = add_load(c, job, host_node, err);
	free(host_node);
	return rc;
}

static int apply(struct context *c, const struct cpl_state *state,
                 struct cpl_error *err)
{
	int rc = 0;

	if ((c->load || c->harm) && !(c->own = cpl_workload_new(c->net, 1, err)))
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

int cpl_state_rates(const struct cpl_state *state,
                    const struct cpl_network *net,
                    const struct cpl_routing *routing, struct cpl_load *rates,
                    struct cpl_error *err)
{
	struct context c = {net, routing, .load = rates, .rates = true};

	return apply(&c, state, err);
}

int cpl_state_harm(const struct cpl_state *state, const struct cpl_network *net,
                   const struct cpl_routing *routing, struct cpl_harm *harm,
                   struct cpl_error *err)
{
	struct context c = {net, routing, .harm = harm};

	return apply(&c, state, err) ? -1 : cpl_harm_ready(harm, err);
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
