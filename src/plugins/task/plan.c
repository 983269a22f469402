/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"

#include "task_internal.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/common/job_options.h"
#include "src/common/list.h"
#include "src/common/slurm_cred.h"
#include "src/slurmd/common/xcpuinfo.h"

#include "binding/binding.h"
#include "site/config.h"

#define NO_PROFILE "none"

static pthread_mutex_t topology_lock = PTHREAD_MUTEX_INITIALIZER;
static hwloc_topology_t topology; /* NULL: not loaded yet */
static char topology_counts[64];  /* synthetic, of pretended counts */

/* More CPUs configured than slurmd sees (config_overrides). */
static bool counts_are_pretended(void)
{
	return (int)conf->sockets * conf->cores * conf->threads !=
	       conf->block_map_size;
}

/*
 * The tree slurmd itself works with: this machine, or what HWLOC_SYNTHETIC or
 * HWLOC_XMLFILE says, or the configured counts. Loaded once; slurmd's own view
 * is not renewed either.
 */
static hwloc_topology_t node_topology(struct cpl_error *err)
{
	char counts[sizeof(topology_counts)] = "";

	if (counts_are_pretended())
		snprintf(counts, sizeof(counts), "pack:%d core:%d pu:%d",
		         conf->sockets, conf->cores, conf->threads);
	if (topology && !strcmp(counts, topology_counts))
		return topology;
	if (topology)
		hwloc_topology_destroy(topology);
	topology = NULL;
	if (cpl_topology_load(*counts ? counts : NULL, &topology, err)) {
		topology = NULL;
		return NULL;
	}
	memcpy(topology_counts, counts, sizeof(counts));
	return topology;
}

static void drop_topology(void)
{
	pthread_mutex_lock(&topology_lock);
	if (topology)
		hwloc_topology_destroy(topology);
	topology = NULL;
	pthread_mutex_unlock(&topology_lock);
}

void cpltask_plan_fini(void)
{
	drop_topology();
	cpltask_traffic_forget();
}

static const char *const option_name = "comm-profile:" CPLSLURM_SPANK_NAME;

static int is_profile_option(void *x, void *key)
{
	struct job_option_info *info = x;

	return info->option && !strcmp(info->option, option_name);
}

/* The user's text, unchecked; NULL: no wish. */
static const char *wished_profile(const launch_tasks_request_msg_t *req)
{
	struct job_option_info *info = NULL;
	const char *name;

	if (req->options)
		info = list_find_first(req->options, is_profile_option, NULL);
	if (info && info->optarg && *info->optarg)
		return info->optarg;
	name = cplslurm_wish(req->spank_job_env, req->spank_job_env_size)
	               .profile;
	return name ? name : cplslurm_wish(req->env, req->envc).profile;
}

static const char *profile_of(const launch_tasks_request_msg_t *req,
                              const struct cpl_config *config)
{
	const char *name = config->user_profile ? wished_profile(req) : NULL;
	const char *job_name;

	if (name)
		return strcmp(name, NO_PROFILE) ? name : NULL;
	job_name = cplslurm_env(req->env, req->envc, "SLURM_JOB_NAME");
	return job_name ? cpl_config_match(config, job_name) : NULL;
}

static struct cpl_comm *local_traffic(const launch_tasks_request_msg_t *req,
                                      uint32_t node_id, const char *profile_dir,
                                      const char *profile,
                                      struct cpl_error *err)
{
	int n = req->tasks_to_launch[node_id];
	int *rank = calloc((size_t)n + 1, sizeof(*rank));
	struct cpl_comm *comm = NULL;

	if (!rank) {
		cpl_fail_memory(err);
		return NULL;
	}
	for (int i = 0; i < n; i++) {
		uint32_t id = req->global_task_ids[node_id][i];

		if (id >= req->ntasks) {
			cpl_fail(err, "task id %u in a step of %u tasks", id,
			         req->ntasks);
			goto done;
		}
		rank[i] = (int)id;
	}
	comm = cpltask_traffic(profile_dir, profile, (int)req->ntasks, rank, n,
	                       err);
done:
	free(rank);
	return comm;
}

/* OS numbers of the CPUs that the credential gives the step on this node. */
static hwloc_bitmap_t allowed_cpus(const launch_tasks_request_msg_t *req,
                                   struct cpl_error *err)
{
	char *job_cores = NULL, *cores = NULL, *cpus = NULL;
	uint64_t job_memory = 0, step_memory = 0;
	hwloc_bitmap_t set = hwloc_bitmap_alloc(), core_set = NULL;
	int core, rc = -1;

	format_core_allocs(req->cred, conf->node_name, conf->cpus, &job_cores,
	                   &cores, &job_memory, &step_memory);
	if (!set || !cores || !*cores) {
		cpl_fail(err, "the credential has no cores of this node");
		goto done;
	}
	if (!counts_are_pretended()) {
		if (xcpuinfo_abs_to_mac(cores, &cpus) || !cpus ||
		    hwloc_bitmap_list_sscanf(set, cpus) < 0)
			cpl_fail(err, "cannot turn cores %s into CPUs", cores);
		else
			rc = 0;
		goto done;
	}
	core_set = hwloc_bitmap_alloc();
	if (!core_set || hwloc_bitmap_list_sscanf(core_set, cores) < 0 ||
	    hwloc_bitmap_weight(core_set) < 0) {
		cpl_fail(err, "cannot read the cores %s", cores);
		goto done;
	}
	rc = 0;
	hwloc_bitmap_foreach_begin(
	        core,
	        core_set) if (hwloc_bitmap_set_range(set,
	                                             (unsigned)(core *
	                                                        conf->threads),
	                                             (core +
	                                              1) * conf->threads -
	                                                     1)) rc =
	        cpl_fail_memory(err);
	hwloc_bitmap_foreach_end();
done:
	hwloc_bitmap_free(core_set);
	xfree(job_cores);
	xfree(cores);
	xfree(cpus);
	if (rc) {
		hwloc_bitmap_free(set);
		set = NULL;
	}
	return set;
}

/* Keep one thread of each core; returns the number of cores. */
static int count_cores(hwloc_topology_t tree, hwloc_bitmap_t allowed,
                       bool one_thread, bool *failed)
{
	hwloc_bitmap_t own = hwloc_bitmap_alloc();
	hwloc_obj_t core = NULL;
	int n = 0;

	*failed = !own;
	while (own && (core = hwloc_get_next_obj_by_type(tree, HWLOC_OBJ_CORE,
	                                                 core))) {
		int first;

		hwloc_bitmap_and(own, core->cpuset, allowed);
		first = hwloc_bitmap_first(own);
		if (first < 0)
			continue;
		n++;
		if (!one_thread)
			continue;
		hwloc_bitmap_clr(own, (unsigned)first);
		hwloc_bitmap_andnot(allowed, allowed, own);
	}
	hwloc_bitmap_free(own);
	return n;
}

/*
 * Whole cores where there are enough of them; where a core's threads are CPUs
 * to Slurm and tasks share cores, threads.
 */
static int choose_slots(const launch_tasks_request_msg_t *req, int tasks,
                        struct cpl_bind_request *bind, hwloc_bitmap_t allowed,
                        struct cpl_error *err)
{
	bool one_thread = (req->cpu_bind_type & CPU_BIND_ONE_THREAD_PER_CORE) ||
	                  req->threads_per_core == 1;
	int all_cores = (int)conf->sockets * conf->cores;
	int cpus_per_core = all_cores > 0 ? conf->cpus / all_cores : 1;
	int cpus = req->cpus_per_task;
	bool failed;
	int cores = count_cores(bind->topology, allowed, one_thread, &failed);

	if (failed)
		return cpl_fail_memory(err);
	if (cpus < 1 || cpus == NO_VAL16 || cpus == INFINITE16)
		cpus = 1;
	if (cpus_per_core < 1 || one_thread)
		cpus_per_core = 1;
	bind->cores_per_rank = (cpus + cpus_per_core - 1) / cpus_per_core;
	if ((int64_t)tasks * bind->cores_per_rank > cores &&
	    cpus_per_core > 1) {
		bind->by_pu = true;
		bind->cores_per_rank = cpus;
	}
	return 0;
}

static int fill_plan(struct cpltask_plan *plan, hwloc_topology_t tree,
                     const struct cpl_bind_result *result,
                     struct cpl_error *err)
{
	long real = sysconf(_SC_NPROCESSORS_CONF);
	FILE *out;
	size_t size;

	plan->binding = hwloc_topology_is_thissystem(tree) == 1;
	plan->cost = result->cost;
	plan->cost_packed = result->cost_default;
	out = open_memstream(&plan->masks, &size);
	if (!out)
		return cpl_fail_memory(err);
	for (int i = 0; i < result->ranks; i++) {
		char *mask = NULL;

		if (hwloc_bitmap_last(result->cpuset[i]) >= real)
			plan->binding = false;
		hwloc_bitmap_taskset_asprintf(&mask, result->cpuset[i]);
		fprintf(out, "%s%s", i ? "," : "", mask ? mask : "");
		free(mask);
	}
	return fclose(out) ? cpl_fail_memory(err) : 0;
}

static int bind_tasks(const launch_tasks_request_msg_t *req, int tasks,
                      const struct cpl_binder *binder,
                      const struct cpl_comm *comm, struct cpltask_plan *plan,
                      struct cpl_error *err)
{
	struct cpl_bind_request bind = {.comm = comm};
	struct cpl_bind_result result = {0};
	hwloc_bitmap_t allowed = allowed_cpus(req, err);
	int rc = -1;

	if (!allowed)
		return -1;
	bind.allowed = allowed;
	pthread_mutex_lock(&topology_lock);
	bind.topology = node_topology(err);
	if (bind.topology && !choose_slots(req, tasks, &bind, allowed, err) &&
	    !cpl_bind(binder, &bind, &result, err))
		rc = fill_plan(plan, bind.topology, &result, err);
	pthread_mutex_unlock(&topology_lock);
	cpl_bind_result_free(&result);
	hwloc_bitmap_free(allowed);
	return rc;
}

static bool is_plain_step(const launch_tasks_request_msg_t *req)
{
	/* Ranks of a heterogeneous job run over several such requests. */
	return req->step_id.step_id <= SLURM_MAX_NORMAL_STEP_ID &&
	       (req->het_job_id == 0 || req->het_job_id == NO_VAL);
}

int cpltask_plan(const launch_tasks_request_msg_t *req, uint32_t node_id,
                 struct cpltask_plan *plan, struct cpl_error *err)
{
	char *path = NULL;
	struct cpl_config *config = NULL;
	struct cpl_comm *comm = NULL;
	const struct cpl_binder *binder;
	const char *profile;
	int rc = -1;

	memset(plan, 0, sizeof(*plan));
	if (!is_plain_step(req) || node_id >= req->nnodes ||
	    req->tasks_to_launch[node_id] == 0)
		return 0;
	path = cplslurm_config_path();
	config = path ? cpl_config_load(path, err) : NULL;
	if (!config) {
		/* Without a wish that is nobody's concern. */
		rc = wished_profile(req) ? -1 : 0;
		goto done;
	}
	rc = 0;
	if (config->mode != CPL_MODE_ON)
		goto done;
	profile = profile_of(req, config);
	if (!profile)
		goto done;
	rc = -1;
	if (req->job_core_spec != NO_VAL16 &&
	    (req->job_core_spec & CORE_SPEC_THREAD)) {
		cpl_fail(err, "the job has specialised threads");
		goto done;
	}
	binder = cpl_binder_find(config->binding, err);
	if (!binder)
		goto done;
	comm = local_traffic(req, node_id, config->profile_dir, profile, err);
	if (!comm)
		goto done;
	plan->binder = binder->name;
	plan->profile = strdup(profile);
	if (!plan->profile)
		cpl_fail_memory(err);
	else if (!bind_tasks(req, comm->ranks, binder, comm, plan, err))
		rc = 1;
done:
	if (rc < 0)
		cpltask_plan_free(plan);
	cpl_comm_free(comm);
	cpl_config_free(config);
	free(path);
	return rc;
}

void cpltask_plan_free(struct cpltask_plan *plan)
{
	free(plan->masks);
	free(plan->profile);
	memset(plan, 0, sizeof(*plan));
}

hwloc_bitmap_t cpltask_mask(const char *masks, int which)
{
	hwloc_bitmap_t set;
	size_t length;
	char *text;

	for (; masks && which > 0; which--) {
		masks = strchr(masks, ',');
		masks = masks ? masks + 1 : NULL;
	}
	if (!masks)
		return NULL;
	length = strcspn(masks, ",");
	text = strndup(masks, length);
	set = hwloc_bitmap_alloc();
	if (!text || !set || !length ||
	    hwloc_bitmap_taskset_sscanf(set, text) < 0 ||
	    hwloc_bitmap_weight(set) < 1) {
		hwloc_bitmap_free(set);
		set = NULL;
	}
	free(text);
	return set;
}
