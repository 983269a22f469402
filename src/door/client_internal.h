/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of slurmctld's end share. */
#pragma once

#include "door/client.h"

/* What commplaced may ask back during a call (NULL: nothing), and where the job
 * has its nodes from so far. */
struct asked {
	const struct cpl_engine_scheduler *scheduler;
	const struct cpl_engine_allocation *allocation;
	int n_hosts, questions;
	bool measured; /* the hosts' CPUs were told, or cannot be */
	bool over;     /* the nodes were taken, and nothing is to come */
	enum cpl_engine_answer got;
	char *text; /* [size] of the decision in words, where it is over so */
	size_t size;
};

/* May that be asked now? Where the job has its nodes only what would have been.
 */
bool door_may_ask(struct asked *asked, enum cpl_door_kind kind);
/* Answer a question that may be asked: `in` is what it came with. O(hosts), or
 * as the scheduler's call. */
void door_reply(struct asked *asked, enum cpl_door_kind kind,
                struct cpl_unpacker *in, struct cpl_packer *o);

/* Does the job's user ask for a placement? */
static inline bool door_is_stated(const struct cpl_job_facts *job)
{
	return job->profile || job->policy;
}
/* What is asked of each job that is to be placed goes with it. No look at the machine
 * is taken for others, nor where the last such job was none of ours. O(1), or as the
 * answer to CPL_DOOR_MEASURE. */
void door_put_measured(struct cpl_engine *engine, struct asked *asked,
                       const struct cpl_job_facts *job, struct cpl_packer *o);
/* The same of where the scheduler runs the ranks of a job that was given nodes a moment
 * ago: none of them of others. O(1), or as the answer to CPL_DOOR_LAYOUT. */
void door_put_ranks(struct cpl_engine *engine, const struct asked *asked,
                    struct cpl_packer *o);

/* Take what has come that no call waits for, with `api` held. Where the link is lost
 * the next call begins another one. */
void door_take_all(struct cpl_engine *engine);

/* hear.c: lines of the log come without a call, too. Once a commplaced is there;
 * where there is no thread to be had, with the next call. */
void door_hear_begin(struct cpl_engine *engine);
/* Without `api`. */
void door_hear_end(struct cpl_engine *engine);

/* Where the job of that id is, or would be. O(log jobs). */
bool door_live_find(const struct cpl_engine *engine, int64_t id, int *at);
/* Where memory is out, the next commplaced does not take the job's record back.
 * Ids mostly go up: O(1), else O(jobs). */
void door_live_add(struct cpl_engine *engine, int64_t id, bool suspended);
void door_live_remove(struct cpl_engine *engine, int64_t id);
void door_put_live(struct cpl_packer *o, const struct cpl_engine_live *job,
                   int n);
