core_sources += src/core/routing/routing.h 
core_sources += src/core/routing/routing.c src/core/routing/static_direct.c src/core/routing/dimension_order.c
core_sources += src/core/routing/routing_internal.h src/core/routing/static_indirect.c
core_sources += src/core/routing/adaptive.c src/core/routing/adaptive_minimal.c
core_sources += src/core/routing/dmodk.c src/core/routing/haec.c src/core/routing/shortest_path.c src/core/routing/table.c
core_sources += src/core/routing/route_finder.c
core_sources += src/core/routing/static_indirect_sampled.c
