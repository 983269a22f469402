/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A line of rules, a line of units, and how many nodes: what is found is a set of
 * free nodes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "placement/bounds.h"
#include "ranges.h"

#define NODES 32

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct cpl_network *machine(void)
{
	static const char text[] =
	        "{\"format\":\"commplace-network\",\"version\":1,"
	        "\"name\":\"t\",\"type\":\"torus\",\"dims\":[4,4],"
	        "\"wrap\":[true,true],\"nodes_per_router\":2,"
	        "\"nodes\":\"n[0-31]\"}";

	return cpl_network_parse(text, sizeof(text) - 1, "t", NULL);
}

static void fit(struct cpl_network *net, const struct cpl_bounds *bounds, int n)
{
	unsigned char is_free[NODES], seen[NODES] = {0};
	int node[NODES], required = 5;
	struct cpl_placement_request req = {.net = net,
	                                    .free = is_free,
	                                    .n_nodes_wanted = n,
	                                    .required = &required,
	                                    .n_required = n % 2,
	                                    .bounds = bounds};
	char *words;

	for (int i = 0; i < NODES; i++) {
		is_free[i] = i % 7 != 3 || i >= NODES / 2;
		node[i] = (i + required) % NODES;
	}
	for (int i = 0; i < n; i++)
		is_free[node[i]] = 1;
	if (cpl_bounds_fit(&req, node, NULL))
		return;
	for (int i = 0; i < n; i++)
		if (node[i] < 0 || node[i] >= NODES || !is_free[node[i]] ||
		    seen[node[i]]++)
			abort();
	if (req.n_required && !seen[required])
		abort();
	words = cpl_bounds_words(bounds, node, n);
	free(words);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct cpl_network *net;
	struct cpl_error err = {""};
	struct cpl_bounds bounds;
	char *text, *units;

	if (!net)
		net = machine();
	if (!net || is_long(data, size, 4))
		return 0;
	text = malloc(size + 1);
	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	units = strchr(text, '\n');
	if (units) {
		*units++ = '\0';
		if (!cpl_bounds_read(&bounds, net, text, units, &err)) {
			fit(net, &bounds, 1 + (int)(size % NODES));
			cpl_bounds_free(&bounds);
		} else if (!err.text[0]) {
			abort();
		}
	}
	free(text);
	return 0;
}
