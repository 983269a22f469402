/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bind.h"

#include <stdlib.h>

#include "algorithms.h"
#include "base/file.h"
#include "options.h"
#include "signature/signature.h"

/* Larger than any CPU number that makes sense on one node. */
#define MAX_CPU 65535
/* Of a job on a node, slices included. */
#define MAX_GPUS 1024

enum { FORMAT_TABLE, FORMAT_JSON, FORMAT_MASK };
enum { HINT_MULTITHREAD, HINT_NOMULTITHREAD };

struct options {
	const char *signature, *profile_dir, *phase, *topology, *ranks, *cpus;
	const char *gpus, *gpu_map, *plot, *algorithm;
	int64_t cores, cpus_per_rank; /* of each rank; 0: not given */
	int64_t per_core, per_socket;
	bool overcommit, fill_domains, launch, json;
	int hint, metric, format;
};

static int parse(const struct cmd *self, int argc, char **argv,
                 struct options *o)
{
	static const char *const formats[] = {"table", "json", "mask", NULL};
	/* As enum cpl_bind_metric has them, then in short. */
	static const char *const metrics[] = {
	        "bytes", "messages", "average", "size", "msg", "avg", NULL};
	static const char *const hints[] = {"multithread", "nomultithread",
	                                    NULL};
	const struct cmd_option table[] = {
	        {"signature", .text = &o->signature, .needed = true},
	        {"profile-dir", .text = &o->profile_dir},
	        {"phase", .text = &o->phase},
	        {"topology", .text = &o->topology},
	        {"ranks", .text = &o->ranks},
	        {"cpus", .text = &o->cpus},
	        {"cores-per-rank", .integer = &o->cores, .low = 1,
	         .high = MAX_CPU},
	        {"cpus-per-rank", .integer = &o->cpus_per_rank, .low = 1,
	         .high = MAX_CPU},
	        {"ranks-per-core", .integer = &o->per_core, .low = 1,
	         .high = MAX_CPU},
	        {"ranks-per-socket", .integer = &o->per_socket, .low = 1,
	         .high = MAX_CPU},
	        {"hint", .choice = &o->hint, .choices = hints},
	        {"overcommit", .flag = &o->overcommit},
	        {"fill-domains", .flag = &o->fill_domains},
	        {"metric", .choice = &o->metric, .choices = metrics},
	        {"gpus", .text = &o->gpus},
	        {"gpu-map", .text = &o->gpu_map},
	        {"algorithm", .text = &o->algorithm},
	        {"launch", .flag = &o->launch},
	        {"plot", .text = &o->plot},
	        {"format", .choice = &o->format, .choices = formats},
	        {"json", .flag = &o->json},
	        {0},
	};
	int rc = cmd_options(self, argc, argv, table, CMD_NO_WORDS);

	if (rc)
		return rc;
	if (o->cores && o->cpus_per_rank)
		return cmd_usage(self, "--cores-per-rank and --cpus-per-rank: "
		                       "one is enough");
	if (o->json && o->format == FORMAT_MASK)
		return cmd_usage(self, "--json and --format mask exclude each "
		                       "other");
	if (o->json)
		o->format = FORMAT_JSON;
	return CMD_OK;
}

/* "0-3,8" with every number within 0 .. high, each once. */
static int parse_list(const char *option, const char *text, int high,
                      hwloc_bitmap_t out, struct cpl_error *err)
{
	const char *s = text;

	for (;;) {
		char *end;
		unsigned long first, last;

		if (*s < '0' || *s > '9')
			break;
		first = last = strtoul(s, &end, 10);
		if (*end == '-' && end[1] >= '0' && end[1] <= '9')
			last = strtoul(end + 1, &end, 10);
		if (first > last)
			return cpl_fail(err, "%s: %lu-%lu runs backwards",
			                option, first, last);
		if (last > (unsigned long)high)
			return cpl_fail(err, "%s: %lu is outside 0 .. %d",
			                option, last, high);
		for (unsigned long i = first; i <= last; i++) {
			if (hwloc_bitmap_isset(out, (unsigned)i))
				return cpl_fail(err, "%s: %lu is given twice",
				                option, i);
			if (hwloc_bitmap_set(out, (unsigned)i) < 0)
				return cpl_fail_memory(err);
		}
		if (*end == '\0')
			return 0;
		if (*end != ',')
			break;
		s = end + 1;
	}
	return cpl_fail(err, "%s: '%.60s' is not a list such as 0-3,8", option,
	                text);
}

static int load_ranks(const struct options *o, struct bind_job *job,
                      struct cpl_error *err)
{
	struct cpl_signature *sig =
	        cmd_load_signature(o->signature, o->profile_dir, err);
	struct cpl_comm *all = sig ? cmd_comm(sig, o->phase, err) : NULL;
	hwloc_bitmap_t set = hwloc_bitmap_alloc();
	int rc = -1, r;

	if (!all)
		goto done;
	if (!set ||
	    (!o->ranks && hwloc_bitmap_set_range(set, 0, all->ranks - 1) < 0))
		goto memory;
	if (o->ranks &&
	    parse_list("--ranks", o->ranks, all->ranks - 1, set, err))
		goto done;
	job->rank =
	        calloc((size_t)hwloc_bitmap_weight(set), sizeof(*job->rank));
	if (!job->rank)
		goto memory;
	hwloc_bitmap_foreach_begin(r, set) job->rank[job->n_ranks++] = r;
	hwloc_bitmap_foreach_end();
	job->comm = cpl_comm_subset(all, job->rank, job->n_ranks, err);
	rc = job->comm ? 0 : -1;
	goto done;
memory:
	cpl_fail_memory(err);
done:
	hwloc_bitmap_free(set);
	cpl_comm_free(all);
	cpl_signature_free(sig);
	return rc;
}

static int check_cpus(const struct bind_job *job, struct cpl_error *err)
{
	hwloc_const_cpuset_t all =
	        hwloc_topology_get_topology_cpuset(job->topology);
	char *text = NULL;
	int cpu;

	if (hwloc_bitmap_isincluded(job->allowed, all))
		return 0;
	cpu = hwloc_bitmap_first(job->allowed);
	while (hwloc_bitmap_isset(all, (unsigned)cpu))
		cpu = hwloc_bitmap_next(job->allowed, cpu);
	hwloc_bitmap_list_asprintf(&text, all);
	cpl_fail(err, "--cpus: %d is not in the topology, which has %.100s",
	         cpu, text ? text : "others");
	free(text);
	return -1;
}

static int load_cpus(const struct options *o, struct bind_job *job,
                     struct cpl_error *err)
{
	if (cpl_topology_load(o->topology, &job->topology, err)) {
		job->topology = NULL;
		return -1;
	}
	if (!o->cpus)
		return 0;
	job->allowed = hwloc_bitmap_alloc();
	if (!job->allowed)
		return cpl_fail_memory(err);
	if (parse_list("--cpus", o->cpus, MAX_CPU, job->allowed, err))
		return -1;
	return check_cpus(job, err);
}

/* "4,5,6,7": the GPUs of the job, all that there are by default. */
static int list_gpus(const struct options *o, struct bind_job *job,
                     struct cpl_error *err)
{
	int there = job->devices.n_gpus;
	int most = o->gpus ? MAX_GPUS : there;

	if (there == 0)
		return cpl_fail(err,
		                "%s: the topology has no GPU; an XML file "
		                "of lstopo has those of its machine",
		                o->gpus ? "--gpus" : "--gpu-map");
	job->gpu = calloc((size_t)most + 1, sizeof(*job->gpu));
	if (!job->gpu)
		return cpl_fail_memory(err);
	for (int i = 0; i < there && !o->gpus; i++)
		job->gpu[i] = i;
	job->n_gpus = o->gpus ? cmd_int_list("--gpus", o->gpus, 0, there - 1,
	                                     job->gpu, most, err)
	                      : there;
	if (job->n_gpus > most)
		return cpl_fail(err, "--gpus: %d are more than %d",
		                job->n_gpus, most);
	return job->n_gpus < 0 ? -1 : 0;
}

/* "0,0,1": the GPU of each rank in turn, again from the start; without it, by
 * the ranks' own numbers. */
static int share_gpus(const struct options *o, struct bind_job *job,
                      struct cpl_error *err)
{
	size_t n = (size_t)job->n_gpus, ranks = (size_t)job->n_ranks;
	int *which = calloc(ranks + 1, sizeof(*which)), given = 0;

	job->uses = calloc(ranks * n + 1, sizeof(*job->uses));
	if (!which || !job->uses)
		given = cpl_fail_memory(err);
	else if (o->gpu_map)
		given = cmd_int_list("--gpu-map", o->gpu_map, 0,
		                     job->n_gpus - 1, which, job->n_ranks, err);
	for (int r = 0; given >= 0 && r < job->n_ranks; r++) {
		int first = 0, count = 1;

		if (o->gpu_map)
			first = which[r % given];
		else if (!cpl_gpus_by_rank(job->n_gpus, job->n_ranks, r, &first,
		                           &count))
			given = cpl_fail(err,
			                 "--gpus: %d GPUs for %d ranks; say "
			                 "with --gpu-map which has which",
			                 job->n_gpus, job->n_ranks);
		for (int k = 0; given >= 0 && k < count; k++)
			job->uses[(size_t)r * n + (size_t)(first + k)] = true;
	}
	free(which);
	return given < 0 ? -1 : 0;
}

static int find_near(const struct options *o, struct bind_job *job,
                     struct cpl_error *err)
{
	struct cpl_gpu_use use = {.devices = &job->devices};

	if (cpl_devices_find(job->topology, &job->devices, err) ||
	    list_gpus(o, job, err) || share_gpus(o, job, err))
		return -1;
	use.n = job->n_gpus;
	use.physical = job->gpu;
	use.uses = job->uses;
	if (cpl_gpus_near(&job->req, &use, &job->near, err))
		return -1;
	job->req.near = (const hwloc_const_cpuset_t *)job->near.near;
	return 0;
}

static int write_plot(const char *path, const struct bind_job *job,
                      struct cpl_error *err)
{
	struct cpl_file_writer *writer = cpl_file_open_atomic(path, err);

	if (!writer)
		return -1;
	if (bind_plot(job, cpl_file_stream(writer), err)) {
		cpl_file_abandon(writer);
		return -1;
	}
	return cpl_file_commit(writer, 0644, err);
}

static int run_bind(const struct cmd *self, int argc, char **argv)
{
	struct options o = {.algorithm = "treematch"};
	struct bind_job job = {0};
	struct cpl_error err = {""};
	int rc = parse(self, argc, argv, &o);

	if (rc)
		return rc;
	job.binder = cpl_binder_find_in(CMD_BINDERS, o.algorithm, &err);
	if (!job.binder) {
		cpl_fail_prefix(&err, "--algorithm: ");
		return cmd_fail(self, &err);
	}
	job.has_gpus = o.gpus || o.gpu_map;
	if (load_ranks(&o, &job, &err) || load_cpus(&o, &job, &err)) {
		rc = cmd_fail(self, &err);
		goto done;
	}
	job.req = (struct cpl_bind_request){
	        .topology = job.topology,
	        .allowed = job.allowed,
	        .comm = job.comm,
	        .cores_per_rank = (int)(o.cores           ? o.cores
	                                : o.cpus_per_rank ? o.cpus_per_rank
	                                                  : 1),
	        .by_pu = o.cpus_per_rank > 0,
	        .one_thread = o.hint == HINT_NOMULTITHREAD,
	        .ranks_per_core = (int)o.per_core,
	        .ranks_per_socket = (int)o.per_socket,
	        .overcommit = o.overcommit,
	        .fill_domains = o.fill_domains,
	        .metric = (enum cpl_bind_metric)(o.metric % 3),
	        .work = o.launch ? (int64_t)job.n_ranks * CPL_BIND_LAUNCH_WORK
	                         : 0};
	if ((job.has_gpus && find_near(&o, &job, &err)) ||
	    cpl_bind(job.binder, &job.req, &job.result, &err) ||
	    cpl_bind_as_is(&cpl_binder_packed, &job.req, &job.packed, &err) ||
	    cpl_bind_as_is(&cpl_binder_round_robin, &job.req, &job.round_robin,
	                   &err) ||
	    (o.plot && write_plot(o.plot, &job, &err))) {
		rc = cmd_fail(self, &err);
		goto done;
	}
	if (o.format == FORMAT_JSON)
		rc = cmd_print_json(self, bind_json(&job));
	else if (o.format == FORMAT_MASK)
		rc = bind_print_masks(self, &job);
	else
		rc = bind_print(self, &job);
done:
	cpl_bind_result_free(&job.result);
	cpl_bind_result_free(&job.packed);
	cpl_bind_result_free(&job.round_robin);
	cpl_gpu_near_free(&job.near);
	cpl_devices_free(&job.devices);
	cpl_free_all(job.gpu, job.uses);
	hwloc_bitmap_free(job.allowed);
	if (job.topology)
		hwloc_topology_destroy(job.topology);
	cpl_comm_free(job.comm);
	free(job.rank);
	return rc;
}

const struct cmd cmd_bind = {"bind", run_bind};
