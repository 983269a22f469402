/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Are structures in a program those that we were compiled with? By the debug
 * information (DWARF 4 and 5) that its compiler made (debugfile.h). Nothing is
 * run, and what the file holds is not trusted.
 */
#ifndef CPL_BASE_DEBUGINFO_H
#define CPL_BASE_DEBUGINFO_H

#include "base/error.h"

#include <stddef.h>

/* A field of a structure as we have it. Those of one structure are next to each
 * other. */
struct cpl_field {
	const char
	        *type; /* "job_record_t": that typedef, or struct job_record */
	const char *name;
	size_t offset, size; /* bytes */
};

/*
 * Compare field[n] with the program's structures. The number of fields that
 * were found to be as stated: those of structures that it does not know, or
 * that it does not know completely, are not counted. 0: nothing is known, since
 * there is no debug information or it cannot be read. -1 with err, which names
 * the structure and the first field that is elsewhere, of another size or gone.
 * O(size of the debug information) time and memory.
 */
int cpl_debuginfo_check(const char *program, const struct cpl_field *field,
                        size_t n, struct cpl_error *err);

#endif
