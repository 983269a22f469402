/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This finds policies by name, and lets them choose. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "campaign/campaign_internal.h"
#include "placement/bounds.h"

/* A kind sends its traffic in so many seconds. */
#define CAMPAIGN_SECONDS 1

static const struct campaign_policy *own_policy(const char *name)
{
	return (const void *)cpl_registry_find(&campaign_policies, name,
	                                       strlen(name), NULL, NULL);
}

int campaign_chooser(const struct cpl_network *net, const char *name,
                     const struct cpl_wish *wish, struct chooser *out,
                     struct cpl_error *err)
{
	size_t length = strcspn(name, "+");
	const char *mapper = name[length] ? name + length + 1 : NULL;
	char list[128];

	*out = (struct chooser){.wish = *wish, .compare_nodes = INT_MAX};
	out->wish.mapper = NULL;
	out->wish.map_option = NULL;
	if (length >= sizeof(out->asked))
		return cpl_fail(err, "'%.40s...' is no policy", name);
	memcpy(out->asked, name, length);
	out->site = !strcasecmp(name, CPL_CAMPAIGN_SITE);
	if (out->site)
		return 0;
	out->own = own_policy(out->asked);
	if (!out->own && cpl_wish_policy(&out->wish, net, out->asked, err))
		return cpl_fail_prefix(err,
		                       "none of %s, " CPL_CAMPAIGN_SITE ", and ",
		                       cpl_registry_names(&campaign_policies, 0,
		                                          NULL, NULL, list,
		                                          sizeof(list)));
	if (!mapper)
		return 0;
	if (strcasecmp(mapper, "mapping"))
		return cpl_wish_mapper(&out->wish, mapper, err);
	out->wish.mapper = wish->mapper;
	out->wish.map_option = wish->map_option;
	return 0;
}

int cpl_campaign_policy_check(const struct cpl_network *net, const char *name,
                              struct cpl_error *err)
{
	struct chooser chooser;

	return campaign_chooser(net, name, &(struct cpl_wish){0}, &chooser,
	                        err);
}

static const struct campaign_policy *stock_policy(const struct cpl_campaign *c)
{
	return c->stock_is_tree ? &campaign_policy_tree : &campaign_policy_flat;
}

struct chooser campaign_rule(const struct cpl_campaign *c,
                             const struct chooser *chooser, int job)
{
	struct cpl_campaign_rule rule = {.stock = true};
	struct chooser of_job = *chooser;

	if (!chooser->site)
		return of_job;
	c->rule(c->rule_arg, &c->log->job[job], &rule);
	of_job.wish = rule.wish;
	of_job.compare_nodes = rule.compare_nodes;
	of_job.work = rule.work;
	if (rule.stock)
		of_job.own = stock_policy(c);
	return of_job;
}

/* What others choose is made to fit what the job asks for, as our candidates are. */
static int place_own(const struct campaign_policy *own,
                     const struct choice_request *req, int *node,
                     struct cpl_error *err)
{
	const struct cpl_placement_request place = {
	        .net = req->campaign->net,
	        .free = req->stock.free,
	        .n_nodes_wanted = req->stock.n,
	        .bounds = req->bounds};

	if (own->place(&req->stock, node, err))
		return -1;
	return cpl_bounds_keep(&place, req->found, node, err);
}

/* *mapped tells that nothing is left to map. */
static int decide(const struct chooser *chooser,
                  const struct choice_request *req, int *node,
                  int **rank_host, bool *mapped, struct cpl_error *err)
{
	const struct cpl_campaign *c = req->campaign;
	struct cpl_decision decision = {0};
	const struct cpl_scene_job job = {.comm = req->traffic.comm,
	                                  .graph = req->traffic.graph,
	                                  .grown = req->traffic.grown,
	                                  .block = req->traffic.block,
	                                  .ranks_per_node =
	                                          req->kind->ranks_per_node,
	                                  .phase = req->kind->phase,
	                                  .n_phases = req->kind->n_phases,
	                                  .seconds = CAMPAIGN_SECONDS};
	const struct cpl_placement_request nodes = {.free = req->stock.free,
	                                            .n_nodes_wanted =
	                                                    req->stock.n,
	                                            .seed = c->seed,
	                                            .bounds = req->bounds};
	const struct cpl_budget budget = {.work = chooser->work,
	                                  .team = req->team};
	/* slurmctld does so, too, up to CompareNodes, and for jobs with bounds. */
	bool compares = req->bounds || (cpl_wish_searches(&chooser->wish) &&
	                                req->n_free <= chooser->compare_nodes);

	if (compares && place_own(stock_policy(c), req, node, err))
		return -1;
	if (cpl_scene_decide(req->scene, &job, &chooser->wish, &nodes,
	                     compares ? node : NULL, &budget, &decision, err))
		return -1;
	memcpy(node, decision.node, (size_t)req->stock.n * sizeof(*node));
	*mapped = decision.mapped;
	if (decision.mapped) {
		*rank_host = decision.rank_host;
		decision.rank_host = NULL;
	}
	cpl_decision_free(&decision);
	return 0;
}

/* The ranks are in blocks; the last node may have fewer. */
static void fill_slots(const struct kind *kind, int *slots)
{
	int left = kind->ranks;

	for (int i = 0; i < kind->nodes; i++) {
		slots[i] = left < kind->ranks_per_node ? left
		                                       : kind->ranks_per_node;
		left -= slots[i];
	}
}

static int map(const struct chooser *chooser, const struct choice_request *req,
               const int *node, int **rank_host, struct cpl_error *err)
{
	const struct cpl_campaign *c = req->campaign;
	const struct kind *kind = req->kind;
	int *slots = malloc((size_t)kind->nodes * sizeof(*slots));
	struct cpl_map_result result = {0};
	struct cpl_map_request map = {.net = c->net,
	                              .routing = c->routing,
	                              .comm = req->traffic.comm,
	                              .graph = req->traffic.graph,
	                              .grown = req->traffic.grown,
	                              .n_hosts = kind->nodes,
	                              .host = node,
	                              .slots = slots,
	                              .objective = chooser->wish.objective,
	                              .option = chooser->wish.map_option,
	                              .seed = c->seed};
	int rc;

	if (!slots)
		return cpl_fail_memory(err);
	fill_slots(kind, slots);
	rc = cpl_scene_loads(req->scene, CAMPAIGN_SECONDS, &map.background,
	                     &map.rates, err);
	rc = rc ? rc : cpl_map(chooser->wish.mapper, &map, &result, err);
	if (!rc && !result.kept_default) {
		*rank_host = result.rank_host;
		result.rank_host = NULL;
	}
	cpl_map_result_free(&result);
	free(slots);
	return rc;
}

int campaign_choose(const struct chooser *chooser,
                    const struct choice_request *req, int *node,
                    int **rank_host, struct cpl_error *err)
{
	const struct campaign_policy *own = chooser->own;
	bool mapped = false;
	int rc;

	*rank_host = NULL;
	/* Our policies give the stock answer to a job that sends nothing. */
	if (!own && !req->kind)
		own = stock_policy(req->campaign);
	rc = own ? place_own(own, req, node, err)
	         : decide(chooser, req, node, rank_host, &mapped, err);
	if (!rc && chooser->wish.mapper && req->kind && !mapped)
		rc = map(chooser, req, node, rank_host, err);
	return rc;
}
