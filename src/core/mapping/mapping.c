/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mapping/mapping.h"

#include <stdlib.h>
#include <string.h>

#include "graph/arena.h"
#include "mapping/mapping_internal.h"
#include "traffic/workload.h"

/* This is as many as a signature may have ranks. */
#define SLOTS_MAX (1 << 24)

const char *cpl_mapper_option(const char *name)
{
	const char *colon = strchr(name, ':');

	return colon ? colon + 1 : NULL;
}

static const struct cpl_mapper *check_option(const struct cpl_mapper *mapper,
                                             const char *name,
                                             struct cpl_error *err)
{
	const char *option = cpl_mapper_option(name);

	if (!option)
		return mapper;
	if (!mapper->check_option)
		return cpl_fail_null(
		        err,
		        "rank mapping '%s' takes no option, but there is "
		        "'%.64s'",
		        mapper->name, option);
	return mapper->check_option(option, err) ? NULL : mapper;
}

const struct cpl_mapper *cpl_mapper_find(const char *name,
                                         struct cpl_error *err)
{
	return cpl_mapper_find_in(&cpl_mappers, name, err);
}

const struct cpl_mapper *cpl_mapper_find_in(const struct cpl_registry *mappers,
                                            const char *name,
                                            struct cpl_error *err)
{
	const struct cpl_entry *found = cpl_mapper_entry(mappers, name, err);

	return found ? check_option((const struct cpl_mapper *)found, name, err)
	             : NULL;
}

const struct cpl_mapper *cpl_mapper_at(int i)
{
	return (const struct cpl_mapper *)cpl_registry_at(&cpl_mappers, i);
}

int cpl_map_check(const struct cpl_map_request *req, struct cpl_error *err)
{
	int64_t sum = 0;

	for (int h = 0; h < req->n_hosts; h++) {
		if (req->host[h] < 0 || req->host[h] >= req->net->n_nodes)
			return cpl_fail(err,
			                "host %d of the mapping is not a node "
			                "of network '%s'",
			                h, req->net->name);
		if (req->slots[h] < 0)
			return cpl_fail(err,
			                "slots of host %d are %d; they must be "
			                "0 or more",
			                h, req->slots[h]);
		sum += req->slots[h];
	}
	if (sum < req->comm->ranks)
		return cpl_fail(err,
		                "%lld slots on %d hosts, but %d ranks; there "
		                "must be a slot for each",
		                (long long)sum, req->n_hosts, req->comm->ranks);
	if (sum > SLOTS_MAX)
		return cpl_fail(err, "%lld slots are more than %d",
		                (long long)sum, SLOTS_MAX);
	return cpl_map_check_weights(req, err);
}

/* A rank layout and its cost. */
struct slot_layout {
	int *rank_host;
	struct cpl_metrics metrics;
	struct cpl_job_sums sums;
};

struct evaluator {
	const struct cpl_map_request *req;
	struct cpl_workload *workload;
};

static int evaluate(struct evaluator *ev, struct slot_layout *layout,
                    struct cpl_error *err)
{
	const struct cpl_map_request *req = ev->req;
	struct cpl_job job = {.routing = req->routing,
	                      .comm = req->comm,
	                      .node = req->host,
	                      .rank_host = layout->rank_host};

	if (cpl_workload_evaluate(ev->workload, &job, req->background,
	                          &layout->metrics, &layout->sums, err))
		return -1;
	layout->metrics.seconds = cpl_traffic_seconds(
	        req->net, cpl_workload_load(ev->workload), req->rates);
	return cpl_traffic_finite(&layout->metrics, &layout->sums, err);
}

static bool better(const struct cpl_map_request *req,
                   const struct slot_layout *a, const struct slot_layout *b)
{
	return cpl_objective_better(req->objective, &a->metrics,
	                            a->sums.hop_bytes, &b->metrics,
	                            b->sums.hop_bytes);
}

/* Is a link or cable busier in a, where the objective looks at links only?
 * Swaps for fewer hop-bytes must not cost cables. */
static bool busier(const struct cpl_map_request *req,
                   const struct slot_layout *a, const struct slot_layout *b)
{
	return req->objective == CPL_OBJECTIVE_MAX &&
	       cpl_objective_first(CPL_OBJECTIVE_BUSIEST, &a->metrics, 0) >
	               cpl_objective_first(CPL_OBJECTIVE_BUSIEST, &b->metrics,
	                                   0) *
	                       (1 + 1e-9);
}

/* Makes block order on the hosts in the order of order[]. */
static int order_by(const struct cpl_map_request *req, const int *order,
                    int *rank_host, struct cpl_error *err)
{
	struct cpl_map_request r = *req;
	struct cpl_arena arena = {0};
	int n = req->n_hosts, rc;
	int *host = cpl_arena_take(&arena, n, sizeof(*host));
	int *slots = cpl_arena_take(&arena, n, sizeof(*slots));

	if (arena.failed)
		return cpl_arena_end(&arena, -1, err);
	for (int i = 0; i < n; i++) {
		host[i] = req->host[order[i]];
		slots[i] = req->slots[order[i]];
	}
	r.host = host;
	r.slots = slots;
	rc = cpl_map_default_order(&r, rank_host, err);
	for (int i = 0; i < req->comm->ranks && !rc; i++)
		rank_host[i] = order[rank_host[i]];
	return cpl_arena_end(&arena, rc, err);
}

int cpl_map_switch_order(const struct cpl_map_request *req, int *rank_host,
                         struct cpl_error *err)
{
	struct cpl_arena arena = {0};
	int n = req->n_hosts, moved = 0, rc = 0;
	struct cpl_keyed *sorted = cpl_arena_take(&arena, n, sizeof(*sorted));
	int *order = cpl_arena_take(&arena, n, sizeof(*order));

	if (arena.failed)
		return cpl_arena_end(&arena, -1, err);
	for (int h = 0; h < n; h++)
		sorted[h] = (struct cpl_keyed){(uint64_t)req->host[h], h};
	cpl_keyed_sort(sorted, n);
	for (int i = 0; i < n; i++) {
		order[i] = sorted[i].item;
		moved |= order[i] != i;
	}
	if (moved)
		rc = order_by(req, order, rank_host, err);
	if (rc && req->weight)
		rc = moved = 0;
	return cpl_arena_end(&arena, rc ? -1 : moved, err);
}

/* These are all layouts that are compared. */
enum { BY_DEFAULT, MAPPED, REFINED, BY_SWITCH, AS_GIVEN, N_LAYOUTS };

/* Runs the mapper, refines the best of its answer, the default order and the
 * two others, and leaves the best of all in layout[*best]. */
static int search(const struct cpl_mapper *mapper,
                  const struct cpl_map_request *req, struct evaluator *ev,
                  struct slot_layout *layout, int *best, struct cpl_error *err)
{
	size_t size = (size_t)req->comm->ranks * sizeof(int);
	int moved;

	if (cpl_map_run(mapper, req, layout[MAPPED].rank_host, err) ||
	    evaluate(ev, &layout[MAPPED], err))
		return -1;
	if (req->raw) {
		*best = MAPPED;
		return 0;
	}
	if (better(req, &layout[MAPPED], &layout[BY_DEFAULT]))
		*best = MAPPED;
	moved = cpl_map_switch_order(req, layout[BY_SWITCH].rank_host, err);
	if (moved < 0 || (moved && evaluate(ev, &layout[BY_SWITCH], err)))
		return -1;
	if (moved && better(req, &layout[BY_SWITCH], &layout[*best]))
		*best = BY_SWITCH;
	if (req->turn &&
	    (cpl_map_default_order(req, layout[AS_GIVEN].rank_host, err) ||
	     evaluate(ev, &layout[AS_GIVEN], err)))
		return -1;
	if (req->turn && better(req, &layout[AS_GIVEN], &layout[*best]))
		*best = AS_GIVEN;
	if (mapper->refined || cpl_map_expired(req))
		return 0;
	memcpy(layout[REFINED].rank_host, layout[*best].rank_host, size);
	if (cpl_map_refine(req, layout[REFINED].rank_host, err) ||
	    evaluate(ev, &layout[REFINED], err))
		return -1;
	if (better(req, &layout[REFINED], &layout[*best]) &&
	    !busier(req, &layout[REFINED], &layout[*best]))
		*best = REFINED;
	return 0;
}

int cpl_map(const struct cpl_mapper *mapper, const struct cpl_map_request *req,
            struct cpl_map_result *out, struct cpl_error *err)
{
	struct cpl_map_request r = *req;
	struct evaluator ev = {.req = &r};
	struct slot_layout layout[N_LAYOUTS] = {0};
	struct cpl_comm *graph = NULL;
	size_t size = (size_t)req->comm->ranks * sizeof(int);
	int best = BY_DEFAULT, rc = -1;

	*out = (struct cpl_map_result){0};
	if (cpl_map_check(req, err))
		return -1;
	for (int i = 0; i < N_LAYOUTS; i++) {
		layout[i].rank_host = malloc(size);
		if (cpl_out_of_memory(!layout[i].rank_host, err))
			goto out;
	}
	ev.workload = cpl_workload_new(req->net, 1, err);
	if (!ev.workload ||
	    (req->turn ? order_by(&r, req->turn, layout[BY_DEFAULT].rank_host,
	                          err)
	               : cpl_map_default_order(&r, layout[BY_DEFAULT].rank_host,
	                                       err)) ||
	    evaluate(&ev, &layout[BY_DEFAULT], err))
		goto out;
	if (mapper != &cpl_mapper_linear) {
		if (!r.graph)
			r.graph = graph = cpl_comm_symmetric(req->comm, err);
		if (!r.graph || search(mapper, &r, &ev, layout, &best, err))
			goto out;
	}
	out->rank_host = layout[best].rank_host;
	layout[best].rank_host = NULL;
	out->kept_default = best == BY_DEFAULT;
	out->before = layout[BY_DEFAULT].metrics;
	out->sums_before = layout[BY_DEFAULT].sums;
	out->after = layout[best].metrics;
	out->sums_after = layout[best].sums;
	rc = 0;
out:
	cpl_comm_free(graph);
	cpl_workload_free(ev.workload);
	for (int i = 0; i < N_LAYOUTS; i++)
		free(layout[i].rank_host);
	return rc;
}

void cpl_map_result_free(struct cpl_map_result *result)
{
	free(result->rank_host);
	*result = (struct cpl_map_result){0};
}
