# nodelete: a worker that a file system holds when the plugin ends must find its
# code still there.
if HAVE_SLURM
slurmplugin_LTLIBRARIES += select_cons_tres_commplace.la
select_cons_tres_commplace_la_SOURCES = src/plugins/select/select_cons_tres_commplace.c src/plugins/select/stock.c src/plugins/select/select_internal.h src/plugins/select/engine.c src/plugins/select/capacity.c src/plugins/select/place.c src/plugins/select/layout.c src/plugins/select/jobinfo.c
select_cons_tres_commplace_la_CPPFLAGS = $(slurm_plugin_cppflags)
select_cons_tres_commplace_la_LDFLAGS = $(slurm_plugin_ldflags) -Wl,-z,nodelete -Wl,--version-script=$(srcdir)/src/plugins/select/select.sym
select_cons_tres_commplace_la_LIBADD = $(slurm_plugin_libadd)
endif
EXTRA_DIST += src/plugins/select/select.sym
