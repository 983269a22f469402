/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long jobs ran, as Slurm's accounting has it. */
#ifndef CPL_CMD_BENEFIT_SACCT_H
#define CPL_CMD_BENEFIT_SACCT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

enum sacct_end {
	SACCT_RUNS,      /* or waits: not ended */
	SACCT_COMPLETED,
	SACCT_FAILED     /* or cancelled, or out of time: it says nothing */
};

struct sacct_job {
	const char *id; /* as Slurm shows it, or its raw number */
	enum sacct_end end;
	double seconds, energy, merit; /* 0: not known */
};

struct sacct {
	int64_t n;
	struct sacct_job *job; /* by id; of several lines the last */
	char *text;
};

/*
 * What `sacct -P` prints: a head of columns, "|" between them. JobIDRaw or JobID,
 * State, and ElapsedRaw or Elapsed are needed; ConsumedEnergyRaw may be there, and
 * Comment, in which a job reports merit=NUMBER. Lines of steps, and those that have
 * not all of the columns needed, are left out. 0, or -1 with err; sacct_free it in
 * either case. O(bytes * log(jobs)).
 */
int sacct_load(struct sacct *out, const char *path, struct cpl_error *err);
/* The same of this host's sacct, for jobs since a time (seconds since 1970). */
int sacct_ask(struct sacct *out, int64_t since, struct cpl_error *err);
/* The same of a text, which it takes: it is freed with the jobs. */
int sacct_parse(struct sacct *out, char *text, const char *name,
                struct cpl_error *err);
void sacct_free(struct sacct *sacct);

/* The job of that id, or NULL. */
const struct sacct_job *sacct_find(const struct sacct *sacct, const char *id);

#endif
