/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stddef.h>

/* What to do next on this host, for who calls the command without a word. Looks
 * for two files only. */
void doctor_next(char *text, size_t size);
