/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "signature.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BLOCKS 16
#define MAX_LARGEST 10

/* First rank of a block is block * ranks / n_blocks, rounded up. */
static int block_of(const struct signature_summary *s, int ranks, int rank)
{
	return (int)((int64_t)rank * s->n_blocks / ranks);
}

static void add_largest(struct signature_summary *s,
                        const struct cpl_comm_entry *e)
{
	int i = s->n_largest;

	if (i == MAX_LARGEST && s->largest[i - 1].bytes >= e->bytes)
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

int signature_summary(const struct cpl_signature *sig,
                      struct signature_summary *out, struct cpl_error *err)
{
	struct cpl_comm *comm = cpl_signature_total(sig, err);
	int rc;

	memset(out, 0, sizeof(*out));
	if (!comm)
		return -1;
	out->n_blocks = comm->ranks < MAX_BLOCKS ? comm->ranks : MAX_BLOCKS;
	out->pairs = comm->n_entries;
	for (int r = 0; r < comm->ranks; r++) {
		int from = block_of(out, comm->ranks, r);

		for (int64_t i = comm->row[r]; i < comm->row[r + 1]; i++) {
			struct cpl_comm_entry e = {r, comm->to[i],
			                           comm->bytes[i],
			                           comm->messages[i]};

			out->bytes += e.bytes;
			out->messages += e.messages;
			out->block[from][block_of(out, comm->ranks, e.to)] +=
			        e.bytes;
			add_largest(out, &e);
		}
	}
	rc = count_partners(comm, out, err);
	cpl_comm_free(comm);
	return rc;
}

/* Thousands as they are, more with four digits. */
static char *number(double v, char *buf, size_t size)
{
	snprintf(buf, size, v < 1e15 && v == floor(v) ? "%.0f" : "%.4g", v);
	return buf;
}

static void phase_sums(const struct cpl_phase *phase, double *bytes,
                       double *messages)
{
	*bytes = *messages = 0.0;
	for (int64_t i = 0; i < phase->comm->n_entries; i++) {
		*bytes += phase->comm->bytes[i];
		*messages += phase->comm->messages[i];
	}
}

static int print_phases(const struct cpl_signature *sig)
{
	struct cmd_table *t = cmd_table_new(7, "lrrrrrr");
	char weight[40], pairs[24], size[24], count[40], time[32], compute[32];

	cmd_table_row(t, "PHASE", "WEIGHT", "PAIRS", "BYTES", "MESSAGES",
	              "TIME", "COMPUTE");
	for (int i = 0; i < sig->n_phases; i++) {
		const struct cpl_phase *p = &sig->phase[i];
		double bytes, messages;

		phase_sums(p, &bytes, &messages);
		snprintf(pairs, sizeof(pairs), "%" PRId64, p->comm->n_entries);
		snprintf(time, sizeof(time), "%.4g s", p->time);
		snprintf(compute, sizeof(compute), "%.4g s", p->compute_time);
		cmd_table_row(t, p->name,
		              number(p->weight, weight, sizeof(weight)), pairs,
		              cmd_bytes(bytes, size, sizeof(size)),
		              number(messages, count, sizeof(count)),
		              p->time > 0.0 ? time : "-",
		              p->compute_time > 0.0 ? compute : "-");
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
	struct cmd_table *t = cmd_table_new(4, "rrrr");

	cmd_table_row(t, "FROM", "TO", "BYTES", "MESSAGES");
	for (int i = 0; i < s->n_largest; i++) {
		const struct cpl_comm_entry *e = &s->largest[i];
		char from[16], to[16], size[24], count[40];

		snprintf(from, sizeof(from), "%d", e->from);
		snprintf(to, sizeof(to), "%d", e->to);
		cmd_table_row(t, from, to,
		              cmd_bytes(e->bytes, size, sizeof(size)),
		              number(e->messages, count, sizeof(count)));
	}
	return cmd_table_print(t);
}

int signature_show_text(const struct cmd *self, const struct cpl_signature *sig,
                        const struct signature_summary *s)
{
	struct cmd_table *t = cmd_table_new(2, "ll");
	char size[24], text[96];

	cmd_table_row(t, "name", sig->name);
	if (sig->application)
		cmd_table_row(t, "application", sig->application);
	snprintf(text, sizeof(text), "%d", sig->ranks);
	cmd_table_row(t, "ranks", text);
	snprintf(text, sizeof(text),
	         "%s in %.0f messages over %" PRId64 " pairs, the whole run",
	         cmd_bytes(s->bytes, size, sizeof(size)), s->messages,
	         s->pairs);
	cmd_table_row(t, "traffic", text);
	snprintf(text, sizeof(text), "%d min, %.4g mean, %d max per rank",
	         s->partners_min, s->partners_mean, s->partners_max);
	cmd_table_row(t, "partners", text);
	if (sig->recorded)
		cmd_table_row(t, "recorded", sig->recorded);
	if (cmd_table_print(t))
		return CMD_FAILED;
	printf("\nOne execution of each phase:\n");
	if (print_phases(sig))
		return CMD_FAILED;
	printf("\nBytes between %d blocks of ranks (down: from, across: to), "
	       ". least to @ most:\n",
	       s->n_blocks);
	print_picture(s);
	printf("\nLargest pairs, the whole run:\n");
	return print_largest(s);
}

static json_t *phases_json(const struct cpl_signature *sig)
{
	json_t *list = json_array();

	for (int i = 0; i < sig->n_phases; i++) {
		const struct cpl_phase *p = &sig->phase[i];
		double bytes, messages;

		phase_sums(p, &bytes, &messages);
		json_array_append_new(
		        list,
		        json_pack("{s:s, s:f, s:f, s:f, s:I, s:f, s:f}", "name",
		                  p->name, "weight", p->weight, "time", p->time,
		                  "compute_time", p->compute_time, "pairs",
		                  (json_int_t)p->comm->n_entries, "bytes",
		                  bytes, "messages", messages));
	}
	return list;
}

int signature_show_json(const struct cmd *self, const struct cpl_signature *sig,
                        const struct signature_summary *s)
{
	json_t *blocks = json_array(), *largest = json_array(), *root;

	for (int i = 0; i < s->n_blocks; i++) {
		json_t *row = json_array();

		for (int j = 0; j < s->n_blocks; j++)
			json_array_append_new(row, json_real(s->block[i][j]));
		json_array_append_new(blocks, row);
	}
	for (int i = 0; i < s->n_largest; i++)
		json_array_append_new(
		        largest,
		        json_pack("[i, i, f, f]", s->largest[i].from,
		                  s->largest[i].to, s->largest[i].bytes,
		                  s->largest[i].messages));
	root = json_pack(
	        "{s:s, s:s?, s:i, s:o, s:f, s:f, s:I, s:{s:i, s:f, s:i}, s:o, "
	        "s:o}",
	        "name", sig->name, "application", sig->application, "ranks",
	        sig->ranks, "phases", phases_json(sig), "bytes", s->bytes,
	        "messages", s->messages, "pairs", (json_int_t)s->pairs,
	        "partners", "min", s->partners_min, "mean", s->partners_mean,
	        "max", s->partners_max, "blocks", blocks, "largest_pairs",
	        largest);
	if (root && sig->recorded)
		json_object_set_new(root, "recorded",
		                    json_loads(sig->recorded, 0, NULL));
	return cmd_print_json(self, root);
}
