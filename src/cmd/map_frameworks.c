/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Layouts in the forms that frameworks for training start from. */
#include "map.h"

#include <stdlib.h>

static const char *host_name(const struct job_inputs *in,
                             const struct mapped *m, int host)
{
	return in->net->node_name[m->host[host]];
}

/* The hosts in the order of their first ranks. Returns how many, or -1 with err:
 * torchrun numbers the ranks of a node one after the other, as many on each. */
static int list_nodes(const struct job_inputs *in, const struct mapped *m,
                      int *node, int *each, struct cpl_error *err)
{
	const int *host = m->result.rank_host;
	int ranks = in->comm->ranks, n = 0;

	for (*each = 1; *each < ranks && host[*each] == host[0];)
		++*each;
	for (int r = 0; r < ranks; r++) {
		bool first = r % *each == 0;

		if (first)
			node[n++] = host[r];
		/* The last one may not have fewer. */
		if (host[r] == node[n - 1] &&
		    (!first || n == 1 || host[r] != node[n - 2]) &&
		    (r + 1 < ranks || ranks % *each == 0))
			continue;
		return cpl_fail(err,
		                "--format torchrun: rank %d is on %s; torchrun "
		                "gives all nodes as many consecutive ranks (see "
		                "--processes-per-task)",
		                r, host_name(in, m, host[r]));
	}
	return n;
}

/* A line for each node: where it runs, and what it is started with. */
static int write_torchrun(FILE *to, const struct job_inputs *in,
                          const struct mapped *m, struct cpl_error *err)
{
	int *node = malloc(((size_t)in->comm->ranks + 1) * sizeof(*node));
	bool *seen = calloc((size_t)m->n_hosts + 1, sizeof(*seen));
	int n = -1, each;

	if (node && seen)
		n = list_nodes(in, m, node, &each, err);
	else
		cpl_fail_memory(err);
	for (int i = 0; i < n; i++) {
		if (seen[node[i]])
			n = cpl_fail(err, "--format torchrun: the ranks of %s "
			                  "are not consecutive",
			             host_name(in, m, node[i]));
		else
			seen[node[i]] = true;
	}
	for (int i = 0; i < n; i++)
		fprintf(to,
		        "%s --nnodes=%d --node_rank=%d --nproc_per_node=%d "
		        "--master_addr=%s\n",
		        host_name(in, m, node[i]), n, i, each * m->processes,
		        host_name(in, m, node[0]));
	cpl_free_all(node, seen);
	return n < 0 ? -1 : 0;
}

/* The arguments of ray.util.placement_group: a bundle for each rank, in order. */
static int write_ray(FILE *to, const struct job_inputs *in,
                     const struct mapped *m, struct cpl_error *err)
{
	json_t *bundles = json_array(), *root;
	char resource[320];
	int rc;

	for (int r = 0; r < in->comm->ranks; r++) {
		snprintf(resource, sizeof(resource), "node:%.300s",
		         host_name(in, m, m->result.rank_host[r]));
		cpl_json_append(bundles, "{s:i, s:f}", "GPU", m->processes,
		                resource, 0.001);
	}
	root = json_pack("{s:s, s:o}", "strategy", "PACK", "bundles", bundles);
	rc = json_array_size(bundles) == (size_t)in->comm->ranks && root &&
	                     !json_dumpf(root, to,
	                                 JSON_INDENT(1) | JSON_REAL_PRECISION(3))
	             ? 0
	             : cpl_fail_memory(err);
	fputc('\n', to);
	json_decref(root);
	return rc;
}

int map_write_framework(FILE *to, enum map_format format,
                        const struct job_inputs *in, const struct mapped *m,
                        struct cpl_error *err)
{
	return format == MAP_RAY ? write_ray(to, in, m, err)
	                         : write_torchrun(to, in, m, err);
}
