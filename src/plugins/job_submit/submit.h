/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This finds the engine that judges a submission in job_submit/commplace. It is
 * that of the select plugin in the same slurmctld; if SelectType is another one, it
 * is an engine of its own, which then checks its files at each submission. Slurm
 * calls one at a time, under slurmctld's locks. */
/* Tests: * in test_job_submit* test_submit_failures. */
#pragma once

#include <stdbool.h>

#include "site/submit.h"

/* This returns false if there is no engine, and no verdict to be freed. */
bool cplsubmit_judge(const struct cpl_submission *submission,
                     struct cpl_verdict *verdict);
void cplsubmit_fini(void);
