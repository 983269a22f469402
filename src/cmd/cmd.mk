bin_PROGRAMS += commplace
commplace_SOURCES = src/cmd/main.c src/cmd/cmd.h
commplace_LDADD = libcore.la
commplace_SOURCES += src/cmd/inputs.c src/cmd/table.c src/cmd/util.c
commplace_SOURCES += src/cmd/bind.c
commplace_SOURCES += src/cmd/network.c src/cmd/traffic.c src/cmd/traffic_job.c src/cmd/traffic_report.c src/cmd/traffic.h
