/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The order of a job's ranks for launchers: the files that they read, and the
 * text in which it travels in an environment.
 */
#ifndef CPL_MAPPING_RANK_ORDER_H
#define CPL_MAPPING_RANK_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/hostlist.h"

/*
 * The variable of a job's environment that has the text below. One holds less
 * than 128 KiB: after so many bytes the text goes on in COMMPLACE_RANKS_2 and so
 * on. That of component 1 of a heterogeneous job is in
 * COMMPLACE_RANKS_HET_GROUP_1, as Slurm names such variables.
 */
#define CPL_RANK_ORDER_VARIABLE "COMMPLACE_RANKS"
#define CPL_RANK_ORDER_PART (96 << 10)
#define CPL_RANK_ORDER_PARTS 8

#define CPL_RANK_ORDER_NAME 64
/* `variable` of a part, 0 the first, and of a component; -1: no such job. */
void cpl_rank_order_name(char name[CPL_RANK_ORDER_NAME], const char *variable,
                         int part, int component);

/* Where a part of a text begins, and its bytes; 0: there is none. O(text). */
const char *cpl_rank_order_piece(const char *text, int part, size_t *length);

struct cpl_rank_order {
	struct cpl_hostlist hosts; /* in the allocation's order */
	int ranks;
	int *rank_host; /* [ranks] index into hosts */
};

/*
 * "n[3,7,9] 0x4,2x4,1x4": the hosts as a list, then for each rank the index of
 * its host, runs of one as INDEXxLENGTH. free() it; NULL when memory is out or
 * the text would be of limit bytes or more. O(ranks + hosts).
 */
char *cpl_rank_order_text(char *const *host, int n_hosts, const int *rank_host,
                          int ranks, size_t limit);

/*
 * Such a text of a job that has the hosts of `allocation` (a hostlist), which
 * become out->hosts; those of the text must be among them. Many more hosts than
 * the allocation has, or more ranks than these can have, are refused before they
 * take memory; so are more than 65,535 ranks of a host. 0, free with cpl_rank_order_free; -1 with err, and nothing to free.
 * O(ranks + hosts log hosts).
 */
int cpl_rank_order_parse(const char *text, const char *allocation,
                         struct cpl_rank_order *out, struct cpl_error *err);
void cpl_rank_order_free(struct cpl_rank_order *order);

/*
 * The hosts that have ranks in the order of their first ranks: first[i] is an
 * index into order->hosts, [hosts.count]. Returns their number, -1 when memory
 * is out. *blocks: are the ranks of each host consecutive? O(ranks + hosts).
 */
int cpl_rank_order_nodes(const struct cpl_rank_order *order, int *first,
                         bool *blocks);

/* What launchers read. */
enum cpl_rank_file {
	CPL_RANK_HOSTFILE,    /* one host a line, in rank order */
	CPL_RANK_RANKFILE,    /* Open MPI: "rank 3=n7 slot=0" */
	CPL_RANK_MACHINEFILE, /* MPICH, Hydra: "n7:2", runs in rank order */
	CPL_RANK_MPICH, /* MPICH_RANK_ORDER: a line of ranks for each host */
	CPL_RANK_FILES,
};

/*
 * Write one. weight: [ranks] slots that a rank takes in the rankfile; NULL: one
 * each. 0, or -1 when memory is out; `to` knows whether it was written. O(ranks
 * + hosts).
 */
int cpl_rank_file_write(FILE *to, enum cpl_rank_file file, char *const *host,
                        int n_hosts, const int *rank_host, int ranks,
                        const int *weight);

#endif
