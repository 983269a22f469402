/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This is what a job asks for of its nodes beside their number, in the words of
 * sbatch. */
#pragma once

#include <stdbool.h>

#include "base/error.h"

struct cpl_asked {
	int segment;  /* --segment: nodes of each; 0: none */
	int switches; /* --switches: at most; 0: any */
	bool spread, consolidate; /* --spread-segments, --consolidate-segments */
	bool contiguous;
	bool whole; /* --exclusive=topo: units that no other job has nodes of */
};

/* This reads options with blanks between them, "--segment=16 --spread-segments" or
 * "--segment 16". Of one that is there twice the first counts. It returns 0, or -1
 * with err: an option that is none of these, a number below 1. */
int cpl_asked_read(const char *text, struct cpl_asked *out,
                   struct cpl_error *err);
/* The same of a whole command line, all else of which is passed over. */
void cpl_asked_find(const char *line, struct cpl_asked *out);

/* This says whether it asks for anything. */
bool cpl_asked_any(const struct cpl_asked *asked);
