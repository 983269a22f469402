/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long a bit takes along links and through routers, as a network's file says. */
#include "network/type.h"

/* Longer than any cable is. */
#define MOST_SECONDS 1.0

static int read_latency(const json_t *latency, const char *key, double *out,
                        struct cpl_error *err)
{
	if (cpl_json_number(latency, key, 0, MOST_SECONDS, out, err) < 0)
		return cpl_fail_prefix(err, "latency: ");
	return 0;
}

int cpl_network_read_latencies(struct cpl_network *net, const json_t *root,
                               struct cpl_error *err)
{
	const json_t *latency = json_object_get(root, "latency");
	const char *known[CPL_NETWORK_MAX_CLASSES + 4];
	int n = net->n_classes;
	double link = 0;

	if (!latency)
		return 0;
	if (!json_is_object(latency))
		return cpl_fail(err, "\"latency\" must be an object");
	for (int k = 0; k < n; k++)
		known[k] = net->link_class[k].name;
	known[n] = "injection";
	known[n + 1] = "link";
	known[n + 2] = "router";
	known[n + 3] = NULL;
	if (cpl_json_known_keys(latency, "latency", known, err) ||
	    read_latency(latency, "link", &link, err) ||
	    read_latency(latency, "router", &net->router_latency, err))
		return -1;
	net->has_latency = net->router_latency > 0;
	for (int k = 0; k <= n; k++) {
		net->class_latency[k] = link;
		if (read_latency(latency, known[k], &net->class_latency[k], err))
			return -1;
		net->has_latency |= net->class_latency[k] > 0;
	}
	return 0;
}
