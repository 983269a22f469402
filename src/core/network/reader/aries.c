/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Link lists of Cray XC machines, as the damselfly tools take them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "network/reader/aries.h"

static int compare(const void *a, const void *b)
{
	const struct cpl_aries_tile *x = a, *y = b;
	int d = 0;

	while (d < CPL_ARIES_DIMS - 1 && x->at[d] == y->at[d])
		d++;
	return (x->at[d] > y->at[d]) - (x->at[d] < y->at[d]);
}

/* "c0-0c0s0a0l00(0:0:0)" */
static int read_tile(struct cpl_lines *in, struct cpl_aries_tile *out)
{
	const char *first = in->p;

	while (in->p < in->line_end && !strchr(" \t\r(", *in->p))
		in->p++;
	if (in->p == first || !cpl_lines_take(in, "("))
		goto fail;
	for (int d = 0; d < CPL_ARIES_DIMS; d++)
		if (!cpl_lines_number(in, &out->at[d]) ||
		    !cpl_lines_take(in, d == CPL_ARIES_DIMS - 1 ? ")" : ":"))
			goto fail;
	return 0;
fail:
	return cpl_lines_fail(
	        in, "'%.*s' is not a tile; expected NAME(group:row:column)",
	        in->line_end - first > 30 ? 30 : (int)(in->line_end - first),
	        first);
}

static int read_word(struct cpl_lines *in, const char *what, char *out,
                     size_t size)
{
	size_t n = 0;

	cpl_lines_end(in);
	while (in->p < in->line_end && !strchr(" \t\r", *in->p) && n + 1 < size)
		out[n++] = *in->p++;
	out[n] = '\0';
	if (!n || n + 1 == size)
		return cpl_lines_fail(in, "%s is missing, or too long", what);
	return 0;
}

/* Bytes/s of one tile's cable (Faanes et al., Cray Cascade, 2012). */
static double bandwidth_of(const char *colour)
{
	return !strcmp(colour, "green") || !strcmp(colour, "black")
	               ? CPL_ARIES_ELECTRICAL
	       : !strcmp(colour, "blue") ? CPL_ARIES_OPTICAL
	                                 : 1.0;
}

static int read_line(struct cpl_lines *in, struct cpl_draft *draft,
                     struct cpl_aries_list *list)
{
	struct cpl_aries_link item = {.class = -1, .line = in->line};
	char colour[16], arrow[4];

	if (read_tile(in, &item.from) ||
	    read_word(in, "the colour", colour, sizeof(colour)) ||
	    read_word(in, "\"->\"", arrow, sizeof(arrow)))
		return -1;
	if (strcmp(arrow, "->"))
		return cpl_lines_fail(in, "'%s' is where \"->\" is expected",
		                      arrow);
	if (cpl_lines_end(in))
		return cpl_lines_fail(in, "the other end is missing");
	/* Tiles that lead to nodes, and cables that were never there. */
	if (!cpl_lines_take(in, "unused") && !cpl_lines_take(in, "processor")) {
		if (read_tile(in, &item.to))
			return -1;
		if (!compare(&item.from, &item.to))
			return cpl_lines_fail(in, "joins a router with itself");
		item.class = cpl_draft_class(draft, in, colour,
		                             bandwidth_of(colour));
		if (item.class < 0)
			return -1;
	}
	if (!cpl_lines_end(in))
		return cpl_lines_fail(in, "continues after the other end");
	if (cpl_array_grow(&list->item, list->n, sizeof(item), in->err))
		return -1;
	list->item[list->n++] = item;
	return 0;
}

/* Groups and routers may be missing, as numbers of Edison's groups are. */
static int number_routers(const struct cpl_lines *in,
                          struct cpl_aries_list *list)
{
	int n = 0;

	if (!list->n)
		return cpl_fail(in->err, "%s: holds no link", in->source);
	list->router = malloc(2 * (size_t)list->n * sizeof(*list->router));
	if (!list->router)
		return cpl_fail_memory(in->err);
	for (int i = 0; i < list->n; i++) {
		list->router[n++] = list->item[i].from;
		if (list->item[i].class >= 0)
			list->router[n++] = list->item[i].to;
	}
	qsort(list->router, (size_t)n, sizeof(*list->router), compare);
	for (int i = 0; i < n; i++)
		if (!i || compare(&list->router[i], &list->router[i - 1]))
			list->router[list->n_routers++] = list->router[i];
	return 0;
}

static int id(const struct cpl_aries_list *list,
              const struct cpl_aries_tile *tile)
{
	const struct cpl_aries_tile *at =
	        bsearch(tile, list->router, (size_t)list->n_routers,
	                sizeof(*tile), compare);

	return (int)(at - list->router);
}

/* Names of all nodes, in the order of their ids. */
static int name_nodes(struct cpl_lines *in,
                      const struct cpl_network_import *how, int routers,
                      int per_router, struct cpl_hostlist *hosts)
{
	int64_t nodes = (int64_t)routers * per_router;
	char name[64];

	if (nodes > CPL_HOSTLIST_MAX)
		return cpl_fail(in->err, "%s: more than %d nodes", in->source,
		                CPL_HOSTLIST_MAX);
	if (how->nodes && cpl_hostlist_parse(hosts, how->nodes, in->err))
		return cpl_fail_prefix(in->err, "nodes: ");
	if (how->nodes && hosts->count != nodes)
		return cpl_fail(in->err,
		                "nodes: names %d hosts; there are %d routers "
		                "of %d nodes",
		                hosts->count, routers, per_router);
	if (!how->nodes) {
		snprintf(name, sizeof(name), "nid[%05d-%05d]", 0,
		         (int)nodes - 1);
		if (cpl_hostlist_parse(hosts, name, in->err))
			return -1;
	}
	return 0;
}

static int make_graph(struct cpl_lines *in, const struct cpl_aries_list *list,
                      const struct cpl_hostlist *hosts, struct cpl_draft *draft)
{
	int per_router = draft->nodes_per_router;

	draft->directed = true;
	for (int r = 0; r < list->n_routers; r++) {
		const int *at = list->router[r].at;
		char name[64];
		int n = snprintf(name, sizeof(name), "g%dr%dc%d", at[0], at[1],
		                 at[2]);

		if (cpl_draft_router(draft, name, (size_t)n) < 0)
			return -1;
		for (int p = 0; p < per_router; p++) {
			const char *host = hosts->name[r * per_router + p];
			int added = cpl_draft_host(draft, r, host);

			if (added == 0)
				cpl_fail(in->err, "nodes: %s is given twice",
				         host);
			if (added <= 0)
				return -1;
		}
	}
	for (int i = 0; i < list->n; i++) {
		const struct cpl_aries_link *l = &list->item[i];
		struct cpl_draft_link link = {.from = l->from_router,
		                              .to = l->to_router,
		                              .class = l->class,
		                              .line = l->line};

		if (l->class >= 0 && cpl_draft_add_link(draft, &link))
			return -1;
	}
	return 0;
}

/* Keep links only, with the numbers of their routers. */
static void number_ends(struct cpl_aries_list *list)
{
	int n = 0;

	for (int i = 0; i < list->n; i++) {
		struct cpl_aries_link *l = &list->item[i];

		if (l->class < 0)
			continue;
		l->from_router = id(list, &l->from);
		l->to_router = id(list, &l->to);
		list->item[n++] = *l;
	}
	list->n = n;
}

static int read_all(struct cpl_lines *in, const struct cpl_network_import *how,
                    struct cpl_draft *draft)
{
	struct cpl_aries_list list = {0};
	struct cpl_hostlist hosts = {0};
	int rc = 0;

	draft->host_rate = CPL_ARIES_INJECTION;
	draft->nodes_per_router =
	        how->nodes_per_router ? how->nodes_per_router : 4;
	while (!rc && cpl_lines_next(in))
		if (!cpl_lines_done(in))
			rc = read_line(in, draft, &list);
	if (!rc)
		rc = number_routers(in, &list);
	if (!rc)
		rc = name_nodes(in, how, list.n_routers,
		                draft->nodes_per_router, &hosts);
	if (!rc) {
		number_ends(&list);
		rc = cpl_aries_dragonfly(in, how, &list, &hosts, draft);
	}
	if (!rc && !draft->description)
		rc = make_graph(in, &list, &hosts, draft);
	cpl_hostlist_free(&hosts);
	cpl_free_all(list.router, list.item);
	return rc;
}

const struct cpl_network_reader cpl_reader_aries = {
        .name = "aries",
        .summary = "the links of a Cray XC's Aries routers",
        .read = read_all,
};
