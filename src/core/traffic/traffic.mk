core_sources += src/core/traffic/traffic.h 
