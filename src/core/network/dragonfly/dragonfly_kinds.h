/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Dragonflies whose groups are of several kinds, which differ in rows, columns,
 * nodes of a router or bandwidths: partitions of a machine with and without
 * GPUs. Groups are numbered kind by kind, routers group by group, inside a group
 * as dragonfly.h has it, and so are links and wirings, with the sizes of each
 * group. K global links between each two groups.
 *
 * Node id = router * (most nodes of a router) + port.
 */
#pragma once

#include "network/dragonfly/group.h"
#include "network/dragonfly/wiring.h"

extern const struct cpl_network_type cpl_network_dragonfly_kinds;

/* The name of a class is "column-" and the name of a kind. */
#define CPL_DFKIND_NAME 8

struct cpl_dfkind {
	char name[CPL_DFKIND_NAME + 1];
	int groups, rows, columns;
	int places; /* nodes of a router */
	/* Bytes/s and number of the cables of a link; of a node's port, 0: as
	 * the network has it. */
	double row_rate, column_rate, injection;
	int row_cables, column_cables;
};

struct cpl_dfkinds {
	int n_kinds, groups;
	int global_per_pair; /* K */
	struct cpl_dfkind *kind;
	int *kind_of; /* [groups] */
	int *first;   /* [groups + 1] router ids */
	/* [groups] ids of a group's first links */
	int64_t *row, *column;
	int64_t global;
	struct cpl_wires wires;
	const int *gateway; /* theirs */
};

static inline const struct cpl_dfkinds *
cpl_dfkinds_of(const struct cpl_network *net)
{
	return (const void *)net->own;
}

/* "kinds" of root, and what they have of root, into df->kind and its numbers;
 * 0, or -1 with err. O(kinds). Private to the type. */
int cpl_dfkinds_read(struct cpl_network *net, const json_t *root,
                     struct cpl_error *err);

/* Where a router is. */
struct cpl_dfkind_at {
	int group, row, column;
};

/* O(1). */
static inline struct cpl_dfkind_at
cpl_dfkind_at(const struct cpl_network *net, int router)
{
	const struct cpl_dfkinds *df = cpl_dfkinds_of(net);
	int group = cpl_level_unit(&net->level[0], router);
	const struct cpl_dfkind *kind = &df->kind[df->kind_of[group]];
	int local = router - df->first[group];

	return (struct cpl_dfkind_at){.group = group,
	                              .row = local / kind->columns,
	                              .column = local % kind->columns};
}

static inline struct cpl_local_group
cpl_dfkind_group(const struct cpl_dfkinds *df, int group)
{
	const struct cpl_dfkind *kind = &df->kind[df->kind_of[group]];

	return (struct cpl_local_group){
	        .row = df->row[group],
	        .column = df->column[group],
	        .rows = kind->rows,
	        .columns = kind->columns,
	};
}

/* Links between two routers of a group: 0, 1 or 2. */
static inline int cpl_dfkind_hops(const struct cpl_dfkind_at *a,
                                  const struct cpl_dfkind_at *b)
{
	return (a->row != b->row) + (a->column != b->column);
}
