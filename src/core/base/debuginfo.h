/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Are structures in a program those that we were compiled with? Its debug
 * information says. commplace-layout reads that (src/layout), a process of its own,
 * so that a file that is damaged can hurt no daemon.
 */
#pragma once

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
 * there is no debug information, commplace-layout was built without libdw, is not
 * there, or has not answered in five seconds. -1 with err, which names the
 * structure and the first field that is elsewhere, of another size or gone.
 * Waits for O(size of the debug information). The environment may name another
 * commplace-layout (COMMPLACE_LAYOUT).
 */
int cpl_debuginfo_check(const char *program, const struct cpl_field *field,
                        size_t n, struct cpl_error *err);
