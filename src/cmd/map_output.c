/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "map.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "graph/members.h"
#include "mapping/rank_order.h"
#include "spread.h"

struct weights {
	int *weight, n, ranks;
};

static int add_weight(void *arg, const char *path, int number, const char *line,
                      struct cpl_error *err)
{
	struct weights *w = arg;
	int64_t value;
	char what[64];

	if (strpbrk(line, " \t\r"))
		return cpl_fail(err, "%s: line %d: '%.32s' is not one number",
		                path, number, line);
	snprintf(what, sizeof(what), "line %d: weight", number);
	if (cmd_int(what, line, 1, CPL_SIGNATURE_MAX_RANKS, &value, err))
		return cpl_fail_prefix(err, "%s: ", path);
	if (w->n < w->ranks)
		w->weight[w->n] = (int)value;
	w->n++;
	return 0;
}

int *map_read_weights(const char *path, int ranks, struct cpl_error *err)
{
	struct weights w = {malloc((size_t)ranks * sizeof(*w.weight)), 0,
	                    ranks};

	if (!w.weight)
		cpl_fail_memory(err);
	else if (!cmd_each_line(path, add_weight, &w, err)) {
		if (w.n == ranks)
			return w.weight;
		cpl_fail(err, "%s: %d weights for %d ranks; give one for each",
		         path, w.n, ranks);
	}
	free(w.weight);
	return NULL;
}

static const char *host_of(const struct job_inputs *in, const struct mapped *m,
                           int rank)
{
	return in->net->node_name[m->host[m->result.rank_host[rank]]];
}

/* The hosts of ranks in block order. */
static void list_blocks(const struct mapped *m, int ranks, int *host)
{
	for (int h = 0, r = 0; h < m->n_hosts; h++)
		for (int k = 0; k < m->slots[h] && r < ranks; k++)
			host[r++] = h;
}

/* The spread of groups in block order and in the result; NULL, which is left out:
 * groups are not known, or ranks have weights. */
static json_t *groups_json(const struct job_inputs *in, const struct mapped *m)
{
	struct spread before, after;
	int ranks = in->comm->ranks, rc;
	int *first = malloc((size_t)ranks * sizeof(*first));

	rc = !m->grid || m->weight || !first;
	if (!rc)
		list_blocks(m, ranks, first);
	rc = rc ||
	     spread_measure(in->net, m->grid, m->host, first, 0, &before,
	                    NULL) ||
	     spread_measure(in->net, m->grid, m->host, m->result.rank_host, 0,
	                    &after, NULL);
	free(first);
	return rc ? NULL
	          : json_pack("{s:o, s:o}", "before",
	                      spread_json(in->net, &before), "after",
	                      spread_json(in->net, &after));
}

static json_t *to_json(const struct job_inputs *in, const struct mapped *m)
{
	const struct cpl_map_result *r = &m->result;
	json_t *ranks = json_array(), *root;

	for (int i = 0; i < in->comm->ranks; i++)
		json_array_append_new(ranks, json_string(host_of(in, m, i)));
	root = json_pack(
	        "{s:s, s:b, s:s, s:s, s:o, s:o, s:o, s:{s:o, s:o}, s:f, s:o*}",
	        "algorithm", m->algorithm, "kept_default", r->kept_default,
	        "objective", cpl_objective_name(in->objective), "routing",
	        in->routing->name, "hosts",
	        cmd_hosts_json(in->net, m->host, m->n_hosts), "slots",
	        cpl_json_ints(m->slots, m->n_hosts), "rank_to_host", ranks,
	        "metrics", "before",
	        job_metrics_json(&r->before, &r->sums_before), "after",
	        job_metrics_json(&r->after, &r->sums_after), "seconds",
	        m->seconds, "spread", groups_json(in, m));
	if (m->processes > 1)
		json_object_set_new(root, "processes_per_task",
		                    json_integer(m->processes));
	if (m->weight)
		json_object_set_new(root, "weights",
		                    cpl_json_ints(m->weight, in->comm->ranks));
	return root;
}

/* What a launcher reads. -1 with err. */
static int write_format(FILE *to, enum map_format format,
                        const struct job_inputs *in, const struct mapped *m,
                        struct cpl_error *err)
{
	static const enum cpl_rank_file file[] = {
	        [MAP_HOSTFILE] = CPL_RANK_HOSTFILE,
	        [MAP_RANKFILE] = CPL_RANK_RANKFILE,
	        [MAP_MACHINEFILE] = CPL_RANK_MACHINEFILE,
	        [MAP_MPICH] = CPL_RANK_MPICH,
	};
	int ranks = in->comm->ranks, rc;
	char **name;

	if (format == MAP_SLURM) {
		fprintf(to, "srun -n %d -m arbitrary -w ", ranks);
		for (int r = 0; r < ranks; r++)
			fprintf(to, "%s%s", r ? "," : "", host_of(in, m, r));
		fprintf(to, "\n");
		return 0;
	}
	if (format == MAP_TORCHRUN || format == MAP_RAY)
		return map_write_framework(to, format, in, m, err);
	name = malloc(((size_t)m->n_hosts + 1) * sizeof(*name));
	if (!name)
		return cpl_fail_memory(err);
	for (int h = 0; h < m->n_hosts; h++)
		name[h] = in->net->node_name[m->host[h]];
	rc = cpl_rank_file_write(to, file[format], name, m->n_hosts,
	                         m->result.rank_host, ranks, m->weight);
	free(name);
	return rc ? cpl_fail_memory(err) : 0;
}

/* The ranks of each host. -1 when memory is out, else an exit code. */
static int print_ranks(const struct job_inputs *in, const struct mapped *m)
{
	struct cmd_table *table;
	struct cpl_members on;

	if (cpl_members_init(&on, m->result.rank_host, in->comm->ranks,
	                     m->n_hosts, NULL)) {
		cpl_members_free(&on);
		return -1;
	}
	table = cmd_table_new("ll");
	cmd_table_row(table, "host|ranks");
	for (int h = 0; h < m->n_hosts; h++) {
		char *text = NULL;
		size_t size;
		FILE *to = open_memstream(&text, &size);

		for (int i = on.first[h]; to && i < on.first[h + 1]; i++)
			fprintf(to, "%s%d", i > on.first[h] ? " " : "",
			        on.member[i]);
		if (to && !fclose(to))
			cmd_table_row(table, "%s|%s",
			              in->net->node_name[m->host[h]], text);
		free(text);
	}
	cpl_members_free(&on);
	return cmd_table_print(table);
}

static void metric_row(struct cmd_table *table, const char *name, double before,
                       double after, bool bytes)
{
	char change[32] = "";

	if (before > 0)
		snprintf(change, sizeof(change), "%+.1f %%",
		         100 * (after / before - 1));
	if (bytes)
		cmd_table_row(table, "%s|%s|%s|%s", name, CMD_BYTES(before),
		              CMD_BYTES(after), change);
	else
		cmd_table_row(table, "%s|%.4g|%.4g|%s", name, before, after,
		              change);
}

static int print_table(const struct cmd *self, const struct job_inputs *in,
                       const struct mapped *m)
{
	const struct cpl_map_result *r = &m->result;
	struct cmd_table *table;
	int rc = print_ranks(in, m);

	if (rc)
		return rc < 0 ? cmd_fail_memory(self) : rc;
	putchar('\n');
	table = cmd_table_new("lrrr");
	cmd_table_row(table, "|default order|%s|change", m->algorithm);
	metric_row(table, "max congestion", r->before.max_congestion,
	           r->after.max_congestion, false);
	metric_row(table, "mean congestion", r->before.mean_congestion,
	           r->after.mean_congestion, false);
	metric_row(table, "hop-bytes", r->sums_before.hop_bytes,
	           r->sums_after.hop_bytes, true);
	metric_row(table, "bytes on network", r->sums_before.bytes_on_network,
	           r->sums_after.bytes_on_network, true);
	if (cmd_table_print(table))
		return CMD_FAILED;
	if (r->kept_default)
		printf("\nThe default order is kept: nothing better was "
		       "found.\n");
	return CMD_OK;
}

int map_write_json(const struct cmd *self, json_t *root, const char *output)
{
	struct cpl_error err = {""};
	int rc;

	if (!output)
		return cmd_print_json(self, root);
	rc = root ? cpl_json_write_atomic(root, output, 0644, &err)
	          : cpl_fail_memory(&err);
	json_decref(root);
	return rc ? cmd_fail(self, &err) : CMD_OK;
}

int map_write(const struct cmd *self, enum map_format format,
              const char *output, const struct job_inputs *in,
              const struct mapped *m)
{
	struct cpl_error err = {""};
	struct cpl_file_writer *writer = NULL;

	if (format == MAP_TABLE)
		return print_table(self, in, m);
	if (format == MAP_JSON)
		return map_write_json(self, to_json(in, m), output);
	if (output && !(writer = cpl_file_open_atomic(output, &err)))
		return cmd_fail(self, &err);
	if (write_format(output ? cpl_file_stream(writer) : stdout, format, in,
	                 m, &err)) {
		if (output)
			cpl_file_abandon(writer);
		return cmd_fail(self, &err);
	}
	if (output && cpl_file_commit(writer, 0644, &err))
		return cmd_fail(self, &err);
	return CMD_OK;
}
