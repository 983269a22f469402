# CPL_ASK_SLURM(LIBSLURMFULL)
# Where the Slurm of that libslurmfull.so looks for its plugins and for slurm.conf,
# by its own word: cpl_slurm_looks and cpl_slurm_conf_dir, empty where it does not
# answer (another machine's, or no libslurmfull.so).
AC_DEFUN([CPL_ASK_SLURM], [
cpl_slurm_looks=
cpl_slurm_conf_dir=
AC_MSG_CHECKING([where that Slurm looks for plugins and slurm.conf])
cpl_saved_LIBS=$LIBS
LIBS="-ldl $LIBS"
AS_IF([test -n "$1"], [
	AC_RUN_IFELSE([AC_LANG_PROGRAM([[
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
]], [[
	void *so = dlopen("$1", RTLD_LAZY);
	char **plugins = so ? dlsym(so, "default_plugin_path") : 0;
	char **conf = so ? dlsym(so, "default_slurm_config_file") : 0;
	char *slash = conf && *conf ? strrchr(*conf, '/') : 0;
	FILE *out = fopen("conftest.slurm", "w");

	if (!plugins || !*plugins || !slash || !out)
		return 1;
	fprintf(out, "%s\n%.*s\n", *plugins, (int)(slash - *conf), *conf);
	return fclose(out) != 0;
]])], [
		cpl_slurm_looks=$(sed -n 1p conftest.slurm)
		cpl_slurm_conf_dir=$(sed -n 2p conftest.slurm)
	], [:], [:])
	rm -f conftest.slurm])
LIBS=$cpl_saved_LIBS
AS_IF([test -n "$cpl_slurm_looks"],
	[AC_MSG_RESULT([$cpl_slurm_looks, $cpl_slurm_conf_dir])],
	[AC_MSG_RESULT([not known])])
])

# CPL_EXPAND(VARIABLE, DIRECTORY)
# What make will make of a directory such as ${libdir}/slurm.
AC_DEFUN([CPL_EXPAND], [
$1=$(
	test "x$prefix" != xNONE || prefix=$ac_default_prefix
	test "x$exec_prefix" != xNONE || exec_prefix=$prefix
	dir="$2"
	while :; do
		AS_CASE([$dir], [*'$'*], [eval "dir=\"$dir\""], [break])
	done
	AS_ECHO(["$dir"]))
])
