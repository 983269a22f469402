core_sources += src/core/mapping/mapping.h 
