/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "network/export.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hostlist.h"
#include "base/json.h"
#include "base/sort.h"

struct export_switch {
	char name[64];
	int parent; /* -1: none */
	int router; /* whose nodes are here, -1: none */
	bool used;  /* nodes are here, or below */
	struct cpl_hostlist hosts, children;
};

struct export_tree {
	const struct cpl_network *net;
	struct export_switch *item; /* parents before their children */
	int n;
	struct cpl_error *err;
};

static int add_switch(struct export_tree *t, const char *name, int parent,
                      int router)
{
	struct export_switch *s;

	if (cpl_array_grow(&t->item, t->n, sizeof(*t->item), t->err))
		return -1;
	s = &t->item[t->n];
	*s = (struct export_switch){.parent = parent, .router = router};
	snprintf(s->name, sizeof(s->name), "%s", name);
	return t->n++;
}

/* Units of levels. */

/* Does a level tell more than the one above it, and less than its routers? */
static bool tells(const struct cpl_network *net, const struct cpl_level *level,
                  int units_above)
{
	return level->n_units > units_above &&
	       level->n_units < net->n_node_routers;
}

static int add_level(struct export_tree *t, int l, int above, int *unit_of)
{
	const struct cpl_level *level = &t->net->level[l];
	char name[64];
	int first = t->n;

	for (int u = 0; u < level->n_units; u++) {
		int up = unit_of[level->first_router[u]];

		if (level->name)
			snprintf(name, sizeof(name), "%s%d", level->name, u);
		else
			snprintf(name, sizeof(name), "level%d-%d",
			         t->net->n_levels - 1 - l, u);
		if (add_switch(t, name, above ? up : 0, -1) < 0)
			return -1;
	}
	for (int r = 0; r < t->net->n_node_routers; r++)
		unit_of[r] = first + cpl_level_unit(level, r);
	return 0;
}

static int by_levels(struct export_tree *t)
{
	const struct cpl_network *net = t->net;
	int *unit_of = calloc((size_t)net->n_node_routers, sizeof(*unit_of));
	int above = 1, rc = unit_of ? 0 : cpl_fail_memory(t->err);
	char name[64];

	if (!rc && net->n_node_routers > 1)
		rc = add_switch(t, "top", -1, -1) < 0 ? -1 : 0;
	for (int l = 0; l < net->n_levels && !rc; l++) {
		if (!tells(net, &net->level[l], above))
			continue;
		rc = add_level(t, l, above > 1, unit_of);
		above = net->level[l].n_units;
	}
	for (int r = 0; r < net->n_node_routers && !rc; r++) {
		snprintf(name, sizeof(name), "router%d", r);
		if (add_switch(t, name, t->n ? unit_of[r] : -1, r) < 0)
			rc = -1;
	}
	free(unit_of);
	return rc;
}

/* Graphs that are trees. */

struct export_graph {
	int *first;  /* [routers + 1] into next */
	int *next;   /* neighbours, each once */
	int *degree; /* [routers] how many of these there are */
	int *left;   /* [routers] while ends are taken off */
	int *order;  /* [routers] the root first */
	int *parent; /* [routers] -1: the root */
};

/* The neighbours of each router. How many there are in all. */
static int64_t list_neighbours(const struct cpl_network *net,
                               struct export_graph *g)
{
	int64_t n = 0;

	for (int64_t l = 0; l < net->n_links; l++) {
		g->first[net->link_from[l] + 1]++;
		g->first[net->link_to[l] + 1]++;
	}
	for (int r = 0; r < net->n_routers; r++)
		g->first[r + 1] += g->first[r];
	for (int64_t l = 0; l < net->n_links; l++) {
		int a = net->link_from[l], b = net->link_to[l];

		g->next[g->first[a] + g->degree[a]++] = b;
		g->next[g->first[b] + g->degree[b]++] = a;
	}
	for (int r = 0; r < net->n_routers; r++) {
		int *row = g->next + g->first[r], m = 0;

		qsort(row, (size_t)g->degree[r], sizeof(*row), cpl_by_int);
		for (int i = 0; i < g->degree[r]; i++)
			if (row[i] != r && (!m || row[m - 1] != row[i]))
				row[m++] = row[i];
		g->degree[r] = m;
		n += m;
	}
	return n;
}

/* Take ends off, round by round, until one router is left, which is in the
 * middle, or two: of these the one with fewer neighbours, then the higher one,
 * which has no nodes if the other has some. */
static int find_middle(const struct cpl_network *net, struct export_graph *g)
{
	int *round = g->parent, n = 0, a, b;

	for (int r = 0; r < net->n_routers; r++) {
		g->left[r] = g->degree[r];
		round[r] = 0;
		if (g->degree[r] <= 1)
			g->order[n++] = r;
	}
	for (int i = 0; i < n; i++) {
		int r = g->order[i];
		const int *row = g->next + g->first[r];

		for (int k = 0; k < g->degree[r]; k++)
			if (g->left[row[k]]-- == 2) {
				round[row[k]] = round[r] + 1;
				g->order[n++] = row[k];
			}
	}
	a = n ? g->order[n - 1] : 0;
	b = n > 1 ? g->order[n - 2] : a;
	if (round[a] != round[b] || g->degree[a] < g->degree[b])
		return a;
	return g->degree[b] < g->degree[a] || b > a ? b : a;
}

/* Each router's parent, and all from the root on. False where some are not
 * joined to it. */
static bool find_parents(const struct cpl_network *net, struct export_graph *g)
{
	int n = 0, root = find_middle(net, g);

	for (int r = 0; r < net->n_routers; r++)
		g->parent[r] = -2;
	g->parent[root] = -1;
	g->order[n++] = root;
	for (int i = 0; i < n; i++) {
		int r = g->order[i];
		const int *row = g->next + g->first[r];

		for (int k = 0; k < g->degree[r]; k++)
			if (g->parent[row[k]] == -2) {
				g->parent[row[k]] = r;
				g->order[n++] = row[k];
			}
	}
	return n == net->n_routers;
}

/* The name of a router, where it can be one of a switch. */
static void name_router(const struct cpl_network *net, int router, char *name,
                        size_t size)
{
	const char *own = net->router_name ? net->router_name[router] : "";
	size_t n = strlen(own);

	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)own[i]) && !strchr("-_.:", own[i]))
			n = 0;
	if (n > 0 && n < size)
		snprintf(name, size, "%s", own);
	else
		snprintf(name, size, "router%d", router);
}

static int add_graph(struct export_tree *t, const struct export_graph *g)
{
	const struct cpl_network *net = t->net;
	int *at = malloc((size_t)net->n_routers * sizeof(*at)), rc = 0;
	char name[64];

	if (!at)
		return cpl_fail_memory(t->err);
	for (int i = 0; i < net->n_routers && !rc; i++) {
		int r = g->order[i];

		name_router(net, r, name, sizeof(name));
		at[r] = add_switch(t, name,
		                   g->parent[r] < 0 ? -1 : at[g->parent[r]], r);
		rc = at[r] < 0 ? -1 : 0;
	}
	free(at);
	return rc;
}

/* 1 when added, 0 where the graph is no tree, -1 with err. */
static int by_graph(struct export_tree *t)
{
	const struct cpl_network *net = t->net;
	size_t n = (size_t)net->n_routers + 1;
	struct export_graph g = {
	        .first = calloc(n, sizeof(int)),
	        .next = malloc(((size_t)net->n_links * 2 + 1) * sizeof(int)),
	        .degree = calloc(n, sizeof(int)),
	        .left = malloc(n * sizeof(int)),
	        .order = malloc(n * sizeof(int)),
	        .parent = malloc(n * sizeof(int))};
	int rc = 0;

	if (!g.first || !g.next || !g.degree || !g.left || !g.order || !g.parent)
		rc = cpl_fail_memory(t->err);
	else if (list_neighbours(net, &g) == 2 * ((int64_t)net->n_routers - 1) &&
	         find_parents(net, &g))
		rc = add_graph(t, &g) ? -1 : 1;
	cpl_free_all(g.first, g.next, g.degree, g.left, g.order, g.parent);
	return rc;
}

/* Hosts of switches, and which of these are of use. */
static int add_hosts(struct export_tree *t)
{
	const struct cpl_network *net = t->net;

	for (int i = t->n - 1; i >= 0; i--) {
		struct export_switch *s = &t->item[i];
		struct cpl_nodes nodes = {NULL, 0};

		if (s->router >= 0 && s->router < net->n_node_routers)
			nodes = cpl_network_nodes(net, s->router);
		for (int k = 0; k < nodes.n; k++) {
			const char *name = net->node_name[nodes.node[k]];

			if (name && cpl_hostlist_push(&s->hosts, name, t->err))
				return -1;
		}
		s->used = s->used || s->hosts.count;
		if (s->used && s->parent >= 0)
			t->item[s->parent].used = true;
	}
	return 0;
}

static int check_names(const struct export_tree *t)
{
	char **name = malloc(((size_t)t->n + 1) * sizeof(*name));
	int rc = 0;

	if (!name)
		return cpl_fail_memory(t->err);
	for (int i = 0; i < t->n; i++)
		name[i] = t->item[i].name;
	qsort(name, (size_t)t->n, sizeof(*name), cpl_by_text);
	for (int i = 1; i < t->n && !rc; i++)
		if (!strcmp(name[i - 1], name[i]))
			rc = cpl_fail(t->err, "two switches are called %s",
			              name[i]);
	free(name);
	return rc;
}

/* A switch has nodes or other switches: nodes of one with both get a switch of
 * their own. */
static int add_children(struct export_tree *t)
{
	int n = t->n;
	bool *above = calloc((size_t)n + 1, sizeof(*above));
	int rc = above ? 0 : cpl_fail_memory(t->err);

	for (int i = 0; i < n && !rc; i++)
		if (t->item[i].used && t->item[i].parent >= 0)
			above[t->item[i].parent] = true;
	for (int i = 0; i < n && !rc; i++) {
		char name[80];
		int at;

		if (!above[i] || !t->item[i].hosts.count)
			continue;
		snprintf(name, sizeof(name), "%s-nodes", t->item[i].name);
		at = add_switch(t, name, i, -1);
		if (at < 0) {
			rc = -1;
			continue;
		}
		t->item[at].used = true;
		t->item[at].hosts = t->item[i].hosts;
		t->item[i].hosts = (struct cpl_hostlist){0};
	}
	for (int i = 0; i < t->n && !rc; i++)
		if (t->item[i].used && t->item[i].parent >= 0)
			rc = cpl_hostlist_push(
			        &t->item[t->item[i].parent].children,
			        t->item[i].name, t->err);
	free(above);
	return rc;
}

static int print_list(FILE *out, const char *key,
                      const struct cpl_hostlist *list)
{
	char *text = cpl_hostlist_format(list->name, list->count);

	if (!text)
		return -1;
	fprintf(out, "%s%s\n", key, text);
	free(text);
	return 0;
}

static int print_tree(const struct export_tree *t, bool yaml, FILE *out)
{
	if (yaml)
		fprintf(out, "- topology: tree\n  cluster_default: true\n"
		             "  tree:\n    switches:\n");
	for (int i = 0; i < t->n; i++) {
		const struct export_switch *s = &t->item[i];
		bool leaf = s->hosts.count;
		const char *key = yaml ? leaf ? "      nodes: "
		                              : "      children: "
		                  : leaf ? " Nodes="
		                         : " Switches=";

		if (!s->used)
			continue;
		fprintf(out, yaml ? "    - switch: %s\n" : "SwitchName=%s",
		        s->name);
		if (print_list(out, key, leaf ? &s->hosts : &s->children))
			return -1;
	}
	return 0;
}

/* What Topograph says of a host on this switch; domain -1: in none. */
static json_t *instance(const struct export_tree *t, int at, const char *host,
                        int domain)
{
	json_t *one = json_pack("{s:s, s:[]}", "id", host, "network_layers");
	json_t *layers = json_object_get(one, "network_layers");
	char name[32];
	int rc = layers ? 0 : -1;

	for (; at >= 0 && !rc; at = t->item[at].parent)
		rc = json_array_append_new(layers,
		                           json_string(t->item[at].name));
	snprintf(name, sizeof(name), "domain%d", domain);
	if (domain >= 0 && !rc)
		rc = json_object_set_new(
		        one, "labels",
		        json_pack("{s:s}", "accelerator.topograph.run/domain",
		                  name));
	if (!rc)
		return one;
	json_decref(one);
	return NULL;
}

/* Each node where its first port is, in the order of nodes. */
static int print_instances(const struct export_tree *t, FILE *out)
{
	const struct cpl_network *net = t->net;
	int *item = calloc((size_t)net->n_routers + 1, sizeof(*item));
	json_t *root = json_pack("{s:[]}", "instances");
	json_t *all = json_object_get(root, "instances");
	int rc = item && all ? 0 : -1;
	char *text = NULL;
	size_t length;

	for (int i = 0; i < t->n && !rc; i++)
		if (t->item[i].router >= 0)
			item[t->item[i].router] = i;
	for (int i = 0; i < net->n_nodes && !rc; i++) {
		int domain = net->accelerators.n_domains
		                     ? net->accelerators.domain_of[i]
		                     : -1;

		if (net->node_name[i])
			rc = json_array_append_new(
			        all, instance(t, item[cpl_network_router(net, i)],
			                      net->node_name[i], domain));
	}
	if (!rc)
		text = cpl_json_text(root, &length, t->err);
	if (text)
		fwrite(text, 1, length, out);
	cpl_free_all(text, item);
	json_decref(root);
	return text ? 0 : -1;
}

static int tree(const struct cpl_network *net, enum cpl_export_format format,
                FILE *out, struct cpl_error *err)
{
	struct export_tree t = {.net = net, .err = err};
	bool slurm = format != CPL_EXPORT_TOPOGRAPH;
	int rc = cpl_network_type_is_irregular(net->type) ? by_graph(&t) : 0;

	if (rc == 0)
		rc = by_levels(&t);
	rc = rc < 0 || (slurm && (add_hosts(&t) || add_children(&t))) ||
	                     check_names(&t)
	             ? -1
	             : 0;
	if (!rc && (slurm ? print_tree(&t, format == CPL_EXPORT_YAML, out)
	                  : print_instances(&t, out)))
		rc = cpl_fail_memory(err);
	for (int i = 0; i < t.n; i++) {
		cpl_hostlist_free(&t.item[i].hosts);
		cpl_hostlist_free(&t.item[i].children);
	}
	free(t.item);
	return rc;
}

static int list_domains(const struct cpl_network *net,
                        struct cpl_hostlist *domain, struct cpl_error *err)
{
	for (int i = 0; i < net->n_nodes; i++) {
		int at = net->accelerators.domain_of[i];

		if (net->node_name[i] && at >= 0 &&
		    cpl_hostlist_push(&domain[at], net->node_name[i], err))
			return -1;
	}
	return 0;
}

static int print_blocks(const struct cpl_hostlist *domain, int n, bool yaml,
                        bool alone, FILE *out)
{
	int least = 0, rc = 0;

	for (int i = 0; i < n; i++)
		if (domain[i].count && (!least || domain[i].count < least))
			least = domain[i].count;
	if (yaml)
		fprintf(out, "- topology: block\n  cluster_default: %s\n"
		             "  block:\n    block_sizes:\n    - %d\n"
		             "    blocks:\n",
		        alone ? "true" : "false", least);
	for (int i = 0; i < n && !rc; i++) {
		if (!domain[i].count)
			continue;
		fprintf(out, yaml ? "    - block: domain%d\n"
		                  : "BlockName=domain%d",
		        i);
		rc = print_list(out, yaml ? "      nodes: " : " Nodes=",
		                &domain[i]);
	}
	if (!yaml)
		fprintf(out, "BlockSizes=%d\n", least);
	return rc;
}

static int blocks(const struct cpl_network *net, bool yaml, bool alone,
                  FILE *out, struct cpl_error *err)
{
	int n = net->accelerators.n_domains, rc;
	struct cpl_hostlist *domain;

	if (!n)
		return cpl_fail(err, "network %.60s has no domains of "
		                     "accelerators, which blocks are made of",
		                net->name);
	domain = calloc((size_t)n, sizeof(*domain));
	if (!domain)
		return cpl_fail_memory(err);
	rc = list_domains(net, domain, err);
	if (!rc && print_blocks(domain, n, yaml, alone, out))
		rc = cpl_fail_memory(err);
	for (int i = 0; i < n; i++)
		cpl_hostlist_free(&domain[i]);
	free(domain);
	return rc;
}

char *cpl_network_export(const struct cpl_network *net,
                         enum cpl_export_format format,
                         enum cpl_export_what what, size_t *length,
                         struct cpl_error *err)
{
	bool yaml = format == CPL_EXPORT_YAML;
	bool both = yaml && what == CPL_EXPORT_ALL &&
	            net->accelerators.n_domains;
	char *text = NULL;
	FILE *out = open_memstream(&text, length);
	int rc = 0;

	if (!out)
		return cpl_fail_null_memory(err);
	if (yaml)
		fprintf(out, "---\n");
	if (what != CPL_EXPORT_BLOCK)
		rc = tree(net, format, out, err);
	if (!rc && (both || what == CPL_EXPORT_BLOCK))
		rc = blocks(net, yaml, !both, out, err);
	if ((fclose(out) || !text) && !rc)
		rc = cpl_fail_memory(err);
	if (!rc)
		return text;
	free(text);
	return NULL;
}
