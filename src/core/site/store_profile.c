/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Profiles in memory. */
#include "site/store_internal.h"

#include <stdlib.h>

#include "measured/unknown.h"

struct cpl_profile *cpl_profile_hold(struct cpl_profile *profile)
{
	if (profile)
		atomic_fetch_add(&profile->refs, 1);
	return profile;
}

void cpl_profile_drop(struct cpl_profile *profile)
{
	if (!profile || atomic_fetch_sub(&profile->refs, 1) > 1)
		return;
	cpl_comm_free(profile->comm);
	cpl_comm_free(profile->graph);
	cpl_signature_free(profile->sig);
	free(profile);
}

/* Several phases are kept; of one the run has all. Takes the signature. */
static void take_phases(struct cpl_profile *profile, struct cpl_signature *sig)
{
	profile->run = cpl_run_times(sig->phase, sig->n_phases);
	if (sig->n_phases > 1) {
		profile->sig = sig;
		profile->phase = sig->phase;
		profile->n_phases = sig->n_phases;
		return;
	}
	profile->whole =
	        (struct cpl_phase){.weight = 1,
	                           .time = profile->run.seconds,
	                           .compute_time = profile->run.seconds -
	                                           profile->run.communication,
	                           .comm = profile->comm};
	cpl_phases_groups(sig->phase, 1, &profile->whole.groups);
	profile->phase = &profile->whole;
	profile->n_phases = 1;
	cpl_signature_free(sig);
}

static uint64_t phases_bytes(const struct cpl_signature *sig)
{
	uint64_t bytes = 0;

	for (int i = 0; sig && i < sig->n_phases; i++)
		if (sig->phase[i].comm)
			bytes += cpl_comm_bytes(sig->phase[i].comm);
	return bytes;
}

struct cpl_profile *store_profile_make(struct cpl_signature *sig,
                                       struct cpl_error *err)
{
	struct cpl_profile *profile = calloc(1, sizeof(*profile));

	if (!profile) {
		cpl_signature_free(sig);
		cpl_fail_memory(err);
		return NULL;
	}
	profile->refs = 1;
	profile->ranks = profile->recorded_ranks = sig->ranks;
	profile->comm = cpl_signature_total(sig, err);
	take_phases(profile, sig);
	if (profile->comm)
		profile->graph = cpl_comm_symmetric(profile->comm, err);
	if (!profile->graph) {
		cpl_profile_drop(profile);
		return NULL;
	}
	profile->bytes = sizeof(*profile) + cpl_comm_bytes(profile->comm) +
	                 cpl_comm_bytes(profile->graph) +
	                 phases_bytes(profile->sig);
	return profile;
}

struct cpl_signature *cpl_signature_of_volume(int nodes, double volume,
                                              struct cpl_error *err)
{
	struct cpl_signature *sig = calloc(1, sizeof(*sig));

	if (sig)
		sig->phase = calloc(1, sizeof(*sig->phase));
	if (!sig || !sig->phase) {
		free(sig);
		cpl_fail_memory(err);
		return NULL;
	}
	sig->ranks = nodes;
	sig->n_phases = 1;
	sig->phase->weight = sig->phase->time = 1;
	sig->phase->comm = cpl_unknown_comm(nodes, volume, err);
	if (sig->phase->comm)
		return sig;
	cpl_signature_free(sig);
	return NULL;
}

struct cpl_profile *cpl_profile_of_volume(int nodes, double volume,
                                          struct cpl_error *err)
{
	struct cpl_signature *sig = cpl_signature_of_volume(nodes, volume, err);

	return sig ? store_profile_make(sig, err) : NULL;
}
