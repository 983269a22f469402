/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long a call may take, of the time that a pass of the scheduler has for
 * them all: no user has more than a share of it, and some is kept for small
 * jobs, so that who comes first does not take it from the others.
 */
#include "mapping/quick.h"
#include "site/engine_internal.h"

#define MS INT64_C(1000000)

/* Of MaxPassTime, in quarters: what all calls may have taken, and a user's. */
static const struct {
	int of_all, of_user;
} part[] = {
        [ENGINE_LARGE] = {3, 2},
        [ENGINE_SMALL] = {4, 3},
        [ENGINE_ALIKE] = {8, 8},
};

static int64_t lesser(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

void engine_for(struct cpl_engine *engine, int64_t uid, enum engine_size size)
{
	int i = 0;

	while (i < engine->n_shares && engine->share[i].uid != uid)
		i++;
	/* Users beyond the table share its last place. */
	if (i == ENGINE_SHARES)
		i--;
	if (i == engine->n_shares)
		engine->share[engine->n_shares++] = (struct share){.uid = uid};
	engine->whose = &engine->share[i];
	engine->size = size;
	engine->ends = 0;
}

enum engine_size engine_size(const struct cpl_engine *engine, int64_t array,
                             long ranks, long nodes,
                             const struct cpl_mapper *mapper)
{
	if (ranks * nodes > CPL_QUICK_SMALL ||
	    (mapper && mapper != &cpl_mapper_linear &&
	     mapper != &cpl_mapper_quick))
		return ENGINE_LARGE;
	return engine_shape_known(engine, array) ? ENGINE_ALIKE : ENGINE_SMALL;
}

/* What calls of users may take. */
static int64_t users_left(const struct cpl_engine *engine, int64_t pass,
                          int64_t decision)
{
	int64_t all = pass * part[engine->size].of_all / 4;
	int64_t user = pass * part[engine->size].of_user / 4;

	/* No less than for one decision. */
	if (all < decision)
		all = decision;
	if (user < decision)
		user = decision;
	return lesser(all - engine->spent, user - engine->whose->spent);
}

int64_t engine_limit(struct cpl_engine *engine, int ms)
{
	const struct cpl_config *config = engine->snapshot->config;
	int64_t decision = config->max_decision_ms * MS;
	int64_t pass = config->max_pass_ms * MS, left;

	if (pass < decision)
		pass = decision;
	left = engine->whose ? users_left(engine, pass, decision)
	                     : pass - engine->spent;
	left = lesser(left, ms * MS);
	engine->ends = engine->began + (left > 0 ? left : 0);
	return engine->ends;
}

int64_t engine_deadline(struct cpl_engine *engine)
{
	return engine->ends
	               ? engine->ends
	               : engine_limit(
	                         engine,
	                         engine->snapshot->config->max_decision_ms);
}

int64_t engine_theirs(struct cpl_engine *engine, int64_t since)
{
	int64_t ns = cpl_now() - since;

	engine->ends += engine->ends ? ns : 0;
	return ns;
}

int64_t engine_enter(struct cpl_engine *engine)
{
	int64_t now = cpl_now();

	pthread_mutex_lock(&engine->api);
	engine->began = cpl_now();
	engine->ends = 0;
	engine->whose = NULL;
	if (engine->began - engine->pass >= ENGINE_PASS_NS) {
		engine->pass = engine->began;
		engine->spent = 0;
		engine->n_shares = 0;
	}
	return now;
}

void engine_leave(struct cpl_engine *engine, enum cpl_timer timer,
                  int64_t entered, int64_t theirs)
{
	int64_t ns = cpl_now() - engine->began - theirs;

	engine->spent += ns;
	if (engine->whose)
		engine->whose->spent += ns;
	pthread_mutex_unlock(&engine->api);
	cpl_observe(&engine->counters, timer, cpl_now() - entered - theirs);
}
