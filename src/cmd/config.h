/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of `commplace config`. */
#pragma once

#include "cmd.h"
#include "learn/learned.h"
#include "routing/routing.h"
#include "site/config.h"
#include "slurm_conf.h"
#include "slurm_reader.h"

struct site_profile {
	char *name;
	int ranks, n_phases;
};

/* The configuration and what it names, all loaded. */
struct site_check {
	/* Takes each problem. */
	void (*say)(void *arg, const char *text);
	void *arg;
	int n_problems;
	struct cpl_config *config;
	struct cpl_network *net;
	const struct cpl_routing *routing;
	struct cpl_learned *learned; /* TimeModel, NULL: none */
	int n_hosts; /* ports with a node */
	int n_profiles;
	struct site_profile *profile;
	struct slurm_conf *slurm; /* NULL: no memory */
	/* Who reads users' profiles; NULL: slurmctld has their rights, or it is
	 * not known. */
	struct slurm_reader *reader;
	int homes, homes_shut;
	struct cpl_error shut; /* the first of them */
};

/* Names that Slurm has, as the options say; NULL: they are not compared. */
struct slurm_has {
	const char *nodes, *qos, *accounts;
};

/*
 * Load and check; path NULL: the site's own. check->say gets a line for every
 * problem, all else of it is set. Where slurm.conf can be read, partitions, the
 * owner of StateDir and who reads users' profiles are compared with it. 0, or -1
 * where there are problems; site_check_release it in either case.
 */
int site_check_run(struct site_check *check, const char *path,
                   const struct slurm_has *has);
void site_check_release(struct site_check *check);

/* Both take a check that succeeded. */
json_t *site_check_json(const struct site_check *check);
int site_check_print(const struct site_check *check);

/* UserMayOverride of these CPL_MAY_...; may be in text. */
#define CONFIG_MAY_MAX 40
const char *config_may(int may, char text[CONFIG_MAY_MAX]);

/* `commplace config for`: the job that is asked about. */
struct config_for {
	const char *path; /* of commplace.conf, NULL: the site's own */
	char **word;      /* "partition=large" ..., or one job's number */
	int n_words;
	const char *profile, *policy, *mapping; /* its options, or NULL */
};
/* Prints the settings that hold for the job, and where each is from. Returns an
 * exit code. */
int config_for(const struct cmd *self, const struct config_for *what,
               bool json);
