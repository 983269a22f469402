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
	src/record/program.c src/record/program.h \
	src/record/recorder.c src/record/recorder.h \
	src/record/unseen.c src/record/unseen.h \
	src/core/base/linking.c src/core/base/linking.h \
	src/record/wrap_c.c src/record/wrap_fortran.c
# NCCL's profiler plugin needs neither NCCL nor MPI, nor anything of libcommplace. It
# stays where it is when NCCL closes it.
nccl_pure = src/record/nccl_api.h \
	src/record/nccl_files.c src/record/nccl_files.h \
	src/record/nccl_join.c src/record/nccl_join.h \
	src/record/nccl_count.h src/record/nccl_piece.h src/record/program.h \
	src/record/nccl_reader.c src/record/nccl_reader.h \
	src/record/nccl_who.c src/record/nccl_who.h \
	src/record/writer.c src/record/writer.h
pkglib_LTLIBRARIES += libnccl-profiler-commplace.la
libnccl_profiler_commplace_la_SOURCES = $(nccl_pure) src/record/nccl.c \
	src/record/nccl_count.c src/record/nccl_keep.c src/record/nccl_keep.h \
	src/record/nccl_piece.c src/record/program.c
libnccl_profiler_commplace_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden -pthread
libnccl_profiler_commplace_la_LDFLAGS = -module -avoid-version \
	-export-symbols-regex '^ncclProfiler_v[456]$$' -Wl,-z,nodelete
# `commplace characterize` compiles it where it runs, with the site's MPI.
dist_pkgdata_DATA = src/record/transfer.c
EXTRA_DIST += src/record/calls.list src/record/calls.awk

if BUILD_RECORDER
pkglib_LTLIBRARIES += libcommplace-record.la
libcommplace_record_la_SOURCES = $(record_sources)
libcommplace_record_la_CPPFLAGS = -I$(top_builddir) -I$(srcdir)/src/core $(MPI_CPPFLAGS)
libcommplace_record_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden
libcommplace_record_la_LDFLAGS = -module -avoid-version \
	-export-symbols-regex '^(MPI|mpi)_' $(OLD_DL_LIBS)
$(libcommplace_record_la_OBJECTS): src/record/calls.inc
endif
CLEANFILES += src/record/calls.inc
src/record/calls.inc: src/record/calls.awk src/record/calls.list
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(AWK) -f $(srcdir)/src/record/calls.awk \
		$(srcdir)/src/record/calls.list >$@
