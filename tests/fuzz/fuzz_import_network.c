/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All readers of networks: the first byte takes one. Behind a NUL follow
 * the traces of routes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "network/reader/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Host lists of six digits are right, but take seconds. */
static int has_long_range(const uint8_t *data, size_t size)
{
	size_t digits = 0;

	for (size_t i = 0; i < size; i++) {
		digits = data[i] >= '0' && data[i] <= '9' ? digits + 1 : 0;
		if (digits > 3 && memchr(data, '-', size) && strchr("tynxm", data[0]))
			return 1;
	}
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cpl_error err = {""};
	struct cpl_network_import in = {.name = "net",
	                                .source = "in",
	                                .routing_table = "table",
	                                .nodes_per_router = 2};
	const uint8_t *nul;
	char *routes;
	json_t *root;

	if (size == 0 || has_long_range(data, size))
		return 0;
	in.format = data[0] == 't'   ? "topology-conf"
	            : data[0] == 'y' ? "topology-yaml"
	            : data[0] == 'i' ? "ibnetdiscover"
	            : data[0] == 'n' ? "node-list"
	            : data[0] == 'x' ? "names"
	            : data[0] == 'm' ? "node-toml"
	            : data[0] == 'g' ? "topograph"
	                             : "aries";
	in.text = (const char *)data + 1;
	in.length = size - 1;
	nul = memchr(data, '\0', size);
	if (nul && nul > data && data[0] == 'i') {
		in.length = (size_t)(nul - data) - 1;
		in.routes_source = "traces";
		in.routes = (const char *)nul + 1;
		in.routes_length = size - in.length - 2;
	}
	root = cpl_network_import(&in, &routes, &err);
	if (!root && !err.text[0])
		abort();
	if (!root && routes)
		abort();
	json_decref(root);
	free(routes);
	return 0;
}
