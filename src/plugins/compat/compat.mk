# What all plugins that need Slurm's internal headers share. A plugin X is
#
#   slurmplugin_LTLIBRARIES += task_commplace.la
#   task_commplace_la_SOURCES = src/plugins/task/task_commplace.c
#   task_commplace_la_CPPFLAGS = $(slurm_plugin_cppflags)
#   task_commplace_la_LDFLAGS = $(slurm_plugin_ldflags) -Wl,--version-script=$(srcdir)/src/plugins/compat/task.sym
#   task_commplace_la_LIBADD = $(slurm_plugin_libadd)
#
# inside "if HAVE_SLURM". The headers are system headers to the compiler: their
# warnings are not ours. Functions of the daemon stay undefined until it loads
# us, so neither -z defs nor -z now.
#
# The rooms above (src/plugins/task, select, job_submit) are libraries of their
# own, which the compiler is shown no header of Slurm for: what depends on its
# version cannot get there.
slurmplugin_LTLIBRARIES =
slurm_room_cppflags = -I$(srcdir)/src/plugins/compat -I$(srcdir)/src $(AM_CPPFLAGS)
slurm_plugin_cppflags = -I$(srcdir)/src/plugins/compat/include -I$(srcdir)/src/plugins/compat $(AM_CPPFLAGS) $(SLURM_CPPFLAGS) -isystem $(SLURM_SOURCE) -DCPL_SLURM_VERSION_STRING='"$(SLURM_VERSION)"' -DCPL_SLURM_CONF_DIR='"$(SLURM_CONF_DIR)"'
slurm_plugin_ldflags = -module -avoid-version -shared -Wl,-z,lazy -Wl,--gc-sections
slurm_plugin_libadd = libcplslurm.la libsite.la libnode.la libbase.la $(JANSSON_LIBS)
# Those in slurmctld: what decides is another process.
slurm_door_libadd = libcplslurm.la libdoor.la libnode.la libbase.la

if HAVE_SLURM
noinst_LTLIBRARIES += libcplslurm.la
libcplslurm_la_SOURCES = src/plugins/compat/slurm_compat.c src/plugins/compat/slurm_share.c src/plugins/compat/layout.c src/plugins/compat/conf_size.c src/plugins/compat/layout.h src/plugins/compat/layout_fields.h
libcplslurm_la_CPPFLAGS = $(slurm_plugin_cppflags)
endif
EXTRA_DIST += src/plugins/compat/SLURM-CALLS.md src/plugins/compat/include/config.h src/plugins/compat/slurm_compat.h src/plugins/compat/slurm_compat_ctld.h src/plugins/compat/slurm_compat_slurmd.h src/plugins/compat/slurm_share.h src/plugins/compat/daemon.h src/plugins/compat/cgroup_names.h src/plugins/compat/slurmd.h src/plugins/compat/series.h src/plugins/compat/ctld.h src/plugins/compat/select_hooks.h src/plugins/compat/task.sym src/plugins/compat/job_submit.sym
