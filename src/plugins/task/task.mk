task_sources = src/plugins/compat/task_hooks.c src/plugins/task/cgroup.c \
	src/plugins/task/plan.c src/plugins/task/file.c \
	src/plugins/task/sweep.c \
	src/plugins/task/near.c \
	src/plugins/compat/slurmd_gres.c \
	src/plugins/compat/slurmd_daemon.c \
	src/plugins/task/task_internal.h

if HAVE_SLURM
slurmplugin_LTLIBRARIES += task_commplace.la
task_commplace_la_SOURCES = $(task_sources)
task_commplace_la_CPPFLAGS = $(slurm_plugin_cppflags) -I$(srcdir)/src/plugins/task
task_commplace_la_LDFLAGS = $(slurm_plugin_ldflags) -Wl,-z,nodelete -Wl,--version-script=$(srcdir)/src/plugins/compat/task.sym
task_commplace_la_LIBADD = $(slurm_plugin_libadd) $(HWLOC_LIBS)
endif
