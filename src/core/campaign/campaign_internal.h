/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CPL_CAMPAIGN_INTERNAL_H
#define CPL_CAMPAIGN_INTERNAL_H

#include "base/registry.h"
#include "campaign/campaign.h"
#include "mapping/mapping.h"
#include "traffic/times.h"

/* Jobs of one rule, size and share: what they send is the same. */
struct kind {
	int rule, nodes;
	double share;
	int ranks, ranks_per_node;
	struct cpl_phase own;          /* of a pattern */
	const struct cpl_phase *phase; /* NULL: the jobs send nothing */
	int n_phases;
	struct cpl_comm *comm;  /* bytes/s of the run, for decisions */
	struct cpl_comm *graph; /* the same undirected */
	double alone; /* seconds of communication on the empty machine */
	struct cpl_error err;
};

struct kinds {
	int n;
	struct kind *kind;
	int *of; /* [log->n_jobs], -1: sends nothing */
	int other_ranks;
};

/* The kinds of the log's jobs with their traffic. 0, or -1 with err; to be
 * freed in either case. */
int campaign_kinds(const struct cpl_campaign *c, struct kinds *out,
                   struct cpl_error *err);
void campaign_kinds_free(struct kinds *kinds);

struct machine;

/* How a policy chooses nodes, whatever its name says behind "+". */
struct campaign_policy {
	CPL_ENTRY; /* of campaigns alone; name NULL: cpl_decide's `asked` */
	/* n distinct free nodes in rank order; 0 or -1 with err. */
	int (*place)(const struct cpl_stock_request *req,
	             enum cpl_study_pattern pattern, int *out,
	             struct cpl_error *err);
};

/* A policy as asked: "auto+greedyallc". */
struct chooser {
	const struct campaign_policy *own; /* NULL: asked is placement's */
	char asked[64];
	const struct cpl_mapper *mapper; /* NULL: ranks stay in order */
	const char *option;              /* of the mapper */
};

/* 0, or -1 with err. mapping: what "+mapping" means. */
int campaign_chooser(const struct cpl_network *net, const char *name,
                     const char *mapping, struct chooser *out,
                     struct cpl_error *err);

/* One job to be placed. */
struct choice_request {
	const struct cpl_campaign *campaign;
	const struct kind *kind; /* NULL: sends nothing */
	struct cpl_stock_request stock;
	const struct cpl_load *background; /* bytes/s, or NULL */
};

/*
 * Nodes in order of hosts into node[n]; *rank_host (malloc, [ranks]) where a
 * mapper laid the ranks out otherwise than in blocks, else NULL. 0, or -1 with
 * err.
 */
int campaign_choose(const struct chooser *chooser,
                    const struct choice_request *req, int *node,
                    int **rank_host, struct cpl_error *err);

#endif
