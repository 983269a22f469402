/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This is shared between the exporters only. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "signature/export/export.h"

enum export_flags { EXPORT_DENSE = 1 };

struct export_format {
	CPL_ENTRY;
	const char *lost; /* see cpl_comm_export */
	void (*write)(FILE *out, const struct cpl_comm *comm, const char *name);
};

/* This gives the bytes from rank r to rank `to`, for `to` from 0 on; *i begins at
 * the row's first entry. */
static inline double export_next(const struct cpl_comm *comm, int r, int to,
                                 int64_t *i)
{
	bool talks = *i < comm->row[r + 1] && comm->to[*i] == to;

	return talks ? comm->bytes[(*i)++] : 0;
}

/* This writes bytes or messages with a point in any locale: whole numbers as such,
 * others to the last bit. */
void export_number(FILE *out, double value);
