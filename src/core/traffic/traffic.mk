core_sources += src/core/traffic/traffic.h 
core_sources += src/core/traffic/traffic.c src/core/traffic/metrics.c
