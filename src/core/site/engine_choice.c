/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hosts, and what was chosen, into the record. */
#include <stdlib.h>
#include <string.h>

#include "base/hostlist.h"
#include "site/engine_deciding.h"

char **engine_host_names(const struct desk *desk, const int *host, int n)
{
	char **name = malloc(((size_t)n + 1) * sizeof(*name));

	for (int i = 0; name && i < n; i++) {
		if (host[i] < 0 || host[i] >= desk->n_hosts ||
		    !desk->host_name[host[i]]) {
			free(name);
			return NULL;
		}
		name[i] = desk->host_name[host[i]];
	}
	return name;
}

int engine_set_hostlist(char **field, char *const *name, int n)
{
	char *text = name ? cpl_hostlist_format(name, n) : NULL;

	if (!text)
		return -1;
	free(*field);
	*field = text;
	return 0;
}

int engine_record_hosts(struct cpl_record *record, char *const *name, int n)
{
	struct cpl_hostlist copy = {0};

	for (int i = 0; i < n; i++)
		if (!name || cpl_hostlist_push(&copy, name[i], NULL)) {
			cpl_hostlist_free(&copy);
			return -1;
		}
	for (int i = 0; i < record->n_hosts; i++)
		free(record->host[i]);
	free(record->host);
	record->host = copy.name;
	record->n_hosts = n;
	return 0;
}

int engine_set_hosts_text(const struct desk *desk, char **field,
                          const int *host, int n)
{
	char **name = engine_host_names(desk, host, n);
	int rc = engine_set_hostlist(field, name, n);

	free(name);
	return rc;
}

int engine_set_free_text(const struct desk *desk, const uint64_t *bits,
                         char **field)
{
	/* In the scheduler's order, which is what ranks in blocks follow. */
	char *text = cpl_hostlist_format_bits(desk->host_name, desk->n_hosts,
	                                      bits, desk->follows);

	if (!text)
		return -1;
	free(*field);
	*field = text;
	return 0;
}

static int set_hosts(const struct desk *desk, struct cpl_record *record,
                     const int *host, int n)
{
	char **name = engine_host_names(desk, host, n);
	int rc = engine_record_hosts(record, name, n);

	free(name);
	return rc;
}

static int set_candidates(struct cpl_record *record,
                          const struct cpl_decision *decision,
                          const struct cpl_routing *stated)
{
	int n = decision->n_candidates;

	while (record->n_candidates)
		free(record->candidate[--record->n_candidates].policy);
	free(record->candidate);
	record->candidate = calloc((size_t)n + 1, sizeof(*record->candidate));
	if (!record->candidate || engine_set(&record->stated_routing, NULL))
		return -1;
	for (; record->n_candidates < n; record->n_candidates++) {
		const struct cpl_candidate *from =
		        &decision->candidate[record->n_candidates];
		struct cpl_record_candidate *to =
		        &record->candidate[record->n_candidates];

		if (engine_set(&to->policy, from->policy->name))
			return -1;
		to->seed = from->seed;
		to->evaluated = from->evaluated;
		to->max_congestion = from->metrics.max_congestion;
		to->mean_congestion = from->metrics.mean_congestion;
		to->hop_bytes = from->sums.hop_bytes;
		to->seconds = from->times.seconds;
		to->alone_seconds = from->times.alone;
		to->shared_links = from->shared;
		to->slows_others = from->harm;
		to->learned = from->told;
		to->broken = from->broken;
		to->mapped = from->is_mapped;
		to->mapped_max = from->mapped.metrics.max_congestion;
		to->mapped_mean = from->mapped.metrics.mean_congestion;
		to->mapped_hop_bytes = from->mapped.sums.hop_bytes;
		to->stated_max = from->stated.metrics.max_congestion;
		if (from->is_stated && !record->stated_routing &&
		    engine_set(&record->stated_routing, stated->name))
			return -1;
		to->barred = from->barred;
		to->plain_max = from->plain.metrics.max_congestion;
	}
	return 0;
}

/* What is broken, and what it costs to break no more. -1: memory. */
static int set_kept(struct cpl_record *record,
                    const struct cpl_decision *decision)
{
	const struct cpl_candidate *best = &decision->candidate[decision->best];

	if (!record->keep_whole)
		return 0;
	record->broken = decision->candidate[decision->chosen].broken;
	record->best_broken = best->broken;
	record->price = decision->price;
	return engine_set(&record->best_policy, best->policy->name);
}

/* The rank order found while deciding stays with the decision. -1: memory. */
static int keep_rank_order(struct decided *out,
                           const struct cpl_decision *decision)
{
	const struct cpl_candidate *chosen =
	        &decision->candidate[decision->chosen];
	size_t size = out->profile ? (size_t)out->profile->comm->ranks *
	                                     sizeof(int)
	                           : 0;

	free(out->rank_host);
	out->rank_host = NULL;
	out->mapped = decision->mapped;
	out->max_before = chosen->metrics.max_congestion;
	out->times = chosen->times;
	out->max_after = chosen->is_mapped
	                         ? chosen->mapped.metrics.max_congestion
	                         : out->max_before;
	if (!decision->rank_host)
		return 0;
	out->rank_host = malloc(size);
	if (!out->rank_host)
		return -1;
	memcpy(out->rank_host, decision->rank_host, size);
	return 0;
}

int engine_set_order(struct deciding *d, const struct cpl_decision *decision)
{
	int n = decision->n_nodes;
	int *order = malloc(((size_t)n + 1) * sizeof(int));

	free(d->out->order);
	d->out->order = order;
	d->out->n_order = order ? n : 0;
	if (!order || keep_rank_order(d->out, decision))
		return -1;
	for (int i = 0; i < n; i++)
		order[i] = d->desk->node_host[decision->node[i]];
	return 0;
}

int engine_set_choice(struct deciding *d, const struct cpl_decision *decision)
{
	const struct cpl_candidate *chosen =
	        &decision->candidate[decision->chosen];
	struct cpl_record *record = d->out->record;

	if (engine_set_order(d, decision))
		return -1;
	record->seed = chosen->seed;
	record->cut_short = decision->cut_short;
	return engine_set(&record->policy, chosen->policy->name) |
	       set_kept(record, decision) |
	       set_hosts(d->desk, record, d->out->order, d->out->n_order) |
	       set_candidates(record, decision, d->desk->snapshot->stated);
}
