/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages between ranks: sends meet receives in the order in which both were
 * posted for a pair of ranks and a context. Small messages go at once; others
 * when both are there, after a request and an answer.
 */
#include <stdlib.h>

#include "base/array.h"
#include "simulate/simulate_internal.h"

#define FIRST_BUCKETS 1024

static int fill(struct cpl_waiting *w, uint32_t buckets)
{
	size_t chains = 2 * (size_t)buckets;

	w->first = malloc(chains * sizeof(*w->first));
	w->last = malloc(chains * sizeof(*w->last));
	if (!w->first || !w->last)
		return -1;
	for (size_t i = 0; i < chains; i++)
		w->first[i] = -1;
	w->mask = buckets - 1;
	return 0;
}

int cpl_sim_transfers_init(struct cpl_simulation *sim)
{
	sim->free_transfer = -1;
	sim->free_request = -1;
	return fill(&sim->waiting, FIRST_BUCKETS) ? cpl_fail_memory(sim->err)
	                                          : 0;
}

void cpl_sim_transfers_free(struct cpl_simulation *sim)
{
	cpl_free_all(sim->waiting.first, sim->waiting.last, sim->transfer,
	             sim->request);
}

static int new_transfer(struct cpl_simulation *sim, struct cpl_transfer t)
{
	int i = sim->free_transfer;

	if (i >= 0) {
		sim->free_transfer = sim->transfer[i].next;
	} else {
		if (sim->n_transfers == INT32_MAX ||
		    cpl_array_grow(&sim->transfer, sim->n_transfers,
		                   sizeof(*sim->transfer), sim->err)) {
			cpl_sim_fail_memory(sim);
			return -1;
		}
		i = sim->n_transfers++;
	}
	sim->transfer[i] = t;
	return i;
}

static void free_transfer(struct cpl_simulation *sim, int t)
{
	sim->transfer[t].next = sim->free_transfer;
	sim->free_transfer = t;
}

/* The chain of sends (or receives) between two ranks. For a rank that receives
 * from any, all are in one chain, in their order. */
static size_t chain_of(const struct cpl_simulation *sim, int from, int to,
                       bool sends)
{
	const struct cpl_sim_job_state *job = &sim->job[sim->rank_job[to]];

	if (job->trace && cpl_trace_takes_any(job->trace, to - job->first))
		from = CPL_OP_ANY;
	return 2 * (size_t)(cpl_sim_hash(from, to) & sim->waiting.mask) + sends;
}

static void append(struct cpl_simulation *sim, struct cpl_waiting *w, int t)
{
	struct cpl_transfer *transfer = &sim->transfer[t];
	size_t b = chain_of(sim, transfer->from, transfer->to,
	                    transfer->flags & CPL_TRANSFER_SENT);

	transfer->next = -1;
	if (w->first[b] < 0)
		w->first[b] = t;
	else
		sim->transfer[w->last[b]].next = t;
	w->last[b] = t;
	w->n++;
}

/* Doubles the chains; transfers of one pair keep their order. */
static void widen(struct cpl_simulation *sim)
{
	struct cpl_waiting *w = &sim->waiting, old = *w;

	if (w->mask >= UINT32_MAX / 4 || w->n <= w->mask)
		return;
	*w = (struct cpl_waiting){0};
	if (fill(w, 2 * (old.mask + 1))) {
		cpl_sim_fail_memory(sim);
		cpl_free_all(w->first, w->last);
		*w = old;
		return;
	}
	for (size_t b = 0; b < 2 * ((size_t)old.mask + 1); b++)
		for (int t = old.first[b], next; t >= 0; t = next) {
			next = sim->transfer[t].next;
			append(sim, w, t);
		}
	cpl_free_all(old.first, old.last);
}

static void wait_for_other(struct cpl_simulation *sim, int t)
{
	append(sim, &sim->waiting, t);
	widen(sim);
}

/* May the send of `from` and the receive meet? */
static bool fits(struct cpl_simulation *sim, int send_from, int receive_from,
                 int to)
{
	const struct cpl_sim_job_state *job = &sim->job[sim->rank_job[to]];

	if (receive_from != CPL_OP_ANY)
		return receive_from == send_from;
	return cpl_trace_give_any(job->trace, send_from - job->first,
	                          to - job->first);
}

/* Takes out the first that waits for what comes now: a send or receive, as
 * `comes` says; -1: none. */
static int take_waiting(struct cpl_simulation *sim, int from, int to,
                        int context, unsigned comes)
{
	struct cpl_waiting *w = &sim->waiting;
	bool sends = comes & CPL_TRANSFER_SENT;
	size_t b = chain_of(sim, from, to, !sends);

	for (int t = w->first[b], before = -1; t >= 0;
	     before = t, t = sim->transfer[t].next) {
		struct cpl_transfer *transfer = &sim->transfer[t];

		if (transfer->to != to || transfer->context != context ||
		    !fits(sim, sends ? from : transfer->from,
		          sends ? transfer->from : from, to))
			continue;
		if (before < 0)
			w->first[b] = transfer->next;
		else
			sim->transfer[before].next = transfer->next;
		if (w->last[b] == t)
			w->last[b] = before;
		w->n--;
		return t;
	}
	return -1;
}

/* `by` asked for it: the sender, or who gets what another one has. */
static void begin(struct cpl_simulation *sim, int t, int by, bool asks)
{
	const struct cpl_sim_options *o = sim->options;
	struct cpl_transfer *transfer = &sim->transfer[t];
	bool inside =
	        sim->rank[transfer->from].node == sim->rank[transfer->to].node;
	double at = cpl_sim_software_end(sim, by, transfer);

	transfer->flags |= CPL_TRANSFER_STARTED;
	cpl_sim_account(sim, transfer->from);
	cpl_sim_account(sim, transfer->to);
	sim->rank[transfer->from].flying++;
	sim->rank[transfer->to].flying++;
	if (inside) {
		at += cpl_sim_inside_seconds(sim, transfer);
		cpl_events_add(&sim->events, at, CPL_EVENT_ARRIVED,
		               (uint32_t)t);
		return;
	}
	if (asks)
		at += 2 * cpl_sim_path_latency(sim, transfer);
	if (!(transfer->bytes > 0) || o->level->flags & CPL_SIM_LATENCY_FIRST)
		at += cpl_sim_path_latency(sim, transfer);
	if (!(transfer->bytes > 0))
		cpl_events_add(&sim->events, at, CPL_EVENT_ARRIVED,
		               (uint32_t)t);
	else if (at > sim->now)
		cpl_events_add(&sim->events, at, CPL_EVENT_START, (uint32_t)t);
	else
		sim->options->level->start(sim, t);
}

static void send_alone(struct cpl_simulation *sim, int rank, int from, int to,
                       const struct cpl_op *op)
{
	struct cpl_transfer alone = {
	        .from = from,
	        .to = to,
	        .flags = CPL_TRANSFER_SENT | CPL_TRANSFER_RECEIVED |
	                 CPL_TRANSFER_ALONE,
	        .bytes = op->amount,
	        .count = op->count,
	        .posted = sim->now,
	        .send_request = CPL_REQUEST_NONE,
	        .receive_request = CPL_REQUEST_NONE};
	int request = cpl_sim_hold(sim, rank, op->flags);
	int t;

	if (rank == from)
		alone.send_request = request;
	else
		alone.receive_request = request;
	t = new_transfer(sim, alone);
	if (t >= 0)
		begin(sim, t, rank, false);
}

void cpl_sim_send(struct cpl_simulation *sim, int rank, int from, int to,
                  const struct cpl_op *op)
{
	bool small = op->flags & (CPL_OP_EAGER | CPL_OP_BUFFERED) ||
	             (!(op->flags & CPL_OP_SYNCHRONOUS) &&
	              op->amount <= sim->options->eager * op->count);
	struct cpl_transfer *transfer;
	int t;

	if (op->flags & CPL_OP_ALONE) {
		send_alone(sim, rank, from, to, op);
		return;
	}
	t = take_waiting(sim, from, to, op->context, CPL_TRANSFER_SENT);
	if (t < 0) {
		t = new_transfer(sim, (struct cpl_transfer){
		                              .from = from,
		                              .to = to,
		                              .context = op->context,
		                              .flags = CPL_TRANSFER_SENT});
		if (t < 0)
			return;
		wait_for_other(sim, t);
	}
	transfer = &sim->transfer[t];
	transfer->flags |= CPL_TRANSFER_SENT;
	transfer->from = from; /* the receive may have been from any */
	transfer->bytes = op->amount;
	transfer->count = op->count;
	transfer->posted = sim->now;
	transfer->send_request =
	        op->flags & CPL_OP_BUFFERED
	                ? CPL_REQUEST_NONE
	                : cpl_sim_hold(sim, rank, op->flags);
	if (small || transfer->flags & CPL_TRANSFER_RECEIVED)
		begin(sim, t, from, !small);
}

void cpl_sim_receive(struct cpl_simulation *sim, int rank, int from,
                     const struct cpl_op *op)
{
	int t = take_waiting(sim, from, rank, op->context,
	                     CPL_TRANSFER_RECEIVED);

	if (t >= 0 && sim->transfer[t].flags & CPL_TRANSFER_DELIVERED) {
		free_transfer(sim, t);
		return;
	}
	if (t < 0) {
		t = new_transfer(sim, (struct cpl_transfer){
		                              .from = from,
		                              .to = rank,
		                              .context = op->context,
		                              .flags = CPL_TRANSFER_RECEIVED});
		if (t < 0)
			return;
		wait_for_other(sim, t);
	}
	sim->transfer[t].receive_request = cpl_sim_hold(sim, rank, op->flags);
	sim->transfer[t].flags |= CPL_TRANSFER_RECEIVED;
	if ((sim->transfer[t].flags &
	     (CPL_TRANSFER_SENT | CPL_TRANSFER_STARTED)) == CPL_TRANSFER_SENT)
		begin(sim, t, sim->transfer[t].from, true);
}

void cpl_sim_sent(struct cpl_simulation *sim, int t)
{
	cpl_sim_release(sim, sim->transfer[t].from,
	                sim->transfer[t].send_request);
}

/* The receiver's software is not free yet, or takes its time. */
static bool wait_for_software(struct cpl_simulation *sim, int t)
{
	struct cpl_transfer *transfer = &sim->transfer[t];
	double at;

	if (sim->options->queue != CPL_SIM_QUEUE_BOTH ||
	    transfer->flags & (CPL_TRANSFER_ALONE | CPL_TRANSFER_TAKEN))
		return false;
	transfer->flags |= CPL_TRANSFER_TAKEN;
	at = cpl_sim_software_end(sim, transfer->to, transfer);
	if (at > sim->now)
		cpl_events_add(&sim->events, at, CPL_EVENT_TAKEN, (uint32_t)t);
	return at > sim->now;
}

void cpl_sim_delivered(struct cpl_simulation *sim, int t)
{
	struct cpl_transfer *transfer = &sim->transfer[t];

	if (wait_for_software(sim, t))
		return;
	if (transfer->count >
	    CPL_SIM_MAX_COUNT - (double)sim->result->messages) {
		cpl_fail(sim->err, "more than %.0f messages",
		         CPL_SIM_MAX_COUNT);
		sim->failed = true;
		return;
	}
	cpl_sim_account(sim, transfer->from);
	cpl_sim_account(sim, transfer->to);
	sim->rank[transfer->from].flying--;
	sim->rank[transfer->to].flying--;
	sim->result->messages += (int64_t)transfer->count;
	cpl_latencies_add(&sim->latencies, sim->now - transfer->posted,
	                  (int64_t)transfer->count);
	if (sim->options->arrived)
		sim->options->arrived(sim->options->arg, transfer->posted,
		                      sim->now, transfer->count);
	transfer->flags |= CPL_TRANSFER_DELIVERED;
	if (!(transfer->flags & CPL_TRANSFER_RECEIVED))
		return;
	cpl_sim_release(sim, transfer->to, transfer->receive_request);
	free_transfer(sim, t);
}
