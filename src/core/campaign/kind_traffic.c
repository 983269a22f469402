/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This makes what the jobs of a kind send, and keeps some of it: patterns of 65,536
 * ranks take a gigabyte, and a log has a thousand kinds. */
#include <stdlib.h>

#include "campaign/campaign_internal.h"
#include "mapping/quick.h"
#include "placement/decide.h"

int campaign_traffic_make(const struct cpl_campaign *c, struct kind *kind,
                          struct cpl_error *err)
{
	const struct cpl_signature *sig = c->signature[kind->rule];
	const struct cpl_jobs_rule *rule = &c->jobs->rule[kind->rule];

	kind->comm = sig ? cpl_signature_total(sig, err)
	                 : cpl_jobs_pattern_comm(rule->pattern, kind->ranks,
	                                         err);
	if (!sig)
		kind->own.comm = kind->comm;
	return kind->comm ? 0 : -1;
}

/* From here on the bytes are divided by seconds. */
static void divide(struct kind *kind, double seconds)
{
	struct cpl_comm *comm = kind->comm;

	for (int64_t i = 0; i < comm->n_entries; i++) {
		comm->bytes[i] /= seconds;
		comm->messages[i] /= seconds;
	}
}

void campaign_traffic_drop(struct kind *kind)
{
	cpl_comm_free(kind->comm);
	cpl_comm_free(kind->graph);
	cpl_rank_groups_free(&kind->grown);
	cpl_rank_groups_free(&kind->block);
	kind->comm = kind->graph = kind->own.comm = NULL;
	kind->has_grown = false;
}

/* Once groups are grown, a decision by the default mapper looks at the ranks of
 * small jobs only. */
static bool needs_graph(const struct kind *kind, const struct chooser *chooser)
{
	return chooser->wish.mapper &&
	       (chooser->own || chooser->wish.mapper != &cpl_mapper_quick ||
	        (long)kind->ranks * kind->nodes <= CPL_QUICK_SMALL);
}

static int grow(struct kind *kind, const struct cpl_comm *graph,
                struct cpl_error *err)
{
	const struct cpl_decide_request req = {
	        .place = {.n_nodes_wanted = kind->nodes},
	        .comm = kind->comm,
	        .graph = graph,
	        .ranks_per_node = kind->ranks_per_node};

	if (cpl_decide_groups(&req, &kind->grown, err) ||
	    cpl_decide_blocks(&req, &kind->block, err)) {
		cpl_rank_groups_free(&kind->grown);
		cpl_rank_groups_free(&kind->block);
		return -1;
	}
	kind->has_grown = true;
	return 0;
}

/* This returns what groups are grown by. Patterns are symmetric, so both ways
 * together have twice what each has, and the groups come out the same. So the large
 * ones, which take gigabytes, are not made twice. */
static int grow_by(struct kind *kind, struct cpl_error *err)
{
	struct cpl_comm *graph;
	int rc;

	if (kind->graph || kind->own.comm)
		return grow(kind, kind->graph ? kind->graph : kind->comm, err);
	graph = cpl_comm_symmetric(kind->comm, err);
	if (!graph)
		return -1;
	rc = grow(kind, graph, err);
	cpl_comm_free(graph);
	return rc;
}

/* This makes what the mapper needs and does not have yet. */
static int prepare(struct kind *kind, const struct chooser *chooser,
                   struct cpl_error *err)
{
	if (needs_graph(kind, chooser) && !kind->graph) {
		kind->graph = cpl_comm_symmetric(kind->comm, err);
		if (!kind->graph)
			return -1;
	}
	return chooser->wish.mapper == &cpl_mapper_quick && !kind->has_grown
	               ? grow_by(kind, err)
	               : 0;
}

/* All that is kept may be so large. */
static uint64_t most_kept(const struct kinds *kinds)
{
	uint64_t most = kinds->campaign->kept;

	return most ? most : CPL_CAMPAIGN_KEPT;
}

static uint64_t kept_bytes(const struct kind *kind)
{
	uint64_t bytes = 0;

	if (kind->comm)
		bytes += cpl_comm_bytes(kind->comm);
	if (kind->graph)
		bytes += cpl_comm_bytes(kind->graph);
	if (kind->block.n)
		bytes += cpl_comm_bytes(kind->block.hosts);
	if (kind->grown.n)
		bytes += cpl_comm_bytes(kind->grown.hosts) +
		         (uint64_t)kind->ranks * sizeof(int);
	return bytes;
}

/* What is kept of a kind became more or less. */
static void count_kept(struct kinds *kinds, struct kind *kind)
{
	uint64_t bytes = kept_bytes(kind);

	kinds->kept += bytes - kind->kept;
	kind->kept = bytes;
}

/* Kinds that were not taken for longest go until the others are few enough. */
static void make_room(struct kinds *kinds)
{
	uint64_t most = most_kept(kinds);

	while (kinds->kept + kinds->blocks > most) {
		struct kind *oldest = NULL;

		for (int i = 0; i < kinds->n; i++) {
			struct kind *kind = &kinds->kind[i];

			if (kind->comm && !kind->users &&
			    (!oldest || kind->last < oldest->last))
				oldest = kind;
		}
		if (!oldest)
			return;
		campaign_traffic_drop(oldest);
		count_kept(kinds, oldest);
	}
}

/* This describes what was prepared for this chooser. */
static void describe(const struct kind *kind, const struct chooser *chooser,
                     struct kind_traffic *out)
{
	*out = (struct kind_traffic){.comm = kind->comm};
	if (needs_graph(kind, chooser))
		out->graph = kind->graph;
	if (chooser->wish.mapper != &cpl_mapper_quick)
		return;
	out->grown = &kind->grown;
	out->block = &kind->block;
}

int campaign_traffic_take(struct kinds *kinds, struct kind *kind,
                          const struct chooser *chooser,
                          struct kind_traffic *out, struct cpl_error *err)
{
	int rc = 0;

	pthread_mutex_lock(&kinds->lock);
	if (!kind->comm) {
		rc = campaign_traffic_make(kinds->campaign, kind, err);
		if (!rc)
			divide(kind, kind->seconds);
	}
	if (!rc)
		rc = prepare(kind, chooser, err);
	count_kept(kinds, kind);
	if (!rc) {
		kind->users++;
		kind->last = ++kinds->takes;
		describe(kind, chooser, out);
	}
	pthread_mutex_unlock(&kinds->lock);
	return rc;
}

void campaign_traffic_give(struct kinds *kinds, struct kind *kind)
{
	pthread_mutex_lock(&kinds->lock);
	kind->users--;
	make_room(kinds);
	pthread_mutex_unlock(&kinds->lock);
}

struct cpl_times *campaign_times(const struct kind *kind, const int *rank_host,
                                 struct cpl_error *err)
{
	struct cpl_times *times =
	        cpl_times_open(kind->phase, kind->n_phases, kind->ranks, err);

	if (!times || !cpl_times_order(times, rank_host, kind->ranks_per_node,
	                               kind->nodes, err))
		return times;
	cpl_times_close(times);
	return NULL;
}

int campaign_keep_blocks(struct kinds *kinds, struct kind *kind,
                         struct cpl_error *err)
{
	uint64_t most = most_kept(kinds) / 2, bytes;
	struct cpl_times *times, *packed;
	bool full;
	int rc;

	divide(kind, kind->seconds);
	pthread_mutex_lock(&kinds->lock);
	full = kinds->blocks >= most;
	pthread_mutex_unlock(&kinds->lock);
	times = full ? NULL : campaign_times(kind, NULL, err);
	if (!times)
		return full ? 0 : -1;
	/* One in 16 of the room at most, so that a few large ones do not take it. */
	rc = cpl_times_pack(times, kinds->campaign->net, most / 16, &packed, &bytes,
	                    err);
	cpl_times_close(times);
	pthread_mutex_lock(&kinds->lock);
	if (packed && kinds->blocks + bytes <= most) {
		kinds->blocks += bytes;
		kind->blocks = packed;
		packed = NULL;
	}
	pthread_mutex_unlock(&kinds->lock);
	cpl_times_close(packed);
	return rc;
}
