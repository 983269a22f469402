/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Running jobs as the traffic model sees them (STATE.json):
 *
 * {"jobs": [{"id": 17, "signature": "NAME or path", "hosts": ["n4", "n9"],
 *            "ranks_per_node": 16,
 *            "rank_to_host": ["n9", "n4", ...] }]}
 *
 * hosts are in rank order. rank_to_host is optional (ranks laid out by a
 * mapping); without it rank r runs on hosts[r / ranks_per_node]. Jobs without
 * "signature" only occupy their hosts, unless a "volume" says how many bytes per
 * second each of these sends to the others.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "network/network.h"
#include "routing/routing.h"
#include "scene/scene.h"
#include "site/profiles.h"
#include "traffic/traffic.h"
#include "traffic/workload.h"

struct cpl_running_job {
	int64_t id;
	char *signature; /* profile name or path, NULL: none */
	bool own;        /* it is a profile of the job's user, */
	uid_t uid;       /* who is this; else the site's */
	struct cpl_profile *profile; /* of cpl_state_profiles, or NULL */
	int n_hosts;
	char **host;        /* [n_hosts] */
	int ranks_per_node; /* >= 1 */
	int ranks;          /* length of rank_host, 0: none given */
	int *rank_host;     /* [ranks] index into host[] */
	double volume; /* without a signature: bytes/s that each host sends to
	                * the others, or 0 */
};

struct cpl_state {
	int n_jobs;
	struct cpl_running_job *job; /* in increasing id order */
};

/* Load STATE.json, where a signature that ends in ".json" is a file's name, or
 * parse the same text; jobs come out sorted by id, ids must be distinct. 0, or
 * -1 with err and *out empty. O(bytes + jobs log jobs). */
int cpl_state_load(const char *path, struct cpl_state *out,
                   struct cpl_error *err);
int cpl_state_parse(const char *text, size_t length, const char *name,
                    struct cpl_state *out, struct cpl_error *err);
/* Write the same format, atomically, with these permissions. 0, or -1 with err.
 */
int cpl_state_write(const struct cpl_state *state, const char *path, int mode,
                    struct cpl_error *err);
void cpl_state_free(struct cpl_state *state);
/* Free what one job holds (not the struct) and reset it to {0}. */
void cpl_running_job_clear(struct cpl_running_job *job);

/*
 * Find the profiles of all jobs that have a signature: for as many ranks as
 * rank_to_host has, else whatever the file holds. A job whose profile cannot be
 * had fails it; with left_out ([n_jobs], NULLs before) that job goes without,
 * and left_out[i] says why: the caller frees them. 0, or -1 with err. Each
 * signature is read once.
 */
int cpl_state_profiles(struct cpl_state *state, struct cpl_profiles *profiles,
                       char **left_out, struct cpl_error *err);

/*
 * Clear free_nodes[n_nodes] (or NULL) for the hosts of running jobs and add
 * the traffic of those with a profile to load (not cleared first; NULL: only
 * occupy), in id order through a load of their own, so that the sum is always
 * the same. Refused are hosts unknown to the network and signatures with more
 * ranks than the job's hosts hold; free_nodes and load are then half done. 0, or
 * -1 with err. A job costs what a workload of it does (workload.h).
 */
int cpl_state_apply(const struct cpl_state *state,
                    const struct cpl_network *net,
                    const struct cpl_routing *routing,
                    unsigned char *free_nodes, struct cpl_load *load,
                    struct cpl_error *err);

/*
 * The same into a scene, by its routing: a job's bytes over the time that its
 * signature states for its run, or else over what its busiest link takes for
 * them; and those without a signature that have a volume.
 */
int cpl_state_run(const struct cpl_state *state, struct cpl_scene *scene,
                  unsigned char *free_nodes, struct cpl_error *err);

/* cpl_state_apply, but a job that is refused is left out as by
 * cpl_state_profiles, and those left out there are not looked at. -1 with err:
 * memory. */
int cpl_state_apply_each(const struct cpl_state *state,
                         const struct cpl_network *net,
                         const struct cpl_routing *routing,
                         struct cpl_load *load, char **left_out,
                         struct cpl_error *err);

/* Add the jobs that have a profile to a workload of the same network, each
 * with this routing; refuses what cpl_state_apply refuses. 0, or -1 with err.
 * O(hosts + what cpl_workload_add costs). */
int cpl_state_workload(const struct cpl_state *state,
                       const struct cpl_network *net,
                       const struct cpl_routing *routing,
                       struct cpl_workload *workload, struct cpl_error *err);
