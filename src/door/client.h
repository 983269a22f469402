/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the plugins in slurmctld have of the engine: a socket to commplaced,
 * which has all of it. The calls are those of site/engine.h and site/submit.h.
 * commplaced is a child that the first call begins, and a later one when it is
 * gone; slurmctld's environment may name another program (COMMPLACED). Or it runs
 * already, at a socket that commplace.conf names (Decider).
 *
 * A commplaced that replaces another is told, without a call for it, what the
 * other knew: the cluster, its hosts, and the jobs that run, whose records it
 * takes back.
 */
/* Tests: * in test_door. */
#pragma once

#include <pthread.h>
#include <sys/types.h>

#include "door/forms.h"
#include "door/link.h"
#include "site/counters.h"
#include "site/engine.h"
#include "site/submit.h"

/* How long slurmctld waits: in a call, at the least until commplaced has told what
 * its settings make of it, and at the most; for a message about the whole machine;
 * at the end. */
#define CPL_DOOR_PATIENCE (100 * CPL_DOOR_MS)
#define CPL_DOOR_MOST_PATIENCE_MS 60000
#define CPL_DOOR_LONG (500 * CPL_DOOR_MS)
#define CPL_DOOR_LAST_NS (5000 * CPL_DOOR_MS)
/* The delay before another commplaced is begun, at first and at the most. */
#define CPL_DOOR_BACK_OFF (200 * CPL_DOOR_MS)
#define CPL_DOOR_BACK_OFF_MOST (30000 * CPL_DOOR_MS)
/* Slurm's order is asked for so many ranks at the most. */
#define CPL_DOOR_MOST_RANKS (1 << 26)

/* The thread that hears what commplaced says between calls. */
struct door_hearing {
	pthread_mutex_t lock;
	pthread_cond_t change;
	pthread_t thread;
	bool runs, ends;
};

struct cpl_engine {
	char *config_path;
	char *socket; /* of one that is no child, or NULL */
	void (*log)(enum cpl_engine_log level, const char *text);
	pthread_mutex_t api; /* held for the whole of a call */
	struct cpl_link link;
	struct door_hearing hearing;
	pid_t child;             /* 0: none */
	int64_t retry, back_off; /* when to begin one again */
	/* For the next one. */
	char *cluster;
	bool private_jobs;
	struct cpl_packer hosts;      /* the message that names them */
	struct cpl_engine_live *live; /* [n_live] jobs that run, by id */
	int n_live;
	uint32_t number; /* of the last call */
	uint32_t late;   /* of one that was given up, 0: none */
	bool late_waited; /* a call has waited for it that was not its own */
	int64_t late_since, patience;
	/* The last job that was given nodes to start on, 0: none; did commplaced want
	 * to know of the machine for the last one that asks for a placement? */
	int64_t placed;
	bool measures;
	/* The call under way, and how long the last one held slurmctld. */
	int64_t entered, theirs;
	uint8_t held_kind;
	uint32_t held_us;
};

/* Begin a child and a link to it, or a link to the socket. Where that fails, it
 * is tried again later. */
void cpl_door_open(struct cpl_engine *engine);
/* What a commplace.conf says to a slurmctld whose commplaced has not answered yet:
 * Decider, for the caller to free(), NULL where there is none, and the nanoseconds
 * that a call waits, its MaxDecisionTime but no less than CPL_DOOR_PATIENCE. Reads
 * the file. */
void cpl_door_configure(const char *path, char **socket, int64_t *patience);
/* Is it at work, as far as the kernel tells: does any thread of it run, or would it
 * if it had a processor? O(threads). */
bool cpl_door_is_busy(const struct cpl_engine *engine);
/* The child's link is closed already, upon which it ends by itself; what has
 * not ended within ns is killed. */
void cpl_door_end_child(struct cpl_engine *engine, int64_t ns);
