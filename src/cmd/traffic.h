/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `commplace traffic`: the workload that is evaluated, and its reports. */
#pragma once

#include "communication.h"
#include "job_traffic.h"
#include "traffic/dilation.h"

struct traffic {
	const struct cpl_network *net;
	struct job_list jobs; /* common.routing is that of the running jobs */
	bool mixed;           /* these jobs have several routings */
	unsigned char *free;  /* [n_nodes] */
	struct cpl_scene running;
	struct cpl_load background;    /* their whole runs */
	struct cpl_workload *workload; /* running jobs and all of these */
	/* Where any routing is adaptive: those placed so far under the minimal
	 * one, which placements go by; else NULL. */
	struct cpl_workload *guess;
	const struct cpl_load *load;  /* of workload */
	struct evaluation of;
	struct cpl_dilation dilation; /* of these jobs */
	const struct cpl_load *rates; /* of the running jobs, or NULL */
	struct communication *communication; /* [jobs.n] */
	bool job_links;               /* --job-links */
	struct cpl_load *job_load;    /* [jobs.n] with it, else NULL; all NULL of
	                               * adaptive jobs */
	double seconds;               /* the evaluation took, without placing */
};

/* Print as one JSON object or as tables; an exit code. */
int traffic_print_json(const struct cmd *self, const struct traffic *t);
int traffic_print_text(const struct traffic *t);

/* To `links` (or NULL) "class,from,to,bandwidth,bytes" of every network link,
 * header first; to --plot a map of the link loads as SVG. 0, or -1 with err and
 * neither where one cannot be written. */
int traffic_write(const struct traffic *t, const char *links,
                  struct cpl_error *err);
