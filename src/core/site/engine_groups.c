/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which ranks share a host: of large jobs kept from one decision to the next, and
 * grown by the worker where that takes longer than a call of the scheduler may. */
#include <stdlib.h>
#include <string.h>

#include "mapping/quick.h"
#include "placement/decide.h"
#include "site/engine_desk.h"

/* Entries of the graph up to which they are grown at once: some 5 ms. */
#define GROWN_AT_ONCE 65536

struct growing {
	struct cpl_request head;
	struct cpl_worker *worker;
	struct snapshot *snapshot;
	struct cpl_profile *profile;
	int ranks_per_node, n_hosts;
	struct cpl_rank_groups grown;
};

static struct cpl_decide_request request_of(const struct snapshot *snapshot,
                                            const struct cpl_profile *profile,
                                            int ranks_per_node, int n_hosts)
{
	return (struct cpl_decide_request){
	        .place = {.net = snapshot->net, .n_nodes_wanted = n_hosts},
	        .comm = profile->comm,
	        .graph = profile->graph,
	        .ranks_per_node = ranks_per_node,
	};
}

static void run_growing(struct cpl_request *head)
{
	struct growing *g = (struct growing *)head;
	struct cpl_decide_request req =
	        request_of(g->snapshot, g->profile, g->ranks_per_node,
	                   g->n_hosts);

	cpl_worker_files(g->worker, CPL_QUEUE_MAKE, false);
	cpl_decide_groups(&req, &g->grown, NULL);
}

static void growing_free(struct cpl_request *head)
{
	struct growing *g = (struct growing *)head;

	cpl_rank_groups_free(&g->grown);
	cpl_profile_drop(g->profile);
	engine_snapshot_drop(g->snapshot);
	free(g);
}

static void forget(struct desk *desk, struct kept_groups *kept)
{
	if (kept->growing)
		cpl_worker_drop(desk->clerk->worker, &kept->growing->head);
	cpl_rank_groups_free(&kept->grown);
	cpl_rank_groups_free(&kept->block);
	cpl_profile_drop(kept->profile);
	engine_snapshot_drop(kept->snapshot);
	*kept = (struct kept_groups){.used = 0};
}

void engine_groups_free(struct desk *desk)
{
	for (int i = 0; i < ENGINE_GROUPS; i++)
		forget(desk, &desk->groups[i]);
}

/* Have the worker grow them. -1: memory. */
static int begin(struct desk *desk, struct kept_groups *kept)
{
	struct growing *g = calloc(1, sizeof(*g));

	if (!g)
		return -1;
	g->head.run = run_growing;
	g->head.free = growing_free;
	g->worker = desk->clerk->worker;
	g->snapshot = engine_snapshot_hold(kept->snapshot);
	g->profile = cpl_profile_hold(kept->profile);
	g->ranks_per_node = kept->ranks_per_node;
	g->n_hosts = kept->n_hosts;
	if (cpl_worker_queue(desk->clerk->worker, CPL_QUEUE_MAKE, &g->head,
	                     true, NULL))
		return -1;
	kept->growing = g;
	return 0;
}

static int make(struct desk *desk, struct kept_groups *kept)
{
	struct cpl_decide_request req =
	        request_of(kept->snapshot, kept->profile, kept->ranks_per_node,
	                   kept->n_hosts);

	if (cpl_decide_blocks(&req, &kept->block, NULL))
		return -1;
	return kept->profile->graph->n_entries > GROWN_AT_ONCE
	               ? begin(desk, kept)
	               : cpl_decide_groups(&req, &kept->grown, NULL);
}

/* Take what the worker has grown. */
static void end(struct desk *desk, struct kept_groups *kept)
{
	struct growing *g = kept->growing;

	if (!g || !cpl_worker_wait(desk->clerk->worker, &g->head, 0))
		return;
	kept->grown = g->grown;
	g->grown = (struct cpl_rank_groups){0};
	kept->growing = NULL;
	cpl_worker_drop(desk->clerk->worker, &g->head);
}

const struct kept_groups *engine_groups(struct desk *desk,
                                        struct cpl_profile *profile,
                                        const struct cpl_mapper *mapper,
                                        int ranks_per_node, int n_hosts)
{
	struct kept_groups *kept = &desk->groups[0], *found = NULL;

	/* What does not fit is the decision's to tell. */
	if (!profile ||
	    !cpl_decide_by_quick(mapper, profile->ranks, n_hosts) ||
	    (long)profile->ranks * n_hosts <= CPL_QUICK_SMALL ||
	    (long)n_hosts * ranks_per_node < profile->ranks)
		return NULL;
	for (int i = 0; i < ENGINE_GROUPS && !found; i++) {
		struct kept_groups *at = &desk->groups[i];

		if (at->profile == profile && at->n_hosts == n_hosts &&
		    at->snapshot == desk->snapshot &&
		    at->ranks_per_node == ranks_per_node)
			found = at;
		else if (at->used < kept->used)
			kept = at;
	}
	if (!found) {
		found = kept;
		forget(desk, kept);
		kept->snapshot = engine_snapshot_hold(desk->snapshot);
		kept->profile = cpl_profile_hold(profile);
		kept->ranks_per_node = ranks_per_node;
		kept->n_hosts = n_hosts;
		if (make(desk, kept)) {
			forget(desk, kept);
			return NULL;
		}
	}
	end(desk, found);
	found->used = ++desk->groups_used;
	return found;
}

bool engine_use_groups(struct desk *desk, struct cpl_decide_request *req,
                       struct cpl_profile *profile)
{
	const struct kept_groups *kept =
	        engine_groups(desk, profile, req->wish.mapper,
	                      req->ranks_per_node, req->place.n_nodes_wanted);

	if (!kept)
		return false;
	req->block = &kept->block;
	req->grown = &kept->grown;
	return kept->growing;
}
