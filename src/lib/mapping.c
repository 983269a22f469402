/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib_internal.h"

#include <stdlib.h>

#include "mapping/mapping.h"

struct commplace_mapping {
	struct cpl_map_result result;
	int *rank_node; /* [ranks] */
};

/* Full nodes first, the rest on the last that is needed. */
static int *fill_slots(int ranks, int n, int ranks_per_node,
                       struct cpl_error *err)
{
	int left = ranks;
	int *slots;

	if (n < 1 || ranks_per_node < 1 || ranks > (int64_t)n * ranks_per_node)
		return cpl_fail_null(
		        err, "%d ranks do not fit %d nodes with %d ranks each",
		        ranks, n, ranks_per_node);
	slots = malloc((size_t)n * sizeof(*slots));
	if (!slots)
		cpl_fail_memory(err);
	for (int i = 0; slots && i < n; i++) {
		slots[i] = left < ranks_per_node ? left : ranks_per_node;
		left -= slots[i];
	}
	return slots;
}

static int make(const struct commplace_network *net,
                const struct commplace_signature *signature, const int *node,
                int n, int ranks_per_node, const char *algorithm,
                const struct commplace_options *o,
                struct commplace_mapping *mapping, struct cpl_error *err)
{
	const struct cpl_mapper *mapper = cpl_mapper_find(algorithm, err);
	int ranks = cpl_lib_signature(signature)->ranks, rc = -1;
	struct cpl_lib_deadline deadline;
	struct cpl_map_request req = {
	        .net = cpl_lib_network(net),
	        .n_hosts = n,
	        .host = node,
	        .option = cpl_mapper_option(algorithm),
	        .background = cpl_lib_background(o->background),
	        .objective = o->objective,
	        .seed = o->seed,
	        .work = o->seconds >= 0 ? INT64_MAX : 0,
	        .expired = cpl_lib_start(o, &deadline),
	        .expired_arg = &deadline,
	        .seconds = o->seconds >= 0 ? o->seconds : 0,
	        .threads = o->threads,
	        .raw = o->raw,
	};
	struct cpl_rank_grid grid;
	struct cpl_comm *comm = NULL;
	int *slots = NULL;

	if (!mapper ||
	    cpl_lib_check_nodes(cpl_lib_network(net), node, n, err) ||
	    cpl_lib_check_distinct("node", node, n,
	                           cpl_lib_network(net)->n_nodes, err))
		return -1;
	req.routing =
	        cpl_routing_find_quick(cpl_lib_network(net), o->routing, err);
	if (!req.routing)
		return -1;
	if (cpl_phases_groups(cpl_lib_signature(signature)->phase,
	                      cpl_lib_signature(signature)->n_phases, &grid))
		req.grid = &grid;
	req.slots = slots = fill_slots(ranks, n, ranks_per_node, err);
	if (slots)
		req.comm = comm =
		        cpl_signature_total(cpl_lib_signature(signature), err);
	if (comm)
		rc = cpl_map(mapper, &req, &mapping->result, err);
	if (!rc) {
		mapping->rank_node =
		        malloc((size_t)ranks * sizeof(*mapping->rank_node));
		if (!mapping->rank_node)
			rc = cpl_fail_memory(err);
	}
	for (int r = 0; !rc && r < ranks; r++)
		mapping->rank_node[r] = node[mapping->result.rank_host[r]];
	cpl_comm_free(comm);
	free(slots);
	return rc;
}

struct commplace_mapping *commplace_mapping_make(
        const struct commplace_network *net,
        const struct commplace_signature *signature, const int *node, int n,
        int ranks_per_node, const char *algorithm,
        const struct commplace_options *options, struct commplace_error *err)
{
	struct commplace_mapping *mapping = calloc(1, sizeof(*mapping));
	struct cpl_error why = {""};

	if (!mapping)
		cpl_fail_memory(&why);
	else if (!make(net, signature, node, n, ranks_per_node, algorithm,
	               options ? options : &cpl_lib_defaults, mapping, &why))
		return mapping;
	commplace_mapping_free(mapping);
	return cpl_lib_made(NULL, &why, err);
}

void commplace_mapping_free(struct commplace_mapping *mapping)
{
	if (!mapping)
		return;
	cpl_map_result_free(&mapping->result);
	cpl_free_all(mapping->rank_node, mapping);
}

READ(const int *, mapping_rank_node, mapping, mapping->rank_node)
READ(bool, mapping_is_default, mapping, mapping->result.kept_default)
READ(double, mapping_max_before, mapping, mapping->result.before.max_congestion)
READ(double, mapping_max_after, mapping, mapping->result.after.max_congestion)
READ(double, mapping_hop_bytes_before, mapping,
     mapping->result.sums_before.hop_bytes)
READ(double, mapping_hop_bytes_after, mapping,
     mapping->result.sums_after.hop_bytes)

const char *commplace_mapping_algorithm(int i)
{
	const struct cpl_mapper *mapper = cpl_mapper_at(i);

	return mapper ? mapper->name : NULL;
}
