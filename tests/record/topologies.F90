! SPDX-License-Identifier: GPL-2.0-or-later
! topologies KIND: as topologies.c, in Fortran by mpif.h, mpi or mpi_f08. KIND:
! cart (MPI_CART_CREATE), graph (MPI_GRAPH_CREATE), plain (cart, not reordered).
#ifdef USE_F08
#define COMM type(MPI_Comm)
#else
#define COMM integer
#endif
program topologies
#ifdef USE_F08
  use mpi_f08
#elif defined(USE_MPI)
  use mpi
#endif
  implicit none
#ifdef USE_MPIF
  include 'mpif.h'
#endif
  integer, parameter :: steps = 20
  character(len=64) :: kind, host
  character(len=64), allocatable :: hosts(:)
  double precision :: value, total
  double precision, allocatable :: values(:), got(:)
  integer :: ierror, me, n, i, k, dims(2), neighbours(4)
  integer, allocatable :: index(:), edges(:)
  logical :: periods(2)
  COMM :: made

  call MPI_INIT(ierror)
  call get_command_argument(1, kind)
  dims = (/ 2, 8 /)
  periods = (/ .true., .false. /)
  n = product(dims)
  if (kind == 'graph') then
    ! A ring with the next but one.
    allocate (index(n), edges(4 * n))
    do i = 0, n - 1
      index(i + 1) = 4 * (i + 1)
      edges(4 * i + 1) = modulo(i + 1, n)
      edges(4 * i + 2) = modulo(i - 1, n)
      edges(4 * i + 3) = modulo(i + 2, n)
      edges(4 * i + 4) = modulo(i - 2, n)
    end do
    call MPI_GRAPH_CREATE(MPI_COMM_WORLD, n, index, edges, .true., made, ierror)
    call MPI_COMM_RANK(made, me, ierror)
    call MPI_GRAPH_NEIGHBORS(made, me, 4, neighbours, ierror)
  else
    call MPI_CART_CREATE(MPI_COMM_WORLD, 2, dims, periods, kind == 'cart', made, &
                         ierror)
    call MPI_COMM_RANK(made, me, ierror)
    call MPI_CART_SHIFT(made, 0, 1, neighbours(1), neighbours(2), ierror)
    call MPI_CART_SHIFT(made, 1, 1, neighbours(3), neighbours(4), ierror)
  end if
  allocate (got(4))
  value = 1 + me
  do i = 1, steps
    got = 0
    call MPI_NEIGHBOR_ALLGATHER(value, 1, MPI_DOUBLE_PRECISION, got, 1, &
                                MPI_DOUBLE_PRECISION, made, ierror)
    ! By rank, so that the sum is the same to the last bit.
    total = value
    do n = 0, product(dims) - 1
      do k = 1, 4
        if (neighbours(k) == n) total = total + got(k) * (1 + modulo(n, 3))
      end do
    end do
    value = total / 9
  end do
  n = product(dims)
  call get_environment_variable('SLURMD_NODENAME', host)
  allocate (hosts(n), values(n))
  call MPI_GATHER(host, 64, MPI_CHARACTER, hosts, 64, MPI_CHARACTER, 0, made, ierror)
  call MPI_GATHER(value, 1, MPI_DOUBLE_PRECISION, values, 1, MPI_DOUBLE_PRECISION, 0, &
                  made, ierror)
  if (me == 0) then
    do i = 0, n - 1
      print '(a,i0,1x,es24.16)', 'value ', i, values(i + 1)
      print '(a,i0,1x,a)', 'at ', i, trim(hosts(i + 1))
      if (kind == 'graph') then
        print '(a,i0,1x,i0)', 'edge ', i, modulo(i + 1, n)
        print '(a,i0,1x,i0)', 'edge ', i, modulo(i + 2, n)
      else
        if (modulo(i, 8) < 7) print '(a,i0,1x,i0)', 'edge ', i, i + 1
        if (i < 8) print '(a,i0,1x,i0)', 'edge ', i, i + 8
      end if
    end do
  end if
  call MPI_FINALIZE(ierror)
end program
