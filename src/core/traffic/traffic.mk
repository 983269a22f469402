core_sources += src/core/traffic/traffic.h 
core_sources += src/core/traffic/traffic.c src/core/traffic/metrics.c
core_sources += src/core/traffic/load_tree.h src/core/traffic/load_tree.c
core_sources += src/core/traffic/incremental.h src/core/traffic/incremental.c
core_sources += src/core/traffic/stream.c src/core/traffic/stream_internal.h src/core/traffic/stream_pairs.c src/core/traffic/stream_groups.c src/core/traffic/stream_many.c
core_sources += src/core/traffic/stream_dilation.c
core_sources += src/core/traffic/workload.h src/core/traffic/workload.c src/core/traffic/traffic_internal.h
