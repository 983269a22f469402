/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the links of a network are called in measurements, see measured.h. */
#pragma once

#include "network/network.h"

struct measured_names {
	const struct cpl_network *net;
	int *link;   /* [n_links] by ends, then by number */
	int *router; /* [n_routers] by name; NULL: there are none */
};

/* Links with the same ends. */
struct measured_group {
	int64_t id;  /* another one: other ends */
	int n_links; /* from here: */
	const int *link; /* NULL: the cable of a node, whose number is id */
	int cables;
};

/* 0, to be freed in either case, or -1 with err (memory). O(links *
 * log(links)). */
int measured_names_open(struct measured_names *names,
                        const struct cpl_network *net, struct cpl_error *err);
void measured_names_close(struct measured_names *names);

/* The links between two ends, by their names; an id, or -1: there are none, or
 * no such ends. O(log(links)). */
int64_t measured_find(const struct measured_names *names, const char *from,
                      const char *to);
/* Those of an id. O(links there). */
struct measured_group measured_group(const struct measured_names *names,
                                     int64_t id);
