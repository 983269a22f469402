/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This lists by name how others choose nodes: stock.h. */
#include "campaign/campaign_internal.h"

static int tree(const struct cpl_stock_request *req, int *out,
                struct cpl_error *err)
{
	return cpl_stock_tree_choose(req, false, out, err);
}

static int tree_rank(const struct cpl_stock_request *req, int *out,
                     struct cpl_error *err)
{
	return cpl_stock_tree_choose(req, true, out, err);
}

const struct campaign_policy campaign_policy_flat = {
        .name = "flat",
        .summary = "Slurm's own choice without a topology",
        .place = cpl_stock_flat,
};
const struct campaign_policy campaign_policy_tree = {
        .name = "tree",
        .summary = "Slurm's own with topology/tree",
        .place = tree,
};
const struct campaign_policy campaign_policy_tree_rank = {
        .name = "tree-rank",
        .summary = "the same with SwitchAsNodeRank",
        .place = tree_rank,
};
const struct campaign_policy campaign_policy_select_linear = {
        .name = "select-linear",
        .summary = "Slurm's select/linear with topology/tree",
        .place = cpl_stock_select_linear,
};
const struct campaign_policy campaign_policy_greedy = {
        .name = "greedy",
        .summary = "Mishra 2020: the least contended leaf switches",
        .place = cpl_stock_greedy,
};
const struct campaign_policy campaign_policy_balanced = {
        .name = "balanced",
        .summary = "Mishra 2020: powers of two on the emptiest",
        .place = cpl_stock_balanced,
};
const struct campaign_policy campaign_policy_adaptive = {
        .name = "adaptive",
        .summary = "Mishra 2020: of both the one that costs less",
        .place = cpl_stock_adaptive,
};
const struct campaign_policy campaign_policy_blind = {
        .name = "blind",
        .summary = "flat, whatever jobs ask for of their nodes",
        .place = cpl_stock_flat,
        .blind = true,
};
const struct campaign_policy campaign_policy_leftovers = {
        .name = "leftovers",
        .summary = "tree, jobs without segments pass others only on nodes that "
                   "no segment can have",
        .place = tree,
        .leftovers = true,
};
