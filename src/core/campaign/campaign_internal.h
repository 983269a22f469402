/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <pthread.h>

#include "base/registry.h"
#include "campaign/bound.h"
#include "campaign/campaign.h"
#include "mapping/rank_groups.h"
#include "scene/scene.h"

/* With so many ranks, the traffic of one kind is made at a time, and of jobs that need
 * it for no decision, since that takes gigabytes. */
#define CAMPAIGN_LARGE 16384

/* Jobs of one rule, size and share send the same. */
struct kind {
	int rule, nodes;
	double share;
	int ranks, ranks_per_node;
	bool sends;                    /* to other nodes */
	struct cpl_phase own;          /* of a pattern */
	const struct cpl_phase *phase; /* comm is set while it is taken */
	int n_phases;
	int segment;    /* nodes, as its traffic implies; 0: none, or not asked */
	double alone;   /* seconds of communication on the empty machine */
	double seconds; /* the bytes below are divided by this */
	struct cpl_error err;
	/* These are kept while a choice uses them, and longer where there is room. */
	struct cpl_comm *comm;  /* bytes/s of the run, for decisions */
	struct cpl_comm *graph; /* the same undirected, once asked for */
	struct cpl_rank_groups grown, block;
	bool has_grown;
	uint64_t kept; /* bytes of all that */
	/* What its hosts send each other with ranks in blocks, packed; NULL: too large. */
	struct cpl_times *blocks;
	int users;
	int64_t last; /* when it was taken last, counted in takes */
};

struct kinds {
	const struct cpl_campaign *campaign;
	int n;
	struct kind *kind;
	int *of; /* [log->n_jobs], -1: sends nothing */
	int other_ranks;
	int domain; /* nodes that a segment may have; 0: none is asked for */
	pthread_mutex_t large; /* one such kind is made at a time */
	pthread_mutex_t lock; /* of what follows, and of what kinds keep */
	int64_t takes;
	uint64_t kept; /* bytes of all kinds */
	uint64_t blocks; /* the same of their blocks, at most half as much */
};

/* This finds the kinds of the log's jobs, with segments of at most `domain` nodes as
 * their traffic implies them (0: without). It returns 0, or -1 with err; free the
 * kinds in either case. */
int campaign_kinds(const struct cpl_campaign *c, int domain, struct kinds *out,
                   struct cpl_error *err);
void campaign_kinds_free(struct kinds *kinds);

/* This is in kind_traffic.c. It puts what the jobs of a kind send, in bytes, into
 * kind->comm, and makes its phases. It returns 0, or -1 with err. */
int campaign_traffic_make(const struct cpl_campaign *c, struct kind *kind,
                          struct cpl_error *err);
/* This frees what is kept of it. */
void campaign_traffic_drop(struct kind *kind);

/* This is a policy of campaigns alone, as others choose nodes. */
struct campaign_policy {
	CPL_ENTRY;
	/* This chooses n distinct free nodes in rank order. It returns 0, or -1
	 * with err. */
	int (*place)(const struct cpl_stock_request *req, int *out,
	             struct cpl_error *err);
	bool blind; /* it does not care what jobs ask for of their nodes */
	bool leftovers; /* jobs without segments have what these leave */
};

/* policies.c has all of them in the order of lists. */
extern const struct cpl_registry campaign_policies;
extern const struct campaign_policy campaign_policy_flat, campaign_policy_tree;

/* This is a policy as asked for: "auto+greedyallc". */
struct chooser {
	const struct campaign_policy *own; /* NULL: the wish's is meant */
	bool site; /* see campaign_rule */
	char asked[64];
	struct cpl_wish wish; /* without a mapper ranks stay in order */
	/* This is as in cpl_campaign_rule. */
	int compare_nodes;
	long work;
};

/* A choice needs this of a kind. */
struct kind_traffic {
	const struct cpl_comm *comm;
	const struct cpl_comm *graph;         /* NULL: the mapper does without */
	/* These are for the default mapper, or NULL. */
	const struct cpl_rank_groups *grown, *block;
};

/* This gives the traffic of a kind, and what the chooser's mapper needs besides,
 * until it is given back. When all that is kept is more than the campaign allows,
 * the kinds that nobody uses go first, beginning with those not taken for longest.
 * It may be called from any thread; only one at a time makes anything. It returns
 * 0, or -1 with err when memory is out. */
int campaign_traffic_take(struct kinds *kinds, struct kind *kind,
                          const struct chooser *chooser,
                          struct kind_traffic *out, struct cpl_error *err);
void campaign_traffic_give(struct kinds *kinds, struct kind *kind);

/* This returns a job of a kind whose comm is there, its ranks in blocks where rank_host
 * is NULL, or NULL with err. */
struct cpl_times *campaign_times(const struct kind *kind, const int *rank_host,
                                 struct cpl_error *err);
/* This divides the comm that was made by the kind's seconds, and makes the kind's
 * blocks, if there is room. It may be called from any thread. It returns 0, or -1 with
 * err when memory is out. */
int campaign_keep_blocks(struct kinds *kinds, struct kind *kind,
                         struct cpl_error *err);

/* This sets what the campaign wishes with the policy of that name; *out must not
 * move. It returns 0, or -1 with err. */
int campaign_chooser(const struct cpl_network *net, const char *name,
                     const struct cpl_wish *wish, struct chooser *out,
                     struct cpl_error *err);

/* This says whether any of its choices looks at what the running jobs send. */
static inline bool campaign_looks(const struct chooser *chooser)
{
	return chooser->site || !chooser->own || chooser->wish.mapper;
}

/* This returns the chooser for that job: itself, or what the site's rules say. */
struct chooser campaign_rule(const struct cpl_campaign *c,
                             const struct chooser *chooser, int job);

/* This is one job to be placed. */
struct choice_request {
	const struct cpl_campaign *campaign;
	const struct kind *kind; /* NULL: sends nothing */
	struct kind_traffic traffic; /* of that kind */
	struct cpl_stock_request stock;
	int n_free; /* nodes */
	/* What the set must keep, and one that does; or NULL. */
	const struct cpl_bounds *bounds;
	const int *found;
	struct cpl_scene *scene; /* with what the running jobs send */
	struct cpl_team *team; /* or NULL */
};

/* This puts nodes in the order of hosts into node[n]. *rank_host (malloc, [ranks])
 * tells where a mapper laid the ranks out, or is NULL if they are in blocks. It
 * returns 0, or -1 with err. */
int campaign_choose(const struct chooser *chooser,
                    const struct choice_request *req, int *node,
                    int **rank_host, struct cpl_error *err);
