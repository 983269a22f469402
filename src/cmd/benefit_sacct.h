/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long jobs ran, as Slurm's accounting has it. */
#pragma once

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
	double seconds, energy; /* 0: not known */
	/* What it reports of itself, by the keys. */
	double merit, noted_seconds;
};

/* Keys of notes (benefit/notes.h); NULL: none is asked for. */
struct sacct_keys {
	const char *merit, *seconds;
};

struct sacct {
	int64_t n;
	struct sacct_job *job; /* by id; of several lines the last */
	char *text;
};

/*
 * What `sacct -P` prints: a head of columns, "|" between them. JobIDRaw or JobID,
 * State, and ElapsedRaw or Elapsed are needed; ConsumedEnergyRaw may be there, and
 * Comment, in which a job reports KEY=NUMBER. Lines of steps, and those that have
 * not all of the columns needed, are left out. Or what slurmrestd, or sacct --json,
 * answers for jobs. 0, or -1 with err; sacct_free it in
 * either case. O(bytes * log(jobs)).
 */
int sacct_load(struct sacct *out, const char *path,
               const struct sacct_keys *keys, struct cpl_error *err);
/* The same of this host's sacct, for jobs since a time (seconds since 1970). What
 * stands between its columns is drawn, so that no comment can feign a line. */
int sacct_ask(struct sacct *out, int64_t since, const struct sacct_keys *keys,
              struct cpl_error *err);
/* The same of a text, which it takes: it is freed with the jobs. between: what
 * stands between columns. */
int sacct_parse(struct sacct *out, char *text, const char *name,
                const char *between, const struct sacct_keys *keys,
                struct cpl_error *err);
void sacct_free(struct sacct *sacct);

/* The job of that id, or NULL. */
const struct sacct_job *sacct_find(const struct sacct *sacct, const char *id);
