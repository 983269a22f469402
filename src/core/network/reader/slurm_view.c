/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "network/reader/slurm_view.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/lines.h"
#include "network/reader/reader_internal.h"

/* A NUL is no white space, or a line with one would have no end. */
static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* A word up to white space, as a copy; NULL with err. */
static char *word(struct cpl_lines *in)
{
	const char *first = in->p;
	char *text;

	while (in->p < in->line_end && !is_space(*in->p))
		in->p++;
	text = strndup(first, (size_t)(in->p - first));
	if (!text)
		cpl_fail_memory(in->err);
	return text;
}

int cpl_slurm_view_nodes(struct cpl_slurm_view *view, const char *source,
                         const char *text, size_t length,
                         struct cpl_error *err)
{
	struct cpl_lines in = cpl_lines_of(source, text, length, err);

	while (cpl_lines_next(&in)) {
		char *name;
		int rc;

		if (!cpl_lines_take(&in, "NodeName="))
			continue;
		name = word(&in);
		if (!name)
			return -1;
		rc = *name ? cpl_hostlist_push(&view->nodes, name, err)
		           : cpl_lines_fail(&in, "NodeName has no value");
		free(name);
		if (rc)
			return -1;
	}
	return 0;
}

/* What a line says of a switch; "Switches" alone is looked for. */
struct view_entry {
	char *name, *nodes;
	bool above;
};

static int read_entry(struct cpl_lines *in, struct view_entry *e)
{
	bool nodes = false;

	e->name = word(in);
	while (e->name && !cpl_lines_end(in)) {
		nodes = !e->nodes && cpl_lines_take(in, "Nodes=");
		e->above = e->above || cpl_lines_take(in, "Switches=");
		if (nodes) {
			e->nodes = word(in);
			if (!e->nodes)
				return -1;
		}
		while (in->p < in->line_end && !is_space(*in->p))
			in->p++;
	}
	if (!e->name)
		return -1;
	return *e->name ? 0 : cpl_lines_fail(in, "the switch has no name");
}

/* Takes the name. */
static int add_leaf(struct cpl_slurm_view *view, const struct cpl_lines *in,
                    char *name, const char *nodes)
{
	struct cpl_slurm_switch leaf = {.name = name};

	if (cpl_hostlist_parse(&leaf.hosts, nodes, in->err)) {
		cpl_fail_prefix(in->err, "switch %.60s: ", name);
		free(name);
		return cpl_lines_prefix(in);
	}
	if (cpl_array_grow(&view->leaf, view->n_leaves, sizeof(leaf),
	                   in->err)) {
		cpl_hostlist_free(&leaf.hosts);
		free(name);
		return -1;
	}
	view->leaf[view->n_leaves++] = leaf;
	return 0;
}

static int take_yaml(void *into, struct cpl_lines *in,
                     const struct cpl_topology_entry *e)
{
	char *name;

	if (!e->nodes || e->switches)
		return 0;
	name = strdup(e->name);
	return name ? add_leaf(into, in, name, e->nodes)
	            : cpl_fail_memory(in->err);
}

static bool take_name(struct cpl_lines *in)
{
	return cpl_lines_take(in, "SwitchName=") ||
	       cpl_lines_take(in, "BlockName=") ||
	       cpl_lines_take(in, "RingName=") ||
	       cpl_lines_take(in, "TorusName=");
}

int cpl_slurm_view_topology(struct cpl_slurm_view *view, const char *source,
                            const char *text, size_t length,
                            const char *topology, struct cpl_error *err)
{
	struct cpl_lines in = cpl_lines_of(source, text, length, err);
	const struct cpl_topology_taker to = {.take = take_yaml, .into = view};
	int rc = 0;

	if (cpl_topology_is_yaml(text, text + length))
		return cpl_topology_yaml(&in, topology, &to) < 0 ? -1 : 0;
	while (!rc && cpl_lines_next(&in)) {
		struct view_entry e = {0};

		if (!take_name(&in))
			continue;
		rc = read_entry(&in, &e);
		if (!rc && e.nodes && !e.above) {
			rc = add_leaf(view, &in, e.name, e.nodes);
			e.name = NULL;
		}
		cpl_free_all(e.name, e.nodes);
	}
	return rc;
}

void cpl_slurm_view_free(struct cpl_slurm_view *view)
{
	cpl_hostlist_free(&view->nodes);
	for (int i = 0; i < view->n_leaves; i++) {
		free(view->leaf[i].name);
		cpl_hostlist_free(&view->leaf[i].hosts);
	}
	free(view->leaf);
	*view = (struct cpl_slurm_view){.n_leaves = 0};
}
