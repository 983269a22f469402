# From Slurm 24.05 on: before, the select plugin does this.
if HAVE_SLURM_SWITCH
slurmplugin_LTLIBRARIES += switch_commplace.la
switch_commplace_la_SOURCES = src/plugins/compat/switch_hooks.c \
	src/plugins/compat/switch_wrapped.c src/plugins/compat/switch_hooks.h \
	src/plugins/compat/ctld_steps.c src/plugins/compat/ctld_layout.c src/plugins/compat/ctld_guard.c \
	src/plugins/compat/ctld_install.c
switch_commplace_la_CPPFLAGS = $(slurm_plugin_cppflags)
switch_commplace_la_LDFLAGS = $(slurm_plugin_ldflags) -Wl,--version-script=$(srcdir)/src/plugins/switch/switch.sym
switch_commplace_la_LIBADD = $(slurm_door_libadd)
endif
EXTRA_DIST += src/plugins/switch/switch.sym src/plugins/compat/switch_hooks.c \
	src/plugins/compat/switch_wrapped.c src/plugins/compat/switch_hooks.h
