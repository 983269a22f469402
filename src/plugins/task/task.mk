if HAVE_SLURM
# What no header of Slurm is needed for, see compat.mk.
noinst_LTLIBRARIES += libtaskroom.la
libtaskroom_la_SOURCES = src/plugins/task/cgroup.c src/plugins/task/plan.c \
	src/plugins/task/file.c src/plugins/task/sweep.c \
	src/plugins/task/near.c src/plugins/task/task_internal.h
libtaskroom_la_CPPFLAGS = $(slurm_room_cppflags)

slurmplugin_LTLIBRARIES += task_commplace.la
task_hooks = src/plugins/compat/task_hooks.c \
	src/plugins/compat/slurmd_daemon.c src/plugins/compat/slurmd_gres.c \
	src/plugins/compat/slurmd_launch.c
task_libadd = libtaskroom.la $(slurm_plugin_libadd) $(HWLOC_LIBS)
task_commplace_la_SOURCES = $(task_hooks)
# What a build with sanitizers does not find out to be of no use here.
nodist_task_commplace_la_SOURCES = $(commplaced_tables)
task_commplace_la_CPPFLAGS = $(slurm_plugin_cppflags) -I$(srcdir)/src/plugins/task
task_commplace_la_LDFLAGS = $(slurm_plugin_ldflags) -Wl,-z,nodelete -Wl,--version-script=$(srcdir)/src/plugins/compat/task.sym
task_commplace_la_LIBADD = $(task_libadd)
endif
