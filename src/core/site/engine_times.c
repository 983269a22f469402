/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Running jobs as rates, and how long a job communicates beside them. */
#include "site/engine_internal.h"

void engine_times_free(struct cpl_engine *engine)
{
	cpl_times_space_free(engine->space);
	engine->space = NULL;
}

const struct cpl_load *engine_rates(struct cpl_engine *engine, int64_t deadline,
                                    struct cpl_error *err)
{
	const struct cpl_background *background =
	        engine_background(engine, NULL, deadline, err);

	return background ? cpl_background_rates(background) : NULL;
}

const struct cpl_load *engine_rates_by(struct cpl_engine *engine,
                                       enum cpl_objective objective,
                                       int64_t deadline, struct cpl_error *err)
{
	return cpl_objective_by_time(objective)
	               ? engine_rates(engine, deadline, err)
	               : NULL;
}

const struct cpl_load *engine_background_of(struct cpl_engine *engine,
                                            const struct cpl_profile *profile,
                                            struct cpl_record *record,
                                            int64_t deadline,
                                            struct cpl_error *err)
{
	struct cpl_background *background =
	        engine_background(engine, record, deadline, err);
	double seconds = profile ? profile->run.seconds : 0;

	if (record)
		record->run_seconds = seconds;
	if (!background)
		return NULL;
	return seconds > 0 ? cpl_background_during(background, seconds, err)
	                   : cpl_background_bytes(background);
}

struct cpl_harm *engine_harm(const struct cpl_engine *engine,
                             struct cpl_error *err)
{
	struct cpl_harm *harm = cpl_harm_new(engine->snapshot->net, err);

	for (int i = 0; harm && i < engine->n_running; i++) {
		const struct cpl_job_load *load = engine->running[i].load;

		if (!load || !load->counted)
			continue;
		cpl_harm_job(harm);
		for (int k = 0; k < load->n_links; k++)
			if (load->on[k].bytes > 0 &&
			    cpl_harm_add(harm, load->on[k].link,
			                 load->on[k].bytes / load->period, err))
				goto fail;
	}
	if (!harm || !cpl_harm_ready(harm, err))
		return harm;
fail:
	cpl_harm_free(harm);
	return NULL;
}

struct cpl_times_space *engine_space(struct cpl_engine *engine,
                                     struct cpl_error *err)
{
	const struct snapshot *now = engine->snapshot;

	if (!engine->space)
		engine->space =
		        cpl_times_space_new(now->net, now->routing, err);
	return engine->space;
}

int engine_judge(struct cpl_engine *engine, const struct cpl_profile *profile,
                 const int *node, int n, const int *rank_host,
                 int ranks_per_node, int64_t deadline,
                 struct cpl_times_result *out, struct cpl_error *err)
{
	struct cpl_error why = {""};
	const struct cpl_load *rates = engine_rates(engine, deadline, &why);
	struct cpl_times *times = NULL;
	int rc = -1;

	if (why.text[0])
		return cpl_fail(err, "%s", why.text);
	if (engine_space(engine, err))
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
