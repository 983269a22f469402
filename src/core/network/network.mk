core_sources += src/core/network/network.h 
core_sources += src/core/network/network.c src/core/network/network_internal.h
core_sources += src/core/network/dragonfly.c src/core/network/dragonfly.h
core_sources += src/core/network/torus.c
