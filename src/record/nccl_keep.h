/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a process does with what it counted: its piece, and the joining of all there
 * are, see nccl.c. */
#pragma once

#include "nccl_piece.h"

struct nccl_paths {
	char *file; /* the signature; NULL: `folder` and the communicator say */
	char *pieces; /* the folder of pieces */
	char *stem;   /* in COMMPLACE_RECORD_DIR: DIR/JOB.STEP */
};

/* They are absolute: COMMPLACE_RECORD_FILE; or in COMMPLACE_RECORD_DIR
 * JOB.STEP.nccl-ID.json, with Slurm's job and step and the largest communicator's id;
 * or commplace-nccl.json in the working directory. What p had before is
 * freed; zero-initialise it. It returns 0, or -1 when memory is out. */
int nccl_paths_find(struct nccl_paths *p);

/* This fills in all but time, end and version. */
void nccl_process_describe(struct nccl_process *process,
                           const struct nccl_paths *paths);

/* This writes the process's piece, and joins what there is. It says on stderr what
 * fails. */
void nccl_files_keep(const struct nccl_paths *paths,
                     const struct nccl_process *process);
