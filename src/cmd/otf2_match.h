/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests of a rank and what became of them. A completion is of the oldest
 * request with its number that has none yet, so that numbers may be used again.
 */
#pragma once

#include <otf2/otf2.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

enum otf2_outcome { OTF2_RECEIVED, OTF2_COLLECTIVE, OTF2_CANCELLED };

/* A completion. */
struct otf2_done {
	enum otf2_outcome outcome;
	OTF2_CollectiveOp op;
	OTF2_CommRef comm;
	uint32_t rank; /* source or root, in comm */
	uint64_t sent, received;
};

struct otf2_link;

/* Zero-initialise; cpl_otf2_match_free. */
struct otf2_match {
	struct otf2_link *link; /* [n], in the order of the run */
	int64_t n;
	struct otf2_done *done; /* [n_done] */
	int64_t n_asked, n_done;
	int64_t *answer; /* [n_asked] number of done, -1: none */
	bool *answers;   /* [n_done] is it the answer of one? */
};

/* 0, or -1 with err: memory. */
int cpl_otf2_match_ask(struct otf2_match *m, uint64_t id, struct cpl_error *err);
int cpl_otf2_match_answer(struct otf2_match *m, uint64_t id,
                      const struct otf2_done *done, struct cpl_error *err);
/* All are in: fill answer and answers. O(n log n). */
int cpl_otf2_match_finish(struct otf2_match *m, struct cpl_error *err);
void cpl_otf2_match_free(struct otf2_match *m);
