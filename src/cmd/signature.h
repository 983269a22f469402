/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of `commplace signature`. */
#pragma once

#include "cmd.h"
#include "site/user_dir.h"

struct signature_options {
	const char *profile_dir, *format, *output, *name, *application, *phase;
	const char *plot, *recorded, *from;
	int64_t ranks, ep, version, keep; /* 0: not given */
	bool user, binary, step, json;
};

struct signature_sums {
	double bytes, messages;
	int64_t pairs; /* directed pairs that talk */
};

/* What a signature amounts to over the whole run. */
struct signature_summary {
	struct signature_sums sums;
	struct signature_sums *phase; /* one execution of each */
	bool partners_known; /* else the matrix is too large for them */
	int partners_min, partners_max; /* either way, itself left out */
	double partners_mean;
	int n_blocks;         /* of ranks, at most 16 */
	double block[16][16]; /* bytes from block to block */
	int n_largest;
	struct cpl_comm_entry largest[10]; /* most bytes first */
};

/* 0, or -1 with err when memory is out. Free with signature_summary_free in
 * either case. O(messages). */
int signature_summary(const struct cpl_signature *sig,
                      struct signature_summary *out, struct cpl_error *err);

void signature_summary_free(struct signature_summary *summary);

/* One execution of a phase. The same. */
int signature_phase_sums(const struct cpl_signature *sig, int phase,
                         struct signature_sums *out, struct cpl_error *err);

/* Print it; an exit code. */
int signature_show_text(const struct cpl_signature *sig,
                        const struct signature_summary *summary);
int signature_show_json(const struct cmd *self, const struct cpl_signature *sig,
                        const struct signature_summary *summary);

/*
 * An SVG of one or two signatures side by side: bytes from rank to rank (or
 * between blocks of them) on a log scale that both share, messages by size,
 * ranks by how many they send to, the phases' times. distance: see
 * cpl_comm_distance; < 0: not known. 0, or -1 with err. O(messages).
 */
int signature_plot(const char *path, const struct cpl_signature *const *sig,
                   int n, double distance, struct cpl_error *err);

/* The actions on a store; exit codes. */
int signature_list(const struct cmd *self, const struct signature_options *o);
int signature_versions(const struct cmd *self,
                       const struct signature_options *o, const char *name);
int signature_install(const struct cmd *self,
                      const struct signature_options *o, const char *file);
int signature_remove(const struct cmd *self, const struct signature_options *o,
                     const char *name);

/* The store that the options mean; NULL with err. */
const char *signature_store_dir(const struct signature_options *o,
                                struct cpl_error *err);

/*
 * Before a store is changed, until cpl_user_end: root changes a user's with
 * that user's rights, so that what comes there is the user's, and nothing that
 * the user puts in the way leads further. -1 with err.
 */
int signature_store_begin(const char *dir, struct cpl_user_rights *rights,
                          struct cpl_error *err);
/* Put a former version in use by that function, and say so: an exit code. */
int signature_store_roll_back(const struct cmd *self, bool json, const char *dir,
                              const char *name, int64_t version,
                              int (*roll_back)(const char *dir,
                                               const char *name, int version,
                                               struct cpl_error *err));
/* The folders of a store that is not there yet, with those rights: a user's
 * comes with its first profile. 0, or -1 with err. */
int signature_store_make(const char *dir, struct cpl_error *err);

/* Install a signature in a store. What came of it: "name", "ranks", "version"
 * and, where there was one before, "distance" from it; "lost_messages", if any.
 * NULL with err. */
json_t *signature_put(const struct signature_options *o, const char *dir,
                      const char *name, struct cpl_signature *sig,
                      const char *from, struct cpl_error *err);
/* Print a line, one more where the profile drifts, and on stderr what was not
 * counted. */
void signature_print_installed(const struct cmd *self, const json_t *item,
                               const char *dir);

/* Messages of the run that the recorder could not count: "lost_messages" of
 * what it says of itself. */
double signature_lost(const struct cpl_signature *sig);

/* The name that a file gives a signature: "dir/lj.events" -> "lj". */
void signature_default_name(const char *path,
                            char name[CPL_PROFILE_NAME_MAX + 1]);

/* The paper's table: phase, weight, times of the whole run, PET. An exit code. */
int signature_print_pet(const struct cpl_signature *sig);

struct cpl_foreseen;

/* Between what the time of a longer run is, if that is not sure. */
void signature_print_interval(const struct cpl_foreseen *run);

/* `commplace signature phases`: argv[0] is "phases". An exit code. */
int signature_phases(const struct cmd *self, int argc, char **argv);

/* `commplace signature from-flags`: the same. */
int signature_from_flags(const struct cmd *self, int argc, char **argv);

/* `commplace signature predict`: the same. */
int signature_predict(const struct cmd *self, int argc, char **argv);
