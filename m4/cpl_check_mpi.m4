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
	# Open MPI's wrapper comes without the compiler that it calls.
	AS_IF([test -n "$MPIFORT"], [
		AC_MSG_CHECKING([whether $MPIFORT works])
		echo '      end' >conftest.f
		AS_IF([$MPIFORT -c -o conftest.o conftest.f >&AS_MESSAGE_LOG_FD 2>&1],
			[AC_MSG_RESULT([yes])],
			[AC_MSG_RESULT([no]); MPIFORT=])
		rm -f conftest.f conftest.o
	])
	AS_IF([test -n "$MPICC"], [cpl_have_mpi=yes; cpl_mpi_summary="yes, with $MPICC"],
		[cpl_mpi_summary="no (no mpicc)"
		 AS_IF([test "x$with_mpi" = xyes], [AC_MSG_ERROR([--with-mpi given, but there is no mpicc])])])
])
# Only the headers: the recorder looks the library up when it runs.
AS_IF([test "x$cpl_have_mpi" = xyes], [
	MPI_CPPFLAGS=
	for cpl_flag in $($MPICC --showme:compile 2>/dev/null || $MPICC -show); do
		AS_CASE([$cpl_flag], [-I*|-D*], [AS_VAR_APPEND([MPI_CPPFLAGS], [" $cpl_flag"])])
	done
	cpl_save_CPPFLAGS=$CPPFLAGS
	CPPFLAGS="$CPPFLAGS $MPI_CPPFLAGS"
	AC_CHECK_HEADER([mpi.h], [],
		[cpl_have_mpi=no; cpl_mpi_summary="no ($MPICC names no folder with mpi.h)"])
	CPPFLAGS=$cpl_save_CPPFLAGS
])
AC_SUBST([MPI_CPPFLAGS])
# The recorder is bound into containers, whose C library may be years older: dlopen and
# the like, which moved in glibc 2.34, are taken from where they were before.
AC_CACHE_CHECK([for dlsym of older C libraries], [cpl_cv_old_dl], [
	cpl_cv_old_dl=no
	cpl_save_LIBS=$LIBS
	LIBS="-Wl,--push-state,--no-as-needed,-l:libdl.so.2,--pop-state $LIBS"
	for cpl_version in GLIBC_2.2.5 GLIBC_2.17; do
		AC_LINK_IFELSE([AC_LANG_PROGRAM([[
#include <dlfcn.h>
__asm__(".symver dlsym, dlsym@$cpl_version");
]], [[return dlsym(RTLD_DEFAULT, "x") != 0;]])],
			[cpl_cv_old_dl=$cpl_version; break])
	done
	LIBS=$cpl_save_LIBS
])
OLD_DL_LIBS=
AS_IF([test "x$cpl_cv_old_dl" != xno], [
	AC_DEFINE_UNQUOTED([CPL_OLD_DL], ["$cpl_cv_old_dl"], [Version of dlsym before it moved.])
	OLD_DL_LIBS="-Wl,--push-state,--no-as-needed,-l:libdl.so.2,--pop-state"
])
AC_SUBST([OLD_DL_LIBS])
AM_CONDITIONAL([HAVE_MPI], [test "x$cpl_have_mpi" = xyes])
AM_CONDITIONAL([HAVE_MPIFORT], [test -n "$MPIFORT"])
])
