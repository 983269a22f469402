/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/parallel.h"
#include "job_inputs.h"
#include "map_compare.h"
#include "mapping/mapping.h"

enum format {
	FORMAT_TABLE,
	FORMAT_JSON,
	FORMAT_HOSTFILE,
	FORMAT_RANKFILE,
	FORMAT_MPICH,
	FORMAT_SLURM,
};

struct options {
	struct job_options job;
	const char *hosts, *hosts_file, *slots, *algorithm, *compare, *format;
	const char *output;
	int64_t ranks_per_node, seed; /* ranks_per_node 0: not given */
	int64_t work;                 /* 0: not given */
	double deadline;              /* seconds, < 0: none */
	int64_t threads;
	bool json;
};

struct mapped {
	int n_hosts;
	int *host;  /* [n_hosts] node ids */
	int *slots; /* [n_hosts] */
	struct cpl_map_result result;
	double seconds;
};

enum {
	OPT_NETWORK = 256,
	OPT_SIGNATURE,
	OPT_PROFILE_DIR,
	OPT_ROUTING,
	OPT_OBJECTIVE,
	OPT_RUNNING,
	OPT_HOSTS,
	OPT_HOSTS_FILE,
	OPT_SLOTS,
	OPT_ALGORITHM,
	OPT_COMPARE,
	OPT_RANKS_PER_NODE,
	OPT_SEED,
	OPT_WORK,
	OPT_DEADLINE,
	OPT_THREADS,
	OPT_FORMAT,
	OPT_JSON,
};

static const struct option long_options[] = {
        {"network", required_argument, NULL, OPT_NETWORK},
        {"signature", required_argument, NULL, OPT_SIGNATURE},
        {"profile-dir", required_argument, NULL, OPT_PROFILE_DIR},
        {"routing", required_argument, NULL, OPT_ROUTING},
        {"objective", required_argument, NULL, OPT_OBJECTIVE},
        {"running", required_argument, NULL, OPT_RUNNING},
        {"hosts", required_argument, NULL, OPT_HOSTS},
        {"hosts-file", required_argument, NULL, OPT_HOSTS_FILE},
        {"slots", required_argument, NULL, OPT_SLOTS},
        {"algorithm", required_argument, NULL, OPT_ALGORITHM},
        {"compare", required_argument, NULL, OPT_COMPARE},
        {"ranks-per-node", required_argument, NULL, OPT_RANKS_PER_NODE},
        {"seed", required_argument, NULL, OPT_SEED},
        {"work", required_argument, NULL, OPT_WORK},
        {"deadline", required_argument, NULL, OPT_DEADLINE},
        {"threads", required_argument, NULL, OPT_THREADS},
        {"format", required_argument, NULL, OPT_FORMAT},
        {"output", required_argument, NULL, 'o'},
        {"json", no_argument, NULL, OPT_JSON},
        {"help", no_argument, NULL, 'h'},
        {0},
};

/* Where the text of an option is kept; NULL: it is a number or a flag. */
static const char **text_option(struct options *o, int c)
{
	switch (c) {
	case OPT_NETWORK:
		return &o->job.network;
	case OPT_SIGNATURE:
		return &o->job.signature;
	case OPT_PROFILE_DIR:
		return &o->job.profile_dir;
	case OPT_ROUTING:
		return &o->job.routing;
	case OPT_OBJECTIVE:
		return &o->job.objective;
	case OPT_RUNNING:
		return &o->job.running;
	case OPT_HOSTS:
		return &o->hosts;
	case OPT_HOSTS_FILE:
		return &o->hosts_file;
	case OPT_SLOTS:
		return &o->slots;
	case OPT_ALGORITHM:
		return &o->algorithm;
	case OPT_COMPARE:
		return &o->compare;
	case OPT_FORMAT:
		return &o->format;
	case 'o':
		return &o->output;
	default:
		return NULL;
	}
}

static int take_option(struct options *o, int c, struct cpl_error *err)
{
	const char **text = text_option(o, c);

	if (text) {
		*text = optarg;
		return 0;
	}
	if (c == OPT_RANKS_PER_NODE)
		return cmd_int("--ranks-per-node", optarg, 1,
		               CPL_SIGNATURE_MAX_RANKS, &o->ranks_per_node,
		               err);
	if (c == OPT_SEED)
		return cmd_int("--seed", optarg, 0, INT64_MAX, &o->seed, err);
	if (c == OPT_WORK)
		return cmd_int("--work", optarg, 1, INT64_C(1) << 40, &o->work,
		               err);
	if (c == OPT_DEADLINE)
		return cmd_number("--deadline", optarg, 0, 1e9, &o->deadline,
		                  err);
	if (c == OPT_THREADS)
		return cmd_int("--threads", optarg, 1, CPL_PARALLEL_MAX,
		               &o->threads, err);
	o->json = true;
	return 0;
}

/* -1: help was printed; else an exit code. */
static int parse(const struct cmd *self, int argc, char **argv,
                 struct options *o)
{
	struct cpl_error err = {""};
	const char *missing = NULL;
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":ho:", long_options, NULL)) !=
	       -1) {
		if (c == 'h') {
			fputs(self->help, stdout);
			return -1;
		}
		if (c == ':' || c == '?')
			return cmd_bad_option(self, c, argv);
		if (take_option(o, c, &err))
			return cmd_fail(self, &err);
	}
	if (optind < argc)
		return cmd_usage(self, "argument '%.60s' is one too many",
		                 argv[optind]);
	if (!o->job.network)
		missing = "--network is missing";
	else if (!o->job.signature)
		missing = "--signature is missing";
	else if (!o->algorithm && !o->compare)
		missing = "--algorithm is missing";
	else if (o->algorithm && o->compare)
		missing = "--algorithm and --compare exclude each other";
	else if (o->compare && (o->format || o->output))
		missing = "--compare prints a table, or --json; --format and "
		          "-o do not go with it";
	else if (!o->hosts == !o->hosts_file)
		missing = "one of --hosts and --hosts-file is needed";
	else if (o->slots && o->ranks_per_node)
		missing = "--slots and --ranks-per-node exclude each other";
	else if (o->json && o->format && strcmp(o->format, "json"))
		missing = "--json and --format exclude each other";
	return missing ? cmd_usage(self, "%s", missing) : CMD_OK;
}

static int parse_format(const struct options *o, enum format *out,
                        struct cpl_error *err)
{
	static const char *const name[] = {
	        [FORMAT_JSON] = "json",         [FORMAT_HOSTFILE] = "hostfile",
	        [FORMAT_RANKFILE] = "rankfile", [FORMAT_MPICH] = "mpich",
	        [FORMAT_SLURM] = "slurm",
	};

	*out = o->json ? FORMAT_JSON : FORMAT_TABLE;
	if (!o->format)
		return 0;
	for (int i = FORMAT_JSON; i <= FORMAT_SLURM; i++) {
		if (!strcmp(o->format, name[i])) {
			*out = (enum format)i;
			return 0;
		}
	}
	return cpl_fail(err,
	                "--format: unknown format '%.60s'; known: json, "
	                "hostfile, rankfile, mpich, slurm",
	                o->format);
}

static int load_hosts(const struct options *o, const struct job_inputs *in,
                      struct mapped *m, struct cpl_error *err)
{
	struct cpl_hostlist list = {0};
	int rc;

	if (o->hosts) {
		m->host = job_hosts(in->net, "--hosts", o->hosts, &m->n_hosts,
		                    err);
		return m->host ? 0 : -1;
	}
	if (cmd_hosts_file(o->hosts_file, &list, err))
		return -1;
	m->host = cmd_node_ids(in->net, o->hosts_file, &list, err);
	m->n_hosts = list.count;
	rc = m->host ? job_hosts_distinct(in->net, o->hosts_file, m->host,
	                                  m->n_hosts, err)
	             : -1;
	cpl_hostlist_free(&list);
	return rc;
}

/* "2,2,1": one number for each host. */
static int parse_slots(const char *text, struct mapped *m,
                       struct cpl_error *err)
{
	int n = 0;

	for (const char *p = text;; p++) {
		size_t length = strcspn(p, ",");
		char word[24];
		int64_t value;

		snprintf(word, sizeof(word), "%.*s",
		         length < sizeof(word) ? (int)length : 23, p);
		if (cmd_int("--slots", word, 0, CPL_SIGNATURE_MAX_RANKS, &value,
		            err))
			return -1;
		if (n < m->n_hosts)
			m->slots[n] = (int)value;
		n++;
		p += length;
		if (!*p)
			break;
	}
	if (n != m->n_hosts)
		return cpl_fail(err,
		                "--slots: %d numbers for %d hosts; one for "
		                "each is right",
		                n, m->n_hosts);
	return 0;
}

/* Block order: full hosts first, the rest on the last that is needed. */
static int fill_slots(const struct options *o, const struct job_inputs *in,
                      struct mapped *m, struct cpl_error *err)
{
	int64_t left = in->comm->ranks;
	int64_t k = o->ranks_per_node;

	m->slots = calloc((size_t)m->n_hosts, sizeof(*m->slots));
	if (!m->slots)
		return cpl_fail_memory(err);
	if (o->slots)
		return parse_slots(o->slots, m, err);
	if (!k)
		k = (left + m->n_hosts - 1) / m->n_hosts;
	if (left > k * m->n_hosts)
		return cpl_fail(err,
		                "%" PRId64 " ranks do not fit %d hosts with "
		                "--ranks-per-node %" PRId64,
		                left, m->n_hosts, k);
	for (int h = 0; h < m->n_hosts; h++) {
		m->slots[h] = (int)(left < k ? left : k);
		left -= m->slots[h];
	}
	return 0;
}

/* When the mapper at hand has to stop. */
struct budget {
	double seconds, end;
};

static bool past(void *arg)
{
	return job_clock() > ((const struct budget *)arg)->end;
}

static void start_budget(void *arg)
{
	struct budget *budget = arg;

	budget->end = job_clock() + budget->seconds;
}

static int make_request(const struct options *o, const struct job_inputs *in,
                        struct mapped *m, struct budget *budget,
                        struct cpl_map_request *req, struct cpl_error *err)
{
	if (load_hosts(o, in, m, err) || fill_slots(o, in, m, err))
		return -1;
	*req = (struct cpl_map_request){
	        .net = in->net,
	        .routing = in->routing,
	        .comm = in->comm,
	        .n_hosts = m->n_hosts,
	        .host = m->host,
	        .slots = m->slots,
	        .background = job_background(in),
	        .objective = in->objective,
	        .seed = (uint64_t)o->seed,
	        /* A deadline alone is there to be used up. */
	        .work = !o->work && o->deadline >= 0 ? INT64_MAX : o->work,
	        .expired = o->deadline >= 0 ? past : NULL,
	        .expired_arg = budget,
	        .seconds = o->deadline >= 0 ? o->deadline : 0,
	        .threads = (int)o->threads,
	};
	budget->seconds = o->deadline;
	return 0;
}

static int map(const struct options *o, const struct job_inputs *in,
               struct mapped *m, struct cpl_error *err)
{
	const struct cpl_mapper *mapper = cpl_mapper_find(o->algorithm, err);
	double start = job_clock();
	struct cpl_map_request req;
	struct budget budget;

	if (!mapper)
		return cpl_fail_prefix(err, "--algorithm: ");
	if (make_request(o, in, m, &budget, &req, err))
		return -1;
	budget.end = start + o->deadline;
	if (cpl_map(mapper, &req, &m->result, err))
		return -1;
	m->seconds = job_clock() - start;
	return 0;
}

static int compare(const struct cmd *self, const struct options *o,
                   const struct job_inputs *in, struct mapped *m)
{
	struct cpl_error err = {""};
	struct cpl_map_request req;
	struct budget budget;

	if (make_request(o, in, m, &budget, &req, &err) ||
	    cpl_map_check(&req, &err))
		return cmd_fail(self, &err);
	return map_compare(self, &req, o->compare, o->json,
	                   req.expired ? start_budget : NULL);
}

static const char *host_of(const struct job_inputs *in, const struct mapped *m,
                           int rank)
{
	return in->net->node_name[m->host[m->result.rank_host[rank]]];
}

static json_t *to_json(const struct options *o, const struct job_inputs *in,
                       const struct mapped *m)
{
	json_t *ranks = json_array(), *hosts = json_array();
	json_t *slots = json_array();

	for (int r = 0; r < in->comm->ranks; r++)
		json_array_append_new(ranks, json_string(host_of(in, m, r)));
	for (int h = 0; h < m->n_hosts; h++) {
		json_array_append_new(
		        hosts, json_string(in->net->node_name[m->host[h]]));
		json_array_append_new(slots, json_integer(m->slots[h]));
	}
	return json_pack(
	        "{s:s, s:b, s:s, s:s, s:o, s:o, s:o, s:{s:o, s:o}, s:f}",
	        "algorithm", o->algorithm, "kept_default",
	        m->result.kept_default, "objective",
	        cpl_objective_name(in->objective), "routing", in->routing->name,
	        "hosts", hosts, "slots", slots, "rank_to_host", ranks,
	        "metrics", "before",
	        job_metrics_json(&m->result.before, &m->result.sums_before),
	        "after",
	        job_metrics_json(&m->result.after, &m->result.sums_after),
	        "seconds", m->seconds);
}

/* Ranks host by host: rank_of[start of host h ..], in rank order. */
static int *ranks_by_host(const struct job_inputs *in, const struct mapped *m)
{
	int ranks = in->comm->ranks, at = 0;
	int *rank_of = malloc((size_t)ranks * sizeof(*rank_of));
	int *next = malloc((size_t)m->n_hosts * sizeof(*next));

	if (!rank_of || !next) {
		free(rank_of);
		free(next);
		return NULL;
	}
	for (int h = 0; h < m->n_hosts; h++) {
		next[h] = at;
		at += m->slots[h];
	}
	for (int r = 0; r < ranks; r++)
		rank_of[next[m->result.rank_host[r]]++] = r;
	free(next);
	return rank_of;
}

/* What a launcher reads. -1 when memory is out. */
static int write_format(FILE *to, enum format format,
                        const struct job_inputs *in, const struct mapped *m)
{
	int ranks = in->comm->ranks;
	int *extra;

	if (format == FORMAT_MPICH) {
		extra = ranks_by_host(in, m);
		for (int i = 0; extra && i < ranks; i++)
			fprintf(to, "%s%d", i ? "," : "", extra[i]);
		fprintf(to, "\n");
	} else {
		/* The next free slot of each host. */
		extra = calloc((size_t)m->n_hosts, sizeof(*extra));
		if (format == FORMAT_SLURM)
			fprintf(to, "srun -n %d -m arbitrary -w ", ranks);
		for (int r = 0; extra && r < ranks; r++) {
			const char *host = host_of(in, m, r);

			if (format == FORMAT_RANKFILE)
				fprintf(to, "rank %d=%s slot=%d\n", r, host,
				        extra[m->result.rank_host[r]]++);
			else if (format == FORMAT_SLURM)
				fprintf(to, "%s%s", r ? "," : "", host);
			else
				fprintf(to, "%s\n", host);
		}
		if (format == FORMAT_SLURM)
			fprintf(to, "\n");
	}
	free(extra);
	return extra ? 0 : -1;
}

static void metric_row(struct cmd_table *table, const char *name, double before,
                       double after, bool bytes)
{
	char a[32], b[32], change[32] = "";

	if (bytes) {
		cmd_bytes(before, a, sizeof(a));
		cmd_bytes(after, b, sizeof(b));
	} else {
		snprintf(a, sizeof(a), "%.4g", before);
		snprintf(b, sizeof(b), "%.4g", after);
	}
	if (before > 0)
		snprintf(change, sizeof(change), "%+.1f %%",
		         100 * (after / before - 1));
	cmd_table_row(table, name, a, b, change);
}

static int print_table(const struct cmd *self, const struct options *o,
                       const struct job_inputs *in, const struct mapped *m)
{
	const struct cpl_map_result *r = &m->result;
	struct cmd_table *table;
	int *rank_of = ranks_by_host(in, m), at = 0;

	if (!rank_of)
		return cmd_failf(self, "out of memory");
	table = cmd_table_new(2, "ll");
	cmd_table_row(table, "host", "ranks");
	for (int h = 0; h < m->n_hosts; h++) {
		char *text = NULL;
		size_t size;
		FILE *to = open_memstream(&text, &size);

		for (int i = 0; to && i < m->slots[h]; i++)
			fprintf(to, "%s%d", i ? " " : "", rank_of[at++]);
		if (to && !fclose(to))
			cmd_table_row(table, in->net->node_name[m->host[h]],
			              text);
		free(text);
	}
	free(rank_of);
	if (cmd_table_print(table) != CMD_OK)
		return CMD_FAILED;
	printf("\n");
	table = cmd_table_new(4, "lrrr");
	cmd_table_row(table, "", "default order", o->algorithm, "change");
	metric_row(table, "max congestion", r->before.max_congestion,
	           r->after.max_congestion, false);
	metric_row(table, "mean congestion", r->before.mean_congestion,
	           r->after.mean_congestion, false);
	metric_row(table, "hop-bytes", r->sums_before.hop_bytes,
	           r->sums_after.hop_bytes, true);
	metric_row(table, "bytes on network", r->sums_before.bytes_on_network,
	           r->sums_after.bytes_on_network, true);
	if (cmd_table_print(table) != CMD_OK)
		return CMD_FAILED;
	if (r->kept_default)
		printf("\nThe default order is kept: nothing better was "
		       "found.\n");
	if (fflush(stdout) || ferror(stdout))
		return cmd_failf(self, "cannot write to standard output");
	return CMD_OK;
}

static int write_output(const struct cmd *self, const struct options *o,
                        enum format format, const struct job_inputs *in,
                        const struct mapped *m)
{
	struct cpl_error err = {""};
	struct cpl_file_writer *writer;

	if (format == FORMAT_JSON && !o->output)
		return cmd_print_json(self, to_json(o, in, m));
	if (format == FORMAT_JSON) {
		json_t *root = to_json(o, in, m);
		int rc = root ? cpl_json_write_atomic(root, o->output, 0644,
		                                      &err)
		              : cpl_fail_memory(&err);

		json_decref(root);
		return rc ? cmd_fail(self, &err) : CMD_OK;
	}
	if (!o->output) {
		if (write_format(stdout, format, in, m))
			return cmd_failf(self, "out of memory");
		if (fflush(stdout) || ferror(stdout))
			return cmd_failf(self, "cannot write to standard "
			                       "output");
		return CMD_OK;
	}
	writer = cpl_file_open_atomic(o->output, &err);
	if (!writer)
		return cmd_fail(self, &err);
	if (write_format(cpl_file_stream(writer), format, in, m)) {
		cpl_file_abandon(writer);
		return cmd_failf(self, "out of memory");
	}
	if (cpl_file_commit(writer, 0644, &err))
		return cmd_fail(self, &err);
	return CMD_OK;
}

static int run(const struct cmd *self, int argc, char **argv)
{
	struct options o = {
	        .seed = 1,
	        .deadline = -1,
	        .threads = cpl_parallel_cpus(),
	};
	struct cpl_error err = {""};
	struct job_inputs in = {0};
	struct mapped m = {0};
	enum format format;
	int rc = parse(self, argc, argv, &o);

	if (rc)
		return rc < 0 ? CMD_OK : rc;
	if (parse_format(&o, &format, &err))
		return cmd_fail(self, &err);
	if (format == FORMAT_TABLE && o.output)
		return cmd_usage(self, "-o is for --json and --format");
	if (job_inputs_load(&in, &o.job, &err))
		rc = cmd_fail(self, &err);
	else if (o.compare)
		rc = compare(self, &o, &in, &m);
	else if (map(&o, &in, &m, &err))
		rc = cmd_fail(self, &err);
	else if (format == FORMAT_TABLE)
		rc = print_table(self, &o, &in, &m);
	else
		rc = write_output(self, &o, format, &in, &m);
	cpl_map_result_free(&m.result);
	free(m.host);
	free(m.slots);
	job_inputs_free(&in);
	return rc;
}

const struct cmd cmd_map = {
        .name = "map",
        .summary = "which rank runs on which of the chosen nodes",
        .help = "Usage: commplace map --network FILE --signature S "
                "(--hosts HOSTLIST | --hosts-file FILE)\n"
                "                     (--algorithm NAME | --compare NAMES) "
                "[OPTION]...\n"
                "\n"
                "Lay the ranks out on the hosts so that ranks that talk much "
                "are near. The answer is\n"
                "never worse than the default order (host 0 filled first) by "
                "the objective.\n"
                "\n"
                "  --network FILE      network.json of the machine\n"
                "  --signature S       a path (holds a \"/\" or ends in "
                ".json) or a profile's name\n"
                "  --profile-dir DIR   where profiles are (default: "
                "ProfileDir)\n"
                "  --hosts HOSTLIST    hosts of the job in rank order\n"
                "  --hosts-file FILE   the same, one host name a line\n"
                "  --ranks-per-node K  default: ranks over hosts, rounded up\n"
                "  --slots N,N,...     ranks on each host, where they differ\n"
                "  --algorithm NAME    default (linear), greedyallc, random, "
                "mapper, minmd,\n"
                "                      topoaware-1, -2, -3, greedy, fhgreedy, "
                "fhgreedy-wh,\n"
                "                      fhgreedy-mc, udfs, rcm, bipartition, "
                "sfc, pacmap,\n"
                "                      ptram, ptram-refine, astar, best\n"
                "  --compare NAMES     a table of these algorithms as they "
                "are, without refinement;\n"
                "                      names with commas between, or all\n"
                "  --routing NAME      default: as the network states\n"
                "  --objective NAME    max-congestion (default), "
                "mean-congestion, hop-bytes\n"
                "  --running FILE      STATE.json: running jobs load links\n"
                "  --seed N            for random choices (default 1)\n"
                "  --work N            swaps that \"best\" may evaluate "
                "(default: some seconds'\n"
                "                      worth; with --deadline: until then)\n"
                "  --deadline SECONDS  stop searching then, take the best so "
                "far\n"
                "  --threads N         of best and ptram (default: all CPUs); "
                "the answer is the\n"
                "                      same for any, unless a deadline ends "
                "the search\n"
                "  --format FORMAT     json; hostfile: one host a line in rank "
                "order, for\n"
                "                      SLURM_HOSTFILE or `mpirun --map-by "
                "seq`; rankfile: Open\n"
                "                      MPI's; mpich: MPICH_RANK_ORDER's line; "
                "slurm: the srun line\n"
                "  -o, --output FILE   write the format there\n"
                "  --json              the same as --format json\n"
                "\n"
                "Examples:\n"
                "  commplace map --network network.json --signature milc "
                "--hosts 'nid[00000-00015]' \\\n"
                "    --algorithm greedyallc\n"
                "  commplace map --network network.json --signature milc "
                "--hosts 'nid[00000-00015]' \\\n"
                "    --compare all\n"
                "  commplace map --network network.json --signature "
                "./milc.json --hosts-file nodes \\\n"
                "    --algorithm greedyallc --format hostfile -o ranks\n"
                "  SLURM_HOSTFILE=ranks srun -m arbitrary ./milc\n",
        .run = run,
};
