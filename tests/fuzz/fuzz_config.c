/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "site/resolve.h"

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
	for (int i = 0; i < c->n_partitions; i++) {
		struct cpl_job_facts job = {
		        .name = "job", .partition = c->partition[i].partition};
		struct cpl_resolved d;

		cpl_resolve(c, NULL, &job, &d);
		if (d.min_nodes < 1 || d.refusal.text[0])
			abort();
	}
	for (int i = 0; i < c->n_matches; i++) {
		const struct cpl_match_rule *rule = &c->match[i];
		const struct cpl_job_facts some = {.has_uid = true,
		                                   .name = rule->job_name,
		                                   .qos = rule->qos,
		                                   .account = rule->account,
		                                   .command = rule->command,
		                                   .nodes = rule->nodes.low,
		                                   .partition = rule->partition,
		                                   .mapping = "network-order"};
		struct cpl_resolved d;

		cpl_resolve(c, NULL, &some, &d);
		if (d.min_nodes < 1 || d.max_decision_ms < 1)
			abort();
		if (d.refusal.text[0] && d.user_may & CPL_MAY_MAPPING)
			abort();
	}
	if (c->network_file[0] != '/' || c->max_decision_ms < 1)
		abort();
	cpl_config_free(c);
	return 0;
}
