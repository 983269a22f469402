/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "calls.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int rank, size;
char out[65536] __attribute__((aligned(16)));
char in[65536] __attribute__((aligned(16)));

void wait_for(MPI_Request *request)
{
	MPI_Wait(request, MPI_STATUS_IGNORE);
}

/* Kind k sends 2^k elements, so that any that is missed shows. */
static void kinds(int to, MPI_Datatype type)
{
	MPI_Request r[4];

	/* ready sends need their receives posted */
	MPI_Recv(in, 0, MPI_BYTE, to, 9, WORLD, IGNORE);
	MPI_Send(out, 1, type, to, 0, WORLD);
	MPI_Bsend(out, 2, type, to, 1, WORLD);
	MPI_Ssend(out, 4, type, to, 2, WORLD);
	MPI_Rsend(out, 8, type, to, 3, WORLD);
	MPI_Isend(out, 16, type, to, 4, WORLD, &r[0]);
	MPI_Ibsend(out, 32, type, to, 5, WORLD, &r[1]);
	MPI_Issend(out, 64, type, to, 6, WORLD, &r[2]);
	MPI_Irsend(out, 128, type, to, 7, WORLD, &r[3]);
	MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
	MPI_Send(out, 1000, type, MPI_PROC_NULL, 0, WORLD);
}

static void take_kinds(int from, MPI_Datatype type)
{
	MPI_Request r[8];

	for (int k = 0; k < 8; k++)
		MPI_Irecv(in + 1024 * k, 1 << k, type, from, k, WORLD, &r[k]);
	MPI_Send(out, 0, MPI_BYTE, from, 9, WORLD);
	MPI_Waitall(8, r, MPI_STATUSES_IGNORE);
}

static void send_kinds(int nonblocking)
{
	if (rank == 0)
		kinds(1, MPI_INT);
	else if (rank == 1)
		take_kinds(0, MPI_INT);
	else if (rank == 2)
		kinds(3, MPI_DOUBLE);
	else
		take_kinds(2, MPI_DOUBLE);
}

/* Three starts of sends of 1 to 8 bytes; a new one after they are freed. */
static void persistent(int nonblocking)
{
	MPI_Request r[5];

	if (rank == 1) {
		MPI_Send_init(out, 1, MPI_BYTE, 2, 0, WORLD, &r[0]);
		MPI_Bsend_init(out, 2, MPI_BYTE, 2, 0, WORLD, &r[1]);
		MPI_Ssend_init(out, 4, MPI_BYTE, 2, 0, WORLD, &r[2]);
		MPI_Rsend_init(out, 8, MPI_BYTE, 2, 0, WORLD, &r[3]);
		MPI_Send_init(out, 99, MPI_BYTE, MPI_PROC_NULL, 0, WORLD,
		              &r[4]);
		for (int i = 0; i < 3; i++) {
			MPI_Barrier(WORLD);
			if (i == 0)
				for (int k = 0; k < 5; k++)
					MPI_Start(&r[k]);
			else
				MPI_Startall(5, r);
			MPI_Waitall(5, r, MPI_STATUSES_IGNORE);
		}
		for (int k = 0; k < 5; k++)
			MPI_Request_free(&r[k]);
		MPI_Send_init(out, 100, MPI_BYTE, 3, 0, WORLD, &r[0]);
		MPI_Recv_init(in, 50, MPI_BYTE, 3, 0, WORLD, &r[1]);
		/* Never started. */
		MPI_Send_init(out, 7, MPI_BYTE, 3, 0, WORLD, &r[2]);
		MPI_Startall(2, r);
		MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
		for (int k = 0; k < 3; k++)
			MPI_Request_free(&r[k]);
	} else {
		for (int i = 0; i < 3; i++) {
			for (int k = 0; k < 4 && rank == 2; k++)
				MPI_Irecv(in, 8, MPI_BYTE, 1, 0, WORLD, &r[k]);
			MPI_Barrier(WORLD);
			if (rank == 2)
				MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
		}
		if (rank == 3)
			MPI_Sendrecv(out, 50, MPI_BYTE, 1, 0, in, 100, MPI_BYTE,
			             1, 0, WORLD, IGNORE);
	}
}

static void sendrecv(int nonblocking)
{
	int up = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
	int down = rank ? rank - 1 : MPI_PROC_NULL;

	MPI_Sendrecv(out, 10, MPI_INT, up, 0, in, 10, MPI_INT, down, 0, WORLD,
	             IGNORE);
	MPI_Sendrecv_replace(out, 3, MPI_DOUBLE, (rank + size - 1) % size, 1,
	                     (rank + 1) % size, 1, WORLD, IGNORE);
}

/* Reversed halves, freed and split anew in order: the handle may be the same.
 */
static void communicators(int nonblocking)
{
	MPI_Request r;
	MPI_Comm comm, again;
	int local;

	for (int turn = 0; turn < 2; turn++) {
		MPI_Comm_split(WORLD, rank % 2, turn ? rank : -rank, &comm);
		MPI_Comm_rank(comm, &local);
		if (local == 0)
			MPI_Send(out, 10 << turn, MPI_BYTE, 1, 0, comm);
		else if (local == 1)
			MPI_Recv(in, 20, MPI_BYTE, 0, 0, comm, IGNORE);
		MPI_Comm_dup(comm, &again);
		if (local == 2)
			MPI_Send(out, 3, MPI_BYTE, 0, 0, again);
		else if (local == 0)
			MPI_Recv(in, 3, MPI_BYTE, 2, 0, again, IGNORE);
		MPI_Comm_free(&again);
		MPI_Comm_free(&comm);
	}
	MPI_Isend(out, 7, MPI_BYTE, 0, 0, MPI_COMM_SELF, &r);
	MPI_Recv(in, 7, MPI_BYTE, 0, 0, MPI_COMM_SELF, IGNORE);
	MPI_Wait(&r, IGNORE);
}

static void one_sided(int nonblocking)
{
	static double memory[64];
	int zero = 0, expect = 0, got;
	MPI_Group world, group;
	MPI_Request r;
	MPI_Comm pair;
	MPI_Win win;

	MPI_Win_create(memory, sizeof(memory), 1, MPI_INFO_NULL, WORLD, &win);
	MPI_Win_lock_all(0, win);
	if (rank == 0) {
		MPI_Put(out, 1, MPI_DOUBLE, 1, 0, 1, MPI_DOUBLE, win);
		MPI_Rput(out, 2, MPI_DOUBLE, 1, 0, 2, MPI_DOUBLE, win, &r);
		wait_for(&r);
		MPI_Accumulate(out, 4, MPI_INT, 1, 0, 4, MPI_INT, MPI_SUM, win);
		MPI_Raccumulate(out, 8, MPI_INT, 1, 0, 8, MPI_INT, MPI_SUM, win,
		                &r);
		wait_for(&r);
		MPI_Put(out, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, 1, MPI_DOUBLE,
		        win);
	} else if (rank == 1) {
		MPI_Get(in, 3, MPI_DOUBLE, 2, 0, 3, MPI_DOUBLE, win);
		MPI_Rget(in, 5, MPI_DOUBLE, 2, 0, 5, MPI_DOUBLE, win, &r);
		wait_for(&r);
	} else if (rank == 2) {
		MPI_Get_accumulate(out, 1, MPI_INT, in, 1, MPI_INT, 3, 0, 1,
		                   MPI_INT, MPI_SUM, win);
		MPI_Rget_accumulate(out, 2, MPI_INT, in, 2, MPI_INT, 3, 0, 2,
		                    MPI_INT, MPI_NO_OP, win, &r);
		wait_for(&r);
	} else {
		MPI_Fetch_and_op(&zero, &got, MPI_INT, 0, 0, MPI_SUM, win);
		MPI_Compare_and_swap(&zero, &expect, &got, MPI_INT, 0, 0, win);
	}
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);

	/* a window of a reversed group */
	MPI_Comm_group(WORLD, &world);
	MPI_Group_incl(world, 2, (int[]){3, 1}, &group);
	MPI_Comm_create(WORLD, group, &pair);
	if (pair != MPI_COMM_NULL) {
		MPI_Win_create(memory, sizeof(memory), 1, MPI_INFO_NULL, pair,
		               &win);
		MPI_Win_fence(0, win);
		if (rank == 3)
			MPI_Put(out, 9, MPI_BYTE, 1, 0, 9, MPI_BYTE, win);
		MPI_Win_fence(0, win);
		MPI_Win_free(&win);
		MPI_Comm_free(&pair);
	}
	MPI_Group_free(&group);
	MPI_Group_free(&world);
}

static void control(int nonblocking)
{
	for (int on = 2; on >= 0; on--) {
		if (on < 2)
			MPI_Pcontrol(!on);
		if (rank == 0)
			MPI_Send(out, 1 << on, MPI_BYTE, 1, 0, WORLD);
		else if (rank == 1)
			MPI_Recv(in, 4, MPI_BYTE, 0, 0, WORLD, IGNORE);
	}
}

#define THREADS 4
#define EACH 500

static MPI_Comm of_thread[THREADS];

static void *thread_sends(void *tag)
{
	int t = (int)(size_t)tag, data[2] = {0}, got[2];
	MPI_Comm comm;

	for (int i = 0; i < EACH; i++)
		MPI_Sendrecv(data, 2, MPI_INT, 1 - rank, t, got, 2, MPI_INT,
		             1 - rank, t, WORLD, IGNORE);
	/* first uses and ends of communicators at the same time */
	for (int i = 0; i < 20; i++) {
		MPI_Comm_dup(of_thread[t], &comm);
		MPI_Sendrecv(data, 1, MPI_INT, 0, t, got, 1, MPI_INT, 0, t,
		             comm, IGNORE);
		MPI_Comm_free(&comm);
	}
	return NULL;
}

static void threads(int nonblocking)
{
	pthread_t thread[THREADS];

	for (size_t t = 0; t < THREADS; t++)
		MPI_Comm_dup(MPI_COMM_SELF, &of_thread[t]);
	for (size_t t = 0; t < THREADS; t++)
		pthread_create(&thread[t], NULL, thread_sends, (void *)t);
	for (int t = 0; t < THREADS; t++)
		pthread_join(thread[t], NULL);
	for (size_t t = 0; t < THREADS; t++)
		MPI_Comm_free(&of_thread[t]);
}

static const char *self;

/* One message to and one from a child that is in another world. */
static void spawn(int nonblocking)
{
	static char child[] = "spawned";
	char *argv[] = {child, NULL};
	MPI_Comm inter;

	MPI_Comm_spawn(self, argv, 1, MPI_INFO_NULL, 0, WORLD, &inter,
	               MPI_ERRCODES_IGNORE);
	if (rank == 0) {
		MPI_Send(out, 5, MPI_BYTE, 0, 0, inter);
		MPI_Send(out, 6, MPI_BYTE, 1, 0, WORLD);
	} else if (rank == 1) {
		MPI_Recv(in, 6, MPI_BYTE, 0, 0, WORLD, IGNORE);
	}
	MPI_Comm_disconnect(&inter);
}

static void spawned(int nonblocking)
{
	MPI_Comm parent;

	MPI_Comm_get_parent(&parent);
	MPI_Recv(in, 5, MPI_BYTE, 0, 0, parent, IGNORE);
	MPI_Comm_disconnect(&parent);
}

static void nothing(int nonblocking)
{
}

/* An argument that the library refuses is the program's to handle. */
static void errors(int nonblocking)
{
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	if (MPI_Send(out, 1, MPI_BYTE, size, 0, WORLD) == MPI_SUCCESS ||
	    MPI_Send(out, 1, MPI_BYTE, 0, 0, MPI_COMM_NULL) == MPI_SUCCESS ||
	    MPI_Bcast(out, 1, MPI_DATATYPE_NULL, 0, WORLD) == MPI_SUCCESS)
		exit(3);
}

static const struct calls calls[] = {
        {"send-kinds", send_kinds},
        {"persistent", persistent},
        {"sendrecv", sendrecv},
        {"communicators", communicators},
        {"one-sided", one_sided},
        {"control", control},
        {"threads", threads},
        {"spawn", spawn},
        {"spawned", spawned},
        {"errors", errors},
        {"no-finalize", nothing},
        {"nothing", nothing},
        {NULL, NULL},
};

static const struct calls *find(const struct calls *of, const char *name)
{
	while (of->name && strcmp(of->name, name))
		of++;
	return of->name ? of : NULL;
}

/* calls [-n] CASE...: non-blocking where there is such a form. */
int main(int argc, char **argv)
{
	static char buffer[65536];
	int nonblocking = argc > 1 && !strcmp(argv[1], "-n");
	int first = 1 + nonblocking, provided;
	const char *name = argc > first ? argv[first] : "";

	self = argv[0];
	if (!strcmp(name, "threads")) {
		MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
		if (provided < MPI_THREAD_MULTIPLE)
			return 77;
	} else {
		MPI_Init(&argc, &argv);
	}
	MPI_Comm_rank(WORLD, &rank);
	MPI_Comm_size(WORLD, &size);
	MPI_Buffer_attach(buffer, sizeof(buffer));
	for (int i = first; i < argc; i++) {
		const struct calls *one = find(calls, argv[i]);

		if (!one)
			one = find(collective_calls, argv[i]);
		if (!one) {
			fprintf(stderr, "calls: no case '%s'\n", argv[i]);
			return 2;
		}
		one->run(nonblocking);
	}
	if (!strcmp(name, "no-finalize"))
		return 0;
	MPI_Finalize();
	return 0;
}
