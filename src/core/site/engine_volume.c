/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Jobs without a profile that have run before: what their nodes sent then stands in
 * for one. */
#include "site/engine_deciding.h"

void engine_volumes_free(struct desk *desk)
{
	for (int i = 0; i < ENGINE_VOLUMES; i++) {
		cpl_profile_drop(desk->volume_of[i].profile);
		desk->volume_of[i].profile = NULL;
	}
}

/* A test and the start after it have the same one: decisions are remembered by it.
 * NULL with err: memory. */
static struct cpl_profile *profile_of(struct desk *desk, int nodes,
                                      double volume, struct cpl_error *err)
{
	struct kept_volume *kept;

	for (int i = 0; i < ENGINE_VOLUMES; i++) {
		kept = &desk->volume_of[i];
		if (kept->profile && kept->profile->ranks == nodes &&
		    kept->volume == volume)
			return kept->profile;
	}
	kept = &desk->volume_of[desk->next_volume];
	desk->next_volume = (desk->next_volume + 1) % ENGINE_VOLUMES;
	cpl_profile_drop(kept->profile);
	*kept = (struct kept_volume){
	        cpl_profile_of_volume(nodes, volume, err), volume};
	return kept->profile;
}

static bool wanted(const struct cpl_config *config, bool asked)
{
	return config->unknown == CPL_UNKNOWN_MEASURED &&
	       (config->by_volume == CPL_BY_VOLUME_YES ||
	        (asked && config->by_volume == CPL_BY_VOLUME_ASKED));
}

int engine_fit_volume(struct deciding *d, struct cpl_error *err)
{
	double volume = d->out->record->volume_profile;

	if (!(volume > 0))
		return 0;
	d->by_volume = profile_of(d->desk, (int)d->size.nodes, volume, err);
	return d->by_volume ? 0 : -1;
}

int engine_find_volume(struct deciding *d, bool asked, struct cpl_error *err)
{
	const struct snapshot *now = d->desk->snapshot;
	struct cpl_record *record = d->out->record;
	double volume, cable = cpl_times_bandwidth(now->net, now->net->n_links);

	if (d->size.nodes < 2 || !wanted(now->config, asked))
		return -1;
	volume = cpl_volumes_of(&d->ledger->volumes, record->uid,
	                        record->job_name);
	if (volume < 0)
		return -1;
	if (volume < CPL_MEASURED_LEAST * cable) {
		cpl_fail(err, "nothing is sent between nodes, as measured of "
		              "the newest run of its name");
		return 1;
	}
	record->volume_profile = volume;
	return engine_fit_volume(d, err);
}
