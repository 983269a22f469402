# CPL_CHECK_SLURM
# The SPANK plugin needs Slurm's public headers; the others need the headers of
# Slurm's source tree, of exactly the version installed, in Debian down to the
# revision: struct layouts are not a stable interface.
#
# Trees: a release of SchedMD or a checkout of its repository, Debian's source
# package, or the headers of one. Installed Slurms: Debian's packages, SchedMD's
# (slurm-smd), rpm's, or a prefix.

# Series that the plugins are written for, and the releases they were tested with.
m4_define([CPL_SLURM_SERIES], [22.05, 23.11, 24.05, 24.11, 25.05, 25.11, 26.05 and 26.11])
m4_define([CPL_SLURM_TESTED], [22.05.8 23.11.11 24.05.8 24.11.5 25.05.8 25.11.7 26.05.5])

AC_DEFUN([CPL_CHECK_SLURM], [
AC_ARG_WITH([slurm],
	[AS_HELP_STRING([--with-slurm=PREFIX], [where Slurm is installed (default: the system's own directories); then commplace's own prefix is the same unless --prefix says otherwise])
AS_HELP_STRING([--without-slurm], [build library and command only])],
	[], [with_slurm=yes])
AC_ARG_WITH([slurm-source],
	[AS_HELP_STRING([--with-slurm-source=DIR], [Slurm's source tree (see scripts/fetch-slurm-source); no: of the plugins build the SPANK plugin only])],
	[], [with_slurm_source=auto])
AC_ARG_WITH([slurm-plugindir],
	[AS_HELP_STRING([--with-slurm-plugindir=DIR], [where the plugins go (default: with --with-slurm=PREFIX where that Slurm looks; else libdir/slurm-wlm, or libdir/slurm where Slurm's own are in a directory of that name)])],
	[], [with_slurm_plugindir=])
AC_ARG_WITH([slurm-sysconfdir],
	[AS_HELP_STRING([--with-slurm-sysconfdir=DIR], [where slurm.conf and commplace.conf are (default: where that Slurm looks; else SYSCONFDIR/slurm, or /etc/slurm without --sysconfdir)])],
	[], [with_slurm_sysconfdir=])
AC_ARG_VAR([SLURM_PLUGIN_SYSTEM_DIR], [directory of the stock Slurm plugins (libslurmfull.so)])
cpl_slurm_summary="no (--without-slurm)"
cpl_have_slurm=no
cpl_have_spank=no
cpl_slurm_series=0
cpl_slurm_include=/usr/include
SLURM_CPPFLAGS=
SLURM_PREFIX=
SLURM_VERSION=
AS_CASE([$with_slurm], [yes|no], [], [
	AS_IF([test ! -f "$with_slurm/include/slurm/slurm_version.h"],
		[AC_MSG_ERROR([--with-slurm=$with_slurm: there is no include/slurm/slurm_version.h])])
	with_slurm=$(cd "$with_slurm" && pwd)
	cpl_slurm_include=$with_slurm/include
	SLURM_CPPFLAGS="-isystem $cpl_slurm_include"
	SLURM_PREFIX=$with_slurm
	# Each Slurm of a host has its commplace.
	ac_default_prefix=$with_slurm])
AS_IF([test "x$with_slurm" != xno && test -z "$SLURM_PLUGIN_SYSTEM_DIR"], [
	AS_CASE([$with_slurm], [yes],
		[cpl_libdirs="/usr/lib/$($CC -dumpmachine | sed 's/-pc-/-/') /usr/lib/*-linux-gnu* /usr/lib64 /usr/lib"],
		[cpl_libdirs="$with_slurm/lib64 $with_slurm/lib $with_slurm/lib/*"])
	for d in $cpl_libdirs; do
		for n in slurm-wlm slurm; do
			AS_IF([test -z "$SLURM_PLUGIN_SYSTEM_DIR" && test -e "$d/$n/libslurmfull.so"],
				[SLURM_PLUGIN_SYSTEM_DIR=$d/$n])
		done
	done])
CPL_ASK_SLURM([${SLURM_PLUGIN_SYSTEM_DIR:+$SLURM_PLUGIN_SYSTEM_DIR/libslurmfull.so}])
AS_IF([test -z "$cpl_slurm_looks"], [cpl_slurm_looks=$SLURM_PLUGIN_SYSTEM_DIR])
AS_IF([test -z "$cpl_slurm_conf_dir"], [
	AS_IF([test -n "$SLURM_PREFIX"], [cpl_slurm_conf_dir=$SLURM_PREFIX/etc],
		[test "x$sysconfdir" = 'x${prefix}/etc'], [cpl_slurm_conf_dir=/etc/slurm],
		[cpl_slurm_conf_dir=$sysconfdir/slurm])])
AS_IF([test -n "$with_slurm_sysconfdir"], [cpl_slurm_conf_dir=$with_slurm_sysconfdir])
CPL_EXPAND([cpl_slurm_conf_dir], [$cpl_slurm_conf_dir])
# Not in commplace-config.h: what knows no Slurm is the same for all of them.
AC_SUBST([SLURM_CONF_DIR], [$cpl_slurm_conf_dir])
AC_SUBST([SLURM_BINDIR], [${SLURM_PREFIX:-/usr}/bin])
slurmplugindir=$with_slurm_plugindir
AS_IF([test -n "$slurmplugindir"], [:],
	[test -n "$SLURM_PREFIX" && test -n "$cpl_slurm_looks"],
		[slurmplugindir=$cpl_slurm_looks],
	[AS_CASE([$SLURM_PLUGIN_SYSTEM_DIR], [*/slurm],
		[slurmplugindir='${libdir}/slurm'], [slurmplugindir='${libdir}/slurm-wlm'])])
CPL_EXPAND([cpl_plugins_into], [$slurmplugindir])
AS_IF([test -n "$cpl_slurm_looks" && test "x$cpl_slurm_looks" != "x$cpl_plugins_into"],
	[cpl_plugins_into="$cpl_plugins_into (that Slurm looks in $cpl_slurm_looks: name both in PluginDir)"])
cpl_saved_CPPFLAGS=$CPPFLAGS
CPPFLAGS="$CPPFLAGS $SLURM_CPPFLAGS"
AS_IF([test "x$with_slurm" != xno], [
	AC_CHECK_HEADER([slurm/spank.h], [],
		[AC_MSG_ERROR([slurm/spank.h is missing; on Debian: apt-get install libslurm-dev, with the packages of SchedMD slurm-smd-dev or slurm-devel; or --with-slurm=PREFIX, or --without-slurm])])
	cpl_have_spank=yes
	cpl_slurm_summary="the SPANK plugin only, into $cpl_plugins_into"
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
	AS_IF([test ! -f "$with_slurm_source/src/common/slurm_xlator.h"],
		[AC_MSG_ERROR([$with_slurm_source has no src/common/slurm_xlator.h: Slurm's source tree, or all headers of it, are needed])])
	SLURM_SOURCE=$(cd "$with_slurm_source" && pwd)
	AC_MSG_CHECKING([for the version of $SLURM_SOURCE])
	cpl_tree_version=$(sed -n 's/^@<:@ 	@:>@*Version:@<:@ 	@:>@*//p' "$SLURM_SOURCE/META")
	cpl_tree_deb=
	AS_IF([test -f "$SLURM_SOURCE/debian/changelog" && grep -q '^slurm-wlm' "$SLURM_SOURCE/debian/changelog"],
		[cpl_tree_deb=$(sed -n '1s/.*(\(.*\)).*/\1/p' "$SLURM_SOURCE/debian/changelog")])
	AC_MSG_RESULT([$cpl_tree_version ${cpl_tree_deb:+(Debian $cpl_tree_deb)}])
	cpl_v_major=$(echo $cpl_tree_version | cut -d. -f1)
	cpl_v_minor=$(echo $cpl_tree_version | cut -d. -f2)
	cpl_v_micro=$(echo $cpl_tree_version | cut -d. -f3 | sed 's/@<:@^0-9@:>@.*//')
	cpl_slurm_series=$cpl_v_major$cpl_v_minor
	AS_CASE([$cpl_slurm_series], [2205|2311|2405|2411|2505|2511|2605|2611], [],
		[AC_MSG_ERROR([$SLURM_SOURCE is Slurm $cpl_tree_version; the plugins are written for the series CPL_SLURM_SERIES])])
	AC_MSG_CHECKING([whether $cpl_slurm_include/slurm is of that version])
	AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <slurm/slurm_version.h>]],
		[[_Static_assert(SLURM_VERSION_NUMBER == ((((1$cpl_v_major - 100) << 8 | (1$cpl_v_minor - 100)) << 8) | $cpl_v_micro), "version");]])],
		[AC_MSG_RESULT([yes])],
		[AC_MSG_RESULT([no])
		 AC_MSG_ERROR([$SLURM_SOURCE is Slurm $cpl_tree_version, $cpl_slurm_include/slurm is another version; use the source of the installed one (scripts/fetch-slurm-source), or --with-slurm=PREFIX])])
	AC_MSG_CHECKING([whether the installed Slurm is of that version])
	cpl_installed=
	AS_CASE([$with_slurm], [yes], [cpl_sbindirs="/usr/sbin /usr/bin"],
		[cpl_sbindirs="$with_slurm/sbin $with_slurm/bin"])
	for d in $cpl_sbindirs; do
		for n in slurmctld slurmd; do
			AS_IF([test -z "$cpl_installed" && test -x "$d/$n"],
				[cpl_installed=$("$d/$n" -V 2>/dev/null | sed -n '1s/.* //p')])
		done
	done
	AS_CASE([$cpl_installed],
		[''], [AC_MSG_RESULT([not known: neither slurmctld nor slurmd is installed])],
		[$cpl_tree_version|$cpl_tree_version-*], [AC_MSG_RESULT([yes])],
		[AC_MSG_RESULT([no, $cpl_installed])
		 AC_MSG_ERROR([$SLURM_SOURCE and $cpl_slurm_include/slurm are Slurm $cpl_tree_version, installed is $cpl_installed, which would not load the plugins; use its headers, or --with-slurm=PREFIX])])
	AC_MSG_CHECKING([whether its spank.h is that of the tree])
	AS_IF([test ! -f "$SLURM_SOURCE/slurm/spank.h"], [AC_MSG_RESULT([the tree has none])],
		[cmp -s "$SLURM_SOURCE/slurm/spank.h" "$cpl_slurm_include/slurm/spank.h"],
		[AC_MSG_RESULT([yes])],
		[AC_MSG_RESULT([no])
		 AC_MSG_WARN([$cpl_slurm_include/slurm/spank.h and $SLURM_SOURCE/slurm/spank.h differ: is the tree that of the installed Slurm?])])
	cpl_installed_deb=
	AS_IF([test "x$with_slurm" = xyes && command -v dpkg-query >/dev/null 2>&1],
		[cpl_installed_deb=$(dpkg-query -W -f '${source:Version}' slurmctld 2>/dev/null || dpkg-query -W -f '${source:Version}' libslurm-dev 2>/dev/null)])
	AS_IF([test -n "$cpl_installed_deb" && test -n "$cpl_tree_deb" && test "$cpl_installed_deb" != "$cpl_tree_deb"],
		[AC_MSG_ERROR([$SLURM_SOURCE is Debian revision $cpl_tree_deb, installed is $cpl_installed_deb; fetch the matching source: scripts/fetch-slurm-source])])
	AS_CASE([" CPL_SLURM_TESTED "], [*" $cpl_tree_version "*], [],
		[AC_MSG_WARN([Slurm $cpl_tree_version was never tested with commplace (tested: CPL_SLURM_TESTED); where its daemons' structures differ from these headers', the plugins leave everything to Slurm and say so])])
	cpl_have_slurm=yes
	cpl_slurm_summary="yes, for Slurm $cpl_tree_version ${cpl_tree_deb:+(Debian $cpl_tree_deb) }of $SLURM_SOURCE, with $cpl_slurm_include/slurm/spank.h, into $cpl_plugins_into"
	SLURM_VERSION=$cpl_tree_version
])
CPPFLAGS=$cpl_saved_CPPFLAGS
AC_SUBST([SLURM_SOURCE])
AC_SUBST([SLURM_CPPFLAGS])
AC_SUBST([SLURM_PREFIX])
AC_SUBST([SLURM_VERSION])
AC_SUBST([slurmplugindir])
AC_SUBST([SLURM_PLUGIN_SYSTEM_DIR])
AM_CONDITIONAL([HAVE_SLURM], [test "x$cpl_have_slurm" = xyes])
AM_CONDITIONAL([HAVE_SPANK], [test "x$cpl_have_spank" = xyes])
# switch/commplace: from the hooks of 24.05 on.
AM_CONDITIONAL([HAVE_SLURM_SWITCH], [test "x$cpl_have_slurm" = xyes && test "$cpl_slurm_series" -ge 2405])
])
