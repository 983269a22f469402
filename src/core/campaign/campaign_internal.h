/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CPL_CAMPAIGN_INTERNAL_H
#define CPL_CAMPAIGN_INTERNAL_H

#include <pthread.h>

#include "base/registry.h"
#include "campaign/campaign.h"
#include "mapping/rank_groups.h"
#include "scene/scene.h"

/* Jobs of one rule, size and share: what they send is the same. */
struct kind {
	int rule, nodes;
	double share;
	int ranks, ranks_per_node;
	bool sends;                    /* more than inside its nodes */
	struct cpl_phase own;          /* of a pattern */
	const struct cpl_phase *phase; /* comm: while it is taken */
	int n_phases;
	double alone;   /* seconds of communication on the empty machine */
	double seconds; /* that the bytes below are divided by */
	struct cpl_error err;
	/* Kept while somebody has it, and longer where there is room. */
	struct cpl_comm *comm;  /* bytes/s of the run, for decisions */
	struct cpl_comm *graph; /* the same undirected, once asked for */
	struct cpl_rank_groups grown, block;
	bool has_grown;
	int users;
	int64_t last; /* when it was taken last, in takes */
};

struct kinds {
	const struct cpl_campaign *campaign;
	int n;
	struct kind *kind;
	int *of; /* [log->n_jobs], -1: sends nothing */
	int other_ranks;
	pthread_mutex_t lock; /* of what follows, and of what kinds keep */
	int64_t takes;
};

/* The kinds of the log's jobs. 0, or -1 with err; to be freed in either case. */
int campaign_kinds(const struct cpl_campaign *c, struct kinds *out,
                   struct cpl_error *err);
void campaign_kinds_free(struct kinds *kinds);

/* kind_traffic.c */

/* What the jobs of a kind send, in bytes, into kind->comm, and its phases. 0, or
 * -1 with err. */
int campaign_traffic_make(const struct cpl_campaign *c, struct kind *kind,
                          struct cpl_error *err);
/* What is kept of it goes. */
void campaign_traffic_drop(struct kind *kind);

/* A policy of campaigns alone: how others choose nodes. */
struct campaign_policy {
	CPL_ENTRY;
	/* n distinct free nodes in rank order; 0 or -1 with err. */
	int (*place)(const struct cpl_stock_request *req, int *out,
	             struct cpl_error *err);
};

/* All, in the order of lists: policies.c. */
extern const struct cpl_registry campaign_policies;
extern const struct campaign_policy campaign_policy_flat, campaign_policy_tree;

/* A policy as asked: "auto+greedyallc". */
struct chooser {
	const struct campaign_policy *own; /* NULL: the wish's is meant */
	bool site; /* see campaign_rule */
	char asked[64];
	struct cpl_wish wish; /* without a mapper ranks stay in order */
	/* As in cpl_campaign_rule. */
	int compare_nodes;
	long work;
};

/* What a choice wants of a kind. */
struct kind_traffic {
	const struct cpl_comm *comm;
	const struct cpl_comm *graph;         /* NULL: the mapper does without */
	/* Of the default mapper, or NULL. */
	const struct cpl_rank_groups *grown, *block;
};

/*
 * The traffic of a kind, with what the chooser's mapper looks at besides, until
 * it is given back. The kinds that nobody has go first when all that is
 * kept is more than the campaign allows, those that were not taken for longest.
 * From any thread; one at a time makes anything. 0, or -1 with err (memory).
 */
int campaign_traffic_take(struct kinds *kinds, struct kind *kind,
                          const struct chooser *chooser,
                          struct kind_traffic *out, struct cpl_error *err);
void campaign_traffic_give(struct kinds *kinds, struct kind *kind);

/* What the campaign wishes by the policy of that name; *out stays where it is.
 * 0, or -1 with err. */
int campaign_chooser(const struct cpl_network *net, const char *name,
                     const struct cpl_wish *wish, struct chooser *out,
                     struct cpl_error *err);

/* What the chooser is for that job: itself, or what the site's rules say. */
struct chooser campaign_rule(const struct cpl_campaign *c,
                             const struct chooser *chooser, int job);

/* One job to be placed. */
struct choice_request {
	const struct cpl_campaign *campaign;
	const struct kind *kind; /* NULL: sends nothing */
	struct kind_traffic traffic; /* of it */
	struct cpl_stock_request stock;
	int n_free; /* nodes */
	struct cpl_scene *scene; /* with what the running jobs send */
	struct cpl_team *team; /* or NULL */
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
