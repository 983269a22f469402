# The check at submission, in slurmctld.
# Never unmapped: its thread may hang in a file system.
if HAVE_SLURM
slurmplugin_LTLIBRARIES += job_submit_commplace.la
job_submit_commplace_la_SOURCES = src/plugins/job_submit/job_submit_commplace.c
job_submit_commplace_la_CPPFLAGS = $(slurm_plugin_cppflags)
job_submit_commplace_la_LDFLAGS = $(slurm_plugin_ldflags) -Wl,--version-script=$(srcdir)/src/plugins/compat/job_submit.sym -Wl,-z,nodelete
job_submit_commplace_la_LIBADD = $(slurm_plugin_libadd)
endif
