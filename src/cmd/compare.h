/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `commplace compare`: every placement under every routing. */
#pragma once

#include "communication.h"
#include "job_traffic.h"
#include "learn/learned.h"
#include "spread.h"

/* Jobs that are on the network together: one, or the whole workload. */
struct compare_case {
	char *name; /* signature names joined by "+" */
	int first, count;
};

struct compare_result {
	uint64_t seed;
	struct evaluation of;
	struct communication longest; /* of its jobs */
	/* With a model: the most that it tells of a job of the case, < 0: one
	 * is not stored. */
	double told;
	struct spread spread; /* of its job, if it is one whose groups are known */
};

struct compare_row {
	int the_case, placement, routing;
	/* The seed whose largest link load is the (lower) median of all. */
	struct compare_result result;
	int n_seeds;
	double low, high; /* largest link load over the seeds */
	bool lowest_maximum, lowest_congestion; /* of its case */
	/*
	 * Hybrid metric: hop-bytes, largest congestion, NZCA and NZCV, each as
	 * a multiple of what linear has under the same routing, added up (4 for
	 * linear itself, less where a number of it is 0 and left out; PTRAM,
	 * equation 3). Negative when linear is not compared or loads no link.
	 */
	double hybrid;
	/* Seconds alone of the same jobs where they are shortest, of all
	 * placements under this routing. */
	double reference;
};

struct compare {
	const struct cpl_network *net;
	const struct cpl_learned *learned; /* NULL: none */
	int64_t n_seeds;
	int n_cases, n_placements, n_routings, n_rows;
	struct job_list jobs;
	struct compare_case *cases;
	const struct cpl_entry **placement, **routing;
	struct compare_row *row; /* [n_cases][n_placements][n_routings] */
};

/*
 * Load the signatures and evaluate everything; `together`: all signatures are
 * one case, placed in order, each knowing the load of those before it. 0, or
 * -1 with err. O(rows * seeds * (placing + evaluation + links)).
 */
int compare_evaluate(struct compare *c, bool together, struct cpl_error *err);

/* Print as one JSON object or as tables (classes: one per link class too); an
 * exit code. */
int compare_print_json(const struct cmd *self, const struct compare *c);
int compare_print_text(const struct compare *c, bool classes);

/* Box plots as SVG. 0, or -1 with err. */
int compare_plot(const struct compare *c, bool classes, const char *path,
                 struct cpl_error *err);
