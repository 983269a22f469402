/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CPL_CMD_DOCTOR_H
#define CPL_CMD_DOCTOR_H

#include <stddef.h>

/* What to do next on this host, for who calls the command without a word. Looks
 * for two files only. */
void doctor_next(char *text, size_t size);

#endif
