/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Communication signatures: who sends how much to whom, per phase. */
/* Tests: profile scan source write in test_signature; rows in test_stream;
 * grid_* in test_rescale; rounds in test_simulate; rank_compute in
 * test_phases; install_files side_file in test_install; export* in
 * test_export; import* in test_import_tools test_export; import/calls
 * import/otf2_* in test_otf2*; pattern* in test_pattern; phases* in
 * test_phases test_measure. */
#ifndef CPL_SIGNATURE_SIGNATURE_H
#define CPL_SIGNATURE_SIGNATURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/file.h"
#include "graph/comm.h"

#define CPL_SIGNATURE_MAX_RANKS 16777216
#define CPL_PROFILE_NAME_MAX 128

struct cpl_pattern;

struct cpl_phase {
	char *name;
	double weight;       /* how often the phase runs, > 0 */
	double time;         /* seconds of one execution, 0: not stated */
	double compute_time; /* seconds of it without communication */
	/* [ranks] the same of each rank, compute_time in the mean; NULL: not
	 * known. Within limits it is not read. */
	double *rank_compute;
	/* One execution: a matrix, or the generator of a pattern that is not
	 * stored; a small pattern has both. rows.h reads either. */
	struct cpl_comm *comm;
	struct cpl_pattern *pattern;
};

/* Seconds of one execution that are communication. 0 where more is computed
 * than the phase takes, as files may say that are written by hand. */
static inline double cpl_phase_communication(const struct cpl_phase *phase)
{
	return phase->time > phase->compute_time
	               ? phase->time - phase->compute_time
	               : 0;
}

struct cpl_signature {
	char *name;
	char *application; /* may be NULL */
	int ranks;
	int n_phases;
	struct cpl_phase *phase;
	char *recorded; /* the "recorded" object as JSON text, or NULL */
	/* The files that it was read from: NAME.json, then its side files. */
	int n_files;
	struct cpl_signature_file {
		char *path;
		struct cpl_file_mark mark;
	} * file;
};

/*
 * Load NAME.json, or parse the same from memory, which can name no side files:
 * commplace-signature(5). Rows of the same pair are added up; a rank's to
 * itself are kept. NULL with file, phase and row in err. O(rows log rows).
 */
struct cpl_signature *cpl_signature_load(const char *path,
                                         struct cpl_error *err);
struct cpl_signature *cpl_signature_parse(const char *text, size_t length,
                                          const char *name,
                                          struct cpl_error *err);
void cpl_signature_free(struct cpl_signature *sig);

/* Limits for a load by a process that must not grow or wait. */
struct cpl_signature_limits {
	/* The most bytes of each file, and of the run's matrix and graph in
	 * memory; checked before they are made. 0: those of
	 * cpl_signature_load. */
	uint64_t max_bytes;
	/* Who has to own each file, NULL: anybody. Other files give EACCES and
	 * are not read, since errors quote what was read. */
	const uid_t *owner;
	/* Called before files are read and after, or NULL. */
	void (*reads)(void *arg, bool reads);
	void *arg;
};

/* cpl_signature_load within limits; symbolic links are refused. NULL with err,
 * and errno as cpl_file_open leaves it, 0 where the file could be read. */
struct cpl_signature *
cpl_signature_load_within(const char *path,
                          const struct cpl_signature_limits *limits,
                          struct cpl_error *err);

/* "dir/halo.json" -> "halo", to free(); NULL with err: memory. */
char *cpl_signature_base_name(const char *path, struct cpl_error *err);

/* A site's profile for a command: of any size, but no symbolic link. */
struct cpl_signature *cpl_profile_load(const char *dir, const char *name,
                                       struct cpl_error *err);

/* "ranks" of the signature that begins with this text, 0: not in it. O(bytes
 * before it). */
int cpl_signature_peek(const char *text, size_t length);

/* Has every phase its matrix? */
bool cpl_signature_stored(const struct cpl_signature *sig);

/* What a signature says of a run's time. */
struct cpl_run_times {
	double seconds;       /* sum of weight * time; 0: a phase states none,
	                       * and the signature has no times */
	double communication; /* seconds of it that are not computing */
	double share;         /* communication / seconds; 1 without times */
};

/* O(phases). */
struct cpl_run_times cpl_run_times(const struct cpl_phase *phase, int n);

/* The whole run, for cpl_comm_free: sum over phases of weight * traffic. NULL
 * with err where patterns could make more than 200 million entries. */
struct cpl_comm *cpl_signature_total(const struct cpl_signature *sig,
                                     struct cpl_error *err);

/* Is a name one or more printable characters, UTF-8? 0, or -1 with err naming
 * `what`. */
int cpl_signature_text_check(const char *what, const char *text,
                             struct cpl_error *err);

/* Write as signature JSON (atomic, mode 0644). 0, or -1 with err. */
int cpl_signature_write(const struct cpl_signature *sig, const char *path,
                        struct cpl_error *err);

/* The same with each phase's traffic in a side file "NAME.phaseK.comm" next to
 * "NAME.json", which must not exist. 0, or -1 with err and nothing written. */
int cpl_signature_write_binary(const struct cpl_signature *sig,
                               const char *path, struct cpl_error *err);

/* Is it 1 to CPL_PROFILE_NAME_MAX characters of [A-Za-z0-9_.-], the first
 * neither a dot (hidden files) nor a dash (options)? 0, or -1 with err. */
int cpl_profile_name_check(const char *name, struct cpl_error *err);

/* "DIR/NAME.json" after cpl_profile_name_check. The caller frees it. */
char *cpl_profile_path(const char *dir, const char *name,
                       struct cpl_error *err);

/* Names of the profiles in dir, sorted; the caller frees each and the array.
 * How many, or -1 with err. */
int cpl_profile_list(const char *dir, char ***names, struct cpl_error *err);

#endif
