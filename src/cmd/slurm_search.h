/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the configuration of Slurm, and with it commplace.conf, is on this
 * host: as Slurm's own commands look for it. */
#pragma once

#include "base/error.h"

/* Where to look; what is NULL or empty does not exist. */
struct slurm_search {
	const char *env;      /* $SLURM_CONF, a file */
	const char *built_in; /* the folder that this Slurm was built with */
	const char *fetched;  /* sackd's folder and, by a link, slurmd's */
	const char *cache;    /* slurmd's, where that link is not */
	const char *server;   /* $SLURM_CONF_SERVER */
	/* slurm.conf as slurmctld names it on its own host, to free(). NULL
	 * with err. */
	char *(*ask)(struct cpl_error *err);
};

/* Of this process and the Slurm that commplace was configured for. */
struct slurm_search slurm_search_here(void);

/*
 * slurm.conf: $SLURM_CONF, else the first that is there of the built-in folder
 * and of what sackd or a slurmd without files of its own has fetched. To
 * free(). NULL: there is none here, slurmctld has it (server), or without
 * memory.
 */
char *slurm_search_conf(const struct slurm_search *search);

/*
 * commplace.conf: next to slurm.conf. slurmctld sends its nodes Slurm's own
 * files only, so where those were fetched, or are yet to be, it is the first
 * that is there of those next to them, in the built-in folder, and next to
 * slurmctld's own slurm.conf, which other hosts may see by the same path. Else
 * the one of the built-in folder, which is not there, with what slurmctld's
 * answer lacked in err. To free(); NULL without memory.
 */
char *slurm_search_site(const struct slurm_search *search,
                        struct cpl_error *err);
