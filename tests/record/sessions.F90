! SPDX-License-Identifier: GPL-2.0-or-later
! sessions.c's "world" in Fortran: -DUSE_MPIF, -DUSE_MPI, -DUSE_F08 (without ierror).
#ifdef USE_F08
#define IERR
#define HANDLE(kind) type(kind)
#else
#define IERR , ierror
#define HANDLE(kind) integer
#endif
program sessions
#ifdef USE_F08
	use mpi_f08
#endif
#ifdef USE_MPI
	use mpi
#endif
	implicit none
#ifdef USE_MPIF
	include 'mpif.h'
#endif
	integer :: ierror = 0, n, me, i
	HANDLE(MPI_Session) :: session
	HANDLE(MPI_Group) :: world, part
	HANDLE(MPI_Comm) :: comm

	call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, session IERR)
	call MPI_Group_from_session_pset(session, 'mpi://WORLD', world IERR)
	call MPI_Group_size(world, n IERR)
	call MPI_Group_rank(world, me IERR)
	call MPI_Group_incl(world, n, [(n - 1 - i, i = 0, n - 1)], part IERR)
	call MPI_Comm_create_from_group(part, 'all', MPI_INFO_NULL, &
		MPI_ERRORS_ARE_FATAL, comm IERR)
	do i = 0, n - 1
		call pass(10, i, mod(i + 1, n))
	end do
	call MPI_Group_free(part IERR)
	call MPI_Comm_free(comm IERR)
	call MPI_Group_incl(world, n / 2, &
		[(me / (n / 2) * (n / 2) + i, i = 0, n / 2 - 1)], part IERR)
	call MPI_Comm_create_from_group(part, 'half', MPI_INFO_NULL, &
		MPI_ERRORS_ARE_FATAL, comm IERR)
	call pass(7, 0, 1)
	call MPI_Group_free(part IERR)
	call MPI_Comm_free(comm IERR)
	call MPI_Group_free(world IERR)
	call MPI_Session_finalize(session IERR)
contains
	subroutine pass(bytes, from, to)
		integer, intent(in) :: bytes, from, to
		character :: what(16)
		integer :: rank

		what = ' '
		call MPI_Comm_rank(comm, rank IERR)
		if (rank == from) call MPI_Send(what, bytes, MPI_CHARACTER, to, &
			0, comm IERR)
		if (rank == to) call MPI_Recv(what, bytes, MPI_CHARACTER, from, &
			0, comm, MPI_STATUS_IGNORE IERR)
	end subroutine
end program
