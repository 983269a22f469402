bin_PROGRAMS += commplace
commplace_SOURCES = src/cmd/main.c src/cmd/cmd.h
commplace_LDADD = libcore.la
