/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Running jobs as rates, and how long a job communicates beside them. */
#include "site/engine_internal.h"

void engine_times_free(struct cpl_engine *engine)
{
	cpl_load_free(&engine->rates);
	cpl_load_free(&engine->during);
	cpl_times_space_free(engine->space);
	engine->space = NULL;
	engine->rates_made = false;
}

static void add_rates(struct cpl_load *into, const struct cpl_network *net,
                      const struct running *job)
{
	int64_t links = net->n_links, nodes = net->n_nodes;

	for (int64_t i = 0; i < job->n_entries; i++) {
		int64_t at = job->entry[i].index;
		double rate = job->entry[i].bytes / job->period;

		if (at < links)
			into->link[at] += rate;
		else if (at < links + nodes)
			into->injection[at - links] += rate;
		else
			into->ejection[at - links - nodes] += rate;
	}
}

const struct cpl_load *engine_rates(struct cpl_engine *engine, int64_t deadline,
                                    struct cpl_error *err)
{
	const struct cpl_network *net = engine->snapshot->net;

	if (!engine_background(engine, NULL, deadline, err))
		return NULL;
	if (engine->rates_made)
		return &engine->rates;
	if (!engine->rates.link && cpl_load_init(&engine->rates, net, err))
		return NULL;
	cpl_load_clear(&engine->rates, net);
	for (int i = 0; i < engine->n_running; i++)
		if (engine_running_counts(&engine->running[i]))
			add_rates(&engine->rates, net, &engine->running[i]);
	engine->rates_made = true;
	return &engine->rates;
}

const struct cpl_load *engine_rates_by(struct cpl_engine *engine,
                                       enum cpl_objective objective,
                                       int64_t deadline, struct cpl_error *err)
{
	return objective == CPL_OBJECTIVE_TIME
	               ? engine_rates(engine, deadline, err)
	               : NULL;
}

const struct cpl_load *engine_background_of(struct cpl_engine *engine,
                                            const struct cpl_profile *profile,
                                            struct cpl_record *record,
                                            int64_t deadline,
                                            struct cpl_error *err)
{
	const struct cpl_network *net = engine->snapshot->net;
	const struct cpl_load *sums =
	        engine_background(engine, record, deadline, err);
	double seconds = profile ? profile->run.seconds : 0;
	const struct cpl_load *rates;

	if (record)
		record->run_seconds = seconds;
	if (!sums || !(seconds > 0))
		return sums;
	rates = engine_rates(engine, deadline, err);
	if (!rates ||
	    (!engine->during.link && cpl_load_init(&engine->during, net, err)))
		return NULL;
	cpl_load_scale(&engine->during, rates, seconds, net);
	return &engine->during;
}

int engine_judge(struct cpl_engine *engine, const struct cpl_profile *profile,
                 const int *node, int n, const int *rank_host,
                 int ranks_per_node, int64_t deadline,
                 struct cpl_times_result *out, struct cpl_error *err)
{
	const struct snapshot *now = engine->snapshot;
	struct cpl_error why = {""};
	const struct cpl_load *rates = engine_rates(engine, deadline, &why);
	struct cpl_times *times = NULL;
	int rc = -1;

	if (why.text[0])
		return cpl_fail(err, "%s", why.text);
	if (!engine->space)
		engine->space =
		        cpl_times_space_new(now->net, now->routing, err);
	if (engine->space)
		times = cpl_times_open(profile->phase, profile->n_phases,
		                       profile->ranks, err);
	if (times && !cpl_times_order(times, rank_host, ranks_per_node, n, err) &&
	    !cpl_times_place(times, engine->space, node, err)) {
		cpl_times_judge(times, rates, false, out);
		rc = 0;
	}
	cpl_times_close(times);
	return rc;
}
