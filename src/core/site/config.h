/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * commplace.conf: what the site decides. Slurm's Key=Value style, "#"
 * comments, keys and enumerated values case-insensitive, a line may hold
 * several pairs. See commplace.conf(5).
 *
 *   NetworkFile=/etc/slurm/commplace/network.json
 *   ProfileDir=/var/lib/commplace/profiles
 *   StateDir=/var/lib/commplace/state
 *   Mode=on|observe|off
 *   DefaultPolicy=auto          unset or "none": jobs without a profile stay
 *                               stock
 *   DefaultMapping=greedyallc   DefaultBinding=treematch|...|none
 *   BindMemory=no|yes           tasks get the memory next to their cores only
 *   Objective=max-congestion    Routing=static-direct
 *   MaxDecisionTime=200         milliseconds; "200ms" and "2s" too
 *   MinNodes=2                  smaller jobs stay stock
 *   MissingProfile=reject|ignore
 *   RankMismatch=ignore|reject  profile recorded at another rank count
 *   UserMayOverride=profile,policy,mapping | all | none
 *   Seed=1
 *   Partition=large DefaultPolicy=auto DefaultMapping=linear MinNodes=4
 *   Match JobName=vasp* Profile=vasp
 */
#ifndef CPL_SITE_CONFIG_H
#define CPL_SITE_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "placement/decide.h"

#define CPL_CONFIG_DEFAULT_PATH "/etc/slurm/commplace.conf"

/* In the place of a profile's name: none, not even that of a Match rule. */
#define CPL_PROFILE_NONE "none"

enum cpl_mode { CPL_MODE_ON, CPL_MODE_OBSERVE, CPL_MODE_OFF };
enum cpl_on_error { CPL_IGNORE, CPL_REJECT };

/* In the place of a binder's: tasks are left to Slurm's binding. */
#define CPL_BINDING_NONE "none"

/* What may differ by partition. NULL / -1: not set on this line. */
struct cpl_defaults {
	char *policy;
	char *mapping;
	int min_nodes;
};

struct cpl_partition_rule {
	char *partition;
	struct cpl_defaults defaults;
};

/* Attach a profile without a flag; first match wins. */
struct cpl_match_rule {
	char *job_name; /* shell pattern, fnmatch(3) */
	char *profile;
};

struct cpl_config {
	char *path;           /* the file, for messages */
	char *network_file;
	char *profile_dir;    /* default /var/lib/commplace/profiles */
	char *state_dir;      /* default /var/lib/commplace/state */
	enum cpl_mode mode;   /* default on */
	struct cpl_defaults defaults; /* policy NULL, mapping "greedyallc",
				       * min_nodes 2 */
	char *binding;        /* default "treematch" */
	bool bind_memory;     /* default false */
	char *routing;        /* NULL: as the network states */
	enum cpl_objective objective;
	int max_decision_ms;  /* default 200 */
	enum cpl_on_error missing_profile; /* default reject */
	enum cpl_on_error rank_mismatch;   /* default ignore */
	bool user_profile, user_policy, user_mapping; /* default all true */
	uint64_t seed;        /* default 1 */
	int n_partitions;
	struct cpl_partition_rule *partition;
	int n_matches;
	struct cpl_match_rule *match;
};

/*
 * Read and check a file. Unknown keys and values, keys given twice, empty
 * values, relative paths, policies, mappings, binders, routings and objectives
 * that do not exist are refused with "FILE:LINE: reason; what would be right".
 * Files that the configuration names are not opened here. NULL with err.
 */
struct cpl_config *cpl_config_load(const char *path, struct cpl_error *err);
struct cpl_config *cpl_config_parse(const char *text, size_t length,
				    const char *name, struct cpl_error *err);
void cpl_config_free(struct cpl_config *config);

/* Values in force for a partition (NULL: none); strings belong to config. */
struct cpl_defaults cpl_config_defaults(const struct cpl_config *config,
					const char *partition);

/* Profile of the first Match rule for a job name, or NULL. */
const char *cpl_config_match(const struct cpl_config *config,
			     const char *job_name);

#endif
