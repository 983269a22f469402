/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Host lists, a line each, whose names say where the nodes are: a regular
 * expression takes numbers or words out of a name, and each has a role. Without
 * one the names are HPE's, x1000c0s0b0n0: cabinet, chassis, slot, board, node.
 */
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sort.h"
#include "network/reader/reader_internal.h"

#define MAX_PARTS 16
#define XNAME "^x([0-9]+)c([0-9]+)s([0-9]+)b([0-9]+)n([0-9]+)$"
#define XNAME_ROLES "group,switch,switch,-,-"

enum role { NONE, GROUP, ROW, COLUMN, SWITCH, ROLES };

static const char *const role_names[ROLES] = {"-", "group", "row", "column",
                                              "switch"};

struct parsed_host {
	char *name;
	regmatch_t part[MAX_PARTS + 1];
	int number;    /* in the text */
	int at[ROLES]; /* rank of the parts with a role among all */
};

struct names {
	struct cpl_draft *draft;
	enum role role[MAX_PARTS];
	int n_parts;
	bool has[ROLES];
	struct parsed_host *host;
	int n, passed_over;
};

static int read_roles(struct names *s, const char *text)
{
	for (const char *p = text; *p; p += *p == ',') {
		size_t n = strcspn(p, ",");
		int r = 0;

		while (r < ROLES && (strlen(role_names[r]) != n ||
		                     strncmp(role_names[r], p, n)))
			r++;
		if (r == ROLES || s->n_parts == MAX_PARTS)
			return cpl_fail(s->draft->err,
			                "roles: '%.60s' is not a list of up to "
			                "%d of group, row, column, switch and -",
			                text, MAX_PARTS);
		s->role[s->n_parts++] = (enum role)r;
		s->has[r] = true;
		p += n;
	}
	if (s->has[SWITCH] == (s->has[ROW] || s->has[COLUMN]))
		return cpl_fail(s->draft->err,
		                "roles: '%.60s' must have switch, or row and "
		                "column",
		                text);
	return 0;
}

static int open_pattern(struct names *s, const struct cpl_network_import *how,
                        regex_t *regex)
{
	const char *pattern = how->pattern ? how->pattern : XNAME;
	char text[128];
	int rc;

	if (!how->pattern != !how->roles)
		return cpl_fail(s->draft->err,
		                "a pattern and roles are needed together");
	if (read_roles(s, how->roles ? how->roles : XNAME_ROLES))
		return -1;
	rc = regcomp(regex, pattern, REG_EXTENDED);
	if (rc) {
		regerror(rc, regex, text, sizeof(text));
		return cpl_fail(s->draft->err, "pattern '%.60s': %s", pattern,
		                text);
	}
	if (regex->re_nsub == (size_t)s->n_parts)
		return 0;
	cpl_fail(s->draft->err,
	         "pattern '%.60s' has %zu parts in parentheses; there are %d "
	         "roles",
	         pattern, regex->re_nsub, s->n_parts);
	regfree(regex);
	return -1;
}

/* Takes the list's name. */
static int add_host(struct names *s, const regex_t *regex, char **name)
{
	struct parsed_host host = {.number = s->n};

	if (regexec(regex, *name, MAX_PARTS + 1, host.part, 0)) {
		if (!s->passed_over++)
			cpl_fail(&s->draft->why, "%.60s", *name);
		return 0;
	}
	if (s->n == CPL_HOSTLIST_MAX)
		return cpl_fail(s->draft->err, "more than %d hosts",
		                CPL_HOSTLIST_MAX);
	if (cpl_array_grow(&s->host, s->n, sizeof(host), s->draft->err))
		return -1;
	host.name = *name;
	*name = NULL;
	s->host[s->n++] = host;
	return 0;
}

static int read_lines(struct names *s, struct cpl_lines *in,
                      const regex_t *regex)
{
	while (cpl_lines_next(in)) {
		struct cpl_hostlist list;
		const char *first;
		char *text;
		int rc;

		if (cpl_lines_done(in))
			continue;
		for (first = in->p;
		     in->p < in->line_end && !strchr(" \t\r#", *in->p); in->p++)
			;
		text = strndup(first, (size_t)(in->p - first));
		if (!text)
			return cpl_fail_memory(in->err);
		rc = cpl_lines_done(in) ? cpl_hostlist_parse(&list, text, in->err)
		                        : cpl_fail(in->err,
		                                   "one host list is needed");
		free(text);
		if (rc)
			return cpl_lines_prefix(in);
		for (int i = 0; i < list.count && !rc; i++)
			rc = add_host(s, regex, &list.name[i]);
		cpl_hostlist_free(&list);
		if (rc)
			return cpl_lines_prefix(in);
	}
	return 0;
}

/* Numbers by their value, words by their letters. */
static int compare_field(const struct parsed_host *a,
                         const struct parsed_host *b, int part)
{
	const regmatch_t *x = &a->part[part + 1], *y = &b->part[part + 1];
	const char *s = a->name + (x->rm_so < 0 ? 0 : x->rm_so);
	const char *t = b->name + (y->rm_so < 0 ? 0 : y->rm_so);
	size_t n = (size_t)(x->rm_eo - x->rm_so);
	size_t m = (size_t)(y->rm_eo - y->rm_so);
	int order;

	if (n == strspn(s, "0123456789") && m == strspn(t, "0123456789")) {
		for (; n > 1 && *s == '0'; n--)
			s++;
		for (; m > 1 && *t == '0'; m--)
			t++;
		if (n != m)
			return n < m ? -1 : 1;
	}
	order = strncmp(s, t, n < m ? n : m);
	return order ? order : (n > m) - (n < m);
}

struct name_order {
	const struct names *names;
	enum role role;
	bool in_group;
};

struct name_item {
	struct parsed_host *host;
	const struct name_order *order;
};

static int compare_role(const struct name_item *x, const struct name_item *y)
{
	const struct parsed_host *a = x->host, *b = y->host;
	const struct name_order *o = x->order;
	int order = 0;

	if (o->in_group && a->at[GROUP] != b->at[GROUP])
		return a->at[GROUP] < b->at[GROUP] ? -1 : 1;
	for (int p = 0; p < o->names->n_parts && !order; p++)
		if (o->names->role[p] == o->role)
			order = compare_field(a, b, p);
	return order;
}

static CPL_SORT_BY(by_role, struct name_item, CPL_ORDER(compare_role(x, y)),
                   CPL_UP(host->number))

/* Number the values that hosts have of a role, from 0, in each group or among
 * all; how many there are at most. */
static int rank(struct names *s, struct name_item *list, enum role role,
                bool in_group)
{
	struct name_order o = {s, role, in_group};
	int most = 0, at = 0;

	for (int i = 0; i < s->n; i++)
		list[i] = (struct name_item){&s->host[i], &o};
	qsort(list, (size_t)s->n, sizeof(*list), by_role);
	for (int i = 0; i < s->n; i++) {
		if (i && in_group &&
		    list[i].host->at[GROUP] != list[i - 1].host->at[GROUP])
			at = 0;
		else if (i && compare_role(&list[i - 1], &list[i]))
			at++;
		list[i].host->at[role] = at;
		most = at > most ? at : most;
	}
	return most + 1;
}

static CPL_SORT_BY(by_router, struct parsed_host, CPL_UP(at[GROUP]),
                   CPL_UP(at[ROW]), CPL_UP(at[COLUMN]), CPL_UP(at[SWITCH]),
                   CPL_UP(number))

static bool same_router(const struct parsed_host *a,
                        const struct parsed_host *b)
{
	return !memcmp(a->at, b->at, sizeof(a->at));
}

/* Hosts are sorted by router. */
static json_t *nodes_json(const struct names *s, int rows, int columns,
                          char **name, int *most)
{
	json_t *nodes = json_object();
	bool whole = nodes;

	for (int i = 0, end; i < s->n; i = end) {
		const int *at = s->host[i].at;
		char id[24], *text;

		for (end = i; end < s->n &&
		              same_router(&s->host[i], &s->host[end]);
		     end++)
			name[end - i] = s->host[end].name;
		*most = end - i > *most ? end - i : *most;
		snprintf(id, sizeof(id), "%lld",
		         ((long long)at[GROUP] * rows + at[ROW]) * columns +
		                 at[COLUMN] + at[SWITCH]);
		text = cpl_hostlist_format(name, end - i);
		whole = text &&
		        !json_object_set_new(nodes, id, json_string(text)) &&
		        whole;
		free(text);
	}
	if (whole)
		return nodes;
	json_decref(nodes);
	return NULL;
}

static int describe(struct names *s, const struct cpl_network_import *how)
{
	struct name_item *list = malloc(((size_t)s->n + 1) * sizeof(*list));
	char **name = malloc(((size_t)s->n + 1) * sizeof(*name));
	int groups, rows, columns, most = 1;
	json_t *nodes;

	if (!list || !name)
		goto memory;
	groups = rank(s, list, GROUP, false);
	rows = rank(s, list, ROW, false);
	columns = s->has[SWITCH] ? rank(s, list, SWITCH, true)
	                         : rank(s, list, COLUMN, false);
	qsort(s->host, (size_t)s->n, sizeof(*s->host), by_router);
	nodes = nodes_json(s, rows, columns, name, &most);
	s->draft->description =
	        nodes ? json_pack("{s:s, s:i, s:s, s:s, s:i, s:i, s:i, s:i, "
	                          "s:o}",
	                          "format", "commplace-network", "version", 1,
	                          "name", how->name, "type", "dragonfly",
	                          "groups", groups, "rows", rows, "columns",
	                          columns, "nodes_per_router", most, "nodes",
	                          nodes)
	              : NULL;
memory:
	cpl_free_all(list, name);
	return s->draft->description ? 0 : cpl_fail_memory(s->draft->err);
}

static void doubts(struct names *s, const struct cpl_network_import *how)
{
	if (!how->pattern)
		cpl_draft_doubt(s->draft,
		                "cabinets are taken for groups, slots for "
		                "switches that are all joined: a pattern and "
		                "roles say otherwise");
	cpl_draft_doubt(s->draft, "names do not tell how many links groups have "
	                          "to each other, nor bandwidths; 1 stands for "
	                          "all of them");
	if (s->passed_over)
		cpl_draft_doubt(s->draft,
		                "%d names are left out, which the pattern does "
		                "not match; the first is %s",
		                s->passed_over, s->draft->why.text);
	s->draft->why.text[0] = '\0';
}

static int read_all(struct cpl_lines *in, const struct cpl_network_import *how,
                    struct cpl_draft *draft)
{
	struct names s = {.draft = draft};
	regex_t regex;
	int rc;

	if (open_pattern(&s, how, &regex))
		return -1;
	rc = read_lines(&s, in, &regex);
	if (!rc && !s.n)
		rc = cpl_fail(draft->err, "%s: no name matches the pattern",
		              in->source);
	if (!rc)
		rc = describe(&s, how);
	if (!rc)
		doubts(&s, how);
	regfree(&regex);
	for (int i = 0; i < s.n; i++)
		free(s.host[i].name);
	free(s.host);
	return rc;
}

const struct cpl_network_reader cpl_reader_names = {
        .name = "names",
        .summary = "host lists whose names say where nodes are",
        .read = read_all,
};
