/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What running jobs put on the links, each by itself. */
#include <stdlib.h>
#include <string.h>

#include "measured/unknown.h"
#include "site/engine_ledger.h"
#include "traffic/workload.h"

/* Entries of a matrix up to which a caller makes the load by itself: some 2 ms.
 */
#define MADE_AT_ONCE 131072

struct making {
	struct cpl_request head;
	struct ledger *ledger;
	atomic_flag taken; /* a thread makes it, or has */
	struct snapshot *snapshot;
	struct cpl_profile *profile; /* NULL: it is an unknown job, */
	double volume;               /* whose nodes send this each */
	int *node;                   /* [n_nodes] */
	int n_nodes;
	int *rank_host; /* [ranks] */
	struct cpl_job_load *load;
	struct cpl_error err;
};

void engine_load_scratch_free(struct load_scratch *scratch)
{
	cpl_workload_free(scratch->workload);
	engine_snapshot_drop(scratch->snapshot);
	*scratch = (struct load_scratch){NULL};
}

static int open_scratch(struct load_scratch *scratch, struct snapshot *snapshot,
                        struct cpl_error *err)
{
	if (scratch->snapshot == snapshot)
		return 0;
	engine_load_scratch_free(scratch);
	scratch->workload = cpl_workload_new(snapshot->net, 1, err);
	if (!scratch->workload)
		return -1;
	scratch->snapshot = engine_snapshot_hold(snapshot);
	return 0;
}

static void make_unknown(struct making *m, struct load_scratch *scratch)
{
	if (!open_scratch(scratch, m->snapshot, &m->err))
		m->load = cpl_unknown_load(scratch->workload, m->snapshot->net,
		                           m->snapshot->routing, m->node,
		                           m->n_nodes, m->volume, &m->err);
}

static void make_known(struct making *m, struct load_scratch *scratch)
{
	struct cpl_job placed = {.routing = m->snapshot->routing,
	                         .comm = m->profile->comm,
	                         .node = m->node,
	                         .rank_host = m->rank_host};

	if (!open_scratch(scratch, m->snapshot, &m->err))
		m->load = cpl_job_load_of(scratch->workload, m->snapshot->net,
		                          &placed, m->profile->run.seconds,
		                          &m->err);
}

static void make(struct making *m, struct load_scratch *scratch)
{
	if (m->profile)
		make_known(m, scratch);
	else
		make_unknown(m, scratch);
}

static int64_t entries_of(const struct making *m)
{
	return m->profile ? m->profile->comm->n_entries
	                  : (int64_t)m->n_nodes * CPL_UNKNOWN_PEERS;
}

static void run_making(struct cpl_request *head)
{
	struct making *m = (struct making *)head;

	cpl_worker_files(m->ledger->clerk->worker, CPL_QUEUE_MAKE, false);
	if (!atomic_flag_test_and_set(&m->taken))
		make(m, &m->ledger->on_worker);
}

static void making_free(struct cpl_request *head)
{
	struct making *m = (struct making *)head;

	engine_snapshot_drop(m->snapshot);
	cpl_profile_drop(m->profile);
	cpl_free_all(m->node, m->rank_host, m->load, m);
}

/* Hosts outside of the network send over none of its links. */
static int place_nodes(struct making *m, const struct cpl_record *record,
                       struct cpl_error *err)
{
	m->node = malloc(((size_t)record->n_hosts + 1) * sizeof(int));
	if (!m->node)
		return cpl_fail_memory(err);
	for (int h = 0; h < record->n_hosts; h++) {
		int node = cpl_network_node(m->snapshot->net, record->host[h]);

		if (node >= 0)
			m->node[m->n_nodes++] = node;
	}
	return m->n_nodes ? 0
	                  : cpl_fail(err, "none of its hosts is in the network");
}

/* Where the ranks are. -1 with err: memory; the network lacks a rank's host. */
static int place_ranks(struct making *m, const struct cpl_record *record,
                       struct cpl_error *err)
{
	size_t ranks = (size_t)record->ranks;

	m->node = malloc(((size_t)record->n_hosts + 1) * sizeof(int));
	m->rank_host = malloc((ranks + 1) * sizeof(int));
	if (!m->node || !m->rank_host)
		return cpl_fail_memory(err);
	memcpy(m->rank_host, record->rank_host, ranks * sizeof(int));
	for (int h = 0; h < record->n_hosts; h++)
		m->node[h] =
		        cpl_network_node(m->snapshot->net, record->host[h]);
	for (int r = 0; r < record->ranks; r++)
		if (m->node[record->rank_host[r]] < 0)
			return cpl_fail(err, "%s is not in the network",
			                record->host[record->rank_host[r]]);
	return 0;
}

struct making *engine_load_begin(struct ledger *ledger,
                                 const struct cpl_record *record,
                                 struct cpl_profile *profile, double volume,
                                 struct cpl_error *err)
{
	struct making *m = calloc(1, sizeof(*m));

	if (!m) {
		cpl_profile_drop(profile);
		cpl_fail_memory(err);
		return NULL;
	}
	m->head.run = run_making;
	m->head.free = making_free;
	m->ledger = ledger;
	atomic_flag_clear(&m->taken);
	m->snapshot = engine_snapshot_hold(ledger->snapshot);
	m->profile = profile;
	m->volume = volume;
	if (profile ? place_ranks(m, record, err)
	            : place_nodes(m, record, err)) {
		making_free(&m->head);
		return NULL;
	}
	return cpl_worker_queue(ledger->clerk->worker, CPL_QUEUE_MAKE, &m->head,
	                        true, err)
	               ? NULL
	               : m;
}

bool engine_load_end(struct ledger *ledger, struct making *m, int64_t deadline,
                     struct cpl_job_load **load, struct cpl_error *err)
{
	bool in_time = cpl_worker_wait(ledger->clerk->worker, &m->head, 0);

	if (!in_time && cpl_now() < deadline) {
		in_time = true;
		if (entries_of(m) <= MADE_AT_ONCE &&
		    !atomic_flag_test_and_set(&m->taken))
			make(m, &ledger->on_caller);
		else
			in_time = cpl_worker_wait(ledger->clerk->worker,
			                          &m->head, deadline);
	}
	if (!in_time) {
		cpl_fail(err, "the load of the running jobs takes longer to "
		              "compute than MaxDecisionTime");
		return false;
	}
	*load = m->load;
	m->load = NULL;
	if (!*load)
		cpl_fail(err, "%s", m->err.text);
	return true;
}

void engine_load_drop(struct ledger *ledger, struct making *m)
{
	if (m)
		cpl_worker_drop(ledger->clerk->worker, &m->head);
}
