core_sources += src/core/routing/routing.h 
