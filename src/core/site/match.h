/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which jobs a Match line of commplace.conf is for. */
#pragma once

#include "site/resolve.h"

enum cpl_fit {
	CPL_FITS_NOT,
	CPL_MAY_FIT, /* a fact that a condition asks for is not known */
	CPL_FITS,
};

/* Is the rule for this job in this partition (NULL: not known)? It knows the
 * users that cpl_config_find_users has found. O(conditions). */
enum cpl_fit cpl_match_fits(const struct cpl_match_rule *rule,
                            const struct cpl_job_facts *job,
                            const char *partition);

/* The user of that name, or of that number where nobody has it as a name: 0; 1:
 * there is none; -1: memory. Asks the system's user database. */
int cpl_match_user(const char *name, uint32_t *uid);
