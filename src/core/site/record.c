/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "site/record_internal.h"

#include <stdlib.h>
#include <string.h>

#define AT(member) offsetof(struct cpl_record, member)
const struct record_field record_field[RECORD_FIELDS] = {
        {"job", INT64, AT(job)},
        {"shown_as", TEXT_OR_NULL, AT(shown_as)},
        {"time", INT64, AT(time)},
        {"uid", UINT32, AT(uid)},
        {"job_name", TEXT_OR_NULL, AT(job_name)},
        {"partition", TEXT_OR_NULL, AT(partition)},
        {"profile", TEXT_OR_NULL, AT(profile)},
        {"own_profile", BOOL, AT(own_profile)},
        {"recorded_ranks", INT, AT(recorded_ranks)},
        {"rescale_error", REAL, AT(rescale_error)},
        {"drift", REAL, AT(drift)},
        {"outcome", OUTCOME, AT(outcome)},
        {"reason", TEXT, AT(reason)},
        {"reason_code", TEXT_OR_NULL, AT(reason_code)},
        {"arm", TEXT_OR_NULL, AT(arm)},
        {"policy_asked", TEXT_OR_NULL, AT(policy_asked)},
        {"policy", TEXT_OR_NULL, AT(policy)},
        {"seed", UINT64, AT(seed)},
        {"objective", TEXT_OR_NULL, AT(objective)},
        {"routing", TEXT_OR_NULL, AT(routing)},
        {"stated_routing", TEXT_OR_NULL, AT(stated_routing)},
        {"network_file", TEXT_OR_NULL, AT(network_file)},
        {"time_model", TEXT_OR_NULL, AT(time_model)},
        {"nodes_wanted", INT, AT(nodes_wanted)},
        {"ranks_per_node", INT, AT(ranks_per_node)},
        {"free_hosts", TEXT, AT(free_hosts)},
        {"required_hosts", TEXT, AT(required_hosts)},
        {"rules", TEXT_OR_NULL, AT(rules)},
        {"units", TEXT_OR_NULL, AT(units)},
        {"kept", TEXT_OR_NULL, AT(kept)},
        {"segment_from", TEXT_OR_NULL, AT(segment_from)},
        {"measured", TEXT_OR_NULL, AT(measured)},
        {"sample", INT64, AT(sample)},
        {"volume_profile", REAL, AT(volume_profile)},
        {"volume", REAL, AT(volume)},
        {"measured_volume", REAL, AT(measured_volume)},
        {"ended", INT64, AT(ended)},
        {"run_seconds", REAL, AT(run_seconds)},
        {"own_weight", REAL, AT(own_weight)},
        {"others_weight", REAL, AT(others_weight)},
        {"keep_whole", TEXT_OR_NULL, AT(keep_whole)},
        {"keep_price", INT, AT(keep_price)},
        {"broken", INT, AT(broken)},
        {"best_policy", TEXT_OR_NULL, AT(best_policy)},
        {"best_broken", INT, AT(best_broken)},
        {"price", REAL, AT(price)},
        {"seconds", REAL, AT(seconds)},
        {"alone_seconds", REAL, AT(alone_seconds)},
        {"stock_seconds", REAL, AT(stock_seconds)},
        {"former_hosts", TEXT_OR_NULL, AT(former_hosts)},
        {"former_worse", REAL, AT(former_worse)},
        {"cut_short", BOOL, AT(cut_short)},
        {"decision_ms", REAL, AT(decision_ms)},
        {"stock_hosts", TEXT, AT(stock_hosts)},
        {"stock_max_congestion", REAL, AT(stock_max_congestion)},
        {"stock_mean_congestion", REAL, AT(stock_mean_congestion)},
        {"stock_mapped_max_congestion", REAL, AT(stock_mapped_max)},
        {"order_reaches", TEXT_OR_NULL, AT(order_reaches)},
        {"order_known_by", TEXT_OR_NULL, AT(order_known_by)},
        {"order_arrived", TEXT_OR_NULL, AT(order_arrived)},
        {"mapping", TEXT_OR_NULL, AT(mapping)},
        {"mapping_kept_default", BOOL, AT(mapping_kept_default)},
        {"own_order", BOOL, AT(own_order)},
        {"map_max_before", REAL, AT(map_max_before)},
        {"map_max_after", REAL, AT(map_max_after)},
};
#undef AT

#define AT(member) offsetof(struct cpl_record_candidate, member)
const struct record_field record_candidate_field[RECORD_CANDIDATE_FIELDS] = {
        {"policy", TEXT, AT(policy)},
        {"seed", UINT64, AT(seed)},
        {"evaluated", BOOL, AT(evaluated)},
        {"max_congestion", REAL, AT(max_congestion)},
        {"mean_congestion", REAL, AT(mean_congestion)},
        {"hop_bytes", REAL, AT(hop_bytes)},
        {"seconds", REAL, AT(seconds)},
        {"alone_seconds", REAL, AT(alone_seconds)},
        {"shared_links", INT64, AT(shared_links)},
        {"slows_others", REAL, AT(slows_others)},
        {"learned_seconds", REAL, AT(learned)},
        {"broken", INT, AT(broken)},
        {"mapped", BOOL, AT(mapped)},
        {"mapped_max_congestion", REAL, AT(mapped_max)},
        {"mapped_mean_congestion", REAL, AT(mapped_mean)},
        {"mapped_hop_bytes", REAL, AT(mapped_hop_bytes)},
        {"stated_max_congestion", REAL, AT(stated_max)},
        {"plain_max_congestion", REAL, AT(plain_max)},
        {"barred", BOOL, AT(barred)},
};
#undef AT

static const char *const outcome_name[] = {
        [CPL_OUTCOME_STOCK] = "stock",
        [CPL_OUTCOME_OBSERVED] = "observed",
        [CPL_OUTCOME_PLACED] = "placed",
};

const char *cpl_outcome_name(enum cpl_outcome outcome)
{
	return outcome_name[outcome];
}

enum cpl_order cpl_order_named(const char *word)
{
	if (word && !strcmp(word, CPL_REACH_UNKNOWN))
		return CPL_ORDER_MAY;
	return word && !strcmp(word, CPL_REACH_NO) ? CPL_ORDER_NOT
	                                           : CPL_ORDER_REACHES;
}

void cpl_record_free(struct cpl_record *record)
{
	if (!record)
		return;
	for (int i = 0; i < RECORD_FIELDS; i++) {
		const struct record_field *f = &record_field[i];

		if (f->kind <= TEXT_OR_NULL)
			free(*(char **)((char *)record + f->offset));
	}
	for (int i = 0; i < record->n_hosts; i++)
		free(record->host[i]);
	for (int i = 0; i < record->n_candidates; i++)
		free(record->candidate[i].policy);
	cpl_free_all(record->host, record->candidate, record->background,
	             record->rank_host, record);
}
