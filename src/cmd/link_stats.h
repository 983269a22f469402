/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The six numbers of the loads per link class, as the commands report them. */
#ifndef CPL_CMD_LINK_STATS_H
#define CPL_CMD_LINK_STATS_H

#include "cmd.h"
#include "traffic/traffic.h"

/* All links, the classes, then injection and ejection. */
#define LINK_STATS_MAX (CPL_NETWORK_MAX_CLASSES + 3)

struct link_stats {
	const char *name; /* "all", class name, "injection", "ejection" */
	struct cpl_class_stats stats;
};

/*
 * Fill row[]; returns how many (the last two are injection and ejection, ports
 * without a node left out), or -1 when memory is out. O(links).
 */
int link_stats_make(const struct cpl_network *net, const struct cpl_load *load,
                    int threads, struct link_stats row[LINK_STATS_MAX],
                    struct cpl_error *err);

/* {"count": ..., "used": ..., "min": ..., ..., "max": ...} */
json_t *link_stats_json(const struct cpl_class_stats *stats);

/* {"all": {...}, "row": {...}, ...}: the n rows without the last two. */
json_t *link_stats_links_json(const struct link_stats *row, int n);

/* into += one job's sums; the dilation is the larger one. */
void link_stats_add_sums(struct cpl_job_sums *into,
                         const struct cpl_job_sums *from);

/* hop_bytes / bytes_on_network, 0 without traffic. */
double link_stats_average_hops(const struct cpl_job_sums *sums);

#endif
