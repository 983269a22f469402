/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the file of a record has, for those that write and read it. */
#pragma once

#include <stddef.h>

#include "site/record.h"

#define RECORD_FORMAT "commplace-decision"

enum record_kind {
	TEXT,
	TEXT_OR_NULL,
	OUTCOME,
	INT,
	INT64,
	UINT32,
	UINT64,
	BOOL,
	REAL
};

struct record_field {
	const char *key;
	enum record_kind kind;
	size_t offset;
};

/* Of a record, and of its candidates, in the order of the file. */
#define RECORD_FIELDS 65
#define RECORD_CANDIDATE_FIELDS 19
extern const struct record_field record_field[RECORD_FIELDS];
extern const struct record_field
        record_candidate_field[RECORD_CANDIDATE_FIELDS];
