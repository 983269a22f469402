core_sources += src/core/network/network.h 
