/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A communication signature says who sends how much to whom, per phase. */
/* Tests: profile scan source write in test_signature; rows in test_stream; grid_*
 * in test_rescale; rounds in test_simulate; rank_compute in test_phases;
 * install_files side_file in test_install; tasks in test_groups; export* in test_export; import* in
 * test_import_tools test_export; import/aicb* pattern/grid in test_aicb; import/calls
 * import/otf2_* in test_otf2*; pattern/llm* in test_llm; pattern* in test_pattern;
 * phases* in test_phases test_measure; flags* in test_flags. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/file.h"
#include "graph/comm.h"
#include "graph/rank_grid.h"

#define CPL_SIGNATURE_MAX_RANKS 16777216
#define CPL_PROFILE_NAME_MAX 128

struct cpl_pattern;

struct cpl_phase {
	char *name;
	double weight;       /* how often the phase runs, > 0 */
	double time;         /* seconds of one execution, 0: not stated */
	double compute_time; /* seconds of it without communication */
	/* [ranks] holds compute_time of each rank, whose mean is above; NULL means
	 * it is not known. It is not read within limits. */
	double *rank_compute;
	/* This is one execution: a matrix, or the generator of a pattern that is
	 * not stored. A small pattern has both. rows.h reads either. */
	struct cpl_comm *comm;
	struct cpl_pattern *pattern;
	/* These are the groups in which ranks communicate, where that is known
	 * though there is no pattern; n 0: it is not. */
	struct cpl_rank_grid groups;
};

/* This returns the seconds of one execution that are communication. It is 0 where
 * more is computed than the phase takes, as files written by hand may say. */
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
	/* These files were read: NAME.json, then its side files. */
	int n_files;
	struct cpl_signature_file {
		char *path;
		struct cpl_file_mark mark;
	} * file;
};

/* This loads NAME.json, or parses such text from memory, which can name no side
 * files: see commplace-signature(5). Rows of the same pair are added up, and a
 * rank's traffic to itself is kept. It returns NULL with file, phase and row in
 * err. It costs O(rows log rows). */
struct cpl_signature *cpl_signature_load(const char *path,
                                         struct cpl_error *err);
struct cpl_signature *cpl_signature_parse(const char *text, size_t length,
                                          const char *name,
                                          struct cpl_error *err);
void cpl_signature_free(struct cpl_signature *sig);

/* These limit a load by a process that must not grow or wait. */
struct cpl_signature_limits {
	/* This limits the bytes of each file, and of the run's matrix and graph in
	 * memory, before they are made. 0 means the limits of cpl_signature_load. */
	uint64_t max_bytes;
	/* This user has to own each file; NULL means anybody. Other files give
	 * EACCES and are not read, since errors quote what was read. */
	const uid_t *owner;
	/* This is called before and after files are read, unless it is NULL. */
	void (*reads)(void *arg, bool reads);
	void *arg;
};

/* This loads as cpl_signature_load does, but within limits and without following
 * symbolic links. It returns NULL with err, and errno as cpl_file_open leaves it,
 * or 0 where the file could be read. */
struct cpl_signature *
cpl_signature_load_within(const char *path,
                          const struct cpl_signature_limits *limits,
                          struct cpl_error *err);

/* This makes "halo" of "dir/halo.json", to free(). It returns NULL with err when
 * memory is out. */
char *cpl_signature_base_name(const char *path, struct cpl_error *err);

/* This loads a site's profile for a command: it may have any size, but may not be a
 * symbolic link. */
struct cpl_signature *cpl_profile_load(const char *dir, const char *name,
                                       struct cpl_error *err);

/* This returns "ranks" of the signature that begins with this text, or 0 if it is
 * not in it. It costs O(bytes before it). */
int cpl_signature_peek(const char *text, size_t length);

/* This says whether every phase has its matrix. */
bool cpl_signature_stored(const struct cpl_signature *sig);

/* This is what a signature says of a run's time. */
struct cpl_run_times {
	/* This is the sum of weight * time, or 0 if a phase states no time, in
	 * which case the signature has no times. */
	double seconds;
	double communication; /* seconds of it that are not computing */
	double share;         /* communication / seconds; 1 without times */
};

/* It costs O(phases). */
struct cpl_run_times cpl_run_times(const struct cpl_phase *phase, int n);

/* This says in which groups the ranks communicate, by the first phase whose pattern
 * tells. It returns false where none does, and out->n is 0 then. It costs
 * O(phases). */
bool cpl_phases_groups(const struct cpl_phase *phase, int n,
                       struct cpl_rank_grid *out);

/* This returns the matrix of the whole run for cpl_comm_free: the sum over phases
 * of weight * traffic. It returns NULL with err where patterns could make more than
 * 200 million entries. */
struct cpl_comm *cpl_signature_total(const struct cpl_signature *sig,
                                     struct cpl_error *err);

/* This checks that a name is one or more printable characters of UTF-8. It returns
 * 0, or -1 with err naming `what`. */
int cpl_signature_text_check(const char *what, const char *text,
                             struct cpl_error *err);

/* This writes signature JSON (atomically, mode 0644). It returns 0, or -1 with
 * err. */
int cpl_signature_write(const struct cpl_signature *sig, const char *path,
                        struct cpl_error *err);

/* This writes the same with each phase's traffic in a side file "NAME.phaseK.comm"
 * next to "NAME.json", which must not exist. It returns 0, or -1 with err and
 * nothing written. */
int cpl_signature_write_binary(const struct cpl_signature *sig,
                               const char *path, struct cpl_error *err);

/* This checks for 1 to CPL_PROFILE_NAME_MAX characters of [A-Za-z0-9_.-], the first
 * neither a dot (hidden files) nor a dash (options). It returns 0, or -1 with err. */
int cpl_profile_name_check(const char *name, struct cpl_error *err);

/* This returns "DIR/NAME.json" after cpl_profile_name_check. The caller frees it. */
char *cpl_profile_path(const char *dir, const char *name,
                       struct cpl_error *err);

/* This lists the names of the profiles in dir, sorted; the caller frees each and
 * the array. It returns how many, or -1 with err. */
int cpl_profile_list(const char *dir, char ***names, struct cpl_error *err);
