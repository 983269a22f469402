/* SPDX-License-Identifier: GPL-2.0-or-later */
/* These are the functions of calls.list by number. */
#pragma once

#include "pmpi.h"

enum rec_function {
#define CALL(name, ...) REC_##name,
#include "src/record/calls.inc"
#undef CALL
	REC_FUNCTIONS
};
