# CPL_CHECK_SLURM
# The SPANK plugin needs Slurm's public headers; select, task and job_submit
# need the headers of Slurm's source tree, of exactly the version installed,
# down to the Debian revision: struct layouts are not a stable interface.
AC_DEFUN([CPL_CHECK_SLURM], [
AC_ARG_WITH([slurm],
	[AS_HELP_STRING([--without-slurm], [build library and command only])],
	[], [with_slurm=yes])
AC_ARG_WITH([slurm-source],
	[AS_HELP_STRING([--with-slurm-source=DIR], [Slurm's source tree (see scripts/fetch-slurm-source); no: of the plugins build the SPANK plugin only])],
	[], [with_slurm_source=auto])
AC_ARG_WITH([slurm-plugindir],
	[AS_HELP_STRING([--with-slurm-plugindir=DIR], [where Slurm's plugins are installed])],
	[slurmplugindir=$withval], [slurmplugindir='${libdir}/slurm-wlm'])
AC_ARG_VAR([SLURM_PLUGIN_SYSTEM_DIR], [directory of the stock Slurm plugins (libslurmfull.so)])
cpl_slurm_summary="no (--without-slurm)"
cpl_have_slurm=no
cpl_have_spank=no
AS_IF([test "x$with_slurm" != xno && test "x$with_slurm_source" = xno], [
	AC_CHECK_HEADER([slurm/spank.h], [],
		[AC_MSG_ERROR([slurm/spank.h is missing; on Debian: apt-get install libslurm-dev])])
	cpl_have_spank=yes
	cpl_slurm_summary="the SPANK plugin only, into $slurmplugindir"
])
AS_IF([test "x$with_slurm" != xno && test "x$with_slurm_source" != xno], [
	AS_IF([test "x$with_slurm_source" = xauto], [
		with_slurm_source=
		for d in "$srcdir/.slurm-source" /usr/src/slurm-wlm; do
			AS_IF([test -z "$with_slurm_source" && test -f "$d/META"],
				[with_slurm_source=$d])
		done])
	AS_IF([test -z "$with_slurm_source" || test "x$with_slurm_source" = xyes],
		[AC_MSG_ERROR([no Slurm source tree: give --with-slurm-source=DIR, fetch one with scripts/fetch-slurm-source, or build without plugins: --without-slurm])])
	AS_IF([test ! -f "$with_slurm_source/META"],
		[AC_MSG_ERROR([$with_slurm_source is no Slurm source tree (it has no file META)])])
	SLURM_SOURCE=$(cd "$with_slurm_source" && pwd)
	AC_CHECK_HEADER([slurm/slurm_version.h], [],
		[AC_MSG_ERROR([slurm/slurm_version.h is missing; on Debian: apt-get install libslurm-dev])])
	AC_MSG_CHECKING([for the version of $SLURM_SOURCE])
	cpl_tree_version=$(sed -n 's/^@<:@ 	@:>@*Version:@<:@ 	@:>@*//p' "$SLURM_SOURCE/META")
	cpl_tree_deb=
	AS_IF([test -f "$SLURM_SOURCE/debian/changelog"],
		[cpl_tree_deb=$(sed -n '1s/.*(\(.*\)).*/\1/p' "$SLURM_SOURCE/debian/changelog")])
	AC_MSG_RESULT([$cpl_tree_version ${cpl_tree_deb:+(Debian $cpl_tree_deb)}])
	cpl_v_major=$(echo $cpl_tree_version | cut -d. -f1)
	cpl_v_minor=$(echo $cpl_tree_version | cut -d. -f2)
	cpl_v_micro=$(echo $cpl_tree_version | cut -d. -f3)
	AC_MSG_CHECKING([whether the installed Slurm headers are of that version])
	AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <slurm/slurm_version.h>]],
		[[_Static_assert(SLURM_VERSION_NUMBER == ((((1$cpl_v_major - 100) << 8 | (1$cpl_v_minor - 100)) << 8) | $cpl_v_micro), "version");]])],
		[AC_MSG_RESULT([yes])],
		[AC_MSG_RESULT([no])
		 AC_MSG_ERROR([$SLURM_SOURCE is Slurm $cpl_tree_version, /usr/include/slurm is another version; use the source of the installed one (scripts/fetch-slurm-source)])])
	cpl_installed_deb=
	AS_IF([command -v dpkg-query >/dev/null 2>&1],
		[cpl_installed_deb=$(dpkg-query -W -f '${Version}' slurmctld 2>/dev/null || dpkg-query -W -f '${Version}' libslurm-dev 2>/dev/null)])
	AS_IF([test -n "$cpl_installed_deb" && test -n "$cpl_tree_deb" && test "$cpl_installed_deb" != "$cpl_tree_deb"],
		[AC_MSG_ERROR([$SLURM_SOURCE is Debian revision $cpl_tree_deb, installed is $cpl_installed_deb; fetch the matching source: scripts/fetch-slurm-source])])
	AS_IF([test -z "$SLURM_PLUGIN_SYSTEM_DIR"], [
		for d in /usr/lib/$($CC -dumpmachine | sed 's/-pc-/-/')/slurm-wlm /usr/lib/*/slurm-wlm /usr/lib64/slurm /usr/lib/slurm; do
			AS_IF([test -z "$SLURM_PLUGIN_SYSTEM_DIR" && test -e "$d/libslurmfull.so"],
				[SLURM_PLUGIN_SYSTEM_DIR=$d])
		done])
	AC_SUBST([SLURM_SOURCE])
	cpl_have_slurm=yes
	cpl_have_spank=yes
	cpl_slurm_summary="yes, for Slurm $cpl_tree_version ${cpl_tree_deb:+(Debian $cpl_tree_deb) }into $slurmplugindir"
	AC_DEFINE_UNQUOTED([CPL_SLURM_VERSION_STRING], ["$cpl_tree_version"], [Slurm that the plugins are built for])
])
AC_SUBST([slurmplugindir])
AC_SUBST([SLURM_PLUGIN_SYSTEM_DIR])
AM_CONDITIONAL([HAVE_SLURM], [test "x$cpl_have_slurm" = xyes])
AM_CONDITIONAL([HAVE_SPANK], [test "x$cpl_have_spank" = xyes])
])
