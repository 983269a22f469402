/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is known of jobs where they ran, as a decision would have known it. */
#include "commplace-config.h"
#include "learn.h"

#include <stdlib.h>
#include <string.h>

#include "replay.h"
#include "site_files.h"

struct learn_placed {
	struct replay_options o;
	struct replay_site site;
	struct cpl_config *config;
	const char *state_dir;
};

struct learn_placed *learn_placed_open(const struct learn_options *o,
                                       struct cpl_error *err)
{
	struct learn_placed *p = calloc(1, sizeof(*p));

	if (!p)
		return cpl_fail_null_memory(err);
	p->o = (struct replay_options){.profile_dir = o->profile_dir,
	                               .network = o->network};
	p->site.o = &p->o;
	p->state_dir = cmd_state_dir(o->state_dir, o->config, &p->config, err);
	if (!p->state_dir)
		goto fail;
	p->site.dirs = cmd_profile_dirs(p->config, o->profile_dir);
	if (!p->site.dirs.dir)
		p->site.dirs.dir = CMD_PROFILE_DIR;
	p->site.dirs.rescale = true; /* records say which profiles were */
	p->site.profiles = cpl_profiles_open(&p->site.dirs, err);
	if (p->site.profiles)
		return p;
fail:
	learn_placed_close(p);
	return NULL;
}

void learn_placed_close(struct learn_placed *p)
{
	if (!p)
		return;
	replay_site_free(&p->site);
	cpl_config_free(p->config);
	free(p);
}

const char *learn_placed_state(const struct learn_placed *p)
{
	return p->state_dir;
}

/* Where its ranks ran, for sure. -1 with err. */
static int check_layout(struct cpl_record *r, struct cpl_error *err)
{
	if (!r->profile || r->volume_profile > 0)
		return cpl_fail(err, "it has no profile");
	if (r->outcome == CPL_OUTCOME_STOCK)
		return cpl_fail(err, "nothing was decided for it");
	if (r->order_arrived && !strcmp(r->order_arrived, CPL_REACH_NO))
		return cpl_fail(err, "the order of its ranks did not reach its "
		                     "tasks");
	if (cpl_record_as_it_runs(r, err))
		return -1;
	return r->ranks > 0 && r->n_hosts > 0
	               ? 0
	               : cpl_fail(err, "the record says not where its ranks ran");
}

/* The nodes of its hosts, to free(). NULL with err. */
static int *nodes_of(const struct cpl_network *net, const struct cpl_record *r,
                     struct cpl_error *err)
{
	int *node = malloc((size_t)r->n_hosts * sizeof(*node));

	if (!node)
		cpl_fail_memory(err);
	for (int i = 0; node && i < r->n_hosts; i++) {
		node[i] = cpl_network_node(net, r->host[i]);
		if (node[i] >= 0)
			continue;
		cpl_fail(err, "its host %.60s is not in the network", r->host[i]);
		free(node);
		return NULL;
	}
	return node;
}

static int judge(const struct replay_site *site, const struct cpl_record *r,
                 const int *node, struct cpl_scene *scene,
                 double value[CPL_FEATURES], struct cpl_error *err)
{
	const struct cpl_profile *profile = site->profile;
	const struct cpl_scene_job job = {.comm = profile->comm,
	                                  .ranks_per_node = r->ranks_per_node,
	                                  .phase = profile->phase,
	                                  .n_phases = profile->n_phases};
	struct cpl_feature_job of = {.net = site->net,
	                             .comm = profile->comm,
	                             .ranks_per_node = r->ranks_per_node,
	                             .node = node,
	                             .rank_host = r->rank_host,
	                             .judged = true};
	const struct cpl_load *rates;
	struct cpl_times_result times;

	scene->routing = of.routing =
	        cpl_routing_by_flow(site->net, scene->routing);
	if (cpl_scene_loads(scene, r->run_seconds, &of.background, &rates,
	                    err) ||
	    cpl_scene_judge(scene, &job, node, r->n_hosts, r->rank_host, &times,
	                    err))
		return -1;
	of.seconds = times.seconds;
	return cpl_features(&of, value, err);
}

static int features_of(struct learn_placed *p, struct cpl_record *r,
                       double value[CPL_FEATURES], struct cpl_error *err)
{
	struct cpl_scene scene = {0};
	int *node = NULL, rc = -1;

	if (check_layout(r, err) || replay_open(&p->site, r, err))
		return -1;
	if (p->site.profile->ranks != r->ranks)
		return cpl_fail(err, "it ran with %d ranks, and its profile has "
		                     "%d",
		                r->ranks, p->site.profile->ranks);
	node = nodes_of(p->site.net, r, err);
	if (node && !replay_scene(&p->site, r, p->state_dir, &scene, err))
		rc = judge(&p->site, r, node, &scene, value, err);
	cpl_scene_close(&scene);
	free(node);
	return rc;
}

int learn_placed_features(struct learn_placed *p, int64_t job,
                          double value[CPL_FEATURES], struct cpl_error *err)
{
	bool ended;
	struct cpl_record *r = cpl_record_find(p->state_dir, job, &ended, err);
	int rc = r ? features_of(p, r, value, err) : -1;

	cpl_record_free(r);
	return rc;
}
