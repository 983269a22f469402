/* SPDX-License-Identifier: GPL-2.0-or-later */
/* These are communicators and windows as groups of world ranks. Entries are cached
 * for each handle. An attribute with a delete callback drops them with the handle,
 * since MPI libraries reuse the handles that were freed. */
#pragma once

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

struct rec_peers {
	struct rec_peers *next; /* in the cache's bucket */
	uintptr_t key;
	int rank, size;
	int remote_size;    /* 0 means no intercommunicator */
	MPI_Group group[2]; /* own, remote */
	int *world[2];      /* by rank, -1: not asked yet; NULL: identity */
	/* These are the outgoing neighbours of the topology; -1 means not asked for
	 * yet. */
	int n_out;
	int *out;           /* [n_out] ranks, or MPI_PROC_NULL */
	/* This is the number of the communicator in events; -1 means not asked for
	 * yet. */
	int number;
};

/* This is called once, after MPI_Init, with MPI_COMM_WORLD's group. It returns 0 or
 * -1. */
int rec_peers_begin(MPI_Group world);
/* This forgets all that is known, before the library ends or is begun anew. */
void rec_peers_end(void);

/* This returns the entry of a handle with the recorder's lock held, so the caller
 * calls rec_unlock. It returns NULL without the lock when memory is out. It costs
 * O(1), or O(size) at the first use of a handle. */
struct rec_peers *rec_peers_comm(MPI_Comm comm);
struct rec_peers *rec_peers_window(MPI_Win window);

/* This returns the world rank of a rank of its own or the remote group, or
 * REC_OUTSIDE if that is not in MPI_COMM_WORLD. It costs O(1) after the first use. */
int rec_peers_world(struct rec_peers *p, bool remote, int rank);

/* This returns a number made of the members' world ranks, the same on all members.
 * It costs O(size). */
uint64_t rec_peers_hash(struct rec_peers *p);

/* This fills in n_out and out of a communicator's entry. It returns 0, or -1 when
 * memory is out. */
int rec_peers_neighbours(struct rec_peers *p, MPI_Comm comm);
