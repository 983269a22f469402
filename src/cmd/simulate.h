/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `commplace simulate`: what is simulated, and its reports. */
#pragma once

#include "job_traffic.h"
#include "simulate/simulate.h"

/* CLASS=VALUE of --energy and --class-latency. */
struct class_value {
	char class[16];
	double value;
};

struct class_values {
	struct class_value of[CPL_NETWORK_MAX_CLASSES + 1];
	int n;
};

struct simulate {
	struct cpl_network *net;
	struct job_list jobs;
	const char *routing; /* --routing, NULL: the network's */
	struct cpl_sim_options options;
	bool timeline; /* in JSON */
	/* Joules of a byte on links of a class; seconds of such a link. */
	struct class_values energy, latency;
	double class_latency[CPL_NETWORK_MAX_CLASSES + 1];
	struct cpl_sim_result result;
};

int simulate_print_json(const struct cmd *self, const struct simulate *s);
int simulate_print_text(const struct cmd *self, const struct simulate *s);
/* To `links` class,from,to,bandwidth,bytes,busy,stalled of every directed link,
 * then of the nodes' links; to `ranks` job,rank,host,compute,communication,
 * waiting,idle,end of every rank; to `plot` the picture. Each may be NULL. 0, or
 * -1 with err and none where one cannot be opened. */
int simulate_write(const struct simulate *s, const char *links,
                   const char *ranks, const char *plot, struct cpl_error *err);

/* simulate_timeline.c: {"bin_seconds": ..., "links": ..., "jobs": ...}; NULL:
 * memory. */
json_t *simulate_timeline_json(const struct simulate *s);
/* The picture of --plot. 0, or -1 with err: memory. */
int simulate_plot(const struct simulate *s, FILE *out, struct cpl_error *err);
