# The MPI recorder: libcommplace-record.so. Compiled against the MPI library's
# headers, but linked to nothing of it (see pmpi.h), nor to libcommplace.
record_pure = src/record/collectives.c src/record/collectives.h \
	src/record/events.c src/record/events.h \
	src/record/fold.c src/record/fold.h \
	src/record/kinds.c src/record/kinds.h \
	src/record/section.c src/record/section.h \
	src/record/table.c src/record/table.h \
	src/record/writer.c src/record/writer.h
record_sources = $(record_pure) \
	src/record/count.c src/record/count.h \
	src/record/events_file.c src/record/events_file.h \
	src/record/functions.h \
	src/record/peers.c src/record/peers.h \
	src/record/pmpi.c src/record/pmpi.h \
	src/record/recorder.c src/record/recorder.h \
	src/record/wrap_c.c src/record/wrap_fortran.c
# `commplace characterize` compiles it where it runs, with the site's MPI.
dist_pkgdata_DATA = src/record/transfer.c
EXTRA_DIST += src/record/calls.list src/record/calls.awk

if BUILD_RECORDER
pkglib_LTLIBRARIES += libcommplace-record.la
libcommplace_record_la_SOURCES = $(record_sources)
libcommplace_record_la_CPPFLAGS = -I$(top_builddir) $(MPI_CPPFLAGS)
libcommplace_record_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden
libcommplace_record_la_LDFLAGS = -module -avoid-version \
	-export-symbols-regex '^(MPI|mpi)_'
$(libcommplace_record_la_OBJECTS): src/record/calls.inc
endif
CLEANFILES += src/record/calls.inc
src/record/calls.inc: src/record/calls.awk src/record/calls.list
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(AWK) -f $(srcdir)/src/record/calls.awk \
		$(srcdir)/src/record/calls.list >$@
