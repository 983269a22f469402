/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What NVIDIA's Topograph makes with its engine "graph" ("Topograph Graph
 * Engine", docs.nvidia.com/topograph): {"instances": [{"id": HOST,
 * "network_layers": [SWITCH, ABOVE, ...], "labels": {...}}, ...]}, whose switches
 * are those above the host, the nearest first. The accelerators' domain is a
 * label; releases before 1.0 had it under "attributes". Other keys are passed
 * over.
 */
#include <stdlib.h>

#include "base/array.h"
#include "base/json.h"
#include "network/reader/switch_list.h"

struct graph_reading {
	struct cpl_switch_list list;
	json_t *index; /* domain -> number */
	struct cpl_hostlist *domain;
	int n_domains;
};

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text && *text ? text : NULL;
}

/* The domain of an instance, or NULL. */
static const char *domain_of(const json_t *instance)
{
	static const char *const label[] = {
	        "accelerator.topograph.run/domain",
	        "network.topology.nvidia.com/accelerator",
	        "nvidia.com/gpu.clique"};
	const char *name = NULL;

	for (size_t i = 0; !name && i < sizeof(label) / sizeof(*label); i++)
		name = text_of(json_object_get(instance, "labels"), label[i]);
	if (!name)
		name = text_of(json_object_get(instance, "attributes"),
		               "nvlink");
	return name ? name : text_of(instance, "nvlink_domain");
}

static int add_to_domain(struct graph_reading *g, const char *name,
                         const char *host)
{
	struct cpl_error *err = g->list.in->err;
	json_t *at = json_object_get(g->index, name);
	int i = at ? (int)json_integer_value(at) : g->n_domains;

	if (!at) {
		if (cpl_array_grow(&g->domain, i, sizeof(*g->domain), err))
			return -1;
		g->domain[g->n_domains++] = (struct cpl_hostlist){0};
		if (json_object_set_new(g->index, name, json_integer(i)))
			return cpl_fail_memory(err);
	}
	return cpl_hostlist_push(&g->domain[i], host, err);
}

/* Add the host to its switch. */
static int add_host(struct graph_reading *g, int at, const char *host)
{
	int rc = cpl_draft_host(g->list.draft, at, host);

	if (rc == 0)
		return cpl_lines_fail(g->list.in, "id %.60s is given twice",
		                      host);
	return rc < 0 ? cpl_lines_prefix(g->list.in) : 0;
}

static int read_layers(struct graph_reading *g, const json_t *layers,
                       const char *host)
{
	int at = -1;

	for (size_t i = 0; i < json_array_size(layers); i++) {
		const char *name =
		        json_string_value(json_array_get(layers, i));
		int next = name && *name ? cpl_switch_list_find(&g->list, name)
		                         : -1;

		if (!name || !*name)
			return cpl_lines_fail(g->list.in,
			                      "\"network_layers\"[%zu] is no "
			                      "name of a switch",
			                      i);
		if (next < 0)
			return -1;
		if (at < 0 ? add_host(g, next, host)
		           : cpl_switch_list_join(&g->list, at, next))
			return -1;
		at = next;
	}
	return 0;
}

static int read_instance(struct graph_reading *g, const json_t *instance)
{
	const json_t *layers = json_object_get(instance, "network_layers");
	const char *host = text_of(instance, "id");
	const char *domain = domain_of(instance);
	int at;

	if (!host)
		return cpl_lines_fail(g->list.in, "\"id\" is missing");
	if (layers && !json_is_array(layers) && !json_is_null(layers))
		return cpl_lines_fail(g->list.in,
		                      "\"network_layers\" must be an array");
	if (domain && add_to_domain(g, domain, host))
		return cpl_lines_prefix(g->list.in);
	if (json_array_size(layers))
		return read_layers(g, layers, host);
	if (!domain)
		return cpl_lines_fail(g->list.in,
		                      "%.60s has neither \"network_layers\" "
		                      "nor a domain",
		                      host);
	/* The domain is then all that tells where it is. */
	at = cpl_switch_list_find(&g->list, domain);
	return at < 0 ? -1 : add_host(g, at, host);
}

/* The domains for the description. */
static int describe(const struct graph_reading *g)
{
	struct cpl_draft *draft = g->list.draft;
	json_t *nodes = json_array();
	int rc = nodes ? 0 : -1;

	for (int i = 0; i < g->n_domains && !rc; i++) {
		char *text = cpl_hostlist_format(g->domain[i].name,
		                                 g->domain[i].count);

		rc = text ? json_array_append_new(nodes, json_string(text))
		          : -1;
		free(text);
	}
	if (!rc)
		draft->accelerators =
		        json_pack("{s:i, s:{s:O}}", "per_node", 1, "domain",
		                  "nodes", nodes);
	json_decref(nodes);
	if (!draft->accelerators)
		return cpl_fail_memory(draft->err);
	cpl_draft_doubt(draft,
	                "how many accelerators a node has, and the bandwidths, "
	                "are not told; one with 1 byte/s stands for them");
	return 0;
}

static int read_all(struct cpl_lines *in, const struct cpl_network_import *how,
                    struct cpl_draft *draft)
{
	char source[256];
	struct cpl_lines place = {.source = source, .err = in->err};
	struct graph_reading g = {.list = {.in = &place,
	                                   .draft = draft,
	                                   .place = "instance"},
	                          .index = json_object()};
	json_t *root = cpl_json_parse(how->text, how->length, how->source,
	                              in->err);
	const json_t *all = json_object_get(root, "instances");
	int rc = !root ? -1 : cpl_draft_class(draft, in, "link", 1.0) < 0 ? -1 : 0;

	snprintf(source, sizeof(source), "%.200s: instance", how->source);
	if (!rc && !json_is_array(all))
		rc = cpl_fail(in->err,
		              "%s: \"instances\" is missing, or no array",
		              how->source);
	if (!rc && !g.index)
		rc = cpl_fail_memory(in->err);
	for (size_t i = 0; i < json_array_size(all) && !rc; i++) {
		place.line = (int)i;
		rc = read_instance(&g, json_array_get(all, i));
	}
	rc = cpl_switch_list_close(&g.list, rc);
	if (!rc && g.n_domains)
		rc = describe(&g);
	for (int i = 0; i < g.n_domains; i++)
		cpl_hostlist_free(&g.domain[i]);
	free(g.domain);
	json_decref(g.index);
	json_decref(root);
	return rc;
}

const struct cpl_network_reader cpl_reader_topograph = {
        .name = "topograph",
        .summary = "what Topograph's engine graph makes",
        .read = read_all,
};
