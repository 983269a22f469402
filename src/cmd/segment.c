/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `commplace segment advise`: the segment that a job should ask for. */
#include "cmd.h"

#include <stdlib.h>
#include <string.h>

#include "mapping/segments.h"
#include "options.h"

struct segment_options {
	const char *network, *signature, *profile_dir, *domain;
	int64_t ranks_per_node;
	bool json;
};

static int parse(const struct cmd *self, int argc, char **argv,
                 struct segment_options *o)
{
	const struct cmd_option table[] = {
	        {"network", .text = &o->network, .needed = true},
	        {"signature", .text = &o->signature, .needed = true},
	        {"ranks-per-node", .integer = &o->ranks_per_node, .low = 1,
	         .high = 65536},
	        {"domain", .text = &o->domain},
	        {"profile-dir", .text = &o->profile_dir},
	        {"json", .flag = &o->json},
	        {0},
	};

	return cmd_options(self, argc, argv, table, CMD_WORDS);
}

/* Nodes of segment s as the numbers that they have in the job: "0-3,8". */
static char *nodes_of(const struct cpl_segment_advice *a, int s)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);
	const char *sep = "";

	if (!to)
		return NULL;
	for (int i = 0; i < a->nodes; i++) {
		int last = i;

		if (a->of[i] != s)
			continue;
		while (last + 1 < a->nodes && a->of[last + 1] == s)
			last++;
		if (last > i)
			fprintf(to, "%s%d-%d", sep, i, last);
		else
			fprintf(to, "%s%d", sep, i);
		sep = ",";
		i = last;
	}
	if (!fclose(to))
		return text;
	free(text);
	return NULL;
}

static int print_json(const struct cmd *self,
                      const struct cpl_segment_advice *a, int domain,
                      const char *level, int per_node)
{
	json_t *sizes = json_array(), *members = json_array();

	for (int i = 0; i < a->n_sizes; i++)
		cpl_json_append(sizes, "{s:i, s:f}", "segment",
		                a->size[i].nodes, "inside", a->size[i].inside);
	for (int s = 0; s < a->nodes / a->segment; s++) {
		char *text = nodes_of(a, s);

		json_array_append_new(members, json_string(text ? text : ""));
		free(text);
	}
	return cmd_print_pack(self,
	                      "{s:i, s:i, s:i, s:s, s:i, s:i, s:f, s:f, "
	                      "s:o, s:o}",
	                      "segment", a->segment, "groups",
	                      a->nodes / a->segment, "domain", domain, "level",
	                      level, "nodes", a->nodes, "ranks_per_node",
	                      per_node, "bytes", a->bytes, "inside", a->inside,
	                      "sizes", sizes, "members", members);
}

static int print_text(const struct cmd *self,
                      const struct cpl_segment_advice *a, int domain,
                      const char *level, int per_node)
{
	struct cmd_table *table = cmd_table_new("lrr");

	printf("--segment=%d\n\n", a->segment);
	printf("%d nodes with %d ranks each, domains (%s) of %d nodes.\n",
	       a->nodes, per_node, level, domain);
	if (!(a->bytes > 0))
		printf("Nothing is sent between nodes: no segment is "
		       "needed.\n");
	else if (a->segment == 1)
		printf("No number of nodes from 2 to %d divides the job.\n",
		       domain);
	else
		printf("Of the bytes between nodes %.1f %% stay inside "
		       "segments: the smallest that keep\n%.0f %% of what the "
		       "best do.\n",
		       100 * a->inside, 100 * CPL_SEGMENT_PART);
	printf("\n");
	cmd_table_row(table, "|segment|inside");
	for (int i = 0; i < a->n_sizes; i++)
		cmd_table_row(table, "%s|%d|%.1f %%",
		              a->size[i].nodes == a->segment ? "*" : "",
		              a->size[i].nodes, 100 * a->size[i].inside);
	(void)self;
	return cmd_table_print(table);
}

static int advise(const struct cmd *self, const struct segment_options *o)
{
	struct cpl_error err = {""};
	struct cpl_network *net = cpl_network_load(o->network, &err);
	struct cpl_signature *sig = NULL;
	struct cpl_segment_advice a = {0};
	struct cpl_segment_domains domain = {NULL};
	struct cpl_comm *comm = NULL;
	int rc = CMD_FAILED, per_node;

	if (net && !cpl_segment_domains(net, o->domain, &domain, &err))
		sig = cmd_load_signature(o->signature, o->profile_dir, &err);
	if (sig)
		comm = cmd_comm(sig, NULL, &err);
	if (!comm)
		goto out;
	/* A rank for each accelerator, or for each port. */
	per_node = o->ranks_per_node            ? (int)o->ranks_per_node
	           : net->accelerators.per_node ? net->accelerators.per_node
	           : net->n_ports > 1           ? net->n_ports
	                                        : 1;
	if (cpl_segment_advise(comm, per_node, domain.nodes, &a, &err))
		goto out;
	rc = o->json ? print_json(self, &a, domain.nodes, domain.level, per_node)
	             : print_text(self, &a, domain.nodes, domain.level,
	                          per_node);
out:
	if (err.text[0])
		cmd_fail(self, &err);
	cpl_segment_advice_free(&a);
	cpl_comm_free(comm);
	cpl_signature_free(sig);
	cpl_network_free(net);
	return rc;
}

static int run_segment(const struct cmd *self, int argc, char **argv)
{
	struct segment_options o = {0};
	int rc = parse(self, argc, argv, &o);

	if (rc)
		return rc;
	if (optind + 1 != argc || strcmp(argv[optind], "advise"))
		return cmd_usage(self, "what to do? use advise");
	return advise(self, &o);
}

const struct cmd cmd_segment = {"segment", run_segment};
