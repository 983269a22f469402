/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "simulate/trace.h"

#define MOST_EVENTS 1e5 /* beyond, they are right but take long */
#define STEPS 300

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Events of nodes[0 .. n) with all rounds. */
static double events_of(const struct cpl_run_node *node, int64_t n)
{
	double sum = 0;

	for (int64_t i = 0; i < n && sum <= MOST_EVENTS; i += node[i].size)
		sum += node[i].kind >= 0
		               ? 1
		               : (node[i].rounds / node[i].entries + 1) *
		                         (1 + events_of(&node[i + 1],
		                                        node[i].size - 1));
	return sum;
}

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
	double events = 0;
	bool failed = false;

	for (int i = 0; e && i < e->n; i++)
		events += events_of(e->rank[i].node, e->rank[i].n_nodes);
	if (e && events <= MOST_EVENTS)
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
