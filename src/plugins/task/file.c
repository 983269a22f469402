/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This reads the file of a profile on a node, for a launch that could not carry
 * what is needed of it. slurmd holds locks over launches, so other threads look at
 * files, and a launch waits for them only as long as it may (patience); once they
 * hang, slurmd's later launches do not wait. The folder is the one of this node's
 * commplace.conf, since what a launch carries comes through a client, and slurmd is
 * root.
 */
#include "commplace-config.h"

#include "task_internal.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "binding/launch.h"
#include "site/resolve.h"

#define NS_PER_MS INT64_C(1000000)
#define STOP_MS 2000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct cpl_worker *worker;
static struct cpl_store *store; /* NULL: none was needed yet */

static struct cpl_store *get_store(struct cpl_error *err)
{
	pthread_mutex_lock(&lock);
	if (!worker)
		worker = cpl_worker_new(err);
	if (worker && !store)
		store = cpl_store_new(worker, NULL, NULL, err);
	pthread_mutex_unlock(&lock);
	return store;
}

void cpltask_file_fini(void)
{
	/* Threads that a file system holds up are left behind. */
	if (worker && cpl_worker_stop(worker, cpl_now() + STOP_MS * NS_PER_MS,
	                              NULL, NULL)) {
		cpl_store_free(store);
		cpl_worker_free(worker);
	}
	store = NULL;
	worker = NULL;
}

/* This reads commplace.conf; the request may outlive the launch that asked. */
struct file_look {
	struct cpl_request head;
	char *path;
	char *profile, *partition; /* of a step that names a profile, or NULL */
	struct cpltask_site site;
	int memory; /* MiB for profiles */
	struct cpl_error err;
};

static void resolve_own(struct file_look *look, const struct cpl_config *config)
{
	const struct cpl_job_facts job = {.profile = look->profile,
	                                  .partition = look->partition};
	struct cpl_resolved want;

	cpl_resolve_binding(config, &job, &want);
	look->site.bind =
	        want.binding.value && want.profile.source == CPL_FROM_USER;
	look->site.memory = want.bind_memory;
	snprintf(look->site.nic, sizeof(look->site.nic), "%s",
	         want.near_nic ? want.near_nic : "");
	if (look->site.bind)
		snprintf(look->site.binder, sizeof(look->site.binder), "%s",
		         want.binding.value);
}

static void run_look(struct cpl_request *head)
{
	struct file_look *look = (struct file_look *)head;
	struct cpl_config *config = cpl_config_load_on_node(look->path, &look->err);

	if (!config)
		return;
	look->site.dir = strdup(config->profile_dir);
	look->memory = config->profile_memory;
	if (!look->site.dir)
		cpl_fail_memory(&look->err);
	if (look->profile)
		resolve_own(look, config);
	cpl_config_free(config);
}

static void free_look(struct cpl_request *head)
{
	struct file_look *look = (struct file_look *)head;

	cpl_free_all(look->path, look->site.dir, look->profile, look->partition,
	             look);
}

static struct file_look *look_new(const char *profile, const char *partition,
                                  struct cpl_error *err)
{
	struct file_look *look = calloc(1, sizeof(*look));

	if (look) {
		look->path = cplslurm_config_path();
		look->profile = profile ? strdup(profile) : NULL;
		look->partition = partition ? strdup(partition) : NULL;
		look->head.run = run_look;
		look->head.free = free_look;
	}
	if (look && look->path && !look->profile == !profile &&
	    !look->partition == !partition)
		return look;
	if (look)
		free_look(&look->head);
	cpl_fail_memory(err);
	return NULL;
}

int cpltask_site(const struct cplslurm_launch *launch, const char *own,
                 struct cpltask_site *out, struct cpl_error *err)
{
	int64_t wait = launch->patience * NS_PER_MS;
	int64_t deadline = cpl_now() + wait;
	struct file_look *look;
	bool stuck;
	int rc = -1;

	memset(out, 0, sizeof(*out));
	if (!get_store(err))
		return -1;
	look = look_new(own, launch->partition, err);
	if (!look)
		return -1;
	stuck = cpl_worker_stuck(worker, CPL_QUEUE_LOOK,
	                         cpl_now() - wait / 2);
	if (cpl_worker_queue(worker, CPL_QUEUE_LOOK, &look->head, true, err))
		return -1;
	if (stuck || !cpl_worker_wait(worker, &look->head, deadline)) {
		cpl_fail(err,
		         "commplace.conf: the file system does not answer");
	} else if (look->site.dir) {
		*out = look->site;
		out->deadline = deadline;
		look->site.dir = NULL;
		cpl_store_limit(store, (uint64_t)look->memory << 20);
		rc = 0;
	} else {
		*err = look->err;
	}
	cpl_worker_drop(worker, &look->head);
	return rc;
}

static bool same_version(const struct cpl_launch *told,
                         const struct cpl_file_stamp *stamp)
{
	return told->size == stamp->size &&
	       told->seconds == stamp->mtime.tv_sec &&
	       told->nanoseconds == stamp->mtime.tv_nsec;
}

struct cpl_profile *cpltask_file(const struct cplslurm_launch *launch,
                                 const struct cpltask_site *site,
                                 const struct cpl_launch *told,
                                 const char *own, struct cpl_error *err)
{
	static const gid_t none = (gid_t)-1;
	struct cpl_store_answer answer = {0};
	int rc = 0;
	struct cpl_store_query query = {
	        .dir = site->dir,
	        /* slurmctld has checked the profile that it names. */
	        .whom = own ? CPL_FOR_USER : CPL_FOR_US,
	        .uid = launch->uid,
	        .gid = launch->gid,
	        .groups = launch->n_gids ? launch->gids : &none,
	        .n_groups = (int)launch->n_gids,
	        .name = own ? own : told->profile,
	        .ranks = own ? 0 : told->ranks,
	        .fresh = true,
	        .deadline = site->deadline,
	};

	cpl_store_find(store, &query, &answer);
	if (answer.found != CPL_FOUND_READY)
		rc = cpl_fail(err, "%s", answer.err.text);
	else if (!own && !same_version(told, &answer.stamp))
		rc = cpl_fail(err,
		              "%s/%s.json: not the version that the "
		              "controller's host has",
		              site->dir, told->profile);
	if (!rc)
		return answer.profile;
	cpl_profile_drop(answer.profile);
	return NULL;
}
