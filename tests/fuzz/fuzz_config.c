/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "site/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cpl_error err = {""};
	struct cpl_config *c =
	        cpl_config_parse((const char *)data, size, "c.conf", &err);

	if (!c) {
		if (strncmp(err.text, "c.conf:", 7) || strchr(err.text, '\n'))
			abort();
		return 0;
	}
	for (int i = 0; i < c->n_partitions; i++)
		if (cpl_config_defaults(c, c->partition[i].partition)
		            .min_nodes < 1)
			abort();
	if (c->network_file[0] != '/' || c->max_decision_ms < 1)
		abort();
	cpl_config_match(c, "job");
	cpl_config_free(c);
	return 0;
}
