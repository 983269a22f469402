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

/* Bytes or messages: whole numbers as such, others to the last bit; with a
 * point whatever the locale. */
void export_number(FILE *out, double value);

#endif
