/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This is shared by the files of an archive. */
#pragma once

#include "signature/import/otf2_archive.h"

/* This is in otf2_definitions.c. It returns 0, or -1 with err, which is the first
 * message of libotf2 if there was one. */
int cpl_otf2_check(struct otf2_archive *a, OTF2_ErrorCode error, const char *what);

/* This reads all global definitions of the open reader. It returns 0, or -1 with
 * err. */
int cpl_otf2_definitions(struct otf2_archive *a, bool names);
