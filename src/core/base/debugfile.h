/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a program's debug information is: in its own file (ELF, of this
 * machine's kind), or in the one that was split off it. Nothing in them is
 * trusted. */
#ifndef CPL_BASE_DEBUGFILE_H
#define CPL_BASE_DEBUGFILE_H

#include <stdbool.h>
#include <stddef.h>

/* No section that is larger is read. */
#define CPL_DEBUGFILE_MAX ((size_t)256 << 20)

struct cpl_section {
	unsigned char *at; /* malloc(); NULL: there is none */
	size_t n;
};

struct cpl_debugfile {
	struct cpl_section info, abbrev, str, line_str;
};

/*
 * Read what of it says which structures there are. Split-off files are looked
 * for as debuggers do, by the program's build id below /usr/lib/debug/.build-id
 * and by its debug link beside it, in .debug there and below /usr/lib/debug;
 * they have to have that build id. Compressed sections take zlib. False: there
 * is none. Memory: theirs.
 */
bool cpl_debugfile_load(const char *program, struct cpl_debugfile *out);
void cpl_debugfile_drop(struct cpl_debugfile *file);

#endif
