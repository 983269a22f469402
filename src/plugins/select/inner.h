/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stock select/cons_tres inside ours: everything that is not a decision of
 * ours is passed on to it.
 */
#ifndef CPL_PLUGINS_SELECT_INNER_H
#define CPL_PLUGINS_SELECT_INNER_H

#include "slurm_compat_ctld.h"

#include "base/error.h"

/* The stock plugin's functions; valid after inner_load. */
extern slurm_select_ops_t inner;

/*
 * Find select_cons_tres.so along slurm_conf.plugindir, check that it is of our
 * version, resolve its symbols and call its init(). Idempotent: a second call
 * only calls init() again, as Slurm itself does for its own handle. 0, or -1
 * with err naming the directories or the symbol.
 */
int inner_load(struct cpl_error *err);

/* Call the stock fini() and drop the handle. */
void inner_unload(void);

#endif
