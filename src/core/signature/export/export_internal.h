/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared between the exporters only. */
#ifndef CPL_SIGNATURE_EXPORT_INTERNAL_H
#define CPL_SIGNATURE_EXPORT_INTERNAL_H

#include <stdbool.h>
#include <stdio.h>

#include "signature/export/export.h"

enum export_flags { EXPORT_DENSE = 1 };

struct export_format {
	CPL_ENTRY;
	const char *lost; /* see cpl_comm_export */
	void (*write)(FILE *out, const struct cpl_comm *comm, const char *name);
};

/* Bytes from rank r to rank `to`, going over a row from 0 on; *i begins at its
 * first entry. */
static inline double export_next(const struct cpl_comm *comm, int r, int to,
                                 int64_t *i)
{
	bool talks = *i < comm->row[r + 1] && comm->to[*i] == to;

	return talks ? comm->bytes[(*i)++] : 0;
}

/* Bytes or messages: whole numbers as such, others to the last bit; with a
 * point whatever the locale. */
void export_number(FILE *out, double value);

#endif
