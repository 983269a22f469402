/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What scontrol shows, against a network: nodes and switches in one text. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "network/against.h"
#include "ranges.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char text[] =
        "{\"format\": \"commplace-network\", \"version\": 1, "
        "\"type\": \"dragonfly\", \"groups\": 2, \"rows\": 1, \"columns\": 2, "
        "\"nodes_per_router\": 2, \"nodes\": \"n[0-7]\"}";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct cpl_network *net;
	struct cpl_slurm_view view = {.n_leaves = 0};
	struct cpl_against against = {.level = NULL};
	struct cpl_error err = {""};

	if (!net)
		net = cpl_network_parse(text, strlen(text), "net", &err);
	if (!net || is_long(data, size, 4))
		return 0;
	if (cpl_slurm_view_nodes(&view, "in", (const char *)data, size, &err) ||
	    cpl_slurm_view_topology(&view, "in", (const char *)data, size,
	                            NULL, &err)) {
		if (!err.text[0])
			abort();
	} else if (!cpl_network_against(net, &view, &against, &err)) {
		if (!view.n_leaves != !against.level)
			abort();
	}
	cpl_against_free(&against);
	cpl_slurm_view_free(&view);
	return 0;
}
