/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The order of a job's ranks in the forms that launchers need: the files that
 * they read, and the text in which it travels in an environment.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/hostlist.h"

/* The variable of a job's environment that has the text below. A variable holds
 * less than 128 KiB, so after CPL_RANK_ORDER_PART bytes the text goes on in
 * COMMPLACE_RANKS_2 and so on. For component 1 of a heterogeneous job it is
 * COMMPLACE_RANKS_HET_GROUP_1, as Slurm names such variables. */
#define CPL_RANK_ORDER_VARIABLE "COMMPLACE_RANKS"
#define CPL_RANK_ORDER_PART (96 << 10)
#define CPL_RANK_ORDER_PARTS 8

#define CPL_RANK_ORDER_NAME 64
/* Writes the name of a part's variable; part 0 is the first, component -1 means
 * that the job is not heterogeneous. */
void cpl_rank_order_name(char name[CPL_RANK_ORDER_NAME], const char *variable,
                         int part, int component);

/* Where a part of a text begins, with its bytes, 0: no such part. O(text). */
const char *cpl_rank_order_piece(const char *text, int part, size_t *length);

struct cpl_rank_order {
	struct cpl_hostlist hosts; /* in the order of the allocation */
	int ranks;
	int *rank_host; /* [ranks] index into hosts */
};

/* Writes "n[3,7,9] 0x4,2x4,1x4": the hosts as a list, then for each rank the
 * index of its host, with runs as INDEXxLENGTH. The text is to be free()d; NULL
 * when memory is out or it would have `limit` bytes or more. O(ranks +
 * hosts). */
char *cpl_rank_order_text(char *const *host, int n_hosts, const int *rank_host,
                          int ranks, size_t limit);

/* Reads such a text of a job on the hosts of `allocation` (a hostlist), which
 * become out->hosts; those of the text must be among them. To protect memory it
 * refuses many more hosts than the allocation has, more ranks than these can
 * have, and more than 65,535 ranks of a host. Returns 0 (free it with
 * cpl_rank_order_free), or -1 with err and nothing to free, in O(ranks + hosts
 * log hosts). */
int cpl_rank_order_parse(const char *text, const char *allocation,
                         struct cpl_rank_order *out, struct cpl_error *err);
void cpl_rank_order_free(struct cpl_rank_order *order);

/* Lists the hosts that have ranks in the order of their first ranks: first[i]
 * is an index into order->hosts, [hosts.count]. *blocks says whether the ranks
 * of each host are consecutive. Returns their number, or -1 when memory is out,
 * in O(ranks + hosts). */
int cpl_rank_order_nodes(const struct cpl_rank_order *order, int *first,
                         bool *blocks);

/* The files that launchers read. */
enum cpl_rank_file {
	CPL_RANK_HOSTFILE,    /* one host a line, in rank order */
	CPL_RANK_RANKFILE,    /* Open MPI: "rank 3=n7 slot=0" */
	CPL_RANK_MACHINEFILE, /* MPICH, Hydra: "n7:2", runs in rank order */
	CPL_RANK_MPICH, /* MPICH_RANK_ORDER: a line of ranks for each host */
	CPL_RANK_FILES,
};

/* Writes one of them. weight: [ranks] slots that a rank takes in the rankfile;
 * NULL: one each. Returns 0, or -1 when memory is out, in O(ranks + hosts);
 * whether writing failed is left in `to`. */
int cpl_rank_file_write(FILE *to, enum cpl_rank_file file, char *const *host,
                        int n_hosts, const int *rank_host, int ranks,
                        const int *weight);
