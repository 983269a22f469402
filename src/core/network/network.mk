core_sources += src/core/network/network.h 
core_sources += src/core/network/network.c src/core/network/network_internal.h
core_sources += src/core/network/dragonfly.c src/core/network/wiring.c src/core/network/dragonfly.h
core_sources += src/core/network/torus.c
core_sources += src/core/network/fattree.c src/core/network/fattree.h src/core/network/graph.c src/core/network/graph.h src/core/network/haec.c src/core/network/haec.h src/core/network/routes.c
core_sources += src/core/network/reader/reader.h src/core/network/reader/reader_internal.h src/core/network/reader/reader.c src/core/network/reader/draft.c
core_sources += src/core/network/reader/topology_conf.c src/core/network/reader/ibnetdiscover.c src/core/network/reader/aries.c src/core/network/reader/aries_dragonfly.c src/core/network/reader/aries.h
