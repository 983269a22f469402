/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The check of a job at its submission, by the engine that will decide on it:
 * what commplace.conf makes of its options, and whether its profile is there.
 */
#pragma once

#include "base/file.h"
#include "site/engine.h"
#include "site/resolve.h"

struct cpl_submission {
	struct cpl_job_facts job;
	int64_t ranks; /* 0: not known yet */
	/* As many tasks as the job's steps have by themselves, where it states
	 * only its nodes; 0: the job states tasks, or no nodes either. */
	uint32_t min_implied, max_implied;
	const char *record; /* --comm-record, untrusted; NULL: not given */
};

struct cpl_verdict {
	bool refused;
	char *message; /* for the user: why, or notes a line each; or NULL */
	char *attach;  /* profile of a Match rule to give the job, or NULL */
	char *comment; /* to append to AdminComment, or NULL */
	/* The profile that it is recorded as, and the pattern (user_dir.h) of
	 * the users' stores; NULL: none. */
	char *record, *store;
};

/*
 * Waits no longer than MaxDecisionTime for files, and not at all while they
 * hang: a job is not refused for that. What is found is kept for the decision,
 * what is late being read on. One that the user may
 * not read is refused, unless a Match rule gives it. Whether a job is recorded
 * by the site's word depends on what profiles there are, and on how many jobs
 * came before. A text for which memory is out is NULL. Free the texts with
 * cpl_verdict_free.
 */
void cpl_engine_submit(struct cpl_engine *engine,
                       const struct cpl_submission *submission,
                       struct cpl_verdict *verdict);
void cpl_verdict_free(struct cpl_verdict *verdict);
