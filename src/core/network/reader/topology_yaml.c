/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * topology.yaml(5) of Slurm 25.05 and later, in the form that its manual has: a
 * key and its value on each line. Of YAML's other forms, flow style ("{...}",
 * "[...]" over several keys) and anchors are refused. One topology to a file.
 */
#include <stdlib.h>
#include <string.h>

#include "network/reader/reader_internal.h"

enum { SWITCH, BLOCK, NODES, CHILDREN, TOPOLOGY, PASSED };

/* Keys without a value open what follows; those behind PASSED tell nothing. */
static const struct {
	const char *name;
	int key;
} keys[] = {
        {"switch", SWITCH},        {"block", BLOCK},
        {"nodes", NODES},          {"children", CHILDREN},
        {"topology", TOPOLOGY},    {"cluster_default", PASSED},
        {"tree", PASSED},          {"switches", PASSED},
        {"blocks", PASSED},        {"block_sizes", PASSED},
};
#define N_KEYS ((int)(sizeof(keys) / sizeof(*keys)))

/* The switch or block that the lines are about. */
struct yaml_reading {
	struct cpl_lines *in;
	struct cpl_draft *draft;
	char *name, *nodes, *children;
	bool block;
	int topologies;
};

static void clear(struct yaml_reading *r)
{
	free(r->name);
	free(r->nodes);
	free(r->children);
	r->name = r->nodes = r->children = NULL;
}

static int finish_entry(struct yaml_reading *r)
{
	struct cpl_topology_entry entry = {.name = r->name,
	                                   .nodes = r->nodes,
	                                   .switches = r->children,
	                                   .block = r->block};
	int rc = 0;

	if (r->name && !r->nodes && !r->children)
		rc = cpl_lines_fail(r->in, "before this line %.40s has neither "
		                           "nodes nor children",
		                    r->name);
	else if (r->name)
		rc = cpl_topology_add(r->in, r->draft, &entry);
	clear(r);
	return rc;
}

/* To the line's end or a comment, without quotes; NULL with err. "" is no value.
 */
static char *value(struct cpl_lines *in)
{
	const char *first, *last;
	char quote = '\0', *text;

	cpl_lines_end(in);
	if (in->p < in->line_end && (*in->p == '"' || *in->p == '\''))
		quote = *in->p++;
	first = last = in->p;
	while (in->p < in->line_end &&
	       (quote ? *in->p != quote
	              : *in->p != '#' || (in->p > first && in->p[-1] != ' ' &&
	                                  in->p[-1] != '\t')))
		if (!strchr(" \t\r", *in->p++) || quote)
			last = in->p;
	if (quote && in->p == in->line_end) {
		cpl_lines_fail(in, "a closing quote is missing");
		return NULL;
	}
	in->p += quote != '\0';
	if (!cpl_lines_done(in)) {
		cpl_lines_fail(in, "there is more behind the value");
		return NULL;
	}
	if (!quote && first < last && strchr("{[&*|>!", *first)) {
		cpl_lines_fail(in, "'%c' begins a form of YAML that is not "
		                   "read; a plain value is needed",
		               *first);
		return NULL;
	}
	text = strndup(first, (size_t)(last - first));
	if (!text)
		cpl_fail_memory(in->err);
	return text;
}

/* Past "KEY:". */
static int take_key(struct cpl_lines *in)
{
	int n = (int)(in->line_end - in->p);

	for (int k = 0; k < N_KEYS; k++) {
		size_t length = strlen(keys[k].name);

		if ((size_t)n > length &&
		    !strncmp(in->p, keys[k].name, length) &&
		    in->p[length] == ':' &&
		    ((size_t)n == length + 1 ||
		     strchr(" \t\r", in->p[length + 1]))) {
			in->p += length + 1;
			return keys[k].key;
		}
	}
	return cpl_lines_fail(in, "'%.*s' is not a key of a topology",
	                      n > 30 ? 30 : n, in->p);
}

static int set(struct yaml_reading *r, int key, char *text)
{
	char **to = key == NODES ? &r->nodes : &r->children;

	if (key == SWITCH || key == BLOCK) {
		if (finish_entry(r)) {
			free(text);
			return -1;
		}
		r->block = key == BLOCK;
		r->name = text;
		return 0;
	}
	if (!r->name || *to) {
		free(text);
		return cpl_lines_fail(r->in, "this is %s",
		                      r->name ? "given twice"
		                              : "of no switch or block");
	}
	*to = text;
	return 0;
}

static int read_line(struct yaml_reading *r)
{
	struct cpl_lines *in = r->in;
	int number, key;
	char *text;

	if (cpl_lines_take(in, "---"))
		return 0;
	if (cpl_lines_take(in, "-") && !cpl_lines_end(in) &&
	    cpl_lines_number(in, &number) && cpl_lines_done(in))
		return 0; /* of block_sizes */
	key = take_key(in);
	text = key < 0 ? NULL : value(in);
	if (!text)
		return -1;
	if (key == TOPOLOGY && r->topologies++) {
		free(text);
		return cpl_lines_fail(in, "a second topology; leave one of "
		                          "them in the file");
	}
	/* "block:" opens the blocks. */
	if (key >= TOPOLOGY || (key == BLOCK && !*text)) {
		free(text);
		return 0;
	}
	return set(r, key, text);
}

static int read_all(struct cpl_lines *in, const struct cpl_network_import *how,
                    struct cpl_draft *draft)
{
	struct yaml_reading r = {.in = in, .draft = draft};
	int rc = 0;

	(void)how;
	if (cpl_draft_class(draft, in, "link", 1.0) < 0)
		return -1;
	while (!rc && cpl_lines_next(in))
		if (!cpl_lines_done(in))
			rc = read_line(&r);
	if (!rc)
		rc = finish_entry(&r);
	clear(&r);
	return rc ? -1 : cpl_topology_check(in, draft);
}

const struct cpl_network_reader cpl_reader_topology_yaml = {
        .name = "topology-yaml",
        .summary = "Slurm's topology.yaml",
        .read = read_all,
};
