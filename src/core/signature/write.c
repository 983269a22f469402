/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "signature/signature.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "signature/pattern/pattern.h"
#include "signature/rank_compute.h"
#include "signature/signature_internal.h"

static void put_string(FILE *f, const char *text)
{
	json_t *value = json_string(text);
	char *quoted = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;

	/* Only text that is not UTF-8 comes here. */
	fputs(quoted ? quoted : "\"?\"", f);
	free(quoted);
	json_decref(value);
}

static void put_number(FILE *f, double v)
{
	char text[40];

	if (fabs(v) < 1e15 && v == floor(v)) {
		fprintf(f, "%.0f", v);
		return;
	}
	snprintf(text, sizeof(text), "%.17g", v);
	/* A recorded application may have set its own locale. */
	for (char *p = text; *p; p++)
		if (*p == ',')
			*p = '.';
	fputs(text, f);
}

static void put_field(FILE *f, const char *key, double v)
{
	fprintf(f, "\"%s\": ", key);
	put_number(f, v);
	fputs(", ", f);
}

static void put_traffic(FILE *f, const struct cpl_comm *comm)
{
	const char *separator = "";

	fputs("\"traffic\": [", f);
	for (int r = 0; r < comm->ranks; r++) {
		for (int64_t i = comm->row[r]; i < comm->row[r + 1]; i++) {
			fprintf(f, "%s\n   [%d, %d, ", separator, r,
			        comm->to[i]);
			put_number(f, comm->bytes[i]);
			fputs(", ", f);
			put_number(f, comm->messages[i]);
			putc(']', f);
			separator = ",";
		}
	}
	fputs(comm->n_entries ? "\n  ]" : "]", f);
}

/* side[i] is phase i's side file; side may be NULL. */
static void put_signature(FILE *f, const struct cpl_signature *sig,
                          char *const *side)
{
	fputs("{\n \"format\": \"commplace-signature\",\n \"version\": 1,\n "
	      "\"name\": ",
	      f);
	put_string(f, sig->name);
	if (sig->application) {
		fputs(",\n \"application\": ", f);
		put_string(f, sig->application);
	}
	fprintf(f, ",\n \"ranks\": %d,\n \"phases\": [", sig->ranks);
	for (int i = 0; i < sig->n_phases; i++) {
		const struct cpl_phase *p = &sig->phase[i];

		fprintf(f, "%s\n  { \"name\": ", i ? "," : "");
		put_string(f, p->name);
		fputs(", ", f);
		put_field(f, "weight", p->weight);
		if (p->time > 0.0)
			put_field(f, "time", p->time);
		if (p->compute_time > 0.0)
			put_field(f, "compute_time", p->compute_time);
		if (p->rank_compute && p->compute_time > 0.0) {
			fputs("\"compute_percent\": \"", f);
			rank_compute_print(f, p->rank_compute, sig->ranks,
			                   p->compute_time);
			fputs("\", ", f);
		}
		if (!p->comm) {
			fprintf(f, "\"pattern\": %s", p->pattern->text);
		} else if (side) {
			fputs("\"file\": ", f);
			put_string(f, cpl_path_base(side[i]));
		} else {
			put_traffic(f, p->comm);
		}
		fputs(" }", f);
	}
	fputs("\n ]", f);
	if (sig->recorded)
		fprintf(f, ",\n \"recorded\": %s", sig->recorded);
	fputs("\n}\n", f);
}

static int write_json(const struct cpl_signature *sig, const char *path,
                      char *const *side, struct cpl_error *err)
{
	struct cpl_file_writer *w = cpl_file_open_atomic(path, err);

	if (!w)
		return -1;
	put_signature(cpl_file_stream(w), sig, side);
	return cpl_file_commit(w, 0644, err);
}

int cpl_signature_write(const struct cpl_signature *sig, const char *path,
                        struct cpl_error *err)
{
	return write_json(sig, path, NULL, err);
}

/* This makes "dir/halo.phase1.comm" of "dir/halo.json" and 1. */
static char *side_path(const char *path, int phase, struct cpl_error *err)
{
	size_t n = strlen(path);
	char *side;

	if (n > 5 && !strcmp(path + n - 5, ".json"))
		n -= 5;
	if (asprintf(&side, "%.*s.phase%d.comm", (int)n, path, phase) < 0)
		return cpl_fail_null_memory(err);
	return side;
}

int cpl_signature_write_binary(const struct cpl_signature *sig,
                               const char *path, struct cpl_error *err)
{
	char **side = calloc((size_t)sig->n_phases, sizeof(*side));
	int written = 0, rc = -1;

	if (!side)
		return cpl_fail_memory(err);
	for (; written < sig->n_phases; written++) {
		const struct cpl_comm *comm = sig->phase[written].comm;
		int i = written;

		side[i] = side_path(path, i + 1, err);
		if (!side[i])
			goto out;
		if (!access(side[i], F_OK)) {
			cpl_fail(err,
			         "%s: exists already; remove it or choose "
			         "another name for the signature",
			         side[i]);
			goto out;
		}
		/* A phase that is not stored is written as its pattern. */
		if (comm && side_file_write(comm, side[i], err))
			goto out;
	}
	rc = write_json(sig, path, side, err);
out:
	for (int i = 0; rc && i < written; i++)
		unlink(side[i]);
	for (int i = 0; i < sig->n_phases; i++)
		free(side[i]);
	free(side);
	return rc;
}
