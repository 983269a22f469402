/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "measured/cabling.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char graph[] =
        "{\"format\": \"commplace-network\", \"version\": 1, \"name\": \"t\", "
        "\"type\": \"graph\", \"routers\": 3, \"node_routers\": 2, "
        "\"nodes_per_router\": 1, \"nodes\": {\"0\": \"n0\", \"1\": \"n1\"}, "
        "\"router_names\": [\"a\", \"b\", \"c\"], "
        "\"bandwidth\": {\"fat\": 100, \"injection\": 1000}, "
        "\"directed\": true, \"links\": [[0, 1, \"fat\"], [0, 2, \"fat\"], "
        "[0, 2, \"fat\"], [2, 0, \"fat\"], [2, 1, \"fat\"], "
        "[1, 0, \"fat\"]]}";

/* Whatever the text says, no link has more than it carries, or is there twice. */
static void check(const struct cpl_measured *m, const struct cpl_network *net)
{
	for (int64_t i = 0; i < m->n; i++) {
		const struct cpl_times_rate *r = &m->rate[i];

		if (r->link < 0 || r->link >= cpl_times_links(net) ||
		    (i && r->link <= r[-1].link) || !(r->rate >= 0) ||
		    r->rate > CPL_MEASURED_MOST * 1.001 *
		                      cpl_times_bandwidth(net, r->link))
			abort();
	}
	if (m->left_out * 2 > m->rows || m->since > m->time ||
	    !isfinite(m->time))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct cpl_network *net;
	const struct cpl_measured_at at = {.now = size % 2 ? 10000 : 0,
	                                   .max_age = 300};
	struct cpl_measured measured;
	struct cpl_cabling cabling;
	struct cpl_error err = {""};

	if (!net)
		net = cpl_network_parse(graph, strlen(graph), "n", &err);
	if (cpl_measured_parse(&measured, net, (const char *)data, size, "f",
	                       &at, &err)) {
		if (!err.text[0] || measured.n)
			abort();
		return 0;
	}
	check(&measured, net);
	free(cpl_measured_rest(&measured, net, NULL, &err));
	if (cpl_cabling_check(&cabling, &measured, net, NULL, &err) ||
	    cabling.judged > net->n_routers ||
	    cabling.n_routers > cabling.judged || cabling.n_links)
		abort();
	cpl_cabling_free(&cabling);
	cpl_measured_free(&measured);
	return 0;
}
