core_sources += src/core/routing/routing.h 
core_sources += src/core/routing/routing.c src/core/routing/static_direct.c src/core/routing/dimension_order.c
