/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What commplaced says while nothing is asked of it, for slurmctld's log. */
#include "door/client_internal.h"

#include <signal.h>

#define EVERY_NS (500 * CPL_DOOR_MS)

/* A call that is under way hears it itself, and nobody waits for this thread but
 * while it writes a line. */
static void *hear(void *arg)
{
	struct cpl_engine *engine = arg;
	struct door_hearing *h = &engine->hearing;

	pthread_mutex_lock(&h->lock);
	while (!h->ends) {
		cpl_cond_wait_until(&h->change, &h->lock, cpl_now() + EVERY_NS);
		if (h->ends || pthread_mutex_trylock(&engine->api))
			continue;
		if (engine->link.fd >= 0)
			door_take_all(engine);
		pthread_mutex_unlock(&engine->api);
	}
	pthread_mutex_unlock(&h->lock);
	return NULL;
}

void door_hear_begin(struct cpl_engine *engine)
{
	struct door_hearing *h = &engine->hearing;
	sigset_t all, before;

	if (h->runs)
		return;
	/* Signals are for slurmctld's own threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	h->runs = !pthread_create(&h->thread, NULL, hear, engine);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void door_hear_end(struct cpl_engine *engine)
{
	struct door_hearing *h = &engine->hearing;

	if (h->runs) {
		pthread_mutex_lock(&h->lock);
		h->ends = true;
		pthread_cond_broadcast(&h->change);
		pthread_mutex_unlock(&h->lock);
		pthread_join(h->thread, NULL);
	}
	pthread_cond_destroy(&h->change);
	pthread_mutex_destroy(&h->lock);
}
