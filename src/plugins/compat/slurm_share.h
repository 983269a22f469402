/* SPDX-License-Identifier: GPL-2.0-or-later */
/* select/cons_tres_commplace offers this to job_submit/commplace and
 * switch/commplace in the same slurmctld, so that there is one engine: an exported
 * table that they look up by its name and take only from the same build. */
#pragma once

#include "commplace-config.h"

#include "ctld.h"
#include "site/submit.h"

#define CPLSLURM_SHARE cplslurm_share_3
#define CPLSLURM_SHARE_NAME "cplslurm_share_3"

struct cplslurm_share {
	char version[32];           /* It is PACKAGE_VERSION. */
	size_t submission, verdict; /* They are sizes. */
	/* It returns NULL before slurmctld has configured the select plugin. */
	struct cpl_engine *(*engine)(void);
	void (*submit)(struct cpl_engine *engine,
	               const struct cpl_submission *submission,
	               struct cpl_verdict *verdict);
	/* This is cplselect_step. */
	bool (*step)(struct cplslurm_step *step, struct cpl_engine_layout *out);
	/* This is cplselect_handover. */
	unsigned char *(*handover)(const struct job_record *job, size_t limit,
	                           size_t *size);
	/* This is cplselect_drain. */
	void (*drain)(void);
};

/* Return the table of the select plugin that slurmctld has loaded and *handle keeps
 * (dlclose() it), or NULL where it is not ours or of another build, which is
 * logged. */
const struct cplslurm_share *cplslurm_share_find(void **handle);

#define CPLSLURM_SHARE_INIT(get, lay_out, hand_over, end)                      \
	{                                                                      \
		.version = PACKAGE_VERSION,                                    \
		.submission = sizeof(struct cpl_submission),                   \
		.verdict = sizeof(struct cpl_verdict), .engine = (get),        \
		.submit = cpl_engine_submit, .step = (lay_out),                \
		.handover = (hand_over), .drain = (end),                       \
	}
