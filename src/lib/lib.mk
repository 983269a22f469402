# What libcommplace exports: the functions of include/commplace/, over the core.
# When to change the numbers: doc/library.md.
libcommplace_la_SOURCES = src/lib/lib_internal.h src/lib/lib.c \
	src/lib/binding.c src/lib/interleave.c src/lib/mapping.c src/lib/network.c \
	src/lib/options.c src/lib/placement.c src/lib/signature.c \
	src/lib/traffic.c
libcommplace_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/include
libcommplace_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden
libcommplace_la_LIBADD = libcore.la
libcommplace_la_LDFLAGS = -Wl,--gc-sections -version-info 0:0:0 -no-undefined \
	-Wl,--version-script=$(srcdir)/src/lib/commplace.map
libcommplace_la_DEPENDENCIES = libcore.la src/lib/commplace.map
EXTRA_DIST += src/lib/commplace.map

commplaceincludedir = $(includedir)/commplace
commplaceinclude_HEADERS = include/commplace/binding.h \
	include/commplace/commplace.h include/commplace/error.h \
	include/commplace/interleave.h \
	include/commplace/mapping.h include/commplace/network.h \
	include/commplace/options.h include/commplace/placement.h \
	include/commplace/signature.h include/commplace/traffic.h
