/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What any routing keeps: all bytes leave, arrive and get lost nowhere. */
#pragma once

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "network_text.h"
#include "routing/routing.h"

static inline const struct cpl_routing *
flow_routing(const struct cpl_network *net, const char *name)
{
	struct cpl_error err = {""};
	const struct cpl_routing *routing = cpl_routing_find(net, name, &err);

	if (!routing)
		fail_msg("%s", err.text);
	return routing;
}

/* Every ordered pair of routers with nodes (step: every step-th of both). */
static inline void flow_check(const struct cpl_network *net,
                              const struct cpl_routing *routing, int step)
{
	size_t links = (size_t)net->n_links + 1;
	double *load = malloc(links * sizeof(*load));
	double *gain = malloc((size_t)net->n_routers * sizeof(*gain));

	assert_non_null(load);
	assert_non_null(gain);
	for (int from = 0; from < net->n_node_routers; from += step) {
		for (int to = 0; to < net->n_node_routers; to += step) {
			double sum = 0;

			memset(load, 0, links * sizeof(*load));
			memset(gain, 0, (size_t)net->n_routers * sizeof(*gain));
			routing->add(net, from, to, 6.0, load);
			for (int64_t i = 0; i < net->n_links; i++) {
				assert_true(load[i] >= 0);
				sum += load[i];
				gain[net->link_from[i]] -= load[i];
				gain[net->link_to[i]] += load[i];
			}
			gain[from] += 6;
			gain[to] -= 6;
			for (int r = 0; r < net->n_routers; r++)
				if (fabs(gain[r]) > 1e-9)
					fail_msg("%d to %d: router %d keeps %g",
					         from, to, r, gain[r]);
			if (fabs(sum - 6 * routing->hops(net, from, to)) > 1e-9)
				fail_msg("%d to %d: %g on links, %g hops", from,
				         to, sum, routing->hops(net, from, to));
		}
	}
	free(load);
	free(gain);
}
