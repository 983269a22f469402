/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "map.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"

#define WEIGHTS_MAX (256 << 20)

int *map_read_weights(const char *path, int ranks, struct cpl_error *err)
{
	size_t length;
	char *text = cpl_file_read(path, WEIGHTS_MAX, &length, err), *line;
	int *weight = malloc((size_t)ranks * sizeof(*weight)), n = 0,
	    number = 0;
	char *rest = text;

	if (!text)
		goto fail;
	if (!weight) {
		cpl_fail_memory(err);
		goto fail;
	}
	if (strlen(text) != length) {
		cpl_fail(err, "%s: holds a NUL byte", path);
		goto fail;
	}
	while ((line = strsep(&rest, "\n"))) {
		int64_t value;
		char what[64], *end;

		number++;
		line[strcspn(line, "#")] = '\0';
		line += strspn(line, " \t\r");
		end = line + strcspn(line, " \t\r");
		if (end[strspn(end, " \t\r")]) {
			cpl_fail(err, "%s: line %d: '%.32s' is not one number",
			         path, number, line);
			goto fail;
		}
		*end = '\0';
		if (!*line)
			continue;
		snprintf(what, sizeof(what), "line %d: weight", number);
		if (cmd_int(what, line, 1, CPL_SIGNATURE_MAX_RANKS, &value,
		            err)) {
			cpl_fail_prefix(err, "%s: ", path);
			goto fail;
		}
		if (n < ranks)
			weight[n] = (int)value;
		n++;
	}
	if (n != ranks) {
		cpl_fail(err, "%s: %d weights for %d ranks; give one for each",
		         path, n, ranks);
		goto fail;
	}
	free(text);
	return weight;
fail:
	free(text);
	free(weight);
	return NULL;
}

static const char *host_of(const struct job_inputs *in, const struct mapped *m,
                           int rank)
{
	return in->net->node_name[m->host[m->result.rank_host[rank]]];
}

static json_t *to_json(const struct job_inputs *in, const struct mapped *m)
{
	json_t *ranks = json_array(), *hosts = json_array();
	json_t *slots = json_array(), *root;

	for (int r = 0; r < in->comm->ranks; r++)
		json_array_append_new(ranks, json_string(host_of(in, m, r)));
	for (int h = 0; h < m->n_hosts; h++) {
		json_array_append_new(
		        hosts, json_string(in->net->node_name[m->host[h]]));
		json_array_append_new(slots, json_integer(m->slots[h]));
	}
	root = json_pack(
	        "{s:s, s:b, s:s, s:s, s:o, s:o, s:o, s:{s:o, s:o}, s:f}",
	        "algorithm", m->algorithm, "kept_default",
	        m->result.kept_default, "objective",
	        cpl_objective_name(in->objective), "routing", in->routing->name,
	        "hosts", hosts, "slots", slots, "rank_to_host", ranks,
	        "metrics", "before",
	        job_metrics_json(&m->result.before, &m->result.sums_before),
	        "after",
	        job_metrics_json(&m->result.after, &m->result.sums_after),
	        "seconds", m->seconds);
	if (root && m->weight) {
		json_t *weights = json_array();

		for (int r = 0; r < in->comm->ranks; r++)
			json_array_append_new(weights,
			                      json_integer(m->weight[r]));
		json_object_set_new(root, "weights", weights);
	}
	return root;
}

/* Ranks host by host: rank_of[start of host h ..], in rank order. */
static int *ranks_by_host(const struct job_inputs *in, const struct mapped *m)
{
	int ranks = in->comm->ranks, at = 0;
	int *rank_of = malloc((size_t)ranks * sizeof(*rank_of));
	int *next = calloc((size_t)m->n_hosts, sizeof(*next));

	if (!rank_of || !next) {
		free(rank_of);
		free(next);
		return NULL;
	}
	for (int r = 0; r < ranks; r++)
		next[m->result.rank_host[r]]++;
	for (int h = 0; h < m->n_hosts; h++) {
		int count = next[h];

		next[h] = at;
		at += count;
	}
	for (int r = 0; r < ranks; r++)
		rank_of[next[m->result.rank_host[r]]++] = r;
	free(next);
	return rank_of;
}

/* A line of Open MPI's rankfile: logical cores, as many as the rank weighs. */
static void write_rank(FILE *to, const struct mapped *m, int rank,
                       const char *host, int *slot)
{
	int weight = m->weight ? m->weight[rank] : 1;

	fprintf(to, "rank %d=%s slot=%d", rank, host, *slot);
	if (weight > 1)
		fprintf(to, "-%d", *slot + weight - 1);
	fprintf(to, "\n");
	*slot += weight;
}

/* What a launcher reads. -1 when memory is out. */
static int write_format(FILE *to, enum map_format format,
                        const struct job_inputs *in, const struct mapped *m)
{
	int ranks = in->comm->ranks;
	int *extra;

	if (format == MAP_MPICH) {
		extra = ranks_by_host(in, m);
		for (int i = 0; extra && i < ranks; i++) {
			bool last = i + 1 == ranks ||
			            m->result.rank_host[extra[i + 1]] !=
			                    m->result.rank_host[extra[i]];

			fprintf(to, "%d%s", extra[i], last ? "\n" : ",");
		}
	} else {
		/* The next free slot of each host. */
		extra = calloc((size_t)m->n_hosts, sizeof(*extra));
		if (format == MAP_SLURM)
			fprintf(to, "srun -n %d -m arbitrary -w ", ranks);
		for (int r = 0; extra && r < ranks; r++) {
			const char *host = host_of(in, m, r);

			if (format == MAP_RANKFILE)
				write_rank(to, m, r, host,
				           &extra[m->result.rank_host[r]]);
			else if (format == MAP_SLURM)
				fprintf(to, "%s%s", r ? "," : "", host);
			else
				fprintf(to, "%s\n", host);
		}
		if (format == MAP_SLURM)
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

static int print_table(const struct cmd *self, const struct job_inputs *in,
                       const struct mapped *m)
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

		for (int i = 0; at < in->comm->ranks &&
		                m->result.rank_host[rank_of[at]] == h;
		     i++, at++)
			if (to)
				fprintf(to, "%s%d", i ? " " : "", rank_of[at]);
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
	cmd_table_row(table, "", "default order", m->algorithm, "change");
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
	return CMD_OK;
}

int map_write(const struct cmd *self, enum map_format format,
              const char *output, const struct job_inputs *in,
              const struct mapped *m)
{
	struct cpl_error err = {""};
	struct cpl_file_writer *writer;

	if (format == MAP_TABLE)
		return print_table(self, in, m);
	if (format == MAP_JSON && !output)
		return cmd_print_json(self, to_json(in, m));
	if (format == MAP_JSON) {
		json_t *root = to_json(in, m);
		int rc = root ? cpl_json_write_atomic(root, output, 0644, &err)
		              : cpl_fail_memory(&err);

		json_decref(root);
		return rc ? cmd_fail(self, &err) : CMD_OK;
	}
	if (!output)
		return write_format(stdout, format, in, m)
		               ? cmd_failf(self, "out of memory")
		               : CMD_OK;
	writer = cpl_file_open_atomic(output, &err);
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
