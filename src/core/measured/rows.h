/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rows of a text of measurements, see measured.h. */
#pragma once

#include "base/error.h"
#include "measured/measured.h"
#include "measured/names.h"

enum measured_kind {
	MEASURED_RATES,
	MEASURED_COUNTERS,
	MEASURED_COUNTERS_32,
	MEASURED_KINDS
};

struct measured_row {
	int64_t group; /* by measured_find */
	double time;
	union {
		double rate;
		uint64_t count;
	};
	int line;
	bool bad;  /* a value or time that is none; the link has no other one */
	bool port; /* an end names its port: it is one cable's */
};

struct measured_rows {
	enum measured_kind kind;
	const char *name; /* for messages */
	int64_t n;
	struct measured_row *row; /* by group, time and line */
	int64_t left_out;
	struct cpl_error why; /* of the first, or "" */
	struct cpl_measured *out; /* for its odd links */
};

/* 0, or -1 with err: no such text; memory. free(rows->row) in either case.
 * O(length + rows * log(rows)). */
int measured_rows_read(struct measured_rows *rows,
                       const struct measured_names *names, const char *text,
                       size_t length, struct cpl_error *err);

/* Rows that do not count, from one of this line on. */
void measured_leave_out(struct measured_rows *rows, int64_t n, int line,
                        const char *fmt, ...)
        __attribute__((format(printf, 4, 5)));

/* A link that the network does not have, or with so many cables. */
void measured_note_odd(struct cpl_measured *out, const struct cpl_measured_odd *odd);
