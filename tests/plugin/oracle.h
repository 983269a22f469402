/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the core decides for a state of the fake controller, computed from the
 * files alone, as `commplace place` and `commplace map` do.
 */
#pragma once

#include "controller.h"

struct oracle {
	int nodes; /* wanted */
	const char *policy;
	const char *profile; /* NULL: none */
	int ranks_per_node;
	const bitstr_t *free;
	const char *required; /* host list or NULL */
	const char *stock;    /* the scheduler's own nodes; NULL: not known */
};

/* Chosen nodes, as controller_names writes them; free() it. */
char *oracle_nodes(const struct oracle *ask);

/*
 * Rank -> node on those nodes with this many ranks each, by the default mapper,
 * as controller_step writes it; free() it.
 */
char *oracle_ranks(const struct oracle *ask);

/* Wait until the record of a job is in running/ (or ended/). False: it does
 * not come. */
bool oracle_record(uint32_t job, bool ended);
