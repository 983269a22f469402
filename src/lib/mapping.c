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

	if (n < 1 || ranks_per_node < 1 || ranks > (int64_t)n * ranks_per_node) {
		cpl_fail(err, "%d ranks do not fit %d nodes with %d ranks each",
		         ranks, n, ranks_per_node);
		return NULL;
	}
	slots = malloc((size_t)n * sizeof(*slots));
	if (!slots)
		cpl_fail_memory(err);
	for (int i = 0; slots && i < n; i++) {
		slots[i] = left < ranks_per_node ? left : ranks_per_node;
		left -= slots[i];
	}
	return slots;
}

static int check_distinct(const struct commplace_network *net, const int *node,
                          int n, struct cpl_error *err)
{
	unsigned char *seen = calloc((size_t)net->net->n_nodes, 1);
	int rc = 0;

	if (!seen)
		return cpl_fail_memory(err);
	for (int i = 0; i < n && !rc; i++) {
		if (seen[node[i]])
			rc = cpl_fail(err, "node %d is given twice", node[i]);
		seen[node[i]] = 1;
	}
	free(seen);
	return rc;
}

static int make(const struct commplace_network *net,
                const struct commplace_signature *signature, const int *node,
                int n, int ranks_per_node, const char *algorithm,
                const struct commplace_options *o,
                struct commplace_mapping *mapping, struct cpl_error *err)
{
	const struct cpl_mapper *mapper = cpl_mapper_find(algorithm, err);
	int ranks = signature->sig->ranks, rc = -1;
	struct cpl_lib_deadline deadline;
	struct cpl_map_request req = {
	        .net = net->net,
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
	};
	struct cpl_comm *comm = NULL;
	int *slots = NULL;

	if (!mapper || cpl_lib_check_nodes(net, node, n, err) ||
	    check_distinct(net, node, n, err))
		return -1;
	req.routing = cpl_routing_find_quick(net->net, o->routing, err);
	if (!req.routing)
		return -1;
	req.slots = slots = fill_slots(ranks, n, ranks_per_node, err);
	if (slots)
		req.comm = comm = cpl_signature_total(signature->sig, err);
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

struct commplace_mapping *
commplace_mapping_make(const struct commplace_network *net,
                       const struct commplace_signature *signature,
                       const int *node, int n, int ranks_per_node,
                       const char *algorithm,
                       const struct commplace_options *options,
                       struct commplace_error *err)
{
	struct commplace_mapping *mapping = calloc(1, sizeof(*mapping));
	struct cpl_error why = {""};

	if (!mapping)
		cpl_fail_memory(&why);
	else if (!make(net, signature, node, n, ranks_per_node, algorithm,
	               options ? options : &cpl_lib_defaults, mapping, &why))
		return mapping;
	commplace_mapping_free(mapping);
	cpl_lib_fail(err, &why);
	return NULL;
}

void commplace_mapping_free(struct commplace_mapping *mapping)
{
	if (!mapping)
		return;
	cpl_map_result_free(&mapping->result);
	free(mapping->rank_node);
	free(mapping);
}

const int *commplace_mapping_rank_node(const struct commplace_mapping *mapping)
{
	return mapping->rank_node;
}

bool commplace_mapping_is_default(const struct commplace_mapping *mapping)
{
	return mapping->result.kept_default;
}

double commplace_mapping_max_before(const struct commplace_mapping *mapping)
{
	return mapping->result.before.max_congestion;
}

double commplace_mapping_max_after(const struct commplace_mapping *mapping)
{
	return mapping->result.after.max_congestion;
}

double
commplace_mapping_hop_bytes_before(const struct commplace_mapping *mapping)
{
	return mapping->result.sums_before.hop_bytes;
}

double
commplace_mapping_hop_bytes_after(const struct commplace_mapping *mapping)
{
	return mapping->result.sums_after.hop_bytes;
}

const char *commplace_mapping_algorithm(int i)
{
	const struct cpl_mapper *mapper = cpl_mapper_at(i);

	return mapper ? mapper->name : NULL;
}
