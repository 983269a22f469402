/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the ranks of jobs were that have ended: those that are requeued run again. */
#include <stdlib.h>
#include <string.h>

#include "placement/repair.h"
#include "site/engine_desk.h"

/* Of the newest, so many are kept, in so many bytes. */
#define FORMERS 1024
#define FORMER_BYTES ((size_t)16 << 20)

struct formers {
	struct left {
		int64_t job; /* 0: none */
		int *data;   /* nodes, then ranks */
		size_t bytes;
		struct cpl_former layout;
	} left[FORMERS];
	int next; /* the oldest, which is overwritten */
	size_t bytes;
	uint64_t serial;
};

static void drop(struct formers *all, struct left *left)
{
	all->bytes -= left->bytes;
	free(left->data);
	*left = (struct left){.job = 0};
}

static struct left *find(struct formers *all, int64_t job)
{
	for (int i = 0; all && i < FORMERS; i++)
		if (all->left[i].job == job)
			return &all->left[i];
	return NULL;
}

void engine_formers_forget(struct desk *desk)
{
	for (int i = 0; desk->formers && i < FORMERS; i++)
		drop(desk->formers, &desk->formers->left[i]);
	free(desk->formers);
	desk->formers = NULL;
}

/* The record's hosts as nodes. -1: one is not in the network. */
static int list_nodes(const struct cpl_network *net,
                      const struct cpl_record *record, int *node)
{
	for (int i = 0; i < record->n_hosts; i++) {
		node[i] = cpl_network_node(net, record->host[i]);
		if (node[i] < 0)
			return -1;
	}
	return 0;
}

/* The place of the next one, emptied. */
static struct left *make_room(struct formers *all, size_t bytes)
{
	struct left *left = &all->left[all->next];

	drop(all, left);
	all->next = (all->next + 1) % FORMERS;
	for (int i = all->next; all->bytes + bytes > FORMER_BYTES;
	     i = (i + 1) % FORMERS)
		drop(all, &all->left[i]);
	return left;
}

void engine_former_keep(struct desk *desk, const struct running *job)
{
	const struct cpl_record *record = job->record;
	size_t n = (size_t)record->n_hosts, ranks = (size_t)record->ranks;
	size_t bytes = (n + ranks) * sizeof(int);
	struct left *left;
	int *data;

	if (!job->has_layout || job->own_order || record->n_hosts < 2 ||
	    record->ranks < 1 || bytes > FORMER_BYTES / 2 || !desk->snapshot ||
	    !desk->snapshot->net)
		return;
	if (!desk->formers)
		desk->formers = calloc(1, sizeof(*desk->formers));
	data = desk->formers ? malloc(bytes) : NULL;
	if (!data || list_nodes(desk->snapshot->net, record, data)) {
		free(data);
		return;
	}
	memcpy(data + n, record->rank_host, ranks * sizeof(int));
	left = find(desk->formers, record->job);
	if (left)
		drop(desk->formers, left);
	else
		left = make_room(desk->formers, bytes);
	*left = (struct left){.job = record->job,
	                      .data = data,
	                      .bytes = bytes,
	                      .layout = {.n_nodes = record->n_hosts,
	                                 .ranks = record->ranks,
	                                 .node = data,
	                                 .rank_host = data + n,
	                                 .serial = ++desk->formers->serial}};
	desk->formers->bytes += bytes;
}

const struct cpl_former *engine_former(const struct desk *desk, int64_t job)
{
	const struct left *left = find(desk->formers, job);

	return left ? &left->layout : NULL;
}

int engine_note_former(const struct desk *desk, struct cpl_record *record,
                       const struct cpl_former *former,
                       const struct cpl_repaired *repaired)
{
	const struct cpl_network *net = desk->snapshot->net;
	char **name;
	int rc;

	record->former_worse = 0;
	if (!repaired->judged)
		return engine_set(&record->former_hosts, NULL);
	record->former_worse = repaired->worse;
	name = malloc((size_t)former->n_nodes * sizeof(*name));
	for (int i = 0; name && i < former->n_nodes; i++)
		name[i] = net->node_name[former->node[i]];
	rc = engine_set_hostlist(&record->former_hosts, name, former->n_nodes);
	free(name);
	return rc;
}
