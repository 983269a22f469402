/* SPDX-License-Identifier: GPL-2.0-or-later */
/* These are the functions of calls.list by number. */
#ifndef CPL_RECORD_FUNCTIONS_H
#define CPL_RECORD_FUNCTIONS_H

#include "pmpi.h"

enum rec_function {
#define CALL(name, ...) REC_##name,
#include "src/record/calls.inc"
#undef CALL
	REC_FUNCTIONS
};

#endif
