/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The jobs that run at a time, and what they come to together: who communicates
 * longer sends less in a second, which the others feel.
 */
#ifndef CPL_CAMPAIGN_RUNNING_H
#define CPL_CAMPAIGN_RUNNING_H

#include "base/team.h"
#include "scene/scene.h"

/* A job that runs. */
struct running_job {
	int job;
	int *node;      /* [nodes] in order of hosts */
	int *rank_host; /* NULL: in blocks */
	struct cpl_times *times; /* placed; NULL: it sends nothing */
	struct cpl_job_load *load; /* in the scene, or NULL */
	double share;     /* of the run that is communication */
	double reference; /* seconds of that; 0: as long as it takes */
	double work;    /* seconds of the log that are left */
	double stretch; /* seconds that one of those takes now */
	double seconds; /* of communication of the run, as it is now */
	double sum;     /* of them, over the time it runs */
	double begin;
};

struct running_jobs {
	const struct cpl_network *net;
	int n;
	struct running_job *job; /* [n] by number */
	struct cpl_scene scene; /* with what they would send */
	struct cpl_load sent;   /* what they send, stretched as they are */
};

/* For at most max_jobs at a time. 0, or -1 with err (memory), to be closed in
 * either case. */
int running_open(struct running_jobs *jobs, const struct cpl_network *net,
                 const struct cpl_routing *routing, int max_jobs,
                 struct cpl_error *err);
void running_close(struct running_jobs *jobs);
void running_free(struct running_job *job);

/* A job comes, which is copied (-1 with err: memory; it has not come); the i-th
 * goes, what it has is the caller's. O(n + as cpl_background_add). */
int running_start(struct running_jobs *jobs, struct running_job *job,
                  struct cpl_error *err);
void running_end(struct running_jobs *jobs, int i);

/* Its stretch with communication as it is now. */
double running_stretch(const struct running_job *job);

/* Fill sent. From scratch, in the order of jobs: no rounding adds up. O(their
 * links). */
void running_send(struct running_jobs *jobs);
/* Their seconds and stretches until what all take fits together, and what they
 * then send. With a team (or NULL) of threads, the same for any. O(rounds * their
 * links). */
void running_judge(struct running_jobs *jobs, struct cpl_team *team);

#endif
