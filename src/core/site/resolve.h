/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a job gets and why: the only place that weighs the user's options
 * against commplace.conf. No file is opened: whether a profile exists is for
 * the caller to find out.
 */
#pragma once

#include "network/network.h"
#include "placement/wish.h"
#include "site/config.h"

/* A job as the rules see it. Texts may be NULL: not given, or not known yet. */
struct cpl_job_facts {
	int64_t id; /* for its record only */
	uint32_t uid, gid;
	bool has_uid; /* both are known, for rules of users and their files */
	/* What the user asked for, untrusted; profile "none": none, not even
	 * that of a Match rule. */
	const char *profile, *policy, *mapping;
	bool profile_yields; /* to one, or none, of a Match rule */
	const char *name;
	const char *qos, *account;
	const char *command; /* its path, as the scheduler has it */
	int nodes;           /* that it gets, 0: not known */
	const char *partition; /* or several, "a,b": the first that is not left
	                        * to Slurm counts */
};

enum cpl_source {
	CPL_FROM_BUILT_IN,
	CPL_FROM_SITE,      /* a general line of commplace.conf */
	CPL_FROM_PARTITION, /* a Partition line */
	CPL_FROM_MATCH,     /* a Match line */
	CPL_FROM_USER,      /* an option of the submission */
	CPL_FROM_OFF,       /* switched off: Mode, or the partition's policy */
};

struct cpl_choice {
	const char *value; /* of facts or configuration; NULL: none */
	enum cpl_source source;
	int line; /* of commplace.conf, 0: none */
};

/* Where a number is from. */
struct cpl_origin {
	enum cpl_source source;
	int line;
};

struct cpl_resolved {
	enum cpl_mode mode;
	struct cpl_choice profile;
	/* A rule gives it, whether the user names it, too: whoever's file it is. */
	bool profile_given;
	struct cpl_choice policy; /* NULL: the stock answer is asked for */
	/* Of the profile's ranks or, without one, a mapper that needs none; NULL:
	 * ranks stay in Slurm's order. */
	struct cpl_choice mapping;
	struct cpl_choice binding; /* NULL: left to Slurm */
	bool bind_memory;
	const char *near_nic; /* as in struct cpl_config */
	struct cpl_choice keep_whole; /* units; NULL: none */
	/* The same as what they name, as far as there is such a thing and the
	 * network has it; with objective, weights and price. */
	struct cpl_wish wish;
	struct cpl_choice record; /* see cpl_record_name; NULL: not recorded */
	int record_one_in;
	enum cpl_order_reaches order_reaches;
	int segment; /* 1: jobs are wished the one that their signatures imply */
	int trial; /* percent of the jobs that stay stock */
	int min_nodes;
	int max_decision_ms;
	int user_may; /* CPL_MAY_... */
	struct cpl_origin mode_from, objective_from, min_nodes_from,
	        max_decision_from, user_may_from, keep_price_from,
	        record_one_in_from, order_reaches_from, trial_from,
	        segment_from;
	/* A rule asks for something of the job that is not known yet: other
	 * values may hold later, another profile among them. */
	bool open, profile_open;
	const char *partition; /* whose line counts, not terminated; or NULL */
	int partition_length;
	/* A reason to refuse the submission, else "". The values then are those
	 * without the refused option; one that is no policy's or mapper's name
	 * stays, for the decision to name it. */
	struct cpl_error refusal;
	/* Something the user should know, else "". */
	struct cpl_error note;
};

/*
 * net (may be NULL) tells which policies and units there are. O(rules of the
 * configuration).
 */
void cpl_resolve(const struct cpl_config *config, const struct cpl_network *net,
                 const struct cpl_job_facts *job, struct cpl_resolved *out);

/* Its profile and binding alone, as a node sees them: names of policies and mappings
 * are not looked at. The same. */
void cpl_resolve_binding(const struct cpl_config *config,
                         const struct cpl_job_facts *job,
                         struct cpl_resolved *out);

/* Mode, policy (CPL_NONE: none), mapping and MinNodes as the lines of a
 * partition (NULL: of all) say, Match lines left out. */
void cpl_resolve_defaults(const struct cpl_config *config,
                          const char *partition, struct cpl_resolved *out);
