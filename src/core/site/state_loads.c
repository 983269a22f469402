/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What running jobs put on the network: hosts that are taken, loads, rates. */
#include <stdlib.h>
#include <string.h>

#include "signature/signature.h"
#include "site/state.h"

/* Signatures of the jobs so far: many jobs run the same application. */
struct loaded {
	const char *signature; /* of the job that came first */
	struct cpl_comm *comm; /* the whole run */
	struct cpl_run_times run;
};

struct context {
	const struct cpl_network *net;
	const struct cpl_routing *routing;
	const char *profile_dir;
	unsigned char *free_nodes;     /* or NULL */
	struct cpl_load *load;         /* or NULL */
	bool rates;                    /* it is bytes/s */
	struct cpl_workload *workload; /* or NULL: instead of the load */
	struct cpl_workload *own;      /* of one job, for the load */
	struct loaded *loaded;         /* [jobs] */
	int n_loaded;
	struct cpl_harm *harm; /* or NULL; instead of load */
	char **left_out; /* [jobs] or NULL: a job that fails ends it all */
};

static struct cpl_signature *find_signature(const struct context *c,
                                            const char *name,
                                            struct cpl_error *err)
{
	if (strchr(name, '/'))
		return cpl_signature_load(name, err);
	if (c->profile_dir)
		return cpl_profile_load(c->profile_dir, name, err);
	cpl_fail(err,
	         "signature \"%s\" is a profile's name, and no profile "
	         "directory is known; give a path with a \"/\"",
	         name);
	return NULL;
}

/* The context keeps it. */
static const struct loaded *job_signature(struct context *c,
                                          const struct cpl_running_job *job,
                                          struct cpl_error *err)
{
	struct loaded *next = &c->loaded[c->n_loaded];
	struct cpl_signature *sig;

	for (int i = 0; i < c->n_loaded; i++)
		if (!strcmp(c->loaded[i].signature, job->signature))
			return &c->loaded[i];
	sig = find_signature(c, job->signature, err);
	if (!sig)
		return NULL;
	next->signature = job->signature;
	next->run = cpl_run_times(sig->phase, sig->n_phases);
	next->comm = cpl_signature_total(sig, err);
	cpl_signature_free(sig);
	if (!next->comm)
		return NULL;
	c->n_loaded++;
	return next;
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
static int add_own(struct context *c, const struct loaded *sig,
                   struct cpl_error *err)
{
	const struct cpl_load *own = cpl_workload_load(c->own);
	double seconds = sig->run.seconds;

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
	const struct loaded *sig = job_signature(c, job, err);
	int *node = sig ? rank_nodes(job, host_node, sig->comm->ranks, err)
	                : NULL;
	struct cpl_job placed = {.routing = c->routing,
	                         .comm = sig ? sig->comm : NULL,
	                         .node = node};
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
			rc = add_own(c, sig, err);
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
	if (!rc && (c->load || c->workload || c->harm) && job->signature)
		rc = add_load(c, job, host_node, err);
	free(host_node);
	return rc;
}

static int apply(struct context *c, const struct cpl_state *state,
                 struct cpl_error *err)
{
	int rc = 0;

	c->loaded = calloc((size_t)state->n_jobs + 1, sizeof(*c->loaded));
	if (!c->loaded)
		return cpl_fail_memory(err);
	if ((c->load || c->harm) && !(c->own = cpl_workload_new(c->net, 1, err)))
		rc = -1;
	for (int i = 0; i < state->n_jobs && !rc; i++) {
		struct cpl_error why = {""};

		if (!apply_job(c, &state->job[i], &why))
			continue;
		if (c->left_out)
			c->left_out[i] = strdup(why.text);
		if (!c->left_out || !c->left_out[i])
			rc = cpl_fail(err, "running job %lld: %s",
			              (long long)state->job[i].id, why.text);
	}
	cpl_workload_free(c->own);
	for (int i = 0; i < c->n_loaded; i++)
		cpl_comm_free(c->loaded[i].comm);
	free(c->loaded);
	return rc;
}

int cpl_state_apply(const struct cpl_state *state,
                    const struct cpl_network *net,
                    const struct cpl_routing *routing, const char *profile_dir,
                    unsigned char *free_nodes, struct cpl_load *load,
                    struct cpl_error *err)
{
	struct context c = {net, routing, profile_dir, .free_nodes = free_nodes,
	                    .load = load};

	return apply(&c, state, err);
}

int cpl_state_rates(const struct cpl_state *state,
                    const struct cpl_network *net,
                    const struct cpl_routing *routing, const char *profile_dir,
                    struct cpl_load *rates, struct cpl_error *err)
{
	struct context c = {net, routing, profile_dir, .load = rates,
	                    .rates = true};

	return apply(&c, state, err);
}

int cpl_state_harm(const struct cpl_state *state, const struct cpl_network *net,
                   const struct cpl_routing *routing, const char *profile_dir,
                   struct cpl_harm *harm, struct cpl_error *err)
{
	struct context c = {net, routing, profile_dir, .harm = harm};

	return apply(&c, state, err) ? -1 : cpl_harm_ready(harm, err);
}

int cpl_state_apply_each(const struct cpl_state *state,
                         const struct cpl_network *net,
                         const struct cpl_routing *routing,
                         const char *profile_dir, struct cpl_load *load,
                         char **left_out, struct cpl_error *err)
{
	struct context c = {net, routing, profile_dir, .load = load,
	                    .left_out = left_out};

	return apply(&c, state, err);
}

int cpl_state_workload(const struct cpl_state *state,
                       const struct cpl_network *net,
                       const struct cpl_routing *routing,
                       const char *profile_dir, struct cpl_workload *workload,
                       struct cpl_error *err)
{
	struct context c = {net, routing, profile_dir, .workload = workload};

	return apply(&c, state, err);
}
