core_sources += src/core/traffic/traffic.h src/core/traffic/load.c src/core/traffic/metrics.c
core_sources += src/core/traffic/objective.h src/core/traffic/objective.c
core_sources += src/core/traffic/workload.h src/core/traffic/workload.c src/core/traffic/matrix.h src/core/traffic/matrix.c
core_sources += src/core/traffic/stream_internal.h src/core/traffic/stream.c src/core/traffic/stream_flows.c src/core/traffic/stream_groups.c
core_sources += src/core/traffic/dilation.h src/core/traffic/dilation.c
core_sources += src/core/traffic/load_tree.h src/core/traffic/load_tree.c
core_sources += src/core/traffic/moves.h src/core/traffic/moves.c
core_sources += src/core/traffic/distance.h src/core/traffic/distance.c
