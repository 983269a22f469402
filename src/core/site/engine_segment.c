/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What segments the signatures of jobs imply: found once for jobs alike, by the worker
 * where that takes longer than a call of the scheduler may. */
#include <stdlib.h>

#include "mapping/segments.h"
#include "site/engine_desk.h"

/* Entries of the traffic up to which it is found at once: some 2 ms. */
#define ADVISED_AT_ONCE 20480

struct advising {
	struct cpl_request head;
	struct cpl_worker *worker;
	struct snapshot *snapshot;
	struct cpl_profile *profile;
	int ranks_per_node;
	int nodes;
};

/* 0: none, or it cannot be told. */
static int advise(const struct cpl_network *net,
                  const struct cpl_profile *profile, int ranks_per_node)
{
	struct cpl_segment_domains domains;
	int nodes = -1;

	if (!cpl_segment_domains(net, NULL, &domains, NULL))
		nodes = cpl_segment_implied(profile->comm, ranks_per_node,
		                            domains.nodes, NULL);
	return nodes > 0 ? nodes : 0;
}

static void run_advising(struct cpl_request *head)
{
	struct advising *a = (struct advising *)head;

	cpl_worker_files(a->worker, CPL_QUEUE_MAKE, false);
	a->nodes = advise(a->snapshot->net, a->profile, a->ranks_per_node);
}

static void advising_free(struct cpl_request *head)
{
	struct advising *a = (struct advising *)head;

	cpl_profile_drop(a->profile);
	engine_snapshot_drop(a->snapshot);
	free(a);
}

static void forget(struct desk *desk, struct kept_segment *kept)
{
	if (kept->advising)
		cpl_worker_drop(desk->clerk->worker, &kept->advising->head);
	cpl_profile_drop(kept->profile);
	engine_snapshot_drop(kept->snapshot);
	*kept = (struct kept_segment){.used = 0};
}

void engine_segments_free(struct desk *desk)
{
	for (int i = 0; i < ENGINE_SEGMENTS; i++)
		forget(desk, &desk->segment_of[i]);
}

/* -1: memory. */
static int begin(struct desk *desk, struct kept_segment *kept)
{
	struct advising *a = calloc(1, sizeof(*a));

	if (!a)
		return -1;
	a->head.run = run_advising;
	a->head.free = advising_free;
	a->worker = desk->clerk->worker;
	a->snapshot = engine_snapshot_hold(kept->snapshot);
	a->profile = cpl_profile_hold(kept->profile);
	a->ranks_per_node = kept->ranks_per_node;
	if (cpl_worker_queue(a->worker, CPL_QUEUE_MAKE, &a->head, true, NULL))
		return -1;
	kept->advising = a;
	return 0;
}

/* The one that is kept of it, or the oldest, which is to be made anew. */
static struct kept_segment *find(struct desk *desk,
                                 const struct cpl_profile *profile,
                                 int ranks_per_node, bool *known)
{
	struct kept_segment *oldest = &desk->segment_of[0];

	for (int i = 0; i < ENGINE_SEGMENTS; i++) {
		struct kept_segment *at = &desk->segment_of[i];

		*known = at->profile == profile &&
		         at->snapshot == desk->snapshot &&
		         at->ranks_per_node == ranks_per_node;
		if (*known)
			return at;
		if (at->used < oldest->used)
			oldest = at;
	}
	return oldest;
}

int engine_segment(struct desk *desk, struct cpl_profile *profile,
                   int ranks_per_node, bool *growing)
{
	bool known, at_once = profile->comm->n_entries <= ADVISED_AT_ONCE;
	struct kept_segment *kept =
	        find(desk, profile, ranks_per_node, &known);

	if (!known) {
		forget(desk, kept);
		kept->snapshot = engine_snapshot_hold(desk->snapshot);
		kept->profile = cpl_profile_hold(profile);
		kept->ranks_per_node = ranks_per_node;
		if (at_once)
			kept->nodes = advise(desk->snapshot->net, profile,
			                     ranks_per_node);
		else if (begin(desk, kept)) {
			forget(desk, kept);
			return 0;
		}
	}
	kept->used = ++desk->segments_used;
	if (kept->advising &&
	    cpl_worker_wait(desk->clerk->worker, &kept->advising->head, 0)) {
		kept->nodes = kept->advising->nodes;
		cpl_worker_drop(desk->clerk->worker, &kept->advising->head);
		kept->advising = NULL;
	}
	*growing |= kept->advising != NULL;
	return kept->nodes;
}
