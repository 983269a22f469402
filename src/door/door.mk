# The way from slurmctld's plugins to commplaced, and that program.
noinst_LTLIBRARIES += libdoor.la
libdoor_la_SOURCES = src/door/link.h src/door/link.c src/door/forms.h src/door/forms.c \
	src/door/client.h src/door/client_internal.h src/door/client.c \
	src/door/hear.c src/door/live.c src/door/questions.c src/door/child.c
libdoor_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/src -DCPL_COMMPLACED='"$(sbindir)/commplaced"'
libdoor_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden

if HAVE_SLURM
sbin_PROGRAMS += commplaced
libexec_PROGRAMS += commplace-layout
else
check_PROGRAMS += commplaced commplace-layout
endif
# Not libdoor: what that calls commplaced by has the engine's own names.
commplaced_SOURCES = src/commplaced/commplaced.c src/commplaced/tree.h src/commplaced/tree.c src/door/link.h src/door/link.c src/door/forms.h src/door/forms.c
commplaced_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/src
nodist_commplaced_SOURCES = $(commplaced_tables)
commplaced_LDFLAGS = -Wl,--gc-sections
if LAB_MAPPERS
commplaced_lab = liblab.la
endif
commplaced_LDADD = $(commplaced_lab) libsite.la libnode.la libbase.la

# A process of its own, since it reads files of others inside of a daemon's start.
commplace_layout_SOURCES = src/layout/layout.c
commplace_layout_CFLAGS = $(AM_CFLAGS) $(LIBDW_CFLAGS)
commplace_layout_LDADD = $(LIBDW_LIBS)
