/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "benefit/benefit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct cpl_gain *g)
{
	if (g->known && !isfinite(g->effect))
		abort();
	if (g->bounded && !(g->low <= g->gain && g->gain <= g->high))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cpl_error err = {""};
	struct cpl_trial_jobs jobs = {.others = size % 2};
	struct cpl_benefit b;

	if (cpl_trial_jobs_parse(&jobs, (const char *)data, size, "f", &err)) {
		if (!err.text[0])
			abort();
		cpl_trial_jobs_free(&jobs);
		return 0;
	}
	if (!cpl_benefit_make(&b, &jobs, 0.05, &err)) {
		for (int64_t i = 0; i < b.n_groups; i++)
			for (int m = 0; m < CPL_MEASURES; m++)
				check(&b.group[i].measure[m]);
		for (int m = 0; m < CPL_MEASURES; m++)
			check(&b.overall.measure[m]);
		check(&b.beside);
	}
	cpl_benefit_free(&b);
	cpl_trial_jobs_free(&jobs);
	return 0;
}
