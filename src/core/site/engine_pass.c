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

void engine_for(struct desk *desk, int64_t uid, enum engine_size size)
{
	int i = 0;

	while (i < desk->n_shares && desk->share[i].uid != uid)
		i++;
	/* Users beyond the table share its last place. */
	if (i == ENGINE_SHARES)
		i--;
	if (i == desk->n_shares)
		desk->share[desk->n_shares++] = (struct share){.uid = uid};
	desk->whose = &desk->share[i];
	desk->size = size;
	desk->ends = 0;
}

enum engine_size engine_size(const struct desk *desk, int64_t array, long ranks,
                             long nodes, const struct cpl_mapper *mapper)
{
	if (ranks * nodes > CPL_QUICK_SMALL ||
	    (mapper && mapper != &cpl_mapper_linear &&
	     mapper != &cpl_mapper_quick))
		return ENGINE_LARGE;
	return engine_shape_known(desk, array) ? ENGINE_ALIKE : ENGINE_SMALL;
}

/* What calls of users may take. */
static int64_t users_left(const struct desk *desk, int64_t pass,
                          int64_t decision)
{
	int64_t all = pass * part[desk->size].of_all / 4;
	int64_t user = pass * part[desk->size].of_user / 4;

	/* No less than for one decision. */
	if (all < decision)
		all = decision;
	if (user < decision)
		user = decision;
	return lesser(all - desk->spent, user - desk->whose->spent);
}

int64_t engine_limit(struct desk *desk, int ms)
{
	const struct cpl_config *config = desk->snapshot->config;
	int64_t decision = config->max_decision_ms * MS;
	int64_t pass = config->max_pass_ms * MS, left;

	if (pass < decision)
		pass = decision;
	left = desk->whose ? users_left(desk, pass, decision)
	                   : pass - desk->spent;
	left = lesser(left, ms * MS);
	desk->ends = desk->began + (left > 0 ? left : 0);
	if (desk->ends_by && desk->ends > desk->ends_by)
		desk->ends = desk->ends_by;
	return desk->ends;
}

int64_t engine_deadline(struct desk *desk)
{
	return desk->ends
	               ? desk->ends
	               : engine_limit(desk,
	                              desk->snapshot->config->max_decision_ms);
}

int64_t engine_theirs(struct desk *desk, int64_t since)
{
	int64_t ns = cpl_now() - since;

	desk->ends += desk->ends ? ns : 0;
	desk->ends_by += desk->ends_by ? ns : 0;
	return ns;
}

int64_t engine_enter(struct cpl_engine *engine)
{
	struct desk *desk = &engine->desk;
	int64_t now = cpl_now();

	pthread_mutex_lock(&engine->api);
	desk->began = cpl_now();
	desk->ends = 0;
	desk->ends_by = desk->hurry;
	desk->hurry = 0;
	desk->whose = NULL;
	if (desk->began - desk->pass >= ENGINE_PASS_NS) {
		desk->pass = desk->began;
		desk->spent = 0;
		desk->n_shares = 0;
	}
	return now;
}

void engine_leave(struct cpl_engine *engine, enum cpl_timer timer,
                  int64_t entered, int64_t theirs)
{
	struct desk *desk = &engine->desk;
	int64_t ns = cpl_now() - desk->began - theirs;

	desk->spent += ns;
	if (desk->whose)
		desk->whose->spent += ns;
	pthread_mutex_unlock(&engine->api);
	if (!engine->held_elsewhere)
		cpl_observe(&engine->clerk.counters, timer,
		            cpl_now() - entered - theirs);
}

void cpl_engine_held(struct cpl_engine *engine, int timer, int64_t ns)
{
	engine->held_elsewhere = true;
	if (timer >= 0 && timer < CPL_TIMERS)
		cpl_observe(&engine->clerk.counters, (enum cpl_timer)timer, ns);
}

void cpl_engine_hurry(struct cpl_engine *engine, int64_t deadline)
{
	pthread_mutex_lock(&engine->api);
	engine->desk.hurry = deadline;
	pthread_mutex_unlock(&engine->api);
}

int cpl_engine_patience(struct cpl_engine *engine)
{
	int ms;

	pthread_mutex_lock(&engine->api);
	ms = engine->desk.snapshot ? engine->desk.snapshot->most_decision_ms
	                           : 0;
	pthread_mutex_unlock(&engine->api);
	return ms;
}

int cpl_engine_memory(struct cpl_engine *engine)
{
	int mib;

	pthread_mutex_lock(&engine->api);
	mib = engine->desk.snapshot
	              ? engine->desk.snapshot->config->decider_memory
	              : 0;
	pthread_mutex_unlock(&engine->api);
	return mib;
}
