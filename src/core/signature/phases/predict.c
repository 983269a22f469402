/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "signature/phases/predict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static enum cpl_machine_level level_of(const struct cpl_rank_location *a,
                                       const struct cpl_rank_location *b)
{
	if (a->node != b->node && a->router != b->router)
		return a->group == b->group ? CPL_BY_ROUTER : CPL_BY_GROUP;
	if (a->node != b->node)
		return CPL_BY_NODE;
	return a->socket == b->socket ? CPL_BY_CORE : CPL_BY_SOCKET;
}

/* This is the work of a rank in one execution. */
struct work {
	double send;    /* while messages keep it */
	double last;    /* until its last one has reached its receiver */
	double receive; /* overhead for what it receives */
	double most;    /* the most of one receive */
};

static void add_messages(const struct cpl_machine *machine,
                         enum cpl_machine_level level, double n, double bytes,
                         struct work *from, struct work *to)
{
	struct cpl_machine_costs c = cpl_machine_costs(machine, level);

	from->send += n * cpl_machine_occupancy(machine, level, bytes / n);
	from->last = fmax(from->last, c.latency + c.receive);
	to->receive += n * c.receive;
	to->most = fmax(to->most, c.receive);
}

/* This returns what each rank's messages of one execution take at the least,
 * [ranks], and the most of these. It returns NULL with err when memory is out. */
static double *transfers(const struct cpl_comm *comm,
                         const struct cpl_machine *machine,
                         const struct cpl_rank_location *place, double *most,
                         struct cpl_error *err)
{
	struct work *work = calloc((size_t)comm->ranks + 1, sizeof(*work));
	double *seconds = calloc((size_t)comm->ranks + 1, sizeof(*seconds));

	*most = 0;
	if (!work || !seconds) {
		cpl_fail_memory(err);
		cpl_free_all(seconds, work);
		return NULL;
	}
	for (int r = 0; r < comm->ranks; r++)
		for (int64_t e = comm->row[r]; e < comm->row[r + 1]; e++)
			if (comm->to[e] != r && comm->messages[e] > 0)
				add_messages(machine,
				             level_of(&place[r],
				                      &place[comm->to[e]]),
				             comm->messages[e], comm->bytes[e],
				             &work[r], &work[comm->to[e]]);
	for (int r = 0; r < comm->ranks; r++) {
		/* `last` includes the receive that its own last message waits for. */
		seconds[r] = work[r].send + work[r].last + work[r].receive -
		             work[r].most;
		*most = fmax(*most, seconds[r]);
	}
	free(work);
	return seconds;
}

/* A rank is idle while its communication exceeds its transfer. */
static int split_ranks(const struct cpl_signature *sig,
                       const struct cpl_phases *phases, int k,
                       const double *transfer, struct cpl_predicted_phase *out,
                       struct cpl_error *err)
{
	double weight = sig->phase[k].weight;

	out->rank_idle = calloc((size_t)sig->ranks, sizeof(double));
	out->rank_compute = calloc((size_t)sig->ranks, sizeof(double));
	if (!out->rank_idle || !out->rank_compute)
		return cpl_fail_memory(err);
	for (int i = 0; i < phases->events->n; i++) {
		const struct cpl_phase_rank *of = &phases->phase[k].rank[i];
		int r = phases->events->rank[i].rank;
		double idle = of->communication / weight - transfer[r];

		out->rank_idle[r] = idle > 0 ? idle : 0;
		out->rank_compute[r] = of->compute / weight;
		if (out->rank_idle[r] > out->most_idle)
			out->most_idle = out->rank_idle[r];
		if (out->waited_for < 0 ||
		    out->rank_compute[r] > out->rank_compute[out->waited_for])
			out->waited_for = r;
	}
	return 0;
}

static int predict_phase(const struct cpl_signature *sig,
                         const struct cpl_phases *phases, int k,
                         const struct cpl_machine *machine,
                         const struct cpl_run_location *here,
                         const struct cpl_run_location *there,
                         struct cpl_predicted_phase *out, struct cpl_error *err)
{
	const struct cpl_phase *p = &sig->phase[k];
	double communication, transfer, least, elsewhere;
	double *by_rank, *there_by_rank = NULL;
	int rc = 0;

	if (!p->comm)
		return cpl_fail(err,
		                "phase %s: its pattern is too large to be "
		                "predicted",
		                p->name);
	if (!(p->time > 0))
		return cpl_fail(err,
		                "phase %s: no time is stated; record with "
		                "--phases or --events",
		                p->name);
	communication = cpl_phase_communication(p);
	by_rank = transfers(p->comm, machine, here->rank, &transfer, err);
	if (!by_rank)
		return -1;
	out->network[0] = here->network ? here->network[k] : 0;
	least = transfer > out->network[0] ? transfer : out->network[0];
	elsewhere = least;
	if (there) {
		there_by_rank = transfers(p->comm, machine, there->rank,
		                          &elsewhere, err);
		rc = there_by_rank ? 0 : -1;
		out->network[1] = there->network ? there->network[k] : 0;
		if (elsewhere < out->network[1])
			elsewhere = out->network[1];
	}
	out->time = p->time;
	out->compute = p->time - communication;
	out->transfer = least < communication ? least : communication;
	out->idle = communication - out->transfer;
	/* The measured part and what the model says are put together. */
	out->elsewhere = least > 0 ? out->compute +
	                                     communication * (elsewhere / least)
	                           : p->time + elsewhere;
	if (phases && !rc)
		rc = split_ranks(sig, phases, k, by_rank, out, err);
	cpl_free_all(by_rank, there_by_rank);
	return rc;
}

int cpl_predict(const struct cpl_signature *sig,
                const struct cpl_phases *phases,
                const struct cpl_machine *machine,
                const struct cpl_run_location *here,
                const struct cpl_run_location *there,
                struct cpl_predicted_phase *out, struct cpl_error *err)
{
	memset(out, 0, sizeof(*out) * (size_t)sig->n_phases);
	for (int k = 0; k < sig->n_phases; k++)
		out[k].waited_for = -1;
	for (int k = 0; k < sig->n_phases; k++)
		if (predict_phase(sig, phases, k, machine, here, there, &out[k],
		                  err))
			return -1;
	return 0;
}

void cpl_predict_free(struct cpl_predicted_phase *phase, int n)
{
	for (int k = 0; k < n; k++) {
		cpl_free_all(phase[k].rank_idle, phase[k].rank_compute);
	}
}

bool cpl_predict_waits(const struct cpl_predicted_phase *phase, int rank)
{
	double idle = phase->rank_idle ? phase->rank_idle[rank] : 0;

	return idle > phase->most_idle / 2 && idle > phase->time / 20;
}

struct cpl_phase_times cpl_phase_times(const char *name, double weight,
                                       double times)
{
	enum cpl_phase_kind kind = cpl_phase_kind_of(name);
	bool edge = kind == CPL_PHASE_START || kind == CPL_PHASE_END;
	bool loop = kind == CPL_PHASE_START_LOOP || kind == CPL_PHASE_END_LOOP;
	bool rest = kind == CPL_PHASE_REST;
	struct cpl_phase_times of = {1, 1, 1};

	if (edge)
		return of;
	if (rest || (weight > 1 && !loop))
		of.likely = times;
	of.least = rest || loop || weight <= 1 ? fmin(1, times) : times;
	of.most = rest || loop || weight <= 1 ? fmax(1, times) : times;
	return of;
}

struct cpl_foreseen cpl_foresee(const struct cpl_signature *sig, double times)
{
	struct cpl_foreseen sum = {0, 0, 0};

	for (int k = 0; k < sig->n_phases; k++) {
		const struct cpl_phase *p = &sig->phase[k];
		struct cpl_phase_times of =
		        cpl_phase_times(p->name, p->weight, times);

		sum.time += of.likely * p->weight * p->time;
		sum.low += of.least * p->weight * p->time;
		sum.high += of.most * p->weight * p->time;
	}
	return sum;
}
