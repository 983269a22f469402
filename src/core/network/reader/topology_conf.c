/* SPDX-License-Identifier: GPL-2.0-or-later */
/* topology.conf(5) of Slurm, TopologyPlugin=topology/tree or topology/block, and
 * what `scontrol show topology` prints. */
#include <stdlib.h>
#include <string.h>

#include "network/reader/reader_internal.h"

/* The router above blocks; no switch can have that name. */
#define BLOCKS "(blocks)"

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

enum {
	NAME,
	NODES,
	SWITCHES,
	BLOCK,
	SIZES,
	AGGREGATED,
	LEVEL,
	/* Keys from here on are passed over, as often as they come. */
	SPEED,
	BLOCK_INDEX,
	BLOCK_SIZE,
	KEYS
};

static const char *const keys[KEYS] = {
        "SwitchName",      "Nodes", "Switches",  "BlockName",  "BlockSizes",
        "AggregatedBlock", "Level", "LinkSpeed", "BlockIndex", "BlockSize"};

/* A line's values by key, NULL: not given. */
struct conf_entry {
	char *value[KEYS];
};

static int read_key(struct cpl_lines *in, struct conf_entry *e)
{
	int k = 0, n = (int)(in->line_end - in->p);

	while (k < KEYS && !take_key(in, keys[k]))
		k++;
	if (k == KEYS && cpl_lines_take_word(in, "Include"))
		return cpl_lines_fail(in, "Include is not followed; join the "
		                          "files to one first");
	if (k == KEYS)
		return cpl_lines_fail(
		        in,
		        "'%.*s' is not a key of a switch; the keys are "
		        "SwitchName, Nodes, Switches and LinkSpeed, of blocks "
		        "BlockName, Nodes and BlockSizes",
		        n > 30 ? 30 : n, in->p);
	/* Slurm passes over the speed, and takes it when it comes twice. */
	if (e->value[k] && k < SPEED)
		return cpl_lines_fail(in, "%s is given twice", keys[k]);
	free(e->value[k]);
	e->value[k] = value(in, keys[k]);
	return e->value[k] ? 0 : -1;
}

static int read_entry(struct cpl_lines *in, struct conf_entry *e)
{
	while (!cpl_lines_done(in)) {
		if (!cpl_lines_take(in, "\\")) {
			if (read_key(in, e))
				return -1;
			continue;
		}
		/* The entry goes on in the next line. */
		if (!cpl_lines_end(in))
			return cpl_lines_fail(in, "a \"\\\" is inside the "
			                          "line; it may only end it");
		cpl_lines_next(in);
	}
	if (e->value[AGGREGATED] || (e->value[SIZES] && !e->value[NAME]))
		return 0;
	if (!e->value[NAME] == !e->value[BLOCK])
		return cpl_lines_fail(in, "SwitchName is %s",
		                      e->value[NAME] ? "together with BlockName"
		                                     : "missing");
	if (!e->value[NODES] && !e->value[SWITCHES])
		return cpl_lines_fail(in,
		                      "%s %.40s has neither Nodes nor "
		                      "Switches",
		                      e->value[NAME] ? "switch" : "block",
		                      e->value[e->value[NAME] ? NAME : BLOCK]);
	return 0;
}

static int parse_list(const struct cpl_lines *in, const char *key,
                      const char *text, struct cpl_hostlist *list)
{
	if (!text || !cpl_hostlist_parse(list, text, in->err))
		return 0;
	cpl_fail_prefix(in->err, "%s: ", key);
	return cpl_lines_prefix(in);
}

static int add_node(struct cpl_lines *in, struct cpl_draft *draft, int at,
                    const char *name)
{
	int rc = cpl_draft_host(draft, at, name);

	if (rc == 0)
		return cpl_lines_fail(
		        in, "node %.60s is on two switches, or twice on one",
		        name);
	return rc > 0 ? 0 : cpl_lines_prefix(in);
}

static int add_switch(struct cpl_lines *in, struct cpl_draft *draft, int at,
                      const char *name)
{
	struct cpl_draft_link link = {.to = at, .line = in->line};

	link.from = cpl_draft_router(draft, name, strlen(name));
	if (link.from == at)
		return cpl_lines_fail(in, "switch %.60s is its own child",
		                      name);
	return link.from < 0 || cpl_draft_add_link(draft, &link)
	               ? cpl_lines_prefix(in)
	               : 0;
}

/* Add all of a list of nodes, or of switches, to switch `at`. */
static int add_all(struct cpl_lines *in, struct cpl_draft *draft, int at,
                   const char *key, const char *text,
                   int (*add)(struct cpl_lines *in, struct cpl_draft *draft,
                              int at, const char *name))
{
	struct cpl_hostlist list = {0};
	int rc = parse_list(in, key, text, &list);

	for (int i = 0; !rc && i < list.count; i++)
		rc = add(in, draft, at, list.name[i]);
	cpl_hostlist_free(&list);
	return rc;
}

/* A block's link to what joins all of them. */
static int join_block(struct cpl_lines *in, struct cpl_draft *draft, int at)
{
	struct cpl_draft_link link = {.from = at, .line = in->line};

	link.to = cpl_draft_router(draft, BLOCKS, strlen(BLOCKS));
	if (link.to < 0)
		return cpl_lines_prefix(in);
	draft->router[link.to].line = in->line;
	return cpl_draft_add_link(draft, &link) ? cpl_lines_prefix(in) : 0;
}

int cpl_topology_add(struct cpl_lines *in, struct cpl_draft *draft,
                     const struct cpl_topology_entry *e)
{
	const char *what = e->kind == CPL_TOPOLOGY_BLOCK ? "BlockName" : "SwitchName";
	const char *name = e->name;
	struct cpl_hostlist list = {0};
	int at;

	if (parse_list(in, what, name, &list))
		return -1;
	at = list.count;
	cpl_hostlist_free(&list);
	if (at != 1)
		return cpl_lines_fail(in, "%s: '%.60s' is not one name", what,
		                      name);
	at = cpl_draft_router(draft, name, strlen(name));
	if (at < 0)
		return cpl_lines_prefix(in);
	if (draft->router[at].line)
		return cpl_lines_fail(in, "switch %.60s is already in line %d",
		                      name, draft->router[at].line);
	draft->router[at].line = in->line;
	if (e->kind == CPL_TOPOLOGY_BLOCK && join_block(in, draft, at))
		return -1;
	return add_all(in, draft, at, "Nodes", e->nodes, add_node) ||
	                       add_all(in, draft, at, "Switches", e->switches,
	                               add_switch)
	               ? -1
	               : 0;
}

int cpl_topology_check(const struct cpl_lines *in, struct cpl_draft *draft)
{
	int blocks = cpl_draft_find(draft, BLOCKS);

	if (blocks >= 0)
		cpl_fail(&draft->doubt,
		         "how blocks are joined is not told; a switch above all "
		         "of them stands for it");
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

/* Where scontrol printed the lines, they have a Level, and the Nodes of a
 * switch above others are those below it, as are those of aggregated blocks. */
static int take_entry(struct cpl_lines *in, struct cpl_draft *draft,
                      const struct conf_entry *e)
{
	bool shown = e->value[LEVEL] && e->value[SWITCHES];
	struct cpl_topology_entry entry = {
	        .name = e->value[e->value[NAME] ? NAME : BLOCK],
	        .nodes = shown ? NULL : e->value[NODES],
	        .switches = e->value[SWITCHES],
	        .kind = e->value[BLOCK] ? CPL_TOPOLOGY_BLOCK
	                              : CPL_TOPOLOGY_SWITCH};

	if (e->value[AGGREGATED] || !entry.name)
		return 0;
	return cpl_topology_add(in, draft, &entry);
}

static int read_all(struct cpl_lines *in, const struct cpl_network_import *how,
                    struct cpl_draft *draft)
{
	(void)how;
	if (cpl_draft_class(draft, in, "link", 1.0) < 0)
		return -1;
	while (cpl_lines_next(in)) {
		struct conf_entry e = {{NULL}};
		int rc;

		if (cpl_lines_done(in))
			continue;
		rc = read_entry(in, &e);
		if (!rc)
			rc = take_entry(in, draft, &e);
		for (int k = 0; k < KEYS; k++)
			free(e.value[k]);
		if (rc)
			return -1;
	}
	return cpl_topology_check(in, draft);
}

const struct cpl_network_reader cpl_reader_topology_conf = {
        .name = "topology-conf",
        .summary = "Slurm's topology.conf, or scontrol show topology",
        .read = read_all,
};
