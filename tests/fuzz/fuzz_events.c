/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <stdlib.h>

#include "signature/phases/phases.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cpl_phase_options options = CPL_PHASE_OPTIONS;
	struct cpl_error err = {""};
	struct cpl_run_events *e = cpl_run_events_parse(data, size, "f", &err);
	struct cpl_signature *sig;
	struct cpl_phases *p;

	if (!e) {
		if (!err.text[0])
			abort();
		return 0;
	}
	/* Many ranks are right, but take seconds. */
	p = e->ranks < 4096 ? cpl_phases_find(e, &options, &err) : NULL;
	sig = p ? cpl_phases_signature(e, p, "n", NULL, &err) : NULL;
	for (int k = 0; sig && k < sig->n_phases; k++) {
		const struct cpl_phase *phase = &sig->phase[k];

		if (!(phase->weight > 0) || !(phase->time > 0) ||
		    !(phase->compute_time >= 0) ||
		    phase->compute_time > phase->time * (1 + 1e-9) ||
		    phase->comm->ranks != e->ranks)
			abort();
		for (int64_t i = 0; i < phase->comm->n_entries; i++)
			if (!(phase->comm->bytes[i] >= 0) ||
			    !(phase->comm->messages[i] >= 0))
				abort();
	}
	for (int k = 0; p && k < p->n; k++) {
		struct cpl_phase_call *calls;

		if (cpl_phase_calls(p, k, 0, &calls, &err) < 0)
			abort();
		free(calls);
	}
	cpl_signature_free(sig);
	cpl_phases_free(p);
	cpl_run_events_free(e);
	return 0;
}
