if HAVE_SLURM
# What no header of Slurm is needed for, see compat.mk.
noinst_LTLIBRARIES += libselectroom.la
libselectroom_la_SOURCES = src/plugins/select/engine.c \
	src/plugins/select/decide.c src/plugins/select/select_internal.h
libselectroom_la_CPPFLAGS = $(slurm_room_cppflags)

# nodelete: a worker that a file system holds when the plugin ends must find its
# code still there.
slurmplugin_LTLIBRARIES += select_cons_tres_commplace.la
select_cons_tres_commplace_la_SOURCES = \
	src/plugins/compat/select_hooks.c src/plugins/compat/select_hooks.h \
	src/plugins/compat/select_stock.c src/plugins/compat/ctld.h \
	src/plugins/compat/ctld_internal.h \
	src/plugins/compat/ctld_nodes.c src/plugins/compat/ctld_record.c src/plugins/compat/ctld_steps.c src/plugins/compat/ctld_layout.c \
	src/plugins/compat/ctld_guard.c src/plugins/compat/ctld_install.c \
	src/plugins/compat/ctld_test.c src/plugins/compat/ctld_units.c src/plugins/compat/ctld_usage.c
if !HAVE_SLURM_SWITCH
select_cons_tres_commplace_la_SOURCES += src/plugins/compat/select_jobinfo.c
endif
select_cons_tres_commplace_la_CPPFLAGS = $(slurm_plugin_cppflags) -I$(srcdir)/src/plugins/select
select_cons_tres_commplace_la_LDFLAGS = $(slurm_plugin_ldflags) -Wl,-z,nodelete -Wl,--version-script=$(srcdir)/src/plugins/select/select.sym
select_cons_tres_commplace_la_LIBADD = libselectroom.la $(slurm_door_libadd)
endif
EXTRA_DIST += src/plugins/select/select.sym src/plugins/compat/select_jobinfo.c
