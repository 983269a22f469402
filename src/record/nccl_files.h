/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Folders of pieces, and the signature that is made of them. */
#pragma once

#include <stdbool.h>

#include "nccl_join.h"

/* A folder of pieces is called as the signature and this. */
#define NCCL_PIECES ".pieces"
/* In it, pieces are called HOST.PID and this. */
#define NCCL_PIECE ".piece"

#define NCCL_LOCK "lock" /* and this is beside them */

bool nccl_is_piece(const char *name);

/* This reads all pieces in a folder. It returns how many, or -1 with why; those that
 * vanish meanwhile are left out. */
int nccl_files_read(struct nccl_join *j, const char *folder, char *why);

/* This writes rows as a signature. It returns 0, or -1 with why. */
int nccl_signature_write(const char *path, const char *name,
                         const struct nccl_row *row, int64_t n,
                         const struct nccl_facts *facts, char *why);

/* This removes pieces, and the folder if nothing else is in it. */
void nccl_files_remove(const char *folder);
