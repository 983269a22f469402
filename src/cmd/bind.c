/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "binding/binding.h"
#include "signature/signature.h"

/* Larger than any CPU number that makes sense on one node. */
#define MAX_CPU 65535

enum format { FORMAT_TABLE, FORMAT_JSON, FORMAT_MASK };

struct options {
	const char *signature, *profile_dir, *phase, *topology, *ranks, *cpus;
	const struct cpl_binder *binder;
	int64_t per_rank;
	bool by_pu;
	enum format format;
};

struct job {
	int n_ranks;
	int *rank; /* [n_ranks] of the signature */
	struct cpl_comm *comm;
	hwloc_topology_t topology;
	hwloc_bitmap_t allowed; /* or NULL */
	struct cpl_bind_request req;
	struct cpl_bind_result result;
};

static int parse_format(const char *text, enum format *out,
                        struct cpl_error *err)
{
	static const char *const name[] = {
	        [FORMAT_TABLE] = "table",
	        [FORMAT_JSON] = "json",
	        [FORMAT_MASK] = "mask",
	};

	for (int f = 0; f < 3; f++)
		if (!strcmp(text, name[f])) {
			*out = (enum format)f;
			return 0;
		}
	return cpl_fail(err,
	                "--format: no format '%.60s'; there are: table, "
	                "json, mask",
	                text);
}

static int parse(const struct cmd *self, int argc, char **argv,
                 struct options *o)
{
	enum {
		OPT_SIGNATURE = 256,
		OPT_PROFILE_DIR,
		OPT_PHASE,
		OPT_TOPOLOGY,
		OPT_RANKS,
		OPT_CPUS,
		OPT_CORES_PER_RANK,
		OPT_CPUS_PER_RANK,
		OPT_ALGORITHM,
		OPT_FORMAT,
		OPT_JSON
	};
	static const struct option table[] = {
	        {"signature", required_argument, NULL, OPT_SIGNATURE},
	        {"profile-dir", required_argument, NULL, OPT_PROFILE_DIR},
	        {"phase", required_argument, NULL, OPT_PHASE},
	        {"topology", required_argument, NULL, OPT_TOPOLOGY},
	        {"ranks", required_argument, NULL, OPT_RANKS},
	        {"cpus", required_argument, NULL, OPT_CPUS},
	        {"cores-per-rank", required_argument, NULL, OPT_CORES_PER_RANK},
	        {"cpus-per-rank", required_argument, NULL, OPT_CPUS_PER_RANK},
	        {"algorithm", required_argument, NULL, OPT_ALGORITHM},
	        {"format", required_argument, NULL, OPT_FORMAT},
	        {"json", no_argument, NULL, OPT_JSON},
	        {"help", no_argument, NULL, 'h'},
	        {0}};
	const char *units = NULL;
	struct cpl_error err = {""};
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":h", table, NULL)) != -1) {
		switch (c) {
		case OPT_SIGNATURE:
			o->signature = optarg;
			break;
		case OPT_PROFILE_DIR:
			o->profile_dir = optarg;
			break;
		case OPT_PHASE:
			o->phase = optarg;
			break;
		case OPT_TOPOLOGY:
			o->topology = optarg;
			break;
		case OPT_RANKS:
			o->ranks = optarg;
			break;
		case OPT_CPUS:
			o->cpus = optarg;
			break;
		case OPT_CORES_PER_RANK:
		case OPT_CPUS_PER_RANK:
			if (units)
				return cmd_usage(self,
				                 "--cores-per-rank and "
				                 "--cpus-per-rank: one is "
				                 "enough");
			o->by_pu = c == OPT_CPUS_PER_RANK;
			units = o->by_pu ? "--cpus-per-rank"
			                 : "--cores-per-rank";
			if (cmd_int(units, optarg, 1, MAX_CPU, &o->per_rank,
			            &err))
				return cmd_fail(self, &err);
			break;
		case OPT_ALGORITHM:
			o->binder = cpl_binder_find(optarg, &err);
			if (!o->binder) {
				cpl_fail_prefix(&err, "--algorithm: ");
				return cmd_fail(self, &err);
			}
			break;
		case OPT_FORMAT:
			if (parse_format(optarg, &o->format, &err))
				return cmd_fail(self, &err);
			break;
		case OPT_JSON:
			o->format = FORMAT_JSON;
			break;
		case 'h':
			fputs(self->help, stdout);
			return -1;
		default:
			return cmd_bad_option(self, c, argv);
		}
	}
	if (optind < argc)
		return cmd_usage(self, "'%s' is left over", argv[optind]);
	if (!o->signature)
		return cmd_usage(self, "--signature is missing");
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
				return cpl_fail(err, "%s: %lu stands twice",
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
	return cpl_fail(err,
	                "%s: '%.60s' is no list; right is, for example, "
	                "0-3,8",
	                option, text);
}

static int load_ranks(const struct options *o, struct job *job,
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

static int check_cpus(const struct job *job, struct cpl_error *err)
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

static int load_cpus(const struct options *o, struct job *job,
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

static json_t *as_json(const struct options *o, const struct job *job)
{
	json_t *ranks = json_array(), *pus = json_array();
	json_t *masks = json_array();
	unsigned cpu;

	for (int i = 0; i < job->n_ranks; i++) {
		json_t *list = json_array();
		char *mask = NULL;

		hwloc_bitmap_foreach_begin(cpu, job->result.cpuset[i])
		        json_array_append_new(list, json_integer(cpu));
		hwloc_bitmap_foreach_end();
		hwloc_bitmap_taskset_asprintf(&mask, job->result.cpuset[i]);
		json_array_append_new(ranks, json_integer(job->rank[i]));
		json_array_append_new(pus, list);
		json_array_append_new(masks, json_string(mask ? mask : ""));
		free(mask);
	}
	return json_pack("{s:s, s:o, s:o, s:o, s:f, s:f}", "algorithm",
	                 o->binder->name, "ranks", ranks, "rank_to_pus", pus,
	                 "masks", masks, "cost", job->result.cost,
	                 "cost_packed", job->result.cost_default);
}

/* Logical indexes of the cores that a set of CPUs lies in. */
static char *cores_of(hwloc_topology_t topology, hwloc_const_cpuset_t set)
{
	hwloc_bitmap_t cores = hwloc_bitmap_alloc();
	hwloc_obj_t core = NULL;
	char *text = NULL;

	while (cores && (core = hwloc_get_next_obj_by_type(
	                         topology, HWLOC_OBJ_CORE, core)))
		if (hwloc_bitmap_intersects(core->cpuset, set))
			hwloc_bitmap_set(cores, core->logical_index);
	if (cores)
		hwloc_bitmap_list_asprintf(&text, cores);
	hwloc_bitmap_free(cores);
	return text;
}

static int print_table(const struct job *job)
{
	struct cmd_table *table = cmd_table_new(4, "rlll");
	int rc;

	cmd_table_row(table, "RANK", "CORES", "CPUS", "MASK");
	for (int i = 0; i < job->n_ranks; i++) {
		char rank[16], *cpus = NULL, *mask = NULL;
		char *cores = cores_of(job->topology, job->result.cpuset[i]);

		snprintf(rank, sizeof(rank), "%d", job->rank[i]);
		hwloc_bitmap_list_asprintf(&cpus, job->result.cpuset[i]);
		hwloc_bitmap_taskset_asprintf(&mask, job->result.cpuset[i]);
		cmd_table_row(table, rank, cores ? cores : "?",
		              cpus ? cpus : "?", mask ? mask : "?");
		free(cores);
		free(cpus);
		free(mask);
	}
	rc = cmd_table_print(table);
	if (rc == CMD_OK)
		printf("\ncost %.6g, packed %.6g (bytes * distance)\n",
		       job->result.cost, job->result.cost_default);
	return rc;
}

static int print_masks(const struct cmd *self, const struct job *job)
{
	for (int i = 0; i < job->n_ranks; i++) {
		char *mask = NULL;

		hwloc_bitmap_taskset_asprintf(&mask, job->result.cpuset[i]);
		if (!mask)
			return cmd_failf(self, "out of memory");
		printf("%s%s", i ? "," : "", mask);
		free(mask);
	}
	putchar('\n');
	return CMD_OK;
}

static int run(const struct cmd *self, int argc, char **argv)
{
	struct options o = {.binder = &cpl_binder_treematch, .per_rank = 1};
	struct job job = {0};
	struct cpl_error err = {""};
	int rc = parse(self, argc, argv, &o);

	if (rc)
		return rc < 0 ? CMD_OK : rc;
	if (load_ranks(&o, &job, &err) || load_cpus(&o, &job, &err)) {
		rc = cmd_fail(self, &err);
		goto done;
	}
	job.req = (struct cpl_bind_request){.topology = job.topology,
	                                    .allowed = job.allowed,
	                                    .comm = job.comm,
	                                    .cores_per_rank = (int)o.per_rank,
	                                    .by_pu = o.by_pu};
	if (cpl_bind(o.binder, &job.req, &job.result, &err)) {
		rc = cmd_fail(self, &err);
		goto done;
	}
	if (o.format == FORMAT_JSON)
		rc = cmd_print_json(self, as_json(&o, &job));
	else if (o.format == FORMAT_MASK)
		rc = print_masks(self, &job);
	else
		rc = print_table(&job);
	if (rc == CMD_OK && (fflush(stdout) || ferror(stdout)))
		rc = cmd_failf(self, "standard output: %s", strerror(errno));
done:
	cpl_bind_result_free(&job.result);
	hwloc_bitmap_free(job.allowed);
	if (job.topology)
		hwloc_topology_destroy(job.topology);
	cpl_comm_free(job.comm);
	free(job.rank);
	return rc;
}

const struct cmd cmd_bind = {
        .name = "bind",
        .summary = "bind the ranks of one node to cores",
        .help = "Usage: commplace bind --signature S [OPTION]...\n"
                "\n"
                "Print which CPUs of one node each rank gets.\n"
                "\n"
                "  --signature S        signature file, or name of a profile\n"
                "  --profile-dir DIR    where profiles are\n"
                "  --phase NAME         bind for one phase (default: the run)\n"
                "  --ranks LIST         ranks on this node (default: all)\n"
                "  --topology T         hwloc XML file or synthetic "
                "description\n"
                "                       (default: this machine)\n"
                "  --cpus LIST          CPUs that may be used, OS numbers\n"
                "                       (default: all)\n"
                "  --cores-per-rank N   whole cores for each rank (default 1)\n"
                "  --cpus-per-rank N    hardware threads for each rank; ranks "
                "may\n"
                "                       share a core\n"
                "  --algorithm A        treematch (default) or packed\n"
                "  --format F           table (default), json, or mask: what "
                "srun\n"
                "                       --cpu-bind=mask_cpu: takes\n"
                "  --json               the same as --format json\n"
                "\n"
                "Examples:\n"
                "  commplace bind --signature halo.json --ranks 0-7 \\\n"
                "      --topology \"pack:2 l3:2 core:4 pu:1\"\n"
                "  commplace bind --signature milc --ranks 0-3,8-11 --cpus "
                "0-7 \\\n"
                "      --cores-per-rank 2 --json\n",
        .run = run,
};
