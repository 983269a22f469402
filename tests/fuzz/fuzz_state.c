/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "site/state.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char text[] =
	        "{\"format\":\"commplace-network\",\"version\":1,"
	        "\"type\":\"torus\",\"dims\":[4],\"wrap\":[true],"
	        "\"nodes\":\"n[0-3]\"}";
	static struct cpl_network *net;
	struct cpl_error err = {""};
	unsigned char free_nodes[4];
	struct cpl_state state;

	if (!net)
		net = cpl_network_parse(text, strlen(text), "net", &err);
	if (cpl_state_parse((const char *)data, size, "s", &state, &err)) {
		if (!err.text[0] || state.n_jobs)
			abort();
		return 0;
	}
	for (int i = 1; i < state.n_jobs; i++)
		if (state.job[i - 1].id >= state.job[i].id)
			abort();
	cpl_state_apply(&state, net, cpl_routing_find(net, NULL, NULL),
	                free_nodes, NULL, &err);
	cpl_state_free(&state);
	return 0;
}
