/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files of an archive. */
#ifndef CPL_SIGNATURE_IMPORT_OTF2_INTERNAL_H
#define CPL_SIGNATURE_IMPORT_OTF2_INTERNAL_H

#include "signature/import/otf2_archive.h"

/* otf2_definitions.c. 0, or -1 with err, which is what libotf2 said first where it
 * said anything. */
int cpl_otf2_check(struct otf2_archive *a, OTF2_ErrorCode error, const char *what);

/* All global definitions of the open reader. 0, or -1 with err. */
int cpl_otf2_definitions(struct otf2_archive *a, bool names);

#endif
