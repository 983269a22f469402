/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"

#include "task_internal.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/printable.h"
#include "binding/binding.h"
#include "binding/launch.h"
#include "site/config.h"

static pthread_mutex_t topology_lock = PTHREAD_MUTEX_INITIALIZER;
static hwloc_topology_t topology; /* NULL: not loaded yet */
static char topology_counts[64];  /* synthetic, of pretended counts */

bool cpltask_counts_pretended(void)
{
	struct cplslurm_node node = cplslurm_node();

	return node.sockets * node.cores * node.threads != node.seen;
}

/* This is the tree that slurmd itself works with: this machine, or what
 * HWLOC_SYNTHETIC or HWLOC_XMLFILE says, or the configured counts. It is loaded
 * once, since slurmd's own view is not renewed either. */
static hwloc_topology_t node_topology(struct cpl_error *err)
{
	struct cplslurm_node node = cplslurm_node();
	char counts[sizeof(topology_counts)] = "";
	int n;

	if (cpltask_counts_pretended())
		snprintf(counts, sizeof(counts), "pack:%d core:%d pu:%d",
		         node.sockets, node.cores, node.threads);
	if (topology && !strcmp(counts, topology_counts))
		return topology;
	if (topology)
		hwloc_topology_destroy(topology);
	topology = NULL;
	if (*counts ? cpl_topology_load(counts, &topology, err)
	            : cpl_topology_machine(false, &topology, err)) {
		topology = NULL;
		return NULL;
	}
	/* hwloc takes this machine if the file that it should read is gone. */
	n = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
	if (!*counts && n < node.seen) {
		hwloc_topology_destroy(topology);
		topology = NULL;
		cpl_fail(err, "the hardware tree has %d CPUs, slurmd knows %d",
		         n, node.seen);
		return NULL;
	}
	memcpy(topology_counts, counts, sizeof(counts));
	return topology;
}

void cpltask_plan_fini(void)
{
	pthread_mutex_lock(&topology_lock);
	if (topology)
		hwloc_topology_destroy(topology);
	topology = NULL;
	pthread_mutex_unlock(&topology_lock);
	cpltask_near_fini();
	cpltask_file_fini();
}

/* This is the first of the profile's ranks that the step's tasks are. It is 0
 * except for a part of a step over several components of a heterogeneous job that
 * together are the profile. It returns -1 with err. */
static int64_t first_rank(const struct cplslurm_launch *launch,
                          const char *profile, int ranks, struct cpl_error *err)
{
	uint32_t all = launch->all_ranks, first = launch->first_rank;

	if (launch->ranks == ranks)
		return 0;
	if (launch->is_part && all == (uint32_t)ranks && first < all &&
	    (uint32_t)launch->ranks < all)
		return first;
	return cpl_fail(err, "profile %s is of %d ranks, the step has %d",
	                profile, ranks, launch->ranks);
}

/* A step is bound by this. */
struct order {
	struct cpl_launch told;   /* by slurmctld, else by the site */
	const char *own;          /* profile that the step names, or NULL */
	struct cpltask_site site; /* where a file is needed */
};

/* This comes from a profile's file. */
static struct cpl_comm *file_traffic(const struct cplslurm_launch *launch,
                                     const struct order *o,
                                     struct cpl_error *err)
{
	int n = launch->tasks;
	struct cpl_profile *profile =
	        cpltask_file(launch, &o->site, &o->told, o->own, err);
	int *rank = calloc((size_t)n + 1, sizeof(*rank));
	struct cpl_comm *comm = NULL;
	int64_t first;

	if (!profile || !rank) {
		if (profile)
			cpl_fail_memory(err);
		goto done;
	}
	first = first_rank(launch, o->own ? o->own : o->told.profile,
	                   profile->ranks, err);
	if (first < 0)
		goto done;
	for (int i = 0; i < n; i++) {
		uint32_t id = launch->task_id[i];

		if (id >= (uint32_t)launch->ranks ||
		    id >= profile->ranks - first) {
			cpl_fail(err, "task id %u in a step of %d tasks", id,
			         launch->ranks);
			goto done;
		}
		rank[i] = (int)(first + id);
	}
	comm = cpl_comm_subset(profile->comm, rank, n, err);
done:
	cpl_profile_drop(profile);
	free(rank);
	return comm;
}

static struct cpl_comm *local_traffic(const struct cplslurm_launch *launch,
                                      const struct order *o,
                                      struct cpl_error *err)
{
	if (o->own || o->told.kind == CPL_LAUNCH_FILE)
		return file_traffic(launch, o, err);
	if (o->told.kind == CPL_LAUNCH_ROWS)
		return cpl_launch_rows(launch->sent.data, launch->sent.size,
		                       launch->ranks, (int)launch->node,
		                       launch->task_id, launch->tasks, err);
	cpl_fail(err, "%s", o->told.reason);
	return NULL;
}

hwloc_bitmap_t cpltask_cpus_of_cores(const char *cores, struct cpl_error *err)
{
	hwloc_bitmap_t set = hwloc_bitmap_alloc(), core_set = NULL;
	int threads = cplslurm_node().threads;
	char *cpus = NULL;
	int core, rc = set ? 0 : -1;

	if (rc) {
		cpl_fail_memory(err);
	} else if (!cpltask_counts_pretended()) {
		cpus = cplslurm_cpus_of_cores(cores);
		if (!cpus || hwloc_bitmap_list_sscanf(set, cpus) < 0)
			rc = cpl_fail(err, "cannot turn cores %s into CPUs",
			              cores);
	} else if (!(core_set = hwloc_bitmap_alloc()) ||
	           hwloc_bitmap_list_sscanf(core_set, cores) < 0 ||
	           hwloc_bitmap_weight(core_set) < 0) {
		rc = cpl_fail(err, "cannot read the cores %s", cores);
	}
	for (core = core_set ? hwloc_bitmap_first(core_set) : -1;
	     !rc && core >= 0; core = hwloc_bitmap_next(core_set, core))
		if (hwloc_bitmap_set_range(set, (unsigned)(core * threads),
		                           (core + 1) * threads - 1))
			rc = cpl_fail_memory(err);
	if (!rc && hwloc_bitmap_iszero(set))
		rc = cpl_fail(err, "there are no CPUs in cores %s", cores);
	hwloc_bitmap_free(core_set);
	free(cpus);
	if (rc) {
		hwloc_bitmap_free(set);
		set = NULL;
	}
	return set;
}

/* These are the CPUs, by OS numbers, that the credential gives the step on this
 * node. */
static hwloc_bitmap_t allowed_cpus(const struct cplslurm_launch *launch,
                                   struct cpl_error *err)
{
	char *cores = cplslurm_allowed_cores(launch);
	hwloc_bitmap_t set = NULL;

	if (cores)
		set = cpltask_cpus_of_cores(cores, err);
	else
		cpl_fail(err, "the credential has no cores of this node");
	free(cores);
	return set;
}

static int count_cores(hwloc_topology_t tree, hwloc_const_cpuset_t allowed)
{
	hwloc_obj_t core = NULL;
	int n = 0;

	while ((core = hwloc_get_next_obj_by_type(tree, HWLOC_OBJ_CORE, core)))
		n += hwloc_bitmap_intersects(core->cpuset, allowed);
	return n;
}

/* It takes whole cores if there are enough of them, or threads if a core's threads
 * are CPUs to Slurm and tasks share cores. */
static void choose_slots(const struct cplslurm_launch *launch,
                         struct cpl_bind_request *bind)
{
	struct cplslurm_node node = cplslurm_node();
	int all_cores = node.sockets * node.cores;
	int cpus_per_core = all_cores > 0 ? node.cpus / all_cores : 1;
	int cpus = launch->cpus_per_task;
	int cores = count_cores(bind->topology, bind->allowed);

	bind->one_thread = launch->one_thread;
	bind->overcommit = launch->overcommit;
	bind->ranks_per_socket = launch->ranks_per_socket;
	if (cpus_per_core < 1 || bind->one_thread)
		cpus_per_core = 1;
	bind->cores_per_rank = (cpus + cpus_per_core - 1) / cpus_per_core;
	if ((int64_t)launch->tasks * bind->cores_per_rank <= cores ||
	    cpus_per_core == 1 || launch->ranks_per_core == 1)
		return;
	bind->by_pu = true;
	bind->cores_per_rank = cpus;
	bind->ranks_per_core = launch->ranks_per_core;
}

/* This writes one mask per task, "0x1,0x2", to free(), or returns NULL when memory
 * is out. */
static char *write_masks(hwloc_bitmap_t *set, int n)
{
	char *masks = NULL;
	size_t size;
	FILE *out = open_memstream(&masks, &size);
	bool failed = !out;

	if (!out)
		return NULL;
	for (int i = 0; i < n; i++) {
		char *mask = NULL;

		if (hwloc_bitmap_taskset_asprintf(&mask, set[i]) < 0)
			failed = true;
		else
			fprintf(out, "%s%s", i ? "," : "", mask);
		free(mask);
	}
	if (fclose(out) || failed) {
		free(masks);
		return NULL;
	}
	return masks;
}

static int fill_plan(struct cpltask_plan *plan, hwloc_topology_t tree,
                     const struct cpl_bind_result *result, bool memory,
                     struct cpl_error *err)
{
	long real = sysconf(_SC_NPROCESSORS_CONF);

	plan->binding = hwloc_topology_is_thissystem(tree) == 1;
	plan->cost = result->cost;
	plan->cost_packed = result->cost_default;
	plan->n_far = result->n_far;
	for (int i = 0; i < result->ranks; i++)
		if (hwloc_bitmap_last(result->cpuset[i]) >= real)
			plan->binding = false;
	plan->masks = write_masks(result->cpuset, result->ranks);
	if (!plan->masks)
		return cpl_fail_memory(err);
	if (!memory)
		return 0;
	plan->mems = write_masks(result->nodeset, result->ranks);
	return plan->mems ? 0 : cpl_fail_memory(err);
}

static int bind_tasks(const struct cplslurm_launch *launch,
                      const struct cpl_binder *binder,
                      const struct cpl_comm *comm, const struct cpl_launch *told,
                      struct cpltask_plan *plan, struct cpl_error *err)
{
	struct cpl_bind_request bind = {.comm = comm};
	struct cpl_bind_result result = {0};
	struct cpl_gpu_near near = {0};
	hwloc_bitmap_t allowed = allowed_cpus(launch, err);
	int rc = -1;

	if (!allowed)
		return -1;
	bind.allowed = allowed;
	bind.work = (int64_t)comm->ranks * CPL_BIND_LAUNCH_WORK;
	pthread_mutex_lock(&topology_lock);
	bind.topology = node_topology(err);
	if (bind.topology) {
		choose_slots(launch, &bind);
		rc = cpltask_near(launch, &bind, &near, err);
		bind.near = (const hwloc_const_cpuset_t *)near.near;
	}
	if (rc >= 0)
		rc = cpl_bind(binder, &bind, &result, err);
	if (!rc)
		rc = fill_plan(plan, bind.topology, &result, told->memory, err);
	if (!rc && near.near)
		rc = cpltask_nics(&near, told->nic, &plan->nics, err);
	pthread_mutex_unlock(&topology_lock);
	plan->split = near.near && near.from == CPL_GPU_SPLIT;
	cpl_bind_result_free(&result);
	cpl_gpu_near_free(&near);
	hwloc_bitmap_free(allowed);
	return rc;
}

/* This returns 1, or 0 if the step is left to Slurm, or -1 with err. The caller
 * frees the site. */
static int find_order(const struct cplslurm_launch *launch, struct order *o,
                      struct cpl_error *err)
{
	const struct cplslurm_excerpt *sent = &launch->sent;

	/* Otherwise a step that names a profile uses the files of its nodes. */
	o->own = launch->profile;
	if (sent->data &&
	    cpl_launch_read(sent->data, sent->size, &o->told, err))
		return -1;
	if (sent->data &&
	    (!o->told.own || (o->own && !strcmp(o->own, o->told.profile))))
		o->own = NULL;
	if (o->own ? cpl_is_none(o->own) : !sent->data)
		return 0;
	if ((o->own || o->told.kind == CPL_LAUNCH_FILE) &&
	    cpltask_site(launch, o->own, &o->site, err))
		return -1;
	if (sent->data)
		return 1;
	o->told.memory = o->site.memory;
	memcpy(o->told.binder, o->site.binder, sizeof(o->told.binder));
	memcpy(o->told.nic, o->site.nic, sizeof(o->told.nic));
	return o->site.bind;
}

static int plan_order(const struct cplslurm_launch *launch,
                      const struct order *o, struct cpltask_plan *plan,
                      struct cpl_error *err)
{
	const struct cpl_binder *binder;
	struct cpl_comm *comm;
	int rc = -1;

	if (launch->thread_spec)
		return cpl_fail(err, "the job has specialised threads");
	binder = cpl_binder_find(o->told.binder, err);
	if (!binder)
		return -1;
	comm = local_traffic(launch, o, err);
	if (!comm)
		return -1;
	plan->binder = binder->name;
	plan->profile = strdup(o->own ? o->own : o->told.profile);
	if (!plan->profile)
		cpl_fail_memory(err);
	else
		cpl_printable(plan->profile);
	if (plan->profile &&
	    !bind_tasks(launch, binder, comm, &o->told, plan, err))
		rc = 1;
	if (rc < 0)
		cpltask_plan_free(plan);
	cpl_comm_free(comm);
	return rc;
}

int cpltask_plan(const struct cplslurm_launch *launch,
                 struct cpltask_plan *plan, struct cpl_error *err)
{
	struct order order = {0};
	int rc;

	memset(plan, 0, sizeof(*plan));
	rc = find_order(launch, &order, err);
	if (rc > 0)
		rc = plan_order(launch, &order, plan, err);
	free(order.site.dir);
	return rc;
}

void cpltask_plan_free(struct cpltask_plan *plan)
{
	cpl_free_all(plan->masks, plan->mems, plan->nics, plan->profile);
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
