! SPDX-License-Identifier: GPL-2.0-or-later
! The cases of calls.c and calls_coll.c in Fortran, with the same tables.
! Compiled three times: -DUSE_MPIF, -DUSE_MPI, -DUSE_F08 (without ierror).
#ifdef USE_F08
#define IERR
#define COMM type(MPI_Comm)
#define REQUEST type(MPI_Request)
#define WINDOW type(MPI_Win)
#define GROUP type(MPI_Group)
#define DATATYPE type(MPI_Datatype)
#else
#define IERR , ierror
#define COMM integer
#define REQUEST integer
#define WINDOW integer
#define GROUP integer
#define DATATYPE integer
#endif
program calls
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
	integer, parameter :: disp = MPI_ADDRESS_KIND
	integer :: rank, size, ierror = 0, i, n
	logical :: nb = .false.
	character :: buffer(65536)
	character(len=32) :: name
	REQUEST :: r
	integer(8), asynchronous :: outb(8192), inb(8192)
	integer, parameter :: places(16) = [(16 * i, i = 0, 15)]

	outb = 0
	inb = 0
#ifdef USE_F08
	call MPI_Init()
#else
	call MPI_Init(ierror)
#endif
	call MPI_Comm_rank(MPI_COMM_WORLD, rank IERR)
	call MPI_Comm_size(MPI_COMM_WORLD, size IERR)
	call MPI_Buffer_attach(buffer, 65536 IERR)
	do n = 1, command_argument_count()
		call get_command_argument(n, name)
		call one()
	end do
#ifdef USE_F08
	call MPI_Finalize()
#else
	call MPI_Finalize(ierror)
#endif

contains

subroutine one()
	select case (name)
	case ('-n')
		nb = .true.
	case ('send-kinds')
		call send_kinds()
	case ('persistent')
		call persistent()
	case ('sendrecv')
		call sendrecv()
	case ('communicators')
		call communicators()
	case ('one-sided')
		call one_sided()
	case ('control')
		call control()
	case ('cart')
		call cart()
	case default
		call collective()
	end select
end subroutine

subroutine done()
	if (nb) call MPI_Wait(r, MPI_STATUS_IGNORE IERR)
end subroutine

subroutine kinds(to, kind)
	integer, intent(in) :: to
	DATATYPE, intent(in) :: kind
	REQUEST :: rs(4)

	call MPI_Recv(inb, 0, MPI_BYTE, to, 9, MPI_COMM_WORLD, &
		MPI_STATUS_IGNORE IERR)
	call MPI_Send(outb, 1, kind, to, 0, MPI_COMM_WORLD IERR)
	call MPI_Bsend(outb, 2, kind, to, 1, MPI_COMM_WORLD IERR)
	call MPI_Ssend(outb, 4, kind, to, 2, MPI_COMM_WORLD IERR)
	call MPI_Rsend(outb, 8, kind, to, 3, MPI_COMM_WORLD IERR)
	call MPI_Isend(outb, 16, kind, to, 4, MPI_COMM_WORLD, rs(1) IERR)
	call MPI_Ibsend(outb, 32, kind, to, 5, MPI_COMM_WORLD, rs(2) IERR)
	call MPI_Issend(outb, 64, kind, to, 6, MPI_COMM_WORLD, rs(3) IERR)
	call MPI_Irsend(outb, 128, kind, to, 7, MPI_COMM_WORLD, rs(4) IERR)
	call MPI_Waitall(4, rs, MPI_STATUSES_IGNORE IERR)
	call MPI_Send(outb, 1000, kind, MPI_PROC_NULL, 0, MPI_COMM_WORLD IERR)
end subroutine

subroutine take_kinds(from, kind)
	integer, intent(in) :: from
	DATATYPE, intent(in) :: kind
	REQUEST :: rs(8)
	integer :: k

	do k = 0, 7
		call MPI_Irecv(inb(128 * k + 1), 2**k, kind, from, k, &
			MPI_COMM_WORLD, rs(k + 1) IERR)
	end do
	call MPI_Send(outb, 0, MPI_BYTE, from, 9, MPI_COMM_WORLD IERR)
	call MPI_Waitall(8, rs, MPI_STATUSES_IGNORE IERR)
end subroutine

subroutine send_kinds()
	select case (rank)
	case (0)
		call kinds(1, MPI_INTEGER)
	case (1)
		call take_kinds(0, MPI_INTEGER)
	case (2)
		call kinds(3, MPI_DOUBLE_PRECISION)
	case (3)
		call take_kinds(2, MPI_DOUBLE_PRECISION)
	end select
end subroutine

subroutine persistent()
	REQUEST :: rs(5)
	integer :: k, turn

	if (rank == 1) then
		call MPI_Send_init(outb, 1, MPI_BYTE, 2, 0, MPI_COMM_WORLD, &
			rs(1) IERR)
		call MPI_Bsend_init(outb, 2, MPI_BYTE, 2, 0, MPI_COMM_WORLD, &
			rs(2) IERR)
		call MPI_Ssend_init(outb, 4, MPI_BYTE, 2, 0, MPI_COMM_WORLD, &
			rs(3) IERR)
		call MPI_Rsend_init(outb, 8, MPI_BYTE, 2, 0, MPI_COMM_WORLD, &
			rs(4) IERR)
		call MPI_Send_init(outb, 99, MPI_BYTE, MPI_PROC_NULL, 0, &
			MPI_COMM_WORLD, rs(5) IERR)
		do turn = 1, 3
			call MPI_Barrier(MPI_COMM_WORLD IERR)
			if (turn == 1) then
				do k = 1, 5
					call MPI_Start(rs(k) IERR)
				end do
			else
				call MPI_Startall(5, rs IERR)
			end if
			call MPI_Waitall(5, rs, MPI_STATUSES_IGNORE IERR)
		end do
		do k = 1, 5
			call MPI_Request_free(rs(k) IERR)
		end do
		call MPI_Send_init(outb, 100, MPI_BYTE, 3, 0, MPI_COMM_WORLD, &
			rs(1) IERR)
		call MPI_Recv_init(inb, 50, MPI_BYTE, 3, 0, MPI_COMM_WORLD, &
			rs(2) IERR)
		call MPI_Startall(2, rs IERR)
		call MPI_Waitall(2, rs, MPI_STATUSES_IGNORE IERR)
		call MPI_Request_free(rs(1) IERR)
		call MPI_Request_free(rs(2) IERR)
		return
	end if
	do turn = 1, 3
		do k = 1, 4
			if (rank == 2) call MPI_Irecv(inb, 8, MPI_BYTE, 1, 0, &
				MPI_COMM_WORLD, rs(k) IERR)
		end do
		call MPI_Barrier(MPI_COMM_WORLD IERR)
		if (rank == 2) call MPI_Waitall(4, rs, MPI_STATUSES_IGNORE IERR)
	end do
	if (rank == 3) call MPI_Sendrecv(outb, 50, MPI_BYTE, 1, 0, inb, 100, &
		MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE IERR)
end subroutine

subroutine sendrecv()
	integer :: up, down

	up = rank + 1
	if (up == size) up = MPI_PROC_NULL
	down = rank - 1
	if (rank == 0) down = MPI_PROC_NULL
	call MPI_Sendrecv(outb, 10, MPI_INTEGER, up, 0, inb, 10, MPI_INTEGER, &
		down, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE IERR)
	call MPI_Sendrecv_replace(outb, 3, MPI_DOUBLE_PRECISION, &
		modulo(rank - 1, size), 1, modulo(rank + 1, size), 1, &
		MPI_COMM_WORLD, MPI_STATUS_IGNORE IERR)
end subroutine

subroutine communicators()
	COMM :: part, again
	integer :: turn, order, local

	do turn = 0, 1
		order = rank
		if (turn == 0) order = -rank
		call MPI_Comm_split(MPI_COMM_WORLD, modulo(rank, 2), order, &
			part IERR)
		call MPI_Comm_rank(part, local IERR)
		if (local == 0) call MPI_Send(outb, 10 * (turn + 1), MPI_BYTE, &
			1, 0, part IERR)
		if (local == 1) call MPI_Recv(inb, 20, MPI_BYTE, 0, 0, part, &
			MPI_STATUS_IGNORE IERR)
		call MPI_Comm_dup(part, again IERR)
		if (local == 2) call MPI_Send(outb, 3, MPI_BYTE, 0, 0, &
			again IERR)
		if (local == 0) call MPI_Recv(inb, 3, MPI_BYTE, 2, 0, again, &
			MPI_STATUS_IGNORE IERR)
		call MPI_Comm_free(again IERR)
		call MPI_Comm_free(part IERR)
	end do
	call MPI_Isend(outb, 7, MPI_BYTE, 0, 0, MPI_COMM_SELF, r IERR)
	call MPI_Recv(inb, 7, MPI_BYTE, 0, 0, MPI_COMM_SELF, &
		MPI_STATUS_IGNORE IERR)
	call MPI_Wait(r, MPI_STATUS_IGNORE IERR)
end subroutine

subroutine one_sided()
	integer(8), save, asynchronous :: memory(64)
	integer(disp), parameter :: length = 512, at = 0
	integer :: zero(1), expect(1), got(1)
	GROUP :: everyone, two
	WINDOW :: win
	COMM :: pair

	zero = 0
	expect = 0
	call MPI_Win_create(memory, length, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &
		win IERR)
	call MPI_Win_lock_all(0, win IERR)
	select case (rank)
	case (0)
		call MPI_Put(outb, 1, MPI_INTEGER8, 1, at, 1, MPI_INTEGER8, &
			win IERR)
		call MPI_Rput(outb, 2, MPI_INTEGER8, 1, at, 2, MPI_INTEGER8, &
			win, r IERR)
		call MPI_Wait(r, MPI_STATUS_IGNORE IERR)
		call MPI_Accumulate(outb, 4, MPI_INTEGER, 1, at, 4, &
			MPI_INTEGER, MPI_SUM, win IERR)
		call MPI_Raccumulate(outb, 8, MPI_INTEGER, 1, at, 8, &
			MPI_INTEGER, MPI_SUM, win, r IERR)
		call MPI_Wait(r, MPI_STATUS_IGNORE IERR)
		call MPI_Put(outb, 1, MPI_INTEGER8, MPI_PROC_NULL, at, 1, &
			MPI_INTEGER8, win IERR)
	case (1)
		call MPI_Get(inb, 3, MPI_INTEGER8, 2, at, 3, MPI_INTEGER8, &
			win IERR)
		call MPI_Rget(inb, 5, MPI_INTEGER8, 2, at, 5, MPI_INTEGER8, &
			win, r IERR)
		call MPI_Wait(r, MPI_STATUS_IGNORE IERR)
	case (2)
		call MPI_Get_accumulate(outb, 1, MPI_INTEGER, inb, 1, &
			MPI_INTEGER, 3, at, 1, MPI_INTEGER, MPI_SUM, win IERR)
		call MPI_Rget_accumulate(outb, 2, MPI_INTEGER, inb, 2, &
			MPI_INTEGER, 3, at, 2, MPI_INTEGER, MPI_NO_OP, win, &
			r IERR)
		call MPI_Wait(r, MPI_STATUS_IGNORE IERR)
	case (3)
		call MPI_Fetch_and_op(zero, got, MPI_INTEGER, 0, at, MPI_SUM, &
			win IERR)
		call MPI_Compare_and_swap(zero, expect, got, MPI_INTEGER, 0, &
			at, win IERR)
	end select
	call MPI_Win_unlock_all(win IERR)
	call MPI_Win_free(win IERR)

	call MPI_Comm_group(MPI_COMM_WORLD, everyone IERR)
	call MPI_Group_incl(everyone, 2, [3, 1], two IERR)
	call MPI_Comm_create(MPI_COMM_WORLD, two, pair IERR)
	if (pair /= MPI_COMM_NULL) then
		call MPI_Win_create(memory, length, 1, MPI_INFO_NULL, pair, &
			win IERR)
		call MPI_Win_fence(0, win IERR)
		if (rank == 3) call MPI_Put(outb, 9, MPI_BYTE, 1, at, 9, &
			MPI_BYTE, win IERR)
		call MPI_Win_fence(0, win IERR)
		call MPI_Win_free(win IERR)
		call MPI_Comm_free(pair IERR)
	end if
end subroutine

subroutine control()
	integer, parameter :: bytes(3) = [4, 2, 1]
	integer :: turn

	do turn = 1, 3
		if (turn > 1) call MPI_Pcontrol(turn - 2)
		if (rank == 0) call MPI_Send(outb, bytes(turn), MPI_BYTE, 1, &
			0, MPI_COMM_WORLD IERR)
		if (rank == 1) call MPI_Recv(inb, 4, MPI_BYTE, 0, 0, &
			MPI_COMM_WORLD, MPI_STATUS_IGNORE IERR)
	end do
end subroutine

! Each call in both forms.
#define BEGIN if (nb) then
#define OTHERWISE else
#define FINISH end if; call done()
#define W MPI_COMM_WORLD

subroutine cart()
	integer :: alltoallv(4), allgatherv(4), alltoallw(4), at(4)
	integer(disp) :: far(4)
	DATATYPE :: types(4)
	COMM :: grid
	integer :: k

	do k = 1, 4
		allgatherv(k) = 10
		alltoallv(k) = 1000
		alltoallw(k) = 500
		at(k) = 4096 * (k - 1)
		far(k) = at(k)
		types(k) = MPI_DOUBLE_PRECISION
	end do
	call MPI_Cart_create(W, 2, [2, 3], [.false., .true.], .false., &
		grid IERR)
	BEGIN
	call MPI_Ineighbor_allgather(outb, 1, MPI_BYTE, inb, 1, MPI_BYTE, &
		grid, r IERR)
	OTHERWISE
	call MPI_Neighbor_allgather(outb, 1, MPI_BYTE, inb, 1, MPI_BYTE, &
		grid IERR)
	FINISH
	BEGIN
	call MPI_Ineighbor_allgatherv(outb, 10, MPI_BYTE, inb, allgatherv, at, &
		MPI_BYTE, grid, r IERR)
	OTHERWISE
	call MPI_Neighbor_allgatherv(outb, 10, MPI_BYTE, inb, allgatherv, at, &
		MPI_BYTE, grid IERR)
	FINISH
	BEGIN
	call MPI_Ineighbor_alltoall(outb, 100, MPI_BYTE, inb, 100, MPI_BYTE, &
		grid, r IERR)
	OTHERWISE
	call MPI_Neighbor_alltoall(outb, 100, MPI_BYTE, inb, 100, MPI_BYTE, &
		grid IERR)
	FINISH
	BEGIN
	call MPI_Ineighbor_alltoallv(outb, alltoallv, at, MPI_BYTE, inb, &
		alltoallv, at, MPI_BYTE, grid, r IERR)
	OTHERWISE
	call MPI_Neighbor_alltoallv(outb, alltoallv, at, MPI_BYTE, inb, &
		alltoallv, at, MPI_BYTE, grid IERR)
	FINISH
	BEGIN
	call MPI_Ineighbor_alltoallw(outb, alltoallw, far, types, inb, &
		alltoallw, far, types, grid, r IERR)
	OTHERWISE
	call MPI_Neighbor_alltoallw(outb, alltoallw, far, types, inb, &
		alltoallw, far, types, grid IERR)
	FINISH
	call MPI_Comm_free(grid IERR)
end subroutine

subroutine collective()
	integer :: counts(5), more(5), k
	DATATYPE :: types(3), from(3)

	types(1) = MPI_INTEGER
	types(2) = MPI_DOUBLE_PRECISION
	types(3) = MPI_INTEGER2
	select case (name)
	case ('barrier')
		BEGIN
		call MPI_Ibarrier(W, r IERR)
		OTHERWISE
		call MPI_Barrier(W IERR)
		FINISH
	case ('bcast')
		BEGIN
		call MPI_Ibcast(outb, 10, MPI_INTEGER, 2, W, r IERR)
		OTHERWISE
		call MPI_Bcast(outb, 10, MPI_INTEGER, 2, W IERR)
		FINISH
	case ('reduce')
		BEGIN
		call MPI_Ireduce(outb, inb, 3, MPI_DOUBLE_PRECISION, MPI_SUM, &
			1, W, r IERR)
		OTHERWISE
		call MPI_Reduce(outb, inb, 3, MPI_DOUBLE_PRECISION, MPI_SUM, &
			1, W IERR)
		FINISH
	case ('allreduce')
		BEGIN
		call MPI_Iallreduce(MPI_IN_PLACE, inb, 2, MPI_INTEGER, &
			MPI_SUM, W, r IERR)
		OTHERWISE
		call MPI_Allreduce(MPI_IN_PLACE, inb, 2, MPI_INTEGER, &
			MPI_SUM, W IERR)
		FINISH
	case ('gather')
		if (rank == 1) then
			BEGIN
			call MPI_Igather(MPI_IN_PLACE, 0, MPI_BYTE, inb, 10, &
				MPI_BYTE, 1, W, r IERR)
			OTHERWISE
			call MPI_Gather(MPI_IN_PLACE, 0, MPI_BYTE, inb, 10, &
				MPI_BYTE, 1, W IERR)
			FINISH
		else
			BEGIN
			call MPI_Igather(outb, 10, MPI_BYTE, inb, 0, &
				MPI_BYTE, 1, W, r IERR)
			OTHERWISE
			call MPI_Gather(outb, 10, MPI_BYTE, inb, 0, &
				MPI_BYTE, 1, W IERR)
			FINISH
		end if
	case ('gatherv')
		counts = [0, 1, 2, 3, 4]
		BEGIN
		call MPI_Igatherv(outb, rank, MPI_BYTE, inb, counts, places, &
			MPI_BYTE, 2, W, r IERR)
		OTHERWISE
		call MPI_Gatherv(outb, rank, MPI_BYTE, inb, counts, places, &
			MPI_BYTE, 2, W IERR)
		FINISH
	case ('scatter')
		if (rank == 3) then
			BEGIN
			call MPI_Iscatter(outb, 10, MPI_BYTE, MPI_IN_PLACE, 0, &
				MPI_BYTE, 3, W, r IERR)
			OTHERWISE
			call MPI_Scatter(outb, 10, MPI_BYTE, MPI_IN_PLACE, 0, &
				MPI_BYTE, 3, W IERR)
			FINISH
		else
			BEGIN
			call MPI_Iscatter(outb, 0, MPI_BYTE, inb, 10, &
				MPI_BYTE, 3, W, r IERR)
			OTHERWISE
			call MPI_Scatter(outb, 0, MPI_BYTE, inb, 10, &
				MPI_BYTE, 3, W IERR)
			FINISH
		end if
	case ('scatterv')
		counts = [5, 6, 7, 0, 9]
		BEGIN
		call MPI_Iscatterv(outb, counts, places, MPI_BYTE, inb, &
			counts(rank + 1), MPI_BYTE, 4, W, r IERR)
		OTHERWISE
		call MPI_Scatterv(outb, counts, places, MPI_BYTE, inb, &
			counts(rank + 1), MPI_BYTE, 4, W IERR)
		FINISH
	case ('allgather')
		BEGIN
		call MPI_Iallgather(outb, 4, MPI_BYTE, inb, 1, MPI_INTEGER, W, &
			r IERR)
		OTHERWISE
		call MPI_Allgather(outb, 4, MPI_BYTE, inb, 1, MPI_INTEGER, &
			W IERR)
		FINISH
	case ('allgatherv')
		counts = [1, 0, 3, 4, 5]
		BEGIN
		call MPI_Iallgatherv(outb, counts(rank + 1), MPI_BYTE, inb, &
			counts, places, MPI_BYTE, W, r IERR)
		OTHERWISE
		call MPI_Allgatherv(outb, counts(rank + 1), MPI_BYTE, inb, &
			counts, places, MPI_BYTE, W IERR)
		FINISH
	case ('alltoall')
		BEGIN
		call MPI_Ialltoall(outb, 8, MPI_BYTE, inb, 2, MPI_INTEGER, W, &
			r IERR)
		OTHERWISE
		call MPI_Alltoall(outb, 8, MPI_BYTE, inb, 2, MPI_INTEGER, &
			W IERR)
		FINISH
	case ('alltoall-in-place')
		BEGIN
		call MPI_Ialltoall(MPI_IN_PLACE, 0, MPI_BYTE, inb, 1, &
			MPI_INTEGER, W, r IERR)
		OTHERWISE
		call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_BYTE, inb, 1, &
			MPI_INTEGER, W IERR)
		FINISH
	case ('alltoallv')
		do k = 0, 2
			counts(k + 1) = merge(0, 10 * rank + k, rank + k == 1)
			more(k + 1) = merge(0, 10 * k + rank, rank + k == 1)
		end do
		BEGIN
		call MPI_Ialltoallv(outb, counts, places, MPI_BYTE, inb, more, &
			places, MPI_BYTE, W, r IERR)
		OTHERWISE
		call MPI_Alltoallv(outb, counts, places, MPI_BYTE, inb, more, &
			places, MPI_BYTE, W IERR)
		FINISH
	case ('alltoallw')
		counts(1:3) = [1, 2, 3]
		more = rank + 1
		from = types(rank + 1)
		BEGIN
		call MPI_Ialltoallw(outb, counts, places, types, inb, more, &
			places, from, W, r IERR)
		OTHERWISE
		call MPI_Alltoallw(outb, counts, places, types, inb, more, &
			places, from, W IERR)
		FINISH
	case ('alltoallw-in-place')
		counts(1:3) = [rank, rank + 1, rank + 2]
		types = MPI_INTEGER
		BEGIN
		call MPI_Ialltoallw(MPI_IN_PLACE, counts, places, types, inb, &
			counts, places, types, W, r IERR)
		OTHERWISE
		call MPI_Alltoallw(MPI_IN_PLACE, counts, places, types, inb, &
			counts, places, types, W IERR)
		FINISH
	case ('reduce-scatter')
		counts = [1, 2, 0, 4, 5]
		BEGIN
		call MPI_Ireduce_scatter(outb, inb, counts, MPI_INTEGER, &
			MPI_SUM, W, r IERR)
		OTHERWISE
		call MPI_Reduce_scatter(outb, inb, counts, MPI_INTEGER, &
			MPI_SUM, W IERR)
		FINISH
	case ('reduce-scatter-block')
		BEGIN
		call MPI_Ireduce_scatter_block(outb, inb, 3, MPI_INTEGER, &
			MPI_SUM, W, r IERR)
		OTHERWISE
		call MPI_Reduce_scatter_block(outb, inb, 3, MPI_INTEGER, &
			MPI_SUM, W IERR)
		FINISH
	case ('scan')
		BEGIN
		call MPI_Iscan(outb, inb, 2, MPI_INTEGER, MPI_SUM, W, r IERR)
		OTHERWISE
		call MPI_Scan(outb, inb, 2, MPI_INTEGER, MPI_SUM, W IERR)
		FINISH
		BEGIN
		call MPI_Iexscan(outb, inb, 1, MPI_INTEGER, MPI_SUM, W, r IERR)
		OTHERWISE
		call MPI_Exscan(outb, inb, 1, MPI_INTEGER, MPI_SUM, W IERR)
		FINISH
	end select
end subroutine

end program
