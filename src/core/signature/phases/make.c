/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "signature/phases/phases.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "signature/phases/phases_internal.h"

/* This makes a call for each node of the phase that is no mere round of a loop;
 * row[node] is its call. It returns how many, or -1 with err. */
static int list_calls(const struct cpl_phases *phases, int phase, int i,
                      int *row, struct cpl_phase_call **calls,
                      struct cpl_error *err)
{
	const struct cpl_run_rank *rank = &phases->events->rank[i];
	const struct phase_rank_segments *s = &phases->segments[i];
	int n = 0;

	for (int64_t at = 0; at < rank->n_nodes; at++) {
		const struct cpl_run_kind *k;

		row[at] = -1;
		if (rank->node[at].kind < 0 || s->as_node[at] != at ||
		    phase_of_node(s, at) != phase)
			continue;
		if (cpl_array_grow(calls, n, sizeof(**calls), err))
			return -1;
		k = &rank->kind[rank->node[at].kind];
		row[at] = n;
		(*calls)[n++] = (struct cpl_phase_call){
		        .function = k->function,
		        .partner = k->n ? rank->message[k->first].peer
		                        : k->source,
		        .partners = k->n,
		};
	}
	return n;
}

int cpl_phase_calls(const struct cpl_phases *phases, int phase, int i,
                    struct cpl_phase_call **calls, struct cpl_error *err)
{
	const struct cpl_run_rank *rank = &phases->events->rank[i];
	const struct phase_rank_segments *s = &phases->segments[i];
	double rounds = phases->phase[phase].rank[i].rounds;
	int n, *row;

	*calls = NULL;
	/* These calls came from a phase that is left out, in a rank that has no
	 * round of this one. */
	if (!(rounds > 0))
		return 0;
	row = malloc(sizeof(*row) * (size_t)(rank->n_nodes + 1));
	if (!row)
		return cpl_fail_memory(err);
	n = list_calls(phases, phase, i, row, calls, err);
	for (int64_t at = 0; at < rank->n_nodes && n >= 0; at++) {
		const struct cpl_run_node *node = &rank->node[at];
		struct cpl_phase_call *call;
		const struct cpl_run_kind *k;

		if (node->kind < 0 || row[s->as_node[at]] < 0)
			continue;
		k = &rank->kind[node->kind];
		call = &(*calls)[row[s->as_node[at]]];
		call->count += node->count / rounds;
		call->bytes += (k->n ? node->bytes : k->bytes * node->count) /
		               rounds;
		call->compute += node->compute / rounds;
		call->duration += node->duration / rounds;
	}
	free(row);
	if (n < 0)
		free(*calls);
	return n;
}

/* This is a growing list of entries. */
struct event_list {
	struct cpl_comm_entry *entry;
	int64_t n;
};

static int push(struct event_list *l, int rank,
                const struct cpl_run_messages *m, double bytes, double messages,
                struct cpl_error *err)
{
	if (cpl_array_grow(&l->entry, l->n, sizeof(*l->entry), err))
		return -1;
	l->entry[l->n++] = (struct cpl_comm_entry){
	        .from = m->inward ? m->peer : rank,
	        .to = m->inward ? rank : m->peer,
	        .bytes = bytes,
	        .messages = messages,
	};
	return 0;
}

/* The events of a kind add up to this. */
struct phase_sums {
	double count, bytes;
};

/* This adds all that a phase's events of one rank sent. It takes their kinds'
 * messages in proportion, so that all phases together have all of them. */
static int add_rank(const struct cpl_phases *p, int phase, int i,
                    struct event_list *l, struct cpl_error *err)
{
	const struct cpl_run_rank *rank = &p->events->rank[i];
	struct phase_sums *sum =
	        calloc((size_t)rank->n_kinds + 1, sizeof(*sum));
	int rc = 0;

	if (!sum)
		return cpl_fail_memory(err);
	for (int64_t at = 0; at < rank->n_nodes; at++) {
		const struct cpl_run_node *node = &rank->node[at];

		if (node->kind < 0 ||
		    phase_of_node(&p->segments[i], at) != phase)
			continue;
		sum[node->kind].count += node->count;
		sum[node->kind].bytes += node->bytes;
	}
	for (int k = 0; k < rank->n_kinds && !rc; k++) {
		const struct cpl_run_kind *kind = &rank->kind[k];
		const struct cpl_run_messages *m =
		        rank->message + kind->first;
		double share = kind->events > 0 ? sum[k].count / kind->events
		                                : 0;
		double all = 0, part;

		for (int j = 0; j < kind->n; j++)
			all += m[j].bytes;
		part = all > 0 ? sum[k].bytes / all : share;
		for (int j = 0; j < kind->n && !rc && share > 0; j++)
			rc = push(l, rank->rank, &m[j], m[j].bytes * part,
			          m[j].messages * share, err);
	}
	free(sum);
	return rc;
}

static struct cpl_comm *phase_comm(const struct cpl_phases *p, int phase,
                                   struct cpl_error *err)
{
	double weight = p->phase[phase].weight;
	struct cpl_comm *comm = NULL;
	struct event_list l = {0};
	int rc = 0;

	for (int i = 0; i < p->events->n && !rc; i++)
		rc = add_rank(p, phase, i, &l, err);
	if (!rc)
		comm = cpl_comm_build(p->events->ranks, l.entry, l.n, err);
	for (int64_t e = 0; comm && e < comm->n_entries; e++) {
		comm->bytes[e] /= weight;
		comm->messages[e] /= weight;
	}
	free(l.entry);
	return comm;
}

static int add_totals(const struct cpl_run_events *events, struct event_list *l,
                      struct cpl_error *err)
{
	for (int i = 0; i < events->n; i++)
		for (int64_t k = 0; k < events->rank[i].n_total; k++) {
			const struct cpl_run_messages *m =
			        &events->rank[i].total[k];

			if (push(l, events->rank[i].rank, m, m->bytes,
			         m->messages, err))
				return -1;
		}
	return 0;
}

/* These are the totals without what the first n phases have. */
static struct cpl_comm *rest_comm(const struct cpl_run_events *events,
                                  const struct cpl_phase *phase, int n,
                                  struct cpl_error *err)
{
	struct cpl_comm *comm = NULL, *rest = NULL;
	struct event_list l = {0};

	if (add_totals(events, &l, err))
		goto out;
	for (int k = 0; k < n; k++) {
		const struct cpl_comm *c = phase[k].comm;

		for (int r = 0; r < c->ranks; r++)
			for (int64_t e = c->row[r]; e < c->row[r + 1]; e++) {
				struct cpl_run_messages m = {.peer = c->to[e]};

				if (push(&l, r, &m,
				         -phase[k].weight * c->bytes[e],
				         -phase[k].weight * c->messages[e],
				         err))
					goto out;
			}
	}
	comm = cpl_comm_build(events->ranks, l.entry, l.n, err);
	l.n = 0;
	for (int r = 0; comm && r < comm->ranks; r++)
		for (int64_t e = comm->row[r]; e < comm->row[r + 1]; e++) {
			/* Messages are whole numbers, so a smaller amount comes
			 * from rounding. */
			if (comm->messages[e] < 0.5)
				continue;
			l.entry[l.n++] = (struct cpl_comm_entry){
			        r, comm->to[e],
			        comm->bytes[e] < 0.5 ? 0 : comm->bytes[e],
			        comm->messages[e]};
		}
	if (comm)
		rest = cpl_comm_build(events->ranks, l.entry, l.n, err);
out:
	cpl_comm_free(comm);
	free(l.entry);
	return rest;
}

int cpl_run_events_incomplete(const struct cpl_run_events *events)
{
	int n = events->ranks - events->n;

	for (int i = 0; i < events->n; i++)
		n += events->rank[i].ended != 0;
	return n;
}

static char *recorded(const struct cpl_run_events *events)
{
	double lost = 0;
	json_t *object;
	char *text;

	for (int i = 0; i < events->n; i++)
		lost += events->rank[i].lost;
	object = json_pack("{s:s}", "tool",
	                   events->tool ? events->tool : "commplace-record");
	/* A text that is not UTF-8, as a command need not be, is left out. */
	json_object_set_new(object, "mpi", json_string(events->mpi));
	json_object_set_new(object, "date", json_string(events->date));
	json_object_set_new(object, "command", json_string(events->command));
	json_object_set_new(object, "lost_messages", json_real(lost));
	if (object && cpl_run_events_incomplete(events))
		json_object_set_new(
		        object, "incomplete_ranks",
		        json_integer(cpl_run_events_incomplete(events)));
	text = object ? json_dumps(object, 0) : NULL;
	json_decref(object);
	return text;
}

/* Without events there is one phase for all. */
static int one_phase(const struct cpl_run_events *events,
                     struct cpl_phase *phase, struct cpl_error *err)
{
	double mpi = 0;

	phase->name = strdup("run");
	phase->weight = 1;
	for (int i = 0; i < events->n; i++) {
		if (events->rank[i].time > phase->time)
			phase->time = events->rank[i].time;
		mpi += events->rank[i].mpi_time / events->n;
	}
	phase->compute_time = phase->time > mpi ? phase->time - mpi : 0;
	phase->comm = rest_comm(events, NULL, 0, err);
	return phase->comm ? 0 : -1;
}

/* This gives the seconds that each rank computes in one execution, with the phase's
 * mean, where a rank has over a fiftieth more than the mean. It returns 0, or -1. */
static int compute_of_ranks(const struct cpl_phases *p, int k,
                            struct cpl_phase *phase, struct cpl_error *err)
{
	const struct cpl_found_phase *found = &p->phase[k];
	double mean = 0, most = 0, *of;
	int n = 0;

	for (int i = 0; i < p->events->n; i++) {
		if (!p->events->rank[i].has_events)
			continue;
		mean += found->rank[i].compute / found->weight;
		most = fmax(most, found->rank[i].compute / found->weight);
		n++;
	}
	mean /= n;
	if (most - mean <= 0.02 * found->compute)
		return 0;
	of = malloc(sizeof(*of) * (size_t)p->events->ranks);
	if (!of)
		return cpl_fail_memory(err);
	for (int r = 0; r < p->events->ranks; r++)
		of[r] = found->compute;
	/* The rest has more than its events tell of. */
	for (int i = 0; i < p->events->n; i++)
		if (p->events->rank[i].has_events)
			of[p->events->rank[i].rank] = fmax(
			        0, found->compute - mean +
			                   found->rank[i].compute /
			                           found->weight);
	phase->rank_compute = of;
	return 0;
}

static int make_phase(const struct cpl_phases *p, int k,
                      struct cpl_phase *phase, struct cpl_error *err)
{
	const struct cpl_found_phase *found = &p->phase[k];
	bool rest = k == p->n - 1;

	phase[k].name = strdup(found->name);
	phase[k].weight = found->weight;
	phase[k].time = found->compute + found->communication;
	/* A time of 0 would mean that nothing is known. */
	if (!(phase[k].time > 0))
		phase[k].time = 1e-9;
	phase[k].compute_time = found->compute;
	phase[k].comm = rest ? rest_comm(p->events, phase, k, err)
	                     : phase_comm(p, k, err);
	return phase[k].comm ? compute_of_ranks(p, k, &phase[k], err) : -1;
}

struct cpl_signature *cpl_phases_signature(const struct cpl_run_events *events,
                                           const struct cpl_phases *phases,
                                           const char *name,
                                           const char *application,
                                           struct cpl_error *err)
{
	struct cpl_signature *sig = calloc(1, sizeof(*sig));
	int n = phases ? phases->n : 1, rc = 0;

	if (sig)
		sig->phase = calloc((size_t)n, sizeof(*sig->phase));
	if (!sig || !sig->phase)
		goto memory;
	sig->n_phases = n;
	sig->ranks = events->ranks;
	sig->name = strdup(name);
	application = application ? application : events->application;
	sig->application = *application ? strdup(application) : NULL;
	sig->recorded = recorded(events);
	if (!sig->name || (*application && !sig->application))
		goto memory;
	for (int k = 0; k < n && !rc; k++) {
		rc = phases ? make_phase(phases, k, sig->phase, err)
		            : one_phase(events, sig->phase, err);
		if (!rc && !sig->phase[k].name)
			goto memory;
	}
	if (!rc)
		return sig;
	cpl_signature_free(sig);
	return NULL;
memory:
	cpl_fail_memory(err);
	cpl_signature_free(sig);
	return NULL;
}
