/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A piece is what one process counted (nccl_count.h), as lines of a text file; ranks
 * are those of a communicator:
 *
 *   commplace-nccl 1
 *   process HOST PID RANK SIZE ENDED NS VERSION   RANK and SIZE are the launcher's,
 *           -1 where it says none; ENDED is 1 once the process has come to its end;
 *           NS nanoseconds since its first communicator; VERSION the interface's
 *   losses FULL BYTES REFUSED UNKNOWN FOREIGN    as struct nccl_losses
 *   command TEXT, application TEXT, name TEXT
 *   communicator N ID RANKS RANK NODES THREAD NAME     N numbers them in this file
 *   pair N PEER SENDS SENT P2P-STEPS P2P-BYTES OTHER-STEPS OTHER-BYTES
 *   calls N FUNCTION SHAPE CHANNELS ROOT CALLS CALLED OPERATIONS
 *   steps ROUNDS NS    there are steps (nccl_steps.h), which took NS in all;
 *   step-pair, step-calls    as pair and calls, what all of them have of those
 *   end
 *
 * It is written beside its name and renamed, so whoever sees it sees all of it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "program.h"

#define NCCL_PIECE_FIRST "commplace-nccl 1"

struct nccl_process {
	char host[65];
	int pid, rank, size, version;
	bool ended;
	uint64_t time; /* ns */
	struct rec_program program;
};

/* This writes all cells and losses. It returns 0, or -1 with errno. */
int nccl_piece_write(const char *path, const struct nccl_process *process);
