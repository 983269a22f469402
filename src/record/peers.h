/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Communicators and windows as groups of world ranks. Entries are cached per
 * handle; an attribute with a delete callback drops them with the handle, since
 * MPI libraries use freed handles again.
 */
#ifndef CPL_RECORD_PEERS_H
#define CPL_RECORD_PEERS_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

struct rec_peers {
	struct rec_peers *next; /* in the cache's bucket */
	uintptr_t key;
	int rank, size;
	int remote_size;    /* 0: no intercommunicator */
	MPI_Group group[2]; /* own, remote */
	int *world[2];      /* by rank, -1: not asked yet; NULL: identity */
	int n_out;          /* outgoing neighbours of the topology, -1: not
	                       asked yet */
	int *out;           /* [n_out] ranks, or MPI_PROC_NULL */
	int number;         /* of the communicator in events, -1: not asked
	                       yet */
};

/* Once, after MPI_Init, with MPI_COMM_WORLD's group. 0 or -1. */
int rec_peers_begin(MPI_Group world);

/*
 * The entry of a handle, with the recorder's lock held: the caller calls
 * rec_unlock. NULL, and not locked, when memory is out. O(1), at the first use
 * of a handle O(size).
 */
struct rec_peers *rec_peers_comm(MPI_Comm comm);
struct rec_peers *rec_peers_window(MPI_Win window);

/*
 * World rank of a rank of the own or the remote group, REC_OUTSIDE when it is
 * not in MPI_COMM_WORLD. O(1) after the first use.
 */
int rec_peers_world(struct rec_peers *p, bool remote, int rank);

/* The same number on all members, of their world ranks. O(size). */
uint64_t rec_peers_hash(struct rec_peers *p);

/* Fill in n_out and out of a communicator's entry. 0, or -1: no memory. */
int rec_peers_neighbours(struct rec_peers *p, MPI_Comm comm);

#endif
