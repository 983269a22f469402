/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which ranks a workload of AICB means, and what they send; see aicb.c. */
#pragma once

#include "signature/import/import_internal.h"
#include "signature/pattern/grid.h"

/* A row of the file, or several alike. */
struct aicb_row {
	bool step;     /* not of the start */
	bool received; /* an irecv: the other one has that operation */
	enum grid_kind kind;
	enum grid_operation operation;
	int root;
	int low, high; /* of these ranks; high < 0: of all */
	int64_t bytes; /* all calls together */
	int64_t calls;
};

struct aicb {
	struct aicb_row *row;
	int64_t n_rows;
	int ranks;             /* 0: not stated */
	int size[GRID_KINDS];  /* as rows state it; 0: none does */
	bool used[GRID_KINDS];
	bool sends;            /* has point-to-point operations */
	int64_t steps;
	int64_t looked_at; /* ranks, for all operations together */
	struct train_grid grid;
};

/* This finds the grid of the sizes. It returns 0, or -1 with err where they make no
 * grid of the ranks. */
int aicb_find_grid(struct aicb *a, struct cpl_error *err);

/* This makes the phases and what is told of groups. It sorts the rows. It returns 0,
 * or -1 with err. It costs O(rows log rows + messages). */
int aicb_make_phases(struct aicb *a, struct matrix *out, struct cpl_error *err);
