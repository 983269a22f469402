/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The word for "none of these", in the place of a name, in files and options. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <strings.h>

#define CPL_NONE "none"

/* That word in upper or lower case, or nothing at all (NULL). */
static inline bool cpl_is_none(const char *word)
{
	return !word || !strcasecmp(word, CPL_NONE);
}
