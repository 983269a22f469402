/* SPDX-License-Identifier: GPL-2.0-or-later */
/* topology.conf(5) of Slurm, TopologyPlugin=topology/tree. */
#include <stdlib.h>
#include <string.h>

#include "network/reader/reader_internal.h"

/* A value of a line: up to white space, or in quotes. */
static char *value(struct cpl_lines *in, const char *key)
{
	bool quoted = cpl_lines_take(in, "\"");
	const char *first = in->p, *stop = quoted ? "\"" : " \t\r#";
	char *text;

	while (in->p < in->line_end && !strchr(stop, *in->p))
		in->p++;
	if (in->p == first || (quoted && in->p == in->line_end)) {
		cpl_lines_fail(in, "%s has no %s", key,
		               in->p == first ? "value" : "closing quote");
		return NULL;
	}
	text = strndup(first, (size_t)(in->p - first));
	if (!text)
		cpl_fail_memory(in->err);
	in->p += quoted;
	return text;
}

/* "KEY =", white space before and behind the "=" as Slurm takes it. */
static bool take_key(struct cpl_lines *in, const char *key)
{
	const char *first = in->p;

	if (cpl_lines_take(in, key) && !cpl_lines_end(in) &&
	    cpl_lines_take(in, "=")) {
		cpl_lines_end(in);
		return true;
	}
	in->p = first;
	return false;
}

struct entry {
	char *name, *nodes, *switches;
};

static int read_entry(struct cpl_lines *in, struct entry *e)
{
	while (!cpl_lines_end(in) && *in->p != '#') {
		char *speed = NULL, **out;
		const char *key;

		if (cpl_lines_take(in, "\\")) {
			/* The entry goes on in the next line. */
			if (!cpl_lines_end(in))
				return cpl_lines_fail(
				        in, "a \"\\\" is inside the line; it "
				            "may only end it");
			cpl_lines_next(in);
			continue;
		}
		if (take_key(in, "SwitchName")) {
			key = "SwitchName";
			out = &e->name;
		} else if (take_key(in, "Nodes")) {
			key = "Nodes";
			out = &e->nodes;
		} else if (take_key(in, "Switches")) {
			key = "Switches";
			out = &e->switches;
		} else if (take_key(in, "LinkSpeed")) {
			key = "LinkSpeed";
			out = &speed;
		} else if (cpl_lines_take(in, "Include ") ||
		           cpl_lines_take(in, "Include\t")) {
			return cpl_lines_fail(
			        in, "Include is not followed; join the files "
			            "to one first");
		} else {
			int n = (int)(in->line_end - in->p);

			return cpl_lines_fail(
			        in,
			        "'%.*s' is not a key of a switch; the keys are "
			        "SwitchName, Nodes, Switches and LinkSpeed",
			        n > 30 ? 30 : n, in->p);
		}
		if (*out)
			return cpl_lines_fail(in, "%s is given twice", key);
		*out = value(in, key);
		if (!*out)
			return -1;
		free(speed);
	}
	if (!e->name)
		return cpl_lines_fail(in, "SwitchName is missing");
	if (!e->nodes && !e->switches)
		return cpl_lines_fail(in,
		                      "switch %.40s has neither Nodes nor "
		                      "Switches",
		                      e->name);
	return 0;
}

static int parse_list(const struct cpl_lines *in, const char *key,
                      const char *text, struct cpl_hostlist *list)
{
	if (!cpl_hostlist_parse(list, text, in->err))
		return 0;
	return cpl_fail_prefix(in->err, "%s:%d: %s: ", in->source, in->line,
	                       key);
}

static int add_nodes(struct cpl_lines *in, struct cpl_draft *draft, int at,
                     const char *text)
{
	struct cpl_hostlist list = {0};
	int rc = text ? parse_list(in, "Nodes", text, &list) : 0;

	for (int i = 0; !rc && i < list.count; i++) {
		rc = cpl_draft_host(draft, at, list.name[i]);
		if (rc == 0)
			rc = cpl_lines_fail(in,
			                    "node %.60s is on two switches, or "
			                    "twice on one",
			                    list.name[i]);
		else
			rc = rc > 0 ? 0 : cpl_lines_prefix(in);
	}
	cpl_hostlist_free(&list);
	return rc;
}

static int add_switches(struct cpl_lines *in, struct cpl_draft *draft, int at,
                        const char *text)
{
	struct cpl_hostlist list = {0};
	int rc = text ? parse_list(in, "Switches", text, &list) : 0;

	for (int i = 0; !rc && i < list.count; i++) {
		struct cpl_draft_link link = {.to = at, .line = in->line};

		link.from = cpl_draft_router(draft, list.name[i],
		                             strlen(list.name[i]));
		if (link.from < 0)
			rc = cpl_lines_prefix(in);
		else if (link.from == at)
			rc = cpl_lines_fail(in, "switch %.60s is its own child",
			                    list.name[i]);
		else if (cpl_draft_add_link(draft, &link))
			rc = cpl_lines_prefix(in);
	}
	cpl_hostlist_free(&list);
	return rc;
}

static int add_entry(struct cpl_lines *in, struct cpl_draft *draft,
                     const struct entry *e)
{
	struct cpl_hostlist name = {0};
	int at;

	if (parse_list(in, "SwitchName", e->name, &name))
		return -1;
	at = name.count;
	cpl_hostlist_free(&name);
	if (at != 1)
		return cpl_lines_fail(in, "SwitchName: '%.60s' is not one name",
		                      e->name);
	at = cpl_draft_router(draft, e->name, strlen(e->name));
	if (at < 0)
		return cpl_lines_prefix(in);
	if (draft->router[at].line)
		return cpl_lines_fail(in, "switch %.60s is already in line %d",
		                      e->name, draft->router[at].line);
	draft->router[at].line = in->line;
	return add_nodes(in, draft, at, e->nodes) ||
	                       add_switches(in, draft, at, e->switches)
	               ? -1
	               : 0;
}

static int check_children(const struct cpl_lines *in,
                          const struct cpl_draft *draft)
{
	for (int i = 0; i < draft->n_links; i++) {
		const struct cpl_draft_router *child =
		        &draft->router[draft->link[i].from];

		if (!child->line)
			return cpl_fail(in->err,
			                "%s:%d: switch %.60s is described "
			                "nowhere",
			                in->source, draft->link[i].line,
			                child->name);
	}
	return 0;
}

static int read_all(struct cpl_lines *in, const struct cpl_network_import *how,
                    struct cpl_draft *draft)
{
	(void)how;
	if (cpl_draft_class(draft, in, "link", 1.0) < 0)
		return -1;
	while (cpl_lines_next(in)) {
		struct entry e = {NULL, NULL, NULL};
		int rc;

		if (cpl_lines_end(in) || *in->p == '#')
			continue;
		rc = read_entry(in, &e);
		if (!rc)
			rc = add_entry(in, draft, &e);
		free(e.name);
		free(e.nodes);
		free(e.switches);
		if (rc)
			return -1;
	}
	return check_children(in, draft);
}

const struct cpl_network_reader cpl_reader_topology_conf = {
        .name = "topology-conf",
        .summary = "Slurm's topology.conf of topology/tree",
        .read = read_all,
};
