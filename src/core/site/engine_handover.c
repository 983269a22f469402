/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a job hands over to where its steps are made without an desk, see
 * site/handed.h. */
#include <stdlib.h>
#include <string.h>

#include "base/hostlist.h"
#include "base/packed.h"
#include "mapping/rank_order.h"
#include "site/engine_internal.h"
#include "site/handed.h"
#include "site/launch.h"

/* The length of a launch of at most CPL_LAUNCH_MAX_BYTES. */
#define LENGTH_BYTES 3

/* The whole of a profile's traffic. */
static unsigned char *whole(struct desk *desk, const struct running *running,
                            const struct cpl_job_facts *job, size_t limit,
                            size_t *size, struct cpl_error *err)
{
	const struct snapshot *now = desk->snapshot;
	uint32_t *id = NULL;
	uint16_t tasks = 0;
	/* Left without ranks, it is the version of the file that is meant. */
	struct cpl_launch_step all = {
	        .n_nodes = 1, .tasks = &tasks, .ids = &id, .part = true};
	struct cpl_store_answer found;
	struct cpl_resolved want;
	unsigned char *data = NULL;

	cpl_resolve(now->config, now->net, job, &want);
	if (!want.binding.value)
		return NULL;
	engine_step_profile(desk->clerk, running, now->config, job, &want,
	                    running ? running->record->ranks : 0,
	                    engine_deadline(desk), &found);
	if (found.profile && found.profile->ranks <= UINT16_MAX) {
		id = cpl_handed_ranks(found.profile->ranks);
		all.ranks = found.profile->ranks;
		tasks = (uint16_t)all.ranks;
	}
	if (all.ranks && !id)
		cpl_fail_memory(err);
	else
		data = cpl_site_launch(now->config, &want, &found, &all, limit,
		                       size, err);
	free(id);
	cpl_profile_drop(found.profile);
	return data;
}

static void put_layout(struct cpl_packer *o, const struct cpl_record *record)
{
	char *hosts = cpl_hostlist_format(record->host, record->n_hosts);

	if (hosts) {
		cpl_put_number(o, (uint64_t)record->ranks);
		cpl_put_text(o, hosts);
	} else {
		o->failed = true;
	}
	for (int r = 0; r < record->ranks; r++)
		cpl_put_number(o, (uint64_t)record->rank_host[r]);
	free(hosts);
}

unsigned char *cpl_engine_handover(struct cpl_engine *engine,
                                   const struct cpl_job_facts *job,
                                   size_t limit, size_t *size,
                                   struct cpl_error *err)
{
	struct cpl_packer o = {.limit = limit - LENGTH_BYTES - CPL_HANDED_SUM_BYTES};
	const struct running *running;
	unsigned char *launch = NULL;
	size_t launch_size = 0;
	int ranks = 0;
	int64_t entered = engine_enter(engine);
	bool nothing;

	engine_adopt(engine);
	engine_for(&engine->desk, engine_user_of(job), ENGINE_LARGE);
	running = engine_running_find(&engine->ledger, job->id);
	if (running && running->has_layout && engine->desk.snapshot->net)
		ranks = running->record->ranks;
	cpl_put(&o, CPL_HANDED_MAGIC, CPL_HANDED_MAGIC_BYTES);
	if (ranks)
		put_layout(&o, running->record);
	else
		cpl_put_number(&o, 0);
	if (engine->desk.snapshot && !o.full && !o.failed)
		launch = whole(&engine->desk, running, job, o.limit - o.used,
		               &launch_size, err);
	engine_leave(engine, CPL_TIME_HELD_START, entered, 0);
	if (o.full)
		cpl_fail(err,
		         "the layout of %d ranks takes more than %zu bytes",
		         ranks, limit);
	nothing = o.full || (!ranks && !launch);
	o.limit = limit;
	cpl_put_number(&o, launch_size);
	cpl_put(&o, launch, launch_size);
	cpl_put_fixed(&o, cpl_fnv(CPL_FNV, o.data, o.used), CPL_HANDED_SUM_BYTES);
	free(launch);
	if (o.failed)
		cpl_fail_memory(err);
	if (o.failed || nothing) {
		free(o.data);
		return NULL;
	}
	*size = o.used;
	return o.data;
}

char *engine_rank_order(const struct ledger *ledger, int64_t id, size_t limit)
{
	const struct running *running = engine_running_find(ledger, id);
	const struct cpl_record *record = running ? running->record : NULL;

	return record && running->has_layout && record->ranks
	               ? cpl_rank_order_text(record->host, record->n_hosts,
	                                     record->rank_host, record->ranks,
	                                     limit)
	               : NULL;
}
