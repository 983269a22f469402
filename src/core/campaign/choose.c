/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Policies by name, and what they choose. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "campaign/campaign_internal.h"
#include "placement/decide.h"

static int flat(const struct cpl_stock_request *req,
                enum cpl_study_pattern pattern, int *out,
                struct cpl_error *err)
{
	(void)pattern;
	return cpl_stock_flat(req, out, err);
}

static int tree(const struct cpl_stock_request *req,
                enum cpl_study_pattern pattern, int *out,
                struct cpl_error *err)
{
	(void)pattern;
	return cpl_stock_tree_place(req, false, out, err);
}

static int tree_rank(const struct cpl_stock_request *req,
                     enum cpl_study_pattern pattern, int *out,
                     struct cpl_error *err)
{
	(void)pattern;
	return cpl_stock_tree_place(req, true, out, err);
}

static int select_linear(const struct cpl_stock_request *req,
                         enum cpl_study_pattern pattern, int *out,
                         struct cpl_error *err)
{
	(void)pattern;
	return cpl_stock_select_linear(req, out, err);
}

static int greedy(const struct cpl_stock_request *req,
                  enum cpl_study_pattern pattern, int *out,
                  struct cpl_error *err)
{
	(void)pattern;
	return cpl_stock_greedy(req, out, err);
}

static int balanced(const struct cpl_stock_request *req,
                    enum cpl_study_pattern pattern, int *out,
                    struct cpl_error *err)
{
	(void)pattern;
	return cpl_stock_balanced(req, out, err);
}

static const struct campaign_policy table[] = {
        {.name = "flat",
         .summary = "Slurm's own choice without a topology",
         .place = flat},
        {.name = "tree",
         .summary = "Slurm's own with topology/tree",
         .place = tree},
        {.name = "tree-rank",
         .summary = "the same with SwitchAsNodeRank",
         .place = tree_rank},
        {.name = "select-linear",
         .summary = "Slurm's select/linear with topology/tree",
         .place = select_linear},
        {.name = "greedy",
         .summary = "Mishra 2020: the least contended leaf switches",
         .place = greedy},
        {.name = "balanced",
         .summary = "Mishra 2020: powers of two on the emptiest",
         .place = balanced},
        {.name = "adaptive",
         .summary = "Mishra 2020: of both the one that costs less",
         .place = cpl_stock_adaptive},
};

#define N_OWN ((int)(sizeof(table) / sizeof(*table)))

static const struct campaign_policy *own_policy(const char *name)
{
	for (int i = 0; i < N_OWN; i++)
		if (!strcasecmp(table[i].name, name))
			return &table[i];
	return NULL;
}

int campaign_chooser(const struct cpl_network *net, const char *name,
                     const char *mapping, struct chooser *out,
                     struct cpl_error *err)
{
	size_t length = strcspn(name, "+");
	const char *mapper = name[length] ? name + length + 1 : NULL;

	*out = (struct chooser){0};
	if (length >= sizeof(out->asked))
		return cpl_fail(err, "'%.40s...' is no policy", name);
	memcpy(out->asked, name, length);
	out->own = own_policy(out->asked);
	if (!out->own && !cpl_placement_find(net->type, out->asked, err))
		return cpl_fail_prefix(err, "neither flat, tree, tree-rank, "
		                            "select-linear, greedy, balanced "
		                            "nor adaptive, and ");
	if (!mapper)
		return 0;
	if (!strcasecmp(mapper, "mapping"))
		mapper = mapping;
	out->mapper = cpl_mapper_find(mapper, err);
	out->option = cpl_mapper_option(mapper);
	return out->mapper ? 0 : -1;
}

int cpl_campaign_policy_check(const struct cpl_network *net, const char *name,
                              struct cpl_error *err)
{
	struct chooser chooser;

	return campaign_chooser(net, name, "linear", &chooser, err);
}

/* *mapped: nothing is left to map. */
static const struct campaign_policy *stock_policy(const struct cpl_campaign *c)
{
	return &table[c->stock_is_tree ? 1 : 0];
}

static int decide(const struct chooser *chooser,
                  const struct choice_request *req, int *node,
                  int **rank_host, bool *mapped, struct cpl_error *err)
{
	const struct cpl_campaign *c = req->campaign;
	struct cpl_decision decision = {0};
	struct cpl_decide_request core = {
	        .place = {.net = c->net,
	                  .free = req->stock.free,
	                  .n_nodes_wanted = req->stock.n,
	                  .seed = c->seed},
	        .policy = chooser->asked,
	        .routing = c->routing,
	        .comm = req->traffic.comm,
	        .ranks_per_node = req->kind->ranks_per_node,
	        .mapper = chooser->mapper,
	        .map_option = chooser->option,
	        .graph = req->traffic.graph,
	        .grown = req->traffic.grown,
	        .block = req->traffic.block,
	        .background = req->background,
	        .rates = req->background,
	        .harm = req->harm,
	        .own_weight = c->own_weight,
	        .others_weight = c->others_weight,
	        .objective = c->objective,
	        .keep_whole = c->keep_whole,
	        .keep_price = c->keep_price,
	        .team = req->team};

	if (req->harm ||
	    cpl_decide_is_timed(req->traffic.comm, req->stock.n)) {
		core.phase = req->kind->phase;
		core.n_phases = req->kind->n_phases;
		core.space = req->space;
	}
	/* As slurmctld does up to CompareNodes. */
	if (cpl_placement_is_search(chooser->asked)) {
		if (stock_policy(c)->place(&req->stock, c->study, node, err))
			return -1;
		core.stock = node;
	}
	if (cpl_decide(&core, &decision, err))
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

/* Ranks in blocks; the last node may have fewer. */
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
	                              .background = req->background,
	                              .rates = req->background,
	                              .objective = c->objective,
	                              .option = chooser->option,
	                              .seed = c->seed};
	int rc;

	if (!slots)
		return cpl_fail_memory(err);
	fill_slots(kind, slots);
	rc = cpl_map(chooser->mapper, &map, &result, err);
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
	/* What sends nothing gets from ours the stock answer. */
	if (!own && !req->kind)
		own = stock_policy(req->campaign);
	rc = own ? own->place(&req->stock, req->campaign->study, node, err)
	         : decide(chooser, req, node, rank_host, &mapped, err);
	if (!rc && chooser->mapper && req->kind && !mapped)
		rc = map(chooser, req, node, rank_host, err);
	return rc;
}
