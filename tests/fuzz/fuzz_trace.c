/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "simulate/trace.h"

#define MOST_CALLS 1e5 /* beyond, they are right but take long */
#define STEPS 300

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct cpl_op *op, int ranks)
{
	switch (op->kind) {
	case CPL_OP_SEND:
	case CPL_OP_GET:
		if (!(op->amount >= 0) || !(op->count >= 1))
			abort();
		/* fall through */
	case CPL_OP_RECEIVE:
		if (op->peer >= ranks || op->peer < CPL_OP_ANY)
			abort();
		break;
	default:
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cpl_error err = {""};
	struct cpl_run_events *e = cpl_run_events_parse(data, size, "f", &err);
	struct cpl_trace *t = NULL;
	bool failed = false;

	if (e && cpl_trace_size(e) <= MOST_CALLS)
		t = cpl_trace_new(e, &err);
	for (int step = 0; t && !failed && step < STEPS; step++)
		for (int rank = 0; rank < e->ranks && !failed; rank++) {
			struct cpl_op op;

			failed = cpl_trace_next(t, rank, &op, &err);
			if (!failed)
				check(&op, e->ranks);
		}
	if (failed && !err.text[0])
		abort();
	cpl_trace_free(t);
	cpl_run_events_free(e);
	return 0;
}
