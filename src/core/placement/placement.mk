core_sources += src/core/placement/decide.h src/core/placement/placement.h 
