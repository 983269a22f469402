/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "oracle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hostlist.h"
#include "mapping/quick.h"
#include "placement/decide.h"
#include "signature/signature.h"
#include "site/record.h"
#include "site/state.h"

static void need(bool ok, const char *what, const struct cpl_error *err)
{
	if (ok)
		return;
	fprintf(stderr, "oracle: %s: %s\n", what, err->text);
	exit(99);
}

static const char *file(const char *name)
{
	static char path[4][512];
	static int at;
	char *out = path[at++ % 4];

	snprintf(out, sizeof(path[0]), "%s/%s", controller_dir, name);
	return out;
}

bool oracle_record(uint32_t job, bool ended)
{
	char name[64];

	snprintf(name, sizeof(name), "state/%s/%u.json",
	         ended ? "ended" : "running", job);
	for (int i = 0; i < 500; i++) {
		if (!access(file(name), F_OK))
			return true;
		usleep(10000);
	}
	return false;
}

struct view {
	struct cpl_network *net;
	const struct cpl_routing *routing;
	struct cpl_signature *sig;
	struct cpl_comm *comm;
	struct cpl_load load, rates;
	unsigned char free[MACHINE_NODES];
	struct cpl_decision decision;
	int ranks;
};

static void apply_running(struct view *v)
{
	struct cpl_error err = {""};
	const struct cpl_profile_dirs dirs = {.dir = file("profiles"),
	                                      .max_bytes = UINT64_MAX};
	struct cpl_profiles *profiles;
	struct cpl_state state;
	struct cpl_scene scene = {.net = v->net, .routing = v->routing};
	unsigned char dropped[MACHINE_NODES];
	int skipped;

	if (access(file("state"), F_OK))
		return;
	need(!cpl_record_state(file("state"), &state, &skipped, &err),
	     "records", &err);
	/* Shared nodes stay free here: the bitmap says what is. */
	memset(dropped, 1, sizeof(dropped));
	profiles = cpl_profiles_open(&dirs, &err);
	need(profiles && !cpl_state_profiles(&state, profiles, NULL, &err),
	     "profiles", &err);
	cpl_profiles_close(profiles);
	need(!cpl_state_apply(&state, v->net, v->routing, dropped, &v->load,
	                      &err),
	     "background", &err);
	need(!cpl_state_run(&state, &scene, NULL, &err), "rates", &err);
	if (scene.running)
		cpl_load_add(&v->rates, cpl_background_rates(scene.running),
		             v->net);
	cpl_scene_close(&scene);
	cpl_state_free(&state);
}

static int nodes_of(const struct view *v, const char *text, int *node)
{
	struct cpl_error err = {""};
	struct cpl_hostlist list = {0};
	int n;

	if (!text)
		return 0;
	need(!cpl_hostlist_parse(&list, text, &err), "hosts", &err);
	for (n = 0; n < list.count; n++)
		node[n] = cpl_network_node(v->net, list.name[n]);
	cpl_hostlist_free(&list);
	return n;
}

static void look(struct view *v, const struct oracle *ask)
{
	struct cpl_error err = {""};
	int node[MACHINE_NODES], stock[MACHINE_NODES], n;
	/* Slurm is asked for its own nodes by searches alone. */
	bool asked = ask->profile && cpl_placement_is_search(ask->policy);

	memset(v, 0, sizeof(*v));
	v->net = cpl_network_load(file("network.json"), &err);
	need(v->net, "network", &err);
	v->routing = cpl_routing_find(v->net, NULL, &err);
	need(v->routing, "routing", &err);
	need(!cpl_load_init(&v->load, v->net, &err) &&
	             !cpl_load_init(&v->rates, v->net, &err),
	     "load", &err);
	cpl_load_clear(&v->load, v->net);
	cpl_load_clear(&v->rates, v->net);
	if (ask->profile) {
		char name[128];

		snprintf(name, sizeof(name), "profiles/%s.json", ask->profile);
		v->sig = cpl_signature_load(file(name), &err);
		need(v->sig, "signature", &err);
		v->ranks = v->sig->ranks;
		v->comm = cpl_signature_total(v->sig, &err);
	}
	apply_running(v);
	for (int i = 0; i < MACHINE_NODES; i++)
		v->free[i] = bit_test((bitstr_t *)ask->free, i);
	n = nodes_of(v, ask->required, node);
	struct cpl_decide_request req = {
	        .place = {.net = v->net,
	                  .free = v->free,
	                  .n_nodes_wanted = ask->nodes,
	                  .required = node,
	                  .n_required = n,
	                  .seed = 1},
	        .wish.policy = cpl_placement_find(NULL, ask->policy, NULL),
	        .wish.option = cpl_placement_option(ask->policy),
	        .routing = v->routing,
	        .comm = v->comm,
	        .ranks_per_node = ask->ranks_per_node,
	        .wish.mapper = &cpl_mapper_quick,
	        .stock = asked && nodes_of(v, ask->stock, stock) ? stock : NULL,
	        .background = &v->load,
	        .phase = v->sig ? v->sig->phase : NULL,
	        .n_phases = v->sig ? v->sig->n_phases : 0,
	        .rates = &v->rates,
	        .wish.objective = CPL_OBJECTIVE_MAX,
	};
	need(!cpl_decide(&req, &v->decision, &err), "decide", &err);
}

static void close_view(struct view *v)
{
	cpl_decision_free(&v->decision);
	cpl_load_free(&v->load);
	cpl_load_free(&v->rates);
	cpl_signature_free(v->sig);
	cpl_comm_free(v->comm);
	cpl_network_free(v->net);
}

char *oracle_nodes(const struct oracle *ask)
{
	bitstr_t *bitmap = bit_alloc(MACHINE_NODES);
	struct view v;
	char *text;

	look(&v, ask);
	for (int i = 0; i < v.decision.n_nodes; i++)
		bit_set(bitmap, v.decision.node[i]);
	text = controller_names(bitmap);
	FREE_NULL_BITMAP(bitmap);
	close_view(&v);
	return text;
}

char *oracle_ranks(const struct oracle *ask)
{
	struct cpl_error err = {"the decision has none"};
	struct view v;
	char *text = NULL;
	size_t size;
	FILE *f;

	look(&v, ask);
	need(v.decision.mapped, "rank order", &err);
	f = open_memstream(&text, &size);
	for (int r = 0; r < v.ranks; r++) {
		int at = v.decision.rank_host ? v.decision.rank_host[r]
		                              : r / ask->ranks_per_node;

		fprintf(f, "%s%s", r ? "," : "",
		        v.net->node_name[v.decision.node[at]]);
	}
	fclose(f);
	close_view(&v);
	return text;
}
