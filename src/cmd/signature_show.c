/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "signature.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "signature/rows.h"

#define MAX_BLOCKS 16
#define MAX_LARGEST 10

/* First rank of a block is block * ranks / n_blocks, rounded up. */
static int block_of(const struct signature_summary *s, int ranks, int rank)
{
	return (int)((int64_t)rank * s->n_blocks / ranks);
}

static bool is_large(const struct signature_summary *s, double bytes)
{
	return s->n_largest < MAX_LARGEST ||
	       s->largest[MAX_LARGEST - 1].bytes < bytes;
}

static void add_largest(struct signature_summary *s,
                        const struct cpl_comm_entry *e)
{
	int i = s->n_largest;

	if (!is_large(s, e->bytes))
		return;
	if (i < MAX_LARGEST)
		s->n_largest++;
	else
		i--;
	/* Equal ones stay in rank order. */
	for (; i > 0 && s->largest[i - 1].bytes < e->bytes; i--)
		s->largest[i] = s->largest[i - 1];
	s->largest[i] = *e;
}

static int count_partners(const struct cpl_comm *comm,
                          struct signature_summary *s, struct cpl_error *err)
{
	struct cpl_comm *graph = cpl_comm_symmetric(comm, err);

	if (!graph)
		return -1;
	s->partners_min = graph->ranks;
	for (int r = 0; r < graph->ranks; r++) {
		int n = (int)(graph->row[r + 1] - graph->row[r]);

		s->partners_min = n < s->partners_min ? n : s->partners_min;
		s->partners_max = n > s->partners_max ? n : s->partners_max;
	}
	s->partners_mean = (double)graph->n_entries / graph->ranks;
	cpl_comm_free(graph);
	return 0;
}

static void add_sums(void *arg, int from, int count,
                     const struct cpl_comm_entry *entry, int64_t n)
{
	struct signature_sums *sums = arg;

	sums->pairs += n * count;
	for (int64_t i = 0; i < n; i++) {
		sums->bytes += entry[i].bytes * count;
		sums->messages += entry[i].messages * count;
	}
}

double signature_lost(const struct cpl_signature *sig)
{
	json_t *recorded =
	        sig->recorded ? json_loads(sig->recorded, 0, NULL) : NULL;
	double lost =
	        json_number_value(json_object_get(recorded, "lost_messages"));

	json_decref(recorded);
	return lost;
}

int signature_phase_sums(const struct cpl_signature *sig, int phase,
                         struct signature_sums *out, struct cpl_error *err)
{
	struct cpl_phase one = sig->phase[phase];
	struct cpl_signature only = *sig;
	struct cpl_rows *rows;
	int rc = -1;

	memset(out, 0, sizeof(*out));
	one.weight = 1;
	only.n_phases = 1;
	only.phase = &one;
	rows = cpl_rows_new(&only, NULL, err);
	if (rows)
		rc = cpl_rows_each(rows, 0, rows->ranks, add_sums, out, err);
	cpl_rows_free(rows);
	return rc;
}

/* A summary while rows are looked at. */
struct summing {
	struct signature_summary *s;
	int ranks;
	int64_t partners;
};

static void add_block(const struct summing *sum, int from, int count,
                      const struct cpl_comm_entry *e)
{
	struct signature_summary *s = sum->s;
	int a = block_of(s, sum->ranks, from);
	int b = block_of(s, sum->ranks, e->to);

	if (a == block_of(s, sum->ranks, from + count - 1) &&
	    b == block_of(s, sum->ranks, e->to + count - 1)) {
		s->block[a][b] += e->bytes * count;
		return;
	}
	for (int i = 0; i < count; i++)
		s->block[block_of(s, sum->ranks, from + i)]
		        [block_of(s, sum->ranks, e->to + i)] += e->bytes;
}

static void add_rows(void *arg, int from, int count,
                     const struct cpl_comm_entry *entry, int64_t n)
{
	struct summing *sum = arg;
	struct signature_summary *s = sum->s;
	int partners = 0;
	bool large = false;

	add_sums(&s->sums, from, count, entry, n);
	for (int64_t i = 0; i < n; i++) {
		add_block(sum, from, count, &entry[i]);
		partners += entry[i].to != from;
		large = large || is_large(s, entry[i].bytes);
	}
	for (int k = 0; k < count && large; k++)
		for (int64_t i = 0; i < n; i++) {
			struct cpl_comm_entry e = entry[i];

			e.from = from + k;
			e.to += k;
			add_largest(s, &e);
		}
	if (partners < s->partners_min)
		s->partners_min = partners;
	if (partners > s->partners_max)
		s->partners_max = partners;
	sum->partners += (int64_t)partners * count;
}

/* Partners either way need the matrix, unless both ways are the same. */
static int find_partners(const struct cpl_signature *sig,
                         const struct cpl_rows *rows,
                         struct signature_summary *s, struct cpl_error *err)
{
	struct cpl_comm *comm;
	int rc;

	s->partners_known =
	        cpl_rows_symmetric(rows) || cpl_signature_stored(sig);
	if (!s->partners_known || cpl_rows_symmetric(rows))
		return 0;
	comm = cpl_signature_total(sig, err);
	s->partners_max = 0;
	rc = comm ? count_partners(comm, s, err) : -1;
	cpl_comm_free(comm);
	return rc;
}

int signature_summary(const struct cpl_signature *sig,
                      struct signature_summary *out, struct cpl_error *err)
{
	struct summing sum = {.s = out, .ranks = sig->ranks};
	struct cpl_rows *rows = cpl_rows_new(sig, NULL, err);
	int rc = -1;

	memset(out, 0, sizeof(*out));
	out->n_blocks = sig->ranks < MAX_BLOCKS ? sig->ranks : MAX_BLOCKS;
	out->partners_min = sig->ranks;
	if (!rows)
		return -1;
	out->phase = calloc((size_t)sig->n_phases, sizeof(*out->phase));
	if (cpl_out_of_memory(!out->phase, err))
		goto out;
	for (int i = 0; i < sig->n_phases; i++)
		if (signature_phase_sums(sig, i, &out->phase[i], err))
			goto out;
	if (cpl_rows_each(rows, 0, rows->ranks, add_rows, &sum, err))
		goto out;
	out->partners_mean = (double)sum.partners / sig->ranks;
	rc = find_partners(sig, rows, out, err);
out:
	cpl_rows_free(rows);
	return rc;
}

void signature_summary_free(struct signature_summary *summary)
{
	free(summary->phase);
}

/* Thousands as they are, more with four digits. */
static char *number(double v, char buf[40])
{
	snprintf(buf, 40, v < 1e15 && v == floor(v) ? "%.0f" : "%.4g", v);
	return buf;
}
#define NUMBER(v) number(v, (char[40]){""})

static const char *seconds(double v, char buf[32])
{
	if (!(v > 0.0))
		return "-";
	snprintf(buf, 32, "%.4g s", v);
	return buf;
}
#define SECONDS(v) seconds(v, (char[32]){""})

static int print_phases(const struct cpl_signature *sig,
                        const struct signature_summary *s)
{
	struct cmd_table *t = cmd_table_new("lrrrrrr");

	cmd_table_row(t, "PHASE|WEIGHT|PAIRS|BYTES|MESSAGES|TIME|COMPUTE");
	for (int i = 0; i < sig->n_phases; i++) {
		const struct cpl_phase *p = &sig->phase[i];
		const struct signature_sums *sums = &s->phase[i];

		cmd_table_row(t, "%s|%s|%" PRId64 "|%s|%s|%s|%s", p->name,
		              NUMBER(p->weight), sums->pairs,
		              CMD_BYTES(sums->bytes), NUMBER(sums->messages),
		              SECONDS(p->time), SECONDS(p->compute_time));
	}
	return cmd_table_print(t);
}

static void print_picture(const struct signature_summary *s)
{
	static const char shade[] = ".:-=+*#%@";
	double most = 0.0;

	for (int i = 0; i < s->n_blocks; i++)
		for (int j = 0; j < s->n_blocks; j++)
			most = fmax(most, s->block[i][j]);
	for (int i = 0; i < s->n_blocks; i++) {
		printf("  |");
		for (int j = 0; j < s->n_blocks; j++) {
			int k = 0;

			if (s->block[i][j] > 0.0)
				k = (int)ceil(9.0 * s->block[i][j] / most);
			printf("%c%c", k ? shade[k - 1] : ' ',
			       k ? shade[k - 1] : ' ');
		}
		printf("|\n");
	}
}

static int print_largest(const struct signature_summary *s)
{
	struct cmd_table *t = cmd_table_new("rrrr");

	cmd_table_row(t, "FROM|TO|BYTES|MESSAGES");
	for (int i = 0; i < s->n_largest; i++) {
		const struct cpl_comm_entry *e = &s->largest[i];

		cmd_table_row(t, "%d|%d|%s|%s", e->from, e->to,
		              CMD_BYTES(e->bytes), NUMBER(e->messages));
	}
	return cmd_table_print(t);
}

/* What an import tells of groups of ranks, see commplace-signature(1). */
static int print_communication(const json_t *list)
{
	struct cmd_table *t = cmd_table_new("llrrrrr");
	const char *group, *collective;
	json_t *item, *sent;
	json_int_t calls, bytes;
	int size, groups;
	size_t i;

	cmd_table_row(t, "GROUP|COLLECTIVE|SIZE|GROUPS|CALLS|BYTES|SENT");
	json_array_foreach(list, i, item)
	{
		if (json_unpack(item, "{s:s, s:s, s:i, s:i, s:I, s:I, s:o}",
		                "group", &group, "collective", &collective,
		                "size", &size, "groups", &groups, "calls",
		                &calls, "bytes", &bytes, "sent", &sent))
			continue;
		cmd_table_row(t, "%.40s|%.40s|%d|%d|%lld|%lld|%s", group,
		              collective, size, groups, (long long)calls,
		              (long long)bytes,
		              CMD_BYTES(json_number_value(sent)));
	}
	return cmd_table_print(t);
}

/* A row on where the signature comes from, without what has a table of its own,
 * which is *communication, or NULL. */
static void add_recorded(struct cmd_table *t, const char *text,
                         json_t **communication)
{
	json_t *recorded = json_loads(text, 0, NULL);
	json_t *list = json_object_get(recorded, "communication");
	char *rest = NULL;

	*communication = NULL;
	if (json_is_array(list)) {
		*communication = json_incref(list);
		json_object_del(recorded, "communication");
		rest = json_dumps(recorded, 0);
	}
	cmd_table_row(t, "recorded|%s", rest ? rest : text);
	free(rest);
	json_decref(recorded);
}

int signature_show_text(const struct cpl_signature *sig,
                        const struct signature_summary *s)
{
	struct cmd_table *t = cmd_table_new("ll");
	json_t *communication = NULL;
	int rc;

	cmd_table_row(t, "name|%s", sig->name);
	if (sig->application)
		cmd_table_row(t, "application|%s", sig->application);
	cmd_table_row(t, "ranks|%d", sig->ranks);
	cmd_table_row(t,
	              "traffic|%s in %.0f messages over %" PRId64
	              " pairs, the whole run",
	              CMD_BYTES(s->sums.bytes), s->sums.messages,
	              s->sums.pairs);
	if (!s->partners_known)
		cmd_table_row(t, "partners|not counted: pattern too large");
	else
		cmd_table_row(t, "partners|%d min, %.4g mean, %d max per rank",
		              s->partners_min, s->partners_mean,
		              s->partners_max);
	if (sig->recorded)
		add_recorded(t, sig->recorded, &communication);
	if (signature_lost(sig) > 0)
		cmd_table_row(t,
		              "lost|%.0f messages, which are not in the "
		              "traffic: the recorder had no memory",
		              signature_lost(sig));
	rc = cmd_table_print(t);
	if (!rc && communication) {
		printf("\nCollectives of a rank, and bytes that all ranks sent:"
		       "\n");
		rc = print_communication(communication);
	}
	json_decref(communication);
	if (rc)
		return CMD_FAILED;
	printf("\nOne execution of each phase:\n");
	if (print_phases(sig, s))
		return CMD_FAILED;
	if (cpl_run_times(sig->phase, sig->n_phases).seconds > 0) {
		printf("\nTimes of the whole run, after PAS2P:\n");
		if (signature_print_pet(sig))
			return CMD_FAILED;
	}
	printf("\nBytes between %d blocks of ranks (down: from, across: to), "
	       ". least to @ most:\n",
	       s->n_blocks);
	print_picture(s);
	printf("\nLargest pairs, the whole run:\n");
	return print_largest(s);
}

static json_t *phases_json(const struct cpl_signature *sig,
                           const struct signature_summary *s)
{
	json_t *list = json_array();

	for (int i = 0; i < sig->n_phases; i++) {
		const struct cpl_phase *p = &sig->phase[i];
		const struct signature_sums *sums = &s->phase[i];

		cpl_json_append(list, "{s:s, s:f, s:f, s:f, s:I, s:f, s:f}",
		                "name", p->name, "weight", p->weight, "time",
		                p->time, "compute_time", p->compute_time,
		                "pairs", (json_int_t)sums->pairs, "bytes",
		                sums->bytes, "messages", sums->messages);
	}
	return list;
}

int signature_show_json(const struct cmd *self, const struct cpl_signature *sig,
                        const struct signature_summary *s)
{
	json_t *blocks = json_array(), *largest = json_array(), *partners;
	json_t *root;

	for (int i = 0; i < s->n_blocks; i++) {
		json_t *row = json_array();

		for (int j = 0; j < s->n_blocks; j++)
			json_array_append_new(row, json_real(s->block[i][j]));
		json_array_append_new(blocks, row);
	}
	for (int i = 0; i < s->n_largest; i++)
		cpl_json_append(largest, "[i, i, f, f]", s->largest[i].from,
		                s->largest[i].to, s->largest[i].bytes,
		                s->largest[i].messages);
	partners = s->partners_known
	                   ? json_pack("{s:i, s:f, s:i}", "min",
	                               s->partners_min, "mean",
	                               s->partners_mean, "max", s->partners_max)
	                   : json_null();
	root = json_pack("{s:s, s:s?, s:i, s:o, s:f, s:f, s:I, s:o, s:o, s:o}",
	                 "name", sig->name, "application", sig->application,
	                 "ranks", sig->ranks, "phases", phases_json(sig, s),
	                 "bytes", s->sums.bytes, "messages", s->sums.messages,
	                 "pairs", (json_int_t)s->sums.pairs, "partners",
	                 partners, "blocks", blocks, "largest_pairs", largest);
	if (root && sig->recorded)
		json_object_set_new(root, "recorded",
		                    json_loads(sig->recorded, 0, NULL));
	return cmd_print_json(self, root);
}
