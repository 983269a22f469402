/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bind.h"

#include <stdlib.h>
#include <string.h>

#include "algorithms.h"
#include "base/file.h"
#include "options.h"
#include "signature/signature.h"

/* Larger than any CPU number that makes sense on one node. */
#define MAX_CPU 65535

enum { FORMAT_TABLE, FORMAT_JSON, FORMAT_MASK };
enum { HINT_MULTITHREAD, HINT_NOMULTITHREAD };

struct options {
	const char *signature, *profile_dir, *phase, *topology, *ranks, *cpus;
	const char *gpu_map, *plot;
	const struct cpl_binder *binder;
	int64_t per_rank, per_core, per_socket;
	bool by_pu, units_said, overcommit, launch, json;
	enum cpl_bind_metric metric;
	int hint, format;
};

static int take_metric(const struct cmd *self, void *into, const char *option,
                       const char *value)
{
	struct options *o = into;
	static const struct {
		const char *name;
		enum cpl_bind_metric metric;
	} known[] = {
	        {"bytes", CPL_BIND_BYTES},       {"size", CPL_BIND_BYTES},
	        {"messages", CPL_BIND_MESSAGES}, {"msg", CPL_BIND_MESSAGES},
	        {"average", CPL_BIND_AVERAGE},   {"avg", CPL_BIND_AVERAGE}};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(value, known[i].name)) {
			o->metric = known[i].metric;
			return CMD_OK;
		}
	return cmd_failf(self,
	                 "%s: '%.60s' is unknown; it must be one of bytes, "
	                 "messages, average",
	                 option, value);
}

static int take_units(const struct cmd *self, void *into, const char *option,
                      const char *value)
{
	struct options *o = into;
	struct cpl_error err = {""};

	if (o->units_said)
		return cmd_usage(self, "--cores-per-rank and --cpus-per-rank: "
		                       "one is enough");
	o->units_said = true;
	o->by_pu = !strcmp(option, "--cpus-per-rank");
	if (cmd_int(option, value, 1, MAX_CPU, &o->per_rank, &err))
		return cmd_fail(self, &err);
	return CMD_OK;
}

static int take_binder(const struct cmd *self, void *into, const char *option,
                       const char *value)
{
	struct options *o = into;
	struct cpl_error err = {""};

	o->binder = cpl_binder_find_in(CMD_BINDERS, value, &err);
	if (o->binder)
		return CMD_OK;
	cpl_fail_prefix(&err, "%s: ", option);
	return cmd_fail(self, &err);
}

static int parse(const struct cmd *self, int argc, char **argv,
                 struct options *o)
{
	static const char *const formats[] = {"table", "json", "mask", NULL};
	static const char *const hints[] = {"multithread", "nomultithread",
	                                    NULL};
	const struct cmd_option table[] = {
	        {"signature", .text = &o->signature, .needed = true},
	        {"profile-dir", .text = &o->profile_dir},
	        {"phase", .text = &o->phase},
	        {"topology", .text = &o->topology},
	        {"ranks", .text = &o->ranks},
	        {"cpus", .text = &o->cpus},
	        {"cores-per-rank", .take = take_units, .into = o},
	        {"cpus-per-rank", .take = take_units, .into = o},
	        {"ranks-per-core", .integer = &o->per_core, .low = 1,
	         .high = MAX_CPU},
	        {"ranks-per-socket", .integer = &o->per_socket, .low = 1,
	         .high = MAX_CPU},
	        {"hint", .choice = &o->hint, .choices = hints},
	        {"overcommit", .flag = &o->overcommit},
	        {"metric", .take = take_metric, .into = o},
	        {"gpu-map", .text = &o->gpu_map},
	        {"algorithm", .take = take_binder, .into = o},
	        {"launch", .flag = &o->launch},
	        {"plot", .text = &o->plot},
	        {"format", .choice = &o->format, .choices = formats},
	        {"json", .flag = &o->json},
	        {0},
	};
	int rc = cmd_options(self, argc, argv, table, CMD_NO_WORDS);

	if (rc)
		return rc;
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
	if (!set) {
		cpl_fail_memory(err);
		goto done;
	}
	if (o->ranks &&
	    parse_list("--ranks", o->ranks, all->ranks - 1, set, err))
		goto done;
	if (!o->ranks && hwloc_bitmap_set_range(set, 0, all->ranks - 1) < 0) {
		cpl_fail_memory(err);
		goto done;
	}
	job->rank =
	        calloc((size_t)hwloc_bitmap_weight(set), sizeof(*job->rank));
	if (!job->rank) {
		cpl_fail_memory(err);
		goto done;
	}
	hwloc_bitmap_foreach_begin(r, set) job->rank[job->n_ranks++] = r;
	hwloc_bitmap_foreach_end();
	job->comm = cpl_comm_subset(all, job->rank, job->n_ranks, err);
	rc = job->comm ? 0 : -1;
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

/* "0,0,1": the GPU of each rank in turn, again from the start. */
static int load_gpus(const struct options *o, struct bind_job *job,
                     struct cpl_error *err)
{
	hwloc_const_cpuset_t *gpu = NULL;
	const char *s = o->gpu_map;
	int n, given = 0, rc = -1;

	if (!s)
		return 0;
	n = cpl_topology_gpus(job->topology, &gpu, err);
	job->near = calloc((size_t)job->n_ranks, sizeof(*job->near));
	if (n < 0 || !job->near) {
		cpl_fail_memory(err);
		goto done;
	}
	if (n == 0) {
		cpl_fail(err, "--gpu-map: the topology has no GPU; an XML "
		              "file of lstopo has those of its machine");
		goto done;
	}
	for (;;) {
		char *end;
		unsigned long which;

		if (*s < '0' || *s > '9') {
			cpl_fail(err,
			         "--gpu-map: '%.60s' is not a list of GPUs "
			         "such as 0,0,1,1",
			         o->gpu_map);
			goto done;
		}
		which = strtoul(s, &end, 10);
		if (which >= (unsigned long)n) {
			cpl_fail(err, "--gpu-map: %lu is outside 0 .. %d",
			         which, n - 1);
			goto done;
		}
		if (given < job->n_ranks)
			job->near[given++] = gpu[which];
		if (*end == '\0')
			break;
		s = *end == ',' ? end + 1 : end;
	}
	for (int i = given; i < job->n_ranks; i++)
		job->near[i] = job->near[i % given];
	rc = 0;
done:
	free(gpu);
	return rc;
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

static int run(const struct cmd *self, int argc, char **argv)
{
	struct options o = {.binder = &cpl_binder_treematch, .per_rank = 1};
	struct bind_job job = {0};
	struct cpl_error err = {""};
	int rc = parse(self, argc, argv, &o);

	if (rc)
		return rc;
	if (load_ranks(&o, &job, &err) || load_cpus(&o, &job, &err) ||
	    load_gpus(&o, &job, &err)) {
		rc = cmd_fail(self, &err);
		goto done;
	}
	job.req = (struct cpl_bind_request){
	        .topology = job.topology,
	        .allowed = job.allowed,
	        .comm = job.comm,
	        .cores_per_rank = (int)o.per_rank,
	        .by_pu = o.by_pu,
	        .one_thread = o.hint == HINT_NOMULTITHREAD,
	        .ranks_per_core = (int)o.per_core,
	        .ranks_per_socket = (int)o.per_socket,
	        .overcommit = o.overcommit,
	        .metric = o.metric,
	        .near = job.near,
	        .work = o.launch ? (int64_t)job.n_ranks * CPL_BIND_LAUNCH_WORK
	                         : 0};
	job.binder = o.binder;
	if (cpl_bind(o.binder, &job.req, &job.result, &err) ||
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
	free(job.near);
	hwloc_bitmap_free(job.allowed);
	if (job.topology)
		hwloc_topology_destroy(job.topology);
	cpl_comm_free(job.comm);
	free(job.rank);
	return rc;
}

const struct cmd cmd_bind = {"bind", run};
