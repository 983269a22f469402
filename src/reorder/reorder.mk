# MPI's own reordering: libcommplace-reorder.so. As the recorder it is compiled
# against the MPI library's headers, and linked to nothing of it.
reorder_plan = src/reorder/plan.c src/reorder/plan.h
if BUILD_RECORDER
pkglib_LTLIBRARIES += libcommplace-reorder.la
libcommplace_reorder_la_SOURCES = src/reorder/reorder.c \
	src/reorder/fortran.c $(reorder_plan) \
	src/record/pmpi.c src/record/pmpi.h
libcommplace_reorder_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/src $(MPI_CPPFLAGS)
libcommplace_reorder_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden
libcommplace_reorder_la_LDFLAGS = -module -avoid-version -Wl,--gc-sections \
	-export-symbols-regex '^(MPI|mpi)_'
libcommplace_reorder_la_LIBADD = libcore.la
endif
