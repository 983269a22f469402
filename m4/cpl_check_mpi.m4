# CPL_CHECK_MPI
# The recorder is compiled with the MPI's own compiler wrapper.
AC_DEFUN([CPL_CHECK_MPI], [
AC_ARG_WITH([mpi],
	[AS_HELP_STRING([--without-mpi], [do not build the MPI recorder])],
	[], [with_mpi=auto])
AC_ARG_VAR([MPICC], [MPI C compiler wrapper])
cpl_have_mpi=no
cpl_mpi_summary="no (--without-mpi)"
AS_IF([test "x$with_mpi" != xno], [
	AC_CHECK_PROGS([MPICC], [mpicc], [])
	AC_CHECK_PROGS([MPIFORT], [mpifort mpif90], [])
	AS_IF([test -n "$MPICC"], [cpl_have_mpi=yes; cpl_mpi_summary="yes, with $MPICC"],
		[cpl_mpi_summary="no (no mpicc)"
		 AS_IF([test "x$with_mpi" = xyes], [AC_MSG_ERROR([--with-mpi given, but there is no mpicc])])])
])
AM_CONDITIONAL([HAVE_MPI], [test "x$cpl_have_mpi" = xyes])
AM_CONDITIONAL([HAVE_MPIFORT], [test -n "$MPIFORT"])
])
