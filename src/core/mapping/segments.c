/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mapping/segments.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "mapping/rank_groups.h"

/* The bytes of a matrix that stay on its diagonal, and all of them. */
static double on_diagonal(const struct cpl_comm *comm, double *all)
{
	double inside = 0;

	*all = 0;
	for (int r = 0; r < comm->ranks; r++)
		for (int64_t i = comm->row[r]; i < comm->row[r + 1]; i++) {
			*all += comm->bytes[i];
			if (comm->to[i] == r)
				inside += comm->bytes[i];
		}
	return inside;
}

/* An array of n equal numbers; NULL: memory. */
static int *sizes_of(int n, int size)
{
	int *all = malloc(((size_t)n + 1) * sizeof(*all));

	for (int i = 0; all && i < n; i++)
		all[i] = size;
	return all;
}

/* What sends between nodes: without what a node's ranks send each other. */
static struct cpl_comm *between_nodes(const struct cpl_comm *comm, int per_node,
                                      struct cpl_error *err)
{
	int n = (comm->ranks + per_node - 1) / per_node;
	int *size = sizes_of(n, per_node);
	struct cpl_rank_groups blocks = {0};
	struct cpl_comm *out = NULL;

	if (!size)
		cpl_fail_memory(err);
	else if (!cpl_rank_groups_blocks(&blocks, NULL, comm, size, n, err)) {
		out = blocks.hosts;
		blocks.hosts = NULL;
	}
	for (int64_t i = 0; out && i < out->ranks; i++)
		for (int64_t k = out->row[i]; k < out->row[i + 1]; k++)
			if (out->to[k] == i)
				out->bytes[k] = 0;
	cpl_rank_groups_free(&blocks);
	free(size);
	return out;
}

/* Segments of so many nodes, which of[] gets. What stays inside; -1 with err. */
static double group_nodes(const struct cpl_comm *nodes,
                          const struct cpl_comm *graph, int segment, int *of,
                          struct cpl_error *err)
{
	int n = nodes->ranks / segment, rc;
	int *size = sizes_of(n, segment);
	struct cpl_rank_groups groups = {0};
	double inside = -1, all;

	if (!size)
		return cpl_fail_memory(err);
	rc = cpl_rank_groups_grow(&groups, NULL, nodes, graph, size, n, err);
	if (!rc && cpl_rank_groups_blocks(&groups, NULL, nodes, size, n, err))
		rc = -1;
	if (rc >= 0) {
		inside = on_diagonal(groups.hosts, &all);
		if (groups.of)
			memcpy(of, groups.of,
			       (size_t)nodes->ranks * sizeof(*of));
		else
			cpl_rank_groups_list_blocks(size, n, nodes->ranks, of);
	}
	cpl_rank_groups_free(&groups);
	free(size);
	return inside;
}

static int look_at_sizes(struct cpl_segment_advice *a,
                         const struct cpl_comm *nodes,
                         const struct cpl_comm *graph, int domain,
                         struct cpl_error *err)
{
	for (int s = 1; s <= domain && s <= a->nodes; s++) {
		double inside = 0;

		if (a->nodes % s)
			continue;
		if (s > 1)
			inside = group_nodes(nodes, graph, s, a->of, err);
		if (inside < 0)
			return -1;
		if (cpl_array_grow(&a->size, a->n_sizes, sizeof(*a->size), err))
			return -1;
		a->size[a->n_sizes++] = (struct cpl_segment_size){
		        s, a->bytes > 0 ? inside / a->bytes : 0};
	}
	return 0;
}

/* The smallest size that is as good as the best. */
static void choose(struct cpl_segment_advice *a)
{
	double best = 0;

	for (int i = 0; i < a->n_sizes; i++)
		if (a->size[i].inside > best)
			best = a->size[i].inside;
	for (int i = a->n_sizes - 1; i >= 0; i--)
		if (a->size[i].inside >= CPL_SEGMENT_PART * best) {
			a->segment = a->size[i].nodes;
			a->inside = a->size[i].inside;
		}
}

int cpl_segment_advise(const struct cpl_comm *comm, int ranks_per_node,
                       int domain, struct cpl_segment_advice *out,
                       struct cpl_error *err)
{
	struct cpl_comm *nodes, *graph = NULL;
	int rc = -1;

	*out = (struct cpl_segment_advice){.segment = 1};
	nodes = between_nodes(comm, ranks_per_node, err);
	if (!nodes)
		return -1;
	out->nodes = nodes->ranks;
	on_diagonal(nodes, &out->bytes);
	out->of = malloc(((size_t)out->nodes + 1) * sizeof(*out->of));
	if (cpl_out_of_memory(!out->of, err))
		goto out;
	graph = cpl_comm_symmetric(nodes, err);
	if (!graph || look_at_sizes(out, nodes, graph, domain, err))
		goto out;
	choose(out);
	for (int i = 0; i < out->nodes; i++)
		out->of[i] = i;
	if (out->segment > 1 &&
	    group_nodes(nodes, graph, out->segment, out->of, err) < 0)
		goto out;
	rc = 0;
out:
	cpl_comm_free(graph);
	cpl_comm_free(nodes);
	if (rc)
		cpl_segment_advice_free(out);
	return rc;
}

void cpl_segment_advice_free(struct cpl_segment_advice *advice)
{
	cpl_free_all(advice->size, advice->of);
	*advice = (struct cpl_segment_advice){0};
}

int cpl_segment_implied(const struct cpl_comm *comm, int ranks_per_node,
                        int domain, struct cpl_error *err)
{
	struct cpl_segment_advice advice;
	int nodes;

	if (cpl_segment_advise(comm, ranks_per_node, domain, &advice, err))
		return -1;
	nodes = advice.segment > 1 ? advice.segment : 0;
	cpl_segment_advice_free(&advice);
	return nodes;
}

/* Nodes of a level's smallest unit that has any. */
static int least_nodes(const struct cpl_level *level)
{
	int least = 0;

	for (int u = 0; u < level->n_units; u++) {
		int n = level->first[u + 1] - level->first[u];

		if (n > 0 && (!least || n < least))
			least = n;
	}
	return least;
}

/* Nodes of the smallest domain of accelerators. 0, or -1 with err (memory). */
static int least_domain(const struct cpl_network *net, int *least,
                        struct cpl_error *err)
{
	const struct cpl_accelerators *a = &net->accelerators;
	int *count = calloc((size_t)a->n_domains, sizeof(*count));

	if (!count)
		return cpl_fail_memory(err);
	for (int i = 0; i < net->n_nodes; i++)
		if (a->domain_of[i] >= 0)
			count[a->domain_of[i]]++;
	*least = net->n_nodes;
	for (int d = 0; d < a->n_domains; d++)
		if (count[d] && count[d] < *least)
			*least = count[d];
	free(count);
	return 0;
}

int cpl_segment_domains(const struct cpl_network *net, const char *name,
                        struct cpl_segment_domains *out, struct cpl_error *err)
{
	const struct cpl_level *level = NULL;

	*out = (struct cpl_segment_domains){
	        .level = "domain", .n = net->accelerators.n_domains};
	if (out->n && (!name || !strcmp(name, "domain")))
		return least_domain(net, &out->nodes, err);
	if (name)
		level = cpl_network_level(net, name);
	for (int i = net->n_levels - 1; !name && !level && i >= 0; i--)
		if (net->level[i].name && least_nodes(&net->level[i]) > 1)
			level = &net->level[i];
	if (!level)
		return name ? cpl_fail(err, "network '%s' has no level '%.60s'",
		                       net->name, name)
		            : cpl_fail(err,
		                       "network '%s' has no units of several "
		                       "nodes",
		                       net->name);
	*out = (struct cpl_segment_domains){level->name, least_nodes(level),
	                                    level->n_units, level};
	return 0;
}

void cpl_segment_domain_of(const struct cpl_network *net,
                           const struct cpl_segment_domains *domains, int *of)
{
	const struct cpl_level *level = domains->units;

	for (int i = 0; i < net->n_nodes; i++)
		of[i] = level ? -1 : net->accelerators.domain_of[i];
	for (int u = 0; level && u < level->n_units; u++)
		for (int i = level->first[u]; i < level->first[u + 1]; i++)
			of[level->node[i]] = u;
}
