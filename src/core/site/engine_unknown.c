/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs that run without a signature: how much each of their nodes is taken to send,
 * and what of the measured links is theirs.
 */
#include "site/engine_ledger.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "measured/unknown.h"

/* Rows of a job's traffic that are looked at for its volume: a part of a large one
 * tells as much as is needed here, and no start waits for all of it. */
#define ROWS 4096
/* Bytes/s: nothing, but for a pattern. */
#define LEAST 1

static enum cpl_unknown_mode mode_of(const struct ledger *ledger)
{
	return ledger->snapshot ? ledger->snapshot->config->unknown
	                        : CPL_UNKNOWN_OFF;
}

/* Bytes per second that the job sends between its nodes; 0: its signature has no
 * times. */
static double sends(const struct cpl_profile *profile,
                    const struct cpl_record *record)
{
	const struct cpl_comm *comm = profile->comm;
	int step = comm->ranks / ROWS + 1, rows = 0;
	double bytes = 0;

	if (!(profile->run.seconds > 0) || record->ranks != comm->ranks)
		return 0;
	for (int r = 0; r < comm->ranks; r += step, rows++)
		for (int64_t i = comm->row[r]; i < comm->row[r + 1]; i++)
			if (record->rank_host[r] !=
			    record->rank_host[comm->to[i]])
				bytes += comm->bytes[i];
	return bytes * comm->ranks / rows / profile->run.seconds;
}

void engine_unknown_note_known(struct running *job)
{
	if (job->traffic)
		job->sends = sends(job->profile, job->record);
}

/* Bytes/s of a node, on the average over those of running jobs. 0: none is known. */
static double mean_of_known(const struct ledger *ledger)
{
	double bytes = 0, nodes = 0;

	for (int i = 0; i < ledger->n_running; i++) {
		const struct running *job = &ledger->running[i];

		if (!(job->sends > 0))
			continue;
		bytes += job->sends;
		nodes += job->record->n_hosts;
	}
	return nodes > 0 ? bytes / nodes : 0;
}

/* The same over the unknown ones that were measured. < 0: none was. */
static double mean_of_measured(const struct ledger *ledger)
{
	double bytes = 0, nodes = 0;

	for (int i = 0; i < ledger->n_running; i++) {
		const struct running *job = &ledger->running[i];

		if (!job->shape)
			continue;
		bytes += job->record->measured_volume * job->record->n_hosts;
		nodes += job->record->n_hosts;
	}
	return nodes > 0 ? bytes / nodes : -1;
}

double engine_unknown_volume(struct ledger *ledger,
                             const struct cpl_record *record)
{
	enum cpl_unknown_mode mode = mode_of(ledger);
	double volume = -1;

	if (mode == CPL_UNKNOWN_OFF || record->n_hosts < 2)
		return 0;
	if (mode == CPL_UNKNOWN_MEASURED)
		volume = cpl_volumes_of(&ledger->volumes, record->uid,
		                        record->job_name);
	if (mode == CPL_UNKNOWN_MEASURED && volume < 0)
		volume = mean_of_measured(ledger);
	if (volume < 0 && ledger->snapshot->config->unknown_volume)
		volume = (double)ledger->snapshot->config->unknown_volume;
	if (volume < 0)
		volume = mean_of_known(ledger);
	/* Of no volume there would be no pattern to share samples by. */
	return mode == CPL_UNKNOWN_MEASURED && volume < LEAST ? LEAST : volume;
}

bool engine_unknown_wanted(const struct ledger *ledger)
{
	return mode_of(ledger) != CPL_UNKNOWN_OFF;
}

bool engine_unknown_shared(const struct ledger *ledger,
                           const struct running *job)
{
	return !job->traffic && job->volume > 0 &&
	       mode_of(ledger) == CPL_UNKNOWN_MEASURED;
}

/* The load of a job, which may be in the scene, and another one of the same links
 * change places: of the bytes alone. */
static void swap_bytes(struct cpl_job_load *a, struct cpl_job_load *b)
{
	for (int i = 0; i < a->n_links; i++) {
		double bytes = a->on[i].bytes;

		a->on[i].bytes = b->on[i].bytes;
		b->on[i].bytes = bytes;
	}
}

/* They stand by their volumes again; the scene is not told yet. */
static void forget_shares(struct ledger *ledger)
{
	for (int i = 0; i < ledger->n_running; i++) {
		struct running *job = &ledger->running[i];

		if (job->shape)
			swap_bytes(job->load, job->shape);
		free(job->shape);
		job->shape = NULL;
	}
}

static void scene_changed(struct ledger *ledger)
{
	cpl_scene_changed(&ledger->scene);
	ledger->state++;
}

void engine_unknown_forget(struct ledger *ledger)
{
	forget_shares(ledger);
	scene_changed(ledger);
}

/* What the sample says of the jobs, taken up. */
static void adopt_shares(struct ledger *ledger, struct cpl_unknown *unknown,
                         struct running **job, int n)
{
	for (int i = 0; i < n; i++) {
		if (!unknown[i].load)
			continue;
		if (!job[i]) {
			free(unknown[i].load);
			continue;
		}
		job[i]->record->measured_volume = unknown[i].volume;
		cpl_volumes_set(&ledger->volumes, job[i]->record->uid,
		                job[i]->record->job_name, unknown[i].volume);
		job[i]->shape = unknown[i].load;
		swap_bytes(job[i]->load, job[i]->shape);
	}
}

int engine_unknown_share(struct ledger *ledger, struct cpl_job_load **rest,
                         struct cpl_error *err)
{
	const struct cpl_measured *links = &ledger->rest.sample->links;
	size_t most = (size_t)ledger->n_running + (size_t)ledger->rest.n_gone + 1;
	struct cpl_unknown *unknown = calloc(most, sizeof(*unknown));
	struct running **job = calloc(most, sizeof(struct running *));
	struct cpl_job_load *left = NULL;
	int n = 0, rc = -1;

	if (!unknown || !job) {
		cpl_fail_memory(err);
		goto out;
	}
	forget_shares(ledger);
	for (int i = 0; i < ledger->n_running; i++) {
		struct running *one = &ledger->running[i];

		if (!engine_unknown_shared(ledger, one) || !one->load ||
		    !one->load->counted)
			continue;
		job[n] = one;
		unknown[n++] = (struct cpl_unknown){
		        .as = one->load,
		        .volume = one->volume,
		        .part = cpl_measured_coverage(links,
		                                 (double)one->record->time,
		                                 links->time)};
	}
	for (int i = 0; i < ledger->rest.n_gone; i++) {
		const struct gone *gone = &ledger->rest.gone[i];

		if (gone->unknown)
			unknown[n++] = (struct cpl_unknown){
			        .as = gone->load,
			        .volume = 1,
			        .part = cpl_measured_coverage(
			                links, (double)gone->began,
			                (double)gone->ended)};
	}
	if (cpl_unknown_share(unknown, n, links, ledger->scene.net, *rest,
	                      &left, err))
		goto out;
	free(*rest);
	*rest = left;
	adopt_shares(ledger, unknown, job, n);
	rc = 0;
out:
	scene_changed(ledger);
	cpl_free_all(unknown, job);
	return rc;
}
