/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * commplace.conf: what the site decides. Slurm's Key=Value style, "#"
 * comments, keys and enumerated values case-insensitive, a line may hold
 * several pairs. The keys stand in config_keys.txt, from which the parser, its
 * messages, the command's help, commplace.conf(5) and the sample come.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/none.h"
#include "traffic/objective.h"

enum cpl_mode { CPL_MODE_ON, CPL_MODE_OBSERVE, CPL_MODE_OFF };
enum cpl_on_error { CPL_IGNORE, CPL_REJECT };

/* Can the order of a job's ranks be counted on for its launcher? */
enum cpl_order_reaches {
	CPL_REACHES_AUTO, /* by what is known of it */
	CPL_REACHES_YES,
	CPL_REACHES_NO,
};

/* How jobs without a signature stand in the background. */
enum cpl_unknown_mode {
	CPL_UNKNOWN_MEASURED, /* with their share of MeasuredLinks */
	CPL_UNKNOWN_UNIFORM,  /* each node sends the same to each other one */
	CPL_UNKNOWN_OFF,      /* not at all */
};

/* Which jobs without a profile are placed by what their last run sent. */
enum cpl_by_volume {
	CPL_BY_VOLUME_NO,
	CPL_BY_VOLUME_ASKED, /* whose users asked for a policy */
	CPL_BY_VOLUME_YES,   /* all that have one */
};

/* What users may choose at submission, bits. */
enum {
	CPL_MAY_PROFILE = 1,
	CPL_MAY_POLICY = 2,
	CPL_MAY_MAPPING = 4,
	CPL_MAY_ALL = 7,
};

#define CPL_DRIFT_DEFAULT 10 /* percent */

/* What may differ by job. NULL / -1: not set on this line. */
struct cpl_defaults {
	char *policy;
	char *mapping;
	char *order; /* MappingWithoutProfile */
	char *keep_whole; /* units */
	char *record;     /* a name, %x in it: the job's; CPL_NONE */
	int record_one_in;
	int min_nodes;
	int mode;      /* enum cpl_mode */
	int objective; /* enum cpl_objective */
	int max_decision_ms;
	int user_may; /* CPL_MAY_... */
	int keep_price; /* percent */
	int order_reaches; /* enum cpl_order_reaches */
	int trial; /* percent */
	int segment; /* SegmentFromSignature: 1, or 0 */
};

struct cpl_partition_rule {
	char *partition;
	struct cpl_defaults defaults;
	int line;
};

/*
 * What holds for the jobs that fulfil all of its conditions. For each setting
 * the first rule that fits and has it wins. Patterns are those of fnmatch(3).
 */
struct cpl_match_rule {
	/* Conditions; NULL (nodes: high 0): any. */
	char *job_name, *command;        /* a pattern */
	char *partition, *qos, *account; /* patterns, separated by commas */
	char *user;                      /* names and ids, separated by commas */
	uint32_t *uid; /* [n_uids] of them, see cpl_config_find_users */
	int n_uids;
	struct cpl_range {
		int low, high;
	} nodes;
	/* Settings. */
	char *profile;
	struct cpl_defaults defaults;
	int line;
	uint64_t keys; /* bits: index of each key on the line */
};

/* Who may read records besides the user that the scheduler runs as. */
enum cpl_record_access {
	CPL_RECORDS_SLURM, /* as Slurm shows jobs */
	CPL_RECORDS_OWNER, /* the job's user, each the own ones */
	CPL_RECORDS_ALL,
};

/* More than there are keys. */
#define CPL_CONFIG_KEYS_MAX 64

struct cpl_config {
	char *path; /* the file, for messages */
	char *network_file;
	char *profile_dir;
	char *user_profile_dir; /* a pattern, see user_dir.h; NULL: none */
	bool rescale;
	int drift; /* percent */
	char *state_dir;
	char *time_model; /* NULL: none */
	/* Settings of all jobs; the numbers besides MinNodes are: */
	struct cpl_defaults defaults;
	enum cpl_mode mode;
	enum cpl_objective objective;
	int max_decision_ms;
	int user_may; /* CPL_MAY_... */
	int keep_price; /* percent */
	enum cpl_order_reaches order_reaches;
	int record_one_in;
	char *binding;
	bool bind_memory;
	char *near_nic; /* "yes" or variables; NULL: no */
	char *routing; /* NULL: as the network states */
	int max_pass_ms;
	int compare_nodes;
	int own_weight, others_weight; /* of "interference" */
	enum cpl_on_error missing_profile;
	enum cpl_on_error rank_mismatch;
	bool admin_comment;
	int trial;           /* percent of the jobs that stay stock */
	int segment; /* SegmentFromSignature: 1, or 0 */
	int64_t trial_until; /* seconds since 1970, 0: for ever */
	bool trial_stop;
	char *measured_links; /* a source, see measured/source.h; NULL: none */
	int measured_max_age; /* seconds */
	enum cpl_unknown_mode unknown;
	uint64_t unknown_volume; /* bytes/s of a node; 0: as known jobs send */
	enum cpl_by_volume by_volume;
	int keep_samples; /* of measured links, 0: none */
	uint64_t seed;
	int profile_memory; /* MiB */
	char *decider;      /* socket of a commplaced that runs; NULL: none */
	int decider_memory; /* MiB, 0: no limit */
	enum cpl_record_access record_access;
	int keep_records, keep_days; /* of ended jobs; 0: no limit */
	int line[CPL_CONFIG_KEYS_MAX]; /* by key: where it is set, or 0 */
	int n_partitions;
	struct cpl_partition_rule *partition;
	int n_matches;
	struct cpl_match_rule *match;
};

/* A key of the file. */
struct cpl_config_key {
	const char *name;
	const char *value;    /* what stands behind the "=": "PATH" */
	const char *built_in; /* its value where it is not set; "": none */
	unsigned where;       /* bits: 1 << enum cpl_config_scope */
};

enum cpl_config_scope {
	CPL_SCOPE_GENERAL,
	CPL_SCOPE_PARTITION, /* lines that begin with Partition=NAME */
	CPL_SCOPE_MATCH,     /* lines that begin with Match */
	CPL_SCOPE_CONDITION, /* of a Match line: says for which jobs it is */
};

/* The i-th key, NULL behind the last. */
const struct cpl_config_key *cpl_config_key(int i);

/* The line that sets a general key, 0: it has its built-in value. */
int cpl_config_line(const struct cpl_config *config, const char *key);

/*
 * Read and check a file. Unknown keys and values, keys given twice, empty
 * values, relative paths, policies, mappings, binders, routings and objectives
 * that do not exist are refused with "FILE:LINE: reason; what would be right".
 * Files that the configuration names are not opened here. NULL with err: the
 * first problem.
 */
struct cpl_config *cpl_config_load(const char *path, struct cpl_error *err);
/* The same where policies, mappers and routings are not: what is named so is taken
 * as it stands. */
struct cpl_config *cpl_config_load_on_node(const char *path,
                                           struct cpl_error *err);
struct cpl_config *cpl_config_parse(const char *text, size_t length,
                                    const char *name, struct cpl_error *err);

/*
 * The same, but say() (unless it is NULL) is called with each problem, one a
 * line at most, and what is left of the file is returned. NULL with err when
 * the file cannot be read or memory is out.
 */
struct cpl_config *cpl_config_load_all(const char *path,
                                       void (*say)(void *arg, const char *text),
                                       void *arg, struct cpl_error *err);
void cpl_config_free(struct cpl_config *config);

/*
 * Look up the users that Match lines name, in place of what was found before:
 * say() is called with a line for each that there is not, which then fits
 * nobody. Asks the system's user database. -1 with err: memory.
 */
int cpl_config_find_users(struct cpl_config *config,
                          void (*say)(void *arg, const char *text), void *arg,
                          struct cpl_error *err);

/* Is a profile so far (cpl_profile_change) from the one before it that this is
 * to be reported? */
static inline bool cpl_drifts(const struct cpl_config *config, double change)
{
	return change > config->drift / 100.0;
}

/* Is nothing to be done anywhere: Mode=off, and no line with another mode? */
bool cpl_config_is_off(const struct cpl_config *config);

/* Does the objective learned decide for all jobs or for those of a line? */
bool cpl_config_learned(const struct cpl_config *config);
const char *cpl_mode_name(enum cpl_mode mode);
const char *cpl_unknown_name(enum cpl_unknown_mode unknown);
const char *cpl_order_reaches_name(enum cpl_order_reaches reaches);

/* The line of a partition, or NULL. */
const struct cpl_partition_rule *
cpl_config_partition(const struct cpl_config *config, const char *partition);

/* The next entry of a list separated by commas at *list into text[size], as
 * much as fits; *list moves on. False: there is none. */
bool cpl_config_next(const char **list, char *text, size_t size);
