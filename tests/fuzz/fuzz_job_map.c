/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "campaign/jobs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct cpl_log_job job = {.id = 1, .nodes = 64, .name = "vasp",
	                                .user = "u", .account = "",
	                                .partition = "p", .qos = ""};
	struct cpl_error err = {""};
	struct cpl_jobs jobs;

	if (cpl_jobs_parse((const char *)data, size, "map", &jobs, &err)) {
		if (!err.text[0] || jobs.n_rules)
			abort();
		return 0;
	}
	for (int i = 0; i < jobs.n_rules; i++) {
		const struct cpl_jobs_rule *rule = &jobs.rule[i];

		if (!rule->class || rule->share > 1 ||
		    rule->ranks_per_node < 1 || rule->low > rule->high ||
		    (rule->signature && rule->pattern))
			abort();
	}
	cpl_jobs_rule_of(&jobs, &job, 1);
	cpl_jobs_free(&jobs);
	return 0;
}
