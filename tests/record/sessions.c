/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sessions KIND: MPI 4's sessions on 4 ranks, without MPI_Init. Each rank sends 10
 * bytes to the next one of a communicator of all, which has them the other way
 * round, then 0 sends 7 bytes to 1 in each half. KIND: world; twice (with another
 * session open from before to after, as a library has it); again (a second one when
 * the first is closed); unequal (rank 0 closes its session when the file "closed" says
 * that 3 has closed its own); self (each with itself alone, 3 bytes); exit (the session
 * stays open); both (MPI_Init within it).
 */
#include <fcntl.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static MPI_Comm made_of(MPI_Group group, const char *tag)
{
	MPI_Comm comm;

	MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL,
	                           MPI_ERRORS_ARE_FATAL, &comm);
	return comm;
}

static void send(MPI_Comm comm, int bytes, int from, int to)
{
	char data[16] = "";
	int me;

	MPI_Comm_rank(comm, &me);
	if (me == from)
		MPI_Send(data, bytes, MPI_CHAR, to, 0, comm);
	if (me == to)
		MPI_Recv(data, bytes, MPI_CHAR, from, 0, comm,
		         MPI_STATUS_IGNORE);
}

static void alone(MPI_Session session)
{
	char data[3] = "", got[3];
	MPI_Group self;
	MPI_Comm comm;

	MPI_Group_from_session_pset(session, "mpi://SELF", &self);
	comm = made_of(self, "alone");
	MPI_Sendrecv(data, 3, MPI_CHAR, 0, 0, got, 3, MPI_CHAR, 0, 0, comm,
	             MPI_STATUS_IGNORE);
	MPI_Comm_free(&comm);
	MPI_Group_free(&self);
}

static void work(MPI_Session session)
{
	MPI_Group world, part;
	MPI_Comm comm;
	int me, n, order[64];

	MPI_Group_from_session_pset(session, "mpi://WORLD", &world);
	MPI_Group_size(world, &n);
	MPI_Group_rank(world, &me);
	for (int i = 0; i < n; i++)
		order[i] = n - 1 - i;
	MPI_Group_incl(world, n, order, &part);
	comm = made_of(part, "all");
	for (int i = 0; i < n; i++)
		send(comm, 10, i, (i + 1) % n);
	MPI_Group_free(&part);
	MPI_Comm_free(&comm);
	for (int i = 0; i < n / 2; i++)
		order[i] = me / (n / 2) * (n / 2) + i;
	MPI_Group_incl(world, n / 2, order, &part);
	comm = made_of(part, "half");
	send(comm, 7, 0, 1);
	MPI_Comm_free(&comm);
	MPI_Group_free(&part);
	MPI_Group_free(&world);
}

static MPI_Session opened(void)
{
	MPI_Session session;

	MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
	return session;
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "world";
	MPI_Session session, other = MPI_SESSION_NULL;
	MPI_Group world;
	int me;

	if (!strcmp(kind, "twice"))
		other = opened();
	session = opened();
	MPI_Group_from_session_pset(session, "mpi://WORLD", &world);
	MPI_Group_rank(world, &me);
	MPI_Group_free(&world);
	if (strcmp(kind, "self"))
		work(session);
	else
		alone(session);
	if (!strcmp(kind, "exit"))
		exit(0);
	if (!strcmp(kind, "both")) {
		MPI_Init(&argc, &argv);
		send(MPI_COMM_WORLD, 5, 0, 3);
		MPI_Finalize();
	}
	while (!strcmp(kind, "unequal") && !me && access("closed", F_OK))
		usleep(10000);
	MPI_Session_finalize(&session);
	if (!strcmp(kind, "unequal") && me == 3)
		close(creat("closed", 0600));
	if (!strcmp(kind, "again"))
		other = opened();
	if (other != MPI_SESSION_NULL) {
		work(other);
		MPI_Session_finalize(&other);
	}
	return 0;
}
