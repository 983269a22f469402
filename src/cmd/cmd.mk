bin_PROGRAMS += commplace
commplace_SOURCES = src/cmd/main.c src/cmd/cmd.h
commplace_LDADD = libcore.la
commplace_SOURCES += src/cmd/inputs.c src/cmd/options.c src/cmd/options.h src/cmd/table.c src/cmd/util.c
commplace_SOURCES += src/cmd/bind.c src/cmd/bind.h src/cmd/bind_plot.c src/cmd/bind_report.c
commplace_SOURCES += src/cmd/network.c src/cmd/network.h src/cmd/network_import.c src/cmd/traffic.c src/cmd/traffic_job.c src/cmd/traffic_report.c src/cmd/traffic.h
commplace_SOURCES += src/cmd/explain.c src/cmd/explain.h src/cmd/explain_replay.c src/cmd/explain_text.c src/cmd/site_files.c src/cmd/site_files.h src/cmd/status.c
commplace_SOURCES += src/cmd/job_inputs.c src/cmd/job_inputs.h src/cmd/map.c src/cmd/place.c
commplace_SOURCES += src/cmd/record.c
commplace_CPPFLAGS = $(AM_CPPFLAGS) -DCPL_PKGLIBDIR='"$(pkglibdir)"'
commplace_SOURCES += src/cmd/signature.c src/cmd/signature.h src/cmd/signature_show.c
commplace_SOURCES += src/cmd/config.c src/cmd/config_check.c src/cmd/config_check.h src/cmd/config_report.c
commplace_SOURCES += src/cmd/link_stats.c src/cmd/link_stats.h
commplace_SOURCES += src/cmd/job_traffic.c src/cmd/job_traffic.h
commplace_SOURCES += src/cmd/compare.c src/cmd/compare.h src/cmd/compare_report.c src/cmd/compare_run.c src/cmd/compare_names.c
commplace_SOURCES += src/cmd/plot.c src/cmd/plot.h src/cmd/plot_box.c src/cmd/plot_map.c src/cmd/plot_map.h src/cmd/plot_map_dragonfly.c src/cmd/plot_map_torus.c
commplace_SOURCES += src/cmd/map_compare.c src/cmd/map_compare.h src/cmd/map.h src/cmd/map_output.c src/cmd/map_plot.c
# Not in the library: slurmctld shall not run Scotch.
if HAVE_SCOTCH
commplace_SOURCES += src/core/binding/scotch.c src/core/mapping/scotch.c
commplace_LDADD += $(SCOTCH_LIBS)
endif
