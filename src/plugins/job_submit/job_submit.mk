# The check at submission, in slurmctld.
if HAVE_SLURM
# What no header of Slurm is needed for, see compat.mk.
noinst_LTLIBRARIES += libsubmitroom.la
libsubmitroom_la_SOURCES = src/plugins/job_submit/submit.c \
	src/plugins/job_submit/submit.h
libsubmitroom_la_CPPFLAGS = $(slurm_room_cppflags)

# Never unmapped: its thread may hang in a file system.
slurmplugin_LTLIBRARIES += job_submit_commplace.la
job_submit_commplace_la_SOURCES = src/plugins/compat/ctld_guard.c src/plugins/compat/submit_hooks.c src/plugins/compat/submit_planes.c src/plugins/compat/submit_planes.h
job_submit_commplace_la_CPPFLAGS = $(slurm_plugin_cppflags) -I$(srcdir)/src/plugins/job_submit
job_submit_commplace_la_LDFLAGS = $(slurm_plugin_ldflags) -Wl,--version-script=$(srcdir)/src/plugins/compat/job_submit.sym -Wl,-z,nodelete
job_submit_commplace_la_LIBADD = libsubmitroom.la $(slurm_door_libadd)
endif
