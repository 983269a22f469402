/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `commplace network check --against-slurm`. */
#include "commplace-config.h"
#include "network_against.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "slurm_shell.h"

/* What scontrol may print: of each node some thousand characters. */
#define MAX_BYTES (UINT64_C(1) << 30)
/* Slurm cuts a switch's line after 512 characters unless told otherwise. */
#define SHOW_NODES "scontrol -o show nodes"
#define SHOW_TOPOLOGY                                                          \
	"SLURM_TOPO_LEN=1000000000 scontrol show topology"
#define NAME_LETTERS                                                           \
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"

static int read_nodes(const struct network_against *o,
                      struct cpl_slurm_view *view, struct cpl_error *err)
{
	int status = 0, rc = -1;
	size_t length;
	char *text = o->nodes ? cpl_file_read(o->nodes, MAX_BYTES, &length, err)
	                      : slurm_shell(SHOW_NODES, &length, &status, err);

	if (!text)
		return -1;
	if (status)
		cpl_fail(err, "scontrol show nodes: %.200s",
		         slurm_shell_line(text));
	else
		rc = cpl_slurm_view_nodes(
		        view, o->nodes ? o->nodes : "scontrol show nodes", text,
		        length, err);
	if (!rc && !view->nodes.count)
		rc = cpl_fail(err, "%s names no node",
		              o->nodes ? o->nodes : "scontrol show nodes");
	free(text);
	return rc;
}

/* What scontrol says of the topology of that name, from Slurm 25.05 on, or of the
 * default one. */
static char *show_topology(const char *name, size_t *length, int *status,
                           struct cpl_error *err)
{
	char command[sizeof(SHOW_TOPOLOGY) + 128];

	if (!name)
		return slurm_shell(SHOW_TOPOLOGY, length, status, err);
	/* It goes through a shell. */
	if (strspn(name, NAME_LETTERS) != strlen(name) || strlen(name) > 100)
		return cpl_fail_null(
		        err, "'%.60s' is not the name of a topology", name);
	snprintf(command, sizeof(command), SHOW_TOPOLOGY " %s", name);
	return slurm_shell(command, length, status, err);
}

/* Without a topology plugin scontrol may fail; then there are no switches, but for
 * those that were asked for by name. */
static int read_topology(const struct network_against *o,
                         struct cpl_slurm_view *view, struct cpl_error *err)
{
	const char *path = o->topology;
	int status = 0, rc = 0;
	size_t length;
	char *text = path ? cpl_file_read(path, MAX_BYTES, &length, err)
	                  : show_topology(o->name, &length, &status, err);

	if (!text)
		return -1;
	if (status && o->name)
		rc = cpl_fail(err, "scontrol show topology %.60s: %.200s",
		              o->name, slurm_shell_line(text));
	else if (!status)
		rc = cpl_slurm_view_topology(
		        view, path ? path : "scontrol show topology", text,
		        length, o->name, err);
	free(text);
	return rc;
}

/* Node ids, or numbers of the view's nodes, as a host list to free(). */
static char *list_nodes(char *const *name, const int *node, int n)
{
	char **some = malloc(((size_t)n + 1) * sizeof(*some)), *text;

	if (!some)
		return NULL;
	for (int i = 0; i < n; i++)
		some[i] = name[node[i]];
	text = cpl_hostlist_format(some, n);
	free(some);
	return text;
}

static int print_nodes(const char *what, char *const *name, const int *node,
                       int n)
{
	char *text;

	if (!n)
		return 0;
	text = list_nodes(name, node, n);
	if (!text)
		return -1;
	printf("%s: %s\n", what, text);
	free(text);
	return 0;
}

static int print_text(const struct cpl_network *net,
                      const struct cpl_slurm_view *view,
                      const struct cpl_against *a)
{
	printf("nodes: %d in both, %d in Slurm only, %d in the network file "
	       "only\n",
	       a->both, a->n_only_slurm, a->n_only_network);
	if (print_nodes("in Slurm only", view->nodes.name, a->only_slurm,
	                a->n_only_slurm) ||
	    print_nodes("in the network file only", net->node_name,
	                a->only_network, a->n_only_network))
		return -1;
	if (!a->level) {
		printf("switches: Slurm shows none\n");
		return 0;
	}
	printf("switches: Slurm's %d against units of level %s\n",
	       view->n_leaves, a->level);
	if (print_nodes("on no switch in Slurm", net->node_name, a->no_switch,
	                a->n_no_switch))
		return -1;
	for (int i = 0; i < a->n_odd; i++)
		printf("switch %s: %s is on %s %d, most others on %d\n",
		       view->leaf[a->odd[i].leaf].name,
		       net->node_name[a->odd[i].node], a->level, a->odd[i].unit,
		       a->odd[i].most);
	for (int i = 0; i < a->n_same; i++)
		printf("switches %s and %s: one %s in the network file, %d\n",
		       view->leaf[a->same[i].leaf].name,
		       view->leaf[a->same[i].other].name, a->level,
		       a->same[i].unit);
	return 0;
}

static json_t *names_json(char *const *name, const int *node, int n)
{
	json_t *list = json_array();

	for (int i = 0; i < n; i++)
		json_array_append_new(list, json_string(name[node[i]]));
	return list;
}

static json_t *switches_json(const struct cpl_network *net,
                             const struct cpl_slurm_view *view,
                             const struct cpl_against *a)
{
	json_t *odd = json_array(), *same = json_array();

	for (int i = 0; i < a->n_odd; i++)
		cpl_json_append(odd, "{s:s, s:s, s:i, s:i}", "switch",
		                view->leaf[a->odd[i].leaf].name, "node",
		                net->node_name[a->odd[i].node], "unit",
		                a->odd[i].unit, "most", a->odd[i].most);
	for (int i = 0; i < a->n_same; i++)
		cpl_json_append(same, "{s:[s, s], s:i}", "switches",
		                view->leaf[a->same[i].leaf].name,
		                view->leaf[a->same[i].other].name, "unit",
		                a->same[i].unit);
	return json_pack("{s:i, s:s?, s:o, s:o, s:o}", "count", view->n_leaves,
	                 "level", a->level, "on_no_switch",
	                 names_json(net->node_name, a->no_switch,
	                            a->n_no_switch),
	                 "elsewhere", odd, "one_unit", same);
}

static int print_json(const struct cmd *self, const struct cpl_network *net,
                      const struct cpl_slurm_view *view,
                      const struct cpl_against *a)
{
	return cmd_print_pack(
	        self, "{s:b, s:i, s:o, s:o, s:o}", "differs",
	        cpl_against_differs(a), "both", a->both, "in_slurm_only",
	        names_json(view->nodes.name, a->only_slurm, a->n_only_slurm),
	        "in_network_only",
	        names_json(net->node_name, a->only_network, a->n_only_network),
	        "switches", switches_json(net, view, a));
}

int network_compare(const struct cpl_network *net,
                    const struct network_against *o,
                    struct network_compared *out, struct cpl_error *err)
{
	*out = (struct network_compared){.view = {.n_leaves = 0}};
	return read_nodes(o, &out->view, err) ||
	                       read_topology(o, &out->view, err) ||
	                       cpl_network_against(net, &out->view,
	                                           &out->against, err)
	               ? -1
	               : 0;
}

void network_compared_release(struct network_compared *c)
{
	cpl_against_free(&c->against);
	cpl_slurm_view_free(&c->view);
}

int network_against_slurm(const struct cmd *self,
                          const struct cpl_network *net,
                          const struct network_against *o)
{
	struct network_compared c;
	struct cpl_error err = {""};
	int rc;

	if (network_compare(net, o, &c, &err))
		rc = cmd_fail(self, &err);
	else if (o->json)
		rc = print_json(self, net, &c.view, &c.against);
	else if (print_text(net, &c.view, &c.against))
		rc = cmd_fail_memory(self);
	else
		rc = CMD_OK;
	if (rc == CMD_OK && cpl_against_differs(&c.against))
		rc = cmd_failf(self, "%s: is not what Slurm shows", o->path);
	network_compared_release(&c);
	return rc;
}
