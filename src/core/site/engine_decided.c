/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Answers on which jobs are about to begin. */
#include <stdlib.h>
#include <time.h>

#include "site/engine_desk.h"

struct cpl_record *engine_record_new(const struct snapshot *now,
                                     const struct cpl_job_facts *job,
                                     const struct cpl_resolved *want)
{
	struct cpl_record *record = calloc(1, sizeof(*record));
	int failed;

	if (!record)
		return NULL;
	record->job = job->id;
	record->time = time(NULL);
	record->uid = job->uid;
	record->seed = now->config->seed;
	record->stock_max_congestion = record->stock_mean_congestion = -1;
	record->stock_mapped_max = -1;
	if (want->wish.keep.name)
		record->keep_price = want->wish.keep_price;
	if (want->wish.objective == CPL_OBJECTIVE_INTERFERENCE) {
		record->own_weight = want->wish.own_weight;
		record->others_weight = want->wish.others_weight;
	}
	failed = engine_set(&record->job_name, job->name) |
	         engine_set(&record->partition, job->partition) |
	         engine_set(&record->profile, want->profile.value) |
	         engine_set(&record->keep_whole, want->wish.keep.name) |
	         engine_set(&record->reason, "") |
	         engine_set(&record->policy_asked, want->policy.value) |
	         engine_set(&record->policy, "stock") |
	         engine_set(&record->objective,
	                    cpl_objective_name(want->wish.objective)) |
	         engine_set(&record->routing, now->routing->name) |
	         engine_set(&record->network_file, now->config->network_file) |
	         engine_set(&record->time_model,
	                    want->wish.objective == CPL_OBJECTIVE_LEARNED
	                            ? now->model_file
	                            : NULL) |
	         engine_set(&record->free_hosts, "") |
	         engine_set(&record->required_hosts, "") |
	         engine_set(&record->stock_hosts, "") |
	         engine_set(&record->mapping, want->mapping.value
	                                              ? want->mapping.value
	                                              : "linear");
	if (failed) {
		cpl_record_free(record);
		return NULL;
	}
	return record;
}

void engine_decided_free(struct decided *decided)
{
	if (!decided)
		return;
	cpl_record_free(decided->record);
	cpl_profile_drop(decided->profile);
	free(decided->order);
	free(decided->rank_host);
	free(decided->host);
	free(decided);
}

struct decided *engine_decided_take(struct desk *desk, int64_t id)
{
	for (struct decided **at = &desk->decided; *at; at = &(*at)->next) {
		struct decided *found = *at;

		if (found->record->job != id)
			continue;
		*at = found->next;
		return found;
	}
	return NULL;
}

void engine_decided_keep(struct desk *desk, struct decided *decided)
{
	struct decided *old = decided;

	decided->next = desk->decided;
	desk->decided = decided;
	for (int i = 1; i < CPL_ENGINE_DECIDED_MAX && old; i++)
		old = old->next;
	if (old && old->next) {
		struct decided *last = old->next;

		old->next = NULL;
		engine_decided_free(last);
	}
}
