/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bounds of jobs, kept as they were read: those of one partition are alike. */
#include "commplace-config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "site/engine_deciding.h"

static void forget(struct kept_bounds *kept)
{
	cpl_free_all(kept->rules, kept->units);
	if (kept->rules)
		cpl_bounds_free(&kept->bounds);
	*kept = (struct kept_bounds){NULL};
}

void engine_bounds_forget(struct desk *desk)
{
	for (int i = 0; i < ENGINE_BOUNDS; i++)
		forget(&desk->bounds[i]);
}

/* The bounds of a job, read for the network in force: until the next call. NULL
 * with err. O(1), or as cpl_bounds_read where they are others than the last
 * few. */
static const struct cpl_bounds *read_bounds(struct desk *desk,
                                            const char *rules,
                                            const char *units,
                                            struct cpl_error *err)
{
	struct kept_bounds *kept;

	for (int i = 0; i < ENGINE_BOUNDS; i++) {
		kept = &desk->bounds[i];
		if (kept->rules && !strcmp(kept->rules, rules) &&
		    !strcmp(kept->units, units))
			return &kept->bounds;
	}
	kept = &desk->bounds[desk->next_bounds];
	desk->next_bounds = (desk->next_bounds + 1) % ENGINE_BOUNDS;
	/* Decisions go by their address. */
	engine_memo_forget(desk);
	forget(kept);
	if (cpl_bounds_read(&kept->bounds, desk->snapshot->net, rules, units,
	                    err))
		return NULL;
	kept->rules = strdup(rules);
	kept->units = strdup(units);
	if (kept->rules && kept->units)
		return &kept->bounds;
	cpl_bounds_free(&kept->bounds);
	cpl_free_all(kept->rules, kept->units);
	*kept = (struct kept_bounds){NULL};
	cpl_fail_memory(err);
	return NULL;
}

/* Is the job to be wished the segments of its signature? What its user states
 * wins. */
static bool wants_segments(const struct deciding *d)
{
	return d->want.segment && d->req->segments && d->out->profile &&
	       !d->req->n_required &&
	       (d->want.policy.source != CPL_FROM_USER ||
	        cpl_wish_searches(&d->want.wish));
}

/* Its rules with them, into d->rules, if they divide its nodes. -1: memory. */
static int imply_segments(struct deciding *d)
{
	int nodes = (int)d->size.nodes, segment;
	const struct cpl_record *record = d->out->record;

	free(d->rules);
	d->rules = NULL;
	if (!wants_segments(d) ||
	    engine_spread(record->ranks, (uint32_t)record->ranks_per_node) !=
	            nodes)
		return 0;
	segment = engine_segment(d->desk, d->out->profile,
	                         record->ranks_per_node, &d->growing);
	if (segment < 2 || nodes % segment)
		return 0;
	if (asprintf(&d->rules, "%s,wish=%d", d->req->rules, segment) >= 0)
		return 0;
	d->rules = NULL;
	return -1;
}

static const char *rules_of(const struct deciding *d)
{
	return d->rules ? d->rules : d->req->rules;
}

int engine_bind(struct deciding *d, struct cpl_error *err)
{
	if (!d->req->rules)
		return 0;
	if (imply_segments(d))
		return cpl_fail_memory(err);
	d->bounds = read_bounds(d->desk, rules_of(d), d->req->units, err);
	return d->bounds ? 0 : -1;
}

bool engine_takes_stock(const struct cpl_placement_request *place,
                        const int *stock)
{
	size_t size = (size_t)place->n_nodes_wanted * sizeof(*stock);
	int *copy;
	bool others;

	if (!place->bounds ||
	    cpl_bounds_granted(place->bounds, stock, place->n_nodes_wanted))
		return true;
	copy = malloc(size);
	others = copy && !cpl_bounds_grant(place, memcpy(copy, stock, size),
	                                   NULL);
	free(copy);
	return !others;
}

int engine_note_bounds(struct deciding *d, const struct cpl_decision *decision)
{
	struct cpl_record *record = d->out->record;
	const char *from = d->rules             ? CPL_SEGMENT_BY_SIGNATURE
	                   : d->bounds && d->bounds->segment
	                           ? CPL_SEGMENT_BY_USER
	                           : NULL;

	if (!d->bounds || !d->req->start)
		return 0;
	free(record->kept);
	record->kept = cpl_bounds_words(d->bounds, decision->node,
	                                decision->n_nodes);
	return (record->kept == NULL) | engine_set(&record->rules, rules_of(d)) |
	       engine_set(&record->units, d->req->units) |
	       engine_set(&record->segment_from, from);
}

/* The scheduler's own count of nodes, each with as many CPUs as one of its own
 * has free. */
static void size_as_stock(struct deciding *d)
{
	if (d->n_stock == (int)d->size.nodes)
		return;
	d->size.nodes = (uint32_t)d->n_stock;
	for (int i = 0; i < d->n_stock; i++)
		if (d->offer[d->stock[i]] < d->size.cpus)
			d->size.cpus = d->offer[d->stock[i]];
}

bool engine_follow_stock(struct deciding *d)
{
	if (!d->req->by_stock)
		return true;
	engine_ask_beside(d);
	if (d->n_stock)
		size_as_stock(d);
	return !d->asked_stock || d->n_stock;
}
