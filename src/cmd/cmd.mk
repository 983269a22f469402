bin_PROGRAMS += commplace
commplace_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/src -I$(srcdir)/src/cmd -DCPL_PKGLIBDIR='"$(pkglibdir)"' -DCPL_PKGDATADIR='"$(pkgdatadir)"' -DCPL_SLURM_CONF_DIR='"$(SLURM_CONF_DIR)"' -DCPL_SLURM_BINDIR='"$(SLURM_BINDIR)"' -DCPL_SLURM_PLUGIN_DIR='"$(slurmplugindir)"'
commplace_LDADD = libcore.la

plot_sources = src/cmd/plot/plot.h src/cmd/plot/svg.c src/cmd/plot/box.c \
	src/cmd/plot/link_map.h src/cmd/plot/link_map.c \
	src/cmd/plot/link_map_draw.c \
	src/cmd/plot/link_map_matrix.c src/cmd/plot/link_map_planes.c

# What subcommands share, then one line for each.
commplace_SOURCES = src/cmd/main.c src/cmd/cmd.h src/cmd/algorithms.h src/cmd/util.c src/cmd/table.c src/cmd/options.c src/cmd/options.h src/cmd/help.c src/cmd/help.h
commplace_SOURCES += src/cmd/html.c src/cmd/html.h src/cmd/openmetrics.c src/cmd/openmetrics.h src/cmd/plot/bars.c
commplace_SOURCES += src/cmd/inputs.c src/cmd/job_inputs.c src/cmd/job_inputs.h src/cmd/job_traffic.c src/cmd/job_traffic.h src/cmd/communication.c src/cmd/communication.h src/cmd/site_files.c src/cmd/site_files.h src/cmd/slurm_search.c src/cmd/slurm_search.h src/cmd/slurm_shell.c src/cmd/slurm_shell.h
commplace_SOURCES += src/cmd/spread.c src/cmd/spread.h
commplace_SOURCES += $(plot_sources)
commplace_SOURCES += src/cmd/benefit.c src/cmd/benefit.h src/cmd/benefit_report.c src/cmd/benefit_html.c src/cmd/benefit_join.c src/cmd/benefit_sacct.c src/cmd/benefit_sacct.h src/cmd/plot/gains.c
commplace_SOURCES += src/cmd/bench.c
commplace_SOURCES += src/cmd/bind.c src/cmd/bind.h src/cmd/bind_report.c src/cmd/plot/binding.c
commplace_SOURCES += src/cmd/campaign.c src/cmd/campaign.h src/cmd/campaign_report.c
commplace_SOURCES += src/cmd/characterize.c src/cmd/characterize.h
commplace_SOURCES += src/cmd/compare.c src/cmd/compare.h src/cmd/compare_report.c src/cmd/compare_run.c
commplace_SOURCES += src/cmd/config.c src/cmd/config.h src/cmd/slurm_conf.c src/cmd/slurm_conf.h src/cmd/slurm_reader.c src/cmd/slurm_reader.h src/cmd/config_report.c src/cmd/config_for.c
commplace_SOURCES += src/cmd/doctor.c src/cmd/doctor.h src/cmd/doctor_checks.c src/cmd/doctor_checks.h
commplace_SOURCES += src/cmd/explain.c src/cmd/explain.h src/cmd/explain_tables.c src/cmd/explain_text.c src/cmd/explain_html.c
commplace_SOURCES += src/cmd/features.c
commplace_SOURCES += src/cmd/interleave.c
commplace_SOURCES += src/cmd/learn.c src/cmd/learn.h src/cmd/learn_options.c src/cmd/learn_jobs.c src/cmd/learn_placed.c src/cmd/learn_records.c
commplace_SOURCES += src/cmd/map.c src/cmd/map.h src/cmd/map_compare.c src/cmd/map_frameworks.c src/cmd/map_output.c src/cmd/map_repair.c src/cmd/plot/matrix.c
commplace_SOURCES += src/cmd/network.c src/cmd/network_against.c src/cmd/network_against.h src/cmd/network_links.c src/cmd/network_links.h
commplace_SOURCES += src/cmd/cabling.c src/cmd/cabling.h
commplace_SOURCES += src/cmd/network_cost.c src/cmd/network_cost.h
commplace_SOURCES += src/cmd/note.c
commplace_SOURCES += src/cmd/place.c src/cmd/place.h src/cmd/place_report.c
commplace_SOURCES += src/cmd/predict_time.c
commplace_SOURCES += src/cmd/record.c src/cmd/record.h src/cmd/record_command.c \
	src/cmd/record_command.h src/cmd/record_nccl.c \
	src/cmd/record_nccl.h src/cmd/record_run.c $(nccl_pure)
commplace_SOURCES += src/cmd/replay.c src/cmd/replay.h src/cmd/replay_decide.c src/cmd/replay_compare.c
commplace_SOURCES += src/cmd/run_events.c src/cmd/run_events.h
commplace_SOURCES += src/cmd/segment.c
commplace_SOURCES += src/cmd/signature.c src/cmd/signature.h src/cmd/signature_flags.c src/cmd/signature_keep.c src/cmd/signature_phases.c src/cmd/signature_predict.c src/cmd/signature_rights.c src/cmd/signature_show.c src/cmd/signature_store.c src/cmd/plot/signature.c
commplace_SOURCES += src/cmd/simulate.c src/cmd/simulate.h src/cmd/simulate_report.c src/cmd/simulate_timeline.c src/cmd/plot/timeline.c
commplace_SOURCES += src/cmd/status.c src/cmd/status.h src/cmd/status_load.c src/cmd/status_metrics.c src/cmd/status_report.c src/cmd/status_html.c src/cmd/status_tree.c src/cmd/status_unrecorded.c
commplace_SOURCES += src/cmd/traffic.c src/cmd/traffic.h src/cmd/traffic_report.c

# What --help prints, and the man pages and completions have of it, see doc.mk.
help_texts = src/cmd/help/interleave.txt src/cmd/help/bench.txt src/cmd/help/benefit.txt src/cmd/help/bind.txt src/cmd/help/campaign.txt \
	src/cmd/help/characterize.txt src/cmd/help/compare.txt \
	src/cmd/help/config.txt src/cmd/help/doctor.txt \
	src/cmd/help/explain.txt \
	src/cmd/help/features.txt src/cmd/help/learn.txt \
	src/cmd/help/predict-time.txt \
	src/cmd/help/map.txt src/cmd/help/network.txt src/cmd/help/note.txt \
	src/cmd/help/place.txt src/cmd/help/record.txt \
	src/cmd/help/replay.txt src/cmd/help/segment.txt src/cmd/help/signature.txt \
	src/cmd/help/simulate.txt \
	src/cmd/help/status.txt src/cmd/help/traffic.txt
nodist_commplace_SOURCES = src/cmd/help_texts.c
read_help = $(AWK) -f src/cmd/help/read.awk -f
src/cmd/help_texts.c: src/cmd/help/read.awk src/cmd/help/help.awk $(help_texts)
	$(AM_V_GEN)$(MKDIR_P) src/cmd && cd $(srcdir) && \
	$(read_help) src/cmd/help/help.awk $(help_texts) >$(abs_builddir)/$@.new
	$(AM_V_at)mv $@.new $@
CLEANFILES += src/cmd/help_texts.c
EXTRA_DIST += src/cmd/help/read.awk src/cmd/help/help.awk $(help_texts)

# Not in the library: slurmctld shall not run Scotch, nor load libotf2.
if HAVE_SCOTCH
commplace_SOURCES += src/core/binding/scotch.c src/core/mapping/scotch.c
commplace_LDADD += $(SCOTCH_LIBS)
endif
# Calls of an OTF2 archive are kept as the recorder keeps them, in what it has
# without MPI.
otf2_archive = src/core/signature/import/otf2_archive.c \
	src/core/signature/import/otf2_archive.h \
	src/core/signature/import/otf2_definitions.c \
	src/core/signature/import/otf2_internal.h
otf2_calls = src/cmd/otf2_calls.c src/cmd/otf2_calls.h src/cmd/otf2_match.c \
	src/cmd/otf2_match.h src/cmd/otf2_messages.c src/cmd/otf2_messages.h \
	src/cmd/otf2_rank.c src/cmd/otf2_rank.h \
	src/record/collectives.c src/record/collectives.h \
	src/record/events.c src/record/events.h \
	src/record/fold.c src/record/fold.h src/record/kinds.c src/record/kinds.h \
	src/record/section.c src/record/section.h \
	src/record/table.c src/record/table.h
if HAVE_OTF2
commplace_SOURCES += $(otf2_archive) $(otf2_calls)
commplace_CPPFLAGS += $(OTF2_CFLAGS)
commplace_LDADD += $(OTF2_LIBS)
src/cmd/commplace-otf2_rank.$(OBJEXT): src/record/calls.inc
endif
