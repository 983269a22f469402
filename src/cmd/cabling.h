/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What measurements say of the network file's cabling, for people and programs.
 */
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "measured/cabling.h"

struct cabling_view {
	const struct cpl_network *net;
	const struct cpl_measured *measured;
	const struct cpl_cabling *cabling;
	int64_t job; /* alone on the machine; -1: none was */
};

/* Is anything not as the file has it? */
bool cabling_differs(const struct cabling_view *view);
/* Lines, the first behind "cabling  ". Errors show at the stream. */
void cabling_print(const struct cabling_view *view, FILE *out);
/* An object; NULL: memory. */
json_t *cabling_json(const struct cabling_view *view);
