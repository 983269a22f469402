/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sort.h"
#include "network/reader/reader_internal.h"
#include "network/type.h"

int cpl_draft_find(const struct cpl_draft *draft, const char *name)
{
	const json_t *at = json_object_get(draft->index, name);

	return at ? (int)json_integer_value(at) : -1;
}

int cpl_draft_router(struct cpl_draft *draft, const char *name, size_t length)
{
	char *copy = strndup(name, length);
	int at;

	if (!draft->index)
		draft->index = json_object();
	if (!copy || !draft->index)
		goto memory;
	at = cpl_draft_find(draft, copy);
	if (at >= 0 || draft->n_routers == CPL_NETWORK_MAX_ROUTERS) {
		free(copy);
		return at >= 0 ? at
		               : cpl_fail(draft->err, "more than %d routers",
		                          CPL_NETWORK_MAX_ROUTERS);
	}
	/* Names that are no UTF-8 are refused, too. */
	if (cpl_array_grow(&draft->router, draft->n_routers,
	                   sizeof(*draft->router), NULL) ||
	    json_object_set_new(draft->index, copy,
	                        json_integer(draft->n_routers)))
		goto memory;
	draft->router[draft->n_routers] =
	        (struct cpl_draft_router){.name = copy};
	return draft->n_routers++;
memory:
	free(copy);
	return cpl_fail(draft->err,
	                "router '%.*s': out of memory, or not a UTF-8 name",
	                length > 40 ? 40 : (int)length, name);
}

void cpl_draft_doubt(struct cpl_draft *draft, const char *fmt, ...)
{
	size_t n = strlen(draft->doubt.text);
	size_t room = sizeof(draft->doubt.text) - n;
	va_list ap;

	if (n && room > 1) {
		draft->doubt.text[n++] = '\n';
		draft->doubt.text[n] = '\0';
		room--;
	}
	va_start(ap, fmt);
	vsnprintf(draft->doubt.text + n, room, fmt, ap);
	va_end(ap);
}

int cpl_draft_host(struct cpl_draft *draft, int router, const char *host)
{
	if (!draft->hosts)
		draft->hosts = json_object();
	if (json_object_get(draft->hosts, host)) {
		const json_t *first = json_object_get(draft->hosts, host);

		draft->more_ports += json_integer_value(first) != router;
		return 0;
	}
	if (draft->n_hosts == CPL_HOSTLIST_MAX)
		return cpl_fail(draft->err, "more than %d hosts",
		                CPL_HOSTLIST_MAX);
	if (json_object_set_new(draft->hosts, host, json_integer(router)))
		return cpl_fail_memory(draft->err);
	if (cpl_hostlist_push(&draft->router[router].hosts, host, draft->err))
		return -1;
	draft->n_hosts++;
	return 1;
}

double cpl_draft_host_rate(struct cpl_draft *draft)
{
	double rate = draft->host_rate;

	if (draft->host_rates_differ)
		cpl_draft_doubt(draft, "hosts' links differ in speed; the "
		                       "fastest is taken for all");
	if (rate > 0)
		return rate;
	rate = 1;
	for (int i = 0; i < draft->n_links; i++)
		if (draft->bandwidth[draft->link[i].class] > rate)
			rate = draft->bandwidth[draft->link[i].class];
	if (rate > 1)
		cpl_draft_doubt(draft, "no speed of hosts' links is told; the "
		                       "switches' fastest is taken");
	return rate;
}

int cpl_draft_add_link(struct cpl_draft *draft,
                       const struct cpl_draft_link *link)
{
	if (draft->n_links == CPL_DRAFT_MAX_LINKS)
		return cpl_fail(draft->err, "more than %d links",
		                CPL_DRAFT_MAX_LINKS);
	if (cpl_array_grow(&draft->link, draft->n_links, sizeof(*link),
	                   draft->err))
		return -1;
	draft->link[draft->n_links++] = *link;
	return 0;
}

int cpl_draft_class(struct cpl_draft *draft, const struct cpl_lines *in,
                    const char *name, double bandwidth)
{
	int i = 0;

	while (i < draft->n_classes && strcmp(draft->class[i], name))
		i++;
	if (i < draft->n_classes)
		return i;
	if (i == CPL_DRAFT_MAX_CLASSES)
		return cpl_lines_fail(in, "more than %d classes of links",
		                      CPL_DRAFT_MAX_CLASSES);
	snprintf(draft->class[i], sizeof(draft->class[i]), "%s", name);
	draft->bandwidth[i] = bandwidth;
	return draft->n_classes++;
}

struct rank {
	int key[4]; /* the two ends, class, index */
};

static CPL_SORT_BY(compare, struct rank, CPL_UP(key[0]), CPL_UP(key[1]),
                   CPL_UP(key[2]), CPL_UP(key[3]))

/* The description numbers links class by class, then in its order. */
static int number_parallel(struct cpl_draft *draft)
{
	struct rank *rank =
	        malloc(((size_t)draft->n_links + 1) * sizeof(*rank));

	if (!rank)
		return cpl_fail_memory(draft->err);
	for (int i = 0; i < draft->n_links; i++) {
		const struct cpl_draft_link *l = &draft->link[i];
		bool swap = !draft->directed && l->from > l->to;

		rank[i] = (struct rank){{swap ? l->to : l->from,
		                         swap ? l->from : l->to, l->class, i}};
	}
	qsort(rank, (size_t)draft->n_links, sizeof(*rank), compare);
	for (int i = 0; i < draft->n_links; i++) {
		const int *key = rank[i].key, *last = i ? rank[i - 1].key : key;
		bool first = !i || key[0] != last[0] || key[1] != last[1];

		draft->link[key[3]].parallel =
		        first ? 0 : draft->link[last[3]].parallel + 1;
	}
	free(rank);
	return 0;
}

static json_t *links(const struct cpl_draft *draft)
{
	json_t *array = json_array();

	/* Class by class, as they are numbered: the file shows the ids. */
	for (int c = 0; array && c < draft->n_classes; c++)
		for (int i = 0; i < draft->n_links; i++) {
			const struct cpl_draft_link *l = &draft->link[i];

			if (l->class != c ||
			    !cpl_json_append(array, "[i, i, s]",
			                     draft->router[l->from].id,
			                     draft->router[l->to].id,
			                     draft->class[c]))
				continue;
			json_decref(array);
			return NULL;
		}
	return array;
}

static int nodes(const struct cpl_draft *draft, const int *order, json_t *out)
{
	int rc = 0;

	for (int i = 0; i < draft->n_routers && !rc; i++) {
		const struct cpl_hostlist *hosts =
		        &draft->router[order[i]].hosts;
		char id[16], *text;

		if (!hosts->count)
			continue;
		text = cpl_hostlist_format(hosts->name, hosts->count);
		snprintf(id, sizeof(id), "%d", i);
		if (!text || json_object_set_new(out, id, json_string(text)))
			rc = cpl_fail_memory(draft->err);
		free(text);
	}
	return rc;
}

int cpl_draft_name_router(const struct cpl_draft *draft, int router,
                          json_t *names)
{
	const struct cpl_draft_router *r = &draft->router[router];

	return json_array_append_new(names,
	                             json_string(r->shown ? r->shown : r->name));
}

json_t *cpl_draft_finish(struct cpl_draft *draft,
                         const struct cpl_network_import *in)
{
	int *order = malloc(((size_t)draft->n_routers + 1) * sizeof(*order));
	json_t *names = json_array(), *hosts = json_object(), *root = NULL;
	json_t *bandwidth = json_object();
	int n = 0, with_nodes = 0, most = 1;
	double rate;

	if (!order || !names || !hosts || !bandwidth)
		goto memory;
	for (int empty = 0; empty < 2; empty++) {
		for (int i = 0; i < draft->n_routers; i++) {
			struct cpl_draft_router *r = &draft->router[i];

			if ((r->hosts.count == 0) != empty)
				continue;
			if (r->hosts.count > most)
				most = r->hosts.count;
			r->id = n;
			order[n++] = i;
			if (cpl_draft_name_router(draft, i, names))
				goto memory;
		}
		if (!empty)
			with_nodes = n;
	}
	if (!with_nodes) {
		cpl_fail(draft->err, "%s: names no host", in->source);
		goto out;
	}
	if (number_parallel(draft) || nodes(draft, order, hosts))
		goto out;
	for (int i = 0; i < draft->n_links; i++) {
		int c = draft->link[i].class;

		if (!json_object_get(bandwidth, draft->class[c]) &&
		    json_object_set_new(bandwidth, draft->class[c],
		                        json_real(draft->bandwidth[c])))
			goto memory;
	}
	rate = cpl_draft_host_rate(draft);
	if (rate > 1 &&
	    json_object_set_new(bandwidth, "injection", json_real(rate)))
		goto memory;
	root = json_pack(
	        "{s:s, s:i, s:s, s:s, s:i, s:i, s:i, s:O, s:O, s:O, s:s*, "
	        "s:b, s:o, s:O*}",
	        "format", "commplace-network", "version", 1, "name", in->name,
	        "type", "graph", "routers", n, "node_routers", with_nodes,
	        "nodes_per_router",
	        draft->nodes_per_router ? draft->nodes_per_router : most,
	        "nodes", hosts, "router_names", names, "bandwidth", bandwidth,
	        "routing", in->routes ? NULL : draft->routing, "directed", draft->directed, "links", links(draft),
	        "accelerators", draft->accelerators);
	if (!root)
		cpl_fail(draft->err,
		         "%s: out of memory, or a name that is not UTF-8",
		         in->source);
	goto out;
memory:
	cpl_fail_memory(draft->err);
out:
	free(order);
	json_decref(names);
	json_decref(hosts);
	json_decref(bandwidth);
	return root;
}

void cpl_draft_free(struct cpl_draft *draft)
{
	for (int i = 0; i < draft->n_routers; i++) {
		cpl_free_all(draft->router[i].name, draft->router[i].shown);
		cpl_hostlist_free(&draft->router[i].hosts);
	}
	cpl_free_all(draft->router, draft->link);
	json_decref(draft->index);
	json_decref(draft->hosts);
	json_decref(draft->description);
	json_decref(draft->accelerators);
}
