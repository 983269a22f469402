/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"

#include "signature/tasks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/contract.h"
#include "signature/pattern/pattern.h"

static int add_phase(const struct cpl_signature *sig,
                     const struct cpl_phase *phase, const int *task,
                     struct cpl_signature *out, struct cpl_error *err)
{
	struct cpl_phase one = *phase, *to = &out->phase[out->n_phases++];
	struct cpl_signature whole = {
	        .ranks = sig->ranks, .n_phases = 1, .phase = &one};
	struct cpl_comm *comm;

	one.weight = 1;
	*to = (struct cpl_phase){.weight = phase->weight,
	                         .time = phase->time,
	                         .compute_time = phase->compute_time};
	to->name = phase->name ? strdup(phase->name) : NULL;
	if (phase->name && !to->name)
		return cpl_fail_memory(err);
	comm = cpl_signature_total(&whole, err);
	to->comm = comm ? cpl_comm_contract(comm, task, out->ranks,
	                                    CPL_CONTRACT_INSIDE, err)
	                : NULL;
	cpl_comm_free(comm);
	return to->comm ? 0 : -1;
}

static int fill(const struct cpl_signature *sig, struct cpl_signature *out,
                const struct cpl_rank_grid *groups, struct cpl_error *err)
{
	int *task = malloc((size_t)sig->ranks * sizeof(*task)), rc = 0;

	out->name = strdup(sig->name ? sig->name : "");
	out->application = sig->application ? strdup(sig->application) : NULL;
	out->phase = calloc((size_t)sig->n_phases + 1, sizeof(*out->phase));
	if (!task || !out->name || !out->phase ||
	    (sig->application && !out->application)) {
		free(task);
		return cpl_fail_memory(err);
	}
	for (int r = 0; r < sig->ranks; r++)
		task[r] = r / (sig->ranks / out->ranks);
	for (int i = 0; i < sig->n_phases && !rc; i++)
		rc = add_phase(sig, &sig->phase[i], task, out, err);
	if (!rc && !cpl_rank_grid_contract(groups, sig->ranks / out->ranks,
	                                   &out->phase[0].groups))
		out->phase[0].groups.n = 0;
	free(task);
	return rc;
}

struct cpl_signature *cpl_signature_tasks(const struct cpl_signature *sig,
                                          int tasks, struct cpl_error *err)
{
	struct cpl_signature *out = NULL;
	struct cpl_rank_grid groups;

	if (tasks < 1 || sig->ranks % tasks ||
	    !cpl_phases_groups(sig->phase, sig->n_phases, &groups))
		return cpl_fail_null(
		        err, "its %d ranks are no processes of %d tasks",
		        sig->ranks, tasks);
	out = calloc(1, sizeof(*out));
	if (!out)
		return cpl_fail_null_memory(err);
	out->ranks = tasks;
	if (!fill(sig, out, &groups, err))
		return out;
	cpl_signature_free(out);
	return NULL;
}

bool cpl_signature_peek_groups(const char *text, size_t length)
{
	for (int i = 0; cpl_registry_at(&cpl_patterns, i); i++) {
		const struct pattern_type *type =
		        (const void *)cpl_registry_at(&cpl_patterns, i);
		char quoted[64];
		int n;

		if (!type->groups)
			continue;
		n = snprintf(quoted, sizeof(quoted), "\"%s\"", type->name);
		if (memmem(text, length, quoted, (size_t)n))
			return true;
	}
	return false;
}
