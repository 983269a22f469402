/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "simulate/program.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "signature/rounds.h"
#include "signature/rows.h"

/* The stages of an execution. */
enum stage { ENTER, COMPUTE, SENDS, RECEIVES, WAIT };

static int find_senders(struct cpl_program_phase *phase, int ranks,
                        struct cpl_error *err)
{
	const struct cpl_comm *comm = phase->comm;

	phase->row = calloc((size_t)ranks + 2, sizeof(*phase->row));
	phase->from =
	        malloc(((size_t)comm->n_entries + 1) * sizeof(*phase->from));
	if (!phase->row || !phase->from)
		return cpl_fail_memory(err);
	for (int64_t i = 0; i < comm->n_entries; i++)
		phase->row[comm->to[i] + 2]++;
	for (int r = 0; r < ranks; r++)
		phase->row[r + 2] += phase->row[r + 1];
	for (int r = 0; r < ranks; r++)
		for (int64_t i = comm->row[r]; i < comm->row[r + 1]; i++)
			phase->from[phase->row[comm->to[i] + 1]++] = r;
	return 0;
}

static int make_phase(struct cpl_program_phase *phase,
                      const struct cpl_phase *of, int ranks, int executions,
                      struct cpl_error *err)
{
	struct cpl_rows *rows;

	phase->of = of;
	phase->executions =
	        of->weight < executions ? (int)ceil(of->weight) : executions;
	phase->rounds = cpl_phase_rounds(of);
	if (phase->rounds)
		return 0;
	phase->comm = of->comm;
	if (!of->comm) {
		rows = cpl_rows_of_phase(of, ranks, err);
		phase->own = rows ? cpl_rows_comm(rows, err) : NULL;
		phase->comm = phase->own;
		cpl_rows_free(rows);
	}
	return phase->comm ? find_senders(phase, ranks, err) : -1;
}

int cpl_program_init(struct cpl_program *program,
                     const struct cpl_signature *sig, const char *phase,
                     int executions, struct cpl_error *err)
{
	*program = (struct cpl_program){.ranks = sig->ranks};
	program->phase =
	        calloc((size_t)sig->n_phases + 1, sizeof(*program->phase));
	if (!program->phase)
		return cpl_fail_memory(err);
	for (int i = 0; i < sig->n_phases; i++) {
		const struct cpl_phase *of = &sig->phase[i];

		if (phase && strcmp(phase, of->name))
			continue;
		if (make_phase(&program->phase[program->n_phases++], of,
		               sig->ranks, executions, err))
			return cpl_fail_prefix(err, "phase %.60s: ", of->name);
	}
	if (phase && !program->n_phases)
		return cpl_fail(err, "signature %.60s has no phase %.60s",
		                sig->name, phase);
	return 0;
}

void cpl_program_free(struct cpl_program *program)
{
	for (int i = 0; i < program->n_phases; i++) {
		cpl_comm_free(program->phase[i].own);
		cpl_free_all(program->phase[i].row, program->phase[i].from);
	}
	free(program->phase);
	*program = (struct cpl_program){0};
}

/* Makes the rank's next send (or receive) of a phase or round. False: none. */
static bool message(const struct cpl_program_phase *phase, int rank,
                    const struct cpl_op_cursor *at, bool send,
                    struct cpl_op *op)
{
	struct cpl_exchange x;
	int64_t i;

	op->kind = send ? CPL_OP_SEND : CPL_OP_RECEIVE;
	op->count = 1;
	if (phase->rounds) {
		x = cpl_phase_round(phase->of, at->round, rank);
		op->peer = send ? x.to : x.from;
		op->amount = x.bytes;
		return at->entry == 0 && op->peer >= 0;
	}
	if (send) {
		i = phase->comm->row[rank] + at->entry;
		if (i >= phase->comm->row[rank + 1])
			return false;
		op->peer = phase->comm->to[i];
		op->amount = phase->comm->bytes[i];
		op->count = fmax(1, ceil(phase->comm->messages[i]));
		return true;
	}
	i = phase->row[rank] + at->entry;
	op->peer = i < phase->row[rank + 1] ? phase->from[i] : -1;
	return op->peer >= 0;
}

/* Goes on from the last wait of a round. */
static void go_on(const struct cpl_program_phase *phase,
                  struct cpl_op_cursor *at)
{
	at->entry = 0;
	at->stage = SENDS;
	if (++at->round < phase->rounds)
		return;
	at->round = 0;
	at->stage = COMPUTE;
	if (++at->execution < phase->executions)
		return;
	at->execution = 0;
	at->stage = ENTER;
	at->phase++;
}

struct cpl_op cpl_program_next(const struct cpl_program *program, int rank,
                               struct cpl_op_cursor *at)
{
	struct cpl_op op = {.kind = CPL_OP_END};

	while (at->phase < program->n_phases) {
		const struct cpl_program_phase *phase =
		        &program->phase[at->phase];
		bool sends = at->stage == SENDS;

		switch (at->stage) {
		case ENTER:
			at->stage = COMPUTE;
			op.kind = CPL_OP_PHASE;
			op.peer = at->phase;
			return op;
		case COMPUTE:
			at->stage = SENDS;
			op.amount = phase->of->rank_compute
			                    ? phase->of->rank_compute[rank]
			                    : phase->of->compute_time;
			if (!(op.amount > 0))
				break;
			op.kind = CPL_OP_COMPUTE;
			return op;
		case SENDS:
		case RECEIVES:
			if (message(phase, rank, at, sends, &op)) {
				at->entry++;
				return op;
			}
			at->entry = 0;
			at->stage++;
			break;
		default:
			go_on(phase, at);
			op.kind = CPL_OP_WAIT;
			return op;
		}
	}
	op.kind = CPL_OP_END;
	return op;
}
