site_sources += src/core/signature/signature.h
site_sources += src/core/signature/signature_internal.h src/core/signature/scan.c src/core/signature/signature.c src/core/signature/source.c src/core/signature/side_file.c src/core/signature/write.c src/core/signature/install.c src/core/signature/install.h src/core/signature/rescale.c src/core/signature/rescale.h src/core/signature/grid_model.c src/core/signature/grid_model.h src/core/signature/grid_lengths.c src/core/signature/grid_lengths.h src/core/signature/grid_search.c src/core/signature/grid_search.h src/core/signature/install_files.c src/core/signature/install_internal.h
site_sources += src/core/signature/rows.c src/core/signature/rows.h src/core/signature/tasks.c src/core/signature/tasks.h
site_sources += src/core/signature/rank_compute.c src/core/signature/rank_compute.h
site_sources += src/core/signature/rounds.c src/core/signature/rounds.h

# One file for each pattern, in the order of lists; a new one is a line here.
patterns = src/core/signature/pattern/stencil.c \
	src/core/signature/pattern/many_to_many.c \
	src/core/signature/pattern/random_partners.c \
	src/core/signature/pattern/permutation.c \
	src/core/signature/pattern/npb.c \
	src/core/signature/pattern/collective.c \
	src/core/signature/pattern/llm.c
site_sources += $(patterns) src/core/signature/pattern/pattern.h \
	src/core/signature/pattern/pattern.c \
	src/core/signature/pattern/two_tier.c src/core/signature/pattern/trees.c \
	src/core/signature/pattern/grid.c src/core/signature/pattern/grid.h \
	src/core/signature/pattern/llm_calls.c
site_tables += src/core/signature/pattern/patterns.c
src/core/signature/pattern/patterns.c: scripts/registry.awk Makefile $(patterns)
	$(registry) -v type=pattern_type -v registry=cpl_patterns \
		-v header=signature/pattern/pattern.h \
		-v members='.exact = true' $(patterns) >$(abs_builddir)/$@

# Matrices of other tools, a file for each format.
importers = src/core/signature/import/coo.c \
	src/core/signature/import/mtx.c \
	src/core/signature/import/treematch.c \
	src/core/signature/import/npy.c \
	src/core/signature/import/goal.c \
	src/core/signature/import/openmpi_monitoring.c \
	src/core/signature/import/ipm.c \
	src/core/signature/import/mpip.c \
	src/core/signature/import/nccl_inspector.c \
	src/core/signature/import/chakra.c \
	src/core/signature/import/aicb.c
lab_sources += $(importers) src/core/signature/import/import.h \
	src/core/signature/import/import_internal.h \
	src/core/signature/import/calls.h src/core/signature/import/calls.c \
	src/core/signature/import/import.c \
	src/core/signature/import/aicb_groups.h \
	src/core/signature/import/aicb_groups.c
lab_tables += src/core/signature/import/importers.c
src/core/signature/import/importers.c: scripts/registry.awk Makefile $(importers)
	$(registry) -v type=import_format -v registry=cpl_importers \
		-v header=signature/import/import_internal.h \
		-v members='.exact = true' $(importers) >$(abs_builddir)/$@

# The other way.
exporters = src/core/signature/export/coo.c \
	src/core/signature/export/mtx.c \
	src/core/signature/export/treematch.c \
	src/core/signature/export/npy.c \
	src/core/signature/export/graphml.c \
	src/core/signature/export/dot.c
lab_sources += $(exporters) src/core/signature/export/export.h \
	src/core/signature/export/export_internal.h \
	src/core/signature/export/export.c
lab_tables += src/core/signature/export/exporters.c
src/core/signature/export/exporters.c: scripts/registry.awk Makefile $(exporters)
	$(registry) -v type=export_format -v registry=cpl_exporters \
		-v header=signature/export/export_internal.h \
		-v members='.exact = true' $(exporters) >$(abs_builddir)/$@

# Signatures of what starts a training.
lab_sources += src/core/signature/flags/flags.h \
	src/core/signature/flags/flags_internal.h \
	src/core/signature/flags/list.c \
	src/core/signature/flags/read.c src/core/signature/flags/toml.c \
	src/core/signature/flags/yaml.c src/core/signature/flags/table.c \
	src/core/signature/flags/model.c \
	src/core/signature/flags/from_flags.c

# What the recorder keeps of calls, and the phases in it.
lab_sources += src/core/signature/phases/events.h \
	src/core/signature/phases/events.c \
	src/core/signature/phases/phases.h \
	src/core/signature/phases/phases_internal.h \
	src/core/signature/phases/find.c src/core/signature/phases/make.c \
	src/core/signature/phases/segments.c \
	src/core/signature/phases/steps.c \
	src/core/signature/phases/machine.h \
	src/core/signature/phases/machine.c \
	src/core/signature/phases/measure.h \
	src/core/signature/phases/measure.c \
	src/core/signature/phases/predict.h \
	src/core/signature/phases/predict.c
node_sources += src/core/signature/profile.c
