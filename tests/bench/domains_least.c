/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * domains_least NETWORK SIGNATURE RANKS-PER-NODE < FREE-HOSTS
 *
 * Bytes that no choice of the free hosts and no order of the ranks keeps inside the
 * network's domains (domains_bound.c has the proof), for tests/bench/bench-domains.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "domains_bound.h"
#include "network/network.h"
#include "signature/signature.h"

/* Adds the room of each host read to its domain. */
static int read_rooms(const struct cpl_network *net, int each, int *room,
                      struct cpl_error *err)
{
	char host[256];

	while (fgets(host, sizeof(host), stdin)) {
		int node;

		host[strcspn(host, "\n")] = '\0';
		node = cpl_network_node(net, host);
		if (node < 0 || net->accelerators.domain_of[node] < 0)
			return cpl_fail(err, "%s: a node of a domain is needed", host);
		room[net->accelerators.domain_of[node]] += each;
	}
	return 0;
}

/* The largest bound of grids, any of which gives one: the signature's, or all of two
 * axes where it tells none, as what AICB's streams become. */
static int bound_grids(const struct cpl_signature *sig, struct domains *how,
                       double *bytes, struct cpl_error *err)
{
	struct cpl_rank_grid grid;
	double one;

	how->grid = &grid;
	if (cpl_phases_groups(sig->phase, sig->n_phases, &grid))
		return domains_bound(how, bytes, err);
	for (int a = 1; a < sig->ranks; a++) {
		if (sig->ranks % a)
			continue;
		grid = (struct cpl_rank_grid){
		        sig->ranks, 2, {{"a", 1, a}, {"b", a, sig->ranks / a}}};
		if (domains_bound(how, &one, err))
			return -1;
		*bytes = one > *bytes ? one : *bytes;
	}
	return 0;
}

static int run(const struct cpl_network *net, const struct cpl_signature *sig, int each,
               struct cpl_error *err)
{
	int *room = calloc((size_t)net->accelerators.n_domains + 1, sizeof(*room));
	struct cpl_comm *comm = cpl_signature_total(sig, err);
	/* All nodes of the job are full where the ranks fill them. */
	struct domains how = {comm, NULL, net->accelerators.n_domains, room,
	                      sig->ranks % each ? 1 : each};
	double bytes = 0;
	int rc = -1;

	if (!room)
		cpl_fail_memory(err);
	else if (!net->accelerators.domain_of)
		cpl_fail(err, "a network with domains is needed");
	else if (comm)
		rc = read_rooms(net, each, room, err) ||
		     bound_grids(sig, &how, &bytes, err);
	if (!rc)
		printf("%.17g\n", bytes);
	cpl_comm_free(comm);
	free(room);
	return rc;
}

int main(int argc, char **argv)
{
	struct cpl_error err = {""};
	struct cpl_network *net = NULL;
	struct cpl_signature *sig = NULL;
	int rc = -1, each = argc == 4 ? atoi(argv[3]) : 0;

	if (each < 1)
		cpl_fail(&err, "arguments: NETWORK SIGNATURE RANKS-PER-NODE");
	else if ((net = cpl_network_load(argv[1], &err)) &&
	         (sig = cpl_signature_load(argv[2], &err)))
		rc = run(net, sig, each, &err);
	if (rc)
		fprintf(stderr, "domains_least: %s\n", err.text);
	cpl_signature_free(sig);
	cpl_network_free(net);
	return rc ? 1 : 0;
}
