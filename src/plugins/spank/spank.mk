# The user options. Public headers only, so it builds without Slurm's source.
if HAVE_SPANK
slurmplugin_LTLIBRARIES += spank_commplace.la
spank_commplace_la_SOURCES = src/plugins/spank/spank_commplace.c src/plugins/spank/record.c src/plugins/spank/record.h src/plugins/spank/keep.c src/plugins/spank/keep.h src/plugins/spank/launchers.c src/plugins/spank/launchers.h src/plugins/compat/spank_options.c src/plugins/compat/spank_options.h src/plugins/compat/conf_size.c
spank_commplace_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/src/plugins/compat $(SLURM_CPPFLAGS) -DCPL_PKGLIBDIR='"$(pkglibdir)"' -DCPL_BINDIR='"$(bindir)"'
spank_commplace_la_LDFLAGS = -module -avoid-version -shared -Wl,-z,lazy -Wl,--gc-sections -Wl,--version-script=$(srcdir)/src/plugins/spank/spank.sym
spank_commplace_la_LIBADD = libnode.la libbase.la
endif
EXTRA_DIST += src/plugins/spank/spank.sym
