/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machine with the jobs that run on it, and what a decision about one more
 *job is put together from. A running job is its links with the bytes that it
 *sends in a period; what decisions look at follows from those: rates, bytes
 *while the new job runs, harm to others.
 *
 *	struct cpl_scene scene = {.net = net, .routing = routing};
 *	...
 *	cpl_scene_close(&scene);
 *
 * One thread at a time.
 */
/* Tests: scene in test_engine test_decide. */
#pragma once

#include "placement/decide.h"
#include "scene/background.h"

struct cpl_scene {
	const struct cpl_network *net;
	const struct cpl_routing *routing;
	/* As of cpl_decide_request, or NULL. */
	const struct cpl_routing *stated;
	const struct cpl_learned *learned;
	const int *turn;
	/* Bytes on the links, in place of those of the running jobs; or NULL.
	 */
	const struct cpl_load *load;
	/* Of candidates all that can be told, not only what they are compared
	 * by. */
	bool tell_all;
	/* Made when they are asked for. */
	struct cpl_background *running;
	struct cpl_times_space *space;
	struct cpl_harm *harm;
};

/* The job that is decided about. */
struct cpl_scene_job {
	const struct cpl_comm *comm; /* NULL: its traffic is not known */
	const struct cpl_comm *graph;
	const struct cpl_rank_groups *grown, *block;
	int ranks_per_node;
	/* Of comm; looked at where the time of a decision allows, and where the
	 * objective needs them. */
	const struct cpl_phase *phase;
	int n_phases;
	/* In which it sends that; 0: not known, and the running jobs count with
	 * all that they send. */
	double seconds;
	enum cpl_order order;
	const struct cpl_former *former; /* its run before, or NULL */
};

/* As of cpl_decide_request, all optional. */
struct cpl_budget {
	long work;
	bool (*expired)(void *arg);
	void *expired_arg;
	struct cpl_team *team;
};

/* A job begins to send. It is the scene's until it is removed: ended, suspended
 * or otherwise the caller's again. 0, or -1 with err (memory), and it is freed.
 * As cpl_background_add. */
int cpl_scene_add(struct cpl_scene *scene, struct cpl_job_load *job,
                  struct cpl_error *err);
void cpl_scene_remove(struct cpl_scene *scene, struct cpl_job_load *job);
/* Bytes of jobs in it are others now. As cpl_background_changed. */
void cpl_scene_changed(struct cpl_scene *scene);
/* Frees what the scene made, and its jobs. */
void cpl_scene_close(struct cpl_scene *scene);

/* What is on the links while a job of so many seconds runs (0: not known), and
 * in a second; NULL: no job sends. Until the scene changes. 0, or -1 with err
 * (memory). O(1), or as cpl_background_during. */
int cpl_scene_loads(struct cpl_scene *scene, double seconds,
                    const struct cpl_load **background,
                    const struct cpl_load **rates, struct cpl_error *err);

/*
 * How long the job communicates beside those that run, with rank r on
 * node[rank_host[r]] of n, or where rank_host is NULL in blocks of its
 * ranks_per_node. 0, or -1 with err. As cpl_times_of.
 */
int cpl_scene_judge(struct cpl_scene *scene, const struct cpl_scene_job *job,
                    const int *node, int n, const int *rank_host,
                    struct cpl_times_result *out, struct cpl_error *err);

/*
 * Which of the free nodes the job gets, and how its ranks are laid out:
 * cpl_decide of the request that it makes. nodes: without network and option;
 * stock as of cpl_decide_request, budget NULL: none. The request holds until
 * the scene changes. 0, or -1 with err.
 */
int cpl_scene_request(struct cpl_scene *scene, const struct cpl_scene_job *job,
                      const struct cpl_wish *wish,
                      const struct cpl_placement_request *nodes,
                      const int *stock, const struct cpl_budget *budget,
                      struct cpl_decide_request *out, struct cpl_error *err);
int cpl_scene_decide(struct cpl_scene *scene, const struct cpl_scene_job *job,
                     const struct cpl_wish *wish,
                     const struct cpl_placement_request *nodes,
                     const int *stock, const struct cpl_budget *budget,
                     struct cpl_decision *out, struct cpl_error *err);
