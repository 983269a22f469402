/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A job's steps where there is no engine: what cpl_engine_handover writes and
 * cpl_engine_step_handed reads. What travels (base/packed.h):
 *   "CPH1"  ranks of the layout, 0: none
 *   with a layout: its hosts as a list, for each rank the index of its host
 *   length and bytes of a launch (binding/launch.h), 0: nothing to bind by;
 *   its rows are of one node that has all ranks
 *   FNV-1a of all that (4 bytes)
 */
#pragma once

#include "site/engine.h"

#define CPL_HANDED_MAGIC "CPH1"
#define CPL_HANDED_MAGIC_BYTES 4
#define CPL_HANDED_SUM_BYTES 4

/* 0 .. n - 1; free(). NULL: memory. */
uint32_t *cpl_handed_ranks(int n);

/* Ranks to positions in the step, rows in increasing order. -1 with err when
 * the counts are not those of the step, which is then unchanged. */
int cpl_step_permute(const struct cpl_engine_step *step, const int *rank_host,
                     struct cpl_error *err);
