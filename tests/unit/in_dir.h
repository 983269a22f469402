/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of a test in a folder of its own, included after the test's own
 * static char dir[], its name. */
#pragma once

#include <stdio.h>
#include <string.h>

#include "base/file.h"

/* Path of a file there; one of eight texts in turn. */
static char *in_dir(const char *name)
{
	static char path[8][512];
	static int at;
	char *out = path[at++ % 8];

	snprintf(out, sizeof(path[0]), "%s/%s", dir, name);
	return out;
}

static void put(const char *name, const char *text)
{
	assert_int_equal(cpl_file_write_atomic(in_dir(name), text, strlen(text),
	                                       0644, NULL),
	                 0);
}
