/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job_submit/commplace: whose engine judges a submission. It is that of the
 * select plugin in the same slurmctld; where SelectType is another one, an
 * engine of its own, which then looks at its files at each submission. Slurm
 * calls one at a time, under slurmctld's locks.
 */
/* Tests: * in test_job_submit* test_submit_failures. */
#ifndef CPL_PLUGINS_SUBMIT_H
#define CPL_PLUGINS_SUBMIT_H

#include <stdbool.h>

#include "site/submit.h"

/* False: there is no engine, and no verdict to be freed. */
bool cplsubmit_judge(const struct cpl_submission *submission,
                     struct cpl_verdict *verdict);
void cplsubmit_fini(void);

#endif
