/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of `commplace place`. */
#pragma once

#include "cmd.h"
#include "job_inputs.h"
#include "learn/learned.h"
#include "placement/bounds.h"
#include "placement/decide.h"

/* The job that is placed and what came out. */
struct place_result {
	struct cpl_decide_request request;
	struct cpl_decision decision;
	struct cpl_bounds bounds;
	struct cpl_learned *learned; /* NULL: not asked for */
	int *turn; /* of the nodes in the order of --free; NULL: by id */
	bool has_baseline; /* linear, evaluated */
	int *baseline_node;
	struct cpl_candidate baseline;
	double seconds;
};

/* place_report.c: an exit code. asked: the policy that was asked for. */
int place_print_json(const struct cmd *self, const char *asked,
                     const struct job_inputs *in,
                     const struct place_result *r);
int place_print_text(const struct cmd *self, const struct job_inputs *in,
                     const struct place_result *r);
