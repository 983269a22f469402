/* SPDX-License-Identifier: GPL-2.0-or-later */
/* These are the jobs that run at a time, and how they affect each other: a job that
 * communicates longer sends less per second, which the others feel. */
#pragma once

#include "base/team.h"
#include "scene/scene.h"

/* This is a job that runs. */
struct running_job {
	int job;
	int *node;      /* [nodes] in order of hosts */
	int *rank_host; /* NULL: in blocks */
	struct cpl_times *times; /* placed; NULL: it sends nothing */
	struct cpl_job_load *load; /* in a scene that decisions look at, or NULL */
	double sent; /* the stretch that what it sends is over */
	bool stale;  /* the others on its links, or it, were changed since judged */
	double most[CPL_NETWORK_MAX_CLASSES]; /* its largest rates on links */
	double share;     /* of the run that is communication */
	double reference; /* seconds of that; 0: as long as it takes */
	double work;    /* seconds of the log that are left */
	double stretch; /* seconds that one of those takes now; running_judge sets it */
	double seconds; /* of communication of the run, as it is now */
	double sum;     /* their sum over the time it runs */
	double begin;
};

/* Who is on a link: how many, and their numbers, of which one by itself is known. */
struct running_link {
	int users, number; /* by exclusive or */
};

struct running_jobs {
	const struct cpl_network *net;
	int n;
	struct running_job *job; /* [n] by number */
	bool seen; /* decisions look at the scene: it has what these would send */
	struct cpl_scene scene;
	struct running_link *link; /* [links] */
	int *meeting; /* [links] where several are, of the next; else -1 */
	/* [n_meetings] what these send, stretched as they are, and where; of those
	 * free[n_free] are on no link, -1. All have room for all links. */
	struct cpl_meetings sent;
	int *at, *free, n_meetings, n_free;
	int *moved;         /* [n] between uses of no meaning */
	unsigned char *met; /* [max_jobs] by number, those whose links became shared, or
	                     * are so no longer */
	double busiest;     /* < 0: to be found */
};

/* This is for jobs of numbers below max_jobs. Without `seen` the scene only has the
 * space to place them in. It returns 0, or -1 with err when memory is out; close it in
 * either case. */
int running_open(struct running_jobs *jobs, const struct cpl_network *net,
                 const struct cpl_routing *routing, int max_jobs, bool seen,
                 struct cpl_error *err);
void running_close(struct running_jobs *jobs);
void running_free(struct running_job *job);

/* The first adds a job, which is copied, or returns -1 with err when memory is out,
 * and then it was not added. The second removes the i-th job, whose contents are
 * the caller's. They cost O(n + links of the jobs whose neighbours they are + links that
 * jobs share), and as cpl_background_add where it is seen. */
int running_start(struct running_jobs *jobs, struct running_job *job,
                  struct cpl_error *err);
void running_end(struct running_jobs *jobs, int i);

/* This is its stretch with communication as it is now. */
double running_stretch(const struct running_job *job);

/* This sets their seconds and stretches until they all fit together, and what they
 * send then. team is threads or NULL; the result is the same for any number. A
 * round costs O(links that jobs share), of which those of jobs at rest, with nothing
 * changed on their links since the last one, are only looked at. */
void running_judge(struct running_jobs *jobs, struct cpl_team *team);

/* This is the largest congestion of a link between routers. It costs O(1) where nothing
 * changed, else O(links that jobs share + jobs). */
double running_busiest(struct running_jobs *jobs);
