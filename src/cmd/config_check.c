/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "placement/placement.h"
#include "site_files.h"

#define NAMES_SHOWN 3

void site_check_free(struct site_check *check)
{
	for (int i = 0; i < check->n_profiles; i++)
		free(check->profile[i].name);
	free(check->profile);
	cpl_network_free(check->net);
	cpl_config_free(check->config);
	memset(check, 0, sizeof(*check));
}

/* Names may be known and yet not be for this type of network. */
static int check_policy(const struct site_check *check, const char *policy,
                        const char *partition, struct cpl_error *err)
{
	if (!policy || !strcasecmp(policy, "auto") ||
	    !strcasecmp(policy, "traffic") || !strcasecmp(policy, "none") ||
	    cpl_placement_find(check->net->type, policy, err))
		return 0;
	return partition ? cpl_fail_prefix(err, "%s: Partition=%s: ",
	                                   check->config->path, partition)
	                 : cpl_fail_prefix(err, "%s: DefaultPolicy: ",
	                                   check->config->path);
}

static int check_network(struct site_check *check, struct cpl_error *err)
{
	const struct cpl_config *c = check->config;

	check->net = cpl_network_load(c->network_file, err);
	if (!check->net)
		return cpl_fail_prefix(err, "%s: NetworkFile: ", c->path);
	check->routing = cpl_routing_find_quick(check->net, c->routing, err);
	if (!check->routing)
		return cpl_fail_prefix(err, "%s: Routing: ", c->path);
	for (int i = 0; i < check->net->n_nodes; i++)
		check->n_hosts += check->net->node_name[i] != NULL;
	if (check_policy(check, c->defaults.policy, NULL, err))
		return -1;
	for (int i = 0; i < c->n_partitions; i++)
		if (check_policy(check, c->partition[i].defaults.policy,
		                 c->partition[i].partition, err))
			return -1;
	return 0;
}

/* 0, 1 when the profile is bad (err says why), -1 when memory is out. */
static int add_profile(struct site_check *check, const char *name,
                       struct cpl_error *err)
{
	char *path = cpl_profile_path(check->config->profile_dir, name, err);
	struct site_profile *p = &check->profile[check->n_profiles];
	struct cpl_signature *sig;

	if (!path)
		return -1;
	sig = cpl_signature_load(path, err);
	free(path);
	if (!sig)
		return 1;
	p->ranks = sig->ranks;
	p->n_phases = sig->n_phases;
	cpl_signature_free(sig);
	p->name = strdup(name);
	if (!p->name)
		return cpl_fail_memory(err);
	check->n_profiles++;
	return 0;
}

static int check_profiles(struct site_check *check, struct cpl_error *err)
{
	struct cpl_error one = {""};
	char **name = NULL;
	int n = cpl_profile_list(check->config->profile_dir, &name, err);
	int bad = 0;

	if (n < 0)
		return cpl_fail_prefix(err,
		                       "%s: ProfileDir: ", check->config->path);
	check->profile = calloc((size_t)n + 1, sizeof(*check->profile));
	if (!check->profile)
		bad = -1;
	for (int i = 0; i < n && bad >= 0; i++) {
		int rc = add_profile(check, name[i], &one);

		if (rc && !bad)
			*err = one;
		bad = rc < 0 ? -1 : bad + rc;
	}
	for (int i = 0; i < n; i++)
		free(name[i]);
	free(name);
	if (bad < 0)
		return cpl_fail_memory(err);
	if (bad > 1)
		return cpl_fail_prefix(err,
		                       "%d of %d profiles are damaged; "
		                       "the first: ",
		                       bad, n);
	return bad ? -1 : 0;
}

static int check_matches(const struct site_check *check, struct cpl_error *err)
{
	const struct cpl_config *c = check->config;

	for (int i = 0; i < c->n_matches; i++) {
		int k = 0;

		while (k < check->n_profiles &&
		       strcmp(check->profile[k].name, c->match[i].profile))
			k++;
		if (k == check->n_profiles)
			return cpl_fail(err,
			                "%s: Match JobName=%s: profile %s is "
			                "not in %s",
			                c->path, c->match[i].job_name,
			                c->match[i].profile, c->profile_dir);
	}
	return 0;
}

/* Append a name to "a, b, c ..." as long as few are shown. */
static void show(char *text, size_t size, int shown, const char *name)
{
	size_t n = strlen(text);

	if (shown < NAMES_SHOWN)
		snprintf(text + n, size - n, "%s%s", shown ? ", " : "", name);
	else if (shown == NAMES_SHOWN)
		snprintf(text + n, size - n, " ...");
}

static int compare_nodes(const struct site_check *check, const char *text,
                         struct cpl_error *err)
{
	struct cpl_hostlist list = {0};
	char only_slurm[160] = "", only_network[160] = "";
	int in_slurm = 0, in_network = 0;
	unsigned char *seen;

	if (cpl_hostlist_parse(&list, text, err))
		return cpl_fail_prefix(err, "--slurm-nodes: ");
	seen = calloc((size_t)check->net->n_nodes + 1, 1);
	if (!seen) {
		cpl_hostlist_free(&list);
		return cpl_fail_memory(err);
	}
	for (int i = 0; i < list.count; i++) {
		int node = cpl_network_node(check->net, list.name[i]);

		if (node >= 0)
			seen[node] = 1;
		else
			show(only_slurm, sizeof(only_slurm), in_slurm++,
			     list.name[i]);
	}
	for (int i = 0; i < check->net->n_nodes; i++)
		if (check->net->node_name[i] && !seen[i])
			show(only_network, sizeof(only_network), in_network++,
			     check->net->node_name[i]);
	free(seen);
	cpl_hostlist_free(&list);
	if (!in_slurm && !in_network)
		return 0;
	return cpl_fail(err,
	                "%s and Slurm differ: %d nodes in Slurm only%s%s%s, %d "
	                "in the network only%s%s%s",
	                check->config->network_file, in_slurm,
	                in_slurm ? " (" : "", only_slurm, in_slurm ? ")" : "",
	                in_network, in_network ? " (" : "", only_network,
	                in_network ? ")" : "");
}

int site_check(struct site_check *check, const char *path,
               const char *slurm_nodes, struct cpl_error *err)
{
	memset(check, 0, sizeof(*check));
	check->config = cmd_config_load(path, err);
	if (!check->config || check_network(check, err) ||
	    check_profiles(check, err) || check_matches(check, err))
		return -1;
	return slurm_nodes ? compare_nodes(check, slurm_nodes, err) : 0;
}
