/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A table of which node is on which switch, as sites keep it: a line
 * "NODES,SWITCH[,ABOVE[,...]]", a host list, its switch, the switch above that
 * one, and so on. Separators are commas, semicolons or tabs, but not inside
 * brackets. A first line that begins with "node", "nodes", "host" or "hostname"
 * is a header.
 *
 * The same as TOML: a table [nodes] of NODES = "SWITCH" or NODES = ["SWITCH",
 * "ABOVE", ...], with comments, bare and quoted keys, arrays over several lines;
 * of strings those without escapes.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "network/reader/switch_list.h"

/* The next field without blanks and quotes around it: "" is an empty one. NULL
 * with err. */
static char *field(struct cpl_lines *in)
{
	const char *first, *last;
	char *text;
	int depth = 0;

	cpl_lines_end(in);
	first = last = in->p;
	for (; in->p < in->line_end; in->p++) {
		depth += (*in->p == '[') - (*in->p == ']');
		if (depth <= 0 && strchr(",;\t", *in->p))
			break;
		if (!strchr(" \r", *in->p))
			last = in->p + 1;
	}
	in->p += in->p < in->line_end;
	if (last - first >= 2 && *first == '"' && last[-1] == '"') {
		first++;
		last--;
	}
	text = strndup(first, (size_t)(last - first));
	if (!text)
		cpl_fail_memory(in->err);
	return text;
}

static bool is_header(const struct cpl_switch_list *r, const char *text)
{
	static const char *const name[] = {"node", "nodes", "host", "hostname"};

	for (size_t i = 0; i < sizeof(name) / sizeof(*name) && !r->n; i++)
		if (!strcasecmp(text, name[i]))
			return true;
	return false;
}

static int add_hosts(struct cpl_switch_list *r, int at, const char *text)
{
	struct cpl_hostlist list;
	int rc = 0;

	if (cpl_hostlist_parse(&list, text, r->in->err))
		return cpl_lines_prefix(r->in);
	for (int i = 0; i < list.count && rc >= 0; i++) {
		rc = cpl_draft_host(r->draft, at, list.name[i]);
		if (rc == 0)
			rc = cpl_lines_fail(r->in,
			                    "node %.60s is in a line before, or "
			                    "twice in this one",
			                    list.name[i]);
		else if (rc < 0)
			cpl_lines_prefix(r->in);
	}
	cpl_hostlist_free(&list);
	return rc < 0 ? -1 : 0;
}

static int read_switches(struct cpl_switch_list *r, const char *hosts)
{
	int at = -1;

	while (!cpl_lines_end(r->in)) {
		char *name = field(r->in);
		int next = name && *name ? cpl_switch_list_find(r, name) : -1, rc;

		if (name && !*name)
			cpl_lines_fail(r->in, "a field is empty");
		free(name);
		if (next < 0)
			return -1;
		rc = at < 0 ? add_hosts(r, next, hosts) : cpl_switch_list_join(r, at, next);
		if (rc)
			return -1;
		at = next;
	}
	return at < 0 ? cpl_lines_fail(r->in, "a switch is missing") : 0;
}

static int read_all(struct cpl_lines *in, const struct cpl_network_import *how,
                    struct cpl_draft *draft)
{
	struct cpl_switch_list r = {.in = in, .draft = draft};
	int rc = cpl_draft_class(draft, in, "link", 1.0) < 0 ? -1 : 0;

	(void)how;
	while (!rc && cpl_lines_next(in)) {
		char *hosts;

		if (cpl_lines_done(in))
			continue;
		hosts = field(in);
		if (!hosts)
			rc = -1;
		else if (!is_header(&r, hosts))
			rc = read_switches(&r, hosts);
		free(hosts);
	}
	return cpl_switch_list_close(&r, rc);
}

/* A string in quotes; a key may also be bare. NULL with err. */
static char *toml_word(struct cpl_lines *in, bool key)
{
	static const char bare[] = "abcdefghijklmnopqrstuvwxyz"
	                           "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
	char quote = '\0', *text;
	const char *first;

	if (!cpl_lines_end(in) && (*in->p == '"' || *in->p == '\''))
		quote = *in->p++;
	first = in->p;
	while (in->p < in->line_end &&
	       (quote ? *in->p != quote && *in->p != '\\'
	              : key && *in->p && strchr(bare, *in->p)))
		in->p++;
	if (in->p == first || (quote && (in->p == in->line_end ||
	                                 *in->p != quote))) {
		cpl_lines_fail(in, "a %s is needed, without escapes",
		               key ? "key" : "string in quotes");
		return NULL;
	}
	text = strndup(first, (size_t)(in->p - first));
	if (!text)
		cpl_fail_memory(in->err);
	in->p += quote != '\0';
	return text;
}

/* The next switch of a value; at: the one below, -1: none. Its index, -1 with
 * err. */
static int toml_switch(struct cpl_switch_list *r, const char *hosts, int at)
{
	char *name = toml_word(r->in, false);
	int next = name ? cpl_switch_list_find(r, name) : -1;

	free(name);
	if (next < 0 || (at < 0 ? add_hosts(r, next, hosts)
	                        : cpl_switch_list_join(r, at, next)))
		return -1;
	return next;
}

static int toml_array(struct cpl_switch_list *r, const char *hosts)
{
	bool comma = true;
	int at = -1;

	for (;;) {
		while (cpl_lines_done(r->in))
			if (!cpl_lines_next(r->in))
				return cpl_lines_fail(r->in,
				                      "the array has no end");
		if (cpl_lines_take(r->in, "]"))
			break;
		if (!comma)
			return cpl_lines_fail(r->in, "a comma is missing");
		at = toml_switch(r, hosts, at);
		if (at < 0)
			return -1;
		comma = !cpl_lines_done(r->in) && cpl_lines_take(r->in, ",");
	}
	return at < 0 ? cpl_lines_fail(r->in, "a switch is missing") : 0;
}

static int toml_entry(struct cpl_switch_list *r)
{
	char *hosts = toml_word(r->in, true);
	int rc;

	if (!hosts)
		return -1;
	if (cpl_lines_end(r->in) || !cpl_lines_take(r->in, "="))
		rc = cpl_lines_fail(r->in, "\"=\" is missing");
	else if (!cpl_lines_end(r->in) && cpl_lines_take(r->in, "["))
		rc = toml_array(r, hosts);
	else
		rc = toml_switch(r, hosts, -1) < 0 ? -1 : 0;
	free(hosts);
	if (!rc && !cpl_lines_done(r->in))
		rc = cpl_lines_fail(r->in, "the line continues after the value");
	return rc;
}

static int read_toml(struct cpl_lines *in, const struct cpl_network_import *how,
                     struct cpl_draft *draft)
{
	struct cpl_switch_list r = {.in = in, .draft = draft};
	int rc = cpl_draft_class(draft, in, "link", 1.0) < 0 ? -1 : 0;
	bool open = false;

	(void)how;
	while (!rc && cpl_lines_next(in)) {
		if (cpl_lines_done(in))
			continue;
		if (!open && cpl_lines_take(in, "[nodes]") &&
		    cpl_lines_done(in))
			open = true;
		else if (open && *in->p != '[')
			rc = toml_entry(&r);
		else
			rc = cpl_lines_fail(in, "one table [nodes] is needed, "
			                        "and nothing else");
	}
	return cpl_switch_list_close(&r, rc);
}

const struct cpl_network_reader cpl_reader_node_list = {
        .name = "node-list",
        .summary = "a table of nodes and their switches",
        .read = read_all,
};

const struct cpl_network_reader cpl_reader_node_toml = {
        .name = "node-toml",
        .summary = "the same as TOML",
        .read = read_toml,
};
