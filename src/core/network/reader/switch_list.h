/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Switches of which each has one above it, while a text names them. */
#pragma once

#include "network/reader/reader_internal.h"

struct cpl_switch_list {
	struct cpl_lines *in; /* its line is what messages name */
	struct cpl_draft *draft;
	const char *place; /* what a line is called, NULL: "line" */
	int *above;        /* [routers] that of a switch, -1 */
	int *link;         /* [routers] of the draft, which says so */
	int n;
};

/* Index of a switch, made where it is new; -1 with err. O(1). */
int cpl_switch_list_find(struct cpl_switch_list *r, const char *name);
/* The one is above the other from now on. 0, or -1 with err where another is.
 * O(1). */
int cpl_switch_list_join(struct cpl_switch_list *r, int at, int above);
/* After the last: switches with nothing above are joined by one that is made,
 * with a doubt, unless rc is -1 already. Frees the list. 0, or -1 with err where
 * one is above itself. O(switches). */
int cpl_switch_list_close(struct cpl_switch_list *r, int rc);
