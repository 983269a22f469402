/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "scene/scene.h"

#include <stdlib.h>

/* Who was harmed before is another one now. */
static void forget_harm(struct cpl_scene *scene)
{
	cpl_harm_free(scene->harm);
	scene->harm = NULL;
}

int cpl_scene_add(struct cpl_scene *scene, struct cpl_job_load *job,
                  struct cpl_error *err)
{
	if (!scene->running)
		scene->running = cpl_background_new(scene->net, err);
	if (!scene->running) {
		free(job);
		return -1;
	}
	forget_harm(scene);
	cpl_background_add(scene->running, job);
	return 0;
}

void cpl_scene_remove(struct cpl_scene *scene, struct cpl_job_load *job)
{
	forget_harm(scene);
	cpl_background_remove(scene->running, job);
}

void cpl_scene_changed(struct cpl_scene *scene)
{
	forget_harm(scene);
	if (scene->running)
		cpl_background_changed(scene->running);
}

void cpl_scene_close(struct cpl_scene *scene)
{
	struct cpl_job_load *job;

	while (scene->running && (job = cpl_background_first(scene->running))) {
		cpl_background_remove(scene->running, job);
		free(job);
	}
	cpl_background_free(scene->running);
	cpl_times_space_free(scene->space);
	forget_harm(scene);
	scene->running = NULL;
	scene->space = NULL;
}

/* What they send in a second; NULL: no job sends. */
static const struct cpl_load *rates_of(const struct cpl_scene *scene)
{
	return scene->running && cpl_background_jobs(scene->running)
	               ? cpl_background_rates(scene->running)
	               : NULL;
}

/* NULL with err: memory. */
static struct cpl_times_space *space_of(struct cpl_scene *scene,
                                        struct cpl_error *err)
{
	if (!scene->space)
		scene->space =
		        cpl_times_space_new(scene->net, scene->routing, err);
	return scene->space;
}

int cpl_scene_loads(struct cpl_scene *scene, double seconds,
                    const struct cpl_load **background,
                    const struct cpl_load **rates, struct cpl_error *err)
{
	struct cpl_background *running = scene->running;

	*background = scene->load;
	*rates = rates_of(scene);
	if (!*rates)
		return 0;
	if (!*background)
		*background = seconds > 0 ? cpl_background_during(running,
		                                                  seconds, err)
		                          : cpl_background_bytes(running);
	return *background ? 0 : -1;
}

int cpl_scene_judge(struct cpl_scene *scene, const struct cpl_scene_job *job,
                    const int *node, int n, const int *rank_host,
                    struct cpl_times_result *out, struct cpl_error *err)
{
	const struct cpl_times_job one = {.phase = job->phase,
	                                  .n_phases = job->n_phases,
	                                  .ranks = job->comm->ranks,
	                                  .rank_host = rank_host,
	                                  .ranks_per_node = job->ranks_per_node,
	                                  .n_hosts = n,
	                                  .node = node};
	struct cpl_times_space *space = space_of(scene, err);

	return space ? cpl_times_of(space, &one, rates_of(scene), out, err)
	             : -1;
}

/* The seconds of candidates, and what they are to others. */
static int set_times(struct cpl_scene *scene, const struct cpl_scene_job *job,
                     struct cpl_decide_request *out, struct cpl_error *err)
{
	bool others =
	        out->rates && (scene->tell_all ||
	                       cpl_objective_of_others(out->wish.objective));

	out->phase = job->phase;
	out->n_phases = job->n_phases;
	out->space = space_of(scene, err);
	if (others && !scene->harm)
		scene->harm =
		        cpl_background_harm(scene->running, scene->net, err);
	out->harm = others ? scene->harm : NULL;
	return out->space && (out->harm || !others) ? 0 : -1;
}

int cpl_scene_request(struct cpl_scene *scene, const struct cpl_scene_job *job,
                      const struct cpl_wish *wish,
                      const struct cpl_placement_request *nodes,
                      const int *stock, const struct cpl_budget *budget,
                      struct cpl_decide_request *out, struct cpl_error *err)
{
	*out = (struct cpl_decide_request){
	        .place = *nodes,
	        .wish = *wish,
	        .routing = scene->routing,
	        .stated = scene->stated,
	        .comm = job->comm,
	        .ranks_per_node = job->ranks_per_node,
	        .graph = job->graph,
	        .grown = job->grown,
	        .block = job->block,
	        .stock = stock,
	        .order = job->order,
	        .former = job->former,
	        .turn = scene->turn,
	        .learned = scene->learned,
	        .all_metrics = scene->tell_all,
	};
	out->place.net = scene->net;
	if (!out->place.grid.n &&
	    !(job->phase && job->comm &&
	      cpl_phases_groups(job->phase, job->n_phases, &out->place.grid) &&
	      out->place.grid.ranks == job->comm->ranks))
		out->place.grid.n = 0;
	out->place.comm = job->comm;
	out->place.ranks_per_node = job->ranks_per_node;
	if (budget) {
		out->work = budget->work;
		out->expired = budget->expired;
		out->expired_arg = budget->expired_arg;
		out->team = budget->team;
	}
	if (cpl_scene_loads(scene, job->seconds, &out->background, &out->rates,
	                    err))
		return -1;
	return job->comm && job->phase &&
	                       (scene->tell_all ||
	                        cpl_objective_of_whole(wish->objective) ||
	                        cpl_decide_is_timed(job->comm,
	                                            nodes->n_nodes_wanted))
	               ? set_times(scene, job, out, err)
	               : 0;
}

int cpl_scene_decide(struct cpl_scene *scene, const struct cpl_scene_job *job,
                     const struct cpl_wish *wish,
                     const struct cpl_placement_request *nodes,
                     const int *stock, const struct cpl_budget *budget,
                     struct cpl_decision *out, struct cpl_error *err)
{
	struct cpl_decide_request req;

	return cpl_scene_request(scene, job, wish, nodes, stock, budget, &req,
	                         err)
	               ? -1
	               : cpl_decide(&req, out, err);
}
