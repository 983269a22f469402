/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "record_nccl.h"

#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/nccl_files.h"
#include "record/nccl_join.h"
#include "signature/import/import.h"

#define PLUGIN "libnccl-profiler-commplace.so"
#define VARIABLE "NCCL_PROFILER_PLUGIN"

bool cmd_nccl_prepare(const struct cmd *self, const char *const *folder, int n,
                      const char *file)
{
	const char *set = getenv(VARIABLE);
	char candidate[PATH_MAX], path[PATH_MAX];
	bool found = false;

	for (int i = 0; i < n && !found; i++)
		found = snprintf(candidate, sizeof(candidate), "%s/" PLUGIN,
		                 folder[i]) < (int)sizeof(candidate) &&
		        realpath(candidate, path) && !access(path, R_OK);
	if (!found)
		return false;
	if (set && *set && !strstr(set, PLUGIN)) {
		fprintf(stderr,
		        "commplace %s: " VARIABLE "=%.200s is yours; what NCCL "
		        "sends is not recorded\n",
		        self->name, set);
		return false;
	}
	return !setenv(VARIABLE, set && *set ? set : path, 1) &&
	       !setenv("COMMPLACE_RECORD_FILE", file, 1);
}

void cmd_nccl_remove(const char *file)
{
	char folder[PATH_MAX + 16];

	unlink(file);
	snprintf(folder, sizeof(folder), "%.*s" NCCL_PIECES, PATH_MAX, file);
	nccl_files_remove(folder);
}

/* Pieces that were left are joined again: some may have come to be seen late. */
static int join_left(const char *file, const char *folder,
                     struct cpl_error *err)
{
	struct nccl_join *j = nccl_join_new();
	const struct nccl_row *row;
	struct nccl_facts facts;
	char why[NCCL_WHY] = "";
	int64_t n;
	int rc = 0;

	if (!j)
		return cpl_fail_memory(err);
	if (nccl_files_read(j, folder, why) < 0 ||
	    nccl_join_solve(j, &row, &n, &facts, why) ||
	    nccl_signature_write(file, facts.name, row, n, &facts, why))
		rc = cpl_fail(err, "what NCCL sent: %s", why);
	nccl_join_free(j);
	return rc;
}

int cmd_nccl_missing(const struct cpl_signature *sig)
{
	json_t *recorded =
	        json_loads(sig->recorded ? sig->recorded : "{}", 0, NULL);
	json_t *about = json_object_get(recorded, "nccl");
	int n = (int)json_integer_value(json_object_get(about, "incomplete"));

	json_decref(recorded);
	return n;
}

struct cpl_signature *cmd_nccl_take(const char *file, int *missing,
                                    struct cpl_error *err)
{
	char folder[PATH_MAX + 16];
	struct cpl_signature *sig = NULL;

	snprintf(folder, sizeof(folder), "%.*s" NCCL_PIECES, PATH_MAX, file);
	if ((!access(folder, F_OK) && join_left(file, folder, err)) ||
	    access(file, F_OK))
		return NULL;
	sig = cpl_signature_load(file, err);
	if (sig)
		*missing = cmd_nccl_missing(sig);
	return sig;
}

int cmd_nccl_append(struct cpl_signature *to, struct cpl_signature *nccl,
                    struct cpl_error *err)
{
	size_t n = (size_t)to->n_phases + (size_t)nccl->n_phases;
	struct cpl_phase *more = realloc(to->phase, n * sizeof(*more));

	if (!more)
		return cpl_fail_memory(err);
	to->phase = more;
	for (int i = 0; i < nccl->n_phases; i++) {
		struct cpl_phase *p = &nccl->phase[i];
		char *name = NULL;

		if (asprintf(&name, i ? "nccl%d" : "nccl", i + 1) < 0)
			return cpl_fail_memory(err);
		free(p->name);
		p->name = name;
		/* The time of the run is the program's, which the other
		 * phases have. */
		p->time = p->compute_time = 0;
		more[to->n_phases++] = *p;
		memset(p, 0, sizeof(*p));
	}
	nccl->n_phases = 0;
	return 0;
}

static int read_all(struct nccl_join *j, char *const *path, int n,
                    struct cpl_error *err)
{
	char why[NCCL_WHY] = "";

	for (int i = 0; i < n; i++) {
		struct stat st;
		bool folder = !stat(path[i], &st) && S_ISDIR(st.st_mode);

		if (folder ? nccl_files_read(j, path[i], why) < 0
		           : nccl_join_read(j, path[i], why))
			return cpl_fail(err, "%s", why);
	}
	return 0;
}

/* What a phase has of the rows: one step, or what is in none. */
static struct cpl_signature *from_rows(const struct nccl_row *row, int64_t n,
                                       const struct nccl_facts *facts,
                                       bool step, const char *source,
                                       const char *name,
                                       const char *application,
                                       struct cpl_error *err)
{
	struct cpl_comm_entry *entry = malloc(((size_t)n + 1) * sizeof(*entry));
	struct cpl_signature *sig;
	uint64_t steps = facts->steps;
	int64_t used = 0;
	char text[240], *lost = NULL;

	if (!entry)
		return cpl_fail_null_memory(err);
	for (int64_t i = 0; i < n; i++) {
		uint64_t bytes = row[i].step_bytes, messages = row[i].step_messages;

		if (!step) {
			bytes = row[i].bytes - steps * bytes;
			messages = row[i].messages - steps * messages;
		}
		if (bytes || messages)
			entry[used++] = (struct cpl_comm_entry){
			        row[i].from, row[i].to, (double)bytes,
			        (double)messages};
	}
	if (facts->incomplete || facts->full || facts->unplaced)
		lost = text;
	snprintf(text, sizeof(text),
	         "%d ranks of the largest communicator that have no piece, "
	         "%llu events that were dropped, %llu bytes to ranks that "
	         "nobody knows",
	         facts->incomplete, (unsigned long long)facts->full,
	         (unsigned long long)facts->unplaced);
	sig = cpl_signature_import_entries(
	        entry, used, facts->ranks, lost, source, "nccl", name,
	        application ? application : facts->application, err);
	free(entry);
	return sig;
}

static int name_phase(struct cpl_phase *p, const char *name, uint64_t weight,
                      uint64_t ns)
{
	free(p->name);
	p->name = strdup(name);
	p->weight = (double)weight;
	p->time = (double)((ns + 500) / 1000) / 1e6;
	return p->name ? 0 : -1;
}

/* The phases that nccl_signature_write would have written. */
static struct cpl_signature *all_phases(const struct nccl_row *row, int64_t n,
                                        const struct nccl_facts *facts,
                                        const char *source, const char *name,
                                        const char *application,
                                        struct cpl_error *err)
{
	uint64_t steps = facts->steps, in_steps = steps * facts->step_time;
	struct cpl_signature *sig, *step = NULL;
	int rc = -1;

	sig = from_rows(row, n, facts, false, source, name, application, err);
	if (sig && steps)
		step = from_rows(row, n, facts, true, source, name, application,
		                 err);
	if (!sig || (steps && (!step || cmd_nccl_append(sig, step, err))))
		goto out;
	if (name_phase(&sig->phase[0], steps ? "rest" : "run", 1,
	               facts->time > in_steps ? facts->time - in_steps : 0) ||
	    (steps && name_phase(&sig->phase[1], "step", steps, facts->step_time)))
		cpl_fail_memory(err);
	else
		rc = 0;
out:
	cpl_signature_free(step);
	if (rc)
		cpl_signature_free(sig);
	return rc ? NULL : sig;
}

struct cpl_signature *cmd_nccl_import(char *const *path, int n,
                                      const char *name, const char *application,
                                      struct cpl_error *err)
{
	struct nccl_join *j = nccl_join_new();
	struct cpl_signature *sig = NULL;
	const struct nccl_row *row;
	struct nccl_facts facts;
	char why[NCCL_WHY];
	int64_t rows;

	if (!j)
		cpl_fail_memory(err);
	else if (!read_all(j, path, n, err)) {
		if (nccl_join_solve(j, &row, &rows, &facts, why))
			cpl_fail(err, "%s: %s", path[0], why);
		else
			sig = all_phases(row, rows, &facts, path[0], name,
			                 application, err);
	}
	nccl_join_free(j);
	return sig;
}
