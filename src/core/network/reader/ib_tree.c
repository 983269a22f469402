/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A fabric whose leaf switches all have the same links to the same spines. */
#include <stdlib.h>

#include "network/reader/reader_internal.h"

struct tree {
	struct cpl_draft *draft;
	int *number; /* [routers] among the leaves, or the spines */
	int leaves, spines, most; /* hosts of a leaf */
	int *cables; /* [leaves * spines] */
};

static bool is_leaf(const struct cpl_draft *draft, int router)
{
	return draft->router[router].hosts.count > 0;
}

static void number_switches(struct tree *t)
{
	for (int i = 0; i < t->draft->n_routers; i++) {
		int hosts = t->draft->router[i].hosts.count;

		t->number[i] = hosts ? t->leaves++ : t->spines++;
		t->most = hosts > t->most ? hosts : t->most;
	}
}

/* Count the cables of each leaf and spine; false: there are other links, or
 * links of two speeds. */
static bool count_cables(struct tree *t)
{
	const struct cpl_draft *draft = t->draft;

	for (int i = 0; i < draft->n_links; i++) {
		const struct cpl_draft_link *l = &draft->link[i];

		if (is_leaf(draft, l->from) == is_leaf(draft, l->to) ||
		    l->class != draft->link[0].class)
			return false;
		if (is_leaf(draft, l->from))
			t->cables[(int64_t)t->number[l->from] * t->spines +
			          t->number[l->to]]++;
	}
	return true;
}

static bool is_even(const struct tree *t)
{
	for (int64_t i = 0; i < (int64_t)t->leaves * t->spines; i++)
		if (!t->cables[i] || t->cables[i] != t->cables[0])
			return false;
	return true;
}

static json_t *nodes_json(const struct tree *t)
{
	json_t *nodes = json_object();

	for (int i = 0; i < t->draft->n_routers; i++) {
		const struct cpl_hostlist *hosts = &t->draft->router[i].hosts;
		char id[16], *text;

		if (!hosts->count)
			continue;
		snprintf(id, sizeof(id), "%d", t->number[i]);
		text = cpl_hostlist_format(hosts->name, hosts->count);
		if (!text ||
		    json_object_set_new(nodes, id, json_string(text))) {
			json_decref(nodes);
			nodes = NULL;
		}
		free(text);
		if (!nodes)
			break;
	}
	return nodes;
}

/* The leaves and then the spines, as the type numbers routers. */
static json_t *names_json(const struct tree *t)
{
	json_t *names = json_array();

	for (int spines = 0; spines < 2; spines++)
		for (int i = 0; i < t->draft->n_routers; i++)
			if (is_leaf(t->draft, i) == !spines &&
			    cpl_draft_name_router(t->draft, i, names)) {
				json_decref(names);
				return NULL;
			}
	return names;
}

static json_t *describe(const struct tree *t,
                        const struct cpl_network_import *how)
{
	struct cpl_draft *draft = t->draft;
	double rate = draft->bandwidth[draft->link[0].class];

	return json_pack(
	        "{s:s, s:i, s:s, s:s, s:i, s:[{s:i, s:i, s:i, s:f}], s:{s:f}, "
	        "s:o, s:o}",
	        "format", "commplace-network", "version", 1, "name", how->name,
	        "type", "fattree", "nodes_per_router", t->most, "levels",
	        "down", t->leaves, "up", t->spines, "links", t->cables[0],
	        "bandwidth", rate, "bandwidth", "injection",
	        cpl_draft_host_rate(draft), "nodes", nodes_json(t),
	        "router_names", names_json(t));
}

int cpl_ib_fattree(const struct cpl_network_import *how,
                   struct cpl_draft *draft)
{
	struct tree t = {.draft = draft};
	int rc = 0;

	t.number = malloc(((size_t)draft->n_routers + 1) * sizeof(int));
	if (!t.number)
		return cpl_fail_memory(draft->err);
	number_switches(&t);
	/* There are at least as many links as pairs, so that this is not too
	 * much work. */
	if (t.leaves < 2 || !t.spines ||
	    (int64_t)t.leaves * t.spines > draft->n_links)
		goto out;
	t.cables = calloc((size_t)t.leaves * (size_t)t.spines, sizeof(int));
	if (!t.cables) {
		rc = cpl_fail_memory(draft->err);
		goto out;
	}
	if (!count_cables(&t) || !is_even(&t))
		goto out;
	draft->description = describe(&t, how);
	if (!draft->description)
		rc = cpl_fail_memory(draft->err);
out:
	cpl_free_all(t.cables, t.number);
	return rc;
}
