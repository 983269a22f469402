/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads that stay, for work that comes in pieces too short to start threads for
 * (some 100 us). Results as with parallel.h: what a chunk is does not depend on
 * who does it.
 */
#pragma once

#include <stdint.h>

#include "base/error.h"

struct cpl_team;

/* The caller and threads - 1 others, which take no signals; fewer where they
 * cannot be started. NULL with err (memory). */
struct cpl_team *cpl_team_new(int threads, struct cpl_error *err);
/* Those of new; NULL: 1. */
int cpl_team_threads(const struct cpl_team *team);
/* NULL is taken. Not to be called while the team is at work. */
void cpl_team_free(struct cpl_team *team);

/*
 * Call fn(arg, chunk, thread) once for every chunk of [0, n_chunks), and return
 * when all are done. `thread` in [0, threads), 0 the caller, tells calls at the
 * same time apart. team NULL: in the caller. Between calls that follow one
 * another at once the others wait without sleeping, for some 50 us. From one
 * thread at a time; fn must not call this for the same team.
 */
void cpl_team_run(struct cpl_team *team, int64_t n_chunks,
                  void (*fn)(void *arg, int64_t chunk, int thread), void *arg);
