/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What select/cons_tres_commplace offers to job_submit/commplace in the same
 * slurmctld, so that there is one engine: an exported table, which the other
 * plugin looks up by its name. Both are taken only from the same build.
 */
#ifndef CPL_COMPAT_SLURM_SHARE_H
#define CPL_COMPAT_SLURM_SHARE_H

#include "commplace-config.h"

#include "site/submit.h"

#define CPLSLURM_SHARE cplslurm_share_1
#define CPLSLURM_SHARE_NAME "cplslurm_share_1"

struct cplslurm_share {
	char version[32];           /* PACKAGE_VERSION */
	size_t submission, verdict; /* sizes */
	/* NULL before slurmctld has configured the select plugin. */
	struct cpl_engine *(*engine)(void);
	void (*submit)(struct cpl_engine *engine,
	               const struct cpl_submission *submission,
	               struct cpl_verdict *verdict);
};

#define CPLSLURM_SHARE_INIT(get)                                               \
	{                                                                      \
		.version = PACKAGE_VERSION,                                    \
		.submission = sizeof(struct cpl_submission),                   \
		.verdict = sizeof(struct cpl_verdict), .engine = (get),        \
		.submit = cpl_engine_submit,                                   \
	}

#endif
