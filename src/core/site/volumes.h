/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a node of the newest measured run of each user's job name sent, kept over
 * restarts: of names only hashes, and as many as there is room for. A name that
 * needs the place of another one takes it.
 */
/* Tests: volumes in test_unknown_site. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

#define CPL_VOLUMES 4096
#define CPL_VOLUMES_FILE "volumes"

/* {0} has none. */
struct cpl_volumes {
	struct cpl_volume {
		uint64_t name; /* its hash; 0: none is here */
		uint32_t uid;
		double volume; /* bytes/s */
	} at[CPL_VOLUMES];
	bool changed; /* since it was false */
};

/* Bytes/s of a node; < 0: no run of that user's name (NULL: it has none) was
 * measured. O(its length), as the next. */
double cpl_volumes_of(const struct cpl_volumes *volumes, uint32_t uid,
                      const char *job_name);
void cpl_volumes_set(struct cpl_volumes *volumes, uint32_t uid,
                     const char *job_name, double volume);
/* Those of another one, in place of ours, or only where we have none. */
void cpl_volumes_merge(struct cpl_volumes *volumes,
                       const struct cpl_volumes *other, bool in_place);

/* A line "UID HASH VOLUME" for each. Errors show at the stream. */
void cpl_volumes_write(const struct cpl_volumes *volumes, FILE *out);
/* Read such a file. 0, or -1 with err, and *out has none. */
int cpl_volumes_load(const char *path, struct cpl_volumes *out,
                     struct cpl_error *err);
